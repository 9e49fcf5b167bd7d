"""Lessons in saying again: all that is asked for stands in the question."""

import json
import random
import re
from itertools import pairwise

from geosleuth.train.nano.echoing import echoes, listed
from nano_lessons import Taught, words_of

NAMES = ["Café Blau", "Кафана Бели бор", "みどり生花店", "Ristorante Donati & Neri", "Zum Löwen 7"]


def test_an_echo_says_what_was_asked_for() -> None:
    made = list(echoes(NAMES, random.Random(1), 200))
    assert len(made) == 200
    assert len({words_of(lesson.messages[0]) for lesson in made}) > 190
    for lesson in made:
        question, answer = lesson.messages
        assert words_of(question) == f"Say again: {words_of(answer)}"
    said = " ".join(words_of(lesson.messages[1]) for lesson in made)
    assert {word for name in NAMES for word in name.split()} <= set(re.split(r";? ", said))


def test_a_question_after_a_list_is_answered_with_that_line_s_point() -> None:
    for lesson in listed(NAMES, random.Random(2), 200):
        *lines, _ = words_of(lesson.messages[0]).splitlines()
        points = {line: point for line, point, *_ in (line.split("; ") for line in lines)}
        for question, answer in list(pairwise(lesson.messages))[::2]:
            wanted = re.search(r"Where is (number (\d)|.*)\?$", words_of(question))
            assert wanted is not None
            (point,) = [
                point
                for line, point in points.items()
                if line.startswith(f"{wanted[2]}. ") or line.endswith(f". {wanted[1]}")
            ]
            told = words_of(answer)
            if told.startswith("{"):
                told = ", ".join(f"{value:.5f}" for value in json.loads(told).values())
            assert told == point


def test_every_scene_brings_some(taught: list[Taught]) -> None:
    for one in taught:
        assert len(one.of("echo")) == 32
