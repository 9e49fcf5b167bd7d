"""The page of a run, ``run.html``: one file, no network, no script, drawn anew as often as one likes."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from statistics import fmean
from typing import Any

from geosleuth import __version__
from geosleuth.bench.page import NO_SCRIPT, page_head
from geosleuth.bench.page.markup import Html, caption, el, join, name
from geosleuth.files import write_text_atomically
from geosleuth.text.numbers import count, percent_sign, plural, threshold

from .curves import STYLE, Axis, Line, LineChart, Point, chart_on_page, key_of
from .keeping import RunFolder
from .metrics import within_name, within_of
from .page_charts import INSTEAD, SECTIONS, Section, Spec
from .reviewing import Change, Reviewed, changes, read_run
from .rollouts import CALLS, FAILURE_RATE

_MOST_POINTS = 400
_SMOOTHED_FROM = 40
_HEADLINE_KM = 25.0
_HOW_TO_READ = (
    "Before and after are means over the first and the last tenth of the steps. Where there are many steps, thick lines"
    " are running means and thin ones the figures themselves."
)
# A chart that stands alone in its row is as wide as those in pairs, so that letters have one size.
_ALIKE = "@media screen { .pair { grid-template-columns: repeat(auto-fill, minmax(min(100%, 29rem), 1fr)); } }\n"
_STAGES = {
    "sft": "fine-tuning",
    "coldstart": "agentic cold start",
    "grpo": "reinforcement learning",
}


def write_page(folder: Path, *, generated: str | None = None) -> Path:
    """Draw the page of a run's folder anew.

    Raises:
        BadInput: the folder holds no run, or the page can't be written.
    """
    path = RunFolder(folder).page
    when = generated or time.strftime("%Y-%m-%d %H:%M")
    write_text_atomically(path, render_run(read_run(folder), generated=when))
    return path


def render_run(run: Reviewed, *, generated: str) -> str:
    """The whole page as text, to be written as UTF-8."""
    title = f"{run.name}: {_STAGES.get(run.stage, run.stage)}"
    moved = changes(run)
    sections = [made for one in SECTIONS if (made := _section(run, one))]
    if not sections:
        sections = [el("section", None, el("p", {"class": "lead"}, "No step has been logged yet."))]
    body = el(
        "body",
        None,
        el("a", {"class": "skip", "href": "#main"}, "Skip to the charts"),
        el(
            "header",
            None,
            el("p", {"class": "kicker"}, f"geosleuth train · {generated}"),
            el("h1", None, title),
            el("ul", {"class": "headlines"}, *(el("li", None, words) for words in headlines(run, moved))),
            el("div", {"class": "intro"}, el("p", None, _HOW_TO_READ)),
        ),
        el("main", {"id": "main"}, *sections, _figures(moved), _recipe(run), _again(run)),
        el("footer", None, f"Made with geosleuth {__version__}, {generated}. This page is one file and loads nothing."),
    )
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(title, NO_SCRIPT, STYLE + _ALIKE), body)}\n"


def headlines(run: Reviewed, moved: Mapping[str, Change]) -> list[str]:
    """What is to be said first, in sentences."""
    so_far = f"{plural(run.step, 'step', 'steps')} and {duration(run.seconds)} of training"
    found = [f"Finished after {so_far}." if run.done is not None else f"{so_far} so far; the run has not ended."]
    told = (
        ("reward", "The mean reward", "{:.3f}".format),
        (CALLS, "Tool calls a reply", "{:.2f}".format),
        (FAILURE_RATE, "The share of failed calls", _share),
        ("loss", "The loss", "{:.4g}".format),
    )
    for figure, words, write in told:
        # In reinforcement learning the loss says little: advantages sum to nought.
        if (one := moved.get(figure)) and one.steps > 1 and not (figure == "loss" and "reward" in moved):
            found.append(f"{words} went from {write(one.first)} to {write(one.last)}.")
    if one := moved.get(within_name(_HEADLINE_KM)):
        near = threshold(_HEADLINE_KM)
        found.append(f"Within {near} lay {_share(one.first)} of the first replies and {_share(one.last)} of the last.")
    return found


def _share(value: float) -> str:
    return percent_sign(100 * value)


def duration(seconds: float) -> str:
    """A time span in the two largest units that it has."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.3g} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _section(run: Reviewed, section: Section) -> Html | None:
    figures = [made for spec in section.charts if (made := _figure(run, spec))]
    if not figures:
        return None
    return el(
        "section",
        {"id": section.identifier, "aria-labelledby": f"{section.identifier}-h"},
        el("h2", {"id": f"{section.identifier}-h"}, section.heading),
        el("div", {"class": "pair"}, *figures),
    )


