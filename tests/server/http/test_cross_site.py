"""What pages of other sites, and what hostile words, can't do."""

import json
from pathlib import Path

import httpx
import pytest

from geosleuth.server.http.responses import REPORT_POLICY
from serving import Served, photo_bytes, recording, served

SCRIPT = "<script>alert('sign')</script>"
TOKEN = "a-token-of-many-letters"  # noqa: S105


def status_and_kind(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["kind"]


def test_another_name_for_this_machine_is_refused(server: Served) -> None:
    for path in ("/", "/api/health", "/api/cases", "/tiles/0/0/0.mvt"):
        reply = server.client.get(path, headers={"Host": "evil.example"})
        assert status_and_kind(reply) == (403, "host")
    port = server.url.rpartition(":")[2]
    assert server.client.get("/api/health", headers={"Host": f"localhost:{port}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_change_nothing(server: Served, headers: dict[str, str]) -> None:
    case = server.case(title="mine")
    client = server.client
    tried = [
        client.post("/api/cases", json={}, headers=headers),
        # What a form of any page can send without being asked.
        client.post("/api/cases", content=b'{"title":"x"}', headers={**headers, "Content-Type": "text/plain"}),
        client.patch(f"/api/cases/{case}", json={"title": "theirs"}, headers=headers),
        client.delete(f"/api/cases/{case}", headers=headers),
        client.put("/api/settings", json={"offline": False}, headers=headers),
        client.put("/api/keys/openai", json={"key": "k"}, headers=headers),
    ]
    assert [status_and_kind(reply) for reply in tried] == [(403, "origin")] * len(tried)
    assert client.get(f"/api/cases/{case}").json()["title"] == "mine"
    assert client.get("/api/settings").json()["offline"] is True
    assert status_and_kind(client.get("/api/cases", headers={**headers, "Sec-Fetch-Mode": "cors"})) == (403, "origin")


def test_a_forms_body_is_not_taken_for_json(server: Served) -> None:
    form = {"Content-Type": "text/plain"}
    assert server.client.post("/api/cases", content=b'{"title":"x"}', headers=form).status_code == 422


def test_reading_changes_nothing(server: Served) -> None:
    """No route that changes something can be reached by GET or HEAD."""
    paths = server.client.get("/api/openapi.json").json()["paths"]
    changing = [path for path, methods in paths.items() if set(methods) - {"get"} and "get" not in methods]
    assert len(changing) >= 5
    for path in changing:
        known = path.replace("{case}", "0" * 16).replace("{run}", "0" * 16).replace("{service}", "openai")
        for method in ("GET", "HEAD"):
            # A review's photo could be called as a request is: there is none of that name.
            refused = {404, 405} if path.startswith("/api/review/") else {405}
            assert server.client.request(method, known).status_code in refused, path


def test_no_answer_may_be_read_by_other_sites(server: Served) -> None:
    for path in ("/", "/api/health", "/api/nothing"):
        headers = server.client.get(path, headers={"Origin": "https://evil.example"}).headers
        assert "access-control-allow-origin" not in headers
    preflight = server.client.options("/api/cases", headers={"Access-Control-Request-Method": "POST"})
    assert "access-control-allow-methods" not in preflight.headers


def test_every_answer_tells_browsers_what_not_to_do(server: Served) -> None:
    replies = [
        server.client.get("/"),
        server.client.get("/api/health"),
        server.client.get("/api/nothing"),
        server.client.get("/api/health", headers={"Host": "evil.example"}),
    ]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in reply.headers


def test_hostile_words_come_back_as_words(server: Served, tmp_path: Path) -> None:
    """A shop sign, a title, a file's name and a model's answer that would run, if anybody let them."""
    answer = json.dumps({"lat": 43.7, "lon": 7.4, "city": SCRIPT, "country": "Monaco", "explanation": SCRIPT})
    recorded = recording(tmp_path / "hostile.jsonl", 1, answer=answer, thought=SCRIPT)
    made = server.client.post("/api/cases", json={"title": SCRIPT, "notes": SCRIPT}).json()
    assert server.upload(made["id"], photo_bytes(SCRIPT), name=f"{SCRIPT}.jpg").status_code == 201
    run = server.start(made["id"], model=f"replay:{recorded}", hint=SCRIPT)
    assert server.over(run) == "done"

    case = server.client.get(f"/api/cases/{made['id']}")
    assert case.headers["content-type"] == "application/json"
    assert case.json()["title"] == case.json()["notes"] == SCRIPT
    said = [told.data["thought"] for told in server.told(run) if told.kind == "said"]
    assert SCRIPT in said[0]
    result = server.client.get(f"/api/runs/{run}/result")
    assert result.headers["content-type"] == "application/json"

    report = server.client.get(f"/api/runs/{run}/files/html")
    assert "alert(" in report.text
    assert "<script" not in report.text
    assert report.headers["content-security-policy"] == REPORT_POLICY
    assert "sandbox" in REPORT_POLICY
    assert "allow-scripts" not in REPORT_POLICY
    assert "allow-same-origin" not in REPORT_POLICY
    for form in ("kml", "xmp"):
        assert "<script" not in server.client.get(f"/api/runs/{run}/files/{form}").text


@pytest.mark.slow
def test_a_signs_words_read_by_the_detective_are_words_too(server: Served) -> None:
    run = server.start(
        server.case(photo_bytes("<script>alert(1)</script>", "Rue Grimaldi", size=(900, 320))), seconds=60
    )
    assert server.over(run, 120) == "done"
    raw = "".join(json.dumps(told.data) for told in server.told(run) if told.kind == "observed")
    assert "script" in raw
    assert "<script" not in server.client.get(f"/api/runs/{run}/files/html").text


def test_beyond_this_machine_a_token_is_asked_for_and_compared_whole(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    arguments = ("--host", "0.0.0.0", "--token-file", str(file), "--allowed-host", "photos.example.org")  # noqa: S104
    with served(home, "--home", str(tmp_path / "service"), *arguments) as server:
        client = server.client
        assert client.get("/api/health").status_code == 200
        assert client.get("/").status_code in (200, 503)
        for path in ("/api/cases", "/api/about", "/api/openapi.json", "/api/nothing", "/tiles/0/0/0.mvt"):
            reply = client.get(path)
            assert status_and_kind(reply) == (401, "token")
            assert reply.headers["www-authenticate"] == "Bearer"
        assert client.post("/api/cases", json={}).status_code == 401
        wrong = {"Authorization": f"Bearer {TOKEN[:-1]}"}
        assert client.get("/api/cases", headers=wrong).status_code == 401
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/api/cases", headers=right).status_code == 200
        for host, status in (("photos.example.org", 200), ("192.168.0.7:8711", 200), ("evil.example", 403)):
            assert client.get("/api/cases", headers={**right, "Host": host}).status_code == status
        # In the address a token would end up in histories and logs.
        assert client.get("/api/cases", params={"token": TOKEN}).status_code == 401

        signed_in = client.post("/api/session", json={"token": TOKEN})
        cookie = signed_in.headers["set-cookie"].lower()
        assert signed_in.status_code == 204
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in signed_in.headers["set-cookie"]
        assert client.get("/api/cases").status_code == 200
        assert client.delete("/api/session").status_code == 204
        assert client.get("/api/cases").status_code == 401

        # Whoever keeps guessing has to wait, even with the right one.
        statuses = [client.post("/api/session", json={"token": f"guess {number}"}).status_code for number in range(14)]
        assert (statuses[0], statuses[-1]) == (401, 429)
        assert client.post("/api/session", json={"token": TOKEN}).status_code == 429
        assert client.get("/api/cases", headers=right).status_code == 429
