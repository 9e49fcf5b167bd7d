"""Appearance of a scene: houses and roads by country, plants by climate, terrain by map, light by hour, plates.

Written down for made-up scenes alone, and not taken from the tables by which clues are read. The part of a plate that
names a district is one of the country's, not the town's: cars travel.
"""

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.facts import country_facts
from geosleuth.geo import LatLon, destinations, sun_positions
from geosleuth.lab.scenes.scene import Ground, Layout, Line, Plant, Roof, SceneLook, Sky, Spot, Terrain, Wall
from geosleuth.support.decode import decode

Poles = Literal["wood", "concrete", "metal", "none"]
Weather = Literal["clear", "cloudy", "overcast", "rain", "snow", "fog"]
Season = Literal["spring", "summer", "autumn", "winter", "wet", "dry"]
_FIRST_DAY = datetime(2012, 1, 1, tzinfo=UTC)
_DAYS = 12 * 365
_TRIES = 12
# Minimum elevation of the sun: below it streets lie in the shade. Pictures are taken by day.
_MIN_ELEVATION_DEG = 6.0
_TROPICS_DEG, _COLD_DEG = 23.5, 46.0
_CHOICE = re.compile(r"\{([^}]*)\}")
# Climates whose plants are used for rarer climates of the same group.
_SUBSTITUTE_CLIMATES = {"D": "Dfc", "E": "ET", "B": "BSk"}
_BLUE = "#1f3f8f"
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
Road = Literal["asphalt", "cobbles", "earth", "concrete"]
_COAST_KM = 5.0


@dataclass(frozen=True, slots=True)
class Style:
    """A way to build, shared by neighbouring countries; the first of each list is the commonest."""

    words: str
    countries: str
    walls: tuple[Wall, ...]
    wall_colours: tuple[str, ...]
    roofs: tuple[Roof, ...]
    roof_colours: tuple[str, ...]
    storeys: tuple[int, int]
    poles: Poles = "none"
    wires: bool = False


@dataclass(frozen=True, slots=True)
class _Plates:
    """Plates by country: in ``forms`` @ is a letter, # a digit, {x|y} one of several.

    ``colours`` are ground and ink.
    """

    forms: dict[str, str]
    letters: dict[str, str]
    colours: dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Looks:
    """Contents of looks.toml; ``countries`` are lists of codes by a common trait."""

    countries: dict[str, str]
    layouts: dict[Layout, float]
    weather: dict[str, dict[Weather, float]]
    plants: dict[str, tuple[Plant, ...]]
    plates: _Plates
    styles: tuple[Style, ...]


_LOOKS = decode(tomllib.loads((files(__package__) / "looks.toml").read_text(encoding="utf-8")), _Looks)
PLATE_FORMS: Mapping[str, str] = _LOOKS.plates.forms


def get_style(country: str) -> Style:
    """Return the way to build in a country; Central Europe's where it is not known."""
    return next((style for style in _LOOKS.styles if country in style.countries.split()), _LOOKS.styles[0])


def _is_listed(what: str, country: str) -> bool:
    return country in _LOOKS.countries[what].split()


def centre_line(country: str) -> tuple[Line, bool]:
    """Return the colour of the line down the middle of a larger road, and whether it is a pair."""
    yellow = _is_listed("yellow_centre_line", country)
    return ("yellow" if yellow else "white"), _is_listed("double_centre_line", country)


def edge_line(country: str) -> Line:
    """Return the colour of the line along the edge of a larger road."""
    if _is_listed("yellow_edge_line", country):
        return "yellow"
    return "none" if _is_listed("no_edge_line", country) else "white"


