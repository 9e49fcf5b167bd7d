"""Lessons with tools: a teacher who knows the scene plays the real environment, and what it teaches goes to shards.

The teacher is a rule, not a model: a stand-in for one that is good at the task. It looks where signs are, reads them,
asks the map for what it has read, or what all lines tell where only numbers tell an area, and takes the hit that is
right. Lines are quoted by number. It asks in several ways: mostly for one line, often for two at once, a name and the
street or town beside it, seldom for all. Which of them pays is left to reinforcement learning. It cheats in one way: it
knows which of the lines, hits and parts of the picture are useful, and which mislead. But it only looks where
a reading says that writing is too small, only asks for what it has read, and only names a point that an observation has
shown it; otherwise it asks what all lines tell together, and names the country's largest town, as one would who knows
no more.

`stroll` makes the same moves without aim, except that a zoom shows a sign: from such chats a model learns how
calls are written and where signs are, and nothing about when calls help.

A model that can't copy what a tool tells learns from no search, and reinforcement learning then takes the searches out
of it. These lessons cost a small part of what a drawn scene does, so there can be many.

Several processes work side by side, each on its own scenes, so that the trainer never waits for pictures.
"""

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from geosleuth.agent.conversation import cut
from geosleuth.agent.method import CHARACTERS_PER_TOKEN
from geosleuth.agent.methods.nano import TURNS
from geosleuth.agent.turns import EVERY, READER, Quotes, quote
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.scenes.design import build_truth, design_scene
from geosleuth.lab.scenes.drawing import Drawing, draw_scene
from geosleuth.lab.scenes.environment import Posed, build_environment_class, build_prompt_column, offline_setting
from geosleuth.lab.scenes.environment.for_trl import GeoEnvironment
from geosleuth.lab.scenes.scene import Mark, Scene, SceneClue, Split
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.lab.scenes.towns import WorldTown
from geosleuth.lab.scenes.world import World, world_atlas
from geosleuth.names import country_name
from geosleuth.photo import open_photo
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.image_tools import holds, thousandths
from geosleuth.tools.surfaces import Background, native_tools
from geosleuth.tools.viewer import format_point

from .lessons import (
    AREAS,
    CHAIN,
    Chat,
    Kind,
    Lesson,
    all_lessons,
    answer_words,
    assistant_turn,
    closer_looks,
    country_guess,
    echoes,
    listed,
    posed_undrawn,
    precise,
    sign_lessons,
    town_to_guess,
    user_turn,
    whole_words,
    without_pictures,
)
from .shards import Encoded, encode_chat, final_pixels

NEAR_KM = 2.0
"""How near a point must be for the teacher to stop."""

AREA_KM = 25.0
"""The same, if signs show no more than the area."""

READ, SEARCH, CLUES = READER, "geocode", "clues"
"""The tools that read signs, search the map, and give the area of phone numbers, postcodes and distances."""

TWO, ALL = 0.35, 0.15
"""How often two lines, and all lines of a reading, are asked for at once, where there are so many."""

ALONE = 0.3
"""How often a phone number with its country code is looked up alone; other numbers need all lines."""

_SEARCHES = 3
_ZOOMS = 2
_CALLS_TO_ZOOM = 3  # to look closer, to read, and to ask the map for what was read
_ASKED = 3
_BELIEVED = 6
_WHOLE = (0, 0, 1000, 1000)
_WHERE = ("street_name", "town_name")
_COARSER = {"business": _WHERE, CHAIN: _WHERE, "street_name": ("town_name",), "bus_stop": ("town_name",)}


