"""What ``bench report`` says about a run, as data: the page, the terminal and the document only render it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from geosleuth.bench.compare import align
from geosleuth.bench.page.wording import HEADLINE_KM
from geosleuth.bench.report import FileReport, report_file
from geosleuth.bench.run.folder import RESULTS, RunFolder
from geosleuth.bench.run.manifest import Manifest
from geosleuth.bench.scored import Scored
from geosleuth.errors import BadInput
from geosleuth.geo import THRESHOLDS_KM
from geosleuth.score import Accuracy
from geosleuth.text import one_line

from .behaviour import Behaviour, read_behaviour
from .costs import Bucket, Measure, Spread, by_spending, common_measure, per_photo
from .gallery import Gallery, make_gallery
from .hung_on import HungOn, hung_on
from .reading import Journal, read_journal

Progress = Callable[[int], None]
_VALUE_CHARS = 200
_LEFT_ALONE = {"sampling": "the method's own"}


@dataclass(frozen=True, slots=True)
class Counts:
    """The photos of a run. ``answered`` ones include those without a place; ``missing`` ones have no ended try."""

    photos: int
    answered: int
    unlocated: int
    failed: int
    missing: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything about one run.

    ``counts_as_misses`` are the accuracies if every photo without an answer counted as wrong: what the run can be sure
    of. ``buckets`` are by the measure that all reported runs share.
    """

    label: str
    folder: RunFolder
    report: FileReport
    counts: Counts
    counts_as_misses: Mapping[float, Accuracy]
    journal: Journal
    behaviour: Behaviour
    spent: Mapping[str, Spread]
    gallery: Gallery
    buckets: tuple[Bucket, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """What decided the answers, as the manifest has it, in plain texts."""
        return _facts(self.folder.manifest)

    @property
    def hidden(self) -> str:
        """What the run hid in its photos, in a word; empty for a run that hid nothing."""
        return one_line(self.folder.manifest.mask or "")[:_VALUE_CHARS]


@dataclass(frozen=True, slots=True)
class Told:
    """All runs of a report, by what their costs are compared, and what became of answers where something was hidden."""

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
    """Read a run and work out its figures; ``scored`` are its results.

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
        counts_as_misses={km: Accuracy.of(share.hits, photos) for km, share in report.summary.within.items()},
        journal=journal,
        behaviour=read_behaviour(folder, journal, trajectories),
        spent=per_photo(journal),
        gallery=make_gallery(folder, folder.results, scored, journal, most=gallery, threshold_km=right_km),
        notes=tuple(_notes(len(scored), answered)),
    )


def report_runs(runs: Sequence[RunReport], right_km: float = HEADLINE_KM, shown: int = 20) -> Told:
    """Put runs together: what their costs are compared by, and each masked run against one that saw all."""
    measure = common_measure([run.spent for run in runs])
    with_buckets = tuple(
        replace(run, buckets=by_spending(run.journal, run.report.scored, measure, right_km)) for run in runs
    )
    return Told(with_buckets, measure, right_km, tuple(_hung_on(with_buckets, shown)))


def _hung_on(runs: Sequence[RunReport], shown: int) -> Iterable[HungOn]:
    for masked in runs:
        whole = _saw_all(masked, runs)
        if not masked.hidden or whole is None:
            continue
        yield hung_on(
            whole.report.scored,
            masked.report.scored,
            files=(whole.folder.results, masked.folder.results),
            hidden=masked.hidden,
            thresholds_km=tuple(whole.report.summary.within),
            shown=shown,
        )


def _saw_all(masked: RunReport, runs: Sequence[RunReport]) -> RunReport | None:
    """The run over the same photos that hid nothing: best one with the same settings, or else the first."""
    able = [run for run in runs if not run.hidden and same_photos(run, masked)]
    wanted = masked.folder.manifest.settings_sha256
    return next((run for run in able if run.folder.manifest.settings_sha256 == wanted), able[0] if able else None)


def same_photos(one: RunReport, other: RunReport) -> bool:
    """Whether two runs can be set side by side: they answered some photos both, and agree on where those were."""
    try:
        align([one.report.scored, other.report.scored])
    except BadInput:
        return False
    return True


def _notes(records: int, answered: int) -> Iterable[str]:
    if records != answered:
        yield (
            f"{RESULTS} holds {records:,} answers and the journal {answered:,}: the run goes on, or was killed; give "
            "its command again to bring them together"
        )


def _facts(manifest: Manifest) -> dict[str, str]:
    data = manifest.data
    told = {"data set": _text(data.name), "selection": _text(data.selection) or "all photos"}
    told["data sha256"] = _text(data.sha256)
    for key, value in manifest.settings.items():
        if value not in (None, "", [], {}, False):
            told[one_line(str(key))[:60].replace("_", " ")] = _text(value) or _LEFT_ALONE.get(key, "nothing")
    if manifest.mask:
        told["hidden"] = _text(manifest.mask)
    if manifest.seed is not None:
        told["seed"] = str(manifest.seed)
    told["begun"] = manifest.created.isoformat(" ")
    told["made with"] = _text(f"geosleuth {manifest.geosleuth}, Python {manifest.python}, {manifest.platform}")
    return told


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}: {item}" for key, item in value.items() if item not in (None, "", [], {}, False))
    elif isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    line = one_line(str(value))
    return line if len(line) <= _VALUE_CHARS else f"{line[: _VALUE_CHARS - 1]}…"
