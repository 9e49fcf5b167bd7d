"""Figures of an evaluation, from what was played: accuracy, calls, failures, and what several tries are worth.

Scenes are the unit of chance. With one try a scene, shares have Wilson's interval; with several, the shares of scenes
are averaged and have a normal one. Differences between two policies are taken scene by scene.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import THRESHOLD_SETS, threshold_text
from geosleuth.score.metrics import Accuracy
from geosleuth.score.statistics import Estimate, mcnemar_p, mean_estimate, median_estimate, sign_flip_p
from geosleuth.team.parallel.measures import best_at_n, mean_single, right, verifier_at_n

from .playing_scenes import PlayedScene, PlayedTry

WITHIN_KM = THRESHOLD_SETS["thinking-with-map"].km
"""Half a kilometre to 750: fine, local, district, city, region, country."""

Figures = dict[str, Any]
Floats = NDArray[np.float64]

SLICES: Mapping[str, Callable[[PlayedScene], str]] = {
    "needs zoom": lambda scene: _yes(scene.needs_zoom),
    "misleading text": lambda scene: _yes(scene.misleading),
    "zoom or misleading": lambda scene: _yes(scene.needs_zoom or scene.misleading),
    "locatability": lambda scene: band(scene.locatability),
    "finest clue": lambda scene: scene.finest or "none",
}
"""By what scenes are told apart."""

_BANDS = ((8.0, "8-10"), (6.0, "6-7"), (4.0, "4-5"))


def distance_name(km: float) -> str:
    """What figures call a distance, such as "0.5 km"."""
    return f"{threshold_text(km)} km"


def band(locatability: float) -> str:
    """The step of the locatability scale, as the world's own benchmark has them."""
    return next((name for least, name in _BANDS if locatability >= least), "0-3")


def _yes(value: bool) -> str:  # noqa: FBT001  (a word for it)
    return "yes" if value else "no"


def figures_of(scenes: Sequence[PlayedScene]) -> Figures:
    """All figures of a set of scenes, ready for JSON; shares are in percent, None is not known or without end."""
    tries = [one for scene in scenes for one in scene.tries]
    errors = errors_km(scenes)
    failures = Counter[str]()
    for one in tries:
        failures.update(one.failures)
    made = sum(sum(one.tools.values()) for one in tries)
    found: Figures = {
        "scenes": len(scenes),
        "tries": errors.shape[1],
        "within": {distance_name(km): _told(_share(right(errors, km))) for km in WITHIN_KM},
        "median_km": _told(_median(errors)),
        "answered": _told(_share(_tries(scenes, lambda one: one.answered))),
        "located": _told(_share(~np.isnan(errors))),
        "called": _told(_share(_tries(scenes, lambda one: bool(one.tools)))),
        "calls": _told(_mean(scenes, lambda one: sum(one.tools.values()))),
        "failed": {
            "percent": _number(100 * sum(failures.values()) / made) if made else None,
            "calls": made,
            "by": dict(sorted(failures.items())),
        },
        "tools": dict(Counter(name for one in tries for name, count in one.tools.items() for _ in range(count))),
        "turns": _told(_mean(scenes, lambda one: one.turns)),
        "reward": _told(_mean(scenes, lambda one: one.reward)),
        "input_tokens": _told(_mean(scenes, lambda one: one.input_tokens)),
        "output_tokens": _told(_mean(scenes, lambda one: one.output_tokens)),
        "seconds": _told(_mean(scenes, lambda one: one.seconds)),
        "ended": dict(Counter(one.reason for one in tries)),
        "troubles": sum(one.trouble is not None for one in tries),
    }
    if scenes and all(scene.verified for scene in scenes):
        found["parallel"] = parallel_of(scenes)
    return found


def sliced(scenes: Sequence[PlayedScene]) -> dict[str, dict[str, Figures]]:
    """The same for the scenes of each kind."""
    found: dict[str, dict[str, Figures]] = {}
    for name, kind in SLICES.items():
        kinds = sorted({kind(scene) for scene in scenes})
        found[name] = {one: figures_of([scene for scene in scenes if kind(scene) == one]) for one in kinds}
    return found


