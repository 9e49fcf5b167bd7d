"""What signs tell: lines of scenes without their pictures, and the country as the answer."""

import json
import random

from geosleuth.lab.scenes import World
from geosleuth.lab.scenes.design import design_scene
from nano.lessons import SCENES, lines_in_sight, sign_lessons, town_to_guess
from nano_lessons import pairs, words_of


def test_lines_of_scenes_lead_to_their_country(few_towns: World) -> None:
    told = 0
    for number in range(4):
        scenes = [design_scene(few_towns, 7, at, split="train") for at in range(number * SCENES, (number + 1) * SCENES)]
        shown = [scene for scene in scenes if lines_in_sight(scene)]
        asked = [pair for lesson in sign_lessons(few_towns, 7, number, random.Random(1), 1) for pair in pairs(lesson)]
        assert len(asked) == len(shown)
        for scene, (question, answer) in zip(shown, asked, strict=True):
            head, *lines = words_of(question).splitlines()
            assert head == "What do the signs tell?"
            assert sorted(line.split(". ", 1)[1].strip('"') for line in lines) == sorted(lines_in_sight(scene))
            found = json.loads(answer)
            assert found["country"] == scene.spot.country_name
            assert found["city"] == town_to_guess(few_towns, scene.spot.country)[0]
            told += 1
    assert told > SCENES


def test_what_is_hidden_is_not_told(few_towns: World) -> None:
    hidden = 0
    for number in range(30):
        scene = design_scene(few_towns, 7, number, split="train")
        seen = lines_in_sight(scene)
        for clue in scene.clues:
            hidden += clue.visibility == "hidden"
            assert (
                clue.visibility != "hidden"
                or not clue.lines
                or seen.count(clue.lines[0]) < sum(clue.lines[0] in one.lines for one in scene.clues)
            )
    assert hidden
