"""Score the rule-based detective on real photos with a table of truths.

    python benchmarks/real_photos.py FOLDER TABLE [--words FILE] [--region FILE.osm.pbf] [--turn 90] [--half a|b]
                                     [--limit N] [--details FILE.jsonl] [--diagram FILE.png] [--show] [--json] [--check]

FOLDER holds photos. TABLE is a CSV with a header and these columns:

- ``file``: the photo's name in FOLDER;
- ``country``: the ISO code of the true country, or empty;
- ``lat``, ``lon``: the true point, or empty. A point also gives the country.

``--words`` names a JSONL file of what a person read in each photo (``file``, ``country_by_text``: one ISO code, or
several with ``|`` between them). A photo without a truth counts as right where the answer agrees with its words.
Otherwise an answer to a photo without a truth has nothing to support it, and counts as wrong.

Prints how many photos were answered at each stated probability and how many of these answers have the right country,
the expected calibration error, and the CPU seconds a photo. ``--diagram`` draws stated against observed probability.
``--large`` only times pictures of 12 megapixels, each laid together from four photos.
``--half`` takes every other photo by name, so that settings can be fitted on one half and reported on the other.
``--check`` exits with 1 where fewer than 85 % of the answers at 0.5 or more are right.
"""

import argparse
import asyncio
import csv
import io
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image, ImageDraw

from geosleuth.agent.locate import Finding, locate
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.regions import import_osm
from geosleuth.evidence.decision import Decision
from geosleuth.evidence.heartlands import find_country
from geosleuth.geo import LatLon, distance_km
from geosleuth.models.detective import Detective
from geosleuth.names import country_code
from geosleuth.photo import open_photo
from geosleuth.tools.toolset import all_tools

STATED = 0.5
"""From this probability on an answer is a claim."""

PROMISED_RIGHT = 0.85
EDGES = (0.0, 0.3, 0.5, 0.7, 0.85, 1.0)
MACHINE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


@dataclass(frozen=True, slots=True)
class Row:
    """One photo of the table. ``words`` are the countries that its own text supports."""

    path: Path
    country: str | None
    point: LatLon | None
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the detective answered, and how long it took."""

    row: Row
    answer: Answer
    lines: tuple[Mapping[str, Any], ...]
    cpu_seconds: float
    decision: Decision

    @property
    def country(self) -> str | None:
        """The ISO code of the country in the answer."""
        named = self.answer.address.country.conclusion
        return country_code(named) if named else None

    @property
    def probability(self) -> float:
        """The stated probability, 0 where there is no answer."""
        return (self.answer.probability or 0.0) if self.answer.located else 0.0

    @property
    def claimed(self) -> bool:
        """Whether the answer is a claim."""
        return self.probability >= STATED

    @property
    def right(self) -> bool:
        """Whether the country is right, or, where no truth is known, supported by the photo's own words."""
        if self.row.country is not None:
            return self.country == self.row.country
        return self.country in self.row.words

    @property
    def off_km(self) -> float | None:
        """How far the answer's point is from the true one."""
        if self.row.point is None or self.answer.point is None:
            return None
        return distance_km(self.answer.point, self.row.point)


def read_table(folder: Path, table: Path, words: Path | None) -> list[Row]:
    """The photos of the table that are in the folder, in the table's order."""
    supported: dict[str, frozenset[str]] = {}
    if words is not None:
        for line in words.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            supported[row["file"]] = frozenset(filter(None, (row.get("country_by_text") or "").split("|")))
    rows = []
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            path = folder / row["file"]
            if not path.is_file():
                print(f"no such photo, left out: {path}", file=sys.stderr)
                continue
            lat, lon = row.get("lat"), row.get("lon")
            point = LatLon(float(lat), float(lon)) if lat and lon else None
            country = (row.get("country") or "").upper() or None
            if country is None and point is not None:
                country = find_country(point)
            rows.append(Row(path, country, point, supported.get(row["file"], frozenset())))
    return rows


