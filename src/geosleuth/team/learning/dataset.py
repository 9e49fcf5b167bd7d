"""Photos to learn from: a folder of geotagged ones, or a table that says where each was taken."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.photo import Claims, OpenedPhoto
from geosleuth.tools.similar.building import ENDINGS
from geosleuth.tools.similar.coordinates import read_coordinates

_PHOTO = ("path", "image", "file", "filename")
_LAT, _LON = ("lat", "latitude"), ("lon", "lng", "longitude")


@dataclass(frozen=True, slots=True)
class Source:
    """A photo's file, and where it was taken; None where only the photo itself may say."""

    path: Path
    point: LatLon | None = None


def read_sources(dataset: Path) -> list[Source]:
    """The photos of a folder and those under it, or of a CSV or JSONL table with path, lat and lon.

    Paths in a table are relative to it, or absolute.

    Raises:
        BadInput: there is nothing to learn from, or the table can't be read; the message names the line.
    """
    if dataset.is_dir():
        found = [Source(path) for path in sorted(dataset.rglob("*")) if _is_photo(path, dataset)]
    elif dataset.suffix.lower() in (".jsonl", ".ndjson"):
        found = _from_lines(dataset)
    elif dataset.is_file():
        told = read_coordinates(dataset, dataset.parent)
        found = [Source(dataset.parent / os.fsdecode(key), point) for key, point in told.items()]
    else:
        raise BadInput(f"{dataset}: there is no such folder or table; give geotagged photos, or path, lat, lon")
    if not found:
        raise BadInput(f"{dataset}: no photos are in it; give geotagged photos, or a table with path, lat, lon")
    return found


def without_claims(opened: OpenedPhoto) -> OpenedPhoto:
    """The photo with nothing but its file's format and size: what it claims is where the truth may come from."""
    told = opened.claims
    return OpenedPhoto(opened.photo, Claims(told.format, told.file_bytes, told.sha256, told.size_px))


def _is_photo(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.suffix.lower() in ENDINGS and not hidden and path.is_file()


def _from_lines(table: Path) -> list[Source]:
    found = []
    try:
        lines = table.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise BadInput(f"{table}: this is no text in UTF-8") from error
    except OSError as error:
        raise BadInput(f"{table}: can't be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            path, lat, lon = (_first(row, names) for names in (_PHOTO, _LAT, _LON))
            found.append(Source(table.parent / str(path), LatLon(float(lat), float(lon))))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(f'{table}, line {number}: write {{"path": "a.jpg", "lat": 48.85, "lon": 2.29}}') from error
    return found


def _first(row: dict[str, object], names: tuple[str, ...]) -> str | float:
    found = row[next((name for name in names if name in row), names[0])]
    if not isinstance(found, (str, int, float)):
        raise TypeError
    return found
