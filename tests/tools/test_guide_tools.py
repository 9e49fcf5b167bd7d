"""The field guide's tools, as a model calls them."""

import json

from geosleuth.tools.field_guide import field_guide, tell_apart, weigh_sightings
from tool_cases import call, case_of

MOST_SCHEMA_CHARS = 1060
"""Four characters are about one token: 230 tokens for all three."""


def test_sightings_become_odds_that_say_what_moved_them() -> None:
    seen = ["cars drive on the left", "dashed yellow edge line", "dashed white centre line @0.8", "a zeppelin"]
    found = call(weigh_sightings, case_of(), {"clues": seen})
    assert next(iter(found.data["countries"])) == "IE"
    assert found.data["sightings"][1] == {
        "attribute": "edge_line", "values": ["yellow_dashed"], "confidence": 0.9,
        "moved": found.data["sightings"][1]["moved"],
    }  # fmt: skip
    assert found.data["sightings"][1]["moved"]["IE"] > 3
    assert "Not in the guide: a zeppelin" in found.text


def test_every_sighting_is_answered_for_in_its_own_words() -> None:
    seen = ["large white motorcycle plate @0.6", "right-hand traffic", "brick house"]
    text = call(weigh_sightings, case_of(), {"sightings": seen}).text
    assert '"large white plate": plate_rear = white or' in text
    assert "or 13 more" in text
    assert '"brick house": wall = red_brick' in text


def test_words_that_say_nothing_are_said_to() -> None:
    assert "Nothing in the field guide fits" in call(weigh_sightings, case_of(), {"sightings": ["a zeppelin"]}).text


def test_candidates_are_told_apart_by_name() -> None:
    found = call(tell_apart, case_of(), {"countries": ["Norway", "SE"]})
    assert set(found.data["differences"][0]["values"]) == {"NO", "SE"}
    assert call(tell_apart, case_of(), {"candidates": ["Norway"]}).failure == "refused"


def test_a_region_without_a_table_is_taken_as_its_country() -> None:
    found = call(tell_apart, case_of(), {"candidates": ["BE-VAN", "NL"]})
    assert set(found.data["differences"][0]["values"]) == {"BE", "NL"}
    assert "BE for BE-VAN" in found.text


def test_places_that_look_alike_get_a_short_answer() -> None:
    text = call(tell_apart, case_of(), {"candidates": ["US-NC", "US-VA", "US-GA"]}).text
    assert text.startswith("Their streets look much alike.")
    assert len(text) < 1500


def test_a_place_is_read_with_the_telling_lines_first_and_not_without_end() -> None:
    found = call(field_guide, case_of(), {"about": "Belgium"})
    lines = found.text.splitlines()
    assert len(found.data["rows"]) > len(lines) == 25
    assert lines[-1].startswith(f"{len(found.data['rows']) - 24} more say less: ")


def test_the_guide_is_read_by_place_and_by_thing() -> None:
    assert (
        call(field_guide, case_of(), {"about": "guardrails"}).data
        == call(field_guide, case_of(), {"about": "guard rail"}).data
    )
    assert "Driving side: Traffic on the right (always)" in call(field_guide, case_of(), {"country": "Norway"}).text
    assert "GB (always)" in call(field_guide, case_of(), {"about": "driving side"}).text
    assert call(field_guide, case_of(), {"about": "Atlantis"}).failure == "refused"


def test_the_three_schemas_are_short() -> None:
    schemas = [one.schema() for one in (weigh_sightings, tell_apart, field_guide)]
    assert len(json.dumps(schemas)) <= MOST_SCHEMA_CHARS
