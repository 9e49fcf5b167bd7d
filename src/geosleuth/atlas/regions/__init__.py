"""Regions that users add (OpenStreetMap extracts, Overture places): import, storage and search.

Each region is one SQLite file (see `region_file`). `Regions` searches all of them together.
"""

from typing import TYPE_CHECKING

from geosleuth.support.lazy import export_names

if TYPE_CHECKING:
    from .copying import copy_region
    from .osm import import_osm
    from .overture import import_overture
    from .queries import Regions
    from .region_file import Progress, region_name
    from .region_store import DamagedRegion, OpenRegion, RegionInfo, RegionStore

# Searching a region does not load the importers.
__getattr__ = export_names(
    __name__,
    {
        "copying": ("copy_region",),
        "osm": ("import_osm",),
        "overture": ("import_overture",),
        "queries": ("Regions",),
        "region_file": ("Progress", "region_name"),
        "region_store": ("DamagedRegion", "OpenRegion", "RegionInfo", "RegionStore"),
    },
)

__all__ = [
    "DamagedRegion",
    "OpenRegion",
    "Progress",
    "RegionInfo",
    "RegionStore",
    "Regions",
    "copy_region",
    "import_osm",
    "import_overture",
    "region_name",
]