def draw_sky(point: LatLon, climate: str, chance: random.Random) -> Sky:
    """Return a moment by day, with what the sky is like then."""
    moments = [_moment(point, chance) for _ in range(_TRIES)]
    seen = sun_positions(moments, point.lat, point.lon)
    elevations = np.round(seen.apparent_elevation_deg, 6)
    high = np.flatnonzero(elevations >= _MIN_ELEVATION_DEG)
    item = int(high[0]) if high.size else int(elevations.argmax())
    at = moments[item]
    season = compute_season(point.lat, climate, at)
    mix = _LOOKS.weather[_choose_plant_mix(point.lat, climate, season)]
    (weather,) = chance.choices(list(mix), list(mix.values()))
    azimuth = round(round(float(seen.azimuth_deg[item]), 6), 2) % 360
    return Sky(at, azimuth, round(float(elevations[item]), 2), weather, season)


def compute_season(lat: float, climate: str, at: datetime) -> Season:
    """Return the season there: wet and dry ones in the tropics, the four elsewhere, by hemisphere."""
    month = at.month if lat >= 0 else (at.month + 5) % 12 + 1
    is_tropical = abs(lat) < _TROPICS_DEG
    if climate[:1] == "B" and is_tropical:
        return "dry"
    if climate[:1] == "A" or (climate[:1] == "C" and is_tropical):
        if climate[1:2] == "f":
            return "wet"
        is_summer = 5 <= month <= 10
        return "wet" if is_summer == (climate[1:2] != "s") else "dry"
    quarters: tuple[Season, ...] = ("winter", "spring", "summer", "autumn")
    return quarters[month % 12 // 3]


def has_snow(sky: Sky, climate: str) -> bool:
    """Return whether snow lies on the ground."""
    return sky.weather == "snow" or (sky.season == "winter" and climate[:2] in ("Df", "Dw", "Ds", "ET", "EF"))


def _moment(point: LatLon, chance: random.Random) -> datetime:
    """Return a random moment between early morning and evening by local solar time, to the minute."""
    day, minute = chance.randrange(_DAYS), chance.randrange(6 * 60, 19 * 60)
    return _FIRST_DAY + timedelta(days=day, minutes=minute - round(point.lon * 4))


def _choose_plant_mix(lat: float, climate: str, season: Season) -> str:
    group = climate[:1]
    if group == "B":
        return "dry"
    if season in ("wet", "dry"):
        return "wet" if season == "wet" else "fair"
    if climate[1:2] == "s":
        return "mixed" if season == "winter" else "fair"
    if climate[1:2] == "w" and season == "winter":
        return "fair" if group == "C" else "snowy"
    if season == "winter":
        return "snowy" if group in ("D", "E") else "cold" if abs(lat) >= _COLD_DEG else "grey"
    return "fair" if season == "summer" else "mixed"


class PlateLook(NamedTuple):
    """Background, ink, and the band at the left, None if there is none."""

    ground: str
    ink: str
    band: str | None


def plate_look(country: str) -> PlateLook:
    """Return the colours of a country's ordinary plates, black on white where it is not known."""
    ground, ink = _LOOKS.plates.colours.get(country, ("#ffffff", "#111111"))
    return PlateLook(ground, ink, _BLUE if _is_listed("blue_band_on_plates", country) else None)


def number_plate(country: str, chance: random.Random) -> str | None:
    """Return a plate of the country's form, None if the form is not known here."""
    form = PLATE_FORMS.get(country)
    if form is None:
        return None
    letters = _LOOKS.plates.letters.get(country, _LETTERS)
    chosen = _CHOICE.sub(lambda match: chance.choice(match[1].split("|")), form)
    return "".join(
        chance.choice(letters) if item == "@" else chance.choice("123456789") if item == "#" else item
        for item in chosen
    )


def draw_layout(chance: random.Random) -> Layout:
    """Draw a kind of street at random, mostly high streets."""
    (layout,) = chance.choices(list(_LOOKS.layouts), list(_LOOKS.layouts.values()))
    return layout


def choose_look(spot: Spot, sky: Sky, layout: Layout, chance: random.Random) -> SceneLook:
    """Return how a street of this kind looks there and then."""
    style = get_style(spot.country)
    centre, double = centre_line(spot.country)
    edge = edge_line(spot.country)
    walls = tuple(chance.choice(style.walls) for _ in range(3))
    low, high = style.storeys
    if layout in ("suburb", "country_road", "industrial"):
        low, high = max(1, low - 1), max(1, min(2, high - 1))
    elif spot.population > 500_000:
        high += 1
    plate = plate_look(spot.country)
    roads: tuple[Road, ...] = ("asphalt", "asphalt", "asphalt", _other_road(spot, layout))
    road = chance.choice(roads)
    is_plain_road = layout in ("market", "square") or road in ("cobbles", "earth")
    return SceneLook(
        layout=layout,
        drives_on=country_facts(spot.country).driving_side,
        centre_line="none" if is_plain_road else centre,
        centre_double=double and not is_plain_road,
        edge_line=edge if layout in ("country_road", "industrial", "high_street") and not is_plain_road else "none",
        walls=walls,
        wall_colours=tuple(chance.sample(style.wall_colours, min(4, len(style.wall_colours)))),
        roof=chance.choice(style.roofs),
        roof_colour=chance.choice(style.roof_colours),
        storeys=(low, high),
        poles=style.poles,
        wires=style.wires,
        plant=_plant(spot, chance),
        ground=_ground(spot, sky, layout, chance),
        terrain=choose_terrain(spot.point, spot.country, chance),
        number_plate_ground=plate.ground,
        number_plate_ink=plate.ink,
        number_plate_band=plate.band,
        road=road,
    )


def choose_terrain(point: LatLon, country: str, chance: random.Random) -> Terrain:
    """Return the terrain: coast near the sea; hills and mountains where the country has many."""
    if _is_coast(round(point.lat, 2), round(point.lon, 2)) and chance.random() < 0.6:
        return "coast"
    draw = chance.random()
    if _is_listed("mountainous", country):
        return "mountains" if draw < 0.6 else "hills"
    if _is_listed("hilly", country):
        return "mountains" if draw < 0.12 else "hills" if draw < 0.6 else "flat"
    return "hills" if draw < 0.2 else "flat"


@lru_cache(maxsize=8192)
def _is_coast(lat: float, lon: float) -> bool:
    lats, lons = destinations(lat, lon, np.arange(0.0, 360.0, 45.0), _COAST_KM)
    # Rounded, so that the last bit of a sine on another machine decides nothing.
    return not bool(Borders.load().is_land(np.round(lats, 5), np.round(lons, 5)).all())


def _plant(spot: Spot, chance: random.Random) -> Plant:
    climate = spot.climate
    known = _LOOKS.plants.get(climate) or _LOOKS.plants.get(_SUBSTITUTE_CLIMATES.get(climate[:1], "Cfb"), ())
    draw = chance.random()
    if _is_listed("east_asia", spot.country) and climate[:1] in "CA" and draw < 0.3:
        return "bamboo"
    if _is_listed("cactus", spot.country) and climate[:1] == "B" and draw < 0.4:
        return "cactus"
    return chance.choice(known)


def _ground(spot: Spot, sky: Sky, layout: Layout, chance: random.Random) -> Ground:
    if has_snow(sky, spot.climate):
        return "snow"
    if layout in ("high_street", "market", "square"):
        return "paved"
    if spot.climate[:2] == "BW":
        return "sand"
    if spot.climate[:1] == "B" or (spot.climate[1:2] == "s" and sky.season == "summer"):
        return "dry_grass"
    if _is_listed("red_earth", spot.country) and spot.climate[:1] in "AB" and chance.random() < 0.6:
        return "red_earth"
    return "dry_grass" if sky.season == "dry" else "grass"


def _other_road(spot: Spot, layout: Layout) -> Road:
    """Return an occasional road surface other than asphalt."""
    if layout in ("square", "high_street") and _is_listed("cobbled", spot.country):
        return "cobbles"
    if layout in ("country_road", "market") and get_style(spot.country).storeys[0] == 1:
        return "earth"
    return "concrete" if get_style(spot.country).walls[-1] == "concrete" else "asphalt"
