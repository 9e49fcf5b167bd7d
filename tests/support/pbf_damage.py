"""Extracts with damage that a checksum would have found: cut, overwritten, or spoilt inside their packed blocks.

python tests/support/pbf_damage.py 500      imports as many and counts what comes of them
"""

import random
import struct
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from geosleuth.atlas.regions import import_osm
from geosleuth.support.errors import BadInput

MONACO = Path(__file__).resolve().parents[2] / "examples" / "regions" / "monaco.osm.pbf"
_HEADER_TYPE, _HEADER_SIZE, _RAW, _ZLIB = 1, 3, 1, 3


def damaged(seed: int) -> bytes:
    """Return an extract spoilt in one of three ways, the same for the same seed."""
    chance = random.Random(seed)
    whole = MONACO.read_bytes()
    if seed % 6 == 0:
        return whole[: chance.randrange(len(whole))]
    if seed % 6 == 1:
        return _overwritten(whole, chance.choice([1, 3, 10, 50]), chance)
    # Inside the blocks, where nothing notices before the reader does. The header and one block are enough.
    header, *blocks = _blocks()
    kept = [header, chance.choice(blocks)]
    spoilt = chance.randrange(20) and 1
    kind, content = kept[spoilt]
    reach = chance.choice([200, 5_000, len(content)])
    count = chance.choice([1, 2, 10, 60])
    kept[spoilt] = (kind, _overwritten(content[:reach], count, chance) + content[reach:])
    return b"".join(_packed(*block) for block in kept)


def not_utf8() -> bytes:
    """Return an extract in which one name is written in Latin-1."""
    spoilt = [(kind, content.replace("Café".encode(), b"Caf\xe9 ")) for kind, content in _blocks()]
    return b"".join(_packed(*block) for block in spoilt)


def _overwritten(content: bytes, count: int, chance: random.Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(count):
        spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
    return bytes(spoilt)


@cache
def _blocks() -> list[tuple[bytes, bytes]]:
    """The extract's blocks, unpacked: their kind and content."""
    data, at, found = MONACO.read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        header = dict(_fields(data[at + 4 : at + 4 + length]))
        at += 4 + length
        kind, size = header[_HEADER_TYPE], header[_HEADER_SIZE]
        assert isinstance(kind, bytes)
        assert isinstance(size, int)
        blob = dict(_fields(data[at : at + size]))
        at += size
        packed = blob.get(_ZLIB)
        content = zlib.decompress(packed) if isinstance(packed, bytes) else blob[_RAW]
        assert isinstance(content, bytes)
        found.append((kind, content))
    return found


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        value, at = _number(message, at)
        if key & 7 == 2:
            yield key >> 3, message[at : at + value]
            at += value
        else:
            yield key >> 3, value


def _number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _written(number: int) -> bytes:
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])


def _packed(kind: bytes, content: bytes) -> bytes:
    blob = b"\x0a" + _written(len(content)) + content
    header = b"\x0a" + _written(len(kind)) + kind + b"\x18" + _written(len(blob))
    return struct.pack(">I", len(header)) + header + blob


if __name__ == "__main__":
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "bad.osm.pbf"
        for number in range(int(sys.argv[1])):
            source.write_bytes(damaged(number))
            try:
                import_osm(source, "bad", folder=Path(name) / "regions")
                told["taken in"] += 1
            except BadInput:
                told["refused in one line"] += 1
            except Exception as error:  # noqa: BLE001  # what is being counted
                told[f"{number}: {error!r}"[:200]] += 1
    for line, count in told.most_common():
        sys.stdout.write(f"{count} {line}\n")
