"""Chats, stores and recipes for tests of training, small enough for a model of 0.4 million weights.

As a program, a run that is killed with SIGKILL after so many steps, or while it saves then:
STORE MODEL RUN STEPS TUNED between|saving.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image

from geosleuth.agent import Budget, Trajectory, run
from geosleuth.agent.setup import AgentSetup
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.traces import Sample, write_store
from geosleuth.lab.train.masks import Chat
from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe, RunPart
from geosleuth.models.weights_engine import load_processor
from geosleuth.photo import encode
from geosleuth.tools import Toolset
from geosleuth.tools.image_tools import image_zoom_in_tool
from scripted import ScriptedPolicy, call, calls, says
from small_runs import small_case, small_method
from stored import about
from tiny_vlm import CHAT_TEMPLATE, tiny_vlm_folder

TOOLS = Toolset([image_zoom_in_tool])
THOUGHTS = ("Ein Schild: »Bäckerei«. 東京? No.", "So it is Hamburg \N{ANCHOR}.")
SAID = ("Let me look closer. Ünïcödé שלום", '{"lat": 53.55, "lon": 9.99}')
SHOWN = ("Nothing but harbour, und noch 港.", "A crop; it says nothing of tools.")

TEMPLATES = ("plain", "qwen3_vl", "qwen3_vl_training")
"""One of our own, and TRL's two for Qwen3-VL: as it is published, and with marks of what the assistant says."""

FORGETFUL = CHAT_TEMPLATE.replace(
    "{%- if message.reasoning_content -%}", "{%- if message.reasoning_content and loop.last -%}"
)
"""Leaves out what was thought in earlier turns, as some published templates do."""

WITHOUT_TOOLS = CHAT_TEMPLATE.replace("message.role == 'tool'", "message.role == 'nobody'").replace(
    "words or tools", "words"
).replace("{%- if tools -%}", "{%- if false -%}").replace("message.tool_calls or []", "[]")  # fmt: skip
"""Knows neither tools nor calls, as that of Qwen2.5-VL."""

WITHOUT_THOUGHTS = CHAT_TEMPLATE.replace("{%- if message.reasoning_content -%}", "{%- if false -%}")
"""Has no place for what was thought, as that of Qwen3-VL's instruct models."""


def template(name: str) -> str:
    """The text of one of `TEMPLATES`."""
    if name == "plain":
        return CHAT_TEMPLATE
    trl: Any = import_module("trl")
    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


def processor_with(text: str) -> Any:
    """The tiny model's processor with this chat template."""
    processor = load_processor(tiny_vlm_folder())
    processor.chat_template = text
    return processor


def _picture(colour: str, size: tuple[int, int] = (96, 64)) -> Image.Image:
    return Image.new("RGB", size, colour)


def tool_chat() -> Chat:
    """Two calls at once, a picture in each result, thoughts, several scripts, and words after the last reply."""
    zoom = [
        {"id": f"call-{number}", "type": "function", "function": {"name": "zoom", "arguments": {"box": [number, 2]}}}
        for number in (1, 2)
    ]
    results = [
        {"role": "tool", "name": "zoom", "tool_call_id": f"call-{number}",
         "content": [_text(SHOWN[number - 1]), {"type": "image", "image": _picture(colour, (64, 64 * number))}]}
        for number, colour in ((1, "blue"), (2, "green"))
    ]  # fmt: skip
    opening = [_text("image-1:"), {"type": "image", "image": _picture("red")}, _text("Where is this? Wo? どこ")]
    messages = [
        {"role": "system", "content": [_text("Find the place.")]},
        {"role": "user", "content": opening},
        {"role": "assistant", "content": [_text(SAID[0])], "reasoning_content": THOUGHTS[0], "tool_calls": zoom},
        *results,
        {"role": "assistant", "content": [_text(SAID[1])], "reasoning_content": THOUGHTS[1]},
        {"role": "user", "content": [_text("Thanks.")]},
    ]
    schema = {"type": "object", "properties": {"box": {"type": "array", "items": {"type": "number"}}}}
    described = {"name": "zoom", "description": "Look closer.", "parameters": schema}
    return Chat(messages, [{"type": "function", "function": described}], key="hand")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@cache
