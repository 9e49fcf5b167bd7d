"""Create online services by name, and combine atlases: by region, or with the offline atlas as a fallback.

`RegionRouter` routes queries by region, as Thinking with Map does: one service for mainland China, another for the rest
of the world. A point decides, or else a country, a script or a name. Otherwise the service for the rest of the world
comes first, and the Chinese one if that finds nothing.

`BackedAtlas` adds the offline atlas to map services: it answers what they do not offer or do not find, and takes over
when they fail.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from geosleuth.atlas.offline import OfflineAtlas
from geosleuth.atlas.protocol import Atlas, Colocation, Document, Hit, Marker, NotOffered, Picture, Place, Reverse
from geosleuth.geo import Extent, LatLon
from geosleuth.geo.gcj02 import in_mainland_china
from geosleuth.support.closing import AsyncClosing
from geosleuth.support.errors import BadInput, ServiceFault, UserError
from geosleuth.support.net import parse_host
from geosleuth.support.service_use import asking_service, count_service

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

_listeners: list[Callable[[str, ServiceFault], None]] = []
_CLASSES: tuple[type[OnlineAtlas], ...] = (Nominatim, Photon, Overpass, Google, Amap, OpenCage, XyzTiles)
_SERVICES: dict[str, Callable[[OnlineClient], OnlineAtlas]] = {service.name: service for service in _CLASSES}
# Names of all online services.
ONLINE_NAMES: tuple[str, ...] = tuple(_SERVICES)


class _Failed(NotOffered):
    """A service failed, and another atlas may answer in its place."""

    def __init__(self, service: str, trouble: str) -> None:
        super().__init__(trouble)
        self.service = service


class ManyAtlases(AsyncClosing, ABC):
    """Tries several atlases in order. If one does not offer a method, or finds nothing, the next one is tried."""

    @abstractmethod
    def _order(
        self, *, point: LatLon | None = None, area: Extent | None = None, country: str | None = None, text: str = ""
    ) -> Sequence[Atlas]:
        """Return the atlases to try for a query, in order."""

    async def aclose(self) -> None:
        """Close the services that hold connections."""
        for atlas in self._order():
            if isinstance(atlas, OnlineAtlas | ManyAtlases):
                await atlas.aclose()

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with this name or address."""
        order = self._order(area=within, country=country, text=text)
        return await self._first(order, lambda atlas: atlas.geocode(text, limit=limit, within=within, country=country))

    async def reverse(self, point: LatLon) -> Reverse:
        """Return what is at a point."""
        return await self._ask_first_offering(self._order(point=point), lambda atlas: atlas.reverse(point))

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return places whose name starts with the prefix."""
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
        """Search features by name."""
        order = self._order(point=near, area=within, text=text)
        return await self._first(
            order, lambda atlas: atlas.search_pois(text, near=near, within=within, category=category, limit=limit)
        )

    async def poi(self, place_id: str) -> Place | None:
        """Return a place by its id, from the first atlas that knows it."""
        try:
            return await self._through(
                self._order(), lambda atlas: atlas.poi(place_id), lambda found: found is not None
            )
        except NotOffered:
            return None

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point, from the first atlas that offers it."""
        order = self._order(point=point)
        return await self._ask_first_offering(
            order, lambda atlas: atlas.nearby(point, radius_m, category=category, limit=limit)
        )

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Return the places where two streets meet."""
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
        """Return the groups of these features near each other."""
        order = self._order(area=within, text=" ".join(features))
        return await self._first(
            order,
            lambda atlas: atlas.colocated(
                features, within_m, within=within, bearings_deg=bearings_deg, in_order=in_order, limit=limit
            ),
        )

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Return passages of text that match the query."""
        return await self._first(self._order(text=text), lambda atlas: atlas.search_documents(text, limit=limit))

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Return a drawn map."""
        order = self._order(point=centre)
        return await self._ask_first_offering(
            order, lambda atlas: atlas.map(centre, zoom=zoom, size=size, markers=markers)
        )

    @property
    def has_tiles(self) -> bool:
        """Return whether a member atlas has satellite pictures."""
        return any(getattr(atlas, "has_tiles", True) for atlas in self._order())

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite picture."""
        order = self._order(point=centre)
        return await self._ask_first_offering(order, lambda atlas: atlas.satellite(centre, zoom=zoom, size=size))

    async def _ask_amap(self, atlas: Atlas, ask: Callable[[Atlas], Coroutine[Any, Any, T]]) -> T:
        """Ask an atlas and return its answer; `NotOffered` means that the next atlas is tried."""
        if not isinstance(atlas, OnlineAtlas):
            return await ask(atlas)
        with asking_service(atlas.name):
            return await ask(atlas)

    async def _ask_first_offering(self, order: Sequence[Atlas], ask: Callable[[Atlas], Coroutine[Any, Any, T]]) -> T:
        return await self._through(order, ask, lambda _: True)

    async def _first(self, order: Sequence[Atlas], ask: Callable[[Atlas], Coroutine[Any, Any, list[T]]]) -> list[T]:
        """Return the first answer that is not empty; raise `NotOffered` only if no atlas offers the method."""
        return await self._through(order, ask, bool)

    async def _through(
        self, order: Sequence[Atlas], ask: Callable[[Atlas], Coroutine[Any, Any, T]], is_enough: Callable[[T], bool]
    ) -> T:
        """Return the first answer that is enough, or else the last; raise `NotOffered` if none offers the method."""
        refusals: list[NotOffered] = []
        answers: list[T] = []
        for atlas in order:
            try:
                answers.append(await self._ask_amap(atlas, ask))
            except NotOffered as error:
                refusals.append(error)
                continue
            if is_enough(answers[-1]):
                break
        if not answers:
            raise refusals[-1]
        for refusal in refusals:
            if isinstance(refusal, _Failed):
                count_service(refusal.service, fallbacks=1)
        return answers[-1]


