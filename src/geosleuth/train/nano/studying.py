"""Learning from shards that are still being written: TRL's `SFTTrainer`, fed by processes that put batches together.

The rows of a run are draws from a growing pool, so they have no fixed order on disk. What a step draws hangs on its
number, the seed, the number of loaders and the shards that were there; loss, masks, optimiser and checkpoints are those
of TRL. So a run that is cut into slices ends with the weights of one that was never stopped, as long as the pool and
the number of loaders stay the same. Where the pool has grown meanwhile, a slice goes on about as far along in draws
from all that is there.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from geosleuth.errors import require
from geosleuth.photo.runtime import no_probing
from geosleuth.train.keeping import RunFolder, last_checkpoint, step_of

from .collating import Collator, batches
from .encoding import Encoded
from .fast_vision import patch_vision_attention, patch_vision_inputs
from .shards import ShardPool

_DRAWN, _DRAWN_FOR = 160, 16_384
"""Chats that are drawn at once and sorted by length, so that rows of a batch are about equally long; for so many tokens
a step, and more for more, so that batches are full."""
_IN_A_ROW = 3
_REFRESH = 8
"""After so many draws a loader looks for new shards."""
_WAIT_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """How long and from what is learned.

    Attributes:
        weights: how often each kind of lesson is drawn.
        steps: of the optimiser; the schedule counts them.
        learning_rate: the highest.
        tokens: of one step, padding counted.
        warmup_share: the share of the steps in which the rate rises.
        seconds: stop after so long even if steps are left, with a checkpoint to go on from.
        enough: stop once three lines of the history in a row say that this share of tokens is told rightly.
        limit: use only so many samples of each kind named; the first by their shards.
        seed: of the draws.
        loaders: processes that put batches together; 0 does it in this one.
        schedule: of the learning rate, by its name in transformers.
    """

    weights: Mapping[str, float] = field(hash=False)
    steps: int
    learning_rate: float
    tokens: int = 65_536
    warmup_share: float = 0.05
    seconds: float | None = None
    enough: float | None = None
    limit: Mapping[str, int] = field(default_factory=dict, hash=False)
    seed: int = 0
    loaders: int = 3
    schedule: str = "cosine"


def study(model: Any, processor: Any, pool: Path, how: Study, folder: Path, *, log_steps: int = 10) -> dict[str, Any]:
    """Train a model on a pool; a checkpoint in the folder is gone on from.

    A step whose gradient is not a number moves no weight by it, and is counted.

    Args:
        model: a Qwen3-VL in memory, in float32; it is changed in place.
        processor: of the model.
        pool: the folder of shards; it may still be written to, and may be empty at first.
        how: what to draw, and for how long.
        folder: of the run, see `geosleuth.train.keeping`.
        log_steps: how many steps a line of the history sums up.

    Returns:
        ``steps`` done in all; ``seconds``, ``tokens`` (padding counted), ``tokens_per_s`` and ``skipped`` steps of this
        call alone; and ``history``, whose lines have step, loss, mean_token_accuracy and learning_rate.

    Raises:
        MissingExtra: TRL or what it needs is not installed.
    """
    with no_probing():
        torch: Any = require("torch", extra="train")
        trl: Any = require("trl", extra="train")
        datasets: Any = require("datasets", extra="train")
        transformers: Any = require("transformers", extra="train")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    on_gpu = torch.cuda.is_available()
    patch_vision_attention(model)
    patch_vision_inputs(model)
    collator = Collator(processor, with_mask=False)
    run = RunFolder(folder)
    start = last_checkpoint(run)
    fed = _fed(
        torch,
        lambda loader, loaders: fresh_batches(
            pool, how, collator, start=0 if start is None else step_of(start), loader=loader, loaders=loaders
        ),
    )
    until = None if how.seconds is None else monotonic() + how.seconds
    counted = {"tokens": 0, "skipped": 0}

    class Student(trl.SFTTrainer):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(
                fed,
                batch_size=None,
                num_workers=how.loaders,
                prefetch_factor=4 if how.loaders else None,
                pin_memory=on_gpu,
            )

        def _prepare_inputs(self, inputs: Any) -> Any:
            counted["tokens"] += inputs["input_ids"].numel()
            return collator.ready(inputs, self.args.device, torch.bfloat16 if on_gpu else torch.float32)

    class Clock(transformers.TrainerCallback):  # type: ignore[misc]
        def on_pre_optimizer_step(self, _args: Any, _state: Any, _control: Any, **given: Any) -> None:
            # One step whose gradient is not a number would spoil every weight for good.
            grads = [one.grad for one in given["model"].parameters() if one.grad is not None]
            if not bool(torch.isfinite(torch.nn.utils.get_total_norm(grads))):
                counted["skipped"] += 1
                for grad in grads:
                    grad.zero_()

        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
            if until is not None and monotonic() > until and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True
            return control

    arguments = trl.SFTConfig(
        output_dir=str(run.checkpoints), max_steps=how.steps, per_device_train_batch_size=1,
        learning_rate=how.learning_rate,
        lr_scheduler_type=how.schedule, warmup_steps=max(1, int(how.warmup_share * how.steps)), weight_decay=0.02,
        adam_beta2=0.98, max_grad_norm=1.0, bf16=on_gpu, use_cpu=not on_gpu, gradient_checkpointing=False,
        logging_steps=log_steps, save_strategy="no", report_to=[], disable_tqdm=True, seed=how.seed,
        dataset_kwargs={"skip_prepare_dataset": True}, remove_unused_columns=False, max_length=None,
        optim="adamw_torch_fused" if on_gpu else "adamw_torch",
        # Batches that an earlier slice had are passed over without being put together; see `fresh_batches`.
        ignore_data_skip=True,
    )  # fmt: skip
    trainer = Student(
        model=model,
        args=arguments,
        processing_class=processor,
        train_dataset=datasets.Dataset.from_list([{"row": 0}]),
        data_collator=collator,
        callbacks=[Clock(), _content(transformers.TrainerCallback, how.enough)],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    began = monotonic()
    trainer.train(resume_from_checkpoint=None if start is None else str(start))
    seconds = monotonic() - began
    history = [line for line in trainer.state.log_history if "loss" in line]
    return {
        "steps": trainer.state.global_step,
        "seconds": round(seconds, 1),
        "tokens": counted["tokens"],
        "skipped": counted["skipped"],
        "tokens_per_s": round(counted["tokens"] / seconds),
        "history": [
            {name: line.get(name) for name in ("step", "loss", "mean_token_accuracy", "learning_rate")}
            for line in history
        ],
    }


def fresh_batches(
    folder: Path,
    how: Study,
    collate: Callable[[Sequence[Encoded]], Any],
    *,
    start: int = 0,
    loader: int = 0,
    loaders: int = 1,
) -> Iterator[Any]:
    """The endless batches of one of several loaders, from a step of the run on; waits while the pool is empty.

    Loaders take turns, so that each has a sequence of its own; after a restart the first loader is asked first, and so
    goes on with the sequence whose turn it is.

    Args:
        folder: of the pool.
        how: what to draw.
        collate: makes a batch of chats.
        start: how many steps are done.
        loader: the number of this one.
        loaders: how many there are.
    """
    draw = (start + loader) % loaders
    passed = (start - draw + loaders - 1) // loaders
    pool = ShardPool(folder)
    while True:
        if not any(pool.counts.get(kind) for kind in how.weights):
            sleep(_WAIT_S)
            pool.refresh()
            continue
        chats = _drawn(pool, how, draw)
        for batch in batches([len(chat) for chat in chats], how.tokens, seed=draw):
            if passed:
                passed -= 1
            else:
                yield collate([chats[at] for at in batch])
        draw += loaders
        if draw // loaders % _REFRESH == 0:
            pool.refresh()


def _content(base: Any, enough: float | None) -> Any:
    """A callback that ends a run once enough tokens are told rightly, several lines of the history in a row."""

    class Content(base):  # type: ignore[misc]
        in_a_row = 0

        def on_log(self, _args: Any, _state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> Any:
            right = logs.get("mean_token_accuracy")
            if enough is not None and right is not None:
                self.in_a_row = self.in_a_row + 1 if right >= enough else 0
                control.should_training_stop |= self.in_a_row >= _IN_A_ROW
            return control

    return Content()


def _fed(torch: Any, begin: Callable[[int, int], Iterator[Any]]) -> Any:
    """A data set of what ``begin`` gives in each loader, told its number and how many there are."""

    class Fed(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            own = torch.utils.data.get_worker_info()
            if own is None:
                return begin(0, 1)
            torch.set_num_threads(1)
            return begin(own.id, own.num_workers)

    return Fed()


def _drawn(pool: ShardPool, how: Study, draw: int) -> list[Encoded]:
    """Chats for a few batches, in the shares that are wanted; of a kind with a limit only the first ones."""
    chance = np.random.default_rng([how.seed, draw])
    counts = {kind: min(count, how.limit.get(kind, count)) for kind, count in pool.counts.items()}
    there = {kind: weight for kind, weight in sorted(how.weights.items()) if weight > 0 and counts.get(kind)}
    shares = np.array(list(there.values())) / sum(there.values())
    size = max(1, _DRAWN * how.tokens // _DRAWN_FOR)
    kinds = [list(there)[at] for at in chance.choice(len(there), size=size, p=shares)]
    return [pool.at(kind, int(chance.integers(counts[kind]))) for kind in kinds]
