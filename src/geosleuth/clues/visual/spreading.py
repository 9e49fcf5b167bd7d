"""From weights on known places to shares of countries and cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from geosleuth.clues.prior import country_prior, normalised
from geosleuth.geo import FloatArray, LatLon, great_circle_km

from .model import GRID, NEAR_KM, Cell, Distribution, Reach

Ints = npt.NDArray[np.int64]
_SMALLEST_RADIUS_KM = 25.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """Guesses at many photos, a row each: P(country) in the order of ``codes``, a point, P(within `NEAR_KM` of it).

    ``near`` is NaN where whoever guessed does not say.
    """

    codes: tuple[str, ...]
    shares: FloatArray
    lats: FloatArray
    lons: FloatArray
    near: FloatArray


@dataclass(frozen=True)
class Places:
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
        ids, numbers = np.unique(GRID.cell_of(self.lats, self.lons), return_inverse=True)
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
    def _around(self) -> npt.NDArray[np.float32]:
        """Which cells lie within `NEAR_KM` of which."""
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
        within = (seen @ by_cell).astype(np.float32) @ self._around
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
        return normalised({name: float(count) for name, count in zip(names, counts, strict=True) if name})

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
        return Distribution(normalised(shares), self.base, tuple(ranked), reach, source)


def places_at(points: Sequence[LatLon]) -> Places:
    """Points with the countries they are in, by the borders that come with the package."""
    from geosleuth.atlas.borders import Borders

    lats, lons = np.array([point.lat for point in points]), np.array([point.lon for point in points])
    return Places(lats, lons, Borders.load().countries(lats, lons))


def unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Points on a sphere of radius 1, seen from its middle."""
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def _middle(lats: FloatArray, lons: FloatArray) -> LatLon:
    x, y, z = unit_vectors(lats, lons).mean(axis=0)
    return LatLon(float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x))))
