"""What drawn scenes ask of whoever looks: text, zoom and the map. Held-out scenes, fixed contenders.

    python benchmarks/world.py [--what locating|zoom|tools|speed|all] [--count N] [--signs N] [--jobs N]
                               [--keep FILE] [--json] [--check]

- locating: a blind prior, the detective, and an oracle (the same detective, reading by clue boxes) on the same scenes,
  by locatability and by the finest level that a clue of the scene reaches.
- zoom: small signs read by the package's own text reading in a first view of 2 million pixels, and again in a crop
  around the sign.
- tools: a scripted policy that was there before the scenes (the detective, reading by clue boxes) with map tools and
  without, and what names that stand in several towns (chains, homonyms) do to it; beside table 5 of Thinking with Map.
- speed: scenes a second, from a seed to a JPEG.

`--keep` holds tries, so that an interrupted run goes on. `--check` exits with 1 where a promise is broken.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cv2
from rapidfuzz.distance import Levenshtein

from geosleuth.lab.scenes.design import Wants
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.world import Noise
from geosleuth.lab.score import list_published_rows
from geosleuth.lab.score.metrics import wilson
from geosleuth.names import fold
from geosleuth.photo import crop, first_view, open_photo
from geosleuth.photo.text import TextLine, read_text
from world_contenders import Task, Tried, all_tried, scene_of

SEED: Final = 20_001
THRESHOLDS_KM = (0.5, 25.0, 200.0, 750.0)
NOISES: tuple[Noise, ...] = ("none", "chains", "homonyms", "both")
LEGIBLE = 0.8
AROUND = 0.6
"""How much of a sign's size is left around it in the crop."""

PROMISED_ZOOM_POINTS, PROMISED_TOOL_POINTS, PROMISED_SCENES_A_SECOND = 30.0, 20.0, 20.0


def share(tries: Sequence[Tried], holds: Callable[[Tried], bool]) -> float:
    """Percent of the tries for which it holds."""
    return 100 * sum(map(holds, tries)) / len(tries) if tries else float("nan")


def within(km: float) -> Callable[[Tried], bool]:
    """Whether the answer lies so near."""
    return lambda one: one.off_km is not None and one.off_km < km


def band(one: Tried) -> str:
    """The step of the locatability scale."""
    return next(name for least, name in ((8, "8-10"), (6, "6-7"), (4, "4-5"), (0, "0-3")) if one.locatability >= least)


def row(tries: Sequence[Tried]) -> str:
    """One line of figures."""
    spots = "  ".join(f"{share(tries, within(km)):5.1f}" for km in THRESHOLDS_KM)
    country = wilson(sum(one.country_right for one in tries), len(tries))
    return (
        f"{len(tries):5}  {spots}  {100 * country.value:5.1f} ({100 * country.low:.0f}-{100 * country.high:.0f})"
        f"  {share(tries, lambda one: one.off_km is None):5.1f}"
    )


def locating(count: int, jobs: int, keep: Path | None) -> dict[str, Any]:
    """Blind, detective and oracle on the same scenes."""
    contenders = ("blind", "detective", "oracle")
    tasks = [Task(who, number, SEED, "held-out", "both") for number in range(count) for who in contenders]
    tries = all_tried(tasks, keep, jobs, progress("locating"))
    print(f"\n{count} held-out scenes, seed {SEED}. Percent within 0.5, 25, 200, 750 km; right country; no point given")
    print(f"{'':34}{'n':>5}  {'0.5':>5}  {'25':>5}  {'200':>5}  {'750':>5}  country        none")
    for title, slices in (
        ("all", lambda _: "all"),
        ("finest clue", lambda one: one.finest),
        ("locatability", band),
        ("small signs", lambda one: "needs zoom" if one.needs_zoom else "plain"),
        ("misleading things", lambda one: "misleading" if one.misleading else "none"),
    ):
        for name in sorted({slices(one) for one in tries}):
            for who in contenders:
                part = [one for one in tries if one.contender == who and slices(one) == name]
                print(f"{title + ': ' + name if title != name else name:22}{who:12}{row(part)}")
    misled = {
        who: share([one for one in tries if one.contender == who and one.misleading], lambda one: one.misled)
        for who in contenders
    }
    print("followed a misleading thing into its country, of scenes that have one: " + said(misled))
    found = {who: share([one for one in tries if one.contender == who], within(25)) for who in contenders}
    return {"within_25_km": found, "misled": misled}


def zoom(count: int, jobs: int) -> dict[str, Any]:
    """Small signs: read in the first view, and after zooming in."""
    with ProcessPoolExecutor(jobs) as pool:
        pairs = [pair for part in pool.map(read_small, range(count)) for pair in part]
    before, after = (100 * sum(pair[at] for pair in pairs) / max(1, len(pairs)) for at in (0, 1))
    print(f"\nsmall signs: {len(pairs)} lines on {count} scenes; read: at least {LEGIBLE:.0%} of the letters are right")
    print(f"first view of 2 million pixels {before:.1f} %, after zoom {after:.1f} %: {after - before:+.1f} points")
    return {"lines": len(pairs), "first_view": before, "after_zoom": after}


def read_small(number: int) -> list[tuple[bool, bool]]:
    """For each small line of a scene: whether it was read in the first view, and in a crop around it."""
    scene, _ = scene_of(Task("detective", number, SEED, "held-out", "both", Wants(small=True)))
    drawing = draw_scene(scene)
    photo = open_photo(drawing.jpeg()).photo
    view = first_view(photo)
    whole = read_text(view.image)
    clues = {clue.id: clue for clue in scene.clues if clue.visibility == "small"}
    pairs = []
    for mark in drawing.marks:
        if mark.line is None or mark.clue not in clues:
            continue
        text = clues[mark.clue].lines[mark.line]
        scale = view.size[0] / scene.size[0]
        left, top, right, bottom = (side * scale for side in mark.box)
        across, down = AROUND * (right - left), AROUND * (bottom - top)
        box = (left - across, top - down, right + across, bottom + down)
        box = (max(0.0, box[0]), max(0.0, box[1]), min(view.size[0], box[2]), min(view.size[1], box[3]))
        closer = crop(view, box, photo)
        pairs.append((was_read(text, whole), was_read(text, read_text(closer.image))))
    return pairs