class RegionRouter(ManyAtlases):
    """Uses one service for mainland China and another for the rest of the world."""

    def __init__(self, *, china: Atlas, elsewhere: Atlas) -> None:
        """Combine two services."""
        self.china = china
        self.elsewhere = elsewhere

    def _order(
        self, *, point: LatLon | None = None, area: Extent | None = None, country: str | None = None, text: str = ""
    ) -> Sequence[Atlas]:
        where = point or (area.centre if area is not None else None)
        code = country_of(country)
        if where is None and code is not None:
            return (self.china,) if code == "CN" else (self.elsewhere,)
        first = sounds_chinese(text[:1000]) if where is None else in_mainland_china(where)
        return (self.china, self.elsewhere) if first else (self.elsewhere, self.china)


@contextmanager
def announcing_takeovers(say: Callable[[str], None], *, exact: bool = True) -> Iterator[None]:
    """Within the block, report in one line when the offline atlas takes over.

    Args:
        say: called with the line.
        exact: whether to quote the service's fault.
    """

    def announce(name: str, fault: ServiceFault) -> None:
        trouble = fault.trouble if exact else "no answer"
        say(f"{fault.host}: {trouble}; the offline atlas answers in place of {name}")

    _listeners.append(announce)
    try:
        yield
    finally:
        _listeners.remove(announce)


