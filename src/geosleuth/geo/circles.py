"""Position fixes from distances to known points, and the medoid, density mode or centre of many points.

`medoid`, `compute_weighted_centre` and `density_mode` take equally long one-dimensional arrays of latitudes and
longitudes in degrees, and optional weights of zero or more. A point of weight zero counts as absent. They work with
vectors in space or great-circle distances, never with degrees, so they need no special cases for poles and
antimeridian. They raise ValueError for no points, unequal lengths, invalid coordinates, or weights that are negative,
not finite or all zero.

`range_fixes` finds the places at given distances from known points (trilateration). Each distance is a ring around its
point. The ring of a straight distance is as thick as the tolerance. The ring of a road distance is thicker, because
the straight line may be shorter than the road by a factor of up to `ROAD_FACTOR`. The intersection of all rings may
have several pieces. Each is a fix: a point, and the radius around it that covers the piece. If the rings don't meet,
all are widened by the same share of their distances until they do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from .distance import (
    EARTH_RADIUS_KM,
    bearings_deg,
    destinations,
    distance_km,
    distances_km,
    great_circle_km,
)
from .point import FloatArray, LatLon

_PAIRS_AT_ONCE = 1_000_000  # bounds the memory of the quadratic steps to some tens of megabytes
_MAX_STARTS = 128
_MAX_STEPS = 500
_MIN_MEAN_LENGTH = 1e-9

Along = Literal["road", "straight"]
"""How a distance was measured."""
# The highest assumed ratio of road distance to straight-line distance; the lowest is 1.
ROAD_FACTOR = 1.4
# The largest possible distance between two places.
MAX_DISTANCE_KM = 20037.0
_METHOD: Final = "geodesic"
_MAX_FIXES = 4
_ABSURD_SHARE = 0.5
_WIDEN = 1.25  # widen by a little more than needed, so that the intersection has an area
_RADII = 25
_MEDOID_SAMPLES = 600
_STEPS_ACROSS = 5
_ROUNDING_KM = 1e-6
_EQUAL_MISFIT = 0.05  # in squared tolerances


def medoid(lat: FloatArray, lon: FloatArray, weights: FloatArray | None = None) -> int:
    """Return the index of the point with the smallest weighted sum of great-circle distances to all points.

    The first one wins a tie. Unlike a mean, the medoid is always one of the points, and outliers hardly move it. Time
    grows with the square of the number of points (about a second for 3,000); memory is bounded.
    """
    lats, lons, mass = _validate(lat, lon, weights)
    chosen = np.flatnonzero(mass)
    lats, lons, mass = lats[chosen], lons[chosen], mass[chosen]
    rows = max(1, _PAIRS_AT_ONCE // len(chosen))
    sums = [
        great_circle_km(lats[i : i + rows, None], lons[i : i + rows, None], lats, lons) @ mass
        for i in range(0, len(chosen), rows)
    ]
    return int(chosen[np.argmin(np.concatenate(sums))])


def compute_weighted_centre(lat: FloatArray, lon: FloatArray, weights: FloatArray | None = None) -> LatLon | None:
    """Return the weighted mean of the points as vectors from the Earth's centre, projected to the surface.

    None if the vectors cancel out (opposite places, or points spread evenly all round), so that no place is more
    central than another: the mean is then shorter than 1e-9 of the Earth's radius.
    """
    lats, lons, mass = _validate(lat, lon, weights)
    mean = (mass / mass.sum()) @ _unit_vectors(lats, lons)
    return None if np.linalg.norm(mean) < _MIN_MEAN_LENGTH else _convert_vector(mean)


def density_mode(lat: FloatArray, lon: FloatArray, bandwidth_km: float, weights: FloatArray | None = None) -> LatLon:
    """Return the place of highest point density, at a scale of `bandwidth_km`.

    The density is a kernel estimate with von Mises-Fisher kernels, the counterpart of a Gaussian on the sphere, with a
    standard deviation of `bandwidth_km` (as long as that is small compared to the Earth). Mean shift climbs from every
    point, or from the 128 densest if there are more. The highest maximum wins; of equals, the one reached from the
    earliest point. Time grows with the square of the number of points; memory is bounded.
    """
    if not 0 < bandwidth_km < np.inf:
        raise ValueError(f"bandwidth must be a finite number of km above zero, not {bandwidth_km}")
    lats, lons, mass = _validate(lat, lon, weights)
    points, mass = _unit_vectors(lats, lons)[mass > 0], mass[mass > 0] / mass.sum()
    bandwidth = bandwidth_km / EARTH_RADIUS_KM
    densities, _ = _density_and_mean(points, points, mass, bandwidth)
    densest = np.sort(np.argsort(-densities, kind="stable")[:_MAX_STARTS])
    maxima = _mean_shift(points[densest], points, mass, bandwidth)
    heights, _ = _density_and_mean(maxima, points, mass, bandwidth)
    return _convert_vector(maxima[int(np.argmax(heights >= heights.max() * (1 - 1e-9)))])


def _mean_shift(starts: FloatArray, points: FloatArray, mass: FloatArray, bandwidth: float) -> FloatArray:
    """Return the local maximum that mean shift reaches from each start, stopping at steps far below the bandwidth."""
    places = starts.copy()
    moving = np.arange(len(places))
    for _ in range(_MAX_STEPS):
        before = places[moving]
        _, means = _density_and_mean(before, points, mass, bandwidth)
        length = np.linalg.norm(means, axis=1, keepdims=True)
        # A mean of length zero has no direction: the density is flat there, so stay.
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
    """Return the kernel density (up to a constant factor) and the kernel-weighted sum of the points at each place."""
    rows = max(1, _PAIRS_AT_ONCE // len(points))
    densities, sums = np.empty(len(places)), np.empty((len(places), 3))
    for i in range(0, len(places), rows):
        # Squared chord lengths by differences: one minus a dot product would round short distances away.
        squared = sum((places[i : i + rows, axis, None] - points[:, axis]) ** 2 for axis in range(3))
        kernel = np.exp(-0.5 / bandwidth**2 * squared) * mass
        densities[i : i + rows] = kernel.sum(axis=1)
        sums[i : i + rows] = kernel @ points
    return densities, sums


def _unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _convert_vector(vector: FloatArray) -> LatLon:
    x, y, z = vector
    return LatLon(float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x))))


def _validate(
    lat: FloatArray, lon: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
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


@dataclass(frozen=True, slots=True)
class Range:
    """A distance from a known point.

    The tolerance defaults to 3 % but at least 1 km, because distances on signs are rounded.

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
        """Return the tolerance, or its default."""
        return max(1.0, 0.03 * self.distance_km) if self.tolerance_km is None else self.tolerance_km

    def compute_limits_km(self, along: Along) -> tuple[float, float]:
        """Return the shortest and the longest straight-line distance that this allows."""
        shortest = self.distance_km / (ROAD_FACTOR if along == "road" else 1)
        return max(0.0, shortest - self.slack_km), min(self.distance_km + self.slack_km, MAX_DISTANCE_KM)


