"""The journal of a run: one line for every try that ended, in the order they ended.

The first line is a header, ``{"format": "geosleuth-journal", "version": 1, "run": "..."}``. Lines are only ever added,
and a line counts once it is safe on the disk. Of a process that is killed, half a line may be left at the end: it never
counted, and is cut off when the run is continued.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from geosleuth.agent import Spent
from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.events import Answerer, EndReason
from geosleuth.answer import Answer, answer_from_dict, answer_to_dict
from geosleuth.bench.lines import byte_lines
from geosleuth.errors import BadInput
from geosleuth.policies import Usage

from .model import Outcome
from .names import is_name
from .worked import WorkedTime

FORMAT = "geosleuth-journal"
VERSION = 1

PhotoState = Literal["interrupted", "located", "unlocated", "failed"]
"""What is known of a photo: nothing, only tries that were cut off; an answer with a point; one without; an error."""

_STATES: tuple[PhotoState, ...] = get_args(PhotoState)
_OUTCOMES, _REASONS, _ANSWERERS = (frozenset(get_args(kind)) for kind in (Outcome, EndReason, Answerer))
_MOST_TRIES = 0xFFFF


@dataclass(frozen=True, slots=True)
class TryRecord:
    """A try that ended: what the journal knows of it. Where the photo really was is not in it."""

    image: str
    id: str
    number: int
    outcome: Outcome
    reason: EndReason
    by: Answerer
    answer: Answer
    spent: Spent
    began: datetime
    ended: datetime
    sha256: str | None = None
    trouble: str | None = None
    host: str | None = None
    node: str | None = None

    @property
    def state(self) -> PhotoState:
        """What this try says about its photo."""
        if self.outcome == "answered":
            return "unlocated" if self.answer.point is None else "located"
        return self.outcome


@dataclass(frozen=True, slots=True)
class Known:
    """What a run knows of a photo: how many tries there were, and where the line is that decides.

    That is the newest try that was not cut off, or else the newest.
    """

    offset: int
    tries: int
    state: PhotoState


class Index:
    """What the journal says about every photo, a few bytes for each, and what all tries spent together."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: dict[int, int] = {}
        self._counts = dict.fromkeys(_STATES, 0)
        self.tries = self.interrupted_tries = self.failed_tries = 0
        self.spent = Spent()
        self._worked = WorkedTime()

    def add(self, record: TryRecord, offset: int) -> None:
        """Take in the line of a try that ended.

        Raises:
            BadInput: the try is in the journal already, or out of order.
        """
        key = int(record.image, 16)
        before = self._known.get(key)
        tries = 0 if before is None else before >> 2 & _MOST_TRIES
        if not tries < record.number <= _MOST_TRIES:
            raise BadInput(f"try {record.number} of {record.image} stands after try {tries}")
        stands = _STATES.index(record.state)
        if before is not None:
            self._counts[_STATES[before & 3]] -= 1
            if stands == 0 and before & 3:
                stands, offset = before & 3, before >> 18
        self._counts[_STATES[stands]] += 1
        self._known[key] = offset << 18 | record.number << 2 | stands
        self._take(record)

    def _take(self, record: TryRecord) -> None:
        self.tries += 1
        self.interrupted_tries += record.outcome == "interrupted"
        self.failed_tries += record.outcome == "failed"
        self.spent += record.spent
        self._worked.add(record.began, record.ended)

    @property
    def seconds(self) -> float:
        """How long was worked. Tries share the time in which they went on at once; pauses are not counted."""
        return self._worked.seconds

    def of(self, name: str) -> Known | None:
        """What is known of a photo."""
        found = self._known.get(int(name, 16))
        return None if found is None else Known(found >> 18, found >> 2 & _MOST_TRIES, _STATES[found & 3])

    def count(self, *states: PhotoState) -> int:
        """How many photos stand there."""
        return sum(self._counts[one] for one in states)


@dataclass(frozen=True, slots=True)
class Scanned:
    """A journal, read through: ``end`` is where its whole lines end, ``torn`` whether something comes after that."""

    run: str
    index: Index
    end: int
    torn: bool


def header_line(run: str) -> bytes:
    """The first line."""
    return to_line({"format": FORMAT, "version": VERSION, "run": run})


