"""How a scene looks: houses and roads by country, plants by climate, terrain by the map, light by the hour, plates.

Written down for made-up scenes alone, and not taken from the tables by which clues are read. The part of a plate that
names a district is one of the country's, not the town's: cars travel.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.facts import country_facts
from geosleuth.geo import LatLon, destinations, sun_positions
from geosleuth.lab.scenes.scene import Ground, Layout, Line, Look, Plant, Roof, Sky, Spot, Terrain, Wall

Poles = Literal["wood", "concrete", "metal", "none"]
Weather = Literal["clear", "cloudy", "overcast", "rain", "snow", "fog"]
Season = Literal["spring", "summer", "autumn", "winter", "wet", "dry"]
_FIRST_DAY = datetime(2012, 1, 1, tzinfo=UTC)
_DAYS = 12 * 365
_TRIES = 12
_LEAST_ELEVATION_DEG = 6.0
"""Lower, and streets lie in the shade; pictures are taken by day."""
_TROPICS_DEG, _COLD_DEG = 23.5, 46.0
_MIXES: Mapping[str, Mapping[Weather, float]] = {
    "dry": {"clear": 0.80, "cloudy": 0.16, "overcast": 0.04},
    "fair": {"clear": 0.52, "cloudy": 0.30, "overcast": 0.13, "rain": 0.05},
    "mixed": {"clear": 0.30, "cloudy": 0.34, "overcast": 0.22, "rain": 0.12, "fog": 0.02},
    "grey": {"clear": 0.22, "cloudy": 0.26, "overcast": 0.32, "rain": 0.15, "fog": 0.05},
    "cold": {"clear": 0.22, "cloudy": 0.25, "overcast": 0.30, "rain": 0.10, "snow": 0.08, "fog": 0.05},
    "wet": {"clear": 0.20, "cloudy": 0.36, "overcast": 0.20, "rain": 0.24},
    "snowy": {"clear": 0.34, "cloudy": 0.22, "overcast": 0.24, "snow": 0.16, "fog": 0.04},
}
"""How often each weather occurs, in round numbers set by hand: for variety, not as statistics."""
_CHOICE = re.compile(r"\{([^}]*)\}")
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_SHARED_WITH_CYRILLIC = "ABEKMHOPCTX"
_ONLY: dict[str, str] = {
    "FR": "ABCDEFGHJKLMNPQRSTVWXYZ", "IT": "ABCDEFGHJKLMNPRSTVWXYZ", "ES": "BCDFGHJKLMNPRSTVWXYZ",
    "RU": _SHARED_WITH_CYRILLIC, "UA": _SHARED_WITH_CYRILLIC, "BG": _SHARED_WITH_CYRILLIC,
    "GR": "ABEHIKMNOPTXYZ", "CL": "BCDFGHJKLPRSTVWXYZ", "BR": "ABCDEFGHJ", "NL": "BDFGHJKLNPRSTVXZ",
}  # fmt: skip
_FORMS = {
    "AE": "{A|B|C|D|E} #####", "AM": "## @@ ###", "AR": "@@ ### @@", "AT": "{W|G|L|S|K|IB|B|ST}-#### @",
    "AU": "{@@@ ##@|@@@ ###|### @@@}", "BE": "{1|2}-@@@-###", "BG": "{CA|PB|B|CB|A|P|E} #### @@",
    "BR": "@@@#@##", "CA": "{@@@@ ###|@@@ ###|### @@@}", "CH": "{ZH|BE|LU|GR|SG|AG|VD|GE} ### ###", "CL": "@@@@-##",
    "CN": "{京|沪|粤|苏|浙|川|鲁|鄂|湘|陕}@·@####", "CO": "@@@ ###", "CZ": "{1|2|3|4}{A|B|C|E|H|L|M|P|S|T|U|Z}# ####",
    "DE": "{B|HH|M|K|F|S|L|DD|N|H|HB|KA|FR|MZ|KS}-@@ ###", "DK": "@@ ## ###", "EE": "### @@@", "ES": "#### @@@",
    "FI": "@@@-###", "FR": "@@-###-@@", "GB": "@{A|B|C|D|E|G|K|L|M|N|V|Y}{12|15|18|20|21|22|23|67|71} @@@",
    "GE": "@@-###-@@", "GR": "@@@-####", "HK": "@@ ####", "HR": "{ZG|ST|RI|OS|ZD|PU|VŽ} ###-@@",
    "HU": "{@@@-###|@@ @@-###}", "ID": "{B|D|L|H|N|AB|BK|DK} #### @@",
    "IE": "{131|142|161|172|181|191|202|212|221|231}-{D|C|G|L|KY|WX|MO|SO}-#####", "IL": "{##-###-##|###-##-###}",
    "IN": "{DL|MH|KA|TN|KL|GJ|UP|RJ|WB|PB} {01|02|05|07|09|12} @@ ####", "IS": "@@ @##", "IT": "@@ ### @@",
    "JP": "{品川|横浜|名古屋|大阪|神戸|札幌|福岡} {300|330|500|530} {さ|す|た|な|は|み} ##-##",
    "KE": "K{A|B|C|D}@ ###@",
    "KR": "{###|##}{가|나|다|라|마|거|너|더|버|서|허} ####", "KZ": "### @@@ {01|02|05|08|10|13|14}",
    "LK": "{WP|CP|SP|NW} C@@-####", "LT": "@@@ ###", "LV": "@@-####", "MX": "@@@-###-@", "MY": "{W|B|J|P|A|N}@@ ####",
    "NG": "{ABC|KJA|LSR|ENU|KAD|PHC}-### @@", "NL": "{@@-###-@|@-###-@@|##-@@@-#}", "NO": "@@ #####", "NZ": "@@@###",
    "PE": "{@#@-###|@@@-###}", "PH": "@@@ ####", "PK": "{LEA|ABC|BKA} ###", "PL": "{WA|KR|GD|PO|DW|LU|SK|WX} #####",
    "PT": "@@ ## @@", "RO": "{B ### @@@|CJ ## @@@|IS ## @@@|TM ## @@@|BV ## @@@}",
    "RS": "{BG|NS|NI|KG|SU} ####-@@", "RU": "@###@@ {77|78|50|23|66|54|74|63}", "SE": "{@@@ ###|@@@ ##@}",
    "SI": "{LJ|MB|KR|CE|KP} @@-###", "SK": "{BA|KE|ZA|NR|PO}-###@@", "TH": "{1กข|2ขค|กท|ขจ} ####",
    "TR": "{06|16|34|35|01|42|55|61} @@@ ###", "TW": "@@@-####", "TZ": "T ### {A|B|C|D}@@",
    "UA": "{AA|KA|BC|AX|BH|AE} #### @@", "US": "{@@@ ####|@@@-####|### @@@|#@@@###}",
    "VN": "{29|30|43|51|59|60|65|75|79|92}@-###.##", "ZA": "{CA ###-###|@@ ## @@ GP|ND ###-###|@@@ ### L}",
}  # fmt: skip
"""@ is a letter, # a figure, {x|y} one of several; all else stands as it is."""
_YELLOW = "#f5c518"
_BLUE = "#1f3f8f"
_COLOURS = {
    "BE": ("#ffffff", "#8b1a2b"), "NL": (_YELLOW, "#111111"), "CO": (_YELLOW, "#111111"), "IL": (_YELLOW, "#111111"),
    "GB": (_YELLOW, "#111111"), "HK": (_YELLOW, "#111111"), "LK": (_YELLOW, "#111111"), "CN": ("#1c4fb5", "#ffffff"),
    "MY": ("#111111", "#ffffff"), "ID": ("#111111", "#ffffff"), "JP": ("#ffffff", "#0f5c3a"),
    "KE": (_YELLOW, "#111111"), "TZ": (_YELLOW, "#111111"),
}  # fmt: skip
Road = Literal["asphalt", "cobbles", "earth", "concrete"]
_COAST_KM = 5.0
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


