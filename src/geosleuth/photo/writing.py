"""A copy of a photo with an estimated place in its metadata. The original is never written to.

The picture's data goes over byte for byte: nothing is decoded or compressed again.
"""

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from geosleuth.answer.formats.context import ESTIMATED, metres
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically
from geosleuth.geo import LatLon

from .carrier import Unfit
from .containers import take_apart
from .exif import read_exif, xmp_point, xmp_values
from .exif_writing import Unwritable, with_place
from .jpeg import _segment
from .model import Limits
from .png import _XMP as _PNG_XMP
from .png import _chunk, _chunks, _xmp_text

_SIDECAR = "write an XMP sidecar instead"
_DEFAULT_LIMITS = Limits()
_EXIF = b"Exif\0\0"
_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_APP0, _APP1, _SOS = 0xE0, 0xE1, 0xDA
_LONGEST_SEGMENT = 0xFFFF - 2
_OLD_PROFILES = (b"Raw profile type exif\0", b"Raw profile type APP1\0", b"Raw profile type xmp\0")
_XMP_GPS = re.compile(
    rb"\s+exif:GPS\w+\s*=\s*(?:\"[^\"]*\"|'[^']*')|<exif:GPS(\w+)\b[^>]*(?:/>|>.*?</exif:GPS\1\s*>)", re.DOTALL
)


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
    limits: Limits = _DEFAULT_LIMITS,
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
    data = _read(path, limits)
    error_m = None if radius_km is None else metres(radius_km)
    try:
        carrier = take_apart(data, limits)
        if carrier.format == "JPEG":
            copy = _jpeg(data, carrier.exif, point, error_m, method)
        elif carrier.format == "PNG":
            copy = _png(data, carrier.exif, point, error_m, method, limits)
        else:
            raise Unwritable(f"a place can't be put into {carrier.format} files without saving them anew; {_SIDECAR}")
    except Unfit as error:
        raise BadInput(f"{path}: {error}") from error
    except Unwritable as error:
        told = str(error)
        raise BadInput(f"{path}: {told}" if _SIDECAR in told else f"{path}: {told}; {_SIDECAR}") from error
    write_bytes_atomically(out, copy)
    return ExifCopy(out, read_exif(carrier.exif).point or xmp_point(xmp_values(carrier.xmp)))


def _check_copy(path: Path, out: Path, *, overwrite: bool) -> None:
    try:
        if out.exists() and path.exists() and out.samefile(path):
            raise BadInput(f"{out}: this is the photo itself, which is never changed; give the copy another name")
        if (out.exists() or out.is_symlink()) and not overwrite:
            raise BadInput(f"{out}: is there already; choose another name")
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error


def _read(path: Path, limits: Limits) -> bytes:
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
    """Segment by segment up to the first scan, and from there on as it is."""
    block = _EXIF + with_place(exif, point, error_m, method)
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
        if marker == _APP1 and body.startswith(_EXIF):
            # A second block, which nobody reads, would keep the old place.
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


def _png(data: bytes, exif: bytes, point: LatLon, error_m: int | None, method: str, limits: Limits) -> bytes:
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