def was_read(text: str, lines: Iterable[TextLine]) -> bool:
    """Whether some line, or all of them together, has enough of the text's letters in their order."""
    wanted = fold(text).replace(" ", "")
    read = [fold(line.text).replace(" ", "") for line in lines]
    best = max((Levenshtein.normalized_similarity(wanted, one) for one in (*read, "".join(read))), default=0.0)
    return best >= LEGIBLE


def tools(count: int, jobs: int, keep: Path | None) -> dict[str, Any]:
    """The scripted policy with map tools and without, on maps with more and less noise."""
    with_map, without = "oracle", "oracle without map"
    print(f"\na scripted policy (the detective, reading by clue boxes), {count} held-out scenes, seed {SEED}")
    print(f"{'map noise':12}{'tools':22}{'0.5 km':>8}{'25 km':>8}{'200 km':>8}{'750 km':>8}")
    figures: dict[str, Any] = {}
    for noise in NOISES:
        tasks = [Task(who, number, SEED, "held-out", noise) for number in range(count) for who in (without, with_map)]
        tries = all_tried(tasks, keep, jobs, progress(f"tools, noise {noise}"))
        for who in (without, with_map):
            part = [one for one in tries if one.contender == who]
            shares = [share(part, within(km)) for km in THRESHOLDS_KM]
            figures[f"{noise}: {who}"] = shares
            label = "with map tools" if who == with_map else "without"
            print(f"{noise:12}{label:22}" + "".join(f"{value:8.1f}" for value in shares))
    print("Thinking with Map, table 5 (Qwen3-VL-30B-A3B on MAPBench, as published):")
    for published in list_published_rows(paper="twm", table=5):
        values = [published.values.get(name) for name in ("acc@0.5km", "acc@25km", "acc@200km", "acc@750km")]
        print(
            f"{'':12}{published.system:22}"
            + "".join(f"{value:8.1f}" if value is not None else " " * 8 for value in values)
        )
    return figures


def speed(count: int, jobs: int) -> dict[str, Any]:
    """Scenes a second at 1024 x 768, from the seed to the JPEG, with one thread a process as `world make` has it."""
    with ProcessPoolExecutor(jobs, initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        list(pool.map(one_jpeg, range(10_000, 10_000 + 4 * jobs)))  # fonts and tables are loaded
        began = time.perf_counter()
        sizes = list(pool.map(one_jpeg, range(count), chunksize=4))
        took = time.perf_counter() - began
    print(f"\n{count} scenes of 1024 x 768 in {took:.1f} s with {jobs} processes: {count / took:.1f} a second", end="")
    print(f", {sum(sizes) / len(sizes) / 1000:.0f} kB each")
    return {"scenes_a_second": count / took}


def one_jpeg(number: int) -> int:
    """Design, draw and encode one scene."""
    scene, _ = scene_of(Task("detective", number, SEED, "train", "both", Wants(small=False)))
    return len(draw_scene(scene).jpeg())


def progress(what: str) -> Callable[[int, int], None]:
    """A line on the terminal that says how far it is."""

    def heard(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{what}: {done} of {of} ", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return heard


def said(figures: dict[str, float]) -> str:
    """Figures with their names."""
    return ", ".join(f"{name} {value:.1f} %" for name, value in figures.items())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=("locating", "zoom", "tools", "speed", "all"), default="all")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--signs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    wanted = ("locating", "zoom", "tools", "speed") if asked.what == "all" else (asked.what,)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    figures: dict[str, Any] = {}
    if "speed" in wanted:
        figures["speed"] = speed(min(asked.count, 200), asked.jobs)
    if "zoom" in wanted:
        figures["zoom"] = zoom(asked.signs, asked.jobs)
    if "tools" in wanted:
        figures["tools"] = tools(asked.count, asked.jobs, asked.keep)
    if "locating" in wanted:
        figures["locating"] = locating(asked.count, asked.jobs, asked.keep)
    if asked.json:
        print(json.dumps(figures))
    broken = list(broken_promises(figures))
    for line in broken:
        print(f"broken: {line}")
    sys.exit(1 if asked.check and broken else 0)


def broken_promises(figures: dict[str, Any]) -> Iterable[str]:
    """What was promised and is not so."""
    if "speed" in figures and figures["speed"]["scenes_a_second"] < PROMISED_SCENES_A_SECOND:
        yield f"fewer than {PROMISED_SCENES_A_SECOND:g} scenes a second"
    if "zoom" in figures and figures["zoom"]["after_zoom"] - figures["zoom"]["first_view"] < PROMISED_ZOOM_POINTS:
        yield f"zoom gives less than {PROMISED_ZOOM_POINTS:g} points"
    if "tools" in figures:
        gain = figures["tools"]["both: oracle"][0] - figures["tools"]["both: oracle without map"][0]
        if gain < PROMISED_TOOL_POINTS:
            yield f"map tools give {gain:.1f} points at 500 m, not {PROMISED_TOOL_POINTS:g}"
    if "locating" in figures:
        found = figures["locating"]["within_25_km"]
        if not found["blind"] + 5 < found["detective"] < found["oracle"]:
            yield "the detective is not clearly between blind and oracle"


if __name__ == "__main__":
    main()
