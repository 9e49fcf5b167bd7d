"""Overpass: the features of OpenStreetMap themselves, by name, kind and position.

It knows no ranking and no addresses, and answers only for an area. Elements come with ``out tags bb``: nodes with a
position, ways and relations with their bounds.
"""

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar
from urllib.parse import urlencode

from geosleuth.atlas.model import Colocation, Hit, Place
from geosleuth.atlas.regions.kinds import is_street, kind_of
from geosleuth.atlas.regions.tags import address_of, index_names, main_name
from geosleuth.errors import BadInput, ServiceFault
from geosleuth.geo import Extent, LatLon, distance_km

from . import overpass_ql as ql
from . import shape
from .areas import check_radius, inside
from .base import OnlineAtlas
from .found import hit, near_hit, spot
from .nominatim import osm_reference
from .text import query_text
from .together import colocations

_TIMEOUT_S = 25
_MAX_ELEMENTS = 2000
_NEAR_M = 5_000.0
_LONGEST_M = 50_000.0
_ONE_CROSSING_KM = 0.05
"""Two carriageways meet two others in four nodes; nearer than this they are one crossing."""

_OUT = f"out tags bb {_MAX_ELEMENTS};\n"
_ELEMENTS = {"node": "n", "way": "w", "relation": "r"}


class Overpass(OnlineAtlas):
    """The main public Overpass server, or any other that ``base_urls`` names."""

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
        """Features one of whose names holds the text, in the area or within 5 km of the point; best named first."""
        if limit < 1 or not (ql.name_pattern(text) or category):
            return []
        if within is None and near is None:
            raise BadInput("overpass searches an area: give a point (near) or an extent (within)")
        kinds = ql.by_category(category) if category else [""]
        named = ql.by_name(text) if ql.name_pattern(text) else ""
        areas = ql.in_area(within) if within else [ql.around_point(near, _NEAR_M)] if near else []
        query = ql.union("nwr", [named + kind for kind in kinds], areas, "found") + f".found {_OUT}"
        places = self._places(await self._ask(query))
        if not named:
            middle = near or (within.centre if within else LatLon(0, 0))
            hits = [near_hit(place, middle, _NEAR_M / 1000) for place, _ in places]
            return inside(sorted(hits, key=lambda one: one.distance_km or 0.0), within)[:limit]
        asked = query_text(text)
        hits = [hit(place, asked, names=names, near=near) for place, names in places]
        hits.sort(key=lambda one: (-one.score, one.distance_km or 0.0, one.place.id))
        return inside(hits, within)[:limit]

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Features around a point, nearest first: those of the category, or all that have a name."""
        check_radius(radius_m, _LONGEST_M, self.name)
        if limit < 1:
            return []
        kinds = ql.by_category(category) if category else ['["name"]']
        query = ql.union("nwr", kinds, [ql.around_point(point, radius_m)], "found") + f".found {_OUT}"
        hits = [near_hit(place, point, radius_m / 1000) for place, _ in self._places(await self._ask(query))]
        return sorted(hits, key=lambda one: (one.distance_km or 0.0, one.place.id))[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """One OpenStreetMap object."""
        reference = osm_reference(place_id)
        if reference is None:
            return None
        element = {"n": "node", "w": "way", "r": "rel"}[reference[0]]
        places = self._places(await self._ask(f"{element}({reference[1]})->.found;\n.found {_OUT}"))
        return places[0][0] if places else None

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Where two streets share a node."""
        if limit < 1 or not (ql.name_pattern(first) and ql.name_pattern(second)):
            return []
        if within is None:
            raise BadInput("overpass searches an area: give an extent (within) for the crossing")
        areas = ql.in_area(within)
        query = ql.union("way", [ql.street_named(first)], areas, "first")
        query += ql.union("way", [ql.street_named(second)], areas, "second")
        query += f"node(w.first)(w.second)->.found;\n.found out skel {_MAX_ELEMENTS};\n"
        name = f"{query_text(first)} / {query_text(second)}"
        hits: list[Hit] = []
        for element in await self._ask(query):
            at = shape.point(element.get("lat"), element.get("lon"))
            if at is None or any(distance_km(at, one.place.point) <= _ONE_CROSSING_KM for one in hits):
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
        """Where all features stand together: Overpass leaves out what has no such neighbours, the rest is done here."""
        if not 2 <= len(features) <= 5:
            raise BadInput(f"colocated takes two to five features, not {len(features)}")
        bearings = _bearings(bearings_deg, len(features))
        if within is None:
            raise BadInput("overpass searches an area: give an extent (within)")
        check_radius(within_m, _LONGEST_M, self.name)
        if limit < 1:
            return []
        sets = self._sets(await self._ask(_neighbours(features, within_m, within)), len(features))
        chosen = [[place for place in places if within.contains(place.point)] for places in sets]
        return colocations(chosen, within_m, bearings=bearings, in_order=in_order, limit=limit)

    async def _ask(self, query: str) -> list[shape.Object]:
        body = urlencode({"data": ql.settings(_TIMEOUT_S) + query}).encode()
        question = self.question("/interpreter", {}, body=body, content_type="application/x-www-form-urlencoded")
        answer = shape.need_object(await self.client.json(question, self._check), self.host)
        return shape.need_objects(answer.get("elements"), self.host, '"elements"')

    def _check(self, answer: object) -> None:
        """Overpass says in a remark that a query ran out of time or memory, and sends what it has."""
        remark = shape.text(answer, "remark") if isinstance(answer, dict) else None
        if remark and "error" in remark.lower():
            busy = "timed out" in remark or "rate" in remark.lower()
            raise ServiceFault(self.host, f'reports "{remark}"; a smaller area may help', retryable=busy)

    def _sets(self, elements: Iterable[shape.Object], count: int) -> list[list[Place]]:
        """The elements of each set; a count precedes each."""
        groups: list[list[shape.Object]] = []
        for element in elements:
            if element.get("type") == "count":
                groups.append([])
            elif groups:
                groups[-1].append(element)
        if len(groups) != count:
            raise ServiceFault(self.host, "answered in an unexpected shape: not one set for each feature")
        if any(len(group) >= _MAX_ELEMENTS for group in groups):
            raise BadInput(f"over {_MAX_ELEMENTS:,} such features stand together there; give a smaller area")
        return [[place for place, _ in self._places(group)] for group in groups]

    def _places(self, elements: Iterable[shape.Object]) -> list[tuple[Place, list[str]]]:
        found = []
        for element in elements:
            tags = shape.details(shape.inner(element, "tags"))
            bounds, centre = shape.inner(element, "bounds"), shape.inner(element, "center")
            box = shape.box(*(bounds.get(edge) for edge in ("minlat", "minlon", "maxlat", "maxlon")))
            at = shape.point(element.get("lat"), element.get("lon")) or shape.point(
                centre.get("lat"), centre.get("lon")
            )
            at = at or (box.centre if box else None)
            identity = _osm_id(element)
            kind = kind_of(tags, named=True) or "place=yes"
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
                shape.country(tags.get("addr:country")),
                None,
                address_of(tags),
                tags,
            )
            found.append((place, [text for text, _ in index_names(tags) if text != name]))
        return found


