"""Suggest the command that downloads a missing map, with its size if known from an earlier download."""

import json
import shlex
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from geosleuth.answer import Answer
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_code, country_name
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import duration, size

from .folders import cache_dir
from .offline import regions_dir

if TYPE_CHECKING:
    from .regions import RegionStore

# Answers with at most this radius would hardly gain from a map.
_PRECISE_KM: Final = 1.0
# Answers with at most this radius need the map around a town, not that of its country.
_TOWN_KM: Final = 60.0
_IMPORTED_BYTES_PER_S: Final = 1_000_000


def get_command(place: str | None) -> str:
    """Return the command that downloads the map of a place; with a placeholder if ``place`` is None."""
    # Names come from maps that anyone can edit: quoted and stripped, they can't act as shell syntax or as an option.
    return f"geosleuth atlas get {'PLACE' if place is None else shlex.quote(place.lstrip(' -'))}"


def format_get_command(point: LatLon) -> str:
    """Return the command that downloads the smallest map that covers a point."""
    return f"geosleuth atlas get {point.lat:.4f},{point.lon:.4f}"


@dataclass(frozen=True, slots=True)
class MissingMap:
    """A map that would make an answer more precise.

    Attributes:
        place: a country, or the town in whose smallest extract the answer lies; as ``atlas get`` takes it.
        size_bytes: the size of the download, if it was asked before.
    """

    place: str
    size_bytes: int | None

    @property
    def command(self) -> str:
        """The command that downloads it, and what that takes."""
        takes = "its size and time are named before it is downloaded"
        if self.size_bytes:
            takes = f"{size(self.size_bytes)}, and about {duration(import_seconds(self.size_bytes))} to import"
        return f"{get_command(self.place)} ({takes})"


def import_seconds(size_bytes: int) -> float:
    """Return the time that importing a map of this size takes, roughly."""
    return size_bytes / _IMPORTED_BYTES_PER_S


def suggest_map(code: str, point: LatLon | None, radius_km: float | None) -> MissingMap:
    """Return the map to suggest for an answer: of the town if it is that precise, else of the country."""
    is_town = point is not None and radius_km is not None and radius_km <= _TOWN_KM and not _is_small(code)
    town = _find_town(point, code) if is_town and point is not None else None
    return MissingMap(town or country_name(code), _sizes().get(town or code))


def _is_small(code: str) -> bool:
    """Return whether a country is hardly larger than what a town's map covers."""
    from .facts.countries import all_countries

    facts = all_countries().get(code)
    return facts is not None and (facts.area_km2 or 0.0) < _TOWN_KM**2


@lru_cache(maxsize=256)
def _find_town(point: LatLon, code: str) -> str | None:
    """Return the nearest town, written so that ``atlas get`` finds the same one; the point if no name does that."""
    from .base import BasePlaces, ensure_base, open_base
    from .map_place import map_place

    with closing(open_base(ensure_base())) as base:
        hit = BasePlaces(base).nearest_city(point)
    if hit is None or hit.place.country != code or distance_km(hit.place.point, point) > _TOWN_KM:
        return None
    name = hit.place.address or hit.place.name
    with suppress(BadInput):
        if distance_km(map_place(name).point, hit.place.point) < 1:
            return name
    return f"{point.lat:.4f},{point.lon:.4f}"


def find_missing_map(answer: Answer) -> MissingMap | None:
    """Return the map that would make an answer more precise.

    None if the answer names no country or point, is precise already, or lies on a map that was added.
    """
    code = country_code(answer.address.country.conclusion or "")
    if code is None or answer.point is None or (answer.radius_km or _PRECISE_KM + 1) <= _PRECISE_KM:
        return None
    if any(info.extent.contains(answer.point) for info in _store(regions_dir()).list()):
        return None
    return suggest_map(code, answer.point, answer.radius_km)


def missing_map(answer: Answer) -> str:
    """Return a sentence that suggests the map that an answer lacks; else empty."""
    wanted = find_missing_map(answer)
    if wanted is None:
        return ""
    return f"What would help: a map of {wanted.place}, which this machine lacks. Fetch it with: {wanted.command}"


@cache
def _store(folder: Path) -> "RegionStore":
    """Return the store of a folder, cached so that regions are opened once."""
    from .regions import RegionStore

    return RegionStore(folder)


def remember_size(places: Iterable[str], size_bytes: int) -> None:
    """Save the size of the extract of countries (their codes) and towns; a cache that can't be written is ignored."""
    try:
        _path().parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(_path(), json.dumps(_sizes() | dict.fromkeys(places, size_bytes)))
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
