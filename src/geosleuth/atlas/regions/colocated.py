"""Places where several features stand near each other."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import STRtree

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.atlas.protocol import Colocation, Place
from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, Extent, FloatArray, LatLon, great_circle_km, normalize_lon
from geosleuth.geo import bearings_deg as compass

from .cells import BESIDE, NARROWEST_M, ROW, cell_numbers, hashed_cells, in_company, neighbours
from .feature_query import FeatureQuery, FeatureSet, Ints
from .geometry import E7
from .pbf import spans
from .region_store import (
    OpenRegion,
    RegionStore,
    boxes_of,
    check_positions,
    grounds_of,
    inside,
    places_of,
    rows_of,
    sources_of,
)

_REMEMBERED: Final = 20_000
_STREET_STEP_DEG: Final = 0.0001  # about 11 m


@dataclass(frozen=True, slots=True)
class Candidates:
    """Features that one word may stand for, and their positions: one each, or a row of them along a street."""

    regions: Ints  # number of the region, one for each owner
    owners: Ints  # id of the feature
    scores: FloatArray  # one for each owner
    keys: Ints  # one for each owner: equal where two regions hold the same object
    lats: FloatArray
    lons: FloatArray
    owner_of: Ints  # index into owners, for each position

    def __len__(self) -> int:
        """How many features."""
        return len(self.owners)


@dataclass(frozen=True, slots=True)
class Combinations:
    """Features that stand together, the tightest combination first."""

    spreads_m: FloatArray
    parts: Ints  # for each combination the position of each feature

    @classmethod
    def none(cls, features: int) -> "Combinations":
        """Return none of so many features each."""
        return cls(np.empty(0), np.empty((0, features), dtype=np.int64))

    def __len__(self) -> int:
        """How many."""
        return len(self.spreads_m)


def resolve(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    text: str,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    """Everything that a name or a category may mean; ``known`` numbers objects across calls and regions."""
    query = FeatureQuery.of(store, regions, text, within)
    return _placed(store, regions, query.all(), within, known)


def _around(
    store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet, within_m: float
) -> FloatArray | None:
    """West, south, east and north of what may be near each feature; None close to a pole or to 180 degrees."""
    boxes = _boxes(store, regions, features)
    farthest = float(np.abs(boxes[:, [1, 3]]).max(initial=0.0))
    reach = math.degrees(within_m / 1000 / EARTH_RADIUS_KM) * 1.01
    wide = reach / max(math.cos(math.radians(min(farthest + reach, 90.0))), 1e-3)
    if farthest > _POLAR or float(np.abs(boxes[:, [0, 2]]).max(initial=0.0)) + wide > 180:
        return None
    grown: FloatArray = boxes + np.array([-wide, -reach, wide, reach])
    return grown


def _placed(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    features: FeatureSet,
    within: Extent | None,
    known: dict[tuple[str, int | str], int],
) -> Candidates:
    keys = _object_numbers(store, regions, features, known)
    if (keys < 0).any():  # the first of each object stands for it
        _, first = np.unique(keys, return_index=True)
        first.sort()
        features, keys = features.chosen(first), keys[first]
    placed, belongs = _places(store, regions, features)
    if within is not None:
        kept = inside(within, placed[:, 1], placed[:, 0])
        placed, belongs = placed[kept], belongs[kept]
    return Candidates(features.regions, features.ids, features.scores, keys, placed[:, 1], placed[:, 0], belongs)


def _near_each_other(feature_sets: Sequence[FeatureSet], within_m: float) -> Sequence[FeatureSet]:
    """Return only those of the points that may have one of every other set near enough."""
    reach = math.degrees(max(within_m, NARROWEST_M) / 1000 / EARTH_RADIUS_KM) * 1.01
    farthest = max(_largest(features.lats_e7) for features in feature_sets)
    wide = reach / max(math.cos(math.radians(min(farthest + reach, 90.0))), 1e-3)
    if farthest > _POLAR or max(_largest(features.lons_e7) for features in feature_sets) + wide > 180:
        return feature_sets
    positions = [(features.lats_e7, features.lons_e7) for features in feature_sets]
    kept = in_company(positions, reach * E7, wide * E7)
    return [features.chosen(some) for features, some in zip(feature_sets, kept, strict=True)]


def _largest(e7: NDArray[np.int32]) -> float:
    """Return the largest of some latitudes or longitudes, north or south, in degrees."""
    return max(int(e7.max()), -int(e7.min())) / E7 if len(e7) else 0.0


_TABLE: Final = (1 << 20) - 1


def _in_company(
    store: RegionStore, regions: Sequence[OpenRegion], feature_sets: Sequence[FeatureSet], within_m: float
) -> Sequence[FeatureSet]:
    """Only those features whose box has one of the rarest feature, and that in turn all others, near enough.

    A street of a common name is looked at along its whole course later; most of its namesakes have no such company.
    """
    counts = [len(features) for features in feature_sets]
    if max(counts) < _FEW:
        return feature_sets
    if not any(features.streets.any() for features in feature_sets):
        return _near_each_other(feature_sets, within_m)
    rarest = int(np.argmin(counts))
    around = _boxes(store, regions, feature_sets[rarest])
    feature_sets = _around_rarest(feature_sets, rarest, around, within_m)
    counts = [len(features) for features in feature_sets]
    boxes = [
        around if number == rarest else _boxes(store, regions, features) for number, features in enumerate(feature_sets)
    ]
    every = np.concatenate(boxes)
    farthest = float(np.abs(every[:, [1, 3]]).max())
    reach = math.degrees(within_m / 1000 / EARTH_RADIUS_KM) * 1.01
    wide = reach / max(math.cos(math.radians(min(farthest + reach, 90.0))), 1e-3)
    if farthest > _POLAR or float(np.abs(every[:, [0, 2]]).max()) + wide > 180:
        return feature_sets
    margin = np.array([-wide, -reach, wide, reach])
    near = boxes[rarest] + margin
    keep = np.ones(len(near), dtype=bool)
    pairs = {}
    for number, some in enumerate(boxes):
        if number != rarest:
            rows = np.flatnonzero(keep)
            one, two = _meeting(near[rows], some)
            pairs[number] = rows[one], two
            keep &= np.isin(np.arange(len(near)), rows[one])
    pairs = {number: (one[keep[one]], two[keep[one]]) for number, (one, two) in pairs.items()}
    kept = {number: np.isin(np.arange(counts[number]), two) for number, (_, two) in pairs.items()}
    kept[rarest] = keep
    # Of a long street only what lies near a feature of each other set can matter.
    windows = {number: _hulls(two, near[one], counts[number]) for number, (one, two) in pairs.items()}
    grown = [_hulls(one, boxes[number][two] + margin, counts[rarest]) for number, (one, two) in pairs.items()]
    windows[rarest] = np.concatenate(
        [np.max([hull[:, :2] for hull in grown], axis=0), np.min([hull[:, 2:] for hull in grown], axis=0)], axis=1
    )
    return [
        replace(features.chosen(kept[number]), windows=windows[number][kept[number]])
        for number, features in enumerate(feature_sets)
    ]


def _hulls(of: Ints, boxes: FloatArray, count: int) -> FloatArray:
    """Return the box around all boxes of each of so many features; ``of`` says whose each of the boxes is."""
    hulls = np.tile([math.inf, math.inf, -math.inf, -math.inf], (count, 1))
    for column, edge in enumerate((np.minimum, np.minimum, np.maximum, np.maximum)):
        edge.at(hulls[:, column], of, boxes[:, column])
    return hulls


def _around_rarest(
    feature_sets: Sequence[FeatureSet], rarest: int, boxes: FloatArray, within_m: float
) -> Sequence[FeatureSet]:
    """All streets, and those of the points that may have one of the rarest feature, with these boxes, near enough."""
    reach = math.degrees(within_m / 1000 / EARTH_RADIUS_KM) * 1.01
    farthest = float(np.abs(boxes[:, [1, 3]]).max(initial=0.0)) + reach
    wide = reach / max(math.cos(math.radians(min(farthest, 90.0))), 1e-3)
    if farthest > _POLAR or float(np.abs(boxes[:, [0, 2]]).max(initial=0.0)) + 2 * wide > 180:
        return feature_sets
    west, east = cell_numbers(boxes[:, 0] - wide, 180, wide), cell_numbers(boxes[:, 2] + wide, 180, wide)
    south, north = cell_numbers(boxes[:, 1] - reach, 90, reach), cell_numbers(boxes[:, 3] + reach, 90, reach)
    rows = north - south + 1
    if int((rows * (east - west + 1)).sum()) > _MOST_CELLS:
        return feature_sets
    table = np.zeros(_TABLE + 1, dtype=bool)
    of, row = np.repeat(np.arange(len(boxes)), rows), spans(south, rows)
    long = (east - west + 1)[of]
    table[(np.repeat(row, long) * ROW + spans(west[of], long)) & _TABLE] = True
    found = list(feature_sets)
    for number, features in enumerate(feature_sets):
        if number != rarest:
            cells = cell_numbers(features.lats, 90, reach) * ROW + cell_numbers(features.lons, 180, wide)
            kept = table[cells & _TABLE]
            found[number] = features.chosen(kept | features.streets)
    return found


_MOST_CELLS: Final = 300_000


def _meeting(near: FloatArray, some: FloatArray) -> tuple[Ints, Ints]:
    """Which boxes meet which others."""
    points = (some[:, 0] == some[:, 2]) & (some[:, 1] == some[:, 3])
    found = [_points_in(near, some, points.nonzero()[0]), _boxes_in(near, some, (~points).nonzero()[0])]
    one, two = (np.concatenate(column) for column in zip(*found, strict=True))
    return one, two


def _points_in(near: FloatArray, some: FloatArray, rows: Ints) -> tuple[Ints, Ints]:
    """Which boxes hold which points."""
    rows = rows[some[rows, 1].argsort(kind="stable")]
    lats, lons = some[rows, 1], some[rows, 0]
    begins = lats.searchsorted(near[:, 1])
    counts = lats.searchsorted(near[:, 3], side="right") - begins
    one, two = np.repeat(np.arange(len(near)), counts), spans(begins, counts)
    met = (lons[two] >= near[one, 0]) & (lons[two] <= near[one, 2])
    return one[met], rows[two[met]]


def _boxes_in(near: FloatArray, some: FloatArray, rows: Ints) -> tuple[Ints, Ints]:
    if len(near) * len(rows) > _MOST_COMPARED:
        one, two = STRtree(shapely.box(*some[rows].T)).query(shapely.box(*near.T))
        return one, rows[two]
    wests, souths, easts, norths = (edge[:, None] for edge in some[rows].T)
    west, south, east, north = near.T
    two, one = ((norths >= south) & (souths <= north) & (easts >= west) & (wests <= east)).nonzero()
    return one, rows[two]


def _boxes(store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet) -> FloatArray:
    """Return west, south, east and north of each feature."""
    if features.boxes is not None:
        return features.boxes
    lats, lons = features.lats, features.lons
    boxes = np.column_stack([lons, lats, lons, lats])
    for region, streets in _by_region(regions, features, features.streets.nonzero()[0]):
        with store.explained(region.info.name):
            ids = features.ids[streets].tolist()
            edges = boxes_of(region, ids)
            wide = [at for at, number in zip(streets.tolist(), ids, strict=True) if number in edges]
            packed = b"".join([edges[number] for number in ids if number in edges])
            boxes[wide] = np.frombuffer(packed, dtype="<i4").reshape(-1, 4)[:, [1, 0, 3, 2]] / E7
    return boxes


def _by_region(regions: Sequence[OpenRegion], features: FeatureSet, places: Ints) -> Iterator[tuple[OpenRegion, Ints]]:
    """Yield some places in a set, ascending, for each region that has one."""
    if len(places):
        cuts = features.regions[places].searchsorted(np.arange(len(regions) + 1)).tolist()
        for region, (begin, end) in zip(regions, pairwise(cuts), strict=True):
            if begin < end:
                yield region, places[begin:end]


_FEW: Final = 100
_MOST_COMPARED: Final = 200_000
_POLAR: Final = 85.0


def _object_numbers(
    store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet, known: dict[tuple[str, int | str], int]
) -> Ints:
    """Numbers of the objects, the same for one that several regions hold.

    The source's own id is looked at for what lies at the same point, and for streets, which regions may cut.
    """
    objects = features.ids + (features.regions << _REGION_BITS)
    if len(regions) == 1:
        return objects
    every, long = features.lats_e7.astype(np.int64) << 32 ^ features.lons_e7, features.streets
    order = np.sort(every)
    twice = order[1:][order[1:] == order[:-1]]
    doubtful = np.zeros(len(every), dtype=bool)
    if len(twice):  # features of one region that lie at one point are several objects
        places = np.isin(every, twice).nonzero()[0]
        _, first, spot = np.unique(every[places], return_index=True, return_inverse=True)
        elsewhere = features.regions[places] != features.regions[places[first]][spot]
        doubtful[places] = np.isin(spot, spot[elsewhere])
    if long.any():
        doubtful[long] |= _may_be_cut(every[long], features.regions[long])
    for region, places in _by_region(regions, features, doubtful.nonzero()[0]):
        with store.explained(region.info.name):
            ids = features.ids[places].tolist()
            sources = sources_of(region, ids)
            for at, number in zip(places.tolist(), ids, strict=True):
                objects[at] = -1 - known.setdefault((region.info.kind, sources[number]), len(known))
    return objects


def _may_be_cut(spots: Ints, of: Ints) -> NDArray[np.bool_]:
    """Which streets have another of another region within a degree, so that they may be parts of one."""
    lats, lons = spots >> 32, (spots << 32) >> 32
    cells, spot = np.unique(hashed_cells(lats / E7, lons / E7), return_inverse=True)
    least, most = np.full(len(cells), np.iinfo(np.int64).max), np.full(len(cells), -1)
    np.minimum.at(least, spot, of)  # the first and the last region that has a street in each cell
    np.maximum.at(most, spot, of)
    found = np.zeros(len(spots), dtype=bool)
    for wanted in (cells + step for step in BESIDE):
        beside = np.minimum(cells.searchsorted(wanted), len(cells) - 1)
        there = cells[beside] == wanted
        found |= there[spot] & ((least[beside][spot] != of) | (most[beside][spot] != of))
    return found


_REGION_BITS: Final = 40


def _places(store: RegionStore, regions: Sequence[OpenRegion], features: FeatureSet) -> tuple[FloatArray, Ints]:
    """(lon, lat) rows, and for each row which of the features it belongs to; in each region streets come last."""
    at = np.column_stack([features.lons, features.lats])
    streets = features.streets.nonzero()[0]
    if not len(streets):
        return at, np.arange(len(features))
    points = (~features.streets).nonzero()[0]
    spots: list[FloatArray] = []
    belongs: list[Ints] = []
    done = 0
    for region, some in _by_region(regions, features, streets):
        number = features.regions[some[0]]
        before = points[done : int(features.regions[points].searchsorted(number, side="right"))]
        done += len(before)
        spots.append(at[before])
        belongs.append(before)
        with store.explained(region.info.name):
            along = _along_streets(region, features.ids[some].tolist())
        if features.windows is not None:
            along = [*map(_inside_window, along, features.windows[some].tolist())]
        spots += along
        belongs.append(some.repeat([len(one) for one in along]))
    return np.concatenate([*spots, at[points[done:]]]), np.concatenate([*belongs, points[done:]])


def _along_streets(region: OpenRegion, streets: Sequence[int]) -> list[FloatArray]:
    """Positions along all the ways of streets; remembered, since they take a while to make."""
    if not streets:
        return []
    known: dict[int, Any] = {street: region.memory.get(f"street {street}") for street in streets}
    missing = [street for street, points in known.items() if points is None]
    if not missing:
        return [known[street] for street in streets]
    geoms = dict.fromkeys(missing, b"")
    geoms |= rows_with(region.conn, "SELECT feature, geom FROM ground WHERE feature", missing)
    drawn = [street for street in missing if geoms[street]]
    lines = shapely.segmentize(grounds_of([geoms[street] for street in drawn]), _STREET_STEP_DEG)
    points, of = shapely.get_coordinates(lines, return_index=True)
    check_positions(points[:, 1], points[:, 0])
    cuts = np.searchsorted(of, np.arange(len(drawn) + 1)).tolist()
    for number, street in enumerate(drawn):
        along = known[street] = np.unique(points[cuts[number] : cuts[number + 1]], axis=0)
        if len(region.memory) < _REMEMBERED:
            region.memory[f"street {street}"] = along
    return [np.empty((0, 2)) if known[street] is None else known[street] for street in streets]


def _inside_window(points: FloatArray, window: Sequence[float]) -> FloatArray:
    """Return those points of a street that lie in a window; points ascend by their longitudes."""
    if len(points) <= _SHORT:
        return points
    west, south, east, north = window
    begin, end = points[:, 0].searchsorted((west, east)).tolist()
    lats = points[begin : end + 1, 1]
    return points[begin : end + 1][(lats >= south) & (lats <= north)]


_SHORT: Final = 200  # positions: to cut a shorter street takes longer than to look at all of it
BEARING_TOLERANCE_DEG: Final = 30.0
_FIRST_RADIUS_M: Final = 15.0
_WIDER: Final = 2.0
_FEW_COMBINATIONS: Final = 200_000
_FEW_IN_PAIRS, _FEW_ANCHORS = 100, 1000
MAX_LOOKED_AT: Final = 6_000_000
_SLICE: Final = 200_000


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a combination must satisfy beside being close together."""

    bearings: tuple[float | None, ...]  # one for each feature, None for the first
    in_order: bool


