"""What came of judging a file: figures by rule and by judge side by side, for people and for machines."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.bench.export import finite
from geosleuth.score import Accuracy, Estimate
from geosleuth.text.numbers import plural

from .agreement import Agreement
from .asking import PROMPT_VERSION, Standing, Verdict
from .deciding import Level, Question, RuleSays

FORMAT = "geosleuth-judged/1"
Outcome = Literal[
    "right", "judged right", "judged wrong", "unreadable", "not judged", "wrong", "not named", "not given"
]
"""How a level of an answer ended: as the rule said, as the judge said, or open."""

OUTCOMES: tuple[Outcome, ...] = (
    "right",
    "judged right",
    "judged wrong",
    "unreadable",
    "not judged",
    "wrong",
    "not named",
)


@dataclass(frozen=True, slots=True)
class LevelFigures:
    """One level over all answers whose truth names it. ``outcomes`` add up to ``n``.

    ``undecided`` is how many the rule alone left open.
    """

    level: Level
    n: int
    undecided: int
    by_rule: Accuracy
    by_judge: Accuracy
    outcomes: Mapping[Outcome, int]


@dataclass(frozen=True, slots=True)
class Row:
    """One level of one answer that was put to the judge; ``verdict`` is None where no reply came."""

    id: str
    question: Question
    rule: RuleSays
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """All that came of judging a file."""

    label: str
    model: str
    ask: str
    n: int
    levels: tuple[LevelFigures, ...]
    agreement: Agreement
    standing: Standing
    rows: tuple[Row, ...] = field(repr=False)

    @property
    def open(self) -> int:
        """How many levels of answers should have been judged and were not."""
        return sum(level.outcomes["not judged"] for level in self.levels)


def level_figures(level: Level, by_rule: Sequence[RuleSays], outcomes: Sequence[Outcome]) -> LevelFigures:
    """Count one level."""
    rule, judge = Counter(by_rule), Counter(outcomes)
    n = len(outcomes) - judge["not given"]
    return LevelFigures(
        level,
        n,
        rule["undecided"],
        Accuracy.of(rule["right"], n),
        Accuracy.of(judge["right"] + judge["judged right"], n),
        {name: judge[name] for name in OUTCOMES},
    )


def judged_view(judged: JudgedFile) -> RenderableType:
    """The figures for people."""
    given = [one for one in judged.levels if one.n]
    if not given:
        return Text(f"{judged.label}: no truth of its {plural(judged.n, 'answer', 'answers')} names a place")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for one in given:
        table.add_column(one.level, justify="right")
    table.add_row("answers", *(f"{one.n:,}" for one in given), end_section=True)
    table.add_row("right by rule, %", *(_share(one.by_rule) for one in given))
    table.add_row("right with the judge, %", *(_share(one.by_judge) for one in given), end_section=True)
    for name in OUTCOMES:
        table.add_row(_WORDS[name], *(f"{one.outcomes[name]:,}" for one in given))
    lines = [f"{judged.label}, judged by {judged.model}"]
    return Group(*map(Text, lines), table, *map(Text, [*_agreement_lines(judged.agreement), *_cost_lines(judged)]))


_WORDS: dict[Outcome, str] = {
    "right": "right by rule",
    "judged right": "right by judge",
    "judged wrong": "wrong by judge",
    "unreadable": "reply unreadable: wrong",
    "not judged": "not judged: wrong",
    "wrong": "wrong by rule",
    "not named": "not named: wrong",
}


def _share(share: Accuracy) -> Text:
    percent = share.percent
    return Text.assemble(f"{percent.value:.2f}", (f" ({percent.low:.0f}–{percent.high:.0f})", "dim"))


def _agreement_lines(found: Agreement) -> list[str]:
    apart = [
        f"{count:,} {name}"
        for name, count in (("unreadable", found.unreadable), ("not judged", found.not_judged))
        if count
    ]
    left_out = f"; left out: {', '.join(apart)}" if apart else ""
    if not found.n:
        return [f"agreement with the rule: not measured{left_out}"]
    percent, chance = found.percent.percent, found.kappa
    told = (
        "kappa undefined, since one of them always said the same"
        if isnan(chance.value)
        else f"kappa {chance.value:.2f} ({chance.low:.2f}–{chance.high:.2f})"
    )
    return [
        f"where the rule is sure, the judge agrees on {percent.value:.1f} % ({percent.low:.0f}–{percent.high:.0f}) of "
        f"{plural(found.n, 'question', 'questions')}, {told}; judge alone says yes to {found.judge_only:,}, "
        f"rule alone to {found.rule_only:,}{left_out}"
    ]


def _cost_lines(judged: JudgedFile) -> list[str]:
    so_far, usage = judged.standing, judged.standing.usage
    cost = "" if usage.cost_usd is None else f", {usage.cost_usd:.4f} USD"
    return [
        f"{plural(so_far.asked, 'question', 'questions')} asked, {so_far.from_cache:,} known from before, "
        f"{usage.input_tokens + usage.output_tokens:,} tokens{cost}"
    ]


def judged_document(judged: JudgedFile) -> dict[str, Any]:
    """Everything as one JSON document; percentages in percent, null for what is undefined."""
    agreement, so_far = judged.agreement, judged.standing
    return {
        "format": FORMAT,
        "geosleuth": __version__,
        "file": judged.label,
        "model": judged.model,
        "prompt_version": PROMPT_VERSION,
        "asked_about": judged.ask,
        "n": judged.n,
        "levels": {
            one.level: {
                "n": one.n,
                "undecided_by_rule": one.undecided,
                "by_rule": _accuracy(one.by_rule),
                "by_judge": _accuracy(one.by_judge),
                "outcomes": {name.replace(" ", "_"): count for name, count in one.outcomes.items()},
            }
            for one in judged.levels
            if one.n
        },
        "agreement": {
            "n": agreement.n,
            "both_yes": agreement.both_yes,
            "both_no": agreement.both_no,
            "judge_only": agreement.judge_only,
            "rule_only": agreement.rule_only,
            "unreadable": agreement.unreadable,
            "not_judged": agreement.not_judged,
            "percent": _accuracy(agreement.percent),
            "kappa": _estimate(agreement.kappa),
        },
        "asked": so_far.asked,
        "from_cache": so_far.from_cache,
        "failed": so_far.failed,
        "stopped": so_far.stopped,
        "spent": {
            "input_tokens": so_far.usage.input_tokens,
            "output_tokens": so_far.usage.output_tokens,
            "usd": so_far.usage.cost_usd,
        },
    }


def _accuracy(share: Accuracy) -> dict[str, Any]:
    return {"hits": share.hits, "n": share.n, **_estimate(share.percent, "percent")}


def _estimate(estimate: Estimate, name: str = "value") -> dict[str, float | None]:
    return {name: finite(estimate.value), "low": finite(estimate.low), "high": finite(estimate.high)}


def judged_csv(judged: JudgedFile) -> str:
    """One line for each level of an answer that was put to the judge, with the judge's own words."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "level", "truth", "answer", "country", "region", "rule", "judge", "reply"])
    for row in judged.rows:
        asked, verdict = row.question, row.verdict
        writer.writerow(
            [
                row.id,
                asked.level,
                asked.truth,
                asked.answer,
                asked.country or "",
                asked.region or "",
                row.rule,
                verdict.says if verdict else "",
                verdict.reply if verdict else "",
            ]
        )
    return out.getvalue()
