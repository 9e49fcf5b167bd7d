"""Find places where several features stand near each other."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from geosleuth.atlas.protocol import Colocation, Place
from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, Extent, LatLon, normalize_lon

from .candidates import Candidates, candidates_of
from .combinations import CLOSE_M, WIDEN_BY, CombinationRules, Combinations, CombinationSearch
from .feature_query import FeatureQuery, FeatureSet, Ints
from .geometry import E7
from .pbf import spans
from .preselection import boxes_around_features, feature_boxes, preselect
from .region_store import OpenRegion, RegionStore, places_of, rows_of

_FIRST_RADIUS_M: Final = 15.0
_FEW_ANCHORS: Final = 100
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
    rules = CombinationRules(_checked_bearings(bearings_deg, len(features)), in_order)
    queries: list[FeatureQuery] = []
    for text in features:
        queries.append(FeatureQuery.of(store, regions, text, within))
        if not queries[-1].count:
            return []
    return _ColocationSearch(store, regions, queries, within_m, within, rules, limit).answer()


class _ColocationSearch:
    """A question about features of which there is at least one each."""

    def __init__(
        self,
        store: RegionStore,
        regions: Sequence[OpenRegion],
        queries: Sequence[FeatureQuery],
        within_m: float,
        within: Extent | None,
        rules: CombinationRules,
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
        self._whole[anchor] = replace(self._all(anchor), boxes=feature_boxes(store, regions, self._all(anchor)))
        worth_boxes = min(_MOST_BOXES, sum(counts) // (_WORTH_A_BOX * (len(queries) - 1)))
        self._few = len(self._all(anchor)) <= max(_FEW_ANCHORS, worth_boxes)

    def answer(self) -> list[Colocation]:
        """Return the tightest combinations, looking no farther than it takes to find enough of them."""
        candidates = len(self._all(self._anchor))
        radii_m = [min(CLOSE_M, self._within_m), self._within_m] if candidates > _MANY else [self._within_m]
        first_m = min(_FIRST_RADIUS_M, self._within_m)
        if candidates >= _WORTH_A_SAMPLE and not self._few:
            radii_m, first_m = self._guessed(radii_m, first_m)
        for radius_m in dict.fromkeys(radii_m):
            sets, found = self._tightest(self._near_rarest(radius_m), radius_m, first_m)
            if len(found) >= self._limit:
                break
            first_m = WIDEN_BY * radius_m
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
        near = preselect(self._store, self._regions, feature_sets, radius_m)
        sets = [candidates_of(self._store, self._regions, features, self._within, self._known) for features in near]
        if not all(map(len, sets)):
            return [], Combinations.none(len(sets))
        return sets, CombinationSearch(sets, radius_m, self._rules, self._anchor).run(self._limit, first_m)

    def _near_rarest(self, radius_m: float) -> list[FeatureSet]:
        """Return all features; where the rarest one is rare, only those of the others that may be near it."""
        boxes = (
            boxes_around_features(self._store, self._regions, self._all(self._anchor), radius_m) if self._few else None
        )
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
