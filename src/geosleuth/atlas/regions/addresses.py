"""Geocode house numbers, street crossings and postcodes in one region.

- House numbers: a text such as "12 Rue Grimaldi" is split into number and street, and looked up in table ``address``.
- Crossings: the junctions of two streets are intersected; where they share none, streets that nearly meet count.
- Postcodes: extracts have no postcode areas, so these are collected from addresses. For an unknown code, the codes
  with the longest common prefix are returned: in nearly every country they are neighbours.
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

from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.atlas.protocol import Hit, MatchKind, Place
from geosleuth.atlas.search import ATTRIBUTE, NameHit, is_same_name
from geosleuth.geo import Box, Extent, LatLon, distance_km, great_circle_km
from geosleuth.names import fold

from .feature_kinds import ADDRESS
from .geometry import E7
from .region_names import Reading, search_names
from .region_store import (
    OpenRegion,
    build_filter,
    build_place,
    build_places,
    convert_text,
    get_source,
    read_feature_rows,
    read_spots,
    read_tags,
    unpack_grounds,
)
from .tags import index_names

_NUMBER_FIRST: Final = re.compile(
    r"^\s*(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)[\s,]+(\S.*)$", re.IGNORECASE
)
_NUMBER_LAST: Final = re.compile(
    r"^\s*(\S.*?)[\s,]+(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)\s*$", re.IGNORECASE
)
_MAX_STREETS: Final = 12
_MIN_SCORE: Final = 0.7
_MAX_HOUSES: Final = 20_000
_MAX_COMPARED: Final = 200  # houses whose address is compared with the rest of the text
_MISFIT_PENALTY: Final = 0.08
# Score of a street without the wanted house number; above that of a feature whose name includes the number.
_STREET_ONLY_SCORE: Final = 0.9

_REGIONS_WITH_HITS: Final = 3  # a street name is expected to occur in at most this many regions
_MAX_BELOW_BEST: Final = 0.12
_MAX_CROSSING_STREETS: Final = 60
METRES_PER_DEGREE: Final = 111_195.0  # of latitude
_SAME_CORNER_M: Final = 40.0
_NEARLY_MEET_M: Final = 60.0
_CROSSING_SEPARATOR: Final = re.compile(r"\s+(?:and|et|und|y|e|ja|x|near|corner of)\s+|\s*[&/×@+]\s*", re.IGNORECASE)
_MAX_PAIRS: Final = 30
_MATCH_ORDER: Final[dict[str, int]] = {"exact": 0, "alias": 1, "fuzzy": 2}
# Kind of place: the area of a postcode within a town.
POSTCODE: Final = "postcode"
_CODE: Final = re.compile(r"(?=(?:\D*\d){2})(?!.*[A-Z]{4})[A-Z\d]{1,7}(?:[ -][A-Z\d]{1,5})?", re.ASCII)
_WITH_TOWN: Final = re.compile(r"\s*(\S*\d\S*(?:\s\S*\d\S*)?)\s+([^\d,]+?)\s*")
# Country or state before the postcode: "MC-98000", "CA 90210".
_COUNTRY_PREFIX: Final = re.compile(r"[A-Z]{1,3}[ -](?=\d)")
_MIN_CHARS: Final = 4
# Maximum score of a postcode that only shares a prefix with the wanted one.
_MAX_PREFIX_SCORE: Final = 0.7
_SAME_AREA_KM: Final = 20.0
# An area is a tagging mistake if it has less than this share of the addresses of its postcode's largest area.
_MISTAGGED_SHARE: Final = 0.02
_COLUMNS: Final = "key, code, town, country, addresses, lat, lon, south, west, north, east"
_MAX_ROWS: Final = 2000


def split_address(text: str) -> list[tuple[str, str, str]]:
    """Return the ways to read a text as (house number, street, rest after the street), the most likely first."""
    readings = []
    parts = [part.strip() for part in text[:400].split(",")]
    if len(parts) > 1 and re.fullmatch(r"\d{1,5}\s?\w{0,6}", parts[0]):
        parts = [f"{parts[0]} {parts[1]}", *parts[2:]]  # "12, Rue Grimaldi"
    rest = ", ".join(parts[1:])
    first = _NUMBER_FIRST.match(parts[0])
    if first:
        readings.append((first[1], first[2], rest))
    last = _NUMBER_LAST.match(parts[0])
    if last:
        readings.append((last[2], last[1], rest))
    return readings


class SimilarStreets:
    """Fuzzy search for streets, region by region. The first call for a text searches all regions at once."""

    def __init__(self, regions: Sequence[OpenRegion], reading: Reading) -> None:
        """Prepare the search; nothing is read yet."""
        self._regions, self._reading = regions, reading
        self._searches: dict[tuple[str, int], dict[str, list[NameHit]]] = {}

    def find(self, region: OpenRegion, text: str, limit: int) -> list[NameHit]:
        """Return the streets of a region whose name resembles a text, best first."""
        hits_by_region = self._searches.get((text, limit))
        if hits_by_region is None:
            keeps = []
            for number, searched in enumerate(self._regions):
                with self._reading(number):
                    keeps.append(build_filter(searched, None, streets=True))
            indexes = [searched.index for searched in self._regions]
            total_limit = limit * min(len(indexes), _REGIONS_WITH_HITS)
            hits_by_region = self._searches[text, limit] = {}
            for number, hit in search_names(indexes, text, limit=total_limit, keeps=keeps, reading=self._reading):
                hits_by_region.setdefault(self._regions[number].info.name, []).append(hit)
        return hits_by_region.get(region.info.name, [])


def find_addresses(
    region: OpenRegion, text: str, within: Extent | None, similar: SimilarStreets, limit: int
) -> list[Hit]:
    """Return matching house numbers; where a street lacks the number, the street itself with a lower score."""
    hits: list[Hit] = []
    for number, street, rest in split_address(text):
        house, street_key = _HouseQuery(fold(number).replace(" ", ""), rest, within, limit), fold(street)
        if houses := _find_houses(region, street_key, house, 1.0):
            hits.extend(houses)  # an exact match: no need to look for similar streets
            continue
        streets: dict[str, float] = {}
        owners: list[tuple[int, float]] = []
        for found in similar.find(region, street, _MAX_STREETS):
            if found.score >= _MIN_SCORE and (found.score == 1.0 or is_same_name(street, found.text)):
                owners.append((found.owner, found.score))
                for name in (found.text, *_read_feature_names(region, found.owner)):
                    streets.setdefault(fold(name), found.score)
        for key, score in streets.items():
            hits.extend(_find_houses(region, key, house, score))
        if not hits and owners:
            rows_by_id = read_feature_rows(region, [owner for owner, _ in owners])
            hits.extend(
                Hit(
                    build_place(region, rows_by_id[owner]),
                    _STREET_ONLY_SCORE * score,
                    "part",
                    convert_text(rows_by_id[owner][2]),
                    missing=(number,),
                )
                for owner, score in owners
                if owner in rows_by_id
            )
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def exact_addresses(region: OpenRegion, text: str, within: Extent | None, limit: int) -> list[Hit]:
    """Return house numbers in streets of exactly that name, their main one or an alternative."""
    hits: list[Hit] = []
    for number, street, rest in split_address(text):
        house, street_key = _HouseQuery(fold(number).replace(" ", ""), rest, within, limit), fold(street)
        found = _find_houses(region, street_key, house, 1.0)
        if not found:
            owners = [hit.owner for hit in region.index.exact(street) if hit.role < ATTRIBUTE][:_MAX_STREETS]
            other_keys = {fold(name) for owner in owners for name in _read_feature_names(region, owner)} - {street_key}
            found = [hit for key in other_keys for hit in _find_houses(region, key, house, 1.0)]
        hits.extend(found)
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


@dataclass(frozen=True, slots=True)
class _HouseQuery:
    """A house number to look up, with the rest of the query."""

    number: str
    rest: str  # the text after the street: town, postcode
    within: Extent | None
    limit: int


def _find_houses(region: OpenRegion, street_key: str, wanted: _HouseQuery, score: float) -> list[Hit]:
    """Return houses with a number in streets of a name, up to the limit; a country may have thousands."""
    query = "SELECT feature FROM address WHERE street_key = ? AND number = ? LIMIT ?"
    found = region.conn.execute(query, (street_key, wanted.number, _MAX_HOUSES)).fetchall()
    ids = np.array([feature for (feature,) in found], dtype=np.int64)
    most = max(wanted.limit, _MAX_COMPARED) if wanted.rest else wanted.limit
    if len(ids) > most and (keep := build_filter(region, wanted.within)):
        ids = ids[keep(ids)]
    if len(ids) > most:  # the house itself first, then the shops in it
        plain = np.array([kind == ADDRESS for kind in region.kinds])[read_spots(region, ids)[2]]
        ids = np.concatenate([ids[plain], ids[~plain]])
    places = build_places(region, list(read_feature_rows(region, ids[:most].tolist()).values()))
    match: MatchKind = "exact" if score == 1.0 else "fuzzy"
    return [
        Hit(place, score_with_fit(score, address_fit(wanted.rest, place)), match, place.address or place.name)
        for place in places
    ]


def _read_feature_names(region: OpenRegion, owner: int) -> list[str]:
    """Return all names of a feature, without phone numbers and other attributes."""
    return [name for name, role in index_names(read_tags(region, owner)) if role < ATTRIBUTE]


def address_fit(rest: str, place: Place) -> float:
    """Return the share (0 to 1) of the words in ``rest`` that occur in the place's address."""
    wanted = set(fold(rest).split())
    return len(wanted & set(fold(place.address or "").split())) / len(wanted) if wanted else 1.0


