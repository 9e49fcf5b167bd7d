"""Maps at the size of countries: how fast an extract is taken in, how large it becomes, how fast it is asked.

    python benchmarks/country.py SOURCES WORK [--mb 200] [--regions 1] [--queries 200] [--kill] [--json FILE]

SOURCES is a folder of small extracts (.osm.pbf). Copies of them, laid side by side on the globe, with other ids and with
other names, make an extract of the size asked for: a country that nobody has mapped. WORK is a folder for what is made;
extracts and regions that are already there are used again. `--regions N` makes that many extracts of the size each.
Each import runs in a process of its own. `--kill` kills ten imports at random moments. `--growth` imports and asks at
1, 10 and 100 times the sources, and `--draw FILE.svg` draws that. Times are of the processor, since machines are shared;
what waited for a core is told beside it.
"""

import argparse
import json
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from geosleuth.atlas.regions import Regions, RegionStore, import_osm, region_name

ID_STEP = 20_000_000_000  # no object of OpenStreetMap has a larger id
GRID = [(lat, lon) for lat in range(-54, 66, 1) for lon in range(-170, 171, 2)]
NAMING = re.compile(
    r"name$|name:[a-z]{2,3}$|alt_name$|old_name$|official_name$|short_name$|loc_name$|addr:street$|addr:place$|addr:city$"
)
VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvz"
COMMON_WORDS = 120
STEPS = {(2, 1), (3, 8), (4, 9)}  # ids of dense nodes, of a way's nodes, of a relation's members
IDS = {(3, 1), (4, 1)}  # of ways and relations
PROMISED = {
    "mb_per_cpu_s": 1.0, "resident_mb": 2000.0, "disk_ratio": 3.0, "name": 10.0, "misread": 10.0, "address": 20.0,
    "crossing": 20.0, "colocated": 20.0, "reverse": 5.0, "searching_mb": 500.0,
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
            kind, names = 0, set()
            for number, value in fields(group):
                message = bytes(value)
                if number == 2:
                    told = dict(fields(message))
                    if middle == (0.0, 0.0):
                        first = [next(numbers(bytes(told[key]))) for key in (8, 9)]
                        middle = tuple(((one >> 1) ^ -(one & 1)) / 1e7 for one in first)  # type: ignore[assignment]
                    pairs = [one for one in numbers(bytes(told.get(10, b""))) if one]
                else:
                    kind = max(kind, number - 2)
                    told = dict(fields(message))
                    keys, values = (list(numbers(bytes(told.get(key, b"")))) for key in (2, 3))
                    pairs = [one for pair in zip(keys, values, strict=True) for one in pair]
                names |= {value for key, value in zip(pairs[::2], pairs[1::2], strict=True) if key in naming}
            blocks.append(Block(texts, names, kind, group, rest))
    return blocks, middle


class Variation:
    """Other names for each copy: words that many names share stay, most others change some letters."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        words = Counter(
            word
            for block in blocks
            for at in block.names
            for word in block.texts[at].decode().split()
        )
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


def generate(sources: Sequence[Path], target: Path, mb: float, first: int = 0) -> int:
    """Write an extract of about so many megabytes; return the number of the copy after its last."""
    read = [read_source(path) for path in sources]
    vary = Variation([block for blocks, _ in read for block in blocks])
    size = sum(path.stat().st_size for path in sources) / 1e6
    copies = max(1, round(mb / size))
    partial = target.with_suffix(".partial")
    with partial.open("wb") as stream:
        features = field(4, b"OsmSchema-V0.6") + field(4, b"DenseNodes") + field(5, b"Sort.Type_then_ID")
        stream.write(blob(b"OSMHeader", features))
        for kind in range(3):
            for copy in range(first, first + copies):
                for number, (blocks, middle) in enumerate(read):
                    _write(stream, blocks, kind, copy * len(read) + number, middle, vary)
    partial.rename(target)
    return first + copies


def _write(
    stream: BinaryIO, blocks: Sequence[Block], kind: int, copy: int, middle: tuple[float, float], vary: Variation
) -> None:
    lat, lon = GRID[copy % len(GRID)]
    at = (0, 0) if copy < 3 else (round((lat - middle[0]) * 1e9), round((lon - middle[1]) * 1e9))
    for block in blocks:
        if block.kind == kind:
            stream.write(blob(b"OSMData", copied(block, copy, at, vary)))
