"""Find the features of all regions that a text stands for: those of a kind, of a name, and of names like it."""

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
from .region_names import OF_ATTRIBUTE, Keep, all_owners, owners_of, search_spellings
from .region_store import (
    Edges,
    OpenRegion,
    RegionStore,
    are_streets,
    boxes_around,
    check_positions,
    count_of_category,
    filter_of,
    in_boxes,
    kinds_of_category,
    of_category,
    roomy,
    spots_of,
    street_kinds,
)

Ints = NDArray[np.int64]
_MOST_OF_KINDS: Final = 300_000  # 5 MB
_POOL: Final = 400
_BEGINNING: Final = 1000
_CUT_BELOW_BEST: Final = 0.08
_LEAST_SCORE: Final = 0.75
_LEAST_WITH_ALL_WORDS: Final = 0.6
_BOXES_AT_ONCE: Final = 60
_COMMON: Final = 10_000
_NONE: Final = np.empty(0, dtype=np.int64)
_FEW: Final = 100
_STREETS_A_BOX: Final = 30  # to look up as many boxes of streets takes longer than to look what meets one box
_MOST_EXACT: Final = 20_000
_SMALL_KM, _SMALL_DEG = 50.0, 1.0


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Features of all regions that fit a text, region after region, in each from south to north.

    All regions together, since most arrays are short: eight regions one by one would take nearly eight times as long.
    """

    regions: Ints  # number of the region, for each feature
    ids: Ints
    scores: FloatArray  # how well it fits
    lats_e7: NDArray[np.int32]
    lons_e7: NDArray[np.int32]
    streets: NDArray[np.bool_]  # whether it is one
    boxes: FloatArray | None = None  # once they are known
    windows: FloatArray | None = None  # west, south, east and north of what matters of it; None for all of it

    def __len__(self) -> int:
        """How many features."""
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
        """Some of them."""
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
    """Features of one region by their latitudes: where they lie, in 1e-7 degrees, and which are streets."""

    ids: Ints
    lats: NDArray[np.int32]
    lons: NDArray[np.int32]
    streets: NDArray[np.bool_]

    def chosen(self, kept: Ints | NDArray[np.bool_]) -> "FeaturePoints":
        """Some of them."""
        return FeaturePoints(self.ids[kept], self.lats[kept], self.lons[kept], self.streets[kept])


_Part = tuple[int, FeaturePoints, FloatArray]
"""Number of a region, some of its features, and how well they fit."""


@dataclass(frozen=True, slots=True)
class FeatureQuery:
    """A text that stands for features: those of a kind, read when they are needed, and those of a name.

    "Casino" is a kind and a chain of shops: both count, but not everything that is spelled a little like it.
    """

    store: RegionStore
    regions: Sequence[OpenRegion]
    text: str
    reaches: Sequence[Keep | None]
    of_kind: Sequence[int]  # how many of each region, inside the extent or not
    named: Sequence[_Part]
    within: Extent | None = None

    @classmethod
    def of(cls, store: RegionStore, regions: Sequence[OpenRegion], text: str, within: Extent | None) -> "FeatureQuery":
        """Look a text up inside an extent."""
        reaches, of_kind = list[Keep | None](), list[int]()
        for region in regions:
            with store.explained(region.info.name):
                reaches.append(_reach(region, within))
                of_kind.append(count_of_category(region, text))
        named: list[_Part] = []
        if "=" not in text and fold(text):
            found = _named(store, regions, text, reaches, alike=not any(of_kind))
            for number, (region, (owners, scores)) in enumerate(zip(regions, found, strict=True)):
                if len(owners):
                    with store.explained(region.info.name):
                        named.append(_named_part(number, region, owners, scores, text if of_kind[number] else None))
        return cls(store, regions, text, reaches, of_kind, named, within)

    @property
    def count(self) -> int:
        """How many, inside the extent or not."""
        return sum(self.of_kind) + sum(len(found.ids) for _, found, _ in self.named)

    def all(self) -> FeatureSet:
        """All features."""
        area = _small_area(self.within)

        def spotted(region: OpenRegion, text: str) -> FeaturePoints:
            if not area or text in region.memory.get("spots of kinds", {}):
                return _of_kind(region, text)
            return _in_area(region, text, area)

        return _together(self.store, self.regions, self._wanted([*self.named, *self._parts_of_kind(spotted)]))

    def near(self, boxes: FloatArray) -> FeatureSet:
        """Those that may reach into one of some boxes: west, south, east and north."""

        def spotted(region: OpenRegion, text: str) -> FeaturePoints:
            return _in_area(region, text, _edges(region, boxes))

        few = len(boxes) <= _BOXES_AT_ONCE and sum(self.of_kind) >= _COMMON
        parts = self._wanted([*self.named, *self._parts_of_kind(spotted if few else _of_kind)])
        return _together(self.store, self.regions, _inside(self.store, self.regions, parts, boxes))

    def _parts_of_kind(self, spots_of: Callable[[OpenRegion, str], FeaturePoints]) -> Iterator[_Part]:
        """Those of the kind."""
        for number, (region, count) in enumerate(zip(self.regions, self.of_kind, strict=True)):
            if count:
                with self.store.explained(region.info.name):
                    found = spots_of(region, self.text)
                yield number, found, np.ones(len(found.ids))

    def _wanted(self, parts: list[_Part]) -> list[_Part]:
        """Return those within reach, region after region, each in the order of latitudes."""
        parts.sort(key=itemgetter(0))
        for at, (number, found, scores) in enumerate(parts):
            reach = self.reaches[number]
            if reach is not None and len(found.ids):
                with self.store.explained(self.regions[number].info.name):
                    kept = reach(found.ids)
                parts[at] = number, found.chosen(kept), scores[kept]
        parts = [part for part in parts if len(part[1].ids)]
        return [_merged(number, [*same]) for number, same in groupby(parts, key=itemgetter(0))]


def _merged(number: int, parts: Sequence[_Part]) -> _Part:
    """Return all parts of one region as one."""
    if len(parts) == 1:
        return parts[0]
    columns = (np.concatenate(column) for column in zip(*(found for _, found, _ in parts), strict=True))
    found, order = _ordered(*columns)
    return number, found, np.concatenate([scores for _, _, scores in parts])[order]


def _ordered(
    ids: Ints, lats: NDArray[np.int32], lons: NDArray[np.int32], streets: NDArray[np.bool_]
) -> tuple[FeaturePoints, Ints]:
    """Features by their latitudes, and the order that this makes."""
    order = lats.argsort(kind="stable")
    return FeaturePoints(ids[order], lats[order], lons[order], streets[order]), order


def _named_part(number: int, region: OpenRegion, owners: Ints, scores: FloatArray, but_for: str | None) -> _Part:
    """Features of a name, but for those of a category."""
    lats, lons, kinds = spots_of(region, owners)
    found, order = _ordered(owners, lats, lons, street_kinds(region)[kinds])
    if but_for is not None:
        kept = ~kinds_of_category(region, but_for)[kinds[order]]
        return number, found.chosen(kept), scores[order][kept]
    return number, found, scores[order]


def _small_area(extent: Extent | None) -> list[Edges]:
    """Return the boxes of an extent that is worth a look into the spatial index; none for a larger one."""
    if isinstance(extent, Disc) and extent.radius_km <= _SMALL_KM:
        return boxes_around(extent.centre, 1000 * extent.radius_km)
    if isinstance(extent, Box) and 0 <= extent.east - extent.west <= _SMALL_DEG >= extent.north - extent.south:
        return [(extent.south, extent.west, extent.north, extent.east)]
    return []


def _in_area(region: OpenRegion, text: str, area: Sequence[Edges]) -> FeaturePoints:
    """Return the features of a category that intersect some boxes, by the spatial index."""
    ids, spots = in_boxes(region, area, kinds_of_category(region, text))
    return _ordered(ids, spots["lat"], spots["lon"], street_kinds(region)[spots["kind"]])[0]


def _of_kind(region: OpenRegion, text: str) -> FeaturePoints:
    """Features of a category; remembered, since the common ones are many."""
    known = region.memory.setdefault("spots of kinds", {})
    if (found := known.get(text)) is not None:
        return cast("FeaturePoints", found)
    ids = of_category(region, text)
    lats, lons, kinds = spots_of(region, ids)
    found, _ = _ordered(ids, lats, lons, street_kinds(region)[kinds])
    if len(ids) <= _MOST_OF_KINDS:
        size = len(ids) + sum(len(one.ids) for one in list(known.values()))
        for oldest in list(known):
            if size <= _MOST_OF_KINDS:
                break
            dropped = known.pop(oldest, None)
            size -= 0 if dropped is None else len(dropped.ids)
        known[text] = found
    return found


def _together(store: RegionStore, regions: Sequence[OpenRegion], parts: Sequence[_Part]) -> FeatureSet:
    """Features of all regions."""
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
        with store.explained(regions[int(features.regions[wrong[0]])].info.name):
            check_positions(features.lats[wrong], features.lons[wrong])
    return features


def _reach(region: OpenRegion, within: Extent | None) -> Keep | None:
    """Whether features may lie in an extent.

    A street may pass through it though its middle lies outside; its positions are looked at one by one later.
    """
    inner = filter_of(region, within)
    return None if inner is None else lambda ids: inner(ids) | are_streets(region, ids)


def _inside(
    store: RegionStore, regions: Sequence[OpenRegion], parts: Sequence[_Part], boxes: FloatArray
) -> list[_Part]:
    """Those that may reach into one of some boxes; what is few is not worth looking at."""
    kept: list[_Part] = []
    for number, found, scores in parts:
        streets = int(found.streets.sum())
        if len(found.ids) <= _FEW or 0 < streets < _STREETS_A_BOX * len(boxes):
            kept.append((number, found, scores))
            continue
        some = _points_inside(found, boxes)
        if streets:
            region = regions[number]
            with store.explained(region.info.name):
                crossing, _ = in_boxes(region, _edges(region, boxes), street_kinds(region))
            some = np.union1d(some, (found.streets & np.isin(found.ids, crossing)).nonzero()[0])
        kept.append((number, found.chosen(some), scores[some]))
    return [part for part in kept if len(part[1].ids)]


def _edges(region: OpenRegion, boxes: FloatArray) -> list[Edges]:
    """South, west, north and east of those boxes that a region reaches."""
    room, (west, south, east, north) = roomy(region), boxes.T
    met = (west <= room.east) & (south <= room.north) & (east >= room.west) & (north >= room.south)
    return [(box[1], box[0], box[3], box[2]) for box in boxes[met].tolist()]


def _points_inside(found: FeaturePoints, boxes: FloatArray) -> Ints:
    west, south, east, north = np.round(boxes * E7).T
    begins = found.lats.searchsorted(south)
    counts = found.lats.searchsorted(north, side="right") - begins
    one, two = np.repeat(np.arange(len(boxes)), counts), spans(begins, counts)
    lons = found.lons[two]
    inner = np.zeros(len(found.ids), dtype=bool)
    inner[two[(lons >= west[one]) & (lons <= east[one])]] = True
    return inner.nonzero()[0]


def _named(
    store: RegionStore, regions: Sequence[OpenRegion], text: str, reaches: Sequence[Keep | None], *, alike: bool
) -> list[tuple[Ints, FloatArray]]:
    """Features of that name. The exact ones are all taken; of the rest those with every word, or spelled nearly so.

    ``alike`` says whether likenesses, and longer names that begin so, will do.
    """
    key, exactly = fold(text), 0
    found: list[list[tuple[Ints, float | FloatArray]]] = [[] for _ in regions]
    for region, reach, candidates in zip(regions, reaches, found, strict=True):
        with store.explained(region.info.name):
            row = region.index.find_spelling(key)
            exact = owners_of(row[2]) if row else []
            if any(role < ATTRIBUTE for role, _ in exact):  # not what has the name in its address or operator
                exact = [one for one in exact if one[0] < ATTRIBUTE]
            for _, bearers in exact:
                wanted = bearers if reach is None else bearers[reach(bearers)]
                candidates.append((wanted[:_MOST_EXACT], 1.0))
                exactly += len(wanted)
            if alike:
                borne = list(region.index.with_prefix(f"{key} ", _BEGINNING // len(regions)))
                owners = [all_owners(names) for _, names in borne]
                if owners:
                    lengths = np.array([len(name) for name, _ in borne]).repeat([len(one) for one in owners])
                    candidates.append((np.array([*chain(*owners)], dtype=np.int64), 0.6 + 0.35 * len(key) / lengths))
    if alike and exactly < _POOL:  # the likenesses that are looked for begin with the name itself
        _add_likenesses(store, regions, text, reaches, found)
    return [_best_of(candidates) for candidates in found]


def _add_likenesses(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    text: str,
    reaches: Sequence[Keep | None],
    found: Sequence[list[tuple[Ints, float | FloatArray]]],
) -> None:
    """Add those who bear names like a text, the most alike first, until there are enough."""

    def reading(number: int) -> AbstractContextManager[None]:
        return store.explained(regions[number].info.name)

    words = set(fold(text).split())
    spellings = search_spellings([region.index for region in regions], text, keeps=reaches, reading=reading)
    wanted, pool = max(_LEAST_SCORE, spellings[0].alike - _CUT_BELOW_BEST) if spellings else 0.0, _POOL
    for one in spellings:
        least = _LEAST_WITH_ALL_WORDS if words <= set(one.key.split()) else wanted
        if one.alike < _LEAST_WITH_ALL_WORDS or pool <= 0:
            return
        for role, owners in one.owners(reading) if one.alike >= least else ():
            score = one.alike * (1.0 if role < ATTRIBUTE else OF_ATTRIBUTE)
            if score >= least:
                found[one.index].append((owners[:_POOL], score))
                pool -= len(owners)


def _best_of(candidates: Sequence[tuple[Ints, float | FloatArray]]) -> tuple[Ints, FloatArray]:
    """Each owner once, ascending, with its best score."""
    if not candidates:
        return _NONE, np.empty(0)
    ids = np.concatenate([owners for owners, _ in candidates])
    scores = np.concatenate([np.broadcast_to(score, len(owners)) for owners, score in candidates])
    order = np.lexsort((-scores, ids))
    ids, first = np.unique(ids[order], return_index=True)
    return ids, scores[order][first]


def by_region(regions: Sequence[OpenRegion], features: FeatureSet, places: Ints) -> Iterator[tuple[OpenRegion, Ints]]:
    """Yield some places in a set, ascending, for each region that has one."""
    if len(places):
        cuts = features.regions[places].searchsorted(np.arange(len(regions) + 1)).tolist()
        for region, (begin, end) in zip(regions, pairwise(cuts), strict=True):
            if begin < end:
                yield region, places[begin:end]
