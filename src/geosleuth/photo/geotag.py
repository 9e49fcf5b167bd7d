"""A copy of a photo with an estimated place in its metadata. The original is never written to.

Camera makers keep notes that count bytes from the block's beginning, so nothing in it may move: the new directories go
to the end, and the header is pointed at them. The old place is overwritten with zeros rather than left behind.

The picture's data goes over byte for byte: nothing is decoded or compressed again.
"""

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from geosleuth.answer.formats.context import CONFIRMED, ESTIMATED, SET_BY_PERSON, metres
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically

from .carrier import Carrier, Unfit
from .containers import _PNG_XMP, _chunk, _chunks, _segment, _xmp_text, take_apart
from .exif import TiffBlock, read_exif, xmp_point, xmp_values
from .photo import PhotoLimits

_BYTE, _ASCII, _LONG, _RATIONAL, _UNDEFINED = 1, 2, 4, 5, 7
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_GPS, _EXIF, _INTEROPERABILITY, _THUMBNAIL, _THUMBNAIL_BYTES = 0x8825, 0x8769, 0xA005, 0x0201, 0x0202
# Ten-thousandths of a second of arc: 3 mm.
_SECOND = 10_000
_NEW_BLOCK = b"MM\0*\0\0\0\x08\0\0\0\0\0\0"

Span = tuple[int, int]

_SIDECAR = "write an XMP sidecar instead"
_DEFAULT_LIMITS = PhotoLimits()
_METHODS = frozenset({ESTIMATED, CONFIRMED, SET_BY_PERSON})
_WRITING_EXIF = b"Exif\0\0"
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_APP0, _APP1, _SOS = 0xE0, 0xE1, 0xDA
_LONGEST_SEGMENT = 0xFFFF - 2
_OLD_PROFILES = (b"Raw profile type exif\0", b"Raw profile type APP1\0", b"Raw profile type xmp\0")
_XMP_GPS = re.compile(
    rb"\s+exif:GPS\w+\s*=\s*(?:\"[^\"]*\"|'[^']*')|<exif:GPS(\w+)\b[^>]*(?:/>|>.*?</exif:GPS\1\s*>)", re.DOTALL
)


class Unwritable(Exception):
    """Nothing can be put into this block; the message goes after the file's name."""


@dataclass(frozen=True, slots=True)
class _Raw:
    tag: int
    entry: bytes
    value: Span | None


def with_place(block: bytes, point: LatLon, error_m: int | None, method: str) -> bytes:
    """The block with this place as its GPS directory, in place of any it had; an empty block gives a new one.

    Args:
        block: EXIF data from the TIFF header on.
        point: the place.
        error_m: horizontal error in metres.
        method: how the place was found, in ASCII.

    Raises:
        Unwritable: the block is broken, so that changing it might lose something.
    """
    block = block or _NEW_BLOCK
    try:
        tagged = TiffBlock(block)
        main, following = _raw_directory(tagged, tagged.first)
        cleared = _clear_gps(tagged, main, following)
    except (ValueError, struct.error) as error:
        raise Unwritable("its EXIF data is broken, and adding to it could lose what is left") from error
    order = tagged.order
    body = cleared + b"\0" * (len(cleared) % 2)
    gps = _directory(order, len(body), _gps_entries(order, point, error_m, method))
    pointer = struct.pack(order + "HHII", _GPS, _LONG, 1, len(body))
    entries = sorted([*(raw.entry for raw in main if raw.tag != _GPS), pointer], key=lambda raw: _tag(order, raw))
    table = struct.pack(order + "H", len(entries)) + b"".join(entries) + struct.pack(order + "I", following)
    start = len(body) + len(gps)
    return b"".join((body[:4], struct.pack(order + "I", start), body[8:], gps, table))


def _tag(order: str, entry: bytes) -> int:
    return int(struct.unpack_from(order + "H", entry)[0])


def _raw_directory(tagged: TiffBlock, offset: int) -> tuple[list[_Raw], int]:
    data, order = tagged.data, tagged.order
    if not 8 <= offset <= len(data) - 2:
        raise ValueError("directory outside the block")
    (count,) = struct.unpack_from(order + "H", data, offset)
    end = offset + 2 + 12 * count
    if end > len(data):
        raise ValueError("directory cut short")
    found = []
    for at in range(offset + 2, end, 12):
        tag, kind, length, value = struct.unpack_from(order + "HHII", data, at)
        size = length * _SIZES.get(kind, 0)
        span = None if size <= 4 else (value, value + size)
        if span is not None and span[1] > len(data):
            span = None
        found.append(_Raw(tag, data[at : at + 12], span))
    following = struct.unpack_from(order + "I", data, end)[0] if end + 4 <= len(data) else 0
    return found, following


