"""Evaluation of a policy: held-out scenes with or without tools, kept scene by scene, and their figures.

Scenes are the unit of chance. With one try a scene, shares have Wilson's interval; with several, the shares of scenes
are averaged and have a normal one. Differences between two policies are taken scene by scene.

    from geosleuth.lab.train.evaluation import EvaluationSettings, evaluate

    found = evaluate(Path("run/policy"), EvaluationSettings(scenes=1000, seed=7), folder=Path("evaluations/grpo"))
    print(found.figures["within"]["25 km"])

A folder holds ``asked.json`` (what was asked for), ``scenes.jsonl`` (a line a scene, added as each gets done) and, at
the end, ``evaluation.json`` (the figures). A stopped evaluation resumes in its folder.
"""

import json
import math
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from geosleuth import __version__
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import card_beside
from geosleuth.agent.prompt_files import read_prompts
from geosleuth.geo import THRESHOLD_SETS, threshold_text
from geosleuth.lab.score.metrics import Accuracy, Estimate, mcnemar_p, mean_estimate, median_estimate, sign_flip_p
from geosleuth.lab.teams.measures import best_at_n, mean_single, right, tries_figures, verifier_at_n
from geosleuth.models import Sampling
from geosleuth.models.box_scale import find_box_scale
from geosleuth.photo import BoxScale
from geosleuth.support.errors import BadInput
from geosleuth.support.files import lock_file, write_text_atomically

from .generator import MAX_NEW_TOKENS, Generate, Replier
from .play import AT_ONCE, MakeSetting, PlayedScene, PlayedTry, PlayRules, Replies, Stage, play
from .prompts import prompt_rows
from .recipe import DataPart
from .run_folder import Progress, TrainingFolder, no_progress

# Thresholds from 0.5 to 750 km: fine, local, district, city, region and country.
WITHIN_KM = THRESHOLD_SETS["thinking-with-map"].km

Figures = dict[str, Any]
Floats = NDArray[np.float64]

# Properties by which results are broken down.
SLICES: Mapping[str, Callable[[PlayedScene], str]] = {
    "needs zoom": lambda scene: _yes(scene.needs_zoom),
    "misleading text": lambda scene: _yes(scene.misleading),
    "zoom or misleading": lambda scene: _yes(scene.needs_zoom or scene.misleading),
    "locatability": lambda scene: band(scene.locatability),
    "finest clue": lambda scene: scene.finest or "none",
}

_BANDS = ((8.0, "8-10"), (6.0, "6-7"), (4.0, "4-5"))

DETECTIVE = "detective"
ASKED, SCENES, SUMMARY = "asked.json", "scenes.jsonl", "evaluation.json"
_PRINT_BYTES = 1 << 20


def distance_name(km: float) -> str:
    """Return what figures call a distance, such as "0.5 km"."""
    return f"{threshold_text(km)} km"


def band(locatability: float) -> str:
    """Return the step of the locatability scale, as the world's own benchmark has them."""
    return next((name for least, name in _BANDS if locatability >= least), "0-3")


def _yes(value: bool) -> str:  # noqa: FBT001  (a word for it)
    return "yes" if value else "no"


