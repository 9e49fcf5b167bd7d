"""A review updates the copies that ``locate --write-exif`` wrote, and undo removes them; no others are touched."""

import json
from pathlib import Path

import pytest
from PIL import Image

from geosleuth.geo import LatLon
from geosleuth.photo import open_photo
from geosleuth.server.review import Review, ReviewDecision
from in_process import whole_command
from signs import camera_exif, sign_photo

pytestmark = pytest.mark.usefixtures("atlas_home")
NICE = LatLon(43.70313, 7.26608)


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    photos = tmp_path / "photos"
    photos.mkdir()
    sign_photo(photos / "a.jpg", "Monaco", "+377 93 15 06 00")
    drawn = Image.open(sign_photo(photos / "b.jpg", "Andorra la Vella", "+376 820 123"))
    drawn.save(photos / "b.png", exif=camera_exif())
    (photos / "b.jpg").unlink()
    done = whole_command(
        "locate", photos, "--offline", "--out", f"{tmp_path / 'run'}/", "--write-exif", "--sidecars", "--yes"
    )
    assert done.returncode == 0, done.stderr
    assert (photos / "a-located.jpg").is_file()
    assert (photos / "b-located.png").is_file()
    return tmp_path


def test_a_copy_of_locate_is_updated(batch: Path) -> None:
    review = Review.open(batch / "run")
    review.decide(review.ids(), ReviewDecision("corrected", NICE, "France"))
    done = review.write(sidecars=False, copies=True)
    review.close()
    assert (done.copies, done.kept, done.left) == (2, 0, [])
    for name in ("a-located.jpg", "b-located.png"):
        claims = open_photo(batch / "photos" / name).claims
        assert claims.point is not None
        assert (round(claims.point.lat, 5), claims.estimated) == (NICE.lat, False)


def test_a_copy_that_somebody_changed_is_left_and_named(batch: Path) -> None:
    changed = batch / "photos" / "a-located.jpg"
    changed.write_bytes(changed.read_bytes() + b"\0")
    other = batch / "photos" / "b-located.png"
    Image.open(other).save(other)
    review = Review.open(batch / "run")
    review.decide(review.ids(), ReviewDecision("corrected", NICE, "France"))
    done = review.write(sidecars=False, copies=True)
    review.close()
    assert (done.copies, done.kept, sorted(done.left)) == (0, 2, ["a-located.jpg", "b-located.png"])


def test_undo_removes_estimates_of_ours_and_nothing_else(batch: Path) -> None:
    photos = batch / "photos"
    originals = {name: (photos / name).read_bytes() for name in ("a.jpg", "b.png")}
    changed, foreign = photos / "b-located.png", photos / "a.xmp"
    changed.write_bytes(changed.read_bytes() + b"\0")
    foreign.write_text("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
    linked = photos / "c.jpg.xmp"
    (photos / "c.jpg").write_bytes(originals["a.jpg"])
    linked.symlink_to(photos / "a.jpg.xmp")
    refused = whole_command("photo", "undo", photos)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "3 files that geosleuth wrote" in refused.stderr
    done = whole_command("photo", "undo", photos, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert sorted(Path(one).name for one in document["removed"]) == ["a-located.jpg", "a.jpg.xmp", "b.png.xmp"]
    assert document["left"] == 1
    assert {path.name for path in photos.iterdir()} == {
        "a.jpg",
        "b.png",
        "c.jpg",
        "a.xmp",
        "c.jpg.xmp",
        "b-located.png",
    }
    assert {name: (photos / name).read_bytes() for name in originals} == originals
    assert json.loads(whole_command("photo", "undo", photos, "--yes", "--json").stdout)["removed"] == []


def test_undo_leaves_what_a_person_decided_unless_told(batch: Path) -> None:
    review = Review.open(batch / "run")
    first, second = review.ids()
    review.decide([first], ReviewDecision("corrected", NICE, "France"))
    review.decide([second], ReviewDecision("confirmed"))
    done = review.write(sidecars=True, copies=True)
    review.close()
    assert (done.sidecars, done.copies) == (2, 2)
    kept = json.loads(whole_command("photo", "undo", batch / "photos", "--yes", "--json").stdout)
    assert (kept["removed"], kept["left"]) == ([], 4)
    gone = json.loads(whole_command("photo", "undo", batch / "photos", "--yes", "--reviewed", "--json").stdout)
    assert len(gone["removed"]) == 4
