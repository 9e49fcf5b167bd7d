"""Rate limit of requests, and limits on their sizes and on open connections.

Each connection takes a descriptor, and a process has few: a client that holds all of them makes the server unreachable.
So connections are capped, for each client address and together, and those that send or read nothing are closed. A new
connection takes the place of the oldest one that asks for nothing, so that a flood closes its own connections first.
"""

import asyncio
import ipaddress
import logging
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from .responses import RequestRefused, refuse

# Maximum number of remembered clients; the least recently seen are dropped first.
MAX_CLIENTS = 4096

JSON_BYTES = 1_000_000
# Timeout in seconds for the next piece of a body, and for a small body as a whole.
PIECE_TIMEOUT_S = 30.0
# How much of a body that is too large is let go by before the answer, or twice the cap, and for how long.
PASSING_BYTES, PASSING_S = 4 * 1024**2, 10.0
# Connections accepted at a time before those over the caps are closed.
ACCEPT_BATCH = 8
# Timeout in seconds for the head of a request.
HEAD_TIMEOUT_S = 10.0
# Maximum seconds between requests on one connection.
IDLE_TIMEOUT_S = 30.0
# Seconds for which a client may leave a response unread; event streams have a shorter limit of their own.
WRITE_TIMEOUT_S = 120.0
_MAX_TOGETHER, _MAX_EACH = 2048, 512
_OWN_FILES = 96


class Pace:
    """A bucket of tokens for each client: it fills at a steady rate, and every request takes one out."""

    def __init__(
        self,
        per_s: float,
        burst: float,
        *,
        most_clients: int = MAX_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allow so many requests a second, and so many at once after a rest."""
        self._per_s, self._burst, self._most, self._clock = per_s, burst, most_clients, clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._clients)

    def wait_s(self, client: str, cost: float = 1.0) -> float:
        """Take a request's cost; if too little is left, take nothing and return the wait."""
        now = self._clock()
        left, at = self._clients.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_s)
        needed = max(cost, 1.0)
        allowed = left >= needed
        self._clients[client] = (left - cost if allowed else left, now)
        while len(self._clients) > self._most:
            self._clients.popitem(last=False)
        return 0.0 if allowed else (needed - left) / self._per_s


class Streams:
    """Number of open streams, per client and in total."""

    def __init__(self, each: int, together: int) -> None:
        """Allow so many."""
        self._each, self._together = each, together
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_more(self, client: str) -> Iterator[None]:
        """Hold a stream for as long as the block lasts.

        Raises:
            Refused: there are enough.
        """
        if self._open[client] >= self._each or self._open.total() >= self._together:
            if not self._open[client]:
                del self._open[client]
            raise RequestRefused(429, "busy", "too many streams are open; close some", headers={"Retry-After": "5"})
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]


