"""Preparations before a run: the offline atlas, and consent to send photos."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from geosleuth.support.console import EXIT_INTERRUPTED, ProgressBar, progress, talk
from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.pipeline.plan import Plan


T = TypeVar("T")
GO_ON = "keeps what is finished; run the same command to resume"


def run_until_stopped(work: Coroutine[Any, Any, T], told: str) -> T:
    """Return what comes of some work; where it was stopped with Ctrl-C, say what was kept, and leave."""
    try:
        return asyncio.run(work)
    except asyncio.CancelledError:
        talk(f"stopped; {told}")
        raise typer.Exit(EXIT_INTERRUPTED) from None


class Lines:
    """Says how far something is: in its bar, and where none is drawn in a line now and then."""

    def __init__(self, bar: ProgressBar, words: str = "", every_s: float = 5.0) -> None:
        """Say so many of these words, no oftener than that."""
        self._bar, self._words, self._every_s, self._said_at = bar, words, every_s, time.monotonic()

    def __call__(self, done: int, total: int | None, words: str | None = None, more: str = "") -> None:
        """Say what is new; ``words`` stand beside the bar, and in the line with ``more``."""
        self._bar.update(done, total, words or "")
        now = time.monotonic()
        if not self._bar.is_drawn and now - self._said_at >= self._every_s:
            self._said_at = now
            self._bar.say(f"{done}{f'/{total}' if total else ''} {words or self._words}{more}")


@contextmanager
def building() -> Iterator[Callable[[str, float], None]]:
    """A bar for the one-time building of the base atlas; without a terminal, a line if it takes a while."""
    if not sys.stderr.isatty():
        from geosleuth.atlas.base.build import line_on_stderr

        yield line_on_stderr()
        return
    bars: list[ProgressBar] = []
    with ExitStack() as held:

        def tell(what: str, share: float) -> None:
            # Not before there is something to build: most of the time it is built already.
            if not bars:
                bars.append(held.enter_context(progress("building the base atlas, once")))
            bars[0].update(round(100 * share), 100, what)

        yield tell


def offline_atlas(*, needed: bool = True, tiles: Path | None = None) -> "OfflineAtlas":
    """Return the atlas on this machine, its base built where it is needed."""
    from geosleuth.atlas import OfflineAtlas
    from geosleuth.atlas.base import ensure_base

    if needed:
        # Here and not in one of the atlas's threads, so that an interrupt stops the building at once.
        with building() as tell:
            ensure_base(tell)
    return OfflineAtlas(tiles=tiles)


def confirm(question: str) -> bool:
    """Ask the user at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def agree(told: str, *, yes: bool, stopped: str, question: str = "Go on?") -> None:
    """Say what is about to happen, and ask unless ``yes`` was given.

    Raises:
        BadInput: there is no terminal to ask at, or the answer was no; ``stopped`` says what was not done.
    """
    if yes:
        talk(told)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{told}; add --yes to allow it")
    elif not confirm(f"{told}. {question}"):
        raise BadInput(f"stopped; {stopped}")


def ask_consent(plan: "Plan", *, yes: bool) -> None:
    """Say where the photo goes, ask before it leaves the machine, and say which tools the run goes without.

    Raises:
        BadInput: the user did not agree.
    """
    from geosleuth.models import consent_line
    from geosleuth.models.detective import Detective
    from geosleuth.models.protocol import ReplayPolicy

    searched = sorted(plan.searches.image_hosts)
    asked_models = [thinker for thinker in plan.thinkers if not isinstance(thinker, ReplayPolicy | Detective)]
    for note in plan.notes:
        talk(note)
    lines = [consent_line(model) for model in asked_models]
    lines += [f"the image search sends the photo and cuts of it to {' and '.join(searched)}"] if searched else []
    lines += [plan.borrowed.consent] if plan.borrowed else []
    if lines:
        agree("; ".join(lines), yes=yes or not (plan.sent_to[1] or plan.borrowed), stopped="nothing was sent")
    if plan.missing_tools:
        talk(plan.missing_tools)
