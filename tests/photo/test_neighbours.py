"""A photo without a place has a lead where the same camera took one that has, a short time before or after."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PIL import ExifTags, Image

from geosleuth.geo import LatLon
from geosleuth.photo.neighbours import Moment, nearest_in_time
from in_process import whole_command
from signs import camera_exif, sign_photo

NOON = datetime(2026, 5, 1, 12, 0)  # noqa: DTZ001 -- cameras name no time zone
NICE, MONACO = LatLon(43.70313, 7.26608), LatLon(43.7384, 7.4246)


def after(minutes: float, point: LatLon | None = None, camera: str = "A 1") -> Moment:
    return Moment(NOON + timedelta(minutes=minutes), camera, point)


def test_the_nearest_in_time_is_the_lead_and_the_gap_its_radius() -> None:
    found = nearest_in_time({"a": after(0, NICE), "b": after(4), "c": after(34, MONACO), "d": after(20)})
    assert set(found) == {"b", "d"}
    assert (found["b"].name, found["b"].point, found["b"].later) == ("a", NICE, timedelta(minutes=-4))
    assert found["b"].radius_km == pytest.approx(4.3)
    assert (found["d"].name, found["d"].later) == ("c", timedelta(minutes=14))
    assert "A lead by time, not by sight: a, taken 4 min before it" in found["b"].words


def test_long_gaps_other_cameras_and_other_clocks_are_no_neighbours() -> None:
    other = Moment(NOON.replace(tzinfo=UTC), "A 1", NICE)
    assert nearest_in_time({"a": after(0, NICE), "late": after(61)}) == {}
    assert nearest_in_time({"a": after(0, NICE), "b": after(1, camera="B 2")}) == {}
    assert nearest_in_time({"a": other, "b": after(1)}) == {}
    assert nearest_in_time({"a": after(0, NICE, camera=""), "b": after(1, camera="")}) == {}


@pytest.mark.usefixtures("atlas_home")
def test_a_batch_tells_the_lead_and_writes_it_for_the_review(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, minute, point in (("a.jpg", 0, NICE), ("b.jpg", 6, None)):
        path = sign_photo(folder / name, "Hello")
        with Image.open(path) as drawn:
            picture = drawn.convert("RGB")
        exif = camera_exif()
        exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = f"2026:05:01 12:{minute:02}:00"
        if point is not None:
            exif.get_ifd(ExifTags.IFD.GPSInfo).update(
                {1: "N", 2: (point.lat, 0.0, 0.0), 3: "E", 4: (point.lon, 0.0, 0.0)}
            )
        picture.save(path, exif=exif)
    words = ("locate", folder, "--offline", "--json", "--out", f"{tmp_path / 'run'}/")
    for done in (whole_command(*words), whole_command(*words)):
        assert done.returncode == 0, done.stderr
        first, second = json.loads(done.stdout)["photos"]
        assert "nearest_in_time" not in first
        near = second["nearest_in_time"]
        assert (near["name"], near["seconds_later"], near["radius_km"]) == ("a.jpg", -360.0, 6.3)
        assert "lead" not in json.dumps(second["answer"]), "no sight of the photo"
    listed = json.loads((tmp_path / "run" / "review" / "photos.json").read_text(encoding="utf-8"))["photos"]
    assert [bool(one["lead"]) for one in listed] == [False, True]
    assert [one["lead_minutes"] for one in listed] == [None, -6]
    assert "A lead by time, not by sight: a.jpg, taken 6 min before it" in listed[1]["lead"]
