"""A run's folder: its files, who may write, the checkpoint a killed run goes on from, and a folder cut into pieces.

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

    OUT/pieces.json      every file with its size, its checksum and its pieces with theirs; written last
    OUT/00000.piece      at most 16 MB each

Both ways stream, so that memory does not matter, and the result is there whole or not at all.
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
from hashlib import sha256
from importlib import import_module
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from geosleuth.errors import BadInput
from geosleuth.files import lock_file, plain_yaml_values, write_text_atomically
from geosleuth.policies.weights import check_safetensors

from .recipe import Recipe
from .recipe_files import as_mapping, recipe_of

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


MOST_BYTES = 16_000_000
MANIFEST = "pieces.json"
_FORMAT, _VERSION = "geosleuth-pieces", 1
# A list of a million pieces, 16 TB of them, has about as many bytes.
_MOST_MANIFEST_BYTES = 160_000_000


@dataclass(frozen=True, slots=True)
class Pieces:
    """What was written or put together: where, how many files and pieces, and how many bytes."""

    folder: Path
    files: int
    pieces: int
    size: int


def split(folder: Path, out: Path, *, most_bytes: int = MOST_BYTES, progress: Progress = nobody) -> Pieces:
    """Cut the files of a folder, and of those in it, into pieces.

    Args:
        folder: what to cut; it is left alone.
        out: a new folder for the pieces.
        most_bytes: the size of the largest piece.
        progress: hears how many bytes are done.

    Raises:
        BadInput: there is nothing to cut, something in it is no plain file, or the pieces can't be written there.
    """
    if most_bytes < 1:
        raise BadInput("pieces must have at least one byte")
    if out.resolve().is_relative_to(folder.resolve()):
        raise BadInput(f"{out}: lies within {folder}, which is to be cut; give a folder outside of it")
    paths = list(_plain_files(folder))
    if not paths:
        raise BadInput(f"{folder}: holds no files to cut into pieces")
    total = sum(path.stat().st_size for path in paths)
    files: list[dict[str, Any]] = []
    done = count = 0
    with _beside(out) as part:
        for path in paths:
            whole = sha256()
            pieces: list[dict[str, Any]] = []
            with path.open("rb") as stream:
                while True:
                    name = f"{count:05d}.piece"
                    size, digest = _copied(stream.read, part / name, most_bytes, whole)
                    if not size:
                        (part / name).unlink()
                        break
                    pieces.append({"name": name, "size": size, "sha256": digest})
                    count, done = count + 1, done + size
                    progress(done, total)
            own = sum(piece["size"] for piece in pieces)
            name = path.relative_to(folder).as_posix()
            files.append({"path": name, "size": own, "sha256": whole.hexdigest(), "pieces": pieces})
        told = {"format": _FORMAT, "version": _VERSION, "files": files}
        (part / MANIFEST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return Pieces(out, len(files), count, done)


def join(pieces: Path, out: Path, *, progress: Progress = nobody) -> Pieces:
    """Put a folder together from its pieces.

    Args:
        pieces: the folder that `split` wrote.
        out: a new folder.
        progress: hears how many bytes are done.

    Raises:
        BadInput: a piece is missing or damaged, the list of pieces is, or the folder can't be written.
    """
    files = _manifest(pieces / MANIFEST)
    total = sum(file["size"] for file in files)
    done = count = 0
    with _beside(out) as part:
        for file in files:
            path, whole = part / file["path"], sha256()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as stream:
                for piece in file["pieces"]:
                    for block in _checked(pieces / piece["name"], piece):
                        stream.write(block)
                        whole.update(block)
                    count, done = count + 1, done + piece["size"]
                    progress(done, total)
                stream.flush()
                os.fsync(stream.fileno())
            if whole.hexdigest() != file["sha256"]:
                raise BadInput(f"{pieces}: the pieces of {file['path']} do not belong together; get them again")
    return Pieces(out, len(files), count, done)


def _plain_files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise BadInput(f"{folder}: is no folder")
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise BadInput(f"{path}: is no plain file; pieces hold plain files alone")
        if path.is_file():
            yield path


def _copied(read: Callable[[int], bytes], path: Path, most: int, whole: Any) -> tuple[int, str]:
    """Write the next piece of a stream; its size and checksum."""
    own, size = sha256(), 0
    with path.open("xb") as stream:
        while size < most and (block := read(min(_BLOCK, most - size))):
            stream.write(block)
            own.update(block)
            whole.update(block)
            size += len(block)
        stream.flush()
        os.fsync(stream.fileno())
    return size, own.hexdigest()


def _checked(path: Path, piece: Mapping[str, Any]) -> Iterator[bytes]:
    found, size = sha256(), 0
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
                size += len(block)
                if size > piece["size"]:
                    break
                yield block
    except FileNotFoundError:
        raise BadInput(f"{path}: is missing; get it again") from None
    if size != piece["size"] or found.hexdigest() != piece["sha256"]:
        raise BadInput(f"{path}: is damaged; get it again")


def _manifest(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_MANIFEST_BYTES + 1)
        if len(data) > _MOST_MANIFEST_BYTES:
            raise BadInput(f"{path}: is larger than any list of pieces; it is not used")
        told = json.loads(data)
    except FileNotFoundError:
        raise BadInput(f"{path.parent}: holds no {MANIFEST}, so it is no folder of pieces") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: can't be read; get it again") from error
    try:
        if (told["format"], told["version"]) != (_FORMAT, _VERSION):
            raise BadInput(f"{path}: is of another kind or version than {_FORMAT} {_VERSION}")
        files = [_file(path, file) for file in told["files"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(f"{path}: is damaged; get it again") from error
    if len({file["path"] for file in files}) != len(files):
        raise BadInput(f"{path}: names a file twice")
    return files


def _file(manifest: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    """A file of the manifest; whoever wrote it must not be able to name files outside of the folder."""
    where = PurePosixPath(told["path"])
    pieces: list[dict[str, Any]] = [
        {"name": str(one["name"]), "size": int(one["size"]), "sha256": str(one["sha256"])} for one in told["pieces"]
    ]
    names = [*where.parts, *(piece["name"] for piece in pieces)]
    unsafe = any(name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name for name in names)
    if unsafe or not where.parts or where.is_absolute():
        raise BadInput(f"{manifest}: names files outside of its folder; it is not used")
    return {"path": where.as_posix(), "size": int(told["size"]), "sha256": str(told["sha256"]), "pieces": pieces}


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A folder to fill that becomes ``out`` when the block ends well, and vanishes otherwise."""
    if out.exists():
        raise BadInput(f"{out}: is there already; give another folder, or remove it")
    part = out.with_name(f".{out.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        yield part
        part.replace(out)
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
