"""Every provider in its own format, over real HTTP on loopback: a photo, a call, its result with a crop, an answer."""

import io
import json
import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from asked import QUICK, TELLING, album_of, conversation_about, seen, step_of
from geosleuth.models import EndpointSettings, Observed, Policy, Sampling, Step, make_policy
from geosleuth.models.registry import SERVICES, find_target
from geosleuth.photo import Album
from geosleuth.support.errors import ServiceFault
from geosleuth.tools import Observation, ToolCall
from openai_server import Reply, Request, ServerUrl, chat_reply, openai_server

BOX = [1, 2, 3, 4]
OPENAI = SERVICES["openai"]


@pytest.fixture
def album(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Album:
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "MISTRAL", "GROQ", "OPENROUTER"):
        monkeypatch.setenv(f"{name}_API_KEY", f"{name.lower()}-key-123456")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access-123456")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-123456")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    # Here OpenAI itself is on loopback: only there its newer interface is spoken.
    monkeypatch.setitem(SERVICES, "openai", replace(OPENAI, base_url="https://127.0.0.1/v1"))
    return album_of(tmp_path)


def chat(*, thinking: bool = False, **extra: Any) -> tuple[Reply, Reply]:
    """The calls and the answer of a service that speaks nearly as OpenAI did first."""
    replies = []
    for one in (chat_reply("Hm.", [("look", {"bbox_2d": BOX})], ids=["abcdefghi"]), chat_reply("Paris")):
        body = json.loads(one.body)
        body |= extra
        if thinking:
            body["choices"][0]["message"]["reasoning"] = "A tower."
        if "provider" in extra:
            body["choices"][0]["native_finish_reason"] = "stop"
            body["usage"]["cost"] = 0.0125
        replies.append(Reply(json.dumps(body).encode()))
    return replies[0], replies[1]


def anthropic(*content: dict[str, Any], stop: str) -> Reply:
    body = {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-5", "content": content,
        "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 200,
                  "cache_creation_input_tokens": 0},
    }  # fmt: skip
    return Reply(json.dumps(body).encode())


def google(*parts: dict[str, Any]) -> Reply:
    body = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050},
        "modelVersion": "gemini-2.5-flash",
    }
    return Reply(json.dumps(body).encode())


def openai(*output: dict[str, Any]) -> Reply:
    body = {
        "id": "r1", "object": "response", "created_at": 1_700_000_000, "model": "gpt-5-2025-08-07",
        "status": "completed", "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050,
                  "input_tokens_details": {"cached_tokens": 10}, "output_tokens_details": {"reasoning_tokens": 5}},
    }  # fmt: skip
    return Reply(json.dumps(body).encode())


def openai_words(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"m-{text}", "role": "assistant", "status": "completed", "content": content}


def bedrock(*content: dict[str, Any], stop: str) -> Reply:
    body = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop,
        "usage": {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050},
        "metrics": {"latencyMs": 5},
    }
    return Reply(json.dumps(body).encode())


@dataclass(frozen=True)
class Provider:
    """How one provider calls and answers; ``kept`` is what must go back to it with the next request."""

    spec: str
    replies: tuple[Reply, Reply]
    path: str
    kept: str = ""
    thinking: str = ""
    priced: bool = False
    base: str = ""


