"""Places from others: where rings of given radius cross, and the medoid, density mode or centre of many.

All three take equally long one-dimensional arrays of latitudes and longitudes in degrees, and optional weights of
zero or more. A point of weight zero counts as absent. All three work in space or in great-circle distance, never in
degrees, so the poles and the antimeridian are places like any other.

They raise ValueError for no points, unequal lengths, coordinates that are not valid, or weights that are
negative, not finite or all zero.

A distance is a ring around its point. Measured in a straight line, the ring is as thick as the tolerance. Along a road
it is thicker: the straight line is shorter than the road, by a factor of up to `ROAD_FACTOR`. What lies in all rings
may be one piece of ground or several, and each piece is a fix: a point and the radius around it that covers the piece.
Where the rings don't meet, they are all widened by the same share of their distances until they do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from .distance import (
    EARTH_RADIUS_KM,
    DistanceMethod,
    bearings_deg,
    destinations,
    distance_km,
    distances_km,
    great_circle_km,
)
from .point import FloatArray, LatLon

_PAIRS_AT_ONCE = 1_000_000  # bounds the memory of the quadratic steps to some tens of megabytes
_CLIMBERS = 128
_CLIMB_STEPS = 500
_CANCELLED = 1e-9


def medoid(lat: FloatArray, lon: FloatArray, weights: FloatArray | None = None) -> int:
    """Index of the given point with the smallest weighted sum of great-circle distances to all; the first of equals.

    Unlike a mean it is always one of the points, and far outliers hardly move it. Takes time with the square of
    the number of points (about a second for 3,000), in bounded memory.
    """
    lats, lons, mass = _checked(lat, lon, weights)
    chosen = np.flatnonzero(mass)
    lats, lons, mass = lats[chosen], lons[chosen], mass[chosen]
    rows = max(1, _PAIRS_AT_ONCE // len(chosen))
    sums = [
        great_circle_km(lats[i : i + rows, None], lons[i : i + rows, None], lats, lons) @ mass
        for i in range(0, len(chosen), rows)
    ]
    return int(chosen[np.argmin(np.concatenate(sums))])


def weighted_centre(lat: FloatArray, lon: FloatArray, weights: FloatArray | None = None) -> LatLon | None:
    """The direction of the weighted mean of the points as seen from the middle of the Earth.

    None where the points cancel out (two opposite places, or points spread evenly all round) and no place is more
    central than another: the mean is then shorter than 1e-9 of the Earth's radius.
    """
    lats, lons, mass = _checked(lat, lon, weights)
    mean = (mass / mass.sum()) @ _unit_vectors(lats, lons)
    return None if np.linalg.norm(mean) < _CANCELLED else _point(mean)


def density_mode(lat: FloatArray, lon: FloatArray, bandwidth_km: float, weights: FloatArray | None = None) -> LatLon:
    """The place where the points lie most densely, seen at a scale of `bandwidth_km`.

    Each point spreads its weight with a von Mises-Fisher kernel, the sphere's own bell curve: about a Gaussian of
    standard deviation `bandwidth_km` while that is small beside the Earth. Mean shift climbs the summed density from
    every point (from the 128 densest where there are more), each step moving to the kernel-weighted mean, which never
    goes downhill; the highest summit wins, and of equals the one whose climb started at the earliest point.
    Takes time with the square of the number of points, in bounded memory.
    """
    if not 0 < bandwidth_km < np.inf:
        raise ValueError(f"bandwidth must be a finite number of km above zero, not {bandwidth_km}")
    lats, lons, mass = _checked(lat, lon, weights)
    points, mass = _unit_vectors(lats, lons)[mass > 0], mass[mass > 0] / mass.sum()
    bandwidth = bandwidth_km / EARTH_RADIUS_KM
    densities, _ = _density_and_mean(points, points, mass, bandwidth)
    densest = np.sort(np.argsort(-densities, kind="stable")[:_CLIMBERS])
    summits = _climb(points[densest], points, mass, bandwidth)
    heights, _ = _density_and_mean(summits, points, mass, bandwidth)
    return _point(summits[int(np.argmax(heights >= heights.max() * (1 - 1e-9)))])


def _climb(starts: FloatArray, points: FloatArray, mass: FloatArray, bandwidth: float) -> FloatArray:
    """Mean shift from every start until a step is far below the bandwidth."""
    places = starts.copy()
    moving = np.arange(len(places))
    for _ in range(_CLIMB_STEPS):
        before = places[moving]
        _, means = _density_and_mean(before, points, mass, bandwidth)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        # A mean of length zero points nowhere: stay, for such a place is level in all directions.
        after = np.where(length > 0, means / np.where(length > 0, length, 1.0), before)
        places[moving] = after
        step = np.linalg.norm(after - before, axis=1)
        moving = moving[step > 1e-7 * min(bandwidth, 1.0)]
        if not moving.size:
            break
    return places


def _density_and_mean(
    places: FloatArray, points: FloatArray, mass: FloatArray, bandwidth: float
) -> tuple[FloatArray, FloatArray]:
    """At each place the kernel density (up to a constant) and the kernel-weighted sum of the points."""
    rows = max(1, _PAIRS_AT_ONCE // len(points))
    densities, sums = np.empty(len(places)), np.empty((len(places), 3))
    for i in range(0, len(places), rows):
        # Squared chords from differences: one minus a dot product would lose short distances to rounding.
        squared = sum((places[i : i + rows, axis, None] - points[:, axis]) ** 2 for axis in range(3))
        kernel = np.exp(-0.5 / bandwidth**2 * squared) * mass
        densities[i : i + rows] = kernel.sum(axis=1)
        sums[i : i + rows] = kernel @ points
    return densities, sums


def _unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _point(vector: FloatArray) -> LatLon:
    x, y, z = vector
    return LatLon(float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x))))


def _checked(lat: FloatArray, lon: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    lats, lons = np.asarray(lat, dtype=np.float64), np.asarray(lon, dtype=np.float64)
    mass = np.ones(lats.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if lats.ndim != 1 or not lats.shape == lons.shape == mass.shape:
        raise ValueError("latitudes, longitudes and weights must be equally long one-dimensional arrays")
    if not lats.size:
        raise ValueError("there is no centre of no points")
    if not ((np.abs(lats) <= 90) & (np.abs(lons) <= 180)).all():
        raise ValueError("every latitude must lie in [-90, 90] and every longitude in [-180, 180]")
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.any()):
        raise ValueError("weights must be finite, zero or more, and not all zero")
    return lats, lons, mass


Along = Literal["road", "straight"]
"""How a distance was measured."""

ROAD_FACTOR = 1.4
"""How much longer than the straight line a road is at most taken to be; the least is 1."""

FARTHEST_KM = 20037.0
"""The farthest that two places can be apart."""

_ABSURD_SHARE = 0.5
_WIDEN = 1.25  # a little more than needed, so that the pieces have an inside
_RADII = 25
_MEDOID_OF = 600
_STEPS_ACROSS = 5
_ROUNDING_KM = 1e-6
_EQUALLY_WELL = 0.05  # in squared tolerances


@dataclass(frozen=True, slots=True)
class Range:
    """A distance from a known point, give or take; without a tolerance 3 %, at least 1 km: signs are rounded.

    Raises:
        ValueError: a distance or tolerance that is negative or not finite.
    """

    centre: LatLon
    distance_km: float
    tolerance_km: float | None = None

    def __post_init__(self) -> None:
        for value in (self.distance_km, self.tolerance_km):
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"a distance must be a finite number of km, zero or more, not {value}")

    @property
    def slack_km(self) -> float:
        """The tolerance that applies."""
        return max(1.0, 0.03 * self.distance_km) if self.tolerance_km is None else self.tolerance_km

    def allowed_km(self, along: Along) -> tuple[float, float]:
        """The shortest and the longest straight line that this may be."""
        shortest = self.distance_km / (ROAD_FACTOR if along == "road" else 1)
        return max(0.0, shortest - self.slack_km), min(self.distance_km + self.slack_km, FARTHEST_KM)


@dataclass(frozen=True, slots=True)
class RangeFix:
    """One piece of ground that the distances allow.

    Attributes:
        point: for straight distances where the distances fit best, otherwise the most central place of the piece;
            where the piece is a whole ring, the ring's centre.
        radius_km: the piece lies within it.
        distances_km: in a straight line from each centre to the point (or to some place of a whole ring).
        residuals_km: by how much each of these lies outside what its distance allows: positive too far, 0 within.
        share: how much of all the ground that the distances allow this piece holds.
        is_ring: the distances leave a whole ring, as a single one does; the point is then its centre.
    """

    point: LatLon
    radius_km: float
    distances_km: tuple[float, ...]
    residuals_km: tuple[float, ...]
    share: float = 1.0
    is_ring: bool = False


@dataclass(frozen=True, slots=True)
class RangeFixes:
    """All fixes, the best first.

    ``conflict`` is the share of its distance by which some ring had to be widened before all met: 0 where they meet as
    given. From a half on (`absurd`), or where a distance is longer than the Earth allows, there is no sense in a fix.
    """

    fixes: tuple[RangeFix, ...]
    conflict: float = 0.0

    @property
    def absurd(self) -> bool:
        """Whether the distances can't belong to these points."""
        return not self.fixes or self.conflict >= _ABSURD_SHARE