def score_with_fit(score: float, fit: float) -> float:
    """Lower a score by how badly the address fits; half a misfit outweighs the bonus for well-known features."""
    return score * (1 - _MISFIT_PENALTY + _MISFIT_PENALTY * fit)


class StreetMatch(NamedTuple):
    """Match of a street's name: its score, its kind, and the feature rows of that name."""

    score: float
    match: MatchKind
    rows: list[tuple[Any, ...]]


def split_crossing(text: str) -> tuple[str, str] | None:
    """Return the two streets of "A and B", "A & B", "A / B", "A et B" or "corner of A and B"; None for other texts."""
    text = re.sub(
        r"^\s*(?:the\s+)?(?:corner|crossing|intersection|angle|junction)\s+(?:of|de)\s+", "", text, flags=re.IGNORECASE
    )
    parts = [part.strip(" ,") for part in _CROSSING_SEPARATOR.split(text) if part.strip(" ,")]
    return (parts[0], parts[1].split(",")[0]) if len(parts) == 2 else None


def find_crossings(
    region: OpenRegion, names: tuple[str, str], within: Extent | None, similar: SimilarStreets, limit: int
) -> list[Hit]:
    """Return junctions of streets that match two names, one hit per corner; without any, points where they nearly meet.

    Streets of exactly these names are tried first.
    """
    if found := find_named_crossings(region, names, within, limit):
        return found
    item, two = (_similar_streets(region, name, similar) for name in names)
    if not item or not two:
        return []
    return _corners(_find_shared_junctions(region, item, two, within), limit) or _near_misses(region, item, two, within)


