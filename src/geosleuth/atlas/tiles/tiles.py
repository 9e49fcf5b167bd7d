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
from geosleuth.atlas.base.build import Progress
from geosleuth.atlas.borders.grid import BORDERS, OUTLINES
from geosleuth.atlas.folders import KeptFiles, cache_dir
from geosleuth.atlas.offline import regions_dir
from geosleuth.atlas.regions import RegionInfo, RegionStore
from geosleuth.atlas.regions.region_file import region_path
from geosleuth.errors import BadInput

from .local import FROM_ZOOM, Layers, local_layers
from .mvt import Feature, Frame, Value, encode_tile
from .settlements import ROOM_FROM, Settlements, cell_of, countries
from .style import make_style
from .world_tiles import Detail, Memory, borders, detail_of, land

FORMAT = 1
"""Counts up with every change of what tiles hold, so that none made before is handed out after it."""

LAYERS = ("land", "landuse", "green", "water", "buildings", "rails", "roads", "borders", "places", "names", "pois")
"""From the bottom of the map to its top."""

MEMORY_BYTES = 64_000_000
_WORTH_KEEPING_S = 0.03  # of reckoning: dense tiles of towns, mostly of middle zooms
_SLACK_DEG = 0.2  # whole ways reach beyond the frame of an extract

Theme = Literal["light", "dark"]


