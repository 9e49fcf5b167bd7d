"""The terminal: answers on stdout, messages and progress on stderr, questions, Ctrl-C and exit codes."""

import json
import logging
import os
import shlex
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from geosleuth.support.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import Progress, TaskID
    from rich.segment import Segment
    from rich.table import Table


# Exit code of an interrupted run.
EXIT_INTERRUPTED = 130

# Exit code if some photos failed or are missing.
EXIT_SOME_FAILED = 1


def show(view: "RenderableType") -> None:
    """Print an answer for people on stdout; where that is no terminal as wide as COLUMNS says, or else 200.

    Ids, field values and names come from files and maps: they are never read as markup, and nothing in them steers
    the terminal.
    """
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    wanted = int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 6 else 0
    width = None if sys.stdout.isatty() else wanted or 200
    Console(width=width, markup=False, emoji=False, highlight=False).print(_Safe(view))


def table_view(
    heads: Iterable[str],
    rows: "Iterable[Iterable[RenderableType]]",
    *,
    title: str | None = None,
    caption: str | None = None,
    unbroken: Container[str] = (),
) -> "Table":
    """Return a table; a head that begins with ">" aligns its column to the right, ``unbroken`` columns do not wrap."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", caption=caption)
    table.caption_justify = "left"
    for head in heads:
        side: Literal["left", "right"] = "right" if head.startswith(">") else "left"
        table.add_column(head.removeprefix(">"), overflow="fold", justify=side, no_wrap=head in unbroken)
    for row in rows:
        table.add_row(*row)
    return table


def facts_view(facts: Mapping[str, Any]) -> "Table":
    """Return a table of names and values."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        table.add_row(key.replace("_", " "), "–" if value in (None, "", [], ()) else text)
    return table


class _Safe:
    """A view whose texts can't steer a terminal; its own colours stay."""

    def __init__(self, view: "RenderableType") -> None:
        self._view = view

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Segment]":
        for part in console.render(self._view, options):
            yield part if part.control else part._replace(text=printable(part.text))


def show_json(document: Any) -> None:
    """Print the one JSON document of a command with ``--json``; in plain ASCII where stdout can't write all of it.

    What could steer a terminal is written as an escape of JSON's, so that programs read it as it is.
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if text != printable(text):
        text = json.dumps(document, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, allow_nan=False)
    sys.stdout.write(f"{text}\n")


def show_result(document: Any, view: "RenderableType", *, as_json: bool) -> None:
    """Print an answer: its document for programs, or its view for people."""
    if as_json:
        show_json(document)
    else:
        show(view)


def talk(message: str) -> None:
    """Say something on stderr, on one line; a stderr that takes nothing is no reason to fail."""
    with suppress(OSError):
        sys.stderr.write(f"{one_line(message)}\n")
        sys.stderr.flush()


def say_warnings_once() -> None:
    """Have the same warning about a region said once in a command, however many threads come upon it."""
    said: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        if not record.name.startswith("geosleuth.atlas.regions"):
            return True
        line = record.getMessage()
        if line in said:
            return False
        said.add(line)
        return True

    if logging.lastResort is not None:
        logging.lastResort.filters = [is_new]


class ProgressBar:
    """Progress display: drawn on stderr at a terminal; elsewhere it prints the lines that it is given."""

    def __init__(self, title: str, drawn: "tuple[Progress, TaskID] | None" = None) -> None:
        """Made by `progress`."""
        self._title, self._drawn = title, drawn

    @property
    def is_drawn(self) -> bool:
        """Return whether the bar is shown."""
        return self._drawn is not None

    def update(self, done: int, total: int | None, what: str = "") -> None:
        """Say how much is done, and of what."""
        if self._drawn is not None:
            bar, task = self._drawn
            words = f"{self._title}: {what}" if self._title and what else self._title or what
            bar.update(task, description=words, completed=done, total=total or None)
            if not total:  # rich takes None for "as before"
                bar.tasks[task].total = None

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
) -> Iterator[ProgressBar]:
    """The one progress bar of all commands; ``time`` shows how long something of unknown length has taken."""
    if not sys.stderr.isatty():
        yield ProgressBar(title)
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
        yield ProgressBar(title, (bar, bar.add_task(title, total=total)))


@contextmanager
def reading(paths: list[Path]) -> Iterator[Callable[[int], None]]:
    """A progress bar over the bytes of some files; yields what to call with the bytes of each chunk."""
    total = sum(path.stat().st_size for path in paths if path.is_file())
    with progress("scoring", total, measure="bytes") as bar:
        yield bar.advance


def this_command() -> str:
    """Return how this program was called, as the first words of another command."""
    called = Path(sys.argv[0] or "geosleuth")
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable or 'python3')} -m geosleuth"
    found = shutil.which("geosleuth")
    on_path = found is not None and called.exists() and Path(found).samefile(called)
    return "geosleuth" if on_path or called.name != "geosleuth" else shlex.quote(str(called))


@contextmanager
def cancel_on_ctrl_c() -> Iterator[None]:
    """Let the first Ctrl-C, or a scheduler's SIGTERM, call the running task off, so that it closes its files.

    A second one ends at once.
    """
    import asyncio

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    # Ignored on purpose, as nohup does, or set by code outside Python: leave it.
    before = {
        item: handler
        for item in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(item)) not in (signal.SIG_IGN, None)
    }

    def back() -> None:
        for item, handler in before.items():
            with suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(item)
                signal.signal(item, handler)

    def stop() -> None:
        back()
        if task is not None:
            task.cancel()

    # Not every system and thread has signals in its event loop; what they do there stays as it is.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for item in before:
            loop.add_signal_handler(item, stop)
    try:
        yield
    finally:
        back()


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep the warnings of libraries off the terminal: the user of this command can't fix them.

    A user who asks Python for warnings (-W, PYTHONWARNINGS) gets them.
    """
    root, nowhere = logging.getLogger(), logging.NullHandler()
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        if not root.handlers:
            root.addHandler(nowhere)
        try:
            yield
        finally:
            root.removeHandler(nowhere)
