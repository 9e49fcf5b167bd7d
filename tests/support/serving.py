"""A real server on this machine, for tests: in a process of its own as users start it, or in a thread of the test's.

with served(home) as server:
    case = server.case(photo_bytes())
    run = server.start(case, model=f"replay:{recording}")
    told = list(server.told(run))
"""

import asyncio
import io
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx
from PIL import Image, ImageDraw

from foreground import hear_ctrl_c
from geosleuth.agent import TrajectoryWriter, run
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup
from geosleuth.answer import parse_lenient
from geosleuth.models import Step
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import Album, Photo
from geosleuth.tools import Case, ToolCall, Toolset
from geosleuth.tools.toolset import all_tools
from signs import camera_exif

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas
    from geosleuth.server.http import ServeSettings

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
OVER = ("done", "failed", "cancelled", "interrupted")
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "city": "Monaco", "country": "Monaco", "probability": 0.7}'
MOST_STREAMS, MOST_BYTES = 4, 2_000_000
"""What the cramped server of the tests takes."""

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass
class Told:
    """An event as it came over the wire, with when it happened and when it came."""

    id: int
    kind: str
    data: dict[str, Any]
    at: float
    came: float


@dataclass
class Served:
    """A server to talk to."""

    url: str
    process: "subprocess.Popen[str] | None" = None
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def case(self, *photos: bytes, title: str = "") -> str:
        """A new case with these photos."""
        made = self.client.post("/api/cases", json={"title": title})
        assert made.status_code == 201, made.text
        case = str(made.json()["id"])
        for photo in photos:
            added = self.upload(case, photo)
            assert added.status_code == 201, added.text
        return case

    def upload(self, case: str, photo: bytes, name: str = "photo.jpg") -> httpx.Response:
        """Send a photo."""
        kind = {"Content-Type": "application/octet-stream"}
        return self.client.post(f"/api/cases/{case}/photos", params={"name": name}, content=photo, headers=kind)

    def start(self, case: str, **request: Any) -> str:
        """Start a run."""
        made = self.client.post(f"/api/cases/{case}/runs", json=request)
        assert made.status_code == 202, made.text
        return str(made.json()["id"])

    def locate(self, photo: bytes, **query: Any) -> httpx.Response:
        """Send a photo and wait for the answer."""
        kind = {"Content-Type": "application/octet-stream"}
        return self.client.post("/api/locate", params=query, content=photo, headers=kind)

    def told(self, run_id: str, after: int | None = None) -> Iterator[Told]:
        """What a run tells, until it is over."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with self.client.stream("GET", f"/api/runs/{run_id}/events", headers=headers) as reply:
            assert reply.status_code in (200, 204), reply.read()
            yield from events_of(reply)

    def state(self, run_id: str) -> str:
        """Where a run stands."""
        return str(self.client.get(f"/api/runs/{run_id}").json()["state"])

    def over(self, run_id: str, seconds: float = 60) -> str:
        """Wait until a run is over; how it ended."""
        until = time.monotonic() + seconds
        while (state := self.state(run_id)) not in OVER:
            assert time.monotonic() < until, f"the run is still {state}"
            time.sleep(0.05)
        return state


def events_of(reply: httpx.Response) -> Iterator[Told]:
    """The events of a stream, as they come."""
    block: list[str] = []
    for line in reply.iter_lines():
        if line:
            block.append(line)
            continue
        if (event := read_event(block)) is not None:
            yield event
        block = []


def read_event(block: list[str]) -> Told | None:
    """One event, from its lines; None where they are none."""
    fields = dict(line.split(": ", 1) for line in block if not line.startswith(":") and ": " in line)
    if "data" not in fields:
        return None
    at = next((float(line.removeprefix(": at ")) for line in block if line.startswith(": at ")), 0.0)
    return Told(int(fields["id"]), fields["event"], json.loads(fields["data"]), at, time.time())


@contextmanager
def served(home: Path | None, *arguments: str, environment: Mapping[str, str] = NOTHING) -> Iterator[Served]:
    """The command in a process of its own, as users start it, with a home of its own or theirs; ended with Ctrl-C."""
    process = started(home, *arguments, environment=environment)
    try:
        server = Served(url_of(process), process)
        with server.client:
            yield server
    finally:
        stop(process)


def started(home: Path | None, *arguments: str, environment: Mapping[str, str] = NOTHING) -> "subprocess.Popen[str]":
    """The command, just begun, on any free port."""
    own = {} if home is None else {"GEOSLEUTH_HOME": str(home)}
    return subprocess.Popen(
        [GEOSLEUTH, "serve", "--port", "0", "--json", *arguments],
        env={**os.environ, **own, "PYTHONUTF8": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509  (one call, before any other)
    )


def url_of(process: "subprocess.Popen[str]") -> str:
    """Wait until the server is ready."""
    lines: queue.Queue[str] = queue.Queue()
    out = process.stdout
    assert out is not None
    threading.Thread(target=lambda: lines.put(out.readline()), daemon=True).start()
    line = lines.get(timeout=60)
    assert line, process.communicate(timeout=10)[1]
    return str(json.loads(line)["url"])


def stop(process: "subprocess.Popen[str]", seconds: float = 10) -> float:
    """Ctrl-C; how long it took to end."""
    begin = time.monotonic()
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        process.wait(seconds)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return time.monotonic() - begin


@contextmanager
def served_here(
    folder: Path, settings: "ServeSettings | None" = None, *, workers: int = 1, send_buffer: int | None = None
) -> Iterator[Served]:
    """A server in a thread of this process, for settings that the command does not have.

    With a small buffer a reader who does not read is noticed at once; this machine's own connections have huge ones.
    """
    import uvicorn

    from geosleuth.server import CaseService
    from geosleuth.server.http import Keys, ServeSettings, make_app

    chosen = settings or ServeSettings()
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    if send_buffer is not None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    ready = threading.Event()
    held: dict[str, Any] = {}

    async def work() -> None:
        keys = Keys()
        async with await CaseService.open(
            folder, workers=workers, limits=chosen.limits, keys=keys.environment
        ) as service:
            app = make_app(service, chosen, keys=keys)
            config = uvicorn.Config(app, http="h11", ws="none", log_level="critical", timeout_graceful_shutdown=1)
            held["server"] = uvicorn.Server(config)
            held["stop"] = app.state.geosleuth.stopping.set
            held["loop"] = asyncio.get_running_loop()
            held["service"] = service
            ready.set()
            await held["server"].serve(sockets=[listener])

    def body() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            held["error"] = error
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=body, name="server", daemon=True)
    thread.start()
    assert ready.wait(60)
    assert "error" not in held, held["error"]
    server = Served(f"http://127.0.0.1:{listener.getsockname()[1]}")
    try:
        with server.client:
            yield server
    finally:
        held["server"].should_exit = True
        with suppress(RuntimeError):
            held["loop"].call_soon_threadsafe(held["stop"])
        thread.join(20)
        listener.close()


def photo_bytes(*lines: str, size: tuple[int, int] = (480, 320), form: str = "JPEG") -> bytes:
    """A picture with something written on it."""
    picture = Image.new("RGB", size, (236, 231, 219))
    pen = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        pen.text((20, 30 + 60 * number), line, fill=(20, 20, 20), font_size=36)
    stream = io.BytesIO()
    picture.save(stream, form, exif=camera_exif())
    return stream.getvalue()


def drawing_bytes(*lines: str) -> bytes:
    """The same as a file that names no camera, so that it is judged by its pixels."""
    stream = io.BytesIO()
    with Image.open(io.BytesIO(photo_bytes(*lines))) as image:
        image.save(stream, "PNG")
    return stream.getvalue()


@cache
def steps(turns: int, answer: str = ANSWER, thought: str = "The lettering is French.") -> tuple[Step, ...]:
    """So many turns that look closer, then the answer."""
    look = [
        Step(
            "",
            thought,
            (ToolCall(f"c{turn}", "image_zoom_in_tool", {"bbox_2d": [10, 10, 200 + turn, 200]}),),
            finish="calls",
        )
        for turn in range(turns)
    ]
    return (*look, Step(answer, "That settles it."))


def recording(path: Path, turns: int = 3, *, answer: str = ANSWER, thought: str = "The lettering is French.") -> Path:
    """A recorded run, for ``replay:FILE``."""
    from typing import cast

    album = Album()
    album.add(Photo(Image.new("RGB", (480, 320))))
    toolset = Toolset([one for one in all_tools() if one.name == "image_zoom_in_tool"])
    policy = ReplayPolicy(steps(turns, answer, thought))

    async def make() -> None:
        from dataclasses import replace

        from geosleuth.agent import Budget

        chosen = replace(method("default"), budget=Budget(turns=turns + 2), read_answer=parse_lenient)
        with TrajectoryWriter(path) as store:
            # The one tool of this run asks no atlas.
            await run(
                Case(album, cast("Atlas", None)), AgentSetup(method=chosen, policy=policy, toolset=toolset), store=store
            )

    asyncio.run(make())
    return path
