"""Verdicts on disk, kept for good: a second run asks nothing. Several processes may share the file."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, get_args

from geosleuth.errors import BadInput

from .deciding import Question

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdict (
    model TEXT NOT NULL, prompt INTEGER NOT NULL, level TEXT NOT NULL, truth TEXT NOT NULL, answer TEXT NOT NULL,
    country TEXT NOT NULL, region TEXT NOT NULL, says TEXT NOT NULL, reply TEXT NOT NULL, asked TEXT NOT NULL,
    PRIMARY KEY (model, prompt, level, truth, answer, country, region)) WITHOUT ROWID
"""
_WAIT_S = 30.0

Says = Literal["yes", "no", "unreadable"]
_SAYINGS = get_args(Says)


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """What was said, and in which words."""

    says: Says
    reply: str


class VerdictCache:
    """A file of verdicts by model, prompt and question. Each is on disk before `put` returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it and its folder.

        Raises:
            BadInput: it can't be made, or is something else.
        """
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise BadInput(f"{path}: verdicts can't be kept there: {error}") from error
        try:
            self._connection.execute(_SCHEMA)
        except sqlite3.Error as error:
            self._connection.close()
            raise self._trouble(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def get(self, model: str, prompt: int, questions: Iterable[Question]) -> dict[Question, KeptVerdict]:
        """What is known about these questions."""
        found = {}
        try:
            for one in questions:
                row = self._connection.execute(
                    "SELECT says, reply FROM verdict WHERE model = ? AND prompt = ? AND level = ? AND truth = ?"
                    " AND answer = ? AND country = ? AND region = ?",
                    _key(model, prompt, one),
                ).fetchone()
                # Whoever else wrote the file may know words that nobody here does: such a question is asked again.
                if row is not None and row[0] in _SAYINGS:
                    found[one] = KeptVerdict(*row)
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return found

    def put(self, model: str, prompt: int, question: Question, verdict: KeptVerdict) -> None:
        """Keep one verdict."""
        said = verdict.reply.encode("utf-8", "replace").decode("utf-8")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self._connection.execute(
                "INSERT OR REPLACE INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_key(model, prompt, question), verdict.says, said, now),
            )
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def _trouble(self, error: sqlite3.Error) -> BadInput:
        return BadInput(f"{self._path}: verdicts can't be kept there ({error}); name another file with --cache")


def _key(model: str, prompt: int, question: Question) -> tuple[str, int, str, str, str, str, str]:
    above = question.country or "", question.region or ""
    return model, prompt, question.level, question.truth, question.answer, *above
