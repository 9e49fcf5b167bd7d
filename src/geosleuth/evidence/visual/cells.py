"""The areas and cells of the world that a visual prior tells apart, and shares over them.

A prior that learns from photos of one street and is tested on photos of the same street learns nothing about the world.
Photos are therefore held out by blocks of land, with a strip around each in which nothing is learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from geosleuth.evidence.country_prior import country_prior, normalize
from geosleuth.geo import EARTH_RADIUS_KM, CellGrid, FloatArray, LatLon, great_circle_km

from .visual_prior import GRID, NEAR_KM, Cell, Distribution, Reach

Ints = npt.NDArray[np.int64]
_SMALLEST_RADIUS_KM = 25.0

PHOTOS_PER_AREA = 20
MAX_AREAS = 400
APART_KM = 25.0
FOLDS = 6
_BLOCKS = CellGrid(2.0, equal_area=True)
_SPOTS = CellGrid(0.03, equal_area=True)
_ROUNDS = 10
_ROWS_AT_ONCE = 2048
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Guesses:
    """Guesses at many photos, a row each: P(country) in the order of ``codes``, a point, P(within `NEAR_KM` of it).

    ``near`` is NaN where the method that guessed does not say.
    """

    codes: tuple[str, ...]
    shares: FloatArray
    lats: FloatArray
    lons: FloatArray
    near: FloatArray


@dataclass(frozen=True)
class LabelledPoints:
    """Points of which each has a country; ``countries[i]`` is the code of point i, empty in the open sea."""

    lats: FloatArray
    lons: FloatArray
    countries: npt.NDArray[np.str_]

    @cached_property
    def codes(self) -> tuple[tuple[str, ...], Ints]:
        """The countries there are, and which of them each point is in."""
        names, numbers = np.unique(self.countries, return_inverse=True)
        return tuple(str(name) for name in names), numbers.astype(np.int64)

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], Ints]:
        """The cells that hold points, each with a share of 0, and which of them each point is in."""
        ids, numbers = np.unique(GRID.find_cells(self.lats, self.lons), return_inverse=True)
        names, country = self.codes
        found = []
        for number, cell in enumerate(ids):
            inside = np.flatnonzero(numbers == number)
            point = _middle(self.lats[inside], self.lons[inside])
            reach = great_circle_km(self.lats[inside], self.lons[inside], point.lat, point.lon).max()
            most = int(np.bincount(country[inside]).argmax())
            found.append(Cell(int(cell), point, max(_SMALLEST_RADIUS_KM, float(reach)), names[most], 0.0))
        return tuple(found), numbers.astype(np.int64)

    @cached_property
    def _neighbours(self) -> npt.NDArray[np.float32]:
        """Return the mask of cells within `NEAR_KM` of each cell."""
        lats, lons = self._middles
        return (great_circle_km(lats[:, None], lons[:, None], lats, lons) <= NEAR_KM).astype(np.float32)

    @cached_property
    def _middles(self) -> tuple[FloatArray, FloatArray]:
        cells, _ = self.cells
        return np.array([cell.point.lat for cell in cells]), np.array([cell.point.lon for cell in cells])

    def guess(self, groups: npt.NDArray[np.floating], label: Ints, trust: FloatArray) -> Guesses:
        """Guesses at many photos at once: what `spread` would give for each, with `Distribution.best`.

        Args:
            groups: shares of groups of points, a row a photo; within a group all points count alike.
            label: the group of each point.
            trust: how far each row can be trusted.
        """
        names, country = self.codes
        cells, cell = self.cells
        size = np.bincount(label, minlength=groups.shape[1])
        by_country, by_cell = np.zeros((len(size), len(names))), np.zeros((len(size), len(cells)))
        np.add.at(by_country, (label, country), 1 / size[label])
        np.add.at(by_cell, (label, cell), 1 / size[label])
        seen = np.asarray(groups, dtype=np.float64)
        within = (seen @ by_cell).astype(np.float32) @ self._neighbours
        best = within.argmax(axis=1)
        flat = country_prior()
        elsewhere = tuple(code for code in flat if code not in names)
        rest = np.array([flat.get(code, 0.0) for code in (*names, *elsewhere)])
        shares = np.concatenate([seen @ by_country, np.zeros((len(seen), len(elsewhere)))], axis=1)
        shares = trust[:, None] * shares + (1 - trust[:, None]) * rest
        lats, lons = self._middles
        near = trust * within[np.arange(len(seen)), best]
        return Guesses((*names, *elsewhere), shares, lats[best], lons[best], near)

    @cached_property
    def base(self) -> dict[str, float]:
        """The share of each country among the points."""
        names, numbers = self.codes
        counts = np.bincount(numbers, minlength=len(names))
        return normalize({name: float(count) for name, count in zip(names, counts, strict=True) if name})

    def spread(self, weights: npt.NDArray[np.floating], reach: Reach, source: str) -> Distribution:
        """The distribution that weights on the points amount to; they need not add up to 1."""
        total = np.asarray(weights, dtype=np.float64)
        total = total / total.sum()
        names, country = self.codes
        cells, cell = self.cells
        by_country = np.bincount(country, total, len(names))
        by_cell = np.bincount(cell, total, len(cells))
        ranked = [
            Cell(one.id, one.point, one.radius_km, one.country, float(by_cell[number]))
            for number, one in sorted(enumerate(cells), key=lambda item: (-by_cell[item[0]], item[0]))
            if by_cell[number] > 0
        ]
        shares = {name: float(share) for name, share in zip(names, by_country, strict=True) if name}
        return Distribution(normalize(shares), self.base, tuple(ranked), reach, source)


def label_places(points: Sequence[LatLon]) -> LabelledPoints:
    """Points with the countries they are in, by the borders that come with the package."""
    from geosleuth.atlas.borders import Borders

    lats, lons = np.array([point.lat for point in points]), np.array([point.lon for point in points])
    return LabelledPoints(lats, lons, Borders.load().countries(lats, lons))


def unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Points on a sphere of radius 1, seen from its middle."""
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def _middle(lats: FloatArray, lons: FloatArray) -> LatLon:
    x, y, z = unit_vectors(lats, lons).mean(axis=0)
    return LatLon(float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x))))


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


