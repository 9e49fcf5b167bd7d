"""The trajectory: everything that happened in a run, the file that keeps it, and what it used of its budget.

The counts come from the events alone, the time that replies and tools took included: a replay comes to the same
decisions as the run it repeats.

The file is JSON lines. The first line is a header::

    {"format": "geosleuth-trajectory", "version": 1, "id": "...", "created": "...", "geosleuth": "0.1.0"}

and every other line is one event (see `codec`). Lines are only ever added, each in one go: a killed process loses at
most the line being written. Events hold no keys, no file names and no metadata of photos: nothing that could is ever
handed to the loop.
"""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from geosleuth import __version__
from geosleuth.answer import Answer
from geosleuth.models import Step, Usage
from geosleuth.models.protocol import thinking_tokens
from geosleuth.support.errors import BadInput
from geosleuth.support.files import MAX_LINE_BYTES
from geosleuth.support.service_use import ServiceUse, merge_uses
from geosleuth.tools import ImageInfo, Observation

from .codec import event_from_dict, event_to_dict, from_line, to_line
from .events import (
    Answered,
    Body,
    Budget,
    Ended,
    EndReason,
    Event,
    Hypothesis,
    Noted,
    Resumed,
    Said,
    Spent,
    Started,
    Task,
    ToolObserved,
)
from .method import CHARACTERS_PER_TOKEN

_WITHHELD = ("over_budget", "repeated")

FORMAT = "geosleuth-trajectory"
VERSION = 1


class Spending:
    """A ledger of one stretch of work, from its start or resumption on."""

    def __init__(self, budget: Budget, longest_result: int | None = None) -> None:
        self.budget = budget
        self._longest_result = longest_result
        # Of all replies with the results between them, and of the newest turn.
        self._reply_tokens = 0
        self._turn_reply_tokens = 0
        self.turns = 0
        self.calls = 0
        self._failed = self._mended = 0
        self._withheld = 0
        self._services: tuple[ServiceUse, ...] = ()
        self._usage = Usage(tries=0)
        self._price_unknown = False
        # Of the newest turn: tokens, money, and the seconds of its reply and of its slowest call.
        self._turn_tokens = 0
        self._turn_usd = 0.0
        self._reply_seconds = 0.0
        self._slowest_call = 0.0
        self._seconds_before = 0.0

    def see(self, body: Body) -> None:
        """Count what an event used."""
        match body:
            case Said(step=step):
                self._count_step(step)
            case ToolObserved(observation=observation):
                self._count_call(observation)
                self._services = merge_uses((*self._services, *observation.services))
            case Answered(services=services):
                self._services = merge_uses((*self._services, *services))
            case _:
                pass

    def _count_step(self, step: Step) -> None:
        usage = step.usage
        self.turns += 1
        self._usage += usage
        self._price_unknown |= usage.cost_usd is None
        self._seconds_before += self._reply_seconds + self._slowest_call
        self._turn_tokens = usage.input_tokens + usage.output_tokens
        said = usage.output_tokens - thinking_tokens(step)
        self._reply_tokens += said
        self._turn_reply_tokens = said
        self._turn_usd = usage.cost_usd or 0.0
        self._reply_seconds, self._slowest_call = usage.seconds, 0.0

    def _count_call(self, observation: Observation) -> None:
        if observation.failure in _WITHHELD:
            self._withheld += 1
            return
        shown = len(observation.text[: self._longest_result]) // CHARACTERS_PER_TOKEN
        self._reply_tokens += shown
        self._turn_reply_tokens += shown
        self.calls += 1
        self._failed += observation.failure is not None
        self._mended += observation.mended is not None
        self._slowest_call = max(self._slowest_call, observation.seconds)

    @property
    def calls_left(self) -> int | None:
        """The number of calls that may still be carried out; None is any number."""
        return None if self.budget.calls is None else max(0, self.budget.calls - self.calls)

    def find_spent_limit(self) -> EndReason | None:
        """Return which of turns, tokens and money is spent, if any.

        Where a reply's price is not known, a budget of money can't be kept and counts as spent.
        """
        if self.turns >= self.budget.turns:
            return "turns"
        if self.budget.tokens is not None and self._tokens >= self.budget.tokens:
            return "tokens"
        if self.reply_tokens_left == 0:
            return "tokens"
        if self.budget.usd is not None and (self._price_unknown or (self._usage.cost_usd or 0.0) >= self.budget.usd):
            return "money"
        return None

    @property
    def reply_tokens_left(self) -> int | None:
        """The tokens left for replies and the results between them; None is any number."""
        limit = self.budget.reply_tokens
        return None if limit is None else max(0, limit - self._reply_tokens)

    @property
    def price_unknown(self) -> bool:
        """Return whether the price of any reply is unknown."""
        return self._price_unknown

    def one_turn_left(self) -> bool:
        """Return whether the next reply must be the answer.

        That is so on the last turn, and where two more turns like the newest would pass the limit of tokens, money or
        time.
        """
        if self.turns + 1 >= self.budget.turns:
            return True
        turn_seconds = self._reply_seconds + self._slowest_call
        return any(
            limit is not None and newest > 0 and used + 2 * newest > limit
            for limit, used, newest in (
                (self.budget.tokens, self._tokens, self._turn_tokens),
                (self.budget.reply_tokens, self._reply_tokens, self._turn_reply_tokens),
                (self.budget.usd, self._usage.cost_usd or 0.0, self._turn_usd),
                (self.budget.seconds, self._seconds_before + turn_seconds, turn_seconds),
            )
        )

    @property
    def _tokens(self) -> int:
        return self._usage.input_tokens + self._usage.output_tokens

    def spent(self, seconds: float) -> Spent:
        """All of it, with the seconds on the clock."""
        counts = self.turns, self.calls, self._failed, self._withheld
        return Spent(*counts, seconds, self._usage, self._mended, self._services)


