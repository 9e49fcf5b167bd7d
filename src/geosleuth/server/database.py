"""The service's database: cases, photos, runs and their events, in one SQLite file that one process locks.

One thread executes all calls in order. Deleted data is overwritten with zeros, and the write-ahead log is truncated
after each deletion.
"""

import asyncio
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from geosleuth.support.databases import run_transaction
from geosleuth.support.errors import BadInput

from .frames import disk_full_errors, plain_json
from .records import (
    CaseRow,
    NotThere,
    PhotoRow,
    RunRow,
    RunState,
    StreamEvent,
    TooMany,
    build_search_text,
    case_row,
    event_row,
    photo_row,
    readable,
    request_to_dict,
    run_row,
)

P = ParamSpec("P")
T = TypeVar("T")
NewEvent = tuple[str, Mapping[str, Any], float]
"""The kind, data and time of an event without a number."""

VERSION = 2
_SCHEMA = """
CREATE TABLE cases (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, notes TEXT NOT NULL, created REAL NOT NULL, changed REAL NOT NULL,
    search TEXT NOT NULL, next_photo INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX cases_by_time ON cases (created, id);
CREATE TABLE photos (
    case_id TEXT NOT NULL REFERENCES cases ON DELETE CASCADE, number INTEGER NOT NULL, name TEXT NOT NULL,
    bytes INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, format TEXT NOT NULL, kind TEXT NOT NULL,
    sha256 TEXT NOT NULL, added REAL NOT NULL, not_a_photo TEXT, PRIMARY KEY (case_id, number)
);
CREATE TABLE videos (
    case_id TEXT NOT NULL REFERENCES cases ON DELETE CASCADE, number INTEGER PRIMARY KEY, shown TEXT NOT NULL
);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, case_id TEXT NOT NULL REFERENCES cases ON DELETE CASCADE,
    parent TEXT, state TEXT NOT NULL, request TEXT NOT NULL, rejected TEXT NOT NULL, photos TEXT NOT NULL,
    said TEXT NOT NULL, granularity TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL, answer TEXT,
    trouble TEXT, result TEXT
);
CREATE INDEX runs_of_a_case ON runs (case_id, number);
CREATE INDEX runs_by_state ON runs (state, number);
CREATE TABLE told (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, id INTEGER NOT NULL, at REAL NOT NULL,
    kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run_id, id)
) WITHOUT ROWID;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_RUN = (
    "number, id, case_id, parent, state, request, rejected, photos, granularity, created, started, ended, answer, "
    "trouble"
)
_PHOTO = "case_id, number, name, bytes, width, height, format, kind, sha256, added, not_a_photo"
_LIKE = str.maketrans({"%": r"\%", "_": r"\_", "\\": r"\\"})


def new_id() -> str:
    """Return a random id for a case or a run."""
    return secrets.token_hex(8)


def _in_thread(
    method: "Callable[Concatenate[CaseStore, P], T]",
) -> "Callable[Concatenate[CaseStore, P], Coroutine[Any, Any, T]]":
    """Make a method of the store one that is waited for while the connection's thread executes it."""

    @wraps(method)
    async def run_in_thread(self: "CaseStore", /, *args: P.args, **kwargs: P.kwargs) -> T:
        with disk_full_errors():
            work = partial(method, self, *args, **kwargs)
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    return run_in_thread


