"""The towns of a world: real ones of the base atlas with made-up streets, and which of them are held out."""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import chain
from math import cos, floor, hypot, radians, sin
from pathlib import Path
from typing import Final

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.atlas.base.build import CITY
from geosleuth.atlas.base.packed_tables import owners_called
from geosleuth.atlas.search import exact_key
from geosleuth.geo import LatLon, bearing_deg, distance_km

from .locales import LANDS, LANGUAGES, Land, Language, Town
from .locales.names import BORDER_SETTLEMENTS, apply_spelling, get_country, in_cyrillic
from .scene import Split

# Held-out share of one-degree squares, not of towns: in any one country the share may differ.
HELD_OUT_SHARE: Final = 0.25

MIN_POPULATION: Final = 15_000
_DEGREE_KM: Final = 110.0
_OF_THE_LAND_KM: Final = 20.0
_BETWEEN_TOWNS_KM: Final = 12.0
_AROUND_A_CITY_KM: Final = 30.0
_CITY_POPULATION: Final = 500_000
_LARGEST_SHARE: Final = 3  # every third town of a land is one of its largest, the others are drawn
_LONGEST_NAME: Final = 22
_NO_NAME: Final = frozenset("/(),.0123456789")
_WORDS_OF_NO_TOWN: Final = frozenset({"Sector", "Kreis", "kerület", "District", "Circoiscrizione", "Centar", "East"})
METRES_PER_DEGREE: Final = 111_195.0
_SPACING_M: Final = (85.0, 150.0)
_BEYOND_M: Final = (50.0, 130.0)
_BEND_M: Final = 7.0
_CROSSINGS, _ENDS = 400, 700  # below are the numbers of businesses and stops


def compute_cell_name(point: LatLon) -> str:
    """Return the square of one degree that a point lies in, named by its south-western corner: "N48E011"."""
    south, west = floor(point.lat), floor(point.lon)
    return f"{'NS'[south < 0]}{abs(south):02}{'EW'[west < 0]}{abs(west):03}"


def split_of_cell(cell: str) -> Split:
    """Return the split of a square, fixed once and for all by its name."""
    drawn = int.from_bytes(sha256(f"split {cell}".encode()).digest()[:8], "big") / 2**64
    return "held-out" if drawn < HELD_OUT_SHARE else "train"


@dataclass(frozen=True, slots=True)
class WorldTown:
    """A real town that made-up streets and businesses stand in.

    ``name`` is the atlas's, ``name_on_signs`` how the town writes itself; ``region_code`` is GeoNames' ("FR.11").
    ``number`` counts the towns of the same language. ``area`` is its area code and ``postcode`` a code of its centre,
    both empty if the table of lands does not know them. A town with a ``region_file`` has the streets and businesses
    of that region, and none that are made up.
    """

    geonames: int
    name: str
    name_on_signs: str
    point: LatLon
    country: str
    region: str | None
    region_code: str
    population: int
    cell: str
    split: Split
    land: Land = field(compare=False, hash=False, repr=False)
    number: int
    area: str = ""
    postcode: str = ""
    region_file: Path | None = None

    @property
    def real(self) -> bool:
        """Whether its streets and businesses are those of an added region."""
        return self.region_file is not None

    @property
    def id(self) -> str:
        """Its id in the atlas."""
        return f"geonames:{self.geonames}"

    @property
    def language(self) -> Language:
        """The language of its signs."""
        return LANGUAGES[self.land.language]


@dataclass(slots=True)
class _Settlement:
    ref: int
    name: str
    country: str
    region_code: str
    lat: float
    lon: float
    population: int


@dataclass(frozen=True, slots=True)
class _Chosen:
    settlement: _Settlement
    on_signs: str
    area: str = ""
    postcode: str = ""


