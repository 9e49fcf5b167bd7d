"""Questions by name and by position, over all regions or some of them."""

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
from geosleuth.errors import BadInput
from geosleuth.geo import Box, Disc, Extent, FloatArray, LatLon, distance_km, distances_from_km

from .addresses import (
    METRES_PER_DEGREE,
    SimilarStreets,
    exact_addresses,
    find_addresses,
    find_crossings,
    find_postcodes,
    junction_place,
    named_crossings,
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
    filter_of,
    full_row,
    in_boxes,
    place_of,
    places_of,
    positions,
    question,
    rows_in,
    rows_of,
    snap_to_nearest,
    text_of,
    touches,
)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_BASES: Final[dict[MatchKind, float]] = {"exact": 1.0, "alias": 0.965, "fuzzy": 0.94, "near": 0.94}
_BONUS: Final = 0.03
_NEAR_KM: Final = 2.0  # at this distance nearness counts half
_LEAST_POOL: Final = 40
_NEAR_POOL: Final = 400
_ONE_LOOK_M: Final = 300.0
_LOOKED_AT: Final = 2
_FIRST_REACH_M: Final = 60.0
_WIDER: Final = 4.0
_NEARLY: Final = 0.7
_OTHER_NUMBER: Final = 0.75
_POLAR: Final = 80.0
_LAST_MERIDIAN: Final = 178.0
_FLAT_M: Final = 20_000.0
MAX_LIMIT: Final = 1000


