"""AMAP (Gaode): places, addresses and features of mainland China.

Its coordinates are "lon,lat" in GCJ-02 and are converted to WGS-84 here, for places in mainland China. An answer has
``status`` "1", or "0" with ``info`` and ``infocode``; empty fields are written as empty lists.
"""

import re
from collections.abc import Sequence
from typing import ClassVar

from geosleuth.atlas.protocol import Hit, Marker, NotOffered, Picture, Place, Reverse
from geosleuth.geo import Box, Extent, LatLon
from geosleuth.geo.gcj02 import from_gcj02, in_mainland_china, to_gcj02
from geosleuth.support.errors import ServiceFault

from . import replies
from .access import Credentials, key_from_environment
from .base import SERVICES_BY_METHOD, OnlineAtlas
from .http import OnlineClient, parse_json
from .replies import (
    LONG_CHARS,
    bounding_box,
    check_picture,
    check_radius,
    hit,
    inside,
    near_hit,
    picture_box,
    png_of_size,
    query_text,
    settlement_hit,
    spot,
)
from .xyz import XyzTiles

_HAN = re.compile("[㐀-鿿豈-﫿\U00020000-\U0003134f]")
_NOT_CHINESE = re.compile("[぀-ヿㇰ-ㇿ가-힣]")
_CHINA = re.compile(r"\b(?:china|chine|cina|prc)\b|中国|中國|中华", re.IGNORECASE)

_MAX_QUERY_CHARS = 80
_PAGE = 25
_MAX_RESULTS = 100
_MAX_RADIUS_M = 50_000.0
_MAX_SIDE_PX = 1024
_MAX_ZOOM = 17
_MAX_MARKERS = 10
_ID = re.compile(r"amap:([A-Za-z0-9]{1,40})\Z")
# Error codes for "too fast", "busy" and "failed": the same request may succeed later.
_RETRYABLE = frozenset({"10004", "10014", "10015", "10016", "10019", "10020", "10021", "10022", "10023", "20003"})
_LEVELS = {
    "国家": "country",
    "省": "region",
    "市": "city",
    "区县": "city",
    "乡镇": "city",
    "村庄": "city",
    "道路": "street",
}


def sounds_chinese(text: str) -> bool:
    """Return whether a text probably names a place in China: it names China, or its only CJK script is Chinese."""
    return bool(_CHINA.search(text)) or bool(_HAN.search(text) and not _NOT_CHINESE.search(text))


_LEVELS |= {"门牌号": "address", "门址": "address", "道路交叉路口": "crossing", "热点商圈": "place=neighbourhood"}


