"""Searching the web and for pictures online, for those who want it; docs/how-to/go-online.md tells the user's side.

    make_web("brave", OnlineSettings(allow_hosts=frozenset({"api.search.brave.com"})))

Nothing leaves the machine without the user's say, naming the host; nothing that is found leads to another request.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from geosleuth.atlas.online import OnlineClient, OnlineSettings
from geosleuth.atlas.online.base import get_service_address
from geosleuth.support.errors import BadInput
from geosleuth.support.net import parse_host

from .images import ImageService, Published, SerpApi, Serper
from .pages import Brave, DuckDuckGo, SearXNG, Tavily, WebService, You

T = TypeVar("T")

_WEB: Mapping[str, type[WebService]] = {item.name: item for item in (Tavily, You, Brave, SearXNG, DuckDuckGo)}
_IMAGES: Mapping[str, type[ImageService]] = {item.name: item for item in (SerpApi, Serper)}

# Names of web search services.
WEB_NAMES: tuple[str, ...] = tuple(_WEB)

# Names of services that search for similar images.
IMAGE_NAMES: tuple[str, ...] = tuple(_IMAGES)


def make_web(name: str, settings: OnlineSettings) -> WebService:
    """A web search, which is a `WebSearch`; nothing is contacted yet. Close it, or use it as a context manager.

    Raises:
        BadInput: there is no service of that name, its host is not allowed, or its key is not in the environment.
    """
    service = _get_service(name, _WEB, "web search")
    return service(OnlineClient(settings))


def make_image_search(name: str, settings: OnlineSettings, *, published: Sequence[Published] = ()) -> ImageService:
    """An image search, which is an `ImageSearch`; nothing is contacted yet. Close it, or use it as a context manager.

    ``published`` names photos that the user has already put on the web, for a service that takes addresses only.

    Raises:
        BadInput: there is no service of that name, its host is not allowed, its key is not in the environment, or it
            can't work with what was given.
    """
    service = _get_service(name, _IMAGES, "image search")
    return service(OnlineClient(settings), published)


def search_hosts(name: str, settings: OnlineSettings) -> frozenset[str]:
    """The hosts that a web or image search would contact; needs neither its key nor the user's say.

    Raises:
        BadInput: there is no service of that name, or it stands nowhere that is known.
    """
    every: Mapping[str, type[WebService | ImageService]] = {**_WEB, **_IMAGES}
    return frozenset({parse_host(get_service_address(_get_service(name, every, "search"), settings))})


def _get_service(name: str, services: Mapping[str, T], what: str) -> T:
    found = services.get(name.strip().lower())
    if found is None:
        raise BadInput(f"no {what} {name[:40]!r}; there are {', '.join(services)}")
    return found


__all__ = [
    "IMAGE_NAMES",
    "WEB_NAMES",
    "ImageService",
    "Published",
    "WebService",
    "make_image_search",
    "make_web",
    "search_hosts",
]
