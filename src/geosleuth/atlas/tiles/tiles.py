"""Vector tiles of the offline atlas for maps in a browser, and the style that draws them."""

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from geosleuth import __version__
from geosleuth.answer import Granularity
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.borders.grid import BORDERS, OUTLINES
from geosleuth.atlas.folders import KeptFiles, cache_dir
from geosleuth.atlas.maps.layers import may_reach
from geosleuth.atlas.offline import regions_dir
from geosleuth.atlas.regions import RegionInfo, RegionStore
from geosleuth.atlas.regions.region_file import region_path
from geosleuth.support.errors import BadInput

from .local import FROM_ZOOM, Layers, local_layers
from .mvt import Feature, TileFrame, Value, encode_tile
from .settlements import SHARED_CELLS_FROM_ZOOM, Settlements, countries, find_cell
from .style import make_style
from .world_tiles import Detail, TileCache, borders, get_detail, land

# Tile format version; increment it whenever the content of tiles changes, so that older cached tiles are not used.
FORMAT = 1

# Map layers, from bottom to top.
LAYERS = ("land", "landuse", "green", "water", "buildings", "rails", "roads", "borders", "places", "names", "pois")

MEMORY_BYTES = 64_000_000
_MIN_MAKE_S = 0.03  # tiles that take longer to make are kept on disk: dense ones, mostly of middle zooms

Theme = Literal["light", "dark"]


