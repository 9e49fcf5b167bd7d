r"""Read tables as rows, and rows as items: which columns mean the photo, the point, the places.

An unreadable row is a `Fault` that names its line; JSONL is split on ``\n`` only. Town centres are those of
GeoNames' cities of 15,000 people and more: good for thresholds of 25 km and up, and for nothing finer.
"""

import csv
import json
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import text_lines
from geosleuth.lab.score import Truth
from geosleuth.names import fold
from geosleuth.names.country_names import City, cities_by_country, us_states
from geosleuth.names.folding import fold_once
from geosleuth.support.errors import BadInput
from geosleuth.support.files import MAX_JSON_BYTES, MAX_LINE_BYTES
from geosleuth.support.text.safe import one_line

from .archives import Shelf
from .cards import CARDS
from .dataset import DataSet, DatasetPicture, Entry, Fault, Item, Strict, read_boxes

Row = Mapping[str, Any]
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")

# A longer text is a caption or a chain of thought, not something to slice results by.
_LONGEST_FIELD = 200
_LONGEST_NAME = 200
_DEEPEST = 4
_MAX_WORDS = 4


def read_rows(path: Path) -> Iterator[tuple[int, Row | Fault]]:
    """Yield a table's rows with their line numbers (in a JSON list, the entry's number).

    Raises:
        BadInput: the file is missing, of another kind, or too damaged to separate rows.
    """
    ending = path.suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise BadInput(f"{path}: not a table; give a file that ends in {', '.join(TABLE_ENDINGS)}")
    try:
        # A pipe or a device may never end, and opening one may block: check first.
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path}: not a plain file")
        with path.open("rb") as stream:
            if ending in (".csv", ".tsv"):
                yield from _csv(path, stream)
            elif ending == ".json":
                yield from _json(path, stream)
            else:
                yield from _jsonl(path, stream)
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def read_header(path: Path) -> list[str]:
    """Return the names in a table's first row; none if it has no readable row."""
    first = next(iter(read_rows(path)), None)
    return list(first[1]) if first is not None and not isinstance(first[1], Fault) else []


def _csv(path: Path, stream: BinaryIO) -> Iterator[tuple[int, Row | Fault]]:
    csv.field_size_limit(min(sys.maxsize, MAX_LINE_BYTES))
    first = stream.readline(MAX_LINE_BYTES).decode("utf-8", "replace")
    stream.seek(0)
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(text_lines(path, stream.readline, "row of a table"), delimiter=delimiter)
    try:
        names = [name.strip() for name in next(rows, [])]
        known = [name for name in names if name]
        if twice := sorted(name for name in set(known) if known.count(name) > 1):
            raise BadInput(f"{path}: the header names {twice[0][:40]!r} more than once")
        for cells in rows:
            if not cells:
                continue
            if len(cells) != len(names):
                reason = f"{len(cells)} cells where the header names {len(names)}"
                yield rows.line_num, Fault(f"{path}:{rows.line_num}", reason)
                continue
            # Tables written with an index have an unnamed first column.
            yield rows.line_num, {name: cell for name, cell in zip(names, cells, strict=True) if name}
    except csv.Error as error:
        raise BadInput(f"{path}:{rows.line_num}: not CSV: {error}") from error


