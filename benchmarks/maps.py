"""How long a map of 640 x 640 takes, PNG included.

    python benchmarks/maps.py [--region FILE.osm.pbf LAT LON] [--repeats N] [--json] [--check]

Each view is drawn from a region file alone: a made-up town with a dense net of streets, the extract under
``examples/regions`` where it is there, and the one given by `--region`. "Cold" is the first map of a fresh process,
imports and fonts included; "warm" is the median and the best of the repeats after one that warms up, each a few pixels
further on, so that nothing drawn before can be used again. CPU time stands beside the time on the clock: a map is drawn
by one thread that waits for nothing, so the two differ only where other programs want the core. `--check` exits with 1
where the median CPU time of a view at zoom 15 to 17 is over the figure we promise.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

PROMISED_MS = 300.0
ZOOMS = (13.0, 15.0, 16.0, 17.0)
EXAMPLES = Path(__file__).parents[1] / "examples/regions"
CHILD = """
import sys, time
begin = time.perf_counter()
from pathlib import Path
from geosleuth.atlas.maps import MapSources, draw_map
from geosleuth.geo import LatLon
draw_map(MapSources([Path(sys.argv[1])]), LatLon(float(sys.argv[2]), float(sys.argv[3])), float(sys.argv[4]))
print((time.perf_counter() - begin) * 1000)
"""

View = tuple[str, Path, float, float]


def made_up_town(folder: Path) -> Path:
    """Houses with courtyards, streets, paths, parks and shops, packed more densely than in most towns."""
    import numpy as np
    import shapely

    from geosleuth.atlas.regions.region_file import Layer, region_path
    from geosleuth.atlas.regions.region_writer import FeatureRow, open_writer

    rng = np.random.default_rng(7)
    step, half = 0.0006, 24
    shapes: list[tuple[Layer, int, str | None, Any]] = []
    features: list[tuple[str, float, float]] = []
    for i in range(-half, half):
        rank = 3 if i % 8 == 0 else 6
        xs = np.linspace(-half * step, half * step, 60)
        wave = np.cumsum(rng.normal(0, 2e-6, 60)) + i * step
        shapes.append(("road", rank, f"Street {i + half}", shapely.LineString(np.column_stack([xs, wave]))))
        shapes.append(("road", rank, f"Avenue {i + half}", shapely.LineString(np.column_stack([wave, xs]))))
        for j in range(-half, half):
            x, y = i * step, j * step
            house = shapely.box(x + 1e-4, y + 1e-4, x + 5e-4, y + 5e-4)
            if (i + j) % 7 == 0:
                shapes.append(("green", 1, f"Park {i} {j}", house))
                shapes.append(("road", 8, None, shapely.LineString([(x, y), (x + step, y + step)])))
            else:
                shapes.append(("building", 1, None, house - shapely.box(x + 2e-4, y + 2e-4, x + 4e-4, y + 4e-4)))
                features.append((f"Shop {i} {j}", y + 3e-4, x + 3e-4))
    with open_writer(folder, "town") as writer:
        for shape in shapes:
            writer.add_shape(*shape)
        for number, (name, lat, lon) in enumerate(features):
            at = (lat, lon)
            writer.add_feature(FeatureRow(f"n{number}", name, "shop=books", at, (*at, *at), 0.5, None, "{}", []), {})
        writer.finish({"bbox": "-1,-1,1,1", "attribution": "made up"})
    return region_path(folder, "town")


def imported(extract: Path, folder: Path) -> tuple[Path, float, float]:
    """A region file made from an extract, and the middle of it."""
    from geosleuth.atlas.regions import import_osm

    info = import_osm(extract, folder=folder)
    middle = info.extent.centre
    return info.path, middle.lat, middle.lon


def measure(view: View, zoom: float, repeats: int) -> dict[str, Any]:
    """Cold in a process of its own, then warm in this one."""
    from geosleuth.atlas.maps import MapSources, draw_map
    from geosleuth.geo import LatLon

    name, path, lat, lon = view
    command = [sys.executable, "-c", CHILD, str(path), str(lat), str(lon), str(zoom)]
    cold = subprocess.run(command, check=True, capture_output=True, text=True)
    sources = MapSources([path])
    clock, cpu, size = [], [], 0
    for number in range(repeats + 1):
        shifted = LatLon(lat, lon + number * 30 / 2**zoom)
        begin, begin_cpu = time.perf_counter(), time.process_time()
        size = len(draw_map(sources, shifted, zoom).png)
        clock.append((time.perf_counter() - begin) * 1000)
        cpu.append((time.process_time() - begin_cpu) * 1000)
    return {
        "view": name,
        "zoom": zoom,
        "cold_ms": float(cold.stdout),
        "warm_best_ms": min(clock[1:]),
        "warm_median_ms": statistics.median(clock[1:]),
        "warm_median_cpu_ms": statistics.median(cpu[1:]),
        "png_bytes": size,
    }


def run(extra: tuple[str, float, float] | None, repeats: int) -> dict[str, Any]:
    """Every view at every zoom, with the machine."""
    import PIL

    cores = os.cpu_count()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        views: list[View] = [("made-up town", made_up_town(folder), 0.0, 0.0)]
        views += [(extract.name, *imported(extract, folder)) for extract in sorted(EXAMPLES.glob("*.osm.pbf"))]
        if extra:
            path, _, _ = imported(Path(extra[0]), folder)
            views.append((Path(extra[0]).name, path, extra[1], extra[2]))
        figures = [measure(view, zoom, repeats) for view in views for zoom in ZOOMS]
    promised = [figure for figure in figures if 15 <= figure["zoom"] <= 17]
    return {
        "machine": {
            "arch": platform.machine(),
            "cpus": cores,
            "system": platform.system(),
            "python": platform.python_version(),
            "pillow": PIL.__version__,
            "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        },
        "maps": figures,
        "promised_ms": PROMISED_MS,
        "promise_kept": all(figure["warm_median_cpu_ms"] <= PROMISED_MS for figure in promised),
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(
        f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs, one used, load {machine['load']}; "
        f"Python {machine['python']}, Pillow {machine['pillow']}"
    )
    print(f"{'640 x 640, ms':<28}{'zoom':>6}{'cold':>8}{'best':>8}{'median':>8}{'CPU':>8}{'PNG kB':>8}")
    for figure in result["maps"]:
        times = (figure[key] for key in ("cold_ms", "warm_best_ms", "warm_median_ms", "warm_median_cpu_ms"))
        columns = "".join(f"{value:>8.0f}" for value in (*times, figure["png_bytes"] / 1000))
        print(f"{figure['view']:<28}{figure['zoom']:>6g}{columns}")
    verdict = "kept" if result["promise_kept"] else "NOT kept"
    print(f"promise of {result['promised_ms']:g} ms warm at zoom 15 to 17 (CPU): {verdict}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promise was kept where that was asked."""
    parser = argparse.ArgumentParser(description="Milliseconds a map takes on one core.")
    parser.add_argument("--region", nargs=3, metavar=("PBF", "LAT", "LON"), help="one more extract and a point in it")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promised speed is not reached")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    extra = (options.region[0], float(options.region[1]), float(options.region[2])) if options.region else None
    result = run(extra, options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
