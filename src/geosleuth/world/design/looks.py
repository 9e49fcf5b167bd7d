"""How the street looks: houses and road by country, plants and ground by climate, hills and sea by the map."""

import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import numpy as np

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.facts import country_facts
from geosleuth.geo import LatLon, destinations
from geosleuth.world.model import Ground, Layout, Look, Plant, Sky, Spot, Terrain

from .plates import plate_look
from .skies import is_snowed_in
from .styles import centre_line, codes, edge_line, style_of

Road = Literal["asphalt", "cobbles", "earth", "concrete"]

_COAST_KM = 5.0
_MOUNTAINOUS = codes("CH AT NP GE AM PE CL BO NO IR EC LI AD")
_HILLY = codes("IT GR HR SI SK RO BG RS TR JP KR TW CO MX NZ ET KE MA ZA LK PT ES IL MM HK")
_EAST_ASIA = codes("JP CN TW KR VN HK")
_RED_EARTH = codes("BR KE TZ NG ET IN AU MM LK TH GH UG")
_CACTUS = codes("MX US PE AR CL")

_PLANTS: Mapping[str, tuple[Plant, ...]] = {
    "Af": ("palm", "palm", "broadleaf"), "Am": ("palm", "broadleaf"), "Aw": ("palm", "broadleaf", "acacia"),
    "As": ("palm", "acacia"), "BWh": ("palm", "shrub", "none"), "BWk": ("shrub", "none"), "BSh": ("acacia", "shrub"),
    "BSk": ("shrub", "broadleaf"), "Csa": ("cypress", "palm", "broadleaf"), "Csb": ("cypress", "broadleaf"),
    "Cfa": ("broadleaf", "broadleaf", "shrub"), "Cfb": ("broadleaf", "broadleaf", "conifer"), "Cfc": ("birch", "shrub"),
    "Cwa": ("broadleaf", "palm"), "Cwb": ("broadleaf", "conifer"), "Dfa": ("broadleaf", "conifer"),
    "Dfb": ("broadleaf", "birch", "conifer"), "Dfc": ("conifer", "birch"), "Dwa": ("broadleaf", "conifer"),
    "Dwb": ("birch", "conifer"), "ET": ("shrub", "none"),
}  # fmt: skip

_LAYOUTS: Mapping[Layout, float] = {
    "high_street": 0.42, "suburb": 0.16, "market": 0.14, "square": 0.12, "country_road": 0.08, "industrial": 0.08,
}  # fmt: skip


def draw_layout(chance: random.Random) -> Layout:
    """A kind of street, high streets most of all."""
    (layout,) = chance.choices(list(_LAYOUTS), list(_LAYOUTS.values()))
    return layout


def look_of(spot: Spot, sky: Sky, layout: Layout, chance: random.Random) -> Look:
    """How a street of this kind looks there and then."""
    style = style_of(spot.country)
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
    return Look(
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
        terrain=terrain_at(spot.point, spot.country, chance),
        number_plate_ground=plate.ground,
        number_plate_ink=plate.ink,
        number_plate_band=plate.band,
        road=road,
    )


def terrain_at(point: LatLon, country: str, chance: random.Random) -> Terrain:
    """Coast where the map has sea within a few kilometres; hills and mountains where the country has many."""
    if _is_coast(round(point.lat, 2), round(point.lon, 2)) and chance.random() < 0.6:
        return "coast"
    wish = chance.random()
    if country in _MOUNTAINOUS:
        return "mountains" if wish < 0.6 else "hills"
    if country in _HILLY:
        return "mountains" if wish < 0.12 else "hills" if wish < 0.6 else "flat"
    return "hills" if wish < 0.2 else "flat"


@lru_cache(maxsize=8192)
def _is_coast(lat: float, lon: float) -> bool:
    lats, lons = destinations(lat, lon, np.arange(0.0, 360.0, 45.0), _COAST_KM)
    # Rounded, so that the last bit of a sine on another machine decides nothing.
    return not bool(Borders.load().is_land(np.round(lats, 5), np.round(lons, 5)).all())


def _plant(spot: Spot, chance: random.Random) -> Plant:
    climate = spot.climate
    known = _PLANTS.get(climate) or _PLANTS.get({"D": "Dfc", "E": "ET", "B": "BSk"}.get(climate[:1], "Cfb"), ())
    wish = chance.random()
    if spot.country in _EAST_ASIA and climate[:1] in "CA" and wish < 0.3:
        return "bamboo"
    if spot.country in _CACTUS and climate[:1] == "B" and wish < 0.4:
        return "cactus"
    return chance.choice(known)


def _ground(spot: Spot, sky: Sky, layout: Layout, chance: random.Random) -> Ground:
    if is_snowed_in(sky, spot.climate):
        return "snow"
    if layout in ("high_street", "market", "square"):
        return "paved"
    if spot.climate[:2] == "BW":
        return "sand"
    if spot.climate[:1] == "B" or (spot.climate[1:2] == "s" and sky.season == "summer"):
        return "dry_grass"
    if spot.country in _RED_EARTH and spot.climate[:1] in "AB" and chance.random() < 0.6:
        return "red_earth"
    return "dry_grass" if sky.season == "dry" else "grass"


def _other_road(spot: Spot, layout: Layout) -> Road:
    """What a road is made of now and then instead of asphalt."""
    if layout in ("square", "high_street") and spot.country in _COBBLED:
        return "cobbles"
    if layout in ("country_road", "market") and style_of(spot.country).storeys[0] == 1:
        return "earth"
    return "concrete" if style_of(spot.country).walls[-1] == "concrete" else "asphalt"


_COBBLED = codes("DE AT CH FR BE NL IT ES PT PL CZ SK HU RO DK SE NO EE LV LT GB IE HR SI BR AR MX PE")
