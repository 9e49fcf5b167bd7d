"""Agreement between judge and rule, and the sample it is measured on."""

import pytest

from geosleuth.lab.bench.judging.judged_file import JudgeVerdict, compare_with_judge, draw_sample, kappa
from geosleuth.lab.bench.judging.names import NameQuestion


def question(number: int, *, same: bool = False) -> NameQuestion:
    return NameQuestion("city", f"City {number}", f"City {number}" if same else f"Ort {number}", "France")


def test_kappa_of_a_known_table() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: a textbook table with 0.7 agreed, 0.5 by chance.
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    found = kappa(pairs)
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high


def test_full_agreement_keeps_an_honest_interval() -> None:
    found = kappa([(True, True)] * 10 + [(False, False)] * 10)
    assert found.value == found.high == pytest.approx(1.0)
    assert 0.5 < found.low < 0.8


def test_unreadable_and_missing_verdicts_are_left_out_and_counted() -> None:
    asked = [question(number) for number in range(5)]
    sample = dict.fromkeys(asked[:3], True) | dict.fromkeys(asked[3:], False)
    verdicts = {
        asked[0]: JudgeVerdict("yes"), asked[1]: JudgeVerdict("unreadable"),
        asked[3]: JudgeVerdict("yes"), asked[4]: JudgeVerdict("no"),
    }  # fmt: skip
    found = compare_with_judge(sample, verdicts)
    counts = ("n", "both_yes", "both_no", "judge_only", "rule_only", "unreadable", "not_judged")
    assert [found[key] for key in counts] == [3, 1, 1, 1, 0, 1, 1]
    assert found["percent"]["hits"] == 2


def test_the_sample_takes_both_kinds_and_hard_names_first() -> None:
    equal = {question(number, same=True): True for number in range(100)}
    other = {question(number): True for number in range(100, 105)}
    wrong = {question(number): False for number in range(200, 240)}
    chosen = draw_sample(equal | other | wrong, 20, seed=1)
    assert len(chosen) == 20
    assert sum(chosen.values()) == 10
    assert set(other) < set(chosen)
    assert draw_sample(wrong | other | equal, 20, seed=1) == chosen
    assert draw_sample(equal | other | wrong, 20, seed=2) != chosen
