"""The API as programs use it: a case, its photos, a run, what came of it, and the end of all that."""

import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.server.records import FILES
from serving import Served, drawing_bytes, photo_bytes

EXAMPLES = Path(__file__).parents[3] / "examples" / "photos"
FORMATS = {
    "html": "text/html",
    "json": "application/json",
    "geojson": "application/geo+json",
    "kml": "application/vnd.google-earth.kml+xml",
    "csv": "text/csv",
    "dwc.csv": "text/csv",
    "xmp": "application/rdf+xml",
    "jsonl": "application/x-ndjson",
    "zip": "application/zip",
}


@pytest.fixture(scope="module")
def case(server: Served) -> str:
    return server.case(photo_bytes("Rue Grimaldi"), title="By the sea")


@pytest.fixture(scope="module")
def finished(server: Served, case: str, replayed: str) -> str:
    run = server.start(case, model=replayed)
    assert server.over(run) == "done"
    return run


def error_of(reply: Any) -> tuple[int, str, str]:
    """Status, kind and message of a refusal, which has just one shape."""
    document = reply.json()
    assert set(document) == {"error"}
    assert set(document["error"]) <= {"kind", "message", "hosts"}
    message = document["error"]["message"]
    assert message
    assert "\n" not in message
    return reply.status_code, document["error"]["kind"], message


def test_the_server_lives_and_says_what_it_is(server: Served) -> None:
    assert server.client.get("/api/health").json()["status"] == "ok"
    about = server.client.get("/api/about").json()
    assert about["offline"] is True
    assert about["token"] is False
    assert about["formats"] == list(FORMATS) == list(FILES)
    assert about["limits"]["photo_bytes"] == 100 * 1024 * 1024
    assert about["models"][0]["model"] == "detective"


def test_a_case_is_made_found_changed_and_deleted(server: Served) -> None:
    case = server.case(title="Zanzibar harbour")
    client = server.client
    found = client.get("/api/cases", params={"query": "zanzibar"}).json()["cases"]
    assert [one["id"] for one in found] == [case]
    changed = client.patch(f"/api/cases/{case}", json={"notes": "<b>Kiosk</b> at the left"}).json()
    assert (changed["title"], changed["notes"]) == ("Zanzibar harbour", "<b>Kiosk</b> at the left")
    assert client.delete(f"/api/cases/{case}").status_code == 204
    assert error_of(client.get(f"/api/cases/{case}"))[:2] == (404, "missing")
    assert client.get("/api/cases", params={"query": "zanzibar"}).json()["cases"] == []


def test_a_photo_comes_back_as_pixels_alone(server: Served) -> None:
    case = server.case(photo_bytes("x", size=(1200, 800)))
    for size, longest in (("thumb", 320), ("view", 1200)):
        shown = server.client.get(f"/api/cases/{case}/photos/1", params={"size": size})
        assert shown.headers["content-type"] == "image/jpeg"
        assert b"Exif" not in shown.content
        import io

        from PIL import Image

        assert max(Image.open(io.BytesIO(shown.content)).size) == longest
    assert server.client.delete(f"/api/cases/{case}/photos/1").status_code == 204
    assert error_of(server.client.get(f"/api/cases/{case}/photos/1"))[:2] == (404, "missing")


def test_a_drawing_is_told_as_soon_as_it_is_there_and_in_its_finding(server: Served, replayed: str) -> None:
    case = server.case((EXAMPLES / "shop-front.jpg").read_bytes(), drawing_bytes("Rue Grimaldi"))
    photos = server.client.get(f"/api/cases/{case}").json()["photos"]
    assert photos[0]["not_a_photo"] is None
    assert (nature := photos[1]["not_a_photo"]) in ("screenshot", "drawing", "document")
    run = server.start(case, model=replayed)
    assert server.over(run) == "done"
    view = server.client.get(f"/api/runs/{run}/view").json()
    assert [one["not_a_photo"] for one in view["claims"]] == [None, nature]
    assert f"photo 2 looks like a {nature}, not a photograph" in view["answer"]["verdict"]
    result = server.client.get(f"/api/runs/{run}/result").json()
    assert [one.get("not_a_photo") for one in result["photos"]] == [None, nature]
    assert [one["kind"] for one in result["doubts"]] == ["not_a_photo"]


def test_what_is_no_photo_is_refused_in_one_line(server: Served, case: str) -> None:
    status, kind, message = error_of(server.upload(case, b"<script>alert(1)</script>"))
    assert (status, kind) == (400, "input")
    assert "photo" in message
    url = f"/api/cases/{case}/photos"
    assert error_of(server.client.post(url, content=b"x", headers={"Content-Type": "text/plain"}))[:2] == (415, "media")
    assert error_of(server.upload(case, b""))[:2] == (400, "input")


