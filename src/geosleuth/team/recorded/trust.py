"""Learned trust: whom to follow on an image, how likely that is right, and why. Nothing here can hold a truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.answer import Answer, Candidate
from geosleuth.fitting import probabilities
from geosleuth.geo import FloatArray, LatLon

from .design import REASONS, TOGETHER_KM, Scaling, column_reasons, design, signs
from .panel import IntArray, Panel
from .places import PlaceRecord

WITHIN_KM = (0.5, 1.0, 2.0, 10.0, 25.0, 50.0, 200.0, 750.0)
"""The distances for which probabilities are given."""
SAME_SPOT_KM = 2.0
"""Agents that point within this distance of each other have found the same spot; the most exact of them speaks."""
STATED_KM = 25.0
"""The radius that an answer's probability is about: one for all, so that answers can be ranked by it."""
EVEN_ODDS = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """What was learned.

    Attributes:
        agents: whom it is about.
        weights: column by distance: log-odds that an answer lies within the distance.
        ridge: how tightly the weights were held.
        exactness: agent: how often it is right within the finest distances.
        level, slope: by distance: from the chosen answer's log-odds to calibrated ones.
        record: who has been right where.
        scaling: the scales of the columns.
        images: how many images it was learned from.
    """

    agents: tuple[str, ...]
    weights: FloatArray
    ridge: float
    exactness: FloatArray
    level: FloatArray
    slope: FloatArray
    record: PlaceRecord
    scaling: Scaling
    images: int

    def judge(self, panel: Panel) -> "Judged":
        """Choose an answer for every image of a panel whose agents stand as in ``agents``."""
        columns = design(panel, signs(panel, self.record), self.scaling)
        scores = columns @ self.weights
        chosen = choose(panel, scores, self.exactness)
        calibrated = calibrate(_of(scores, chosen), self.level, self.slope)
        calibrated[chosen < 0] = 0.0
        return Judged(panel, chosen, calibrated, probabilities(scores), columns, self)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Which agent is followed on each image (-1 where nobody gave a point) and the probabilities by distance."""

    panel: Panel
    chosen: IntArray
    within: FloatArray
    of_each: FloatArray
    columns: FloatArray
    trust: Trust

    def answer(self, row: int) -> Answer:
        """The answer to one image, with the probability that it lies within 25 km."""
        who = int(self.chosen[row])
        if who < 0:
            return Answer(explanation=self.why(row))
        at = WITHIN_KM.index(STATED_KM)
        return Answer(
            point=self._point(row, who),
            address=self.panel.address[row, who],
            probability=float(self.within[row, at]),
            radius_km=STATED_KM,
            explanation=self.why(row),
            candidates=self._others(row, who, at),
        )

    def followed(self, row: int) -> tuple[str, ...]:
        """The agents that point to the answer or near it, the chosen one first."""
        who = int(self.chosen[row])
        if who < 0:
            return ()
        near = np.flatnonzero(self.panel.apart_km[row, who] <= TOGETHER_KM)
        return (self.panel.agents[who], *(self.panel.agents[other] for other in near))

    def why(self, row: int) -> str:
        """Who is followed, against whom, and what spoke for it."""
        who = int(self.chosen[row])
        if who < 0:
            return "no agent gave a point"
        first, *rest = self.followed(row)
        words = f"follows {first}" + (f", with {_listed(rest)} within {TOGETHER_KM:g} km" if rest else ", alone")
        against = [
            place
            for place in np.flatnonzero(self.panel.answered[row])
            if place != who and self.panel.agents[place] not in rest
        ]
        if not against:
            return words
        rival = max(against, key=lambda place: float(self.of_each[row, place].sum()))
        return f"{words}, not {self.panel.agents[rival]}: {self._reasons(row, who, int(rival))}"

    def _reasons(self, row: int, who: int, rival: int) -> str:
        at = WITHIN_KM.index(TOGETHER_KM)
        lead = (self.columns[row, who] - self.columns[row, rival]) * self.trust.weights[:, at]
        about = np.asarray(column_reasons(len(self.panel.agents)))
        sums = {reason: float(lead[about == reason].sum()) for reason in REASONS}
        spoken = {
            "record": "its record in general",
            "agreement": "who agrees with it",
            "words": "how it argues",
            "place": "the record of such answers around there",
        }
        speaking = [spoken[reason] for reason in sorted(sums, key=lambda reason: -sums[reason]) if sums[reason] > 0]
        return (
            f"for it {'speak' if len(speaking) > 1 else 'speaks'} {_listed(speaking)}" if speaking else "a close call"
        )

    def _others(self, row: int, who: int, at: int) -> tuple[Candidate, ...]:
        others = [place for place in np.flatnonzero(self.panel.answered[row]) if place != who]
        others.sort(key=lambda place: -float(self.of_each[row, place].sum()))
        return tuple(
            Candidate(
                point=self._point(row, int(place)),
                probability=float(self.of_each[row, place, at]),
                evidence=f"said by {self.panel.agents[place]}",
            )
            for place in others
        )

    def _point(self, row: int, who: int) -> LatLon:
        return LatLon(float(self.panel.lat[row, who]), float(self.panel.lon[row, who]))


def choose(panel: Panel, scores: FloatArray, exactness: FloatArray) -> IntArray:
    """The agent with the highest expected share of distances within which it is right.

    Of the agents that point to the same spot as that one, the most exact one speaks: who is nearer by a few hundred
    metres can hardly be told from one image, and very well from an agent's record.
    """
    rows = np.arange(len(panel))
    hopes = np.where(panel.answered, probabilities(scores).sum(axis=2), -1.0)
    best = hopes.argmax(axis=1)
    same_spot = panel.apart_km[rows, best] <= SAME_SPOT_KM
    same_spot[rows, best] = True
    # Equally exact agents (copies of one) are told apart by hope, so that nothing hangs on their order.
    speaker = np.where(same_spot & panel.answered, exactness + 1e-6 * hopes, -1.0).argmax(axis=1)
    chosen: IntArray = np.where(panel.answered.any(axis=1), speaker, -1).astype(np.int64)
    return chosen


def calibrate(scores: FloatArray, level: FloatArray, slope: FloatArray) -> FloatArray:
    """Image by distance: calibrated probabilities, never falling with the distance."""
    return np.maximum.accumulate(probabilities(level + slope * scores), axis=1)


def even_odds_km(within: FloatArray) -> FloatArray:
    """For each image the smallest of the distances that holds with even odds; infinite where none does."""
    holds = within >= EVEN_ODDS
    radii: FloatArray = np.where(holds.any(axis=1), np.asarray(WITHIN_KM)[holds.argmax(axis=1)], np.inf)
    return radii


def _of(scores: FloatArray, chosen: IntArray) -> FloatArray:
    picked: FloatArray = scores[np.arange(len(scores)), np.maximum(chosen, 0)]
    return picked


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
