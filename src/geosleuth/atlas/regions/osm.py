"""Import an OpenStreetMap extract, streamed twice; streets and rivers are put together from their many ways."""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import shapely
from shapely import STRtree

from geosleuth.errors import BadInput
from geosleuth.names import fold
from geosleuth.text.safe import one_line

from .feature_kinds import ADDRESS, area_layer, is_area, is_street, kind_of, line_layer, point_layer, rank_of
from .region_file import (
    ROAD_RANKS,
    FeatureRow,
    Progress,
    RegionWriter,
    address_line,
    address_of,
    check_readable,
    digest_of,
    has_name,
    house_number,
    index_names,
    kept_tags,
    main_name,
    no_progress,
    region_name,
    run_script,
    writing,
)
from .region_store import RegionInfo, RegionStore
from .string_tables import check_texts

if TYPE_CHECKING:
    from osmium.osm import Area, Node, Relation, Way

_SAME_STREET_DEG: Final = 0.003
"""Ways of one name that are nearer than about 300 m are one street; farther apart they are namesakes."""

_MERGED_KEYS: Final = ("highway", "waterway", "railway")
_WATERWAYS: Final = frozenset({"river", "stream", "canal", "drain", "ditch", "tidal_channel"})
_RAILWAYS: Final = frozenset(
    {"rail", "light_rail", "tram", "subway", "narrow_gauge", "funicular", "monorail", "disused", "abandoned"}
)
_BATCH: Final = 5_000


def is_merged(tags: Mapping[str, str]) -> bool:
    """Whether a way is a piece of something longer that people know by one name."""
    if not (tags.get("name") or tags.get("ref") or any(key.startswith("name:") for key in tags)):
        return False
    return tags.get("highway") in ROAD_RANKS or tags.get("waterway") in _WATERWAYS or tags.get("railway") in _RAILWAYS


class LineMerger:
    """Keeps the pieces in scratch tables of the database, so that memory does not grow with the region."""

    def __init__(self, writer: RegionWriter) -> None:
        """Use the writer's database for scratch space."""
        self._writer = writer
        self._conn = writer.conn
        run_script(
            self._conn,
            """
            CREATE TEMP TABLE piece (group_key TEXT, way INTEGER, kind TEXT, tags TEXT, geom BLOB);
            CREATE TEMP TABLE street_node (node INTEGER, street_key TEXT, street TEXT, lat REAL, lon REAL);
            """,
        )
        self._pieces: list[tuple[Any, ...]] = []
        self._nodes: list[tuple[Any, ...]] = []

    def add(
        self, way: int, tags: Mapping[str, str], geom: bytes, positions: Sequence[tuple[int, float, float]]
    ) -> None:
        """Take in one way; positions are (node, lat, lon)."""
        only = {key: value for key, value in tags.items() if key not in _TELL_OTHER_THINGS}
        kind = next(
            f"{key}={tags[key]}"
            for key, known in zip(_MERGED_KEYS, (ROAD_RANKS, _WATERWAYS, _RAILWAYS), strict=True)
            if tags.get(key) in known
        )
        name = main_name(tags)
        key = fold(name)
        if not key:
            return
        self._pieces.append((f"{kind.partition('=')[0]} {key}", way, kind, json.dumps(only), geom))
        if is_street(kind) and tags.get("name"):
            self._nodes.extend((node, key, name, lat, lon) for node, lat, lon in positions)
        if len(self._pieces) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._conn.executemany("INSERT INTO piece VALUES (?, ?, ?, ?, ?)", self._pieces)
        self._conn.executemany("INSERT INTO street_node VALUES (?, ?, ?, ?, ?)", self._nodes)
        self._pieces.clear()
        self._nodes.clear()

    def finish(self, report: Progress) -> None:
        """Write the merged lines and the junctions."""
        self._flush()
        (total,) = self._conn.execute("SELECT count(*) FROM piece").fetchone()
        rows = self._conn.execute("SELECT group_key, way, kind, tags, geom FROM piece ORDER BY group_key, way")
        done = 0
        for _, group in groupby(rows, key=itemgetter(0)):
            pieces = list(group)
            for cluster in _clusters(shapely.from_wkb([piece[4] for piece in pieces])):
                self._write([pieces[index] for index in cluster])
            done += len(pieces)
            report("joining streets", done, total)
        self._junctions()
        run_script(self._conn, "DROP TABLE temp.piece; DROP TABLE temp.street_node;")

    def _write(self, pieces: Sequence[tuple[str, int, str, str, bytes]]) -> None:
        shapes = shapely.from_wkb([piece[4] for piece in pieces])
        longest = int(np.argmax(shapely.length(shapes)))
        all_tags = [json.loads(piece[3]) for piece in pieces]
        kind = min((piece[2] for piece in pieces), key=_importance)
        # Later pieces only add what the longest one does not say.
        tags: dict[str, str] = {}
        for one in (all_tags[longest], *all_tags):
            for key, value in one.items():
                tags.setdefault(key, value)
        middle = shapely.get_coordinates(shapely.line_interpolate_point(shapes[longest], 0.5, normalized=True))[0]
        west, south, east, north = shapely.total_bounds(shapes).tolist()
        names = dict.fromkeys(found for one in all_tags for found in index_names(one))
        row = FeatureRow(
            f"w{pieces[0][1]}",
            main_name(all_tags[longest]),
            kind,
            (float(middle[1]), float(middle[0])),
            (south, west, north, east),
            rank_of(kind, tags),
            None,
            kept_tags(tags),
            list(names),
        )
        number = self._writer.add_feature(row, {})
        if kind.startswith("highway="):
            self._writer.counts["streets"] += 1
            self._conn.executemany(
                "INSERT INTO street_way VALUES (?, ?, ?)", ((number, f"w{piece[1]}", piece[4]) for piece in pieces)
            )

    def _junctions(self) -> None:
        """Nodes that two or more differently named streets share."""
        self._conn.execute("CREATE INDEX temp.street_node_node ON street_node (node, street_key)")
        run_script(
            self._conn,
            """
            INSERT INTO junction
                SELECT node, min(lat), min(lon) FROM temp.street_node
                GROUP BY node HAVING count(DISTINCT street_key) > 1;
            INSERT INTO junction_street
                SELECT node, min(street), street_key FROM temp.street_node
                WHERE node IN (SELECT id FROM junction) GROUP BY node, street_key;
            """,
        )
        (self._writer.counts["junctions"],) = self._conn.execute("SELECT count(*) FROM junction").fetchone()


