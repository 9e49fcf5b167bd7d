"""Overpass: query the features of OpenStreetMap by name, kind and position.

Overpass neither ranks results nor finds addresses, and answers only for an area. Queries use ``out tags bb``: nodes
come with a position, ways and relations with their bounds. Text from users never becomes query syntax: names are
reduced to letters and digits, and tags are checked.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar
from urllib.parse import urlencode

import numpy as np

from geosleuth.atlas.protocol import Colocation, Hit, Place
from geosleuth.atlas.regions.combinations import BEARING_TOLERANCE_DEG, lie_in_order
from geosleuth.atlas.regions.feature_kinds import ADDRESS, STREET, category_kinds, classify_feature, is_street
from geosleuth.atlas.regions.tags import format_address, index_names, main_name
from geosleuth.geo import (
    Extent,
    FloatArray,
    LatLon,
    bearings_deg,
    compute_weighted_centre,
    distance_km,
    great_circle_km,
)
from geosleuth.support.errors import BadInput, ServiceFault

from . import replies
from .base import OnlineAtlas
from .geocoders import osm_reference
from .replies import check_radius, hit, inside, near_hit, plain_boxes, query_text, spot

_TAG_PART = re.compile(r"[\w:.\-]{1,80}\Z")
_NAME_KEYS = "^(name|name:.*|alt_name|old_name|official_name|short_name|loc_name|brand|operator|ref)$"
_KIND_KEYS = (
    "^(amenity|shop|tourism|leisure|office|craft|historic|railway|public_transport|highway|natural|man_made|building|"
    "healthcare|aeroway|place|emergency|landuse|waterway|club)$"
)
_OWN_KINDS = {STREET: '["highway"]["name"]', ADDRESS: '["addr:housenumber"]'}
_MAX_NAME_CHARS = 100

_MAX_STEPS = 50_000
_TIMEOUT_S = 25
_MAX_ELEMENTS = 2000
_NEAR_M = 5_000.0
_MAX_RADIUS_M = 50_000.0
# Nodes closer than this count as one crossing: two dual carriageways meet in four nodes.
_SAME_CROSSING_KM = 0.05
_OUT = f"out tags bb {_MAX_ELEMENTS};\n"
_ELEMENTS = {"node": "n", "way": "w", "relation": "r"}


def settings(timeout_s: int) -> str:
    """Return the first line of every query."""
    return f"[out:json][timeout:{timeout_s}];\n"


def name_pattern(text: str) -> str:
    """Return a regular expression for a name that allows other spaces and punctuation; empty without letters."""
    parts = re.findall(r"[^\W_]+", query_text(text, _MAX_NAME_CHARS))
    return ".{0,3}".join(parts)


def by_name(text: str) -> str:
    """Return the filter for features with a name that contains the text."""
    pattern = name_pattern(text)
    if not pattern:
        raise BadInput(f"not a name to search for: {text[:60]!r}")
    return f'[~"{_NAME_KEYS}"~"{pattern}",i]'


def street_named(text: str) -> str:
    """Return the filter for streets with this name."""
    pattern = name_pattern(text)
    if not pattern:
        raise BadInput(f"not the name of a street: {text[:60]!r}")
    return f'["highway"][~"^(name|name:.*|alt_name|ref)$"~"^{pattern}$",i]'


def by_category(category: str) -> list[str]:
    """Return the filters of a category; a feature matches if it passes one of them."""
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
    """Return the filters of a tag ("amenity=pharmacy"), or of a word that may be a name or a category ("Casino")."""
    if "=" in feature:
        return by_category(feature)
    return [by_name(feature), *(by_category(feature) if category_kinds(feature) else [])]


def in_area(extent: Extent) -> list[str]:
    """Return the area filters of an extent; a feature matches if it passes one of them."""
    return [f"({box.south:.7f},{box.west:.7f},{box.north:.7f},{box.east:.7f})" for box in plain_boxes(extent)]


def around_point(point: LatLon, radius_m: float) -> str:
    """Return the filter for features within a radius around a point."""
    return f"(around:{radius_m:.1f},{point.lat:.7f},{point.lon:.7f})"


def union(element: str, filters: list[str], areas: list[str], into: str) -> str:
    """Return a statement that collects the elements which pass any filter in any area into a named set."""
    statements = "".join(f"{element}{tag_filter}{area};" for tag_filter in filters for area in areas)
    return f"({statements})->.{into};\n"


def colocations(
    sets: Sequence[Sequence[Place]],
    within_m: float,
    *,
    bearings: Sequence[float | None] = (),
    in_order: bool = False,
    limit: int = 10,
) -> list[Colocation]:
    """Return the combinations of one place from each set that lie within a distance of each other, closest first.

    Args:
        sets: the candidates for each feature.
        within_m: the greatest distance between any two places of a combination.
        bearings: the bearing from the first place to each place in degrees; None for any.
        in_order: whether the places must lie along a line in the order of the sets.
        limit: the greatest number of combinations.
    """
    found = []
    for chosen in _combinations(sets, within_m / 1000, bearings):
        lats, lons = _columns(chosen)
        if in_order and not lie_in_order(lats[None], lons[None])[0]:
            continue
        spread_km = max(distance_km(a.point, b.point) for a in chosen for b in chosen)
        centre = compute_weighted_centre(lats, lons) or chosen[0].point
        score = max(0.0, 1 - spread_km * 1000 / within_m)
        found.append(Colocation(tuple(chosen), centre, spread_km * 1000, round(score, 4)))
    found.sort(key=lambda group: (group.spread_m, [place.id for place in group.places]))
    return found[:limit]


def _combinations(
    sets: Sequence[Sequence[Place]], within_km: float, bearings: Sequence[float | None]
) -> Iterator[list[Place]]:
    """Yield the combinations that fit by distance and bearing, with a depth-first search over the sets."""
    if not all(sets):
        return
    columns = [_columns(places) for places in sets]
    unfinished: list[list[Place]] = [[first] for first in sets[0]]
    steps = 0
    while unfinished:
        chosen = unfinished.pop()
        depth = len(chosen)
        if depth == len(sets):
            yield chosen
            continue
        steps += 1
        if steps > _MAX_STEPS:
            raise BadInput("too many such features stand together here; give a smaller area or rarer features")
        candidates, (lats, lons) = sets[depth], columns[depth]
        fits = np.ones(len(lats), dtype=bool)
        for place in chosen:
            fits &= great_circle_km(place.point.lat, place.point.lon, lats, lons) <= within_km
        bearing = bearings[depth] if bearings else None
        if bearing is not None:
            first = chosen[0].point
            turns = bearings_deg(first.lat, first.lon, lats, lons) - bearing
            fits &= np.abs((turns + 180) % 360 - 180) <= BEARING_TOLERANCE_DEG
        taken = {place.id for place in chosen}
        unfinished.extend(
            [*chosen, candidates[i]] for i in np.flatnonzero(fits).tolist() if candidates[i].id not in taken
        )


def _columns(places: Sequence[Place]) -> tuple[FloatArray, FloatArray]:
    return np.array([place.point.lat for place in places]), np.array([place.point.lon for place in places])


class Overpass(OnlineAtlas):
    """Overpass: the main public server, or another that ``base_urls`` names."""

    name: ClassVar[str] = "overpass"
    base_url: ClassVar[str] = "https://overpass-api.de/api"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 24.0

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Search features by name in the area or within 5 km of the point, the most similar names first."""
        if limit < 1 or not (name_pattern(text) or category):
            return []
        if within is None and near is None:
            raise BadInput("overpass searches an area: give a point (near) or an extent (within)")
        kinds = by_category(category) if category else [""]
        named = by_name(text) if name_pattern(text) else ""
        areas = in_area(within) if within else [around_point(near, _NEAR_M)] if near else []
        query = union("nwr", [named + kind for kind in kinds], areas, "found") + f".found {_OUT}"
        places = self._parse_results(await self._ask_amap(query))
        if not named:
            middle = near or (within.centre if within else LatLon(0, 0))
            hits = [near_hit(place, middle, _NEAR_M / 1000) for place, _ in places]
            return inside(sorted(hits, key=lambda item: item.distance_km or 0.0), within)[:limit]
        name = query_text(text)
        hits = [hit(place, name, names=names, near=near) for place, names in places]
        hits.sort(key=lambda item: (-item.score, item.distance_km or 0.0, item.place.id))
        return inside(hits, within)[:limit]

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point, nearest first: those of the category, or all that have a name."""
        check_radius(radius_m, _MAX_RADIUS_M, self.name)
        if limit < 1:
            return []
        kinds = by_category(category) if category else ['["name"]']
        query = union("nwr", kinds, [around_point(point, radius_m)], "found") + f".found {_OUT}"
        hits = [
            near_hit(place, point, radius_m / 1000) for place, _ in self._parse_results(await self._ask_amap(query))
        ]
        return sorted(hits, key=lambda item: (item.distance_km or 0.0, item.place.id))[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """Return an OpenStreetMap object by its id."""
        reference = osm_reference(place_id)
        if reference is None:
            return None
        element = {"n": "node", "w": "way", "r": "rel"}[reference[0]]
        places = self._parse_results(await self._ask_amap(f"{element}({reference[1]})->.found;\n.found {_OUT}"))
        return places[0][0] if places else None

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Return the places where two streets share a node."""
        if limit < 1 or not (name_pattern(first) and name_pattern(second)):
            return []
        if within is None:
            raise BadInput("overpass searches an area: give an extent (within) for the crossing")
        areas = in_area(within)
        query = union("way", [street_named(first)], areas, "first")
        query += union("way", [street_named(second)], areas, "second")
        query += f"node(w.first)(w.second)->.found;\n.found out skel {_MAX_ELEMENTS};\n"
        name = f"{query_text(first)} / {query_text(second)}"
        hits: list[Hit] = []
        for element in await self._ask_amap(query):
            at = replies.point(element.get("lat"), element.get("lon"))
            if at is None or any(distance_km(at, item.place.point) <= _SAME_CROSSING_KM for item in hits):
                continue
            place = Place(
                _osm_id(element) or f"overpass:{at.lat:.6f},{at.lon:.6f}", name, "crossing", at, spot(at), self.name
            )
            hits.append(Hit(place, 1.0, "exact", name))
        return inside(hits, within)[:limit]

    async def colocated(
        self,
        features: Sequence[str],
        within_m: float,
        *,
        within: Extent | None = None,
        bearings_deg: Sequence[float | None] | None = None,
        in_order: bool = False,
        limit: int = 10,
    ) -> list[Colocation]:
        """Return the groups of features near each other: Overpass finds candidates, which are combined here."""
        if not 2 <= len(features) <= 5:
            raise BadInput(f"colocated takes two to five features, not {len(features)}")
        bearings = _bearings(bearings_deg, len(features))
        if within is None:
            raise BadInput("overpass searches an area: give an extent (within)")
        check_radius(within_m, _MAX_RADIUS_M, self.name)
        if limit < 1:
            return []
        sets = self._sets(await self._ask_amap(_neighbours(features, within_m, within)), len(features))
        chosen = [[place for place in places if within.contains(place.point)] for places in sets]
        return colocations(chosen, within_m, bearings=bearings, in_order=in_order, limit=limit)

    async def _ask_amap(self, query: str) -> list[replies.Object]:
        body = urlencode({"data": settings(_TIMEOUT_S) + query}).encode()
        question = self.question("/interpreter", {}, body=body, content_type="application/x-www-form-urlencoded")
        answer = replies.need_object(await self.client.json(question, self._check_amap), self.host)
        return replies.need_objects(answer.get("elements"), self.host, '"elements"')

    def _check_amap(self, answer: object) -> None:
        """Raise `ServiceFault` if a remark reports that the query ran out of time or memory: the answer is partial."""
        remark = replies.text(answer, "remark") if isinstance(answer, dict) else None
        if remark and "error" in remark.lower():
            busy = "timed out" in remark or "rate" in remark.lower()
            raise ServiceFault(self.host, f'reports "{remark}"; a smaller area may help', retryable=busy)

    def _sets(self, elements: Iterable[replies.Object], count: int) -> list[list[Place]]:
        """Return the places of each set; in the answer, a count precedes each set."""
        groups: list[list[replies.Object]] = []
        for element in elements:
            if element.get("type") == "count":
                groups.append([])
            elif groups:
                groups[-1].append(element)
        if len(groups) != count:
            raise ServiceFault(self.host, "answered in an unexpected shape: not one set for each feature")
        if any(len(group) >= _MAX_ELEMENTS for group in groups):
            raise BadInput(f"over {_MAX_ELEMENTS:,} such features stand together there; give a smaller area")
        return [[place for place, _ in self._parse_results(group)] for group in groups]

    def _parse_results(self, elements: Iterable[replies.Object]) -> list[tuple[Place, list[str]]]:
        found = []
        for element in elements:
            tags = replies.details(replies.inner(element, "tags"))
            bounds, centre = replies.inner(element, "bounds"), replies.inner(element, "center")
            box = replies.box(*(bounds.get(edge) for edge in ("minlat", "minlon", "maxlat", "maxlon")))
            at = replies.point(element.get("lat"), element.get("lon")) or replies.point(
                centre.get("lat"), centre.get("lon")
            )
            at = at or (box.centre if box else None)
            identity = _osm_id(element)
            kind = classify_feature(tags, named=True) or "place=yes"
            name = main_name(tags) or kind.partition("=")[2].replace("_", " ")
            if at is None or identity is None or not name:
                continue
            place = Place(
                identity,
                name,
                "street" if is_street(kind) else kind,
                at,
                box or spot(at),
                self.name,
                replies.country(tags.get("addr:country")),
                None,
                format_address(tags),
                tags,
            )
            found.append((place, [text for text, _ in index_names(tags) if text != name]))
        return found


