"""One rollout in verl's own agent loop, by a tiny model on the CPU, from files that were written for verl.

    python verl_rollout.py CONFIG.yaml MODEL-FOLDER FOLDER-WITH-TORCHVISION

verl samples with vLLM or SGLang, which need a GPU. In their place stands a client that has transformers' ``generate``
of the same model; what it says is forced, see `tiny_vlm`. Data set, agent loop, tools and reward manager are verl's.
"""

import asyncio
import contextlib
import json
import sys
from importlib import import_module
from typing import Any

from scripted_grpo import NEAR, called
from tiny_vlm import force

sys.path.append(sys.argv[3])
# PyPI's torchvision is built for CUDA's torch; the CPU's imports it once two operators have a name. Nobody calls them.
for name in ("nms", "qnms"):
    import_module("torch").library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float most) -> Tensor")

SAID = (called("image_zoom_in_tool", bbox_2d=[0, 0, 400, 200]), called("maps_geocode", address="Monaco"), NEAR)


def client_class() -> Any:
    """A client of verl's that asks a model in this process."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    base: Any = import_module("verl.workers.rollout.llm_server").LLMServerClient
    output: Any = import_module("verl.workers.rollout.replica").TokenOutput

    class Client(base):  # type: ignore[misc]
        def __init__(self, config: Any, folder: str) -> None:
            super().__init__(config)
            self._model = transformers.AutoModelForImageTextToText.from_pretrained(folder)
            self._processor = transformers.AutoProcessor.from_pretrained(folder)
            self._texts = iter(SAID)

        async def generate(
            self, request_id: str, *, prompt_ids: list[int], image_data: list[Any] | None = None, **_: Any
        ) -> Any:
            assert request_id
            seen = self._processor.image_processor(images=image_data, return_tensors="pt")
            ids = torch.tensor([prompt_ids])
            told = force(self._model, self._processor.tokenizer, next(self._texts))(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                mm_token_type_ids=(ids == self._processor.image_token_id).long(),
                **{name: torch.as_tensor(seen[name]) for name in ("pixel_values", "image_grid_thw")},
                max_new_tokens=200,
            )
            return output(token_ids=told[0, len(prompt_ids) :].tolist(), stop_reason="completed")

    return Client


async def rollout(config: Any, folder: str) -> dict[str, Any]:
    """Play the first row; what came of it, in plain words."""
    loop: Any = import_module("verl.experimental.agent_loop.agent_loop")
    rows: Any = import_module("verl.utils.dataset.rl_dataset")
    protocol: Any = import_module("verl.protocol").DataProto
    worker = loop.AgentLoopWorker(config, client_class()(config, folder))
    found = rows.RLHFDataset(config.data.train_files, worker.tokenizer, config.data, worker.processor)
    batch = protocol.from_single_dict(rows.collate_fn([found[0]]))
    played = await worker.generate_sequences(batch)
    manager = import_module("verl.trainer.ppo.reward").load_reward_manager(config, worker.tokenizer)
    scored = await manager.run_single(batch.union(played))
    reply, mask = played.batch["responses"][0], played.batch["response_mask"][0].bool()
    seen = played.non_tensor_batch["multi_modal_inputs"][0]
    return {
        "rows": len(found),
        "turns": int(played.non_tensor_batch["__num_turns__"][0]),
        "learned": worker.tokenizer.decode(reply[mask]),
        "heard": worker.tokenizer.decode(reply[~mask], skip_special_tokens=True),
        "pictures": len(seen["image_grid_thw"]),
        "score": scored["reward_score"],
    }


with contextlib.redirect_stdout(sys.stderr):
    told = asyncio.run(rollout(import_module("omegaconf").OmegaConf.load(sys.argv[1]), sys.argv[2]))
print(json.dumps(told))
