"""An answer tested against itself: leave out each clue and each sign, and see how far the answer moves.

An answer that hangs on a single clue or sign is as good as that one is, regardless of its probability. A sign, or a
vehicle, is what `geosleuth.evidence.panels` finds: what stands on it is right or misleads together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from geosleuth.geo import distance_km

from .clue import Clue
from .decision import Decision, decide_without
from .posterior import Posterior, Workings
from .sign_layout import SignPanel

MIN_MOVE_KM = 1.0
# Minimum probability at which a sign alone counts as pointing somewhere.
POINTING_PROBABILITY = 0.5

_MOVE_RADII = 2.0


@dataclass(frozen=True, slots=True)
class Sign:
    """A panel with its clues, what it would say alone, and the signs that point somewhere else than it does."""

    panel: SignPanel
    clues: tuple[Clue, ...]
    alone: Decision
    disputed_by: tuple["Sign", ...] = ()

    @property
    def text(self) -> str:
        """Return the text of the sign, on one line."""
        return " / ".join(self.panel.texts)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The answer without one clue, or without all that stands on one sign.

    ``moved_km`` is None where one of the two answers has no point. ``country_changes`` also where there is no country
    any more.
    """

    clue: Clue | Sign
    decision: Decision
    moved_km: float | None
    country_changes: bool
    hangs_on_it: bool


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The answer, and what became of it without each clue, in the order of the posterior's clues, then each sign.

    A sign is left out where it holds more than one clue and not all of them, or where another sign disputes it. Where
    the answer hangs on a clue already, it is not said to hang on its sign as well, unless the sign is disputed: then
    the sign is what it hangs on.
    """

    decision: Decision
    without: tuple[LeftOut, ...]
    signs: tuple[Sign, ...] = ()

    @property
    def decisive(self) -> tuple[Clue | Sign, ...]:
        """The clues and signs that the answer hangs on: without any one of them it would be another."""
        return tuple(item.clue for item in self.without if item.hangs_on_it)

    @property
    def conflicting_signs(self) -> tuple[Sign, ...]:
        """The signs that point to different places."""
        return tuple(sign for sign in self.signs if sign.disputed_by)

    def is_sensitive_to(self, clue: Clue | Sign) -> bool:
        """Return whether the answer would change without this clue or sign."""
        return clue in self.decisive


def self_test(found: Posterior) -> SelfTest:
    """Leave out each clue and each sign in turn.

    An answer hangs on what changes the country, leaves no answer, or moves the point by more than twice the answer's
    radius (and at least a kilometre) when it is left out. Where signs dispute each other, the answer is in the likelier
    country, be it the coarser one; kinds of clues count no more than the signs that bear them, and the margin is the
    one over what the others point to.
    """
    signs = _signs(found)
    disputed = any(sign.disputed_by for sign in signs)
    decision = _of_one_witness(found, _decide(found.workings, disputed=disputed), signs)
    one_by_one = [
        _left_out(clue, decision, _decide(found.workings, at, disputed=disputed)) for at, clue in enumerate(found.clues)
    ]
    by_sign = []
    for sign in signs:
        rows = sign.panel.clues
        if not sign.disputed_by and not 1 < len(rows) < len(found.clues):
            continue
        rest = found.workings.without(rows)
        left = _left_out(sign, decision, _decide(rest, disputed=disputed))
        if left.hangs_on_it and sign.disputed_by:
            for at in rows:
                one_by_one[at] = replace(one_by_one[at], hangs_on_it=False)
        elif any(one_by_one[at].hangs_on_it for at in rows):
            left = replace(left, hangs_on_it=False)
        by_sign.append(left)
    return SelfTest(decision, (*one_by_one, *by_sign), signs)


def _signs(found: Posterior) -> tuple[Sign, ...]:
    workings = found.workings
    everything = range(len(found.clues))
    signs = []
    for panel in workings.panels if len(workings.panels) > 1 else ():
        alone = workings.without([at for at in everything if at not in panel.clues])
        clues = tuple(found.clues[at] for at in panel.clues)
        signs.append(Sign(panel, clues, decide_without(alone, alone.probabilities())))
    return tuple(
        replace(sign, disputed_by=tuple(other for other in signs if _differ(sign.alone, other.alone))) for sign in signs
    )


def _decide(workings: Workings, left_out: int | None = None, *, disputed: bool) -> Decision:
    """Return the answer; if signs conflict, the likeliest country with its overall probability."""
    probabilities = workings.probabilities(left_out)
    decision = decide_without(workings, probabilities, left_out)
    if not disputed or decision.level == "none":
        return decision
    at = int(np.argmax(workings.by_country(probabilities)))
    if decision.country == workings.codes[at]:
        return decision
    elsewhere = np.arange(len(workings.codes)) == at
    inside = np.concatenate([workings.country_of == at, elsewhere, [False]])
    other = decide_without(workings, np.where(inside, probabilities, 0.0), left_out)
    return decision if other.level == "none" else other


def _of_one_witness(found: Posterior, decision: Decision, signs: Sequence[Sign]) -> Decision:
    """The answer, with no more kinds of clues than there are signs to bear them, and its margin over other signs'."""
    disputed = [sign for sign in signs if sign.disputed_by]
    if not disputed or decision.level == "none":
        return decision
    speaking = decision.supporting
    witnesses = sum(any(clue in speaking for clue in sign.clues) for sign in signs)
    witnesses += len({clue.kind for clue in speaking if clue.where is None})
    others = {sign.alone.country for sign in disputed} - {decision.country}
    next_best = max((found.countries.get(code or "", 0.0) for code in others), default=0.0)
    margin = min(decision.margin, max(0.0, decision.country_probability - next_best))
    return replace(decision, kinds=min(decision.kinds, witnesses), margin=margin)


def _differ(decision: Decision, other: Decision) -> bool:
    """Return whether two answers are sure of places that can't both be right."""
    if (
        decision.point is None
        or other.point is None
        or min(decision.probability_raw, other.probability_raw) < POINTING_PROBABILITY
    ):
        return False
    if "country" in (decision.level, other.level):
        return decision.country != other.country
    reach = _MOVE_RADII * ((decision.radius_km or 0.0) + (other.radius_km or 0.0))
    return distance_km(decision.point, other.point) > max(MIN_MOVE_KM, reach)


def _left_out(what: Clue | Sign, decision: Decision, other: Decision) -> LeftOut:
    moved = None
    if decision.point is not None and other.point is not None:
        moved = distance_km(decision.point, other.point)
    changes = decision.country != other.country
    lost = decision.level != "none" and other.level == "none"
    far = moved is not None and moved > max(MIN_MOVE_KM, _MOVE_RADII * (decision.radius_km or 0.0))
    answered = decision.level != "none"
    return LeftOut(what, other, moved, changes, answered and (changes or lost or far))
