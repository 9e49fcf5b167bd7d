"""Maps at the size of countries: how fast an extract is taken in, how large it becomes, how fast it is asked.

    python benchmarks/country.py SOURCES WORK [--mb 2 20 200] [--times 8] [--queries 200] [--kill] [--draw FILE.svg]

SOURCES is a folder of small extracts (.osm.pbf). Copies of them, laid side by side on the globe, with other ids and
other names, make an extract of each size asked for: countries that nobody has mapped. WORK is a folder for what is
made; extracts and regions that are already there are used again. `--times N` asks N regions of the last size as well,
which lie side by side. `--kill` kills ten imports at random moments. `--draw` draws how answers slow down as maps
grow. `--check` exits with 1 where a promise is broken. Each import, and each round of questions, runs in a process of
its own. Times are of the processor, since machines are shared; what was spent waiting for a core is told beside it.
"""

import argparse
import asyncio
import json
import math
import os
import random
import re
import resource
import signal
import statistics
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.regions import OpenRegion, Regions, RegionStore, import_osm
from geosleuth.atlas.regions.feature_kinds import ADDRESS
from geosleuth.atlas.regions.region_file import region_path
from geosleuth.atlas.regions.region_store import rows_of
from geosleuth.atlas.search import is_same_name
from geosleuth.files import link_or_copy
from geosleuth.geo import Disc, LatLon, distance_km
from regions import misread

ID_STEP = 20_000_000_000  # no object of OpenStreetMap has a larger id
NAMING = re.compile(
    r"name$|name:[a-z]{2,3}$|alt_name$|old_name$|official_name$|short_name$|loc_name$|addr:street$|addr:place$|addr:city$"
)
VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvz"
COMMON_WORDS = 120
HERE_KM = 3.0
KINDS = (["amenity=pharmacy", "supermarket", "amenity=cafe"], ["church", "school", "post box"])
STEPS = {(2, 1), (3, 8), (4, 9)}  # ids of dense nodes, of a way's nodes, of a relation's members
IDS = {(3, 1), (4, 1)}  # of ways and relations
PROMISED = {
    "mb_per_cpu_s": 1.0, "resident_mb": 2000.0, "disk_ratio": 3.0, "searching_mb": 500.0,
    "name": 10.0, "name here": 10.0, "misread": 10.0, "address": 20.0, "address here": 20.0,
    "crossing": 20.0, "colocated": 20.0, "colocated kinds": 20.0, "reverse": 5.0,
}  # fmt: skip


# Reading and writing the format's own bytes: a copy changes an object's id, the first of its steps, and texts.


def varint(value: int) -> bytes:
    """A number, seven bits to a byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and where the next begins."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            yield key >> 3, data[at : at + value]
            at += value
        else:
            yield key >> 3, value


def field(number: int, value: int | bytes) -> bytes:
    """One field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def moved(packed: bytes, by: int) -> bytes:
    """A list of steps, the first of them larger."""
    first, at = read_varint(packed, 0)
    value = ((first >> 1) ^ -(first & 1)) + by
    return varint(value << 1 ^ value >> 63) + packed[at:]


def blob(kind: bytes, content: bytes) -> bytes:
    """A block as it stands in a file."""
    packed = field(2, len(content)) + field(3, zlib.compress(content, 6))
    head = field(1, kind) + field(3, len(packed))
    return struct.pack(">I", len(head)) + head + packed


@dataclass(slots=True)
class Block:
    """A block of a source: its texts, which of them are names, its groups, and where it lies."""

    texts: list[bytes]
    names: set[int]
    kind: int  # 0 nodes, 1 ways, 2 relations
    group: bytes
    rest: bytes


def numbers(packed: bytes) -> Iterator[int]:
    """A packed list."""
    at = 0
    while at < len(packed):
        value, at = read_varint(packed, at)
        yield value


