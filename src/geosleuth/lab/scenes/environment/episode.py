"""One episode: photos, the agent's tools and budget, and a reward; the agent's loop turned inside out for trainers.

`Episode.step` takes the policy's next step and returns the result. Everything in between is the loop
of `geosleuth.agent`: budgets, repeated calls, reminders, the candidate pool, and the trajectory that remembers it all.
So training sees what later runs do. The truth stays here: neither the case that tools work on nor the loop holds it.
"""

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from geosleuth.agent import Budget, Event, Method, Prompted, Task, ToolObserved, Trajectory, run
from geosleuth.agent.conversation import REPLY_CHARACTERS, short
from geosleuth.agent.locate import open_case
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import with_folder
from geosleuth.agent.setup import AgentSetup, PhotoQuestion, Resources
from geosleuth.answer import Answer
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.geo import LatLon, is_valid
from geosleuth.lab.bench.placed import PlaceText, create_placer, place_nothing
from geosleuth.lab.bench.sets import Item
from geosleuth.lab.scenes.consistency import RuleReader
from geosleuth.lab.scenes.design import build_truth, design_scene
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.scene import Mark, Scene, SceneKind, Split
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.lab.scenes.world import World, open_world, world_atlas
from geosleuth.lab.score import Truth
from geosleuth.lab.score.rewards import Helpers, Reward, read_reward
from geosleuth.models import Conversation, Step
from geosleuth.models.tagged import observation_text
from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.support.errors import BadInput, UserError
from geosleuth.support.files import replacing
from geosleuth.tools import Observation, TextReader, ToolCall, Toolset, WebSearch, image_info
from geosleuth.tools.calls import OFFLINE, Need, list_supplies
from geosleuth.tools.toolset import all_tools

AnswerBy = Literal["tool", "reply"]
"""How a policy gives its answer: by the tool `answer`, or by a reply without a call."""
_ANSWER_BY_TOOL = (
    "To answer, call the tool answer and give it the whole of your final reply as its text. That ends the task; no "
    "other call comes after it."
)
WORDS = (
    "method", "reward", "tools", "turns", "calls", "answer_by", "box_scale", "wire", "prompts", "force_answer", "world",
    "pages",
)  # fmt: skip
OVER = "The task is over; this call was not carried out."
BROKE = "The tool broke, and the task ends here."
Reading = Literal["pixels", "clue boxes"]
"""What the tool read_text reads with: the text reading that comes with the package, or the scene's own clue boxes."""


@dataclass(frozen=True, slots=True)
class Posed:
    """Photos of one place, and the truth about it. The truth goes to the reward and nowhere else.

    ``truth`` is None if rewards are worked out elsewhere, such as by a trainer that keeps tools and truths apart.
    ``reader`` reads text in place of the text reading that comes with the package, see `lab.scenes.clue_reader`.
    """

    photos: tuple[OpenedPhoto, ...]
    truth: Truth | None = field(default=None, repr=False)
    reader: TextReader | None = None


Poser = Callable[[Mapping[str, Any]], Posed]
"""Makes what an episode is about from a row; the row's other columns are left alone.

Raises `BadInput` where the row can't be used.
"""


def build_photo_row(item: Item) -> dict[str, Any]:
    """Return a photo of a data set as a row that `pose_photo` takes.

    Raises:
        BadInput: the photo lies inside another file; rows can only name photos that are files of their own.
    """
    path, truth = Path(item.picture.where), item.truth
    if not path.is_file():
        raise BadInput(f"{path}: rows need photos that are files of their own; unpack the data set first")
    return {
        "photo": str(path.absolute()),
        "lat": truth.point.lat,
        "lon": truth.point.lon,
        "country": truth.country,
        "region": truth.region,
        "city": truth.city,
    }


def get_part(item: Item) -> dict[str, str]:
    """Return the part that a photo belongs to by its field ``split``, as exported rows hold it; empty if unknown."""
    return {name: value for name, value in item.fields.items() if name == "split"}


