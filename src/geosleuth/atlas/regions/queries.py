"""Search all regions, or some of them, by name, address and position.

`Regions` collects cheap candidates (rows, not places) from every region, ranks them together, and makes a `Place` only
of the best.
"""

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.protocol import Colocation, Hit, MatchKind, Place
from geosleuth.atlas.search import ATTRIBUTE, NameHit
from geosleuth.geo import Box, Disc, Extent, FloatArray, LatLon, distance_km, distances_from_km
from geosleuth.support.errors import BadInput

from .addresses import (
    METRES_PER_DEGREE,
    SimilarStreets,
    exact_addresses,
    find_addresses,
    find_crossings,
    find_named_crossings,
    find_postcodes,
    junction_place,
    postcode_place,
    split_crossing,
)
from .colocated import find_colocated
from .feature_kinds import ADDRESS, matching_kinds
from .geometry import E7
from .pbf import Ints
from .region_file import HAS_GROUND, osm_key, osm_text
from .region_names import Keep, Reading, search_names
from .region_store import (
    DamagedRegion,
    OpenRegion,
    RegionStore,
    Spots,
    boxes_around,
    build_filter,
    build_place,
    build_places,
    convert_text,
    full_row,
    in_boxes,
    numpy_warnings_off,
    positions,
    read_feature_rows,
    read_raw_rows,
    snap_to_nearest,
    touches,
)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_MATCH_SCORES: Final[dict[MatchKind, float]] = {"exact": 1.0, "alias": 0.965, "fuzzy": 0.94, "near": 0.94}
_FAME_SHARE: Final = 0.03  # of a score
_NEAR_KM: Final = 2.0  # at this distance nearness is 0.5
_MIN_POOL: Final = 40
_NEAR_POOL: Final = 400
_SINGLE_SEARCH_M: Final = 300.0  # a larger radius is searched in steps
_FIRST_RADIUS_M: Final = 60.0
_WIDEN_BY: Final = 4.0
_NEARLY_ALL: Final = 0.7  # of the radius: the next step is the whole
_MEASURED_FACTOR: Final = 2  # geometries measured in the first step, as a multiple of the limit
_OTHER_NUMBER: Final = 0.75
_MAX_FLAT_LAT: Final = 80.0  # within these bounds, degrees are treated as a plane
_MAX_FLAT_LON: Final = 178.0
_MAX_FLAT_M: Final = 20_000.0
MAX_LIMIT: Final = 1000


