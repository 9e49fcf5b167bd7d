"""Reading tables of notes: CSV, JSON or JSONL, a row for each photo, the country mandatory and the rest optional."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geosleuth.bench.sets.model import Fault
from geosleuth.bench.sets.tables import read_rows
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.names import country_code, country_name

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "image_id", "key"),
    "photo": ("file", "image", "photo", "path", "file_name", "filename"),
    "country": ("country", "country_name", "country_code"),
    "region": ("region", "state", "province", "province_or_state"),
    "precise": ("precise", "city", "town", "address", "location", "place"),
    "notes": ("notes", "note", "clues", "reasoning", "comment", "explanation"),
    "country_notes": ("country_notes", "country_clues", "country_reasoning"),
    "region_notes": ("region_notes", "region_clues", "region_reasoning"),
    "precise_notes": ("precise_notes", "precise_clues", "precise_reasoning", "city_notes"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "longitude"),
}
_MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote about a photo.

    ``country`` is an ISO code. ``notes`` are words about no level in particular, the others about theirs. ``where``
    says for people which row it is.
    """

    id: str
    photo: Path
    country: str
    where: str
    region: str | None = None
    precise: str | None = None
    notes: str = ""
    country_notes: str = ""
    region_notes: str = ""
    precise_notes: str = ""
    point: LatLon | None = None


def read_notes(path: Path, photos: Path | None = None) -> Iterator[Note]:
    """The notes of a table, one at a time.

    Args:
        path: the table; its columns are found by their usual names.
        photos: where the photos are, if not beside the table.

    Raises:
        BadInput: the table can't be read; a row names no photo or no country; the message gives the row.
    """
    seen: set[str] = set()
    number = 0
    for number, row in read_rows(path):
        where = f"{path.name}, row {number}"
        if isinstance(row, Fault):
            raise BadInput(f"{where}: {row.reason}")
        note = _note(row, where, photos or path.parent)
        if note.id in seen:
            raise BadInput(f"{where}: the id {note.id[:80]!r} stands there twice; give each row its own")
        seen.add(note.id)
        yield note
    if not number:
        raise BadInput(f"{path}: holds no note; give a row for each photo, with the columns file and country")


def _note(row: Mapping[str, Any], where: str, photos: Path) -> Note:
    told = {name: _found(row, names) for name, names in _COLUMNS.items()}
    if not told["photo"]:
        raise BadInput(f"{where}: names no photo; add a column called file")
    if not told["country"]:
        missing = not any(str(name).strip().casefold() in _COLUMNS["country"] for name in row)
        why = "add a column called country" if missing else "every note needs one, only lower levels may be left out"
        raise BadInput(f"{where}: has no country; {why}")
    code = country_code(told["country"])
    if code is None:
        raise BadInput(f"{where}: {told['country'][:60]!r} is no country that is known; write its name or its code")
    return Note(
        id=told["id"] or told["photo"],
        photo=_inside(photos, told["photo"], where),
        country=code,
        where=where,
        region=told["region"] or None,
        precise=told["precise"] or None,
        notes=told["notes"],
        country_notes=told["country_notes"],
        region_notes=told["region_notes"],
        precise_notes=told["precise_notes"],
        point=_point(told["lat"], told["lon"], where),
    )


def _found(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    lower = {str(name).strip().casefold(): value for name, value in row.items()}
    for name in names:
        value = lower.get(name)
        if isinstance(value, list):
            value = ". ".join(str(one).strip().rstrip(".") for one in value)
        if value is not None and str(value).strip():
            return " ".join(str(value)[:_MOST_CHARACTERS].split())
    return ""


def _inside(folder: Path, name: str, where: str) -> Path:
    """The photo's path; it must lie in the folder, whatever the table says."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadInput(f"{where}: {name[:80]!r} lies outside of {folder}; name the folder with --photos")
    return path


def _point(lat: str, lon: str, where: str) -> LatLon | None:
    if not lat and not lon:
        return None
    try:
        return LatLon(float(lat), float(lon))
    except ValueError as error:
        raise BadInput(f"{where}: {lat[:20]!r}, {lon[:20]!r} are no coordinates: {error}") from error


def name_of_country(note: Note) -> str:
    """The country as records write it."""
    return country_name(note.country)
