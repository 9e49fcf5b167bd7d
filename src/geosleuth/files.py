"""Writing files, and changing databases, so that a reader never sees half of it and no two write at once."""

import os
import shutil
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


def link_or_copy(real: Path, path: Path) -> None:
    """Give a file a second name where the disk can, or else copy it; whoever changes the one may change the other.

    Raises:
        BadInput: it can't be written there.
    """
    # Not through `replacing`: setting the mode of a second name sets that of the file itself.
    try:
        os.link(real, path)
    except OSError:
        with replacing(path) as neighbour:
            shutil.copyfile(real, neighbour)


def lock_file(handle: int, *, wait: bool = False) -> bool | None:
    """Lock an open file or folder for this process alone; closing it, or dying, lets go.

    Returns:
        Whether nobody else holds it; None where the system or the disk knows no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


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
