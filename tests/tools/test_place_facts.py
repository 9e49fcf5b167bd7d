"""The land at a point, as the tool tells it."""

import json

from geosleuth.tools.facts import place_facts
from tool_cases import call, case_of


def test_the_land_is_told_in_a_few_lines() -> None:
    seen = call(place_facts, case_of(), {"lat": 27.99, "lng": 86.93, "date": "2026-06-21"})
    assert seen.failure is None
    assert "altitude m: 5878" in seen.text
    assert "mountainous on average" in seen.text
    assert "single hills do not show" in seen.text
    assert "languages of the country: " in seen.text
    assert " 0 people" not in seen.text
    assert "2026-06-21 13.9 h" in seen.text
    assert len(seen.text) < 1000
    assert json.loads(json.dumps(seen.data))["altitude_m"] == 5878


def test_points_and_dates_that_are_none_are_refused() -> None:
    for wrong in ({"latitude": 91, "longitude": 0}, {"latitude": 1, "longitude": 1, "date": "yesterday"}):
        assert call(place_facts, case_of(), wrong).failure == "refused"


def test_its_schema_is_short() -> None:
    # About four letters are a token of English and of JSON.
    assert len(json.dumps(place_facts.schema())) / 4 <= 120


def test_cities_far_away_are_left_out() -> None:
    seen = call(place_facts, case_of(), {"latitude": 48.82, "longitude": -87.4})
    assert "Thunder Bay" in seen.text
    assert "Saint Paul" not in seen.text
