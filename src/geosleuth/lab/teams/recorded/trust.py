"""Learned trust: which agent to follow on an image, with what probability, and why. It holds no truths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.answer import Answer, Candidate
from geosleuth.geo import FloatArray, LatLon
from geosleuth.support.errors import BadInput
from geosleuth.support.fitting import logistic, probabilities
from geosleuth.teams.member import AGREE_WITHIN_KM

from .features import (
    REASONS,
    SHARED,
    TOGETHER_KM,
    PlaceRecord,
    Scaling,
    column_reasons,
    design,
    record_from_json,
    record_to_json,
    scaling_from_json,
    scaling_to_json,
    signs,
)
from .panel import MAX_AGENTS, BoolArray, IntArray, Panel
from .places import Places

_ENOUGH = 1e-4  # of the loss, per row: far below what a probability shows
_MAX_CURVED_ROWS = 2500

# Distances, in kilometres, for which probabilities are given.
WITHIN_KM = (0.5, 1.0, 2.0, 10.0, 25.0, 50.0, 200.0, 750.0)
# Answers within this distance of each other are the same spot; the most precise agent's point is used.
SAME_SPOT_KM = 2.0
# Radius of an answer's probability: the same for all, so that answers can be ranked by it.
STATED_KM = 25.0
EVEN_ODDS = 0.5
# Name recorded as the followed agent if the elected place is not an agent's.
PLACES = "places"
FORMAT = "geosleuth-trust/2"
_ARRAYS = ("weights", "exactness", "level", "slope")


def fit(rows: FloatArray, right: FloatArray, ridge: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Return the weights of a ridge-penalised logistic regression.

    Args:
        rows: the features, the first column constant.
        right: 1 or 0 for each row.
        ridge: the penalty of each column.
        start: initial weights.
    """
    if start is None:
        start = np.zeros(rows.shape[1])
        share = (right.sum() + 0.5) / (len(right) + 1.0)
        start[0] = np.log(share / (1 - share))
    enough = _ENOUGH * max(1.0, len(right) / 1000)
    return logistic(rows, right, ridge, start=start, curved_rows=_MAX_CURVED_ROWS, enough=enough)


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """A learned trust model.

    Attributes:
        agents: the agents it is about.
        weights: column by distance: log-odds that an answer lies within the distance.
        ridge: the regularisation.
        exactness: agent: how often it is right within the finest distances.
        level, slope: by distance: calibration of the chosen answer's log-odds.
        record: which agents were right where.
        scaling: the scales of the columns.
        images: the number of training images.
        places: which place to elect before an agent speaks for it.
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
    places: Places

    def judge(self, panel: Panel) -> "Judged":
        """Choose an answer for every image of a panel whose agents are ordered as in ``agents``."""
        columns = design(panel, signs(panel, self.record), self.scaling)
        scores = columns @ self.weights
        elected = self.places.elect(panel, self.record, scores[:, :, WITHIN_KM.index(STATED_KM)])
        chosen = choose(panel, scores, self.exactness, elected.near)
        calibrated = calibrate(_pick_scores(scores, chosen), self.level, self.slope)
        calibrated[chosen < 0] = 0.0
        # Where no agent points at the elected place, the place itself is the answer.
        new = ~np.isnan(elected.lat)
        chosen[new], calibrated[new] = len(self.agents), elected.within[new]
        of_each = np.pad(probabilities(scores), [(0, 0), (0, 1), (0, 0)])
        wider = panel.with_point(PLACES, elected.lat, elected.lon)
        return Judged(wider, chosen, calibrated, of_each, columns, self)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The agent followed on each image (-1 if no agent gave a point) and the probabilities by distance.

    The panel has one more column, ``PLACES``: the elected place where no agent points at it.
    """

    panel: Panel
    chosen: IntArray
    within: FloatArray
    of_each: FloatArray
    columns: FloatArray
    trust: Trust

    def answer(self, row: int) -> Answer:
        """Return the answer to one image, with the probability that it lies within 25 km."""
        who = int(self.chosen[row])
        if who < 0:
            return Answer(explanation=self.why(row))
        at = WITHIN_KM.index(STATED_KM)
        return Answer(
            point=self._get_point(row, who),
            address=self.panel.address[row, who],
            probability=float(self.within[row, at]),
            radius_km=STATED_KM,
            explanation=self.why(row),
            candidates=self._others(row, who, at),
        )

    def list_followed(self, row: int) -> tuple[str, ...]:
        """Return the agents whose answers lie at or near the chosen one, the chosen agent first."""
        who = int(self.chosen[row])
        if who < 0:
            return ()
        near = np.flatnonzero(self.panel.apart_km[row, who] <= TOGETHER_KM)
        return (self.panel.agents[who], *(self.panel.agents[other] for other in near))

    def why(self, row: int) -> str:
        """Explain which agent is followed, against which, and why."""
        who = int(self.chosen[row])
        if who < 0:
            return "no agent gave a point"
        if who == len(self.trust.agents):
            return "a place that replies name or that images are often taken at; no agent points there"
        first, *rest = self.list_followed(row)
        words = f"follows {first}" + (f", with {_join_names(rest)} within {TOGETHER_KM:g} km" if rest else ", alone")
        against = [
            place
            for place in np.flatnonzero(self.panel.has_point[row])
            if place not in (who, len(self.trust.agents)) and self.panel.agents[place] not in rest
        ]
        if not against:
            return words
        rival = max(against, key=lambda place: float(self.of_each[row, place].sum()))
        return f"{words}, not {self.panel.agents[rival]}: {self._reasons(row, who, int(rival))}"

    def _reasons(self, row: int, who: int, rival: int) -> str:
        at = WITHIN_KM.index(TOGETHER_KM)
        lead = (self.columns[row, who] - self.columns[row, rival]) * self.trust.weights[:, at]
        about = np.asarray(column_reasons(len(self.trust.agents)))
        sums = {reason: float(lead[about == reason].sum()) for reason in REASONS}
        spoken = {
            "record": "its record in general",
            "agreement": "who agrees with it",
            "words": "how it argues",
            "place": "the record of such answers around there",
        }
        speaking = [spoken[reason] for reason in sorted(sums, key=lambda reason: -sums[reason]) if sums[reason] > 0]
        return (
            f"for it {'speak' if len(speaking) > 1 else 'speaks'} {_join_names(speaking)}"
            if speaking
            else "a close call"
        )

    def _others(self, row: int, who: int, at: int) -> tuple[Candidate, ...]:
        others = [place for place in np.flatnonzero(self.panel.has_point[row]) if place != who]
        others.sort(key=lambda place: -float(self.of_each[row, place].sum()))
        return tuple(
            Candidate(
                point=self._get_point(row, int(place)),
                probability=float(self.of_each[row, place, at]),
                evidence=f"said by {self.panel.agents[place]}",
            )
            for place in others
        )

    def _get_point(self, row: int, who: int) -> LatLon:
        return LatLon(float(self.panel.lat[row, who]), float(self.panel.lon[row, who]))