def _clear_gps(tagged: TiffBlock, main: list[_Raw], following: int) -> bytes:
    """Return the block with zeros in place of the old GPS directory and its values."""
    pointer = next((raw for raw in main if raw.tag == _GPS), None)
    if pointer is None:
        return tagged.data
    old = list(_spans(tagged, _unpack_number(tagged.order, pointer), 0))
    kept = [raw.value for raw in main if raw.value is not None]
    kept += [span for at in _others(tagged, main, following) for span in _spans(tagged, at, 2)]
    if any(start < other_end and other_start < end for start, end in old for other_start, other_end in kept):
        raise ValueError("directories lie over each other")
    cleared = bytearray(tagged.data)
    for start, end in old:
        cleared[start:end] = bytes(end - start)
    return bytes(cleared)


def _others(tagged: TiffBlock, main: list[_Raw], following: int) -> Iterator[int]:
    """Yield the offsets of the camera's directory and the thumbnail's."""
    yield from (_unpack_number(tagged.order, raw) for raw in main if raw.tag == _EXIF)
    if following:
        yield following


def _spans(tagged: TiffBlock, offset: int, depth: int) -> Iterator[Span]:
    """The bytes that a directory and its values take, with those of the directories inside it."""
    entries, _ = _raw_directory(tagged, offset)
    yield offset, offset + 2 + 12 * len(entries)
    numbers = {raw.tag: _unpack_number(tagged.order, raw) for raw in entries}
    for raw in entries:
        if raw.value is not None:
            yield raw.value
        if depth and raw.tag == _INTEROPERABILITY:
            yield from _spans(tagged, numbers[raw.tag], depth - 1)
    if depth and _THUMBNAIL in numbers:
        yield numbers[_THUMBNAIL], numbers[_THUMBNAIL] + numbers.get(_THUMBNAIL_BYTES, 0)


def _unpack_number(order: str, raw: _Raw) -> int:
    return int(struct.unpack_from(order + "I", raw.entry, 8)[0])


def _gps_entries(order: str, point: LatLon, error_m: int | None, method: str) -> list[tuple[int, int, int, bytes]]:
    text = b"ASCII\0\0\0" + method.encode("ascii", "replace")
    entries = [
        (0, _BYTE, 4, bytes((2, 3, 0, 0))),
        (1, _ASCII, 2, b"S\0" if point.lat < 0 else b"N\0"),
        (2, _RATIONAL, 3, _angle(order, point.lat)),
        (3, _ASCII, 2, b"W\0" if point.lon < 0 else b"E\0"),
        (4, _RATIONAL, 3, _angle(order, point.lon)),
        (18, _ASCII, 7, b"WGS-84\0"),
        (27, _UNDEFINED, len(text), text),
    ]
    if error_m is not None:
        entries.append((31, _RATIONAL, 1, struct.pack(order + "II", error_m, 1)))
    return entries


