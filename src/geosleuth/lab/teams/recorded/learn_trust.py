"""Learn trust from recorded answers with known truths, and evaluate it on held-out images.

Truths are held here; code that answers can't import this module.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.answer import Answer
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, distances_km
from geosleuth.lab.score import Truth, calibration
from geosleuth.lab.teams.learning.links import Links
from geosleuth.lab.teams.learning.rounds import Heard, LearnSettings, learn_picture
from geosleuth.support.errors import BadInput
from geosleuth.support.fitting import logistic
from geosleuth.teams.swarm.swarm import draw_reviewers

from .features import count_places, design, fit_scaling, signs
from .panel import BoolArray, IntArray, Panel, fold_numbers
from .places import Options, Places, build_options, find_common_places, fit_places, is_within, unit_vectors
from .trust import WITHIN_KM, Trust, choose, elect_answers, even_odds_km, fit, plain_vote

FEWEST_IMAGES = 20
_INNER_FOLDS = 5
_RIDGES = (36.0, 12.0, 4.0)  # the strongest first: the others start from its solution
_FREE = 1e-3  # the constant is hardly penalised
_FINE = 3  # how many of the finest distances measure an agent's precision
_AS_IF_CALIBRATED = 4.0
_MIN_SLOPE = 0.05
_RIGHT_KM = 25.0

REPORTED_KM = (0.5, 2.0, 10.0, 25.0, 200.0, 750.0)
SINGLE, VOTE, LEARNED, ORACLE = "best single", "plain vote", "learned", "oracle"
# Two elected, as in the paper, and all agents elected, in the order of the election.
SMILEGEO, SMILEGEO_ALL = "smileGeo", "smileGeo, all"
_ELECTED_BY_KM = 25.0


@dataclass(frozen=True, slots=True, eq=False)
class KnownTrust:
    """Training images: what was answered, where they were taken, and their groups."""

    panel: Panel
    lat: FloatArray
    lon: FloatArray
    groups: IntArray

    @classmethod
    def from_panel(cls, panel: Panel, truths: Sequence[Truth], groups: IntArray) -> "KnownTrust":
        """Combine answers and truths."""
        if not len(panel) == len(truths) == len(groups):
            raise ValueError("expected one truth and one group per image")
        points = [truth.point for truth in truths]
        return cls(panel, np.array([p.lat for p in points]), np.array([p.lon for p in points]), groups)

    def rows(self, chosen: IntArray) -> "KnownTrust":
        """Return a subset of the images."""
        return KnownTrust(self.panel.rows(chosen), self.lat[chosen], self.lon[chosen], self.groups[chosen])

    def errors_km(self) -> FloatArray:
        """Return errors, image by agent; infinite where an agent gave no point."""
        errors: FloatArray = np.nan_to_num(
            distances_km(self.panel.lat, self.panel.lon, self.lat[:, None], self.lon[:, None]), nan=np.inf
        )
        return errors


def learn(known: KnownTrust, *, seed: int = 0) -> Trust:
    """Learn from images with known truth.

    Regularisation and calibration come from cross-validation among these images. The truth of an image and of its
    group never enters the place record that its own row uses.

    Raises:
        BadInput: there are too few images.
    """
    if len(np.unique(known.groups)) < FEWEST_IMAGES:
        raise BadInput(f"learning trust needs at least {FEWEST_IMAGES} different images with known truth")
    panel, errors = known.panel, known.errors_km()
    inner = fold_numbers(known.groups, _INNER_FOLDS, seed)
    raw = signs(panel, _compute_held_out_places(known, errors, inner))
    scaling = fit_scaling(panel, raw)
    columns = design(panel, raw, scaling)
    right = (errors[:, :, None] <= np.asarray(WITHIN_KM)).astype(np.float64)
    ridge, weights, unseen = _fit_held_out(columns, right, panel.has_point, inner)
    exactness = right[:, :, :_FINE].mean(axis=(0, 2))
    record = count_places(panel, _within(errors), known.lat, known.lon)
    odds = unseen[:, :, WITHIN_KM.index(_RIGHT_KM)]
    places = _learn_places(known, errors, inner, odds)
    chosen = choose(panel, unseen, exactness, places.elect(panel, record, odds).near)
    level, slope = _calibration(unseen, right, chosen)
    return Trust(panel.agents, weights, ridge, exactness, level, slope, record, scaling, len(panel), places)


def _learn_places(known: KnownTrust, errors: FloatArray, inner: IntArray, odds: FloatArray) -> Places:
    """Learn which place to elect; counts around a place exclude the image's own fold."""
    truths = unit_vectors(known.lat, known.lon)
    often = find_common_places(truths)
    rows, parts = [], []
    for fold in range(_INNER_FOLDS):
        held_out, training = np.flatnonzero(inner == fold), np.flatnonzero(inner != fold)
        others = known.rows(training)
        record = count_places(others.panel, _within(errors[training]), others.lat, others.lon)
        parts.append(build_options(known.panel.rows(held_out), often, record, odds[held_out]))
        rows.append(held_out)
    names = ("vectors", "kind", "near", "columns")
    options = Options(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    right = is_within(np.einsum("nsk,nk->ns", options.vectors, truths[np.concatenate(rows)]), _RIGHT_KM)
    weights = fit_places(options, right)
    limits = np.asarray(WITHIN_KM)
    cosines = (truths @ often.T).max(axis=1) if len(often) else np.zeros(0)
    away = np.arccos(np.clip(cosines, -1, 1)) * EARTH_RADIUS_KM
    away = away[away <= _RIGHT_KM]
    nearer = (away[:, None] <= limits).mean(axis=0) if len(away) else (limits >= _RIGHT_KM).astype(np.float64)
    beyond = errors[np.isfinite(errors) & (errors > _RIGHT_KM)]
    farther = (beyond[:, None] <= limits).mean(axis=0) if len(beyond) else np.zeros(len(limits))
    return Places(often, weights, nearer, farther)


def _within(errors: FloatArray) -> FloatArray:
    return (errors <= _RIGHT_KM).astype(np.float64)


def _compute_held_out_places(known: KnownTrust, errors: FloatArray, inner: IntArray) -> FloatArray:
    """Return each image's features from the place record of the other folds."""
    parts = []
    for fold in range(_INNER_FOLDS):
        held_out, training = np.flatnonzero(inner == fold), np.flatnonzero(inner != fold)
        others = known.rows(training)
        record = count_places(others.panel, _within(errors[training]), others.lat, others.lon)
        parts.append((held_out, record.signs(known.panel.rows(held_out))))
    places = np.zeros((*known.panel.lat.shape, parts[0][1].shape[2]))
    for held_out, found in parts:
        places[held_out] = found
    return places


def _fit_held_out(
    columns: FloatArray, right: FloatArray, answered: BoolArray, inner: IntArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the ridge that predicts held-out folds best, its weights, and the held-out log-odds."""
    best: tuple[float, float, FloatArray, FloatArray] | None = None
    weights: FloatArray | None = None
    for ridge in _RIDGES:
        penalty = np.full(columns.shape[2], ridge)
        penalty[0] = _FREE
        weights = _fit_all(columns[answered], right[answered], penalty, weights)
        unseen = np.zeros(right.shape)
        for fold in range(_INNER_FOLDS):
            training = answered & (inner != fold)[:, None]
            # Started from the weights of all folds and run to convergence, so the start does not matter.
            part = _fit_all(columns[training], right[training], penalty, weights)
            unseen[inner == fold] = columns[inner == fold] @ part
        scores = unseen[answered]
        loss = float((np.logaddexp(0.0, scores) - right[answered] * scores).mean())
        if best is None or loss < best[0]:
            best = (loss, ridge, weights, unseen)
    assert best is not None  # noqa: S101  -- there is at least one ridge
    return best[1], best[2], best[3]


def _fit_all(rows: FloatArray, right: FloatArray, penalty: FloatArray, start: FloatArray | None = None) -> FloatArray:
    return np.stack(
        [fit(rows, right[:, at], penalty, None if start is None else start[:, at]) for at in range(right.shape[1])],
        axis=1,
    )


def _calibration(unseen: FloatArray, right: FloatArray, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the level and slope per distance that calibrate the log-odds of chosen answers."""
    rows = np.flatnonzero(chosen >= 0)
    levels, slopes = [], []
    for at in range(right.shape[2]):
        scores = np.clip(unseen[rows, chosen[rows], at], -30.0, 30.0)
        hits = right[rows, chosen[rows], at]
        # Regularised towards the identity (level 0, slope 1): the ridge acts on the difference from it.
        level, slope = _platt(scores, hits)
        levels.append(level)
        slopes.append(slope)
    return np.array(levels), np.array(slopes)


def _platt(scores: FloatArray, hits: FloatArray) -> tuple[float, float]:
    as_it_is, least = np.array([0.0, 1.0]), np.array([-np.inf, _MIN_SLOPE])
    rows = np.stack([np.ones(len(scores)), scores], axis=1)
    level, slope = logistic(rows, hits, _AS_IF_CALIBRATED, centre=as_it_is, least=least)
    return float(level), float(slope)


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The result of a replay; distances are aligned with the images, NaN where a method gave no point.

    Attributes:
        single: the agent that is most often right within 25 km.
        of_agents: each agent's distances.
        rows: each method's distances, under the names above.
        within: image by distance: the probabilities of the learned trust.
        even_odds_km: the smallest distance with a probability of at least one half; infinite if there is none.
        answers: the learned answers.
        followed: the agents that each answer follows.
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
        """Return the expected calibration error of the probabilities, by distance."""
        km = self.rows[LEARNED]
        found = {at: calibration(km, self.within[:, i], np.full(len(km), at)) for i, at in enumerate(WITHIN_KM)}
        return {at: one.expected_error for at, one in found.items() if one is not None}

    def even_odds_error(self) -> float:
        """Return the expected calibration error of the probabilities at each answer's even-odds radius."""
        stated = np.isfinite(self.even_odds_km)
        steps = np.searchsorted(np.asarray(WITHIN_KM), self.even_odds_km[stated])
        chances = self.within[stated, steps]
        found = calibration(self.rows[LEARNED][stated], chances, self.even_odds_km[stated])
        return float("nan") if found is None else found.expected_error


def replay(
    known: KnownTrust, *, folds: int = 5, seed: int = 0, progress: Callable[[int], None] = lambda _fold: None
) -> Replay:
    """Answer every image with what was learned from the other folds.

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
    two, everyone = (np.full(size, -1, dtype=np.int64) for _ in range(2))
    learned = np.full(size, np.nan)
    within = np.zeros((size, steps))
    answers: list[Answer] = [Answer()] * size
    followed: list[tuple[str, ...]] = [()] * size
    for fold in range(folds):
        held_out, training = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        panel = known.panel.rows(held_out)
        judged = learn(known.rows(training), seed=seed).judge(panel)
        within[held_out] = judged.within
        at = np.maximum(judged.chosen, 0)
        lat, lon = (column[np.arange(len(held_out)), at] for column in (judged.panel.lat, judged.panel.lon))
        km = distances_km(lat, lon, known.lat[held_out], known.lon[held_out])
        learned[held_out] = np.where(judged.chosen >= 0, km, np.nan)
        for row, image in enumerate(held_out):
            answers[image], followed[image] = judged.answer(row), judged.list_followed(row)
        order = _election_order(labels[training].mean(axis=0))
        two[held_out], everyone[held_out] = elect_answers(panel, order), elect_answers(panel, order, len(order))
        progress(fold + 1)
    everybody = range(len(known.panel.agents))
    of_agents = {name: _or_nan(errors[:, at]) for at, name in enumerate(known.panel.agents)}
    single = max(everybody, key=lambda at: (float((errors[:, at] <= _ELECTED_BY_KM).mean()), -at))
    return Replay(
        single=known.panel.agents[single],
        of_agents=of_agents,
        rows={
            SINGLE: of_agents[known.panel.agents[single]],
            VOTE: _pick_errors(errors, plain_vote(known.panel, list(everybody))),
            SMILEGEO: _pick_errors(errors, two),
            SMILEGEO_ALL: _pick_errors(errors, everyone),
            LEARNED: learned,
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
    """Return what smileGeo learns from each image: election labels (image, agent) and links (image, agent, agent).

    The paper's rounds on recorded answers: members are drawn by how likely they are right, reviewers along the links,
    and links to reviewers of right answers grow. There is no picture, so the result is the same for all images: the
    mean. The rows of the links sum to 1.
    """
    settings = LearnSettings(seed=seed, labels="mean")
    count = errors_km.shape[1]

    async def lessons() -> list[tuple[tuple[float, ...], Links]]:
        found = []
        for row, distances in enumerate(errors_km.tolist()):
            item = await learn_picture(
                count, lambda *drawn, of=distances: _draw_heard(of, settings.reviewers, *drawn), settings,
                random.Random(f"{seed} {row}"),  # noqa: S311  -- chance in a simulation
            )  # fmt: skip
            found.append((item.labels, item.links))
        return found

    found = asyncio.run(lessons())
    links = np.array([one for _, one in found])
    sums = links.sum(axis=2, keepdims=True)
    return np.array([labels for labels, _ in found]), links / np.where(sums > 0, sums, 1.0)


async def _draw_heard(
    distances: Sequence[float], reviewers: int, drawn: Sequence[int], links: Links, rng: random.Random
) -> Heard:
    speaking = [who for who in drawn if distances[who] != float("inf")]
    return Heard(
        own_km={who: distances[who] for who in speaking},
        reviewers={who: draw_reviewers(links, who, reviewers, rng) for who in speaking},
    )


def _election_order(labels: FloatArray) -> list[int]:
    return [int(who) for who in np.argsort(-labels, kind="stable")]


def _pick_errors(errors: FloatArray, chosen: IntArray) -> FloatArray:
    picked: FloatArray = np.where(chosen >= 0, errors[np.arange(len(errors)), np.maximum(chosen, 0)], np.nan)
    return _or_nan(picked)


def _or_nan(distances: FloatArray) -> FloatArray:
    plain: FloatArray = np.where(np.isinf(distances), np.nan, distances)
    return plain