def compute_scene_figures(scenes: Sequence[PlayedScene]) -> Figures:
    """Return all figures of a set of scenes for JSON; shares in percent, None for unknown or infinite values."""
    tries = [attempt for scene in scenes for attempt in scene.tries]
    errors = errors_km(scenes)
    failures = Counter[str]()
    for attempt in tries:
        failures.update(attempt.failures)
    made = sum(sum(attempt.tools.values()) for attempt in tries)
    strictly = failures.total() + sum(attempt.mended for attempt in tries)
    found: Figures = {
        "scenes": len(scenes),
        "tries": errors.shape[1],
        "within": {distance_name(km): _convert_estimate(_estimate_share(right(errors, km))) for km in WITHIN_KM},
        "median_km": _convert_estimate(_median(errors)),
        "answered": _convert_estimate(_estimate_share(_tries(scenes, lambda item: item.answered))),
        "located": _convert_estimate(_estimate_share(~np.isnan(errors))),
        "placed": dict(Counter(attempt.placed for attempt in tries if attempt.placed is not None)),
        "called": _convert_estimate(_estimate_share(_tries(scenes, lambda item: bool(item.tools)))),
        "calls": _convert_estimate(_mean(scenes, lambda item: sum(item.tools.values()))),
        "failed": {
            "percent": _round_finite(100 * failures.total() / made) if made else None,
            "strict_percent": _round_finite(100 * strictly / made) if made else None,
            "calls": made,
            "by": dict(sorted(failures.items())),
        },
        "tools": dict(
            Counter(name for attempt in tries for name, count in attempt.tools.items() for _ in range(count))
        ),
        "turns": _convert_estimate(_mean(scenes, lambda item: item.turns)),
        "reward": _convert_estimate(_mean(scenes, lambda item: item.reward)),
        "input_tokens": _convert_estimate(_mean(scenes, lambda item: item.input_tokens)),
        "output_tokens": _convert_estimate(_mean(scenes, lambda item: item.output_tokens)),
        "seconds": _convert_estimate(_mean(scenes, lambda item: item.seconds)),
        "ended": dict(Counter(attempt.reason for attempt in tries)),
        "troubles": sum(attempt.trouble is not None for attempt in tries),
    }
    if scenes and all(scene.verified for scene in scenes):
        found["parallel"] = compute_parallel_figures(scenes)
    return found


def slice_figures(scenes: Sequence[PlayedScene]) -> dict[str, dict[str, Figures]]:
    """Return the same for the scenes of each kind."""
    found: dict[str, dict[str, Figures]] = {}
    for name, kind in SLICES.items():
        kinds = sorted({kind(scene) for scene in scenes})
        found[name] = {
            item: compute_scene_figures([scene for scene in scenes if kind(scene) == item]) for item in kinds
        }
    return found


def compute_parallel_figures(scenes: Sequence[PlayedScene]) -> dict[str, Figures]:
    """Return, per distance: one try on average, the verifier, the best of all tries, and differences in points."""
    errors = errors_km(scenes)
    verified = np.array([_km(scene.verified) for scene in scenes])
    found: dict[str, Figures] = {}
    for km in WITHIN_KM:
        hits, chosen = right(errors, km), right(verified, km)
        single, best = hits.mean(axis=1), hits.any(axis=1)
        found[distance_name(km)] = {
            "single": _round_finite(100 * mean_single(errors, km)),
            "verifier": _round_finite(100 * verifier_at_n(verified, km)),
            "best": _round_finite(100 * best_at_n(errors, km)),
            "verifier_over_single": _convert_estimate(_points(chosen - single)),
            "best_over_verifier": _convert_estimate(_points(best.astype(np.float64) - chosen)),
        }
    return found


def compute_measures(
    scenes: Sequence[PlayedScene], thresholds_km: Sequence[float] = WITHIN_KM, ks: Sequence[int] = ()
) -> dict[str, list[float]]:
    """Return shares in percent at any distances: one try on average, pass@K, best@N, range@N and verifier@N.

    Without ``ks``, K is 1, 2, 4 and so on up to N.

    Raises:
        BadInput: a K is more than there are tries.
    """
    verified = np.array([_km(scene.verified) for scene in scenes]) if all(scene.verified for scene in scenes) else None
    found = tries_figures(errors_km(scenes), verified, thresholds_km, ks)
    return {name: [round(100 * share, 4) for share in shares] for name, shares in found.items()}


def compare_scenes(first: Sequence[PlayedScene], second: Sequence[PlayedScene]) -> Figures:
    """Return the second less the first, in points, on the scenes that both played.

    ``p`` is that of McNemar's exact test where each scene was tried once, and of a sign-flip test otherwise.

    Raises:
        ValueError: the two have no scene in common.
    """
    theirs = {scene.number: scene for scene in second}
    pairs = [(scene, theirs[scene.number]) for scene in first if scene.number in theirs]
    if not pairs:
        raise ValueError("the two have no scene in common")
    if any(one.id != two.id for one, two in pairs):
        raise ValueError("the scenes of the two are not the same: they differ in seed or split")
    before, after = (errors_km([pair[side] for pair in pairs]) for side in (0, 1))
    within: dict[str, Figures] = {}
    for km in WITHIN_KM:
        item, two = right(before, km), right(after, km)
        difference = two.mean(axis=1) - item.mean(axis=1)
        if before.shape[1] == after.shape[1] == 1:
            p = mcnemar_p(int((difference < 0).sum()), int((difference > 0).sum()))
        else:
            p = sign_flip_p(difference)
        within[distance_name(km)] = {**_convert_estimate(_points(difference)), "p": p}
    return {"scenes": len(pairs), "within": within}


