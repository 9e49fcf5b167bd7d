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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.answer import ParserName
from geosleuth.lab.bench.export import estimate_to_dict, share_to_dict
from geosleuth.lab.bench.records import Record
from geosleuth.lab.score import Accuracy, AnswerNames, Estimate, TruthNames
from geosleuth.lab.score.metrics import wilson
from geosleuth.names import fold
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import printable

from .asking import Asker
from .names import (
    LEVELS,
    Level,
    NameQuestion,
    RuleSays,
    Says,
    Stand,
    build_prompt,
    grant_level,
    read_verdict,
    reply_question,
    stand,
)

FORMAT = "geosleuth-judged/1"
Ask = Literal["undecided", "unmatched", "replies"]
"""What the model is asked: names that the rule can't decide, names that it does not accept, or, where it does not
accept them or finds none, whether the whole reply means the true place (GeoVista's order)."""

# Outcomes for a level of an answer, by rule, by judge or undecided, and their labels in the report.
OUTCOMES = {
    "right": "right by rule",
    "judged right": "right by judge",
    "judged wrong": "wrong by judge",
    "unreadable": "reply unreadable: wrong",
    "not judged": "not judged: wrong",
    "wrong": "wrong by rule",
    "not named": "not named: wrong",
}

_AS_JUDGED: dict[Says, str] = {"yes": "judged right", "no": "judged wrong", "unreadable": "unreadable"}


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A judge's verdict, and its own words."""

    says: Says
    reply: str = ""


@dataclass(slots=True)
class Entry:
    """One answer's names beside the true ones; ``said`` changes while it is judged."""

    id: str
    truth: TruthNames
    said: AnswerNames
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One level of one answer that was judged; ``verdict`` is None if no reply came."""

    id: str
    question: NameQuestion
    rule: RuleSays
    verdict: JudgeVerdict | None


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """The result: all figures as one JSON document, and what was judged.

    Percentages are in percent, and null is for undefined values. ``open`` counts levels of answers that should have
    been judged and were not, and questions of the sample.
    """

    document: dict[str, Any]
    open: int
    rows: tuple[JudgedRow, ...] = field(repr=False)


def collect_entries(records: Iterable[Record], parser: ParserName) -> list[Entry]:
    """Return the names of records, to be judged."""
    entries = []
    for record in records:
        address, truth = record.read(parser).address, record.truth
        said = AnswerNames(address.country.conclusion, address.region.conclusion, address.precise.conclusion)
        names = TruthNames(truth.country, truth.region, truth.city)
        entries.append(Entry(printable(record.id), names, said, record.reply))
    return entries


async def judge_entries(
    entries: list[Entry], asker: Asker, *, label: str, ask: Ask = "undecided", sample: int = 100, seed: int = 0
) -> JudgedFile:
    """Judge every answer, then evaluate the judge.

    Args:
        entries: the answers; their names change as the judge decides.
        asker: asks the judge.
        label: the file's name in reports.
        ask: what the model is asked.
        sample: how many questions that the rule can decide the judge is asked too; 0 for none.
        seed: of the sample.

    Raises:
        UserError: the memory can't be read or written, or the model is not set up correctly.
    """
    first = {level: [stand(entry.truth, entry.said, level) for entry in entries] for level in LEVELS}
    sure = {
        item.question: item.says == "right"
        for stands in first.values() for item in stands if item.question is not None and item.says in ("right", "wrong")
    }  # fmt: skip
    rows: list[JudgedRow] = []
    levels: dict[str, Any] = {}
    lost: set[int] = set()
    for level in LEVELS:
        # Recomputed after the level above: a verdict there may open or settle this one.
        now = [stand(entry.truth, entry.said, level) for entry in entries]
        asked = {
            row: question
            for row, one in enumerate(now)
            if row not in lost and (question := _find_question(one, entries[row], level, ask)) is not None
        }
        verdicts = await collect_verdicts(asked.values(), asker)
        outcomes = [
            _outcome(before.says, one, asked.get(row), verdicts)
            for row, (before, one) in enumerate(zip(first[level], now, strict=True))
        ]
        for row, question in asked.items():
            entry, verdict = entries[row], verdicts.get(question)
            rows.append(JudgedRow(entry.id, question, now[row].says, verdict))
            if verdict is not None and verdict.says == "yes" and level != "city":
                entry.said = grant_level(entry.truth, entry.said, level)
        if ask == "replies":
            lost |= {row for row, how in enumerate(outcomes) if how not in ("right", "judged right", "not given")}
        if figures := level_figures([item.says for item in first[level]], outcomes):
            levels[level] = figures
    chosen = draw_sample(sure, sample, seed)
    agreement = compare_with_judge(chosen, await collect_verdicts(chosen, asker))
    document = {
        "format": FORMAT,
        "geosleuth": __version__,
        "file": label,
        "model": asker.policy.name,
        "asked_about": ask,
        "n": len(entries),
        "levels": levels,
        "agreement": agreement,
        **asker.progress.to_dict(),
    }
    left_open = sum(item["outcomes"]["not_judged"] for item in levels.values()) + agreement["not_judged"]
    return JudgedFile(document, left_open, tuple(rows))


async def collect_verdicts(questions: Collection[NameQuestion], asker: Asker) -> dict[NameQuestion, JudgeVerdict]:
    """Return the model's verdicts; a missing one was not judged."""
    found: dict[NameQuestion, JudgeVerdict] = {}
    for level in LEVELS:
        prompts = {question: build_prompt(question) for question in questions if question.level == level}
        replies = await asker.replies(prompts.values(), lambda reply: read_verdict(reply) != "unreadable", level)
        for question, prompt in prompts.items():
            if prompt in replies:
                found[question] = JudgeVerdict(read_verdict(replies[prompt]), replies[prompt])
    return found


