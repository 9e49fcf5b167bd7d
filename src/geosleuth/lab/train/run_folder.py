"""A run's folder: its files, its lock, and the checkpoint a killed run resumes from.

    RUN/recipe.yaml      the resolved recipe; another one is refused once there is something to resume
    RUN/policy_card.json how the policy is shown its tasks; every policy of the run gets a copy
    RUN/scenes/          pictures of scenes, where fine-tuning asks about them
    RUN/metrics.jsonl    figures, one JSON object a line
    RUN/checkpoints/     checkpoint-N, as transformers writes them
    RUN/policy/          the finished policy, for `--model hf:RUN/policy`
    RUN/evaluations/     step-N, where the recipe evaluates while it trains: see `geosleuth.lab.train.evaluation`
    RUN/best/            the best policy by these, and best.json: which step, by what
    RUN/run.html         the page
    RUN/tensorboard/
    RUN/done.json        written last: the figures of the run

A checkpoint counts as whole once its `trainer_state.json` can be read: that file is written after all others, and
before an older checkpoint is removed, so there is always one to resume from. A damaged one is renamed `damaged-N`,
and the run resumes from the one before it.
"""

import json
import logging
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from geosleuth.agent.policy_card import card_beside
from geosleuth.lab.bench.sets import CARDS
from geosleuth.models.training_mark import find_learned_tests, write_learned_tests
from geosleuth.models.weights import check_safetensors
from geosleuth.support.errors import BadInput
from geosleuth.support.files import lock_file, plain_yaml_values, write_text_atomically

from .recipe import Recipe
from .recipe_files import as_mapping, build_recipe

_ZIPS = (".pt", ".pth", ".bin")
# Up to here all checksums are compared. Of larger files only those that say how the rest is to be read are: reading
# the optimiser's state of a large model to its end takes minutes.
_MAX_CHECKED_BYTES = 256_000_000
_BLOCK = 1 << 20
# What json and zipfile raise when they read nonsense; NotImplementedError and RecursionError are RuntimeErrors.
_READ_ERRORS = (
    BadInput, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, BadZipFile,
    struct.error, zlib.error,
)  # fmt: skip

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""
_log = logging.getLogger(__name__)
STATE = "trainer_state.json"
_CHECKPOINT = re.compile(r"checkpoint-([0-9]+)")
_WEIGHTS = ("*.safetensors", "pytorch_model_fsdp*", "global_step*")
_LOWER_IS_BETTER = frozenset({"median_km"})


def find_damaged_file(checkpoint: Path) -> str | None:
    """Return the first file of a checkpoint that is cut short or can't be read; None if all are well."""
    for path in sorted(checkpoint.rglob("*")):
        if not path.is_file():
            continue
        try:
            _check_file(path)
        except _READ_ERRORS:
            return path.relative_to(checkpoint).as_posix()
    return None


def _check_file(path: Path) -> None:
    """Raise one of `_READ_ERRORS` where a file is damaged."""
    if path.suffix == ".safetensors":
        check_safetensors(path)
    elif path.suffix in _ZIPS:
        _check_zip(path)
    elif path.suffix == ".json":
        json.loads(path.read_bytes())


def _check_zip(path: Path) -> None:
    """Check the checksums of a file that torch saved as zip."""
    small = path.stat().st_size <= _MAX_CHECKED_BYTES
    with ZipFile(path) as archive:
        for item in archive.infolist():
            _check_entry(archive, item, whole=small or item.filename.endswith(".pkl"))


def _check_entry(archive: ZipFile, info: ZipInfo, *, whole: bool) -> None:
    with archive.open(info) as stream:  # compares the names at both places
        while whole and stream.read(_BLOCK):
            pass


def no_progress(_done: int, _total: int) -> None:
    """Ignore progress."""


