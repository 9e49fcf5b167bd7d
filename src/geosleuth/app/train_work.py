"""What the stages of ``train`` do once their words are read: say what it will take, train, say what came of it."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.app.console import progress, show, show_json, talk
from geosleuth.bench.numbers import count, plural
from geosleuth.bench.plain import one_line
from geosleuth.errors import BadInput, MissingExtra
from geosleuth.train.keeping import Finished, Progress, is_first_process
from geosleuth.train.metrics import missing_tensorboard
from geosleuth.train.reading import override_of, read_recipe, recipe_names
from geosleuth.train.recipe import Recipe, Stage

_NEEDED = ("torch", "transformers", "trl", "datasets", "accelerate", "peft")
_LINE_EVERY_S = 60.0
_READY = "samples ready"


def run_stage(
    stage: Stage, config: str, out: Path, changes: Sequence[str], *, resume: bool, seconds: float | None, as_json: bool
) -> None:
    """One stage of training, from the recipe to the policy."""
    recipe = read_recipe(config, dict(map(override_of, changes)))
    if recipe.stage != stage:
        raise BadInput(f"recipe {recipe.name}: is for the stage {recipe.stage}; run: geosleuth train {recipe.stage}")
    ask_for_extra()
    first = is_first_process()
    if first:
        _tell_estimate(recipe)
        if recipe.run.tensorboard and (trouble := missing_tensorboard()):
            talk(trouble)
    with progress(f"{stage}: {recipe.name}") as bar, stdout_kept():
        told: Progress = bar.at
        preparing: Progress = partial(bar.at, what=_READY)
        if first and not bar.drawn:
            told, preparing = _Lines(stage), _Lines(stage, _READY)
        found = _trained(recipe, out, resume=resume, seconds=seconds, told=told, preparing=preparing)
    if not first:
        return
    from geosleuth.train.page import write_page

    write_page(out)
    if as_json:
        show_json(_document(recipe, found))
        return
    show(_view(recipe, found))
    if found.complete:
        talk(f"the policy: {found.policy}; locate photos with --model hf:{found.policy}")
    else:
        talk(f"not yet at its end, after {plural(found.steps, 'step', 'steps')}; give the same command to go on")
    talk(f"the page: {out / 'run.html'}")


class _Lines:
    """Progress for logs, where no bar is drawn: a line now and then."""

    def __init__(self, stage: str, what: str = "steps") -> None:
        self._stage, self._what, self._said_at = stage, what, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._said_at >= _LINE_EVERY_S:
            self._said_at = time.monotonic()
            of = f" of {count(total)}" if total else ""
            talk(f"{self._stage}: {count(done)}{of} {self._what}")


def _trained(
    recipe: Recipe, out: Path, *, resume: bool, seconds: float | None, told: Progress, preparing: Progress
) -> Finished:
    if recipe.stage == "grpo":
        from geosleuth.train.grpo import run_grpo

        return run_grpo(recipe, out, resume=resume, progress=told, seconds=seconds)
    from geosleuth.train.sft import run_sft

    return run_sft(recipe, out, resume=resume, progress=told, seconds=seconds, preparing=preparing)


def ask_for_extra(*modules: str) -> None:
    """Say at once what is not installed (all that training needs, if no modules are named), not after minutes of work.

    Raises:
        MissingExtra: one is not.
    """
    for module in modules or _NEEDED:
        if find_spec(module) is None:
            raise MissingExtra(module, "train")


def _tell_estimate(recipe: Recipe) -> None:
    from geosleuth.train.architectures import configuration_of, shape_of
    from geosleuth.train.estimate import as_lines, estimate

    configuration = configuration_of(recipe.model)
    try:
        lines = as_lines(estimate(recipe, shape_of(configuration)))
    except BadInput as error:
        # A model that nobody has counted can be trained all the same.
        lines = [f"nobody knows: {error}"]
    talk(f"{recipe.name}, stage {recipe.stage}, from {recipe.model.path}. What it takes, at most:")
    for line in lines:
        talk(f"  {line}")


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Keep libraries from printing on stdout, where answers go; transformers prints every step there."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # noqa: PTH123
        yield
    sys.stdout.flush()


def _document(recipe: Recipe, found: Finished) -> dict[str, Any]:
    return {
        "run": str(found.folder),
        "recipe": recipe.name,
        "stage": recipe.stage,
        "finished": found.complete,
        "steps": found.steps,
        "policy": str(found.policy) if found.complete else None,
        "figures": dict(found.figures),
    }


def _view(recipe: Recipe, found: Finished) -> Table:
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"{recipe.name}, {plural(found.steps, 'step', 'steps')}",
        title_justify="left",
    )
    table.add_column("figure")
    table.add_column("last", justify="right")
    for name, value in found.figures.items():
        table.add_row(name, f"{value:,.6g}")
    return table


def dry_run(recipe: str, changes: Sequence[str], *, as_json: bool) -> None:
    """Everything but the weights.

    Raises:
        typer.Exit: with 1, where it would not work.
    """
    from geosleuth.train import dryrun

    resolved = read_recipe(recipe, dict(map(override_of, changes)))
    ask_for_extra()
    with progress("dry run", measure="time"), stdout_kept():
        report = dryrun.dry_run(resolved)
    if as_json:
        show_json(dryrun.as_mapping(report))
    else:
        for line in dryrun.as_lines(report):
            typer.echo(one_line(line))
    if not report.ok:
        raise typer.Exit(1)


def list_recipes(*, as_json: bool) -> None:
    """Those that come with the package."""
    found = [read_recipe(name) for name in recipe_names()]
    if as_json:
        show_json({"recipes": [_recipe_words(one) for one in found]})
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("recipe", "stage", "model", "tuned", "values of", "devices"):
        table.add_column(column)
    for one in found:
        words = _recipe_words(one)
        table.add_row(*(str(words[key] or "ours") for key in ("name", "stage", "model", "tuned", "paper", "devices")))
    show(table)


def _recipe_words(recipe: Recipe) -> Mapping[str, Any]:
    return {
        "name": recipe.name,
        "stage": recipe.stage,
        "model": recipe.model.path,
        "tuned": recipe.model.tuned,
        "paper": recipe.paper,
        "devices": recipe.run.devices,
        "unpublished": list(recipe.unpublished),
    }
