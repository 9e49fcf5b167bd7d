"""From a request to all that a run needs: model, maps, searches, prior, MCP tools; whatever is wrong is said here."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from geosleuth.agent import Budget, Method, Trajectory, read_trajectory
from geosleuth.agent.events import Started
from geosleuth.agent.method import PanoramaShown
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import (
    PolicyCard,
    card_of_model,
    card_of_server,
    method_of_run,
    scale_of_policy,
    with_folder,
)
from geosleuth.answer.granularity import GRANULARITIES, Granularity
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.errors import BadInput, require
from geosleuth.geo import LatLon
from geosleuth.geo.gcj02 import Datum
from geosleuth.photo import BoxScale, OpenedPhoto
from geosleuth.policies import Policy, Sampling, Wire, make_policy
from geosleuth.policies.box_scale import box_scale_for
from geosleuth.policies.detective import Detective, DrivingSide
from geosleuth.policies.protocol import ReplayPolicy
from geosleuth.policies.registry import UnknownModel
from geosleuth.tools import ImageSearch, TextReader, Tool, Toolset, WebSearch
from geosleuth.tools.calls import supplied
from geosleuth.tools.toolset import all_tools

from .area import Area, area_of, drawn_area, parse_point, taken_of
from .outputs import Outputs, check_exif, check_is_none_of, check_new_file, copy_of, outputs_of, sidecar_of
from .request import LocateRequest, tool_choice
from .team import Several, check_several, endpoint_settings, files_beside, several_of

if TYPE_CHECKING:
    from geosleuth.atlas.online import OnlineSettings, Recording
    from geosleuth.clues.visual import VisualPrior
    from geosleuth.tools.borrowed import Borrowing
    from geosleuth.tools.similar import ImageIndex

_BETWEEN = "__"
_NO_PRIOR = "none"
_MAPS_TRIES, _MAPS_SECONDS = 2, 20.0
_OTHERS_SPACING_S = 0.1


def online_settings(allow: Sequence[str], record: "Recording | None" = None) -> "OnlineSettings":
    """Whom the user allows, and from the environment their own servers, tiles and contact (docs/online.md).

    ``record`` keeps every answer for good.
    """
    from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings, TileSource
    from geosleuth.net import host_of
    from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES

    names = (*ONLINE_NAMES, *WEB_NAMES, *IMAGE_NAMES)
    servers = {name: url for name in names if (url := os.environ.get(f"GEOSLEUTH_{name.upper()}_URL"))}
    tiles = {
        kind: TileSource(
            template=template,
            attribution=os.environ.get("GEOSLEUTH_TILES_CREDIT", ""),
            datum=_one_of(
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
    hosts = {host_of(url) for url in (*servers.values(), *(source.template for source in tiles.values()))}
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
    """Whether a host is this machine or in the own network, by its address or its name."""
    from geosleuth.atlas.online.access import address_of, is_public

    try:
        return not is_public(address_of(host))
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def online_maps(
    request: LocateRequest, record: "Recording | None" = None, offline: OfflineAtlas | None = None
) -> Atlas | None:
    """Return the map services of ``--maps``, the offline atlas behind them; None where that alone is the map.

    With ``record`` every question is put to a service however it fares, so that a repetition gets the same answers.
    ``offline`` is the atlas behind them, where it is not the usual one.

    Raises:
        UserError: there is no such service, or nobody agreed to its host.
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
        UserError: there is no such service, or nobody agreed to its host.
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
    """Whom map services may ask. A written address is the user's consent to its host, wherever that is.

    A host that fails must not use up the time of the tool that asks: the offline atlas takes over within seconds.
    """
    from geosleuth.atlas.online.router import public_hosts
    from geosleuth.net import host_of

    settings = online_settings(request.allow, record)
    if len(request.maps_url) > len(names):
        raise BadInput("--maps-url is given once for each service of --maps, in the same order")
    urls = dict(zip(names, request.maps_url, strict=False))
    hosts = frozenset(map(host_of, urls.values()))
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
    from geosleuth.clues.visual.visual_clue import GEOCLIP, default_prior_path

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

    return Toolset([*toolset, *await held.enter_async_context(lent_tools(borrowed))], toolset.missing)


_Word = TypeVar("_Word", bound=str)

