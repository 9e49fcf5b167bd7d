"""Where the atlas keeps what it builds and what users add; nothing is written anywhere else.

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

from geosleuth.errors import BadInput, DataFault
from geosleuth.files import write_bytes_atomically

from .array_file import pack_arrays, unpack_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_FILES = 8_000
_T = TypeVar("_T")


def cache_dir() -> Path:
    """For what can be built again: the base atlas, answers of online services."""
    return _folder("cache", "XDG_CACHE_HOME", ".cache")


def data_dir() -> Path:
    """For what users added: regions, documents, tiles."""
    return _folder("data", "XDG_DATA_HOME", ".local/share")


def _folder(name: str, variable: str, default: str) -> Path:
    home = os.environ.get("GEOSLEUTH_HOME")
    if home:
        return Path(home) / name
    root = os.environ.get(variable)
    return (Path(root) if root else Path.home() / default) / "geosleuth"


def prepared(version: str) -> "KeptFiles":
    """For what many commands need and takes long to work out: "kind-version"."""
    return KeptFiles(cache_dir() / "prepared", version)


def packaged_arrays(package: str, name: str) -> list["NDArray[Any]"]:
    """Return the arrays of a compressed file in a package's folder ``data``, kept unpacked in the cache.

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

    return prepared(f"{name.partition('.')[0]}-{zlib.crc32(packed):08x}").arrays("arrays", unpacked)


def open_readonly(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open a file for reading; ``any_thread`` where another thread than this one may use the connection."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=not any_thread)


class KeptFiles:
    """Files of one version, "kind-version", in a folder of their own, up to some thousand.

    Those of other versions of the kind are cleared away when it is first written to. A folder that can't be written to
    is no trouble: then nothing is kept.
    """

    def __init__(self, root: Path, version: str) -> None:
        self._root, self._own = root, root / version
        self._ready = False
        self._files = 0

    def get(self, name: str, make: Callable[[], bytes], *, if_longer_s: float = 0.0) -> bytes:
        """The file of that name, made if it is not there; what is made in less time than said is not worth keeping."""
        path = self._own / name
        with suppress(OSError):
            return path.read_bytes()
        begin = time.thread_time()
        made = make()
        if time.thread_time() - begin >= if_longer_s:
            self._write(path, made)
        return made

    def load(self, name: str, make: Callable[[], bytes], read: Callable[[bytes], _T]) -> _T:
        """What a file says; one that can't be read is made anew."""
        path = self._own / name
        with suppress(Exception):  # whatever another version or a fault has left there
            return read(path.read_bytes())
        made = make()
        self._write(path, made)
        return read(made)

    def arrays(self, name: str, make: Callable[[], Sequence["NDArray[Any]"]]) -> list["NDArray[Any]"]:
        """Arrays that are read from disk as far as they are used."""
        path = self._own / name
        with suppress(Exception), path.open("rb") as stream:  # as in ``load``
            return unpack_arrays(mmap(stream.fileno(), 0, access=ACCESS_READ))
        made = pack_arrays(make())
        self._write(path, made)
        return unpack_arrays(made)

    def _write(self, path: Path, made: bytes) -> None:
        with suppress(OSError, BadInput):
            self._prepare()
            if self._files < _MOST_FILES:
                write_bytes_atomically(path, made)
                self._files += 1

    def _prepare(self) -> None:
        if self._ready:
            return
        self._own.mkdir(parents=True, exist_ok=True)
        kind = self._own.name.partition("-")[0]
        for other in os.scandir(self._root):
            if other.is_dir(follow_symlinks=False) and other.name.startswith(kind) and other.name != self._own.name:
                shutil.rmtree(other.path, ignore_errors=True)
        self._files = sum(1 for _ in os.scandir(self._own))
        self._ready = True
