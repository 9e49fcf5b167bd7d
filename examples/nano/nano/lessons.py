"""Lessons for the nano model before it meets the task, one chat each.

A lesson is a chat as templates take it, with pictures in it. What it says of signs and streets is in the picture, by
the scene's own marks: lines that are too small to be read are not asked for, nor is the side of the road where nobody
drives. A misleading sign is read like any other, and never stated as true. The place itself is what the model learns
to guess: country, town and point are the scene's, whether or not a clue shows them.

To use a tool's output, the model must first learn to copy text. A small model learns that late, or never, if few of its
target tokens are copies; in the lessons "echo" all of them are. They repeat one-token words in random order and random
points, so that only the text itself predicts what comes next. With snippets of names, whose letters predict each other,
learning takes several times as long.

Which currency, domain, script or word belongs to which country is learned from many scenes that are only designed, not
drawn or played.

Which line to look up, and which hit to take, needs no picture either. Signs of designed scenes are read as if they
stood in rows: that costs about a quarter of a drawn scene.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from PIL import Image

from geosleuth.geo import LatLon
from geosleuth.lab.scenes.design import build_truth, design_scene
from geosleuth.lab.scenes.drawing import Drawing
from geosleuth.lab.scenes.environment import Posed
from geosleuth.lab.scenes.environment.controls import blank
from geosleuth.lab.scenes.scene import Mark, Scene, SceneClue
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.lab.scenes.world import World
from geosleuth.photo.text import detect_script
from geosleuth.support.errors import BadInput
from geosleuth.tools.image_tools import around, thousandths

Kind = Literal["echo", "perception", "reading", "format", "copying", "telling", "levels", "trajectory", "undrawn"]
Chat = list[dict[str, Any]]

READ_PX = 7.0
"""The smallest letters, in pixels of the original, that a lesson asks to read; crops of signs are enlarged."""

CHAIN = "chain"
"""The sort of names that many shops share: they show only the country, unless the street is known."""

AREAS = ("phone", "postcode", "distance")
"""Sorts of clues that show an area by numbers, which no map lists as names."""

_CROPS = 4
_BOXES = 8
_LOOKS = 4


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


def user_turn(question: str, image: Image.Image | None = None) -> dict[str, Any]:
    """Return a user's turn."""
    pictures = [] if image is None else [{"type": "image", "image": image}]
    return {"role": "user", "content": [*pictures, {"type": "text", "text": question}]}


def assistant_turn(words: str) -> dict[str, Any]:
    """Return the assistant's turn."""
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def picture_lesson(scene: Scene, drawing: Drawing, chance: random.Random) -> Lesson:
    """Return questions about the whole picture: country, scripts, driving side, where signs are."""
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
        messages += [user_turn(question, drawing.image if number == 0 else None), assistant_turn(answer)]
    return Lesson("perception", messages)


def sign_reading(scene: Scene, drawing: Drawing, chance: random.Random) -> Lesson | None:
    """Return questions about signs, each in its own crop; None if no sign can be read."""
    clues = {clue.id: clue for clue in scene.clues}
    boards = [mark for mark in drawing.marks if mark.line is None and clues[mark.clue].lines]
    boards = [mark for mark in boards if clues[mark.clue].visibility != "hidden" and mark.letter_px >= READ_PX]
    chance.shuffle(boards)
    messages: Chat = []
    for mark in boards[:_CROPS]:
        box = padded(mark.box, scene.size, chance.uniform(0.05, 0.35), chance)
        clue = clues[mark.clue]
        messages += [user_turn("Read the sign.", drawing.image.crop(box)), assistant_turn(" / ".join(clue.lines))]
    return Lesson("reading", messages) if messages else None


def levels(scene: Scene, marks: Sequence[Mark], opening: Chat) -> Lesson:
    """Return the answer from the picture alone: country, region and town, each with what a clue says of it, and point.

    A level that no clue in sight speaks of is named without a reason.
    """
    marked = {mark.clue for mark in marks}
    readable = [
        clue
        for clue in scene.clues
        if clue.visibility == "plain" and clue.id in marked and not clue.misleading
    ]  # fmt: skip
    said = {clue.level: clue.says for clue in reversed(readable)}
    named = {"country": scene.spot.country_name, "region": scene.spot.region, "city": scene.spot.town}
    reasons = {"country": said.get("country"), "region": said.get("region"), "city": said.get("precise")}
    fields = {
        level: {"reasoning": reasons[level], "conclusion": name} if reasons[level] else name
        for level, name in named.items()
        if name
    }
    return Lesson("levels", [*opening, assistant_turn(_as_json(fields, scene.spot.point, digits=2))])


