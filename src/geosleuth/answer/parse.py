"""The two parsers of replies: ``strict``, as used for the published tables, and ``lenient``, as a person reads.

Both are total: any text gives an Answer, and one without a readable point is unlocated. Neither looks a place up,
swaps latitude and longitude, or replaces out-of-range values.

Tolerated: unquoted or half-quoted strings, single and typographic quotes, trailing and missing commas, line comments,
raw line breaks and unescaped quotes inside strings. An object counts only if its closing brace is there.

Work is bounded: at most a fixed multiple of the text's length is examined, and nesting is capped, so that arbitrary
text costs linear time and never raises.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from geosleuth.support.lazy import lazy_pattern

from .answer import FORMAT, Address, Answer, Level, answer_from_dict
from .coordinates import find_points, parse_angle, to_point

JsonValue: TypeAlias = "bool | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_MAX_DEPTH = 40
_EFFORT_PER_CHARACTER = 4
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_SPACE = re.compile(r"(?:\s|//[^\n]*|\#[^\n]*)*")
_BARE_KEY = re.compile(r"[^\s\"'“”:={}\[\],][^\"“”:={}\[\],\n]*")
_BARE_VALUE = re.compile(r"[^,{}\[\]\n]*")
_CLOSES_KEY = re.compile(r"\s*[:=]")
_CLOSES_VALUE = re.compile(r"\s*(?:[,}\]]|$)|\s*\n")
_NEXT_LINE_IS_A_KEY = re.compile(r"\n\s*[\"'“]?[A-Za-z_]{1,40}[\"'”]?\s*:")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# A number also ends at the next key's quote: models forget commas.
_NUMBER_VALUE = re.compile(rf"{_NUMBER.pattern}(?=\s*(?:[,}}\]\"'“]|//|\#|\n))")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None, "none": None}

_LAT_KEYS = ("lat", "latitude", "predlat", "predictedlat", "predictedlatitude")
_LON_KEYS = ("lon", "lng", "long", "longitude", "predlon", "predlng", "predictedlon", "predictedlongitude")
_PAIR_KEYS = ("coordinates", "coordinate", "coords", "latlon", "latlng", "gps", "point", "position", "location")
_LEVEL_KEYS = {
    "country": ("country", "countryidentification", "countryname"),
    "region": (
        "region", "regionalguess", "regionguess", "state", "province", "provinceorstate", "stateorprovince", "admin1",
        "prefecture", "adminarea",
    ),
}  # fmt: skip
_FINE_KEYS = (
    "precise", "preciselocalization", "specificlocation", "precise_location", "poi", "building", "landmark",
    "address", "street", "neighborhood", "neighbourhood", "district",
)  # fmt: skip
_CITY_KEYS = ("city", "town", "village", "municipality", "locality", "cityname")
_CONFIDENCE_KEYS = ("probability", "confidence", "confidencepercent", "confidencepercentage", "certainty")
_RADIUS_KEYS = ("radiuskm", "radius", "errorkm", "uncertaintykm")
_EXPLANATION_KEYS = ("explanation", "reasoning", "reason", "rationale", "evidence")
_INSIDE_KEYS = ("answer", "finalanswer", "result", "prediction", "finallocation", "bestguess", "chainofthought")
_NOTHING = {"", "null", "none", "n/a", "na", "unknown", "undetermined", "not sure", "-", "?"}
_LENGTH = lazy_pattern(r"\s*(\d{1,6}(?:\.\d+)?)\s*(km|kilomet(?:er|re)s?|m|met(?:er|re)s?)?\s*", re.IGNORECASE)
_PERCENT = lazy_pattern(r"\s*(\d{1,3}(?:\.\d+)?)\s*(%|percent)?\s*", re.IGNORECASE)
# An answer is at the end of a reply; anything further up is reasoning.
_TAIL = 20_000
_LABELS = {
    "country": r"country",
    "region": r"(?:region|state|province|province[ _]or[ _]state|prefecture)",
    "precise": r"(?:specific location|precise location|exact location|address|city|town|village)",
}
_VALUE = r"[\s*_\"'`]*[:=][\s*_\"'`]*(?P<value>[^\n;{}]{1,120})"
_NAMES = {
    level: lazy_pattern(rf"(?:^|[\s,;*_\"'`(>-]){label}{_VALUE}", re.IGNORECASE) for level, label in _LABELS.items()
}
_NEXT_LABEL = lazy_pattern(r"[,|.]?[\s*_\"'`]+(?:[a-z]+[ _]){0,2}[a-z]+[*_\"'`]*\s*[:=]", re.IGNORECASE)
# GeoSeek's labels leave levels empty: "Zambia; Lusaka Province; ".
_SEMICOLONS = lazy_pattern(r"[^;\n:{}]{2,60};(?:[^;\n{}]{1,80}|[^;\n{}]{0,80};[^;\n{}]{0,160})")
_CONFIDENCE = lazy_pattern(
    r"\b(?:confidence|probability)\b[^\d\n]{0,30}(\d{1,3}(?:\.\d+)?\s*(?:%|percent)?)", re.IGNORECASE
)
ParserName = Literal["strict", "lenient"]
# Some 50,000 tokens. Only the end of a longer reply is read, where the answer is.
MAX_CHARACTERS = 200_000
_BARE_ANSWER = 60
_STRICT_KEYS = ("lat", "lon", "city", "country")
_THOUGHTS = lazy_pattern(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_ANSWER_TAG = lazy_pattern(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_OBJECT_START = lazy_pattern(r"\{\s*(?:\}|\"(?:[^\"\\]|\\.)*+\"\s*:)", re.DOTALL)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A complete object and its position in the text."""

    value: dict[str, JsonValue]
    start: int
    end: int


