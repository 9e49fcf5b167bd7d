"""How well signs in real photos are read, line by line, and what comes of photos that name a place.

    python benchmarks/real_signs.py FOLDER… [--words FILE.jsonl] [--show] [--json]

``--words`` names what a person read in each photo (benchmarks/data/photo_words.jsonl unless said): ``file``, ``lines``
with ``text``, ``legible`` (clear or hard), ``what`` (scene, object, overlay) and ``place`` (whether it names a place),
``country_by_text``, and ``lat`` and ``lon`` of a town that the text names. Photos with a line of the scene that names a
place count, and the two real signs of examples/photos.

    python benchmarks/real_signs.py FOLDER… --boxes [FILE.tsv] [--half 0|1] [--show] [--json]

``--boxes`` reads signs that a person cut by hand (benchmarks/data/sign_boxes.tsv: box in shares of the photo, script,
direction, text), in the whole photo and in a crop, and prints by script and direction how many are found (a line read
lies over them) and the share of letters right. ``--half`` takes the photos of one half, by the CRC-32 of their names.

Else it prints the share of their lines that were read with nine letters in ten right, of all lines and of the clear
ones; and of these photos how many were placed in the right country, and within 25 km where the text names a town.
"""

import argparse
import asyncio
import csv
import json
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from rapidfuzz.distance import Levenshtein

from geosleuth.atlas.base import ensure_base
from geosleuth.geo import LatLon, distance_km
from geosleuth.photo.text import TextLine, read_text
from real_photos import MACHINE, Row, run_all

ROOT = Path(__file__).resolve().parents[1]
WORDS = Path(__file__).parent / "data" / "photo_words.jsonl"
BOXES = Path(__file__).parent / "data" / "sign_boxes.tsv"
AROUND = 0.25
"""A crop shows so much around a sign, in shares of its longer side."""

RIGHT = 0.9
NEAR_KM = 25.0
EXAMPLES: tuple[dict[str, Any], ...] = tuple(
    {
        "file": name, "country_by_text": "GB", "lat": None, "lon": None, "sign_kind": kind,
        "lines": [{"text": text, "legible": "clear", "what": "scene", "place": False} for text in texts],
    }
    for name, kind, texts in (
        ("way-sign.jpg", "direction", ("Sports Centre", "Wivenhoe Park", "Conference Centre", "Car Parks")),
        ("shop-front.jpg", None, ("priory galleries at the ship", "priory", "galleries", "the ship")),
    )
)  # fmt: skip


def letters_right(text: str, read: list[str]) -> float:
    """The share of a line's letters that are right in the best reading of it, or of several of its parts together."""
    wanted = "".join(text.casefold().split())
    parts = ["".join(one.casefold().split()) for one in read]
    best = max((Levenshtein.normalized_similarity(wanted, one) for one in [*parts, "".join(parts)]), default=0.0)
    inside = [one for one in parts if len(one) >= 2 and one in wanted]
    pieced = min(1.0, sum(map(len, dict.fromkeys(inside))) / max(1, len(wanted)))
    return max(best, pieced)


Bounds = tuple[float, float, float, float]


def read_of(lines: list[TextLine], box: Bounds) -> list[str]:
    """Return the lines of a picture whose middle lies in a box, or that lie over the box's middle."""
    left, top, right, bottom = box
    read = []
    for line in lines:
        start, upper, end, lower = line.bounds
        inside = left <= (start + end) / 2 <= right and top <= (upper + lower) / 2 <= bottom
        over = start <= (left + right) / 2 <= end and upper <= (top + bottom) / 2 <= lower
        if inside or over:
            read.append(line.text)
    return read


