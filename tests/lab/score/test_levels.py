"""Country, region and city of an answer against the truth's."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geosleuth.geo.distance import great_circle_km
from geosleuth.lab.score.levels import NO_NAME_ANSWERS, AnswerNames, LevelResult, TruthNames, match_levels
from geosleuth.names.folding import fold

SHARED = Path(os.environ.get("GEOSLEUTH_SHARED", Path(__file__).parents[3].parent / "shared"))
RECORDED = SHARED / "data/recorded"

PARIS = TruthNames("France", None, "Paris")
SPRINGFIELD = TruthNames("United States", "Illinois", "Springfield")
QINGDAO = TruthNames("中国", "山东", "青岛")
MUNICH = TruthNames("Germany", "Bavaria", "Munich")
SINGAPORE = TruthNames("Singapore", None, "Singapore")
BEIJING = TruthNames("中国", "北京", "北京")
NEW_YORK = TruthNames("United States", None, "New York")
WASHINGTON = TruthNames("United States", None, "Washington, D.C.")

CASES = [
    (PARIS, AnswerNames("France", None, "Paris"), (True, None, True)),
    (PARIS, AnswerNames("Frankreich", "Île-de-France", "12 Rue X, Paris"), (True, None, True)),
    (PARIS, AnswerNames("France", None, "12 Rue X, 75001 Paris"), (True, None, True)),
    (PARIS, AnswerNames("France", None, "12 Rue de Paris, Lyon"), (True, None, False)),
    (PARIS, AnswerNames("USA", "Texas", "Paris"), (False, None, False)),
    (PARIS, AnswerNames("France", None, None), (True, None, False)),
    (PARIS, AnswerNames("France", "Paris", None), (True, None, True)),
    (PARIS, AnswerNames("Unknown", None, "unknown"), (False, None, False)),
    (PARIS, AnswerNames(), (False, None, False)),
    # A country as the last part of the address is a country; a city alone proves nothing.
    (PARIS, AnswerNames(None, None, "Paris, France"), (True, None, True)),
    (PARIS, AnswerNames(None, None, "Paris"), (False, None, False)),
    (MUNICH, AnswerNames(None, "Bayern", "München"), (False, True, True)),
    (MUNICH, AnswerNames(None, "Bayern", "Nürnberg"), (False, False, False)),
    (MUNICH, AnswerNames(None, None, "München"), (False, False, False)),
    (MUNICH, AnswerNames("Austria", "Bayern", "München"), (False, False, False)),
    # A region that is missing is wrong itself but does not spoil the city; a wrong one does.
    (SPRINGFIELD, AnswerNames("USA", "IL", "Springfield"), (True, True, True)),
    (SPRINGFIELD, AnswerNames("USA", "Missouri", "Springfield"), (True, False, False)),
    (SPRINGFIELD, AnswerNames("USA", None, "Springfield"), (True, False, True)),
    (SPRINGFIELD, AnswerNames("USA", None, "Springfield, Illinois"), (True, True, True)),
    (SPRINGFIELD, AnswerNames("USA", None, "Springfield, MO"), (True, False, False)),
    (SPRINGFIELD, AnswerNames("USA", "Illinois", "Chicago"), (True, True, False)),
    (MUNICH, AnswerNames("Deutschland", "Upper Bavaria, Bavaria", "Marienplatz, München"), (True, True, True)),
    (QINGDAO, AnswerNames("China", "Shandong Province", "Laoshan District, Qingdao"), (True, True, True)),
    (QINGDAO, AnswerNames("China", "Shandong", "Jinan"), (True, True, False)),
    (QINGDAO, AnswerNames("Taiwan", "Shandong", "Qingdao"), (False, False, False)),
    # The country of Georgia and the state.
    (TruthNames("Georgia", None, "Tbilisi"), AnswerNames("United States", "Georgia", "Atlanta"), (False, None, False)),
    (TruthNames("United States", "Georgia", "Athens"), AnswerNames("Georgia", None, "Athens"), (False, False, False)),
    (TruthNames("United States", "Georgia", "Athens"), AnswerNames("Greece", None, "Athens"), (False, False, False)),
    (TruthNames("United States", "Georgia", "Athens"), AnswerNames("US", "GA", "Athens"), (True, True, True)),
    # Cities that are regions or countries of their own.
    (SINGAPORE, AnswerNames("Singapore", None, "Orchard Road"), (True, None, True)),
    (SINGAPORE, AnswerNames("Singapore", "Central Region", None), (True, None, True)),
    (SINGAPORE, AnswerNames("Malaysia", None, "Singapore"), (False, None, False)),
    (BEIJING, AnswerNames("China", "Beijing", "Chaoyang District"), (True, True, True)),
    (BEIJING, AnswerNames("China", "北京市", None), (True, True, True)),
    (BEIJING, AnswerNames("China", "Hebei", "Langfang"), (True, False, False)),
    (NEW_YORK, AnswerNames("US", "New York", "Buffalo"), (True, None, False)),
    (WASHINGTON, AnswerNames("US", "Washington", "Seattle"), (True, None, False)),
    (WASHINGTON, AnswerNames("US", "DC", "National Mall"), (True, None, True)),
    (WASHINGTON, AnswerNames("US", None, "Washington, DC"), (True, None, True)),
    (WASHINGTON, AnswerNames("US", None, "1600 Pennsylvania Ave NW, Washington, DC 20500"), (True, None, True)),
    # A region's name after another city is not the city of that name.
    (WASHINGTON, AnswerNames("US", None, "Pike Place, Seattle, Washington"), (True, None, False)),
    (WASHINGTON, AnswerNames("US", None, "National Mall, Washington"), (True, None, True)),
    (NEW_YORK, AnswerNames("US", None, "Buffalo, New York"), (True, None, False)),
    (NEW_YORK, AnswerNames("US", None, "Brooklyn, New York"), (True, None, True)),
    (NEW_YORK, AnswerNames("US", None, "Chelsea, New York"), (True, None, True)),
    (TruthNames("Canada", None, "Québec"), AnswerNames("Canada", None, "Montréal, Québec"), (True, None, False)),
    (TruthNames("Brazil", None, "São Paulo"), AnswerNames("Brasil", None, "Campinas, SP"), (True, None, False)),
    (TruthNames("Brazil", None, "São Paulo"), AnswerNames("Brasil", None, "Campinas, São Paulo"), (True, None, False)),
    (TruthNames("中国", None, "杭州"), AnswerNames("China", None, "Yuhang District, Hangzhou"), (True, None, True)),
    (TruthNames("中国", None, "香港"), AnswerNames("Hong Kong", None, "Hong Kong"), (False, None, False)),
    # The truth gives less than everything.
    (TruthNames("中国", None, None), AnswerNames("China", "Shandong", "Qingdao"), (True, None, None)),
    (TruthNames(None, None, "Paris"), AnswerNames("France", None, "Paris"), (None, None, True)),
    (TruthNames(None, "Bavaria", None), AnswerNames("Germany", "Bayern", None), (None, True, None)),
    (TruthNames("unknown", None, ""), AnswerNames("France", None, "Paris"), (None, None, None)),
    (TruthNames(), AnswerNames("France", None, "Paris"), (None, None, None)),
]


@pytest.mark.parametrize(("truth", "answer", "expected"), CASES)
def test_levels(truth: TruthNames, answer: AnswerNames, expected: tuple[bool | None, bool | None, bool | None]) -> None:
    assert match_levels(truth, answer) == LevelResult(*expected)


text = st.none() | st.text(max_size=30) | st.sampled_from(["Paris", "Spain", "IL", "Springfield, IL", "北京", ", ,"])
truths = st.builds(TruthNames, text, text, text)
answers = st.builds(AnswerNames, text, text, text)


@settings(deadline=None)  # the first example reads the tables
@given(truths, answers)
def test_wrong_above_is_wrong_below(truth: TruthNames, answer: AnswerNames) -> None:
    result = match_levels(truth, answer)
    if result.country is False and answer.country and fold(answer.country) not in NO_NAME_ANSWERS:
        assert not result.region
        assert not result.city
    if result.region is False and answer.region and fold(answer.region) not in NO_NAME_ANSWERS:
        assert not result.city


@settings(deadline=None)  # the first example reads the tables
@given(truths)
def test_saying_the_truth_is_right_on_every_level_it_gives(truth: TruthNames) -> None:
    result = match_levels(truth, AnswerNames(truth.country, truth.region, truth.city))
    for level, name in ((result.country, truth.country), (result.region, truth.region), (result.city, truth.city)):
        assert level is (None if name is None or fold(name) in NO_NAME_ANSWERS else True)


def recorded_answers() -> Iterator[tuple[float, TruthNames, AnswerNames]]:
    """Distance in km, truth and answer of every recorded reply that ends in a plain JSON object."""
    for file in sorted(RECORDED.glob("*.jsonl")):
        for line in filter(None, file.read_text(encoding="utf-8").split("\n")):
            record = json.loads(line)
            truth = record["ground_truth"]
            try:
                said = json.loads(re.findall(r"\{[^{}]*\}", record["solution_str"])[-1])
                distance = great_circle_km(truth["lat"], truth["lon"], float(said["lat"]), float(said["lon"]))
            except (IndexError, ValueError, KeyError, TypeError):
                continue
            names = AnswerNames(str(said.get("country")), None, str(said.get("city")))
            yield distance, TruthNames(truth["country"], None, truth["city"]), names


@pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no recorded answers at {RECORDED}")
def test_recorded_answers_close_to_the_truth_name_its_city() -> None:
    near = [(truth, answer) for km, truth, answer in recorded_answers() if km <= 10]
    results = [match_levels(truth, answer) for truth, answer in near]
    assert len(near) > 3000
    assert sum(result.country is True for result in results) / len(near) > 0.996
    assert sum(result.city is True for result in results) / len(near) > 0.98
