"""Turn blocks of an OpenStreetMap extract into rows of a region file.

The functions run in worker processes, in this order; each returns `Rows`:

1. `read_nodes`: features that are nodes; all node positions go to files.
2. `read_ways`: features and shapes that are ways, pieces of streets and rivers, and lines that relations need.
3. `read_relations`: areas, and features at the position of their members.
4. `merge_streets`: pieces of the same name that lie near each other become one street, river or railway.
"""

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
    classify_feature,
    estimate_rank,
    is_area,
    is_street,
    line_layer,
    point_layer,
)
from .geometry import E7, join_lines, pack, pack_lines, unpack
from .pbf import (
    NO_POSITION,
    Blob,
    Block,
    Ints,
    Nodes,
    Ragged,
    Relations,
    TaggedObjects,
    Ways,
    build_tags,
    compute_starts,
    spans,
)
from .region_file import ROAD_RANKS, Layer, osm_number
from .region_writer import FeatureRow, StagedRuns, compute_curve, shape_rows, stage, stage_row, stage_shapes
from .runs import Row
from .tags import address_line, encode_kept_tags, has_name, house_number, index_names, main_name

# Ways of the same name within this distance (about 300 m) are one street; farther apart they are different streets.
_SAME_STREET_DEG: Final = 0.003

_MERGED_KEYS: Final = ("highway", "waterway", "railway")
_WATERWAYS: Final = frozenset({"river", "stream", "canal", "drain", "ditch", "tidal_channel"})
_RAILWAYS: Final = frozenset(
    {"rail", "light_rail", "tram", "subway", "narrow_gauge", "funicular", "monorail", "disused", "abandoned"}
)
_DROPPED_TAGS: Final = frozenset({"source", "created_by", "note", "fixme", "source:name"})
_WITHOUT_GROUND: Final = frozenset({"boundary", "place", "landuse"})
_NOT_A_FEATURE: Final = frozenset({"restriction", "associatedStreet", "street", "route_master", "network"})
_AREA_TYPES: Final = frozenset({"multipolygon", "boundary"})
_NODE, _WAY = 0, 1  # types of members
PointAndBox = tuple[int, int, int, int, int, int]  # lat, lon, south, west, north, east in 1e-7 degrees

_FEATURE_KEYS: Final = MAIN_KEYS | {"addr:housenumber"}
_SHAPE_ONLY: Final = frozenset({"building"})
_OTHER_NAMES: Final = frozenset({"official_name", "loc_name", "int_name"})


@dataclass(slots=True)
class Rows:
    """Rows made from some blocks."""

    objects: int = 0  # with tags
    features: list[Row] = field(default_factory=list)
    shapes: list[Row] = field(default_factory=list)
    staged: StagedRuns | None = None  # the features and shapes, once they are on disk
    pieces: list[Row] = field(default_factory=list)  # of streets, rivers and railways
    street_nodes: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)  # ways that relations need

    def stage_to(self, store: Path) -> "Rows":
        """Move features and shapes to runs on disk, in files whose names start with ``store``; return these rows."""
        self.staged = stage(store, self.features, self.shapes)
        self.features, self.shapes = [], []
        return self


@dataclass(frozen=True, slots=True)
class NodeFile:
    """A file of node positions by ascending id: all ids, all latitudes, all longitudes."""

    path: Path
    count: int
    first: int  # ids
    last: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that may become a feature, and the ids of its member nodes and ways."""

    number: int
    tags: dict[str, str]
    nodes: Ints
    ways: Ints

    @property
    def is_area(self) -> bool:
        """Return whether the relation's ways are the boundary of an area."""
        return self.tags.get("type") in _AREA_TYPES and len(self.tags) > 1


