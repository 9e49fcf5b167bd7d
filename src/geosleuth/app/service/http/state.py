"""What the routes share: the service, who may do what how fast, and the word that we are stopping."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fastapi import Request

from geosleuth.app.service import CaseService, ServiceLimits

from .door import Hosts, Sessions
from .keys import Keys
from .limits import Pace, Streams
from .stream import HEARTBEAT_S, WRITE_S, Writer

if TYPE_CHECKING:
    from anyio import CapacityLimiter

    from geosleuth.atlas.tiles import Tiles


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """How the door is kept.

    Attributes:
        hosts: the names that we answer to.
        token: what clients must show; None where everybody on this machine may come in.
        requests_per_s: what one client may ask in the long run.
        burst: what it may ask at once after a rest; a map that opens wants many tiles.
        streams_each: streams of one client.
        streams_together: streams of all.
        heartbeat_s: how long a stream may be silent.
        write_s: how long a reader may leave its stream unread.
        sweep_s: how often cases are looked over whose time is up.
        limits: what the service takes in, as it was opened with.
    """

    hosts: Hosts = field(default_factory=Hosts)
    token: str | None = field(default=None, repr=False)
    requests_per_s: float = 200.0
    burst: float = 1000.0
    streams_each: int = 256
    streams_together: int = 1024
    heartbeat_s: float = HEARTBEAT_S
    write_s: float = WRITE_S
    sweep_s: float = 3600.0
    limits: ServiceLimits = field(default_factory=ServiceLimits)


class State:
    """Everything that outlives one request."""

    def __init__(self, service: CaseService, keys: Keys, settings: ServeSettings) -> None:
        """Begin with a service that is open."""
        self.service, self.keys, self.settings = service, keys, settings
        self.sessions = Sessions(settings.token)
        self.pace = Pace(settings.requests_per_s, settings.burst)
        self.attempts = Pace(0.2, 10.0)
        self.streams = Streams(settings.streams_each, settings.streams_together)
        self.writer = Writer()
        self.stopping = asyncio.Event()
        self.tile_limiter: CapacityLimiter | None = None

    @cached_property
    def tiles(self) -> "Tiles":
        """The map's tiles; nothing of the atlas is opened before the first."""
        from geosleuth.atlas.tiles import Tiles

        return Tiles()

    @classmethod
    def of(cls, request: Request) -> "State":
        """The state of the app that a request came to."""
        found = request.app.state.geosleuth
        if not isinstance(found, cls):
            raise TypeError("the app was not made by make_app")
        return found