class TrainingFolder:
    """The files of a run, as the head of this module lists them; `chosen` says which step the best policy is of."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened or made."""
        self.path = path
        self.recipe, self.metrics, self.page = path / "recipe.yaml", path / "metrics.jsonl", path / "run.html"
        self.scenes, self.checkpoints, self.policy = path / "scenes", path / "checkpoints", path / "policy"
        self.evaluations, self.best, self.chosen = path / "evaluations", path / "best", path / "best.json"
        self.tensorboard, self.done = path / "tensorboard", path / "done.json"


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a run; ``policy`` is a folder of weights.

    ``complete`` is False if the run stopped early: there is a checkpoint to resume from, and no policy yet.
    """

    folder: Path
    policy: Path
    steps: int
    figures: Mapping[str, float] = field(default_factory=dict, hash=False)
    complete: bool = True


@contextmanager
def lock_run(folder: Path, recipe: Recipe, *, resume: bool = True) -> Iterator[TrainingFolder]:
    """Lock a run's folder, new or to be resumed; half-written checkpoints are removed.

    If several processes train together, the first of them does this.

    Raises:
        BadInput: it holds a run of another recipe, or any run without ``resume``, or only damaged checkpoints, or
            another process trains there.
    """
    run = TrainingFolder(folder)
    if not is_first_process():
        yield run
        return
    try:
        run.checkpoints.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise BadInput(f"{folder}: can't be used for a run: {error.strerror or error}") from error
    try:
        if lock_file(handle) is False:
            raise BadInput(f"{folder}: another process trains here; wait for it, or give another folder")
        _claim(run, recipe, resume=resume)
        _drop_cut(run)
        if not run.done.exists():
            _set_damaged_aside(run)
        yield run
    finally:
        os.close(handle)


def is_first_process() -> bool:
    """Return whether this process writes the files of a run that may have several."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(run: TrainingFolder) -> Path | None:
    """Return the newest whole checkpoint; None if there is none."""
    return next((path for _, path in sorted(list_checkpoints(run), reverse=True) if is_whole(path)), None)


def parse_step(checkpoint: Path) -> int:
    """Return after how many steps a checkpoint was made."""
    found = _CHECKPOINT.fullmatch(checkpoint.name)
    if found is None:
        raise BadInput(f"{checkpoint}: not a checkpoint of a run")
    return int(found[1])


def is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint is complete, and its files have the right length and can be read.

    Weights that were changed in place are not detected: their format has no checksums.
    """
    return not _is_cut(checkpoint) and _damage(checkpoint) is None


def _is_cut(checkpoint: Path) -> bool:
    """Return whether writing a checkpoint was interrupted: its last file is missing or incomplete."""
    try:
        text = (checkpoint / STATE).read_text(encoding="utf-8").strip()
        json.loads(text)
    except FileNotFoundError:
        return True
    except json.JSONDecodeError as error:
        return not error.doc or error.doc.startswith("{")
    except (OSError, ValueError, RecursionError):
        return False
    return False


def _damage(checkpoint: Path) -> str | None:
    if (found := find_damaged_file(checkpoint)) is not None:
        return found
    state = json.loads((checkpoint / STATE).read_bytes())
    if not isinstance(state, dict) or state.get("global_step") != parse_step(checkpoint):
        return STATE
    return None if any(next(checkpoint.glob(pattern), None) for pattern in _WEIGHTS) else _WEIGHTS[0]


def write_done(run: TrainingFolder, steps: int, figures: Mapping[str, float]) -> Finished:
    """Mark a run as finished; everything else must be written by then. Only finite figures are kept."""
    plain = {name: float(value) for name, value in figures.items() if isfinite(value)}
    mark_policy(run, run.policy)
    write_text_atomically(run.done, json.dumps({"steps": steps, "figures": plain}, indent=1) + "\n")
    return Finished(run.path, run.policy, steps, plain)


def mark_policy(run: TrainingFolder, policy: Path) -> None:
    """Say in a policy's folder how it was trained, and whose test photos it learned by this run or the one before."""
    if not run.recipe.is_file() or not policy.is_dir():
        return
    if (card := card_beside(run.path)) is not None:
        card.write(policy)
    recipe = build_recipe(plain_yaml_values(run.recipe), str(run.recipe))
    names = {spec.partition(":")[0].partition("@")[0].strip().lower(): spec for spec in recipe.data.photos or ()}
    tests = [name for name in names if name in CARDS and CARDS[name].part == "test"] or list(names.values())
    write_learned_tests(
        policy, [*find_learned_tests(Path(recipe.model.path)), *(tests if recipe.data.allow_test else ())]
    )


def read_finished(run: TrainingFolder) -> Finished | None:
    """Return the result of a run; None if it has not ended.

    Raises:
        BadInput: its last file is damaged.
    """
    if not run.done.is_file():
        return None
    try:
        record = json.loads(run.done.read_text(encoding="utf-8"))
        figures = {str(name): float(value) for name, value in record["figures"].items()}
        return Finished(run.path, run.policy, int(record["steps"]), figures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"{run.done}: damaged; remove it, and resume the run to write it again") from error