def answer_words(country: str, city: str | None, point: LatLon, *, digits: int = 5) -> str:
    """Return the answer in the form that the method nano asks for, from coarse to fine."""
    return _as_json({"country": country} | ({"city": city} if city else {}), point, digits=digits)


def _as_json(fields: Mapping[str, Any], point: LatLon, *, digits: int) -> str:
    words = json.dumps(fields, ensure_ascii=False)
    return f'{words[:-1]}, "lat": {point.lat:.{digits}f}, "lon": {point.lon:.{digits}f}}}'


def unseen(scene: Scene, marks: Sequence[Mark]) -> list[SceneClue]:
    """Return a scene's clues that its picture does not show, such as the driving side if there are no cars."""
    marked = {mark.clue for mark in marks}
    return [clue for clue in scene.clues if clue.id not in marked]


def scripts(scene: Scene) -> list[str]:
    """Return the scripts on the signs of a scene, sorted."""
    written = {detect_script(line) for clue in scene.clues for line in clue.lines}
    return sorted(written - {"none"})


def boxes(scene: Scene, marks: Sequence[Mark]) -> list[list[int]]:
    """Return the signs' boxes in thousandths of the picture, from left to right."""
    written = {clue.id for clue in scene.clues if clue.lines}
    found = [thousandths(mark.box, scene.size) for mark in marks if mark.line is None and mark.clue in written]
    return sorted(found)


def closer_looks(scene: Scene, marks: Sequence[Mark], *, small: bool = False) -> list[list[int]]:
    """Return the parts of the picture that show signs from near, from left to right; only of small ones, if asked."""
    written = {clue.id for clue in scene.clues if clue.lines and (clue.visibility == "small" or not small)}
    looks = [around(mark.box, scene.size) for mark in marks if mark.line is None and mark.clue in written]
    return sorted(look for at, look in enumerate(looks) if look not in looks[:at])


def padded(
    box: Sequence[float], size: tuple[int, int], share: float, chance: random.Random
) -> tuple[int, int, int, int]:
    """Return a box with some room around it, not the same on all sides, inside the picture."""
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
    """Return the largest town of the training split by country; held-out towns are never named."""
    largest: dict[str, tuple[str, LatLon]] = {}
    for town in sorted(world.list_towns("train"), key=lambda town: -town.population):
        largest.setdefault(town.country, (town.name, town.point))
    return largest


def town_to_guess(world: World, country: str) -> tuple[str, LatLon]:
    """Return the town to answer with where only the country is known, and where it lies.

    Raises:
        BadInput: no town of that country may be trained on.
    """
    try:
        return largest_towns(world)[country]
    except KeyError:
        raise BadInput(f"the world has no town of {country} to train on; draw scenes of the split train") from None


def country_guess(world: World, scene: Scene) -> dict[str, Any]:
    """Return the assistant's answer if only the country is known: its largest town.

    Raises:
        BadInput: see `town_to_guess`.
    """
    return assistant_turn(answer_words(scene.spot.country_name, *town_to_guess(world, scene.spot.country), digits=2))


