"""Take in region files: those of another machine as they are, those that earlier versions wrote converted."""

import sqlite3
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import shapely

from geosleuth.atlas.folders import open_readonly
from geosleuth.errors import BadFile

from .geometry import E7, pack
from .region_file import (
    APPLICATION_ID,
    FEATURE_BLOCK,
    FORMAT_VERSION,
    HAS_GROUND,
    SUFFIX,
    Progress,
    check_readable,
    new_database,
    no_progress,
    region_name,
    spot_blocks,
)
from .region_store import EARLIER_FORMATS, RegionInfo, RegionStore
from .region_writer import FeatureRow, RegionWriter, writing

_COUNTED: Final = frozenset({"format", "features", "names", "streets", "addresses", "junctions", "shapes"})
_FEATURES: Final = "SELECT id, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags FROM feature"
_BATCH: Final = 2_000


def convert_region(
    path: Path, name: str | None = None, *, folder: Path, progress: Progress | None = None
) -> RegionInfo:
    """Copy a region's file, or convert one of an earlier version; a region of the same name is replaced when done.

    Raises:
        BadInput: it is no region file, or it is damaged; nothing has been changed then.
    """
    check_readable(path)
    region = region_name(name or path.name.removesuffix(SUFFIX), path)
    report = progress or no_progress
    try:
        with closing(open_readonly(path)) as old:
            meta: dict[str, str] = {}
            if old.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                meta = dict(old.execute("SELECT key, value FROM meta"))
            if meta.get("format") not in (FORMAT_VERSION, *EARLIER_FORMATS) or "kinds" in meta:
                raise BadFile(path, "is no region file that this version reads")
            if meta["format"] == FORMAT_VERSION:
                _copy_whole(old, path, folder, region, report)
                return RegionStore(folder).info(region)
            if meta["format"] == _WITHOUT_BLOCKS:
                _add_blocks(old, folder, region, report)
                return RegionStore(folder).info(region)
            with writing(folder, region) as writer:
                _copy(old, writer, int(meta["features"]), report)
                writer.counts["streets"] = int(meta["streets"])
                kept = {key: value for key, value in meta.items() if key not in _COUNTED}
                writer.finish({**kept, "name": region})
                report("indexing", 1, 1)
    except (sqlite3.DatabaseError, shapely.errors.ShapelyError, msgspec.MsgspecError, LookupError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise BadFile(path, f"is damaged ({why})", "add its extract again") from error
    return RegionStore(folder).info(region)


def _copy_whole(old: sqlite3.Connection, path: Path, folder: Path, region: str, report: Progress) -> None:
    """Copy a file of this version that is sound as far as opening it, and SQLite, can tell.

    Raises:
        BadInput, ValueError: it is damaged.
    """
    RegionStore(path.parent).info(path.name.removesuffix(SUFFIX))
    report("checking", 0, 1)
    (said,) = old.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise ValueError(said)
    with new_database(folder, region) as new:
        old.backup(new, pages=_PAGES, progress=lambda _, left, total: report("copying", total - left, total))
        new.execute("UPDATE meta SET value = ? WHERE key = 'name'", (region,))


_PAGES: Final = 10_000
_WITHOUT_BLOCKS: Final = "3"
_SPOTS: Final = """
SELECT f.lat, f.lon, f.kind, f.box, g.feature IS NOT NULL FROM feature f LEFT JOIN ground g ON g.feature = f.id
ORDER BY f.id
"""


def _add_blocks(old: sqlite3.Connection, folder: Path, region: str, report: Progress) -> None:
    """Copy a file that lacks nothing but ``feature_block``."""
    with new_database(folder, region) as new:
        old.backup(new)
        new.execute("BEGIN")
        new.execute("CREATE TABLE feature_block (block INTEGER PRIMARY KEY, spots BLOB NOT NULL)")
        (total,) = new.execute("SELECT count(*) FROM feature").fetchone()
        rows, first = old.execute(_SPOTS), 0
        while batch := rows.fetchmany(FEATURE_BLOCK * 1000):
            lats, lons, kinds, edges, flags = zip(*batch, strict=True)
            boxes = np.array([(lat, lon, lat, lon) for lat, lon in zip(lats, lons, strict=True)], dtype=np.int64)
            wide = [at for at, box in enumerate(edges) if box is not None]
            boxes[wide] = np.frombuffer(b"".join(edges[at] for at in wide), dtype="<i4").reshape(-1, 4)
            columns = (np.array(lats, "<i4"), np.array(lons, "<i4"), np.array(kinds, "<u2"))
            blocks = spot_blocks(first, *columns, boxes, np.array(flags, dtype=np.uint8) * HAS_GROUND)
            new.executemany("INSERT INTO feature_block VALUES (?, ?)", blocks)
            first += len(batch)
            report("reading", first, total)
        new.executemany("UPDATE meta SET value = ? WHERE key = ?", [(FORMAT_VERSION, "format"), (region, "name")])
    report("indexing", 1, 1)


def _copy(old: sqlite3.Connection, writer: RegionWriter, total: int, report: Progress) -> None:
    names = _of_owners(old, "SELECT owner, text, min(role) FROM name GROUP BY owner, text ORDER BY owner, min(role)")
    grounds = _of_owners(old, "SELECT street, geom FROM street_way UNION ALL SELECT feature, geom FROM area ORDER BY 1")
    for done, row in enumerate(old.execute(f"{_FEATURES} ORDER BY id"), start=1):
        number, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags = row
        called = [(text, role) for _, text, role in names(number)]
        shapes = shapely.from_wkb([geom for _, geom in grounds(number)])
        drawn = shapes[0] if len(shapes) == 1 else shapely.multilinestrings(shapes) if len(shapes) else None
        ground = None if drawn is None else pack([drawn])[0]
        bounds = (south, west, north, east)
        feature = FeatureRow(osm, name, kind, (lat, lon), bounds, rank, address, tags, called, ground)
        # A street has no house number of its own.
        told = {} if kind.startswith("highway=") and ground else msgspec.json.decode(tags, type=dict[str, str])
        writer.add_feature(feature, told)
        if done % _BATCH == 0:
            report("reading", done, total)
    for layer, rank, label, geom in old.execute("SELECT layer, rank, name, geom FROM shape"):
        writer.add_shape(layer, rank, label, shapely.from_wkb(geom))
    report("reading", total, total)
    _copy_junctions(old, writer)


def _copy_junctions(old: sqlite3.Connection, writer: RegionWriter) -> None:
    streets = _of_owners(old, "SELECT junction, street FROM junction_street ORDER BY junction, street")
    for number, lat, lon in old.execute("SELECT id, lat, lon FROM junction ORDER BY id"):
        called = "\n".join(street for _, street in streets(number))
        writer.conn.execute(
            "INSERT INTO junction VALUES (?, ?, ?, ?)", (number, round(lat * E7), round(lon * E7), called)
        )
        writer.counts["junctions"] += 1
    rows = old.execute("SELECT DISTINCT street_key, junction FROM junction_street ORDER BY street_key, junction")
    for key, same in groupby(rows, key=itemgetter(0)):
        nodes = np.array([junction for _, junction in same], dtype="<i8").tobytes()
        writer.conn.execute("INSERT INTO junction_street VALUES (?, ?)", (key, nodes))


def _of_owners(old: sqlite3.Connection, query: str) -> Any:
    """A function that gives the rows of one owner after the other, in ascending order."""
    groups = groupby(old.execute(query), key=itemgetter(0))
    waiting: list[tuple[int, list[Any]]] = []

    def rows(owner: int) -> list[Any]:
        while not waiting or waiting[0][0] < owner:
            waiting.clear()
            number, same = next(groups, (1 << 62, iter(())))
            waiting.append((number, list(same)))
        return waiting[0][1] if waiting[0][0] == owner else []

    return rows
