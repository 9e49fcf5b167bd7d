"""The learning database of a team: one SQLite file for many writers, and an overview for people.

Every picture and every set of weights is a transaction: an interrupted run loses only the picture it was at, and
two runs at once lose nothing.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from geosleuth.photo.image_encoder import Features, ImageEncoder
from geosleuth.support.databases import explain_errors, run_transaction, stamp
from geosleuth.support.errors import BadInput
from geosleuth.teams.network import (
    APPLICATION,
    BUSY_SECONDS,
    FORMAT,
    SCHEMA,
    WHAT,
    StateInfo,
    Weights,
    build_damage_error,
    open_for_reading,
    predict_trust,
    read_info,
    read_weights,
)

from .rounds import Observation

# Key in the settings of weights for the settings of the lessons they were learned from.
LESSON_SETTINGS_KEY: Final = "learned_with"

_ALIKE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """Lesson from one picture: its features, the observation, and its country."""

    key: bytes
    features: Features
    observation: Observation
    country: str = ""


class Notebook:
    """A team's state, open for learning; use `open` to get one."""

    def __init__(self, conn: sqlite3.Connection, path: Path, info: StateInfo) -> None:
        self._conn, self._path = conn, path
        self.info = info

    @classmethod
    @contextmanager
    def open(
        cls,
        path: Path,
        members: Sequence[str] | None = None,
        encoder: ImageEncoder | None = None,
        spec: str = "bundled",
    ) -> "Iterator[Notebook]":
        """Open the state for writing; create it if members and encoder are given.

        Raises:
            BadInput: the file is something else, can't be written, or has other members or another encoder.
        """
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if not path.exists() and (members is None or encoder is None):
            raise BadInput(f"{path}: no such file; create the state with: geosleuth team learn DATASET")
        with explain_errors(path, WHAT):
            conn = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            with closing(conn):
                if members is not None and encoder is not None:
                    _create_once(conn, StateInfo(tuple(members), encoder.name, spec, encoder.dimension))
                info = read_info(conn, path)
                conn.execute("PRAGMA journal_mode = WAL")
                conn.execute("PRAGMA synchronous = NORMAL")
                if members is not None and tuple(members) != info.members:
                    raise BadInput(
                        f"{path}: it was learned by {', '.join(info.members)}, not by {', '.join(members)}; "
                        "give the same team in the same order, or another --state"
                    )
                if encoder is not None and (encoder.name, encoder.dimension) != (info.encoder, info.dimension):
                    raise BadInput(
                        f"{path}: it was learned with the encoder {info.encoder!r}, not {encoder.name!r}; "
                        "use that one, or another --state"
                    )
                yield cls(conn, path, info)

    @property
    def connection(self) -> sqlite3.Connection:
        """Return the connection, for the file's other tables."""
        return self._conn

    @classmethod
    @contextmanager
    def read(cls, path: Path) -> "Iterator[Notebook]":
        """Open the state read-only, lessons included.

        Raises:
            BadInput: it does not exist, or can't be read.
        """
        if not path.is_file():
            raise BadInput(f"{path}: no such file; create the state with: geosleuth team learn DATASET")
        with explain_errors(path, WHAT), closing(open_for_reading(path)) as conn:
            yield cls(conn, path, read_info(conn, path))

    def get_settings(self, key: bytes) -> Mapping[str, Any] | None:
        """Return the settings that this picture was learned from with; None if no run has learned from it."""
        row = self._conn.execute("SELECT settings FROM lesson WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def add(self, lesson: Lesson, settings: Mapping[str, Any]) -> bool:
        """Add a picture, in place of what other settings made of it; return False if another run was first."""
        seen = lesson.observation
        with self._begin_transaction():
            done = self._conn.execute(
                "INSERT INTO lesson VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "labels = excluded.labels, distances = excluded.distances, links = excluded.links, "
                "answers = excluded.answers, settings = excluded.settings WHERE settings != excluded.settings",
                (
                    lesson.key, lesson.features.astype("<f2").tobytes(), _doubles(seen.labels),
                    _doubles(seen.distances), _doubles(seen.links), _doubles(seen.answers), lesson.country,
                    json.dumps(settings),
                ),
            )  # fmt: skip
        return done.rowcount == 1

    def lessons(self, settings: Mapping[str, Any] | None = None) -> list[Lesson]:
        """Return the pictures learned from with these settings, by all runs; None for any settings.

        Their order does not depend on time.

        Raises:
            BadInput: the state is damaged.
        """
        count = len(self.info.members)
        query = (
            "SELECT key, features, labels, distances, links, answers, country FROM lesson "
            "WHERE ?1 IS NULL OR settings = ?1 ORDER BY key"
        )
        told = None if settings is None else json.dumps(settings)
        found = []
        try:
            for key, features, labels, distances, links, answers, country in self._conn.execute(query, (told,)):
                row = np.frombuffer(features, dtype="<f2").astype(np.float32)
                seen = Observation(
                    _decode_vector(labels, count),
                    tuple(_decode_vector(links[8 * count * i : 8 * count * (i + 1)], count)
                                                for i in range(count)),
                    _decode_vector(distances, count), tuple(int(value) for value in _decode_vector(answers, count)),
                )  # fmt: skip
                if len(row) != self.info.dimension:
                    raise ValueError(key)
                found.append(Lesson(key, row, seen, country))
        except ValueError as error:
            raise build_damage_error(self._path) from error
        return found

    def keep(self, weights: Weights) -> int:
        """Store the weights as a new version, and return its number."""
        with self._begin_transaction():
            done = self._conn.execute(
                "INSERT INTO weights (lessons, made, settings, figures, arrays) VALUES (?, ?, ?, ?, ?)",
                (
                    weights.lessons, datetime.now(UTC).isoformat(timespec="seconds"), json.dumps(weights.settings),
                    json.dumps(weights.figures), weights.pack(),
                ),
            )  # fmt: skip
        return int(done.lastrowid or 0)

    @contextmanager
    def _begin_transaction(self) -> Iterator[None]:
        with explain_errors(self._path, WHAT), run_transaction(self._conn):
            yield


def _create_once(conn: sqlite3.Connection, info: StateInfo) -> None:
    """Create the tables, unless they exist or another process creates them first."""
    with run_transaction(conn):
        (tables,) = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            for statement in SCHEMA.strip().split(";\n"):
                conn.execute(statement)
            meta = {"encoder": info.encoder, "spec": info.spec, "dimension": str(info.dimension)}
            conn.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            conn.executemany("INSERT INTO member VALUES (?, ?)", enumerate(info.members))
            stamp(conn, APPLICATION, FORMAT)


def _doubles(values: Any) -> bytes:
    return np.asarray(values, dtype="<f8").tobytes()


def _decode_vector(blob: bytes, count: int) -> tuple[float, ...]:
    values = np.frombuffer(blob, dtype="<f8")
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError("a row of another length")
    return tuple(values.tolist())


@dataclass(frozen=True, slots=True)
class LearnedCountry:
    """Photos from one country: how often each member was right, and the network's mean trust."""

    code: str
    photos: int
    right: tuple[float, ...]
    election: tuple[float, ...]


def find_best(shares: Sequence[float]) -> int | None:
    """Return who has the highest share; None for ties."""
    order = sorted(range(len(shares)), key=lambda i: -shares[i])
    alike = len(order) > 1 and shares[order[0]] - shares[order[1]] < _ALIKE
    return None if alike or not order else order[0]


@dataclass(frozen=True, slots=True)
class Overview:
    """All photos learned from, and those of each country, most photos first; members are in the state's order.

    ``right`` is empty if there are no photos.
    """

    members: tuple[str, ...]
    photos: int
    right: tuple[float, ...]
    countries: tuple[LearnedCountry, ...]


def overview(path: Path) -> Overview:
    """Read the overview of a state.

    Raises:
        BadInput: it does not exist, or can't be read.
    """
    with Notebook.read(path) as notebook:
        weights = read_weights(notebook.connection, path)
        lessons = notebook.lessons(None if weights is None else weights.settings.get(LESSON_SETTINGS_KEY))
        members = notebook.info.members
    if not lessons:
        return Overview(members, 0, (), ())
    labels = np.array([lesson.observation.labels for lesson in lessons])
    features = np.stack([lesson.features for lesson in lessons])
    election = np.full(labels.shape, 0.5) if weights is None else predict_trust(weights, features)[0]
    codes = np.array([lesson.country for lesson in lessons])
    countries = []
    for code in np.unique(codes):
        here = codes == code
        countries.append(
            LearnedCountry(
                str(code),
                int(here.sum()),
                tuple(labels[here].mean(axis=0).tolist()),
                tuple(election[here].mean(axis=0).tolist()),
            )
        )
    countries.sort(key=lambda country: (-country.photos, country.code))
    return Overview(members, len(lessons), tuple(labels.mean(axis=0).tolist()), tuple(countries))
