"""What was worked out about photos, kept on disk: whatever was paid for or took long is never done twice."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geosleuth.atlas.folders import cache_dir
from geosleuth.errors import BadInput
from geosleuth.files import committed

_SCHEMA = """
CREATE TABLE IF NOT EXISTS known (
    question TEXT NOT NULL, by TEXT NOT NULL, photo TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (question, by, photo)
) WITHOUT ROWID
"""
_WAIT_S = 30.0


def memory_path() -> Path:
    """Where it lies without a word of the user: in the cache folder."""
    return cache_dir() / "makers-1.sqlite"


class Memory:
    """Answers by question, by who answered, and by the SHA-256 of the photo's file. Several threads may use it."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        """Take a connection that several threads may use, and the file that it is to; `open_memory` makes one."""
        self._conn, self._path, self._lock = conn, path, threading.Lock()

    def find(self, question: str, by: str, photo: str) -> bytes | None:
        """What was answered; None where nobody was asked."""
        with self._lock, _told(self._path):
            row = self._conn.execute(
                "SELECT said FROM known WHERE question = ? AND by = ? AND photo = ?", (question, by, photo)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def keep(self, question: str, by: str, photo: str, said: bytes, *, paid: bool = True) -> None:
        """Keep an answer, in place of an earlier one.

        What was ``paid`` for is on disk when this returns. What can be worked out again survives the end of the
        process, though perhaps not that of the machine: waiting for the disk would take longer than the work.
        """
        with self._lock, _told(self._path):
            self._conn.execute(f"PRAGMA synchronous = {'FULL' if paid else 'NORMAL'}")
            with committed(self._conn):
                self._conn.execute("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?)", (question, by, photo, said))


@contextmanager
def open_memory(path: Path | None = None) -> Iterator[Memory]:
    """The memory in a file; in the cache folder where none is named.

    Raises:
        BadInput: it can't be opened or written, or is no such file.
    """
    path = path or memory_path()
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        conn = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    with closing(conn):
        with _told(path):
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute(_SCHEMA)
        yield Memory(conn, path)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise BadInput(f"{path}: what is known of photos can't be kept there: {reason}") from error
