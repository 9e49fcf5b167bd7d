"""From checked claims to odds: which place is best supported, and how likely it is.

Support is counted in log-odds (natural logarithm) over "none of the tries is right", which stands at 0:

    agreement               +0.8 for every doubling of the tries that stand within 25 km of each other
    read in the photo       a name that lies near the point +1.0, a telephone of the country +1.0; of another -1.5;
                            all lines, where a try tells no reasons: together they lead there +1.0, to another
                            country -1.5
    against itself          a country that the point is not in -2.0, a place that is elsewhere -1.5
    the try's own odds      half of the log-odds that it states, at most 0.5 either way

Only what a tool read in the photo adds to a try by itself. That its country and its place lie at its own point says
that it does not contradict itself, which any wrong answer can manage: it adds nothing. Names and numbers that stand
in its words alone add nothing either.

A place's probability is its share: exp(support) over 1 and the sum of all places, at most 0.95. The figures are ours,
set once by judgement and fitted to nothing: tries of one model share its mistakes, so agreement counts for less than as
many independent witnesses would, and no check in an atlas says that the photo was taken there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.geo import LatLon, distance_km

from .checking import Check
from .claims import ClaimKind, Stand

SAME_PLACE_KM = 25.0
SAME_SPOT_KM = 1.0
HIGHEST = 0.95
AGREEMENT = 0.8
_HOLDS: dict[ClaimKind, float] = {
    "country": 0.0, "region": 0.0, "place": 0.0, "named": 1.0, "phone": 1.0, "text": 1.0,
}  # fmt: skip
_FAILS: dict[ClaimKind, float] = {
    "country": -2.0, "region": 0.0, "place": -1.5, "named": 0.0, "phone": -1.5, "text": -1.5,
}  # fmt: skip
_OWN_ODDS, _OWN_MOST = 0.5, 0.5


@dataclass(frozen=True, slots=True)
class Checked:
    """A try with its point and what became of its claims."""

    stand: Stand
    point: LatLon
    checks: tuple[Check, ...]

    @property
    def support(self) -> float:
        """What speaks for this try by itself."""
        return sum(_weight(check) for check in self.checks) + _own_odds(self.stand.answer.probability)


@dataclass(frozen=True, slots=True)
class Place:
    """Tries that stand near each other; ``best`` is the one whose answer is taken."""

    members: tuple[Checked, ...]
    best: Checked
    support: float
    probability: float

    @property
    def spread_km(self) -> float:
        """How far the farthest member stands from the best one."""
        return max(distance_km(one.point, self.best.point) for one in self.members)


def weigh(tries: Sequence[Checked]) -> list[Place]:
    """The places that tries stand at, the best supported first, with their probabilities."""
    groups = _groups(tries)
    chosen = [(group, _best(group)) for group in groups]
    supports = [best.support + AGREEMENT * math.log2(len(group)) for group, best in chosen]
    total = 1.0 + sum(map(math.exp, supports))
    places = [
        Place(tuple(group), best, support, min(HIGHEST, math.exp(support) / total))
        for (group, best), support in zip(chosen, supports, strict=True)
    ]
    return sorted(places, key=lambda place: (-place.support, place.best.stand.number))


def _groups(tries: Sequence[Checked]) -> list[list[Checked]]:
    """Each group is a try with most others near it, and these; then the same with what is left."""
    left, groups = list(tries), []
    while left:
        near = [[other for other in left if distance_km(one.point, other.point) <= SAME_PLACE_KM] for one in left]
        group = max(near, key=len)
        groups.append(group)
        left = [one for one in left if one not in group]
    return groups


def _best(group: Sequence[Checked]) -> Checked:
    return max(group, key=lambda one: _in_group(one, group))


def _in_group(one: Checked, group: Sequence[Checked]) -> tuple[float, int]:
    """How good a member is: its own support, and how many stand at the very spot; of equals the first."""
    there = sum(distance_km(one.point, other.point) <= SAME_SPOT_KM for other in group)
    return one.support + AGREEMENT * math.log2(there), -one.stand.number


def _weight(check: Check) -> float:
    if check.verdict == "open":
        return 0.0
    return (_HOLDS if check.verdict == "holds" else _FAILS)[check.claim.kind]


def _own_odds(probability: float | None) -> float:
    if probability is None:
        return 0.0
    held = min(max(probability, 0.01), 0.99)
    return max(-_OWN_MOST, min(_OWN_MOST, _OWN_ODDS * math.log(held / (1 - held))))
