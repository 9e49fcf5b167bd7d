"""Records scored in columns: a whole file, or one at a time.

An answer without a point that names a place is measured from the middle of that place, as the papers do
(`bench.placed`); the notes and the field `PLACED_LEVEL` say how many were placed at which level.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geosleuth.answer import Answer, ParserName
from geosleuth.answer.answer import format_words
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, LatLon, distances_km, geoscore
from geosleuth.geo.gcj02 import Datum, from_gcj02
from geosleuth.lab.score import (
    LEVELS,
    NOT_GIVEN,
    NOT_NAMED,
    AnswerNames,
    Summary,
    Truth,
    TruthNames,
    find_named_levels,
    match_levels,
    summarise,
)
from geosleuth.names import country_code, country_name, get_continent
from geosleuth.support.errors import BadInput
from geosleuth.support.text.safe import one_line, printable

from .placed import PlaceText, format_placed, place_nothing
from .records import Record, read_records

FloatColumn = NDArray[np.float64]
UNKNOWN = "(unknown)"

# Field for the precision at which an answer in words was geocoded: "address" … "country".
PLACED_LEVEL = "placed"
# Field of results whose model was trained on test photos, with permission of the person who trained it.
TRAINED_ON_TEST = "trained_on_test"
_TRAINED = "TRAINED ON TEST PHOTOS ({}): these figures do not say how well the model does on photos it has not seen"


@dataclass(frozen=True, slots=True)
class Field:
    """A text column to slice by: its distinct values, and per record the index of its value."""

    values: tuple[str, ...]
    codes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Scored:
    """One file's records in columns. Missing numbers are NaN; ``distance_km`` is NaN if unlocated."""

    label: str
    parser: ParserName
    distance: DistanceMethod
    sha256: str
    ids: tuple[str, ...]
    truth_lat: FloatColumn
    truth_lon: FloatColumn
    lat: FloatColumn
    lon: FloatColumn
    distance_km: FloatColumn
    probability: FloatColumn
    radius_km: FloatColumn
    levels: dict[str, NDArray[np.int8]]
    fields: dict[str, Field]
    notes: tuple[str, ...] = ()
    named_only: Mapping[int, str] = field(default_factory=dict)  # by row, what an unlocated answer names

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.ids)


def score_file(
    path: Path,
    *,
    parser: ParserName,
    distance: DistanceMethod,
    label: str | None = None,
    progress: Callable[[int], None] = lambda _bytes: None,
) -> Scored:
    """Read and score one file of records.

    Raises:
        BadInput: the file can't be read or has no records.
    """
    fingerprint = hashlib.sha256()
    records = read_records(path, progress, fingerprint.update)
    scored = score_records(records, label=label or path.stem, parser=parser, distance=distance)
    if not len(scored):
        raise BadInput(f"{path}: no records found")
    # Known only now: it is computed while the records are read, so that it matches what was scored.
    return with_marks(replace(scored, sha256=fingerprint.hexdigest()))


def score_records(
    records: Iterable[Record], *, label: str, parser: ParserName, distance: DistanceMethod, sha256: str = ""
) -> Scored:
    """Score records from anywhere."""
    columns = _Columns()
    for record in records:
        columns.add(record, record.read(parser))
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in columns.numbers.items()}
    ids, notes = _make_ids_unique(columns, numbers)
    return Scored(
        label=one_line(label),
        parser=parser,
        distance=distance,
        sha256=sha256,
        ids=ids,
        distance_km=distances_km(
            numbers["truth_lat"], numbers["truth_lon"], numbers["lat"], numbers["lon"], method=distance
        ),
        levels={name: np.asarray(values, dtype=np.int8) for name, values in columns.levels.items()},
        fields={name: column.finish(len(ids)) for name, column in columns.fields.items()},
        notes=notes,
        named_only=columns.named_only,
        **numbers,
    )


