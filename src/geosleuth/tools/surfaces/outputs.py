"""What the ``data`` of each tool holds, as JSON schemas: for surfaces that say beforehand what comes back.

They promise what is always there and no more: a reader must expect further keys. A tool that has no entry here gives
any JSON value.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
YES_NO: Schema = {"type": "boolean"}
ANYTHING: Schema = {}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def many(item: Schema, length: int | None = None) -> Schema:
    """A list of such."""
    exact = {} if length is None else {"minItems": length, "maxItems": length}
    return {"type": "array", "items": item, **exact}


def record(properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """An object with these keys, all of them always there but the optional ones."""
    left_out = frozenset(optional)
    required = [name for name in properties if name not in left_out]
    return {"type": "object", "properties": properties, "required": required}


def table(value: Schema) -> Schema:
    """An object whose keys are data too."""
    return {"type": "object", "additionalProperties": value}


def envelope(data: Schema) -> Schema:
    """The structured result of one call: the data, where it came from, and the pictures that came with it."""
    return record({"data": data, "sources": many(TEXT), "images": many(IMAGE)})


def output_schema(name: str) -> Schema:
    """The schema of the structured result of a tool, by the tool's own name."""
    return envelope(_data_schemas().get(name, ANYTHING))


IMAGE = record(
    {
        "handle": TEXT,
        "photo": {**TEXT, "description": "the photo that the handle belongs to, where photos are opened by handle"},
        "width": WHOLE,
        "height": WHOLE,
        "box": {**many(WHOLE, 4), "description": "left, top, right, bottom of what it shows, in the original's pixels"},
    },
    optional=("photo",),
)
POINT = {"lat": NUMBER, "lon": NUMBER}
BOX = many(WHOLE, 4)


@cache
def _data_schemas() -> dict[str, Schema]:
    place = {
        "id": TEXT,
        "name": TEXT,
        "kind": TEXT,
        **POINT,
        "extent": table(NUMBER),
        "country": maybe(TEXT),
        "region": maybe(TEXT),
        "address": maybe(TEXT),
        "source": TEXT,
    }
    hit = record({**place, "score": NUMBER, "match": TEXT, "matched": TEXT, "distance_km": maybe(NUMBER)})
    hits = record({"results": many(hit)})
    group = record({**POINT, "spread_m": NUMBER, "score": NUMBER, "places": many(record(place))})
    picture = record({**POINT, "place": TEXT, "zoom": NUMBER, "extent": table(NUMBER), "attribution": TEXT})
    return {
        "image_zoom_in_tool": record(
            {"image": TEXT, "box_px": BOX, "box_in_original": BOX, "size": many(WHOLE, 2)},
        ),
        "read_text": record({"image": TEXT, "scale": TEXT, "lines": many(_line())}),
        "search_image": record({"image": TEXT, "results": many(_similar())}),
        "visual_prior": _visual(),
        "search_web": record({"query": TEXT, "results": many(_document())}),
        "maps_geocode": hits,
        "reverse_geocode": record(
            {
                **POINT,
                "country": maybe(TEXT),
                "country_name": maybe(TEXT),
                "region": maybe(TEXT),
                "address": maybe(TEXT),
                "places": many(hit),
            }
        ),
        "nearby": hits,
        "poi_input_tips": hits,
        "poi_keyword_search": hits,
        "poi_detail_query": record({**place, "details": table(ANYTHING)}),
        "find_colocated": record({"results": many(group)}),
        "find_crossing": hits,
        "static_map_query": picture,
        "satellite_map_query": picture,
        "country_facts": _country(),
        "brand_lookup": record({"results": many(_brand()), "shares": table(NUMBER)}),
        "text_clues": record({"together": _together(), "results": many(_clue())}),
        "sun_position": {"anyOf": [_sun_here(), _sun_anywhere()]},
        "range_fix": _ranges(),
        "note_hypothesis": record({"hypothesis": _hypothesis()}),
    }


def _line() -> Schema:
    return record({"text": TEXT, "script": TEXT, "confidence": NUMBER, "bbox_2d": BOX, "bbox_px": BOX, "engine": TEXT})


def _document() -> Schema:
    return record(
        {"id": TEXT, "title": TEXT, "snippet": TEXT, "url": maybe(TEXT), "score": maybe(NUMBER), "source": TEXT}
    )


def _similar() -> Schema:
    return record(
        {
            "title": TEXT,
            "score": maybe(NUMBER),
            "point": maybe(record(POINT)),
            "place": maybe(TEXT),
            "url": maybe(TEXT),
            "source": TEXT,
        }
    )


def _visual() -> Schema:
    cell = record({**POINT, "radius_km": NUMBER, "probability": NUMBER, "country": maybe(TEXT)})
    return record(
        {
            "image": TEXT,
            "looks_like": many(ANYTHING),
            "countries": table(NUMBER),
            "cells": many(cell),
            "reliability": NUMBER,
            "familiarity": maybe(NUMBER),
            "says": TEXT,
        }
    )