def _find_question(item: Stand, entry: Entry, level: Level, ask: Ask) -> NameQuestion | None:
    if ask == "replies" and entry.reply and item.says in ("undecided", "wrong", "not named"):
        return reply_question(entry.truth, level, entry.reply)
    return item.question if item.says == "undecided" or (ask == "unmatched" and item.says == "wrong") else None


def _outcome(
    first: RuleSays, now: Stand, question: NameQuestion | None, verdicts: Mapping[NameQuestion, JudgeVerdict]
) -> str:
    if question is None:
        # Right only now: the judge accepted the level above.
        newly_right = now.says == "right" and first != "right"
        return "judged right" if newly_right else "not judged" if now.says == "undecided" else now.says
    verdict = verdicts.get(question)
    return "not judged" if verdict is None else _AS_JUDGED[verdict.says]


def level_figures(by_rule: Sequence[RuleSays], outcomes: Sequence[str]) -> dict[str, Any]:
    """Count one level over all answers whose truth names it; nothing if none does. Its outcomes sum to ``n``."""
    rule, judge = Counter(by_rule), Counter(outcomes)
    n = len(outcomes) - judge["not given"]
    return {
        "n": n,
        "undecided_by_rule": rule["undecided"],
        "by_rule": share_to_dict(Accuracy.from_counts(rule["right"], n)),
        "by_judge": share_to_dict(Accuracy.from_counts(judge["right"] + judge["judged right"], n)),
        "outcomes": {name.replace(" ", "_"): judge[name] for name in OUTCOMES},
    } if n else {}  # fmt: skip


def draw_sample(sure: Mapping[NameQuestion, bool], size: int, seed: int) -> dict[NameQuestion, bool]:
    """Return up to ``size`` questions with the rule's verdicts; the same for the same seed and questions."""
    chance = random.Random(seed)  # noqa: S311  # draws a sample, keeps no secret
    groups: dict[tuple[str, bool], list[NameQuestion]] = {}
    for question in sorted(sure, key=lambda item: [part or "" for part in astuple(item)]):
        groups.setdefault((question.level, sure[question]), []).append(question)
    for group in groups.values():
        chance.shuffle(group)
        # Stable: within the two kinds the order stays random.
        group.sort(key=lambda item: fold(item.truth) == fold(item.answer))
    chosen: list[NameQuestion] = []
    while len(chosen) < size and any(groups.values()):
        for group in groups.values():
            if group and len(chosen) < size:
                chosen.append(group.pop(0))
    return {question: sure[question] for question in chosen}


def compare_with_judge(
    sample: Mapping[NameQuestion, bool], verdicts: Mapping[NameQuestion, JudgeVerdict]
) -> dict[str, Any]:
    """Compare the rule's verdicts with the judge's, over the questions with a readable verdict."""
    says = {question: verdicts[question].says for question in sample if question in verdicts}
    pairs = [(sample[question], said == "yes") for question, said in says.items() if said != "unreadable"]
    counts = Counter(pairs)
    return {
        "n": len(pairs),
        "both_yes": counts[True, True],
        "both_no": counts[False, False],
        "judge_only": counts[False, True],
        "rule_only": counts[True, False],
        "unreadable": len(says) - len(pairs),
        "not_judged": len(sample) - len(says),
        "percent": share_to_dict(Accuracy.from_counts(counts[True, True] + counts[False, False], len(pairs))),
        "kappa": estimate_to_dict(kappa(pairs)),
    }