class _NoObject(Exception):
    """No object starts here; one may start later."""


class _EffortExceeded(Exception):
    """The text is too costly to parse."""


def find_objects(text: str) -> Iterator[FoundObject]:
    """Yield the complete outermost objects of a text, in order."""
    reader = _Reader(text)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = reader.object(start, 0)
        except _NoObject:
            end = start + 1
        except _EffortExceeded:
            return
        else:
            yield FoundObject(value, start, end)
        start = text.find("{", end)


class _Reader:
    """A recursive-descent reader over one text; every method takes a position and returns value and next position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.effort = _EFFORT_PER_CHARACTER * len(text) + 10_000

    def spend(self, start: int, end: int) -> int:
        self.effort -= end - start + 1
        if self.effort < 0:
            raise _EffortExceeded
        return end

    def skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return self.spend(at, match.end()) if match else at

    def peek(self, at: int) -> str:
        if at >= len(self.text):
            raise _NoObject
        return self.text[at]

    def object(self, at: int, depth: int) -> tuple[dict[str, JsonValue], int]:
        if depth > _MAX_DEPTH:
            raise _NoObject
        result: dict[str, JsonValue] = {}
        last_key: str | None = None
        at = self.skip_space(at + 1)
        while (mark := self.peek(at)) != "}":
            if mark == ",":
                at = self.skip_space(at + 1)
                continue
            key, at = self.key(at)
            at = self.skip_space(at)
            if self.peek(at) in ":=":
                value, at = self.value(self.skip_space(at + 1), depth)
                result[key] = value
                last_key = key
            elif last_key is not None and isinstance(tail := result[last_key], str):
                # An unquoted value with a comma in it, "city: San Jose, California", was split there.
                result[last_key] = f"{tail}, {key}"
            else:
                raise _NoObject
            at = self.skip_space(at)
        return result, at + 1

    def array(self, at: int, depth: int) -> tuple[list[JsonValue], int]:
        if depth > _MAX_DEPTH:
            raise _NoObject
        result: list[JsonValue] = []
        at = self.skip_space(at + 1)
        while (mark := self.peek(at)) != "]":
            if mark == "}":
                raise _NoObject
            if mark == ",":
                at = self.skip_space(at + 1)
                continue
            value, at = self.value(at, depth)
            result.append(value)
            at = self.skip_space(at)
        return result, at + 1

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at] in _QUOTES:
            return self.string(at, _CLOSES_KEY)
        match = _BARE_KEY.match(self.text, at)
        if match is None:
            raise _NoObject
        return match.group().strip(), self.spend(at, match.end())

    def value(self, at: int, depth: int) -> tuple[JsonValue, int]:
        mark = self.peek(at)
        if mark == "{":
            return self.object(at, depth + 1)
        if mark == "[":
            return self.array(at, depth + 1)
        if mark in _QUOTES:
            return self.read_unclosed_line(at) or self.string(at, _CLOSES_VALUE)
        match = _NUMBER_VALUE.match(self.text, at) or _BARE_VALUE.match(self.text, at)
        if match is None or not match.group():
            # "key:," and "key:}" have no value; the caller continues at the mark itself.
            return None, at
        return _bare(match.group()), self.spend(at, match.end())

    def read_unclosed_line(self, at: int) -> tuple[str, int] | None:
        """Return a string whose closing quote is missing: it ends with its line if the next line starts a new key."""
        end = self.text.find("\n", at)
        if end < 0 or _NEXT_LINE_IS_A_KEY.match(self.text, end) is None:
            return None
        content = self.text[at + 1 : self.spend(at, end)].rstrip().removesuffix(",")
        return None if _QUOTES[self.text[at]] in content else (_unescape(content), end)

    def string(self, at: int, closes: re.Pattern[str]) -> tuple[str, int]:
        """Return a quoted string: it ends at the first matching quote that is followed as a key or a value must be."""
        closing = _QUOTES[self.text[at]]
        end = at + 1
        while True:
            end = self._next_quote(end, closing)
            if closes.match(self.text, end + 1):
                return _unescape(self.text[at + 1 : end]), end + 1
            end += 1

    def _next_quote(self, at: int, closing: str) -> int:
        while True:
            end = self.text.find(closing, at)
            if end < 0:
                self.spend(at, len(self.text))
                raise _NoObject
            self.spend(at, end)
            before = self.text[at:end]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                return end
            at = end + 1


def _unescape(raw: str) -> str:
    try:
        decoded = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw.replace('\\"', '"').replace("\\n", "\n")
    return decoded if isinstance(decoded, str) else raw


def _bare(raw: str) -> JsonValue:
    word = raw.strip()
    if word.casefold() in _WORDS:
        return _WORDS[word.casefold()]
    if _NUMBER.fullmatch(word):
        return float(word)
    return word.strip("\"'“”‘’` ")


def answer_from_fields(data: Mapping[str, JsonValue]) -> Answer:
    """Return the answer that the object describes; an object without any gives an empty, unlocated answer."""
    fields = _flatten(data)
    final = _read_value(fields.get("finalanswer"))
    address = _address(fields)
    if final is not None and not address:
        address = address_from_semicolons(final) or address
    return Answer(
        point=_read_point(fields),
        address=address,
        probability=probability(_first(fields, _CONFIDENCE_KEYS)),
        radius_km=_positive(_first(fields, _RADIUS_KEYS)),
        explanation=_read_value(_first(fields, _EXPLANATION_KEYS)),
    )


def speaks_of_coordinates(data: Mapping[str, JsonValue]) -> bool:
    """Return whether the object gives or retracts coordinates; a blank form ("lat": "<latitude>") does neither."""
    fields = _flatten(data)
    pairs = ((lat, lon) for lat in _LAT_KEYS for lon in _LON_KEYS if lat in fields and lon in fields)
    return any(_says(fields[lat]) and _says(fields[lon]) for lat, lon in pairs)


def _says(value: JsonValue) -> bool:
    return value is None or _degrees(value) is not None or (isinstance(value, str) and clean_name(value) is None)


def address_from_semicolons(text: str) -> Address | None:
    """Parse ``Country; Region; Specific location`` in that order, two or three parts on one line."""
    parts = [clean_name(part) for part in text.split(";")]
    if not 2 <= len(parts) <= 3 or not parts[0] or "\n" in text.strip():
        return None
    return Address.create(*parts)


def clean_name(value: str | None) -> str | None:
    """Return a place name without decoration; None for words that mean 'no name'."""
    if value is None:
        return None
    name = " ".join(value.strip(" \t\r\n*_\"'`“”.<>").split())
    return None if name.casefold() in _NOTHING else name


def probability(value: JsonValue) -> float | None:
    """Return a stated confidence as a probability: "85%", 85 and 0.85 are the same; None if out of range."""
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value[:40])
        if match is None:
            return None
        number = float(match[1])
        return _unit(number / 100 if match[2] or number >= 2 else number)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Above 1 it is percent; a value just above 1, such as 1.5, is ambiguous and ignored.
    return _unit(value / 100 if value >= 2 else value)


def _unit(number: float) -> float | None:
    return number if 0 <= number <= 1 else None


def _normalize_key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _flatten(data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return own keys first, then those of the wrappers that models put around an answer (outer keys win)."""
    fields: dict[str, JsonValue] = {}
    layers: list[Mapping[str, JsonValue]] = [data]
    while layers and len(fields) < 1000:
        layer = layers.pop(0)
        for name, value in list(layer.items())[:1000]:
            key = _normalize_key(name)
            fields.setdefault(key, value)
            if isinstance(value, dict) and (key in _INSIDE_KEYS or key in _PAIR_KEYS):
                layers.append(value)
    return fields