@dataclass(frozen=True, slots=True)
class RangeFix:
    """One piece of the area that the distances allow.

    Attributes:
        point: for straight distances the least-squares fit, for road distances the piece's medoid; if the piece is a
            whole ring, the ring's centre.
        radius_km: of a circle around the point that covers the piece.
        distances_km: straight-line distance from each known point to this one (to some place of a whole ring).
        residuals_km: how far each of these lies outside its ring: positive if too far, negative if too near, 0 inside.
        share: the piece's share of the whole area that the distances allow.
        is_ring: whether the piece is a whole ring, as for a single distance.
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

    ``conflict`` is the share of their distances by which the rings must be widened to meet: 0 if they meet as given.
    There are no fixes if it is a half or more (`absurd`), or if a distance is longer than possible on Earth.
    """

    fixes: tuple[RangeFix, ...]
    conflict: float = 0.0

    @property
    def absurd(self) -> bool:
        """Return whether the distances can't all be right."""
        return not self.fixes or self.conflict >= _ABSURD_SHARE


@dataclass(frozen=True, slots=True)
class _Ring:
    """A measured distance from a centre, and the straight-line distances that it allows."""

    centre: LatLon
    distance_km: float
    low_km: float
    high_km: float
    slack_km: float

    @property
    def size_km(self) -> float:
        """Return the distance that a conflict is a share of."""
        return max(self.distance_km, self.slack_km)

    def outside_km(self, distances: FloatArray) -> FloatArray:
        """Return how far distances lie outside the ring: positive beyond it, negative in its hole."""
        off = np.maximum(distances - self.high_km, 0.0) - np.maximum(self.low_km - distances, 0.0)
        return np.where(np.abs(off) < _ROUNDING_KM, 0.0, off)


