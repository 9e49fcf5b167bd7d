"""Measure the error of `geosleuth clues resection`, and how often its 90 % area holds the true place.

    python benchmarks/resection.py EXTRACT.osm.pbf... [--cases 200] [--seed 7] [--check] [--json]

Cases are synthetic, drawn from the named features (amenities, shops, sights, churches, towers, peaks) of OpenStreetMap
extracts. The camera stands 30 to 300 m from a random feature and looks in a random direction; its picture is 70
degrees wide. Features in the picture and within range are marked, at least 5 degrees apart; occlusion is ignored. The
bearing of each column has a normal error of 1 degree. Rows differ in range, number and choice of features, and in what
is known:

- any: features drawn at random; spread: the leftmost, the rightmost, and the nearest ones between them;
- peaks: 5 to 50 km away, from anywhere in the extracts;
- fov: field of view "known", or "solved" from the columns;
- wrong: one column is attributed to a wrong feature, at least 10 degrees away from the right one. The two figures say
  how often it is named among the suspects, and how often as the only one.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import osmium

from geosleuth.geo import (
    ColumnSighting,
    FieldOfView,
    LatLon,
    Resection,
    Unsolvable,
    bearings_deg,
    compute_column,
    destination,
    distance_km,
    distances_km,
    resect,
)
from geosleuth.lab.score.metrics import wilson

FOV_DEG = 70.0
NOISE_DEG = 1.0
MIN_SEPARATION_DEG = 5.0
MIN_WRONG_DEG = 10.0
WITHIN_M = 30.0
KINDS = ("amenity", "shop", "tourism", "historic", "man_made", "natural")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One row of the table: which features are marked, and what is known."""

    name: str
    features: int
    range_km: tuple[float, float]
    spread: bool = True
    fov_known: bool = True
    wrong: bool = False
    peaks: bool = False


NEAR, TOWN, FAR = (0.02, 0.3), (0.02, 1.0), (5.0, 50.0)
ROWS = (
    Row("within 300 m, spread", 3, NEAR),
    Row("within 300 m, any", 3, NEAR, spread=False),
    Row("within 300 m, spread", 4, NEAR),
    Row("within 300 m, spread", 5, NEAR),
    Row("within 300 m, spread", 5, NEAR, wrong=True),
    Row("within 300 m, spread", 4, NEAR, fov_known=False),
    Row("within 300 m, spread", 6, NEAR, fov_known=False),
    Row("within 300 m, spread", 6, NEAR, fov_known=False, wrong=True),
    Row("within 1 km, any", 3, TOWN, spread=False),
    Row("within 1 km, any", 5, TOWN, spread=False),
    Row("peaks, 5 to 50 km", 3, FAR, peaks=True),
    Row("peaks, 5 to 50 km", 5, FAR, peaks=True),
)


@dataclass(frozen=True)
class Features:
    """The named features of one extract, as columns."""

    lats: Floats
    lons: Floats
    peaks: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """A camera, the sightings in its picture, and the index of the wrong one."""

    camera: LatLon
    heading_deg: float
    sightings: tuple[ColumnSighting, ...]
    wrong: int | None


@dataclass(frozen=True)
class Outcome:
    """The result of one case."""

    error_m: float
    radius_m: float
    inside: bool
    heading_off_deg: float
    named_wrong: bool | None
    named_alone: bool
    danger: bool


def read_features(path: Path) -> Features:
    """Read the named features of an extract; a way lies at the mean of its nodes."""
    rows: list[tuple[float, float, bool]] = []
    for item in osmium.FileProcessor(path).with_locations():
        if "name" not in item.tags or not any(kind in item.tags for kind in KINDS):
            continue
        if isinstance(item, osmium.osm.Node):
            rows.append((item.lat, item.lon, item.tags.get("natural") == "peak"))
        elif isinstance(item, osmium.osm.Way):
            nodes = [(node.lat, node.lon) for node in item.nodes if node.location.valid()]
            if nodes:
                lat, lon = np.mean(nodes, axis=0).tolist()
                rows.append((lat, lon, False))
    lats, lons, peaks = zip(*rows, strict=True)
    return Features(np.array(lats), np.array(lons), np.array(peaks))