def pose_photo(row: Mapping[str, Any]) -> Posed:
    """Return an episode about a photo on disk: columns ``photo``, ``lat``, ``lon`` and optional place names.

    ``photo`` is a path, or the content of a file; the names are ``country``, ``region`` and ``city``.

    Raises:
        BadInput: a column is missing or can't be used, or the photo can't be opened.
    """
    photo = row.get("photo")
    if isinstance(photo, str | Path):
        photo = Path(photo)
    elif not isinstance(photo, bytes):
        raise BadInput("the row has no photo; its column 'photo' must hold a path or the content of a file")
    return Posed((open_photo(photo),), truth_of_row(row))


def truth_of_row(row: Mapping[str, Any]) -> Truth:
    """Return where the photo of a row was taken.

    Raises:
        BadInput: there is no point, or it lies nowhere on Earth.
    """
    lat, lon = _parse_finite_number(row.get("lat")), _parse_finite_number(row.get("lon"))
    if lat is None or lon is None or not is_valid(lat, lon):
        raise BadInput("the row has no true point; its columns 'lat' and 'lon' must be degrees on Earth")
    names = {name: str(row[name]) for name in ("country", "region", "city") if row.get(name)}
    return Truth(LatLon(lat, lon), **names)


def _parse_finite_number(value: Any) -> float | None:
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_one else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """All that episodes have in common; make one with `offline_setting`.

    Attributes:
        method: words, form of answer and context.
        toolset: the tools that are on, named as the method names them.
        atlas: the world that tools ask.
        web: where web searches go; None is the atlas's own documents.
        reward: what an answer earns.
        helpers: who is asked for that: a geocoder, an encoder, a judge.
        place: puts answers in words on the map where distances are told beside the reward.
        budget: what one episode may use.
        answer_by: how the answer is given.
        force_answer: whether a best guess is wanted in any case.
    """

    method: Method
    toolset: Toolset
    atlas: Atlas
    reward: Reward
    budget: Budget
    helpers: Helpers = field(default_factory=Helpers)
    place: PlaceText = place_nothing
    web: WebSearch | None = None
    answer_by: AnswerBy = "tool"
    force_answer: bool = False
    words: Callable[[Observation], str] = field(default=observation_text, repr=False)

    def resources(self, reader: TextReader | None = None) -> Resources:
        """Return what the tools of an episode may ask."""
        return Resources(self.atlas, self.web, reader=reader)

    def score_answer(self, answer: Answer, truth: Truth) -> float:
        """Return what an answer earns, between ``reward.least`` and ``reward.most``."""
        return float(self.reward.score([answer], [truth], self.helpers).total[0])


def offline_setting(
    method: str | Method = "default",
    *,
    reward: str | Reward = "ours",
    helpers: Helpers | None = None,
    atlas: Atlas | Resources | None = None,
    tools: Iterable[str] | None = None,
    budget: Budget | None = None,
    answer_by: AnswerBy = "tool",
    force_answer: bool = False,
) -> Setting:
    """Return a setting in which nothing leaves this machine, unless the caller gives services that do.

    Args:
        method: a preset's name or a method of your own: it brings words, tools and budget.
        reward: what an answer earns: a preset's name, a YAML file, or a reward of your own.
        helpers: who is asked for that; left out, the atlas finds addresses and the judge by rule reads reasonings,
            each only where the reward can't do without.
        atlas: the world that tools ask, with a web search where there is one; the offline atlas with the user's
            regions if left out.
        tools: those to switch on in place of the method's own, by any of their names; names that begin with a plus
            sign are added, see `Method.toolset`.
        budget: in place of the method's own.
        answer_by: "tool" adds the tool `answer`, by which trainers that show environments only calls learn of it.
        force_answer: a best guess is wanted in any case.

    Raises:
        BadInput: there is no such method, tool or reward, a tool can't work offline, or the reward needs a helper.
    """
    asks = atlas if isinstance(atlas, Resources) else Resources(atlas or OfflineAtlas())
    world = asks.atlas
    earns = read_reward(reward) if isinstance(reward, str) else reward
    place = create_placer(lambda: _without_services(world))
    asked = helpers or Helpers(
        geocoder=place if earns.needs_geocoder else None,
        judge=RuleReader() if earns.needs_judge else None,
    )
    # What it lacks is said now and not after the first episode.
    earns.score([], [], asked)
    chosen = method_of(method) if isinstance(method, str) else method
    # The papers' forms name search_web; in drawn worlds the atlas's documents stand in for the web.
    have: frozenset[Need] = OFFLINE | {"web"} if chosen.paper or asks.web is not None else OFFLINE
    if "tiles" in list_supplies(world, offline=True):
        have |= {"tiles"}
    names = [item.name for item in all_tools().select(chosen.tools).usable(have)]
    if tools is not None:
        listed = list(tools)
        added = bool(listed) and all(name.startswith("+") for name in listed)
        names = [*names, *listed] if added else listed
    toolset = chosen.toolset(all_tools(), names)
    if useless := [item.name for item in toolset if item.lacks({*have, "web"})]:
        raise BadInput(f"{', '.join(useless)} can't work with the offline atlas alone; leave it out")
    return Setting(
        method=chosen,
        toolset=toolset,
        atlas=world,
        web=asks.web,
        reward=earns,
        helpers=asked,
        place=place,
        budget=budget or chosen.budget,
        answer_by=answer_by,
        force_answer=force_answer,
    )