def codes(text: str) -> frozenset[str]:
    """Return ISO codes from a text."""
    return frozenset(text.split())


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


STYLES = (
    Style(
        "plastered houses under steep tiled roofs, without overhead wires", "DE AT CH LU LI",
        ("plaster", "plaster", "stone"),
        ("#efe6d0", "#f3dfb8", "#e8d9c9", "#d9dccb", "#f0ece4", "#dfc6a5"), ("gable", "hip"),
        ("#8a3f2c", "#71392b", "#5b4238"), (3, 5),
    ),
    Style(
        "timber and plaster in red, ochre and white, with metal or tiled gables", "SE NO FI DK IS EE LV LT",
        ("timber", "plaster", "brick"), ("#a23b2a", "#e6c56b", "#eef0ec", "#c9d3d6", "#8f9f7d", "#d8b48a"),
        ("gable", "hip"), ("#3e4347", "#5a3a32", "#77797a"), (2, 4),
    ),
    Style(
        "brick terraces with slate gables and chimneys", "GB IE", ("brick", "brick", "stone"),
        ("#8e4b38", "#a35f45", "#b79a7c", "#7a4436", "#c7b9a1"), ("gable",), ("#4a4d55", "#5b5653"), (2, 3), "wood",
        wires=True,
    ),
    Style(
        "narrow brick fronts with stepped or steep gables", "NL BE", ("brick", "brick", "plaster"),
        ("#7d3f30", "#96523f", "#b0714f", "#e8e2d5", "#5f3a32"), ("gable",), ("#a34a2f", "#4b4a4d"), (2, 4),
    ),
    Style(
        "pale stone and plaster with grey mansard roofs and shutters", "FR MC", ("stone", "plaster"),
        ("#e9dfc8", "#ded0b4", "#f1ead9", "#d8cbb6"), ("hip", "gable"), ("#5b6168", "#9a5a40"), (3, 5),
    ),
    Style(
        "ochre and white plaster under low roofs of round tiles", "IT ES PT GR HR SI MT CY AD",
        ("plaster", "plaster", "stone"),
        ("#e7b778", "#d99a63", "#f2e3c6", "#f7f3ea", "#c97f5a", "#eed9a9"), ("hip", "terrace", "flat"),
        ("#b5643c", "#c77a4d", "#a8552f"), (2, 5),
    ),
    Style(
        "painted plaster and slabs of concrete", "PL CZ SK HU RO BG RS UA RU KZ BY MD",
        ("plaster", "concrete", "brick"), ("#e4d3a8", "#c8cfb6", "#d6c3b5", "#bfc4c6", "#e8e0d0", "#c9a27c"),
        ("gable", "hip", "flat"), ("#7e3b2c", "#5a4b45", "#6f7375"), (2, 5), "concrete", wires=True,
    ),
    Style(
        "low wooden and brick fronts with wires on wooden poles", "US CA", ("timber", "brick", "metal"),
        ("#e9e7e0", "#b9c3c9", "#9a5240", "#d7cba9", "#7f8d7a", "#c2a58b"), ("flat", "gable"),
        ("#4d4a48", "#6b5a4e", "#777b7d"), (1, 3), "wood", wires=True,
    ),
    Style(
        "low, brightly painted fronts with flat roofs and wires on concrete poles",
        "BR AR CL PE CO MX UY EC BO PY GT CR PA DO CU", ("plaster", "concrete", "plaster"),
        ("#e8a33d", "#3f8fa6", "#c9473d", "#f1ead8", "#6aa35a", "#d97fa0", "#f3d36b"), ("flat", "terrace"),
        ("#a2593c", "#8d8d8a"), (1, 3), "concrete", wires=True,
    ),
    Style(
        "narrow concrete and tiled houses under many wires on concrete poles", "JP KR TW",
        ("tiles", "concrete", "tiles"),
        ("#d9d6cc", "#c8c2b6", "#b9a993", "#e6e3dc", "#a7adb0"), ("flat", "gable"), ("#4a5560", "#3c4750", "#7a7f80"),
        (2, 5), "concrete", wires=True,
    ),
    Style(
        "tall tiled and concrete blocks with balconies", "CN HK SG MO", ("tiles", "concrete", "concrete"),
        ("#d8cfc0", "#c5b9a8", "#e0dcd3", "#b2a79b"), ("flat",), ("#7f8285", "#8f8a83"), (4, 7),
    ),
    Style(
        "narrow shop houses of painted concrete under bundles of wires", "TH VN MY ID PH MM KH LA LK",
        ("concrete", "plaster", "tiles"),
        ("#e9d9b0", "#9cc3b0", "#e3b0a0", "#f2efe6", "#b4cbe0", "#d7c26a"), ("terrace", "flat", "hip"),
        ("#9b4a34", "#7f8486", "#3f6b5a"), (2, 4), "concrete", wires=True,
    ),
    Style(
        "flat-roofed concrete and painted plaster with hanging wires", "IN PK BD NP", ("plaster", "concrete", "brick"),
        ("#e5b46c", "#7fb3b0", "#d98a7a", "#efe7d2", "#a9b979", "#c9a3c0"), ("flat", "terrace"), ("#9a948a", "#8a7a6b"),
        (2, 4), "concrete", wires=True,
    ),
    Style(
        "flat-roofed houses in the colours of sand", "EG SA AE IR MA DZ TN JO IQ OM QA KW",
        ("plaster", "adobe", "concrete"), ("#d9c19a", "#e6d6b8", "#c9a77c", "#efe6d2", "#b98f68"), ("flat", "terrace"),
        ("#b9a382", "#a8937a"), (2, 4), "metal", wires=True,
    ),
    Style(
        "plaster and pale stone blocks with flat roofs and balconies", "IL TR LB SY", ("stone", "plaster", "concrete"),
        ("#e2d7bd", "#d3c3a1", "#ece6d8", "#cdb491"), ("flat", "hip"), ("#a9583a", "#9a9489"), (3, 5), "concrete",
    ),
    Style(
        "tuff and plaster with balconies under metal roofs", "GE AM AZ", ("stone", "plaster", "brick"),
        ("#b98873", "#c9a48c", "#d8cbb5", "#9d6f60"), ("hip", "flat"), ("#7b4435", "#6d7073"), (2, 5), "metal",
        wires=True,
    ),
    Style(
        "low painted shops under sheets of corrugated metal", "KE TZ NG ET GH UG RW SN CI CM",
        ("plaster", "metal", "adobe"), ("#d9b184", "#6fa3b8", "#c96a4f", "#e9e1cf", "#8fae6b", "#e3c14f"),
        ("gable", "flat"), ("#9a5f45", "#8c9092"), (1, 2), "wood", wires=True,
    ),
    Style(
        "low brick and weatherboard under corrugated iron and verandas", "AU NZ ZA", ("timber", "brick", "plaster"),
        ("#e8e2d2", "#a65f45", "#c4d0cf", "#d9c79c", "#8a9a8b"), ("gable", "hip"), ("#7d8488", "#8a4436", "#4c5a55"),
        (1, 2), "wood", wires=True,
    ),
)  # fmt: skip


