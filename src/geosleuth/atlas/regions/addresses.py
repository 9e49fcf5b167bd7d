"""House numbers on streets, crossings of two streets, and postcodes.

No extract maps postcodes themselves, but addresses carry them. A code that no address has is looked for by its
beginning: codes that begin alike lie near each other in nearly every country.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.atlas.protocol import Hit, MatchKind, Place
from geosleuth.atlas.search import ATTRIBUTE, NameHit, is_same_name
from geosleuth.geo import Box, Extent, LatLon, distance_km, great_circle_km
from geosleuth.names import fold

from .feature_kinds import ADDRESS
from .geometry import E7
from .region_names import Reading, search_names
from .region_store import (
    OpenRegion,
    filter_of,
    grounds_of,
    place_of,
    places_of,
    rows_of,
    source_of,
    spots_of,
    tags_of,
    text_of,
)
from .tags import index_names

_FIRST: Final = re.compile(
    r"^\s*(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)[\s,]+(\S.*)$", re.IGNORECASE
)
_LAST: Final = re.compile(
    r"^\s*(\S.*?)[\s,]+(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)\s*$", re.IGNORECASE
)
_STREETS: Final = 12
_LEAST_SCORE: Final = 0.7
_MOST_HOUSES: Final = 20_000
_FITTED: Final = 200  # houses whose address is held against what follows the street
_UNFIT: Final = 0.08
_STREET_ALONE: Final = 0.9
"""What a street is worth where it has no such number; more than the street as a name that the number belongs to."""


def split_address(text: str) -> list[tuple[str, str, str]]:
    """Ways to read a text as (house number, street, the rest after the street), the likelier first."""
    readings = []
    parts = [part.strip() for part in text[:400].split(",")]
    if len(parts) > 1 and re.fullmatch(r"\d{1,5}\s?\w{0,6}", parts[0]):
        parts = [f"{parts[0]} {parts[1]}", *parts[2:]]  # "12, Rue Grimaldi"
    rest = ", ".join(parts[1:])
    first = _FIRST.match(parts[0])
    if first:
        readings.append((first[1], first[2], rest))
    last = _LAST.match(parts[0])
    if last:
        readings.append((last[2], last[1], rest))
    return readings


class LikeStreets:
    """Streets of names like a text, looked for in all regions at once when the first of them is asked about it."""

    def __init__(self, regions: Sequence[OpenRegion], reading: Reading) -> None:
        """Nothing is read yet."""
        self._regions, self._reading = regions, reading
        self._known: dict[tuple[str, int], dict[str, list[NameHit]]] = {}

    def of(self, region: OpenRegion, text: str, limit: int) -> list[NameHit]:
        """Those of one region, best first."""
        known = self._known.get((text, limit))
        if known is None:
            keeps = []
            for number, one in enumerate(self._regions):
                with self._reading(number):
                    keeps.append(filter_of(one, None, streets=True))
            indexes = [one.index for one in self._regions]
            most = limit * min(len(indexes), _REGIONS_ALIKE)
            known = self._known[text, limit] = {}
            for number, hit in search_names(indexes, text, limit=most, keeps=keeps, reading=self._reading):
                known.setdefault(self._regions[number].info.name, []).append(hit)
        return known.get(region.info.name, [])


_REGIONS_ALIKE: Final = 3


def find_addresses(region: OpenRegion, text: str, within: Extent | None, like: LikeStreets, limit: int) -> list[Hit]:
    """House numbers that fit; where the street is there but not the number, the street, with a lower score."""
    hits: list[Hit] = []
    for number, street, rest in split_address(text):
        house, spelled = _House(fold(number).replace(" ", ""), rest, within, limit), fold(street)
        if houses := _houses(region, spelled, house, 1.0):
            hits.extend(houses)  # the very address: nothing that is spelled otherwise comes before it
            continue
        streets: dict[str, float] = {}
        owners: list[tuple[int, float]] = []
        for found in like.of(region, street, _STREETS):
            if found.score >= _LEAST_SCORE and (found.score == 1.0 or is_same_name(street, found.text)):
                owners.append((found.owner, found.score))
                for name in (found.text, *_names(region, found.owner)):
                    streets.setdefault(fold(name), found.score)
        for key, score in streets.items():
            hits.extend(_houses(region, key, house, score))
        if not hits and owners:
            rows_by_id = rows_of(region, [owner for owner, _ in owners])
            hits.extend(
                Hit(
                    place_of(region, rows_by_id[owner]),
                    _STREET_ALONE * score,
                    "part",
                    text_of(rows_by_id[owner][2]),
                    missing=(number,),
                )
                for owner, score in owners
                if owner in rows_by_id
            )
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def exact_addresses(region: OpenRegion, text: str, within: Extent | None, limit: int) -> list[Hit]:
    """House numbers in streets of that very name, or that have it beside another one."""
    hits: list[Hit] = []
    for number, street, rest in split_address(text):
        house, spelled = _House(fold(number).replace(" ", ""), rest, within, limit), fold(street)
        found = _houses(region, spelled, house, 1.0)
        if not found:
            owners = [hit.owner for hit in region.index.exact(street) if hit.role < ATTRIBUTE][:_STREETS]
            others = {fold(name) for owner in owners for name in _names(region, owner)} - {spelled}
            found = [hit for key in others for hit in _houses(region, key, house, 1.0)]
        hits.extend(found)
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


@dataclass(frozen=True, slots=True)
class _House:
    """A house number that is looked for."""

    number: str
    rest: str  # what follows the street
    within: Extent | None
    limit: int


def _houses(region: OpenRegion, street: str, wanted: _House, score: float) -> list[Hit]:
    """Houses of that number in streets of a name, as many as asked for; a country may have thousands."""
    query = "SELECT feature FROM address WHERE street_key = ? AND number = ? LIMIT ?"
    found = region.conn.execute(query, (street, wanted.number, _MOST_HOUSES)).fetchall()
    ids = np.array([feature for (feature,) in found], dtype=np.int64)
    most = max(wanted.limit, _FITTED) if wanted.rest else wanted.limit
    if len(ids) > most and (keep := filter_of(region, wanted.within)):
        ids = ids[keep(ids)]
    if len(ids) > most:  # the house itself before the shops in it
        plain = np.array([kind == ADDRESS for kind in region.kinds])[spots_of(region, ids)[2]]
        ids = np.concatenate([ids[plain], ids[~plain]])
    places = places_of(region, list(rows_of(region, ids[:most].tolist()).values()))
    match: MatchKind = "exact" if score == 1.0 else "fuzzy"
    return [
        Hit(place, fitted(score, address_fit(wanted.rest, place)), match, place.address or place.name)
        for place in places
    ]


def _names(region: OpenRegion, owner: int) -> list[str]:
    return [name for name, role in index_names(tags_of(region, owner)) if role < ATTRIBUTE]


def address_fit(rest: str, place: Place) -> float:
    """How much of what follows the street or the name is in a place's address: street, town, postcode."""
    wanted = set(fold(rest).split())
    return len(wanted & set(fold(place.address or "").split())) / len(wanted) if wanted else 1.0


