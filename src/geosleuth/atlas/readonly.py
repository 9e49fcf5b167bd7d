"""Opening the atlas's files: read-only, and without locks, since a finished file never changes in place."""

import sqlite3
from pathlib import Path


def open_readonly(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """A read-only connection; ``any_thread`` where it may be used in another thread than the one that opened it."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=not any_thread)
