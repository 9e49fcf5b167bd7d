r"""Recorded answers on disk: three layouts, streamed line by line.

JSONL, one object a line, split on ``\n`` only (replies contain U+2028 and other characters that ``splitlines`` would
break at):

- ours: ``{"id", "truth": {"lat", "lon", "country"?, "region"?, "city"?}, "reply": "raw text" | "answer": {...}}``;
  every other key with a plain value is a field to slice by;
- as Thinking with Map publishes them: ``{"index", "data_source", "ground_truth": {...}, "solution_str"}``.

CSV with a header: ``id, true_lat, true_lon`` and either ``reply`` or ``lat, lon``; optional ``true_country``,
``true_region``, ``true_city``, ``country``, ``region``, ``city``, ``probability``, ``radius_km``; every other column is
a field to slice by.

``docs/reference/formats.md`` is the long form. A record that can't be read stops the reading and names its line:
dropping it would change every figure.
"""

import csv
import json
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from geosleuth.answer import FORMAT, Address, Answer, ParserName, answer_from_dict, parse
from geosleuth.geo import LatLon
from geosleuth.lab.bench.prose import read_reply
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from geosleuth.support.files import MAX_LINE_BYTES, byte_lines

_TRUTH_NAMES = ("country", "region", "city")
_CSV_NUMBERS = ("true_lat", "true_lon", "lat", "lon", "probability", "radius_km")
_CSV_NAMES = ("true_country", "true_region", "true_city", "country", "region", "city")


def text_lines(path: Path, readline: Callable[[int], bytes], what: str) -> Iterator[str]:
    """Yield the lines as text, without a byte order mark.

    Raises:
        BadInput: one is longer than 64 MiB, or is not UTF-8.
    """
    for number, line in enumerate(byte_lines(path, readline, what), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}:{number}: not UTF-8 text; save it as UTF-8") from error


@dataclass(frozen=True, slots=True)
class Record:
    """One image: its true place, and the answer, as raw text or as an Answer."""

    id: str
    truth: Truth
    reply: str | None = None
    answer: Answer | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    repeat: str | None = None  # distinguishes records that share an id, if the file has such a column

    def read(self, parser: ParserName) -> Answer:
        """Return the answer itself, or the reply parsed with the named parser.

        The lenient one also finds the place that a reply names in prose alone.
        """
        if self.answer is not None:
            return self.answer
        return read_reply(self.reply or "") if parser == "lenient" else parse(self.reply or "", parser)


