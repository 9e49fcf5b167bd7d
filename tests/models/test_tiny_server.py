"""The test suite's own server: real requests, real images, real passes through a tiny model."""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from geosleuth.models import Step
from geosleuth.models.tagged import read_reply
from geosleuth.tools import ToolCall
from tiny_server import MODEL_NAME, TinyServer, tiny_server

openai: Any = pytest.importorskip("openai")

LOOK = Step("I look closer.", "A small sign.", (ToolCall("call-1", "search_web", {"query": "Wat Pho"}),))
ANSWER = '<answer>{"lat": 13.75, "lon": 100.5}</answer>'
TOOL = {
    "type": "function",
    "function": {
        "name": "search_web",
        "description": "Look something up.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}


@pytest.fixture
def scripted() -> Iterator[tuple[TinyServer, Any]]:
    with tiny_server(script=[LOOK, ANSWER]) as base_url, client(base_url) as one:
        yield base_url, one


def client(base_url: str) -> Any:
    return openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)


def picture(width: int, height: int) -> dict[str, Any]:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (200, 80, 10)).save(stream, "JPEG")
    url = "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": url}}


def test_the_model_is_listed(scripted: tuple[TinyServer, Any]) -> None:
    assert [one.id for one in scripted[1].models.list()] == [MODEL_NAME]


def test_native_calls_with_images_both_ways(scripted: tuple[TinyServer, Any]) -> None:
    base_url, one = scripted
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Where?"}, picture(200, 100)]}]
    first = one.chat.completions.create(model=MODEL_NAME, messages=messages, tools=[TOOL])
    said = first.choices[0]
    assert said.finish_reason == "tool_calls"
    assert said.message.content == "I look closer."
    (call,) = said.message.tool_calls
    assert call.function.name == "search_web"
    assert json.loads(call.function.arguments) == {"query": "Wat Pho"}
    messages += [
        said.message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "a temple"},
        {"role": "user", "content": [{"type": "text", "text": "image-2 (64 x 64 pixels):"}, picture(64, 64)]},
    ]
    second = one.chat.completions.create(model=MODEL_NAME, messages=messages, tools=[TOOL])
    assert second.choices[0].message.content == ANSWER
    assert second.choices[0].finish_reason == "stop"
    assert second.usage.prompt_tokens > first.usage.prompt_tokens
    assert second.usage.completion_tokens > 10
    assert [len(asked["messages"]) for asked in base_url.requests] == [1, 4]


def test_tagged_text_comes_as_it_was_said(scripted: tuple[TinyServer, Any]) -> None:
    _, one = scripted
    reply = one.chat.completions.create(model=MODEL_NAME, messages=[{"role": "user", "content": "Where?"}])
    assert reply.choices[0].message.tool_calls is None
    read = read_reply(reply.choices[0].message.content, first_id=1)
    assert (read.text, read.thinking, read.calls) == (LOOK.text, LOOK.thinking, LOOK.calls)


def test_bigger_images_cost_more_tokens() -> None:
    with tiny_server(script=["a", "b", "c"]) as base_url, client(base_url) as one:
        used = [
            one.chat.completions.create(
                model=MODEL_NAME, messages=[{"role": "user", "content": [{"type": "text", "text": "Where?"}, *images]}]
            ).usage.prompt_tokens
            for images in ([], [picture(64, 64)], [picture(256, 256)])
        ]
    # One token for each square of 32 pixels, and two around the image.
    assert used[1] - used[0] == 2 + 4
    assert used[2] - used[0] == 2 + 64


def test_a_reply_is_cut_at_the_length_limit() -> None:
    with tiny_server(script=["a long answer that goes on"]) as base_url, client(base_url) as one:
        reply = one.chat.completions.create(
            model=MODEL_NAME, messages=[{"role": "user", "content": "Where?"}], max_tokens=3
        )
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 3


def test_lines_by_turn_serve_several_runs_at_once() -> None:
    with tiny_server(script=["first", "second"], progress="turn") as base_url, client(base_url) as one:
        asked: list[Any] = [{"role": "user", "content": "Where?"}]
        for _ in range(2):
            reply = one.chat.completions.create(model=MODEL_NAME, messages=asked)
            assert reply.choices[0].message.content == "first"
        asked += [{"role": "assistant", "content": "first"}, {"role": "user", "content": "And?"}]
        assert one.chat.completions.create(model=MODEL_NAME, messages=asked).choices[0].message.content == "second"


def test_a_free_model_says_something_and_a_used_up_script_is_refused() -> None:
    asked: Any = {"model": MODEL_NAME, "messages": [{"role": "user", "content": [picture(64, 64)]}]}
    with tiny_server() as base_url, client(base_url) as one:
        replies = [one.chat.completions.create(**asked) for _ in range(2)]
        assert 0 < replies[0].usage.completion_tokens <= 16
        assert replies[0].choices == replies[1].choices
    with tiny_server(script=[]) as base_url, client(base_url) as one, pytest.raises(openai.BadRequestError):
        one.chat.completions.create(**asked)


def test_what_is_no_image_is_refused() -> None:
    broken = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with tiny_server() as base_url, client(base_url) as one, pytest.raises(openai.BadRequestError, match="image"):
        one.chat.completions.create(model=MODEL_NAME, messages=[{"role": "user", "content": [broken]}])
