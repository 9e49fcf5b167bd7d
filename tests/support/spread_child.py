"""The command ``geosleuth``, for runs of a tiny model on a CPU, alone or of processes together.

    accelerate launch --config_file SPREAD.json spread_child.py train sft ...

Two things may differ from the command itself. accelerate 1.15 shards (FSDP) on accelerators alone: `AcceleratorState`
keeps "MULTI_CPU" whatever its configuration says. Here it takes a CPU for one more accelerator, and everything that
follows is its own. And where ``REPLAYED`` is set, replies are those of a script: each reply of a step calls a tool, and
then answers what is due at its place in the batch of all processes. The model runs in full, see `scripted_grpo`.
``REACHED`` names a file for whatever Python looks up or connects to beyond this machine.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from scripted_grpo import FAR, MIDDLE, NEAR, called, script


def shard_on_cpu() -> None:
    """Let accelerate shard with processes on a CPU, and say how much of the weights each of them holds."""
    state: Any = import_module("accelerate.state")
    kind, shared, types = state.AcceleratorState, state.PartialState._shared_state, state.DistributedType
    made = kind.__init__

    def make(self: Any, *given: Any, **options: Any) -> None:
        made(self, *given, **options)
        if self.distributed_type == types.MULTI_CPU:
            self.distributed_type = shared["distributed_type"] = types.FSDP
            self.fsdp_plugin = options["fsdp_plugin"]

    kind.__init__ = make
    module: Any = import_module("accelerate.accelerator")
    prepared = module.fsdp2_prepare_model

    def prepare(*given: Any) -> Any:
        model = prepared(*given)
        weights = list(model.parameters())
        own, whole = (sum(one.numel() for one in some) for some in ([one.to_local() for one in weights], weights))
        print(f"holds {own} of {whole} weights", file=sys.stderr)
        return model

    module.fsdp2_prepare_model = prepare


def replay() -> None:
    """Have the model say what stands in the script."""
    from geosleuth.lab.train import grpo, models

    module: Any = grpo
    rank, turn = int(os.environ.get("RANK", "0")), 0

    def said(rows: int) -> list[str]:
        nonlocal turn
        turn += 1
        places = range(rank * rows, (rank + 1) * rows)
        if turn % 2:
            return [called("image_zoom_in_tool", bbox_2d=[0, 0, 32 + 8 * place, 32]) for place in places]
        return [(NEAR, FAR, MIDDLE, MIDDLE, FAR)[(turn // 2 + place) % 5] for place in places]

    def scripted(part: Any) -> tuple[Any, Any]:
        model, processor = models.load_model(part)
        script(model, processor.tokenizer, said)
        return model, processor

    module.load_model = scripted


def watch(file: Path) -> None:
    """Write down whom Python wants to reach; sockets between processes of one machine have a path for an address."""
    file.touch()

    def hear(event: str, given: tuple[Any, ...]) -> None:
        address = given[1] if event == "socket.connect" else given[0] if event == "socket.getaddrinfo" else None
        if event == "socket.getaddrinfo" or isinstance(address, tuple):
            with file.open("a", encoding="utf-8") as stream:
                stream.write(f"{event} {address}\n")

    sys.addaudithook(hear)


if __name__ == "__main__":
    if reached := os.environ.get("REACHED"):
        watch(Path(reached))
    from geosleuth.cli import main

    if os.environ.get("ACCELERATE_USE_FSDP") == "true":
        shard_on_cpu()
    if os.environ.get("REPLAYED"):
        replay()
    main()
