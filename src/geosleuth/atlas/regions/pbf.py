"""Read OpenStreetMap's .pbf files block by block into arrays.

    file   = header blob, then data blobs; each is one compressed block
    block  = string table + groups
    group  = nodes, ways or relations (up to some thousand)
    object = id, keys and values (indexes into the string table), and positions, node ids or members

Array operations decode a field of all objects of a block at once, so that Python handles only the objects that are
kept. Blocks can be read in any order and by several processes. Numbers in the code below are field numbers of the
format (https://wiki.openstreetmap.org/wiki/PBF_Format).
"""

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_MAX_HEADER_BYTES: Final = 64 * 1024  # limits of the format
_MAX_BLOB_BYTES: Final = 64 * 1024 * 1024
_RAW, _RAW_SIZE, _ZLIB = 1, 2, 3
_STRINGS, _GROUP, _GRANULARITY, _LAT_OFFSET, _LON_OFFSET = 1, 2, 17, 19, 20
_NODE, _DENSE, _WAY, _RELATION = 1, 2, 3, 4
# Nanodegrees per unit of returned positions (1e-7 degrees).
_NANODEGREES_PER_UNIT: Final = 100

# Value for a missing latitude or longitude; larger than every valid one in 1e-7 degrees.
NO_POSITION: Final = 2_000_000_000

_MAX_FIELDS: Final = 64


class UnsupportedPbf(Exception):
    """A file that may be valid, but uses a variant of the format that is not read here; osmium can rewrite it."""


class DamagedData(Exception):
    """A file that violates the format."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Position of a compressed block in its file, in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Ragged:
    """A list of numbers for each object: list n is ``values[starts[n] : starts[n + 1]]``."""

    values: Ints
    starts: Ints

    @property
    def counts(self) -> Ints:
        """Length of each list."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class TaggedObjects:
    """Objects of one type with their tags; keys and values are indexes into the block's string table."""

    ids: Ints
    keys: Ragged
    values: Ragged


@dataclass(frozen=True, slots=True)
class Nodes(TaggedObjects):
    """Nodes and their positions in 1e-7 degrees."""

    lats: Ints
    lons: Ints


@dataclass(frozen=True, slots=True)
class Ways(TaggedObjects):
    """Ways and the ids of their nodes."""

    refs: Ragged


@dataclass(frozen=True, slots=True)
class Relations(TaggedObjects):
    """Relations and their members; types are 0 node, 1 way, 2 relation."""

    members: Ragged
    types: Ragged


