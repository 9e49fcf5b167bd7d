"""Parse coordinates as people write them: decimals, hemisphere letters, degrees and minutes, labelled or in pairs."""

import re
from dataclasses import dataclass
from math import isfinite

from geosleuth.geo import LatLon, is_valid
from geosleuth.support.errors import BadInput
from geosleuth.support.lazy import lazy_pattern

# A number must stand alone: "1e400", "3.4.5" and the tail of "195.0" are not readings of "1", "3.4" or "95.0".
_FREE = r"(?![\d]|[.,]\d|[eE][+-]?\d)"
_SIGN = r"(?<![\d.])[+\-−–]?"
# A decimal comma counts only with a label or a hemisphere letter: "2,3522° E".
_NUMBER = rf"{_SIGN}\d{{1,3}}(?:\.\d{{1,20}}|,\d{{2,20}})?{_FREE}"
_DEGREES = r"\s*(?:°|º|˚|deg(?:rees?)?\b\.?|度)"
_MINUTES = r"\s*(?:'|’|′|ʹ|min\b|分)"
_SECONDS = r"\s*(?:\"|”|″|ʺ|''|’’|′′|sec\b|秒)"
_SUB = r"\d{1,2}(?:\.\d{1,12})?"
_ANGLE = rf"{_NUMBER}(?:{_DEGREES}(?:\s*{_SUB}{_MINUTES}(?:\s*{_SUB}{_SECONDS})?)?)?"
_GIVE_OR_TAKE = rf"(?:\s*(?:±|\+/-)\s*\d+(?:\.\d+)?(?:{_DEGREES})?)?"
_ABOUT = r"(?:(?:is|at|of|about|around|roughly|approx(?:\.|imately)?|circa|ca\.|~|≈|≅|≃|=|:|：|\*|\"|'|`|\(|\s){0,12})"
_NORTH_SOUTH = r"(?:N(?:orth)?|S(?:outh)?)\b"
_EAST_WEST = r"(?:E(?:ast)?|W(?:est)?)\b"
_BETWEEN = r"(?:[\s,;/|)\"'*`}]|and\b|latitude\b|longitude\b|lat\b\.?|lon\b\.?){0,12}"
_APART = r"[^\d+\-−–]{0,40}?"

_LAT = (
    rf"\blat(?:itude)?\b\.?{_ABOUT}(?P<lat_letter_before>{_NORTH_SOUTH}\s*)?"
    rf"(?P<lat>{_ANGLE})\s*(?P<lat_letter>{_NORTH_SOUTH})?{_GIVE_OR_TAKE}"
)
_LON = (
    rf"\b(?:long?(?:itude)?|lng)\b\.?{_ABOUT}(?P<lon_letter_before>{_EAST_WEST}\s*)?"
    rf"(?P<lon>{_ANGLE})\s*(?P<lon_letter>{_EAST_WEST})?{_GIVE_OR_TAKE}"
)
_LABELLED = lazy_pattern(_LAT + _APART + _LON, re.IGNORECASE)
_LABELLED_LON_FIRST = lazy_pattern(_LON + _APART + _LAT, re.IGNORECASE)
_LETTERED_AFTER = lazy_pattern(
    rf"(?P<lat>{_ANGLE})\s*(?P<lat_letter>{_NORTH_SOUTH}){_BETWEEN}(?P<lon>{_ANGLE})\s*(?P<lon_letter>{_EAST_WEST})",
    re.IGNORECASE,
)
_LETTERED_BEFORE = lazy_pattern(
    rf"\b(?P<lat_letter>[NS])\s?(?P<lat>{_ANGLE}){_BETWEEN}(?P<lon_letter>[EW])\s?(?P<lon>{_ANGLE})"
)
_CHINESE = lazy_pattern(
    rf"(?P<lat_letter>[北南])纬\s*(?P<lat>{_ANGLE})[\s,，;；]*(?P<lon_letter>[东西])经\s*(?P<lon>{_ANGLE})"
)
_COMMA = rf"(?:{_DEGREES})?\s*[,;/]\s*"
# House numbers and prices also come in pairs ("Location: 12, 14 Rue Grimaldi"): only decimals can be coordinates, and
# they need more digits with less context: one after "coordinates", three after "location" or in brackets, else four.
_DECIMAL = rf"{_SIGN}\d{{1,3}}\.\d{{1,20}}(?![\d]|\.\d|[eE][+-]?\d)"
_FINE = rf"{_SIGN}\d{{1,3}}\.\d{{3,20}}(?![\d]|\.\d|[eE][+-]?\d)"
_FINER = rf"{_SIGN}\d{{1,3}}\.\d{{4,20}}(?![\d]|\.\d|[eE][+-]?\d)"
_NAMED_PAIR = lazy_pattern(
    rf"\b(?:coordinates?|coords?|gps|lat(?:itude)?\s*[,/&]\s*(?:long?(?:itude)?|lng))\b{_ABOUT}"
    rf"[(\[]?\s*(?P<lat>{_DECIMAL})(?:{_COMMA}|\s+)(?P<lon>{_DECIMAL})",
    re.IGNORECASE,
)
_PLACED_PAIR = lazy_pattern(
    rf"(?:\b(?:position|location)\b{_ABOUT}|[(\[]\s*)(?P<lat>{_FINE}){_COMMA}(?P<lon>{_FINE})", re.IGNORECASE
)
_BARE_PAIR = lazy_pattern(rf"(?P<lat>{_FINER}){_COMMA}(?P<lon>{_FINER})")
_PATTERNS = (
    _LABELLED, _LABELLED_LON_FIRST, _LETTERED_AFTER, _LETTERED_BEFORE, _CHINESE, _NAMED_PAIR, _PLACED_PAIR, _BARE_PAIR,
)  # fmt: skip