def _first(fields: Mapping[str, JsonValue], keys: Iterable[str]) -> JsonValue:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _read_point(fields: Mapping[str, JsonValue]) -> LatLon | None:
    lat, lon = (_degrees(_first(fields, keys)) for keys in (_LAT_KEYS, _LON_KEYS))
    if lat is not None or lon is not None:
        return to_point(lat, lon)
    lon_first = str(fields.get("type")).casefold() == "point"
    for key in _PAIR_KEYS:
        value = fields.get(key)
        if isinstance(value, list) and len(value) == 2:
            first, second = (_degrees(item) for item in value)
            return to_point(second, first) if lon_first else to_point(first, second)
        if isinstance(value, str) and (points := find_points(f"coordinates: {value[:200]}")):
            return points[-1].point
    return None


def _degrees(value: JsonValue) -> float | None:
    if isinstance(value, str):
        return parse_angle(value)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def _address(fields: Mapping[str, JsonValue]) -> Address:
    country, region = (_level(_first(fields, keys)) for keys in _LEVEL_KEYS.values())
    fine, city = (_level(_first(fields, keys)) for keys in (_FINE_KEYS, _CITY_KEYS))
    return Address(country, region, _join(fine, city))


def _join(fine: Level, city: Level) -> Level:
    if not fine.conclusion or not city.conclusion or city.conclusion in fine.conclusion:
        return fine or city
    return Level(f"{fine.conclusion}, {city.conclusion}", fine.clues, fine.reasoning, fine.uncertainty)


