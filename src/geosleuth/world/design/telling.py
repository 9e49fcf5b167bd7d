"""The answer that a scene's legible clues allow: three levels, each with clues, reasoning and what stays uncertain."""

import random
from collections.abc import Sequence

from geosleuth.answer import Address, Level
from geosleuth.score import Truth
from geosleuth.world.model import Clue, ClueLevel, Scene

from .writing import street_line

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
