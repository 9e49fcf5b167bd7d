"""A run's folder: its files, who may write to it, and the checkpoint from which a killed run goes on.

    RUN/recipe.yaml      the resolved recipe; another one is refused once there is something to go on from
    RUN/scenes/          pictures of scenes, where fine-tuning asks about them
    RUN/metrics.jsonl    figures, one JSON object a line
    RUN/checkpoints/     checkpoint-N, as transformers writes them
    RUN/policy/          the finished policy, for `--model hf:RUN/policy`
    RUN/run.html         the page
    RUN/tensorboard/
    RUN/done.json        written last: the figures of the run

A checkpoint counts as whole once its `trainer_state.json` can be read: that file is written after all others, and
before an older checkpoint is removed, so that there is always one to go on from. One whose files were damaged since is
set aside as `damaged-N`, and the run goes on from the one before it.
"""

import json
import logging
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from geosleuth.errors import BadInput
from geosleuth.files import lock_file, plain_yaml_values, write_text_atomically
from geosleuth.policies.weights import check_safetensors

from .reading import as_mapping, recipe_of
from .recipe import Recipe

_ZIPS = (".pt", ".pth", ".bin")
# Up to here all checksums are compared. Of larger files only those that say how the rest is to be read are: reading
# the optimiser's state of a large model to its end takes minutes.
_MOST_CHECKED_BYTES = 256_000_000
_BLOCK = 1 << 20
# What json and zipfile raise when they read nonsense; NotImplementedError and RecursionError are RuntimeErrors.
_TROUBLES = (
    BadInput, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, BadZipFile,
    struct.error, zlib.error,
)  # fmt: skip


def damaged_file(checkpoint: Path) -> str | None:
    """The first file of a checkpoint that is cut short or can't be read; None where all are well."""
    for path in sorted(checkpoint.rglob("*")):
        if not path.is_file():
            continue
        try:
            _check(path)
        except _TROUBLES:
            return path.relative_to(checkpoint).as_posix()
    return None


def _check(path: Path) -> None:
    """Raise one of `_TROUBLES` where a file is damaged."""
    if path.suffix == ".safetensors":
        check_safetensors(path)
    elif path.suffix in _ZIPS:
        _check_zip(path)
    elif path.suffix == ".json":
        json.loads(path.read_bytes())


def _check_zip(path: Path) -> None:
    """What torch saves is a zip file, with checksums."""
    small = path.stat().st_size <= _MOST_CHECKED_BYTES
    with ZipFile(path) as archive:
        for one in archive.infolist():
            _check_entry(archive, one, whole=small or one.filename.endswith(".pkl"))


def _check_entry(archive: ZipFile, one: ZipInfo, *, whole: bool) -> None:
    with archive.open(one) as stream:  # compares the names at both places
        while whole and stream.read(_BLOCK):
            pass


Progress = Callable[[int, int], None]
"""Hears how much is done, and of how much."""

_log = logging.getLogger(__name__)

STATE = "trainer_state.json"
_CHECKPOINT = re.compile(r"checkpoint-([0-9]+)")
_WEIGHTS = ("*.safetensors", "pytorch_model_fsdp*", "global_step*")


def nobody(_done: int, _total: int) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where the parts of a run lie."""

    path: Path

    @property
    def recipe(self) -> Path:
        """The resolved recipe."""
        return self.path / "recipe.yaml"

    @property
    def scenes(self) -> Path:
        """Pictures of scenes that questions are asked about."""
        return self.path / "scenes"

    @property
    def metrics(self) -> Path:
        """Figures by step."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def policy(self) -> Path:
        """The finished policy."""
        return self.path / "policy"

    @property
    def page(self) -> Path:
        """The page of the run."""
        return self.path / "run.html"

    @property
    def tensorboard(self) -> Path:
        """Event files."""
        return self.path / "tensorboard"

    @property
    def done(self) -> Path:
        """What is written last."""
        return self.path / "done.json"


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run; ``policy`` is a folder of weights.

    ``complete`` is False where the run was to stop earlier: there is a checkpoint to go on from, and no policy yet.
    """

    folder: Path
    policy: Path
    steps: int
    figures: Mapping[str, float] = field(default_factory=dict, hash=False)
    complete: bool = True


@contextmanager
def held_run(folder: Path, recipe: Recipe, *, resume: bool = True) -> Iterator[RunFolder]:
    """A run's folder, new or to be gone on with, for this run alone; checkpoints that were cut off are removed.

    Where several processes train together, the first of them sees to all this.

    Raises:
        BadInput: it holds a run of another recipe, or any run where ``resume`` is off, or only checkpoints that are
            damaged, or somebody trains there.
    """
    run = RunFolder(folder)
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
    """Whether this process writes the files of a run that may have several."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(run: RunFolder) -> Path | None:
    """The newest whole checkpoint; None where there is none."""
    return next((path for _, path in sorted(_checkpoints(run), reverse=True) if is_whole(path)), None)


def step_of(checkpoint: Path) -> int:
    """After how many steps a checkpoint was made."""
    found = _CHECKPOINT.fullmatch(checkpoint.name)
    if found is None:
        raise BadInput(f"{checkpoint}: is no checkpoint of a run")
    return int(found[1])


