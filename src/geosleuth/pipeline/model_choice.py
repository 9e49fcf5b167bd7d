"""Choice of the policy, its method and tools, and its sampling."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

from geosleuth.agent import Budget, Method, Trajectory, read_trajectory
from geosleuth.agent.events import Started
from geosleuth.agent.method import PanoramaShown
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import (
    PolicyCard,
    card_of_model,
    method_of_run,
    with_folder,
)
from geosleuth.atlas import OfflineAtlas
from geosleuth.models import Policy, Sampling, Wire, make_policy
from geosleuth.models.box_scale import find_box_scale
from geosleuth.models.detective import Detective, DrivingSide
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.models.registry import UnknownModel
from geosleuth.photo import BoxScale
from geosleuth.support.errors import BadInput
from geosleuth.tools import Toolset
from geosleuth.tools.calls import list_supplies
from geosleuth.tools.toolset import all_tools

from .area import Area
from .borrowed import own_names
from .request import REPLAY, LocateRequest, check_choice, get_recording_path, join_words, tool_choice
from .searches import Searches, check_prior_is_asked, tools_with_prior
from .team import endpoint_settings

_DEFAULT_METHOD = "default"
# Policy used if no model is named: the rule-based detective, which runs locally.
DETECTIVE = Detective.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The policy that answers, and how it is played.

    ``began`` is how a recording began, if one is replayed; ``card`` says how the model was trained, if that is known.
    """

    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling
    wire: Wire
    card: PolicyCard | None
    began: Started | None


def check_words(request: LocateRequest) -> None:
    """Complain about words that name no choice, before searches are opened or a model is made.

    Raises:
        BadInput: one does.
    """
    for option, word, choices in (
        ("--boxes", request.boxes, ("auto", *get_args(BoxScale))),
        ("--wire", request.wire, get_args(Wire)),
        ("--panorama", request.panorama, get_args(PanoramaShown)),
        ("--drives-on", request.drives_on, get_args(DrivingSide)),
    ):
        if word is not None:
            check_choice(word, choices, option)


def choose_model(
    request: LocateRequest, area: Area | None, taken: datetime | None, searches: Searches, answerer: Policy | None
) -> ModelChoice:
    """Return who answers a request; ``answerer`` answers in place of the model that the request names.

    Raises:
        UserError: the model is unknown, or an option does not go with it.
    """
    boxes = check_choice(request.boxes, ("auto", *get_args(BoxScale)), "--boxes")
    wire: Wire | None = check_choice(request.wire, get_args(Wire), "--wire") if request.wire is not None else None
    recorded = _read_recording(request) if answerer is None else None
    began = recorded.started if recorded else None
    card = None if recorded else card_of_model(request.model, request.policy_card)
    if request.policy_card is not None and answerer is None and request.model in (None, DETECTIVE):
        raise BadInput("--policy-card says how a model was trained; name the model with --model, or leave it out")
    scale: BoxScale = usual_scale(request, began) if boxes == "auto" else boxes
    method = build_method(request, scale, began) if card is None else as_trained(card, request)
    learned = card.tools if card else own_names(began.tools) if began else None
    names = tool_choice(None if card else request.tools, learned)
    names = tools_with_prior(names, method, searches.visual, request.prior)
    toolset = method.toolset(all_tools(), names)
    check_prior_is_asked(toolset.names, request.prior)
    policy = answerer or _build_policy(request, recorded, area, taken)
    if not isinstance(policy, Detective):
        have = list_supplies(
            searches.maps or OfflineAtlas(),
            visual=searches.visual,
            similar=bool(request.image_search),
            web=searches.web,
            offline=request.offline,
        )
        toolset = method.toolset(all_tools(), names, have=have)
    return ModelChoice(
        policy=policy,
        method=method,
        toolset=toolset,
        budget=build_budget(request, began.budget if began else method.budget),
        sampling=build_sampling(request, began.sampling if began else method.sampling),
        wire=wire or (began.wire if began else method.wire),
        card=card,
        began=began,
    )


def usual_scale(request: LocateRequest, began: Started | None) -> BoxScale:
    """Return how a recording's model was asked for boxes, or what the model's family was trained with."""
    made = None if began is None else method_of_run(began)
    return find_box_scale(request.model) if made is None else made.box_scale


