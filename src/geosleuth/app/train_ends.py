"""How commands of ``train`` end before their end: stopped, on a full disk, at a folder that may not be written to."""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from geosleuth.app.console import talk
from geosleuth.errors import BadInput, GeosleuthError

GOES_ON = "the same command goes on"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LOCKED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
# What safetensors says, which raises no OSError.
_FULL_WORDS = ("No space left on device", "StorageFull", "code: 28,")
# What torch leaves where it fails in the middle of a file.
_NO_ROOM_BYTES = 1 << 20


class NoRoom(GeosleuthError):
    """The disk takes no more; the command line was right, and nothing that was finished is lost."""


@contextmanager
def plain_ends(out: Path | None, stopped: Callable[[], str] | None = None, *, again: str = GOES_ON) -> Iterator[None]:
    """Put what ends the block early into one line.

    Args:
        out: where it writes to; None where it writes nothing.
        stopped: what to say after Ctrl-C; None says nothing.
        again: what will happen once there is room on the disk.

    Raises:
        NoRoom: the disk is full.
        BadInput: this user may not write there.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if stopped is not None:
            talk(stopped())
        raise
    except Exception as error:
        if (why := _no_room(error, out)) is not None:
            raise NoRoom(f"{out or 'something'}: can't be written: {why}; make room, and {again}") from error
        if isinstance(error, OSError) and error.errno in _LOCKED:
            place = error.filename or out or "a file"
            raise BadInput(f"{place}: can't be used: {error.strerror}; give another folder, or see to it") from error
        raise


def _no_room(error: BaseException, out: Path | None) -> str | None:
    """Why the disk takes no more; None where that is not the trouble."""
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError) and one.errno in _FULL:
            return one.strerror
        if any(words in str(one) for words in _FULL_WORDS):
            return _FULL_WORDS[0]
        one = one.__cause__ or one.__context__
    return _FULL_WORDS[0] if isinstance(error, RuntimeError) and _is_full(out) else None


def _is_full(out: Path | None) -> bool:
    there = next((one for one in (out, *out.absolute().parents) if one.is_dir()), None) if out is not None else None
    return there is not None and shutil.disk_usage(there).free < _NO_ROOM_BYTES
