"""Google: Geocoding, Places (New) and Static Maps.

Geocoding answers with ``status`` and ``results``; Places with the fields of a field mask, or an ``error`` and an HTTP
status; Static Maps with a picture. The key is sent to Places as a header, to the others as a query parameter.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from geosleuth.atlas.protocol import Hit, Marker, Picture, Place, Reverse
from geosleuth.geo import Extent, LatLon
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.net import parse_host

from . import replies
from .access import Credentials, key_from_environment
from .base import OnlineAtlas
from .http import OnlineClient, ServiceRequest
from .replies import (
    LONG_CHARS,
    around,
    bounding_box,
    check_picture,
    check_radius,
    hit,
    inside,
    near_hit,
    picture_box,
    png_of_size,
    query_text,
    read_nested_text,
    spot,
)

# Field mask for Places: only the fields that are used, since fields determine the price.
FIELD_MASK = (
    "id",
    "displayName",
    "formattedAddress",
    "location",
    "viewport",
    "primaryType",
    "types",
    "addressComponents",
    "internationalPhoneNumber",
    "websiteUri",
)

_KINDS = {
    "country": "country",
    "administrative_area_level_1": "region",
    "administrative_area_level_2": "region",
    "locality": "city",
    "postal_town": "city",
    "sublocality": "city",
    "administrative_area_level_3": "city",
    "route": "street",
    "intersection": "crossing",
    "street_address": "address",
    "premise": "address",
    "subpremise": "address",
    "airport": "airport",
}

_PLACES = "https://places.googleapis.com"
_ID = re.compile(r"google:([A-Za-z0-9_-]{1,300})\Z")
_TYPE = re.compile(r"[a-z_]{2,60}\Z")
_PAGE = 20
_MAX_RESULTS = 60
_MAX_SUGGESTIONS = 5
_MAX_RADIUS_M = 50_000.0
_NEAR_KM = 25.0
_MAX_SIDE_PX = 640
_MAX_ZOOM = 21
_RETRYABLE = frozenset({"OVER_QUERY_LIMIT", "UNKNOWN_ERROR"})


def read_place(result: replies.Object) -> Place | None:
    """Return the place in a result of Places (New)."""
    location = replies.inner(result, "location")
    at = replies.point(location.get("latitude"), location.get("longitude"))
    identity, address = replies.text(result, "id", 300), replies.text(result, "formattedAddress", LONG_CHARS)
    name = read_nested_text(result, "displayName", "text") or (address.split(",")[0] if address else None)
    if at is None or not identity or not name:
        return None
    low, high = replies.inner(result, "viewport", "low"), replies.inner(result, "viewport", "high")
    extent = replies.box(low.get("latitude"), low.get("longitude"), high.get("latitude"), high.get("longitude"))
    types = [replies.text(result, "primaryType") or "", *replies.words(result, "types")]
    facts = replies.details({"phone": result.get("internationalPhoneNumber"), "website": result.get("websiteUri")})
    if any(types):
        facts["types"] = ", ".join(dict.fromkeys(kind for kind in types if kind))
    return Place(
        f"google:{identity}",
        name,
        _choose_kind(types),
        at,
        extent or spot(at),
        "google",
        replies.country(component(result, "country")[1]),
        component(result, "administrative_area_level_1")[0],
        address,
        facts,
    )


def read_geocoded_place(result: replies.Object) -> Place | None:
    """Return the place in a result of Geocoding."""
    geometry = replies.inner(result, "geometry")
    location = replies.inner(geometry, "location")
    at = replies.point(location.get("lat"), location.get("lng"))
    identity, address = replies.text(result, "place_id", 300), replies.text(result, "formatted_address", LONG_CHARS)
    if at is None or not identity or not address:
        return None
    around = replies.inner(geometry, "bounds") or replies.inner(geometry, "viewport")
    low, high = replies.inner(around, "southwest"), replies.inner(around, "northeast")
    types = replies.words(result, "types")
    first = next(replies.objects(result, "address_components"), {})
    named = any(component_type in replies.words(first, "types") for component_type in types)
    return Place(
        f"google:{identity}",
        (replies.text(first, "long_name") if named else None) or address.split(",")[0],
        _choose_kind(types),
        at,
        replies.box(low.get("lat"), low.get("lng"), high.get("lat"), high.get("lng")) or spot(at),
        "google",
        replies.country(component(result, "country")[1]),
        component(result, "administrative_area_level_1")[0],
        address,
        {"types": ", ".join(types)} if types else {},
    )


def component(result: replies.Object, component_type: str) -> tuple[str | None, str | None]:
    """Return the long and the short name of one level of an address, from either API."""
    for part in (*replies.objects(result, "addressComponents"), *replies.objects(result, "address_components")):
        if component_type in replies.words(part, "types"):
            return replies.first_text(part, "longText", "long_name"), replies.first_text(
                part, "shortText", "short_name"
            )
    return None, None


def _choose_kind(types: list[str]) -> str:
    known = next((_KINDS[google_type] for google_type in types if google_type in _KINDS), None)
    return known or f"google={next((google_type for google_type in types if google_type), 'place')}"


class Google(OnlineAtlas):
    """Google's map services, with the key in ``GOOGLE_MAPS_API_KEY``; not cached unless the settings say so."""

    name: ClassVar[str] = "google"
    base_url: ClassVar[str] = "https://maps.googleapis.com"
    keep_hours: ClassVar[float] = 0.0

    def __init__(self, client: OnlineClient) -> None:
        """Read the key from the environment."""
        super().__init__(client)
        key = key_from_environment("GOOGLE_MAPS_API_KEY", "Google", self.settings)
        self._in_query, self._in_header = Credentials(params={"key": key}), Credentials(headers={"x-goog-api-key": key})

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with this name or address, as ranked by Google."""
        query = query_text(text)
        if not query or limit < 1:
            return []
        box = bounding_box(within) if within is not None else None
        code = replies.country(country)
        results = await self._geocoding(
            {
                "address": query,
                "bounds": f"{box.south},{box.west}|{box.north},{box.east}" if box else None,
                "components": f"country:{code}" if code else None,
            }
        )
        hits = [hit(place, query, is_address=True) for place in map(read_geocoded_place, results) if place]
        return inside(hits, within)[:limit]

    async def reverse(self, point: LatLon) -> Reverse:
        """Return the addresses at a point, the town first, then from fine to coarse; without a country at sea."""
        results = await self._geocoding({"latlng": f"{point.lat:.7f},{point.lon:.7f}"})
        places = [place for place in map(read_geocoded_place, results) if place]
        if not places:
            return Reverse(point, None, None, None, (), self.name)
        country_name = next((name for name in (component(result, "country")[0] for result in results) if name), None)
        hits = [near_hit(place, point, 1.0) for place in places]
        hits.sort(key=lambda hit: hit.place.kind != "city")
        return Reverse(point, places[0].country, country_name, places[0].region, tuple(hits[:5]), self.name)

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return at most five completions: Google's have no positions, so each costs another request."""
        query = query_text(prefix)
        if not query or limit < 1:
            return []
        answer = await self._parse_results(":autocomplete", {"input": query, **self._bias(near)}, fields=None)
        ids = [
            replies.text(replies.inner(result, "placePrediction"), "placeId", 300)
            for result in replies.objects(answer, "suggestions")
        ]
        wanted = [f"google:{place_id}" for place_id in ids if place_id][: min(limit, _MAX_SUGGESTIONS)]
        places = await asyncio.gather(*(self.poi(place_id) for place_id in wanted))
        return [hit(place, query, near=near) for place in places if place]

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Search features by name, as ranked by Google; a category is one of Google's types ("cafe")."""
        query = query_text(text) or query_text(category or "")
        if not query or limit < 1:
            return []
        body: dict[str, object] = (
            {"textQuery": query, "includedType": _google_type(category)} if category else {"textQuery": query}
        )
        if within is not None and bounding_box(within).width_deg <= 180:
            body["locationRestriction"] = {"rectangle": _rectangle(within)}
        else:
            body |= self._bias(near)
        found: list[replies.Object] = []
        wanted = min(limit if within is None else _MAX_RESULTS, _MAX_RESULTS)
        while len(found) < wanted:
            answer = await self._parse_results(":searchText", {**body, "pageSize": min(_PAGE, wanted)}, fields="places")
            found += replies.objects(answer, "places")
            token = replies.text(answer, "nextPageToken", 5000)
            if not token:
                break
            body["pageToken"] = token
        places = [place for place in map(read_place, found) if place]
        return inside((hit(place, query, near=near) for place in places), within)[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """Return a place by Google's id."""
        match = _ID.match(place_id)
        if match is None:
            return None
        question = self.question(
            f"/v1/places/{match[1]}",
            {"languageCode": self.settings.language},
            credentials=self._in_header,
            base=_PLACES,
            headers=(("x-goog-fieldmask", ",".join(FIELD_MASK)),),
            absent=(404,),
        )
        answer = await self.client.json(question)
        return None if answer is None else read_place(replies.need_object(answer, parse_host(question.url)))

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point, nearest first; Google returns at most twenty."""
        check_radius(radius_m, _MAX_RADIUS_M, self.name)
        if limit < 1:
            return []
        body: dict[str, object] = {
            "locationRestriction": {"circle": {"center": _latlng(point), "radius": radius_m}},
            "maxResultCount": min(limit, _PAGE),
            "rankPreference": "DISTANCE",
        }
        if category:
            body["includedTypes"] = [_google_type(category)]
        answer = await self._parse_results(":searchNearby", body, fields="places", paged=False)
        places = [place for place in map(read_place, replies.objects(answer, "places")) if place]
        hits = [near_hit(place, point, radius_m / 1000) for place in places]
        return sorted(hits, key=lambda hit: hit.distance_km or 0.0)[:limit]

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Return a drawn map; Google rounds the zoom."""
        return await self._draw_picture(centre, zoom, size, "roadmap", markers)

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite picture; Google rounds the zoom."""
        return await self._draw_picture(centre, zoom, size, "satellite", ())

    async def _draw_picture(
        self,
        centre: LatLon,
        zoom: float,
        size: tuple[int, int],
        map_type: Literal["roadmap", "satellite"],
        markers: Sequence[Marker],
    ) -> Picture:
        check_picture(zoom, size, 2 * _MAX_SIDE_PX, self.name)
        level, scale, request_size = min(_MAX_ZOOM, round(zoom)), 1, size
        if max(size) > _MAX_SIDE_PX:
            # Half the size at scale 2, one zoom level further out, shows the same area in the same number of pixels.
            level, scale, request_size = level - 1, 2, (-(-size[0] // 2), -(-size[1] // 2))
        pins = [
            (
                "markers",
                f"color:0x{marker.colour.lstrip('#')[:6]}|label:{marker.label[:1].upper()}|{_comma(marker.point)}",
            )
            for marker in markers[:20]
        ]
        question = self.question(
            "/maps/api/staticmap",
            {
                "center": _comma(centre),
                "zoom": max(0, level),
                "size": f"{request_size[0]}x{request_size[1]}",
                "scale": scale,
                "maptype": map_type,
                "format": "png",
                "language": self.settings.language,
            },
            credentials=self._in_query,
        )
        question = _with_params(question, pins)
        host = parse_host(question.url)
        png = await self.client.ask(question, lambda body: png_of_size(body, size, host))
        extent = picture_box(centre, max(0, level) + scale - 1, size)
        return Picture(png or b"", extent, "Map data © Google", self.name)

    async def _geocoding(self, params: dict[str, str | int | float | None]) -> list[replies.Object]:
        params = {**params, "language": self.settings.language}
        question = self.question("/maps/api/geocode/json", params, credentials=self._in_query)
        host = parse_host(question.url)

        def check(answer: object) -> None:
            status = replies.text(answer, "status") if isinstance(answer, dict) else None
            if status in ("OK", "ZERO_RESULTS") or not isinstance(answer, dict):
                return
            reason = self._in_query.scrub(replies.text(answer, "error_message") or "no reason given")
            hint = "; check the key in GOOGLE_MAPS_API_KEY" if status == "REQUEST_DENIED" else ""
            raise ServiceFault(
                host, f'reports {status or "no status"}: "{reason}"{hint}', retryable=status in _RETRYABLE
            )

        answer = replies.need_object(await self.client.json(question, check), host)
        return replies.need_objects(answer.get("results"), host, '"results"')

    async def _parse_results(
        self, method: str, body: dict[str, object], *, fields: str | None, paged: bool = True
    ) -> replies.Object:
        mask = [f"{fields}.{field}" for field in FIELD_MASK] + (["nextPageToken"] if paged else []) if fields else None
        question = self.question(
            f"/v1/places{method}",
            {},
            credentials=self._in_header,
            base=_PLACES,
            body=json.dumps({**body, "languageCode": self.settings.language}, sort_keys=True).encode(),
            content_type="application/json",
            headers=(("x-goog-fieldmask", ",".join(mask)),) if mask else (),
        )
        return replies.need_object(await self.client.json(question), parse_host(question.url))

    def _bias(self, near: LatLon | None) -> dict[str, object]:
        return {} if near is None else {"locationBias": {"rectangle": _rectangle(around(near, _NEAR_KM))}}


def _with_params(question: "ServiceRequest", pairs: Sequence[tuple[str, str]]) -> "ServiceRequest":
    return replace(question, params=(*question.params, *pairs))


def _google_type(category: str) -> str:
    word = (category.partition("=")[2] or category).strip().lower().replace(" ", "_")
    if not _TYPE.match(word):
        raise BadInput(f"not one of Google's place types: {category[:60]!r}; they look like cafe or train_station")
    return word


def _rectangle(extent: Extent) -> dict[str, object]:
    box = bounding_box(extent)
    return {"low": _latlng(LatLon(box.south, box.west)), "high": _latlng(LatLon(box.north, box.east))}


def _latlng(point: LatLon) -> dict[str, float]:
    return {"latitude": point.lat, "longitude": point.lon}


def _comma(point: LatLon) -> str:
    return f"{point.lat:.7f},{point.lon:.7f}"