def build_method(request: LocateRequest, scale: BoxScale, began: Started | None = None) -> Method:
    """Return the method that is asked for, or else a recording's or the usual one, in the user's words."""
    method = method_of(request.method or (began.method if began else _usual_method(request)), box_scale=scale)
    # The agents of a team have methods of their own, and take the words for these.
    return _set_panorama(with_folder(method, None if request.team is not None else request.prompts), request)


def _set_panorama(method: Method, request: LocateRequest) -> Method:
    if request.panorama is None:
        return method
    return replace(method, panorama=check_choice(request.panorama, get_args(PanoramaShown), "--panorama"))


def as_trained(card: PolicyCard, request: LocateRequest) -> Method:
    """Return the method that a policy learned, where nothing else is asked for.

    Raises:
        BadInput: something is.
    """
    if request.mcp is not None:
        raise BadInput("this policy was trained without tools of MCP servers; leave --mcp out, or --policy-card none")
    boxes = None if request.boxes == "auto" else request.boxes
    asked = tool_choice(request.tools, None)
    played = card.build_method(
        method=request.method,
        tools=asked,
        wire=request.wire,
        prompts=request.prompts,
        boxes=boxes,  # type: ignore[arg-type]
    )
    return _set_panorama(played, request)


def _usual_method(request: LocateRequest) -> str:
    return DETECTIVE if request.model in (None, DETECTIVE) else _DEFAULT_METHOD


def build_budget(request: LocateRequest, usual: Budget) -> Budget:
    """Return the usual budget of a method with what the request sets."""
    names = ("turns", "calls", "tokens", "seconds", "usd")
    if usual.reply_tokens is not None and request.reply_tokens is not None:
        usual = replace(usual, reply_tokens=request.reply_tokens)
    return replace(usual, **{name: value for name in names if (value := getattr(request, name)) is not None})


def build_sampling(request: LocateRequest, usual: Sampling) -> Sampling:
    """Return the usual sampling of a method with what the request sets."""
    return replace(
        usual,
        temperature=usual.temperature if request.temperature is None else request.temperature,
        seed=usual.seed if request.seed is None else request.seed,
        max_tokens=request.reply_tokens or usual.max_tokens,
        thinking_tokens=usual.thinking_tokens if request.thinking_tokens is None else request.thinking_tokens,
    )


def _read_recording(request: LocateRequest) -> Trajectory | None:
    if request.model is None or not request.model.startswith(REPLAY):
        return None
    if request.base_url is not None:
        raise BadInput("a recording has no address; leave out --base-url")
    path = get_recording_path(request.model)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInput(f"{path}: is not a regular file; pass a trajectory file")
    return read_trajectory(path)


def _build_policy(
    request: LocateRequest, recorded: Trajectory | None, area: Area | None, taken: datetime | None
) -> Policy:
    if recorded is not None:
        return ReplayPolicy(recorded.steps)
    if request.model not in (None, DETECTIVE):
        try:
            return make_policy(
                request.model, base_url=request.base_url, settings=endpoint_settings(request), offline=request.offline
            )
        except UnknownModel as error:
            raise UnknownModel(f"{error}; none is the detective, and {REPLAY}FILE a recording") from error
    if request.base_url is not None:
        raise BadInput("--base-url is where a model is served; name it with --model server:NAME")
    if request.method not in (None, DETECTIVE):
        named = request.method.name if isinstance(request.method, Method) else request.method[:40]
        raise BadInput(f"--method {named} is for models; name one with --model, or leave the method out")
    side: DrivingSide | None = None
    if request.drives_on is not None:
        side = check_choice(request.drives_on, get_args(DrivingSide), "--drives-on")
    detective = Detective(
        rejected=request.rejected,
        within=area.extent if area else None,
        countries=area.countries if area else None,
        hint=join_words(request.hint, request.area),
        taken=taken,
        drives_on=side,
        seen=request.seen,
        force_answer=request.force_answer,
    )
    drawn = "the area that you drew" if request.drawn is not None else None
    return detective.naming_area(drawn or (area.words if area else None))
