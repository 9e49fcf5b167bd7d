"""What the nano model is taught before it meets the task: to see, and to answer, one chat a lesson.

A lesson is a chat as templates take it, with pictures in it. What it says of signs and streets is in the picture, by
the scene's own marks: lines that are too small to be read are not asked for, nor is the side of the road where nobody
drives. What misleads is read like any sign, and never told as true. The place itself is what the model is to learn to
guess: country, town and point are the scene's, whether or not a clue tells them.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from PIL import Image

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.photo.text import script_of
from geosleuth.tools.looks import around, thousandths
from geosleuth.world.drawing import Drawing
from geosleuth.world.model import Clue, Mark, Scene
from geosleuth.world.world import World

Kind = Literal["echo", "perception", "reading", "format", "copying", "telling", "levels", "trajectory", "undrawn"]
Chat = list[dict[str, Any]]

READ_PX = 7.0
"""The lowest letters, in pixels of the original, that a lesson asks to read; cuts of signs are shown enlarged."""

CHAIN = "chain"
"""What the scene calls names that many shops share: they tell no more than a country, unless the street is known."""

AREAS = ("phone", "postcode", "distance")
"""What tells an area, by numbers that no map lists as names."""

_CROPS = 4
_BOXES = 8
_LOOKS = 4
_CLUES_TOLD = 2


@dataclass(frozen=True, slots=True)
class Lesson:
    """A chat to learn from.

    Attributes:
        kind: the folder of the pool that it goes to; stages mix kinds.
        messages: the chat, pictures in it as PIL images.
        tools: whether it is shown with the tools.
    """

    kind: Kind
    messages: Chat
    tools: bool = False


def asked(question: str, image: Image.Image | None = None) -> dict[str, Any]:
    """A user's turn."""
    pictures = [] if image is None else [{"type": "image", "image": image}]
    return {"role": "user", "content": [*pictures, {"type": "text", "text": question}]}


def told(words: str) -> dict[str, Any]:
    """The assistant's turn."""
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def seeing(scene: Scene, drawing: Drawing, chance: random.Random) -> Lesson:
    """What is in the whole picture: the country, scripts, the side of the road, where signs stand."""
    questions = [
        ("Which country is this?", scene.spot.country_name),
        ("Which scripts are on the signs?", ", ".join(scripts(scene)) or "none"),
        ("Where are the signs?", json.dumps(boxes(scene, drawing.marks)[:_BOXES])),
        ("Which plants grow here?", scene.look.plant),
        ("Where is writing too small to read?", json.dumps(closer_looks(scene, drawing.marks, small=True)[:_LOOKS])),
    ]
    if "driving_side" not in {clue.sort for clue in unseen(scene, drawing.marks)}:
        questions.append(("On which side do they drive?", scene.look.drives_on))
    chance.shuffle(questions)
    messages: Chat = []
    for number, (question, answer) in enumerate(questions):
        messages += [asked(question, drawing.image if number == 0 else None), told(answer)]
    return Lesson("perception", messages)


def reading(scene: Scene, drawing: Drawing, chance: random.Random) -> Lesson | None:
    """What stands on signs, each in a cut of its own; None where no sign can be read."""
    clues = {clue.id: clue for clue in scene.clues}
    boards = [mark for mark in drawing.marks if mark.line is None and clues[mark.clue].lines]
    boards = [mark for mark in boards if clues[mark.clue].visibility != "hidden" and mark.letter_px >= READ_PX]
    chance.shuffle(boards)
    messages: Chat = []
    for mark in boards[:_CROPS]:
        box = padded(mark.box, scene.size, chance.uniform(0.05, 0.35), chance)
        clue = clues[mark.clue]
        messages += [asked("Read the sign.", drawing.image.crop(box)), told(" / ".join(clue.lines))]
    return Lesson("reading", messages) if messages else None


def levels(scene: Scene, marks: Sequence[Mark], opening: Chat) -> Lesson:
    """From the picture alone to country, town and point: what its clues say, then the answer."""
    marked = {mark.clue for mark in marks}
    plain = [clue for clue in scene.clues if clue.visibility == "plain" and clue.id in marked]
    readable = [clue for clue in plain if not clue.misleading]
    readable.sort(key=lambda clue: ("precise", "region", "country").index(clue.level))
    said = " ".join(clue.says for clue in readable[:_CLUES_TOLD])
    answer = answer_words(scene.spot.country_name, scene.spot.town, scene.spot.point, digits=2)
    return Lesson("levels", [*opening, told(f"{said}\n{answer}".strip())])


