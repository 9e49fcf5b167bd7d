"""From a row of some table to an item: which names mean the photo, the point, the places."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.score import Truth
from geosleuth.text import one_line

from .boxes import read_boxes
from .faults import Entry, Fault
from .model import Item, Picture
from .shelf import Shelf
from .tables import Row, header_of, read_rows

# A longer text is a caption or a chain of thought, nothing to slice results by.
_LONGEST_FIELD = 200
_LONGEST_NAME = 200
_DEEPEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns mean what, best first; case, and whether words are joined by - or _, does not matter.

    ``nested`` are objects inside a row whose keys count as if they stood in the row itself. ``left_out`` are columns
    that are no field to slice by.
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

    def known(self) -> frozenset[str]:
        """Every name that is no field to slice by."""
        roles = (self.image, self.id, self.lat, self.lon, self.country, self.region, self.city, self.boxes)
        return frozenset(folded(name) for names in (*roles, self.nested, self.left_out) for name in names)


USUAL = Columns()


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A column's name as it is compared."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def table_entries(
    path: Path,
    shelf: Shelf,
    columns: Columns = USUAL,
    *,
    extra: Mapping[str, str] | None = None,
    change: Callable[[Row], Row] | None = None,
) -> Iterator[Entry]:
    """The items of a table whose photos lie on a shelf.

    Args:
        path: the table.
        shelf: where its photos are.
        columns: what its columns are called.
        extra: fields that every item gets.
        change: what is done to each row before it is read.
    """
    known = columns.known()
    for number, row in read_rows(path):
        if isinstance(row, Fault):
            yield row
        else:
            changed = row if change is None else change(row)
            yield entry_of(changed, f"{path}:{number}", shelf.picture, columns, known, extra=extra)


def entry_of(
    row: Row,
    where: str,
    picture: Callable[[str], Picture],
    columns: Columns,
    known: frozenset[str],
    *,
    extra: Mapping[str, str] | None = None,
    unnamed: str | None = None,
) -> Entry:
    """One row as an item, or what is wrong with it; ``unnamed`` is the id of a row that names neither photo nor id."""
    cells = cells_of(row, columns)
    own = text_of(pick(cells, columns.id))
    name = text_of(pick(cells, columns.image)) or own or unnamed
    if name is None:
        return Fault(where, f"no photo is named; looked for {', '.join(columns.image[:6])} …")
    try:
        return Item(
            id=clean_text(own or name),
            picture=picture(name),
            truth=truth_of(cells, columns),
            fields={**fields_of(cells, known), **(extra or {})},
            boxes=read_boxes(pick(cells, columns.boxes)),
        )
    except (ValueError, TypeError) as error:
        return Fault(where, " ".join(str(error).split())[:300])


def truth_of(cells: Mapping[str, Any], columns: Columns) -> Truth:
    """Where the photo really was.

    Raises:
        ValueError: there is no point, or none on Earth.
    """
    lat = degrees(pick(cells, columns.lat), columns.lat[0])
    lon = degrees(pick(cells, columns.lon), columns.lon[0])
    names = [text_of(pick(cells, group)) for group in (columns.country, columns.region, columns.city)]
    return Truth(LatLon(lat, lon), *(None if name is None else clean_text(name) for name in names))


def degrees(value: object, name: str) -> float:
    """A coordinate, which some sets write as text.

    Raises:
        ValueError: it is missing or no number.
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
    """The first of the named cells that is not empty."""
    for name in names:
        value = cells.get(folded(name))
        if value is not None and value not in ("", []):
            return value
    return None


def text_of(value: object) -> str | None:
    """A cell as a name; None where it is no plain one. Of a list with one entry, that entry."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("path") or value.get("file_name")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def clean_text(text: str) -> str:
    """A name as it goes into results: on one line, without control characters, not endless, fit for UTF-8."""
    line = text if text.isprintable() else one_line(text)
    return line[:_LONGEST_NAME].encode("utf-8", "replace").decode()


def fields_of(cells: Mapping[str, Any], known: frozenset[str]) -> dict[str, str]:
    """What results can be sliced by: short plain values of columns that mean nothing else."""
    fields = {}
    for name, value in cells.items():
        if name in known or not isinstance(value, str | int | float | bool) or not name.isprintable():
            continue
        text = str(value).strip()
        if text and len(text) <= _LONGEST_FIELD and text.isprintable():
            fields[name] = text
    return fields


def cells_of(row: Row, columns: Columns) -> dict[str, Any]:
    """A row by its folded names, with what nested objects hold as if it stood in the row; the row itself goes first."""
    cells: dict[str, Any] = {}
    inner: list[Mapping[str, Any]] = [row]
    for depth in range(_DEEPEST):
        outer, inner = inner, []
        for part in outer:
            for name, value in part.items():
                key = folded(str(name))
                # Inside an object that is known to hold the truth, any further one may hold a part of it.
                opened = _opened(value) if depth or key in columns.nested else None
                if opened is not None:
                    inner.append(opened)
                else:
                    cells.setdefault(key, value)
    return cells


def _opened(value: object) -> Mapping[str, Any] | None:
    """An object inside a row, also where it is written as text; a pair of numbers is latitude and longitude."""
    if isinstance(value, str) and value[:1] in "{[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value):
        return {"lat": value[0], "lon": value[1]}
    return value if isinstance(value, dict) else None


def check_header(path: Path, columns: Columns = USUAL) -> None:
    """Whether a table's first row names a photo and a point; asked when a set is opened.

    Raises:
        BadInput: it does not; the message says what was looked for and what is there.
    """
    header = header_of(path)
    first = next(iter(read_rows(path)), None)
    if first is None:
        raise BadInput(f"{path}: the table is empty")
    if isinstance(first[1], Fault):
        raise BadInput(f"{first[1].where}: {first[1].reason}")
    present = set(cells_of(first[1], columns))
    roles = {"a photo": columns.image + columns.id, "lat": columns.lat, "lon": columns.lon}
    for what, names in roles.items():
        if not present.intersection(folded(name) for name in names):
            shown = ", ".join(str(name)[:40] for name in header[:20])
            raise BadInput(f"{path}: no column for {what}: looked for {', '.join(names)}; it has {shown or 'none'}")
