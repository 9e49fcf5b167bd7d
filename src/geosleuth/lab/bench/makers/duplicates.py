"""Find photos that show the same picture, within a set or across two, without comparing all pairs.

A picture's print is 256 bits: which of its 16 x 16 lowest frequencies (a cosine transform of 64 x 64 grey pixels) are
above the median. Size, JPEG quality, brightness and small marks change few of them. Rotated and mirrored pictures, and
those with more than a hundredth cropped at each side, have another print and are not found.

Prints that differ in at most 31 bits share one of sixteen parts of 16 bits up to one bit; so looking up each part and
its 16 neighbours finds all of them, and examines little else.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from geosleuth.agent.locate import album_photos
from geosleuth.lab.baselines.options import picture_key
from geosleuth.lab.bench.sets.dataset import DataSet
from geosleuth.photo import first_view, open_photo
from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

Prints = npt.NDArray[np.uint8]
"""One row of 32 bytes per picture."""

BITS = 256
BYTES = BITS // 8
PRINT_VERSION = "print:1"
# Photos that differ in at most this many bits are one picture; the nearest of 70 drawn street scenes differ in 26.
DEFAULT_MAX_BITS = 24

# Fingerprint of a picture without contrast, which matches no other.
NO_FINGERPRINT = bytes(BYTES)

MAX_BITS = 31
_SIDE, _WAVES = 64, 16
_PARTS, _PART_BITS = 16, 16
_MIN_CONTRAST = 1.0
_BLOCK = 4096
_MAX_AT_ONCE = 2_000_000

HEADER = ("id", "image", "sha256", "pixels")


def compute_print(image: "Image") -> bytes:
    """Return the print of a picture, 32 bytes; `NO_FINGERPRINT` for one without contrast."""
    from PIL.Image import Resampling

    grey = image.convert("L").resize((_SIDE, _SIDE), Resampling.BOX, reducing_gap=3.0)
    pixels = np.asarray(grey, dtype=np.float64)
    if pixels.std() < _MIN_CONTRAST:
        return NO_FINGERPRINT
    waves = (_cosines() @ pixels @ _cosines().T).reshape(-1)
    # The first frequency is the brightness, which says nothing about the content.
    bits = waves > np.median(waves[1:])
    bits[0] = True
    return np.packbits(bits).tobytes()


@cache
def _cosines() -> npt.NDArray[np.float64]:
    wave, at = np.arange(_WAVES)[:, None], np.arange(_SIDE)[None, :]
    return np.cos(np.pi * wave * (2 * at + 1) / (2 * _SIDE))


def prints(rows: Iterable[bytes]) -> Prints:
    """Return prints as one table."""
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, BYTES)


def differing_bits(first: Prints, second: Prints) -> npt.NDArray[np.int64]:
    """Return how many bits differ, row by row."""
    counts: npt.NDArray[np.int64] = np.bitwise_count(first ^ second).sum(axis=-1, dtype=np.int64)
    return counts


@dataclass(frozen=True, slots=True)
class Pair:
    """Two photos of one picture, by their numbers, and how many bits of their prints differ."""

    first: int
    second: int
    bits: int


def pairs_within(all_prints: Prints, *, most_bits: int = DEFAULT_MAX_BITS) -> list[Pair]:
    """Return the photos of a set whose prints differ in at most that many bits, each pair once, in order.

    Each photo with an identical print is paired only with the first: a thousand copies of "this photo is no longer
    available" give a thousand pairs, not half a million. `group_pairs` is the same either way.

    Raises:
        BadInput: more than 31 bits, which the parts can't find.
    """
    rows, members = _distinct(all_prints)
    found = [Pair(same[0], other, 0) for same in members for other in same[1:]]
    for (item, other), bits in _find_near_rows(rows, rows, most_bits).items():
        if item < other:
            first, second = sorted((members[item][0], members[other][0]))
            found.append(Pair(first, second, bits))
    return sorted(found, key=lambda pair: (pair.first, pair.second))


def pairs_across(first: Prints, second: Prints, *, most_bits: int = DEFAULT_MAX_BITS) -> list[Pair]:
    """Return the photos of one set whose picture is also in another, in order; ``second`` counts in the other set.

    Of identical prints in the other set the first is named.

    Raises:
        BadInput: more than 31 bits, which the parts can't find.
    """
    ours, our_members = _distinct(first)
    theirs, their_members = _distinct(second)
    found = [
        Pair(number, their_members[other][0], bits)
        for (one, other), bits in _find_near_rows(ours, theirs, most_bits).items()
        for number in our_members[one]
    ]
    return sorted(found, key=lambda pair: (pair.first, pair.second))


def group_pairs(count: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """Return groups of photos linked by pairs, of two and more, by their first photo."""
    leader = list(range(count))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for pair in pairs:
        item, other = sorted((find(pair.first), find(pair.second)))
        leader[other] = item
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(find(number), []).append(number)
    return [group for group in groups.values() if len(group) > 1]


def _find_near_rows(ours: Prints, theirs: Prints, most_bits: int) -> dict[tuple[int, int], int]:
    """Return pairs of rows that differ in at most ``most_bits`` bits, with the number of differing bits."""
    if not 0 <= most_bits <= MAX_BITS:
        raise BadInput(f"--bits must be between 0 and {MAX_BITS}, not {most_bits}")
    found: dict[tuple[int, int], int] = {}
    for item, other in _generate_candidates(ours, theirs):
        bits = differing_bits(ours[item], theirs[other])
        near = bits <= most_bits
        found.update(zip(zip(item[near].tolist(), other[near].tolist(), strict=True), bits[near].tolist(), strict=True))
    return found


def _distinct(rows: Prints) -> tuple[Prints, list[list[int]]]:
    """Return every print once, with the numbers of its photos: copies of one picture are looked up once.

    Pictures without contrast are left out.
    """
    members: dict[bytes, list[int]] = {}
    for number, row in enumerate(rows):
        if (key := row.tobytes()) != NO_FINGERPRINT:
            members.setdefault(key, []).append(number)
    return prints(members), list(members.values())


def _generate_candidates(ours: Prints, theirs: Prints) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield row numbers that share a part up to one bit, in blocks; some appear more than once."""
    neighbours = np.array([0, *(1 << bit for bit in range(_PART_BITS))], dtype=np.uint16)
    our_parts, their_parts = _split_prints(ours), _split_prints(theirs)
    for part in range(_PARTS):
        order = np.argsort(their_parts[:, part], kind="stable")
        ranked = their_parts[order, part]
        for start in range(0, len(ours), _BLOCK):
            wanted = our_parts[start : start + _BLOCK, part][:, None] ^ neighbours[None, :]
            low, high = (np.searchsorted(ranked, wanted.reshape(-1), side=side) for side in ("left", "right"))
            rows = np.repeat(np.arange(start, start + len(wanted)), len(neighbours))
            for chosen in _cut(high - low):
                counts = (high - low)[chosen]
                within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
                yield np.repeat(rows[chosen], counts), order[np.repeat(low[chosen], counts) + within]


