"""The report of runs as a JSON document, and as text for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth import __version__
from geosleuth.agent import Spent, spent_document
from geosleuth.answer.answer import envelope
from geosleuth.geo import threshold_text
from geosleuth.lab.bench.export import finite, pair_document, score_document
from geosleuth.lab.bench.page.parts import sections_view
from geosleuth.lab.bench.report import PairReport
from geosleuth.lab.bench.terminal import pair_view, score_view
from geosleuth.lab.score import PublishedRow

from .figures import Behaviour, Bucket, HungOn, Journal, Shift, Spread
from .run_report import RunReport, RunsReport, Shot
from .sections import behaviour_section, costs_section, coverage_section, failures_section, hung_on_section

FORMAT = "geosleuth-run-report/1"
_MOVED = 20


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
    parts.append(score_view([run.report for run in report.runs], published))
    for pair in pairs:
        parts += ["", pair_view(pair, 0)]
    sections = (
        coverage_section(report),
        costs_section(report),
        behaviour_section(report.runs),
        failures_section(report.runs),
        hung_on_section(report.hung_on),
    )
    return Group(*parts, *sections_view(sections))
