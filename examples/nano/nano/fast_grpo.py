"""TRL's GRPO made quick for small models: our generator in place of `generate`, pictures and words made ready once.

TRL gives every picture to the image processor again in every turn of every reply, draws with `model.generate`, whose
time for a small model is spent on launching kernels, and goes through templates for every call and every result, though
the replies of a group say and hear much the same. All three are replaced from outside, on one trainer; what is learned
and how stays TRL's.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from types import MethodType
from typing import Any

from geosleuth.lab.train.rollouts import picture_digest
from geosleuth.support.errors import require

from .fast import FastGenerator, image_ids
from .trainer import Collator

_WORDS_KEPT = 16_384


def quicken(trainer: Any, *, turn_tokens: int, max_batch: int = 256, max_tokens: int = 2048) -> Any:
    """Make a trainer of `geosleuth.lab.train.grpo` sample with the fast generator; return the trainer.

    Attributes are added to it: ``drawing_seconds`` and ``drawn_tokens`` count what was drawn. The generator is made at
    the first draw, and follows the weights as they are trained.

    Args:
        trainer: see `geosleuth.lab.train.grpo.grpo_trainer`.
        turn_tokens: the longest turn.
        max_batch: replies that are drawn at once; more are drawn in waves.
        max_tokens: the longest chat that there is room for.
    """
    torch: Any = require("torch", extra="train")
    tokenizer = trainer.processing_class.tokenizer
    model = trainer.accelerator.unwrap_model(trainer.model)
    made: list[FastGenerator] = []
    trainer.drawing_seconds, trainer.drawn_tokens = 0.0, 0

    def single_turn(
        self: Any, prompt_ids: Any, _images: Any, fields: Any, *_: Any, **__: Any
    ) -> tuple[list[list[int]], None]:
        if not made:
            made.append(
                FastGenerator(
                    model, eos_ids=self.eos_token_ids, pad_id=tokenizer.pad_token_id, max_batch=max_batch,
                    max_tokens=max_tokens, banned_ids=image_ids(model),
                )
            )  # fmt: skip
        began = time.perf_counter()
        device = self.accelerator.device
        pixels, grids = fields.get("pixel_values"), fields.get("image_grid_thw")
        with torch.no_grad():
            ids = made[0].generate(
                [list(map(int, one)) for one in prompt_ids],
                None if pixels is None else torch.as_tensor(pixels).to(device),
                None if grids is None else torch.as_tensor(grids).to(device),
                max_new_tokens=turn_tokens,
                temperature=self.temperature,
                top_p=self.top_p,
            )
        self.drawing_seconds += time.perf_counter() - began
        self.drawn_tokens += sum(map(len, ids))
        return ids, None

    trainer._generate_single_turn = MethodType(single_turn, trainer)  # noqa: SLF001  (TRL has no hook for it)
    _cache_templates(trainer)
    _make_positions_on_cpu(model)
    return trainer


def _make_positions_on_cpu(model: Any) -> None:
    """Let a model work out its positions on the CPU: on a GPU each row waits some twenty times for a single number."""
    own = model.model.get_rope_index

    def get_rope_index(input_ids: Any, **given: Any) -> tuple[Any, Any]:
        here = {name: value.cpu() if hasattr(value, "cpu") else value for name, value in given.items()}
        positions, deltas = own(input_ids.cpu(), **here)
        return positions.to(input_ids.device), deltas.to(input_ids.device)

    model.model.get_rope_index = get_rope_index


def _cache_templates(trainer: Any) -> None:
    """Cache what templates make of prompts, tools, results and replies.

    Replies are identified by their tokens alone: the text before them always ends with the assistant's name.
    """
    transformers: Any = require("transformers", extra="train")
    processor, tokenizer = trainer.processing_class, trainer.processing_class.tokenizer
    trainer._env_tools = {  # noqa: SLF001
        name: [transformers.utils.get_json_schema(tool) if callable(tool) else tool for tool in tools]
        for name, tools in trainer._env_tools.items()  # noqa: SLF001
    }
    suffix_ids, parsed = trainer._get_tool_suffix_ids, tokenizer.parse_response  # noqa: SLF001
    by_processor = processor.apply_chat_template
    written: dict[str, list[int]] = {}
    rendered: dict[str, list[list[int]]] = {}
    read: dict[tuple[int, ...], dict[str, Any]] = {}

    def remembered_suffix_ids(messages: Any) -> list[int]:
        # Only a picture's size decides which tokens represent it.
        key = json.dumps(messages, default=lambda image: list(image.size))
        if key not in written:
            _make_room(written)
            written[key] = suffix_ids(messages)
        return list(written[key])

    def quick_template(conversation: Any, **options: Any) -> Any:
        """Render one conversation without pictures by the tokenizer, which checks less than the processor."""
        if options.get("return_dict") is not False or any(map(_has_picture, conversation)):
            return by_processor(conversation, **options)
        key = json.dumps([conversation, sorted(options.items())])
        if key not in rendered:
            _make_room(rendered)
            rendered[key] = [tokenizer.apply_chat_template(conversation, **options)]
        return rendered[key]

    def remembered_reply(ids: Any, *given: Any, **options: Any) -> dict[str, Any]:
        key = tuple(ids)
        if key not in read:
            _make_room(read)
            read[key] = parsed(ids, *given, **options)
        return deepcopy(read[key])

    trainer._get_tool_suffix_ids = remembered_suffix_ids  # noqa: SLF001
    trainer._tokenize_prompts = _once_for_each_prompt(trainer)  # noqa: SLF001
    processor.apply_chat_template = quick_template
    tokenizer.parse_response = remembered_reply


def _once_for_each_prompt(trainer: Any) -> Callable[[list[Any]], tuple[list[list[int]], Any, dict[str, Any]]]:
    """Return TRL's ``_tokenize_prompts`` that works once on the prompt that the replies of a group share."""
    torch: Any = require("torch", extra="train")
    tokenize = trainer._tokenize_prompts  # noqa: SLF001

    def tokenized(prompts: list[Any]) -> tuple[list[list[int]], Any, dict[str, Any]]:
        names = trainer._batch_environments  # noqa: SLF001
        keys = [json.dumps([name, prompt], default=picture_digest) for name, prompt in zip(names, prompts, strict=True)]
        made: dict[str, tuple[list[list[int]], Any, dict[str, Any]]] = {}
        try:
            for key, name, prompt in zip(keys, names, prompts, strict=True):
                if key not in made:
                    trainer._batch_environments = [name]  # noqa: SLF001
                    made[key] = tokenize([prompt])
        finally:
            trainer._batch_environments = names  # noqa: SLF001
        ids = [list(made[key][0][0]) for key in keys]
        images = None if any(made[key][1] is None for key in keys) else [list(made[key][1][0]) for key in keys]
        fields: dict[str, list[Any]] = {}
        for key in keys:
            for name, value in made[key][2].items():
                fields.setdefault(name, []).append(value)
        return (
            ids,
            images,
            {
                name: torch.cat(values)
                if isinstance(values[0], torch.Tensor)
                else [row for one in values for row in one]
                for name, values in fields.items()
            },
        )

    return tokenized


