"""Read OpenStreetMap's .pbf files a block at a time, as arrays.

A block holds up to some thousand objects. Every field of all its objects is found in step, by array operations, so that
Python touches only the objects that are kept. Blocks can be read in any order and by several processes.
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

# The format's own limits for a blob's header and for its content.
_MAX_HEADER: Final = 64 * 1024
_MAX_BLOB: Final = 64 * 1024 * 1024
_RAW, _RAW_SIZE, _ZLIB = 1, 2, 3
_TABLE, _GROUP, _GRANULARITY, _LAT_OFFSET, _LON_OFFSET = 1, 2, 17, 19, 20
_NODE, _DENSE, _WAY, _RELATION = 1, 2, 3, 4
_NANODEGREES: Final = 100
"""In one unit of the positions here, 1e-7 degrees."""

NO_POSITION: Final = 2_000_000_000
"""Stands for a missing latitude or longitude; larger than every valid one in 1e-7 degrees."""


class Unusual(Exception):
    """A file that may be sound, but is not written as extracts are; osmium can write it anew."""


class Damaged(Exception):
    """A file that is not what the format says."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Where a packed block lies in its file."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of numbers, one for each object, one after the other."""

    values: Ints
    starts: Ints  # one more than there are lists

    @property
    def counts(self) -> Ints:
        """The length of each."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Tagged:
    """Objects of one type with their tags, as places in the block's table of texts."""

    ids: Ints
    keys: Ragged
    values: Ragged


@dataclass(frozen=True, slots=True)
class Nodes(Tagged):
    """Nodes; positions count 1e-7 degrees."""

    lats: Ints
    lons: Ints


@dataclass(frozen=True, slots=True)
class Ways(Tagged):
    """Ways and the ids of their nodes."""

    refs: Ragged


@dataclass(frozen=True, slots=True)
class Relations(Tagged):
    """Relations and their members; types are 0 node, 1 way, 2 relation."""

    members: Ragged
    types: Ragged


