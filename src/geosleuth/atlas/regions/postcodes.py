"""Postcodes: where the addresses of a region have them, or others that begin alike.

No extract maps postcodes themselves, but addresses carry them. A code that no address has is looked for by its
beginning: codes that begin alike lie near each other in nearly every country.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from geosleuth.atlas.model import Hit, Place
from geosleuth.geo import Box, Extent, LatLon, distance_km
from geosleuth.names import fold

from .spots import source_of
from .store import OpenRegion, text_of

POSTCODE: Final = "postcode"
"""Kind of a place that is the ground of a postcode in a town."""

_CODE: Final = re.compile(r"(?=(?:\D*\d){2})(?!.*[A-Z]{4})[A-Z\d]{1,7}(?:[ -][A-Z\d]{1,5})?", re.ASCII)
_WITH_TOWN: Final = re.compile(r"\s*(\S*\d\S*(?:\s\S*\d\S*)?)\s+([^\d,]+?)\s*")
_BEFORE: Final = re.compile(r"[A-Z]{1,3}[ -](?=\d)")
"""A country or state before the code: "MC-98000", "CA 90210"."""

_LEAST_CHARS: Final = 4
_BEGINS_ALIKE: Final = 0.7
"""What a code that begins alike is worth beside the code itself, at most."""

_ONE_GROUND_KM: Final = 20.0
_MISTAGGED: Final = 0.02
"""A ground with a smaller share of the addresses that another ground of its code has is somebody's slip."""

_COLUMNS: Final = "key, code, town, country, addresses, lat, lon, south, west, north, east"
_MOST_ROWS: Final = 2000


@dataclass(frozen=True, slots=True)
class _Ground:
    """The addresses of one code, as far as they lie near each other."""

    key: str
    code: str
    town: str
    country: str
    addresses: int
    point: LatLon
    extent: Box


def find_postcodes(region: OpenRegion, text: str, within: Extent | None) -> list[Hit]:
    """The towns that have a code, or else those whose codes share the longest beginning; none where it is no code.

    "98000 Monaco" and "MC-98000" are read, too; a town beside the code must be the town.
    """
    found = _hits(region, text)
    if not found and (beside := _WITH_TOWN.fullmatch(text)):
        wanted = fold(beside[2])
        found = [hit for hit in _hits(region, beside[1]) if wanted in fold(hit.place.name)]
    return [hit for hit in found if within is None or within.contains(hit.place.point)]


def postcode_place(region: OpenRegion, number: str) -> Place | None:
    """The ground of a code by the last part of its id, None where there is none."""
    kind, _, rest = number.partition("/")
    grounds = _grounds(region, "key = ?", (rest.partition("/")[0],)) if kind == POSTCODE else ()
    return next((_place(region, one) for one in grounds if _number(one) == number), None)


def _hits(region: OpenRegion, text: str) -> list[Hit]:
    code = " ".join(text.split()).upper().lstrip("〒 ")
    keys = list(dict.fromkeys((_key(code), _key(_BEFORE.sub("", code)))))
    if not _CODE.fullmatch(code) or len(keys[-1]) < _LEAST_CHARS:
        return []
    for key in keys:
        if exact := list(_grounds(region, "key = ?", (key,))):
            return [Hit(_place(region, one), 1.0, "exact", one.code) for one in exact]
    return [Hit(_place(region, one), score, "fuzzy", one.code) for one, score in _alike(region, keys[-1])]


def _alike(region: OpenRegion, key: str) -> Iterator[tuple[_Ground, float]]:
    """One ground of each town whose codes share the longest beginning, half of the code at least."""
    for shared in range(len(key) - 1, (len(key) - 1) // 2, -1):
        begins = key[:shared]
        alike = _grounds(region, "key > ? AND key < ? AND length(key) = ?", (begins, f"{begins}\uffff", len(key)))
        towns = sorted(alike, key=lambda one: (one.country, one.town, one.key))
        for _, same in groupby(towns, key=lambda one: (one.country, one.town)):
            yield next(same), _BEGINS_ALIKE * shared / (len(key) - 1)
        if towns:
            return


def _grounds(region: OpenRegion, where: str, values: Sequence[Any]) -> Iterator[_Ground]:
    """The grounds of some codes. Addresses without their town count to the town that lies around them."""
    query = f"SELECT {_COLUMNS} FROM postcode WHERE {where} ORDER BY key LIMIT {_MOST_ROWS}"  # noqa: S608
    found = [_ground(row) for row in region.conn.execute(query, values)]
    for _, same in groupby(found, key=lambda one: one.key):
        kept: list[_Ground] = []
        for one in sorted(same, key=lambda one: (not one.town, -one.addresses, one.country, one.town, one.point)):
            at = next((at for at, other in enumerate(kept) if _is_near(one, other)), None)
            if at is None:
                kept.append(one)
            else:
                kept[at] = _joined(kept[at], one)
        most = max(one.addresses for one in kept)
        yield from (one for one in kept if one.addresses >= _MISTAGGED * most)


def _ground(row: Sequence[Any]) -> _Ground:
    key, code, town, country = map(text_of, row[:4])
    return _Ground(key, code, town, country, int(row[4]), LatLon(row[5], row[6]), Box(*row[7:]))


def _is_near(one: _Ground, other: _Ground) -> bool:
    return distance_km(one.point, other.point) <= _ONE_GROUND_KM and not (
        one.country and other.country and one.country != other.country
    )


def _joined(kept: _Ground, one: _Ground) -> _Ground:
    """A ground with the addresses of another; its point stays where most of them are."""
    a, b = kept.extent, one.extent
    extent = a
    if abs(kept.point.lon - one.point.lon) < 180:  # not across the antimeridian, where boxes turn around
        extent = Box(min(a.south, b.south), min(a.west, b.west), max(a.north, b.north), max(a.east, b.east))
    return replace(kept, addresses=kept.addresses + one.addresses, extent=extent, country=kept.country or one.country)


def _key(code: str) -> str:
    return re.sub(r"[\s-]", "", code)


def _number(one: _Ground) -> str:
    return "/".join((POSTCODE, one.key, one.country, one.town, f"{one.point.lat:.1f},{one.point.lon:.1f}"))


def _place(region: OpenRegion, one: _Ground) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{_number(one)}",
        name=f"{one.code} {one.town}".strip(),
        kind=POSTCODE,
        point=one.point,
        extent=one.extent,
        source=source_of(region),
        country=one.country if re.fullmatch("[A-Z]{2}", one.country) else None,
    )
