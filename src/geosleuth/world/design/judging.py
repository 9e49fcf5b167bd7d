"""How easily a scene can be located, and what it shows: on the scales of `geosleuth.bench.makers`, from its clues."""

from geosleuth.bench.makers.locatability import MOST
from geosleuth.world.model import Clue, Scene


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
