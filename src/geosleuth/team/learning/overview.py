"""What a team has learned, for people who look at it: who was right where, and whom the network would elect there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geosleuth.team.network.society import predicted
from geosleuth.team.network.state import read_weights

from .notebook import Notebook

_ALIKE = 1e-6


@dataclass(frozen=True, slots=True)
class Country:
    """Photos from one country: how often each member was right about them, and how the network sees them stand."""

    code: str
    photos: int
    right: tuple[float, ...]
    election: tuple[float, ...]


def best_of(shares: Sequence[float]) -> int | None:
    """Who has the highest share; None where several have it, so that a lot decides between them."""
    order = sorted(range(len(shares)), key=lambda i: -shares[i])
    alike = len(order) > 1 and shares[order[0]] - shares[order[1]] < _ALIKE
    return None if alike or not order else order[0]


@dataclass(frozen=True, slots=True)
class Overview:
    """All photos learned from, and those of each country, most photos first; members are in the state's order.

    ``right`` is empty where there are no photos.
    """

    members: tuple[str, ...]
    photos: int
    right: tuple[float, ...]
    countries: tuple[Country, ...]


def overview(path: Path) -> Overview:
    """Read what a state holds.

    Raises:
        BadInput: there is no state, or it can't be read.
    """
    with Notebook.read(path) as notebook:
        lessons, weights = notebook.lessons(), read_weights(notebook.connection, path)
        members = notebook.info.members
    if not lessons:
        return Overview(members, 0, (), ())
    labels = np.array([one.observation.labels for one in lessons])
    features = np.stack([one.features for one in lessons])
    election = np.full(labels.shape, 0.5) if weights is None else predicted(weights, features)[0]
    codes = np.array([one.country for one in lessons])
    countries = []
    for code in np.unique(codes):
        here = codes == code
        countries.append(
            Country(
                str(code),
                int(here.sum()),
                tuple(labels[here].mean(axis=0).tolist()),
                tuple(election[here].mean(axis=0).tolist()),
            )
        )
    countries.sort(key=lambda one: (-one.photos, one.code))
    return Overview(members, len(lessons), tuple(labels.mean(axis=0).tolist()), tuple(countries))
