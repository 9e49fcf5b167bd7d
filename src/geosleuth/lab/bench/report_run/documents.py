"""The report of runs as a JSON document, and as text for a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.agent import Spent, spent_document
from geosleuth.answer.answer import envelope
from geosleuth.geo import threshold_text
from geosleuth.lab.bench.export import finite, pair_document, score_document
from geosleuth.lab.bench.report import PairReport
from geosleuth.lab.bench.terminal import pair_view, score_view
from geosleuth.lab.score import PublishedRow
from geosleuth.support.text.numbers import NONE, count, distance, p_value, percent_sign, plural
from geosleuth.support.text.safe import one_line

from .figures import (
    FAILURE_WORDS,
    MEASURES,
    MOVED_KM,
    OUTCOME_WORDS,
    REASON_WORDS,
    Behaviour,
    Bucket,
    HungOn,
    Journal,
    Shift,
    Spread,
    amount,
    heading,
    money,
    share,
    with_unit,
)
from .run_report import RunReport, RunsReport, Shot

FORMAT = "geosleuth-run-report/1"
_MOVED = 20

_SHOWN_TOOLS = 12
_SHOWN_REASONS = 5


def run_document(
    report: RunsReport, published: Sequence[PublishedRow] = (), pairs: Sequence[PairReport] = ()
) -> dict[str, Any]:
    """Return everything ``bench report`` says; the scorer's figures are as in ``bench score --json``."""
    scored = score_document([run.report for run in report.runs], published)
    return {
        "format": FORMAT,
        "geosleuth": __version__,
        "right_within_km": report.right_km,
        "compared_by": report.measure.key,
        "runs": [_run(run, figures) for run, figures in zip(report.runs, scored["files"], strict=True)],
        "hung_on": [_hung_on(one) for one in report.hung_on],
        "pairs": [pair_document(pair, _MOVED) for pair in pairs],
        "published": scored["published"],
    }


def _run(run: RunReport, figures: Mapping[str, Any]) -> dict[str, Any]:
    counts = run.counts
    return {
        "run": run.label,
        "id": run.folder.manifest.id,
        "facts": run.facts,
        "mask": run.hidden or None,
        "photos": counts.photos,
        "answered": counts.answered,
        "unlocated": counts.unlocated,
        "failed": counts.failed,
        "missing": counts.missing,
        "alarms": run.alarms,
        "notes": list(run.notes),
        "figures": figures,
        "accuracy_if_the_rest_are_misses": {
            threshold_text(km): finite(share.percent.value) for km, share in run.counts_as_misses.items()
        },
        "per_photo": {key: _spread(found) for key, found in run.spent.items()},
        "accuracy_by_spending": [_bucket(bucket) for bucket in run.buckets],
        "tools": _behaviour(run.behaviour),
        "tries": _tries(run.journal),
        "worked_seconds": round(run.folder.index.seconds, 3),
        "ended": dict(run.journal.ended),
        "answered_by": dict(run.journal.answered_by),
        "services": [asdict(use) for use in run.journal.services],
        "failures": [
            {
                "photos": group.photos,
                "reason": group.reason,
                "host": group.host,
                "trouble": group.trouble,
                "some": list(group.some),
            }
            for group in run.journal.failures
        ],
        "wins": [_shot(shot) for shot in run.gallery.wins],
        "farthest": [_shot(shot) for shot in run.gallery.failures],
    }


def _spread(found: Spread) -> dict[str, Any]:
    values = {name: finite(getattr(found, name)) for name in ("mean", "median", "p95", "total")}
    return {"n": found.n, **values}


def _bucket(bucket: Bucket) -> dict[str, Any]:
    share = bucket.accuracy
    return {
        "from": bucket.low, "to": bucket.high, "mean": bucket.mean, "n": share.n, "hits": share.hits,
        "percent": finite(share.percent.value), "low": finite(share.percent.low), "high": finite(share.percent.high),
    }  # fmt: skip


def _behaviour(found: Behaviour) -> dict[str, Any]:
    return {
        "photos": found.photos,
        "photos_with_calls": found.with_calls,
        "trajectories_absent": found.absent,
        "trajectories_damaged": found.damaged,
        "calls": found.calls,
        "carried_out": found.carried_out,
        "succeeded": found.succeeded,
        "succeeded_strictly": found.succeeded_strictly,
        "failures": dict(found.failures.most_common()),
        "by_tool": {
            tool.name: {
                "calls": tool.calls,
                "carried_out": tool.carried_out,
                "succeeded": tool.succeeded,
                "succeeded_strictly": tool.succeeded_strictly,
                "photos": tool.photos,
                "seconds": round(tool.seconds, 6),
                "failures": dict(tool.failures.most_common()),
            }
            for tool in found.tools
        },
        "combinations": [{"tools": list(names), "photos": photos} for names, photos in found.combinations],
    }


def _tries(journal: Journal) -> dict[str, Any]:
    return {
        "by_outcome": {
            outcome: {"count": found.count, **_spent(found.spent)} for outcome, found in journal.tries.items()
        },
        "photos_by_number_of_tries": {str(number): photos for number, photos in journal.tries_per_photo.items()},
        "by_node": dict(journal.nodes),
    }


def _spent(spent: Spent) -> dict[str, Any]:
    usage = spent.usage
    return {
        **spent_document(spent),
        "model_requests": usage.tries,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": usage.cost_usd,
    }


