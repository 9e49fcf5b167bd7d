"""The two parsers of replies: ``strict``, as the published tables were made, and ``lenient``, as a person reads.

Both are total: any text gives an Answer, and one without a readable point is unlocated. Neither looks a place up,
swaps latitude and longitude, or replaces what is out of range.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from geosleuth.errors import BadInput

from .coordinates import to_point
from .fields import answer_from_fields, speaks_of_coordinates
from .loose_json import find_objects
from .model import Address, Answer
from .prose import answer_from_prose, with_names_from
from .wire import FORMAT, answer_from_dict

ParserName = Literal["strict", "lenient"]

# Some 50,000 tokens. Of a longer reply the end is read, where answers stand.
MAX_CHARACTERS = 200_000
_BARE_ANSWER = 60
_STRICT_KEYS = ("lat", "lon", "city", "country")
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_ANSWER_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_OBJECT_START = re.compile(r"\{\s*(?:\}|\"(?:[^\"\\]|\\.)*+\"\s*:)", re.DOTALL)
_DECODER = json.JSONDecoder()


def parse(text: str, parser: ParserName = "lenient") -> Answer:
    """Read a reply with the named parser.

    Raises:
        ValueError: there is no such parser.
    """
    if parser not in PARSERS:
        raise ValueError(f"there is no parser {parser!r}; there are {', '.join(PARSERS)}")
    return PARSERS[parser](text)


def parse_strict(text: str) -> Answer:
    """The first top-level JSON object that holds lat, lon, city and country; nothing is forgiven.

    If that object's coordinates are not numbers in range, the answer is unlocated: later objects are not tried.
    Only the last ``MAX_CHARACTERS`` of a reply are looked at.
    """
    text = text[-MAX_CHARACTERS:]
    for value in _strict_objects(text):
        if all(key in value for key in _STRICT_KEYS):
            return Answer(
                to_point(value["lat"], value["lon"]),
                Address.of(country=_name(value["country"]), precise=_name(value["city"])),
            )
    return Answer()


def _strict_objects(text: str) -> Iterator[dict[str, Any]]:
    """The top-level JSON objects in order; a text made to be costly is given up after a bounded effort."""
    effort = 4 * len(text) + 10_000
    at = 0
    while effort > 0 and (match := _OBJECT_START.search(text, at)):
        at = match.start() + 1
        try:
            value, at = _DECODER.raw_decode(text, match.start())
        except json.JSONDecodeError as error:
            effort -= error.pos - match.start()
        except (ValueError, RecursionError):
            effort -= len(text)
        else:
            yield value


def parse_lenient(text: str) -> Answer:
    """What a person could read out of a reply.

    Thoughts in ``<think>`` are not the answer, and what stands in the last ``<answer>`` tag is, whatever was said
    before. There, the last complete object that speaks of coordinates decides, also where it takes them back (null)
    or has them out of range; without such an object, the last coordinates in prose. Only the last ``MAX_CHARACTERS``
    of a reply are looked at.
    """
    text = text[-MAX_CHARACTERS:]
    if (whole := _decode_whole(text)) is not None:
        answer = _from_object(whole)
        if answer.located or answer.address:
            return answer
    spoken = _THOUGHTS.sub(" ", text)
    text = spoken if spoken.strip() else text
    tagged = [part for part in _ANSWER_TAG.findall(text) if part.replace("<answer>", "").strip()]
    if not tagged:
        return _read(text)
    final = _read(tagged[-1])
    if final.located or len(tagged[-1]) > _BARE_ANSWER:
        return final
    # A tag says that this is the answer; two numbers alone in it are its coordinates.
    return with_names_from(answer_from_prose(f"coordinates: {tagged[-1]}"), final)


PARSERS: Mapping[ParserName, Callable[[str], Answer]] = {"strict": parse_strict, "lenient": parse_lenient}


def _decode_whole(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _read(text: str) -> Answer:
    """The last object that speaks of coordinates, else prose outside the objects, else names alone."""
    objects = list(find_objects(text))
    named = Answer()
    # Exact objects come last: a stray brace before one may have misled the forgiving reader.
    for value in (*(found.value for found in reversed(objects)), *reversed(list(_strict_objects(text)))):
        answer = _from_object(value)
        if answer.located or speaks_of_coordinates(value):
            return answer
        named = named if named.address else answer
    outside = _blank(text, [(found.start, found.end) for found in objects])
    return with_names_from(answer_from_prose(outside), named)


def _from_object(value: Mapping[str, Any]) -> Answer:
    if value.get("format") == FORMAT:
        try:
            return answer_from_dict(value)
        except BadInput:
            return Answer()
    return answer_from_fields(value)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with the spans emptied, so that a refused object is not read again as prose."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "{}".join([*parts, text[at:]])


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None