def find_named_crossings(region: OpenRegion, names: tuple[str, str], within: Extent | None, limit: int) -> list[Hit]:
    """Return junctions of streets of exactly these names, one hit per corner."""
    item, two = ({fold(name): StreetMatch(1.0, "exact", [])} for name in names)
    return _corners(_find_shared_junctions(region, item, two, within), limit)


def _find_shared_junctions(
    region: OpenRegion, mapping: "Mapping[str, StreetMatch]", two: "Mapping[str, StreetMatch]", within: Extent | None
) -> Iterator[Hit]:
    """Yield the junctions that two sets of streets (by folded name) share, best match first."""
    firsts, seconds = _read_junctions(region, mapping), _read_junctions(region, two)
    best_pairs: dict[int, tuple[str, str]] = {}  # by node
    for key, nodes in firsts.items():
        for other, other_nodes in seconds.items():
            if key == other:
                continue
            for node in np.intersect1d(nodes, other_nodes, assume_unique=True).tolist():
                best = best_pairs.get(node)
                if best is None or mapping[key].score * two[other].score > mapping[best[0]].score * two[best[1]].score:
                    best_pairs[node] = (key, other)
    ranked = sorted(best_pairs.items(), key=lambda pair: (-mapping[pair[1][0]].score * two[pair[1][1]].score, pair[0]))
    for node, (key, other) in ranked:
        row = region.conn.execute("SELECT lat, lon, streets FROM junction WHERE id = ?", (node,)).fetchone()
        name_of = {fold(street): street for street in convert_text(row[2]).split("\n")}
        streets = (name_of.get(key, key), name_of.get(other, other))
        point = LatLon(row[0] / E7, row[1] / E7)
        if within is None or within.contains(point):
            yield _crossing_hit(region, f"n{node}", point, streets, mapping[key], two[other])


