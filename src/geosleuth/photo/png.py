"""PNG files taken apart, chunk by chunk."""

import struct
import zlib
from collections.abc import Iterator

from .carrier import MAX_XMP, Carrier, Unfit, check_size, truncated
from .model import Limits

_XMP = b"XML:com.adobe.xmp\0"
_KEPT = (b"IHDR", b"PLTE", b"tRNS")
_CHECKED = (*_KEPT, b"IDAT", b"IEND")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# No deflate stream shrinks its input more than this.
_DEFLATE_LIMIT = 1032


def take_apart_png(data: bytes, limits: Limits) -> Carrier:
    """The still picture of a PNG file, with its compressed data in one chunk."""
    kept: dict[bytes, bytes] = {}
    idat: list[bytes] = []
    exif = xmp = b""
    several = False
    for name, body in _chunks(data, limits):
        if name == b"IDAT":
            idat.append(body)
        elif name in _KEPT:
            kept.setdefault(name, body)
        elif name == b"eXIf":
            exif = exif or body
        elif name == b"iTXt" and body.startswith(_XMP):
            xmp = xmp or _xmp_text(body)
        elif name == b"acTL":
            several = len(body) >= 4 and body[:4] != b"\0\0\0\1"
    header = kept.get(b"IHDR", b"")
    if len(header) != 13:
        raise truncated()
    width, height, depth, colour = struct.unpack_from(">IIBB", header)
    check_size((width, height), limits)
    compressed = b"".join(idat)
    if len(compressed) * _DEFLATE_LIMIT + 4096 < height * (width * depth * _CHANNELS.get(colour, 1) // 8):
        raise truncated()
    stripped = [(name, kept[name]) for name in _KEPT if name in kept]
    parts = [_chunk(name, body) for name, body in (*stripped, (b"IDAT", compressed), (b"IEND", b""))]
    return Carrier("PNG", (width, height), data[:8] + b"".join(parts), exif=exif, xmp=xmp, several=several)


def _chunks(data: bytes, limits: Limits) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    for _ in range(limits.max_parts):
        if at + 12 > len(data):
            raise truncated()
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            raise truncated()
        body = data[at + 8 : end - 4]
        if name in _CHECKED and _checksum(name, body) != struct.unpack_from(">I", data, end - 4)[0]:
            raise truncated()
        if name == b"IEND":
            return
        yield name, body
        at = end
    raise Unfit("the PNG has absurdly many parts; save the photo anew")


def _chunk(name: bytes, body: bytes) -> bytes:
    return b"".join((struct.pack(">I", len(body)), name, body, struct.pack(">I", _checksum(name, body))))


def _checksum(name: bytes, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(name))


def _xmp_text(body: bytes) -> bytes:
    """The packet in a chunk of keyword, two flags, two short texts that end in a zero, and the text itself."""
    start = len(_XMP)
    text = body[start + 2 :].split(b"\0", 2)[-1]
    if body[start : start + 1] != b"\1":
        return text[:MAX_XMP]
    try:
        return zlib.decompressobj().decompress(text, MAX_XMP)
    except zlib.error:
        return b""
