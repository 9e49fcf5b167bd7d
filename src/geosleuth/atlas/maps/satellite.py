"""Assemble satellite images from the raster tiles of an MBTiles or PMTiles 3 file."""

import io
import math
import sqlite3
import warnings
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Protocol

from PIL import Image

from geosleuth.atlas.folders import open_readonly
from geosleuth.atlas.protocol import Picture
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

from .canvas import TILE_PX, MapView, to_png
from .draw import draw_credit
from .labels import stencil

MAX_TILE_BYTES = 8_000_000
_MAX_DIRECTORY_BYTES = 16_000_000
_PMTILES_HEADER = Struct("<7sB11Q6B4iB2i")
_NO_COMPRESSION, _GZIP = 1, 2
_VECTOR_TILES = 1
_MAX_DEPTH = 4

NO_SOURCE = "satellite needs a tile source: set GEOSLEUTH_TILES to an MBTiles or PMTiles file, or to an XYZ address"
MAX_TILES = 400
_MAX_ZOOMS_UP = 8
_MAX_TILE_SIDE_PX = 2048
_MISSING_TILE_COLOUR = "#8f9499"
Key = tuple[int, int, int]  # zoom, column, row from the north


class SatelliteTiles(Protocol):
    """A source of tiles. Rows count from the north, as in tile URLs."""

    max_zoom: int
    attribution: str

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """Return the bytes of a tile; None if there is none."""
        ...


@contextmanager
def open_tiles(path: Path) -> Iterator[SatelliteTiles]:
    """Open a file of raster tiles for reading.

    Raises:
        BadInput: there is no such file, it is neither MBTiles nor PMTiles 3, or it holds vector tiles.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror}") from error
    with stream:
        start = stream.read(16)
        if start.startswith(b"PMTiles"):
            yield PMTiles(stream, path)
        elif start.startswith(b"SQLite format 3"):
            with closing(open_readonly(path)) as conn:
                yield MBTiles(conn, path)
        else:
            raise BadInput(f"{path}: neither MBTiles nor PMTiles; give a file of raster tiles in one of these formats")


class MBTiles:
    """Tiles in an SQLite file. MBTiles count rows from the south."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        self._conn, self._path = conn, path
        try:
            meta = {str(key): str(value) for key, value in conn.execute("SELECT name, value FROM metadata")}
            deepest = conn.execute("SELECT max(zoom_level) FROM tiles").fetchone()[0]
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: not MBTiles, or damaged ({error})") from error
        if meta.get("format") == "pbf":
            raise BadInput(f"{path}: holds vector tiles; satellite needs pictures (png, jpg or webp)")
        self.max_zoom = deepest if isinstance(deepest, int) else 0
        self.attribution = meta.get("attribution", "")

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """Return the bytes of a tile; None if there is none, or if it is too large.

        Raises:
            BadInput: the file is damaged.
        """
        try:
            row = self._conn.execute(
                "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                (z, x, (1 << z) - 1 - y),
            ).fetchone()
        except sqlite3.Error as error:
            raise BadInput(f"{self._path}: not MBTiles, or damaged ({error})") from error
        return row[0] if row and isinstance(row[0], bytes) and len(row[0]) <= MAX_TILE_BYTES else None


