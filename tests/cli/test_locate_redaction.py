"""A model server that repeats our key: nothing that is printed, kept, exported or streamed holds it."""

import json
from pathlib import Path

import pytest

from geosleuth.atlas.online.access import HIDDEN, Secret
from geosleuth.atlas.redaction import redact
from geosleuth.server import FILES, CaseService, RunRequest
from locating import ANSWER, locate_here, photo_file
from openai_server import Reply, Request, chat_reply, failure, openai_server
from services import all_told as all_told_of
from services import case_with_photo, everything_in, open_service

pytestmark = pytest.mark.usefixtures("atlas_home")
KEY = "geosleuth-test-key-91x7"
OTHER = "geosleuth-test-key-of-nobody-else"
VARIABLE = "GEOSLEUTH_SERVER_KEY"


def echo(request: Request) -> Reply:
    """Repeat the header wherever a reply has room: first in words and calls, then in the answer."""
    header = request.headers["authorization"]
    assert header == f"Bearer {KEY}"
    if sum(message["role"] == "tool" for message in request.json["messages"]) == 0:
        calls = [
            ("image_zoom_in_tool", {"bbox_2d": [10, 10, 90, 90], "label": header}),
            ("no_such_" + KEY, {header: [header, {"deep": header}]}),
            ("maps_geocode", f"no JSON at all, {header}"),
        ]
        return chat_reply(f"I was sent {header}", calls, thinking=f"Think of {header}.", ids=["a", KEY, "c"])
    assert KEY not in request.body.decode()
    return chat_reply(json.dumps({**ANSWER, "explanation": f"It says {header}."}))


def test_the_command_neither_prints_nor_keeps_a_key_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    kept = tmp_path / "run.jsonl"
    with openai_server([echo]) as url:
        words = ("--model", "server:any", "--base-url", url, "--yes", "--json", "--trajectory", kept)
        done = locate_here(photo_file(tmp_path), *words)
        assert len(url.requests) == 2, done
    assert done.code == 0, done.err
    for text in (done.out, done.err, kept.read_text()):
        assert KEY not in text
    assert HIDDEN in json.loads(done.out)["answer"]["explanation"]
    assert kept.read_text().count(HIDDEN) >= 6


def test_the_command_does_not_print_a_key_out_of_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    kept = tmp_path / "run.jsonl"
    with openai_server([lambda request: failure(400, f"bad: {request.headers['authorization']}")]) as url:
        words = ("--model", "server:any", "--base-url", url, "--yes", "--json", "--trajectory", kept)
        done = locate_here(photo_file(tmp_path), *words)
    assert done.code == 1
    for text in (done.out, done.err, kept.read_text()):
        assert KEY not in text
    assert HIDDEN in done.err


def test_the_service_neither_tells_nor_keeps_a_key_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)

    async def work(service: CaseService) -> None:
        await service.change_settings(offline=False)
        with openai_server([echo]) as url:
            run = await service.start(await case_with_photo(service), RunRequest(model="server:any", base_url=url))
            told = await all_told_of(service, run.id)
        assert (await service.run(run.id)).state == "done"
        assert KEY not in str(told)
        assert HIDDEN in str(told)
        assert KEY not in json.dumps(await service.result(run.id))
        for form in FILES:
            data, _, _ = await service.file(run.id, form)
            assert KEY.encode() not in data, form

    open_service(tmp_path / "service", work)
    assert KEY.encode() not in everything_in(tmp_path / "service")


def test_keys_are_taken_out_of_everything_for_as_long_as_they_are_in_use() -> None:
    key = Secret(OTHER, VARIABLE)
    short = Secret("abcdefg", "SHORT")
    assert redact(f"{OTHER} abcdefg") == f"{HIDDEN} abcdefg"
    assert redact({OTHER: [OTHER.upper(), 1, None, (OTHER,)]}) == {HIDDEN: [HIDDEN, 1, None, (HIDDEN,)]}
    del key, short
    assert redact(OTHER) == OTHER
