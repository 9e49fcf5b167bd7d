"""How much CPU `geosleuth locate PHOTO --json` takes for photos of about 2 megapixels, as a command in a warm home.

    python benchmarks/warm_locate.py FOLDER [--photos 20] [--fresh 5] [--home DIR] [--check]

FOLDER holds JPEG photos; an even choice of those with at least 1.5 megapixels is taken, and larger ones are shrunk to
2. Every photo is a process of its own, as users start it: its CPU seconds are those of the process and its children,
so that a busy machine hardly moves them. The home is a new one, in which one command has built the atlas, or DIR. Then
one process locates each photo twice, and shows where the seconds go: what the second time takes is work on the photo,
the rest is the start. ``--fresh N`` also locates N of the photos in a new home each, and again: the first command
builds the atlas and prepares tables. ``--check`` exits with 1 where the median is over 2.2 s, or where the median first
command takes over 5 s more than the second one.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_CPU_S = 2.2
MOST_FRESH_S = 5.0  # more than in a warm home
MEGAPIXELS = 2.0
LEAST_MEGAPIXELS = 1.5
WARMING = 3
GEOSLEUTH = Path(sys.executable).with_name("geosleuth")

# Imports are timed where they nest least: what an import imports in turn is part of it.
PHASES = """
import time, sys, json
begun = time.process_time()
import builtins, importlib
spent, depth = 0.0, 0
def timed(call):
    def run(*given, **named):
        global spent, depth
        if depth:
            return call(*given, **named)
        depth, since = 1, time.process_time()
        try:
            return call(*given, **named)
        finally:
            depth, spent = 0, spent + time.process_time() - since
    return run
builtins.__import__ = timed(builtins.__import__)
importlib.import_module = timed(importlib.import_module)
import geosleuth
import geosleuth.cli.handlers.locate
marks = [time.process_time()]
for _ in range(2):
    geosleuth.locate(sys.argv[1], model="none", offline=True)
    marks.append(time.process_time())
print(json.dumps({"interpreter": begun, "imports": spent, "whole": marks[1], "work": marks[2] - marks[1]}))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took: CPU seconds of the process and its children, and seconds on the clock."""

    cpu_s: float
    wall_s: float


def chosen(folder: Path, count: int, into: Path) -> Iterator[Path]:
    """An even choice of a folder's photos of at least 1.5 megapixels, none larger than 2."""
    from PIL import Image

    large = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in {".jpg", ".jpeg"}:
            with Image.open(path) as picture:
                if picture.width * picture.height >= LEAST_MEGAPIXELS * 1e6:
                    large.append(path)
    if not large:
        sys.exit(f"No JPEG photo of at least {LEAST_MEGAPIXELS} megapixels in {folder}.")
    step = max(1.0, len(large) / count)
    for number in range(min(count, len(large))):
        path = large[int(number * step)]
        with Image.open(path) as picture:
            shrink = (MEGAPIXELS * 1e6 / (picture.width * picture.height)) ** 0.5
            if shrink >= 1:
                yield path
                continue
            size = int(picture.width * shrink), int(picture.height * shrink)
            smaller = into / f"{number}-{path.stem}.jpg"
            picture.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(smaller, quality=92)
            yield smaller


def _environment(home: Path) -> dict[str, str]:
    # What is installed is compiled once; where Python may not keep that, every start would compile it again.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"GEOSLEUTH_HOME": str(home)}


def command(home: Path, *arguments: str | Path) -> Cost:
    """Run the command in a home and return what it took."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [GEOSLEUTH, *arguments], env=_environment(home), stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(f"geosleuth {' '.join(map(str, arguments))}: {said.read().decode(errors='replace').strip()}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begun)


def phases(home: Path, photo: Path) -> dict[str, float]:
    """Where the CPU seconds of a photo go."""
    done = subprocess.run(
        [sys.executable, "-c", PHASES, str(photo)],
        env=_environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    found["loading"] = found["whole"] - found["interpreter"] - found["imports"] - found["work"]
    return found


def fresh_costs(photos: Sequence[Path], scratch: Path) -> list[float]:
    """CPU seconds that the first command of a new home takes more than the second one, for each photo."""
    more = []
    for photo in photos:
        with tempfile.TemporaryDirectory(dir=scratch) as home:
            first, second = (command(Path(home), "locate", photo, "--json", "--model", "none") for _ in range(2))
        more.append(first.cpu_s - second.cpu_s)
    return more


def measured(photos: list[Path], home: Path) -> dict[str, Any]:
    """Every figure, with the machine it was taken on."""
    for photo in photos[:WARMING]:  # builds what a warm home has
        command(home, "locate", photo, "--json", "--model", "none")
    load = os.getloadavg()[0]
    costs = [command(home, "locate", photo, "--json", "--model", "none") for photo in photos]
    cpu = sorted(cost.cpu_s for cost in costs)
    shares = [phases(home, photo) for photo in photos]
    return {
        "machine": {"arch": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "load": load,
        "photos": {photo.name: (cost.cpu_s, cost.wall_s) for photo, cost in zip(photos, costs, strict=True)},
        "median_s": statistics.median(cpu),
        "p95_s": cpu[min(len(cpu) - 1, round(0.95 * (len(cpu) - 1)))],
        "within": sum(one <= MOST_CPU_S for one in cpu),
        "shares": {name: statistics.median(one[name] for one in shares) for name in shares[0]},
        "help_s": command(home, "--help").cpu_s,
        "version_s": command(home, "--version").cpu_s,
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    machine, shares = found["machine"], found["shares"]
    print(f"{machine['arch']}, {machine['cpus']} CPUs, Python {machine['python']}, load {found['load']:.1f}")
    for name, (cpu_s, wall_s) in found["photos"].items():
        print(f"  {cpu_s:5.2f} s of CPU, {wall_s:5.2f} s on the clock  {name}")
    print(
        f"{len(found['photos'])} photos: median {found['median_s']:.2f} s of CPU, p95 {found['p95_s']:.2f} s; "
        f"{found['within']} take at most {MOST_CPU_S:g} s"
    )
    start = shares["interpreter"] + shares["imports"] + shares["loading"]
    print(
        f"medians: start {start:.2f} s (Python {shares['interpreter']:.2f}, imports {shares['imports']:.2f}, "
        f"models, atlas and tables {shares['loading']:.2f}), work on the photo {shares['work']:.2f} s"
    )
    print(f"geosleuth --help {found['help_s']:.2f} s, geosleuth --version {found['version_s']:.2f} s of CPU")
    if fresh := found["fresh"]:
        print(
            f"first command of a new home, {len(fresh)} photos: median {statistics.median(fresh):.2f} s of CPU more "
            f"than the second one, {min(fresh):.2f} to {max(fresh):.2f} s"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=20)
    parser.add_argument("--fresh", type=int, default=0, metavar="N", help="locate N photos in new homes, too")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        photos = list(chosen(asked.folder, asked.photos, Path(scratch)))
        found = measured(photos, asked.home or Path(scratch) / "home")
        step = max(1, len(photos) // max(1, asked.fresh))
        found["fresh"] = fresh_costs(photos[::step][: asked.fresh], Path(scratch))
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)
    late = bool(found["fresh"]) and statistics.median(found["fresh"]) > MOST_FRESH_S
    if asked.check and (late or found["median_s"] > MOST_CPU_S):
        sys.exit(1)


if __name__ == "__main__":
    main()
