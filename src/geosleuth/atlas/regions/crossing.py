"""Where two streets meet."""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import shapely

from geosleuth.atlas.model import Hit, MatchKind, Place
from geosleuth.geo import Box, Extent, LatLon, great_circle_km
from geosleuth.names import fold

from .spots import rows_of, source_of, street_ids
from .store import OpenRegion

_LEAST_SCORE: Final = 0.7
_CUT_BELOW_BEST: Final = 0.12
_STREETS: Final = 60
_SAME_CORNER_M: Final = 40.0
_NEARLY_MEET_M: Final = 60.0
_BETWEEN: Final = re.compile(r"\s+(?:and|et|und|y|e|ja|x|near|corner of)\s+|\s*[&/×@+]\s*", re.IGNORECASE)
_PAIRS: Final = 30
Street = tuple[float, MatchKind, list[tuple[Any, ...]]]  # how well it fits, how, and the rows of its features
_MATCHES: Final[dict[str, int]] = {"exact": 0, "alias": 1, "fuzzy": 2}


def split_crossing(text: str) -> tuple[str, str] | None:
    """The two streets of "A and B", "A & B", "A / B", "A et B", "corner of A and B"; None where it is no such text."""
    text = re.sub(
        r"^\s*(?:the\s+)?(?:corner|crossing|intersection|angle|junction)\s+(?:of|de)\s+", "", text, flags=re.IGNORECASE
    )
    parts = [part.strip(" ,") for part in _BETWEEN.split(text) if part.strip(" ,")]
    return (parts[0], parts[1].split(",")[0]) if len(parts) == 2 else None


def find_crossings(region: OpenRegion, first: str, second: str, within: Extent | None) -> list[Hit]:
    """Junctions of streets that fit the two names, one hit per corner; where none share a node, close approaches."""
    one, two = _streets(region, first), _streets(region, second)
    if not one or not two:
        return []
    rows = region.conn.execute(
        f"""SELECT j.id, j.lat, j.lon, a.street, a.street_key, b.street, b.street_key
            FROM junction_street a JOIN junction_street b ON a.junction = b.junction AND a.street_key <> b.street_key
            JOIN junction j ON j.id = a.junction
            WHERE a.street_key IN ({_marks(one)}) AND b.street_key IN ({_marks(two)})""",  # noqa: S608
        (*one, *two),
    )
    hits = [
        _hit(region, f"n{number}", LatLon(lat, lon), (street, other), one[key][:2], two[other_key][:2])
        for number, lat, lon, street, key, other, other_key in rows
    ]
    hits = [hit for hit in hits if within is None or within.contains(hit.place.point)]
    hits.sort(key=lambda hit: (-hit.score, hit.place.id))
    return _corners(hits) or _approaches(region, one, two, within)


def junction_place(region: OpenRegion, osm: str) -> Place | None:
    """A crossing by its node's id."""
    if not re.fullmatch(r"n\d{1,18}", osm):
        return None
    number = int(osm[1:])
    at = region.conn.execute("SELECT lat, lon FROM junction WHERE id = ?", (number,)).fetchone()
    if at is None:
        return None
    streets = [
        street
        for (street,) in region.conn.execute(
            "SELECT street FROM junction_street WHERE junction = ? ORDER BY 1", (number,)
        )
    ]
    return _place(region, osm, LatLon(*at), streets)


def _streets(region: OpenRegion, text: str) -> dict[str, Street]:
    """Street keys that fit a name; one key may belong to several streets in several towns."""
    found = region.index.search(text, limit=_STREETS, among=street_ids(region))
    if not found:
        return {}
    least = max(_LEAST_SCORE, found[0].score - _CUT_BELOW_BEST)
    rows = rows_of(region, [hit.owner for hit in found])
    streets: dict[str, Street] = {}
    for hit in found:
        if hit.score >= least and hit.owner in rows:
            known = streets.setdefault(fold(rows[hit.owner][2]), (hit.score, hit.match, []))
            known[2].append(rows[hit.owner])
    return streets


def _hit(
    region: OpenRegion,
    osm: str,
    point: LatLon,
    streets: tuple[str, str],
    one: tuple[float, MatchKind],
    two: tuple[float, MatchKind],
) -> Hit:
    match = max(one[1], two[1], key=lambda kind: _MATCHES[kind])
    place = _place(region, osm, point, streets)
    return Hit(place, one[0] * two[0], match, place.name)


def _place(region: OpenRegion, osm: str, point: LatLon, streets: Any) -> Place:
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{osm}",
        name=" / ".join(streets),
        kind="crossing",
        point=point,
        extent=Box(point.lat, point.lon, point.lat, point.lon),
        source=source_of(region),
    )


def _corners(hits: list[Hit]) -> list[Hit]:
    """A crossing of wide roads has several nodes; one of them is enough."""
    kept: list[Hit] = []
    for hit in hits:
        at = hit.place.point
        same = [known for known in kept if set(known.place.name.split(" / ")) == set(hit.place.name.split(" / "))]
        if all(
            great_circle_km(at.lat, at.lon, known.place.point.lat, known.place.point.lon) * 1000 > _SAME_CORNER_M
            for known in same
        ):
            kept.append(hit)
    return kept


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
        geoms = [geom for (geom,) in region.conn.execute("SELECT geom FROM street_way WHERE street = ?", (street,))]
        if not geoms:
            return None
        lines.append(shapely.union_all(shapely.from_wkb(geoms)))
    squeeze = float(np.cos(np.radians(shapely.get_coordinates(lines[0])[0][1])))
    flat = [shapely.transform(line, lambda xy: xy * [squeeze, 1.0]) for line in lines]
    (x1, y1), (x2, y2) = shapely.get_coordinates(shapely.shortest_line(*flat))
    gap_m = great_circle_km(y1, x1 / squeeze, y2, x2 / squeeze) * 1000
    if gap_m > _NEARLY_MEET_M:
        return None
    return LatLon(float(y1 + y2) / 2, float(x1 + x2) / 2 / squeeze), float(gap_m)


def _marks(keys: dict[str, Any]) -> str:
    return ",".join("?" * len(keys))
