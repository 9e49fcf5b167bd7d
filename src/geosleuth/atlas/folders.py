"""The folders of the atlas: a cache of what can be rebuilt, and the data that users add. It writes nowhere else.

``GEOSLEUTH_HOME`` puts both under one folder. Otherwise the XDG folders are used.
"""

import gzip
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from geosleuth.support.errors import BadInput, DataFault
from geosleuth.support.files import write_bytes_atomically

from .array_file import pack_arrays, unpack_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_FILES = 8_000
_T = TypeVar("_T")


def cache_dir() -> Path:
    """Return the folder of what can be rebuilt: the base atlas, cached answers of online services, downloads."""
    return _find_folder("cache", "XDG_CACHE_HOME", ".cache")


def data_dir() -> Path:
    """Return the folder of what users added: regions, gazetteers, documents, tiles."""
    return _find_folder("data", "XDG_DATA_HOME", ".local/share")


def _find_folder(name: str, variable: str, default: str) -> Path:
    home = os.environ.get("GEOSLEUTH_HOME")
    if home:
        return Path(home) / name
    root = os.environ.get(variable)
    return (Path(root) if root else Path.home() / default) / "geosleuth"


def open_prepared_files(version: str) -> "KeptFiles":
    """Return the cached files of computed data that many commands need; ``version`` is "kind-version"."""
    return KeptFiles(cache_dir() / "prepared", version)


def load_packaged_arrays(package: str, name: str) -> list["NDArray[Any]"]:
    """Return the arrays of a compressed file in a package's ``data`` folder; the cache keeps them unpacked.

    Raises:
        DataFault: the file is missing or damaged.
    """
    source = files(package) / "data" / name
    try:
        packed = source.read_bytes()
    except OSError as error:
        raise DataFault(f"a packaged table can't be read: {source}") from error

    def unpacked() -> list["NDArray[Any]"]:
        try:
            return unpack_arrays(gzip.decompress(packed))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise DataFault(f"a packaged table is damaged: {source}; install geosleuth again") from error

    return open_prepared_files(f"{name.partition('.')[0]}-{zlib.crc32(packed):08x}").arrays("arrays", unpacked)


def open_readonly(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open a SQLite file for reading; ``any_thread`` lets other threads use the connection."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=not any_thread)


class KeptFiles:
    """A cache of files that are computed on first use, in a folder named after their version ("kind-version").

    The first write deletes the folders of other versions of the same kind. If the folder can't be written to, or holds
    `_MAX_FILES` files, new files are computed but not kept.
    """

    def __init__(self, root: Path, version: str) -> None:
        self._root, self._own = root, root / version
        self._ready = False
        self._files = 0

    def get(self, name: str, make: Callable[[], bytes], *, if_longer_s: float = 0.0) -> bytes:
        """Return a file's content; call ``make`` if it is missing, and keep the result if that took ``if_longer_s``."""
        path = self._own / name
        with suppress(OSError):
            return path.read_bytes()
        begin = time.thread_time()
        made = make()
        if time.thread_time() - begin >= if_longer_s:
            self._write_file(path, made)
        return made

    def load(self, name: str, make: Callable[[], bytes], read: Callable[[bytes], _T]) -> _T:
        """Return a file's content as parsed by ``read``; call ``make`` if the file is missing or can't be parsed."""
        path = self._own / name
        with suppress(Exception):  # a damaged file may fail in any way
            return read(path.read_bytes())
        made = make()
        self._write_file(path, made)
        return read(made)

    def arrays(self, name: str, make: Callable[[], Sequence["NDArray[Any]"]]) -> list["NDArray[Any]"]:
        """Return the arrays of a file, memory-mapped; call ``make`` if the file is missing or damaged."""
        path = self._own / name
        with suppress(Exception), path.open("rb") as stream:  # as in ``load``
            return unpack_arrays(mmap(stream.fileno(), 0, access=ACCESS_READ))
        made = pack_arrays(make())
        self._write_file(path, made)
        return unpack_arrays(made)

    def _write_file(self, path: Path, made: bytes) -> None:
        with suppress(OSError, BadInput):
            self._prepare()
            if self._files < _MAX_FILES:
                write_bytes_atomically(path, made)
                self._files += 1

    def _prepare(self) -> None:
        """Before the first write: make the folder, delete other versions, count the files."""
        if self._ready:
            return
        self._own.mkdir(parents=True, exist_ok=True)
        kind = self._own.name.partition("-")[0]
        for other in os.scandir(self._root):
            if other.is_dir(follow_symlinks=False) and other.name.startswith(kind) and other.name != self._own.name:
                shutil.rmtree(other.path, ignore_errors=True)
        self._files = sum(1 for _ in os.scandir(self._own))
        self._ready = True
