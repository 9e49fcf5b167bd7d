"""What a run may ask besides its model: maps, searches, the visual prior, and tools of the user's own MCP servers."""

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent import Method
from geosleuth.atlas import Atlas
from geosleuth.errors import BadInput, require
from geosleuth.policies.detective import Detective
from geosleuth.tools import Tool, Toolset, WebSearch
from geosleuth.tools.catalogue import all_tools

from .request import LocateRequest

if TYPE_CHECKING:
    from geosleuth.atlas.online import OnlineSettings
    from geosleuth.clues.visual import VisualPrior
    from geosleuth.tools.borrowed import Borrowing
    from geosleuth.tools.similar import ImageIndex

_BETWEEN = "__"
_NO_PRIOR = "none"


def online_settings(allow: Sequence[str]) -> "OnlineSettings":
    """Whom the user allows, and from the environment their own servers, tiles and contact (docs/online.md)."""
    from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings, TileSource
    from geosleuth.net import host_of
    from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES

    names = (*ONLINE_NAMES, *WEB_NAMES, *IMAGE_NAMES)
    servers = {name: url for name in names if (url := os.environ.get(f"GEOSLEUTH_{name.upper()}_URL"))}
    tiles = {
        kind: TileSource(template=template, attribution=os.environ.get("GEOSLEUTH_TILES_CREDIT", ""))
        for kind in ("map", "satellite")
        if (template := os.environ.get(f"GEOSLEUTH_{kind.upper()}_TILES"))
    }
    # An address on this machine or in the own network, written into the environment, is meant; public hosts are paced
    # and checked like any other.
    hosts = {host_of(url) for url in (*servers.values(), *(source.template for source in tiles.values()))}
    own = {host for host in hosts if _is_local(host)}
    return OnlineSettings(
        allow_hosts=frozenset(allow),
        private_hosts=frozenset(own),
        base_urls=servers,
        contact=os.environ.get("GEOSLEUTH_CONTACT", ""),
        map_tiles=tiles.get("map"),
        satellite_tiles=tiles.get("satellite"),
    )


def _is_local(host: str) -> bool:
    from geosleuth.atlas.online.addresses import address_of, is_public

    try:
        return not is_public(address_of(host))
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def online_maps(request: LocateRequest) -> Atlas | None:
    """Return the map service of ``--maps``; None where the offline atlas is the map.

    Raises:
        UserError: there is no such service, or nobody agreed to its host.
    """
    if request.maps is None:
        return None
    _refuse_offline(request, "--maps")
    from geosleuth.atlas.online import RegionRouter, make_online
    from geosleuth.atlas.online.base import OnlineAtlas
    from geosleuth.atlas.online.consent import check_consent

    settings = online_settings(request.allow)
    made = make_online(request.maps, settings)
    for service in (made.china, made.elsewhere) if isinstance(made, RegionRouter) else (made,):
        if isinstance(service, OnlineAtlas) and service.base_url:
            check_consent(service.address(), settings)
    return made


def web_search(request: LocateRequest) -> WebSearch | None:
    """Return the service of ``--web-search``; None where the atlas's own texts are searched.

    Raises:
        UserError: there is no such service, or it can't be asked.
    """
    if request.web_search is None:
        return None
    _refuse_offline(request, "--web-search")
    from geosleuth.tools.web import make_web

    return make_web(request.web_search, online_settings(request.allow))


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


def prior_of(asked: str | None) -> "VisualPrior | None":
    """The prior that is asked for; where nobody asks, the user's own if one was learned.

    Raises:
        BadInput: there is none of that name, or it can't be read.
    """
    from geosleuth.clues.visual import load_prior, prior_at_hand

    if asked is None:
        return prior_at_hand()
    return None if asked == _NO_PRIOR else load_prior(asked)


def prior_file(asked: str | None, tools: Collection[str]) -> Path | None:
    """The file of the prior that a run with these tools may ask; None where there is none, or GeoCLIP."""
    from geosleuth.clues.visual.choosing import GEOCLIP, default_prior_path

    if not _asks_prior(tools) or asked == _NO_PRIOR or (asked or "").startswith(GEOCLIP):
        return None
    path = default_prior_path() if asked is None else Path(asked).expanduser()
    return path if path.is_file() else None


def tools_with_prior(
    names: Sequence[str | Tool] | None, method: Method, prior: "VisualPrior | None", asked: str | None
) -> Sequence[str | Tool] | None:
    """The tools to switch on; None is the method's own choice.

    Whoever asks for a prior has its tool on, whatever the method. One that merely lies at hand is for the detective,
    and for methods that have the tool anyway: it does not change what a paper's method consists of.
    """
    chosen = any(isinstance(one, str) and not one.startswith("+") for one in names or ())
    if prior is None or chosen or (names is not None and not names):
        return names
    if asked is None and method.name != Detective.name:
        return names
    return [*(names or ()), *(f"+{name}" for name in _prior_tools())]


def check_prior_is_asked(tools: Sequence[str], asked: str | None) -> None:
    """Complain about a prior that nobody can ask.

    Raises:
        BadInput: the tools were chosen by hand, and the one that asks the prior is not among them.
    """
    if asked not in (None, _NO_PRIOR) and not _asks_prior(tools):
        named = " or ".join(_prior_tools())
        raise BadInput(f"--prior is asked with the tool {named}; add it to --tools, or leave --prior out")


def _prior_tools() -> list[str]:
    return [one.name for one in all_tools() if "prior" in one.needs]


def _asks_prior(tools: Collection[str]) -> bool:
    return any("prior" in found.needs for name in tools if (found := all_tools().get(name)) is not None)


def borrowed_of(request: LocateRequest) -> "Borrowing | None":
    """Read ``--mcp`` and ``--mcp-allow``; None where no server is named. Nothing is started or asked yet.

    Raises:
        UserError: they must be mended.
    """
    if request.mcp is None:
        if request.mcp_allow:
            raise BadInput("--mcp-allow names a tool of an MCP server; name the file of servers with --mcp")
        return None
    if request.offline:
        raise BadInput(
            "--mcp asks servers that can reach the network, which --offline rules out; leave one of them out"
        )
    if request.team is not None:
        raise BadInput("--mcp lends tools to one model; leave out --mcp or --team")
    if request.model in (None, Detective.name):
        raise BadInput("--mcp lends tools to a model, and the detective asks none; name a model with --model")
    require("mcp", extra="serve")
    from geosleuth.tools.borrowed import borrowing_of

    return borrowing_of(request.mcp, request.mcp_allow)


def own_names(recorded: Iterable[str]) -> tuple[str, ...]:
    """The names of a recording's tools without those that it had borrowed."""
    return tuple(name for name in recorded if _BETWEEN not in name)


async def with_borrowed(toolset: Toolset, borrowed: "Borrowing | None", held: AsyncExitStack) -> Toolset:
    """Return the tools with the borrowed ones among them; their servers are let go with ``held``.

    Raises:
        BadInput: a tool is allowed that its server does not have.
    """
    if borrowed is None:
        return toolset
    from geosleuth.tools.borrowed import lent_tools

    return Toolset([*toolset, *await held.enter_async_context(lent_tools(borrowed))])
