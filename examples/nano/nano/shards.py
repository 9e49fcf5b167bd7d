"""Chats encoded in bulk and kept in shards: many processes write whole files, one trainer reads meanwhile.

The outcome is that of the processor itself, which takes each picture through several copies and, in some versions,
assigns words to the wrong speaker once a chat holds pictures.

    FOLDER/perception/3f2a...-000000.shard     chats of one kind, from one writer
    FOLDER/trajectory/...

A shard is raw arrays one after the other and, at its end, a JSON index, its length and the number of samples. It is
written aside and renamed once complete. Readers map it into memory, so a pool may be larger than memory,
and read an index when they first need it: a pool of a million samples opens at once.

A pool grows while it is read. A draw depends only on the shards it was made from, the step and the seed; to
repeat a run exactly, keep the names that `ShardPool.names` gives along with the step.
"""

import json
import os
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.lab.train.generator import Shrink, find_shrink
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import replacing

Message = Mapping[str, Any]
Pixels = NDArray[np.uint8]

_MOST_OBLONG: Final = 200


@dataclass(frozen=True, slots=True)
class Encoded:
    """One chat. ``mask`` is true on what the assistant writes; ``images`` are height x width x 3, at final size."""

    input_ids: NDArray[np.int32]
    mask: NDArray[np.bool_]
    images: tuple[Pixels, ...] = ()

    def __len__(self) -> int:
        """Return the number of tokens, pictures included."""
        return len(self.input_ids)


def encode_chat(processor: Any, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None) -> Encoded:
    """Return one chat, encoded as the processor would.

    Args:
        processor: of a Qwen-VL model, with a chat template whose generation tags mark what the assistant writes.
        messages: as templates take them. A picture's part holds an image, or an array from `final_pixels`, which is
            worthwhile where many chats show the same photo.
        tools: in OpenAI's form, or None if the chat shows none.

    Raises:
        ValueError: a picture is far too oblong, or an array is not from `final_pixels`.
    """
    text, spans = _written(processor, messages, tools)
    sheets = tuple(_pixels(processor, image) for image in _images(messages))
    encoded = processor.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    ids = np.asarray(encoded.ids, np.int32)
    offsets = np.asarray(encoded.offsets, np.int64).reshape(-1, 2)
    mask = np.zeros(len(ids), np.bool_)
    for start, end in spans:
        mask |= (offsets[:, 0] < end) & (offsets[:, 1] > start)
    repeats = np.ones(len(ids), np.int64)
    repeats[ids == processor.image_token_id] = [image_tokens(processor, *sheet.shape[:2]) for sheet in sheets]
    return Encoded(np.repeat(ids, repeats), np.repeat(mask, repeats), sheets)


def final_pixels(processor: Any, image: Image.Image) -> Pixels:
    """Return a picture at the size at which the model sees it.

    Raises:
        ValueError: it is far too oblong.
    """
    final_size(processor, image.height, image.width)
    return np.asarray(final_shrink(processor)(image), np.uint8)


def final_size(processor: Any, height: int, width: int) -> tuple[int, int]:
    """Return the height and width at which the model sees a picture: whole cells within the pixel budget.

    Raises:
        ValueError: it is far too oblong.
    """
    if max(height, width) > _MOST_OBLONG * min(height, width):
        raise ValueError(f"a picture of {width} x {height} pixels is too oblong to be shown")
    across, down = final_shrink(processor).fit_size(width, height)
    return down, across


def final_shrink(processor: Any) -> Shrink:
    """Return what brings pictures to that size.

    Raises:
        ValueError: the processor preprocesses pictures in its own way.
    """
    shrink = find_shrink(processor)
    if shrink is None:
        raise ValueError(f"{type(processor).__name__} preprocesses pictures in its own way")
    return shrink


