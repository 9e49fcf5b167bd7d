"""Answers of services kept for good in one file, so that the same questions can be asked again without a network.

Not a cache: nothing expires, refusals and failures are kept as well, and the first answer to a question stays. Keys of
services are no part of what a question is known by, and an answer that repeats one is not kept.
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
"""


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

    def get(self, key: bytes) -> Recorded | None:
        """Return what came of a question; None where it was never asked.

        Raises:
            BadInput: the file can't be read.
        """
        if not self._path.exists():
            return None
        row = self._ask("SELECT body, trouble FROM answer WHERE key = ?", (key,))
        return None if row is None else Recorded(*row)

    def keep(self, key: bytes, one: Recorded) -> Recorded:
        """Keep what came of a question, and return it; what was kept before stays, and is returned in its place.

        Raises:
            BadInput: the file can't be written to.
        """
        self._ask("INSERT OR IGNORE INTO answer VALUES (?, ?, ?)", (key, one.body, one.trouble))
        return self.get(key) or one

    def _ask(self, words: str, values: tuple[object, ...]) -> tuple[bytes | None, str | None] | None:
        with self._lock:
            try:
                if not self._path.exists():
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    # Questions tell what someone is looking into: the file is for its owner alone.
                    os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
                with closing(sqlite3.connect(self._path, timeout=30.0, isolation_level=None)) as connection:
                    connection.execute(_SCHEMA)
                    found: tuple[bytes | None, str | None] | None = connection.execute(words, values).fetchone()
                    return found
            except (sqlite3.Error, OSError) as error:
                raise BadInput(f"{self._path}: recorded answers can't be read or kept here ({error})") from error
