"""Evaluation while a policy trains: every so many steps it is played in the agent's own loop, and the best one is kept.

The model in memory plays, on the first process; nothing is loaded twice. What is trained is the same with and without:
replies are drawn with a random state of their own. An evaluation follows the checkpoint of its step, so that a killed
run resumes it scene by scene. Results are those of `geosleuth train evaluate`, in ``RUN/evaluations/step-N``.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from geosleuth.agent.policy_card import PolicyCard, card_beside
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.scenes.environment import Setting
from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import BadInput, require

from .evaluation import WITHIN_KM, EvaluationSettings, PlaySettings, evaluate, read_evaluated_steps, summary_figures
from .generator import Replier
from .models import save_policy
from .recipe import Recipe, RolloutPart
from .rollouts import load_reward, rollout_setup
from .run_folder import TrainingFolder, keep_best
from .services import placing_by_atlas
from .training_log import EVALUATION

_SPREAD = ("fsdp", "zero3")


@dataclass(frozen=True, slots=True)
class RecipeSetting:
    """Makes the setting of a recipe's evaluations, here and in other processes."""

    recipe: Recipe

    @property
    def name(self) -> str:
        """Name of the setting in results."""
        rollout = self.recipe.rollout
        return f"recipe {self.recipe.name}: method {rollout.method}, reward {rollout.reward}"

    def __call__(self) -> Setting:
        """Return the setting: the rollouts' own words, tools, budget and services."""
        return rollout_setup(self.recipe).setting


def evaluation_settings(recipe: Recipe, card: PolicyCard | None = None) -> EvaluationSettings:
    """Return what a recipe's evaluations play, and by which rules; ``card`` says what fine-tuning shows."""
    part, rollout, model = recipe.evaluation, recipe.rollout, recipe.model
    if recipe.stage != "grpo" and card is not None and part.method in (None, card.method):
        rollout = RolloutPart(method=card.method, tools=card.tools, turns=card.turns, prompts=rollout.prompts)
        model = replace(model, boxes=card.box_scale)
    elif recipe.stage != "grpo":
        asked = part.method or (recipe.data.method if part.photos and recipe.data.photos else "default")
        rollout = RolloutPart(method=asked)
    elif part.method is not None and part.method != rollout.method:
        rollout = replace(rollout, method=part.method, tools=None, turns=None, prompts=None, prompts_sha256=None)
    reward = load_reward(rollout)
    if reward.needs_judge or reward.needs_encoder:
        # Distances are what counts here; a judge would be asked about every try.
        rollout = replace(rollout, reward="ours", reward_options={})
    rollout = placing_by_atlas(rollout)
    if part.photos is None:
        rollout = replace(rollout, maps=None, maps_url=(), web=None, allow=(), answers=None, replay=False)
    photos = None if part.photos is None else (part.photos,)
    data = replace(recipe.data, photos=photos, shares=())
    played = replace(recipe, stage="grpo", rollout=rollout, data=data, model=model)
    return EvaluationSettings(
        scenes=part.scenes,
        seed=part.seed,
        setting=RecipeSetting(played),
        photos=part.photos,
        world=recipe.data.world,
        reading=rollout.reading,
        tries=part.tries,
        max_new_tokens=part.max_new_tokens,
    )


def check_evaluation(recipe: Recipe) -> None:
    """Check that a recipe's evaluations can be made, before anything is trained.

    Raises:
        BadInput: a word can't be used, the best policy is to be chosen by test photos, or no process holds all weights.
    """
    part = recipe.evaluation
    if not part.every:
        return
    if recipe.run.sharding in _SPREAD and recipe.run.devices > 1:
        raise BadInput(
            f"evaluation: with run.sharding {recipe.run.sharding} no process holds all weights; leave it out, and play"
            " the checkpoints on another device: geosleuth train evaluate RUN/ --follow --keep-best within_25km"
        )
    check_best_figure(part.keep_best, part.tries, part.photos)
    settings = evaluation_settings(recipe)
    if settings.setting is not None:
        settings.setting()


def check_best_figure(figure: str | None, tries: int, photos: str | None) -> None:
    """Check that the best policy can be chosen by a figure.

    Raises:
        BadInput: there is no such figure, or the photos are for testing.
    """
    if figure is None:
        return
    known = figure_names(tries)
    if figure not in known:
        raise BadInput(f"keep_best: there is no figure {figure!r}; there are {', '.join(known)}")
    opened = None if photos is None else open_set(photos)
    first = None if opened is None else next(iter(opened), None)
    if opened is not None and first is not None and "test" in (opened.card.part, first.fields.get("split")):
        raise BadInput(
            f"{photos}: {opened.card.title} is for testing, and a policy that was chosen by it has no score on it;"
            " give another set, or keep no best policy"
        )


