"""The answer that a scene's legible clues allow, level by level, and how easily the scene can be located."""

import random
from collections.abc import Sequence

from geosleuth.answer import Address, Level
from geosleuth.bench.makers.locatability import MOST
from geosleuth.score import Truth
from geosleuth.world.model import Clue, ClueLevel, Scene

from .scene_clues import street_line

_FINENESS: dict[ClueLevel, int] = {"country": 0, "region": 1, "precise": 2}


def truth_of(scene: Scene) -> Truth:
    """Where the scene really is."""
    spot = scene.spot
    return Truth(spot.point, spot.country, spot.region, spot.town)


def address_of(scene: Scene) -> Address:
    """What somebody who read every legible clue could rightly say; a level that no clue reaches stays open.

    The wording varies with the scene's seed.
    """
    chance = random.Random(f"telling {scene.seed}")  # noqa: S311 - no secret depends on it
    honest = [clue for clue in scene.clues if not clue.misleading and clue.visibility != "hidden"]
    foreign = [clue for clue in scene.clues if clue.misleading]
    finest = -1 if scene.finest is None else _FINENESS[scene.finest]
    written = any(clue.country for clue in honest)
    return Address(
        _level(scene.spot.country_name if written else None, "country", honest, foreign, chance),
        _level(scene.spot.region if finest >= 1 else None, "region", honest, (), chance),
        _level(_precise_name(scene) if finest >= 2 else None, "precise", honest, (), chance),
    )


def _precise_name(scene: Scene) -> str:
    """The finest named place that the legible clues reach together, finest first."""
    sorts = {clue.sort for clue in scene.clues if not clue.misleading and clue.visibility != "hidden"}
    door, town = scene.business, scene.spot.town
    if door is None or not sorts & {"business", "chain"}:
        return town
    street = street_line(scene.spot.country, door)
    return ", ".join(part for part in (door.name, street if "street_name" in sorts else None, town) if part)


_OPENINGS = ("What tells: ", "This follows from what can be seen. ", "The clues agree. ", "")
_AGAINST = (
    "{what} speaks of another country, but such things are found far from home.",
    "Against it stands {what}, which travels and is left aside.",
)
_OPEN: dict[ClueLevel, tuple[str, ...]] = {
    "country": (
        "Nothing legible names a country; light, plants and ground alone fit many.",
        "No text and no marking can be read: the country stays open.",
    ),
    "region": (
        "Nothing that can be read is finer than the country.",
        "The region stays open: no area code, postcode, distance or town can be read.",
    ),
    "precise": (
        "No street, business or town can be read, so that the spot stays open.",
        "Nothing names the town; a search would need more to go by.",
    ),
}
_LEFT: dict[ClueLevel, tuple[str, ...]] = {
    "country": ("Neighbouring countries share some of this.", "One clue alone would not be enough."),
    "region": ("The region follows from few clues; its edges are not sharp.", "Numbers can be from next door."),
    "precise": ("A shop of the same name may stand elsewhere.", "The map was taken at its word for the address."),
}


def _level(
    name: str | None,
    level: ClueLevel,
    honest: Sequence[Clue],
    foreign: Sequence[Clue],
    chance: random.Random,
) -> Level:
    own = [clue for clue in honest if clue.level == level]
    if level == "country" and name is not None:
        own = [clue for clue in honest if clue.level == "country"] or list(honest)
    own = own or [clue for clue in honest if _FINENESS[clue.level] > _FINENESS[level]]
    if name is None:
        weak = [clue for clue in own if clue.board is None] if level == "country" else []
        reasoning = " ".join(clue.says for clue in weak) or None
        return Level(None, tuple(_short(clue) for clue in weak), reasoning, chance.choice(_OPEN[level]))
    told = " ".join(clue.says for clue in own)
    against = " ".join(chance.choice(_AGAINST).format(what=_short(clue)) for clue in foreign)
    reasoning = f"{chance.choice(_OPENINGS)}{told} {against}".strip()
    sure = any(clue.level == "precise" and clue.sort != "chain" for clue in honest) and level != "precise"
    return Level(name, tuple(map(_short, own)), reasoning, None if sure else chance.choice(_LEFT[level]))


def _short(clue: Clue) -> str:
    """A clue in a few words: what is written, or what is seen."""
    return f"{clue.sort.replace('_', ' ')}: {' / '.join(clue.lines)}" if clue.lines else clue.says


def locatability_of(scene: Scene) -> float:
    """From 0 to 10, by what is legible.

    10 a business, street or town that can be read; 8.5 a number, postcode or distances of the region; 8 a branch of a
    chain; 7.5 language, money, plates; a point less for what must be zoomed into. 6 a street without a word, 3 to 4.5
    one that tells nothing, 5.5 where something hidden might be made out. What misleads, blur and fog take half a point
    each.
    """
    legible = [clue for clue in scene.clues if clue.visibility != "hidden" and not clue.misleading]
    score = max(map(_worth, legible), default=_worth_of_nothing(scene))
    if not any(clue.lines for clue in legible) and any(clue.lines for clue in scene.clues):
        score = max(score, 5.5)
    takes = (
        any(clue.misleading for clue in scene.clues),
        scene.camera.blur_px > 0,
        scene.sky.weather == "fog",
    )
    return round(min(MOST, max(0.0, score - 0.5 * sum(takes))), 1)


def _worth(clue: Clue) -> float:
    worth = {"precise": 10.0, "region": 8.5, "country": 7.5}[clue.level]
    if clue.board is None:
        return 6.0
    if clue.sort == "chain":
        worth = 8.0
    return worth - (1.0 if clue.visibility == "small" else 0.0)


def _worth_of_nothing(scene: Scene) -> float:
    if scene.kind == "satellite":
        return 4.0
    return 4.5 if scene.look.layout == "country_road" else 4.0 if scene.look.layout == "suburb" else 3.0


def tags_of(scene: Scene) -> dict[str, str]:
    """Ten element tags, each yes, no or maybe."""
    look, sky = scene.look, scene.sky
    written = [clue for clue in scene.clues if clue.lines]
    legible = [clue for clue in written if clue.visibility != "hidden"]
    built = look.layout != "country_road"
    boards = {clue.board for clue in legible}
    return {
        "manmade": "yes",
        "traffic": "yes" if boards & _OF_TRAFFIC or look.centre_line != "none" else "maybe",
        "buildings": "yes" if built else "maybe",
        "sign": "yes" if legible else "maybe" if written else "no",
        "language": "yes" if any(clue.sort in _OF_LANGUAGE for clue in legible) else "maybe" if written else "no",
        "natural": "no" if built and look.ground == "paved" else "maybe" if built else "yes",
        "plants": "no" if look.plant == "none" else "yes",
        "weather": "yes" if sky.weather != "overcast" else "maybe",
        "mountains_and_rivers": "no" if look.terrain == "flat" else "yes",
        "agricultural": "maybe" if look.layout == "country_road" or scene.kind == "satellite" else "no",
    }


_OF_TRAFFIC = frozenset({"bus", "number_plate", "direction_sign", "road_shield", "bus_stop"})
_OF_LANGUAGE = frozenset({"business", "chain", "language", "street_name", "town_name", "bus_stop", "foreign_kitchen"})
