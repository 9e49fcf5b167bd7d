"""Result of parsing a file's structure: pixels on the one side, metadata on the other."""

from dataclasses import dataclass
from typing import Literal

from .photo import PhotoLimits

FileFormat = Literal["JPEG", "PNG", "WebP", "TIFF", "HEIC"]


# More than any camera writes; the rest of a longer packet is not looked at.
MAX_XMP = 1 << 20


NO_MEMORY = "there is not enough memory to open it; give a smaller copy of the photo"


class Unfit(Exception):
    """This file can't be opened as a photo; the message goes after the file's name."""


def build_truncation_error() -> Unfit:
    """The error of a file that ends too early."""
    return Unfit("the file is cut short or damaged; get a whole copy of it")


def check_size(size: tuple[int, int], limits: PhotoLimits) -> None:
    """Refuse a picture of no pixels, of too many, or with too long a side.

    Raises:
        Unfit: it is one of these.
    """
    width, height = size
    if width < 1 or height < 1:
        raise build_truncation_error()
    if max(size) > limits.max_side and width * height <= limits.max_pixels:
        raise Unfit(
            f"{width} x {height} pixels: a side may have {limits.max_side:,} at most; give a smaller copy of the photo"
        )
    if width * height > limits.max_pixels:
        raise Unfit(
            f"{width} x {height} pixels are more than the {limits.max_pixels / 1e6:g} million allowed; "
            "give a smaller copy of the photo"
        )


@dataclass(frozen=True, slots=True)
class Carrier:
    """A file taken apart.

    `pixels` is a file of the same format with nothing in it but what decoding needs: the decoder never sees a word of
    metadata, so nothing in it can slow it, upset it or leak through it. `size` is that of the header, before turning.
    """

    format: FileFormat
    size: tuple[int, int]
    pixels: bytes
    exif: bytes = b""
    xmp: bytes = b""
    several: bool = False
    # The decoder has already turned the picture upright, even if the metadata still asks for a turn.
    upright: bool = False
