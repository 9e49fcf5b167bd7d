"""Does a judge agree with the rule where the rule is sure? Percent and Cohen's kappa, on a sample.

The sample has as many names that the rule takes for the same as it has proof against, where there are enough of both,
and names that are written differently come first: that two equal texts are equal is no test of a judge. It is
therefore no picture of the file, and harder than it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geosleuth.names import fold
from geosleuth.score import Accuracy, Estimate
from geosleuth.score.statistics import wilson

from .asking import Verdict
from .deciding import Question


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judge and rule say the same, of ``n`` questions that the judge answered readably.

    ``judge_only`` are those that the judge alone takes for the same place, ``rule_only`` the other way round.
    ``kappa`` is not a number where rule or judge always said the same.
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
    """Up to ``size`` questions with what the rule says of them; the same for the same seed and questions."""
    chance = random.Random(seed)  # noqa: S311  # draws a sample, keeps no secret
    groups: dict[tuple[str, bool], list[Question]] = {}
    for question in sorted(
        sure, key=lambda one: (one.level, one.truth, one.answer, one.country or "", one.region or "")
    ):
        groups.setdefault((question.level, sure[question]), []).append(question)
    for group in groups.values():
        chance.shuffle(group)
        # Stable: within the two kinds the order stays that of chance.
        group.sort(key=lambda one: fold(one.truth) == fold(one.answer))
    chosen: list[Question] = []
    while len(chosen) < size and any(groups.values()):
        for group in groups.values():
            if group and len(chosen) < size:
                chosen.append(group.pop(0))
    return {question: sure[question] for question in chosen}


def agreement_of(sample: Mapping[Question, bool], verdicts: Mapping[Question, Verdict]) -> Agreement:
    """Compare the rule's word with the judge's."""
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
    """Cohen's kappa of two who say yes or no, with a 95 % interval.

    The interval is Wilson's for the share on which they agree, with the agreement by chance taken as it was found.
    Unlike the usual normal interval it does not shrink to nothing where they agree on everything.
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