class Regions:
    """Searches the regions in a folder.

    ``only`` restricts the search to regions of these names. Results come best first, with scores from 0 to 1: a match
    of the main name ranks above one of another name, that above a different spelling; then nearness and fame decide.
    """

    def __init__(self, folder: Path, *, only: Sequence[str] | None = None) -> None:
        """Use the regions in a folder; none is opened until the first search."""
        self.store = RegionStore(folder)
        self._only = only

    def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Find named features by name, phone, website or reference number, optionally of one category."""
        limit = _clamp_limit(limit)
        found = self._search_jointly(
            lambda regions: self._find_similar(regions, text, limit, within, category, near), within
        )
        return self._hits(_distinct(found), limit)

    def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Find features whose name starts with a prefix, the best known first."""
        limit = _clamp_limit(limit)

        def suggest_names(region: OpenRegion) -> list[_Found]:
            found = region.index.prefix(prefix, limit=200)
            rows = read_raw_rows(region, [hit.owner for hit in found])
            hits = []
            for hit in found:
                row = rows.get(hit.owner)
                if row is not None:
                    fame = _fame(region, row, near, 0.5)
                    hits.append(_Found(region, row, min(1.0, 0.5 * hit.score + 0.5 * fame), hit, near))
            return hits

        return self._search_each(suggest_names, limit=limit)

    def poi(self, place_id: str) -> Place | None:
        """Return the feature with an id such as "osm:monaco:n123"; None if it or its region does not exist."""
        kind, _, rest = place_id[:300].partition(":")
        name, _, osm = rest.partition(":")
        if not osm or name not in self.store.names() or (self._only is not None and name not in self._only):
            return None
        region = self.store.open(name)
        if region.info.kind != kind:
            return None
        with self.store.explain_errors(name):
            found = region.conn.execute("SELECT id FROM feature WHERE osm = ?", (osm_key(osm),)).fetchone()
            if found:
                return build_place(region, read_feature_rows(region, found)[found[0]])
            return junction_place(region, osm) or postcode_place(region, osm)

    def find_by_name(self, name: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Find features of exactly that name or, if there are none, address. Much faster than a fuzzy search."""
        is_address = "," not in name and any(map(str.isdigit, name))

        def find_names(region: OpenRegion) -> list[Hit | _Found]:
            named = [hit for hit in region.index.exact(name, build_filter(region, within)) if hit.role != ATTRIBUTE]
            houses = exact_addresses(region, name, within, limit) if is_address and not named else []
            return [*self._score_hits([region], [(0, hit) for hit in named], None, limit), *houses]

        return self._search_each(find_names, within, limit=limit)

    def nearby(self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20) -> list[Hit]:
        """Find features around a point, nearest first; the distance is to the nearest part of a street or area.

        Plain house numbers are omitted unless the category is "address".
        """
        limit = _clamp_limit(limit)
        if not (math.isfinite(radius_m) and radius_m >= 0):
            raise BadInput(f"a radius is a number of metres, zero or more, not {radius_m}")
        step_m = radius_m if radius_m <= _SINGLE_SEARCH_M else _FIRST_RADIUS_M
        while True:  # widen step by step, as the twenty nearest features are usually much nearer than the radius
            enough = limit if step_m < radius_m else 0
            around = partial(
                self._find_nearest, point=point, radius_m=step_m, category=category, limit=limit, enough=enough
            )
            near = self._search_jointly(around, Disc(point, step_m / 1000))
            found = list(_distinct(sorted(near, key=_sort_key)))
            if len(found) >= limit or step_m >= radius_m:
                break
            step_m = step_m * _WIDEN_BY if step_m * _WIDEN_BY < _NEARLY_ALL * radius_m else radius_m
        hits = self._hits(found, limit)
        return [Hit(hit.place, _distance_score(hit, radius_m), hit.match, hit.matched, hit.distance_km) for hit in hits]

    def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Find where two streets meet; where they only nearly meet, the match is "near"."""
        limit, names = _clamp_limit(limit), (first, second)
        # Where streets of exactly these names meet, similar names are not searched.
        found = self._search_each(
            lambda region: find_named_crossings(region, names, within, limit), within, limit=limit
        )
        if found:
            return found

        def found_in(regions: Sequence[OpenRegion]) -> list[Hit]:
            hits: list[Hit] = []
            similar = SimilarStreets(regions, self._reading(regions))
            for region in regions:
                with self.store.explain_errors(region.info.name):
                    hits += find_crossings(region, names, within, similar, limit)
            return hits

        return self._hits(_distinct(sorted(self._search_jointly(found_in, within), key=_sort_key)), limit)

    def geocode(self, text: str, *, limit: int = 5, within: Extent | None = None) -> list[Hit]:
        """Find addresses ("12 Rue Grimaldi"), crossings ("A and B"), postcodes and named features.

        Only addresses use the text after a comma; `OfflineAtlas` ranks all other hits by it.
        """
        limit = _clamp_limit(limit)
        text = text[:1000]
        streets = split_crossing(text)
        name = text.split(",")[0]

        def geocode_region(regions: Sequence[OpenRegion]) -> "list[Hit | _Found]":
            hits: list[Hit | _Found] = []
            without_exact: list[OpenRegion] = []
            similar = SimilarStreets(regions, self._reading(regions))
            for region in regions:
                with self.store.explain_errors(region.info.name):
                    houses = find_addresses(region, text, within, similar, limit)
                    hits += houses
                    hits += find_postcodes(region, name, within)
                    hits += find_crossings(region, streets, within, similar, limit) if streets else []
                    # Where the very address exists, similar names are not searched.
                    if any(hit.match == "exact" for hit in houses):
                        named = region.index.exact(name, build_filter(region, within))
                        hits += self._score_hits([region], [(0, hit) for hit in named], None, limit)
                    else:
                        without_exact.append(region)
            return [*hits, *self._find_similar(without_exact, name, limit, within)]

        return self._hits(_distinct(sorted(self._search_jointly(geocode_region, within), key=_sort_key)), limit)

    def colocated(
        self,
        features: Sequence[str],
        within_m: float,
        *,
        within: Extent | None = None,
        bearings_deg: Sequence[float | None] | None = None,
        in_order: bool = False,
        limit: int = 10,
    ) -> list[Colocation]:
        """Find where all these features are near each other; see `find_colocated`."""
        limit = _clamp_limit(limit)

        def find_groups(regions: Sequence[OpenRegion]) -> list[Colocation]:
            return find_colocated(
                self.store, regions, features, within_m, within, bearings_deg, in_order=in_order, limit=limit
            )

        return self._search_jointly(find_groups, within)

    def _find_nearest(
        self,
        regions: Sequence[OpenRegion],
        point: LatLon,
        radius_m: float,
        category: str | None,
        limit: int,
        enough: int,
    ) -> "list[_Near]":
        """Return the features nearest to a point; nothing if fewer than ``enough`` have a box within the radius."""
        candidates = []
        for region in regions:
            with self.store.explain_errors(region.info.name):
                candidates.append(in_boxes(region, boxes_around(point, radius_m), _kind_mask(region, category)))
        if sum(len(numbers) for numbers, _ in candidates) < enough:
            return []
        near: list[_Near] = []
        for region, (numbers, spots) in zip(regions, candidates, strict=True):
            with self.store.explain_errors(region.info.name):
                near += _nearest(region, numbers, spots, point, radius_m, limit)
        return near

    def reach(self, extent: Extent) -> bool:
        """Return whether a region may have features in an extent."""
        return bool(self._open_regions(extent))

    def _open_regions(self, within: Extent | None = None) -> list[OpenRegion]:
        return [region for region in self.store.open_all(self._only) if touches(region, within)]

    def _search_jointly(self, found_in: Callable[[Sequence[OpenRegion]], _T], within: Extent | None) -> _T:
        """Search all regions together. A damaged one is skipped with a warning, unless it was named."""
        regions = self._open_regions(within)
        while True:
            try:
                with numpy_warnings_off():
                    return found_in(regions)
            except DamagedRegion as error:
                if self._only is not None:
                    raise
                _log.warning("%s", error)
                regions = [region for region in regions if region.info.name != error.name]

    def _search_one_by_one(
        self, found_in: Callable[[OpenRegion], Sequence[_T]], within: Extent | None = None
    ) -> list[_T]:
        """Search regions one by one. A damaged one is skipped with a warning, unless it was named."""
        hits: list[_T] = []
        for region in self._open_regions(within):
            try:
                with self.store.explain_errors(region.info.name):
                    hits.extend(found_in(region))
            except DamagedRegion as error:
                if self._only is not None:
                    raise
                _log.warning("%s", error)
        return hits

    def _search_each(
        self,
        found_in: "Callable[[OpenRegion], Sequence[Hit | _Feature]]",
        within: Extent | None = None,
        *,
        limit: int,
    ) -> list[Hit]:
        return self._hits(_distinct(sorted(self._search_one_by_one(found_in, within), key=_sort_key)), limit)

    def _hits(self, found: "Iterable[Hit | _Feature]", limit: int) -> list[Hit]:
        """Return the first hits; only for these, places are read."""
        remaining = iter(found)
        best: list[Hit | _Feature] = []
        places: dict[tuple[str, int], Place] = {}
        unreadable = set[str]()
        while more := list(islice(remaining, limit - len(best))):
            rows: dict[str, list[_Feature]] = {}
            for candidate in more:
                if not isinstance(candidate, Hit):
                    rows.setdefault(candidate.region.info.name, []).append(candidate)
            for name, features in rows.items():
                try:
                    if name not in unreadable:
                        with self.store.explain_errors(name):
                            region = features[0].region
                            read = build_places(region, [full_row(region, feature.row) for feature in features])
                        keys = ((name, feature.row[0]) for feature in features)
                        places.update(zip(keys, read, strict=True))
                except DamagedRegion as error:
                    if self._only is not None:
                        raise
                    _log.warning("%s", error)
                    unreadable.add(name)
            best += [item for item in more if isinstance(item, Hit) or item.region.info.name not in unreadable]
        return [
            item if isinstance(item, Hit) else item.hit(places[item.region.info.name, item.row[0]])
            for item in best
            if isinstance(item, Hit) or item.region.info.name not in unreadable
        ]

    def _find_similar(
        self,
        regions: Sequence[OpenRegion],
        text: str,
        limit: int,
        within: Extent | None,
        category: str | None = None,
        near: LatLon | None = None,
    ) -> "list[_Found]":
        """Return features whose name resembles a text, best first."""
        if not regions:
            return []
        pool = max(_MIN_POOL, 4 * limit) if near is None else _NEAR_POOL
        keeps = []
        for region in regions:
            with self.store.explain_errors(region.info.name):
                keeps.append(build_filter(region, within, category))
        indexes, reading = [region.index for region in regions], self._reading(regions)
        found = search_names(indexes, text, limit=pool, keeps=keeps, reading=reading)
        if near is not None and len(found) >= pool:
            # There may be more features of exactly this name than the pool holds: add those nearest to the point.
            seen = {(number, hit.owner) for number, hit in found}
            for number, (region, keep) in enumerate(zip(regions, keeps, strict=True)):
                with reading(number):
                    exact = region.index.exact(text, partial(_nearest_kept, region, near, keep))
                    found.extend((number, hit) for hit in exact if (number, hit.owner) not in seen)
        return self._score_hits(regions, found, near, limit)

    def _reading(self, regions: Sequence[OpenRegion]) -> Reading:
        return lambda number: self.store.explain_errors(regions[number].info.name)

    def _score_hits(
        self, regions: Sequence[OpenRegion], found: Sequence[tuple[int, NameHit]], near: LatLon | None, limit: int
    ) -> "list[_Found]":
        """Turn name hits into features, best first; hits that can't be among the best are dropped."""
        bases = [_base_score(hit) for _, hit in found]
        # Overlapping regions have the same features, under the same names, so names are counted instead of hits.
        by_text: dict[str, float] = {}
        for base, (_, hit) in zip(bases, found, strict=True):
            by_text[hit.text] = max(base, by_text.get(hit.text, 0.0))
        best = sorted(by_text.values() if len(by_text) >= limit else bases, reverse=True)
        best = best[: limit if len(by_text) >= limit else limit * len(regions)]
        min_base = best[-1] - _FAME_SHARE / (1 - _FAME_SHARE) if best else 0.0
        likely: dict[int, list[tuple[float, NameHit]]] = {}
        for base, (number, hit) in zip(bases, found, strict=True):
            if base >= min_base:
                likely.setdefault(number, []).append((base, hit))
        scored: list[tuple[tuple[float, int, str], _Found]] = []
        for number, hits in likely.items():
            region = regions[number]
            with self.store.explain_errors(region.info.name):
                rows = read_raw_rows(region, [hit.owner for _, hit in hits])
                for base, hit in hits:
                    row = rows.get(hit.owner)
                    if row is not None:
                        score = base * (1 - _FAME_SHARE) + _FAME_SHARE * _fame(region, row, near, 0.7)
                        feature = _Found(region, row, score, hit, near)
                        scored.append((feature.order, feature))
        return [feature for _, feature in sorted(scored, key=itemgetter(0))]


def _base_score(hit: NameHit) -> float:
    """Return the score of a name without nearness and fame."""
    if hit.match != "fuzzy":
        return _MATCH_SCORES[hit.match]
    # A phone number with one different digit is another number.
    return _MATCH_SCORES["fuzzy"] * hit.score * (_OTHER_NUMBER if hit.role == ATTRIBUTE else 1.0)


def _fame(region: OpenRegion, row: Sequence[Any], near: LatLon | None, share: float) -> float:
    """Return how well known a feature is, 0 to 1; if there is a point, ``share`` of it is nearness to the point."""
    rank = float(row[4]) / 1000
    return rank if near is None else (1 - share) * rank + share * _nearness(near, full_row(region, row))


def _nearest(
    region: OpenRegion, numbers: Ints, spots: Spots, point: LatLon, radius_m: float, limit: int
) -> "list[_Near]":
    """Return the nearest features within a radius, up to the limit and those as near as the last."""
    if not len(numbers):
        return []
    # A feature is no nearer than its box, and no farther than the farthest corner of its box. So only those that may be
    # among the nearest are measured; each measurement tightens the bound.
    least, most = _distance_bounds_m(point, spots["box"], radius_m)
    has_geometry, unmeasured = spots["flags"] & HAS_GROUND != 0, least <= radius_m
    metres = np.empty(len(numbers))
    metres.fill(math.inf)
    at_once = _MEASURED_FACTOR * limit
    while True:
        bound = _nth_smallest(most, limit) if len(numbers) > limit else math.inf
        likely = (unmeasured & (least <= bound)).nonzero()[0]
        if not len(likely):
            break
        extended = has_geometry[likely].nonzero()[0]
        if len(extended) > at_once:
            kept = np.ones(len(likely), dtype=bool)
            kept[extended[least[likely[extended]].argpartition(at_once)[at_once:]]] = False
            likely = likely[kept]
            extended = has_geometry[likely].nonzero()[0]
        at_once *= 4
        some = spots[likely]
        lats, lons = some["lat"] / E7, some["lon"] / E7
        snap_to_nearest(region, numbers[likely[extended]].tolist(), point, (extended, lats, lons))
        metres[likely] = most[likely] = distances_from_km(point, lats, lons) * 1000
        unmeasured[likely] = False
    near = (metres <= radius_m).nonzero()[0]
    if not len(near):
        return []
    if len(near) > limit:
        near = near[metres[near] <= _nth_smallest(metres[near], limit)]
    rows = read_raw_rows(region, numbers[near].tolist())
    return [_Near(region, rows[int(numbers[at])], float(metres[at])) for at in near.tolist()]


def _nth_smallest(values: FloatArray, count: int) -> float:
    """Return the largest of the ``count`` smallest values."""
    ordered = values.copy()
    ordered.partition(count - 1)
    return float(ordered[count - 1])


def _kind_mask(region: OpenRegion, category: str | None) -> NDArray[np.bool_]:
    """Return for each kind whether a category means it; without a category, all but plain house numbers."""
    cached = region.memory.get("without addresses")
    if category is None and isinstance(cached, np.ndarray):
        return cached
    wanted = set(region.kinds) - {ADDRESS} if category is None else set(matching_kinds(category, region.kinds))
    flags = np.array([kind in wanted for kind in region.kinds], dtype=bool)
    if category is None:
        region.memory["without addresses"] = flags
    return flags


def _distance_bounds_m(point: LatLon, boxes: NDArray[np.int32], radius_m: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the distances to features, in metres, from their boxes (1e-7 degrees).

    Boxes are treated as flat, with a tolerance of 3 %; where that is not valid, the bounds are 0 and infinity.
    """
    if abs(point.lat) > _MAX_FLAT_LAT or abs(point.lon) > _MAX_FLAT_LON or radius_m > _MAX_FLAT_M:
        return np.zeros(len(boxes)), np.full(len(boxes), math.inf)
    edges = boxes.T.astype(np.float64)
    lats, lons, low, high = edges[::2], edges[1::2], edges[:2], edges[2:]
    lats -= point.lat * E7
    lons -= point.lon * E7
    lons *= math.cos(math.radians(point.lat))
    np.negative(low, out=low)  # distances to the south and west; ``high`` has those to the north and east
    far, gap = np.maximum(low, high), np.minimum(low, high)
    np.minimum(gap, 0.0, out=gap)
    gap *= gap
    far *= far
    least, most = np.sqrt(gap[0] + gap[1]), np.sqrt(far[0] + far[1])
    least *= 0.97 * METRES_PER_DEGREE / E7
    most *= 1.03 * METRES_PER_DEGREE / E7
    return least, most


def _distance_score(hit: Hit, radius_m: float) -> float:
    """Return 1 at the point, 0.5 at the edge of the radius."""
    return 1.0 - 0.5 * (hit.distance_km or 0.0) * 1000 / radius_m if radius_m else 1.0


def _nearness(near: LatLon, row: Sequence[Any]) -> float:
    """Return from 1 (at the point) to 0 (far away) how near a row of `read_feature_rows` is."""
    south, west, north, east = row[6:10]
    far = distance_km(near, LatLon(row[4], row[5]))
    if Box(south, west, north, east).contains(near):
        far = min(far, 0.2)
    return _NEAR_KM / (_NEAR_KM + far)


def _nearest_kept(region: OpenRegion, near: LatLon, keep: Keep | None, ids: Ints) -> NDArray[np.bool_]:
    """Return for each id whether it passes a filter and is among those nearest to a point."""
    wanted = np.ones(len(ids), dtype=bool) if keep is None else keep(ids)
    if wanted.sum() > _NEAR_POOL:
        km = distances_from_km(near, *positions(region, ids))
        wanted &= km <= _nth_smallest(km[wanted], _NEAR_POOL)
    return wanted


@dataclass(slots=True)  # not frozen, since a search makes dozens, and frozen ones take three times as long to make
class _Feature(ABC):
    """A candidate. Its place is only read if it is among the best of all regions."""

    region: OpenRegion
    row: Sequence[Any]  # of `rows_in`

    @property
    def id(self) -> str:
        return f"{self.region.info.kind}:{self.region.info.name}:{osm_text(self.row[1])}"

    @property
    def object(self) -> str:
        """Key that is equal for the same object in overlapping regions."""
        return f"{self.region.info.kind}:{osm_text(self.row[1])}:{self.region.kinds[self.row[3]]}"

    @property
    @abstractmethod
    def order(self) -> tuple[float, int, str]:
        """Sort key: the best first."""

    @abstractmethod
    def hit(self, place: Place) -> Hit:
        """Return the hit for the feature's place."""


@dataclass(slots=True)
class _Found(_Feature):
    score: float
    name_hit: NameHit
    near: LatLon | None

    @property
    def order(self) -> tuple[float, int, str]:
        return -self.score, len(self.name_hit.text), self.id

    def hit(self, place: Place) -> Hit:
        far = distance_km(self.near, place.point) if self.near else None
        return Hit(place, self.score, self.name_hit.match, convert_text(self.name_hit.text), far)


@dataclass(slots=True)
class _Near(_Feature):
    metres: float

    @property
    def order(self) -> tuple[float, int, str]:
        return self.metres, 0, self.id

    def hit(self, place: Place) -> Hit:
        return Hit(place, 1.0, "near", place.name, self.metres / 1000)


def _sort_key(found: Hit | _Feature) -> tuple[float, int, str]:
    return (-found.score, len(found.matched), found.place.id) if isinstance(found, Hit) else found.order


def _object_key(found: Hit | _Feature) -> str:
    """Return a key that is equal for the same object in overlapping regions."""
    if not isinstance(found, Hit):
        return found.object
    origin, _, rest = found.place.id.partition(":")
    return f"{origin}:{rest.partition(':')[2]}:{found.place.kind}"


def _distinct(hits: "Iterable[_OneT]") -> "Iterator[_OneT]":
    """Yield the first hit of each object, which overlapping regions may both have."""
    seen = set[str]()
    for hit in hits:
        if (key := _object_key(hit)) not in seen:
            seen.add(key)
            yield hit


_OneT = TypeVar("_OneT", bound=Hit | _Feature)


def _clamp_limit(limit: int) -> int:
    if limit < 1:
        raise BadInput(f"a limit is a whole number from 1 to {MAX_LIMIT}, not {limit}")
    return min(limit, MAX_LIMIT)
