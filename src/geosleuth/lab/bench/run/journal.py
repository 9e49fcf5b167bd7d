"""The journal of a run, one line for every try that ended; and the types between a run and its workers.

The first line is a header, ``{"format": "geosleuth-journal", "version": 1, "run": "..."}``. The file is append-only,
and a line counts once it is safe on disk. A killed process may leave a partial line at the end: it never counted, and
is cut off when the run is continued.
"""

import hmac
import operator
import re
import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, Protocol, get_args

import msgspec

from geosleuth.agent import Spent
from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.events import Answerer, EndReason
from geosleuth.answer import Answer, answer_from_dict, answer_to_dict
from geosleuth.lab.bench.sets.dataset import DatasetBox
from geosleuth.support.errors import BadInput
from geosleuth.support.files import byte_lines

LENGTH = 16
_NAME = rf"[0-9a-f]{{{LENGTH}}}"
_FILE = re.compile(rf"({_NAME})\.([1-9][0-9]{{0,4}})\.(?:.+\.)?jsonl")
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
Outcome = Literal["answered", "failed", "interrupted"]
"""How a try ended: with an answer, which may be "can't tell" or wrong; with an error; or cut off.

An error says nothing about the model's skill: its server failed, or the photo can't be opened.
"""
FORMAT = "geosleuth-journal"
VERSION = 1
PhotoState = Literal["interrupted", "located", "unlocated", "failed"]
"""What is known of a photo: only tries that were cut off; an answer with a point; one without; an error."""
_STATES: tuple[PhotoState, ...] = get_args(PhotoState)
_MAX_TRIES = 0xFFFF
# Runs a try, in this process or on a cluster; its files are in the run's folder then. It raises `UserError` if the run
# can't continue.
Worker = Callable[["Job"], Awaitable["Attempted"]]
# Builds an `Attempt`, here or on another machine: it can be pickled, and is called once in each process.
Making = Callable[[], Awaitable["Ready"]]
# Runs one try. It writes the trajectory into the given file, and other files beside it. It raises only `UserError`, for
# what must be fixed before the run can continue: a failing model and a photo that can't be opened are outcomes.
Attempt = Callable[["Job", Path], Awaitable["Attempted"]]


def new_key() -> str:
    """Return a new key for the names of one run, in hexadecimal digits."""
    return secrets.token_hex(32)


def compute_photo_name(key: str, id: str) -> str:  # noqa: A002  (the data set's own word)
    """Return the name of a photo: constant within a run, and not reversible to the id without the key."""
    return hmac.digest(bytes.fromhex(key), id.encode("utf-8", "surrogatepass"), "sha256").hex()[:LENGTH]


def file_name(name: str, number: int) -> str:
    """Return the file name of a try's trajectory."""
    return f"{name}.{number}.jsonl"


def read_file_name(file: str) -> tuple[str, int] | None:
    """Return the photo's name and the number of the try that a file belongs to; None if it is something else."""
    found = _FILE.fullmatch(file)
    return None if found is None else (found[1], int(found[2]))


class WorkedTime:
    """The union of time spans, added in any order."""

    def __init__(self) -> None:
        """Start with no time."""
        self._begins: list[datetime] = []
        self._ends: list[datetime] = []
        self._total = timedelta()

    @property
    def seconds(self) -> float:
        """Return the total length."""
        return self._total.total_seconds()

    def add(self, began: datetime, ended: datetime) -> None:
        """Add a span; one that ends before it begins is ignored."""
        if ended <= began:
            return
        touched = slice(bisect_left(self._ends, began), bisect_right(self._begins, ended))
        begins, ends = self._begins[touched], self._ends[touched]
        self._total -= sum(map(operator.sub, ends, begins), timedelta())
        began, ended = min([began, *begins]), max([ended, *ends])
        self._begins[touched], self._ends[touched] = [began], [ended]
        self._total += ended - began