def _level(value: JsonValue) -> Level:
    if not isinstance(value, dict):
        return Level(clean_name(_read_value(value)))
    parts = {_normalize_key(name): item for name, item in value.items()}
    clues = parts.get("clues")
    listed = clues if isinstance(clues, list) else [clues]
    return Level(
        clean_name(_read_value(parts.get("conclusion")) or _read_value(parts.get("name"))),
        tuple(text for item in listed if (text := _read_value(item))),
        _read_value(parts.get("reasoning")),
        _read_value(parts.get("uncertainty")),
    )


def _read_value(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _positive(value: JsonValue) -> float | None:
    """Return a length in km; a text may give metres."""
    factor = 1.0
    if isinstance(value, str):
        match = _LENGTH.fullmatch(value[:40])
        if match is None:
            return None
        value, factor = float(match[1]), 0.001 if (match[2] or "km").casefold().startswith("m") else 1.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = factor * float(value) if abs(value) < 1e6 else 0.0
    return number if number > 0 else None


def answer_from_prose(text: str) -> Answer:
    """Return the last readable coordinates, the last labelled name of each level, and a stated confidence."""
    tail = text[-_TAIL:]
    points = find_points(tail)
    cut_off = tail.rfind("{") > tail.rfind("}")
    if cut_off and points and points[-1].end == len(tail):
        # The reply was cut off inside an object, right after a digit: the number may be incomplete.
        points = []
    stated = _CONFIDENCE.findall(tail)
    return Answer(
        point=points[-1].point if points else None,
        address=_prose_address(tail),
        probability=probability(stated[-1]) if stated else None,
    )


def _prose_address(tail: str) -> Address:
    names = {level: _last_name(pattern, tail) for level, pattern in _NAMES.items()}
    address = Address.create(**names)
    if address:
        return address
    lines = [line for line in tail.splitlines() if line.strip()]
    last_line = lines[-1].strip().removesuffix(".") if lines else ""
    if not _SEMICOLONS.fullmatch(last_line):
        return Address()
    return address_from_semicolons(last_line) or Address()


def _last_name(pattern: re.Pattern[str], text: str) -> str | None:
    values = [match["value"] for match in pattern.finditer(text)]
    if not values:
        return None
    name = _NEXT_LABEL.split(values[-1], maxsplit=1)[0]
    return clean_name(name.rstrip(" ,"))


def fill_gaps(answer: Answer, other: Answer) -> Answer:
    """Return the answer with gaps filled from another reading of the same reply; the point stays its own."""
    return replace(
        answer,
        address=answer.address or other.address,
        probability=other.probability if answer.probability is None else answer.probability,
        explanation=answer.explanation or other.explanation,
        candidates=answer.candidates or other.candidates,
    )


def parse(text: str, parser: ParserName = "lenient") -> Answer:
    """Parse a reply with the named parser.

    Raises:
        ValueError: the parser is unknown.
    """
    if parser not in PARSERS:
        raise ValueError(f"unknown parser {parser!r}; choose from {', '.join(PARSERS)}")
    return PARSERS[parser](text)


def parse_strict(text: str) -> Answer:
    """Parse the first top-level JSON object that has lat, lon, city and country; nothing is tolerated.

    If that object's coordinates are not numbers in range, the answer is unlocated: later objects are not tried.
    Only the last ``MAX_CHARACTERS`` of a reply are examined.
    """
    text = text[-MAX_CHARACTERS:]
    for value in _strict_objects(text):
        if all(key in value for key in _STRICT_KEYS):
            return Answer(
                to_point(value["lat"], value["lon"]),
                Address.create(country=_name(value["country"]), precise=_name(value["city"])),
            )
    return Answer()


def _strict_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the top-level JSON objects in order; stop after a bounded effort."""
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
    """Parse a reply as a person would read it.

    Thoughts in ``<think>`` are not the answer; the content of the last ``<answer>`` tag is, not the text before it.
    There, the last complete object with coordinates decides, even if it retracts them (null) or has them out of
    range; without such an object, the last coordinates in prose. Only the last ``MAX_CHARACTERS`` of a reply are
    examined.
    """
    text = text[-MAX_CHARACTERS:]
    if (whole := _decode_whole(text)) is not None:
        answer = _from_object(whole)
        if answer.located or answer.address:
            return answer
    text, tagged = _split_spoken(text)
    if not tagged:
        return _parse_reply(text)
    final = _parse_reply(tagged[-1])
    if final.located or len(tagged[-1]) > _BARE_ANSWER:
        return final
    # The tag marks the answer; two numbers alone in it are its coordinates.
    return fill_gaps(answer_from_prose(f"coordinates: {tagged[-1]}"), final)


def _split_spoken(text: str) -> tuple[str, list[str]]:
    """Return the reply without its thoughts, unless there is nothing else, and what its answer tags hold."""
    spoken = _THOUGHTS.sub(" ", text)
    text = spoken if spoken.strip() else text
    return text, [part for part in _ANSWER_TAG.findall(text) if part.replace("<answer>", "").strip()]


def extract_prose(text: str) -> str:
    """Return what a reply says in words: the last answer tag's, or else all that is spoken, without objects."""
    text, tagged = _split_spoken(text[-MAX_CHARACTERS:])
    for part in (*reversed(tagged), text):
        prose = _blank(part, [(found.start, found.end) for found in find_objects(part)])
        if any(map(str.isalpha, prose)):
            return prose
    return ""


PARSERS: Mapping[ParserName, Callable[[str], Answer]] = {"strict": parse_strict, "lenient": parse_lenient}


def _decode_whole(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parse_reply(text: str) -> Answer:
    """Return the last object with coordinates, else prose outside the objects, else names alone."""
    objects = list(find_objects(text))
    named = Answer()
    # Exact objects come last: a stray brace before one may have misled the tolerant reader.
    for value in (*(found.value for found in reversed(objects)), *reversed(list(_strict_objects(text)))):
        answer = _from_object(value)
        if answer.located or speaks_of_coordinates(value):
            return answer
        named = named if named.address else answer
    outside = _blank(text, [(found.start, found.end) for found in objects])
    return fill_gaps(answer_from_prose(outside), named)


def _from_object(value: Mapping[str, Any]) -> Answer:
    if value.get("format") == FORMAT:
        try:
            return answer_from_dict(value)
        except BadInput:
            return Answer()
    return answer_from_fields(value)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with the spans blanked, so that a refused object is not read again as prose."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "{}".join([*parts, text[at:]])


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None