@dataclass(frozen=True, slots=True)
class _Ring:
    centre: LatLon
    aim_km: float
    low_km: float
    high_km: float
    slack_km: float

    @property
    def size_km(self) -> float:
        """What a conflict is a share of."""
        return max(self.aim_km, self.slack_km)

    def outside_km(self, distances: FloatArray) -> FloatArray:
        """By how much distances lie outside the ring: positive beyond it, negative within its hole."""
        off = np.maximum(distances - self.high_km, 0.0) - np.maximum(self.low_km - distances, 0.0)
        return np.where(np.abs(off) < _ROUNDING_KM, 0.0, off)


@dataclass(frozen=True, slots=True)
class _Cloud:
    """Samples around one centre in rows of one distance: places, ground that each stands for, and whether it counts."""

    lats: FloatArray
    lons: FloatArray
    weights: FloatArray
    inside: npt.NDArray[np.bool_]
    step_km: float


def range_fixes(
    ranges: Sequence[Range], *, along: Along = "road", method: DistanceMethod = "geodesic", limit: int = 4
) -> RangeFixes:
    """Where one can be that is at these distances from these points.

    Two straight distances cross in up to two places; with three or more the best is found by least squares. Distances
    from the same point, or from exact opposites, may leave a whole ring.

    Args:
        ranges: one or more; distances along roads are taken as up to `ROAD_FACTOR` times the straight line.
        along: how all of them were measured.
        method: the Earth's shape.
        limit: how many fixes at most.

    Raises:
        ValueError: no ranges, or an unknown ``along``.
    """
    if not ranges or along not in ("road", "straight"):
        raise ValueError("at least one range is needed, measured along a road or straight")
    rings = [_ring(one, along) for one in ranges]
    if any(ring.low_km > FARTHEST_KM for ring in rings):
        return RangeFixes((), math.inf)
    wide, cloud, conflict = rings, _cloud(rings, method), 0.0
    if not cloud.inside.any():
        conflict = _conflict(rings, method)
        share = conflict * _WIDEN
        # Rings that barely touch can slip between the samples.
        while conflict < _ABSURD_SHARE and not cloud.inside.any():
            wide = [_widened(ring, share) for ring in rings]
            cloud = _cloud(wide, method)
            share = max(2 * share, 1e-3)
    if conflict >= _ABSURD_SHARE:
        return RangeFixes((), conflict)
    pieces = _pieces(cloud)
    if along == "straight":
        pieces = [part for piece in pieces for part in _parted(cloud, piece, rings, method)]
    fixes = [_fix(cloud, piece, rings, wide, along, method) for piece in pieces]
    # A fit with no error at all comes out as some nanometres either way: those are equals, and the larger piece leads.
    fixes.sort(key=lambda fix: (round(_misfit(fix.distances_km, rings), 3) if along == "straight" else 0, -fix.share))
    return RangeFixes(tuple(fixes[:limit]), conflict)