_TELL_OTHER_THINGS: Final = frozenset({"source", "created_by", "note", "fixme", "source:name"})


def _clusters(shapes: Any) -> list[list[int]]:
    """Pieces joined wherever they come near each other."""
    count = len(shapes)
    if count == 1:
        return [[0]]
    parent = list(range(count))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    tree = STRtree(shapes)
    for first, second in tree.query(shapes, predicate="dwithin", distance=_SAME_STREET_DEG).T.tolist():
        parent[root(first)] = root(second)
    found: dict[int, list[int]] = {}
    for index in range(count):
        found.setdefault(root(index), []).append(index)
    return list(found.values())


def _importance(kind: str) -> tuple[int, str]:
    return ROAD_RANKS.get(kind.partition("=")[2], 9), kind


ODBL: Final = "ODbL-1.0"
ATTRIBUTION: Final = "© OpenStreetMap contributors"
_IN_MEMORY_BYTES: Final = 300_000_000  # a larger extract keeps node positions in a file: 16 bytes a node add up
_REPORT_EVERY: Final = 2_000
_OSM_BATCH: Final = 2_000
Box = tuple[float, float, float, float]  # south, west, north, east


@dataclass(slots=True)
class _Survey:
    """What the first pass learns: the file is sound, how much there is, and which members will need a position."""

    objects: int = 0
    member_ways: set[int] = field(default_factory=set)
    member_nodes: set[int] = field(default_factory=set)


def import_osm(
    path: Path,
    name: str | None = None,
    *,
    folder: Path,
    progress: Progress | None = None,
    origin: Mapping[str, str] | None = None,
) -> RegionInfo:
    """Add an extract (.osm.pbf, or .osm, .osm.bz2, .osm.gz) as a region; one of the same name is replaced when done.

    ``origin`` is what the region's record says of where the file is from: see ``META_KEYS``.

    Raises:
        BadInput: the file is missing or is not a sound extract; nothing has been changed then.
    """
    region = region_name(name, path)
    report = progress or no_progress
    check_readable(path)
    digest = digest_of(path, report)
    if path.suffix.lower() == ".pbf":
        check_texts(path)
    with _explained(path):
        survey = _survey(path, report)
    if not survey.objects:
        raise BadInput(f"{path} holds no tagged OpenStreetMap objects; is it the right file?")
    with writing(folder, region) as writer, _explained(path), _node_storage(path, folder) as storage:
        _Reader(writer, survey).read(path, storage, report)
        report("indexing", 0, 1)
        writer.finish(
            {
                "name": region,
                "kind": "osm",
                "source": path.name,
                "sha256": digest,
                "licence": ODBL,
                "attribution": ATTRIBUTION,
                **(origin or {}),
                **_header(path),
            }
        )
        report("indexing", 1, 1)
    return RegionStore(folder).info(region)


