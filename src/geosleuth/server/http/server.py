"""The server itself: one process, one event loop, and an end within two seconds, even with streams open."""

import asyncio
import logging
import socket
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from geosleuth.server import CaseService
from geosleuth.server.handover import announce_server
from geosleuth.support.console import show_json, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.net import is_loopback

from .application import make_app
from .auth import Hosts, normalize_hosts
from .keys import Keys
from .limits import ACCEPT_BATCH, IDLE_TIMEOUT_S, ConnectionCaps, Connections, SparseLog, guarding, own_caps
from .state import ServeSettings, State

# Seconds that open streams and requests get to finish at shutdown.
STOP_TIMEOUT_S = 1

_BACKLOG = 512
_ANY = ("", "0.0.0.0", "::")  # noqa: S104 -- compared, not listened at
_UNREAD = "ASGI callable returned without completing response."
_CANCELLING = "Cancel %s running task(s), timeout graceful shutdown exceeded"


def build_serve_settings(host: str, allowed_hosts: Sequence[str], token: str | None) -> ServeSettings:
    """Return who may use a server that listens at a host.

    Raises:
        BadInput: an allowed name is not a host.
    """
    names = normalize_hosts(allowed_hosts)
    if len(names) < len({item.strip().lower() for item in allowed_hosts}):
        raise BadInput("--allowed-host takes a name such as photos.example.org, without http:// and path")
    own = normalize_hosts([host]) if host not in _ANY else frozenset()
    return ServeSettings(hosts=Hosts(names | own, by_address=not is_loopback(host)), token=token)


def run_server(
    listener: socket.socket,
    settings: ServeSettings,
    folder: Path,
    workers: int,
    *,
    open_page: bool,
    as_json: bool,
) -> int | None:
    """Serve until stopped; return the signal that stopped it.

    Raises:
        BadInput: the folder can't be used, or another server works on it.
    """
    return asyncio.run(_serve(listener, settings, folder, workers, open_page=open_page, as_json=as_json))


class _Server(uvicorn.Server):
    """Ends its streams as soon as it is asked to stop, and leaves without raising the signal a second time."""

    stopped_by: int | None = None

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping, self._loop = stopping, asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start to stop; on a second signal, stop at once."""
        self.stopped_by = sig
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, with a longer backlog than connections accepted at once."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(_BACKLOG)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


async def _serve(
    listener: socket.socket,
    settings: ServeSettings,
    folder: Path,
    workers: int,
    *,
    open_page: bool,
    as_json: bool,
) -> int | None:
    keys, caps = Keys(), own_caps()
    settings = _with_room_beside_streams(settings, caps)
    async with await CaseService.open(
        folder, workers=workers, limits=settings.limits, keys=keys.environment, profile=settings.profile
    ) as service:
        app = make_app(service, settings, keys=keys)
        state: State = app.state.geosleuth
        server = _Server(_config(app, caps), state.stopping)
        url = format_address(listener) + ("/#/review" if settings.review is not None else "")
        announcing = asyncio.create_task(_announce(server, url, open_page=open_page, as_json=as_json))
        try:
            with announce_server(folder, format_address(listener), state.handover_key):
                await server.serve(sockets=[listener])
        finally:
            announcing.cancel()
            if state.review is not None:
                state.review.close()
        return server.stopped_by


def _with_room_beside_streams(settings: ServeSettings, caps: ConnectionCaps) -> ServeSettings:
    """Return settings with fewer streams than connections, so that a client with all its streams can still ask."""
    each, together = caps.each // 2, caps.together * 3 // 4
    return replace(
        settings,
        streams_each=min(settings.streams_each, each),
        streams_together=min(settings.streams_together, together),
    )


def _config(app: FastAPI, caps: ConnectionCaps) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_tells_trouble)
    sparse = SparseLog()
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(sparse)
    return uvicorn.Config(
        app,
        http=guarding(Connections(caps)),
        ws="none",
        loop="asyncio",
        log_level="error",
        access_log=False,
        server_header=False,
        # Addresses in headers are unverified: a client can write anything there.
        proxy_headers=False,
        # Not only how many may wait: so many are accepted before the first of them is looked at.
        backlog=ACCEPT_BATCH,
        timeout_keep_alive=round(IDLE_TIMEOUT_S),
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
    )


def _tells_trouble(record: logging.LogRecord) -> bool:
    """Return whether a record is of trouble: requests that are cancelled as the server stops are none."""
    cancelled = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cancelled and record.msg not in (_UNREAD, _CANCELLING)


def format_address(listener: socket.socket) -> str:
    """Return where browsers find us."""
    host, port = listener.getsockname()[:2]
    if host in _ANY:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _announce(server: uvicorn.Server, url: str, *, open_page: bool, as_json: bool) -> None:
    # The server says that it has started by nothing but this.
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    talk(f"geosleuth serves at {url} (stop with Ctrl-C)")
    if as_json:
        show_json({"url": url})
        sys.stdout.flush()
    if open_page:
        await asyncio.to_thread(webbrowser.open, url)
