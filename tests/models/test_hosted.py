"""What reaches a server, and what is made of its replies; all over real HTTP on loopback."""

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from asked import QUICK, TELLING, album_of, conversation_about, seen, step_of, steps_of
from geosleuth.models import Conversation, Observed, Policy, Prompt, Sampling, Step, make_policy
from geosleuth.photo import Album
from geosleuth.tools import Observation, ToolCall
from openai_server import Request, ServerUrl, chat_reply, openai_server


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return album_of(tmp_path)


def policy_at(url: ServerUrl, spec: str = "server:any-model") -> Policy:
    return make_policy(spec, base_url=url, settings=QUICK)


def ask(conversation: Conversation, **reply: Any) -> tuple[Step, Request]:
    with openai_server([chat_reply(**reply)]) as url:
        step = step_of(policy_at(url), conversation)
    return step, url.requests[0]


def test_a_photo_arrives_without_its_past(album: Album) -> None:
    step, request = ask(conversation_about(album), text="Paris")
    assert step.text == "Paris"
    (file,) = request.images
    image = Image.open(io.BytesIO(file))
    assert (image.format, image.size, len(image.getexif())) == ("JPEG", (120, 80), 0)
    for secret in (TELLING.encode(), b"Exif", b"Secretive"):
        assert secret not in request.body
        assert secret not in file


def test_the_whole_conversation_arrives_in_order(album: Album) -> None:
    said = Step("I see a tower.", calls=(ToolCall("c1", "look", {"bbox_2d": [0, 0, 60, 40]}),))
    _, request = ask(conversation_about(album, said, seen(album, "c1"), Prompt("Go on.")), text="Paris")
    system, task, spoken, result, crop, nudge = request.json["messages"]
    assert system == {"role": "system", "content": "You are a detective."}
    assert [part.get("text") for part in task["content"]] == [
        "image-1 (120 x 80 pixels):",
        None,
        "Where was this taken?",
    ]
    assert spoken["content"] == "I see a tower."
    assert json.loads(spoken["tool_calls"][0]["function"]["arguments"]) == {"bbox_2d": [0, 0, 60, 40]}
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert result["content"].startswith("A closer look.")
    assert "image-2" in result["content"]
    assert crop["role"] == "user"
    size = album["image-2"].size
    assert crop["content"][0]["text"] == f"image-2 ({size[0]} x {size[1]} pixels):"
    assert nudge["content"][0]["text"] == "Go on."
    assert [Image.open(io.BytesIO(one)).size for one in request.images] == [(120, 80), size]


def test_tools_are_declared_as_they_are(album: Album) -> None:
    _, request = ask(conversation_about(album), text="Paris")
    (declared,) = request.json["tools"]
    assert declared["function"]["name"] == "look"
    assert declared["function"]["description"] == "Look closer."
    assert declared["function"]["parameters"]["required"] == ["bbox_2d"]
    assert declared["function"]["parameters"]["properties"]["label"]["description"] == "what for."


def test_when_no_call_is_allowed_the_server_is_told(album: Album) -> None:
    _, request = ask(conversation_about(album, may_call=False), text="Paris")
    assert request.json["tool_choice"] == "none"
    _, request = ask(conversation_about(album, tools=(), may_call=False), text="Paris")
    assert "tools" not in request.json


def test_calls_come_back_as_the_model_made_them(album: Album) -> None:
    step, _ = ask(
        conversation_about(album),
        text="Let me look.",
        calls=[("look", {"bbox_2d": [1, 2, 3, 4]}), ("fly", "{"), ("look", "[1, 2]"), ("look", "")],
        tokens=(321, 45),
        cached=300,
    )
    assert [call.arguments for call in step.calls] == [{"bbox_2d": [1, 2, 3, 4]}, "{", "[1, 2]", {}]
    assert [call.name for call in step.calls] == ["look", "fly", "look", "look"]
    assert len({call.id for call in step.calls}) == 4
    assert (step.text, step.finish, step.model) == ("Let me look.", "calls", "served-model-1")
    usage = step.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.tries) == (321, 45, 300, 1)
    assert usage.cost_usd == 0.0
    assert usage.seconds > 0


