"""Extract from OpenStreetMap tags what a region keeps: names, searchable attributes, address and other details."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from geosleuth.atlas.search import ATTRIBUTE, MAIN, OTHER

_OTHER_NAMES: Final = frozenset(
    {"alt_name", "old_name", "official_name", "short_name", "loc_name", "int_name", "nat_name", "reg_name", "brand",
     "operator", "network", "sorting_name", "full_name", "branch", "addr:housename", "bridge:name", "tunnel:name"}
)  # fmt: skip
_ATTRIBUTES: Final = frozenset(
    {"ref", "local_ref", "int_ref", "nat_ref", "loc_ref", "old_ref", "route_ref", "iata", "icao", "ref:IFOPT",
     "uic_ref",
     "phone", "contact:phone", "contact:mobile", "website", "contact:website", "url", "email", "contact:email"}
)  # fmt: skip
_SHOWN: Final = _OTHER_NAMES | _ATTRIBUTES | frozenset(
    {"name", "opening_hours", "cuisine", "religion", "denomination", "sport", "wikidata", "wikipedia", "ele", "height",
     "population", "description", "inscription", "artist_name", "architect", "start_date", "maxspeed", "surface",
     "oneway",
     "lanes", "material", "colour", "capacity", "wheelchair", "stars", "fee", "access", "brand:wikidata", "building",
     "amenity", "shop", "tourism", "historic", "leisure", "railway", "public_transport", "highway", "natural", "place",
     "man_made", "building:levels", "building:colour", "roof:shape", "roof:colour", "level", "inscription_date",
     "direction", "from", "to", "via", "route", "admin_level", "postal_code", "contact:facebook", "contact:instagram",
     "image", "species", "species:en", "memorial", "artwork_type", "information", "board_type", "traffic_sign",
     "boundary"}
)  # fmt: skip
_NAME_IN_LANGUAGE: Final = re.compile(
    r"(?:name|alt_name|old_name|official_name|short_name|loc_name|brand|operator):[a-zA-Z_-]+\Z"
)
_NOT_A_NAME: Final = re.compile(
    r"name:(?:etymology|prefix|suffix|source|pronunciation|signed)|:(?:wikidata|wikipedia)\Z|operator:(?:type|ref)\Z"
)
_NUMBER_BEFORE_STREET: Final = re.compile(
    r"\b(street|road|avenue|lane|drive|close|way|terrace|court|crescent|gardens|place|hill|rise|walk|mews|grove|row|park"
    r"|parade|square|view|green|rue|boulevard|chemin|impasse|all[ée]e|quai|route|passage|escaliers?|ruelle)\b",
    re.IGNORECASE,
)
MAX_TEXT_CHARS: Final = 255

_JSON: Final = msgspec.json.Encoder(order="sorted")


def main_name(tags: Mapping[str, str]) -> str:
    """Return the name people use: the name tag, else brand, reference number or operator; "" if there is none."""
    for key in (
        "name",
        "int_name",
        "name:en",
        "official_name",
        "loc_name",
        "brand",
        "addr:housename",
        "ref",
        "operator",
    ):
        value = tags.get(key)
        if value and (value := value.strip()):
            return value[:MAX_TEXT_CHARS]
    return next(
        (value.strip()[:MAX_TEXT_CHARS] for key, value in tags.items() if key.startswith("name:") and value), ""
    )


def has_name(tags: Mapping[str, str]) -> bool:
    """Return whether the object has a name of its own, in any language."""
    return "name" in tags or any(map(_is_name_key, tags))


@lru_cache(maxsize=1 << 16)
def _is_name_key(key: str) -> bool:
    return key.startswith("name:") or key in ("official_name", "loc_name", "int_name")


@lru_cache(maxsize=1 << 16)
def _role_and_kept(key: str) -> tuple[int | None, bool]:
    """Return the role of a key's value in the name index (None: not indexed), and whether the tag is kept."""
    named = bool(_NAME_IN_LANGUAGE.match(key) and not _NOT_A_NAME.search(key))
    role = ATTRIBUTE if key in _ATTRIBUTES else OTHER if key in _OTHER_NAMES or named else None
    return role, named or key in _SHOWN or key.startswith("addr:")


def index_names(tags: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return every text an object can be found by, with its role; each text once, the main name first."""
    found: dict[str, int] = {}
    if tags.get("name"):
        found[tags["name"].strip()[:MAX_TEXT_CHARS]] = MAIN
    for key, value in tags.items():
        role = _role_and_kept(key)[0]
        if role is None:
            continue
        for part in value.split(";") if ";" in value else (value,):
            text = part.strip()[:MAX_TEXT_CHARS]
            if text:
                found[text] = min(role, found.get(text, role))
    return list(found.items())


def encode_kept_tags(tags: Mapping[str, str]) -> str:
    """Return the tags worth showing as JSON with sorted keys."""
    return _JSON.encode({key: value[:1000] for key, value in tags.items() if _role_and_kept(key)[1]}).decode()


def house_number(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Return house number and street of an address (or its place, where houses are numbered without streets)."""
    number = tags.get("addr:housenumber")
    if number is None:
        return None
    number = number.strip()
    street = (tags.get("addr:street") or tags.get("addr:place") or "").strip()
    return (number[:40], street[:MAX_TEXT_CHARS]) if number and street else None


def address_line(number: str, street: str) -> str:
    """Join number and street in the order of the street's language: "12 Rue Grimaldi", "Mannerheimintie 12"."""
    return f"{number} {street}" if _NUMBER_BEFORE_STREET.search(street) else f"{street} {number}"


def format_address(tags: Mapping[str, str]) -> str | None:
    """Return the postal address as far as it is tagged, or None."""
    at = house_number(tags)
    line = address_line(*at) if at else tags.get("addr:street") or tags.get("addr:housename") or tags.get("addr:full")
    code, city = tags.get("addr:postcode"), tags.get("addr:city")
    town = f"{code} {city}" if code and city else code or city
    whole = f"{line}, {town}" if line and town else line or town or ""
    return whole[:MAX_TEXT_CHARS] or None
