"""From a stripped file to upright RGB pixels."""

import io
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from .carrier import Carrier, Unfit, check_size, truncated
from .containers import open_heic
from .model import Limits

if TYPE_CHECKING:
    from PIL.Image import Image

# Whatever a decoder raises on damaged data, and a warning where the process turned warnings into errors.
_DECODER_TROUBLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    Warning,
    struct.error,
    zlib.error,
)


def decode(carrier: Carrier, orientation: int, limits: Limits) -> tuple["Image", list[str]]:
    """Upright RGB pixels with an empty `info`, and notes on what had to be done to get them.

    The decoders are called by name and not through `PIL.Image.open`: that would warn about, or refuse, large pictures
    by a limit that belongs to the whole process. The caller has checked the size in the header.

    Raises:
        Unfit: the pixels can't be decoded.
    """
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
        raise Unfit("there is not enough memory to open it; give a smaller copy of the photo") from error
    except _DECODER_TROUBLE as error:
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
            from PIL.WebPImagePlugin import WebPImageFile

            return WebPImageFile(stream, "")
        case "TIFF":
            from PIL.TiffImagePlugin import TiffImageFile

            return TiffImageFile(stream, "")
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