class Regions:
    """Everything that can be asked of the regions in a folder.

    ``only`` narrows to some regions by name. Results come best first, with scores from 0 to 1: an exact name stays
    above another recorded name, and that above a different spelling; nearness and fame settle the rest.
    """

    def __init__(self, folder: Path, *, only: Sequence[str] | None = None) -> None:
        """Nothing is opened until the first question."""
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
        """Named features by name, phone, website or number; a category narrows."""
        limit = _checked_limit(limit)
        found = self._jointly(lambda regions: self._named(regions, text, limit, within, category, near), within)
        return self._made(_distinct(found), limit)

    def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Features whose name begins so, the best known first."""
        limit = _checked_limit(limit)

        def found_in(region: OpenRegion) -> list[_Found]:
            found = region.index.prefix(prefix, limit=200)
            rows = rows_in(region, [hit.owner for hit in found])
            hits = []
            for hit in found:
                row = rows.get(hit.owner)
                if row is not None:
                    fame = _fame(region, row, near, 0.5)
                    hits.append(_Found(region, row, min(1.0, 0.5 * hit.score + 0.5 * fame), hit, near))
            return hits

        return self._best(found_in, limit=limit)

    def poi(self, place_id: str) -> Place | None:
        """One feature by its id, "osm:monaco:n123"; None where there is none, or its region is not here."""
        kind, _, rest = place_id[:300].partition(":")
        name, _, osm = rest.partition(":")
        if not osm or name not in self.store.names() or (self._only is not None and name not in self._only):
            return None
        region = self.store.open(name)
        if region.info.kind != kind:
            return None
        with self.store.explained(name):
            found = region.conn.execute("SELECT id FROM feature WHERE osm = ?", (osm_key(osm),)).fetchone()
            if found:
                return place_of(region, rows_of(region, found)[found[0]])
            return junction_place(region, osm) or postcode_place(region, osm)

    def called(self, name: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Features of that very name or, where there are none, address; to look for likenesses takes much longer."""
        is_address = "," not in name and any(map(str.isdigit, name))

        def found_in(region: OpenRegion) -> list[Hit | _Found]:
            named = [hit for hit in region.index.exact(name, filter_of(region, within)) if hit.role != ATTRIBUTE]
            houses = exact_addresses(region, name, within, limit) if is_address and not named else []
            return [*self._scored([region], [(0, hit) for hit in named], None, limit), *houses]

        return self._best(found_in, within, limit=limit)

    def nearby(self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20) -> list[Hit]:
        """Features around a point, nearest first; a street, park or building is as near as its nearest part.

        Plain house numbers are left out unless the category is "address".
        """
        limit = _checked_limit(limit)
        if not (math.isfinite(radius_m) and radius_m >= 0):
            raise BadInput(f"a radius is a number of metres, zero or more, not {radius_m}")
        reach_m = radius_m if radius_m <= _ONE_LOOK_M else _FIRST_REACH_M
        while True:  # widened step by step: nobody wants the thousand features of a town to see the twenty nearest
            enough = limit if reach_m < radius_m else 0
            around = partial(self._around, point=point, reach_m=reach_m, category=category, limit=limit, enough=enough)
            near = self._jointly(around, Disc(point, reach_m / 1000))
            found = list(_distinct(sorted(near, key=_order)))
            if len(found) >= limit or reach_m >= radius_m:
                break
            reach_m = reach_m * _WIDER if reach_m * _WIDER < _NEARLY * radius_m else radius_m
        hits = self._made(found, limit)
        return [Hit(hit.place, _closeness(hit, radius_m), hit.match, hit.matched, hit.distance_km) for hit in hits]

    def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Where two streets meet; where they only come near each other the match is "near"."""
        limit, names = _checked_limit(limit), (first, second)
        # Streets of these very names are meant wherever they meet, and nothing that is spelled otherwise.
        found = self._best(lambda region: named_crossings(region, names, within, limit), within, limit=limit)
        if found:
            return found

        def found_in(regions: Sequence[OpenRegion]) -> list[Hit]:
            hits: list[Hit] = []
            like = SimilarStreets(regions, self._reading(regions))
            for region in regions:
                with self.store.explained(region.info.name):
                    hits += find_crossings(region, names, within, like, limit)
            return hits

        return self._made(_distinct(sorted(self._jointly(found_in, within), key=_order)), limit)

    def geocode(self, text: str, *, limit: int = 5, within: Extent | None = None) -> list[Hit]:
        """Addresses ("12 Rue Grimaldi"), crossings ("A and B"), postcodes and named features of that name.

        Of what follows a comma only addresses know; `OfflineAtlas` sorts all others by it.
        """
        limit = _checked_limit(limit)
        text = text[:1000]
        streets = split_crossing(text)
        name = text.split(",")[0]

        def found_in(regions: Sequence[OpenRegion]) -> "list[Hit | _Found]":
            hits: list[Hit | _Found] = []
            likely: list[OpenRegion] = []
            like = SimilarStreets(regions, self._reading(regions))
            for region in regions:
                with self.store.explained(region.info.name):
                    houses = find_addresses(region, text, within, like, limit)
                    hits += houses
                    hits += find_postcodes(region, name, within)
                    hits += find_crossings(region, streets, within, like, limit) if streets else []
                    if any(hit.match == "exact" for hit in houses):  # what is only spelled like it can't be meant
                        named = region.index.exact(name, filter_of(region, within))
                        hits += self._scored([region], [(0, hit) for hit in named], None, limit)
                    else:
                        likely.append(region)
            return [*hits, *self._named(likely, name, limit, within)]

        return self._made(_distinct(sorted(self._jointly(found_in, within), key=_order)), limit)

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
        """Where all these features stand near each other; see ``find_colocated``."""
        limit = _checked_limit(limit)

        def found_in(regions: Sequence[OpenRegion]) -> list[Colocation]:
            return find_colocated(
                self.store, regions, features, within_m, within, bearings_deg, in_order=in_order, limit=limit
            )

        return self._jointly(found_in, within)

    def _around(
        self,
        regions: Sequence[OpenRegion],
        point: LatLon,
        reach_m: float,
        category: str | None,
        limit: int,
        enough: int,
    ) -> "list[_Near]":
        """The features nearest to a point; none where not enough have a box within reach."""
        spotted = []
        for region in regions:
            with self.store.explained(region.info.name):
                spotted.append(in_boxes(region, boxes_around(point, reach_m), _meant(region, category)))
        if sum(len(numbers) for numbers, _ in spotted) < enough:
            return []
        near: list[_Near] = []
        for region, (numbers, spots) in zip(regions, spotted, strict=True):
            with self.store.explained(region.info.name):
                near += _nearest(region, numbers, spots, point, reach_m, limit)
        return near

    def reach(self, extent: Extent) -> bool:
        """Whether one of the regions can hold anything of an extent."""
        return bool(self._open(extent))

    def _open(self, within: Extent | None = None) -> list[OpenRegion]:
        return [region for region in self.store.open_all(self._only) if touches(region, within)]

    def _jointly(self, found_in: Callable[[Sequence[OpenRegion]], _T], within: Extent | None) -> _T:
        """What all regions answer together. A damaged one is passed over, unless it was named."""
        regions = self._open(within)
        while True:
            try:
                with question():
                    return found_in(regions)
            except DamagedRegion as error:
                if self._only is not None:
                    raise
                _log.warning("%s", error)
                regions = [region for region in regions if region.info.name != error.name]

    def _ask(self, found_in: Callable[[OpenRegion], Sequence[_T]], within: Extent | None = None) -> list[_T]:
        """What each region answers. A damaged one is passed over, unless it was named."""
        hits: list[_T] = []
        for region in self._open(within):
            try:
                with self.store.explained(region.info.name):
                    hits.extend(found_in(region))
            except DamagedRegion as error:
                if self._only is not None:
                    raise
                _log.warning("%s", error)
        return hits

    def _best(
        self,
        found_in: "Callable[[OpenRegion], Sequence[Hit | _Feature]]",
        within: Extent | None = None,
        *,
        limit: int,
    ) -> list[Hit]:
        """The best of what all regions answer."""
        return self._made(_distinct(sorted(self._ask(found_in, within), key=_order)), limit)

    def _made(self, found: "Iterable[Hit | _Feature]", limit: int) -> list[Hit]:
        """The first hits, with their places."""
        remaining = iter(found)
        best: list[Hit | _Feature] = []
        places: dict[tuple[str, int], Place] = {}
        unreadable = set[str]()
        while more := list(islice(remaining, limit - len(best))):
            rows: dict[str, list[_Feature]] = {}
            for one in more:
                if not isinstance(one, Hit):
                    rows.setdefault(one.region.info.name, []).append(one)
            for name, features in rows.items():
                try:
                    if name not in unreadable:
                        with self.store.explained(name):
                            region = features[0].region
                            made = places_of(region, [full_row(region, one.row) for one in features])
                        places.update(((name, one.row[0]), place) for one, place in zip(features, made, strict=True))
                except DamagedRegion as error:
                    if self._only is not None:
                        raise
                    _log.warning("%s", error)
                    unreadable.add(name)
            best += [one for one in more if isinstance(one, Hit) or one.region.info.name not in unreadable]
        return [
            one if isinstance(one, Hit) else one.hit(places[one.region.info.name, one.row[0]])
            for one in best
            if isinstance(one, Hit) or one.region.info.name not in unreadable
        ]

    def _named(
        self,
        regions: Sequence[OpenRegion],
        text: str,
        limit: int,
        within: Extent | None,
        category: str | None = None,
        near: LatLon | None = None,
    ) -> "list[_Found]":
        """Features of names like a text, best first."""
        if not regions:
            return []
        pool = max(_LEAST_POOL, 4 * limit) if near is None else _NEAR_POOL
        keeps = []
        for region in regions:
            with self.store.explained(region.info.name):
                keeps.append(filter_of(region, within, category))
        indexes, reading = [region.index for region in regions], self._reading(regions)
        found = search_names(indexes, text, limit=pool, keeps=keeps, reading=reading)
        if near is not None and len(found) >= pool:
            # A chain has more branches than that, and the nearest of them are wanted.
            seen = {(number, hit.owner) for number, hit in found}
            for number, (region, keep) in enumerate(zip(regions, keeps, strict=True)):
                with reading(number):
                    exact = region.index.exact(text, partial(_nearest_kept, region, near, keep))
                    found.extend((number, hit) for hit in exact if (number, hit.owner) not in seen)
        return self._scored(regions, found, near, limit)

    def _reading(self, regions: Sequence[OpenRegion]) -> Reading:
        return lambda number: self.store.explained(regions[number].info.name)

    def _scored(
        self, regions: Sequence[OpenRegion], found: Sequence[tuple[int, NameHit]], near: LatLon | None, limit: int
    ) -> "list[_Found]":
        """Names that were found as features, best first; those that can't be among the best are left out."""
        bases = [_base(hit) for _, hit in found]
        # Regions may overlap and have the same features: then under the same name.
        by_text: dict[str, float] = {}
        for base, (_, hit) in zip(bases, found, strict=True):
            by_text[hit.text] = max(base, by_text.get(hit.text, 0.0))
        best = sorted(by_text.values() if len(by_text) >= limit else bases, reverse=True)
        best = best[: limit if len(by_text) >= limit else limit * len(regions)]
        least = best[-1] - _BONUS / (1 - _BONUS) if best else 0.0
        likely: dict[int, list[tuple[float, NameHit]]] = {}
        for base, (number, hit) in zip(bases, found, strict=True):
            if base >= least:
                likely.setdefault(number, []).append((base, hit))
        scored: list[tuple[tuple[float, int, str], _Found]] = []
        for number, hits in likely.items():
            region = regions[number]
            with self.store.explained(region.info.name):
                rows = rows_in(region, [hit.owner for _, hit in hits])
                for base, hit in hits:
                    row = rows.get(hit.owner)
                    if row is not None:
                        score = base * (1 - _BONUS) + _BONUS * _fame(region, row, near, 0.7)
                        one = _Found(region, row, score, hit, near)
                        scored.append((one.order, one))
        return [one for _, one in sorted(scored, key=itemgetter(0))]