@dataclass(frozen=True, slots=True)
class _Samples:
    """A polar grid of places around one centre: a row for each distance, a column for each bearing."""

    lats: FloatArray
    lons: FloatArray
    weights: FloatArray  # the area that each sample stands for, up to a factor
    inside: npt.NDArray[np.bool_]  # which samples lie in all rings
    step_km: float


def range_fixes(ranges: Sequence[Range], *, along: Along = "road") -> RangeFixes:
    """Return the places that lie at the given distances from the given points.

    Two straight distances cross in up to two places; three or more are fitted by least squares. Distances from the
    same point, or from exact antipodes, may leave a whole ring.

    Args:
        ranges: one or more distances; along roads, they may be up to `ROAD_FACTOR` times the straight line.
        along: how all of them were measured.

    Raises:
        ValueError: no ranges, or an unknown ``along``.
    """
    if not ranges or along not in ("road", "straight"):
        raise ValueError("at least one range is needed, measured along a road or straight")
    rings = [_ring(range_, along) for range_ in ranges]
    if any(ring.low_km > MAX_DISTANCE_KM for ring in rings):
        return RangeFixes((), math.inf)
    widened, samples, conflict = rings, _sample(rings), 0.0
    if not samples.inside.any():
        conflict = _conflict(rings)
        share = conflict * _WIDEN
        # The intersection of rings that barely touch can fall between the samples, so widen further until it shows.
        while conflict < _ABSURD_SHARE and not samples.inside.any():
            widened = [_widen(ring, share) for ring in rings]
            samples = _sample(widened)
            share = max(2 * share, 1e-3)
    if conflict >= _ABSURD_SHARE:
        return RangeFixes((), conflict)
    pieces = _split_pieces(samples)
    if along == "straight":
        pieces = [part for piece in pieces for part in _split_in_two(samples, piece, rings)]
    fixes = [_fix(samples, piece, rings, widened, along) for piece in pieces]
    # Perfect fits differ by rounding errors of some nanometres; round these away, so that the larger piece comes first.
    fixes.sort(key=lambda fix: (round(_misfit(fix.distances_km, rings), 3) if along == "straight" else 0, -fix.share))
    return RangeFixes(tuple(fixes[:_MAX_FIXES]), conflict)


def _ring(item: Range, along: Along) -> _Ring:
    low, high = item.compute_limits_km(along)
    return _Ring(item.centre, item.distance_km, low, high, max(item.slack_km, 1e-3))


def _widen(ring: _Ring, share: float) -> _Ring:
    margin_km = share * ring.size_km
    return replace(
        ring, low_km=max(0.0, ring.low_km - margin_km), high_km=min(ring.high_km + margin_km, MAX_DISTANCE_KM)
    )


def _sample(rings: Sequence[_Ring]) -> _Samples:
    """Sample the smallest ring, and mark the samples that lie in all other rings.

    Samples are so dense that no other ring fits between two of them; rings too thin for that are widened.
    """
    first = min(rings, key=lambda ring: ring.high_km)
    thinnest = max(min(ring.high_km - ring.low_km for ring in rings), 1e-3)
    radii: FloatArray = np.linspace(first.low_km, first.high_km, _RADII, dtype=np.float64)
    around_km = 2 * math.pi * EARTH_RADIUS_KM * float(np.abs(np.sin(radii / EARTH_RADIUS_KM)).max())
    count = int(np.clip(around_km / thinnest * _STEPS_ACROSS, 360, 7200))
    step_km = max((first.high_km - first.low_km) / (_RADII - 1), around_km / count)
    bearings: FloatArray = np.arange(count, dtype=np.float64) * (360.0 / count)
    lats, lons = destinations(first.centre.lat, first.centre.lon, bearings, radii[:, None], _METHOD)
    inside = np.ones(lats.shape, dtype=np.bool_)
    for ring in rings:
        if ring is not first:
            away = distances_km(ring.centre.lat, ring.centre.lon, lats, lons, _METHOD)
            blur = max(0.0, around_km / count - (ring.high_km - ring.low_km) / 2)
            inside &= (away >= ring.low_km - blur) & (away <= ring.high_km + blur)
    area = np.abs(np.sin(radii / EARTH_RADIUS_KM)) + 1e-12
    return _Samples(lats, lons, np.broadcast_to(area[:, None], lats.shape), inside, step_km)


