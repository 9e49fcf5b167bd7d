"""The HTML report of ``bench report``: the score page, and sections from the run folders."""

from collections.abc import Sequence
from importlib.resources import files
from math import ceil, floor, isnan, log10

from geosleuth.lab.bench.page import render_page
from geosleuth.lab.bench.page.report_tables import cell, scroll_box
from geosleuth.lab.bench.page.score_page import MoreSections
from geosleuth.lab.bench.report import PairReport
from geosleuth.lab.score import PublishedRow
from geosleuth.report.charts import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.report.markup import Html, caption, clean, el, join, name
from geosleuth.support.text.numbers import (
    NONE,
    count,
    distance,
    p_value,
    percent_sign,
    place,
    plural,
    signed,
    threshold,
)
from geosleuth.tools.calls import FailureKind

from .figures import (
    ANSWERER_WORDS,
    FAILURE_WORDS,
    MEASURES,
    MOVED_KM,
    OUTCOME_WORDS,
    REASON_WORDS,
    Behaviour,
    FailureGroup,
    HungOn,
    Measure,
    Shift,
    Spread,
    ToolUse,
    amount,
    heading,
    money,
    share,
    with_unit,
)
from .gallery_page import gallery_section
from .run_report import RunReport, RunsReport

_SHOWN_TOOLS = 30

_LABEL_LIMIT = 28
_SHOWN_GROUPS = 12


def behaviour_section(runs: Sequence[RunReport]) -> Html:
    """Return each run's tools, its endings, and who answered."""
    return el(
        "section",
        {"id": "tools", "aria-labelledby": "tools-h"},
        el("h2", {"id": "tools-h"}, "How it worked"),
        el(
            "p",
            {"class": "lead"},
            "Every call in the trajectories of the answered photos. A call succeeds where the tool did its work, "
            "whether or not what it found was of use. Calls that the loop withheld were never carried out: they were "
            "over the budget, or had been made before.",
        ),
        _side_by_side(runs) if len(runs) > 1 else "",
        *(_run(run, index) for index, run in enumerate(runs)),
    )


def _side_by_side(runs: Sequence[RunReport]) -> Html:
    """Return calls per photo of every tool, a column for each run."""
    used = {
        tool.name: [_calls_per_photo(other, tool.name) for other in runs]
        for run in runs
        for tool in run.behaviour.tools
    }
    order = sorted(used, key=lambda tool: -sum(used[tool]))
    heads = [
        el("th", {"scope": "col"}, el("span", {"class": f"key {series(index)}"}), name(run.label, 30))
        for index, run in enumerate(runs)
    ]
    most = max((value for values in used.values() for value in values), default=0.0) or 1.0
    rows = [
        el(
            "tr",
            None,
            el("th", {"scope": "row"}, el("code", None, name(tool, 60))),
            *(_mix_cell(f"{value:.2f}", value / most, index) for index, value in enumerate(used[tool])),
        )
        for tool in order[:_SHOWN_TOOLS]
    ]
    table = el(
        "table",
        {"class": "tool-mix beside"},
        caption("Calls per photo, withheld ones included."),
        el("thead", None, el("tr", None, el("th", {"scope": "col"}, "tool"), *heads)),
        el("tbody", None, *rows),
    )
    return scroll_box("Calls per photo of all runs", table) if used else Html("")


def _calls_per_photo(run: RunReport, tool: str) -> float:
    calls = next((one.calls for one in run.behaviour.tools if one.name == tool), 0)
    return calls / max(1, run.behaviour.photos)


def _mix_cell(words: str, part: float, index: int) -> Html:
    bar = el("span", {"class": f"mix-bar {series(index)}", "style": f"--value:{100 * part:.1f}%"})
    return el("td", {"class": "mix"}, bar, words)