def build_areas(places: LabelledPoints) -> tuple[Areas, Ints]:
    """Areas for a collection of photos, and which of them each photo is in.

    A country is cut into as many compact parts as it holds `PHOTOS_PER_AREA` photos, the whole world into no more than
    `MAX_AREAS` and the number of its countries.
    """
    names, country = places.codes
    points = unit_vectors(places.lats, places.lons)
    photos = max(PHOTOS_PER_AREA, len(points) / MAX_AREAS)
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
    centres = points[:1]
    while len(centres) < parts:
        centres = np.concatenate([centres, points[[np.argmin((points @ centres.T).max(axis=1))]]])
    for _ in range(_ROUNDS):
        group = (points @ centres.T).argmax(axis=1)
        means = np.stack([points[group == k].mean(axis=0) if (group == k).any() else centres[k] for k in range(parts)])
        centres = means / np.linalg.norm(means, axis=1, keepdims=True)
    nearest: Ints = (points @ centres.T).argmax(axis=1)
    return nearest


def number_spots(places: LabelledPoints, label: Ints) -> Ints:
    """Return the number of each photo's spot, from 0: photos of the same area and cell of some kilometres.

    Photos of a spot are often much the same picture, and tell no more than one of them would.
    """
    cell = _SPOTS.find_cells(places.lats, places.lons)
    _, spot = np.unique(np.stack([cell, label], axis=1), axis=0, return_inverse=True)
    return spot.reshape(-1).astype(np.int64)


def number_blocks(places: LabelledPoints) -> Ints:
    """Return the number of the block of land that contains each point, from 0."""
    _, block = np.unique(_BLOCKS.find_cells(places.lats, places.lons), return_inverse=True)
    return block.astype(np.int64)


def assign_folds(block: Ints, seed: int, folds: int = FOLDS) -> Ints:
    """Blocks dealt out to folds at random, so that all folds hold about as many photos."""
    counts = np.bincount(block)
    # Large blocks first, each to the fold that is emptiest so far; chance decides between equals.
    order = np.lexsort((np.random.default_rng(seed).permutation(len(counts)), -counts))
    load, fold_of_block = np.zeros(folds), np.zeros(len(counts), dtype=np.int64)
    for number in order:
        fold_of_block[number] = int(np.argmin(load))
        load[fold_of_block[number]] += counts[number]
    return fold_of_block[block]


def apart(places: LabelledPoints, held_out: Mask, strip_km: float = APART_KM) -> Mask:
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
