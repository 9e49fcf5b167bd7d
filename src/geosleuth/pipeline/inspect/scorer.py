"""The scorer: our ruler, with its figures as Inspect's metrics."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from geosleuth.answer import FORMAT, Answer, answer_from_dict
from geosleuth.bench.single import ScoredAnswer, score_answer, summarise_answers
from geosleuth.geo import coordinates, threshold_text
from geosleuth.text.numbers import distance

from .solver import ANSWER_KEY

TRUTH_KEY = "truth"


@metric(scores="unreduced")
def figures() -> Metric:
    """Accuracy within distances in percent, median error, mean GeoScore, names by level; every epoch counts."""

    def computed(scores: list[SampleScore]) -> Value:
        summary = summarise_answers([_scored_of(one.score.metadata or {}) for one in scores])
        found: dict[str, float] = {
            f"within_{threshold_text(km)}_km": share.percent.value for km, share in summary.within.items()
        }
        found |= {"median_km": summary.median_km.value, "geoscore": summary.geoscore.value}
        found |= {f"{name}_named_right": share.percent.value for name, share in summary.levels.items()}
        found |= {"located": float(summary.located), "unlocated": float(summary.unlocated)}
        # The median of answers that are mostly unlocated is infinite, which a log can't hold.
        return {name: value for name, value in found.items() if isfinite(value)}

    return computed


@scorer(metrics=[figures()])
def place() -> Scorer:
    """Hold the answer against the sample's true place. The score is the GeoScore, 0 to 5000."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  (Inspect's own signature)
        answer = _answer_of(state.store.get(ANSWER_KEY))
        scored = score_answer(state.metadata[TRUTH_KEY], answer)
        off = "no place was given" if scored.distance_km is None else f"{distance(scored.distance_km)} off"
        return Score(
            value=scored.geoscore,
            answer=_words(answer),
            explanation=off,
            metadata={"distance_km": scored.distance_km, "geoscore": scored.geoscore, "levels": dict(scored.levels)},
        )

    return score


def _answer_of(kept: Mapping[str, Any] | None) -> Answer:
    return Answer() if kept is None else answer_from_dict({"format": FORMAT, **kept})


def _words(answer: Answer) -> str:
    point = "" if answer.point is None else coordinates(answer.point, answer.radius_km)
    return "; ".join(part for part in (point, str(answer.address)) if part)


def _scored_of(metadata: Mapping[str, Any]) -> ScoredAnswer:
    return ScoredAnswer(metadata["distance_km"], metadata["geoscore"], metadata["levels"])