def _without_services(atlas: Atlas) -> Atlas:
    """Return the offline atlas behind map services: scoring asks none of them."""
    from geosleuth.atlas.online import BackedAtlas

    return atlas.offline if isinstance(atlas, BackedAtlas) else atlas


def build_setting(words: Mapping[str, Any]) -> Setting:
    """Return a setting from plain data, as files and commands hold it; what is left out is as in `offline_setting`.

    ``turns`` and ``calls`` change the method's budget, ``wire`` how its calls travel, and ``prompts`` is a folder with
    words in place of its own. ``world`` is the seed of the world whose map tools ask, which is
    made where it is not there yet; without it they ask the atlas with the user's regions. ``pages`` adds that world's
    pages, which search_web finds.

    Raises:
        BadInput: a word is unknown, or what it says can't be used.
    """
    if unknown := [name for name in words if name not in WORDS]:
        raise BadInput(f"an environment has no setting {unknown[0]!r}; those there are: {', '.join(WORDS)}")
    given = {name: value for name, value in words.items() if value is not None}
    method = method_of(given.pop("method", "default"), box_scale=given.pop("box_scale", "pixels"))
    prompts = given.pop("prompts", None)
    method = with_folder(method, None if prompts is None else Path(prompts))
    method = replace(method, wire=given.pop("wire", method.wire))
    limits = {name: int(given.pop(name)) for name in ("turns", "calls") if name in given}
    seed = given.pop("world", None)
    pages = bool(given.pop("pages", False))
    if pages and seed is None:
        raise BadInput("pages are those of a drawn world; name its seed as world")
    atlas = None if seed is None else world_atlas(open_world(int(seed), pages=pages))
    return offline_setting(method, atlas=atlas, budget=replace(method.budget, **limits), **given)


def adapt_method(setting: Setting) -> Method:
    """Return the setting's method, its words saying how the answer is given here."""
    method = setting.method
    if setting.answer_by == "reply":
        return method
    return replace(method, system=lambda task, tools: f"{method.system(task, tools)}\n\n{_ANSWER_BY_TOOL}")


@dataclass(frozen=True, slots=True)
class StepResult:
    """Observations of a step, further messages of the loop, and whether the episode has ended."""

    observations: tuple[Observation, ...] = ()
    words: tuple[str, ...] = ()
    over: bool = False


