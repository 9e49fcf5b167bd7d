"""A model server on loopback that says what a script says, and fails in every way a server can.

    with openai_server([chat_reply("Rome"), failure(500)]) as url:
        policy = make_policy("server:any", base_url=url)
        ...
        assert url.requests[0].json["model"] == "any"

The replies are used in order; the last one is repeated. A reply may also be a function of the request. Other formats
than OpenAI's are served as well: a reply is just a status, headers and a body, whatever the path.
"""

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from geosleuth.models.box_probe import QUESTION, SQUARE
from geosleuth.models.hosted.client import LISTING_USER_AGENT

Manner = Literal["whole", "cut", "endless", "dripping", "silent", "hang_up"]
"""How a reply is sent: as it should be; only its first half; on and on; a byte at a time; never; the connection is just
closed."""


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def images(self) -> list[bytes]:
        """The files of all images in it, in their order, in whichever format they came."""
        return list(_images_in(self.json))


@dataclass(frozen=True)
class Reply:
    """What the server sends back, and how; ``delay_s`` is how long it takes its time first."""

    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    manner: Manner = "whole"


Line = Reply | Callable[[Request], Reply]


def chat_reply(
    text: str | None = None,
    calls: Sequence[tuple[str, Any]] = (),
    *,
    finish: str | None = None,
    thinking: str | None = None,
    ids: Sequence[str] | None = None,
    tokens: tuple[int, int] = (100, 20),
    cached: int = 0,
    thought: int | None = None,
    delay_s: float = 0.0,
    manner: Manner = "whole",
) -> Reply:
    """A chat completion; arguments of calls that are text are sent as they are, however broken."""
    made = [
        {
            "id": ids[at] if ids else f"id-{at}-{name}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for at, (name, given) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if made:
        message["tool_calls"] = made
    if thinking is not None:
        message["reasoning_content"] = thinking
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served-model-1",
        "choices": [
            {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if made else "stop")},
        ],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
            "prompt_tokens_details": {"cached_tokens": cached},
            **({} if thought is None else {"completion_tokens_details": {"reasoning_tokens": thought}}),
        },
    }
    return Reply(json.dumps(body).encode(), delay_s=delay_s, manner=manner)


def failure(status: int, message: str = "trouble", **headers: str) -> Reply:
    """An error as OpenAI words it; headers are written with underscores."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


class ServerUrl(str):
    """The address to give as ``base_url``, with what was asked there."""

    requests: list[Request]
    most_at_once: int
    connections: int
    tells_itself: bool = False
    """The script replies as well where nobody is located: to questions for the list of models, and for a drawn box."""

    def __new__(cls, value: str) -> "ServerUrl":
        made = super().__new__(cls, value)
        made.requests, made.most_at_once, made.connections = [], 0, 0
        return made

    @property
    def root(self) -> str:
        """The address without /v1, for providers that add a path of their own."""
        return self.removesuffix("/v1")


@contextmanager
def openai_server(replies: Iterable[Line]) -> Iterator[ServerUrl]:
    """Serve until the block ends."""
    script = list(replies)
    loop = asyncio.new_event_loop()
    started = threading.Event()
    box: list[_Server] = []

    async def main() -> None:
        server = _Server(script)
        await server.start()
        box.append(server)
        started.set()
        await server.stopped.wait()
        await server.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert started.wait(10), "the test server did not start"
    try:
        yield box[0].url
    finally:
        loop.call_soon_threadsafe(box[0].stopped.set)
        thread.join(10)
        loop.close()


class _Server:
    def __init__(self, script: list[Line]) -> None:
        self._script = script
        self._now = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopped = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = ServerUrl(f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1")

    async def close(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.url.connections += 1
        try:
            # Called off when the server stops; asyncio's own callback would print a traceback of that.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._serve_one(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(head[0].split(" ")[1], headers, body)
        if (aside := _aside(request)) is not None and not self.url.tells_itself:
            return await _send(writer, aside)
        line = self._script[min(len(self.url.requests), len(self._script) - 1)]
        self.url.requests.append(request)
        self._now += 1
        self.url.most_at_once = max(self.url.most_at_once, self._now)
        try:
            return await _send(writer, line(request) if callable(line) else line)
        finally:
            self._now -= 1


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Send a reply; whether the connection can be used again."""
    await asyncio.sleep(reply.delay_s)
    if reply.manner == "hang_up":
        return False
    if reply.manner == "silent":
        await asyncio.sleep(3600)
    length = [] if reply.manner == "endless" else [f"Content-Length: {len(reply.body)}"]
    extra = [f"{name}: {value}" for name, value in reply.headers.items()]
    head = [f"HTTP/1.1 {reply.status} Said", f"Content-Type: {reply.content_type}", *length, *extra, "", ""]
    writer.write("\r\n".join(head).encode("latin-1"))
    if reply.manner == "cut":
        writer.write(reply.body[: len(reply.body) // 2])
        await writer.drain()
        return False
    if reply.manner == "dripping":
        for byte in reply.body:
            writer.write(bytes((byte,)))
            await writer.drain()
            await asyncio.sleep(0.05)
        return True
    writer.write(reply.body)
    await writer.drain()
    while reply.manner == "endless":
        writer.write(b" " * 4096)
        await writer.drain()
        await asyncio.sleep(0.002)
    return True


def _aside(request: Request) -> Reply | None:
    """What is said beside the script: there is no list of models, and boxes are in pixels."""
    if request.headers.get("user-agent") == LISTING_USER_AGENT:
        return failure(404)
    if QUESTION.encode()[:60] in request.body:
        return chat_reply(json.dumps({"bbox_2d": SQUARE}))
    return None


def _images_in(value: Any) -> Iterator[bytes]:
    """Data of images as OpenAI, Anthropic, Google and Bedrock write them."""
    if isinstance(value, list):
        for one in value:
            yield from _images_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, str) and one.startswith("data:image/"):
                yield base64.b64decode(one.partition("base64,")[2])
            elif isinstance(one, str) and name in ("data", "bytes"):
                yield _from_base64(one)
            else:
                yield from _images_in(one)


def _from_base64(text: str) -> bytes:
    # Google's form of base64 has other characters, and may lack the padding.
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
