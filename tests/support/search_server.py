"""A real server on this machine that speaks as a search service does, or misbehaves as a test tells it to."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from geosleuth.atlas.online import OnlineSettings
from geosleuth.tools.web import IMAGE_NAMES, WEB_NAMES

KEY = "sesame+opens/the=door~42"
VARIABLES = (
    "TAVILY_API_KEY", "YDC_API_KEY", "BRAVE_API_KEY", "SERPAPI_API_KEY", "SERPER_API_KEY",
)  # fmt: skip


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class SearchServer:
    """Answers by path, in turn, the last one for good: JSON (dict, list), bytes, or (status, headers, bytes).

    A function of the request may stand for any of these.
    """

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    _answers: dict[str, list[Any]] = field(default_factory=dict)

    def answer(self, path: str, *answers: Any) -> None:
        """Say what to answer to a path; ``*`` is any."""
        self._answers[path] = list(answers)

    def next_answer(self, asked: Asked) -> tuple[int, Mapping[str, str], bytes]:
        answers = self._answers.get(asked.path) or self._answers.get("*") or [(404, {}, b"no such path")]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        found = found(asked) if callable(found) else found
        if isinstance(found, dict | list):
            return 200, {"content-type": "application/json"}, json.dumps(found).encode()
        return (200, {"content-type": "text/html"}, found) if isinstance(found, bytes) else found

    @property
    def last(self) -> Asked:
        return self.asked[-1]


@contextmanager
def serving() -> Iterator[SearchServer]:
    """A server for the length of a test."""
    server = SearchServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            params = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, parts.path, params, headers, body)
            server.asked.append(asked)
            status, extra, content = server.next_answer(asked)
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **extra}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _reply  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client hung up, as some tests mean it to
                super().handle()

    class Listener(ThreadingHTTPServer):
        request_queue_size = 128

    listener = Listener(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    listener.block_on_close = False
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def settings_for(server: SearchServer, folder: Path, **changes: Any) -> OnlineSettings:
    """Settings that send every search to the server, with short times."""
    usual: dict[str, Any] = {
        "allow_hosts": frozenset({"127.0.0.1"}),
        "private_hosts": frozenset({"127.0.0.1"}),
        "base_urls": dict.fromkeys((*WEB_NAMES, *IMAGE_NAMES), server.url),
        "cache_path": folder / "cache" / "online.sqlite",
        "tries": 2,
        "backoff_s": 0.01,
        "backoff_max_s": 0.02,
        "breaker_failures": 100,
    }
    return OnlineSettings(**(usual | changes))
