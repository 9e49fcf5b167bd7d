"""The server in this process: what it keeps, what it caps, and that nothing ends it."""

import asyncio
import base64
import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client
from mcp.types import CallToolResult
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.evidence.visual import Cell, Distribution, Reach
from geosleuth.geo import LatLon
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.server.mcp import McpService, PhotoShelf, PhotoSource, make_server
from geosleuth.tools import Case, Output, Toolset, surfaces, tool
from locating import FINAL, ZOOM
from mcp_talk import pictures_of, words_of
from openai_server import openai_server
from serving import drawing_bytes

EXAMPLES = Path(__file__).parents[3] / "examples" / "photos"


@dataclass
class Known:
    """A stand-in for a learned prior: it has made up its mind."""

    name: str = "test photos"

    def look(self, _image: Image.Image) -> Distribution:
        cells = (Cell(1, LatLon(46.2, 2.2), 80.0, "FR", 0.7), Cell(2, LatLon(41.9, 12.5), 60.0, "IT", 0.3))
        reach = Reach(0.4, 0.9, "Such pictures are common in the collection.")
        return Distribution({"FR": 0.7, "IT": 0.3}, {"FR": 0.5, "IT": 0.5}, cells, reach, self.name)


@pytest.fixture(autouse=True)
def _atlas(atlas_home: Path) -> None:
    assert atlas_home.is_dir()


def service_of(**request: Any) -> McpService:
    asked = LocateRequest(prior="none", **request)
    return McpService(make_plan(asked, []), asked, PhotoSource(anywhere=True))


def talk(service: McpService, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def work() -> Any:
        async with Client(make_server(service)) as client:
            return await use(client)

    return asyncio.run(work())


def picture(width: int = 60, height: int = 40, colour: str = "olive") -> str:
    return base64_of(Image.new("RGB", (width, height), colour))


def base64_of(image: Image.Image) -> str:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode()


async def opened(client: Client, data: str) -> str:
    result = await client.call_tool("open_photo", {"data": data})
    assert not result.is_error, words_of(result)
    handle: str = result.structured_content["data"]["photo"]
    return handle


def test_what_is_no_photograph_is_said_when_it_is_opened_and_when_it_is_located() -> None:
    drawn = base64.b64encode(drawing_bytes("Rue Grimaldi")).decode()
    street = base64.b64encode((EXAMPLES / "shop-front.jpg").read_bytes()).decode()

    async def use(client: Client) -> list[CallToolResult]:
        seen = [await client.call_tool("open_photo", {"data": one}) for one in (drawn, street)]
        handle = seen[0].structured_content["data"]["photo"]
        return [*seen, await client.call_tool("locate", {"photos": [handle]})]

    first, second, found = talk(service_of(offline=True), use)
    nature = first.structured_content["data"]["not_a_photo"]
    words = f"looks like a {nature}, not a photograph"
    assert f"It {words}: what it shows may lie elsewhere, or nowhere." in words_of(first)
    assert "not_a_photo" not in second.structured_content["data"]
    assert "not a photograph" not in words_of(second)
    assert words in " ".join(words_of(found).split())
    assert found.structured_content["data"]["photos"][0]["not_a_photo"] == nature


async def zoomed(client: Client, photo: str) -> CallToolResult:
    return await client.call_tool("image_zoom_in_tool", {"photo": photo, "bbox_2d": [0, 0, 20, 20]})


def test_the_longest_unused_photo_makes_room() -> None:
    service = service_of()
    service.shelf = PhotoShelf(photos_kept=2)

    async def use(client: Client) -> list[CallToolResult]:
        first = await opened(client, picture(colour="red"))
        second = await opened(client, picture(colour="green"))
        await zoomed(client, first)
        third = await opened(client, f"data:image/png;base64,{picture(colour='blue')}")
        return [await zoomed(client, one) for one in (first, second, third)]

    kept, gone, newest = talk(service, use)
    assert not kept.is_error
    assert not newest.is_error
    assert gone.is_error
    assert "the newest 2 are kept; open it with open_photo" in words_of(gone)


def test_large_photos_make_room_by_their_pixels() -> None:
    service = service_of()
    service.shelf = PhotoShelf(pixels_kept=5000)

    async def use(client: Client) -> list[CallToolResult]:
        handles = [await opened(client, picture()) for _ in range(3)]
        return [await zoomed(client, one) for one in handles]

    assert [one.is_error for one in talk(service, use)] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("maps_geocode", {"address": "a\ud800b"}),
        ("find_colocated", {"features": ["cafe", "\udfff"]}),
        ("open_photo", {"path": "\ud800.jpg"}),
        ("maps_geocode", {"\ud800": "Monaco"}),
        ("\ud800", {}),
    ],
)
def test_half_a_surrogate_pair_is_a_bad_argument(name: str, arguments: dict[str, Any]) -> None:
    async def tell(_progress: float, _message: str) -> None: ...

    async def work() -> CallToolResult:
        async with service_of() as service:
            return await service.call(name, arguments, tell)

    done = asyncio.run(work())
    assert done.is_error
    assert "half of a surrogate pair" in words_of(done)
    done.model_dump_json()


def test_handles_can_not_be_guessed() -> None:
    async def use(client: Client) -> list[str]:
        return [await opened(client, picture()) for _ in range(2)]

    first, second = talk(service_of(), use)
    assert first != second
    assert len(first) >= 22


def test_a_prior_keeps_its_schema() -> None:
    service = service_of()
    service.plan = replace(service.plan, searches=replace(service.plan.searches, visual=Known()))

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool("visual_prior", {"photo": await opened(client, picture())})

    done = talk(service, use)
    assert not done.is_error, words_of(done)
    assert done.structured_content["data"]["cells"][0]["country"] == "FR"


