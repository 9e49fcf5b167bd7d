"""Sections on runs: coverage, costs, tools, failures, what answers depended on, settings; for pages and terminals."""

from collections.abc import Sequence
from math import ceil, floor, isnan, log10

from geosleuth.lab.bench.page.parts import (
    Facts,
    Figure,
    Fold,
    Group,
    PageSection,
    Para,
    Table,
    TableCell,
    TableRow,
    bar,
    render_keyed_label,
)
from geosleuth.report.charts import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.support.text.numbers import (
    NONE,
    count,
    distance,
    format_signed,
    p_value,
    percent_sign,
    place,
    plural,
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
from .run_report import RunReport, RunsReport

CLEAR_P = 0.05
SHOWN_TOOLS = 30
_LABEL_LIMIT = 28
SHOWN_GROUPS = 12
# A cost axis whose ends differ by more than this factor is logarithmic.
WIDE_SPAN = 8


def coverage_section(report: RunsReport) -> PageSection:
    """Return which photos have an answer, and the accuracy with all others counted as wrong."""
    km = report.right_km
    heads = ("Run", "photos", "answered", "of them unlocated", "failed", "missing", "tries", f"within {threshold(km)}",
             "the rest as misses")  # fmt: skip
    table = Table(
        "What was answered",
        heads,
        [TableRow(_coverage(run, index, km)) for index, run in enumerate(report.runs)],
        "Failed: every try ended with an error, of a server or of a file. Missing: no try has ended. Neither says "
        "anything about the model, so all other figures leave them out; the last column counts them as wrong.",
        "coverage",
    )
    notes = [Para(join((name(run.label), f": {note}.")), "odd") for run in report.runs for note in run.notes]
    return PageSection("coverage", "Answered and missing photos", [table, *notes])


def _coverage(run: RunReport, index: int, right_km: float) -> list[object]:
    counts = run.counts
    return [
        TableCell(render_keyed_label(index, run.label, 40), kind="own"),
        count(counts.photos),
        count(counts.answered),
        count(counts.unlocated),
        TableCell(count(counts.failed), kind="num bad" if counts.failed else "num"),
        TableCell(count(counts.missing), kind="num bad" if counts.missing else "num"),
        count(sum(attempt.count for attempt in run.journal.tries.values())),
        percent_sign(run.report.summary.within[right_km].percent.value),
        percent_sign(run.counts_as_misses[right_km].percent.value),
    ]


def costs_section(report: RunsReport) -> PageSection:
    """Return the table per photo, and accuracy against cost between runs and within them."""
    table = Table(
        "What a photo costs",
        ["Run", "answered", *map(heading, MEASURES)],
        [
            TableRow(
                [
                    TableCell(render_keyed_label(index, run.label, 40), kind="own"),
                    count(run.counts.answered),
                    *(_spread_cell(measure, run.spent[measure.key], run.counts.answered) for measure in MEASURES),
                ]
            )
            for index, run in enumerate(report.runs)
        ],
        "Mean per answered photo, of the try that gave the answer; beneath it the median, and what 95 % of the photos "
        "stay below. What failed tries used comes on top: see “Failed photos and tries”.",
        "spent",
    )
    figures = [figure for figure in (_against_figure(report), _within_figure(report)) if figure is not None]
    return PageSection(
        "costs", "What a photo costs", [table, *([Group(figures, kind="pair after-table")] if figures else [])]
    )


def _spread_cell(measure: Measure, found: Spread, answered: int) -> TableCell:
    if not found.n:
        return TableCell(NONE, title="The price is not known." if measure.key == "cost_usd" else None)
    mean, median, p95 = (amount(measure, value) for value in (found.mean, found.median, found.p95))
    below = f"{median} · {p95}" if found.total else ""
    total = f"mean {mean}, median {median}, 95th percentile {p95}; {amount(measure, found.total)} in all"
    if found.n < answered:
        total += f"; known for {count(found.n)} of {count(answered)} photos"
        below += f" · n {count(found.n)}"
    return TableCell(mean, below, total)


def _against_figure(report: RunsReport) -> Figure | None:
    measure = report.measure
    points = [
        (index, run, run.spent[measure.key].mean)
        for index, run in enumerate(report.runs)
        if run.spent[measure.key].n and run.report.summary.n
    ]
    if not points:
        return None
    plot, axis = _plot(), _Axis([value for *_, value in points])
    parts: list[Html] = [percent_axis(plot), *axis.draw(plot, measure)]
    said = []
    for index, run, value in points:
        share = run.report.summary.within[report.right_km].percent
        said.append(
            f"{clean(run.label, _LABEL_LIMIT)}: {percent_sign(share.value)} within {threshold(report.right_km)} at "
            f"{with_unit(measure, value)} per photo"
        )
        x, y = plot.x(axis.share(value)), plot.y(share.value / 100)
        parts.append(_spot(plot, (x, y), (share.low, share.high), index, said[-1], radius=6))
        side, anchor = (-11, "end") if axis.share(value) > 0.6 else (11, "start")
        parts.append(label(x + side, y + 4, clean(run.label, _LABEL_LIMIT), "name", anchor))
    return Figure(
        "Accuracy against cost, one point per run",
        drawing("against", plot, "Accuracy against cost", "; ".join(said), parts),
        f"Height: share of the answered photos within {threshold(report.right_km)}, with its 95 % interval. To the "
        f"right: mean {heading(measure)} per photo. Up and to the left is better.",
    )


def _within_figure(report: RunsReport) -> Figure | None:
    measure = report.measure
    drawn = [(index, run) for index, run in enumerate(report.runs) if run.buckets]
    if not drawn:
        return None
    plot, axis = _plot(), _Axis([bucket.mean for _, run in drawn for bucket in run.buckets])
    parts: list[Html] = [percent_axis(plot), *axis.draw(plot, measure)]
    for index, run in drawn:
        spots = [(plot.x(axis.share(item.mean)), plot.y(item.accuracy.percent.value / 100)) for item in run.buckets]
        parts.append(polyline(spots, f"curve thin {series(index)}"))
        for bucket, spot in zip(run.buckets, spots, strict=True):
            share = bucket.accuracy.percent
            words = (
                f"{clean(run.label, _LABEL_LIMIT)}: {percent_sign(share.value)} of {count(bucket.accuracy.n)} photos "
                f"at {amount(measure, bucket.low)} to {with_unit(measure, bucket.high)}"
            )
            parts.append(_spot(plot, spot, (share.low, share.high), index, words))
    said = "; ".join(
        f"{run.label}: " + ", ".join(percent_sign(item.accuracy.percent.value) for item in run.buckets)
        for _, run in drawn
    )
    keys = [el("span", {"class": "nowrap"}, render_keyed_label(index, run.label, 40)) for index, run in drawn]
    words = (
        "Photos of a run in groups of about equal number, from those with the least spending to those with the most. "
        "It shows what goes together, not why: hard photos take more work. "
    )
    return Figure(
        "Accuracy by cost of the photo",
        drawing("buckets", plot, "Accuracy by cost within a run", said, parts),
        join((words, *(keys if len(keys) > 1 else ()))),
    )


def _plot() -> Plot:
    return Plot(width=520, height=340, left=48, top=22, right=20, bottom=46)


def _spot(
    plot: Plot, at: tuple[float, float], reach: tuple[float, float], index: int, words: str, radius: float = 4
) -> Html:
    x, y = at
    whisker = line(x, plot.y(reach[0] / 100), x, plot.y(reach[1] / 100), "whisker")
    dot = el("circle", {"cx": n(x), "cy": n(y), "r": radius, "class": "dot"})
    return el("g", {"class": series(index)}, el("title", None, words), whisker, dot)


class _Axis:
    """Cost axis from left to right; logarithmic if it spans a large factor."""

    def __init__(self, values: Sequence[float]) -> None:
        known = [value for value in values if not isnan(value)] or [0.0]
        self.low, self.high = min(known), max(known)
        self.logarithmic = self.low > 0 and self.high / self.low > WIDE_SPAN
        if self.logarithmic:
            self.low, self.high = self.low / 1.6, self.high * 1.6
        else:
            self.low, self.high = 0.0, 1.25 * self.high or 1.0

    def share(self, value: float) -> float:
        if self.logarithmic:
            return log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        return value / self.high

    def ticks(self) -> list[float]:
        if not self.logarithmic:
            step = round_step(self.high / 5)
            return [step * number for number in range(int(self.high / step) + 1)]
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = (1, 2, 5) if log10(self.high / self.low) < 2.4 else (1,)
        return [m * 10.0**d for d in decades for m in steps if self.low <= m * 10.0**d <= self.high]

    def draw(self, plot: Plot, measure: Measure) -> list[Html]:
        parts = [plot.horizontal(plot.y(0), "axis")]
        for value in self.ticks():
            x = plot.x(self.share(value))
            parts += [line(x, plot.y(0), x, plot.y(0) + 4, "axis"), label(x, plot.y(0) + 17, f"{value:,.6g}")]
        words = f"{heading(measure)} per photo" + (", logarithmic" if self.logarithmic else "")
        return [*parts, label(plot.x(0.5), plot.height - 6, words, "tick quiet")]


def behaviour_section(runs: Sequence[RunReport]) -> PageSection:
    """Return each run's tools, its endings, and who answered."""
    parts: list[object] = [
        Group(_behaviour(run, index), render_keyed_label(index, run.label)) for index, run in enumerate(runs)
    ]
    return PageSection(
        "tools",
        "How it worked",
        [*_side_by_side(runs), *parts],
        "Every call in the trajectories of the answered photos. A call succeeds where the tool did its work, whether "
        "or not what it found was of use. Calls that the loop withheld were never carried out: they were over the "
        "budget, or had been made before.",
    )


def _side_by_side(runs: Sequence[RunReport]) -> list[Table]:
    """Return calls per photo of every tool, a column per run, if there are several runs."""
    used = {
        tool.name: [_calls_per_photo(other, tool.name) for other in runs]
        for run in runs
        for tool in run.behaviour.tools
    }
    if len(runs) < 2 or not used:
        return []
    most = max(value for values in used.values() for value in values) or 1.0
    rows = [
        TableRow(
            [
                _code(tool),
                *(_render_mix_cell(f"{value:.2f}", value / most, index) for index, value in enumerate(used[tool])),
            ]
        )
        for tool in sorted(used, key=lambda tool: -sum(used[tool]))[:SHOWN_TOOLS]
    ]
    heads = ["tool", *(render_keyed_label(index, run.label, 30) for index, run in enumerate(runs))]
    caption = "Calls per photo, withheld ones included."
    return [Table("Calls per photo of all runs", heads, rows, caption, "tool-mix beside")]


def _calls_per_photo(run: RunReport, tool: str) -> float:
    calls = next((item.calls for item in run.behaviour.tools if item.name == tool), 0)
    return calls / max(1, run.behaviour.photos)


def _code(tool: str, limit: int = 60) -> Html:
    return el("code", None, name(tool, limit))


def _render_mix_cell(words: str, part: float, index: int) -> TableCell:
    return TableCell(join((bar(index, part), words)), kind="mix")


def _behaviour(run: RunReport, index: int) -> list[object]:
    found = run.behaviour
    parts: list[object] = [Para(join(_behaviour_sentence(run)))]
    if found.tools:
        most, shown = max(tool.calls for tool in found.tools), found.tools[:SHOWN_TOOLS]
        more = len(found.tools) - len(shown)
        note = f" {count(more)} more tools are in the JSON document." if more else ""
        heads = ("tool", "calls", "share of calls", "in photos", "succeeded", "strictly", "failed", "withheld", "time")
        parts.append(
            Table(
                f"Tools of {run.label}",
                heads,
                [TableRow(_tool(tool, found, most, index)) for tool in shown],
                "Calls by tool. “In photos”: in which share of the photos it was called. “Succeeded” is the share of "
                f"calls carried out, “strictly” that of calls that worked as they were written.{note}",
                "tool-mix",
            )
        )
        # As SpotAgent's figure 6a has them.
        together = [
            TableRow([_code(" + ".join(names) or "none", 120), count(photos),
                 _render_mix_cell(share(photos, found.photos), photos / found.combinations[0][1], index)])
            for names, photos in found.combinations[:SHOWN_TOOLS]
        ]  # fmt: skip
        title = f"Tools of {run.label} that were called together"
        parts.append(
            Table(
                title,
                ("tools", "photos", "share of photos"),
                together,
                "Tools that were called together on a photo.",
                "tool-mix",
            )
        )
    else:
        parts.append(Para("No tool was called."))
    if found.failures:
        kinds = [
            el("span", {"class": "kind"}, el("b", None, count(number)), f" {FAILURE_WORDS[kind]}", _mostly(found, kind))
            for kind, number in found.failures.most_common()
        ]
        parts.append(Para(join(("Calls that gave nothing, by kind: ", join(kinds, " "))), "kinds"))
    if found.absent or found.damaged:
        words = (
            f"{count(found.absent)} trajectories are not there, {count(found.damaged)} damaged: they are missing here."
        )
        parts.append(Para(words, "odd"))
    return parts


def _behaviour_sentence(run: RunReport) -> list[object]:
    found = run.behaviour
    parts: list[object] = []
    if found.photos:
        calls = el("strong", None, f"{found.calls / found.photos:.1f} calls")
        parts += [calls, f" per photo; {share(found.with_calls, found.photos)} of the photos called a tool at all. "]
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
    return parts


def _tool(tool: ToolUse, found: Behaviour, most: int, index: int) -> list[object]:
    failed = tool.carried_out - tool.succeeded
    return [
        _code(tool.name),
        count(tool.calls),
        _render_mix_cell(share(tool.calls, found.calls), tool.calls / most, index),
        share(tool.photos, found.photos),
        share(tool.succeeded, tool.carried_out),
        share(tool.succeeded_strictly, tool.carried_out),
        count(failed) if failed else NONE,
        count(tool.withheld) if tool.withheld else NONE,
        f"{tool.seconds / tool.carried_out:.2f} s" if tool.carried_out else NONE,
    ]


def _mostly(found: Behaviour, kind: FailureKind) -> Html:
    """Return the tool with most failures of a kind, if it has at least half of several failures."""
    top = max(found.tools, key=lambda tool: tool.failures[kind])
    part, whole = top.failures[kind], found.failures[kind]
    return (
        Html("") if whole < 2 or 2 * part < whole else join((f", {share(part, whole)} of them ", _code(top.name, 40)))
    )


def failures_section(runs: Sequence[RunReport]) -> PageSection:
    """Return the reasons of failed photos, and every run's tries with their costs."""
    parts = [Group(_failures(run), render_keyed_label(index, run.label)) for index, run in enumerate(runs)]
    return PageSection("failures", "Failed photos and tries", parts)


def _failures(run: RunReport) -> list[object]:
    counts, groups = run.counts, run.journal.failures
    words = [f"{plural(counts.failed, 'photo', 'photos')} failed in the newest try"] if counts.failed else []
    words += [f"{plural(counts.missing, 'photo is', 'photos are')} still to be worked on"] if counts.missing else []
    retry = " “--retry errors” works on the failed ones again." if counts.failed else ""
    whole = f"All {plural(counts.photos, 'photo has', 'photos have')} an answer."
    parts: list[object] = [Para(f"Of {count(counts.photos)} photos, {' and '.join(words)}.{retry}" if words else whole)]
    parts += [
        Para(join(("Service ", name(str(use), 200), ".")), "odd" if use.failed else "") for use in run.journal.services
    ]
    if groups:
        rows = [TableRow(_group(group)) for group in groups[:SHOWN_GROUPS]]
        if rest := groups[SHOWN_GROUPS:]:
            reasons = plural(len(rest), "other reason", "other reasons")
            rows.append(TableRow([count(sum(group.photos for group in rest)), TableCell(reasons, kind="text"), "", ""]))
        caption = "Photos by why their newest try failed; messages that differ in numbers alone count together."
        heads = ("photos", "why", "host", "for example")
        parts.append(Table(f"Why photos of {run.label} failed", heads, rows, caption, "troubles"))
    return [*parts, _tries(run)]


def _group(group: FailureGroup) -> list[object]:
    why = group.trouble or REASON_WORDS.get(group.reason, group.reason)
    return [
        count(group.photos),
        TableCell(name(why, 240), kind="text"),
        TableCell(name(group.host, 60) if group.host else NONE, kind="text"),
        TableCell(join([name(item, 40) for item in group.some], ", "), kind="text"),
    ]


def _tries(run: RunReport) -> Table:
    rows = []
    for outcome, words in OUTCOME_WORDS.items():
        if (found := run.journal.tries.get(outcome)) is not None:
            usage = found.spent.usage
            figures = (found.count, usage.tries, found.spent.turns, usage.input_tokens + usage.output_tokens)
            cost = NONE if usage.cost_usd is None else money(usage.cost_usd)
            rows.append(TableRow([words, *map(count, figures), cost, f"{found.spent.seconds / 3600:,.2f}"]))
    several = {number: photos for number, photos in run.journal.tries_per_photo.items() if number > 1}
    again = ", ".join(f"{plural(photos, 'photo', 'photos')} took {number}" for number, photos in several.items())
    return Table(
        f"Tries of {run.label}",
        ("tries", "number", "model requests", "turns", "tokens", "cost, USD", "hours of work"),
        rows,
        "Every try of the run and what it used. Hours are added up over photos that were worked on at the same time; "
        "model requests count repeats after errors of the server too. "
        + (f"More than one try: {again}." if again else "No photo took more than one try."),
        "tries",
    )


def hung_on_section(found: Sequence[HungOn]) -> PageSection:
    """Return the comparison of every masked run with the unmasked one."""
    return PageSection(
        "hung-on",
        "What the answers depended on",
        [_build_masked_group(item) for item in found],
        "The same photos once more with something hidden. An answer that stays did not need it; one that moves "
        "depended on it, or would have moved anyway: a model may answer differently when asked twice.",
    )


def _build_masked_group(hung_on: HungOn) -> Group:
    rows = [
        TableRow(
            [
                threshold(item.threshold_km),
                count(item.both_right),
                count(item.right_to_wrong),
                count(item.wrong_to_right),
                count(item.both_wrong),
                format_signed(100 * (item.wrong_to_right - item.right_to_wrong) / hung_on.n),
                p_value(item.p_adjusted),
            ],
            "clear-last" if item.p_adjusted < CLEAR_P else "",
        )
        for item in hung_on.turned
    ]
    table = Table(
        f"{hung_on.second} against {hung_on.first}",
        ("within", "right in both", "right, then wrong", "wrong, then right", "wrong in both", "change, points", "p"),
        rows,
        "Photos by whether their answer was right, first with everything to be seen, then with it hidden. p: exact "
        "McNemar test, Holm-corrected over the rows; bold where below 0.05.",
        "turned",
    )
    title = join(
        (name(hung_on.second), " against ", name(hung_on.first), "; hidden: ", name(hung_on.hidden or "nothing"))
    )
    return Group([Para(join(_hung_on_sentence(hung_on))), table, _shifts(hung_on)], title)


def _hung_on_sentence(hung_on: HungOn) -> list[object]:
    parts: list[object] = [f"On {plural(hung_on.n, 'photo', 'photos')} with an answer in both: "]
    if hung_on.located:
        far = f" (the middle one by {distance(hung_on.median_moved_km)})" if hung_on.median_moved_km > MOVED_KM else ""
        both = f" of {count(hung_on.located)} with a place in both moved by more than {threshold(MOVED_KM)}{far}; "
        parts += [el("strong", None, count(hung_on.moved)), both]
    found = f", {count(hung_on.found)} got one." if hung_on.found else "."
    return [*parts, el("strong", None, count(hung_on.lost)), f" lost their place{found}"]


def _shifts(hung_on: HungOn) -> object:
    if not hung_on.shifts:
        return Para("No answer moved.", "quiet")
    table = Table(
        "Answers that moved most",
        ("photo", "moved", "with everything", "error", "hidden", "error"),
        [TableRow(_shift(shift)) for shift in hung_on.shifts],
        "Answers with and without what was hidden, and how far each is from the truth.",
        "shifts",
    )
    words = f"The {plural(len(hung_on.shifts), 'photo', 'photos')} whose answer moved most"
    return Fold(words, [table], open=True)


def _shift(shift: Shift) -> list[object]:
    return [
        name(shift.id, 60),
        "place lost" if isnan(shift.moved_km) else distance(shift.moved_km),
        _render_answer_cell(shift.first_place, shift.first),
        distance(shift.first_km),
        _render_answer_cell(shift.second_place, shift.second),
        distance(shift.second_km),
    ]


def _render_answer_cell(words: str, point: tuple[float, float]) -> TableCell:
    where = place(*point)
    return TableCell(name(words, 60) if words else where, where if words else "", kind="text")


def facts_section(runs: Sequence[RunReport]) -> PageSection:
    """Return each run's settings; differences between runs are marked."""
    facts = [run.facts for run in runs]
    groups = [Group([_facts(run, facts)], render_keyed_label(index, run.label), "") for index, run in enumerate(runs)]
    lead = "What differs between the runs is marked." if len(runs) > 1 else ""
    return PageSection("runs", "What was run", groups, lead)


def _facts(run: RunReport, facts: Sequence[dict[str, str]]) -> Facts:
    pairs = []
    for term, value in run.facts.items():
        differs = any(other.get(term) != value for other in facts)
        shown = el("code", {"class": "sha"}, value) if term.endswith("sha256") else name(value, 200)
        pairs.append((name(term, 60), shown, "differs" if differs else ""))
    return Facts(pairs, "facts")
