"""The tool ``open_photo``: from a path or from bytes to a handle."""

import asyncio
import binascii
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.photo import Limits, OpenedPhoto
from geosleuth.photo import open_photo as open_file

DATA_BYTES = 32 * 1024 * 1024
"""How large a photo may be that travels inside a call."""

_DATA_PIXELS = 100_000_000
_WAYS = "give path or data, one of the two"


@dataclass(frozen=True, slots=True)
class Source:
    """Where photos may come from.

    ``folders`` are those that paths must lie in; with ``anywhere`` any file will do that whoever started the server can
    read.
    """

    folders: tuple[Path, ...] = ()
    anywhere: bool = False

    async def open(self, path: str, data: str) -> OpenedPhoto:
        """Open a photo.

        Raises:
            BadInput: it is none, or may not be read.
        """
        if bool(path.strip()) == bool(data.strip()):
            raise BadInput(f"there is {'both a path and data' if path.strip() else 'no photo'}; {_WAYS}")
        if path.strip():
            return await asyncio.to_thread(open_file, self._allowed(path.strip()))
        return await asyncio.to_thread(_open_data, data)

    def _allowed(self, path: str) -> Path:
        """The file that a path means, once it is known to be one that may be read."""
        if not self.folders and not self.anywhere:
            raise BadInput("this server reads no files; send the photo itself, in base64, as data")
        try:
            wanted = Path(path).expanduser()
            if self.anywhere and not self.folders:
                return wanted
            for file in _readings(wanted, self.folders):
                if any(file.is_relative_to(folder) for folder in self.folders):
                    return file
        except (OSError, RuntimeError, ValueError) as error:
            raise BadInput(f"{path[:200]!r} is no usable path; {_WAYS}") from error
        raise BadInput(f"{path[:200]!r} is in none of the folders that this server may read (--photos); {_WAYS}")


def _readings(path: Path, folders: Sequence[Path]) -> list[Path]:
    """What a path may mean, links followed: a relative one lies in one of the folders, where it is first found."""
    if path.is_absolute():
        return [path.resolve()]
    inside = [(folder / path).resolve() for folder in folders]
    return sorted(inside, key=lambda file: not file.is_file())


def _open_data(data: str) -> OpenedPhoto:
    if data.lstrip().startswith("data:"):
        data = data.partition(",")[2]
    if len(data) * 3 // 4 > DATA_BYTES:
        raise BadInput(f"data is larger than the {DATA_BYTES // 1024**2} MiB allowed; give a smaller copy of the photo")
    try:
        content = b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("data is not base64; encode the bytes of a JPEG, PNG, WebP, TIFF or HEIC file") from error
    return open_file(content, Limits(max_bytes=DATA_BYTES, max_pixels=_DATA_PIXELS))
