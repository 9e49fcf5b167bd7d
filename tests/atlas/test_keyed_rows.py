"""Rows by their keys: each once, however many are asked for."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from geosleuth.atlas.keyed_rows import MOST_AT_ONCE, rows_with

ROWS = 2 * MOST_AT_ONCE + 10


@pytest.fixture(scope="module")
def conn() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE street (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        conn.executemany("INSERT INTO street VALUES (?, ?)", ((number, f"street {number}") for number in range(ROWS)))
        yield conn


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 7, 25, 100, MOST_AT_ONCE, MOST_AT_ONCE + 1, ROWS])
def test_each_row_once(conn: sqlite3.Connection, count: int) -> None:
    found = rows_with(conn, "SELECT id, name FROM street WHERE id", range(count))
    assert sorted(found) == [(number, f"street {number}") for number in range(count)]


def test_by_text_and_only_what_is_there(conn: sqlite3.Connection) -> None:
    found = rows_with(conn, "SELECT id FROM street WHERE name", ["street 7", "street 9", "avenue 1"])
    assert sorted(found) == [(7,), (9,)]
