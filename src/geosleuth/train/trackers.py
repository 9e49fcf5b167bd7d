"""A run's figures in trackers that people use beside TensorBoard: Trackio, and Weights & Biases without its service.

Both keep their files in the run's folder. W&B works offline unless ``WANDB_MODE`` says otherwise; ``wandb sync``
uploads what it wrote.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput, require
from geosleuth.photo.runtime import no_probing

from .recipe import Recipe
from .recipe_files import as_mapping

PROJECT = "geosleuth"


def check_trackers(recipe: Recipe) -> None:
    """Check that the trackers of a recipe are installed.

    Raises:
        BadInput: one is not; the message says how to install it.
    """
    for name in recipe.run.trackers:
        if find_spec(name) is None:
            raise BadInput(f"run.trackers: {name} is not installed; run: pip install {name}")


def tracker_callbacks(recipe: Recipe, folder: Path) -> list[Any]:
    """Return a ``transformers.TrainerCallback`` for each tracker of a recipe; only the first process writes.

    Raises:
        BadInput: a tracker is not installed.
    """
    check_trackers(recipe)
    if not recipe.run.trackers:
        return []
    with no_probing():
        transformers: Any = require("transformers", extra="train")
    kind = type("Tracking", (_Hooks, transformers.TrainerCallback), {})
    return [kind(name, recipe, folder) for name in recipe.run.trackers]


class _Hooks:
    """What a trainer calls."""

    def __init__(self, name: str, recipe: Recipe, folder: Path) -> None:
        self._name, self._recipe, self._folder = name, recipe, folder
        self._tracker: Any = None

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._tracker = _opened(self._name, self._recipe, self._folder)

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if self._tracker is not None and logs:
            self._tracker.log(_figures(logs), step=state.global_step)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        if self._tracker is not None:
            self._tracker.finish()
            self._tracker = None


def _opened(name: str, recipe: Recipe, folder: Path) -> Any:
    """Return the tracker's module with a run begun; a resumed run goes on in the same one."""
    home = folder.absolute() / name
    home.mkdir(parents=True, exist_ok=True)
    run = folder.absolute().name
    if name == "trackio":
        # It reads its folder when it is imported.
        os.environ.setdefault("TRACKIO_DIR", str(home))
        tracker: Any = import_module(name)
        tracker.init(project=PROJECT, name=run, config=as_mapping(recipe), resume="allow")
        return tracker
    tracker = import_module(name)
    tracker.init(
        project=PROJECT,
        name=run,
        id=run,
        dir=str(home),
        config=as_mapping(recipe),
        mode=os.environ.get("WANDB_MODE", "offline"),
        resume="allow" if os.environ.get("WANDB_MODE") == "online" else None,
    )
    return tracker


def _figures(logs: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: value for name, value in logs.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if isfinite(value)}
