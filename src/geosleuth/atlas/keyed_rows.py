"""Read rows of a table by their keys, however many."""

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

MOST_AT_ONCE: Final = 30_000
"""SQLite takes 32,766 parameters."""


def rows_with(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    """Return the rows whose column has one of the keys.

    Args:
        conn: where to read.
        query: ``SELECT … WHERE column``, up to the column; text of our own, never a user's.
        keys: any number of them.
    """
    if len(keys) <= MOST_AT_ONCE:
        return _rows(conn, query, keys) if keys else []
    parts = (keys[begin : begin + MOST_AT_ONCE] for begin in range(0, len(keys), MOST_AT_ONCE))
    return list(chain.from_iterable(_rows(conn, query, part) for part in parts))


def _rows(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    return conn.execute(f"{query} IN ({','.join('?' * len(keys))})", list(keys)).fetchall()
