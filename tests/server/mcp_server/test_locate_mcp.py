"""``geosleuth locate --mcp``: a model uses tools of the user's own MCP servers, those that were allowed."""

import json
import sys
from pathlib import Path

import pytest

import mcp_lender
from locating import FINAL, at, locate_here, photo_file, texts
from openai_server import chat_reply, openai_server

ASK = chat_reply("I ask for the tide.", [("tides__high_water", {"place": "Monaco"})])


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    entry = {"command": sys.executable, "args": [str(Path(mcp_lender.__file__)), "--key=hush"]}
    path.write_text(json.dumps({"mcpServers": {"tides": entry}}))
    return path


@pytest.mark.usefixtures("atlas_home")
def test_a_model_sees_and_uses_the_tool_that_was_allowed(servers: Path, tmp_path: Path) -> None:
    photo = photo_file(tmp_path)
    with openai_server([ASK, FINAL]) as url:
        done = locate_here(
            photo,
            *at(url),
            "--mcp",
            servers,
            "--mcp-allow",
            "tides.high_water",
            "--yes",
            "--json",
            "--tools",
            "read_text",
        )
        first, second = url.requests
    assert done.code == 0, done.err
    offered = [one["function"]["name"] for one in first.json["tools"]]
    assert offered == ["read_text", "tides__high_water"]
    assert "High water at Monaco: 04:30 and 17:00." in texts(second.json)
    assert done.document["tools"] == offered
    assert "the MCP server tides (the program" in done.err
    assert "hush" not in done.err


@pytest.mark.usefixtures("atlas_home")
def test_without_a_list_nothing_is_lent_and_the_message_says_what_there_is(servers: Path, tmp_path: Path) -> None:
    with openai_server([FINAL]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--mcp", servers, "--yes", "--json")
        assert url.requests == []
    assert done.code == 2
    assert "add --mcp-allow for each: tides.high_water, tides.chart" in done.err


@pytest.mark.usefixtures("atlas_home")
def test_nothing_is_started_without_leave(servers: Path, tmp_path: Path) -> None:
    with openai_server([FINAL]) as url:
        done = locate_here(photo_file(tmp_path), *at(url), "--mcp", servers, "--mcp-allow", "tides.high_water")
        assert url.requests == []
    assert "the MCP server tides (the program" in done.refusal
    assert "gets what the model asks of its tools" in done.refusal
    assert done.refusal.endswith("add --yes to allow it")


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        (("--offline", "--model", "hf:none"), "--offline rules out"),
        ((), "name a model with --model"),
        (("--model", "detective"), "name a model with --model"),
        (
            ("--model", "server:any", "--base-url", "http://127.0.0.1:9/v1", "--mcp-allow", "moon.phase"),
            "no server 'moon'",
        ),
    ],
)
def test_words_that_do_not_fit_are_refused(servers: Path, tmp_path: Path, words: tuple[str, ...], trouble: str) -> None:
    assert trouble in locate_here(photo_file(tmp_path), "--mcp", servers, *words).refusal


def test_a_list_without_servers_is_refused(tmp_path: Path) -> None:
    assert "--mcp" in locate_here(photo_file(tmp_path), "--mcp-allow", "tides.high_water").refusal