def _run(run: RunReport, index: int) -> Html:
    found = run.behaviour
    parts: list[object] = [
        el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)),
        el("p", None, *_sentence(run)),
    ]
    if found.tools:
        parts.append(scroll_box(f"Tools of {run.label}", _table(found, index)))
        parts.append(scroll_box(f"Tools of {run.label} that were called together", _together(found, index)))
    if found.failures:
        parts.append(_failures(found))
    return el("div", {"class": "field"}, *parts)


def _sentence(run: RunReport) -> list[object]:
    found = run.behaviour
    parts: list[object] = []
    if found.photos:
        per_photo = found.calls / found.photos
        parts += [
            el("strong", None, f"{per_photo:.1f} calls"),
            f" per photo; {share(found.with_calls, found.photos)} of the photos called a tool at all. ",
        ]
    if found.carried_out:
        withheld = found.calls - found.carried_out
        parts += [
            f"Of {plural(found.carried_out, 'call', 'calls')} carried out, ",
            el("strong", None, share(found.succeeded, found.carried_out)),
            f" succeeded ({share(found.succeeded_strictly, found.carried_out)} counting as the papers do, which take "
            "almost-JSON and inverted boxes for failures)",
            f"; {count(withheld)} more were withheld. " if withheld else ". ",
        ]
    if run.journal.ended:
        endings = [f"{REASON_WORDS.get(key, key)} ({count(number)})" for key, number in run.journal.ended.items()]
        parts.append(f"Why the work on answered photos ended: {', '.join(endings)}. ")
    others = {key: number for key, number in run.journal.answered_by.items() if key != "policy"}
    if others:
        words = [f"{ANSWERER_WORDS.get(key, key)} ({count(number)})" for key, number in others.items()]
        parts.append(f"Where not the model itself, the answer was given by: {', '.join(words)}. ")
    if found.absent or found.damaged:
        missing = [
            *([f"{plural(found.absent, 'trajectory is', 'trajectories are')} not there"] if found.absent else []),
            *([f"{plural(found.damaged, 'is', 'are')} damaged"] if found.damaged else []),
        ]
        parts.append(el("span", {"class": "odd"}, f"{' and '.join(missing)}: these photos are missing here."))
    return parts


def _table(found: Behaviour, index: int) -> Html:
    most = max(tool.calls for tool in found.tools)
    shown = found.tools[:_SHOWN_TOOLS]
    more = len(found.tools) - len(shown)
    heads = (
        "tool", "calls", "share of calls", "in photos", "succeeded", "strictly", "failed", "withheld", "mean time",
    )  # fmt: skip
    note = f" {count(more)} more tools are in the JSON document." if more else ""
    return el(
        "table",
        {"class": "tool-mix"},
        caption(
            "Calls by tool. “In photos”: in which share of the photos it was called. “Succeeded” is the share of calls "
            f"carried out, “strictly” that of calls that worked as they were written.{note}"
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *(_tool(tool, found, most, index) for tool in shown)),
    )


def _together(found: Behaviour, index: int) -> Html:
    """Return the combinations of tools, as SpotAgent's figure 6a has them."""
    most = max(photos for _, photos in found.combinations)
    rows = [
        el(
            "tr",
            None,
            el("th", {"scope": "row"}, el("code", None, name(" + ".join(names) or "none", 120))),
            cell(count(photos)),
            _mix_cell(share(photos, found.photos), photos / most, index),
        )
        for names, photos in found.combinations[:_SHOWN_TOOLS]
    ]
    heads = ("tools", "photos", "share of photos")
    return el(
        "table",
        {"class": "tool-mix"},
        caption("Tools that were called together on a photo."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *rows),
    )


def _tool(tool: ToolUse, found: Behaviour, most: int, index: int) -> Html:
    failed = tool.carried_out - tool.succeeded
    return el(
        "tr",
        None,
        el("th", {"scope": "row"}, el("code", None, name(tool.name, 60))),
        cell(count(tool.calls)),
        _mix_cell(share(tool.calls, found.calls), tool.calls / most, index),
        cell(share(tool.photos, found.photos)),
        cell(share(tool.succeeded, tool.carried_out)),
        cell(share(tool.succeeded_strictly, tool.carried_out)),
        cell(count(failed) if failed else NONE),
        cell(count(tool.withheld) if tool.withheld else NONE),
        cell(f"{tool.seconds / tool.carried_out:.2f} s" if tool.carried_out else NONE),
    )