PROVIDERS = [
    Provider(
        "openai:gpt-5",
        (
            openai(
                {"type": "reasoning", "id": "rs1", "encrypted_content": "sealed-thought",
                 "summary": [{"type": "summary_text", "text": "A tower."}]},
                openai_words("Hm."),
                {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "status": "completed",
                 "arguments": json.dumps({"bbox_2d": BOX})},
            ),
            openai(openai_words("Paris")),
        ),
        "/v1/responses", "sealed-thought", "A tower.", priced=True, base="/v1",
    ),
    Provider(
        "anthropic:claude-opus-5",
        (
            anthropic(
                {"type": "thinking", "thinking": "A tower.", "signature": "sealed-thought"},
                {"type": "text", "text": "Hm."},
                {"type": "tool_use", "id": "tu1", "name": "look", "input": {"bbox_2d": BOX}},
                stop="tool_use",
            ),
            anthropic({"type": "text", "text": "Paris"}, stop="end_turn"),
        ),
        "/v1/messages", "sealed-thought", "A tower.", priced=True,
    ),
    Provider(
        "google:gemini-2.5-flash",
        (
            google(
                {"text": "A tower.", "thought": True},
                {"text": "Hm."},
                {"functionCall": {"name": "look", "args": {"bbox_2d": BOX}}, "thoughtSignature": "c2VhbGVk"},
            ),
            google({"text": "Paris"}),
        ),
        "models/gemini-2.5-flash:generateContent", "c2VhbGVk", "A tower.", priced=True,
    ),
    Provider("mistral:pixtral-large-latest", chat(), "/v1/chat/completions"),
    Provider("groq:meta-llama/llama-4-scout-17b-16e-instruct", chat(thinking=True), "/openai/v1/chat/completions",
             thinking="A tower."),
    Provider("openrouter:qwen/qwen3-vl-235b-a22b-instruct", chat(thinking=True, provider="Somebody"),
             "/v1/chat/completions", thinking="A tower.", priced=True, base="/v1"),
    Provider(
        "bedrock:us.amazon.nova-pro-v1:0",
        (
            bedrock({"text": "Hm."}, {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"bbox_2d": BOX}}},
                    stop="tool_use"),
            bedrock({"text": "Paris"}, stop="end_turn"),
        ),
        "/converse", priced=True,
    ),
]  # fmt: skip


def policy_for(provider: Provider, url: ServerUrl, settings: EndpointSettings = QUICK) -> Policy:
    return make_policy(provider.spec, base_url=url.root + provider.base, settings=settings)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.spec.partition(":")[0])
def test_a_round_trip(album: Album, provider: Provider) -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, top_k=5, max_tokens=100, seed=3)
    with openai_server(provider.replies) as url:
        policy = policy_for(provider, url)
        first = step_of(policy, conversation_about(album, sampling=sampling))
        assert (first.text, first.thinking, first.finish) == ("Hm.", provider.thinking, "calls")
        (call,) = first.calls
        assert (call.name, call.arguments) == ("look", {"bbox_2d": BOX})
        assert first.usage.input_tokens >= 100
        assert (first.usage.cost_usd is not None and 0 < first.usage.cost_usd < 0.1) is provider.priced
        conversation = conversation_about(album, first, seen(album, call.id), may_call=False, sampling=sampling)
        second = step_of(policy, conversation)
    assert (second.text, second.finish) == ("Paris", "stop")
    asked, again = url.requests
    assert provider.path in asked.path
    for request, sizes in ((asked, [(120, 80)]), (again, [(120, 80), album["image-2"].size])):
        images = [Image.open(io.BytesIO(one)) for one in request.images]
        assert [one.size for one in images] == sizes
        assert all(one.format == "JPEG" and not one.getexif() for one in images)
        assert TELLING.encode() not in request.body
        assert b"Exif" not in b"".join(request.images)
    assert "Look closer." in asked.body.decode()
    text = again.body.decode()
    assert provider.kept in text
    assert text.index("A closer look.") < text.index("image-2 (480 x 320 pixels):")


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.spec.partition(":")[0])
def test_a_history_from_elsewhere_is_taken(album: Album, provider: Provider) -> None:
    """A run that is resumed, or was begun by another model: nothing is remembered of its steps."""
    calls = (ToolCall("call-1", "look", {"bbox_2d": BOX}), ToolCall("call-2", "look", "{"))
    failed = Observation("call-2", "look", "That is no JSON.", failure="bad_arguments")
    results = Observed((*seen(album, "call-1").observations, failed))
    conversation = conversation_about(album, Step("Hm.", "A tower.", calls), results, sampling=Sampling(max_tokens=100))
    with openai_server([provider.replies[1]]) as url:
        policy = policy_for(provider, url)
        assert step_of(policy, conversation).text == "Paris"
    assert len(url.requests[0].images) == 2
    assert "That is no JSON." in url.requests[0].body.decode()


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.spec.partition(":")[0])
@pytest.mark.parametrize("status", [401, 500])
def test_failures_are_ours_whoever_fails(album: Album, provider: Provider, status: int) -> None:
    reply = Reply(b'{"message": "no", "error": {"message": "no", "code": 1}}', status)
    with openai_server([reply]) as url, pytest.raises(ServiceFault) as caught:
        step_of(policy_for(provider, url), conversation_about(album, sampling=Sampling(max_tokens=100)))
    assert caught.value.retryable is (status == 500)
    # The packages' own tries are switched off, so that ours are all there are.
    assert len(url.requests) == (QUICK.tries if status == 500 else 1)
    assert f"status {status}" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.spec.partition(":")[0])
