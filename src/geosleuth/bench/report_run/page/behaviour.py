"""How runs worked: which tools were called, and what came of the calls."""

from collections.abc import Sequence

from geosleuth.bench.page.canvas import series
from geosleuth.bench.page.markup import Html, caption, el, join, name
from geosleuth.bench.page.tables import cell, scroll_box
from geosleuth.bench.report_run.behaviour import FAILURE_WORDS, Behaviour, ToolUse
from geosleuth.bench.report_run.told import RunReport
from geosleuth.bench.report_run.wording import ANSWERER_WORDS, REASON_WORDS, share
from geosleuth.text.numbers import NONE, count, plural
from geosleuth.tools.model import FailureKind

_SHOWN_TOOLS = 30


def behaviour_section(runs: Sequence[RunReport]) -> Html:
    """Each run's tools, its endings, and who answered."""
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
    """Calls per photo of every tool, a column for each run."""
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
            " succeeded",
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
    heads = ("tool", "calls", "share of calls", "in photos", "succeeded", "failed", "withheld", "mean time")
    note = f" {count(more)} more tools are in the JSON document." if more else ""
    return el(
        "table",
        {"class": "tool-mix"},
        caption(
            "Calls by tool. “In photos”: in which share of the photos it was called. “Succeeded” is the share of calls "
            f"carried out.{note}"
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *(_tool(tool, found, most, index) for tool in shown)),
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
    """The tool that has most of a kind, where it has at least half of several."""
    top = max(found.tools, key=lambda tool: tool.failures[kind])
    part, whole = top.failures[kind], found.failures[kind]
    if whole < 2 or 2 * part < whole:
        return Html("")
    return join((f", {share(part, whole)} of them ", el("code", None, name(top.name, 40))))
