"""A file of answers, judged level by level: the rule first, then the model where the rule left something open.

Where the judge takes two names for the same place, the answer's name is written as the truth has it before the rule
looks at the level below. So everything that the rule knows of levels holds for judged answers too: another country
makes the rest wrong, and the levels below are asked about only where a yes could still make them right.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from geosleuth.answer import ParserName
from geosleuth.bench.records import Record
from geosleuth.score import AnswerNames, TruthNames
from geosleuth.text import printable

from .agreement import agreement_of, sample_of
from .asking import Judge, Verdict
from .cache import Says
from .deciding import Level, Question, RuleSays, Stand, granted, stand
from .figures import JudgedFile, Outcome, Row, level_figures

Ask = Literal["undecided", "unmatched"]
"""What is put to the model: what the rule can't decide, or everything that it does not match."""

LEVELS: tuple[Level, ...] = ("country", "region", "city")


@dataclass(slots=True)
class Entry:
    """One answer's names beside the true ones; ``said`` changes while it is judged."""

    id: str
    truth: TruthNames
    said: AnswerNames


def entries_of(records: Iterable[Record], parser: ParserName) -> list[Entry]:
    """What of records is judged: their names."""
    entries = []
    for record in records:
        address, truth = record.read(parser).address, record.truth
        said = AnswerNames(address.country.conclusion, address.region.conclusion, address.precise.conclusion)
        entries.append(Entry(printable(record.id), TruthNames(truth.country, truth.region, truth.city), said))
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
    """Judge every answer, and then the judge.

    Args:
        entries: the answers; their names are changed as the judge decides.
        judge: who is asked.
        label: what the file is called in reports.
        model: what the judge is called in reports.
        ask: what is put to the model.
        sample: of how many questions that the rule is sure of the judge is asked as well; 0 is none.
        seed: which ones.

    Raises:
        UserError: the cache can't be read or written, or the model can't be asked as it is set up.
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
    for level in LEVELS:
        # Anew, and after the level above: what a judge granted there may open or settle this one.
        now = [stand(entry.truth, entry.said, level) for entry in entries]
        asked = {row: one.question for row, one in enumerate(now) if _is_asked(one, ask) and one.question is not None}
        verdicts = await judge.verdicts(asked.values())
        outcomes[level] = [_outcome(by_rule[level][row], one, asked.get(row), verdicts) for row, one in enumerate(now)]
        for row, question in asked.items():
            entry, verdict = entries[row], verdicts.get(question)
            rows.append(Row(entry.id, question, now[row].says, verdict))
            if verdict is not None and verdict.says == "yes" and level != "city":
                entry.said = granted(entry.truth, entry.said, level)
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
        standing=judge.standing,
        rows=tuple(rows),
    )


def _is_asked(one: Stand, ask: Ask) -> bool:
    return one.says == "undecided" or (ask == "unmatched" and one.says == "wrong" and one.question is not None)


def _outcome(first: RuleSays, now: Stand, question: Question | None, verdicts: Mapping[Question, Verdict]) -> Outcome:
    if question is None:
        # Right now, but not at first: a judge granted the level above.
        return "judged right" if now.says == "right" and first != "right" else _AS_RULED[now.says]
    verdict = verdicts.get(question)
    if verdict is None:
        return "not judged"
    return _AS_JUDGED[verdict.says]


_AS_JUDGED: dict[Says, Outcome] = {"yes": "judged right", "no": "judged wrong", "unreadable": "unreadable"}
_AS_RULED: dict[RuleSays, Outcome] = {
    "right": "right",
    "wrong": "wrong",
    "undecided": "not judged",
    "not named": "not named",
    "not given": "not given",
}
