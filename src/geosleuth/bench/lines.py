r"""Lines of files that anybody may have written: split on ``\n`` only, and never longer than memory allows."""

from collections.abc import Callable, Iterator
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.files import MAX_LINE_BYTES


def byte_lines(path: Path, readline: Callable[[int], bytes], what: str) -> Iterator[bytes]:
    """The lines of an open file, each with its end; ``what`` says what a line should be.

    Raises:
        BadInput: one is longer than 64 MiB.
    """
    number = 0
    while line := readline(MAX_LINE_BYTES):
        number += 1
        if len(line) >= MAX_LINE_BYTES and not line.endswith(b"\n"):
            raise BadInput(f"{path}:{number}: a line of more than 64 MiB is no {what}")
        yield line


def text_lines(path: Path, readline: Callable[[int], bytes], what: str) -> Iterator[str]:
    """The same as text; a mark of byte order at the beginning is left out.

    Raises:
        BadInput: one is longer than 64 MiB, or is not UTF-8.
    """
    for number, line in enumerate(byte_lines(path, readline, what), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}:{number}: not UTF-8 text; save it as UTF-8") from error