def read_source(path: Path) -> tuple[list[Block], tuple[float, float]]:
    """The blocks of an extract, and about where it lies."""
    data, at, blocks = path.read_bytes(), 0, []
    middle = (0.0, 0.0)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        head = dict(fields(data[at + 4 : at + 4 + length]))
        at += 4 + length
        size = int(head[3])
        content = dict(fields(data[at : at + size]))
        at += size
        if head[1] != b"OSMData":
            continue
        whole = zlib.decompress(bytes(content[3])) if 3 in content else bytes(content[1])
        texts: list[bytes] = []
        groups, rest = [], b""
        for number, value in fields(whole):
            if number == 1:
                texts = [bytes(text) for _, text in fields(bytes(value))]
            elif number == 2:
                groups.append(bytes(value))
            elif number in (19, 20):
                raise SystemExit(f"{path} has offsets, which copies need for themselves")
            else:
                rest += field(number, value)
        naming = {at for at, text in enumerate(texts) if NAMING.match(text.decode())}
        for group in groups:  # each as a block of its own: all nodes of all copies come before all ways
            kind, names, seen = read_group(group, naming)
            middle = seen or middle
            blocks.append(Block(texts, names, kind, group, rest))
    return blocks, middle


def read_group(group: bytes, naming: set[int]) -> tuple[int, set[int], tuple[float, float] | None]:
    """Of a group of objects their kind, which texts are names, and where its first node lies."""
    kind, names = 0, set[int]()
    middle = None
    for number, value in fields(group):
        told = dict(fields(bytes(value)))
        if number == 2:
            lat, lon = (next(numbers(bytes(told[key]))) for key in (8, 9))
            middle = (((lat >> 1) ^ -(lat & 1)) / 1e7, ((lon >> 1) ^ -(lon & 1)) / 1e7)
            pairs = [one for one in numbers(bytes(told.get(10, b""))) if one]
        else:
            kind = max(kind, number - 2)
            keys, values = (list(numbers(bytes(told.get(key, b"")))) for key in (2, 3))
            pairs = [one for pair in zip(keys, values, strict=True) for one in pair]
        names |= {value for key, value in zip(pairs[::2], pairs[1::2], strict=True) if key in naming}
    return kind, names, middle


