"""How fast one client may ask, and how many streams it may hold; what is remembered of clients is bounded."""

import ipaddress
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from .refusals import Refused, refuse

MOST_CLIENTS = 4096
"""Clients that are remembered; of more, whoever has not asked for longest is forgotten."""


class Pace:
    """A bucket of tokens for each client: it fills at a steady rate, and every request takes one out."""

    def __init__(
        self,
        per_s: float,
        burst: float,
        *,
        most_clients: int = MOST_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allow so many requests a second, and so many at once after a rest."""
        self._per_s, self._burst, self._most, self._clock = per_s, burst, most_clients, clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._clients)

    def wait_s(self, client: str, cost: float = 1.0) -> float:
        """Take out what a request costs; where too little is left, nothing is taken and the wait is said."""
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
    """How many streams are open, of each client and together."""

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
            raise Refused(429, "busy", "too many streams are open; close some", headers={"Retry-After": "5"})
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
        """Guard an app."""
        self._app, self._pace = app, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say how long to wait."""
        if scope["type"] == "http" and (wait_s := self._pace.wait_s(client_of(scope))):
            after = str(math.ceil(wait_s))
            refused = Refused(429, "busy", f"too many requests; try again in {after} s", headers={"Retry-After": after})
            await refuse(refused, scope, receive, send)
            return
        await self._app(scope, receive, send)


def client_of(scope: Scope) -> str:
    """Who asks: an address, and of the newer kind the network, since one machine has as many of them as it likes."""
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
