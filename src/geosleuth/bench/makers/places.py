"""Tables of places by name or id: where panoramas stood, which cities, which points of interest."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geosleuth.bench.sets.faults import Fault
from geosleuth.bench.sets.reading import USUAL, fields_of, folded, pick, text_of, truth_of
from geosleuth.bench.sets.tables import read_rows
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.score import Truth

_NAMES = ("id", "name", "poi", "city", "panorama", "pano_id", "panoid", "key")
_TITLES = ("name", "title", "poi", "city")


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A row: what it is called by, its name for people, where it is, and what else it says."""

    id: str
    name: str
    truth: Truth = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)


def place_at(name: str, point: LatLon, city: str | None = None, country: str | None = None) -> TablePlace:
    """A place that stands in no table."""
    return TablePlace(name, name, Truth(point, country, None, city))


def file_name(name: str, ending: str) -> str:
    """What the file of something is called; names that differ give files that differ."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    if plain != name or name.startswith("."):
        plain = f"{plain.lstrip('.')}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return plain + ending


def read_places(path: Path) -> dict[str, TablePlace]:
    """The places of a CSV or JSONL table with columns for id or name, lat and lon, by id.

    Raises:
        BadInput: it can't be read, a row has no id or no point, or two have the same id; the message names the line.
    """
    found: dict[str, TablePlace] = {}
    own = USUAL.known() | {folded(name) for name in (*_NAMES, *_TITLES)}
    for number, row in read_rows(path):
        where = f"{path}:{number}"
        if isinstance(row, Fault):
            raise BadInput(f"{row.where}: {row.reason}")
        cells = {folded(str(name)): value for name, value in row.items()}
        key = text_of(pick(cells, _NAMES))
        if key is None:
            raise BadInput(f"{where}: the row has no id and no name")
        if key in found:
            raise BadInput(f"{where}: {key[:60]!r} is there twice; ids must differ")
        try:
            truth = truth_of(cells, USUAL)
        except ValueError as error:
            raise BadInput(f"{where}: {error}") from error
        found[key] = TablePlace(key, text_of(pick(cells, _TITLES)) or key, truth, fields_of(cells, own))
    if not found:
        raise BadInput(f"{path}: there are no rows in it")
    return found
