"""What ``bench score``, ``compare``, ``tier`` and ``published`` do; imported only when one runs."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from json import dumps
from math import isfinite
from pathlib import Path
from typing import Any

from geosleuth.answer import ParserName
from geosleuth.app.console import reading
from geosleuth.bench.export import (
    pair_document,
    published_document,
    records_csv,
    score_csv,
    score_document,
    tier_document,
)
from geosleuth.bench.page import render_page
from geosleuth.bench.report import FileReport, PairReport, compare_files, report_file, rows_for, tier_files
from geosleuth.bench.run.folder import MANIFEST, RESULTS
from geosleuth.bench.scored import Scored, score_file, with_geocoded
from geosleuth.bench.terminal import pair_view, published_view, score_view, tier_view
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, LatLon, threshold_text
from geosleuth.score import PublishedRow

__all__ = [
    "PAIR_ENDINGS",
    "SCORE_ENDINGS",
    "add_geocoded",
    "as_json",
    "check_outputs",
    "command_line",
    "compare_files",
    "labels",
    "made_now",
    "pair_document",
    "pair_view",
    "positive_km",
    "published",
    "published_document",
    "published_view",
    "records_of",
    "report_all",
    "score_all",
    "score_document",
    "score_view",
    "thresholds_km",
    "tier_document",
    "tier_files",
    "tier_view",
    "write_pair",
    "write_records",
    "write_score",
]

SCORE_ENDINGS = (".html", ".json", ".csv")
PAIR_ENDINGS = (".html", ".json")


def thresholds_km(text: str | None) -> tuple[float, ...]:
    """The distances of a ``--within`` option, ascending; the ten usual ones without it."""
    if text is None:
        return THRESHOLDS_KM
    try:
        values = sorted(float(part) for part in text.split(","))
    except ValueError:
        values = []
    if not values or not all(isfinite(value) and value > 0 for value in values):
        raise BadInput(f"--within takes positive distances in km, such as 1,25,200; not {text!r}")
    # What reads the same is the same: a key of the JSON document must not stand for two distances.
    return tuple({threshold_text(value): value for value in reversed(values)}.values())[::-1]


def published(dataset: str | None) -> tuple[PublishedRow, ...]:
    """The papers' rows on a data set, if one was named."""
    return () if dataset is None else rows_for(dataset)


def score_all(files: Sequence[Path], parser: ParserName, distance: DistanceMethod) -> list[Scored]:
    """Score files and the results of runs, with a progress bar.

    A run goes by its folder's name; what shares a name is told apart by its folder, ending or number.
    """
    records = [records_of(path) for path in files]
    with reading(records) as progress:
        return [
            score_file(path, parser=parser, distance=distance, label=label, progress=progress)
            for path, label in zip(records, labels(files), strict=True)
        ]


def records_of(path: Path) -> Path:
    """The file of records that is meant: the path itself, or the results of the run whose folder it is.

    Raises:
        BadInput: a folder without results of a run.
    """
    if not path.exists() and not path.suffix:
        raise BadInput(f"{path}: there is no such folder of a run, and files of records end in .jsonl or .csv")
    if not path.is_dir():
        return path
    if not (path / MANIFEST).is_file():
        raise BadInput(f"{path}: this is a folder and no run; give a file of records, or the folder of a run")
    if not (path / RESULTS).is_file():
        raise BadInput(
            f"{path / RESULTS}: is not there yet; it is written when a run ends or stops: give the run's command again"
        )
    return path / RESULTS


def labels(files: Sequence[Path]) -> list[str]:
    """For each file or folder the shortest naming that no other shares."""
    files = [path.resolve() if path.is_dir() and not path.name else path for path in files]
    namings = (
        [path.name if path.is_dir() else path.stem for path in files],
        [str(path if path.is_dir() else path.parent / path.stem) for path in files],
        [str(path) for path in files],
        [f"{path} ({number})" for number, path in enumerate(files, 1)],
    )
    return [next(names[index] for names in namings if names.count(names[index]) == 1) for index in range(len(files))]


def add_geocoded(scored: Sequence[Scored]) -> list[Scored]:
    """Each file, followed by its geocoded copy where it has text answers without a point."""
    from geosleuth.app.console import building
    from geosleuth.atlas.base import BasePlaces, ensure_base, open_base

    with building() as progress:
        places = BasePlaces(open_base(ensure_base(progress)))

    def geocode(name: str) -> LatLon | None:
        hits = places.geocode(name, limit=1)
        return hits[0].place.point if hits else None

    with_copies = []
    for item in scored:
        with_copies += [item, with_geocoded(item, geocode)] if item.named_only else [item]
    return with_copies


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


def check_outputs(paths: Sequence[Path], endings: Sequence[str], records: Path | None, inputs: Sequence[Path]) -> None:
    """Whether every output can be written; asked before the work, so that a typing error costs no waiting.

    Raises:
        BadInput: an output of an unknown kind, in a folder that is not there, or in the place of another file we use.
    """
    if records is not None and records.suffix.lower() != ".csv":
        raise BadInput(f"{records}: --records writes .csv")
    used = {os.path.realpath(path) for path in inputs}
    for path in (*paths, *([] if records is None else [records])):
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if os.path.realpath(path) in used:
            raise BadInput(f"{path}: is already read or written by this command; give the output another name")
        used.add(os.path.realpath(path))
    for path in paths:
        if path.suffix.lower() not in endings:
            raise BadInput(f"{path}: --out writes {', '.join(endings[:-1])} or {endings[-1]}")


def write_score(path: Path, reports: Sequence[FileReport], rows: Sequence[PublishedRow]) -> None:
    """The figures as a page, a document or a table, by the file's ending."""
    match path.suffix.lower():
        case ".html":
            text = render_page(reports, published=rows, generated=made_now(), command=command_line())
        case ".json":
            text = as_json(score_document(reports, rows))
        case _:
            text = score_csv(reports)
    write_text_atomically(path, text)


def write_pair(path: Path, scored: Sequence[Scored], pair: PairReport, moved: int) -> None:
    """A comparison as a page, with the figures of both files, or as a document."""
    if path.suffix.lower() == ".html":
        thresholds = [item.threshold_km for item in pair.comparison.accuracies]
        reports = [report_file(item, thresholds_km=thresholds) for item in scored]
        text = render_page(
            reports, pairs=[pair], title="Which answers came closer?", generated=made_now(), command=command_line()
        )
    else:
        text = as_json(pair_document(pair, moved))
    write_text_atomically(path, text)


def made_now() -> str:
    """When a page is made, as it is to be read."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def as_json(document: Mapping[str, Any]) -> str:
    """A document as the text of a file."""
    return dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def command_line() -> str:
    """This very command, as it could be typed again."""
    return shlex.join(["geosleuth", *sys.argv[1:]])


def write_records(path: Path, scored: Sequence[Scored]) -> None:
    """One line per record."""
    write_text_atomically(path, records_csv(scored))
