"""Reinforcement learning with tools, on TRL's GRPO: replies are drawn in the agent's environment and rewarded.

TRL does the work. What is ours comes in by its own hooks: the environment, one reward function that scores whole
groups, and rows in the order of the run. A subclass does only what TRL has no hook for: advantages for the best of k,
and resuming from a checkpoint in step with the rows.
"""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cache, partial
from importlib import metadata
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geosleuth.agent.policy_card import PolicyCard
from geosleuth.lab.scenes.consistency import PolicyJudge
from geosleuth.lab.scenes.environment import build_prompt_column
from geosleuth.models.weights import check_folder
from geosleuth.photo.runtime import no_probing, stay_offline
from geosleuth.support.errors import BadInput, DataFault, ServiceFault, require

from .configs import grpo_config
from .models import adapters, check_for_grpo, has_gpu, load_model, open_processor, quietly
from .prompts import Row, phases, prompt_rows, run_order
from .recipe import Recipe
from .rollouts import (
    Ahead,
    MakeSetup,
    Outcome,
    Remembered,
    Rollouts,
    RolloutSetup,
    WorkerPool,
    WrapEnvironment,
    remote_environment,
    rollout_setup,
    send_resets,
    usual_workers,
)
from .run_folder import Finished, Progress, is_first_process, lock_run, no_progress, read_finished
from .services import ServiceGeocoder, answers_served
from .sft import silence, train_to_end
from .trackers import check_trackers, tracker_callbacks
from .training_log import metrics_callback
from .validation import add_evaluations, check_evaluation

_TESTED_TRL = "install the version that is tested: pip install 'trl==1.16.*'"
_EPSILON = 1e-4  # as in TRL, so that both objectives treat groups of equal rewards alike

Array = NDArray[np.float64]

# What our trainer overrides or reads of TRL's, none of which TRL promises to keep.
_TRAINER_METHODS = (
    "_generate_and_score_completions", "_prepare_inputs", "_tokenize_prompts", "_tool_call_loop", "_calculate_rewards",
)  # fmt: skip
_TRAINER_PARTS = ("_buffered_inputs", "_env_tools", "_environment_pool", "_image_pad_token_id", "environment_factories")


def check_k(k: int, group: int) -> None:
    """Refuse a k for which there is no estimate.

    Raises:
        BadInput: it is below 1, or leaves no k other replies to compare with.
    """
    if not 1 <= k < group:
        raise BadInput(f'the objective "pass@k" needs 1 <= k < group; k is {k} and the group has {group} replies')


def best_of_k_advantages(rewards: ArrayLike, k: int) -> Array:
    """Return how much each reply adds to best-of-k: the unbiased gradient's weight of each reply, before any scaling.

    For reply i it is ``k * (W - O)``. W is the mean best reward over all sets of k replies that hold i, O that over all
    sets of k of the others. O does not depend on reply i, so it is a baseline that leaves the gradient of the expected
    best of k without bias. With k = 1 it is the reward less the mean of the other rewards.

    Args:
        rewards: a row a group, a column a reply.
        k: how many replies the best is taken of.

    Raises:
        BadInput: see `check_k`.
    """
    table = np.atleast_2d(np.asarray(rewards, dtype=np.float64))
    size = table.shape[1]
    check_k(k, size)
    columns = np.arange(size)
    others = np.sort(np.stack([table[:, columns != column] for column in columns], axis=1), axis=-1)
    # The best of a set that holds i is that of i and of k - 1 others.
    held = table[:, :, None]
    with_it = np.maximum(held, others) @ _chances(size - 1, k - 1) if k > 1 else table
    without_it = others @ _chances(size - 1, k)
    return np.asarray(k * (with_it - without_it), dtype=np.float64)


def compute_scaled_advantages(rewards: ArrayLike, k: int) -> Array:
    """Return `best_of_k_advantages` scaled by the spread of rewards in each group, as plain GRPO scales its own."""
    table = np.atleast_2d(np.asarray(rewards, dtype=np.float64))
    spread = table.std(axis=1, ddof=1, keepdims=True)
    return np.asarray(best_of_k_advantages(table, k) / (spread + _EPSILON), dtype=np.float64)


def _chances(size: int, k: int) -> Array:
    """Return the probability that each of ``size`` ascending values is the largest of k drawn without replacement."""
    return np.array([comb(below, k - 1) for below in range(size)], dtype=np.float64) / comb(size, k)


def check_loss_mask(batch: Any, image_tokens: frozenset[int]) -> None:
    """Check that no image token in the replies of a TRL batch carries loss: no model ever writes one.

    Raises:
        DataFault: one does; the mask is broken, and training would teach the model its tools' answers.
    """
    mask = batch["completion_mask"] * batch.get("tool_mask", 1)
    for token in image_tokens:
        if bool(((batch["completion_ids"] == token) * mask).any()):
            raise DataFault("image tokens of a tool result carry loss; the mask of this batch is broken")


