"""Measure import and search of a synthetic GeoNames dump of any size.

    python benchmarks/gazetteer.py [--rows N] [--folder FOLDER] [--questions N] [--json] [--check]

The dump has names of one to three words, drawn from 300,000 invented words of unequal frequency, with alternative
names in Latin, Cyrillic, Greek, Arabic and Chinese letters. One row in 1,000 is malformed. The import runs in its own
process, so that its peak memory can be read.

Names are then searched as written, with one to three OCR-like errors (as in regions.py), and by an alternative name in
another script. A search is right if one of the first five features has the name. No name is searched twice. `--check`
exits with 1 if memory or latency exceeds its limit.
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
MALFORMED_EVERY = 1000
_BATCH = 20_000
SEARCH_KINDS = ("exact", "misread", "other script")
# Feature class, feature code and relative frequency.
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
    """Return distinct invented words of one to three syllables."""
    found: dict[str, None] = {}
    while len(found) < WORDS:
        syllables = chance.choice((1, 2, 2, 3, 3))
        word = "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) + chance.choice(_ENDS) for _ in range(syllables))
        if len(word) >= 3:
            found[word.capitalize()] = None
    return list(found)


def rows(count: int, seed: int) -> Iterator[tuple[int, str, list[str], str]]:
    """Yield id, name, alternative names and the dump's line of each feature."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)
    pool = words(chance)
    frequencies = np.arange(50, 50 + len(pool)) ** -0.6
    cumulative = np.cumsum(frequencies / frequencies.sum())
    foreign = [
        "".join(chance.choices(letters, k=chance.randint(least, most)))
        for letters, least, most in chance.choices(_SCRIPTS, k=WORDS)
    ]
    codes = np.repeat(np.arange(len(_CODES)), [weight for _, _, weight in _CODES])
    for begin in range(0, count, _BATCH):
        size = min(_BATCH, count - begin)
        drawn = np.minimum(np.searchsorted(cumulative, draw.random((size, 5))), len(pool) - 1).tolist()
        word_counts = draw.choice((1, 1, 2, 2, 2, 3), size).tolist()
        alternative_counts = draw.choice((0, 0, 0, 2, 2, 3), size).tolist()
        foreign_words = draw.integers(0, WORDS, (size, 2)).tolist()
        kinds = codes[draw.integers(0, len(codes), size)].tolist()
        populations = np.where(draw.random(size) < 0.1, 10 ** draw.uniform(0, 6, size), 0).astype(int).tolist()
        lats, lons = draw.uniform(-60, 75, size).tolist(), draw.uniform(-180, 180, size).tolist()
        countries = draw.integers(0, len(_COUNTRIES), size).tolist()
        for at in range(size):
            parts = [pool[index] for index in drawn[at]]
            name = " ".join(parts[: word_counts[at]])
            alternatives = [
                f"{parts[3]} {parts[0]}",
                " ".join(foreign[index] for index in foreign_words[at]),
                f"{name} {parts[4]}",
            ]
            alternatives = alternatives[: alternative_counts[at]]
            feature_class, code, _ = _CODES[kinds[at]]
            number, lat = begin + at + 1, lats[at]
            line = (
                f"{number}\t{name}\t{name}\t{','.join(alternatives)}\t{lat:.5f}\t{lons[at]:.5f}\t"
                f"{feature_class}\t{code}\t{_COUNTRIES[countries[at]]}\t\t{1 + at % 40:02d}\t\t\t\t"
                f"{populations[at]}\t\t{int(lat)}\tUTC\t2026-01-01\n"
            )
            yield number, name, alternatives, line