def _split_pieces(samples: _Samples) -> list[npt.NDArray[np.bool_]]:
    """Split the samples inside at empty bearings; if no bearing is empty, they are one ring."""
    taken = samples.inside.any(axis=0)
    if taken.all():
        return [samples.inside]
    start = int(np.flatnonzero(~taken)[0])
    turned = np.concatenate([np.roll(taken, -start), [False]])
    edges = np.flatnonzero(np.diff(turned.astype(np.int8)))
    pieces = []
    for begin, end in edges.reshape(-1, 2):
        columns = (np.arange(begin + 1, end + 1) + start) % taken.size
        piece = np.zeros_like(samples.inside)
        piece[:, columns] = samples.inside[:, columns]
        pieces.append(piece)
    return pieces


def _split_in_two(
    samples: _Samples, piece: npt.NDArray[np.bool_], rings: Sequence[_Ring]
) -> list[npt.NDArray[np.bool_]]:
    """Split a piece if two places in it fit equally well.

    Where rings cross at a small angle, the surroundings of both crossings run together into one piece.
    """
    if piece.any(axis=0).all():
        return [piece]
    lats, lons = samples.lats[piece], samples.lons[piece]
    misfits = _compute_misfits(lats, lons, rings)
    best = _least_squares(_nth(lats, lons, int(np.argmin(misfits))), rings)
    away = distances_km(*_split_point(best), lats, lons, _METHOD)
    elsewhere = np.flatnonzero(away > max(away.max() / 4, samples.step_km))
    if not elsewhere.size:
        return [piece]
    second = _least_squares(_nth(lats, lons, int(elsewhere[np.argmin(misfits[elsewhere])])), rings)
    ends_lat, ends_lon = np.array([best.lat, second.lat]), np.array([best.lon, second.lon])
    worse = np.diff(_compute_misfits(ends_lat, ends_lon, rings))[0]
    if worse > _EQUAL_MISFIT or distance_km(best, second, _METHOD) < 2 * samples.step_km:
        return [piece]
    nearer = away <= distances_km(*_split_point(second), lats, lons, _METHOD)
    parts = []
    for side in (nearer, ~nearer):
        part = np.zeros_like(piece)
        part[piece] = side
        parts.append(part)
    return parts


def _fix(
    samples: _Samples,
    piece: npt.NDArray[np.bool_],
    rings: Sequence[_Ring],
    widened: Sequence[_Ring],
    along: Along,
) -> RangeFix:
    lats, lons, weights = samples.lats[piece], samples.lons[piece], samples.weights[piece]
    smallest = min(widened, key=lambda ring: ring.high_km)
    is_ring = bool(piece.any(axis=0).all()) and smallest.low_km > 0
    if is_ring:
        point = smallest.centre
    elif along == "straight":
        best = int(np.argmin(_compute_misfits(lats, lons, rings)))
        point = _least_squares(_nth(lats, lons, best), rings)
    else:
        # A sample is enough, and the time for a medoid grows with the square of the number of points.
        chosen = np.unique(np.linspace(0, len(lats) - 1, _MEDOID_SAMPLES).astype(int))
        central = chosen[medoid(lats[chosen], lons[chosen], weights[chosen])]
        point = _nth(lats, lons, int(central))
    reach = float(np.max(distances_km(point.lat, point.lon, lats, lons, _METHOD)))
    measured = _nth(lats, lons, 0) if is_ring else point
    distances = tuple(distance_km(ring.centre, measured, _METHOD) for ring in rings)
    return RangeFix(
        point=point,
        radius_km=reach + samples.step_km,
        distances_km=distances,
        residuals_km=tuple(
            float(ring.outside_km(np.asarray(away))) for ring, away in zip(rings, distances, strict=True)
        ),
        share=float(weights.sum() / samples.weights[samples.inside].sum()),
        is_ring=is_ring,
    )


def _misfits(distances: FloatArray, rings: Sequence[_Ring]) -> FloatArray:
    """Return the sum of squared residuals in tolerances; distances have one row for each ring."""
    measured, slacks = np.array([ring.distance_km for ring in rings]), np.array([ring.slack_km for ring in rings])
    off = (distances.T - measured) / slacks
    return np.asarray((off**2).sum(axis=-1), dtype=np.float64)


def _compute_misfits(lats: FloatArray, lons: FloatArray, rings: Sequence[_Ring]) -> FloatArray:
    return _misfits(np.stack([distances_km(*_split_point(ring.centre), lats, lons, _METHOD) for ring in rings]), rings)


def _misfit(distances: Sequence[float], rings: Sequence[_Ring]) -> float:
    return float(_misfits(np.asarray(distances), rings))