def test_broken_calls_can_be_sent_back(album: Album) -> None:
    calls = (ToolCall("c1", "look", "{"), ToolCall("c2", "no such tool!", {"a": float(1)}))
    failed = Observed(
        (
            Observation("c1", "look", "not valid JSON", failure="bad_arguments"),
            Observation("c2", "no such tool!", "there is no such tool", failure="unknown_tool"),
        )
    )
    _, request = ask(conversation_about(album, Step(calls=calls), failed), text="Paris")
    spoken = request.json["messages"][2]
    assert [one["function"]["name"] for one in spoken["tool_calls"]] == ["look", "no_such_tool_"]
    assert all(isinstance(json.loads(one["function"]["arguments"]), dict) for one in spoken["tool_calls"])
    told = [one["content"] for one in request.json["messages"][3:5]]
    assert all("error" in one for one in told)
    assert "not valid JSON" in told[0]


def test_every_call_has_one_result_and_every_result_its_call(album: Album) -> None:
    forgotten = Observed((Observation("gone", "look", "A bridge."),))
    unanswered = Step(calls=(ToolCall("c1", "look", {}), ToolCall("c2", "look", {})))
    half = Observed((Observation("c1", "look", "A river."),))
    _, request = ask(conversation_about(album, forgotten, unanswered, half, Prompt("Go on.")), text="Paris")
    roles = [one["role"] for one in request.json["messages"]]
    assert roles == ["system", "user", "user", "assistant", "tool", "tool", "user"]
    assert "A bridge." in json.dumps(request.json["messages"][2])
    assert [one.get("tool_call_id") for one in request.json["messages"][4:6]] == ["c1", "c2"]


def test_servers_that_count_ids_from_zero_are_told_apart(album: Album) -> None:
    before = Step(calls=(ToolCall("call_0", "look", {}),))
    result = Observed((Observation("call_0", "look", "A river."),))
    step, _ = ask(
        conversation_about(album, before, result), calls=[("look", {}), ("look", {})], ids=["call_0", "call_0"]
    )
    assert len({"call_0", *(call.id for call in step.calls)}) == 3


def test_sampling_travels(album: Album) -> None:
    sampling = Sampling(temperature=0.7, top_p=0.9, top_k=60, max_tokens=512, seed=7)
    _, request = ask(conversation_about(album, sampling=sampling), text="Paris")
    sent = request.json
    assert (sent["temperature"], sent["top_p"], sent["top_k"], sent["seed"]) == (0.7, 0.9, 60, 7)
    assert sent["max_tokens"] == 512
    _, request = ask(conversation_about(album), text="Paris")
    assert not {"temperature", "top_p", "top_k", "seed", "max_tokens", "max_completion_tokens"} & request.json.keys()


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "filtered"), ("tool_calls", "stop")],
)
def test_why_a_reply_ended(album: Album, finish: str, expected: str) -> None:
    step, _ = ask(conversation_about(album), text="Par", finish=finish)
    assert step.finish == expected


def test_an_empty_reply_that_was_held_back_or_cut_is_a_step(album: Album) -> None:
    step, _ = ask(conversation_about(album), text="", finish="length")
    assert (step.text, step.finish) == ("", "length")


def test_thinking_is_kept_apart_and_goes_back(album: Album) -> None:
    def second(request: Request) -> Any:
        assert "A tower, so Paris." in json.dumps(request.json["messages"][2])
        return chat_reply("Paris")

    with openai_server([chat_reply(None, [("look", {})], thinking="A tower, so Paris."), second]) as url:
        policy = policy_at(url)
        first = step_of(policy, conversation_about(album))
        assert (first.thinking, first.text) == ("A tower, so Paris.", "")
        result = Observed((Observation(first.calls[0].id, "look", "A river."),))
        assert step_of(policy, conversation_about(album, first, result)).text == "Paris"


def test_a_loop_may_number_the_calls_anew(album: Album) -> None:
    with openai_server([chat_reply("Hm.", [("look", {})]), chat_reply("Paris")]) as url:
        policy = policy_at(url)
        first = step_of(policy, conversation_about(album))
        renumbered = Step(first.text, calls=(ToolCall("7", "look", first.calls[0].arguments),))
        step_of(policy, conversation_about(album, renumbered, Observed((Observation("7", "look", "A river."),))))
    spoken, result = url.requests[1].json["messages"][2:4]
    assert spoken["tool_calls"][0]["id"] == result["tool_call_id"] == "7"