def _ring(one: Range, along: Along) -> _Ring:
    low, high = one.allowed_km(along)
    return _Ring(one.centre, one.distance_km, low, high, max(one.slack_km, 1e-3))


def _widened(ring: _Ring, share: float) -> _Ring:
    more = share * ring.size_km
    return replace(ring, low_km=max(0.0, ring.low_km - more), high_km=min(ring.high_km + more, FARTHEST_KM))


def _cloud(rings: Sequence[_Ring], method: DistanceMethod) -> _Cloud:
    """Samples of the smallest ring, and which of them lie in all the others.

    They stand so close that no other ring slips through between two of them; rings too thin for that are blurred.
    """
    first = min(rings, key=lambda ring: ring.high_km)
    thinnest = max(min(ring.high_km - ring.low_km for ring in rings), 1e-3)
    radii: FloatArray = np.linspace(first.low_km, first.high_km, _RADII, dtype=np.float64)
    around_km = 2 * math.pi * EARTH_RADIUS_KM * float(np.abs(np.sin(radii / EARTH_RADIUS_KM)).max())
    count = int(np.clip(around_km / thinnest * _STEPS_ACROSS, 360, 7200))
    step_km = max((first.high_km - first.low_km) / (_RADII - 1), around_km / count)
    bearings: FloatArray = np.arange(count, dtype=np.float64) * (360.0 / count)
    lats, lons = destinations(first.centre.lat, first.centre.lon, bearings, radii[:, None], method)
    inside = np.ones(lats.shape, dtype=np.bool_)
    for ring in rings:
        if ring is not first:
            away = distances_km(ring.centre.lat, ring.centre.lon, lats, lons, method)
            blur = max(0.0, around_km / count - (ring.high_km - ring.low_km) / 2)
            inside &= (away >= ring.low_km - blur) & (away <= ring.high_km + blur)
    ground = np.abs(np.sin(radii / EARTH_RADIUS_KM)) + 1e-12
    return _Cloud(lats, lons, np.broadcast_to(ground[:, None], lats.shape), inside, step_km)


