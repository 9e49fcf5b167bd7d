"""Tools of a real MCP server of somebody else's, over real pipes and real HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import mcp_lender
from geosleuth.support.errors import BadInput
from geosleuth.tools import Case, Observation, ToolCall, Toolset, borrowed, native_tools
from geosleuth.tools.borrowed import Borrowing, Lender, lent_tools
from tool_cases import case_of

SCRIPT = str(Path(mcp_lender.__file__))
TIDES = Lender("tides", sys.executable, (SCRIPT,))
BROKEN = Lender("broken", sys.executable, (SCRIPT, "--broken"))


def small_case() -> Case:
    return case_of(Image.new("RGB", (40, 30), "grey"))


def lent(
    use: Callable[[Toolset, Case], Awaitable[Any]],
    *names: str,
    lenders: Sequence[Lender] = (TIDES,),
    seconds: float = 60,
) -> Any:
    """What somebody makes of the borrowed tools."""

    async def work() -> Any:
        allowed = tuple((server, tool) for server, _, tool in (name.partition(".") for name in names))
        async with lent_tools(Borrowing(tuple(lenders), allowed)) as tools:
            return await asyncio.wait_for(use(Toolset(tools), small_case()), seconds)

    return asyncio.run(work())


def called(*calls: tuple[str, Any], names: Sequence[str], **more: Any) -> list[Observation]:
    async def use(toolset: Toolset, case: Case) -> list[Observation]:
        done: list[Observation] = []
        for number, (name, arguments) in enumerate(calls):
            done += await toolset.run([ToolCall(f"c{number}", name, arguments)], case)
        return done

    found: list[Observation] = lent(use, *names, **more)
    return found


NAMES = ("high_water", "chart", "charts", "endless", "refuses", "odd name!", "variables")
CALLS: dict[str, tuple[str, dict[str, Any] | str]] = {
    "good": ("tides__high_water", {"place": "Monaco", "case": 3}),
    "missing": ("tides__high_water", {}),
    "bad": ("tides__high_water", "{"),
    "chart": ("tides__chart", {}),
    "charts": ("tides__charts", {}),
    "endless": ("tides__endless", {}),
    "refuses": ("tides__refuses", {}),
    "odd": ("tides__odd_name_", {}),
    "variables": ("tides__variables", {}),
    "not allowed": ("tides__slow", {}),
}


@pytest.fixture(scope="module")
def seen() -> tuple[list[dict[str, Any]], dict[str, Observation]]:
    """What models are told of the tools, and what became of each call."""

    async def use(toolset: Toolset, case: Case) -> tuple[list[dict[str, Any]], dict[str, Observation]]:
        done: dict[str, Observation] = {}
        for name, call in CALLS.items():
            (done[name],) = await toolset.run([ToolCall(name, *call)], case)
        return native_tools(toolset), done

    known = Lender("tides", sys.executable, (SCRIPT,), {"OWN": "1"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "hush")
        found: tuple[list[dict[str, Any]], dict[str, Observation]] = lent(
            use, *(f"tides.{name}" for name in NAMES), lenders=[known]
        )
    return found


Seen = tuple[list[dict[str, Any]], dict[str, Observation]]


def test_only_allowed_tools_are_lent_and_their_schemas_reach_models(seen: Seen) -> None:
    listed, done = seen
    assert [one["function"]["name"] for one in listed] == [
        "tides__high_water", "tides__chart", "tides__charts", "tides__endless", "tides__refuses", "tides__odd_name_",
        "tides__variables",
    ]  # fmt: skip
    assert listed[0]["function"]["parameters"] == mcp_lender.PLACE
    assert "in its own words: When the tide is high at a place." in listed[0]["function"]["description"]
    assert done["not allowed"].failure == "unknown_tool"


def test_results_are_observations_with_the_server_as_their_source(seen: Seen) -> None:
    good, chart = seen[1]["good"], seen[1]["chart"]
    assert good.failure is None
    assert good.text.startswith("From the MCP server tides, as it came:\nHigh water at Monaco: 04:30 and 17:00.")
    assert "\x1b" not in good.text
    # An argument may be called whatever the server likes.
    assert good.data["result"]["heard"] == ["case", "place"]
    assert good.sources == ("MCP server tides",)
    assert [image.size for image in chart.images] == [(60, 40)]
    assert chart.images[0].handle == "image-2"
    assert seen[1]["odd"].text == "The MCP server tides said nothing."


def test_bad_arguments_never_reach_the_server(seen: Seen) -> None:
    missing, bad = seen[1]["missing"], seen[1]["bad"]
    assert missing.failure == bad.failure == "bad_arguments"
    assert missing.text == 'place is missing; write one object: {"place": …}'


def test_too_much_is_cut(seen: Seen) -> None:
    endless, charts = seen[1]["endless"], seen[1]["charts"]
    assert len(endless.text) < 8200
    assert "(cut: " in endless.text
    assert endless.data["result"] is None
    assert len(charts.images) == 4
    assert "a picture was left out" in charts.text


def test_a_refusal_is_the_servers_own_words_on_one_line(seen: Seen) -> None:
    refused = seen[1]["refuses"]
    assert (refused.failure, refused.text) == ("refused", "the MCP server tides says: not today nor tomorrow")


def test_a_program_gets_no_variables_but_its_own(seen: Seen) -> None:
    told = seen[1]["variables"].text
    assert "OWN" in told
    assert "OPENAI_API_KEY" not in told


def test_a_key_that_the_server_repeats_is_left_out() -> None:
    key = "a-key-of-the-tides"
    lender = replace(TIDES, env={"TIDES_KEY": key})
    (seen,) = called(("tides__high_water", {"place": f"at {key}"}), names=("tides.high_water",), lenders=(lender,))
    assert seen.failure is None
    assert "High water at at [key]" in seen.text
    assert key not in str(seen)


def test_a_slow_tool_is_not_waited_for_and_a_server_that_dies_is_an_observation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(borrowed, "CALL_SECONDS", 5.0)
    slow, good, dies, later = called(
        ("tides__slow", {}),
        ("tides__high_water", {"place": "x"}),
        ("tides__dies", {}),
        ("tides__high_water", {"place": "y"}),
        names=["tides.slow", "tides.high_water", "tides.dies"],
    )
    assert (slow.failure, slow.text) == ("service", "the MCP server tides: it took longer than 5 s")
    assert good.failure is None
    assert dies.failure == later.failure == "service"
    assert "the MCP server tides: " in dies.text


@pytest.mark.slow
def test_a_server_that_does_not_start_leaves_the_others_alone(tmp_path: Path) -> None:
    nobody = Lender("nobody", str(tmp_path / "no-such-program"))
    broken, absent, good = called(
        ("broken__high_water", {"place": "x"}),
        ("nobody__x", {}),
        ("tides__high_water", {"place": "x"}),
        names=["broken.high_water", "nobody.x", "tides.high_water"],
        lenders=(TIDES, BROKEN, nobody),
    )
    assert absent.failure == "service"
    assert "No such file" in absent.text
    assert (broken.failure, broken.text) == ("service", "the MCP server broken: no licence was found")
    assert good.failure is None


@pytest.mark.slow
def test_without_a_list_the_message_has_all_there_is() -> None:
    async def use(_toolset: Toolset, _case: Case) -> None:
        raise AssertionError("nothing is allowed")

    with pytest.raises(BadInput, match=r"add --mcp-allow for each: tides\.high_water, tides\.chart, .*broken can't be"):
        lent(use, lenders=(TIDES, BROKEN))
    with pytest.raises(BadInput, match=r"tides has no tool 'low_water'; it has: tides\.high_water"):
        lent(use, "tides.low_water")


def test_calling_a_run_off_ends_the_program() -> None:
    async def work(pids: list[int], begun: asyncio.Event) -> None:
        async with lent_tools(Borrowing((TIDES,), (("tides", "high_water"), ("tides", "slow")))) as tools:
            toolset, case = Toolset(tools), small_case()
            (seen,) = await toolset.run([ToolCall("a", "tides__high_water", {"place": "x"})], case)
            pids.append(seen.data["result"]["pid"])
            begun.set()
            await toolset.run([ToolCall("b", "tides__slow", {})], case)

    async def called_off(pids: list[int]) -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(work(pids, begun))
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    pids: list[int] = []
    asyncio.run(called_off(pids))
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


@pytest.fixture
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, SCRIPT, "--http", str(port)]) as run:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            run.terminate()
            run.wait(20)


def test_a_server_over_http_lends_the_same(address: str) -> None:
    remote = Lender("coast", url=address, headers={"X-Key": "k"})
    gone = Lender("gone", url="http://127.0.0.1:9/mcp")
    good, nobody = called(
        ("coast__high_water", {"place": "Nice"}),
        ("gone__x", {}),
        names=["coast.high_water", "gone.x"],
        lenders=(remote, gone),
    )
    assert good.failure is None
    assert good.data["result"]["place"] == "Nice"
    assert nobody.failure == "service"