def errors_km(scenes: Sequence[PlayedScene]) -> Floats:
    """Return a row a scene, a column a try; not a number where there is no point."""
    if not scenes:
        return np.zeros((0, 1))
    fewest = min(len(scene.tries) for scene in scenes)
    return np.array([[_km(attempt) for attempt in scene.tries[:fewest]] for scene in scenes], dtype=np.float64)


def _km(played_try: PlayedTry | None) -> float:
    return math.nan if played_try is None or played_try.distance_km is None else played_try.distance_km


def _tries(scenes: Sequence[PlayedScene], what: Callable[[PlayedTry], bool]) -> NDArray[np.bool_]:
    fewest = min((len(scene.tries) for scene in scenes), default=1)
    rows = [[what(attempt) for attempt in scene.tries[:fewest]] for scene in scenes]
    return np.array(rows, dtype=np.bool_).reshape(len(scenes), fewest)


def _estimate_share(hits: NDArray[np.bool_]) -> Estimate:
    if hits.shape[1] == 1:
        return Accuracy.from_counts(int(hits.sum()), len(hits)).percent
    share = mean_estimate(hits.mean(axis=1), lowest=0.0, highest=1.0)
    return Estimate(100 * share.value, 100 * share.low, 100 * share.high)


def _points(differences: Floats) -> Estimate:
    found = mean_estimate(np.asarray(differences, dtype=np.float64), lowest=-1.0, highest=1.0)
    return Estimate(100 * found.value, 100 * found.low, 100 * found.high)


def _median(errors: Floats) -> Estimate:
    """Return the median over all tries; no interval if scenes have several tries, which are not independent."""
    found = median_estimate(np.nan_to_num(errors, nan=math.inf).ravel())
    return found if errors.shape[1] == 1 else Estimate(found.value, math.nan, math.nan)


def _mean(scenes: Iterable[PlayedScene], what: Callable[[PlayedTry], float]) -> Estimate:
    """Return the mean over scenes of the mean over their tries."""
    return mean_estimate(
        np.array([np.mean([what(attempt) for attempt in scene.tries]) for scene in scenes], dtype=np.float64)
    )


def _convert_estimate(estimate: Estimate) -> dict[str, float | None]:
    return {name: _round_finite(getattr(estimate, name)) for name in ("value", "low", "high")}


