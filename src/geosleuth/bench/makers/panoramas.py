"""Panoramas put together from tiles, a band of rows at a time, so that the largest need little memory."""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from geosleuth.bench.sets.model import FilePicture, Item
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically
from geosleuth.photo import open_photo

from .places import TablePlace, file_name
from .tables import writing_table
from .tiles import TileSet, Where

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE: Final = (4096, 2048)
TABLE: Final = "panoramas.csv"
_QUALITY: Final = 92
_BAND_ROWS: Final = 128
_MOST_TILES: Final = 1 << 16
_MOST_STRIP_BYTES: Final = 1 << 30
_FILLED: Final = (127, 127, 127)
_DARK: Final = 24
_XMP: Final = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
    'GPano:ProjectionType="equirectangular" GPano:FullPanoWidthPixels="{0}" GPano:FullPanoHeightPixels="{1}" '
    'GPano:CroppedAreaImageWidthPixels="{0}" GPano:CroppedAreaImageHeightPixels="{1}" '
    'GPano:CroppedAreaLeftPixels="0" GPano:CroppedAreaTopPixels="0"/></rdf:RDF></x:xmpmeta>'
)


@dataclass(frozen=True, slots=True)
class Stitched:
    """A panorama; which parts had no tile and are grey, and which were taken from a coarser zoom."""

    image: "Image"
    empty: tuple[Where, ...]
    coarser: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A panorama that was not put together, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Panoramas:
    """What came of it: panoramas written, found finished, and refused. ``unplaced`` stand in no table of places."""

    made: tuple[str, ...]
    kept: tuple[str, ...]
    refused: tuple[Refused, ...]
    unplaced: tuple[str, ...]
    table: Path | None


def stitch(
    tiles: TileSet,
    size: Where = SIZE,
    *,
    full: Where | None = None,
    most_missing: float = 0.0,
) -> Stitched:
    """Put one panorama together at a size.

    Tiles are of one size, those at the right and lower edge may be smaller. Where the grid is larger than the panorama
    the rest is black, and is cut off if what is left is twice as wide as high. A tile that is missing or can't be
    opened is replaced by the part of the coarser zoom that shows the same, or else by grey.

    Args:
        tiles: which file is which part.
        size: width and height of the result.
        full: how many pixels the tiles hold, where that can't be told.
        most_missing: the share of tiles that may be grey.

    Raises:
        BadInput: too many tiles are missing, their sizes do not fit, or the whole is not twice as wide as high.
    """
    from PIL import Image

    if tiles.columns * tiles.rows > _MOST_TILES:
        raise BadInput(
            f"{tiles.id}: {tiles.columns} x {tiles.rows} tiles, and {_MOST_TILES:,} are the most; look for a file "
            "whose name is no column and row, or say how tiles are named with --pattern"
        )
    sheet = _Sheet(tiles)
    width, height = full or sheet.measured()
    if abs(width - 2 * height) > 0.015 * width:
        raise BadInput(
            f"{tiles.id}: {width} x {height} pixels are not twice as wide as high; give their size with --full, or "
            "--grid where tiles at the edge are missing"
        )
    out = Image.new("RGB", size)
    grow = height / size[1]
    # Lanczos looks at three pixels of the result to each side.
    margin = ceil(3 * max(1.0, grow)) + 1
    if width * min(height, _BAND_ROWS * grow + 2 * margin) * 3 > _MOST_STRIP_BYTES:
        raise BadInput(
            f"{tiles.id}: {width} x {height} pixels are too many; take a coarser zoom, or ask for a larger --size"
        )
    for top in range(0, size[1], _BAND_ROWS):
        bottom = min(top + _BAND_ROWS, size[1])
        first, last = max(0, floor(top * grow) - margin), min(height, ceil(bottom * grow) + margin)
        strip = sheet.rows(first, last, width)
        box = (0.0, top * grow - first, float(width), min(bottom * grow - first, float(last - first)))
        out.paste(strip.resize((size[0], bottom - top), Image.Resampling.LANCZOS, box=box), (0, top))
    empty = tuple(sorted(sheet.empty))
    if len(empty) > most_missing * tiles.columns * tiles.rows:
        named = ", ".join(f"column {x} row {y}" for x, y in empty[:3])
        raise BadInput(
            f"{tiles.id}: {len(empty)} of {tiles.columns * tiles.rows} tiles are missing ({named}); get them, or allow "
            "grey ones with --missing SHARE"
        )
    return Stitched(out, empty, tuple(sorted(sheet.coarser)))