def _read_junctions(region: OpenRegion, streets: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    """Return the node ids of the junctions of each street, by folded name."""
    rows = select_rows(region.conn, "SELECT street_key, junctions FROM junction_street WHERE street_key", list(streets))
    return {key: np.frombuffer(nodes, dtype="<i8") for key, nodes in rows}


def junction_place(region: OpenRegion, osm: str) -> Place | None:
    """Return the crossing at a node ("n123"), or None."""
    if not re.fullmatch(r"n\d{1,18}", osm):
        return None
    number = int(osm[1:])
    row = region.conn.execute("SELECT lat, lon, streets FROM junction WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    return _crossing_place(region, osm, LatLon(row[0] / E7, row[1] / E7), convert_text(row[2]).split("\n"))


def _similar_streets(region: OpenRegion, text: str, similar: SimilarStreets) -> dict[str, StreetMatch]:
    """Return the streets whose name resembles a text, by folded name; several towns may share a name."""
    found = similar.find(region, text, _MAX_CROSSING_STREETS)
    if not found:
        return {}
    min_score = max(_MIN_SCORE, found[0].score - _MAX_BELOW_BEST)
    rows = read_feature_rows(region, [hit.owner for hit in found])
    streets: dict[str, StreetMatch] = {}
    for hit in found:
        if hit.score >= min_score and hit.owner in rows:
            street = streets.setdefault(fold(rows[hit.owner][2]), StreetMatch(hit.score, hit.match, []))
            street.rows.append(rows[hit.owner])
    return streets


def _crossing_hit(
    region: OpenRegion,
    osm: str,
    point: LatLon,
    streets: tuple[str, str],
    street_match: StreetMatch,
    two: StreetMatch,
) -> Hit:
    match = max(street_match.match, two.match, key=lambda kind: _MATCH_ORDER[kind])
    place = _crossing_place(region, osm, point, streets)
    return Hit(place, street_match.score * two.score, match, place.name)


def _crossing_place(region: OpenRegion, osm: str, point: LatLon, streets: Any) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{osm}",
        name=" / ".join(streets),
        kind="crossing",
        point=point,
        extent=Box(point.lat, point.lon, point.lat, point.lon),
        source=get_source(region),
    )


def _corners(hits: Iterator[Hit], limit: int) -> list[Hit]:
    """Return the first hits, one per corner: a crossing of wide roads has several junctions."""
    kept: dict[frozenset[str], list[LatLon]] = {}
    corners: list[Hit] = []
    for hit in hits:
        at = hit.place.point
        same_streets = kept.setdefault(frozenset(hit.place.name.split(" / ")), [])
        lon_scale = math.cos(math.radians(at.lat))
        offsets_deg = [(corner.lat - at.lat, (corner.lon - at.lon) * lon_scale) for corner in same_streets]
        if all(math.hypot(*offset) * METRES_PER_DEGREE > _SAME_CORNER_M for offset in offsets_deg):
            same_streets.append(at)
            corners.append(hit)
            if len(corners) >= limit:
                break
    return corners


def _near_misses(
    region: OpenRegion, entry: dict[str, StreetMatch], two: dict[str, StreetMatch], within: Extent | None
) -> list[Hit]:
    """Return the points where streets nearly meet: a roundabout or an unnamed slip road may lie between them."""
    hits = []
    pairs = [
        (first_score * second_score, first, second)
        for first_key, (first_score, _, firsts) in entry.items()
        for second_key, (second_score, _, seconds) in two.items()
        if first_key != second_key
        for first in firsts
        for second in seconds
        if _boxes_near(first, second)
    ]
    for score, first, second in sorted(pairs, key=lambda pair: -pair[0])[:_MAX_PAIRS]:
        found = _closest_approach(region, first[0], second[0])
        if found is None or (within is not None and not within.contains(found[0])):
            continue
        point, gap_m = found
        place = _crossing_place(region, f"{first[1]}+{second[1]}", point, (first[2], second[2]))
        hits.append(Hit(place, score * (0.85 - 0.25 * gap_m / _NEARLY_MEET_M), "near", place.name))
    return hits


def _boxes_near(first: Sequence[Any], second: Sequence[Any]) -> bool:
    a, b = Box(*first[6:10]), Box(*second[6:10])
    return a.distance_km(b) * 1000 <= _NEARLY_MEET_M


def _closest_approach(region: OpenRegion, first: int, second: int) -> tuple[LatLon, float] | None:
    """Return the middle of the gap between two streets and its width in metres; None where it is too wide."""
    lines = []
    for street in (first, second):
        geoms = [geom for (geom,) in region.conn.execute("SELECT geom FROM ground WHERE feature = ?", (street,))]
        if not geoms:
            return None
        lines.append(unpack_grounds(geoms)[0])
    lon_scale = float(np.cos(np.radians(shapely.get_coordinates(lines[0])[0][1])))
    flat = [shapely.transform(line, lambda xy: xy * [lon_scale, 1.0]) for line in lines]
    (x1, y1), (x2, y2) = shapely.get_coordinates(shapely.shortest_line(*flat))
    gap_m = great_circle_km(y1, x1 / lon_scale, y2, x2 / lon_scale) * 1000
    if gap_m > _NEARLY_MEET_M:
        return None
    return LatLon(float(y1 + y2) / 2, float(x1 + x2) / 2 / lon_scale), float(gap_m)


@dataclass(frozen=True, slots=True)
class _PostcodeArea:
    key: str
    code: str
    town: str
    country: str
    addresses: int
    point: LatLon
    extent: Box


def find_postcodes(region: OpenRegion, text: str, within: Extent | None) -> list[Hit]:
    """Return the areas of a postcode, else those whose codes share its longest prefix; nothing for other texts.

    "98000 Monaco" and "MC-98000" are understood, too; a town that follows the code has to match.
    """
    found = _find_code(region, text)
    if not found and (parts := _WITH_TOWN.fullmatch(text)):
        town = fold(parts[2])
        found = [hit for hit in _find_code(region, parts[1]) if town in fold(hit.place.name)]
    return [hit for hit in found if within is None or within.contains(hit.place.point)]


def postcode_place(region: OpenRegion, number: str) -> Place | None:
    """Return the area with an id such as "postcode/98000/MC/Monaco/43.7,7.4", or None."""
    kind, _, rest = number.partition("/")
    areas = _areas(region, "key = ?", (rest.partition("/")[0],)) if kind == POSTCODE else ()
    return next((_area_place(region, area) for area in areas if _area_id(area) == number), None)


def _find_code(region: OpenRegion, text: str) -> list[Hit]:
    code = " ".join(text.split()).upper().lstrip("〒 ")
    keys = list(dict.fromkeys((_code_key(code), _code_key(_COUNTRY_PREFIX.sub("", code)))))
    if not _CODE.fullmatch(code) or len(keys[-1]) < _MIN_CHARS:
        return []
    for key in keys:
        if exact := list(_areas(region, "key = ?", (key,))):
            return [Hit(_area_place(region, area), 1.0, "exact", area.code) for area in exact]
    by_prefix = _areas_by_prefix(region, keys[-1])
    return [Hit(_area_place(region, area), score, "fuzzy", area.code) for area, score in by_prefix]


def _areas_by_prefix(region: OpenRegion, key: str) -> Iterator[tuple[_PostcodeArea, float]]:
    """Yield one area of each town whose codes share the longest prefix, at least half of the code, and its score."""
    for shared in range(len(key) - 1, (len(key) - 1) // 2, -1):
        prefix = key[:shared]
        found = _areas(region, "key > ? AND key < ? AND length(key) = ?", (prefix, f"{prefix}\uffff", len(key)))
        by_town = sorted(found, key=lambda area: (area.country, area.town, area.key))
        for _, same_town in groupby(by_town, key=lambda area: (area.country, area.town)):
            yield next(same_town), _MAX_PREFIX_SCORE * shared / (len(key) - 1)
        if by_town:
            return


def _areas(region: OpenRegion, where: str, values: Sequence[Any]) -> Iterator[_PostcodeArea]:
    """Yield the areas of some codes. Addresses without a town are added to the area around them."""
    query = f"SELECT {_COLUMNS} FROM postcode WHERE {where} ORDER BY key LIMIT {_MAX_ROWS}"  # noqa: S608
    found = [_build_area(row) for row in region.conn.execute(query, values)]
    for _, same_code in groupby(found, key=lambda area: area.key):
        kept: list[_PostcodeArea] = []
        for area in sorted(
            same_code, key=lambda item: (not item.town, -item.addresses, item.country, item.town, item.point)
        ):
            at = next((at for at, other in enumerate(kept) if _is_same_area(area, other)), None)
            if at is None:
                kept.append(area)
            else:
                kept[at] = _merge_areas(kept[at], area)
        most = max(area.addresses for area in kept)
        yield from (area for area in kept if area.addresses >= _MISTAGGED_SHARE * most)


def _build_area(row: Sequence[Any]) -> _PostcodeArea:
    key, code, town, country = map(convert_text, row[:4])
    return _PostcodeArea(key, code, town, country, int(row[4]), LatLon(row[5], row[6]), Box(*row[7:]))


def _is_same_area(area: _PostcodeArea, other: _PostcodeArea) -> bool:
    return distance_km(area.point, other.point) <= _SAME_AREA_KM and not (
        area.country and other.country and area.country != other.country
    )


def _merge_areas(kept: _PostcodeArea, added: _PostcodeArea) -> _PostcodeArea:
    """Return an area with the addresses of another one added; its point stays where most of them are."""
    a, b = kept.extent, added.extent
    extent = a
    if abs(kept.point.lon - added.point.lon) < 180:  # a box across the antimeridian can't be merged by min and max
        extent = Box(min(a.south, b.south), min(a.west, b.west), max(a.north, b.north), max(a.east, b.east))
    addresses = kept.addresses + added.addresses
    return replace(kept, addresses=addresses, extent=extent, country=kept.country or added.country)


def _code_key(code: str) -> str:
    return re.sub(r"[\s-]", "", code)


def _area_id(area: _PostcodeArea) -> str:
    return "/".join((POSTCODE, area.key, area.country, area.town, f"{area.point.lat:.1f},{area.point.lon:.1f}"))


def _area_place(region: OpenRegion, area: _PostcodeArea) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{_area_id(area)}",
        name=f"{area.code} {area.town}".strip(),
        kind=POSTCODE,
        point=area.point,
        extent=area.extent,
        source=get_source(region),
        country=area.country if re.fullmatch("[A-Z]{2}", area.country) else None,
    )
