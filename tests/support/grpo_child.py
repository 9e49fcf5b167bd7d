"""A run of reinforcement learning in a process of its own, which is killed in the middle of drawing replies.

    python grpo_child.py RECIPE.json GENERATIONS RUN-FOLDER ...

Replies are near or far by the throw of the same dice as all other chance of a run. After so many generations the
process kills itself, as a machine that goes down would; 0 lets it come to its end.
"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from scripted_grpo import FAR, MIDDLE, NEAR, script, tiny_recipe


def play(recipe: Any, folder: Path, generations: int = 0, seconds: float | None = None) -> Any:
    """Run it in this process, to its end or for about so long."""
    import torch

    from geosleuth.lab.train import grpo, models

    module: Any = grpo
    torch.set_num_threads(1)
    drawn = 0

    def said(rows: int) -> list[str]:
        nonlocal drawn
        drawn += 1
        if drawn == generations:
            os.kill(os.getpid(), signal.SIGKILL)
        return [(NEAR, MIDDLE, FAR)[one] for one in torch.randint(3, (rows,)).tolist()]

    def scripted(part: Any) -> tuple[Any, Any]:
        model, processor = models.load_model(part)
        script(model, processor.tokenizer, said)
        return model, processor

    known, module.load_model = module.load_model, scripted
    try:
        return grpo.run_grpo(recipe, folder, seconds=seconds)
    finally:
        module.load_model = known


def recipe_of(words: Any) -> Any:
    """The recipe of a few plain words."""
    from geosleuth.lab.train.recipe import OptimPart, RolloutPart

    optim = OptimPart(
        batch=2, mini_batch=1, micro_batch=2, steps=words["steps"], learning_rate=1e-2, gradient_checkpointing=False
    )
    rollout = RolloutPart(method="smilegeo", reward="spotagent", tools=(), group=2, reply_tokens=60)
    made = partial(tiny_recipe, Path(words["model"]), Path(words["photos"]), rollout, optim=optim)
    return made(save_steps=words["save_steps"])


if __name__ == "__main__":
    for name in sys.argv[3:]:
        play(recipe_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), Path(name), int(sys.argv[2]))
