"""The towns of a world: real ones of the base atlas, in lands whose signs we can write."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.atlas.base.build import CITY, Progress
from geosleuth.atlas.base.names import owners_called
from geosleuth.atlas.search import exact_key
from geosleuth.geo import LatLon, distance_km

from .lands import WORLD_LANDS, Land, Tongue, Town, tongue_of
from .lands.names import (
    EXONYMS,
    LISTED,
    NOT_IN_REGIONS,
    ON_A_BORDER,
    ONLY_IN_REGIONS,
    TOWN_COUNTS,
    USUAL_TOWN_COUNT,
    in_cyrillic,
)
from .model import Split
from .splits import cell_of, split_of_cell

LEAST_POPULATION: Final = 15_000
_DEGREE_KM: Final = 110.0
_OF_THE_LAND_KM: Final = 20.0
_BETWEEN_TOWNS_KM: Final = 12.0
_AROUND_A_CITY_KM: Final = 30.0
_CITY_POPULATION: Final = 500_000
_LARGEST_SHARE: Final = 3  # every third town of a land is one of its largest, the others are drawn
_LONGEST_NAME: Final = 22
_NO_NAME: Final = frozenset("/(),.0123456789")
_WORDS_OF_NO_TOWN: Final = frozenset({"Sector", "Kreis", "kerület", "District", "Circoiscrizione", "Centar", "East"})


@dataclass(frozen=True, slots=True)
class WorldTown:
    """A real town that made-up streets and businesses stand in.

    ``name`` is the atlas's, ``name_on_signs`` how the town writes itself; ``region_code`` is GeoNames' ("FR.11").
    ``number`` counts the towns of the same language. ``area`` is its area code and ``postcode`` a code of its centre,
    both empty where the table of lands does not know them. A town with a ``region_file`` has the streets and businesses
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
    def tongue(self) -> Tongue:
        """The language of its signs."""
        return tongue_of(self.land)


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
def towns_of(seed: int) -> tuple[WorldTown, ...]:
    """The towns of a world, by land; the base atlas is built if it is not there yet."""
    found: list[WorldTown] = []
    counted: dict[str, int] = {}
    with closing(open_base(ensure_base())) as conn:
        regions: dict[str, str] = dict(conn.execute("SELECT code, name FROM region"))
        settlements = _settlements(conn)
        taken: set[int] = set()
        for land in WORLD_LANDS:
            for chosen in _chosen(land, settlements.get(land.code, []), conn, seed):
                one = chosen.settlement
                if one.ref in taken:
                    continue
                taken.add(one.ref)
                tongue = tongue_of(land).code
                point = LatLon(one.lat, one.lon)
                cell, code = cell_of(point), f"{one.country}.{one.region_code}"
                found.append(
                    WorldTown(
                        one.ref, one.name, chosen.on_signs, point, one.country, regions.get(code), code,
                        one.population, cell, split_of_cell(cell), land, counted.get(tongue, 0), chosen.area,
                        chosen.postcode,
                    )
                )  # fmt: skip
                counted[tongue] = counted.get(tongue, 0) + 1
    return tuple(found)


@cache
def towns_by_tongue(seed: int) -> dict[str, int]:
    """How many towns of a world speak each language."""
    counted: dict[str, int] = {}
    for town in towns_of(seed):
        counted[town.tongue.code] = counted.get(town.tongue.code, 0) + 1
    return counted


def _settlements(conn: sqlite3.Connection) -> dict[str, list[_Settlement]]:
    """Settlements by country, the largest first."""
    codes = sorted({land.code for land in WORLD_LANDS})
    marks = ",".join("?" * len(codes))
    rows = conn.execute(
        "SELECT ref, name, country, region, lat_e5 / 1e5, lon_e5 / 1e5, population FROM place "  # noqa: S608
        f"WHERE kind = ? AND population >= ? AND country IN ({marks}) ORDER BY population DESC, ref",
        (CITY, LEAST_POPULATION, *codes),
    )
    found: dict[str, list[_Settlement]] = {code: [] for code in codes}
    for row in rows:
        if row[0] not in ON_A_BORDER:
            found[row[2]].append(_Settlement(*row))
    return found


