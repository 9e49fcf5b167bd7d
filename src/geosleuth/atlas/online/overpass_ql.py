"""Writing Overpass QL. Whatever a user types becomes letters and digits of a pattern, never syntax."""

import re

from geosleuth.atlas.regions.kinds import ADDRESS, STREET, category_kinds
from geosleuth.errors import BadInput
from geosleuth.geo import Extent, LatLon

from .areas import plain_boxes
from .text import query_text

_TAG_PART = re.compile(r"[\w:.\-]{1,80}\Z")
_NAME_KEYS = "^(name|name:.*|alt_name|old_name|official_name|short_name|loc_name|brand|operator|ref)$"
_KIND_KEYS = (
    "^(amenity|shop|tourism|leisure|office|craft|historic|railway|public_transport|highway|natural|man_made|building|"
    "healthcare|aeroway|place|emergency|landuse|waterway|club)$"
)
_OWN_KINDS = {STREET: '["highway"]["name"]', ADDRESS: '["addr:housenumber"]'}
_MAX_NAME_CHARS = 100


def settings(timeout_s: int) -> str:
    """The line every query begins with."""
    return f"[out:json][timeout:{timeout_s}];\n"


def name_pattern(text: str) -> str:
    """A regular expression for a name, whose spaces and marks may be written in other ways; empty for no name."""
    parts = re.findall(r"[^\W_]+", query_text(text, _MAX_NAME_CHARS))
    return ".{0,3}".join(parts)


def by_name(text: str) -> str:
    """The filter for features one of whose names holds the text."""
    pattern = name_pattern(text)
    if not pattern:
        raise BadInput(f"not a name to search for: {text[:60]!r}")
    return f'[~"{_NAME_KEYS}"~"{pattern}",i]'


def street_named(text: str) -> str:
    """The filter for streets of that name."""
    pattern = name_pattern(text)
    if not pattern:
        raise BadInput(f"not the name of a street: {text[:60]!r}")
    return f'["highway"][~"^(name|name:.*|alt_name|ref)$"~"^{pattern}$",i]'


def by_category(category: str) -> list[str]:
    """The filters that a category stands for; a feature need pass only one of them."""
    filters = []
    for kind in category_kinds(category):
        if kind in _OWN_KINDS:
            filters.append(_OWN_KINDS[kind])
            continue
        key, _, value = kind.partition("=")
        if not all(_TAG_PART.match(part) for part in (key, value) if part) or not (key or value):
            raise BadInput(f"not a category: {category[:60]!r}; write a word (cafe) or a tag (amenity=cafe)")
        if key and value:
            filters.append(f'["{key}"="{value}"]')
        elif key:
            filters.append(f'["{key}"]')
        else:
            filters.append(f'[~"{_KIND_KEYS}"~"^{value.replace(".", "[.]")}$"]')
    if not filters:
        raise BadInput(f"not a category: {category[:60]!r}; write a word (cafe) or a tag (amenity=cafe)")
    return filters


def by_name_or_category(feature: str) -> list[str]:
    """The filters for a tag ("amenity=pharmacy"), or for a word that may be a name or a category ("Casino")."""
    if "=" in feature:
        return by_category(feature)
    return [by_name(feature), *(by_category(feature) if category_kinds(feature) else [])]


def in_area(extent: Extent) -> list[str]:
    """The area filters of an extent; a feature need pass only one of them."""
    return [f"({box.south:.7f},{box.west:.7f},{box.north:.7f},{box.east:.7f})" for box in plain_boxes(extent)]


def around_point(point: LatLon, radius_m: float) -> str:
    """The filter for what lies within so many metres of a point."""
    return f"(around:{radius_m:.1f},{point.lat:.7f},{point.lon:.7f})"


def union(element: str, filters: list[str], areas: list[str], into: str) -> str:
    """A statement that gathers all elements that pass a filter in an area."""
    statements = "".join(f"{element}{one}{area};" for one in filters for area in areas)
    return f"({statements})->.{into};\n"