def precise(scene: Scene) -> list[SceneClue]:
    """Return clues that a map may know, and numbers that show an area; the most precise first.

    Chains are included: no sign says that a name is a chain, and the map knows which shop is in a street.
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
    """Yield what one picture teaches without tools."""
    yield picture_lesson(scene, drawing, chance)
    if (read := sign_reading(scene, drawing, chance)) is not None:
        yield read
    yield levels(scene, drawing.marks, opening)


_FEWEST, _MOST = 2, (6, 12, 24)  # short lines are learned sooner
_LEAST_LETTERS = 3
_LINES = 5
_QUESTIONS = 3
_NUMBERS = 0.35
"""The share of lessons with points in them; words alone are learned sooner, and numbers after them."""


def whole_words(tokenizer: Any) -> list[str]:
    """Return the words that are one token each anywhere in a line; sorted."""
    texts = (tokenizer.convert_tokens_to_string([token]) for token in tokenizer.get_vocab())
    words = {text.strip() for text in texts if text.startswith(" ")}
    return sorted(word for word in words if len(word) >= _LEAST_LETTERS and word.isalpha())


def echoes(words: Sequence[str], chance: random.Random, count: int) -> Iterator[Lesson]:
    """Yield lessons that repeat random words, some with points among them.

    Args:
        words: that lines are made of, see `whole_words`.
        chance: random numbers.
        count: how many lessons.
    """
    for _ in range(count):
        items = chance.choices(words, k=chance.randint(_FEWEST, chance.choice(_MOST)))
        if chance.random() < _NUMBERS:
            for at in chance.sample(range(len(items)), chance.randint(1, 2)):
                items[at] = f"; {any_point(chance)};"
        said = " ".join(items)
        yield Lesson("echo", [user_turn(f"Say again: {said}"), assistant_turn(said)])


def listed(names: Sequence[str], chance: random.Random, count: int) -> Iterator[Lesson]:
    """Yield lists of places with their points, worded like the map's, and questions about some of them.

    Args:
        names: of places.
        chance: random numbers.
        count: how many lists.
    """
    names = sorted(set(names))
    for _ in range(count):
        places = chance.sample(names, min(len(names), chance.randint(1, _LINES)))
        points = [any_point(chance) for _ in places]
        lines = [
            f"{number}. {place}; {point}; {_match(chance)}"
            for number, (place, point) in enumerate(zip(places, points, strict=True), 1)
        ]
        messages: Chat = []
        for at in chance.sample(range(len(places)), min(len(places), _QUESTIONS)):
            question = f"Where is {chance.choice((f'number {at + 1}', places[at]))}?"
            lat, lon = points[at].split(", ")
            answer = chance.choice((points[at], f'{{"lat": {lat}, "lon": {lon}}}'))
            messages += [user_turn(question if messages else "\n".join([*lines, question])), assistant_turn(answer)]
        yield Lesson("echo", messages)


def any_point(chance: random.Random) -> str:
    """Return random coordinates as the map writes them."""
    return f"{chance.uniform(-60, 75):.5f}, {chance.uniform(-180, 180):.5f}"


def _match(chance: random.Random) -> str:
    return f"{chance.choice(('exact', 'fuzzy'))} match, confidence {chance.uniform(0.5, 0.99):.2f}"


SCENES = 3
"""How many scenes one chat asks about."""


def sign_lessons(world: World, seed: int, number: int, chance: random.Random, count: int) -> Iterator[Lesson]:
    """Yield chats about the scenes that belong to a number.

    Args:
        world: where scenes are set; only its towns to train on.
        seed: of the scenes.
        number: whose scenes.
        chance: decides the order of lines.
        count: how many chats.
    """
    for at in range(number * count, (number + 1) * count):
        messages: Chat = []
        for which in range(at * SCENES, (at + 1) * SCENES):
            scene = design_scene(world, seed, which, split="train")
            lines = lines_in_sight(scene)
            if lines:
                chance.shuffle(lines)
                listed = "\n".join(f'{place}. "{line}"' for place, line in enumerate(lines, 1))
                messages += [user_turn(f"What do the signs tell?\n{listed}"), country_guess(world, scene)]
        if messages:
            yield Lesson("telling", messages)


def lines_in_sight(scene: Scene) -> list[str]:
    """Return the lines of signs that are not hidden; misleading ones too, to learn to recognise them by context."""
    return [line for clue in scene.clues if clue.visibility != "hidden" for line in clue.lines]


_LETTER_PX = 40
_LETTERS_WIDE = 0.55  # of their height
_LEFT, _TOP, _ROWS_PX = 60, 40, 90


def posed_undrawn(scene: Scene) -> Posed:
    """Return a scene as an episode poses it, with an empty picture and signs that can be read."""
    opened = blank(scene.size)
    return Posed((opened,), build_truth(scene), clue_reader(scene, rows(scene), photo=opened.photo.handle))


def rows(scene: Scene) -> list[Mark]:
    """Return marks of all plainly visible lines, one below the other; none of a whole sign."""
    written = [
        (clue.id, at, line)
        for clue in scene.clues if clue.visibility == "plain"
        for at, line in enumerate(clue.lines)
    ]  # fmt: skip
    marks = []
    for row, (clue, at, line) in enumerate(written):
        top = min(_TOP + row * _ROWS_PX, scene.size[1] - _LETTER_PX)
        right = min(_LEFT + round(_LETTERS_WIDE * _LETTER_PX * len(line)), scene.size[0])
        marks.append(Mark(clue, (_LEFT, top, right, top + _LETTER_PX), at, _LETTER_PX))
    return marks


def without_pictures(opening: Chat) -> Chat:
    """Return an opening of which only the words are left."""
    return [
        {**message, "content": [part for part in message["content"] if part["type"] != "image"]}
        if isinstance(message["content"], list) else message
        for message in opening
    ]  # fmt: skip