def _chosen(land: Land, settlements: Sequence[_Settlement], conn: sqlite3.Connection, seed: int) -> Iterator[_Chosen]:
    """Those that the land's own table names, those that are listed in its script, or some of all."""
    known = list(_of_the_table(land, settlements))
    count = TOWN_COUNTS.get(land.code, USUAL_TOWN_COUNT)
    tongue = tongue_of(land).code
    if tongue in LISTED:
        more = _listed(LISTED[tongue], settlements, conn)
    else:
        more = (_Chosen(one, _on_signs(one, tongue)) for one in _drawn(land.code, settlements, count, seed))
    kept: list[_Chosen] = []
    for chosen in chain(known, more):
        if len(kept) == count:
            break
        if _stands_apart(chosen.settlement, [one.settlement for one in kept]):
            kept.append(chosen)
    yield from kept


def _of_the_table(land: Land, settlements: Sequence[_Settlement]) -> Iterator[_Chosen]:
    for town in land.towns:
        near = (one for one in settlements if _is_within(one, town, _OF_THE_LAND_KM))
        one = next(near, None)  # the largest
        if one is not None:
            yield _Chosen(one, town.name.split(",")[0], town.area, town.postcode.removeprefix("〒"))


def _listed(names: Sequence[str], settlements: Sequence[_Settlement], conn: sqlite3.Connection) -> Iterator[_Chosen]:
    """Towns by the name that they write on their signs, as the atlas knows it."""
    by_ref = {one.ref: one for one in settlements}
    for name in names:
        called = list(owners_called(conn, exact_key(name)))
        rows = conn.execute(
            f"SELECT ref FROM place WHERE id IN ({','.join('?' * len(called))}) AND kind = ? "  # noqa: S608
            "ORDER BY population DESC, id",
            (*called, CITY),
        )
        one = next((by_ref[ref] for (ref,) in rows if ref in by_ref), None)
        if one is not None:
            yield _Chosen(one, name)


def _drawn(country: str, settlements: Sequence[_Settlement], count: int, seed: int) -> Iterator[_Settlement]:
    """The largest few, and more of all sizes as the seed has it."""
    fit = [one for one in settlements if _is_fit(one, country)]
    cities = [one for one in settlements if one.population >= _CITY_POPULATION]
    largest = fit[: max(1, count // _LARGEST_SHARE)]
    yield from largest
    for one in sorted(fit[len(largest) :], key=lambda one: sha256(f"town {seed} {one.ref}".encode()).digest()):
        if not any(one is not city and _is_within(one, city, _BETWEEN_TOWNS_KM) for city in cities):
            yield one


def _is_fit(one: _Settlement, country: str) -> bool:
    name = one.name
    if len(name) > _LONGEST_NAME or _NO_NAME & set(name) or _WORDS_OF_NO_TOWN & set(name.split()):
        return False
    only = ONLY_IN_REGIONS.get(country)
    return one.region_code not in NOT_IN_REGIONS.get(country, ()) and (only is None or one.region_code in only)


def _stands_apart(one: _Settlement, others: Sequence[_Settlement]) -> bool:
    """Parts of a city are settlements of their own in the atlas; and no land has two towns of one name here."""
    for other in others:
        large = max(one.population, other.population) >= _CITY_POPULATION
        apart_km = _AROUND_A_CITY_KM if large else _BETWEEN_TOWNS_KM
        if one.name == other.name or _is_within(one, other, apart_km):
            return False
    return True


def _is_within(here: _Settlement, there: "_Settlement | Town", km: float) -> bool:
    """Whether two lie so near each other; most are told apart by their degrees, without measuring."""
    if abs(here.lat - there.lat) * _DEGREE_KM > km or abs(here.lon - there.lon) * _DEGREE_KM > 8 * km:
        return False
    return distance_km(LatLon(here.lat, here.lon), LatLon(there.lat, there.lon)) <= km


def _on_signs(one: _Settlement, tongue: str) -> str:
    name = EXONYMS.get((one.country, one.name), one.name)
    if tongue == "ro":
        name = name.translate(str.maketrans("şţŞŢ", "șțȘȚ"))
    return in_cyrillic(name) if tongue == "sr" else name


__all__ = ["LEAST_POPULATION", "Progress", "WorldTown", "towns_by_tongue", "towns_of"]