def run_grpo(
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = True,
    progress: Progress = no_progress,
    seconds: float | None = None,
    environment_workers: int | None = None,
) -> Finished:
    """Train a policy in its environment, from the recipe's model to ``folder``; a killed run is resumed.

    Replies of a step that was not finished are drawn again. Weights, optimiser, the state of chance and the place in
    the rows are those of the last checkpoint, so that the outcome is that of a run that was never killed.

    Args:
        recipe: of stage "grpo".
        folder: of the run, see `geosleuth.lab.train.run_folder`.
        resume: continue a run that is there; otherwise it is refused.
        progress: hears how many steps are done.
        seconds: stop after about so long, when the replies that were drawn are learned from, with a checkpoint.
        environment_workers: processes that serve tools; 0 serves them in this one, None decides by its cores.

    Raises:
        BadInput: the recipe, its data or the folder can't be used.
        MissingExtra: TRL, torch or transformers is not installed.
    """
    stay_offline()
    with lock_run(folder, recipe, resume=resume) as run, answers_served(recipe):
        if (before := read_finished(run)) is not None:
            return before
        check_trackers(recipe, folder)
        check_folder(Path(recipe.model.path))
        setting = rollout_setup(recipe).setting
        check_for_grpo(open_processor(recipe.model), tools=bool(setting.toolset.names))
        grpo_config(recipe, folder, cpu=not has_gpu())
        check_evaluation(recipe)
        if is_first_process():
            PolicyCard.from_method(setting.method, setting.toolset.names, turns=setting.budget.turns).write(folder)
        rows = prompt_rows(recipe.data)
        model, processor = load_model(recipe.model)
        own = metrics_callback(folder, recipe.stage, tensorboard=recipe.run.tensorboard)
        workers = usual_workers() if environment_workers is None else environment_workers
        trainer = grpo_trainer(
            model,
            processor,
            rows,
            recipe,
            folder,
            callbacks=(own, *tracker_callbacks(recipe, folder)),
            workers=workers,
        )
        add_evaluations(trainer, recipe, run)
        try:
            return train_to_end(trainer, recipe.model, run, progress=progress, seconds=seconds)
        finally:
            trainer.close_workers()


def grpo_trainer(
    model: Any,
    processor: Any,
    rows: Sequence[Row],
    recipe: Recipe,
    folder: Path,
    *,
    callbacks: Sequence[Any] = (),
    setup: RolloutSetup | MakeSetup | None = None,
    workers: int = 0,
    wrap: WrapEnvironment | None = None,
) -> Any:
    """Return the `trl.GRPOTrainer` of a recipe.

    Args:
        model: in memory; adapters are added where the recipe wants them.
        processor: of the model.
        rows: see `prompt_rows`; filtering and curriculum of the recipe are applied here.
        recipe: what to do.
        folder: of the run.
        callbacks: further ``transformers.TrainerCallback``s.
        setup: in place of the one that the recipe says; a function that makes it, where other processes are to serve
            it.
        workers: processes that serve tools; 0 serves them in this one.
        wrap: changes the class of the environments, where they are served; for other processes it must be a function
            of a module, or a ``partial`` of one, such as of `geosleuth.lab.train.generator.shrinking`.

    Raises:
        BadInput: the recipe can't be used.
        MissingExtra: TRL is not installed.
        ServiceFault: the judge of the reward is down, can't be read, or can't judge, or its geocoder is down.
    """
    if recipe.stage != "grpo":
        raise BadInput(f"recipe {recipe.name}: its stage is {recipe.stage}, not grpo")
    if recipe.rollout.objective == "pass@k":
        check_k(recipe.rollout.k, recipe.rollout.group)
    order = run_order(phases(rows, recipe.data), recipe)
    make: MakeSetup = setup if callable(setup) else partial(rollout_setup, recipe)
    played = setup if isinstance(setup, RolloutSetup) else make()
    check_for_grpo(processor, tools=bool(played.setting.toolset.names))
    if isinstance(judge := played.setting.helpers.judge, PolicyJudge):
        try:
            judge.probe()
        except ServiceFault:
            judge.close()
            raise
    if isinstance(geocoder := played.setting.helpers.geocoder, ServiceGeocoder):
        geocoder.probe()
    rollouts = Rollouts(played.setting, recipe.rollout.failed_call_cost, recipe.rollout.judge_limit)
    environment: type = RolloutSetup(played.setting, Remembered(played.pose)).environment()
    if wrap is not None:
        environment = wrap(environment)
    pool = None
    if workers:
        if isinstance(setup, RolloutSetup):
            raise BadInput("other processes can't take over a setup; give a function that makes it")
        pool = WorkerPool(make, workers, wrap)
        environment = remote_environment(environment, played.setting.toolset.names, pool)
    prompt = build_prompt_column(played.setting)
    # Environments are TRL's experiment; it would say so at every start.
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    # TRL fills prompts from the left, and takes over how the processor filled them.
    processor.tokenizer.padding_side = "left"
    with no_probing(), quietly():
        datasets = require("datasets", extra="train")
        kind = trainer_class()
        table = datasets.Dataset.from_list([{"prompt": prompt, **row} for row in rows]).select(order)
        trainer = kind(
            model=model,
            processing_class=processor,
            args=_arguments(recipe, folder, played),
            train_dataset=table,
            environment_factory=environment,
            reward_funcs=rollouts,
            peft_config=adapters(recipe.model),
            callbacks=list(callbacks),
        )
    silence(trainer)
    check_trl(trainer, _TRAINER_PARTS)
    # TRL lists them by the alphabet; fine-tuning and later runs show them in the method's order.
    names = list(played.setting.toolset.names)
    for tools in (trainer.tools, *trainer._env_tools.values()):  # noqa: SLF001  (TRL has no other place for it)
        tools.sort(key=lambda tool: names.index(tool.__name__))
    trainer.rollouts, trainer.pool = rollouts, pool
    trainer.best_of = recipe.rollout.k if recipe.rollout.objective == "pass@k" else None
    return trainer


