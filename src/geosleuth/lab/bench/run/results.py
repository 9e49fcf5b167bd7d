"""The progress of a run, and its results: records to score, errors, a summary."""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.agent import Spent
from geosleuth.agent.codec import to_line
from geosleuth.answer.answer import answer_from_dict
from geosleuth.geo import LatLon, distance_km, distances_km
from geosleuth.lab.bench.placed import PlaceText, find_measured_point, place_nothing
from geosleuth.lab.bench.scored import TRAINED_ON_TEST, truth_to_dict
from geosleuth.lab.bench.sets.dataset import DataSet, Item
from geosleuth.lab.score import Summary, summarise
from geosleuth.support.files import replacing, write_text_atomically

from .folder import RunFolder

_AT_ONCE = 1000

FORMAT = "geosleuth-run-summary"
VERSION = 1
_OWN = frozenset(
    ("id", "truth", "reply", "answer", "error_km", "by", "reason", "turns", "calls", "failed_calls", "input_tokens",
     "output_tokens", "cost_usd", "solution_str", TRAINED_ON_TEST)
)  # fmt: skip
Put = Callable[[bytes], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """A run at one moment.

    ``done`` of ``total`` photos are answered or failed, and ``missing`` are neither. ``answered`` includes those that
    are ``unlocated``. ``measured`` answers have been compared with their truths: ``within_25km`` is a share of them,
    with unlocated ones as misses. ``tokens``, ``usd`` (None if a price is unknown) and ``seconds`` are those of the
    whole run, all tries together. ``rate`` is photos per second since this command began. ``resting`` is the host that
    is not asked at the moment because it failed too often.
    """

    total: int
    done: int
    answered: int
    unlocated: int
    failed: int
    missing: int
    measured: int
    within_25km: float | None
    tokens: int
    usd: float | None
    seconds: float
    rate: float | None
    eta_s: float | None
    under_way: int
    resting: str | None = None


def errors_km(pairs: Sequence[tuple[float, float, float, float]]) -> NDArray[np.float64]:
    """Return the errors of answers, as the scorer measures them; a row has latitude and longitude, then the truth's."""
    columns = np.asarray(pairs, dtype=np.float64)
    return distances_km(columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3], "geodesic")


