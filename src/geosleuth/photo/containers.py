"""A file's format by its content, and its pixels parted from its metadata.

Nothing here is lenient: a photo that was copied whole passes, a cut one does not.
"""

from typing import TYPE_CHECKING

from geosleuth.errors import install_command

from .carrier import MAX_XMP, Carrier, Unfit, check_size, truncated
from .jpeg import take_apart_jpeg
from .model import Limits
from .png import take_apart_png
from .tiff import take_apart_tiff
from .webp import take_apart_webp

if TYPE_CHECKING:
    from pillow_heif import HeifFile

_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}
LEAST_LIBHEIF = (1, 21)
"""Older ones can be made to read beyond their memory (CVE-2025-68431 and before)."""

_SUPPORTED = "give a JPEG, PNG, WebP, TIFF or HEIC photo"


def take_apart(data: bytes, limits: Limits) -> Carrier:
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
    elif data[4:8] == b"ftyp" and data[8:12] in _HEIC_BRANDS:
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
        raise Unfit(f"HEIC photos need an extra; run: {install_command('heif')}; or give a JPEG copy") from error
    if _numbers(libheif_version()) < LEAST_LIBHEIF:
        newer = f"{install_command('heif')} --upgrade"
        raise Unfit(f"libheif {libheif_version()} has known holes; run: {newer}; or give a JPEG copy")
    try:
        opened = open_heif(data, convert_hdr_to_8bit=True)
    except MemoryError:
        raise
    except Exception as error:  # nobody can list what libheif's binding raises on damaged data
        raise truncated() from error
    if len(opened) == 0:
        raise truncated()
    return opened


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