def _arguments(recipe: Recipe, folder: Path, setup: RolloutSetup) -> Any:
    arguments = grpo_config(recipe, folder, cpu=not has_gpu())
    # The rows are those of the whole run.
    arguments.num_train_epochs = 1
    # The last turn is the answer; a call there is not carried out.
    arguments.max_tool_calling_iterations = max(0, setup.setting.budget.turns - 1)
    return arguments


def check_trl(trainer: object, names: Iterable[str]) -> None:
    """Check that TRL's trainer has what ours builds on, before anything is drawn or learned.

    Raises:
        BadInput: something is missing; the message names it and the version that is tested.
    """
    if missing := [name for name in names if not hasattr(trainer, name)]:
        installed = f"TRL {metadata.version('trl')} has no {', '.join(missing)} in its GRPO trainer"
        raise BadInput(f"{installed}; {_TESTED_TRL}")


@cache
def trainer_class() -> Any:
    """Return the subclass of `trl.GRPOTrainer`; see `EnvironmentGRPOMixin` for what it adds.

    Raises:
        MissingExtra: TRL is not installed.
        BadInput: its trainer lacks what ours builds on.
    """
    with no_probing():
        trl: Any = require("trl", extra="train")
        base: Any = trl.GRPOTrainer
    check_trl(base, _TRAINER_METHODS)
    return type("Trainer", (EnvironmentGRPOMixin, base), {})


