"""Place free replies of models by default, beside what a commercial geocoder made of the same replies.

    python benchmarks/prose.py FOLDER [--model gpt5] [--part first|second|all] [--misses FILE] [--check]

FOLDER holds ``geoprivacy_*.jsonl``: a photo's true point, a model's reply in prose, and for many the point that a
commercial geocoder gave for the place named in it. A reply is read as `bench score` reads it, and what it only names is
placed by the base atlas, with no map installed and no network. Double-encoded texts are repaired before.

For each model: the replies, how many are placed by us, by the geocoder and by both, and the share within 1, 25, 200 and
750 km: of all replies (not placed is a miss), of those that both place. Medians are
those of the placed replies, each placer's own, and of those that both place. `--check` exits with 1 if GPT-5's replies
miss their limits.
"""

import argparse
import asyncio
import csv
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from geosleuth.answer.answer import envelope
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.placing import Placer, with_point
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.bench.prose import read_reply

WITHIN_KM = (1.0, 25.0, 200.0, 750.0)
LEAST_WITHIN_1KM = 0.22


@dataclass(frozen=True, slots=True)
class Placed:
    """One reply: the words that were placed, and the errors of both placers; None where one gives no point."""

    reply: str
    words: str
    said_point: bool
    level: str
    ours_km: float | None
    theirs_km: float | None


def repaired(text: str) -> str:
    """Return a text without double encoding: UTF-8 bytes that were read as Latin-1 or Windows-1252."""
    for encoding in ("latin-1", "cp1252"):
        try:
            return text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return text


def read_lines(path: Path, part: str) -> list[str]:
    """Return the lines of a file, or of its first or second half."""
    lines = [line for line in path.read_text("utf-8").split("\n") if line]
    half = len(lines) // 2
    return {"first": lines[:half], "second": lines[half:], "all": lines}[part]


async def place_replies(lines: Sequence[str]) -> list[Placed]:
    """Return the replies, placed."""
    with TemporaryDirectory() as empty:
        placer = Placer(OfflineAtlas(Path(empty) / "regions"))
        return [await _placed(placer, json.loads(line)) for line in lines]


async def _placed(placer: Placer, row: dict[str, Any]) -> Placed:
    truth, theirs = row["ground_truth"], row.get("geocoded")
    true = LatLon(truth["lat"], truth["lon"])
    reply = repaired(row["solution_str"] or "")
    said = read_reply(reply)
    placement = await placer.place_answer(said) if said.point is None else None
    answer = with_point(said, placement)
    return Placed(
        reply,
        envelope(said.address),
        said.point is not None,
        placement.level if placement else "",
        None if answer.point is None else distance_km(answer.point, true),
        distance_km(LatLon(theirs["lat"], theirs["lon"]), true) if theirs else None,
    )


def _shares(errors_km: Sequence[float | None]) -> str:
    count = max(1, len(errors_km))
    shares = (sum(km is not None and km <= most for km in errors_km) / count for most in WITHIN_KM)
    placed = [km for km in errors_km if km is not None]
    median = f"{statistics.median(placed):9.1f}" if placed else "        -"
    return "".join(f"{100 * share:8.1f}" for share in shares) + f"   {median} km"


def _share(errors_km: Sequence[float | None], most_km: float) -> float:
    return sum(km is not None and km <= most_km for km in errors_km) / max(1, len(errors_km))


def _print(model: str, rows: Sequence[Placed]) -> bool:
    """Print the table of one model and return whether it keeps the limits."""
    ours, theirs = [row.ours_km for row in rows], [row.theirs_km for row in rows]
    both = [row for row in rows if row.ours_km is not None and row.theirs_km is not None]
    ours_both, theirs_both = [row.ours_km for row in both], [row.theirs_km for row in both]
    placed, placed_theirs = (sum(km is not None for km in errors) for errors in (ours, theirs))
    said = sum(row.said_point for row in rows)
    print(f"{model}: {len(rows)} replies, {said} with coordinates")
    print(f"  placed by us {placed}, by the geocoder {placed_theirs}, by both {len(both)}")
    print("  within, %         " + "".join(f"{f'{km:g} km':>8}" for km in WITHIN_KM) + "         median")
    for label, errors in (
        ("all, ours", ours), ("all, geocoder", theirs), ("both, ours", ours_both), ("both, geocoder", theirs_both),
    ):  # fmt: skip
        print(f"  {label:18}{_shares(errors)}")
    return _share(ours, 1.0) >= LEAST_WITHIN_1KM and _share(ours_both, 25.0) >= _share(theirs_both, 25.0)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", help="only this model: the name behind geoprivacy_")
    parser.add_argument("--part", choices=("first", "second", "all"), default="all", help="of each file's replies")
    parser.add_argument("--misses", type=Path, help="write replies that only the geocoder places within 25 km, as CSV")
    parser.add_argument("--check", action="store_true", help="exit with 1 if GPT-5's replies miss their limits")
    arguments = parser.parse_args()
    kept, misses = True, list[Placed]()
    files = sorted(arguments.folder.glob(f"geoprivacy_{arguments.model or '*'}.jsonl"))
    if not files:
        parser.error(f"{arguments.folder}: no geoprivacy_{arguments.model or '*'}.jsonl there")
    for path in files:
        model = path.stem.removeprefix("geoprivacy_")
        rows = asyncio.run(place_replies(read_lines(path, arguments.part)))
        good = _print(model, rows)
        kept = kept and (good or model != "gpt5")
        misses += [
            row for row in rows
            if row.theirs_km is not None and row.theirs_km <= 25 and (row.ours_km is None or row.ours_km > 25)
        ]  # fmt: skip
    if arguments.misses is not None:
        with arguments.misses.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("words", "level", "ours_km", "geocoder_km", "reply"))
            writer.writerows((row.words, row.level, row.ours_km, row.theirs_km, row.reply) for row in misses)
    if arguments.check and not kept:
        print("GPT-5's replies miss their limits", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