def _angle(order: str, degrees: float) -> bytes:
    minutes, seconds = divmod(round(abs(degrees) * 3600 * _SECOND), 60 * _SECOND)
    return struct.pack(order + "6I", minutes // 60, 1, minutes % 60, 1, seconds, _SECOND)


def _directory(order: str, offset: int, entries: list[tuple[int, int, int, bytes]]) -> bytes:
    """A directory at this offset of a block, its longer values right behind it, of even length."""
    at = offset + 2 + 12 * len(entries) + 4
    table, values = [struct.pack(order + "H", len(entries))], b""
    for tag, kind, count, value in entries:
        table.append(struct.pack(order + "HHI", tag, kind, count))
        if len(value) <= 4:
            table.append(value.ljust(4, b"\0"))
            continue
        table.append(struct.pack(order + "I", at + len(values)))
        values += value + b"\0" * (len(value) % 2)
    return b"".join((*table, b"\0\0\0\0", values))


@dataclass(frozen=True, slots=True)
class ExifCopy:
    """A copy that was written; ``replaced`` is the place that the original claims, which the copy no longer does."""

    path: Path
    replaced: LatLon | None = None


def write_exif_copy(
    path: Path,
    out: Path,
    point: LatLon,
    radius_km: float | None = None,
    *,
    method: str = ESTIMATED,
    overwrite: bool = False,
    limits: PhotoLimits = _DEFAULT_LIMITS,
) -> ExifCopy:
    """Copy a JPEG or PNG photo and put a place into the copy's EXIF data.

    Any GPS tags of the original, also those in its XMP data, give way; the rest of its metadata stays as it is. What
    makers' notes and captions may say about a place is not looked at.

    Args:
        path: the photo.
        out: the copy; written whole or not at all.
        point: the place.
        radius_km: how far it may be off, which becomes the horizontal error.
        method: how the place was found, in ASCII.
        overwrite: whether another file of that name may be replaced; the photo itself never is.
        limits: how large a photo may be.

    Raises:
        BadInput: the photo can't be read or is of a kind that can't be written losslessly, the copy would overwrite
            something, or can't be written.
    """
    _check_copy(path, out, overwrite=overwrite)
    data = _read_photo_bytes(path, limits)
    error_m = None if radius_km is None else metres(radius_km)
    try:
        carrier = take_apart(data, limits)
        copy = _copy(data, carrier, point, error_m, method, limits)
    except Unfit as error:
        raise BadInput(f"{path}: {error}") from error
    except Unwritable as error:
        told = str(error)
        raise BadInput(f"{path}: {told}" if _SIDECAR in told else f"{path}: {told}; {_SIDECAR}") from error
    write_bytes_atomically(out, copy)
    return ExifCopy(out, read_exif(carrier.exif).point or xmp_point(xmp_values(carrier.xmp)))


def is_copy_of_ours(photo: Path, copy: Path, *, reviewed: bool = True, limits: PhotoLimits = _DEFAULT_LIMITS) -> bool:
    """Return whether `write_exif_copy` wrote a file from this photo, and no other program changed it since.

    The photo with the place that the copy claims is the copy, byte for byte. Without ``reviewed``, one whose place a
    person confirmed or corrected counts as theirs.
    """
    if copy.is_symlink():
        return False
    try:
        written, data = _read_photo_bytes(copy, limits), _read_photo_bytes(photo, limits)
        claimed = read_exif(take_apart(written, limits).exif)
        method = claimed.place_method
        if claimed.point is None or method is None or method not in (_METHODS if reviewed else (ESTIMATED,)):
            return False
        error_m = None if claimed.error_m is None else round(claimed.error_m)
        made = _copy(data, take_apart(data, limits), claimed.point, error_m, method, limits)
    except (BadInput, Unfit, Unwritable, OSError):
        return False
    return made == written


def _copy(data: bytes, carrier: Carrier, point: LatLon, error_m: int | None, method: str, limits: PhotoLimits) -> bytes:
    if carrier.format == "JPEG":
        return _jpeg(data, carrier.exif, point, error_m, method)
    if carrier.format == "PNG":
        return _png(data, carrier.exif, point, error_m, method, limits)
    raise Unwritable(f"a place can't be put into {carrier.format} files without saving them anew; {_SIDECAR}")


def _check_copy(path: Path, out: Path, *, overwrite: bool) -> None:
    try:
        if out.exists() and path.exists() and out.samefile(path):
            raise BadInput(f"{out}: this is the photo itself, which is never changed; give the copy another name")
        if (out.exists() or out.is_symlink()) and not overwrite:
            raise BadInput(f"{out}: is there already; choose another name")
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error


def _read_photo_bytes(path: Path, limits: PhotoLimits) -> bytes:
    try:
        if not path.is_file():
            raise BadInput(f"{path}: there is no such photo; check the path")
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size > limits.max_bytes:
                raise BadInput(f"{path}: the file is larger than the {limits.max_bytes / 1024**2:g} MiB allowed")
            return stream.read(limits.max_bytes + 1)
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _jpeg(data: bytes, exif: bytes, point: LatLon, error_m: int | None, method: str) -> bytes:
    block = _WRITING_EXIF + with_place(exif, point, error_m, method)
    if len(block) > _LONGEST_SEGMENT:
        raise Unwritable("its EXIF data leaves no room for a place")
    placed = _jpeg_segment(block)
    before: list[bytes] = []
    rest: list[bytes] = []
    at = 2
    while True:
        start, marker, body, end = _segment(data, at)
        if marker == _SOS:
            break
        if marker == _APP1 and body.startswith(_WRITING_EXIF):
            # A second block, which readers ignore, would keep the old place.
            pass
        elif marker == _APP1 and body.startswith(_XMP):
            rest.append(_jpeg_segment(_XMP_GPS.sub(b"", body)))
        elif marker == _APP0 and not rest:
            before.append(data[start:end])
        else:
            rest.append(data[start:end])
        at = end
    # JFIF wants its own segment first, EXIF right behind.
    return b"".join((data[:2], *before, placed, *rest, data[start:]))


def _jpeg_segment(body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, _APP1, len(body) + 2) + body


def _png(data: bytes, exif: bytes, point: LatLon, error_m: int | None, method: str, limits: PhotoLimits) -> bytes:
    placed = _chunk(b"eXIf", with_place(exif, point, error_m, method))
    parts: list[bytes] = []
    read = 8
    for name, body in _chunks(data, limits):
        read += 12 + len(body)
        if name in (b"zTXt", b"tEXt", b"iTXt") and body.startswith(_OLD_PROFILES):
            raise Unwritable("it keeps its metadata in an old form that can't be changed in part")
        if name == b"eXIf":
            continue
        if name == b"IDAT" and placed:
            parts.append(placed)
            placed = b""
        parts.append(_chunk(name, _png_xmp(body) if name == b"iTXt" and body.startswith(_PNG_XMP) else body))
    return b"".join((data[:8], *parts, data[read:]))


def _png_xmp(body: bytes) -> bytes:
    packet = _xmp_text(body)
    cleaned = _XMP_GPS.sub(b"", packet)
    return body if cleaned == packet else _PNG_XMP + b"\0\0\0\0" + cleaned
