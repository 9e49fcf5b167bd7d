"""Pictures as PNG bytes."""

import io

from PIL import Image

_LEVEL = 3  # from 4 on, zlib takes twice as long for a map and saves nothing


def to_png(image: Image.Image) -> bytes:
    """The same picture, the same bytes."""
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=_LEVEL)
    return out.getvalue()
