"""Where photos may be before anybody looks: shares of people or of land, spread over the ground."""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from math import pi

import numpy as np

from geosleuth.clues.prior import TOWN_PEOPLE_PER_KM2
from geosleuth.clues.visual.spreading import unit_vectors
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, LatLon, destination
from geosleuth.names.countries import cities_by_country

_LAND_POINTS = 60_000
_SOUTHERNMOST = -60.0
_PAIRS_AT_ONCE = 4_000_000
_POINTS_AT_ONCE = 32
_EARTH_KM2 = 4 * pi * EARTH_RADIUS_KM**2


@dataclass(frozen=True)
class Mass:
    """Shares that add up to 1, each spread evenly over a disc of ``reach_km`` around its point.

    ``says`` is what the shares are of, for people.
    """

    lats: FloatArray
    lons: FloatArray
    shares: FloatArray
    reach_km: FloatArray
    says: str

    @cached_property
    def _vectors(self) -> FloatArray:
        return unit_vectors(self.lats, self.lons)

    @cached_property
    def _northwards(self) -> "Mass":
        order = np.argsort(self.lats, kind="stable")
        return Mass(self.lats[order], self.lons[order], self.shares[order], self.reach_km[order], self.says)

    def within(self, lats: FloatArray, lons: FloatArray, radius_km: float | FloatArray) -> FloatArray:
        """How much lies within a radius of each of some points; the radius may differ from point to point."""
        radii = np.broadcast_to(np.asarray(radius_km, dtype=np.float64), lats.shape)
        found = np.empty(len(lats))
        # Neighbours in latitude together: most of the mass is then too far north or south to be looked at.
        order = np.argsort(lats, kind="stable")
        for at in range(0, len(lats), _POINTS_AT_ONCE):
            part = order[at : at + _POINTS_AT_ONCE]
            found[part] = self._northwards._within(lats[part], lons[part], radii[part])  # noqa: SLF001  (its own kind)
        return np.minimum(found, 1.0)

    def _within(self, lats: FloatArray, lons: FloatArray, radii: FloatArray) -> FloatArray:
        margin_deg = float(np.degrees((radii.max() + self.reach_km.max()) / EARTH_RADIUS_KM)) + 1e-6
        first, last = np.searchsorted(self.lats, (lats.min() - margin_deg, lats.max() + margin_deg))
        reach_km, shares = self.reach_km[first:last], self.shares[first:last]
        cosines = unit_vectors(lats, lons) @ self._vectors[first:last].T
        row, column = np.nonzero(cosines > _cosine_of(radii[:, None] + reach_km))
        away = EARTH_RADIUS_KM * np.arccos(np.clip(cosines[row, column], -1.0, 1.0))
        covered = shares[column] * disc_share(radii[row], reach_km[column], away)
        together: FloatArray = np.bincount(row, covered, len(lats)).astype(np.float64)
        return together

    def mean_km(self, lats: FloatArray, lons: FloatArray) -> FloatArray:
        """How far it is from each of some points on average."""
        places, found = unit_vectors(lats, lons), np.empty(len(lats))
        rows = max(1, _PAIRS_AT_ONCE // len(self.shares))
        for at in range(0, len(lats), rows):
            angles = np.arccos(np.clip(places[at : at + rows] @ self._vectors.T, -1.0, 1.0))
            found[at : at + rows] = EARTH_RADIUS_KM * (angles @ self.shares)
        return found

    def draw(self, seed: bytes) -> LatLon:
        """A random point: the same for the same seed."""
        chance = np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest()[:16], "big"))
        number = int(chance.choice(len(self.shares), p=self.shares))
        away_km = float(self.reach_km[number]) * float(np.sqrt(chance.random()))
        start = LatLon(float(self.lats[number]), float(self.lons[number]))
        return destination(start, float(chance.random()) * 360.0, away_km)


@cache
def people() -> Mass:
    """The people of GeoNames' cities of 15,000 and more, each city as wide as it would be at a usual town's density."""
    rows = np.array(
        [(one.lat, one.lon, max(one.population, 1)) for cities in cities_by_country().values() for one in cities],
        dtype=np.float64,
    )
    count = rows[:, 2]
    reach_km = np.sqrt(count / (TOWN_PEOPLE_PER_KM2 * pi))
    return Mass(rows[:, 0], rows[:, 1], count / count.sum(), reach_km, "people in towns")


@cache
def land() -> Mass:
    """All land north of 60 degrees south, evenly; the first call reads the borders."""
    from geosleuth.atlas.borders import Borders

    number = np.arange(_LAND_POINTS) + 0.5
    # Evenly spaced on the sphere: equal steps of height, turned by the golden angle each time.
    lats = np.degrees(np.arcsin(1 - 2 * number / _LAND_POINTS))
    lons = np.mod(number * 180.0 * (3 - np.sqrt(5)), 360.0) - 180.0
    kept = Borders.load().is_land(lats, lons) & (lats > _SOUTHERNMOST)
    size = int(kept.sum())
    reach_km = np.full(size, np.sqrt(_EARTH_KM2 / _LAND_POINTS / pi))
    return Mass(lats[kept], lons[kept], np.full(size, 1 / size), reach_km, "land")


def disc_share(radius_km: FloatArray, reach_km: FloatArray, away_km: FloatArray) -> FloatArray:
    """The part of discs of ``reach_km`` inside discs of ``radius_km`` whose middles are ``away_km`` off; on a plane."""
    reach = np.maximum(reach_km, 1e-6)
    small, large = np.minimum(radius_km, reach), np.maximum(radius_km, reach)
    share = np.where(away_km <= large - small, small**2, 0.0)
    lens = (away_km > large - small) & (away_km < large + small)
    if lens.any():
        share[lens] = _lens_area(small[lens], large[lens], away_km[lens]) / pi
    part: FloatArray = share / reach**2
    return part


def _lens_area(a: FloatArray, b: FloatArray, away: FloatArray) -> FloatArray:
    """What two discs that cross each other share."""
    at_a = np.clip((away**2 + a**2 - b**2) / (2 * away * a), -1.0, 1.0)
    at_b = np.clip((away**2 + b**2 - a**2) / (2 * away * b), -1.0, 1.0)
    kite = (-away + a + b) * (away + a - b) * (away - a + b) * (away + a + b)
    return a**2 * np.arccos(at_a) + b**2 * np.arccos(at_b) - 0.5 * np.sqrt(np.maximum(kite, 0.0))


def _cosine_of(distance_km: FloatArray) -> FloatArray:
    return np.cos(np.minimum(distance_km / EARTH_RADIUS_KM, pi))