def compute_spent(events: Iterable[Event]) -> Spent:
    """Return the usage of a whole trajectory, with resumptions; of a broken run, up to the break."""
    total = Spent()
    running: Spending | None = None
    began = newest = 0.0
    for event in events:
        match event.body:
            case Started(budget=budget) | Resumed(budget=budget):
                running, began = Spending(budget), event.at_s
            case Ended(spent=spent):
                total, running = total + spent, None
            case body if running is not None:
                running.see(body)
            case _:
                pass
        newest = event.at_s
    return total if running is None else total + running.spent(newest - began)


def spent_document(spent: Spent) -> dict[str, Any]:
    """Return usage as JSON, without the price, which documents name in their own ways."""
    return {
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "withheld_calls": spent.withheld_calls,
        "seconds": round(spent.seconds, 3),
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "services": [asdict(use) for use in spent.services],
    }


def new_id() -> str:
    """An id for a trajectory: random, and telling nothing."""
    return secrets.token_hex(8)


def now() -> datetime:
    """The time that a trajectory is stamped with, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Trajectory:
    """A run as its events tell it; everything else is read from them.

    ``torn`` says that the file it was read from ends in the middle of a line, which is left out here: the run was
    killed while writing.
    """

    events: tuple[Event, ...]
    id: str = field(default_factory=new_id)
    created: datetime = field(default_factory=now)
    geosleuth: str = __version__
    torn: bool = False

    def __post_init__(self) -> None:
        if not self.events or not isinstance(self.events[0].body, Started):
            raise ValueError("a trajectory begins with its started event")

    @property
    def started(self) -> Started:
        """The event with which the run started."""
        body = self.events[0].body
        assert isinstance(body, Started)  # noqa: S101  (checked when it was made)
        return body

    @property
    def task(self) -> Task:
        """The task of the run."""
        return self.started.task

    @cached_property
    def answered(self) -> Answered | None:
        """The newest answer with who gave it."""
        return next((event.body for event in reversed(self.events) if isinstance(event.body, Answered)), None)

    @property
    def answer(self) -> Answer | None:
        """The newest answer; None only where the run broke off before it gave one."""
        return self.answered.answer if self.answered else None

    @property
    def ended(self) -> Ended | None:
        """The end of the run; None where it broke off, or goes on."""
        last = self.events[-1].body
        return last if isinstance(last, Ended) else None

    @cached_property
    def spent(self) -> Spent:
        """The total usage."""
        return compute_spent(self.events)

    @cached_property
    def pool(self) -> tuple[Hypothesis, ...]:
        """The candidates as they stand at the end, in the order they came up."""
        noted = (event.body.hypothesis for event in self.events if isinstance(event.body, Noted))
        return tuple({hypothesis.id: hypothesis for hypothesis in noted}.values())

    @property
    def steps(self) -> tuple[Step, ...]:
        """The replies of the policy, turn by turn."""
        return tuple(event.body.step for event in self.events if isinstance(event.body, Said))

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The outcome of every call, in order."""
        return tuple(event.body.observation for event in self.events if isinstance(event.body, ToolObserved))

    @property
    def images(self) -> tuple[ImageInfo, ...]:
        """Every picture of the run: those of the task, then those that tools made."""
        made = (image for observation in self.observations for image in observation.images)
        return (*self.task.images, *made)


