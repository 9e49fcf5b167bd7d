"""How good the detective is on real photos that none of its figures were fitted to.

    python benchmarks/real_halves.py PHOTOS=TABLE.csv… --words FILE.jsonl [--scenes N] [--json]

Photos are split into two halves by file name. What readings are worth (scripts/fit_reading.py) and how sure answers may
be called (scripts/calibrate_detective.py) are fitted on one half, with drawn signs and drawn scenes beside it, and the
other half is answered; then the other way round. Printed are the figures of all photos, each answered by figures that
were fitted without it. The rules and word lists themselves are not refitted.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "support")]

from calibrate_detective import outcomes_of, samples_of  # noqa: E402
from fit_reading import fit as fit_readings  # noqa: E402
from fit_reading import photo_rows, sign_rows  # noqa: E402
from geosleuth.atlas.base import ensure_base  # noqa: E402
from geosleuth.evidence import calibration  # noqa: E402
from geosleuth.evidence.calibration import CalibrationSample  # noqa: E402
from geosleuth.photo.text import reading_reliability  # noqa: E402
from real_photos import MACHINE, Outcome, Row, figures, read_table, run_all, show  # noqa: E402
from scene_scoring import open_bench  # noqa: E402
from scenes import make_scenes  # noqa: E402

REAL_WEIGHT = 5
"""How many drawn scenes an answered photo counts as: few are answered at all."""


def real_sample(one: Outcome) -> CalibrationSample:
    """What the map of odds is fitted to: where the true point is known, it must lie within the radius."""
    far = one.off_km is not None and one.answer.radius_km is not None and one.off_km > one.answer.radius_km
    return CalibrationSample.create(one.decision, right=one.right and not far)


def answered(rows: Sequence[Row], empty: Path) -> list[Outcome]:
    """The detective's answers, with no region added."""
    return asyncio.run(run_all(rows, empty, turn=0))


def main() -> int:
    """Fit and answer both ways, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("photos", nargs="+", help="a folder of photos and its table: FOLDER=TABLE.csv")
    options.add_argument("--words", type=Path, required=True)
    options.add_argument("--scenes", type=int, default=120, help="drawn scenes to fit the odds on beside the photos")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    pairs = [tuple(map(Path, one.split("=", 1))) for one in chosen.photos]
    if any(len(pair) != 2 or not pair[0].is_dir() or not pair[1].is_file() for pair in pairs):
        print("Name folders with their tables: FOLDER=TABLE.csv", file=sys.stderr)
        return 2
    rows = sorted(
        (row for folder, table in pairs for row in read_table(folder, table, chosen.words)),
        key=lambda row: row.path.name,
    )
    words = {
        row["file"]: [line["text"] for line in row["lines"]]
        for row in map(json.loads, chosen.words.read_text(encoding="utf-8").splitlines())
    }
    ensure_base()
    readings, signs = list(photo_rows([folder for folder, _ in pairs], words)), list(sign_rows())
    with TemporaryDirectory() as folder:
        drawn = samples_of(
            asyncio.run(outcomes_of(open_bench(Path(folder)), make_scenes(chosen.scenes, split="calibration", seed=1)))
        )
    outcomes: list[Outcome] = []
    with TemporaryDirectory() as folder:
        for half in (0, 1):
            held, used = rows[half::2], rows[1 - half :: 2]
            names = {row.path.name for row in used}
            fitted = [*(row for row in readings if row[0] in names), *signs]
            table = {
                engine: fit_readings([row for row in fitted if row[2].engine == engine])
                for engine in ("rapidocr", "tesseract")
            }
            with patch.object(reading_reliability, "load_reliability", return_value=table):
                own = [real_sample(one) for one in answered(used, Path(folder)) if one.answer.located]
                odds = calibration.from_json(calibration.fit([*drawn, *own * REAL_WEIGHT]))
                with patch.object(calibration, "load_calibration", return_value=odds):
                    outcomes += answered(held, Path(folder))
    result = figures(outcomes)
    if chosen.json:
        print(json.dumps({"machine": MACHINE, **result}, indent=2))
    else:
        show(result)
        for one in sorted(outcomes, key=lambda one: -one.probability):
            if one.answer.located:
                print(
                    f"  {one.row.path.name}  {one.country} {one.probability:.0%}, {'right' if one.right else 'wrong'}"
                )
        print(f"machine: {MACHINE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
