"""Handlers of the ``train`` commands: stages, ``show``, ``tries`` and ``evaluate``."""

import errno
import json
import logging
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.lab.bench.placed import format_placed
from geosleuth.lab.traces.filtering import PHASES_KM, StoredTries, find_teachable
from geosleuth.lab.train.recipe import Recipe, Stage
from geosleuth.lab.train.recipe_files import ABLATIONS, as_mapping, parse_override, read_recipe, recipe_names
from geosleuth.lab.train.run_folder import (
    Finished,
    Progress,
    TrainingFolder,
    is_first_process,
    last_checkpoint,
    parse_step,
    read_best,
    read_finished,
)
from geosleuth.lab.train.run_page import (
    Change,
    Reviewed,
    changes,
    headlines,
    nobody_trains,
    read_run,
    review_document,
    write_page,
)
from geosleuth.lab.train.training_log import missing_tensorboard
from geosleuth.models import Sampling
from geosleuth.support.console import progress, show, show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput, GeosleuthError, MissingExtra
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import NONE, count, plural, threshold
from geosleuth.support.text.safe import one_line

if TYPE_CHECKING:
    from geosleuth.lab.cli.train import EvaluateOptions, StageOptions
    from geosleuth.lab.train.evaluation import EvaluationSettings, PlaySettings

RESUME = "run the same command to resume"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LOCKED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
# What safetensors says, which raises no OSError.
_FULL_WORDS = ("No space left on device", "StorageFull", "code: 28,")
# What torch leaves where it fails in the middle of a file.
_NO_ROOM_BYTES = 1 << 20

_NEEDED = ("torch", "transformers", "trl", "datasets", "accelerate", "peft")
_LINE_EVERY_S = 60.0
_READY = "samples ready"
_AGAIN = "give the same command again"


class NoRoom(GeosleuthError):
    """The disk takes no more; the command line was right, and nothing that was finished is lost."""