@dataclass(slots=True)
class _Columns:
    """Columns under construction."""

    ids: list[str] = field(default_factory=list)
    repeats: list[str | None] = field(default_factory=list)
    numbers: dict[str, list[float]] = field(
        default_factory=lambda: {
            name: [] for name in ("truth_lat", "truth_lon", "lat", "lon", "probability", "radius_km")
        }
    )
    levels: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in LEVELS})
    fields: dict[str, "_GrowingField"] = field(default_factory=lambda: defaultdict(_GrowingField))
    named_only: dict[int, str] = field(default_factory=dict)

    def add(self, record: Record, answer: Answer) -> None:
        row = len(self.ids)
        self.ids.append(printable(record.id))
        self.repeats.append(record.repeat)
        nowhere = float("nan")
        values = (
            record.truth.point.lat,
            record.truth.point.lon,
            answer.point.lat if answer.point else nowhere,
            answer.point.lon if answer.point else nowhere,
            nowhere if answer.probability is None else answer.probability,
            nowhere if answer.radius_km is None else answer.radius_km,
        )
        for column, value in zip(self.numbers.values(), values, strict=True):
            column.append(value)
        truth, said = record.truth, answer.address
        if answer.point is None and (text := format_words(said)):
            self.named_only[row] = text
        names = AnswerNames(said.country.conclusion, said.region.conclusion, said.precise.conclusion)
        result = match_levels(TruthNames(truth.country, truth.region, truth.city), names)
        named = find_named_levels(names)
        for name, column_of_level in self.levels.items():
            verdict: bool | None = getattr(result, name)
            column_of_level.append(_level_code(verdict=verdict, named=named[name]))
        for name, text in (dict(record.fields) | _geography(record.truth.country)).items():
            self.fields[printable(name)].put(row, printable(text))


def _level_code(*, verdict: bool | None, named: bool) -> int:
    if verdict is None:
        return NOT_GIVEN
    return int(verdict) if verdict or named else NOT_NAMED


@dataclass(slots=True)
class _GrowingField:
    """A text column under construction; rows that never mention it hold ``UNKNOWN``."""

    index: dict[str, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)

    def put(self, row: int, text: str) -> None:
        self.pad(row)
        self.codes.append(self.index.setdefault(text, len(self.index)))

    def pad(self, rows: int) -> None:
        if len(self.codes) < rows:
            unknown = self.index.setdefault(UNKNOWN, len(self.index))
            self.codes.extend([unknown] * (rows - len(self.codes)))

    def finish(self, rows: int) -> Field:
        self.pad(rows)
        return Field(tuple(self.index), np.asarray(self.codes, dtype=np.int32))


def _geography(country: str | None) -> dict[str, str]:
    code = country_code(country) if country else None
    if code is None:
        return {"country": UNKNOWN, "continent": UNKNOWN}
    return {"country": country_name(code), "continent": get_continent(code) or UNKNOWN}


