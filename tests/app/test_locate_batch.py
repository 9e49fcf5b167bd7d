"""Several photos at once: a batch that can be gone on with, and photos of one place."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.agent import read_trajectory
from locating import FINAL, at, locate_here, photo_file
from openai_server import ServerUrl, openai_server
from scenery import scene

pytest.importorskip("pydantic_ai")
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
    assert again.document["photos"][0]["answer"]["lat"] == pytest.approx(43.7354)

    next(out.glob("*.json")).write_text("{", encoding="utf-8")
    locate_here(*words)
    assert len(server.requests) == 3
    locate_here(*words, "--hint", "elsewhere")
    assert len(server.requests) == 5


def test_a_capped_batch_names_no_street_and_no_file(tmp_path: Path, server: ServerUrl) -> None:
    photos = [photo_file(tmp_path, name) for name in ("rue-grimaldi.jpg",)]
    out = tmp_path / "findings"
    done = locate_here("--batch", *photos, *at(server), "--tools", "none", "--out", f"{out}/", "--granularity", "city")
    assert done.code == 0, done.err
    for path in out.iterdir():
        assert "grimaldi" not in path.read_text(encoding="utf-8").casefold(), path.name
    assert "grimaldi" not in done.out.casefold()
    assert "Monaco" in (out / "index.html").read_text(encoding="utf-8")


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
        (("--check", "1,2"), "--check is for one photo"),
        (("--out", tmp_path / "x.xmp"), "holds one photo's finding"),
        (("--write-exif", "--yes"), "give one photo"),
        (("--batch", "--same-place"), "leave one of them out"),
    ):
        assert reason in locate_here(one, other, *at(server), *words).refusal
    assert "holds no photo" in locate_here(tmp_path / "*.webp", *at(server)).refusal
    assert server.requests == []
    assert json.dumps(sorted(path.name for path in tmp_path.glob("*.*"))) == '["1.jpg", "2.jpg"]'