_REPLAY = "replay:"
_DEFAULT_METHOD = "default"
DETECTIVE = Detective.name
"""Who thinks where no model is named: a policy in code, on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can begin: nothing has been sent, built or written yet.

    ``maps`` is None where the offline atlas is the map. Which pictures are looked for, and where, depends on the
    photos: see `similar_for`. ``notes`` are for whoever asked: what the plan leaves out, and why. With ``completes``
    what a model's answer leaves out is filled in: benchmark runs take it as it is. ``reader`` reads text in place of
    the text reading that comes with the package. ``card`` says how the model was trained, where that
    is known. What the model itself says, `load` finds out by the ``request``.
    """

    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling
    wire: Wire
    hint: str | None
    area: str | None
    within: Area | None
    check: LatLon | None
    force_answer: bool
    granularity: Granularity
    maps: Atlas | None
    web: WebSearch | None
    images: str | None
    image_url: str | None
    index: "ImageIndex | None"
    visual: "VisualPrior | None"
    allow: tuple[str, ...]
    outputs: Outputs
    several: Several | None = None
    borrowed: "Borrowing | None" = None
    notes: tuple[str, ...] = ()
    completes: bool = True
    reader: TextReader | None = None
    card: PolicyCard | None = None
    request: LocateRequest | None = field(default=None, repr=False)

    @property
    def by_detective(self) -> bool:
        """Whether no model is asked."""
        return isinstance(self.policy, Detective) and (self.several is None or self.several.team is None)

    @property
    def usual_jobs(self) -> int:
        """How many photos are worked on at once: reading keeps two cores busy, and models are waited for."""
        return 2 if self.by_detective else 4

    @property
    def missing_tools(self) -> str:
        """Which tools of the method's own choice the run goes without, and what brings each; empty for none."""
        lacking: dict[str, list[str]] = {}
        for one in self.toolset.missing:
            lacking.setdefault(f"{one.lacks}; {one.brought_by}", []).append(one.name)
        if not lacking:
            return ""
        each = "; ".join(f"{', '.join(names)} ({why})" for why, names in lacking.items())
        return f"{self.method.name} lacks {len(self.toolset.missing)} of its {len(self.method.tools)} tools: {each}"

    @property
    def needs_atlas(self) -> bool:
        """Whether the offline atlas may be asked: by tools and verifiers, or for the names that may be told."""
        return len(self.toolset) > 0 or self.several is not None or self.granularity != "exact"

    @property
    def thinkers(self) -> list[Policy]:
        """Everybody who gets to see the photo, each once, in the order in which they do."""
        if self.several is not None and self.several.team is not None:
            return list(self.several.team.policies)
        verifier = self.several.verifier if self.several else None
        return [self.policy] if verifier is None or verifier is self.policy else [self.policy, verifier]

    @property
    def image_hosts(self) -> frozenset[str]:
        """The hosts that an online image search shows the photo to."""
        if self.images is None or self.image_url is not None:
            return frozenset()
        from geosleuth.tools.web import search_hosts

        return search_hosts(self.images, online_settings(self.allow))

    @property
    def sent_to(self) -> tuple[list[Policy], frozenset[str]]:
        """The models that photos leave this machine for, and every host they go to, that of an image search too."""
        sending = [one for one in self.thinkers if one.hosts]
        return sending, self.image_hosts.union(*(one.hosts for one in sending))

    def similar_for(self, photos: Sequence[OpenedPhoto]) -> ImageSearch | None:
        """Where pictures like these photos are looked for; close it in the loop that it is used in."""
        if self.index is not None:
            return self.index.searching_for(photos)
        if self.images is None:
            return None
        from geosleuth.tools.web import Published, make_image_search

        published = [Published(photos[0].photo, self.image_url)] if self.image_url else []
        return make_image_search(self.images, online_settings(self.allow), published=published)

    def announcing(self, say: Callable[[str], None] | None) -> AbstractContextManager[None]:
        """Have it said, once, that a map service failed and the offline atlas takes over."""
        if self.maps is None or say is None:
            return nullcontext()
        from geosleuth.atlas.online import announcing_takeovers

        return announcing_takeovers(say, exact=self.granularity == "exact")

    async def load(self, held: AsyncExitStack, say: Callable[[str], None] = lambda _line: None) -> "Plan":
        """Load the models that must be loaded, and have all of them and the services closed with ``held``.

        Returns the plan as the models want it shown, see `settled`; ``say`` hears what was found out.
        """
        for one in (*self.thinkers, self.maps, self.web):
            if close := getattr(one, "aclose", None):
                held.push_async_callback(close)
        for one in self.thinkers:
            if load := getattr(one, "load", None):
                await load()
        return await self.settled(say)

    async def settled(self, say: Callable[[str], None] = lambda _line: None) -> "Plan":
        """Return the plan with what a model without a card says itself: its server's card, or its scale of boxes.

        Whoever calls this has agreed that the models are asked; `geosleuth.policies.box_probe` asks once.

        Raises:
            BadInput: something is asked for that the model was not trained with.
        """
        request, several = self.request, self.several
        if several is not None and several.team is not None:
            return replace(self, several=replace(several, team=await several.team.settled(say)))
        if request is None or self.card is not None:
            return self
        card = await card_of_server(self.policy) if request.policy_card is None else None
        if card is not None:
            method = _as_trained(card, request)
            return replace(
                self,
                card=card,
                method=method,
                toolset=method.toolset(all_tools(), card.tools),
                budget=_budget(request, method.budget),
                sampling=_sampling(request, method.sampling),
                wire=card.wire,
            )
        usual = self.method.box_scale
        scale = await scale_of_policy(self.policy, self.toolset, usual, say) if request.boxes == "auto" else usual
        return self if scale == usual else replace(self, method=_method(request, scale))


