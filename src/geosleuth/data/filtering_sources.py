"""Where tries come from: folders of runs, files of recorded answers, tables of distances."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from geosleuth.agent import read_trajectory
from geosleuth.answer import Answer, ParserName
from geosleuth.bench.records import read_records, text_lines
from geosleuth.bench.run.folder import JOURNAL, RESULTS, RunFolder
from geosleuth.bench.run.progress import errors_km
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon

_TRY = re.compile(r"\.try([0-9]{1,4})\.jsonl")
_TRY_COLUMN = re.compile(r"(?:try|distance|km|d)[ _-]?([0-9]{1,4})(?:[ _-]?km)?", re.IGNORECASE)
_NO_PLACE = frozenset(("", "nan", "none", "null", "-", "–"))

Progress = Callable[[int], None]
Pair = tuple[str, LatLon, LatLon | None]
"""A photo's id, where it really was, and where a try put it."""


def _nobody(_photos: int) -> None:
    """Nobody listens."""


def read_tries(
    paths: Iterable[Path], *, parser: ParserName = "lenient", progress: Progress = _nobody
) -> dict[str, list[float]]:
    """How far off every try at every photo was; what several sources say of one photo is added up in their order.

    A folder is a run: the tries of several minds, where it has them, else its answers, one a photo. A file holds
    recorded answers, where photos may come up several times, or is a table of distances: CSV with a column ``id`` and
    columns ``try_1``, ``try_2`` and so on, or one ``distance_km`` with a line a try; or JSON lines
    ``{"id": ..., "distances_km": [...]}``. A try without a place is not a number.

    Raises:
        BadInput: something can't be read; the message says what.
    """
    found: dict[str, list[float]] = {}
    for path in paths:
        if path.is_dir():
            pairs = _run_pairs(path)
        elif (table := _table(path)) is not None:
            for one, values in table:
                found.setdefault(one, []).extend(values)
                progress(len(found))
            continue
        else:
            pairs = ((record.id, record.truth.point, record.read(parser).point) for record in read_records(path))
        _add_pairs(found, pairs, progress)
    if not found:
        raise BadInput("there are no tries in these; give runs that were made on photos with truths")
    return found


def _add_pairs(found: dict[str, list[float]], pairs: Iterable[Pair], progress: Progress, at_once: int = 4096) -> None:
    waiting: list[Pair] = []

    def count() -> None:
        placed = [
            (point.lat if point else math.nan, point.lon if point else math.nan, truth.lat, truth.lon)
            for _, truth, point in waiting
        ]
        for (one, *_), km in zip(waiting, errors_km(placed).tolist() if placed else (), strict=True):
            found.setdefault(one, []).append(km)
        waiting.clear()
        progress(len(found))

    for pair in pairs:
        waiting.append(pair)
        if len(waiting) >= at_once:
            count()
    count()


def _run_pairs(path: Path) -> Iterator[Pair]:
    """Every try of a run that ended with an answer, photo by photo, with the truths of its results.

    A try by several minds is as many tries as it has minds; tries that failed or were cut off are none.
    """
    if not (path / JOURNAL).is_file() or not (path / RESULTS).is_file():
        raise BadInput(f"{path}: holds no run with {RESULTS}; give the folder of a run that was finished or stopped")
    with RunFolder.read(path) as run:
        truths = {record.id: record.truth.point for record in read_records(run.results)}
        points: dict[str, list[LatLon | None]] = {one: [] for one in truths}
        for made in run.tries():
            if made.outcome != "answered" or made.id not in points:
                continue
            files = run.files_of(made.image, made.number)
            own = sorted((int(named[1]), file) for file in files if (named := _TRY.search(file.name)))
            points[made.id] += [_point(read_trajectory(file).answer) for _, file in own] or [made.answer.point]
    for one, found in points.items():
        yield from ((one, truths[one], point) for point in found)


def _point(answer: Answer | None) -> LatLon | None:
    return None if answer is None else answer.point


def _table(path: Path) -> Iterator[tuple[str, list[float]]] | None:
    """The rows of a table of distances; None where the file is something else."""
    try:
        with path.open("rb") as stream:
            first = stream.readline(1 << 20).decode("utf-8-sig", "replace").strip()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    if path.suffix.lower() == ".csv":
        try:
            own = [name.strip() for name in next(csv.reader([first]), [])]
        except csv.Error:
            return None
        if "id" in own and "true_lat" not in own and (_try_columns(own) or "distance_km" in own):
            return _csv_rows(path)
        if "true_lat" not in own:
            raise BadInput(
                f"{path}: its columns are those of no table of tries; a table of distances has id and try_1, try_2 and "
                "so on, or id and distance_km; recorded answers have true_lat and true_lon"
            )
    elif '"distances_km"' in first:
        return _json_rows(path)
    return None


def _try_columns(names: Iterable[str]) -> list[str]:
    """The columns of tries, by their numbers."""
    numbered = [(int(found[1]), name) for name in names if (found := _TRY_COLUMN.fullmatch(name))]
    return [name for _, name in sorted(numbered)]


def _csv_rows(path: Path) -> Iterator[tuple[str, list[float]]]:
    with path.open("rb") as stream:
        reader = csv.DictReader(text_lines(path, stream.readline, "row"), skipinitialspace=True)
        try:
            yield from _rows_of(path, reader)
        except csv.Error as error:
            # The reader's own count: DictReader's still stands at the row before.
            raise BadInput(f"{path}:{reader.reader.line_num}: not CSV: {error}") from error


def _rows_of(path: Path, reader: "csv.DictReader[str]") -> Iterator[tuple[str, list[float]]]:
    reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
    columns = _try_columns(reader.fieldnames) or ["distance_km"]
    for row in reader:
        one = (row.get("id") or "").strip()
        if not one:
            raise BadInput(f"{path}:{reader.line_num}: no id")
        # Photos that were tried less often have fewer cells; an empty one among others is a try without a place.
        cells = [cell for name in columns if (cell := row.get(name)) is not None]
        while len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        yield one, [_km(cell, f"{path}:{reader.line_num}") for cell in cells]


def _json_rows(path: Path) -> Iterator[tuple[str, list[float]]]:
    with path.open("rb") as stream:
        for number, line in enumerate(text_lines(path, stream.readline, "row"), 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                row: Any = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"{where}: not JSON") from error
            values = row.get("distances_km") if isinstance(row, Mapping) else None
            if not isinstance(values, list) or not isinstance(row.get("id"), str | int):
                raise BadInput(f'{where}: a row is {{"id": ..., "distances_km": [...]}}')
            yield str(row["id"]), [_km(value, where) for value in values]


def _km(value: object, where: str) -> float:
    if value is None or (isinstance(value, str) and value.strip().lower() in _NO_PLACE):
        return math.nan
    try:
        km = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.inf
    except ValueError:
        km = math.inf
    if not 0 <= km < math.inf and not math.isnan(km):
        raise BadInput(f"{where}: {str(value)[:40]!r} is no distance in km")
    return km
