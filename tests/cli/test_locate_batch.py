"""Several photos at once: a batch that can be gone on with, and photos of one place."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.agent import read_trajectory
from geosleuth.photo import open_photo
from geosleuth.server.review import Review
from geosleuth.support.console import this_command
from geosleuth.support.errors import BadInput, install_command
from later import later
from locating import FINAL, LAT, at, locate_here, photo_file
from openai_server import Reply, ServerUrl, openai_server
from scenery import scene
from signs import camera_exif

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([FINAL]) as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two photos, one of them twice and deeper down, a broken one, and what is no photo."""
    inside = tmp_path / "photos"
    (inside / "more").mkdir(parents=True)
    for path, seed in ((inside / "a.jpg", 1), (inside / "more" / "b.JPG", 2), (inside / "more" / "again.jpg", 1)):
        scene(seed, (160, 120)).save(path, "JPEG")
    (inside / "broken.png").write_bytes(b"no picture")
    (inside / "notes.txt").write_text("not a photo")
    (inside / ".hidden.jpg").write_bytes(b"nor this")
    return inside


def test_a_folder_is_a_batch_that_can_be_gone_on_with(tmp_path: Path, folder: Path, server: ServerUrl) -> None:
    out, table = tmp_path / "findings", tmp_path / "all.csv"
    words = (folder, *at(server), "--tools", "none", "--out", f"{out}/")
    done = locate_here(*words, "--out", table)
    assert done.code == 1
    assert "3 of 4 found, 1 failed" in done.err
    (bad,) = [line for line in done.err.splitlines() if "broken.png" in line]
    assert "give a JPEG" in bad
    assert len(server.requests) == 2
    assert len(list(out.glob("*.json"))) == len(list(out.glob("*.jsonl"))) == 2
    assert all(read_trajectory(path).ended is not None for path in out.glob("*.jsonl"))
    page = (out / "index.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("a.jpg", "b.JPG", "again.jpg", "broken.png"))
    assert table.read_text(encoding="utf-8").count("Rue Grimaldi, Monaco") == 3

    again = locate_here(*words, "--json")
    assert again.code == 1
    assert len(server.requests) == 2
    assert again.document["failed"] == 1
    assert [one["status"] for one in again.document["photos"]] == ["located", "failed", "located", "located"]
    assert again.document["photos"][0]["answer"]["lat"] == LAT

    next(out.glob("*.json")).write_text("{", encoding="utf-8")
    locate_here(*words)
    assert len(server.requests) == 3
    locate_here(*words, "--hint", "elsewhere")
    assert len(server.requests) == 5


def test_a_capped_batch_names_no_street_and_no_file(tmp_path: Path, server: ServerUrl) -> None:
    album = tmp_path / "Rue Grimaldi album"
    album.mkdir()
    photo_file(album, "Rue Grimaldi 6.jpg")
    (album / "Rue Grimaldi 8.jpg").write_bytes(b"no picture")
    # A copy with that name can't be written.
    (album / "Rue Grimaldi 6-located.jpg").mkdir()
    out = tmp_path / "findings"
    claim = ("--check", "43.7354123,7.4211987")
    words = (*at(server), "--tools", "none", "--out", f"{out}/", "--granularity", "city", *claim)
    done = locate_here(album, *words, "--sidecars", "--write-exif", "--overwrite", "--yes")
    assert done.code == 1, done.err
    assert "/2 photo 2: " in done.err
    assert "photo 1: " in done.err
    written = {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}
    again = locate_here(album, *words, "--json")
    assert [one["name"] for one in again.document["photos"]] == ["photo 1", "photo 2"]
    assert again.document["photos"][0]["check"]["verdict"] == "for"
    said = {"stdout": done.out, "stderr": done.err, "json": again.out, "stderr again": again.err}
    for name, text in {**written, **said}.items():
        assert "grimaldi" not in text.casefold(), name
        for told in ("43.7354", "7.4211", "7.42119"):
            assert told not in text, (name, told)
    assert "Monaco" in written["index.html"]


def test_a_page_that_is_not_ours_is_not_replaced(tmp_path: Path, server: ServerUrl) -> None:
    photo, out = photo_file(tmp_path, "1.jpg"), tmp_path / "site"
    out.mkdir()
    page = out / "index.html"
    page.write_text("<p>my own page</p>", encoding="utf-8")
    words = ("--batch", photo, *at(server), "--tools", "none", "--out", f"{out}/")
    assert "index.html: is there already" in locate_here(*words).refusal
    assert page.read_text(encoding="utf-8") == "<p>my own page</p>"
    assert [path.name for path in out.iterdir()] == ["index.html"]
    assert locate_here(*words, "--overwrite").code == 0
    assert locate_here(*words).code == 0, "the page of an earlier batch may be replaced"


def test_each_finding_of_a_batch_is_a_public_document(tmp_path: Path, server: ServerUrl) -> None:
    out = tmp_path / "findings"
    done = locate_here(
        "--batch", photo_file(tmp_path, "scan-0007.jpg"), *at(server), "--tools", "none", "--out", f"{out}/"
    )
    assert done.code == 0, done.err
    (path,) = out.glob("*.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["format"] == "geosleuth-finding/1"
    assert document["photo"]["file"] == "scan-0007.jpg"
    assert document["photo"]["sha256"].startswith(path.stem.removeprefix("scan-0007-"))
    assert document["answer"]["lat"] == LAT
    assert set(document) >= {"located", "model", "method", "when", "extent", "resume"}


def test_several_photos_and_patterns_are_answered_one_by_one(tmp_path: Path, server: ServerUrl) -> None:
    photos = [scene(seed, (120, 90)) for seed in (1, 2, 3)]
    for number, photo in enumerate(photos):
        photo.save(tmp_path / f"{number}.png")
    done = locate_here(tmp_path / "0.png", tmp_path / "[12].png", *at(server), "--tools", "none", "--json")
    assert done.code == 0, done.err
    assert [one["name"] for one in done.document["photos"]] == ["0.png", "1.png", "2.png"]
    assert len(server.requests) == 3
    assert all(len(request.images) == 1 for request in server.requests)


def test_what_a_batch_refuses(tmp_path: Path, server: ServerUrl) -> None:
    one, other = photo_file(tmp_path, "1.jpg"), photo_file(tmp_path, "2.jpg")
    for words, reason in (
        (("--trajectory", tmp_path / "run.jsonl"), "--trajectory is for one photo"),
        (("--out", tmp_path / "x.xmp"), "use --sidecars"),
        (("--write-exif",), "add --yes"),
        (("--write-exif", "--yes", "--same-place"), "leave out --same-place"),
        (("--batch", "--same-place"), "leave one of them out"),
    ):
        assert reason in locate_here(one, other, *at(server), *words).refusal
    for missing in ("*.webp", "holiday[1].jpg"):
        assert "there is no such file" in locate_here(tmp_path / missing, *at(server)).refusal
    (tmp_path / "empty").mkdir()
    assert "holds no photo" in locate_here(tmp_path / "empty", *at(server)).refusal
    assert server.requests == []
    assert json.dumps(sorted(path.name for path in tmp_path.glob("*.*"))) == '["1.jpg", "2.jpg"]'


def test_copies_and_sidecars_lie_beside_the_originals(tmp_path: Path, server: ServerUrl) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for seed, name in enumerate(("a.jpg", "b.png", "c.webp"), 1):
        scene(seed, (120, 90)).save(photos / name)
    before = {path.name: path.read_bytes() for path in photos.iterdir()}
    words = (photos, *at(server), "--tools", "none", "--write-exif", "--sidecars", "--yes")
    done = locate_here(*words)
    assert done.code == 0, done.err
    assert "wrote 3 sidecars" in done.err
    assert "wrote 2 copies" in done.err
    assert "1 photo is neither JPEG nor PNG" in done.err
    assert {name: (photos / name).read_bytes() for name in before} == before
    for name in ("a-located.jpg", "b-located.png"):
        claimed = open_photo(photos / name).claims.point
        assert claimed is not None
        assert (claimed.lat, claimed.lon) == pytest.approx((43.735, 7.421), abs=1e-6)
    for name in before:
        assert "estimated" in (photos / f"{name}.xmp").read_text(encoding="utf-8")

    (photos / "a.jpg.xmp").write_text("mine", encoding="utf-8")
    asked = len(server.requests)
    again = locate_here(*words)
    assert len(server.requests) == asked + 3, "copies are no photos of the folder"
    assert "wrote 0 sidecars; 3 sidecars from before kept, --overwrite replaces them" in again.err
    assert "wrote 0 copies; 2 copies from before kept" in again.err
    assert (photos / "a.jpg.xmp").read_text(encoding="utf-8") == "mine"


def test_a_claim_is_held_against_every_photo(tmp_path: Path, server: ServerUrl) -> None:
    photos = [photo_file(tmp_path, name) for name in ("1.jpg", "2.png")]
    out = tmp_path / "findings"
    words = (*photos, *at(server), "--tools", "none", "--check", "43.7354,7.4211", "--out", f"{out}/")
    done = locate_here(*words)
    assert done.code == 0, done.err
    assert done.out.count(" for") == 2
    for again in (locate_here(*words, "--json"), locate_here(*words, "--json")):
        assert [one["check"]["verdict"] for one in again.document["photos"]] == ["for", "for"]
    assert "The evidence speaks for 43.73540, 7.42110" in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_model_that_keeps_failing_stops_the_batch(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for seed in range(9):
        scene(seed, (100, 80)).save(photos / f"{seed}.png", exif=camera_exif())
    (photos / "broken.png").write_bytes(b"no picture")
    out = tmp_path / "findings"
    words = ("--tools", "none", "--jobs", "1", "--out", f"{out}/")
    refused = Reply(b'{"error": {"message": "no such key, request 123"}}', 401)
    with openai_server([FINAL, refused]) as url:
        done = locate_here(photos, *at(url), *words, "--json")
        assert len(url.requests) == 6
    assert done.code == 1
    assert done.document["not_tried"] == 4
    assert [one["status"] for one in done.document["photos"]] == ["located", *["failed"] * 5]
    (line,) = [line for line in done.err.splitlines() if line.startswith("stopped:")]
    assert "5 times in a row" in line
    assert "run the same command again to go on" in line
    with openai_server([FINAL]) as url:
        again = locate_here(photos, *at(url), *words, "--json")
    assert [one["status"] for one in again.document["photos"]].count("located") == 9
    assert "not_tried" not in again.document


def test_a_folder_without_a_batch_says_how_to_make_one(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(
            BadInput, match="no batch of findings; make one with: geosleuth locate PHOTOS --out "
        ) as told:
            Review.open(folder)
        assert f"{folder}/" in str(told.value)


def test_a_folder_of_photos_is_no_place_for_findings(folder: Path) -> None:
    with pytest.raises(BadInput, match="this is a folder of photos; first run: geosleuth locate ") as told:
        Review.open(folder)
    assert f"locate {folder}/ --out FINDINGS/ , then: geosleuth review FINDINGS/" in str(told.value)


@pytest.mark.parametrize(
    ("called", "words"),
    [
        ("venv of mine/bin/geosleuth", "'venv of mine/bin/geosleuth'"),
        ("/there/geosleuth/__main__.py", f"{shlex.quote(sys.executable)} -m geosleuth"),
        ("/there/pytest", "geosleuth"),
    ],
)
def test_the_next_command_is_one_that_works(monkeypatch: pytest.MonkeyPatch, called: str, words: str) -> None:
    monkeypatch.setattr(sys, "argv", [called, "locate"])
    assert this_command() == words


def test_without_the_extra_the_batch_says_how_to_review(
    tmp_path: Path, server: ServerUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo = photo_file(tmp_path)
    words = (photo, "--batch", *at(server), "--out", f"{tmp_path / 'run'}/")
    here = locate_here(*words).err
    assert "needs an extra" not in here
    # The command stands on a line of its own, ready to be copied.
    lines = here.splitlines()
    command = lines[lines.index("to confirm, correct or reject the findings:") + 1]
    assert re.fullmatch(rf"  (\S.*)?geosleuth review {tmp_path / 'run'}", command)
    monkeypatch.setattr("geosleuth.cli.handlers.locate_batch.find_spec", lambda _: None)
    told = locate_here(*words).err
    assert f"\n  {install_command('serve')}    # once: the page needs an extra\n" in told
    assert f" review {tmp_path / 'run'}\n" in told