def scan(path: Path) -> Scanned:
    """Read a journal through.

    Raises:
        BadInput: it can't be read, or a line before the last is damaged; the message gives its number.
    """
    index = Index()
    run = ""
    end = 0
    for number, offset, line in _lines(path):
        if not line.endswith(b"\n"):
            return Scanned(run, index, end, torn=True)
        try:
            if number == 1:
                run = _read_header(line)
            else:
                index.add(record_from_line(line), offset)
        except BadInput as error:
            raise BadInput(
                f"{path}, line {number}: {error}; put the file back from a copy, or take this line out: "
                "its photo is then worked on again"
            ) from error
        end = offset + len(line)
    if not end:
        raise BadInput(f"{path}: the file is empty; put it back from a copy, or choose another folder")
    return Scanned(run, index, end, torn=False)


def read_tries(path: Path) -> Iterator[TryRecord]:
    """Every try of a journal, one at a time; half a line at the end is left out.

    Raises:
        BadInput: it can't be read, or a line is damaged; the message gives its number.
    """
    for number, _, line in _lines(path):
        if number == 1 or not line.endswith(b"\n"):
            continue
        try:
            yield record_from_line(line)
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from error


def line_at(stream: BinaryIO, offset: int) -> bytes:
    """The line that begins at an offset."""
    stream.seek(offset)
    return stream.readline()


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
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
        raise BadInput(f"this is no journal of version {VERSION}")
    return str(header["run"])


def record_to_line(record: TryRecord) -> bytes:
    """The line of a try; what is None is left out."""
    spent, usage = record.spent, record.spent.usage
    plain: dict[str, Any] = {
        "image": record.image,
        "id": record.id,
        "try": record.number,
        "outcome": record.outcome,
        "reason": record.reason,
        "trouble": record.trouble,
        "host": record.host,
        "sha256": record.sha256,
        "by": record.by,
        "answer": answer_to_dict(record.answer),
        "spent": {
            "turns": spent.turns,
            "calls": spent.calls,
            "failed_calls": spent.failed_calls,
            "withheld_calls": spent.withheld_calls,
            "seconds": spent.seconds,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cost_usd": usage.cost_usd,
            "reply_seconds": usage.seconds,
            "tries": usage.tries,
        },
        "began": record.began.isoformat(),
        "ended": record.ended.isoformat(),
        "node": record.node,
    }
    return to_line({name: value for name, value in plain.items() if value is not None})


def record_from_line(line: bytes) -> TryRecord:
    """Read what `record_to_line` wrote.

    Raises:
        BadInput: it is no such line.
    """
    plain = from_line(line)
    try:
        if not (plain["outcome"] in _OUTCOMES and plain["reason"] in _REASONS and plain["by"] in _ANSWERERS):
            raise BadInput("this is no line of a journal: outcome, reason or by is none that there is")
        spent = plain["spent"]
        usage = Usage(
            int(spent["input_tokens"]),
            int(spent["output_tokens"]),
            int(spent["cached_tokens"]),
            None if spent["cost_usd"] is None else float(spent["cost_usd"]),
            float(spent["reply_seconds"]),
            int(spent["tries"]),
        )
        name = str(plain["image"])
        if not is_name(name):
            raise BadInput("this is no line of a journal: its image has no name of ours")
        return TryRecord(
            image=name,
            id=str(plain["id"]),
            number=int(plain["try"]),
            outcome=plain["outcome"],
            reason=plain["reason"],
            by=plain["by"],
            answer=answer_from_dict(plain["answer"]),
            spent=Spent(
                int(spent["turns"]),
                int(spent["calls"]),
                int(spent["failed_calls"]),
                int(spent["withheld_calls"]),
                float(spent["seconds"]),
                usage,
            ),
            began=_moment(plain["began"]),
            ended=_moment(plain["ended"]),
            sha256=_text(plain.get("sha256")),
            trouble=_text(plain.get("trouble")),
            host=_text(plain.get("host")),
            node=_text(plain.get("node")),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"this is no line of a journal: {type(error).__name__}: {str(error)[:100]}") from error


def _moment(value: str) -> datetime:
    found = datetime.fromisoformat(value)
    if found.tzinfo is None:
        raise ValueError("a time without its zone")
    return found


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("a text is something else")
    return value