def _failures(found: Behaviour) -> Html:
    kinds = found.failures.most_common()
    entries = [
        join((el("b", None, count(number)), f" {FAILURE_WORDS.get(kind, kind)}", el("span", None, _which(found, kind))))
        for kind, number in kinds
    ]
    return el(
        "p",
        {"class": "kinds"},
        "Calls that gave nothing, by kind: ",
        join([el("span", {"class": "kind"}, entry) for entry in entries], " "),
    )


def _which(found: Behaviour, kind: FailureKind) -> Html:
    """Return the tool with most failures of a kind, if it has at least half of several."""
    top = max(found.tools, key=lambda tool: tool.failures[kind])
    part, whole = top.failures[kind], found.failures[kind]
    if whole < 2 or 2 * part < whole:
        return Html("")
    return join((f", {share(part, whole)} of them ", el("code", None, name(top.name, 40))))


def costs_section(report: RunsReport) -> Html:
    """Return the table per photo, and accuracy against cost between runs and within them."""
    figures = [figure for figure in (_against_figure(report), _within_figure(report)) if figure]
    return el(
        "section",
        {"id": "costs", "aria-labelledby": "costs-h"},
        el("h2", {"id": "costs-h"}, "What a photo costs"),
        scroll_box("What a photo costs", _costs_table(report.runs)),
        el("div", {"class": "pair after-table"}, *figures) if figures else "",
    )


def _costs_table(runs: Sequence[RunReport]) -> Html:
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


def _against_figure(report: RunsReport) -> Html:
    measure = report.measure
    points = [
        (index, run, run.spent[measure.key].mean)
        for index, run in enumerate(report.runs)
        if run.spent[measure.key].n and run.report.summary.n
    ]
    if not points:
        return Html("")
    plot = Plot(width=520, height=340, left=48, top=22, right=20, bottom=46)
    axis = _Axis.around([value for *_, value in points])
    parts: list[Html] = [percent_axis(plot), *axis.drawn(plot, measure)]
    descriptions: list[str] = []
    for index, run, value in points:
        accuracy = run.report.summary.within[report.right_km]
        x, y = plot.x(axis.share(value)), plot.y(accuracy.percent.value / 100)
        words = (
            f"{clean(run.label, _LABEL_LIMIT)}: {percent_sign(accuracy.percent.value)} within "
            f"{threshold(report.right_km)} at {with_unit(measure, value)} per photo"
        )
        descriptions.append(words)
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
        el("h3", None, "Accuracy against cost, one point per run"),
        drawing("against", plot, "Accuracy against cost", "; ".join(descriptions), parts),
        el(
            "figcaption",
            None,
            f"Height: share of the answered photos within {threshold(report.right_km)}, with its 95 % interval. To the "
            f"right: mean {heading(measure)} per photo. Up and to the left is better.",
        ),
    )


def _within_figure(report: RunsReport) -> Html:
    measure = report.measure
    drawn = [(index, run) for index, run in enumerate(report.runs) if run.buckets]
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
        el("h3", None, "Accuracy by cost of the photo"),
        drawing("buckets", plot, "Accuracy by cost within a run", said, parts),
        el(
            "figcaption",
            None,
            "Photos of a run in groups of about equal number, from those with the least spending to those with the "
            "most. It shows what goes together, not why: hard photos take more work. ",
            *keys,
        ),
    )


class _Axis:
    """Cost from left to right; logarithmic if it spans more than a factor of eight."""

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


