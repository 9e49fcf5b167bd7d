"""What failed: kept apart from wrong answers, with reasons, and with what all tries cost."""

from collections.abc import Sequence

from geosleuth.bench.page.canvas import series
from geosleuth.bench.page.markup import Html, caption, el, join, name
from geosleuth.bench.page.tables import cell, scroll_box
from geosleuth.bench.report_run.reading import FailureGroup
from geosleuth.bench.report_run.told import RunReport, Told
from geosleuth.bench.report_run.wording import OUTCOME_WORDS, REASON_WORDS, money
from geosleuth.text.numbers import NONE, count, percent_sign, plural, threshold

_SHOWN_GROUPS = 12


def coverage_section(told: Told) -> Html:
    """Which photos have an answer, and what the accuracy would be if the others were all wrong."""
    km = threshold(told.right_km)
    heads = ("Run", "photos", "answered", "of them unlocated", "failed", "missing", "tries", f"within {km}",
             "the rest as misses")  # fmt: skip
    rows = [_coverage(run, index, told.right_km) for index, run in enumerate(told.runs)]
    table = el(
        "table",
        {"class": "coverage"},
        caption(
            "Failed: every try ended with an error, of a server or of a file. Missing: no try has come to an end. "
            "Neither says anything about whoever answers, so all other figures leave them out; the last column counts "
            "them as wrong."
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *rows),
    )
    notes = [el("p", {"class": "odd"}, name(run.label), f": {note}.") for run in told.runs for note in run.notes]
    return el(
        "section",
        {"id": "coverage", "aria-labelledby": "coverage-h"},
        el("h2", {"id": "coverage-h"}, "What was answered, and what is missing"),
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
    """Reasons of failed photos, and every run's tries with their costs."""
    return el(
        "section",
        {"id": "failures", "aria-labelledby": "failures-h"},
        el("h2", {"id": "failures-h"}, "What failed, apart from wrong answers"),
        *(_run(run, index) for index, run in enumerate(runs)),
    )


def _run(run: RunReport, index: int) -> Html:
    return el(
        "div",
        {"class": "field"},
        el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)),
        el("p", None, _sentence(run)),
        _groups(run) if run.journal.failures else "",
        scroll_box(f"Tries of {run.label}", _tries(run)),
    )


def _sentence(run: RunReport) -> str:
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