def choose(panel: Panel, scores: FloatArray, exactness: FloatArray, allowed: BoolArray | None = None) -> IntArray:
    """Return the agent with the highest expected share of distances within which it is right, of those allowed.

    Among agents at the same spot, the most precise is used: a difference of a few hundred metres shows in an agent's
    record, hardly in one image.
    """
    rows = np.arange(len(panel))
    given = panel.has_point if allowed is None else panel.has_point & allowed
    hopes = np.where(given, probabilities(scores).sum(axis=2), -1.0)
    best = hopes.argmax(axis=1)
    same_spot = panel.apart_km[rows, best] <= SAME_SPOT_KM
    same_spot[rows, best] = True
    # Ties in precision (copies of one agent) are broken by score, so that the agents' order has no effect.
    speaker = np.where(same_spot & given, exactness + 1e-6 * hopes, -1.0).argmax(axis=1)
    chosen: IntArray = np.where(given.any(axis=1), speaker, -1).astype(np.int64)
    return chosen


def calibrate(scores: FloatArray, level: FloatArray, slope: FloatArray) -> FloatArray:
    """Return calibrated probabilities, image by distance, that never fall with the distance."""
    return np.maximum.accumulate(probabilities(level + slope * scores), axis=1)


def even_odds_km(within: FloatArray) -> FloatArray:
    """Return for each image the smallest distance with probability of at least one half; infinite if none."""
    holds = within >= EVEN_ODDS
    radii: FloatArray = np.where(holds.any(axis=1), np.asarray(WITHIN_KM)[holds.argmax(axis=1)], np.inf)
    return radii


