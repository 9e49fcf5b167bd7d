"""Fit how sure the detective's answers may be called, on made-up scenes of known truth.

    python scripts/calibrate_detective.py [--count N] [--seed N] [--real FILE.jsonl…] [--signs FILE.json…]
                                          [--diagram FILE.png] [--out FILE] [--dry-run]

Runs the detective on scenes of the split called "calibration" (tests/support/scenes.py) and fits the map of
`evidence.calibration` to how often the truth lay within the radius of its answers. The table holds nothing but
coefficients and where they come from; no name and no place of any scene. benchmarks/detective.py measures the outcome
on the other split, whose places are others.

``--real`` names files of ``benchmarks/real_photos.py --details``: answers to real photos. Drawn scenes are sharper and
more telling than photos are, so that a map fitted to them alone is too sure. ``--signs`` names files of
``benchmarks/foreign_signs.py --json``: signs with true names.

Printed is how often answers are right, beside what is stated by a map that was fitted on the other half of them: by
source, and together. ``--diagram`` draws that.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "support")]

import numpy as np  # noqa: E402

from geosleuth.atlas.base import ensure_base  # noqa: E402
from geosleuth.evidence.calibration import ACTIONABLE_PROBABILITY, CalibrationSample, fit, from_json  # noqa: E402
from geosleuth.lab.score import Calibration, calibration  # noqa: E402
from real_photos import draw_diagram  # noqa: E402
from scene_places import extracts  # noqa: E402
from scene_scoring import Bench, Outcome, figures, open_bench  # noqa: E402
from scenes import Scene, make_scenes  # noqa: E402

CLAIM = 0.7
"""On signs from elsewhere, 19 of 20 answers that were right at least so often have the right country."""

DRAWN, PHOTOS, SIGNS = "drawn scenes", "photos", "signs from elsewhere"

TABLE = ROOT / "src" / "geosleuth" / "clues" / "data" / "calibration.json"


async def outcomes_of(bench: Bench, scenes: Sequence[Scene]) -> list[Outcome]:
    """The detective's answers with the decisions behind them."""
    found = []
    for number, scene in enumerate(scenes, 1):
        found.append(await bench.run(scene, watched=True))
        print(f"\r{number} of {len(scenes)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def samples_of(outcomes: Sequence[Outcome]) -> list[CalibrationSample]:
    """What the map is fitted to; scenes that show nothing have no truth to be near to."""
    return [
        CalibrationSample.create(one.decision, right=one.within_radius)
        for one in outcomes
        if one.decision is not None and one.scene.truth is not None and one.answer.located
    ]


def real_samples(path: Path) -> list[CalibrationSample]:
    """Answers to real photos. Where the true point is known, it must lie within the radius; else the country counts."""
    found = []
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if row["right"] is not None:
            near = row["off_km"] is None or row["radius_km"] is None or row["off_km"] <= row["radius_km"]
            found.append(CalibrationSample(**row["decision"], right=row["right"] and near))
    return found


def sign_samples(path: Path) -> list[CalibrationSample]:
    """Answers to signs with true names."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [CalibrationSample(**row["sample"]) for row in rows if row["sample"]]


def reliability(sources: Mapping[str, list[CalibrationSample]]) -> dict[str, Calibration]:
    """What maps state that were fitted on the other half of each source, beside what came true."""
    halves = [[sample for samples in sources.values() for sample in samples[half::2]] for half in (1, 0)]
    maps = [from_json(fit(half, claim=CLAIM)) for half in halves]
    measured: dict[str, Calibration] = {}
    off: dict[str, list[float]] = {}
    stated: dict[str, list[float]] = {}
    for name, samples in sources.items():
        for at, sample in enumerate(samples):
            for title in (name, "together"):
                off.setdefault(title, []).append(0.0 if sample.right else 2.0)
                stated.setdefault(title, []).append(maps[at % 2].probability(sample))
    for title, probabilities in stated.items():
        found = calibration(np.array(off[title]), np.array(probabilities), np.ones(len(probabilities)))
        if found is not None:
            measured[title] = found
    return measured


def main() -> int:
    """Run, fit, write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--real", type=Path, nargs="+", default=[], help="details of answers to real photos")
    options.add_argument("--signs", type=Path, nargs="+", default=[], help="answers to signs with true names")
    options.add_argument("--diagram", type=Path, help="draw stated beside observed probability, each half by the other")
    options.add_argument("--out", type=Path, default=TABLE)
    options.add_argument("--dry-run", action="store_true", help="print the table, write nothing")
    chosen = options.parse_args()
    ensure_base()
    scenes = make_scenes(chosen.count, split="calibration", seed=chosen.seed)
    with TemporaryDirectory() as folder:
        outcomes = asyncio.run(outcomes_of(open_bench(Path(folder)), scenes))
    sources = {
        DRAWN: samples_of(outcomes),
        PHOTOS: [sample for path in chosen.real for sample in real_samples(path)],
        SIGNS: [sample for path in chosen.signs for sample in sign_samples(path)],
    }
    table = fit(
        [sample for samples in sources.values() for sample in samples],
        claim=CLAIM,
        provenance=(
            f"scripts/calibrate_detective.py: {len(sources[DRAWN])} answers to {len(scenes)} made-up scenes of the"
            f" calibration split, seed {chosen.seed}, regions {', '.join(sorted(extracts()))};"
            f" {len(sources[PHOTOS])} answers to real photos;"
            f" {len(sources[SIGNS])} answers to signs with true names"
        ),
    )
    print(json.dumps(table, indent=2, ensure_ascii=False))
    print(f"{figures(outcomes)}")
    measured = reliability(sources)
    for name, found in measured.items():
        sure = [one for one in found.bins if one.stated >= ACTIONABLE_PROBABILITY]
        right = sum(one.n * one.observed for one in sure) / max(1, sum(one.n for one in sure))
        print(f"{name:<22} {found.n:>4} answers, {right:.1%} right at half or more, error {found.expected_error:.3f}")
    if chosen.diagram:
        bins = [{"stated": one.stated, "right": one.observed, "answers": one.n} for one in measured["together"].bins]
        draw_diagram(bins, chosen.diagram)
    if not chosen.dry_run:
        chosen.out.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
