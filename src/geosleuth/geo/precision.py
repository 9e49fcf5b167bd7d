"""As many decimals of a coordinate as its radius deserves."""

from .point import LatLon

FINEST_DECIMALS = 5
"""About a metre: for what is known to less than 100 m, and where no radius is given."""

_DECIMALS = ((100.0, 1), (10.0, 2), (1.0, 3), (0.1, 4))


def decimals_for(radius_km: float | None) -> int:
    """Return how many decimals a coordinate deserves; rounding to them moves a point by less than 8 % of the radius."""
    if radius_km is None:
        return FINEST_DECIMALS
    return next((decimals for least_km, decimals in _DECIMALS if radius_km >= least_km), FINEST_DECIMALS)


def rounded(point: LatLon, radius_km: float | None) -> LatLon:
    """Return the point with no more decimals than its radius deserves."""
    decimals = decimals_for(radius_km)
    return LatLon(round(point.lat, decimals), round(point.lon, decimals))


def coordinates(point: LatLon, radius_km: float | None = None) -> str:
    """Return a point as people write it, latitude first, with the decimals that its radius deserves."""
    decimals = decimals_for(radius_km)
    return f"{point.lat:.{decimals}f}, {point.lon:.{decimals}f}"
