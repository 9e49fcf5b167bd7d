"""Lines and areas in a third of the bytes of WKB: steps of 1e-7 degrees from vertex to vertex, seven bits to a byte.

A geometry is a list of numbers: what it is, how many vertices it has, and the steps, longitude before latitude. Rings
leave out their last vertex, which is the first again.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from .pbf import Damaged, Ints, spans, starts_of, varints, zigzag

_POINT, _LINE, _RING, _MANY, _LINES = 0x11, 0x12, 0x13, 0x14, 0x15  # WKB begins with 0 or 1
E7: Final = 10_000_000
_MOST: Final = np.array([1_800_000_000, 900_000_000])
Geometries = NDArray[np.object_]


def pack_rows(values: Ints, starts: Ints) -> list[bytes]:
    """Lists of numbers, none negative, each as bytes."""
    if not len(values):
        return [b""] * (len(starts) - 1)
    lengths = np.ones(len(values), dtype=np.int64)
    longest, places = int(values.max()), 1
    while longest >> 7 * places:
        lengths += values >= (1 << 7 * places)
        places += 1
    ends = np.cumsum(lengths)
    begins = ends - lengths
    packed = np.zeros(int(ends[-1]), dtype=np.uint8)
    packed[begins] = (values & 127) | np.where(lengths > 1, 128, 0)
    for place in range(1, places):
        some = np.flatnonzero(lengths > place)
        packed[begins[some] + place] = values[some] >> 7 * place & 127 | np.where(lengths[some] > place + 1, 128, 0)
    whole = packed.tobytes()
    cuts = np.concatenate([begins, [len(packed)]])[starts].tolist()
    return [whole[cuts[at] : cuts[at + 1]] for at in range(len(cuts) - 1)]


_WIDTHS: Final[dict[int, np.dtype[Any]]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}


def step_widths(widest: Ints) -> Ints:
    """How many bytes steps up to these take."""
    return np.where(widest < 1 << 8, 1, np.where(widest < 1 << 16, 2, 4))


def pack_steps(numbers: Ints) -> bytes:
    """Ascending numbers as the steps between them, after a byte that says how many bytes each has."""
    steps = np.diff(numbers, prepend=0)
    width = int(step_widths(steps.max(initial=0)))
    return bytes((width,)) + steps.astype(_WIDTHS[width]).tobytes()


def unpack_steps(packed: bytes) -> Ints:
    """What `pack_steps` packed."""
    return np.cumsum(np.frombuffer(packed, dtype=_WIDTHS[packed[0]], offset=1), dtype=np.int64)


def count_packed(first: bytes, size: int) -> int:
    """How many numbers `pack_steps` packed, by the first byte and the size."""
    return (size - 1) // max(1, first[0])


def unpack_all(packed: Sequence[bytes], firsts: Ints | None = None) -> tuple[Ints, Ints, Ints]:
    """All numbers of what `pack_steps` packed several times, none of them empty: list after list, in an order of ours.

    Args:
        packed: the lists.
        firsts: for each list, what is added to its numbers.

    Returns:
        The numbers; which list each run of them is; and how many numbers each run has.
    """
    numbers, runs, counts = [_NONE], [_NONE], [_NONE]
    widths = np.frombuffer(b"".join([one[:1] for one in packed]), dtype=np.uint8)
    sizes = np.array([len(one) for one in packed], dtype=np.int64) - 1
    for width in dict.fromkeys(widths.tolist()):
        some = (widths == width).nonzero()[0]
        steps = np.frombuffer(b"".join([packed[at][1:] for at in some.tolist()]), dtype=_WIDTHS[width]).astype(np.int64)
        long = sizes[some] // width
        begins = np.cumsum(long) - long
        lasts = np.add.reduceat(steps, begins)
        if firsts is not None:
            steps[begins] += firsts[some]
            lasts += firsts[some]
        steps[begins[1:]] -= lasts[:-1]  # each list begins anew
        numbers.append(np.cumsum(steps, out=steps))
        runs.append(some)
        counts.append(long)
    return np.concatenate(numbers), np.concatenate(runs), np.concatenate(counts)


def are_packed(lists: Iterable[Any]) -> bool:
    """Whether `unpack_all` takes all of these for lists."""
    for one in lists:  # hundreds in a question
        if type(one) is not bytes or len(one) < 2 or one[0] not in _WIDTHS or (len(one) - 1) % one[0]:
            return False
    return True


_NONE: Final = np.empty(0, dtype=np.int64)


def _unsigned(steps: Ints) -> Ints:
    return steps << 1 ^ steps >> 63


def pack_lines(at: Ints, starts: Ints, *, rings: bool) -> list[bytes]:
    """Lines, or areas of one ring, from rows of (longitude, latitude) in 1e-7 degrees."""
    counts = np.diff(starts)
    if rings:  # without the vertex that closes each
        keep = np.ones(len(at), dtype=bool)
        keep[starts[1:] - 1] = False
        at, counts = at[keep], counts - 1
        starts = starts_of(counts)
    steps = at.astype(np.int64)
    steps[1:] -= at[:-1]
    steps[starts[:-1]] = at[starts[:-1]]
    rows = starts_of(2 * counts + 2)
    values = np.empty(int(rows[-1]), dtype=np.int64)
    values[rows[:-1]], values[rows[:-1] + 1] = _RING if rings else _LINE, counts
    values[spans(rows[:-1] + 2, 2 * counts)] = _unsigned(steps).ravel()
    return pack_rows(values, rows)


def pack(geometries: Sequence[shapely.Geometry]) -> list[bytes]:
    """Any points, lines and areas."""
    return [_packed(one) for one in geometries]


def _packed(one: shapely.Geometry) -> bytes:
    at = np.rint(shapely.get_coordinates(one) * E7).astype(np.int64)
    kind = shapely.get_type_id(one)
    if kind == shapely.GeometryType.POINT:
        values = np.concatenate([[_POINT], _unsigned(at).ravel()])
        return pack_rows(values, np.array([0, len(values)]))[0]
    if kind in (shapely.GeometryType.LINESTRING, shapely.GeometryType.LINEARRING):
        return pack_lines(at, np.array([0, len(at)]), rings=False)[0]
    parts = shapely.get_parts(one)
    if kind == shapely.GeometryType.MULTILINESTRING:
        return join_lines(pack(parts))
    rings, part_of = shapely.get_rings(parts, return_index=True)
    if len(rings) == 1:
        return pack_lines(at, np.array([0, len(at)]), rings=True)[0]
    at = np.rint(shapely.get_coordinates(rings) * E7).astype(np.int64)
    counts = shapely.get_num_coordinates(rings)
    rows = np.delete(at, np.cumsum(counts) - 1, axis=0)
    steps = np.diff(rows, axis=0, prepend=np.zeros((1, 2), dtype=np.int64))
    head = [_MANY, int(kind), len(parts), *np.bincount(part_of, minlength=len(parts)).tolist(), *(counts - 1).tolist()]
    values = np.concatenate([np.array(head), _unsigned(steps).ravel()])
    return pack_rows(values, np.array([0, len(values)]))[0]


def join_lines(lines: Sequence[bytes]) -> bytes:
    """Packed lines as one geometry."""
    return bytes([_LINES]) + b"".join(lines)


def unpack(blobs: Sequence[Any]) -> Geometries:
    """Geometries from what was packed, or from WKB; None for what is damaged."""
    found: Geometries = np.full(len(blobs), None, dtype=object)
    ours = [at for at, blob in enumerate(blobs) if isinstance(blob, bytes) and blob[:1] >= b"\x10"]
    others = [at for at, blob in enumerate(blobs) if isinstance(blob, bytes) and blob[:1] < b"\x10"]
    if others:
        found[others] = shapely.from_wkb(np.array([blobs[at] for at in others], dtype=object), on_invalid="ignore")
    sound = [at for at in ours if blobs[at][-1] < 128]
    if sound:
        _unpack(found, np.array(sound), [blobs[at] for at in sound])
    return found


def _unpack(found: Geometries, places: NDArray[np.intp], blobs: Sequence[bytes]) -> None:
    data = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    try:
        values = varints(data)
    except Damaged:
        if len(blobs) > 1:  # one by one, so that the others are there
            for place, blob in zip(places.tolist(), blobs, strict=True):
                _unpack(found, np.array([place]), [blob])
        return
    ended = np.zeros(len(data) + 1, dtype=np.int64)
    np.cumsum(data < 128, out=ended[1:])
    rows = ended[starts_of(np.array([len(blob) for blob in blobs]))]
    kinds, sizes = values[rows[:-1]], np.diff(rows)
    for kind in (_LINE, _RING):
        some = np.flatnonzero((kinds == kind) & (sizes >= 6))
        counts = values[rows[some] + 1]
        fit = (sizes[some] == 2 * counts + 2) & (counts >= (3 if kind == _RING else 2))
        some, counts = some[fit], counts[fit]
        at = _summed(values, rows[some] + 2, counts)
        owners = np.repeat(np.arange(len(some)), counts)
        sound = np.ones(len(some), dtype=bool)
        sound[owners[(np.abs(at) > _MOST).any(axis=1)]] = False
        at, owners = at[sound[owners]], (np.cumsum(sound) - 1)[owners[sound[owners]]]
        if not len(at):
            continue
        lines = shapely.linestrings if kind == _LINE else shapely.linearrings
        drawn = lines(at / E7, indices=owners)
        found[places[some[sound]]] = drawn if kind == _LINE else shapely.polygons(drawn)
    several = np.flatnonzero(kinds == _LINES)
    if len(several):
        _unpack_several(found, places[several], values, rows[several], rows[several + 1])
    for one in np.flatnonzero((kinds == _POINT) | (kinds == _MANY)).tolist():
        found[places[one]] = _single(values[rows[one] : rows[one + 1]])


def _summed(values: Ints, begins: Ints, counts: Ints) -> Ints:
    """Longitudes and latitudes of all vertices, from the steps of each line."""
    sums = np.cumsum(zigzag(values[spans(begins, 2 * counts)]).reshape(-1, 2), axis=0)
    before = np.concatenate([np.zeros((1, 2), dtype=np.int64), sums])[starts_of(counts)[:-1]]
    return np.asarray(sums - np.repeat(before, counts, axis=0))


def _single(values: Ints) -> shapely.Geometry | None:
    """A point, or a geometry of several parts."""
    if values[0] == _POINT and len(values) == 3:
        at = zigzag(values[1:])
        return shapely.Point(at / E7) if (np.abs(at) <= _MOST).all() else None
    if values[0] != _MANY or len(values) < 4:
        return None
    kind, parts = int(values[1]), int(values[2])
    rings = values[3 : 3 + parts]
    count = int(rings.sum()) if len(rings) == parts and (rings < len(values)).all() else 0
    sizes = values[3 + parts : 3 + parts + count]
    begin = 3 + parts + count
    if not count or len(sizes) != count or (sizes < 3).any() or len(values) - begin != 2 * int(sizes.sum()):
        return None
    at = np.cumsum(zigzag(values[begin:]).reshape(-1, 2), axis=0)
    if (np.abs(at) > _MOST).any() or (rings < 1).any():
        return None
    lines = shapely.linearrings(at / E7, indices=np.repeat(np.arange(count), sizes))
    cuts = starts_of(rings).tolist()
    drawn = [shapely.Polygon(lines[cuts[n]], lines[cuts[n] + 1 : cuts[n + 1]]) for n in range(parts)]
    return drawn[0] if kind == shapely.GeometryType.POLYGON else shapely.MultiPolygon(drawn)


def _unpack_several(found: Geometries, places: NDArray[np.intp], values: Ints, begins: Ints, ends: Ints) -> None:
    """Lines that were joined, of all geometries at once."""
    starts: list[int] = []
    counts: list[int] = []
    owners: list[int] = []
    heads = values.tolist()
    for owner, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        at, lines = begin + 1, len(starts)
        while at + 5 < end and heads[at] == _LINE and 2 <= heads[at + 1] <= (end - at - 2) // 2:
            starts.append(at + 2)
            counts.append(heads[at + 1])
            owners.append(owner)
            at += 2 + 2 * heads[at + 1]
        if at != end:  # damaged
            del starts[lines:], counts[lines:], owners[lines:]
    if not starts:
        return
    long = np.array(counts)
    at_each = _summed(values, np.array(starts), long)
    if (np.abs(at_each) > _MOST).any():
        return
    lines_of = shapely.linestrings(at_each / E7, indices=np.repeat(np.arange(len(long)), long))
    distinct, indices = np.unique(owners, return_inverse=True)
    found[places[distinct]] = shapely.multilinestrings(lines_of, indices=indices)


@dataclass(frozen=True, slots=True)
class Course:
    """The edges of a geometry, in degrees."""

    edges: NDArray[np.float64]  # four rows: longitudes and latitudes where each begins, and where it ends
    is_area: bool


def courses_of(blobs: Sequence[bytes]) -> list[Course]:
    """The edges of packed geometries; a point is an edge that ends where it begins, and so is the end of each line.

    Raises:
        ValueError: one of them is damaged.
    """
    data = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    try:
        values = varints(data)
    except Damaged as error:
        raise ValueError("a shape that is none") from error
    ended = np.cumsum(data < 128)[np.cumsum([len(blob) for blob in blobs]) - 1]
    begins, sums, counts, lines, areas = _runs(values.tolist(), ended.tolist())
    at = _summed(values, np.array(begins), np.array(sums))
    if int(np.abs(at[:, 0]).max()) > _MOST[0] or int(np.abs(at[:, 1]).max()) > _MOST[1]:
        raise ValueError("a shape that is nowhere on Earth")
    edges = np.empty((4, len(at)))
    np.divide(at.T, E7, out=edges[:2])
    long = np.array(counts)
    ends = np.cumsum(long)
    area_of = np.repeat(areas, lines)  # for each line, whether it is the edge of an area
    edges[2:, :-1] = edges[:2, 1:]
    edges[2:, ends - 1] = edges[:2, np.where(area_of, ends - long, ends - 1)]
    cuts = [0, *ends[np.cumsum(lines) - 1].tolist()]
    return [Course(edges[:, begin:end], area) for (begin, end), area in zip(pairwise(cuts), areas, strict=True)]


def nearest_points(courses: Sequence[Course], lat: float, lon: float) -> NDArray[np.float64]:
    """Of each geometry the point (latitude, longitude) that is nearest to another; that one itself inside an area."""
    # A degree of longitude is shorter than one of latitude; without the stretch "nearest" would lean east and west.
    squeeze = max(float(np.cos(np.radians(lat))), 1e-6)
    edges = np.concatenate([course.edges for course in courses], axis=1)
    lons, lats, here, there = edges[::2], edges[1::2], edges[:2], edges[2:]
    lons -= lon  # east of the point, and north of it
    lons *= squeeze
    lats -= lat
    step = there - here
    length, along = _dot(step, step), _dot(here, step)
    length[length == 0] = 1.0
    along /= length
    np.negative(along, out=along)
    np.maximum(along, 0.0, out=along)
    np.minimum(along, 1.0, out=along)
    spots = along * step
    spots += here
    far = _dot(spots, spots)
    cuts = [0, *accumulate(course.edges.shape[1] for course in courses)]
    nearest = spots[:, [begin + int(far[begin:end].argmin()) for begin, end in pairwise(cuts)]]
    if any(course.is_area for course in courses):
        # Inside, a line to the east crosses the edge an odd number of times.
        above = lats > 0
        up = (above[0] != above[1]).nonzero()[0]
        (x, y), (across, rise) = here[:, up], step[:, up]
        crossed = up[x - y * across / rise > 0].tolist()
        owners = Counter(bisect_right(cuts, at) - 1 for at in crossed)
        for owner, times in owners.items():
            if times % 2 and courses[owner].is_area:
                nearest[:, owner] = 0.0
    found = np.empty((len(courses), 2))
    found[:, 0] = nearest[1] + lat
    found[:, 1] = nearest[0] / squeeze + lon
    return found


def _dot(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    product = one * other
    both: NDArray[np.float64] = product[0] + product[1]
    return both


def _runs(heads: Sequence[int], ends: Sequence[int]) -> tuple[list[int], list[int], list[int], list[int], list[bool]]:
    """Where runs of steps begin, vertices of each; vertices of each line; lines of each geometry; what are areas."""
    begins: list[int] = []
    sums: list[int] = []
    counts: list[int] = []
    lines: list[int] = []
    areas: list[bool] = []
    at = 0
    for end in ends:
        kind, found = heads[at], len(counts)
        if kind == _MANY:
            rings = sum(heads[at + 3 : at + 3 + heads[at + 2]])
            first = at + 3 + heads[at + 2] + rings
            counts += heads[first - rings : first]
            begins.append(first)
            sums.append(sum(counts[found:]))
            at = first + 2 * sums[-1]
        elif kind == _POINT:
            begins.append(at + 1)
            counts.append(1)
            sums.append(1)
            at += 3
        else:
            at += kind == _LINES
            while at < end and heads[at] in (_LINE, kind):
                begins.append(at + 2)
                counts.append(heads[at + 1])
                sums.append(heads[at + 1])
                at += 2 + 2 * heads[at + 1]
        if at != end or 0 in counts[found:] or found == len(counts):
            raise ValueError("a shape that is none")
        lines.append(len(counts) - found)
        areas.append(kind in (_MANY, _RING))
    return begins, sums, counts, lines, areas
