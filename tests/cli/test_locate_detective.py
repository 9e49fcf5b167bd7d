"""``geosleuth locate`` with no model, no key and no network; what it is told, checks and writes."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

import geosleuth
from geosleuth.agent import read_trajectory
from geosleuth.photo import open_photo
from locating import FINAL, at, locate_here, locate_outside, photo_file, texts
from no_sockets import no_sockets, tries
from openai_server import openai_server
from signs import sign_photo

pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    return sign_photo(tmp_path / "sign.jpg", "Kööpenhaminan leipomo", "Helsinki", "+358 9 612 3456")


@pytest.mark.slow
def test_a_photo_is_located_with_no_model_and_no_socket(tmp_path: Path, sign: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    out = [tmp_path / name for name in ("found.html", "found.geojson")]
    words = [word for path in out for word in ("--out", path)]
    done = locate_outside(sign, "--offline", *words, env=no_sockets(watched))
    assert tries(watched) == ""
    assert done.code == 0, done.err
    assert "Finland" in done.out.splitlines()[0]
    assert "detective, method detective" in " ".join(done.out.split())
    assert "Finland" in out[0].read_text(encoding="utf-8")
    (finding, *_) = json.loads(out[1].read_text(encoding="utf-8"))["features"]
    lon, lat = finding["geometry"]["coordinates"]
    assert 59 < lat < 71
    assert 19 < lon < 32


def test_a_photo_without_a_clue_is_no_confident_point(tmp_path: Path) -> None:
    path = tmp_path / "wall.png"
    Image.new("RGB", (400, 300), (190, 180, 170)).save(path)
    done = locate_here(path, "--offline", "--json")
    assert done.code == 0
    assert "lat" not in done.document["answer"]
    assert done.document["answer"]["explanation"].startswith("No readable text found. Connect a vision model (")
    assert "candidates" not in done.document["answer"]


def test_what_the_user_knows_rules_places_out(sign: Path) -> None:
    found = locate_here(sign, "--offline", "--within", "Sweden", "--json").document["answer"]
    assert found.get("country", {}).get("conclusion") in (None, "Sweden")


def test_a_claimed_place_is_checked(sign: Path) -> None:
    far = locate_here(sign, "--offline", "--check", "35.6895,139.6917", "--json")
    assert far.code == 0
    assert far.document["check"]["verdict"] == "against"
    near = locate_here(sign, "--offline", "--check", "60.1699,24.9384")
    assert near.code == 0
    first = near.out.splitlines()[0]
    assert "speaks against" not in first
    assert "60.16990, 24.93840" in first
    assert "  for: " in near.out


def test_python_gives_a_finding_with_a_card_for_notebooks(tmp_path: Path, sign: Path) -> None:
    kept = tmp_path / "run.jsonl"

    async def in_a_notebook() -> str:
        return str(geosleuth.locate(sign, trajectory=kept, offline=True)._repr_html_())

    shown = asyncio.run(in_a_notebook())
    assert "Finland" in shown
    assert "<script" not in shown
    assert read_trajectory(kept).started.policy == "detective"
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        geosleuth.locate(sign, speed="high")
    assert not hasattr(geosleuth, "nothing")


def test_a_model_is_told_what_the_user_knows_and_claims(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    with openai_server([FINAL]) as url:
        words = ("--within", "Bavaria, Germany", "--taken", "2025-07-14T15:30+02:00", "--check", "48.1,11.5")
        done = locate_here(photo_file(tmp_path), *at(url), *words, "--tools", "none", "--json")
    told = texts(url.requests[0].json)
    assert "within this area: Bavaria, Germany" in told
    assert "taken at 2025-07-14 15:30+02:00" in told
    assert "claims that it was taken at 48.10000, 11.50000" in told
    assert done.document["check"]["verdict"] == "undecided"
    assert "the finding lies outside Bavaria, Germany" in done.err


def test_a_model_within_reach_is_named_and_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            body = b'{"data": [{"id": "qwen3-vl:8b\\u001b[2J"}]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-very-secret-one")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OLLAMA_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        done = locate_here(photo_file(tmp_path), "--tools", "none")
        server.shutdown()
    assert done.code == 0, done.err
    assert asked == ["GET /v1/models"]
    assert "--model ollama:qwen3-vl:8b2J (served at 127.0.0.1:" in done.err
    assert "--model anthropic:NAME (ANTHROPIC_API_KEY is set)" in done.err
    assert "secret" not in done.err
    assert "within reach" not in locate_here(photo_file(tmp_path), "--tools", "none", "--offline").err


def test_a_copy_with_the_place_is_written_after_leave(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    photo = photo_file(tmp_path, "photo.jpg")
    before = photo.read_bytes()
    with openai_server([FINAL]) as url:
        words = (photo, *at(url), "--tools", "none", "--write-exif")
        assert "add --yes" in locate_here(*words).refusal
        assert url.requests == []
        assert locate_here(*words, "--yes").code == 0
        assert "is there already" in locate_here(*words, "--yes").refusal
    assert photo.read_bytes() == before
    claims = open_photo(tmp_path / "photo-located.jpg").claims
    assert claims.point is not None
    assert claims.point.lat == pytest.approx(43.7354, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--within", "Atlantis"), "no area that is known"),
        (("--within", "Germny"), "no area that is known; did you mean Germany? Otherwise write a country"),
        (("--within", "Lombrady"), "did you mean Lombardy?"),
        (("--within", "Eurpoe"), "did you mean Europe?"),
        (("--within", "Bavria, Germany"), "did you mean Bavaria, Germany?"),
        (("--within", "zzzzqq"), "no area that is known; write a country"),
        (("--within", "95,0,96,1"), "is no area"),
        (("--within", "missing.geojson"), "can't be read"),
        (("--taken", "teatime"), "is no time"),
        (("--taken", "2126-07-14T15:30"), "lies in the future"),
        (("--within", "48,2,0"), "its radius is 0 km"),
        (("--check", "north"), "is no point"),
        (("--drives-on", "top"), "left or right"),
        (("--method", "twm"), "name one with --model"),
        (("--check", "nan,nan"), "is no point"),
        (("--within", "nan,1,2,3"), "is no area"),
        (("--within", "1,2,inf"), "is no area"),
        (("--within", ""), "no area that is known"),
        (("--taken", ""), "is no time"),
        (("--out", "found.docx"), "unknown file extension; use one of .html, .zip, .json"),
        (("--out", ""), "--out names no file"),
        (("--out", "a.json", "--out", "./a.json"), "the same file twice"),
        (("--out", "nowhere/found.html"), "the folder nowhere does not exist"),
        (("--image-url", "https://example.org/a.jpg"), "--image-search"),
    ],
)
def test_words_that_must_be_mended(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    assert reason in locate_here(photo_file(tmp_path), *words).refusal


def test_a_trajectory_never_takes_the_photos_place(tmp_path: Path) -> None:
    photo = photo_file(tmp_path)
    before = photo.read_bytes()
    assert "is the photo itself" in locate_here(photo, "--trajectory", photo, "--overwrite").refusal
    assert photo.read_bytes() == before
    kept = tmp_path / "run.jsonl"
    kept.write_text("mine", encoding="utf-8")
    assert "--overwrite" in locate_here(photo, "--trajectory", kept).refusal


def test_a_hint_is_shown_as_it_is_and_does_nothing(tmp_path: Path) -> None:
    out = tmp_path / "found.html"
    hint = "\x1b[31mMonaco\x1b[0m \x07<script>alert(1)</script>[bold]x[/bold] " + "Monaco " * 420
    done = locate_here(photo_file(tmp_path), "--offline", "--tools", "none", "--hint", hint, "--out", out)
    assert done.code == 0, done.err
    assert not {"\x1b", "\x07"} & set(done.out + done.err)
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page
    assert not {"\x1b", "\x07"} & set(page)
    assert "&lt;script&gt;" in page


def test_a_polygon_file_is_an_area(tmp_path: Path) -> None:
    from geosleuth.geo import LatLon
    from geosleuth.pipeline.area import parse_area

    path = tmp_path / "area.geojson"
    ring = [[7.0, 43.0], [8.0, 43.0], [7.0, 44.0], [7.0, 43.0]]
    path.write_text(json.dumps({"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}))
    area = parse_area(str(path))
    assert area is not None
    assert area.extent is not None
    assert not area.contains(LatLon(43.9, 7.9))
    assert area.contains(LatLon(43.2, 7.2))
