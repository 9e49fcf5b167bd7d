"""An answer tested against itself: leave out each clue, and see how far the answer moves.

An answer that hangs on a single clue is as good as that one clue, whatever its probability says.
"""

from dataclasses import dataclass

from geosleuth.geo import distance_km

from .deciding import Decision, decide, decide_from
from .model import Clue
from .posterior import Posterior

LEAST_MOVE_KM = 1.0
_MOVE_RADII = 2.0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The answer without one clue.

    ``moved_km`` is None where one of the two answers has no point. ``country_changes`` also where there is no country
    any more.
    """

    clue: Clue
    decision: Decision
    moved_km: float | None
    country_changes: bool
    hangs_on_it: bool


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The answer, and what became of it without each clue, in the order of the posterior's clues."""

    decision: Decision
    without: tuple[LeftOut, ...]

    @property
    def decisive(self) -> tuple[Clue, ...]:
        """The clues that the answer hangs on: without any one of them it would be another."""
        return tuple(one.clue for one in self.without if one.hangs_on_it)

    @property
    def hangs_on_one(self) -> Clue | None:
        """The clue that alone carries the answer; None where there is none such, or where several are needed."""
        return self.decisive[0] if len(self.decisive) == 1 else None

    def hangs_on(self, clue: Clue) -> bool:
        """Whether the answer would be another without this clue."""
        return clue in self.decisive


def self_test(found: Posterior) -> SelfTest:
    """Leave out each clue in turn.

    An answer hangs on a clue where, without it, the country is another, there is no answer, or the point moves by more
    than twice the answer's radius (and at least a kilometre).
    """
    decision = decide(found)
    return SelfTest(decision, tuple(_left_out(found, decision, at) for at in range(len(found.clues))))


def _left_out(found: Posterior, decision: Decision, at: int) -> LeftOut:
    other = decide_from(found.workings, found.workings.probabilities(at), at)
    moved = None
    if decision.point is not None and other.point is not None:
        moved = distance_km(decision.point, other.point)
    changes = decision.country != other.country
    lost = decision.level != "none" and other.level == "none"
    far = moved is not None and moved > max(LEAST_MOVE_KM, _MOVE_RADII * (decision.radius_km or 0.0))
    answered = decision.level != "none"
    return LeftOut(found.clues[at], other, moved, changes, answered and (changes or lost or far))