def _country() -> Schema:
    lists = ("languages", "calling_codes", "currencies", "internet_domains", "emergency_numbers", "neighbours")
    texts = ("capital", "driving_side", "speed_unit", "plates", "date_format")
    return record(
        {
            "code": TEXT,
            "name": TEXT,
            **{name: maybe(TEXT) for name in texts},
            **{name: many(TEXT) for name in lists},
            "postcodes": maybe(many(TEXT)),
            "population": maybe(NUMBER),
            "area_km2": maybe(NUMBER),
        }
    )


def _brand() -> Schema:
    return record(
        {
            "name": TEXT,
            "kinds": many(TEXT),
            "countries": maybe(many(TEXT)),
            "except_countries": many(TEXT),
            "match": TEXT,
            "matched": TEXT,
            "score": NUMBER,
        }
    )


def _spot() -> Schema:
    return record({"name": TEXT, **POINT, "radius_km": NUMBER, "share": NUMBER, "country": maybe(TEXT)})


def _together() -> Schema:
    return record({"places": many(_spot()), "countries": table(NUMBER)})


def _clue() -> Schema:
    return record(
        {
            "kind": TEXT,
            "seen": TEXT,
            "says": TEXT,
            "reliability": NUMBER,
            "countries": table(NUMBER),
            "spots": many(_spot()),
            "caution": maybe(TEXT),
        }
    )


def _sun_here() -> Schema:
    moment = record(
        {
            "time": TEXT,
            "azimuth_deg": NUMBER,
            "elevation_deg": NUMBER,
            "elevation_without_air_deg": NUMBER,
            "shadow_ratio": maybe(NUMBER),
            "shadow_direction_deg": maybe(NUMBER),
        }
    )
    day = record(
        {
            "kind": TEXT,
            "sunrise": maybe(TEXT),
            "noon": TEXT,
            "sunset": maybe(TEXT),
            "noon_elevation_deg": NUMBER,
        }
    )
    fit = record(
        {
            "fits": YES_NO,
            "sun_elevation_deg": maybe(NUMBER),
            "sun_azimuth_deg": maybe(NUMBER),
            "that_day": many(many(TEXT, 2)),
        }
    )
    return record(
        {"name": maybe(TEXT), **POINT, "clock": TEXT, "moments": many(moment), "day": day, "fit": fit},
        optional=("fit",),
    )


def _sun_anywhere() -> Schema:
    country = record(
        {
            "code": TEXT,
            "name": TEXT,
            "townspeople": NUMBER,
            "people_share": NUMBER,
            "land_share": NUMBER,
            "of_its_land": NUMBER,
        }
    )
    lines = record({"type": TEXT, "coordinates": many(many(many(NUMBER, 2)))})
    ring = record(
        {
            "time": TEXT,
            "subsolar": record(POINT),
            "radius_km": NUMBER,
            "centre_line": lines,
            "inner_edge": lines,
            "outer_edge": lines,
        }
    )
    return record(
        {
            "sun_elevation_deg": maybe(NUMBER),
            "sun_azimuth_deg": maybe(NUMBER),
            "tolerance_deg": NUMBER,
            "direction_tolerance_deg": NUMBER,
            "country": maybe(TEXT),
            "windows": many(many(TEXT, 2)),
            "rings": many(ring),
            "points": many(record({"time": TEXT, **POINT, "place": TEXT})),
            "land_km2": NUMBER,
            "countries": many(country),
        }
    )


def _ranges() -> Schema:
    candidate = record({"place": TEXT, "id": TEXT, **POINT})
    town = record(
        {
            "name": TEXT,
            "distance_km": NUMBER,
            "straight_km": many(NUMBER),
            "place": TEXT,
            "id": TEXT,
            **POINT,
            "country": maybe(TEXT),
            "candidates": many(candidate),
        }
    )
    fix = record(
        {
            **POINT,
            "radius_km": NUMBER,
            "place": TEXT,
            "share": NUMBER,
            "is_ring": YES_NO,
            "distances_km": many(NUMBER),
            "residuals_km": many(NUMBER),
        }
    )
    other = record({"towns": many(candidate), **POINT, "radius_km": NUMBER, "plausibility": NUMBER})
    return record(
        {
            "unit": TEXT,
            "along": TEXT,
            "conflict": NUMBER,
            "plausibility": NUMBER,
            "towns": many(town),
            "fixes": many(fix),
            "other_readings": many(other),
        }
    )


def _hypothesis() -> Schema:
    return record(
        {
            "place": TEXT,
            "point": maybe(record(POINT)),
            "radius_km": maybe(NUMBER),
            "country": maybe(TEXT),
            "confidence": NUMBER,
            "evidence_for": many(TEXT),
            "evidence_against": many(TEXT),
        }
    )
