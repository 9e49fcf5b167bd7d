"""Panoramas put together from tiles."""

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically

from .finished import FinishedSet, make_each
from .photo_tables import TablePlace

if TYPE_CHECKING:
    from PIL.Image import Image

ENDINGS: Final = frozenset({".jpg", ".jpeg", ".png", ".webp"})
# Default tile names, without their file extensions.
PATTERNS: Final = ("{id}/{z}/{x}/{y}.", "{z}/{x}/{y}.", "{id}_x{x}_y{y}.", "{id}/{x}_{y}.", "{id}_{x}_{y}.", "{x}_{y}.")

Where = tuple[int, int]
"""Column and row, from the upper left."""

_PLACEHOLDERS: Final = {"x": "x", "col": "x", "y": "y", "row": "y", "z": "z", "zoom": "z", "id": "id"}
SIZE: Final = (4096, 2048)
TABLE: Final = "panoramas.csv"
# Maximum size in bytes of a decoded panorama at the size of its tiles.
MAX_BYTES: Final = 1 << 30

_QUALITY: Final = 92
_FILLED: Final = (127, 127, 127)
_DARK: Final = 24
_NOT_TWICE: Final = 0.015
_XMP: Final = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
    'GPano:ProjectionType="equirectangular" GPano:FullPanoWidthPixels="{0}" GPano:FullPanoHeightPixels="{1}" '
    'GPano:CroppedAreaImageWidthPixels="{0}" GPano:CroppedAreaImageHeightPixels="{1}" '
    'GPano:CroppedAreaLeftPixels="0" GPano:CroppedAreaTopPixels="0"/></rdf:RDF></x:xmpmeta>'
)


@dataclass(frozen=True, slots=True)
class TileSet:
    """The tiles of one panorama."""

    id: str
    tiles: Mapping[Where, Path] = field(repr=False)
    columns: int
    rows: int

    @property
    def missing(self) -> tuple[Where, ...]:
        """Return the parts of the grid without a file."""
        return tuple((x, y) for y in range(self.rows) for x in range(self.columns) if (x, y) not in self.tiles)


