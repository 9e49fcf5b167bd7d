"""From a request to all that a run needs; whatever is wrong with the request is said here."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from geosleuth.agent import Budget, Method, Trajectory, read_trajectory
from geosleuth.agent.methods import method as method_of
from geosleuth.answer.granularity import GRANULARITIES, Granularity
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.photo import BoxScale, OpenedPhoto
from geosleuth.policies import Policy, Sampling, Wire, make_policy
from geosleuth.policies.detective import Detective, DrivingSide
from geosleuth.policies.feedback import Rejected
from geosleuth.policies.replay import ReplayPolicy
from geosleuth.tools import ImageSearch, Toolset, WebSearch
from geosleuth.tools.model import supplied
from geosleuth.tools.toolset import all_tools

from .area import Area, area_of, drawn_area, parse_point, taken_of
from .outputs import Outputs, check_exif, check_is_none_of, check_new_file, copy_of, outputs_of, sidecar_of
from .request import LocateRequest
from .services import (
    borrowed_of,
    check_prior_is_asked,
    image_index,
    online_maps,
    online_settings,
    own_names,
    prior_of,
    tools_with_prior,
    web_search,
)
from .team import Several, check_several, endpoint_settings, files_beside, several_of
from .tool_choice import tool_choice

if TYPE_CHECKING:
    from geosleuth.clues.visual import VisualPrior
    from geosleuth.tools.borrowed import Borrowing
    from geosleuth.tools.similar import ImageIndex

_Word = TypeVar("_Word", bound=str)

_REPLAY = "replay:"
_DEFAULT_METHOD = "default"
DETECTIVE = Detective.name
"""Who thinks where no model is named: a policy in code, on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can begin: nothing has been sent, built or written yet.

    ``maps`` is None where the offline atlas is the map. Which pictures are looked for, and where, depends on the
    photos: see `similar_for`. ``notes`` are for whoever asked: what the plan leaves out, and why.
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

    @property
    def by_detective(self) -> bool:
        """Whether no model is asked."""
        return isinstance(self.policy, Detective) and (self.several is None or self.several.team is None)

    @property
    def needs_atlas(self) -> bool:
        """Whether the offline atlas may be asked: by tools and verifiers, or for the names that may be told."""
        asks = self.maps is None and (len(self.toolset) > 0 or self.several is not None)
        return asks or self.granularity != "exact"

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

    async def load(self, held: AsyncExitStack) -> None:
        """Load the models that must be loaded, and have all of them and the services closed with ``held``."""
        for one in (*self.thinkers, self.maps, self.web):
            if close := getattr(one, "aclose", None):
                held.push_async_callback(close)
        for one in self.thinkers:
            if load := getattr(one, "load", None):
                await load()


def make_plan(
    request: LocateRequest, photos: Sequence[Path] = (), *, batch: bool = False, thinker: Policy | None = None
) -> Plan:
    """Check every field and open what is named, all but the photos; the cheapest checks come first.

    A recording says itself how it was made: what the user leaves out is taken from it. ``thinker`` thinks in place of
    the model that ``request.model`` names.

    Raises:
        UserError: something must be mended; nothing has been written or sent.
    """
    scale: BoxScale = _one_of(request.boxes, get_args(BoxScale), "--boxes")
    wire: Wire | None = _one_of(request.wire, get_args(Wire), "--wire") if request.wire is not None else None
    granularity = _one_of(request.granularity, GRANULARITIES, "--granularity")
    taken, checked = taken_of(request.taken), None if request.check is None else parse_point(request.check)
    check_several(request)
    borrowed = borrowed_of(request)
    recorded = _recording(request) if thinker is None else None
    began = recorded.started if recorded else None
    method = method_of(request.method or (began.method if began else _usual_method(request)), box_scale=scale)
    visual, names = prior_of(request.prior), tool_choice(request.tools, own_names(began.tools) if began else None)
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
            maps or OfflineAtlas(), visual=visual, similar=bool(request.image_search), offline=request.offline
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
        notes=notes,
    )


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


def _hint(request: LocateRequest, taken: datetime | None, checked: LatLon | None) -> str | None:
    """What a model is told; the detective is told more exactly."""
    when = None if taken is None else f"It was taken at {taken.isoformat(sep=' ', timespec='minutes')}."
    claim = None
    if checked is not None and request.model not in (None, DETECTIVE):
        claim = (
            f"Somebody claims that it was taken at {checked.lat:.5f}, {checked.lon:.5f}. Check the claim: look for "
            "what speaks for it and against it, look there and elsewhere on the map, and answer with the place where "
            "you find that it was taken. Begin the explanation with FOR, AGAINST or UNDECIDED."
        )
    return _joined(request.hint, when, claim, by=" ")


def _joined(*parts: str | None, by: str = "; ") -> str | None:
    return by.join(part for part in parts if part) or None


def _one_of(word: str, choices: Sequence[_Word], option: str) -> _Word:
    for choice in choices:
        if word == choice:
            return choice
    raise BadInput(f"{option} is {word[:40]!r}; it must be {' or '.join(choices)}")


def _budget(request: LocateRequest, usual: Budget) -> Budget:
    names = ("turns", "calls", "tokens", "seconds", "usd")
    return replace(usual, **{name: value for name in names if (value := getattr(request, name)) is not None})


def _sampling(request: LocateRequest, usual: Sampling) -> Sampling:
    return replace(
        usual,
        temperature=usual.temperature if request.temperature is None else request.temperature,
        seed=usual.seed if request.seed is None else request.seed,
        max_tokens=request.reply_tokens or usual.max_tokens,
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
        return make_policy(
            request.model, base_url=request.base_url, settings=endpoint_settings(request), offline=request.offline
        )
    if request.base_url is not None:
        raise BadInput("--base-url is where a model is served; name it with --model server:NAME")
    if request.method not in (None, DETECTIVE):
        named = request.method.name if isinstance(request.method, Method) else request.method[:40]
        raise BadInput(f"--method {named} is for models; name one with --model, or leave the method out")
    side: DrivingSide | None = None
    if request.drives_on is not None:
        side = _one_of(request.drives_on, get_args(DrivingSide), "--drives-on")
    rejected = request.rejected or Rejected()
    return Detective(
        left_out=rejected.left_out,
        not_at=rejected.not_at,
        not_in=rejected.not_in,
        within=area.extent if area else None,
        countries=area.countries if area else None,
        hint=_joined(request.hint, request.area),
        taken=taken,
        drives_on=side,
        force_answer=request.force_answer,
    )


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