def read_block(path: Path, blob: Blob) -> Block:
    """Read and decompress one block."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return Block(os.pread(handle, blob.size, blob.offset))
    finally:
        os.close(handle)


def read_nodes(path: Path, blobs: Sequence[Blob], store: Path) -> tuple[Rows, NodeFile | None, list[int], bytes | None]:
    """Read the nodes and relations of some blocks.

    Returns:
        Rows of the nodes that are features; the positions of all nodes; the indexes of the blocks with ways, which can
        only be read once all nodes are known; the relations, pickled.
    """
    rows, way_blocks = Rows(), []
    relations: list[Relation] = []
    ids, lats, lons = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    for number, blob in enumerate(blobs):
        block = read_block(path, blob)
        kinds = block.kinds
        if 3 in kinds:
            way_blocks.append(number)
        if kinds == {3}:
            continue
        for group in block.groups:
            if isinstance(group, Nodes):
                ids.append(group.ids)
                lats.append(group.lats)
                lons.append(group.lons)
                _add_nodes(rows, block.texts, group)
            elif isinstance(group, Relations):
                relations.extend(_select_relations(rows, block.texts, group))
    nodes = _write_node_file(store, *map(np.concatenate, (ids, lats, lons)))
    return rows.stage_to(store), nodes, way_blocks, pickle.dumps(relations) if relations else None


def _write_node_file(path: Path, ids: Ints, lats: Ints, lons: Ints) -> NodeFile | None:
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
    """Finds node positions in memory-mapped node files."""

    def __init__(self, files: Sequence[NodeFile]) -> None:
        """Map the files; nothing is read yet."""
        self._maps: list[tuple[NodeFile, mmap.mmap]] = []
        for file in files:
            with file.path.open("rb") as stream:
                self._maps.append((file, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)))

    def positions(self, refs: Ints) -> tuple[Ints, Ints]:
        """Return latitudes and longitudes in 1e-7 degrees; `NO_POSITION` for nodes that are not in the files."""
        distinct, back = np.unique(refs, return_inverse=True)
        lats, lons = np.full(len(distinct), NO_POSITION), np.full(len(distinct), NO_POSITION)
        for file, mapped in self._maps:
            begin, end = np.searchsorted(distinct, [file.first, file.last + 1]).tolist()
            if begin == end:
                continue
            ids = np.frombuffer(mapped, dtype="<i8", count=file.count)
            at = np.searchsorted(ids, distinct[begin:end])
            found = np.flatnonzero(ids[np.minimum(at, file.count - 1)] == distinct[begin:end])
            for values, offset in ((lats, 8 * file.count), (lons, 12 * file.count)):
                column = np.frombuffer(mapped, dtype="<i4", count=file.count, offset=offset)
                values[begin + found] = column[at[found]]
            del ids, column
            mapped.madvise(mmap.MADV_DONTNEED)  # keep the pages in the system's cache, not in this process
        return lats[back], lons[back]


def _any_of_each(lists: Ragged, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each list whether at least one of its values is marked."""
    counts = np.concatenate([[0], np.cumsum(marked)])
    return np.asarray(counts[lists.starts[1:]] > counts[lists.starts[:-1]])


