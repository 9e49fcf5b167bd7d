"""A file's format by its content (JPEG, PNG, WebP), and its pixels parted from its metadata.

Nothing here is lenient: a photo that was copied whole passes, a cut one does not.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from geosleuth.support.errors import install_command

from .carrier import MAX_XMP, Carrier, Unfit, build_truncation_error, check_size
from .exif import take_apart_tiff
from .photo import PhotoLimits

if TYPE_CHECKING:
    from pillow_heif import HeifFile

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
# Inside compressed data 0xFF is followed by 0 or a restart number; anything else is a marker.
_MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")
# Before a segment any number of 0xFF may stand; only ever matched in place, since a search would take a square's time.
_MARKER_HERE = re.compile(rb"\xff++([\x01-\xcf\xd8-\xfe])")
_FRAMES = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
_PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
_SOI, _EOI, _SOS, _APP0, _APP1, _APP14, _APP15, _COMMENT = 0xD8, 0xD9, 0xDA, 0xE0, 0xE1, 0xEE, 0xEF, 0xFE
_ENDLESS_FILLING = b"\xff" * 1024

_PNG_XMP = b"XML:com.adobe.xmp\0"
_KEPT = (b"IHDR", b"PLTE", b"tRNS")
_CHECKED = (*_KEPT, b"IDAT", b"IEND")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# No deflate stream shrinks its input more than this.
_DEFLATE_LIMIT = 1032
_WEBP_KEPT = (b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF")
_ALPHA_AND_ANIMATION = 0x12
HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}
# Minimum version of libheif: earlier ones can be made to read out of bounds (CVE-2025-68431 and before).
MIN_LIBHEIF = (1, 21)
_SUPPORTED = "give a JPEG, PNG, WebP, TIFF or HEIC photo"


def take_apart_jpeg(data: bytes, limits: PhotoLimits) -> Carrier:
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
                raise build_truncation_error()
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
        raise Unfit("the JPEG has too many parts; save the photo anew")
    if size is None:
        raise build_truncation_error()
    pixels = size[0] * size[1]
    most_scans = limits.max_scans
    if frame in _PROGRESSIVE:
        most_scans = min(most_scans, max(1, limits.max_scanned_pixels // pixels))
    end = _end_of_scans(data, at, most_scans)
    return Carrier("JPEG", size, b"".join((*kept, data[at:end])), exif=exif, xmp=xmp)


def _segment(data: bytes, at: int) -> tuple[int, int, bytes, int]:
    found = _MARKER_HERE.match(data, at)
    if found is None or found.end() + 2 > len(data):
        raise build_truncation_error()
    marker = found[1][0]
    if marker in (_SOI, _EOI):
        raise build_truncation_error()
    (length,) = struct.unpack_from(">H", data, found.end())
    end = found.end() + length
    if length < 2 or end > len(data):
        raise build_truncation_error()
    return found.end() - 2, marker, data[found.end() + 2 : end], end


def _end_of_scans(data: bytes, at: int, most: int) -> int:
    start = at
    scans = parts = 0
    while found := _MARKER.search(data, at):
        marker, at = found[1][0], found.end()
        if marker == _EOI:
            # No encoder writes such filling, and the decoder would go over it again with every block it is fed.
            if data.find(_ENDLESS_FILLING, start, at) >= 0:
                raise build_truncation_error()
            return at
        parts += 1
        scans += marker == _SOS
        if scans > most or parts > 4 * most + 4096:
            raise Unfit("the JPEG has too many scans; save the photo anew")
        if at + 2 > len(data):
            break
        at += max(2, struct.unpack_from(">H", data, at)[0])
    raise build_truncation_error()


def take_apart_png(data: bytes, limits: PhotoLimits) -> Carrier:
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
        elif name == b"iTXt" and body.startswith(_PNG_XMP):
            xmp = xmp or _xmp_text(body)
        elif name == b"acTL":
            several = len(body) >= 4 and body[:4] != b"\0\0\0\1"
    header = kept.get(b"IHDR", b"")
    if len(header) != 13:
        raise build_truncation_error()
    width, height, depth, colour = struct.unpack_from(">IIBB", header)
    check_size((width, height), limits)
    compressed = b"".join(idat)
    if len(compressed) * _DEFLATE_LIMIT + 4096 < height * (width * depth * _CHANNELS.get(colour, 1) // 8):
        raise build_truncation_error()
    stripped = [(name, kept[name]) for name in _KEPT if name in kept]
    parts = [_chunk(name, body) for name, body in (*stripped, (b"IDAT", compressed), (b"IEND", b""))]
    return Carrier("PNG", (width, height), data[:8] + b"".join(parts), exif=exif, xmp=xmp, several=several)


def _chunks(data: bytes, limits: PhotoLimits) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    for _ in range(limits.max_parts):
        if at + 12 > len(data):
            raise build_truncation_error()
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            raise build_truncation_error()
        body = data[at + 8 : end - 4]
        if name in _CHECKED and _checksum(name, body) != struct.unpack_from(">I", data, end - 4)[0]:
            raise build_truncation_error()
        if name == b"IEND":
            return
        yield name, body
        at = end
    raise Unfit("the PNG has too many parts; save the photo anew")


def _chunk(name: bytes, body: bytes) -> bytes:
    return b"".join((struct.pack(">I", len(body)), name, body, struct.pack(">I", _checksum(name, body))))


def _checksum(name: bytes, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(name))


def _xmp_text(body: bytes) -> bytes:
    """The packet in a chunk of keyword, two flags, two short texts that end in a zero, and the text itself."""
    start = len(_PNG_XMP)
    text = body[start + 2 :].split(b"\0", 2)[-1]
    if body[start : start + 1] != b"\1":
        return text[:MAX_XMP]
    try:
        return zlib.decompressobj().decompress(text, MAX_XMP)
    except zlib.error:
        return b""


def take_apart_webp(data: bytes, limits: PhotoLimits) -> Carrier:
    """The picture of a WebP file, or the first frame of an animated one."""
    kept: list[bytes] = []
    exif = xmp = b""
    size: tuple[int, int] | None = None
    frames = 0
    for name, body in _webp_chunks(data, limits):
        if name == b"EXIF":
            exif = exif or body.removeprefix(b"Exif\0\0")
        elif name == b"XMP ":
            xmp = xmp or body[:MAX_XMP]
        frames += name == b"ANMF"
        if name not in _WEBP_KEPT or (name == b"ANMF" and frames > 1):
            continue
        size = size or _read_declared_size(name, body)
        # The other flags announce chunks that are left out here.
        wanted = bytes((body[0] & _ALPHA_AND_ANIMATION,)) + body[1:] if name == b"VP8X" and body else body
        kept.append(struct.pack("<4sI", name, len(wanted)) + wanted + b"\0" * (len(wanted) % 2))
    if size is None:
        raise build_truncation_error()
    check_size(size, limits)
    content = b"WEBP" + b"".join(kept)
    pixels = b"RIFF" + struct.pack("<I", len(content)) + content
    return Carrier("WebP", size, pixels, exif=exif, xmp=xmp, several=frames > 1)


def _webp_chunks(data: bytes, limits: PhotoLimits) -> Iterator[tuple[bytes, bytes]]:
    if len(data) < 12:
        raise build_truncation_error()
    end = 8 + struct.unpack_from("<I", data, 4)[0]
    if end > len(data):
        raise build_truncation_error()
    at = 12
    for _ in range(limits.max_parts):
        if at >= end:
            return
        if at + 8 > end:
            raise build_truncation_error()
        name, length = struct.unpack_from("<4sI", data, at)
        if at + 8 + length > end:
            raise build_truncation_error()
        yield name, data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2
    raise Unfit("the WebP has too many parts; save the photo anew")


def _read_declared_size(name: bytes, body: bytes) -> tuple[int, int] | None:
    if name == b"VP8X" and len(body) >= 10:
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if name == b"VP8 " and len(body) >= 10:
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF
    if name == b"VP8L" and len(body) >= 5:
        (bits,) = struct.unpack_from("<I", body, 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None


def take_apart(data: bytes, limits: PhotoLimits) -> Carrier:
    """Tell the format by its content and part pixels from metadata.

    Raises:
        Unfit: not a supported photo, damaged, cut short, or larger than the limits.
    """
    if data.startswith(b"\xff\xd8\xff"):
        carrier = take_apart_jpeg(data, limits)
    elif data.startswith(b"\x89PNG\r\n\x1a\n"):
        carrier = take_apart_png(data, limits)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        carrier = take_apart_webp(data, limits)
    elif data[:4] in (b"II*\0", b"MM\0*"):
        carrier = take_apart_tiff(data, limits)
    elif data[4:8] == b"ftyp" and data[8:12] in HEIC_BRANDS:
        carrier = _heic(data)
    else:
        raise Unfit(f"this is not a photo that can be opened; {_SUPPORTED}")
    check_size(carrier.size, limits)
    return carrier


def _heic(data: bytes) -> Carrier:
    primary = open_heic(data)
    info = primary.info
    exif, xmp = info.get("exif") or b"", info.get("xmp") or b""
    return Carrier(
        "HEIC",
        primary.size,
        data,
        exif=bytes(exif).removeprefix(b"Exif\0\0"),
        xmp=bytes(xmp)[:MAX_XMP],
        several=len(primary) > 1,
        upright=True,
    )


def open_heic(data: bytes) -> "HeifFile":
    """The file's structure, with nothing decoded yet; libheif's own limits on memory and nesting hold.

    Raises:
        Unfit: it is damaged, there is no picture in it, or what reads such files is not installed or too old.
    """
    try:
        from pillow_heif import libheif_version, open_heif
    except ModuleNotFoundError as error:
        raise Unfit(f"HEIC photos need an extra; run: {install_command('media')}; or give a JPEG copy") from error
    if _parse_version(libheif_version()) < MIN_LIBHEIF:
        newer = f"{install_command('media')} --upgrade"
        raise Unfit(f"libheif {libheif_version()} has known holes; run: {newer}; or give a JPEG copy")
    try:
        opened = open_heif(data, convert_hdr_to_8bit=True)
    except MemoryError:
        raise
    except Exception as error:  # what libheif's binding raises on damaged data is not documented
        raise build_truncation_error() from error
    if len(opened) == 0:
        raise build_truncation_error()
    return opened


def _parse_version(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
