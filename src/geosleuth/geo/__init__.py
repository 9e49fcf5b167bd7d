"""Points, distances, extents, cells: the ground that everything else stands on.

Degrees on WGS-84, latitude first; distances in kilometres.
"""

from .cells import CellGrid
from .centre import density_mode, medoid, weighted_centre
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
from .thresholds import THRESHOLD_SETS, THRESHOLDS, THRESHOLDS_KM, Threshold, ThresholdSet, threshold_text

__all__ = [
    "EARTH_RADIUS_KM",
    "GEOSCORE_DECAY",
    "GEOSCORE_MAX",
    "GEOSCORE_SCALE_KM",
    "THRESHOLDS",
    "THRESHOLDS_KM",
    "THRESHOLD_SETS",
    "Box",
    "CellGrid",
    "Disc",
    "DistanceMethod",
    "Extent",
    "FloatArray",
    "LatLon",
    "Threshold",
    "ThresholdSet",
    "bearing_deg",
    "bearings_deg",
    "density_mode",
    "destination",
    "destinations",
    "distance_km",
    "distances_km",
    "extent_distance_km",
    "geodesic_km",
    "geoscore",
    "great_circle_km",
    "is_valid",
    "medoid",
    "normalize_lon",
    "threshold_text",
    "weighted_centre",
]
