"""One GRPO step of a large model with random weights, with pictures and a tool: memory and speed.

    python benchmarks/step_memory.py --processor examples/nano/model --size 8b --tuned lora --out step.json

No weights are needed: the model is drawn at random, and what it writes is chosen for it (a zoom, then an answer), while
every token passes through the whole model. Sizes "2b", "4b" and "8b" have Qwen3-VL's shapes and vocabulary; "tiny" is
for a rehearsal on a CPU. The peak is torch's own; the estimate is `train dry-run`'s, at the lengths that the step had.
"""

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

_EYES = {
    "depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "patch_size": 16,
    "spatial_merge_size": 2, "temporal_patch_size": 2, "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [5, 11, 17],
}  # fmt: skip
_ROPE = {"rope_type": "default", "rope_theta": 5e6, "mrope_section": [24, 20, 20], "mrope_interleaved": True}
# Hidden width, inner width, layers, heads, key heads, tokens; by published Qwen3-VL models of these sizes.
SIZES = {
    "tiny": (64, 128, 2, 4, 2, 8192),
    "2b": (2048, 6144, 28, 16, 8, 151936),
    "4b": (2560, 9728, 36, 32, 8, 151936),
    "8b": (4096, 12288, 36, 32, 8, 151936),
}
ZOOM = {"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 500, 500]}}
ANSWERS = (
    '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}',
    '{"lat": -33.87, "lon": 151.21, "country": "Australia"}',
)


def main() -> None:
    """Run the step and write what it took."""
    given = parsed()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("GEOSLEUTH_HOME", tempfile.mkdtemp())
    found = measured(given)
    text = json.dumps(found, indent=1)
    sys.stdout.write(text + "\n")
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    """Return the parsed arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor", type=Path, required=True, help="a folder with tokenizer and processor")
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    parser.add_argument("--tuned", choices=["full", "lora"], default="lora")
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument("--words", type=int, default=400, help="words of reasoning before an answer")
    parser.add_argument("--side", type=int, default=1024, help="pixels of a photo's side")
    parser.add_argument("--steps", type=int, default=2, help="the first one also allocates")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def configuration(size: str, processor: Any) -> dict[str, Any]:
    """Return the model's configuration, with the processor's own tokens."""
    hidden, inner, layers, heads, keys, tokens = SIZES[size]
    each = 128 if size != "tiny" else 16
    rope = _ROPE if size != "tiny" else {**_ROPE, "mrope_section": [4, 2, 2]}
    ids = processor.tokenizer.convert_tokens_to_ids
    eyes = _EYES if size != "tiny" else {**_EYES, "depth": 2, "hidden_size": 64, "intermediate_size": 128,
                                         "num_heads": 2, "deepstack_visual_indexes": [0]}  # fmt: skip
    return {
        "model_type": "qwen3_vl",
        "tie_word_embeddings": size in ("tiny", "2b", "4b"),
        "text_config": {
            "vocab_size": tokens, "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": each,
            "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_parameters": rope,
            "tie_word_embeddings": size in ("tiny", "2b", "4b"),
        },
        "vision_config": {**eyes, "out_hidden_size": hidden},
        "image_token_id": ids("<|image_pad|>"), "video_token_id": ids("<|video_pad|>"),
        "vision_start_token_id": ids("<|vision_start|>"), "vision_end_token_id": ids("<|vision_end|>"),
    }  # fmt: skip


def measured(given: argparse.Namespace) -> dict[str, Any]:
    """Return memory, speed and lengths of a step, and what was estimated."""
    import torch
    import transformers

    from geosleuth.lab.train.architectures import compute_shape
    from geosleuth.lab.train.estimate import estimate
    from geosleuth.lab.train.grpo import grpo_trainer
    from geosleuth.lab.train.models import freeze_vision, has_gpu, open_processor
    from geosleuth.lab.train.prompts import prompt_rows
    from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe, RolloutPart, RunPart

    work = Path(tempfile.mkdtemp())
    gpu = has_gpu()
    part = ModelPart(
        path=str(given.processor), tuned=given.tuned, freeze_vision=True, dtype="bfloat16" if gpu else "float32",
        max_pixels=given.side**2,
    )  # fmt: skip
    processor = open_processor(part)
    config = configuration(given.size, processor)
    shape = compute_shape(config)
    family = transformers.Qwen3VLForConditionalGeneration
    torch.manual_seed(0)
    began = time.monotonic()
    half = gpu and given.tuned == "lora"
    with torch.device("cuda" if gpu else "cpu"):
        torch.set_default_dtype(torch.bfloat16 if half else torch.float32)
        model = family(family.config_class.from_dict(config))
        torch.set_default_dtype(torch.float32)
    freeze_vision(model)
    built_s = time.monotonic() - began
    recipe = Recipe(
        name="step", stage="grpo", model=part, data=DataPart(photos=(str(photos(work, given.side)),)),
        optim=OptimPart(batch=1, micro_batch=given.micro_batch, steps=given.steps, learning_rate=1e-5, warmup_share=0),
        rollout=RolloutPart(method="smilegeo", reward="spotagent", group=given.group, reply_tokens=8192,
                            tools=("image_zoom_in_tool",), turns=4),
        run=RunPart(tensorboard=False, save_steps=1000),
    )  # fmt: skip
    marks = Marks(torch, gpu=gpu)
    trainer = grpo_trainer(
        model, processor, prompt_rows(recipe.data), recipe, work / "run", callbacks=[marks.callback(transformers)]
    )
    write_for(trainer.model, processor.tokenizer, given.words)
    trainer.train()
    (batch, *_) = trainer._buffered_inputs  # noqa: SLF001  (lengths as TRL has them)
    prompt, reply = batch["prompt_ids"].shape[1], batch["completion_ids"].shape[1]
    rollout = replace(recipe.rollout, prompt_tokens=prompt, reply_tokens=reply)
    said = estimate(replace(recipe, rollout=rollout), shape)
    told = [line for line in trainer.state.log_history if "reward" in line]
    peak = marks.peak_gb
    return {
        "model": given.size, "weights": shape.weights, "tuned": given.tuned, "device": marks.device,
        "torch": torch.__version__, "transformers": transformers.__version__, "built_s": round(built_s, 1),
        "group": given.group, "micro_batch": given.micro_batch, "prompt_tokens": prompt, "reply_tokens": reply,
        "steps_s": marks.steps_s, "tokens_per_second": marks.speed(given.group * (prompt + reply)),
        "drawn_tokens_per_second": marks.speed(given.group * reply),
        "calls": told[-1].get("tools/calls"), "failure_rate": told[-1].get("tools/failure_rate"),
        "reward": told[-1]["reward"], "loss": told[-1].get("loss"), "grad_norm": told[-1].get("grad_norm"),
        "peak_gb": peak, "reserved_gb": marks.reserved_gb, "estimated_gb": round(said.memory.peak, 2),
        "estimate_over_peak": round(said.memory.peak / peak, 3) if peak else None,
        "estimate": {name: round(value, 2) for name, value in asdict(said.memory).items()},
        "peak_by_part_gb": marks.parts,
    }  # fmt: skip


def photos(folder: Path, side: int) -> Path:
    """Return a data set of one photo of noise."""
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(0).integers(0, 255, (side // 16, side // 16, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((side, side)).save(folder / "photo.png")
    with (folder / "photos.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(
            [("id", "image", "lat", "lon", "country"), ("one", "photo.png", 43.7384, 7.4246, "Monaco")]
        )
    return folder / "photos.csv"


def write_for(model: Any, tokenizer: Any, words: int) -> None:
    """Make the model zoom first, then reason and answer; each token is one that the model has scored."""
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    ids_of, end = tokenizer, tokenizer.eos_token_id
    call = f"<tool_call>\n{json.dumps(ZOOM)}\n</tool_call>"
    turn = {"rows": 0}

    def wanted(row: int, *, first: bool) -> list[int]:
        text = call if first else "evidence " * words + ANSWERS[row % 2]
        return [*ids_of(text, add_special_tokens=False)["input_ids"], end]

    own = type(plain).generate

    def generate(*given: Any, **options: Any) -> Any:
        rows, start = options["input_ids"].shape
        first = turn["rows"] % 2 == 0
        turn["rows"] += 1
        texts = [wanted(row, first=first) for row in range(rows)]

        def force(input_ids: Any, scores: Any) -> Any:
            forced = scores.new_full(scores.shape, float("-inf"))
            for row, ids in enumerate(texts):
                token = ids[min(input_ids.shape[1] - start, len(ids) - 1)]
                forced[row, token] = scores[row, token]
            return forced

        return own(plain, *given, logits_processor=[force], **options)

    plain.generate = generate
    if plain is not model:
        model.generate = generate


class Marks:
    """Memory and seconds of each step, by torch's own counters."""

    def __init__(self, torch: Any, *, gpu: bool) -> None:
        """Nothing is read before the first step."""
        self._torch, self._gpu = torch, gpu
        self.steps_s: list[float] = []
        self.parts: list[dict[str, float | None]] = []
        self.device = torch.cuda.get_device_name(0) if gpu else "CPU"
        self._at = time.monotonic()

    def _gb(self, name: str) -> float | None:
        return round(getattr(self._torch.cuda, name)() / 1e9, 2) if self._gpu else None

    @property
    def peak_gb(self) -> float | None:
        """The most that was allocated at one time, in 10^9 bytes."""
        return self._gb("max_memory_allocated")

    @property
    def reserved_gb(self) -> float | None:
        """The most that torch took from the device."""
        return self._gb("max_memory_reserved")

    def speed(self, tokens: int) -> float | None:
        """Return tokens a second in the last step."""
        return round(tokens / self.steps_s[-1], 1) if self.steps_s else None

    def callback(self, transformers: Any) -> Any:
        """Return the callback that reads them."""
        marks = self

        class Reading(transformers.TrainerCallback):  # type: ignore[misc]
            def on_step_begin(self, *_: Any, **__: Any) -> None:
                marks._at = time.monotonic()

            def on_step_end(self, *_: Any, **__: Any) -> None:
                if marks._gpu:
                    marks._torch.cuda.synchronize()
                    marks.parts.append({"held": marks._gb("memory_allocated"), "peak": marks.peak_gb})
                marks.steps_s.append(round(time.monotonic() - marks._at, 2))

        return Reading()


if __name__ == "__main__":
    main()