class Errors:
    """Errors of answers, eight bytes each; distances are computed in batches."""

    def __init__(self) -> None:
        """Start empty."""
        self.measured = 0
        self._done: list[NDArray[np.float64]] = []
        self._waiting: list[tuple[float, float, float, float]] = []

    def add(self, answer: LatLon | None, truth: LatLon) -> None:
        """Count an answer, which may have no point."""
        self.measured += 1
        lat, lon = (answer.lat, answer.lon) if answer is not None else (math.nan, math.nan)
        self._waiting.append((lat, lon, truth.lat, truth.lon))
        if len(self._waiting) >= _AT_ONCE:
            self._measure()

    def _measure(self) -> None:
        if self._waiting:
            self._done.append(errors_km(self._waiting))
            self._waiting.clear()

    def km(self) -> NDArray[np.float64]:
        """Return the errors so far; NaN for an answer without a point."""
        self._measure()
        self._done = [np.concatenate(self._done) if self._done else np.zeros(0)]
        return self._done[0]

    def within(self, km: float) -> float | None:
        """Return the share of answers within a distance."""
        return float(np.mean(self.km() <= km)) if self.measured else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in figures.

    ``answered`` of ``photos`` have an answer; ``placed`` counts by level those of them that were placed by their
    words, and ``unlocated`` those without a place. ``failed`` ended with an error, ``missing`` are neither.
    ``accuracy`` is over the answered ones only. ``spent`` is of all ``tries`` together, ``seconds`` the working time.
    ``why`` the run ended or stopped, and ``words`` for people, are empty if not recorded.
    """

    photos: int
    answered: int
    unlocated: int
    failed: int
    missing: int
    placed: Mapping[str, int]
    accuracy: Summary
    spent: Spent
    tries: int
    failed_tries: int
    interrupted_tries: int
    seconds: float
    why: str = ""
    words: str = ""


def write_results(
    folder: RunFolder, data: DataSet, *, why: str = "", words: str = "", place: PlaceText = place_nothing
) -> RunSummary:
    """Write ``results.jsonl``, ``errors.jsonl``, ``summary.json``, and the services in the manifest, each atomically.

    The first has the same bytes however often the run was interrupted, and answers in words as they were given.

    Raises:
        BadInput: they can't be written, or the data set can't be read.
    """
    with ExitStack() as held:
        results, errors = (_open_results(held, path) for path in (folder.results, folder.errors))
        found = _go_through(folder, data, results, errors, place)
    found = replace(found, why=why, words=words)
    folder.keep_services()
    write_text_atomically(folder.summary, f"{json.dumps(summary_to_dict(folder, found), indent=1)}\n")
    return found


def summary(folder: RunFolder, data: DataSet, place: PlaceText = place_nothing) -> RunSummary:
    """Return the current figures of a run; nothing is written.

    Raises:
        BadInput: the journal or the data set can't be read.
    """
    return _go_through(folder, data, _nowhere, _nowhere, place)


def summary_to_dict(folder: RunFolder, found: RunSummary) -> dict[str, Any]:
    """Return the summary as written."""
    usage = found.spent.usage
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": folder.manifest.id,
        "data": folder.manifest.data.name,
        "photos": found.photos,
        "answered": found.answered,
        "unlocated": found.unlocated,
        "placed": dict(found.placed),
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
        "services": [asdict(use) for use in found.spent.services],
        "why": found.why,
        "words": found.words,
    }


def accuracy_to_dict(found: RunSummary) -> dict[str, Any]:
    """Return the quality of the answers: percent within distances, median, mean GeoScore; None if there are none."""
    return {
        "percent_within_km": {f"{km:g}": _finite(one.percent.value) for km, one in found.accuracy.within.items()},
        "median_km": _finite(found.accuracy.median_km.value),
        "geoscore": _finite(found.accuracy.geoscore.value),
    }


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _nowhere(_line: bytes) -> None:
    """Discard a line."""


def _open_results(held: ExitStack, path: Path) -> Put:
    neighbour = held.enter_context(replacing(path))
    stream = held.enter_context(neighbour.open("wb"))
    held.callback(lambda: os.fsync(stream.fileno()))
    held.callback(stream.flush)
    return stream.write


def _go_through(folder: RunFolder, data: DataSet, results: Put, errors: Put, place: PlaceText) -> RunSummary:
    index = folder.index
    marks = folder.manifest.settings.get(TRAINED_ON_TEST)
    marked = {TRAINED_ON_TEST: ", ".join(map(str, marks))} if marks else {}
    errors_of_answers = Errors()
    photos = answered = unlocated = failed = 0
    placed = Counter[str]()
    for item in data:
        photos += 1
        known = folder.find_known(item.id)
        if known is None or known.state == "interrupted":
            continue
        line = folder.read_plain_try(known)
        if known.state == "failed":
            failed += 1
            errors(_error_line(line, known.tries))
            continue
        answered += 1
        point, level = find_measured_point(answer_from_dict(line["answer"]), place)
        unlocated += point is None
        placed.update([level] if level else [])
        errors_of_answers.add(point, item.truth.point)
        results(_result_line(item, line, marked, point))
    return RunSummary(
        photos=photos,
        answered=answered,
        unlocated=unlocated,
        failed=failed,
        missing=photos - answered - failed,
        placed=placed,
        accuracy=summarise(errors_of_answers.km()),
        spent=index.spent,
        tries=index.tries,
        failed_tries=index.failed_tries,
        interrupted_tries=index.interrupted_tries,
        seconds=index.seconds,
    )


def _result_line(item: Item, line: Mapping[str, Any], marked: Mapping[str, str], point: LatLon | None) -> bytes:
    spent, usage = line["spent"], line["spent"]["usage"]
    away_km = None if point is None else round(distance_km(point, item.truth.point, "geodesic"), 6)
    cost = {} if usage["cost_usd"] is None else {"cost_usd": usage["cost_usd"]}
    return to_line(
        {
            "id": item.id,
            "truth": truth_to_dict(item.truth),
            "answer": line["answer"],
            "error_km": away_km,
            **_fields(item.fields),
            **marked,
            "by": line["by"],
            "reason": line["reason"],
            **{name: spent[name] for name in ("turns", "calls", "failed_calls")},
            **{name: usage[name] for name in ("input_tokens", "output_tokens")},
            **cost,
        }
    )


def _fields(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the data set's own fields; a field with a reserved name is kept under another name."""
    return {f"data_{name}" if name in _OWN else name: value for name, value in fields.items()}


def _error_line(line: Mapping[str, Any], tries: int) -> bytes:
    return to_line({**{name: line.get(name) for name in ("id", "trouble", "host", "reason")}, "tries": tries})
