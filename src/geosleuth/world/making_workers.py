"""Processes that draw: handed numbers over pipes of their own, and ended at once when somebody stops the work.

No queues and no threads in between: an interrupt at any moment leaves nothing that would wait for something.
"""

import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import FrameType

_AHEAD = 2
"""Scenes that wait for each worker, the one under way among them."""
_PATIENCE_S = 1.0
"""What all workers together have to end by themselves, before they are killed."""

Begin = Callable[..., None]
Draw = Callable[[int], tuple[int, bytes]]


class WorkerEndedError(Exception):
    """A worker ended in the middle of its work."""


@dataclass(eq=False, slots=True)
class _Hand:
    """A worker, the pipe to it, and how many numbers it has."""

    process: BaseProcess
    pipe: "Connection[Any, Any]"
    given: int = 0


def drawn_by_workers(
    numbers: Sequence[int], workers: int, begin: Begin, words: tuple[Any, ...], draw: Draw
) -> Generator[tuple[int, bytes]]:
    """What ``draw`` makes of every number, as it gets done; workers call ``begin`` with the words first.

    Close it, or go through it: its workers end with it.

    Raises:
        WorkerEndedError: a worker was ended.
    """
    hands: list[_Hand] = []
    try:
        _start(hands, min(workers, len(numbers)), (begin, words, draw))
        yield from _gathered(hands, iter(numbers))
    except (EOFError, ConnectionError) as error:
        raise WorkerEndedError from error
    finally:
        _end(hands)


def _start(hands: list[_Hand], count: int, work: tuple[Begin, tuple[Any, ...], Draw]) -> None:
    # Fresh processes: a fork would carry open databases and threads along.
    context = multiprocessing.get_context("spawn")
    for _ in range(count):
        with _no_ctrl_c(), _children_without_ctrl_c():
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, *work), daemon=True)
            process.start()
            theirs.close()
            hands.append(_Hand(process, ours))


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Ctrl-C waits: in the middle of a start it would leave a process that nobody knows."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    # A mask would not do: the signal would come by way of any other thread.
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])


@contextmanager
def _children_without_ctrl_c() -> Iterator[None]:
    """Processes that are started meanwhile never get it, not even during their imports; who gathers decides."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    # The first start would start it, and lets Ctrl-C in again when it does.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _gathered(hands: Iterable[_Hand], numbers: Iterator[int]) -> Iterator[tuple[int, bytes]]:
    by_pipe: dict[Any, _Hand] = {hand.pipe: hand for hand in hands}
    for _ in range(_AHEAD):
        for hand in by_pipe.values():
            _give(hand, numbers)
    while waited := [pipe for pipe, hand in by_pipe.items() if hand.given]:
        for pipe in connection.wait(waited):
            came = by_pipe[pipe].pipe.recv()
            by_pipe[pipe].given -= 1
            _give(by_pipe[pipe], numbers)
            if isinstance(came, Exception):
                raise came
            yield came


def _give(hand: _Hand, numbers: Iterator[int]) -> None:
    for number in numbers:
        hand.pipe.send(number)
        hand.given += 1
        return


def _end(hands: Iterable[_Hand]) -> None:
    with _no_ctrl_c():
        for hand in hands:
            hand.pipe.close()
            hand.process.terminate()
        until = time.monotonic() + _PATIENCE_S
        for hand in hands:
            hand.process.join(max(0.0, until - time.monotonic()))
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join(_PATIENCE_S)


def _serve(pipe: "Connection[Any, Any]", begin: Begin, words: tuple[Any, ...], draw: Draw) -> None:
    """In the new process: draw what is asked for until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A picture that is half written is cleaned away on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(EOFError, ConnectionError):
        try:
            begin(*words)
            while True:
                pipe.send(draw(pipe.recv()))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 - whoever gathers raises it
            pipe.send(error)
