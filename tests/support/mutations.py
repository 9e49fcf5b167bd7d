"""Files spoilt on purpose, the same for the same seed: flipped bits, bent numbers, cuts, splices, odd values.

`spoilt_bytes` knows nothing of what it spoils but PNG's checksums; `spoilt_json`, `spoilt_lines` and `spoilt_yaml`
change one value of a document that stays well-formed, so that readers get past their parser.
"""

import json
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

import yaml

Spoil = Callable[[bytes, bytes, random.Random], bytes]
"""What is spoilt, another file to splice from, chance."""

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, -1e-308, float("nan"), float("inf"),
    "", " ", "\0", "\n", "\ud800", "\u202e", "\u2028", "🧭" * 40, "x" * 5000, "../../etc/passwd", "/dev/zero",
    "nan", "1e999", "-0", "2026-99-99T99:99", "http://[bad/", "data:image/png;base64,AAAA", "{", "[]", "null",
    [], [[]], {}, {"": None},
    [None], [0, 0, 0, 0], {"lat": 91, "lon": 181}, {"a": {"a": {"a": {}}}}, ["x"] * 300,
)  # fmt: skip
_ODD_BYTES = (
    b"\0", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\r", b"\n", b'"', b"'", b",", b":", b"{", b"}",
    b"[" * 2000, b'{"a":' * 1500, b"9" * 5000, b"-", b"1e9999", b"NaN", b"&a [*a]", b"<<: *a",
    b"!!python/object:os.system",    b"%", b"../", b"\\u0000", b"\\ud800",
)  # fmt: skip


def spoilt_bytes(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Flipped bits, bent numbers, cuts, repeats, splices; now and then with PNG checksums set right again."""
    block = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if block:
            _spoil_once(block, other, rng)
    if block.startswith(b"\x89PNG") and rng.random() < 0.7:
        _mend_checksums(block)
    return bytes(block)


def spoilt_text(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Pieces of text put in, left out, doubled or taken from elsewhere; half of the time bytes as well."""
    if rng.random() < 0.3 or not data:
        return spoilt_bytes(data, other, rng)
    block = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(block) + 1)
        end = min(len(block), at + rng.choice((0, 1, 4, 40)))
        block[at:end] = rng.choice(_ODD_BYTES)
    return bytes(block)


def spoilt_json(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One to four values of a JSON document changed, now and then its text."""
    if rng.random() < 0.2:
        return spoilt_text(data, other, rng)
    document = json.loads(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        document = _changed(document, rng)
    return _dumped(document)


def spoilt_lines(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """JSON lines: one of them changed, left out, doubled or moved, now and then their text."""
    lines = data.splitlines(keepends=True)
    if rng.random() < 0.2 or not lines:
        return spoilt_text(data, other, rng)
    at = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        case 2:
            lines[at] = lines[at][: rng.randrange(len(lines[at]))]
        case _:
            lines[at] = spoilt_json(lines[at], other, rng) + b"\n"
    return b"".join(lines)


def spoilt_yaml(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """As JSON, but of a YAML file."""
    if rng.random() < 0.4:
        return spoilt_text(data, other, rng)
    document = yaml.safe_load(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        document = _changed(document, rng)
    return yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "surrogatepass")


def _dumped(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _changed(value: Any, rng: random.Random) -> Any:
    """The document with one value in it changed; small parts as likely as large ones."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(ODD_VALUES)
    return _changed_object(value, rng) if isinstance(value, dict) else _changed_list(value, rng)


def _changed_object(value: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    key = rng.choice(list(value))
    match rng.randrange(8):
        case 0:
            return {name: one for name, one in value.items() if name != key}
        case 1:
            return {**value, str(rng.choice(ODD_VALUES))[:50]: value[key]}
        case 2:
            return {**value, key: value[rng.choice(list(value))]}
        case _:
            return {**value, key: _changed(value[key], rng)}


def _changed_list(value: list[Any], rng: random.Random) -> list[Any]:
    at = rng.randrange(len(value))
    match rng.randrange(8):
        case 0:
            return [*value[:at], *value[at + 1 :]]
        case 1:
            return [*value, value[at]]
        case _:
            return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]


def _spoil_once(block: bytearray, other: bytes, rng: random.Random) -> None:
    """One change, in the first few hundred bytes as often as anywhere."""
    at = rng.randrange(len(block)) if rng.random() < 0.5 else rng.randrange(min(len(block), 300))
    match rng.randrange(7):
        case 0:
            block[at] ^= 1 << rng.randrange(8)
        case 1:
            block[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        case 2:
            number = rng.choice((0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF, 14_000, rng.getrandbits(32)))
            block[at : at + 4] = struct.pack(rng.choice("<>") + "I", number)
        case 3:
            del block[at : at + rng.randrange(1, 64)]
        case 4:
            block[at:at] = block[at : at + rng.randrange(1, 64)]
        case 5:
            start = rng.randrange(len(other))
            block[at:at] = other[start : start + rng.randrange(1, 256)]
        case 6 if rng.random() < 0.3:
            del block[at + 1 :]


def _mend_checksums(block: bytearray) -> None:
    """Without this hardly any mutated PNG would get past the first check."""
    at = 8
    while at + 12 <= len(block):
        end = at + 8 + struct.unpack_from(">I", block, at)[0]
        if end + 4 > len(block):
            return
        block[end : end + 4] = struct.pack(">I", zlib.crc32(block[at + 4 : end]))
        at = end + 4
