"""Measure imports of OpenStreetMap extracts, and speed and accuracy of searches in them.

    python benchmarks/regions.py [EXTRACT.osm.pbf ...] [--names N] [--json] [--check]

The bundled Monaco is always measured; to measure the Isle of Wight too, give its extract (it is in the source
distribution of the package osm-feature-extractor). If two extracts have the same name, the last one counts. Each
import runs in its own process, so that its peak memory can be read. `--json` prints one JSON document and nothing
else. `--check` exits with 1 if a documented limit is exceeded.

Misread names are main and other names of at least five letters, drawn at random from all regions together. Each has
one to three OCR-like errors (confused letters, a lost space, a lost or doubled letter, a cut end), but at most one per
four letters. A hit is right if the feature found has the name that was drawn.
"""

import argparse
import json
import os
import platform
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from geosleuth.atlas.regions import Regions, import_osm, region_name
from geosleuth.atlas.regions.candidates import Candidates, resolve
from geosleuth.atlas.regions.region_store import rows_of_kinds
from geosleuth.atlas.search import ATTRIBUTE
from geosleuth.geo import Box, LatLon, great_circle_km
from geosleuth.names import fold

MONACO = Path(__file__).resolve().parent.parent / "examples" / "regions" / "monaco.osm.pbf"
PROMISED_IMPORT_S = {"monaco": 10.0, "isle-of-wight": 60.0}
PROMISED_RESIDENT_MB = 1000.0
PROMISED_TOP_1, PROMISED_TOP_5, PROMISED_SEARCH_P95_MS = 0.95, 0.98, 10.0
PROMISED_COLOCATED_MS = 200.0

CONFUSED = {
    "o": "0", "0": "o", "l": "1", "1": "l", "i": "l", "s": "5", "5": "s", "b": "8", "8": "b", "e": "c", "c": "e",
    "g": "q", "q": "g", "m": "rn", "n": "r", "u": "v", "v": "u", "a": "o", "h": "b", "t": "f", "f": "t", "z": "2",
}  # fmt: skip
TRIPLES = (
    ("amenity=pharmacy", "supermarket", "amenity=cafe"),
    ("bus stop", "amenity=parking", "amenity=restaurant"),
    ("church", "school", "post box"),
    ("bench", "amenity=pub", "shop"),
)


