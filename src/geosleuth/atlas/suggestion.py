"""Suggest the command that downloads a missing map, with its size if known from an earlier download."""

import json
import shlex
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.geo import LatLon
from geosleuth.names import country_code, country_name
from geosleuth.text.numbers import size

from .folders import cache_dir
from .offline import regions_dir

if TYPE_CHECKING:
    from .regions import RegionStore

_PRECISE_KM: Final = 1.0
"""An answer within this radius would hardly gain from a map."""


def get_command(place: str | None) -> str:
    """Return the command that downloads the map of a place; with a placeholder if ``place`` is None."""
    # Names come from maps that anyone can edit: quoted and stripped, they can't act as shell syntax or as an option.
    return f"geosleuth atlas get {'PLACE' if place is None else shlex.quote(place.lstrip(' -'))}"


def get_at(point: LatLon) -> str:
    """Return the command that downloads the smallest map that covers a point."""
    return f"geosleuth atlas get {point.lat:.4f},{point.lon:.4f}"


def get_country(code: str) -> str:
    """Return the command that downloads the map of a country, with the size of the download if known."""
    command, size_bytes = get_command(country_name(code).lower()), known_size(code)
    return f"{command} ({size(size_bytes)})" if size_bytes else command


def missing_country(answer: Answer) -> str | None:
    """Return the code of the country whose map would make an answer more precise.

    None if the answer names no country or point, is precise already, or lies on a map that was added.
    """
    code = country_code(answer.address.country.conclusion or "")
    if code is None or answer.point is None or (answer.radius_km or _PRECISE_KM + 1) <= _PRECISE_KM:
        return None
    return None if any(info.extent.contains(answer.point) for info in _store(regions_dir()).list()) else code


def missing_map(answer: Answer) -> str:
    """Return a sentence that suggests the map that an answer lacks; else empty."""
    code = missing_country(answer)
    if code is None:
        return ""
    return (
        f"What would help: a map of {country_name(code)}, which this machine lacks. Fetch it with: {get_country(code)}"
    )


def known_size(code: str) -> int | None:
    """Return the size in bytes of a country's map, if known from an earlier download."""
    return _sizes().get(code)


@cache
def _store(folder: Path) -> "RegionStore":
    """Return the store of a folder, cached so that regions are opened once."""
    from .regions import RegionStore

    return RegionStore(folder)


def remember_size(countries: Iterable[str], size_bytes: int) -> None:
    """Save the size of the extract of some countries; a cache that can't be written is ignored."""
    try:
        _path().parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(_path(), json.dumps(_sizes() | dict.fromkeys(countries, size_bytes)))
    except (OSError, BadInput):
        return


def _path() -> Path:
    return cache_dir() / "extract-sizes.json"


def _sizes() -> dict[str, int]:
    try:
        sizes = json.loads(_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {code: value for code, value in sizes.items() if isinstance(value, int)} if isinstance(sizes, dict) else {}
