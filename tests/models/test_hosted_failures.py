"""A server that fails in every way a server can: typed errors within their time, and no key in any of them."""

import asyncio
import json
import logging
import socket
import time
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from asked import QUICK, album_of, conversation_about, step_of, steps_of
from geosleuth.models import EndpointSettings, Policy, make_policy
from geosleuth.photo import Album
from geosleuth.support.errors import Offline, ServiceFault
from openai_server import Reply, Request, chat_reply, failure, openai_server

KEY = "-".join(("sk", "very", "secret", "0123456789"))
IMPATIENT = replace(QUICK, try_s=0.4, total_s=1.0)


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return album_of(tmp_path)


def policy_at(url: str, settings: EndpointSettings = QUICK) -> Policy:
    return make_policy("server:any-model", base_url=url, settings=settings)


@pytest.mark.parametrize("status", [429, 503, 408])
def test_passing_trouble_passes(album: Album, status: int) -> None:
    with openai_server([failure(status), failure(status), chat_reply("Paris")]) as url:
        step = step_of(policy_at(url), conversation_about(album))
    assert (step.text, step.usage.tries, len(url.requests)) == ("Paris", 3, 3)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (failure(429), "asked too often"),
        (failure(500, "the disk is full"), "the disk is full"),
        (Reply(b"<html><body>Bad gateway</body></html>", 502, content_type="text/html"), "status 502"),
        (chat_reply("Paris", manner="cut"), "cut short"),
        (Reply(b'{"choices": [{"mess'), "no model's reply"),
        (Reply(b""), "no model's reply"),
        (Reply(b"[1, 2]"), "no model's reply"),
        (Reply(b'{"choices": []}'), "no model's reply"),
        (Reply(b'{"choices": [{"message": null}]}'), "no model's reply"),
        (Reply(b"<html>Welcome to our network</html>", content_type="text/html"), "no model's reply"),
        (Reply(b"\xff\xfe\x00", content_type="image/png"), "no model's reply"),
        (Reply(manner="hang_up"), "cut short"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lasting_trouble_is_told_after_all_tries(album: Album, reply: Reply, expected: str) -> None:
    with openai_server([reply]) as url, pytest.raises(ServiceFault) as caught:
        step_of(policy_at(url), conversation_about(album))
    assert expected in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    assert "tried 3 times" in str(caught.value)
    assert "<html" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.retryable
    assert len(url.requests) == 3


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (failure(400, "no images, please"), 'did not accept the request (status 400): "no images, please"'),
        (failure(401), "it may want a key: set GEOSLEUTH_SERVER_KEY"),
        (failure(403), "refused the request"),
        (failure(404), "does not know 'any-model'; check the model's name"),
        (failure(402, "insufficient credits"), "top it up"),
        (failure(307, location="https://elsewhere.example/v1"), "redirects"),
        (Reply(b"x" * 5000), "more than 4000 bytes"),
        (Reply(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "compressed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_trying_again_can_not_mend_is_told_at_once(album: Album, reply: Reply, expected: str) -> None:
    settings = replace(QUICK, max_reply_bytes=4000)
    with openai_server([reply]) as url, pytest.raises(ServiceFault) as caught:
        step_of(policy_at(url, settings), conversation_about(album))
    assert expected in str(caught.value)
    assert not caught.value.retryable
    assert len(url.requests) == 1


def test_a_photo_never_follows_a_redirect(album: Album) -> None:
    with openai_server([chat_reply("Paris")]) as elsewhere:
        moved = failure(307, location=f"{elsewhere}/chat/completions")
        with openai_server([moved]) as url, pytest.raises(ServiceFault, match="photos are not sent on"):
            step_of(policy_at(url), conversation_about(album))
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        chat_reply("Paris", manner="endless"),
        chat_reply("Paris", manner="silent"),
        chat_reply("Paris", delay_s=30),
    ],
    ids=["endless", "silent", "slow"],
)
def test_nothing_hangs(album: Album, reply: Reply) -> None:
    started = time.monotonic()
    with openai_server([reply]) as url, pytest.raises(ServiceFault, match=r"did not answer (within|in time)") as caught:
        step_of(policy_at(url, IMPATIENT), conversation_about(album))
    assert time.monotonic() - started < 20
    assert caught.value.retryable


def test_an_endless_reply_ends_at_its_limit(album: Album) -> None:
    settings = replace(QUICK, max_reply_bytes=20_000, try_s=30, total_s=60)
    started = time.monotonic()
    endless = chat_reply("Paris", manner="endless")
    with openai_server([endless]) as url, pytest.raises(ServiceFault, match="more than 20000 bytes"):
        step_of(policy_at(url, settings), conversation_about(album))
    assert len(url.requests) == 1
    assert time.monotonic() - started < 20


def test_a_model_that_says_nothing_is_asked_once_more(album: Album) -> None:
    with openai_server([chat_reply(""), chat_reply("Paris")]) as url:
        step = step_of(policy_at(url), conversation_about(album))
    assert (step.text, step.usage.tries) == ("Paris", 2)
    assert (step.usage.input_tokens, step.usage.output_tokens) == (200, 40)
    with openai_server([chat_reply(None)]) as url, pytest.raises(ServiceFault, match="said nothing"):
        step_of(policy_at(url), conversation_about(album))
    assert len(url.requests) == 2


def test_nobody_there(album: Album) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    with pytest.raises(Offline, match="is the server running"):
        step_of(policy_at(address), conversation_about(album))
    with pytest.raises(Offline, match="ollama serve"):
        step_of(make_policy("ollama:any", base_url=address, settings=QUICK), conversation_about(album))


def test_a_server_that_takes_connections_and_says_no_word(album: Album) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        started = time.monotonic()
        with pytest.raises(ServiceFault, match="did not answer"):
            step_of(policy_at(address, IMPATIENT), conversation_about(album))
    assert time.monotonic() - started < 20


def test_a_wait_that_is_asked_for_is_kept(album: Album) -> None:
    with openai_server([failure(429, retry_after="1"), chat_reply("Paris")]) as url:
        started = time.monotonic()
        step = step_of(policy_at(url), conversation_about(album))
    assert step.text == "Paris"
    assert time.monotonic() - started >= 1.0
    assert step.usage.seconds >= 1.0


def test_a_wait_that_is_too_long_is_told(album: Album) -> None:
    started = time.monotonic()
    later = failure(429, retry_after="3600")
    with openai_server([later]) as url, pytest.raises(ServiceFault, match="asks to wait 3600 s") as caught:
        step_of(policy_at(url), conversation_about(album))
    assert caught.value.retryable
    assert len(url.requests) == 1
    assert time.monotonic() - started < 20


def test_when_one_is_asked_to_wait_all_do(album: Album) -> None:
    """Of two at once the first is told to wait a second; then a third comes along."""
    at: list[float] = []

    def reply(_: Request) -> Reply:
        at.append(time.monotonic())
        return failure(429, retry_after="1") if len(at) == 1 else chat_reply("Paris")

    async def ask(policy: Policy) -> None:
        first = asyncio.create_task(policy.step(conversation_about(album)))
        await asyncio.sleep(0.5)
        await policy.step(conversation_about(album))
        await first
        await policy.aclose()

    with openai_server([reply]) as url:
        asyncio.run(ask(policy_at(url)))
    assert len(at) == 3
    assert min(at[1:]) - at[0] >= 0.95


def test_a_busy_host_does_not_stop_the_others_for_good(album: Album) -> None:
    with openai_server([failure(503)] * 6 + [chat_reply("Paris")]) as url:
        steps = steps_of(policy_at(url, replace(QUICK, tries=6)), *[conversation_about(album)] * 6)
    assert [step.text for step in steps] == ["Paris"] * 6


def test_a_run_that_is_called_off_leaves_the_others_alone(album: Album) -> None:
    async def ask(policy: Policy) -> str:
        hasty = asyncio.create_task(policy.step(conversation_about(album)))
        patient = asyncio.create_task(policy.step(conversation_about(album)))
        await asyncio.sleep(0.05)
        hasty.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hasty
        done = await patient
        await policy.aclose()
        return done.text

    with openai_server([chat_reply("Paris", delay_s=0.3)]) as url:
        assert asyncio.run(ask(policy_at(url))) == "Paris"


def echo(request: Request) -> Reply:
    """What a careless or hostile server does: send all that it got back as an error."""
    return failure(400, f"bad: {json.dumps(dict(request.headers))}")


def test_no_key_is_ever_shown(album: Album, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("GEOSLEUTH_SERVER_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with openai_server([echo]) as url:
        policy = policy_at(url)
        with pytest.raises(ServiceFault) as caught:
            step_of(policy, conversation_about(album))
    assert url.requests[0].headers["authorization"] == f"Bearer {KEY}"
    told = "".join(traceback.format_exception(caught.value))
    for text in (str(caught.value), told, repr(policy), repr(vars(policy)), caplog.text):
        assert KEY not in text
    assert "[key]" in str(caught.value)


def test_a_refused_key_names_its_variable(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    refused = failure(401, f"Incorrect API key provided: {KEY}")
    with openai_server([refused]) as url, pytest.raises(ServiceFault, match="the key in OPENAI_API_KEY") as caught:
        step_of(make_policy("openai:gpt-5", base_url=url, settings=QUICK), conversation_about(album))
    assert KEY not in str(caught.value)
