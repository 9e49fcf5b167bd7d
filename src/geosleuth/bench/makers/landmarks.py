"""Sights so famous that a photo of them is no test: as a model names them, or by a name that stands in the picture."""

from collections.abc import Iterable, Mapping
from functools import cache

from geosleuth.answer.loose_json import JsonValue
from geosleuth.names import fold

from .reading import first_named

_NO_SIGHTS = frozenset({"airport", "port", "station"})
_NONE = frozenset({"", "none", "null", "no", "n/a", "na", "false", "unknown", "nothing"})
_LEAST_LETTERS = 5
_LONGEST = 120


def read_landmark(said: Mapping[str, JsonValue]) -> str | None:
    """The famous landmark in the object that a model wrote; None where it names none."""
    value = first_named(said, ("landmark", "famous_landmark", "landmark_name"))
    if value is True:
        return "unnamed"
    if isinstance(value, dict):
        value = value.get("name")
    if not isinstance(value, str) or value.strip().casefold().rstrip(".") in _NONE:
        return None
    return " ".join(value.split())[:_LONGEST]


def landmark_named(lines: Iterable[str]) -> str | None:
    """The first famous sight whose name stands in the lines of a picture; None where there is none.

    It sees names, not sights: a photo of the Eiffel Tower without a word in it passes, and one of a poster with its
    name does not. About a hundred sights of the world are known to it, and of their names only those that are no
    common word ("Hermitage" is one, so that a hotel may be taken for the museum).
    """
    sights = _sights()
    for line in lines:
        words = fold(line).split()
        for start in range(len(words)):
            for end in range(len(words), start, -1):
                if found := sights.get(" ".join(words[start:end])):
                    return found
    return None


@cache
def _sights() -> Mapping[str, str]:
    """Main names by every folded name."""
    from geosleuth.atlas.facts.landmarks import landmarks

    found: dict[str, str] = {}
    for one in landmarks():
        if one.place.kind not in _NO_SIGHTS:
            for name in one.names:
                key = fold(name)
                if len(key) >= _LEAST_LETTERS or not key.isascii():
                    found.setdefault(key, one.place.name)
    return found