def write_dump(path: Path, count: int, seed: int, keep: int) -> list[tuple[int, str, list[str]]]:
    """Write the dump and return every n-th feature, about `keep` of them: id, name, alternative names."""
    step, kept = max(1, count // keep), []
    with path.open("w", encoding="utf-8") as stream:
        for number, name, alternatives, line in rows(count, seed):
            stream.write(line)
            if number % MALFORMED_EVERY == 0:
                stream.write("not a row\t\t\n")
            if number % step == 0:
                kept.append((number, name, alternatives))
    return kept


def import_in_subprocess(dump: Path, folder: Path) -> dict[str, Any]:
    """Run `import_one` in its own process and return its figures."""
    done = subprocess.run(
        [sys.executable, __file__, "--import-one", str(dump), str(folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(done.stdout))


def import_one(dump: Path, folder: Path) -> dict[str, Any]:
    """Import a dump and return time, peak memory and counts."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    info = import_geonames(dump, "made-up", folder=folder)
    return {
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - cpu_begin,
        "peak_resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "features": info.features,
        "names": info.names,
        "refused": info.refused,
        "disk_mb": info.size_bytes / 1e6,
    }


def search_all(folder: Path, searches: list[tuple[str, str]]) -> dict[str, float]:
    """Return accuracy among the first five hits, and latency; searches are (text, name to be found)."""
    gazetteers = Gazetteers(folder)
    gazetteers.search("warm up", limit=5)
    wall_ms, cpu_ms, right = [], [], 0
    for text, name in searches:
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        hits = gazetteers.search(text, limit=5)
        wall_ms.append(1000 * (time.perf_counter() - begin))
        cpu_ms.append(1000 * (time.thread_time() - cpu_begin))
        right += any(fold(name) in (fold(hit.matched), fold(hit.place.name)) for hit in hits)
    return {
        "right": right / len(searches),
        "p50_ms": statistics.median(wall_ms),
        "p95_ms": statistics.quantiles(wall_ms, n=20)[-1],
        "p95_cpu_ms": statistics.quantiles(cpu_ms, n=20)[-1],
    }


def measure(count: int, folder: Path, searches: int, seed: int) -> dict[str, Any]:
    """Write a dump, import it, search it, and return all figures."""
    dump = folder / "made-up.txt"
    begin = time.perf_counter()
    kept = write_dump(dump, count, seed, 4 * searches)
    written_s = time.perf_counter() - begin
    print(f"made {count:,} rows in {written_s:.0f} s, {dump.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)
    imported = import_in_subprocess(dump, folder)
    chance = random.Random(seed + 1)
    chance.shuffle(kept)
    named = [name for _, name, _ in kept[:searches]]
    long = [name for _, name, _ in kept if len(name) >= 5][:searches]
    foreign = [alternatives[1] for _, _, alternatives in kept if len(alternatives) > 1][:searches]
    return {
        "rows": count,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "dump_mb": dump.stat().st_size / 1e6,
        "import": imported,
        "exact": search_all(folder, [(name, name) for name in named]),
        "misread": search_all(folder, [(misread(name, chance), name) for name in long]),
        "other script": search_all(folder, [(name, name) for name in foreign]),
    }


def main() -> int:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="parent of the temporary working folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
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
    within_limits = found["import"]["peak_resident_mb"] <= PROMISED_MB and all(
        found[kind]["p95_ms"] <= PROMISED_P95_MS for kind in SEARCH_KINDS
    )
    return int(given.check and not within_limits)


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    imported = found["import"]
    print(f"machine      {found['machine']}")
    print(f"dump         {found['rows']:,} rows, {found['dump_mb']:,.0f} MB")
    print(
        f"import       {imported['seconds']:,.0f} s ({imported['processor_seconds']:,.0f} s of CPU), "
        f"{imported['peak_resident_mb']:,.0f} MB peak resident memory"
    )
    print(
        f"gazetteer    {imported['features']:,} features, {imported['names']:,} names, "
        f"{imported['refused']:,} rows refused, {imported['disk_mb']:,.0f} MB on disk"
    )
    for kind in SEARCH_KINDS:
        one = found[kind]
        print(
            f"{kind:12} {one['right']:.1%} in the top five, p50 {one['p50_ms']:.1f} ms, p95 {one['p95_ms']:.1f} ms "
            f"({one['p95_cpu_ms']:.1f} ms of CPU)"
        )


if __name__ == "__main__":
    sys.exit(main())
