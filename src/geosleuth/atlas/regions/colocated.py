"""Find places where several features are near each other, such as a pharmacy, a bank and a street of a given name.

`find_colocated` looks each feature up (a `FeatureQuery`). The features of the rarest query are the anchors. Then
`_ColocationSearch` decides which features to read and how far apart they may be; it starts small, so that not all
features of a country are compared if there are enough combinations within 80 m. Each of its attempts

1. reads the features, only those near the anchors if anchors are few (`feature_query`);
2. discards features that have none of the others nearby (`preselection`);
3. reads the positions of the rest (`candidates`);
4. searches around each anchor, in a widening radius, for the tightest combination (`combinations`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from geosleuth.atlas.protocol import Colocation, Place
from geosleuth.geo import Extent, LatLon, normalize_lon
from geosleuth.support.errors import BadInput

from .candidates import Candidates, build_candidates
from .combinations import CLOSE_M, WIDENING_FACTOR, CombinationRules, Combinations, CombinationSearch
from .feature_query import FeatureQuery, FeatureSet, Ints
from .geometry import E7
from .pbf import spans
from .preselection import boxes_around_features, feature_boxes, margins_deg, preselect
from .region_store import OpenRegion, RegionStore, build_places, read_feature_rows

_FIRST_RADIUS_M: Final = 15.0
_FEW_ANCHORS: Final = 100  # for so few, only features near them are read
_MAX_BOXES: Final = 2000  # also for so many, if there are enough other features to make it worth
_WORTH_A_BOX: Final = 200  # to query the spatial index for a box takes as long as to compare so many features
_MANY_ANCHORS: Final = 200  # from so many, the search starts with a small radius
_WORTH_A_SAMPLE: Final = 4000  # from so many anchors, that radius is estimated from a sample
_SAMPLE: Final = 600  # anchors in the sample
_MIN_SHARE: Final = 0.02  # but at least this share of all anchors
_STRIPE: Final = 16  # anchors in a stripe of the sample, from south to north
_FAR_M: Final = 1000.0  # the largest radius around the sample
_SAFETY_FACTOR: Final = 3.0  # combinations expected within the estimated radius, as a multiple of the limit
_ROUNDING_M: Final = 0.001


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
    """Return the tightest combination around each feature of the rarest query, the tightest first.

    A combination has one feature for each text, all different. Streets count along their whole course, in steps of
    about 11 m, other features by their one point. The result is exact unless more than `MAX_COMBINATIONS`
    combinations are compared; then some of the wider ones may be missing.

    Args:
        store: opens the regions.
        regions: the regions to search.
        features: names or categories, two to five.
        within_m: the largest great-circle distance between any two features.
        within: the area to search; None for everywhere.
        bearings_deg: the direction from the first feature to each other one, None for any.
        in_order: whether the features must lie along a line in the given order.
        limit: the maximum number of combinations.

    Raises:
        BadInput: the number of features, the distance or the bearings are invalid.
    """
    _check_features(features, within_m)
    rules = CombinationRules(_check_bearings(bearings_deg, len(features)), in_order)
    queries: list[FeatureQuery] = []
    for text in features:
        queries.append(FeatureQuery.look_up(store, regions, text, within))
        if not queries[-1].count:
            return []
    return _ColocationSearch(store, regions, queries, within_m, within, rules, limit).run()


class _ColocationSearch:
    """Decides which features to compare, and in which radius, until enough combinations are found."""

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
        self._object_numbers: dict[tuple[str, int | str], int] = {}
        self._features_read: dict[int, FeatureSet] = {}
        counts = [
            one.count if within is None else len(self._read_features(number)) for number, one in enumerate(queries)
        ]
        self._anchor = anchor = counts.index(min(counts))
        self._features_read[anchor] = replace(
            self._read_features(anchor), boxes=feature_boxes(store, regions, self._read_features(anchor))
        )
        worth_boxes = min(_MAX_BOXES, sum(counts) // (_WORTH_A_BOX * (len(queries) - 1)))
        self._anchors_are_few = len(self._read_features(anchor)) <= max(_FEW_ANCHORS, worth_boxes)

    def run(self) -> list[Colocation]:
        """Return the tightest combinations; the radius is no larger than it takes to find enough of them."""
        anchors = len(self._read_features(self._anchor))
        radii_m = [min(CLOSE_M, self._within_m), self._within_m] if anchors > _MANY_ANCHORS else [self._within_m]
        first_m = min(_FIRST_RADIUS_M, self._within_m)
        if anchors >= _WORTH_A_SAMPLE and not self._anchors_are_few:
            radii_m, first_m = self._radii_from_sample(radii_m, first_m)
        for radius_m in dict.fromkeys(radii_m):
            sets, found = self._tightest(self._features_near_anchors(radius_m), radius_m, first_m)
            if len(found) >= self._limit:
                break
            first_m = WIDENING_FACTOR * radius_m
        return _colocations(self._store, self._regions, sets, found, self._within_m)

    def _radii_from_sample(self, radii_m: Sequence[float], first_m: float) -> tuple[list[float], float]:
        """Return the radii to try, and the first radius around an anchor, estimated from a sample of the anchors.

        Features that are everywhere have many tight combinations, so a small radius is likely to be enough.
        """
        share = max(_MIN_SHARE, _SAMPLE / len(self._read_features(self._anchor)))
        enough = math.ceil(_SAFETY_FACTOR * self._limit * share)
        feature_sets = [self._read_features(number) for number in range(len(self._queries))]
        for radius_m in dict.fromkeys((radii_m[0], min(_FAR_M, self._within_m))):
            _, found = self._tightest(_in_stripes(feature_sets, self._anchor, share, radius_m), radius_m, first_m)
            first_m = radius_m
            if len(found) >= enough:
                likely_m = min(float(found.spreads_m[enough - 1]) + _ROUNDING_M, self._within_m)
                return [likely_m, *(radius_m for radius_m in radii_m if radius_m > likely_m)], likely_m
        return [self._within_m], first_m  # too few combinations for a small radius

    def _tightest(
        self, feature_sets: Sequence[FeatureSet], radius_m: float, first_m: float
    ) -> tuple[list[Candidates], Combinations]:
        """Return the candidates, and their tightest combinations within a radius.

        Args:
            feature_sets: the features of each query.
            radius_m: the largest spread.
            first_m: the radius around an anchor to start with.
        """
        if not all(map(len, feature_sets)):
            return [], Combinations.none(len(feature_sets))
        near = preselect(self._store, self._regions, feature_sets, radius_m)
        sets = [
            build_candidates(self._store, self._regions, features, self._within, self._object_numbers)
            for features in near
        ]
        if not all(map(len, sets)):
            return [], Combinations.none(len(sets))
        return sets, CombinationSearch(sets, radius_m, self._rules, self._anchor).run(self._limit, first_m)

    def _features_near_anchors(self, radius_m: float) -> list[FeatureSet]:
        """Return the features of each query; if anchors are few, only those that may be near one."""
        boxes = (
            boxes_around_features(self._store, self._regions, self._read_features(self._anchor), radius_m)
            if self._anchors_are_few
            else None
        )
        return [
            self._read_features(number) if boxes is None or number == self._anchor else query.near(boxes)
            for number, query in enumerate(self._queries)
        ]

    def _read_features(self, number: int) -> FeatureSet:
        """Return all features of a query; they are read once."""
        if number not in self._features_read:
            self._features_read[number] = self._queries[number].all()
        return self._features_read[number]


def _in_stripes(feature_sets: Sequence[FeatureSet], anchor: int, share: float, within_m: float) -> list[FeatureSet]:
    """Return a sample: a share of the anchors in stripes along parallels, and all other features near the stripes.

    Args:
        feature_sets: the features of each query; in each region they are sorted by latitude.
        anchor: the index of the set of anchors.
        share: the share of the anchors.
        within_m: how far from a stripe other features may be.
    """
    margin = margins_deg(within_m, 0.0)[0] * E7
    last = max(int(features.regions[-1]) for features in feature_sets)
    cuts = [features.regions.searchsorted(np.arange(last + 2)).tolist() for features in feature_sets]
    parts: list[list[Ints]] = [[] for _ in feature_sets]
    for region in range(last + 1):
        begin, end = cuts[anchor][region : region + 2]
        stripes = np.arange(0, end - begin, max(1, round(_STRIPE / share)))
        lats = feature_sets[anchor].lats_e7[begin:end].astype(np.float64)
        souths, norths = lats[stripes], lats[np.minimum(stripes + _STRIPE, end - begin) - 1]
        for number, (features, cut, chosen_parts) in enumerate(zip(feature_sets, cuts, parts, strict=True)):
            reach = 0.0 if number == anchor else margin
            lats_e7 = features.lats_e7[cut[region] : cut[region + 1]]
            begins = lats_e7.searchsorted(souths - reach)
            ends = lats_e7.searchsorted(norths + reach, side="right")
            begins[1:] = np.maximum(begins[1:], ends[:-1])  # if stripes overlap, count features once
            chosen_parts.append(spans(begins + cut[region], np.maximum(ends - begins, 0)))
    return [
        features.chosen(np.concatenate(chosen_parts))
        for features, chosen_parts in zip(feature_sets, parts, strict=True)
    ]


def _colocations(
    store: RegionStore,
    regions: Sequence[OpenRegion],
    sets: Sequence[Candidates],
    found: Combinations,
    within_m: float,
) -> list[Colocation]:
    """Return combinations with their places; tight ones whose features match well score higher."""
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
            with store.explain_errors(region.info.name):
                rows = read_feature_rows(region, wanted)
                made = build_places(region, [rows[feature] for feature in wanted])
            places.update(((number, feature), place) for feature, place in zip(wanted, made, strict=True))
    lats, lons = (np.stack([getattr(one, axis)[at] for one, at in columns]) for axis in ("lats", "lons"))
    middle_lons = normalize_lon(lons[0] + normalize_lon(lons - lons[0]).mean(axis=0))
    matches = np.prod([one.scores[some] for one, some in zip(sets, owners, strict=True)], axis=0) ** (1 / len(sets))
    scores = matches * (1 - 0.5 * found.spreads_m / within_m)
    return [
        Colocation(tuple(places[item] for item in some), LatLon(lat, lon), spread_m, score)
        for some, lat, lon, spread_m, score in zip(
            zip(*features, strict=True),
            lats.mean(axis=0).tolist(),
            middle_lons.tolist(),
            found.spreads_m.tolist(),
            scores.tolist(),
            strict=True,
        )
    ]


def _check_features(features: Sequence[str], within_m: float) -> None:
    if not 2 <= len(features) <= 5:
        raise BadInput(f"name two to five features that stand near each other, not {len(features)}")
    for text in features:
        if not text.strip():
            raise BadInput("a feature to look for is empty; give a name or a category such as amenity=pharmacy")
    if not (math.isfinite(within_m) and 0 < within_m <= 100_000):
        raise BadInput(f"the largest distance between the features is 0 to 100000 m, not {within_m}")


def _check_bearings(bearings_deg: Sequence[float | None] | None, count: int) -> tuple[float | None, ...]:
    if bearings_deg is None:
        return (None,) * count
    given = tuple(bearings_deg)
    if len(given) == count - 1:
        given = (None, *given)
    if len(given) != count:
        raise BadInput(f"give a bearing (or none) for each feature after the first: {count - 1}, not {len(given)}")
    for item in given:
        if item is not None and not math.isfinite(item):
            raise BadInput(f"a bearing is a number of degrees from north, not {item}")
    return (None, *given[1:])