def answer_words(country: str, city: str | None, point: LatLon, *, digits: int = 5) -> str:
    """The answer in the form that the method nano asks for, from coarse to fine."""
    fields: dict[str, Any] = {"country": country}
    if city:
        fields["city"] = city
    words = json.dumps(fields, ensure_ascii=False)
    return f'{words[:-1]}, "lat": {point.lat:.{digits}f}, "lon": {point.lon:.{digits}f}}}'


def unseen(scene: Scene, marks: Sequence[Mark]) -> list[Clue]:
    """Clues of a scene that its picture came out without, such as the side of the road where nobody drives."""
    marked = {mark.clue for mark in marks}
    return [clue for clue in scene.clues if clue.id not in marked]


def scripts(scene: Scene) -> list[str]:
    """The scripts on the signs of a scene, sorted."""
    written = {script_of(line) for clue in scene.clues for line in clue.lines}
    return sorted(written - {"none"})


def boxes(scene: Scene, marks: Sequence[Mark]) -> list[list[int]]:
    """The signs' boxes in thousandths of the picture, from left to right."""
    written = {clue.id for clue in scene.clues if clue.lines}
    found = [thousandths(mark.box, scene.size) for mark in marks if mark.line is None and mark.clue in written]
    return sorted(found)


def closer_looks(scene: Scene, marks: Sequence[Mark], *, small: bool = False) -> list[list[int]]:
    """The parts of the picture that show signs from near, from left to right; only of small ones, if asked."""
    written = {clue.id for clue in scene.clues if clue.lines and (clue.visibility == "small" or not small)}
    looks = [around(mark.box, scene.size) for mark in marks if mark.line is None and mark.clue in written]
    return sorted(look for at, look in enumerate(looks) if look not in looks[:at])


def padded(
    box: Sequence[float], size: tuple[int, int], share: float, chance: random.Random
) -> tuple[int, int, int, int]:
    """A box with some room around it, not the same on all sides, inside the picture."""
    across, down = share * (box[2] - box[0]), share * (box[3] - box[1])
    sides = (
        box[0] - across * chance.uniform(0.3, 1.7),
        box[1] - down * chance.uniform(0.3, 1.7),
        box[2] + across * chance.uniform(0.3, 1.7),
        box[3] + down * chance.uniform(0.3, 1.7),
    )
    return (
        max(0, int(sides[0])), max(0, int(sides[1])), min(size[0], int(sides[2]) + 1), min(size[1], int(sides[3]) + 1),
    )  # fmt: skip


@cache
def largest_towns(world: World) -> Mapping[str, tuple[str, LatLon]]:
    """By country the largest town of the training split: none of those that are held out is ever named."""
    largest: dict[str, tuple[str, LatLon]] = {}
    for town in sorted(world.towns_in("train"), key=lambda town: -town.population):
        largest.setdefault(town.country, (town.name, town.point))
    return largest


def town_to_guess(world: World, country: str) -> tuple[str, LatLon]:
    """The town to answer with where only the country is known, and where it lies.

    Raises:
        BadInput: no town of that country may be trained on.
    """
    try:
        return largest_towns(world)[country]
    except KeyError:
        raise BadInput(f"the world has no town of {country} to train on; draw scenes of the split train") from None


def guess(world: World, scene: Scene) -> dict[str, Any]:
    """The assistant's answer where no more than the country is known: its largest town.

    Raises:
        BadInput: see `town_to_guess`.
    """
    return told(answer_words(scene.spot.country_name, *town_to_guess(world, scene.spot.country), digits=2))


def precise(scene: Scene) -> list[Clue]:
    """Clues that a map may know, and numbers that tell an area; the most telling first.

    A chain is among them: no sign says that a name is one, and the map knows which of its shops stands in a street.
    """
    order = ("business", CHAIN, "town_name", "street_name", "bus_stop", *AREAS)
    useful = [
        clue
        for clue in scene.clues
        if clue.sort in order and not clue.misleading and clue.visibility != "hidden"
        and (clue.sort, clue.level) != ("phone", "country")
    ]  # fmt: skip
    return sorted(useful, key=lambda clue: order.index(clue.sort))


def all_lessons(scene: Scene, drawing: Drawing, opening: Chat, chance: random.Random) -> Iterator[Lesson]:
    """What one picture teaches without tools."""
    yield seeing(scene, drawing, chance)
    if (read := reading(scene, drawing, chance)) is not None:
        yield read
    yield levels(scene, drawing.marks, opening)
