"""Whether the files of a checkpoint can still be read: by their frames and checksums, without loading any of them."""

import json
import struct
import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from geosleuth.errors import BadInput
from geosleuth.policies.weights_folder import check_safetensors

_ZIPS = (".pt", ".pth", ".bin")
# Up to here all checksums are compared. Of larger files only those that say how the rest is to be read are: reading
# the optimiser's state of a large model to its end takes minutes.
_MOST_CHECKED_BYTES = 256_000_000
_BLOCK = 1 << 20
# What json and zipfile raise when they read nonsense; NotImplementedError and RecursionError are RuntimeErrors.
_TROUBLES = (
    BadInput, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, BadZipFile,
    struct.error, zlib.error,
)  # fmt: skip


def damaged_file(checkpoint: Path) -> str | None:
    """The first file of a checkpoint that is cut short or can't be read; None where all are well."""
    for path in sorted(checkpoint.rglob("*")):
        if not path.is_file():
            continue
        try:
            _check(path)
        except _TROUBLES:
            return path.relative_to(checkpoint).as_posix()
    return None


def _check(path: Path) -> None:
    """Raise one of `_TROUBLES` where a file is damaged."""
    if path.suffix == ".safetensors":
        check_safetensors(path)
    elif path.suffix in _ZIPS:
        _check_zip(path)
    elif path.suffix == ".json":
        json.loads(path.read_bytes())


def _check_zip(path: Path) -> None:
    """What torch saves is a zip file, with checksums."""
    small = path.stat().st_size <= _MOST_CHECKED_BYTES
    with ZipFile(path) as archive:
        for one in archive.infolist():
            _check_entry(archive, one, whole=small or one.filename.endswith(".pkl"))


def _check_entry(archive: ZipFile, one: ZipInfo, *, whole: bool) -> None:
    with archive.open(one) as stream:  # compares the names at both places
        while whole and stream.read(_BLOCK):
            pass
