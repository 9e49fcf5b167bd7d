"""Replies of models, and what is slow to compute, kept on disk by question, by who said it, and by what it is about."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geosleuth.atlas.folders import cache_dir
from geosleuth.support.databases import check_stamp, explain_errors, run_transaction, stamp

_SCHEMA = """
CREATE TABLE IF NOT EXISTS known (
    question TEXT NOT NULL, by TEXT NOT NULL, about TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (question, by, about)
) WITHOUT ROWID
"""
_APPLICATION, _VERSION = 0x67737279, 1
_WAIT_S = 30.0
_WHAT = "a memory of replies"


def usual_path() -> Path:
    """Return where replies are kept unless a command says otherwise."""
    return cache_dir() / "replies.sqlite"


class Memory:
    """Answers by question, by who gave them, and by what they are about. Several threads may use it."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        """Take a connection that several threads may use, and its file; `open_memory` creates one."""
        self._conn, self.path, self._lock = conn, path, threading.Lock()

    def find(self, question: str, by: str, about: str) -> bytes | None:
        """Return the stored answer; None if there is none."""
        with self._lock, explain_errors(self.path, _WHAT):
            row = self._conn.execute(
                "SELECT said FROM known WHERE question = ? AND by = ? AND about = ?", (question, by, about)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def keep(self, question: str, by: str, about: str, said: bytes, *, paid: bool = True) -> None:
        """Store an answer, replacing an earlier one.

        What was ``paid`` for is on disk when this returns. What can be recomputed survives the end of the process, but
        perhaps not a power cut: syncing would take longer than the work.
        """
        with self._lock, explain_errors(self.path, _WHAT):
            self._conn.execute(f"PRAGMA synchronous = {'FULL' if paid else 'NORMAL'}")
            with run_transaction(self._conn):
                self._conn.execute("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?)", (question, by, about, said))


@contextmanager
def open_memory(path: Path | None = None) -> Iterator[Memory]:
    """Open the memory in a file; by default in the cache folder.

    Raises:
        BadInput: it can't be opened or written, or is something else.
    """
    path = path or usual_path()
    with explain_errors(path, _WHAT):
        path.parent.mkdir(parents=True, exist_ok=True)
        conn = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    with closing(conn):
        with explain_errors(path, _WHAT):
            if conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                check_stamp(conn, path, _WHAT, _APPLICATION, _VERSION)
            else:
                stamp(conn, _APPLICATION, _VERSION)
                conn.execute(_SCHEMA)
            conn.execute("PRAGMA journal_mode = WAL")
        yield Memory(conn, path)
