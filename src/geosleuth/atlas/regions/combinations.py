"""Find the tightest combinations of candidates: one position of each set, all within a radius of each other.

1. The candidates of the rarest feature are the anchors. Around each, positions of a second feature are paired with it.
2. The pairs are extended by one feature after another; combinations that exceed the radius or break a rule are dropped.
3. The tightest combination of each anchor is kept. While there are too few, the radius is doubled for the anchors that
   have none yet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray, great_circle_km, normalize_lon
from geosleuth.geo import bearings_deg as compass

from .candidates import Candidates
from .cells import neighbours
from .feature_query import Ints

BEARING_TOLERANCE_DEG: Final = 30.0
# Maximum number of combinations that a search compares before it stops.
MAX_COMBINATIONS: Final = 6_000_000

# Factor from one search radius to the next.
WIDENING_FACTOR: Final = 2.0

# Radius within which features have few neighbours.
CLOSE_M: Final = 80.0

# The search takes one step with the full radius if that is no larger than the first of these, or if there are no more
# combinations than the second, or no more anchors than the others: for two features, and within `CLOSE_M`.
_NARROW_M: Final = 66.0
_FEW_COMBINATIONS: Final = 200_000
_FEW_IN_PAIRS, _FEW_ANCHORS = 100, 1000
_SLICE: Final = 200_000  # combinations that are extended at once


@dataclass(frozen=True, slots=True)
class CombinationRules:
    """Conditions on a combination, apart from distance."""

    bearings: tuple[float | None, ...]  # from the first feature to each, in degrees; None for any
    in_order: bool  # whether they must lie along a line in the given order


@dataclass(frozen=True, slots=True)
class Combinations:
    """Combinations of candidates, the tightest first."""

    spreads_m: FloatArray  # the largest distance between any two of its positions
    parts: Ints  # one row per combination: the index of a position of each set

    @classmethod
    def none(cls, features: int) -> "Combinations":
        """Return an empty result for a number of features."""
        return cls(np.empty(0), np.empty((0, features), dtype=np.int64))

    def __len__(self) -> int:
        """Return the number of combinations."""
        return len(self.spreads_m)


class CombinationSearch:
    """Searches in a widening radius around every anchor until enough anchors have a combination.

    The combination found at the smallest radius is an anchor's tightest, so the anchor is finished. That way crowded
    places are never searched with a large radius, at which they would have too many combinations.
    """

    def __init__(self, sets: Sequence[Candidates], within_m: float, rules: CombinationRules, anchor: int) -> None:
        self._sets = sets
        self._within_m = within_m
        self._rules = rules
        self._anchor = anchor
        # Bearings start at the first feature; if there are any, it is placed right after the anchor.
        first = 0 if any(bearing is not None for bearing in rules.bearings) else None
        others = sorted((n for n in range(len(sets)) if n != self._anchor), key=lambda n: (n != first, len(sets[n])))
        self._order = [self._anchor, *others]
        self._budget = MAX_COMBINATIONS

    def run(self, limit: int, first_m: float) -> Combinations:
        """Return the tightest combinations, at most one for each anchor.

        ``first_m`` is the first radius, unless there are so few that one step is enough.
        """
        anchor = self._sets[self._anchor]
        open_points = np.arange(len(anchor.owner_of))
        parts, spreads = np.empty((0, len(self._sets)), dtype=np.int64), np.empty(0)
        # If only few can be near each other, one step with the full radius is fastest.
        in_one_step = (
            math.prod(len(item.owner_of) for item in self._sets) <= _FEW_COMBINATIONS or self._within_m <= _NARROW_M
        )
        few_anchors = _FEW_ANCHORS if self._within_m <= CLOSE_M else 0
        in_one_step |= len(open_points) <= (_FEW_IN_PAIRS if len(self._sets) == 2 else few_anchors)
        radius_m = self._within_m if in_one_step else first_m
        while True:
            new_parts, new_spreads = self._tightest_per_anchor(*self._combinations(open_points, radius_m))
            parts, spreads = np.concatenate([parts, new_parts]), np.concatenate([spreads, new_spreads])
            if len(parts) >= limit or radius_m >= self._within_m or self._budget <= 0:
                break
            open_points = open_points[~np.isin(anchor.owner_of[open_points], anchor.owner_of[parts[:, self._anchor]])]
            radius_m = min(radius_m * WIDENING_FACTOR, self._within_m)
        if len(parts) > limit:
            kept = spreads <= np.partition(spreads, limit - 1)[limit - 1]
            parts, spreads = parts[kept], spreads[kept]
        order = np.lexsort((*parts.T[::-1], spreads))[:limit]
        return Combinations(spreads[order], parts[order])

    def _tightest_per_anchor(self, parts: Ints, spreads: FloatArray) -> tuple[Ints, FloatArray]:
        """Return the tightest combination of each anchor."""
        order = np.argsort(spreads, kind="stable")
        _, first = np.unique(self._sets[self._anchor].owner_of[parts[order, self._anchor]], return_index=True)
        return parts[order[first]], spreads[order[first]]

    def _combinations(self, anchors: Ints, radius_m: float) -> tuple[Ints, FloatArray]:
        first = self._order[1]
        found, columns, spreads = self._pairs(anchors, first, radius_m)
        self._budget -= len(found)
        parts = np.full((len(found), len(self._sets)), -1, dtype=np.int64)
        parts[:, self._anchor], parts[:, first] = found, columns
        keep = self._satisfy_rules(parts, first, [self._anchor])
        parts, spreads = parts[keep], spreads[keep]
        for step, number in enumerate(self._order[2:], start=2):
            pairs = self._pairs(np.unique(parts[:, self._anchor]), number, radius_m)
            parts, spreads = self._extend(parts, spreads, pairs, number, self._order[:step], radius_m)
        if self._rules.in_order and len(parts):
            keep = self._lie_in_order(parts)
            parts, spreads = parts[keep], spreads[keep]
        return parts, spreads

    def _pairs(self, anchors: Ints, number: int, radius_m: float) -> tuple[Ints, Ints, FloatArray]:
        """Return pairs within a radius: positions of anchors (ascending), of another feature, and their distances."""
        here, there = self._sets[self._anchor], self._sets[number]
        lats, lons = here.lats[anchors], here.lons[anchors]
        rows, columns = neighbours((lats, lons), (there.lats, there.lons), radius_m)
        metres = great_circle_km(lats[rows], lons[rows], there.lats[columns], there.lons[columns]) * 1000
        near = metres <= radius_m
        rows, columns, metres = anchors[rows[near]], columns[near], metres[near]
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], metres[order]

    def _extend(
        self,
        parts: Ints,
        spreads: FloatArray,
        pairs: tuple[Ints, Ints, FloatArray],
        number: int,
        placed: Sequence[int],
        radius_m: float,
    ) -> tuple[Ints, FloatArray]:
        """Extend combinations by another feature.

        Args:
            parts: the combinations so far.
            spreads: their spreads in metres.
            pairs: neighbours of the anchors, see `_pairs`.
            number: the feature to add.
            placed: the features that ``parts`` has already.
            radius_m: the largest spread.

        Returns:
            Each combination with each neighbour of its anchor that fits, and the spreads.
        """
        anchors, columns, metres = pairs
        tightest_first = np.argsort(spreads, kind="stable")
        parts, spreads = parts[tightest_first], spreads[tightest_first]
        begins = np.searchsorted(anchors, parts[:, self._anchor], side="left")
        counts = np.searchsorted(anchors, parts[:, self._anchor], side="right") - begins
        done_parts, done_spreads = [parts[:0]], [spreads[:0]]
        ends = np.cumsum(counts)
        begin = 0
        while begin < len(parts) and self._budget > 0:  # in slices, to limit memory
            base = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, base + _SLICE, side="right")))
            rows = np.repeat(np.arange(begin, end), counts[begin:end])
            within_row = np.arange(len(rows)) - np.repeat(ends[begin:end] - counts[begin:end] - base, counts[begin:end])
            self._budget -= len(rows)
            at = begins[rows] + within_row
            new_parts = parts[rows]
            new_parts[:, number] = columns[at]
            new_spreads = np.maximum(spreads[rows], metres[at])
            keep = self._satisfy_rules(new_parts, number, placed)
            new_parts, new_spreads = new_parts[keep], new_spreads[keep]
            for other in placed:
                if other != self._anchor:
                    new_spreads = np.maximum(new_spreads, self._metres(new_parts, other, number))
            near = new_spreads <= radius_m
            done_parts.append(new_parts[near])
            done_spreads.append(new_spreads[near])
            begin = end
        return np.concatenate(done_parts), np.concatenate(done_spreads)

    def _satisfy_rules(self, parts: Ints, number: int, placed: Sequence[int]) -> NDArray[np.bool_]:
        """Return whether the part added last is a different object than the others, and in the right direction."""
        newest = self._keys(parts, number)
        keep = np.ones(len(parts), dtype=bool)
        for other in placed:
            keep &= newest != self._keys(parts, other)
        # The first feature is placed first or second, so a bearing can be checked as soon as its other end is placed.
        for item in (*placed, number):
            wanted = self._rules.bearings[item]
            if wanted is not None and 0 in (*placed, number) and number in (0, item):
                first, other_set = self._sets[0], self._sets[item]
                courses = compass(
                    first.lats[parts[:, 0]], first.lons[parts[:, 0]],
                    other_set.lats[parts[:, item]], other_set.lons[parts[:, item]],
                )  # fmt: skip
                keep &= np.abs((courses - wanted + 180) % 360 - 180) <= BEARING_TOLERANCE_DEG
        return keep

    def _keys(self, parts: Ints, number: int) -> Ints:
        """Return the object numbers of one feature of each combination."""
        candidates = self._sets[number]
        return candidates.keys[candidates.owner_of[parts[:, number]]]

    def _metres(self, parts: Ints, number: int, two: int) -> FloatArray:
        a, b = self._sets[number], self._sets[two]
        first, second = parts[:, number], parts[:, two]
        return great_circle_km(a.lats[first], a.lons[first], b.lats[second], b.lons[second]) * 1000

    def _lie_in_order(self, parts: Ints) -> NDArray[np.bool_]:
        """Return whether the features follow each other along a line, in the given order."""
        lats = np.column_stack([one.lats[parts[:, n]] for n, one in enumerate(self._sets)])
        lons = np.column_stack([one.lons[parts[:, n]] for n, one in enumerate(self._sets)])
        return lie_in_order(lats, lons)


def lie_in_order(lats: FloatArray, lons: FloatArray) -> NDArray[np.bool_]:
    """Return for each row of points whether they follow each other along their principal axis, in either direction."""
    north = lats - lats[:, :1]
    east = normalize_lon(lons - lons[:, :1]) * np.cos(np.radians(lats[:, :1]))
    north = north - north.mean(axis=1, keepdims=True)
    east = east - east.mean(axis=1, keepdims=True)
    angle = 0.5 * np.arctan2(2 * (east * north).sum(axis=1), (east**2).sum(axis=1) - (north**2).sum(axis=1))
    along = east * np.cos(angle)[:, None] + north * np.sin(angle)[:, None]
    steps = np.diff(along, axis=1)
    return np.asarray((steps > 0).all(axis=1) | (steps < 0).all(axis=1))
