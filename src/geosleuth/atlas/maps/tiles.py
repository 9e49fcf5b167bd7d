"""Picture tiles in a file of the user's: MBTiles or PMTiles version 3."""

import sqlite3
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Protocol

from geosleuth.atlas.readonly import open_readonly
from geosleuth.errors import BadInput

MAX_TILE_BYTES = 8_000_000
_MAX_DIRECTORY_BYTES = 16_000_000
_PMTILES_HEADER = Struct("<7sB11Q6B4iB2i")
_NO_COMPRESSION, _GZIP = 1, 2
_VECTOR = 1
_MAX_DEPTH = 4


class Tiles(Protocol):
    """Where tiles come from. Rows count from the north, as in web addresses."""

    max_zoom: int
    attribution: str

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """The bytes of one tile, None where there is none."""
        ...


@contextmanager
def open_tiles(path: Path) -> Iterator[Tiles]:
    """Open a file of picture tiles for reading.

    Raises:
        BadInput: no such file, neither MBTiles nor PMTiles 3, or vector tiles.
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
    """Tiles in an SQLite file, whose rows count from the south."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        self._conn, self._path = conn, path
        try:
            meta = {str(key): str(value) for key, value in conn.execute("SELECT name, value FROM metadata")}
            deepest = conn.execute("SELECT max(zoom_level) FROM tiles").fetchone()[0]
        except sqlite3.Error as error:
            raise BadInput(f"{path}: not MBTiles, or damaged ({error})") from error
        if meta.get("format") == "pbf":
            raise BadInput(f"{path}: holds vector tiles; satellite needs pictures (png, jpg or webp)")
        self.max_zoom = deepest if isinstance(deepest, int) else 0
        self.attribution = meta.get("attribution", "")

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """One tile; a damaged file reads as having none."""
        try:
            row = self._conn.execute(
                "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                (z, x, (1 << z) - 1 - y),
            ).fetchone()
        except sqlite3.Error as error:
            raise BadInput(f"{self._path}: not MBTiles, or damaged ({error})") from error
        return row[0] if row and isinstance(row[0], bytes) and len(row[0]) <= MAX_TILE_BYTES else None


class PMTiles:
    """Tiles along a Hilbert curve, found through directories inside one file."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        stream.seek(0)
        head = stream.read(_PMTILES_HEADER.size)
        if len(head) < _PMTILES_HEADER.size:
            raise self._damaged()
        fields = _PMTILES_HEADER.unpack(head)
        if fields[1] != 3:
            raise BadInput(f"{path}: PMTiles version {fields[1]}; only version 3 can be read")
        self._root = (fields[2], fields[3])
        self._leaves_at, self._tiles_at = fields[6], fields[8]
        self._compression, tile_compression, kind = fields[14], fields[15], fields[16]
        if kind == _VECTOR:
            raise BadInput(f"{path}: holds vector tiles; satellite needs pictures (png, jpg or webp)")
        if self._compression not in (_NO_COMPRESSION, _GZIP) or tile_compression not in (0, _NO_COMPRESSION, _GZIP):
            raise BadInput(f"{path}: compressed in a way that can't be read; convert it with gzip compression")
        self._gzipped_tiles = tile_compression == _GZIP
        self.max_zoom = int(fields[18])
        self.attribution = ""
        self._known: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}

    def tile(self, z: int, x: int, y: int) -> bytes | None:
        """One tile."""
        wanted = _curve_number(z, x, y)
        offset, length = self._root
        for _ in range(_MAX_DEPTH):
            entry = _find(self._directory(offset, length), wanted)
            if entry is None:
                return None
            first, run, at, size = entry
            if run:
                if wanted >= first + run or size > MAX_TILE_BYTES:
                    return None
                data = self._read(self._tiles_at + at, size)
                return self._unzip(data, MAX_TILE_BYTES) if self._gzipped_tiles else data
            offset, length = self._leaves_at + at, size
        return None

    def _directory(self, offset: int, length: int) -> list[tuple[int, int, int, int]]:
        known = self._known.get((offset, length))
        if known is None:
            if length > _MAX_DIRECTORY_BYTES:
                raise self._damaged()
            data = self._read(offset, length)
            if self._compression == _GZIP:
                data = self._unzip(data, _MAX_DIRECTORY_BYTES)
            try:
                known = _entries(data)
            except (IndexError, ValueError) as error:
                raise self._damaged() from error
            self._known[offset, length] = known
        return known

    def _read(self, offset: int, length: int) -> bytes:
        try:
            self._stream.seek(offset)
            data = self._stream.read(length)
        except (OSError, OverflowError, ValueError) as error:
            raise self._damaged() from error
        if len(data) < length:
            raise self._damaged()
        return data

    def _unzip(self, data: bytes, limit: int) -> bytes:
        """Unpacked with a limit, so that a small file can't fill the memory."""
        try:
            unpacker = zlib.decompressobj(wbits=31)
            out = unpacker.decompress(data, limit)
        except zlib.error as error:
            raise self._damaged() from error
        if unpacker.unconsumed_tail:
            raise self._damaged()
        return out

    def _damaged(self) -> BadInput:
        return BadInput(f"{self._path}: damaged, or cut off; fetch the PMTiles file again")


def _curve_number(z: int, x: int, y: int) -> int:
    """The number of a tile: all tiles of lower zooms, then its place on the Hilbert curve of its own zoom."""
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


def _entries(data: bytes) -> list[tuple[int, int, int, int]]:
    """A directory: first tile, how many tiles in a row share the bytes (0: a further directory), offset, length."""
    numbers = _varints(data)
    count = next(numbers)
    if count > len(data):
        raise ValueError("more entries than bytes")
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


def _varints(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            yield value
            value = shift = 0
        elif shift > 63:
            raise ValueError("a number is too long")


def _find(entries: list[tuple[int, int, int, int]], wanted: int) -> tuple[int, int, int, int] | None:
    """The last entry that begins at or before a tile."""
    at = bisect_right(entries, wanted, key=lambda entry: entry[0]) - 1
    return entries[at] if at >= 0 else None
