"""How well and how fast the detective locates made-up street scenes with real facts, by a held-out split.

    python benchmarks/detective.py [--count N] [--seed N] [--split held-out] [--batch N] [--jobs N] [--kinds small]
                                   [--show] [--json] [--check]
    python benchmarks/detective.py --read-only [--count N] [--show]

Scenes are drawn by tests/support/scenes.py, which shares no table with the detective: names of businesses, streets and
stops straight from OpenStreetMap extracts, example numbers of the package phonenumbers, sign texts in many scripts,
some of them misleading. The detective's probabilities were fitted on the split called "calibration"
(scripts/calibrate_detective.py); the figures to quote are those of the held-out one, whose places are others.

Counted: the right country where anything tells it; within 1 km where the name of a business in an added region can be
read; how often a misleading thing is followed; the expected difference between stated and observed probability; points
claimed where there is no clue; seconds a photo of 2 megapixels, all loaded; photos a second in a batch, with memory:
as `geosleuth locate FOLDER --out DIR/` does it, reports and all, with the regions that this machine's own atlas has.
`--read-only` measures instead how much of what is drawn can be read at all. `--check` exits with 1 where a promise is
broken. Without the extracts beside the repository, scenes are of the bundled Monaco and of towns alone.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from PIL import Image  # noqa: E402
from rapidfuzz.distance import Levenshtein  # noqa: E402

from geosleuth.atlas.base import ensure_base  # noqa: E402
from geosleuth.cli.handlers.locate_batch import locate_batch  # noqa: E402
from geosleuth.photo.text import TextLine, detect_script, read_text  # noqa: E402
from geosleuth.pipeline.request import LocateRequest  # noqa: E402
from scene_drawing import DrawnText  # noqa: E402
from scene_places import REGIONS, extracts  # noqa: E402
from scene_scoring import (  # noqa: E402
    PROMISED_PER_SECOND,
    PROMISED_SECONDS,
    Bench,
    Outcome,
    by_kind,
    figures,
    open_bench,
)
from scenes import Kind, Scene, Split, make_scenes  # noqa: E402

FIRST_VIEW_PIXELS = 2_000_000
LEGIBLE = 0.8
MOST_GROWTH_MB = 100.0


def resident_mb() -> float:
    """Memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def run_all(bench: Bench, scenes: Sequence[Scene], *, show: bool) -> list[Outcome]:
    """One scene after the other."""
    outcomes = []
    for number, scene in enumerate(scenes, 1):
        outcome = await bench.run(scene)
        outcomes.append(outcome)
        if show and outcome.faults:
            print(failure(outcome), flush=True)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(scenes)}", end="", file=sys.stderr, flush=True)
    return outcomes


def failure(outcome: Outcome) -> str:
    """What went wrong, with all that one needs to see why."""
    scene, answer = outcome.scene, outcome.answer
    truth = f"{scene.truth.city}, {scene.truth.country}" if scene.truth else "nothing to be told"
    where = f"{answer.address}, p {answer.probability}, {answer.radius_km} km" if answer.located else "no place"
    missed = f", {outcome.off_km:,.1f} km off" if answer.located and scene.truth else ""
    led = f"\n  misleading: {scene.misleading} ({scene.misleading_country})" if scene.misleading else ""
    return (
        f"{scene.id} {scene.kind}: {'; '.join(outcome.faults)}\n  truth: {truth}\n  answer: {where}{missed}{led}\n"
        f"  drawn: {' | '.join(scene.texts)}\n  read:  {' | '.join(outcome.read)}"
    )


