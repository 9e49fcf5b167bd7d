"""Tiles that were made once: the latest in memory, those of low zooms on disk."""

import os
import shutil
import threading
import time
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import shapely

from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically

_OWN_COST = 200  # bytes that an entry takes beside its own
_MOST_FILES = 8_000
_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, shapely.errors.ShapelyError, zipfile.BadZipFile)
_T = TypeVar("_T")


class Memory:
    """The latest results, as many as fit into so many bytes. What is being made is not made twice at once."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    @property
    def held_bytes(self) -> int:
        """What is held now."""
        return self._held

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What is known under a key, or what ``make`` makes."""
        known = self._known(key)
        if known is not None:
            return known
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                known = self._known(key)
                return self._keep(key, make()) if known is None else known
        finally:
            with self._lock:
                self._making.pop(key, None)

    def _known(self, key: Hashable) -> bytes | None:
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
            return known

    def _keep(self, key: Hashable, made: bytes) -> bytes:
        with self._lock:
            self._kept[key] = made
            self._held += len(made) + _OWN_COST
            while self._held > self._most and self._kept:
                _, old = self._kept.popitem(last=False)
                self._held -= len(old) + _OWN_COST
        return made


class Folder:
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
        with suppress(*_UNREADABLE):
            return read(path.read_bytes())
        made = make()
        self._write(path, made)
        return read(made)

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