def _round_finite(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Settings of an evaluation, the scenes played, and where it ran. Figures are computed from the scenes."""

    asked: Mapping[str, Any]
    scenes: tuple[PlayedScene, ...] = field(repr=False)
    machine: str = ""
    wall_seconds: float = 0.0

    @property
    def figures(self) -> Figures:
        """Of all scenes."""
        return compute_scene_figures(self.scenes)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary, for JSON."""
        return {
            "format": "geosleuth-evaluation",
            "geosleuth": __version__,
            "asked": dict(self.asked),
            "machine": self.machine,
            "wall_seconds": self.wall_seconds,
            "figures": self.figures,
            "measures": compute_measures(self.scenes) if self.scenes else {},
            "slices": slice_figures(self.scenes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings(PlayRules):
    """Scenes to play.

    Attributes:
        scenes: how many.
        method: a preset of `geosleuth.agent`; "default" if left out, and the detective's own for it.
        reward: a preset, or a file, by which answers are scored too.
        turns: the most turns of a try; None is the method's own.
        calls: the most calls of a try; None is the method's own.
        tools: in place of the method's own.
        prompts: a folder with words of the user's own for the method (`geosleuth.agent.prompt_files`).
        policy_card: how the policy was trained, where its folder does not say or another way is wanted: a file, or
            "none". Method, tools, words, wire and turns are those of the card; others are refused.
        setting: a function of a module that makes a setting, in place of all these words, or an object that does and
            has a ``name``.
        photos: a data set whose first photos are played in place of scenes.
        start: the number of the first scene.
        sampling: how replies are drawn: greedily if left out, and at temperature 1 for several tries.
        max_new_tokens: how long a reply may get.
    """

    scenes: int
    method: str | None = None
    reward: str = "ours"
    turns: int | None = None
    calls: int | None = None
    tools: Iterable[str] | None = None
    prompts: Path | None = None
    policy_card: str | None = None
    setting: MakeSetting | None = None
    photos: str | None = None
    start: int = 0
    sampling: Sampling | None = None
    max_new_tokens: int = MAX_NEW_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaySettings:
    """Execution settings; they change the time that playing takes, and no figure.

    Attributes:
        workers: processes that hold the scenes; 0 for none.
        at_once: how many tries are under way at the same time.
        batch: how many replies are drawn together.
        patience_s: see `geosleuth.lab.train.play.play`.
        generate: in place of the model's own ``generate``.
    """

    workers: int = 0
    at_once: int = AT_ONCE
    batch: int | None = None
    patience_s: float | None = None
    generate: Generate | None = None


_USUAL = PlaySettings()


def evaluate(
    policy: Path | str | Replies,
    settings: EvaluationSettings,
    *,
    playing: PlaySettings = _USUAL,
    folder: Path | None = None,
    keep_trajectories: bool = False,
    pictures: Path | None = None,
    progress: Progress = no_progress,
) -> Evaluation:
    """Play a policy on scenes of the world and score it.

    Args:
        policy: a folder with weights, as `--model hf:DIR` takes it; a model in memory, see `Replier`; or "detective".
        settings: what is played.
        playing: how it is played.
        folder: where results are written; an unfinished run of the same evaluation there is resumed.
        keep_trajectories: keep them too, in ``folder``.
        pictures: a folder of pictures that were drawn before; those that are not there yet are drawn and put there.
        progress: hears how many scenes are done, and of how many.

    Raises:
        BadInput: the policy can't be used, a word is unknown, or the folder holds another evaluation.
    """
    if keep_trajectories and folder is None:
        raise BadInput("trajectories are kept in the evaluation's folder; name one")
    keep = folder / "trajectories" if folder and keep_trajectories else None
    stage, asked = _prepare_stage(policy, settings, keep, pictures)
    start, scenes = settings.start, len(stage.photos) or settings.scenes
    wanted = range(start, start + scenes)
    with closing(_Kept(folder, asked)) as kept:
        left = [number for number in wanted if number not in kept.scenes]
        progress(scenes - len(left), scenes)
        begun = time.monotonic()
        if left:
            played = play(
                left,
                stage,
                _model(policy, settings.max_new_tokens, playing.generate),
                workers=playing.workers,
                at_once=playing.at_once,
                batch=playing.batch,
                patience_s=playing.patience_s,
            )
            for done, scene in enumerate(played, scenes - len(left) + 1):
                kept.add(scene)
                progress(done, scenes)
        found = tuple(kept.scenes[number] for number in wanted)
        result = Evaluation(asked, found, machine_name(), round(kept.seconds + time.monotonic() - begun, 1))
        kept.finish(result)
        return result


def _prepare_stage(
    policy: Path | str | Replies, asked_for: EvaluationSettings, keep: Path | None, kept: Path | None
) -> tuple[Stage, dict[str, Any]]:
    """Return the stage for playing scenes, and what ``asked.json`` records about it."""
    item = asked_for
    if item.control != "none" and item.reading != "clue boxes":
        raise BadInput(f"the control {item.control!r} needs signs that are read by clue boxes")
    drawn = item.sampling or Sampling(temperature=0.0 if item.tries == 1 else 1.0, top_p=1.0)
    words: dict[str, Any] = {
        "method": item.method or (DETECTIVE if policy == DETECTIVE else "default"),
        "reward": item.reward,
        "turns": item.turns,
        "calls": item.calls,
        "tools": None if item.tools is None else [*item.tools],
    }
    scale = _box_scale(policy)
    if method_of(words["method"], box_scale=scale).box_scale != method_of(words["method"]).box_scale:
        words["box_scale"] = scale
    card = card_beside(policy, item.policy_card) if isinstance(policy, Path) and item.setting is None else None
    if card is not None:
        played = card.build_method(method=item.method, tools=item.tools, prompts=item.prompts)
        words |= {
            "method": card.method, "tools": [*played.tools], "turns": item.turns or card.turns, "wire": card.wire,
            "box_scale": played.box_scale,
        }  # fmt: skip
    if item.prompts is not None:
        words["prompts"] = str(item.prompts.absolute())
    rules: dict[str, Any] = {rule.name: getattr(item, rule.name) for rule in fields(PlayRules)}
    stage = Stage(**rules, setting=item.setting or words, sampling=drawn, keep=keep, kept=kept, photos=photo_rows(item))
    asked = {
        "policy": _name(policy),
        "weights": fingerprint(policy) if isinstance(policy, Path) else getattr(policy, "fingerprint", None),
        **(
            {"setting": _setting_name(item.setting)}
            if item.setting
            else {**words, **_compute_prompt_fingerprint(item, words)}
        ),
        **({"photos": item.photos} if item.photos else {}),
        "scenes": item.scenes,
        "start": item.start,
        **rules,
        "sampling": asdict(drawn),
        "max_new_tokens": item.max_new_tokens,
    }
    return stage, asked


def _compute_prompt_fingerprint(settings: EvaluationSettings, words: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprint of the user's own prompts, by the key under which results keep it."""
    return {} if settings.prompts is None else {"prompts": read_prompts(settings.prompts, words["method"]).sha256}


def _setting_name(setting: MakeSetting) -> str:
    return str(getattr(setting, "name", None) or f"{setting.__module__}.{setting.__qualname__}")


def photo_rows(settings: EvaluationSettings) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of the photos that are played; none where scenes are.

    Raises:
        BadInput: the data set can't be opened, or is empty.
    """
    if settings.photos is None:
        return ()
    if settings.control != "none":
        raise BadInput("control conditions are for drawn scenes; leave out the photos or the condition")
    # Nothing is learned here, so that test parts may be played.
    rows = prompt_rows(DataPart(photos=(settings.photos,), limit=settings.scenes, allow_test=True))
    if not rows:
        raise BadInput(f"{settings.photos}: has no photos to play")
    return tuple(rows)


def read_evaluation(folder: Path) -> Evaluation:
    """Read an evaluation's folder, finished or not.

    Raises:
        BadInput: it holds none.
    """
    asked = _read_json(folder / ASKED)
    summary = _read_json(folder / SUMMARY) if (folder / SUMMARY).is_file() else {}
    try:
        with (folder / SCENES).open("rb") as stream:
            scenes = dict(_read_scene_lines(folder / SCENES, stream))
    except OSError as error:
        raise BadInput(f"{folder / SCENES}: can't be read: {error.strerror or error}") from error
    ordered = tuple(scenes[number] for number in sorted(scenes))
    return Evaluation(asked, ordered, str(summary.get("machine", "")), float(summary.get("wall_seconds", 0.0)))


def summary_figures(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of a summary by which policies of a run are compared; shares from 0 to 1.

    ``within_25km`` has its interval as ``within_25km/low`` and ``/high``; ``pass@4_25km`` is there with several tries.
    """
    figures, found = summary["figures"], dict[str, float | None]()
    for km in WITHIN_KM:
        item = figures["within"][distance_name(km)]
        name = f"within_{km:g}km"
        found |= {
            name: _of_one(item["value"]),
            f"{name}/low": _of_one(item["low"]),
            f"{name}/high": _of_one(item["high"]),
        }
    for name, values in (summary.get("measures") or {}).items():
        if name.startswith("pass@") and name != "pass@1":
            found |= {f"{name}_{km:g}km": _of_one(value) for km, value in zip(WITHIN_KM, values, strict=True)}
    found |= {name: figures[name]["value"] for name in ("reward", "median_km", "calls")}
    found["answered"] = _of_one(figures["answered"]["value"])
    return {name: value for name, value in found.items() if value is not None}


def _of_one(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def read_evaluated_steps(run: TrainingFolder) -> dict[int, dict[str, float]]:
    """Return the figures of a run's finished evaluations, by step; what can't be read is left out."""
    found: dict[int, dict[str, float]] = {}
    for path in run.evaluations.glob(f"step-*/{SUMMARY}"):
        number = path.parent.name.removeprefix("step-")
        with suppress(BadInput, KeyError, TypeError, ValueError):
            found[int(number)] = summary_figures(_read_json(path))
    return dict(sorted(found.items()))


def machine_name() -> str:
    """Return what figures about time were taken on."""
    torch = sys.modules.get("torch")
    cuda = torch.cuda if torch is not None else None
    gpu = f", {cuda.get_device_name()}" if cuda is not None and cuda.is_available() else ""
    return f"{platform.machine()}, {os.cpu_count()} cores{gpu}, Python {platform.python_version()}"


def fingerprint(folder: Path) -> str:
    """Return a number that changes with the weights: sizes, and both ends of every file of them."""
    seen = sha256()
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        with path.open("rb") as stream:
            ends = stream.read(_PRINT_BYTES)
            stream.seek(max(0, size - _PRINT_BYTES))
            ends += stream.read()
        seen.update(f"{path.name} {size} ".encode() + ends)
    return seen.hexdigest()[:16]


def _box_scale(policy: Path | str | Replies) -> BoxScale:
    if isinstance(policy, Path):
        return find_box_scale(f"hf:{policy}")
    return getattr(policy, "box_scale", "pixels")


def _name(policy: Path | str | Replies) -> str:
    if isinstance(policy, Path):
        return f"hf:{policy.absolute().name}"
    return policy if isinstance(policy, str) else f"hf:{policy.words.name}"


def _model(policy: Path | str | Replies, max_new_tokens: int, generate: Generate | None) -> Replies | None:
    if isinstance(policy, Path):
        return Replier.from_folder(policy, max_new_tokens=max_new_tokens, generate=generate)
    if not isinstance(policy, str):
        return policy
    if policy != DETECTIVE:
        raise BadInput(f"there is no policy {policy!r} to evaluate; give a folder with weights, or {DETECTIVE}")
    return None


class _Kept:
    """Folder of an evaluation, or memory only."""

    def __init__(self, folder: Path | None, asked: Mapping[str, Any]) -> None:
        self.scenes: dict[int, PlayedScene] = {}
        self.seconds = 0.0
        self._folder = folder
        self._stream: IO[bytes] | None = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._stream = (folder / SCENES).open("a+b")
        except OSError as error:
            raise BadInput(f"{folder}: can't be used for an evaluation: {error.strerror or error}") from error
        try:
            self._resume(folder, self._stream, asked)
        except BaseException:
            self.close()
            raise

    def _resume(self, folder: Path, stream: IO[bytes], asked: Mapping[str, Any]) -> None:
        """Check that the settings match the stored ones, and read the stored scenes."""
        if lock_file(stream.fileno()) is False:
            raise BadInput(f"{folder}: another process is evaluating there; wait, or choose another folder")
        # Numbers and tuples as JSON gives them back.
        now: dict[str, Any] = json.loads(json.dumps(asked))
        if (folder / ASKED).is_file():
            before = _read_json(folder / ASKED)
            names = sorted(name for name in {*before, *now} - {"scenes"} if before.get(name) != now.get(name))
            if names:
                raise BadInput(f"{folder}: holds an evaluation with another {names[0]}; choose another folder")
        write_text_atomically(folder / ASKED, json.dumps(now, indent=1, ensure_ascii=False) + "\n")
        stream.seek(0)
        end = 0
        for number, scene in _read_scene_lines(folder / SCENES, stream):
            self.scenes[number] = scene
            end = stream.tell()
        # A line that was cut off in the middle is played again.
        stream.truncate(end)
        if (folder / SUMMARY).is_file():
            self.seconds = float(_read_json(folder / SUMMARY).get("wall_seconds", 0.0))

    def add(self, scene: PlayedScene) -> None:
        self.scenes[scene.number] = scene
        if self._stream is not None:
            self._stream.write(json.dumps(scene.to_dict(), ensure_ascii=False).encode() + b"\n")
            self._stream.flush()

    def finish(self, found: Evaluation) -> None:
        if self._folder is not None:
            text = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
            write_text_atomically(self._folder / SUMMARY, text + "\n")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


def _read_scene_lines(path: Path, stream: IO[bytes]) -> Iterator[tuple[int, PlayedScene]]:
    while line := stream.readline():
        if not line.endswith(b"\n"):
            return
        try:
            scene = PlayedScene.from_dict(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BadInput(f"{path}: a line is not a scene; remove the file to start over") from error
        yield scene.number, scene


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: can't be read; give the folder of an evaluation") from error
    if not isinstance(found, dict):
        raise BadInput(f"{path}: not written by an evaluation")
    return found
