"""The command that brings a map which this machine lacks; with its size where that was asked before."""

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

_FINE_KM: Final = 1.0


def get_command(place: str | None) -> str:
    """The command that fetches the map of a place by name; of any place without one."""
    # A name comes from a map that anybody may write into: it must not read as an option.
    return f"geosleuth atlas get {'PLACE' if place is None else shlex.quote(place.lstrip(' -'))}"


def get_at(point: LatLon) -> str:
    """The command that fetches the smallest map that covers a point."""
    return f"geosleuth atlas get {point.lat:.4f},{point.lon:.4f}"


def get_country(code: str) -> str:
    """The command that fetches the map of a country by its code, and how large that is, if known."""
    command, known = get_command(country_name(code).lower()), known_size(code)
    return f"{command} ({size(known)})" if known else command


def missing_country(answer: Answer) -> str | None:
    """The code of the country whose map would help: an answer lies in it, and on no map that was added.

    None where it does, where no country is told, and where it is as fine already as a map could make it.
    """
    code = country_code(answer.address.country.conclusion or "")
    if code is None or answer.point is None or (answer.radius_km or _FINE_KM + 1) <= _FINE_KM:
        return None
    return None if any(info.extent.contains(answer.point) for info in _store(regions_dir()).list()) else code


def missing_map(answer: Answer) -> str:
    """What would help, in one sentence, where an answer lies on no map that was added; else empty."""
    code = missing_country(answer)
    if code is None:
        return ""
    return (
        f"What would help: a map of {country_name(code)}, which this machine lacks. Fetch it with: {get_country(code)}"
    )


def known_size(code: str) -> int | None:
    """How many bytes the map of a country has, where that was asked before."""
    return _sizes().get(code)


@cache
def _store(folder: Path) -> "RegionStore":
    """Kept, so that regions are opened once."""
    from .regions import RegionStore

    return RegionStore(folder)


def remember_size(countries: Iterable[str], size_bytes: int) -> None:
    """Keep how large the extract of some countries is; a cache that can't be written to is no reason to fail."""
    try:
        _path().parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(_path(), json.dumps(_sizes() | dict.fromkeys(countries, size_bytes)))
    except (OSError, BadInput):
        return


def _path() -> Path:
    return cache_dir() / "extract-sizes.json"


def _sizes() -> dict[str, int]:
    try:
        known = json.loads(_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in known.items() if isinstance(value, int)} if isinstance(known, dict) else {}