class Episode:
    """One photo and one policy. `begin` comes first, in the event loop that all of the episode then belongs to.

    Attributes:
        case: what tools work on.
        system: the words that a policy is given first.
        prompt: the question.
        trouble: what broke the episode, where something did; a bug of ours.
    """

    def __init__(self, posed: Posed, setting: Setting) -> None:
        """Open the case; nothing runs yet."""
        self._truth, self._setting, self._method = posed.truth, setting, adapt_method(setting)
        self.case, self._views = open_case(posed.photos, setting.method, setting.resources(posed.reader))
        images = tuple(image_info(self.case, self.case.album[handle]) for handle in self.case.album.handles)
        task = Task(images, force_answer=setting.force_answer, views=self._views)
        self.images = images
        self.system = self._method.system(task, setting.toolset.names)
        self.prompt = self._method.prompt(task, setting.toolset.names)
        self.trouble: Exception | None = None
        self._events: list[Event] = []
        self._outside = _Outside()
        self._task: asyncio.Task[Trajectory] | None = None
        self._turn = asyncio.Lock()
        self._over = False
        self._reward: float | None = None

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._over

    @property
    def trajectory(self) -> Trajectory:
        """All that happened so far."""
        return Trajectory(tuple(self._events))

    @property
    def answer(self) -> Answer:
        """The answer; without point and place if there is none."""
        return (self.trajectory.answer if self._events else None) or Answer()

    async def begin(self) -> None:
        """Run the loop until it asks for the first step; steps given meanwhile wait."""
        async with self._turn:
            await self._begin()

    async def _begin(self) -> None:
        setting = self._setting
        self._task = asyncio.create_task(
            run(
                self.case,
                AgentSetup(method=self._method, policy=self._outside, toolset=setting.toolset, budget=setting.budget),
                sinks=[self._events.append],
                question=PhotoQuestion(views=self._views, force_answer=setting.force_answer),
            )
        )
        self._task.add_done_callback(lambda _: self._outside.leave())
        await self._wait()

    async def step(self, step: Step) -> StepResult:
        """Take the policy's next step and return the result. After the end, the result says that it is too late.

        Steps that come at once are taken one after the other, as turns of their own.
        """
        short = replace(
            step,
            text=step.text[:REPLY_CHARACTERS],
            thinking=step.thinking[:REPLY_CHARACTERS],
            calls=tuple(map(_readable, step.calls)),
        )
        async with self._turn:
            if self._over:
                return StepResult(tuple(refuse_call(call, OVER) for call in step.calls), over=True)
            before = len(self._events)
            self._outside.say(short)
            await self._wait()
            return self._result(step.calls, self._events[before:])

    async def close(self) -> None:
        """End the episode; without an answer, the best candidate of the pool is used."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._over = True

    def drop(self) -> None:
        """End it without waiting, from any thread; for an episode that is abandoned."""
        task = self._task
        if task is not None and not task.done():
            # A loop that is closed has called off all that ran in it.
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    def reward(self) -> float:
        """Return the reward of the answer; an open episode has none yet and gets the least.

        Raises:
            ValueError: the episode has no truth.
        """
        if self._truth is None:
            raise ValueError("this episode was made without a truth; score its answer elsewhere")
        if not self._over:
            return self._setting.reward.least
        if self._reward is None:
            self._reward = self._setting.score_answer(self.answer, self._truth)
        return self._reward

    async def _wait(self) -> None:
        conversation = await self._outside.shown()
        if conversation is not None or self._task is None:
            return
        self._over = True
        if not self._task.cancelled() and isinstance(error := self._task.exception(), Exception):
            self.trouble = error
            if isinstance(error, ImportError):
                raise error  # a library is missing: no model does that

    def _result(self, calls: Sequence[ToolCall], news: Sequence[Event]) -> StepResult:
        seen = [event.body.observation for event in news if isinstance(event.body, ToolObserved)]
        words = [event.body.prompt.text for event in news if isinstance(event.body, Prompted)]
        if self.trouble is not None:
            seen = [replace(item, text=BROKE) if item.failure == "timeout" else item for item in seen]
        # The loop takes in the first hundred calls of a reply.
        seen += [refuse_call(call, OVER) for call in calls[len(seen) :]]
        longest = self._method.context.longest_result
        return StepResult(tuple(short(item, longest) for item in seen), tuple(words), self._over)


def refuse_call(call: ToolCall, text: str) -> Observation:
    """Return the outcome of a call that is not carried out."""
    return Observation(call.id, str(call.name)[:60], text, failure="over_budget")


def _readable(call: ToolCall) -> ToolCall:
    """Return a call with object or text arguments; trainers pass on any JSON that a model wrote."""
    given: object = call.arguments
    return call if isinstance(given, Mapping | str) else replace(call, arguments=str(given))


class _Outside:
    """Stand-in for the policy in the loop: hands out the conversation, and waits for its step."""

    name = "outside"
    hosts: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._shown: asyncio.Queue[Conversation | None] = asyncio.Queue()
        self._said: asyncio.Queue[Step] = asyncio.Queue()

    async def shown(self) -> Conversation | None:
        """Return what the policy is shown next; None when the run is over."""
        return await self._shown.get()

    def say(self, step: Step) -> None:
        """Resume the run with a step."""
        self._said.put_nowait(step)

    def leave(self) -> None:
        """End the stream of results."""
        self._shown.put_nowait(None)

    async def step(self, conversation: Conversation) -> Step:
        """Wait for the outside policy's step."""
        self._shown.put_nowait(conversation)
        return await self._said.get()

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""


