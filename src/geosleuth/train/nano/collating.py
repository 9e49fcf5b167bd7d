"""Encoded chats as batches: padded or packed rows, positions worked out beforehand, pictures made ready on the device.

Rows are padded on the right. No token looks ahead, so what is learned from never sees the padding, and a batch without
an attention mask gives the same loss as one with it; without it, the fast kernels for plain causal attention apply.

Packed rows hold several chats one after the other. transformers keeps them apart by itself, with a mask of blocks,
where it is given positions that start anew, no attention mask, and ``use_cache=False``; so packing is exact with any
implementation of attention that takes a mask. The cost of attention grows with the length of a row, whatever is in it:
rows of a thousand tokens or so save the padding without paying for it there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geosleuth.errors import require

from .encoding import Encoded

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
        """A batch, as `ready` takes it. The pictures in it are in the order of their tokens."""
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
                # The first token of a chat is foretold by nothing that belongs to it.
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
        """What the model is called with: the batch on a device, pictures cut into patches and normalised there."""
        torch: Any = require("torch", extra="train")
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items() if name != "pixels"}
        if self.row_tokens:
            moved["use_cache"] = False
        if "pixels" in batch:
            flat = batch["pixels"].to(device, non_blocking=True)
            moved["pixel_values"] = self._patches(torch, flat, batch["image_grid_thw"].tolist(), dtype or torch.float32)
        return moved

    def bytes_of_patches(self, image: Any) -> Any:
        """One picture at final size, a tensor of bytes [height, width, 3], as rows of patches, still bytes."""
        images = self.processor.image_processor
        high, wide = (side // images.patch_size for side in image.shape[:2])
        return _cut(image.reshape(1, -1), high, wide, images.patch_size, images.merge_size).flatten(1)

    def _patches(self, torch: Any, flat: Any, grids: list[list[int]], dtype: Any) -> Any:
        """Pictures as rows of patches; those of one size are cut together, since a device likes few large steps."""
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
    """Pictures of one size, a row each, as patches in the order of the model: those that are merged side by side."""
    cells = stack.view(-1, high // merge, merge, patch, wide // merge, merge, patch, 3)
    return cells.permute(0, 1, 4, 2, 5, 7, 3, 6).reshape(-1, 3, patch, patch)


def positions_of(processor: Any, sample: Encoded) -> NDArray[np.int64]:
    """Where the model places each token: in time, down and across; a picture's tokens lie on a grid."""
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
    """Samples of about the same length together, padding counted, as many as fit; the batches in a drawn order.

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
    """Where stretches of true begin. Two pictures never touch: each stands between tokens of its own."""
    before = np.zeros_like(here)
    before[1:] = here[:-1]
    return np.logical_and(here, ~before)


def _packed(samples: Sequence[Encoded], row_tokens: int) -> list[list[Encoded]]:
    """Samples in rows, the longest first, each in the first row that has room."""
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