def _pieces(cloud: _Cloud) -> list[npt.NDArray[np.bool_]]:
    """The samples inside, parted where whole bearings are empty; one piece with all bearings is a ring."""
    taken = cloud.inside.any(axis=0)
    if taken.all():
        return [cloud.inside]
    start = int(np.flatnonzero(~taken)[0])
    turned = np.concatenate([np.roll(taken, -start), [False]])
    edges = np.flatnonzero(np.diff(turned.astype(np.int8)))
    pieces = []
    for begin, end in edges.reshape(-1, 2):
        columns = (np.arange(begin + 1, end + 1) + start) % taken.size
        piece = np.zeros_like(cloud.inside)
        piece[:, columns] = cloud.inside[:, columns]
        pieces.append(piece)
    return pieces


def _parted(
    cloud: _Cloud, piece: npt.NDArray[np.bool_], rings: Sequence[_Ring], method: DistanceMethod
) -> list[npt.NDArray[np.bool_]]:
    """A piece in two where two places in it fit equally well: rings that cross at a flat angle run together there."""
    if piece.any(axis=0).all():
        return [piece]
    lats, lons = cloud.lats[piece], cloud.lons[piece]
    misfits = _misfits_at(lats, lons, rings, method)
    best = _least_squares(_nth(lats, lons, int(np.argmin(misfits))), rings, method)
    away = distances_km(*_of(best), lats, lons, method)
    elsewhere = np.flatnonzero(away > max(away.max() / 4, cloud.step_km))
    if not elsewhere.size:
        return [piece]
    second = _least_squares(_nth(lats, lons, int(elsewhere[np.argmin(misfits[elsewhere])])), rings, method)
    ends_lat, ends_lon = np.array([best.lat, second.lat]), np.array([best.lon, second.lon])
    worse = np.diff(_misfits_at(ends_lat, ends_lon, rings, method))[0]
    if worse > _EQUALLY_WELL or distance_km(best, second, method) < 2 * cloud.step_km:
        return [piece]
    nearer = away <= distances_km(*_of(second), lats, lons, method)
    parts = []
    for side in (nearer, ~nearer):
        part = np.zeros_like(piece)
        part[piece] = side
        parts.append(part)
    return parts


