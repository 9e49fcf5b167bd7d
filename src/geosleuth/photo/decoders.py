"""Pillow's decoders of WebP and TIFF without its limit on pixels, which belongs to the whole process.

The other decoders don't ask for that limit. The caller of these two has checked the size first.
"""

import ctypes
import io
from contextlib import suppress
from functools import cache

from PIL import Image, _imaging
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

# As much as tells a WebP file from others; the size comes after it.
_SIGNATURE_BYTES = 16


@cache
def _silence_libtiff() -> None:
    """Keep libtiff from writing to stderr what is wrong with a file; Pillow raises, and that is told in our words."""
    with suppress(OSError, AttributeError):  # linked otherwise, as on Windows
        library = ctypes.CDLL(_imaging.__file__)
        for setter in (library.TIFFSetErrorHandler, library.TIFFSetWarningHandler):
            setter.argtypes, setter.restype = [ctypes.c_void_p], ctypes.c_void_p
            setter(None)


class LargeTiff(TiffImageFile):
    """A TIFF of any size."""

    def load_prepare(self) -> None:
        """Make room for the pixels; Pillow checks the size only where it makes the room itself."""
        _silence_libtiff()
        if self._im is None:
            self.im = Image.new(self.mode, self._tile_size, None).im
        super().load_prepare()


class _ShortFirstRead(io.BytesIO):
    """A file that gives little at first, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and at the beginning no more than the signature, unless everything is asked for."""
        if self.tell() == 0 and size is not None and size > _SIGNATURE_BYTES:
            size = _SIGNATURE_BYTES
        return super().read(size)


def large_webp(data: bytes) -> WebPImageFile:
    """Open a WebP of any size: Pillow checks it only where the first read holds it."""
    return WebPImageFile(_ShortFirstRead(data), "")