def _cut(counts: npt.NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices of bounded size, or one larger list: very different prints may share a part."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        reached = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, reached + _MAX_AT_ONCE, side="right")))
        yield slice(start, end)
        start = end


def _split_prints(rows: Prints) -> npt.NDArray[np.uint16]:
    return np.ascontiguousarray(rows).view(np.uint16).reshape(len(rows), _PARTS)


def first_of_each(count: int, groups: Sequence[Sequence[int]]) -> list[bool]:
    """Return which photos stay if only the first of every group does."""
    stays = [True] * count
    for group in groups:
        for number in sorted(group)[1:]:
            stays[number] = False
    return stays


@dataclass(frozen=True, slots=True)
class Digest:
    """A photo's id, its file, and the SHA-256 of the file and of its pixels as models see them."""

    id: str
    image: str
    sha256: str
    pixels: str


def digests(data: DataSet) -> Iterator[Digest | BadInput]:
    """Yield the digests of all photos, in the set's order; an error for a photo that can't be opened."""
    for item in data:
        try:
            content = item.picture.read()
            views = [first_view(photo).image for photo, _ in album_photos(open_photo(content))]
        except BadInput as error:
            yield error
            continue
        yield Digest(item.id, item.picture.where, hashlib.sha256(content).hexdigest(), picture_key(views))