CALL = '<tool_call>{"name": "look", "arguments": {"bbox_2d": [1, 2, 3, 4]}}</tool_call>'


@pytest.mark.parametrize(
    "text", [f"Hm, a tower.</think>\nI look.\n{CALL}", f"<think>Hm, a tower.</think>I look.{CALL}"]
)
@pytest.mark.parametrize("wire", ["native", "tagged"])
def test_tags_in_words_are_read(album: Album, text: str, wire: Any) -> None:
    step, _ = ask(conversation_about(album, wire=wire), text=text)
    assert (step.thinking, step.text) == ("Hm, a tower.", "I look.")
    assert [(call.name, call.arguments) for call in step.calls] == [("look", {"bbox_2d": [1, 2, 3, 4]})]
    result = seen(album, step.calls[0].id)
    again, request = ask(conversation_about(album, step, result, wire=wire), text="<answer>Paris</answer>")
    assert again.text == "<answer>Paris</answer>"
    assert len(request.images) == 2


def test_the_tagged_wire_declares_no_tools(album: Album) -> None:
    said = Step("I see a tower.", calls=(ToolCall("call-1", "look", {"bbox_2d": [0, 0, 60, 40]}),))
    conversation = conversation_about(album, said, seen(album, "call-1"), wire="tagged")
    step, request = ask(conversation, text='<tool_call>{"name": "look", "arguments": {}}</tool_call>')
    assert "tools" not in request.json
    assert "tool_choice" not in request.json
    roles = [one["role"] for one in request.json["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert '"look"' in request.json["messages"][0]["content"]
    assert "<tool_call>" in request.json["messages"][2]["content"]
    assert step.calls == (ToolCall("call-2", "look", {}),)
    assert len(request.images) == 2


def test_half_characters_do_not_break_a_request(album: Album) -> None:
    result = Observed((Observation("c1", "look", "broken \ud83d text"),))
    _, request = ask(conversation_about(album, Step(calls=(ToolCall("c1", "look", {}),)), result), text="Paris")
    assert "broken ? text" in request.json["messages"][3]["content"]


@pytest.mark.parametrize("spec", ["server:any", "vllm:any", "lmstudio:any", "ollama:qwen3-vl", "vllm:Qwen/Qwen3-VL-8B"])
def test_every_server_of_ones_own_is_asked_the_same_way(album: Album, spec: str) -> None:
    with openai_server([chat_reply("Paris", [("look", {})])]) as url:
        policy = policy_at(url, spec)
        assert (policy.name, policy.hosts) == (spec, frozenset())
        step = step_of(policy, conversation_about(album, sampling=Sampling(temperature=0.5)))
    assert step.calls[0].name == "look"
    assert url.requests[0].path == "/v1/chat/completions"
    assert url.requests[0].json["model"] == spec.partition(":")[2]
    assert url.requests[0].json["temperature"] == 0.5


def test_a_policy_serves_one_event_loop_after_the_other(album: Album) -> None:
    with openai_server([chat_reply("Paris")]) as url:
        policy = policy_at(url)
        for _ in range(3):
            assert step_of(policy, conversation_about(album)).text == "Paris"


def test_no_more_at_once_than_is_allowed(album: Album) -> None:
    with openai_server([chat_reply("Paris", delay_s=0.05)]) as url:
        steps = steps_of(policy_at(url), *[conversation_about(album)] * 20)
    assert len(steps) == len(url.requests) == 20
    assert url.most_at_once == QUICK.concurrency


def test_policies_for_one_host_share_its_slots(album: Album) -> None:
    async def ask_all(make: Callable[[], Policy]) -> None:
        policies = [make() for _ in range(10)]
        await asyncio.gather(*(one.step(conversation_about(album)) for one in policies))
        for one in policies:
            await one.aclose()

    with openai_server([chat_reply("Paris", delay_s=0.05)]) as url:
        asyncio.run(ask_all(lambda: policy_at(url)))
    assert len(url.requests) == 10
    assert url.most_at_once == QUICK.concurrency
