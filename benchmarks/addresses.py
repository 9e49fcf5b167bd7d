"""Measure geocoding of addresses and other queries of several parts, with and without added regions.

    python benchmarks/addresses.py FOLDER [--count 400] [--check]

FOLDER holds OpenStreetMap extracts (.osm.pbf). Queries are built from their features, in several orders, with and
without commas, postcode and country:

- addresses, streets, and features (shops and sights);
- other number: a house number that does not exist, for which the street is the right answer;
- nowhere: a street that does not exist, for which the town is the right answer.

An answer is right if it has the expected level (address, street, feature or town) and lies near the true place. The
same queries then run without any region, where the town is the best possible answer. `--check` exits with 1 if fewer
than 97 % are right or any answer lies in another country.
"""

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.atlas.protocol import Level
from geosleuth.atlas.regions import Regions, import_osm
from geosleuth.atlas.regions.feature_kinds import is_street
from geosleuth.atlas.regions.region_store import read_tags, rows_of_kinds
from geosleuth.atlas.regions.tags import format_address
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name

PROMISED = 0.97
BORDER_KM = 2.0  # the world's borders are only good to a kilometre or so
NEAR_KM = {"address": 0.3, "street": 3.0, "feature": 1.0, "town": 30.0}
NONEXISTENT_STREETS = (
    "Rue des Trois Hiboux",
    "Hopeakettukatu",
    "Carrer dels Set Mussols",
    "Schnepfenweg",
    "Owl Hollow Road",
)


@dataclass(frozen=True, slots=True)
class Query:
    """A text to geocode, and the level, point and country of the right answer."""

    text: str
    level: Level
    point: LatLon
    country: str


def written_forms(name: str, town: str, country: str, postcode: str = "") -> list[str]:
    """Return the ways people write a name with its town and country."""
    locality = f"{postcode} {town}".strip()
    if town == country:
        return [f"{name}, {locality}", f"{town}, {name}", f"{name} {town}"]
    return [
        f"{name}, {locality}",
        f"{name}, {locality}, {country}",
        f"{country}, {town}, {name}",
        f"{name} {town} {country}",
    ]


def features(regions: Regions, region: str, kind: str) -> list[tuple[str, str, LatLon]]:
    """Return name, address and point of each feature of a kind, in a fixed order."""
    tests: dict[str, Callable[[str], bool]] = {
        "address": "address".__eq__,
        "street": is_street,
        "feature": lambda tag: tag.startswith(("shop=", "tourism=", "amenity=")),
    }
    opened = regions.store.open(region)
    rows = sorted(row for row in rows_of_kinds(opened, tests[kind]) if row[2])
    return [(row[2], format_address(read_tags(opened, row[0])) or "", LatLon(*row[4:6])) for row in rows]


async def build_queries(atlas: OfflineAtlas, regions: Regions, count: int, chance: random.Random) -> list[Query]:
    """Return `count` queries, as evenly over regions and kinds as possible."""
    pools = {
        (region, kind): features(regions, region, kind)
        for region in sorted(regions.store.names())
        for kind in ("address", "street", "feature")
    }
    kinds = ("address", "street", "feature", "other number", "nowhere")
    made: list[Query] = []
    while len(made) < count:
        kind = kinds[len(made) % len(kinds)]
        source = {"other number": "street", "nowhere": "street"}.get(kind, kind)
        name, address, point = chance.choice(
            chance.choice([pool for (_, pool_kind), pool in pools.items() if pool_kind == source and pool])
        )
        here = await atlas.reverse(point)
        towns = [hit.place.name for hit in here.places if hit.place.kind == "city" and (hit.distance_km or 0) < 3]
        if not towns or here.country is None or ";" in name or " - " in name:
            continue  # a name with ";" or " - " is two names in one, which nobody writes
        level: Level = {"other number": "street", "nowhere": "town"}.get(kind, kind)  # type: ignore[assignment]
        if kind == "other number":
            name = f"{name} {chance.randrange(7000, 9999)}"
        elif kind == "nowhere":
            name = chance.choice(NONEXISTENT_STREETS)
        postcode = next((word for word in address.replace(",", " ").split() if len(word) == 5 and word.isdigit()), "")
        forms = written_forms(name, chance.choice(towns[:2]), country_name(here.country), postcode)
        made.append(Query(chance.choice(forms), level, point, here.country))
    return made


async def first_hits(atlas: OfflineAtlas, queries: Sequence[Query]) -> list[Hit | None]:
    """Return the best hit of each query."""
    found = [await atlas.geocode(query.text, limit=1) for query in queries]
    return [hits[0] if hits else None for hits in found]


async def find_errors(
    atlas: OfflineAtlas, queries: Sequence[Query], hits: Sequence[Hit | None], *, without_regions: bool
) -> list[tuple[Query, str]]:
    """Return each query whose hit has the wrong level or lies too far away, with the reason.

    Without regions nothing finer than the town can be found, so the town, or anything coarser, is right.
    """
    found = []
    for query, hit in zip(queries, hits, strict=True):
        level: Level = "town" if without_regions else query.level
        if hit is None:
            found.append((query, "not found"))
            continue
        country = (await atlas.reverse(hit.place.point)).country
        away_km = distance_km(hit.place.point, query.point)
        at_level = hit.level == level or (level == "address" and hit.place.address is not None and not hit.missing)
        at_level = at_level or (without_regions and hit.level in ("region", "country", "feature"))
        if country != query.country and away_km > BORDER_KM:
            found.append((query, f"another country: {hit.place.name} ({country})"))
        elif not at_level or away_km > NEAR_KM[level]:
            found.append((query, f"{hit.level} {hit.place.name}, {away_km:.1f} km away"))
    return found


async def measure(extracts: Sequence[Path], count: int) -> list[str]:
    """Print the figures and return the runs that miss the target."""
    broken = []
    with TemporaryDirectory() as scratch:
        for extract in extracts:
            import_osm(extract, folder=Path(scratch) / "full")
        atlas, bare = OfflineAtlas(Path(scratch) / "full"), OfflineAtlas(Path(scratch) / "none")
        queries = await build_queries(atlas, Regions(Path(scratch) / "full"), count, random.Random(1))
        for name, queried in (("with regions", atlas), ("without regions", bare)):
            hits = await first_hits(queried, queries)
            wrong = await find_errors(atlas, queries, hits, without_regions=queried is bare)
            abroad = [fault for _, fault in wrong if fault.startswith("another country")]
            share = 1 - len(wrong) / len(queries)
            levels = Counter("none" if hit is None else hit.level for hit in hits)
            by_level = ", ".join(f"{level} {number}" for level, number in levels.most_common())
            print(f"{name}: {len(queries)} queries, {share:.1%} right, {len(abroad)} in another country ({by_level})")
            for query, fault in wrong[:40]:
                print(f"  {query.text!r} ({query.level}): {fault}")
            if share < PROMISED or abroad:
                broken.append(name)
    return broken


def main() -> int:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of extracts (.osm.pbf)")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the target is missed")
    options = parser.parse_args()
    extracts = sorted(options.folder.glob("*.osm.pbf"))
    if not extracts:
        parser.error(f"no .osm.pbf files in {options.folder}")
    broken = asyncio.run(measure(extracts, options.count))
    return int(options.check and bool(broken))


if __name__ == "__main__":
    sys.exit(main())