def figure_names(tries: int) -> list[str]:
    """Return the figures that the best policy can be chosen by."""
    ks = [1 << power for power in range(tries.bit_length()) if 1 < 1 << power <= tries]
    near = [f"{km:g}km" for km in WITHIN_KM]
    return [*(f"within_{km}" for km in near), *(f"pass@{k}_{km}" for k in ks for km in near), "reward", "median_km"]


def add_evaluations(trainer: Any, recipe: Recipe, run: TrainingFolder) -> None:
    """Have a trainer evaluate as its recipe says, if it does."""
    if not recipe.evaluation.every:
        return
    with no_probing():
        transformers: Any = require("transformers", extra="train")
    kind = type("Validation", (_Hooks, transformers.TrainerCallback), {})
    trainer.add_callback(kind(trainer, recipe, run))


class _Hooks:
    """Callbacks of a trainer."""

    def __init__(self, trainer: Any, recipe: Recipe, run: TrainingFolder) -> None:
        self._trainer, self._recipe, self._run = trainer, recipe, run
        self._settings = evaluation_settings(recipe, card_beside(run.path))
        self._done = 0

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        wait = self._trainer.accelerator.wait_for_everyone
        if state.is_world_process_zero:
            _forget_later(self._run, state.global_step)
            _restore_best(self._run)
        wait()
        # The last evaluation may have been cut off; without one, this is where the policy begins.
        self._done = max(read_evaluated_steps(self._run), default=-self._recipe.evaluation.every)
        # All processes must have looked before the first one writes.
        wait()
        self._when_due(state)

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
        control.should_save |= self._is_due(state)
        return control

    def on_save(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        self._when_due(state)

    def _is_due(self, state: Any) -> bool:
        every, step, last = self._recipe.evaluation.every, int(state.global_step), int(state.max_steps)
        return step // every > self._done // every or (step >= last and step > self._done)

    def _when_due(self, state: Any) -> None:
        """Play the policy of this step on the first process; the others wait."""
        if not self._is_due(state):
            return
        trainer = self._trainer
        model = trainer.accelerator.unwrap_model(trainer.model)
        was_training = model.training
        model.eval()
        try:
            if state.is_world_process_zero:
                found = self._play_policy(model, state.global_step)
                # In this mode TRL adds none of its own figures, and leaves those that it gathers alone.
                trainer.log({f"{EVALUATION}{name}": value for name, value in found.items()})
                self._keep_best(model, found, state.global_step)
        finally:
            model.train(was_training)
        self._done = state.global_step
        trainer.accelerator.wait_for_everyone()

    def _play_policy(self, model: Any, step: int) -> dict[str, float]:
        part = self._recipe.evaluation
        name = f"step-{step}"
        replier = Replier(
            model,
            self._trainer.processing_class,
            name=name,
            generate=partial(model.generate, use_cache=True),
            max_new_tokens=part.max_new_tokens,
        )
        playing = PlaySettings(at_once=max(part.at_once, part.tries), batch=part.at_once)
        found = evaluate(replier, self._settings, playing=playing, folder=self._run.evaluations / name)
        return summary_figures(found.to_dict())

    def _keep_best(self, model: Any, found: Mapping[str, float], step: int) -> None:
        figure = self._recipe.evaluation.keep_best
        value = None if figure is None else found.get(figure)
        if figure is not None and value is not None:
            keep_best(self._run, step, figure, value, partial(save_policy, model, self._trainer.processing_class))


def _restore_best(run: TrainingFolder) -> None:
    """Put the best policy back if a killed process was about to replace it."""
    old = run.best.with_name(f".{run.best.name}.old")
    if not run.best.exists() and old.is_dir():
        old.replace(run.best)


def _forget_later(run: TrainingFolder, step: int) -> None:
    """Drop evaluations of steps that will be repeated."""
    for path in run.evaluations.glob("step-*") if run.evaluations.is_dir() else ():
        number = path.name.removeprefix("step-")
        if number.isdecimal() and int(number) > step:
            shutil.rmtree(path, ignore_errors=True)
