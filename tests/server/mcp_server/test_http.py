"""``geosleuth mcp --http``: the same over Streamable HTTP, and who is let in."""

import asyncio
import base64
import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult
from typer.testing import CliRunner

from geosleuth.cli.commands import whole_app
from geosleuth.support.errors import UserError
from geosleuth.tools.toolset import all_tools
from locating import FINAL, ZOOM
from mcp_talk import GEOSLEUTH, over_http, over_stdio, pictures_of, words_of
from openai_server import Reply, ServerUrl, openai_server

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  (made up for these tests)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
STUCK = Reply(manner="silent")


def photo_data(pictures: Path) -> str:
    return base64.b64encode((pictures / "photos" / "sign.jpg").read_bytes()).decode()


@pytest.fixture(scope="module")
def url(mcp_home: Path) -> Iterator[str]:
    with over_http(mcp_home, "--offline") as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def test_photos_come_as_data_and_results_with_pictures_go_back(mode: str, url: str, pictures: Path) -> None:
    async def converse() -> tuple[list[str], CallToolResult, CallToolResult, CallToolResult]:
        async with Client(url, mode=mode) as client:
            names = [one.name for one in (await client.list_tools()).tools]
            opened = await client.call_tool("open_photo", {"data": photo_data(pictures)})
            photo = opened.structured_content["data"]["photo"]
            cut = await client.call_tool("image_zoom_in_tool", {"photo": photo, "bbox_2d": [90, 80, 700, 200]})
            file = await client.call_tool("open_photo", {"path": str(pictures / "photos" / "sign.jpg")})
        # The handle is all there is: another session knows the photo by it.
        async with Client(url, mode=mode) as client:
            again = await client.call_tool("image_zoom_in_tool", {"photo": photo, "bbox_2d": [90, 80, 700, 200]})
        assert not again.is_error
        return names, opened, cut, file

    names, opened, cut, file = asyncio.run(converse())
    without = {"search_image", "visual_prior", "search_web", "satellite_map_query"}
    assert names == ["open_photo", "locate", *(one for one in all_tools().names if one not in without)]
    assert len(pictures_of(opened)) == len(pictures_of(cut)) == 1
    assert cut.structured_content["images"][0]["handle"] == "image-2"
    assert file.is_error
    assert "this server reads no files" in words_of(file)


async def cancelled(client: Client, name: str, arguments: Mapping[str, Any], model: ServerUrl) -> float:
    """Call, wait until the model has been asked, and call it off; how long that took."""
    asked = len(model.requests)
    task = asyncio.create_task(client.call_tool(name, dict(arguments)))
    while len(model.requests) == asked:
        await asyncio.sleep(0.05)
        assert not task.done(), words_of(task.result())
    began = time.monotonic()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return time.monotonic() - began


@pytest.mark.parametrize(
    "way", ["http auto", *(pytest.param(way, marks=pytest.mark.slow) for way in ("stdio", "http legacy"))]
)
def test_a_long_call_tells_its_turns_and_can_be_called_off(way: str, mcp_home: Path, pictures: Path) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001  (theirs)
        heard.append((progress, message))

    async def converse(client: Client, model: ServerUrl) -> tuple[list[float], CallToolResult]:
        async with client:
            opened = await client.call_tool("open_photo", {"data": photo_data(pictures)})
            arguments = {"photos": [opened.structured_content["data"]["photo"]]}
            # Two may run at once: were they not really called off, nobody would ever ask the model again.
            took = [await cancelled(client, "locate", arguments, model) for _ in range(3)]
            return took, await client.call_tool("locate", arguments, progress_callback=hear)

    with openai_server([STUCK, STUCK, STUCK, ZOOM, FINAL]) as model:
        words = ("--model", "server:any", "--base-url", model)
        if way == "stdio":
            took, done = asyncio.run(converse(Client(over_stdio(mcp_home, *words)), model))
        else:
            with over_http(mcp_home, *words) as url:
                took, done = asyncio.run(converse(Client(url, mode=way.removeprefix("http ")), model))
    assert max(took) < 20
    assert not done.is_error, words_of(done)
    assert done.structured_content["data"]["answer"]["country"]["conclusion"] == "Monaco"
    assert [turn for turn, _ in heard] == [1, 2]
    assert heard[0][1] is not None
    assert "I look at the sign." in heard[0][1]


def test_strangers_are_turned_away(url: str) -> None:
    usual = {"Accept": "application/json, text/event-stream"}

    def status(**headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(url, json=HELLO, headers=usual | named, timeout=30).status_code

    assert status() == 200
    assert status(Host="evil.example") == 403
    assert status(Origin="https://evil.example") == 403
    assert status(Sec_Fetch_Site="cross-site") == 403
    assert status(Origin=url.removesuffix("/mcp")) == 200
    assert httpx.get(url, headers={"Sec-Fetch-Site": "cross-site"}, timeout=30).status_code == 403
    huge = httpx.post(url, content=b"{" + b" " * 60_000_000, headers=usual, timeout=60)
    assert huge.status_code == 413


def test_a_token_is_asked_for_where_there_is_one(mcp_home: Path) -> None:
    async def names(url: str) -> list[str]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return [one.name for one in (await client.list_tools()).tools]

    with over_http(mcp_home, "--offline", env={"GEOSLEUTH_TOKEN": TOKEN}) as url:
        bare = httpx.post(url, json=HELLO, timeout=30)
        wrong = httpx.post(url, json=HELLO, headers={"Authorization": "Bearer nearly"}, timeout=30)
        assert (bare.status_code, wrong.status_code) == (401, 401)
        assert TOKEN not in json.dumps(bare.json())
        assert asyncio.run(names(url))[:2] == ["open_photo", "locate"]


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        (("--http", "--host", "0.0.0.0"), "set GEOSLEUTH_TOKEN"),  # noqa: S104  (that it is refused is the point)
        (("--http", "--token-file", "nowhere"), "the token can't be read"),
        (("--photos", "nowhere"), "there is no such folder"),
        (("--offline", "--model", "openai:gpt-5"), "--offline rules out"),
        (("--offline", "--maps", "nominatim"), "--offline rules out"),
        (("--granularity", "house"), "it must be country or region"),
        (("--model", "server:any", "--base-url", "http://models.example/v1"), "add --yes to allow it"),
    ],
)
def test_it_refuses_to_start_with_one_line(words: tuple[str, ...], trouble: str) -> None:
    done = CliRunner().invoke(whole_app(), ["mcp", *words], env={"GEOSLEUTH_TOKEN": None, "OPENAI_API_KEY": None})
    assert isinstance(done.exception, UserError)
    assert trouble in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_refusal_leaves_stdout_empty(mcp_home: Path) -> None:
    params = over_stdio(mcp_home, "--photos", "nowhere")
    done = subprocess.run(
        [GEOSLEUTH, *params.args], env=params.env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