def facts_section(runs: Sequence[RunReport]) -> Html:
    """Return each run's settings; differences between runs are marked."""
    facts = [run.facts for run in runs]
    return el(
        "section",
        {"id": "runs", "aria-labelledby": "runs-h"},
        el("h2", {"id": "runs-h"}, "What was run"),
        el("p", {"class": "lead"}, "What differs between the runs is marked.") if len(runs) > 1 else "",
        el("div", {"class": "pair"}, *(_facts_run(run, index, facts) for index, run in enumerate(runs))),
    )


def _facts_run(run: RunReport, index: int, facts: Sequence[dict[str, str]]) -> Html:
    terms = []
    for key, value in run.facts.items():
        differs = any(other.get(key) != value for other in facts)
        shown = el("code", {"class": "sha"}, value) if key.endswith("sha256") else name(value, 200)
        terms += [el("dt", None, name(key, 60)), el("dd", {"class": "differs" if differs else None}, shown)]
    return el(
        "div",
        None,
        el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)),
        el("dl", {"class": "facts"}, *terms),
    )


def coverage_section(report: RunsReport) -> Html:
    """Return which photos have an answer, and the accuracy with all others counted as wrong."""
    km = threshold(report.right_km)
    heads = ("Run", "photos", "answered", "of them unlocated", "failed", "missing", "tries", f"within {km}",
             "the rest as misses")  # fmt: skip
    rows = [_coverage(run, index, report.right_km) for index, run in enumerate(report.runs)]
    table = el(
        "table",
        {"class": "coverage"},
        caption(
            "Failed: every try ended with an error, of a server or of a file. Missing: no try has ended. "
            "Neither says anything about the model, so all other figures leave them out; the last column counts "
            "them as wrong."
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *rows),
    )
    notes = [el("p", {"class": "odd"}, name(run.label), f": {note}.") for run in report.runs for note in run.notes]
    return el(
        "section",
        {"id": "coverage", "aria-labelledby": "coverage-h"},
        el("h2", {"id": "coverage-h"}, "Answered and missing photos"),
        scroll_box("What was answered", table),
        *notes,
    )


def _coverage(run: RunReport, index: int, right_km: float) -> Html:
    counts = run.counts
    accuracy = run.report.summary.within[right_km].percent.value
    tries = sum(one.count for one in run.journal.tries.values())
    return el(
        "tr",
        None,
        el("th", {"scope": "row", "class": "own"}, el("span", {"class": f"key {series(index)}"}), name(run.label, 40)),
        cell(count(counts.photos)),
        cell(count(counts.answered)),
        cell(count(counts.unlocated)),
        cell(count(counts.failed), kind="num bad" if counts.failed else "num"),
        cell(count(counts.missing), kind="num bad" if counts.missing else "num"),
        cell(count(tries)),
        cell(percent_sign(accuracy)),
        cell(percent_sign(run.counts_as_misses[right_km].percent.value)),
    )


def failures_section(runs: Sequence[RunReport]) -> Html:
    """Return the reasons of failed photos, and every run's tries with their costs."""
    return el(
        "section",
        {"id": "failures", "aria-labelledby": "failures-h"},
        el("h2", {"id": "failures-h"}, "Failed photos and tries"),
        *(_failures_run(run, index) for index, run in enumerate(runs)),
    )


def _failures_run(run: RunReport, index: int) -> Html:
    return el(
        "div",
        {"class": "field"},
        el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)),
        el("p", None, _failures_sentence(run)),
        *(
            el("p", {"class": "odd" if use.failed else None}, "Service ", name(str(use), 200), ".")
            for use in run.journal.services
        ),
        _groups(run) if run.journal.failures else "",
        scroll_box(f"Tries of {run.label}", _tries(run)),
    )


