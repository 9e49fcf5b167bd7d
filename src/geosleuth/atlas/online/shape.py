"""Reading parsed answers whose shape nobody guarantees.

What an answer can't do without raises `ServiceFault` when it is missing; what a single result lacks reads as None, and
the caller leaves that result out.
"""

from collections.abc import Iterator, Mapping, Sequence

from geosleuth.errors import ServiceFault
from geosleuth.geo import Box, LatLon, is_valid

from .text import LONG_CHARS, NAME_CHARS, clean

Object = Mapping[str, object]

_EMPTY: Object = {}
_MAX_DETAILS = 40
_MAX_RESULTS = 5000


def need_object(value: object, host: str, what: str = "its answer") -> Object:
    """The value as an object."""
    if not isinstance(value, dict):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not an object")
    return value


def need_objects(value: object, host: str, what: str = "its answer") -> list[Object]:
    """The objects in a list."""
    if not isinstance(value, list):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} is not a list")
    if any(not isinstance(one, dict) for one in value):
        raise ServiceFault(host, f"answered in an unexpected shape: {what} holds something that is not an object")
    return value[:_MAX_RESULTS]


def inner(value: Object, *path: str) -> Object:
    """The object under a path of names, or an empty one."""
    for name in path:
        found = value.get(name)
        if not isinstance(found, dict):
            return _EMPTY
        value = found
    return value


def objects(value: Object, name: str) -> Iterator[Object]:
    """The objects in a list under a name, where there is one."""
    found = value.get(name)
    if isinstance(found, list):
        yield from (one for one in found[:_MAX_RESULTS] if isinstance(one, dict))


def words(value: Object, name: str) -> list[str]:
    """The texts in a list under a name, where there is one."""
    found = value.get(name)
    return [clean(one, NAME_CHARS) for one in found[:50] if isinstance(one, str)] if isinstance(found, list) else []


def text(value: Object, name: str, max_chars: int = NAME_CHARS) -> str | None:
    """A cleaned text, or a number as text; None where it is missing, empty or something else."""
    found = value.get(name)
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        return None
    return clean(found, max_chars) or None


def first_text(value: Object, *names: str) -> str | None:
    """The first of several texts that is there."""
    return next((found for found in (text(value, name) for name in names) if found), None)


def number(value: object) -> float | None:
    """A finite number, also where it is written as a text."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e15:
        return None
    return float(value)


def point(lat: object, lon: object) -> LatLon | None:
    """A point, where both values are numbers in range."""
    lat_deg, lon_deg = number(lat), number(lon)
    if lat_deg is None or lon_deg is None or not is_valid(lat_deg, lon_deg):
        return None
    return LatLon(lat_deg, lon_deg)


def box(south: object, west: object, north: object, east: object) -> Box | None:
    """A box, where its corners are points and its south lies south."""
    low, high = point(south, west), point(north, east)
    if low is None or high is None or low.lat > high.lat:
        return None
    return Box(low.lat, low.lon, high.lat, high.lon)


def country(value: object) -> str | None:
    """A two-letter country code in capitals."""
    return value.upper() if isinstance(value, str) and len(value) == 2 and value.isascii() and value.isalpha() else None


def details(parts: Object, names: Sequence[str] | None = None) -> dict[str, str]:
    """Plain values of an object as cleaned texts; those named, or all."""
    found: dict[str, str] = {}
    for name in parts if names is None else names:
        value = text(parts, name, LONG_CHARS)
        if value and len(found) < _MAX_DETAILS:
            found[clean(name, 60)] = value
    return found
