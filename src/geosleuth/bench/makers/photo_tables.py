"""Tables of photos that can be opened as a data set again, and tables of places by name or id."""

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

from geosleuth.bench.sets.model import OWN, Fault, Item, own_columns
from geosleuth.bench.sets.table_rows import USUAL, fields_of, folded, pick, read_rows, text_of, truth_of
from geosleuth.errors import BadInput
from geosleuth.files import link_or_copy, replacing, write_bytes_atomically
from geosleuth.geo import LatLon
from geosleuth.score import Truth

ENDINGS = (".csv", ".jsonl")
_NAME_LENGTH = 24
_MAGIC = {b"\xff\xd8": ".jpg", b"\x89P": ".png", b"RI": ".webp", b"II": ".tif", b"MM": ".tif"}


class Writer(Protocol):
    """Takes photos, one by one, in the order that the table will have."""

    def __call__(self, item: Item, more: Mapping[str, str] = {}) -> None:
        """Add a photo; ``more`` are fields beside its own, which they replace."""
        ...


def check_table(path: Path, *inputs: Path) -> None:
    """Whether a table can be written there; asked before the work, so that a typing error costs no waiting.

    Raises:
        BadInput: an ending that is none of ours, a folder that is not there, or the place of a file that is read.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{path}: tables end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    if os.path.realpath(path) in {os.path.realpath(one) for one in inputs}:
        raise BadInput(f"{path}: is read by this very command; give the table another name")


@contextmanager
def writing_table(path: Path, fields: Iterable[str] = ()) -> Iterator[Writer]:
    """A table in the making: it takes its place when the block ends well, and is gone otherwise.

    A table names photos that lie below its own folder, and no others. So photos from elsewhere are linked (hard links;
    copies where the disk has none) into the folder ``NAME_photos`` beside it, and those out of archives written there.

    Args:
        path: where; the ending says whether CSV or JSONL.
        fields: the names of all fields, in their order. JSONL can do without; CSV has a header, and drops others.
    """
    photos = path.with_name(f"{path.stem}_photos")
    columns = [name for name in dict.fromkeys(fields) if name not in OWN]
    with replacing(path) as neighbour, neighbour.open("w", encoding="utf-8", newline="") as stream:
        put = _csv_writer(stream, columns) if path.suffix.lower() == ".csv" else _lines_writer(stream)

        def write(item: Item, more: Mapping[str, str] = {}) -> None:
            told = {name: value for name, value in {**item.fields, **more}.items() if name not in OWN}
            put(own_columns(item, _place(item, path.parent, photos)), told)

        yield write
        stream.flush()
        os.fsync(stream.fileno())


def field_names(items: Iterable[Item], *more: str) -> list[str]:
    """The names of all fields of some photos, in the order in which they turn up, and further ones behind them."""
    names: dict[str, None] = {}
    for item in items:
        names.update(dict.fromkeys(item.fields))
    return [name for name in dict.fromkeys((*names, *more)) if name not in OWN]


def _csv_writer(stream: IO[str], columns: list[str]) -> "_Put":
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow((*OWN, *columns))

    def put(own: Mapping[str, object], told: Mapping[str, str]) -> None:
        boxes = json.dumps(own["boxes"], ensure_ascii=False) if "boxes" in own else ""
        cells = [_plain(own.get(name, "")) for name in OWN[:-1]]
        rows.writerow((*cells, boxes, *(told.get(name, "") for name in columns)))

    return put


def _lines_writer(stream: IO[str]) -> "_Put":
    def put(own: Mapping[str, object], told: Mapping[str, str]) -> None:
        stream.write(json.dumps({**own, **told}, ensure_ascii=False) + "\n")

    return put


class _Put(Protocol):
    def __call__(self, own: Mapping[str, object], told: Mapping[str, str]) -> None: ...


def _plain(value: object) -> str:
    # repr is the shortest text that reads back as the very same number.
    return repr(value) if isinstance(value, float) else str(value)


def _place(item: Item, folder: Path, photos: Path) -> str:
    """What the table calls the photo's file; a link to it, or the file itself, is made where it lies elsewhere."""
    where = Path(item.picture.where)
    # A picture that does not tell its size may be a link that leads out of its set: reading it says so.
    if not where.is_file() or item.picture.size_bytes() is None:
        content = item.picture.read()
        name = hashlib.sha256(content).hexdigest()[:_NAME_LENGTH] + _MAGIC.get(content[:2], "")
        return _kept(photos, name, lambda path: write_bytes_atomically(path, content))
    real, root = Path(os.path.realpath(where)), Path(os.path.realpath(folder))
    if real.is_relative_to(root):
        return real.relative_to(root).as_posix()
    status = real.stat()
    known_by = f"{real}\0{status.st_mtime_ns}\0{status.st_size}"
    name = hashlib.sha256(known_by.encode("utf-8", "surrogateescape")).hexdigest()[:_NAME_LENGTH] + real.suffix.lower()
    return _kept(photos, name, lambda path: link_or_copy(real, path))


def _kept(photos: Path, name: str, make: Callable[[Path], object]) -> str:
    path = photos / name
    if not path.is_file():
        try:
            photos.mkdir(exist_ok=True)
            make(path)
        except (OSError, BadInput) as error:
            with suppress(OSError):
                photos.rmdir()  # leaves one that holds something
            if isinstance(error, BadInput):
                raise
            raise BadInput(f"{path}: can't be made: {error.strerror or error}") from error
    return f"{photos.name}/{name}"


def written_rows(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows of plain values as CSV, for tables that are no data sets."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(list(header))
    table.writerows([_plain(value) if value is not None else "" for value in row] for row in rows)
    return text.getvalue()


_NAMES = ("id", "name", "poi", "city", "panorama", "pano_id", "panoid", "key")
_TITLES = ("name", "title", "poi", "city")


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A row: what it is called by, its name for people, where it is, and what else it says."""

    id: str
    name: str
    truth: Truth = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


def place_at(name: str, point: LatLon, city: str | None = None, country: str | None = None) -> TablePlace:
    """A place that stands in no table."""
    return TablePlace(name, name, Truth(point, country, None, city))


def file_name(name: str, ending: str) -> str:
    """What the file of something is called; names that differ give files that differ."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    if plain != name or name.startswith("."):
        plain = f"{plain.lstrip('.')}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return plain + ending


def read_places(path: Path) -> dict[str, TablePlace]:
    """The places of a CSV or JSONL table with columns for id or name, lat and lon, by id.

    Raises:
        BadInput: it can't be read, a row has no id or no point, or two have the same id; the message names the line.
    """
    found: dict[str, TablePlace] = {}
    own = USUAL.known() | {folded(name) for name in (*_NAMES, *_TITLES)}
    for number, row in read_rows(path):
        where = f"{path}:{number}"
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        cells = {folded(str(name)): value for name, value in row.items()}
        key = text_of(pick(cells, _NAMES))
        if key is None:
            raise BadInput(f"{where}: the row has no id and no name")
        if key in found:
            raise BadInput(f"{where}: {key[:60]!r} is there twice; ids must differ")
        try:
            truth = truth_of(cells, USUAL)
        except ValueError as error:
            raise BadInput(f"{where}: {error}") from error
        found[key] = TablePlace(key, text_of(pick(cells, _TITLES)) or key, truth, fields_of(cells, own))
    if not found:
        raise BadInput(f"{path}: there are no rows in it")
    return found
