"""Train on shards that are still being written: TRL's `SFTTrainer`, fed with packed or padded batches.

Rows are padded on the right. No token looks ahead, so what is learned from never sees the padding, and a batch without
an attention mask gives the same loss as one with it; without it, the fast kernels for plain causal attention apply.

Packed rows hold several chats one after the other. transformers keeps them apart by itself, with a mask of blocks,
where positions restart, no attention mask, and ``use_cache=False``; so packing is exact with any
implementation of attention that takes a mask. The cost of attention grows with the length of a row, whatever is in it:
rows of a thousand tokens or so save the padding without paying for it there.

The rows of a run are draws from a growing pool, so they have no fixed order on disk. What a step draws depends on its
number, the seed, the number of loaders and the shards that were there; loss, masks, optimiser and checkpoints are those
of TRL. So a run that is cut into slices ends with the weights of one that was never stopped, as long as the pool and
the number of loaders stay the same. Where the pool has grown meanwhile, a slice continues about as far along in draws
from all that is there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geosleuth.lab.train.run_folder import TrainingFolder, last_checkpoint, parse_step
from geosleuth.photo.runtime import no_probing, stay_offline
from geosleuth.support.errors import require

from .shards import Encoded, ShardPool
from .vision import patch_vision_attention, patch_vision_inputs

IGNORED: Final = -100
"""The label of a token that nothing is learned from."""


@dataclass(frozen=True, slots=True)
class Collator:
    """Makes batches on the CPU; `ready` then moves one to a device.

    Args:
        processor: of a Qwen-VL model.
        pad_to: rows are as long as the longest, rounded up to a multiple of this.
        row_tokens: pack chats into rows of this many tokens; None gives every chat a row of its own. A chat that is
            longer than a row makes the rows longer.
        with_mask: whether batches of unpacked rows bring an attention mask; see the module's words on doing without.
    """

    processor: Any
    pad_to: int = 64
    row_tokens: int | None = None
    with_mask: bool = True

    def __call__(self, samples: Sequence[Encoded]) -> dict[str, Any]:
        """Return a batch for `ready`, its pictures in the order of their tokens."""
        torch: Any = require("torch", extra="train")
        rows = _packed(samples, self.row_tokens) if self.row_tokens else [[sample] for sample in samples]
        longest = max(sum(map(len, row)) for row in rows)
        shape = len(rows), -(-longest // self.pad_to) * self.pad_to
        ids = np.full(shape, self.processor.tokenizer.pad_token_id, np.int64)
        labels = np.full(shape, IGNORED, np.int64)
        # Padding counts on its own, as one more chat of the row.
        positions = np.broadcast_to(np.arange(shape[1]), (4, *shape)).copy()
        for number, row in enumerate(rows):
            at = 0
            for sample in row:
                part = slice(at, at + len(sample))
                ids[number, part] = sample.input_ids
                labels[number, part] = np.where(sample.mask, sample.input_ids, IGNORED)
                # Nothing in a chat predicts its first token.
                labels[number, at] = IGNORED
                positions[0, number, part] = np.arange(len(sample))
                positions[1:, number, part] = positions_of(self.processor, sample)
                at = part.stop
            positions[:, number, at:] = np.arange(shape[1] - at)
        images = [image for row in rows for sample in row for image in sample.images]
        batch = {"input_ids": ids, "labels": labels, "position_ids": positions if self.row_tokens else positions[1:]}
        if self.with_mask and not self.row_tokens:
            batch["attention_mask"] = (np.arange(shape[1]) < np.array([[len(row[0])] for row in rows])).astype(np.int64)
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in batch.items()}
        if images:
            patch = self.processor.image_processor.patch_size
            grids = np.array([[1, image.shape[0] // patch, image.shape[1] // patch] for image in images], np.int64)
            flat = np.concatenate([image.reshape(-1) for image in images])
            tensors |= {
                "image_grid_thw": torch.from_numpy(grids),
                "mm_token_type_ids": (tensors["input_ids"] == self.processor.image_token_id).int(),
                "pixels": torch.from_numpy(flat),
            }
        return tensors

    def ready(self, batch: Mapping[str, Any], device: Any = "cpu", dtype: Any = None) -> dict[str, Any]:
        """Return the model's arguments: the batch on a device, pictures cut into patches and normalised there."""
        torch: Any = require("torch", extra="train")
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items() if name != "pixels"}
        if self.row_tokens:
            moved["use_cache"] = False
        if "pixels" in batch:
            flat = batch["pixels"].to(device, non_blocking=True)
            moved["pixel_values"] = self._patches(torch, flat, batch["image_grid_thw"].tolist(), dtype or torch.float32)
        return moved

    def bytes_of_patches(self, image: Any) -> Any:
        """Return one picture at final size, a tensor of bytes [height, width, 3], as rows of patches, still bytes."""
        images = self.processor.image_processor
        high, wide = (side // images.patch_size for side in image.shape[:2])
        return _cut(image.reshape(1, -1), high, wide, images.patch_size, images.merge_size).flatten(1)

    def _patches(self, torch: Any, flat: Any, grids: list[list[int]], dtype: Any) -> Any:
        """Return pictures as rows of patches; those of one size are cut together, as a device likes few large steps."""
        images = self.processor.image_processor
        patch, merge, times = images.patch_size, images.merge_size, images.temporal_patch_size
        sizes = [3 * patch * patch * high * wide for _, high, wide in grids]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = starts // (3 * patch * patch)
        out = torch.empty((int(rows[-1]), 3, times, patch, patch), dtype=dtype, device=flat.device)
        mean, std = (
            torch.tensor(each, dtype=torch.float32, device=flat.device).view(1, 3, 1, 1)
            for each in (images.image_mean, images.image_std)
        )
        for high, wide in sorted({(high, wide) for _, high, wide in grids}):
            which = [number for number, (_, h, w) in enumerate(grids) if (h, w) == (high, wide)]
            stack = torch.stack([flat[starts[number] : starts[number + 1]] for number in which])
            cut = _cut(stack, high, wide, patch, merge)
            even = ((cut.float() * images.rescale_factor - mean) / std).to(dtype)
            place = np.concatenate([np.arange(rows[number], rows[number + 1]) for number in which])
            out[torch.from_numpy(place).to(flat.device)] = even.unsqueeze(2).expand(-1, -1, times, -1, -1)
        return out.view(len(out), -1)


def _cut(stack: Any, high: int, wide: int, patch: int, merge: int) -> Any:
    """Return pictures of one size as patches in the model's order: merged ones side by side."""
    cells = stack.view(-1, high // merge, merge, patch, wide // merge, merge, patch, 3)
    return cells.permute(0, 1, 4, 2, 5, 7, 3, 6).reshape(-1, 3, patch, patch)


def positions_of(processor: Any, sample: Encoded) -> NDArray[np.int64]:
    """Return where the model places each token: in time, down and across; a picture's tokens lie on a grid."""
    cell = processor.image_processor.patch_size * processor.image_processor.merge_size
    found = np.empty((3, len(sample)), np.int64)
    at = place = 0
    starts = iter(np.flatnonzero(_begins(sample.input_ids == processor.image_token_id)))
    for image in sample.images:
        high, wide = image.shape[0] // cell, image.shape[1] // cell
        start = int(next(starts))
        found[:, at:start] = np.arange(place, place + start - at)
        place += start - at
        at = start + high * wide
        found[0, start:at] = place
        found[1, start:at] = np.repeat(np.arange(high), wide) + place
        found[2, start:at] = np.tile(np.arange(wide), high) + place
        place += max(high, wide)
    found[:, at:] = np.arange(place, place + len(sample) - at)
    return found


def batches(lengths: Sequence[int], tokens: int = 65_536, *, pad_to: int = 64, seed: int = 0) -> Iterator[list[int]]:
    """Yield samples of about the same length together, padding counted, as many as fit; the batches in a drawn order.

    Every sample comes once. One that is longer than ``tokens`` makes a batch by itself.
    """
    chance = np.random.default_rng(seed)
    order = np.lexsort(np.stack([chance.random(len(lengths)), np.asarray(lengths, np.float64)]))[::-1]
    found: list[list[int]] = []
    room = 0
    for number in map(int, order):
        if room < 1:
            found.append([])
            # The first of a batch is its longest.
            room = max(1, tokens // (-(-lengths[number] // pad_to) * pad_to))
        found[-1].append(number)
        room -= 1
    yield from (found[number] for number in chance.permutation(len(found)))


def _begins(here: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where stretches of true begin. Two pictures never touch: each stands between tokens of its own."""
    before = np.zeros_like(here)
    before[1:] = here[:-1]
    return np.logical_and(here, ~before)


def _packed(samples: Sequence[Encoded], row_tokens: int) -> list[list[Encoded]]:
    """Return samples in rows, the longest first, each in the first row that has room."""
    rows: list[list[Encoded]] = []
    room: list[int] = []
    for sample in sorted(samples, key=len, reverse=True):
        at = next((number for number, left in enumerate(room) if left >= len(sample)), None)
        if at is None:
            rows.append([])
            room.append(row_tokens)
            at = len(rows) - 1
        rows[at].append(sample)
        room[at] -= len(sample)
    return rows


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
        seconds: stop after so long even if steps are left, with a checkpoint to resume from.
        enough: stop once three lines of the history in a row show this share of tokens predicted correctly.
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
    """Train a model on a pool; a checkpoint in the folder is resumed.

    A step whose gradient is not a number moves no weight by it, and is counted.

    Args:
        model: a Qwen3-VL in memory, in float32; it is changed in place.
        processor: of the model.
        pool: the folder of shards; it may still be written to, and may be empty at first.
        how: what to draw, and for how long.
        folder: of the run, see `geosleuth.lab.train.run_folder`.
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
    stay_offline()
    on_gpu = torch.cuda.is_available()
    patch_vision_attention(model)
    patch_vision_inputs(model)
    collator = Collator(processor, with_mask=False)
    run = TrainingFolder(folder)
    start = last_checkpoint(run)
    fed = _fed(
        torch,
        lambda loader, loaders: fresh_batches(
            pool, how, collator, start=0 if start is None else parse_step(start), loader=loader, loaders=loaders
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
    """Yield the endless batches of one of several loaders, from a step of the run on; waits while the pool is empty.

    Loaders take turns, so that each has a sequence of its own; after a restart the first loader is asked first, and so
    continues the sequence whose turn it is.

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
    """Return a callback that ends a run once enough tokens are right, several lines of the history in a row."""

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
    """Return a data set of what ``begin`` yields in each loader, given its number and how many there are."""

    class Fed(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            own = torch.utils.data.get_worker_info()
            if own is None:
                return begin(0, 1)
            torch.set_num_threads(1)
            return begin(own.id, own.num_workers)

    return Fed()


def _drawn(pool: ShardPool, how: Study, draw: int) -> list[Encoded]:
    """Return chats for a few batches, in the shares that are wanted; of a kind with a limit only the first ones."""
    chance = np.random.default_rng([how.seed, draw])
    counts = {kind: min(count, how.limit.get(kind, count)) for kind, count in pool.counts.items()}
    there = {kind: weight for kind, weight in sorted(how.weights.items()) if weight > 0 and counts.get(kind)}
    shares = np.array(list(there.values())) / sum(there.values())
    size = max(1, _DRAWN * how.tokens // _DRAWN_FOR)
    kinds = [list(there)[at] for at in chance.choice(len(there), size=size, p=shares)]
    return [pool.at(kind, int(chance.integers(counts[kind]))) for kind in kinds]
