"""The geocoders Nominatim, Photon and OpenCage: find places by name, and the address at a point.

Their answers:

- Nominatim (``jsonv2``): a list of places for ``/search`` and ``/lookup``; one place or an ``error`` for ``/reverse``.
- Photon: a GeoJSON feature collection; ``extent`` in the properties is west, north, east, south.
- OpenCage: ``results`` with ``components``, ``formatted``, ``geometry`` and sometimes ``bounds``, and a ``status``.
"""

import re
from typing import ClassVar

from geosleuth.atlas.protocol import Hit, Place, Reverse
from geosleuth.atlas.regions.feature_kinds import category_kinds, matching_kinds
from geosleuth.geo import Extent, LatLon
from geosleuth.support.errors import ServiceFault

from . import replies
from .access import Credentials, key_from_environment
from .base import OnlineAtlas
from .http import OnlineClient
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
    settlement_hit,
    spot,
)

_OSM_ID = re.compile(r"osm:(?:[^:]*:)?([nwr])([0-9]{1,18})\Z")
_MAX_LIMIT = 40
_NEAR_KM = 50.0

_PHOTON_MAX_LIMIT = 50
# Languages of the public server: Photon rejects languages that its index was not built with.
_PUBLIC_LANGUAGES = ("de", "en", "fr")
_OPENCAGE_MAX_LIMIT = 100
_KINDS = {"road": "street", "house": "address", "building": "address", "country": "country", "state": "region"}


def osm_reference(place_id: str) -> tuple[str, int] | None:
    """Return the letter and number in the id of an OpenStreetMap object (``osm:n25254104``, ``osm:monaco:w7``)."""
    match = _OSM_ID.match(place_id)
    return (match[1], int(match[2])) if match else None


def _box_param(extent: Extent | None) -> str | None:
    """Return a box as "west,south,east,north"; None across the antimeridian, where the services support no box."""
    boxes = plain_boxes(extent) if extent is not None else []
    return f"{boxes[0].west},{boxes[0].south},{boxes[0].east},{boxes[0].north}" if len(boxes) == 1 else None


