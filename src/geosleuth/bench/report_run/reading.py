"""A run's journal as columns: for each photo the try that decides, and what all tries together used."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from geosleuth.agent import Spent
from geosleuth.bench.run.folder import RunFolder
from geosleuth.bench.run.journal import TryRecord
from geosleuth.bench.run.model import Outcome
from geosleuth.text import one_line, printable

FloatColumn = NDArray[np.float64]
SPENT = ("turns", "calls", "failed_calls", "withheld_calls", "seconds", "input_tokens", "output_tokens", "cost_usd")
"""What is kept of the try that counts, for each photo; ``cost_usd`` is NaN where the price is not known."""

_TROUBLE_CHARS = 240
_HOST_CHARS = 80
_SOME = 3
_DIGITS = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Photos whose newest try failed for one reason; troubles that differ in their numbers alone count as one.

    ``trouble`` is how the first of them was put, ``some`` are a few of their ids.
    """

    reason: str
    host: str | None
    trouble: str
    photos: int
    some: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tries:
    """How often tries ended in one way, and what they used."""

    count: int = 0
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the trajectory of a photo's newest try lies: its name in the run, and the number of the try."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Journal:
    """What the journal says. Rows are photos in the order of their first try.

    Each stands with the newest try that was not cut off, or else with the newest.
    ``tries`` counts all tries by how they ended, ``tries_per_photo`` how many photos took so many. ``ended`` counts
    why the answered photos' tries ended, ``answered_by`` who gave those answers.
    """

    row_of: Mapping[str, int]
    outcome: Sequence[Outcome]
    kept: Sequence[Kept]
    spent: Mapping[str, FloatColumn]
    tries: Mapping[Outcome, Tries]
    tries_per_photo: Mapping[int, int]
    failures: tuple[FailureGroup, ...]
    ended: Mapping[str, int]
    answered_by: Mapping[str, int]
    nodes: Mapping[str, int]

    def count(self, outcome: Outcome) -> int:
        """How many photos' newest try ended so."""
        return sum(one == outcome for one in self.outcome)

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which photos have an answer."""
        return np.asarray([one == "answered" for one in self.outcome], dtype=np.bool_)

    def rows_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """The rows of photos by their ids; -1 for one that the journal does not know."""
        return np.asarray([self.row_of.get(name, -1) for name in ids], dtype=np.int64)


def read_journal(folder: RunFolder, progress: Callable[[int], None] = lambda _tries: None) -> Journal:
    """Go through the journal once.

    Raises:
        BadInput: it is damaged.
    """
    growing = _Growing()
    for one in folder.tries():
        growing.add(one)
        progress(1)
    return growing.finish()


@dataclass(slots=True)
class _Growing:
    row_of: dict[str, int] = field(default_factory=dict)
    newest: list[tuple[Outcome, Kept, str, str]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    spent: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in SPENT})
    tries: dict[Outcome, Tries] = field(default_factory=dict)
    troubles: dict[str, tuple[str, str | None, str]] = field(default_factory=dict)
    nodes: Counter[str] = field(default_factory=Counter)

    def add(self, one: TryRecord) -> None:
        name = printable(one.id)
        row = self.row_of.setdefault(name, len(self.row_of))
        if row == len(self.newest):
            self.counts.append(0)
            self.newest.append(_state(one))
            for column in self.spent.values():
                column.append(0.0)
        self.counts[row] += 1
        before = self.tries.get(one.outcome, Tries())
        self.tries[one.outcome] = Tries(before.count + 1, before.spent + one.spent)
        if one.node:
            self.nodes[one_line(one.node)] += 1
        if one.outcome == "interrupted" and self.newest[row][0] != "interrupted":
            return  # a try that was cut off decides nothing where another one came to an end
        self.newest[row] = _state(one)
        for key, column in self.spent.items():
            column[row] = _used(one.spent, key)
        self.troubles.pop(name, None)
        if one.outcome == "failed":
            host = None if one.host is None else one_line(one.host)[:_HOST_CHARS]
            self.troubles[name] = one.reason, host, one_line(one.trouble or "")[:_TROUBLE_CHARS]

    def finish(self) -> Journal:
        answered = [state for state in self.newest if state[0] == "answered"]
        return Journal(
            row_of=self.row_of,
            outcome=[state[0] for state in self.newest],
            kept=[state[1] for state in self.newest],
            spent={name: np.asarray(values, dtype=np.float64) for name, values in self.spent.items()},
            tries=self.tries,
            tries_per_photo=dict(sorted(Counter(self.counts).items())),
            failures=_grouped(self.troubles),
            ended=dict(Counter(state[2] for state in answered).most_common()),
            answered_by=dict(Counter(state[3] for state in answered).most_common()),
            nodes=dict(self.nodes.most_common()),
        )


def _state(one: TryRecord) -> tuple[Outcome, Kept, str, str]:
    return one.outcome, Kept(one.image, one.number), one.reason, one.by


def _used(spent: Spent, name: str) -> float:
    if name == "cost_usd":
        return float("nan") if spent.usage.cost_usd is None else spent.usage.cost_usd
    return float(getattr(spent.usage if name.endswith("_tokens") else spent, name))


def _grouped(troubles: Mapping[str, tuple[str, str | None, str]]) -> tuple[FailureGroup, ...]:
    groups: dict[tuple[str, str | None, str], list[str]] = {}
    said: dict[tuple[str, str | None, str], str] = {}
    for name, (reason, host, trouble) in troubles.items():
        key = reason, host, _DIGITS.sub("#", trouble)
        groups.setdefault(key, []).append(name)
        said.setdefault(key, trouble)
    found = [
        FailureGroup(reason, host, said[reason, host, folded], len(names), tuple(names[:_SOME]))
        for (reason, host, folded), names in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: -group.photos))
