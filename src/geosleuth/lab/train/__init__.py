"""Stages that make better policies, on TRL: fine-tuning, agentic cold start, reinforcement learning with tools.

    from geosleuth.lab.train import read_recipe, run_grpo

    done = run_grpo(read_recipe("recipe.yaml"), Path("runs/grpo"))
    print(done.policy, done.figures)

Names are loaded on first use, so importing this is fast and needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dryrun import Report, dry_run
    from .evaluation import Evaluation, evaluate, read_evaluation
    from .grpo import grpo_trainer, run_grpo
    from .models import load_model, save_policy
    from .recipe import DataPart, ModelPart, OptimPart, Recipe, RolloutPart, RunPart
    from .recipe_files import build_recipe, read_recipe, recipe_names
    from .run_folder import Finished, TrainingFolder
    from .run_page import write_page
    from .sft import run_sft, sft_trainer
    from .training_log import metrics_callback, read_metrics
    from .tries import make_tries

__all__ = [
    "DataPart",
    "Evaluation",
    "Finished",
    "ModelPart",
    "OptimPart",
    "Recipe",
    "Report",
    "RolloutPart",
    "RunPart",
    "TrainingFolder",
    "build_recipe",
    "dry_run",
    "evaluate",
    "grpo_trainer",
    "load_model",
    "make_tries",
    "metrics_callback",
    "read_evaluation",
    "read_metrics",
    "read_recipe",
    "recipe_names",
    "run_grpo",
    "run_sft",
    "save_policy",
    "sft_trainer",
    "write_page",
]

_MODULES = {
    "dryrun": ("Report", "dry_run"),
    "evaluation": ("Evaluation", "evaluate", "read_evaluation"),
    "grpo": ("grpo_trainer", "run_grpo"),
    "run_folder": ("Finished", "TrainingFolder"),
    "training_log": ("metrics_callback", "read_metrics"),
    "run_page": ("write_page",),
    "recipe_files": ("build_recipe", "read_recipe", "recipe_names"),
    "recipe": ("DataPart", "ModelPart", "OptimPart", "Recipe", "RolloutPart", "RunPart"),
    "sft": ("run_sft", "sft_trainer"),
    "tries": ("make_tries",),
    "models": ("load_model", "save_policy"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