def _fix(
    cloud: _Cloud,
    piece: npt.NDArray[np.bool_],
    rings: Sequence[_Ring],
    wide: Sequence[_Ring],
    along: Along,
    method: DistanceMethod,
) -> RangeFix:
    lats, lons, weights = cloud.lats[piece], cloud.lons[piece], cloud.weights[piece]
    smallest = min(wide, key=lambda ring: ring.high_km)
    is_ring = bool(piece.any(axis=0).all()) and smallest.low_km > 0
    if is_ring:
        point = smallest.centre
    elif along == "straight":
        best = int(np.argmin(_misfits_at(lats, lons, rings, method)))
        point = _least_squares(_nth(lats, lons, best), rings, method)
    else:
        # Enough to find the middle; all of them would take time with the square of their number.
        some = np.unique(np.linspace(0, len(lats) - 1, _MEDOID_OF).astype(int))
        central = some[medoid(lats[some], lons[some], weights[some])]
        point = _nth(lats, lons, int(central))
    reach = float(np.max(distances_km(point.lat, point.lon, lats, lons, method)))
    measured = _nth(lats, lons, 0) if is_ring else point
    distances = tuple(distance_km(ring.centre, measured, method) for ring in rings)
    return RangeFix(
        point=point,
        radius_km=reach + cloud.step_km,
        distances_km=distances,
        residuals_km=tuple(
            float(ring.outside_km(np.asarray(away))) for ring, away in zip(rings, distances, strict=True)
        ),
        share=float(weights.sum() / cloud.weights[cloud.inside].sum()),
        is_ring=is_ring,
    )


def _misfits(distances: FloatArray, rings: Sequence[_Ring]) -> FloatArray:
    """Sum of squares of what each straight distance is off, in tolerances; one row a ring."""
    aims, slacks = np.array([ring.aim_km for ring in rings]), np.array([ring.slack_km for ring in rings])
    off = (distances.T - aims) / slacks
    return np.asarray((off**2).sum(axis=-1), dtype=np.float64)


def _misfits_at(lats: FloatArray, lons: FloatArray, rings: Sequence[_Ring], method: DistanceMethod) -> FloatArray:
    return _misfits(np.stack([distances_km(*_of(ring.centre), lats, lons, method) for ring in rings]), rings)


def _misfit(distances: Sequence[float], rings: Sequence[_Ring]) -> float:
    return float(_misfits(np.asarray(distances), rings))


