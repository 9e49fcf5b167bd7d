"""Panoramas assembled from tiles, a band of rows at a time, so that the largest need little memory."""

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from geosleuth.lab.bench.sets.dataset import FilePicture, Item
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically

from .photo_tables import TablePlace, file_name, writing_table

if TYPE_CHECKING:
    from PIL.Image import Image

ENDINGS: Final = frozenset({".jpg", ".jpeg", ".png", ".webp"})
KNOWN_GRIDS: Final = ((2, 1), (4, 2), (7, 4), (8, 4), (13, 7), (16, 8), (26, 13), (32, 16))
"""Columns and rows of common street-level panoramas, at tiles of 512 pixels."""

Where = tuple[int, int]
"""Column and row, from the upper left."""

_NAMED: Final = (
    re.compile(r"(?P<id>.*?)[._ -]*x[_=-]?(?P<x>[0-9]{1,4})[._ ,-]*y[_=-]?(?P<y>[0-9]{1,4})$", re.IGNORECASE),
    re.compile(r"(?P<id>.*?)[._ -]*y[_=-]?(?P<y>[0-9]{1,4})[._ ,-]*x[_=-]?(?P<x>[0-9]{1,4})$", re.IGNORECASE),
    re.compile(
        r"(?P<id>.*?)[._ -]*r(?:ow)?[_=-]?(?P<y>[0-9]{1,4})[._ ,-]*c(?:ol|olumn)?[_=-]?(?P<x>[0-9]{1,4})$",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<id>.*?)[._ -]*c(?:ol|olumn)?[_=-]?(?P<x>[0-9]{1,4})[._ ,-]*r(?:ow)?[_=-]?(?P<y>[0-9]{1,4})$",
        re.IGNORECASE,
    ),
)
_PAIR: Final = re.compile(r"(?P<id>.*?)[._ -]*(?<![0-9])(?P<a>[0-9]{1,3})[_,x-](?P<b>[0-9]{1,3})$", re.IGNORECASE)
_PLACEHOLDERS: Final = {"x": "x", "col": "x", "column": "x", "y": "y", "row": "y", "z": "z", "zoom": "z", "id": "id"}

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
class TileSet:
    """The tiles of one panorama. ``coarser`` are those of the next lower zoom, if the folder has them too."""

    id: str
    tiles: Mapping[Where, Path] = field(repr=False)
    columns: int
    rows: int
    coarser: Mapping[Where, Path] = field(default_factory=dict, repr=False)

    @property
    def missing(self) -> tuple[Where, ...]:
        """Return the parts of the grid without a file."""
        return tuple((x, y) for y in range(self.rows) for x in range(self.columns) if (x, y) not in self.tiles)


@dataclass(frozen=True, slots=True)
class _Found:
    id: str
    zoom: int | None
    x: int
    y: int
    path: Path
    sure: bool = True


