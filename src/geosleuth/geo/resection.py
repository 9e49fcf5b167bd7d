"""Resection: where a camera stood, and which way it looked, from known places in its picture.

A camera that is held level sees a feature in the column that belongs to the feature's bearing. Columns of features
whose places are known therefore give position and heading, and with enough of them the field of view.

The search is complete. Squares of ground are split again and again, and one is dropped only where no place in it can
fit: inside a square a bearing changes by no more than the square's size at that distance allows. So there is no start
value, and no local minimum to end in. What is left is the area: every place that fits nearly as well as the best one,
by the likelihood ratio. With as many bearings as unknowns it holds the true place in 90 % of all cases, whatever its
shape.

Features and camera lie in the plane whose centre is the features' own, distances and directions from there being true
(azimuthal equidistant, on the ellipsoid). Within `REACH_KM` that turns no bearing by as much as 0.01 degrees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .distance import wgs84
from .extent import BoolArray, Box, Disc, Extent, Outline, outline_of
from .point import FloatArray, LatLon, normalize_lon

if TYPE_CHECKING:
    from shapely import Geometry

REACH_KM = 100.0
"""How far a camera may stand from the middle of the features, and a feature from it."""

NEAREST_M = 10.0
"""Nothing nearer than that has one column: it is too wide, or its place on the map too coarse."""

NARROWEST_FOV_DEG, WIDEST_FOV_DEG = 5.0, 130.0
MOST_SIGHTINGS = 24

_USUAL_FOV_DEG = 65.0  # a phone held sideways; noise is told for a picture that wide where its width is not known
_FOV_RANGE_DEG = 10.0, 120.0

_ONE_PARAMETER_90, _TWO_PARAMETERS_90 = 2.7055, 4.6052  # chi-squared that 90 % of errors stay below
_DOUBTFUL = 0.01
_FIRST_CELLS = 48
_ENOUGH_CELLS = 2500
_MOST_CELLS = 20_000
_FEW_CELLS = 30
_TRIED = 5
_FINEST_M = 0.01
_FOVS = 16
_ROUNDS = 4
_ON_CIRCLE = 0.1


@dataclass(frozen=True, slots=True)
class Sighting:
    """A feature whose place is known, and where in the picture it is seen.

    Attributes:
        point: the feature's place.
        column: from 0, the picture's left edge, to 1, its right edge.
        noise_deg: standard deviation of the bearing that the column stands for.

    Raises:
        ValueError: the column lies outside of the picture, or the noise is not positive.
    """

    point: LatLon
    column: float
    noise_deg: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.column <= 1:
            raise ValueError(f"a column must lie between 0 (left edge) and 1 (right edge), not {self.column:g}")
        if not 0.001 <= self.noise_deg <= 30:
            raise ValueError(f"noise must lie between 0.001 and 30 degrees, not {self.noise_deg:g}")


@dataclass(frozen=True, slots=True)
class FieldOfView:
    """How many degrees a picture is wide, and the standard deviation of that; 0 where it is known."""

    deg: float
    sd_deg: float = 0.0

    def __post_init__(self) -> None:
        if not NARROWEST_FOV_DEG <= self.deg <= WIDEST_FOV_DEG:
            raise ValueError(
                f"a field of view must lie between {NARROWEST_FOV_DEG:g} and {WIDEST_FOV_DEG:g} degrees, "
                f"not {self.deg:g}"
            )
        if not 0 <= self.sd_deg <= 30:
            raise ValueError(f"a field of view may be off by 0 to 30 degrees, not {self.sd_deg:g}")


@dataclass(frozen=True, slots=True)
class Pose:
    """A place that fits, and how the camera looked there.

    Attributes:
        point: the place.
        heading_deg: bearing of the picture's middle.
        heading_sd_deg: its standard deviation; None where the sightings leave it open.
        fov_deg: width of the picture in degrees.
        fov_sd_deg: its standard deviation, 0 where it was given; None where the sightings leave it open.
        residuals_deg: for each sighting, how far to the right of its column the feature should be seen from there.
        ellipse: half axes in metres of the ellipse that holds 90 % by the covariance, and the bearing of the longer
            one; None where that has no inverse.
        share: probability of the piece of the area that it lies in, every place being as likely beforehand.
    """

    point: LatLon
    heading_deg: float
    heading_sd_deg: float | None
    fov_deg: float
    fov_sd_deg: float | None
    residuals_deg: tuple[float, ...]
    ellipse: tuple[float, float, float] | None
    share: float


@dataclass(frozen=True, slots=True)
class Resection:
    """What sightings say about the camera's place.

    Attributes:
        kind: "fix" where they single out a place, "curve" where they leave a whole curve: the first pose is then no
            more than the middle of it.
        poses: the best place in each piece of the area, the most probable piece first.
        area: the places that fit; holds the true one in 90 % of all cases if the noise is as stated.
        area_km2: its size.
        radius_km: how far it reaches from the first pose.
        misfits: numbers of sightings of which one does not belong; one alone is the wrong one. They count in no pose.
        fits: whether what counts fits together within its noise.
        danger_circle: whether features and camera lie near one circle, where bearings say least about the place.
        at_edge: whether the area goes on beyond the ground that was searched.
    """

    kind: Literal["fix", "curve"]
    poses: tuple[Pose, ...]
    area: Outline
    area_km2: float
    radius_km: float
    misfits: tuple[int, ...]
    fits: bool
    danger_circle: bool
    at_edge: bool


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """How well sightings fit a place that somebody names.

    `probability` is how often right sightings fit no better than these, as noise has it; None where they can't
    contradict any place. Heading, field of view and residuals are those of `Pose`.
    """

    heading_deg: float
    fov_deg: float
    residuals_deg: tuple[float, ...]
    probability: float | None

    @property
    def fits(self) -> bool:
        """Whether the place is not to be doubted."""
        return self.probability is None or self.probability >= _DOUBTFUL


class Unsolvable(ValueError):
    """Sightings from which no place follows; the message says why."""


def resect(sightings: Sequence[Sighting], fov: FieldOfView | None = None, within: Extent | None = None) -> Resection:
    """Return where the camera stood.

    Three sightings fix a place where the field of view is known, four where it is not. One fewer gives a curve. With
    one more than that, what does not fit is noticed; with two more, the sighting that does not belong is left out.

    Args:
        sightings: features with their columns, in any order.
        fov: the field of view; None where it is to be found.
        within: ground outside of which the camera did not stand.

    Raises:
        Unsolvable: too few sightings, features too far apart, or no place at all that fits.
    """
    problem = _Problem(sightings, fov)
    unknowns = 3 if problem.fov_observed else 4
    if len(sightings) < unknowns - 1:
        need = "two features, or three where the field of view is not known" if fov is None else "two features"
        raise Unsolvable(f"{len(sightings)} marked: a place takes {need}, a point one more")
    found = _search(problem, within)
    spare = len(sightings) - unknowns
    # Sightings without one to spare fit some place exactly, if they are right: then little misfit is noise, too.
    if chi2_tail(found.least, max(spare, 1)) >= _DOUBTFUL:
        return _result(problem, [found], within, misfits=(), fits=True)
    if spare >= 2:
        without = [_left_out(sightings, fov, within, number, spare - 1) for number in range(len(sightings))]
        right = sorted((one for one in without if one is not None), key=lambda one: one.least)
        if right:
            right = [one for one in right if one.least <= right[0].least + _TWO_PARAMETERS_90]
            return _result(problem, right, within, misfits=tuple(sorted(one.left_out for one in right)), fits=True)
    # No single one to blame: the noise must be larger than stated, by so much.
    factor = math.sqrt(found.least / max(spare, 1))
    noisier = [replace(one, noise_deg=min(30.0, one.noise_deg * factor)) for one in sightings]
    problem = _Problem(noisier, fov)
    return _result(problem, [_search(problem, within)], within, misfits=(), fits=False)


def check_position(sightings: Sequence[Sighting], point: LatLon, fov: FieldOfView | None = None) -> PositionCheck:
    """Return how well sightings fit a place, with the heading (and field of view) that suits them best.

    Raises:
        Unsolvable: no sightings, or features out of reach.
    """
    problem = _Problem(sightings, fov)
    east, north = problem.plane.flat(np.array([point.lat]), np.array([point.lon]))
    if math.hypot(float(east[0]), float(north[0])) > 2000 * REACH_KM:
        raise Unsolvable(f"the place lies more than {2 * REACH_KM:g} km from the features")
    at = problem.profile(east, north)
    spare = len(sightings) - (1 if problem.fov_observed else 2)
    heading_deg, fov_deg, residuals_deg = problem.view_from(point, float(at.fov[0]))
    probability = chi2_tail(float(at.chi2[0]), spare) if spare > 0 else None
    return PositionCheck(heading_deg, fov_deg, residuals_deg, probability)


def fov_of_focal_length(focal_35mm: float, width_px: float, height_px: float) -> FieldOfView | None:
    """Return the field of view of a picture that was taken with a focal length in 35 mm terms; None for an absurd one.

    The convention goes by the diagonal (43.27 mm). Makers round, and some go by the width: so it may be off by 3 %.
    """
    if not (focal_35mm > 0 and width_px > 0 and height_px > 0):
        return None
    width_mm = math.hypot(36, 24) * width_px / math.hypot(width_px, height_px)
    deg = 2 * math.degrees(math.atan(width_mm / 2 / focal_35mm))
    if not NARROWEST_FOV_DEG <= deg <= WIDEST_FOV_DEG:
        return None
    return FieldOfView(deg, 0.03 * math.degrees(math.sin(math.radians(deg))))


def column_of(offset_deg: float, fov_deg: float) -> float:
    """Return the column of what lies so many degrees to the right of the picture's middle; outside 0 to 1 beyond it."""
    return 0.5 + math.tan(math.radians(offset_deg)) / (2 * math.tan(math.radians(fov_deg) / 2))


