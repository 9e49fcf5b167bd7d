"""A full disk: told as such in one line, whoever met it first, and without the paths that it was met at."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from geosleuth.errors import GeosleuthError


class DiskFull(GeosleuthError):
    """Nothing more can be kept until somebody frees some space."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the server's disk is full; free some space and try again")


@contextmanager
def full_disk_told() -> Iterator[None]:
    """Raise `DiskFull` in place of whatever the block raises because the disk is full."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, DiskFull) and is_full_disk(error):
            raise DiskFull from error
        raise


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that the disk is full."""
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
