"""The base class of online services: requests through one client, and an error for methods they do not offer."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, NoReturn

from geosleuth.atlas.protocol import NotOffered
from geosleuth.support.closing import AsyncClosing
from geosleuth.support.errors import BadInput
from geosleuth.support.net import parse_host

from .access import Credentials, OnlineSettings
from .http import OnlineClient, ServiceRequest

# Services that offer each method of the atlas protocol, named in error messages.
SERVICES_BY_METHOD = {
    "geocode": "the offline atlas, nominatim, photon, google, amap or opencage",
    "reverse": "the offline atlas, nominatim, photon, google, amap or opencage",
    "suggest": "the offline atlas, photon, google or amap",
    "search_pois": "the offline atlas with a region added, nominatim, overpass, google or amap",
    "poi": "the service that gave the id",
    "nearby": "the offline atlas with a region added, overpass, google or amap",
    "crossing": "the offline atlas with a region added, or overpass",
    "colocated": "the offline atlas with a region added, or overpass",
    "search_documents": "the offline atlas",
    "map": "the offline atlas, google, amap or xyz",
    "satellite": "the offline atlas with tiles added, google or xyz",
}

_Refusal = Callable[..., Coroutine[Any, Any, Any]]


def _not_offered(method: str) -> _Refusal:
    """Return a method that raises `NotOffered` as soon as it is called, and names the services that offer it."""

    def refuse(self: "OnlineAtlas", *_: object, **__: object) -> NoReturn:
        raise NotOffered(f"{self.name} does not offer {method}; {SERVICES_BY_METHOD[method]} can answer it")

    refuse.__name__ = method
    refuse.__doc__ = "Not offered by this service."
    return refuse


class OnlineService(AsyncClosing):
    """A service that is asked through a client.

    Attributes:
        name: the provider's name.
        base_url: its default address; None if only the user knows it, and then ``no_address`` says what to do.
        spacing_s: the default time between two requests to it.
        keep_hours: how long its answers are cached by default.
    """

    name: ClassVar[str]
    base_url: ClassVar[str | None]
    no_address: ClassVar[str] = ""
    spacing_s: ClassVar[float] = 0.1
    keep_hours: ClassVar[float] = 24.0

    def __init__(self, client: OnlineClient) -> None:
        """Send requests through a client, which several services may share."""
        self.client = client

    @property
    def settings(self) -> OnlineSettings:
        """The user's settings."""
        return self.client.settings

    @property
    def host(self) -> str:
        """The host name of the service, for messages."""
        return parse_host(self.address())

    async def aclose(self) -> None:
        """Close the client."""
        await self.client.aclose()

    def question(
        self,
        path: str,
        params: Mapping[str, str | int | float | None],
        *,
        credentials: Credentials | None = None,
        base: str | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        absent: tuple[int, ...] = (),
    ) -> ServiceRequest:
        """Return a request to this service; parameters that are None are left out, and a body makes it a POST."""
        return ServiceRequest(
            url=self.address(base) + path,
            params=tuple((name, str(value)) for name, value in params.items() if value is not None),
            method="GET" if body is None else "POST",
            body=body,
            headers=(*headers, *((("content-type", content_type),) if content_type else ())),
            credentials=credentials or Credentials(),
            keep_s=self.settings.cache_hours.get(self.name, self.keep_hours) * 3600,
            spacing_s=self.spacing_s,
            absent=absent,
        )

    def address(self, base: str | None = None) -> str:
        """Return the address of the service: from the settings, or else ``base``, or else the default.

        Raises:
            BadInput: none of these gives an address, or it is not a valid one.
        """
        return get_service_address(type(self), self.settings, base)


class OnlineAtlas(OnlineService):
    """An online service behind the atlas protocol. Methods that a subclass does not override raise `NotOffered`."""

    geocode = _not_offered("geocode")
    reverse = _not_offered("reverse")
    suggest = _not_offered("suggest")
    search_pois = _not_offered("search_pois")
    poi = _not_offered("poi")
    nearby = _not_offered("nearby")
    crossing = _not_offered("crossing")
    colocated = _not_offered("colocated")
    search_documents = _not_offered("search_documents")
    map = _not_offered("map")
    satellite = _not_offered("satellite")

    @property
    def has_tiles(self) -> bool:
        """Return whether this atlas offers satellite pictures."""
        return type(self).satellite is not OnlineAtlas.satellite


def get_service_address(service: "type[OnlineService]", settings: OnlineSettings, base: str | None = None) -> str:
    """Return the address of a service, see `OnlineService.address`."""
    chosen = settings.base_urls.get(service.name) or base or service.base_url
    if not chosen:
        raise BadInput(service.no_address)
    if not parse_host(chosen) or "?" in chosen or "#" in chosen:
        raise BadInput(
            f"the address of {service.name} must be one such as https://host/path, without ? and #: {chosen[:100]!r}"
        )
    return chosen.rstrip("/")
