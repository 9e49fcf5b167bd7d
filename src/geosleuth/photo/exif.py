"""What EXIF and XMP blocks say, as plain values; a broken block says less and never raises."""

import math
import re
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from geosleuth.geo import LatLon, is_valid

from .tiff import Entry, Tagged

_ORIENTATION, _MAKE, _MODEL, _SOFTWARE, _CHANGED = 0x0112, 0x010F, 0x0110, 0x0131, 0x0132
_EXIF_DIRECTORY, _GPS_DIRECTORY = 0x8769, 0x8825
_TAKEN, _TAKEN_ZONE, _ZONE = 0x9003, 0x9011, 0x9010
_LAT_REF, _LAT, _LON_REF, _LON, _ALT_REF, _ALT, _TIME, _HEADING, _METHOD, _DATE = 1, 2, 3, 4, 5, 6, 7, 17, 27, 29
_DATE_TEXT = re.compile(r"(\d{4})[:\-/.](\d\d)[:\-/.](\d\d)[ T](\d\d):(\d\d):(\d\d)")
_ZONE_TEXT = re.compile(r"([+-])(\d\d):?(\d\d)")
_MAX_TEXT = 120


@dataclass(slots=True)
class Said:
    """Everything of interest in the metadata; None where nothing usable is said."""

    orientation: int = 1
    point: LatLon | None = None
    # Whether it is an estimate by the block's own words.
    estimated: bool = False
    altitude_m: float | None = None
    heading_deg: float | None = None
    taken_at: datetime | None = None
    camera_make: str | None = None
    camera_model: str | None = None
    software: str | None = None
    notes: list[str] = field(default_factory=list)


def read_exif(block: bytes) -> Said:
    """Read a block that starts with a TIFF header. Never raises."""
    said = Said()
    if not block:
        return said
    try:
        tagged = Tagged(block)
        main, _ = tagged.directory(tagged.first)
    except (ValueError, struct.error):
        said.notes.append("the EXIF data is broken and was not read")
        return said
    turns = tagged.numbers(main.get(_ORIENTATION), 1)
    if turns and turns[0] in range(1, 9):
        said.orientation = int(turns[0])
    said.camera_make = _text(tagged, main.get(_MAKE))
    said.camera_model = _text(tagged, main.get(_MODEL))
    said.software = _text(tagged, main.get(_SOFTWARE))
    shot = _directory_at(tagged, main.get(_EXIF_DIRECTORY), "camera", said)
    gps = _directory_at(tagged, main.get(_GPS_DIRECTORY), "GPS", said)
    _read_place(tagged, gps, said)
    said.taken_at = (
        _moment(_text(tagged, shot.get(_TAKEN)), _text(tagged, shot.get(_TAKEN_ZONE)) or _text(tagged, shot.get(_ZONE)))
        or _gps_moment(tagged, gps)
        or _moment(_text(tagged, main.get(_CHANGED)), _text(tagged, shot.get(_ZONE)))
    )
    return said


def xmp_values(block: bytes) -> dict[str, str]:
    """The simple `prefix:Name` values of an XMP packet, attributes and elements alike.

    A search and no XML parser: nothing in a photo gets to define entities.
    """
    text = block.decode("utf-8", "replace")
    found: dict[str, str] = {}
    for match in re.finditer(
        r"\b((?:GPano|exif):\w{1,40})\s*(?:=\s*[\"']([^\"'<>]{1,80})[\"']|>([^<>]{1,80})</)", text
    ):
        found.setdefault(match[1], (match[2] or match[3]).strip())
    return found


def xmp_point(values: dict[str, str]) -> LatLon | None:
    """The place in an XMP packet, such as `51,30.5N` and `0,7.5W`."""
    lat, lon = (_xmp_degrees(values.get(f"exif:GPS{name}", "")) for name in ("Latitude", "Longitude"))
    return _sane_point(lat, lon)


def is_estimate(method: bytes) -> bool:
    """Whether a place's processing method, whatever its encoding, says that it was estimated and not measured."""
    return b"estimated" in method.replace(b"\0", b"").lower()