def _usual_scale(request: LocateRequest, began: Started | None) -> BoxScale:
    """Return how a recording's model was asked for boxes, or what the model's family was trained with."""
    made = None if began is None else method_of_run(began)
    return box_scale_for(request.model) if made is None else made.box_scale


def make_plan(
    request: LocateRequest, photos: Sequence[Path] = (), *, batch: bool = False, thinker: Policy | None = None
) -> Plan:
    """Check every field and open what is named, all but the photos; the cheapest checks come first.

    A recording says itself how it was made: what the user leaves out is taken from it. ``thinker`` thinks in place of
    the model that ``request.model`` names.

    Raises:
        UserError: something must be mended; nothing has been written or sent.
    """
    boxes = _one_of(request.boxes, ("auto", *get_args(BoxScale)), "--boxes")
    wire: Wire | None = _one_of(request.wire, get_args(Wire), "--wire") if request.wire is not None else None
    granularity = _one_of(request.granularity, GRANULARITIES, "--granularity")
    taken, checked = taken_of(request.taken), None if request.check is None else parse_point(request.check)
    check_several(request)
    borrowed = borrowed_of(request)
    recorded = _recording(request) if thinker is None else None
    began = recorded.started if recorded else None
    card = None if recorded else card_of_model(request.model, request.policy_card)
    if request.policy_card is not None and thinker is None and request.model in (None, DETECTIVE):
        raise BadInput("--policy-card says how a model was trained; name the model with --model, or leave it out")
    scale: BoxScale = _usual_scale(request, began) if boxes == "auto" else boxes
    method = _method(request, scale, began) if card is None else _as_trained(card, request)
    learned = card.tools if card else own_names(began.tools) if began else None
    visual, names = prior_of(request.prior), tool_choice(None if card else request.tools, learned)
    names = tools_with_prior(names, method, visual, request.prior)
    toolset = method.toolset(all_tools(), names)
    check_prior_is_asked(toolset.names, request.prior)
    if request.trajectory is not None:
        _check_trajectory(request.trajectory, request, photos)
    outputs = _outputs(request, photos, batch=batch)
    _check_searches(request, photos)
    area = _area(request)
    maps, web, index = online_maps(request), web_search(request), image_index(request)
    policy = thinker or _policy(request, recorded, area, taken)
    if not isinstance(policy, Detective):
        have = supplied(
            maps or OfflineAtlas(), visual=visual, similar=bool(request.image_search), web=web, offline=request.offline
        )
        toolset = method.toolset(all_tools(), names, have=have)
    several, notes = several_of(request, policy)
    for path in files_beside(request.trajectory, several) if request.trajectory else ():
        check_new_file(path, overwrite=request.overwrite)
    return Plan(
        policy=policy,
        several=several,
        method=method,
        toolset=toolset,
        budget=_budget(request, began.budget if began else method.budget),
        sampling=_sampling(request, began.sampling if began else method.sampling),
        wire=wire or (began.wire if began else method.wire),
        hint=_hint(request, taken, checked) or (began.task.hint if began else None),
        area=_joined(area.words if area else None, request.area) or (began.task.area if began else None),
        within=area,
        check=checked,
        force_answer=request.force_answer or bool(began and began.task.force_answer),
        granularity=granularity,
        maps=maps,
        web=web,
        images=request.image_search if index is None else None,
        image_url=request.image_url,
        index=index,
        visual=visual,
        allow=request.allow,
        outputs=outputs,
        borrowed=borrowed,
        card=card,
        request=None if recorded else request,
        notes=(*notes, *_not_seen(request.seen)),
    )


