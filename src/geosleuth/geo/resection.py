"""Resection: find where a camera stood, and which way it looked, from known features in its picture.

In a picture taken with a level camera, the column in which a feature appears depends only on the feature's bearing
relative to the camera's heading. Columns of mapped features therefore give position and heading, and enough of them
the field of view too.

The search is a branch and bound over squares of ground. Squares are split again and again, and one is dropped only if
no place in it can fit: inside a square, a bearing changes by no more than the square's size at that distance allows.
So the search needs no start value and can't end in a local minimum. The remaining squares form the area: every place
that fits nearly as well as the best one, by a likelihood-ratio test. With as many bearings as unknowns it holds the
true place in 90 % of all cases, for any shape of the area.

Computation is in a plane centred on the features, an azimuthal equidistant projection of the ellipsoid: distances and
directions from the centre are true. Within `REACH_KM` it changes no bearing by as much as 0.01 degrees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .distance import wgs84
from .extent import BoolArray, Box, Disc, Extent, Outline, build_outline
from .point import FloatArray, LatLon, normalize_lon

if TYPE_CHECKING:
    from shapely import Geometry

# Maximum distance of the camera, or of a feature, from the centre of all features.
REACH_KM = 100.0

# Minimum distance of a feature: a nearer one has no single column, being too wide or mapped too coarsely.
MIN_DISTANCE_M = 10.0

NARROWEST_FOV_DEG, WIDEST_FOV_DEG = 5.0, 130.0
MAX_SIGHTINGS = 24

_USUAL_FOV_DEG = 65.0  # a phone in landscape; if the field of view is unknown, noise in degrees refers to this one
_FOV_RANGE_DEG = 10.0, 120.0

_CHI2_90_ONE, _CHI2_90_TWO = 2.7055, 4.6052  # 90 % quantiles of chi-squared with one and with two degrees of freedom
_SIGNIFICANCE = 0.01  # with a p-value below this, sightings are taken not to fit

_FIRST_SQUARES = 48  # on each side of the search window
_ENOUGH_SQUARES = 2500  # that fit: stop splitting
_MAX_SQUARES = 20_000
_FEW_SQUARES = 30  # that fit: keep all, since a middle says too little about its square
_FINEST_M = 0.01

_REFINED_STARTS = 5
_FOV_GRID = 16
_FOV_STEPS = 4
_CIRCLE_TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class ColumnSighting:
    """A feature whose place is known, and the column of the picture in which it is seen.

    Attributes:
        point: the feature's place.
        column: from 0, the picture's left edge, to 1, its right edge.
        noise_deg: standard deviation of the bearing that follows from the column.

    Raises:
        ValueError: the column lies outside the picture, or the noise is not between 0.001 and 30 degrees.
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
    """The width of a picture in degrees, and its standard deviation (0 if it is known exactly)."""

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
    """A place that fits, with the camera's heading and field of view.

    Attributes:
        point: the place.
        heading_deg: bearing of the picture's middle.
        heading_sd_deg: its standard deviation; None if the sightings don't determine it.
        fov_deg: width of the picture in degrees.
        fov_sd_deg: its standard deviation, 0 if it was given; None if the sightings don't determine it.
        residuals_deg: for each sighting, how far to the right of its column the feature should appear from here.
        ellipse: semi-major and semi-minor axis in metres of the 90 % error ellipse, and the bearing of the major one;
            None if the normal matrix is singular.
        share: probability of the piece of the area around this place, with a uniform prior.
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
    """Area where the camera stood, as far as the sightings determine it.

    Attributes:
        kind: "fix" if they determine a place, "curve" if they leave a whole curve: the first pose is then only the
            middle of it.
        poses: the best place in each piece of the area, the most probable piece first.
        area: the places that fit; holds the true one in 90 % of all cases if the noise is as stated.
        area_km2: its size.
        radius_km: how far it reaches from the first pose.
        misfits: indices of sightings one of which is wrong, and which one can't be decided; a single index is the
            wrong one. Each search that the area and the poses come from leaves one of them out.
        fits: whether the sightings used fit together within their noise.
        danger_circle: whether features and camera lie near one circle, where bearings say least about the place.
        at_edge: whether the area continues beyond the ground searched.
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
    """Fit of sightings to a claimed place.

    `probability` is the p-value: how often correct sightings fit this badly because of noise. It is None if there are
    too few sightings to contradict any place. Heading, field of view and residuals are as in `Pose`.
    """

    heading_deg: float
    fov_deg: float
    residuals_deg: tuple[float, ...]
    probability: float | None

    @property
    def fits(self) -> bool:
        """Return whether the sightings don't contradict the place."""
        return self.probability is None or self.probability >= _SIGNIFICANCE