def chi2_tail(value: float, freedom: int) -> float:
    """Return the probability that chi-squared with so many degrees of freedom exceeds a value."""
    half = max(value, 0.0) / 2
    if not half < 700:
        return 0.0
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    for below in range(2 - freedom % 2, freedom, 2):
        tail += math.exp(below / 2 * math.log(half) - half - math.lgamma(below / 2 + 1)) if half else 0.0
    return min(1.0, tail)


class _Plane:
    """The ground around a point as metres to the east and to the north of it."""

    def __init__(self, centre: LatLon) -> None:
        self.centre = centre

    def flat(self, lats: FloatArray, lons: FloatArray) -> tuple[FloatArray, FloatArray]:
        ones = np.ones_like(lats)
        azimuth, _, metres = wgs84().inv(self.centre.lon * ones, self.centre.lat * ones, lons, lats)
        course = np.radians(azimuth)
        return metres * np.sin(course), metres * np.cos(course)

    def earth(self, east: FloatArray, north: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Latitudes, and longitudes that don't jump at the antimeridian."""
        ones = np.ones_like(east)
        course, metres = np.degrees(np.arctan2(east, north)), np.hypot(east, north)
        lons, lats, _ = wgs84().fwd(self.centre.lon * ones, self.centre.lat * ones, course, metres)
        turn = normalize_lon(np.asarray(lons) - self.centre.lon)
        return np.asarray(lats), self.centre.lon + turn

    def point(self, east: float, north: float) -> LatLon:
        lats, lons = self.earth(np.array([east]), np.array([north]))
        return LatLon(float(lats[0]), float(normalize_lon(lons[0])))


@dataclass(frozen=True, slots=True)
class _Profile:
    """For each place the least misfit that any heading and field of view leave there, and these, in radians.

    `lowest` is what the root of the misfit can't fall below nearby.
    """

    chi2: FloatArray
    heading: FloatArray
    fov: FloatArray
    lowest: FloatArray


class _Problem:
    """Sightings in the plane; angles in radians."""

    def __init__(self, sightings: Sequence[Sighting], fov: FieldOfView | None) -> None:
        if not sightings:
            raise Unsolvable("no feature is marked")
        if len(sightings) > MOST_SIGHTINGS:
            raise Unsolvable(f"{len(sightings)} features are too many; give at most {MOST_SIGHTINGS}")
        self.lats = np.array([one.point.lat for one in sightings])
        self.lons = np.array([one.point.lon for one in sightings])
        first = sightings[0].point
        rough = _Plane(first)
        east, north = rough.flat(self.lats, self.lons)
        self.plane = _Plane(rough.point(float(east.mean()), float(north.mean())))
        self.east, self.north = self.plane.flat(self.lats, self.lons)
        reach_m = float(np.hypot(self.east, self.north).max())
        if reach_m > 1000 * REACH_KM:
            raise Unsolvable(
                f"the features lie up to {reach_m / 1000:.0f} km from their middle; it takes them within "
                f"{REACH_KM:g} km. Check which places the names mean"
            )
        self.across = 2 * np.array([one.column for one in sightings]) - 1
        self.weight = np.radians([one.noise_deg for one in sightings]) ** -2
        self.fov_observed = fov is not None
        self.fov = math.radians(fov.deg if fov else _USUAL_FOV_DEG)
        sd = math.radians(fov.sd_deg) if fov else math.inf
        self.fov_weight = math.inf if sd == 0 else sd**-2
        low, high = (math.radians(end) for end in _FOV_RANGE_DEG)
        self.fov_range = (max(low, self.fov - 5 * sd), min(high, self.fov + 5 * sd)) if fov else (low, high)

    @property
    def free_fov(self) -> bool:
        return self.fov_weight < math.inf

    def offsets(self, fov: FloatArray) -> FloatArray:
        """How far from the middle each sighting lies: one row for each field of view."""
        return np.asarray(np.arctan(self.across * np.tan(np.asarray(fov)[..., None] / 2)))

    def profile(self, east: FloatArray, north: FloatArray, radius_m: float = 0.0) -> _Profile:
        """The best heading and field of view at each place, and what no place within a radius of it can fall below."""
        right, ahead = self.east - east[:, None], self.north - north[:, None]
        azimuth = np.arctan2(right, ahead)
        turned = np.arcsin(np.minimum(radius_m / np.hypot(right, ahead), 1.0)) if radius_m else np.zeros_like(azimuth)
        room = np.sqrt((turned**2) @ self.weight)
        if not self.free_fov:
            chi2, heading, _ = self._turned(azimuth - self.offsets(np.array(self.fov)))
            return _Profile(chi2, heading, np.full(len(east), self.fov), np.maximum(np.sqrt(chi2) - room, 0.0))
        count = len(east)
        best, fov, heading = np.full(count, np.inf), np.full(count, self.fov), np.zeros(count)
        lowest = np.full(count, np.inf)
        for trial in np.linspace(*self.fov_range, _FOVS):
            chi2, heading_now, _ = self._turned(azimuth - self.offsets(np.array(trial)))
            scale, more = self._scale(np.array(trial)), self._fov_chi2(np.array(trial))
            lowest = np.minimum(lowest, np.sqrt((np.maximum(np.sqrt(chi2) - room, 0.0) * scale) ** 2 + more))
            chi2 = chi2 * scale**2 + more
            better = chi2 < best
            best[better], fov[better], heading[better] = chi2[better], trial, heading_now[better]
        now = fov
        for _ in range(_ROUNDS):
            now = np.clip(now + self._fov_step(azimuth, now), *self.fov_range)
            chi2, heading_now, _ = self._turned(azimuth - self.offsets(now))
            scale, more = self._scale(now), self._fov_chi2(now)
            lowest = np.minimum(lowest, np.sqrt((np.maximum(np.sqrt(chi2) - room, 0.0) * scale) ** 2 + more))
            chi2 = chi2 * scale**2 + more
            better = chi2 < best
            best, heading, fov = (
                np.where(better, new, old) for new, old in ((chi2, best), (heading_now, heading), (now, fov))
            )
        return _Profile(best, heading, fov, lowest)

    def _fov_step(self, azimuth: FloatArray, fov: FloatArray) -> FloatArray:
        """One step of Gauss-Newton in the field of view alone, the heading following."""
        _, _, rest = self._turned(azimuth - self.offsets(fov))
        slope = self._slopes(fov)
        slope = slope - (slope @ self.weight)[:, None] / self.weight.sum() + rest / fov[:, None]
        square = self._scale(fov) ** 2
        pull = (slope * rest) @ self.weight * square + self.fov_weight * (self.fov - fov)
        return np.asarray(pull / ((slope**2) @ self.weight * square + self.fov_weight + 1e-9))

    def _scale(self, fov: FloatArray) -> FloatArray:
        """Noise is a part of the picture's width: in a narrow picture it is fewer degrees."""
        return np.asarray(self.fov / fov)

    def _fov_chi2(self, fov: FloatArray) -> FloatArray:
        return np.asarray(self.fov_weight * (fov - self.fov) ** 2)

    def _slopes(self, fov: FloatArray) -> FloatArray:
        """How much each offset grows with the field of view."""
        half = np.tan(fov / 2)[..., None]
        return np.asarray(self.across * (1 + half**2) / 2 / (1 + (self.across * half) ** 2))

    def _turned(self, headings: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The least misfit over all headings, that heading, and what is left at each sighting."""
        middle = np.arctan2(np.sin(headings) @ self.weight, np.cos(headings) @ self.weight)
        rest = _wrapped(headings - middle[:, None])
        mean = rest @ self.weight / self.weight.sum()
        rest = rest - mean[:, None]
        return (rest**2) @ self.weight, middle + mean, rest

    def near(self, east: FloatArray, north: FloatArray, metres: float) -> BoolArray:
        """Whether a feature is that near to each place."""
        away = np.hypot(self.east - east[:, None], self.north - north[:, None])
        return np.asarray((away < metres).any(axis=1))

    def polished(self, east: float, north: float) -> tuple[float, float, float]:
        """A better place near a good one, by Gauss-Newton with halved steps, and its misfit."""
        at = np.array([east, north])
        least = float(self.profile(at[:1], at[1:]).chi2[0])
        for _ in range(30):
            step = self._step(at)
            if step is None:
                break
            for half in (1.0, 0.5, 0.25, 0.1, 0.02):
                trial = at + half * step
                chi2 = float(self.profile(trial[:1], trial[1:]).chi2[0])
                if chi2 < least and not self.near(trial[:1], trial[1:], NEAREST_M)[0]:
                    at, least = trial, chi2
                    break
            else:
                break
            if float(np.hypot(*step)) < 1e-4:
                break
        return float(at[0]), float(at[1]), least

    def _step(self, at: FloatArray) -> FloatArray | None:
        here = self.profile(at[:1], at[1:])
        fov = float(here.fov[0])
        azimuth = np.arctan2(self.east - at[0], self.north - at[1])
        rest = _wrapped(azimuth - self.offsets(np.array(fov)) - here.heading[0])
        matrix = self.jacobian((float(at[0]), float(at[1])), fov, rest)
        rest = rest * np.sqrt(self.weight) * (self.fov / fov)
        if self.free_fov:
            rest = np.append(rest, math.sqrt(self.fov_weight) * (self.fov - fov))
        step, _, rank, _ = np.linalg.lstsq(matrix, -rest, rcond=1e-12)
        far = float(np.hypot(*step[:2]))
        if not rank or not math.isfinite(far) or far == 0:
            return None
        longest = 0.3 * float(np.hypot(self.east - at[0], self.north - at[1]).min())
        return np.asarray(step[:2] * min(1.0, longest / far))

    def jacobian(self, at: tuple[float, float], fov: float, rest: FloatArray | float = 0.0) -> FloatArray:
        """How weighted residuals (a feature's bearing less its column's) change with east, north, heading and fov."""
        right, ahead = self.east - at[0], self.north - at[1]
        square = right**2 + ahead**2
        columns = [-ahead / square, right / square, -np.ones_like(right)]
        if self.free_fov:
            columns.append(-self._slopes(np.array(fov)) - rest / fov)
        matrix = np.stack(columns, axis=1) * (np.sqrt(self.weight) * (self.fov / fov))[:, None]
        return np.vstack([matrix, [0, 0, 0, -math.sqrt(self.fov_weight)]]) if self.free_fov else matrix

    def view_from(self, point: LatLon, fov: float) -> tuple[float, float, tuple[float, ...]]:
        """Heading and field of view in degrees, and residuals, with true bearings on the ellipsoid."""
        ones = np.ones_like(self.lats)
        azimuth, _, _ = wgs84().inv(point.lon * ones, point.lat * ones, self.lons, self.lats)
        _, heading, rest = self._turned((np.radians(azimuth) - self.offsets(np.array(fov)))[None, :])
        return float(np.degrees(heading[0])) % 360, math.degrees(fov), tuple(np.degrees(rest[0]).tolist())


def _wrapped(angles: FloatArray) -> FloatArray:
    return np.asarray((angles + math.pi) % (2 * math.pi) - math.pi)


@dataclass(frozen=True, slots=True)
class _Found:
    """The squares that are left: their middles, misfits and size, and the least misfit of all places."""

    problem: _Problem
    east: FloatArray
    north: FloatArray
    chi2: FloatArray
    size_m: float
    least: float
    at_edge: bool
    left_out: int = -1


def _left_out(
    sightings: Sequence[Sighting], fov: FieldOfView | None, within: Extent | None, number: int, spare: int
) -> _Found | None:
    """What is found without one sighting; None where the others don't fit together either."""
    problem = _Problem([one for at, one in enumerate(sightings) if at != number], fov)
    if chi2_tail(_first_least(problem, within), spare) < _DOUBTFUL:
        return None
    return replace(_search(problem, within), left_out=number)


def _slack(problem: _Problem) -> float:
    """How much more misfit than the least a place of the area may have."""
    freedom = len(problem.across) - (1 if problem.fov_observed else 2)
    return _ONE_PARAMETER_90 if freedom < 2 else _TWO_PARAMETERS_90


def _search(problem: _Problem, within: Extent | None) -> _Found:
    """Split squares until enough of them fit, dropping those in which nothing can."""
    (east0, north0), half_m = _window(problem, within)
    size_m = 2 * half_m / _FIRST_CELLS
    steps = (np.arange(_FIRST_CELLS) + 0.5) * size_m - half_m
    east, north = (part.ravel() for part in np.meshgrid(east0 + steps, north0 + steps))
    slack, least = _slack(problem), _first_least(problem, within)
    while True:
        at = problem.profile(east, north, size_m * math.sqrt(0.5))
        chi2 = at.chi2
        good = _standing(problem, within, east, north)
        if good.any():
            least = min(least, float(chi2[good].min()))
        kept = problem.near(east, north, size_m) | (at.lowest <= math.sqrt(least + slack))
        east, north, chi2, good = east[kept], north[kept], chi2[kept], good[kept]
        fitting = good & (chi2 <= least + slack)
        if fitting.sum() >= _ENOUGH_CELLS or 4 * len(east) > _MOST_CELLS or size_m <= _FINEST_M or not len(east):
            break
        size_m /= 2
        quarter = size_m / 2
        east = np.concatenate([east + right * quarter for right in (-1, 1, -1, 1)])
        north = np.concatenate([north + up * quarter for up in (-1, -1, 1, 1)])
    if not good.any():
        raise Unsolvable("no place on the ground that was searched fits; widen the area, or check the features")
    best = int(np.argmin(np.where(good, chi2, np.inf)))
    polished_east, polished_north, polished = problem.polished(float(east[best]), float(north[best]))
    if _standing(problem, within, np.array([polished_east]), np.array([polished_north]))[0]:
        least = min(least, polished)
    fitting = good & (chi2 <= least + slack)
    if fitting.sum() < _FEW_CELLS:
        fitting = good  # too coarse to judge squares by their middles
    edge = np.maximum(np.abs(east - east0), np.abs(north - north0)) >= half_m - 1.5 * size_m
    return _Found(problem, east[fitting], north[fitting], chi2[fitting], size_m, least, bool((edge & fitting).any()))


def _first_least(problem: _Problem, within: Extent | None) -> float:
    """The misfit of a good place, found on rings around features and in the area: it lets most squares go at once."""
    radii, courses = np.meshgrid(np.geomspace(2 * NEAREST_M, 1000 * REACH_KM, 30), np.arange(36) * (math.pi / 18))
    middles_east, middles_north = np.append(problem.east, 0.0), np.append(problem.north, 0.0)
    east = (middles_east[:, None] + (radii * np.sin(courses)).ravel()).ravel()
    north = (middles_north[:, None] + (radii * np.cos(courses)).ravel()).ravel()
    if within is not None:
        (east0, north0), half_m = _window(problem, within)
        steps = np.linspace(-half_m, half_m, 24)
        grid_east, grid_north = np.meshgrid(east0 + steps, north0 + steps)
        east, north = np.append(east, grid_east.ravel()), np.append(north, grid_north.ravel())
    good = _standing(problem, within, east, north)
    if not good.any():
        return math.inf
    east, north = east[good], north[good]
    chi2 = problem.profile(east, north).chi2
    least = float(chi2.min())
    for at in np.argsort(chi2)[:_TRIED]:
        *place, polished = problem.polished(float(east[at]), float(north[at]))
        if _standing(problem, within, np.array(place[:1]), np.array(place[1:]))[0]:
            least = min(least, polished)
    return least


def _standing(problem: _Problem, within: Extent | None, east: FloatArray, north: FloatArray) -> BoolArray:
    """Whether a camera may stand at each place."""
    allowed = ~problem.near(east, north, NEAREST_M)
    if within is not None:
        lats, lons = problem.plane.earth(east, north)
        allowed &= within.holds(lats, np.asarray(normalize_lon(lons)))
    return allowed


def _window(problem: _Problem, within: Extent | None) -> tuple[tuple[float, float], float]:
    """Middle and half the width of the square to search."""
    farthest_m = 1000 * REACH_KM
    if within is None:
        return (0.0, 0.0), farthest_m
    if isinstance(within, Disc):
        corners = [(within.centre.lat, within.centre.lon)]
        more_m = 1010 * within.radius_km  # a sphere's kilometre may be longer than the ellipsoid's
    else:
        box: Box = within
        lons = [box.west + part * box.width_deg for part in (0, 0.5, 1)]
        corners = [(lat, float(normalize_lon(lon))) for lat in (box.south, box.north) for lon in lons]
        more_m = 1.0
    east, north = problem.plane.flat(np.array([lat for lat, _ in corners]), np.array([lon for _, lon in corners]))
    low_east, high_east = max(-farthest_m, east.min() - more_m), min(farthest_m, east.max() + more_m)
    low_north, high_north = max(-farthest_m, north.min() - more_m), min(farthest_m, north.max() + more_m)
    if low_east >= high_east or low_north >= high_north:
        raise Unsolvable(f"the area lies more than {REACH_KM:g} km from the features")
    middle = (low_east + high_east) / 2, (low_north + high_north) / 2
    return (float(middle[0]), float(middle[1])), max(high_east - low_east, high_north - low_north) / 2


def _result(
    problem: _Problem, found: Sequence[_Found], within: Extent | None, *, misfits: tuple[int, ...], fits: bool
) -> Resection:
    """Put the areas of one search, or of several with one sighting left out of each, together."""
    import shapely

    pieces: list[tuple[float, Geometry, Pose]] = []
    curve = len(found[0].problem.across) < (3 if problem.fov_observed else 4)
    danger = False
    least = min(float(one.chi2.min()) for one in found)
    likely = [np.exp((least - one.chi2) / 2) * one.size_m**2 for one in found]
    total = sum(float(one.sum()) for one in likely)
    for one, weights in zip(found, likely, strict=True):
        for shape in _shapes(one):
            inside = shapely.contains_xy(shape, one.east, one.north)
            share = float(weights[inside].sum()) / total
            pose, near_circle = _pose(problem, one, inside, within, share, curve=curve)
            danger |= near_circle and share >= 0.1
            pieces.append((share, _on_earth(one.problem.plane, shape, one.size_m / 2), pose))
    pieces.sort(key=lambda piece: -piece[0])
    area = outline_of([shape for _, shape, _ in pieces])
    first = pieces[0][2].point
    corners = shapely.get_coordinates(area.shape)
    _, _, metres = wgs84().inv(
        np.full(len(corners), first.lon), np.full(len(corners), first.lat), corners[:, 0], corners[:, 1]
    )
    return Resection(
        kind="curve" if curve else "fix",
        poses=tuple(pose for _, _, pose in pieces),
        area=area,
        area_km2=sum(len(one.east) * one.size_m**2 for one in found) / 1e6,
        radius_km=float(np.max(metres)) / 1000,
        misfits=misfits,
        fits=fits,
        danger_circle=danger and not curve,
        at_edge=any(one.at_edge for one in found),
    )


def _shapes(found: _Found) -> Sequence[Any]:
    """The pieces of ground that the squares make up."""
    import shapely

    size = found.size_m
    columns, rows = (np.rint((part - part[0]) / size).astype(np.int64) for part in (found.east, found.north))
    order = np.lexsort((columns, rows))
    columns, rows = columns[order], rows[order]
    # Squares side by side are one box: a hundred times fewer to unite.
    starts = np.flatnonzero(np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 1)))
    ends = np.append(starts[1:], len(rows)) - 1
    half = 0.5 + 0.05  # corners that only touch must hold together
    edges = columns[starts] - half, rows[starts] - half, columns[ends] + half, rows[starts] + half
    east, north = found.east[0], found.north[0]
    boxes = shapely.box(*(edge * size + at for edge, at in zip(edges, (east, north, east, north), strict=True)))
    pieces: Sequence[Any] = shapely.get_parts(shapely.union_all(boxes))
    return pieces