class PMTiles:
    """Tiles in a PMTiles file: numbered along a Hilbert curve and found through directories inside the file."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        stream.seek(0)
        head = stream.read(_PMTILES_HEADER.size)
        if len(head) < _PMTILES_HEADER.size:
            raise self._build_damage_error()
        fields = _PMTILES_HEADER.unpack(head)
        if fields[1] != 3:
            raise BadInput(f"{path}: PMTiles version {fields[1]}; only version 3 can be read")
        self._root = (fields[2], fields[3])
        self._leaves_at, self._tiles_at = fields[6], fields[8]
        self._compression, tile_compression, kind = fields[14], fields[15], fields[16]
        if kind == _VECTOR_TILES:
            raise BadInput(f"{path}: holds vector tiles; satellite needs pictures (png, jpg or webp)")
        if self._compression not in (_NO_COMPRESSION, _GZIP) or tile_compression not in (0, _NO_COMPRESSION, _GZIP):
            raise BadInput(f"{path}: compressed in a way that can't be read; convert it with gzip compression")
        self._gzipped_tiles = tile_compression == _GZIP
        self.max_zoom = int(fields[18])
        self.attribution = ""
        self._directories: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """Return the bytes of a tile; None if there is none, or if it is too large.

        Raises:
            BadInput: the file is damaged.
        """
        tile_id = _tile_id(z, x, y)
        offset, length = self._root
        for _ in range(_MAX_DEPTH):
            entry = _find_entry(self._directory(offset, length), tile_id)
            if entry is None:
                return None
            first, run, at, size = entry
            if run:
                if tile_id >= first + run or size > MAX_TILE_BYTES:
                    return None
                data = self._read_span(self._tiles_at + at, size)
                return self._unzip(data, MAX_TILE_BYTES) if self._gzipped_tiles else data
            offset, length = self._leaves_at + at, size
        return None

    def _directory(self, offset: int, length: int) -> list[tuple[int, int, int, int]]:
        directory = self._directories.get((offset, length))
        if directory is None:
            if length > _MAX_DIRECTORY_BYTES:
                raise self._build_damage_error()
            data = self._read_span(offset, length)
            if self._compression == _GZIP:
                data = self._unzip(data, _MAX_DIRECTORY_BYTES)
            try:
                directory = _parse_directory(data)
            except (IndexError, ValueError) as error:
                raise self._build_damage_error() from error
            self._directories[offset, length] = directory
        return directory

    def _read_span(self, offset: int, length: int) -> bytes:
        try:
            self._stream.seek(offset)
            data = self._stream.read(length)
        except (OSError, OverflowError, ValueError) as error:
            raise self._build_damage_error() from error
        if len(data) < length:
            raise self._build_damage_error()
        return data

    def _unzip(self, data: bytes, limit: int) -> bytes:
        """Decompress gzip data up to a limit, so that a small file can't fill the memory."""
        try:
            unpacker = zlib.decompressobj(wbits=31)
            out = unpacker.decompress(data, limit)
        except zlib.error as error:
            raise self._build_damage_error() from error
        if unpacker.unconsumed_tail:
            raise self._build_damage_error()
        return out

    def _build_damage_error(self) -> BadInput:
        return BadInput(f"{self._path}: damaged, or cut off; fetch the PMTiles file again")


def _tile_id(z: int, x: int, y: int) -> int:
    """Return a tile's PMTiles id: the number of tiles of lower zooms plus its position on its zoom's Hilbert curve."""
    number = ((1 << (2 * z)) - 1) // 3
    for level in range(z - 1, -1, -1):
        side = 1 << level
        right, down = int(bool(x & side)), int(bool(y & side))
        number += ((3 * right) ^ down) << (2 * level)
        if not down:
            if right:
                x, y = side - 1 - (x & (side - 1)), side - 1 - (y & (side - 1))
            x, y = y, x
        x, y = x & (side - 1), y & (side - 1)
    return number


def _parse_directory(data: bytes) -> list[tuple[int, int, int, int]]:
    """Parse a directory into rows of first tile id, run length, offset and length.

    ``run length`` is how many consecutive tiles share the bytes; 0 marks a further directory.
    """
    numbers = _read_varints(data)
    count = next(numbers, -1)
    if not 0 <= count <= len(data):
        raise ValueError("no count of entries, or more entries than bytes")
    columns = [[next(numbers, -1) for _ in range(count)] for _ in range(4)]
    steps, runs, lengths, offsets = columns
    if offsets and offsets[-1] < 0:
        raise ValueError("a directory ends too early")
    entries, tile, end = [], 0, 0
    for step, run, length, coded in zip(steps, runs, lengths, offsets, strict=True):
        tile += step
        offset = coded - 1 if coded else end
        end = offset + length
        entries.append((tile, run, offset, length))
    return entries


