"""GeoAgent's records: three levels of reasoning, written from a scene's truth and limited to what can be seen.

In section 3.1 of the paper, people's notes are put into one form; here the notes come from the scene. The method has no
zoom, so only what is legible in the first view counts. A level that nothing legible supports stays open.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from geosleuth.agent import Method
from geosleuth.agent.locate import Finding, locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Address, Level
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.atlas.facts import all_countries
from geosleuth.evidence import TextSeen, country_prior, text_clues
from geosleuth.lab.scenes import Mark, Scene, SceneClue
from geosleuth.lab.scenes.design import build_address
from geosleuth.lab.scenes.scene_reader import LEGIBLE_PX
from geosleuth.lab.traces.scripted import find_visible_sorts, plants
from geosleuth.models import Conversation, Step
from geosleuth.names import country_name
from geosleuth.photo import OpenedPhoto
from geosleuth.photo.text import detect_script
from geosleuth.tools import Toolset

METHOD = "geoagent"
Grade = Literal["low", "moderate", "high"]
# Names of the record's three levels.
LEVELS = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")

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


# Sentences for facts in clues that only a map or a page could turn into a place.
_SENTENCES_WITHOUT_MAP = {
    "business": "The shop is called {text}.",
    "chain": "The shop is called {text}.",
    "street_name": "The plate names the street, {text}.",
    "house_number": "The house has the number {text}.",
    "bus_stop": "The stop is called {text}.",
    "founded": "A poster gives the year {text}.",
}

_BY_TOWN_ALONE = "The country follows from the town's name alone, and other countries may have such a town."
_MIN_ODDS, _SURE_ODDS = 0.4, 0.85
_READ_SURELY, _OTHER_SIDE = 0.9, 0.03

_LEFT_OPEN = ("I leave this level open.", "No conclusion here.", "More than that would be a guess.")


@dataclass(frozen=True, slots=True)
class GeoAgentRecord:
    """A record of three levels in the method's form; a level without a conclusion says why in its reasoning."""

    country: Mapping[str, Any]
    region: Mapping[str, Any]
    precise: Mapping[str, Any]

    @property
    def conclusions(self) -> tuple[str, str, str]:
        """Return the three names; empty where a level is open."""
        return self.country["Conclusion"], self.region["Conclusion"], self.precise["Conclusion"]

    def reply(self) -> str:
        """Return the record as the method's reply."""
        levels = dict(zip(LEVELS, (self.country, self.region, self.precise), strict=True))
        document = {"ChainOfThought": levels, "FinalAnswer": "; ".join(name for name in self.conclusions if name)}
        return json.dumps(document, ensure_ascii=False, indent=1)


def keep_visible_clues(scene: Scene, marks: Sequence[Mark], view_width: int) -> Scene:
    """Return the scene with only the clues that are visible in a view of this width.

    Clues without text are visible where they have a mark. Sun angles and climate names can't be seen: the sun is left
    out, and plants are described by their form.
    """
    scale = view_width / scene.size[0]
    tallest: dict[str, float] = {}
    for mark in marks:
        if mark.line is not None:
            tallest[mark.clue] = max(tallest.get(mark.clue, 0.0), mark.letter_px * scale)
    unwritten = find_visible_sorts(scene, marks) - {"sun"}
    legible = [
        clue
        for clue in scene.clues
        if (tallest.get(clue.id, 0.0) >= LEGIBLE_PX if clue.lines else clue.sort in unwritten)
    ]
    described = (
        replace(item, says=f"Plants: {plants(scene.look.plant)}.") if item.sort == "vegetation" else item
        for item in legible
    )
    return replace(scene, clues=tuple(clue for clue in described if clue.visibility == "plain"))


def _country_odds(lines: Sequence[str], drives_on: str | None) -> dict[str, float]:
    """Return country probabilities from the lines alone, the likeliest first."""
    seen = [
        TextSeen(line, "image-1", (0.0, 20.0 * row, 100.0, 20.0 * row + 12.0), _READ_SURELY, detect_script(line))
        for row, line in enumerate(lines)
    ]
    prior, known = country_prior(), all_countries()
    odds = dict(prior)
    for clue in text_clues(seen):
        for code in odds if clue.countries else ():
            odds[code] *= clue.reliability * clue.countries.get(code, 0.0) / prior[code] + 1 - clue.reliability
    for code in odds:
        if drives_on is not None and known[code].driving_side not in (None, drives_on):
            odds[code] *= _OTHER_SIDE
    total = sum(odds.values()) or 1.0
    ranked = sorted(odds, key=lambda code: (-round(odds[code] / total, 9), code))
    return {code: odds[code] / total for code in ranked}


