"""How a GeoNames dump of any size is taken in, and how fast its names are found again.

    python benchmarks/gazetteer.py [--rows N] [--folder FOLDER] [--questions N] [--json] [--check]

A dump is made up first: names of one to three words drawn from 300,000 made-up words, common words more often, with
other names in Latin, Cyrillic, Greek, Arabic and Chinese letters, and one row in 1,000 that is no row of a dump. The
import runs in a process of its own, so that its memory is its own. Then names are asked for as they stand, with one to
three reading errors (as in regions.py), and by a name in another script; a hit counts where one of the first five
features bears the name. Each question is new to the process. `--check` exits with 1 where a promise is broken.
"""

import argparse
import json
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from geosleuth.atlas.gazetteers import Gazetteers, import_geonames
from geosleuth.names import fold
from regions import misread

PROMISED_MB, PROMISED_P95_MS = 2000.0, 10.0
WORDS = 300_000
BAD_EVERY = 1000
_AT_ONCE = 20_000
_CODES = (
    ("P", "PPL", 40), ("H", "STM", 14), ("T", "MT", 9), ("H", "LK", 6), ("T", "ISL", 4), ("L", "PRK", 1),
    ("S", "SCH", 10), ("T", "HLL", 7), ("A", "ADM4", 4), ("H", "BAY", 2), ("S", "FRM", 3),
)  # fmt: skip
_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "kh",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "qu",
    "r",
    "s",
    "sh",
    "sk",
    "st",
    "t",
    "tr",
    "ts",
    "v",
    "w",
    "y",
    "z",
]
_VOWELS = "a a a ai au e e e ei i i ia o o ou u u ua".split()  # noqa: SIM905
_ENDS = ("", "", "", "", "k", "l", "m", "n", "n", "ng", "r", "rd", "s", "st", "t", "x")
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшыэюя"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
_CHINESE = "山水河湖海島城門東西南北大小新安平長江金龍石林田村高白青黃紅天地日月風雲泉溪川口港橋關嶺"
_SCRIPTS = ((_CYRILLIC, 3, 7), (_GREEK, 3, 7), (_ARABIC, 3, 6), (_CHINESE, 1, 3))
_COUNTRIES = ("US", "CN", "RU", "BR", "IN", "FR", "NO", "MX", "ID", "DE", "CA", "TR", "IR", "GR", "EG", "PH")


def words(chance: random.Random) -> list[str]:
    """Made-up words of one to three syllables, each once."""
    found: dict[str, None] = {}
    while len(found) < WORDS:
        many = chance.choice((1, 2, 2, 3, 3))
        made = "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) + chance.choice(_ENDS) for _ in range(many))
        if len(made) >= 3:
            found[made.capitalize()] = None
    return list(found)


