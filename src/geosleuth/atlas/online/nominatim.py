"""Nominatim: places, addresses and features of OpenStreetMap by name, and what lies at a point.

Asked for ``jsonv2``: a list of places for ``/search`` and ``/lookup``, one place for ``/reverse`` or an ``error``.
"""

import re
from typing import ClassVar

from geosleuth.atlas.model import Hit, Place, Reverse
from geosleuth.atlas.regions.kinds import matching_kinds
from geosleuth.errors import ServiceFault
from geosleuth.geo import Extent, LatLon

from . import replies
from .base import OnlineAtlas
from .replies import (
    LONG_CHARS,
    around,
    hit,
    inside,
    near_hit,
    osm_kind,
    plain_boxes,
    query_text,
    region,
    settlement,
    spot,
)

_OSM_ID = re.compile(r"osm:(?:[^:]*:)?([nwr])([0-9]{1,18})\Z")
_MAX_LIMIT = 40
_NEAR_KM = 50.0


def osm_reference(place_id: str) -> tuple[str, int] | None:
    """The letter and number of an OpenStreetMap object in an id such as ``osm:n25254104`` or ``osm:monaco:w7``."""
    match = _OSM_ID.match(place_id)
    return (match[1], int(match[2])) if match else None


class Nominatim(OnlineAtlas):
    """Nominatim's own server, or any other that ``base_urls`` names."""

    name: ClassVar[str] = "nominatim"
    base_url: ClassVar[str] = "https://nominatim.openstreetmap.org"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address, as Nominatim ranks them."""
        query = query_text(text)
        if not query or limit < 1:
            return []
        found = await self._search(query, limit=limit, within=within, country=country)
        return inside((hit(place, query, names=names) for place, names in found), within)[:limit]

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Features by name; a category alone needs ``near`` or ``within``."""
        query = query_text(text) or (query_text(category or "").partition("=")[2] or query_text(category or ""))
        if not query or limit < 1:
            return []
        found = await self._search(query, limit=_MAX_LIMIT if category else limit, within=within, near=near)
        if category:
            kinds = set(matching_kinds(category, {place.kind for place, _ in found}))
            found = [(place, names) for place, names in found if place.kind in kinds]
        return inside((hit(place, query, names=names, near=near) for place, names in found), within)[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """One OpenStreetMap object."""
        reference = osm_reference(place_id)
        if reference is None:
            return None
        letter, number = reference
        question = self.question("/lookup", {"osm_ids": f"{letter.upper()}{number}", **self._details()})
        places = self._places(await self.client.json(question, self._check))
        return places[0][0] if places else None

    async def reverse(self, point: LatLon) -> Reverse:
        """The address at a point; without a country at sea."""
        question = self.question("/reverse", {"lat": point.lat, "lon": point.lon, "zoom": 18, **self._details()})
        answer = replies.need_object(await self.client.json(question, self._check), self.host)
        if "error" in answer:
            return Reverse(point, None, None, None, (), self.name)
        parts = replies.inner(answer, "address")
        found = [place for place, _ in self._places([answer])]
        town = settlement(parts)
        hits = [near_hit(place, point, 1.0) for place in found]
        if town and found and found[0].name != town:
            here = Place(
                f"nominatim:settlement:{town}",
                town,
                "city",
                point,
                spot(point),
                self.name,
                found[0].country,
                region(parts),
            )
            hits.insert(0, Hit(here, 1.0, "near", town, 0.0))
        return Reverse(
            point,
            replies.country(parts.get("country_code")),
            replies.text(parts, "country"),
            region(parts),
            tuple(hits),
            self.name,
        )

    def _details(self) -> dict[str, str | int | float | None]:
        return {
            "format": "jsonv2",
            "addressdetails": 1,
            "extratags": 1,
            "namedetails": 1,
            "accept-language": self.settings.language,
        }

    def _check(self, answer: object) -> None:
        """Tell "nothing here", which is an answer, from other errors in a body."""
        if isinstance(answer, dict) and "error" in answer and answer.get("error") != "Unable to geocode":
            said = (
                replies.text(answer, "error")
                or replies.text(replies.inner(answer, "error"), "message")
                or "no reason given"
            )
            raise ServiceFault(self.host, f'reports "{said}"')

    async def _search(
        self,
        query: str,
        *,
        limit: int,
        within: Extent | None = None,
        near: LatLon | None = None,
        country: str | None = None,
    ) -> list[tuple[Place, list[str]]]:
        boxes = plain_boxes(within) if within is not None else []
        if near is not None and not boxes:
            boxes = plain_boxes(around(near, _NEAR_KM))
        area = boxes[0] if len(boxes) == 1 else None  # Nominatim takes one box, and none across the antimeridian
        question = self.question(
            "/search",
            {
                "q": query,
                "limit": min(limit, _MAX_LIMIT),
                "countrycodes": (replies.country(country) or "").lower() or None,
                "viewbox": f"{area.west},{area.south},{area.east},{area.north}" if area else None,
                "bounded": 1 if area and within is not None else None,
                **self._details(),
            },
        )
        return self._places(await self.client.json(question, self._check))

    def _places(self, answer: object) -> list[tuple[Place, list[str]]]:
        found = []
        for one in replies.need_objects(answer, self.host):
            at = replies.point(one.get("lat"), one.get("lon"))
            address = replies.text(one, "display_name", LONG_CHARS)
            name = replies.text(one, "name") or (address.split(",")[0] if address else None)
            if at is None or not name:
                continue
            corners = one.get("boundingbox")
            edges = corners if isinstance(corners, list) and len(corners) == 4 else [None] * 4
            parts, extra, names = (replies.inner(one, part) for part in ("address", "extratags", "namedetails"))
            kind = osm_kind(
                replies.first_text(one, "category", "class"),
                replies.text(one, "type"),
                replies.text(one, "addresstype"),
            )
            letter = (replies.text(one, "osm_type") or "")[:1]
            number = replies.number(one.get("osm_id"))
            known = letter in ("n", "w", "r") and number is not None and number > 0
            place = Place(
                f"osm:{letter}{int(number)}"
                if known and number is not None
                else f"nominatim:{at.lat:.6f},{at.lon:.6f}",
                name,
                kind,
                at,
                replies.box(edges[0], edges[2], edges[1], edges[3]) or spot(at),
                self.name,
                replies.country(parts.get("country_code")),
                region(parts),
                address,
                replies.details(extra),
            )
            found.append((place, list(replies.details(names).values())))
        return found
