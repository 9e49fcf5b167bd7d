"""Pack geometries into a third of the bytes of WKB, unpack them, and find the nearest points on them.

A packed geometry is a list of varints. Coordinates count 1e-7 degrees, longitude before latitude; each vertex is stored
as the zigzag-encoded difference from the one before. Rings omit their last vertex, which repeats the first.

    point          0x11, x, y
    line           0x12, vertex count, x, y, dx, dy, ...
    simple polygon 0x13, vertex count, x, y, dx, dy, ...
    (multi)polygon 0x14, shapely type, part count, rings of each part, vertices of each ring, x, y, dx, dy, ...
    several lines  0x15, then each line as above

Lists of ascending ids are packed as fixed-width differences (`pack_steps`): width in bytes (1, 2 or 4), then the
differences.
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

from .pbf import DamagedData, Ints, compute_starts, spans, varints, zigzag

_POINT, _LINE, _RING, _MULTI, _LINES = 0x11, 0x12, 0x13, 0x14, 0x15  # WKB begins with 0 or 1
# Stored units per degree.
E7: Final = 10_000_000

_MAX_LON_LAT: Final = np.array([1_800_000_000, 900_000_000])
Geometries = NDArray[np.object_]

_WIDTHS: Final[dict[int, np.dtype[Any]]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}
_EMPTY: Final = np.empty(0, dtype=np.int64)


def pack_rows(values: Ints, starts: Ints) -> list[bytes]:
    """Encode lists of non-negative numbers as varints; list n is ``values[starts[n] : starts[n + 1]]``."""
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


def step_widths(widest: Ints) -> Ints:
    """Return the width in bytes (1, 2 or 4) of steps up to these."""
    return np.where(widest < 1 << 8, 1, np.where(widest < 1 << 16, 2, 4))


def pack_steps(numbers: Ints) -> bytes:
    """Pack ascending numbers as the differences between them, after a byte with the width of each."""
    steps = np.diff(numbers, prepend=0)
    width = int(step_widths(steps.max(initial=0)))
    return bytes((width,)) + steps.astype(_WIDTHS[width]).tobytes()


def unpack_steps(packed: bytes) -> Ints:
    """Return the numbers that `pack_steps` packed."""
    return np.cumsum(np.frombuffer(packed, dtype=_WIDTHS[packed[0]], offset=1), dtype=np.int64)


def count_packed(first: bytes, size: int) -> int:
    """Return how many numbers `pack_steps` packed, from the first byte and the size in bytes."""
    return (size - 1) // max(1, first[0])


def unpack_all(packed: Sequence[bytes], firsts: Ints | None = None) -> tuple[Ints, Ints, Ints]:
    """Unpack several non-empty lists of `pack_steps` at once, ordered by their width.

    Args:
        packed: the lists.
        firsts: for each list, a number to add to all of its numbers.

    Returns:
        All numbers, list after list; the index in ``packed`` of each list; the length of each list.
    """
    numbers, indexes, counts = [_EMPTY], [_EMPTY], [_EMPTY]
    widths = np.frombuffer(b"".join([item[:1] for item in packed]), dtype=np.uint8)
    sizes = np.array([len(item) for item in packed], dtype=np.int64) - 1
    for width in dict.fromkeys(widths.tolist()):
        some = (widths == width).nonzero()[0]
        steps = np.frombuffer(b"".join([packed[at][1:] for at in some.tolist()]), dtype=_WIDTHS[width]).astype(np.int64)
        lengths = sizes[some] // width
        begins = np.cumsum(lengths) - lengths
        lasts = np.add.reduceat(steps, begins)
        if firsts is not None:
            steps[begins] += firsts[some]
            lasts += firsts[some]
        steps[begins[1:]] -= lasts[:-1]  # so that the sum starts again at each list
        numbers.append(np.cumsum(steps, out=steps))
        indexes.append(some)
        counts.append(lengths)
    return np.concatenate(numbers), np.concatenate(indexes), np.concatenate(counts)


def are_packed(lists: Iterable[Any]) -> bool:
    """Return whether `unpack_all` can read all of these."""
    for item in lists:  # hundreds in a search
        if type(item) is not bytes or len(item) < 2 or item[0] not in _WIDTHS or (len(item) - 1) % item[0]:
            return False
    return True


def _zigzag_encoded(steps: Ints) -> Ints:
    return steps << 1 ^ steps >> 63


def pack_lines(lon_lats: Ints, starts: Ints, *, rings: bool) -> list[bytes]:
    """Pack lines, or simple polygons if ``rings``, from rows of (longitude, latitude) in 1e-7 degrees."""
    counts = np.diff(starts)
    if rings:  # without the vertex that closes each
        keep = np.ones(len(lon_lats), dtype=bool)
        keep[starts[1:] - 1] = False
        lon_lats, counts = lon_lats[keep], counts - 1
        starts = compute_starts(counts)
    steps = lon_lats.astype(np.int64)
    steps[1:] -= lon_lats[:-1]
    steps[starts[:-1]] = lon_lats[starts[:-1]]
    rows = compute_starts(2 * counts + 2)
    values = np.empty(int(rows[-1]), dtype=np.int64)
    values[rows[:-1]], values[rows[:-1] + 1] = _RING if rings else _LINE, counts
    values[spans(rows[:-1] + 2, 2 * counts)] = _zigzag_encoded(steps).ravel()
    return pack_rows(values, rows)


def pack(geometries: Sequence[shapely.Geometry]) -> list[bytes]:
    """Pack any points, lines and areas in degrees."""
    return [_pack_geometry(geometry) for geometry in geometries]


def _pack_geometry(geometry: shapely.Geometry) -> bytes:
    lon_lats = np.rint(shapely.get_coordinates(geometry) * E7).astype(np.int64)
    kind = shapely.get_type_id(geometry)
    if kind == shapely.GeometryType.POINT:
        values = np.concatenate([[_POINT], _zigzag_encoded(lon_lats).ravel()])
        return pack_rows(values, np.array([0, len(values)]))[0]
    if kind in (shapely.GeometryType.LINESTRING, shapely.GeometryType.LINEARRING):
        return pack_lines(lon_lats, np.array([0, len(lon_lats)]), rings=False)[0]
    parts = shapely.get_parts(geometry)
    if kind == shapely.GeometryType.MULTILINESTRING:
        return join_lines(pack(parts))
    rings, part_of = shapely.get_rings(parts, return_index=True)
    if len(rings) == 1:
        return pack_lines(lon_lats, np.array([0, len(lon_lats)]), rings=True)[0]
    lon_lats = np.rint(shapely.get_coordinates(rings) * E7).astype(np.int64)
    counts = shapely.get_num_coordinates(rings)
    vertices = np.delete(lon_lats, np.cumsum(counts) - 1, axis=0)  # without those that close the rings
    steps = np.diff(vertices, axis=0, prepend=np.zeros((1, 2), dtype=np.int64))
    head = [_MULTI, int(kind), len(parts), *np.bincount(part_of, minlength=len(parts)).tolist(), *(counts - 1).tolist()]
    values = np.concatenate([np.array(head), _zigzag_encoded(steps).ravel()])
    return pack_rows(values, np.array([0, len(values)]))[0]


def join_lines(lines: Sequence[bytes]) -> bytes:
    """Join packed lines to one packed geometry."""
    return bytes([_LINES]) + b"".join(lines)


def unpack(blobs: Sequence[Any]) -> Geometries:
    """Return the geometries of packed ones or of WKB; None for damaged ones."""
    found: Geometries = np.full(len(blobs), None, dtype=object)
    packed = [at for at, blob in enumerate(blobs) if isinstance(blob, bytes) and blob[:1] >= b"\x10"]
    wkb = [at for at, blob in enumerate(blobs) if isinstance(blob, bytes) and blob[:1] < b"\x10"]
    if wkb:
        found[wkb] = shapely.from_wkb(np.array([blobs[at] for at in wkb], dtype=object), on_invalid="ignore")
    complete = [at for at in packed if blobs[at][-1] < 128]  # the last byte ends a varint
    if complete:
        _unpack(found, np.array(complete), [blobs[at] for at in complete])
    return found


def _unpack(found: Geometries, places: NDArray[np.intp], blobs: Sequence[bytes]) -> None:
    """Unpack geometries into some places of an array."""
    data = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    try:
        values = varints(data)
    except DamagedData:
        if len(blobs) > 1:  # one by one, to get all but the damaged ones
            for place, blob in zip(places.tolist(), blobs, strict=True):
                _unpack(found, np.array([place]), [blob])
        return
    ended = np.zeros(len(data) + 1, dtype=np.int64)
    np.cumsum(data < 128, out=ended[1:])
    rows = ended[compute_starts(np.array([len(blob) for blob in blobs]))]
    kinds, sizes = values[rows[:-1]], np.diff(rows)
    for kind in (_LINE, _RING):
        some = np.flatnonzero((kinds == kind) & (sizes >= 6))
        counts = values[rows[some] + 1]
        sized_right = (sizes[some] == 2 * counts + 2) & (counts >= (3 if kind == _RING else 2))
        some, counts = some[sized_right], counts[sized_right]
        lon_lats = _delta_decoded(values, rows[some] + 2, counts)
        owners = np.repeat(np.arange(len(some)), counts)
        valid = np.ones(len(some), dtype=bool)
        valid[owners[(np.abs(lon_lats) > _MAX_LON_LAT).any(axis=1)]] = False
        lon_lats, owners = lon_lats[valid[owners]], (np.cumsum(valid) - 1)[owners[valid[owners]]]
        if not len(lon_lats):
            continue
        make_lines = shapely.linestrings if kind == _LINE else shapely.linearrings
        lines = make_lines(lon_lats / E7, indices=owners)
        found[places[some[valid]]] = lines if kind == _LINE else shapely.polygons(lines)
    joined = np.flatnonzero(kinds == _LINES)
    if len(joined):
        _unpack_joined_lines(found, places[joined], values, rows[joined], rows[joined + 1])
    for at in np.flatnonzero((kinds == _POINT) | (kinds == _MULTI)).tolist():
        found[places[at]] = _point_or_multipolygon(values[rows[at] : rows[at + 1]])


def _delta_decoded(values: Ints, begins: Ints, counts: Ints) -> Ints:
    """Return longitudes and latitudes of all vertices of lines, from where each begins and its number of vertices."""
    sums = np.cumsum(zigzag(values[spans(begins, 2 * counts)]).reshape(-1, 2), axis=0)
    before = np.concatenate([np.zeros((1, 2), dtype=np.int64), sums])[compute_starts(counts)[:-1]]
    return np.asarray(sums - np.repeat(before, counts, axis=0))


def _point_or_multipolygon(values: Ints) -> shapely.Geometry | None:
    """Return the point, polygon with holes or multipolygon of some numbers; None for damaged ones."""
    if values[0] == _POINT and len(values) == 3:
        lon_lat = zigzag(values[1:])
        return shapely.Point(lon_lat / E7) if (np.abs(lon_lat) <= _MAX_LON_LAT).all() else None
    if values[0] != _MULTI or len(values) < 4:
        return None
    kind, parts = int(values[1]), int(values[2])
    rings = values[3 : 3 + parts]
    count = int(rings.sum()) if len(rings) == parts and (rings < len(values)).all() else 0
    sizes = values[3 + parts : 3 + parts + count]
    begin = 3 + parts + count
    if not count or len(sizes) != count or (sizes < 3).any() or len(values) - begin != 2 * int(sizes.sum()):
        return None
    lon_lats = np.cumsum(zigzag(values[begin:]).reshape(-1, 2), axis=0)
    if (np.abs(lon_lats) > _MAX_LON_LAT).any() or (rings < 1).any():
        return None
    lines = shapely.linearrings(lon_lats / E7, indices=np.repeat(np.arange(count), sizes))
    cuts = compute_starts(rings).tolist()
    polygons = [shapely.Polygon(lines[cuts[n]], lines[cuts[n] + 1 : cuts[n + 1]]) for n in range(parts)]
    return polygons[0] if kind == shapely.GeometryType.POLYGON else shapely.MultiPolygon(polygons)


def _unpack_joined_lines(found: Geometries, places: NDArray[np.intp], values: Ints, begins: Ints, ends: Ints) -> None:
    """Unpack what `join_lines` joined, all geometries at once."""
    starts: list[int] = []
    counts: list[int] = []
    owners: list[int] = []
    numbers = values.tolist()
    for owner, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        at, lines = begin + 1, len(starts)
        while at + 5 < end and numbers[at] == _LINE and 2 <= numbers[at + 1] <= (end - at - 2) // 2:
            starts.append(at + 2)
            counts.append(numbers[at + 1])
            owners.append(owner)
            at += 2 + 2 * numbers[at + 1]
        if at != end:  # damaged
            del starts[lines:], counts[lines:], owners[lines:]
    if not starts:
        return
    lengths = np.array(counts)
    lon_lats = _delta_decoded(values, np.array(starts), lengths)
    if (np.abs(lon_lats) > _MAX_LON_LAT).any():
        return
    all_lines = shapely.linestrings(lon_lats / E7, indices=np.repeat(np.arange(len(lengths)), lengths))
    distinct, indices = np.unique(owners, return_inverse=True)
    found[places[distinct]] = shapely.multilinestrings(all_lines, indices=indices)


@dataclass(frozen=True, slots=True)
class Segments:
    """The line segments of a geometry, in degrees: along a street, or around an area."""

    ends: NDArray[np.float64]  # four rows: longitude and latitude of the start, longitude and latitude of the end
    is_area: bool


def extract_segments(blobs: Sequence[bytes]) -> list[Segments]:
    """Return the segments of packed geometries.

    There are as many as vertices: each line ends with a segment of no length, and a point is one.

    Raises:
        ValueError: a geometry is damaged.
    """
    data = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    try:
        values = varints(data)
    except DamagedData as error:
        raise ValueError("a geometry is damaged") from error
    ended = np.cumsum(data < 128)[np.cumsum([len(blob) for blob in blobs]) - 1]
    begins, sums, counts, lines, areas = _vertex_runs(values.tolist(), ended.tolist())
    lon_lats = _delta_decoded(values, np.array(begins), np.array(sums))
    if int(np.abs(lon_lats[:, 0]).max()) > _MAX_LON_LAT[0] or int(np.abs(lon_lats[:, 1]).max()) > _MAX_LON_LAT[1]:
        raise ValueError("a geometry has coordinates out of range")
    segments = np.empty((4, len(lon_lats)))
    np.divide(lon_lats.T, E7, out=segments[:2])
    lengths = np.array(counts)
    ends = np.cumsum(lengths)
    bounds_area = np.repeat(areas, lines)  # for each line, whether it is a ring of an area
    segments[2:, :-1] = segments[:2, 1:]
    segments[2:, ends - 1] = segments[:2, np.where(bounds_area, ends - lengths, ends - 1)]
    cuts = [0, *ends[np.cumsum(lines) - 1].tolist()]
    return [Segments(segments[:, begin:end], area) for (begin, end), area in zip(pairwise(cuts), areas, strict=True)]


def nearest_points(geometries: Sequence[Segments], lat: float, lon: float) -> NDArray[np.float64]:
    """Return the (latitude, longitude) of each geometry nearest to a point; inside an area, the point itself."""
    # A degree of longitude is shorter than one of latitude: without the scale, east and west would seem too far.
    lon_scale = max(float(np.cos(np.radians(lat))), 1e-6)
    ends = np.concatenate([geometry.ends for geometry in geometries], axis=1)
    lons, lats, starts, stops = ends[::2], ends[1::2], ends[:2], ends[2:]
    lons -= lon  # east of the point, and north of it
    lons *= lon_scale
    lats -= lat
    step = stops - starts
    length, along = _dot(step, step), _dot(starts, step)
    length[length == 0] = 1.0
    along /= length
    np.negative(along, out=along)
    np.maximum(along, 0.0, out=along)
    np.minimum(along, 1.0, out=along)
    candidates = along * step  # the nearest point of each segment
    candidates += starts
    far = _dot(candidates, candidates)
    cuts = [0, *accumulate(geometry.ends.shape[1] for geometry in geometries)]
    nearest = candidates[:, [begin + int(far[begin:end].argmin()) for begin, end in pairwise(cuts)]]
    if any(geometry.is_area for geometry in geometries):
        # A point is inside if a ray to the east crosses the boundary an odd number of times.
        above = lats > 0
        up = (above[0] != above[1]).nonzero()[0]
        (x, y), (across, rise) = starts[:, up], step[:, up]
        crossed = up[x - y * across / rise > 0].tolist()
        owners = Counter(bisect_right(cuts, at) - 1 for at in crossed)
        for owner, times in owners.items():
            if times % 2 and geometries[owner].is_area:
                nearest[:, owner] = 0.0
    found = np.empty((len(geometries), 2))
    found[:, 0] = nearest[1] + lat
    found[:, 1] = nearest[0] / lon_scale + lon
    return found


def _dot(array: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    product = array * other
    both: NDArray[np.float64] = product[0] + product[1]
    return both


def _vertex_runs(
    numbers: Sequence[int], ends: Sequence[int]
) -> tuple[list[int], list[int], list[int], list[int], list[bool]]:
    """Find the vertices of packed geometries, which end at ``ends``.

    Returns:
        Where each delta-encoded run of vertices begins; the vertices of each run; the vertices of each line;
        the lines of each geometry; whether each geometry is an area.
    """
    begins: list[int] = []
    sums: list[int] = []
    counts: list[int] = []
    lines: list[int] = []
    areas: list[bool] = []
    at = 0
    for end in ends:
        kind, found = numbers[at], len(counts)
        if kind == _MULTI:
            rings = sum(numbers[at + 3 : at + 3 + numbers[at + 2]])
            first = at + 3 + numbers[at + 2] + rings
            counts += numbers[first - rings : first]
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
            while at < end and numbers[at] in (_LINE, kind):
                begins.append(at + 2)
                counts.append(numbers[at + 1])
                sums.append(numbers[at + 1])
                at += 2 + 2 * numbers[at + 1]
        if at != end or 0 in counts[found:] or found == len(counts):
            raise ValueError("a geometry is damaged")
        lines.append(len(counts) - found)
        areas.append(kind in (_MULTI, _RING))
    return begins, sums, counts, lines, areas
