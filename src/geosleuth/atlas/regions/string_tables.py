"""A look at the texts of an extract before osmium reads them.

Osmium keeps tags as texts that end with a NUL byte. An extract that has one within a text makes it read past the end of
its memory, which ends the whole process. No map has such a text, so a file that does is refused.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from geosleuth.errors import BadInput

# The format's own limits for a blob's header and for its content.
_MAX_HEADER: Final = 64 * 1024
_MAX_BLOB: Final = 64 * 1024 * 1024
_RAW, _ZLIB, _SIZE, _TABLE, _TEXT = 1, 3, 3, 1, 1


def check_texts(path: Path) -> None:
    """Read the texts of a .pbf file's blocks. What is no such file, or packed otherwise, is left to osmium to judge.

    Raises:
        BadInput: a text holds a NUL byte.
    """
    with path.open("rb") as stream:
        for block in _blocks(stream):
            table = next((value for number, value in _fields(block) if number == _TABLE), b"")
            # The first text is empty: its length is the one NUL that belongs here, and most tables have no other.
            if b"\0" in table[2:] and any(b"\0" in text for number, text in _fields(table) if number == _TEXT):
                raise BadInput(f"{path} is not a sound OpenStreetMap extract (a text holds NUL); download it again")


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The blocks' content, unpacked, up to the first that is damaged."""
    while len(head := stream.read(4)) == 4:
        (length,) = struct.unpack(">I", head)
        if length > _MAX_HEADER:
            return
        sizes = [value for number, value in _numbers(stream.read(length)) if number == _SIZE]
        if not sizes or sizes[0] > _MAX_BLOB:
            return
        for number, value in _fields(stream.read(sizes[0])):
            if number == _RAW:
                yield value
            elif number == _ZLIB:
                try:
                    yield zlib.decompressobj().decompress(value, _MAX_BLOB)
                except zlib.error:
                    return


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that are texts, bytes or messages, up to where it is damaged."""
    for number, _, value in _parts(message):
        if value is not None:
            yield number, value


def _numbers(message: bytes) -> Iterator[tuple[int, int]]:
    for number, figure, value in _parts(message):
        if value is None:
            yield number, figure


def _parts(message: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Each field: its number, and a figure or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind in (1, 5):
            at += 8 if kind == 1 else 4
            continue
        if kind not in (0, 2):
            return
        figure, at = _varint(message, at)
        if kind == 0:
            yield key >> 3, figure, None
            continue
        yield key >> 3, figure, message[at : at + figure]
        at += figure


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    return value, at
