"""What a photo costs, and what accuracy that buys."""

from collections.abc import Sequence
from math import ceil, floor, isnan, log10

from geosleuth.bench.page.canvas import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.bench.page.markup import Html, caption, clean, el, join, name
from geosleuth.bench.page.tables import cell, scroll_box
from geosleuth.bench.report_run.costs import MEASURES, Measure, Spread
from geosleuth.bench.report_run.told import RunReport, Told
from geosleuth.bench.report_run.wording import amount, heading, with_unit
from geosleuth.text.numbers import NONE, count, percent_sign, threshold

_LABEL_LIMIT = 28


def costs_section(told: Told) -> Html:
    """The table per photo, and accuracy against cost between runs and within them."""
    figures = [figure for figure in (_against_figure(told), _within_figure(told)) if figure]
    return el(
        "section",
        {"id": "costs", "aria-labelledby": "costs-h"},
        el("h2", {"id": "costs-h"}, "What a photo costs"),
        scroll_box("What a photo costs", _table(told.runs)),
        el("div", {"class": "pair after-table"}, *figures) if figures else "",
    )


def _table(runs: Sequence[RunReport]) -> Html:
    rows = [
        el(
            "tr",
            None,
            el("th", {"scope": "row", "class": "own"}, _key(index), name(run.label, 40)),
            cell(count(run.counts.answered)),
            *(_spread_cell(measure, run.spent[measure.key], run.counts.answered) for measure in MEASURES),
        )
        for index, run in enumerate(runs)
    ]
    heads = [el("th", {"scope": "col"}, heading(measure)) for measure in MEASURES]
    return el(
        "table",
        {"class": "spent"},
        caption(
            "Mean per answered photo, of the try that gave the answer; beneath it the median, and what 95 % of the "
            "photos stay below. What failed tries used comes on top: see “What failed”."
        ),
        el(
            "thead",
            None,
            el("tr", None, el("th", {"scope": "col"}, "Run"), el("th", {"scope": "col"}, "answered"), *heads),
        ),
        el("tbody", None, *rows),
    )


def _spread_cell(measure: Measure, found: Spread, answered: int) -> Html:
    if not found.n:
        return cell(NONE, title="The price is not known." if measure.key == "cost_usd" else None)
    below = f"{amount(measure, found.median)} · {amount(measure, found.p95)}" if found.total else ""
    total = f"mean {amount(measure, found.mean)}, median {amount(measure, found.median)}, "
    total += f"95th percentile {amount(measure, found.p95)}; {amount(measure, found.total)} in all"
    if found.n < answered:
        total += f"; known for {count(found.n)} of {count(answered)} photos"
        below += f" · n {count(found.n)}"
    return cell(amount(measure, found.mean), below, total)


def _key(index: int) -> Html:
    return el("span", {"class": f"key {series(index)}"})


def _against_figure(told: Told) -> Html:
    measure = told.measure
    points = [
        (index, run, run.spent[measure.key].mean)
        for index, run in enumerate(told.runs)
        if run.spent[measure.key].n and run.report.summary.n
    ]
    if not points:
        return Html("")
    plot = Plot(width=520, height=340, left=48, top=22, right=20, bottom=46)
    axis = _Axis.around([value for *_, value in points])
    parts: list[Html] = [percent_axis(plot), *axis.drawn(plot, measure)]
    told_points: list[str] = []
    for index, run, value in points:
        accuracy = run.report.summary.within[told.right_km]
        x, y = plot.x(axis.share(value)), plot.y(accuracy.percent.value / 100)
        words = (
            f"{clean(run.label, _LABEL_LIMIT)}: {percent_sign(accuracy.percent.value)} within "
            f"{threshold(told.right_km)} at {with_unit(measure, value)} per photo"
        )
        told_points.append(words)
        low, high = (plot.y(bound / 100) for bound in (accuracy.percent.low, accuracy.percent.high))
        left = axis.share(value) > 0.6
        parts.append(
            el(
                "g",
                {"class": series(index)},
                el("title", None, words),
                line(x, low, x, high, "whisker"),
                el("circle", {"cx": n(x), "cy": n(y), "r": 6, "class": "dot"}),
                label(
                    x + (-11 if left else 11), y + 4, clean(run.label, _LABEL_LIMIT), "name",
                    "end" if left else "start",
                ),
            )
        )  # fmt: skip
    return el(
        "figure",
        None,
        el("h3", None, "Accuracy against cost, one point a run"),
        drawing("against", plot, "Accuracy against cost", "; ".join(told_points), parts),
        el(
            "figcaption",
            None,
            f"Height: share of the answered photos within {threshold(told.right_km)}, with its 95 % interval. To the "
            f"right: mean {heading(measure)} per photo. Up and to the left is better.",
        ),
    )


