"""Photon: places of OpenStreetMap by name or by their beginning, and what lies at a point.

Answers are GeoJSON feature collections. ``extent`` in their properties is west, north, east, south.
"""

from typing import ClassVar

from geosleuth.atlas.model import Hit, Place, Reverse
from geosleuth.geo import Extent, LatLon

from . import replies
from .base import OnlineAtlas
from .replies import hit, inside, near_hit, osm_kind, plain_boxes, query_text, spot

_MAX_LIMIT = 50
_PUBLIC_LANGUAGES = ("de", "en", "fr")
"""Photon refuses languages its index was not built with; these are the public server's."""


class Photon(OnlineAtlas):
    """Photon's public server, or any other that ``base_urls`` names."""

    name: ClassVar[str] = "photon"
    base_url: ClassVar[str] = "https://photon.komoot.io"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address, as Photon ranks them."""
        boxes = plain_boxes(within) if within is not None else []
        code = replies.country(country)
        params: dict[str, str | int | float | None] = {"countrycode": code}
        if len(boxes) == 1:
            params["bbox"] = f"{boxes[0].west},{boxes[0].south},{boxes[0].east},{boxes[0].north}"
        found = inside(await self._search(text, limit, params), within)
        return [one for one in found if code is None or one.place.country == code][: max(0, limit)]

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Names that begin so, those near the point first."""
        here = {} if near is None else {"lat": near.lat, "lon": near.lon}
        return (await self._search(prefix, limit, dict(here), near=near))[: max(0, limit)]

    async def reverse(self, point: LatLon) -> Reverse:
        """What lies at a point; without a country where nothing is near."""
        question = self.question("/reverse", {"lat": point.lat, "lon": point.lon, "limit": 5, "lang": self._language})
        features = self._features(await self.client.json(question))
        if not features:
            return Reverse(point, None, None, None, (), self.name)
        places = [place for place, _ in features]
        properties = features[0][1]
        hits = [near_hit(place, point, 1.0) for place in places]
        town = replies.first_text(properties, "city", "district", "locality", "county")
        if town and places[0].name != town:
            here = Place(
                f"photon:settlement:{town}",
                town,
                "city",
                point,
                spot(point),
                self.name,
                places[0].country,
                places[0].region,
            )
            hits.insert(0, Hit(here, 1.0, "near", town, 0.0))
        return Reverse(
            point, places[0].country, replies.text(properties, "country"), places[0].region, tuple(hits), self.name
        )

    @property
    def _language(self) -> str | None:
        language = self.settings.language.split("-")[0].lower()
        return language if language in _PUBLIC_LANGUAGES else None

    async def _search(
        self, text: str, limit: int, params: dict[str, str | int | float | None], *, near: LatLon | None = None
    ) -> list[Hit]:
        query = query_text(text)
        if not query or limit < 1:
            return []
        question = self.question(
            "/api", {"q": query, "limit": min(limit, _MAX_LIMIT), "lang": self._language, **params}
        )
        features = self._features(await self.client.json(question))
        return [hit(place, query, near=near, is_address=place.kind == "address") for place, _ in features]

    def _features(self, answer: object) -> list[tuple[Place, replies.Object]]:
        host = self.host
        features = replies.need_objects(replies.need_object(answer, host).get("features"), host, '"features"')
        found = []
        for feature in features:
            properties = replies.inner(feature, "properties")
            coordinates = replies.inner(feature, "geometry").get("coordinates")
            lon, lat = coordinates[:2] if isinstance(coordinates, list) and len(coordinates) >= 2 else (None, None)
            at = replies.point(lat, lon)
            street = " ".join(part for part in (replies.text(properties, n) for n in ("street", "housenumber")) if part)
            own_name = replies.text(properties, "name")
            name = own_name or street
            if at is None or not name:
                continue
            corners = properties.get("extent")
            edges = corners if isinstance(corners, list) and len(corners) == 4 else [None] * 4
            levels = ("locality", "district", "postcode", "city", "county", "state", "country")
            lines = [name, street, *(replies.text(properties, level) for level in levels)]
            kind = osm_kind(*(replies.text(properties, part) for part in ("osm_key", "osm_value", "type")))
            place = Place(
                _osm_id(properties) or f"photon:{at.lat:.6f},{at.lon:.6f}",
                name,
                kind if own_name else "address",
                at,
                replies.box(edges[3], edges[0], edges[1], edges[2]) or spot(at),
                self.name,
                replies.country(properties.get("countrycode")),
                replies.text(properties, "state"),
                ", ".join(dict.fromkeys(line for line in lines if line)),
                replies.details(replies.inner(properties, "extra")),
            )
            found.append((place, properties))
        return found


def _osm_id(properties: replies.Object) -> str | None:
    letter, number = (replies.text(properties, "osm_type") or "").lower(), properties.get("osm_id")
    return f"osm:{letter}{number}" if letter in ("n", "w", "r") and isinstance(number, int) and number > 0 else None
