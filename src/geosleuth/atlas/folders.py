"""Where the atlas keeps what it builds and what users add; nothing is written anywhere else.

``GEOSLEUTH_HOME`` puts both under one folder. Otherwise the XDG folders are used.
"""

import os
import sqlite3
from pathlib import Path


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


def open_readonly(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """A read-only connection; ``any_thread`` where it may be used in another thread than the one that opened it."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=not any_thread)
