"""``--granularity``: a street name that was read appears in nothing that leaves, at whatever level hides it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.agent import read_trajectory
from geosleuth.geo import LatLon
from later import later
from locating import ANSWER, at, locate_here, photo_file
from openai_server import ServerUrl, chat_reply, openai_server
from scenery import save, scene
from signs import sign_photo

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

MARKER = "Grimaldi"
CLAIMED = LatLon(43.731234, 7.415678)
ENDINGS = ("html", "json", "geojson", "kml", "csv", "dwc.csv", "xmp")
NOTED = chat_reply(
    f"The sign says Rue {MARKER}.",
    [
        ("note_hypothesis", {"place": f"Rue {MARKER}, Monaco", "confidence": 0.7, "evidence_for": [f"Rue {MARKER}"]}),
        ("maps_geocode", {"address": f"Rue {MARKER}, Monaco"}),
        (f"look_{MARKER}", {"query": MARKER}),
    ],
)
TOLD = {
    **ANSWER,
    "explanation": f"Rue {MARKER} it is.",
    "candidates": [{"name": f"Rue {MARKER} 2", "probability": 0.1}],
}


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([NOTED, chat_reply(json.dumps(TOLD))]) as url:
        yield url


@pytest.mark.parametrize("level", ["country", "city"])
def test_a_street_name_appears_in_nothing_that_leaves(tmp_path: Path, server: ServerUrl, level: str) -> None:
    photo = save(scene(3), tmp_path / f"rue-{MARKER}.jpg", CLAIMED)
    service = tmp_path / "service"
    service.mkdir()
    out = [word for ending in ENDINGS for word in ("--out", service / f"found.{ending}")]
    done = locate_here(
        photo, *at(server), "--granularity", level, *out, "--trajectory", service / "run.jsonl",
        "--hint", f"near Rue {MARKER}",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Monaco" in done.out
    written = {path.name: path.read_bytes().decode("utf-8") for path in service.iterdir()}
    assert set(written) == {*(f"found.{ending}" for ending in ENDINGS), "run.jsonl"}
    for name, text in {**written, "stdout": done.out, "stderr": done.err}.items():
        folded = text.casefold()
        assert MARKER.casefold() not in folded, name
        for told in ("43.7354", "7.4211", "43.7312", "7.4156"):
            assert told not in folded, (name, told)
    assert json.loads(written["found.json"])["granularity"] == level
    assert read_trajectory(service / "run.jsonl").ended is not None


@pytest.mark.parametrize("album", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_detective_tells_no_street_and_no_file_name(tmp_path: Path, *, album: bool) -> None:
    folder = tmp_path / f"Rue {MARKER} album"
    folder.mkdir()
    photo = sign_photo(folder / f"Rue {MARKER} 6.jpg", f"Rue {MARKER}", "Monaco", "+377 93 15 28 32")
    if album:
        (folder / f"Rue {MARKER} 8.jpg").write_bytes(b"no picture")
    service = tmp_path / "service"
    service.mkdir()
    if not album:
        assert f"Rue {MARKER}" in locate_here(photo, "--offline", "--json").out, "the street was read"
    out = (
        ("--out", f"{service}/") if album else ("--trajectory", service / "run.jsonl", "--out", service / "found.html")
    )
    beside = ("--sidecars", "--write-exif", "--yes")
    check = ("--check", f"{CLAIMED.lat},{CLAIMED.lon}")
    words = (folder if album else photo, "--offline", "--granularity", "city", *out, *check)
    done = locate_here(*words, *beside)
    again = locate_here(*words, *beside)
    broken = locate_here(folder / f"Rue {MARKER} 9.jpg", "--offline", "--granularity", "city")
    assert done.code == int(album), done.err
    assert "Monaco" in done.out
    assert album or "is there already" in again.err
    assert "photo 1: there is no such file" in broken.err
    written = {path.name: path.read_text(encoding="utf-8") for path in (*service.iterdir(), *folder.glob("*.xmp"))}
    said = {"stdout": done.out, "stderr": done.err, "again": again.out + again.err, "broken": broken.out + broken.err}
    for name, text in {**written, **said}.items():
        assert MARKER.casefold() not in text.casefold(), name
        for told in ("43.7312", "7.4156"):
            assert told not in text, (name, told)


def test_everything_may_be_told_at_exact(tmp_path: Path, server: ServerUrl) -> None:
    photo = save(scene(3), tmp_path / "photo.jpg", CLAIMED)
    done = locate_here(photo, *at(server), "--out", tmp_path / "found.json")
    assert MARKER in done.out
    assert MARKER in done.err
    assert MARKER in (tmp_path / "found.json").read_text(encoding="utf-8")


def test_a_run_that_breaks_leaves_no_street_behind(tmp_path: Path) -> None:
    photo, kept = save(scene(3), tmp_path / "photo.jpg", None), tmp_path / "run.jsonl"
    with openai_server([NOTED, chat_reply("", manner="silent")]) as url:
        done = locate_here(photo, *at(url), "--granularity", "city", "--trajectory", kept, "--seconds", 8, "--json")
    assert done.document["ended"] == "seconds"
    for text in (kept.read_text(encoding="utf-8"), done.out, done.err):
        assert MARKER not in text


def test_without_a_finding_a_next_step_is_named_all_the_same(tmp_path: Path) -> None:
    photo = save(scene(3), tmp_path / "photo.jpg")
    done = locate_here(photo, "--granularity", "city", "--hint", "by the sea")
    assert done.code == 0, done.err
    assert "No place was found" in done.out
    told = " ".join(done.out.split())
    assert "would help Connect a vision model (geosleuth locate" in told
    assert "or say what you see or know: --seen, --within." in told


def test_a_wide_answer_is_told_as_wide_and_nothing_is_held_back(tmp_path: Path) -> None:
    """A circle of 600 km is no exact place, whatever may be told."""
    photo = photo_file(tmp_path)
    for radius_km, level in ((0.05, "exact"), (2.0, "city"), (600.0, "country")):
        with openai_server([chat_reply(json.dumps({**ANSWER, "radius_km": radius_km}))]) as url:
            document = locate_here(photo, *at(url), "--json").document
        assert (document["granularity"], document["allowed_granularity"]) == (level, "exact")
        assert document["answer"]["explanation"] == ANSWER["explanation"]


def test_json_keeps_the_decimals_of_an_answer_and_people_read_fewer(tmp_path: Path) -> None:
    photo, point = photo_file(tmp_path), {"lat": 43.742, "lon": 7.405}
    out = ("--out", tmp_path / "found.json", "--out", tmp_path / "found.csv", "--out", tmp_path / "found.geojson")
    with openai_server([chat_reply(json.dumps({**ANSWER, **point, "radius_km": 30}))]) as url:
        done = locate_here(photo, *at(url), "--json", *out)
        card = locate_here(photo, *at(url)).out
    for answer in (done.document["answer"], json.loads((tmp_path / "found.json").read_text())["answer"]):
        assert {name: answer[name] for name in point} == point
    (first, *_) = json.loads((tmp_path / "found.geojson").read_text())["features"]
    assert first["geometry"]["coordinates"] == [7.405, 43.742]
    assert ",43.74,7.4" in (tmp_path / "found.csv").read_text()
    assert "43.74, 7.4" in card
    assert "43.742" not in card


def test_a_cap_still_moves_the_point_in_json(tmp_path: Path) -> None:
    photo = photo_file(tmp_path)
    points = []
    for lat, lon in ((43.73541, 7.42113), (43.73687, 7.42452)):
        with openai_server([chat_reply(json.dumps({**ANSWER, "lat": lat, "lon": lon}))]) as url:
            document = locate_here(photo, *at(url), "--json", "--granularity", "city").document
        points.append((document["answer"]["lat"], document["answer"]["lon"]))
        assert not any(digits in json.dumps(document) for digits in (str(lat), str(lon)))
    # Wherever in the town they lie, the same point is told.
    assert points[0] == points[1]
