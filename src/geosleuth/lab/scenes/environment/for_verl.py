"""The environment for verl: tools, rows in Parquet, a configuration, a script that starts it; a tool class, a reward.

verl (0.9 on) makes one object per tool in a worker and hands every call the state of its rollout; all tools of a
rollout share one episode here. The tools' workers never get the truth: it lies in the rows under
``reward_model.ground_truth``, which goes to `compute_score` alone. Answers are replies. verl is imported only inside
the tool, where it is at work anyway.
"""

import json
import weakref
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

from geosleuth.answer import Answer
from geosleuth.lab.bench.sets import Item
from geosleuth.models import Step
from geosleuth.photo import encode, open_photo
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import write_bytes_atomically, write_text_atomically
from geosleuth.tools import ToolCall, native_tools

from .episode import Episode, Posed, Setting, build_photo_row, build_setting, get_part, truth_of_row

TOOLS_FILE, ROWS_FILE, CONFIG_FILE, SCRIPT_FILE = "tools.yaml", "rows.parquet", "grpo.yaml", "train.sh"
DATA_SOURCE = "geosleuth"
_KEY = "geosleuth"
_TOOL_CLASS = f"{__name__}.GeoTool"
# Where the files are; the script sets it.
_HERE = "${oc.env:GEOSLEUTH_VERL}"
_SCRIPT = f"""\
#!/bin/bash
# Train with verl 0.9: bash {SCRIPT_FILE} /models/qwen3-vl-8b [any setting of verl's, such as trainer.n_gpus_per_node=4]
set -euo pipefail
GEOSLEUTH_VERL=$(cd "$(dirname "$0")" && pwd)
export GEOSLEUTH_VERL
model=$1
shift
exec python -m verl.trainer.main_ppo --config-dir "$GEOSLEUTH_VERL" --config-name {CONFIG_FILE.removesuffix(".yaml")} \\
  actor_rollout_ref.model.path="$model" "$@"
"""
# verl cuts what a tool says to so many characters; 256 by default, which would cut most of it.
_MAX_TOOL_CHARACTERS = 20_000
# What verl's chat templates put between the tools' words and the model's.
_AFTER_TOOLS = "</tool_response>"


def write_verl(folder: Path, items: Iterable[Item], words: Mapping[str, Any]) -> int:
    """Write rows, tools, verl's configuration and a script that starts it into a folder; return the number of rows.

    Args:
        folder: made where it is not there; files of these names are replaced.
        items: the photos, which must be files of their own: tools cut from the originals.
        words: how episodes are played, see `setting_of`; answers are always replies.

    Raises:
        BadInput: a photo or a word can't be used.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = require("pyarrow", extra="lab"), require("pyarrow.parquet", extra="lab")
    played = {**words, "answer_by": "reply"}
    setting = build_setting(played)
    rows = [_build_verl_row(number, item, setting, played) for number, item in enumerate(items)]
    if not rows:
        raise BadInput("there is no photo to write rows for")
    folder.mkdir(parents=True, exist_ok=True)
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(rows), sink)
    write_bytes_atomically(folder / ROWS_FILE, sink.getvalue().to_pybytes())
    write_text_atomically(folder / TOOLS_FILE, tools_yaml(setting, played))
    write_text_atomically(folder / CONFIG_FILE, config_yaml(setting))
    write_text_atomically(folder / SCRIPT_FILE, _SCRIPT)
    return len(rows)


def tools_yaml(setting: Setting, words: Mapping[str, Any]) -> str:
    """Return the tools as verl's ``tool_config_path`` names them."""
    import yaml

    config = {"type": "native", **words}
    tools = [
        {"class_name": _TOOL_CLASS, "config": dict(config), "tool_schema": schema}
        for schema in native_tools(setting.toolset)
    ]
    return yaml.safe_dump({"tools": tools}, sort_keys=False, allow_unicode=True, width=120)


def config_yaml(setting: Setting) -> str:
    """Return what of verl's configuration differs from its own: files, tools, turns, the reward, and GRPO on 8 GPUs."""
    import yaml

    turns = {"enable": True, "format": "hermes", "tool_config_path": f"{_HERE}/{TOOLS_FILE}"}
    limits = {"max_assistant_turns": setting.budget.turns, "max_tool_response_length": _MAX_TOOL_CHARACTERS}
    rows = f"{_HERE}/{ROWS_FILE}"
    config = {
        "defaults": ["ppo_trainer", "_self_"],
        "data": {
            "train_files": rows, "val_files": rows, "train_batch_size": 64, "filter_overlong_prompts": True,
            "max_prompt_length": 8192, "max_response_length": 8192,
        },
        "actor_rollout_ref": {
            "actor": {
                "optim": {"lr": 1e-6}, "ppo_mini_batch_size": 32, "ppo_micro_batch_size_per_gpu": 1,
                "use_kl_loss": True, "kl_loss_coef": 0.001,
            },
            "ref": {"log_prob_micro_batch_size_per_gpu": 1},
            "rollout": {
                "name": "vllm", "n": 8, "tensor_model_parallel_size": 1, "log_prob_micro_batch_size_per_gpu": 1,
                "multi_turn": turns | limits, "agent": {"default_agent_loop": "tool_agent"},
            },
        },
        "algorithm": {"adv_estimator": "grpo"},
        "reward": {"custom_reward_function": {"path": f"pkg://{__name__}", "name": compute_score.__name__}},
        "trainer": {
            "project_name": DATA_SOURCE, "experiment_name": setting.method.name, "logger": ["console"],
            "n_gpus_per_node": 8, "nnodes": 1,
        },
    }  # fmt: skip
    return yaml.safe_dump(config, sort_keys=False, width=120)


