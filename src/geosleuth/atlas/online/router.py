"""Online services by name, and one atlas out of two: one for mainland China, another for everywhere else.

Thinking with Map routes its queries in this way. Where there is a point, it decides; else a country, a script or a name
does; else the service for elsewhere is asked first and the Chinese one when that finds nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from geosleuth.atlas.protocol import Atlas, Colocation, Document, Hit, Marker, NotOffered, Picture, Place, Reverse
from geosleuth.errors import BadInput
from geosleuth.geo import Extent, LatLon
from geosleuth.geo.gcj02 import in_mainland_china

from .access import OnlineSettings
from .amap import Amap, sounds_chinese
from .base import OnlineAtlas
from .geocoders import Nominatim, OpenCage, Photon
from .google import Google
from .http import OnlineClient
from .overpass import Overpass
from .replies import country as country_of
from .xyz import XyzTiles

T = TypeVar("T")


class RegionRouter:
    """Asks the one or the other. A question that the right one does not offer goes to the other."""

    def __init__(
        self, *, china: Atlas, elsewhere: Atlas, is_china: Callable[[LatLon], bool] = in_mainland_china
    ) -> None:
        """Name the two services, and how to tell whether a point lies in mainland China."""
        self.china = china
        self.elsewhere = elsewhere
        self._is_china = is_china

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close both services, where they have anything to close."""
        for atlas in (self.china, self.elsewhere):
            if isinstance(atlas, OnlineAtlas):
                await atlas.aclose()

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address."""
        order = self._by_area(within) or self._by_country(country) or self._by_text(text)
        return await _first(order, lambda atlas: atlas.geocode(text, limit=limit, within=within, country=country))

    async def reverse(self, point: LatLon) -> Reverse:
        """What lies at a point."""
        return await _offered(self._by_point(point), lambda atlas: atlas.reverse(point))

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Names that begin so."""
        order = self._by_point(near) if near else self._by_text(prefix)
        return await _first(order, lambda atlas: atlas.suggest(prefix, limit=limit, near=near))

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Named features by name."""
        order = self._by_point(near) if near else self._by_area(within) or self._by_text(text)
        return await _first(
            order, lambda atlas: atlas.search_pois(text, near=near, within=within, category=category, limit=limit)
        )

    async def poi(self, place_id: str) -> Place | None:
        """One place; each service knows its own ids."""
        for atlas in (self.elsewhere, self.china):
            try:
                found = await atlas.poi(place_id)
            except NotOffered:
                continue
            if found is not None:
                return found
        return None

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Features around a point."""
        return await _offered(
            self._by_point(point), lambda atlas: atlas.nearby(point, radius_m, category=category, limit=limit)
        )

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Where two streets meet."""
        order = self._by_area(within) or self._by_text(f"{first} {second}")
        return await _first(order, lambda atlas: atlas.crossing(first, second, within=within, limit=limit))

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
        """Every place where all these features stand together."""
        order = self._by_area(within) or self._by_text(" ".join(features))
        return await _first(
            order,
            lambda atlas: atlas.colocated(
                features, within_m, within=within, bearings_deg=bearings_deg, in_order=in_order, limit=limit
            ),
        )

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Passages of text that fit the query."""
        return await _first(self._by_text(text), lambda atlas: atlas.search_documents(text, limit=limit))

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """A drawn map."""
        return await _offered(
            self._by_point(centre), lambda atlas: atlas.map(centre, zoom=zoom, size=size, markers=markers)
        )

    @property
    def has_tiles(self) -> bool:
        """Whether one of the two has pictures from above."""
        return any(getattr(one, "has_tiles", True) for one in (self.china, self.elsewhere))

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """A picture from above."""
        return await _offered(self._by_point(centre), lambda atlas: atlas.satellite(centre, zoom=zoom, size=size))

    def _by_point(self, point: LatLon) -> tuple[Atlas, ...]:
        inside = self._is_china(point)
        return (self.china, self.elsewhere) if inside else (self.elsewhere, self.china)

    def _by_area(self, within: Extent | None) -> tuple[Atlas, ...]:
        return self._by_point(within.centre) if within is not None else ()

    def _by_country(self, country: str | None) -> tuple[Atlas, ...]:
        code = country_of(country)
        if code is None:
            return ()
        return (self.china,) if code == "CN" else (self.elsewhere,)

    def _by_text(self, text: str) -> tuple[Atlas, ...]:
        return (self.china, self.elsewhere) if sounds_chinese(text[:1000]) else (self.elsewhere, self.china)


async def _offered(order: Sequence[Atlas], ask: Callable[[Atlas], Awaitable[T]]) -> T:
    """The answer of the first that offers the question."""
    for atlas in order[:-1]:
        try:
            return await ask(atlas)
        except NotOffered:
            continue
    return await ask(order[-1])


async def _first(order: Sequence[Atlas], ask: Callable[[Atlas], Awaitable[list[T]]]) -> list[T]:
    """The first answer that holds anything; the refusal only where none of them offers the question."""
    refusal: NotOffered | None = None
    answered = False
    for atlas in order:
        try:
            found = await ask(atlas)
        except NotOffered as error:
            refusal = error
            continue
        if found:
            return found
        answered = True
    if refusal is not None and not answered:
        raise refusal
    return []


_SERVICES: dict[str, Callable[[OnlineClient], OnlineAtlas]] = {
    service.name: service for service in (Nominatim, Photon, Overpass, Google, Amap, OpenCage, XyzTiles)
}

ONLINE_NAMES: tuple[str, ...] = tuple(_SERVICES)
"""The services there are."""


def make_online(name: str, settings: OnlineSettings) -> OnlineAtlas | RegionRouter:
    """An online service, which is an `Atlas`; nothing is contacted yet. Close it, or use it as a context manager.

    Two names with a plus make a router: ``amap+google`` asks AMAP in mainland China and Google elsewhere.

    Raises:
        BadInput: there is no service of that name, or its key is not in the environment.
    """
    names = [part.strip().lower() for part in name.split("+")]
    for part in names:
        if part not in _SERVICES:
            raise BadInput(
                f"no online service {part[:40]!r}; there are {', '.join(ONLINE_NAMES)}, and pairs: amap+google"
            )
    client = OnlineClient(settings)
    match [_SERVICES[part](client) for part in names]:
        case [service]:
            return service
        case [china, elsewhere]:
            return RegionRouter(china=china, elsewhere=elsewhere)
        case _:
            raise BadInput(f"a pair has two services, for China and for elsewhere, not {len(names)}")
