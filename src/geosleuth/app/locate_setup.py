"""From the words of ``geosleuth locate`` to all that a run needs; whatever is wrong with them is said here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from geosleuth.agent import Budget, Method, Trajectory, read_trajectory
from geosleuth.agent.methods import method as method_of
from geosleuth.answer.granularity import GRANULARITIES, Granularity
from geosleuth.app.atlas_work import online_settings, point
from geosleuth.app.locate_area import Area, area_of, drawn_area, taken_of
from geosleuth.app.locate_beside import check_exif, copy_of, sidecar_of
from geosleuth.app.locate_borrowed import borrowed_of, own_names
from geosleuth.app.locate_outputs import Outputs, check_is_none_of, check_new_file, outputs_of
from geosleuth.app.locate_prior import check_prior_is_asked, prior_of, tools_with_prior
from geosleuth.app.locate_team import Several, check_several, endpoint_settings, files_beside, several_of, thinkers
from geosleuth.app.locate_tools import ToolChoice, tool_choice
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.photo import BoxScale, OpenedPhoto
from geosleuth.policies import Policy, Sampling, Wire, make_policy
from geosleuth.policies.detective import Detective, DrivingSide
from geosleuth.policies.feedback import Rejected
from geosleuth.policies.replay import ReplayPolicy
from geosleuth.tools import ImageSearch, Toolset, WebSearch
from geosleuth.tools.catalogue import all_tools
from geosleuth.tools.needs import supplied

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
class Wishes:
    """The command's options, as given; ``drawn`` and ``rejected`` come from pages, where people draw and point.

    ``drawn`` is a GeoJSON geometry in place of ``within``, and ``rejected`` what somebody has ruled out. ``requests``
    is how many a model's host gets at once.
    """

    model: str | None = None
    base_url: str | None = None
    parallel: int = 1
    verifier: str | None = None
    chains: str | None = None
    team: Path | None = None
    turns: int | None = None
    calls: int | None = None
    tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None
    requests: int | None = None
    temperature: float | None = None
    seed: int | None = None
    method: str | Method | None = None
    tools: str | Sequence[ToolChoice] | None = None
    wire: str | None = None
    boxes: str = "pixels"
    within: str | None = None
    drawn: Mapping[str, Any] | None = None
    rejected: Rejected | None = None
    hint: str | None = None
    area: str | None = None
    taken: str | None = None
    drives_on: str | None = None
    check: str | None = None
    force_answer: bool = False
    granularity: str = "exact"
    offline: bool = False
    yes: bool = False
    maps: str | None = None
    web_search: str | None = None
    image_search: str | None = None
    image_url: str | None = None
    prior: str | None = None
    allow: tuple[str, ...] = ()
    mcp: Path | None = None
    mcp_allow: tuple[str, ...] = ()
    trajectory: Path | None = None
    out: tuple[str, ...] = ()
    overwrite: bool = False
    write_exif: bool = False
    sidecars: bool = False


def wishes_of(words: Mapping[str, Any]) -> Wishes:
    """The options of a command, by the names of its parameters; those that are no wish are left out."""
    names = {one.name for one in fields(Wishes)}
    told: dict[str, Any] = {name: value for name, value in words.items() if name in names}
    for name, value in told.items():
        if isinstance(value, list):
            told[name] = tuple(value)
    return Wishes(**told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can begin: nothing has been sent, built or written yet.

    ``maps`` is None where the offline atlas is the map. Which pictures are looked for, and where, depends on the
    photos: see `similar_for`.
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

    @property
    def by_detective(self) -> bool:
        """Whether no model is asked."""
        return isinstance(self.policy, Detective) and (self.several is None or self.several.team is None)

    @property
    def needs_atlas(self) -> bool:
        """Whether the offline atlas may be asked: by tools and verifiers, or for the names that may be told."""
        asks = self.maps is None and (len(self.toolset) > 0 or self.several is not None)
        return asks or self.granularity != "exact"


def plan_of(wishes: Wishes, photos: Sequence[Path], *, batch: bool = False, thinker: Policy | None = None) -> Plan:
    """Check every word and open what is named, all but the photos; the cheapest checks come first.

    A recording says itself how it was made: what the user leaves out is taken from it. ``thinker`` thinks in place of
    whoever ``wishes.model`` names.

    Raises:
        UserError: something must be mended; nothing has been written or sent.
    """
    scale: BoxScale = _one_of(wishes.boxes, get_args(BoxScale), "--boxes")
    wire: Wire | None = _one_of(wishes.wire, get_args(Wire), "--wire") if wishes.wire is not None else None
    granularity = _one_of(wishes.granularity, GRANULARITIES, "--granularity")
    taken, checked = taken_of(wishes.taken), None if wishes.check is None else point(wishes.check)
    check_several(wishes)
    borrowed = borrowed_of(wishes)
    recorded = _recording(wishes) if thinker is None else None
    began = recorded.started if recorded else None
    method = method_of(wishes.method or (began.method if began else _usual_method(wishes)), box_scale=scale)
    visual, names = prior_of(wishes.prior), tool_choice(wishes.tools, own_names(began.tools) if began else None)
    names = tools_with_prior(names, method, visual, wishes.prior)
    toolset = method.toolset(all_tools(), names)
    check_prior_is_asked(toolset.names, wishes.prior)
    if wishes.trajectory is not None:
        _check_trajectory(wishes.trajectory, wishes, photos)
    outputs = _outputs(wishes, photos, batch=batch)
    _check_searches(wishes, photos)
    area = _area(wishes)
    maps, web, index = _maps(wishes), _web(wishes), _index(wishes)
    policy = thinker or _policy(wishes, recorded, area, taken)
    if not isinstance(policy, Detective):
        have = supplied(
            maps or OfflineAtlas(), visual=visual, similar=bool(wishes.image_search), offline=wishes.offline
        )
        toolset = method.toolset(all_tools(), names, have=have)
    several = several_of(wishes, policy)
    for path in files_beside(wishes.trajectory, several) if wishes.trajectory else ():
        check_new_file(path, overwrite=wishes.overwrite)
    return Plan(
        policy=policy,
        several=several,
        method=method,
        toolset=toolset,
        budget=_budget(wishes, began.budget if began else method.budget),
        sampling=_sampling(wishes, began.sampling if began else method.sampling),
        wire=wire or (began.wire if began else method.wire),
        hint=_hint(wishes, taken, checked) or (began.task.hint if began else None),
        area=_joined(area.words if area else None, wishes.area) or (began.task.area if began else None),
        within=area,
        check=checked,
        force_answer=wishes.force_answer or bool(began and began.task.force_answer),
        granularity=granularity,
        maps=maps,
        web=web,
        images=wishes.image_search if index is None else None,
        image_url=wishes.image_url,
        index=index,
        visual=visual,
        allow=wishes.allow,
        outputs=outputs,
        borrowed=borrowed,
    )


def _check_trajectory(path: Path, wishes: Wishes, photos: Sequence[Path]) -> None:
    check_new_file(path, overwrite=wishes.overwrite)
    check_is_none_of(path, photos, "the photo itself")
    check_is_none_of(path, map(Path, wishes.out), "named by --out too")
    if wishes.model is not None and wishes.model.startswith(_REPLAY):
        check_is_none_of(path, [_recorded_in(wishes.model)], "the recording itself")


def _outputs(wishes: Wishes, photos: Sequence[Path], *, batch: bool) -> Outputs:
    outputs = outputs_of(wishes.out, photos, batch=batch, overwrite=wishes.overwrite)
    beside: list[Path] = []
    if wishes.write_exif:
        check_exif(photos, batch=batch, yes=wishes.yes)
        beside += map(copy_of, photos)
    if wishes.sidecars:
        beside += map(sidecar_of, photos)
    if not batch:
        for path in beside:
            check_new_file(path, overwrite=wishes.overwrite)
    return replace(outputs, exif=wishes.write_exif, sidecars=wishes.sidecars)


def similar_for(plan: Plan, photos: Sequence[OpenedPhoto]) -> ImageSearch | None:
    """Where pictures like these photos are looked for; close it in the loop that it is used in."""
    if plan.index is not None:
        return plan.index.searching_for(photos)
    if plan.images is None:
        return None
    from geosleuth.tools.web import Published, make_image_search

    published = [Published(photos[0].photo, plan.image_url)] if plan.image_url else []
    return make_image_search(plan.images, online_settings(plan.allow), published=published)


def sent_to(plan: Plan) -> tuple[list[Policy], frozenset[str]]:
    """The models that photos leave this machine for, and every host they go to, that of an image search too."""
    sending = [one for one in thinkers(plan) if one.hosts]
    return sending, image_hosts(plan).union(*(one.hosts for one in sending))


def image_hosts(plan: Plan) -> frozenset[str]:
    """The hosts that an online image search shows the photo to."""
    if plan.images is None or plan.image_url is not None:
        return frozenset()
    from geosleuth.tools.web import search_hosts

    return search_hosts(plan.images, online_settings(plan.allow))


def _usual_method(wishes: Wishes) -> str:
    return DETECTIVE if wishes.model in (None, DETECTIVE) else _DEFAULT_METHOD


def _hint(wishes: Wishes, taken: datetime | None, checked: LatLon | None) -> str | None:
    """What a model is told; the detective is told more exactly."""
    when = None if taken is None else f"It was taken at {taken.isoformat(sep=' ', timespec='minutes')}."
    claim = None
    if checked is not None and wishes.model not in (None, DETECTIVE):
        claim = (
            f"Somebody claims that it was taken at {checked.lat:.5f}, {checked.lon:.5f}. Check the claim: look for "
            "what speaks for it and against it, look there and elsewhere on the map, and answer with the place where "
            "you find that it was taken. Begin the explanation with FOR, AGAINST or UNDECIDED."
        )
    return _joined(wishes.hint, when, claim, by=" ")


def _joined(*parts: str | None, by: str = "; ") -> str | None:
    return by.join(part for part in parts if part) or None


def _one_of(word: str, choices: Sequence[_Word], option: str) -> _Word:
    for choice in choices:
        if word == choice:
            return choice
    raise BadInput(f"{option} is {word[:40]!r}; it must be {' or '.join(choices)}")


def _budget(wishes: Wishes, usual: Budget) -> Budget:
    names = ("turns", "calls", "tokens", "seconds", "usd")
    return replace(usual, **{name: value for name in names if (value := getattr(wishes, name)) is not None})


def _sampling(wishes: Wishes, usual: Sampling) -> Sampling:
    return replace(
        usual,
        temperature=usual.temperature if wishes.temperature is None else wishes.temperature,
        seed=usual.seed if wishes.seed is None else wishes.seed,
        max_tokens=wishes.reply_tokens or usual.max_tokens,
    )


def _recording(wishes: Wishes) -> Trajectory | None:
    if wishes.model is None or not wishes.model.startswith(_REPLAY):
        return None
    if wishes.base_url is not None:
        raise BadInput("a recording has no address; leave out --base-url")
    path = _recorded_in(wishes.model)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInput(f"{path}: is no plain file, and may have no end; give a file that holds a trajectory")
    return read_trajectory(path)


def _recorded_in(model: str) -> Path:
    name = model.removeprefix(_REPLAY).strip()
    if not name:
        raise BadInput(f"{_REPLAY} lacks the recording; write {_REPLAY}FILE")
    return Path(name).expanduser()


def _policy(wishes: Wishes, recorded: Trajectory | None, area: Area | None, taken: datetime | None) -> Policy:
    if recorded is not None:
        return ReplayPolicy(recorded.steps)
    if wishes.model not in (None, DETECTIVE):
        return make_policy(
            wishes.model, base_url=wishes.base_url, settings=endpoint_settings(wishes), offline=wishes.offline
        )
    if wishes.base_url is not None:
        raise BadInput("--base-url is where a model is served; name it with --model server:NAME")
    if wishes.method not in (None, DETECTIVE):
        named = wishes.method.name if isinstance(wishes.method, Method) else wishes.method[:40]
        raise BadInput(f"--method {named} is for models; name one with --model, or leave the method out")
    side: DrivingSide | None = None
    if wishes.drives_on is not None:
        side = _one_of(wishes.drives_on, get_args(DrivingSide), "--drives-on")
    rejected = wishes.rejected or Rejected()
    return Detective(
        left_out=rejected.left_out,
        not_at=rejected.not_at,
        not_in=rejected.not_in,
        within=area.extent if area else None,
        countries=area.countries if area else None,
        hint=_joined(wishes.hint, wishes.area),
        taken=taken,
        drives_on=side,
        force_answer=wishes.force_answer,
    )


def _area(wishes: Wishes) -> Area | None:
    if wishes.drawn is None:
        return area_of(wishes.within)
    if wishes.within is not None:
        raise BadInput("say where it lies in words, or draw the area; not both")
    return drawn_area(wishes.drawn)


def _maps(wishes: Wishes) -> Atlas | None:
    if wishes.maps is None:
        return None
    _refuse_offline(wishes, "--maps")
    from geosleuth.atlas.online import RegionRouter, make_online
    from geosleuth.atlas.online.base import OnlineAtlas
    from geosleuth.atlas.online.consent import check_consent

    settings = online_settings(wishes.allow)
    made = make_online(wishes.maps, settings)
    for service in (made.china, made.elsewhere) if isinstance(made, RegionRouter) else (made,):
        if isinstance(service, OnlineAtlas) and service.base_url:
            check_consent(service.address(), settings)
    return made


def _web(wishes: Wishes) -> WebSearch | None:
    if wishes.web_search is None:
        return None
    _refuse_offline(wishes, "--web-search")
    from geosleuth.tools.web import make_web

    return make_web(wishes.web_search, online_settings(wishes.allow))


def _check_searches(wishes: Wishes, photos: Sequence[Path]) -> None:
    """Complain before the photos are opened about an image search that can't be made for them."""
    if wishes.image_url is not None and wishes.image_search is None:
        raise BadInput("--image-url is for an online image search; name it with --image-search serper")
    if wishes.image_url is not None and len(photos) != 1:
        raise BadInput("--image-url is the address of one photo; give one photo")


def _index(wishes: Wishes) -> "ImageIndex | None":
    """The user's own index; None where no image search is wanted, or an online one."""
    if wishes.image_search is None:
        return None
    from geosleuth.tools.web import IMAGE_NAMES

    if wishes.image_search.strip().lower() in IMAGE_NAMES:
        _refuse_offline(wishes, "--image-search")
        return None
    if wishes.image_url is not None:
        raise BadInput("--image-url is for an online image search; leave it out with an index of your own")
    from geosleuth.tools.similar import ImageIndex

    return ImageIndex.open(Path(wishes.image_search))


def _refuse_offline(wishes: Wishes, option: str) -> None:
    if wishes.offline:
        raise BadInput(f"{option} asks over the network, which --offline rules out; leave one of them out")