class Notes:
    """A chat that grows: calls as the assistant's turns, observations as the tools'.

    Attributes:
        messages: the chat so far.
        views: how many views of the photo there are; the newest is "image-N".
        shown: the text that the last call gave.
        read: the lines that were read and shown, and where each stood last: the image, the line's number, the reading.
        heard: all lines of all readings, those that were cut off for length too.
        looks: the parts of the photo where, by its reading, writing is too small to be read.
        lists: what each search of the map gave: the text, and the points of its hits.
    """

    def __init__(self, environment: GeoEnvironment, opening: Chat) -> None:
        """Start with the question."""
        self._environment, self.messages = environment, list(opening)
        self.views, self.shown = 1, ""
        self.read: dict[str, tuple[str, int, int]] = {}
        self.heard: set[str] = set()
        self.looks: list[list[int]] = []
        self._readings = 0
        self._quotes = Quotes()
        self._made: list[tuple[str, Mapping[str, Any] | str]] = []
        self.lists: list[tuple[str, list[LatLon]]] = []

    @property
    def calls_left(self) -> int:
        """How many calls fit into the budget; the last turn is the answer's."""
        return TURNS - 1 - len(self._made)

    def is_new(self, name: str, **arguments: Any) -> bool:
        """Return whether a call was not made before; the loop carries out none twice."""
        return (name, self._spelled_out(name, arguments)) not in self._made

    def _spelled_out(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | str:
        return self._quotes.fill_quotes(ToolCall("", name, arguments)).arguments

    def call(self, name: str, **arguments: Any) -> Mapping[str, Any]:
        """Make a call and return the observation's data."""
        self.messages.append(
            {
                "role": "assistant",
                "content": [],
                "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}}],
            }
        )
        self._made.append((name, self._spelled_out(name, arguments)))
        content = getattr(self._environment, name)(**arguments)
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        self.shown = "".join(part.get("text", "") for part in parts)
        self.messages.append({"role": "tool", "name": name, "content": parts})
        seen = self._environment.observations[-1]
        self.views += len(seen.images)
        data = seen.data if isinstance(seen.data, Mapping) and seen.failure is None else {}
        if name == SEARCH and data:
            self.lists.append((self.shown, points_in(data)))
        if name == READ and data.get("lines"):
            self._quotes.hear(seen)
            self._take_in(data)
        if name == READ and self.views == 1:
            self.looks = [look for look in data.get("look_closer", ()) if str(look) in self.shown]
        return data

    def _take_in(self, data: Mapping[str, Any]) -> None:
        """Keep the lines that were read, without those cut off for length: the model does not see them either."""
        self._readings += 1
        for number, line in enumerate(data["lines"], 1):
            self.heard.add(line["text"])
            if line["text"] in self.shown:
                self.read[line["text"]] = data["image"], number, self._readings

    def quoted(self, line: str) -> str:
        """Return a line that was read, by its number."""
        image, number, _ = self.read[line]
        return quote(number, None if self.is_newest(line) else image)

    def is_newest(self, line: str) -> bool:
        """Return whether a line is part of the newest reading."""
        return self.read[line][2] == self._readings


def teach(
    world: World,
    scene: Scene,
    marks: Sequence[Mark],
    environment: GeoEnvironment,
    opening: Chat,
    chance: random.Random,
    kind: Kind = "trajectory",
) -> tuple[Lesson, float | None, Notes]:
    """Return one chat, how far off its answer is in km (None if it is the country's largest town), and its notes.

    Args:
        world: of the scene.
        scene: what is looked at; of the split train.
        marks: where its clues stand.
        environment: reset with the scene.
        opening: the system message and the question.
        chance: decides whether lines are asked for one by one, two at once, or all.
        kind: of the lesson.

    Raises:
        BadInput: the scene's country has no town that may be trained on.
    """
    notes = Notes(environment, opening)
    notes.call(READ)
    truth = scene.spot.point
    boxes = {(mark.clue, mark.line): thousandths(mark.box, scene.size) for mark in marks}
    best: LatLon | None = None
    zooms = searches = 0
    for clue, row, line in ((one, row, text) for one in precise(scene) for row, text in enumerate(one.lines)):
        box = boxes.get((clue.id, row))
        enough = AREA_KM if clue.level == "region" else NEAR_KM
        if searches == _SEARCHES or not notes.calls_left or (best and distance_km(best, truth) <= enough):
            break
        window = next((look for look in notes.looks if box and holds(look, box)), None)
        closer = zooms < _ZOOMS and notes.calls_left >= _CALLS_TO_ZOOM and notes.is_new("zoom", bbox_2d=window)
        if line not in notes.read and window is not None and closer and clue.sort != CHAIN:
            zooms += 1
            notes.call("zoom", bbox_2d=window)
            notes.call(READ, image=f"image-{notes.views}")
        context = _context_lines(scene, clue, line, notes.read)
        if line not in notes.read or (clue.sort == CHAIN and not context):
            continue
        name, arguments = _question(scene, clue.sort, line, context, notes, chance)
        if not notes.is_new(name, **arguments):
            continue
        searches += 1
        best = _nearer(best, notes.call(name, **arguments), truth, notes.shown)
    _, capital = town_to_guess(world, scene.spot.country)
    if best is None or distance_km(best, truth) > max(NEAR_KM, distance_km(capital, truth)):
        if notes.calls_left and (believed := _believed(scene, notes)) and notes.is_new(CLUES, text=believed):
            notes.call(CLUES, text=believed)
        return Lesson(kind, [*notes.messages, country_guess(world, scene)], tools=True), None, notes
    town = scene.spot.town_on_signs
    named = any(town in shown and best in points for shown, points in notes.lists)
    words = answer_words(scene.spot.country_name, town if named else None, best)
    lesson = Lesson(kind, [*notes.messages, assistant_turn(words)], tools=True)
    return lesson, distance_km(best, truth), notes


def _nearer(best: LatLon | None, data: Mapping[str, Any], truth: LatLon, shown: str) -> LatLon | None:
    """Return the best point so far, or a nearer one that a call has shown."""
    found = [best, nearest_shown(data, truth, shown)]
    return min((point for point in found if point), key=lambda point: distance_km(point, truth), default=None)


def looking_up(notes: Notes, chance: random.Random) -> Lesson | None:
    """Return a list of hits with questions about it: how to copy a point from a tool's output."""
    messages: Chat = []
    for shown, points in notes.lists:
        rows = [number for number, point in enumerate(points) if format_point(point) in shown]
        chance.shuffle(rows)
        for turn, number in enumerate(rows[:_ASKED]):
            question = f"Where is number {number + 1}?"
            messages += [
                user_turn(f"{shown}\n{question}" if turn == 0 else question),
                assistant_turn(format_point(points[number])),
            ]
    return Lesson("format", messages) if messages else None


def stroll(
    world: World, scene: Scene, drawing: Drawing, environment: GeoEnvironment, opening: Chat, chance: random.Random
) -> Lesson:
    """Return a chat of valid but aimless calls, with the country's largest town as the answer."""
    notes = Notes(environment, opening)
    windows = closer_looks(scene, drawing.marks) or [list(_WHOLE)]
    for _ in range(chance.randint(0, 3)):
        name, arguments = _any_move(scene, windows, notes, chance)
        if notes.is_new(name, **arguments):
            notes.call(name, **arguments)
    return Lesson("format", [*notes.messages, country_guess(world, scene)], tools=True)


def _any_move(
    scene: Scene, windows: list[list[int]], notes: Notes, chance: random.Random
) -> tuple[str, dict[str, Any]]:
    name = chance.choice(("zoom", READ, SEARCH, CLUES))
    if name == "zoom":
        return name, {"bbox_2d": chance.choice(windows)}
    if name == READ:
        first = notes.views == 1 or chance.random() < 0.5
        return name, {} if first else {"image": f"image-{notes.views}"}
    said = notes.quoted(chance.choice(sorted(notes.read))) if notes.read else scene.spot.country_name
    return name, {"address" if name == SEARCH else "text": said}


def _context_lines(scene: Scene, clue: SceneClue, line: str, read: Collection[str]) -> list[str]:
    """Return lines that were read and locate what a line names: the street or town of a business."""
    coarser = _COARSER.get(clue.sort, ())
    told_by = [one for one in precise(scene) if one is clue or one.sort in coarser]
    return [
        other for one in told_by for other in one.lines
        if other in read and other != line and (one is not clue or one.lines.index(other) > one.lines.index(line))
    ]  # fmt: skip


def _question(
    scene: Scene, sort: str, line: str, context: list[str], notes: Notes, chance: random.Random
) -> tuple[str, dict[str, str]]:
    """Return the call that looks up a line, a line with a neighbour, or all lines around it."""
    if sort in AREAS:
        alone = line.startswith("+") and chance.random() < ALONE
        return CLUES, {"text": notes.quoted(line) if alone else _believed(scene, notes) or notes.quoted(line)}
    way = chance.random()
    among = notes.is_newest(line) and sum(map(notes.is_newest, notes.read)) > 1
    if way < ALL and among and notes.is_new(SEARCH, address=EVERY):
        return SEARCH, {"address": EVERY}
    if context and (sort == CHAIN or way < ALL + TWO):
        return SEARCH, {"address": f"{notes.quoted(line)}, {notes.quoted(chance.choice(context))}"}
    return SEARCH, {"address": notes.quoted(line)}


def _believed(scene: Scene, notes: Notes) -> str:
    """Return all that was read as text, without misleading lines; "" if nothing was read."""
    misleading = {line for clue in scene.clues if clue.misleading for line in clue.lines}
    if misleading.isdisjoint(notes.heard):
        newest = next((image for line, (image, _, _) in notes.read.items() if notes.is_newest(line)), None)
        earlier = dict.fromkeys(image for image, _, _ in notes.read.values() if image != newest)
        return ", ".join([*(f"{image}{EVERY}" for image in earlier), *([EVERY] if newest else [])])
    believed = [line for line in notes.read if line not in misleading]
    return ", ".join(map(notes.quoted, believed[:_BELIEVED]))


def points_in(data: Mapping[str, Any]) -> list[LatLon]:
    """Return the points of what a call has found: of hits, or of the areas that clues lead to."""
    together = data.get("together", {}).get("places", ())
    spots = [spot for hit in data.get("results", ()) for spot in hit.get("spots", (hit,))]
    return [LatLon(spot["lat"], spot["lon"]) for spot in (*together, *spots)]


def nearest_shown(data: Mapping[str, Any], truth: LatLon, shown: str) -> LatLon | None:
    """Return the hit nearest to the truth, among those that the observation shows."""
    points = [point for point in points_in(data) if format_point(point) in shown]
    return min(points, key=lambda point: distance_km(point, truth), default=None)


_BY_PHONE = 0.3
"""The share of questions about a phone number, if there is one."""

LookUp = Callable[[ToolCall], Observation]
"""Carries out a call on the world's map."""

_WITH_TOWN = 0.5  # how often a business is asked for together with its town


def look_ups(
    world: World,
    system: Mapping[str, Any],
    look_up: LookUp,
    result_tokens: int | None,
    chance: random.Random,
    count: int,
) -> Iterator[Lesson]:
    """Yield questions about businesses of towns of the training split; those whose answer is not shown are left out.

    Args:
        world: whose businesses are asked for.
        system: the message that chats with tools begin with.
        look_up: asks the map.
        result_tokens: how long a result may be, as shown; None is no limit.
        chance: decides what is asked.
        count: how many questions are tried.
    """
    towns = world.list_towns("train")
    for number in range(count):
        town = chance.choice(towns)
        business = chance.choice(world.businesses(town))
        by_phone = business.phone is not None and chance.random() < _BY_PHONE
        question = (
            f"Where is {business.phone} from?" if by_phone else f"Where is {business.name} in {town.name_on_signs}?"
        )
        there = f", {town.name_on_signs}" if chance.random() < _WITH_TOWN else ""
        asked_for = {"text": business.phone} if by_phone else {"address": f"{business.name}{there}"}
        name, arguments = CLUES if by_phone else SEARCH, asked_for
        seen = look_up(ToolCall(f"call-{number + 1}", name, arguments))
        text = seen.text if result_tokens is None else cut(seen.text, result_tokens * CHARACTERS_PER_TOKEN)
        point = nearest_shown(seen.data if isinstance(seen.data, Mapping) else {}, business.point, text)
        if point is None or distance_km(point, business.point) > (AREA_KM if by_phone else NEAR_KM):
            continue
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        shown_town = town.name_on_signs if town.name_on_signs in text and not by_phone else None
        yield Lesson(
            "copying",
            [
                dict(system),
                user_turn(question),
                {"role": "assistant", "content": [], "tool_calls": [call]},
                {"role": "tool", "name": name, "content": [{"type": "text", "text": text}]},
                assistant_turn(answer_words(country_name(town.country), shown_town, point)),
            ],
            tools=True,
        )


STROLLS = 0.8
"""The share of scenes that are also strolled through without aim."""

LOOK_UPS = 2
"""How many businesses are looked up for each scene."""

UNDRAWN, UNDRAWN_SEED = 3, 2
"""How many undrawn scenes are played for each drawn one, and the distance of their seeds."""

_TOWNS = 4  # whose names stand in lists

ECHOES, LISTS, SIGN_LESSONS = 24, 6, 5
"""How many lessons in repeating, in lists of places and in reading signs are made at a time."""


class Teaching:
    """Makes the lessons of one scene after the other, except those without pictures: see `Speaking`.

    What a scene teaches depends on its number only.

    Args:
        world: where scenes are set.
        seed: of the scenes and of whatever lessons leave to chance.
        processor: of the model that is taught.
        split: which scenes; only to see how the teacher does on others may it be another than "train".
    """

    def __init__(self, world: World, seed: int, processor: Any, split: Split = "train") -> None:
        """Open the world's map, and the environment that the teacher plays."""
        self.world, self.seed, self._processor, self._split = world, seed, processor, split
        self.setting = offline_setting("nano", atlas=world_atlas(world), answer_by="reply", reward="ours")
        self._environment: Any = build_environment_class(self.setting, self._pose)()
        self._system = build_prompt_column(self.setting)[0]
        self.tools = native_tools(self.setting.toolset)
        self._background = Background()
        self._posed: dict[str, Posed] = {}
        self._shown: list[dict[str, Any]] = []

    def lessons(self, number: int) -> Iterator[Lesson]:
        """Yield all that a scene teaches; the photo that several lessons open with is one image in all of them."""
        scene = design_scene(self.world, self.seed, number, split=self._split)
        chance = random.Random(f"lessons {self.seed} {number}")
        drawing = draw_scene(scene)
        opened = open_photo(drawing.jpeg())
        reader = clue_reader(scene, drawing.marks, photo=opened.photo.handle)
        self._posed = {scene.id: Posed((opened,), build_truth(scene), reader)}
        self._shown = []
        yield from all_lessons(scene, drawing, self._opening(scene), chance)
        lesson, _, notes = teach(self.world, scene, drawing.marks, self._environment, self._opening(scene), chance)
        yield lesson
        if (list_lesson := looking_up(notes, chance)) is not None:
            yield list_lesson
        if chance.random() < STROLLS:
            yield stroll(self.world, scene, drawing, self._environment, self._opening(scene), chance)
        tokens = self.setting.method.context.result_tokens
        yield from look_ups(self.world, self._system, self._look_up, tokens, chance, LOOK_UPS)
        yield from self._undrawn(number, chance)

    def _undrawn(self, number: int, chance: random.Random) -> Iterator[Lesson]:
        """Yield chats about undrawn scenes of this number; those of the seed itself are drawn."""
        for which in range(number * UNDRAWN, (number + 1) * UNDRAWN):
            scene = design_scene(self.world, self.seed + UNDRAWN_SEED, which, split=self._split)
            self._posed, self._shown = {scene.id: posed_undrawn(scene)}, []
            opening = without_pictures(self._opening(scene))
            yield teach(self.world, scene, (), self._environment, opening, chance, "undrawn")[0]

    def encoded(self, number: int) -> Iterator[tuple[str, Encoded]]:
        """Yield the same, as the model takes it in, with the kind of each."""
        seen: dict[int, Any] = {}
        for lesson in self.lessons(number):
            messages = [_shrunk(self._processor, message, seen) for message in lesson.messages]
            yield lesson.kind, encode_chat(self._processor, messages, self.tools if lesson.tools else None)

    def _look_up(self, call: ToolCall) -> Observation:
        """Return what the map says, outside of any rollout."""
        (seen,) = self._background.run(self.setting.toolset.run([call], self._environment.case))
        return seen

    def _pose(self, row: Mapping[str, Any]) -> Posed:
        return self._posed[row["scene"]]

    def _opening(self, scene: Scene) -> Chat:
        """Return a new rollout's system message and question."""
        parts = self._environment.reset(scene=scene.id)
        # The first rollout's picture serves all, so that it is encoded and kept once.
        self._shown = self._shown or parts
        return [self._system, {"role": "user", "content": self._shown}]


class Speaking:
    """Makes the lessons that need neither picture nor map: repeated words, made-up lists, and lines of signs.

    There can be any number of them, also before the map is made.

    Args:
        world: whose names stand in lists, and whose scenes have the signs.
        seed: of these scenes and of whatever lessons leave to chance.
        processor: of the model that is taught.
    """

    def __init__(self, world: World, seed: int, processor: Any) -> None:
        """Find the words that are one token each."""
        self._world, self._seed, self._processor = world, seed, processor
        self._towns = world.list_towns("train")
        self._words = whole_words(processor.tokenizer)

    def lessons(self, number: int) -> Iterator[Lesson]:
        """Yield the lessons of a number."""
        chance = random.Random(f"spoken {self._seed} {number}")
        yield from echoes(self._words, chance, ECHOES)
        yield from listed(_some_names(self._world, self._towns, chance), chance, LISTS)
        # Scenes of their own: those of the seed itself are drawn and played.
        yield from sign_lessons(self._world, self._seed + 1, number, chance, SIGN_LESSONS)

    def encoded(self, number: int) -> Iterator[tuple[str, Encoded]]:
        """Yield the same, as the model takes it in, with the kind of each."""
        for lesson in self.lessons(number):
            yield lesson.kind, encode_chat(self._processor, lesson.messages, None)


def _some_names(world: World, towns: Sequence[WorldTown], chance: random.Random) -> list[str]:
    """Return the names of all businesses of a few towns."""
    return [business.name for town in chance.sample(towns, _TOWNS) for business in world.businesses(town)]


def _shrunk(processor: Any, message: Mapping[str, Any], seen: dict[int, Any]) -> dict[str, Any]:
    """Return a message with its pictures at final size; a picture shared by lessons is resized once."""
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    parts = []
    for part in content:
        if part["type"] != "image":
            parts.append(part)
            continue
        image = part["image"]
        if id(image) not in seen:
            seen[id(image)] = final_pixels(processor, image), image
        parts.append({**part, "image": seen[id(image)][0]})
    return {**message, "content": parts}