def rows(count: int, seed: int) -> Iterator[tuple[int, str, list[str], str]]:
    """Number, name, other names and the row of each feature of the made-up dump."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)
    pool = words(chance)
    shares = np.arange(50, 50 + len(pool)) ** -0.6
    steps = np.cumsum(shares / shares.sum())
    foreign = [
        "".join(chance.choices(letters, k=chance.randint(least, most)))
        for letters, least, most in chance.choices(_SCRIPTS, k=WORDS)
    ]
    codes = np.repeat(np.arange(len(_CODES)), [one[2] for one in _CODES])
    for begin in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - begin)
        drawn = np.minimum(np.searchsorted(steps, draw.random((size, 5))), len(pool) - 1).tolist()
        many = draw.choice((1, 1, 2, 2, 2, 3), size).tolist()
        others = draw.choice((0, 0, 0, 2, 2, 3), size).tolist()
        strange = draw.integers(0, WORDS, (size, 2)).tolist()
        kinds = codes[draw.integers(0, len(codes), size)].tolist()
        people = np.where(draw.random(size) < 0.1, 10 ** draw.uniform(0, 6, size), 0).astype(int).tolist()
        lats, lons = draw.uniform(-60, 75, size).tolist(), draw.uniform(-180, 180, size).tolist()
        lands = draw.integers(0, len(_COUNTRIES), size).tolist()
        for at in range(size):
            parts = [pool[one] for one in drawn[at]]
            name = " ".join(parts[: many[at]])
            called = [
                f"{parts[3]} {parts[0]}",
                f"{foreign[strange[at][0]]} {foreign[strange[at][1]]}",
                f"{name} {parts[4]}",
            ]
            called = called[: others[at]]
            group, code, _ = _CODES[kinds[at]]
            number, lat = begin + at + 1, lats[at]
            line = (
                f"{number}\t{name}\t{name}\t{','.join(called)}\t{lat:.5f}\t{lons[at]:.5f}\t{group}\t{code}\t"
                f"{_COUNTRIES[lands[at]]}\t\t{1 + at % 40:02d}\t\t\t\t{people[at]}\t\t{int(lat)}\tUTC\t2026-01-01\n"
            )
            yield number, name, called, line


def write_dump(path: Path, count: int, seed: int, keep: int) -> list[tuple[int, str, list[str]]]:
    """Write the dump, and return an even sample of its features."""
    step, kept = max(1, count // keep), []
    with path.open("w", encoding="utf-8") as stream:
        for number, name, others, line in rows(count, seed):
            stream.write(line)
            if number % BAD_EVERY == 0:
                stream.write("not a row\t\t\n")
            if number % step == 0:
                kept.append((number, name, others))
    return kept


def import_apart(dump: Path, folder: Path) -> dict[str, Any]:
    """Import in a process of its own and say how long it took and how much memory it held."""
    done = subprocess.run(
        [sys.executable, __file__, "--import-one", str(dump), str(folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(done.stdout))


def import_one(dump: Path, folder: Path) -> dict[str, Any]:
    """What `import_apart` runs."""
    begun, processor = time.perf_counter(), time.process_time()
    info = import_geonames(dump, "made-up", folder=folder)
    return {
        "seconds": time.perf_counter() - begun,
        "processor_seconds": time.process_time() - processor,
        "peak_resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "features": info.features,
        "names": info.names,
        "refused": info.refused,
        "disk_mb": info.size_bytes / 1e6,
    }


def ask(folder: Path, questions: list[tuple[str, str]]) -> dict[str, float]:
    """Share of questions answered among the first five, and times in milliseconds; (text asked, name to be found)."""
    gazetteers = Gazetteers(folder)
    gazetteers.search("warm up", limit=5)
    taken, processor, right = [], [], 0
    for text, name in questions:
        begun, cpu = time.perf_counter(), time.thread_time()
        hits = gazetteers.search(text, limit=5)
        taken.append(1000 * (time.perf_counter() - begun))
        processor.append(1000 * (time.thread_time() - cpu))
        right += any(fold(name) in (fold(hit.matched), fold(hit.place.name)) for hit in hits)
    return {
        "right": right / len(questions),
        "p50_ms": statistics.median(taken),
        "p95_ms": statistics.quantiles(taken, n=20)[-1],
        "p95_cpu_ms": statistics.quantiles(processor, n=20)[-1],
    }


def measure(count: int, folder: Path, questions: int, seed: int) -> dict[str, Any]:
    """Make, import and ask."""
    dump = folder / "made-up.txt"
    begun = time.perf_counter()
    kept = write_dump(dump, count, seed, 4 * questions)
    made_s = time.perf_counter() - begun
    print(f"made {count:,} rows in {made_s:.0f} s, {dump.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)
    imported = import_apart(dump, folder)
    chance = random.Random(seed + 1)
    chance.shuffle(kept)
    named = [name for _, name, _ in kept[:questions]]
    long = [name for _, name, _ in kept if len(name) >= 5][:questions]
    foreign = [others[1] for _, _, others in kept if len(others) > 1][:questions]
    return {
        "rows": count,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "dump_mb": dump.stat().st_size / 1e6,
        "import": imported,
        "exact": ask(folder, [(name, name) for name in named]),
        "misread": ask(folder, [(misread(name, chance), name) for name in long]),
        "other script": ask(folder, [(name, name) for name in foreign]),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder without it, removed afterwards")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    parser.add_argument("--import-one", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.import_one:
        print(json.dumps(import_one(*given.import_one)))
        return 0
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=given.folder) as folder:
        free = shutil.disk_usage(folder).free
        if free < 800 * given.rows:
            raise SystemExit(f"{given.rows:,} rows need about {800 * given.rows / 1e9:.0f} GB of disk")
        found = measure(given.rows, Path(folder), given.questions, given.seed)
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    asked = [found[kind] for kind in ("exact", "misread", "other script")]
    kept = found["import"]["peak_resident_mb"] <= PROMISED_MB and all(one["p95_ms"] <= PROMISED_P95_MS for one in asked)
    return int(given.check and not kept)


def show(found: dict[str, Any]) -> None:
    """Print the figures, a line each."""
    taken = found["import"]
    print(f"machine      {found['machine']}")
    print(f"dump         {found['rows']:,} rows, {found['dump_mb']:,.0f} MB")
    print(
        f"import       {taken['seconds']:,.0f} s ({taken['processor_seconds']:,.0f} s of CPU), "
        f"{taken['peak_resident_mb']:,.0f} MB resident at most"
    )
    print(
        f"gazetteer    {taken['features']:,} features, {taken['names']:,} names, {taken['refused']:,} rows refused, "
        f"{taken['disk_mb']:,.0f} MB on disk"
    )
    for kind in ("exact", "misread", "other script"):
        one = found[kind]
        print(
            f"{kind:12} {one['right']:.1%} among five, p50 {one['p50_ms']:.1f} ms, p95 {one['p95_ms']:.1f} ms "
            f"({one['p95_cpu_ms']:.1f} ms of CPU)"
        )


if __name__ == "__main__":
    sys.exit(main())
