"""The entry point of the command ``geosleuth``.

Exit codes: 0 success, 1 internal or service error, or nothing could be printed, 2 invalid input, 130 stopped with
Ctrl-C. Everything is imported inside ``main``, after Ctrl-C is handled.
"""

import gc
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

# Garbage collector thresholds. With Python's defaults, rescanning imported objects takes a twentieth of a command's CPU
# time.
GC_THRESHOLDS = (50_000, 20, 50)


class _Output(TextIOWrapper):
    """A stdout that remembers its own failures, so that they can be distinguished from other errors."""

    trouble: OSError | None = None

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.trouble = error
            raise

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.trouble = error
            raise


def main() -> NoReturn:
    """Run the command line."""
    gc.set_threshold(*GC_THRESHOLDS)
    _stop_quietly_on_ctrl_c()
    can_print = _prepare_streams()
    from geosleuth.cli.commands import build_app_for_words
    from geosleuth.support.console import say_warnings_once, talk
    from geosleuth.support.errors import GeosleuthError

    status: str | int | None = 0
    say_warnings_once()
    try:
        build_app_for_words(sys.argv[1:])()
    except SystemExit as ending:
        status = ending.code
    except GeosleuthError as error:
        talk(f"geosleuth: {error}")
        status = error.exit_code
    except OSError:
        if _output_trouble() is None:
            raise
    trouble = _output_trouble() if can_print else "it is closed"
    if trouble is None or status not in (0, None):
        _leave(status)
    if trouble:
        talk(f"geosleuth: can't write to standard output: {trouble}")
    _leave(1)


def _stop_quietly_on_ctrl_c() -> None:
    """End with 130 instead of a traceback, during imports too; what is under way still cleans up behind itself."""
    import signal

    def stop(*_: object) -> NoReturn:
        sys.exit(130)

    # A parent that had Ctrl-C ignored, as nohup and scripts in the background do, wants it ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)


def _prepare_streams() -> bool:
    """Make stdout and stderr safe to write to; false where stdout is closed."""
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    if closed:
        # Their numbers must not go to the next file that is opened: a library that writes to them would write there.
        while os.open(os.devnull, os.O_RDWR) < 2:
            pass
    for name in closed:
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8", errors="replace"))  # noqa: PTH123, SIM115 -- open until the end
    # Help, names of places and odd ids must not crash where stdout can't write them: they are escaped instead.
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout is sys.__stdout__:
        sys.stdout.flush()
        sys.stdout = _Output(
            sys.stdout.buffer, sys.stdout.encoding, "backslashreplace", line_buffering=sys.stdout.line_buffering
        )
    return "stdout" not in closed


def _output_trouble() -> str | None:
    """Return why stdout does not take what was printed: None if it does, empty if its reader has left."""
    with suppress(OSError):
        sys.stdout.flush()
    error = getattr(sys.stdout, "trouble", None)
    if error is None:
        return None
    return "" if isinstance(error, BrokenPipeError) else str(error.strerror or error)


def _leave(status: str | int | None) -> NoReturn:
    if _output_trouble() is not None:
        # What can't be written must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # The process gives all memory back at once. Looking for cycles in it first takes longer than `--help`.
    gc.freeze()
    sys.exit(status)
