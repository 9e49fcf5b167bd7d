"""Compare the offline atlas with Nominatim 5 on the same extracts: hits, latency and CPU per query.

    python benchmarks/nominatim.py [EXTRACT.osm.pbf ...] [--queries N] [--json] [--check]

Without extracts, the bundled Monaco is measured. Each extract is imported into an atlas and into its own Nominatim.
Needs PostgreSQL, PostGIS and osm2pgsql (Debian: `apt-get install postgresql postgresql-postgis
postgresql-postgis-scripts osm2pgsql`); Nominatim is installed from PyPI into its own environment. If these can't be
had, the script says so and exits with 3.

Queries and ground truth come from the extract itself, not from either database:

- names: streets, shops, sights, stops and places;
- misread: such names with one to three OCR-like errors (benchmarks/regions.py);
- addresses: street and number, with the town if the extract has it;
- reverse: points up to 20 m from any of these.

After a warm-up with other queries, both get the same ones, return five results with addresses, and are limited to the
extract's area (the atlas knows the whole world, this Nominatim does not). Names and addresses go to the atlas's
geocoder, misread names to its fuzzy search.

The first result is right if it lies within 100 m of an object with that name or address. A reverse result is right if
the country matches and some returned place reaches to within 50 m of the point. CPU time covers the querying process
and, for Nominatim, all PostgreSQL processes; no web server is involved. Garbage is collected as in `geosleuth`
commands, and not among the data of this script, since Nominatim's process has none of it either. The ratio compares
CPU time per right answer ("no hit" if Nominatim has none). `--check` exits with 1 if the atlas has fewer hits or the
ratio is below 10.
"""

import argparse
import asyncio
import gc
import json
import math
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.regions import import_osm
from geosleuth.cli.entry import GC_THRESHOLDS
from geosleuth.geo import Box, Disc, Extent, LatLon
from geosleuth.names import fold

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from nominatim_server import Missing, Nominatim, nominatim_of
from regions import MONACO, misread

SUPPORT = Path(sys.path[0])
KINDS = ("names", "misread", "addresses", "reverse")
PROMISED_RATIO = 10.0
LIMIT = 5
_NEAR_KM = 0.1
_REACH_KM = 0.05
_BESIDE_DEG = 0.00018  # 20 m
_MAIN_KEYS = ("amenity", "shop", "tourism", "highway", "place", "leisure", "historic", "railway", "office")
_WARM_UP_QUERIES = 50
_LEAST_QUERIES = 10  # fewer say nothing: the kind is left out


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and the extents of the objects that answer it; for a point, the point itself."""

    asked: str | LatLon
    right: tuple[Extent, ...]
    is_misread: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One result, in the form in which both systems are judged."""

    point: LatLon
    extent: Extent
    country: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Answers:
    """The results of a set of queries, milliseconds of each, and CPU seconds of all."""

    found: Sequence[Sequence[Found]]
    ms: Sequence[float]
    cpu_s: float


@dataclass
class GroundTruth:
    """Extents of an extract's objects by folded name, by name to query, and by address."""

    by_folded_name: dict[str, list[Box]] = field(default_factory=dict)
    names: dict[str, list[Box]] = field(default_factory=dict)
    addresses: dict[str, list[Box]] = field(default_factory=dict)

    @property
    def bounds(self) -> Box:
        """Return the box around everything that is queried."""
        boxes = [box for boxes in (*self.names.values(), *self.addresses.values()) for box in boxes]
        souths, wests, norths, easts = zip(*map(astuple, boxes), strict=True)
        return Box(min(souths), min(wests), max(norths), max(easts))


