"""Writing files, and changing databases, so that a reader never sees half of it."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geosleuth.errors import BadInput


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary neighbour to fill; it takes the path's place when the block ends well, and vanishes otherwise.

    Raises:
        BadInput: the folder is missing or can't be written to, or something other than a file is in the way.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: can't be written: it is not a plain file")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        neighbour = Path(name)
        try:
            yield neighbour
            neighbour.chmod(_usual_mode(path))
            neighbour.replace(path)
        except BaseException:
            neighbour.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        BadInput: it can't be written there.
    """
    with replacing(path) as neighbour, neighbour.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def write_text_atomically(path: Path, text: str) -> None:
    r"""Write a UTF-8 text file whole or not at all.

    What UTF-8 can't hold (half a surrogate pair, from a reply cut in two) is written as an escape such as ``\ud83d``.

    Raises:
        BadInput: it can't be written there.
    """
    write_bytes_atomically(path, text.encode("utf-8", "backslashreplace"))


@contextmanager
def committed(conn: sqlite3.Connection) -> Iterator[None]:
    """All changes of the block to a database, or none."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


def _usual_mode(path: Path) -> int:
    """The mode of the file that is replaced, or what a plain open() would have given."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
