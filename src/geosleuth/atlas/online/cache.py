"""An on-disk cache of answers, shared by all processes.

API keys are not part of a cache key, and an answer that contains one is not cached. If the cache can't be read or
written, requests work without it.
"""

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from geosleuth.support.databases import make_private

_logger = logging.getLogger(__name__)

_VERSION = 1
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answer (
    key BLOB PRIMARY KEY, stored REAL NOT NULL, expires REAL NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS answer_by_age ON answer (stored);
CREATE TABLE IF NOT EXISTS total (bytes INTEGER NOT NULL);
INSERT INTO total SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM total);
CREATE TRIGGER IF NOT EXISTS answer_in AFTER INSERT ON answer BEGIN
    UPDATE total SET bytes = bytes + length(NEW.body); END;
CREATE TRIGGER IF NOT EXISTS answer_out AFTER DELETE ON answer BEGIN
    UPDATE total SET bytes = bytes - length(OLD.body); END;
PRAGMA user_version = 1;
COMMIT;
"""


def question_key(method: str, url: str, params: Iterable[tuple[str, str]], body: bytes | None) -> bytes:
    """Return the cache key of a request: a digest of all of it but the API keys."""
    digest = hashlib.sha256()
    parts = [method, url, *(text for pair in sorted(params) for text in pair)]
    for part in (*(text.encode("utf-8", "surrogatepass") for text in parts), body or b""):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


class AnswerCache:
    """A file of answers with their expiry. Safe to use from several threads and processes."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Use a file, which is created when the first answer is stored."""
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._disabled = False

    def get(self, key: bytes) -> bytes | None:
        """Return the answer stored under a key; None if there is none or it has expired."""
        with self._lock:
            if self._disabled or not self._path.exists():
                return None
            try:
                with closing(self._open_database()) as connection:
                    row = connection.execute(
                        "SELECT body FROM answer WHERE key = ? AND expires > ?", (key, time.time())
                    ).fetchone()
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
                return None
            return bytes(row[0]) if row else None

    def put(self, key: bytes, body: bytes, lifetime_s: float) -> None:
        """Store an answer; if space is short, delete the expired and then the oldest ones."""
        with self._lock:
            if self._disabled or lifetime_s <= 0 or len(body) > self._max_bytes // 4:
                return
            now = time.time()
            try:
                with closing(self._open_database()) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("DELETE FROM answer WHERE key = ?", (key,))
                    connection.execute("INSERT INTO answer VALUES (?, ?, ?, ?)", (key, now, now + lifetime_s, body))
                    self._make_room(connection, now)
                    connection.execute("COMMIT")
            except (sqlite3.Error, OSError) as error:
                self._recover(error)

    def forget(self, key: bytes) -> None:
        """Delete an answer that turned out to be unusable."""
        with self._lock:
            if self._disabled or not self._path.exists():
                return
            try:
                with closing(self._open_database()) as connection:
                    connection.execute("DELETE FROM answer WHERE key = ?", (key,))
            except (sqlite3.Error, OSError) as error:
                self._recover(error)

    def _make_room(self, connection: sqlite3.Connection, now: float) -> None:
        def total() -> int:
            return int(connection.execute("SELECT bytes FROM total").fetchone()[0])

        if total() <= self._max_bytes:
            return
        connection.execute("DELETE FROM answer WHERE expires <= ?", (now,))
        while total() > self._max_bytes:
            oldest = "SELECT key FROM answer ORDER BY stored LIMIT 16"
            if connection.execute(f"DELETE FROM answer WHERE key IN ({oldest})").rowcount < 1:  # noqa: S608
                return

    def _open_database(self) -> sqlite3.Connection:
        # Requests reveal what someone is investigating, so the file is readable by its owner only from the start.
        make_private(self._path)
        connection = sqlite3.connect(self._path, timeout=2.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A power cut may damage the file; then it is deleted, and only time is lost.
            connection.execute("PRAGMA synchronous = OFF")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise sqlite3.DatabaseError("made by another version")
            if version == 0:
                connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Delete a damaged file; after any other error but a lock, stop using the cache."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        _logger.warning("the cache of online answers %s can't be used (%s)", self._path, type(error).__name__)
        if not damaged:
            self._disabled = True
            return
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
