"""A folder in pieces: files of a checkpoint cut to a size that can be sent anywhere, and put together again.

    OUT/pieces.json      every file with its size, its checksum and its pieces with theirs; written last
    OUT/00000.piece      at most 16 MB each

Both ways stream, so that memory does not matter, and the result is there whole or not at all.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from geosleuth.errors import BadInput

from .run_folder import Progress, nobody

MOST_BYTES = 16_000_000
MANIFEST = "pieces.json"
_FORMAT, _VERSION = "geosleuth-pieces", 1
_BLOCK = 1 << 20
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
