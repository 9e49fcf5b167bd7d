"""The report of a run as data, and its gallery of photos; page, terminal and JSON render it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from geosleuth.answer import Answer
from geosleuth.geo import THRESHOLDS_KM, Box, LatLon
from geosleuth.lab.bench.page.score_charts import HEADLINE_KM
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.report import FileReport, align, report_file
from geosleuth.lab.bench.run.folder import RESULTS, RunFolder
from geosleuth.lab.bench.run.manifest import Manifest
from geosleuth.lab.bench.scored import UNKNOWN, Scored
from geosleuth.lab.score import Accuracy, Truth, within
from geosleuth.report.mercator import mercator
from geosleuth.support.errors import BadInput
from geosleuth.support.service_use import alarms
from geosleuth.support.text.safe import one_line, printable

from .figures import (
    Behaviour,
    Bucket,
    HungOn,
    Journal,
    Measure,
    Spread,
    by_spending,
    common_measure,
    compare_masked,
    per_photo,
    read_behaviour,
    read_calls,
    read_journal,
)

MOST = 12
# Maximum photos per country, so that a gallery is not one city's; if that leaves too few, others follow.
PER_COUNTRY = 2

MAP_PX = (276, 230)
# Zoom limits: without installed regions a closer map is empty; a wider one can't show both places.
CLOSEST_ZOOM, WIDEST_ZOOM = 9.0, 1.2

_TILE_PX = 256
_MARGIN = 0.62
_MAX_TOOLS = 12

Progress = Callable[[int], None]
_VALUE_CHARS = 200
_LEFT_ALONE = {"sampling": "the method's own"}


@dataclass(frozen=True, slots=True)
class GroundMap:
    """A drawn map as a data URI, its area, and its attribution."""

    uri: str
    box: Box
    credit: str


@dataclass(frozen=True, slots=True)
class Shot:
    """A photo of the gallery: its place, the answer, and the effort.

    ``error_km`` is NaN if the answer has no place. ``tools`` are in order of their calls; None if the trajectory
    can't be read. ``photo`` and ``ground`` are None if there is no picture.
    """

    id: str
    truth: Truth
    answer: Answer
    error_km: float
    turns: int
    tokens: int
    seconds: float
    cost_usd: float
    tools: tuple[tuple[str, bool], ...] | None
    photo: str | None = None
    ground: GroundMap | None = None


@dataclass(frozen=True, slots=True)
class ReportGallery:
    """Wins, nearest first, and failures, farthest first."""

    threshold_km: float
    wins: tuple[Shot, ...] = ()
    failures: tuple[Shot, ...] = ()

    @property
    def shots(self) -> tuple[Shot, ...]:
        """Return all of them."""
        return (*self.wins, *self.failures)


def choose(scored: Scored, most: int, threshold_km: float) -> tuple[list[int], list[int]]:
    """Return the rows of the nearest answers within a distance, and of the farthest beyond it; unlocated ones last."""
    right = within(scored.distance_km, threshold_km)
    near = np.flatnonzero(right)
    near = near[np.argsort(scored.distance_km[near], kind="stable")]
    far = np.flatnonzero(~right)
    far = far[np.argsort(-np.nan_to_num(scored.distance_km[far], nan=-1.0), kind="stable")]
    return _pick_varied(scored, near.tolist(), most), _pick_varied(scored, far.tolist(), most)


def _pick_varied(scored: Scored, rows: Sequence[int], most: int) -> list[int]:
    column = scored.fields.get("country")
    taken: Counter[str] = Counter()
    chosen: list[int] = []
    passed: list[int] = []
    for row in rows:
        if len(chosen) == most:
            break
        country = UNKNOWN if column is None else column.values[int(column.codes[row])]
        if country != UNKNOWN and taken[country] >= PER_COUNTRY:
            passed.append(row)
            continue
        taken[country] += 1
        chosen.append(row)
    kept = {*chosen, *passed[: most - len(chosen)]}
    return [row for row in rows if row in kept]


def make_gallery(
    folder: RunFolder, results: Path, scored: Scored, journal: Journal, *, most: int, threshold_km: float
) -> ReportGallery:
    """Choose the photos and read their details; `with_pictures` adds pictures."""
    wins, failures = choose(scored, most, threshold_km)
    wanted = {scored.ids[row]: row for row in (*wins, *failures)}
    shots: dict[str, Shot] = {}
    for record in read_records(results) if wanted else ():
        name = printable(record.id)
        if name in wanted:
            row = int(journal.find_rows([name])[0])
            error_km = float(scored.distance_km[wanted[name]])
            shots[name] = _shot(folder, journal, row, name, record.truth, record.read("lenient"), error_km)
    return ReportGallery(
        threshold_km,
        tuple(shots[scored.ids[row]] for row in wins if scored.ids[row] in shots),
        tuple(shots[scored.ids[row]] for row in failures if scored.ids[row] in shots),
    )


def _shot(
    folder: RunFolder, journal: Journal, row: int, name: str, truth: Truth, answer: Answer, error_km: float
) -> Shot:
    spent = {key: float(column[row]) if row >= 0 else math.nan for key, column in journal.spent.items()}
    try:
        calls = list(read_calls(folder, journal.kept[row])) if row >= 0 else None
    except (FileNotFoundError, BadInput):
        calls = None
    return Shot(
        name,
        truth,
        answer,
        error_km,
        turns=0 if row < 0 else int(spent["turns"]),
        tokens=0 if row < 0 else int(spent["input_tokens"] + spent["output_tokens"]),
        seconds=spent["seconds"],
        cost_usd=spent["cost_usd"],
        tools=None if calls is None else tuple((call.name, call.failure is None) for call in calls[:_MAX_TOOLS]),
    )


def with_pictures(
    gallery: ReportGallery, photos: Mapping[str, str], grounds: Callable[[Shot], GroundMap | None]
) -> ReportGallery:
    """Return the gallery with thumbnails, by id, and maps."""
    from dataclasses import replace

    def add_pictures(shots: Iterable[Shot]) -> tuple[Shot, ...]:
        return tuple(replace(shot, photo=photos.get(shot.id), ground=grounds(shot)) for shot in shots)

    return ReportGallery(gallery.threshold_km, add_pictures(gallery.wins), add_pictures(gallery.failures))


def frame(truth: LatLon, answer: LatLon | None) -> tuple[LatLon, float] | None:
    """Return centre and zoom of a map that shows both places; None if they lie too far apart for any."""
    if answer is None:
        return truth, 4.0
    turn = (answer.lon - truth.lon + 540) % 360 - 180
    top, bottom = max(mercator(truth.lat), mercator(answer.lat)), min(mercator(truth.lat), mercator(answer.lat))
    wide, high = abs(turn) / 360, (top - bottom) / (2 * math.pi)
    needed = max(wide / MAP_PX[0], high / MAP_PX[1]) * _TILE_PX / _MARGIN
    zoom = CLOSEST_ZOOM if needed <= 0 else min(CLOSEST_ZOOM, math.log2(1 / needed))
    if zoom < WIDEST_ZOOM:
        return None
    lat = math.degrees(math.atan(math.sinh((top + bottom) / 2)))
    lon = (truth.lon + turn / 2 + 540) % 360 - 180
    # A map never extends beyond the plane's edge.
    return LatLon(max(-84.0, min(84.0, lat)), lon), round(zoom, 2)


@dataclass(frozen=True, slots=True)
class Counts:
    """The photos of a run. ``answered`` includes those without a place; ``missing`` ones have no ended try."""

    photos: int
    answered: int
    unlocated: int
    failed: int
    missing: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of one run.

    ``counts_as_misses`` are the accuracies with every unanswered photo counted as wrong: a lower bound.
    ``buckets`` are by the measure that all reported runs share.
    """

    label: str
    folder: RunFolder
    report: FileReport
    counts: Counts
    counts_as_misses: Mapping[float, Accuracy]
    journal: Journal
    behaviour: Behaviour
    spent: Mapping[str, Spread]
    gallery: ReportGallery
    buckets: tuple[Bucket, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """Return the settings that determine the answers, from the manifest, as plain text."""
        return _facts(self.folder.manifest)

    @property
    def alarms(self) -> list[str]:
        """Return what a reader must know before the figures: services that failed too often."""
        return [one_line(words) for words in alarms(self.journal.services)]

    @property
    def hidden(self) -> str:
        """Return what the run hid in its photos, in a word; empty if nothing."""
        return one_line(self.folder.manifest.mask or "")[:_VALUE_CHARS]


@dataclass(frozen=True, slots=True)
class RunsReport:
    """All runs of a report, the measure of their costs, and the effect of masks."""

    runs: tuple[RunReport, ...]
    measure: Measure
    right_km: float
    hung_on: tuple[HungOn, ...] = ()


def report_run(
    folder: RunFolder,
    scored: Scored,
    *,
    by: Sequence[str] = (),
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
    right_km: float = HEADLINE_KM,
    gallery: int = 0,
    trajectories: Progress = lambda _count: None,
) -> RunReport:
    """Read a run and compute its figures; ``scored`` are its results.

    Raises:
        BadInput: its journal is damaged, or no record has a field to slice by.
    """
    journal = read_journal(folder)
    report = report_file(scored, by=by, thresholds_km=thresholds_km, selective_km=right_km)
    answered, failed = journal.count("answered"), journal.count("failed")
    photos = max(folder.manifest.data.count, answered + failed)
    return RunReport(
        label=scored.label,
        folder=folder,
        report=report,
        counts=Counts(photos, answered, report.summary.unlocated, failed, photos - answered - failed),
        counts_as_misses={km: Accuracy.from_counts(share.hits, photos) for km, share in report.summary.within.items()},
        journal=journal,
        behaviour=read_behaviour(folder, journal, trajectories),
        spent=per_photo(journal),
        gallery=make_gallery(folder, folder.results, scored, journal, most=gallery, threshold_km=right_km),
        notes=tuple(_notes(len(scored), answered)),
    )


def report_runs(runs: Sequence[RunReport], right_km: float = HEADLINE_KM, shown: int = 20) -> RunsReport:
    """Combine runs: choose the measure of cost, and compare each masked run with an unmasked one."""
    measure = common_measure([run.spent for run in runs])
    with_buckets = tuple(
        replace(run, buckets=by_spending(run.journal, run.report.scored, measure, right_km)) for run in runs
    )
    return RunsReport(with_buckets, measure, right_km, tuple(_compare_masked_runs(with_buckets, shown)))


def _compare_masked_runs(runs: Sequence[RunReport], shown: int) -> Iterable[HungOn]:
    for masked in runs:
        whole = _find_unmasked_run(masked, runs)
        if not masked.hidden or whole is None:
            continue
        yield compare_masked(
            whole.report.scored,
            masked.report.scored,
            files=(whole.folder.results, masked.folder.results),
            hidden=masked.hidden,
            thresholds_km=tuple(whole.report.summary.within),
            shown=shown,
        )


def _find_unmasked_run(masked: RunReport, runs: Sequence[RunReport]) -> RunReport | None:
    """Return the run over the same photos that hid nothing, preferably with the same settings."""
    able = [run for run in runs if not run.hidden and same_photos(run, masked)]
    wanted = masked.folder.manifest.settings_sha256
    return next((run for run in able if run.folder.manifest.settings_sha256 == wanted), able[0] if able else None)


def same_photos(report: RunReport, other: RunReport) -> bool:
    """Return whether two runs can be compared: they share answered photos, and agree on their true places."""
    try:
        align([report.report.scored, other.report.scored])
    except BadInput:
        return False
    return True


def _notes(records: int, answered: int) -> Iterable[str]:
    if records != answered:
        yield (
            f"{RESULTS} holds {records:,} answers and the journal {answered:,}: the run is in progress or was killed; "
            "run its command again to update the results"
        )


def _facts(manifest: Manifest) -> dict[str, str]:
    data = manifest.data
    facts = {"data set": _format_setting(data.name), "selection": _format_setting(data.selection) or "all photos"}
    facts["data sha256"] = _format_setting(data.sha256)
    for key, value in manifest.settings.items():
        if value not in (None, "", [], {}, False):
            facts[one_line(str(key))[:60].replace("_", " ")] = _format_setting(value) or _LEFT_ALONE.get(key, "nothing")
    if manifest.mask:
        facts["hidden"] = _format_setting(manifest.mask)
    if manifest.seed is not None:
        facts["seed"] = str(manifest.seed)
    facts["begun"] = manifest.created.isoformat(" ")
    facts["made with"] = _format_setting(
        f"geosleuth {manifest.geosleuth}, Python {manifest.python}, {manifest.platform}"
    )
    return facts


def _format_setting(value: object) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}: {item}" for key, item in value.items() if item not in (None, "", [], {}, False))
    elif isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    line = one_line(str(value))
    return line if len(line) <= _VALUE_CHARS else f"{line[: _VALUE_CHARS - 1]}…"