def _method(request: LocateRequest, scale: BoxScale, began: Started | None = None) -> Method:
    """Return the method that is asked for, or else a recording's or the usual one, in the user's words."""
    method = method_of(request.method or (began.method if began else _usual_method(request)), box_scale=scale)
    # The agents of a team have methods of their own, and take the words for these.
    return _shown(with_folder(method, None if request.team is not None else request.prompts), request)


def _shown(method: Method, request: LocateRequest) -> Method:
    if request.panorama is None:
        return method
    return replace(method, panorama=_one_of(request.panorama, get_args(PanoramaShown), "--panorama"))


def _as_trained(card: PolicyCard, request: LocateRequest) -> Method:
    """Return the method that a policy learned, where nothing else is asked for.

    Raises:
        BadInput: something is.
    """
    if request.mcp is not None:
        raise BadInput("this policy was trained without tools of MCP servers; leave --mcp out, or --policy-card none")
    boxes = None if request.boxes == "auto" else request.boxes
    asked = tool_choice(request.tools, None)
    played = card.played(
        method=request.method,
        tools=asked,
        wire=request.wire,
        prompts=request.prompts,
        boxes=boxes,  # type: ignore[arg-type]
    )
    return _shown(played, request)


def _check_trajectory(path: Path, request: LocateRequest, photos: Sequence[Path]) -> None:
    check_new_file(path, overwrite=request.overwrite)
    check_is_none_of(path, photos, "the photo itself")
    check_is_none_of(path, map(Path, request.out), "named by --out too")
    if request.model is not None and request.model.startswith(_REPLAY):
        check_is_none_of(path, [_recorded_in(request.model)], "the recording itself")


def _outputs(request: LocateRequest, photos: Sequence[Path], *, batch: bool) -> Outputs:
    outputs = outputs_of(request.out, photos, batch=batch, overwrite=request.overwrite)
    beside: list[Path] = []
    if request.write_exif:
        check_exif(photos, batch=batch, yes=request.yes)
        beside += map(copy_of, photos)
    if request.sidecars:
        beside += map(sidecar_of, photos)
    if not batch:
        for path in beside:
            check_new_file(path, overwrite=request.overwrite)
    return replace(outputs, exif=request.write_exif, sidecars=request.sidecars)


def _usual_method(request: LocateRequest) -> str:
    return DETECTIVE if request.model in (None, DETECTIVE) else _DEFAULT_METHOD


TAKEN, SEEN = "It was taken at ", "Somebody sees in it: "
"""How the sentences begin that follow the user's own hint."""


def _hint(request: LocateRequest, taken: datetime | None, checked: LatLon | None) -> str | None:
    """What a model is told; the detective is told more exactly."""
    when = None if taken is None else f"{TAKEN}{taken.isoformat(sep=' ', timespec='minutes')}."
    claim = None
    if checked is not None and request.model not in (None, DETECTIVE):
        claim = (
            f"Somebody claims that it was taken at {checked.lat:.5f}, {checked.lon:.5f}. Check the claim: look for "
            "what speaks for it and against it, look there and elsewhere on the map, and answer with the place where "
            "you find that it was taken. Begin the explanation with FOR, AGAINST or UNDECIDED."
        )
    seen = None if request.seen is None else f"{SEEN}{request.seen}."
    return _joined(request.hint, seen, when, claim, by=" ")


