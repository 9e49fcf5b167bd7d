"""Photos of a data set as a table that can be opened as a data set again: CSV or JSONL, whole or not at all."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from geosleuth.bench.sets.model import Item
from geosleuth.bench.sets.rows import OWN, own_columns
from geosleuth.errors import BadInput
from geosleuth.files import link_or_copy, replacing, write_bytes_atomically

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
