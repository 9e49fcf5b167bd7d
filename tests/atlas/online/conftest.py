"""A real server on this machine that answers, or misbehaves, as a test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class LocalService:
    """Replies by path: JSON (list, dict), bytes, (status, headers, body) or a function that writes to the socket.

    Several replies are given in turn; the last one stays.
    """

    url: str = ""
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    _replies: dict[str, list[Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, *replies: Any) -> None:
        self._replies[path] = list(replies)

    def next_reply(self, path: str) -> Any:
        with self._lock:
            replies = self._replies.get(path) or self._replies.get("*")
            if not replies:
                return (404, {}, b"no such path")
            return replies.pop(0) if len(replies) > 1 else replies[0]

    @property
    def last(self) -> Asked:
        return self.asked[-1]


@pytest.fixture
def service() -> Iterator[LocalService]:
    local = LocalService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            params = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            local.asked.append(Asked(self.command, parts.path, params, headers, body, time.monotonic()))
            reply = local.next_reply(parts.path)
            if callable(reply):
                self.close_connection = True
                reply(self)
                return
            if isinstance(reply, dict | list):
                reply = (200, {"content-type": "application/json"}, json.dumps(reply).encode())
            if isinstance(reply, bytes):
                reply = (200, {}, reply)
            status, extra, content = reply
            self.send_response(status)
            for name, value in extra.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client hung up, as some tests mean it to
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    local.port = server.server_address[1]
    local.url = f"http://127.0.0.1:{local.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield local
    local.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def settings(service: LocalService, tmp_path: Path) -> Callable[..., OnlineSettings]:
    """Settings that send every provider to the local server, with short times."""

    def make(**changes: Any) -> OnlineSettings:
        usual: dict[str, Any] = {
            "allow_hosts": frozenset({"127.0.0.1"}),
            "private_hosts": frozenset({"127.0.0.1"}),
            "base_urls": dict.fromkeys(ONLINE_NAMES, service.url),
            "cache_path": tmp_path / "cache" / "online.sqlite",
            "tries": 3,
            "backoff_s": 0.01,
            "backoff_max_s": 0.05,
            "connect_s": 5.0,
            "read_s": 5.0,
            "total_s": 20.0,
            "breaker_failures": 100,
        }
        return OnlineSettings(**(usual | changes))

    return make


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GOOGLE_MAPS_API_KEY", "AMAP_KEY", "OPENCAGE_KEY"):
        monkeypatch.setenv(variable, f"sesame+{variable.lower()}/42=")
