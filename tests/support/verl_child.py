"""Loads what was written for verl with verl's own code, calls the tools, and prints what came of it."""

import asyncio
import contextlib
import json
import sys
from importlib import import_module
from typing import Any

from geosleuth.lab.scenes.environment.for_verl import compute_score

ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}'
TOOLS, ROWS, MODEL = sys.argv[1:]


def dataset() -> Any:
    """The rows as verl's data set has them, with the tools in their prompts."""
    config: Any = import_module("omegaconf").OmegaConf.create(
        {"filter_overlong_prompts": False, "max_prompt_length": 100_000, "tool_config_path": TOOLS, "cache_dir": "/tmp"}  # noqa: S108
    )
    processor = import_module("geosleuth.models.weights_engine").load_processor(import_module("pathlib").Path(MODEL))
    made: Any = import_module("verl.utils.dataset.rl_dataset").RLHFDataset
    return made(ROWS, processor.tokenizer, config, processor)


class Rollout:
    """What of a rollout's state the tools look at; verl's own class wants an inference engine to be imported."""

    def __init__(self, tools_kwargs: dict[str, Any]) -> None:
        self.tools_kwargs = tools_kwargs


async def called(row: dict[str, Any], tools: list[Any]) -> tuple[Any, ...]:
    """Calls of one rollout, all at once, each as verl's agent loop makes it: create, execute, release."""
    rollout, by_name = Rollout(row["tools_kwargs"]), {tool.name: tool for tool in tools}

    async def call(name: str, arguments: Any) -> Any:
        instance, _ = await by_name[name].create(create_kwargs={})
        answer, reward, _ = await by_name[name].execute(instance, arguments, agent_data=rollout)
        await by_name[name].release(instance)
        return answer, reward

    return await asyncio.gather(
        call("image_zoom_in_tool", {"bbox_2d": [0, 0, 400, 200]}),
        call("maps_geocode", {"address": "Monaco"}),
        call("maps_geocode", {"address": "", "unheard_of": []}),
        call("image_zoom_in_tool", []),
    )


with contextlib.redirect_stdout(sys.stderr):
    tools = import_module("verl.tools.tool_registry").load_all_tools(TOOLS, None)
    rows = dataset()
    row = rows[0]
    answers = asyncio.run(called(row, tools))
    truth, extra = row["reward_model"]["ground_truth"], row["extra_info"]
    solution = f"<tool_call>..</tool_call>user\n<tool_response>\n{ANSWER}\n</tool_response>assistant\n"
    told = {
        "version": import_module("verl").__version__,
        "rows": len(rows),
        "tools": [tool.name for tool in tools],
        "in_prompts": len(rows.tool_schemas),
        "roles": [message["role"] for message in row["raw_prompt"]],
        "parts": [part["type"] for part in row["raw_prompt"][1]["content"]],
        "words": json.dumps([row["raw_prompt"][0], row["tools_kwargs"]]),
        "answers": [[answer.text, [image.size for image in answer.image or []]] for answer, _ in answers],
        "scores": [compute_score(row["data_source"], f"{solution}{end}", truth, extra) for end in (ANSWER, "Nowhere.")],
    }
print(json.dumps(told))