def test_nobody_hangs_and_nobody_follows(album: Album, provider: Provider) -> None:
    quick = replace(QUICK, try_s=0.5, total_s=0.9, tries=1)
    started = time.monotonic()
    with openai_server([Reply(manner="silent")]) as url, pytest.raises(ServiceFault, match="did not answer"):
        step_of(policy_for(provider, url, quick), conversation_about(album))
    assert time.monotonic() - started < 20
    with openai_server([provider.replies[1]]) as elsewhere:
        moved = Reply(b"", 307, {"Location": elsewhere.root})
        with openai_server([moved]) as url, pytest.raises(ServiceFault):
            step_of(policy_for(provider, url), conversation_about(album))
    assert elsewhere.requests == []


def nowhere_but_through(proxy: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A host that only a proxy of the environment could find."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    find = socket.getaddrinfo

    def found(host: Any, *more: Any, **named: Any) -> Any:
        if host in ("model.invalid", b"model.invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return find(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    return "model.invalid"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.spec.partition(":")[0])
def test_no_proxy_of_the_environment_gets_photo_or_key(
    album: Album, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = replace(QUICK, tries=1)
    with openai_server([provider.replies[1]]) as proxy, openai_server([provider.replies[1]]) as url:
        host = nowhere_but_through(proxy.root, monkeypatch)
        with pytest.raises(ServiceFault):
            step_of(
                make_policy(provider.spec, base_url=f"https://{host}{provider.base}", settings=once),
                conversation_about(album, sampling=Sampling(max_tokens=100)),
            )
        here = conversation_about(album, sampling=Sampling(max_tokens=100))
        assert step_of(policy_for(provider, url, once), here).text == "Paris"
    assert (proxy.requests, proxy.connections) == ([], 0)


def test_no_proxy_gets_what_is_meant_for_a_server_of_ones_own(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    with openai_server([chat_reply("Paris")]) as proxy:
        host = nowhere_but_through(proxy.root, monkeypatch)
        policy = make_policy("server:any", base_url=f"http://{host}/v1", settings=replace(QUICK, tries=1))
        with pytest.raises(ServiceFault):
            step_of(policy, conversation_about(album))
    assert (proxy.requests, proxy.connections) == ([], 0)


def test_certificates_of_ones_own_are_read(album: Album, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    policy = make_policy("server:any", base_url="https://127.0.0.1:9/v1", settings=replace(QUICK, tries=1))
    with pytest.raises(ServiceFault, match="SSL_CERT_FILE"):
        step_of(policy, conversation_about(album))
    with openai_server([chat_reply("Paris")]) as url:
        assert (
            step_of(make_policy("server:any", base_url=url, settings=QUICK), conversation_about(album)).text == "Paris"
        )


def test_a_server_that_stops_says_nothing(album: Album, caplog: pytest.LogCaptureFixture) -> None:
    hasty = replace(QUICK, try_s=0.3, total_s=0.5, tries=1)
    with openai_server([Reply(manner="silent")]) as url, pytest.raises(ServiceFault):
        step_of(make_policy("server:any", base_url=url, settings=hasty), conversation_about(album))
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_mistral_gets_ids_of_its_own_kind(album: Album) -> None:
    said = Step(calls=(ToolCall("call-1", "look", {}), ToolCall("abcdefghi", "look", {})))
    results = Observed((Observation("call-1", "look", "A river."), Observation("abcdefghi", "look", "A bridge.")))
    with openai_server([chat()[1]]) as url:
        policy = make_policy("mistral:pixtral-large-latest", base_url=url.root, settings=QUICK)
        step_of(policy, conversation_about(album, said, results))
    messages = url.requests[0].json["messages"]
    made = [call["id"] for call in messages[2]["tool_calls"]]
    assert made == [one["tool_call_id"] for one in messages[3:5]]
    assert made[1] == "abcdefghi"
    assert len(made[0]) == 9
    assert made[0].isalnum()


def test_openai_is_asked_to_keep_nothing(album: Album) -> None:
    with openai_server([openai(openai_words("Paris"))]) as url:
        step_of(make_policy("openai:gpt-5", base_url=url, settings=QUICK), conversation_about(album))
    assert url.requests[0].json["store"] is False


def test_elsewhere_openai_means_chat_completions(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SERVICES, "openai", OPENAI)
    replies = [chat_reply("Hm.", [("look", {"bbox_2d": BOX})], ids=["c1"]), chat_reply("Paris")]
    with openai_server(replies) as url:
        policy = make_policy("openai:qwen3-vl", base_url=url, settings=QUICK)
        first = step_of(policy, conversation_about(album, sampling=Sampling(max_tokens=100)))
        assert step_of(policy, conversation_about(album, first, seen(album, "c1"))).text == "Paris"
    assert [one.path for one in url.requests] == ["/v1/chat/completions"] * 2
    asked, again = (one.json for one in url.requests)
    assert "store" not in asked
    assert asked["max_tokens"] == 100
    (result,) = (one for one in again["messages"] if one["role"] == "tool")
    # There the results of tools are words: the picture comes after them, from the user's side.
    assert "image_url" not in json.dumps(result)
    assert again["messages"][-1]["role"] == "user"
    assert len(url.requests[1].images) == 2


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://api.openai.com.example/v1", False),
        ("https://proxy.example/v1", False),
        ("http://127.0.0.1:8000/v1", False),
    ],
)
def test_which_addresses_are_openais(address: str, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key-123456")
    target = find_target(SERVICES["openai"], "gpt-5", address)
    assert (target.at_its_makers, target.images_in_results) == (own, own)


def test_models_that_choose_their_own_temperature_are_not_told_one(album: Album) -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, top_k=5, max_tokens=100)
    replies = {
        "openai:gpt-5": openai(openai_words("Paris")),
        "anthropic:claude-opus-5": anthropic({"type": "text", "text": "Paris"}, stop="end_turn"),
    }
    for spec, reply in replies.items():
        with openai_server([reply]) as url:
            base = url if spec.startswith("openai") else url.root
            step_of(make_policy(spec, base_url=base, settings=QUICK), conversation_about(album, sampling=sampling))
        assert not {"temperature", "top_p", "top_k"} & url.requests[0].json.keys()


def events(*said: tuple[str, dict[str, Any]]) -> Reply:
    body = "".join(f"event: {name}\ndata: {json.dumps({'type': name} | data)}\n\n" for name, data in said)
    return Reply(body.encode(), content_type="text/event-stream")


def test_anthropic_may_answer_in_pieces(album: Album) -> None:
    """Where a reply may get long, pydantic-ai asks for it in pieces by itself."""
    message = json.loads(anthropic(stop="end_turn").body)
    reply = events(
        ("message_start", {"message": message | {"stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "Pa"}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "ris"}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 2}}),
        ("message_stop", {}),
    )

    def either(request: Request) -> Reply:
        return reply if request.json["stream"] else anthropic({"type": "text", "text": "Paris"}, stop="end_turn")

    with openai_server([either]) as url:
        policy = make_policy("anthropic:claude-opus-5", base_url=url.root, settings=QUICK)
        step = step_of(policy, conversation_about(album))
    assert (step.text, step.finish) == ("Paris", "stop")
    assert url.requests[0].json["stream"] is True


def test_bedrock_without_credentials_says_what_to_set(
    album: Album, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with openai_server([Reply()]) as url, pytest.raises(ServiceFault, match="set AWS_BEARER_TOKEN_BEDROCK"):
        step_of(policy_for(PROVIDERS[-1], url), conversation_about(album))
    assert url.requests == []
