"""The offline atlas beside Nominatim 5 on the same extracts: hits, p50, p95 and CPU for each query.

    python benchmarks/nominatim.py [EXTRACT.osm.pbf ...] [--queries N] [--json] [--check]

Without extracts the bundled Monaco is measured. Every extract is imported into an atlas and into a Nominatim of its
own. Needs PostgreSQL, PostGIS and osm2pgsql (Debian: `apt-get install postgresql postgresql-postgis
postgresql-postgis-scripts osm2pgsql`); Nominatim is installed from PyPI into an environment of its own. Where they are
not to be had, the script says so and ends with 3.

Queries and truths are read from the extract itself, and from neither database:

- names: the name of a street, a shop, a sight, a stop or a place;
- misread: such names with one to three errors as text reading makes them (benchmarks/regions.py);
- addresses: street and number, with the town where the extract has it;
- reverse: points up to 20 m beside any of these.

Both get the same queries after a warm-up with others, give five results with addresses, and look inside the extract
alone (the atlas knows the world, this Nominatim does not). Names and addresses go to the atlas's geocoder, misread
names to its search, which forgives. A first result is right
where it lies within 100 m of an object of that name or address; at a point, where country and nearest place are right:
it reaches to within 50 m of the point. CPU is that of the asking process and, for Nominatim, of all PostgreSQL's
processes; there is no web server between. The ratio is that of CPU for each right answer, "no hit" where Nominatim has
none. `--check` exits with 1 where the atlas has fewer hits, or the ratio is below 10.
"""

import argparse
import asyncio
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
_WARM_UP = 50
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and the objects of which one must be found; for a point, the point itself."""

    asked: str | LatLon
    right: tuple[Extent, ...]
    is_misread: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A result as it is judged."""

    point: LatLon
    extent: Extent
    country: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a set of queries."""

    found: Sequence[Sequence[Found]]
    ms: Sequence[float]
    cpu_s: float


@dataclass
class Truths:
    """Objects of an extract: all that bear a name, the names to ask for, and addresses."""

    bearers: dict[str, list[Box]] = field(default_factory=dict)
    names: dict[str, list[Box]] = field(default_factory=dict)
    addresses: dict[str, list[Box]] = field(default_factory=dict)

    @property
    def ground(self) -> Box:
        """The box around all that is asked for."""
        boxes = [box for boxes in (*self.names.values(), *self.addresses.values()) for box in boxes]
        souths, wests, norths, easts = zip(*map(astuple, boxes), strict=True)
        return Box(min(souths), min(wests), max(norths), max(easts))


def truths_of(extract: Path) -> Truths:
    """Read names and addresses from an extract."""
    import osmium

    found = Truths()
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
            _note(found, {tag.k: tag.v for tag in one.tags}, extent, asked=not isinstance(one, osmium.osm.Area))
    return found


def _note(found: Truths, tags: dict[str, str], extent: Box, *, asked: bool) -> None:
    name, number, street = tags.get("name", ""), tags.get("addr:housenumber", ""), tags.get("addr:street", "")
    if name:
        found.bearers.setdefault(fold(name), []).append(extent)
    if asked and sum(letter.isalpha() for letter in name) >= 5 and any(key in tags for key in _MAIN_KEYS):
        found.names.setdefault(name, []).append(extent)
    if number and street and not set(number) & set(",;-"):
        town = tags.get("addr:city")
        text = f"{street} {number}, {town}" if town else f"{street} {number}"
        found.addresses.setdefault(text, []).append(extent)


def queries_of(truths: Truths, count: int, chance: random.Random) -> dict[str, list[Query]]:
    """So many queries of each kind, and some more to warm up with."""

    def drawn(of: dict[str, list[Box]]) -> list[str]:
        texts = sorted(of)
        chance.shuffle(texts)
        return texts[: count + _WARM_UP]

    def bearers(name: str) -> tuple[Extent, ...]:
        return tuple(truths.bearers[fold(name)])

    def beside(extent: Extent) -> LatLon:
        middle = extent.centre
        return LatLon(*(at + chance.uniform(-1, 1) * _BESIDE_DEG for at in (middle.lat, middle.lon)))

    everything = {**truths.names, **truths.addresses}
    points = [beside(everything[text][0]) for text in drawn(everything)]
    return {
        "names": [Query(name, bearers(name)) for name in drawn(truths.names)],
        "misread": [Query(misread(name, chance), bearers(name), is_misread=True) for name in drawn(truths.names)],
        "addresses": [Query(text, tuple(truths.addresses[text])) for text in drawn(truths.addresses)],
        "reverse": [Query(point, (Disc(point, 0.0),)) for point in points],
    }


def parted(queries: Sequence[Query]) -> tuple[Sequence[Query], Sequence[Query]]:
    """Those to warm up with, and those that count; extracts with few addresses have few of both."""
    cut = min(_WARM_UP, len(queries) // 5)
    return queries[:cut], queries[cut:]


def is_right(query: Query, found: Sequence[Found], country: str) -> bool:
    """Whether the first result is right; at a point the nearest one counts, since an atlas names its town first."""
    if isinstance(query.asked, LatLon):
        here = query.right[0]
        return any(one.country == country for one in found) and any(
            one.extent.distance_km(here) <= _REACH_KM for one in found
        )
    return bool(found) and any(one.distance_km(Disc(found[0].point, 0.0)) <= _NEAR_KM for one in query.right)


async def ask_atlas(atlas: OfflineAtlas, query: Query, ground: Box) -> list[Found]:
    """What the atlas finds."""
    if isinstance(query.asked, LatLon):
        here = await atlas.reverse(query.asked)
        return [Found(one.place.point, one.place.extent, here.country, one.place.name) for one in here.places]
    if query.is_misread:
        hits = await atlas.search_pois(query.asked, limit=LIMIT, within=ground)
    else:
        hits = await atlas.geocode(query.asked, limit=LIMIT, within=ground)
    return [Found(one.place.point, one.place.extent, one.place.country, one.place.name) for one in hits]


def measure_atlas(atlas: OfflineAtlas, queries: Sequence[Query], ground: Box) -> Asked:
    """Ask the atlas in this process; its threads' CPU counts."""

    async def go() -> Asked:
        found, taken = [], []
        busy = time.process_time()
        for query in queries:
            begin = time.perf_counter()
            found.append(await ask_atlas(atlas, query, ground))
            taken.append(1000 * (time.perf_counter() - begin))
        return Asked(found, taken, time.process_time() - busy)

    return asyncio.run(go())


