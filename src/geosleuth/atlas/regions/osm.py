"""Import an OpenStreetMap extract: worker processes read its blocks (`extract`), this process writes the region.

1. Nodes and relations: node positions go to files, relations to the staging database.
2. Ways, which need node positions.
3. Relations, which need ways: areas, routes, sites.
4. Streets, rivers and railways are merged from their ways.
5. Junctions: nodes that streets share.

Memory does not grow with the extract. The import of a large extract commits after each part; if it is interrupted, the
next import of the same file resumes from there.
"""

import json
import os
import pickle
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import shapely

from geosleuth import __version__
from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.atlas.search import distinct
from geosleuth.support.errors import BadFile, BadInput
from geosleuth.support.text.safe import one_line

from .extract import (
    NodeFile,
    NodeIndex,
    Relation,
    Rows,
    StreetNodes,
    among,
    build_piece,
    merge_streets,
    read_block,
    read_nodes,
    read_relations,
    read_ways,
)
from .geometry import E7, pack
from .pbf import Blob, DamagedData, Ints, UnsupportedPbf, blobs, compute_starts
from .region_file import (
    FORMAT_VERSION,
    Progress,
    check_readable,
    compute_digest,
    import_folder,
    no_progress,
    region_name,
)
from .region_store import RegionInfo, RegionStore
from .region_writer import RegionWriter, StagedRuns, open_writer_inside
from .runs import Row
from .workers import JobPool, worker_pool

ODBL: Final = "ODbL-1.0"
ATTRIBUTION: Final = "© OpenStreetMap contributors"
_WORKERS_FROM_BYTES: Final = 4_000_000  # a smaller extract is read before workers have started
_RESUMABLE_FROM_BYTES: Final = 60_000_000  # takes more than a minute on most machines
_PART_BYTES: Final = 1_500_000
_PIECES_PER_JOB: Final = 2_000
_MEMBERS_PER_JOB: Final = 20_000
_UNSORTED_IDS: Final = 1_000_000
_NODES_AT_ONCE: Final = 20_000_000
_REMEDY: Final = "give an .osm.pbf file, or download it again"

_INDEXES: dict[Path, tuple[NodeIndex, tuple[Ints, Ints]]] = {}  # opened once by each process


class LineMerger:
    """Merges streets, rivers and railways from ways that are added one by one, without an extract."""

    def __init__(self, writer: RegionWriter) -> None:
        """Write to a region, and use the staging database and folder of its writer."""
        self._writer = writer
        self._work = writer.work
        self._nodes = StreetNodes()
        self._pieces: list[Row] = []

    def add(self, way: int, tags: Mapping[str, str], positions: Sequence[tuple[int, float, float]]) -> None:
        """Add a way; positions are (node, lat, lon)."""
        line = shapely.LineString([(lon, lat) for _, lat, lon in positions])
        piece = build_piece(way, tags, pack([line])[0])
        if piece is not None:
            self._pieces.append(piece)
            lon_lats = np.rint(np.array([(lon, lat) for _, lat, lon in positions]) * E7).astype(np.int64)
            self._nodes.add(piece, tags, np.array([node for node, _, _ in positions], dtype=np.int64), lon_lats)

    def finish(self, report: Progress) -> None:
        """Write the merged streets, rivers and railways, and the junctions."""
        _stage_rows(self._writer, Rows(pieces=self._pieces, street_nodes=list(self._nodes.rows())))
        for staged in _merge_all_streets(self._writer, JobPool(), self._work, report):
            self._writer.add_staged(staged)
        _write_junctions(self._writer)


def import_osm(
    path: Path,
    name: str | None = None,
    *,
    folder: Path,
    progress: Progress | None = None,
    origin: Mapping[str, str] | None = None,
) -> RegionInfo:
    """Import an extract (.osm.pbf, .osm, .osm.bz2 or .osm.gz); it replaces a region of the same name.

    ``origin`` holds metadata about the source of the file: see `geosleuth.atlas.regions.region_file`.

    Raises:
        BadInput: the file is missing or not a valid extract. No region has been changed.
    """
    region = region_name(name, path)
    report = progress or no_progress
    check_readable(path)
    digest = compute_digest(path, report)
    meta = {
        "name": region, "kind": "osm", "source": path.name, "sha256": digest, "licence": ODBL,
        "attribution": ATTRIBUTION, **(origin or {}),
    }  # fmt: skip
    was_there = folder.exists()
    try:
        with _errors_explained(path, folder):
            try:
                if path.suffix.lower() != ".pbf":
                    raise UnsupportedPbf("another format")
                _import(path, folder, meta, report)
            except UnsupportedPbf:
                with _rewrite_extract(path) as copy:
                    _import(copy, folder, meta, report)
    except BaseException:
        if not was_there:
            with suppress(OSError):
                folder.rmdir()
        raise
    return RegionStore(folder).info(region)


