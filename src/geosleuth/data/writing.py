"""Small things that a store is written with: lines that are added, files that never change, one writer at a time."""

import os
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.files import lock_file, replacing


class Appending:
    """A file that lines are added to, each handed to the system before `write` returns.

    Half a line at its end, which a killed process left, is cut off when it is opened.
    """

    def __init__(self, path: Path) -> None:
        """Open it, or make it.

        Raises:
            BadInput: it can't be written.
        """
        self.path = path
        try:
            self._stream = path.open("r+b" if path.exists() else "xb", buffering=0)
            self._stream.truncate(self._stream.seek(_whole_bytes(path)))
        except OSError as error:
            raise _unwritable(path, error) from error

    def write(self, line: bytes) -> None:
        """Add a line, with its line end.

        Raises:
            BadInput: it can't be written, for one because the disk is full.
        """
        before = self._stream.tell()
        try:
            done = self._stream.write(line)
            while done < len(line):
                done += self._stream.write(line[done:])
        except OSError as error:
            # Half a line in the middle would damage the file for whoever goes on.
            self._stream.truncate(self._stream.seek(before))
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Close it; closing twice does no harm."""
        self._stream.close()


def _whole_bytes(path: Path) -> int:
    end = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
    return end


def write_new(path: Path, data: bytes) -> None:
    """Write a file whose name is the checksum of its content; one that is there already is the same.

    Raises:
        BadInput: it can't be written.
    """
    try:
        if path.is_file() and path.stat().st_size == len(data):
            return
    except OSError as error:
        raise _unwritable(path, error) from error
    make_folder(path.parent)
    with replacing(path) as neighbour:
        neighbour.write_bytes(data)


def make_folder(path: Path) -> None:
    """Make a folder and those above it.

    Raises:
        BadInput: it can't be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be made: {error.strerror or error}") from error


def locked(path: Path) -> int:
    """An open file that no other process can lock; closing it, or dying, lets go.

    Raises:
        BadInput: another process holds it, or it can't be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise _unwritable(path, error) from error
    # Without such locks, whoever starts two writers must see to it.
    if lock_file(handle) is False:
        os.close(handle)
        raise BadInput(f"{path.parent}: another process adds to this store; wait for it, or stop it")
    return handle


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: can't be written: {error.strerror or error}")