def short_run(number: int = 0) -> tuple[Trajectory, dict[str, bytes], tuple[Any, ...]]:
    """A run with thoughts, two calls and a crop; its pictures, and the conversations that its policy was shown."""
    where = ("harbour", "tower", "bridge", "market")[number % 4]
    script = [
        calls(
            call("image_zoom_in_tool", bbox_2d=[9, 0, 80, 60]),
            call("image_zoom_in_tool", bbox_2d=[0, 0, 90, 60 + number]),
            text=f"A sign reads {where} {number}.", thinking=f"Look at the {where} first." + " And on." * (3 * number),
        ),
        says(f'{{"lat": {50 + number}.5, "lon": 9.99}}'),
    ]  # fmt: skip
    policy, case = ScriptedPolicy(script), small_case()
    method = small_method(budget=Budget(turns=4), tools=("image_zoom_in_tool",))
    made = asyncio.run(run(case, AgentSetup(method=method, policy=policy, toolset=TOOLS)))
    pictures = {image.handle: encode(case.album[image.handle]) for image in made.images}
    return made, pictures, tuple(policy.seen)


def short_sample(number: int = 0) -> Sample:
    """The same as a sample of a store."""
    made, pictures, _ = short_run(number)
    truth = Truth(LatLon(53.5, 10.0), "DE", "Hamburg", "Hamburg")
    made = replace(made, id=f"{number:016x}")
    key = f"short-{number}"
    return Sample(key=key, trajectory=made, images=pictures, scene=key, source="spotagent", truth=truth)


def short_store(folder: Path, count: int = 4) -> Path:
    """A store of so many of them."""
    write_store(folder, (short_sample(number) for number in range(count)), about(name="short"))
    return folder


def recipe(weights: Path, store: Path | None, **changes: Any) -> Recipe:
    """A recipe of few steps for a CPU; give parts of it to change them, as mappings."""
    parts = {
        "model": {"path": str(weights), "rank": 4, "alpha": 8, "max_pixels": 64 * 64},
        "data": {"store": store},
        "optim": {
            "learning_rate": 1e-3, "epochs": 2.0, "batch": 2, "micro_batch": 2, "max_length": 2048,
            "gradient_checkpointing": False, "warmup_share": 0.0,
        },
        "run": {"save_steps": 1, "keep": 2, "tensorboard": False, "seed": 3},
    }  # fmt: skip
    whole = {name: part | changes.get(name, {}) for name, part in parts.items()}
    return Recipe(
        name="tiny",
        stage=changes.get("stage", "coldstart"),
        model=ModelPart(**whole["model"]),
        data=DataPart(**whole["data"]),
        optim=OptimPart(**whole["optim"]),
        run=RunPart(**whole["run"]),
    )


def short_recipe(weights: Path, store: Path, tuned: str) -> Recipe:
    """Two epochs of two steps."""
    return recipe(weights, store, model={"tuned": tuned}, data={"limit": 3})


def killer(after: int) -> Any:
    """A callback that kills this process between two steps, as `kill -9` does."""
    transformers: Any = import_module("transformers")

    class Killer(transformers.TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if state.global_step == after:
                os.kill(os.getpid(), signal.SIGKILL)

    return Killer()


def kill_while_saving(step: int) -> None:
    """Have this process die within the writing of a checkpoint, with the weights on disk and the rest not."""
    transformers: Any = import_module("transformers")
    save = transformers.Trainer._save_rng_state

    def dying(self: Any, folder: str) -> None:
        if self.state.global_step == step:
            os.kill(os.getpid(), signal.SIGKILL)
        save(self, folder)

    transformers.Trainer._save_rng_state = dying


if __name__ == "__main__":
    import torch

    from geosleuth.lab.train.sft import run_sft
    from geosleuth.photo.runtime import no_probing

    torch.set_num_threads(1)
    stored, model, steps, tuned, when, *folders = sys.argv[1:]
    with no_probing():
        stops = [killer(int(steps))] if when == "between" else []
        if when == "saving":
            kill_while_saving(int(steps))
    plan = short_recipe(Path(model), Path(stored), tuned)
    for folder in folders:
        told: list[tuple[int, int]] = []
        run_sft(plan, Path(folder), callbacks=stops, progress=lambda *now, told=told: told.append(now))
        print(json.dumps(told))
