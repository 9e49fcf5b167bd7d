"""The protocol itself, in messages as they are sent: 2026-07-28 without a handshake, and a client of 2025 with one."""

import base64
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import sync_playwright

from browser import chromium_path, launched
from locating import FINAL
from mcp_talk import over_http, over_stdio
from openai_server import Reply, openai_server
from own_venv import ROOT, output_of, python_with

NEW, OLD = "2026-07-28", "2025-11-25"
TASKS, APPS = "io.modelcontextprotocol/tasks", "io.modelcontextprotocol/ui"
WITH_TASKS: dict[str, Any] = {"extensions": {TASKS: {}}}
MAP_PAGE = "ui://geosleuth/map.html"
FACTS: dict[str, Any] = {"name": "country_facts", "arguments": {"country": "Monaco"}}
Message = dict[str, Any]
Ask = Callable[..., Message]


def message(method: str, params: Message, capabilities: Message | None = None, number: int = 1) -> Message:
    """A request that says all about itself, as each does since 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}


def post(url: str, sent: Message) -> Message:
    """Send a request over HTTP; the answer is JSON, or the last event of a stream."""
    named = sent["params"].get("name") or sent["params"].get("uri") or sent["params"].get("taskId")
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": NEW,
        "Mcp-Method": sent["method"],
    }
    headers |= {"Mcp-Name": named} if named else {}
    answered = httpx.post(url, json=sent, headers=headers, timeout=60)
    events = [line.removeprefix("data:") for line in answered.text.splitlines() if line.startswith("data:")]
    told: Message = json.loads(events[-1] if events else answered.text)
    assert told["id"] == sent["id"]
    return told


def asking(url: str) -> Ask:
    def ask(method: str, params: Message | None = None, capabilities: Message | None = None) -> Message:
        return post(url, message(method, params or {}, capabilities))

    return ask


@pytest.fixture(scope="module")
def url(mcp_home: Path) -> Iterator[str]:
    with over_http(mcp_home, "--offline") as address:
        yield address


def stdio_answers(home: Path, *lines: Message) -> list[Message]:
    """What a server answers that is started, told some lines and left."""
    params = over_stdio(home, "--offline")
    wanted = sum("id" in line for line in lines)
    with subprocess.Popen(
        [params.command, *params.args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, **(params.env or {})},
    ) as run:  # fmt: skip
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        run.stdin.flush()
        told = [json.loads(run.stdout.readline()) for _ in range(wanted)]
        run.stdin.close()
    return told


def test_a_call_may_be_the_first_message_over_stdio(mcp_home: Path) -> None:
    (told,) = stdio_answers(mcp_home, message("tools/call", FACTS))
    assert told["result"]["resultType"] == "complete"
    assert not told["result"].get("isError")
    assert told["result"]["structuredContent"]["data"]
    assert told["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "geosleuth"


def test_a_client_of_2025_begins_with_a_handshake(mcp_home: Path) -> None:
    client = {"protocolVersion": OLD, "capabilities": WITH_TASKS, "clientInfo": {"name": "test", "version": "1"}}
    begun, called = stdio_answers(
        mcp_home,
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": FACTS},
    )
    assert begun["result"]["protocolVersion"] == OLD
    assert begun["result"]["serverInfo"]["name"] == "geosleuth"
    assert called["result"]["structuredContent"]["data"]
    assert "resultType" not in called["result"]


def test_a_call_may_be_the_first_message_over_http(url: str) -> None:
    told = asking(url)("tools/call", FACTS)["result"]
    assert told["structuredContent"]["data"]
    assert told["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "geosleuth"


def test_discover_says_what_the_server_can_and_how_long_that_holds(url: str) -> None:
    told = asking(url)("server/discover")["result"]
    assert NEW in told["supportedVersions"]
    assert set(told["capabilities"]["extensions"]) == {TASKS, APPS}
    assert set(told["capabilities"]) >= {"tools", "resources"}
    assert "Open a photo with open_photo" in told["instructions"]
    listed = asking(url)("tools/list")["result"]
    for answer in (told, listed):
        assert (answer["ttlMs"], answer["cacheScope"]) == (60_000, "private")


@pytest.mark.slow
def test_an_agent_of_pydantic_ai_takes_the_server_as_a_capability(url: str) -> None:
    python = python_with("pydantic-ai-slim[mcp]==2.68.0")
    told = json.loads(output_of(python, ROOT / "tests" / "support" / "pydantic_ai_child.py", url))
    assert told["tools"][:2] == ["open_photo", "locate"]
    assert "1234, coat of arms" in told["said"]


def test_an_unknown_version_is_refused_with_those_that_are_known(url: str) -> None:
    sent = message("tools/call", FACTS)
    sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2031-01-01"}
    headers |= {"Mcp-Method": "tools/call", "Mcp-Name": FACTS["name"]}
    answered = httpx.post(url, json=sent, headers=headers, timeout=60)
    assert answered.status_code == 400
    assert NEW in answered.json()["error"]["data"]["supported"]


def opened(ask: Ask, pictures: Path) -> str:
    data = base64.b64encode((pictures / "photos" / "sign.jpg").read_bytes()).decode()
    photo: str = ask("tools/call", {"name": "open_photo", "arguments": {"data": data}})["result"]["structuredContent"][
        "data"
    ]["photo"]
    return photo


def settled(ask: Ask, task: str) -> Message:
    """A task once it no longer works."""
    for _ in range(300):
        told: Message = ask("tasks/get", {"taskId": task}, WITH_TASKS)["result"]
        if told["status"] != "working":
            return told
        time.sleep(0.1)
    raise AssertionError(told)


def test_a_client_that_knows_tasks_gets_a_handle_and_later_the_finding(url: str, pictures: Path) -> None:
    ask = asking(url)
    call = {"name": "locate", "arguments": {"photos": [opened(ask, pictures)], "within": "Monaco"}}
    handle = ask("tools/call", call, WITH_TASKS)["result"]
    assert (handle["resultType"], handle["status"]) == ("task", "working")
    assert handle["ttlMs"] == 3_600_000
    assert "content" not in handle
    done = settled(ask, handle["taskId"])
    assert (done["resultType"], done["status"]) == ("complete", "completed")
    assert done["statusMessage"].startswith("turn ")
    assert done["createdAt"] < done["lastUpdatedAt"]
    plain = ask("tools/call", call)["result"]
    for one in (done["result"], plain):
        assert one["resultType"] == "complete"
        assert one["structuredContent"]["data"]["answer"]["country"]["conclusion"] == "Monaco"
    # An error of the call is a result: the task is completed.
    wrong = ask("tools/call", {"name": "locate", "arguments": {"photos": ["photo-0"]}}, WITH_TASKS)["result"]
    told = settled(ask, wrong["taskId"])
    assert told["status"] == "completed"
    assert told["result"]["isError"]


def test_questions_about_tasks_need_the_extension_and_a_task_that_there_is(url: str) -> None:
    ask = asking(url)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        undeclared = ask(method, {"taskId": "task-1"})["error"]
        assert undeclared["code"] == -32021
        assert undeclared["data"]["requiredCapabilities"] == WITH_TASKS
        unknown = ask(method, {"taskId": "task-1"}, WITH_TASKS)["error"]
        assert unknown["code"] == -32602
        assert "no such task" in unknown["message"]
    for gone in ("tasks/result", "tasks/list"):
        assert ask(gone, {"taskId": "task-1"}, WITH_TASKS)["error"]["code"] == -32601


def test_a_task_that_is_called_off_ends_and_makes_room_for_others(mcp_home: Path, pictures: Path) -> None:
    with (
        openai_server([Reply(manner="silent"), Reply(manner="silent"), FINAL]) as model,
        over_http(mcp_home, "--model", "server:any", "--base-url", model) as address,
    ):
        ask = asking(address)
        call = {"name": "locate", "arguments": {"photos": [opened(ask, pictures)]}}
        for number in (1, 2):
            task = ask("tools/call", call, WITH_TASKS)["result"]["taskId"]
            while len(model.requests) < number:
                time.sleep(0.05)
            called_off = ask("tasks/cancel", {"taskId": task}, WITH_TASKS)["result"]
            assert called_off["resultType"] == "complete"
            assert "status" not in called_off
            assert settled(ask, task)["status"] == "cancelled"
        # Two may run at once: had one not ended, this would wait for ever.
        last = settled(ask, ask("tools/call", call, WITH_TASKS)["result"]["taskId"])
    assert last["result"]["structuredContent"]["data"]["answer"]["country"]["conclusion"] == "Monaco"


HOST = """<!doctype html><iframe sandbox="allow-scripts" style="width:100%;height:600px"></iframe><script>
const view = document.querySelector("iframe"), heard = [];
const send = (message) => view.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", async ({data}) => {
  heard.push(data.method);
  if (data.method === "ui/initialize") send({id: data.id, result: {protocolVersion: data.params.protocolVersion,
    hostInfo: {name: "host", version: "1"}, hostCapabilities: {serverTools: {}}, hostContext: {}}});
  if (data.method === "ui/notifications/initialized") {
    send({method: "ui/notifications/tool-input", params: {arguments: {}}});
    send({method: "ui/notifications/tool-result", params: await window.finding()});
  }
  if (data.method === "tools/call") send({id: data.id, result: await window.callTool(data.params)});
});
window.load = (html) => { view.srcdoc = html; };
</script>"""
# As hosts must set it for a page that asks for no domains.
CSP = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'"
)


def test_the_page_of_the_app_draws_the_finding_in_a_host_s_sandbox(url: str, pictures: Path) -> None:
    chromium = chromium_path()
    if chromium is None:
        pytest.skip("no Chromium here: scripts/ensure_chromium.sh")
    ask = asking(url)
    located = next(one for one in ask("tools/list")["result"]["tools"] if one["name"] == "locate")
    assert located["_meta"]["ui"] == {"resourceUri": MAP_PAGE}
    assert [one["uri"] for one in ask("resources/list")["result"]["resources"]] == [MAP_PAGE]
    assert "no such resource" in ask("resources/read", {"uri": "ui://geosleuth/other.html"})["error"]["message"]
    (page,) = ask("resources/read", {"uri": MAP_PAGE})["result"]["contents"]
    assert page["mimeType"] == "text/html;profile=mcp-app"
    finding = ask("tools/call", {"name": "locate", "arguments": {"photos": [opened(ask, pictures)]}})["result"]
    finding["structuredContent"]["data"]["answer"]["precise"]["conclusion"] = "<b id=evil>Rue</b>"
    asked: list[Message] = []

    def call_tool(call: Message) -> Message:
        asked.append(call)
        done: Message = ask("tools/call", call)["result"]
        return done

    with sync_playwright() as running:
        browser = launched(running, chromium)
        host = browser.new_page()
        faults: list[str] = []
        host.on("pageerror", lambda error: faults.append(str(error)))
        host.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        host.expose_function("finding", lambda: finding)
        host.expose_function("callTool", call_tool)
        host.set_content(HOST)
        html = page["text"].replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{CSP}">', 1)
        host.evaluate("(html) => load(html)", html)
        view = host.frame_locator("iframe")
        view.locator("#map img[src^='data:image/']").wait_for(timeout=20_000)
        assert view.locator("#place").inner_text().startswith("<b id=evil>Rue</b>, ")
        assert view.locator("#place").inner_text().endswith("Monaco")
        assert "A lead, not a verdict." in view.locator("#radius").inner_text()
        assert view.locator("#map img").evaluate("(image) => image.naturalWidth") > 100
        view.locator("#nearer").click()
        host.wait_for_timeout(200)
        assert "ui/notifications/size-changed" in host.evaluate("heard")
        browser.close()
    assert faults == []
    assert [call["name"] for call in asked] == ["static_map_query"] * 2
    near, nearer = (call["arguments"]["zoom"] for call in asked)
    assert nearer == near + 1
