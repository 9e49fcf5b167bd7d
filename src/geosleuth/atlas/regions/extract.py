"""What the blocks of an extract hold, as rows for a region file; several processes can read blocks side by side."""

import json
import mmap
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import STRtree

from geosleuth.names import fold

from .feature_kinds import (
    ADDRESS,
    MAIN_KEYS,
    area_layer,
    is_area,
    is_street,
    kind_of,
    line_layer,
    point_layer,
    rank_of,
)
from .geometry import E7, join_lines, pack, pack_lines, unpack
from .pbf import NO_POSITION, Blob, Block, Ints, Nodes, Ragged, Relations, Tagged, Ways, spans, starts_of, tags_of
from .region_file import ROAD_RANKS, Layer, osm_number
from .region_writer import FeatureRow, Staged, curve_of, shape_rows, stage, staged_row, staged_shapes
from .runs import Row
from .tags import address_line, has_name, house_number, index_names, kept_tags, main_name

_SAME_STREET_DEG: Final = 0.003
"""Ways of one name that are nearer than about 300 m are one street; farther apart they are namesakes."""

_MERGED_KEYS: Final = ("highway", "waterway", "railway")
_WATERWAYS: Final = frozenset({"river", "stream", "canal", "drain", "ditch", "tidal_channel"})
_RAILWAYS: Final = frozenset(
    {"rail", "light_rail", "tram", "subway", "narrow_gauge", "funicular", "monorail", "disused", "abandoned"}
)
_TELL_OTHER_THINGS: Final = frozenset({"source", "created_by", "note", "fixme", "source:name"})
_ENCLOSING: Final = frozenset({"boundary", "place", "landuse"})
_UNPLACED: Final = frozenset({"restriction", "associatedStreet", "street", "route_master", "network"})
_AREAS: Final = frozenset({"multipolygon", "boundary"})
_WAY: Final = 1
At = tuple[int, int, int, int, int, int]  # lat, lon, south, west, north, east in 1e-7 degrees


@dataclass(slots=True)
class Rows:
    """What some blocks come to."""

    objects: int = 0  # with tags
    features: list[Row] = field(default_factory=list)
    shapes: list[Row] = field(default_factory=list)
    staged: Staged | None = None  # the features and shapes, once they are on disk
    pieces: list[Row] = field(default_factory=list)  # of streets and rivers
    street_nodes: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)  # ways that relations need

    def settled(self, store: Path) -> "Rows":
        """The same with features and shapes on disk, in files that begin so."""
        self.staged = stage(store, self.features, self.shapes)
        self.features, self.shapes = [], []
        return self


@dataclass(frozen=True, slots=True)
class NodeFile:
    """Positions of some nodes on disk, by ascending id: all ids, all latitudes, all longitudes."""

    path: Path
    count: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that has a place, with its members as far as they are in the extract."""

    number: int
    tags: dict[str, str]
    nodes: Ints
    ways: Ints

    @property
    def is_area(self) -> bool:
        """Whether its ways are the edge of something."""
        return self.tags.get("type") in _AREAS and len(self.tags) > 1


def read_block(path: Path, blob: Blob) -> Block:
    """Fetch and unpack one block."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return Block(os.pread(handle, blob.size, blob.offset))
    finally:
        os.close(handle)


def read_nodes(path: Path, blobs: Sequence[Blob], store: Path) -> tuple[Rows, NodeFile | None, list[int], bytes | None]:
    """Nodes that are features, and where all nodes lie; also which blocks hold ways, and the relations, pickled.

    Way blocks can only be read once all nodes are known.
    """
    rows, later = Rows(), []
    relations: list[Relation] = []
    ids, lats, lons = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    for number, blob in enumerate(blobs):
        block = read_block(path, blob)
        kinds = block.kinds
        if 3 in kinds:
            later.append(number)
        if kinds == {3}:
            continue
        for group in block.groups:
            if isinstance(group, Nodes):
                ids.append(group.ids)
                lats.append(group.lats)
                lons.append(group.lons)
                _nodes(rows, block.texts, group)
            elif isinstance(group, Relations):
                relations.extend(_relations(rows, block.texts, group))
    nodes = _store(store, *map(np.concatenate, (ids, lats, lons)))
    return rows.settled(store), nodes, later, pickle.dumps(relations) if relations else None


