"""Files of every part: written whole or not at all, by one at a time; JSON, TOML and YAML read within limits."""

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from geosleuth.support.errors import BadInput

# Maximum size of a line: far above any reply, so a longer line means another kind of file.
MAX_LINE_BYTES = 64 * 1024 * 1024

# Maximum size of a JSON list, which is read whole; the largest in any data set is a few megabytes.
MAX_JSON_BYTES = 512 * 1024 * 1024

NO_SUCH_FILE = "there is no such file; check the path"

_MAX_YAML_BYTES = 256 * 1024
_MAX_YAML_DEPTH = 12
_MAX_YAML_VALUES = 5_000
_MAX_TOML_BYTES = 64 * 1024
_MAX_TOML_DOTS = 100
_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


def read_regular(path: Path, most_bytes: int = MAX_JSON_BYTES) -> bytes:
    """Return the content of a regular file; a pipe, which may keep its reader for ever, is never opened for reading.

    Raises:
        BadInput: it is not a regular file, or larger than allowed.
        OSError: it can't be read.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise BadInput(f"{path}: is not a regular file; pass a file")
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise BadInput(f"{path}: is larger than {most_bytes // 1024:,} KiB; give a smaller one")
    return data


def read_json(path: Path, most_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return what a JSON file holds.

    Raises:
        BadInput: see `read_regular`; or it is nested too deeply.
        OSError: it can't be read.
        ValueError: it is not JSON.
    """
    try:
        return json.loads(read_regular(path, most_bytes))
    except RecursionError as error:
        raise BadInput(f"{path}: is nested too deeply; give a plainer file") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file of settings holds.

    Raises:
        BadInput: see `read_regular`; or it is nested too deeply, or not TOML; the message gives the line.
        OSError: it can't be read.
    """
    text = read_regular(path, _MAX_TOML_BYTES).decode("utf-8-sig", "surrogateescape")
    # The parser's time grows with the cube of a key's parts.
    for number, line in enumerate(text.splitlines(), 1):
        if any(part.count(".") > _MAX_TOML_DOTS for part in line.split("=")):
            raise BadInput(f"{path}, line {number}: is nested too deeply; a setting looks like: name = 'text'")
    try:
        return tomllib.loads(text.encode("utf-8", "surrogateescape").decode())
    except RecursionError as error:
        raise BadInput(f"{path}: is nested too deeply; a setting looks like: name = 'text'") from error
    except UnicodeDecodeError as error:
        at = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}, line {at}: is not UTF-8 text") from error
    except ValueError as error:
        found = _TOML_LINE.search(str(error))
        at = int(found[1]) if found else max(1, len(text.splitlines()))
        raise BadInput(f"{path}, line {at}: can't be read; a setting looks like: name = 'text'") from error


def byte_lines(path: Path, readline: Callable[[int], bytes], what: str) -> Iterator[bytes]:
    """Yield the lines of an open file, each with its end; ``what`` says what a line should be.

    Raises:
        BadInput: one is longer than 64 MiB.
    """
    number = 0
    while line := readline(MAX_LINE_BYTES):
        number += 1
        if len(line) >= MAX_LINE_BYTES and not line.endswith(b"\n"):
            raise BadInput(f"{path}:{number}: a line of more than 64 MiB is not a {what}")
        yield line


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary neighbour to fill; it takes the path's place when the block ends well, and vanishes otherwise.

    Raises:
        BadInput: the folder is missing or can't be written to, or something other than a file is in the way.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: can't be written: it is not a plain file")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        neighbour = Path(name)
        try:
            yield neighbour
            neighbour.chmod(_usual_mode(path))
            neighbour.replace(path)
        except BaseException:
            neighbour.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        BadInput: it can't be written there.
    """
    with replacing(path) as neighbour, neighbour.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def write_text_atomically(path: Path, text: str) -> None:
    r"""Write a UTF-8 text file whole or not at all.

    What UTF-8 can't hold (half a surrogate pair, from a reply cut in two) is written as an escape such as ``\ud83d``.

    Raises:
        BadInput: it can't be written there.
    """
    write_bytes_atomically(path, text.encode("utf-8", "backslashreplace"))