@cache
def load_towns(seed: int) -> tuple[WorldTown, ...]:
    """Return the towns of a world, by land; the base atlas is built if it is not there yet."""
    found: list[WorldTown] = []
    counted: dict[str, int] = {}
    with closing(open_base(ensure_base())) as conn:
        regions: dict[str, str] = dict(conn.execute("SELECT code, name FROM region"))
        settlements = _settlements(conn)
        taken: set[int] = set()
        for land in LANDS:
            for chosen in _chosen(land, settlements.get(land.code, []), conn, seed):
                item = chosen.settlement
                if item.ref in taken:
                    continue
                taken.add(item.ref)
                language = land.language
                point = LatLon(item.lat, item.lon)
                cell, code = compute_cell_name(point), f"{item.country}.{item.region_code}"
                found.append(
                    WorldTown(
                        item.ref, item.name, chosen.on_signs, point, item.country, regions.get(code), code,
                        item.population, cell, split_of_cell(cell), land, counted.get(language, 0), chosen.area,
                        chosen.postcode,
                    )
                )  # fmt: skip
                counted[language] = counted.get(language, 0) + 1
    return tuple(found)


@cache
def towns_by_language(seed: int) -> dict[str, int]:
    """Return how many towns of a world speak each language."""
    counted: dict[str, int] = {}
    for town in load_towns(seed):
        counted[town.language.code] = counted.get(town.language.code, 0) + 1
    return counted


def _settlements(conn: sqlite3.Connection) -> dict[str, list[_Settlement]]:
    codes = sorted({land.code for land in LANDS})
    marks = ",".join("?" * len(codes))
    rows = conn.execute(
        "SELECT ref, name, country, region, lat_e5 / 1e5, lon_e5 / 1e5, population FROM place "  # noqa: S608
        f"WHERE kind = ? AND population >= ? AND country IN ({marks}) ORDER BY population DESC, ref",
        (CITY, MIN_POPULATION, *codes),
    )
    found: dict[str, list[_Settlement]] = {code: [] for code in codes}
    for row in rows:
        if row[0] not in BORDER_SETTLEMENTS:
            found[row[2]].append(_Settlement(*row))
    return found


def _chosen(land: Land, settlements: Sequence[_Settlement], conn: sqlite3.Connection, seed: int) -> Iterator[_Chosen]:
    """Yield the towns of the land's own table, those listed in its script, or a sample of all."""
    known = list(_of_the_table(land, settlements))
    count = get_country(land.code).town_count
    if listed := LANGUAGES[land.language].towns:
        more = _find_listed_towns(listed, settlements, conn)
    else:
        more = (
            _Chosen(settlement, _on_signs(settlement, land.language))
            for settlement in _draw_settlements(land.code, settlements, count, seed)
        )
    kept: list[_Chosen] = []
    for chosen in chain(known, more):
        if len(kept) == count:
            break
        if _stands_apart(chosen.settlement, [item.settlement for item in kept]):
            kept.append(chosen)
    yield from kept


def _of_the_table(land: Land, settlements: Sequence[_Settlement]) -> Iterator[_Chosen]:
    for town in land.towns:
        near = (settlement for settlement in settlements if _is_within(settlement, town, _OF_THE_LAND_KM))
        item = next(near, None)  # the largest
        if item is not None:
            yield _Chosen(item, town.name.split(",")[0], town.area, town.postcode.removeprefix("〒"))


def _find_listed_towns(
    names: Sequence[str], settlements: Sequence[_Settlement], conn: sqlite3.Connection
) -> Iterator[_Chosen]:
    """Yield towns by the names on their signs, as the atlas knows them."""
    by_ref = {settlement.ref: settlement for settlement in settlements}
    for name in names:
        called = list(owners_called(conn, exact_key(name)))
        rows = conn.execute(
            f"SELECT ref FROM place WHERE id IN ({','.join('?' * len(called))}) AND kind = ? "  # noqa: S608
            "ORDER BY population DESC, id",
            (*called, CITY),
        )
        item = next((by_ref[ref] for (ref,) in rows if ref in by_ref), None)
        if item is not None:
            yield _Chosen(item, name)


