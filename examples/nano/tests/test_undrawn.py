"""The teacher's chats about scenes that nobody draws."""

import json

from geosleuth.lab.scenes import World, design_scene
from geosleuth.lab.scenes.environment.controls import blank
from nano.lessons import Chat, rows, town_to_guess, without_pictures
from nano.teacher import UNDRAWN, UNDRAWN_SEED
from nano_lessons import SEED, Taught, calls, words_of


def test_scenes_are_played_without_a_picture(taught: list[Taught], few_towns: World) -> None:
    used, points = set(), 0
    for one in taught:
        made = one.of("undrawn", tools=True)
        assert len(made) == UNDRAWN
        for at, lesson in enumerate(made):
            scene = design_scene(few_towns, SEED + UNDRAWN_SEED, one.number * UNDRAWN + at, split="train")
            parts = [part for message in lesson.messages for part in message["content"] if isinstance(part, dict)]
            assert all(part["type"] == "text" for part in parts)
            (first, _, read), *asked = calls(lesson)
            assert first == "read_text"
            plain = [line for clue in scene.clues if clue.visibility == "plain" for line in clue.lines]
            assert plain == [] or f'1. "{plain[0]}"' in read
            used |= {name for name, _, _ in asked}
            answer = json.loads(words_of(lesson.messages[-1]))
            assert answer["country"] == scene.spot.country_name
            shown = " ".join(text for _, _, text in asked)
            if f"{answer['lat']:.5f}, {answer['lon']:.5f}" in shown:
                points += 1
            else:
                assert answer["city"] == town_to_guess(few_towns, scene.spot.country)[0]
    assert used == {"geocode", "clues"}
    assert points > len(taught)


def test_lines_stand_inside_the_picture(few_towns: World) -> None:
    for number in range(40):
        scene = design_scene(few_towns, SEED, number, split="train")
        marks = rows(scene)
        hidden = {clue.id for clue in scene.clues if clue.visibility != "plain"}
        assert not hidden & {mark.clue for mark in marks}
        for mark in marks:
            left, top, right, bottom = mark.box
            assert 0 <= left < right <= scene.size[0]
            assert 0 <= top < bottom <= scene.size[1]
            assert mark.line is not None


def test_only_words_are_left_of_an_opening() -> None:
    photo = {"type": "image", "image": blank((64, 48)).photo.image}
    text = {"type": "text", "text": "Where?"}
    opening: Chat = [{"role": "system", "content": "Find it."}, {"role": "user", "content": [photo, text]}]
    assert without_pictures(opening) == [opening[0], {"role": "user", "content": [text]}]