def _pick_scores(scores: FloatArray, chosen: IntArray) -> FloatArray:
    picked: FloatArray = scores[np.arange(len(scores)), np.maximum(chosen, 0)]
    return picked


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def trust_to_json(trust: Trust) -> dict[str, Any]:
    """Return the stored form; ``trust_from_json`` restores an equal model."""
    return {
        "format": FORMAT,
        "agents": list(trust.agents),
        "images": trust.images,
        "within_km": list(WITHIN_KM),
        "signs": list(SHARED),
        "ridge": trust.ridge,
        **{name: getattr(trust, name).tolist() for name in _ARRAYS},
        "scaling": scaling_to_json(trust.scaling),
        "record": record_to_json(trust.record),
        "places": trust.places.to_json(),
    }


def trust_from_json(document: object) -> Trust:
    """Restore a model from its stored form.

    Raises:
        BadInput: it has another format or version, or is damaged.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, Mapping) else None
        raise BadInput(f"this model says format {found!r}; this version of geosleuth reads {FORMAT!r}")
    if document.get("within_km") != list(WITHIN_KM) or document.get("signs") != list(SHARED):
        raise BadInput("this model was learned with other features; learn it again with --save")
    try:
        agents = tuple(str(agent) for agent in document["agents"])
        if not 2 <= len(agents) <= MAX_AGENTS or len(set(agents)) != len(agents):
            raise ValueError("two of its agents have the same name")
        count, steps = len(agents), len(WITHIN_KM)
        shapes = ((len(column_reasons(count)), steps), (count,), (steps,), (steps,))
        arrays = [_array(document[name], shape) for name, shape in zip(_ARRAYS, shapes, strict=True)]
        weights, exactness, level, slope = arrays
        return Trust(
            agents, weights, float(document["ridge"]), exactness, level, slope,
            record_from_json(document["record"], count), scaling_from_json(document["scaling"], count),
            int(document["images"]), Places.from_json(document["places"], count, steps),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise BadInput(f"this model can't be read: {error}; learn it again with --save") from error


def _array(values: object, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"an array of shape {array.shape} instead of {shape}")
    return array


def plain_vote(panel: Panel, order: Sequence[int]) -> IntArray:
    """Return the agent with most others within 25 km; ties go to the first in ``order``; -1 if no agent has a point."""
    support = (panel.apart_km <= TOGETHER_KM).sum(axis=2) + panel.has_point
    first = np.empty(len(order))
    first[np.asarray(order)] = np.arange(len(order))[::-1]
    chosen = (support * (len(order) + 1) + np.where(panel.has_point, first, 0)).argmax(axis=1)
    return np.where(panel.has_point.any(axis=1), chosen, -1).astype(np.int64)


def elect_answers(panel: Panel, order: Sequence[int], elected: int = 2) -> IntArray:
    """Apply smileGeo to fixed answers: the elected agree within 50 km, or the first of them wins.

    An elected agent without a point is replaced by the next in ``order``. The answer with most agreement among the
    elected wins, ties go to the first elected; -1 if no agent gave a point.
    """
    chosen = np.full(len(panel), -1, dtype=np.int64)
    for row in range(len(panel)):
        speaking = [who for who in order if panel.has_point[row, who]][:elected]
        if speaking:
            near = panel.apart_km[row][np.ix_(speaking, speaking)] <= AGREE_WITHIN_KM
            chosen[row] = speaking[int(near.sum(axis=1).argmax())]
    return chosen