class Unsolvable(ValueError):
    """No place follows from the sightings; the message says why."""


def resect(
    sightings: Sequence[ColumnSighting], fov: FieldOfView | None = None, within: Extent | None = None
) -> Resection:
    """Return where the camera stood.

    Three sightings fix a place if the field of view is known, four if it is not; one fewer gives a curve. With one
    more, a wrong sighting is noticed. With two more, it is identified and left out.

    Args:
        sightings: features with their columns, in any order.
        fov: the field of view; None to solve for it.
        within: the camera stood inside this extent.

    Raises:
        Unsolvable: too few sightings, features too far apart, or no place fits.
    """
    problem = _Problem(sightings, fov)
    unknowns = 3 if problem.fov_observed else 4
    if len(sightings) < unknowns - 1:
        need = "two features, or three where the field of view is not known" if fov is None else "two features"
        raise Unsolvable(
            f"{len(sightings)} marked: mark at least {need} for a line of places, one more for a single place"
        )
    found = _search(problem, within)
    redundancy = len(sightings) - unknowns
    # Without redundancy, correct sightings fit some place exactly; what misfit is left still counts as one residual.
    if chi2_tail(found.least, max(redundancy, 1)) >= _SIGNIFICANCE:
        return _result(problem, [found], within, misfits=(), fits=True)
    if redundancy >= 2:
        searches = [_search_without(sightings, fov, within, index, redundancy - 1) for index in range(len(sightings))]
        fitting = sorted((search for search in searches if search is not None), key=lambda search: search.least)
        if fitting:
            fitting = [item for item in fitting if item.least <= fitting[0].least + _CHI2_90_TWO]
            misfits = tuple(sorted(item.left_out for item in fitting))
            return _result(problem, fitting, within, misfits=misfits, fits=True)
    # No single sighting explains the misfit, so the noise must be larger than stated: scale it until chi-squared fits.
    factor = math.sqrt(found.least / max(redundancy, 1))
    noisier = [replace(sighting, noise_deg=min(30.0, sighting.noise_deg * factor)) for sighting in sightings]
    problem = _Problem(noisier, fov)
    return _result(problem, [_search(problem, within)], within, misfits=(), fits=False)


def check_position(sightings: Sequence[ColumnSighting], point: LatLon, fov: FieldOfView | None = None) -> PositionCheck:
    """Return how well sightings fit a place, with the best-fitting heading (and field of view).

    Raises:
        Unsolvable: no sightings, or features out of reach.
    """
    problem = _Problem(sightings, fov)
    east, north = problem.plane.project(np.array([point.lat]), np.array([point.lon]))
    if math.hypot(float(east[0]), float(north[0])) > 2000 * REACH_KM:
        raise Unsolvable(f"the place lies more than {2 * REACH_KM:g} km from the features")
    at = problem.profile(east, north)
    redundancy = len(sightings) - (1 if problem.fov_observed else 2)
    heading_deg, fov_deg, residuals_deg = problem.compute_view(point, float(at.fov[0]))
    probability = chi2_tail(float(at.chi2[0]), redundancy) if redundancy > 0 else None
    return PositionCheck(heading_deg, fov_deg, residuals_deg, probability)


def fov_of_focal_length(focal_35mm: float, width_px: float, height_px: float) -> FieldOfView | None:
    """Return the field of view for a 35 mm equivalent focal length; None if the result is implausible.

    By convention the equivalent refers to the frame's diagonal (43.27 mm). Makers round it, and some use the width
    instead, so the standard deviation allows for a focal length that is 3 % off.
    """
    if not (focal_35mm > 0 and width_px > 0 and height_px > 0):
        return None
    width_mm = math.hypot(36, 24) * width_px / math.hypot(width_px, height_px)
    deg = 2 * math.degrees(math.atan(width_mm / 2 / focal_35mm))
    if not NARROWEST_FOV_DEG <= deg <= WIDEST_FOV_DEG:
        return None
    return FieldOfView(deg, 0.03 * math.degrees(math.sin(math.radians(deg))))


