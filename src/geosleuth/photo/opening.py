"""Open a photo from an untrusted file or from untrusted bytes, as upright RGB pixels."""

import io
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.support.errors import BadInput
from geosleuth.support.files import NO_SUCH_FILE

from .carrier import NO_MEMORY, Carrier, Unfit, build_truncation_error, check_size
from .containers import open_heic, take_apart
from .exif import read_exif
from .metadata import Claims, gather_claims
from .panorama import looks_equirectangular
from .photo import Kind, Photo, PhotoLimits
from .sidecar import read_sidecars

if TYPE_CHECKING:
    from PIL.Image import Image

# Small photos are decoded side by side, large ones one after the other: each takes up to 20 bytes a pixel meanwhile.
_PIXELS_AT_ONCE = 200_000_000

_DEFAULT_LIMITS = PhotoLimits()
# Non-blocking, should a pipe have taken the file's place a moment after it was looked at.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LONGEST_NAME = 300


class _Decoding:
    """Number of pixels being decoded in this process."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, pixels: int) -> Iterator[None]:
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


def decode(carrier: Carrier, orientation: int, limits: PhotoLimits) -> tuple["Image", list[str]]:
    """Upright RGB pixels with an empty `info`, and notes on what had to be done to get them.

    The decoders are called by name and not through `PIL.Image.open`: that would warn about, or refuse, large pictures
    by a limit that belongs to the whole process. The caller has checked the size in the header.

    Raises:
        Unfit: the pixels can't be decoded.
    """
    with _decoding.reserve(carrier.size[0] * carrier.size[1]):
        return _decode(carrier, orientation, limits)


def _decode(carrier: Carrier, orientation: int, limits: PhotoLimits) -> tuple["Image", list[str]]:
    try:
        opened = _open_image(carrier)
        check_size(opened.size, limits)
        if carrier.format != "HEIC" and opened.size != carrier.size:
            raise build_truncation_error()
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
    except Exception as error:  # what decoders raise on damaged data is not documented
        raise build_truncation_error() from error
    image.info.clear()
    return image, notes


def _open_image(carrier: Carrier) -> "Image":
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
        with np.errstate(invalid="ignore"):
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


@dataclass(frozen=True, slots=True)
class OpenedPhoto:
    """A photo to look at, and apart from it what its file claims.

    ``is_judged`` says that it was looked at for being a photograph at all, see `geosleuth.photo.nature.judged`.
    """

    photo: Photo
    claims: Claims
    is_judged: bool = False


def open_photo(
    source: str | os.PathLike[str] | bytes,
    limits: PhotoLimits = _DEFAULT_LIMITS,
    *,
    kind: Kind | None = None,
    name: str | None = None,
) -> OpenedPhoto:
    """Open a JPEG, PNG, WebP, TIFF or HEIC photo, under any file name.

    Sizes are checked before anything is decoded, damaged and cut files are refused, and nothing is written. The photo
    comes out upright and in RGB: transparency over white, 16-bit channels scaled to 8, of several frames or pages the
    first (HEIC: the primary one). CMYK is converted by the plain formula; colour profiles are not applied. XMP sidecars
    beside a path are read as claims, too.

    Args:
        source: a path, or the content of a file.
        limits: what the photo may cost at most.
        kind: "photo" or "panorama" where the caller knows; otherwise the picture is looked at.
        name: what messages call it, in place of the path.

    Raises:
        BadInput: it can't be opened; one line that names the file, the reason and the way out.
    """
    if isinstance(source, bytes):
        name, data = name or "the photo", source
        if len(data) > limits.max_bytes:
            raise BadInput(f"{name}: {_too_large(limits)}")
    else:
        path = os.fspath(source)
        name = name or _format_path(path)
        data = _read_photo_file(path, name, limits)
    if not data:
        raise BadInput(f"{name}: the file is empty; give a photo")
    try:
        carrier = take_apart(data, limits)
        said = read_exif(carrier.exif)
        image, notes = decode(carrier, 1 if carrier.upright else said.orientation, limits)
    except Unfit as error:
        raise BadInput(f"{name}: {error}") from error
    except MemoryError as error:
        raise BadInput(f"{name}: {NO_MEMORY}") from error
    if carrier.several:
        notes.append("the file holds several pictures; only the first is looked at")
    claims = gather_claims(data, carrier, said, notes)
    if not isinstance(source, bytes):
        claims = replace(claims, sidecars=read_sidecars(Path(os.fsdecode(path))))
    if kind is None:
        kind = "panorama" if looks_equirectangular(image, claims.panorama) else "photo"
    return OpenedPhoto(Photo(image, kind), claims)


def open_photos(
    sources: Sequence[str | os.PathLike[str] | bytes],
    limits: PhotoLimits = _DEFAULT_LIMITS,
    *,
    names: Sequence[str] | None = None,
) -> list[OpenedPhoto]:
    """Open the photos of one case, which are all held in memory at the same time.

    Args:
        sources: paths, or the contents of files.
        limits: what each may cost at most, and all together.
        names: what messages call them, in place of their paths.

    Raises:
        BadInput: one can't be opened, or they have too many pixels together.
    """
    opened: list[OpenedPhoto] = []
    pixels = 0
    for at, source in enumerate(sources):
        item = open_photo(source, limits, name=names[at] if names else None)
        pixels += item.photo.size[0] * item.photo.size[1]
        check_case_pixels(pixels, limits)
        opened.append(item)
    return opened


def check_case_pixels(pixels: int, limits: PhotoLimits) -> None:
    """Refuse photos that have too many pixels together.

    Raises:
        BadInput: they have.
    """
    if pixels > limits.max_case_pixels:
        raise BadInput(
            f"the photos have more than the {limits.max_case_pixels / 1e6:g} million pixels allowed together; "
            "leave some out, or give smaller copies"
        )


def _read_photo_file(path: str, name: str, limits: PhotoLimits) -> bytes:
    try:
        # Looked at before it is opened: a pipe would wait for a writer, and opening some devices does something.
        _check_plain_file(name, Path(path).stat(), limits)
        with os.fdopen(os.open(path, _READ_FLAGS), "rb") as stream:
            _check_plain_file(name, os.fstat(stream.fileno()), limits)
            data = stream.read(limits.max_bytes + 1)
    except FileNotFoundError as error:
        raise BadInput(f"{name}: {NO_SUCH_FILE}") from error
    except PermissionError as error:
        raise BadInput(f"{name}: no permission to read it; allow it (chmod +r) or copy the file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
        raise BadInput(f"{name}: can't be read: {reason}") from error
    if len(data) > limits.max_bytes:
        raise BadInput(f"{name}: {_too_large(limits)}")
    return data


def _check_plain_file(name: str, status: os.stat_result, limits: PhotoLimits) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise BadInput(f"{name}: this is a folder; give one photo")
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{name}: this is a device or a pipe, not a file; give a photo's file")
    if status.st_size > limits.max_bytes:
        raise BadInput(f"{name}: {_too_large(limits)}")


def _too_large(limits: PhotoLimits) -> str:
    return f"the file is larger than the {limits.max_bytes / 1024**2:g} MiB allowed; give a smaller copy of the photo"


def _format_path(path: str) -> str:
    """Return a path for messages: a single line of limited length without terminal codes."""
    short = path if len(path) <= _LONGEST_NAME else f"{path[:_LONGEST_NAME]}…"
    return short if short.isprintable() and short.strip() else repr(short)