def _failures_sentence(run: RunReport) -> str:
    counts = run.counts
    if not counts.failed and not counts.missing:
        return f"All {plural(counts.photos, 'photo has', 'photos have')} an answer."
    parts = []
    if counts.failed:
        parts.append(f"{plural(counts.failed, 'photo', 'photos')} failed in the newest try")
    if counts.missing:
        parts.append(f"{plural(counts.missing, 'photo is', 'photos are')} still to be worked on")
    words = " and ".join(parts)
    retry = " “--retry errors” works on the failed ones again." if counts.failed else ""
    return f"Of {count(counts.photos)} photos, {words}.{retry}"


def _groups(run: RunReport) -> Html:
    shown = run.journal.failures[:_SHOWN_GROUPS]
    rest = run.journal.failures[_SHOWN_GROUPS:]
    body = [_group(group) for group in shown]
    if rest:
        words = f"{plural(len(rest), 'other reason', 'other reasons')}"
        body.append(el("tr", None, cell(count(sum(group.photos for group in rest))), el("td", {"colspan": 3}, words)))
    table = el(
        "table",
        {"class": "troubles"},
        caption("Photos by why their newest try failed; messages that differ in numbers alone count together."),
        el(
            "thead",
            None,
            el("tr", None, *(el("th", {"scope": "col"}, words) for words in ("photos", "why", "host", "for example"))),
        ),
        el("tbody", None, *body),
    )
    return scroll_box(f"Why photos of {run.label} failed", table)


def _group(group: FailureGroup) -> Html:
    why = group.trouble or REASON_WORDS.get(group.reason, group.reason)
    return el(
        "tr",
        None,
        cell(count(group.photos)),
        el("td", {"class": "text"}, name(why, 240)),
        el("td", {"class": "text"}, name(group.host, 60) if group.host else NONE),
        el("td", {"class": "text"}, join([name(one, 40) for one in group.some], ", ")),
    )