def _base(hit: NameHit) -> float:
    """How much a name is worth by itself."""
    if hit.match != "fuzzy":
        return _BASES[hit.match]
    # A telephone number with one other digit is another telephone.
    return _BASES["fuzzy"] * hit.score * (_OTHER_NUMBER if hit.role == ATTRIBUTE else 1.0)


def _fame(region: OpenRegion, row: Sequence[Any], near: LatLon | None, share: float) -> float:
    """How well known a feature is, from 0 to 1; where a point was named, nearness has a share in it."""
    known = float(row[4]) / 1000
    return known if near is None else (1 - share) * known + share * _nearness(near, full_row(region, row))


def _nearest(
    region: OpenRegion, numbers: Ints, spots: Spots, point: LatLon, radius_m: float, limit: int
) -> "list[_Near]":
    """The nearest features, as many as asked for, and others that are as near as the last of them."""
    if not len(numbers):
        return []
    # None is nearer than its box, nor farther than its box's farthest corner: only those are measured that may be among
    # the nearest, and fewer still once some of them are known.
    least, most = _to_boxes_m(point, spots["box"], radius_m)
    drawn, waiting = spots["flags"] & HAS_GROUND != 0, least <= radius_m
    metres = np.empty(len(numbers))
    metres.fill(math.inf)
    at_once = _LOOKED_AT * limit
    while True:
        enough = _smallest(most, limit) if len(numbers) > limit else math.inf
        likely = (waiting & (least <= enough)).nonzero()[0]
        if not len(likely):
            break
        courses = drawn[likely].nonzero()[0]
        if len(courses) > at_once:
            kept = np.ones(len(likely), dtype=bool)
            kept[courses[least[likely[courses]].argpartition(at_once)[at_once:]]] = False
            likely = likely[kept]
            courses = drawn[likely].nonzero()[0]
        at_once *= 4
        some = spots[likely]
        lats, lons = some["lat"] / E7, some["lon"] / E7
        snap_to_nearest(region, numbers[likely[courses]].tolist(), point, (courses, lats, lons))
        metres[likely] = most[likely] = distances_from_km(point, lats, lons) * 1000
        waiting[likely] = False
    near = (metres <= radius_m).nonzero()[0]
    if not len(near):
        return []
    if len(near) > limit:
        near = near[metres[near] <= _smallest(metres[near], limit)]
    rows = rows_in(region, numbers[near].tolist())
    return [_Near(region, rows[int(numbers[at])], float(metres[at])) for at in near.tolist()]