def _store(path: Path, ids: Ints, lats: Ints, lons: Ints) -> NodeFile | None:
    if not len(ids):
        return None
    if (np.diff(ids) <= 0).any():
        ids, first = np.unique(ids, return_index=True)
        lats, lons = lats[first], lons[first]
    with path.open("wb") as stream:
        stream.write(ids.astype("<i8").tobytes())
        stream.write(lats.astype("<i4").tobytes())
        stream.write(lons.astype("<i4").tobytes())
    return NodeFile(path, len(ids), int(ids[0]), int(ids[-1]))


class NodeIndex:
    """Looks positions up in node files, which stay on disk."""

    def __init__(self, files: Sequence[NodeFile]) -> None:
        """Map the files; nothing is read yet."""
        self._maps: list[tuple[NodeFile, mmap.mmap]] = []
        for one in files:
            with one.path.open("rb") as stream:
                self._maps.append((one, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)))

    def positions(self, refs: Ints) -> tuple[Ints, Ints]:
        """Latitudes and longitudes in 1e-7 degrees; far beyond the poles for nodes that are not there."""
        distinct, back = np.unique(refs, return_inverse=True)
        lats, lons = np.full(len(distinct), NO_POSITION), np.full(len(distinct), NO_POSITION)
        for one, mapped in self._maps:
            begin, end = np.searchsorted(distinct, [one.first, one.last + 1]).tolist()
            if begin == end:
                continue
            ids = np.frombuffer(mapped, dtype="<i8", count=one.count)
            at = np.searchsorted(ids, distinct[begin:end])
            there = np.flatnonzero(ids[np.minimum(at, one.count - 1)] == distinct[begin:end])
            for values, offset in ((lats, 8 * one.count), (lons, 12 * one.count)):
                column = np.frombuffer(mapped, dtype="<i4", count=one.count, offset=offset)
                values[begin + there] = column[at[there]]
            del ids, column
            mapped.madvise(mmap.MADV_DONTNEED)  # what was read stays in the system's memory, not in ours
        return lats[back], lons[back]


