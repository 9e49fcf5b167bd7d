"""A review updates the copies that ``locate --write-exif`` wrote, and no others."""

from pathlib import Path

import pytest
from PIL import Image

from geosleuth.app.review import Decision, Review
from geosleuth.geo import LatLon
from geosleuth.photo import open_photo
from in_process import whole_command
from signs import sign_photo

pytestmark = pytest.mark.usefixtures("atlas_home")
NICE = LatLon(43.70313, 7.26608)


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    photos = tmp_path / "photos"
    photos.mkdir()
    sign_photo(photos / "a.jpg", "Monaco", "+377 93 15 06 00")
    Image.open(sign_photo(photos / "b.jpg", "Andorra la Vella", "+376 820 123")).save(photos / "b.png")
    (photos / "b.jpg").unlink()
    done = whole_command("locate", photos, "--offline", "--out", f"{tmp_path / 'run'}/", "--write-exif", "--yes")
    assert done.returncode == 0, done.stderr
    assert (photos / "a-located.jpg").is_file()
    assert (photos / "b-located.png").is_file()
    return tmp_path


def test_a_copy_of_locate_is_updated(batch: Path) -> None:
    review = Review.open(batch / "run")
    review.decide(review.ids(), Decision("corrected", NICE, "France"))
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
    review.decide(review.ids(), Decision("corrected", NICE, "France"))
    done = review.write(sidecars=False, copies=True)
    review.close()
    assert (done.copies, done.kept, sorted(done.left)) == (0, 2, ["a-located.jpg", "b-located.png"])
