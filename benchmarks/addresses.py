"""Whether addresses and other queries of several parts are found at the level they name, with and without a map.

    python benchmarks/addresses.py FOLDER [--count 400] [--check]

FOLDER holds OpenStreetMap extracts (.osm.pbf). Queries are made of what they hold, in several orders, with and without
commas, postcode and country: house numbers; streets; shops and sights; numbers that no street has, where the street is
the right level; and streets that are nowhere, where the town is. Right is the level that is named, near the truth.
Then the same is asked with no region at all, where the town is the best that can be told. `--check` exits with 1 where
fewer than 97 % are right or anything lies in another country.
"""

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.atlas.protocol import Level
from geosleuth.atlas.regions import Regions, import_osm
from geosleuth.atlas.regions.feature_kinds import is_street
from geosleuth.atlas.regions.region_store import rows_of_kinds, tags_of
from geosleuth.atlas.regions.tags import address_of
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name

PROMISED = 0.97
BORDER_KM = 2.0
NEAR_KM = {"address": 0.3, "street": 3.0, "feature": 1.0, "town": 30.0}
NOWHERE = ("Rue des Trois Hiboux", "Hopeakettukatu", "Carrer dels Set Mussols", "Schnepfenweg", "Owl Hollow Road")


@dataclass(frozen=True, slots=True)
class Query:
    """A text, the level that it names, and where that is."""

    text: str
    level: Level
    point: LatLon
    country: str


def shapes(name: str, town: str, country: str, postcode: str = "") -> list[str]:
    """The ways people write a name with its town and country."""
    there = f"{postcode} {town}".strip()
    if town == country:
        return [f"{name}, {there}", f"{town}, {name}", f"{name} {town}"]
    return [f"{name}, {there}", f"{name}, {there}, {country}", f"{country}, {town}, {name}", f"{name} {town} {country}"]


def features(regions: Regions, region: str, kind: str) -> list[tuple[str, str, LatLon]]:
    """Names, addresses and points of the features of a kind, in a fixed order."""
    tests: dict[str, Callable[[str], bool]] = {
        "address": "address".__eq__,
        "street": is_street,
        "feature": lambda one: one.startswith(("shop=", "tourism=", "amenity=")),
    }
    opened = regions.store.open(region)
    rows = sorted(row for row in rows_of_kinds(opened, tests[kind]) if row[2])
    return [(row[2], address_of(tags_of(opened, row[0])) or "", LatLon(*row[4:6])) for row in rows]


async def queries(atlas: OfflineAtlas, regions: Regions, count: int, chance: random.Random) -> list[Query]:
    """So many queries, as many of each region and kind as can be."""
    pools = {
        (region, kind): features(regions, region, kind)
        for region in sorted(regions.store.names())
        for kind in ("address", "street", "feature")
    }
    kinds = ("address", "street", "feature", "other number", "nowhere")
    made: list[Query] = []
    while len(made) < count:
        kind = kinds[len(made) % len(kinds)]
        of = {"other number": "street", "nowhere": "street"}.get(kind, kind)
        name, address, point = chance.choice(
            chance.choice([pool for (_, one), pool in pools.items() if one == of and pool])
        )
        here = await atlas.reverse(point)
        towns = [hit.place.name for hit in here.places if hit.place.kind == "city" and (hit.distance_km or 0) < 3]
        if not towns or here.country is None or ";" in name or " - " in name:
            continue  # two names in one, which no one writes
        level: Level = {"other number": "street", "nowhere": "town"}.get(kind, kind)  # type: ignore[assignment]
        if kind == "other number":
            name = f"{name} {chance.randrange(7000, 9999)}"
        elif kind == "nowhere":
            name = chance.choice(NOWHERE)
        postcode = next((word for word in address.replace(",", " ").split() if len(word) == 5 and word.isdigit()), "")
        forms = shapes(name, chance.choice(towns[:2]), country_name(here.country), postcode)
        made.append(Query(chance.choice(forms), level, point, here.country))
    return made


async def first_hits(atlas: OfflineAtlas, asked: Sequence[Query]) -> list[Hit | None]:
    """The best hit of each query."""
    found = [await atlas.geocode(query.text, limit=1) for query in asked]
    return [hits[0] if hits else None for hits in found]


async def faults(
    atlas: OfflineAtlas, asked: Sequence[Query], hits: Sequence[Hit | None], *, bare: bool
) -> Iterator[tuple[Query, str]]:
    """What is not at the named level, or not near; without regions, nothing is finer than the town."""
    found = []
    for query, hit in zip(asked, hits, strict=True):
        level: Level = "town" if bare else query.level
        if hit is None:
            found.append((query, "not found"))
            continue
        country = (await atlas.reverse(hit.place.point)).country
        away = distance_km(hit.place.point, query.point)
        at_level = hit.level == level or (level == "address" and hit.place.address is not None and not hit.missing)
        at_level = at_level or (bare and hit.level in ("region", "country", "feature"))
        # The world's borders are good to a kilometre or so: a town that lies at one is no town abroad.
        if country != query.country and away > BORDER_KM:
            found.append((query, f"another country: {hit.place.name} ({country})"))
        elif not at_level or away > NEAR_KM[level]:
            found.append((query, f"{hit.level} {hit.place.name}, {away:.1f} km away"))
    return iter(found)


async def measure(extracts: Sequence[Path], count: int) -> list[str]:
    """Print the figures; what breaks the promise."""
    broken = []
    with TemporaryDirectory() as scratch:
        for extract in extracts:
            import_osm(extract, folder=Path(scratch) / "full")
        atlas, bare = OfflineAtlas(Path(scratch) / "full"), OfflineAtlas(Path(scratch) / "none")
        asked = await queries(atlas, Regions(Path(scratch) / "full"), count, random.Random(1))
        for name, one in (("with the map", atlas), ("without it", bare)):
            hits = await first_hits(one, asked)
            wrong = list(await faults(atlas, asked, hits, bare=one is bare))
            abroad = [fault for _, fault in wrong if fault.startswith("another country")]
            share = 1 - len(wrong) / len(asked)
            levels = Counter("none" if hit is None else hit.level for hit in hits)
            told = ", ".join(f"{level} {number}" for level, number in levels.most_common())
            print(f"{name}: {len(asked)} queries, {share:.1%} right, {len(abroad)} in another country ({told})")
            for query, fault in wrong[:40]:
                print(f"  {query.text!r} ({query.level}): {fault}")
            if share < PROMISED or abroad:
                broken.append(name)
    return broken


def main() -> int:
    """Measure, print, check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the extracts lie")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promise is broken")
    options = parser.parse_args()
    extracts = sorted(options.folder.glob("*.osm.pbf"))
    if not extracts:
        parser.error(f"no .osm.pbf files in {options.folder}")
    broken = asyncio.run(measure(extracts, options.count))
    return int(options.check and bool(broken))


if __name__ == "__main__":
    sys.exit(main())