def blobs(path: Path) -> Iterator[Blob]:
    """Yield the data blobs of a file in order.

    Raises:
        DamagedData: the file is not a .pbf file, or incomplete.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        first = True
        while head := stream.read(4):
            (length,) = struct.unpack(">I", head) if len(head) == 4 else (_MAX_HEADER_BYTES + 1,)
            if length > _MAX_HEADER_BYTES:
                raise DamagedData("a block header is incomplete or too large")
            header = stream.read(length)
            texts, numbers = _fields(header)
            content = numbers.get(3, _MAX_BLOB_BYTES + 1)
            offset = stream.tell()
            if content > _MAX_BLOB_BYTES or offset + content > size or (texts.get(1) != [b"OSMHeader"]) == first:
                raise DamagedData("a block is incomplete or of the wrong type")
            if texts.get(1) == [b"OSMData"]:
                yield Blob(offset, content)
            first = False
            stream.seek(offset + content)


class Block:
    """One decompressed block.

    Raises:
        DamagedData: the block violates the format.
        UnsupportedPbf: the block uses another compression than zlib.
    """

    def __init__(self, packed: bytes) -> None:
        texts, numbers = _fields(packed)
        if _ZLIB in texts:
            size = numbers.get(_RAW_SIZE, 0)
            unpacker = zlib.decompressobj()
            try:
                content = unpacker.decompress(texts[_ZLIB][0], min(_MAX_BLOB_BYTES, size) + 1)
            except zlib.error as error:
                raise DamagedData(str(error)) from error
            if len(content) != size:
                raise DamagedData("a block does not have the size that it states")
        elif _RAW in texts:
            content = texts[_RAW][0]
        else:
            raise UnsupportedPbf("a block is not compressed by zlib")
        self._fields, self._numbers = _fields(content)
        if _STRINGS not in self._fields:
            raise DamagedData("a block has no string table")

    @cached_property
    def texts(self) -> list[str]:
        """String table of the block.

        Raises:
            DamagedData: a string contains a NUL byte.
            UnicodeDecodeError: a string is not UTF-8.
        """
        table = self._fields[_STRINGS][0]
        found: list[bytes] = []
        at, end = 0, len(table)
        while at < end:
            if table[at] != 0x0A:
                raise DamagedData("a string table contains other data")
            length, at = _varint(table, at + 1)
            found.append(table[at : at + length])
            at += length
        if at != end:
            raise DamagedData("a string is incomplete")
        if table.count(b"\0") > 1 and any(b"\0" in text for text in found):
            raise DamagedData("a string contains a NUL byte")
        return [text.decode() for text in found]

    @property
    def groups(self) -> Iterator[Nodes | Ways | Relations]:
        """All objects, group by group."""
        for group in self._fields.get(_GROUP, ()):
            yield from self._objects(group)

    @property
    def kinds(self) -> set[int]:
        """Types of the objects: 1 or 2 nodes, 3 ways, 4 relations."""
        return {group[0] >> 3 for group in self._fields.get(_GROUP, ()) if group}

    def _objects(self, group: bytes) -> Iterator[Nodes | Ways | Relations]:
        data = np.frombuffer(group, dtype=np.uint8)
        for kind, begins, ends in _runs(group):
            if kind == _DENSE:
                for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                    yield self._dense(group[begin:end])
            elif kind == _NODE:
                yield self._nodes(data, begins, ends)
            elif kind == _WAY:
                found, counted = _messages(data, begins, ends, {1}, {2, 3, 8})
                yield Ways(counted[1], *_tags(data, found), _delta_decoded(_decode_lists(data, *found[8], signed=True)))
            elif kind == _RELATION:
                found, counted = _messages(data, begins, ends, {1}, {2, 3, 9, 10})
                members, types = (
                    _delta_decoded(_decode_lists(data, *found[9], signed=True)),
                    _decode_lists(data, *found[10]),
                )
                if (members.starts != types.starts).any():
                    raise DamagedData("a relation has members without a type")
                yield Relations(counted[1], *_tags(data, found), members, types)

    def _positions(self, lats: Ints, lons: Ints) -> tuple[Ints, Ints]:
        """Convert positions from the block's granularity to 1e-7 degrees."""
        granularity = self._numbers.get(_GRANULARITY, _NANODEGREES_PER_UNIT)
        placed = []
        for values, field, most in ((lats, _LAT_OFFSET, 900_000_000), (lons, _LON_OFFSET, 1_800_000_000)):
            offset = _decode_signed(self._numbers.get(field, 0))
            at = (values * granularity + offset) // _NANODEGREES_PER_UNIT
            placed.append(np.where(np.abs(at) <= most, at, NO_POSITION))
        return placed[0], placed[1]

    def _nodes(self, data: Bytes, begins: Ints, ends: Ints) -> Nodes:
        found, counted = _messages(data, begins, ends, {1, 8, 9}, {2, 3})
        lats, lons = self._positions(zigzag(counted[8]), zigzag(counted[9]))
        return Nodes(zigzag(counted[1]), *_tags(data, found), lats, lons)

    def _dense(self, message: bytes) -> Nodes:
        texts, _ = _fields(message)
        ids, lats, lons = (
            np.cumsum(zigzag(varints(np.frombuffer(b"".join(texts.get(field, ())), dtype=np.uint8))))
            for field in (1, 8, 9)
        )
        if not len(ids) == len(lats) == len(lons):
            raise DamagedData("a group has nodes without a position")
        pairs = varints(np.frombuffer(b"".join(texts.get(10, ())), dtype=np.uint8))
        keys = values = Ragged(ids[:0], np.zeros(len(ids) + 1, dtype=np.int64))
        if len(pairs):
            ends = np.flatnonzero(pairs == 0)
            counts = np.diff(ends, prepend=-1) - 1
            if len(ends) != len(ids) or (counts % 2).any() or ends[-1] != len(pairs) - 1:
                raise DamagedData("a group has tags without a node")
            indexes, starts = pairs[pairs != 0], compute_starts(counts // 2)
            keys, values = Ragged(indexes[::2], starts), Ragged(indexes[1::2], starts)
        return Nodes(ids, keys, values, *self._positions(lats, lons))


def build_tags(texts: Sequence[str], keys: Sequence[int], values: Sequence[int]) -> dict[str, str]:
    """Return tags as a mapping; of a repeated key, the first value counts."""
    if len(set(keys)) == len(keys):
        return {texts[key]: texts[value] for key, value in zip(keys, values, strict=True)}
    found: dict[str, str] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(texts[key], texts[value])
    return found


def compute_starts(counts: Ints) -> Ints:
    """Return the offsets at which consecutive lists of these lengths begin, and the end of the last."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def spans(begins: Ints, counts: Ints) -> Ints:
    """Return all indexes of several ranges, one range after the other: begins [5, 9], counts [2, 1] give [5, 6, 9]."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(begins - (ends - counts), counts))


def _fields(message: bytes) -> tuple[dict[int, list[bytes]], dict[int, int]]:
    """Return the fields of a message by number: byte strings (texts, lists, messages), and integers."""
    texts: dict[int, list[bytes]] = {}
    numbers: dict[int, int] = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            numbers[key >> 3], at = _varint(message, at)
        elif kind == 2:
            length, at = _varint(message, at)
            texts.setdefault(key >> 3, []).append(message[at : at + length])
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise DamagedData("a field has an unknown type")
    if at != len(message):
        raise DamagedData("a field is incomplete")
    return texts, numbers


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise DamagedData("a number is incomplete")


def _decode_signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _runs(group: bytes) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield runs of messages of the same type in a group: the type, and where each message begins and ends."""
    begins: list[int] = []
    ends: list[int] = []
    kind = at = 0
    while at < len(group):
        key = group[at]
        if key & 7 != 2 or key > 127:
            raise DamagedData("a group contains something other than objects")
        length, at = _varint(group, at + 1)
        if key >> 3 != kind and begins:
            yield kind, np.array(begins), np.array(ends)
            begins, ends = [], []
        kind = key >> 3
        begins.append(at)
        at += length
        ends.append(at)
    if at != len(group):
        raise DamagedData("an object is incomplete")
    if begins:
        yield kind, np.array(begins), np.array(ends)


def _messages(
    data: Bytes, begins: Ints, ends: Ints, numbers: set[int], lists: set[int]
) -> tuple[dict[int, tuple[Ints, Ints]], dict[int, Ints]]:
    """Find some fields of many messages at once: all first fields, then all second fields, and so on.

    Returns:
        For each field in ``lists``, where the list of each message begins and its length in bytes;
        for each field in ``numbers``, its value in each message.
    """
    found = {field: (begins.copy(), np.zeros_like(begins)) for field in lists}
    counted = {field: np.zeros_like(begins) for field in numbers}
    at, active = begins.copy(), np.flatnonzero(begins < ends)
    for _ in range(_MAX_FIELDS):
        if not len(active):
            return found, counted
        keys = data[at[active]]
        values, after = _decode_varints(data, at[active] + 1)
        kinds, fields = keys & 7, keys >> 3
        if ((kinds != 0) & (kinds != 2)).any() or (keys > 127).any():
            raise DamagedData("a field has an unknown type")
        for field in np.unique(fields).tolist():
            some = np.flatnonzero(fields == field)
            if field in lists:
                begin, length = found[field]
                if (kinds[some] != 2).any() or length[active[some]].any():
                    raise UnsupportedPbf("a list is in several pieces")
                begin[active[some]], length[active[some]] = after[some], values[some]
            elif field in numbers:
                if (kinds[some] != 0).any():
                    raise DamagedData("a number has the wrong type")
                counted[field][active[some]] = values[some]
        at[active] = after + np.where(kinds == 2, values, 0)
        if (at[active] > ends[active]).any() or (values < 0).any():
            raise DamagedData("a field is incomplete")
        active = active[at[active] < ends[active]]
    raise UnsupportedPbf("an object has too many fields")


def _decode_varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """Return the varint at each offset, and the offset behind it."""
    values = np.zeros(len(at), dtype=np.int64)
    at = at.copy()
    active = np.arange(len(at))
    for shift in range(0, 70, 7):
        if at[active].max(initial=-1) >= len(data):
            break
        bytes_ = data[at[active]]
        values[active] |= (bytes_ & 127).astype(np.int64) << shift
        at[active] += 1
        active = active[bytes_ > 127]
        if not len(active):
            return values, at
    raise DamagedData("a number is incomplete")


def varints(data: Bytes) -> Ints:
    """Decode all varints of a packed list."""
    if not len(data):
        return np.empty(0, dtype=np.int64)
    ends = np.flatnonzero(data < 128)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise DamagedData("a number is incomplete")
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    values = (data[starts] & 127).astype(np.int64)
    longest = int((ends - starts).max())
    if longest > 9:
        raise DamagedData("a number is too long")
    for place in range(1, longest + 1):
        some = np.flatnonzero(ends - starts >= place)
        values[some] |= (data[starts[some] + place] & 127).astype(np.int64) << (7 * place)
    return values


def zigzag(values: Ints) -> Ints:
    """Decode zigzag numbers: 0, 1, 2, 3 stand for 0, -1, 1, -2."""
    return (values >> 1 & 0x7FFF_FFFF_FFFF_FFFF) ^ -(values & 1)


def _decode_lists(data: Bytes, begins: Ints, lengths: Ints, *, signed: bool = False) -> Ragged:
    """Decode the packed lists at some offsets."""
    gathered = data[spans(begins, lengths)]
    values = varints(gathered)
    ended = np.zeros(len(gathered) + 1, dtype=np.int64)
    np.cumsum(gathered < 128, out=ended[1:])
    cuts = compute_starts(lengths)
    if (gathered[cuts[1:][lengths > 0] - 1] > 127).any():
        raise DamagedData("a list is incomplete")
    return Ragged(zigzag(values) if signed else values, ended[cuts])


def _delta_decoded(steps: Ragged) -> Ragged:
    sums = np.cumsum(steps.values)
    before = np.concatenate([[0], sums])[steps.starts[:-1]]
    return Ragged(sums - np.repeat(before, steps.counts), steps.starts)


def _tags(data: Bytes, found: Mapping[int, tuple[Ints, Ints]]) -> tuple[Ragged, Ragged]:
    keys, values = _decode_lists(data, *found[2]), _decode_lists(data, *found[3])
    if (keys.starts != values.starts).any():
        raise DamagedData("a key has no value")
    return keys, values