def _on_earth(plane: _Plane, shape: Any, tolerance_m: float) -> "Geometry":
    """A shape of the plane in longitudes and latitudes, with the stairs of its squares smoothed."""
    import shapely

    def lonlat(corners: FloatArray) -> FloatArray:
        lats, lons = plane.earth(corners[:, 0], corners[:, 1])
        return np.stack([lons, lats], axis=1)

    return shapely.transform(shapely.simplify(shape, tolerance_m), lonlat)


def _pose(
    problem: _Problem, found: _Found, inside: BoolArray, within: Extent | None, share: float, *, curve: bool
) -> tuple[Pose, bool]:
    """The best place in a piece of the area, and whether it lies on the danger circle."""
    own = found.problem
    east, north, chi2 = found.east[inside], found.north[inside], found.chi2[inside]
    if curve:
        # Half of the piece lies on either side: the likeliest of the places near its middle.
        away = np.hypot(east - np.median(east), north - np.median(north))
        best = int(np.argmin(np.where(away <= np.quantile(away, 0.1), chi2, np.inf)))
        at = float(east[best]), float(north[best])
    else:
        best = int(np.argmin(chi2))
        polished = own.polished(float(east[best]), float(north[best]))
        at = float(east[best]), float(north[best])
        moved = math.hypot(polished[0] - at[0], polished[1] - at[1])
        there = _standing(own, within, np.array(polished[:1]), np.array(polished[1:2]))[0]
        if there and moved <= 20 * found.size_m:
            at = polished[0], polished[1]
    here = own.profile(np.array(at[:1]), np.array(at[1:]))
    point, fov = own.plane.point(*at), float(here.fov[0])
    heading_deg, fov_deg, _ = own.view_from(point, fov)
    heading = math.radians(heading_deg)
    ones = np.ones_like(problem.lats)
    azimuth, _, _ = wgs84().inv(point.lon * ones, point.lat * ones, problem.lons, problem.lats)
    rest = _wrapped(np.radians(azimuth) - problem.offsets(np.array(fov)) - heading)
    ellipse, heading_sd, fov_sd = (None, None, None) if curve else _spread(own, at, fov)
    return (
        Pose(
            point=point,
            heading_deg=heading_deg,
            heading_sd_deg=heading_sd,
            fov_deg=fov_deg,
            fov_sd_deg=fov_sd if own.free_fov else 0.0,
            residuals_deg=tuple(np.degrees(rest).tolist()),
            ellipse=ellipse,
            share=share,
        ),
        _on_circle(own, *at),
    )


