"""WebP files taken apart, chunk by chunk."""

import struct
from collections.abc import Iterator

from .carrier import MAX_XMP, Carrier, Unfit, check_size, truncated
from .model import Limits

_KEPT = (b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF")
_ALPHA_AND_ANIMATION = 0x12


def take_apart_webp(data: bytes, limits: Limits) -> Carrier:
    """The picture of a WebP file, or the first frame of an animated one."""
    kept: list[bytes] = []
    exif = xmp = b""
    size: tuple[int, int] | None = None
    frames = 0
    for name, body in _chunks(data, limits):
        if name == b"EXIF":
            exif = exif or body.removeprefix(b"Exif\0\0")
        elif name == b"XMP ":
            xmp = xmp or body[:MAX_XMP]
        frames += name == b"ANMF"
        if name not in _KEPT or (name == b"ANMF" and frames > 1):
            continue
        size = size or _declared_size(name, body)
        # The other flags announce chunks that are left out here.
        wanted = bytes((body[0] & _ALPHA_AND_ANIMATION,)) + body[1:] if name == b"VP8X" and body else body
        kept.append(struct.pack("<4sI", name, len(wanted)) + wanted + b"\0" * (len(wanted) % 2))
    if size is None:
        raise truncated()
    check_size(size, limits)
    content = b"WEBP" + b"".join(kept)
    pixels = b"RIFF" + struct.pack("<I", len(content)) + content
    return Carrier("WebP", size, pixels, exif=exif, xmp=xmp, several=frames > 1)


def _chunks(data: bytes, limits: Limits) -> Iterator[tuple[bytes, bytes]]:
    if len(data) < 12:
        raise truncated()
    end = 8 + struct.unpack_from("<I", data, 4)[0]
    if end > len(data):
        raise truncated()
    at = 12
    for _ in range(limits.max_parts):
        if at >= end:
            return
        if at + 8 > end:
            raise truncated()
        name, length = struct.unpack_from("<4sI", data, at)
        if at + 8 + length > end:
            raise truncated()
        yield name, data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2
    raise Unfit("the WebP has absurdly many parts; save the photo anew")


def _declared_size(name: bytes, body: bytes) -> tuple[int, int] | None:
    if name == b"VP8X" and len(body) >= 10:
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if name == b"VP8 " and len(body) >= 10:
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF
    if name == b"VP8L" and len(body) >= 5:
        (bits,) = struct.unpack_from("<I", body, 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None
