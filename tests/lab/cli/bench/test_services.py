"""A map service that fails in mid-run: counted in trajectories, manifest and report, and said at the top."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from geosleuth.agent import read_trajectory
from geosleuth.pipeline import searches
from geosleuth.support.service_use import ServiceUse, merge_uses
from in_process import whole_command
from later import later
from locating import FINAL, photo_file
from openai_server import chat_reply, openai_server

later("pydantic_ai")

PHOTOS, FAILING = 10, range(4, 7)
PLACE = {
    "osm_type": "node", "osm_id": 1, "lat": "43.7354", "lon": "7.4211", "category": "place", "type": "town",
    "name": "Monaco", "display_name": "Monaco", "address": {"country": "Monaco", "country_code": "mc"},
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def nominatim() -> Iterator[str]:
    """A geocoder that answers with status 500 to three names in the middle."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fails = any(f"Nowhere+{number}" in self.path for number in FAILING)
            body = json.dumps([PLACE]).encode()
            self.send_response(500 if fails else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_failing_map_service_is_counted_and_said_at_the_top(
    nominatim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a rest after a failure each call finds out for itself.
    usual = searches.online_settings
    monkeypatch.setattr(searches, "online_settings", lambda *given: replace(usual(*given), breaker_rest_s=0.001))
    rows = []
    for number in range(PHOTOS):
        photo_file(tmp_path, f"{number}.jpg")
        rows.append(f"p{number},{number}.jpg,43.7354,7.4211")
    (tmp_path / "photos.csv").write_text("\n".join(["id,image,lat,lon", *rows]) + "\n")
    asks = [chat_reply("", [("maps_geocode", {"address": f"Nowhere {number}"})]) for number in range(PHOTOS)]
    out, page = tmp_path / "run", tmp_path / "report.html"
    with openai_server([reply for ask in asks for reply in (ask, FINAL)]) as url:
        run = ("bench", "run", "--data", tmp_path / "photos.csv", "--model", "server:any", "--base-url", url)
        more = ("--tools", "maps_geocode", "--maps", "nominatim", "--maps-url", nominatim, "--at-once", "1")
        done = whole_command(*run, *more, "--out", out)
    assert done.returncode == 0, done.stderr
    words = "nominatim: 3 of 10 failed (30 %), 3 by a fallback"
    assert words in " ".join(done.stdout.split())

    expected = ServiceUse("nominatim", PHOTOS, len(FAILING), len(FAILING))
    runs = [read_trajectory(path) for path in (out / "trajectories").rglob("*.jsonl")]
    assert merge_uses(use for one in runs for use in one.spent.services) == (expected,)
    shown = whole_command("trajectory", "show", next((out / "trajectories").rglob("*.jsonl")))
    assert "; nominatim: 1 of 1 failed" in shown.stdout or "; nominatim: 1 asked, none failed" in shown.stdout
    told = {"name": "nominatim", "asked": 10, "failed": 3, "fallbacks": 3}
    assert json.loads((out / "manifest.json").read_text())["services"] == [told]
    assert json.loads((out / "summary.json").read_text())["services"] == [told]

    shown = whole_command("bench", "report", out, "--out", page)
    assert shown.returncode == 0, shown.stderr
    assert words in shown.stdout.splitlines()[0]
    written = page.read_text()
    assert written.index(words) < written.index("<h2") < written.rindex(words)
    (report,) = json.loads(whole_command("bench", "report", out, "--json").stdout)["runs"]
    assert report["services"] == [told]
    assert [one.startswith(words) for one in report["alarms"]] == [True]

    # The run goes on from the manifest as it now is, and counts nothing twice.
    again = whole_command(*run, *more, "--out", out, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["services"] == [told]
