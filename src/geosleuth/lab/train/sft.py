"""Fine-tuning and agentic cold start on TRL's `SFTTrainer`: loss on the assistant's tokens, and resumed to the bit."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from geosleuth.agent import Method
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import PolicyCard, card_beside, card_of_run, with_folder
from geosleuth.lab.bench.sets import draw
from geosleuth.lab.scenes import make_scenes, open_world, read_scenes
from geosleuth.lab.traces import Store
from geosleuth.lab.traces.rows import build_sample
from geosleuth.models import Wire
from geosleuth.photo.runtime import no_probing, stay_offline, usable_cores
from geosleuth.support.errors import BadInput, require

from .architectures import find_box_scale
from .configs import sft_config
from .masks import Chat, Writer
from .models import adapters, has_gpu, load_model, quietly, save_trained
from .prompts import photo_items
from .recipe import DataPart, ModelPart, Recipe
from .run_folder import (
    Finished,
    Progress,
    TrainingFolder,
    is_first_process,
    last_checkpoint,
    lock_run,
    no_progress,
    read_finished,
    write_done,
)
from .samples import (
    LENGTH,
    Collator,
    Counted,
    Order,
    Pictures,
    build_dataset,
    find_position_counter,
    open_picture,
    photo_chats,
    scene_chats,
    store_chats,
)
from .trackers import check_trackers, tracker_callbacks
from .training_log import metrics_callback
from .validation import add_evaluations, check_evaluation

_MAX_LOADERS = 8
# What differs between two runs of the same.
_OF_TIME = frozenset({"step", "epoch", "step_time"})


def run_sft(
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = True,
    progress: Progress = no_progress,
    callbacks: Sequence[Any] = (),
    seconds: float | None = None,
    preparing: Progress = no_progress,
    workers: int | None = None,
) -> Finished:
    """Train one stage, fine-tuning or cold start; resume it if it was killed.

    A resumed run ends with the same weights as one that was never interrupted, to the bit on one kind of machine.

    Args:
        recipe: of stage "sft" or "coldstart".
        folder: of the run, see `geosleuth.lab.train.run_folder`.
        resume: continue the run that is there; otherwise a folder with a run in it is refused.
        progress: hears how many steps are done.
        callbacks: more `transformers.TrainerCallback`.
        seconds: stop after about this long, at the end of a step, with a checkpoint to resume from.
        preparing: hears how many scenes are drawn, and of how many, and then how many chats are read (of 0).
        workers: processes that draw scenes, and that load pictures while the GPU works; None takes what fits.

    Raises:
        BadInput: something of the recipe can't be used; the message says what.
        MissingExtra: TRL or what it needs is not installed.
    """
    if recipe.stage not in ("sft", "coldstart"):
        raise BadInput(f"recipe {recipe.name}: its stage is {recipe.stage}, not sft or coldstart")
    stay_offline()
    with lock_run(folder, recipe, resume=resume) as run:
        if (before := read_finished(run)) is not None:
            return before
        check_trackers(recipe, folder)
        sft_config(recipe, folder, cpu=not has_gpu())
        check_evaluation(recipe)
        model, processor = load_model(recipe.model)
        writer = Writer(processor)
        if is_first_process() and (card := build_card(recipe, writer)) is not None:
            card.write(folder)
        dataset, counted = build_dataset(
            load_chats(recipe, run, writer, preparing=preparing, workers=workers),
            writer,
            max_length=recipe.optim.max_length,
            packing=recipe.optim.packing,
            progress=preparing,
        )
        trainer = sft_trainer(
            model,
            processor,
            dataset,
            recipe,
            folder,
            callbacks=(
                metrics_callback(folder, recipe.stage, tensorboard=recipe.run.tensorboard),
                *tracker_callbacks(recipe, folder),
                *callbacks,
            ),
            workers=workers,
        )
        add_evaluations(trainer, recipe, run)
        return train_to_end(trainer, recipe.model, run, counted, progress=progress, seconds=seconds)


def build_card(recipe: Recipe, writer: Writer) -> PolicyCard | None:
    """Return how the policy is to be played that a recipe makes; None where it teaches no method, or several.

    Where questions about scenes alone are learned, that is how the model was played before.

    Raises:
        BadInput: the store is damaged, or there are no such words.
    """
    data, wire = recipe.data, _wire(writer)
    if data.store is not None:
        store = Store(data.store)
        kinds = {row["method"] for row in store.rows(["method", "split"]) if row["split"] == "train"}
        first = next((row for row in store.rows() if row["split"] == "train"), None)
        if first is None or len(kinds) > 1:
            return None
        started = build_sample(first, {}).trajectory.started
        return card_of_run(started, wire, recipe.rollout.prompts, boxes=find_box_scale(recipe.model))
    if data.photos:
        return PolicyCard.from_method(replace(find_method(recipe), wire=wire), (), turns=1)
    return card_beside(Path(recipe.model.path))


def _wire(writer: Writer) -> Wire:
    return "native" if writer.abilities.tools else "tagged"


def find_method(recipe: Recipe) -> Method:
    """Return the method whose question fine-tuning on photos asks."""
    return with_folder(method_of(recipe.data.method, box_scale=find_box_scale(recipe.model)), recipe.rollout.prompts)


def load_chats(
    recipe: Recipe,
    run: TrainingFolder,
    writer: Writer,
    *,
    preparing: Progress = no_progress,
    workers: int | None = None,
) -> Iterator[Chat]:
    """Return what a recipe learns from: its store, its photos, or questions about scenes, drawn into the run's folder.

    Raises:
        BadInput: the recipe names nothing to learn from.
    """
    data = recipe.data
    if data.store is not None or data.photos:
        chosen = None if data.limit is None else draw(_list_source_names(data), data.limit, data.seed)
        stored = () if data.store is None else store_chats(Store(data.store), chosen=chosen, wire=_wire(writer))
        photos = (item for item in photo_items(data) if chosen is None or item[0] in chosen)
        return chain(stored, photo_chats(photos, find_method(recipe)) if data.photos else ())
    if recipe.stage == "coldstart":
        raise BadInput(f"recipe {recipe.name}: cold start learns from trajectories; name their store as data.store")
    with no_probing():
        together: Any = require("accelerate", extra="train").PartialState()
    with together.main_process_first():
        if is_first_process():
            make_scenes(
                run.scenes,
                open_world(data.world),
                count=data.scenes,
                seed=data.seed,
                split="train",
                workers=usable_cores() if workers is None else max(1, workers),
                progress=preparing,
            )
    return scene_chats(
        read_scenes(run.scenes), data.questions, limit=data.limit, box_scale=find_box_scale(recipe.model)
    )


def _list_source_names(data: DataPart) -> Iterator[str]:
    if data.store is not None:
        yield from (row["key"] for row in Store(data.store).rows(["key", "split"]) if row["split"] == "train")
    yield from (name for name, _ in photo_items(data))


def sft_trainer(
    model: Any,
    processor: Any,
    dataset: Any,
    recipe: Recipe,
    folder: Path,
    *,
    callbacks: Iterable[Any] = (),
    pictures: Pictures = open_picture,
    workers: int | None = None,
) -> Any:
    """Return TRL's trainer for rows of `dataset_of`, ready to `train`.

    Args:
        model: see `load_model`; adapters are added here.
        processor: of the model.
        dataset: rows with chats and their lengths.
        recipe: how weights move.
        folder: of the run.
        callbacks: of the trainer.
        pictures: opens what image blocks name; it is called in the processes that load data.
        workers: how many of those there are; None takes some with a GPU, and none without.

    Raises:
        BadInput: the recipe can't be met.
        MissingExtra: TRL is not installed.
    """
    with no_probing():
        trl: Any = require("trl", extra="train")
        base: Any = trl.SFTTrainer
    kind = type("Tuner", (_Tuning, base), {})
    optim = recipe.optim
    gpu = has_gpu()
    config = sft_config(recipe, folder, cpu=not gpu)
    config.dataloader_num_workers = (min(_MAX_LOADERS, usable_cores()) if gpu else 0) if workers is None else workers
    trainer = kind(
        model=model,
        args=config,
        processing_class=processor,
        train_dataset=dataset,
        peft_config=adapters(recipe.model),
        callbacks=list(callbacks),
        data_collator=Collator(
            processor,
            max_length=optim.max_length,
            pictures=pictures,
            packing=optim.packing,
            positions=find_position_counter(model) if optim.packing else None,
        ),
    )
    trainer.packs = optim.packing
    silence(trainer)
    return trainer


def train_to_end(
    trainer: Any,
    part: ModelPart,
    run: TrainingFolder,
    counted: Counted | None = None,
    *,
    progress: Progress = no_progress,
    seconds: float | None = None,
) -> Finished:
    """Train from the last checkpoint on, save the policy and close the run; whichever stage the trainer is of.

    Where several processes train together, all of them must call this.
    """
    with no_probing(), quietly():
        transformers: Any = require("transformers", extra="train")
        trainer.add_callback(pacing(transformers.TrainerCallback, progress, seconds))
        start = last_checkpoint(run)
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
        state = trainer.state
        figures = last_figures(state.log_history)
        if counted is not None:
            figures |= {"chats": counted.chats, "too_long": counted.too_long, "rows": counted.rows}
        if state.global_step < state.max_steps:
            return Finished(run.path, run.policy, state.global_step, figures, complete=False)
        save_trained(trainer, part, run.policy)
        if is_first_process():
            return write_done(run, state.global_step, figures)
        return Finished(run.path, run.policy, state.global_step, figures)


def silence(trainer: Any) -> None:
    """Remove callbacks that print metrics to stdout; our callbacks and `progress` report them."""
    with no_probing():
        transformers: Any = require("transformers", extra="train")
    trainer.remove_callback(transformers.PrinterCallback)


def last_figures(history: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the figures of the last step that was logged; a run that went on has those of one that never stopped."""
    line: Mapping[str, Any] = next((line for line in reversed(history) if "loss" in line), {})
    numbers = {name: value for name, value in line.items() if isinstance(value, int | float) and name not in _OF_TIME}
    return {name: float(value) for name, value in numbers.items() if isfinite(value)}


