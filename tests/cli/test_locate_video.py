"""``geosleuth locate clip.mp4``: places with their seconds, in JSON, on the card and in files."""

import csv
import json
from pathlib import Path

import pytest

from clips import PLACES, board, still, three_places, write_clip
from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.pipeline.video import is_same, video_schema
from locating import locate_here, photo_file

pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_places(tmp_path_factory.mktemp("clips") / "walk.mp4")


def test_each_place_of_a_video_is_located_from_its_own_seconds(walk: Path, tmp_path: Path) -> None:
    out = [tmp_path / name for name in ("places.html", "places.geojson", "places.json", "places.csv")]
    words = [word for path in out for word in ("--out", path)]
    done = locate_here(walk, "--offline", "--json", *words, "--trajectory", tmp_path / "run.jsonl")
    assert done.code == 0, done.err
    pytest.importorskip("jsonschema").validate(done.document, video_schema())
    places = done.document["places"]
    for number, (place, (name, lines)) in enumerate(zip(places, PLACES.items(), strict=True)):
        assert name in json.dumps(place["finding"]["answer"])
        assert place["spans"][0][0] == 1.5 * number
        assert all(place["spans"][0][0] <= frame["seconds"] <= place["spans"][0][1] for frame in place["frames"])
        assert {line for frame in place["frames"] for line in frame["reads"]} >= set(lines)
        assert any(name in told for frame in place["frames"] for told in frame["told"])
        assert [one["sha256"] for one in place["finding"]["photos"]] == [one["sha256"] for one in place["frames"]]
    assert (tmp_path / "run-3.jsonl").is_file()
    page = out[0].read_text(encoding="utf-8")
    assert "3 places in walk.mp4" in page
    assert "0:01.5–0:03" in page
    assert "Liechtenstein" in page
    kinds = [one["properties"]["role"] for one in json.loads(out[1].read_text(encoding="utf-8"))["features"]]
    assert kinds.count("finding") == 3, kinds
    assert json.loads(out[2].read_text(encoding="utf-8")) == done.document
    with out[3].open(encoding="utf-8", newline="") as stream:
        assert [row["file"] for row in csv.DictReader(stream)][1] == "walk.mp4 0:01.5–0:03"


def test_the_card_says_which_second_told_what(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "one.webm", [still(board(1, "Vaduz", "Liechtenstein"), 1)], rate=8, size=(640, 360))
    done = locate_here(clip, "--offline", "--out", f"{tmp_path / 'found'}/")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "Place 1 of 1: 0:00–0:00.9"
    assert lines[1].startswith("  0:00")
    assert "Vaduz" in done.out
    assert "1 scene, 1 place by the look of it" in done.err
    assert "place 1 of 1: frames at 0:00" in done.err
    assert "Seconds of the video" in (tmp_path / "found" / "place-1.html").read_text(encoding="utf-8")
    assert "place-1.html" in (tmp_path / "found" / "index.html").read_text(encoding="utf-8")


def test_below_exact_nothing_that_was_read_is_told(walk: Path, tmp_path: Path) -> None:
    out = tmp_path / "places.html"
    done = locate_here(walk, "--offline", "--json", "--granularity", "country", "--out", out)
    assert done.code == 0, done.err
    told = done.out + done.err + out.read_text(encoding="utf-8")
    assert "Finland" in told
    for words in ("Vaduz", "Rosenheim", "Helsinki", "walk.mp4", "Suomi"):
        assert words not in told.replace(str(out), "")


def test_what_a_video_cannot_have_is_refused_in_one_line(walk: Path, tmp_path: Path) -> None:
    assert "located by itself" in locate_here(walk, photo_file(tmp_path)).refusal
    assert "--write-exif" in locate_here(walk, "--write-exif", "--yes").refusal
    assert "one photo's finding" in locate_here(walk, "--out", tmp_path / "a.xmp").refusal
    broken = tmp_path / "broken.mov"
    broken.write_bytes(walk.read_bytes()[:300])
    assert locate_here(broken, "--offline").refusal == (
        f"{broken}: it is cut short or damaged, or no video; get a whole copy of it"
    )
    assert "no such file" in locate_here(tmp_path / "none.mkv").refusal


def test_two_answers_are_one_place_where_they_are_fine_enough_to_say_so() -> None:
    here, near, far = LatLon(47.14, 9.52), LatLon(47.142, 9.522), LatLon(48.0, 11.0)
    assert is_same(Answer(here, radius_km=1.5), Answer(near, radius_km=3.0))
    assert not is_same(Answer(here, radius_km=1.5), Answer(far, radius_km=3.0))
    assert not is_same(Answer(here, radius_km=500.0), Answer(near, radius_km=500.0))
    assert not is_same(Answer(), Answer())


def test_two_shops_in_one_street_are_two_places() -> None:
    def found(name: str, lat: float) -> Answer:
        return Answer(LatLon(lat, 7.42), Address.create("Monaco", precise=name), 0.9, 0.3)

    bakery = found("L'Épi d'Or, Monaco", 43.7330)
    assert not is_same(bakery, found("Pharmacie Centrale, Monaco", 43.7339))
    assert is_same(bakery, found("L'Épi d'Or, Monaco", 43.7339))
    assert is_same(bakery, found("Monaco", 43.7339))
    assert is_same(bakery, found("Rue Grimaldi, Monaco", 43.73302))
