"""Query gazetteers: features by name, around a point, and the nearest of a kind."""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import cos, radians
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely

from geosleuth.atlas.base.build import admin1_table
from geosleuth.atlas.base.geocode import radius_km
from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.atlas.protocol import Hit, Place
from geosleuth.atlas.regions.region_store import DamagedRegion, OpenRegion, RegionStore, boxes_around, convert_text
from geosleuth.atlas.search import NameHit
from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km
from geosleuth.names import country_name, fold

from .gazetteer_file import CELL, CELL_COLUMNS, E5, KINDS
from .name_index import GazetteerNames

_log = logging.getLogger(__name__)

_COLUMNS: Final = "id, name, kind, lat_e5, lon_e5, fame, country, admin1, population, elevation"
_SOURCES: Final = {"geonames": "GeoNames", "naturalearth": "Natural Earth"}
_FIRST_RADIUS_M: Final = 3000.0
_PENALTY: Final = {"exact": 0.0, "alias": 0.05}
_MAX_FILTERED_NAMES: Final = 1000
_MAX_RANKED_NAMES: Final = 40
_MAX_ROWS_PER_LINE: Final = 4000
_NEAR_KM: Final = 50.0  # the distance at which proximity counts half

_TOO_LARGE_FOR_NEARBY: Final = frozenset({"continent", "country"})
_KINDS_OF_CATEGORY: Final[dict[str, tuple[str, ...]]] = {
    "mountain": ("peak", "volcano", "range", "hill"), "mount": ("peak", "volcano"), "summit": ("peak", "volcano"),
    "mountain range": ("range",), "water": ("lake", "reservoir", "river", "stream", "water", "bay", "lagoon", "sea"),
    "national park": ("park",), "reserve": ("park",), "island": ("island", "island group"),
    "archipelago": ("island group",), "town": ("city",), "village": ("city",), "settlement": ("city",),
    "place": ("city",), "lagoon": ("lagoon", "lake"), "lake": ("lake", "reservoir", "lagoon"), "creek": ("stream",),
    "river": ("river", "stream"), "canyon": ("valley",), "gorge": ("valley",), "wood": ("forest",),
    "station": ("railway",), "headland": ("cape",), "ocean": ("ocean", "sea"), "sea": ("sea", "ocean"),
}  # fmt: skip

_LABELLED: Final = frozenset(
    {"peak", "range", "volcano", "island", "island group", "lake", "reservoir", "river", "park", "bay", "cape",
     "glacier", "waterfall", "desert", "valley", "pass", "gulf", "strait", "sea", "peninsula"}
)  # fmt: skip


