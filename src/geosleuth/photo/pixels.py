"""From a stripped file to upright RGB pixels."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from .carrier import NO_MEMORY, Carrier, Unfit, check_size, truncated
from .containers import open_heic
from .model import Limits

if TYPE_CHECKING:
    from PIL.Image import Image

# Small photos are decoded side by side, large ones one after the other: each takes up to 20 bytes a pixel meanwhile.
_PIXELS_AT_ONCE = 200_000_000


class _Decoding:
    """How many pixels are being decoded in this process."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._changed = threading.Condition()

    @contextmanager
    def share_of(self, pixels: int) -> Iterator[None]:
        """Wait until there is room for so many, and hold it; a picture larger than all room waits to be alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken or self._taken + pixels <= self._most)
            self._taken += pixels
        try:
            yield
        finally:
            with self._changed:
                self._taken -= pixels
                self._changed.notify_all()


_decoding = _Decoding(_PIXELS_AT_ONCE)


def decode(carrier: Carrier, orientation: int, limits: Limits) -> tuple["Image", list[str]]:
    """Upright RGB pixels with an empty `info`, and notes on what had to be done to get them.

    The decoders are called by name and not through `PIL.Image.open`: that would warn about, or refuse, large pictures
    by a limit that belongs to the whole process. The caller has checked the size in the header.

    Raises:
        Unfit: the pixels can't be decoded.
    """
    with _decoding.share_of(carrier.size[0] * carrier.size[1]):
        return _decode(carrier, orientation, limits)


def _decode(carrier: Carrier, orientation: int, limits: Limits) -> tuple["Image", list[str]]:
    try:
        opened = _opened(carrier)
        check_size(opened.size, limits)
        if carrier.format != "HEIC" and opened.size != carrier.size:
            raise truncated()
        opened.load()
        check_size(opened.size, limits)
        image, notes = _to_rgb(opened)
        image = _upright(image, orientation)
        if image is opened:
            image = opened.copy()  # of the plain class, with no file behind it
    except MemoryError as error:
        raise Unfit(NO_MEMORY) from error
    except Unfit:
        raise
    except Exception as error:  # nobody can list what decoders raise on damaged data
        raise truncated() from error
    image.info.clear()
    return image, notes


def _opened(carrier: Carrier) -> "Image":
    stream = io.BytesIO(carrier.pixels)
    match carrier.format:
        case "JPEG":
            from PIL.JpegImagePlugin import JpegImageFile

            return JpegImageFile(stream, "")
        case "PNG":
            from PIL.PngImagePlugin import PngImageFile

            return PngImageFile(stream, "")
        case "WebP":
            from .decoders import large_webp

            return large_webp(carrier.pixels)
        case "TIFF":
            from .decoders import LargeTiff

            return LargeTiff(stream, "")
        case "HEIC":
            return open_heic(carrier.pixels).to_pillow()


def _to_rgb(image: "Image") -> tuple["Image", list[str]]:
    """The picture as RGB, itself if it is so already: transparency over white, deep greys scaled."""
    from PIL import Image

    if image.mode in ("RGB", "L", "1", "CMYK", "YCbCr") and "transparency" not in image.info:
        return (image if image.mode == "RGB" else image.convert("RGB")), []
    if image.mode.startswith("I;16"):
        return _from_grey(np.asarray(image), 0.0, 65_535.0), []
    if image.mode in ("I", "F"):
        values = np.asarray(image, dtype=np.float64)
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
        return _from_grey(values, low, high), ["brightness was stretched: the file does not say what is white"]
    if image.mode in ("P", "PA", "LA", "La", "RGBA", "RGBa", "RGB", "L", "1"):
        with_alpha = image if image.mode == "RGBA" else image.convert("RGBA")
        if image.mode == "P" and "transparency" not in image.info:
            return with_alpha.convert("RGB"), []
        white = Image.new("RGB", image.size, "white")
        white.paste(with_alpha, mask=with_alpha.getchannel("A"))
        return white, []
    if image.mode == "RGBX":
        return image.convert("RGB"), []
    raise Unfit(f"its colour model ({image.mode}) is not supported; save the photo as RGB")


def _from_grey(values: "np.ndarray[tuple[int, ...], np.dtype[np.number]]", low: float, high: float) -> "Image":
    from PIL import Image

    scale = 255.0 / (high - low) if high > low else 0.0
    grey = np.empty(values.shape, dtype=np.uint8)
    # Row by row in bands, so that a large picture is not held again as floats.
    for top in range(0, len(values), 256):
        band = values[top : top + 256].astype(np.float64)
        grey[top : top + 256] = np.rint(np.clip((band - low) * scale, 0, 255))
    return Image.fromarray(grey).convert("RGB")


def _upright(image: "Image", orientation: int) -> "Image":
    from PIL.Image import Transpose

    turn = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }.get(orientation)
    return image if turn is None else image.transpose(turn)
