"""Every policy that a training run saves, as a folder of weights, and how good each of them is.

    for saved in saved_policies(RunFolder(Path("run"))):
        print(saved.step, saved.folder)

A checkpoint is made a policy in a folder that is thrown away afterwards: adapters are merged, the processor is added.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from geosleuth.agent.policy_card import card_beside
from geosleuth.support.errors import BadInput
from geosleuth.support.files import plain_yaml_values

from .evaluation import (
    SUMMARY,
    Evaluation,
    EvaluationSettings,
    PlaySettings,
    evaluate,
    read_evaluation,
    summary_figures,
)
from .models import copy_policy, load_saved_model, open_processor, save_policy
from .recipe_files import build_recipe
from .run_folder import (
    Progress,
    TrainingFolder,
    is_whole,
    keep_best,
    list_checkpoints,
    mark_policy,
    no_progress,
    read_finished,
)
from .services import answers_served, is_online, placing_by_atlas
from .validation import RecipeSetting

# Folder, beside the results, in which a checkpoint is converted to a policy for the duration of its run.
SCRATCH = ".policy"

_LOOK_EVERY_S = 20.0
_USUAL = PlaySettings()


@dataclass(frozen=True, slots=True)
class SavedPolicy:
    """Weights of a run after so many steps: a checkpoint, or the finished policy."""

    step: int
    folder: Path
    is_checkpoint: bool

    @property
    def name(self) -> str:
        """Return what its results are called."""
        return f"step-{self.step}"


def is_run(folder: Path) -> bool:
    """Return whether a folder is that of a training run, and not one of weights."""
    run = TrainingFolder(folder)
    return run.recipe.is_file() and run.checkpoints.is_dir() and not (folder / "config.json").exists()


def find_run(folder: Path) -> TrainingFolder | None:
    """Return the training run that a folder is, or whose policy it is; None where there is none."""
    if is_run(folder):
        return TrainingFolder(folder)
    run = TrainingFolder(folder.absolute().parent)
    return run if folder.absolute() in (run.policy, run.best) and run.recipe.is_file() else None


@contextmanager
def as_trained(run: TrainingFolder | None, settings: EvaluationSettings) -> Iterator[EvaluationSettings]:
    """Yield the settings with what no card says: the words and, for photos, the services of a run's rollouts.

    The process that asks these services runs for as long as the block does.

    Raises:
        BadInput: the run's recipe can't be read, or a service can't be used.
    """
    if run is None or settings.policy_card is not None:
        yield settings
        return
    recipe = build_recipe(plain_yaml_values(run.recipe), str(run.recipe))
    rollout = recipe.rollout
    if settings.prompts is None and rollout.prompts is not None:
        settings = replace(settings, prompts=rollout.prompts)
    if (card := card_beside(run.path)) is not None:
        card.build_method(method=settings.method, tools=settings.tools, prompts=settings.prompts)
    elif recipe.stage == "grpo":
        tools = rollout.tools if settings.tools is None else settings.tools
        turns = settings.turns or rollout.turns
        settings = replace(settings, method=settings.method or rollout.method, tools=tools, turns=turns)
    rollout = placing_by_atlas(rollout)
    asks = is_online(rollout) or rollout.tiles is not None
    if recipe.stage != "grpo" or settings.photos is None or not asks:
        yield settings
        return
    rollout = replace(
        rollout, reward=settings.reward, reward_options={}, turns=settings.turns or rollout.turns,
        prompts=settings.prompts,
    )  # fmt: skip
    photos = replace(recipe.data, photos=(settings.photos,), shares=())
    played = replace(recipe, rollout=rollout, data=photos)
    with answers_served(played):
        yield replace(settings, setting=RecipeSetting(played))


def list_saved_policies(run: TrainingFolder) -> list[SavedPolicy]:
    """Return what a run has saved so far, by step; of the last step, the finished policy rather than its checkpoint.

    Raises:
        BadInput: the run's last file is damaged.
    """
    found = {
        step: SavedPolicy(step, path, is_checkpoint=True) for step, path in list_checkpoints(run) if is_whole(path)
    }
    done = read_finished(run)
    if done is not None:
        found[done.steps] = SavedPolicy(done.steps, run.policy, is_checkpoint=False)
    return [found[step] for step in sorted(found)]


def each_policy(
    run: TrainingFolder, *, follow: bool = False, wait: Callable[[float], None] = time.sleep
) -> Iterator[SavedPolicy]:
    """Yield every saved policy of a run once, in order; with ``follow``, later ones too, until the run has ended.

    Raises:
        BadInput: the run's last file is damaged.
    """
    seen: set[int] = set()
    while True:
        over = read_finished(run) is not None
        for policy in list_saved_policies(run):
            if policy.step not in seen and policy.folder.is_dir():
                seen.add(policy.step)
                yield policy
        if over or not follow:
            return
        wait(_LOOK_EVERY_S)


@contextmanager
def open_weights(run: TrainingFolder, saved: SavedPolicy, scratch: Path) -> Iterator[Path]:
    """Yield a folder with the weights of a saved policy, as `--model hf:DIR` takes it; a checkpoint's lies in scratch.

    Raises:
        BadInput: the weights or the run's recipe can't be read.
    """
    if not saved.is_checkpoint:
        yield saved.folder
        return
    part = build_recipe(plain_yaml_values(run.recipe), str(run.recipe)).model
    folder = scratch / saved.name
    try:
        save_policy(load_saved_model(part, saved.folder), open_processor(part), folder)
        mark_policy(run, folder)
        yield folder
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def evaluate_saved(
    run: TrainingFolder,
    saved: SavedPolicy,
    settings: EvaluationSettings,
    *,
    folder: Path,
    playing: PlaySettings = _USUAL,
    best_by: str | None = None,
    progress: Progress = no_progress,
) -> Evaluation:
    """Play one saved policy on scenes or photos; what was played before is not played again.

    Args:
        run: the run.
        saved: one of its policies.
        settings: what is played.
        folder: where results are kept, in a folder for each step.
        playing: how it is played.
        best_by: the figure of `geosleuth.lab.train.evaluation.summary_figures` by which ``RUN/best`` is chosen, if any.
        progress: hears how many scenes are done.

    Raises:
        BadInput: the weights can't be read, or the folder holds another evaluation.
    """
    own = folder / saved.name
    if (own / SUMMARY).is_file():
        known = read_evaluation(own)
        names = ("scenes", "seed", "tries", "photos")
        asked: dict[str, Any] = {name: getattr(settings, name) for name in names}
        if all(known.asked.get(name) == value for name, value in asked.items()):
            return known
        raise BadInput(f"{own}: holds another evaluation; choose another folder")
    with open_weights(run, saved, folder / SCRATCH) as policy:
        found = evaluate(policy, settings, playing=playing, folder=own, progress=progress)
        if best_by is not None and (value := summary_figures(found.to_dict()).get(best_by)) is not None:
            keep_best(run, saved.step, best_by, value, partial(copy_policy, policy))
        return found