def _figure(run: Reviewed, spec: Spec) -> Html | None:
    # Distances stand in their order; sorting leaves all others as they came.
    there = run.names()
    shown = sorted((one for one in there if INSTEAD.get(one) not in there), key=lambda one: within_of(one) or 0.0)
    lines = tuple(
        _line(words, values)
        for figure in shown
        if (words := spec.pick(figure)) is not None and (values := run.values(figure))
    )
    if len(lines) < spec.least:
        return None
    chart = LineChart(spec.title, Axis("optimiser step"), Axis("", percent=spec.percent), lines)
    return el(
        "figure",
        None,
        el("h3", None, f"{spec.title}, {spec.unit}" if spec.unit else spec.title),
        chart_on_page(spec.identifier, chart),
        el("figcaption", None, spec.said, " ", key_of(chart)),
    )


def _line(words: str, values: Sequence[tuple[int, float]]) -> Line:
    points = [Point(float(step), value) for step, value in _thinned(values)]
    if len(points) < _SMOOTHED_FROM:
        return Line(words, tuple(points))
    # Centred, and narrower towards both ends: a straight line stays what it is.
    half, last = max(1, len(points) // 40), len(points) - 1
    smooth = []
    for at, point in enumerate(points):
        reach = min(half, at, last - at)
        smooth.append(Point(point.x, fmean(one.y for one in points[at - reach : at + reach + 1])))
    return Line(words, tuple(smooth), tuple(points))


def _thinned(values: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """No more points than a chart can show: means of neighbours, at their last step."""
    size = -(-len(values) // _MOST_POINTS)
    return [
        (float(part[-1][0]), fmean(value for _, value in part))
        for part in (values[at : at + size] for at in range(0, len(values), max(1, size)))
    ]


def _figures(moved: Mapping[str, Change]) -> Html:
    heads = ("figure", "first", "last", "steps")
    rows = [
        el("tr", None, el("th", {"scope": "row"}, el("code", None, figure)),
           *(el("td", None, cell) for cell in (f"{one.first:,.5g}", f"{one.last:,.5g}", count(one.steps))))
        for figure, one in moved.items()
    ]  # fmt: skip
    said = (
        "Means over the first and the last tenth of the steps that have the figure. Names are those of metrics.jsonl."
    )
    table = el(
        "table", None, caption(said),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, head) for head in heads))),
        el("tbody", None, *rows),
    )  # fmt: skip
    return el(
        "section",
        {"id": "figures", "aria-labelledby": "figures-h"},
        el("h2", {"id": "figures-h"}, "All figures"),
        el("details", {"open": len(rows) <= 24}, el("summary", None, f"{count(len(rows))} figures"),
           el("div", {"class": "scroll", "tabindex": 0, "role": "region", "aria-label": "All figures"}, table)),
    )  # fmt: skip


def _recipe(run: Reviewed) -> Html:
    if not run.recipe:
        return join(())
    terms = []
    for key, value in _values(run.recipe):
        terms += [el("dt", None, key), el("dd", None, name(value, 200))]
    return el(
        "section",
        {"id": "recipe", "aria-labelledby": "recipe-h"},
        el("h2", {"id": "recipe-h"}, "What was run"),
        el("details", None, el("summary", None, "The resolved recipe"), el("dl", None, *terms)),
    )


def _values(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """What a recipe's file says, in words under dotted names; it may be one of another version."""
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            found += _values(value, f"{before}{key}.")
        elif isinstance(value, (list, tuple)):
            found.append((f"{before}{key}", ", ".join(map(str, value)) or "none"))
        else:
            found.append((f"{before}{key}", "none" if value is None else str(value)))
    return found


def _again(run: Reviewed) -> Html:
    return el(
        "section",
        {"id": "again", "aria-labelledby": "again-h"},
        el("h2", {"id": "again-h"}, "To draw this page anew"),
        el("pre", {"tabindex": 0}, el("code", None, f"geosleuth train show {quote(str(run.folder))}")),
    )
