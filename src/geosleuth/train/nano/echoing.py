"""How words and numbers are said again: lessons without picture or map, of which there can be any number.

Whoever uses a tool's words must first be able to take them over. A small model learns that late, or never, where few of
the words it is judged by are such; here all of them are. Words come from names of businesses, in all scripts. Points
are drawn at random, so that nothing but the text itself can tell them.
"""

import random
from collections.abc import Iterator, Sequence

from .lessons import Chat, Lesson, asked, told

_ITEMS = 4
_WORDS = 8
_LINES = 5
_QUESTIONS = 3
_NUMBERS = 0.4
"""The share of numbers among what is said again."""


def echoes(names: Sequence[str], chance: random.Random, count: int) -> Iterator[Lesson]:
    """Words in no order and points, to be said again.

    Args:
        names: where words come from.
        chance: decides.
        count: how many lessons.
    """
    words = sorted({word for name in names for word in name.split()})
    for _ in range(count):
        items = [
            any_point(chance)
            if chance.random() < _NUMBERS
            else " ".join(chance.choice(words) for _ in range(chance.randint(1, _WORDS)))
            for _ in range(chance.randint(1, _ITEMS))
        ]
        said = "; ".join(items)
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
