"""Opening a photo from a file or from bytes that nobody vouches for."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from geosleuth.errors import BadInput

from .carrier import Unfit
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
    source: str | os.PathLike[str] | bytes, limits: Limits = _DEFAULT_LIMITS, *, kind: Kind | None = None
) -> OpenedPhoto:
    """Open a JPEG, PNG, WebP, TIFF or HEIC photo, whatever its file is called.

    Sizes are checked before anything is decoded, damaged and cut files are refused, and nothing is written. The photo
    comes out upright and in RGB: transparency over white, 16-bit channels scaled to 8, of several frames or pages the
    first (HEIC: the primary one). CMYK is converted by the plain formula; colour profiles are not applied.

    Args:
        source: a path, or the content of a file.
        limits: what the photo may cost at most.
        kind: "photo" or "panorama" where the caller knows; otherwise the picture is looked at.

    Raises:
        BadInput: it can't be opened; one line that names the file, the reason and the way out.
    """
    if isinstance(source, bytes):
        name, data = "the photo", source
        if len(data) > limits.max_bytes:
            raise BadInput(f"{name}: {_too_large(limits)}")
    else:
        name, data = _shown(os.fspath(source)), _read(os.fspath(source), limits)
    if not data:
        raise BadInput(f"{name}: the file is empty; give a photo")
    try:
        carrier = take_apart(data, limits)
        said = read_exif(carrier.exif)
        image, notes = decode(carrier, 1 if carrier.upright else said.orientation, limits)
    except Unfit as error:
        raise BadInput(f"{name}: {error}") from error
    if carrier.several:
        notes.append("the file holds several pictures; only the first is looked at")
    claims = claims_of(data, carrier, said, notes)
    if kind is None:
        kind = "panorama" if looks_equirectangular(image, claims.panorama) else "photo"
    return OpenedPhoto(Photo(image, kind), claims)


def _read(path: str, limits: Limits) -> bytes:
    name = _shown(path)
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
