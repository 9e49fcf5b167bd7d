"""``geosleuth photo index`` and ``geosleuth photo similar``, run as people run them."""

import json
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from geosleuth.photo.geotag import write_exif_copy
from in_process import Done, whole_command
from scenery import save, scene


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home))


@pytest.fixture
def holiday(tmp_path: Path) -> Path:
    folder = tmp_path / "holiday"
    for number in range(5):
        save(scene(number), folder / f"{number}.jpg", LatLon(40 + number, -10 * number))
    save(scene(9), folder / "bare.jpg")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    return folder


def test_an_index_is_made_kept_in_the_own_folder_and_asked(holiday: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = geosleuth("photo", "index", holiday, home=home)
    assert done.returncode == 0, done.stderr
    assert "1 x no coordinates" in done.stdout
    assert "broken.jpg" in done.stdout
    assert [path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()] == ["data/photos.index"]
    asked = save(scene(3).crop((60, 40, 600, 450)), tmp_path / "asked.jpg")
    best, *others = json.loads(geosleuth("photo", "similar", asked, "--json", home=home).stdout)
    assert best["title"] == "3.jpg"
    assert best["point"] == pytest.approx({"lat": 43, "lon": -30})
    assert best["same"] is None
    assert len(others) == 4
    shown = geosleuth("photo", "similar", asked, "--limit", "1", home=home).stdout
    assert "43.00000, -30.00000" in shown
    assert "2.jpg" not in shown


def test_an_own_file_and_a_table_of_coordinates(holiday: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "places.csv", tmp_path / "my.index"
    table.write_text("path,lat,lon\nbare.jpg,-12.5,100\n")
    words = ("photo", "index", holiday, "--out", out, "--coordinates", table, "--encoder", "bundled", "--json")
    first = json.loads(geosleuth(*words, home=tmp_path / "home").stdout)
    assert (first["added"], first["total"], first["unmatched"]) == (6, 6, 0)
    assert [skipped["path"] for skipped in first["skipped"]] == ["broken.jpg"]
    assert sum(first["reasons"].values()) == 1
    again = json.loads(geosleuth(*words, home=tmp_path / "home").stdout)
    assert (again["added"], again["unchanged"], again["total"]) == (0, 6, 6)
    assert not (tmp_path / "home").exists()


def test_estimated_places_are_left_out(holiday: Path, tmp_path: Path) -> None:
    write_exif_copy(holiday / "1.jpg", holiday / "1-located.jpg", LatLon(1, 2), 3.0)
    told = geosleuth("photo", "claims", holiday / "1-located.jpg", home=tmp_path).stdout
    assert "1.00000, 2.00000 (estimated from the picture, not measured)" in told
    for _ in range(2):
        done = geosleuth("photo", "index", holiday, "--out", tmp_path / "my.index", home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "1 x estimated places" in done.stdout
        assert "1-located.jpg" not in done.stdout, "it is no trouble"
    asked = geosleuth("photo", "similar", holiday / "0.jpg", "--index", tmp_path / "my.index", home=tmp_path)
    assert "1.jpg" in asked.stdout
    assert "1-located.jpg" not in asked.stdout


def test_a_photo_of_the_index_is_told_to_be_itself(holiday: Path, tmp_path: Path) -> None:
    out = tmp_path / "my.index"
    geosleuth("photo", "index", holiday, "--out", out, home=tmp_path)
    words = ("photo", "similar", holiday / "2.jpg", "--index", out)
    best, *_ = json.loads(geosleuth(*words, "--json", home=tmp_path).stdout)
    assert (best["title"], best["same"], best["point"]) == ("2.jpg", "identical file", None)
    assert "identical file" in geosleuth(*words, home=tmp_path).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("index", "nowhere"),
        ("index", "."),
        ("index", "holiday", "--out", "no/such/folder/x.index"),
        ("index", "holiday", "--encoder", "glasses"),
        ("index", "holiday", "--coordinates", "missing.csv"),
        ("similar", "holiday/1.jpg"),
        ("similar", "holiday/1.jpg", "--index", "holiday/2.jpg"),
        ("similar", "holiday/broken.jpg", "--index", "x.index"),
    ],
)
def test_what_can_not_be_done_is_one_line_and_exit_code_two(
    holiday: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[1] == ".":
        holiday.rename(tmp_path / ".hidden")
    before = sorted(tmp_path.rglob("*"))
    done = geosleuth("photo", *words, home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == [path for path in before if path.is_file()]