class _Reader:
    """Turns the objects of one extract into rows."""

    def __init__(self, writer: RegionWriter, survey: _Survey) -> None:
        from osmium.geom import WKBFactory

        self._writer = writer
        self._survey = survey
        self._wkb = WKBFactory()
        self._lines = LineMerger(writer)
        self._member_boxes: dict[str, Box] = {}
        self._relations: list[tuple[int, dict[str, str], list[str]]] = []
        self._relation_areas: set[int] = set()
        self._waiting: list[tuple[str, dict[str, str], bytes]] = []

    def read(self, path: Path, storage: str, report: Progress) -> None:
        """Stream the whole file."""
        import osmium
        from osmium import osm

        stream = (
            osmium.FileProcessor(str(path))
            .with_locations(storage)
            .with_areas()
            .with_filter(osmium.filter.EmptyTagFilter())
        )
        done = 0
        for entity in stream:
            if isinstance(entity, osm.Area):
                self._area(entity)
                continue
            if isinstance(entity, osm.Node):
                self._node(entity)
            elif isinstance(entity, osm.Way):
                self._way(entity)
            elif isinstance(entity, osm.Relation):
                self._relation(entity)
            done += 1
            if done % _REPORT_EVERY == 0:
                report("reading", done, self._survey.objects)
        report("reading", done, self._survey.objects)
        self._flush_areas()
        self._finish_relations()
        self._lines.finish(report)

    def _node(self, node: "Node") -> None:
        if not node.location.valid():
            return
        tags = dict(node.tags)
        lat, lon = node.location.lat, node.location.lon
        if node.id in self._survey.member_nodes:
            self._member_boxes[f"n{node.id}"] = (lat, lon, lat, lon)
        layer = point_layer(tags)
        if layer:
            self._writer.add_shape(*layer, _point_wkb(lat, lon), (lat, lon, lat, lon))
        self._feature(f"n{node.id}", tags, (lat, lon), (lat, lon, lat, lon))

    def _way(self, way: "Way") -> None:
        closed = len(way.nodes) > 3 and way.is_closed()
        if closed and "building" in way.tags and way.id not in self._survey.member_ways:
            return  # most ways are buildings, and come again as areas: not worth reading their tags twice
        tags = dict(way.tags)
        area = closed and is_area(tags)
        if area and way.id not in self._survey.member_ways:
            return  # it comes again as an area
        positions = [(node.ref, node.lat, node.lon) for node in way.nodes if node.location.valid()]
        if len(positions) < 2:
            return
        lats, lons = [at[1] for at in positions], [at[2] for at in positions]
        box = (min(lats), min(lons), max(lats), max(lons))
        if way.id in self._survey.member_ways:
            self._member_boxes[f"w{way.id}"] = box
        if area:
            return
        layer, merged = line_layer(tags), is_merged(tags)
        kind = kind_of(tags, named=has_name(tags))
        if layer is None and not merged and kind is None:
            return
        geom = _line_wkb(lons, lats)
        if layer:
            self._writer.add_shape(*layer, geom, box)
        if merged:
            self._lines.add(way.id, tags, geom, positions)
        else:
            middle = positions[len(positions) // 2]
            self._feature(f"w{way.id}", tags, (middle[1], middle[2]), box)

    def _area(self, area: "Area") -> None:
        tags = dict(area.tags)
        if area.from_way():
            if not is_area(tags):
                return
            osm = f"w{area.orig_id()}"
        else:
            osm = f"r{area.orig_id()}"
            self._relation_areas.add(area.orig_id())
        try:
            geom = bytes.fromhex(self._wkb.create_multipolygon(area))
        except RuntimeError:  # rings that cross themselves: the map does without
            return
        self._waiting.append((osm, tags, geom))
        if len(self._waiting) >= _OSM_BATCH:
            self._flush_areas()

    def _flush_areas(self) -> None:
        """Points inside and extents of many areas at once: one by one costs more than all the rest."""
        import shapely

        if not self._waiting:
            return
        shapes = shapely.from_wkb([geom for _, _, geom in self._waiting])
        inside = shapely.get_coordinates(shapely.point_on_surface(shapes)).tolist()
        bounds = shapely.bounds(shapes).tolist()
        for (osm, tags, geom), (lon, lat), (west, south, east, north) in zip(
            self._waiting, inside, bounds, strict=True
        ):
            box = (south, west, north, east)
            layer = area_layer(tags)
            if layer:
                self._writer.add_shape(*layer, geom, box)
            label = point_layer(tags)
            if label and tags.get("boundary") is None:
                self._writer.add_shape(*label, _point_wkb(lat, lon), (lat, lon, lat, lon))
            number = self._feature(osm, tags, (lat, lon), box)
            if number is not None and not _ENCLOSING & tags.keys():
                self._writer.add_area(number, geom)
        self._waiting.clear()

    def _relation(self, relation: "Relation") -> None:
        tags = dict(relation.tags)
        if has_name(tags) and tags.get("type") not in _UNPLACED:
            self._relations.append(
                (relation.id, tags, [f"{one.type}{one.ref}" for one in relation.members if one.type in "nw"])
            )

    def _finish_relations(self) -> None:
        """Routes, sites and boundaries that are cut by the extract's edge lie where their known members lie."""
        for number, tags, members in self._relations:
            boxes = [box for box in (self._member_boxes.get(one) for one in members) if box]
            if number in self._relation_areas or not boxes:
                continue
            middle = boxes[len(boxes) // 2]
            box = (
                min(one[0] for one in boxes),
                min(one[1] for one in boxes),
                max(one[2] for one in boxes),
                max(one[3] for one in boxes),
            )
            self._feature(f"r{number}", tags, ((middle[0] + middle[2]) / 2, (middle[1] + middle[3]) / 2), box)
        self._relations.clear()
        self._member_boxes.clear()

    def _feature(self, osm: str, tags: Mapping[str, str], point: tuple[float, float], box: Box) -> int | None:
        """Write a feature, and return its number; None where it is nothing anyone would look for."""
        named = has_name(tags)
        kind = kind_of(tags, named=named)
        at = house_number(tags)
        name = main_name(tags) if kind else ""
        if kind is None:
            if at is None:
                return None
            kind, name = ADDRESS, address_line(*at)
        names = index_names(tags) if kind != ADDRESS else []
        return self._writer.add_feature(
            FeatureRow(osm, name, kind, point, box, rank_of(kind, tags), address_of(tags), kept_tags(tags), names), tags
        )


_ENCLOSING: Final = frozenset({"boundary", "place", "landuse"})
_UNPLACED: Final = frozenset({"restriction", "associatedStreet", "street", "route_master", "network"})


def _survey(path: Path, report: Progress) -> _Survey:
    import osmium

    survey = _Survey()
    report("checking", 0, 1)
    for entity in osmium.FileProcessor(str(path)).with_filter(osmium.filter.EmptyTagFilter()):
        survey.objects += 1
        if isinstance(entity, osmium.osm.Relation) and has_name(dict(entity.tags)):
            for member in entity.members:
                if member.type == "w":
                    survey.member_ways.add(member.ref)
                elif member.type == "n":
                    survey.member_nodes.add(member.ref)
    report("checking", 1, 1)
    return survey


@contextmanager
def _node_storage(path: Path, folder: Path) -> Iterator[str]:
    """Where osmium keeps the positions of nodes; a file is named so that the next import clears it away if need be."""
    if path.stat().st_size <= _IN_MEMORY_BYTES:
        yield "flex_mem"
        return
    nodes = folder / f".nodes.{os.getpid()}.partial"
    try:
        yield f"sparse_file_array,{nodes}"
    finally:
        nodes.unlink(missing_ok=True)


def _header(path: Path) -> dict[str, str]:
    """The extract's own word about its date and extent, where it gives one."""
    import osmium

    with osmium.io.Reader(str(path), osmium.osm.NOTHING) as reader:
        header = reader.header()
        about = {"data_date": header.get("osmosis_replication_timestamp") or header.get("timestamp")}
        box = header.box()
        if box.valid():
            low, high = box.bottom_left, box.top_right
            about["bbox"] = f"{low.lat:.7f},{low.lon:.7f},{high.lat:.7f},{high.lon:.7f}"
    return {key: value for key, value in about.items() if value}


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Whatever a damaged file leads to, as one line for the person who gave it."""
    from osmium import InvalidLocationError
    from shapely.errors import ShapelyError

    try:
        yield
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not a sound OpenStreetMap extract (it holds text that is not UTF-8); download it again"
        ) from error
    # Osmium's own complaints; numbers and ids that no map has; shapes that are none.
    except (
        RuntimeError, ValueError, OverflowError, InvalidLocationError, ShapelyError, sqlite3.IntegrityError,
    ) as error:  # fmt: skip
        why = one_line(" ".join(str(error).split()))[:200]
        raise BadInput(f"{path} is not a sound OpenStreetMap extract ({why}); download it again") from error


def _point_wkb(lat: float, lon: float) -> bytes:
    from struct import pack

    return pack("<BIdd", 1, 1, lon, lat)


def _line_wkb(lons: list[float], lats: list[float]) -> bytes:
    from struct import pack

    flat: list[Any] = [part for at in zip(lons, lats, strict=True) for part in at]
    return pack(f"<BII{len(flat)}d", 1, 2, len(lons), *flat)
