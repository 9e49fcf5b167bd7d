"""A class that has been taught: a few scenes, their pictures, and all lessons made of them."""

from dataclasses import dataclass
from typing import Any

from geosleuth.lab.scenes import Drawing, Scene, World, design_scene, draw_scene
from nano.lessons import Lesson
from nano.teacher import Teaching
from nano_models import tiny_nano_processor

SEED = 1001
SCENES = (1, 2, 6, 16, 22, 24)
"""In some the teacher zooms, in some it finds nothing; some mislead or hide things, some are strolled through."""


@dataclass(frozen=True)
class Taught:
    """A scene and what was made of it."""

    number: int
    scene: Scene
    drawing: Drawing
    lessons: tuple[Lesson, ...]

    def of(self, kind: str, *, tools: bool = False) -> list[Lesson]:
        """The lessons of one kind."""
        return [lesson for lesson in self.lessons if (lesson.kind, lesson.tools) == (kind, tools)]


def scene_of(world: World, number: int) -> Scene:
    return design_scene(world, SEED, number, split="train")


def teach_class(world: World) -> list[Taught]:
    """The lessons of the scenes, each made by one teacher after the other's."""
    teaching = Teaching(world, SEED, tiny_nano_processor())
    found = []
    for number in SCENES:
        scene = scene_of(world, number)
        found.append(Taught(number, scene, draw_scene(scene), tuple(teaching.lessons(number))))
    return found


def words_of(message: Any) -> str:
    """The text of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def pairs(lesson: Lesson) -> list[tuple[Any, str]]:
    """Each question with what is told."""
    return [
        (before, words_of(after))
        for before, after in zip(lesson.messages, lesson.messages[1:], strict=False)
        if (before["role"], after["role"]) == ("user", "assistant")
    ]


def calls(lesson: Lesson) -> list[tuple[str, dict[str, Any], str]]:
    """The calls of a chat: the tool, its arguments, and the text that came back."""
    found = []
    for before, after in zip(lesson.messages, lesson.messages[1:], strict=False):
        for call in before.get("tool_calls", ()):
            made = call["function"]
            found.append((made["name"], made["arguments"], words_of(after)))
    return found
