"""What clues carry has the form that the country's own tables know."""

import random
import re

import pytest

from geosleuth.atlas.facts import by_road_number, country_facts, phone
from geosleuth.evidence.plates import FORMS
from geosleuth.geo import distance_km
from geosleuth.lab.scenes import Scene, World
from geosleuth.lab.scenes.design.appearance import PLATE_FORMS, number_plate
from geosleuth.lab.scenes.design.scene_clues import ROAD_FORMS, STATES, road_number
from geosleuth.names import fold
from worlds import scenes


@pytest.fixture(scope="module")
def many(world: World) -> list[Scene]:
    return [*scenes(world, 200), *scenes(world, 200, split="held-out")]


@pytest.mark.slow
def test_numbers_on_notices_are_valid_there_and_name_no_other_region(many: list[Scene]) -> None:
    seen = 0
    for scene in many:
        for clue in scene.clues:
            if clue.sort != "phone" or clue.misleading:
                continue
            seen += 1
            info = phone(clue.lines[0].removeprefix("Tel. "), scene.spot.country)
            assert info.valid
            assert scene.spot.country in info.countries
            if clue.level == "region":
                assert info.place
                assert info.place in clue.says
    assert seen > 50


@pytest.mark.slow
def test_area_codes_of_america_are_those_of_the_state(many: list[Scene]) -> None:
    for scene in many:
        for clue in scene.clues:
            if clue.sort == "phone" and clue.level == "region" and scene.spot.country in ("US", "CA"):
                place = phone(clue.lines[0].removeprefix("Tel. "), scene.spot.country).place or ""
                state = place.rpartition(", ")[2]
                assert fold(STATES.get(state, place)) == fold(scene.spot.region or "") or scene.spot.town in place


def test_distances_are_those_of_the_towns(many: list[Scene], world: World) -> None:
    points = {(town.country, town.name_on_signs): town.point for town in world.towns}
    seen = 0
    for scene in many:
        for clue in scene.clues:
            if clue.sort == "distance":
                seen += 1
                unit = 1.609344 if country_facts(scene.spot.country).distance_unit == "mi" else 1.0
                for line in clue.lines:
                    match = re.fullmatch(r"(.+) (\d+)(?: km)?", line)
                    assert match
                    straight = distance_km(points[scene.spot.country, match[1]], scene.spot.point)
                    assert straight <= int(match[2]) * unit * 1.01 <= 1.4 * straight + 1
    assert seen > 20


@pytest.mark.parametrize("country", sorted(PLATE_FORMS))
def test_plates_have_a_form_that_readers_of_plates_expect(country: str) -> None:
    chance = random.Random(f"plates {country}")
    forms = [form.pattern for form in FORMS if country in form.countries.split()]
    plates = [number_plate(country, chance) or "" for _ in range(40)]
    assert all(plates)
    assert not any(set(plate) & set("@#{|}") for plate in plates)
    if forms:
        assert any(form.fullmatch(plate) for plate in plates for form in forms)


@pytest.mark.parametrize("country", sorted(ROAD_FORMS))
def test_road_numbers_are_the_countrys(country: str) -> None:
    chance = random.Random(f"roads {country}")
    for _ in range(10):
        number = road_number(country, chance)
        assert number
        known = by_road_number(number)
        if known.schemes:
            assert country in known.evidence.countries


def test_money_and_domains_are_the_countrys(many: list[Scene]) -> None:
    for scene in many:
        facts = country_facts(scene.spot.country)
        for clue in scene.clues:
            if clue.sort == "web_address":
                assert any(clue.lines[0].endswith(tld) for tld in facts.tlds)
