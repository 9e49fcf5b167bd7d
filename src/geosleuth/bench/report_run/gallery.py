"""Which photos to look at: the nearest answers and the farthest, by a rule that is stated and not by taste."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geosleuth.answer import Answer
from geosleuth.bench.page.plane import mercator
from geosleuth.bench.records import read_records
from geosleuth.bench.run.folder import RunFolder
from geosleuth.bench.scored import UNKNOWN, Scored
from geosleuth.errors import BadInput
from geosleuth.geo import Box, LatLon
from geosleuth.score import Truth, within
from geosleuth.text import printable

from .behaviour import calls_of
from .reading import Journal

MOST = 12
PER_COUNTRY = 2
"""So that a gallery is not one city's; where that leaves too few, others follow."""

MAP_PX = (276, 230)
CLOSEST_ZOOM, WIDEST_ZOOM = 9.0, 1.2
"""Without added regions a closer map is empty; a wider one does not hold both places."""

_TILE_PX = 256
_MARGIN = 0.62
_MOST_TOOLS = 12


@dataclass(frozen=True, slots=True)
class GroundMap:
    """A drawn map as a data URI, the ground in it, and whom to credit."""

    uri: str
    box: Box
    credit: str


@dataclass(frozen=True, slots=True)
class Shot:
    """A photo of the gallery: where it was, what was answered, and how much work went into it.

    ``error_km`` is NaN where the answer is without a place. ``tools`` were called in this order; None where the
    trajectory can't be read. ``photo`` and ``ground`` are None where there is no picture.
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
class Gallery:
    """Wins, nearest first, and failures, farthest first."""

    threshold_km: float
    wins: tuple[Shot, ...] = ()
    failures: tuple[Shot, ...] = ()

    @property
    def shots(self) -> tuple[Shot, ...]:
        """All of them."""
        return (*self.wins, *self.failures)


def choose(scored: Scored, most: int, threshold_km: float) -> tuple[list[int], list[int]]:
    """Rows of the nearest answers within a distance, and of the farthest beyond it; those without a place come last."""
    right = within(scored.distance_km, threshold_km)
    near = np.flatnonzero(right)
    near = near[np.argsort(scored.distance_km[near], kind="stable")]
    far = np.flatnonzero(~right)
    far = far[np.argsort(-np.nan_to_num(scored.distance_km[far], nan=-1.0), kind="stable")]
    return _varied(scored, near.tolist(), most), _varied(scored, far.tolist(), most)


def _varied(scored: Scored, rows: Sequence[int], most: int) -> list[int]:
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
) -> Gallery:
    """Choose the photos and read what is to be told of each; pictures are put in by `with_pictures`."""
    wins, failures = choose(scored, most, threshold_km)
    wanted = {scored.ids[row]: row for row in (*wins, *failures)}
    shots: dict[str, Shot] = {}
    for record in read_records(results) if wanted else ():
        name = printable(record.id)
        if name in wanted:
            row = int(journal.rows_of([name])[0])
            error_km = float(scored.distance_km[wanted[name]])
            shots[name] = _shot(folder, journal, row, name, record.truth, record.read("lenient"), error_km)
    return Gallery(
        threshold_km,
        tuple(shots[scored.ids[row]] for row in wins if scored.ids[row] in shots),
        tuple(shots[scored.ids[row]] for row in failures if scored.ids[row] in shots),
    )


def _shot(
    folder: RunFolder, journal: Journal, row: int, name: str, truth: Truth, answer: Answer, error_km: float
) -> Shot:
    spent = {key: float(column[row]) if row >= 0 else math.nan for key, column in journal.spent.items()}
    try:
        calls = list(calls_of(folder, journal.kept[row])) if row >= 0 else None
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
        tools=None if calls is None else tuple((call.name, call.failure is None) for call in calls[:_MOST_TOOLS]),
    )


def with_pictures(gallery: Gallery, photos: Mapping[str, str], grounds: Callable[[Shot], GroundMap | None]) -> Gallery:
    """The same with thumbnails, by id, and maps."""
    from dataclasses import replace

    def filled(shots: Iterable[Shot]) -> tuple[Shot, ...]:
        return tuple(replace(shot, photo=photos.get(shot.id), ground=grounds(shot)) for shot in shots)

    return Gallery(gallery.threshold_km, filled(gallery.wins), filled(gallery.failures))


def frame(truth: LatLon, answer: LatLon | None) -> tuple[LatLon, float] | None:
    """Middle and zoom of a map that shows both places; None where none can, since they lie half a world apart."""
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
    # A map never reaches beyond the plane's own edge.
    return LatLon(max(-84.0, min(84.0, lat)), lon), round(zoom, 2)