def read_records(
    path: Path,
    progress: Callable[[int], None] = lambda _bytes: None,
    fingerprint: Callable[[bytes], None] = lambda _bytes: None,
) -> Iterator[Record]:
    """Stream the records of a JSONL or CSV file.

    ``progress`` receives the number of bytes read, ``fingerprint`` the bytes themselves, all of them once the last
    record is out.

    Raises:
        BadInput: the file is missing, of another kind, or has an invalid line.
    """
    reader = {".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".csv": _read_csv}.get(path.suffix.lower())
    if reader is None:
        raise BadInput(f"{path}: not a file of records; give a .jsonl or .csv file")
    try:
        # A pipe or a device may never end, and opening one may block: check first.
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise BadInput(f"{path}: not a plain file; give a file, not a pipe or a device")
        with path.open("rb") as stream:
            yield from reader(path, _Tee(stream, progress, fingerprint))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error


@dataclass(frozen=True, slots=True)
class _Tee:
    """File wrapper that reports what is read from it."""

    stream: BinaryIO
    progress: Callable[[int], None]
    fingerprint: Callable[[bytes], None]

    def readline(self, limit: int) -> bytes:
        line = self.stream.readline(limit)
        self.progress(len(line))
        self.fingerprint(line)
        return line


def _read_jsonl(path: Path, stream: _Tee) -> Iterator[Record]:
    for number, line in enumerate(text_lines(path, stream.readline, "record"), 1):
        if not line.strip():
            continue
        try:
            yield _from_json(json.loads(line))
        except json.JSONDecodeError as error:
            raise BadInput(f"{path}:{number}: not JSON ({error.msg}); write one JSON object per line") from error
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError, BadInput) as error:
            raise BadInput(f"{path}:{number}: not a record: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return _one_line(f"{error} is missing" if isinstance(error, KeyError) else str(error))


def _one_line(text: str) -> str:
    """Return text on one line for a message, however much of the file an error quotes."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]} …"


def _from_json(data: object) -> Record:
    if not isinstance(data, dict):
        raise TypeError("a record must be a JSON object")
    return _from_published_layout(data) if "solution_str" in data else _from_own_layout(data)


def _from_published_layout(data: dict[str, Any]) -> Record:
    truth = _as_object(data["ground_truth"], "ground_truth")
    fields = {"data_source": data.get("data_source"), "split": truth.get("split")}
    return Record(
        id=_as_id(truth.get("image") or data["index"]),
        truth=_truth(truth),
        reply=_as_text(data["solution_str"], "solution_str"),
        fields={name: str(value) for name, value in fields.items() if value is not None},
        repeat=str(data["index"]) if "index" in data else None,
    )


def _from_own_layout(data: dict[str, Any]) -> Record:
    fields = {
        name: str(value)
        for name, value in data.items()
        if name not in ("id", "truth", "reply", "answer") and isinstance(value, str | int | float | bool)
    }
    answer = data.get("answer")
    if answer is not None:
        answer = answer_from_dict({"format": FORMAT, **_plain_answer(_as_object(answer, "answer"))})
    elif "reply" not in data:
        raise KeyError("reply")
    reply = data.get("reply")
    return Record(
        id=_as_id(data["id"]),
        truth=_truth(_as_object(data["truth"], "truth")),
        reply=None if reply is None else _as_text(reply, "reply"),
        answer=answer,
        fields=fields,
    )


def _plain_answer(data: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with plain names expanded to their full form; raise a plain message if it can't be read."""
    answer = dict(data)
    for name in ("lat", "lon", "probability", "radius_km"):
        value = answer.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TypeError(f"{name} must be a number, not {str(value)[:40]!r}")
    for name in ("country", "region", "precise"):
        level = answer.get(name)
        if isinstance(level, str):
            answer[name] = {"conclusion": level}
        elif level is not None and not isinstance(level, dict):
            raise TypeError(f'{name} must be an object such as {{"conclusion": "France"}} or a text')
        elif level and not isinstance(level.get("clues") or [], list):
            raise TypeError(f"the clues of {name} must be a list of texts")
    candidates = answer.get("candidates") or []
    if not isinstance(candidates, list) or not all(isinstance(item, dict) for item in candidates):
        raise TypeError('candidates must be a list of objects such as {"name": "Menton", "lat": 43.77, "lon": 7.5}')
    return answer


def _truth(data: Mapping[str, Any]) -> Truth:
    lat, lon = _as_degrees(data["lat"], "lat"), _as_degrees(data["lon"], "lon")
    names = {name: _as_text(data[name], name) for name in _TRUTH_NAMES if data.get(name)}
    return Truth(LatLon(lat, lon), **names)


def _as_text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text")
    return value


def _as_object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be an object")
    return value


def _as_id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise TypeError("an id must be a text or a whole number, and not empty")
    return str(value)


def _as_degrees(value: object, name: str) -> float:
    """Return degrees as a number; some data sets write them as text."""
    if isinstance(value, str):
        return _float(name, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"the true {name} must be a number")
    return float(value)


def _read_csv(path: Path, stream: _Tee) -> Iterator[Record]:
    csv.field_size_limit(min(sys.maxsize, MAX_LINE_BYTES))
    rows = csv.DictReader(text_lines(path, stream.readline, "record"), strict=True)
    try:
        names = [name.strip() for name in rows.fieldnames or ()]
        rows.fieldnames = names
        header = set(names)
        missing = {"id", "true_lat", "true_lon"} - header
        if missing or not ("reply" in header or {"lat", "lon"} <= header):
            wanted = "id, true_lat, true_lon and either reply or lat, lon"
            found = _one_line(", ".join(sorted(header)) or "nothing")
            raise BadInput(f"{path}: the header must name {wanted}; it names {found}")
        if twice := sorted(name for name in header if names.count(name) > 1):
            raise BadInput(f"{path}: the header names {twice[0][:40]!r} more than once")
        for row in rows:
            try:
                yield _from_row(row)
            except (TypeError, ValueError) as error:
                raise BadInput(f"{path}:{rows.line_num}: not a record: {_reason(error)}") from error
    except csv.Error as error:
        # The reader's own count: DictReader's is still at the row before.
        raise BadInput(f"{path}:{rows.reader.line_num}: not CSV: {_reason(error)}") from error


def _from_row(row: dict[str | None, Any]) -> Record:
    if None in row:
        raise ValueError("the row has more cells than the header")
    if None in row.values():
        raise ValueError("the row has fewer cells than the header")
    cells = {str(name): value.strip() for name, value in row.items() if isinstance(value, str) and value.strip()}
    numbers = {name: _float(name, cells[name]) for name in _CSV_NUMBERS if name in cells}
    names = {name: cells[name] for name in _CSV_NAMES if name in cells}
    if "id" not in cells or "true_lat" not in numbers or "true_lon" not in numbers:
        raise ValueError("id, true_lat and true_lon must not be empty")
    known = {"id", "reply", *_CSV_NUMBERS, *_CSV_NAMES}
    return Record(
        id=cells["id"],
        truth=Truth(
            LatLon(numbers["true_lat"], numbers["true_lon"]), *(names.get(f"true_{name}") for name in _TRUTH_NAMES)
        ),
        reply=cells.get("reply"),
        answer=None if "reply" in cells else _answer_of_row(numbers, names),
        fields={name: value for name, value in cells.items() if name not in known},
    )


def _answer_of_row(numbers: Mapping[str, float], names: Mapping[str, str]) -> Answer:
    if ("lat" in numbers) != ("lon" in numbers):
        raise ValueError("lat and lon must be given together")
    return Answer(
        point=LatLon(numbers["lat"], numbers["lon"]) if "lat" in numbers else None,
        address=Address.create(names.get("country"), names.get("region"), names.get("city")),
        probability=numbers.get("probability"),
        radius_km=numbers.get("radius_km"),
    )


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} {text[:40]!r} is not a number") from None
