"""Handler of ``geosleuth bench report``; imported only when it runs."""

import asyncio
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.cli.preparation import offline_atlas
from geosleuth.geo import Box
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.report import PairReport, compare_files, correct_together
from geosleuth.lab.bench.report_run import RunReport, RunsReport, frame, report_run, with_pictures
from geosleuth.lab.bench.report_run import report_runs as put_together
from geosleuth.lab.bench.report_run.documents import run_document, run_view
from geosleuth.lab.bench.report_run.run_page import render_run_page
from geosleuth.lab.bench.report_run.run_report import MAP_PX, GroundMap, Shot, same_photos
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.scored import Field, Scored, score_records, with_placed
from geosleuth.lab.bench.sets import CARDS, DataSet, Item, open_set
from geosleuth.lab.cli.handlers import bench
from geosleuth.lab.score import PublishedRow
from geosleuth.photo import open_photo
from geosleuth.report.pictures import data_uri, uri
from geosleuth.support.console import progress, reading, show_result, talk
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.safe import printable

if TYPE_CHECKING:
    from geosleuth.lab.cli.bench import ReportOptions

ENDINGS = (".html", ".json")
# Maximum photos on one page, for all its runs together: about eight megabytes.
MAX_PHOTOS = 400

_THUMBNAIL_PX = 360
_QUALITY = 72
_NO_ROWS = "none"

_Ends = tuple[tuple[float, float], tuple[float, float] | None]