def _not_seen(seen: str | None) -> Iterator[str]:
    """What of somebody's sightings the field guide has no words for.

    Raises:
        BadInput: an attribute or value is named that the guide does not have.
    """
    if seen is not None:
        from geosleuth.guide import read_sightings

        _, unknown = read_sightings(seen)
        if unknown:
            yield f"not in the field guide, and left out: {'; '.join(unknown)}"


def _joined(*parts: str | None, by: str = "; ") -> str | None:
    return by.join(part for part in parts if part) or None


def _one_of(word: str, choices: Sequence[_Word], option: str) -> _Word:
    for choice in choices:
        if word == choice:
            return choice
    raise BadInput(f"{option} is {word[:40]!r}; it must be {' or '.join(choices)}")


def _budget(request: LocateRequest, usual: Budget) -> Budget:
    names = ("turns", "calls", "tokens", "seconds", "usd")
    if usual.reply_tokens is not None and request.reply_tokens is not None:
        usual = replace(usual, reply_tokens=request.reply_tokens)
    return replace(usual, **{name: value for name in names if (value := getattr(request, name)) is not None})


def _sampling(request: LocateRequest, usual: Sampling) -> Sampling:
    return replace(
        usual,
        temperature=usual.temperature if request.temperature is None else request.temperature,
        seed=usual.seed if request.seed is None else request.seed,
        max_tokens=request.reply_tokens or usual.max_tokens,
        thinking_tokens=usual.thinking_tokens if request.thinking_tokens is None else request.thinking_tokens,
    )


def _recording(request: LocateRequest) -> Trajectory | None:
    if request.model is None or not request.model.startswith(_REPLAY):
        return None
    if request.base_url is not None:
        raise BadInput("a recording has no address; leave out --base-url")
    path = _recorded_in(request.model)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInput(f"{path}: is no plain file, and may have no end; give a file that holds a trajectory")
    return read_trajectory(path)


def _recorded_in(model: str) -> Path:
    name = model.removeprefix(_REPLAY).strip()
    if not name:
        raise BadInput(f"{_REPLAY} lacks the recording; write {_REPLAY}FILE")
    return Path(name).expanduser()


def _policy(request: LocateRequest, recorded: Trajectory | None, area: Area | None, taken: datetime | None) -> Policy:
    if recorded is not None:
        return ReplayPolicy(recorded.steps)
    if request.model not in (None, DETECTIVE):
        try:
            return make_policy(
                request.model, base_url=request.base_url, settings=endpoint_settings(request), offline=request.offline
            )
        except UnknownModel as error:
            raise UnknownModel(f"{error}; none is the detective, and {_REPLAY}FILE a recording") from error
    if request.base_url is not None:
        raise BadInput("--base-url is where a model is served; name it with --model server:NAME")
    if request.method not in (None, DETECTIVE):
        named = request.method.name if isinstance(request.method, Method) else request.method[:40]
        raise BadInput(f"--method {named} is for models; name one with --model, or leave the method out")
    side: DrivingSide | None = None
    if request.drives_on is not None:
        side = _one_of(request.drives_on, get_args(DrivingSide), "--drives-on")
    detective = Detective(
        rejected=request.rejected,
        within=area.extent if area else None,
        countries=area.countries if area else None,
        hint=_joined(request.hint, request.area),
        taken=taken,
        drives_on=side,
        seen=request.seen,
        force_answer=request.force_answer,
    )
    drawn = "the area that you drew" if request.drawn is not None else None
    return detective.naming_area(drawn or (area.words if area else None))


def _area(request: LocateRequest) -> Area | None:
    if request.drawn is None:
        return area_of(request.within)
    if request.within is not None:
        raise BadInput("say where it lies in words, or draw the area; not both")
    return drawn_area(request.drawn)


def _check_searches(request: LocateRequest, photos: Sequence[Path]) -> None:
    """Complain before the photos are opened about an image search that can't be made for them."""
    if request.image_url is not None and request.image_search is None:
        raise BadInput("--image-url is for an online image search; name it with --image-search serper")
    if request.image_url is not None and len(photos) != 1:
        raise BadInput("--image-url is the address of one photo; give one photo")