def _draw_settlements(country: str, settlements: Sequence[_Settlement], count: int, seed: int) -> Iterator[_Settlement]:
    """Yield the largest few, and a seeded sample of all sizes."""
    fit = [settlement for settlement in settlements if _is_fit(settlement, country)]
    cities = [settlement for settlement in settlements if settlement.population >= _CITY_POPULATION]
    largest = fit[: max(1, count // _LARGEST_SHARE)]
    yield from largest
    for item in sorted(fit[len(largest) :], key=lambda item: sha256(f"town {seed} {item.ref}".encode()).digest()):
        if not any(item is not city and _is_within(item, city, _BETWEEN_TOWNS_KM) for city in cities):
            yield item


def _is_fit(settlement: _Settlement, country: str) -> bool:
    name = settlement.name
    if len(name) > _LONGEST_NAME or _NO_NAME & set(name) or _WORDS_OF_NO_TOWN & set(name.split()):
        return False
    rules = get_country(country)
    only = rules.only_in_regions or {settlement.region_code}
    return settlement.region_code in only - rules.not_in_regions


def _stands_apart(settlement: _Settlement, others: Sequence[_Settlement]) -> bool:
    """Return whether a settlement is not part of a city and its name is new in its country."""
    for other in others:
        large = max(settlement.population, other.population) >= _CITY_POPULATION
        apart_km = _AROUND_A_CITY_KM if large else _BETWEEN_TOWNS_KM
        if settlement.name == other.name or _is_within(settlement, other, apart_km):
            return False
    return True


def _is_within(here: _Settlement, there: "_Settlement | Town", km: float) -> bool:
    """Return whether two points are within this distance; most are decided by degrees, without measuring."""
    if abs(here.lat - there.lat) * _DEGREE_KM > km or abs(here.lon - there.lon) * _DEGREE_KM > 8 * km:
        return False
    return distance_km(LatLon(here.lat, here.lon), LatLon(there.lat, there.lon)) <= km


def _on_signs(settlement: _Settlement, language: str) -> str:
    name = get_country(settlement.country).name_on_signs(settlement.name)
    if language == "ro":
        name = name.translate(str.maketrans("şţŞŢ", "șțȘȚ"))
    return in_cyrillic(name) if language == "sr" else name


@dataclass(frozen=True, slots=True)
class Street:
    """One street: its id in the layer, its name, what it is on the map ("highway=residential"), and its line.

    ``nodes`` numbers the points of the line; streets that meet share a node.
    """

    id: str
    name: str
    kind: str
    line: tuple[LatLon, ...]
    nodes: tuple[int, ...]

    def heading_deg(self, point: LatLon) -> float:
        """Return the direction of the street next to a point, from north to east, 0 to 360, towards higher numbers."""
        squeeze = round(cos(radians(point.lat)), 9)

        def away(index: int) -> float:
            here, there = self.line[index], self.line[index + 1]
            x, y = (point.lon - here.lon) * squeeze, point.lat - here.lat
            dx, dy = (there.lon - here.lon) * squeeze, there.lat - here.lat
            along = max(0.0, min(1.0, (x * dx + y * dy) / max(dx * dx + dy * dy, 1e-18)))
            return hypot(x - along * dx, y - along * dy)

        nearest = min(range(len(self.line) - 1), key=away)
        return bearing_deg(self.line[nearest], self.line[nearest + 1])


@dataclass(frozen=True, slots=True)
class TownPlan:
    """The streets of a town on a plane around its centre, in metres east and north."""

    streets: tuple[Street, ...]
    lines_m: tuple[tuple[tuple[float, float], ...], ...]


def build_street_plan(town: WorldTown, seed: int) -> TownPlan:
    """Return the streets of a town; they depend only on the town and the seed."""
    chance = random.Random(f"streets {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    along, across = _counts(town.population, chance)
    turned = radians(chance.uniform(0, 90))
    turn = (round(cos(turned), 9), round(sin(turned), 9))
    rows, columns = _offsets(along, chance), _offsets(across, chance)
    crossings = {
        (row, column): (
            columns[column] + chance.uniform(-_BEND_M, _BEND_M),
            rows[row] + chance.uniform(-_BEND_M, _BEND_M),
        )
        for row in range(along)
        for column in range(across)
    }
    names = _generate_street_names(town, along + across, chance)
    streets: list[Street] = []
    lines: list[tuple[tuple[float, float], ...]] = []
    for number in range(along + across):
        if number < along:
            keys = [(number, column) for column in range(across)]
        else:
            first, last = _choose_row_range(along, chance)
            keys = [(row, number - along) for row in range(first, last)]
        line = _with_ends([crossings[key] for key in keys], chance)
        turned_line = tuple(_round_point(x * turn[0] - y * turn[1], x * turn[1] + y * turn[0]) for x, y in line)
        ends = (_ENDS + 2 * number, _ENDS + 2 * number + 1)
        nodes = (ends[0], *(_CROSSINGS + row * 20 + column for row, column in keys), ends[1])
        streets.append(
            Street(
                f"w{town.geonames}{number:03}", names[number], _choose_street_kind(number, along, chance),
                tuple(offset_point(town.point, *metres) for metres in turned_line),
                tuple(town.geonames * 1000 + node for node in nodes),
            )
        )  # fmt: skip
        lines.append(turned_line)
    return TownPlan(tuple(streets), tuple(lines))


def offset_point(centre: LatLon, east_m: float, north_m: float) -> LatLon:
    """Return the point so many metres east and north of a centre; good for a few kilometres."""
    shrink = round(cos(radians(centre.lat)), 9)
    lon = centre.lon + east_m / (METRES_PER_DEGREE * shrink)
    return LatLon(round(centre.lat + north_m / METRES_PER_DEGREE, 6), round((lon + 180) % 360 - 180, 6))


def _counts(population: int, chance: random.Random) -> tuple[int, int]:
    size = sum(population >= people for people in (30_000, 100_000, 400_000, 1_500_000))
    return 3 + size // 2 + chance.randrange(2), 3 + (size + 1) // 2 + chance.randrange(2)


def _offsets(count: int, chance: random.Random) -> list[float]:
    found = [0.0]
    for _ in range(count - 1):
        found.append(found[-1] + chance.uniform(*_SPACING_M))
    return [offset - found[-1] / 2 for offset in found]


def _choose_row_range(along: int, chance: random.Random) -> tuple[int, int]:
    """Return the rows that a side street reaches: all, or at least two."""
    if along <= 2 or chance.random() < 0.5:
        return 0, along
    length = chance.randrange(2, along + 1)
    first = chance.randrange(along - length + 1)
    return first, first + length


def _with_ends(line: list[tuple[float, float]], chance: random.Random) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1) = line[0], line[-1]
    length = max(hypot(x1 - x0, y1 - y0), 1.0)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    before, after = chance.uniform(*_BEYOND_M), chance.uniform(*_BEYOND_M)
    return [(x0 - before * dx, y0 - before * dy), *line, (x1 + after * dx, y1 + after * dy)]


def _round_point(x: float, y: float) -> tuple[float, float]:
    return round(x, 3), round(y, 3)


def _choose_street_kind(number: int, along: int, chance: random.Random) -> str:
    if number == 0:
        return "highway=secondary"
    if number == along:
        return "highway=tertiary"
    return "highway=pedestrian" if chance.random() < 0.1 else "highway=residential"


def _generate_street_names(town: WorldTown, count: int, chance: random.Random) -> list[str]:
    """Return street names; the first is one of the usual main streets."""
    own = get_country(town.country)
    words = own if own.streets else town.language
    whole = list(words.streets)
    chance.shuffle(whole)
    made = [form.format(stem) for form in words.street_forms for stem in words.street_stems]
    chance.shuffle(made)
    few = whole[: max(2, count // 3)]
    mixed = [*few[1:], *made]
    mixed = mixed[: 2 * count]
    chance.shuffle(mixed)
    names = dict.fromkeys([*few[:1], *mixed, *made, *whole])
    return [apply_spelling(name, town.country) for name in names][:count]