class Variation:
    """Other names for each copy: words that many names share stay, most others change some letters."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        words = Counter(word for block in blocks for at in block.names for word in block.texts[at].decode().split())
        self._common = {word for word, _ in words.most_common(COMMON_WORDS)}
        self._known: dict[str, str] = {}
        self._copy = -1

    def name(self, text: bytes, copy: int) -> bytes:
        """The name in a copy; the first copy has the names as they are."""
        if not copy:
            return text
        if copy != self._copy:
            self._copy, self._known = copy, {}
        return " ".join(self._word(word, copy) for word in text.decode().split(" ")).encode()

    def _word(self, word: str, copy: int) -> str:
        if word in self._common or len(word) < 4 or not word.isalpha():
            return word
        known = self._known.get(word)
        if known is None:
            chance = random.Random(f"{copy} {word}")
            letters = list(word)
            if chance.random() < 0.75:
                for _ in range(1 + len(word) // 4):
                    at = chance.randrange(1, len(letters))
                    pool = VOWELS if letters[at].lower() in VOWELS else CONSONANTS
                    if letters[at].isascii():
                        letters[at] = chance.choice(pool)
            known = self._known[word] = "".join(letters)
        return known


def copied(block: Block, copy: int, at: tuple[int, int], vary: Variation) -> bytes:
    """A block of a copy."""
    by = copy * ID_STEP
    texts = [vary.name(text, copy) if number in block.names else text for number, text in enumerate(block.texts)]
    objects = []
    for number, value in fields(block.group):
        changed = []
        for one, told in fields(bytes(value)):
            if (number, one) in STEPS and told:
                told = moved(bytes(told), by)  # noqa: PLW2901
            elif (number, one) in IDS:
                told = int(told) + by  # noqa: PLW2901
            changed.append(field(one, told))
        objects.append(field(number, b"".join(changed)))
    table = field(1, b"".join(field(1, text) for text in texts))
    offsets = b"".join(field(key, value % (1 << 64)) for key, value in zip((19, 20), at, strict=True))
    return table + field(2, b"".join(objects)) + block.rest + offsets


@cache
def land() -> list[tuple[int, int]]:
    """Where copies are laid, from west to east: on land, where reverse has borders and towns to tell."""
    borders = Borders.load()
    grid = [(lat, lon) for lon in range(-170, 171, 2) for lat in range(-54, 66)]
    return [(lat, lon) for lat, lon in grid if borders.at(LatLon(lat, lon))]


def generate(sources: Sequence[Path], target: Path, mb: float, first: int = 0) -> None:
    """Write an extract of about so many megabytes, from the copy of a number on."""
    read = [read_source(path) for path in sources]
    vary = Variation([block for blocks, _ in read for block in blocks])
    copies = copies_of(sources, mb)
    partial = target.with_suffix(".partial")
    with partial.open("wb") as stream:
        features = field(4, b"OsmSchema-V0.6") + field(4, b"DenseNodes") + field(5, b"Sort.Type_then_ID")
        stream.write(blob(b"OSMHeader", features))
        for kind in range(3):
            for copy in range(first, first + copies):
                for number, (blocks, middle) in enumerate(read):
                    _write(stream, blocks, kind, copy * len(read) + number, middle, vary)
    partial.rename(target)


def copies_of(sources: Sequence[Path], mb: float) -> int:
    """How many copies of all sources make so many megabytes."""
    return max(1, round(mb * 1e6 / sum(path.stat().st_size for path in sources)))


def _write(
    stream: BinaryIO, blocks: Sequence[Block], kind: int, copy: int, middle: tuple[float, float], vary: Variation
) -> None:
    lat, lon = land()[copy % len(land())]
    at = round((lat - middle[0]) * 1e9), round((lon - middle[1]) * 1e9)
    for block in blocks:
        if block.kind == kind:
            stream.write(blob(b"OSMData", copied(block, copy, at, vary)))


# Importing.


def import_one(extract: Path, folder: Path) -> dict[str, Any]:
    """Import in this process and those it starts, and say what that took."""
    begin = time.perf_counter()
    info = import_osm(extract, folder=folder)
    seconds = time.perf_counter() - begin
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    mb = extract.stat().st_size / 1e6
    worked = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return {
        "region": info.name,
        "mb": mb,
        "seconds": seconds,
        "processor_s": worked,
        "mb_per_cpu_s": mb / worked,
        # The largest worker counts once for each core.
        "resident_mb": (usages[0].ru_maxrss + (os.cpu_count() or 1) * usages[1].ru_maxrss) / 1024,
        "disk_ratio": info.size_bytes / 1e6 / mb,
        "features": info.features,
        "names": info.names,
        "load": os.getloadavg()[0],
    }


def in_another_process(*arguments: object) -> dict[str, Any]:
    """Run this script with other arguments; what it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def kill_imports(extract: Path, folder: Path, seconds: float, times: int = 10) -> dict[str, int]:
    """Kill imports at random moments, each with its workers left to notice; then let one end."""
    chance = random.Random(27)
    killed = 0
    whole = None
    for number in range(times + 1):
        command = [sys.executable, __file__, "--import-one", str(extract), str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number < times:
            time.sleep(chance.uniform(0.05, 0.95) * seconds)
            process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        store = RegionStore(folder)
        if store.damaged():
            raise SystemExit(f"a killed import left half a region: {store.damaged()[0].message}")
        for info in store.list():
            whole = info.features
            if number < times:
                store.remove(info.name)
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    if whole is None or left:
        raise SystemExit(f"after {killed} kills: {whole} features, left over: {left}")
    return {"killed": killed, "features": whole}


# Asking.


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and whether an answer is right."""

    kind: str
    ask: Callable[[], Any]
    right: Callable[[Any], bool]


def drawn_rows(region: OpenRegion, count: int, chance: random.Random, test: Callable[[str, str], bool]) -> list[Any]:
    """Some features, by name and kind."""
    found: list[Any] = []
    for _ in range(400 * count):
        number = chance.randint(1, region.info.features)
        row = rows_of(region, [number]).get(number)
        if row is not None and test(row[2], row[3]):
            found.append(row)
            if len(found) == count:
                break
    return found


def questions(atlas: OfflineAtlas, regions: Regions, count: int) -> Iterator[Question]:
    """As many of each kind, from all regions."""
    chance = random.Random(27)
    opened = regions.store.open_all()
    each = max(1, count // len(opened))
    for region in opened:
        named = drawn_rows(region, each, chance, lambda name, kind: len(name) >= 6 and kind != ADDRESS)
        for row in named:
            yield Question("name", partial(atlas.search_pois, row[2]), bears(row[2]))
            yield Question("misread", partial(atlas.search_pois, misread(row[2], chance)), bears(row[2]))
            around = regions.nearby(LatLon(*row[4:6]), 150, limit=8)
            others = [hit.place.name for hit in around if hit.place.name not in ("", row[2])]
            if others:
                yield Question("colocated", partial(atlas.colocated, [row[2], others[0]], 300), bool)
            here = LatLon(*row[4:6])
            yield Question("name here", partial(atlas.geocode, row[2], within=Disc(here, HERE_KM)), lies_at(here))
        for row in drawn_rows(region, each, chance, lambda _, kind: kind == ADDRESS):
            yield Question("address", partial(atlas.geocode, row[2]), bears(row[2]))
            here = LatLon(*row[4:6])
            yield Question("address here", partial(atlas.geocode, row[2], within=Disc(here, HERE_KM)), lies_at(here))
        for one, two in drawn_corners(region, each, chance):
            yield Question("crossing", partial(atlas.crossing, one, two), bool)
        for row in drawn_rows(region, each, chance, lambda *_: True):
            yield Question("reverse", partial(atlas.reverse, LatLon(*row[4:6])), bool)
    for kinds in KINDS:
        yield Question("colocated kinds", partial(atlas.colocated, kinds, 300), bool)


def bears(name: str) -> Callable[[Any], bool]:
    """Whether one of the first five hits has the name."""
    return lambda hits: any(is_same_name(name, hit.matched) or hit.place.name == name for hit in hits[:5])


def lies_at(point: LatLon) -> Callable[[Any], bool]:
    """Whether one of the first five hits lies there."""
    return lambda hits: any(distance_km(hit.place.point, point) < 0.05 for hit in hits[:5])


def drawn_corners(region: OpenRegion, count: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Streets that meet."""
    first, last = region.conn.execute("SELECT min(id), max(id) FROM junction").fetchone()
    for _ in range(count):
        query = "SELECT streets FROM junction WHERE id >= ? ORDER BY id LIMIT 1"
        (streets,) = region.conn.execute(query, (chance.randint(first, last),)).fetchone()
        one, two = streets.split("\n")[:2]
        yield one, two


async def ask_all(folder: Path, count: int) -> dict[str, Any]:
    """Ask everything three times, and tell of the first and the fastest: others work on the same cores.

    The first one reads from disk, and what the next ones find in memory.
    """
    atlas, regions = OfflineAtlas(folder), Regions(folder)
    asked = list(questions(atlas, regions, count))
    figures: dict[str, Any] = {"features": sum(info.features for info in regions.store.list())}
    figures["regions"] = len(regions.store.names())
    for kind in sorted({question.kind for question in asked}, key=lambda kind: (kind == "reverse", kind)):
        some = [question for question in asked if question.kind == kind]
        worked, taken, first = [math.inf] * len(some), [math.inf] * len(some), list[float]()
        for _ in range(3):
            right = 0
            for at, question in enumerate(some):
                begin, busy = time.perf_counter(), time.process_time()
                found = await question.ask()
                worked[at] = min(worked[at], ms := (time.process_time() - busy) * 1000)
                if len(first) < len(some):
                    first.append(ms)
                taken[at] = min(taken[at], (time.perf_counter() - begin) * 1000)
                right += question.right(found)
        figures[kind] = {"asked": len(some), "right": right / len(some)}
        figures[kind] |= {"cpu_ms": spread(worked), "first_cpu_ms": spread(first), "ms": spread(taken)}
        if kind == "reverse":  # borders of the world come with it
            figures["with_borders_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        else:
            figures["searching_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["load"] = os.getloadavg()[0]
    return figures


def spread(taken: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    ordered = sorted(taken)
    return {"p50": statistics.median(ordered), "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]}


def show(figures: dict[str, Any]) -> None:
    """The figures, for people."""
    for one in figures.get("imports", ()):
        print(
            f"import      {one['region']}: {one['mb']:.0f} MB, {one['features']} features, {one['processor_s']:.0f} s "
            f"of processor ({1000 / one['mb_per_cpu_s']:.0f} ms for each MB), {one['seconds']:.0f} s at a load of "
            f"{one['load']:.0f}, {one['resident_mb']:.0f} MB resident, {one['disk_ratio']:.2f} bytes for each byte"
        )
    if "killed" in figures:
        print(f"killed      {figures['killed']['killed']} imports; the next one was complete")
    for one in figures.get("asked", ()):
        print(
            f"asked       {one['features']} features in {one['regions']} regions, {one['searching_mb']:.0f} MB resident"
        )
        for kind, told in one.items():
            if isinstance(told, dict):
                cpu, first, ms = told["cpu_ms"], told["first_cpu_ms"], told["ms"]
                print(
                    f"  {kind:15} {told['asked']:4} asked, {told['right']:6.1%} found, processor "
                    f"p50 {cpu['p50']:.1f} ms, p95 {cpu['p95']:.1f} ms; at first {first['p50']:.1f} and "
                    f"{first['p95']:.1f} ms; waiting included {ms['p50']:.1f} and {ms['p95']:.1f} ms"
                )


def draw(figures: Sequence[dict[str, Any]], target: Path) -> None:
    """Growth as a picture: how long a question takes against how many features there are, both on a log scale."""
    kinds = ("name", "misread", "address", "crossing", "colocated", "reverse")
    colours = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
    width, height, left, bottom = 720, 400, 70, 50
    most = max(one["features"] for one in figures)
    least = min(one["features"] for one in figures)

    def x_of(features: float) -> float:
        return left + (width - left - 110) * math.log10(features / least) / max(math.log10(most / least), 1e-9)

    def y_of(ms: float) -> float:
        return height - bottom - (height - bottom - 30) * (math.log10(max(ms, 0.3) / 0.3) / math.log10(100 / 0.3))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"',
        'font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{left}" y="18">95 % of questions are answered within (ms of processor)</text>',
    ]
    parts.extend(
        f'<line x1="{left}" x2="{width - 110}" y1="{y_of(ms):.1f}" y2="{y_of(ms):.1f}" stroke="#d0d7de"/>'
        f'<text x="{left - 8}" y="{y_of(ms) + 4:.1f}" text-anchor="end">{ms:g}</text>'
        for ms in (0.3, 1, 3, 10, 30, 100)
    )
    parts.extend(
        f'<text x="{x_of(one["features"]):.1f}" y="{height - bottom + 20}" text-anchor="middle">'
        f"{one['features']:,}</text>"
        for one in figures
    )
    parts.append(f'<text x="{(left + width - 110) / 2}" y="{height - 8}" text-anchor="middle">features</text>')
    shown = sorted(figures, key=lambda one: one["features"])
    labels = sorted((y_of(shown[-1][kind]["cpu_ms"]["p95"]), kind) for kind in kinds if kind in shown[-1])
    places: dict[str, float] = {}
    for at, kind in labels:
        places[kind] = max([at, *(other + 15 for other in places.values())])
    for kind, colour in zip(kinds, colours, strict=True):
        points = [(x_of(one["features"]), y_of(one[kind]["cpu_ms"]["p95"])) for one in shown if kind in one]
        if points:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}')
            parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{places[kind] + 4:.1f}" fill="{colour}">{kind}</text>')
    target.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def broken_promises(figures: dict[str, Any]) -> list[str]:
    """What is slower or larger than we say."""
    broken = []
    for one in figures.get("imports", ()):
        if one["mb_per_cpu_s"] < PROMISED["mb_per_cpu_s"]:
            broken.append(f"import: {one['mb_per_cpu_s']:.2f} MB for each second of processor")
        broken += [
            f"import: {key} {one[key]:.2f} > {PROMISED[key]}"
            for key in ("resident_mb", "disk_ratio")
            if one[key] > PROMISED[key]
        ]
    for one in figures.get("asked", ()):
        broken += [
            f"{kind}: p95 {told['cpu_ms']['p95']:.1f} ms > {PROMISED[kind]} ms at {one['features']} features"
            for kind, told in one.items()
            if isinstance(told, dict) and told["cpu_ms"]["p95"] > PROMISED.get(kind, math.inf)
        ]
        if one["searching_mb"] > PROMISED["searching_mb"]:
            broken.append(f"memory of asking: {one['searching_mb']:.0f} MB > {PROMISED['searching_mb']} MB")
    return broken


def beside(sources: Sequence[Path], folder: Path, mb: float, times: int) -> Path:
    """A folder with so many regions of a size that lie side by side, with other names; the first one is there."""
    together = folder.with_name(f"{folder.name}-times-{times}")
    together.mkdir(exist_ok=True)
    for number in range(times):
        extract = folder.with_name(f"country{mb:g}-{number}.osm.pbf")
        if not number:
            (info,) = RegionStore(folder).list()
            link_or_copy(info.path, region_path(together, info.name))
        elif not region_path(together, extract.name.removesuffix(".osm.pbf")).exists():
            if not extract.exists():
                generate(sources, extract, mb, first=number * copies_of(sources, mb))
            in_another_process("--import-one", extract, together)
    return together


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="?")
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("--mb", type=float, nargs="+", default=[200.0], help="sizes; each is imported and asked")
    parser.add_argument("--times", type=int, default=1, help="ask as many regions of the last size, too")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--import-one", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_one:
        print(json.dumps(import_one(*options.import_one)))
        return 0
    if options.ask:
        print(json.dumps(asyncio.run(ask_all(Path(options.ask[0]), int(options.ask[1])))))
        return 0
    if options.work is None:
        parser.error("name a folder of extracts and one to work in")
    figures = measure(options)
    show(figures)
    if options.draw:
        draw(figures["asked"], options.draw)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    for line in (broken := broken_promises(figures)):
        print("BROKEN     ", line)
    return 1 if options.check and broken else 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every figure of one run."""
    sources = sorted(options.sources.glob("*.osm.pbf"))
    options.work.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Any] = {"imports": [], "asked": []}
    folder = options.work
    for mb in options.mb:
        extract = options.work / f"country{mb:g}.osm.pbf"
        if not extract.exists():
            generate(sources, extract, mb)
        folder = options.work / f"regions{mb:g}"
        if not RegionStore(folder).names():
            figures["imports"].append(in_another_process("--import-one", extract, folder))
        figures["asked"].append(in_another_process("--ask", folder, options.queries))
        if options.kill:
            seconds = figures["imports"][-1]["seconds"] if figures["imports"] else 60.0
            figures["killed"] = kill_imports(extract, options.work / "killed", seconds)
    if options.times > 1:
        together = beside(sources, folder, options.mb[-1], options.times)
        figures["asked"].append(in_another_process("--ask", together, options.queries))
    return figures


if __name__ == "__main__":
    sys.exit(main())
