"""The order in which a model meets the photos that teach something: fine distances first, then coarse ones too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.errors import BadInput

from .filtering import Filtered

PHASES_KM = ((1.0, 25.0), (1.0, 25.0, 200.0, 750.0))
"""SpotAgent's two phases: the first learns from streets and cities, the second adds regions and countries."""


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    """A part of training: the photos that teach something at one of its distances.

    ``photos`` are numbers of rows in the table of tries. ``pairs`` counts photos once for every distance that keeps
    them; whether the paper's phases count in that way is not stated.
    """

    number: int
    thresholds_km: tuple[float, ...]
    photos: NDArray[np.int64]
    pairs: int

    def __len__(self) -> int:
        return len(self.photos)


def curriculum(found: Filtered, phases_km: Sequence[Sequence[float]] = PHASES_KM) -> tuple[Phase, ...]:
    """The phases over the photos that were kept.

    Raises:
        BadInput: a phase names a distance that was not filtered at.
    """
    phases = []
    for number, thresholds_km in enumerate(phases_km, 1):
        unknown = [km for km in thresholds_km if km not in found.thresholds_km]
        if unknown:
            known = ", ".join(f"{km:g}" for km in found.thresholds_km)
            raise BadInput(f"phase {number} wants {unknown[0]:g} km; the regimes are {known} km")
        kept = found.kept[:, [found.thresholds_km.index(km) for km in thresholds_km]]
        photos = np.flatnonzero(kept.any(axis=1)).astype(np.int64)
        phases.append(Phase(number, tuple(thresholds_km), photos, int(kept.sum())))
    return tuple(phases)