class Paced:
    """Middleware that makes clients who ask too fast wait."""

    def __init__(self, app: ASGIApp, *, pace: Pace) -> None:
        """Wrap an app."""
        self._app, self._pace = app, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say how long to wait."""
        if scope["type"] == "http" and (wait_s := self._pace.wait_s(identify_client(scope))):
            after = str(math.ceil(wait_s))
            refused = RequestRefused(
                429, "busy", f"too many requests; try again in {after} s", headers={"Retry-After": after}
            )
            await refuse(refused, scope, receive, send)
            return
        await self._app(scope, receive, send)


def identify_client(scope: Scope) -> str:
    """Return the client: its IPv4 address, or its IPv6 network, since one machine has many IPv6 addresses."""
    peer = scope.get("client")
    name = str(peer[0]) if peer else ""
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Bodies:
    """Middleware that stops bodies that are too large or too slow, before they are held in memory."""

    def __init__(self, app: ASGIApp, *, most_bytes: Callable[[str], int], piece_s: float = PIECE_TIMEOUT_S) -> None:
        """Wrap an app; ``most_bytes`` gives the cap of a path."""
        self._app, self._most_bytes, self._piece_s = app, most_bytes, piece_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on while watching its body, or refuse it by its announced length."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cap = self._most_bytes(scope["path"])
        announced = Headers(scope=scope).get("content-length", "")
        # A number of more digits than any cap has is not even read.
        if announced.isdigit() and (len(announced) > 15 or int(announced) > cap):
            await _let_pass(receive, cap)
            await refuse(too_large(cap), scope, receive, send)
            return
        came, whole = 0, False
        clock = asyncio.get_running_loop().time
        until = clock() + self._piece_s

        async def receive_limited() -> Message:
            nonlocal came, whole, until
            if whole:
                return await receive()
            if cap > JSON_BYTES:
                until = clock() + self._piece_s
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as error:
                raise RequestRefused(408, "slow", "the request's body stopped coming; send it again") from error
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if came > cap:
                    if not whole:
                        await _let_pass(receive, cap)
                    raise too_large(cap)
            return message

        await self._app(scope, receive_limited, send)


async def _let_pass(receive: Receive, cap: int) -> None:
    """Discard more of a body: a client that still sends when we close never sees our answer."""
    passed, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(PASSING_S):
            while more and passed < max(PASSING_BYTES, 2 * cap):
                message = await receive()
                passed += len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)


def too_large(cap: int) -> RequestRefused:
    """Return the refusal of a body over a cap."""
    shown = f"{cap / 1024**2:.0f} MiB" if cap >= 1024**2 else f"{cap // 1000} kB"
    # Closed, since the rest of the body would have to be read before the next request.
    return RequestRefused(413, "size", f"that is too large; at most {shown} are taken", headers={"Connection": "close"})


@dataclass(frozen=True, slots=True)
class ConnectionCaps:
    """Maximum numbers of open connections, per client address and in total."""

    each: int
    together: int


def compute_connection_caps(descriptors: int | None) -> ConnectionCaps:
    """Return the caps for a process that may open so many files; None if unknown.

    A quarter of them, and at least 96, is left for databases, uploads, pipes to workers and files of the page.
    """
    together = _MAX_TOGETHER
    if descriptors is not None:
        together = max(8, min(together, descriptors - max(_OWN_FILES, descriptors // 4)))
    return ConnectionCaps(max(6, min(_MAX_EACH, together * 3 // 4)), together)


def own_caps() -> ConnectionCaps:
    """Return the caps for this process."""
    try:
        import resource
    except ImportError:
        return compute_connection_caps(None)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return compute_connection_caps(None if limit == resource.RLIM_INFINITY else limit)


class Connections:
    """Every connection that is open, oldest first."""

    def __init__(self, caps: ConnectionCaps) -> None:
        """Start without connections."""
        self._caps = caps
        self._open: dict[GuardedProtocol, str] = {}
        self._of_client: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: "GuardedProtocol", client: str) -> bool:
        """Add a connection, in place of an older one if there are too many; False if there is no room."""
        full = self._of_client[client] >= self._caps.each
        if full or len(self._open) >= self._caps.together:
            rivals = [one for one, whose in self._open.items() if whose == client or not full]
            oldest = next((rival for rival in rivals if not rival.busy), None)
            oldest = oldest or next((rival for rival in rivals if rival.receiving), None)
            if oldest is None:
                return False
            self.remove(oldest)
            oldest.drop()
        self._open[new] = client
        self._of_client[client] += 1
        return True

    def remove(self, gone: "GuardedProtocol") -> None:
        """Forget a connection."""
        client = self._open.pop(gone, None)
        if client is not None:
            self._of_client[client] -= 1
            if not self._of_client[client]:
                del self._of_client[client]


class GuardedProtocol(H11Protocol):
    """A connection that is closed where its client sends or reads nothing for too long."""

    def __init__(self, connections: Connections, **arguments: Any) -> None:
        """Begin a connection, to be held by ``connections``."""
        super().__init__(**arguments)
        self._held_by = connections
        self._waiting: asyncio.TimerHandle | None = None
        self._waiting_for_head = False
        self._unread: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Return whether a request is in progress."""
        cycle: RequestResponseCycle | None = self.cycle  # there is none before the first request
        return cycle is not None and not cycle.response_complete

    @property
    def receiving(self) -> bool:
        """Return whether the current request is not yet complete."""
        return self.busy and self.cycle.more_body

    def drop(self) -> None:
        """Close at once, even with data still to be sent."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Add the connection, or close it if there are too many."""
        super().connection_made(transport)
        if self._held_by.add(self, identify_client({"client": self.client})):
            self._wait_for_head()
        else:
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._held_by.remove(self)
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data; an incomplete head does not extend its time limit."""
        super().data_received(data)
        if self.busy:
            self._stop_waiting()
        elif not self._waiting_for_head:
            self._wait_for_head()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._stop_waiting()
        if not self.busy:
            self._waiting = self.loop.call_later(IDLE_TIMEOUT_S, self.drop)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(WRITE_TIMEOUT_S, self.drop)

    def resume_writing(self) -> None:
        """Resume writing."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._waiting_for_head = True
        self._waiting = self.loop.call_later(HEAD_TIMEOUT_S, self.drop)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._waiting_for_head = False


def guarding(connections: Connections) -> type[H11Protocol]:
    """Return the protocol of a server whose connections are held by ``connections``."""

    class Guarded(GuardedProtocol):
        def __init__(self, **arguments: Any) -> None:
            super().__init__(connections, **arguments)

    return Guarded


class SparseLog(logging.Filter):
    """Passes so many records a minute, and counts those it dropped, so that clients can't fill the disk with logs."""

    def __init__(self, per_minute: int = 20) -> None:
        """Start with no records."""
        super().__init__()
        self._most, self._since, self._count = per_minute, time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        now = time.monotonic()
        if now - self._since >= 60:
            left_out = max(0, self._count - self._most)
            self._since, self._count = now, 0
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out:,} earlier lines were left out)", ()
        self._count += 1
        return self._count <= self._most
