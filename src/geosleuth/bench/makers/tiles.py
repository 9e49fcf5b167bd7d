"""Tiles of panoramas: which file is which part of which panorama, by their names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from geosleuth.errors import BadInput

ENDINGS: Final = frozenset({".jpg", ".jpeg", ".png", ".webp"})
KNOWN_GRIDS: Final = ((2, 1), (4, 2), (7, 4), (8, 4), (13, 7), (16, 8), (26, 13), (32, 16))
"""Columns and rows that street-level panoramas are commonly cut into, at tiles of 512 pixels."""

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


@dataclass(frozen=True, slots=True)
class TileSet:
    """The tiles of one panorama. ``coarser`` are those of the zoom below, where the folder has them too."""

    id: str
    tiles: Mapping[Where, Path] = field(repr=False)
    columns: int
    rows: int
    coarser: Mapping[Where, Path] = field(default_factory=dict, repr=False)

    @property
    def missing(self) -> tuple[Where, ...]:
        """Parts of the grid that no file is named for."""
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
    """The panoramas whose tiles lie in a folder and those under it, by id.

    Understood are ``z/x/y.jpg``, ``x3_y1``, ``row1_col3`` and ``3_1``, each with anything in front that names the
    panorama, or in a folder of its name. In bare pairs such as ``3_1`` the numbers that go farther are the columns.
    Numbers begin at 0 or 1. Only the finest zoom is taken.

    Args:
        folder: where they are.
        pattern: how they are named, such as ``{id}/{z}/{x}/{y}.jpg`` or ``{id}_{row}_{col}.png``.
        grid: columns and rows, where they can't be told because tiles at the edge are missing.

    Raises:
        BadInput: there are no tiles, or it can't be told which is which.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; give the one that holds the tiles")
    found = list(_by_pattern(folder, pattern) if pattern else _by_names(folder))
    if not found:
        told = f"named {pattern}" if pattern else "named by column and row, such as 4/0/3.jpg or x0_y3.jpg"
        raise BadInput(f"{folder}: no tiles {told} are in it; say how they are named with --pattern")
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
        raise BadInput("--pattern must say where column and row stand, such as {id}/{x}_{y}.jpg")
    matching = re.compile(wanted)
    for path, name in _files(folder):
        if match := matching.fullmatch(name):
            told = match.groupdict()
            zoom = None if told.get("z") is None else int(told["z"])
            yield _Found((told.get("id") or "").strip("/"), zoom, int(told["x"]), int(told["y"]), path)


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
            raise BadInput(f"{name}: has {columns} x {rows} tiles, more than --grid {grid[0]}x{grid[1]} says")
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
            raise BadInput(
                f"{one.path}: another file is named for the same part; say how tiles are named with --pattern"
            )
        placed[x - first, y - first] = one.path
    return placed


def _rows_come_first(name: str, found: list[_Found]) -> bool:
    across, down = max(one.x for one in found), max(one.y for one in found)
    if across == down:
        raise BadInput(
            f"{name}: which number is the column can't be told; write --pattern {{col}}_{{row}}.jpg or the like"
        )
    return down > across
