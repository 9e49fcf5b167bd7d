"""Pictures of places: maps drawn offline from region files, and satellite images assembled from tiles."""

from .draw import MapSources, draw_map
from .satellite import open_tiles, satellite

__all__ = [
    "MapSources",
    "draw_map",
    "open_tiles",
    "satellite",
]