def honest_address(scene: Scene) -> Address:
    """Return what can be concluded without a map: made-up shops and streets count by their words alone.

    Expects a scene from `keep_visible_clues`. A country is concluded where the text favours it above all others,
    or where
    the town is named.
    """
    knows_town = _names_town(scene)
    plain = replace(scene, clues=tuple(_without_map(clue, knows_town=knows_town) for clue in scene.clues))
    address = build_address(plain)
    lines = tuple(line for clue in plain.clues for line in clue.lines)
    sees_side = any(clue.sort == "driving_side" for clue in scene.clues)
    side = scene.look.drives_on if sees_side else None
    (first, share), (second, _) = list(_country_odds(lines, side).items())[:2]
    country = address.country
    if first != scene.spot.country or share < _MIN_ODDS:
        if knows_town:
            return replace(address, country=replace(country, uncertainty=_BY_TOWN_ALONE))
        doubt = f"{country_name(first)} or {country_name(second)} would fit as well as others."
        open_ = Level(None, address.region.clues, address.region.reasoning, address.region.uncertainty)
        return Address(replace(country, conclusion=None, uncertainty=doubt), open_, address.precise)
    doubtful = f"{country_name(second)} is possible too." if share < _SURE_ODDS else None
    return replace(address, country=replace(country, uncertainty=doubtful))


def _names_town(scene: Scene) -> bool:
    return any(clue.sort == "town_name" and not clue.misleading for clue in scene.clues)


def _without_map(clue: SceneClue, *, knows_town: bool) -> SceneClue:
    """Return the clue as it reads without a map."""
    words = _SENTENCES_WITHOUT_MAP.get(clue.sort)
    if words is None or clue.misleading:
        return clue
    says = words.format(text=" / ".join(clue.lines))
    return replace(clue, says=says, level=clue.level if knows_town else "country")


def build_record(scene: Scene, address: Address, chance: random.Random) -> GeoAgentRecord:
    """Return a record of the address that a scene's legible clues allow, see `honest_address`."""
    knows_town = _names_town(scene)
    honest = [_without_map(clue, knows_town=knows_town) for clue in scene.clues if not clue.misleading]
    levels = (address.country, address.region, address.precise)
    country, region, precise = (
        build_level(level, _clue_words(honest, name, chance), chance)
        for level, name in zip(levels, ("country", "region", "precise"), strict=True)
    )
    return GeoAgentRecord(country, region, precise)


def build_level(level: Level, clues: Sequence[str], chance: random.Random) -> dict[str, Any]:
    """Return one level in the method's form; its uncertainty follows from the level itself."""
    conclusion = level.conclusion or ""
    reasoning = [level.reasoning or "", level.uncertainty or ""]
    if not conclusion:
        reasoning = [*reasoning, chance.choice(_LEFT_OPEN)]
    return {
        "Clues": list(clues or level.clues) if conclusion or level.clues else [],
        "Reasoning": " ".join(part.strip() for part in reasoning if part.strip()),
        "Conclusion": conclusion,
        "Uncertainty": grade_level(level),
    }


def grade_level(level: Level) -> Grade:
    """Return how uncertain a level is: high if it is open, moderate if something contradicts it."""
    return "high" if not level.conclusion else "moderate" if level.uncertainty else "low"


def _clue_words(clues: Sequence[SceneClue], level: str, chance: random.Random) -> list[str]:
    own = [clue for clue in clues if clue.level == level]
    words = [_one(clue, chance) for clue in own]
    if len(words) > 1 and chance.random() < 0.5:
        chance.shuffle(words)
    return words


def _one(clue: SceneClue, chance: random.Random) -> str:
    if not clue.lines or clue.board is None:
        return clue.says.rstrip(".")
    text = json.dumps(" / ".join(clue.lines), ensure_ascii=False)
    return chance.choice(_BOARDS[clue.board]).format(text=text)


class WrittenReply:
    """A policy that gives one reply, written beforehand; its name says from what."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, reply: str) -> None:
        """Store the reply."""
        self.name, self._reply = name, reply

    async def step(self, conversation: Conversation) -> Step:  # noqa: ARG002  (it is written already)
        """Return the reply."""
        return Step(text=self._reply, model=self.name)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


async def run_record(photo: OpenedPhoto, record: GeoAgentRecord, *, by: str, way: str | Method = METHOD) -> Finding:
    """Run the method on the photo with the record as its only reply.

    Raises:
        BadInput: the photo is missing.
    """
    return await run_reply(photo, record.reply(), way, by=by)


async def run_reply(
    photo: OpenedPhoto, reply: str, way: str | Method, *, by: str, atlas: Atlas | None = None
) -> Finding:
    """Run a method without tools on the photo, with a written reply as its only one.

    Raises:
        BadInput: the photo is missing.
    """
    return await locate(
        [photo],
        AgentSetup(method=method(way), policy=WrittenReply(by, reply), toolset=Toolset(())),
        Resources(OfflineAtlas() if atlas is None else atlas),
    )
