"""From a decoded JSON object to an Answer: the many names that models give to the same few things."""

import re
from collections.abc import Iterable, Mapping

from geosleuth.geo import LatLon

from .coordinates import find_points, parse_angle, to_point
from .loose_json import JsonValue
from .model import Address, Answer, Level

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
_LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d+)?)\s*(km|kilomet(?:er|re)s?|m|met(?:er|re)s?)?\s*", re.IGNORECASE)
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*(%|percent)?\s*", re.IGNORECASE)


def answer_from_fields(data: Mapping[str, JsonValue]) -> Answer:
    """Whatever of an answer the object holds; an object that holds nothing gives an empty, unlocated answer."""
    fields = _flatten(data)
    final = _text(fields.get("finalanswer"))
    address = _address(fields)
    if final is not None and not address:
        address = address_from_semicolons(final) or address
    return Answer(
        point=_point(fields),
        address=address,
        probability=probability(_first(fields, _CONFIDENCE_KEYS)),
        radius_km=_positive(_first(fields, _RADIUS_KEYS)),
        explanation=_text(_first(fields, _EXPLANATION_KEYS)),
    )


def speaks_of_coordinates(data: Mapping[str, JsonValue]) -> bool:
    """Whether the object gives coordinates or takes them back; a blank form ("lat": "<latitude>") does neither."""
    fields = _flatten(data)
    pairs = ((lat, lon) for lat in _LAT_KEYS for lon in _LON_KEYS if lat in fields and lon in fields)
    return any(_says(fields[lat]) and _says(fields[lon]) for lat, lon in pairs)


def _says(value: JsonValue) -> bool:
    return value is None or _degrees(value) is not None or (isinstance(value, str) and clean_name(value) is None)


def address_from_semicolons(text: str) -> Address | None:
    """``Country; Region; Specific location`` in that order, two or three parts on one line."""
    parts = [clean_name(part) for part in text.split(";")]
    if not 2 <= len(parts) <= 3 or not parts[0] or "\n" in text.strip():
        return None
    return Address.of(*parts)


def clean_name(value: str | None) -> str | None:
    """A place name without decoration; None for the words that mean 'no name'."""
    if value is None:
        return None
    name = " ".join(value.strip(" \t\r\n*_\"'`“”.<>").split())
    return None if name.casefold() in _NOTHING else name


def probability(value: JsonValue) -> float | None:
    """A stated confidence as a probability: "85%", 85 and 0.85 are the same; what is out of range is no statement."""
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value[:40])
        if match is None:
            return None
        number = float(match[1])
        return _unit(number / 100 if match[2] or number >= 2 else number)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Above 1 it is percent; a fraction of a percent above 1, such as 1.5, is nobody's way to say either.
    return _unit(value / 100 if value >= 2 else value)


def _unit(number: float) -> float | None:
    return number if 0 <= number <= 1 else None


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _flatten(data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Own keys first, then those of the wrappers that models put around an answer (outer keys win)."""
    fields: dict[str, JsonValue] = {}
    layers: list[Mapping[str, JsonValue]] = [data]
    while layers and len(fields) < 1000:
        layer = layers.pop(0)
        for name, value in list(layer.items())[:1000]:
            key = _key(name)
            fields.setdefault(key, value)
            if isinstance(value, dict) and (key in _INSIDE_KEYS or key in _PAIR_KEYS):
                layers.append(value)
    return fields


def _first(fields: Mapping[str, JsonValue], keys: Iterable[str]) -> JsonValue:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _point(fields: Mapping[str, JsonValue]) -> LatLon | None:
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
    """Finest first: a street and its city become "street, city"."""
    if not fine.conclusion or not city.conclusion or city.conclusion in fine.conclusion:
        return fine or city
    return Level(f"{fine.conclusion}, {city.conclusion}", fine.clues, fine.reasoning, fine.uncertainty)


def _level(value: JsonValue) -> Level:
    if not isinstance(value, dict):
        return Level(clean_name(_text(value)))
    parts = {_key(name): item for name, item in value.items()}
    clues = parts.get("clues")
    listed = clues if isinstance(clues, list) else [clues]
    return Level(
        clean_name(_text(parts.get("conclusion")) or _text(parts.get("name"))),
        tuple(text for item in listed if (text := _text(item))),
        _text(parts.get("reasoning")),
        _text(parts.get("uncertainty")),
    )


def _text(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _positive(value: JsonValue) -> float | None:
    """A length in km; a text may say metres."""
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
