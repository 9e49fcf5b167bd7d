"""A replay for people and for machines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.bench.export import finite
from geosleuth.bench.numbers import p_value
from geosleuth.geo import FloatArray, threshold_text
from geosleuth.score import Comparison, Summary, Truth, compare_paired, summarise
from geosleuth.team.recorded import WITHIN_KM
from geosleuth.team.recorded.learning import LEARNED, REPORTED_KM, SINGLE, Known, Replay
from geosleuth.team.recorded.panel import IntArray

FORMAT = "geosleuth-replay/1"


@dataclass(frozen=True, slots=True, eq=False)
class ReplayReport:
    """A measured replay, with what was odd about the files."""

    agents: tuple[str, ...]
    ids: tuple[str, ...]
    known: Known
    result: Replay
    notes: tuple[str, ...]
    folds: int
    seed: int
    truths: Mapping[str, Truth]


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A trust that was learned before, on new images."""

    agents: tuple[str, ...]
    learned_from: int
    images: int
    within: FloatArray
    chosen: IntArray
    notes: tuple[str, ...]


def replay_view(report: ReplayReport) -> RenderableType:
    """The table of ways to answer, the paired tests, calibration, and how it was split."""
    result = report.result
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("right within, %", no_wrap=True, min_width=16)
    for km in REPORTED_KM:
        table.add_column(f"{threshold_text(km)} km", justify="right")
    for name, distances in result.rows.items():
        label = f"{name} ({result.single})" if name == SINGLE else name
        table.add_row(Text(label, style="bold" if name == LEARNED else ""), *map(_share, _shares(distances)))
    errors = result.calibration_errors()
    calibrated = ", ".join(f"{threshold_text(km)} km {error:.3f}" for km, error in errors.items())
    election = ", ".join(f"{name} {lst:.2f}" for name, lst in zip(report.agents, result.election, strict=True))
    parts: list[RenderableType] = [
        Text(f"{len(report.agents)} agents, {len(report.ids):,} images: {', '.join(report.agents)}"),
        table,
        Text(
            f"95 % intervals by Wilson; {LEARNED} against {result.single}, exact McNemar test, Holm over the columns:"
        ),
        _tests(_against_single(result)),
        Text(f"calibration error of its probabilities: {calibrated}"),
        Text(f"calibration error of each answer's radius of even odds: {result.even_odds_error():.3f}"),
        Text(f"smileGeo's election over all images: {election}; th = 50 km, answers can't change in a replay, so that"),
        Text("K = 2 gives the first elected's answers (two agree or don't); in the row below it everybody is elected"),
        *(Text(note) for note in report.notes),
    ]
    return Group(*parts)


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """The same as one JSON document."""
    result = report.result
    best = {
        threshold_text(km): max(_summary(one).within[km].percent.value for one in result.of_agents.values())
        for km in REPORTED_KM
    }
    return {
        "format": FORMAT,
        "agents": list(report.agents),
        "images": len(report.ids),
        "folds": report.folds,
        "seed": report.seed,
        "notes": list(report.notes),
        "best_single": result.single,
        "best_agent_at_each_distance": best,
        "rows": {name: _row(distances) for name, distances in result.rows.items()},
        "each_agent": {name: _row(distances) for name, distances in result.of_agents.items()},
        "learned_against_best_single": [
            {
                "within_km": item.threshold_km,
                "only_best_single": item.only_first,
                "only_learned": item.only_second,
                "p": item.p,
                "p_holm": item.p_adjusted,
            }
            for item in _against_single(result).accuracies
        ],
        "calibration_error": {threshold_text(km): error for km, error in result.calibration_errors().items()},
        "even_odds_calibration_error": finite(result.even_odds_error()),
        "smilegeo": {
            "election": dict(zip(report.agents, result.election.tolist(), strict=True)),
            "links": result.links.tolist(),
        },
    }


def applied_view(applied: Applied) -> RenderableType:
    """How many images were answered, whom the answers follow, and how sure they are."""
    counts = [int((applied.chosen == at).sum()) for at in range(len(applied.agents))]
    follows = ", ".join(f"{name} {count:,}" for name, count in zip(applied.agents, counts, strict=True))
    silent = int((applied.chosen < 0).sum())
    chances = ", ".join(
        f"{threshold_text(km)} km {100 * share:.1f} %"
        for km, share in zip(WITHIN_KM, applied.within.mean(axis=0), strict=True)
    )
    return Group(
        Text(f"{applied.images:,} images answered with what was learned from {applied.learned_from:,} others"),
        Text(f"follows: {follows}" + (f"; no agent gave a point on {silent:,}" if silent else "")),
        Text(f"expected to be right within: {chances}"),
        *(Text(note) for note in applied.notes),
    )


def applied_document(applied: Applied) -> dict[str, Any]:
    """The same as one JSON document."""
    means = applied.within.mean(axis=0).tolist()
    return {
        "format": FORMAT,
        "agents": list(applied.agents),
        "learned_from": applied.learned_from,
        "images": applied.images,
        "follows": {name: int((applied.chosen == at).sum()) for at, name in enumerate(applied.agents)},
        "unlocated": int((applied.chosen < 0).sum()),
        "expected_within": {threshold_text(km): share for km, share in zip(WITHIN_KM, means, strict=True)},
        "notes": list(applied.notes),
    }


def _summary(distances: FloatArray) -> Summary:
    return summarise(distances, thresholds_km=REPORTED_KM)


def _shares(distances: FloatArray) -> list[tuple[float, float, float]]:
    shares = [item.percent for item in _summary(distances).within.values()]
    return [(share.value, share.low, share.high) for share in shares]


def _share(share: tuple[float, float, float]) -> Text:
    value, low, high = share
    return Text.assemble(f"{value:.2f}", (f" {low:.1f}–{high:.1f}", "dim"))


def _row(distances: FloatArray) -> dict[str, Any]:
    shares = zip(REPORTED_KM, _shares(distances), strict=True)
    return {
        "unlocated": int(np.isnan(distances).sum()),
        "within": {threshold_text(km): {"percent": v, "low": lo, "high": hi} for km, (v, lo, hi) in shares},
    }


def _against_single(result: Replay) -> Comparison:
    return compare_paired(result.rows[SINGLE], result.rows[LEARNED], REPORTED_KM)


def _tests(comparison: Comparison) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("within", "change", "only best single", "only learned", "p", "Holm"):
        table.add_column(name, justify="left" if name == "within" else "right")
    for item in comparison.accuracies:
        table.add_row(
            f"{threshold_text(item.threshold_km)} km",
            f"{item.second_percent - item.first_percent:+.2f}",
            str(item.only_first),
            str(item.only_second),
            p_value(item.p),
            p_value(item.p_adjusted),
        )
    return table
