"""The report of runs as a JSON document, and as text for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth import __version__
from geosleuth.agent import Spent, spent_document
from geosleuth.answer.answer import envelope
from geosleuth.geo import threshold_text
from geosleuth.lab.bench.export import finite, pair_document, score_document, to_document
from geosleuth.lab.bench.page.parts import sections_view
from geosleuth.lab.bench.report import PairReport
from geosleuth.lab.bench.terminal import pair_view, score_view
from geosleuth.lab.score import PublishedRow

from .figures import Behaviour, HungOn, Journal
from .run_report import RunReport, RunsReport, Shot
from .sections import behaviour_section, costs_section, coverage_section, failures_section, hung_on_section

FORMAT = "geosleuth-run-report/1"
_MOVED = 20
_COUNTED = ("carried_out", "succeeded", "succeeded_strictly")


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
        "runs": [_convert_run(run, figures) for run, figures in zip(report.runs, scored["files"], strict=True)],
        "hung_on": [_convert_comparison(item) for item in report.hung_on],
        "pairs": [pair_document(pair, _MOVED) for pair in pairs],
        "published": scored["published"],
    }


def _convert_run(run: RunReport, figures: Mapping[str, Any]) -> dict[str, Any]:
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
        "per_photo": to_document(run.spent),
        "accuracy_by_spending": to_document(run.buckets),
        "tools": _behaviour(run.behaviour),
        "tries": _tries(run.journal),
        "worked_seconds": round(run.folder.index.seconds, 3),
        "ended": dict(run.journal.ended),
        "answered_by": dict(run.journal.answered_by),
        "services": to_document(run.journal.services),
        "failures": to_document(run.journal.failures),
        "wins": [_shot(shot) for shot in run.gallery.wins],
        "farthest": [_shot(shot) for shot in run.gallery.failures],
    }


def _behaviour(found: Behaviour) -> dict[str, Any]:
    return {
        "photos": found.photos,
        "photos_with_calls": found.with_calls,
        "trajectories_absent": found.absent,
        "trajectories_damaged": found.damaged,
        **{name: getattr(found, name) for name in ("calls", *_COUNTED)},
        "failures": dict(found.failures.most_common()),
        "by_tool": {
            tool.name: {**to_document(tool), **{name: getattr(tool, name) for name in _COUNTED}} for tool in found.tools
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


def _convert_comparison(hung_on: HungOn) -> dict[str, Any]:
    return {item.name: to_document(getattr(hung_on, item.name)) for item in fields(hung_on) if item.name != "pair"}


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
