"""Import an OpenStreetMap extract: several processes read its blocks, this one collects and writes.

First all nodes, whose positions go to files, and all relations; then ways; then the areas and routes that relations
are; then streets and rivers are put together from their many ways. Memory does not grow with the extract.
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

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.atlas.search import distinct
from geosleuth.errors import BadFile, BadInput
from geosleuth.text.safe import one_line

from .extract import (
    NodeFile,
    NodeIndex,
    Relation,
    Rows,
    StreetNodes,
    among,
    merge_streets,
    piece_of,
    read_block,
    read_nodes,
    read_relations,
    read_ways,
)
from .geometry import E7, pack
from .pbf import Blob, DamagedData, Ints, UnsupportedPbf, blobs, starts_of
from .region_file import FORMAT_VERSION, Progress, check_readable, digest_of, import_folder, no_progress, region_name
from .region_store import RegionInfo, RegionStore
from .region_writer import RegionWriter, Staged, open_writer_in
from .runs import Row
from .workers import WorkerPool, worker_pool

ODBL: Final = "ODbL-1.0"
ATTRIBUTION: Final = "© OpenStreetMap contributors"
_ALONE_BYTES: Final = 4_000_000  # a smaller extract is read before other processes have started
_RESUMED_BYTES: Final = 60_000_000  # takes more than a minute on most machines
_PART_BYTES: Final = 1_500_000
_PIECES: Final = 2_000
_MEMBERS: Final = 20_000
_WAITING: Final = 1_000_000
_JUNCTION_NODES: Final = 20_000_000


class LineMerger:
    """Puts streets together for a writer whose pieces come one by one."""

    def __init__(self, writer: RegionWriter) -> None:
        """Pieces are kept in the writer's own scratch space."""
        self._writer = writer
        self._work = writer.work
        self._nodes = StreetNodes()
        self._pieces: list[Row] = []

    def add(self, way: int, tags: Mapping[str, str], positions: Sequence[tuple[int, float, float]]) -> None:
        """Take in one way; positions are (node, lat, lon)."""
        line = shapely.LineString([(lon, lat) for _, lat, lon in positions])
        piece = piece_of(way, tags, pack([line])[0])
        if piece is not None:
            self._pieces.append(piece)
            at = np.rint(np.array([(lon, lat) for _, lat, lon in positions]) * E7).astype(np.int64)
            self._nodes.add(piece, tags, np.array([node for node, _, _ in positions], dtype=np.int64), at)

    def finish(self, report: Progress) -> None:
        """Write the merged lines and the junctions."""
        _add(self._writer, Rows(pieces=self._pieces, street_nodes=list(self._nodes.rows())))
        for staged in _join_streets(self._writer, WorkerPool(), self._work, report):
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
    """Add an extract (.osm.pbf, or .osm, .osm.bz2, .osm.gz) as a region; one of the same name is replaced when done.

    ``origin`` is what the region's record says of where the file is from: see ``META_KEYS``.

    Raises:
        BadInput: the file is missing or is not a sound extract; nothing has been changed then.
    """
    region = region_name(name, path)
    report = progress or no_progress
    check_readable(path)
    digest = digest_of(path, report)
    meta = {
        "name": region, "kind": "osm", "source": path.name, "sha256": digest, "licence": ODBL,
        "attribution": ATTRIBUTION, **(origin or {}),
    }  # fmt: skip
    was_there = folder.exists()
    try:
        with _explained(path, folder):
            try:
                if path.suffix.lower() != ".pbf":
                    raise UnsupportedPbf("another format")
                _import(path, folder, meta, report)
            except UnsupportedPbf:
                with _rewritten(path) as copy:
                    _import(copy, folder, meta, report)
    except BaseException:
        if not was_there:
            with suppress(OSError):
                folder.rmdir()
        raise
    return RegionStore(folder).info(region)


def _import(path: Path, folder: Path, meta: Mapping[str, str], report: Progress) -> None:
    parts = _parts(list(blobs(path)))
    cores = 0 if path.stat().st_size < _ALONE_BYTES else min(4, os.cpu_count() or 1)
    about = _header(path)
    resumed = path.stat().st_size >= _RESUMED_BYTES
    plan = f"{meta['sha256'][:20]}-{FORMAT_VERSION}-{len(parts)}"
    with (
        import_folder(folder, meta["name"], plan if resumed else None) as work,
        open_writer_in(folder, meta["name"], work, journal="TRUNCATE" if resumed else "OFF") as writer,
        worker_pool(cores) as pool,
    ):
        _Import(path, writer, pool, work, report).run(parts)
        report("indexing", 0, 1)
        writer.finish({**meta, **about}, pool)
        report("indexing", 1, 1)


