"""Figures of a run from its journal: tools and their results, costs, what answers depended on."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geosleuth.agent import Spent
from geosleuth.agent.events import ToolObserved
from geosleuth.agent.trajectory import TrajectoryReader
from geosleuth.answer.answer import envelope
from geosleuth.geo import THRESHOLDS_KM, distances_km
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.report import PairReport, align, compare_files
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import Outcome, TryRecord
from geosleuth.lab.bench.scored import Scored
from geosleuth.lab.score import Accuracy, within
from geosleuth.support.errors import BadInput
from geosleuth.support.service_use import ServiceUse, merge_uses
from geosleuth.support.text.numbers import NONE
from geosleuth.support.text.safe import one_line, printable
from geosleuth.tools.calls import FailureKind

FloatColumn = NDArray[np.float64]
# Columns of the try that counts, per photo; ``cost_usd`` is NaN if the price is unknown.
COST_COLUMNS = (
    "turns",
    "calls",
    "failed_calls",
    "withheld_calls",
    "seconds",
    "input_tokens",
    "output_tokens",
    "cost_usd",
)

_TROUBLE_CHARS = 240
_HOST_CHARS = 80
_SOME = 3
_DIGITS = re.compile(r"\d[\d.,]*")

# Outcomes of calls that were never executed.
WITHHELD_OUTCOMES: tuple[FailureKind, ...] = ("over_budget", "repeated")
FAILURE_WORDS: Mapping[FailureKind, str] = {
    "unknown_tool": "no such tool",
    "bad_arguments": "bad arguments",
    "refused": "refused by the tool",
    "service": "service failed",
    "timeout": "took too long",
    "no_room": "too many pictures at once",
    "over_budget": "over budget",
    "repeated": "made before",
}
_NAME_CHARS = 60
_MAX_TOOLS = 200
OTHER = "(other names)"
BUCKETS = 5
_MIN_PHOTOS = 10  # smaller groups are not meaningful
# An answer that moved by less than this counts as the same place.
MOVED_KM = 1.0
SHOWN = 20
_VARIANT_NAME_CHARS = 120
OUTCOME_WORDS: Mapping[Outcome, str] = {"answered": "answered", "failed": "failed", "interrupted": "cut off"}
REASON_WORDS = {
    "answered": "the model answered",
    "turns": "out of turns",
    "calls": "out of calls",
    "tokens": "out of tokens",
    "seconds": "out of time",
    "money": "out of money",
    "stuck": "empty replies in a row",
    "service": "the model's server failed",
    "cancelled": "cancelled",
    "error": "something broke",
}
ANSWERER_WORDS = {
    "policy": "the model itself",
    "pool": "its best candidate, without an answer of its own",
    "nobody": "nobody",
}


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Photos whose newest try failed for one reason; messages that differ only in numbers count as one.

    ``trouble`` is the message of the first of them, ``some`` are a few of their ids.
    """

    reason: str
    host: str | None
    trouble: str
    photos: int
    some: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tries:
    """Number of tries that ended in one way, and their usage."""

    count: int = 0
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Kept:
    """The location of the trajectory of a photo's newest try: its name in the run, and the number of the try."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Journal:
    """The content of a run's journal. Rows are photos in the order of their first try.

    Each row is the newest try that was not cut off, or else the newest.
    ``tries`` counts all tries by how they ended, ``tries_per_photo`` photos by their number of tries. ``ended``
    counts why the answered photos' tries ended, ``answered_by`` who gave those answers.
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

    @property
    def services(self) -> tuple[ServiceUse, ...]:
        """Return how often services were asked and failed, in all tries."""
        return merge_uses(use for tries in self.tries.values() for use in tries.spent.services)

    def count(self, outcome: Outcome) -> int:
        """Return how many photos' newest try ended so."""
        return sum(item == outcome for item in self.outcome)

    @property
    def has_answer(self) -> NDArray[np.bool_]:
        """Return which photos have an answer."""
        return np.asarray([item == "answered" for item in self.outcome], dtype=np.bool_)

    def find_rows(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """Return the rows of photos by their ids; -1 for an unknown one."""
        return np.asarray([self.row_of.get(name, -1) for name in ids], dtype=np.int64)


def read_journal(folder: RunFolder, progress: Callable[[int], None] = lambda _tries: None) -> Journal:
    """Read the journal once.

    Raises:
        BadInput: it is damaged.
    """
    growing = _Growing()
    for attempt in folder.tries():
        growing.add(attempt)
        progress(1)
    return growing.finish()


@dataclass(slots=True)
class _Growing:
    row_of: dict[str, int] = field(default_factory=dict)
    newest: list[tuple[Outcome, Kept, str, str]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    spent: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COST_COLUMNS})
    tries: dict[Outcome, Tries] = field(default_factory=dict)
    troubles: dict[str, tuple[str, str | None, str]] = field(default_factory=dict)
    nodes: Counter[str] = field(default_factory=Counter)

    def add(self, record: TryRecord) -> None:
        name = printable(record.id)
        row = self.row_of.setdefault(name, len(self.row_of))
        if row == len(self.newest):
            self.counts.append(0)
            self.newest.append(_state(record))
            for column in self.spent.values():
                column.append(0.0)
        self.counts[row] += 1
        before = self.tries.get(record.outcome, Tries())
        self.tries[record.outcome] = Tries(before.count + 1, before.spent + record.spent)
        if record.node:
            self.nodes[one_line(record.node)] += 1
        if record.outcome == "interrupted" and self.newest[row][0] != "interrupted":
            return  # a try that was cut off does not count if another one ended
        self.newest[row] = _state(record)
        for key, column in self.spent.items():
            column[row] = _get_usage(record.spent, key)
        self.troubles.pop(name, None)
        if record.outcome == "failed":
            host = None if record.host is None else one_line(record.host)[:_HOST_CHARS]
            self.troubles[name] = record.reason, host, one_line(record.trouble or "")[:_TROUBLE_CHARS]

    def finish(self) -> Journal:
        answered = [state for state in self.newest if state[0] == "answered"]
        return Journal(
            row_of=self.row_of,
            outcome=[state[0] for state in self.newest],
            kept=[state[1] for state in self.newest],
            spent={name: np.asarray(values, dtype=np.float64) for name, values in self.spent.items()},
            tries=self.tries,
            tries_per_photo=dict(sorted(Counter(self.counts).items())),
            failures=_group_failures(self.troubles),
            ended=dict(Counter(state[2] for state in answered).most_common()),
            answered_by=dict(Counter(state[3] for state in answered).most_common()),
            nodes=dict(self.nodes.most_common()),
        )