def _has_picture(message: Any) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image" for part in content)


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= _WORDS_KEPT:
        kept.clear()


@contextmanager
def ready_images(processor: Any, keep: int = 2048) -> Iterator[None]:
    """Let a processor accept pictures at final size unchanged, and return their patches as bytes.

    The model must be one that takes bytes, see `patch_vision_inputs`: TRL copies the pictures of all replies turn after
    turn, and numbers made ready are eight times as large.

    It keeps the patches of the newest pictures: TRL asks for the same ones turn after turn, and the replies of a group
    open with the same one, though it may have come from other processes as copies. Meanwhile the processor takes no
    others; `geosleuth.lab.train.generator` makes them so.

    Args:
        processor: of a Qwen-VL model.
        keep: of how many pictures the patches are kept, some 0.4 MB each.
    """
    torch: Any = require("torch", extra="train")
    np: Any = require("numpy", extra="train")
    transformers: Any = require("transformers", extra="train")
    own, kind = processor.image_processor, type(processor.image_processor)
    collator, cell = Collator(processor), own.patch_size * own.merge_size
    kept: dict[str, tuple[Any, list[int]]] = {}

    def preprocess(_self: Any, images: Any = None, *_: Any, **__: Any) -> Any:
        rows, grids = [], []
        for image in _flat(images):
            name = picture_digest(image)
            if name not in kept:
                if len(kept) >= keep:
                    kept.clear()
                array = np.array(image.convert("RGB"), dtype=np.uint8)
                if array.shape[0] % cell or array.shape[1] % cell:
                    raise ValueError(f"a picture of {array.shape[1]} x {array.shape[0]} pixels is not at final size")
                grid = [1, array.shape[0] // own.patch_size, array.shape[1] // own.patch_size]
                kept[name] = collator.bytes_of_patches(torch.from_numpy(array)), grid
            cut, grid = kept[name]
            rows.append(cut)
            grids.append(grid)
        return transformers.BatchFeature({"pixel_values": torch.cat(rows), "image_grid_thw": torch.tensor(grids)})

    own.__class__ = type(kind.__name__, (kind,), {"preprocess": preprocess})
    try:
        yield
    finally:
        own.__class__ = kind


def _flat(images: Any) -> list[Any]:
    if isinstance(images, list | tuple):
        return [one for inner in images for one in _flat(inner)]
    return [] if images is None else [images]