def test_a_run_tells_its_story_in_order(server: Served, finished: str) -> None:
    told = list(server.told(finished))
    assert [one.id for one in told] == list(range(len(told)))
    kinds = [one.kind for one in told]
    assert kinds[0] == "state"
    assert kinds.index("started") < kinds.index("said") < kinds.index("observed") < kinds.index("answer")
    assert (kinds[-1], told[-1].data["state"]) == ("state", "done")
    assert next(one.data for one in told if one.kind == "answer")["lat"] == pytest.approx(43.7384)


def test_the_result_is_what_was_told(server: Served, finished: str) -> None:
    result = server.client.get(f"/api/runs/{finished}/result").json()
    assert result["answer"]["lat"] == pytest.approx(43.7384)
    view = server.client.get(f"/api/runs/{finished}/view").json()
    assert view["answer"]["lat"] == pytest.approx(43.7384)
    assert view["trajectory"] == result["trajectory"]
    assert result["allowed_granularity"] == "exact"
    row = server.client.get(f"/api/runs/{finished}").json()
    assert row["state"] == "done"
    assert row["answer"]["lon"] == pytest.approx(7.4246)
    assert row["created"] <= row["started"] <= row["ended"]
    for words, there in (("monaco SEA", True), ("monaco winter", False)):
        cases = server.client.get("/api/cases", params={"query": words}).json()["cases"]
        assert (row["case"] in [one["id"] for one in cases]) is there


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_can_be_had(server: Served, finished: str, form: str) -> None:
    reply = server.client.get(f"/api/runs/{finished}/files/{form}")
    assert reply.status_code == 200
    assert reply.headers["content-type"].partition(";")[0] == FORMATS[form]
    assert reply.headers["content-disposition"].endswith(f"photo.{form}")
    head = server.client.head(f"/api/runs/{finished}/files/{form}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-disposition"] == reply.headers["content-disposition"]
    assert reply.headers["content-disposition"].startswith("inline" if form == "html" else "attachment")
    if form == "geojson":
        assert json.loads(reply.text)["type"] == "FeatureCollection"


def test_the_pictures_that_a_run_looked_at_can_be_had(server: Served, finished: str) -> None:
    handles = [
        one.data["picture"]["handle"]
        for one in server.told(finished)
        if one.kind == "observed" and one.data.get("picture")
    ]
    assert handles
    reply = server.client.get(f"/api/runs/{finished}/pictures/{handles[0]}")
    assert (reply.status_code, reply.content[:2]) == (200, b"\xff\xd8")
    assert error_of(server.client.get(f"/api/runs/{finished}/pictures/image-999"))[:2] == (404, "missing")


def test_a_claimed_place_is_checked(server: Served, finished: str) -> None:
    near = server.client.post(f"/api/runs/{finished}/check", json={"lat": 43.7385, "lon": 7.4245}).json()
    far = server.client.post(f"/api/runs/{finished}/check", json={"lat": -33.9, "lon": 151.2}).json()
    assert near["verdict"] == "for"
    assert far["verdict"] != "for"
    assert error_of(server.client.post(f"/api/runs/{finished}/check", json={"lat": 91, "lon": 0}))[:2] == (
        422,
        "invalid",
    )


def test_a_run_goes_on_with_feedback_and_both_can_be_compared(server: Served, finished: str) -> None:
    made = server.client.post(f"/api/runs/{finished}/continue", json={"hint": "Somebody says it is in Nice."})
    assert made.status_code == 202, made.text
    second = made.json()["id"]
    assert made.json()["parent"] == finished
    assert server.over(second) in ("done", "failed")
    assert server.state(finished) == "done"
    compared = server.client.get("/api/compare", params={"left": finished, "right": second})
    assert compared.status_code == 200, compared.text


def test_wrong_words_are_said_in_the_words_of_the_api(server: Served, case: str) -> None:
    url = f"/api/cases/{case}/runs"
    status, kind, message = error_of(server.client.post(url, json={"within": "Atlantis"}))
    assert (status, kind) == (400, "input")
    assert message.startswith("within 'Atlantis'")
    assert "file" not in message
    assert "area" in message
    misspelt = error_of(server.client.post(url, json={"modle": "detective"}))
    assert misspelt == (422, "invalid", "no such option: modle; did you mean model?")
    unknown = error_of(server.client.post(url, json={"colour": "red"}))
    assert unknown == (422, "invalid", "no such option: colour")
    assert error_of(server.client.post(url, json={"turns": 0}))[:2] == (422, "invalid")


