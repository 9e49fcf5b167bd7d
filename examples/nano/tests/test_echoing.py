"""Lessons in saying again: all that is asked for stands in the question."""

import json
import random
import re
from itertools import pairwise

from nano.lessons import echoes, listed, whole_words
from nano_lessons import words_of
from nano_models import tiny_nano_processor

WORDS = ["Bahnhof", "улица", "Hotel", "Market", "Rua"]
NAMES = ["Café Blau", "Кафана Бели бор", "みどり生花店", "Ristorante Donati & Neri", "Zum Löwen 7"]


def test_an_echo_says_what_was_asked_for() -> None:
    made = list(echoes(WORDS, random.Random(1), 200))
    assert len(made) == 200
    assert len({words_of(lesson.messages[0]) for lesson in made}) > 190
    for lesson in made:
        question, answer = lesson.messages
        assert words_of(question) == f"Say again: {words_of(answer)}"
    points = [lesson for lesson in made if re.search(r"; -?\d+\.\d{5}, -?\d+\.\d{5};", words_of(lesson.messages[1]))]
    assert 40 < len(points) < 100
    said = [word for lesson in made if lesson not in points for word in words_of(lesson.messages[1]).split()]
    assert set(said) == set(WORDS)


def test_words_are_a_token_each() -> None:
    tokenizer = tiny_nano_processor().tokenizer
    words = whole_words(tokenizer)
    assert len(words) > 10
    line = " ".join(random.Random(3).choices(words, k=40))
    assert len(tokenizer(f" {line}", add_special_tokens=False)["input_ids"]) == 40


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