def _least_squares(start: LatLon, rings: Sequence[_Ring]) -> LatLon:
    """Return the place near ``start`` with the least weighted sum of squares, by the Levenberg-Marquardt method."""
    lats, lons = np.array([ring.centre.lat for ring in rings]), np.array([ring.centre.lon for ring in rings])
    measured, slacks = np.array([ring.distance_km for ring in rings]), np.array([ring.slack_km for ring in rings])

    def residuals(place: LatLon) -> FloatArray:
        return np.asarray((distances_km(place.lat, place.lon, lats, lons, _METHOD) - measured) / slacks)

    place, here, damping = start, residuals(start), 1e-3
    for _ in range(60):
        towards = np.radians(bearings_deg(place.lat, place.lon, lats, lons, _METHOD))
        jacobian = -np.stack([np.sin(towards), np.cos(towards)], axis=1) / slacks[:, None]
        normal = jacobian.T @ jacobian
        move = np.linalg.solve(normal + damping * np.trace(normal) * np.eye(2), -jacobian.T @ here)
        length = float(np.hypot(*move))
        course = float(np.degrees(np.arctan2(move[0], move[1])))
        lat, lon = destinations(place.lat, place.lon, course, min(length, 5000.0), _METHOD)
        there = residuals(LatLon(float(lat), float(lon)))
        if there @ there < here @ here:
            place, here, damping = LatLon(float(lat), float(lon)), there, damping / 5
        else:
            damping *= 8
        if length < 1e-7 or damping > 1e9:
            break
    return place


def pair_conflict(first: Range, second: Range, *, along: Along = "road") -> float:
    """Return the smallest share of both distances by which two rings must be widened to meet; 0 if they meet."""
    return _pair_conflict(_ring(first, along), _ring(second, along), distance_km(first.centre, second.centre))


def _pair_conflict(a: _Ring, b: _Ring, between: float) -> float:
    """Return the conflict of two rings whose centres are so far apart, from the triangle inequalities on the sphere."""
    gaps = (
        between - a.high_km - b.high_km,
        a.low_km - b.high_km - between,
        b.low_km - a.high_km - between,
        a.low_km + b.low_km + between - 2 * MAX_DISTANCE_KM,
    )
    return max(0.0, *gaps) / (a.size_km + b.size_km)


def _conflict(rings: Sequence[_Ring]) -> float:
    """Return the smallest share of its distance by which every ring must be widened for all to meet.

    The conflict of each pair is a lower bound. For three or more rings a pattern search around every centre finds the
    place with the smallest conflict: it moves to better places nearby, and shortens its steps if there are none.
    """
    at_least = max(
        (_pair_conflict(a, b, distance_km(a.centre, b.centre, _METHOD)) for a, b in combinations(rings, 2)), default=0.0
    )
    if len(rings) < 3 or at_least >= _ABSURD_SHARE:
        return at_least

    def worst_share(lats: FloatArray, lons: FloatArray) -> FloatArray:
        worst = np.zeros(lats.shape)
        for ring in rings:
            away = distances_km(*_split_point(ring.centre), lats, lons, _METHOD)
            worst = np.maximum(worst, np.abs(ring.outside_km(away)) / ring.size_km)
        return worst

    bearings = np.arange(0.0, 360.0, 5.0)
    found = []
    for ring in rings:
        radii: FloatArray = np.linspace(0.0, 2 * ring.high_km, 41, dtype=np.float64)
        lats, lons = (
            part.ravel() for part in destinations(*_split_point(ring.centre), bearings, radii[:, None], _METHOD)
        )
        shares = worst_share(lats, lons)
        at = int(np.argmin(shares))
        best, place, step_km = float(shares[at]), (float(lats[at]), float(lons[at])), ring.high_km / 4
        while step_km > 1e-3:
            reach: FloatArray = np.array([[step_km], [step_km / 2]])
            lats, lons = (part.ravel() for part in destinations(*place, bearings[::2], reach, _METHOD))
            shares = worst_share(lats, lons)
            at = int(np.argmin(shares))
            if shares[at] < best:
                best, place = float(shares[at]), (float(lats[at]), float(lons[at]))
            else:
                step_km /= 3
        found.append(best)
    return max(at_least, min(found))


def _split_point(point: LatLon) -> tuple[float, float]:
    return point.lat, point.lon


def _nth(lats: FloatArray, lons: FloatArray, n: int) -> LatLon:
    return LatLon(float(lats[n]), float(lons[n]))