class CaseStore:
    """The database; each method waits for the connection's thread, and may raise `DiskFull`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="service-store")
        self._conn: sqlite3.Connection | None = None

    @_in_thread
    def open(self) -> None:
        """Open the file, or create it.

        Raises:
            BadInput: another process holds it, it is of another version, or it can't be used.
        """
        try:
            conn = sqlite3.connect(self._path, timeout=0.5, isolation_level=None)
        except sqlite3.Error as error:
            raise BadInput(f"{self._path}: can't be opened: {error}") from error
        try:
            # Locked while the service is open: two servers on one folder would each take the other's runs for dead.
            conn.execute("PRAGMA locking_mode = EXCLUSIVE")
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA secure_delete = ON")
            conn.execute("PRAGMA foreign_keys = ON")
            conn.execute("PRAGMA temp_store = MEMORY")
            conn.execute("PRAGMA synchronous = NORMAL")
            (version,) = conn.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise BadInput(
                    f"{self._path}: written by another version of geosleuth; update geosleuth, or move the file"
                )
            with run_transaction(conn):
                if version == 0:
                    for statement in filter(str.strip, _SCHEMA.split(";\n")):
                        conn.execute(statement)
                    conn.execute(f"PRAGMA user_version = {VERSION}")
        except sqlite3.OperationalError as error:
            conn.close()
            if "locked" in str(error):
                raise BadInput(
                    f"another geosleuth serve or review is running and uses {self._path}: stop it first, "
                    "or run this one beside it with its own cases: add --home FOLDER"
                ) from error
            raise BadInput(f"{self._path}: can't be used: {error}") from error
        except sqlite3.DatabaseError as error:
            conn.close()
            raise BadInput(f"{self._path}: not a geosleuth database: {error}; move it away") from error
        except BaseException:
            conn.close()
            raise
        self._conn = conn

    async def close(self) -> None:
        """Close the file, so that another process may open it."""
        with suppress(RuntimeError):
            await self._close()
        self._thread.shutdown(wait=False)

    @_in_thread
    def _close(self) -> None:
        if self._conn is not None:
            with suppress(sqlite3.Error):
                self._conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._conn.close()
            self._conn = None

    @property
    def _db(self) -> sqlite3.Connection:
        if self._conn is None:
            raise RuntimeError("the service is closed")
        return self._conn

    # Cases.

    @_in_thread
    def add_case(self, title: str, notes: str, *, most: int) -> CaseRow | None:
        """Add a case and return it; None if there are ``most`` already."""
        case_id, now = new_id(), time.time()
        with run_transaction(self._db):
            (count,) = self._db.execute("SELECT count(*) FROM cases").fetchone()
            if count >= most:
                return None
            self._db.execute(
                "INSERT INTO cases (id, title, notes, created, changed, search) VALUES (?, ?, ?, ?, ?, ?)",
                (case_id, title, notes, now, now, build_search_text(title, notes)),
            )
        return self._case(case_id)

    @_in_thread
    def case(self, case_id: str) -> CaseRow:
        """Return a case with its photos and runs.

        Raises:
            NotThere: there is no such case.
        """
        return self._case(case_id)

    def _case(self, case_id: str) -> CaseRow:
        rows = self._db.execute("SELECT id, title, notes, created, changed FROM cases WHERE id = ?", (case_id,))
        return self._build_cases(rows.fetchall(), f"there is no case {case_id[:20]!r}")[0]

    def _build_cases(self, rows: Sequence[Any], refusal: str = "") -> list[CaseRow]:
        if refusal and not rows:
            raise NotThere(refusal)
        ids = [row[0] for row in rows]
        marks = ",".join("?" * len(ids))
        photos: dict[str, list[PhotoRow]] = {}
        runs: dict[str, list[RunRow]] = {}
        for row in self._db.execute(
            f"SELECT {_PHOTO} FROM photos WHERE case_id IN ({marks}) ORDER BY number",  # noqa: S608
            ids,
        ):
            photos.setdefault(row[0], []).append(photo_row(row))
        for row in self._db.execute(
            f"SELECT {_RUN} FROM runs WHERE case_id IN ({marks}) ORDER BY number",  # noqa: S608
            ids,
        ):
            runs.setdefault(row[2], []).append(run_row(row[1:]))
        return [case_row(row, photos.get(row[0], ()), runs.get(row[0], ())) for row in rows]

    @_in_thread
    def cases(self, query: str, limit: int, before: str | None) -> list[CaseRow]:
        """Return cases, newest first, whose title, notes or places hold all words of a query."""
        words = query.casefold().split()[:20]
        where = " AND ".join([r"search LIKE ? ESCAPE '\'"] * len(words)) or "1"
        arguments: list[Any] = [f"%{word.translate(_LIKE)}%" for word in words]
        if before is not None:
            where += " AND (created, id) < (SELECT created, id FROM cases WHERE id = ?)"
            arguments.append(before)
        rows = self._db.execute(
            f"SELECT id, title, notes, created, changed FROM cases WHERE {where} "  # noqa: S608  (marks)
            "ORDER BY created DESC, id DESC LIMIT ?",
            (*arguments, limit),
        )
        return self._build_cases(rows.fetchall())

    @_in_thread
    def change_case(self, case_id: str, title: str | None, notes: str | None) -> CaseRow:
        """Change the title or the notes of a case."""
        with run_transaction(self._db):
            self._db.execute(
                "UPDATE cases SET title = coalesce(?, title), notes = coalesce(?, notes), changed = ? WHERE id = ?",
                (title, notes, time.time(), case_id),
            )
            self._index(case_id)
        return self._case(case_id)

    def _index(self, case_id: str) -> None:
        case = self._case(case_id)
        places = [str((run.answer or {}).get("place") or "") for run in case.runs]
        self._db.execute(
            "UPDATE cases SET search = ? WHERE id = ?", (build_search_text(case.title, case.notes, *places), case_id)
        )

    @_in_thread
    def delete_case(self, case_id: str) -> list[str]:
        """Delete a case with its photos and runs; return the ids of its runs."""
        with run_transaction(self._db):
            runs = self._db.execute("SELECT id FROM runs WHERE case_id = ?", (case_id,)).fetchall()
            self._db.execute("DELETE FROM cases WHERE id = ?", (case_id,))
        self._empty_log()
        return [run_id for (run_id,) in runs]

    def _empty_log(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    @_in_thread
    def photos(self) -> dict[str, set[int]]:
        """Return the numbers of the photos of every case."""
        found: dict[str, set[int]] = {case_id: set() for (case_id,) in self._db.execute("SELECT id FROM cases")}
        for case_id, number in self._db.execute("SELECT case_id, number FROM photos"):
            found[case_id].add(number)
        return found

    @_in_thread
    def find_unchanged_cases(self, when: float) -> list[str]:
        """Return cases unchanged since then and without active runs."""
        rows = self._db.execute(
            "SELECT id FROM cases WHERE changed < ? AND NOT EXISTS "
            "(SELECT 1 FROM runs WHERE case_id = cases.id AND state IN ('queued', 'running'))",
            (when,),
        )
        return [row[0] for row in rows]

    # Photos.

    @_in_thread
    def next_photo(self, case_id: str) -> int:
        """Return a number that no photo of the case has had."""
        with run_transaction(self._db):
            row = self._db.execute(
                "UPDATE cases SET next_photo = next_photo + 1 WHERE id = ? RETURNING next_photo - 1", (case_id,)
            ).fetchone()
        if row is None:
            raise NotThere(f"there is no case {case_id[:20]!r}")
        return int(row[0])

    @_in_thread
    def add_photo(self, case_id: str, number: int, name: str, found: Mapping[str, Any], *, most: int) -> PhotoRow:
        """Add a photo whose file is already stored.

        Raises:
            NotThere: the case was deleted meanwhile.
            TooMany: the case has become full meanwhile.
        """
        now = time.time()
        facts = (found[key] for key in ("bytes", "width", "height", "format", "kind", "sha256"))
        row = (case_id, number, name, *facts, now, found["not_a_photo"])
        with run_transaction(self._db):
            if len(self._case(case_id).photos) >= most:
                raise TooMany(f"a case holds {most} photos at most; make another case")
            self._db.execute(f"INSERT INTO photos ({_PHOTO}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
            self._db.execute("UPDATE cases SET changed = ? WHERE id = ?", (now, case_id))
        return photo_row(row)

    @_in_thread
    def delete_photo(self, case_id: str, number: int) -> None:
        """Delete a photo."""
        with run_transaction(self._db):
            self._db.execute("DELETE FROM photos WHERE case_id = ? AND number = ?", (case_id, number))
            self._db.execute("UPDATE cases SET changed = ? WHERE id = ?", (time.time(), case_id))
        self._empty_log()

    @_in_thread
    def add_video(self, case_id: str, shown: Mapping[str, Any]) -> None:
        """Add what a video shows; its frames are photos already."""
        self._db.execute("INSERT INTO videos (case_id, shown) VALUES (?, ?)", (case_id, plain_json(shown)))

    @_in_thread
    def videos(self, case_id: str) -> list[dict[str, Any]]:
        """Return what the videos of a case show."""
        rows = self._db.execute("SELECT shown FROM videos WHERE case_id = ? ORDER BY number", (case_id,))
        return [json.loads(text) for (text,) in rows]

    # Runs.

    @_in_thread
    def add_run(self, row: RunRow, said: Mapping[str, Any], copied: Sequence[StreamEvent] = ()) -> RunRow:
        """Add a queued run; ``said`` is the person's feedback, ``copied`` are events of the run it continues."""
        now = row.created.timestamp()
        with run_transaction(self._db):
            try:
                self._db.execute(
                    "INSERT INTO runs "
                    "(id, case_id, parent, state, request, rejected, photos, said, granularity, created) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (row.id, row.case, row.parent, row.state, _json(request_to_dict(row.request)), _json(row.rejected),
                     json.dumps(row.photos), _json(said), row.granularity, now),
                )  # fmt: skip
            except sqlite3.IntegrityError as error:
                raise NotThere(f"there is no case {row.case[:20]!r}") from error
            self._insert_events(row.id, copied)
            self._db.execute("UPDATE cases SET changed = ? WHERE id = ?", (now, row.case))
        return self._find_run(row.id)

    @_in_thread
    def run(self, run_id: str) -> RunRow:
        """Return a run.

        Raises:
            NotThere: there is no such run.
        """
        return self._find_run(run_id)

    def _find_run(self, run_id: str) -> RunRow:
        row = self._db.execute(f"SELECT {_RUN} FROM runs WHERE id = ?", (run_id,)).fetchone()  # noqa: S608
        if row is None:
            raise NotThere(f"there is no run {run_id[:20]!r}")
        return run_row(row[1:])

    @_in_thread
    def said(self, run_id: str) -> dict[str, Any]:
        """Return the person's feedback that started the run."""
        (said,) = self._db.execute("SELECT said FROM runs WHERE id = ?", (run_id,)).fetchone()
        return dict(json.loads(said))

    @_in_thread
    def run_ids(self) -> set[str]:
        """Return the ids of all runs."""
        return {run_id for (run_id,) in self._db.execute("SELECT id FROM runs")}

    @_in_thread
    def in_state(self, state: RunState) -> list[RunRow]:
        """Return all runs in a state, oldest first."""
        rows = self._db.execute(f"SELECT {_RUN} FROM runs WHERE state = ? ORDER BY number", (state,))  # noqa: S608
        return [run_row(row[1:]) for row in rows]

    @_in_thread
    def set_state(
        self,
        run_id: str,
        state: RunState,
        *,
        answer: Mapping[str, Any] | None = None,
        trouble: str | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> tuple[RunRow, list[StreamEvent]]:
        """Set a run's state, in its row and as an event; it is flushed to disk before this returns."""
        now = time.time()
        self._db.execute("PRAGMA synchronous = FULL")
        try:
            with run_transaction(self._db):
                column = "started" if state == "running" else "ended"
                self._db.execute(
                    f"UPDATE runs SET state = ?, {column} = ?, trouble = ?, answer = ?, result = ? WHERE id = ?",  # noqa: S608
                    (state, now, None if trouble is None else readable(trouble), _json(answer), _json(result), run_id),
                )
                row = self._find_run(run_id)
                words = {"state": state, **({"trouble": row.trouble} if row.trouble else {})}
                events = self._number_events(run_id, [("state", words, now)])
                self._db.execute("UPDATE cases SET changed = ? WHERE id = ?", (now, row.case))
                if answer is not None:
                    self._index(row.case)
        finally:
            self._db.execute("PRAGMA synchronous = NORMAL")
        return row, events

    @_in_thread
    def result(self, run_id: str) -> dict[str, Any] | None:
        """Return the stored result of a run, if there is one."""
        row = self._db.execute("SELECT result FROM runs WHERE id = ?", (run_id,)).fetchone()
        return json.loads(row[0]) if row and row[0] else None

    @_in_thread
    def delete_run(self, run_id: str) -> None:
        """Delete a run with its events."""
        case = self._find_run(run_id).case
        with run_transaction(self._db):
            self._db.execute("UPDATE runs SET parent = NULL WHERE parent = ?", (run_id,))
            self._db.execute("DELETE FROM runs WHERE id = ?", (run_id,))
            self._index(case)
        self._empty_log()

    # Events.

    @_in_thread
    def append_events(self, run_id: str, items: Sequence[NewEvent]) -> list[StreamEvent]:
        """Number and store events; return none if the run was deleted."""
        with run_transaction(self._db):
            if self._db.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone() is None:
                return []
            return self._number_events(run_id, items)

    def _number_events(self, run_id: str, items: Sequence[NewEvent]) -> list[StreamEvent]:
        (last,) = self._db.execute("SELECT max(id) FROM told WHERE run_id = ?", (run_id,)).fetchone()
        first = 0 if last is None else last + 1
        events = [StreamEvent(first + at, kind, dict(data), when) for at, (kind, data, when) in enumerate(items)]
        self._insert_events(run_id, events)
        return events

    def _insert_events(self, run_id: str, events: Iterable[StreamEvent]) -> None:
        self._db.executemany(
            "INSERT INTO told (run_id, id, at, kind, data) VALUES (?, ?, ?, ?, ?)",
            [(run_id, event.id, event.at, event.kind, _json(event.data)) for event in events],
        )

    @_in_thread
    def events(self, run_id: str, first: int, limit: int = 200) -> list[StreamEvent]:
        """Return events from an id on."""
        rows = self._db.execute(
            "SELECT id, kind, data, at FROM told WHERE run_id = ? AND id >= ? ORDER BY id LIMIT ?",
            (run_id, first, limit),
        )
        return [event_row(row) for row in rows]

    # Settings.

    @_in_thread
    def settings(self) -> dict[str, Any]:
        """Return all settings that were ever changed."""
        return {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM settings")}

    @_in_thread
    def forget_settings(self, names: Sequence[str]) -> None:
        """Delete settings, so that they are as if never changed."""
        with run_transaction(self._db):
            self._db.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in names])

    @_in_thread
    def store_settings(self, changes: Mapping[str, Any]) -> None:
        """Store settings."""
        with run_transaction(self._db):
            self._db.executemany(
                "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [(name, json.dumps(value)) for name, value in changes.items()],
            )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else plain_json(value)
