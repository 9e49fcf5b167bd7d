"""A permanent record of services' answers in one file, so that a run can be repeated without a network.

Unlike in the cache, nothing expires, and the first answer to a question stays. Failures that may pass are stored
separately: they are replayed only when no service may be contacted. API keys are not part of a question's key, and an
answer that contains one is not recorded.
"""

import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from geosleuth.support.databases import make_private
from geosleuth.support.errors import BadInput

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
    """The outcome of a question: ``body``, None if there is no such thing; or ``trouble``, what went wrong."""

    body: bytes | None = None
    trouble: str | None = None


class AnswerRecord:
    """A file of answers. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        """Use a file, which is created when the first answer is recorded."""
        self._path = path
        self._lock = threading.Lock()

    def get(self, key: bytes, *, failures: bool = False) -> Recorded | None:
        """Return the outcome of a question; None if there is none.

        Args:
            key: the question's key, see `question_key`.
            failures: whether to return a failure that may pass if there is no answer.

        Raises:
            BadInput: the file can't be read.
        """
        if not self._path.exists():
            return None
        row = self._execute("SELECT body, trouble FROM answer WHERE key = ?", (key,))
        if row is None and failures:
            row = self._execute("SELECT NULL, trouble FROM failure WHERE key = ?", (key,))
        return None if row is None else Recorded(*row)

    def keep(self, key: bytes, outcome: Recorded) -> Recorded:
        """Record an outcome unless the question has one already; return the recorded one.

        Raises:
            BadInput: the file can't be written to.
        """
        self._execute(
            "INSERT OR IGNORE INTO answer VALUES (?, ?, ?)", (key, outcome.body, outcome.trouble), writes=True
        )
        return self.get(key) or outcome

    def keep_failure(self, key: bytes, trouble: str) -> None:
        """Count a failure that may pass; the question can be asked again.

        Raises:
            BadInput: the file can't be written to.
        """
        self._execute(_FAILED, (key, trouble), writes=True)

    def drop(self, key: bytes) -> None:
        """Remove an answer whose body reports that the service failed.

        Raises:
            BadInput: the file can't be written to.
        """
        self._execute("DELETE FROM answer WHERE key = ?", (key,), writes=True)

    def count_inexact(self) -> int:
        """Return how many questions failed first and were answered later: a replay differs, as it has the answer.

        Raises:
            BadInput: the file can't be read.
        """
        row = (
            self._execute("SELECT COUNT(*), NULL FROM failure JOIN answer USING (key)", ())
            if self._path.exists()
            else None
        )
        return int(row[0] or 0) if row else 0

    def _execute(self, statement: str, values: tuple[object, ...], *, writes: bool = False) -> _Row | None:
        with self._lock:
            try:
                if writes:
                    # Requests reveal what someone is investigating, so the file is readable by its owner only.
                    make_private(self._path)
                with closing(sqlite3.connect(self._path, timeout=30.0, isolation_level=None)) as connection:
                    if writes:
                        connection.executescript(_SCHEMA)
                    row: _Row | None = connection.execute(statement, values).fetchone()
                    return row
            except (sqlite3.Error, OSError) as error:
                # Nothing was written to it yet.
                if not writes and "no such table" in str(error):
                    return None
                raise BadInput(f"{self._path}: recorded answers can't be read or kept here ({error})") from error
