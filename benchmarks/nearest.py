"""The index of the baseline ``nearest:`` against going through all rows: recall and speed.

Made-up features with the structure that those of photos have: clusters of clusters, and queries near rows. Queries come
one at a time, on one thread, as photos do. Run: python benchmarks/nearest.py [--rows 100000] [--width 512]
"""

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

from geosleuth.lab.baselines.nearest import Neighbours, recall  # noqa: E402
from geosleuth.photo.image_encoder import Features, unit_rows  # noqa: E402

NEIGHBOURS = 10


def made_up(rows: int, queries: int, width: int, seed: int) -> tuple[Features, Features]:
    """Rows around a thousand places that lie around thirty kinds of scenes, and queries near some of them."""
    chance = np.random.default_rng(seed)
    kinds = chance.normal(size=(30, width)).astype(np.float32)
    places = kinds[chance.integers(0, 30, 1000)] + 0.7 * chance.normal(size=(1000, width)).astype(np.float32)
    features = places[chance.integers(0, 1000, rows)] + 0.7 * chance.normal(size=(rows, width)).astype(np.float32)
    asked = features[chance.integers(0, rows, queries)] + 0.5 * chance.normal(size=(queries, width)).astype(np.float32)
    return unit_rows(features), unit_rows(asked)


def main() -> None:
    """Measure once and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--width", type=int, default=512)
    options.add_argument("--queries", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, {load}, Python {platform.python_version()}")
    features, asked = made_up(given.rows, given.queries, given.width, given.seed)
    print(f"{given.rows} rows of {given.width}, {given.queries} queries one at a time, {NEIGHBOURS} neighbours")
    with tempfile.TemporaryDirectory() as folder:
        exact, graph = Neighbours(features, "exact"), Neighbours(features, "usearch", Path(folder))
        begin = time.perf_counter()
        graph.search(asked[:1], NEIGHBOURS)
        print(f"graph built in {time.perf_counter() - begin:.1f} s")
        again = Neighbours(features, "usearch", Path(folder))
        begin = time.perf_counter()
        again.search(asked[:1], NEIGHBOURS)
        print(f"graph read again in {time.perf_counter() - begin:.1f} s")
        found = {}
        for name, way in (("exact", exact), ("usearch", graph)):
            way.search(asked[:1], NEIGHBOURS)
            begin = time.perf_counter()
            rows = [way.search(asked[number : number + 1], NEIGHBOURS)[0] for number in range(len(asked))]
            each_ms = (time.perf_counter() - begin) / len(asked) * 1000
            found[name] = np.concatenate(rows)
            right = recall(found[name], found["exact"])
            first = float(np.mean(found[name][:, 0] == found["exact"][:, 0]))
            print(f"{name:8} {each_ms:8.2f} ms a query   recall@{NEIGHBOURS} {right:.4f}   the nearest {first:.4f}")


if __name__ == "__main__":
    main()
