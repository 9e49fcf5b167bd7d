"""``/api/cases/CASE/videos``: a video over the wire, and runs on some photos of a case."""

from pathlib import Path

from clips import board, still, write_clip
from serving import Served


def test_a_video_over_http_gives_places_and_a_run_takes_its_photos(
    server: Served, replayed: str, tmp_path: Path
) -> None:
    clip = write_clip(tmp_path / "a.webm", [still(board(1, "Vaduz"), 1)], rate=6, size=(640, 360)).read_bytes()
    case = server.case()
    path = f"/api/cases/{case}/videos"
    assert server.client.get(path).json() == {"videos": []}
    as_text = server.client.post(path, content=clip, headers={"Content-Type": "text/plain"})
    assert (as_text.status_code, as_text.json()["error"]["kind"]) == (415, "media")
    junk = server.client.post(path, content=b"#EXTM3U\n", headers={"Content-Type": "video/mp4"})
    assert (junk.status_code, junk.json()["error"]["kind"]) == (400, "input")
    assert "no video that can be opened" in junk.json()["error"]["message"]
    sent = server.client.post(f"{path}?name=a.webm", content=clip, headers={"Content-Type": "video/webm"})
    assert sent.status_code == 201, sent.text
    (video,) = sent.json()["videos"]
    assert (video["name"], video["width"], video["height"]) == ("a.webm", 640, 360)
    (place,) = video["places"]
    photos = [one["photo"] for one in place["frames"]]
    run = server.start(case, model=replayed, photos=photos[:1])
    assert server.client.get(f"/api/runs/{run}").json()["photos"] == photos[:1]
    missing = server.client.post(f"/api/cases/{case}/runs", json={"model": replayed, "photos": [77]})
    assert (missing.status_code, missing.json()["error"]["message"]) == (400, "this case has no photo 77")
    again = server.client.post(path, content=clip, headers={"Content-Type": "video/webm"})
    assert (again.status_code, again.json()["error"]["kind"]) == (409, "state")