def draw_case(features: Features, row: Row, chance: np.random.Generator) -> Case | None:
    """Draw a camera and its sightings; None if too few features can be seen from there."""
    usable = features.peaks if row.peaks else np.ones(len(features.lats), dtype=bool)
    lats, lons = features.lats[usable], features.lons[usable]
    if not len(lats):
        return None
    at = int(chance.integers(len(features.lats)))
    beside = LatLon(float(features.lats[at]), float(features.lons[at]))
    camera = destination(beside, chance.uniform(0, 360), chance.uniform(0.03, 0.3), "geodesic")
    heading = chance.uniform(0, 360)
    away_km = distances_km(camera.lat, camera.lon, lats, lons, "geodesic")
    offsets = (bearings_deg(camera.lat, camera.lon, lats, lons, "geodesic") - heading + 180) % 360 - 180
    near_km, far_km = row.range_km
    seen = np.flatnonzero((np.abs(offsets) < FOV_DEG / 2 - 1) & (away_km >= near_km) & (away_km <= far_km))
    order = chance.permutation(seen)
    if row.spread:
        order = seen[np.argsort(away_km[seen])]
        if len(seen):
            ends = [seen[int(np.argmin(offsets[seen]))], seen[int(np.argmax(offsets[seen]))]]
            order = np.array([*ends, *(index for index in order if index not in ends)])
    chosen: list[int] = []
    for index in order.tolist():
        if all(abs(offsets[index] - offsets[other]) >= MIN_SEPARATION_DEG for other in chosen):
            chosen.append(index)
        if len(chosen) == row.features:
            break
    if len(chosen) < row.features:
        return None
    columns = [compute_column(float(offsets[index]) + chance.normal(0, NOISE_DEG), FOV_DEG) for index in chosen]
    wrong = None
    if row.wrong:
        wrong = int(chance.integers(row.features))
        others = [int(index) for index in seen if abs(offsets[index] - offsets[chosen[wrong]]) >= MIN_WRONG_DEG]
        if not others:
            return None
        chosen[wrong] = int(chance.choice(others))
    sightings = [
        ColumnSighting(LatLon(float(lats[index]), float(lons[index])), min(1.0, max(0.0, column)), NOISE_DEG)
        for index, column in zip(chosen, columns, strict=True)
    ]
    return Case(camera, heading, tuple(sightings), wrong)


def draw_cases(extracts: Sequence[Features], row: Row, count: int, seed: int) -> Iterator[Case]:
    """Yield up to `count` cases, from each extract in turn; a case with too few features is redrawn."""
    chance = np.random.default_rng([seed, ROWS.index(row)])
    made, tries = 0, 0
    while made < count and tries < 400 * count:
        case = draw_case(extracts[tries % len(extracts)], row, chance)
        tries += 1
        if case is not None:
            made += 1
            yield case


def solve(case: Case, row: Row) -> Outcome | None:
    """Solve one case; None if no place fits."""
    try:
        found: Resection = resect(case.sightings, FieldOfView(FOV_DEG) if row.fov_known else None)
    except Unsolvable:
        return None
    best = found.poses[0]
    return Outcome(
        error_m=1000 * distance_km(case.camera, best.point, "geodesic"),
        radius_m=1000 * found.radius_km,
        inside=found.area.contains(case.camera),
        heading_off_deg=abs((best.heading_deg - case.heading_deg + 180) % 360 - 180),
        named_wrong=None if case.wrong is None else case.wrong in found.misfits,
        named_alone=found.misfits == (case.wrong,),
        danger=found.danger_circle,
    )


