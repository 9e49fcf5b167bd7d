r"""Tables on disk as a stream of rows: CSV, TSV, JSONL, and JSON files that are one list.

Nothing here knows what a row means. A row that can't be read is a `Fault` that names its line; JSONL is split on
``\n`` only.
"""

import csv
import json
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from geosleuth.bench.lines import text_lines
from geosleuth.errors import BadInput
from geosleuth.files import MAX_LINE_BYTES

from .faults import Fault

Row = Mapping[str, Any]
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
# A list is read whole; the largest that any set publishes is a few megabytes.
_MAX_JSON_BYTES = 512 * 1024 * 1024


def read_rows(path: Path) -> Iterator[tuple[int, Row | Fault]]:
    """Stream a table's rows with their line numbers (in a JSON list, the entry's number).

    Raises:
        BadInput: the file is missing, of another kind, or so damaged that no further row can be told apart.
    """
    ending = path.suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise BadInput(f"{path}: tables are read from files that end in {', '.join(TABLE_ENDINGS)}")
    try:
        # A pipe or a device may never end, and opening one may wait for ever: ask before.
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path}: tables are read from plain files")
        with path.open("rb") as stream:
            if ending in (".csv", ".tsv"):
                yield from _csv(path, stream)
            elif ending == ".json":
                yield from _json(path, stream)
            else:
                yield from _jsonl(path, stream)
    except FileNotFoundError as error:
        raise BadInput(f"{path}: there is no such file; check the path") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def header_of(path: Path) -> list[str]:
    """The names that a table's first row has; none where it has no readable row."""
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
            # Tables written with an index have a first column without a name.
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
        yield number, _row(row, f"{path}:{number}")


def _json(path: Path, stream: BinaryIO) -> Iterator[tuple[int, Row | Fault]]:
    data = stream.read(_MAX_JSON_BYTES + 1)
    if len(data) > _MAX_JSON_BYTES:
        raise BadInput(f"{path}: a JSON list of more than 512 MiB; write one object a line and call it .jsonl")
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
        raise BadInput(f"{path}: a table in JSON is a list of objects")
    for number, row in enumerate(rows, 1):
        yield number, _row(row, f"{path}, entry {number}")


def _row(row: object, where: str) -> Row | Fault:
    return row if isinstance(row, dict) else Fault(where, "a row is a JSON object")
