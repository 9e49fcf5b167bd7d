"""GeoAgent's records: three levels of reasoning, written from a scene's truth, as honest as what can be seen allows.

Section 3.1 of the paper has people's notes put into one form; here the notes are a scene's own. What can't be read in
the first view does not count, since the method has no zoom, and a level that nothing legible reaches stays open.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from geosleuth.agent.locating import Finding, locate
from geosleuth.agent.methods import method
from geosleuth.answer import Address, Level
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Conversation, Step
from geosleuth.tools import Toolset
from geosleuth.world import Clue, Mark, Scene
from geosleuth.world.reader import LEGIBLE_PX

METHOD = "geoagent"
Grade = Literal["low", "moderate", "high"]
LEVELS = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")
"""What the form calls the three levels."""

_BOARDS = {
    "shop_front": ("a shop front that says {text}", "the shop sign {text}", "{text} over a shop"),
    "street_plate": ("a street plate with {text}", "the street name {text}"),
    "house_number": ("the house number {text}", "{text} beside a door"),
    "bus_stop": ("a bus stop called {text}", "the stop {text}"),
    "notice": ("a notice that says {text}", "{text} on a notice"),
    "poster": ("a poster with {text}", "{text} on a poster"),
    "billboard": ("a billboard with {text}", "large letters: {text}"),
    "bus": ("a bus with the words {text}", "{text} on the side of a bus"),
    "number_plate": ("a number plate, {text}", "a car with the plate {text}"),
    "town_sign": ("a town sign: {text}", "the sign of {text}"),
    "direction_sign": ("a signpost: {text}", "a signpost with {text}"),
    "road_shield": ("the road number {text}", "a shield with {text}"),
    "banner": ("a banner: {text}", "{text} on a banner"),
}


@dataclass(frozen=True, slots=True)
class Record:
    """Three levels in the method's form; a level without a conclusion says in its reasoning why it has none."""

    country: Mapping[str, Any]
    region: Mapping[str, Any]
    precise: Mapping[str, Any]

    @property
    def conclusions(self) -> tuple[str, str, str]:
        """The three names; empty where a level is open."""
        return self.country["Conclusion"], self.region["Conclusion"], self.precise["Conclusion"]

    def reply(self) -> str:
        """The record as the method's reply."""
        levels = dict(zip(LEVELS, (self.country, self.region, self.precise), strict=True))
        told = {"ChainOfThought": levels, "FinalAnswer": "; ".join(name for name in self.conclusions if name)}
        return json.dumps(told, ensure_ascii=False, indent=1)


def seen_at_once(scene: Scene, marks: Sequence[Mark], view_width: int) -> Scene:
    """The scene with those clues alone that can be made out in a view of this width."""
    scale = view_width / scene.size[0]
    tallest: dict[str, float] = {}
    for mark in marks:
        if mark.line is not None:
            tallest[mark.clue] = max(tallest.get(mark.clue, 0.0), mark.letter_px * scale)
    legible = [clue for clue in scene.clues if not clue.lines or tallest.get(clue.id, 0.0) >= LEGIBLE_PX]
    return replace(scene, clues=tuple(clue for clue in legible if clue.visibility == "plain"))


def record_of(scene: Scene, address: Address, chance: random.Random) -> Record:
    """A record of the address that a scene's legible clues allow, see `geosleuth.world.design.address_of`."""
    honest = [clue for clue in scene.clues if not clue.misleading]
    levels = (address.country, address.region, address.precise)
    country, region, precise = (
        level_of(level, _clue_words(honest, name, chance), chance)
        for level, name in zip(levels, ("country", "region", "precise"), strict=True)
    )
    return Record(country, region, precise)


def level_of(level: Level, clues: Sequence[str], chance: random.Random) -> dict[str, Any]:
    """One level in the method's form; how uncertain it is follows from what the level itself says."""
    conclusion = level.conclusion or ""
    reasoning = [level.reasoning or "", level.uncertainty or ""]
    if not conclusion:
        reasoning = [*reasoning, chance.choice(_LEFT_OPEN)]
    return {
        "Clues": list(clues or level.clues) if conclusion or level.clues else [],
        "Reasoning": " ".join(part.strip() for part in reasoning if part.strip()),
        "Conclusion": conclusion,
        "Uncertainty": grade_of(level),
    }


def grade_of(level: Level) -> Grade:
    """How uncertain a level is: high where it is open, moderate where something is said against it."""
    return "high" if not level.conclusion else "moderate" if level.uncertainty else "low"


_LEFT_OPEN = ("I leave this level open.", "No conclusion here.", "More than that would be a guess.")


def _clue_words(clues: Sequence[Clue], level: str, chance: random.Random) -> list[str]:
    own = [clue for clue in clues if clue.level == level]
    words = [_one(clue, chance) for clue in own]
    if len(words) > 1 and chance.random() < 0.5:
        chance.shuffle(words)
    return words


def _one(clue: Clue, chance: random.Random) -> str:
    if not clue.lines or clue.board is None:
        return clue.says.rstrip(".")
    text = json.dumps(" / ".join(clue.lines), ensure_ascii=False)
    return chance.choice(_BOARDS[clue.board]).format(text=text)


class WrittenReply:
    """A policy that says one reply, which was written beforehand; its name says from what."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, reply: str) -> None:
        """Take the reply."""
        self.name, self._reply = name, reply

    async def step(self, conversation: Conversation) -> Step:  # noqa: ARG002  (it is written already)
        """The reply."""
        return Step(text=self._reply, model=self.name)

    async def aclose(self) -> None:
        """Nothing to let go of."""


async def recorded(photo: OpenedPhoto, record: Record, *, by: str, atlas: Atlas | None = None) -> Finding:
    """The record as a run of the method: asked, and answered in one reply.

    Raises:
        BadInput: there is no photo.
    """
    way = method(METHOD)
    return await locate(
        [photo],
        policy=WrittenReply(by, record.reply()),
        method=way,
        toolset=Toolset(()),
        atlas=OfflineAtlas() if atlas is None else atlas,
    )