class Amap(OnlineAtlas):
    """AMAP's web services, with the key in ``AMAP_KEY``."""

    name: ClassVar[str] = "amap"
    base_url: ClassVar[str] = "https://restapi.amap.com"
    spacing_s: ClassVar[float] = 0.35
    keep_hours: ClassVar[float] = 0.0

    def __init__(self, client: OnlineClient) -> None:
        """Read the key from the environment."""
        super().__init__(client)
        self._credentials = Credentials(params={"key": key_from_environment("AMAP_KEY", "AMAP", self.settings)})

    @property
    def has_tiles(self) -> bool:
        """Return whether the settings name satellite tiles: AMAP's web services have none of their own."""
        return self.settings.satellite_tiles is not None

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite picture from the tiles that the settings name."""
        if not self.has_tiles:
            raise NotOffered(f"{self.name} does not offer satellite; {SERVICES_BY_METHOD['satellite']} can answer it")
        return await XyzTiles(self.client).satellite(centre, zoom=zoom, size=size)

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return addresses in China, as ranked by AMAP; none for other countries."""
        query = query_text(text, _MAX_QUERY_CHARS)
        if not query or limit < 1 or (replies.country(country) or "CN") != "CN":
            return []
        answer = await self._ask_amap("/v3/geocode/geo", {"address": query})
        hits = []
        for result in replies.need_objects(answer.get("geocodes"), self.host, '"geocodes"'):
            at = _parse_location(result.get("location"))
            address = replies.text(result, "formatted_address", LONG_CHARS)
            if at is None or not address:
                continue
            name = replies.first_text(result, "street", "district", "city", "province") or address
            kind = _LEVELS.get(replies.text(result, "level") or "", "place=yes")
            identity = f"amap:{at.lon:.6f},{at.lat:.6f}"
            place = Place(
                identity, name, kind, at, spot(at), self.name, "CN", replies.text(result, "province"), address
            )
            hits.append(hit(place, query, names=(address,), is_address=True))
        return inside(hits, within)[:limit]

    async def reverse(self, point: LatLon) -> Reverse:
        """Return the address at a point and features nearby; without a country outside China."""
        answer = await self._ask_amap(
            "/v3/geocode/regeo", {"location": _location(point), "extensions": "all", "radius": 200}
        )
        regeocode = replies.need_object(answer.get("regeocode"), self.host, '"regeocode"')
        parts = replies.inner(regeocode, "addressComponent")
        address = replies.text(regeocode, "formatted_address", LONG_CHARS)
        country_name = replies.text(parts, "country")
        if not address or not country_name:
            return Reverse(point, None, None, None, (), self.name)
        province = replies.text(parts, "province")
        town = replies.first_text(parts, "city", "district") or province or address
        code = "CN" if country_name in ("中国", "China") else None
        here = settlement_hit(self.name, town, point, code, province, address)
        beside = [self._poi(result) for result in replies.objects(regeocode, "pois")]
        hits = sorted(
            (near_hit(place, point, 0.2) for place in beside if place), key=lambda hit: hit.distance_km or 0.0
        )
        return Reverse(point, code, country_name, province, (here, *hits[:5]), self.name)

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return places whose name starts with the prefix; results without a position (bus lines) are left out."""
        query = query_text(prefix, _MAX_QUERY_CHARS)
        if not query or limit < 1:
            return []
        place_near = None if near is None else _location(near)
        answer = await self._ask_amap(
            "/v3/assistant/inputtips", {"keywords": query, "location": place_near, "datatype": "all"}
        )
        places = [self._poi(result) for result in replies.need_objects(answer.get("tips"), self.host, '"tips"')]
        return [hit(place, query, near=near) for place in places if place][:limit]

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Search features by name; a category is an AMAP type code, or else one more search word."""
        type_code, category_word = _type_code_or_word(category)
        words = (query_text(text, _MAX_QUERY_CHARS), category_word)
        query = " ".join(word for word in words if word)[:_MAX_QUERY_CHARS]
        if not (query or type_code) or limit < 1:
            return []
        params: dict[str, str | int | float | None] = {"keywords": query or None, "types": type_code}
        path = "/v5/place/text"
        if within is not None:
            box, path = bounding_box(within), "/v5/place/polygon"
            params["polygon"] = f"{_location(LatLon(box.south, box.west))}|{_location(LatLon(box.north, box.east))}"
        elif near is not None:
            path = "/v5/place/around"
            params |= {"location": _location(near), "radius": int(_MAX_RADIUS_M), "sortrule": "weight"}
        places = await self._pois(path, params, limit if within is None else _MAX_RESULTS)
        return inside((hit(place, query or place.name, near=near) for place in places), within)[:limit]

    async def poi(self, place_id: str) -> Place | None:
        """Return a feature by AMAP's id."""
        match = _ID.match(place_id)
        if match is None:
            return None
        answer = await self._ask_amap("/v5/place/detail", {"id": match[1], "show_fields": "business"})
        places = [self._poi(result) for result in replies.need_objects(answer.get("pois"), self.host, '"pois"')]
        return places[0] if places else None

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point, nearest first."""
        check_radius(radius_m, _MAX_RADIUS_M, self.name)
        if limit < 1:
            return []
        type_code, category_word = _type_code_or_word(category)
        params: dict[str, str | int | float | None] = {"location": _location(point), "radius": round(radius_m)}
        params |= {"sortrule": "distance", "types": type_code, "keywords": category_word}
        hits = [
            near_hit(place, point, radius_m / 1000) for place in await self._pois("/v5/place/around", params, limit)
        ]
        return sorted(hits, key=lambda hit: hit.distance_km or 0.0)[:limit]

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Return a drawn map with up to ten markers."""
        check_picture(zoom, size, _MAX_SIDE_PX, self.name)
        level = min(_MAX_ZOOM, max(1, round(zoom)))
        pins = "|".join(
            f"mid,0x{marker.colour.lstrip('#').upper()[:6]},{_letter(marker.label)}:{_location(marker.point)}"
            for marker in markers[:_MAX_MARKERS]
        )
        question = self.question(
            "/v3/staticmap",
            {"location": _location(centre), "zoom": level, "size": f"{size[0]}*{size[1]}", "markers": pins or None},
            credentials=self._credentials,
        )

        def decode(body: bytes) -> bytes:
            if body[:1] == b"{":
                self._check_amap(parse_json(body, self.host))
            return png_of_size(body, size, self.host)

        png = await self.client.ask(question, decode)
        drawn = picture_box(to_gcj02(centre), level, size)
        low, high = (from_gcj02(LatLon(drawn.south, drawn.west)), from_gcj02(LatLon(drawn.north, drawn.east)))
        return Picture(png or b"", Box(low.lat, low.lon, high.lat, high.lon), "© AutoNavi (AMAP)", self.name)

    async def _ask_amap(self, path: str, params: dict[str, str | int | float | None]) -> replies.Object:
        question = self.question(path, params, credentials=self._credentials)
        return replies.need_object(await self.client.json(question, self._check_amap), self.host)

    async def _pois(self, path: str, params: dict[str, str | int | float | None], limit: int) -> list[Place]:
        places: list[Place] = []
        wanted = min(limit, _MAX_RESULTS)
        for page in range(1, -(-wanted // _PAGE) + 1):
            paging = {"page_size": min(_PAGE, wanted), "page_num": page}
            answer = await self._ask_amap(path, {**params, **paging, "show_fields": "business"})
            found = replies.need_objects(answer.get("pois"), self.host, '"pois"')
            places += [place for place in (self._poi(result) for result in found) if place]
            if len(found) < _PAGE:
                break
        return places[:wanted]

    def _check_amap(self, answer: object) -> None:
        if not isinstance(answer, dict) or replies.text(answer, "status") == "1":
            return
        code = replies.text(answer, "infocode") or "no code"
        reason = self._credentials.scrub(replies.text(answer, "info") or "no reason given")
        hint = "; check the key in AMAP_KEY" if code in ("10001", "10002", "10005", "10007", "10009") else ""
        raise ServiceFault(self.host, f'reports "{reason}" ({code}){hint}', retryable=code in _RETRYABLE)

    def _poi(self, result: replies.Object) -> Place | None:
        at, name, identity = (
            _parse_location(result.get("location")),
            replies.text(result, "name"),
            replies.text(result, "id"),
        )
        if at is None or not name:
            return None
        levels = (replies.text(result, level) for level in ("pname", "cityname", "adname", "district", "address"))
        facts = {
            **replies.details(replies.inner(result, "business")),
            **replies.details(result, ("type", "typecode", "tel")),
        }
        return Place(
            f"amap:{identity}" if identity and identity.isalnum() else f"amap:{at.lon:.6f},{at.lat:.6f}",
            name,
            f"amap={facts.get('typecode', '').split('|')[0] or 'poi'}",
            at,
            spot(at),
            self.name,
            "CN" if in_mainland_china(at) else None,
            replies.text(result, "pname"),
            " ".join(dict.fromkeys(level for level in levels if level)) or None,
            facts,
        )


def _type_code_or_word(category: str | None) -> tuple[str | None, str | None]:
    """Return a category as one of AMAP's six-digit type codes, or else as a search word."""
    if not category:
        return None, None
    if category.isdecimal() and len(category) == 6:
        return category, None
    return None, query_text(category.partition("=")[2] or category, 40)


def _location(point: LatLon) -> str:
    """Format a point as AMAP requires: longitude first, six decimals, in GCJ-02."""
    shifted = to_gcj02(point)
    return f"{shifted.lon:.6f},{shifted.lat:.6f}"


def _parse_location(location: object) -> LatLon | None:
    if not isinstance(location, str):
        return None
    lon, _, lat = location.partition(",")
    found = replies.point(lat, lon)
    return None if found is None else from_gcj02(found)


def _letter(label: str) -> str:
    """Return the first character of a label if AMAP can draw it (an ASCII letter or digit); else empty."""
    first = label.strip()[:1].upper()
    return first if first.isascii() and first.isalnum() else ""