def find_tiles(folder: Path, pattern: str | None = None, grid: Where | None = None) -> list[TileSet]:
    """Return the panoramas whose tiles lie in a folder and its subfolders, by id.

    Recognised are ``z/x/y.jpg``, ``x3_y1``, ``row1_col3`` and ``3_1``, each with any prefix that names the panorama, or
    in a folder of its name. In bare pairs such as ``3_1`` the larger range is the columns. Numbers begin at 0 or 1.
    Only the finest zoom is used.

    Args:
        folder: the folder.
        pattern: how they are named, such as ``{id}/{z}/{x}/{y}.jpg`` or ``{id}_{row}_{col}.png``.
        grid: columns and rows, if tiles at the edge are missing.

    Raises:
        BadInput: there are no tiles, or their order can't be determined.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give the one with the tiles")
    found = list(_by_pattern(folder, pattern) if pattern else _by_names(folder))
    if not found:
        naming = f"named {pattern}" if pattern else "named by column and row, such as 4/0/3.jpg or x0_y3.jpg"
        raise BadInput(f"{folder}: no tiles {naming} found; say how they are named with --pattern")
    together: dict[str, list[_Found]] = defaultdict(list)
    for one in found:
        together[one.id].append(one)
    return [_put_together(name or folder.resolve().name, together[name], grid) for name in sorted(together)]


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file() and not path.name.startswith("."):
            yield path, path.relative_to(folder).as_posix()


def _by_pattern(folder: Path, pattern: str) -> Iterator[_Found]:
    parts = re.split(r"\{(\w*)\}", pattern)
    wanted, names = "", []
    for number, part in enumerate(parts):
        if number % 2 == 0:
            wanted += re.escape(part)
            continue
        name = _PLACEHOLDERS.get(part)
        if name is None or name in names:
            raise BadInput(
                f"--pattern has {{{part[:20]}}}; it may hold {{id}}, {{z}}, {{x}} or {{col}}, {{y}} or {{row}}"
            )
        names.append(name)
        wanted += f"(?P<{name}>{'.+?' if name == 'id' else '[0-9]{1,4}'})"
    if not {"x", "y"} <= set(names):
        raise BadInput("--pattern must contain column and row, such as {id}/{x}_{y}.jpg")
    matching = re.compile(wanted)
    for path, name in _files(folder):
        if match := matching.fullmatch(name):
            groups = match.groupdict()
            zoom = None if groups.get("z") is None else int(groups["z"])
            yield _Found((groups.get("id") or "").strip("/"), zoom, int(groups["x"]), int(groups["y"]), path)


def _by_names(folder: Path) -> Iterator[_Found]:
    for path, name in _files(folder):
        parts = name.rpartition(".")[0].split("/")
        if len(parts) >= 3 and all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts[-3:]):
            zoom, x, y = (int(part) for part in parts[-3:])
            yield _Found("/".join(parts[:-3]), zoom, x, y, path)
            continue
        match = next((match for one in _NAMED if (match := one.fullmatch(parts[-1]))), None)
        if match:
            yield _Found(_id(parts, match["id"]), None, int(match["x"]), int(match["y"]), path)
        elif match := _PAIR.fullmatch(parts[-1]):
            yield _Found(_id(parts, match["id"]), None, int(match["a"]), int(match["b"]), path, sure=False)


def _id(parts: list[str], prefix: str) -> str:
    own = "" if prefix.lower() in ("", "tile", "tiles") else prefix
    return "/".join([*parts[:-1], *([own] if own else [])])


def _put_together(name: str, found: list[_Found], grid: Where | None) -> TileSet:
    zooms = sorted({one.zoom for one in found if one.zoom is not None})
    finest = [one for one in found if one.zoom == (zooms[-1] if zooms else None)]
    turned = not all(one.sure for one in found) and _rows_come_first(name, finest)
    # Some tools count from 1; then there is neither a column nor a row 0.
    first = 1 if min(one.x for one in finest) >= 1 and min(one.y for one in finest) >= 1 else 0
    tiles = _placed(finest, first, turned=turned)
    below = [one for one in found if zooms and one.zoom == zooms[-1] - 1]
    columns, rows = max(x for x, _ in tiles) + 1, max(y for _, y in tiles) + 1
    if grid is not None:
        if columns > grid[0] or rows > grid[1]:
            raise BadInput(f"{name}: has {columns} x {rows} tiles, more than --grid {grid[0]}x{grid[1]}")
        columns, rows = grid
    elif columns != 2 * rows and (columns, rows) not in KNOWN_GRIDS:
        columns, rows = next(
            ((wide, high) for wide, high in KNOWN_GRIDS if wide >= columns and high >= rows), (columns, rows)
        )
    return TileSet(name, tiles, columns, rows, _placed(below, first, turned=turned))


def _placed(found: Iterable[_Found], first: int, *, turned: bool) -> dict[Where, Path]:
    placed: dict[Where, Path] = {}
    for one in found:
        x, y = (one.y, one.x) if turned else (one.x, one.y)
        if (x - first, y - first) in placed:
            raise BadInput(f"{one.path}: another file has the same position; say how tiles are named with --pattern")
        placed[x - first, y - first] = one.path
    return placed


def _rows_come_first(name: str, found: list[_Found]) -> bool:
    across, down = max(one.x for one in found), max(one.y for one in found)
    if across == down:
        raise BadInput(
            f"{name}: can't tell which number is the column; write --pattern {{col}}_{{row}}.jpg or the like"
        )
    return down > across


@dataclass(frozen=True, slots=True)
class Stitched:
    """A panorama; which parts had no tile and are grey, and which were taken from a coarser zoom."""

    image: "Image"
    empty: tuple[Where, ...]
    coarser: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A panorama that was not assembled, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Panoramas:
    """The result: panoramas written, already there, and refused. ``unplaced`` are in no table of places."""

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
    """Assemble one panorama at a size.

    Tiles have one size, those at the right and lower edge may be smaller. If the grid is larger than the panorama, the
    black rest is cropped if twice as wide as high is left. A tile that is missing or can't be opened is replaced by
    the same part of the coarser zoom, or else by grey.

    Args:
        tiles: the file of each part.
        size: width and height of the result.
        full: the size in pixels that the tiles cover, if it can't be determined.
        most_missing: the share of tiles that may be grey.

    Raises:
        BadInput: too many tiles are missing, their sizes do not fit, or the whole is not twice as wide as high.
    """
    from PIL import Image

    if tiles.columns * tiles.rows > _MOST_TILES:
        raise BadInput(
            f"{tiles.id}: {tiles.columns} x {tiles.rows} tiles, more than {_MOST_TILES:,}; look for a file "
            "whose name is not a column and row, or say how tiles are named with --pattern"
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
    # Lanczos uses three pixels of the result on each side.
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
    """Assemble many panoramas into a folder, and write a data set table if their places are known.

    An existing panorama is kept, unless ``overwrite``. One that fails is named and the others continue.

    Raises:
        BadInput: the folder can't be written.
    """
    todo = list(sets)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: can't be created: {error.strerror or error}") from error
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
    """Write a panorama as JPEG with panorama metadata, atomically.

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
    """All tiles side by side, opened when their rows are requested and closed when rows below are."""

    def __init__(self, tiles: TileSet) -> None:
        self._tiles = tiles
        self._open: dict[Where, Image | None] = {}
        self.empty: set[Where] = set()
        self.coarser: set[Where] = set()
        self.side = self._side()

    def _side(self) -> Where:
        """Return the size of a whole tile: that of the first not at an edge, or else of the largest."""
        inner = sorted(
            self._tiles.tiles, key=lambda at: (at[0] == self._tiles.columns - 1) + (at[1] == self._tiles.rows - 1)
        )
        for at in inner:
            image = self._opened(at)
            if image is not None:
                return image.size
        raise BadInput(f"{self._tiles.id}: none of its tiles can be opened")

    def measured(self) -> Where:
        """Return the panorama's size: without black at the right and below, if twice as wide as high is left."""
        columns, rows, (wide, high) = self._tiles.columns, self._tiles.rows, self.side
        right = [self._edge((columns - 1, y), 0) for y in range(rows)]
        below = [self._edge((x, rows - 1), 1) for x in range(columns)]
        width, height = (columns - 1) * wide + max(right), (rows - 1) * high + max(below)
        if abs(width - 2 * height) <= 0.015 * width:
            return width, height
        return columns * wide, rows * high

    def _edge(self, at: Where, axis: int) -> int:
        """Return how many columns, or rows, of a tile at the edge are not black."""
        image = self._opened(at)
        if image is None:
            return self.side[axis]
        shown = np.asarray(image.convert("RGB")).max(axis=2) > _DARK
        seen = np.flatnonzero(shown.any(axis=axis))
        return int(seen[-1]) + 1 if seen.size else 0

    def rows(self, first: int, last: int, width: int) -> "Image":
        """Return some rows of pixels of the whole."""
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
    """Open a tile; None if it is missing or damaged."""
    if path is None:
        return None
    try:
        return open_photo(path).photo.image
    except BadInput:
        return None
