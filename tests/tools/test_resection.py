"""`resection`, asked as a model asks it, and the command, on the bundled region."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import ExifTags, Image
from shapely import Point, box
from shapely.geometry import shape

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.regions import import_osm
from geosleuth.geo import LatLon, bearing_deg, compute_column, distance_km
from geosleuth.tools import Case, Observation
from geosleuth.tools.resection import resection
from in_process import whole_command
from tool_cases import MONACO, call, case_of

CAMERA, HEADING_DEG, FOV_DEG = LatLon(43.7372, 7.4270), 212.0, 90.0
# As the bundled extract has them.
SEEN = {
    "Temple antoiniste": LatLon(43.73466, 7.41544),
    "Cathédrale Notre-Dame-Immaculée": LatLon(43.73025, 7.42265),
    "Théâtre du Fort Antoine": LatLon(43.73308, 7.42794),
    "Foyer Sainte-Dévote": LatLon(43.73157, 7.42384),
}


def column(point: LatLon, fov_deg: float = FOV_DEG) -> float:
    return compute_column((bearing_deg(CAMERA, point, "geodesic") - HEADING_DEG + 180) % 360 - 180, fov_deg)


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    import_osm(MONACO, folder=folder)
    return folder


@pytest.fixture
def case(atlas_home: Path, regions: Path) -> Case:
    assert atlas_home.is_dir()
    return case_of(atlas=OfflineAtlas(regions))


def ask(case: Case, *names: str, **more: Any) -> Observation:
    columns = [column(SEEN[name]) for name in names]
    return call(resection, case, {"features": list(names), "columns": columns, "fov": FOV_DEG, **more})


THREE = ("Temple antoiniste", "Cathédrale Notre-Dame-Immaculée", "Théâtre du Fort Antoine")


def test_three_named_features_give_place_heading_area_and_a_map(case: Case) -> None:
    seen = ask(case, *THREE)
    assert seen.failure is None
    assert 1000 * distance_km(LatLon(seen.data["lat"], seen.data["lon"]), CAMERA) < 30
    assert seen.data["heading_deg"] == pytest.approx(HEADING_DEG, abs=1)
    assert seen.data["kind"] == "fix"
    assert "Monaco" in seen.data["address"]
    assert "looking southwest" in seen.text
    assert "90 %" in seen.text
    area = shape(seen.data["area"])
    assert area.contains(Point(CAMERA.lon, CAMERA.lat))
    assert box(7.40, 43.72, 7.45, 43.75).contains(area)
    (picture,) = seen.images
    assert picture.size == (640, 520)
    drawn = case.album[picture.handle].image
    assert (209, 18, 31) in {colour for _, colour in drawn.getcolors(1 << 20) or ()}, "the camera in red"


def test_two_features_are_said_to_leave_a_curve(case: Case) -> None:
    seen = ask(case, *THREE[:2], area="43.7372,7.4270,0.5")
    assert seen.data["kind"] == "curve"
    assert "a whole curve, not a point; a third feature would give a point" in seen.text
    assert 1000 * distance_km(LatLon(seen.data["lat"], seen.data["lon"]), CAMERA) < 500


def test_a_claimed_place_is_checked(case: Case) -> None:
    near = ask(case, *THREE, check="43.7372,7.4270").data["check"]
    assert (near["fits"], near["in_area"], near["distance_km"]) == (True, True, 0.0)
    far = ask(case, *THREE, check="43.7420,7.4300")
    assert not far.data["check"]["fits"]
    assert far.data["check"]["distance_km"] > 0.1
    assert "does not fit" in far.text


def test_what_can_not_be_answered_is_one_line(case: Case) -> None:
    assert (
        'no feature "Eiffel Tower" is known in or around the area'
        in call(resection, case, {"features": ["Eiffel Tower"], "columns": [0.5], "area": "43.73,7.42,5"}).text
    )
    assert "one column for each" in call(resection, case, {"features": ["43.7,7.4"], "columns": []}).text
    assert (
        "field of view is not known"
        in call(resection, case, {"features": ["43.7,7.4", "43.71,7.4"], "columns": [0.2, 0.8]}).text
    )
    assert (
        "between 0 (left edge) and 1"
        in call(resection, case, {"features": ["43.7,7.4", "43.71,7.4"], "columns": [20, 80], "fov": 60}).text
    )


def test_a_feature_that_is_marked_twice_is_named(case: Case) -> None:
    """However it is written: by its name, a part of that, its coordinates or its id."""
    for again in (THREE[2], "Fort Antoine théâtre", "43.7330800,7.4279400"):
        names = [THREE[2] if again != "43.7330800,7.4279400" else again, THREE[0], again]
        seen = call(resection, case, {"features": names, "columns": [0.1, 0.36, 0.88], "fov": 70})
        assert seen.failure is not None
        assert "is marked twice, in columns 0.100 and 0.880" in seen.text, seen.text
        assert "\n" not in seen.text.strip()


def test_marks_that_no_place_fits_are_not_told_as_a_place(case: Case) -> None:
    """Two features four metres apart in columns 60 degrees apart."""
    features = ["43.73308,7.42794", "43.73312,7.42794", THREE[0]]
    seen = call(resection, case, {"features": features, "columns": [0.1, 0.9, 0.5], "fov": 70})
    assert not seen.data["fits"]
    assert "The features do not fit together (off by" in seen.text
    assert "The camera stood at" not in seen.text


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture that claims a focal length of 18 mm: 90 degrees wide at 3:2."""
    exif = Image.Exif()
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.FocalLengthIn35mmFilm] = 18
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (1200, 800), "grey").save(path, exif=exif)
    return path


@pytest.mark.usefixtures("atlas_home")
def test_the_command_takes_pixels_and_the_focal_length_from_the_photo(photo: Path, tmp_path: Path) -> None:
    marks = [
        word
        for point in SEEN.values()
        for word in ("--feature", f"{1200 * column(point):.1f}px@{point.lat},{point.lon}")
    ]
    words = ["clues", "resection", *marks, "--photo", photo]
    done = whole_command(*words, "--out", tmp_path / "map.png", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 1000 * distance_km(LatLon(found["lat"], found["lon"]), CAMERA) < 30
    assert found["fov_deg"] == pytest.approx(90, abs=1)
    assert found["fov_sd_deg"] > 0
    with Image.open(tmp_path / "map.png") as drawn:
        assert drawn.size == (640, 520)
    card = whole_command(*words).stdout
    assert "claimed by the file: 18 mm" in " ".join(card.split())
    assert "The camera stood at" in card


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize(
    ("feature", "message"),
    [("Zugspitze", "such as 0.31@Zugspitze"), ("31@47.4,10.9", "pixels are written as"), ("3px@47,10", "need --photo")],
)
def test_a_feature_that_can_not_be_read_is_one_line(feature: str, message: str) -> None:
    done = whole_command("clues", "resection", "--fov", "60", "--feature", feature)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
