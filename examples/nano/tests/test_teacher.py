"""The teacher by rule: it asks for what it has read, names what it was shown, and keeps to the budget."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.method import Context
from geosleuth.agent.methods import method
from geosleuth.agent.methods.nano import RESULT_TOKENS, TURNS
from geosleuth.lab.scenes import World, build_truth, world_atlas
from geosleuth.lab.scenes.environment import GeoEnvironment, Posed, build_environment_class, offline_setting
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.photo import open_photo
from geosleuth.tools.image_tools import holds, thousandths
from nano import teacher
from nano.lessons import AREAS, CHAIN, Chat, closer_looks, precise, rows, town_to_guess
from nano.teacher import Notes, looking_up, stroll, teach
from nano_lessons import Taught, calls, pairs, words_of


def environment_of(taught: list[Taught], world: World, result_tokens: int) -> GeoEnvironment:
    """The environment of all scenes of the class; its column is the place in the list."""

    def pose(row: Any) -> Posed:
        one = taught[row["at"]]
        opened = open_photo(one.drawing.jpeg())
        reader = clue_reader(one.scene, one.drawing.marks, photo=opened.photo.handle)
        return Posed((opened,), build_truth(one.scene), reader)

    short = replace(method("nano"), context=Context("trimmed", result_tokens=result_tokens))
    setting = offline_setting(short, atlas=world_atlas(world), answer_by="reply", reward="ours")
    return build_environment_class(setting, pose)()


@pytest.fixture
def environment(
    taught: list[Taught], few_towns: World, nano_home: Path, monkeypatch: pytest.MonkeyPatch
) -> GeoEnvironment:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(nano_home))
    return environment_of(taught, few_towns, RESULT_TOKENS)


def opened(environment: GeoEnvironment, at: int) -> Chat:
    return [{"role": "user", "content": environment.reset(at=at)}]


def test_an_answer_was_shown_or_is_the_countrys_largest_town(taught: list[Taught], few_towns: World) -> None:
    shown_points = 0
    for one in taught:
        (lesson,) = one.of("trajectory", tools=True)
        answer = json.loads(words_of(lesson.messages[-1]))
        assert answer["country"] == one.scene.spot.country_name
        said = " ".join(text for name, _, text in calls(lesson) if name in ("geocode", "clues"))
        if f"{answer['lat']:.5f}, {answer['lon']:.5f}" in said:
            shown_points += 1
            continue
        town, point = town_to_guess(few_towns, one.scene.spot.country)
        assert (answer["city"], answer["lat"], answer["lon"]) == (town, round(point.lat, 2), round(point.lon, 2))
    assert 2 <= shown_points < len(taught)


def test_the_map_is_asked_for_what_was_read_before(taught: list[Taught]) -> None:
    together = all_lines = 0
    for one in taught:
        for lesson in (*one.of("trajectory", tools=True), *one.of("format", tools=True)):
            shown: dict[str, list[str]] = {}
            for name, arguments, text in calls(lesson):
                if name in ("geocode", "clues"):
                    (asked,) = arguments.values()
                    if lesson.kind == "format" and not shown:
                        assert asked == one.scene.spot.country_name
                    for part in asked.split(", ") if shown else ():
                        image, _, number = part.rpartition("#")
                        lines = shown[image]
                        wanted = lines if number == "*" else [lines[int(number) - 1]]
                        # What was asked for says so; a long one is cut.
                        assert all(line[:20] in text for line in wanted[:1])
                    together += ", " in asked
                    all_lines += asked == "#*"
                elif name == "read_text" and (
                    lines := re.findall(r'^\d+\. "(.*?)" \w+, confidence', text, re.MULTILINE)
                ):
                    shown[""] = shown[arguments.get("image", "image-1")] = lines
    assert together
    assert all_lines


@pytest.mark.parametrize(
    ("two", "every", "asked"), [(0.0, 0.0, "#1"), (1.0, 0.0, "#1, #2"), (0.0, 1.0, "#*"), (1.0, 1.0, "#*")]
)
def test_a_name_is_asked_for_alone_with_what_stands_beside_it_or_with_all(
    environment: GeoEnvironment,
    taught: list[Taught],
    monkeypatch: pytest.MonkeyPatch,
    two: float,
    every: float,
    asked: str,
) -> None:
    monkeypatch.setattr(teacher, "TWO", two)
    monkeypatch.setattr(teacher, "ALL", every)
    notes, chance = with_lines(environment, taught), random.Random(1)
    first, second, *_ = notes.read
    assert teacher._question(taught[0].scene, "business", first, [second], notes, chance) == (
        "geocode",
        {"address": asked},
    )
    # That a chain is one is not to be seen: alone it would lead anywhere.
    assert teacher._question(taught[0].scene, CHAIN, first, [second], notes, chance)[1]["address"] in ("#1, #2", "#*")


def test_all_lines_are_asked_for_once_and_only_where_a_line_is_among_them(
    environment: GeoEnvironment, taught: list[Taught], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teacher, "ALL", 1.0)
    notes, chance = with_lines(environment, taught), random.Random(1)
    first = next(iter(notes.read))
    assert teacher._question(taught[0].scene, "business", first, [], notes, chance)[1] == {"address": "#*"}
    notes.call("geocode", address="#*")
    assert teacher._question(taught[0].scene, "business", first, [], notes, chance)[1] == {"address": "#1"}
    again = with_lines(environment, taught)
    again.read = {first: again.read[first]}
    assert teacher._question(taught[0].scene, "business", first, [], again, chance)[1] == {"address": "#1"}


def test_what_tells_an_area_is_asked_about_with_all_lines_but_those_that_mislead(
    environment: GeoEnvironment, taught: list[Taught], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, chance = with_lines(environment, taught), random.Random(1)
    scene = next(one.scene for one in taught if len(rows(one.scene)) > 1)
    honest = replace(scene, clues=tuple(replace(clue, misleading=False) for clue in scene.clues))
    first, second, *_ = notes.read
    for sort in AREAS:
        assert teacher._question(honest, sort, first, [], notes, chance) == ("clues", {"text": "#*"})
    monkeypatch.setattr(teacher, "ALONE", 1.0)
    notes.read["+44 1463 608026"] = notes.read[second]
    assert teacher._question(honest, "phone", "+44 1463 608026", [], notes, chance)[1] == {"text": "#2"}
    del notes.read["+44 1463 608026"]
    tour = next(clue for clue in scene.clues if second in clue.lines)
    lying = replace(honest, clues=tuple(replace(clue, misleading=clue == tour) for clue in honest.clues))
    told = teacher._question(lying, "postcode", first, [], notes, chance)[1]["text"].split(", ")
    assert "#1" in told
    assert not {f"#{at}" for at, line in enumerate(notes.read, 1) if line in tour.lines} & set(told)
    # Where everything misleads, or nothing of a reading was shown, there is nothing to ask about.
    nothing = replace(honest, clues=tuple(replace(clue, misleading=True) for clue in honest.clues))
    assert teacher._believed(nothing, notes) == ""
    kept, notes.read = notes.read, {}
    assert teacher._believed(honest, notes) == ""
    notes.read = kept
    # Lines of an earlier reading count, too.
    notes.read[first] = ("image-7", 3, 0)
    assert teacher._question(honest, "distance", second, [], notes, chance)[1] == {"text": "image-7#*, #*"}


def with_lines(environment: GeoEnvironment, taught: list[Taught]) -> Notes:
    """Notes of a scene of which several lines were read."""
    at = next(at for at, one in enumerate(taught) if len(rows(one.scene)) > 1)
    notes = Notes(environment, opened(environment, at))
    notes.call("read_text")
    assert len(notes.read) > 1
    return notes


def test_what_stands_beside_a_name_is_read_and_says_where_it_is(taught: list[Taught]) -> None:
    found = 0
    for one in taught:
        everything = {line for clue in one.scene.clues for line in clue.lines}
        for clue in precise(one.scene):
            for line in clue.lines:
                beside = teacher._context_lines(one.scene, clue, line, everything)
                sorts = {other.sort for other in one.scene.clues if set(other.lines) & set(beside)}
                assert sorts <= {"street_name", "town_name", clue.sort}
                assert line not in beside
                assert not teacher._context_lines(one.scene, clue, line, {line})
                found += len(beside)
    assert found > 2


def test_what_was_cut_off_for_length_was_not_read(
    taught: list[Taught], few_towns: World, nano_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(nano_home))
    environment = environment_of(taught, few_towns, 20)
    for at, one in enumerate(taught):
        lesson, distance_km, _ = teach(
            few_towns, one.scene, one.drawing.marks, environment, opened(environment, at), random.Random(at)
        )
        assert not {"geocode", "clues"} & {name for name, _, _ in calls(lesson)}
        assert distance_km is None


def test_zooms_hold_a_telling_line(taught: list[Taught]) -> None:
    zooms = 0
    for one in taught:
        telling = {clue.id for clue in precise(one.scene)}
        lines = [mark.box for mark in one.drawing.marks if mark.line is not None and mark.clue in telling]
        for lesson in one.of("trajectory", tools=True):
            told = calls(lesson)
            for box in (arguments["bbox_2d"] for name, arguments, _ in told if name == "zoom"):
                zooms += 1
                assert str(box) in told[0][2]  # the first reading says where to look
                assert any(holds(box, thousandths(line, one.scene.size)) for line in lines)
    assert zooms > 1


def test_no_call_of_a_teacher_fails(taught: list[Taught], few_towns: World, environment: GeoEnvironment) -> None:
    for at, one in enumerate(taught):
        teach(few_towns, one.scene, one.drawing.marks, environment, opened(environment, at), random.Random(at))
        assert environment.observations
        assert all(seen.failure is None for seen in environment.observations)


def test_calls_are_the_same_where_they_ask_for_the_same_lines(
    environment: GeoEnvironment, taught: list[Taught]
) -> None:
    at = next(at for at, one in enumerate(taught) if len(rows(one.scene)) > 1)
    notes = Notes(environment, opened(environment, at))
    notes.call("read_text")
    line = next(line for line, (_, number, _) in notes.read.items() if number == 1)
    assert notes.quoted(line) == "#1"
    notes.call("clues", text="#1")
    assert not notes.is_new("clues", text="#1")
    assert not notes.is_new("clues", text=line)
    assert notes.is_new("clues", text="#2")
    notes.call("read_text", bbox_2d=[0, 0, 999, 999])
    assert notes.quoted(line) == "#1"
    assert not notes.is_new("clues", text="image-1#1")


def test_the_budget_is_held(
    taught: list[Taught], few_towns: World, environment: GeoEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [len(calls(one.of("trajectory", tools=True)[0])) for one in taught]
    assert max(made) < TURNS
    at = made.index(max(made))
    one = taught[at]
    for turns in (2, 3, 4):
        monkeypatch.setattr(teacher, "TURNS", turns)
        lesson, _, notes = teach(
            few_towns, one.scene, one.drawing.marks, environment, opened(environment, at), random.Random(at)
        )
        assert len(calls(lesson)) <= turns - 1 < made[at]
        assert notes.calls_left >= 0
        # Who looks closer has calls left to read, and to ask for what was read.
        assert calls(lesson)[-1][0] != "zoom"
        assert all(seen.failure is None for seen in environment.observations)


def test_lists_are_copied_out_right(taught: list[Taught]) -> None:
    asked = 0
    for one in taught:
        for lesson in one.of("format"):
            shown = ""
            for question, answer in pairs(lesson):
                listed, _, words = words_of(question).rpartition("\n")
                shown = listed or shown
                number = words.removeprefix("Where is number ").removesuffix("?")
                (row,) = [line for line in shown.splitlines() if line.startswith(f"{number}. ")]
                assert answer in row
                asked += 1
    assert asked > 2


def test_without_a_list_there_is_nothing_to_look_up(environment: GeoEnvironment) -> None:
    assert looking_up(Notes(environment, opened(environment, 0)), random.Random(0)) is None


def test_strolls_have_valid_calls_only(taught: list[Taught], few_towns: World, environment: GeoEnvironment) -> None:
    names = set()
    for seed in range(16):
        at = seed % 2
        scene = taught[at].scene
        lesson = stroll(few_towns, scene, taught[at].drawing, environment, opened(environment, at), random.Random(seed))
        assert len(environment.observations) == len(calls(lesson)) <= 3
        assert [seen.failure for seen in environment.observations if seen.failure] == []
        names |= {name for name, _, _ in calls(lesson)}
        looks = closer_looks(scene, taught[at].drawing.marks)
        assert all(arguments["bbox_2d"] in looks for name, arguments, _ in calls(lesson) if name == "zoom")
        town, _ = town_to_guess(few_towns, scene.spot.country)
        assert json.loads(words_of(lesson.messages[-1]))["city"] == town
    assert names == {"zoom", "read_text", "geocode", "clues"}
