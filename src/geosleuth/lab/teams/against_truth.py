"""Several tries and their verifier held against truths: errors photo by photo, and the figures over all of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geosleuth.agent.locate import Finding
from geosleuth.answer import Answer
from geosleuth.geo import distance_km
from geosleuth.lab.score import Truth
from geosleuth.teams.parallel.chains import answered

from .measures import best_at_n, mean_single, pass_at_k, range_at_n, verifier_at_n

THRESHOLDS_KM = (1.0, 25.0, 200.0, 750.0)


@dataclass(frozen=True, slots=True)
class Errors:
    """How far off the verifier and each try were, in kilometres; NaN where there was no point."""

    verifier_km: float
    tries_km: tuple[float, ...]

    def document(self) -> dict[str, Any]:
        """As JSON has it; what is no number is null."""
        return {"verifier_km": _or_none(self.verifier_km), "tries_km": [_or_none(one) for one in self.tries_km]}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Errors":
        """Read what `document` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        return cls(_number(document["verifier_km"]), tuple(_number(one) for one in document["tries_km"]))


def errors_of(finding: Finding, truth: Truth, tries: int) -> Errors:
    """What a finding is off by; a try that failed, or never began, has no point."""
    answers = [one.answer or Answer() if answered(one) else Answer() for one in finding.team]
    off = [_off(one, truth) for one in answers]
    if not any(map(answered, finding.team)):
        return Errors(math.nan, (math.nan,) * tries)
    return Errors(_off(finding.answer, truth), (*off, *(math.nan for _ in range(tries - len(off)))))


def figures(
    errors: Sequence[Errors], ks: Sequence[int], thresholds_km: Sequence[float] = THRESHOLDS_KM
) -> dict[str, list[float]]:
    """Each measure at the distances, 1, 25, 200 and 750 km where nothing else is said, by its name.

    Raises:
        ValueError: there is no photo, or a k is more than there are tries.
    """
    tries = [one.tries_km for one in errors]
    verified = [one.verifier_km for one in errors]
    count = len(tries[0]) if tries else 0
    return {
        f"verifier@{count}": [verifier_at_n(verified, km) for km in thresholds_km],
        "mean single": [mean_single(tries, km) for km in thresholds_km],
        f"best@{count}": [best_at_n(tries, km) for km in thresholds_km],
        **{f"pass@{k}": [pass_at_k(tries, km, k) for km in thresholds_km] for k in ks},
        f"range@{count}": [range_at_n(tries, km) for km in thresholds_km],
    }


def _off(answer: Answer, truth: Truth) -> float:
    return math.nan if answer.point is None else distance_km(answer.point, truth.point)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("an error is a number of kilometres, or null")
    return float(value)