def image_tokens(processor: Any, height: int, width: int) -> int:
    """Return how many tokens a picture of a final size takes."""
    cell = _cell(processor)
    return (height // cell) * (width // cell)


def _cell(processor: Any) -> int:
    images = processor.image_processor
    return int(images.patch_size * images.merge_size)


def _written(
    processor: Any, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None
) -> tuple[str, list[tuple[int, int]]]:
    """Return the chat's text, and where in it the assistant's words stand."""
    templates: Any = require("transformers.utils.chat_template_utils", extra="train")
    texts, spans = templates.render_jinja_template(
        conversations=[list(messages)],
        tools=list(tools) if tools else None,
        chat_template=processor.chat_template,
        return_assistant_tokens_mask=True,
    )
    return texts[0], [tuple(span) for span in spans[0]]


def _images(messages: Sequence[Message]) -> list[Any]:
    return [
        part["image"]
        for message in messages
        if not isinstance(content := message.get("content") or (), str)
        for part in content
        if part["type"] == "image"
    ]


def _pixels(processor: Any, image: Any) -> Pixels:
    if not isinstance(image, np.ndarray):
        return final_pixels(processor, image)
    cell = _cell(processor)
    fits = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    if not fits or image.shape[0] % cell or image.shape[1] % cell:
        raise ValueError(f"an array of shape {image.shape} not a picture at final size; make it with final_pixels")
    return image


SUFFIX: Final = ".shard"
_ALIGNED: Final = 16
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_END: Final = struct.Struct("<QQ")


class ShardWriter:
    """Gathers samples of one kind and writes them a shard at a time. One writer a process; a context manager.

    Args:
        folder: the pool's.
        kind: the sort of sample, such as "perception": a folder in the pool.
        writer: a name that no other writer of this kind has, such as "worker-3". A writer that starts again under its
            name continues after the shards that it finished.
        samples: how many samples a shard holds; what is left at the end makes a smaller one.
    """

    def __init__(self, folder: Path, kind: str, writer: str, *, samples: int = 64) -> None:
        """Find the shards that this writer has finished already.

        Raises:
            BadInput: a name can't be that of a file.
        """
        for name in (kind, writer):
            if not _NAME.fullmatch(name):
                raise BadInput(f"{name!r} can't name samples: use small letters, digits, - and _")
        self._folder, self._writer, self._most = folder / kind, writer, samples
        self._folder.mkdir(parents=True, exist_ok=True)
        self._waiting: list[tuple[Encoded, Mapping[str, Any]]] = []
        finished = [path.stem.rpartition("-") for path in self._folder.glob(f"{writer}-*{SUFFIX}")]
        self.shards = 1 + max((int(number) for name, _, number in finished if name == writer), default=-1)

    def add(self, sample: Encoded, about: Mapping[str, Any] | None = None) -> None:
        """Add a sample with plain data about it; a full shard is written at once.

        Raises:
            BadInput: the shard can't be written.
        """
        self._waiting.append((sample, about or {}))
        if len(self._waiting) >= self._most:
            self.flush()

    def flush(self) -> None:
        """Write the waiting samples as a shard.

        Raises:
            BadInput: it can't be written.
        """
        if self._waiting:
            _write(self._folder / f"{self._writer}-{self.shards:06}{SUFFIX}", self._waiting)
            self.shards += 1
            self._waiting = []

    def __enter__(self) -> "ShardWriter":
        """Return this writer."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Write the last shard, even if the block was interrupted: waiting samples are complete."""
        self.flush()


class Shard:
    """A complete shard, mapped into memory. Arrays of its samples can't be written to."""

    def __init__(self, path: Path) -> None:
        """Count the samples.

        Raises:
            BadInput: the file is no shard.
        """
        self.path = path
        try:
            # A plain array over the map: slices of a memmap object are slow to make.
            self._bytes = np.asarray(np.memmap(path, np.uint8, mode="r"))
            sizes: tuple[int, int] = _END.unpack(self._bytes[-_END.size :].tobytes())
            self._index_size, self._samples = sizes
        except (OSError, ValueError, struct.error) as error:
            raise self._broken() from error
        if self._index_size + _END.size > len(self._bytes):
            raise self._broken()

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._samples

    @property
    def lengths(self) -> list[int]:
        """How many tokens each sample has."""
        return [int(entry["tokens"]) for entry in self._index]

    @cached_property
    def _index(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = json.loads(self._bytes[-_END.size - self._index_size : -_END.size].tobytes())
        except ValueError as error:
            raise self._broken() from error
        return found

    def _broken(self) -> BadInput:
        return BadInput(f"{self.path}: not a complete shard; delete it")

    def __getitem__(self, number: int) -> Encoded:
        """Return one sample."""
        entry = self._index[number]
        at, tokens = entry["at"], entry["tokens"]
        ids = self._bytes[at : at + 4 * tokens].view(np.int32)
        at += _rounded(4 * tokens)
        mask = self._bytes[at : at + tokens].view(np.bool_)
        at += _rounded(tokens)
        images = (self._bytes[at : at + 3 * high * wide].reshape(high, wide, 3) for at, high, wide in entry["images"])
        return Encoded(ids, mask, tuple(images))

    def about(self, number: int) -> Mapping[str, Any]:
        """Return what its writer said about a sample."""
        found: Mapping[str, Any] = self._index[number]["about"]
        return found


class ShardPool:
    """All complete shards of a folder, by kind; `refresh` takes in what has come since."""

    def __init__(self, folder: Path, names: Iterable[str] | None = None) -> None:
        """Open a pool.

        Args:
            folder: where writers put their shards; it may still be empty.
            names: of the shards to use, as `names` gave them, so that draws repeat; all of them if left out.

        Raises:
            BadInput: a shard is missing or damaged.
        """
        self._folder = folder
        self._only = None if names is None else tuple(names)
        self._shards: dict[str, dict[str, Shard]] = {}
        self._in_order: dict[str, list[Shard]] = {}
        self._ends: dict[str, NDArray[np.int64]] = {}
        self.refresh()

    def refresh(self) -> int:
        """Add the shards finished since, and return how many.

        Raises:
            BadInput: a shard is missing or damaged.
        """
        if self._only is None:
            found = [path for kind in _folders(self._folder) for path in sorted(kind.glob(f"*{SUFFIX}"))]
        else:
            found = [self._folder / name for name in self._only]
        fresh = [path for path in found if path.name not in self._shards.get(path.parent.name, {})]
        for path in fresh:
            self._shards.setdefault(path.parent.name, {})[path.name] = Shard(path)
        for kind in {path.parent.name for path in fresh}:
            # By name and not by when they came: two pools of the same shards draw the same.
            self._shards[kind] = dict(sorted(self._shards[kind].items()))
            self._in_order[kind] = list(self._shards[kind].values())
            self._ends[kind] = np.cumsum([len(shard) for shard in self._in_order[kind]])
        return len(fresh)

    @property
    def names(self) -> tuple[str, ...]:
        """The shards in use, such as "perception/worker-3-000000.shard"."""
        return tuple(f"{kind}/{name}" for kind in sorted(self._shards) for name in self._shards[kind])

    @property
    def counts(self) -> dict[str, int]:
        """How many samples there are of each kind."""
        return {kind: int(self._ends[kind][-1]) for kind in sorted(self._shards)}

    def sample(
        self, weights: Mapping[str, float], n: int, seed: int, step: int = 0, *, newest: float = 1.0
    ) -> list[Encoded]:
        """Draw samples, each of a kind drawn by its weight. Kinds without samples are left out.

        The state of a run is the step and the seed: no draw depends on earlier ones.

        Args:
            weights: by kind, in any unit.
            n: how many.
            seed: of the run.
            step: of the run.
            newest: the share of a kind's samples that are drawn from, the last by the names of their shards; 1 is all.

        Raises:
            BadInput: there is no sample of any kind that has a weight.
        """
        counts = self.counts
        there = {kind: weight for kind, weight in sorted(weights.items()) if weight > 0 and counts.get(kind)}
        if not there:
            raise BadInput(f"{self._folder} holds no samples of the kinds {', '.join(sorted(weights)) or '(none)'} yet")
        chance = np.random.default_rng([seed, step])
        kinds = chance.choice(len(there), size=n, p=np.array(list(there.values())) / sum(there.values()))
        names = list(there)
        numbers = chance.random(n)
        found = []
        for kind, where in zip((names[number] for number in kinds), numbers, strict=True):
            first = int(counts[kind] * (1 - newest))
            found.append(self.at(kind, first + int(where * (counts[kind] - first))))
        return found

    def lengths(self, kind: str) -> list[int]:
        """Return how many tokens each sample of a kind has."""
        return [length for shard in self._in_order.get(kind, ()) for length in shard.lengths]

    def at(self, kind: str, number: int) -> Encoded:
        """Return one sample of a kind, by its number among all of that kind."""
        shard, inside = self._place(kind, number)
        return shard[inside]

    def about(self, kind: str, number: int) -> Mapping[str, Any]:
        """Return what its writer said about a sample."""
        shard, inside = self._place(kind, number)
        return shard.about(inside)

    def _place(self, kind: str, number: int) -> tuple[Shard, int]:
        ends = self._ends[kind]
        which = int(np.searchsorted(ends, number, side="right"))
        shard = self._in_order[kind][which]
        return shard, number - int(ends[which]) + len(shard)


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _rounded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _write(path: Path, samples: Sequence[tuple[Encoded, Mapping[str, Any]]]) -> None:
    index, at = [], 0
    # A photo that several chats show is one array, and one stretch of the shard.
    placed: dict[int, int] = {}
    with replacing(path) as neighbour, neighbour.open("wb") as stream:

        def put(array: NDArray[Any]) -> int:
            nonlocal at
            data, begun = array.tobytes(), at
            stream.write(data)
            stream.write(bytes(_rounded(len(data)) - len(data)))
            at += _rounded(len(data))
            return begun

        for sample, about in samples:
            begun = put(sample.input_ids.astype(np.int32))
            put(sample.mask.astype(np.bool_))
            for image in sample.images:
                if id(image) not in placed:
                    placed[id(image)] = put(image)
            images = [(placed[id(image)], *image.shape[:2]) for image in sample.images]
            index.append({"at": begun, "tokens": len(sample), "images": images, "about": dict(about)})
        words = json.dumps(index, ensure_ascii=False).encode()
        stream.write(words)
        stream.write(_END.pack(len(words), len(index)))
        stream.flush()
        os.fsync(stream.fileno())
