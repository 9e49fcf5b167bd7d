"""Photos in MessagePack shards, as GeoEstimation's downloader writes them: a run of ``{"image": …, "id": …}``."""

import struct
from pathlib import Path
from typing import BinaryIO

from geosleuth.errors import BadInput

from .archives import MemberPicture
from .model import Picture

_LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_NOTHING = 0xC0
_LONGEST_NAME = 4096


class Shard:
    """One shard: gone through once for its ids, then read where the photos lie."""

    def __init__(self, path: Path) -> None:
        """Find where each photo lies.

        Raises:
            BadInput: it is no such shard.
        """
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}
        size = path.stat().st_size
        try:
            with path.open("rb") as stream:
                while stream.tell() < size:
                    self._record(stream, size)
        except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
            raise BadInput(f"{path}: not a shard of photos, or cut short: get it again") from error

    def _record(self, stream: BinaryIO, size: int) -> None:
        head = stream.read(1)[0]
        if head == _NOTHING:
            return
        if not 0x80 <= head <= 0x8F:
            raise ValueError(head)
        name, place = None, None
        for _ in range(head & 0x0F):
            key = stream.read(_short(_length(stream)))
            length = _length(stream)
            if stream.tell() + length > size:
                raise ValueError(length)
            if key == b"id":
                name = stream.read(_short(length)).decode()
                continue
            if key == b"image":
                place = (stream.tell(), length)
            stream.seek(length, 1)
        if name is not None and place is not None:
            self._places[name] = place

    def find(self, name: str) -> Picture | None:
        """The photo of that id."""
        place = self._places.get(name)
        return None if place is None else MemberPicture(self._path, name, *place)


def _short(length: int) -> int:
    """The length of a key or an id, which are read whole."""
    if length > _LONGEST_NAME:
        raise ValueError(length)
    return length


def _length(stream: BinaryIO) -> int:
    """How long the text or the bytes are that begin here."""
    head = stream.read(1)[0]
    if 0xA0 <= head <= 0xBF:
        return head & 0x1F
    layout = _LENGTHS[head]
    (length,) = struct.unpack(layout, stream.read(struct.calcsize(layout)))
    return int(length)