def find_colocated(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    features: Sequence[str],
    within_m: float,
    within: Extent | None,
    bearings_deg: Sequence[float | None] | None,
    *,
    in_order: bool,
    limit: int,
) -> list[Colocation]:
    """The closest combination around each candidate of the rarest feature, the tightest first.

    A feature plays one part only. Streets count with every stretch, in steps of about 11 m, other features with their
    one point. ``spread_m`` is the largest great-circle distance between any two. The answer is exact as long as
    ``MAX_LOOKED_AT`` combinations are enough to find it; beyond that the widest ones are given up.

    Raises:
        BadInput: not two to five features, a distance that is none, or bearings that don't go with the features.
    """
    _check(features, within_m)
    rules = _Rules(_checked_bearings(bearings_deg, len(features)), in_order)
    queries: list[FeatureQuery] = []
    for text in features:
        queries.append(FeatureQuery.of(store, regions, text, within))
        if not queries[-1].count:
            return []
    return _Question(store, regions, queries, within_m, within, rules, limit).answer()


class _Question:
    """A question about features of which there is at least one each."""

    def __init__(
        self,
        store: RegionStore,
        regions: Sequence[OpenRegion],
        queries: Sequence[FeatureQuery],
        within_m: float,
        within: Extent | None,
        rules: _Rules,
        limit: int,
    ) -> None:
        self._store = store
        self._regions = regions
        self._queries = queries
        self._within_m = within_m
        self._within = within
        self._rules = rules
        self._limit = limit
        self._known: dict[tuple[str, int | str], int] = {}
        self._whole: dict[int, FeatureSet] = {}
        counts = [one.count if within is None else len(self._all(number)) for number, one in enumerate(queries)]
        self._anchor = anchor = counts.index(min(counts))
        self._whole[anchor] = replace(self._all(anchor), boxes=_boxes(store, regions, self._all(anchor)))
        worth_boxes = min(_MOST_BOXES, sum(counts) // (_WORTH_A_BOX * (len(queries) - 1)))
        self._few = len(self._all(anchor)) <= max(_FEW, worth_boxes)

    def answer(self) -> list[Colocation]:
        """Return the tightest combinations, looking no farther than it takes to find enough of them."""
        candidates = len(self._all(self._anchor))
        radii_m = [min(_CLOSE_M, self._within_m), self._within_m] if candidates > _MANY else [self._within_m]
        first_m = min(_FIRST_RADIUS_M, self._within_m)
        if candidates >= _WORTH_A_SAMPLE and not self._few:
            radii_m, first_m = self._guessed(radii_m, first_m)
        for radius_m in dict.fromkeys(radii_m):
            sets, found = self._tightest(self._near_rarest(radius_m), radius_m, first_m)
            if len(found) >= self._limit:
                break
            first_m = _WIDER * radius_m
        return _colocations(self._store, self._regions, sets, found, self._within_m)

    def _guessed(self, radii_m: Sequence[float], first_m: float) -> tuple[list[float], float]:
        """Return the radii to look within, and where to begin, by what a sample of the rarest feature has near it.

        Of what stands everywhere, enough stands close together.
        """
        share = max(_LEAST_SHARE, _SAMPLE / len(self._all(self._anchor)))
        enough = math.ceil(_MORE_THAN_ENOUGH * self._limit * share)
        every = [self._all(number) for number in range(len(self._queries))]
        for radius_m in dict.fromkeys((radii_m[0], min(_FAR_M, self._within_m))):
            _, found = self._tightest(_in_stripes(every, self._anchor, share, radius_m), radius_m, first_m)
            first_m = radius_m
            if len(found) >= enough:
                likely_m = min(float(found.spreads_m[enough - 1]) + _A_LITTLE_M, self._within_m)
                return [likely_m, *(radius_m for radius_m in radii_m if radius_m > likely_m)], likely_m
        return [self._within_m], first_m  # few stand so close that it is worth looking there first

    def _tightest(
        self, feature_sets: Sequence[FeatureSet], radius_m: float, first_m: float
    ) -> tuple[list[Candidates], Combinations]:
        """Return candidates, and the tightest combinations of them."""
        if not all(map(len, feature_sets)):
            return [], Combinations.none(len(feature_sets))
        near = _in_company(self._store, self._regions, feature_sets, radius_m)
        sets = [_placed(self._store, self._regions, features, self._within, self._known) for features in near]
        if not all(map(len, sets)):
            return [], Combinations.none(len(sets))
        return sets, _Search(sets, radius_m, self._rules, self._anchor).run(self._limit, first_m)

    def _near_rarest(self, radius_m: float) -> list[FeatureSet]:
        """Return all features; where the rarest one is rare, only those of the others that may be near it."""
        boxes = _around(self._store, self._regions, self._all(self._anchor), radius_m) if self._few else None
        return [
            self._all(number) if boxes is None or number == self._anchor else query.near(boxes)
            for number, query in enumerate(self._queries)
        ]

    def _all(self, number: int) -> FeatureSet:
        """Return all features of a query, read once."""
        if number not in self._whole:
            self._whole[number] = self._queries[number].all()
        return self._whole[number]


def _in_stripes(feature_sets: Sequence[FeatureSet], anchor: int, share: float, within_m: float) -> list[FeatureSet]:
    """Return what lies in stripes along parallels that hold about a share of the rarest feature's candidates.

    Each candidate comes with all that is near it. Features of each region are in the order of their latitudes.
    """
    margin = math.degrees(within_m / 1000 / EARTH_RADIUS_KM) * E7 * 1.01
    last = max(int(features.regions[-1]) for features in feature_sets)
    cuts = [features.regions.searchsorted(np.arange(last + 2)).tolist() for features in feature_sets]
    places: list[list[Ints]] = [[] for _ in feature_sets]
    for region in range(last + 1):
        begin, end = cuts[anchor][region : region + 2]
        stripes = np.arange(0, end - begin, max(1, round(_STRIPE / share)))
        lats = feature_sets[anchor].lats_e7[begin:end].astype(np.float64)
        souths, norths = lats[stripes], lats[np.minimum(stripes + _STRIPE, end - begin) - 1]
        for number, (features, cut, some) in enumerate(zip(feature_sets, cuts, places, strict=True)):
            reach = 0.0 if number == anchor else margin
            part = features.lats_e7[cut[region] : cut[region + 1]]
            begins = part.searchsorted(souths - reach)
            ends = part.searchsorted(norths + reach, side="right")
            begins[1:] = np.maximum(begins[1:], ends[:-1])  # stripes may overlap
            some.append(spans(begins + cut[region], np.maximum(ends - begins, 0)))
    return [features.chosen(np.concatenate(some)) for features, some in zip(feature_sets, places, strict=True)]


_CLOSE_M: Final = 80.0
_NARROW_M: Final = 66.0
_FAR_M: Final = 1000.0
_A_LITTLE_M: Final = 0.001
_SAMPLE: Final = 600  # so many candidates of the rarest feature are looked at first
_LEAST_SHARE: Final = 0.02  # but no smaller a share of them
_STRIPE: Final = 16  # candidates that follow each other from south to north
_WORTH_A_SAMPLE: Final = 4000
_MORE_THAN_ENOUGH: Final = 3.0  # times as many as wanted should be as close as the sample tells
_MANY: Final = 200
_MOST_BOXES: Final = 2000
_WORTH_A_BOX: Final = 200  # to look what lies in a box takes as long as to compare so many features


class _Search:
    """Widens a radius around every candidate of the rarest feature until enough of them have found company.

    The tightest combination around a candidate is no wider than the radius at which it first appears, so what has been
    found can be taken out, and crowded places never see the large radii that would drown them in combinations.
    """

    def __init__(self, sets: Sequence[Candidates], within_m: float, rules: _Rules, anchor: int) -> None:
        self._sets = sets
        self._within_m = within_m
        self._rules = rules
        self._anchor = anchor
        # Bearings are from the first feature: where one is given, it comes before the others.
        first = 0 if any(bearing is not None for bearing in rules.bearings) else None
        others = sorted((n for n in range(len(sets)) if n != self._anchor), key=lambda n: (n != first, len(sets[n])))
        self._order = [self._anchor, *others]
        self._left = MAX_LOOKED_AT

    def run(self, limit: int, first_m: float) -> Combinations:
        """Return the tightest combinations, one for each anchor that has one.

        ``first_m`` is the first radius, unless all can be looked at in one step.
        """
        anchor = self._sets[self._anchor]
        open_points = np.arange(len(anchor.owner_of))
        parts, spreads = np.empty((0, len(self._sets)), dtype=np.int64), np.empty(0)
        # Where only few can be near each other, all of them are looked at in one step.
        few = math.prod(len(one.owner_of) for one in self._sets) <= _FEW_COMBINATIONS or self._within_m <= _NARROW_M
        close = _FEW_ANCHORS if self._within_m <= _CLOSE_M else 0
        few |= len(open_points) <= (_FEW_IN_PAIRS if len(self._sets) == 2 else close)
        radius_m = self._within_m if few else first_m
        while True:
            more, wide = self._tightest(*self._combinations(open_points, radius_m))
            parts, spreads = np.concatenate([parts, more]), np.concatenate([spreads, wide])
            if len(parts) >= limit or radius_m >= self._within_m or self._left <= 0:
                break
            open_points = open_points[~np.isin(anchor.owner_of[open_points], anchor.owner_of[parts[:, self._anchor]])]
            radius_m = min(radius_m * _WIDER, self._within_m)
        if len(parts) > limit:
            kept = spreads <= np.partition(spreads, limit - 1)[limit - 1]
            parts, spreads = parts[kept], spreads[kept]
        order = np.lexsort((*parts.T[::-1], spreads))[:limit]
        return Combinations(spreads[order], parts[order])

    def _tightest(self, parts: Ints, spreads: FloatArray) -> tuple[Ints, FloatArray]:
        """The tightest combination around each candidate of the rarest feature."""
        order = np.argsort(spreads, kind="stable")
        _, first = np.unique(self._sets[self._anchor].owner_of[parts[order, self._anchor]], return_index=True)
        return parts[order[first]], spreads[order[first]]

    def _combinations(self, anchors: Ints, radius_m: float) -> tuple[Ints, FloatArray]:
        """All combinations no wider than the radius: positions by feature, and spreads."""
        first = self._order[1]
        found, columns, spreads = self._pairs(anchors, first, radius_m)
        self._left -= len(found)
        parts = np.full((len(found), len(self._sets)), -1, dtype=np.int64)
        parts[:, self._anchor], parts[:, first] = found, columns
        keep = self._fits(parts, first, [self._anchor])
        parts, spreads = parts[keep], spreads[keep]
        for step, number in enumerate(self._order[2:], start=2):
            pairs = self._pairs(np.unique(parts[:, self._anchor]), number, radius_m)
            parts, spreads = self._extended(parts, spreads, pairs, number, self._order[:step], radius_m)
        if self._rules.in_order and len(parts):
            keep = self._lie_in_order(parts)
            parts, spreads = parts[keep], spreads[keep]
        return parts, spreads

    def _pairs(self, anchors: Ints, number: int, radius_m: float) -> tuple[Ints, Ints, FloatArray]:
        """Anchor positions (ascending), positions of the other feature, and metres between them."""
        here, there = self._sets[self._anchor], self._sets[number]
        lats, lons = here.lats[anchors], here.lons[anchors]
        rows, columns = neighbours((lats, lons), (there.lats, there.lons), radius_m)
        metres = great_circle_km(lats[rows], lons[rows], there.lats[columns], there.lons[columns]) * 1000
        near = metres <= radius_m
        rows, columns, metres = anchors[rows[near]], columns[near], metres[near]
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], metres[order]

    def _extended(
        self,
        parts: Ints,
        spreads: FloatArray,
        pairs: tuple[Ints, Ints, FloatArray],
        number: int,
        placed: Sequence[int],
        radius_m: float,
    ) -> tuple[Ints, FloatArray]:
        """Each combination with each neighbour of its anchor that fits all of it."""
        anchors, columns, metres = pairs
        tightest_first = np.argsort(spreads, kind="stable")
        parts, spreads = parts[tightest_first], spreads[tightest_first]
        begins = np.searchsorted(anchors, parts[:, self._anchor], side="left")
        counts = np.searchsorted(anchors, parts[:, self._anchor], side="right") - begins
        done_parts, done_spreads = [parts[:0]], [spreads[:0]]
        ends = np.cumsum(counts)
        begin = 0
        while begin < len(parts) and self._left > 0:  # in slices, so that a crowded place can't fill the memory
            base = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, base + _SLICE, side="right")))
            rows = np.repeat(np.arange(begin, end), counts[begin:end])
            within_row = np.arange(len(rows)) - np.repeat(ends[begin:end] - counts[begin:end] - base, counts[begin:end])
            self._left -= len(rows)
            at = begins[rows] + within_row
            grown = parts[rows]
            grown[:, number] = columns[at]
            wide = np.maximum(spreads[rows], metres[at])
            keep = self._fits(grown, number, placed)
            grown, wide = grown[keep], wide[keep]
            for other in placed:
                if other != self._anchor:
                    wide = np.maximum(wide, self._metres(grown, other, number))
            near = wide <= radius_m
            done_parts.append(grown[near])
            done_spreads.append(wide[near])
            begin = end
        return np.concatenate(done_parts), np.concatenate(done_spreads)

    def _fits(self, parts: Ints, number: int, placed: Sequence[int]) -> NDArray[np.bool_]:
        """Whether the newest part is another feature than the rest, and in the right direction."""
        mine = self._keys(parts, number)
        keep = np.ones(len(parts), dtype=bool)
        for other in placed:
            keep &= mine != self._keys(parts, other)
        # The first feature is placed first or second, so a bearing can be judged as soon as its other end is known.
        for one in (*placed, number):
            wanted = self._rules.bearings[one]
            if wanted is not None and 0 in (*placed, number) and number in (0, one):
                first, other_set = self._sets[0], self._sets[one]
                courses = compass(
                    first.lats[parts[:, 0]], first.lons[parts[:, 0]],
                    other_set.lats[parts[:, one]], other_set.lons[parts[:, one]],
                )  # fmt: skip
                keep &= np.abs((courses - wanted + 180) % 360 - 180) <= BEARING_TOLERANCE_DEG
        return keep

    def _keys(self, parts: Ints, number: int) -> Ints:
        candidates = self._sets[number]
        return candidates.keys[candidates.owner_of[parts[:, number]]]

    def _metres(self, parts: Ints, one: int, two: int) -> FloatArray:
        a, b = self._sets[one], self._sets[two]
        first, second = parts[:, one], parts[:, two]
        return great_circle_km(a.lats[first], a.lons[first], b.lats[second], b.lons[second]) * 1000

    def _lie_in_order(self, parts: Ints) -> NDArray[np.bool_]:
        """Whether the features follow each other along the line through them, in the order asked for."""
        lats = np.column_stack([one.lats[parts[:, n]] for n, one in enumerate(self._sets)])
        lons = np.column_stack([one.lons[parts[:, n]] for n, one in enumerate(self._sets)])
        return lie_in_order(lats, lons)


