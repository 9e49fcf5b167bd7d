"""EXIF and XMP blocks as plain values, read without trusting any number; a broken block never raises."""

import math
import re
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from geosleuth.geo import LatLon, is_valid

from .carrier import MAX_XMP, Carrier, Unfit, build_truncation_error
from .photo import PhotoLimits

_FORMATS = {1: "B", 2: "B", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES, _TILE_WIDTH, _TILE_HEIGHT, _XMP = 256, 257, 259, 277, 322, 323, 700
# Tags that decoding needs, with the most values each may have.
_ONE = dict.fromkeys((256, 257, 259, 262, 266, 277, 278, 284, 292, 293, 317, 322, 323, 531), 1)
_FEW = {258: 8, 338: 8, 339: 8, 529: 3, 530: 2, 532: 6}
_LONG = {273: 0, 279: 0, 324: 0, 325: 0, 320: 3 * 65_536, 347: 65_536}
_NEEDED = _ONE | _FEW | _LONG
# None, the three fax codings, LZW, JPEG, PackBits and both numbers of Deflate.
_COMPRESSIONS = {1, 2, 3, 4, 5, 7, 8, 32_773, 32_946}
_MAX_SAMPLES = 5

_ORIENTATION, _MAKE, _MODEL, _SOFTWARE, _CHANGED = 0x0112, 0x010F, 0x0110, 0x0131, 0x0132
_EXIF_DIRECTORY, _GPS_DIRECTORY = 0x8769, 0x8825
_TAKEN, _TAKEN_ZONE, _ZONE, _FOCAL_35MM = 0x9003, 0x9011, 0x9010, 0xA405
_LAT_REF, _LAT, _LON_REF, _LON, _ALT_REF, _ALT, _TIME, _HEADING, _METHOD, _DATE = 1, 2, 3, 4, 5, 6, 7, 17, 27, 29
_ERROR = 31
_FARTHEST_M = 20_040_000
_DATE_TEXT = re.compile(r"(\d{4})[:\-/.](\d\d)[:\-/.](\d\d)[ T](\d\d):(\d\d):(\d\d)")
_ZONE_TEXT = re.compile(r"([+-])(\d\d):?(\d\d)")
_MAX_TEXT = 120


@dataclass(frozen=True, slots=True)
class ExifTag:
    """One tag: its type, how many values, and where in the block they lie."""

    type: int
    count: int
    start: int
    inline: bool


class TiffBlock:
    """A block that starts with a TIFF header.

    Raises:
        ValueError: it does not.
    """

    def __init__(self, data: bytes) -> None:
        if data[:4] not in (b"II*\0", b"MM\0*") or len(data) < 8:
            raise ValueError("no TIFF header")
        self.data = data
        self.order = "<" if data[:1] == b"I" else ">"
        self.first = self._unpack("I", 4)[0]

    def directory(self, offset: int) -> tuple[dict[int, ExifTag], int]:
        """The tags of a directory and the offset of the next one (0: none).

        Values that would lie outside the block are left out.

        Raises:
            ValueError: the directory itself does not lie inside the block.
        """
        if not 8 <= offset <= len(self.data) - 2:
            raise ValueError("directory outside the block")
        (length,) = self._unpack("H", offset)
        end = offset + 2 + 12 * length
        if end > len(self.data):
            raise ValueError("directory cut short")
        entries: dict[int, ExifTag] = {}
        for at in range(offset + 2, end, 12):
            tag, type_, count = self._unpack("HHI", at)
            if type_ not in _FORMATS or tag in entries:
                continue
            size = count * struct.calcsize("=" + _FORMATS[type_])
            start = at + 8 if size <= 4 else self._unpack("I", at + 8)[0]
            if start + size <= len(self.data):
                entries[tag] = ExifTag(type_, count, start, inline=size <= 4)
        following = self._unpack("I", end)[0] if end + 4 <= len(self.data) else 0
        return entries, following

    def numbers(self, entry: ExifTag | None, most: int = 8) -> list[float]:
        """The first values of a tag; a rational with a zero below the line is NaN."""
        if entry is None:
            return []
        step = struct.calcsize("=" + _FORMATS[entry.type])
        values = []
        for index in range(min(entry.count, most)):
            got = self._unpack(_FORMATS[entry.type], entry.start + index * step)
            if len(got) == 2:
                values.append(got[0] / got[1] if got[1] else math.nan)
            else:
                values.append(got[0])
        return values

    def raw(self, entry: ExifTag | None, most: int) -> bytes:
        """The bytes of a tag, `most` of them at most."""
        if entry is None:
            return b""
        size = entry.count * struct.calcsize("=" + _FORMATS[entry.type])
        return self.data[entry.start : entry.start + min(size, most)]

    def _unpack(self, letters: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + letters, self.data, at)


def take_apart_tiff(data: bytes, limits: PhotoLimits) -> Carrier:
    """The first picture of a TIFF file, under a new directory that names its pixels and nothing else."""
    try:
        block = TiffBlock(data)
        entries, following = block.directory(block.first)
    except (ValueError, struct.error) as error:
        raise build_truncation_error() from error
    size = _check_declared_size(block, entries)
    _check_layout(block, entries, limits)
    kept = {tag: entry for tag, entry in sorted(entries.items()) if tag in _NEEDED}
    return Carrier(
        "TIFF",
        size,
        _with_directory(block, kept),
        # Here the whole file is one EXIF block: its first directory has the camera's tags among the others.
        exif=data,
        xmp=block.raw(entries.get(_XMP), MAX_XMP),
        several=following != 0,
    )


def _check_declared_size(block: TiffBlock, entries: dict[int, ExifTag]) -> tuple[int, int]:
    width, height = (block.numbers(entries.get(tag), 1) for tag in (_WIDTH, _HEIGHT))
    if not width or not height or not (width[0] >= 1 and height[0] >= 1):
        raise build_truncation_error()
    return int(width[0]), int(height[0])


def _check_layout(block: TiffBlock, entries: dict[int, ExifTag], limits: PhotoLimits) -> None:
    for tag, most in _NEEDED.items():
        if tag in entries and entries[tag].count > (most or limits.max_parts):
            raise Unfit("the TIFF directory holds absurd counts; save the photo anew as JPEG or PNG")
    if not ({273, 279} <= entries.keys() or {324, 325} <= entries.keys()):
        raise build_truncation_error()
    _check_strips(block, entries, limits)
    compression = block.numbers(entries.get(_COMPRESSION), 1) or [1]
    if compression[0] not in _COMPRESSIONS:
        raise Unfit("this kind of TIFF compression is not supported; save the photo as JPEG or PNG")
    samples = block.numbers(entries.get(_SAMPLES), 1) or [1]
    if not 1 <= samples[0] <= _MAX_SAMPLES:
        raise Unfit("the TIFF has too many channels for a photo; save it as JPEG or PNG")
    tile = [*block.numbers(entries.get(_TILE_WIDTH), 1), *block.numbers(entries.get(_TILE_HEIGHT), 1)]
    # One tile is held in memory whole, so a small picture may not ask for a huge one.
    if math.prod(tile) > 64_000_000:
        raise Unfit("the TIFF has too large tiles; save the photo anew as JPEG or PNG")


def _check_strips(block: TiffBlock, entries: dict[int, ExifTag], limits: PhotoLimits) -> None:
    """Pixels that would lie behind the file's end must not be read from what is put there."""
    for offsets, lengths in ((273, 279), (324, 325)):
        starts = block.numbers(entries.get(offsets), limits.max_parts)
        sizes = block.numbers(entries.get(lengths), limits.max_parts)
        if len(starts) != len(sizes):
            raise build_truncation_error()
        if any(not start + size <= len(block.data) for start, size in zip(starts, sizes, strict=True)):
            raise build_truncation_error()


def _with_directory(block: TiffBlock, kept: dict[int, ExifTag]) -> bytes:
    padding = b"\0" * (len(block.data) % 2)
    offset = len(block.data) + len(padding)
    parts = [struct.pack(block.order + "H", len(kept))]
    for tag, entry in kept.items():
        parts.append(struct.pack(block.order + "HHI", tag, entry.type, entry.count))
        if entry.inline:
            parts.append(block.data[entry.start : entry.start + 4].ljust(4, b"\0"))
        else:
            parts.append(struct.pack(block.order + "I", entry.start))
    parts.append(b"\0\0\0\0")
    header = block.data[:4] + struct.pack(block.order + "I", offset)
    return b"".join((header, memoryview(block.data)[8:], padding, *parts))


@dataclass(slots=True)
class ExifData:
    """Everything of interest in the metadata; None where nothing usable is said."""

    orientation: int = 1
    point: LatLon | None = None
    # Whether it is an estimate by the block's own words.
    estimated: bool = False
    # How it was found and how far it may be off, by the block's own words.
    place_method: str | None = None
    error_m: float | None = None
    altitude_m: float | None = None
    heading_deg: float | None = None
    taken_at: datetime | None = None
    camera_make: str | None = None
    camera_model: str | None = None
    focal_35mm: float | None = None
    software: str | None = None
    notes: list[str] = field(default_factory=list)


def read_exif(block: bytes) -> ExifData:
    """Read a block that starts with a TIFF header. Never raises."""
    said = ExifData()
    if not block:
        return said
    try:
        tagged = TiffBlock(block)
        main, _ = tagged.directory(tagged.first)
    except (ValueError, struct.error):
        said.notes.append("the EXIF data is broken and was not read")
        return said
    turns = tagged.numbers(main.get(_ORIENTATION), 1)
    if turns and turns[0] in range(1, 9):
        said.orientation = int(turns[0])
    said.camera_make = _read_exif_text(tagged, main.get(_MAKE))
    said.camera_model = _read_exif_text(tagged, main.get(_MODEL))
    said.software = _read_exif_text(tagged, main.get(_SOFTWARE))
    shot = _read_directory(tagged, main.get(_EXIF_DIRECTORY), "camera", said)
    focal = tagged.numbers(shot.get(_FOCAL_35MM), 1)
    # A zero says that it is not known.
    said.focal_35mm = float(focal[0]) if focal and 0 < focal[0] < 10_000 else None
    gps = _read_directory(tagged, main.get(_GPS_DIRECTORY), "GPS", said)
    _read_place(tagged, gps, said)
    said.taken_at = (
        _moment(
            _read_exif_text(tagged, shot.get(_TAKEN)),
            _read_exif_text(tagged, shot.get(_TAKEN_ZONE)) or _read_exif_text(tagged, shot.get(_ZONE)),
        )
        or _gps_moment(tagged, gps)
        or _moment(_read_exif_text(tagged, main.get(_CHANGED)), _read_exif_text(tagged, shot.get(_ZONE)))
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
    """Return whether a place's processing method, in any encoding, says that it was estimated, not measured."""
    return b"estimated" in method.replace(b"\0", b"").lower()


def _plain_method(method: bytes) -> str | None:
    code, text = method[:8], method[8:]
    return text.decode("ascii", "replace") if code == b"ASCII\0\0\0" else None


def finite(text: str | None) -> float | None:
    """The number in a text, if it is one."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _read_directory(tagged: TiffBlock, entry: ExifTag | None, name: str, said: ExifData) -> dict[int, ExifTag]:
    where = tagged.numbers(entry, 1)
    if not where:
        return {}
    try:
        return tagged.directory(int(where[0]))[0]
    except (ValueError, OverflowError, struct.error):
        said.notes.append(f"the {name} part of the EXIF data is broken and was not read")
        return {}


def _read_exif_text(tagged: TiffBlock, entry: ExifTag | None) -> str | None:
    raw = tagged.raw(entry, 4 * _MAX_TEXT).partition(b"\0")[0]
    # Shown to people in reports and terminals: no control characters, no novels.
    text = "".join(letter for letter in raw.decode("utf-8", "replace") if letter.isprintable())
    return text.strip()[:_MAX_TEXT].strip() or None


def _read_place(tagged: TiffBlock, gps: dict[int, ExifTag], said: ExifData) -> None:
    if _LAT in gps or _LON in gps:
        lat = _degrees(tagged.numbers(gps.get(_LAT)), _read_exif_text(tagged, gps.get(_LAT_REF)), "N", "S")
        lon = _degrees(tagged.numbers(gps.get(_LON)), _read_exif_text(tagged, gps.get(_LON_REF)), "E", "W")
        said.point = _sane_point(lat, lon)
        method = tagged.raw(gps.get(_METHOD), 4 * _MAX_TEXT)
        said.estimated = is_estimate(method)
        said.place_method = _plain_method(method)
        error = tagged.numbers(gps.get(_ERROR), 1)
        said.error_m = error[0] if error and 0 <= error[0] <= _FARTHEST_M else None
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


def _gps_moment(tagged: TiffBlock, gps: dict[int, ExifTag]) -> datetime | None:
    clock = tagged.numbers(gps.get(_TIME), 3)
    if len(clock) != 3 or not all(math.isfinite(part) and 0 <= part <= 60 for part in clock):
        return None
    date = _read_exif_text(tagged, gps.get(_DATE))
    hour, minute, second = (int(part) for part in clock)
    return _moment(f"{date} {hour:02}:{minute:02}:{second:02}", "Z")