def _neighbours(features: Sequence[str], within_m: float, within: Extent) -> str:
    """Return the query for the features of each kind that have one of every other kind near them."""
    query = ""
    for i, feature in enumerate(features):
        query += union("nwr", by_name_or_category(feature), in_area(within), f"all{i}")
    # Overpass measures between outlines, which is never more than between centres, so no combination is lost here.
    for i in range(len(features)):
        near = "".join(f"(around.all{j}:{within_m:.1f})" for j in range(len(features)) if j != i)
        query += f"nwr.all{i}{near}->.near{i};\n"
    return query + "".join(f".near{i} out count;\n.near{i} {_OUT}" for i in range(len(features)))


def _bearings(given: Sequence[float | None] | None, count: int) -> Sequence[float | None]:
    """Return one bearing or None for each feature; the first has none and may be missing from ``given``."""
    bearings = (None,) * count if given is None else (None, *given[-(count - 1) :])
    if given is not None and len(given) not in (count - 1, count):
        raise BadInput(f"give a bearing (or none) for each feature after the first: {count - 1}, not {len(given)}")
    if any(bearing is not None and not math.isfinite(bearing) for bearing in bearings):
        raise BadInput("a bearing is a number of degrees from north")
    return bearings


def _osm_id(element: replies.Object) -> str | None:
    letter = _ELEMENTS.get(replies.text(element, "type") or "")
    number = element.get("id")
    return f"osm:{letter}{number}" if letter and isinstance(number, int) and number > 0 else None
