"""How well named places are placed: sights, counties, parks, islands, lakes, mountains, towns, countries and more.

    python benchmarks/placing.py [--held-out] [--misses] [--json] [--check]

Two lists written by hand, with points and sizes from general knowledge and not from our tables: 100 places to tune by,
and 200 that are kept for the end (`--held-out`). Each has some names besides that nobody bears.

- right: the point lies within the place's radius (half its longest side) of its middle, or within 25 km;
- unplaced: nothing is known, or only the named region or country around it, with the name itself listed as missing;
- wrong: any other point; "at a town" counts those that are a town which the words don't name;
- a name that nobody bears is right where it stays open.

`--misses` lists the rest, `--check` exits with 1 where a promise is broken.
"""

import argparse
import asyncio
import csv
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.parts import split_written_parts
from geosleuth.atlas.placing import Placement, place_words
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import fold

DATA = Path(__file__).resolve().parent / "data"
NEAR_KM = 25.0
PROMISED = 0.92

Verdict = Literal["right", "wrong", "unplaced", "at a town"]


@dataclass(frozen=True, slots=True)
class Named:
    """A named place and where it is; a name that nobody bears has no point."""

    words: str
    language: str
    kind: str
    point: LatLon | None
    radius_km: float


def read_list(name: Literal["tuning", "held_out"]) -> list[Named]:
    """Return the places of a list."""
    with (DATA / f"named_places_{name}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        Named(
            row["words"],
            row["language"],
            row["kind"],
            LatLon(float(row["lat"]), float(row["lon"])) if row["lat"] else None,
            float(row["radius_km"] or 0),
        )
        for row in rows
    ]


def judge(named: Named, placement: Placement | None) -> Verdict:
    """Return whether a place was placed rightly."""
    if placement is None:
        return "right" if named.point is None else "unplaced"
    first, *others = split_written_parts(named.words)
    is_named = fold(placement.place.name) in map(fold, others)
    is_coarse = bool(placement.missing) and (placement.level in ("region", "country") or is_named)
    if named.point is None:
        if is_coarse and first in placement.missing:
            return "right"
    elif distance_km(placement.point, named.point) <= max(NEAR_KM, named.radius_km):
        return "right"
    elif is_coarse and placement.level != "town":
        return "unplaced"
    return "at a town" if placement.level == "town" and not is_named else "wrong"


def judged(rows: Iterable[Named], found: dict[str, Placement]) -> list[tuple[Named, Verdict]]:
    """Return the verdict on each place."""
    return [(row, judge(row, found.get(row.words))) for row in rows]


def place_all(rows: Iterable[Named]) -> dict[str, Placement]:
    """Return where the offline atlas places them, without the user's own maps."""
    with TemporaryDirectory() as folder:
        return asyncio.run(place_words(OfflineAtlas(Path(folder)), [row.words for row in rows]))


def share_right(verdicts: Iterable[tuple[Named, Verdict]]) -> float:
    """Return the share of real places that are right."""
    real = [verdict == "right" for row, verdict in verdicts if row.point is not None]
    return sum(real) / len(real)


def broken_promises(verdicts: list[tuple[Named, Verdict]]) -> list[str]:
    """Return what does not hold, in words."""
    broken = []
    if (share := share_right(verdicts)) < PROMISED:
        broken.append(f"{share:.1%} of the places are right, at least {PROMISED:.0%} are promised")
    broken += [f"placed at a town not named: {row.words}" for row, verdict in verdicts if verdict == "at a town"]
    broken += [
        f"nobody bears this name, yet it is placed: {row.words}"
        for row, verdict in verdicts
        if row.point is None and verdict == "wrong"
    ]
    return broken


def show(verdicts: list[tuple[Named, Verdict]]) -> None:
    """Print the counts by kind."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for row, verdict in verdicts:
        counts[row.kind][verdict] += 1
    for kind in [kind for kind in counts if kind != "unknown"]:
        counts["all places"].update(counts[kind])
    counts["names nobody bears"] = counts.pop("unknown")
    print(f"{'kind':<20}{'places':>7}{'right':>7}{'wrong':>7}{'unplaced':>10}{'at a town not named':>21}")
    for kind, found in counts.items():
        columns = f"{found['right']:>7}{found['wrong']:>7}{found['unplaced']:>10}{found['at a town']:>21}"
        print(f"{kind:<20}{found.total():>7}{columns}")
    print(f"{share_right(verdicts):.1%} right")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--held-out", action="store_true", help="the 200 places that are kept for the end")
    parser.add_argument("--misses", action="store_true", help="list what is not right")
    parser.add_argument("--json", action="store_true", help="print every verdict as JSON")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    given = parser.parse_args()
    rows = read_list("held_out" if given.held_out else "tuning")
    found = place_all(rows)
    verdicts = judged(rows, found)
    if given.json:
        print(json.dumps({row.words: verdict for row, verdict in verdicts}, ensure_ascii=False))
    else:
        show(verdicts)
    for row, verdict in verdicts if given.misses else ():
        if verdict != "right":
            at = found.get(row.words)
            away = f"{distance_km(at.point, row.point):,.0f} km" if at and row.point else ""
            what = f"{at.place.address or at.place.name} ({at.level}) {away} missing {list(at.missing)}" if at else ""
            print(f"{verdict:<10} {row.words}: {what}")
    broken = broken_promises(verdicts)
    for line in broken if given.check else ():
        print(line, file=sys.stderr)
    return int(given.check and bool(broken))


if __name__ == "__main__":
    sys.exit(main())