def compute_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, read in pieces.

    Raises:
        BadInput: it is not there or can't be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise BadInput(f"{path}: {NO_SUCH_FILE}") from error
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error


def link_or_copy(real: Path, path: Path) -> None:
    """Give a file a second name where the disk can, or else copy it; a change to the one may change the other.

    Raises:
        BadInput: it can't be written there.
    """
    # Not through `replacing`: setting the mode of a second name sets that of the file itself.
    try:
        os.link(real, path)
    except OSError:
        with replacing(path) as neighbour:
            shutil.copyfile(real, neighbour)


def lock_file(handle: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder for this process alone; closing it, or dying, lets go.

    Returns:
        Whether no other process holds it; None where the system or the disk knows no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def plain_yaml(path: Path) -> Any:
    """The root of a YAML file as a node, see ``yaml.compose``; None where the file is empty.

    There are no tags, no anchors and no aliases, so that a file can neither make objects nor grow; size and depth have
    limits.

    Raises:
        BadInput: it can't be read, is too large, or is not plain YAML; the message gives the line.
    """
    yaml: Any = import_module("yaml")
    try:
        data = read_regular(path, _MAX_YAML_BYTES)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    try:
        text = data.decode("utf-8-sig")
        _refuse_more_than_values(yaml, text, path)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: is not UTF-8 text") from error
    except yaml.YAMLError as error:
        raise BadInput(_yaml_trouble(path, error)) from error


def plain_yaml_values(path: Path) -> Any:
    """The same as mappings, lists and values.

    Raises:
        BadInput: see `plain_yaml`; or a value is none, such as a date that there is not.
    """
    yaml: Any = import_module("yaml")
    node = plain_yaml(path)
    loader = yaml.SafeLoader("")
    try:
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(_yaml_trouble(path, error)) from error
    finally:
        loader.dispose()


def yaml_complaint(path: Path, node: Any, trouble: str) -> BadInput:
    """An error about a part of a YAML file, with its line."""
    return BadInput(f"{path}, line {node.start_mark.line + 1}: {trouble}")


def _refuse_more_than_values(yaml: Any, text: str, path: Path) -> None:
    """Look through the file before anything is built from it."""
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        values += isinstance(event, yaml.NodeEvent)
        if values > _MAX_YAML_VALUES:
            raise yaml_complaint(path, event, f"more than {_MAX_YAML_VALUES:,} names and values; shorten it")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml_complaint(path, event, "anchors and aliases (& and *) are not read here; write it out")
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None) is not None:
            raise yaml_complaint(path, event, "tags (!) are not read here; write plain values")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_YAML_DEPTH:
            raise yaml_complaint(path, event, "is nested too deeply")


def _yaml_trouble(path: Path, error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    trouble = " ".join(str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).split())
    return f"{path}{f', line {mark.line + 1}' if mark else ''}: is not YAML: {trouble[:200]}"


def _usual_mode(path: Path) -> int:
    """The mode of the file that is replaced, or what a plain open() would have given."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there.

    Raises:
        BadInput: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: can't be made: {error.strerror or error}") from error


def refuse_to_replace(paths: Iterable[Path], *, overwrite: bool) -> None:
    """Refuse, before anything is written, to replace files that are there, unless ``--overwrite`` says otherwise.

    Raises:
        BadInput: one of the files is there already and may not be replaced, or its folder can't be looked into.
    """
    if overwrite:
        return
    for path in paths:
        try:
            there = path.exists() or path.is_symlink()
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: can't be written: {getattr(error, 'strerror', None) or error}") from error
        if there:
            raise BadInput(f"{path}: is there already; choose another name, or add --overwrite")
