"""How well signs in real photos are read, line by line, and what comes of photos that name a place.

    python benchmarks/real_signs.py FOLDER… [--words FILE.jsonl] [--show] [--json]

``--words`` names what a person read in each photo (benchmarks/data/photo_words.jsonl unless said): ``file``, ``lines``
with ``text``, ``legible`` (clear or hard), ``what`` (scene, object, overlay) and ``place`` (whether it names a place),
``country_by_text``, and ``lat`` and ``lon`` of a town that the text names. Photos with a line of the scene that names a
place count, and the two real signs of examples/photos.

Prints the share of their lines that were read with nine letters in ten right, of all lines and of the clear ones; and
of these photos how many were placed in the right country, and within 25 km where the text names a town.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rapidfuzz.distance import Levenshtein

from geosleuth.atlas.base import ensure_base
from geosleuth.geo import LatLon, distance_km
from real_photos import MACHINE, Row, run_all

ROOT = Path(__file__).resolve().parents[1]
WORDS = Path(__file__).parent / "data" / "photo_words.jsonl"
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


def main() -> int:
    """Read, score, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folders", type=Path, nargs="+")
    options.add_argument("--words", type=Path, default=WORDS)
    options.add_argument("--show", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
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
