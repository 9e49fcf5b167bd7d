"""Online services by name, and one atlas out of several: by region, or with the offline atlas behind them.

Thinking with Map routes its queries by region: one service for mainland China, another for everywhere else. Where there
is a point, it decides; else a country, a script or a name does; else the service for elsewhere is asked first and the
Chinese one when that finds nothing.

Whoever names a map service has the offline atlas behind it: it answers what the service does not offer or does not
know, and takes over when the service fails.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

from geosleuth.atlas.offline import OfflineAtlas
from geosleuth.atlas.protocol import Atlas, Colocation, Document, Hit, Marker, NotOffered, Picture, Place, Reverse
from geosleuth.errors import BadInput, ServiceFault, UserError
from geosleuth.geo import Extent, LatLon
from geosleuth.geo.gcj02 import in_mainland_china
from geosleuth.net import host_of

from .access import OnlineSettings
from .amap import Amap, sounds_chinese
from .base import OnlineAtlas
from .geocoders import Nominatim, OpenCage, Photon, osm_reference
from .google import Google
from .http import OnlineClient
from .overpass import Overpass
from .replies import country as country_of
from .xyz import XyzTiles

T = TypeVar("T")


class ManyAtlases(ABC):
    """Asks one atlas after the other. A question that one does not offer, or finds nothing for, goes to the next."""

    @abstractmethod
    def _order(
        self, *, point: LatLon | None = None, area: Extent | None = None, country: str | None = None, text: str = ""
    ) -> Sequence[Atlas]:
        """Whom to ask, in order, about a point, an area, a country, or a text."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the services that have anything to close."""
        for atlas in self._order():
            if isinstance(atlas, OnlineAtlas | ManyAtlases):
                await atlas.aclose()

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address."""
        order = self._order(area=within, country=country, text=text)
        return await self._first(order, lambda atlas: atlas.geocode(text, limit=limit, within=within, country=country))

    async def reverse(self, point: LatLon) -> Reverse:
        """What lies at a point."""
        return await self._offered(self._order(point=point), lambda atlas: atlas.reverse(point))

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Names that begin so."""
        order = self._order(point=near, text=prefix)
        return await self._first(order, lambda atlas: atlas.suggest(prefix, limit=limit, near=near))

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
        order = self._order(point=near, area=within, text=text)
        return await self._first(
            order, lambda atlas: atlas.search_pois(text, near=near, within=within, category=category, limit=limit)
        )

    async def poi(self, place_id: str) -> Place | None:
        """One place; each service knows its own ids."""
        for atlas in self._order():
            try:
                found = await self._ask(atlas, lambda one: one.poi(place_id))
            except NotOffered:
                continue
            if found is not None:
                return found
        return None

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Features around a point."""
        order = self._order(point=point)
        return await self._offered(order, lambda atlas: atlas.nearby(point, radius_m, category=category, limit=limit))

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Where two streets meet."""
        order = self._order(area=within, text=f"{first} {second}")
        return await self._first(order, lambda atlas: atlas.crossing(first, second, within=within, limit=limit))

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
        order = self._order(area=within, text=" ".join(features))
        return await self._first(
            order,
            lambda atlas: atlas.colocated(
                features, within_m, within=within, bearings_deg=bearings_deg, in_order=in_order, limit=limit
            ),
        )

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Passages of text that fit the query."""
        return await self._first(self._order(text=text), lambda atlas: atlas.search_documents(text, limit=limit))

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """A drawn map."""
        order = self._order(point=centre)
        return await self._offered(order, lambda atlas: atlas.map(centre, zoom=zoom, size=size, markers=markers))

    @property
    def has_tiles(self) -> bool:
        """Whether one of them has pictures from above."""
        return any(getattr(one, "has_tiles", True) for one in self._order())

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """A picture from above."""
        order = self._order(point=centre)
        return await self._offered(order, lambda atlas: atlas.satellite(centre, zoom=zoom, size=size))

    async def _ask(self, atlas: Atlas, ask: Callable[[Atlas], Awaitable[T]]) -> T:
        """The answer of one of them; `NotOffered` means that the next is asked."""
        return await ask(atlas)

    async def _offered(self, order: Sequence[Atlas], ask: Callable[[Atlas], Awaitable[T]]) -> T:
        """The answer of the first that offers the question."""
        for atlas in order[:-1]:
            try:
                return await self._ask(atlas, ask)
            except NotOffered:
                continue
        return await self._ask(order[-1], ask)

    async def _first(self, order: Sequence[Atlas], ask: Callable[[Atlas], Awaitable[list[T]]]) -> list[T]:
        """The first answer that holds anything; the refusal only where none of them offers the question."""
        refusal: NotOffered | None = None
        answered = False
        for atlas in order:
            try:
                found = await self._ask(atlas, ask)
            except NotOffered as error:
                refusal = error
                continue
            if found:
                return found
            answered = True
        if refusal is not None and not answered:
            raise refusal
        return []


class RegionRouter(ManyAtlases):
    """Asks one service about mainland China and another about everywhere else."""

    def __init__(
        self, *, china: Atlas, elsewhere: Atlas, is_china: Callable[[LatLon], bool] = in_mainland_china
    ) -> None:
        """Name the two services, and how to tell whether a point lies in mainland China."""
        self.china = china
        self.elsewhere = elsewhere
        self._is_china = is_china

    def _order(
        self, *, point: LatLon | None = None, area: Extent | None = None, country: str | None = None, text: str = ""
    ) -> Sequence[Atlas]:
        where = point or (area.centre if area is not None else None)
        code = country_of(country)
        if where is None and code is not None:
            return (self.china,) if code == "CN" else (self.elsewhere,)
        first = sounds_chinese(text[:1000]) if where is None else self._is_china(where)
        return (self.china, self.elsewhere) if first else (self.elsewhere, self.china)


_listeners: list[Callable[[str, ServiceFault], None]] = []


@contextmanager
def announcing_takeovers(say: Callable[[str], None], *, exact: bool = True) -> Iterator[None]:
    """Say in one line when the offline atlas takes over; what the service said is left out unless exact."""

    def hear(name: str, fault: ServiceFault) -> None:
        trouble = fault.trouble if exact else "no answer"
        say(f"{fault.host}: {trouble}; the offline atlas answers in place of {name}")

    _listeners.append(hear)
    try:
        yield
    finally:
        _listeners.remove(hear)


class BackedAtlas(ManyAtlases):
    """Map services with the offline atlas behind them.

    The services are asked first, in their order. The offline atlas answers what they do not offer or find nothing for.
    A service that fails is left alone for a while; the first failure is announced, see `announcing_takeovers`.
    """

    def __init__(self, services: Sequence[OnlineAtlas | RegionRouter], offline: OfflineAtlas, rest_s: float) -> None:
        """Name the services, the atlas behind them, and how long a service that failed is left alone."""
        self.services = tuple(services)
        self.offline = offline
        self._rest_s = rest_s
        self._resting: dict[int, float] = {}
        self._announced = False

    def _order(
        self,
        *,
        point: LatLon | None = None,  # noqa: ARG002
        area: Extent | None = None,  # noqa: ARG002
        country: str | None = None,  # noqa: ARG002
        text: str = "",  # noqa: ARG002
    ) -> Sequence[Atlas]:
        return (*self.services, self.offline)

    async def reverse(self, point: LatLon) -> Reverse:
        """What lies at a point; what the service leaves open is filled in."""
        here = await super().reverse(point)
        if here.country and here.region and here.places:
            return here
        known = await self.offline.reverse(point)
        if here.country not in (None, known.country):
            return here  # at a border the finer map is right
        return replace(
            known,
            country_name=here.country_name or known.country_name,
            region=here.region or known.region,
            places=here.places or known.places,
            source=known.source if here.source in known.source else f"{here.source}, {known.source}",
        )

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Features around a point."""
        return await self._first(
            self._order(), lambda atlas: atlas.nearby(point, radius_m, category=category, limit=limit)
        )

    async def poi(self, place_id: str) -> Place | None:
        """One place. A service does not say which extract an object is in; each that was added is looked through."""
        found = await super().poi(place_id)
        reference = osm_reference(place_id)
        for region in await self.offline.detailed_maps() if found is None and reference else ():
            letter, number = reference or ("", 0)
            found = found or await self.offline.poi(f"osm:{region}:{letter}{number}")
        return found

    async def _ask(self, atlas: Atlas, ask: Callable[[Atlas], Awaitable[T]]) -> T:
        if atlas is self.offline:
            return await ask(atlas)
        if time.monotonic() < self._resting.get(id(atlas), 0.0):
            raise NotOffered("it failed a moment ago and is left alone")
        try:
            return await ask(atlas)
        except ServiceFault as fault:
            self._resting[id(atlas)] = time.monotonic() + self._rest_s
            if not self._announced:
                for hear in tuple(_listeners):
                    self._announced = True
                    hear(name_of(atlas), fault)
            raise NotOffered(str(fault)) from fault
        except UserError as refused:  # such as Overpass without an area: another may know
            raise NotOffered(str(refused)) from refused


def name_of(atlas: Atlas) -> str:
    """The name a service goes by: its own, or those of a pair."""
    if isinstance(atlas, RegionRouter):
        return f"{name_of(atlas.china)}+{name_of(atlas.elsewhere)}"
    return str(getattr(atlas, "name", type(atlas).__name__))


_CLASSES: tuple[type[OnlineAtlas], ...] = (Nominatim, Photon, Overpass, Google, Amap, OpenCage, XyzTiles)
_SERVICES: dict[str, Callable[[OnlineClient], OnlineAtlas]] = {service.name: service for service in _CLASSES}

ONLINE_NAMES: tuple[str, ...] = tuple(_SERVICES)
"""The services there are."""


def public_hosts() -> frozenset[str]:
    """The hosts of the services' own, public servers."""
    return frozenset(host_of(service.base_url) for service in _CLASSES if service.base_url)


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
