"""A team's state: one SQLite file. Here is its form, and the reading of it by those who answer.

meta      how it was made: the format, the eyes, how wide their features are
member    the members' names in their order
lesson    one row a picture learned from: features, labels, links, the country it was in (only learning reads it)
weights   what was learned from how many lessons, with which settings; nothing is overwritten, each version is a row

Connections opened here are read-only, and SQLite itself refuses them the table ``lesson``.
"""

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from geosleuth.errors import BadInput

from .encoding import Projection
from .forward import Array, Parameters

APPLICATION: Final = 0x6773746D
FORMAT: Final = 1
BUSY_SECONDS: Final = 30.0
READABLE: Final = frozenset({"meta", "member", "weights", "sqlite_master"})
"""The tables that a connection for answering may read."""

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE member (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE lesson (
    key BLOB PRIMARY KEY, features BLOB NOT NULL, labels BLOB NOT NULL, distances BLOB NOT NULL, links BLOB NOT NULL,
    answers BLOB NOT NULL, country TEXT NOT NULL, settings TEXT NOT NULL);
CREATE TABLE weights (
    version INTEGER PRIMARY KEY AUTOINCREMENT, lessons INTEGER NOT NULL, made TEXT NOT NULL, settings TEXT NOT NULL,
    figures TEXT NOT NULL, arrays BLOB NOT NULL)
"""

_ARRAYS: Final = (*Parameters.names(), "projection_mean", "projection_basis", "usual_election", "usual_links")


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Something learned: the network, what goes before it, and how far it is to be believed.

    ``trust`` and ``trust_links`` say how much of the differences that the network sees between members held on
    pictures it had not learned from: 0 is nothing (all stand alike), 1 is all. ``usual`` is the mean standing over the
    pictures learned from. ``figures`` are what was measured while learning.
    """

    parameters: Parameters
    projection: Projection
    trust: float
    trust_links: float
    usual_election: Array
    usual_links: Array
    lessons: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0

    def packed(self) -> bytes:
        """The arrays as they are stored."""
        stream = io.BytesIO()
        arrays = dict(zip(Parameters.names(), self.parameters.arrays(), strict=True))
        arrays |= {"projection_mean": self.projection.mean, "projection_basis": self.projection.basis}
        arrays |= {"usual_election": self.usual_election, "usual_links": self.usual_links}
        np.savez_compressed(stream, allow_pickle=False, **{name: arrays[name] for name in _ARRAYS})
        return stream.getvalue()


@dataclass(frozen=True, slots=True)
class StateInfo:
    """Whose state it is, and with which eyes pictures are looked at."""

    members: tuple[str, ...]
    encoder: str
    spec: str
    dimension: int


@contextmanager
def open_for_answering(path: Path) -> Iterator[sqlite3.Connection]:
    """The state, read-only, without the lessons.

    Raises:
        BadInput: there is none, or it can't be read.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no such state; make one with: geosleuth team learn DATASET --state {path}")
    with explained(path), closing(connected_to_read(path)) as conn:
        conn.execute("PRAGMA query_only = ON")
        conn.set_authorizer(_only_what_answers)
        yield conn


def connected_to_read(path: Path) -> sqlite3.Connection:
    """A connection that can't write."""
    uri = path.absolute().as_uri()
    try:
        conn = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # In a folder that nobody may write to, SQLite can't keep its notes beside a file; then nobody else writes.
        conn = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    return conn


def _only_what_answers(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    del second, database, trigger
    if action == sqlite3.SQLITE_READ and first not in READABLE:
        return sqlite3.SQLITE_DENY
    allowed = (
        sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_TRANSACTION,
    )  # fmt: skip
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """SQLite's troubles as one line that says what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BadInput(f"{path}: others are writing to it for too long; try again") from error
        raise BadInput(f"{path}: the team's state can't be used: {error}") from error
    except sqlite3.DatabaseError as error:
        raise BadInput(f"{path}: this is no team's state, or a damaged one; give another file") from error
    except OSError as error:
        raise BadInput(f"{path}: the team's state can't be used: {error.strerror or error}") from error


def read_info(conn: sqlite3.Connection, path: Path) -> StateInfo:
    """Whose state it is.

    Raises:
        BadInput: the file is no team's state, or one of another format.
    """
    (application,) = conn.execute("PRAGMA application_id").fetchone()
    (version,) = conn.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise BadInput(f"{path}: this is no team's state; give another file")
    if version != FORMAT:
        raise BadInput(f"{path}: the state is of format {version}, not {FORMAT}; delete it and learn anew")
    told = dict(conn.execute("SELECT key, value FROM meta"))
    names = tuple(name for (name,) in conn.execute("SELECT name FROM member ORDER BY position"))
    try:
        return StateInfo(names, told["encoder"], told["spec"], int(told["dimension"]))
    except (KeyError, ValueError) as error:
        raise damaged(path) from error


def is_state_of(path: Path, members: Sequence[str]) -> bool:
    """Whether there is a team's state of just these members, in whatever order."""
    try:
        with open_for_answering(path) as conn:
            return sorted(read_info(conn, path).members) == sorted(members)
    except BadInput:
        return False


def read_weights(conn: sqlite3.Connection, path: Path) -> Weights | None:
    """The weights learned from most lessons, of these the newest; None before anything was learned.

    Of two processes that learned at once, the one that finished last need not have seen more.

    Raises:
        BadInput: they are damaged.
    """
    row = conn.execute(
        "SELECT version, lessons, settings, figures, arrays FROM weights ORDER BY lessons DESC, version DESC LIMIT 1"
    ).fetchone()
    if row is None:
        return None
    version, lessons, settings, figures, packed = row
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            arrays: dict[str, Array] = {name: stored[name] for name in _ARRAYS}
        measured = json.loads(figures)
        weights = Weights(
            Parameters(*(arrays[name] for name in Parameters.names())),
            Projection(arrays["projection_mean"], arrays["projection_basis"]),
            float(measured["trust"]),
            float(measured["trust_links"]),
            arrays["usual_election"],
            arrays["usual_links"],
            int(lessons),
            json.loads(settings),
            measured,
            int(version),
        )
    except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise damaged(path) from error
    if not weights.parameters.fit() or weights.projection.width != weights.parameters.dimensions.embedding:
        raise damaged(path)
    return weights


def damaged(path: Path) -> BadInput:
    """What to say of a state that makes no sense."""
    return BadInput(f"{path}: the team's state is damaged; delete it and learn anew")