class BackedAtlas(ManyAtlases):
    """Map services with the offline atlas as a fallback.

    The services are tried first, in order. The offline atlas answers what they do not offer or find nothing for. A
    service that fails is skipped for a while; the first failure is announced, see `announcing_takeovers`.
    """

    def __init__(self, services: Sequence[OnlineAtlas | RegionRouter], offline: OfflineAtlas, rest_s: float) -> None:
        """Combine services with the offline atlas; a service that failed is skipped for ``rest_s``."""
        self.services = tuple(services)
        self.offline = offline
        self._rest_s = rest_s
        self._skipped: dict[int, tuple[str, float]] = {}
        """Which service of an atlas failed, and until when the atlas is skipped."""
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
        """Return what is at a point; the offline atlas fills in what the service leaves empty."""
        online = await super().reverse(point)
        if online.country and online.region and online.places:
            return online
        offline = await self.offline.reverse(point)
        if online.country not in (None, offline.country):
            return online  # near a border, the service's more detailed map is right
        return replace(
            offline,
            country_name=online.country_name or offline.country_name,
            region=online.region or offline.region,
            places=online.places or offline.places,
            source=offline.source if online.source in offline.source else f"{online.source}, {offline.source}",
        )

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point; unlike in `ManyAtlases`, an empty answer goes on to the next atlas."""
        return await self._first(
            self._order(), lambda atlas: atlas.nearby(point, radius_m, category=category, limit=limit)
        )

    async def poi(self, place_id: str) -> Place | None:
        """Return a place by its id; a service's OpenStreetMap id is also looked up in every added map."""
        found = await super().poi(place_id)
        reference = osm_reference(place_id)
        for region in await self.offline.list_detailed_maps() if found is None and reference else ():
            letter, number = reference or ("", 0)
            found = found or await self.offline.poi(f"osm:{region}:{letter}{number}")
        return found

    async def _ask_amap(self, atlas: Atlas, ask: Callable[[Atlas], Coroutine[Any, Any, T]]) -> T:
        service, until = self._skipped.get(id(atlas), ("", 0.0))
        if time.monotonic() < until:
            if not _offers(atlas, ask):
                raise NotOffered(f"{service} does not offer this")
            count_service(service, asked=1, failed=1)
            raise _Failed(service, "it failed a moment ago and is left alone")
        try:
            return await super()._ask_amap(atlas, ask)
        except ServiceFault as fault:
            service = fault.service or get_name(atlas)
            self._skipped[id(atlas)] = service, time.monotonic() + self._rest_s
            if not self._announced:
                for announce in tuple(_listeners):
                    self._announced = True
                    announce(get_name(atlas), fault)
            raise _Failed(service, str(fault)) from fault
        except UserError as refused:  # such as Overpass without an area; another atlas may answer
            raise NotOffered(str(refused)) from refused


def _offers(atlas: Atlas, ask: Callable[[Atlas], Coroutine[Any, Any, T]]) -> bool:
    """Return whether a service offers a method, without asking it."""
    if isinstance(atlas, RegionRouter):
        return _offers(atlas.china, ask) or _offers(atlas.elsewhere, ask)
    try:
        ask(atlas).close()
    except NotOffered:
        return False
    return True


def get_name(atlas: Atlas) -> str:
    """Return the name of a service, or of a pair ("amap+google")."""
    if isinstance(atlas, RegionRouter):
        return f"{get_name(atlas.china)}+{get_name(atlas.elsewhere)}"
    return str(getattr(atlas, "name", type(atlas).__name__))


def public_hosts() -> frozenset[str]:
    """Return the hosts of the services' public servers."""
    return frozenset(parse_host(service.base_url) for service in _CLASSES if service.base_url)


def check_service(name: str) -> list[str]:
    """Return the names of a service, or of a pair of them.

    Raises:
        BadInput: there is no service of that name.
    """
    names = [part.strip().lower() for part in name.split("+")]
    for part in names:
        if part not in _SERVICES:
            raise BadInput(
                f"no online service {part[:40]!r}; there are {', '.join(ONLINE_NAMES)}, and pairs: amap+google"
            )
    return names


def make_online(name: str, settings: OnlineSettings) -> OnlineAtlas | RegionRouter:
    """Create an online service, an `Atlas`; nothing is contacted yet. Close it, or use it as a context manager.

    Two names with a plus create a router: ``amap+google`` uses AMAP for mainland China and Google elsewhere.

    Raises:
        BadInput: there is no service of that name, or its key is not in the environment.
    """
    names = check_service(name)
    client = OnlineClient(settings)
    match [_SERVICES[part](client) for part in names]:
        case [service]:
            return service
        case [china, elsewhere]:
            return RegionRouter(china=china, elsewhere=elsewhere)
        case _:
            raise BadInput(f"a pair has two services, for China and for elsewhere, not {len(names)}")
