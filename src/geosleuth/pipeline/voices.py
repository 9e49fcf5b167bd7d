"""What several models said that worked towards one finding, and how far they agree."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from geosleuth.agent import Spent, Trajectory
from geosleuth.agent.locating import Finding
from geosleuth.agent.methods.smilegeo import read_answer
from geosleuth.answer import Answer
from geosleuth.answer.wording import envelope, percent_words
from geosleuth.geo import coordinates, distance_km
from geosleuth.team.parallel import VERIFIER, answered
from geosleuth.text import one_line

NEAR_KM = 1.0
"""Tries agree whose points lie within so many kilometres of one of them."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What one of them said last, and how it ended where it came to no answer."""

    who: str
    answer: Answer = field(default_factory=Answer)
    failed: str = ""

    @property
    def place(self) -> str:
        """Where it says it is."""
        point = "" if self.answer.point is None else coordinates(self.answer.point, self.answer.radius_km)
        return envelope(self.answer.address) or point or "can't tell"

    @property
    def sure(self) -> str:
        """How sure it says it is."""
        return "" if self.answer.probability is None else percent_words(self.answer.probability)


@dataclass(frozen=True, slots=True)
class FailedVerifier:
    """A model that was to verify and failed, and why: the verifier in code decided instead."""

    model: str
    reason: str

    def __str__(self) -> str:
        return f"the verifier {self.model} failed ({self.reason}); decided in code instead"


def failed_verifier(finding: Finding) -> FailedVerifier | None:
    """The verifier that failed, if one did; why it did in one word where no more may be told."""
    if not finding.gave_way or not are_tries(finding):
        return None
    failed = finding.gave_way[-1]
    ended = failed.ended
    trouble = ended.trouble if ended and finding.granularity == "exact" else None
    reason = trouble or ("it came to no answer" if ended is None or ended.reason == "answered" else ended.reason)
    return FailedVerifier(one_line(failed.started.policy), one_line(reason))


def are_tries(finding: Finding) -> bool:
    """Whether they were tries that a verifier read, and not members of a team."""
    return finding.trajectory.started.method == VERIFIER or finding.trajectory in finding.team


def voices(finding: Finding) -> list[Voice]:
    """Everybody's last word, in order, no finer than the finding may be told."""
    if are_tries(finding):
        return [_try(f"try {number}", one) for number, one in enumerate(finding.team, 1)]
    return list(_members(finding)) if finding.granularity == "exact" else []


def _try(who: str, trajectory: Trajectory) -> Voice:
    if answered(trajectory):
        return Voice(who, trajectory.answer or Answer())
    ended = trajectory.ended
    return Voice(who, failed=f"no answer ({ended.reason if ended else 'broken off'})")


def _members(finding: Finding) -> Iterator[Voice]:
    """The newest answer of every member; what it said about the answers of others is none."""
    said: dict[str, Voice] = {}
    for step in finding.trajectory.steps:
        _, _, words = step.text.partition("\n")
        answer = read_answer(words)
        if answer.located or answer.address:
            said[step.model] = Voice(step.model, answer)
        else:
            said.setdefault(step.model, Voice(step.model, failed="no answer of its own"))
    yield from said.values()


def agreement(finding: Finding) -> int:
    """How many tries stand together: within a kilometre of one of them.

    Where less than everything may be told: at a place of the same name.
    """
    answers = [one.answer or Answer() for one in finding.team if answered(one)]
    if finding.granularity != "exact":
        names = Counter(str(one.address) for one in answers if one.address)
        return max(names.values(), default=0)
    points = [one.point for one in answers if one.point is not None]
    return max((sum(distance_km(one, other) <= NEAR_KM for other in points) for one in points), default=0)


def spent_together(finding: Finding) -> Spent:
    """What all of them used. Tries go on at once: their seconds add up to more than passed.

    The trajectory of a team counts what its members used; that of a verifier counts its own alone. A verifier that
    failed has cost something too.
    """
    own = finding.trajectory
    if not are_tries(finding):
        return own.spent
    others = [one for one in (*finding.team, *finding.gave_way) if one != own]
    return sum((one.spent for one in others), start=own.spent)
