"""Searches of a run: maps, the web, similar images, the visual prior."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from geosleuth.agent import Method
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.geo.gcj02 import Datum
from geosleuth.models.detective import Detective
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.tools import ImageSearch, Tool, WebSearch
from geosleuth.tools.toolset import all_tools

from .request import LocateRequest, check_choice

if TYPE_CHECKING:
    from geosleuth.atlas.online import OnlineSettings, Recording
    from geosleuth.evidence.visual import VisualPrior
    from geosleuth.tools.similar import ImageIndex

_NO_PRIOR = "none"
_MAPS_TRIES, _MAPS_SECONDS = 2, 20.0
_OTHERS_SPACING_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """The services and files that a run may ask. Nothing has been sent to them yet.

    Attributes:
        maps: the map services; None if the offline atlas is the map.
        web: the web search; None if the texts of the atlas are searched.
        images: the name of an online image search.
        image_url: the address at which that service finds the photo, so that it need not be sent.
        index: an image index of the user's own.
        visual: the visual prior.
        allow: hosts that the user has agreed to.
    """

    maps: Atlas | None
    web: WebSearch | None
    images: str | None
    image_url: str | None
    index: "ImageIndex | None"
    visual: "VisualPrior | None"
    allow: tuple[str, ...]

    @property
    def image_hosts(self) -> frozenset[str]:
        """The hosts that an online image search shows the photo to."""
        if self.images is None or self.image_url is not None:
            return frozenset()
        from geosleuth.tools.web import search_hosts

        return search_hosts(self.images, online_settings(self.allow))

    def find_similar(self, photos: Sequence[OpenedPhoto]) -> ImageSearch | None:
        """Return the search for images like these photos; close it in the loop that uses it."""
        if self.index is not None:
            return self.index.exclude(photos)
        if self.images is None:
            return None
        from geosleuth.tools.web import Published, make_image_search

        published = [Published(photos[0].photo, self.image_url)] if self.image_url else []
        return make_image_search(self.images, online_settings(self.allow), published=published)


def build_searches(request: LocateRequest, photos: Sequence[Path]) -> Searches:
    """Return what a request lets a run search.

    Raises:
        UserError: a service is unknown, was not agreed to, or does not go with the other options.
    """
    if request.image_url is not None and request.image_search is None:
        raise BadInput("--image-url is for an online image search; name it with --image-search serper")
    if request.image_url is not None and len(photos) != 1:
        raise BadInput("--image-url is the address of one photo; give one photo")
    visual = load_requested_prior(request.prior)
    index = image_index(request)
    return Searches(
        maps=online_maps(request),
        web=web_search(request),
        images=request.image_search if index is None else None,
        image_url=request.image_url,
        index=index,
        visual=visual,
        allow=request.allow,
    )


def online_settings(allow: Sequence[str], record: "Recording | None" = None) -> "OnlineSettings":
    """Build `OnlineSettings` from allowed hosts and `GEOSLEUTH_*` variables (docs/reference/online-services.md).

    ``record`` keeps every answer for good.
    """
    from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings, TileSource
    from geosleuth.support.net import parse_host
    from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES

    names = (*ONLINE_NAMES, *WEB_NAMES, *IMAGE_NAMES)
    servers = {name: url for name in names if (url := os.environ.get(f"GEOSLEUTH_{name.upper()}_URL"))}
    tiles = {
        kind: TileSource(
            template=template,
            attribution=os.environ.get("GEOSLEUTH_TILES_CREDIT", ""),
            datum=check_choice(
                os.environ.get(f"GEOSLEUTH_{kind.upper()}_DATUM", "wgs84"),
                get_args(Datum),
                f"GEOSLEUTH_{kind.upper()}_DATUM",
            ),
        )
        for kind in ("map", "satellite")
        if (template := os.environ.get(f"GEOSLEUTH_{kind.upper()}_TILES"))
    }
    # An address on this machine or in the own network, written into the environment, is meant; public hosts are paced
    # and checked like any other.
    hosts = {parse_host(url) for url in (*servers.values(), *(source.template for source in tiles.values()))}
    own = {host for host in hosts if is_local(host)}
    return OnlineSettings(
        allow_hosts=frozenset(allow),
        private_hosts=frozenset(own),
        base_urls=servers,
        contact=os.environ.get("GEOSLEUTH_CONTACT", ""),
        map_tiles=tiles.get("map"),
        satellite_tiles=tiles.get("satellite"),
        record=record,
    )


def is_local(host: str) -> bool:
    """Return whether a host is this machine or in the local network, by its address or its name."""
    from geosleuth.atlas.online.access import is_public, parse_address

    try:
        return not is_public(parse_address(host))
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def online_maps(
    request: LocateRequest, record: "Recording | None" = None, offline: OfflineAtlas | None = None
) -> Atlas | None:
    """Return the map services of ``--maps``, the offline atlas behind them; None where that alone is the map.

    With ``record`` every question is put to a service however it fares, so that a repetition gets the same answers.
    ``offline`` is the atlas behind them, where it is not the usual one.

    Raises:
        UserError: there is no such service, or the user has not agreed to its host.
    """
    if request.maps is None:
        if request.maps_url:
            raise BadInput("--maps-url is the address of a map service; name the service with --maps")
        return None
    _refuse_offline(request, "--maps")
    from geosleuth.atlas.online import BackedAtlas, RegionRouter, make_online
    from geosleuth.atlas.online.access import check_consent, check_written_address
    from geosleuth.atlas.online.base import OnlineAtlas

    names = _map_names(request)
    settings = _maps_settings(names, request, record)
    services = [make_online(name, settings) for name in names]
    for made in services:
        for service in (made.china, made.elsewhere) if isinstance(made, RegionRouter) else (made,):
            if isinstance(service, OnlineAtlas) and service.base_url:
                check_written_address(check_consent(service.address(), settings), settings)
    return BackedAtlas(services, offline or OfflineAtlas(), 0.0 if record else settings.breaker_rest_s)


def map_service(request: LocateRequest, record: "Recording | None" = None) -> Atlas:
    """Return the first map service of ``--maps`` with nothing behind it: what it does not find stays unknown.

    Raises:
        UserError: there is no such service, or the user has not agreed to its host.
    """
    from geosleuth.atlas.online import BackedAtlas

    maps = online_maps(request, record)
    if not isinstance(maps, BackedAtlas):
        raise BadInput("name a map service, such as nominatim")
    return maps.services[0]


def _map_names(request: LocateRequest) -> list[str]:
    return [name.strip().lower() for name in request.maps.split(",")] if request.maps else []


def server_settings(request: LocateRequest) -> "OnlineSettings":
    """Return whom a process may ask that asks for all workers of a run, see `geosleuth.atlas.online.answer_server`."""
    usual = online_settings(request.allow)
    return replace(_maps_settings(_map_names(request), request, None), tries=usual.tries, total_s=usual.total_s)


def _maps_settings(names: Sequence[str], request: LocateRequest, record: "Recording | None") -> "OnlineSettings":
    """Return the settings of map services. A written address is the user's consent to its host.

    A host that fails must not use up the time of the tool that asks: the offline atlas takes over within seconds.
    """
    from geosleuth.atlas.online.router import public_hosts
    from geosleuth.support.net import parse_host

    settings = online_settings(request.allow, record)
    if len(request.maps_url) > len(names):
        raise BadInput("--maps-url is given once for each service of --maps, in the same order")
    urls = dict(zip(names, request.maps_url, strict=False))
    hosts = frozenset(map(parse_host, urls.values()))
    own = hosts - public_hosts()
    return replace(
        settings,
        allow_hosts=settings.allow_hosts | hosts,
        private_hosts=settings.private_hosts | own,
        base_urls={**settings.base_urls, **urls},
        spacing_s={**{host: _OTHERS_SPACING_S for host in own if not is_local(host)}, **settings.spacing_s},
        tries=_MAPS_TRIES,
        total_s=_MAPS_SECONDS,
    )


def web_search(request: LocateRequest, record: "Recording | None" = None) -> WebSearch | None:
    """Return the service of ``--web-search``; None where the atlas's own texts are searched.

    Raises:
        UserError: there is no such service, or it can't be asked.
    """
    if request.web_search is None:
        return None
    _refuse_offline(request, "--web-search")
    from geosleuth.tools.web import make_web

    return make_web(request.web_search, online_settings(request.allow, record))


def image_index(request: LocateRequest) -> "ImageIndex | None":
    """Return the user's own image index; None where no image search is wanted, or an online one.

    Raises:
        BadInput: it can't be read, or goes with none of the other options.
    """
    if request.image_search is None:
        return None
    from geosleuth.tools.web import IMAGE_NAMES

    if request.image_search.strip().lower() in IMAGE_NAMES:
        _refuse_offline(request, "--image-search")
        return None
    if request.image_url is not None:
        raise BadInput("--image-url is for an online image search; leave it out with an index of your own")
    from geosleuth.tools.similar import ImageIndex

    return ImageIndex.open(Path(request.image_search))


def _refuse_offline(request: LocateRequest, option: str) -> None:
    if request.offline:
        raise BadInput(f"{option} asks over the network, which --offline rules out; leave one of them out")


def load_requested_prior(asked: str | None) -> "VisualPrior | None":
    """Return the prior that is asked for; where none is, the user's own if one was learned.

    Raises:
        BadInput: there is none of that name, or it can't be read.
    """
    from geosleuth.evidence.visual import load_prior, prior_at_hand

    if asked is None:
        return prior_at_hand()
    return None if asked == _NO_PRIOR else load_prior(asked)


def prior_file(asked: str | None, tools: Collection[str]) -> Path | None:
    """The file of the prior that a run with these tools may ask; None where there is none, or GeoCLIP."""
    from geosleuth.evidence.visual.visual_clue import GEOCLIP, default_prior_path

    if not _asks_prior(tools) or asked == _NO_PRIOR or (asked or "").startswith(GEOCLIP):
        return None
    path = default_prior_path() if asked is None else Path(asked).expanduser()
    return path if path.is_file() else None


def tools_with_prior(
    names: Sequence[str | Tool] | None, method: Method, prior: "VisualPrior | None", asked: str | None
) -> Sequence[str | Tool] | None:
    """The tools to switch on; None is the method's own choice.

    A request for a prior switches its tool on, with any method. One that merely lies at hand is for the detective,
    and for methods that have the tool anyway: it does not change what a paper's method consists of.
    """
    chosen = any(isinstance(item, str) and not item.startswith("+") for item in names or ())
    if prior is None or chosen or (names is not None and not names):
        return names
    if asked is None and method.name != Detective.name:
        return names
    return [*(names or ()), *(f"+{name}" for name in _prior_tools())]


def check_prior_is_asked(tools: Sequence[str], asked: str | None) -> None:
    """Complain about a prior that no tool can ask.

    Raises:
        BadInput: the tools were chosen by hand, and the one that asks the prior is not among them.
    """
    if asked not in (None, _NO_PRIOR) and not _asks_prior(tools):
        named = " or ".join(_prior_tools())
        raise BadInput(f"--prior is asked with the tool {named}; add it to --tools, or leave --prior out")


def _prior_tools() -> list[str]:
    return [tool.name for tool in all_tools() if "prior" in tool.needs]


def _asks_prior(tools: Collection[str]) -> bool:
    return any("prior" in found.needs for name in tools if (found := all_tools().get(name)) is not None)
