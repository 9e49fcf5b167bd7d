"""Fit how sure the detective's answers may be called, on made-up scenes of known truth.

    python scripts/calibrate_detective.py [--count N] [--seed N] [--real FILE.jsonl…] [--out FILE] [--dry-run]

Runs the detective on scenes of the split called "calibration" (tests/support/scenes.py) and fits the map of
`geosleuth.clues.calibration` to how often the truth lay within the radius of its answers. The table holds nothing but
coefficients and where they come from; no name and no place of any scene. benchmarks/detective.py measures the outcome
on the other split, whose places are others.

``--real`` names files of ``benchmarks/real_photos.py --details``: answers to real photos, of which each counts as
`REAL_WEIGHT` drawn ones. Drawn scenes are sharper and more telling than photos are, so that a map fitted
to them alone is too sure.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import numpy as np  # noqa: E402

from geosleuth.atlas.base import ensure_base  # noqa: E402
from geosleuth.clues.calibration import Sample, fit, from_json  # noqa: E402
from geosleuth.score import calibration  # noqa: E402
from scene_places import extracts  # noqa: E402
from scene_scoring import Bench, Outcome, figures, open_bench  # noqa: E402
from scenes import Scene, make_scenes  # noqa: E402

REAL_WEIGHT = 5
"""Few real photos are answered at all; they are what the map is for."""

TABLE = ROOT / "src" / "geosleuth" / "clues" / "data" / "calibration.json"


async def outcomes_of(bench: Bench, scenes: Sequence[Scene]) -> list[Outcome]:
    """The detective's answers with the decisions behind them."""
    found = []
    for number, scene in enumerate(scenes, 1):
        found.append(await bench.run(scene, watched=True))
        print(f"\r{number} of {len(scenes)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def samples_of(outcomes: Sequence[Outcome]) -> list[Sample]:
    """What the map is fitted to; scenes that show nothing have no truth to be near to."""
    return [
        Sample.of(one.decision, right=one.within_radius)
        for one in outcomes
        if one.decision is not None and one.scene.truth is not None and one.answer.located
    ]


def real_samples(paths: Sequence[Path]) -> list[Sample]:
    """Answers to real photos. Where the true point is known, it must lie within the radius; else the country counts."""
    found = []
    for path in paths:
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if row["right"] is not None:
                near = row["off_km"] is None or row["radius_km"] is None or row["off_km"] <= row["radius_km"]
                found += [Sample(**row["decision"], right=row["right"] and near)] * REAL_WEIGHT
    return found


def error_of(samples: Sequence[Sample], table: dict[str, object]) -> float:
    """The expected calibration error of a map on its own samples; the held-out figure is the benchmark's."""
    fitted = from_json(table)
    right = np.array([0.0 if sample.right else 2.0 for sample in samples])
    measured = calibration(right, np.array([fitted.probability(one) for one in samples]), np.ones(len(samples)))
    return measured.expected_error if measured else float("nan")


def main() -> int:
    """Run, fit, write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--real", type=Path, nargs="+", default=[], help="details of answers to real photos")
    options.add_argument("--out", type=Path, default=TABLE)
    options.add_argument("--dry-run", action="store_true", help="print the table, write nothing")
    chosen = options.parse_args()
    ensure_base()
    scenes = make_scenes(chosen.count, split="calibration", seed=chosen.seed)
    with TemporaryDirectory() as folder:
        outcomes = asyncio.run(outcomes_of(open_bench(Path(folder)), scenes))
    real = real_samples(chosen.real)
    samples = [*samples_of(outcomes), *real]
    table = fit(
        samples,
        provenance=(
            f"scripts/calibrate_detective.py: {len(samples) - len(real)} answers to {len(scenes)} made-up scenes of the"
            f" calibration split, seed {chosen.seed}, regions {', '.join(sorted(extracts()))};"
            f" {len(real) // REAL_WEIGHT} answers to real photos, each counted {REAL_WEIGHT} times"
        ),
    )
    print(json.dumps(table, indent=2, ensure_ascii=False))
    print(f"levels: {dict(Counter(one.level for one in samples))}; right: {sum(one.right for one in samples)}")
    print(f"calibration error on these samples: {error_of(samples, table):.3f}; {figures(outcomes)}")
    if not chosen.dry_run:
        chosen.out.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
