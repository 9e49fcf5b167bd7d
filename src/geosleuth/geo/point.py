"""Points on Earth, their validation, and the number of decimals to show for a given radius."""

from dataclasses import dataclass
from numbers import Real
from typing import TypeGuard, overload

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# About a metre: used for radii below 100 m, and for points without a radius.
MAX_DECIMALS = 5
_DECIMALS = ((100.0, 1), (10.0, 2), (1.0, 3), (0.1, 4))


@dataclass(frozen=True, slots=True)
class LatLon:
    """A point in degrees on WGS-84, latitude first.

    Values are stored unchanged (as floats), so a point survives a round trip through text exactly. Therefore the same
    place written in two ways, on the antimeridian (180 and -180) or at a pole, does not compare equal: use
    `distance_km`.

    Raises:
        ValueError: latitude outside [-90, 90], longitude outside [-180, 180], or either of them NaN or infinite.
        TypeError: a value is not a number.
    """

    lat: float
    lon: float

    def __post_init__(self) -> None:
        if type(self.lat) is type(self.lon) is float and -90 <= self.lat <= 90 and -180 <= self.lon <= 180:
            return  # the fast path: points are created by the million, and nearly all are valid floats
        object.__setattr__(self, "lat", _check_coordinate("latitude", self.lat, 90))
        object.__setattr__(self, "lon", _check_coordinate("longitude", self.lon, 180))


def is_valid(lat: object, lon: object) -> bool:
    """Return whether `LatLon(lat, lon)` would accept these two values; never raise."""
    return _fits(lat, 90) and _fits(lon, 180)


@overload
def normalize_lon(lon: float) -> float: ...
@overload
def normalize_lon(lon: FloatArray) -> FloatArray: ...
def normalize_lon(lon: float | FloatArray) -> float | FloatArray:
    """Return a longitude in [-180, 180] for any number of turns; values already in range stay bit for bit the same.

    NaN and infinite values give NaN.
    """
    with np.errstate(invalid="ignore"):
        rest = np.fmod(np.asarray(lon, dtype=np.float64), 360.0)  # exact, unlike adding and taking away 180
    turned = np.where(rest > 180, rest - 360, np.where(rest < -180, rest + 360, rest))
    return turned if turned.ndim else float(turned)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _fits(value: object, limit: int) -> bool:
    # NaN fails every comparison, so this rejects it too.
    return _is_number(value) and bool(-limit <= value <= limit)


def _check_coordinate(name: str, value: object, limit: int) -> float:
    if not _is_number(value):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not _fits(value, limit):
        raise ValueError(f"{name} must lie between -{limit} and {limit} degrees, not {value}")
    return float(value)


def choose_decimals(radius_km: float | None) -> int:
    """Return how many decimals to show for a radius; rounding to them moves a point by less than 8 % of the radius."""
    if radius_km is None:
        return MAX_DECIMALS
    return next((decimals for least_km, decimals in _DECIMALS if radius_km >= least_km), MAX_DECIMALS)


def round_point(point: LatLon, radius_km: float | None) -> LatLon:
    """Return the point rounded to the decimals that suit its radius."""
    decimals = choose_decimals(radius_km)
    return LatLon(round(point.lat, decimals), round(point.lon, decimals))


def coordinates(point: LatLon, radius_km: float | None = None) -> str:
    """Format a point for people, latitude first, with the decimals that suit its radius."""
    decimals = choose_decimals(radius_km)
    return f"{point.lat:.{decimals}f}, {point.lon:.{decimals}f}"
