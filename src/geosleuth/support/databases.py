"""SQLite files of every part: opened privately, changed whole or not at all, with troubles told in one line."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geosleuth.support.errors import BadInput


@contextmanager
def run_transaction(conn: sqlite3.Connection) -> Iterator[None]:
    """Apply all changes of the block to a database, or none."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


@contextmanager
def explain_errors(path: Path, what: str) -> Iterator[None]:
    """Turn SQLite's errors into one line that says what to do; ``what`` is what the file holds, such as "an index".

    Raises:
        BadInput: there was such an error.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BadInput(f"{path}: another process writes to it; wait until that is done") from error
        raise BadInput(f"{path}: can't be used as {what}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise BadInput(f"{path}: not {what}, or damaged; give another file") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be used as {what}: {error.strerror or error}") from error


def check_stamp(conn: sqlite3.Connection, path: Path, what: str, application: int, version: int) -> None:
    """Check the numbers that `stamp` wrote.

    Raises:
        BadInput: the file is none of these, or has another format.
    """
    (found,) = conn.execute("PRAGMA application_id").fetchone()
    (written,) = conn.execute("PRAGMA user_version").fetchone()
    if found != application:
        raise BadInput(f"{path}: not {what}; give another file")
    if written != version:
        raise BadInput(f"{path}: {what} of format {written}, not {version}; delete it and make it again")


def stamp(conn: sqlite3.Connection, application: int, version: int) -> None:
    """Write which kind of file a database is, and its format."""
    conn.execute(f"PRAGMA application_id = {application}")
    conn.execute(f"PRAGMA user_version = {version}")


def make_private(path: Path) -> None:
    """Create a file that its owner alone can read; one that exists stays as it is."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
