"""The report of runs for people at a terminal; fits 80 columns for one or two runs."""

from collections.abc import Iterable, Sequence
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.bench.report_run.wording import (
    OUTCOME_WORDS,
    REASON_WORDS,
    amount,
    heading,
    money,
    share,
    with_unit,
)
from geosleuth.bench.terminal import score_view
from geosleuth.geo import threshold_text
from geosleuth.score import PublishedRow
from geosleuth.text.numbers import NONE, count, distance, p_value, percent_sign, plural

from .behaviour import FAILURE_WORDS
from .costs import MEASURES
from .hung_on import MOVED_KM, HungOn
from .told import RunReport, Told

_SHOWN_TOOLS = 12
_SHOWN_REASONS = 5


def run_view(told: Told, published: Sequence[PublishedRow] = ()) -> RenderableType:
    """The ruler's figures, then what only the folders tell."""
    parts: list[RenderableType] = [score_view([run.report for run in told.runs], published), "", _coverage(told)]
    for run in told.runs:
        parts += [Text(f"note, {run.label}: {note}", style="yellow") for note in run.notes]
    parts += ["", _costs(told.runs), *_spending(told)]
    for run in told.runs:
        parts += ["", *_tools(run), *_failures(run)]
    for one in told.hung_on:
        parts += ["", *_hung_on(one)]
    return Group(*parts)


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    return table


def _coverage(told: Told) -> Table:
    table = _table("Photos", "")
    for run in told.runs:
        table.add_column(run.label, justify="right", overflow="fold")
    for words, key in (
        ("in the data set", "photos"), ("answered", "answered"), ("  of them unlocated", "unlocated"),
        ("failed", "failed"), ("missing", "missing"),
    ):  # fmt: skip
        table.add_row(words, *(count(getattr(run.counts, key)) for run in told.runs))
    km = threshold_text(told.right_km)
    table.add_row(
        f"within {km} km, of the answered",
        *(percent_sign(run.report.summary.within[told.right_km].percent.value) for run in told.runs),
    )
    table.add_row(
        "  the rest counted as misses",
        *(percent_sign(run.counts_as_misses[told.right_km].percent.value) for run in told.runs),
    )
    return table


def _costs(runs: Sequence[RunReport]) -> Table:
    table = _table("Per answered photo: mean (median, 95 % below)", "")
    for run in runs:
        table.add_column(run.label, justify="right", overflow="fold")
    for measure in MEASURES:
        cells = []
        for run in runs:
            found = run.spent[measure.key]
            rest = f" ({amount(measure, found.median)}, {amount(measure, found.p95)})" if found.n else ""
            cells.append(Text.assemble(amount(measure, found.mean), (rest, "dim")))
        table.add_row(heading(measure), *cells)
    return table


def _spending(told: Told) -> Iterable[RenderableType]:
    for run in told.runs:
        if len(run.buckets) > 1:
            steps = ", ".join(
                f"to {with_unit(told.measure, bucket.high)}: {percent_sign(bucket.accuracy.percent.value)}"
                for bucket in run.buckets
            )
            yield Text(f"{run.label}: within {threshold_text(told.right_km)} km by {heading(told.measure)}, {steps}")


def _tools(run: RunReport) -> Iterable[RenderableType]:
    found = run.behaviour
    if not found.tools:
        yield Text(f"{run.label}: no tool was called in {plural(found.photos, 'trajectory', 'trajectories')}")
    else:
        table = _table(f"{run.label}: tools, {found.calls / max(1, found.photos):.1f} calls a photo", "tool")
        for words in ("calls", "of all", "in photos", "succeeded", "withheld"):
            table.add_column(words, justify="right")
        for tool in found.tools[:_SHOWN_TOOLS]:
            table.add_row(
                tool.name, count(tool.calls), share(tool.calls, found.calls), share(tool.photos, found.photos),
                share(tool.succeeded, tool.carried_out), count(tool.withheld),
            )  # fmt: skip
        if len(found.tools) > _SHOWN_TOOLS:
            table.add_row(f"… and {count(len(found.tools) - _SHOWN_TOOLS)} more", *([""] * 5))
        yield table
    if found.failures:
        kinds = ", ".join(f"{count(n)} {FAILURE_WORDS.get(kind, kind)}" for kind, n in found.failures.most_common())
        yield Text(f"calls that gave nothing: {kinds}")
    if found.absent or found.damaged:
        words = f"{count(found.absent)} trajectories not there, {count(found.damaged)} damaged"
        yield Text(f"note, {run.label}: {words}; they are missing here", style="yellow")


def _failures(run: RunReport) -> Iterable[RenderableType]:
    tries = []
    for outcome, found in run.journal.tries.items():
        cost = found.spent.usage.cost_usd
        paid = f", {money(cost)} USD" if cost else ""
        tries.append(f"{count(found.count)} {OUTCOME_WORDS[outcome]}{paid}")
    yield Text(f"tries: {'; '.join(tries) or NONE}")
    for group in run.journal.failures[:_SHOWN_REASONS]:
        why = group.trouble or REASON_WORDS.get(group.reason, group.reason)
        where = f" ({group.host})" if group.host else ""
        yield Text(f"failed, {plural(group.photos, 'photo', 'photos')}{where}: {why}", style="red")
    more = len(run.journal.failures) - _SHOWN_REASONS
    if more > 0:
        yield Text(f"… and {plural(more, 'more reason', 'more reasons')}", style="red")


def _hung_on(one: HungOn) -> Iterable[RenderableType]:
    moved = ""
    if one.located:
        moved = f"{count(one.moved)} of {count(one.located)} with a place in both moved by more than "
        moved += f"{threshold_text(MOVED_KM)} km, "
    yield Text(
        f"Hidden: {one.hidden or 'nothing'}; {one.second} against {one.first}, {count(one.n)} photos: "
        f"{moved}{count(one.lost)} lost their place"
    )
    table = _table("", "within")
    for words in ("right in both", "right, then wrong", "wrong, then right", "p (Holm)"):
        table.add_column(words, justify="right")
    for item in one.turned:
        table.add_row(
            f"{threshold_text(item.threshold_km)} km", count(item.both_right), count(item.right_to_wrong),
            count(item.wrong_to_right), p_value(item.p_adjusted),
        )  # fmt: skip
    yield table
    if one.shifts:
        shifts = _table("Answers that moved most", "photo")
        for words in ("moved", "error before", "error after"):
            shifts.add_column(words, justify="right", no_wrap=True)
        for shift in one.shifts[:10]:
            shifts.add_row(
                shift.id,
                "place lost" if isnan(shift.moved_km) else distance(shift.moved_km),
                distance(shift.first_km),
                distance(shift.second_km),
            )
        yield shifts
