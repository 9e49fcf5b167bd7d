"""Reading the one JSON object that a model was asked for, as leniently as its meaning allows."""

import re
from collections.abc import Iterable, Mapping

from geosleuth.answer.loose_json import JsonValue, find_objects

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"\s*(\d{1,3}(?:[.,]\d+)?)\s*(?:/\s*10|points?|pts)?\s*")


def object_in(text: str) -> dict[str, JsonValue] | None:
    """The last complete object of a reply, with the names of its keys folded; None where there is none.

    The last, because models that think aloud write drafts first.
    """
    found = list(find_objects(text))
    return folded(found[-1].value) if found else None


def folded(said: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Names in lower case with underscores, all the way down: "Image Clarity" is image_clarity."""
    return {
        _NOT_LETTERS.sub("_", name.casefold()).strip("_"): folded(value) if isinstance(value, dict) else value
        for name, value in said.items()
    }


def first_named(said: Mapping[str, JsonValue], names: Iterable[str]) -> JsonValue:
    """The value of the first of these names that is there."""
    return next((said[name] for name in names if name in said), None)


def number_in(value: JsonValue) -> float | None:
    """A number, written as one or in words such as "8.5/10"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return float(match[1].replace(",", ".")) if match else None
