"""Read the rows of a table with given keys, in batches that SQLite accepts."""

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

# Maximum keys per query: SQLite accepts 32,766 parameters.
MAX_AT_ONCE: Final = 30_000


def select_rows(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    """Return the rows whose column has one of the keys.

    Args:
        conn: the database.
        query: ``SELECT … WHERE column``; inserted as it is, so never text from a user.
        keys: any number of keys.
    """
    if len(keys) <= MAX_AT_ONCE:
        return _select_chunk(conn, query, keys) if keys else []
    parts = (keys[begin : begin + MAX_AT_ONCE] for begin in range(0, len(keys), MAX_AT_ONCE))
    return list(chain.from_iterable(_select_chunk(conn, query, part) for part in parts))


def _select_chunk(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    return conn.execute(f"{query} IN ({','.join('?' * len(keys))})", list(keys)).fetchall()
