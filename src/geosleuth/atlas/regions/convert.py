"""Add an existing region file: copy one of the current format, convert one of an earlier format.

- Format 4 (current): checked and copied.
- Format 3: lacks only table ``feature_block``, which is added to a copy.
- Format 2: has one row for each name, street way and shape; all rows are written again.
"""

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
from geosleuth.support.errors import BadFile

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
from .region_writer import FeatureRow, RegionWriter, open_writer

_RECOUNTED: Final = frozenset({"format", "features", "names", "streets", "addresses", "junctions", "shapes"})
_FEATURES_OF_FORMAT_2: Final = (
    "SELECT id, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags FROM feature"
)
_REPORT_EVERY: Final = 2_000

_PAGES_PER_STEP: Final = 10_000
_FORMAT_WITHOUT_BLOCKS: Final = "3"
_SPOTS: Final = """
SELECT f.lat, f.lon, f.kind, f.box, g.feature IS NOT NULL FROM feature f LEFT JOIN ground g ON g.feature = f.id
ORDER BY f.id
"""


def convert_region(
    path: Path, name: str | None = None, *, folder: Path, progress: Progress | None = None
) -> RegionInfo:
    """Copy a region file, or convert one of an earlier version; it replaces a region of the same name.

    Raises:
        BadInput: the file is not a region file, or damaged. No region has been changed.
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
                raise BadFile(path, "is not a region file that this version can read")
            if meta["format"] == FORMAT_VERSION:
                _copy_current(old, path, folder, region, report)
                return RegionStore(folder).info(region)
            if meta["format"] == _FORMAT_WITHOUT_BLOCKS:
                _copy_with_blocks(old, folder, region, report)
                return RegionStore(folder).info(region)
            with open_writer(folder, region) as writer:
                _write_again(old, writer, int(meta["features"]), report)
                writer.counts["streets"] = int(meta["streets"])
                kept = {key: value for key, value in meta.items() if key not in _RECOUNTED}
                writer.finish({**kept, "name": region})
                report("indexing", 1, 1)
    except (sqlite3.DatabaseError, shapely.errors.ShapelyError, msgspec.MsgspecError, LookupError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise BadFile(path, f"is damaged ({why})", "add its extract again") from error
    return RegionStore(folder).info(region)


def _copy_current(old: sqlite3.Connection, path: Path, folder: Path, region: str, report: Progress) -> None:
    """Check and copy a file of the current format.

    Raises:
        BadInput, ValueError: the file is damaged.
    """
    RegionStore(path.parent).info(path.name.removesuffix(SUFFIX))
    report("checking", 0, 1)
    (result,) = old.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise ValueError(result)
    with new_database(folder, region) as new:
        old.backup(new, pages=_PAGES_PER_STEP, progress=lambda _, left, total: report("copying", total - left, total))
        new.execute("UPDATE meta SET value = ? WHERE key = 'name'", (region,))


def _copy_with_blocks(old: sqlite3.Connection, folder: Path, region: str, report: Progress) -> None:
    """Copy a file of format 3 and add table ``feature_block``."""
    with new_database(folder, region) as new:
        old.backup(new)
        new.execute("BEGIN")
        new.execute("CREATE TABLE feature_block (block INTEGER PRIMARY KEY, spots BLOB NOT NULL)")
        (total,) = new.execute("SELECT count(*) FROM feature").fetchone()
        rows, first = old.execute(_SPOTS), 0
        while batch := rows.fetchmany(FEATURE_BLOCK * 1000):
            lats, lons, kinds, edges, flags = zip(*batch, strict=True)
            boxes = np.array([(lat, lon, lat, lon) for lat, lon in zip(lats, lons, strict=True)], dtype=np.int64)
            boxed = [at for at, box in enumerate(edges) if box is not None]
            boxes[boxed] = np.frombuffer(b"".join(edges[at] for at in boxed), dtype="<i4").reshape(-1, 4)
            columns = (np.array(lats, "<i4"), np.array(lons, "<i4"), np.array(kinds, "<u2"))
            blocks = spot_blocks(first, *columns, boxes, np.array(flags, dtype=np.uint8) * HAS_GROUND)
            new.executemany("INSERT INTO feature_block VALUES (?, ?)", blocks)
            first += len(batch)
            report("reading", first, total)
        new.executemany("UPDATE meta SET value = ? WHERE key = ?", [(FORMAT_VERSION, "format"), (region, "name")])
    report("indexing", 1, 1)


def _write_again(old: sqlite3.Connection, writer: RegionWriter, total: int, report: Progress) -> None:
    """Write all features, shapes and junctions of a file of format 2."""
    names = _rows_by_owner(
        old, "SELECT owner, text, min(role) FROM name GROUP BY owner, text ORDER BY owner, min(role)"
    )
    grounds = _rows_by_owner(
        old, "SELECT street, geom FROM street_way UNION ALL SELECT feature, geom FROM area ORDER BY 1"
    )
    for done, row in enumerate(old.execute(f"{_FEATURES_OF_FORMAT_2} ORDER BY id"), start=1):
        number, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags = row
        feature_names = [(text, role) for _, text, role in names(number)]
        shapes = shapely.from_wkb([geom for _, geom in grounds(number)])
        drawn = shapes[0] if len(shapes) == 1 else shapely.multilinestrings(shapes) if len(shapes) else None
        ground = None if drawn is None else pack([drawn])[0]
        bounds = (south, west, north, east)
        feature = FeatureRow(osm, name, kind, (lat, lon), bounds, rank, address, tags, feature_names, ground)
        # A street has no house number of its own.
        address_tags = {} if kind.startswith("highway=") and ground else msgspec.json.decode(tags, type=dict[str, str])
        writer.add_feature(feature, address_tags)
        if done % _REPORT_EVERY == 0:
            report("reading", done, total)
    for layer, rank, label, geom in old.execute("SELECT layer, rank, name, geom FROM shape"):
        writer.add_shape(layer, rank, label, shapely.from_wkb(geom))
    report("reading", total, total)
    _copy_junctions(old, writer)


def _copy_junctions(old: sqlite3.Connection, writer: RegionWriter) -> None:
    streets = _rows_by_owner(old, "SELECT junction, street FROM junction_street ORDER BY junction, street")
    for number, lat, lon in old.execute("SELECT id, lat, lon FROM junction ORDER BY id"):
        street_names = "\n".join(street for _, street in streets(number))
        writer.conn.execute(
            "INSERT INTO junction VALUES (?, ?, ?, ?)", (number, round(lat * E7), round(lon * E7), street_names)
        )
        writer.counts["junctions"] += 1
    rows = old.execute("SELECT DISTINCT street_key, junction FROM junction_street ORDER BY street_key, junction")
    for key, same in groupby(rows, key=itemgetter(0)):
        nodes = np.array([junction for _, junction in same], dtype="<i8").tobytes()
        writer.conn.execute("INSERT INTO junction_street VALUES (?, ?)", (key, nodes))


def _rows_by_owner(old: sqlite3.Connection, query: str) -> Any:
    """Return a function from an owner to its rows. Call it with ascending owners; the query must be sorted by owner."""
    groups = groupby(old.execute(query), key=itemgetter(0))
    waiting: list[tuple[int, list[Any]]] = []

    def rows(owner: int) -> list[Any]:
        while not waiting or waiting[0][0] < owner:
            waiting.clear()
            number, same = next(groups, (1 << 62, iter(())))
            waiting.append((number, list(same)))
        return waiting[0][1] if waiting[0][0] == owner else []

    return rows
