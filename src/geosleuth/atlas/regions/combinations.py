"""Find the tightest combinations."""

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
MAX_LOOKED_AT: Final = 6_000_000
WIDEN_BY: Final = 2.0
CLOSE_M: Final = 80.0
_NARROW_M: Final = 66.0
_FEW_COMBINATIONS: Final = 200_000
_FEW_IN_PAIRS, _FEW_ANCHORS = 100, 1000
_SLICE: Final = 200_000


@dataclass(frozen=True, slots=True)
class CombinationRules:
    """What a combination must satisfy beside being close together."""

    bearings: tuple[float | None, ...]  # one for each feature, None for the first
    in_order: bool


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


class CombinationSearch:
    """Widens a radius around every candidate of the rarest feature until enough of them have found company.

    The tightest combination around a candidate is no wider than the radius at which it first appears, so what has been
    found can be taken out, and crowded places never see the large radii that would drown them in combinations.
    """

    def __init__(self, sets: Sequence[Candidates], within_m: float, rules: CombinationRules, anchor: int) -> None:
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
        close = _FEW_ANCHORS if self._within_m <= CLOSE_M else 0
        few |= len(open_points) <= (_FEW_IN_PAIRS if len(self._sets) == 2 else close)
        radius_m = self._within_m if few else first_m
        while True:
            more, wide = self._tightest(*self._combinations(open_points, radius_m))
            parts, spreads = np.concatenate([parts, more]), np.concatenate([spreads, wide])
            if len(parts) >= limit or radius_m >= self._within_m or self._left <= 0:
                break
            open_points = open_points[~np.isin(anchor.owner_of[open_points], anchor.owner_of[parts[:, self._anchor]])]
            radius_m = min(radius_m * WIDEN_BY, self._within_m)
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
