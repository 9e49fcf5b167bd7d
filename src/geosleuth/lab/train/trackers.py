"""A run's figures in trackers that people use beside TensorBoard: Trackio, and Weights & Biases without its service.

Both keep their files in the run's folder. W&B works offline unless ``WANDB_MODE`` says otherwise; ``wandb sync``
uploads what it wrote. Both read their settings when they are first imported, which TRL may do: `check_trackers` must
come before it. W&B that hears of its mode later has asked for its service's address by then.
"""

import json
import os
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import uuid4

from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import BadInput, require

from .recipe import Recipe
from .recipe_files import as_mapping

PROJECT = "geosleuth"


def check_trackers(recipe: Recipe, folder: Path) -> None:
    """Check that the trackers of a recipe are installed, and set where and how they work.

    Raises:
        BadInput: one is not; the message says how to install it.
    """
    for name in recipe.run.trackers:
        if find_spec(name) is None:
            raise BadInput(f"run.trackers: {name} is not installed; run: pip install {name}")
        if name == "trackio":
            os.environ.setdefault("TRACKIO_DIR", str(folder.absolute() / name))
        else:
            os.environ.setdefault("WANDB_MODE", "offline")


def tracker_callbacks(recipe: Recipe, folder: Path) -> list[Any]:
    """Return a ``transformers.TrainerCallback`` for each tracker of a recipe; only the first process writes.

    Raises:
        BadInput: a tracker is not installed.
    """
    check_trackers(recipe, folder)
    if not recipe.run.trackers:
        return []
    with no_probing():
        transformers: Any = require("transformers", extra="train")
    kind = type("Tracking", (_Hooks, transformers.TrainerCallback), {})
    return [kind(name, recipe, folder) for name in recipe.run.trackers]


class _Hooks:
    """Callbacks of a trainer."""

    def __init__(self, name: str, recipe: Recipe, folder: Path) -> None:
        self._name, self._recipe, self._folder = name, recipe, folder
        self._tracker: Any = None
        self._sent: set[Path] = set()

    def on_train_begin(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._tracker = _open_tracker(self._name, self._recipe, self._folder)
            self._sent = set(self._tables())

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if self._tracker is not None and logs:
            self._tracker.log(_figures(logs) | self._completions(), step=state.global_step)

    def on_train_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        if self._tracker is not None:
            # TRL writes a step's table after it has told its figures.
            if rest := self._completions():
                self._tracker.log(rest, step=state.global_step)
            self._tracker.finish()
            self._tracker = None

    def _tables(self) -> list[Path]:
        return sorted((self._folder / "checkpoints" / "completions").glob("*.parquet"))

    def _completions(self) -> dict[str, Any]:
        """Return the replies since the last call as the tracker's table; empty if none were kept."""
        rows: list[dict[str, Any]] = []
        for path in self._tables():
            if path not in self._sent:
                self._sent.add(path)
                rows += import_module("pyarrow.parquet").read_table(path).to_pylist()
        if not rows:
            return {}
        plain = [{name: _cell(value) for name, value in row.items()} for row in rows]
        return {"completions": self._tracker.Table(dataframe=import_module("pandas").DataFrame(plain))}


def _open_tracker(name: str, recipe: Recipe, folder: Path) -> Any:
    """Return the tracker's module with a run started; a resumed run continues the same one."""
    home = folder.absolute() / name
    home.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {"project": PROJECT, "name": home.parent.name, "config": as_mapping(recipe)}
    tracker: Any = import_module(name)
    if name == "trackio":
        tracker.init(**told, resume="allow")
        return tracker
    # Two folders may have one name, and runs of one id are one run to the service.
    known = home / "run-id"
    if not known.is_file():
        known.write_text(uuid4().hex, encoding="utf-8")
    mode = os.environ["WANDB_MODE"]
    # It makes a folder "wandb" of its own in there.
    tracker.init(
        **told, id=known.read_text(encoding="utf-8"), dir=str(home.parent), mode=mode,
        resume="allow" if mode == "online" else None,
    )  # fmt: skip
    return tracker


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else json.dumps(value, ensure_ascii=False)


def _figures(logs: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: value for name, value in logs.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if isfinite(value)}
