"""What the rule decides by itself, and what is left for a judge."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import distance_km
from geosleuth.lab.bench.judging.judged_file import collect_entries
from geosleuth.lab.bench.judging.names import Level, NameQuestion, RuleSays, grant_level, stand
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.score import AnswerNames, TruthNames, match_levels

RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", Path(__file__).parents[5] / "shared")) / "data" / "recorded"
PARIS = TruthNames("France", "Île-de-France", "Paris")


@pytest.mark.parametrize(
    ("truth", "said", "level", "says"),
    [
        (PARIS, AnswerNames("Frankreich", None, None), "country", "right"),
        (PARIS, AnswerNames("Germany", None, None), "country", "wrong"),
        (PARIS, AnswerNames("the hexagon", None, None), "country", "undecided"),
        (PARIS, AnswerNames(None, None, None), "country", "not named"),
        (PARIS, AnswerNames("unknown", None, "n/a"), "city", "not named"),
        (TruthNames("US", "Texas", None), AnswerNames("USA", "Ohio", None), "region", "wrong"),
        (TruthNames("US", "Texas", None), AnswerNames("USA", "the Lone Star State", None), "region", "undecided"),
        (TruthNames("US", "Texas", None), AnswerNames("Mexico", "the Lone Star State", None), "region", "wrong"),
        (PARIS, AnswerNames("France", None, "Lyon"), "city", "wrong"),
        (PARIS, AnswerNames("France", None, "Montmartre"), "city", "undecided"),
        (PARIS, AnswerNames(None, None, "Montmartre, Île-de-France, France"), "city", "undecided"),
        (PARIS, AnswerNames("Belgium", None, "Montmartre"), "city", "wrong"),
        (TruthNames("France", None, None), AnswerNames("France", None, "Paris"), "city", "not given"),
        # A region inside the address is no less wrong for a judge than for the rule.
        (TruthNames("US", "Illinois", "Springfield"), AnswerNames("US", None, "Old Town, Missouri"), "city", "wrong"),
    ],
)
def test_what_the_rule_says(truth: TruthNames, said: AnswerNames, level: Level, says: RuleSays) -> None:
    assert stand(truth, said, level).says == says


def test_only_proof_of_this_very_level_comes_with_a_question() -> None:
    assert stand(PARIS, AnswerNames("France", None, "Lyon"), "city").question == NameQuestion(
        "city", "Paris", "Lyon", "France", "Île-de-France"
    )
    assert stand(PARIS, AnswerNames("Belgium", None, "Montmartre"), "city").question is None


NAMES = st.sampled_from(
    [
        None,
        "France",
        "Germany",
        "Île-de-France",
        "Bavaria",
        "Paris",
        "Lyon",
        "Montmartre, Paris",
        "Paris, France",
        "?",
        "",
    ]
)


@given(st.builds(TruthNames, NAMES, NAMES, NAMES), st.builds(AnswerNames, NAMES, NAMES, NAMES))
def test_a_level_is_open_only_where_a_yes_would_make_it_right(truth: TruthNames, said: AnswerNames) -> None:
    levels: tuple[Level, ...] = ("country", "region", "city")
    for level in levels:
        found = stand(truth, said, level)
        assert (found.says == "right") == bool(getattr(match_levels(truth, said), level))
        if found.says == "undecided":
            assert found.question is not None
            assert getattr(match_levels(truth, grant_level(truth, said, level)), level)


@pytest.mark.skipif(
    not RECORDED.is_dir(),
    reason=f"the recorded answers are not at {RECORDED}; set GEOSLEUTH_SHARED to the folder that holds data/recorded",
)
@pytest.mark.parametrize(("name", "proved"), [("geobench_gpt5", 92), ("mapbench_o3", 1403)])
def test_no_city_that_is_wrong_with_proof_lies_near_the_true_one(name: str, proved: int) -> None:
    records = list(read_records(RECORDED / f"{name}.jsonl"))
    errors_km = []
    for record, entry in zip(records, collect_entries(records, "lenient"), strict=True):
        found, point = stand(entry.truth, entry.said, "city"), record.read("lenient").point
        if found.says == "wrong" and found.question is not None and point is not None:
            errors_km.append(distance_km(point, record.truth.point))
    assert len(errors_km) == proved
    assert min(errors_km) > 40