@pytest.mark.parametrize("sent", [b"{", b'{"turns": 3,}', b"null", b"[]", b'"hint"', b"7", b""])
def test_a_body_that_is_no_object_is_refused_in_words_for_people(server: Served, case: str, sent: bytes) -> None:
    kind = {"Content-Type": "application/json"}
    status, named, message = error_of(server.client.post(f"/api/cases/{case}/runs", content=sent, headers=kind))
    assert (status, named) == (422, "invalid")
    assert message.startswith("the request's body is ")
    assert "JSON" in message


def test_a_body_of_another_kind_is_refused_in_words_for_people(server: Served, case: str) -> None:
    reply = server.client.post(f"/api/cases/{case}/runs", content=b"hint", headers={"Content-Type": "text/plain"})
    assert error_of(reply)[2].endswith("sent as application/json")


def test_the_headers_alone_can_be_had(server: Served, case: str, finished: str) -> None:
    for path in ("/", "/api/health", "/api/cases", f"/api/cases/{case}/photos/1"):
        had, head = server.client.get(path), server.client.head(path)
        assert (head.status_code, head.content) == (had.status_code, b"")
        assert head.headers["content-type"] == had.headers["content-type"]
    assert server.client.head("/api/cases/" + "0" * 16).status_code == 404
    assert server.client.head(f"/api/runs/{finished}/events").status_code == 405


def test_files_of_the_server_are_not_read_for_clients(server: Served, case: str, tmp_path: Path) -> None:
    secret = tmp_path / "outline.geojson"
    secret.write_text('{"type": "Polygon", "coordinates": [[[0,0],[0,1],[1,1],[0,0]]]}')
    status, _, message = error_of(server.client.post(f"/api/cases/{case}/runs", json={"within": str(secret)}))
    assert status == 400
    assert "area" in message


@pytest.mark.parametrize(
    "rings", [[], [[]], [[[0, 0], [1, 1]]], [[[0, 0], [0, 1], [1, 1], [0, 0.5]]], [[[0, 0], [0, 100], [1, 1], [0, 0]]]]
)
def test_what_is_no_outline_is_refused(server: Served, case: str, rings: Any) -> None:
    area = {"type": "Polygon", "coordinates": rings}
    assert error_of(server.client.post(f"/api/cases/{case}/runs", json={"area": area}))[:2] == (400, "input")


@pytest.mark.parametrize("height", ["NaN", "Infinity", "1" + "0" * 400])
def test_heights_that_are_no_numbers_are_refused(server: Served, case: str, height: str) -> None:
    ring = f"[[0, 0, 0], [1, 0, {height}], [1, 1, {height}], [0, 0, 0]]"
    sent = '{"area": {"type": "Polygon", "coordinates": [' + ring + "]}}"
    headers = {"Content-Type": "application/json"}
    assert error_of(server.client.post(f"/api/cases/{case}/runs", content=sent, headers=headers))[0] in (400, 422)


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="this system has no file without an end")
def test_a_recording_without_an_end_is_not_read(server: Served, case: str) -> None:
    reply = server.client.post(f"/api/cases/{case}/runs", json={"model": "replay:/dev/zero"})
    assert error_of(reply)[:2] == (400, "input")


def test_what_is_not_there_is_missing(server: Served) -> None:
    nobody = "0" * 16
    for path in (
        f"/api/cases/{nobody}",
        f"/api/runs/{nobody}",
        f"/api/runs/{nobody}/events",
        f"/api/runs/{nobody}/result",
    ):
        assert error_of(server.client.get(path))[:2] == (404, "missing")
    assert error_of(server.client.get("/api/nothing"))[:2] == (404, "missing")
    for name in ("/nothing.js", "/" + "a" * 300, "/a%00b", "/assets/" + "x/" * 3000):
        assert error_of(server.client.get(name))[:2] == (404, "missing")
    assert error_of(server.client.put("/api/cases"))[:2] == (405, "method")


def test_a_case_without_photos_starts_nothing(server: Served) -> None:
    reply = server.client.post(f"/api/cases/{server.case()}/runs", json={})
    assert error_of(reply)[:2] == (400, "input")


def test_deleting_a_run_leaves_nothing_of_it(server: Served, home: Path, case: str, replayed: str) -> None:
    run = server.start(case, model=replayed, hint="a word that is nowhere else: quixotry")
    assert server.over(run) == "done"
    assert server.client.delete(f"/api/runs/{run}").status_code == 204
    assert error_of(server.client.get(f"/api/runs/{run}/events"))[:2] == (404, "missing")
    left = [
        path for path in (home / "data" / "service").rglob("*") if path.is_file() and b"quixotry" in path.read_bytes()
    ]
    assert left == []