def _any_of_each(lists: Ragged, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each list whether at least one of its values is marked."""
    counts = np.concatenate([[0], np.cumsum(marked)])
    return np.asarray(counts[lists.starts[1:]] > counts[lists.starts[:-1]])


def _has_key(group: Tagged, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each object whether it has one of the wanted keys, which are marked in the table of texts."""
    return _any_of_each(group.keys, wanted[group.keys.values])


def _tags(texts: Sequence[str], group: Tagged, which: Ints) -> Iterator[dict[str, str]]:
    keys, values = group.keys.values.tolist(), group.values.values.tolist()
    starts = group.keys.starts.tolist()
    for at in which.tolist():
        begin, end = starts[at], starts[at + 1]
        yield tags_of(texts, keys[begin:end], values[begin:end])


_PLACED_KEYS: Final = MAIN_KEYS | {"addr:housenumber"}


def _nodes(rows: Rows, texts: Sequence[str], group: Nodes) -> None:
    rows.objects += int(np.count_nonzero(group.keys.counts))
    if not len(group.keys.values):
        return
    telling = np.array([text in _PLACED_KEYS for text in texts])
    which = np.flatnonzero(_has_key(group, telling) & (group.lats < NO_POSITION) & (group.lons < NO_POSITION))
    labels: list[tuple[Layer, int, str | None, shapely.Geometry]] = []
    found: list[tuple[FeatureRow, dict[str, str], At]] = []
    lats, lons, ids = group.lats[which].tolist(), group.lons[which].tolist(), group.ids[which].tolist()
    for number, lat, lon, tags in zip(ids, lats, lons, _tags(texts, group, which), strict=True):
        layer = point_layer(tags)
        if layer:
            labels.append((*layer, shapely.Point(lon / E7, lat / E7)))
        row = _feature(osm_number("n", number), tags)
        if row is not None:
            found.append((row, tags, (lat, lon, lat, lon, lat, lon)))
    _stage(rows, found, labels)


def _feature(osm: int, tags: Mapping[str, str], ground: bytes | None = None) -> FeatureRow | None:
    """A feature without its place; None where it is nothing anyone would look for."""
    named = has_name(tags)
    kind = kind_of(tags, named=named)
    if kind is None:
        at = house_number(tags)
        if at is None:
            return None
        return FeatureRow(
            osm, address_line(*at), ADDRESS, (0, 0), (0, 0, 0, 0), 0.02, None, kept_tags(tags), [], ground
        )
    return FeatureRow(
        osm, main_name(tags), kind, (0, 0), (0, 0, 0, 0), rank_of(kind, tags), None, kept_tags(tags), index_names(tags),
        ground,
    )  # fmt: skip


def _stage(
    rows: Rows,
    found: Sequence[tuple[FeatureRow, Mapping[str, str], At]],
    labels: Sequence[tuple[Layer, int, str | None, shapely.Geometry]] = (),
) -> None:
    if found:
        at = np.array([place for *_, place in found])
        widths = (at[:, 4:] - at[:, 2:4]).max(axis=1)
        curves = curve_of(at[:, 0], at[:, 1], widths).tolist()
        rows.features.extend(
            staged_row(row, tags, place, curve) for (row, tags, place), curve in zip(found, curves, strict=True)
        )
    if labels:
        rows.shapes.extend(staged_shapes(labels))


def _relations(rows: Rows, texts: Sequence[str], group: Relations) -> Iterator[Relation]:
    tagged = np.flatnonzero(group.keys.counts)
    rows.objects += len(tagged)
    for at, tags in zip(tagged.tolist(), _tags(texts, group, tagged), strict=True):
        kind = tags.get("type")
        if (kind in _AREAS and len(tags) > 1) or (has_name(tags) and kind not in _UNPLACED):
            some = slice(int(group.members.starts[at]), int(group.members.starts[at + 1]))
            members, types = group.members.values[some], group.types.values[some]
            yield Relation(int(group.ids[at]), tags, members[types == 0], members[types == _WAY])


_SHAPE_ONLY: Final = frozenset({"building"})
_OTHER_NAMES: Final = frozenset({"official_name", "loc_name", "int_name"})


def read_ways(path: Path, blobs: Sequence[Blob], index: NodeIndex, members: tuple[Ints, Ints], store: Path) -> Rows:
    """Everything that ways are: features, shapes, pieces of streets, and edges of relations.

    ``members`` are ids, ascending, of ways that are edges of areas, and of those of which only the extent is asked for.
    """
    rows = Rows()
    for blob in blobs:
        block = read_block(path, blob)
        for group in block.groups:
            if isinstance(group, Ways):
                _WayReader(rows, block.texts, group, index, members).read()
    return rows.settled(store)


class _WayReader:
    """Reads one group of ways."""

    def __init__(
        self, rows: Rows, texts: Sequence[str], group: Ways, index: NodeIndex, members: tuple[Ints, Ints]
    ) -> None:
        self._rows, self._texts, self._group = rows, texts, group
        lats, lons = index.positions(group.refs.values)
        valid = (lats < NO_POSITION) & (lons < NO_POSITION)
        counts = np.diff(np.concatenate([[0], np.cumsum(valid)])[group.refs.starts])
        self._refs = group.refs.values[valid]
        self._at = np.column_stack([lons[valid], lats[valid]])
        self._starts = starts_of(counts)
        self._counts = counts
        closed = np.zeros(len(group.ids), dtype=bool)
        many = np.flatnonzero((group.refs.counts > 3) & (counts == group.refs.counts))
        closed[many] = group.refs.values[group.refs.starts[many]] == group.refs.values[group.refs.starts[many + 1] - 1]
        self._closed = closed
        self._edges, self._extents = (among(group.ids, some) for some in members)
        self._boxes = self._all_boxes()

    def _all_boxes(self) -> Ints:
        """South, west, north, east of each way; nonsense for those without nodes."""
        if not len(self._at):
            return np.zeros((len(self._counts), 4), dtype=np.int64)
        begins = np.minimum(self._starts[:-1], len(self._at) - 1)
        low = np.minimum.reduceat(self._at, begins, axis=0)
        high = np.maximum.reduceat(self._at, begins, axis=0)
        return np.column_stack([low[:, 1], low[:, 0], high[:, 1], high[:, 0]])

    def read(self) -> None:
        """Add what the ways are to the rows."""
        group = self._group
        tagged = group.keys.counts > 0
        self._rows.objects += int(np.count_nonzero(tagged))
        there = self._counts >= 2
        self._write_members(np.flatnonzero(there & (self._edges | self._extents)))
        main = np.array([text in _PLACED_KEYS or text == "area" for text in self._texts])
        only = np.array([text in _SHAPE_ONLY for text in self._texts])
        told = there & tagged & _has_key(group, main)
        # Most ways are buildings of which nothing else is known: they are drawn, and never looked at one by one.
        named = np.array([text.startswith("name") or text in _OTHER_NAMES for text in self._texts])
        plain = told & self._closed & ~_has_key(group, (main & ~only) | named)
        no = self._texts.index("no") if "no" in self._texts else -1
        plain &= ~_any_of_each(group.values, group.values.values == no)
        self._write_plain(np.flatnonzero(plain))
        self._write_told(np.flatnonzero(told & ~plain))

    def _lines(self, which: Ints) -> tuple[Ints, Ints]:
        counts = self._counts[which]
        return self._at[spans(self._starts[which], counts)], starts_of(counts)

    def _write_members(self, which: Ints) -> None:
        packed = pack_lines(*self._lines(which), rings=False)
        for number, edge, geom, box in zip(
            self._group.ids[which].tolist(), self._edges[which].tolist(), packed, self._boxes[which], strict=True
        ):
            self._rows.members.append((number, geom if edge else None, box.astype("<i4").tobytes()))

    def _areas(self, which: Ints) -> tuple[Ints, NDArray[np.object_], list[bytes]]:
        """Those of the closed ways that are sound areas, as polygons and packed."""
        at, starts = self._lines(which)
        if not len(which):
            return which, np.empty(0, dtype=object), []
        owners = np.repeat(np.arange(len(which)), np.diff(starts))
        polygons = shapely.polygons(shapely.linearrings(at / E7, indices=owners))
        sound = shapely.is_valid(polygons)
        which, polygons = which[sound], polygons[sound]
        return which, polygons, pack_lines(*self._lines(which), rings=True)

    def _write_plain(self, which: Ints) -> None:
        which, _, packed = self._areas(which)
        self._rows.shapes.extend(
            ("building", 1, size, curve, None, geom, box)
            for size, curve, geom, box in shape_rows(packed, self._boxes[which])
        )

    def _write_told(self, which: Ints) -> None:
        lines: list[tuple[int, dict[str, str]]] = []
        areas: list[tuple[int, dict[str, str]]] = []
        for at, closed, tags in zip(
            which.tolist(), self._closed[which].tolist(), _tags(self._texts, self._group, which), strict=True
        ):
            (areas if closed and is_area(tags) else lines).append((at, tags))
        self._write_lines(lines)
        self._write_areas(areas)

    def _write_lines(self, lines: Sequence[tuple[int, dict[str, str]]]) -> None:
        drawn: list[tuple[int, tuple[Layer, int, str | None]]] = []
        merged: list[tuple[int, dict[str, str]]] = []
        found: list[tuple[FeatureRow, dict[str, str], At]] = []
        for at, tags in lines:
            layer = line_layer(tags)
            if layer:
                drawn.append((at, layer))
            if is_merged(tags):
                merged.append((at, tags))
                continue
            row = _feature(osm_number("w", int(self._group.ids[at])), tags)
            if row is not None:
                lon, lat = self._at[self._starts[at] + self._counts[at] // 2].tolist()
                south, west, north, east = self._boxes[at].tolist()
                found.append((row, tags, (lat, lon, south, west, north, east)))
        _stage(self._rows, found)
        which = np.array([at for at, _ in drawn], dtype=np.int64)
        packed = pack_lines(*self._lines(which), rings=False)
        self._rows.shapes.extend(
            (layer, rank, size, curve, name, geom, box)
            for (_, (layer, rank, name)), (size, curve, geom, box) in zip(
                drawn, shape_rows(packed, self._boxes[which]), strict=True
            )
        )
        self._write_pieces(merged)

    def _write_pieces(self, merged: Sequence[tuple[int, dict[str, str]]]) -> None:
        which = np.array([at for at, _ in merged], dtype=np.int64)
        streets = StreetNodes()
        for (at, tags), geom in zip(merged, pack_lines(*self._lines(which), rings=False), strict=True):
            begin, end = int(self._starts[at]), int(self._starts[at + 1])
            piece = piece_of(int(self._group.ids[at]), tags, geom)
            if piece is not None:
                self._rows.pieces.append(piece)
                streets.add(piece, tags, self._refs[begin:end], self._at[begin:end])
        self._rows.street_nodes.extend(streets.rows())

    def _write_areas(self, areas: Sequence[tuple[int, dict[str, str]]]) -> None:
        tags_at = dict(areas)
        which, polygons, packed = self._areas(np.array([at for at, _ in areas], dtype=np.int64))
        tags = [tags_at[at] for at in which.tolist()]
        numbers = [osm_number("w", number) for number in self._group.ids[which].tolist()]
        write_areas(self._rows, numbers, tags, polygons, packed)


def write_areas(
    rows: Rows,
    numbers: Sequence[int],
    tags_of_each: Sequence[Mapping[str, str]],
    areas: NDArray[np.object_],
    packed: Sequence[bytes],
) -> None:
    """Add areas as shapes, labels and features."""
    if not len(numbers):
        return
    inside = np.rint(shapely.get_coordinates(shapely.point_on_surface(areas)) * E7).astype(np.int64).tolist()
    bounds = np.rint(shapely.bounds(areas) * E7).astype(np.int64)[:, [1, 0, 3, 2]]
    placed = list(shape_rows(packed, bounds))
    labels: list[tuple[Layer, int, str | None, shapely.Geometry]] = []
    found: list[tuple[FeatureRow, Mapping[str, str], At]] = []
    for osm, tags, geom, (lon, lat), box, (size, curve, _, boxed) in zip(
        numbers, tags_of_each, packed, inside, bounds.tolist(), placed, strict=True
    ):
        layer = area_layer(tags)
        if layer:
            rows.shapes.append((layer[0], layer[1], size, curve, layer[2], geom, boxed))
        label = point_layer(tags)
        if label and tags.get("boundary") is None:
            labels.append((*label, shapely.Point(lon / E7, lat / E7)))
        row = _feature(osm, tags, None if _ENCLOSING & tags.keys() else geom)
        if row is not None:
            found.append((row, tags, (lat, lon, *box)))
    _stage(rows, found, labels)


def read_relations(some: Sequence[tuple[int, dict[str, str], list[bytes], Ints]], store: Path) -> Rows:
    """Relations as (id, tags, packed edges, boxes of members): areas, or what lies where its known members lie.

    Routes, sites and boundaries that are cut by the extract's edge are of the second kind.
    """
    rows = Rows()
    areas: list[tuple[int, dict[str, str], shapely.Geometry]] = []
    found: list[tuple[FeatureRow, Mapping[str, str], At]] = []
    lines = unpack([edge for _, _, edges, _ in some for edge in edges])
    ends = [np.rint(shapely.get_coordinates(shapely.get_point(lines, at)) * E7).astype(np.int64) for at in (0, -1)]
    corners = np.column_stack([end[:, 0] << 32 | end[:, 1] & 0xFFFF_FFFF for end in ends])
    begin = 0
    for number, tags, edges, boxes in some:
        end = begin + len(edges)
        area = assemble(lines[begin:end], corners[begin:end]) if edges else None
        begin = end
        if area is not None:
            areas.append((osm_number("r", number), {key: value for key, value in tags.items() if key != "type"}, area))
        elif len(boxes) and has_name(tags) and tags.get("type") not in _UNPLACED:
            row = _feature(osm_number("r", number), tags)
            if row is not None:
                middle = boxes[len(boxes) // 2]
                lat, lon = int(middle[0] + middle[2]) // 2, int(middle[1] + middle[3]) // 2
                box = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist())
                found.append((row, tags, (lat, lon, *box)))
    shapes = np.empty(len(areas), dtype=object)
    shapes[:] = [area for *_, area in areas]
    write_areas(rows, [osm for osm, *_ in areas], [tags for _, tags, _ in areas], shapes, pack(shapes.tolist()))
    _stage(rows, found)
    return rows.settled(store)


def assemble(lines: NDArray[np.object_], ends: Ints) -> shapely.Geometry | None:
    """The area within some lines, whose ends are told as numbers; None where they do not close."""
    corners = np.sort(ends, axis=None)
    if (corners[::2] != corners[1::2]).any():  # an end that no other line has, or three have
        return None
    try:
        if len(lines) == 1:
            area = shapely.polygons(shapely.get_coordinates(lines[0]))
        else:
            area = shapely.build_area(shapely.line_merge(shapely.multilinestrings(lines)))
    except shapely.errors.ShapelyError:
        return None
    if area.is_empty or not area.is_valid:
        return None
    return area


def among(ids: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Which ids are among others, which are ascending."""
    if not len(wanted):
        return np.zeros(len(ids), dtype=bool)
    at = np.minimum(np.searchsorted(wanted, ids), len(wanted) - 1)
    return np.asarray(wanted[at] == ids)


def is_merged(tags: Mapping[str, str]) -> bool:
    """Whether a way is a piece of something longer that people know by one name."""
    if (
        tags.get("highway") not in ROAD_RANKS
        and tags.get("waterway") not in _WATERWAYS
        and (tags.get("railway") not in _RAILWAYS)
    ):
        return False
    return bool(tags.get("name") or tags.get("ref") or any(key.startswith("name:") for key in tags))


def piece_of(way: int, tags: Mapping[str, str], geom: bytes) -> Row | None:
    """A row for one piece of a street, river or railway."""
    kind = next(
        f"{key}={tags[key]}"
        for key, known in zip(_MERGED_KEYS, (ROAD_RANKS, _WATERWAYS, _RAILWAYS), strict=True)
        if tags.get(key) in known
    )
    key = fold(main_name(tags))
    if not key:
        return None
    only = {key: value for key, value in tags.items() if key not in _TELL_OTHER_THINGS}
    return (f"{kind.partition('=')[0]} {key}", way, kind, msgspec.json.encode(only), geom)


class StreetNodes:
    """Which nodes lie on which named street."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._keys: dict[tuple[str, str], int] = {}
        self._of: list[Ints] = []
        self._nodes: list[Ints] = []
        self._at: list[Ints] = []

    def add(self, piece: Row, tags: Mapping[str, str], nodes: Ints, at: Ints) -> None:
        """Take in a piece; ``at`` are longitudes and latitudes."""
        if is_street(piece[2]) and tags.get("name"):
            name = main_name(tags)
            number = self._keys.setdefault((piece[0].partition(" ")[2], name), len(self._keys))
            self._of.append(np.full(len(nodes), number))
            self._nodes.append(nodes)
            self._at.append(at)

    def rows(self) -> Iterable[Row]:
        """What there is, as one row."""
        if self._nodes:
            of, nodes, at = (np.concatenate(parts) for parts in (self._of, self._nodes, self._at))
            keys = json.dumps(list(self._keys)).encode()
            yield keys, of.astype("<u4").tobytes(), nodes.astype("<i8").tobytes(), at.astype("<i4").tobytes()


def merge_streets(groups: Sequence[Sequence[Row]], store: Path) -> tuple[Rows, int]:
    """Pieces of one name each, put together to streets, rivers and railways; and how many of them are streets."""
    rows, streets = Rows(), 0
    placed: list[tuple[FeatureRow, int, tuple[int, int, int, int]]] = []  # with its longest line, and its box
    lines = unpack([piece[4] for group in groups for piece in group])
    lengths = shapely.length(lines)
    bounds = np.rint(shapely.bounds(lines) * E7).astype(np.int64)
    begin = 0
    for group in groups:
        end = begin + len(group)
        for cluster in _clusters(lines[begin:end], bounds[begin:end]):
            at = np.array(cluster) + begin
            longest = int(np.argmax(lengths[at]))
            row = _street([group[one] for one in cluster], longest)
            streets += row.kind.startswith("highway=")
            south_west, north_east = bounds[at, :2].min(axis=0), bounds[at, 2:].max(axis=0)
            placed.append((row, int(at[longest]), (*south_west[::-1].tolist(), *north_east[::-1].tolist())))
        begin = end
    middles = shapely.line_interpolate_point(lines[[at for _, at, _ in placed]], 0.5, normalized=True)
    points = np.rint(shapely.get_coordinates(middles) * E7).astype(np.int64).tolist()
    _stage(rows, [(row, {}, (lat, lon, *box)) for (row, _, box), (lon, lat) in zip(placed, points, strict=True)])
    return rows.settled(store), streets


def _street(pieces: Sequence[Row], longest: int) -> FeatureRow:
    all_tags = [msgspec.json.decode(piece[3], type=dict[str, str]) for piece in pieces]
    kind = min((piece[2] for piece in pieces), key=_importance)
    # Later pieces only add what the longest one does not say.
    tags: dict[str, str] = {}
    for one in (all_tags[longest], *all_tags):
        for key, value in one.items():
            tags.setdefault(key, value)
    names = list(dict.fromkeys(found for one in all_tags for found in index_names(one)))
    ground = None
    if kind.startswith("highway="):
        ground = pieces[0][4] if len(pieces) == 1 else join_lines([piece[4] for piece in pieces])
    return FeatureRow(
        osm_number("w", pieces[0][1]), main_name(all_tags[longest]), kind, (0, 0), (0, 0, 0, 0), rank_of(kind, tags),
        None, kept_tags(tags), names, ground,
    )  # fmt: skip


def _clusters(lines: NDArray[np.object_], bounds: Ints) -> list[list[int]]:
    """Pieces joined wherever they come near each other."""
    count = len(lines)
    if count == 1:
        return [[0]]
    if (bounds[:, 2:].max(axis=0) - bounds[:, :2].min(axis=0)).max() < 0.7 * _SAME_STREET_DEG * E7:
        return [list(range(count))]  # all of them together are not wider
    parent = list(range(count))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    tree = STRtree(lines)
    for first, second in tree.query(lines, predicate="dwithin", distance=_SAME_STREET_DEG).T.tolist():
        if first < second:
            parent[root(first)] = root(second)
    found: dict[int, list[int]] = {}
    for index in range(count):
        found.setdefault(root(index), []).append(index)
    return list(found.values())


def _importance(kind: str) -> tuple[int, str]:
    return ROAD_RANKS.get(kind.partition("=")[2], 9), kind