_ONE_ANGLE = lazy_pattern(
    rf"\s*(?P<before>[NSEW])?\s*(?P<angle>{_ANGLE})\s*(?P<after>N(?:orth)?|S(?:outh)?|E(?:ast)?|W(?:est)?)?\s*",
    re.IGNORECASE,
)
_PARTS = lazy_pattern(r"[+\-−–]?\d+(?:\.\d+)?")

_WRITTEN = r"[+-]?\d+(?:\.\d+)?"
_PAIR = re.compile(rf"[\[(]?\s*({_WRITTEN})\s*[,;\s]\s*({_WRITTEN})\s*[\])]?")
_READ_CHARS = 200


@dataclass(frozen=True, slots=True)
class FoundPoint:
    """A pair of coordinates and its position in the text."""

    point: LatLon
    start: int
    end: int


def find_points(text: str) -> list[FoundPoint]:
    """Return all readable coordinate pairs of a text, in order; of overlapping readings the most explicit."""
    found: list[FoundPoint] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            groups = match.groupdict()
            lat = _apply_sign(groups["lat"], groups.get("lat_letter") or groups.get("lat_letter_before"))
            lon = _apply_sign(groups["lon"], groups.get("lon_letter") or groups.get("lon_letter_before"))
            if (point := to_point(lat, lon)) is not None:
                found.append(FoundPoint(point, match.start(), match.end()))
    return sorted(found, key=lambda item: item.start)


def make_point(latitude: float, longitude: float) -> LatLon:
    """Two numbers as a point.

    Raises:
        BadInput: they are out of range.
    """
    if is_valid(latitude, longitude):
        return LatLon(latitude, longitude)
    swapped = "; the two seem to be swapped" if is_valid(longitude, latitude) else ""
    raise BadInput(
        f"there is no point {latitude:g}, {longitude:g}: "
        f"latitude lies between -90 and 90 degrees, longitude between -180 and 180{swapped}"
    )


def parse_point(text: str) -> LatLon | None:
    """The point that a text writes out, None where it is a name.

    Raises:
        BadInput: two numbers that are no point.
    """
    pair = _PAIR.fullmatch(text[:_READ_CHARS].strip())
    if pair:
        return make_point(float(pair[1]), float(pair[2]))
    found = find_points(f"coordinates: {text[:_READ_CHARS]}")
    return found[0].point if found else None


def parse_angle(text: str) -> float | None:
    """Parse a single coordinate such as ``48.85``, ``48.85° N`` or ``48°51'30"N``; None if it is not one."""
    match = _ONE_ANGLE.fullmatch(text[:80])
    return None if match is None else _apply_sign(match["angle"], match["before"] or match["after"])


def to_point(lat: object, lon: object) -> LatLon | None:
    """Return a point of two numbers, or None if they are missing, not finite or out of range. Nothing is swapped."""
    if not _is_number(lat) or not _is_number(lon):
        return None
    lat_degrees, lon_degrees = float(lat), float(lon)  # type: ignore[arg-type]
    if not (isfinite(lat_degrees) and isfinite(lon_degrees) and is_valid(lat_degrees, lon_degrees)):
        return None
    return LatLon(lat_degrees, lon_degrees)


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 360)


def _apply_sign(angle: str, letter: str | None) -> float | None:
    """Return the degrees of an angle; None if its sign and its letter contradict each other."""
    parts = _PARTS.findall(angle.replace(",", "."))
    negative = parts[0][0] in "-−–"
    numbers = [float(part.lstrip("+-−–")) for part in parts]
    if any(part >= 60 for part in numbers[1:]):
        return None
    degrees = sum(number / unit for number, unit in zip(numbers, (1.0, 60.0, 3600.0), strict=False))
    letter = (letter or "").upper()[:1]
    if negative and letter and letter in "NE北东":
        return None
    return -degrees if negative or (letter and letter in "SW南西") else degrees
