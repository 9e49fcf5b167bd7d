"""How fast distances are scored on one core, beside geopy in the same run.

    python benchmarks/distance.py [--pairs N] [--repeats N] [--json] [--check]

`--json` prints one JSON document and nothing else. `--check` exits with 1 where great-circle distances, alone
or with the counting at every threshold, are slower than the figure we promise, taking the best of the repeats.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# Set before numpy is loaded: one core is measured, so no library may bring a pool of threads.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402

from geosleuth.geo import THRESHOLDS_KM, FloatArray, geodesic_km, great_circle_km  # noqa: E402

PROMISED_PAIRS_PER_S = 5_000_000
SAMPLE = 5_000
Columns = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def random_pairs(n: int) -> Columns:
    """Pairs of places, spread evenly over the sphere."""
    rng = np.random.default_rng(20_260_101)

    def lats() -> FloatArray:
        return np.degrees(np.arcsin(rng.uniform(-1, 1, n)))

    return lats(), rng.uniform(-180, 180, n), lats(), rng.uniform(-180, 180, n)


def rate(job: Callable[[], object], pairs: int, repeats: int) -> dict[str, float]:
    """Pairs a second, the best and the median of the repeats, after one run to warm up."""
    job()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - begin)
    return {
        "pairs": pairs,
        "repeats": repeats,
        "best_pairs_per_s": pairs / min(seconds),
        "median_pairs_per_s": pairs / statistics.median(seconds),
    }


def score(columns: Columns) -> list[int]:
    """What a scorer does: distances, then how many lie within each threshold."""
    distances = great_circle_km(*columns)
    return [int(np.count_nonzero(distances <= km)) for km in THRESHOLDS_KM]


def beside_geopy(columns: Columns, repeats: int) -> dict[str, Any]:
    """The same sample through geopy, point by point as it works, on our sphere and on WGS-84."""
    from geopy import distance as geopy

    few: Columns = tuple(column[:SAMPLE] for column in columns)  # type: ignore[assignment]  # four stay four
    starts = list(zip(few[0].tolist(), few[1].tolist(), strict=True))
    ends = list(zip(few[2].tolist(), few[3].tolist(), strict=True))

    def on_sphere() -> list[float]:
        return [geopy.great_circle(a, b, radius=6371.0).km for a, b in zip(starts, ends, strict=True)]

    def on_ellipsoid() -> list[float]:
        return [geopy.geodesic(a, b).km for a, b in zip(starts, ends, strict=True)]

    return {
        "great_circle": rate(on_sphere, len(starts), repeats)
        | {"max_difference_m": float(np.abs(great_circle_km(*few) - on_sphere()).max() * 1000)},
        "geodesic": rate(on_ellipsoid, len(starts), min(repeats, 3))
        | {"max_difference_m": float(np.abs(geodesic_km(*few) - on_ellipsoid()).max() * 1000)},
    }


def measure(pairs: int, repeats: int) -> dict[str, Any]:
    """Every figure of one run, with the machine it was taken on."""
    cores = os.cpu_count()
    pinned_to = None
    if hasattr(os, "sched_setaffinity"):
        pinned_to = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {pinned_to})
    columns = random_pairs(pairs)
    few: Columns = tuple(column[: pairs // 10] for column in columns)  # type: ignore[assignment]  # four stay four
    ours = {
        "great_circle": rate(lambda: great_circle_km(*columns), pairs, repeats),
        "great_circle_and_thresholds": rate(lambda: score(columns), pairs, repeats),
        "geodesic": rate(lambda: geodesic_km(*few), len(few[0]), min(repeats, 3)),
    }
    theirs = beside_geopy(columns, min(repeats, 5))
    return {
        "machine": {
            "arch": platform.machine(),
            "cpus": cores,
            "pinned_to_cpu": pinned_to,
            "system": platform.system(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "geosleuth": ours,
        "geopy": theirs,
        "times_geopy": {name: ours[name]["median_pairs_per_s"] / theirs[name]["median_pairs_per_s"] for name in theirs},
        "promised_pairs_per_s": PROMISED_PAIRS_PER_S,
        "promise_kept": all(
            ours[name]["best_pairs_per_s"] >= PROMISED_PAIRS_PER_S
            for name in ("great_circle", "great_circle_and_thresholds")
        ),
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    pinned = "not pinned" if machine["pinned_to_cpu"] is None else f"pinned to CPU {machine['pinned_to_cpu']}"
    print(
        f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs, {pinned}; "
        f"Python {machine['python']}, numpy {machine['numpy']}"
    )
    print(f"{'M pairs/s':<40}{'best':>10}{'median':>10}{'pairs':>12}{'repeats':>9}")
    for library in ("geosleuth", "geopy"):
        for name, figures in result[library].items():
            best, median = figures["best_pairs_per_s"] / 1e6, figures["median_pairs_per_s"] / 1e6
            label = f"{library} {name.replace('_', ' ')}"
            print(f"{label:<40}{best:>10.3f}{median:>10.3f}{figures['pairs']:>12,}{figures['repeats']:>9}")
    for name, times in result["times_geopy"].items():
        off = result["geopy"][name]["max_difference_m"]
        print(
            f"{name.replace('_', ' ')}: {times:.0f} times geopy (medians); largest difference on its sample {off:.1e} m"
        )
    verdict = "kept" if result["promise_kept"] else "NOT kept"
    promised = result["promised_pairs_per_s"] / 1e6
    print(f"promise of {promised:g} M great-circle pairs/s, with and without thresholds (best): {verdict}")


def main() -> int:
    """Measure, print, and say by the exit code whether the promise was kept where that was asked."""
    parser = argparse.ArgumentParser(description="Distances scored per second on one core, beside geopy.")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promised speed is not reached")
    options = parser.parse_args()
    if options.pairs < SAMPLE or options.repeats < 1:
        parser.error(f"--pairs must be at least {SAMPLE} and --repeats at least 1")
    result = measure(options.pairs, options.repeats)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
