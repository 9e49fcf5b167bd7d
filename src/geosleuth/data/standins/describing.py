"""How a scene looks, in the words that an Observer would use for it; nothing here says what it means."""

import random
from collections.abc import Sequence

from geosleuth.world import Look, Scene, Sky

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


def surroundings(scene: Scene, chance: random.Random) -> list[str]:
    """The coarse lines of a description of the whole picture."""
    look = scene.look
    around = (
        _one(_LAYOUTS[look.layout], chance),
        _one(_TERRAIN[look.terrain], chance),
        _one(_PLANTS[look.plant], chance),
        _GROUND[look.ground],
        *_light(scene.sky, chance),
    )
    return [f"Surroundings: {', '.join(around)}.", f"Buildings: {_buildings(look)}.", f"Road: {_road(look)}."]


def _light(sky: Sky, chance: random.Random) -> list[str]:
    light = [_one(_WEATHER[sky.weather], chance)]
    if sky.weather == "clear":
        high = sky.sun_elevation_deg
        light.append("short shadows" if high > _HIGH_DEG else "long shadows" if high < _LOW_DEG else "clear shadows")
    return light


def _buildings(look: Look) -> str:
    low, high = look.storeys
    floors = f"{low} storeys" if low == high else f"{low} to {high} storeys"
    walls = " and ".join(dict.fromkeys(look.walls)) or "plain"
    roof = {"gable": "gabled roofs", "hip": "hipped roofs", "flat": "flat roofs", "terrace": "roof terraces"}
    return f"{walls} walls, {roof.get(look.roof, 'curved roofs')}, {floors.replace('1 storeys', '1 storey')}"


def _road(look: Look) -> str:
    parts = [look.road, f"traffic keeps {look.drives_on}"]
    if look.centre_line != "none":
        parts.append(f"{'double' if look.centre_double else 'single'} {look.centre_line} centre line")
    if look.edge_line != "none":
        parts.append(f"{look.edge_line} edge lines")
    if look.poles != "none":
        parts.append(f"{look.poles} poles{' with wires' if look.wires else ''}")
    return ", ".join(parts)


def _one(words: Sequence[str], chance: random.Random) -> str:
    return chance.choice(list(words))