def test_a_picture_that_no_message_could_hold_is_shown_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces, "PICTURE_BYTES", 40_000)
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (700, 700, 3), dtype=np.uint8))

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool("open_photo", {"data": base64_of(noise)})

    done = talk(service_of(), use)
    (shown,) = pictures_of(done)
    assert len(shown.data) < 40_000 * 4 / 3 + 4
    assert Image.open(io.BytesIO(base64.b64decode(shown.data))).width < 700
    assert "shown smaller than it is" in words_of(done)
    assert done.structured_content["images"][0]["width"] == 700


def test_a_bug_in_a_tool_is_told_and_does_not_end_the_server() -> None:
    @tool("broken")
    async def broken(case: Case) -> Output:
        """Fail."""
        raise ZeroDivisionError(f"secret {case}")

    service = service_of()
    service.toolset = Toolset([broken])

    async def use(client: Client) -> tuple[CallToolResult, CallToolResult]:
        return await client.call_tool("broken"), await client.call_tool("teleport")

    with contextlib.redirect_stderr(io.StringIO()) as said:
        failed, after = talk(service, use)
    assert failed.is_error
    assert words_of(failed) == "something in the server broke: ZeroDivisionError"
    assert "ZeroDivisionError" in said.getvalue()
    assert "there is no tool" in words_of(after)


def test_a_client_can_ask_for_less_than_the_server_tells_but_not_for_more() -> None:
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001  (theirs)
        heard.append(message or "")

    async def use(client: Client) -> CallToolResult:
        photo = await opened(client, picture(240, 160))
        return await client.call_tool("locate", {"photos": [photo], "granularity": "exact"}, progress_callback=hear)

    with openai_server([ZOOM, FINAL]) as url:
        done = talk(service_of(model="server:any", base_url=url, granularity="country"), use)
    assert not done.is_error, words_of(done)
    assert done.structured_content["data"]["granularity"] == "country"
    told = json.dumps(done.structured_content) + words_of(done) + "".join(heard)
    assert "Monaco" in told
    assert "Grimaldi" not in told
    assert "sign" not in "".join(heard)
    assert len(heard) == 2


def test_services_beyond_this_machine_are_told_to_be_that() -> None:
    service = service_of(web_search="duckduckgo", allow=("html.duckduckgo.com",))
    hints = {one.name: one.annotations for one in service.list_tools()}
    assert {name for name, hint in hints.items() if hint and hint.open_world_hint} == {"search_web", "locate"}
    assert hints["locate"] is not None
    assert hints["locate"].idempotent_hint is False


def test_only_tools_that_can_answer_are_listed(tmp_path: Path) -> None:
    bare = replace(service_of(offline=True), atlas=OfflineAtlas(tmp_path))
    names = {one.name for one in bare.list_tools()}
    assert {"open_photo", "locate", "image_zoom_in_tool", "maps_geocode", "weigh_sightings"} <= names
    without = {"visual_prior", "search_image", "search_web", "satellite_map_query", "nearby", "find_crossing"}
    assert not without & names
    searches = replace(bare.plan.searches, visual=Known())
    assert "visual_prior" in {
        one.name for one in replace(bare, plan=replace(bare.plan, searches=searches)).list_tools()
    }


def test_what_somebody_sees_is_weighed() -> None:
    async def use(client: Client) -> tuple[CallToolResult, CallToolResult]:
        photo = await opened(client, picture())
        seen = "cars drive on the left, dashed yellow edge line, dashed white centre line"
        return (
            await client.call_tool("locate", {"photos": [photo], "seen": seen}),
            await client.call_tool("locate", {"photos": [photo], "seen": "zeppelin=red"}),
        )

    found, refused = talk(service_of(offline=True), use)
    assert not found.is_error, words_of(found)
    assert "Ireland" in words_of(found)
    assert refused.is_error
    assert "no attribute 'zeppelin'" in words_of(refused)


def test_a_model_that_fails_is_a_tool_error() -> None:
    async def use(client: Client) -> CallToolResult:
        return await client.call_tool("locate", {"photos": [await opened(client, picture())]})

    done = talk(service_of(model="server:any", base_url="http://127.0.0.1:9/v1"), use)
    assert done.is_error
    assert "127.0.0.1" in words_of(done)


NOISY = """
import os, sys
from geosleuth.tools import facts
plain = facts.one_line
def loud(*words):
    print("from Python")
    os.write(1, b"from C\\n")
    return plain(*words)
facts.one_line = loud
sys.argv = ["geosleuth", "mcp", "--offline"]
from geosleuth.cli import main
main()
"""


def test_stdout_carries_the_protocol_alone_and_the_end_of_input_ends_the_server() -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    call = {"name": "brand_lookup", "arguments": {"name": "Monoprix"}}
    lines = [
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [sys.executable, "-c", NOISY],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    ) as run:  # fmt: skip
        assert run.stdin is not None
        assert run.stdout is not None
        for line in lines:
            run.stdin.write(json.dumps(line) + "\n")
        run.stdin.write("this is no message\n")
        run.stdin.flush()
        answers = [json.loads(run.stdout.readline()) for _ in range(3)]
        rest, told = run.communicate(timeout=60)
    (done,) = (answer for answer in answers if answer.get("id") == 2)
    assert done["result"]["isError"] is False
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert run.returncode == 0, told
    assert "Traceback" not in told
    assert "from Python" in told
    assert "from C" in told
