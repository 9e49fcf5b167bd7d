"""Settings, keys and consent: what leaves the machine is said first, and keys are told to nobody."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from openai_server import chat_reply, openai_server
from serving import ANSWER, Served, photo_bytes

KEY = "sk-test-6f1d0c2b9a"
DEFAULTS = {
    "model": None,
    "base_url": None,
    "offline": True,
    "granularity": "exact",
    "retention_days": None,
    "quota_mb": None,
    "online_tiles": None,
}


@pytest.fixture
def online(server: Served) -> Iterator[Served]:
    """The offline switch turned off, for one test."""
    assert server.client.put("/api/settings", json={"offline": False}).status_code == 200
    yield server
    assert server.client.put("/api/settings", json={}).json()["offline"] is True


@pytest.fixture(scope="module")
def case(server: Served) -> str:
    return server.case(photo_bytes("Rue Grimaldi"))


def error_of(reply: httpx.Response) -> tuple[int, str, str]:
    error = reply.json()["error"]
    return reply.status_code, error["kind"], error["message"]


def test_nothing_goes_out_at_first(server: Served, case: str) -> None:
    assert server.client.get("/api/settings").json() == DEFAULTS
    status, kind, message = error_of(server.client.post(f"/api/cases/{case}/runs", json={"model": "openai:gpt-5"}))
    assert (status, kind) == (400, "input")
    assert "offline" in message


def test_where_a_key_goes_is_said(online: Served, case: str) -> None:
    pytest.importorskip("pydantic_ai")
    wanted = {"model": "groq:a-model", "send_to": ["api.groq.com"]}
    status, kind, message = error_of(online.client.post(f"/api/cases/{case}/runs", json=wanted))
    assert (status, kind) == (400, "input")
    for part in ("Settings, Keys", "/api/keys/groq", "GROQ_API_KEY"):
        assert part in message


def test_settings_are_kept_and_set_back(server: Served) -> None:
    wanted = {**DEFAULTS, "granularity": "city", "retention_days": 30}
    assert server.client.put("/api/settings", json=wanted).json() == wanted
    assert server.client.get("/api/settings").json() == wanted
    for wrong in ({"granularity": "house"}, {"retention_days": 0}, {"key": KEY}, {"offline": "no"}):
        assert server.client.put("/api/settings", json=wrong).status_code == 422
    assert server.client.get("/api/settings").json() == wanted
    assert server.client.put("/api/settings", json={}).json() == DEFAULTS


def test_nothing_finer_than_the_cap_is_told(server: Served, case: str, replayed: str) -> None:
    server.client.put("/api/settings", json={"granularity": "country"})
    try:
        run = server.start(case, model=replayed, granularity="exact")
        assert server.over(run) == "done"
        row = server.client.get(f"/api/runs/{run}").json()
        assert row["granularity"] == "country"
        text = server.client.get(f"/api/runs/{run}/events").text + server.client.get(f"/api/runs/{run}/result").text
        text += "".join(
            server.client.get(f"/api/runs/{run}/files/{form}").text for form in ("json", "jsonl", "geojson")
        )
        assert "43.7384" not in text
    finally:
        server.client.put("/api/settings", json={})


def test_before_a_photo_goes_out_the_host_is_named_and_agreed_to(online: Served, case: str) -> None:
    assert online.client.put("/api/keys/openai", json={"key": KEY}).status_code == 204
    url = f"/api/cases/{case}/runs"
    refused = online.client.post(url, json={"model": "openai:gpt-5"})
    assert error_of(refused)[:2] == (409, "consent")
    assert refused.json()["error"]["hosts"] == ["api.openai.com"]
    assert "api.openai.com" in refused.json()["error"]["message"]
    # Agreeing to another host is no agreement.
    again = online.client.post(url, json={"model": "openai:gpt-5", "send_to": ["api.openai.com.evil.example"]})
    assert error_of(again)[:2] == (409, "consent")
    runs = online.client.get(f"/api/cases/{case}").json()["runs"]
    assert "openai:gpt-5" not in [run["request"]["model"] for run in runs]
    assert online.client.delete("/api/keys/openai").status_code == 204


def test_a_model_on_this_machine_needs_no_leave_and_gets_its_key(online: Served, case: str, home: Path) -> None:
    online.client.put("/api/keys/server", json={"key": KEY, "keep": "memory"})
    with openai_server([chat_reply(f"<answer>{ANSWER}</answer>")]) as address:
        run = online.start(case, model="server:tiny", base_url=str(address), turns=2)
        assert online.over(run) in ("done", "failed")
        asked = address.requests
    assert asked
    assert asked[0].headers.get("authorization", asked[0].headers.get("Authorization")) == f"Bearer {KEY}"
    # The key is in nothing that is told or kept.
    told = online.client.get(f"/api/runs/{run}/events").text + online.client.get(f"/api/runs/{run}").text
    assert KEY not in told
    kept = [
        path
        for path in home.rglob("*")
        if path.is_file() and not path.is_symlink() and KEY.encode() in path.read_bytes()
    ]
    assert kept == []
    assert online.client.delete("/api/keys/server").status_code == 204


def test_keys_are_told_to_nobody(server: Served) -> None:
    assert server.client.put("/api/keys/mistral", json={"key": KEY}).status_code == 204
    listed = server.client.get("/api/keys")
    state = {one["service"]: one for one in listed.json()["keys"]}
    assert (state["mistral"]["set"], state["mistral"]["keep"]) == (True, "memory")
    assert KEY not in listed.text + server.client.get("/api/settings").text + server.client.get("/api/about").text
    assert server.client.delete("/api/keys/mistral").status_code == 204
    state = {one["service"]: one for one in server.client.get("/api/keys").json()["keys"]}
    assert state["mistral"]["set"] is bool(os.environ.get("MISTRAL_API_KEY"))
    assert error_of(server.client.put("/api/keys/nobody", json={"key": KEY}))[:2] == (400, "input")
    wrong = server.client.put("/api/keys/openai", json={"key": KEY + "\n" + KEY, "keep": "nowhere"})
    assert wrong.status_code == 422
    assert KEY not in wrong.text


def test_online_tiles_are_allowed_by_name_and_only_while_online(server: Served, online: Served) -> None:
    tiles = "https://tiles.example.org/{z}/{x}/{y}.png"
    assert error_of(online.client.put("/api/settings", json={"offline": False, "online_tiles": "https://x/"}))[0] == 400
    assert "tiles.example.org" not in server.client.get("/").headers["content-security-policy"]
    assert online.client.put("/api/settings", json={"offline": False, "online_tiles": tiles}).status_code == 200
    assert "img-src 'self' https://tiles.example.org" in server.client.get("/").headers["content-security-policy"]
    # One switch is enough to be offline; the address is still there for when it is turned off again.
    kept = online.client.put("/api/settings", json={"offline": True, "online_tiles": tiles})
    assert (kept.status_code, kept.json()["online_tiles"]) == (200, tiles)
    assert "tiles.example.org" not in server.client.get("/").headers["content-security-policy"]


def test_the_map_needs_no_network(server: Served) -> None:
    style = server.client.get("/tiles/style/light.json")
    assert style.status_code == 200
    assert set(re.findall(r"https?://[^/\"]+", style.text)) == {server.url}
    tile = server.client.get("/tiles/0/0/0.mvt")
    assert (tile.status_code, tile.headers["content-type"]) == (200, "application/vnd.mapbox-vector-tile")
    assert server.client.get("/tiles/3/99/0.mvt").status_code == 400