def turned(path: Path, degrees: int) -> bytes:
    """The photo turned clockwise, as a file."""
    with Image.open(path) as image:
        buffer = io.BytesIO()
        image.convert("RGB").rotate(-degrees, expand=True).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def laid_together(paths: Sequence[Path]) -> bytes:
    """Four photos as one picture of 12 megapixels."""
    sheet = Image.new("RGB", (4000, 3000))
    for number, path in enumerate(paths):
        with Image.open(path) as image:
            sheet.paste(image.convert("RGB").resize((2000, 1500)), (number % 2 * 2000, number // 2 * 1500))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def large_seconds(rows: Sequence[Row], regions: Path) -> list[float]:
    """CPU seconds for each picture of 12 megapixels that the photos make, four at a time."""
    paths = [row.path for row in rows]
    fours = [paths[start : start + 4] for start in range(0, len(paths) - 3, 4)]
    with TemporaryDirectory() as folder:
        sheets = []
        for number, four in enumerate(fours):
            sheet = Path(folder) / f"{number}.jpg"
            sheet.write_bytes(laid_together(four))
            sheets.append(Row(sheet, None, None, frozenset()))
        return [one.cpu_seconds for one in asyncio.run(run_all(sheets, regions, turn=0))]


async def run_all(rows: Sequence[Row], regions: Path, *, turn: int) -> list[Outcome]:
    """Answer for each photo, one after the other, everything loaded beforehand."""
    method = method_of("detective")
    toolset = method.toolset(all_tools())
    atlas = OfflineAtlas(regions)
    outcomes = []
    for number, row in enumerate([rows[0], *rows] if rows else []):
        opened = open_photo(turned(row.path, turn) if turn else row.path)
        begin = time.process_time()
        detective = Detective()
        finding = await locate([opened], AgentSetup(method=method, policy=detective, toolset=toolset), Resources(atlas))
        seconds = time.process_time() - begin
        if number and detective.newest is not None:  # The first one loads networks and tables.
            decision = detective.newest.decision
            outcomes.append(Outcome(row, finding.answer, tuple(_lines(finding)), seconds, decision))
        print(f"\r{number} of {len(rows)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return outcomes


def _lines(finding: Finding) -> Iterator[Mapping[str, Any]]:
    for observation in finding.trajectory.observations:
        if observation.name == "read_text" and isinstance(observation.data, Mapping):
            yield from observation.data.get("lines", ())


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All figures of a set of outcomes."""
    answered = [one for one in outcomes if one.answer.located]
    claimed = [one for one in answered if one.claimed]
    bins = []
    for low, high in pairwise(EDGES):
        inside = [one for one in answered if low <= one.probability < high or one.probability == high == 1.0]
        if inside:
            bins.append({
                "from": low, "to": high, "answers": len(inside),
                "stated": statistics.mean(one.probability for one in inside),
                "right": sum(one.right for one in inside) / len(inside),
            })  # fmt: skip
    error = sum(abs(one["stated"] - one["right"]) * one["answers"] for one in bins) / max(1, len(answered))
    offs = [one.off_km for one in claimed if one.off_km is not None]
    seconds = sorted(one.cpu_seconds for one in outcomes)
    return {
        "photos": len(outcomes),
        "answered": len(answered),
        "answered_right": sum(one.right for one in answered),
        "claimed": len(claimed),
        "claimed_right": sum(one.right for one in claimed),
        "claimed_wrong": sum(not one.right for one in claimed),
        "calibration_error": error if answered else None,
        "bins": bins,
        "claimed_off_km": sorted(offs),
        "cpu_seconds_p50": statistics.median(seconds) if seconds else None,
        "cpu_seconds_p95": seconds[int(0.95 * (len(seconds) - 1))] if seconds else None,
    }


def show(result: Mapping[str, Any]) -> None:
    """The figures for people."""
    print(f"photos                     {result['photos']}")
    print(f"answered                   {result['answered']} ({result['answered_right']} right)")
    print(
        f"answered at {STATED:g} or more    {result['claimed']} "
        f"({result['claimed_right']} right, {result['claimed_wrong']} wrong)"
    )
    if result["calibration_error"] is not None:
        print(f"expected calibration error {result['calibration_error']:.3f}")
    for one in result["bins"]:
        print(
            f"  stated {one['from']:.2f} to {one['to']:.2f}: {one['answers']:3} answers, "
            f"{one['stated']:.0%} stated, {one['right']:.0%} right"
        )
    if result["cpu_seconds_p50"] is not None:
        print(f"CPU seconds a photo        {result['cpu_seconds_p50']:.2f} p50, {result['cpu_seconds_p95']:.2f} p95")


def draw_diagram(bins: Sequence[Mapping[str, Any]], path: Path) -> None:
    """A reliability diagram: stated probability across, observed share up, the area of a dot for its answers."""
    side, edge = 640, 70
    image = Image.new("RGB", (side, side), "white")
    pen = ImageDraw.Draw(image)

    def at(stated: float, observed: float) -> tuple[float, float]:
        return edge + stated * (side - 2 * edge), side - edge - observed * (side - 2 * edge)

    for step in range(6):
        share = step / 5
        pen.line([at(share, 0), at(share, 1)], fill="#e4e4e4")
        pen.line([at(0, share), at(1, share)], fill="#e4e4e4")
        x, y = at(share, 0)
        pen.text((x, y + 8), f"{share:.0%}", fill="black", anchor="ma", font_size=16)
        x, y = at(0, share)
        pen.text((x - 8, y), f"{share:.0%}", fill="black", anchor="rm", font_size=16)
    pen.line([at(0, 0), at(1, 1)], fill="#888888", width=2)
    for one in bins:
        x, y = at(one["stated"], one["right"])
        radius = 4 + 2.5 * one["answers"] ** 0.5
        pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill="#1f6feb")
        pen.text((x, y - radius - 4), str(one["answers"]), fill="black", anchor="mb", font_size=16)
    pen.text((side / 2, side - 22), "stated probability", fill="black", anchor="mm", font_size=18)
    pen.text((edge, 34), "share that is right (a dot's label: its answers)", fill="black", font_size=18)
    image.save(path)


def described(one: Outcome) -> dict[str, Any]:
    """One outcome as plain data."""
    answer = one.answer
    return {
        "file": one.row.path.name,
        "truth": one.row.country,
        "words": sorted(one.row.words),
        "country": one.country,
        "place": answer.address.precise.conclusion or answer.address.region.conclusion,
        "probability": answer.probability if answer.located else None,
        "radius_km": answer.radius_km,
        "point": [answer.point.lat, answer.point.lon] if answer.point else None,
        "right": one.right if answer.located else None,
        "off_km": one.off_km,
        "cpu_seconds": round(one.cpu_seconds, 2),
        "decision": {
            "level": one.decision.level,
            "probability_raw": one.decision.probability_raw,
            "kinds": one.decision.kinds,
            "margin": one.decision.margin,
        },
        "lines": [dict(line) for line in one.lines],
        "explanation": answer.explanation,
    }


def write_details(outcomes: Iterable[Outcome], path: Path) -> None:
    """One JSON line for each photo."""
    with path.open("w", encoding="utf-8") as stream:
        for one in outcomes:
            stream.write(json.dumps(described(one), ensure_ascii=False) + "\n")


def main() -> int:  # noqa: C901  (one branch for each option)
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("table", type=Path)
    options.add_argument("--words", type=Path, help="JSONL: what a person read in each photo")
    options.add_argument("--region", type=Path, action="append", default=[], help="an OpenStreetMap extract to add")
    options.add_argument("--turn", type=int, choices=(0, 90, 180, 270), default=0, help="turn every photo clockwise")
    options.add_argument("--half", choices=("a", "b"), help="every other photo by name")
    options.add_argument("--every", type=int, default=1, help="every Nth photo only")
    options.add_argument("--limit", type=int)
    options.add_argument("--large", action="store_true", help="time pictures of 12 megapixels, four photos each")
    options.add_argument("--details", type=Path, help="write what was read and answered for each photo")
    options.add_argument("--diagram", type=Path, help="write the reliability diagram as a picture")
    options.add_argument("--show", action="store_true", help="print every answer")
    options.add_argument("--json", action="store_true")
    options.add_argument("--check", action="store_true")
    chosen = options.parse_args()
    for path in (chosen.folder, chosen.table, *chosen.region, *filter(None, [chosen.words])):
        if not path.exists():
            print(f"No such file or folder: {path}", file=sys.stderr)
            return 2
    rows = sorted(read_table(chosen.folder, chosen.table, chosen.words), key=lambda row: row.path.name)
    if chosen.half:
        rows = rows[chosen.half == "b" :: 2]
    rows = rows[:: max(1, chosen.every)][: chosen.limit]
    ensure_base()
    with TemporaryDirectory() as folder:
        for extract in chosen.region:
            import_osm(extract, folder=Path(folder))
        if chosen.large:
            seconds = sorted(large_seconds(rows, Path(folder)))
            print(
                f"CPU seconds a picture of 12 megapixels: {statistics.median(seconds):.2f} p50, {seconds[-1]:.2f} most"
            )
            print(f"{len(seconds)} pictures; machine: {MACHINE}")
            return 0
        outcomes = asyncio.run(run_all(rows, Path(folder), turn=chosen.turn))
    result = figures(outcomes)
    if chosen.details:
        write_details(outcomes, chosen.details)
    if chosen.diagram:
        draw_diagram(result["bins"], chosen.diagram)
    if chosen.json:
        print(json.dumps({"machine": MACHINE, **result}, indent=2))
    else:
        for one in outcomes if chosen.show else ():
            if one.answer.located:
                mark = "right" if one.right else "wrong" if one.row.country else "unsupported"
                truth = one.row.country or "|".join(sorted(one.row.words)) or "?"
                print(f"{one.row.path.name:<18} {mark:<11} {truth:<6} {one.probability:.2f} {one.answer.address}")
        show(result)
        print(f"machine: {MACHINE}")
    failed = result["claimed"] and result["claimed_right"] < PROMISED_RIGHT * result["claimed"]
    if chosen.check and failed:
        print(f"fewer than {PROMISED_RIGHT:.0%} of the answers at {STATED:g} or more are right", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