def fitted(score: float, fit: float) -> float:
    """A score less what does not fit: half a fit counts for more than fame, so that the one that is meant is first."""
    return score * (1 - _UNFIT + _UNFIT * fit)


_CUT_BELOW_BEST: Final = 0.12
_CROSSING_STREETS: Final = 60
METRES_A_DEGREE: Final = 111_195.0
_SAME_CORNER_M: Final = 40.0
_NEARLY_MEET_M: Final = 60.0
_BETWEEN: Final = re.compile(r"\s+(?:and|et|und|y|e|ja|x|near|corner of)\s+|\s*[&/×@+]\s*", re.IGNORECASE)
_PAIRS: Final = 30


class Street(NamedTuple):
    """A street's name: how well it fits, how, and the rows of the features that bear it."""

    score: float
    match: MatchKind
    rows: list[tuple[Any, ...]]


_MATCHES: Final[dict[str, int]] = {"exact": 0, "alias": 1, "fuzzy": 2}


def split_crossing(text: str) -> tuple[str, str] | None:
    """The two streets of "A and B", "A & B", "A / B", "A et B", "corner of A and B"; None where it is no such text."""
    text = re.sub(
        r"^\s*(?:the\s+)?(?:corner|crossing|intersection|angle|junction)\s+(?:of|de)\s+", "", text, flags=re.IGNORECASE
    )
    parts = [part.strip(" ,") for part in _BETWEEN.split(text) if part.strip(" ,")]
    return (parts[0], parts[1].split(",")[0]) if len(parts) == 2 else None


