"""Three ways to tell areas apart by features; each errs differently, so together they err less.

`Gaussian` describes what each area looks like and leans on its neighbours where photos are few. `Network`, in a module
of its own, finds combinations of features that a description can't. Both treat areas near to each other as nearly the
same: to take Ghent for Lille is not to take it for Lima. `Linear`, in a module of its own too, knows countries alone.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from geosleuth.fitting import log_shares
from geosleuth.geo import FloatArray

from .areas import Areas
from .scaling import Rows
from .spreading import Ints

GAUSSIAN_STRENGTHS = (0.3, 1.0, 3.0, 10.0)
_UNSEEN = 0.3  # photos that an area without any is taken to have
_UNSURE = 0.02  # photos that its mean look is taken to rest on


@dataclass(frozen=True, slots=True)
class Seen:
    """Photos as they are learned from: scaled features, and the same turned to their main directions."""

    scaled: Rows
    turned: Rows

    def __len__(self) -> int:
        return len(self.scaled)

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Seen":
        """Some of the photos."""
        return Seen(self.scaled[chosen], self.turned[chosen])


class Expert(Protocol):
    """Says how likely each area is."""

    def log_shares(self, seen: Seen) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        ...


def photo_counts(label: Ints, areas: Areas) -> FloatArray:
    """How many photos each area holds, never quite none."""
    return np.bincount(label, minlength=len(areas)).astype(np.float64) + _UNSEEN


def means_of(rows: Rows, group: Ints) -> Rows:
    """The mean row of each group, of which there are no empty ones."""
    sums = np.zeros((int(group.max()) + 1, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, group, rows)
    means: Rows = sums / np.bincount(group).astype(np.float32)[:, None]
    return means


def kinship(areas: Areas, own: float, country: float, near: float, far: float, farther: float) -> FloatArray:
    """How much each pair of areas is taken to have in common.

    For being the same, lying in one country, lying within some 500, 1,500 or 4,000 km of each other.
    """
    distance = areas.distances_km()
    same = areas.country[:, None] == areas.country
    kin: FloatArray = (
        own * np.eye(len(areas))
        + country * same
        + near * np.exp(-distance / 500)
        + far * np.exp(-distance / 1500)
        + farther * np.exp(-distance / 4000)
    )
    return kin


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Each area a bell curve of one common shape around its own mean, which leans on those of kindred areas."""

    weights: Rows
    offsets: Rows

    def log_shares(self, seen: Seen) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        return log_shares(seen.turned @ self.weights + self.offsets)


def learn_gaussians(turned: Rows, label: Ints, areas: Areas, strengths: tuple[float, ...]) -> list[Gaussian]:
    """Learn from turned rows, once for each strength: how far the common shape is drawn towards a ball."""
    rows = turned.astype(np.float64)
    photos = np.bincount(label, minlength=len(areas)).astype(np.float64)
    sums = np.zeros((len(areas), rows.shape[1]))
    np.add.at(sums, label, rows)
    means = sums / np.maximum(photos, 1.0)[:, None]
    around = (rows - means[label]).astype(np.float32)
    variances, axes = np.linalg.eigh((around.T @ around).astype(np.float64) / len(rows))
    kin = kinship(areas, 0.02, 0.05, 0.02, 0.02, 0.02)
    leaning = np.linalg.solve(kin + np.diag(1 / np.maximum(photos, _UNSURE)), kin).T
    believed = leaning @ means
    prior = np.log(photo_counts(label, areas) / len(rows))
    found = []
    for strength in strengths:
        shape = axes / np.sqrt(np.maximum(variances, 0.0) + strength * variances.mean())
        shaped = believed @ shape
        weights = shape @ shaped.T
        offsets = prior - 0.5 * (shaped**2).sum(axis=1)
        found.append(Gaussian(weights.astype(np.float32), offsets.astype(np.float32)))
    return found