def _import(path: Path, folder: Path, meta: Mapping[str, str], report: Progress) -> None:
    parts = _group_blocks(list(blobs(path)))
    worker_count = 0 if path.stat().st_size < _WORKERS_FROM_BYTES else min(4, os.cpu_count() or 1)
    header = _header(path)
    resumable = path.stat().st_size >= _RESUMABLE_FROM_BYTES
    # Committed results are pickled objects of this version.
    plan = f"{meta['sha256'][:20]}-{__version__}-{FORMAT_VERSION}-{len(parts)}"
    with (
        import_folder(folder, meta["name"], plan if resumable else None) as work,
        open_writer_inside(folder, meta["name"], work, journal="TRUNCATE" if resumable else "OFF") as writer,
        worker_pool(worker_count) as pool,
    ):
        _Import(path, writer, pool, work, report).run(parts)
        report("indexing", 0, 1)
        writer.finish({**meta, **header}, pool)
        report("indexing", 1, 1)


def _group_blocks(found: Sequence[Blob]) -> list[list[Blob]]:
    """Group blocks into parts large enough to be a job for a worker."""
    parts: list[list[Blob]] = [[]]
    size = 0
    for blob in found:
        if size > _PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(blob)
        size += blob.size
    return parts


class _Import:
    """Import of an extract. Results of finished parts are kept in table ``done``, see `_load_committed`."""

    def __init__(self, path: Path, writer: RegionWriter, pool: JobPool, scratch: Path, report: Progress) -> None:
        self._path, self._writer, self._pool, self._scratch, self._report = path, writer, pool, scratch, report
        self._objects = 0

    def run(self, parts: Sequence[Sequence[Blob]]) -> None:
        """Read and stage everything but the indexes.

        Raises:
            BadInput: the extract has no tagged objects.
        """
        files, way_parts = self._read_nodes(parts)
        edges, extents = _member_ways(self._relations())
        np.save(self._scratch / "edges.npy", edges)
        np.save(self._scratch / "extents.npy", extents)
        self._read_ways(files, way_parts, len(parts))
        _INDEXES.clear()
        if not self._objects:
            raise BadFile(self._path, "holds no tagged OpenStreetMap objects", "is it the right file?")
        self._read_relations(files)
        self._report("reading", len(parts), len(parts))
        merged = self._load_committed("streets")
        if merged:
            self._writer.counts["streets"], staged = merged[0]
        else:
            staged = _merge_all_streets(self._writer, self._pool, self._scratch, self._report)
            self._commit("streets 0", (self._writer.counts["streets"], staged))
        for runs in staged:
            self._writer.add_staged(runs)
        _write_junctions(self._writer)
        self._report("joining streets", 1, 1)

    def _relations(self) -> Iterator[list[Relation]]:
        """Yield the relations of each part; all of them might not fit into memory."""
        for (packed,) in self._writer.stage.execute("SELECT relations FROM relation ORDER BY part").fetchall():
            yield pickle.loads(packed)  # noqa: S301  # written by this import or an interrupted one

    def _read_nodes(self, parts: Sequence[Sequence[Blob]]) -> tuple[list[NodeFile], list[list[Blob]]]:
        """Read nodes and relations; return the files of node positions, and the blocks with ways in parts."""
        files: list[NodeFile] = []
        way_parts: list[list[Blob]] = []
        done = self._load_committed("nodes")
        jobs = [
            partial(read_nodes, self._path, part, self._scratch / f"nodes{at}")
            for at, part in enumerate(parts)
            if at not in done
        ]
        results = self._pool.run_all(jobs)
        for at in range(len(parts)):
            if at in done:
                objects, staged, nodes, way_blocks = done[at]
                self._objects += objects
                self._writer.add_staged(staged)
            else:
                rows, nodes, way_blocks, relations = next(results)
                self._add(rows)
                if relations:
                    self._writer.stage.execute("INSERT INTO relation VALUES (?, ?)", (at, relations))
                self._commit(f"nodes {at}", (rows.objects, rows.staged, nodes, way_blocks))
            if nodes is not None:
                files.append(nodes)
            if way_blocks:
                way_parts.append([parts[at][number] for number in way_blocks])
            self._report("checking", at + 1, len(parts))
        return files, way_parts

    def _read_ways(self, files: Sequence[NodeFile], way_parts: Sequence[Sequence[Blob]], total: int) -> None:
        done = self._load_committed("ways")
        jobs = [
            partial(_ways_of, self._path, part, files, self._scratch / f"ways{at}")
            for at, part in enumerate(way_parts)
            if at not in done
        ]
        results = self._pool.run_all(jobs)
        for at in range(len(way_parts)):
            if at in done:
                objects, staged = done[at]
                self._objects += objects
                self._writer.add_staged(staged)
            else:
                rows = next(results)
                self._add(rows)
                self._commit(f"ways {at}", (rows.objects, rows.staged))
            self._report("reading", total * (at + 1) // (len(way_parts) + 1), total)

    def _read_relations(self, files: Sequence[NodeFile]) -> None:
        done = self._load_committed("relations")
        for staged in done.get(0, ()):
            self._writer.add_staged(staged)
        if done:
            return
        members = self._writer.stage.execute("SELECT id FROM member ORDER BY id")
        present = np.fromiter((number for (number,) in members), dtype=np.int64)
        index = NodeIndex(files)

        def jobs() -> Iterator[Callable[[], Rows]]:
            waiting: list[tuple[int, dict[str, str], list[bytes], Ints]] = []
            size = 0
            stores = (self._scratch / f"relations{number}" for number in count())
            for relations in self._relations():
                for relation, node_boxes in zip(relations, _node_boxes(relations, index), strict=True):
                    known = among(relation.ways, present)
                    edges, boxes = self._member_lines(relation.ways[known])
                    complete = relation.is_area and known.all() and None not in edges
                    lines = edges if complete else []
                    boxes = np.concatenate([node_boxes, boxes])
                    waiting.append((relation.number, relation.tags, lines, boxes))  # type: ignore[arg-type]
                    size += len(edges) + 10
                    if size > _MEMBERS_PER_JOB:
                        yield partial(read_relations, waiting, next(stores))
                        waiting, size = [], 0
            yield partial(read_relations, waiting, next(stores))

        all_staged = []
        for rows in self._pool.run_all(jobs()):
            self._add(rows)
            all_staged.append(rows.staged)
        self._commit("relations 0", all_staged)

    def _load_committed(self, step: str) -> dict[int, Any]:
        """Return the results of the parts of a step that an interrupted import had committed, by part."""
        rows = self._writer.stage.execute("SELECT part, result FROM done WHERE part LIKE ?", (f"{step} %",))
        return {int(part.partition(" ")[2]): pickle.loads(result) for part, result in rows}  # noqa: S301  # our own

    def _commit(self, part: str, result: object) -> None:
        self._writer.stage.execute("INSERT INTO done VALUES (?, ?)", (part, pickle.dumps(result)))
        self._writer.commit()

    def _member_lines(self, ways: Ints) -> tuple[list[bytes | None], Ints]:
        """Return the packed lines and the boxes of some member ways, in their order."""
        rows = select_rows(self._writer.stage, "SELECT id, geom, box FROM member WHERE id", ways.tolist())
        found: dict[int, tuple[bytes | None, bytes]] = {number: (geom, box) for number, geom, box in rows}
        each = [found[number] for number in ways.tolist()]
        boxes = np.frombuffer(b"".join(box for _, box in each), dtype="<i4").reshape(-1, 4).astype(np.int64)
        return [geom for geom, _ in each], boxes

    def _add(self, rows: Rows) -> None:
        self._objects += rows.objects
        _stage_rows(self._writer, rows)


def _stage_rows(writer: RegionWriter, rows: Rows) -> None:
    if rows.staged is not None:
        writer.add_staged(rows.staged)
    insert = writer.stage.executemany
    insert("INSERT INTO piece VALUES (?, ?, ?, ?, ?)", rows.pieces)
    insert("INSERT INTO street_node VALUES (?, ?, ?, ?)", rows.street_nodes)
    insert("INSERT OR IGNORE INTO member VALUES (?, ?, ?)", rows.members)


def _ways_of(path: Path, part: Sequence[Blob], files: Sequence[NodeFile], store: Path) -> Rows:
    """Run `read_ways` with the node index and member lists of this process."""
    scratch = store.parent
    index = _INDEXES.get(scratch)
    if index is None:
        members = (np.load(scratch / "edges.npy"), np.load(scratch / "extents.npy"))
        _INDEXES.clear()
        index = _INDEXES[scratch] = (NodeIndex(files), members)
    return read_ways(path, part, *index, store)


def _member_ways(parts: Iterator[list[Relation]]) -> tuple[Ints, Ints]:
    """Return the ids of ways that bound areas, and of other members, whose bounding box suffices."""
    edges, extents = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for relations in parts:
        for relation in relations:
            (edges if relation.is_area else extents).append(relation.ways)
        edges, extents = _drop_duplicates(edges), _drop_duplicates(extents)
    return distinct(np.concatenate(edges)), distinct(np.concatenate(extents))


def _drop_duplicates(parts: list[Ints]) -> list[Ints]:
    """Drop duplicates if many numbers have been added; the threshold doubles, so each is sorted only a few times."""
    added = sum(map(len, parts)) - len(parts[0])
    return parts if added < max(len(parts[0]), _UNSORTED_IDS) else [distinct(np.concatenate(parts))]


def _node_boxes(relations: Sequence[Relation], index: NodeIndex) -> list[Ints]:
    """Return for each relation the boxes (single points) of its member nodes that are in the extract."""
    counts = np.array([len(relation.nodes) for relation in relations], dtype=np.int64)
    nodes = np.concatenate([np.empty(0, dtype=np.int64), *(relation.nodes for relation in relations)])
    lats, lons = index.positions(nodes)
    boxes = np.column_stack([lats, lons, lats, lons])
    there = (lats <= 90 * E7) & (lons <= 180 * E7)
    cuts = compute_starts(counts).tolist()
    return [boxes[a:b][there[a:b]] for a, b in pairwise(cuts)]


def _merge_all_streets(writer: RegionWriter, pool: JobPool, folder: Path, report: Progress) -> list[StagedRuns]:
    """Merge all pieces into streets, rivers and railways, and stage these in a folder."""
    (total,) = writer.stage.execute("SELECT count(*) FROM piece").fetchone()
    report("joining streets", 0, max(total, 1))

    def jobs() -> Iterator[Callable[[], tuple[Rows, int]]]:
        rows = writer.stage.execute("SELECT street, way, kind, tags, geom FROM piece ORDER BY street, way")
        waiting: list[list[Row]] = []
        size = 0
        stores = (folder / f"streets{number}" for number in count())
        for _, same_name in groupby(rows, key=itemgetter(0)):
            waiting.append(list(same_name))
            size += len(waiting[-1])
            if size >= _PIECES_PER_JOB:
                yield partial(merge_streets, waiting, next(stores))
                waiting, size = [], 0
        if waiting:
            yield partial(merge_streets, waiting, next(stores))

    all_staged = []
    for rows, streets in pool.run_all(jobs()):
        if rows.staged is not None:
            all_staged.append(rows.staged)
        writer.counts["streets"] += streets
    report("joining streets", max(total, 1), max(total, 1))
    return all_staged


def _write_junctions(writer: RegionWriter) -> None:
    keys: dict[str, int] = {}
    names: list[str] = []
    (total,) = writer.stage.execute("SELECT total(length(nodes)) / 8 FROM street_node").fetchone()
    shares = 1 + int(total) // _NODES_AT_ONCE
    junctions_of: dict[int, list[Ints]] = {}  # by street
    for share in range(shares):  # a share of the nodes at a time, so that memory stays bounded
        parts = []
        for packed_keys, packed_streets, packed_nodes, packed_positions in writer.stage.execute(
            "SELECT keys, of_key, nodes, positions FROM street_node"
        ):
            numbers = []
            for key, name in json.loads(packed_keys):
                if key not in keys:
                    keys[key] = len(keys)
                    names.append(name)
                numbers.append(keys[key])
            nodes = np.frombuffer(packed_nodes, dtype="<i8")
            chosen = np.flatnonzero(nodes % shares == share)
            streets = np.array(numbers)[np.frombuffer(packed_streets, dtype="<u4")[chosen]]
            lon_lats = np.frombuffer(packed_positions, "<i4").reshape(-1, 2)[chosen]
            parts.append(np.column_stack([nodes[chosen], streets, lon_lats]))
        if not parts:
            return
        table = np.concatenate(parts)  # node, street, lon, lat
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        table = table[np.concatenate([[True], (table[1:, :2] != table[:-1, :2]).any(axis=1)])[: len(table)]]
        nodes, first, count = np.unique(table[:, 0], return_index=True, return_counts=True)
        shared = np.flatnonzero(count > 1)
        writer.counts["junctions"] += len(shared)
        writer.conn.executemany(
            "INSERT INTO junction VALUES (?, ?, ?, ?)", _junctions(table, names, nodes, first, count)
        )
        met = table[np.repeat(count > 1, count)]
        for street, same in groupby(met[np.argsort(met[:, 1], kind="stable")][:, :2].tolist(), key=itemgetter(1)):
            junctions_of.setdefault(street, []).append(np.array([node for node, _ in same], dtype="<i8"))
    key_of = list(keys)
    writer.conn.executemany(
        "INSERT INTO junction_street VALUES (?, ?)",
        sorted((key_of[street], np.sort(np.concatenate(parts)).tobytes()) for street, parts in junctions_of.items()),
    )


def _junctions(rows: Ints, names: Sequence[str], nodes: Ints, first: Ints, count: Ints) -> Iterator[Row]:
    """Yield rows of table ``junction``; the rows of node n are ``rows[first[n] : first[n] + count[n]]``."""
    for at in np.flatnonzero(count > 1).tolist():
        begin, end = int(first[at]), int(first[at] + count[at])
        streets = "\n".join(sorted(names[key] for key in rows[begin:end, 1].tolist()))
        yield int(nodes[at]), int(rows[begin, 3]), int(rows[begin, 2]), streets


@contextmanager
def _rewrite_extract(path: Path) -> Iterator[Path]:
    import osmium

    if path.suffix.lower() == ".pbf":
        for blob in blobs(path):
            # A NUL byte inside a text makes osmium read beyond its memory; here, such a text raises an error.
            with suppress(UnsupportedPbf):
                _ = read_block(path, blob).texts
    with TemporaryDirectory(prefix="geosleuth-") as folder:
        copy = Path(folder) / "copy.osm.pbf"
        with osmium.io.Reader(str(path)) as reader, osmium.SimpleWriter(str(copy)) as written:
            osmium.apply(reader, written)
        yield copy


def _header(path: Path) -> dict[str, str]:
    """Return date and bounding box from the header of an extract, if it has them."""
    import osmium

    with osmium.io.Reader(str(path), osmium.osm.NOTHING) as reader:
        header = reader.header()
        found = {"data_date": header.get("osmosis_replication_timestamp") or header.get("timestamp")}
        box = header.box()
        if box.valid():
            low, high = box.bottom_left, box.top_right
            found["bbox"] = f"{low.lat:.7f},{low.lon:.7f},{high.lat:.7f},{high.lon:.7f}"
    return {key: value for key, value in found.items() if value}


@contextmanager
def _errors_explained(path: Path, folder: Path) -> Iterator[None]:
    """Turn the errors of a damaged file or a full disk into a one-line message for the user."""
    from osmium import InvalidLocationError

    try:
        yield
    except UnicodeDecodeError as error:
        why = "it holds text that is not UTF-8"
        raise BadFile(path, f"is not a sound OpenStreetMap extract ({why})", _REMEDY) from error
    except OSError as error:
        raise BadInput(f"{path.name} can't be imported into {folder} ({error.strerror or error})") from error
    # Errors of osmium and of this reader; ids and numbers out of range; invalid geometries.
    except (
        DamagedData, UnsupportedPbf, RuntimeError, ValueError, OverflowError, IndexError, InvalidLocationError,
        shapely.errors.ShapelyError, sqlite3.IntegrityError,
    ) as error:  # fmt: skip
        if isinstance(error, BrokenProcessPool):
            raise
        why = one_line(" ".join(str(error).split()))[:200].rstrip(".")
        raise BadFile(path, f"is not a sound OpenStreetMap extract ({why})", _REMEDY) from error