class TileMaker:
    """Makes tiles on demand from the base atlas and the added regions; safe to share between threads.

    No file is opened before the first tile, which may have to build the base atlas. Regions that are added, replaced or
    removed take effect from the next tile on.

    Args:
        regions: the folder of added regions; by default the user's.
        cache: the folder to cache tiles in; by default a folder in the user's cache.
        memory_bytes: the size of the cache in memory.
    """

    def __init__(
        self,
        regions: Path | None = None,
        *,
        cache: Path | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._regions_dir = regions or regions_dir()
        self._cache = cache or cache_dir() / "tiles"
        self._tile_cache = TileCache(memory_bytes)
        self._lock = threading.Lock()
        self._cached_regions: tuple[str, Sequence[RegionInfo]] | None = None
        self._cached_region_folder: tuple[str, KeptFiles] | None = None

    def tile(self, z: int, x: int, y: int, finest: Granularity = "exact") -> bytes:
        """Return a Mapbox vector tile, uncompressed; no bytes if there is nothing to show.

        Args:
            z: zoom, 0 to 16; closer views enlarge tiles of zoom 16.
            x: column, from the west.
            y: row, from the north.
            finest: the finest granularity to show; only tiles for ``street`` and ``exact`` have streets.

        Raises:
            BadInput: there is no such tile, or its zoom is too close for this granularity.
        """
        detail = get_detail(finest)
        frame = TileFrame(z, x, y)
        if z > detail.max_zoom:
            raise BadInput(f"a map limited to {finest} has tiles up to zoom {detail.max_zoom}, not {z}")
        if z < FROM_ZOOM:
            return self._tile_cache.get(
                (z, x, y, detail),
                lambda: self._tile_folder.get(f"{finest}-{z}-{x}-{y}.mvt", lambda: self._make_tile(frame, detail, ())),
            )
        stamp, regions = self._list_regions()
        near = [info for info in regions if _reaches(info, frame)] if detail.ground else []
        # The key has the state of the regions only if one reaches the tile: changes elsewhere don't affect it.
        key = (z, x, y, detail, stamp if near else "")
        if not near:
            return self._tile_cache.get(key, lambda: self._make_tile(frame, detail, ()))
        folder = self._region_folder(stamp)
        name = f"{finest}-{z}-{x}-{y}.mvt"
        return self._tile_cache.get(
            key, lambda: folder.get(name, lambda: self._make_tile(frame, detail, near), if_longer_s=_MIN_MAKE_S)
        )

    def style(
        self, theme: Theme = "light", finest: Granularity = "exact", url_prefix: str = "/tiles"
    ) -> dict[str, Any]:
        """Return the MapLibre style of these tiles as JSON values.

        Args:
            theme: ``light`` or ``dark``.
            finest: as for `tile`; the style has no layers that such tiles lack.
            url_prefix: precedes ``/{z}/{x}/{y}.mvt``. Pages need an absolute URL, as MapLibre fetches tiles in workers,
                which can't resolve relative ones.

        Raises:
            BadInput: there is no such theme or granularity.
        """
        detail = get_detail(finest)
        urls = (f"{url_prefix}/{{z}}/{{x}}/{{y}}.mvt?v={self.version}", f"{url_prefix}/relief/{{z}}/{{x}}/{{y}}.png")
        return make_style(theme, detail, *urls, self.attribution(finest))

    def attribution(self, finest: Granularity = "exact") -> str:
        """Return whom to credit for the map, as plain text."""
        names = [info.attribution for info in self._list_regions()[1]] if get_detail(finest).ground else []
        return " · ".join(
            dict.fromkeys([*(name for name in names if name), "Natural Earth", "country-coder", "GeoNames", "Mapzen"])
        )

    @property
    def version(self) -> str:
        """A digest of everything that tiles are made from: the package's data and the added regions."""
        stamp = self._list_regions()[0]
        return hashlib.sha256(f"{self._world_version} {stamp}".encode()).hexdigest()[:16]

    @cached_property
    def _world_version(self) -> str:
        digest = hashlib.sha256(f"tiles {FORMAT} of {__version__}".encode())
        for path in (BORDERS, OUTLINES, ensure_base()):
            # Sizes suffice: one version of the package always builds the same base atlas.
            digest.update(f" {path.name} {path.stat().st_size}".encode())
        return digest.hexdigest()[:16]

    @cached_property
    def _tile_folder(self) -> KeptFiles:
        return KeptFiles(self._cache, f"world-{self._world_version}")

    def _region_folder(self, stamp: str) -> KeptFiles:
        with self._lock:
            if self._cached_region_folder is None or self._cached_region_folder[0] != stamp:
                self._cached_region_folder = (stamp, KeptFiles(self._cache, f"regions-{self._world_version}-{stamp}"))
            return self._cached_region_folder[1]

    @cached_property
    def _settlements(self) -> Settlements:
        with self._lock:
            loaded: Settlements | None = self.__dict__.get("_settlements")
            return loaded or Settlements.read(ensure_base(), self._tile_folder)

    def _list_regions(self) -> tuple[str, Sequence[RegionInfo]]:
        """Return the added regions, preceded by a stamp that changes whenever one of them does."""
        store = RegionStore(self._regions_dir)
        stamps = []
        for name in store.names():
            try:
                status = region_path(store.folder, name).stat()
            except OSError:
                continue
            stamps.append(f"{name} {status.st_ino} {status.st_mtime_ns} {status.st_size}")
        stamp = hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16] if stamps else ""
        with self._lock:
            if self._cached_regions is None or self._cached_regions[0] != stamp:
                self._cached_regions = (stamp, store.list())
            return self._cached_regions

    def _make_tile(self, frame: TileFrame, detail: Detail, regions: Sequence[RegionInfo]) -> bytes:
        local = local_layers(frame, [info.path for info in regions], detail)
        layers: Layers = {name: local.get(name, []) for name in LAYERS}
        layers["land"] = [Feature(land(frame, self._tile_folder), {"class": "land"}), *layers["land"]]
        layers["borders"] = borders(frame, of_regions=detail.region_borders)
        layers["places"] = [
            *countries(frame, self._tile_folder),
            *self._place_settlements(frame, detail, layers["places"]),
        ]
        return encode_tile(layers)

    def _place_settlements(self, frame: TileFrame, detail: Detail, local: Sequence[Feature]) -> list[Feature]:
        """Return settlements of the base atlas, and others of added regions where there is room for them."""
        chosen = self._settlements.within(frame, detail.min_population)
        if not local:
            return chosen
        names: set[Value] = {*self._settlements.names_around(frame)}
        taken = {find_cell(feature) for feature in chosen}
        for feature in sorted(local, key=lambda feature: feature.properties["order"]):
            cell = find_cell(feature)
            if feature.properties["name"] in names or (frame.z < SHARED_CELLS_FROM_ZOOM and cell in taken):
                continue
            names.add(feature.properties["name"])
            taken.add(cell)
            chosen.append(feature)
        return chosen


def _reaches(info: RegionInfo, frame: TileFrame) -> bool:
    """Return whether a region may have shapes in a tile."""
    bounds = info.extent.south, info.extent.west, info.extent.north, info.extent.east
    return any(may_reach(bounds, strip) for strip in frame.view.strips())