def _tries(run: RunReport) -> Html:
    heads = ("tries", "number", "model requests", "turns", "tokens", "cost, USD", "hours of work")
    body = []
    for outcome, words in OUTCOME_WORDS.items():
        found = run.journal.tries.get(outcome)
        if found is None:
            continue
        usage = found.spent.usage
        body.append(
            el(
                "tr",
                None,
                el("th", {"scope": "row"}, words),
                cell(count(found.count)),
                cell(count(usage.tries)),
                cell(count(found.spent.turns)),
                cell(count(usage.input_tokens + usage.output_tokens)),
                cell(NONE if usage.cost_usd is None else money(usage.cost_usd)),
                cell(f"{found.spent.seconds / 3600:,.2f}"),
            )
        )
    several = {number: photos for number, photos in run.journal.tries_per_photo.items() if number > 1}
    again = ", ".join(f"{plural(photos, 'photo', 'photos')} took {number}" for number, photos in several.items())
    return el(
        "table",
        {"class": "tries"},
        caption(
            "Every try of the run and what it used. Hours are added up over photos that were worked on at the same "
            "time; model requests count repeats after errors of the server too. ",
            f"More than one try: {again}." if again else "No photo took more than one try.",
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )


def hung_on_section(found: Sequence[HungOn]) -> Html:
    """Return the comparison of every masked run with the unmasked one, or nothing."""
    if not found:
        return Html("")
    return el(
        "section",
        {"id": "hung-on", "aria-labelledby": "hung-on-h"},
        el("h2", {"id": "hung-on-h"}, "What the answers depended on"),
        el(
            "p",
            {"class": "lead"},
            "The same photos once more with something hidden. An answer that stays did not need it; one that moves "
            "depended on it, or would have moved anyway: a model may answer differently when asked twice.",
        ),
        *(_pair(one) for one in found),
    )


def _pair(one: HungOn) -> Html:
    heads = (
        "within",
        "right in both",
        "right, then wrong",
        "wrong, then right",
        "wrong in both",
        "change, points",
        "p",
    )
    body = [
        el(
            "tr",
            {"class": "clear-last" if item.p_adjusted < 0.05 else None},
            el("th", {"scope": "row"}, threshold(item.threshold_km)),
            cell(count(item.both_right)),
            cell(count(item.right_to_wrong)),
            cell(count(item.wrong_to_right)),
            cell(count(item.both_wrong)),
            cell(signed(100 * (item.wrong_to_right - item.right_to_wrong) / one.n)),
            cell(p_value(item.p_adjusted)),
        )
        for item in one.turned
    ]
    table = el(
        "table",
        {"class": "turned"},
        caption(
            "Photos by whether their answer was right, first with everything to be seen, then with it hidden. p: exact "
            "McNemar test, Holm-corrected over the rows; bold where below 0.05."
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )
    return el(
        "div",
        {"class": "field"},
        el("h3", None, name(one.second), " against ", name(one.first), "; hidden: ", name(one.hidden or "nothing")),
        el("p", None, *_hung_on_sentence(one)),
        scroll_box(f"{one.second} against {one.first}", table),
        _shifts(one),
    )


def _hung_on_sentence(one: HungOn) -> list[object]:
    parts: list[object] = [f"On {plural(one.n, 'photo', 'photos')} with an answer in both: "]
    if one.located:
        parts += [
            el("strong", None, count(one.moved)),
            f" of {count(one.located)} with a place in both moved by more than {threshold(MOVED_KM)}",
            f" (the middle one by {distance(one.median_moved_km)})" if one.median_moved_km > MOVED_KM else "",
            "; ",
        ]
    parts += [el("strong", None, count(one.lost)), " lost their place"]
    parts.append(f", {count(one.found)} got one." if one.found else ".")
    return parts


def _shifts(one: HungOn) -> Html:
    if not one.shifts:
        return el("p", {"class": "quiet"}, "No answer moved.")
    heads = ("photo", "moved", "with everything", "error", "hidden", "error")
    table = el(
        "table",
        {"class": "shifts"},
        caption("Answers with and without what was hidden, and how far each is from the truth."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *(_shift(shift) for shift in one.shifts)),
    )
    words = f"The {plural(len(one.shifts), 'photo', 'photos')} whose answer moved most"
    return el("details", {"open": True}, el("summary", None, words), scroll_box("Answers that moved most", table))


def _shift(shift: Shift) -> Html:
    return el(
        "tr",
        None,
        el("th", {"scope": "row"}, name(shift.id, 60)),
        cell("place lost" if isnan(shift.moved_km) else distance(shift.moved_km)),
        _answer(shift.first_place, shift.first),
        cell(distance(shift.first_km)),
        _answer(shift.second_place, shift.second),
        cell(distance(shift.second_km)),
    )


def _answer(words: str, point: tuple[float, float]) -> Html:
    where = place(*point)
    return el("td", {"class": "text"}, name(words, 60) if words else where, el("small", None, where) if words else "")


def render_run_page(
    report: RunsReport,
    *,
    published: Sequence[PublishedRow] = (),
    pairs: Sequence[PairReport] = (),
    generated: str,
    command: str = "",
) -> str:
    """Return the whole page as text, to be written as UTF-8.

    Args:
        report: the runs.
        published: rows from papers to show beneath ours.
        pairs: paired comparisons of runs.
        generated: the time when the page was made, as displayed.
        command: the command line that made it.
    """
    many = len(report.runs) > 1
    return render_page(
        [run.report for run in report.runs],
        published=published,
        pairs=pairs,
        title="Runs" if many else "Run",
        generated=generated,
        command=command,
        more=MoreSections(
            first=tuple(
                el("p", {"class": "alarm"}, name(f"{run.label}: {one}", 300))
                for run in report.runs
                for one in run.alarms
            ),
            after_figures=(coverage_section(report),),
            after_charts=(
                costs_section(report),
                behaviour_section(report.runs),
                failures_section(report.runs),
                hung_on_section(report.hung_on),
            ),
            before_worst=(gallery_section(report.runs), facts_section(report.runs)),
            style=files(__package__).joinpath("run.css").read_text(encoding="utf-8"),
        ),
    )
