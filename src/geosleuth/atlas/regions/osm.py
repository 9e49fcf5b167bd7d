"""Importing an OpenStreetMap extract: the file is streamed twice, once to check and count it, once to take it in."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from geosleuth.errors import BadInput
from geosleuth.text import one_line

from .files import check_readable, digest_of
from .kinds import ADDRESS, is_area, kind_of, rank_of
from .lines import LineMerger, is_merged
from .shapes import area_layer, line_layer, point_layer
from .store import RegionInfo, RegionStore
from .tags import address_line, address_of, has_name, house_number, index_names, kept_tags, main_name
from .writer import FeatureRow, Progress, RegionWriter, region_name, writing

if TYPE_CHECKING:
    from osmium.osm import Area, Node, Relation, Way

ODBL: Final = "ODbL-1.0"
ATTRIBUTION: Final = "© OpenStreetMap contributors"
_IN_MEMORY_BYTES: Final = 300_000_000  # a larger extract keeps node positions in a file: 16 bytes a node add up
_REPORT_EVERY: Final = 2_000
_BATCH: Final = 2_000
Box = tuple[float, float, float, float]  # south, west, north, east


@dataclass(slots=True)
class _Survey:
    """What the first pass learns: the file is sound, how much there is, and which members will need a position."""

    objects: int = 0
    member_ways: set[int] = field(default_factory=set)
    member_nodes: set[int] = field(default_factory=set)


def import_osm(path: Path, name: str | None = None, *, folder: Path, progress: Progress | None = None) -> RegionInfo:
    """Add an extract (.osm.pbf, or .osm, .osm.bz2, .osm.gz) as a region; one of the same name is replaced when done.

    Raises:
        BadInput: the file is missing or is not a sound extract; nothing has been changed then.
    """
    region = region_name(name, path)
    report = progress or _quiet
    check_readable(path)
    digest = digest_of(path, report)
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
        if len(self._waiting) >= _BATCH:
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
    from shapely.errors import ShapelyError

    try:
        yield
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not a sound OpenStreetMap extract (it holds text that is not UTF-8); download it again"
        ) from error
    # Osmium's own complaints; numbers and ids that no map has; shapes that are none.
    except (RuntimeError, ValueError, OverflowError, ShapelyError, sqlite3.IntegrityError) as error:
        why = one_line(" ".join(str(error).split()))[:200]
        raise BadInput(f"{path} is not a sound OpenStreetMap extract ({why}); download it again") from error


def _quiet(_what: str, _done: int, _total: int) -> None:
    return None


def _point_wkb(lat: float, lon: float) -> bytes:
    from struct import pack

    return pack("<BIdd", 1, 1, lon, lat)


def _line_wkb(lons: list[float], lats: list[float]) -> bytes:
    from struct import pack

    flat: list[Any] = [part for at in zip(lons, lats, strict=True) for part in at]
    return pack(f"<BII{len(flat)}d", 1, 2, len(lons), *flat)
