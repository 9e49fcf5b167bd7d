"""Pictures from above, put together from the tiles of a source that the user chose."""

import asyncio
import io
import math
import warnings
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from geosleuth.atlas.model import Picture
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon

from .furniture import draw_credit
from .lettering import stencil
from .png import to_png
from .tiles import MAX_TILE_BYTES, Tiles, open_tiles
from .view import TILE_PX, View

NO_SOURCE = "satellite needs a tile source: set GEOSLEUTH_TILES to an MBTiles or PMTiles file, or to an XYZ address"
MAX_TILES = 400
_MAX_STEPS_UP = 8
_MAX_TILE_SIDE_PX = 2048
_GREY = "#8f9499"
_AT_ONCE = 4

Key = tuple[int, int, int]  # zoom, column, row from the north
AsyncTile = Callable[[int, int, int], Awaitable[bytes | None]]


def satellite(
    source: Tiles | Path | None, centre: LatLon, zoom: float = 16, size: tuple[int, int] = (640, 640)
) -> Picture:
    """A picture from above as PNG, from tiles or from a file of them.

    Where a tile is missing, the part of a coarser one is enlarged. A damaged tile becomes a grey square, and the
    picture says how many there are.

    Raises:
        BadInput: no source is set, it can't be read or has nothing here, or zoom or size are out of range.
    """
    view = View(centre, zoom, *size)
    if source is None:
        raise BadInput(NO_SOURCE)
    if isinstance(source, Path):
        with open_tiles(source) as tiles:
            return satellite(tiles, centre, zoom, size)
    sheet = _Sheet(view, min(round(zoom), source.max_zoom))
    found: dict[Key, bytes | None] = {}
    for wanted in sheet.needed():
        for key in _upwards(wanted):
            if key not in found:
                found[key] = source.tile(*key)
            if found[key] is not None:
                break
    return sheet.picture(found, source.attribution)


async def satellite_from(
    fetch: AsyncTile,
    centre: LatLon,
    zoom: float = 16,
    size: tuple[int, int] = (640, 640),
    *,
    max_zoom: int = 19,
    attribution: str = "",
) -> Picture:
    """The same from a service that is asked tile by tile, a few at once."""
    view = View(centre, zoom, *size)
    sheet = _Sheet(view, min(round(zoom), max_zoom))
    found: dict[Key, bytes | None] = {}
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(key: Key) -> None:
        async with gate:
            found[key] = await fetch(*key)

    wanted = list(sheet.needed())
    for _ in range(_MAX_STEPS_UP + 1):
        await asyncio.gather(*(ask(key) for key in dict.fromkeys(wanted) if key not in found))
        wanted = [(z - 1, x >> 1, y >> 1) for z, x, y in wanted if found[z, x, y] is None and z > 0]
        if not wanted:
            break
    return sheet.picture(found, attribution)


@dataclass(slots=True)
class _Sheet:
    """The tiles of one zoom that cover a view, side by side."""

    view: View
    zoom: int
    left: int = field(init=False)
    top: int = field(init=False)
    columns: int = field(init=False)
    rows: int = field(init=False)
    scale: float = field(init=False)  # pixels of the picture by pixels of the tiles

    def __post_init__(self) -> None:
        self.scale = 2.0 ** (self.view.zoom - self.zoom)
        side = TILE_PX * self.scale
        x, y = self.view.origin
        self.left, self.top = math.floor(x / side), math.floor(y / side)
        self.columns = math.ceil((x + self.view.width) / side) - self.left
        self.rows = math.ceil((y + self.view.height) / side) - self.top
        if self.columns * self.rows > MAX_TILES:
            raise BadInput(f"this picture needs {self.columns * self.rows} tiles; make it smaller")

    def spots(self) -> Iterator[tuple[int, int, Key]]:
        """Column and row in the sheet, and the tile that lies there; beyond the poles there is none."""
        world = 1 << self.zoom
        for row in range(self.rows):
            if 0 <= self.top + row < world:
                for column in range(self.columns):
                    yield column, row, (self.zoom, (self.left + column) % world, self.top + row)

    def needed(self) -> Iterator[Key]:
        """Every tile needed, once each."""
        return iter(dict.fromkeys(key for _, _, key in self.spots()))

    def picture(self, found: dict[Key, bytes | None], attribution: str) -> Picture:
        """Put the tiles together, cut and scale them to the view, and write the credit."""
        if not any(data is not None for data in found.values()):
            raise BadInput("the tile source has no picture of this place; choose another zoom or another source")
        sheet = Image.new("RGB", (self.columns * TILE_PX, self.rows * TILE_PX), _GREY)
        opened: dict[Key, Image.Image | None] = {}
        damaged: set[Key] = set()
        for column, row, wanted in self.spots():
            key = next((key for key in _upwards(wanted) if found.get(key) is not None), None)
            if key is None:
                continue
            if key not in opened:
                opened[key] = _opened(found[key] or b"")
            whole = opened[key]
            if whole is None:
                damaged.add(wanted)
            else:
                sheet.paste(_part(whole, key, wanted), (column * TILE_PX, row * TILE_PX))
        x, y = self.view.origin
        left, top = x / self.scale - self.left * TILE_PX, y / self.scale - self.top * TILE_PX
        right, bottom = left + self.view.width / self.scale, top + self.view.height / self.scale
        frame = (left, top, min(right, sheet.width), min(bottom, sheet.height))
        image = sheet.resize((self.view.width, self.view.height), Image.Resampling.BICUBIC, box=frame)
        draw_credit(image, attribution)
        note = f"{len(damaged)} of {self.columns * self.rows} tiles are damaged" if damaged else ""
        if note:
            image.paste("white", (2, 2), stencil([note], 12))
        source = "satellite" + (f"; {note}" if note else "")
        return Picture(png=to_png(image), extent=self.view.box, attribution=attribution, source=source)


def _upwards(key: Key) -> Iterator[Key]:
    """A tile and the coarser ones that cover it."""
    z, x, y = key
    for step in range(min(z, _MAX_STEPS_UP) + 1):
        yield z - step, x >> step, y >> step


def _part(whole: Image.Image, key: Key, wanted: Key) -> Image.Image:
    """The part of a tile that shows another one inside it, as large as a tile."""
    steps = wanted[0] - key[0]
    if steps == 0:
        return whole
    side = TILE_PX / (1 << steps)
    left, top = (wanted[1] - (key[1] << steps)) * side, (wanted[2] - (key[2] << steps)) * side
    return whole.resize((TILE_PX, TILE_PX), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side))


def _opened(data: bytes) -> Image.Image | None:
    """A tile in its usual size; None where it is no picture, or not a whole one."""
    if len(data) > MAX_TILE_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF"))
            if max(image.size) > _MAX_TILE_SIDE_PX:
                return None
            plain = image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None
    return plain if plain.size == (TILE_PX, TILE_PX) else plain.resize((TILE_PX, TILE_PX), Image.Resampling.BICUBIC)
