"""What was done in a run: which tools were called how often, and what came of it, read from the trajectories."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geosleuth.agent.events import ToolObserved
from geosleuth.agent.trajectory import TrajectoryReader
from geosleuth.bench.run.folder import RunFolder
from geosleuth.errors import BadInput
from geosleuth.text import one_line
from geosleuth.tools.model import FailureKind

from .reading import Journal, Kept

WITHHELD: tuple[FailureKind, ...] = ("over_budget", "repeated")
"""Calls that were never carried out."""

FAILURE_WORDS: Mapping[FailureKind, str] = {
    "unknown_tool": "no such tool",
    "bad_arguments": "bad arguments",
    "refused": "refused by the tool",
    "service": "service failed",
    "timeout": "took too long",
    "over_budget": "over budget",
    "repeated": "made before",
}

_NAME_CHARS = 60
_MOST_TOOLS = 200
OTHER = "(other names)"


@dataclass(slots=True)
class ToolUse:
    """Calls of one tool: how many were made, how many failed for what reason, how long they took in all.

    ``photos`` is in how many photos it was called at all. Withheld calls are in ``calls`` and ``failures`` too, and
    took no time.
    """

    name: str
    calls: int = 0
    photos: int = 0
    seconds: float = 0.0
    failures: Counter[FailureKind] = field(default_factory=Counter)

    @property
    def withheld(self) -> int:
        """Calls that were never carried out."""
        return sum(self.failures[kind] for kind in WITHHELD)

    @property
    def carried_out(self) -> int:
        """Calls that ran."""
        return self.calls - self.withheld

    @property
    def succeeded(self) -> int:
        """Calls that gave something."""
        return self.calls - self.failures.total()


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The tools of a run, most called first, over the photos with an answer.

    ``photos`` have a trajectory that could be read; ``with_calls`` of them called any tool. ``absent`` and
    ``damaged`` trajectories are missing from all counts.
    """

    tools: tuple[ToolUse, ...]
    photos: int
    with_calls: int
    absent: int
    damaged: int

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(tool.calls for tool in self.tools)

    @property
    def carried_out(self) -> int:
        """Calls that ran."""
        return sum(tool.carried_out for tool in self.tools)

    @property
    def succeeded(self) -> int:
        """Calls that gave something."""
        return sum(tool.succeeded for tool in self.tools)

    @property
    def failures(self) -> Counter[FailureKind]:
        """All failures by kind."""
        return sum((tool.failures for tool in self.tools), Counter())


def read_behaviour(
    folder: RunFolder, journal: Journal, progress: Callable[[int], None] = lambda _photos: None
) -> Behaviour:
    """Read the trajectory of every answered photo, one after the other; several minds' files count together."""
    tools: dict[str, ToolUse] = {}
    read = with_calls = absent = damaged = 0
    for outcome, kept in zip(journal.outcome, journal.kept, strict=True):
        if outcome != "answered":
            continue
        progress(1)
        try:
            observed = list(calls_of(folder, kept))
        except FileNotFoundError:
            absent += 1
            continue
        except BadInput:
            damaged += 1
            continue
        read += 1
        with_calls += bool(observed)
        for seen in observed:
            use = _use(tools, seen.name)
            use.calls += 1
            use.seconds += seen.seconds
            if seen.failure is not None:
                use.failures[seen.failure] += 1
        for name in {seen.name for seen in observed}:
            _use(tools, name).photos += 1
    return Behaviour(
        tuple(sorted(tools.values(), key=lambda use: (-use.calls, use.name))), read, with_calls, absent, damaged
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """One call as it counts here."""

    name: str
    failure: FailureKind | None
    seconds: float


def calls_of(folder: RunFolder, kept: Kept) -> Iterator[Seen]:
    """Every call of a try, in order; those of several minds one mind after the other.

    Raises:
        FileNotFoundError: there is no trajectory.
        BadInput: it can't be read.
    """
    files = folder.files_of(kept.name, kept.number)
    if not files:
        raise FileNotFoundError(folder.trajectory(kept.name, kept.number))
    for file in files:
        yield from _calls_in(file)


def _calls_in(path: Path) -> Iterator[Seen]:
    with TrajectoryReader(path) as reader:
        for event in reader:
            if isinstance(event.body, ToolObserved):
                seen = event.body.observation
                # A policy may call things that are no tools, by names of any length.
                yield Seen(one_line(seen.name)[:_NAME_CHARS], seen.failure, seen.seconds)


def _use(tools: dict[str, ToolUse], name: str) -> ToolUse:
    if name not in tools and len(tools) >= _MOST_TOOLS:
        name = OTHER
    return tools.setdefault(name, ToolUse(name))
