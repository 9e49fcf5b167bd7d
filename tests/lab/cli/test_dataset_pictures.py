"""``geosleuth dataset panorama | mosaic | pois | gallery | digests`` as people type them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from baseline_tasks import ask
from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.cli.dataset import dataset
from geosleuth.models import make_policy
from geosleuth.photo import open_photo
from geosleuth.support.errors import UserError
from scenery import save, scene


def run(*words: object) -> Result:
    """What the command prints, and how it ends."""
    return CliRunner().invoke(dataset, [str(word) for word in words])


def refused(*words: object) -> str:
    """The one line with which a command is refused."""
    error = run(*words).exception
    assert isinstance(error, UserError), error
    assert "\n" not in str(error)
    return str(error)


def test_tiles_become_a_set_that_a_baseline_can_be_run_over(tmp_path: Path) -> None:
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 128, 3), dtype=np.uint8))
    for name, columns in (("here", 4), ("there", 3)):
        for x in range(columns):
            for y in range(2):
                path = tmp_path / "tiles" / name / f"{x}_{y}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                picture.crop((x * 32, y * 32, x * 32 + 32, y * 32 + 32)).save(path)
    (tmp_path / "stops.csv").write_text("id,lat,lon\nhere,1,2\nthere,3,4\n")
    words = ("panorama", tmp_path / "tiles", "--places", tmp_path / "stops.csv", "--size", "1024x512")
    out = tmp_path / "out"
    done = run(*words, "--out", out, "--json")
    assert done.exit_code == 1  # one of the two lacks its last column
    told = json.loads(done.stdout)
    assert (told["made"], list(told["refused"])) == (["here"], ["there"])
    assert "not twice as wide as high; give --grid" in done.stderr
    done = run(*words, "--out", out, "--grid", "4x2", "--missing", "0.3")
    assert done.exit_code == 0
    assert "panoramas.csv" in done.stdout
    assert [item.id for item in open_set(f"table:{out}")] == ["here", "there"]
    assert "--size" in refused("panorama", tmp_path / "tiles", "--out", out, "--size", "wide")
    assert "no such folder" in refused("panorama", tmp_path / "none", "--out", out)


@pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")
def test_scenes_become_mosaics(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    from geosleuth.lab.bench.makers.mosaics import frame_around

    frame = frame_around(LatLon(38.72, -9.14), 32)
    place = rasterio.Affine(10, 0, frame.west_m, 0, -10, frame.north_m)
    (tmp_path / "scenes").mkdir()
    with rasterio.open(
        tmp_path / "scenes" / "a_TCI.tif", "w", driver="GTiff", width=32, height=32, count=3, dtype="uint8",
        crs="EPSG:32629", transform=place,
    ) as sink:  # fmt: skip
        sink.write(np.full((3, 32, 32), 90, dtype=np.uint8))
    out = tmp_path / "out"
    done = run("mosaic", tmp_path / "scenes", "--at", "38.72,-9.14", "--side", 32, "--out", out, "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["made"] == ["38.72,-9.14"]
    assert done.stderr.strip() == "1 scene for 1 city"
    (item,) = open_set(f"table:{out}")
    assert open_photo(item.picture.read()).photo.image.getpixel((16, 16)) == (90, 90, 90)
    (tmp_path / "cities.csv").write_text("name,lat,lon\nLisbon,38.72,-9.14\nPorto,41.15,-8.61\n")
    done = run("mosaic", tmp_path / "scenes", "--cities", tmp_path / "cities.csv", "--side", 32, "--out", out)
    assert done.exit_code == 1
    assert "not made: Porto: no scene covers any" in done.stderr
    assert "no city is given" in refused("mosaic", tmp_path / "scenes", "--out", out)


def test_photos_near_sights_become_a_set(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(4):
        save(scene(number, (64, 48)), photos / f"{number}.jpg", LatLon(10.0 + 0.01 * number, 20.0))
    (tmp_path / "sights.csv").write_text(
        "id,name,lat,lon,city\na,Tower,10.0001,20,X\nb,Gate,10.0101,20,X\nc,Hill,10.0201,20,Y\nd,Lake,50,50,Z\n"
    )
    words = ("pois", f"exif:{photos}", "--pois", tmp_path / "sights.csv", "--seed", 3)
    done = run(*words, "--out", tmp_path / "set.csv", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["per_city"] == {"X": 1, "Y": 1}
    items = list(open_set(str(tmp_path / "set.csv")))
    assert {item.truth.city for item in items} == {"X", "Y"}
    assert items[1].fields["poi_name"] == "Hill"
    assert "is there already" in refused(*words, "--out", tmp_path / "set.csv")
    assert "leave it out" in refused(*words, "--category", "cafe", "--out", tmp_path / "b.csv")


def test_regions_of_the_atlas_are_asked_where_no_table_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    save(scene(1, (64, 48)), tmp_path / "a.jpg", LatLon(1, 1))
    assert "atlas get" in refused("pois", f"exif:{tmp_path}", "--out", tmp_path / "b.csv")


def test_digests_lead_features_from_elsewhere_to_their_photos(tmp_path: Path) -> None:
    photos, gallery = tmp_path / "photos", tmp_path / "gallery"
    photos.mkdir()
    gallery.mkdir()
    for number in range(3):
        save(scene(number, (96, 64)), photos / f"{number}.jpg", LatLon(number + 1, number + 1))
    done = run("digests", f"exif:{photos}", "--out", gallery / "queries.csv")
    assert done.exit_code == 0, done.exception
    with (gallery / "queries.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [Path(row["image"]).name for row in rows] == ["0.jpg", "1.jpg", "2.jpg"]
    np.save(gallery / "queries.npy", np.eye(3)[::-1] + 0.1)
    np.save(gallery / "features.npy", np.eye(3))
    (gallery / "places.csv").write_text("lat,lon\n50,1\n51,2\n52,3\n")
    policy = make_policy(f"nearest:{gallery}")
    for number, expected in ((0, LatLon(52, 3)), (2, LatLon(50, 1))):
        assert ask(policy, open_photo(photos / f"{number}.jpg").photo.image).point == expected
    assert ".csv" in refused("digests", f"exif:{photos}", "--out", gallery / "q.jsonl")


def test_makes_a_gallery_from_any_set_and_goes_on_where_it_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "home"))
    photos, gallery = tmp_path / "photos", tmp_path / "gallery"
    photos.mkdir()
    for number in range(3):
        save(scene(number, (320, 240)), photos / f"{number}.jpg", LatLon(10 * number + 1, 1))
    assert run("gallery", f"exif:{photos}", "--out", tmp_path / "part").exit_code == 0
    for number in range(3, 5):
        save(scene(number, (320, 240)), photos / f"{number}.jpg", LatLon(10 * number + 1, 1))
    done = run("gallery", f"exif:{photos}", "--out", gallery, "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout) == {"photos": 5, "known": 3, "left_out": [], "out": str(gallery)}
    assert np.array_equal(np.load(gallery / "features.npy")[:3], np.load(tmp_path / "part" / "features.npy"))
    answer = ask(make_policy(f"nearest:{gallery}"), scene(3, (640, 480)))
    assert answer.point == LatLon(31, 1)
    itself = ask(make_policy(f"nearest:{gallery}"), open_photo(photos / "3.jpg").photo.image)
    assert itself.point != LatLon(31, 1)
    assert "already holds a gallery" in refused("gallery", f"exif:{photos}", "--out", gallery)
