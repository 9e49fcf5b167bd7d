"""The records to look at first: the farthest errors, and those without a place."""

from collections.abc import Sequence

import numpy as np

from geosleuth.bench.report import FileReport
from geosleuth.text.numbers import count, distance, place, plural

from .markup import Html, caption, el, join, name
from .tables import cell, scroll_box
from .worldmap import worst_rows

SHOWN_ERRORS = 20
SHOWN_UNLOCATED = 500


def worst_section(reports: Sequence[FileReport]) -> Html:
    """Per file, the farthest errors and the unlocated ids, folded away."""
    return el(
        "section",
        {"id": "worst", "aria-labelledby": "worst-h"},
        el("h2", {"id": "worst-h"}, "Where to look first"),
        *(join((_errors(report), _unlocated(report))) for report in reports),
    )


def _errors(report: FileReport) -> Html:
    scored = report.scored
    rows = worst_rows(scored, SHOWN_ERRORS)
    if not len(rows):
        return Html("")
    body = [
        el(
            "tr",
            None,
            el("th", {"scope": "row"}, name(scored.ids[row], 60)),
            cell(distance(float(scored.distance_km[row]))),
            cell(place(float(scored.truth_lat[row]), float(scored.truth_lon[row]))),
            cell(place(float(scored.lat[row]), float(scored.lon[row]))),
        )
        for row in rows
    ]
    heads = ("record", "error", "true place", "answered place")
    table = el(
        "table",
        {"class": "worst"},
        caption("Latitude, longitude in degrees."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )
    words = "The worst error" if len(rows) == 1 else f"The {len(rows)} worst errors"
    return el(
        "details",
        None,
        el("summary", None, f"{words} of ", name(scored.label)),
        scroll_box(f"Worst errors of {scored.label}", table),
    )


def _unlocated(report: FileReport) -> Html:
    scored = report.scored
    rows = np.flatnonzero(np.isnan(scored.distance_km))
    if not len(rows):
        return Html("")
    shown = [el("li", None, name(scored.ids[row], 60)) for row in rows[:SHOWN_UNLOCATED]]
    more = len(rows) - len(shown)
    return el(
        "details",
        None,
        el("summary", None, f"{plural(len(rows), 'unlocated record', 'unlocated records')} of ", name(scored.label)),
        el("ul", {"class": "ids"}, *shown),
        el("p", {"class": "quiet"}, f"and {count(more)} more; the CSV output lists all.") if more else "",
    )