@dataclass(frozen=True, slots=True)
class Job:
    """One try at one photo.

    ``name`` is a random hash, and all that a model may see. ``id`` is the data set's own and only used to look up a
    recording. ``content`` is the photo's file; the process that opens it keeps only pixels. ``hide`` are boxes to blank
    before anybody sees the photo.
    """

    name: str
    id: str
    number: int
    content: bytes = field(repr=False)
    hide: tuple[DatasetBox, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempted:
    """The result of a try. It is sent between machines, so it holds plain values only."""

    outcome: Outcome
    answer: Answer
    by: Answerer
    reason: EndReason
    spent: Spent
    trouble: str | None = None
    host: str | None = None


class Ready(Protocol):
    """An attempt with everything loaded; closed when the run ends."""

    @property
    def attempt(self) -> Attempt:
        """Return the attempt."""
        ...

    async def aclose(self) -> None:
        """Close models and connections, and free memory."""
        ...


@dataclass(frozen=True, slots=True)
class TryRecord:
    """A try that ended, as the journal records it. The photo's true place is not in it."""

    image: Annotated[str, msgspec.Meta(pattern=rf"^{_NAME}\Z")]
    id: str
    number: int
    outcome: Outcome
    reason: EndReason
    by: Answerer
    answer: Answer
    spent: Spent
    began: Moment
    ended: Moment
    sha256: str | None = None
    trouble: str | None = None
    host: str | None = None
    node: str | None = None

    @property
    def state(self) -> PhotoState:
        """Return what this try means for its photo."""
        if self.outcome == "answered":
            return "unlocated" if self.answer.point is None else "located"
        return self.outcome


@dataclass(frozen=True, slots=True)
class Known:
    """Summary of a photo in a run: the number of tries, and the offset of the line that counts.

    That is the newest try that was not cut off, or else the newest.
    """

    offset: int
    tries: int
    state: PhotoState


class Index:
    """Journal entries of every photo, a few bytes each, and the total cost of all tries."""

    def __init__(self) -> None:
        """Start empty."""
        self._known: dict[int, int] = {}
        self._counts = dict.fromkeys(_STATES, 0)
        self.tries = self.interrupted_tries = self.failed_tries = 0
        self.spent = Spent()
        self._worked = WorkedTime()

    def add(self, record: TryRecord, offset: int) -> None:
        """Add the line of a try that ended.

        Raises:
            BadInput: the try is in the journal already, or out of order.
        """
        key = int(record.image, 16)
        before = self._known.get(key)
        tries = 0 if before is None else before >> 2 & _MAX_TRIES
        if not tries < record.number <= _MAX_TRIES:
            raise BadInput(f"try {record.number} of {record.image} comes after try {tries}")
        state = _STATES.index(record.state)
        if before is not None:
            self._counts[_STATES[before & 3]] -= 1
            if state == 0 and before & 3:
                state, offset = before & 3, before >> 18
        self._counts[_STATES[state]] += 1
        self._known[key] = offset << 18 | record.number << 2 | state
        self._take(record)

    def _take(self, record: TryRecord) -> None:
        self.tries += 1
        self.interrupted_tries += record.outcome == "interrupted"
        self.failed_tries += record.outcome == "failed"
        self.spent += record.spent
        self._worked.add(record.began, record.ended)

    @property
    def seconds(self) -> float:
        """Return the working time. Parallel tries share their time; pauses are not counted."""
        return self._worked.seconds

    def find_known(self, name: str) -> Known | None:
        """Return what is known of a photo."""
        found = self._known.get(int(name, 16))
        return None if found is None else Known(found >> 18, found >> 2 & _MAX_TRIES, _STATES[found & 3])

    def count(self, *states: PhotoState) -> int:
        """Return how many photos have these states."""
        return sum(self._counts[state] for state in states)


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of scanning a journal: ``end`` of its complete lines, and whether it is ``torn`` after that."""

    run: str
    index: Index
    end: int
    torn: bool


def header_line(run: str) -> bytes:
    """Return the first line."""
    return to_line({"format": FORMAT, "version": VERSION, "run": run})


def scan(path: Path) -> Scanned:
    """Scan a journal.

    Raises:
        BadInput: it can't be read, or a line before the last is damaged; the message gives its number.
    """
    index = Index()
    run = ""
    end = 0
    for number, offset, line in _read_journal_lines(path):
        if not line.endswith(b"\n"):
            return Scanned(run, index, end, torn=True)
        try:
            if number == 1:
                run = _read_header(line)
            else:
                index.add(record_from_line(line), offset)
        except BadInput as error:
            raise BadInput(
                f"{path}, line {number}: {error}; restore the file from a copy, or delete this line: "
                "its photo is then tried again"
            ) from error
        end = offset + len(line)
    if not end:
        raise BadInput(f"{path}: the file is empty; restore it from a copy, or choose another folder")
    return Scanned(run, index, end, torn=False)


def read_tries(path: Path) -> Iterator[TryRecord]:
    """Yield every try of a journal; a partial line at the end is skipped.

    Raises:
        BadInput: it can't be read, or a line is damaged; the message gives its number.
    """
    for number, _, line in _read_journal_lines(path):
        if number == 1 or not line.endswith(b"\n"):
            continue
        try:
            yield record_from_line(line)
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from error


def read_line(stream: BinaryIO, offset: int) -> bytes:
    """Return the line that begins at an offset."""
    stream.seek(offset)
    return stream.readline()


def _read_journal_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(byte_lines(path, stream.readline, "line of a journal"), 1):
                yield number, offset, line
                offset += len(line)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _read_header(line: bytes) -> str:
    header = from_line(line)
    if header.get("format") != FORMAT or header.get("version") != VERSION or not isinstance(header.get("run"), str):
        raise BadInput(f"not a journal of version {VERSION}")
    return str(header["run"])


def record_to_line(record: TryRecord) -> bytes:
    """Return the line of a try; None values are left out."""
    plain = msgspec.to_builtins(replace(record, answer=Answer())) | {"answer": answer_to_dict(record.answer)}
    return to_line({name: value for name, value in plain.items() if value is not None})


def record_from_line(line: bytes) -> TryRecord:
    """Read what `record_to_line` wrote.

    Raises:
        BadInput: it is not such a line.
    """
    plain = from_line(line)
    try:
        answer = answer_from_dict(plain["answer"])
        return replace(msgspec.convert({**plain, "answer": {}}, TryRecord), answer=answer)
    except (KeyError, ValueError, msgspec.ValidationError) as error:
        raise BadInput(f"not a line of a journal: {str(error)[:200]}") from error