def find_tiles(folder: Path, pattern: str | None = None, grid: Where | None = None) -> list[TileSet]:
    """Return the panoramas whose tiles lie in a folder and its subfolders, by id.

    Numbers begin at 0 or 1. Only the finest zoom is used.

    Args:
        folder: the folder.
        pattern: how they are named, such as ``{id}/{z}/{x}/{y}.jpg`` or ``{id}_{row}_{col}.png``; one of `PATTERNS`
            if left out.
        grid: columns and rows, if tiles at the edge are missing.

    Raises:
        BadInput: there are no tiles, or two are the same part.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give the one with the tiles")
    matching = [_matching(item) for item in ([pattern] if pattern else PATTERNS)]
    together: dict[str, dict[int, dict[Where, Path]]] = defaultdict(lambda: defaultdict(dict))
    for path, name in _files(folder):
        match = next((match for item in matching if (match := item.fullmatch(name))), None)
        if match is not None:
            groups = match.groupdict()
            placed = together[(groups.get("id") or "").strip("/")][int(groups.get("z") or 0)]
            if placed.setdefault((int(groups["x"]), int(groups["y"])), path) != path:
                raise BadInput(f"{path}: another file has the same position; say how tiles are named with --pattern")
    if not together:
        naming = f"named {pattern}" if pattern else "named by column and row, such as 4/0/3.jpg or x0_y3.jpg"
        raise BadInput(f"{folder}: no tiles {naming} found; say how they are named with --pattern")
    found = sorted((name or folder.resolve().name, zooms[max(zooms)]) for name, zooms in together.items())
    return [_put_together(name, tiles, grid) for name, tiles in found]


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file() and not path.name.startswith("."):
            yield path, path.relative_to(folder).as_posix()


def _matching(pattern: str) -> re.Pattern[str]:
    wanted, names = "", set[str]()
    for number, part in enumerate(re.split(r"\{(\w*)\}", pattern)):
        if number % 2 == 0:
            wanted += re.escape(part)
            continue
        name = _PLACEHOLDERS.get(part)
        if name is None or name in names:
            raise BadInput(
                f"--pattern has {{{part[:20]}}}; it may hold {{id}}, {{z}}, {{x}} or {{col}}, {{y}} or {{row}}"
            )
        names.add(name)
        wanted += f"(?P<{name}>{'.+?' if name == 'id' else '[0-9]{1,4}'})"
    if not {"x", "y"} <= names:
        raise BadInput("--pattern must contain column and row, such as {id}/{x}_{y}.jpg")
    return re.compile(wanted + ("[a-z]+" if pattern.endswith(".") else ""), re.IGNORECASE)


def _put_together(name: str, tiles: Mapping[Where, Path], grid: Where | None) -> TileSet:
    # Some tools count from 1; then there is neither a column nor a row 0.
    first = 1 if all(min(where) >= 1 for where in tiles) else 0
    tiles = {(x - first, y - first): path for (x, y), path in tiles.items()}
    columns, rows = max(x for x, _ in tiles) + 1, max(y for _, y in tiles) + 1
    if grid is not None and (columns > grid[0] or rows > grid[1]):
        raise BadInput(f"{name}: has {columns} x {rows} tiles, more than --grid {grid[0]}x{grid[1]}")
    return TileSet(name, tiles, *(grid or (columns, rows)))


def stitch(tiles: TileSet, size: Where = SIZE, *, most_missing: float = 0.0) -> "Image":
    """Assemble one panorama at a size.

    Tiles have one size, those at the right and lower edge may be smaller. If the grid is larger than the panorama, the
    black rest is cropped if twice as wide as high is left. A tile that is missing or can't be opened is grey.

    Args:
        tiles: the file of each part.
        size: width and height of the result.
        most_missing: the share of tiles that may be grey.

    Raises:
        BadInput: too many tiles are missing or pixels, or the whole is not twice as wide as high.
    """
    from PIL import Image

    first = next((image for path in tiles.tiles.values() if (image := _open_tile(path)) is not None), None)
    if first is None:
        raise BadInput(f"{tiles.id}: none of its tiles can be opened")
    wide, high = first.size
    width, height = tiles.columns * wide, tiles.rows * high
    if 3 * width * height > MAX_BYTES:
        raise BadInput(f"{tiles.id}: {width} x {height} pixels are too many; take a coarser zoom")
    whole = Image.new("RGB", (width, height), _FILLED)
    right = bottom = 0
    empty = []
    for y in range(tiles.rows):
        for x in range(tiles.columns):
            if (image := _open_tile(tiles.tiles.get((x, y)))) is None:
                empty.append((x, y))
                continue
            whole.paste(image, (x * wide, y * high))
            right, bottom = max(right, x * wide + image.width), max(bottom, y * high + image.height)
    if len(empty) > most_missing * tiles.columns * tiles.rows:
        named = ", ".join(f"column {x} row {y}" for x, y in empty[:3])
        raise BadInput(
            f"{tiles.id}: {len(empty)} of {tiles.columns * tiles.rows} tiles are missing ({named}); get them, or allow "
            "grey ones with --missing SHARE"
        )
    box = _without_black(whole, (width, height) if empty else (right, bottom))
    if abs(box[0] - 2 * box[1]) > _NOT_TWICE * box[0]:
        raise BadInput(
            f"{tiles.id}: {box[0]} x {box[1]} pixels are not twice as wide as high; give --grid where edge tiles "
            "are missing"
        )
    return whole.resize(size, Image.Resampling.LANCZOS, box=(0, 0, *box))


def _without_black(whole: "Image", size: Where) -> Where:
    """Return the size without black margins right and below, if the rest is twice as wide as high."""
    shown = np.asarray(whole.crop((0, 0, *size))).max(axis=2) > _DARK
    columns, rows = np.flatnonzero(shown.any(axis=0)), np.flatnonzero(shown.any(axis=1))
    if not len(columns):
        return size
    width, height = int(columns[-1]) + 1, int(rows[-1]) + 1
    return (width, height) if abs(width - 2 * height) <= _NOT_TWICE * width else size


def make_panoramas(
    sets: Iterable[TileSet],
    out: Path,
    *,
    places: Mapping[str, TablePlace] | None = None,
    size: Where = SIZE,
    most_missing: float = 0.0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> FinishedSet:
    """Assemble many panoramas into a folder, and write a data set table if their places are known.

    Raises:
        BadInput: the folder can't be written.
    """
    tiles = {item.id: item for item in sets}

    def make(name: str, path: Path) -> dict[str, str]:
        write_panorama(stitch(tiles[name], size, most_missing=most_missing), path)
        grid = f"{tiles[name].columns}x{tiles[name].rows}"
        return {"tiles": grid, "tiles_missing": str(len(tiles[name].missing))}

    return make_each(tiles, make, out / TABLE, ".jpg", places or {}, overwrite=overwrite, progress=progress)


def write_panorama(image: "Image", path: Path) -> None:
    """Write a panorama as JPEG with panorama metadata, atomically.

    Raises:
        BadInput: it can't be written.
    """
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY, xmp=_XMP.format(*image.size).encode())
    write_bytes_atomically(path, stream.getvalue())


def _open_tile(path: Path | None) -> "Image | None":
    try:
        return None if path is None else open_photo(path).photo.image
    except BadInput:
        return None
