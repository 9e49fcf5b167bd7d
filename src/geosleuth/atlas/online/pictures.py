"""Pictures from services: checked before they are opened, and always PNG of the size that was asked for."""

import io
from typing import TYPE_CHECKING

from geosleuth.errors import ServiceFault

if TYPE_CHECKING:
    from PIL.Image import Image

_MAX_PIXELS = 4096 * 4096
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def open_picture(body: bytes, host: str) -> "Image":
    """The picture in an answer, as RGB.

    Raises:
        ServiceFault: it is no picture, or one of absurd size.
    """
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(body), formats=_FORMATS) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ServiceFault(host, f"sent a picture of {image.width} x {image.height} pixels")
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise ServiceFault(host, "sent something that is not a picture") from error


def png_of_size(body: bytes, size: tuple[int, int], host: str) -> bytes:
    """The picture in an answer as PNG; a service that draws finer than asked is scaled."""
    return to_png(resized(open_picture(body, host), size))


def resized(image: "Image", size: tuple[int, int]) -> "Image":
    """The picture in that size."""
    import PIL.Image

    return image if image.size == size else image.resize(size, PIL.Image.Resampling.LANCZOS)


def to_png(image: "Image") -> bytes:
    """The picture as PNG bytes."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