def _parts(found: Sequence[Blob]) -> list[list[Blob]]:
    """Blocks in portions that are worth handing to another process."""
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
    """One extract on its way into a region file."""

    def __init__(self, path: Path, writer: RegionWriter, pool: WorkerPool, scratch: Path, report: Progress) -> None:
        self._path, self._writer, self._pool, self._scratch, self._report = path, writer, pool, scratch, report
        self._objects = 0

    def run(self, parts: Sequence[Sequence[Blob]]) -> None:
        """Read everything.

        Raises:
            BadInput: there is nothing in it.
        """
        files, way_parts = self._read_nodes(parts)
        edges, extents = _members(self._relations())
        np.save(self._scratch / "edges.npy", edges)
        np.save(self._scratch / "extents.npy", extents)
        self._read_ways(files, way_parts, len(parts))
        _INDEXES.clear()
        if not self._objects:
            raise BadFile(self._path, "holds no tagged OpenStreetMap objects", "is it the right file?")
        self._read_relations(files)
        self._report("reading", len(parts), len(parts))
        joined = self._done("streets")
        if joined:
            self._writer.counts["streets"], staged = joined[0]
        else:
            staged = _join_streets(self._writer, self._pool, self._scratch, self._report)
            self._commit("streets 0", (self._writer.counts["streets"], staged))
        for one in staged:
            self._writer.add_staged(one)
        _write_junctions(self._writer)
        self._report("joining streets", 1, 1)

    def _relations(self) -> Iterator[list[Relation]]:
        """The relations of each part; all together might not fit into memory."""
        for (packed,) in self._writer.stage.execute("SELECT relations FROM relation ORDER BY part").fetchall():
            yield pickle.loads(packed)  # noqa: S301  # what this process, or one killed before it, wrote

    def _read_nodes(self, parts: Sequence[Sequence[Blob]]) -> tuple[list[NodeFile], list[list[Blob]]]:
        files: list[NodeFile] = []
        way_parts: list[list[Blob]] = []
        known = self._done("nodes")
        jobs = [
            partial(read_nodes, self._path, part, self._scratch / f"nodes{at}")
            for at, part in enumerate(parts)
            if at not in known
        ]
        fresh = self._pool.run_all(jobs)
        for at in range(len(parts)):
            if at in known:
                objects, staged, nodes, later = known[at]
                self._objects += objects
                self._writer.add_staged(staged)
            else:
                rows, nodes, later, relations = next(fresh)
                self._take(rows)
                if relations:
                    self._writer.stage.execute("INSERT INTO relation VALUES (?, ?)", (at, relations))
                self._commit(f"nodes {at}", (rows.objects, rows.staged, nodes, later))
            if nodes is not None:
                files.append(nodes)
            if later:
                way_parts.append([parts[at][number] for number in later])
            self._report("checking", at + 1, len(parts))
        return files, way_parts

    def _read_ways(self, files: Sequence[NodeFile], way_parts: Sequence[Sequence[Blob]], total: int) -> None:
        known = self._done("ways")
        jobs = [
            partial(_ways_of, self._path, part, files, self._scratch / f"ways{at}")
            for at, part in enumerate(way_parts)
            if at not in known
        ]
        fresh = self._pool.run_all(jobs)
        for at in range(len(way_parts)):
            if at in known:
                objects, staged = known[at]
                self._objects += objects
                self._writer.add_staged(staged)
            else:
                rows = next(fresh)
                self._take(rows)
                self._commit(f"ways {at}", (rows.objects, rows.staged))
            self._report("reading", total * (at + 1) // (len(way_parts) + 1), total)

    def _read_relations(self, files: Sequence[NodeFile]) -> None:
        done = self._done("relations")
        for staged in done.get(0, ()):
            self._writer.add_staged(staged)
        if done:
            return
        found = self._writer.stage.execute("SELECT id FROM member ORDER BY id")
        present = np.fromiter((number for (number,) in found), dtype=np.int64)
        index = NodeIndex(files)

        def jobs() -> Iterator[Callable[[], Rows]]:
            waiting: list[tuple[int, dict[str, str], list[bytes], Ints]] = []
            held = 0
            stores = (self._scratch / f"relations{number}" for number in count())
            for relations in self._relations():
                for one, spots in zip(relations, _spots(relations, index), strict=True):
                    known = among(one.ways, present)
                    edges, boxes = self._member_lines(one.ways[known])
                    whole = one.is_area and known.all() and None not in edges
                    boxes = np.concatenate([spots, boxes])
                    waiting.append((one.number, one.tags, edges if whole else [], boxes))  # type: ignore[arg-type]
                    held += len(edges) + 10
                    if held > _MEMBERS:
                        yield partial(read_relations, waiting, next(stores))
                        waiting, held = [], 0
            yield partial(read_relations, waiting, next(stores))

        taken = []
        for rows in self._pool.run_all(jobs()):
            self._take(rows)
            taken.append(rows.staged)
        self._commit("relations 0", taken)

    def _done(self, what: str) -> dict[int, Any]:
        """The parts that an earlier import was done with before it was killed, with their results."""
        rows = self._writer.stage.execute("SELECT part, result FROM done WHERE part LIKE ?", (f"{what} %",))
        return {int(part.partition(" ")[2]): pickle.loads(result) for part, result in rows}  # noqa: S301  # our own

    def _commit(self, part: str, result: object) -> None:
        self._writer.stage.execute("INSERT INTO done VALUES (?, ?)", (part, pickle.dumps(result)))
        self._writer.commit()

    def _member_lines(self, ways: Ints) -> tuple[list[bytes | None], Ints]:
        rows = rows_with(self._writer.stage, "SELECT id, geom, box FROM member WHERE id", ways.tolist())
        found: dict[int, tuple[bytes | None, bytes]] = {number: (geom, box) for number, geom, box in rows}
        each = [found[number] for number in ways.tolist()]
        boxes = np.frombuffer(b"".join(box for _, box in each), dtype="<i4").reshape(-1, 4).astype(np.int64)
        return [geom for geom, _ in each], boxes

    def _take(self, rows: Rows) -> None:
        self._objects += rows.objects
        _add(self._writer, rows)


def _add(writer: RegionWriter, rows: Rows) -> None:
    if rows.staged is not None:
        writer.add_staged(rows.staged)
    insert = writer.stage.executemany
    insert("INSERT INTO piece VALUES (?, ?, ?, ?, ?)", rows.pieces)
    insert("INSERT INTO street_node VALUES (?, ?, ?, ?)", rows.street_nodes)
    insert("INSERT OR IGNORE INTO member VALUES (?, ?, ?)", rows.members)


_INDEXES: dict[Path, tuple[NodeIndex, tuple[Ints, Ints]]] = {}


def _ways_of(path: Path, part: Sequence[Blob], files: Sequence[NodeFile], store: Path) -> Rows:
    """`read_ways` with what one process needs for all its portions, which it opens once."""
    scratch = store.parent
    known = _INDEXES.get(scratch)
    if known is None:
        members = (np.load(scratch / "edges.npy"), np.load(scratch / "extents.npy"))
        _INDEXES.clear()
        known = _INDEXES[scratch] = (NodeIndex(files), members)
    return read_ways(path, part, *known, store)


def _members(parts: Iterator[list[Relation]]) -> tuple[Ints, Ints]:
    """Ways of which the course is needed, and those of which only the extent is."""
    edges, extents = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for relations in parts:
        for one in relations:
            (edges if one.is_area else extents).append(one.ways)
        edges, extents = _compacted(edges), _compacted(extents)
    return distinct(np.concatenate(edges)), distinct(np.concatenate(extents))


def _compacted(parts: list[Ints]) -> list[Ints]:
    """The same numbers, each once where many have been added: each is sorted a few times, however many there are."""
    added = sum(map(len, parts)) - len(parts[0])
    return parts if added < max(len(parts[0]), _WAITING) else [distinct(np.concatenate(parts))]


def _spots(relations: Sequence[Relation], index: NodeIndex) -> list[Ints]:
    """For each relation, the boxes of its nodes that are in the extract."""
    counts = np.array([len(one.nodes) for one in relations], dtype=np.int64)
    lats, lons = index.positions(np.concatenate([np.empty(0, dtype=np.int64), *(one.nodes for one in relations)]))
    boxes = np.column_stack([lats, lons, lats, lons])
    there = (lats <= 90 * E7) & (lons <= 180 * E7)
    cuts = starts_of(counts).tolist()
    return [boxes[a:b][there[a:b]] for a, b in pairwise(cuts)]


def _join_streets(writer: RegionWriter, pool: WorkerPool, folder: Path, report: Progress) -> list[Staged]:
    """Put pieces of one name together to streets, rivers and railways, which are staged in a folder."""
    (total,) = writer.stage.execute("SELECT count(*) FROM piece").fetchone()
    report("joining streets", 0, max(total, 1))

    def jobs() -> Iterator[Callable[[], tuple[Rows, int]]]:
        rows = writer.stage.execute("SELECT street, way, kind, tags, geom FROM piece ORDER BY street, way")
        waiting: list[list[Row]] = []
        held = 0
        stores = (folder / f"streets{number}" for number in count())
        for _, same in groupby(rows, key=itemgetter(0)):
            waiting.append(list(same))
            held += len(waiting[-1])
            if held >= _PIECES:
                yield partial(merge_streets, waiting, next(stores))
                waiting, held = [], 0
        if waiting:
            yield partial(merge_streets, waiting, next(stores))

    taken = []
    for rows, streets in pool.run_all(jobs()):
        if rows.staged is not None:
            taken.append(rows.staged)
        writer.counts["streets"] += streets
    report("joining streets", max(total, 1), max(total, 1))
    return taken


def _write_junctions(writer: RegionWriter) -> None:
    """Nodes that two or more differently named streets share."""
    keys: dict[str, int] = {}
    names: list[str] = []
    (total,) = writer.stage.execute("SELECT total(length(nodes)) / 8 FROM street_node").fetchone()
    shares = 1 + int(total) // _JUNCTION_NODES
    met: dict[int, list[Ints]] = {}
    for share in range(shares):  # a share of the nodes at a time, so that memory stays bounded
        parts = []
        for told, of, nodes, at in writer.stage.execute("SELECT keys, of_key, nodes, positions FROM street_node"):
            numbers = []
            for key, name in json.loads(told):
                if key not in keys:
                    keys[key] = len(keys)
                    names.append(name)
                numbers.append(keys[key])
            some = np.frombuffer(nodes, dtype="<i8")
            chosen = np.flatnonzero(some % shares == share)
            of_key = np.array(numbers)[np.frombuffer(of, dtype="<u4")[chosen]]
            parts.append(np.column_stack([some[chosen], of_key, np.frombuffer(at, "<i4").reshape(-1, 2)[chosen]]))
        if not parts:
            return
        rows = np.concatenate(parts)
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        rows = rows[np.concatenate([[True], (rows[1:, :2] != rows[:-1, :2]).any(axis=1)])[: len(rows)]]
        nodes, first, count = np.unique(rows[:, 0], return_index=True, return_counts=True)
        shared = np.flatnonzero(count > 1)
        writer.counts["junctions"] += len(shared)
        writer.conn.executemany(
            "INSERT INTO junction VALUES (?, ?, ?, ?)", _junctions(rows, names, nodes, first, count)
        )
        at = rows[np.repeat(count > 1, count)]
        for key, same in groupby(at[np.argsort(at[:, 1], kind="stable")][:, :2].tolist(), key=itemgetter(1)):
            met.setdefault(key, []).append(np.array([node for node, _ in same], dtype="<i8"))
    by_number = list(keys)
    writer.conn.executemany(
        "INSERT INTO junction_street VALUES (?, ?)",
        sorted((by_number[key], np.sort(np.concatenate(nodes)).tobytes()) for key, nodes in met.items()),
    )


def _junctions(rows: Ints, names: Sequence[str], nodes: Ints, first: Ints, count: Ints) -> Iterator[Row]:
    for at in np.flatnonzero(count > 1).tolist():
        begin, end = int(first[at]), int(first[at] + count[at])
        streets = "\n".join(sorted(names[key] for key in rows[begin:end, 1].tolist()))
        yield int(nodes[at]), int(rows[begin, 3]), int(rows[begin, 2]), streets


@contextmanager
def _rewritten(path: Path) -> Iterator[Path]:
    """A copy of an extract, written by osmium as most are."""
    import osmium

    if path.suffix.lower() == ".pbf":
        for blob in blobs(path):
            # Osmium keeps texts that end with a NUL byte: one within a text makes it read past the end of its memory.
            with suppress(UnsupportedPbf):
                _ = read_block(path, blob).texts
    with TemporaryDirectory(prefix="geosleuth-") as folder:
        copy = Path(folder) / "copy.osm.pbf"
        with osmium.io.Reader(str(path)) as reader, osmium.SimpleWriter(str(copy)) as written:
            osmium.apply(reader, written)
        yield copy


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
def _explained(path: Path, folder: Path) -> Iterator[None]:
    """Whatever a damaged file or a full disk leads to, as one line for the person who gave it."""
    from osmium import InvalidLocationError

    try:
        yield
    except UnicodeDecodeError as error:
        why = "it holds text that is not UTF-8"
        raise BadFile(path, f"is not a sound OpenStreetMap extract ({why})", "download it again") from error
    except OSError as error:
        raise BadInput(f"{path.name} can't be imported into {folder} ({error.strerror or error})") from error
    # Osmium's own complaints and ours; numbers and ids that no map has; shapes that are none.
    except (
        DamagedData, UnsupportedPbf, RuntimeError, ValueError, OverflowError, IndexError, InvalidLocationError,
        shapely.errors.ShapelyError, sqlite3.IntegrityError,
    ) as error:  # fmt: skip
        if isinstance(error, BrokenProcessPool):
            raise
        why = one_line(" ".join(str(error).split()))[:200]
        raise BadFile(path, f"is not a sound OpenStreetMap extract ({why})", "download it again") from error