def find_crossings(
    region: OpenRegion, names: tuple[str, str], within: Extent | None, like: LikeStreets, limit: int
) -> list[Hit]:
    """Junctions of streets that fit the two names, one hit per corner; where none share a node, close approaches."""
    if found := named_crossings(region, names, within, limit):
        return found
    one, two = (_streets(region, name, like) for name in names)
    if not one or not two:
        return []
    return _corners(_meetings(region, one, two, within), limit) or _approaches(region, one, two, within)


def named_crossings(region: OpenRegion, names: tuple[str, str], within: Extent | None, limit: int) -> list[Hit]:
    """Junctions of streets of these very names, one hit per corner."""
    one, two = ({fold(name): Street(1.0, "exact", [])} for name in names)
    return _corners(_meetings(region, one, two, within), limit)


def _meetings(
    region: OpenRegion, one: "Mapping[str, Street]", two: "Mapping[str, Street]", within: Extent | None
) -> Iterator[Hit]:
    """The nodes that streets share, those that fit best first."""
    firsts, seconds = _junctions_of(region, one), _junctions_of(region, two)
    pairs: dict[int, tuple[str, str]] = {}
    for key, nodes in firsts.items():
        for other, others in seconds.items():
            if key == other:
                continue
            for node in np.intersect1d(nodes, others, assume_unique=True).tolist():
                known = pairs.get(node)
                if known is None or one[key].score * two[other].score > one[known[0]].score * two[known[1]].score:
                    pairs[node] = (key, other)
    best = sorted(pairs.items(), key=lambda pair: (-one[pair[1][0]].score * two[pair[1][1]].score, pair[0]))
    for node, (key, other) in best:
        at = region.conn.execute("SELECT lat, lon, streets FROM junction WHERE id = ?", (node,)).fetchone()
        called = {fold(street): street for street in text_of(at[2]).split("\n")}
        streets = (called.get(key, key), called.get(other, other))
        point = LatLon(at[0] / E7, at[1] / E7)
        if within is None or within.contains(point):
            yield _hit(region, f"n{node}", point, streets, one[key], two[other])


def _junctions_of(region: OpenRegion, streets: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    rows = rows_with(region.conn, "SELECT street_key, junctions FROM junction_street WHERE street_key", list(streets))
    return {key: np.frombuffer(nodes, dtype="<i8") for key, nodes in rows}


def junction_place(region: OpenRegion, osm: str) -> Place | None:
    """A crossing by its node's id."""
    if not re.fullmatch(r"n\d{1,18}", osm):
        return None
    number = int(osm[1:])
    at = region.conn.execute("SELECT lat, lon, streets FROM junction WHERE id = ?", (number,)).fetchone()
    if at is None:
        return None
    return _place(region, osm, LatLon(at[0] / E7, at[1] / E7), text_of(at[2]).split("\n"))


def _streets(region: OpenRegion, text: str, like: LikeStreets) -> dict[str, Street]:
    """Street keys that fit a name; one key may belong to several streets in several towns."""
    found = like.of(region, text, _CROSSING_STREETS)
    if not found:
        return {}
    least = max(_LEAST_SCORE, found[0].score - _CUT_BELOW_BEST)
    rows = rows_of(region, [hit.owner for hit in found])
    streets: dict[str, Street] = {}
    for hit in found:
        if hit.score >= least and hit.owner in rows:
            known = streets.setdefault(fold(rows[hit.owner][2]), Street(hit.score, hit.match, []))
            known.rows.append(rows[hit.owner])
    return streets


def _hit(
    region: OpenRegion,
    osm: str,
    point: LatLon,
    streets: tuple[str, str],
    one: Street,
    two: Street,
) -> Hit:
    match = max(one.match, two.match, key=lambda kind: _MATCHES[kind])
    place = _place(region, osm, point, streets)
    return Hit(place, one.score * two.score, match, place.name)


def _place(region: OpenRegion, osm: str, point: LatLon, streets: Any) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{osm}",
        name=" / ".join(streets),
        kind="crossing",
        point=point,
        extent=Box(point.lat, point.lon, point.lat, point.lon),
        source=source_of(region),
    )