def _state(record: TryRecord) -> tuple[Outcome, Kept, str, str]:
    return record.outcome, Kept(record.image, record.number), record.reason, record.by


def _get_usage(spent: Spent, name: str) -> float:
    if name == "cost_usd":
        return float("nan") if spent.usage.cost_usd is None else spent.usage.cost_usd
    return float(getattr(spent.usage if name.endswith("_tokens") else spent, name))


def _group_failures(troubles: Mapping[str, tuple[str, str | None, str]]) -> tuple[FailureGroup, ...]:
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


@dataclass(slots=True)
class ToolUse:
    """Calls of one tool: how many, how many failed for what reason, and their total time.

    ``photos`` counts photos in which it was called. Withheld calls are in ``calls`` and ``failures`` too, and took no
    time. ``mended`` calls succeeded because something was forgiven, see `geosleuth.tools.calls.Mended`.
    """

    name: str
    calls: int = 0
    photos: int = 0
    seconds: float = 0.0
    failures: Counter[FailureKind] = field(default_factory=Counter)
    mended: int = 0

    @property
    def withheld(self) -> int:
        """Return the number of calls that were never executed."""
        return sum(self.failures[kind] for kind in WITHHELD_OUTCOMES)

    @property
    def carried_out(self) -> int:
        """Return the number of calls that ran."""
        return self.calls - self.withheld

    @property
    def succeeded(self) -> int:
        """Return the number of calls that succeeded."""
        return self.calls - self.failures.total()

    @property
    def succeeded_strictly(self) -> int:
        """Return the number of calls that succeeded as they were written, as papers count."""
        return self.succeeded - self.mended


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The tools of a run, most called first, over the photos with an answer.

    ``photos`` have a readable trajectory; ``with_calls`` of them called any tool. ``absent`` and ``damaged``
    trajectories are missing from all counts. ``combinations`` are the sets of tools that were called together on a
    photo, by name, and on how many photos, most first (SpotAgent, figure 6a).
    """

    tools: tuple[ToolUse, ...]
    photos: int
    with_calls: int
    absent: int
    damaged: int
    combinations: tuple[tuple[tuple[str, ...], int], ...] = ()

    @property
    def calls(self) -> int:
        """Return the number of calls."""
        return sum(tool.calls for tool in self.tools)

    @property
    def carried_out(self) -> int:
        """Return the number of calls that ran."""
        return sum(tool.carried_out for tool in self.tools)

    @property
    def succeeded(self) -> int:
        """Return the number of calls that succeeded."""
        return sum(tool.succeeded for tool in self.tools)

    @property
    def succeeded_strictly(self) -> int:
        """Return the number of calls that succeeded as they were written, as papers count."""
        return sum(tool.succeeded_strictly for tool in self.tools)

    @property
    def failures(self) -> Counter[FailureKind]:
        """Count all failures by kind."""
        return sum((tool.failures for tool in self.tools), Counter())


def read_behaviour(
    folder: RunFolder, journal: Journal, progress: Callable[[int], None] = lambda _photos: None
) -> Behaviour:
    """Read the trajectory of every answered photo, one after the other; the files of a team count together."""
    tools: dict[str, ToolUse] = {}
    together: Counter[tuple[str, ...]] = Counter()
    read = with_calls = absent = damaged = 0
    for outcome, kept in zip(journal.outcome, journal.kept, strict=True):
        if outcome != "answered":
            continue
        progress(1)
        try:
            observed = list(read_calls(folder, kept))
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
            use.mended += seen.mended
            if seen.failure is not None:
                use.failures[seen.failure] += 1
        names = {_use(tools, seen.name).name for seen in observed}
        for name in names:
            tools[name].photos += 1
        together[tuple(sorted(names))] += 1
    return Behaviour(
        tuple(sorted(tools.values(), key=lambda use: (-use.calls, use.name))),
        read,
        with_calls,
        absent,
        damaged,
        tuple(sorted(together.items(), key=lambda item: (-item[1], item[0]))),
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """One call as counted here."""

    name: str
    failure: FailureKind | None
    seconds: float
    mended: bool


def read_calls(folder: RunFolder, kept: Kept) -> Iterator[Seen]:
    """Yield every call of a try, in order; those of a team one member after the other.

    Raises:
        FileNotFoundError: there is no trajectory.
        BadInput: it can't be read.
    """
    files = folder.list_files(kept.name, kept.number)
    if not files:
        raise FileNotFoundError(folder.trajectory(kept.name, kept.number))
    for file in files:
        yield from _read_file_calls(file)


def _read_file_calls(path: Path) -> Iterator[Seen]:
    with TrajectoryReader(path) as reader:
        for event in reader:
            if isinstance(event.body, ToolObserved):
                seen = event.body.observation
                # A policy may call unknown names of any length.
                yield Seen(one_line(seen.name)[:_NAME_CHARS], seen.failure, seen.seconds, seen.mended is not None)


def _use(tools: dict[str, ToolUse], name: str) -> ToolUse:
    if name not in tools and len(tools) >= _MAX_TOOLS:
        name = OTHER
    return tools.setdefault(name, ToolUse(name))


@dataclass(frozen=True, slots=True)
class Measure:
    """A cost of a photo: its key in the document, its name for people, and its unit."""

    key: str
    words: str
    unit: str


TURNS = Measure("turns", "turns", "")
CALLS = Measure("calls", "tool calls", "")
FAILED = Measure("failed_calls", "failed calls", "")
INPUT = Measure("input_tokens", "input tokens", "")
OUTPUT = Measure("output_tokens", "output tokens", "")
TOKENS = Measure("tokens", "tokens", "")
SECONDS = Measure("seconds", "seconds", "s")
COST = Measure("cost_usd", "cost", "USD")
# Measures in the table per photo.
MEASURES = (TURNS, CALLS, FAILED, INPUT, OUTPUT, SECONDS, COST)


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of one measure over photos; ``n`` of them are known."""

    n: int
    mean: float
    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """The photos with about the same cost, and how many of their answers are right."""

    low: float
    high: float
    mean: float
    accuracy: Accuracy