def _spread(
    problem: _Problem, at: tuple[float, float], fov: float
) -> tuple[tuple[float, float, float] | None, float | None, float | None]:
    """The 90 % ellipse of a place, and the standard deviations of heading and field of view in degrees."""
    matrix = problem.jacobian(at, fov)
    scale = np.array([1e3, 1e3, 1.0, 1.0][: matrix.shape[1]])  # kilometres and radians are of a size
    normal = (matrix * scale).T @ (matrix * scale)
    if np.linalg.cond(normal) > 1e12:
        return None, None, None
    covariance = np.linalg.inv(normal) * np.outer(scale, scale)
    values, vectors = np.linalg.eigh(covariance[:2, :2])
    minor, major = np.sqrt(_TWO_PARAMETERS_90 * np.maximum(values, 0.0)).tolist()
    along = math.degrees(math.atan2(vectors[0, 1], vectors[1, 1])) % 180
    sds = np.degrees(np.sqrt(np.diag(covariance)[2:])).tolist()
    return (major, minor, along), sds[0], sds[1] if len(sds) > 1 else None


def _on_circle(problem: _Problem, east: float, north: float) -> bool:
    """Whether the features and a place lie near one circle, off it by no more than a tenth of its radius."""
    x, y = np.append(problem.east, east), np.append(problem.north, north)
    size = float(np.hypot(problem.east, problem.north).max()) or 1.0
    x, y = x / size, y / size
    matrix = np.stack([2 * x, 2 * y, np.ones_like(x)], axis=1)
    (middle_x, middle_y, rest), _, _, _ = np.linalg.lstsq(matrix, x**2 + y**2, rcond=None)
    square = rest + middle_x**2 + middle_y**2
    if square <= 0:
        return False
    radius = math.sqrt(square)
    off = np.abs(np.hypot(x - middle_x, y - middle_y) - radius)
    return bool(off.max() <= _ON_CIRCLE * radius) and radius < 20