def _corners(hits: Iterator[Hit], limit: int) -> list[Hit]:
    """The first hits; a crossing of wide roads has several nodes, and one of them is enough."""
    kept: dict[frozenset[str], list[LatLon]] = {}
    corners: list[Hit] = []
    for hit in hits:
        at = hit.place.point
        same = kept.setdefault(frozenset(hit.place.name.split(" / ")), [])
        squeeze = math.cos(math.radians(at.lat))
        steps = [(known.lat - at.lat, (known.lon - at.lon) * squeeze) for known in same]
        if all(math.hypot(*step) * METRES_A_DEGREE > _SAME_CORNER_M for step in steps):
            same.append(at)
            corners.append(hit)
            if len(corners) >= limit:
                break
    return corners


def _approaches(region: OpenRegion, one: dict[str, Street], two: dict[str, Street], within: Extent | None) -> list[Hit]:
    """A roundabout or a nameless slip road may lie between two streets that people say meet."""
    hits = []
    pairs = [
        (first_score * second_score, first, second)
        for first_key, (first_score, _, firsts) in one.items()
        for second_key, (second_score, _, seconds) in two.items()
        if first_key != second_key
        for first in firsts
        for second in seconds
        if _boxes_near(first, second)
    ]
    for score, first, second in sorted(pairs, key=lambda pair: -pair[0])[:_PAIRS]:
        found = _closest(region, first[0], second[0])
        if found is None or (within is not None and not within.contains(found[0])):
            continue
        point, gap_m = found
        place = _place(region, f"{first[1]}+{second[1]}", point, (first[2], second[2]))
        hits.append(Hit(place, score * (0.85 - 0.25 * gap_m / _NEARLY_MEET_M), "near", place.name))
    return hits


def _boxes_near(first: Sequence[Any], second: Sequence[Any]) -> bool:
    a, b = Box(*first[6:10]), Box(*second[6:10])
    return a.distance_km(b) * 1000 <= _NEARLY_MEET_M


def _closest(region: OpenRegion, first: int, second: int) -> tuple[LatLon, float] | None:
    lines = []
    for street in (first, second):
        geoms = [geom for (geom,) in region.conn.execute("SELECT geom FROM ground WHERE feature = ?", (street,))]
        if not geoms:
            return None
        lines.append(grounds_of(geoms)[0])
    squeeze = float(np.cos(np.radians(shapely.get_coordinates(lines[0])[0][1])))
    flat = [shapely.transform(line, lambda xy: xy * [squeeze, 1.0]) for line in lines]
    (x1, y1), (x2, y2) = shapely.get_coordinates(shapely.shortest_line(*flat))
    gap_m = great_circle_km(y1, x1 / squeeze, y2, x2 / squeeze) * 1000
    if gap_m > _NEARLY_MEET_M:
        return None
    return LatLon(float(y1 + y2) / 2, float(x1 + x2) / 2 / squeeze), float(gap_m)


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
    return next((_postcodes_place(region, one) for one in grounds if _number(one) == number), None)


def _hits(region: OpenRegion, text: str) -> list[Hit]:
    code = " ".join(text.split()).upper().lstrip("〒 ")
    keys = list(dict.fromkeys((_key(code), _key(_BEFORE.sub("", code)))))
    if not _CODE.fullmatch(code) or len(keys[-1]) < _LEAST_CHARS:
        return []
    for key in keys:
        if exact := list(_grounds(region, "key = ?", (key,))):
            return [Hit(_postcodes_place(region, one), 1.0, "exact", one.code) for one in exact]
    return [Hit(_postcodes_place(region, one), score, "fuzzy", one.code) for one, score in _alike(region, keys[-1])]


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


def _postcodes_place(region: OpenRegion, one: _Ground) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{_number(one)}",
        name=f"{one.code} {one.town}".strip(),
        kind=POSTCODE,
        point=one.point,
        extent=one.extent,
        source=source_of(region),
        country=one.country if re.fullmatch("[A-Z]{2}", one.country) else None,
    )