def lie_in_order(lats: FloatArray, lons: FloatArray) -> NDArray[np.bool_]:
    """For rows of points: whether their projections on the row's principal line go one way without turning back."""
    north = lats - lats[:, :1]
    east = normalize_lon(lons - lons[:, :1]) * np.cos(np.radians(lats[:, :1]))
    north = north - north.mean(axis=1, keepdims=True)
    east = east - east.mean(axis=1, keepdims=True)
    angle = 0.5 * np.arctan2(2 * (east * north).sum(axis=1), (east**2).sum(axis=1) - (north**2).sum(axis=1))
    along = east * np.cos(angle)[:, None] + north * np.sin(angle)[:, None]
    steps = np.diff(along, axis=1)
    return np.asarray((steps > 0).all(axis=1) | (steps < 0).all(axis=1))


def _colocations(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    sets: Sequence[Candidates],
    found: Combinations,
    within_m: float,
) -> list[Colocation]:
    if not len(found):
        return []
    columns = list(zip(sets, found.parts.T, strict=True))
    owners = [one.owner_of[places] for one, places in columns]
    features = [
        list(zip(one.regions[some].tolist(), one.owners[some].tolist(), strict=True))
        for one, some in zip(sets, owners, strict=True)
    ]
    places: dict[tuple[int, int], Place] = {}
    for number, region in enumerate(regions):
        wanted = list({feature for some in features for of, feature in some if of == number})
        if wanted:
            with store.explained(region.info.name):
                rows = rows_of(region, wanted)
                made = places_of(region, [rows[feature] for feature in wanted])
            places.update(((number, feature), place) for feature, place in zip(wanted, made, strict=True))
    lats, lons = (np.stack([getattr(one, axis)[at] for one, at in columns]) for axis in ("lats", "lons"))
    middle_lons = normalize_lon(lons[0] + normalize_lon(lons - lons[0]).mean(axis=0))
    fits = np.prod([one.scores[some] for one, some in zip(sets, owners, strict=True)], axis=0) ** (1 / len(sets))
    scores = fits * (1 - 0.5 * found.spreads_m / within_m)
    return [
        Colocation(tuple(places[one] for one in some), LatLon(lat, lon), spread_m, score)
        for some, lat, lon, spread_m, score in zip(
            zip(*features, strict=True),
            lats.mean(axis=0).tolist(),
            middle_lons.tolist(),
            found.spreads_m.tolist(),
            scores.tolist(),
            strict=True,
        )
    ]


def _check(features: Sequence[str], within_m: float) -> None:
    if not 2 <= len(features) <= 5:
        raise BadInput(f"name two to five features that stand near each other, not {len(features)}")
    for text in features:
        if not text.strip():
            raise BadInput("a feature to look for is empty; give a name or a category such as amenity=pharmacy")
    if not (math.isfinite(within_m) and 0 < within_m <= 100_000):
        raise BadInput(f"the largest distance between the features is 0 to 100000 m, not {within_m}")


def _checked_bearings(bearings_deg: Sequence[float | None] | None, count: int) -> tuple[float | None, ...]:
    if bearings_deg is None:
        return (None,) * count
    given = tuple(bearings_deg)
    if len(given) == count - 1:
        given = (None, *given)
    if len(given) != count:
        raise BadInput(f"give a bearing (or none) for each feature after the first: {count - 1}, not {len(given)}")
    for one in given:
        if one is not None and not math.isfinite(one):
            raise BadInput(f"a bearing is a number of degrees from north, not {one}")
    return (None, *given[1:])
