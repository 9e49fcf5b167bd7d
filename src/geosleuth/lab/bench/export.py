"""Score reports for machines: JSON documents and CSV tables.

In JSON, percentages are in percent, distances in km, and null means infinite or undefined (such as the median of a file
with most records unlocated).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from geosleuth import __version__
from geosleuth.geo import threshold_text
from geosleuth.lab.score import Accuracy, Estimate, PublishedRow, Selective, Summary

from .report import FileReport, PairReport, Tiers
from .scored import Scored

SCORE_FORMAT = "geosleuth-score/1"


def score_document(reports: Sequence[FileReport], published: Sequence[PublishedRow] = ()) -> dict[str, Any]:
    """Return everything ``bench score`` says, as one JSON document."""
    return {
        "format": SCORE_FORMAT,
        "geosleuth": __version__,
        "files": [_file(report) for report in reports],
        "published": [convert_published_row(row) for row in published],
    }


def _file(report: FileReport) -> dict[str, Any]:
    scored = report.scored
    slices: dict[str, dict[str, Any]] = {}
    for item in report.slices:
        slices.setdefault(item.field, {})[item.value] = _summary(item.summary)
    return {
        "file": scored.label,
        "sha256": scored.sha256,
        "parser": scored.parser,
        "distance": scored.distance,
        "notes": list(scored.notes),
        **_summary(report.summary),
        "slices": slices,
        "selective": None if report.selective is None else _selective(report.selective),
        "calibration": to_document(report.calibration),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "n": summary.n,
        "located": summary.located,
        "unlocated": summary.unlocated,
        "accuracy": to_document(summary.within),
        **{name: to_document(getattr(summary, name)) for name in ("median_km", "median_located_km", "geoscore")},
        "levels": {
            name: {**share_to_dict(share), "named": summary.named[name]} for name, share in summary.levels.items()
        },
    }


def share_to_dict(share: Accuracy) -> dict[str, Any]:
    """Return a share in percent with its interval, and what it is a share of."""
    return {"hits": share.hits, "n": share.n, **estimate_to_dict(share.percent, "percent")}


def estimate_to_dict(estimate: Estimate, name: str = "value") -> dict[str, float | None]:
    """Return a figure with its interval."""
    return {name: finite(estimate.value), "low": finite(estimate.low), "high": finite(estimate.high)}


def to_document(value: Any) -> Any:
    """Return a value for JSON: dataclasses as objects, shares and estimates by their figures, distances as keys."""
    if isinstance(value, Accuracy):
        return share_to_dict(value)
    if isinstance(value, Estimate):
        return estimate_to_dict(value)
    if is_dataclass(value):
        return {item.name: to_document(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {threshold_text(key) if isinstance(key, float) else key: to_document(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [to_document(item) for item in value]
    return finite(value) if isinstance(value, float) else value


def finite(value: float) -> float | None:
    """Return the number, or None if JSON can't represent it."""
    return value if isfinite(value) else None


def _selective(curve: Selective) -> dict[str, Any]:
    return {
        "threshold_km": curve.threshold_km,
        "with_confidence": curve.with_confidence,
        "area": curve.area,
        "ideal_area": curve.ideal_area,
        "risk_at_coverage": {
            f"{share / 10:g}": risk
            for share in range(10, 0, -1)
            if (risk := curve.compute_risk(share / 10)) is not None
        },
        "points": [[point.coverage, point.risk, point.least_confidence] for point in _sample_points(curve.points)],
    }


def _sample_points(points: Sequence[Any], limit: int = 500) -> Iterable[Any]:
    if len(points) <= limit:
        return points
    step = (len(points) - 1) / (limit - 1)
    return [points[round(number * step)] for number in range(limit)]


def build_published_document(rows: Sequence[PublishedRow]) -> dict[str, Any]:
    """Return rows of the papers, as one JSON document."""
    return {
        "format": "geosleuth-published/1",
        "geosleuth": __version__,
        "rows": [convert_published_row(row) for row in rows],
    }


def convert_published_row(row: PublishedRow) -> dict[str, Any]:
    """Return a published row, flags spelled out."""
    return {**to_document(row), "flags": {flag.id: flag.text for flag in row.flags}}


def pair_document(pair: PairReport, moved: int) -> dict[str, Any]:
    """Return everything ``bench compare`` says, with at most ``moved`` images and the count of all."""
    comparison = pair.comparison
    return {
        "format": "geosleuth-comparison/1",
        "geosleuth": __version__,
        "first": pair.first.label,
        "second": pair.second.label,
        "files": to_document([pair.first, pair.second]),
        "n": comparison.n,
        "only_in_first": pair.first.left_out,
        "only_in_second": pair.second.left_out,
        "accuracy": to_document({item.threshold_km: item for item in comparison.accuracies}),
        "geoscore_difference": {**estimate_to_dict(comparison.geoscore_difference), "p": comparison.geoscore_p},
        "moved_count": len(pair.moved),
        "moved": to_document(pair.moved[:moved]),
    }


def tier_document(tiers: Tiers) -> dict[str, Any]:
    """Return the tier of every image."""
    return {
        "format": "geosleuth-tiers/1",
        "geosleuth": __version__,
        "judges": [judge.label for judge in tiers.judges],
        "files": to_document(tiers.judges),
        "threshold_km": tiers.threshold_km,
        "n": len(tiers.ids),
        "easy": int(tiers.easy.sum()),
        "hard": int((~tiers.easy).sum()),
        "tiers": {name: "easy" if flag else "hard" for name, flag in zip(tiers.ids, tiers.easy, strict=True)},
    }


def score_csv(reports: Sequence[FileReport]) -> str:
    """Return one line per file, slice and metric, in long form: easy to filter, stable when metrics are added."""
    rows: list[Mapping[str, Any]] = []
    for report in reports:
        head = {"file": report.scored.label, "parser": report.scored.parser, "distance": report.scored.distance}
        rows += [{**head, **row} for row in _csv_rows("", "", report.summary)]
        for item in report.slices:
            rows += [{**head, **row} for row in _csv_rows(item.field, item.value, item.summary)]
    header = ["file", "parser", "distance", "field", "value", "metric", "figure", "low", "high", "n", "unlocated"]
    return _csv(rows, header)


def _csv_rows(field: str, value: str, summary: Summary) -> Iterable[dict[str, Any]]:
    figures = {
        **{f"acc@{threshold_text(km)}km": share.percent for km, share in summary.within.items()},
        "median_km": summary.median_km,
        "median_located_km": summary.median_located_km,
        "geoscore": summary.geoscore,
        **{f"level_{name}": share.percent for name, share in summary.levels.items()},
    }
    for metric, estimate in figures.items():
        yield {
            "field": field, "value": value, "metric": metric,
            "figure": finite(estimate.value), "low": finite(estimate.low), "high": finite(estimate.high),
            "n": summary.n, "unlocated": summary.unlocated,
        }  # fmt: skip


def records_csv(files: Sequence[Scored]) -> str:
    """Return one line per record: its error, truth and answer; empty cells mean unlocated or not stated."""
    columns = ["truth_lat", "truth_lon", "lat", "lon", "distance_km", "probability", "radius_km"]
    rows = (
        {"file": scored.label, "id": name, **{key: finite(float(getattr(scored, key)[row])) for key in columns}}
        for scored in files
        for row, name in enumerate(scored.ids)
    )
    return _csv(rows, ["file", "id", *columns])


def _csv(rows: Iterable[Mapping[str, Any]], header: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
