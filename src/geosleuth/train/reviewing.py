"""A run as its folder tells it: the recipe, the figures so far, and whether it is finished."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.files import lock_file, plain_yaml_values

from .keeping import Finished, RunFolder, finished
from .metrics import Line, read_metrics

_NOT_FIGURES = frozenset({"step", "seconds", "stage", "epoch", "num_tokens"})


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A run's folder, read.

    Attributes:
        folder: where it lies.
        recipe: the resolved recipe, as its file has it.
        lines: of figures, by step.
        done: what it came to; None while it has not ended.
    """

    folder: Path
    recipe: Mapping[str, Any]
    lines: Sequence[Line]
    done: Finished | None

    @property
    def name(self) -> str:
        """The recipe's name, or else the folder's."""
        return str(self.recipe.get("name") or self.folder.resolve().name)

    @property
    def stage(self) -> str:
        """Which stage it is."""
        return str(self.recipe.get("stage") or next((line["stage"] for line in self.lines if "stage" in line), "?"))

    @property
    def step(self) -> int:
        """The last step that wrote figures."""
        return int(self.lines[-1]["step"]) if self.lines else 0

    @property
    def seconds(self) -> float:
        """Training time up to it, over all sessions."""
        return float(self.lines[-1].get("seconds", 0.0)) if self.lines else 0.0

    def names(self) -> list[str]:
        """Every figure that some line has, in the order of first appearance."""
        return [
            name for name in dict.fromkeys(name for line in self.lines for name in line) if name not in _NOT_FIGURES
        ]

    def values(self, name: str) -> list[tuple[int, float]]:
        """The steps that have a figure, and the figure."""
        return [(line["step"], float(line[name])) for line in self.lines if isinstance(line.get(name), (int, float))]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure at both ends of a run: means over the first and last tenth of its steps."""

    first: float
    last: float
    steps: int


def read_run(folder: Path) -> Reviewed:
    """Read the folder of a run, under way or finished.

    Raises:
        BadInput: it holds no run, or a file of it can't be read.
    """
    kept = RunFolder(folder)
    if not kept.recipe.is_file() and not kept.metrics.is_file():
        raise BadInput(f"{folder}: holds no training run; give the folder that --out named")
    recipe = plain_yaml_values(kept.recipe) if kept.recipe.is_file() else {}
    if not isinstance(recipe, dict):
        raise BadInput(f"{kept.recipe}: is no recipe")
    return Reviewed(folder, recipe, read_metrics(kept.metrics), finished(kept))


def nobody_trains(folder: Path) -> bool:
    """Whether it is certain that no process trains in a run's folder: who does holds a lock on it.

    A run that is begun in this very moment finds the folder taken; its command can be given again.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        return lock_file(handle) is True
    finally:
        os.close(handle)


def change(values: Sequence[tuple[int, float]]) -> Change:
    """How a figure moved. There must be a value."""
    part = max(1, len(values) // 10)
    return Change(fmean(v for _, v in values[:part]), fmean(v for _, v in values[-part:]), len(values))


def changes(run: Reviewed) -> dict[str, Change]:
    """The same of every figure."""
    return {name: change(values) for name in run.names() if (values := run.values(name))}


def review_document(run: Reviewed) -> dict[str, Any]:
    """All of it for machines."""
    return {
        "run": str(run.folder),
        "name": run.name,
        "stage": run.stage,
        "finished": run.done is not None,
        "step": run.step,
        "seconds": run.seconds,
        "figures": {
            name: {"first": one.first, "last": one.last, "steps": one.steps} for name, one in changes(run).items()
        },
        "done": None if run.done is None else dict(run.done.figures),
    }
