"""Prompts with images, taken apart for a batched prefill: which are the same, where each image lies, every position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput, require

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """One prompt: its tokens, where its images' tokens start and end, their grids, which patches are its own."""

    ids: Positions
    runs: tuple[tuple[int, int], ...]
    grids: tuple[tuple[int, int, int], ...]
    patches: slice


def split_prompts(
    prompt_ids: Sequence[Sequence[int]], image_grid_thw: Any, *, image_id: int, merge: int
) -> list[Prompt]:
    """Give each prompt its images: they come in the order in which their tokens occur over all prompts.

    Raises:
        BadInput: a prompt is empty, or tokens and images do not match.
    """
    grids = [] if image_grid_thw is None else [(int(t), int(h), int(w)) for t, h, w in image_grid_thw.tolist()]
    prompts, next_image, next_patch = [], 0, 0
    for number, given in enumerate(prompt_ids):
        ids = np.asarray(given, dtype=np.int64)
        if not ids.size:
            raise BadInput(f"prompt {number} has no tokens: give each prompt at least one")
        runs = _image_runs(ids, image_id)
        own = tuple(grids[next_image : next_image + len(runs)])
        tokens = [t * h * w // merge**2 for t, h, w in own]
        wanted = [end - start for start, end in runs]
        if tokens != wanted:
            raise BadInput(f"prompt {number} has runs of {wanted} image tokens, and its images take {tokens}")
        next_image += len(runs)
        width = sum(t * h * w for t, h, w in own)
        prompts.append(Prompt(ids, runs, own, slice(next_patch, next_patch + width)))
        next_patch += width
    if next_image != len(grids):
        raise BadInput(f"{len(grids)} images were given, and the prompts have tokens for {next_image}")
    return prompts


def rope_positions(prompt: Prompt, *, merge: int) -> tuple[Positions, int]:
    """Positions of a prompt along time, height and width, [3, tokens], and the next position less the next index.

    As `get_rope_index` of the model has them, without its many small steps on the GPU.
    """
    positions = np.empty((3, len(prompt.ids)), dtype=np.int64)
    at, following = 0, 0
    for (start, end), (t, h, w) in zip(prompt.runs, prompt.grids, strict=True):
        positions[:, at:start] = np.arange(following, following + start - at)
        following += start - at
        inside = np.indices((t, h // merge, w // merge)).reshape(3, -1)
        positions[:, start:end] = inside + following
        following += max(h, w) // merge
        at = end
    rest = len(prompt.ids) - at
    positions[:, at:] = np.arange(following, following + rest)
    return positions, int(positions.max()) + 1 - len(prompt.ids)


def first_alike(prompts: Sequence[Prompt], pixel_values: Any) -> list[int]:
    """For each prompt the number of the first one with the same tokens and the same images, pixel by pixel.

    Groups of completions of one prompt then share its prefill.
    """
    torch: Any = require("torch", extra="train")
    seen: dict[tuple[bytes, tuple[tuple[int, int, int], ...]], int] = {}
    first = [seen.setdefault((prompt.ids.tobytes(), prompt.grids), number) for number, prompt in enumerate(prompts)]
    doubtful = [number for number, same in enumerate(first) if same != number and prompts[number].grids]
    if doubtful:
        pairs = [(prompts[number].patches, prompts[first[number]].patches) for number in doubtful]
        equal = torch.stack([(pixel_values[own] == pixel_values[other]).all() for own, other in pairs]).tolist()
        for number, alike in zip(doubtful, equal, strict=True):
            if not alike:
                first[number] = number
    return first


def chunks(lengths: Sequence[int], most_tokens: int) -> list[slice]:
    """Cut prompts, shortest first, into runs that stay under so many tokens when padded (one prompt at the least)."""
    cuts, start = [], 0
    for end in range(1, len(lengths) + 1):
        if end == len(lengths) or lengths[end] * (end + 1 - start) > most_tokens:
            cuts.append(slice(start, end))
            start = end
    return cuts


def _image_runs(ids: Positions, image_id: int) -> tuple[tuple[int, int], ...]:
    """Where runs of image tokens start and end."""
    inside = np.concatenate(([False], ids == image_id, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return tuple((int(start), int(end)) for start, end in edges.reshape(-1, 2))
