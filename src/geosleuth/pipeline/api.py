"""``geosleuth.locate`` and ``geosleuth.locate_many`` for scripts and notebooks."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from geosleuth.agent import Method, Sink
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.models import consent_line
from geosleuth.models.endpoints import InARow
from geosleuth.models.feedback import Rejected
from geosleuth.photo import OpenedPhoto, open_photo, open_photos
from geosleuth.photo.nature import leave_out_others
from geosleuth.support.errors import BadInput, GeosleuthError

from .defaults import with_default_model
from .model_choice import DETECTIVE
from .notebook import run_apart
from .outputs import photos_below
from .plan import Plan, make_plan
from .profiles import read_profile
from .request import LocateRequest, ToolChoice
from .result import Findings, LocateResult, check_claim
from .run import run_plan

OnePhoto = str | os.PathLike[str]
Photos = OnePhoto | Sequence[OnePhoto]
Progress = bool | Callable[[int, int], None]
_log = logging.getLogger(__name__)
_said: set[str] = set()

_LEFT_OUT = {field.name: field.default for field in fields(LocateRequest)} | {"parallel": None, "profile": None}


class LocateOptions(TypedDict, total=False):
    """Options of `locate` beside photos, for type checkers: fields of `LocateRequest`, and a profile."""

    send: bool
    sinks: Iterable[Sink]

    profile: str | None
    model: str | None
    base_url: str | None
    parallel: int
    verifier: str | None
    chains: str | None
    team: str | Path | None
    turns: int | None
    calls: int | None
    tokens: int | None
    reply_tokens: int | None
    thinking_tokens: int | None
    seconds: float | None
    usd: float | None
    requests: int | None
    temperature: float | None
    seed: int | None
    method: str | Method | None
    prompts: Path | None
    tools: str | Sequence[ToolChoice] | None
    wire: str | None
    policy_card: str | None
    boxes: str
    panorama: str | None
    within: str | None
    drawn: Mapping[str, Any] | None
    rejected: Rejected | None
    hint: str | None
    area: str | None
    taken: str | datetime | None
    drives_on: str | None
    seen: str | None
    check: str | None
    force_answer: bool
    granularity: str
    offline: bool
    maps: str | None
    maps_url: Sequence[str]
    web_search: str | None
    image_search: str | None
    image_url: str | None
    prior: str | None
    allow: Sequence[str]
    mcp: str | Path | None
    mcp_allow: Sequence[str]
    trajectory: str | Path | None


@overload
async def alocate(  # type: ignore[overload-overlap]  # a text is a sequence of texts
    photo: OnePhoto, *, same_place: bool = ..., **options: Unpack[LocateOptions]
) -> LocateResult: ...
@overload
async def alocate(
    photo: Sequence[OnePhoto], *, same_place: Literal[True], **options: Unpack[LocateOptions]
) -> LocateResult: ...
@overload
async def alocate(
    photo: Sequence[OnePhoto], *, same_place: Literal[False] = ..., **options: Unpack[LocateOptions]
) -> Findings: ...
async def alocate(
    photo: Photos, *, same_place: bool = False, **options: Unpack[LocateOptions]
) -> LocateResult | Findings:
    """Find out where a photo was taken, in a coroutine; takes and returns what `locate` does.

    Raises:
        UserError: the input is wrong; nothing has been sent.
    """
    given, paths = _fill_defaults(options), _list_paths(photo)
    if same_place or isinstance(photo, str | os.PathLike):
        return await _together(paths, given)
    return await _each(paths, given)


@overload
def locate(  # type: ignore[overload-overlap]  # a text is a sequence of texts
    photo: OnePhoto, *, same_place: bool = ..., **options: Unpack[LocateOptions]
) -> LocateResult: ...
@overload
def locate(
    photo: Sequence[OnePhoto], *, same_place: Literal[True], **options: Unpack[LocateOptions]
) -> LocateResult: ...
@overload
def locate(
    photo: Sequence[OnePhoto], *, same_place: Literal[False] = ..., **options: Unpack[LocateOptions]
) -> Findings: ...
def locate(
    photo: Photos,
    *,
    same_place: bool = False,
    send: bool = False,
    sinks: Iterable[Sink] = (),
    profile: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    parallel: int | None = None,
    verifier: str | None = None,
    chains: str | None = None,
    team: str | Path | None = None,
    turns: int | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    reply_tokens: int | None = None,
    thinking_tokens: int | None = None,
    seconds: float | None = None,
    usd: float | None = None,
    requests: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    method: str | Method | None = None,
    prompts: Path | None = None,
    tools: str | Sequence[ToolChoice] | None = None,
    wire: str | None = None,
    policy_card: str | None = None,
    boxes: str = "auto",
    panorama: str | None = None,
    within: str | None = None,
    drawn: Mapping[str, Any] | None = None,
    rejected: Rejected | None = None,
    hint: str | None = None,
    area: str | None = None,
    taken: str | datetime | None = None,
    drives_on: str | None = None,
    seen: str | None = None,
    check: str | None = None,
    force_answer: bool = False,
    granularity: str = "exact",
    offline: bool = False,
    maps: str | None = None,
    maps_url: Sequence[str] = (),
    web_search: str | None = None,
    image_search: str | None = None,
    image_url: str | None = None,
    prior: str | None = None,
    allow: Sequence[str] = (),
    mcp: str | Path | None = None,
    mcp_allow: Sequence[str] = (),
    trajectory: str | Path | None = None,
) -> LocateResult | Findings:
    """Find out where a photo was taken. Works inside a running event loop, too.

    Args:
        photo: a path; several paths get a finding each, see `locate_many`.
        same_place: all photos were taken at one place, and have one finding together.
        send: photos may be sent to a model or an image search that is not on this machine.
        sinks: functions that get the events as they happen; uncapped, at any granularity.
        profile: a set-up by its name, such as "twm", see `geosleuth.pipeline.profiles`; options given beside it win.
        model: the model, such as "ollama:qwen3-vl"; the default one if left out, "none" for the detective.
        base_url: where the model is served.
        parallel: how many attempts a verifier chooses from; one, if left out.
        verifier: the model that chooses, or "same"; code chooses if left out.
        chains: what the verifier reads of the attempts.
        team: the YAML file of a team of models.
        turns: most turns of one attempt.
        calls: most tool calls of one attempt.
        tokens: most tokens of one attempt.
        reply_tokens: most tokens of a reply.
        thinking_tokens: most tokens that a model thinks before a reply.
        seconds: most seconds of one attempt.
        usd: most dollars of one attempt.
        requests: how many requests the model's host gets at once.
        temperature: the temperature of sampling.
        seed: the seed of sampling.
        method: how the model works: a name such as "twm", or a `Method`.
        prompts: a folder with words of your own for the method.
        tools: tools of the model: names, `Tool` objects or functions; names with a plus sign are added to the method's.
        wire: how tool calls travel: "native" or "tagged".
        policy_card: how the model was trained: a file, or "none".
        boxes: the scale of the model's boxes.
        panorama: how panoramas are shown, "views" or "planar".
        within: where it must lie: a country, a region, "S,W,N,E", "LAT,LON,KM" or a GeoJSON file.
        drawn: a GeoJSON geometry, in the place of ``within``.
        rejected: clues and places that you have ruled out.
        hint: what you know, in words.
        area: where the place lies, in words for a model.
        taken: when it was taken, as text or a datetime.
        drives_on: the side that traffic keeps to, "left" or "right".
        seen: what you see in it, as "attribute: value; …".
        check: a claimed place, "LAT,LON"; the verdict is in ``checked``.
        force_answer: answer in any case.
        granularity: the finest that may be told: "country", "region", "city", "street" or "exact".
        offline: ask nothing over the network.
        maps: map services to ask before the offline atlas, such as "nominatim".
        maps_url: their addresses.
        web_search: the web search that a model may ask.
        image_search: an image search, or an image index of your own.
        image_url: where the photo is on the web already.
        prior: a visual prior of your own, or "none".
        allow: hosts that may be asked.
        mcp: a file of MCP servers that lend tools.
        mcp_allow: tools of these servers that may be used.
        trajectory: a file that keeps every step.

    Returns:
        the finding, or `Findings` for several photos of different places. ``answer`` has ``address`` (country, region,
        precise), ``point``, ``radius_km``, ``probability``, ``explanation`` and ``candidates``; ``extent`` is
        "country", "circle", "point" or None; ``doubts`` says what does not fit, ``claims`` what the files say of
        themselves, ``checked`` the verdict on ``check``, ``failed`` what went wrong. ``to_dict()``,
        ``to_geojson()`` and ``to_kml()`` write it down, ``explore()`` shows it in a notebook.

    Raises:
        UserError: the input is wrong; nothing has been sent.
    """
    given = locals()
    found: LocateResult | Findings = run_apart(alocate(**given))
    return found


def locate_many(
    photos: Photos, *, progress: Progress = True, jobs: int | None = None, **options: Unpack[LocateOptions]
) -> Findings:
    """Find out where each of many photos was taken. A photo that can't be worked on is in ``failed`` of the findings.

    ``photos`` are paths, or a folder with all photos below it, where screenshots, documents and drawings are left out.
    ``progress`` draws a bar on stderr, or is called with the number of photos that are done and of all. ``jobs`` photos
    are worked on at once: 2 by the detective, 4 by a model, unless it says otherwise. The other options are those of
    `locate`.

    Raises:
        UserError: the input is wrong; nothing has been sent.
    """
    given = _fill_defaults(options)
    named = [path for path in _list_paths(photos) if not path.is_dir()]
    found = [path for item in _list_paths(photos) if item.is_dir() for path in photos_below(item)]
    return run_apart(_each(named, given, found=found, progress=progress, jobs=jobs))


def _show_options(function: Callable[..., Any]) -> None:
    """Let help and completion in notebooks show the options of `locate` one by one."""
    own = [
        parameter
        for parameter in signature(function).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    shown = [
        parameter
        for parameter in signature(locate).parameters.values()
        if parameter.name in LocateOptions.__annotations__
    ]
    function.__signature__ = signature(function).replace(parameters=[*own, *shown])  # type: ignore[attr-defined]


_show_options(alocate)
_show_options(locate_many)


@dataclass(frozen=True, slots=True)
class _Ready:
    plan: Plan
    atlas: OfflineAtlas
    sinks: Iterable[Sink]
    keep_in: Path | None

    async def locate(self, paths: Sequence[Path], photos: Sequence[OpenedPhoto]) -> LocateResult:
        plan, similar = self.plan, self.plan.searches.find_similar(photos)
        finding = await run_plan(plan, photos, self.atlas, similar=similar, keep_in=self.keep_in, sinks=self.sinks)
        return LocateResult.from_finding(finding, await check_claim(finding, plan, self.atlas), paths[0])


@asynccontextmanager
async def _ready(
    request: LocateRequest, given: dict[str, Any], paths: Sequence[Path], *, batch: bool = False
) -> AsyncIterator[_Ready]:
    plan = make_plan(request, paths, batch=batch)
    _check_consent(plan, send=given["send"])
    for remark in filter(None, (*plan.notes, plan.missing_tools)):
        _say(remark)
    await asyncio.to_thread(ensure_base)
    async with AsyncExitStack() as held:
        plan = await plan.load(held, _say)
        held.enter_context(plan.announcing(_say))
        yield _Ready(plan, OfflineAtlas(), given["sinks"], request.trajectory)


def _say(remark: str) -> None:
    """Log a remark, once in a process: a warning would quote a line of our own code, which is not at fault."""
    if remark not in _said:
        _said.add(remark)
        _log.warning("%s", remark)


async def _together(paths: Sequence[Path], given: dict[str, Any]) -> LocateResult:
    request = _request(given)
    photos = await asyncio.to_thread(open_photos, paths)
    async with _ready(request, given, paths) as ready:
        return await ready.locate(paths, photos)


async def _each(
    named: Sequence[Path],
    given: dict[str, Any],
    *,
    found: Sequence[Path] = (),
    progress: Progress = False,
    jobs: int | None = None,
) -> Findings:
    """Locate photos that were named, and those that were found in folders, if they are photographs."""
    if given["trajectory"] is not None:
        raise BadInput("trajectory is a file for one finding; locate the photos one by one to keep their trajectories")
    if jobs is not None and jobs < 1:
        raise BadInput(f"jobs is {jobs}; it must be 1 or more")
    paths = list(dict.fromkeys([*named, *found]))
    results: dict[Path, LocateResult | Exception] = dict.fromkeys(paths, GeosleuthError("was not tried"))
    waiting, in_a_row, done = iter(paths), InARow(), count(1)
    async with _ready(_request(given), given, paths, batch=True) as ready:

        async def work() -> None:
            for path in waiting:
                failed = ""
                try:
                    photo = await asyncio.to_thread(open_photo, path)
                    if path not in named:
                        photo = await asyncio.to_thread(leave_out_others, photo, path)
                    item = await ready.locate([path], [photo])
                    failed = item.failed
                    results[path] = GeosleuthError(failed) if failed else item
                except BadInput as error:
                    results[path] = error
                except Exception as error:  # noqa: BLE001  (one photo's trouble is not the others')
                    results[path], failed = error, str(error)
                advance(next(done))
                if in_a_row.is_enough(failed):
                    # A model that fails time and again is not asked about the rest.
                    for _ in waiting:
                        pass

        with _progress(progress, len(paths)) as advance:
            await asyncio.gather(*(work() for _ in range(jobs or ready.plan.usual_jobs)))
    return Findings(results)


@contextmanager
def _progress(asked: Progress, total: int) -> Iterator[Callable[[int], None]]:
    if asked is not True:
        yield lambda done: asked(done, total) if asked else None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("locating", total=total)
        yield lambda done: bar.update(task, completed=done)


def _list_paths(photos: Photos) -> list[Path]:
    return list(dict.fromkeys(map(Path, [photos] if isinstance(photos, str | os.PathLike) else photos)))


def _fill_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of `locate`, those that were left out with its defaults; an unknown one is a TypeError."""
    bound = signature(locate).bind("", **options)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name in LocateOptions.__annotations__}


def _request(options: dict[str, Any]) -> LocateRequest:
    given = {name: value for name, value in options.items() if name in _LEFT_OUT and value != _LEFT_OUT[name]}
    if (profile := given.pop("profile", None)) is not None:
        given = read_profile(profile).beside(given) | given
    if isinstance(taken := given.get("taken"), datetime):
        given["taken"] = taken.isoformat()
    for name in ("trajectory", "team", "mcp", "prompts"):
        if given.get(name) is not None:
            given[name] = Path(given[name])
    request = with_default_model(LocateRequest.from_options(**given))
    if request.tools is not None and request.model in (None, DETECTIVE) and request.team is None:
        raise BadInput("tools are for a model, and none is named; add model=..., or leave tools out")
    return request


def _check_consent(plan: Plan, *, send: bool) -> None:
    sending, hosts = plan.sent_to
    if send or not (hosts or plan.borrowed):
        return
    lines = [consent_line(item) for item in sending]
    lines += [f"the image search sends the photo to {min(hosts)}"] if hosts and not sending else []
    lines += [plan.borrowed.consent] if plan.borrowed else []
    told = "; ".join(lines)
    raise BadInput(f"{told}; add send=True to allow it")