class Nominatim(OnlineAtlas):
    """Nominatim: the public server, or another that ``base_urls`` names."""

    name: ClassVar[str] = "nominatim"
    base_url: ClassVar[str] = "https://nominatim.openstreetmap.org"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with this name or address, as ranked by Nominatim."""
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
        """Search features by name; for a category without a name, give ``near`` or ``within``."""
        query = query_text(text) or (query_text(category or "").partition("=")[2] or query_text(category or ""))
        if not query or limit < 1:
            return []
        # Nominatim accepts one tag in brackets after the words.
        tags = [kind for kind in category_kinds(category or "") if "=" in kind[1:]]
        tagged_query = f"{query} [{tags[0]}]" if len(tags) == 1 and query_text(text) else query
        found = await self._search(tagged_query, limit=_MAX_LIMIT if category else limit, within=within, near=near)
        if category:
            kinds = set(matching_kinds(category, {place.kind for place, _ in found}))
            found = [(place, names) for place, names in found if place.kind in kinds]
        return inside((hit(place, query, names=names, near=near) for place, names in found), within)[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """Return an OpenStreetMap object by its id."""
        reference = osm_reference(place_id)
        if reference is None:
            return None
        letter, number = reference
        question = self.question("/lookup", {"osm_ids": f"{letter.upper()}{number}", **self._details()})
        places = self._parse_results(await self.client.json(question, self._check_amap))
        return places[0][0] if places else None

    async def reverse(self, point: LatLon) -> Reverse:
        """Return the address at a point; without a country at sea."""
        question = self.question("/reverse", {"lat": point.lat, "lon": point.lon, "zoom": 18, **self._details()})
        answer = replies.need_object(await self.client.json(question, self._check_amap), self.host)
        if "error" in answer:
            return Reverse(point, None, None, None, (), self.name)
        parts = replies.inner(answer, "address")
        found = [place for place, _ in self._parse_results([answer])]
        town = settlement(parts)
        hits = [near_hit(place, point, 1.0) for place in found]
        if town and found and found[0].name != town:
            hits.insert(0, settlement_hit(self.name, town, point, found[0].country, region(parts)))
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

    def _check_amap(self, answer: object) -> None:
        """Raise `ServiceFault` for an error in the body, except for "nothing here", which is an answer."""
        if isinstance(answer, dict) and "error" in answer and answer.get("error") != "Unable to geocode":
            reason = (
                replies.text(answer, "error")
                or replies.text(replies.inner(answer, "error"), "message")
                or "no reason given"
            )
            raise ServiceFault(self.host, f'reports "{reason}"')

    async def _search(
        self,
        query: str,
        *,
        limit: int,
        within: Extent | None = None,
        near: LatLon | None = None,
        country: str | None = None,
    ) -> list[tuple[Place, list[str]]]:
        area = around(near, _NEAR_KM) if within is None and near is not None else within
        viewbox = _box_param(area)
        question = self.question(
            "/search",
            {
                "q": query,
                "limit": min(limit, _MAX_LIMIT),
                "countrycodes": (replies.country(country) or "").lower() or None,
                "viewbox": viewbox,
                "bounded": 1 if viewbox and within is not None else None,
                **self._details(),
            },
        )
        return self._parse_results(await self.client.json(question, self._check_amap))

    def _parse_results(self, answer: object) -> list[tuple[Place, list[str]]]:
        found = []
        for result in replies.need_objects(answer, self.host):
            at = replies.point(result.get("lat"), result.get("lon"))
            address = replies.text(result, "display_name", LONG_CHARS)
            name = replies.text(result, "name") or (address.split(",")[0] if address else None)
            if at is None or not name:
                continue
            corners = result.get("boundingbox")
            edges = corners if isinstance(corners, list) and len(corners) == 4 else [None] * 4
            parts, extra, names = (replies.inner(result, part) for part in ("address", "extratags", "namedetails"))
            kind = osm_kind(
                replies.first_text(result, "category", "class"),
                replies.text(result, "type"),
                replies.text(result, "addresstype"),
            )
            letter = (replies.text(result, "osm_type") or "")[:1]
            number = replies.number(result.get("osm_id"))
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


class Photon(OnlineAtlas):
    """Photon: the public server, or another that ``base_urls`` names."""

    name: ClassVar[str] = "photon"
    base_url: ClassVar[str] = "https://photon.komoot.io"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with this name or address, as ranked by Photon."""
        code = replies.country(country)
        params: dict[str, str | int | float | None] = {"countrycode": code, "bbox": _box_param(within)}
        found = inside(await self._search(text, limit, params), within)
        return [result for result in found if code is None or result.place.country == code][: max(0, limit)]

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return places whose name starts with the prefix, those near the point first."""
        here = {} if near is None else {"lat": near.lat, "lon": near.lon}
        return (await self._search(prefix, limit, dict(here), near=near))[: max(0, limit)]

    async def reverse(self, point: LatLon) -> Reverse:
        """Return the address at a point; without a country if nothing is near."""
        question = self.question("/reverse", {"lat": point.lat, "lon": point.lon, "limit": 5, "lang": self._language})
        features = self._features(await self.client.json(question))
        if not features:
            return Reverse(point, None, None, None, (), self.name)
        places = [place for place, _ in features]
        properties = features[0][1]
        hits = [near_hit(place, point, 1.0) for place in places]
        town = replies.first_text(properties, "city", "district", "locality", "county")
        if town and places[0].name != town:
            hits.insert(0, settlement_hit(self.name, town, point, places[0].country, places[0].region))
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
            "/api", {"q": query, "limit": min(limit, _PHOTON_MAX_LIMIT), "lang": self._language, **params}
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


class OpenCage(OnlineAtlas):
    """OpenCage, with the key in ``OPENCAGE_KEY``; requests ask it not to log the queries."""

    name: ClassVar[str] = "opencage"
    base_url: ClassVar[str] = "https://api.opencagedata.com/geocode/v1"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    def __init__(self, client: OnlineClient) -> None:
        """Read the key from the environment."""
        super().__init__(client)
        self._credentials = Credentials(params={"key": key_from_environment("OPENCAGE_KEY", "OpenCage", self.settings)})

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with this name or address, as ranked by OpenCage."""
        query = query_text(text)
        if len(query) < 2 or limit < 1:  # OpenCage refuses shorter queries
            return []
        code = (replies.country(country) or "").lower() or None
        results = await self._ask_amap(
            query, limit=min(limit, _OPENCAGE_MAX_LIMIT), bounds=_box_param(within), countrycode=code
        )
        hits = [hit(place, query, is_address=True) for place, _ in results]
        return inside(hits, within)[:limit]

    async def reverse(self, point: LatLon) -> Reverse:
        """Return the address at a point; without a country at sea."""
        results = await self._ask_amap(f"{point.lat:.7f},{point.lon:.7f}", limit=1, bounds=None, countrycode=None)
        if not results:
            return Reverse(point, None, None, None, (), self.name)
        place, parts = results[0]
        hits = [near_hit(place, point, 1.0)]
        town = settlement(parts)
        if town and town != place.name:
            hits.insert(0, settlement_hit(self.name, town, point, place.country, place.region))
        return Reverse(point, place.country, replies.text(parts, "country"), place.region, tuple(hits), self.name)

    async def _ask_amap(
        self, query: str, *, limit: int, bounds: str | None, countrycode: str | None
    ) -> list[tuple[Place, replies.Object]]:
        question = self.question(
            "/json",
            {
                "q": query,
                "limit": limit,
                "bounds": bounds,
                "countrycode": countrycode,
                "language": self.settings.language,
                "no_annotations": 1,
                "no_record": 1,
            },
            credentials=self._credentials,
        )
        answer = replies.need_object(await self.client.json(question, self._check_amap), self.host)
        results = replies.need_objects(answer.get("results"), self.host, '"results"')
        found = [(self._parse_result(result), replies.inner(result, "components")) for result in results]
        return [(place, parts) for place, parts in found if place is not None]

    def _check_amap(self, answer: object) -> None:
        status = replies.inner(answer, "status") if isinstance(answer, dict) else {}
        code = replies.number(status.get("code", 200))
        if code != 200:
            reason = self._credentials.scrub(replies.text(status, "message") or "no reason given")
            raise ServiceFault(self.host, f'reports "{reason}"', retryable=code == 429 or (code or 0) >= 500)

    def _parse_result(self, result: replies.Object) -> Place | None:
        parts, geometry = replies.inner(result, "components"), replies.inner(result, "geometry")
        at = replies.point(geometry.get("lat"), geometry.get("lng"))
        address = replies.text(result, "formatted", LONG_CHARS)
        if at is None or not address:
            return None
        component_type = replies.text(parts, "_type") or ""
        low, high = replies.inner(result, "bounds", "southwest"), replies.inner(result, "bounds", "northeast")
        extent = replies.box(low.get("lat"), low.get("lng"), high.get("lat"), high.get("lng"))
        return Place(
            f"opencage:{at.lat:.7f},{at.lon:.7f}",
            replies.text(parts, component_type) or address.split(",")[0],
            _KINDS.get(component_type) or osm_kind("place", component_type or None),
            at,
            extent or spot(at),
            self.name,
            replies.country(parts.get("country_code")),
            region(parts),
            address,
            replies.details(result, ("confidence",)),
        )