def pose_scene(scene: Scene, *, reading: Reading = "pixels", kept: Path | None = None) -> Posed:
    """Return an episode about a scene, with the very pixels that `geosleuth world make` would write to a file.

    ``kept`` is a folder of pictures that were drawn before; what is not there yet is drawn and put there.

    Raises:
        BadInput: a panorama is to be read by its clue boxes; they say nothing about the views it is cut into.
    """
    if reading == "clue boxes" and scene.kind == "panorama":
        raise BadInput('panoramas are looked at in views, which have no clue boxes; take reading="pixels"')
    jpeg, marks = draw_stored_scene(scene, kept)
    opened = open_photo(jpeg, kind="panorama" if scene.kind == "panorama" else "photo")
    reader = clue_reader(scene, marks, photo=opened.photo.handle) if reading == "clue boxes" else None
    return Posed((opened,), build_truth(scene), reader)


def draw_stored_scene(scene: Scene, kept: Path | None = None) -> tuple[bytes, tuple[Mark, ...]]:
    """Return a scene's picture as JPEG bytes, and its marks; from the folder of earlier drawings, if there."""
    if kept is None:
        drawing = draw_scene(scene)
        return drawing.jpeg(), drawing.marks
    picture, places = kept / f"{scene.id}.jpg", kept / f"{scene.id}.json"
    # The marks are written first, so that a picture that is there has them.
    if picture.exists():
        lines = json.loads(places.read_text(encoding="utf-8"))
        return picture.read_bytes(), tuple(Mark(clue, tuple(box), *rest) for clue, box, *rest in lines)
    drawing = draw_scene(scene)
    jpeg = drawing.jpeg()
    kept.mkdir(parents=True, exist_ok=True)
    with replacing(places) as file:
        file.write_text(json.dumps([astuple(mark) for mark in drawing.marks]), encoding="utf-8")
    with replacing(picture) as file:
        file.write_bytes(jpeg)
    return jpeg, drawing.marks


def scene_poser(
    world: World,
    *,
    seed: int,
    split: Split = "train",
    kind: SceneKind = "street",
    reading: Reading = "pixels",
    kept: Path | None = None,
) -> Poser:
    """Return a poser for rows with a column ``scene``, a scene's number from 0; see `scene_rows`.

    Args:
        world: where the scenes stand. The atlas of the setting must be its own, see `geosleuth.lab.scenes.world_atlas`.
        seed: another one gives other scenes.
        split: which places and designs may occur.
        kind: which kind of picture.
        reading: what read_text reads with.
        kept: a folder of pictures that were drawn before, see `pose_scene`.
    """

    def pose(row: Mapping[str, Any]) -> Posed:
        number = row.get("scene")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadInput("the row has no scene; its column 'scene' must be a number from 0 on")
        return pose_scene(design_scene(world, seed, number, split=split, kind=kind), reading=reading, kept=kept)

    return pose


def scene_rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Return rows for `scene_poser`: the numbers of ``count`` scenes, and no truth."""
    return [{"scene": number} for number in range(start, start + count)]


def import_needed(module: str, package: str) -> Any:
    """Import a module of such a library.

    Raises:
        UserError: it is not installed; the message is the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise UserError(
            f"this needs {package}, which is not installed; in an environment of its own, run: pip install {package}"
        ) from error
