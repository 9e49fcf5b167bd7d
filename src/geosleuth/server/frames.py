"""Messages between the service and its processes: JSON and bytes over two pipes; and errors of a full disk.

What a process sends is treated as data only: it may have opened a hostile file.
"""

import asyncio
import errno
import json
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from geosleuth.support.errors import GeosleuthError

_HEAD = struct.Struct(">II")
# Maximum size of an accepted message.
MAX_BYTES = 256 * 1024 * 1024

Frame = tuple[dict[str, Any], bytes]


def pack_frame(message: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """Return a message as bytes for the pipe."""
    text = plain_json(message).encode()
    return _HEAD.pack(len(text), len(blob)) + text + blob


def plain_json(value: Mapping[str, Any]) -> str:
    """Return JSON that every program reads: ASCII, for half surrogate pairs, and no NaN or infinity."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        from geosleuth.agent.codec import to_line

        return json.dumps(json.loads(to_line(value)), separators=(",", ":"))


def read_frame(stream: BinaryIO) -> Frame | None:
    """Return the next message; None if the other side has gone."""
    head = _read_exactly(stream, _HEAD.size)
    if head is None:
        return None
    text_bytes, blob_bytes = _HEAD.unpack(head)
    text, blob = _read_exactly(stream, text_bytes), _read_exactly(stream, blob_bytes)
    return None if text is None or blob is None else (json.loads(text), blob)


def _read_exactly(stream: BinaryIO, count: int) -> bytes | None:
    data = stream.read(count)
    return data if len(data) == count else None


async def receive(stream: asyncio.StreamReader) -> Frame:
    """Return the next message of a process.

    Raises:
        EOFError: the process has gone, or sent something that is not a message.
    """
    try:
        text_bytes, blob_bytes = _HEAD.unpack(await stream.readexactly(_HEAD.size))
        if text_bytes + blob_bytes > MAX_BYTES:
            raise EOFError("a message that is too long")
        message = json.loads(await stream.readexactly(text_bytes))
        blob = await stream.readexactly(blob_bytes)
        return dict(message), blob
    except (asyncio.IncompleteReadError, ConnectionError, ValueError, TypeError) as error:
        raise EOFError("no message came") from error


class DiskFull(GeosleuthError):
    """Nothing more can be stored until space is freed."""

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__("the server's disk is full; free some space and try again")


@contextmanager
def disk_full_errors() -> Iterator[None]:
    """Raise `DiskFull` in place of errors that a full disk caused."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, DiskFull) and is_full_disk(error):
            raise DiskFull from error
        raise


def is_full_disk(error: BaseException) -> bool:
    """Return whether an error, or what caused it, says that the disk is full."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return True
        if isinstance(cause, DiskFull):
            return True
        cause = cause.__cause__
    return False
