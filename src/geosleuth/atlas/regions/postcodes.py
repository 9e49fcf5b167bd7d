"""Postcodes: where the addresses of a region have them, or others that begin alike.

No extract maps postcodes themselves, but addresses carry them. A code that no address has is looked for by its
beginning: codes that begin alike lie near each other in nearly every country.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from geosleuth.atlas.model import Hit, Place
from geosleuth.geo import Box, Extent, LatLon, distance_km

from .spots import source_of
from .store import OpenRegion, text_of

POSTCODE: Final = "postcode"
"""Kind of a place that is the ground of a postcode in a town."""

_CODE: Final = re.compile(r"(?=(?:\D*\d){2})[A-Z\d]{1,7}(?:[ -][A-Z\d]{1,4})?", re.ASCII)
_LEAST_CHARS: Final = 4
_BEGINS_ALIKE: Final = 0.7
"""What a code that begins alike is worth beside the code itself, at most."""

_ONE_GROUND_KM: Final = 20.0
_QUERY: Final = """
    SELECT code, coalesce(town, ''), coalesce(land, ''), count(*), avg(lat), avg(lon),
           min(lat), min(lon), max(lat), max(lon)
    FROM (
        SELECT json_extract(tags, '$."addr:postcode"') AS code, json_extract(tags, '$."addr:city"') AS town,
               json_extract(tags, '$."addr:country"') AS land, lat, lon
        FROM feature WHERE address IS NOT NULL
    ) WHERE code IS NOT NULL GROUP BY code, town, land
"""


@dataclass(frozen=True, slots=True)
class _Ground:
    """The addresses of one code, as far as they lie near each other."""

    key: str
    code: str
    town: str
    country: str | None
    point: LatLon
    extent: Box


def find_postcodes(region: OpenRegion, text: str, within: Extent | None) -> list[Hit]:
    """The towns that have a code, or else those whose codes share the longest beginning; none where it is no code."""
    code = " ".join(text.split()).upper()
    if not _CODE.fullmatch(code) or len(_key(code)) < _LEAST_CHARS:
        return []
    grounds = _grounds(region)
    key = _key(code)
    found = [Hit(_place(region, one), 1.0, "exact", one.code) for one in _beginning(grounds, key) if one.key == key]
    if not found:
        found = [Hit(_place(region, one), score, "fuzzy", one.code) for one, score in _alike(grounds, key)]
    return [hit for hit in found if within is None or within.contains(hit.place.point)]


def postcode_place(region: OpenRegion, number: str) -> Place | None:
    """The ground of a code by the last part of its id, None where there is none."""
    if not number.startswith(f"{POSTCODE}/"):
        return None
    return next((_place(region, one) for one in _grounds(region) if _number(one) == number), None)


def _alike(grounds: list[_Ground], key: str) -> Iterator[tuple[_Ground, float]]:
    """One ground of each town whose codes share the longest beginning, half of the code at least."""
    for shared in range(len(key) - 1, (len(key) - 1) // 2, -1):
        alike = [one for one in _beginning(grounds, key[:shared]) if len(one.key) == len(key)]
        if alike:
            towns = sorted(alike, key=lambda one: (one.country or "", one.town, one.key))
            for _, same in groupby(towns, key=lambda one: (one.country, one.town)):
                yield next(same), _BEGINS_ALIKE * shared / (len(key) - 1)
            return


def _beginning(grounds: list[_Ground], begins: str) -> Iterator[_Ground]:
    at = bisect_left(grounds, begins, key=lambda one: one.key)
    while at < len(grounds) and grounds[at].key.startswith(begins):
        yield grounds[at]
        at += 1


def _grounds(region: OpenRegion) -> list[_Ground]:
    """All codes of a region by their keys. It takes a look at every address, once."""
    known = region.memory.get("postcodes")
    if not isinstance(known, list):
        known = region.memory["postcodes"] = sorted(_merged(region.conn.execute(_QUERY)), key=_order)
    return known


def _merged(rows: Iterable[Sequence[Any]]) -> Iterator[_Ground]:
    """The most common town of each code, with what lies around it: many addresses leave out their town."""
    ranked = sorted(rows, key=lambda row: (_key(text_of(row[0])), not row[1], -row[3], row[1:3]))
    for key, same in groupby(ranked, key=lambda row: _key(text_of(row[0]))):
        kept: list[_Ground] = []
        for row in same:
            one = _ground(key, row)
            if all(distance_km(one.point, other.point) > _ONE_GROUND_KM for other in kept):
                kept.append(one)
        yield from kept


def _ground(key: str, row: Sequence[Any]) -> _Ground:
    code, town, country, _, lat, lon, *edges = row
    return _Ground(key, text_of(code), text_of(town), text_of(country).upper() or None, LatLon(lat, lon), Box(*edges))


def _order(one: _Ground) -> tuple[str, str, str]:
    return one.key, one.country or "", one.town


def _key(code: str) -> str:
    return re.sub(r"[\s-]", "", code).upper()


def _number(one: _Ground) -> str:
    return "/".join((POSTCODE, one.key, one.country or "", one.town))


def _place(region: OpenRegion, one: _Ground) -> Place:
    name = f"{one.code} {one.town}".strip()
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{_number(one)}",
        name=name,
        kind=POSTCODE,
        point=one.point,
        extent=one.extent,
        source=source_of(region),
        country=one.country,
    )