def blobs(path: Path) -> Iterator[Blob]:
    """The packed blocks with data, in their order.

    Raises:
        Damaged: it is no such file, or it is cut short.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        first = True
        while head := stream.read(4):
            (length,) = struct.unpack(">I", head) if len(head) == 4 else (_MAX_HEADER + 1,)
            if length > _MAX_HEADER:
                raise Damaged("no block begins where one should")
            about = stream.read(length)
            texts, numbers = _fields(about)
            content = numbers.get(3, _MAX_BLOB + 1)
            offset = stream.tell()
            if content > _MAX_BLOB or offset + content > size or (texts.get(1) != [b"OSMHeader"]) == first:
                raise Damaged("a block is cut short, or is none")
            if texts.get(1) == [b"OSMData"]:
                yield Blob(offset, content)
            first = False
            stream.seek(offset + content)


class Block:
    """One block, unpacked.

    Raises:
        Damaged: it does not hold what the format says.
        Unusual: it is packed otherwise.
    """

    def __init__(self, packed: bytes) -> None:
        texts, numbers = _fields(packed)
        if _ZLIB in texts:
            size = numbers.get(_RAW_SIZE, 0)
            unpacker = zlib.decompressobj()
            try:
                content = unpacker.decompress(texts[_ZLIB][0], min(_MAX_BLOB, size) + 1)
            except zlib.error as error:
                raise Damaged(str(error)) from error
            if len(content) != size:
                raise Damaged("a block has another size than it says")
        elif _RAW in texts:
            content = texts[_RAW][0]
        else:
            raise Unusual("packed otherwise")
        self._fields, self._numbers = _fields(content)
        if _TABLE not in self._fields:
            raise Damaged("a block without texts")

    @cached_property
    def texts(self) -> list[str]:
        """The table of texts.

        Raises:
            Damaged: a text holds a NUL byte.
            UnicodeDecodeError: a text is not UTF-8.
        """
        table = self._fields[_TABLE][0]
        found: list[bytes] = []
        at, end = 0, len(table)
        while at < end:
            if table[at] != 0x0A:
                raise Damaged("a table of texts holds something else")
            length, at = _varint(table, at + 1)
            found.append(table[at : at + length])
            at += length
        if at != end:
            raise Damaged("a text is cut short")
        if table.count(b"\0") > 1 and any(b"\0" in text for text in found):
            raise Damaged("a text holds NUL")
        return [text.decode() for text in found]

    @property
    def groups(self) -> Iterator[Nodes | Ways | Relations]:
        """The objects, a group at a time."""
        for group in self._fields.get(_GROUP, ()):
            yield from self._objects(group)

    def node_positions(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Ids, latitudes and longitudes of all nodes; nothing else is read."""
        for group in self._fields.get(_GROUP, ()):
            if group[:1] == bytes([_DENSE << 3 | 2]) or group[:1] == bytes([_NODE << 3 | 2]):
                for one in self._objects(group, tags=False):
                    if isinstance(one, Nodes):
                        yield one.ids, one.lats, one.lons

    @property
    def kinds(self) -> set[int]:
        """Which types of objects there are: 1 or 2 nodes, 3 ways, 4 relations."""
        return {group[0] >> 3 for group in self._fields.get(_GROUP, ()) if group}

    def _objects(self, group: bytes, *, tags: bool = True) -> Iterator[Nodes | Ways | Relations]:
        data = np.frombuffer(group, dtype=np.uint8)
        for kind, begins, ends in _runs(group):
            if kind == _DENSE:
                for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                    yield self._dense(group[begin:end], tags=tags)
            elif kind == _NODE:
                yield self._nodes(data, begins, ends)
            elif kind == _WAY:
                found, counted = _messages(data, begins, ends, {1}, {2, 3, 8})
                yield Ways(counted[1], *_tags(data, found), _summed(_ragged(data, *found[8], signed=True)))
            elif kind == _RELATION:
                found, counted = _messages(data, begins, ends, {1}, {2, 3, 9, 10})
                members, types = _summed(_ragged(data, *found[9], signed=True)), _ragged(data, *found[10])
                if (members.starts != types.starts).any():
                    raise Damaged("members without a type")
                yield Relations(counted[1], *_tags(data, found), members, types)

    def _positions(self, lats: Ints, lons: Ints) -> tuple[Ints, Ints]:
        granularity = self._numbers.get(_GRANULARITY, _NANODEGREES)
        placed = []
        for values, field, most in ((lats, _LAT_OFFSET, 900_000_000), (lons, _LON_OFFSET, 1_800_000_000)):
            offset = _signed(self._numbers.get(field, 0))
            at = (values * granularity + offset) // _NANODEGREES
            placed.append(np.where(np.abs(at) <= most, at, NO_POSITION))
        return placed[0], placed[1]

    def _nodes(self, data: Bytes, begins: Ints, ends: Ints) -> Nodes:
        found, counted = _messages(data, begins, ends, {1, 8, 9}, {2, 3})
        lats, lons = self._positions(zigzag(counted[8]), zigzag(counted[9]))
        return Nodes(zigzag(counted[1]), *_tags(data, found), lats, lons)

    def _dense(self, message: bytes, *, tags: bool) -> Nodes:
        texts, _ = _fields(message)
        ids, lats, lons = (
            np.cumsum(zigzag(varints(np.frombuffer(b"".join(texts.get(field, ())), dtype=np.uint8))))
            for field in (1, 8, 9)
        )
        if not len(ids) == len(lats) == len(lons):
            raise Damaged("nodes without a position")
        pairs = varints(np.frombuffer(b"".join(texts.get(10, ())), dtype=np.uint8)) if tags else ids[:0]
        keys = values = Ragged(ids[:0], np.zeros(len(ids) + 1, dtype=np.int64))
        if len(pairs):
            ends = np.flatnonzero(pairs == 0)
            counts = np.diff(ends, prepend=-1) - 1
            if len(ends) != len(ids) or (counts % 2).any() or ends[-1] != len(pairs) - 1:
                raise Damaged("tags without a node")
            told, starts = pairs[pairs != 0], starts_of(counts // 2)
            keys, values = Ragged(told[::2], starts), Ragged(told[1::2], starts)
        return Nodes(ids, keys, values, *self._positions(lats, lons))


def tags_of(texts: Sequence[str], keys: Sequence[int], values: Sequence[int]) -> dict[str, str]:
    """Tags as a mapping; the first of a key stands."""
    if len(set(keys)) == len(keys):
        return {texts[key]: texts[value] for key, value in zip(keys, values, strict=True)}
    found: dict[str, str] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(texts[key], texts[value])
    return found


def starts_of(counts: Ints) -> Ints:
    """Where lists of these lengths begin, and where the last ends."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def spans(begins: Ints, counts: Ints) -> Ints:
    """The places of runs of these lengths, one run after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(begins - (ends - counts), counts))