def _has_key(group: TaggedObjects, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each object whether it has one of the wanted keys, which are marked in the table of texts."""
    return _any_of_each(group.keys, wanted[group.keys.values])


def _tags_of_each(texts: Sequence[str], group: TaggedObjects, which: Ints) -> Iterator[dict[str, str]]:
    keys, values = group.keys.values.tolist(), group.values.values.tolist()
    starts = group.keys.starts.tolist()
    for at in which.tolist():
        begin, end = starts[at], starts[at + 1]
        yield build_tags(texts, keys[begin:end], values[begin:end])


def _add_nodes(rows: Rows, texts: Sequence[str], group: Nodes) -> None:
    rows.objects += int(np.count_nonzero(group.keys.counts))
    if not len(group.keys.values):
        return
    main = np.array([text in _FEATURE_KEYS for text in texts])
    which = np.flatnonzero(_has_key(group, main) & (group.lats < NO_POSITION) & (group.lons < NO_POSITION))
    labels: list[tuple[Layer, int, str | None, shapely.Geometry]] = []
    found: list[tuple[FeatureRow, dict[str, str], PointAndBox]] = []
    lats, lons, ids = group.lats[which].tolist(), group.lons[which].tolist(), group.ids[which].tolist()
    for number, lat, lon, tags in zip(ids, lats, lons, _tags_of_each(texts, group, which), strict=True):
        layer = point_layer(tags)
        if layer:
            labels.append((*layer, shapely.Point(lon / E7, lat / E7)))
        row = _feature(osm_number("n", number), tags)
        if row is not None:
            found.append((row, tags, (lat, lon, lat, lon, lat, lon)))
    _add_features(rows, found, labels)


def _feature(osm: int, tags: Mapping[str, str], ground: bytes | None = None) -> FeatureRow | None:
    """Return a feature without its position; None if it is not worth searching for."""
    named = has_name(tags)
    kind = classify_feature(tags, named=named)
    if kind is None:
        address = house_number(tags)
        if address is None:
            return None
        return FeatureRow(
            osm, address_line(*address), ADDRESS, (0, 0), (0, 0, 0, 0), 0.02, None, encode_kept_tags(tags), [], ground
        )
    return FeatureRow(
        osm, main_name(tags), kind, (0, 0), (0, 0, 0, 0), estimate_rank(kind, tags), None,
        encode_kept_tags(tags), index_names(tags),
        ground,
    )  # fmt: skip


def _add_features(
    rows: Rows,
    found: Sequence[tuple[FeatureRow, Mapping[str, str], PointAndBox]],
    labels: Sequence[tuple[Layer, int, str | None, shapely.Geometry]] = (),
) -> None:
    """Add features at their positions, and labels, to the rows."""
    if found:
        positions = np.array([position for *_, position in found])
        widths = (positions[:, 4:] - positions[:, 2:4]).max(axis=1)
        curves = compute_curve(positions[:, 0], positions[:, 1], widths).tolist()
        rows.features.extend(
            stage_row(row, tags, position, curve) for (row, tags, position), curve in zip(found, curves, strict=True)
        )
    if labels:
        rows.shapes.extend(stage_shapes(labels))


def _select_relations(rows: Rows, texts: Sequence[str], group: Relations) -> Iterator[Relation]:
    tagged = np.flatnonzero(group.keys.counts)
    rows.objects += len(tagged)
    for at, tags in zip(tagged.tolist(), _tags_of_each(texts, group, tagged), strict=True):
        kind = tags.get("type")
        if (kind in _AREA_TYPES and len(tags) > 1) or (has_name(tags) and kind not in _NOT_A_FEATURE):
            own = slice(int(group.members.starts[at]), int(group.members.starts[at + 1]))
            members, types = group.members.values[own], group.types.values[own]
            yield Relation(int(group.ids[at]), tags, members[types == _NODE], members[types == _WAY])


def read_ways(path: Path, blobs: Sequence[Blob], index: NodeIndex, members: tuple[Ints, Ints], store: Path) -> Rows:
    """Read the ways of some blocks: features, shapes, pieces of streets, and members of relations.

    ``members`` are two ascending lists of way ids: ways that bound areas, and ways whose bounding box suffices.
    """
    rows = Rows()
    for blob in blobs:
        block = read_block(path, blob)
        for group in block.groups:
            if isinstance(group, Ways):
                _WayReader(rows, block.texts, group, index, members).read()
    return rows.stage_to(store)


class _WayReader:
    """Turns one group of ways into rows."""

    def __init__(
        self, rows: Rows, texts: Sequence[str], group: Ways, index: NodeIndex, members: tuple[Ints, Ints]
    ) -> None:
        self._rows, self._texts, self._group = rows, texts, group
        lats, lons = index.positions(group.refs.values)
        valid = (lats < NO_POSITION) & (lons < NO_POSITION)
        counts = np.diff(np.concatenate([[0], np.cumsum(valid)])[group.refs.starts])
        self._refs = group.refs.values[valid]
        self._lon_lats = np.column_stack([lons[valid], lats[valid]])
        self._starts = compute_starts(counts)
        self._counts = counts
        closed = np.zeros(len(group.ids), dtype=bool)
        some = np.flatnonzero((group.refs.counts > 3) & (counts == group.refs.counts))
        closed[some] = group.refs.values[group.refs.starts[some]] == group.refs.values[group.refs.starts[some + 1] - 1]
        self._closed = closed
        self._bounds_area, self._needs_box = (among(group.ids, wanted) for wanted in members)
        self._boxes = self._all_boxes()

    def _all_boxes(self) -> Ints:
        """Return south, west, north, east of each way; meaningless for ways without nodes."""
        if not len(self._lon_lats):
            return np.zeros((len(self._counts), 4), dtype=np.int64)
        begins = np.minimum(self._starts[:-1], len(self._lon_lats) - 1)
        low = np.minimum.reduceat(self._lon_lats, begins, axis=0)
        high = np.maximum.reduceat(self._lon_lats, begins, axis=0)
        return np.column_stack([low[:, 1], low[:, 0], high[:, 1], high[:, 0]])

    def read(self) -> None:
        """Add the rows of all ways."""
        group = self._group
        tagged = group.keys.counts > 0
        self._rows.objects += int(np.count_nonzero(tagged))
        drawable = self._counts >= 2
        self._write_members(np.flatnonzero(drawable & (self._bounds_area | self._needs_box)))
        main = np.array([text in _FEATURE_KEYS or text == "area" for text in self._texts])
        shape_only = np.array([text in _SHAPE_ONLY for text in self._texts])
        wanted = drawable & tagged & _has_key(group, main)
        # Most ways are plain buildings without a name: they are only drawn, all of a group at once.
        named = np.array([text.startswith("name") or text in _OTHER_NAMES for text in self._texts])
        plain = wanted & self._closed & ~_has_key(group, (main & ~shape_only) | named)
        no = self._texts.index("no") if "no" in self._texts else -1
        plain &= ~_any_of_each(group.values, group.values.values == no)
        self._write_plain_buildings(np.flatnonzero(plain))
        self._write_by_tags(np.flatnonzero(wanted & ~plain))

    def _build_lines(self, which: Ints) -> tuple[Ints, Ints]:
        """Return the vertices (longitude, latitude) of some ways, and where each way begins."""
        counts = self._counts[which]
        return self._lon_lats[spans(self._starts[which], counts)], compute_starts(counts)

    def _write_members(self, which: Ints) -> None:
        packed = pack_lines(*self._build_lines(which), rings=False)
        for number, bounds_area, geom, box in zip(
            self._group.ids[which].tolist(), self._bounds_area[which].tolist(), packed, self._boxes[which], strict=True
        ):
            self._rows.members.append((number, geom if bounds_area else None, box.astype("<i4").tobytes()))

    def _areas(self, which: Ints) -> tuple[Ints, NDArray[np.object_], list[bytes]]:
        """Return which of some closed ways are valid polygons, the polygons, and the packed polygons."""
        lon_lats, starts = self._build_lines(which)
        if not len(which):
            return which, np.empty(0, dtype=object), []
        owners = np.repeat(np.arange(len(which)), np.diff(starts))
        polygons = shapely.polygons(shapely.linearrings(lon_lats / E7, indices=owners))
        valid = shapely.is_valid(polygons)
        which, polygons = which[valid], polygons[valid]
        return which, polygons, pack_lines(*self._build_lines(which), rings=True)

    def _write_plain_buildings(self, which: Ints) -> None:
        which, _, packed = self._areas(which)
        self._rows.shapes.extend(
            ("building", 1, size, curve, None, geom, box)
            for size, curve, geom, box in shape_rows(packed, self._boxes[which])
        )

    def _write_by_tags(self, which: Ints) -> None:
        lines: list[tuple[int, dict[str, str]]] = []
        areas: list[tuple[int, dict[str, str]]] = []
        for at, closed, tags in zip(
            which.tolist(), self._closed[which].tolist(), _tags_of_each(self._texts, self._group, which), strict=True
        ):
            (areas if closed and is_area(tags) else lines).append((at, tags))
        self._write_lines(lines)
        self._write_areas(areas)

    def _write_lines(self, lines: Sequence[tuple[int, dict[str, str]]]) -> None:
        shapes: list[tuple[int, tuple[Layer, int, str | None]]] = []
        merged: list[tuple[int, dict[str, str]]] = []
        found: list[tuple[FeatureRow, dict[str, str], PointAndBox]] = []
        for at, tags in lines:
            layer = line_layer(tags)
            if layer:
                shapes.append((at, layer))
            if is_merged(tags):
                merged.append((at, tags))
                continue
            row = _feature(osm_number("w", int(self._group.ids[at])), tags)
            if row is not None:
                lon, lat = self._lon_lats[self._starts[at] + self._counts[at] // 2].tolist()
                south, west, north, east = self._boxes[at].tolist()
                found.append((row, tags, (lat, lon, south, west, north, east)))
        _add_features(self._rows, found)
        which = np.array([at for at, _ in shapes], dtype=np.int64)
        packed = pack_lines(*self._build_lines(which), rings=False)
        self._rows.shapes.extend(
            (layer, rank, size, curve, name, geom, box)
            for (_, (layer, rank, name)), (size, curve, geom, box) in zip(
                shapes, shape_rows(packed, self._boxes[which]), strict=True
            )
        )
        self._write_pieces(merged)

    def _write_pieces(self, merged: Sequence[tuple[int, dict[str, str]]]) -> None:
        """Write ways that `merge_streets` will merge."""
        which = np.array([at for at, _ in merged], dtype=np.int64)
        streets = StreetNodes()
        for (at, tags), geom in zip(merged, pack_lines(*self._build_lines(which), rings=False), strict=True):
            begin, end = int(self._starts[at]), int(self._starts[at + 1])
            piece = build_piece(int(self._group.ids[at]), tags, geom)
            if piece is not None:
                self._rows.pieces.append(piece)
                streets.add(piece, tags, self._refs[begin:end], self._lon_lats[begin:end])
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
    """Add areas to the rows as shapes, labels and features."""
    if not len(numbers):
        return
    inner_points = np.rint(shapely.get_coordinates(shapely.point_on_surface(areas)) * E7).astype(np.int64).tolist()
    bounds = np.rint(shapely.bounds(areas) * E7).astype(np.int64)[:, [1, 0, 3, 2]]
    shapes = list(shape_rows(packed, bounds))
    labels: list[tuple[Layer, int, str | None, shapely.Geometry]] = []
    found: list[tuple[FeatureRow, Mapping[str, str], PointAndBox]] = []
    for osm, tags, geom, (lon, lat), box, (size, curve, _, packed_box) in zip(
        numbers, tags_of_each, packed, inner_points, bounds.tolist(), shapes, strict=True
    ):
        layer = area_layer(tags)
        if layer:
            rows.shapes.append((layer[0], layer[1], size, curve, layer[2], geom, packed_box))
        label = point_layer(tags)
        if label and tags.get("boundary") is None:
            labels.append((*label, shapely.Point(lon / E7, lat / E7)))
        row = _feature(osm, tags, None if _WITHOUT_GROUND & tags.keys() else geom)
        if row is not None:
            found.append((row, tags, (lat, lon, *box)))
    _add_features(rows, found, labels)


def read_relations(relations: Sequence[tuple[int, dict[str, str], list[bytes], Ints]], store: Path) -> Rows:
    """Turn relations (id, tags, packed lines around an area, boxes of members) into areas or plain features.

    A relation without a closed boundary, such as a route, a site or an area that the extract cuts, becomes a feature at
    its middle member.
    """
    rows = Rows()
    areas: list[tuple[int, dict[str, str], shapely.Geometry]] = []
    found: list[tuple[FeatureRow, Mapping[str, str], PointAndBox]] = []
    lines = unpack([edge for _, _, edges, _ in relations for edge in edges])
    ends = [np.rint(shapely.get_coordinates(shapely.get_point(lines, at)) * E7).astype(np.int64) for at in (0, -1)]
    corners = np.column_stack([end[:, 0] << 32 | end[:, 1] & 0xFFFF_FFFF for end in ends])
    begin = 0
    for number, tags, edges, boxes in relations:
        end = begin + len(edges)
        area = assemble(lines[begin:end], corners[begin:end]) if edges else None
        begin = end
        if area is not None:
            areas.append((osm_number("r", number), {key: value for key, value in tags.items() if key != "type"}, area))
        elif len(boxes) and has_name(tags) and tags.get("type") not in _NOT_A_FEATURE:
            row = _feature(osm_number("r", number), tags)
            if row is not None:
                middle = boxes[len(boxes) // 2]
                lat, lon = int(middle[0] + middle[2]) // 2, int(middle[1] + middle[3]) // 2
                box = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist())
                found.append((row, tags, (lat, lon, *box)))
    shapes = np.empty(len(areas), dtype=object)
    shapes[:] = [area for *_, area in areas]
    write_areas(rows, [osm for osm, *_ in areas], [tags for _, tags, _ in areas], shapes, pack(shapes.tolist()))
    _add_features(rows, found)
    return rows.stage_to(store)


def assemble(lines: NDArray[np.object_], ends: Ints) -> shapely.Geometry | None:
    """Return the area that lines bound, or None if they do not close.

    ``ends`` has a row for each line: a number for each end, equal where two lines meet.
    """
    corners = np.sort(ends, axis=None)
    if (corners[::2] != corners[1::2]).any():  # an odd number of lines ends here
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
    """Return for each id whether it is in ``wanted``, which is ascending."""
    if not len(wanted):
        return np.zeros(len(ids), dtype=bool)
    at = np.minimum(np.searchsorted(wanted, ids), len(wanted) - 1)
    return np.asarray(wanted[at] == ids)


def is_merged(tags: Mapping[str, str]) -> bool:
    """Return whether a way is a piece of a named street, river or railway."""
    if (
        tags.get("highway") not in ROAD_RANKS
        and tags.get("waterway") not in _WATERWAYS
        and (tags.get("railway") not in _RAILWAYS)
    ):
        return False
    return bool(tags.get("name") or tags.get("ref") or any(key.startswith("name:") for key in tags))


def build_piece(way: int, tags: Mapping[str, str], geom: bytes) -> Row | None:
    """Return a row of the staging table ``piece`` for a way; None if it has no name."""
    kind = next(
        f"{key}={tags[key]}"
        for key, values in zip(_MERGED_KEYS, (ROAD_RANKS, _WATERWAYS, _RAILWAYS), strict=True)
        if tags.get(key) in values
    )
    key = fold(main_name(tags))
    if not key:
        return None
    kept = {key: value for key, value in tags.items() if key not in _DROPPED_TAGS}
    return (f"{kind.partition('=')[0]} {key}", way, kind, msgspec.json.encode(kept), geom)


class StreetNodes:
    """Collects the nodes of named streets, from which junctions are found later."""

    def __init__(self) -> None:
        """Start without streets."""
        self._keys: dict[tuple[str, str], int] = {}
        self._street_of: list[Ints] = []
        self._nodes: list[Ints] = []
        self._lon_lats: list[Ints] = []

    def add(self, piece: Row, tags: Mapping[str, str], nodes: Ints, lon_lats: Ints) -> None:
        """Add the nodes of a piece and their positions (longitude, latitude)."""
        if is_street(piece[2]) and tags.get("name"):
            name = main_name(tags)
            number = self._keys.setdefault((piece[0].partition(" ")[2], name), len(self._keys))
            self._street_of.append(np.full(len(nodes), number))
            self._nodes.append(nodes)
            self._lon_lats.append(lon_lats)

    def rows(self) -> Iterable[Row]:
        """Yield one row of the staging table ``street_node`` with everything, or nothing if there are no streets."""
        if self._nodes:
            columns = ((self._street_of, "<u4"), (self._nodes, "<i8"), (self._lon_lats, "<i4"))
            packed = [np.concatenate(parts).astype(dtype).tobytes() for parts, dtype in columns]
            yield json.dumps(list(self._keys)).encode(), *packed


def merge_streets(groups: Sequence[Sequence[Row]], store: Path) -> tuple[Rows, int]:
    """Merge groups of pieces of the same name into streets, rivers and railways; also return how many are streets."""
    rows, streets = Rows(), 0
    found: list[tuple[FeatureRow, int, tuple[int, int, int, int]]] = []  # with the index of its longest line, and box
    lines = unpack([piece[4] for group in groups for piece in group])
    lengths = shapely.length(lines)
    bounds = np.rint(shapely.bounds(lines) * E7).astype(np.int64)
    begin = 0
    for group in groups:
        end = begin + len(group)
        for cluster in _clusters(lines[begin:end], bounds[begin:end]):
            at = np.array(cluster) + begin
            longest = int(np.argmax(lengths[at]))
            row = _merge_pieces([group[member] for member in cluster], longest)
            streets += row.kind.startswith("highway=")
            south_west, north_east = bounds[at, :2].min(axis=0), bounds[at, 2:].max(axis=0)
            found.append((row, int(at[longest]), (*south_west[::-1].tolist(), *north_east[::-1].tolist())))
        begin = end
    middles = shapely.line_interpolate_point(lines[[at for _, at, _ in found]], 0.5, normalized=True)
    points = np.rint(shapely.get_coordinates(middles) * E7).astype(np.int64).tolist()
    _add_features(rows, [(row, {}, (lat, lon, *box)) for (row, _, box), (lon, lat) in zip(found, points, strict=True)])
    return rows.stage_to(store), streets


def _merge_pieces(pieces: Sequence[Row], longest: int) -> FeatureRow:
    """Return the feature that pieces of the same name form; the tags of the longest piece come first."""
    all_tags = [msgspec.json.decode(piece[3], type=dict[str, str]) for piece in pieces]
    kind = min((piece[2] for piece in pieces), key=_importance)
    tags: dict[str, str] = {}
    for piece_tags in (all_tags[longest], *all_tags):
        for key, value in piece_tags.items():
            tags.setdefault(key, value)
    names = list(dict.fromkeys(name for piece_tags in all_tags for name in index_names(piece_tags)))
    ground = None
    if kind.startswith("highway="):
        ground = pieces[0][4] if len(pieces) == 1 else join_lines([piece[4] for piece in pieces])
    return FeatureRow(
        osm_number("w", pieces[0][1]), main_name(all_tags[longest]), kind, (0, 0), (0, 0, 0, 0),
            estimate_rank(kind, tags),
        None, encode_kept_tags(tags), names, ground,
    )  # fmt: skip


def _clusters(lines: NDArray[np.object_], bounds: Ints) -> list[list[int]]:
    """Group lines (by index) that are near each other, directly or through others."""
    count = len(lines)
    if count == 1:
        return [[0]]
    if (bounds[:, 2:].max(axis=0) - bounds[:, :2].min(axis=0)).max() < 0.7 * _SAME_STREET_DEG * E7:
        return [list(range(count))]  # all within a box narrower than the distance
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
    clusters: dict[int, list[int]] = {}
    for index in range(count):
        clusters.setdefault(root(index), []).append(index)
    return list(clusters.values())


def _importance(kind: str) -> tuple[int, str]:
    return ROAD_RANKS.get(kind.partition("=")[2], 9), kind
