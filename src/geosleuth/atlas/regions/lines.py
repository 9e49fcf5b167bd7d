"""Streets, rivers and railways, which the map cuts into many ways, put together again; and where streets meet."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
import shapely
from shapely import STRtree

from geosleuth.names import fold

from .kinds import is_street, rank_of
from .schema import ROAD_RANKS, run_script
from .tags import index_names, kept_tags, main_name
from .writer import FeatureRow, Progress, RegionWriter

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