def _smallest(values: FloatArray, count: int) -> float:
    """The largest of so many smallest values."""
    ordered = values.copy()
    ordered.partition(count - 1)
    return float(ordered[count - 1])


def _meant(region: OpenRegion, category: str | None) -> NDArray[np.bool_]:
    """Which kinds a category means; plain house numbers stand aside, unless they are what is asked for."""
    known = region.memory.get("without addresses")
    if category is None and isinstance(known, np.ndarray):
        return known
    meant = set(region.kinds) - {ADDRESS} if category is None else set(matching_kinds(category, region.kinds))
    flags = np.array([kind in meant for kind in region.kinds], dtype=bool)
    if category is None:
        region.memory["without addresses"] = flags
    return flags


def _to_boxes_m(point: LatLon, boxes: NDArray[np.int32], radius_m: float) -> tuple[FloatArray, FloatArray]:
    """Metres to the nearest and farthest points of boxes (1e-7 degrees), or somewhat less and more."""
    if abs(point.lat) > _POLAR or abs(point.lon) > _LAST_MERIDIAN or radius_m > _FLAT_M:
        return np.zeros(len(boxes)), np.full(len(boxes), math.inf)
    edges = boxes.T.astype(np.float64)
    lats, lons, low, high = edges[::2], edges[1::2], edges[:2], edges[2:]
    lats -= point.lat * E7
    lons -= point.lon * E7
    lons *= math.cos(math.radians(point.lat))
    np.negative(low, out=low)  # south and west of the point; the others are north and east of it
    far, gap = np.maximum(low, high), np.minimum(low, high)
    np.minimum(gap, 0.0, out=gap)
    gap *= gap
    far *= far
    least, most = np.sqrt(gap[0] + gap[1]), np.sqrt(far[0] + far[1])
    least *= 0.97 * METRES_PER_DEGREE / E7
    most *= 1.03 * METRES_PER_DEGREE / E7
    return least, most