def kappa(pairs: Sequence[tuple[bool, bool]]) -> Estimate:
    """Return Cohen's kappa of two yes/no raters, with a 95 % interval; NaN if one of them always says the same.

    The interval is Wilson's for the share on which they agree, with chance agreement as observed. Unlike the usual
    normal interval it does not vanish if they agree on everything.
    """
    n = len(pairs)
    first, second = (sum(pair[side] for pair in pairs) / max(1, n) for side in (0, 1))
    by_chance = first * second + (1 - first) * (1 - second)
    if n == 0 or by_chance >= 1:
        return Estimate(float("nan"), float("nan"), float("nan"))
    agreed = wilson(sum(one == two for one, two in pairs), n)
    return Estimate(*((share - by_chance) / (1 - by_chance) for share in (agreed.value, agreed.low, agreed.high)))


def render_judged(document: Mapping[str, Any]) -> RenderableType:
    """Return the figures for a terminal."""
    levels = document["levels"]
    if not levels:
        return Text(f"{document['file']}: no truth of its {plural(document['n'], 'answer', 'answers')} names a place")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for level in levels:
        table.add_column(level, justify="right")
    table.add_row("answers", *(f"{item['n']:,}" for item in levels.values()), end_section=True)
    for words, key in (("right by rule, %", "by_rule"), ("right with the judge, %", "by_judge")):
        table.add_row(
            words, *(_render_judged_share(item[key]) for item in levels.values()), end_section=key == "by_judge"
        )
    for name, words in OUTCOMES.items():
        table.add_row(words, *(f"{item['outcomes'][name.replace(' ', '_')]:,}" for item in levels.values()))
    lines = (_agreement_line(document["agreement"]), spent_line(document))
    return Group(Text(f"{document['file']}, judged by {document['model']}"), table, *map(Text, lines))


def _render_judged_share(share: Mapping[str, Any]) -> Text:
    return Text.assemble(f"{share['percent']:.2f}", (f" ({share['low']:.0f}–{share['high']:.0f})", "dim"))


def _agreement_line(found: Mapping[str, Any]) -> str:
    apart = [f"{found[key]:,} {key.replace('_', ' ')}" for key in ("unreadable", "not_judged") if found[key]]
    left_out = f"; left out: {', '.join(apart)}" if apart else ""
    if not found["n"]:
        return f"agreement with the rule: not measured{left_out}"
    percent, chance = found["percent"], found["kappa"]
    sentence = (
        "kappa undefined, since one of them always said the same"
        if chance["value"] is None
        else f"kappa {chance['value']:.2f} ({chance['low']:.2f}–{chance['high']:.2f})"
    )
    return (
        f"where the rule is sure, the judge agrees on {percent['percent']:.1f} % ({percent['low']:.0f}–"
        f"{percent['high']:.0f}) of {plural(found['n'], 'question', 'questions')}, {sentence}; judge alone says yes to "
        f"{found['judge_only']:,}, rule alone to {found['rule_only']:,}{left_out}"
    )


def spent_line(document: Mapping[str, Any]) -> str:
    """Return how many questions were asked, and what they cost."""
    spent = document["spent"]
    cost = "" if spent["usd"] is None else f", {spent['usd']:.4f} USD"
    asked = f"{plural(document['asked'], 'question', 'questions')} asked, {document['from_cache']:,} known from before"
    return f"{asked}, {spent['input_tokens'] + spent['output_tokens']:,} tokens{cost}"


def format_judged_csv(rows: Iterable[JudgedRow]) -> str:
    """Return one line for each judged level of an answer, with the judge's own words."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", "level", "truth", "answer", "country", "region", "rule", "judge", "reply"])
    for row in rows:
        asked, verdict = row.question, row.verdict or JudgeVerdict("unreadable")
        names = (asked.level, asked.truth, asked.answer, asked.country or "", asked.region or "")
        writer.writerow([row.id, *names, row.rule, verdict.says if row.verdict else "", verdict.reply])
    return out.getvalue()
