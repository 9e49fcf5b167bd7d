"""How words and numbers are said again: lessons without picture or map, of which there can be any number.

Whoever uses a tool's words must first be able to take them over. A small model learns that late, or never, where few of
the words it is judged by are such; here all of them are. What is said again are words that are a token each, in no
order, and points drawn at random: nothing but the text itself can tell what comes next. With snippets of names, whose
letters tell the letters after them, it takes several times as long.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from .lessons import Chat, Lesson, asked, told

_FEWEST, _MOST = 2, (6, 12, 24)  # short lines are learned sooner
_LEAST_LETTERS = 3
_LINES = 5
_QUESTIONS = 3
_NUMBERS = 0.35
"""The share of lessons with points in them; words alone are learned sooner, and numbers after them."""


def whole_words(tokenizer: Any) -> list[str]:
    """The words that are one token each, wherever they stand in a line; sorted."""
    texts = (tokenizer.convert_tokens_to_string([token]) for token in tokenizer.get_vocab())
    words = {text.strip() for text in texts if text.startswith(" ")}
    return sorted(word for word in words if len(word) >= _LEAST_LETTERS and word.isalpha())


def echoes(words: Sequence[str], chance: random.Random, count: int) -> Iterator[Lesson]:
    """Words in no order, some with points among them, to be said again.

    Args:
        words: that lines are made of, see `whole_words`.
        chance: decides.
        count: how many lessons.
    """
    for _ in range(count):
        items = chance.choices(words, k=chance.randint(_FEWEST, chance.choice(_MOST)))
        if chance.random() < _NUMBERS:
            for at in chance.sample(range(len(items)), chance.randint(1, 2)):
                items[at] = f"; {any_point(chance)};"
        said = " ".join(items)
        yield Lesson("echo", [asked(f"Say again: {said}"), told(said)])


def listed(names: Sequence[str], chance: random.Random, count: int) -> Iterator[Lesson]:
    """Lists of places with their points, in about the words of the map, and questions after some of them.

    Args:
        names: of places.
        chance: decides.
        count: how many lists.
    """
    names = sorted(set(names))
    for _ in range(count):
        places = chance.sample(names, min(len(names), chance.randint(1, _LINES)))
        points = [any_point(chance) for _ in places]
        lines = [
            f"{number}. {place}; {point}; {_match(chance)}"
            for number, (place, point) in enumerate(zip(places, points, strict=True), 1)
        ]
        messages: Chat = []
        for at in chance.sample(range(len(places)), min(len(places), _QUESTIONS)):
            question = f"Where is {chance.choice((f'number {at + 1}', places[at]))}?"
            lat, lon = points[at].split(", ")
            answer = chance.choice((points[at], f'{{"lat": {lat}, "lon": {lon}}}'))
            messages += [asked(question if messages else "\n".join([*lines, question])), told(answer)]
        yield Lesson("echo", messages)


def any_point(chance: random.Random) -> str:
    """Coordinates as the map writes them, of nowhere in particular."""
    return f"{chance.uniform(-60, 75):.5f}, {chance.uniform(-180, 180):.5f}"


def _match(chance: random.Random) -> str:
    return f"{chance.choice(('exact', 'fuzzy'))} match, confidence {chance.uniform(0.5, 0.99):.2f}"
