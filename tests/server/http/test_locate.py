"""``POST /api/locate``: one request, one answer, and nothing left behind."""

import threading
import time
from pathlib import Path

import httpx
import pytest

from serving import Served, events_of, photo_bytes

STREAM = {"Content-Type": "image/jpeg", "Accept": "text/event-stream"}
PHOTO = photo_bytes("Rue Grimaldi")


def cases(server: Served) -> list[str]:
    return [one["id"] for one in server.client.get("/api/cases").json()["cases"]]


def test_a_photo_comes_back_as_its_place_and_nothing_stays(server: Served, replayed: str) -> None:
    before = cases(server)
    reply = server.locate(PHOTO, model=replayed, hint="by the sea", turns=9)
    assert reply.status_code == 200, reply.text
    assert reply.json()["answer"]["lat"] == pytest.approx(43.7384)
    assert "location" not in reply.headers
    assert cases(server) == before


def test_a_case_that_is_kept_has_the_same_result(server: Served, replayed: str) -> None:
    reply = server.locate(PHOTO, model=replayed, keep=True, name="street.jpg")
    run = reply.headers["location"]
    assert server.client.get(f"{run}/result").json() == reply.json()
    case = server.client.get(run).json()["case"]
    assert server.client.get(f"/api/cases/{case}").json()["photos"][0]["name"] == "street.jpg"
    assert server.client.delete(f"/api/cases/{case}").status_code == 204


def test_a_stream_ends_with_the_document(server: Served, replayed: str) -> None:
    before = cases(server)
    query = {"model": replayed}
    with server.client.stream("POST", "/api/locate", params=query, content=PHOTO, headers=STREAM) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        told = list(events_of(reply))
    assert [one.id for one in told] == list(range(len(told)))
    assert told[-1].kind == "result"
    plain = server.locate(PHOTO, model=replayed).json()
    own = ("trajectory", "spent")
    assert {k: v for k, v in told[-1].data.items() if k not in own} == {k: v for k, v in plain.items() if k not in own}
    assert cases(server) == before


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_leaves_calls_the_run_off(server: Served, long_replayed: str, accept: str) -> None:
    before = cases(server)
    headers = {"Content-Type": "image/jpeg", "Accept": accept}

    def leave() -> None:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(
                f"{server.url}/api/locate", params={"model": long_replayed}, content=PHOTO, headers=headers,
                timeout=httpx.Timeout(30, read=0.7), trust_env=False,
            )  # fmt: skip

    def left() -> None:
        with (
            httpx.Client(trust_env=False) as client,
            client.stream(
                "POST", f"{server.url}/api/locate", params={"model": long_replayed}, content=PHOTO, headers=headers
            ) as reply,
        ):
            next(events_of(reply))

    client = threading.Thread(target=leave if accept == "application/json" else left)
    client.start()
    client.join(60)
    until = time.monotonic() + 30
    while cases(server) != before and time.monotonic() < until:
        time.sleep(0.05)
    assert cases(server) == before


def test_a_misspelt_option_is_named_with_the_one_that_is_meant(server: Served) -> None:
    reply = server.locate(PHOTO, withn="France")
    assert reply.json()["error"]["message"] == "no such option: withn; did you mean within?"


def test_what_is_refused_leaves_no_case(server: Served) -> None:
    before = cases(server)
    for reply, status in (
        (server.locate(b"no photo"), 400),
        (server.locate(PHOTO, within="Atlantis"), 400),
        (server.locate(PHOTO, modle="detective"), 422),
        (server.locate(PHOTO, turns=0), 422),
        (server.locate(PHOTO, model="openai:gpt-5"), 400),
        (server.client.post("/api/locate", content=b"x", headers={"Content-Type": "text/plain"}), 415),
    ):
        assert reply.status_code == status, reply.text
        assert set(reply.json()) == {"error"}
    assert cases(server) == before


def test_a_model_that_fails_is_an_error(server: Served, tmp_path: Path) -> None:
    missing = tmp_path / "none.jsonl"
    reply = server.locate(PHOTO, model=f"replay:{missing}")
    assert reply.status_code == 400
    assert "none.jsonl" in reply.json()["error"]["message"]


def test_a_photo_over_the_cap_is_refused(cramped: Served) -> None:
    assert cramped.locate(b"\xff\xd8" + bytes(2_100_000)).status_code == 413
