"""Tables of photos that can be opened as a data set, and tables of places by name or id."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets.dataset import OWN_COLUMNS, Fault, Item, own_columns
from geosleuth.lab.bench.sets.table_rows import (
    USUAL,
    collect_fields,
    fold_column,
    parse_text,
    parse_truth,
    pick,
    read_rows,
)
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from geosleuth.support.files import link_or_copy, replacing, write_bytes_atomically

ENDINGS = (".csv", ".jsonl")
_NAME_LENGTH = 24
_MAGIC = {b"\xff\xd8": ".jpg", b"\x89P": ".png", b"RI": ".webp", b"II": ".tif", b"MM": ".tif"}

_NAMES = ("id", "name", "poi", "city", "panorama", "pano_id", "panoid", "key")
_TITLES = ("name", "title", "poi", "city")


class TableWriter(Protocol):
    """Adds photos to a table, one by one, in order."""

    def __call__(self, item: Item, more: Mapping[str, str] = {}) -> None:
        """Add a photo; ``more`` are further fields, which override its own."""
        ...


def check_table(path: Path, *inputs: Path) -> None:
    """Check that a table can be written there, before the work begins.

    Raises:
        BadInput: an unknown extension, a missing folder, or a file that is an input.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{path}: not a table; give a name that ends in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    if os.path.realpath(path) in {os.path.realpath(item) for item in inputs}:
        raise BadInput(f"{path}: is an input of this command; give the table another name")


@contextmanager
def writing_table(path: Path, fields: Iterable[str] = ()) -> Iterator[TableWriter]:
    """Write a table: it appears when the block ends normally, and is removed otherwise.

    A table names photos below its own folder, and no others. So photos from elsewhere are linked (hard links; copies if
    the disk has none) into the folder ``NAME_photos`` beside it, and those in archives are extracted there.

    Args:
        path: the table; the extension selects CSV or JSONL.
        fields: the names of all fields, in order. Optional for JSONL; CSV has a header, and drops others.
    """
    photos = path.with_name(f"{path.stem}_photos")
    columns = [name for name in dict.fromkeys(fields) if name not in OWN_COLUMNS]
    with replacing(path) as neighbour, neighbour.open("w", encoding="utf-8", newline="") as stream:
        put = _csv_writer(stream, columns) if path.suffix.lower() == ".csv" else _lines_writer(stream)

        def write(item: Item, more: Mapping[str, str] = {}) -> None:
            values = {name: value for name, value in {**item.fields, **more}.items() if name not in OWN_COLUMNS}
            put(own_columns(item, _place_photo(item, path.parent, photos)), values)

        yield write
        stream.flush()
        os.fsync(stream.fileno())


def field_names(items: Iterable[Item], *more: str) -> list[str]:
    """Return the names of all fields of some photos, in order of appearance, followed by ``more``."""
    names: dict[str, None] = {}
    for item in items:
        names.update(dict.fromkeys(item.fields))
    return [name for name in dict.fromkeys((*names, *more)) if name not in OWN_COLUMNS]


def _csv_writer(stream: IO[str], columns: list[str]) -> "_Put":
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow((*OWN_COLUMNS, *columns))

    def put(own: Mapping[str, object], values: Mapping[str, str]) -> None:
        boxes = json.dumps(own["boxes"], ensure_ascii=False) if "boxes" in own else ""
        cells = [_format_cell(own.get(name, "")) for name in OWN_COLUMNS[:-1]]
        rows.writerow((*cells, boxes, *(values.get(name, "") for name in columns)))

    return put


def _lines_writer(stream: IO[str]) -> "_Put":
    def put(own: Mapping[str, object], values: Mapping[str, str]) -> None:
        stream.write(json.dumps({**own, **values}, ensure_ascii=False) + "\n")

    return put


class _Put(Protocol):
    def __call__(self, own: Mapping[str, object], values: Mapping[str, str]) -> None: ...


def _format_cell(value: object) -> str:
    # repr is the shortest text that reads back as the same number.
    return repr(value) if isinstance(value, float) else str(value)


def _place_photo(item: Item, folder: Path, photos: Path) -> str:
    """Return the table's name for a photo's file; link or write the file if it lies elsewhere."""
    where = Path(item.picture.where)
    # A picture of unknown size may be a link that leads out of its set: reading it raises.
    if not where.is_file() or item.picture.size_bytes() is None:
        content = item.picture.read()
        name = hashlib.sha256(content).hexdigest()[:_NAME_LENGTH] + _MAGIC.get(content[:2], "")
        return _ensure_photo(photos, name, lambda path: write_bytes_atomically(path, content))
    real, root = Path(os.path.realpath(where)), Path(os.path.realpath(folder))
    if real.is_relative_to(root):
        return real.relative_to(root).as_posix()
    status = real.stat()
    known_by = f"{real}\0{status.st_mtime_ns}\0{status.st_size}"
    name = hashlib.sha256(known_by.encode("utf-8", "surrogateescape")).hexdigest()[:_NAME_LENGTH] + real.suffix.lower()
    return _ensure_photo(photos, name, lambda path: link_or_copy(real, path))


def _ensure_photo(photos: Path, name: str, make: Callable[[Path], object]) -> str:
    path = photos / name
    if not path.is_file():
        try:
            photos.mkdir(exist_ok=True)
            make(path)
        except (OSError, BadInput) as error:
            with suppress(OSError):
                photos.rmdir()  # leaves a folder that is not empty
            if isinstance(error, BadInput):
                raise
            raise BadInput(f"{path}: can't be created: {error.strerror or error}") from error
    return f"{photos.name}/{name}"


def format_rows(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows of plain values as CSV, for tables that are not data sets."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(list(header))
    table.writerows([_format_cell(value) if value is not None else "" for value in row] for row in rows)
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A row: its key, its name for people, its point, and its other fields."""

    id: str
    name: str
    truth: Truth = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


def build_point_place(name: str, point: LatLon, city: str | None = None, country: str | None = None) -> TablePlace:
    """Return a place that is in no table."""
    return TablePlace(name, name, Truth(point, country, None, city))


def file_name(name: str, ending: str) -> str:
    """Return a file name for something; different names give different files."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    if plain != name or name.startswith("."):
        plain = f"{plain.lstrip('.')}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return plain + ending


def read_places(path: Path) -> dict[str, TablePlace]:
    """Return the places of a CSV or JSONL table with columns for id or name, lat and lon, by id.

    Raises:
        BadInput: it can't be read, a row has no id or no point, or two have the same id; the message names the line.
    """
    found: dict[str, TablePlace] = {}
    own = USUAL.list_names() | {fold_column(name) for name in (*_NAMES, *_TITLES)}
    for number, row in read_rows(path):
        where = f"{path}:{number}"
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        cells = {fold_column(str(name)): value for name, value in row.items()}
        key = parse_text(pick(cells, _NAMES))
        if key is None:
            raise BadInput(f"{where}: the row has no id and no name")
        if key in found:
            raise BadInput(f"{where}: {key[:60]!r} appears twice; ids must differ")
        try:
            truth = parse_truth(cells, USUAL)
        except ValueError as error:
            raise BadInput(f"{where}: {error}") from error
        found[key] = TablePlace(key, parse_text(pick(cells, _TITLES)) or key, truth, collect_fields(cells, own))
    if not found:
        raise BadInput(f"{path}: no rows found")
    return found