def get_values(journal: Journal, measure: Measure) -> FloatColumn:
    """Return the measure for every photo of the journal, of the try that counts."""
    if measure.key == "tokens":
        return journal.spent["input_tokens"] + journal.spent["output_tokens"]
    return journal.spent[measure.key]


def per_photo(journal: Journal) -> dict[str, Spread]:
    """Return every measure over the answered photos, each with the try that gave its answer."""
    answered = journal.has_answer
    return {measure.key: spread(get_values(journal, measure)[answered]) for measure in (*MEASURES, TOKENS)}


def spread(values: FloatColumn) -> Spread:
    """Return mean, median and 95th percentile of the known values."""
    known = values[~np.isnan(values)]
    if not len(known):
        nothing = float("nan")
        return Spread(0, nothing, nothing, nothing, nothing)
    median, p95 = np.quantile(known, (0.5, 0.95)).tolist()
    return Spread(len(known), float(known.mean()), median, p95, float(known.sum()))


def common_measure(spreads: Sequence[Mapping[str, Spread]]) -> Measure:
    """Return the measure to compare runs by: money if every price is known and any is above 0, else tokens or time."""
    counted = [item for item in spreads if item[TURNS.key].n]
    for measure in (COST, TOKENS, SECONDS):
        whole = all(item[measure.key].n == item[TURNS.key].n for item in counted)
        if whole and any(item[measure.key].total > 0 for item in counted):
            return measure
    return TURNS


