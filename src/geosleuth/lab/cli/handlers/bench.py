"""Handlers of ``bench score``, ``compare``, ``tier`` and ``select_published_rows``; imported only when one runs."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from json import dumps
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from geosleuth.answer import ParserName
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, threshold_text
from geosleuth.geo.gcj02 import Datum
from geosleuth.lab.bench.export import pair_document, records_csv, score_csv, score_document
from geosleuth.lab.bench.page.score_page import render_page
from geosleuth.lab.bench.placed import PlaceText, create_placer, place_nothing
from geosleuth.lab.bench.report import FileReport, PairReport, find_dataset_rows, report_file
from geosleuth.lab.bench.run.folder import MANIFEST, RESULTS
from geosleuth.lab.bench.scored import Scored, in_datum, score_file, with_placed
from geosleuth.lab.score import PublishedRow
from geosleuth.support.console import (
    reading,
)
from geosleuth.support.errors import BadInput
from geosleuth.support.files import refuse_to_replace, write_text_atomically

SCORE_ENDINGS = (".html", ".json", ".csv")
PAIR_ENDINGS = (".html", ".json")


def thresholds_km(text: str | None) -> tuple[float, ...]:
    """Return the distances of a ``--within`` option, ascending; the ten usual ones without it."""
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


def select_published_rows(dataset: str | None) -> tuple[PublishedRow, ...]:
    """Return the papers' rows on a data set, if one was named."""
    return () if dataset is None else find_dataset_rows(dataset)


def score_all(
    files: Sequence[Path], parser: ParserName, distance: DistanceMethod, place: PlaceText | None = None
) -> list[Scored]:
    """Score files and the results of runs, with a progress bar; answers in words are placed, by the atlas if by none.

    A run is named by its folder; equal names are distinguished by folder, suffix or number.

    Raises:
        ServiceFault: a map service failed.
    """
    records = [find_records_file(path) for path in files]
    with reading(records) as progress:
        scored = [
            score_file(path, parser=parser, distance=distance, label=label, progress=progress)
            for path, label in zip(records, labels(files), strict=True)
        ]
    place = place or scoring_placer()
    return [with_placed(item, place) for item in scored]


def find_records_file(path: Path) -> Path:
    """Return the file of records that is meant: the path itself, or the results of the run whose folder it is.

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
    """Return for each file or folder the shortest unique name."""
    files = [path.resolve() if path.is_dir() and not path.name else path for path in files]
    namings = (
        [path.name if path.is_dir() else path.stem for path in files],
        [str(path if path.is_dir() else path.parent / path.stem) for path in files],
        [str(path) for path in files],
        [f"{path} ({number})" for number, path in enumerate(files, 1)],
    )
    return [next(names[index] for names in namings if names.count(names[index]) == 1) for index in range(len(files))]


def scoring_placer(*, strict: bool = False, maps: str | None = None, allow: Sequence[str] = ()) -> PlaceText:
    """Return what places answers in words for scores: the atlas with its regions, a map service, or nothing.

    Raises:
        UserError: there is no such map service, or the user did not allow its host.
    """
    from geosleuth.atlas import Atlas, OfflineAtlas
    from geosleuth.atlas.base import ensure_base
    from geosleuth.cli.preparation import building
    from geosleuth.pipeline.request import LocateRequest
    from geosleuth.pipeline.searches import map_service

    if strict:
        if maps is not None:
            raise BadInput("--maps places answers in words, and --strict counts none; leave one out")
        return place_nothing
    if maps is not None:
        service = map_service(LocateRequest(maps=maps, allow=tuple(allow)))
        return create_placer(lambda: service)

    def open_atlas() -> Atlas:
        with building() as progress:
            ensure_base(progress)
        return OfflineAtlas()

    return create_placer(open_atlas)


def in_datums(scored: Sequence[Scored], truths: Literal["wgs84", "gcj02", "both"], answers: Datum) -> list[Scored]:
    """Return the files with truths and answers read in the datum that is said; each twice for both."""
    datums: tuple[Datum, ...] = ("wgs84", "gcj02") if truths == "both" else (truths,)
    return [in_datum(item, truths=datum, answers=answers) for item in scored for datum in datums]


def report_all(
    scored: Sequence[Scored], by: Sequence[str], thresholds: Sequence[float], sure_within_km: float
) -> list[FileReport]:
    """Return the figures of every file."""
    return [report_file(item, by=by, thresholds_km=thresholds, selective_km=sure_within_km) for item in scored]


def positive_km(value: float, option: str) -> float:
    """Return the distance that an option gives, if it is one."""
    if not (isfinite(value) and value > 0):
        raise BadInput(f"{option} takes a positive distance in km, not {value:g}")
    return value


def check_outputs(
    paths: Sequence[Path],
    endings: Sequence[str],
    records: Path | None,
    inputs: Sequence[Path],
    *,
    overwrite: bool,
) -> None:
    """Check that every output can be written, before the work.

    Raises:
        BadInput: an output of an unknown kind, in a folder that is not there, in the place of another file we use, or
            there already and not to be replaced.
    """
    if records is not None and records.suffix.lower() != ".csv":
        raise BadInput(f"{records}: --records writes .csv")
    used = {os.path.realpath(path) for path in inputs}
    written = [*paths, *([] if records is None else [records])]
    for path in written:
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if os.path.realpath(path) in used:
            raise BadInput(f"{path}: is already read or written by this command; give the output another name")
        used.add(os.path.realpath(path))
    for path in paths:
        if path.suffix.lower() not in endings:
            raise BadInput(f"{path}: --out writes {', '.join(endings[:-1])} or {endings[-1]}")
    refuse_to_replace(written, overwrite=overwrite)


def write_score(path: Path, reports: Sequence[FileReport], rows: Sequence[PublishedRow]) -> None:
    """Write the figures as a page, a document or a table, by the file's suffix."""
    match path.suffix.lower():
        case ".html":
            text = render_page(reports, published=rows, generated=format_current_time(), command=command_line())
        case ".json":
            text = as_json(score_document(reports, rows))
        case _:
            text = score_csv(reports)
    write_text_atomically(path, text)


def write_pair(path: Path, scored: Sequence[Scored], pair: PairReport, moved: int) -> None:
    """Write a comparison as a page, with the figures of both files, or as a document."""
    if path.suffix.lower() == ".html":
        thresholds = [item.threshold_km for item in pair.comparison.accuracies]
        reports = [report_file(item, thresholds_km=thresholds) for item in scored]
        text = render_page(
            reports,
            pairs=[pair],
            title="Which answers came closer?",
            generated=format_current_time(),
            command=command_line(),
        )
    else:
        text = as_json(pair_document(pair, moved))
    write_text_atomically(path, text)


def format_current_time() -> str:
    """Return the current time for a page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as the text of a file."""
    return dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def command_line() -> str:
    """Return this command as it could be typed again."""
    return shlex.join(["geosleuth", *sys.argv[1:]])


def write_records(path: Path, scored: Sequence[Scored]) -> None:
    """Write one line per record."""
    write_text_atomically(path, records_csv(scored))
