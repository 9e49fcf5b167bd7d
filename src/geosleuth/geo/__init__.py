"""Points, distances, extents, cells: the ground that everything else stands on.

Degrees on WGS-84, latitude first; distances in kilometres.
"""

from .cells import CellGrid
from .centre import density_mode, medoid, weighted_centre
from .circles import FARTHEST_KM, ROAD_FACTOR, Along, Range, RangeFix, RangeFixes, pair_conflict, range_fixes
from .direction import bearing_deg, bearings_deg, destination, destinations
from .distance import (
    EARTH_RADIUS_KM,
    DistanceMethod,
    distance_km,
    distances_km,
    geodesic_km,
    great_circle_km,
)
from .extent import Box, Disc, Extent, extent_distance_km
from .geoscore import GEOSCORE_DECAY, GEOSCORE_MAX, GEOSCORE_SCALE_KM, geoscore
from .point import FloatArray, LatLon, is_valid, normalize_lon
from .precision import coordinates, decimals_for, rounded
from .sun import RISE_ELEVATION_DEG, DayKind, SunDay, SunPositions, Times, subsolar_points, sun_day, sun_positions
from .sunlit import (
    SunSight,
    elevation_of_shadow,
    equal_altitude_circle,
    places_under_sun,
    shadow_of_elevation,
    sun_seen_mask,
    zenith_distance_deg,
)
from .thresholds import THRESHOLD_SETS, THRESHOLDS, THRESHOLDS_KM, Threshold, ThresholdSet, threshold_text

__all__ = [
    "EARTH_RADIUS_KM",
    "FARTHEST_KM",
    "GEOSCORE_DECAY",
    "GEOSCORE_MAX",
    "GEOSCORE_SCALE_KM",
    "RISE_ELEVATION_DEG",
    "ROAD_FACTOR",
    "THRESHOLDS",
    "THRESHOLDS_KM",
    "THRESHOLD_SETS",
    "Along",
    "Box",
    "CellGrid",
    "DayKind",
    "Disc",
    "DistanceMethod",
    "Extent",
    "FloatArray",
    "LatLon",
    "Range",
    "RangeFix",
    "RangeFixes",
    "SunDay",
    "SunPositions",
    "SunSight",
    "Threshold",
    "ThresholdSet",
    "Times",
    "bearing_deg",
    "bearings_deg",
    "coordinates",
    "decimals_for",
    "density_mode",
    "destination",
    "destinations",
    "distance_km",
    "distances_km",
    "elevation_of_shadow",
    "equal_altitude_circle",
    "extent_distance_km",
    "geodesic_km",
    "geoscore",
    "great_circle_km",
    "is_valid",
    "medoid",
    "normalize_lon",
    "pair_conflict",
    "places_under_sun",
    "range_fixes",
    "rounded",
    "shadow_of_elevation",
    "subsolar_points",
    "sun_day",
    "sun_positions",
    "sun_seen_mask",
    "threshold_text",
    "weighted_centre",
    "zenith_distance_deg",
]