def _least_squares(start: LatLon, rings: Sequence[_Ring], method: DistanceMethod) -> LatLon:
    """The place near ``start`` whose distances fit best, each weighed by its tolerance: Levenberg and Marquardt."""
    lats, lons = np.array([ring.centre.lat for ring in rings]), np.array([ring.centre.lon for ring in rings])
    aims, slacks = np.array([ring.aim_km for ring in rings]), np.array([ring.slack_km for ring in rings])

    def off(place: LatLon) -> FloatArray:
        return np.asarray((distances_km(place.lat, place.lon, lats, lons, method) - aims) / slacks)

    place, here, damping = start, off(start), 1e-3
    for _ in range(60):
        towards = np.radians(bearings_deg(place.lat, place.lon, lats, lons, method))
        slopes = -np.stack([np.sin(towards), np.cos(towards)], axis=1) / slacks[:, None]
        normal = slopes.T @ slopes
        move = np.linalg.solve(normal + damping * np.trace(normal) * np.eye(2), -slopes.T @ here)
        length = float(np.hypot(*move))
        course = float(np.degrees(np.arctan2(move[0], move[1])))
        lat, lon = destinations(place.lat, place.lon, course, min(length, 5000.0), method)
        there = off(LatLon(float(lat), float(lon)))
        if there @ there < here @ here:
            place, here, damping = LatLon(float(lat), float(lon)), there, damping / 5
        else:
            damping *= 8
        if length < 1e-7 or damping > 1e9:
            break
    return place


def pair_conflict(first: Range, second: Range, *, along: Along = "road") -> float:
    """The least share of both distances by which two rings must be widened to meet; 0 where they meet."""
    return _pair_conflict(_ring(first, along), _ring(second, along), "great-circle")


def _pair_conflict(a: _Ring, b: _Ring, method: DistanceMethod) -> float:
    """By the inequalities between the sides of a triangle on the sphere."""
    between = distance_km(a.centre, b.centre, method)
    gaps = (
        between - a.high_km - b.high_km,
        a.low_km - b.high_km - between,
        b.low_km - a.high_km - between,
        a.low_km + b.low_km + between - 2 * FARTHEST_KM,
    )
    return max(0.0, *gaps) / (a.size_km + b.size_km)


def _conflict(rings: Sequence[_Ring], method: DistanceMethod) -> float:
    """The least share of its distance by which every ring must be widened for all to meet.

    No less than any pair of them needs. Three or more may need more than that: this is sought on ever finer clouds
    around the best place so far, from starts around every centre.
    """
    at_least = max((_pair_conflict(a, b, method) for a, b in combinations(rings, 2)), default=0.0)
    if len(rings) < 3 or at_least >= _ABSURD_SHARE:
        return at_least

    def worst(lats: FloatArray, lons: FloatArray) -> FloatArray:
        off = np.zeros(lats.shape)
        for ring in rings:
            away = distances_km(*_of(ring.centre), lats, lons, method)
            off = np.maximum(off, np.abs(ring.outside_km(away)) / ring.size_km)
        return off

    bearings = np.arange(0.0, 360.0, 5.0)
    found = []
    for ring in rings:
        radii: FloatArray = np.linspace(0.0, 2 * ring.high_km, 41, dtype=np.float64)
        lats, lons = (part.ravel() for part in destinations(*_of(ring.centre), bearings, radii[:, None], method))
        shares = worst(lats, lons)
        at = int(np.argmin(shares))
        best, place, step_km = float(shares[at]), (float(lats[at]), float(lons[at])), ring.high_km / 4
        while step_km > 1e-3:
            reach: FloatArray = np.array([[step_km], [step_km / 2]])
            lats, lons = (part.ravel() for part in destinations(*place, bearings[::2], reach, method))
            shares = worst(lats, lons)
            at = int(np.argmin(shares))
            if shares[at] < best:
                best, place = float(shares[at]), (float(lats[at]), float(lons[at]))
            else:
                step_km /= 3
        found.append(best)
    return max(at_least, min(found))


def _of(point: LatLon) -> tuple[float, float]:
    return point.lat, point.lon


def _nth(lats: FloatArray, lons: FloatArray, n: int) -> LatLon:
    return LatLon(float(lats[n]), float(lons[n]))
