"""State that the routes share: the service, permissions, rate limits, and server-sent events.

A reader that reconnects sends the id of the last event that it saw. One that does not read delays no other: its
own stream waits, and is closed in the end.
"""

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from geosleuth.server import CaseService, ServiceLimits, StreamEvent

from .auth import Hosts, Sessions
from .keys import Keys
from .limits import Pace, Streams, identify_client
from .responses import RequestRefused, refuse

if TYPE_CHECKING:
    from anyio import CapacityLimiter

    from geosleuth.atlas.tiles import TileMaker
    from geosleuth.server.review import Review

HEARTBEAT_S = 15.0
# Seconds for which a reader may leave its stream unread before it is closed.
WRITE_TIMEOUT_S = 60.0

# Milliseconds after which a browser that lost its stream should reconnect.
RECONNECT_MS = 1000

_MAX_WRITTEN = 1024
_MAX_WAITING = 256 * 1024


class EventWriter:
    """Serialises events; an event for many readers is serialised once."""

    def __init__(self, most: int = _MAX_WRITTEN) -> None:
        """Cache so many events."""
        self._most = most
        self._written: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def text(self, run: str, event: StreamEvent) -> bytes:
        """Return one event. JSON has no bare line breaks, so that what a photo says can't end an event."""
        known = self._written.get((run, event.id))
        if known is None:
            data = json.dumps(event.data, separators=(",", ":"), allow_nan=False)
            # The time goes as a comment, for measurements; event readers skip it.
            known = f": at {event.at:.6f}\nid: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode("ascii")
            self._written[run, event.id] = known
            while len(self._written) > self._most:
                self._written.popitem(last=False)
        return known

    def forget(self, run: str) -> None:
        """Drop a run's events."""
        for key in [key for key in self._written if key[0] == run]:
            del self._written[key]


class EventStream(Response):
    """A response that lasts until the run ends, the reader leaves, or the server stops."""

    media_type = "text/event-stream"

    def __init__(
        self,
        run: str,
        events: AsyncIterator[StreamEvent],
        state: "State",
        *,
        headers: Mapping[str, str] | None = None,
        done: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Stream an iterator's events of a run to a reader; ``done`` is called when it ends."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._run, self._events, self._writer = run, events, state.writer
        self._streams, self._stopping = state.streams, state.stopping
        self._heartbeat_s, self._write_s = state.settings.heartbeat_s, state.settings.write_s
        self._done = done
        self._wrote_at = 0.0
        self._waiting = bytearray()
        self._some, self._room = asyncio.Event(), asyncio.Event()
        self._complete = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events as they come."""
        try:
            with self._streams.one_more(identify_client(scope)):
                await self._converse(receive, send)
        except RequestRefused as refused:
            await refuse(refused, scope, receive, send)
        finally:
            if isinstance(self._events, AsyncGenerator):
                await self._events.aclose()
            if self._done is not None:
                await self._done()

    async def _converse(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send_body(send, b"retry: %d\n\n" % RECONNECT_MS)
        collecting, leaving = asyncio.ensure_future(self._collect()), asyncio.ensure_future(gone(receive))
        ends_it: list[asyncio.Task[Any]] = [
            asyncio.ensure_future(self._send_events(send)),
            asyncio.ensure_future(self._beat(send)),
            asyncio.ensure_future(self._stopping.wait()),
            leaving,
        ]
        try:
            await asyncio.wait(ends_it, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = leaving.done()
            for item in (*ends_it, collecting):
                item.cancel()
            ends = await asyncio.gather(*ends_it, collecting, return_exceptions=True)
        # A client that stopped reading gets no proper end: it would not read that either, and comes back for the rest.
        if any(isinstance(end, TimeoutError) for end in ends):
            return
        for end in ends:
            if isinstance(end, Exception) and not left:
                raise end
        if not left:
            with suppress(TimeoutError):
                await self._send_body(send, b"", more=False)

    async def _collect(self) -> None:
        """Collect events; those that arrive during a send are batched into the next one."""
        try:
            async for event in self._events:
                self._waiting += self._writer.text(self._run, event)
                self._some.set()
                while len(self._waiting) > _MAX_WAITING:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._complete = True
            self._some.set()

    async def _send_events(self, send: Send) -> None:
        while self._waiting or not self._complete:
            await self._some.wait()
            self._some.clear()
            together, self._waiting = bytes(self._waiting), bytearray()
            self._room.set()
            if together:
                await self._send_body(send, together)

    async def _beat(self, send: Send) -> None:
        """Send a comment periodically, so that proxies keep the stream open."""
        while True:
            quiet_s = time.monotonic() - self._wrote_at
            if quiet_s >= self._heartbeat_s:
                await self._send_body(send, b": beat\n\n")
                quiet_s = 0.0
            await asyncio.sleep(self._heartbeat_s - quiet_s)

    async def _send_body(self, send: Send, body: bytes, *, more: bool = True) -> None:
        self._wrote_at = time.monotonic()
        async with asyncio.timeout(self._write_s):
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Access rules and limits of the server.

    Attributes:
        hosts: the names that we answer to.
        token: what clients must show; None if every client on this machine may come in.
        requests_per_s: what one client may ask in the long run.
        burst: what it may ask at once after a rest; a map that opens wants many tiles.
        streams_each: streams of one client.
        streams_together: streams of all.
        heartbeat_s: how long a stream may be silent.
        write_s: how long a reader may leave its stream unread.
        sweep_s: how often cases are looked over whose time is up.
        limits: what the service takes in, as it was opened with.
        review: a batch whose findings are reviewed.
        profile: the set-up of all runs, see `geosleuth.pipeline.profiles`.
    """

    hosts: Hosts = field(default_factory=Hosts)
    token: str | None = field(default=None, repr=False)
    requests_per_s: float = 200.0
    burst: float = 1000.0
    streams_each: int = 256
    streams_together: int = 1024
    heartbeat_s: float = HEARTBEAT_S
    write_s: float = WRITE_TIMEOUT_S
    sweep_s: float = 3600.0
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    review: "Review | None" = None
    profile: str | None = None


class State:
    """Everything that outlives one request."""

    def __init__(self, service: CaseService, keys: Keys, settings: ServeSettings) -> None:
        """Begin with a service that is open."""
        self.service, self.keys, self.settings = service, keys, settings
        self.review, self.handover_key = settings.review, secrets.token_urlsafe(32)
        self.sessions = Sessions(settings.token)
        self.pace = Pace(settings.requests_per_s, settings.burst)
        self.attempts = Pace(0.2, 10.0)
        self.streams = Streams(settings.streams_each, settings.streams_together)
        self.writer = EventWriter()
        self.stopping = asyncio.Event()
        self.tile_limiter: CapacityLimiter | None = None

    @cached_property
    def tiles(self) -> "TileMaker":
        """The map's tiles; nothing of the atlas is opened before the first."""
        from geosleuth.atlas.tiles import TileMaker

        return TileMaker()

    @classmethod
    def from_request(cls, request: Request) -> "State":
        """Return the state of the app that a request came to."""
        found = request.app.state.geosleuth
        if not isinstance(found, cls):
            raise TypeError("the app was not made by make_app")
        return found
