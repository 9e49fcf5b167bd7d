"""Who may ask a model's server, and when: its slots, the rests it asks for, and a breaker that gives it a rest.

A gate is held in this process, or in one place for a whole cluster: see `hold_gates_with`.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from geosleuth.errors import ServiceFault

Came = Literal["answered", "failed", "nothing"]
"""What came of a request: the host answered, if only to refuse; it failed; or there was none to judge it by."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """How many requests a host gets at once, and after how many failures in a row it rests for how long."""

    concurrency: int
    failures: int
    rest_s: float


@dataclass(frozen=True, slots=True)
class Entry:
    """The leave to ask once: by what number, and how long the host was waited for. The wait for a slot is not in it."""

    number: int
    rested_s: float


@dataclass(frozen=True, slots=True)
class HostNews:
    """A host that keeps failing rests for so long; or it is back."""

    host: str
    state: Literal["resting", "back"]
    rest_s: float = 0.0


class Gate(Protocol):
    """What stands before one host."""

    async def enter(self, within_s: float) -> Entry:
        """Wait for a free slot, however long; then until the host may be asked, if that is within so many seconds.

        Raises:
            ServiceFault: the host rests for longer.
        """
        ...

    def leave(self, entry: Entry, came: Came, rest_s: float = 0.0) -> None:
        """Give the slot back and say what came of it; ``rest_s`` is how long the host asks to be left alone."""
        ...


class HostGate:
    """The gate of one host, for everybody in this event loop.

    After failures in a row the host rests; who wants to ask it waits. Then one request goes ahead of the others, and
    its success lets them all through. A host that never answered is not waited for: somebody should look at it.
    """

    def __init__(self, host: str, settings: GateSettings, tell: Callable[[HostNews], None] | None = None) -> None:
        """Open the gate; ``tell`` hears of rests, and all that are `listening` do if it is left out."""
        # Not at the top: nobody should wait for the online atlas to be loaded who asks no host.
        from geosleuth.atlas.online.http import Breaker

        self.host = host
        self._rest_s = settings.rest_s
        self._tell = tell or tell_listeners
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._breaker = Breaker(settings.failures, settings.rest_s)
        self._numbers = itertools.count(1)
        self._probe: int | None = None
        self._has_answered = False
        self._asked_to_wait_until = 0.0

    async def enter(self, within_s: float) -> Entry:
        """Wait for a free slot, however long; then until the host may be asked, if that is within so many seconds.

        Raises:
            ServiceFault: the host rests for longer.
        """
        await self._slots.acquire()
        try:
            started = time.monotonic()
            await self._wait(started + within_s)
        except BaseException:
            self._slots.release()
            raise
        number = next(self._numbers)
        if self._breaker.is_open:
            self._probe = number
        return Entry(number, time.monotonic() - started)

    def leave(self, entry: Entry, came: Came, rest_s: float = 0.0) -> None:
        """Give the slot back and say what came of it; ``rest_s`` is how long the host asks to be left alone."""
        self._slots.release()
        self._asked_to_wait_until = max(self._asked_to_wait_until, time.monotonic() + rest_s)
        is_probe, was_open = self._probe == entry.number, self._breaker.is_open
        if is_probe:
            self._probe = None
        if came == "answered":
            self._has_answered = True
            self._breaker.succeeded()
            if was_open:
                self._tell(HostNews(self.host, "back"))
        elif came == "nothing" or rest_s > 0:
            # A host that says when to come back is well enough to be believed.
            if is_probe:
                self._breaker.abandoned()
        elif self._has_answered and (is_probe or not was_open):
            # Those that were under way when the rest began tell nothing new.
            self._breaker.failed()
            if self._breaker.is_open:
                self._tell(HostNews(self.host, "resting", self._rest_s))

    async def _wait(self, until: float) -> None:
        """Until neither the host's own wish nor the breaker is in the way; then the breaker is entered."""
        while True:
            now = time.monotonic()
            asked_s, rest_s = self._asked_to_wait_until - now, self._breaker.rest_left_s
            if max(asked_s, rest_s) <= 0 and self._breaker.enter():
                return
            if asked_s > rest_s and now + asked_s >= until:
                trouble = f"asks to be left alone for {asked_s:.0f} s more; try later"
                raise ServiceFault(self.host, trouble, retryable=True)
            if now + rest_s >= until:
                trouble = f"failed again and again and is left alone for {max(1, round(rest_s))} s; try later"
                raise ServiceFault(self.host, trouble, retryable=True)
            await asyncio.sleep(max(asked_s, rest_s))


class Rests:
    """Which hosts rest; a listener."""

    def __init__(self) -> None:
        """Begin with none."""
        self._hosts: dict[str, None] = {}

    def __call__(self, news: HostNews) -> None:
        """Take in what became of a host."""
        if news.state == "resting":
            self._hosts[news.host] = None
        else:
            self._hosts.pop(news.host, None)

    def host(self) -> str | None:
        """A host that rests now; None where none does."""
        return next(iter(self._hosts), None)


_listeners: list[Callable[[HostNews], None]] = []
_maker: Callable[[str, GateSettings], Gate] = HostGate


@contextmanager
def listening(listener: Callable[[HostNews], None]) -> Iterator[None]:
    """Hear of every host that rests or is back; the listener is called in the thread that asks, and must be quick."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell_listeners(news: HostNews) -> None:
    """Pass on what became of a host."""
    for listener in tuple(_listeners):
        listener(news)


def make_gate(host: str, settings: GateSettings) -> Gate:
    """The gate of a host as this process holds them."""
    return _maker(host, settings)


def hold_gates_with(maker: Callable[[str, GateSettings], Gate]) -> None:
    """From now on, gates of this process are made by somebody else; those that there are stay."""
    global _maker  # noqa: PLW0603  # one for the process: policies are made in many places and all must pass it
    _maker = maker