@contextmanager
def plain_ends(out: Path | None, stopped: Callable[[], str] | None = None, *, again: str = RESUME) -> Iterator[None]:
    """Report what ends the block early in one line.

    Args:
        out: where it writes to; None if it writes nothing.
        stopped: what to say after Ctrl-C; None says nothing.
        again: what will happen once there is room on the disk.

    Raises:
        NoRoom: the disk is full.
        BadInput: this user may not write there.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if stopped is not None:
            talk(stopped())
        raise
    except Exception as error:
        if (why := _no_room(error, out)) is not None:
            raise NoRoom(f"{out or 'something'}: can't be written: {why}; make room, and {again}") from error
        if isinstance(error, OSError) and error.errno in _LOCKED:
            place = error.filename or out or "a file"
            raise BadInput(f"{place}: can't be used: {error.strerror}; give another folder, or see to it") from error
        raise


def _no_room(error: BaseException, out: Path | None) -> str | None:
    """Return why the disk accepts no more; None for any other error."""
    item: BaseException | None = error
    while item is not None:
        if isinstance(item, OSError) and item.errno in _FULL:
            return item.strerror
        if any(words in str(item) for words in _FULL_WORDS):
            return _FULL_WORDS[0]
        item = item.__cause__ or item.__context__
    return _FULL_WORDS[0] if isinstance(error, RuntimeError) and _is_full(out) else None


def _is_full(out: Path | None) -> bool:
    there = (
        next((parent for parent in (out, *out.absolute().parents) if parent.is_dir()), None)
        if out is not None
        else None
    )
    return there is not None and shutil.disk_usage(there).free < _NO_ROOM_BYTES


def _recipe(config: str, changes: Sequence[str], *, allow_test: bool = False) -> Recipe:
    return read_recipe(config, dict(map(parse_override, [*changes, *(["data.allow_test=true"] if allow_test else [])])))


def run_stage(stage: Stage, options: "StageOptions", *, allow_test: bool = False) -> None:
    """Run one stage of training, from the recipe to the policy."""
    out, recipe = options.out, _recipe(options.config, options.changes, allow_test=allow_test)
    if recipe.stage != stage:
        raise BadInput(f"recipe {recipe.name}: is for the stage {recipe.stage}; run: geosleuth train {recipe.stage}")
    ask_for_extra()
    first = is_first_process()
    before = read_finished(TrainingFolder(out))
    if first and before is None:
        _report_estimate(recipe)
        if recipe.run.tensorboard and (trouble := missing_tensorboard()):
            talk(trouble)
    at = _At()
    with (
        plain_ends(out, lambda: _describe_stop(out, at.step)),
        progress(f"{stage}: {recipe.name}") as bar,
        libraries_quiet(),
    ):
        report: Progress = bar.update
        preparing: Progress = partial(bar.update, what=_READY)
        if first and not bar.is_drawn:
            report, preparing = _Lines(stage), _Lines(stage, _READY)
        found = _run_stage(recipe, options, at.reporting_to(report), preparing)
    if not first:
        return
    if before is None:
        with plain_ends(out):
            write_page(out)
    show_result(_build_result_document(recipe, found), _view(recipe, found), as_json=options.as_json)
    if before is not None:
        talk(f"{out}: this run was finished already; nothing was trained. Another --out begins a new one")
    if not options.as_json:
        _report_next_step(found)


class _At:
    """Current step of a run, for messages when it is stopped."""

    def __init__(self) -> None:
        self.step = 0

    def reporting_to(self, report: Progress) -> Progress:
        """Return a progress function that notes the step and passes it on."""

        def hear(done: int, total: int) -> None:
            self.step = done
            report(done, total)

        return hear


def _describe_stop(out: Path, step: int) -> str:
    kept = last_checkpoint(TrainingFolder(out))
    if kept is None:
        return f"stopped after step {step}, before the first checkpoint; the same command starts over"
    # Stopped before it went on, it has come no farther than the checkpoint.
    saved = parse_step(kept)
    since = "" if step <= saved else f" from the checkpoint after step {saved}"
    return f"stopped after step {max(step, saved)}; {RESUME}{since}"


def _report_next_step(found: Finished) -> None:
    if found.complete:
        model = shlex.quote(f"hf:{found.policy}")
        talk(f"the policy: {found.policy}; to use it: geosleuth locate photo.jpg --model {model}")
        run = TrainingFolder(found.folder)
        if best := read_best(run):
            talk(f"the best by {best['figure']}: {run.best}, of step {best['step']} ({best['value']:.4g})")
    else:
        talk(f"not finished, after {plural(found.steps, 'step', 'steps')}; run the same command to resume")
    talk(f"the page: {TrainingFolder(found.folder).page}")


class _Lines:
    """Progress lines for logs, where no bar is drawn."""

    def __init__(self, stage: str, what: str = "steps") -> None:
        self._stage, self._what, self._said_at = stage, what, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._said_at >= _LINE_EVERY_S:
            self._said_at = time.monotonic()
            of = f" of {count(total)}" if total else ""
            talk(f"{self._stage}: {count(done)}{of} {self._what}")


def _run_stage(recipe: Recipe, options: "StageOptions", progress: Progress, preparing: Progress) -> Finished:
    out, resume, seconds = options.out, not options.no_resume, options.seconds
    if recipe.stage == "grpo":
        from geosleuth.lab.train.grpo import run_grpo

        return run_grpo(recipe, out, resume=resume, progress=progress, seconds=seconds)
    from geosleuth.lab.train.sft import run_sft

    return run_sft(recipe, out, resume=resume, progress=progress, seconds=seconds, preparing=preparing)


def ask_for_extra(*modules: str) -> None:
    """Check at once that modules are installed (by default all that training needs), not after minutes of work.

    Raises:
        MissingExtra: one is not.
    """
    for module in modules or _NEEDED:
        if find_spec(module) is None:
            raise MissingExtra(module, "train")


def _report_estimate(recipe: Recipe) -> None:
    from geosleuth.lab.train.architectures import compute_shape, load_configuration
    from geosleuth.lab.train.estimate import as_lines, estimate

    configuration = load_configuration(recipe.model)
    try:
        lines = as_lines(estimate(recipe, compute_shape(configuration)))
    except BadInput as error:
        # An unknown model can be trained all the same.
        lines = [f"unknown: {error}"]
    talk(f"{recipe.name}, stage {recipe.stage}, from {recipe.model.path}. What it takes, at most:")
    for line in lines:
        talk(f"  {line}")


@contextmanager
def libraries_quiet() -> Iterator[None]:
    """Keep libraries from printing on stdout, where answers go, and from irrelevant warnings.

    transformers prints every step on stdout. It also warns of disks without times where checkpoints are less than a
    second apart, as those of tiny models are.
    """
    heard = logging.getLogger("transformers.trainer_utils")
    heard.addFilter(_no_time_alarm)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # noqa: PTH123
            yield
    finally:
        heard.removeFilter(_no_time_alarm)
    sys.stdout.flush()


def _no_time_alarm(record: logging.LogRecord) -> bool:
    return "mtime may not be reliable" not in record.getMessage()


def _build_result_document(recipe: Recipe, found: Finished) -> dict[str, Any]:
    return {
        "run": str(found.folder),
        "recipe": recipe.name,
        "stage": recipe.stage,
        "finished": found.complete,
        "steps": found.steps,
        "policy": str(found.policy) if found.complete else None,
        "figures": dict(found.figures),
    }


def _view(recipe: Recipe, found: Finished) -> RenderableType:
    rows = [(name, f"{value:,.6g}") for name, value in found.figures.items()]
    return table_view(("figure", ">last"), rows, title=f"{recipe.name}, {plural(found.steps, 'step', 'steps')}")


def dry_run(recipe: str, changes: Sequence[str], *, allow_test: bool, as_json: bool) -> None:
    """Check a recipe by building everything but the weights."""
    from geosleuth.lab.train import dryrun

    resolved = _recipe(recipe, changes, allow_test=allow_test)
    ask_for_extra()
    with progress("dry run", measure="time"), libraries_quiet():
        report = dryrun.dry_run(resolved)
    if as_json:
        show_json(dryrun.as_mapping(report))
    else:
        for line in dryrun.as_lines(report):
            typer.echo(one_line(line))
    if not report.ok:
        raise typer.Exit(1)


def list_recipes(*, as_json: bool) -> None:
    """Print the recipes of the package."""
    found = [read_recipe(name) for name in (*recipe_names(), *ABLATIONS)]
    if as_json:
        show_json({"recipes": [_recipe_words(item) for item in found]})
        return
    keys = ("name", "stage", "model", "tuned", "paper", "devices")
    rows = [[str(words[key] or "ours") for key in keys] for words in map(_recipe_words, found)]
    table = table_view(("recipe", "stage", "model", "tuned", "values of", "devices"), rows)
    # A folded name might be read as that of another recipe.
    table.columns[0].no_wrap = True
    show(table)
    talk("to see one: geosleuth train recipes NAME")


def show_recipe(name: str, *, as_json: bool) -> None:
    """Print one recipe: its file as it is, or all that it comes to for machines."""
    recipe = read_recipe(name)
    if as_json:
        show_json(as_mapping(recipe))
        return
    if name in ABLATIONS and not Path(name).is_file():
        base, changes = ABLATIONS[name]
        typer.echo(f"# {recipe.ablation}: the recipe {base} with these changes; train it by its own name.")
        typer.echo("\n".join(f"#   --set {key}={value}" for key, value in changes.items() if "." in key))
        name = base
    shipped = files("geosleuth.lab.train").joinpath("recipes", f"{name}.yaml")
    text = Path(name).read_text(encoding="utf-8") if Path(name).is_file() else shipped.read_text(encoding="utf-8")
    typer.echo(text, nl=False)


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


def show_run(folder: Path, *, watch: float | None, as_json: bool) -> None:
    """Summarise a run and draw its page; repeatedly with ``--watch``."""
    if as_json and watch is not None:
        raise BadInput("--json prints one document, and --watch would print many; leave one of them out")
    while True:
        run = read_run(folder)
        with plain_ends(folder, again=_AGAIN):
            page = write_page(folder)
        show_result(review_document(run), _view_show(run), as_json=as_json)
        talk(f"wrote {page}")
        if watch is None or run.done is not None:
            return
        if nobody_trains(folder):
            talk(f"{folder}: no process trains here; the run stopped after step {run.step}; run its command to resume")
            return
        time.sleep(watch)


def _view_show(run: Reviewed) -> Group:
    moved = changes(run)
    said = [Text(one_line(f"{run.name} ({run.stage})"), style="bold"), *(Text(line) for line in headlines(run, moved))]
    return Group(*said, *([_render_change_table(moved)] if moved else []))


def _render_change_table(moved: dict[str, Change]) -> RenderableType:
    rows = [(one_line(name), f"{one.first:,.5g}", f"{one.last:,.5g}", count(one.steps)) for name, one in moved.items()]
    return table_view(("figure", ">first tenth", ">last tenth", ">steps"), rows)


def make_tries(
    policy: Path, config: str, changes: Sequence[str], out: Path, *, tries: int, at_once: int, as_json: bool
) -> None:
    """Draw tries, and print how many rows would teach something at each distance."""
    recipe = _recipe(config, changes)
    if recipe.stage != "grpo":
        raise BadInput(f"recipe {recipe.name}: is for the stage {recipe.stage}; tries are made for one of grpo")
    ask_for_extra()
    from geosleuth.lab.train.tries import make_tries as drawn

    stopped = f"stopped; {out} keeps the finished rows; {RESUME}"
    with plain_ends(out, lambda: stopped), progress("tries") as bar, libraries_quiet():
        found = drawn(recipe, policy, out, tries=tries, at_once=at_once, progress=bar.update)
    regimes = find_teachable(found).regimes
    kept = [
        {"within_km": regime.km, "kept": regime.kept, "none": regime.never, "all": regime.always} for regime in regimes
    ]
    rows = [(threshold(regime.km), count(regime.kept), count(regime.never), count(regime.always)) for regime in regimes]
    view = table_view((">within", ">some tries", ">none", ">all"), rows)
    show_result({"rows": len(found), "tries": _counts(found), "regimes": kept}, view, as_json=as_json)
    talk(f"wrote {out}: {plural(len(found), 'row', 'rows')}; name it in a recipe as data.tries")
    talk(f"a curriculum of {len(PHASES_KM)} phases: geosleuth traces filter {shlex.quote(str(out))} --out FOLDER")


def _counts(found: StoredTries) -> dict[str, int]:
    numbers, rows = np.unique(found.counts, return_counts=True)
    return {str(number): int(many) for number, many in zip(numbers, rows, strict=True)}


def evaluate(options: "EvaluateOptions") -> None:
    """Evaluate a policy, or every saved policy of a run, and print the figures."""
    from geosleuth.lab.train import evaluation
    from geosleuth.lab.train.saved_policies import as_trained, find_run, is_run

    policy, folder = options.policy, options.out
    if policy != evaluation.DETECTIVE:
        ask_for_extra("torch", "transformers")
    renamed = {"with_tools": not options.no_tools, "tries": options.each, "photos": options.data}
    given = {name: value for name, value in (vars(options) | renamed).items() if value is not None}
    if options.temperature is not None:
        given["sampling"] = Sampling(temperature=options.temperature, top_p=1.0)
    settings = evaluation.EvaluationSettings(**_take_arguments(given, evaluation.EvaluationSettings))
    playing = evaluation.PlaySettings(**_take_arguments(given, evaluation.PlaySettings))
    if policy != evaluation.DETECTIVE and is_run(Path(policy)):
        _evaluate_run(Path(policy), options, settings, playing)
        return
    if options.within or options.k or options.follow or options.keep_best:
        raise BadInput("--within, --k, --follow and --keep-best go with the folder of a whole run, such as runs/grpo/")
    who: Path | str = policy if policy == evaluation.DETECTIVE else Path(policy)
    if isinstance(who, Path) and not who.is_dir():
        raise BadInput(f"{who}: not a folder with weights; give one, such as RUN/policy, or: {evaluation.DETECTIVE}")
    stopped = f"{folder} keeps the scenes that were played; {RESUME}" if folder else "with --out it could be resumed"
    run = find_run(who) if isinstance(who, Path) else None
    with (
        plain_ends(folder, lambda: f"stopped; {stopped}"),
        as_trained(run, settings) as as_learned,
        progress("playing scenes") as bar,
        libraries_quiet(),
    ):
        found = evaluation.evaluate(who, as_learned, playing=playing, folder=folder, progress=bar.update)
    show_result(found.to_dict(), _evaluation_view(found.asked, found.figures), as_json=options.as_json)
    if folder is not None:
        talk(f"kept in {folder}")


def _evaluate_run(
    path: Path, options: "EvaluateOptions", settings: "EvaluationSettings", playing: "PlaySettings"
) -> None:
    """Evaluate every saved policy of a run and show a table by step."""
    from geosleuth.lab.cli.handlers.bench import thresholds_km
    from geosleuth.lab.train import evaluation
    from geosleuth.lab.train.saved_policies import as_trained, each_policy, evaluate_saved
    from geosleuth.lab.train.validation import check_best_figure

    run = TrainingFolder(path)
    folder, best_by = options.out or run.evaluations, options.keep_best
    rows: list[dict[str, Any]] = []
    km = evaluation.WITHIN_KM if options.within is None else thresholds_km(options.within)
    ks = [int(part) for part in options.k.split(",")] if options.k else []
    check_best_figure(best_by, settings.tries, settings.photos)
    for saved in each_policy(run, follow=options.follow):
        talk(saved.name)
        stopped = f"stopped; {folder} keeps the scenes that were played; {RESUME}"
        with (
            plain_ends(folder, partial(str, stopped)),
            as_trained(run, settings) as as_learned,
            progress("playing scenes") as bar,
            libraries_quiet(),
        ):
            found = evaluate_saved(
                run, saved, as_learned, folder=folder, playing=playing, best_by=best_by, progress=bar.update
            )
        measures = evaluation.compute_measures(found.scenes, km, ks)
        rows.append({"step": saved.step, "scenes": len(found.scenes), "measures": measures})
    document = {"within_km": list(km), "policies": rows}
    write_text_atomically(folder / "policies.json", f"{json.dumps(document, indent=1)}\n")
    if folder.resolve() == run.evaluations.resolve():
        write_page(path)
    if best_by is not None and (best := read_best(run)):
        talk(f"the best by {best['figure']}: {run.best}, of step {best['step']} ({best['value']:.4g})")
    heads = (">step", "figure, %", *(f">{evaluation.distance_name(item)}" for item in km))
    table = [
        (str(row["step"]), name, *(f"{value:.1f}" for value in values))
        for row in rows
        for name, values in row["measures"].items()
    ]
    show_result(document, table_view(heads, table, caption=f"kept in {folder}"), as_json=options.as_json)


def _take_arguments(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {field.name: given[field.name] for field in fields(kind) if field.name in given}


def _evaluation_view(asked: Mapping[str, Any], figures: Mapping[str, Any]) -> Group:
    tools = "with tools" if asked["with_tools"] else "without tools"
    head = f"{asked['policy']}, {plural(figures['scenes'], 'scene', 'scenes')} ({asked['split']}), {tools}"
    within = [(words, *_estimate(one, 1)) for words, one in figures["within"].items()]
    near = table_view((">within", ">%", ">95 % interval"), within)
    labels = (
        ("median error, km", "median_km"), ("tries that answered, %", "answered"), ("tries with a place, %", "located"),
        ("tries that called a tool, %", "called"), ("tool calls a try", "calls"), ("turns a try", "turns"),
        ("reward", "reward"), ("tokens written a try", "output_tokens"), ("seconds a try", "seconds"),
    )  # fmt: skip
    rows = [(words, *_estimate(figures[name], 2)) for words, name in labels]
    failed = figures["failed"]
    share = NONE if failed["percent"] is None else f"{failed['percent']:.2f}"
    rows.append(("failed calls, %", share, f"of {count(failed['calls'])}"))
    if (strict := failed.get("strict_percent")) is not None:
        rows.append(("the same, counting mended ones, %", f"{strict:.2f}", "as papers count"))
    placed = (
        [Text(f"{format_placed(found)}; --strict counts them as unlocated")] if (found := figures["placed"]) else []
    )
    return Group(Text(head, style="bold"), near, table_view(("figure", ">", ">95 % interval"), rows), *placed)


def _estimate(mapping: Mapping[str, float | None], decimals: int) -> tuple[str, str]:
    value, low, high = (
        "∞" if mapping[name] is None else f"{mapping[name]:,.{decimals}f}" for name in ("value", "low", "high")
    )
    if mapping["value"] is None:
        return NONE, ""
    # A lower end is never above the value: beside a finite one it is missing where scenes are too few for an interval.
    return value, "too few scenes" if mapping["low"] is None else f"{low} to {high}"