def run_batch(scenes: Sequence[Scene], jobs: int | None) -> dict[str, float]:
    """Many scenes as files, by the command's own way, with a report and what it goes on from for each.

    It begins with nothing loaded. Memory is compared from the first quarter on, when all is.
    """
    held: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            held.append(resident_mb())

    with TemporaryDirectory() as folder:
        photos = []
        for number, scene in enumerate(scenes):
            photos.append(Path(folder) / f"{number:04}.jpg")
            photos[-1].write_bytes(scene.jpeg())
        request = LocateRequest(offline=True, out=(f"{folder}/findings/",))
        watching = threading.Thread(target=watch)
        watching.start()
        begin = time.perf_counter()
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                locate_batch(photos, request, as_json=True, jobs=jobs)
        finally:
            over.set()
            watching.join()
        seconds = time.perf_counter() - begin
    held.append(resident_mb())
    quarter = max(1, len(held) // 4)
    early, late = held[quarter : 2 * quarter], held[-quarter:]
    return {
        "photos": len(scenes),
        "photos_per_second": len(scenes) / seconds,
        "resident_mb": max(held),
        "growth_mb": (max(late) - max(early)) if early else 0.0,
    }


def measure_reading(scenes: Sequence[Scene], *, show: bool) -> dict[str, Any]:
    """How much of what is drawn can be read: on the first view, and for small text on a cut of the original."""
    right: dict[str, list[float]] = defaultdict(list)
    for scene in scenes:
        drawn = scene.drawn()
        share = min(1.0, (FIRST_VIEW_PIXELS / (drawn.image.width * drawn.image.height)) ** 0.5)
        view = drawn.image.resize((round(drawn.image.width * share), round(drawn.image.height * share)))
        for title, readings in (
            ("", reading_of(view, drawn.texts, share)),
            (" cut", cut_readings(scene, drawn.image, drawn.texts)),
        ):
            for text, read in zip(drawn.texts, readings, strict=False):
                accuracy = max(0.0, 1 - Levenshtein.distance(text.text, read) / len(text.text))
                if show and accuracy < LEGIBLE:
                    print(f"{scene.id}{title}: {text.text!r} ({text.letter_px:.0f} px) read as {read!r}", flush=True)
                right[f"{scene.kind}{title}"].append(accuracy)
                right[f"{detect_script(text.text)}{title}"].append(accuracy)
    return {
        name: {"lines": len(found), "characters_right": sum(found) / len(found), "legible": _legible(found)}
        for name, found in sorted(right.items())
    }


def cut_readings(scene: Scene, image: Image.Image, texts: Sequence[DrawnText]) -> list[str]:
    """The same on a cut around the house, where a scene has it far away."""
    if scene.far == 1 or not texts:
        return []
    margin = 40
    left = max(0, min(text.box[0] for text in texts) - margin)
    top = max(0, min(text.box[1] for text in texts) - margin)
    cut = image.crop(
        (left, top, max(text.box[2] for text in texts) + margin, max(text.box[3] for text in texts) + margin)
    )
    return reading_of(cut, texts, 1.0, (left, top))


def reading_of(
    image: Image.Image, texts: Sequence[DrawnText], share: float, corner: tuple[int, int] = (0, 0)
) -> list[str]:
    """For each drawn line, what was read where it stands."""
    # However busy the machine is: the question is what can be read, not how fast.
    lines = read_text(image, seconds=120)
    return [_at(lines, text, share, corner) for text in texts]


def _at(lines: Sequence[TextLine], text: DrawnText, share: float, corner: tuple[int, int]) -> str:
    left, top, right, bottom = text.box
    here = []
    for line in lines:
        x = (line.bounds[0] + line.bounds[2]) / 2 / share + corner[0]
        y = (line.bounds[1] + line.bounds[3]) / 2 / share + corner[1]
        if left <= x <= right and top <= y <= bottom:
            here.append(line.text)
    return " ".join(here)


def _legible(found: Sequence[float]) -> float:
    return sum(share >= LEGIBLE for share in found) / len(found)


def measure(chosen: argparse.Namespace, scenes: Sequence[Scene]) -> dict[str, Any]:
    """All figures."""
    ensure_base()
    with TemporaryDirectory() as folder:
        bench = open_bench(Path(folder))
        outcomes = asyncio.run(run_all(bench, scenes, show=chosen.show and not chosen.json))
        measured = figures(outcomes)
        result: dict[str, Any] = {
            **asdict(measured),
            "located_within_25_km": _located(outcomes, 25.0),
            "stated_and_observed": [
                (one.answer.probability, one.within_radius)
                for one in outcomes
                if one.scene.truth is not None and one.answer.located
            ],
            "kinds": by_kind(outcomes),
            "broken": measured.broken(),
        }
        if measured.seconds_p50 is not None and measured.seconds_p50 > PROMISED_SECONDS:
            result["broken"].append(f"{measured.seconds_p50:.1f} s a photo of 2 MP, promised {PROMISED_SECONDS:g} s")
        if chosen.batch:
            several = make_scenes(chosen.batch, split=chosen.split, seed=chosen.seed + 1)
            result["batch"] = batch = run_batch(several, chosen.jobs)
            if batch["photos_per_second"] < PROMISED_PER_SECOND:
                result["broken"].append(f"{batch['photos_per_second']:.2f} photos/s, promised {PROMISED_PER_SECOND:g}")
            if batch["growth_mb"] > MOST_GROWTH_MB:
                result["broken"].append(f"memory grew by {batch['growth_mb']:.0f} MB, at most {MOST_GROWTH_MB:g}")
    return result


def _located(outcomes: Sequence[Outcome], reach_km: float) -> float:
    told = [one for one in outcomes if one.scene.truth is not None]
    return sum(one.off_km <= reach_km for one in told) / max(1, len(told))


def show(result: dict[str, Any]) -> None:
    """The figures for people."""

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    error = result["calibration_error"]
    print(f"scenes                          {result['scenes']}")
    print(f"right country                   {share(result['right_country'])}")
    print(f"within 1 km of a legible name   {share(result['near_business'])}")
    print(f"within 25 km, all               {share(result['located_within_25_km'])}")
    print(f"misleading thing followed       {share(result['followed'])}")
    print(f"expected calibration error      {'-' if error is None else f'{error:.3f}'}")
    print(f"points claimed without a clue   {result['confident_without_clue']} of {result['without_clue']}")
    if result["seconds_p50"] is not None:
        print(f"seconds a photo of 2 MP, p50    {result['seconds_p50']:.2f}")
    for kind, counts in result["kinds"].items():
        wrong = ", ".join(f"{fault} {count}" for fault, count in counts.items() if fault != "scenes")
        print(f"  {kind:<11} {counts['scenes']:>3}  {wrong or 'all right'}")
    if "batch" in result:
        batch = result["batch"]
        print(
            f"batch of {batch['photos']:.0f}: {batch['photos_per_second']:.2f} photos/s, "
            f"{batch['resident_mb']:.0f} MB at most, grew by {batch['growth_mb']:.0f} MB"
        )


def show_reading(result: dict[str, Any]) -> None:
    """What can be read, for people."""
    for name, found in result.items():
        print(
            f"{name:<18} {found['lines']:>5} lines  {found['characters_right']:>6.1%} of characters  "
            f"{found['legible']:>6.1%} legible"
        )


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--split", choices=get_args(Split), default="held-out")
    options.add_argument("--kinds", default=",".join(get_args(Kind)), help="comma-separated")
    options.add_argument("--batch", type=int, default=0, help="photos of a batch to time; 200 for the promised figure")
    options.add_argument("--jobs", type=int, help="photos of the batch at once; the command's own number if left out")
    options.add_argument("--read-only", action="store_true", help="measure what can be read, nothing else")
    options.add_argument("--show", action="store_true", help="print every failure, or every line misread")
    options.add_argument("--json", action="store_true")
    options.add_argument("--check", action="store_true")
    chosen = options.parse_args()
    if absent := sorted(set(REGIONS) - set(extracts())):
        print(f"without extracts of {', '.join(absent)}", file=sys.stderr)
    scenes = make_scenes(chosen.count, split=chosen.split, seed=chosen.seed)
    scenes = [scene for scene in scenes if scene.kind in chosen.kinds.split(",")]
    result = (
        measure_reading(scenes, show=chosen.show and not chosen.json) if chosen.read_only else measure(chosen, scenes)
    )
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if chosen.json:
        print(json.dumps({"machine": machine, "split": chosen.split, "seed": chosen.seed, **result}, indent=2))
    else:
        (show_reading if chosen.read_only else show)(result)
        print(f"machine: {machine}; split: {chosen.split}, seed {chosen.seed}")
    faults = result["broken"] if chosen.check and not chosen.read_only else []
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