def by_spending(
    journal: Journal, scored: Scored, measure: Measure, threshold_km: float, most: int = BUCKETS
) -> tuple[Bucket, ...]:
    """Return accuracy in groups of photos of about equal size, by cost.

    Photos with the same cost stay together, so there may be fewer groups. It shows correlation, not cause: hard
    photos take more turns.
    """
    rows = journal.find_rows(scored.ids)
    known = rows >= 0
    values = np.full(len(rows), np.nan)
    values[known] = get_values(journal, measure)[rows[known]]
    usable = np.flatnonzero(~np.isnan(values))
    if not len(usable):
        return ()
    order = usable[np.argsort(values[usable], kind="stable")]
    sorted_values = values[order]
    groups = max(1, min(most, len(order) // _MIN_PHOTOS))
    edges = np.quantile(sorted_values, np.linspace(0, 1, groups + 1)[1:-1], method="inverted_cdf")
    group = np.searchsorted(np.unique(edges), sorted_values, side="left")
    return tuple(
        _bucket(sorted_values[group == number], scored.distance_km[order[group == number]], threshold_km)
        for number in np.unique(group)
    )


def _bucket(values: FloatColumn, distance_km: NDArray[np.float64], threshold_km: float) -> Bucket:
    hits = int(np.count_nonzero(within(distance_km, threshold_km)))
    return Bucket(
        float(values.min()), float(values.max()), float(values.mean()), Accuracy.from_counts(hits, len(values))
    )


@dataclass(frozen=True, slots=True)
class Turned:
    """Number of photos right and wrong at a distance, without the mask (first) and with it (second)."""

    threshold_km: float
    both_right: int
    right_to_wrong: int
    wrong_to_right: int
    both_wrong: int
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Shift:
    """One photo under both runs: points, names and errors; NaN is unlocated, and then so is ``moved_km``."""

    id: str
    first: tuple[float, float]
    second: tuple[float, float]
    first_km: float
    second_km: float
    moved_km: float
    first_place: str = ""
    second_place: str = ""


@dataclass(frozen=True, slots=True)
class HungOn:
    """Changes of the answers when ``hidden`` was hidden.

    ``n`` photos have an answer in both runs; ``located`` of them a place in both, and ``moved`` of those places lie
    more than a kilometre apart. ``lost`` answers had a place only before, ``found`` ones only after. ``shifts`` are
    the photos that moved most, then those that lost their place.
    """

    first: str
    second: str
    hidden: str
    n: int
    located: int
    moved: int
    median_moved_km: float
    lost: int
    found: int
    turned: tuple[Turned, ...]
    shifts: tuple[Shift, ...]
    pair: PairReport


def compare_masked(
    first: Scored,
    second: Scored,
    *,
    files: tuple[Path, Path] | None = None,
    hidden: str = "",
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
    shown: int = SHOWN,
) -> HungOn:
    """Compare results that are scored already; ``files`` supply the names of places.

    Raises:
        BadInput: they share no photo, or disagree on where one was taken.
    """
    ids, (rows_one, rows_two) = align([first, second])
    moved_km = distances_km(
        first.lat[rows_one], first.lon[rows_one], second.lat[rows_two], second.lon[rows_two], method=first.distance
    )
    here, there = np.isnan(first.lat[rows_one]), np.isnan(second.lat[rows_two])
    known = moved_km[~np.isnan(moved_km)]
    pair = compare_files(first, second, thresholds_km)
    errors = first.distance_km[rows_one], second.distance_km[rows_two]
    shifts = [
        Shift(
            ids[row],
            (float(first.lat[rows_one[row]]), float(first.lon[rows_one[row]])),
            (float(second.lat[rows_two[row]]), float(second.lon[rows_two[row]])),
            float(errors[0][row]),
            float(errors[1][row]),
            float(moved_km[row]),
        )
        for row in _most_moved(moved_km, ~here & there, shown)
    ]
    return HungOn(
        first=first.label,
        second=second.label,
        hidden=one_line(hidden),
        n=len(ids),
        located=len(known),
        moved=int(np.count_nonzero(known > MOVED_KM)),
        median_moved_km=float(np.median(known)) if len(known) else float("nan"),
        lost=int(np.count_nonzero(~here & there)),
        found=int(np.count_nonzero(here & ~there)),
        turned=tuple(_count_turned(errors, item.threshold_km, item.p_adjusted) for item in pair.comparison.accuracies),
        shifts=tuple(shifts if files is None else _with_places(shifts, files)),
        pair=pair,
    )


def _most_moved(moved_km: NDArray[np.float64], lost: NDArray[np.bool_], most: int) -> list[int]:
    """Return the rows that moved by more than a kilometre, farthest first, then the rows that lost their place."""
    far = np.flatnonzero(moved_km > MOVED_KM)
    ordered = far[np.argsort(-moved_km[far], kind="stable")]
    return [*ordered.tolist(), *np.flatnonzero(lost).tolist()][:most]


def _count_turned(
    errors: tuple[NDArray[np.float64], NDArray[np.float64]], threshold_km: float, p_adjusted: float
) -> Turned:
    before, after = (within(error, threshold_km) for error in errors)
    return Turned(
        threshold_km,
        both_right=int(np.count_nonzero(before & after)),
        right_to_wrong=int(np.count_nonzero(before & ~after)),
        wrong_to_right=int(np.count_nonzero(~before & after)),
        both_wrong=int(np.count_nonzero(~before & ~after)),
        p_adjusted=p_adjusted,
    )


def _with_places(shifts: Sequence[Shift], files: tuple[Path, Path]) -> list[Shift]:
    wanted = {shift.id for shift in shifts}
    item, two = (_read_place_names(file, wanted) for file in files)
    return [
        Shift(
            shift.id, shift.first, shift.second, shift.first_km, shift.second_km, shift.moved_km,
            item.get(shift.id, ""), two.get(shift.id, ""),
        )
        for shift in shifts
    ]  # fmt: skip


def _read_place_names(file: Path, wanted: set[str]) -> dict[str, str]:
    return {
        printable(record.id): one_line(envelope(record.read("lenient").address))[:_VARIANT_NAME_CHARS]
        for record in read_records(file)
        if printable(record.id) in wanted
    }


def amount(measure: Measure, value: float) -> str:
    """Format a value without its unit, with only significant digits."""
    if isnan(value):
        return NONE
    if measure == COST:
        return money(value)
    if value >= 1000 or measure.key.endswith("tokens") or (value == round(value) and measure != SECONDS):
        return f"{value:,.0f}"
    return f"{value:.1g}" if 0 < value < 0.05 else f"{value:.1f}"


def money(usd: float) -> str:
    """Format US dollars without the sign: four decimals below one, for a photo costs a fraction of a cent."""
    if isnan(usd):
        return NONE
    if usd < 0.00005:
        return "< 0.0001" if usd > 0 else "0"
    return f"{usd:,.4f}" if usd < 1 else f"{usd:,.2f}"


def with_unit(measure: Measure, value: float) -> str:
    """Format a value with its unit."""
    written = amount(measure, value)
    return f"{written} {measure.unit}".rstrip() if written != NONE else NONE


def heading(measure: Measure) -> str:
    """Return the column heading of a measure."""
    return f"{measure.words}, {measure.unit}" if measure.unit and measure.words != "seconds" else measure.words


def share(part: int, whole: int) -> str:
    """Format a share in percent, with its sign."""
    return NONE if not whole else f"{100 * part / whole:.1f} %"