class _Tuning:
    """Trainer mixin: the order of rows, and correct token counts for packed rows and resumed runs."""

    packs = False

    def _get_train_sampler(self: Any, train_dataset: Any = None) -> Order:
        rows = self.train_dataset if train_dataset is None else train_dataset
        args = self.args
        grouped = args.per_device_train_batch_size > 1 and not self.packs
        step = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        return Order(
            rows[LENGTH], seed=args.seed, epoch=lambda: int(self.state.epoch or 0), batch=step if grouped else 0
        )

    def train(self: Any, *given: Any, **options: Any) -> Any:
        counting: Callable[[], None] = self._resume_token_count
        self.add_callback(_begins(counting))
        return super().train(*given, **options)  # type: ignore[misc]

    def _resume_token_count(self: Any) -> None:
        counted = (line["num_tokens"] for line in reversed(self.state.log_history) if "num_tokens" in line)
        self._total_train_tokens = next(counted, 0)

    def compute_loss(self: Any, model: Any, inputs: Any, *given: Any, **options: Any) -> Any:
        loss = super().compute_loss(model, inputs, *given, **options)  # type: ignore[misc]
        if self.packs and self.model.training:
            # TRL takes the second side of position_ids for the length, which here is the number of rows.
            self._total_train_tokens += inputs["input_ids"].numel() - inputs["position_ids"].shape[1]
            self._metrics["train"]["num_tokens"] = [self._total_train_tokens]
        return loss


def _begins(do: Callable[[], None]) -> Any:
    """Return a callback that runs when training begins, with the state of a checkpoint in place."""
    transformers: Any = require("transformers", extra="train")

    class Begins(transformers.TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            do()

    return Begins()


def pacing(base: Any, progress: Progress, seconds: float | None) -> Any:
    """Return a callback that reports progress, and stops a run after its time limit with a checkpoint."""
    until = None if seconds is None else time.monotonic() + seconds

    class Pacing(base):  # type: ignore[misc]
        def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            progress(state.global_step, state.max_steps)

        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
            progress(state.global_step, state.max_steps)
            if until is not None and time.monotonic() > until and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True
            return control

    return Pacing()