def _build_verl_row(number: int, item: Item, setting: Setting, words: Mapping[str, Any]) -> dict[str, Any]:
    truth = build_photo_row(item)
    photo = truth.pop("photo")
    episode = Episode(Posed((open_photo(photo),)), setting)
    shown = [encode(episode.case.album[info.handle]) for info in episode.images]
    captions = "".join(f"\n{info.caption}\n<image>" for info in episode.images)
    return {
        "data_source": DATA_SOURCE,
        "agent_name": "tool_agent",
        "prompt": [
            {"role": "system", "content": episode.system},
            {"role": "user", "content": f"{episode.prompt}{captions}"},
        ],
        "images": [{"bytes": content} for content in shown],
        "ability": "geolocation",
        "reward_model": {"style": "rule", "ground_truth": json.dumps(truth, ensure_ascii=False)},
        "extra_info": {
            "index": number,
            **get_part(item),
            "need_tools_kwargs": True,
            "tools_kwargs": {_KEY: {"photo": photo}},
            "played": json.dumps(dict(words), ensure_ascii=False),
        },
    }


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any] | None = None, **_more: Any
) -> float:
    """Return a reward function for verl's ``custom_reward_function``: what the last words of a rollout earn.

    Raises:
        BadInput: the row was not made by `write_verl`.
    """
    if data_source != DATA_SOURCE or not extra_info or "played" not in extra_info:
        raise BadInput(f"this row is of {data_source!r}; the reward reads rows that geosleuth wrote")
    setting = _setting(extra_info["played"])
    return setting.score_answer(parse_reply_answer(solution_str, setting), truth_of_row(json.loads(ground_truth)))


def parse_reply_answer(reply: str, setting: Setting) -> Answer:
    """Return the answer in what a model wrote, without what tools said before it."""
    return setting.method.read_answer(reply.rpartition(_AFTER_TOOLS)[2])


@cache
def _setting(played: str) -> Setting:
    return build_setting(json.loads(played))


class GeoTool:
    """One tool of verl's; it has what verl asks of its ``BaseTool``."""

    _episodes: ClassVar["weakref.WeakKeyDictionary[Any, Episode]"] = weakref.WeakKeyDictionary()

    def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
        """Take the config and the schema of the YAML file."""
        self.config = config
        self.tool_schema = tool_schema
        self.name: str = tool_schema.function.name
        played = {name: value for name, value in config.items() if name != "type"}
        self._setting = _setting(json.dumps(played, sort_keys=True))

    def get_openai_tool_schema(self) -> Any:
        """Return the schema, as verl read it."""
        return self.tool_schema

    async def create(self, instance_id: str | None = None, **_more: Any) -> tuple[str, Any]:
        """Return an id for a call; shared state belongs to the rollout."""
        return instance_id or str(uuid4()), _response()

    async def execute(
        self, instance_id: str, parameters: dict[str, Any], **given: Any
    ) -> tuple[Any, float, dict[str, Any]]:
        """Make the call in the rollout's episode; return text and pictures, no reward yet, and metrics."""
        episode = await self._episode(given["agent_data"])
        result = await episode.step(Step(calls=(ToolCall(instance_id, self.name, parameters),)))
        seen = result.observations[0]
        pictures = [episode.case.album[info.handle].image for info in seen.images]
        captions = [info.caption for info in seen.images]
        text = "\n\n".join((self._setting.words(seen), *captions, *result.words))
        return _response(text, pictures), 0.0, {"failed": float(seen.failure is not None)}

    async def calc_reward(self, instance_id: str, **_more: Any) -> float:  # noqa: ARG002  (verl's own names)
        """Return nothing: answers earn, calls do not."""
        return 0.0

    async def release(self, instance_id: str, **_more: Any) -> None:
        """Do nothing: a call holds no state."""

    async def _episode(self, rollout: Any) -> Episode:
        episode = self._episodes.get(rollout)
        if episode is None:
            # Known before anything is awaited: calls of one reply come at once.
            photo = rollout.tools_kwargs[_KEY]["photo"]
            episode = self._episodes[rollout] = Episode(Posed((open_photo(photo),)), self._setting)
            weakref.finalize(rollout, episode.drop)
            await episode.begin()
        return episode


def _response(text: str | None = None, pictures: list[Any] | None = None) -> Any:
    schemas: Any = import_module("verl.tools.schemas")
    return schemas.ToolResponse(text=text, **({"image": pictures} if pictures else {}))
