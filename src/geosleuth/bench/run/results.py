"""What came of a run, made from its journal and its data set: records to score, errors, a summary."""

import json
import math
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.agent import Spent
from geosleuth.agent.codec import to_line
from geosleuth.bench.scored import truth_to_dict
from geosleuth.bench.sets.model import DataSet, Item
from geosleuth.files import replacing, write_text_atomically
from geosleuth.score import Summary, Truth, summarise

from .folder import RunFolder
from .progress import errors_km

FORMAT = "geosleuth-run-summary"
VERSION = 1
_AT_ONCE = 1000
_OWN = frozenset(
    ("id", "truth", "reply", "answer", "by", "reason", "turns", "calls", "failed_calls", "input_tokens",
     "output_tokens", "cost_usd", "solution_str")
)  # fmt: skip

Put = Callable[[bytes], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in figures.

    ``answered`` of ``photos`` have an answer, ``unlocated`` of these one without a point; ``failed`` ended with an
    error, ``missing`` are neither. ``accuracy`` is over the answered ones alone. ``spent`` is of all ``tries``
    together, ``seconds`` the time in which photos were worked on. ``why`` the run ended or stopped, and ``words`` for
    people, are empty where nobody said.
    """

    photos: int
    answered: int
    unlocated: int
    failed: int
    missing: int
    accuracy: Summary
    spent: Spent
    tries: int
    failed_tries: int
    interrupted_tries: int
    seconds: float
    why: str = ""
    words: str = ""


def write_results(folder: RunFolder, data: DataSet, *, why: str = "", words: str = "") -> RunSummary:
    """Write ``results.jsonl``, ``errors.jsonl`` and ``summary.json``, each whole or not at all.

    The first has the same bytes however often the run was interrupted.

    Raises:
        BadInput: they can't be written, or the data set can't be read.
    """
    with ExitStack() as held:
        results, errors = (_open(held, path) for path in (folder.results, folder.errors))
        found = _go_through(folder, data, results, errors, why, words)
    write_text_atomically(folder.summary, f"{json.dumps(summary_to_dict(folder, found), indent=1)}\n")
    return found


def summary(folder: RunFolder, data: DataSet) -> RunSummary:
    """The figures of a run as it stands; nothing is written.

    Raises:
        BadInput: the journal or the data set can't be read.
    """
    return _go_through(folder, data, _nowhere, _nowhere, "", "")


def summary_to_dict(folder: RunFolder, found: RunSummary) -> dict[str, Any]:
    """The summary as it is written."""
    usage = found.spent.usage
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": folder.manifest.id,
        "data": folder.manifest.data.name,
        "photos": found.photos,
        "answered": found.answered,
        "unlocated": found.unlocated,
        "failed": found.failed,
        "missing": found.missing,
        "accuracy": accuracy_to_dict(found),
        "spent": {
            "tries": found.tries,
            "failed_tries": found.failed_tries,
            "interrupted_tries": found.interrupted_tries,
            "seconds": round(found.seconds, 3),
            "turns": found.spent.turns,
            "calls": found.spent.calls,
            "failed_calls": found.spent.failed_calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cost_usd": usage.cost_usd,
        },
        "why": found.why,
        "words": found.words,
    }


def accuracy_to_dict(found: RunSummary) -> dict[str, Any]:
    """How good the answers are: percent within distances, median, mean GeoScore; None where there is nothing to say."""
    return {
        "percent_within_km": {f"{km:g}": _finite(one.percent.value) for km, one in found.accuracy.within.items()},
        "median_km": _finite(found.accuracy.median_km.value),
        "geoscore": _finite(found.accuracy.geoscore.value),
    }


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _nowhere(_line: bytes) -> None:
    """Nobody reads it."""


def _open(held: ExitStack, path: Path) -> Put:
    neighbour = held.enter_context(replacing(path))
    stream = held.enter_context(neighbour.open("wb"))
    held.callback(lambda: os.fsync(stream.fileno()))
    held.callback(stream.flush)
    return stream.write


def _go_through(folder: RunFolder, data: DataSet, results: Put, errors: Put, why: str, words: str) -> RunSummary:
    index = folder.index
    errors_km = _ErrorsKm()
    photos = answered = unlocated = failed = 0
    for item in data:
        photos += 1
        known = folder.known(item.id)
        if known is None or known.state == "interrupted":
            continue
        line = folder.plain_at(known)
        if known.state == "failed":
            failed += 1
            errors(_error_line(line, known.tries))
            continue
        answered += 1
        unlocated += known.state == "unlocated"
        errors_km.add(line["answer"], item.truth)
        results(_result_line(item, line))
    return RunSummary(
        photos=photos,
        answered=answered,
        unlocated=unlocated,
        failed=failed,
        missing=photos - answered - failed,
        accuracy=summarise(errors_km.all()),
        spent=index.spent,
        tries=index.tries,
        failed_tries=index.failed_tries,
        interrupted_tries=index.interrupted_tries,
        seconds=index.seconds,
        why=why,
        words=words,
    )


class _ErrorsKm:
    """How far off answers are, eight bytes each; the distances are worked out many at a time."""

    def __init__(self) -> None:
        self._done: list[NDArray[np.float64]] = []
        self._waiting: list[tuple[float, float, float, float]] = []

    def add(self, answer: Mapping[str, Any], truth: Truth) -> None:
        lat, lon = answer.get("lat", math.nan), answer.get("lon", math.nan)
        self._waiting.append((lat, lon, truth.point.lat, truth.point.lon))
        if len(self._waiting) >= _AT_ONCE:
            self._count()

    def _count(self) -> None:
        if self._waiting:
            self._done.append(errors_km(self._waiting))
            self._waiting.clear()

    def all(self) -> NDArray[np.float64]:
        self._count()
        return np.concatenate(self._done) if self._done else np.zeros(0)


def _result_line(item: Item, line: Mapping[str, Any]) -> bytes:
    spent = line["spent"]
    cost = {} if spent["cost_usd"] is None else {"cost_usd": spent["cost_usd"]}
    return to_line(
        {
            "id": item.id,
            "truth": truth_to_dict(item.truth),
            "answer": line["answer"],
            **_fields(item.fields),
            "by": line["by"],
            "reason": line["reason"],
            **{name: spent[name] for name in ("turns", "calls", "failed_calls", "input_tokens", "output_tokens")},
            **cost,
        }
    )


def _fields(fields: Mapping[str, str]) -> dict[str, str]:
    """The data set's own fields; one that is called like ours keeps its value under a name of its own."""
    return {f"data_{name}" if name in _OWN else name: value for name, value in fields.items()}


def _error_line(line: Mapping[str, Any], tries: int) -> bytes:
    return to_line({**{name: line.get(name) for name in ("id", "trouble", "host", "reason")}, "tries": tries})