def compute_column(offset_deg: float, fov_deg: float) -> float:
    """Return the column of a feature `offset_deg` to the right of the picture's middle.

    Features outside the picture get columns below 0 or above 1.
    """
    return 0.5 + math.tan(math.radians(offset_deg)) / (2 * math.tan(math.radians(fov_deg) / 2))


def chi2_tail(value: float, freedom: int) -> float:
    """Return the probability that chi-squared with `freedom` degrees of freedom exceeds a value."""
    half = max(value, 0.0) / 2
    if not half < 700:
        return 0.0
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    for below in range(2 - freedom % 2, freedom, 2):
        tail += math.exp(below / 2 * math.log(half) - half - math.lgamma(below / 2 + 1)) if half else 0.0
    return min(1.0, tail)


class _Plane:
    """The azimuthal equidistant projection around a point, in metres to the east and to the north of it."""

    def __init__(self, centre: LatLon) -> None:
        self.centre = centre

    def project(self, lats: FloatArray, lons: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return metres to the east and to the north."""
        ones = np.ones_like(lats)
        azimuth, _, metres = wgs84().inv(self.centre.lon * ones, self.centre.lat * ones, lons, lats)
        course = np.radians(azimuth)
        return metres * np.sin(course), metres * np.cos(course)

    def unproject(self, east: FloatArray, north: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return latitudes, and longitudes that don't jump at the antimeridian."""
        ones = np.ones_like(east)
        course, metres = np.degrees(np.arctan2(east, north)), np.hypot(east, north)
        lons, lats, _ = wgs84().fwd(self.centre.lon * ones, self.centre.lat * ones, course, metres)
        turn = normalize_lon(np.asarray(lons) - self.centre.lon)
        return np.asarray(lats), self.centre.lon + turn

    def point(self, east: float, north: float) -> LatLon:
        lats, lons = self.unproject(np.array([east]), np.array([north]))
        return LatLon(float(lats[0]), float(normalize_lon(lons[0])))


@dataclass(frozen=True, slots=True)
class _Profile:
    """For each place, the profile chi-squared: its minimum over heading and field of view (in radians).

    `root_bound` is a lower bound of the square root of chi-squared within the given radius of each place.
    """

    chi2: FloatArray
    heading: FloatArray
    fov: FloatArray
    root_bound: FloatArray


class _Problem:
    """Sightings in the plane, and the least-squares model for them; angles in radians.

    Noise is given in degrees for the field of view `fov`, but is constant as a share of the picture's width. For
    another field of view chi-squared is therefore scaled, see `_scale`.
    """

    def __init__(self, sightings: Sequence[ColumnSighting], fov: FieldOfView | None) -> None:
        if not sightings:
            raise Unsolvable("no feature is marked")
        if len(sightings) > MAX_SIGHTINGS:
            raise Unsolvable(f"{len(sightings)} features are too many; give at most {MAX_SIGHTINGS}")
        self.lats = np.array([sighting.point.lat for sighting in sightings])
        self.lons = np.array([sighting.point.lon for sighting in sightings])
        first = sightings[0].point
        rough = _Plane(first)
        east, north = rough.project(self.lats, self.lons)
        self.plane = _Plane(rough.point(float(east.mean()), float(north.mean())))
        self.east, self.north = self.plane.project(self.lats, self.lons)
        reach_m = float(np.hypot(self.east, self.north).max())
        if reach_m > 1000 * REACH_KM:
            raise Unsolvable(
                f"the features lie up to {reach_m / 1000:.0f} km from their middle; it takes them within "
                f"{REACH_KM:g} km. Check which places the names mean"
            )
        self.image_x = (
            2 * np.array([sighting.column for sighting in sightings]) - 1
        )  # from -1 (left edge) to 1 (right edge)
        self.weights = np.radians([sighting.noise_deg for sighting in sightings]) ** -2
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
        """Return each sighting's angle from the picture's middle: one row for each field of view."""
        return np.asarray(np.arctan(self.image_x * np.tan(np.asarray(fov)[..., None] / 2)))

    def profile(self, east: FloatArray, north: FloatArray, radius_m: float = 0.0) -> _Profile:
        """Return the profile chi-squared at each place, with a lower bound for all places within a radius of it.

        Within the radius, the bearing of a feature changes by at most the angle that the radius subtends from there.
        By the triangle inequality, that limits how far the root of chi-squared can fall.
        """
        right, ahead = self.east - east[:, None], self.north - north[:, None]
        azimuth = np.arctan2(right, ahead)
        turned = np.arcsin(np.minimum(radius_m / np.hypot(right, ahead), 1.0)) if radius_m else np.zeros_like(azimuth)
        root_fall = np.sqrt((turned**2) @ self.weights)
        if not self.free_fov:
            chi2, heading, _ = self._fit_heading(azimuth - self.offsets(np.array(self.fov)))
            return _Profile(chi2, heading, np.full(len(east), self.fov), np.maximum(np.sqrt(chi2) - root_fall, 0.0))

        def fit(fov: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            """Return chi-squared, heading and bound for given fields of view."""
            chi2, heading, _ = self._fit_heading(azimuth - self.offsets(fov))
            scale, prior = self._scale(fov), self._fov_chi2(fov)
            root_bound = np.sqrt((np.maximum(np.sqrt(chi2) - root_fall, 0.0) * scale) ** 2 + prior)
            return chi2 * scale**2 + prior, heading, root_bound

        count = len(east)
        best, fov, heading = np.full(count, np.inf), np.full(count, self.fov), np.zeros(count)
        root_bound = np.full(count, np.inf)
        for trial in np.linspace(*self.fov_range, _FOV_GRID):
            chi2, trial_heading, trial_bound = fit(np.array(trial))
            root_bound = np.minimum(root_bound, trial_bound)
            better = chi2 < best
            best[better], fov[better], heading[better] = chi2[better], trial, trial_heading[better]
        refined = fov
        for _ in range(_FOV_STEPS):
            refined = np.clip(refined + self._fov_step(azimuth, refined), *self.fov_range)
            chi2, trial_heading, trial_bound = fit(refined)
            root_bound = np.minimum(root_bound, trial_bound)
            better = chi2 < best
            best, heading, fov = (
                np.where(better, new, old) for new, old in ((chi2, best), (trial_heading, heading), (refined, fov))
            )
        return _Profile(best, heading, fov, root_bound)

    def _fov_step(self, azimuth: FloatArray, fov: FloatArray) -> FloatArray:
        """Return a Gauss-Newton step in the field of view alone, with the heading always at its best."""
        _, _, residuals = self._fit_heading(azimuth - self.offsets(fov))
        slopes = self._offset_slopes(fov)
        slopes = slopes - (slopes @ self.weights)[:, None] / self.weights.sum() + residuals / fov[:, None]
        square = self._scale(fov) ** 2
        gradient = (slopes * residuals) @ self.weights * square + self.fov_weight * (self.fov - fov)
        return np.asarray(gradient / ((slopes**2) @ self.weights * square + self.fov_weight + 1e-9))

    def _scale(self, fov: FloatArray) -> FloatArray:
        """Return by how much residuals count more in a narrower picture, where the same noise is fewer degrees."""
        return np.asarray(self.fov / fov)

    def _fov_chi2(self, fov: FloatArray) -> FloatArray:
        """Return what the given field of view adds to chi-squared as an observation."""
        return np.asarray(self.fov_weight * (fov - self.fov) ** 2)

    def _offset_slopes(self, fov: FloatArray) -> FloatArray:
        """Return the derivative of each offset by the field of view."""
        half = np.tan(fov / 2)[..., None]
        return np.asarray(self.image_x * (1 + half**2) / 2 / (1 + (self.image_x * half) ** 2))

    def _fit_heading(self, headings: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return chi-squared at the best heading, that heading, and the residual of each sighting.

        Args:
            headings: the heading that each sighting alone implies, one row for each place.
        """
        middle = np.arctan2(np.sin(headings) @ self.weights, np.cos(headings) @ self.weights)
        residuals = _wrap_angles(headings - middle[:, None])
        mean = residuals @ self.weights / self.weights.sum()
        residuals = residuals - mean[:, None]
        return (residuals**2) @ self.weights, middle + mean, residuals

    def is_near_feature(self, east: FloatArray, north: FloatArray, metres: float) -> BoolArray:
        """Return whether each place has a feature within that distance."""
        away = np.hypot(self.east - east[:, None], self.north - north[:, None])
        return np.asarray((away < metres).any(axis=1))

    def refine(self, east: float, north: float) -> tuple[float, float, float]:
        """Improve a place by damped Gauss-Newton steps; return east, north and chi-squared."""
        at = np.array([east, north])
        least = float(self.profile(at[:1], at[1:]).chi2[0])
        for _ in range(30):
            step = self._step(at)
            if step is None:
                break
            for damping in (1.0, 0.5, 0.25, 0.1, 0.02):
                trial = at + damping * step
                chi2 = float(self.profile(trial[:1], trial[1:]).chi2[0])
                if chi2 < least and not self.is_near_feature(trial[:1], trial[1:], MIN_DISTANCE_M)[0]:
                    at, least = trial, chi2
                    break
            else:
                break
            if float(np.hypot(*step)) < 1e-4:
                break
        return float(at[0]), float(at[1]), least

    def _step(self, at: FloatArray) -> FloatArray | None:
        """Return a Gauss-Newton step of the place in metres; None if there is none to take."""
        here = self.profile(at[:1], at[1:])
        fov = float(here.fov[0])
        azimuth = np.arctan2(self.east - at[0], self.north - at[1])
        residuals = _wrap_angles(azimuth - self.offsets(np.array(fov)) - here.heading[0])
        matrix = self.jacobian((float(at[0]), float(at[1])), fov, residuals)
        residuals = residuals * np.sqrt(self.weights) * (self.fov / fov)
        if self.free_fov:
            residuals = np.append(residuals, math.sqrt(self.fov_weight) * (self.fov - fov))
        step, _, rank, _ = np.linalg.lstsq(matrix, -residuals, rcond=1e-12)
        length_m = float(np.hypot(*step[:2]))
        if not rank or not math.isfinite(length_m) or length_m == 0:
            return None
        # Bearings are far from linear near a feature, so stay well short of the nearest one.
        longest_m = 0.3 * float(np.hypot(self.east - at[0], self.north - at[1]).min())
        return np.asarray(step[:2] * min(1.0, longest_m / length_m))

    def jacobian(self, at: tuple[float, float], fov: float, residuals: FloatArray | float = 0.0) -> FloatArray:
        """Return the derivatives of the weighted residuals by east, north, heading and field of view.

        A residual is a feature's bearing less the bearing of its column.
        """
        right, ahead = self.east - at[0], self.north - at[1]
        square = right**2 + ahead**2
        columns = [-ahead / square, right / square, -np.ones_like(right)]
        if self.free_fov:
            columns.append(-self._offset_slopes(np.array(fov)) - residuals / fov)
        matrix = np.stack(columns, axis=1) * (np.sqrt(self.weights) * (self.fov / fov))[:, None]
        return np.vstack([matrix, [0, 0, 0, -math.sqrt(self.fov_weight)]]) if self.free_fov else matrix

    def compute_view(self, point: LatLon, fov: float) -> tuple[float, float, tuple[float, ...]]:
        """Return heading, field of view and residuals in degrees, from true bearings on the ellipsoid."""
        ones = np.ones_like(self.lats)
        azimuth, _, _ = wgs84().inv(point.lon * ones, point.lat * ones, self.lons, self.lats)
        _, heading, residuals = self._fit_heading((np.radians(azimuth) - self.offsets(np.array(fov)))[None, :])
        return float(np.degrees(heading[0])) % 360, math.degrees(fov), tuple(np.degrees(residuals[0]).tolist())


def _wrap_angles(angles: FloatArray) -> FloatArray:
    """Return angles between -pi and pi."""
    return np.asarray((angles + math.pi) % (2 * math.pi) - math.pi)


@dataclass(frozen=True, slots=True)
class _SearchResult:
    """The squares that fit: their middles, chi-squared and size, and the least chi-squared found anywhere.

    `left_out` is the index of the sighting that this search left out, -1 for none.
    """

    problem: _Problem
    east: FloatArray
    north: FloatArray
    chi2: FloatArray
    size_m: float
    least: float
    at_edge: bool
    left_out: int = -1


def _search_without(
    sightings: Sequence[ColumnSighting], fov: FieldOfView | None, within: Extent | None, index: int, redundancy: int
) -> _SearchResult | None:
    """Search without one sighting; return None if the others don't fit together either."""
    problem = _Problem([one for at, one in enumerate(sightings) if at != index], fov)
    if chi2_tail(_quick_least(problem, within), redundancy) < _SIGNIFICANCE:
        return None
    return replace(_search(problem, within), left_out=index)


def _area_slack(problem: _Problem) -> float:
    """Return by how much chi-squared may exceed its minimum inside the area (likelihood ratio, 90 %)."""
    freedom = len(problem.image_x) - (1 if problem.fov_observed else 2)
    return _CHI2_90_ONE if freedom < 2 else _CHI2_90_TWO


def _search(problem: _Problem, within: Extent | None) -> _SearchResult:
    """Split squares until enough of them fit, dropping those in which no place can."""
    (east0, north0), half_m = _window(problem, within)
    size_m = 2 * half_m / _FIRST_SQUARES
    steps = (np.arange(_FIRST_SQUARES) + 0.5) * size_m - half_m
    east, north = (part.ravel() for part in np.meshgrid(east0 + steps, north0 + steps))
    slack, least = _area_slack(problem), _quick_least(problem, within)
    while True:
        at = problem.profile(east, north, size_m * math.sqrt(0.5))
        chi2 = at.chi2
        allowed = _is_allowed(problem, within, east, north)
        if allowed.any():
            least = min(least, float(chi2[allowed].min()))
        # The bound does not hold in a square with a feature in it, so these are always split further.
        kept = problem.is_near_feature(east, north, size_m) | (at.root_bound <= math.sqrt(least + slack))
        east, north, chi2, allowed = east[kept], north[kept], chi2[kept], allowed[kept]
        fitting = allowed & (chi2 <= least + slack)
        if fitting.sum() >= _ENOUGH_SQUARES or 4 * len(east) > _MAX_SQUARES or size_m <= _FINEST_M or not len(east):
            break
        size_m /= 2
        quarter = size_m / 2
        east = np.concatenate([east + right * quarter for right in (-1, 1, -1, 1)])
        north = np.concatenate([north + up * quarter for up in (-1, -1, 1, 1)])
    if not allowed.any():
        raise Unsolvable("no place on the ground that was searched fits; widen the area, or check the features")
    best = int(np.argmin(np.where(allowed, chi2, np.inf)))
    refined_east, refined_north, refined_chi2 = problem.refine(float(east[best]), float(north[best]))
    if _is_allowed(problem, within, np.array([refined_east]), np.array([refined_north]))[0]:
        least = min(least, refined_chi2)
    fitting = allowed & (chi2 <= least + slack)
    if fitting.sum() < _FEW_SQUARES:
        fitting = allowed
    edge = np.maximum(np.abs(east - east0), np.abs(north - north0)) >= half_m - 1.5 * size_m
    at_edge = bool((edge & fitting).any())
    return _SearchResult(problem, east[fitting], north[fitting], chi2[fitting], size_m, least, at_edge)


def _quick_least(problem: _Problem, within: Extent | None) -> float:
    """Return a low chi-squared from rings around features and a grid; it lets the search drop most squares early."""
    radii, courses = np.meshgrid(np.geomspace(2 * MIN_DISTANCE_M, 1000 * REACH_KM, 30), np.arange(36) * (math.pi / 18))
    middles_east, middles_north = np.append(problem.east, 0.0), np.append(problem.north, 0.0)
    east = (middles_east[:, None] + (radii * np.sin(courses)).ravel()).ravel()
    north = (middles_north[:, None] + (radii * np.cos(courses)).ravel()).ravel()
    if within is not None:
        (east0, north0), half_m = _window(problem, within)
        steps = np.linspace(-half_m, half_m, 24)
        grid_east, grid_north = np.meshgrid(east0 + steps, north0 + steps)
        east, north = np.append(east, grid_east.ravel()), np.append(north, grid_north.ravel())
    allowed = _is_allowed(problem, within, east, north)
    if not allowed.any():
        return math.inf
    east, north = east[allowed], north[allowed]
    chi2 = problem.profile(east, north).chi2
    least = float(chi2.min())
    for at in np.argsort(chi2)[:_REFINED_STARTS]:
        *place, refined_chi2 = problem.refine(float(east[at]), float(north[at]))
        if _is_allowed(problem, within, np.array(place[:1]), np.array(place[1:]))[0]:
            least = min(least, refined_chi2)
    return least


def _is_allowed(problem: _Problem, within: Extent | None, east: FloatArray, north: FloatArray) -> BoolArray:
    """Return whether the camera may have stood at each place: inside the extent, and not too near to a feature."""
    allowed = ~problem.is_near_feature(east, north, MIN_DISTANCE_M)
    if within is not None:
        lats, lons = problem.plane.unproject(east, north)
        allowed &= within.holds(lats, np.asarray(normalize_lon(lons)))
    return allowed


def _window(problem: _Problem, within: Extent | None) -> tuple[tuple[float, float], float]:
    """Return the middle of the square to search, and half its width in metres."""
    farthest_m = 1000 * REACH_KM
    if within is None:
        return (0.0, 0.0), farthest_m
    if isinstance(within, Disc):
        corners = [(within.centre.lat, within.centre.lon)]
        margin_m = (
            1010 * within.radius_km
        )  # 1 % more than the radius, as the sphere's distances differ from the plane's
    else:
        box: Box = within
        lons = [box.west + part * box.width_deg for part in (0, 0.5, 1)]
        corners = [(lat, float(normalize_lon(lon))) for lat in (box.south, box.north) for lon in lons]
        margin_m = 1.0
    east, north = problem.plane.project(np.array([lat for lat, _ in corners]), np.array([lon for _, lon in corners]))
    low_east, high_east = max(-farthest_m, east.min() - margin_m), min(farthest_m, east.max() + margin_m)
    low_north, high_north = max(-farthest_m, north.min() - margin_m), min(farthest_m, north.max() + margin_m)
    if low_east >= high_east or low_north >= high_north:
        raise Unsolvable(f"the area lies more than {REACH_KM:g} km from the features")
    middle = (low_east + high_east) / 2, (low_north + high_north) / 2
    return (float(middle[0]), float(middle[1])), max(high_east - low_east, high_north - low_north) / 2


def _result(
    problem: _Problem, searches: Sequence[_SearchResult], within: Extent | None, *, misfits: tuple[int, ...], fits: bool
) -> Resection:
    """Combine the areas of one search, or of several that each leave out one sighting."""
    import shapely

    pieces: list[tuple[float, Geometry, Pose]] = []
    curve = len(searches[0].problem.image_x) < (3 if problem.fov_observed else 4)
    danger = False
    least = min(float(item.chi2.min()) for item in searches)
    likelihoods = [np.exp((least - item.chi2) / 2) * item.size_m**2 for item in searches]
    total = sum(float(item.sum()) for item in likelihoods)
    for search, likelihood in zip(searches, likelihoods, strict=True):
        for shape in _merge_squares(search):
            inside = shapely.contains_xy(shape, search.east, search.north)
            share = float(likelihood[inside].sum()) / total
            pose, near_circle = _pose(problem, search, inside, within, share, curve=curve)
            danger |= near_circle and share >= 0.1
            pieces.append((share, _to_lonlat(search.problem.plane, shape, search.size_m / 2), pose))
    pieces.sort(key=lambda piece: -piece[0])
    area = build_outline([shape for _, shape, _ in pieces])
    first = pieces[0][2].point
    corners = shapely.get_coordinates(area.shape)
    _, _, metres = wgs84().inv(
        np.full(len(corners), first.lon), np.full(len(corners), first.lat), corners[:, 0], corners[:, 1]
    )
    return Resection(
        kind="curve" if curve else "fix",
        poses=tuple(pose for _, _, pose in pieces),
        area=area,
        area_km2=sum(len(item.east) * item.size_m**2 for item in searches) / 1e6,
        radius_km=float(np.max(metres)) / 1000,
        misfits=misfits,
        fits=fits,
        danger_circle=danger and not curve,
        at_edge=any(item.at_edge for item in searches),
    )


def _merge_squares(search: _SearchResult) -> Sequence[Any]:
    import shapely

    size = search.size_m
    columns, rows = (np.rint((part - part[0]) / size).astype(np.int64) for part in (search.east, search.north))
    order = np.lexsort((columns, rows))
    columns, rows = columns[order], rows[order]
    # Each run of squares in a row becomes one box: up to a hundred times fewer shapes to unite.
    starts = np.flatnonzero(np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 1)))
    ends = np.append(starts[1:], len(rows)) - 1
    half = 0.5 + 0.05  # squares that only touch at a corner must overlap to be merged
    edges = columns[starts] - half, rows[starts] - half, columns[ends] + half, rows[starts] + half
    east, north = search.east[0], search.north[0]
    boxes = shapely.box(*(edge * size + at for edge, at in zip(edges, (east, north, east, north), strict=True)))
    pieces: Sequence[Any] = shapely.get_parts(shapely.union_all(boxes))
    return pieces


def _to_lonlat(plane: _Plane, shape: Any, tolerance_m: float) -> "Geometry":
    """Simplify a polygon of the plane, to smooth the steps of its squares, and convert it to longitude and latitude."""
    import shapely

    def lonlat(corners: FloatArray) -> FloatArray:
        lats, lons = plane.unproject(corners[:, 0], corners[:, 1])
        return np.stack([lons, lats], axis=1)

    return shapely.transform(shapely.simplify(shape, tolerance_m), lonlat)


def _pose(
    problem: _Problem, search: _SearchResult, inside: BoolArray, within: Extent | None, share: float, *, curve: bool
) -> tuple[Pose, bool]:
    """Return the best pose in a piece of the area, and whether it lies near the danger circle.

    Args:
        problem: all sightings, for the residuals.
        search: the search that found the piece, perhaps without one of the sightings.
        inside: which squares of the search make up the piece.
        within: the camera stood inside this extent.
        share: the probability of the piece.
        curve: whether the sightings leave a curve; its middle is then the pose.
    """
    own = search.problem
    east, north, chi2 = search.east[inside], search.north[inside], search.chi2[inside]
    if curve:
        # The likeliest place among the tenth of the squares that lie nearest to the median.
        away = np.hypot(east - np.median(east), north - np.median(north))
        best = int(np.argmin(np.where(away <= np.quantile(away, 0.1), chi2, np.inf)))
        at = float(east[best]), float(north[best])
    else:
        best = int(np.argmin(chi2))
        at = float(east[best]), float(north[best])
        refined_east, refined_north, _ = own.refine(*at)
        moved_m = math.hypot(refined_east - at[0], refined_north - at[1])
        allowed = _is_allowed(own, within, np.array([refined_east]), np.array([refined_north]))[0]
        if allowed and moved_m <= 20 * search.size_m:
            at = refined_east, refined_north
    here = own.profile(np.array(at[:1]), np.array(at[1:]))
    point, fov = own.plane.point(*at), float(here.fov[0])
    heading_deg, fov_deg, _ = own.compute_view(point, fov)
    heading = math.radians(heading_deg)
    ones = np.ones_like(problem.lats)
    azimuth, _, _ = wgs84().inv(point.lon * ones, point.lat * ones, problem.lons, problem.lats)
    residuals = _wrap_angles(np.radians(azimuth) - problem.offsets(np.array(fov)) - heading)
    ellipse, heading_sd, fov_sd = (None, None, None) if curve else _error_estimates(own, at, fov)
    return (
        Pose(
            point=point,
            heading_deg=heading_deg,
            heading_sd_deg=heading_sd,
            fov_deg=fov_deg,
            fov_sd_deg=fov_sd if own.free_fov else 0.0,
            residuals_deg=tuple(np.degrees(residuals).tolist()),
            ellipse=ellipse,
            share=share,
        ),
        _is_near_circle(own, *at),
    )


def _error_estimates(
    problem: _Problem, at: tuple[float, float], fov: float
) -> tuple[tuple[float, float, float] | None, float | None, float | None]:
    """Return the 90 % ellipse of a place, and the standard deviations of heading and field of view in degrees."""
    matrix = problem.jacobian(at, fov)
    scale = np.array([1e3, 1e3, 1.0, 1.0][: matrix.shape[1]])  # kilometres and radians, for a well-conditioned matrix
    normal = (matrix * scale).T @ (matrix * scale)
    if np.linalg.cond(normal) > 1e12:
        return None, None, None
    covariance = np.linalg.inv(normal) * np.outer(scale, scale)
    values, vectors = np.linalg.eigh(covariance[:2, :2])
    minor, major = np.sqrt(_CHI2_90_TWO * np.maximum(values, 0.0)).tolist()
    along = math.degrees(math.atan2(vectors[0, 1], vectors[1, 1])) % 180
    sds = np.degrees(np.sqrt(np.diag(covariance)[2:])).tolist()
    return (major, minor, along), sds[0], sds[1] if len(sds) > 1 else None


def _is_near_circle(problem: _Problem, east: float, north: float) -> bool:
    """Return whether the features and a place all lie within a tenth of the radius of their best-fitting circle."""
    x, y = np.append(problem.east, east), np.append(problem.north, north)
    size = float(np.hypot(problem.east, problem.north).max()) or 1.0
    x, y = x / size, y / size
    matrix = np.stack([2 * x, 2 * y, np.ones_like(x)], axis=1)
    (middle_x, middle_y, constant), _, _, _ = np.linalg.lstsq(matrix, x**2 + y**2, rcond=None)
    square = constant + middle_x**2 + middle_y**2
    if square <= 0:
        return False
    radius = math.sqrt(square)
    off = np.abs(np.hypot(x - middle_x, y - middle_y) - radius)
    return bool(off.max() <= _CIRCLE_TOLERANCE * radius) and radius < 20