def parallel_of(scenes: Sequence[PlayedScene]) -> dict[str, Figures]:
    """For every distance: one try on average, the verifier, the best of all tries, and the differences, in points."""
    errors = errors_km(scenes)
    verified = np.array([_km(scene.verified) for scene in scenes])
    found: dict[str, Figures] = {}
    for km in WITHIN_KM:
        hits, chosen = right(errors, km), right(verified, km)
        single, best = hits.mean(axis=1), hits.any(axis=1)
        found[distance_name(km)] = {
            "single": _number(100 * mean_single(errors, km)),
            "verifier": _number(100 * verifier_at_n(verified, km)),
            "best": _number(100 * best_at_n(errors, km)),
            "verifier_over_single": _told(_points(chosen - single)),
            "best_over_verifier": _told(_points(best.astype(np.float64) - chosen)),
        }
    return found


def compared(first: Sequence[PlayedScene], second: Sequence[PlayedScene]) -> Figures:
    """The second less the first, in points, on the scenes that both played.

    ``p`` is that of McNemar's exact test where each scene was tried once, and of a sign-flip test otherwise.

    Raises:
        ValueError: there is no scene that both played.
    """
    theirs = {scene.number: scene for scene in second}
    pairs = [(scene, theirs[scene.number]) for scene in first if scene.number in theirs]
    if not pairs:
        raise ValueError("there is no scene that both played")
    if any(one.id != two.id for one, two in pairs):
        raise ValueError("the scenes of the two are not the same: they differ in seed or split")
    before, after = (errors_km([pair[side] for pair in pairs]) for side in (0, 1))
    within: dict[str, Figures] = {}
    for km in WITHIN_KM:
        one, two = right(before, km), right(after, km)
        difference = two.mean(axis=1) - one.mean(axis=1)
        if before.shape[1] == after.shape[1] == 1:
            p = mcnemar_p(int((difference < 0).sum()), int((difference > 0).sum()))
        else:
            p = sign_flip_p(difference)
        within[distance_name(km)] = {**_told(_points(difference)), "p": p}
    return {"scenes": len(pairs), "within": within}


def errors_km(scenes: Sequence[PlayedScene]) -> Floats:
    """A row a scene, a column a try; not a number where there is no point."""
    if not scenes:
        return np.zeros((0, 1))
    fewest = min(len(scene.tries) for scene in scenes)
    return np.array([[_km(one) for one in scene.tries[:fewest]] for scene in scenes], dtype=np.float64)


def _km(one: PlayedTry | None) -> float:
    return math.nan if one is None or one.distance_km is None else one.distance_km


def _tries(scenes: Sequence[PlayedScene], what: Callable[[PlayedTry], bool]) -> NDArray[np.bool_]:
    fewest = min((len(scene.tries) for scene in scenes), default=1)
    rows = [[what(one) for one in scene.tries[:fewest]] for scene in scenes]
    return np.array(rows, dtype=np.bool_).reshape(len(scenes), fewest)


def _share(hits: NDArray[np.bool_]) -> Estimate:
    """In percent."""
    if hits.shape[1] == 1:
        return Accuracy.of(int(hits.sum()), len(hits)).percent
    share = mean_estimate(hits.mean(axis=1), lowest=0.0, highest=1.0)
    return Estimate(100 * share.value, 100 * share.low, 100 * share.high)


def _points(differences: Floats) -> Estimate:
    found = mean_estimate(np.asarray(differences, dtype=np.float64), lowest=-1.0, highest=1.0)
    return Estimate(100 * found.value, 100 * found.low, 100 * found.high)


def _median(errors: Floats) -> Estimate:
    """Over all tries; several tries at a scene are not independent, and then there is no interval."""
    found = median_estimate(np.nan_to_num(errors, nan=math.inf).ravel())
    return found if errors.shape[1] == 1 else Estimate(found.value, math.nan, math.nan)


def _mean(scenes: Iterable[PlayedScene], what: Callable[[PlayedTry], float]) -> Estimate:
    """The mean over scenes of the mean over their tries."""
    return mean_estimate(np.array([np.mean([what(one) for one in scene.tries]) for scene in scenes], dtype=np.float64))


def _told(estimate: Estimate) -> dict[str, float | None]:
    return {name: _number(getattr(estimate, name)) for name in ("value", "low", "high")}


def _number(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
