"""Spatially-aware dynamic filtering: which photos teach something at which distance, in which order; and its report.

A photo is tried K times. It teaches at a distance where some tries are within it and some are not: if all or none
succeed, every try gets the same reward and there is nothing to learn. Each distance is a regime; a photo may be kept at
several. SpotAgent chooses its photos for reinforcement learning this way.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.answer import ParserName
from geosleuth.geo import LatLon, threshold_text
from geosleuth.lab.bench.records import read_records, text_lines
from geosleuth.lab.bench.run.results import errors_km
from geosleuth.lab.teams.measures import read_tried_photos
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import count, percent, threshold

from .trajectory_store import make_folder, no_progress

# Distances of the street, city, region and country regimes, in kilometres.
REGIMES_KM = (1.0, 25.0, 200.0, 750.0)

PAPER_TRIES = 8
PAPER_PHOTOS = 206_106
# Number of photos that SpotAgent kept in each regime, with eight tries of its fine-tuned model each.
PAPER_KEPT: Mapping[float, int] = {1.0: 22_766, 25.0: 42_764, 200.0: 76_367, 750.0: 91_060}

Progress = Callable[[int], None]
Pair = tuple[str, LatLon, LatLon | None]
"""A photo's id, its true place, and the place of one try."""
# Regimes of SpotAgent's two phases: the first trains on streets and cities, the second adds regions and countries.
PHASES_KM = ((1.0, 25.0), (1.0, 25.0, 200.0, 750.0))
_PAIRS_AT_ONCE = 4096
FORMAT = "geosleuth-filter"
VERSION = 1
DOCUMENT, TABLE, PHOTOS = "filter.json", "filter.md", "photos.csv"


