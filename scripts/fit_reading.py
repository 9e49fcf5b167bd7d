"""Fit how likely readings are right, on real photos with and without text and on drawn signs.

    python scripts/fit_reading.py FOLDER… --words FILE.jsonl [--half a|b] [--out FILE] [--dry-run]

FOLDERs hold real photos; FILE.jsonl says what a person read in each (``file``, ``lines`` with ``text``). A reading is
right where nine letters in ten are those of such a line or of a part of it. Signs are drawn by benchmarks/reading.py,
the words called "tuned", in every script: real photos hold too few lines of most scripts. ``--half`` fits on every
other photo by name and reports on the others.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402
from rapidfuzz.distance import Levenshtein  # noqa: E402

from geosleuth.photo.text.reader import list_readings  # noqa: E402
from geosleuth.photo.text.reading_reliability import FEATURES, Reading, compute_features  # noqa: E402
from geosleuth.support.fitting import logistic  # noqa: E402
from reading import SCRIPTS, draw_sign, plain  # noqa: E402

TABLE = ROOT / "src/geosleuth/photo/text/data/reliability.json"
RIGHT = 0.9
PULL = 1.0
START = {"confidence": 0.8, "letters": 0.8, "texture": -0.3, "script_share": 0.4, "box_score": 1.0}
Row = tuple[str, str, Reading, bool]


def photo_rows(folders: list[Path], words: dict[str, list[str]]) -> Iterator[Row]:
    """Every reading of every photo, right or wrong."""
    paths = sorted(path for folder in folders for path in folder.glob("*.jpg"))
    for number, path in enumerate(paths):
        with Image.open(path) as opened:
            for reading in list_readings(opened.convert("RGB")):
                yield path.name, "photo", reading, is_right(reading.text, words.get(path.name, []))
        print(f"\r{number + 1} of {len(paths)} photos", end="", file=sys.stderr, flush=True)


def sign_rows() -> Iterator[Row]:
    """Readings of drawn signs in every script."""
    draw = random.Random(11)
    for script in SCRIPTS.values():
        for word in script.words("tuned"):
            for reading in list_readings(draw_sign(word, script.font, draw)):
                yield word, "sign", reading, is_right(reading.text, [word])


def is_right(text: str, truths: list[str]) -> bool:
    """Whether nine letters in ten are those of a line, or of a part of it as long."""
    read = plain(text).casefold().replace(" ", "")
    for truth in truths:
        known = plain(truth).casefold().replace(" ", "")
        for begin in range(max(1, len(known) - len(read) + 1)):
            part = known[begin : begin + len(read)] if len(read) < len(known) else known
            if Levenshtein.normalized_similarity(read, part) >= RIGHT:
                return True
    return False


def fit(rows: list[Row]) -> dict[str, float]:
    """Logistic regression, held near a sensible start by a weak prior."""
    features = np.array([[1.0, *(compute_features(reading)[name] for name in FEATURES)] for _, _, reading, _ in rows])
    right = np.array([float(one) for *_, one in rows])
    start = np.array([-3.0, *(START.get(name, 0.0) for name in FEATURES)])
    weights = logistic(features, right, PULL, centre=start)
    return {name: round(float(value), 4) for name, value in zip(("base", *FEATURES), weights, strict=True)}


def described(rows: list[Row], table: dict[str, dict[str, float]]) -> str:
    """How well stated and observed agree, in a line for each engine."""
    lines = []
    for engine, row in table.items():
        chosen = [one for one in rows if one[2].engine == engine]
        if not chosen:
            continue
        scores = np.array(
            [row["base"] + sum(row[name] * compute_features(one[2])[name] for name in FEATURES) for one in chosen]
        )
        stated, right = 1 / (1 + np.exp(-scores)), np.array([one[3] for one in chosen])
        for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
            inside = (stated >= low) & (stated < high)
            if inside.any():
                observed = f"right {right[inside].mean():.2f} of {inside.sum()}"
                lines.append(f"{engine:<10} stated {stated[inside].mean():.2f}, {observed}")
    return "\n".join(lines)


def main() -> int:
    """Read, fit, write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folders", type=Path, nargs="+")
    options.add_argument("--words", type=Path, required=True)
    options.add_argument("--half", choices=("a", "b"))
    options.add_argument("--out", type=Path, default=TABLE)
    options.add_argument("--dry-run", action="store_true")
    chosen = options.parse_args()
    words: dict[str, list[str]] = {}
    for line in chosen.words.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        words[row["file"]] = [one["text"] for one in row["lines"]]
    photos, signs = list(photo_rows(chosen.folders, words)), list(sign_rows())
    names = sorted({name for name, *_ in photos})
    held = set(names[chosen.half == "b" :: 2]) if chosen.half else set()
    used = [*(row for row in photos if row[0] not in held), *signs]
    table = {engine: fit([row for row in used if row[2].engine == engine]) for engine in ("rapidocr", "tesseract")}
    print(f"\nfitted on {len(used)} readings\n{described([row for row in used if row[1] == 'photo'], table)}")
    if held:
        print(f"held out\n{described([row for row in photos if row[0] in held], table)}")
    if not chosen.dry_run:
        made = {
            "engines": table,
            "provenance": f"scripts/fit_reading.py: {len(photos)} readings on {len(names)} real photos with any, "
            f"{len(signs)} on drawn signs",
        }
        chosen.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