def make_panoramas(
    sets: Iterable[TileSet],
    out: Path,
    *,
    places: Mapping[str, TablePlace] | None = None,
    size: Where = SIZE,
    full: Where | None = None,
    most_missing: float = 0.0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Panoramas:
    """Put many together into a folder, and write a table that can be opened as a data set where places are known.

    A panorama that is there already is finished and kept, unless ``overwrite``. One that can't be made is named and
    the others go on.

    Raises:
        BadInput: the folder can't be written.
    """
    todo = list(sets)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: can't be made: {error.strerror or error}") from error
    made, kept, refused = [], [], []
    for number, one in enumerate(todo):
        progress(number, len(todo))
        path = out / file_name(one.id, ".jpg")
        if path.is_file() and not overwrite:
            kept.append(one)
            continue
        try:
            write_panorama(stitch(one, size, full=full, most_missing=most_missing).image, path)
        except BadInput as error:
            refused.append(Refused(one.id, str(error)))
        else:
            made.append(one)
    progress(len(todo), len(todo))
    done = sorted((*made, *kept), key=lambda one: one.id)
    unplaced = tuple(one.id for one in done if places is not None and one.id not in places)
    table = None
    if places is not None and len(unplaced) < len(done):
        table = out / TABLE
        _write_table(table, [(one, places[one.id]) for one in done if one.id in places], out)
    return Panoramas(tuple(one.id for one in made), tuple(one.id for one in kept), tuple(refused), unplaced, table)


def write_panorama(image: "Image", path: Path) -> None:
    """Write a panorama as JPEG that says what it is, whole or not at all.

    Raises:
        BadInput: it can't be written.
    """
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY, xmp=_XMP.format(*image.size).encode())
    write_bytes_atomically(path, stream.getvalue())


def _write_table(table: Path, rows: list[tuple[TileSet, TablePlace]], out: Path) -> None:
    names = dict.fromkeys(name for _, place in rows for name in place.fields)
    with writing_table(table, (*names, "tiles", "tiles_missing")) as write:
        for one, place in rows:
            more = {"tiles": f"{one.columns}x{one.rows}", "tiles_missing": str(len(one.missing))}
            write(Item(one.id, FilePicture(out / file_name(one.id, ".jpg")), place.truth, place.fields), more)


class _Sheet:
    """All tiles side by side, opened when rows of them are asked for and let go when rows below are."""

    def __init__(self, tiles: TileSet) -> None:
        self._tiles = tiles
        self._open: dict[Where, Image | None] = {}
        self.empty: set[Where] = set()
        self.coarser: set[Where] = set()
        self.side = self._side()

    def _side(self) -> Where:
        """The size of a whole tile: that of the first which lies at no edge, or else of the largest."""
        inner = sorted(
            self._tiles.tiles, key=lambda at: (at[0] == self._tiles.columns - 1) + (at[1] == self._tiles.rows - 1)
        )
        for at in inner:
            image = self._opened(at)
            if image is not None:
                return image.size
        raise BadInput(f"{self._tiles.id}: not one of its tiles can be opened")

    def measured(self) -> Where:
        """How large the panorama is: without black at the right and below, if twice as wide as high is left."""
        columns, rows, (wide, high) = self._tiles.columns, self._tiles.rows, self.side
        right = [self._edge((columns - 1, y), 0) for y in range(rows)]
        below = [self._edge((x, rows - 1), 1) for x in range(columns)]
        width, height = (columns - 1) * wide + max(right), (rows - 1) * high + max(below)
        if abs(width - 2 * height) <= 0.015 * width:
            return width, height
        return columns * wide, rows * high

    def _edge(self, at: Where, axis: int) -> int:
        """How many columns, or rows, of a tile at the edge show something."""
        image = self._opened(at)
        if image is None:
            return self.side[axis]
        shown = np.asarray(image.convert("RGB")).max(axis=2) > _DARK
        seen = np.flatnonzero(shown.any(axis=axis))
        return int(seen[-1]) + 1 if seen.size else 0

    def rows(self, first: int, last: int, width: int) -> "Image":
        """Some rows of pixels of the whole."""
        from PIL import Image

        wide, high = self.side
        strip = Image.new("RGB", (width, last - first), _FILLED)
        self._open = {at: image for at, image in self._open.items() if at[1] >= first // high}
        for y in range(first // high, min(self._tiles.rows, ceil(last / high))):
            for x in range(min(self._tiles.columns, ceil(width / wide))):
                tile = self._opened((x, y)) or self._from_coarser((x, y))
                if tile is None:
                    self.empty.add((x, y))
                else:
                    strip.paste(tile, (x * wide, y * high - first))
        return strip

    def _opened(self, at: Where) -> "Image | None":
        if at not in self._open:
            self._open[at] = _open(self._tiles.tiles.get(at))
        return self._open[at]

    def _from_coarser(self, at: Where) -> "Image | None":
        tile = _open(self._tiles.coarser.get((at[0] // 2, at[1] // 2)))
        if tile is None:
            return None
        self.coarser.add(at)
        half_wide, half_high = tile.width / 2, tile.height / 2
        left, top = at[0] % 2 * half_wide, at[1] % 2 * half_high
        self._open[at] = tile.resize(self.side, box=(left, top, left + half_wide, top + half_high))
        return self._open[at]


def _open(path: Path | None) -> "Image | None":
    """A tile; a damaged one counts as missing."""
    if path is None:
        return None
    try:
        return open_photo(path).photo.image
    except BadInput:
        return None