class EnvironmentGRPOMixin:
    """Our additions to the trainer.

    Attributes:
        rollouts: the reward function; knows what the newest replies came to.
        pool: other processes that serve environments.
        best_of: the k of the objective "pass@k".
    """

    rollouts: Rollouts
    pool: WorkerPool | None = None
    best_of: int | None = None

    def play(self: Any, inputs: Sequence[Row]) -> Outcome | None:
        """Draw one reply for every row, and learn nothing; rows are those of the data set."""
        torch: Any = require("torch", extra="train")
        self.model.eval()
        with torch.inference_mode():
            self._generate_and_score_completions(list(inputs))
        outcome: Outcome | None = self.rollouts.newest
        return outcome

    def close_workers(self) -> None:
        """End the worker processes and the judge, if there are any."""
        self.rollouts.close()
        if self.pool is not None:
            self.pool.close()

    def train(self: Any, *given: Any, **options: Any) -> Any:
        """Train; checkpoints and stops wait for whole samplings."""
        transformers: Any = require("transformers", extra="train")
        # Added last, so that it sees what all other callbacks decided.
        self.add_callback(whole_samplings(transformers.TrainerCallback))
        return super().train(*given, **options)  # type: ignore[misc]

    def _prepare_inputs(self: Any, generation_batch: Any) -> Any:
        if self.model.training and self._buffered_inputs is None:
            # TRL counts from 0 even when a run is resumed, and would then draw out of step with the rows.
            self._step = self.state.global_step * self.args.gradient_accumulation_steps
        return super()._prepare_inputs(generation_batch)  # type: ignore[misc]

    def _generate_and_score_completions(self: Any, inputs: Any) -> Any:
        if self.pool is not None:
            (pool,), (make,) = self._environment_pool.values(), self.environment_factories.values()
            pool.extend(make() for _ in range(len(inputs) - len(pool)))
            send_resets(pool[: len(inputs)], inputs, self.pool)
        batch = super()._generate_and_score_completions(inputs)  # type: ignore[misc]
        check_loss_mask(batch, frozenset({self._image_pad_token_id} - {None}))
        if self.best_of is not None and self.model.training:
            groups = self._earned.nansum(dim=1).view(-1, self.num_generations).cpu().numpy()
            first = self.accelerator.process_index * len(inputs)
            own = compute_scaled_advantages(groups, self.best_of).ravel()[first : first + len(inputs)]
            batch["advantages"] = batch["advantages"].new_tensor(own)
        return batch

    def _tokenize_prompts(self: Any, prompts: Any) -> Any:
        ids, images, fields = super()._tokenize_prompts(prompts)  # type: ignore[misc]
        return ids, images, _as_tensors(fields)

    def _tool_call_loop(
        self: Any, prompts: Any, prompt_ids: Any, completion_ids: Any, completions: Any, *given: Any
    ) -> Any:
        if self.pool is not None:
            self.pool.ahead = Ahead(self.environments, completions)
        else:
            for environment, talk in zip(self.environments, completions, strict=True):
                environment._talk = talk  # noqa: SLF001  (a public name would be a tool)
        result = super()._tool_call_loop(prompts, prompt_ids, completion_ids, completions, *given)  # type: ignore[misc]
        # What TRL counts as failed are the calls that reached no environment.
        self.rollouts.unheard = count_failed_calls(result)
        return result

    def log(self: Any, logs: Any, *given: Any) -> None:
        """Log as TRL does; its table of completions can't hold contents of several kinds."""
        if self.log_completions:
            for name in ("prompt", "completion"):
                kept = self._logs[name]
                for at, messages in enumerate(kept):
                    kept[at] = as_texts(messages)
        super().log(logs, *given)  # type: ignore[misc]

    def _calculate_rewards(self: Any, *given: Any) -> Any:
        self._earned = super()._calculate_rewards(*given)  # type: ignore[misc]
        return self._earned


def _as_tensors(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a processor's fields with pictures as tensors.

    Without torchvision processors give lists of arrays, over which TRL's tool loop falls where no result has a picture.
    """
    torch: Any = require("torch", extra="train")
    listed = [name for name in ("pixel_values", "image_grid_thw") if isinstance(fields.get(name), list)]
    return fields | {name: torch.as_tensor(np.stack(fields[name])) for name in listed}


def as_texts(messages: Any) -> Any:
    """Return messages with a text each: pictures as ``<image>``, calls as JSON."""
    if isinstance(messages, str):
        return messages
    plain = []
    for message in messages:
        content = message.get("content") or ""
        if not isinstance(content, str):
            content = "".join(str(block.get("text", "<image>")) for block in content)
        calls = [json.dumps(call.get("function", call), ensure_ascii=False) for call in message.get("tool_calls") or ()]
        plain.append({"role": message["role"], "content": "\n".join([content, *calls]).strip("\n")})
    return plain


class _ToolLoop(NamedTuple):
    """Values returned by TRL 1.16's ``GRPOTrainer._tool_call_loop``, in its order."""

    tool_mask: Any
    completions: Any
    completion_ids: Any
    logprobs: Any
    tool_call_count: int
    tool_failure_count: int
    tool_images: Any


def count_failed_calls(returned: tuple[Any, ...]) -> int:
    """Return how many calls TRL counts as failed, of what its tool loop returns.

    Raises:
        BadInput: another version of TRL is installed, which returns something else.
    """
    loop = _ToolLoop(*returned) if len(returned) == len(_ToolLoop._fields) else None
    if loop is None or not isinstance(loop.tool_failure_count, int):
        raise BadInput(f"this version of TRL runs tools in another way; {_TESTED_TRL}")
    return loop.tool_failure_count


def whole_samplings(base: Any) -> Any:
    """Return a callback that puts off checkpoints and stops until the replies that were drawn are learned from.

    Where one sampling makes several steps, a checkpoint between them would lose the replies of the later ones.
    """

    class Whole(base):  # type: ignore[misc]
        wants_save = wants_stop = False

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            self.wants_save |= control.should_save
            self.wants_stop |= control.should_training_stop
            together = max(1, args.steps_per_generation * args.num_iterations // args.gradient_accumulation_steps)
            through = state.global_step % together == 0 or state.global_step >= state.max_steps
            control.should_save = through and self.wants_save
            control.should_training_stop = through and self.wants_stop
            if through:
                self.wants_save = self.wants_stop = False
            return control

    return Whole()