def _closeness(hit: Hit, radius_m: float) -> float:
    return 1.0 - 0.5 * (hit.distance_km or 0.0) * 1000 / radius_m if radius_m else 1.0


def _nearness(near: LatLon, row: Sequence[Any]) -> float:
    south, west, north, east = row[6:10]
    far = distance_km(near, LatLon(row[4], row[5]))
    if Box(south, west, north, east).contains(near):
        far = min(far, 0.2)
    return _NEAR_KM / (_NEAR_KM + far)


def _nearest_kept(region: OpenRegion, near: LatLon, keep: Keep | None, ids: Ints) -> NDArray[np.bool_]:
    """Those that are wanted and nearest to a point."""
    wanted = np.ones(len(ids), dtype=bool) if keep is None else keep(ids)
    if wanted.sum() > _NEAR_POOL:
        km = distances_from_km(near, *positions(region, ids))
        wanted &= km <= _smallest(km[wanted], _NEAR_POOL)
    return wanted


@dataclass(slots=True)  # not frozen, since a question makes dozens, and those take three times as long
class _Feature(ABC):
    """A feature of which a place is only made if it is among the best of all regions."""

    region: OpenRegion
    row: Sequence[Any]  # as the table has it

    @property
    def id(self) -> str:
        return f"{self.region.info.kind}:{self.region.info.name}:{osm_text(self.row[1])}"

    @property
    def object(self) -> str:
        """The same for one object in extracts that overlap."""
        return f"{self.region.info.kind}:{osm_text(self.row[1])}:{self.region.kinds[self.row[3]]}"

    @property
    @abstractmethod
    def order(self) -> tuple[float, int, str]: ...

    @abstractmethod
    def hit(self, place: Place) -> Hit: ...


@dataclass(slots=True)
class _Found(_Feature):
    """A feature by its name."""

    score: float
    named: NameHit
    near: LatLon | None

    @property
    def order(self) -> tuple[float, int, str]:
        return -self.score, len(self.named.text), self.id

    def hit(self, place: Place) -> Hit:
        far = distance_km(self.near, place.point) if self.near else None
        return Hit(place, self.score, self.named.match, text_of(self.named.text), far)


@dataclass(slots=True)
class _Near(_Feature):
    """A feature by its position."""

    metres: float

    @property
    def order(self) -> tuple[float, int, str]:
        return self.metres, 0, self.id

    def hit(self, place: Place) -> Hit:
        return Hit(place, 1.0, "near", place.name, self.metres / 1000)


def _order(one: Hit | _Feature) -> tuple[float, int, str]:
    return (-one.score, len(one.matched), one.place.id) if isinstance(one, Hit) else one.order


def _object_of(one: Hit | _Feature) -> str:
    """The same for one object in extracts that overlap."""
    if not isinstance(one, Hit):
        return one.object
    origin, _, rest = one.place.id.partition(":")
    return f"{origin}:{rest.partition(':')[2]}:{one.place.kind}"


def _distinct(hits: "Iterable[_OneT]") -> "Iterator[_OneT]":
    """The first of each object."""
    known = set[str]()
    for hit in hits:
        if (same := _object_of(hit)) not in known:
            known.add(same)
            yield hit


_OneT = TypeVar("_OneT", bound=Hit | _Feature)


def _checked_limit(limit: int) -> int:
    if limit < 1:
        raise BadInput(f"a limit is a whole number from 1 to {MAX_LIMIT}, not {limit}")
    return min(limit, MAX_LIMIT)