def read_ground_truth(extract: Path) -> GroundTruth:
    """Read names and addresses from an extract."""
    import osmium

    truth = GroundTruth()
    for one in osmium.FileProcessor(str(extract)).with_areas().with_filter(osmium.filter.EmptyTagFilter()):
        if isinstance(one, osmium.osm.Node):
            spots = [(one.location.lat, one.location.lon)]
        elif isinstance(one, osmium.osm.Way):
            spots = [(node.location.lat, node.location.lon) for node in one.nodes if node.location.valid()]
        elif isinstance(one, osmium.osm.Area) and not one.from_way():
            spots = [(node.location.lat, node.location.lon) for ring in one.outer_rings() for node in ring]
        else:
            continue
        if spots:
            lats, lons = zip(*spots, strict=True)
            extent = Box(min(lats), min(lons), max(lats), max(lons))
            is_area = isinstance(one, osmium.osm.Area)
            _add_object(truth, {tag.k: tag.v for tag in one.tags}, extent, queried=not is_area)
    return truth


def _add_object(truth: GroundTruth, tags: dict[str, str], extent: Box, *, queried: bool) -> None:
    name, number, street = tags.get("name", ""), tags.get("addr:housenumber", ""), tags.get("addr:street", "")
    if name:
        truth.by_folded_name.setdefault(fold(name), []).append(extent)
    if queried and sum(letter.isalpha() for letter in name) >= 5 and any(key in tags for key in _MAIN_KEYS):
        truth.names.setdefault(name, []).append(extent)
    if number and street and not set(number) & set(",;-"):
        town = tags.get("addr:city")
        text = f"{street} {number}, {town}" if town else f"{street} {number}"
        truth.addresses.setdefault(text, []).append(extent)


def draw_queries(truth: GroundTruth, count: int, chance: random.Random) -> dict[str, list[Query]]:
    """Draw `count` queries of each kind, and some more for the warm-up."""

    def drawn(of: dict[str, list[Box]]) -> list[str]:
        texts = sorted(of)
        chance.shuffle(texts)
        return texts[: count + _WARM_UP_QUERIES]

    def objects_named(name: str) -> tuple[Extent, ...]:
        return tuple(truth.by_folded_name[fold(name)])

    def beside(extent: Extent) -> LatLon:
        middle = extent.centre
        return LatLon(*(at + chance.uniform(-1, 1) * _BESIDE_DEG for at in (middle.lat, middle.lon)))

    everything = {**truth.names, **truth.addresses}
    points = [beside(everything[text][0]) for text in drawn(everything)]
    return {
        "names": [Query(name, objects_named(name)) for name in drawn(truth.names)],
        "misread": [Query(misread(name, chance), objects_named(name), is_misread=True) for name in drawn(truth.names)],
        "addresses": [Query(text, tuple(truth.addresses[text])) for text in drawn(truth.addresses)],
        "reverse": [Query(point, (Disc(point, 0.0),)) for point in points],
    }


