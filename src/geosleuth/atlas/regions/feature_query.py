"""Find the features of all regions that a text may mean: those of a category, and those with such a name.

`FeatureQuery` looks a text up. It reads the features of a category only when they are needed: all of them, or those
near given boxes. The result is a `FeatureSet`, with one array per column and the features of all regions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.search import ATTRIBUTE
from geosleuth.geo import Box, Disc, Extent, FloatArray
from geosleuth.names import fold

from .geometry import E7
from .pbf import spans
from .region_names import ATTRIBUTE_FACTOR, Keep, all_owners, decode_owners, search_spellings
from .region_store import (
    Edges,
    OpenRegion,
    RegionStore,
    are_streets,
    boxes_around,
    build_filter,
    check_positions,
    count_of_category,
    in_boxes,
    kinds_of_category,
    of_category,
    read_spots,
    roomy,
    street_kinds,
)

Ints = NDArray[np.int64]
_MAX_CACHED: Final = 300_000  # features, for each region; they take 5 MB
_POOL: Final = 400  # features with similar names
_MAX_WITH_PREFIX: Final = 1000  # spellings, for all regions together
_CUT_BELOW_BEST: Final = 0.08  # similar names that are worse than the best by more are dropped
_MIN_SCORE: Final = 0.75
_MIN_SCORE_WITH_ALL_WORDS: Final = 0.6
_MAX_BOXES: Final = 60  # for more boxes, reading all features of a category is faster than the spatial index
_COMMON: Final = 10_000  # features; rarer categories are read as a whole
_NONE: Final = np.empty(0, dtype=np.int64)
_FEW: Final = 100  # so few features are not worth filtering
_STREETS_PER_BOX: Final = 30  # with fewer, reading their boxes later is faster than a query of the spatial index
_MAX_EXACT: Final = 20_000
_SMALL_KM, _SMALL_DEG = 50.0, 1.0  # the largest extents for which the spatial index is used


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Features of all regions that a text may mean, sorted by region, then from south to north.

    The regions share one array per column, since most arrays are short: eight regions one by one would take nearly
    eight times as long.
    """

    regions: Ints  # number of the region, for each feature
    ids: Ints
    scores: FloatArray  # how well it matches, from 0 to 1
    lats_e7: NDArray[np.int32]
    lons_e7: NDArray[np.int32]
    streets: NDArray[np.bool_]  # whether it is a street
    boxes: FloatArray | None = None  # its bounding box: west, south, east and north; None until it is read
    windows: FloatArray | None = None  # the box that its positions are clipped to; None for no clipping

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.ids)

    @property
    def lats(self) -> FloatArray:
        """Latitudes in degrees."""
        return self.lats_e7 / E7

    @property
    def lons(self) -> FloatArray:
        """Longitudes in degrees."""
        return self.lons_e7 / E7

    def chosen(self, kept: Ints | NDArray[np.bool_]) -> "FeatureSet":
        """Return the features at these indexes, or for which the mask is true."""
        return FeatureSet(
            self.regions[kept],
            self.ids[kept],
            self.scores[kept],
            self.lats_e7[kept],
            self.lons_e7[kept],
            self.streets[kept],
            None if self.boxes is None else self.boxes[kept],
            None if self.windows is None else self.windows[kept],
        )


class FeaturePoints(NamedTuple):
    """Features of one region from south to north, with positions in 1e-7 degrees and whether each is a street."""

    ids: Ints
    lats: NDArray[np.int32]
    lons: NDArray[np.int32]
    streets: NDArray[np.bool_]

    def chosen(self, kept: Ints | NDArray[np.bool_]) -> "FeaturePoints":
        """Return the features at these indexes, or for which the mask is true."""
        return FeaturePoints(self.ids[kept], self.lats[kept], self.lons[kept], self.streets[kept])


# Region number, some of its features, and their scores.
_Part = tuple[int, FeaturePoints, FloatArray]


