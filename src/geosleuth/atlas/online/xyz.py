"""Maps and satellite pictures from any XYZ tile server, stitched from its tiles."""

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from geosleuth.atlas.protocol import Marker, NotOffered, Picture
from geosleuth.geo import LatLon
from geosleuth.geo.gcj02 import to_gcj02
from geosleuth.support.errors import BadInput, ServiceFault

from .access import Credentials, TileSource, check_consent, key_from_environment
from .base import SERVICES_BY_METHOD, OnlineAtlas
from .http import ServiceRequest
from .replies import (
    NAME_CHARS,
    TILE_PX,
    check_picture,
    clean,
    open_picture,
    picture_box,
    resize_picture,
    to_pixels,
    to_png,
)

if TYPE_CHECKING:
    from PIL.Image import Image

_MAX_SIDE_PX = 2048
_CONCURRENT_REQUESTS = 2
_MISSING_TILE_RGB = (221, 221, 221)


class XyzTiles(OnlineAtlas):
    """The tile servers that the settings name in ``map_tiles`` and ``satellite_tiles``."""

    name: ClassVar[str] = "xyz"
    base_url: ClassVar[str] = ""
    spacing_s: ClassVar[float] = 0.05
    keep_hours: ClassVar[float] = 7 * 24.0

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Return a map stitched from tiles, with pins."""
        return await self._stitch_tiles("map", self.settings.map_tiles, centre, zoom, size, markers)

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite picture stitched from tiles."""
        return await self._stitch_tiles("satellite", self.settings.satellite_tiles, centre, zoom, size, ())

    async def _stitch_tiles(
        self,
        question: str,
        source: TileSource | None,
        centre: LatLon,
        zoom: float,
        size: tuple[int, int],
        markers: Sequence[Marker],
    ) -> Picture:
        if source is None:
            others = SERVICES_BY_METHOD[question].replace(" or xyz", "")
            variable = f"GEOSLEUTH_{question.upper()}_TILES"
            raise NotOffered(f"xyz has no tile server for {question}: name one in {variable}, or ask one of: {others}")
        check_picture(zoom, size, _MAX_SIDE_PX, self.name)
        host = self._check_source(source)
        from PIL.Image import new

        # Tiles exist at whole zooms only: use the next finer one and shrink it, so that lettering stays sharp.
        level = min(source.max_zoom, math.ceil(zoom))
        shrink = 2.0 ** (level - zoom)
        width, height = (max(1, round(side * shrink)) for side in size)
        middle_x, middle_y = to_pixels(to_gcj02(centre) if source.datum == "gcj02" else centre, level)
        left, top = round(middle_x - width / 2), round(middle_y - height / 2)
        columns = range(left // TILE_PX, (left + width - 1) // TILE_PX + 1)
        rows = range(max(0, top // TILE_PX), min(2**level - 1, (top + height - 1) // TILE_PX) + 1)
        tiles = await self._tiles(source, host, level, columns, rows)
        canvas = new("RGB", (width, height), _MISSING_TILE_RGB)
        for (column, row), tile in tiles.items():
            if tile is not None:
                canvas.paste(resize_picture(tile, (TILE_PX, TILE_PX)), (column * TILE_PX - left, row * TILE_PX - top))
        picture = resize_picture(canvas, size)
        _draw_pins(picture, [(marker, _pixel(marker.point, centre, zoom, size)) for marker in markers])
        return Picture(to_png(picture), picture_box(centre, zoom, size), clean(source.attribution, NAME_CHARS), host)

    async def _tiles(
        self, source: TileSource, host: str, level: int, columns: range, rows: range
    ) -> "dict[tuple[int, int], Image | None]":
        slots = asyncio.Semaphore(_CONCURRENT_REQUESTS)

        async def fetch(column: int, row: int) -> "Image | None":
            async with slots:
                return await self.client.ask(
                    self._tile_question(source, level, column % 2**level, row), lambda body: open_picture(body, host)
                )

        places = [(column, row) for row in rows for column in columns]
        tasks = [asyncio.create_task(fetch(*place)) for place in places]
        try:
            found = dict(zip(places, await asyncio.gather(*tasks), strict=True))
        finally:
            for task in tasks:
                task.cancel()
        if not any(found.values()):
            raise ServiceFault(host, f"has no tiles there at zoom {level}")
        return found

    def _tile_question(self, source: TileSource, level: int, column: int, row: int) -> ServiceRequest:
        url = source.template.replace("{z}", str(level)).replace("{x}", str(column)).replace("{y}", str(row))
        credentials = Credentials()
        if source.key_variable:
            credentials = Credentials(
                params={source.key_param: key_from_environment(source.key_variable, "the tile server", self.settings)}
            )
        return ServiceRequest(
            url=url,
            credentials=credentials,
            keep_s=self.settings.cache_hours.get(self.name, self.keep_hours) * 3600,
            spacing_s=self.spacing_s,
            absent=(204, 404),
        )

    def _check_source(self, source: TileSource) -> str:
        if not all(part in source.template for part in ("{z}", "{x}", "{y}")):
            raise BadInput(f"the tile address must hold {{z}}, {{x}} and {{y}}: {source.template[:100]!r}")
        return check_consent(source.template.replace("{", "").replace("}", ""), self.settings)


def _pixel(point: LatLon, centre: LatLon, zoom: float, size: tuple[int, int]) -> tuple[float, float]:
    x, y = to_pixels(point, zoom)
    middle_x, middle_y = to_pixels(centre, zoom)
    world_px = TILE_PX * 2.0**zoom
    across = (x - middle_x + world_px / 2) % world_px - world_px / 2
    return size[0] / 2 + across, size[1] / 2 + y - middle_y


def _draw_pins(picture: "Image", pins: Sequence[tuple[Marker, tuple[float, float]]]) -> None:
    from PIL.ImageColor import getrgb
    from PIL.ImageDraw import Draw
    from PIL.ImageFont import load_default

    draw = Draw(picture)
    font = load_default(13)
    for marker, (x, y) in pins:
        try:
            colour = getrgb(marker.colour)
        except ValueError as error:
            raise BadInput(f"not a colour: {marker.colour[:40]!r}; write it as #c4002f") from error
        draw.ellipse((x - 7, y - 7, x + 7, y + 7), fill=colour, outline="white", width=2)
        label = clean(marker.label, 40)
        if label:
            draw.text((x + 11, y - 8), label, fill="black", font=font, stroke_width=2, stroke_fill="white")