def style_of(country: str) -> Style:
    """Return the way to build in a country; Central Europe's where it is not known."""
    return next((style for style in STYLES if country in style.countries.split()), STYLES[0])


_YELLOW_CENTRE = codes("US CA MX BR AR CO PE NO KR CN TW TH VN PH SA IR EC")
_DOUBLE_CENTRE = codes("US CA BR CN KR TW CO")
_YELLOW_EDGE = codes("ZA IL IE AE SA KE NA BW")
_NO_EDGE = codes("GB NL JP IN VN ID NP BD KE TZ NG ET")


def centre_line(country: str) -> tuple[Line, bool]:
    """Return the colour of the line down the middle of a larger road, and whether it is a pair."""
    return ("yellow" if country in _YELLOW_CENTRE else "white"), country in _DOUBLE_CENTRE


def edge_line(country: str) -> Line:
    """Return the colour of the line along the edge of a larger road."""
    return "yellow" if country in _YELLOW_EDGE else "none" if country in _NO_EDGE else "white"


def sky_at(point: LatLon, climate: str, chance: random.Random) -> Sky:
    """Return a moment by day, with what the sky is like then."""
    moments = [_moment(point, chance) for _ in range(_TRIES)]
    seen = sun_positions(moments, point.lat, point.lon)
    elevations = np.round(seen.apparent_elevation_deg, 6)
    high = np.flatnonzero(elevations >= _LEAST_ELEVATION_DEG)
    one = int(high[0]) if high.size else int(elevations.argmax())
    at = moments[one]
    season = season_of(point.lat, climate, at)
    mix = _MIXES[_mix_of(point.lat, climate, season)]
    (weather,) = chance.choices(list(mix), list(mix.values()))
    azimuth = round(round(float(seen.azimuth_deg[one]), 6), 2) % 360
    return Sky(at, azimuth, round(float(elevations[one]), 2), weather, season)