def split_warm_up(queries: Sequence[Query]) -> tuple[Sequence[Query], Sequence[Query]]:
    """Return the queries to warm up with, and those that count; extracts with few addresses have few of both."""
    cut = min(_WARM_UP_QUERIES, len(queries) // 5)
    return queries[:cut], queries[cut:]


def is_right(query: Query, found: Sequence[Found], country: str) -> bool:
    """Return whether the first result is right; for a point any may be, because the atlas lists its town first."""
    if isinstance(query.asked, LatLon):
        here = query.right[0]
        return any(one.country == country for one in found) and any(
            one.extent.distance_km(here) <= _REACH_KM for one in found
        )
    return bool(found) and any(one.distance_km(Disc(found[0].point, 0.0)) <= _NEAR_KM for one in query.right)


async def query_atlas(atlas: OfflineAtlas, query: Query, bounds: Box) -> list[Found]:
    """Return what the atlas finds for one query."""
    if isinstance(query.asked, LatLon):
        here = await atlas.reverse(query.asked)
        return [Found(one.place.point, one.place.extent, here.country, one.place.name) for one in here.places]
    if query.is_misread:
        hits = await atlas.search_pois(query.asked, limit=LIMIT, within=bounds)
    else:
        hits = await atlas.geocode(query.asked, limit=LIMIT, within=bounds)
    return [Found(one.place.point, one.place.extent, one.place.country, one.place.name) for one in hits]


def measure_atlas(atlas: OfflineAtlas, queries: Sequence[Query], bounds: Box) -> Answers:
    """Query the atlas in this process; the CPU time of its threads counts."""

    async def run_all() -> Answers:
        found, taken_ms = [], []
        cpu_begin = time.process_time()
        for query in queries:
            begin = time.perf_counter()
            found.append(await query_atlas(atlas, query, bounds))
            taken_ms.append(1000 * (time.perf_counter() - begin))
        return Answers(found, taken_ms, time.process_time() - cpu_begin)

    return asyncio.run(run_all())


@contextmanager
def nominatim_process(nominatim: Nominatim, bounds: Box) -> Iterator[Callable[[Sequence[Query]], Answers]]:
    """Run Nominatim's library in its own process, and yield a function that queries it; PostgreSQL's CPU counts."""
    command = [nominatim.python, SUPPORT / "nominatim_worker.py", nominatim.project]
    with subprocess.Popen(
        command, env=nominatim.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        stdin, stdout = process.stdin, process.stdout

        def query_all(queries: Sequence[Query]) -> Answers:
            plain = [one.asked if isinstance(one.asked, str) else [one.asked.lat, one.asked.lon] for one in queries]
            before = nominatim.postgres.seconds_used()
            stdin.write(json.dumps({"queries": plain, "limit": LIMIT, "box": astuple(bounds)}) + "\n")
            stdin.flush()
            reply = json.loads(stdout.readline())
            database_s = nominatim.postgres.seconds_used() - before
            found = [list(map(parse_result, results)) for results in reply["found"]]
            return Answers(found, reply["ms"], reply["cpu_s"] + database_s)

        yield query_all
        stdin.close()


def parse_result(result: dict[str, Any]) -> Found:
    """Convert a result of Nominatim's to the common form."""
    point = LatLon(*result["point"])
    extent = Box(*result["box"]) if result["box"] else Disc(point, 0.0)
    return Found(point, extent, (result["country"] or "").upper() or None, result["name"] or "")


def summarize(queries: Sequence[Query], answers: Answers, country: str) -> dict[str, Any]:
    """Return the share of hits, latency, CPU per query, and some of the misses."""
    right = [is_right(query, found, country) for query, found in zip(queries, answers.found, strict=True)]
    missed = [
        [str(query.asked), found[0].name if found else None]
        for query, found, hit in zip(queries, answers.found, right, strict=True)
        if not hit
    ]
    return {
        "queries": len(queries),
        "hits": sum(right) / len(queries),
        "p50_ms": statistics.median(answers.ms),
        "p95_ms": float(np.quantile(answers.ms, 0.95)),
        "cpu_ms": 1000 * answers.cpu_s / len(queries),
        "missed": missed[:15],
    }


def measure(extract: Path, count: int) -> dict[str, Any]:
    """Return all figures of one extract."""
    truth = read_ground_truth(extract)
    queries, bounds = draw_queries(truth, count, random.Random(20_261_117)), truth.bounds
    del truth
    # Nominatim runs in a process of its own: what this one holds besides the atlas must not slow down the atlas.
    gc.collect()
    gc.freeze()
    with TemporaryDirectory(prefix="geosleuth-bench-") as scratch, nominatim_of([]) as nominatim:
        warm: set[str] = set()
        cpu_begin = time.process_time()
        import_osm(extract, folder=Path(scratch))
        import_cpu_s = time.process_time() - cpu_begin
        imported = {"atlas_cpu_s": import_cpu_s, "nominatim_cpu_s": nominatim.import_extract(extract)}
        atlas = OfflineAtlas(Path(scratch))
        country = asyncio.run(atlas.reverse(queries["reverse"][0].right[0].centre)).country or ""
        figures = {}
        with nominatim_process(nominatim, bounds) as query_nominatim:
            for kind in KINDS * 2:  # the first round warms up all kinds, the second one counts
                warm_up, counted = split_warm_up(queries[kind])
                asked = counted if kind in warm else warm_up
                warm.add(kind)
                if len(counted) >= _LEAST_QUERIES:
                    figures[kind] = {
                        "atlas": summarize(asked, measure_atlas(atlas, asked, bounds), country),
                        "nominatim": summarize(asked, query_nominatim(asked), country),
                    }
    return {"extract": extract.name.partition(".")[0], "import": imported, "kinds": figures}


def ratio(*kinds: dict[str, Any]) -> float:
    """Return Nominatim's CPU time per right answer over the atlas's.

    Infinite if Nominatim has no right answer, 0 if the atlas has none.
    """
    (nominatim_ms, nominatim_hits), (atlas_ms, atlas_hits) = (
        (sum(kind[system]["cpu_ms"] for kind in kinds), sum(kind[system]["hits"] for kind in kinds))
        for system in ("nominatim", "atlas")
    )
    if not nominatim_hits or not atlas_hits:
        return math.inf if atlas_hits else 0.0
    return float(nominatim_ms / nominatim_hits / (atlas_ms / atlas_hits))


def format_ratio(value: float) -> str:
    """Format a ratio; an infinite one is common, because Nominatim finds hardly any misread name."""
    return "no hit" if math.isinf(value) else f"{value:.1f}x"


def broken_promises(measured: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line wherever the atlas has fewer hits, or needs more than a tenth of Nominatim's CPU time."""
    broken = []
    for one in measured:
        for kind, figures in one["kinds"].items():
            where = f"{one['extract']}, {kind}"
            atlas_hits, nominatim_hits = figures["atlas"]["hits"], figures["nominatim"]["hits"]
            if atlas_hits < nominatim_hits:
                broken.append(f"{where}: {atlas_hits:.1%} hits, Nominatim has {nominatim_hits:.1%}")
            if ratio(figures) < PROMISED_RATIO:
                broken.append(
                    f"{where}: Nominatim needs {ratio(figures):.1f} times our CPU per answer, not {PROMISED_RATIO:g}"
                )
    return broken


def show(measured: Sequence[dict[str, Any]]) -> None:
    """Print the figures side by side."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; the atlas / Nominatim")
    print(f"{'':24}{'hits %':>15}{'p50 ms':>15}{'p95 ms':>15}{'CPU ms a query':>18}{'ratio':>9}")
    for one in measured:
        for kind, figures in one["kinds"].items():
            atlas, nominatim = figures["atlas"], figures["nominatim"]
            cells = [
                f"{100 * atlas['hits']:.1f} / {100 * nominatim['hits']:.1f}",
                *(f"{atlas[part]:.1f} / {nominatim[part]:.1f}" for part in ("p50_ms", "p95_ms")),
                f"{atlas['cpu_ms']:.2f} / {nominatim['cpu_ms']:.2f}",
            ]
            widths = (15, 15, 15, 18)
            row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            print(f"{one['extract'] + ', ' + kind:24}{row}{format_ratio(ratio(figures)):>9}")
        imported = one["import"]
        print(
            f"{one['extract']}: import {imported['atlas_cpu_s']:.0f} / {imported['nominatim_cpu_s']:.0f} s of CPU; "
            f"all kinds together {format_ratio(ratio(*one['kinds'].values()))}"
        )


def main() -> int:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extracts", nargs="*", type=Path)
    parser.add_argument("--queries", type=int, default=300, help="of each kind")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no database is left running
    gc.set_threshold(*GC_THRESHOLDS)  # as every `geosleuth` command does
    ensure_base()
    try:
        measured = [measure(extract, options.queries) for extract in options.extracts or [MONACO]]
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 3
    broken = broken_promises(measured)
    if options.json:
        print(json.dumps({"measured": measured, "broken_promises": broken}, indent=2, ensure_ascii=False))
    else:
        show(measured)
        for line in broken:
            print("BROKEN", line)
    return int(options.check and bool(broken))


if __name__ == "__main__":
    sys.exit(main())