@dataclass(frozen=True, slots=True)
class FeatureQuery:
    """The features that a text may mean: those of a category, read when needed, and those with such a name.

    "Casino" is a category and a chain of shops, so both count. Similar names count only if no category is meant.
    """

    store: RegionStore
    regions: Sequence[OpenRegion]
    text: str
    reaches: Sequence[Keep | None]  # for each region the filter for the extent, see `_reach`
    of_kind: Sequence[int]  # for each region the number of features of the category, inside the extent or not
    named: Sequence[_Part]
    within: Extent | None = None

    @classmethod
    def look_up(
        cls, store: RegionStore, regions: Sequence[OpenRegion], text: str, within: Extent | None
    ) -> "FeatureQuery":
        """Look a text up in an extent; None for everywhere."""
        reaches, of_kind = list[Keep | None](), list[int]()
        for region in regions:
            with store.explain_errors(region.info.name):
                reaches.append(_reach(region, within))
                of_kind.append(count_of_category(region, text))
        named: list[_Part] = []
        if "=" not in text and fold(text):
            found = _find_named(store, regions, text, reaches, similar=not any(of_kind))
            for number, (region, (owners, scores)) in enumerate(zip(regions, found, strict=True)):
                if len(owners):
                    with store.explain_errors(region.info.name):
                        named.append(
                            _build_named_part(number, region, owners, scores, text if of_kind[number] else None)
                        )
        return cls(store, regions, text, reaches, of_kind, named, within)

    @property
    def count(self) -> int:
        """Number of features, inside the extent or not."""
        return sum(self.of_kind) + sum(len(found.ids) for _, found, _ in self.named)

    def all(self) -> FeatureSet:
        """Return all features in the extent."""
        area = _small_area(self.within)

        def read(region: OpenRegion, text: str) -> FeaturePoints:
            if not area or text in region.memory.get("spots of kinds", {}):
                return _of_kind(region, text)
            return _in_area(region, text, area)

        return _join_parts(self.store, self.regions, self._filter_parts([*self.named, *self._parts_of_kind(read)]))

    def near(self, boxes: FloatArray) -> FeatureSet:
        """Return the features that may intersect one of some boxes: west, south, east and north."""

        def read(region: OpenRegion, text: str) -> FeaturePoints:
            return _in_area(region, text, _edges(region, boxes))

        few = len(boxes) <= _MAX_BOXES and sum(self.of_kind) >= _COMMON
        parts = self._filter_parts([*self.named, *self._parts_of_kind(read if few else _of_kind)])
        return _join_parts(self.store, self.regions, _filter_inside(self.store, self.regions, parts, boxes))

    def _parts_of_kind(self, read: Callable[[OpenRegion, str], FeaturePoints]) -> Iterator[_Part]:
        """Yield the features of the category, read by a function of region and text."""
        for number, (region, count) in enumerate(zip(self.regions, self.of_kind, strict=True)):
            if count:
                with self.store.explain_errors(region.info.name):
                    found = read(region, self.text)
                yield number, found, np.ones(len(found.ids))

    def _filter_parts(self, parts: list[_Part]) -> list[_Part]:
        """Return the features in the extent, one part per region, each sorted by latitude."""
        parts.sort(key=itemgetter(0))
        for at, (number, found, scores) in enumerate(parts):
            reach = self.reaches[number]
            if reach is not None and len(found.ids):
                with self.store.explain_errors(self.regions[number].info.name):
                    kept = reach(found.ids)
                parts[at] = number, found.chosen(kept), scores[kept]
        parts = [part for part in parts if len(part[1].ids)]
        return [_merge_parts(number, [*same]) for number, same in groupby(parts, key=itemgetter(0))]