class Tiles:
    """Tiles made on demand from the base atlas and the added regions; safe to share between threads.

    Nothing is opened before the first tile, which may have to build the base atlas. Regions that are added, replaced or
    removed show from the next tile on.

    Args:
        regions: the folder of added regions; the user's own without it.
        cache: where tiles of low zooms are kept; a folder of the user's cache without it.
        memory_bytes: how much of what was made is held in memory.
        progress: hears of the one-time building of the base atlas.
    """

    def __init__(
        self,
        regions: Path | None = None,
        *,
        cache: Path | None = None,
        memory_bytes: int = MEMORY_BYTES,
        progress: Progress | None = None,
    ) -> None:
        self._regions_dir = regions or regions_dir()
        self._cache = cache or cache_dir() / "tiles"
        self._progress = progress
        self._memory = Memory(memory_bytes)
        self._lock = threading.Lock()
        self._known: tuple[str, Sequence[RegionInfo]] | None = None
        self._of_regions: tuple[str, KeptFiles] | None = None

    def tile(self, z: int, x: int, y: int, finest: Granularity = "exact") -> bytes:
        """One Mapbox vector tile, uncompressed; no bytes where there is nothing to show.

        Args:
            z: zoom, 0 to 16; maps stretch the tiles of the last one for closer views.
            x: column, from the west.
            y: row, from the north.
            finest: the granularity that the page is held to: streets are only in tiles for ``street`` and ``exact``.

        Raises:
            BadInput: there is no such tile, or none so close at this granularity.
        """
        detail = detail_of(finest)
        frame = Frame(z, x, y)
        if z > detail.max_zoom:
            raise BadInput(f"a map held to {finest} has tiles up to zoom {detail.max_zoom}, not {z}")
        if z < FROM_ZOOM:
            return self._memory.get(
                (z, x, y, detail),
                lambda: self._folder.get(f"{finest}-{z}-{x}-{y}.mvt", lambda: self._made(frame, detail, ())),
            )
        stamp, regions = self._regions()
        near = [info for info in regions if _meets(info, frame)] if detail.ground else []
        # Only what shows in the tile is in the key: a region elsewhere leaves it as it is.
        key = (z, x, y, detail, stamp if near else "")
        if not near:
            return self._memory.get(key, lambda: self._made(frame, detail, ()))
        folder = self._region_folder(stamp)
        name = f"{finest}-{z}-{x}-{y}.mvt"
        return self._memory.get(
            key, lambda: folder.get(name, lambda: self._made(frame, detail, near), if_longer_s=_WORTH_KEEPING_S)
        )

    def style(
        self, theme: Theme = "light", finest: Granularity = "exact", url_prefix: str = "/tiles"
    ) -> dict[str, Any]:
        """The MapLibre style that draws these tiles, ready for JSON.

        Args:
            theme: ``light`` or ``dark``.
            finest: as in `tile`; the style then names no layer that such tiles lack.
            url_prefix: what goes before ``/{z}/{x}/{y}.mvt``. A page should have an absolute address here, since
                MapLibre fetches tiles in workers, to which relative ones mean nothing.

        Raises:
            BadInput: no such theme or granularity.
        """
        detail = detail_of(finest)
        urls = (f"{url_prefix}/{{z}}/{{x}}/{{y}}.mvt?v={self.version}", f"{url_prefix}/relief/{{z}}/{{x}}/{{y}}.png")
        return make_style(theme, detail, *urls, self.attribution(finest))

    def attribution(self, finest: Granularity = "exact") -> str:
        """Whom to credit for the map, as plain text."""
        names = [info.attribution for info in self._regions()[1]] if detail_of(finest).ground else []
        return " · ".join(
            dict.fromkeys([*(name for name in names if name), "Natural Earth", "country-coder", "GeoNames", "Mapzen"])
        )

    @property
    def version(self) -> str:
        """Changes with whatever tiles are made from: the package's data, and the added regions."""
        stamp = self._regions()[0]
        return hashlib.sha256(f"{self._world_version} {stamp}".encode()).hexdigest()[:16]

    @cached_property
    def _world_version(self) -> str:
        digest = hashlib.sha256(f"tiles {FORMAT} of {__version__}".encode())
        for path in (BORDERS, OUTLINES, ensure_base(self._progress)):
            # The base atlas is built the same from the same package; its size tells one from the next.
            digest.update(f" {path.name} {path.stat().st_size}".encode())
        return digest.hexdigest()[:16]

    @cached_property
    def _folder(self) -> KeptFiles:
        return KeptFiles(self._cache, f"world-{self._world_version}")

    def _region_folder(self, stamp: str) -> KeptFiles:
        with self._lock:
            if self._of_regions is None or self._of_regions[0] != stamp:
                self._of_regions = (stamp, KeptFiles(self._cache, f"regions-{self._world_version}-{stamp}"))
            return self._of_regions[1]

    @cached_property
    def _settlements(self) -> Settlements:
        with self._lock:
            known: Settlements | None = self.__dict__.get("_settlements")
            return known or Settlements.read(ensure_base(self._progress), self._folder)

    def _regions(self) -> tuple[str, Sequence[RegionInfo]]:
        """What is added now, with a text that changes when any of it does."""
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
            if self._known is None or self._known[0] != stamp:
                self._known = (stamp, store.list())
            return self._known

    def _made(self, frame: Frame, detail: Detail, regions: Sequence[RegionInfo]) -> bytes:
        local = local_layers(frame, [info.path for info in regions], detail)
        layers: Layers = {name: local.get(name, []) for name in LAYERS}
        layers["land"] = [Feature(land(frame, self._folder), {"class": "land"}), *layers["land"]]
        layers["borders"] = borders(frame, of_regions=detail.region_borders)
        layers["places"] = [*countries(frame, self._folder), *self._places(frame, detail, layers["places"])]
        return encode_tile(layers)

    def _places(self, frame: Frame, detail: Detail, local: Sequence[Feature]) -> list[Feature]:
        """Settlements of the world, and those of added regions that it does not have, where there is room for them."""
        chosen = self._settlements.within(frame, detail.least_people)
        if not local:
            return chosen
        names: set[Value] = {*self._settlements.names_around(frame)}
        taken = {cell_of(feature) for feature in chosen}
        for feature in sorted(local, key=lambda feature: feature.properties["order"]):
            cell = cell_of(feature)
            if feature.properties["name"] in names or (frame.z < ROOM_FROM and cell in taken):
                continue
            names.add(feature.properties["name"])
            taken.add(cell)
            chosen.append(feature)
        return chosen


def _meets(info: RegionInfo, frame: Frame) -> bool:
    south, west, north, east = info.extent.south, info.extent.west, info.extent.north, info.extent.east
    if west > east:
        return True
    return any(
        south - _SLACK_DEG < strip.north
        and north + _SLACK_DEG > strip.south
        and west - _SLACK_DEG < strip.east
        and east + _SLACK_DEG > strip.west
        for strip in frame.view.strips()
    )