class TrajectoryWriter:
    """Adds events to a file, each as one line that is handed to the system before `write` returns.

    It is a sink: call it with an event. Nothing that it wrote is ever changed. A file that is there already is
    refused, so that no run overwrites another, unless it is to be resumed.
    """

    def __init__(
        self,
        path: Path,
        *,
        id: str | None = None,  # noqa: A002  (the trajectory's own word)
        created: datetime | None = None,
        resuming: bool = False,
    ) -> None:
        """Begin a file, or go on in one; a torn last line is cut off then.

        Raises:
            BadInput: there is such a file already, it can't be written, or can't be read as a trajectory.
        """
        self.path = path
        self._next = 0
        if resuming:
            self._resume_file()
            return
        self.id, self.created = id or new_id(), created or now()
        self._stream = self._open_file("xb")
        header = {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "created": self.created.isoformat(),
            "geosleuth": __version__,
        }
        self._put(to_line(header))

    def _resume_file(self) -> None:
        with TrajectoryReader(self.path) as reader:
            self._next = sum(1 for _ in reader)
        self.id, self.created = reader.id, reader.created
        self._stream = self._open_file("r+b")
        self._stream.truncate(reader.end)
        self._stream.seek(reader.end)
        if reader.unfinished:
            self._put(b"\n")

    def write(self, event: Event) -> None:
        """Add one event.

        Raises:
            BadInput: the file can't be written, for one because the disk is full.
            ValueError: it is not the next event of this trajectory.
        """
        if event.index != self._next:
            raise ValueError(f"event {event.index} where {self._next} is due")
        self._put(to_line(event_to_dict(event)))
        self._next += 1

    __call__ = write

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        self._stream.close()

    def __enter__(self) -> "TrajectoryWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_file(self, mode: str) -> IO[bytes]:
        try:
            return self.path.open(mode, buffering=0)
        except FileExistsError as error:
            raise BadInput(f"{self.path}: is there already; choose another name") from error
        except OSError as error:
            raise BadInput(f"{self.path}: can't be written: {error.strerror or error}") from error

    def _put(self, line: bytes) -> None:
        try:
            done = self._stream.write(line)
            while done < len(line):
                done += self._stream.write(line[done:])
        except OSError as error:
            raise BadInput(f"{self.path}: can't be written: {error.strerror or error}") from error


class TrajectoryReader:
    """Reads a file event by event, with no more than one line in memory.

    Attributes:
        id, created, geosleuth: what the header says.
        torn: known at the end: the last line is only half there and was left out.
        unfinished: known at the end: the last line is whole but for its line end.
        end: how many bytes were read as whole lines.
    """

    def __init__(self, path: Path) -> None:
        """Open it and read the header.

        Raises:
            BadInput: it can't be read, or is no trajectory of this version.
        """
        self.path = path
        self.torn = self.unfinished = False
        self._line = 0
        try:
            self._stream = path.open("rb")
        except OSError as error:
            raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
        try:
            self._read_header()
        except BaseException:
            self._stream.close()
            raise

    def _read_header(self) -> None:
        line = self._next_line()
        try:
            header = from_line(line)
            _check_header(header)
            self.id, self.geosleuth = _get_header_text(header, "id"), _get_header_text(header, "geosleuth")
            self.created = datetime.fromisoformat(_get_header_text(header, "created"))
        except (BadInput, ValueError) as error:
            raise self._damage(str(error)) from error
        self.end = len(line)

    def __iter__(self) -> Iterator[Event]:
        """The events, in order.

        Raises:
            BadInput: a line is damaged, missing or out of order; the message gives its number.
        """
        index = 0
        while line := self._next_line():
            try:
                event = event_from_dict(from_line(line))
            except BadInput as error:
                if line.endswith(b"\n"):
                    raise self._damage(str(error)) from error
                self.torn = True
                return
            if event.index != index:
                raise self._damage(f"event {event.index} stands where event {index} belongs")
            if index == 0 and not isinstance(event.body, Started):
                raise self._damage("the first event must be the started one")
            yield event
            index += 1
            self.end += len(line)
            self.unfinished = not line.endswith(b"\n")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> "TrajectoryReader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_line(self) -> bytes:
        self._line += 1
        try:
            line = self._stream.readline(MAX_LINE_BYTES + 1)
        except OSError as error:
            raise BadInput(f"{self.path}: can't be read: {error.strerror or error}") from error
        if len(line) > MAX_LINE_BYTES:
            raise self._damage(f"a line of more than {MAX_LINE_BYTES // 1024**2} MiB is no event; is it another file?")
        return line

    def _damage(self, trouble: str) -> BadInput:
        return BadInput(f"{self.path}, line {self._line}: {trouble}")


def read_trajectory(path: Path) -> Trajectory:
    """A trajectory from its file; ``torn`` says whether its last line was lost.

    Raises:
        BadInput: it is no trajectory, is of another version, or is damaged; the message gives the line.
    """
    with TrajectoryReader(path) as reader:
        events = tuple(reader)
        if not events:
            raise BadInput(f"{path}: holds no event; the run was called off before it began")
        return Trajectory(events, reader.id, reader.created, reader.geosleuth, reader.torn)


def write_trajectory(path: Path, trajectory: Trajectory) -> None:
    """Write a whole trajectory to a new file.

    Raises:
        BadInput: there is such a file already, or it can't be written.
    """
    with TrajectoryWriter(path, id=trajectory.id, created=trajectory.created) as writer:
        for event in trajectory.events:
            writer.write(event)


def _check_header(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise BadInput(f"this is no trajectory: its first line does not say {FORMAT!r}")
    if header.get("version") != VERSION:
        raise BadInput(
            f"this trajectory is of version {str(header.get('version'))[:20]}, written by geosleuth "
            f"{str(header.get('geosleuth', 'unknown'))[:20]}; geosleuth {__version__} reads version {VERSION}"
        )


def _get_header_text(header: dict[str, Any], name: str) -> str:
    value = header.get(name)
    if not isinstance(value, str):
        raise BadInput(f"the header's {name!r} is not a text")
    return value