def _make_ids_unique(columns: _Columns, numbers: dict[str, FloatColumn]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give records that share an id unique names, since pairing needs them, and note the duplicates."""
    notes = _placeholder_notes(numbers)
    counts = Counter(columns.ids)
    repeated = {name for name, count in counts.items() if count > 1}
    if not repeated:
        return tuple(columns.ids), tuple(notes)
    seen: Counter[str] = Counter()
    taken = set(counts)
    ids: list[str] = []
    places: dict[str, set[tuple[float, float]]] = defaultdict(set)
    for row, name in enumerate(columns.ids):
        if name not in repeated:
            ids.append(name)
            continue
        seen[name] += 1
        places[name].add((float(numbers["truth_lat"][row]), float(numbers["truth_lon"][row])))
        own = f"{name}#{columns.repeats[row] or seen[name]}"
        while own in taken:  # the same run twice in one file, or an image that really has this id
            own += f"#{seen[name]}"
        taken.add(own)
        ids.append(own)
    notes += [f"{len(repeated)} image(s) occur more than once and are counted each time: {_some(sorted(repeated))}"]
    conflicting = sorted(name for name, points in places.items() if len(points) > 1)
    if conflicting:
        notes.append(f"{len(conflicting)} of them with different true places: {_some(conflicting)}")
    return tuple(ids), tuple(notes)


def _placeholder_notes(numbers: dict[str, FloatColumn]) -> list[str]:
    nowhere = int(np.count_nonzero((numbers["lat"] == 0) & (numbers["lon"] == 0)))
    return [f"{nowhere} answer(s) say exactly 0, 0, which often means 'unknown'; they count as located"][:nowhere]


def _some(names: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The score of one answer. ``distance_km`` is None if it is unlocated; ``levels`` has the codes of `score`."""

    distance_km: float | None
    geoscore: float
    levels: Mapping[str, int]


def truth_to_dict(truth: Truth) -> dict[str, Any]:
    """Return a truth as records write it."""
    names = {"country": truth.country, "region": truth.region, "city": truth.city}
    return {"lat": truth.point.lat, "lon": truth.point.lon, **{name: one for name, one in names.items() if one}}


def score_answer(truth: Mapping[str, Any], answer: Answer, place: PlaceText = place_nothing) -> ScoredAnswer:
    """Compare one answer, placed by ``place`` if it has no point, with the truth, given as `truth_to_dict` writes it.

    Raises:
        BadInput: the truth is invalid.
    """
    try:
        point = LatLon(float(truth["lat"]), float(truth["lon"]))
        record = Record(
            "one", Truth(point, truth.get("country"), truth.get("region"), truth.get("city")), answer=answer
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"invalid truth ({error}); give lat and lon in degrees, and names as texts") from error
    scored = with_placed(score_records([record], label="one", parser="lenient", distance="geodesic"), place)
    km = float(scored.distance_km[0])
    points = 0.0 if isnan(km) else geoscore(km)
    return ScoredAnswer(None if isnan(km) else km, points, {name: int(scored.levels[name][0]) for name in LEVELS})


def summarise_answers(answers: Sequence[ScoredAnswer], thresholds_km: Sequence[float] = THRESHOLDS_KM) -> Summary:
    """Summarise answers that were scored one at a time."""
    km = np.asarray(
        [np.nan if answer.distance_km is None else answer.distance_km for answer in answers], dtype=np.float64
    )
    levels = {name: np.asarray([answer.levels[name] for answer in answers], dtype=np.int8) for name in LEVELS}
    return summarise(km, levels, thresholds_km)


def with_placed(scored: Scored, place: PlaceText) -> Scored:
    """Return a copy in which answers without a point that name a known place have a point inside that place."""
    if not scored.named_only or place is place_nothing:
        return scored
    lat, lon = scored.lat.copy(), scored.lon.copy()
    column, counts = _GrowingField(), Counter[str]()
    left: dict[int, str] = {}
    for row in range(len(scored)):
        name = scored.named_only.get(row)
        found = None if name is None else place(name)
        level = "own point" if not isnan(lat[row]) else UNKNOWN
        if found is not None:
            lat[row], lon[row], level = found.point.lat, found.point.lon, found.level
            counts[level] += 1
        elif name is not None:
            left[row] = name
        column.put(row, level)
    unlocated = int(np.isnan(scored.lat).sum())
    note = f"of {unlocated:,} answers without a point {format_placed(counts)}; --strict counts them as unlocated"
    return replace(
        scored,
        lat=lat,
        lon=lon,
        distance_km=distances_km(scored.truth_lat, scored.truth_lon, lat, lon, method=scored.distance),
        fields={**scored.fields, PLACED_LEVEL: column.finish(len(scored))},
        notes=(note, *scored.notes) if counts else scored.notes,
        named_only=left,
    )


def with_marks(scored: Scored) -> Scored:
    """Return a copy whose notes say what its records' fields say of their datum and of the model's training."""
    notes = []
    for name, words in (("datum", "the truths were in {} and turned into WGS-84"), (TRAINED_ON_TEST, _TRAINED)):
        column = scored.fields.get(name)
        said = sorted(value for value in column.values if value != UNKNOWN) if column is not None else []
        if said:
            notes.append(words.format(", ".join(said).replace("gcj02", "GCJ-02")))
    return replace(scored, notes=(*notes, *scored.notes)) if notes else scored


def in_datum(scored: Scored, *, truths: Datum = "wgs84", answers: Datum = "wgs84") -> Scored:
    """Return a copy in which truths and answers that are in GCJ-02 are turned into WGS-84; the label says so."""
    if (truths, answers) == ("wgs84", "wgs84"):
        return scored
    truth_lat, truth_lon, lat, lon = scored.truth_lat, scored.truth_lon, scored.lat, scored.lon
    told = []
    if truths == "gcj02":
        truth_lat, truth_lon = _from_gcj02(truth_lat, truth_lon)
        told.append("truths as GCJ-02")
    if answers == "gcj02":
        lat, lon = _from_gcj02(lat, lon)
        told.append("answers as GCJ-02")
    return replace(
        scored,
        label=f"{scored.label} ({', '.join(told)})",
        truth_lat=truth_lat,
        truth_lon=truth_lon,
        lat=lat,
        lon=lon,
        distance_km=distances_km(truth_lat, truth_lon, lat, lon, method=scored.distance),
        notes=(f"{' and '.join(told)}, turned into WGS-84 before they were compared", *scored.notes),
    )


def _from_gcj02(lats: FloatColumn, lons: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    points = [
        (lat, lon) if isnan(lat) else _pair(from_gcj02(LatLon(lat, lon)))
        for lat, lon in zip(lats.tolist(), lons.tolist(), strict=True)
    ]
    columns = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _pair(point: LatLon) -> tuple[float, float]:
    return point.lat, point.lon