def misread(name: str, chance: random.Random) -> str:
    """Return the name with one to three OCR-like errors."""
    errors = min(chance.randint(1, 3), max(1, len(name) // 4))
    letters = list(name)
    for _ in range(errors):
        at = chance.randrange(len(letters))
        error = chance.random()
        lower = letters[at].lower()
        if error < 0.6 and lower in CONFUSED:
            letters[at] = CONFUSED[lower]
        elif error < 0.7 and " " in letters:
            letters.remove(" ")
        elif error < 0.8:
            letters[at] = ""
        elif error < 0.9:
            letters[at] *= 2
        else:
            letters.pop()
    return "".join(letters)


def import_in_subprocess(extract: Path, folder: Path) -> dict[str, Any]:
    """Run `import_one` in its own process and return its figures."""
    command = [sys.executable, __file__, "--import-one", str(extract), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def import_one(extract: Path, folder: Path) -> dict[str, Any]:
    """Import an extract and return time, peak memory and counts."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    info = import_osm(extract, folder=folder)
    return {
        "region": info.name,
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - cpu_begin,
        "peak_resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "features": info.features,
        "names": info.names,
        "streets": info.streets,
        "junctions": info.junctions,
        "input_mb": extract.stat().st_size / 1e6,
        "file_mb": info.size_bytes / 1e6,
    }


def time_each_ms(jobs: Sequence[Callable[[], object]]) -> list[float]:
    """Run each job and return the milliseconds each took."""
    taken_ms = []
    for job in jobs:
        begin = time.perf_counter()
        job()
        taken_ms.append((time.perf_counter() - begin) * 1000)
    return taken_ms


def percentiles(taken_ms: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile and maximum."""
    ordered = sorted(taken_ms)
    return {
        "p50_ms": statistics.median(ordered),
        "p95_ms": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "max_ms": ordered[-1],
    }


def draw_names(regions: Regions, count: int, chance: random.Random) -> list[str]:
    """Draw distinct names of features from all regions."""
    found: set[str] = set()
    for region in regions.store.open_all():
        texts = (text for _, text, role in region.index.all_names() if role < ATTRIBUTE)
        found.update(text for text in texts if sum(letter.isalpha() for letter in text) >= 5)
    drawn = sorted(found)
    chance.shuffle(drawn)
    return drawn[:count]


def names_by_feature(regions: Regions) -> dict[str, set[str]]:
    """Return all folded names of every feature, by place id."""
    names: dict[str, set[str]] = {}
    for region in regions.store.open_all():
        osm_id_of = {row[0]: row[1] for row in rows_of_kinds(region, lambda _: True)}
        for owner, text, role in region.index.all_names():
            if role < ATTRIBUTE:
                names.setdefault(f"{region.info.kind}:{region.info.name}:{osm_id_of[owner]}", set()).add(fold(text))
    return names


def measure_search(regions: Regions, count: int) -> dict[str, Any]:
    """Search misread names in all regions and return accuracy and latency."""
    chance = random.Random(20_260_101)  # the same errors every time
    names = draw_names(regions, count, chance)
    names_of = names_by_feature(regions)
    regions.search_pois("warm up")
    top_1 = top_5 = 0
    wall_ms, cpu_ms, missed = [], [], []
    for name in names:
        text = misread(name, chance)
        begin, cpu_begin = time.perf_counter(), time.process_time()
        hits = regions.search_pois(text, limit=10)
        wall_ms.append((time.perf_counter() - begin) * 1000)
        cpu_ms.append((time.process_time() - cpu_begin) * 1000)
        right = [fold(name) in names_of.get(hit.place.id, ()) for hit in hits[:5]]
        top_1 += right[:1] == [True]
        top_5 += any(right)
        if not any(right):
            missed.append([name, text, hits[0].place.name if hits else None])
    return {
        "names": len(names),
        "top_1": top_1 / len(names),
        "top_5": top_5 / len(names),
        **percentiles(wall_ms),
        "processor_p95_ms": percentiles(cpu_ms)["p95_ms"],
        "missed": missed[:20],
    }


def measure_nearby_and_crossing(regions: Regions) -> dict[str, Any]:
    """Return latency of `nearby` and `crossing`, and how many crossings are found."""
    chance = random.Random(7)  # the same places every time
    points: list[LatLon] = []
    crossings: list[tuple[str, str]] = []
    for region in regions.store.open_all():
        rows = sorted(row[1:] for row in rows_of_kinds(region, lambda _: True))
        points.extend(LatLon(*row[3:5]) for row in chance.sample(rows, 50))
        meeting = [streets.split("\n") for (streets,) in region.conn.execute("SELECT streets FROM junction")]
        pairs = [streets for streets in meeting if len(streets) == 2]
        crossings.extend((first, second) for first, second in chance.sample(pairs, 50))
    found = [bool(regions.crossing(first, second)) for first, second in crossings]
    return {
        "nearby_500_m": percentiles(time_each_ms([partial(regions.nearby, point, 500) for point in points])),
        "crossing": {
            "found": sum(found) / len(found),
            **percentiles(time_each_ms([partial(regions.crossing, *streets) for streets in crossings])),
        },
    }


def brute_force(sets: Sequence[Candidates], within_m: float) -> list[float]:
    """Return the spread in metres of the tightest triple around each candidate of the smallest set.

    Tries every pair of candidates of the other two sets.
    """
    ordered = sorted(sets, key=len)
    spots = [(one.lats, one.lons, one.keys[one.owner_of]) for one in ordered]
    (lats, lons, keys), one, two = spots
    apart = great_circle_km(one[0][:, None], one[1][:, None], two[0][None, :], two[1][None, :])
    apart[one[2][:, None] == two[2][None, :]] = np.inf
    best: dict[int, float] = {}
    for lat, lon, key in zip(lats, lons, keys, strict=True):
        to_one = np.where(one[2] == key, np.inf, great_circle_km(lat, lon, one[0], one[1]))
        to_two = np.where(two[2] == key, np.inf, great_circle_km(lat, lon, two[0], two[1]))
        near_one, near_two = np.flatnonzero(to_one * 1000 <= within_m), np.flatnonzero(to_two * 1000 <= within_m)
        if len(near_one) and len(near_two):
            pairs = np.maximum(to_one[near_one][:, None], to_two[near_two][None, :])
            tightest = float(np.maximum(pairs, apart[np.ix_(near_one, near_two)]).min()) * 1000
            if tightest <= within_m:
                best[int(key)] = min(tightest, best.get(int(key), np.inf))
    return sorted(best.values())


def measure_colocated(regions: Regions, extent: Box) -> dict[str, Any]:
    """Return latency of `colocated` for three features, the first time and later, and compare with brute force."""
    figures = {}
    for features in TRIPLES:
        first, *later = time_each_ms([partial(regions.colocated, features, 300, within=extent)] * 6)
        keys: dict[tuple[str, int | str], int] = {}
        opened = regions.store.open_all()
        expected = brute_force([resolve(regions.store, opened, feature, extent, keys) for feature in features], 300)
        found = [one.spread_m for one in regions.colocated(features, 300, within=extent, limit=1000)]
        figures[" + ".join(features)] = {
            "first_ms": first,
            "median_ms": statistics.median(later),
            "found": len(found),
            "equal_to_brute_force": len(found) == len(expected) and bool(np.allclose(found, expected, atol=1e-6)),
        }
    return figures


def measure(extracts: Sequence[Path], names: int) -> dict[str, Any]:
    """Return all figures of one run, with the machine they were taken on."""
    with TemporaryDirectory(prefix="geosleuth-bench-") as scratch:
        folder = Path(scratch)
        imports = [import_in_subprocess(extract, folder) for extract in extracts]
        regions = Regions(folder)
        last = imports[-1]["region"]
        figures = {
            "machine": {
                "arch": platform.machine(),
                "cpus": os.cpu_count(),
                "load": os.getloadavg()[0],
                "system": platform.system(),
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
            },
            "imports": imports,
            "search": measure_search(regions, names),
            **measure_nearby_and_crossing(regions),
            "colocated_in": last,
            "colocated": measure_colocated(Regions(folder, only=[last]), regions.store.info(last).extent),
        }
    figures["broken_promises"] = broken_promises(figures)
    return figures


def broken_promises(figures: dict[str, Any]) -> list[str]:
    """Return a line for each figure that misses its documented limit."""
    broken = []
    for one in figures["imports"]:
        limit_s = PROMISED_IMPORT_S.get(one["region"])
        if limit_s is not None and one["seconds"] > limit_s:
            broken.append(f"import of {one['region']}: {one['seconds']:.1f} s > {limit_s} s")
        if one["peak_resident_mb"] > PROMISED_RESIDENT_MB:
            broken.append(f"memory of {one['region']}: {one['peak_resident_mb']:.0f} MB > {PROMISED_RESIDENT_MB} MB")
    search = figures["search"]
    for name, least in (("top_1", PROMISED_TOP_1), ("top_5", PROMISED_TOP_5)):
        if search[name] < least:
            broken.append(f"misread names, {name}: {search[name]:.3f} < {least}")
    if search["p95_ms"] > PROMISED_SEARCH_P95_MS:
        broken.append(f"search p95: {search['p95_ms']:.1f} ms > {PROMISED_SEARCH_P95_MS} ms")
    for features, one in figures["colocated"].items():
        if not one["equal_to_brute_force"]:
            broken.append(f"colocated {features}: differs from brute force")
        if one["median_ms"] > PROMISED_COLOCATED_MS:
            broken.append(f"colocated {features}: {one['median_ms']:.0f} ms > {PROMISED_COLOCATED_MS} ms")
    return broken


def show(figures: dict[str, Any]) -> None:
    """Print the figures."""
    print("machine    ", ", ".join(f"{key} {value}" for key, value in figures["machine"].items()))
    for one in figures["imports"]:
        print(
            f"import      {one['region']}: {one['seconds']:.1f} s ({one['processor_seconds']:.1f} s of CPU), "
            f"{one['peak_resident_mb']:.0f} MB resident, {one['features']} features, {one['names']} names, "
            f"{one['input_mb']:.1f} MB to {one['file_mb']:.1f} MB"
        )
    search = figures["search"]
    print(
        f"search      {search['names']} misread names: top-1 {search['top_1']:.1%}, top-5 {search['top_5']:.1%}, "
        f"p50 {search['p50_ms']:.1f} ms, p95 {search['p95_ms']:.1f} ms "
        f"({search['processor_p95_ms']:.1f} ms of CPU)"
    )
    for label, name in (("nearby      within 500 m: ", "nearby_500_m"), ("crossing    ", "crossing")):
        print(label + ", ".join(f"{key} {value:.2f}" for key, value in figures[name].items()))
    for features, one in figures["colocated"].items():
        print(
            f"colocated   {features} within 300 m in {figures['colocated_in']}: "
            f"{one['median_ms']:.0f} ms, first time {one['first_ms']:.0f} ms, {one['found']} found, "
            f"{'equal' if one['equal_to_brute_force'] else 'NOT equal'} to brute force"
        )
    for line in figures["broken_promises"]:
        print("BROKEN     ", line)


def main() -> int:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extracts", nargs="*", type=Path)
    parser.add_argument("--names", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--import-one", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_one:
        print(json.dumps(import_one(*options.import_one)))
        return 0
    extracts = {region_name(None, path): path for path in (MONACO, *options.extracts)}
    figures = measure(list(extracts.values()), options.names)
    if options.json:
        print(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show(figures)
    return 1 if options.check and figures["broken_promises"] else 0


if __name__ == "__main__":
    sys.exit(main())