def _merge_parts(number: int, parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    columns = (np.concatenate(column) for column in zip(*(found for _, found, _ in parts), strict=True))
    found, order = _sort_features(*columns)
    return number, found, np.concatenate([scores for _, _, scores in parts])[order]


def _sort_features(
    ids: Ints, lats: NDArray[np.int32], lons: NDArray[np.int32], streets: NDArray[np.bool_]
) -> tuple[FeaturePoints, Ints]:
    """Return features sorted by latitude, and the order that sorts them."""
    order = lats.argsort(kind="stable")
    return FeaturePoints(ids[order], lats[order], lons[order], streets[order]), order


def _build_named_part(number: int, region: OpenRegion, owners: Ints, scores: FloatArray, but_for: str | None) -> _Part:
    """Return the features with these ids; without those of a category, if one is given."""
    lats, lons, kinds = read_spots(region, owners)
    found, order = _sort_features(owners, lats, lons, street_kinds(region)[kinds])
    if but_for is not None:
        kept = ~kinds_of_category(region, but_for)[kinds[order]]
        return number, found.chosen(kept), scores[order][kept]
    return number, found, scores[order]


def _small_area(extent: Extent | None) -> list[Edges]:
    """Return the boxes of an extent that is small enough for the spatial index; none for a larger one."""
    if isinstance(extent, Disc) and extent.radius_km <= _SMALL_KM:
        return boxes_around(extent.centre, 1000 * extent.radius_km)
    if isinstance(extent, Box) and 0 <= extent.east - extent.west <= _SMALL_DEG >= extent.north - extent.south:
        return [(extent.south, extent.west, extent.north, extent.east)]
    return []


def _in_area(region: OpenRegion, text: str, area: Sequence[Edges]) -> FeaturePoints:
    ids, spots = in_boxes(region, area, kinds_of_category(region, text))
    return _sort_features(ids, spots["lat"], spots["lon"], street_kinds(region)[spots["kind"]])[0]


def _of_kind(region: OpenRegion, text: str) -> FeaturePoints:
    """Return all features of a category; cached, since common categories have many."""
    known = region.memory.setdefault("spots of kinds", {})
    if (found := known.get(text)) is not None:
        return cast("FeaturePoints", found)
    ids = of_category(region, text)
    lats, lons, kinds = read_spots(region, ids)
    found, _ = _sort_features(ids, lats, lons, street_kinds(region)[kinds])
    if len(ids) <= _MAX_CACHED:
        size = len(ids) + sum(len(item.ids) for item in list(known.values()))
        for oldest in list(known):
            if size <= _MAX_CACHED:
                break
            dropped = known.pop(oldest, None)
            size -= 0 if dropped is None else len(dropped.ids)
        known[text] = found
    return found


def _join_parts(store: RegionStore, regions: Sequence[OpenRegion], parts: Sequence[_Part]) -> FeatureSet:
    """Join the parts of all regions; check the positions."""
    if not parts:
        return FeatureSet(_NONE, _NONE, np.empty(0), *(np.empty(0, dtype=np.int32),) * 2, np.empty(0, dtype=bool))
    numbers = np.array([number for number, _, _ in parts], dtype=np.int64)
    features = FeatureSet(
        numbers.repeat([len(found.ids) for _, found, _ in parts]),
        np.concatenate([found.ids for _, found, _ in parts]),
        np.concatenate([scores for _, _, scores in parts]),
        np.concatenate([found.lats for _, found, _ in parts]),
        np.concatenate([found.lons for _, found, _ in parts]),
        np.concatenate([found.streets for _, found, _ in parts]),
    )
    wrong = ((np.abs(features.lats_e7) > 90 * E7) | (np.abs(features.lons_e7) > 180 * E7)).nonzero()[0]
    if len(wrong):
        with store.explain_errors(regions[int(features.regions[wrong[0]])].info.name):
            check_positions(features.lats[wrong], features.lons[wrong])
    return features


def _reach(region: OpenRegion, within: Extent | None) -> Keep | None:
    """Return a filter for features that may be in an extent; None if all are.

    All streets pass, since a street may cross the extent even if its middle is outside; its positions are checked one
    by one later.
    """
    inner = build_filter(region, within)
    return None if inner is None else lambda ids: inner(ids) | are_streets(region, ids)


def _filter_inside(
    store: RegionStore, regions: Sequence[OpenRegion], parts: Sequence[_Part], boxes: FloatArray
) -> list[_Part]:
    """Return the features that may intersect any of the boxes; parts that are not worth filtering are kept whole."""
    kept: list[_Part] = []
    for number, found, scores in parts:
        streets = int(found.streets.sum())
        if len(found.ids) <= _FEW or 0 < streets < _STREETS_PER_BOX * len(boxes):
            kept.append((number, found, scores))
            continue
        some = _points_inside(found, boxes)
        if streets:
            region = regions[number]
            with store.explain_errors(region.info.name):
                crossing, _ = in_boxes(region, _edges(region, boxes), street_kinds(region))
            some = np.union1d(some, (found.streets & np.isin(found.ids, crossing)).nonzero()[0])
        kept.append((number, found.chosen(some), scores[some]))
    return [part for part in kept if len(part[1].ids)]


def _edges(region: OpenRegion, boxes: FloatArray) -> list[Edges]:
    """Return the boxes that intersect a region, reordered to south, west, north and east."""
    room, (west, south, east, north) = roomy(region), boxes.T
    met = (west <= room.east) & (south <= room.north) & (east >= room.west) & (north >= room.south)
    return [(box[1], box[0], box[3], box[2]) for box in boxes[met].tolist()]


def _points_inside(found: FeaturePoints, boxes: FloatArray) -> Ints:
    """Return the indexes of features whose point lies in any of the boxes, ascending."""
    west, south, east, north = np.round(boxes * E7).T
    begins = found.lats.searchsorted(south)
    counts = found.lats.searchsorted(north, side="right") - begins
    box_of, candidates = np.repeat(np.arange(len(boxes)), counts), spans(begins, counts)
    lons = found.lons[candidates]
    inner = np.zeros(len(found.ids), dtype=bool)
    inner[candidates[(lons >= west[box_of]) & (lons <= east[box_of])]] = True
    return inner.nonzero()[0]


def _find_named(
    store: RegionStore, regions: Sequence[OpenRegion], text: str, reaches: Sequence[Keep | None], *, similar: bool
) -> list[tuple[Ints, FloatArray]]:
    """Return for each region the ids and scores of features with that name.

    If ``similar``, also those whose name starts with it, contains all of its words, or is spelled similarly.
    """
    key, exact_count = fold(text), 0
    found: list[list[tuple[Ints, float | FloatArray]]] = [[] for _ in regions]
    for region, reach, candidates in zip(regions, reaches, found, strict=True):
        with store.explain_errors(region.info.name):
            row = region.index.find_spelling(key)
            exact = decode_owners(row[2]) if row else []
            if any(role < ATTRIBUTE for role, _ in exact):  # not those that have the name in their address or operator
                exact = [item for item in exact if item[0] < ATTRIBUTE]
            for _, name_owners in exact:
                wanted = name_owners if reach is None else name_owners[reach(name_owners)]
                candidates.append((wanted[:_MAX_EXACT], 1.0))
                exact_count += len(wanted)
            if similar:
                longer = list(region.index.with_prefix(f"{key} ", _MAX_WITH_PREFIX // len(regions)))
                owners = [all_owners(names) for _, names in longer]
                if owners:
                    lengths = np.array([len(name) for name, _ in longer]).repeat([len(owner) for owner in owners])
                    candidates.append((np.array([*chain(*owners)], dtype=np.int64), 0.6 + 0.35 * len(key) / lengths))
    if similar and exact_count < _POOL:  # similar spellings include the name itself
        _add_similar(store, regions, text, reaches, found)
    return [_keep_best(candidates) for candidates in found]


def _add_similar(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    text: str,
    reaches: Sequence[Keep | None],
    found: Sequence[list[tuple[Ints, float | FloatArray]]],
) -> None:
    """Add the owners of names similar to a text, the most similar first, until there are enough."""

    def reading(number: int) -> AbstractContextManager[None]:
        return store.explain_errors(regions[number].info.name)

    words = set(fold(text).split())
    spellings = search_spellings([region.index for region in regions], text, keeps=reaches, reading=reading)
    min_score, pool = max(_MIN_SCORE, spellings[0].similarity - _CUT_BELOW_BEST) if spellings else 0.0, _POOL
    for spelling in spellings:
        min_similarity = _MIN_SCORE_WITH_ALL_WORDS if words <= set(spelling.key.split()) else min_score
        if spelling.similarity < _MIN_SCORE_WITH_ALL_WORDS or pool <= 0:
            return
        for role, owners in spelling.owners(reading) if spelling.similarity >= min_similarity else ():
            score = spelling.similarity * (1.0 if role < ATTRIBUTE else ATTRIBUTE_FACTOR)
            if score >= min_similarity:
                found[spelling.index].append((owners[:_POOL], score))
                pool -= len(owners)


def _keep_best(candidates: Sequence[tuple[Ints, float | FloatArray]]) -> tuple[Ints, FloatArray]:
    """Return the distinct owners, ascending, and the best score of each."""
    if not candidates:
        return _NONE, np.empty(0)
    ids = np.concatenate([owners for owners, _ in candidates])
    scores = np.concatenate([np.broadcast_to(score, len(owners)) for owners, score in candidates])
    order = np.lexsort((-scores, ids))
    ids, firsts = np.unique(ids[order], return_index=True)
    return ids, scores[order][firsts]


def by_region(regions: Sequence[OpenRegion], features: FeatureSet, places: Ints) -> Iterator[tuple[OpenRegion, Ints]]:
    """Yield each region that has some of the features, and their indexes.

    Args:
        regions: all regions.
        features: the set.
        places: indexes into the set, ascending.
    """
    if len(places):
        cuts = features.regions[places].searchsorted(np.arange(len(regions) + 1)).tolist()
        for region, (begin, end) in zip(regions, pairwise(cuts), strict=True):
            if begin < end:
                yield region, places[begin:end]
