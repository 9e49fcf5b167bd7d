"""Requests to a model's server: slots, pauses, retries with growing waits, a breaker, and giving up.

A gate is held in this process, or in one place for a whole cluster: see `set_gate_factory`.

All policies of one event loop that ask the same host share its gate: when the host asks one of them to wait, or keeps
failing, all of them wait.
"""

import asyncio
import itertools
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Literal, Protocol, TypeVar

from geosleuth.support.errors import BadInput, Offline, ServiceFault
from geosleuth.support.limits import Breaker, TryLater, after_tries, backoff_s

Came = Literal["answered", "failed", "nothing"]
"""What came of a request: the host answered, if only to refuse; it failed; or there was none to judge it by."""

_announcers: list[Callable[[ServiceFault, float], None]] = []
T = TypeVar("T")
_MEBIBYTE = 1 << 20
# Consecutive failures of one kind after which the remaining requests to a model are skipped.
MAX_CONSECUTIVE_FAILURES = 5
# Numbers of requests and times differ where the trouble is the same. Possessive: a long trouble costs no more than once
# through it.
_NUMBERS = re.compile(r"(?<![0-9a-f-])[a-f-]*+[0-9][0-9a-f-]*+")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Number of parallel requests to a host, and its pause after so many failures in a row."""

    concurrency: int
    failures: int
    rest_s: float


@dataclass(frozen=True, slots=True)
class AskPermit:
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
    """Gate in front of a host."""

    async def enter(self, within_s: float) -> AskPermit:
        """Wait for a free slot, however long; then until the host may be asked, if that is within so many seconds.

        Raises:
            ServiceFault: the host rests for longer.
        """
        ...

    def leave(self, entry: AskPermit, came: Came, rest_s: float = 0.0) -> None:
        """Give the slot back and say what came of it; ``rest_s`` is how long the host asks to be left alone."""
        ...


class HostGate:
    """The gate of one host, for all callers in this event loop.

    After failures in a row the host rests; who wants to ask it waits. Then one request goes ahead of the others, and
    its success lets them all through. A host that never answered is not waited for: the user should check it.
    """

    def __init__(self, host: str, settings: GateSettings, tell: Callable[[HostNews], None] | None = None) -> None:
        """Open the gate; ``tell`` hears of rests, and all that are `listening` do if it is left out."""
        self.host = host
        self._rest_s = settings.rest_s
        self._tell = tell or tell_listeners
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._breaker = Breaker(settings.failures, settings.rest_s)
        self._numbers = itertools.count(1)
        self._probe: int | None = None
        self._has_answered = False
        self._asked_to_wait_until = 0.0

    async def enter(self, within_s: float) -> AskPermit:
        """Wait for a free slot and for the host's rest, see `Gate.enter`."""
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
        return AskPermit(number, time.monotonic() - started)

    def leave(self, entry: AskPermit, came: Came, rest_s: float = 0.0) -> None:
        """Give the slot back and say what came of it, see `Gate.leave`."""
        self._slots.release()
        self._asked_to_wait_until = max(self._asked_to_wait_until, time.monotonic() + rest_s)
        is_probe, was_open = self._probe == entry.number, self._breaker.is_open
        if is_probe:
            self._probe = None
        if came == "answered":
            self._has_answered = True
            self._breaker.record_success()
            if was_open:
                self._tell(HostNews(self.host, "back"))
        elif came == "nothing" or rest_s > 0:
            # A host that says when to come back is well enough to be believed.
            if is_probe:
                self._breaker.release_probe()
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
    """Listener for which hosts pause."""

    def __init__(self) -> None:
        """Begin with none."""
        self._hosts: dict[str, None] = {}

    def __call__(self, news: HostNews) -> None:
        """Take in what became of a host."""
        if news.state == "resting":
            self._hosts[news.host] = None
        else:
            self._hosts.pop(news.host, None)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that rest now, the longest first."""
        return tuple(self._hosts)

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


@contextmanager
def announcing_retries(say: Callable[[str], None], *, exact: bool = True) -> Iterator[None]:
    """Say in one line when a request is sent again; why it is may quote the host, which is left out unless exact."""

    def hear(fault: ServiceFault, wait_s: float) -> None:
        say(f"{fault.host}: {fault.trouble if exact else 'no answer'}; asking again in {wait_s:.1f} s")

    _announcers.append(hear)
    try:
        yield
    finally:
        _announcers.remove(hear)


def tell_listeners(news: HostNews) -> None:
    """Pass on what became of a host."""
    for listener in tuple(_listeners):
        listener(news)


def make_gate(host: str, settings: GateSettings) -> Gate:
    """The gate of a host as this process holds them."""
    return _maker(host, settings)


def set_gate_factory(maker: Callable[[str, GateSettings], Gate]) -> None:
    """Make this process's gates with another factory from now on; existing gates stay."""
    global _maker  # noqa: PLW0603  # one for the process: policies are made in many places and all must pass it
    _maker = maker


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Request settings of a model's server.

    Attributes:
        concurrency: how many requests a host gets at once; the first caller to ask a host decides it for that host.
        tries: how often a request is sent at most.
        backoff_s: the longest wait before the second try; it doubles from then on, with chance mixed in.
        backoff_max_s: the longest such wait.
        connect_s: time limit for making a connection.
        try_s: time limit for one try, from the first byte sent to the last byte read.
        total_s: time limit for all tries and the waits between them. Waiting for a free slot does not count.
        breaker_failures: after so many failures in a row, a host that has answered before is left alone for a while;
            requests wait. Then one goes ahead; the first caller to ask a host decides this and the next for that host.
        breaker_rest_s: how long it is left alone.
        max_reply_bytes: longer replies are refused.
        jpeg_quality: how images are packed; their size in pixels never changes.
        extra_body: further fields of every request's body, such as ``{"chat_template_kwargs": {...}}`` of vLLM.
    """

    concurrency: int = 4
    tries: int = 4
    backoff_s: float = 1.0
    backoff_max_s: float = 30.0
    connect_s: float = 10.0
    try_s: float = 300.0
    total_s: float = 600.0
    breaker_failures: int = 8
    breaker_rest_s: float = 20.0
    max_reply_bytes: int = 16 * _MEBIBYTE
    jpeg_quality: int = 90
    extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "extra_body" and not 0 < value < math.inf:
                raise BadInput(f"model setting {item.name} must be a number above zero, not {value}")


class SaidNothing(ServiceFault):
    """A reply without words, thoughts or calls."""

    def __init__(self, host: str) -> None:
        super().__init__(host, "the model said nothing; try again, or another model", retryable=True)


@dataclass(frozen=True, slots=True)
class CallOutcome(Generic[T]):
    """Result of a call, its number of tries, and the total time of tries and waits."""

    result: T
    tries: int
    seconds: float


class Endpoint:
    """One host, and the gate that every request to it passes."""

    def __init__(self, host: str, gate: Gate) -> None:
        self.host = host
        self._gate = gate

    async def ask(self, once: Callable[[], Awaitable[T]], settings: EndpointSettings) -> CallOutcome[T]:
        """Try until it works, the tries are used up or the time is over.

        Raises:
            ServiceFault: it did not work; the message says why, and how often it was tried.
        """
        spent_s, tries = 0.0, 0
        while True:
            entry = await self._gate.enter(settings.total_s - spent_s)
            started = time.monotonic()
            spent_s += entry.rested_s
            tries += 1
            came: Came = "nothing"
            rest_s = 0.0
            limit_s = min(settings.try_s, settings.total_s - spent_s)
            try:
                async with asyncio.timeout(limit_s):
                    result = await once()
                came = "answered"
                return CallOutcome(result, tries, spent_s + time.monotonic() - started)
            except TimeoutError:
                fault = ServiceFault(self.host, f"did not answer within {limit_s:.3g} s", retryable=True)
                # Where waiting took most of the time, it is not the host's fault that the rest was too short.
                came = "failed" if limit_s >= min(settings.try_s, settings.total_s) / 2 else "nothing"
            except ServiceFault as error:
                fault = error
                came = "failed" if error.retryable and not isinstance(error, SaidNothing) else "answered"
                rest_s = error.wait_s if isinstance(error, TryLater) else 0.0
            finally:
                self._gate.leave(entry, came, rest_s)
            spent_s += time.monotonic() - started
            wait_s = _wait_after(fault, tries, settings)
            if wait_s is None or spent_s + wait_s >= settings.total_s:
                raise after_tries(fault, tries) from None
            for hear in tuple(_announcers):
                hear(fault, wait_s)
            await asyncio.sleep(wait_s)
            spent_s += wait_s


def _wait_after(fault: ServiceFault, tries: int, settings: EndpointSettings) -> float | None:
    """Return how long to wait before the next try; None where there is none."""
    # Host unreachable, or an empty reply: once more, in case it was chance; then the user should look.
    most = min(settings.tries, 2) if isinstance(fault, Offline | SaidNothing) else settings.tries
    if not fault.retryable or tries >= most:
        return None
    wait_s = backoff_s(tries, settings.backoff_s, settings.backoff_max_s)
    return wait_s + fault.wait_s if isinstance(fault, TryLater) else wait_s


_endpoints: dict[asyncio.AbstractEventLoop, dict[str, Endpoint]] = {}


def get_endpoint(host: str, settings: EndpointSettings) -> Endpoint:
    """The endpoint of this host that all policies of the running event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _endpoints:
        for ended in [endpoint for endpoint in list(_endpoints) if endpoint.is_closed()]:
            _endpoints.pop(ended, None)
    known = _endpoints.setdefault(loop, {})
    if host not in known:
        wanted = GateSettings(settings.concurrency, settings.breaker_failures, settings.breaker_rest_s)
        known[host] = Endpoint(host, make_gate(host, wanted))
    return known[host]


class InARow:
    """Counts how often in a row a model has failed in the same way."""

    def __init__(self, most: int = MAX_CONSECUTIVE_FAILURES) -> None:
        """Say that it is enough after so many times."""
        self._most = most
        self._trouble, self._count = "", 0

    def is_enough(self, trouble: str) -> bool:
        """Hear of one more photo: the model's trouble with it, empty where there was none; true where to give up."""
        told = _NUMBERS.sub("#", trouble)
        self._count = self._count + 1 if told == self._trouble else 1
        self._trouble = told
        return bool(told) and self._count >= self._most
