"""Questions about a scene whose answers are known: what fine-tuning on scenes learns from.

Everything is answered from what can be made out in the view that is shown, and no further: a country that nothing
legible tells is not named. The wording varies with the scene; the same scene is always asked the same.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geosleuth.agent.events import Task
from geosleuth.agent.methods import method
from geosleuth.data import geoagent
from geosleuth.errors import BadInput
from geosleuth.photo import BoxScale
from geosleuth.photo.text import script_of
from geosleuth.world import Clue, Mark, Scene
from geosleuth.world.reader import LEGIBLE_PX

KINDS = ("country", "script", "signs", "boxes", "levels")
_MOST_LINES = 24


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a picture with its answer; ``system`` is empty where nothing is said beforehand."""

    kind: str
    text: str
    reply: str
    system: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The scene as it can be made out, its lines in the view, dice, and what a pixel of the view is in boxes."""

    legible: Scene
    lines: Sequence["_Line"]
    chance: random.Random
    per_pixel: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    clue: Clue
    box: tuple[int, int, int, int]


def questions_of(
    scene: Scene,
    marks: Sequence[Mark],
    view_size: tuple[int, int],
    kinds: Sequence[str] = KINDS,
    *,
    box_scale: BoxScale = "pixels",
) -> list[Question]:
    """The questions of those kinds that a scene can be asked; one that has no answer there is left out.

    Args:
        scene: what is looked at.
        marks: where its clues stand in the original picture.
        view_size: the width and height of the view that is shown.
        kinds: some of `KINDS`, in the order wanted.
        box_scale: what boxes are given in: pixels of the view, or thousandths of its sides.

    Raises:
        BadInput: there is no such kind.
    """
    legible = geoagent.seen_at_once(scene, marks, view_size[0])
    lines = _lines(legible, marks, view_size[0] / scene.size[0])
    per_pixel = (1.0, 1.0) if box_scale == "pixels" else (1000 / view_size[0], 1000 / view_size[1])
    found = []
    for kind in kinds:
        if kind not in _MAKERS:
            raise BadInput(f"there are no questions of kind {str(kind)[:40]!r}; there are: {', '.join(KINDS)}")
        chance = random.Random(f"question {kind} {scene.seed} {scene.id}")  # noqa: S311 - no secret depends on it
        question = _MAKERS[kind](_Asked(legible, lines, chance, per_pixel))
        if question is not None:
            found.append(question)
    return found


def _lines(legible: Scene, marks: Sequence[Mark], scale: float) -> list[_Line]:
    """What is written and can be read, from top to bottom."""
    clues = {clue.id: clue for clue in legible.clues}
    found = []
    for mark in marks:
        clue = clues.get(mark.clue)
        if clue is not None and mark.line is not None and mark.letter_px * scale >= LEGIBLE_PX:
            left, top, right, bottom = (round(side * scale) for side in mark.box)
            found.append(_Line(clue.lines[mark.line], clue, (left, top, right, bottom)))
    return sorted(found, key=lambda line: (line.box[1], line.box[0]))[:_MOST_LINES]


_COUNTRY = (
    "Which country is this?",
    "In which country was this photo taken? Name it, or say that it can't be told.",
    "Name the country.",
)
_OPEN_COUNTRY = "The country can't be told from what can be seen here."


def _country(asked: _Asked) -> Question:
    told = geoagent.honest_address(asked.legible).country
    if told.conclusion is None:
        doubt = f" {told.uncertainty}" if told.uncertainty else ""
        return Question("country", asked.chance.choice(_COUNTRY), f"{_OPEN_COUNTRY}{doubt}")
    because = f" {told.reasoning}" if told.reasoning else ""
    return Question("country", asked.chance.choice(_COUNTRY), f"{told.conclusion}.{because}")


_SCRIPT = ("Which scripts are the signs written in?", "Name the scripts that can be read here.")
_NOTHING = "Nothing can be read in this picture."


def _script(asked: _Asked) -> Question:
    scripts = sorted({script_of(line.text) for line in asked.lines} - {"none"})
    return Question("script", asked.chance.choice(_SCRIPT), f"{', '.join(scripts)}." if scripts else _NOTHING)


_SIGNS = ("Read all that is written, from top to bottom, a line each.", "What is written here? One line for each.")


def _signs(asked: _Asked) -> Question:
    read = "\n".join(line.text for line in asked.lines)
    return Question("signs", asked.chance.choice(_SIGNS), read or _NOTHING)


_BOXES = ("Where is {what} written? Give its box.", "Find {what}.", "Give the box of the text {what}.")


def _boxes(asked: _Asked) -> Question | None:
    texts = [line.text for line in asked.lines]
    single = [line for line in asked.lines if texts.count(line.text) == 1]
    if not single:
        return None
    line = asked.chance.choice(single)
    text = asked.chance.choice(_BOXES).format(what=json.dumps(line.text, ensure_ascii=False))
    box = [round(side * asked.per_pixel[at % 2]) for at, side in enumerate(line.box)]
    return Question("boxes", text, json.dumps({"bbox_2d": box}))


def _levels(asked: _Asked) -> Question:
    record = geoagent.record_of(asked.legible, geoagent.honest_address(asked.legible), asked.chance)
    way, task = method(geoagent.METHOD), Task((), force_answer=False)
    return Question("levels", way.prompt(task, ()), record.reply(), way.system(task, ()))


_MAKERS: dict[str, Callable[[_Asked], Question | None]] = {
    "country": _country,
    "script": _script,
    "signs": _signs,
    "boxes": _boxes,
    "levels": _levels,
}
