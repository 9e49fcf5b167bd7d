"""What the ``bench`` commands do once their words are read; imported only when one runs."""

import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from json import dumps
from math import isfinite
from pathlib import Path

from geosleuth.answer import ParserName
from geosleuth.app.console import reading
from geosleuth.bench.compare import compare_files, tier_files
from geosleuth.bench.export import (
    pair_document,
    published_dict,
    records_csv,
    score_csv,
    score_document,
    tier_document,
)
from geosleuth.bench.page import render_page
from geosleuth.bench.published import rows_for
from geosleuth.bench.report import FileReport, report_file
from geosleuth.bench.scored import Scored, score_file
from geosleuth.bench.terminal import pair_view, published_view, score_view, tier_view
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod
from geosleuth.score import PublishedRow

__all__ = [
    "check_outputs",
    "compare_files",
    "pair_document",
    "pair_view",
    "positive_km",
    "published",
    "published_dict",
    "published_view",
    "report_all",
    "score_all",
    "score_document",
    "score_view",
    "thresholds_km",
    "tier_document",
    "tier_files",
    "tier_view",
    "write_records",
]

Writer = Callable[[Path, Sequence[FileReport], Sequence[PublishedRow]], None]


def thresholds_km(text: str | None) -> tuple[float, ...]:
    """The distances of a ``--within`` option, ascending; the ten usual ones without it."""
    if text is None:
        return THRESHOLDS_KM
    try:
        values = sorted({float(part) for part in text.split(",")})
    except ValueError:
        values = []
    if not values or not all(isfinite(value) and value > 0 for value in values):
        raise BadInput(f"--within takes positive distances in km, such as 1,25,200; not {text!r}")
    return tuple(values)


def published(dataset: str | None) -> tuple[PublishedRow, ...]:
    """The papers' rows on a data set, if one was named."""
    return () if dataset is None else rows_for(dataset)


def score_all(files: Sequence[Path], parser: ParserName, distance: DistanceMethod) -> list[Scored]:
    """Score files, with a progress bar; files of one name are told apart by their folder, ending or number."""
    labels = _labels(files)
    with reading(list(files)) as progress:
        return [
            score_file(path, parser=parser, distance=distance, label=label, progress=progress)
            for path, label in zip(files, labels, strict=True)
        ]


def _labels(files: Sequence[Path]) -> list[str]:
    namings = (
        [path.stem for path in files],
        [str(path.with_suffix("")) for path in files],
        [str(path) for path in files],
        [f"{path} ({number})" for number, path in enumerate(files, 1)],
    )
    # For each file the shortest naming that no other file shares.
    return [next(names[index] for names in namings if names.count(names[index]) == 1) for index in range(len(files))]


def report_all(
    scored: Sequence[Scored], by: Sequence[str], thresholds: Sequence[float], sure_within_km: float
) -> list[FileReport]:
    """The figures of every file."""
    return [report_file(item, by=by, thresholds_km=thresholds, selective_km=sure_within_km) for item in scored]


def positive_km(value: float, option: str) -> float:
    """The distance that an option gives, if it is one."""
    if not (isfinite(value) and value > 0):
        raise BadInput(f"{option} takes a positive distance in km, not {value:g}")
    return value


def check_outputs(paths: Sequence[Path], records: Path | None, inputs: Sequence[Path]) -> list[tuple[Path, Writer]]:
    """What writes each output, by its ending; asked before the work, so that a typing error costs no waiting.

    Raises:
        BadInput: an output of an unknown kind, in a folder that is not there, or in the place of another file we use.
    """
    if records is not None and records.suffix.lower() != ".csv":
        raise BadInput(f"{records}: --records writes .csv")
    used = {path.resolve() for path in inputs}
    for path in (*paths, *([] if records is None else [records])):
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if path.resolve() in used:
            raise BadInput(f"{path}: is already read or written by this command; give the output another name")
        used.add(path.resolve())
    writers: dict[str, Writer] = {".html": _write_page, ".json": _write_json, ".csv": _write_csv}
    chosen = []
    for path in paths:
        writer = writers.get(path.suffix.lower())
        if writer is None:
            raise BadInput(f"{path}: --out writes .html, .json or .csv")
        chosen.append((path, writer))
    return chosen


def _write_page(path: Path, reports: Sequence[FileReport], rows: Sequence[PublishedRow]) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_text_atomically(path, render_page(reports, published=rows, generated=now, command=_command()))


def _command() -> str:
    """This very command, as it could be typed again."""
    return shlex.join(["geosleuth", *sys.argv[1:]])


def _write_json(path: Path, reports: Sequence[FileReport], rows: Sequence[PublishedRow]) -> None:
    write_text_atomically(path, dumps(score_document(reports, rows), ensure_ascii=False, allow_nan=False) + "\n")


def _write_csv(path: Path, reports: Sequence[FileReport], _rows: Sequence[PublishedRow]) -> None:
    write_text_atomically(path, score_csv(reports))


def write_records(path: Path, scored: Sequence[Scored]) -> None:
    """One line per record."""
    write_text_atomically(path, records_csv(scored))