def keep_best(run: TrainingFolder, step: int, figure: str, value: float, save: Callable[[Path], object]) -> bool:
    """Have a policy saved as the best of its run, where its figure is better than that of the best so far.

    ``save`` writes it to a folder, complete or not at all. Returns whether it was better.
    """
    before = read_best(run)
    sign = -1 if figure in _LOWER_IS_BETTER else 1
    if before is not None and before["figure"] == figure and sign * value <= sign * before["value"]:
        return False
    save(run.best)
    mark_policy(run, run.best)
    # Written last: what a killed process has not noted is chosen again from the same step.
    write_text_atomically(run.chosen, json.dumps({"step": step, "figure": figure, "value": value}) + "\n")
    return True


def read_best(run: TrainingFolder) -> dict[str, Any] | None:
    """Return which step the best policy is of, by which figure, and its value; None if there is none."""
    with suppress(OSError, ValueError):
        found = json.loads(run.chosen.read_bytes())
        if isinstance(found, dict) and {"step", "figure", "value"} <= set(found) and run.best.is_dir():
            return found
    return None


def list_checkpoints(run: TrainingFolder) -> Iterator[tuple[int, Path]]:
    """Yield the checkpoints of a run with their steps, whole or not, in no order."""
    for path in run.checkpoints.iterdir() if run.checkpoints.is_dir() else ():
        if path.is_dir() and (found := _CHECKPOINT.fullmatch(path.name)):
            yield int(found[1]), path


def _claim(run: TrainingFolder, recipe: Recipe, *, resume: bool) -> None:
    wanted = as_mapping(recipe)
    if not run.recipe.exists():
        if any(list_checkpoints(run)) or run.done.exists():
            raise BadInput(f"{run.path}: holds a run without its recipe; give another folder")
        _write_recipe(run, wanted)
        return
    there = plain_yaml_values(run.recipe)
    if _is_vacant(run, there, wanted):
        _write_recipe(run, wanted)
        return
    if not resume:
        raise BadInput(f"{run.path}: holds a run already; resume it, or give another folder")
    if there != wanted:
        raise BadInput(f"{run.path}: holds a run of another recipe ({_difference(there, wanted)}); give another folder")


def _write_recipe(run: TrainingFolder, wanted: Mapping[str, Any]) -> None:
    yaml: Any = import_module("yaml")
    text = yaml.safe_dump(dict(wanted), sort_keys=False, allow_unicode=True, width=120)
    write_text_atomically(run.recipe, text)


def _is_vacant(run: TrainingFolder, there: Any, wanted: Mapping[str, Any]) -> bool:
    """Return whether a run died here before its first checkpoint: the folder may be reused."""
    if run.done.exists() or run.policy.exists() or not all(_is_cut(path) for _, path in list_checkpoints(run)):
        return False
    same_data = isinstance(there, Mapping) and there.get("data") == wanted["data"]
    return same_data or not run.scenes.exists()


def _difference(there: Any, wanted: Any, at: str = "") -> str:
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        for key in [*wanted, *(key for key in there if key not in wanted)]:
            if there.get(key) != wanted.get(key):
                return _difference(there.get(key), wanted.get(key), f"{at}.{key}" if at else str(key))
    return f"{at or 'all of it'} was {str(there)[:60]} and is {str(wanted)[:60]}"


def _drop_cut(run: TrainingFolder) -> None:
    """Remove incomplete checkpoints of a killed process: they count against how many are kept."""
    for _, path in list(list_checkpoints(run)):
        if _is_cut(path):
            shutil.rmtree(path, ignore_errors=True)


def _set_damaged_aside(run: TrainingFolder) -> None:
    """Move damaged checkpoints out of the way; they would count against how many are kept.

    Raises:
        BadInput: all are damaged; the user decides whether to start over.
    """
    found = sorted(list_checkpoints(run), reverse=True)
    damaged = {path: trouble for _, path in found if (trouble := _damage(path)) is not None}
    if not damaged:
        return
    whole = next((path for _, path in found if path not in damaged), None)
    if whole is None:
        path, trouble = next(iter(damaged.items()))
        raise BadInput(
            f"{path / trouble}: damaged, and no older checkpoint is complete;"
            f" delete {run.checkpoints} to start over, or give another folder"
        )
    for path, trouble in damaged.items():
        aside = path.with_name(f"damaged-{parse_step(path)}")
        shutil.rmtree(aside, ignore_errors=True)
        path.replace(aside)
        _log.warning("%s is damaged; resuming from %s; you may delete %s", path / trouble, whole.name, aside)
