"""OpenCage: places and addresses by name, and what lies at a point.

Answers hold ``results`` with ``components``, ``formatted``, ``geometry`` and sometimes ``bounds``, and a ``status``.
"""

from typing import ClassVar

from geosleuth.atlas.model import Hit, Place, Reverse
from geosleuth.errors import ServiceFault
from geosleuth.geo import Extent, LatLon

from . import replies
from .access import Credentials, key_from_environment
from .base import OnlineAtlas
from .http import OnlineClient
from .replies import LONG_CHARS, hit, inside, near_hit, osm_kind, plain_boxes, query_text, region, settlement, spot

_MAX_LIMIT = 100
_OWN_WORDS = {"road": "street", "house": "address", "building": "address", "country": "country", "state": "region"}


class OpenCage(OnlineAtlas):
    """OpenCage, with the key in ``OPENCAGE_KEY``; asked not to keep a record of the queries."""

    name: ClassVar[str] = "opencage"
    base_url: ClassVar[str] = "https://api.opencagedata.com/geocode/v1"
    spacing_s: ClassVar[float] = 1.0
    keep_hours: ClassVar[float] = 7 * 24.0

    def __init__(self, client: OnlineClient) -> None:
        """Read the key from the environment."""
        super().__init__(client)
        self._credentials = Credentials(params={"key": key_from_environment("OPENCAGE_KEY", "OpenCage")})

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address, as OpenCage ranks them."""
        query = query_text(text)
        if len(query) < 2 or limit < 1:  # OpenCage refuses shorter ones
            return []
        boxes = plain_boxes(within) if within is not None else []
        bounds = f"{boxes[0].west},{boxes[0].south},{boxes[0].east},{boxes[0].north}" if len(boxes) == 1 else None
        code = (replies.country(country) or "").lower() or None
        results = await self._ask(query, limit=min(limit, _MAX_LIMIT), bounds=bounds, countrycode=code)
        hits = [hit(place, query, is_address=True) for place, _ in results]
        return inside(hits, within)[:limit]

    async def reverse(self, point: LatLon) -> Reverse:
        """The address at a point; without a country at sea."""
        results = await self._ask(f"{point.lat:.7f},{point.lon:.7f}", limit=1, bounds=None, countrycode=None)
        if not results:
            return Reverse(point, None, None, None, (), self.name)
        place, parts = results[0]
        hits = [near_hit(place, point, 1.0)]
        town = settlement(parts)
        if town and town != place.name:
            here = Place(
                f"opencage:settlement:{town}", town, "city", point, spot(point), self.name, place.country, place.region
            )
            hits.insert(0, Hit(here, 1.0, "near", town, 0.0))
        return Reverse(point, place.country, replies.text(parts, "country"), place.region, tuple(hits), self.name)

    async def _ask(
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
        answer = replies.need_object(await self.client.json(question, self._check), self.host)
        results = replies.need_objects(answer.get("results"), self.host, '"results"')
        found = [(self._place(one), replies.inner(one, "components")) for one in results]
        return [(place, parts) for place, parts in found if place is not None]

    def _check(self, answer: object) -> None:
        status = replies.inner(answer, "status") if isinstance(answer, dict) else {}
        code = replies.number(status.get("code", 200))
        if code != 200:
            said = self._credentials.scrub(replies.text(status, "message") or "no reason given")
            raise ServiceFault(self.host, f'reports "{said}"', retryable=code == 429 or (code or 0) >= 500)

    def _place(self, one: replies.Object) -> Place | None:
        parts, geometry = replies.inner(one, "components"), replies.inner(one, "geometry")
        at = replies.point(geometry.get("lat"), geometry.get("lng"))
        address = replies.text(one, "formatted", LONG_CHARS)
        if at is None or not address:
            return None
        sort = replies.text(parts, "_type") or ""
        low, high = replies.inner(one, "bounds", "southwest"), replies.inner(one, "bounds", "northeast")
        extent = replies.box(low.get("lat"), low.get("lng"), high.get("lat"), high.get("lng"))
        return Place(
            f"opencage:{at.lat:.7f},{at.lon:.7f}",
            replies.text(parts, sort) or address.split(",")[0],
            _OWN_WORDS.get(sort) or osm_kind("place", sort or None),
            at,
            extent or spot(at),
            self.name,
            replies.country(parts.get("country_code")),
            region(parts),
            address,
            replies.details(one, ("confidence",)),
        )
