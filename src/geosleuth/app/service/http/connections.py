"""How many connections are held open and for how long, before anybody knows who asks.

Each connection takes a descriptor, and a process has few of them: whoever holds all open makes the server unreachable.
So connections are capped, for each client address and together, and those that send or read nothing are closed. A new
connection takes the place of the oldest one that asks for nothing, so that a flood closes its own connections first.
"""

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from .rates import client_of

ACCEPT_AT_ONCE = 8
"""Connections that are accepted before those over the caps are closed."""

HEAD_S = 10.0
"""How long the head of a request may take to come."""

IDLE_S = 30.0
"""How long a connection may wait for its next request."""

WRITE_S = 120.0
"""How long a client may leave an answer unread; streams of events have a shorter limit of their own."""

_MOST_TOGETHER, _MOST_EACH = 2048, 512
_OWN_FILES = 96


@dataclass(frozen=True, slots=True)
class ConnectionCaps:
    """How many connections are open at most, of each client address and together."""

    each: int
    together: int


def caps_for(descriptors: int | None) -> ConnectionCaps:
    """Return the caps for a process that may open so many files; None where nobody knows.

    A quarter of them, and at least 96, is left for databases, uploads, pipes to workers and files of the page.
    """
    together = _MOST_TOGETHER
    if descriptors is not None:
        together = max(8, min(together, descriptors - max(_OWN_FILES, descriptors // 4)))
    return ConnectionCaps(max(6, min(_MOST_EACH, together * 3 // 4)), together)


def own_caps() -> ConnectionCaps:
    """Return the caps for this process."""
    try:
        import resource
    except ImportError:
        return caps_for(None)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return caps_for(None if limit == resource.RLIM_INFINITY else limit)


class Connections:
    """Every connection that is open, oldest first."""

    def __init__(self, caps: ConnectionCaps) -> None:
        """Hold none yet."""
        self._caps = caps
        self._open: dict[GuardedProtocol, str] = {}
        self._of_client: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: "GuardedProtocol", client: str) -> bool:
        """Take a connection in, in place of an older one where there are too many; False where there is no room."""
        full = self._of_client[client] >= self._caps.each
        if full or len(self._open) >= self._caps.together:
            rivals = [one for one, whose in self._open.items() if whose == client or not full]
            oldest = next((one for one in rivals if not one.busy), None)
            oldest = oldest or next((one for one in rivals if one.receiving), None)
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
        """Whether a request is under way."""
        cycle: RequestResponseCycle | None = self.cycle  # there is none before the first request
        return cycle is not None and not cycle.response_complete

    @property
    def receiving(self) -> bool:
        """Whether the request that is under way has not come whole."""
        return self.busy and self.cycle.more_body

    def drop(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection in, or close it where there are too many."""
        super().connection_made(transport)
        if self._held_by.add(self, client_of({"client": self.client})):
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
        """Read on; bytes that are no whole head yet don't make the wait for it any longer."""
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
            self._waiting = self.loop.call_later(IDLE_S, self.drop)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(WRITE_S, self.drop)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._waiting_for_head = True
        self._waiting = self.loop.call_later(HEAD_S, self.drop)

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
    """Lets so many records a minute through, and says how many it left out: nobody can fill a disk with our log."""

    def __init__(self, per_minute: int = 20) -> None:
        """Begin with none."""
        super().__init__()
        self._most, self._since, self._count = per_minute, time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        now = time.monotonic()
        if now - self._since >= 60:
            left_out = max(0, self._count - self._most)
            self._since, self._count = now, 0
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out:,} earlier lines were left out)", ()
        self._count += 1
        return self._count <= self._most