def season_of(lat: float, climate: str, at: datetime) -> Season:
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


def is_snowed_in(sky: Sky, climate: str) -> bool:
    """Return whether snow lies on the ground."""
    return sky.weather == "snow" or (sky.season == "winter" and climate[:2] in ("Df", "Dw", "Ds", "ET", "EF"))


def _moment(point: LatLon, chance: random.Random) -> datetime:
    """Return some day, some time between early morning and evening by the sun's own clock, to the minute."""
    day, minute = chance.randrange(_DAYS), chance.randrange(6 * 60, 19 * 60)
    return _FIRST_DAY + timedelta(days=day, minutes=minute - round(point.lon * 4))


def _mix_of(lat: float, climate: str, season: Season) -> str:
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


_EUROPEAN = codes("AT BE BG CZ DE DK EE ES FI FR GR HR HU IE IT LT LV NL PL PT RO SE SI SK NO IL TR UA RS AM GE")


class PlateLook(NamedTuple):
    """Background, ink, and the band at the left, None if there is none."""

    ground: str
    ink: str
    band: str | None


def plate_look(country: str) -> PlateLook:
    """Return the colours of a country's ordinary plates, black on white where it is not known."""
    ground, ink = _COLOURS.get(country, ("#ffffff", "#111111"))
    return PlateLook(ground, ink, _BLUE if country in _EUROPEAN else None)