@contextmanager
def library_of(nominatim: Nominatim, ground: Box) -> Iterator[Callable[[Sequence[Query]], Asked]]:
    """Ask Nominatim's library in a process of its own; PostgreSQL's CPU counts."""
    command = [nominatim.python, SUPPORT / "nominatim_asked.py", nominatim.project]
    with subprocess.Popen(
        command, env=nominatim.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        stdin, stdout = process.stdin, process.stdout

        def ask(queries: Sequence[Query]) -> Asked:
            plain = [one.asked if isinstance(one.asked, str) else [one.asked.lat, one.asked.lon] for one in queries]
            before = nominatim.postgres.seconds_used()
            stdin.write(json.dumps({"queries": plain, "limit": LIMIT, "box": astuple(ground)}) + "\n")
            stdin.flush()
            told = json.loads(stdout.readline())
            in_database = nominatim.postgres.seconds_used() - before
            return Asked([list(map(found_of, one)) for one in told["found"]], told["ms"], told["cpu_s"] + in_database)

        yield ask
        stdin.close()


def found_of(told: dict[str, Any]) -> Found:
    """A result of Nominatim's as it is judged."""
    point = LatLon(*told["point"])
    extent = Box(*told["box"]) if told["box"] else Disc(point, 0.0)
    return Found(point, extent, (told["country"] or "").upper() or None, told["name"] or "")


def figures_of(queries: Sequence[Query], asked: Asked, country: str) -> dict[str, Any]:
    """Hits, times, CPU, and some of what was missed."""
    right = [is_right(query, found, country) for query, found in zip(queries, asked.found, strict=True)]
    missed = [
        [str(query.asked), found[0].name if found else None]
        for query, found, fine in zip(queries, asked.found, right, strict=True)
        if not fine
    ]
    return {
        "queries": len(queries),
        "hits": sum(right) / len(queries),
        "p50_ms": statistics.median(asked.ms),
        "p95_ms": float(np.quantile(asked.ms, 0.95)),
        "cpu_ms": 1000 * asked.cpu_s / len(queries),
        "missed": missed[:15],
    }


def measure(extract: Path, count: int) -> dict[str, Any]:
    """Every figure of one extract."""
    truths = truths_of(extract)
    queries, ground = queries_of(truths, count, random.Random(20_261_117)), truths.ground
    with TemporaryDirectory(prefix="geosleuth-bench-") as scratch, nominatim_of([]) as nominatim:
        warm: set[str] = set()
        busy = time.process_time()
        import_osm(extract, folder=Path(scratch))
        imported = {"atlas_cpu_s": time.process_time() - busy, "nominatim_cpu_s": nominatim.import_extract(extract)}
        atlas = OfflineAtlas(Path(scratch))
        country = asyncio.run(atlas.reverse(queries["reverse"][0].right[0].centre)).country or ""
        figures = {}
        with library_of(nominatim, ground) as ask_nominatim:
            for kind in KINDS * 2:  # first to warm up, for all kinds; then for all to count
                warm_up, counted = parted(queries[kind])
                asked = counted if kind in warm else warm_up
                warm.add(kind)
                if len(counted) >= _FEWEST:
                    figures[kind] = {
                        "atlas": figures_of(asked, measure_atlas(atlas, asked, ground), country),
                        "nominatim": figures_of(asked, ask_nominatim(asked), country),
                    }
    return {"extract": extract.name.partition(".")[0], "import": imported, "kinds": figures}


def ratio(*kinds: dict[str, Any]) -> float:
    """How many times our CPU Nominatim needs for a right answer; infinite where it has none, 0 where we have none."""
    (nominatim_ms, nominatim_hits), (atlas_ms, atlas_hits) = (
        (sum(one[who]["cpu_ms"] for one in kinds), sum(one[who]["hits"] for one in kinds))
        for who in ("nominatim", "atlas")
    )
    if not nominatim_hits or not atlas_hits:
        return math.inf if atlas_hits else 0.0
    return float(nominatim_ms / nominatim_hits / (atlas_ms / atlas_hits))


def told_ratio(times: float) -> str:
    """A ratio as it is shown; Nominatim finds hardly any name that was misread."""
    return "no hit" if math.isinf(times) else f"{times:.1f}x"


def broken_promises(measured: Sequence[dict[str, Any]]) -> list[str]:
    """Where the atlas finds less, or needs more than a tenth of the CPU."""
    broken = []
    for one in measured:
        for kind, two in one["kinds"].items():
            where = f"{one['extract']}, {kind}"
            if two["atlas"]["hits"] < two["nominatim"]["hits"]:
                broken.append(f"{where}: {two['atlas']['hits']:.1%} hits, Nominatim has {two['nominatim']['hits']:.1%}")
            if ratio(two) < PROMISED_RATIO:
                broken.append(
                    f"{where}: Nominatim needs {ratio(two):.1f} times our CPU for an answer, not {PROMISED_RATIO:g}"
                )
    return broken


def show(measured: Sequence[dict[str, Any]]) -> None:
    """The figures side by side."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; the atlas / Nominatim")
    print(f"{'':24}{'hits %':>15}{'p50 ms':>15}{'p95 ms':>15}{'CPU ms a query':>18}{'ratio':>9}")
    for one in measured:
        for kind, two in one["kinds"].items():
            cells = [
                f"{100 * two['atlas']['hits']:.1f} / {100 * two['nominatim']['hits']:.1f}",
                *(f"{two['atlas'][part]:.1f} / {two['nominatim'][part]:.1f}" for part in ("p50_ms", "p95_ms")),
                f"{two['atlas']['cpu_ms']:.2f} / {two['nominatim']['cpu_ms']:.2f}",
            ]
            widths = (15, 15, 15, 18)
            row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            print(f"{one['extract'] + ', ' + kind:24}{row}{told_ratio(ratio(two)):>9}")
        taken = one["import"]
        print(
            f"{one['extract']}: import {taken['atlas_cpu_s']:.0f} / {taken['nominatim_cpu_s']:.0f} s of CPU; "
            f"all kinds together {told_ratio(ratio(*one['kinds'].values()))}"
        )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extracts", nargs="*", type=Path)
    parser.add_argument("--queries", type=int, default=300, help="of each kind")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no database is left running
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