def is_whole(checkpoint: Path) -> bool:
    """Whether a checkpoint was written to its end, and its files are still as long and as readable as they should be.

    Weights that were changed in place are not noticed: their format has no checksums.
    """
    return not _is_cut(checkpoint) and _damage(checkpoint) is None


def _is_cut(checkpoint: Path) -> bool:
    """Whether whoever wrote a checkpoint was killed meanwhile: the file that comes last is missing or half-written."""
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
    """Which part of a checkpoint that was written to its end is no longer as it was; None where all is well."""
    if (found := damaged_file(checkpoint)) is not None:
        return found
    state = json.loads((checkpoint / STATE).read_bytes())
    if not isinstance(state, dict) or state.get("global_step") != step_of(checkpoint):
        return STATE
    return None if any(next(checkpoint.glob(pattern), None) for pattern in _WEIGHTS) else _WEIGHTS[0]


def write_done(run: RunFolder, steps: int, figures: Mapping[str, float]) -> Finished:
    """Close a run; everything else must be written by then. What is no finite number is left out."""
    plain = {name: float(value) for name, value in figures.items() if isfinite(value)}
    write_text_atomically(run.done, json.dumps({"steps": steps, "figures": plain}, indent=1) + "\n")
    return Finished(run.path, run.policy, steps, plain)


def finished(run: RunFolder) -> Finished | None:
    """What a run came to; None where it has not ended.

    Raises:
        BadInput: its last file is damaged.
    """
    if not run.done.is_file():
        return None
    try:
        told = json.loads(run.done.read_text(encoding="utf-8"))
        figures = {str(name): float(value) for name, value in told["figures"].items()}
        return Finished(run.path, run.policy, int(told["steps"]), figures)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"{run.done}: is damaged; remove it, and the run is finished again") from error


def _checkpoints(run: RunFolder) -> Iterator[tuple[int, Path]]:
    for path in run.checkpoints.iterdir() if run.checkpoints.is_dir() else ():
        if path.is_dir() and (found := _CHECKPOINT.fullmatch(path.name)):
            yield int(found[1]), path


def _claim(run: RunFolder, recipe: Recipe, *, resume: bool) -> None:
    wanted = as_mapping(recipe)
    if not run.recipe.exists():
        if any(_checkpoints(run)) or run.done.exists():
            raise BadInput(f"{run.path}: holds a run without its recipe; give another folder")
        _write_recipe(run, wanted)
        return
    there = _completed(plain_yaml_values(run.recipe))
    if _is_vacant(run, there, wanted):
        _write_recipe(run, wanted)
        return
    if not resume:
        raise BadInput(f"{run.path}: holds a run already; go on with it, or give another folder")
    if there != wanted:
        raise BadInput(f"{run.path}: holds a run of another recipe ({_difference(there, wanted)}); give another folder")


def _write_recipe(run: RunFolder, wanted: Mapping[str, Any]) -> None:
    yaml: Any = import_module("yaml")
    text = yaml.safe_dump(dict(wanted), sort_keys=False, allow_unicode=True, width=120)
    write_text_atomically(run.recipe, text)


def _completed(there: Any) -> Any:
    """A kept recipe with the settings that there were not yet when it was written."""
    try:
        return as_mapping(recipe_of(there))
    except BadInput:
        return there


def _is_vacant(run: RunFolder, there: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether a run died here before there was anything to go on from: the folder is anybody's."""
    if run.done.exists() or run.policy.exists() or not all(_is_cut(path) for _, path in _checkpoints(run)):
        return False
    same_data = isinstance(there, Mapping) and there.get("data") == wanted["data"]
    return same_data or not run.scenes.exists()


def _difference(there: Any, wanted: Any, at: str = "") -> str:
    """The first thing that differs, in words."""
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        for key in [*wanted, *(key for key in there if key not in wanted)]:
            if there.get(key) != wanted.get(key):
                return _difference(there.get(key), wanted.get(key), f"{at}.{key}" if at else str(key))
    return f"{at or 'all of it'} was {str(there)[:60]} and is {str(wanted)[:60]}"


def _drop_cut(run: RunFolder) -> None:
    """Remove checkpoints that a killed process left half-written: they count against how many are kept."""
    for _, path in list(_checkpoints(run)):
        if _is_cut(path):
            shutil.rmtree(path, ignore_errors=True)


def _set_damaged_aside(run: RunFolder) -> None:
    """Move checkpoints out of the way that were damaged since; they would count against how many are kept.

    Raises:
        BadInput: no other is there; to begin anew is for somebody else to decide.
    """
    found = sorted(_checkpoints(run), reverse=True)
    damaged = {path: trouble for _, path in found if (trouble := _damage(path)) is not None}
    if not damaged:
        return
    whole = next((path for _, path in found if path not in damaged), None)
    if whole is None:
        path, trouble = next(iter(damaged.items()))
        raise BadInput(
            f"{path / trouble}: is damaged, and no older checkpoint is whole;"
            f" delete {run.checkpoints} to begin anew, or give another folder"
        )
    for path, trouble in damaged.items():
        aside = path.with_name(f"damaged-{step_of(path)}")
        shutil.rmtree(aside, ignore_errors=True)
        path.replace(aside)
        _log.warning("%s is damaged; going on from %s; you may delete %s", path / trouble, whole.name, aside)