class Gazetteers:
    """Queries all gazetteers in a folder."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which need not exist; no file is opened before the first query."""
        self.store = RegionStore(folder)

    def search(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Return features of a name, or of similar names if there are none, best first."""

        def search_gazetteer(gazetteer: OpenRegion) -> list[Hit]:
            is_filtered = within is not None or category is not None or near is not None
            names = _get_name_index(gazetteer).search(
                text, _MAX_FILTERED_NAMES if is_filtered else max(_MAX_RANKED_NAMES, limit)
            )
            return _hits(gazetteer, names, near=near, within=within, kinds=_kind_numbers(gazetteer, category))

        return _best(self._search_gazetteers(search_gazetteer))[:limit]

    def suggest(self, prefix: str, *, limit: int = 10) -> list[Hit]:
        """Return features whose name begins with a text, the best known first."""
        return _best(
            self._search_gazetteers(
                lambda gazetteer: _hits(gazetteer, _get_name_index(gazetteer).prefix(prefix, 4 * limit))
            )
        )[:limit]

    def place(self, place_id: str) -> Place | None:
        """Return a feature by its id, such as "geonames:2988507"; None if there is none."""
        owner, _, number = place_id[:300].partition(":")
        if not (number.isascii() and number.isdigit() and len(number) <= 15):
            return None

        def find_place(gazetteer: OpenRegion) -> list[Hit]:
            rows = _read_feature_rows(gazetteer, [int(number)]) if gazetteer.info.kind == owner else {}
            return [Hit(_build_gazetteer_place(gazetteer, row), 1.0, "exact", row[1]) for row in rows.values()]

        return next((hit.place for hit in self._search_gazetteers(find_place)), None)

    def nearby(self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20) -> list[Hit]:
        """Return features around a point, nearest first; a lake, river or range counts from its nearest part."""
        reach_m = min(radius_m, _FIRST_RADIUS_M)
        while True:  # widened step by step, so as not to read a thousand features for the twenty nearest
            hits = self._search_gazetteers(partial(_find_around, point=point, radius_m=reach_m, category=category))
            if len(hits) >= limit or reach_m >= radius_m:
                break
            reach_m = min(reach_m * 3, radius_m)
        hits.sort(key=lambda hit: (hit.distance_km or 0.0, hit.place.id))
        return [
            replace(hit, score=1.0 - 0.5 * (hit.distance_km or 0.0) * 1000 / max(radius_m, 1.0)) for hit in hits[:limit]
        ]

    def labels(self, box: Box, limit: int) -> list[Place]:
        """Return the best known natural features in a box, for maps; settlements come from the base atlas."""

        def find_labels(gazetteer: OpenRegion) -> list[Hit]:
            if gazetteer.info.kind != "geonames":  # others have shapes for maps
                return []
            kinds = [number for number, kind in enumerate(gazetteer.kinds) if kind in _LABELLED]
            rows = _in_cells(gazetteer, box, kinds, limit)
            return [
                Hit(_build_gazetteer_place(gazetteer, row), row[5] / 255, "near", convert_text(row[1])) for row in rows
            ]

        return [hit.place for hit in sorted(self._search_gazetteers(find_labels), key=lambda hit: -hit.score)[:limit]]

    def _search_gazetteers(self, found_in: Callable[[OpenRegion], list[Hit]]) -> list[Hit]:
        """Return the hits of all gazetteers; damaged ones are skipped and logged."""
        hits: list[Hit] = []
        for gazetteer in self.store.open_all():
            try:
                with self.store.explain_errors(gazetteer.info.name):
                    hits.extend(found_in(gazetteer))
            except DamagedRegion as error:
                _log.warning("%s", error)
        return hits


def _find_around(gazetteer: OpenRegion, point: LatLon, radius_m: float, category: str | None) -> list[Hit]:
    kinds = _kind_numbers(gazetteer, category)
    if kinds is None:  # every point lies in a country and on a continent
        kinds = [number for number, kind in enumerate(gazetteer.kinds) if kind not in _TOO_LARGE_FOR_NEARBY]
    closest: dict[int, tuple[float, Any]] = {}
    for far, row in (
        *_points_around(gazetteer, point, radius_m, kinds),
        *_areas_around(gazetteer, point, radius_m, kinds),
    ):
        if far * 1000 <= radius_m and (row[0] not in closest or far < closest[row[0]][0]):
            closest[row[0]] = (far, row)
    return [
        Hit(_build_gazetteer_place(gazetteer, row), 1.0, "near", convert_text(row[1]), far)
        for far, row in closest.values()
    ]


def _get_name_index(gazetteer: OpenRegion) -> GazetteerNames:
    """Return the name index of an open gazetteer, which is kept with it."""
    names = gazetteer.memory.get("names")
    if not isinstance(names, GazetteerNames):
        gazetteer.conn.execute("PRAGMA mmap_size = 17179869184")
        names = gazetteer.memory["names"] = GazetteerNames(gazetteer.conn)
    return names


def _kind_numbers(gazetteer: OpenRegion, category: str | None) -> Sequence[int] | None:
    """Return the numbers of a category's kinds; None if there is no category, [] if gazetteers have no such kind."""
    if category is None:
        return None
    words = _kinds_of_category(category)
    return [number for number, kind in enumerate(gazetteer.kinds) if kind in words]


def is_category(category: str) -> bool:
    """Return whether gazetteers have features of a category."""
    return not set(KINDS).isdisjoint(_kinds_of_category(category))


def _kinds_of_category(category: str) -> Sequence[str]:
    word = fold(category.rpartition("=")[2].replace("_", " "))[:60]
    forms = (word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y")
    return next((_KINDS_OF_CATEGORY[form] for form in forms if form in _KINDS_OF_CATEGORY), forms)


def _hits(
    gazetteer: OpenRegion,
    found: Sequence[NameHit],
    *,
    near: LatLon | None = None,
    within: Extent | None = None,
    kinds: Sequence[int] | None = None,
) -> list[Hit]:
    rows = _read_feature_rows(gazetteer, [hit.owner for hit in found])
    scored = []
    for hit in found:
        row = rows.get(hit.owner)
        if row is None or (kinds is not None and row[2] not in kinds):
            continue
        point = _read_point(row)
        if within is not None and not within.contains(point):
            continue
        far = distance_km(near, point) if near else None
        bonus = row[5] / 255 if far is None else 0.3 * row[5] / 255 + 0.7 * _NEAR_KM / (_NEAR_KM + far)
        # The base atlas scores places in the same way, so that both fit into one list.
        base_score = 0.6 + 0.3 * bonus
        score = 0.78 * hit.score + 0.17 * base_score if hit.match == "fuzzy" else base_score - _PENALTY[hit.match]
        scored.append((score, hit, row, far))
    scored.sort(key=lambda item: -item[0])
    return [
        Hit(_build_gazetteer_place(gazetteer, row), score, hit.match, convert_text(hit.text), far)
        for score, hit, row, far in scored[:_MAX_RANKED_NAMES]
    ]


def _best(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits best first, each place once, exact matches before similar spellings."""
    ranked = sorted(hits, key=lambda hit: (hit.match == "fuzzy", -hit.score, hit.place.id))
    return list({hit.place.id: hit for hit in reversed(ranked)}.values())[::-1]


def _read_feature_rows(gazetteer: OpenRegion, numbers: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    query = f"SELECT {_COLUMNS} FROM feature WHERE id"  # noqa: S608
    return {row[0]: row for row in select_rows(gazetteer.conn, query, list(numbers))}


def _read_point(row: Sequence[Any]) -> LatLon:
    return LatLon(row[3] / E5, row[4] / E5)


def _build_gazetteer_place(gazetteer: OpenRegion, row: Sequence[Any]) -> Place:
    number, name, kind, _, _, _, country, admin1, population, elevation = row
    point = _read_point(row)
    region = _region_names().get(f"{country}.{admin1}") if country and admin1 else None
    parts = (convert_text(name), region, country_name(country) if country else None)
    details = {"population": population, "elevation": elevation}
    return Place(
        id=f"{gazetteer.info.kind}:{number}",
        name=convert_text(name),
        kind=gazetteer.kinds[kind],
        point=point,
        extent=_extent(gazetteer, number)
        or Disc(point, float(radius_km(np.array(float(population)))) if population else 1.0),
        source=f"{_SOURCES.get(gazetteer.info.kind, gazetteer.info.kind)}, gazetteer {gazetteer.info.name}",
        country=country,
        region=region,
        address=", ".join(dict.fromkeys(part for part in parts if part)),
        details={key: str(value) for key, value in details.items() if value is not None},
    )


def _extent(gazetteer: OpenRegion, number: int) -> Box | None:
    row = gazetteer.conn.execute("SELECT south, west, north, east FROM feature_box WHERE id = ?", (number,)).fetchone()
    return None if row is None else Box(max(row[0], -90.0), max(row[1], -180.0), min(row[2], 90.0), min(row[3], 180.0))


@lru_cache(maxsize=1)
def _region_names() -> dict[str, str]:
    return {code: name for code, (name, *_) in admin1_table().items()}


def _in_cells(
    gazetteer: OpenRegion, box: Box, kinds: Collection[int] | None, best_per_line: int | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield the features in the cells that a box touches, or only the best known of each row of cells."""
    of_kinds = "" if kinds is None else f" AND kind IN ({','.join(map(str, kinds))})"
    order = "" if best_per_line is None else " ORDER BY fame DESC"
    limit = _MAX_ROWS_PER_LINE if best_per_line is None else best_per_line
    west, east = (round((lon + 180) * E5) // 5000 for lon in (box.west, box.east))
    for line in range(round((box.south + 90) * E5) // 5000, round((box.north + 90) * E5) // 5000 + 1):
        begin = line * CELL_COLUMNS
        yield from gazetteer.conn.execute(
            f"SELECT {_COLUMNS} FROM feature WHERE {CELL} BETWEEN ? AND ?{of_kinds}{order} LIMIT ?",  # noqa: S608
            (begin + west, begin + east, limit),
        )


def _points_around(
    gazetteer: OpenRegion, point: LatLon, radius_m: float, kinds: Collection[int] | None
) -> Iterator[tuple[float, tuple[Any, ...]]]:
    for edges in boxes_around(point, radius_m):
        for row in _in_cells(gazetteer, Box(*edges), kinds):
            yield distance_km(point, _read_point(row)), row


def _areas_around(
    gazetteer: OpenRegion, point: LatLon, radius_m: float, kinds: Collection[int] | None
) -> Iterator[tuple[float, tuple[Any, ...]]]:
    for south, west, north, east in boxes_around(point, radius_m):
        found = gazetteer.conn.execute(
            "SELECT area.feature, area.geom FROM feature_box AS box JOIN area ON area.feature = box.id "
            "WHERE west <= ? AND east >= ? AND south <= ? AND north >= ?",
            (east, west, north, south),
        ).fetchall()
        rows = _read_feature_rows(gazetteer, [number for number, _ in found])
        for number, geom in found:
            if number in rows and (kinds is None or rows[number][2] in kinds):
                yield _distance_to(point, shapely.from_wkb(geom)), rows[number]


def _distance_to(point: LatLon, shape: shapely.Geometry) -> float:
    """Return the distance in kilometres to the nearest part of a shape; 0 inside."""
    # A degree of longitude is shorter than one of latitude; unscaled, the wrong part could be the nearest.
    squeeze = max(cos(radians(point.lat)), 1e-6)
    flat = shapely.transform(shape, lambda xy: xy * [squeeze, 1.0])
    x, y = shapely.get_coordinates(shapely.shortest_line(flat, shapely.Point(point.lon * squeeze, point.lat)))[0]
    return distance_km(point, LatLon(max(-90.0, min(90.0, y)), max(-180.0, min(180.0, x / squeeze))))
