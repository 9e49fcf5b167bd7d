"""The one place that stands for many: medoid, density mode, weighted centre.

All three take equally long one-dimensional arrays of latitudes and longitudes in degrees, and optional weights of
zero or more. A point of weight zero counts as absent. All three work in space or in great-circle distance, never in
degrees, so the poles and the antimeridian are places like any other.

They raise ValueError for no points, unequal lengths, coordinates that are not valid, or weights that are
negative, not finite or all zero.
"""

import numpy as np

from .distance import EARTH_RADIUS_KM, great_circle_km
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