def _fields(message: bytes) -> tuple[dict[int, list[bytes]], dict[int, int]]:
    """The fields of a message: texts, bytes and messages by number, and figures by number."""
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
            raise Damaged("a field of no kind")
    if at != len(message):
        raise Damaged("a field is cut short")
    return texts, numbers


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise Damaged("a number is cut short")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _runs(group: bytes) -> Iterator[tuple[int, Ints, Ints]]:
    """The messages of a group: their field, and where each begins and ends, as long as the field stays the same."""
    begins: list[int] = []
    ends: list[int] = []
    kind = at = 0
    while at < len(group):
        key = group[at]
        if key & 7 != 2 or key > 127:
            raise Damaged("a group holds no objects")
        length, at = _varint(group, at + 1)
        if key >> 3 != kind and begins:
            yield kind, np.array(begins), np.array(ends)
            begins, ends = [], []
        kind = key >> 3
        begins.append(at)
        at += length
        ends.append(at)
    if at != len(group):
        raise Damaged("an object is cut short")
    if begins:
        yield kind, np.array(begins), np.array(ends)


def _messages(
    data: Bytes, begins: Ints, ends: Ints, numbers: set[int], lists: set[int]
) -> tuple[dict[int, tuple[Ints, Ints]], dict[int, Ints]]:
    """Some fields of many messages: where each list begins and how long it is, and the figures."""
    found = {field: (begins.copy(), np.zeros_like(begins)) for field in lists}
    counted = {field: np.zeros_like(begins) for field in numbers}
    at, active = begins.copy(), np.flatnonzero(begins < ends)
    for _ in range(_MOST_FIELDS):
        if not len(active):
            return found, counted
        keys = data[at[active]]
        values, after = _varints_at(data, at[active] + 1)
        kinds, fields = keys & 7, keys >> 3
        if ((kinds != 0) & (kinds != 2)).any() or (keys > 127).any():
            raise Damaged("a field of no kind")
        for field in np.unique(fields).tolist():
            some = np.flatnonzero(fields == field)
            if field in lists:
                begin, length = found[field]
                if (kinds[some] != 2).any() or length[active[some]].any():
                    raise Unusual("lists in pieces")
                begin[active[some]], length[active[some]] = after[some], values[some]
            elif field in numbers:
                if (kinds[some] != 0).any():
                    raise Damaged("a figure that is none")
                counted[field][active[some]] = values[some]
        at[active] = after + np.where(kinds == 2, values, 0)
        if (at[active] > ends[active]).any() or (values < 0).any():
            raise Damaged("a field is cut short")
        active = active[at[active] < ends[active]]
    raise Unusual("an object with very many fields")


_MOST_FIELDS: Final = 64


def _varints_at(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The number at each place, and where the next field begins."""
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
    raise Damaged("a number is cut short")


def varints(data: Bytes) -> Ints:
    """All numbers of a packed list."""
    if not len(data):
        return np.empty(0, dtype=np.int64)
    ends = np.flatnonzero(data < 128)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise Damaged("a number is cut short")
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    values = (data[starts] & 127).astype(np.int64)
    longest = int((ends - starts).max())
    if longest > 9:
        raise Damaged("a number is too long")
    for place in range(1, longest + 1):
        some = np.flatnonzero(ends - starts >= place)
        values[some] |= (data[starts[some] + place] & 127).astype(np.int64) << (7 * place)
    return values


def zigzag(values: Ints) -> Ints:
    """Numbers of which every second one is negative: 0, -1, 1, -2."""
    return (values >> 1 & 0x7FFF_FFFF_FFFF_FFFF) ^ -(values & 1)


def _ragged(data: Bytes, begins: Ints, lengths: Ints, *, signed: bool = False) -> Ragged:
    gathered = data[spans(begins, lengths)]
    values = varints(gathered)
    ended = np.zeros(len(gathered) + 1, dtype=np.int64)
    np.cumsum(gathered < 128, out=ended[1:])
    cuts = starts_of(lengths)
    if (gathered[cuts[1:][lengths > 0] - 1] > 127).any():
        raise Damaged("a list is cut short")
    return Ragged(zigzag(values) if signed else values, ended[cuts])


def _summed(steps: Ragged) -> Ragged:
    """Lists that were written as the steps between their numbers."""
    sums = np.cumsum(steps.values)
    before = np.concatenate([[0], sums])[steps.starts[:-1]]
    return Ragged(sums - np.repeat(before, steps.counts), steps.starts)


def _tags(data: Bytes, found: Mapping[int, tuple[Ints, Ints]]) -> tuple[Ragged, Ragged]:
    keys, values = _ragged(data, *found[2]), _ragged(data, *found[3])
    if (keys.starts != values.starts).any():
        raise Damaged("a key without a value")
    return keys, values
