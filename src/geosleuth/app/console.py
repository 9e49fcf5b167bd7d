"""Who gets to print where: answers on stdout, talk and progress on stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from geosleuth.bench.plain import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID


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


class Bar:
    """How far something is. At a terminal it is drawn on stderr; elsewhere it says the lines that it is given."""

    def __init__(self, title: str, drawn: "tuple[Progress, TaskID] | None" = None) -> None:
        """Made by `progress`."""
        self._title, self._drawn = title, drawn

    @property
    def drawn(self) -> bool:
        """Whether somebody sees it."""
        return self._drawn is not None

    def at(self, done: int, total: int | None, what: str = "") -> None:
        """Say how much is done, and of what."""
        if self._drawn is not None:
            bar, task = self._drawn
            words = f"{self._title}: {what}" if self._title and what else self._title or what
            bar.update(task, description=words, completed=done, total=total or None)

    def advance(self, count: int = 1) -> None:
        """Say that so much more is done."""
        if self._drawn is not None:
            bar, task = self._drawn
            bar.advance(task, count)

    def turn_to(self, what: str) -> None:
        """Begin something else, from nought."""
        if self._drawn is not None:
            bar, task = self._drawn
            bar.reset(task, description=what)

    def say(self, line: str) -> None:
        """Print a line above it, cut to the terminal's width; where nothing is drawn, whole on stderr."""
        if self._drawn is None:
            talk(line)
            return
        from rich.text import Text

        self._drawn[0].console.print(Text(one_line(line), no_wrap=True, overflow="ellipsis"))


@contextmanager
def progress(
    title: str, total: int | None = None, *, measure: Literal["count", "bytes", "time"] = "count"
) -> Iterator[Bar]:
    """The one progress bar of all commands; ``time`` shows how long something of unknown length has taken."""
    if not sys.stderr.isatty():
        yield Bar(title)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    words = TextColumn("{task.description}", markup=False)
    columns: tuple[ProgressColumn, ...] = (SpinnerColumn(), words, TimeElapsedColumn())
    if measure != "time":
        amount = DownloadColumn() if measure == "bytes" else MofNCompleteColumn()
        columns = (words, BarColumn(), amount, TimeRemainingColumn())
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    with Progress(*columns, console=console, transient=True) as bar:
        yield Bar(title, (bar, bar.add_task(title, total=total)))


@contextmanager
def reading(paths: list[Path]) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes of some files; yields what to call with the bytes of each chunk."""
    total = sum(path.stat().st_size for path in paths if path.is_file())
    with progress("scoring", total, measure="bytes") as bar:
        yield bar.advance
