"""Pictures of places: maps drawn offline from region files, and pictures from above out of the user's tiles."""

from .canvas import MAX_SIZE_PX, MAX_ZOOM
from .draw import MapSources, Outlines, PlaceLabels, draw_map
from .satellite import AsyncTile, Tiles, open_tiles, satellite, satellite_from

__all__ = [
    "MAX_SIZE_PX",
    "MAX_ZOOM",
    "AsyncTile",
    "MapSources",
    "Outlines",
    "PlaceLabels",
    "Tiles",
    "draw_map",
    "open_tiles",
    "satellite",
    "satellite_from",
]