def _neighbours(features: Sequence[str], within_m: float, within: Extent) -> str:
    """The query for those features of each sort that have one of every other sort near them."""
    query = ""
    for i, feature in enumerate(features):
        query += ql.union("nwr", ql.by_name_or_category(feature), ql.in_area(within), f"all{i}")
    # Distances between outlines are shorter than those between middles, so nothing that fits is lost here.
    for i in range(len(features)):
        near = "".join(f"(around.all{j}:{within_m:.1f})" for j in range(len(features)) if j != i)
        query += f"nwr.all{i}{near}->.near{i};\n"
    return query + "".join(f".near{i} out count;\n.near{i} {_OUT}" for i in range(len(features)))


def _bearings(given: Sequence[float | None] | None, count: int) -> Sequence[float | None]:
    """One bearing or None for each feature; the first has none, and may be left out."""
    bearings = (None,) * count if given is None else (None, *given[-(count - 1) :])
    if given is not None and len(given) not in (count - 1, count):
        raise BadInput(f"give a bearing (or none) for each feature after the first: {count - 1}, not {len(given)}")
    if any(one is not None and not math.isfinite(one) for one in bearings):
        raise BadInput("a bearing is a number of degrees from north")
    return bearings


def _osm_id(element: shape.Object) -> str | None:
    letter = _ELEMENTS.get(shape.text(element, "type") or "")
    number = element.get("id")
    return f"osm:{letter}{number}" if letter and isinstance(number, int) and number > 0 else None
