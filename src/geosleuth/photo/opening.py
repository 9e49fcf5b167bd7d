"""Opening a photo from a file or from bytes that nobody vouches for."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geosleuth.errors import BadInput

from .carrier import NO_MEMORY, Unfit
from .claims import Claims, claims_of
from .containers import take_apart
from .exif import read_exif
from .model import Kind, Limits, Photo
from .panorama import looks_equirectangular
from .pixels import decode

_DEFAULT_LIMITS = Limits()
# Non-blocking, should a pipe have taken the file's place a moment after it was looked at.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class OpenedPhoto:
    """A photo to look at, and apart from it what its file claims."""

    photo: Photo
    claims: Claims


def open_photo(
    source: str | os.PathLike[str] | bytes,
    limits: Limits = _DEFAULT_LIMITS,
    *,
    kind: Kind | None = None,
    name: str | None = None,
) -> OpenedPhoto:
    """Open a JPEG, PNG, WebP, TIFF or HEIC photo, whatever its file is called.

    Sizes are checked before anything is decoded, damaged and cut files are refused, and nothing is written. The photo
    comes out upright and in RGB: transparency over white, 16-bit channels scaled to 8, of several frames or pages the
    first (HEIC: the primary one). CMYK is converted by the plain formula; colour profiles are not applied.

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
        name = name or _shown(path)
        data = _read(path, name, limits)
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
    claims = claims_of(data, carrier, said, notes)
    if kind is None:
        kind = "panorama" if looks_equirectangular(image, claims.panorama) else "photo"
    return OpenedPhoto(Photo(image, kind), claims)


def open_photos(
    sources: Sequence[str | os.PathLike[str] | bytes],
    limits: Limits = _DEFAULT_LIMITS,
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
        one = open_photo(source, limits, name=names[at] if names else None)
        pixels += one.photo.size[0] * one.photo.size[1]
        check_case_pixels(pixels, limits)
        opened.append(one)
    return opened


def check_case_pixels(pixels: int, limits: Limits) -> None:
    """Refuse photos that have too many pixels together.

    Raises:
        BadInput: they have.
    """
    if pixels > limits.max_case_pixels:
        raise BadInput(
            f"the photos have more than the {limits.max_case_pixels / 1e6:g} million pixels allowed together; "
            "leave some out, or give smaller copies"
        )


def _read(path: str, name: str, limits: Limits) -> bytes:
    try:
        # Looked at before it is opened: a pipe would wait for a writer, and opening some devices does something.
        _check_plain_file(name, Path(path).stat(), limits)
        with os.fdopen(os.open(path, _READ_FLAGS), "rb") as stream:
            _check_plain_file(name, os.fstat(stream.fileno()), limits)
            data = stream.read(limits.max_bytes + 1)
    except FileNotFoundError as error:
        raise BadInput(f"{name}: there is no such file; check the path") from error
    except PermissionError as error:
        raise BadInput(f"{name}: no permission to read it; allow it (chmod +r) or copy the file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
        raise BadInput(f"{name}: can't be read: {reason}") from error
    if len(data) > limits.max_bytes:
        raise BadInput(f"{name}: {_too_large(limits)}")
    return data


def _check_plain_file(name: str, status: os.stat_result, limits: Limits) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise BadInput(f"{name}: this is a folder; give one photo")
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{name}: this is a device or a pipe, not a file; give a photo's file")
    if status.st_size > limits.max_bytes:
        raise BadInput(f"{name}: {_too_large(limits)}")


def _too_large(limits: Limits) -> str:
    return f"the file is larger than the {limits.max_bytes / 1024**2:g} MiB allowed; give a smaller copy of the photo"


def _shown(path: str) -> str:
    """The path as a message may show it: one line, not endless, no terminal codes."""
    short = path if len(path) <= _LONGEST_NAME else f"{path[:_LONGEST_NAME]}…"
    return short if short.isprintable() and short.strip() else repr(short)
