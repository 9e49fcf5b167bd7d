"""A file of answers judged level by level: figures by rule and by judge, and how far the two agree.

The sample has as many pairs of names that the rule accepts as it disproves, if there are enough of both, and pairs that
are spelt differently come first: equal texts are no test of a judge. So it does not represent the file, and is harder
than it.

If the judge accepts two names as the same place, the answer's name is replaced by the truth's before the rule compares
the next level. So the rule's logic of levels holds for judged answers too: another country makes the rest wrong, and
lower levels are asked about only if a yes could still make them right.
"""

import csv
import io
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.answer import ParserName
from geosleuth.lab.bench.export import finite
from geosleuth.lab.bench.records import Record
from geosleuth.lab.score import Accuracy, AnswerNames, Estimate, TruthNames
from geosleuth.lab.score.metrics import wilson
from geosleuth.names import fold
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import printable

from .judge import (
    PROMPT_VERSION,
    Judge,
    JudgeProgress,
    Level,
    Question,
    RuleSays,
    Says,
    Stand,
    Verdict,
    granted,
    reply_question,
    stand,
)

FORMAT = "geosleuth-judged/1"
Outcome = Literal[
    "right", "judged right", "judged wrong", "unreadable", "not judged", "wrong", "not named", "not given"
]
"""How a level of an answer was decided: by the rule, by the judge, or left open."""
OUTCOMES: tuple[Outcome, ...] = (
    "right",
    "judged right",
    "judged wrong",
    "unreadable",
    "not judged",
    "wrong",
    "not named",
)
_WORDS: dict[Outcome, str] = {
    "right": "right by rule",
    "judged right": "right by judge",
    "judged wrong": "wrong by judge",
    "unreadable": "reply unreadable: wrong",
    "not judged": "not judged: wrong",
    "wrong": "wrong by rule",
    "not named": "not named: wrong",
}
Ask = Literal["undecided", "unmatched", "replies"]
"""What the model is asked: names that the rule can't decide, names that it does not accept, or, where it does not
accept them or finds none, whether the whole reply means the true place (GeoVista's order)."""
LEVELS: tuple[Level, ...] = ("country", "region", "city")
_AS_JUDGED: dict[Says, Outcome] = {"yes": "judged right", "no": "judged wrong", "unreadable": "unreadable"}
_AS_RULED: dict[RuleSays, Outcome] = {
    "right": "right",
    "wrong": "wrong",
    "undecided": "not judged",
    "not named": "not named",
    "not given": "not given",
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judge and rule agree, of ``n`` questions with a readable verdict.

    ``judge_only`` are accepted only by the judge, ``rule_only`` only by the rule. ``kappa`` is NaN if rule or judge
    always gave the same verdict.
    """

    n: int
    both_yes: int
    both_no: int
    judge_only: int
    rule_only: int
    unreadable: int
    not_judged: int
    percent: Accuracy
    kappa: Estimate


def sample_of(sure: Mapping[Question, bool], size: int, seed: int) -> dict[Question, bool]:
    """Return up to ``size`` questions with the rule's verdicts; the same for the same seed and questions."""
    chance = random.Random(seed)  # noqa: S311  # draws a sample, keeps no secret
    groups: dict[tuple[str, bool], list[Question]] = {}
    for question in sorted(
        sure, key=lambda one: (one.level, one.truth, one.answer, one.country or "", one.region or "")
    ):
        groups.setdefault((question.level, sure[question]), []).append(question)
    for group in groups.values():
        chance.shuffle(group)
        # Stable: within the two kinds the order stays random.
        group.sort(key=lambda one: fold(one.truth) == fold(one.answer))
    chosen: list[Question] = []
    while len(chosen) < size and any(groups.values()):
        for group in groups.values():
            if group and len(chosen) < size:
                chosen.append(group.pop(0))
    return {question: sure[question] for question in chosen}


def agreement_of(sample: Mapping[Question, bool], verdicts: Mapping[Question, Verdict]) -> Agreement:
    """Compare the rule's verdicts with the judge's."""
    pairs: list[tuple[bool, bool]] = []
    unreadable = 0
    for question, rule in sample.items():
        verdict = verdicts.get(question)
        if verdict is not None and verdict.says == "unreadable":
            unreadable += 1
        elif verdict is not None:
            pairs.append((rule, verdict.says == "yes"))
    counts = {key: pairs.count(key) for key in ((True, True), (False, False), (False, True), (True, False))}
    same = counts[True, True] + counts[False, False]
    return Agreement(
        n=len(pairs),
        both_yes=counts[True, True],
        both_no=counts[False, False],
        judge_only=counts[False, True],
        rule_only=counts[True, False],
        unreadable=unreadable,
        not_judged=len(sample) - len(pairs) - unreadable,
        percent=Accuracy.of(same, len(pairs)),
        kappa=kappa(pairs),
    )


def kappa(pairs: Sequence[tuple[bool, bool]]) -> Estimate:
    """Return Cohen's kappa of two yes/no raters, with a 95 % interval.

    The interval is Wilson's for the share on which they agree, with chance agreement as observed. Unlike the usual
    normal interval it does not vanish if they agree on everything.
    """
    n = len(pairs)
    unknown = float("nan")
    if n == 0:
        return Estimate(unknown, unknown, unknown)
    first, second = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    by_chance = first * second + (1 - first) * (1 - second)
    if by_chance >= 1:
        return Estimate(unknown, unknown, unknown)
    agreed = wilson(sum(one == two for one, two in pairs), n)
    return Estimate(*((share - by_chance) / (1 - by_chance) for share in (agreed.value, agreed.low, agreed.high)))


@dataclass(frozen=True, slots=True)
class LevelFigures:
    """One level over all answers whose truth names it. ``outcomes`` sum to ``n``.

    ``undecided`` is how many the rule left open.
    """

    level: Level
    n: int
    undecided: int
    by_rule: Accuracy
    by_judge: Accuracy
    outcomes: Mapping[Outcome, int]


@dataclass(frozen=True, slots=True)
class Row:
    """One level of one answer that was judged; ``verdict`` is None if no reply came."""

    id: str
    question: Question
    rule: RuleSays
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """The result of judging a file."""

    label: str
    model: str
    ask: str
    n: int
    levels: tuple[LevelFigures, ...]
    agreement: Agreement
    progress: JudgeProgress
    rows: tuple[Row, ...] = field(repr=False)

    @property
    def open(self) -> int:
        """Return how many levels of answers should have been judged and were not."""
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
    """Return the figures for a terminal."""
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
    sentence = (
        "kappa undefined, since one of them always said the same"
        if isnan(chance.value)
        else f"kappa {chance.value:.2f} ({chance.low:.2f}–{chance.high:.2f})"
    )
    return [
        f"where the rule is sure, the judge agrees on {percent.value:.1f} % ({percent.low:.0f}–{percent.high:.0f}) of "
        f"{plural(found.n, 'question', 'questions')}, {sentence}; judge alone says yes to {found.judge_only:,}, "
        f"rule alone to {found.rule_only:,}{left_out}"
    ]


def _cost_lines(judged: JudgedFile) -> list[str]:
    so_far, usage = judged.progress, judged.progress.usage
    cost = "" if usage.cost_usd is None else f", {usage.cost_usd:.4f} USD"
    return [
        f"{plural(so_far.asked, 'question', 'questions')} asked, {so_far.from_cache:,} known from before, "
        f"{usage.input_tokens + usage.output_tokens:,} tokens{cost}"
    ]


def judged_document(judged: JudgedFile) -> dict[str, Any]:
    """Return everything as one JSON document; percentages in percent, null for undefined values."""
    agreement, so_far = judged.agreement, judged.progress
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
    """Return one line for each judged level of an answer, with the judge's own words."""
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


@dataclass(slots=True)
class Entry:
    """One answer's names beside the true ones; ``said`` changes while it is judged."""

    id: str
    truth: TruthNames
    said: AnswerNames
    reply: str | None = None


def entries_of(records: Iterable[Record], parser: ParserName) -> list[Entry]:
    """Return the names of records, to be judged."""
    entries = []
    for record in records:
        address, truth = record.read(parser).address, record.truth
        said = AnswerNames(address.country.conclusion, address.region.conclusion, address.precise.conclusion)
        names = TruthNames(truth.country, truth.region, truth.city)
        entries.append(Entry(printable(record.id), names, said, record.reply))
    return entries


async def judge_entries(
    entries: list[Entry],
    judge: Judge,
    *,
    label: str,
    model: str,
    ask: Ask = "undecided",
    sample: int = 100,
    seed: int = 0,
) -> JudgedFile:
    """Judge every answer, then evaluate the judge.

    Args:
        entries: the answers; their names change as the judge decides.
        judge: the judge.
        label: the file's name in reports.
        model: the judge's name in reports.
        ask: what the model is asked.
        sample: how many questions that the rule can decide the judge is asked too; 0 for none.
        seed: of the sample.

    Raises:
        UserError: the cache can't be read or written, or the model is not set up correctly.
    """
    sure: dict[Question, bool] = {}
    outcomes: dict[Level, list[Outcome]] = {}
    by_rule: dict[Level, list[RuleSays]] = {level: [] for level in LEVELS}
    rows: list[Row] = []
    for entry in entries:
        for level in LEVELS:
            first = stand(entry.truth, entry.said, level)
            by_rule[level].append(first.says)
            if first.question is not None and first.says in ("right", "wrong"):
                sure[first.question] = first.says == "right"
    lost: set[int] = set()
    for level in LEVELS:
        # Recomputed after the level above: a verdict there may open or settle this one.
        now = [stand(entry.truth, entry.said, level) for entry in entries]
        asked = {
            row: question
            for row, one in enumerate(now)
            if row not in lost and (question := _asked(one, entries[row], level, ask)) is not None
        }
        verdicts = await judge.verdicts(asked.values())
        outcomes[level] = [_outcome(by_rule[level][row], one, asked.get(row), verdicts) for row, one in enumerate(now)]
        for row, question in asked.items():
            entry, verdict = entries[row], verdicts.get(question)
            rows.append(Row(entry.id, question, now[row].says, verdict))
            if verdict is not None and verdict.says == "yes" and level != "city":
                entry.said = granted(entry.truth, entry.said, level)
        if ask == "replies":
            lost |= {
                row for row, one in enumerate(outcomes[level]) if one not in ("right", "judged right", "not given")
            }
    chosen = sample_of(sure, sample, seed)
    agreed: dict[Question, Verdict] = {}
    for level in LEVELS:
        agreed |= await judge.verdicts(question for question in chosen if question.level == level)
    return JudgedFile(
        label=label,
        model=model,
        ask=ask,
        n=len(entries),
        levels=tuple(level_figures(level, by_rule[level], outcomes[level]) for level in LEVELS),
        agreement=agreement_of(chosen, agreed),
        progress=judge.progress,
        rows=tuple(rows),
    )


def _asked(one: Stand, entry: Entry, level: Level, ask: Ask) -> Question | None:
    """Return what the model is asked about one level of one answer."""
    if ask == "replies" and entry.reply and one.says in ("undecided", "wrong", "not named"):
        return reply_question(entry.truth, level, entry.reply)
    return one.question if one.says == "undecided" or (ask == "unmatched" and one.says == "wrong") else None


def _outcome(first: RuleSays, now: Stand, question: Question | None, verdicts: Mapping[Question, Verdict]) -> Outcome:
    if question is None:
        # Right only now: the judge accepted the level above.
        return "judged right" if now.says == "right" and first != "right" else _AS_RULED[now.says]
    verdict = verdicts.get(question)
    if verdict is None:
        return "not judged"
    return _AS_JUDGED[verdict.says]
