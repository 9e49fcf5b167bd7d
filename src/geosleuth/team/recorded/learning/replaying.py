"""The measurement: every image is answered by trust that was learned from other images. Truths are held here."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray
from geosleuth.score import calibration
from geosleuth.team.learning.rounds import Heard, learn_picture
from geosleuth.team.learning.settings import LearnSettings
from geosleuth.team.links import Links
from geosleuth.team.recorded.baselines import elected_answers, plain_vote
from geosleuth.team.recorded.folding import fold_numbers
from geosleuth.team.recorded.panel import IntArray
from geosleuth.team.recorded.trust import WITHIN_KM, even_odds_km
from geosleuth.team.swarm.walk import draw_reviewers

from .fitting import FEWEST_IMAGES, Known, learn

REPORTED_KM = (0.5, 2.0, 10.0, 25.0, 200.0, 750.0)
SINGLE, VOTE, LEARNED, ORACLE = "best single", "plain vote", "learned", "oracle"
SMILEGEO, SMILEGEO_ALL = "smileGeo", "smileGeo, all"
"""With two elected, as in the paper, and with everybody elected, in the order of the election."""
_ELECTED_BY_KM = 25.0


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What came of it; distances are aligned with the images, NaN where a way gave no point.

    Attributes:
        single: the agent that is right within 25 km most often.
        of_agents: each agent's distances.
        rows: the distances of each way to answer, under the names above.
        within: image by distance: the learned trust's probabilities.
        even_odds_km: the smallest distance that is said to hold with even odds; infinite where none is.
        answers: the learned answers themselves.
        followed: whom each follows.
        election, links: smileGeo's, over the training images of all folds.
        folds: each image's fold.
    """

    single: str
    of_agents: Mapping[str, FloatArray]
    rows: Mapping[str, FloatArray]
    within: FloatArray
    even_odds_km: FloatArray
    answers: tuple[Answer, ...]
    followed: tuple[tuple[str, ...], ...]
    election: FloatArray
    links: FloatArray
    folds: IntArray

    def calibration_errors(self) -> dict[float, float]:
        """By distance the expected calibration error of the probabilities."""
        km = self.rows[LEARNED]
        found = {at: calibration(km, self.within[:, i], np.full(len(km), at)) for i, at in enumerate(WITHIN_KM)}
        return {at: one.expected_error for at, one in found.items() if one is not None}

    def even_odds_error(self) -> float:
        """The expected calibration error of what is said about each answer's radius of even odds."""
        stated = np.isfinite(self.even_odds_km)
        steps = np.searchsorted(np.asarray(WITHIN_KM), self.even_odds_km[stated])
        chances = self.within[stated, steps]
        found = calibration(self.rows[LEARNED][stated], chances, self.even_odds_km[stated])
        return float("nan") if found is None else found.expected_error


def replay(
    known: Known, *, folds: int = 5, seed: int = 0, progress: Callable[[int], None] = lambda _fold: None
) -> Replay:
    """Answer every image by what was learned from the other folds.

    Raises:
        BadInput: there are too few images for so many folds.
    """
    if folds < 2:
        raise BadInput("a replay needs at least 2 folds")
    if len(np.unique(known.groups)) * (folds - 1) < FEWEST_IMAGES * folds:
        raise BadInput(f"a replay in {folds} folds needs at least {FEWEST_IMAGES} different images to learn from")
    numbers = fold_numbers(known.groups, folds, seed)
    errors = known.errors_km()
    labels, links = smilegeo_lessons(errors, seed)
    size, steps = len(numbers), len(WITHIN_KM)
    chosen, two, everyone = (np.full(size, -1, dtype=np.int64) for _ in range(3))
    within = np.zeros((size, steps))
    answers: list[Answer] = [Answer()] * size
    followed: list[tuple[str, ...]] = [()] * size
    for fold in range(folds):
        asked, told = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        panel = known.panel.rows(asked)
        judged = learn(known.rows(told), seed=seed).judge(panel)
        chosen[asked], within[asked] = judged.chosen, judged.within
        for row, image in enumerate(asked):
            answers[image], followed[image] = judged.answer(row), judged.followed(row)
        order = _election_order(labels[told].mean(axis=0))
        two[asked], everyone[asked] = elected_answers(panel, order), elected_answers(panel, order, len(order))
        progress(fold + 1)
    everybody = range(len(known.panel.agents))
    of_agents = {name: _or_nan(errors[:, at]) for at, name in enumerate(known.panel.agents)}
    single = max(everybody, key=lambda at: (float((errors[:, at] <= _ELECTED_BY_KM).mean()), -at))
    return Replay(
        single=known.panel.agents[single],
        of_agents=of_agents,
        rows={
            SINGLE: of_agents[known.panel.agents[single]],
            VOTE: _picked(errors, plain_vote(known.panel, list(everybody))),
            SMILEGEO: _picked(errors, two),
            SMILEGEO_ALL: _picked(errors, everyone),
            LEARNED: _picked(errors, chosen),
            ORACLE: _or_nan(errors.min(axis=1)),
        },
        within=within,
        even_odds_km=even_odds_km(within),
        answers=tuple(answers),
        followed=tuple(followed),
        election=labels.mean(axis=0),
        links=links.mean(axis=0),
        folds=numbers,
    )


def smilegeo_lessons(errors_km: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """What smileGeo learns from each image: election labels (image by agent) and links (image by agent by agent).

    The paper's rounds on answers that are already known: members are drawn by how likely they are right, reviewers
    along the links, and the links to reviewers of right answers grow. There is no picture, so what is learned is the
    same for all: the mean over the images. Links come with rows that add up to 1.
    """
    settings = LearnSettings(seed=seed, labels="mean")
    count = errors_km.shape[1]

    async def lessons() -> list[tuple[tuple[float, ...], Links]]:
        found = []
        for row, distances in enumerate(errors_km.tolist()):
            one = await learn_picture(
                count, lambda *drawn, of=distances: _heard(of, settings.reviewers, *drawn), settings,
                random.Random(f"{seed} {row}"),  # noqa: S311  -- chance in a simulation
            )  # fmt: skip
            found.append((one.labels, one.links))
        return found

    found = asyncio.run(lessons())
    links = np.array([one for _, one in found])
    sums = links.sum(axis=2, keepdims=True)
    return np.array([labels for labels, _ in found]), links / np.where(sums > 0, sums, 1.0)


async def _heard(
    distances: Sequence[float], reviewers: int, drawn: Sequence[int], links: Links, rng: random.Random
) -> Heard:
    speaking = [who for who in drawn if distances[who] != float("inf")]
    return Heard(
        own_km={who: distances[who] for who in speaking},
        reviewers={who: draw_reviewers(links, who, reviewers, rng) for who in speaking},
    )


def _election_order(labels: FloatArray) -> list[int]:
    return [int(who) for who in np.argsort(-labels, kind="stable")]


def _picked(errors: FloatArray, chosen: IntArray) -> FloatArray:
    picked: FloatArray = np.where(chosen >= 0, errors[np.arange(len(errors)), np.maximum(chosen, 0)], np.nan)
    return _or_nan(picked)


def _or_nan(distances: FloatArray) -> FloatArray:
    plain: FloatArray = np.where(np.isinf(distances), np.nan, distances)
    return plain
