"""What a tiny model is made to say in reinforcement learning: a stand-in for a trained one.

The model runs in full, and every token has the model's own probability; only the choice among the tokens is taken from
it.
"""

import csv
import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe, RolloutPart, RunPart
from tiny_vlm import make_tiny_vlm
from tool_cases import sign

NEAR = json.dumps({"lat": 43.7384, "lon": 7.4246, "country": "Monaco"})
FAR = json.dumps({"lat": -33.87, "lon": 151.21, "country": "Australia"})
MIDDLE = json.dumps({"lat": 43.7, "lon": 7.27, "country": "France"})
TRUTH = {"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}


def called(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def script(model: Any, tokenizer: Any, said: Callable[[int], Sequence[str]]) -> None:
    """Make the model say what ``said`` gives for a generation of so many rows."""
    script_by_prompt(model, tokenizer, lambda prompts: said(len(prompts)))


def script_by_prompt(model: Any, tokenizer: Any, said: Callable[[Sequence[str]], Sequence[str]]) -> None:
    """Make the model say what ``said`` gives for the prompts of a generation, tool results included."""
    ids_of, end = partial(tokenizer, add_special_tokens=False), tokenizer.eos_token_id

    def generate(*given: Any, **options: Any) -> Any:
        wanted = [[*ids_of(text)["input_ids"], end] for text in said(tokenizer.batch_decode(options["input_ids"]))]
        start = options["input_ids"].shape[1]

        def force(input_ids: Any, scores: Any) -> Any:
            forced = scores.new_full(scores.shape, float("-inf"))
            for row, ids in enumerate(wanted):
                token = ids[min(input_ids.shape[1] - start, len(ids) - 1)]
                forced[row, token] = scores[row, token]
            return forced

        return type(model).generate(model, *given, logits_processor=[force], **options)

    model.generate = generate


def make_tiny(folder: Path) -> Path:
    """A tiny model whose chat template TRL can read calls from."""
    trl: Any = import_module("trl")
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_vl.jinja").read_text(encoding="utf-8")
    return make_tiny_vlm(folder, chat_template=template)


def make_photos(folder: Path, count: int) -> Path:
    """A data set of photos that all were taken at one place."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "photos.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, ["id", "image", *TRUTH])
        table.writeheader()
        for number in range(count):
            sign(f"Rue {number}", size=(96, 64), letter=12).save(folder / f"{number}.png")
            table.writerow({"id": f"photo-{number}", "image": f"{number}.png", **TRUTH})
    return folder / "photos.csv"


def tiny_recipe(
    model: Path,
    photos: Path,
    rollout: RolloutPart,
    *,
    optim: OptimPart | None = None,
    lora: bool = False,
    save_steps: int = 100,
) -> Recipe:
    """A recipe for a few steps on a CPU."""
    return Recipe(
        name="tiny",
        stage="grpo",
        model=ModelPart(
            path=str(model), dtype="float32", tuned="lora" if lora else "full", rank=4, alpha=8, targets=("q_proj",)
        ),
        data=DataPart(photos=(str(photos),)),
        optim=optim
        or OptimPart(
            batch=1,
            micro_batch=rollout.group,
            steps=1,
            learning_rate=1e-3,
            warmup_share=0,
            gradient_checkpointing=False,
        ),
        rollout=rollout,
        run=RunPart(tensorboard=False, save_steps=save_steps),
    )
