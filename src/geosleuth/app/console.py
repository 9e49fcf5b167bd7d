"""Who gets to print where: answers on stdout, talk and progress on stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.bench.plain import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType


def show(view: "RenderableType") -> None:
    """Print an answer for people on stdout; where that is no terminal as wide as COLUMNS says, or else 200.

    Ids and field values come from files and are shown as they are, never read as markup.
    """
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    wanted = int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 6 else 0
    width = None if sys.stdout.isatty() else wanted or 200
    Console(width=width, markup=False, emoji=False, highlight=False).print(view)


def show_json(document: Any) -> None:
    """Print the one JSON document of a command with ``--json``; in plain ASCII where stdout can't write all of it."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, allow_nan=False)
    sys.stdout.write(f"{text}\n")


def talk(message: str) -> None:
    """Say something on stderr, on one line; a stderr that takes nothing is no reason to fail."""
    with suppress(OSError):
        sys.stderr.write(f"{one_line(message)}\n")
        sys.stderr.flush()


@contextmanager
def reading(paths: list[Path]) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes of some files, on stderr and only at a terminal; yields what to call per chunk."""
    if not sys.stderr.isatty():
        yield lambda _bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    total = sum(path.stat().st_size for path in paths if path.is_file())
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=total)
        yield lambda count: bar.advance(task, count)
