"""Coordinates of photos from a table, where the photos themselves hold none or wrong ones."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon

from .store import key_of

_COLUMNS: Final = {
    "path": ("path", "file", "filename", "image"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "longitude"),
}


def read_coordinates(table: Path, folder: Path) -> dict[bytes, LatLon]:
    """Points by the photo's path under the folder.

    The table is CSV in UTF-8 with columns path, lat and lon. Paths are relative to the folder, or absolute.

    Raises:
        BadInput: it can't be read; the message names the line.
    """
    found: dict[bytes, LatLon] = {}
    root = folder.resolve()
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            names = _columns(table, rows.fieldnames or ())
            for row in rows:
                path, lat, lon = ((row[names[what]] or "").strip() for what in _COLUMNS)
                found[_key(path, root)] = _point(lat, lon, f"{table}, line {rows.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{table}: this is no CSV table in UTF-8: {error}") from error
    except OSError as error:
        raise BadInput(f"{table}: can't be read: {error.strerror or error}") from error
    return found


def _columns(table: Path, present: Sequence[str]) -> dict[str, str]:
    by_name = {name.strip().casefold(): name for name in reversed(present) if name}
    names = {
        what: by_name[spelling] for what, spellings in _COLUMNS.items() for spelling in spellings[::-1]
        if spelling in by_name
    }  # fmt: skip
    if missing := [what for what in _COLUMNS if what not in names]:
        raise BadInput(f"{table}: the column {missing[0]} is missing; the first line must name path, lat and lon")
    return names


def _key(path: str, root: Path) -> bytes:
    given = Path(path)
    if given.is_absolute() and given.resolve().is_relative_to(root):
        given = given.resolve().relative_to(root)
    return key_of(os.path.normpath(given))


def _point(lat: str, lon: str, where: str) -> LatLon:
    try:
        return LatLon(float(lat), float(lon))
    except ValueError as error:
        raise BadInput(
            f"{where}: {lat[:30]!r}, {lon[:30]!r} is no point; write degrees such as 48.8584 and 2.2945"
        ) from error