def measure_boxes(table: Path, folders: list[Path], half: int | None, *, show: bool) -> dict[str, dict[str, float]]:
    """Return, by script and direction, signs, those found, and the share of letters right, whole photo and crop."""
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    known: dict[Path, list[TextLine]] = {}
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        path = next((f / row["file"] for f in folders if (f / row["file"]).is_file()), None)
        if path is None or half not in (None, zlib.crc32(row["file"].encode()) % 2):
            continue
        with Image.open(path) as opened:
            photo = opened.convert("RGB")
        left, right = (float(row[side]) * photo.width for side in ("left", "right"))
        top, bottom = (float(row[side]) * photo.height for side in ("top", "bottom"))
        around = AROUND * max(right - left, bottom - top)
        x, y = max(0.0, left - around), max(0.0, top - around)
        crop = photo.crop(
            (int(x), int(y), int(min(photo.width, right + around)), int(min(photo.height, bottom + around)))
        )
        kind = sums[f"{row['script']}, {row['direction']}"]
        kind["signs"] += 1
        kind["letters"] += len(row["text"])
        if path not in known:
            known[path] = read_text(photo)
        readings = {
            "photo": read_of(known[path], (left, top, right, bottom)),
            "crop": read_of(read_text(crop), (left - x, top - y, right - x, bottom - y)),
        }
        for name, read in readings.items():
            kind[f"{name}_found"] += bool(read)
            kind[f"{name}_right"] += len(row["text"]) * letters_right(row["text"], read)
        if show:
            print(f"{row['file']:<16} {row['text']}: {readings}", flush=True)
    for kind in sums.values():
        for name in ("photo", "crop"):
            kind[f"{name}_right"] /= max(1.0, kind["letters"])
    return {name: dict(kind) for name, kind in sums.items()}


def print_boxes(measured: dict[str, dict[str, float]]) -> None:
    """Print a line for each script and direction."""
    for name, kind in measured.items():
        print(
            f"{name:<18} {kind['signs']:>3.0f} signs  photo: {kind['photo_found']:.0f} found, "
            f"{kind['photo_right']:.0%} of letters  crop: {kind['crop_found']:.0f} found, {kind['crop_right']:.0%}"
        )


def main() -> int:
    """Read, score, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folders", type=Path, nargs="+")
    options.add_argument("--words", type=Path, default=WORDS)
    options.add_argument("--boxes", type=Path, nargs="?", const=BOXES, metavar="FILE.tsv")
    options.add_argument("--half", type=int, choices=(0, 1), help="with --boxes, only this half of the photos")
    options.add_argument("--show", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    if chosen.boxes:
        measured = measure_boxes(chosen.boxes, chosen.folders, chosen.half, show=chosen.show)
        if not measured:
            print("None of the listed photos is in these folders.", file=sys.stderr)
            return 2
        if chosen.json:
            print(json.dumps(measured, indent=2))
        else:
            print_boxes(measured)
        return 0
    told = [json.loads(line) for line in chosen.words.read_text(encoding="utf-8").splitlines()]
    told = [row for row in told if any(one["place"] and one["what"] == "scene" for one in row["lines"])]
    folders = [*chosen.folders, ROOT / "examples/photos"]
    pairs = [
        (row, path)
        for row in (*told, *EXAMPLES)
        if (path := next((f / row["file"] for f in folders if (f / row["file"]).is_file()), None))
    ]
    if not pairs:
        print("None of the listed photos is in these folders.", file=sys.stderr)
        return 2
    ensure_base()
    rows = [Row(path, None, None, frozenset((row["country_by_text"] or "").split("|")) - {""}) for row, path in pairs]
    with TemporaryDirectory() as folder:
        outcomes = asyncio.run(run_all(rows, Path(folder), turn=0))
    lines: list[tuple[float, bool]] = []
    placed = near = towns = 0
    for (row, path), outcome in zip(pairs, outcomes, strict=True):
        read = [str(line["text"]) for line in outcome.lines]
        scores = [
            (letters_right(one["text"], read), one["legible"] == "clear")
            for one in row["lines"]
            if one["what"] == "scene"
        ]
        lines += scores
        placed += outcome.right and outcome.answer.located
        if row["lat"] is not None:
            towns += 1
            point = outcome.answer.point
            near += point is not None and distance_km(point, LatLon(row["lat"], row["lon"])) <= NEAR_KM
        if chosen.show:
            right = sum(score >= RIGHT for score, _ in scores)
            place = outcome.country or "no place"
            print(f"{path.name:<16} {right} of {len(scores)} lines; {place} ({row['country_by_text']})")
    clear = [score for score, is_clear in lines if is_clear]
    result = {
        "photos": len(pairs),
        "lines": len(lines),
        "lines_right": sum(score >= RIGHT for score, _ in lines) / max(1, len(lines)),
        "clear_lines": len(clear),
        "clear_lines_right": sum(score >= RIGHT for score in clear) / max(1, len(clear)),
        "right_country": placed,
        "towns": towns,
        "within_25_km": near,
        "machine": MACHINE,
    }
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        print(
            "\n".join(
                f"{name:<18} {value:.1%}" if isinstance(value, float) else f"{name:<18} {value}"
                for name, value in result.items()
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
