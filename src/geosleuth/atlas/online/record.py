"""Answers of services kept for good in one file, so that the same questions can be asked again without a network.

Not a cache: nothing expires, and the first answer to a question stays. Failures that may pass are kept apart: they are
no answer, and are repeated only where nobody may be asked. Keys of services are no part of what a question is known by,
and an answer that repeats one is not kept.
"""

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from geosleuth.errors import BadInput

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, body BLOB, trouble TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (key BLOB PRIMARY KEY, trouble TEXT NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
"""
_FAILED = """
INSERT INTO failure VALUES (?, ?, 1) ON CONFLICT (key) DO UPDATE SET trouble = excluded.trouble, times = times + 1
"""

_Row = tuple[bytes | None, str | None]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a question: an answer, None where there is no such thing, or what went wrong."""

    body: bytes | None = None
    trouble: str | None = None


class AnswerRecord:
    """A file of answers. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is made when the first answer is kept."""
        self._path = path
        self._lock = threading.Lock()

    def get(self, key: bytes, *, failures: bool = False) -> Recorded | None:
        """Return what came of a question; None where it was never asked, or only failed and ``failures`` don't count.

        Raises:
            BadInput: the file can't be read.
        """
        if not self._path.exists():
            return None
        row = self._ask("SELECT body, trouble FROM answer WHERE key = ?", (key,))
        if row is None and failures:
            row = self._ask("SELECT NULL, trouble FROM failure WHERE key = ?", (key,))
        return None if row is None else Recorded(*row)

    def keep(self, key: bytes, one: Recorded) -> Recorded:
        """Keep what came of a question, and return it; what was kept before stays, and is returned in its place.

        Raises:
            BadInput: the file can't be written to.
        """
        self._ask("INSERT OR IGNORE INTO answer VALUES (?, ?, ?)", (key, one.body, one.trouble), writes=True)
        return self.get(key) or one

    def keep_failure(self, key: bytes, trouble: str) -> None:
        """Note that a question failed in a way that may pass; it can be asked again.

        Raises:
            BadInput: the file can't be written to.
        """
        self._ask(_FAILED, (key, trouble), writes=True)

    def drop(self, key: bytes) -> None:
        """Remove an answer that says itself that the service failed.

        Raises:
            BadInput: the file can't be written to.
        """
        self._ask("DELETE FROM answer WHERE key = ?", (key,), writes=True)

    def count_inexact(self) -> int:
        """Return how many questions failed for somebody and were answered later: a repetition gives all the answer.

        Raises:
            BadInput: the file can't be read.
        """
        row = (
            self._ask("SELECT COUNT(*), NULL FROM failure JOIN answer USING (key)", ()) if self._path.exists() else None
        )
        return int(row[0] or 0) if row else 0

    def _ask(self, words: str, values: tuple[object, ...], *, writes: bool = False) -> _Row | None:
        with self._lock:
            try:
                if writes and not self._path.exists():
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    # Questions tell what someone is looking into: the file is for its owner alone.
                    os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
                with closing(sqlite3.connect(self._path, timeout=30.0, isolation_level=None)) as connection:
                    if writes:
                        connection.executescript(_SCHEMA)
                    found: _Row | None = connection.execute(words, values).fetchone()
                    return found
            except (sqlite3.Error, OSError) as error:
                # A record of an older version, or one that nothing was written to yet.
                if not writes and "no such table" in str(error):
                    return None
                raise BadInput(f"{self._path}: recorded answers can't be read or kept here ({error})") from error
