"""Lessons: they say what is in the picture, and nothing that misleads is told as true."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent.methods import method
from geosleuth.geo import LatLon
from geosleuth.lab.scenes import Mark, Wants, World
from geosleuth.photo.text import detect_script
from geosleuth.support.errors import BadInput
from geosleuth.tools.image_tools import around, thousandths
from nano.lessons import (
    READ_PX,
    answer_words,
    levels,
    padded,
    picture_lesson,
    precise,
    town_to_guess,
    unseen,
)
from nano_lessons import Taught, pairs, words_of
from worlds import scenes

DRIVING = "On which side do they drive?"


def told_by(taught: Taught) -> dict[str, str]:
    (lesson,) = taught.of("perception")
    return {words_of(question): answer for question, answer in pairs(lesson)}


@pytest.mark.slow
def test_what_is_seen_stands_in_the_picture_by_its_marks(taught: list[Taught]) -> None:
    for one in taught:
        told = told_by(one)
        assert told["Which country is this?"] == one.scene.spot.country_name
        assert told["Which plants grow here?"] == one.scene.look.plant
        clues = {clue.id: clue for clue in one.scene.clues}
        lines = [clues[mark.clue].lines[mark.line] for mark in one.drawing.marks if mark.line is not None]
        written = sorted({detect_script(line) for line in lines} - {"none"})
        assert told["Which scripts are on the signs?"] == (", ".join(written) or "none")
        boards = [thousandths(mark.box, one.scene.size) for mark in one.drawing.marks if mark.line is None]
        boxes = json.loads(told["Where are the signs?"])
        assert all(box in boards for box in boxes)
        assert boxes == sorted(boxes)
        assert bool(boxes) == bool(lines)


def test_one_is_told_to_look_closer_where_small_signs_are_and_nowhere_else(taught: list[Taught]) -> None:
    small = 0
    for one in taught:
        tiny = {clue.id for clue in one.scene.clues if clue.visibility == "small" and clue.lines}
        boards = [mark.box for mark in one.drawing.marks if mark.line is None and mark.clue in tiny]
        looks = json.loads(told_by(one)["Where is writing too small to read?"])
        assert bool(looks) == bool(boards)
        assert all(look in [around(box, one.scene.size) for box in boards] for look in looks)
        small += bool(looks)
    assert 0 < small < len(taught)


def test_the_side_of_the_road_is_asked_for_unless_nobody_drives(taught: list[Taught]) -> None:
    for one in taught:
        nobody = any(clue.sort == "driving_side" for clue in unseen(one.scene, one.drawing.marks))
        assert told_by(one).get(DRIVING) == (None if nobody else one.scene.look.drives_on)
    one = next(one for one in taught if DRIVING in told_by(one))
    clue = replace(one.scene.clues[0], id="side", sort="driving_side", lines=())
    scene = replace(one.scene, clues=(*one.scene.clues, clue))
    lesson = picture_lesson(scene, one.drawing, random.Random(0))
    assert DRIVING not in [words_of(question) for question, _ in pairs(lesson)]


def test_signs_are_read_from_cuts_in_which_they_can_be_read(taught: list[Taught]) -> None:
    read = 0
    for one in taught:
        boards = {mark.clue: mark for mark in one.drawing.marks if mark.line is None}
        legible = {
            " / ".join(clue.lines): boards[clue.id]
            for clue in one.scene.clues
            if clue.lines and clue.visibility != "hidden" and boards[clue.id].letter_px >= READ_PX
        }
        for question, answer in (pair for lesson in one.of("reading") for pair in pairs(lesson)):
            mark: Mark = legible[answer]
            cut = question["content"][0]["image"]
            assert cut.width >= mark.box[2] - mark.box[0]
            assert cut.height >= mark.box[3] - mark.box[1]
            read += 1
    assert read > 5


@given(
    left=st.integers(0, 1500),
    top=st.integers(0, 1100),
    wide=st.integers(1, 132),
    high=st.integers(1, 124),
    share=st.floats(0.05, 0.35),
    seed=st.integers(0, 99),
)
def test_a_cut_holds_its_sign_and_stays_in_the_picture(
    left: int, top: int, wide: int, high: int, share: float, seed: int
) -> None:
    cut = padded((left, top, left + wide, top + high), (1632, 1224), share, random.Random(seed))
    assert 0 <= cut[0] <= left < left + wide <= cut[2] <= 1632
    assert 0 <= cut[1] <= top < top + high <= cut[3] <= 1224


def test_nothing_that_misleads_or_is_not_there_is_told_as_true(world: World) -> None:
    misled = 0
    for scene in scenes(world, 12, wants=Wants(misleading=True)):
        marks = [Mark(clue.id, (0, 0, 9, 9)) for clue in scene.clues]
        honest = [clue for clue in scene.clues if not clue.misleading and clue.visibility == "plain"]
        misled += sum(clue.misleading for clue in scene.clues)
        answer = method("nano").read_answer(words_of(levels(scene, marks, []).messages[-1]))
        address = answer.address
        said = " ".join(level.reasoning or "" for level in (address.country, address.region, address.precise))
        assert bool(honest) == any(clue.says in said for clue in honest)
        assert not [clue for clue in scene.clues if clue not in honest and clue.says in said]
        assert (address.country.conclusion, address.precise.conclusion) == (scene.spot.country_name, scene.spot.town)
        assert address.region.conclusion == scene.spot.region
        assert not [clue for clue in precise(scene) if clue.misleading or clue.visibility == "hidden"]
        nothing_shown = json.loads(words_of(levels(scene, [], []).messages[-1]))
        assert nothing_shown["city"] == scene.spot.town  # a bare guess, without reasons
    assert misled > 5


def test_a_guess_is_the_countrys_largest_town_that_may_be_trained_on(world: World) -> None:
    held_out = {(town.country, town.point) for town in world.list_towns("held-out")}
    largest = {country: town_to_guess(world, country) for country in {town.country for town in world.towns}}
    assert not {(country, point) for country, (_, point) in largest.items()} & held_out
    for town in world.list_towns("train"):
        _, point = largest[town.country]
        guessed = next(one for one in world.list_towns("train") if one.point == point)
        assert guessed.population >= town.population
    with pytest.raises(BadInput, match="no town of ZZ to train on"):
        town_to_guess(world, "ZZ")


@pytest.mark.parametrize("city", ["Tromsø", None])
def test_an_answer_is_read_as_it_is_meant(city: str | None) -> None:
    words = answer_words("Norway", city, LatLon(69.6489, -18.95508))
    assert words.endswith('"lat": 69.64890, "lon": -18.95508}')
    answer = method("nano").read_answer(words)
    assert answer.point == LatLon(69.6489, -18.95508)
    assert answer.address.country.conclusion == "Norway"
    assert list(json.loads(words)) == ["country", *(["city"] if city else []), "lat", "lon"]
