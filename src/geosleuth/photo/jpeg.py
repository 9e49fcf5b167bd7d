"""JPEG files taken apart, segment by segment."""

import re
import struct

from .carrier import Carrier, Unfit, check_size, truncated
from .model import Limits

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
# Inside compressed data 0xFF is followed by 0 or a restart number; anything else is a marker.
_MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")
# Before a segment any number of 0xFF may stand; only ever matched in place, since a search would take a square's time.
_MARKER_HERE = re.compile(rb"\xff++([\x01-\xcf\xd8-\xfe])")
_FRAMES = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
_PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
_SOI, _EOI, _SOS, _APP0, _APP1, _APP14, _APP15, _COMMENT = 0xD8, 0xD9, 0xDA, 0xE0, 0xE1, 0xEE, 0xEF, 0xFE
_ENDLESS_FILLING = b"\xff" * 1024


def take_apart_jpeg(data: bytes, limits: Limits) -> Carrier:
    """Everything the decoder needs up to the end of the picture; what phones hang on behind it is left out."""
    kept = [data[:2]]
    size: tuple[int, int] | None = None
    frame = 0
    exif = xmp = b""
    at = 2
    for _ in range(limits.max_parts):
        start, marker, body, end = _segment(data, at)
        if marker == _SOS:
            at = start
            break
        if marker in _FRAMES:
            if size is not None or len(body) < 6:
                raise truncated()
            height, width = struct.unpack_from(">HH", body, 1)
            size, frame = (width, height), marker
            check_size(size, limits)
        elif marker == _APP1 and body.startswith(b"Exif\0\0"):
            exif = exif or body[6:]
        elif marker == _APP1 and body.startswith(_XMP):
            xmp = xmp or body[len(_XMP) :]
        # JFIF and Adobe tell the decoder which colours the numbers stand for; the others only talk.
        if marker in (_APP0, _APP14) or not (_APP0 <= marker <= _APP15 or marker == _COMMENT):
            kept.append(data[start:end])
        at = end
    else:
        raise Unfit("the JPEG has absurdly many parts; save the photo anew")
    if size is None:
        raise truncated()
    pixels = size[0] * size[1]
    most_scans = limits.max_scans
    if frame in _PROGRESSIVE:
        most_scans = min(most_scans, max(1, limits.max_scanned_pixels // pixels))
    end = _end_of_scans(data, at, most_scans)
    return Carrier("JPEG", size, b"".join((*kept, data[at:end])), exif=exif, xmp=xmp)


def _segment(data: bytes, at: int) -> tuple[int, int, bytes, int]:
    """Start without the filling before it, marker, content and end of the next segment."""
    found = _MARKER_HERE.match(data, at)
    if found is None or found.end() + 2 > len(data):
        raise truncated()
    marker = found[1][0]
    if marker in (_SOI, _EOI):
        raise truncated()
    (length,) = struct.unpack_from(">H", data, found.end())
    end = found.end() + length
    if length < 2 or end > len(data):
        raise truncated()
    return found.end() - 2, marker, data[found.end() + 2 : end], end


def _end_of_scans(data: bytes, at: int, most: int) -> int:
    start = at
    scans = parts = 0
    while found := _MARKER.search(data, at):
        marker, at = found[1][0], found.end()
        if marker == _EOI:
            # No encoder writes such filling, and the decoder would go over it again with every block it is fed.
            if data.find(_ENDLESS_FILLING, start, at) >= 0:
                raise truncated()
            return at
        parts += 1
        scans += marker == _SOS
        if scans > most or parts > 4 * most + 4096:
            raise Unfit("the JPEG has absurdly many scans; save the photo anew")
        if at + 2 > len(data):
            break
        at += max(2, struct.unpack_from(">H", data, at)[0])
    raise truncated()
