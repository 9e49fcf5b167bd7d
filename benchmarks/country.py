"""Measure country-sized maps: import speed, size on disk, memory, and search latency.

    python benchmarks/country.py SOURCES WORK [--mb 2 20 200] [--times 8] [--queries 200] [--kill] [--draw FILE.svg]

SOURCES is a folder of small extracts (.osm.pbf). To make an extract of each requested size, the script copies them
side by side across the globe, with new object ids and altered names. WORK holds the results; extracts and regions
already in it are reused.

`--times N` also queries N adjacent regions of the last size at once. `--kill` kills ten imports at random moments.
`--draw` plots latency against map size. `--check` exits with 1 if a limit in `PROMISED` is exceeded.

Each import and each round of queries runs in its own process. Times are CPU times, because machines are shared; wall
times are printed beside them.
"""

import argparse
import asyncio
import gc
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
from geosleuth.atlas.regions.region_store import read_feature_rows
from geosleuth.atlas.search import is_same_name
from geosleuth.cli.entry import GC_THRESHOLDS
from geosleuth.geo import Disc, LatLon, distance_km
from geosleuth.support.files import link_or_copy
from regions import misread

ID_STEP = 20_000_000_000  # larger than any OpenStreetMap id, so ids of copies never collide
NAME_KEY = re.compile(
    r"name$|name:[a-z]{2,3}$|alt_name$|old_name$|official_name$|short_name$|loc_name$|addr:street$|addr:place$|addr:city$"
)
VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvz"
COMMON_WORDS = 120
NEARBY_KM = 3.0
SAME_PLACE_KM = 0.05
AREA_KM = 20.0
COLOCATED_KINDS = (
    ("amenity=pharmacy", "supermarket", "amenity=cafe"), ("church", "school", "post box"), ("bench", "tram stop"),
    ("bus stop", "hotel", "fountain"), ("bank", "hairdresser"), ("bank", "pub", "bakery"), ("cinema", "theatre"),
    ("fire hydrant", "flagpole"), ("amenity=bench", "highway=crossing"), ("surveillance", "traffic signals"),
    ("restaurant", "parking"), ("clothes shop", "jewelry"), ("playground", "pitch", "park"), ("library", "school"),
    ("amenity=restaurant", "amenity=cafe", "amenity=bar"), ("swimming pool", "hotel"), ("museum", "artwork"),
    ("atm", "bank", "amenity=pharmacy"), ("amenity=fuel", "supermarket"), ("fountain", "artwork"),
)  # fmt: skip
# Protocol buffer fields, as (number in the primitive group, number in its message).
DELTA_CODED_IDS = {(2, 1), (3, 8), (4, 9)}  # ids of dense nodes, of a way's nodes, of a relation's members
PLAIN_IDS = {(3, 1), (4, 1)}  # ids of ways and of relations
PROMISED = {
    "mb_per_cpu_s": 1.0, "resident_mb": 2000.0, "disk_ratio": 3.0, "searching_mb": 500.0,
    "name": 10.0, "name here": 10.0, "misread": 10.0, "address": 20.0, "address here": 20.0,
    "crossing": 20.0, "colocated": 20.0, "colocated kinds": 20.0, "kinds here": 20.0, "reverse": 5.0,
}  # fmt: skip


# Reading and writing protocol buffers directly: a copy only changes ids, the first of each list of deltas, and names,
# so there is no need to decode and encode every object.


