"""How a scene looks, in the words that an Observer would use for it; nothing here says what it means."""

import random
from collections.abc import Collection, Sequence

from geosleuth.world import Look, Mark, Scene, Sky, Sort

BOARDS = {
    "shop_front": "shop front", "street_plate": "street plate", "house_number": "house number",
    "bus_stop": "bus stop", "notice": "notice", "poster": "poster", "billboard": "billboard", "bus": "bus",
    "number_plate": "number plate", "town_sign": "town sign", "direction_sign": "direction sign",
    "road_shield": "road shield", "banner": "banner",
}  # fmt: skip

_TERRAIN = {
    "flat": ("flat ground", "level land"),
    "hills": ("low hills behind", "hilly ground"),
    "mountains": ("mountains in the distance", "a mountain range behind"),
    "coast": ("open water near by", "a shore in the background"),
}
_PLANTS = {
    "broadleaf": ("broadleaf trees", "leafy trees"), "conifer": ("conifers", "dark needle trees"),
    "palm": ("palms", "palm trees"), "cypress": ("slender cypresses", "cypresses"),
    "acacia": ("flat-topped acacias", "thorn trees"), "cactus": ("cacti", "columns of cactus"),
    "bamboo": ("bamboo", "stands of bamboo"), "birch": ("birches", "white-barked birches"),
    "shrub": ("low shrubs", "scrub"), "none": ("hardly any plants", "no trees"),
}  # fmt: skip
_GROUND = {
    "grass": "green verges", "dry_grass": "dry grass", "sand": "sand", "red_earth": "reddish earth",
    "snow": "snow on the ground", "paved": "paved ground",
}  # fmt: skip
_WEATHER = {
    "clear": ("a clear sky", "bright sunshine"), "cloudy": ("broken clouds", "a partly cloudy sky"),
    "overcast": ("an overcast sky", "grey, even light"), "rain": ("rain", "wet weather"),
    "snow": ("falling snow", "snowfall"), "fog": ("fog", "misty air"),
}  # fmt: skip
_LAYOUTS = {
    "high_street": ("a shopping street", "a street lined with shops"),
    "suburb": ("a quiet street of houses", "a residential street"),
    "market": ("a market street", "stalls along the street"), "square": ("a square", "an open square"),
    "country_road": ("a country road", "a road through open land"),
    "industrial": ("a street of halls and yards", "an industrial street"),
}  # fmt: skip
_HIGH_DEG, _LOW_DEG = 50.0, 20.0


def seen_sorts(scene: Scene, marks: Sequence[Mark]) -> frozenset[Sort]:
    """What tells without a word and is in the picture: a clue without a mark was not drawn."""
    drawn = {mark.clue for mark in marks}
    return frozenset(clue.sort for clue in scene.clues if not clue.lines and clue.id in drawn)


def plants(look: Look) -> str:
    """What grows there, by its form alone."""
    return _PLANTS[look.plant][0]


def surroundings(scene: Scene, seen: Collection[Sort], chance: random.Random) -> list[str]:
    """The coarse lines of a description of the whole picture; of unwritten clues those that are ``seen``."""
    look = scene.look
    around = (
        _one(_LAYOUTS[look.layout], chance),
        *([_one(_TERRAIN[look.terrain], chance)] if "terrain" in seen else []),
        *([_one(_PLANTS[look.plant], chance)] if "vegetation" in seen else []),
        _GROUND[look.ground],
        *_light(scene.sky, seen, chance),
    )
    buildings = [f"Buildings: {_buildings(look)}."] if "architecture" in seen else []
    return [f"Surroundings: {', '.join(around)}.", *buildings, f"Road: {_road(look, seen)}."]


def _light(sky: Sky, seen: Collection[Sort], chance: random.Random) -> list[str]:
    light = [_one(_WEATHER[sky.weather], chance)]
    if sky.weather == "clear" and "sun" in seen:
        high = sky.sun_elevation_deg
        light.append("short shadows" if high > _HIGH_DEG else "long shadows" if high < _LOW_DEG else "clear shadows")
    return light


def _buildings(look: Look) -> str:
    low, high = look.storeys
    floors = f"{low} storeys" if low == high else f"{low} to {high} storeys"
    walls = " and ".join(dict.fromkeys(look.walls)) or "plain"
    roof = {"gable": "gabled roofs", "hip": "hipped roofs", "flat": "flat roofs", "terrace": "roof terraces"}
    return f"{walls} walls, {roof.get(look.roof, 'curved roofs')}, {floors.replace('1 storeys', '1 storey')}"


def _road(look: Look, seen: Collection[Sort]) -> str:
    parts: list[str] = [look.road]
    if "driving_side" in seen:
        parts.append(f"traffic keeps {look.drives_on}")
    if "road_marking" in seen and look.centre_line != "none":
        parts.append(f"{'double' if look.centre_double else 'single'} {look.centre_line} centre line")
    if "road_marking" in seen and look.edge_line != "none":
        parts.append(f"{look.edge_line} edge lines")
    if "pole" in seen and look.poles != "none":
        parts.append(f"{look.poles} poles{' with wires' if look.wires else ''}")
    return ", ".join(parts)


def _one(words: Sequence[str], chance: random.Random) -> str:
    return chance.choice(list(words))
