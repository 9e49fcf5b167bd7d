"""Where lessons are made: scenes are drawn, looked at and played, and what they teach is put into shards.

Several processes work side by side, each on its own scenes, so that whoever trains never waits for pictures.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geosleuth.photo import open_photo
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.surfaces import Background, native_tools
from geosleuth.world.design import design_scene, truth_of
from geosleuth.world.drawing import draw_scene
from geosleuth.world.environment import Posed, environment_for, offline_setting, prompt_for
from geosleuth.world.layer import world_atlas
from geosleuth.world.model import Scene, Split
from geosleuth.world.reader import clue_reader
from geosleuth.world.towns import WorldTown
from geosleuth.world.world import World

from .lessons import Chat, Lesson, all_lessons, echoes, listed, posed_undrawn, tellings, whole_words, without_pictures
from .shards import Encoded, encode_chat, final_pixels
from .teacher import look_ups, looking_up, stroll, teach

STROLLS = 0.8
"""The share of scenes that are also strolled through without aim."""

LOOK_UPS = 2
"""How many businesses are asked for beside each scene."""

UNDRAWN, UNDRAWN_SEED = 3, 2
"""How many scenes are played beside each without being drawn, and how far their seed is from that of the drawn ones."""

_TOWNS = 4  # whose names stand in lists

ECHOES, LISTS, TELLINGS = 24, 6, 5
"""How many lessons in saying again, in lists of places, and in what signs tell, are made at a time."""


class Teaching:
    """Makes the lessons of one scene after the other, all but those that need no picture: `Speaking` makes them.

    What a scene teaches hangs on its number, not on those before.

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
        self._environment: Any = environment_for(self.setting, self._pose)()
        self._system = prompt_for(self.setting)[0]
        self.tools = native_tools(self.setting.toolset)
        self._background = Background()
        self._posed: dict[str, Posed] = {}
        self._shown: list[dict[str, Any]] = []

    def lessons(self, number: int) -> Iterator[Lesson]:
        """All that a scene teaches; the photo that several lessons open with is one image in all of them."""
        scene = design_scene(self.world, self.seed, number, split=self._split)
        chance = random.Random(f"lessons {self.seed} {number}")  # noqa: S311 - no secret depends on it
        drawing = draw_scene(scene)
        opened = open_photo(drawing.jpeg())
        reader = clue_reader(scene, drawing.marks, photo=opened.photo.handle)
        self._posed = {scene.id: Posed((opened,), truth_of(scene), reader)}
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
        """Chats about scenes that are the number's own too: those of the seed itself are drawn."""
        for which in range(number * UNDRAWN, (number + 1) * UNDRAWN):
            scene = design_scene(self.world, self.seed + UNDRAWN_SEED, which, split=self._split)
            self._posed, self._shown = {scene.id: posed_undrawn(scene)}, []
            opening = without_pictures(self._opening(scene))
            yield teach(self.world, scene, (), self._environment, opening, chance, "undrawn")[0]

    def encoded(self, number: int) -> Iterator[tuple[str, Encoded]]:
        """The same, as the model takes it in, with the kind of each."""
        seen: dict[int, Any] = {}
        for lesson in self.lessons(number):
            messages = [_shrunk(self._processor, message, seen) for message in lesson.messages]
            yield lesson.kind, encode_chat(self._processor, messages, self.tools if lesson.tools else None)

    def _look_up(self, call: ToolCall) -> Observation:
        """What the map says, outside of any rollout."""
        (seen,) = self._background.run(self.setting.toolset.run([call], self._environment.case))
        return seen

    def _pose(self, row: Mapping[str, Any]) -> Posed:
        return self._posed[row["scene"]]

    def _opening(self, scene: Scene) -> Chat:
        """A new rollout's system message and question."""
        parts = self._environment.reset(scene=scene.id)
        # The first rollout's picture serves all, so that it is encoded and kept once.
        self._shown = self._shown or parts
        return [self._system, {"role": "user", "content": self._shown}]


class Speaking:
    """Makes the lessons that need neither picture nor map: what is said again, made-up lists, and what signs tell.

    There can be any number of them, also before the map is made.

    Args:
        world: whose names stand in lists, and whose scenes have the signs.
        seed: of these scenes and of whatever lessons leave to chance.
        processor: of the model that is taught.
    """

    def __init__(self, world: World, seed: int, processor: Any) -> None:
        """Look which words are a token each."""
        self._world, self._seed, self._processor = world, seed, processor
        self._towns = world.towns_in("train")
        self._words = whole_words(processor.tokenizer)

    def lessons(self, number: int) -> Iterator[Lesson]:
        """Some of them; which, hangs on the number."""
        chance = random.Random(f"spoken {self._seed} {number}")  # noqa: S311 - no secret depends on it
        yield from echoes(self._words, chance, ECHOES)
        yield from listed(_some_names(self._world, self._towns, chance), chance, LISTS)
        # Scenes of their own: those of the seed itself are drawn and played.
        yield from tellings(self._world, self._seed + 1, number, chance, TELLINGS)

    def encoded(self, number: int) -> Iterator[tuple[str, Encoded]]:
        """The same, as the model takes it in, with the kind of each."""
        for lesson in self.lessons(number):
            yield lesson.kind, encode_chat(self._processor, lesson.messages, None)


def _some_names(world: World, towns: Sequence[WorldTown], chance: random.Random) -> list[str]:
    """The names of all businesses of a few towns."""
    return [business.name for town in chance.sample(towns, _TOWNS) for business in world.businesses(town)]


def _shrunk(processor: Any, message: Mapping[str, Any], seen: dict[int, Any]) -> dict[str, Any]:
    """A message with its pictures at final size; one that several lessons show is made so once."""
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