def encode_varint(value: int) -> bytes:
    """Encode a number as seven bits to a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field in a message."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            yield key >> 3, data[at : at + value]
            at += value
        else:
            yield key >> 3, value


def read_packed(packed: bytes) -> Iterator[int]:
    """Yield the numbers of a packed list."""
    at = 0
    while at < len(packed):
        value, at = read_varint(packed, at)
        yield value


def unzigzag(value: int) -> int:
    """Decode a signed number."""
    return (value >> 1) ^ -(value & 1)


def encode_field(number: int, value: int | bytes) -> bytes:
    """Encode one field of a message."""
    if isinstance(value, int):
        return encode_varint(number << 3) + encode_varint(value)
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def shift_deltas(packed: bytes, by: int) -> bytes:
    """Add an offset to every number of a delta-coded list, which only changes the first delta."""
    first, at = read_varint(packed, 0)
    value = unzigzag(first) + by
    return encode_varint(value << 1 ^ value >> 63) + packed[at:]


def encode_blob(kind: bytes, content: bytes) -> bytes:
    """Return a blob as it stands in a .osm.pbf file, with its header."""
    packed = encode_field(2, len(content)) + encode_field(3, zlib.compress(content, 6))
    head = encode_field(1, kind) + encode_field(3, len(packed))
    return struct.pack(">I", len(head)) + head + packed


@dataclass(slots=True)
class Block:
    """One group of objects in a source extract, with the string table it refers to."""

    texts: list[bytes]  # the string table
    names: set[int]  # which texts are names
    kind: int  # 0 nodes, 1 ways, 2 relations
    group: bytes
    rest: bytes  # all other fields, encoded


def read_source(path: Path) -> tuple[list[Block], tuple[float, float]]:
    """Return the blocks of an extract, and the latitude and longitude of one of its nodes."""
    data, at, blocks = path.read_bytes(), 0, []
    origin = (0.0, 0.0)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        head = dict(read_fields(data[at + 4 : at + 4 + length]))
        at += 4 + length
        size = int(head[3])
        content = dict(read_fields(data[at : at + size]))
        at += size
        if head[1] != b"OSMData":
            continue
        whole = zlib.decompress(bytes(content[3])) if 3 in content else bytes(content[1])
        texts: list[bytes] = []
        groups, rest = [], b""
        for number, value in read_fields(whole):
            if number == 1:
                texts = [bytes(text) for _, text in read_fields(bytes(value))]
            elif number == 2:
                groups.append(bytes(value))
            elif number in (19, 20):
                raise SystemExit(f"{path} uses coordinate offsets, which copies need for themselves")
            else:
                rest += encode_field(number, value)
        name_keys = {at for at, text in enumerate(texts) if NAME_KEY.match(text.decode())}
        # Each group becomes its own block, so that the nodes of all copies can come before the ways of any.
        for group in groups:
            kind, names, first_node = read_group(group, name_keys)
            origin = first_node or origin
            blocks.append(Block(texts, names, kind, group, rest))
    return blocks, origin


def read_group(group: bytes, name_keys: set[int]) -> tuple[int, set[int], tuple[float, float] | None]:
    """Return a group's kind of object, which texts are names in it, and where its first node lies."""
    kind, names = 0, set[int]()
    first_node = None
    for number, encoded in read_fields(group):
        message = dict(read_fields(bytes(encoded)))
        if number == 2:
            lat, lon = (unzigzag(next(read_packed(bytes(message[key])))) for key in (8, 9))
            first_node = (lat / 1e7, lon / 1e7)
            pairs = [text for text in read_packed(bytes(message.get(10, b""))) if text]
        else:
            kind = max(kind, number - 2)
            keys, values = (list(read_packed(bytes(message.get(key, b"")))) for key in (2, 3))
            pairs = [text for pair in zip(keys, values, strict=True) for text in pair]
        names |= {value for key, value in zip(pairs[::2], pairs[1::2], strict=True) if key in name_keys}
    return kind, names, first_node


