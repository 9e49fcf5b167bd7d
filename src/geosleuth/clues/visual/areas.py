"""The areas that are told apart: countries, and parts of those from which there are many photos.

Whoever learns from photos of one street and is tested on photos of the same street learns nothing about the world.
Photos are therefore held out by blocks of land, with a strip around each in which nothing is learned.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.geo import EARTH_RADIUS_KM, CellGrid, FloatArray

from .spreading import Ints, Places, unit_vectors

PHOTOS_PER_AREA = 20
MOST_AREAS = 400
APART_KM = 25.0
FOLDS = 6
_BLOCKS = CellGrid(2.0, equal_area=True)
_SPOTS = CellGrid(0.03, equal_area=True)
_ROUNDS = 10
_ROWS_AT_ONCE = 2048

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Areas:
    """Parts of the world.

    Attributes:
        codes: the countries, by ISO code.
        country: for each area the number of its country.
        centres: for each area the middle of its photos, as a point on the unit sphere.
    """

    codes: tuple[str, ...]
    country: Ints
    centres: FloatArray

    def __len__(self) -> int:
        return len(self.country)

    def distances_km(self, points: FloatArray | None = None) -> FloatArray:
        """From points on the unit sphere (or from the areas themselves) to the middle of each area."""
        return arcs_km(self.centres if points is None else points, self.centres)

    def by_country(self, shares: npt.NDArray[np.floating]) -> FloatArray:
        """Shares of areas, a row a picture, added up by country."""
        member = np.zeros((len(self), len(self.codes)))
        member[np.arange(len(self)), self.country] = 1.0
        return np.asarray(shares, dtype=np.float64) @ member


def arcs_km(these: FloatArray, those: FloatArray) -> FloatArray:
    """Great-circle distances between points on the unit sphere, good to some metres: areas are no finer."""
    return EARTH_RADIUS_KM * np.arccos(np.clip(these @ those.T, -1.0, 1.0))


def areas_of(places: Places) -> tuple[Areas, Ints]:
    """Areas for a collection of photos, and which of them each photo is in.

    A country is cut into as many compact parts as it holds `PHOTOS_PER_AREA` photos, the whole world into no more than
    `MOST_AREAS` and the number of its countries.
    """
    names, country = places.codes
    points = unit_vectors(places.lats, places.lons)
    photos = max(PHOTOS_PER_AREA, len(points) / MOST_AREAS)
    label = np.zeros(len(points), dtype=np.int64)
    owner: list[int] = []
    for number in range(len(names)):
        inside = np.flatnonzero(country == number)
        _, part = np.unique(_cut(points[inside], max(1, round(len(inside) / photos))), return_inverse=True)
        label[inside] = len(owner) + part
        owner += [number] * (int(part.max()) + 1)
    sums = np.stack([np.bincount(label, points[:, axis], len(owner)) for axis in range(3)], axis=1)
    centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return Areas(names, np.array(owner, dtype=np.int64), centres), label


def _cut(points: FloatArray, parts: int) -> Ints:
    """Points in so many compact groups: k-means on the sphere, begun from points that lie far apart."""
    centres = points[:1]
    while len(centres) < parts:
        centres = np.concatenate([centres, points[[np.argmin((points @ centres.T).max(axis=1))]]])
    for _ in range(_ROUNDS):
        group = (points @ centres.T).argmax(axis=1)
        means = np.stack([points[group == k].mean(axis=0) if (group == k).any() else centres[k] for k in range(parts)])
        centres = means / np.linalg.norm(means, axis=1, keepdims=True)
    nearest: Ints = (points @ centres.T).argmax(axis=1)
    return nearest


def spots_of(places: Places, label: Ints) -> Ints:
    """Which spot each photo was taken at, numbered from 0: photos of one area and one cell of some kilometres.

    Photos of a spot are often much the same picture, and tell no more than one of them would.
    """
    cell = _SPOTS.cell_of(places.lats, places.lons)
    _, spot = np.unique(np.stack([cell, label], axis=1), axis=0, return_inverse=True)
    return spot.reshape(-1).astype(np.int64)


def blocks_of(places: Places) -> Ints:
    """Which block of land each point is in, numbered from 0."""
    _, block = np.unique(_BLOCKS.cell_of(places.lats, places.lons), return_inverse=True)
    return block.astype(np.int64)


def folds_of(block: Ints, seed: int, folds: int = FOLDS) -> Ints:
    """Blocks dealt out to folds at random, so that all folds hold about as many photos."""
    counts = np.bincount(block)
    # Large blocks first, each to the fold that is emptiest so far; chance decides between equals.
    order = np.lexsort((np.random.default_rng(seed).permutation(len(counts)), -counts))
    load, fold_of_block = np.zeros(folds), np.zeros(len(counts), dtype=np.int64)
    for number in order:
        fold_of_block[number] = int(np.argmin(load))
        load[fold_of_block[number]] += counts[number]
    return fold_of_block[block]


def apart(places: Places, held_out: Mask, strip_km: float = APART_KM) -> Mask:
    """Photos that may be learned from while others are held out: those farther away from each of them."""
    points = unit_vectors(places.lats, places.lons).astype(np.float32)
    those, limit = points[held_out], np.float32(np.cos(strip_km / EARTH_RADIUS_KM))
    far = ~held_out
    if not len(those):
        return far
    for start in range(0, len(points), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        far[part] &= (points[part] @ those.T).max(axis=1) < limit
    return far