def number_plate(country: str, chance: random.Random) -> str | None:
    """Return a plate of the country's form, None if the form is not known here."""
    form = _FORMS.get(country)
    if form is None:
        return None
    letters = _ONLY.get(country, _LETTERS)
    chosen = _CHOICE.sub(lambda match: chance.choice(match[1].split("|")), form)
    return "".join(
        chance.choice(letters) if one == "@" else chance.choice("123456789") if one == "#" else one for one in chosen
    )


_MOUNTAINOUS = codes("CH AT NP GE AM PE CL BO NO IR EC LI AD")
_HILLY = codes("IT GR HR SI SK RO BG RS TR JP KR TW CO MX NZ ET KE MA ZA LK PT ES IL MM HK")
_EAST_ASIA = codes("JP CN TW KR VN HK")
_RED_EARTH = codes("BR KE TZ NG ET IN AU MM LK TH GH UG")
_CACTUS = codes("MX US PE AR CL")


def draw_layout(chance: random.Random) -> Layout:
    """Draw a kind of street at random, mostly high streets."""
    (layout,) = chance.choices(list(_LAYOUTS), list(_LAYOUTS.values()))
    return layout


def look_of(spot: Spot, sky: Sky, layout: Layout, chance: random.Random) -> Look:
    """Return how a street of this kind looks there and then."""
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
    """Return the terrain: coast near the sea; hills and mountains where the country has many."""
    if _is_coast(round(point.lat, 2), round(point.lon, 2)) and chance.random() < 0.6:
        return "coast"
    draw = chance.random()
    if country in _MOUNTAINOUS:
        return "mountains" if draw < 0.6 else "hills"
    if country in _HILLY:
        return "mountains" if draw < 0.12 else "hills" if draw < 0.6 else "flat"
    return "hills" if draw < 0.2 else "flat"


@lru_cache(maxsize=8192)
def _is_coast(lat: float, lon: float) -> bool:
    lats, lons = destinations(lat, lon, np.arange(0.0, 360.0, 45.0), _COAST_KM)
    # Rounded, so that the last bit of a sine on another machine decides nothing.
    return not bool(Borders.load().is_land(np.round(lats, 5), np.round(lons, 5)).all())


def _plant(spot: Spot, chance: random.Random) -> Plant:
    climate = spot.climate
    known = _PLANTS.get(climate) or _PLANTS.get({"D": "Dfc", "E": "ET", "B": "BSk"}.get(climate[:1], "Cfb"), ())
    draw = chance.random()
    if spot.country in _EAST_ASIA and climate[:1] in "CA" and draw < 0.3:
        return "bamboo"
    if spot.country in _CACTUS and climate[:1] == "B" and draw < 0.4:
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
    """Return what a road is made of now and then instead of asphalt."""
    if layout in ("square", "high_street") and spot.country in _COBBLED:
        return "cobbles"
    if layout in ("country_road", "market") and style_of(spot.country).storeys[0] == 1:
        return "earth"
    return "concrete" if style_of(spot.country).walls[-1] == "concrete" else "asphalt"


_COBBLED = codes("DE AT CH FR BE NL IT ES PT PL CZ SK HU RO DK SE NO EE LV LT GB IE HR SI BR AR MX PE")