class NameVariation:
    """Alter names in each copy: the commonest words stay, and most others have some letters replaced."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        words = Counter(word for block in blocks for at in block.names for word in block.texts[at].decode().split())
        self._common = {word for word, _ in words.most_common(COMMON_WORDS)}
        self._altered: dict[str, str] = {}
        self._copy = -1

    def name(self, text: bytes, copy: int) -> bytes:
        """Return a name as it reads in a copy; the first copy keeps the original names."""
        if not copy:
            return text
        if copy != self._copy:
            self._copy, self._altered = copy, {}
        return " ".join(self._word(word, copy) for word in text.decode().split(" ")).encode()

    def _word(self, word: str, copy: int) -> str:
        if word in self._common or len(word) < 4 or not word.isalpha():
            return word
        altered = self._altered.get(word)
        if altered is None:
            chance = random.Random(f"{copy} {word}")
            letters = list(word)
            if chance.random() < 0.75:
                for _ in range(1 + len(word) // 4):
                    at = chance.randrange(1, len(letters))
                    pool = VOWELS if letters[at].lower() in VOWELS else CONSONANTS
                    if letters[at].isascii():
                        letters[at] = chance.choice(pool)
            altered = self._altered[word] = "".join(letters)
        return altered


def copy_block(block: Block, copy: int, offsets_e9: tuple[int, int], variation: NameVariation) -> bytes:
    """Encode a block for one copy: new ids, altered names, and coordinate offsets in billionths of a degree."""
    by = copy * ID_STEP
    texts = [variation.name(text, copy) if number in block.names else text for number, text in enumerate(block.texts)]
    objects = []
    for group_field, message in read_fields(block.group):
        encoded = []
        for number, value in read_fields(bytes(message)):
            if (group_field, number) in DELTA_CODED_IDS and value:
                value = shift_deltas(bytes(value), by)  # noqa: PLW2901
            elif (group_field, number) in PLAIN_IDS:
                value = int(value) + by  # noqa: PLW2901
            encoded.append(encode_field(number, value))
        objects.append(encode_field(group_field, b"".join(encoded)))
    table = encode_field(1, b"".join(encode_field(1, text) for text in texts))
    offsets = b"".join(
        encode_field(number, offset % (1 << 64)) for number, offset in zip((19, 20), offsets_e9, strict=True)
    )
    return table + encode_field(2, b"".join(objects)) + block.rest + offsets


@cache
def land_points() -> list[tuple[int, int]]:
    """Return where copies are placed, from west to east: on land, so that `reverse` finds borders and towns."""
    borders = Borders.load()
    grid = [(lat, lon) for lon in range(-170, 171, 2) for lat in range(-54, 66)]
    return [(lat, lon) for lat, lon in grid if borders.find_region(LatLon(lat, lon))]


def generate(sources: Sequence[Path], target: Path, mb: float, first: int = 0) -> None:
    """Write an extract of about `mb` megabytes; copies are numbered from `first`."""
    read = [read_source(path) for path in sources]
    variation = NameVariation([block for blocks, _ in read for block in blocks])
    copies = copies_for(sources, mb)
    partial = target.with_suffix(".partial")
    with partial.open("wb") as stream:
        header = (
            encode_field(4, b"OsmSchema-V0.6") + encode_field(4, b"DenseNodes") + encode_field(5, b"Sort.Type_then_ID")
        )
        stream.write(encode_blob(b"OSMHeader", header))
        for kind in range(3):
            for copy in range(first, first + copies):
                for number, (blocks, origin) in enumerate(read):
                    _write_copy(stream, blocks, kind, copy * len(read) + number, origin, variation)
    partial.rename(target)


def copies_for(sources: Sequence[Path], mb: float) -> int:
    """Return how many copies of all sources make about `mb` megabytes."""
    return max(1, round(mb * 1e6 / sum(path.stat().st_size for path in sources)))


def _write_copy(
    stream: BinaryIO,
    blocks: Sequence[Block],
    kind: int,
    copy: int,
    origin: tuple[float, float],
    variation: NameVariation,
) -> None:
    lat, lon = land_points()[copy % len(land_points())]
    offsets_e9 = round((lat - origin[0]) * 1e9), round((lon - origin[1]) * 1e9)
    for block in blocks:
        if block.kind == kind:
            stream.write(encode_blob(b"OSMData", copy_block(block, copy, offsets_e9, variation)))


# Importing.


def import_one(extract: Path, folder: Path) -> dict[str, Any]:
    """Import an extract and return time, memory and size, worker processes included."""
    begin = time.perf_counter()
    info = import_osm(extract, folder=folder)
    seconds = time.perf_counter() - begin
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    mb = extract.stat().st_size / 1e6
    cpu_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return {
        "region": info.name,
        "mb": mb,
        "seconds": seconds,
        "processor_s": cpu_s,
        "mb_per_cpu_s": mb / cpu_s,
        # An upper bound: RUSAGE_CHILDREN only has the largest worker, so count it once for each core.
        "resident_mb": (usages[0].ru_maxrss + (os.cpu_count() or 1) * usages[1].ru_maxrss) / 1024,
        "disk_ratio": info.size_bytes / 1e6 / mb,
        "features": info.features,
        "names": info.names,
        "load": os.getloadavg()[0],
    }


def run_in_subprocess(*arguments: object) -> dict[str, Any]:
    """Run this script with the given arguments and return the JSON it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def kill_imports(extract: Path, folder: Path, seconds: float, times: int = 10) -> dict[str, int]:
    """Kill imports at random moments, then complete one, and check that no partial region or file remains.

    Only the parent process is killed: its workers must notice and end by themselves.
    """
    chance = random.Random(27)
    killed = 0
    features = None
    for number in range(times + 1):
        command = [sys.executable, __file__, "--import-one", str(extract), str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number < times:
            time.sleep(chance.uniform(0.05, 0.95) * seconds)
            process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        store = RegionStore(folder)
        if store.list_damaged():
            raise SystemExit(f"a killed import left half a region: {store.list_damaged()[0].message}")
        for info in store.list():
            features = info.features
            if number < times:
                store.remove(info.name)
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    if features is None or left:
        raise SystemExit(f"after {killed} kills: {features} features, left over: {left}")
    return {"killed": killed, "features": features}


# Querying.


@dataclass(frozen=True, slots=True)
class Query:
    """A query to run, and how to judge its answer."""

    kind: str
    run: Callable[[], Any]
    is_right: Callable[[Any], bool]


def sample_rows(region: OpenRegion, count: int, chance: random.Random, test: Callable[[str, str], bool]) -> list[Any]:
    """Return random features whose name and kind pass the test; fewer than `count` if such features are rare."""
    found: list[Any] = []
    for _ in range(400 * count):
        number = chance.randint(1, region.info.features)
        row = read_feature_rows(region, [number]).get(number)
        if row is not None and test(row[2], row[3]):
            found.append(row)
            if len(found) == count:
                break
    return found


def build_queries(atlas: OfflineAtlas, regions: Regions, count: int) -> Iterator[Query]:
    """Yield about `count` queries of each kind, drawn evenly from all regions."""
    chance = random.Random(27)
    opened = regions.store.open_all()
    each = max(1, count // len(opened))
    for region in opened:
        named = sample_rows(region, each, chance, lambda name, kind: len(name) >= 6 and kind != ADDRESS)
        for row in named:
            name, point = row[2], LatLon(*row[4:6])
            yield Query("name", partial(atlas.search_pois, name), finds_name(name))
            yield Query("misread", partial(atlas.search_pois, misread(name, chance)), finds_name(name))
            around = regions.nearby(point, 150, limit=8)
            others = [hit.place.name for hit in around if hit.place.name not in ("", name)]
            if others:
                yield Query("colocated", partial(atlas.colocated, [name, others[0]], 300), bool)
            yield Query("name here", partial(atlas.geocode, name, within=Disc(point, NEARBY_KM)), finds_point(point))
        for row in sample_rows(region, each, chance, lambda _, kind: kind == ADDRESS):
            name, point = row[2], LatLon(*row[4:6])
            yield Query("address", partial(atlas.geocode, name), finds_name(name))
            yield Query("address here", partial(atlas.geocode, name, within=Disc(point, NEARBY_KM)), finds_point(point))
        for first, second in sample_crossings(region, each, chance):
            yield Query("crossing", partial(atlas.crossing, first, second), bool)
        for row in sample_rows(region, each, chance, lambda *_: True):
            yield Query("reverse", partial(atlas.reverse, LatLon(*row[4:6])), bool)
    for kinds in COLOCATED_KINDS:
        yield Query("colocated kinds", partial(atlas.colocated, kinds, 300), bool)
        for best in regions.colocated(kinds, 300, limit=1):
            area = Disc(best.point, AREA_KM)
            yield Query("kinds here", partial(atlas.colocated, kinds, 300, within=area), finds_spread(best.spread_m))


def finds_name(name: str) -> Callable[[Any], bool]:
    """Return a test whether one of the first five hits has the name."""
    return lambda hits: any(is_same_name(name, hit.matched) or hit.place.name == name for hit in hits[:5])


def finds_point(point: LatLon) -> Callable[[Any], bool]:
    """Return a test whether one of the first five hits lies at the point."""
    return lambda hits: any(distance_km(hit.place.point, point) < SAME_PLACE_KM for hit in hits[:5])


def finds_spread(spread_m: float) -> Callable[[Any], bool]:
    """Return a test whether the first combination is as tight as that."""
    return lambda found: bool(found) and found[0].spread_m <= spread_m + 0.01


def sample_crossings(region: OpenRegion, count: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield random pairs of streets that meet."""
    first, last = region.conn.execute("SELECT min(id), max(id) FROM junction").fetchone()
    for _ in range(count):
        query = "SELECT streets FROM junction WHERE id >= ? ORDER BY id LIMIT 1"
        (streets,) = region.conn.execute(query, (chance.randint(first, last),)).fetchone()
        one, two = streets.split("\n")[:2]
        yield one, two


async def run_queries(folder: Path, count: int) -> dict[str, Any]:
    """Run every query three times and return the first and the fastest time of each.

    The first run reads from disk, later ones from memory. The fastest of three is the least disturbed by other work on
    the same cores.
    """
    atlas, regions = OfflineAtlas(folder), Regions(folder)
    queries = list(build_queries(atlas, regions, count))
    figures: dict[str, Any] = {"features": sum(info.features for info in regions.store.list())}
    figures["regions"] = len(regions.store.names())
    # "reverse" runs last, because it loads the borders of the world and so hides the memory that searching takes.
    for kind in sorted({query.kind for query in queries}, key=lambda kind: (kind == "reverse", kind)):
        of_kind = [query for query in queries if query.kind == kind]
        cpu_ms, wall_ms = [math.inf] * len(of_kind), [math.inf] * len(of_kind)
        first_cpu_ms: list[float] = []
        for _ in range(3):
            right = 0
            for at, query in enumerate(of_kind):
                begin, cpu_begin = time.perf_counter(), time.process_time()
                found = await query.run()
                cpu_ms[at] = min(cpu_ms[at], ms := (time.process_time() - cpu_begin) * 1000)
                if len(first_cpu_ms) < len(of_kind):
                    first_cpu_ms.append(ms)
                wall_ms[at] = min(wall_ms[at], (time.perf_counter() - begin) * 1000)
                right += query.is_right(found)
        figures[kind] = {"asked": len(of_kind), "right": right / len(of_kind)}
        figures[kind] |= {
            "cpu_ms": percentiles(cpu_ms),
            "first_cpu_ms": percentiles(first_cpu_ms),
            "ms": percentiles(wall_ms),
        }
        memory = "with_borders_mb" if kind == "reverse" else "searching_mb"
        figures[memory] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["load"] = os.getloadavg()[0]
    return figures


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]}


def show(figures: dict[str, Any]) -> None:
    """Print the figures."""
    for one in figures.get("imports", ()):
        print(
            f"import      {one['region']}: {one['mb']:.0f} MB, {one['features']} features, {one['processor_s']:.0f} s "
            f"of CPU ({1000 / one['mb_per_cpu_s']:.0f} ms per MB), {one['seconds']:.0f} s elapsed at load "
            f"{one['load']:.0f}, {one['resident_mb']:.0f} MB resident, {one['disk_ratio']:.2f} times the extract's size"
        )
    if "killed" in figures:
        print(f"killed      {figures['killed']['killed']} imports; the next one was complete")
    for one in figures.get("asked", ()):
        print(
            f"searched    {one['features']} features in {one['regions']} regions, {one['searching_mb']:.0f} MB resident"
        )
        for kind, times in one.items():
            if isinstance(times, dict):
                cpu, first, ms = times["cpu_ms"], times["first_cpu_ms"], times["ms"]
                print(
                    f"  {kind:15} {times['asked']:4} queries, {times['right']:6.1%} found, CPU "
                    f"p50 {cpu['p50']:.1f} ms, p95 {cpu['p95']:.1f} ms; first run {first['p50']:.1f} and "
                    f"{first['p95']:.1f} ms; elapsed {ms['p50']:.1f} and {ms['p95']:.1f} ms"
                )


def draw(figures: Sequence[dict[str, Any]], target: Path) -> None:
    """Draw the 95th percentile of CPU time against the number of features as an SVG, both on a log scale."""
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
        f'<text x="{left}" y="18">CPU time that 95 % of queries stay below (ms)</text>',
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
    """Return a line for each figure that exceeds its limit in `PROMISED`."""
    broken = []
    for one in figures.get("imports", ()):
        if one["mb_per_cpu_s"] < PROMISED["mb_per_cpu_s"]:
            broken.append(f"import: {one['mb_per_cpu_s']:.2f} MB per CPU second < {PROMISED['mb_per_cpu_s']}")
        broken += [
            f"import: {key} {one[key]:.2f} > {PROMISED[key]}"
            for key in ("resident_mb", "disk_ratio")
            if one[key] > PROMISED[key]
        ]
    for one in figures.get("asked", ()):
        broken += [
            f"{kind}: p95 {times['cpu_ms']['p95']:.1f} ms > {PROMISED[kind]} ms at {one['features']} features"
            for kind, times in one.items()
            if isinstance(times, dict) and times["cpu_ms"]["p95"] > PROMISED.get(kind, math.inf)
        ]
        if one["searching_mb"] > PROMISED["searching_mb"]:
            broken.append(f"memory of searching: {one['searching_mb']:.0f} MB > {PROMISED['searching_mb']} MB")
    return broken


def import_neighbours(sources: Sequence[Path], folder: Path, mb: float, times: int) -> Path:
    """Return a folder of `times` adjacent regions of `mb` megabytes: the one in `folder`, and others made here."""
    together = folder.with_name(f"{folder.name}-times-{times}")
    together.mkdir(exist_ok=True)
    for number in range(times):
        extract = folder.with_name(f"country{mb:g}-{number}.osm.pbf")
        if not number:
            (info,) = RegionStore(folder).list()
            link_or_copy(info.path, region_path(together, info.name))
        elif not region_path(together, extract.name.removesuffix(".osm.pbf")).exists():
            if not extract.exists():
                generate(sources, extract, mb, first=number * copies_for(sources, mb))
            run_in_subprocess("--import-one", extract, together)
    return together


def main() -> int:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="?")
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("--mb", type=float, nargs="+", default=[200.0], help="sizes in megabytes")
    parser.add_argument("--times", type=int, default=1, help="also query this many regions of the last size")
    parser.add_argument("--queries", type=int, default=200, help="of each kind")
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
        gc.set_threshold(*GC_THRESHOLDS)  # as every `geosleuth` command does
        print(json.dumps(asyncio.run(run_queries(Path(options.ask[0]), int(options.ask[1])))))
        return 0
    if options.work is None:
        parser.error("give a folder of extracts and a working folder")
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
    """Return all figures of one run."""
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
            figures["imports"].append(run_in_subprocess("--import-one", extract, folder))
        figures["asked"].append(run_in_subprocess("--ask", folder, options.queries))
        if options.kill:
            seconds = figures["imports"][-1]["seconds"] if figures["imports"] else 60.0
            figures["killed"] = kill_imports(extract, options.work / "killed", seconds)
    if options.times > 1:
        together = import_neighbours(sources, folder, options.mb[-1], options.times)
        figures["asked"].append(run_in_subprocess("--ask", together, options.queries))
    return figures


if __name__ == "__main__":
    sys.exit(main())