def finite(text: str | None) -> float | None:
    """The number in a text, if it is one."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _directory_at(tagged: Tagged, entry: Entry | None, name: str, said: Said) -> dict[int, Entry]:
    where = tagged.numbers(entry, 1)
    if not where:
        return {}
    try:
        return tagged.directory(int(where[0]))[0]
    except (ValueError, OverflowError, struct.error):
        said.notes.append(f"the {name} part of the EXIF data is broken and was not read")
        return {}


def _text(tagged: Tagged, entry: Entry | None) -> str | None:
    raw = tagged.raw(entry, 4 * _MAX_TEXT).partition(b"\0")[0]
    # Shown to people in reports and terminals: no control characters, no novels.
    text = "".join(letter for letter in raw.decode("utf-8", "replace") if letter.isprintable())
    return text.strip()[:_MAX_TEXT].strip() or None


def _read_place(tagged: Tagged, gps: dict[int, Entry], said: Said) -> None:
    if _LAT in gps or _LON in gps:
        lat = _degrees(tagged.numbers(gps.get(_LAT)), _text(tagged, gps.get(_LAT_REF)), "N", "S")
        lon = _degrees(tagged.numbers(gps.get(_LON)), _text(tagged, gps.get(_LON_REF)), "E", "W")
        said.point = _sane_point(lat, lon)
        said.estimated = is_estimate(tagged.raw(gps.get(_METHOD), 4 * _MAX_TEXT))
        if said.point is None:
            said.notes.append("the GPS tag makes no sense and was not read")
    height = tagged.numbers(gps.get(_ALT), 1)
    if height and -1_000 <= height[0] <= 100_000:
        below = tagged.numbers(gps.get(_ALT_REF), 1)[:1] in ([1], [3])
        said.altitude_m = -height[0] if below else float(height[0])
    heading = tagged.numbers(gps.get(_HEADING), 1)
    if heading and 0 <= heading[0] <= 360:
        said.heading_deg = heading[0] % 360


def _degrees(parts: list[float], ref: str | None, plus: str, minus: str) -> float | None:
    sign = {plus: 1, minus: -1}.get((ref or "")[:1].upper())
    if sign is None or not parts:
        return None
    degrees, minutes, seconds = (*parts[:3], 0.0, 0.0)[:3]
    # Rounding writes 60 seconds now and then; NaN, from a zero below the line, fails every comparison.
    if not (0 <= degrees <= 180 and 0 <= minutes <= 60 and 0 <= seconds <= 60):
        return None
    return sign * (degrees + minutes / 60 + seconds / 3600)


def _sane_point(lat: float | None, lon: float | None) -> LatLon | None:
    if lat is None or lon is None or not is_valid(lat, lon):
        return None
    # Cameras without a fix write zeros.
    return None if lat == 0 and lon == 0 else LatLon(lat, lon)


def _xmp_degrees(text: str) -> float | None:
    match = re.fullmatch(r"(\d{1,3})(?:,(\d{1,2}(?:\.\d+)?))?(?:,(\d{1,2}(?:\.\d+)?))?([NSEW])", text)
    if match is None:
        return None
    value = float(match[1]) + float(match[2] or 0) / 60 + float(match[3] or 0) / 3600
    return -value if match[4] in "SW" else value


def _moment(text: str | None, zone: str | None) -> datetime | None:
    match = _DATE_TEXT.match(text or "")
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=_zone(zone))
    except ValueError:
        return None


def _zone(text: str | None) -> timezone | None:
    if text == "Z":
        return UTC
    match = _ZONE_TEXT.match(text or "")
    if match is None or int(match[2]) > 14 or int(match[3]) > 59:
        return None
    away = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-away if match[1] == "-" else away)


def _gps_moment(tagged: Tagged, gps: dict[int, Entry]) -> datetime | None:
    clock = tagged.numbers(gps.get(_TIME), 3)
    if len(clock) != 3 or not all(math.isfinite(part) and 0 <= part <= 60 for part in clock):
        return None
    date = _text(tagged, gps.get(_DATE))
    hour, minute, second = (int(part) for part in clock)
    return _moment(f"{date} {hour:02}:{minute:02}:{second:02}", "Z")