def _within_figure(told: Told) -> Html:
    measure = told.measure
    drawn = [(index, run) for index, run in enumerate(told.runs) if run.buckets]
    if not drawn:
        return Html("")
    plot = Plot(width=520, height=340, left=48, top=22, right=20, bottom=46)
    axis = _Axis.around([bucket.mean for _, run in drawn for bucket in run.buckets])
    parts: list[Html] = [percent_axis(plot), *axis.drawn(plot, measure)]
    for index, run in drawn:
        spots = [(plot.x(axis.share(one.mean)), plot.y(one.accuracy.percent.value / 100)) for one in run.buckets]
        parts.append(polyline(spots, f"curve thin {series(index)}"))
        for bucket, (x, y) in zip(run.buckets, spots, strict=True):
            percent = bucket.accuracy.percent
            words = (
                f"{clean(run.label, _LABEL_LIMIT)}: {percent_sign(percent.value)} of {count(bucket.accuracy.n)} "
                f"photos at {amount(measure, bucket.low)} to {with_unit(measure, bucket.high)}"
            )
            parts.append(
                el(
                    "g",
                    {"class": series(index)},
                    el("title", None, words),
                    line(x, plot.y(percent.low / 100), x, plot.y(percent.high / 100), "whisker"),
                    el("circle", {"cx": n(x), "cy": n(y), "r": 4, "class": "dot"}),
                )
            )
    keys = [
        join((el("span", {"class": "nowrap"}, _key(index), name(run.label, 40)), " "))
        for index, run in (drawn if len(drawn) > 1 else ())
    ]
    said = "; ".join(
        f"{run.label}: " + ", ".join(f"{percent_sign(one.accuracy.percent.value)}" for one in run.buckets)
        for _, run in drawn
    )
    return el(
        "figure",
        None,
        el("h3", None, "Accuracy by what was spent on the photo"),
        drawing("buckets", plot, "Accuracy by spending within a run", said, parts),
        el(
            "figcaption",
            None,
            "Photos of a run in groups of about equal number, from those with the least spending to those with the "
            "most. It shows what goes together, not why: hard photos take more work. ",
            *keys,
        ),
    )


class _Axis:
    """Spending from left to right; logarithmic where it spans more than a factor of eight."""

    def __init__(self, low: float, high: float, *, logarithmic: bool) -> None:
        self.low, self.high, self.logarithmic = low, high, logarithmic

    @classmethod
    def around(cls, values: Sequence[float]) -> "_Axis":
        known = [value for value in values if not isnan(value)]
        if not known or max(known) <= 0:
            return cls(0.0, 1.0, logarithmic=False)
        low, high = min(known), max(known)
        if low > 0 and high / low > 8:
            return cls(low / 1.6, high * 1.6, logarithmic=True)
        return cls(0.0, 1.25 * high, logarithmic=False)

    def share(self, value: float) -> float:
        if self.logarithmic:
            return log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if not self.logarithmic:
            step = round_step((self.high - self.low) / 5)
            return [step * number for number in range(int(self.high / step) + 1)]
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = (1, 2, 5) if log10(self.high / self.low) < 2.4 else (1,)
        return [m * 10.0**d for d in decades for m in steps if self.low <= m * 10.0**d <= self.high]

    def drawn(self, plot: Plot, measure: Measure) -> list[Html]:
        parts = [plot.horizontal(plot.y(0), "axis")]
        for value in self.ticks():
            x = plot.x(self.share(value))
            parts.append(line(x, plot.y(0), x, plot.y(0) + 4, "axis"))
            parts.append(label(x, plot.y(0) + 17, f"{value:,.6g}"))
        words = f"{heading(measure)} per photo" + (", logarithmic" if self.logarithmic else "")
        parts.append(label(plot.x(0.5), plot.height - 6, words, "tick quiet"))
        return parts