def report_runs(options: "ReportOptions", rows: Sequence[PublishedRow] = ()) -> None:
    """Read the runs, write what was asked for, print the rest; ``rows`` of a paper stand in place of the usual ones."""
    bench.check_outputs(options.out, ENDINGS, None, options.runs, overwrite=options.overwrite)
    right_km = bench.positive_km(options.right_within, "--right-within")
    thresholds = tuple(sorted({*bench.thresholds_km(options.within), right_km}))
    data = None if options.data is None else open_set(options.data)
    _refuse_twice(options.runs)
    labels = bench.labels([path.resolve() for path in options.runs])
    folders = [RunFolder.read(path) for path in options.runs]
    asked_for = bool(rows) or options.published is not None
    rows = rows or _find_published(options.published, folders)
    pages = any(path.suffix.lower() == ".html" for path in options.out)
    shown = min(options.gallery, MAX_PHOTOS // (2 * len(folders)))
    scored = [
        _with_source(one, folder) for one, folder in zip(_load_scored(folders, labels, options), folders, strict=True)
    ]
    with progress("reading trajectories", sum(folder.index.count("located", "unlocated") for folder in folders)) as bar:
        runs = [
            report_run(
                folder,
                one,
                by=options.by,
                thresholds_km=thresholds,
                right_km=right_km,
                gallery=shown,
                trajectories=bar.advance,
            )
            for folder, one in zip(folders, scored, strict=True)
        ]
    if pages and shown:
        runs = _add_illustrations(runs, data, maps=options.maps)
    elif data is not None:
        talk("--data puts photos into the gallery of a page, and none is written; give --out report.html")
    report = put_together(runs, right_km)
    pairs = _pairs(report, thresholds)
    for path in options.out:
        _write_run_report(path, report, rows, pairs)
        talk(f"wrote {path}")
    # Published rows would hide the figures unless asked for; the page and the document have them.
    view = run_view(report, rows if asked_for else (), pairs)
    show_result(run_document(report, rows, pairs), view, as_json=options.as_json)


def _refuse_twice(runs: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for path in runs:
        if path.resolve() in seen:
            raise BadInput(f"{path}: is given twice; name each run once")
        seen.add(path.resolve())


def _write_run_report(
    path: Path, report: RunsReport, rows: Sequence[PublishedRow], pairs: Sequence[PairReport]
) -> None:
    if path.suffix.lower() == ".html":
        made, command = bench.format_current_time(), bench.command_line()
        text = render_run_page(report, published=rows, pairs=pairs, generated=made, command=command)
    else:
        text = bench.as_json(run_document(report, rows, pairs))
    write_text_atomically(path, text)


def _load_scored(folders: Sequence[RunFolder], labels: Sequence[str], options: "ReportOptions") -> list[Scored]:
    files = [bench.find_records_file(folder.path) for folder in folders]
    with reading(files) as advance:
        found = []
        for file, label in zip(files, labels, strict=True):
            fingerprint = hashlib.sha256()
            records = read_records(file, advance, fingerprint.update)
            item = score_records(records, label=label, parser="lenient", distance=options.distance)
            found.append(replace(item, sha256=fingerprint.hexdigest()))
    place = bench.scoring_placer(strict=options.strict)
    return [with_placed(item, place) for item in found]


def _with_source(scored: Scored, folder: RunFolder) -> Scored:
    """Return a scored file with the data set's name in papers, from its card if the records lack it."""
    card = CARDS.get(folder.manifest.data.name)
    if card is None or card.published_as is None or "data_source" in scored.fields:
        return scored
    source = Field((card.published_as,), np.zeros(len(scored), dtype=np.int32))
    return replace(scored, fields={**scored.fields, "data_source": source})


def _find_published(wanted: str | None, folders: Sequence[RunFolder]) -> tuple[PublishedRow, ...]:
    if wanted == _NO_ROWS:
        return ()
    if wanted is not None:
        return bench.select_published_rows(wanted)
    names = {card.published_as for folder in folders if (card := CARDS.get(folder.manifest.data.name))}
    rows: list[PublishedRow] = []
    for name in sorted(filter(None, names)):
        try:
            rows += bench.select_published_rows(name)
        except BadInput:
            continue  # a paper names the set, and reports no accuracy on it
    return tuple(rows)


def _pairs(report: RunsReport, thresholds: Sequence[float]) -> list[PairReport]:
    """Compare every run with the first, on photos that both answered; masked runs have their own section."""
    first, *others = [run for run in report.runs if not run.hidden] or report.runs[:1]
    return correct_together(
        compare_files(first.report.scored, run.report.scored, thresholds) for run in others if same_photos(first, run)
    )


def _add_illustrations(runs: Sequence[RunReport], data: DataSet | None, *, maps: bool) -> list[RunReport]:
    wanted = {shot.id for run in runs for shot in run.gallery.shots}
    photos = {} if data is None else _thumbnails(data, wanted, runs)
    grounds = asyncio.run(_grounds(runs)) if maps else {}
    return [
        replace(run, gallery=with_pictures(run.gallery, photos, lambda shot: grounds.get(_ends(shot)))) for run in runs
    ]


def _thumbnails(data: DataSet, wanted: set[str], runs: Sequence[RunReport]) -> dict[str, str]:
    hashes = _hashes(runs, wanted)
    found: dict[str, str] = {}
    troubles: list[str] = []
    with progress("looking for photos", len(wanted)) as bar:
        for item in data:
            name = printable(item.id)
            if name not in wanted or name in found:
                continue
            bar.advance()
            try:
                found[name] = _thumbnail(item, hashes.get(name))
            except GeosleuthError as error:
                troubles.append(str(error))
            if len(found) + len(troubles) >= len(wanted):
                break
    missing = len(wanted) - len(found)
    if missing:
        why = f"; {troubles[0]}" if troubles else "; is it the data set of these runs?"
        talk(f"{missing} of {len(wanted)} photos of the gallery could not be shown{why}")
    return found


def _hashes(runs: Sequence[RunReport], wanted: set[str]) -> dict[str, str]:
    """Return the photo hashes recorded in the journals."""
    found: dict[str, str] = {}
    for run in runs:
        for attempt in run.folder.tries():
            if attempt.sha256 is not None and printable(attempt.id) in wanted:
                found[printable(attempt.id)] = attempt.sha256
    return found


def _thumbnail(item: Item, sha256: str | None) -> str:
    content = item.picture.read()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise BadInput(f"{item.picture.where}: is not the file that the run saw")
    return data_uri(open_photo(content).photo.image, _THUMBNAIL_PX, _QUALITY)


def _ends(shot: Shot) -> _Ends:
    truth, answer = shot.truth.point, shot.answer.point
    return (truth.lat, truth.lon), None if answer is None else (answer.lat, answer.lon)


async def _grounds(runs: Iterable[RunReport]) -> Mapping[_Ends, GroundMap]:
    """Return a map for every pair of places, drawn offline; none if the atlas can't or no map holds both."""
    shots = {_ends(shot): shot for run in runs for shot in run.gallery.shots}
    drawn: dict[_Ends, GroundMap] = {}
    atlas = offline_atlas(needed=True)
    with progress("drawing maps", len(shots)) as bar:
        for ends, shot in shots.items():
            bar.advance()
            seen = frame(shot.truth.point, shot.answer.point)
            if seen is None:
                continue
            try:
                picture = await atlas.map(seen[0], zoom=seen[1], size=MAP_PX)
            except GeosleuthError:
                continue  # the world map still says where it is
            if isinstance(picture.extent, Box):
                drawn[ends] = GroundMap(_small(picture.png), picture.extent, picture.attribution)
    return drawn


def _small(png: bytes) -> str:
    """Return a drawn map as a WebP data URI, in about a third of the bytes."""
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").save(stream, "WEBP", quality=74, method=6)
    return uri("image/webp", stream.getvalue())