def _shot(shot: Shot) -> dict[str, Any]:
    truth, point = shot.truth.point, shot.answer.point
    return {
        "id": shot.id,
        "error_km": finite(shot.error_km),
        "truth": {"lat": truth.lat, "lon": truth.lon},
        "answer": None if point is None else {"lat": point.lat, "lon": point.lon},
        "place": envelope(shot.answer.address),
        "probability": shot.answer.probability,
        "tools": None if shot.tools is None else [tool for tool, _ in shot.tools],
    }


def _hung_on(one: HungOn) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "hidden": one.hidden,
        "n": one.n,
        "located_in_both": one.located,
        "moved": one.moved,
        "median_moved_km": finite(one.median_moved_km),
        "place_lost": one.lost,
        "place_found": one.found,
        "turned": {
            threshold_text(item.threshold_km): {
                "both_right": item.both_right,
                "right_to_wrong": item.right_to_wrong,
                "wrong_to_right": item.wrong_to_right,
                "both_wrong": item.both_wrong,
                "p_adjusted": item.p_adjusted,
            }
            for item in one.turned
        },
        "moved_most": [_shift(shift) for shift in one.shifts],
    }


def _shift(shift: Shift) -> dict[str, Any]:
    def point(at: tuple[float, float]) -> dict[str, float] | None:
        return None if finite(at[0]) is None else {"lat": at[0], "lon": at[1]}

    return {
        "id": shift.id,
        "moved_km": finite(shift.moved_km),
        "first": {"point": point(shift.first), "place": shift.first_place, "error_km": finite(shift.first_km)},
        "second": {"point": point(shift.second), "place": shift.second_place, "error_km": finite(shift.second_km)},
    }


def run_view(
    report: RunsReport, published: Sequence[PublishedRow] = (), pairs: Sequence[PairReport] = ()
) -> RenderableType:
    """Return the scorer's figures, every run against the first, then what only the run folders contain."""
    parts: list[RenderableType] = [
        Text(f"{run.label}: {words}", style="bold red") for run in report.runs for words in run.alarms
    ]
    parts += [score_view([run.report for run in report.runs], published), "", _coverage(report)]
    for run in report.runs:
        parts += [Text(f"note, {run.label}: {note}", style="yellow") for note in run.notes]
    for pair in pairs:
        parts += ["", pair_view(pair, 0)]
    parts += ["", _costs(report.runs), *_spending(report)]
    for run in report.runs:
        parts += ["", *_tools(run), *_failures(run)]
    for one in report.hung_on:
        parts += ["", *_terminal_hung_on(one)]
    return Group(*parts)


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    return table


def _coverage(report: RunsReport) -> Table:
    table = _table("Photos", "")
    for run in report.runs:
        table.add_column(run.label, justify="right", overflow="fold")
    for words, key in (
        ("in the data set", "photos"), ("answered", "answered"), ("  of them unlocated", "unlocated"),
        ("failed", "failed"), ("missing", "missing"),
    ):  # fmt: skip
        table.add_row(words, *(count(getattr(run.counts, key)) for run in report.runs))
    km = threshold_text(report.right_km)
    table.add_row(
        f"within {km} km, of the answered",
        *(percent_sign(run.report.summary.within[report.right_km].percent.value) for run in report.runs),
    )
    table.add_row(
        "  the rest counted as misses",
        *(percent_sign(run.counts_as_misses[report.right_km].percent.value) for run in report.runs),
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


def _spending(report: RunsReport) -> Iterable[RenderableType]:
    for run in report.runs:
        if len(run.buckets) > 1:
            steps = ", ".join(
                f"to {with_unit(report.measure, bucket.high)}: {percent_sign(bucket.accuracy.percent.value)}"
                for bucket in run.buckets
            )
            yield Text(
                f"{run.label}: within {threshold_text(report.right_km)} km by {heading(report.measure)}, {steps}"
            )


def _tools(run: RunReport) -> Iterable[RenderableType]:
    found = run.behaviour
    if not found.tools:
        yield Text(f"{run.label}: no tool was called in {plural(found.photos, 'trajectory', 'trajectories')}")
    else:
        table = _table(f"{run.label}: tools, {found.calls / max(1, found.photos):.1f} calls a photo", "tool")
        for words in ("calls", "of all", "in photos", "succeeded", "strictly", "withheld"):
            table.add_column(words, justify="right")
        for tool in found.tools[:_SHOWN_TOOLS]:
            table.add_row(
                tool.name, count(tool.calls), share(tool.calls, found.calls), share(tool.photos, found.photos),
                share(tool.succeeded, tool.carried_out), share(tool.succeeded_strictly, tool.carried_out),
                count(tool.withheld),
            )  # fmt: skip
        if len(found.tools) > _SHOWN_TOOLS:
            table.add_row(f"… and {count(len(found.tools) - _SHOWN_TOOLS)} more", *([""] * 6))
        yield table
        together = _table(f"{run.label}: tools called together on a photo", "tools")
        together.add_column("photos", justify="right")
        together.add_column("of all", justify="right")
        for names, photos in found.combinations[:_SHOWN_TOOLS]:
            together.add_row(" + ".join(names) or "none", count(photos), share(photos, found.photos))
        yield together
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
    for use in run.journal.services:
        yield Text(one_line(f"service {use}"), style="red" if use.failed else "")
    for group in run.journal.failures[:_SHOWN_REASONS]:
        why = group.trouble or REASON_WORDS.get(group.reason, group.reason)
        where = f" ({group.host})" if group.host else ""
        yield Text(f"failed, {plural(group.photos, 'photo', 'photos')}{where}: {why}", style="red")
    more = len(run.journal.failures) - _SHOWN_REASONS
    if more > 0:
        yield Text(f"… and {plural(more, 'more reason', 'more reasons')}", style="red")


def _terminal_hung_on(one: HungOn) -> Iterable[RenderableType]:
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