def _read_varints(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            yield value
            value = shift = 0
        elif shift > 63:
            raise ValueError("a number is too long")


def _find_entry(entries: list[tuple[int, int, int, int]], tile_id: int) -> tuple[int, int, int, int] | None:
    """Return the last entry that begins at or before a tile."""
    at = bisect_right(entries, tile_id, key=lambda entry: entry[0]) - 1
    return entries[at] if at >= 0 else None


def satellite(
    source: SatelliteTiles | Path | None, centre: LatLon, zoom: float = 16, size: tuple[int, int] = (640, 640)
) -> Picture:
    """Return a satellite image as PNG, from a source of tiles or a file of them.

    A missing tile is replaced by the enlarged part of a coarser one. A damaged tile becomes a grey square, and a note
    on the image says how many there are.

    Raises:
        BadInput: no source is set, it can't be read or has no tiles here, or zoom or size are out of range.
    """
    view = MapView(centre, zoom, *size)
    if source is None:
        raise BadInput(NO_SOURCE)
    if isinstance(source, Path):
        with open_tiles(source) as tiles:
            return satellite(tiles, centre, zoom, size)
    mosaic = _Mosaic(view, min(round(zoom), source.max_zoom))
    tiles_found: dict[Key, bytes | None] = {}
    for wanted in mosaic.list_tiles():
        for key in _ancestors(wanted):
            if key not in tiles_found:
                tiles_found[key] = source.tile(*key)
            if tiles_found[key] is not None:
                break
    return mosaic.picture(tiles_found, source.attribution)


@dataclass(slots=True)
class _Mosaic:
    view: MapView
    zoom: int
    left: int = field(init=False)
    top: int = field(init=False)
    columns: int = field(init=False)
    rows: int = field(init=False)
    scale: float = field(init=False)  # pixels of the image per pixel of the tiles

    def __post_init__(self) -> None:
        self.scale = 2.0 ** (self.view.zoom - self.zoom)
        side = TILE_PX * self.scale
        x, y = self.view.origin
        self.left, self.top = math.floor(x / side), math.floor(y / side)
        self.columns = math.ceil((x + self.view.width) / side) - self.left
        self.rows = math.ceil((y + self.view.height) / side) - self.top
        if self.columns * self.rows > MAX_TILES:
            raise BadInput(
                f"this picture needs {self.columns * self.rows} tiles, more than {MAX_TILES}; make it smaller"
            )

    def spots(self) -> Iterator[tuple[int, int, Key]]:
        """Yield column and row in the mosaic and the tile that belongs there; beyond the poles there is none."""
        world = 1 << self.zoom
        for row in range(self.rows):
            if 0 <= self.top + row < world:
                for column in range(self.columns):
                    yield column, row, (self.zoom, (self.left + column) % world, self.top + row)

    def list_tiles(self) -> Iterator[Key]:
        """Yield the tiles of the mosaic."""
        return iter(dict.fromkeys(key for _, _, key in self.spots()))

    def picture(self, found: dict[Key, bytes | None], attribution: str) -> Picture:
        """Assemble the tiles, crop and scale them to the view, and write the attribution."""
        if not any(data is not None for data in found.values()):
            raise BadInput("the tile source has no picture of this place; choose another zoom or another source")
        mosaic = Image.new("RGB", (self.columns * TILE_PX, self.rows * TILE_PX), _MISSING_TILE_COLOUR)
        decoded: dict[Key, Image.Image | None] = {}
        damaged: set[Key] = set()
        for column, row, wanted in self.spots():
            key = next((key for key in _ancestors(wanted) if found.get(key) is not None), None)
            if key is None:
                continue
            if key not in decoded:
                decoded[key] = _decode_tile(found[key] or b"")
            tile = decoded[key]
            if tile is None:
                damaged.add(wanted)
            else:
                mosaic.paste(_crop(tile, key, wanted), (column * TILE_PX, row * TILE_PX))
        x, y = self.view.origin
        left, top = x / self.scale - self.left * TILE_PX, y / self.scale - self.top * TILE_PX
        right, bottom = left + self.view.width / self.scale, top + self.view.height / self.scale
        frame = (left, top, min(right, mosaic.width), min(bottom, mosaic.height))
        image = mosaic.resize((self.view.width, self.view.height), Image.Resampling.BICUBIC, box=frame)
        draw_credit(image, attribution)
        note = f"{len(damaged)} of {self.columns * self.rows} tiles are damaged" if damaged else ""
        if note:
            image.paste("white", (2, 2), stencil([note], 12))
        source = "satellite" + (f"; {note}" if note else "")
        return Picture(png=to_png(image), extent=self.view.box, attribution=attribution, source=source)


def _ancestors(key: Key) -> Iterator[Key]:
    """Yield a tile and the coarser ones that cover it."""
    z, x, y = key
    for step in range(min(z, _MAX_ZOOMS_UP) + 1):
        yield z - step, x >> step, y >> step


def _crop(image: Image.Image, key: Key, wanted: Key) -> Image.Image:
    """Return the part of a tile that covers a finer tile, enlarged to the size of a tile."""
    steps = wanted[0] - key[0]
    if steps == 0:
        return image
    side = TILE_PX / (1 << steps)
    left, top = (wanted[1] - (key[1] << steps)) * side, (wanted[2] - (key[2] << steps)) * side
    return image.resize((TILE_PX, TILE_PX), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side))


def _decode_tile(data: bytes) -> Image.Image | None:
    """Decode a tile at the usual size; None if it is not an image, truncated or too large."""
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
