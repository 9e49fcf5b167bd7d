"""The tagged directories that both TIFF files and EXIF blocks are made of, read without trusting any number in them."""

import math
import struct
from dataclasses import dataclass

from .carrier import MAX_XMP, Carrier, Unfit, truncated
from .model import Limits

_FORMATS = {1: "B", 2: "B", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES, _TILE_WIDTH, _TILE_HEIGHT, _XMP = 256, 257, 259, 277, 322, 323, 700
# Tags that decoding needs, with the most values each may have.
_ONE = dict.fromkeys((256, 257, 259, 262, 266, 277, 278, 284, 292, 293, 317, 322, 323, 531), 1)
_FEW = {258: 8, 338: 8, 339: 8, 529: 3, 530: 2, 532: 6}
_LONG = {273: 0, 279: 0, 324: 0, 325: 0, 320: 3 * 65_536, 347: 65_536}
_NEEDED = _ONE | _FEW | _LONG
# None, the three fax codings, LZW, JPEG, PackBits and both numbers of Deflate.
_COMPRESSIONS = {1, 2, 3, 4, 5, 7, 8, 32_773, 32_946}
_MOST_SAMPLES = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """One tag: its type, how many values, and where in the block they lie."""

    type: int
    count: int
    start: int
    inline: bool


class Tagged:
    """A block that starts with a TIFF header.

    Raises:
        ValueError: it does not.
    """

    def __init__(self, data: bytes) -> None:
        if data[:4] not in (b"II*\0", b"MM\0*") or len(data) < 8:
            raise ValueError("no TIFF header")
        self.data = data
        self.order = "<" if data[:1] == b"I" else ">"
        self.first = self._unpack("I", 4)[0]

    def directory(self, offset: int) -> tuple[dict[int, Entry], int]:
        """The tags of a directory and the offset of the next one (0: none).

        Values that would lie outside the block are left out.

        Raises:
            ValueError: the directory itself does not lie inside the block.
        """
        if not 8 <= offset <= len(self.data) - 2:
            raise ValueError("directory outside the block")
        (length,) = self._unpack("H", offset)
        end = offset + 2 + 12 * length
        if end > len(self.data):
            raise ValueError("directory cut short")
        entries: dict[int, Entry] = {}
        for at in range(offset + 2, end, 12):
            tag, type_, count = self._unpack("HHI", at)
            if type_ not in _FORMATS or tag in entries:
                continue
            size = count * struct.calcsize("=" + _FORMATS[type_])
            start = at + 8 if size <= 4 else self._unpack("I", at + 8)[0]
            if start + size <= len(self.data):
                entries[tag] = Entry(type_, count, start, inline=size <= 4)
        following = self._unpack("I", end)[0] if end + 4 <= len(self.data) else 0
        return entries, following

    def numbers(self, entry: Entry | None, most: int = 8) -> list[float]:
        """The first values of a tag; a rational with a zero below the line is NaN."""
        if entry is None:
            return []
        step = struct.calcsize("=" + _FORMATS[entry.type])
        values = []
        for index in range(min(entry.count, most)):
            got = self._unpack(_FORMATS[entry.type], entry.start + index * step)
            if len(got) == 2:
                values.append(got[0] / got[1] if got[1] else math.nan)
            else:
                values.append(got[0])
        return values

    def raw(self, entry: Entry | None, most: int) -> bytes:
        """The bytes of a tag, `most` of them at most."""
        if entry is None:
            return b""
        size = entry.count * struct.calcsize("=" + _FORMATS[entry.type])
        return self.data[entry.start : entry.start + min(size, most)]

    def _unpack(self, letters: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + letters, self.data, at)


def take_apart_tiff(data: bytes, limits: Limits) -> Carrier:
    """The first picture of a TIFF file, under a new directory that names its pixels and nothing else."""
    try:
        block = Tagged(data)
        entries, following = block.directory(block.first)
    except (ValueError, struct.error) as error:
        raise truncated() from error
    size = _checked_size(block, entries)
    _check_layout(block, entries, limits)
    kept = {tag: entry for tag, entry in sorted(entries.items()) if tag in _NEEDED}
    return Carrier(
        "TIFF",
        size,
        _with_directory(block, kept),
        # Here the whole file is one EXIF block: its first directory has the camera's tags among the others.
        exif=data,
        xmp=block.raw(entries.get(_XMP), MAX_XMP),
        several=following != 0,
    )


def _checked_size(block: Tagged, entries: dict[int, Entry]) -> tuple[int, int]:
    width, height = (block.numbers(entries.get(tag), 1) for tag in (_WIDTH, _HEIGHT))
    if not width or not height or not (width[0] >= 1 and height[0] >= 1):
        raise truncated()
    return int(width[0]), int(height[0])


def _check_layout(block: Tagged, entries: dict[int, Entry], limits: Limits) -> None:
    for tag, most in _NEEDED.items():
        if tag in entries and entries[tag].count > (most or limits.max_parts):
            raise Unfit("the TIFF directory holds absurd counts; save the photo anew as JPEG or PNG")
    if not ({273, 279} <= entries.keys() or {324, 325} <= entries.keys()):
        raise truncated()
    _check_strips(block, entries, limits)
    compression = block.numbers(entries.get(_COMPRESSION), 1) or [1]
    if compression[0] not in _COMPRESSIONS:
        raise Unfit("this kind of TIFF compression is not supported; save the photo as JPEG or PNG")
    samples = block.numbers(entries.get(_SAMPLES), 1) or [1]
    if not 1 <= samples[0] <= _MOST_SAMPLES:
        raise Unfit("the TIFF has too many channels for a photo; save it as JPEG or PNG")
    tile = [*block.numbers(entries.get(_TILE_WIDTH), 1), *block.numbers(entries.get(_TILE_HEIGHT), 1)]
    # One tile is held in memory whole, so a small picture may not ask for a huge one.
    if math.prod(tile) > 64_000_000:
        raise Unfit("the TIFF has absurdly large tiles; save the photo anew as JPEG or PNG")


def _check_strips(block: Tagged, entries: dict[int, Entry], limits: Limits) -> None:
    """Pixels that would lie behind the file's end must not be read from what is put there."""
    for offsets, lengths in ((273, 279), (324, 325)):
        starts = block.numbers(entries.get(offsets), limits.max_parts)
        sizes = block.numbers(entries.get(lengths), limits.max_parts)
        if len(starts) != len(sizes):
            raise truncated()
        if any(not start + size <= len(block.data) for start, size in zip(starts, sizes, strict=True)):
            raise truncated()


def _with_directory(block: Tagged, kept: dict[int, Entry]) -> bytes:
    padding = b"\0" * (len(block.data) % 2)
    offset = len(block.data) + len(padding)
    parts = [struct.pack(block.order + "H", len(kept))]
    for tag, entry in kept.items():
        parts.append(struct.pack(block.order + "HHI", tag, entry.type, entry.count))
        if entry.inline:
            parts.append(block.data[entry.start : entry.start + 4].ljust(4, b"\0"))
        else:
            parts.append(struct.pack(block.order + "I", entry.start))
    parts.append(b"\0\0\0\0")
    header = block.data[:4] + struct.pack(block.order + "I", offset)
    return b"".join((header, memoryview(block.data)[8:], padding, *parts))