@dataclass(frozen=True, slots=True, eq=False)
class StoredTries:
    """The distance error of every try at every photo.

    ``distances_km`` has a row per photo and a column per try. A try without a place is NaN, and never within any
    distance. ``made`` says which tries exist: photos need not have equally many.
    """

    ids: tuple[str, ...]
    distances_km: NDArray[np.float64]
    made: NDArray[np.bool_]

    def __post_init__(self) -> None:
        shape = self.distances_km.shape
        if self.made.shape != shape or len(shape) != 2 or shape[0] != len(self.ids):
            raise ValueError("expected a row per photo and a column per try")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many tries each photo had."""
        return np.asarray(self.made.sum(axis=1), dtype=np.int64)


def build_tries(distances_km: Mapping[str, Sequence[float | None]], *, tries: int | None = None) -> StoredTries:
    """Build the table of tries by photo; None and NaN are tries without a place.

    Args:
        distances_km: the error of each try, by photo.
        tries: use only the first so many of each photo; photos with fewer are left out.

    Raises:
        BadInput: a distance is negative.
    """
    chosen = {
        one: list(values[:tries]) for one, values in distances_km.items() if tries is None or len(values) >= tries
    }
    columns = max((len(values) for values in chosen.values()), default=0)
    table = np.full((len(chosen), columns), np.nan)
    made = np.zeros((len(chosen), columns), dtype=np.bool_)
    for row, values in enumerate(chosen.values()):
        table[row, : len(values)] = [np.nan if value is None else value for value in values]
        made[row, : len(values)] = True
    if np.any(table < 0):
        raise BadInput("a distance can't be below 0 km")
    return StoredTries(tuple(chosen), table, made)


def passes(distances_km: NDArray[np.float64], thresholds_km: Sequence[float] = REGIMES_KM) -> NDArray[np.int64]:
    """Count the tries at each photo within each distance: a row per photo, a column per distance.

    A try exactly at a distance counts as within it, as everywhere in this package.
    """
    limits = np.asarray(thresholds_km, dtype=np.float64)
    # One distance at a time: all at once would multiply the memory of the table.
    return np.stack([(distances_km <= limit).sum(axis=1, dtype=np.int64) for limit in limits], axis=1)


def teaches(within: NDArray[np.int64], tries: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Return whether some tries pass and some don't, for counts from `passes`: 0 < passes < tries."""
    made = np.asarray(tries, dtype=np.int64)
    return np.asarray((within > 0) & (within < (made[:, None] if made.ndim else made)), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Regime:
    """One distance: ``kept`` photos teach something, ``never`` and ``always`` are too hard and too easy.

    ``by_passes`` counts photos by how many of their tries are within, from 0 to the largest number of tries.
    """

    km: float
    kept: int
    never: int
    always: int
    by_passes: tuple[int, ...]

    @property
    def photos(self) -> int:
        """Return the number of photos tried."""
        return self.kept + self.never + self.always


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """The result of filtering: ``within`` and ``kept`` have a row per photo and a column per regime."""

    tries: StoredTries
    thresholds_km: tuple[float, ...]
    within: NDArray[np.int64]
    kept: NDArray[np.bool_]

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Return the figures of every distance."""
        counts = self.tries.counts
        most = int(counts.max(initial=0))
        found = []
        for column, km in enumerate(self.thresholds_km):
            within = self.within[:, column]
            kept = int(self.kept[:, column].sum())
            never = int((within == 0).sum())
            by_passes = tuple(int(item) for item in np.bincount(within, minlength=most + 1))
            found.append(Regime(km, kept, never, len(self.tries) - kept - never, by_passes))
        return tuple(found)

    @property
    def single_tries(self) -> int:
        """Return how many photos were tried only once, and so can't teach anything."""
        return int((self.tries.counts < 2).sum())


def find_teachable(tries: StoredTries, thresholds_km: Sequence[float] = REGIMES_KM) -> Filtered:
    """Return which photos teach something at which distance.

    Raises:
        BadInput: the distances are not positive and ascending.
    """
    limits = tuple(float(km) for km in thresholds_km)
    if not limits or limits[0] <= 0 or any(one >= other for one, other in pairwise(limits)):
        raise BadInput("the distances of the regimes must be positive and ascending")
    within = passes(tries.distances_km, limits)
    return Filtered(tries, limits, within, teaches(within, tries.counts))


def read_tries(
    paths: Iterable[Path], *, parser: ParserName = "lenient", progress: Progress = no_progress
) -> dict[str, list[float]]:
    """Read the error of every try at every photo; several sources of one photo are added in their order.

    A folder is a run: all members' tries if it has a team, else its answers, one per photo. A file holds recorded
    answers, where photos may appear several times, or a table of distances: JSON lines
    ``{"id": ..., "distances_km": [...]}``, as ``train tries`` writes them. A try without a place is NaN.

    Raises:
        BadInput: a source can't be read; the message says why.
    """
    found: dict[str, list[float]] = {}
    for path in paths:
        if path.is_dir():
            pairs = _run_pairs(path)
        elif (table := _read_distance_table(path)) is not None:
            for item, values in table:
                found.setdefault(item, []).extend(values)
                progress(len(found))
            continue
        else:
            pairs = ((record.id, record.truth.point, record.read(parser).point) for record in read_records(path))
        _add_pairs(found, pairs, progress)
    if not found:
        raise BadInput("no tries found; give runs on photos with truths")
    return found


def _add_pairs(found: dict[str, list[float]], pairs: Iterable[Pair], progress: Progress) -> None:
    waiting: list[Pair] = []

    def count() -> None:
        placed = [
            (point.lat if point else math.nan, point.lon if point else math.nan, truth.lat, truth.lon)
            for _, truth, point in waiting
        ]
        for (item, *_), km in zip(waiting, errors_km(placed).tolist() if placed else (), strict=True):
            found.setdefault(item, []).append(km)
        waiting.clear()
        progress(len(found))

    for pair in pairs:
        waiting.append(pair)
        if len(waiting) >= _PAIRS_AT_ONCE:
            count()
    count()


def _run_pairs(path: Path) -> Iterator[Pair]:
    """Yield every answered try of a run by photo; a team's try once per member."""
    for photo in read_tried_photos(path):
        yield from ((photo.id, photo.truth, point) for point in photo.tries or (photo.answer,))


def _read_distance_table(path: Path) -> Iterator[tuple[str, list[float]]] | None:
    """Return the rows of a table of distances; None if the file is something else."""
    try:
        with path.open("rb") as stream:
            first = stream.readline(1 << 20).decode("utf-8-sig", "replace")
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    return _json_rows(path) if '"distances_km"' in first else None


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
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadInput(f"{where}: {str(value)[:40]!r} is not a distance in km")
    return float(value)


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    """A phase of training: the photos that teach something at one of its distances.

    ``photos`` are row numbers in the table of tries. ``pairs`` counts photos once for every distance that keeps them;
    the paper does not say whether its phases count that way.
    """

    number: int
    thresholds_km: tuple[float, ...]
    photos: NDArray[np.int64]
    pairs: int

    def __len__(self) -> int:
        return len(self.photos)


def curriculum(found: Filtered, phases_km: Sequence[Sequence[float]] = PHASES_KM) -> tuple[Phase, ...]:
    """Return the phases over the photos that were kept.

    Raises:
        BadInput: a phase names a distance without a regime.
    """
    phases = []
    for number, thresholds_km in enumerate(phases_km, 1):
        unknown = [km for km in thresholds_km if km not in found.thresholds_km]
        if unknown:
            known = ", ".join(f"{km:g}" for km in found.thresholds_km)
            raise BadInput(f"phase {number} wants {unknown[0]:g} km; the regimes are {known} km")
        kept = found.kept[:, [found.thresholds_km.index(km) for km in thresholds_km]]
        photos = np.flatnonzero(kept.any(axis=1)).astype(np.int64)
        phases.append(Phase(number, tuple(thresholds_km), photos, int(kept.sum())))
    return tuple(phases)


def phase_file(number: int) -> str:
    """Return the file name of a phase's list of photos."""
    return f"phase-{number}.csv"


def file_names(phases: int) -> list[str]:
    """Return the names of all files that `write_filtered` writes."""
    return [DOCUMENT, TABLE, PHOTOS, *(phase_file(number) for number in range(1, phases + 1))]


def filter_document(found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> dict[str, Any]:
    """Return the figures as data; ``left_out`` photos had too few tries and were not examined."""
    counts = found.tries.counts
    return {
        "format": FORMAT,
        "version": VERSION,
        "photos": len(found.tries),
        "left_out": left_out,
        "tries": {
            "all": int(counts.sum()),
            "least": int(counts.min(initial=counts.max(initial=0))),
            "most": int(counts.max(initial=0)),
            "tried_once": found.single_tries,
        },
        "regimes": [
            {
                "km": regime.km,
                "kept": regime.kept,
                "never": regime.never,
                "always": regime.always,
                "by_passes": list(regime.by_passes),
                "paper_kept": PAPER_KEPT.get(regime.km),
            }
            for regime in found.regimes
        ],
        "phases": [
            {"phase": phase.number, "km": list(phase.thresholds_km), "photos": len(phase), "pairs": phase.pairs}
            for phase in phases
        ],
        "paper": {"name": "SpotAgent", "photos": PAPER_PHOTOS, "tries": PAPER_TRIES},
    }


def filter_table(found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> str:
    """Return the figures as Markdown, beside the paper's."""
    photos = len(found.tries)
    counts = found.tries.counts
    least, most = int(counts.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    each = str(least) if least == most else f"{least} to {most}"
    lines = [
        "# Which photos teach something",
        "",
        f"{count(photos)} photos, {each} tries each. At a distance a photo is kept where some of its tries are "
        "within it and some are not (0 < passes < tries). Each distance is filtered on its own: a photo may be kept at "
        "several.",
        "",
        "| distance | kept | % | no try within | all within | SpotAgent kept | % |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for regime in found.regimes:
        theirs = PAPER_KEPT.get(regime.km)
        paper = ("–", "–") if theirs is None else (count(theirs), percent(100 * theirs / PAPER_PHOTOS))
        lines.append(
            f"| {threshold(regime.km)} | {count(regime.kept)} | {_format_share(regime.kept, photos)} | "
            f"{count(regime.never)} | "
            f"{count(regime.always)} | {' | '.join(paper)} |"
        )
    lines += [
        "",
        f"SpotAgent's counts are of {count(PAPER_PHOTOS)} photos with {PAPER_TRIES} tries of its fine-tuned model. "
        "Other photos, other tries and another model: the two columns show the same rule, and are no contest.",
        "",
        "| phase | learns from | photos | % | photo and distance |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for phase in phases:
        wanted = ", ".join(threshold(km) for km in phase.thresholds_km)
        lines.append(
            f"| {phase.number} | {wanted} | {count(len(phase))} | {_format_share(len(phase), photos)} | "
            f"{count(phase.pairs)} |"
        )
    if left_out:
        lines += ["", f"{count(left_out)} photos had fewer tries than were asked for, and are left out."]
    if found.single_tries:
        lines += ["", f"{count(found.single_tries)} photos were tried only once: they can't be kept at any distance."]
    return "\n".join(lines) + "\n"


def _format_share(part: int, whole: int) -> str:
    return percent(100 * part / whole if whole else float("nan"))


def write_filtered(folder: Path, found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> list[Path]:
    """Write all files into a folder, each atomically.

    Raises:
        BadInput: it can't be written there.
    """
    make_folder(folder)
    texts = {
        PHOTOS: photos_csv(found),
        TABLE: filter_table(found, phases, left_out),
        DOCUMENT: f"{json.dumps(filter_document(found, phases, left_out), indent=1)}\n",
    }
    texts |= {phase_file(phase.number): _phase_csv(found, phase) for phase in phases}
    for name, text in texts.items():
        write_text_atomically(folder / name, text)
    return [folder / name for name in texts]


def photos_csv(found: Filtered) -> str:
    """Return a CSV line per photo: its tries, how many are within each distance, and where it is kept."""
    names = [threshold_text(km) for km in found.thresholds_km]
    head = ["id", "tries", *(f"within_{name}_km" for name in names), *(f"kept_{name}_km" for name in names)]
    rows = zip(found.tries.ids, found.tries.counts.tolist(), found.within.tolist(), found.kept.tolist(), strict=True)
    return _csv(head, ([one, tries, *within, *map(int, kept)] for one, tries, within, kept in rows))


def _phase_csv(found: Filtered, phase: Phase) -> str:
    columns = [found.thresholds_km.index(km) for km in phase.thresholds_km]
    rows = []
    for row in phase.photos.tolist():
        kept = [threshold_text(found.thresholds_km[column]) for column in columns if found.kept[row, column]]
        rows.append([found.tries.ids[row], " ".join(kept)])
    return _csv(["id", "kept_at_km"], rows)


def _csv(head: Sequence[str], rows: Any) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(head)
    table.writerows(rows)
    return text.getvalue()