def measure(extracts: Sequence[Features], row: Row, count: int, seed: int) -> dict[str, object]:
    """Solve all cases of a row and return its figures."""
    cpu_begin, outcomes, distances_m = time.process_time(), [], []
    for case in draw_cases(extracts, row, count, seed):
        away_m = [1000 * distance_km(case.camera, sighting.point, "geodesic") for sighting in case.sightings]
        distances_m.append(float(np.median(away_m)))
        outcomes.append(solve(case, row))
    solved = [one for one in outcomes if one is not None]
    errors = [math.inf if one is None else one.error_m for one in outcomes]
    inside = wilson(sum(one.inside for one in solved), len(outcomes))
    safe = [one.error_m for one in solved if not one.danger]
    return {
        "row": row.name,
        "features": row.features,
        "fov": "known" if row.fov_known else "solved",
        "wrong": row.wrong,
        "cases": len(outcomes),
        "failed": len(outcomes) - len(solved),
        "feature_m": round(float(np.median(distances_m))),
        "median_m": round(float(np.median(errors)), 1),
        "p90_m": round(float(np.quantile([one.error_m for one in solved], 0.9)), 1),
        "within_30_m": round(sum(error <= WITHIN_M for error in errors) / len(errors), 3),
        "inside": round(inside.value, 3),
        "inside_interval": [round(inside.low, 3), round(inside.high, 3)],
        "radius_m": round(float(np.median([one.radius_m for one in solved]))),
        "heading_off_deg": round(float(np.median([one.heading_off_deg for one in solved])), 2),
        "danger_circle": round(sum(one.danger for one in solved) / len(solved), 3),
        "median_off_circle_m": round(float(np.median(safe)), 1) if safe else None,
        "wrong_named": round(float(np.mean([bool(one.named_wrong) for one in solved])), 3) if row.wrong else None,
        "wrong_named_alone": round(float(np.mean([one.named_alone for one in solved])), 3) if row.wrong else None,
        "cpu_s": round((time.process_time() - cpu_begin) / len(outcomes), 3),
    }


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extracts", nargs="*", type=Path, default=[Path("examples/regions/monaco.osm.pbf")])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rows", help="only these rows of the table, counted from 1, such as 1,2,3")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a row misses its target")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    extracts = [read_features(path) for path in given.extracts]
    rows = [ROWS[int(number) - 1] for number in given.rows.split(",")] if given.rows else ROWS
    if not any(features.peaks.any() for features in extracts):
        rows = [row for row in rows if not row.peaks]
    if not given.json:
        names = ", ".join(path.name.split(".")[0] for path in given.extracts)
        print(f"{names}; {given.cases} cases a row, seed {given.seed}; {platform.machine()}, {os.cpu_count()} cores")
        print(
            "features                 n  fov     wrong    away m  median m  p90 m  in 30 m  in area  radius m  "
            "head  cpu s"
        )
    measured = []
    for row in rows:
        found = measure(extracts, row, given.cases, given.seed)
        measured.append(found)
        if not given.json:
            wrong = f"{found['wrong_named']:.0%}/{found['wrong_named_alone']:.0%}" if row.wrong else "-"
            print(
                f"{row.name:23} {row.features:2}  {found['fov']:7} {wrong:>8} {found['feature_m']:6} "
                f"{found['median_m']:9} {found['p90_m']:6} {found['within_30_m']:8.0%} {found['inside']:8.1%} "
                f"{found['radius_m']:9} {found['heading_off_deg']:5} {found['cpu_s']:6}",
                flush=True,
            )
    if given.json:
        print(json.dumps(measured))
    if given.check:
        sys.exit(_check(measured))


def _check(measured: Sequence[dict[str, object]]) -> int:
    """Print missed targets and return the exit code.

    Targets are the median error with three near features, and the share of areas that hold the true place.
    """
    missed = []
    for found in measured:
        three_near = found["features"] == 3 and str(found["row"]).startswith("within 300 m") and not found["wrong"]
        if three_near and float(str(found["median_m"])) > WITHIN_M:
            missed.append(f"{found['row']}: median {found['median_m']} m, more than {WITHIN_M:g} m")
        interval = found["inside_interval"]
        if isinstance(interval, list) and interval[1] < 0.9:
            missed.append(f"{found['row']}, {found['features']}: {found['inside']} in the area, less than 0.9")
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    main()