def _jsonl(path: Path, stream: BinaryIO) -> Iterator[tuple[int, Row | Fault]]:
    for number, line in enumerate(text_lines(path, stream.readline, "row of a table"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, Fault(f"{path}:{number}", f"not JSON ({str(error)[:80]}); rows are one JSON object a line")
            continue
        yield number, _check_row(row, f"{path}:{number}")


def _json(path: Path, stream: BinaryIO) -> Iterator[tuple[int, Row | Fault]]:
    data = stream.read(MAX_JSON_BYTES + 1)
    if len(data) > MAX_JSON_BYTES:
        raise BadInput(f"{path}: a JSON list of more than 512 MiB; write one object per line and name it .jsonl")
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON ({str(error)[:80]})") from error
    if isinstance(rows, dict):
        lists = [value for value in rows.values() if isinstance(value, list) and value]
        if len(lists) == 1:
            rows = lists[0]
        elif rows and all(isinstance(value, dict) for value in rows.values()):
            rows = [{"id": name, **value} for name, value in rows.items()]
        else:
            rows = [rows]
    if not isinstance(rows, list):
        raise BadInput(f"{path}: a JSON table must be a list of objects")
    for number, row in enumerate(rows, 1):
        yield number, _check_row(row, f"{path}, entry {number}")


def _check_row(row: object, where: str) -> Row | Fault:
    return row if isinstance(row, dict) else Fault(where, "a row is a JSON object")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """Column names by meaning, best first; case and separators (- or _) are ignored.

    ``nested`` are objects inside a row whose keys count as the row's own. ``left_out`` are columns that are not fields
    to slice by.
    """

    image: tuple[str, ...] = (
        "image", "image_path", "img_path", "path", "file", "file_name", "filename", "image_file", "image_name", "img",
        "photo", "images", "img_id",
    )  # fmt: skip
    id: tuple[str, ...] = ("id", "image_id", "img_id", "uid", "uuid", "index", "key")
    lat: tuple[str, ...] = ("lat", "latitude", "true_lat", "gt_lat")
    lon: tuple[str, ...] = ("lon", "lng", "long", "longitude", "true_lon", "gt_lon", "gt_lng")
    country: tuple[str, ...] = ("country", "true_country", "country_name", "country_code")
    region: tuple[str, ...] = ("region", "true_region", "province_or_state", "state", "province", "admin1")
    city: tuple[str, ...] = ("city", "true_city", "town", "city_name")
    boxes: tuple[str, ...] = ("boxes",)
    nested: tuple[str, ...] = ("truth", "ground_truth", "location", "coordinates", "gps", "metadata", "meta")
    left_out: tuple[str, ...] = ()

    def list_names(self) -> frozenset[str]:
        """Return every name that is not a field to slice by."""
        roles = (self.image, self.id, self.lat, self.lon, self.country, self.region, self.city, self.boxes)
        return frozenset(fold_column(name) for names in (*roles, self.nested, self.left_out) for name in names)


USUAL = TableColumns()


@lru_cache(maxsize=4096)
def fold_column(name: str) -> str:
    """Return a column's name for comparison."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def table_entries(
    path: Path,
    shelf: Shelf,
    columns: TableColumns = USUAL,
    *,
    extra: Mapping[str, str] | None = None,
    change: Callable[[Row], Row] | None = None,
) -> Iterator[Entry]:
    """Yield the items of a table whose photos lie on a shelf.

    Args:
        path: the table.
        shelf: the location of its photos.
        columns: the names of its columns.
        extra: fields that every item gets.
        change: is applied to each row before it is read.
    """
    known = columns.list_names()
    for number, row in read_rows(path):
        if isinstance(row, Fault):
            yield row
        else:
            changed = row if change is None else change(row)
            yield build_entry(changed, f"{path}:{number}", shelf.picture, columns, known, extra=extra)


def build_entry(
    row: Row,
    where: str,
    picture: Callable[[str], DatasetPicture],
    columns: TableColumns,
    known: frozenset[str],
    *,
    extra: Mapping[str, str] | None = None,
    unnamed: str | None = None,
) -> Entry:
    """Return a row as an item, or its fault; ``unnamed`` is the id of a row with neither photo nor id."""
    cells = flatten_row(row, columns)
    own = parse_text(pick(cells, columns.id))
    name = parse_text(pick(cells, columns.image)) or own or unnamed
    if name is None:
        return Fault(where, f"no photo is named; looked for {', '.join(columns.image[:6])} …")
    try:
        return Item(
            id=clean_text(own or name),
            picture=picture(name),
            truth=parse_truth(cells, columns),
            fields={**collect_fields(cells, known), **(extra or {})},
            boxes=read_boxes(pick(cells, columns.boxes)),
        )
    except (ValueError, TypeError) as error:
        return Fault(where, " ".join(str(error).split())[:300])


def parse_truth(cells: Mapping[str, Any], columns: TableColumns) -> Truth:
    """Return the true place of the photo.

    Raises:
        ValueError: there is no point, or none on Earth.
    """
    lat = degrees(pick(cells, columns.lat), columns.lat[0])
    lon = degrees(pick(cells, columns.lon), columns.lon[0])
    names = [parse_text(pick(cells, group)) for group in (columns.country, columns.region, columns.city)]
    return Truth(LatLon(lat, lon), *(None if name is None else clean_text(name) for name in names))


def degrees(value: object, name: str) -> float:
    """Return a coordinate, which some sets write as text.

    Raises:
        ValueError: it is missing or not a number.
    """
    if value is None:
        raise ValueError(f"no truth: {name} is missing or empty")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"no truth: {name} must be a number")  # noqa: TRY004  -- one kind of refusal for all rows
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"no truth: {name} {str(value)[:40]!r} is not a number") from None


def pick(cells: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first of the named cells that is not empty."""
    for name in names:
        value = cells.get(fold_column(name))
        if value is not None and value not in ("", []):
            return value
    return None


def parse_text(value: object) -> str | None:
    """Return a cell as a name; None if it is not a plain one. Of a list with one entry, that entry."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("path") or value.get("file_name")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def clean_text(text: str) -> str:
    """Return a name for results: on one line, without control characters, cut to length, valid UTF-8."""
    line = text if text.isprintable() else one_line(text)
    return line[:_LONGEST_NAME].encode("utf-8", "replace").decode()


def collect_fields(cells: Mapping[str, Any], known: frozenset[str]) -> dict[str, str]:
    """Return the fields to slice by: short plain values of the remaining columns."""
    fields = {}
    for name, value in cells.items():
        if name in known or not isinstance(value, str | int | float | bool) or not name.isprintable():
            continue
        text = str(value).strip()
        if text and len(text) <= _LONGEST_FIELD and text.isprintable():
            fields[name] = text
    return fields


def flatten_row(row: Row, columns: TableColumns) -> dict[str, Any]:
    """Return a row by folded names, with nested objects flattened; the row itself takes precedence."""
    cells: dict[str, Any] = {}
    inner: list[Mapping[str, Any]] = [row]
    for depth in range(_DEEPEST):
        outer, inner = inner, []
        for part in outer:
            for name, value in part.items():
                key = fold_column(str(name))
                # Inside an object that holds the truth, further objects may hold parts of it.
                opened = _parse_object(value) if depth or key in columns.nested else None
                if opened is not None:
                    inner.append(opened)
                else:
                    cells.setdefault(key, value)
    return cells


def _parse_object(value: object) -> Mapping[str, Any] | None:
    """Return an object inside a row, also if encoded as text; a pair of numbers is latitude and longitude."""
    if isinstance(value, str) and value[:1] in "{[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value):
        return {"lat": value[0], "lon": value[1]}
    return value if isinstance(value, dict) else None


def check_header(path: Path, columns: TableColumns = USUAL) -> None:
    """Check that a table's first row names a photo and a point; called when a set is opened.

    Raises:
        BadInput: it does not; the message says what was looked for and what was found.
    """
    header = read_header(path)
    first = next(iter(read_rows(path)), None)
    if first is None:
        raise BadInput(f"{path}: the table is empty")
    if isinstance(first[1], Fault):
        raise BadInput(f"{first[1].where}: {first[1].reason}")
    present = set(flatten_row(first[1], columns))
    roles = {"a photo": columns.image + columns.id, "lat": columns.lat, "lon": columns.lon}
    for what, names in roles.items():
        if not present.intersection(fold_column(name) for name in names):
            shown = ", ".join(str(name)[:40] for name in header[:20])
            raise BadInput(f"{path}: no column for {what}: looked for {', '.join(names)}; it has {shown or 'none'}")


def open_table(path: Path, photos: Path | None = None) -> DataSet:
    """Open a CSV, TSV, JSONL or JSON table; photos are named by their path from its folder, or from ``photos``.

    Raises:
        BadInput: it is not a table, or its columns name no photo or no point.
    """
    if path.is_dir():
        tables = sorted(found for found in path.iterdir() if found.suffix.lower() in TABLE_ENDINGS)
        if len(tables) != 1:
            names = ", ".join(found.name for found in tables[:6]) or "none"
            raise BadInput(f"{path}: not a single table ({names}); give the table itself")
        path = tables[0]
    check_header(path)
    shelf = Shelf(photos or path.parent, ("", "images", "image", "photos", "img"))
    return DataSet(CARDS["table"], path.parent, Strict(lambda: table_entries(path, shelf)))


def us_address(address: str) -> tuple[str, str, LatLon] | None:
    """Return city, state and the city's centre of an address such as ``341 Southwest 10th Avenue Portland OR``."""
    # The atlas takes half a second to import, and only this set needs it.
    from geosleuth.atlas.borders import Borders

    words = address.replace(",", " ").split()
    while words and words[-1].replace("-", "").isdigit():
        words.pop()
    state = us_states().get(words[-1].upper()) if words else None
    if state is None:
        return None
    for count in range(min(_MAX_WORDS, len(words) - 1), 0, -1):
        name = " ".join(words[-1 - count : -1])
        for town in _load_country_towns("US").get(fold(name), ()):
            point = LatLon(town.lat, town.lon)
            region = Borders.load().find_region(point)
            if region is not None and fold(region.name) == fold(state):
                return name, state, point
    return None


@cache
def _load_country_towns(code: str) -> dict[str, tuple[City, ...]]:
    """Return the towns of a country by folded name, largest first."""
    by_name: dict[str, list[City]] = {}
    for city in cities_by_country().get(code, ()):
        for name in {fold_once(name) for name in city.names}:
            by_name.setdefault(name, []).append(city)
    return {name: tuple(sorted(cities, key=lambda city: -city.population)) for name, cities in by_name.items()}
