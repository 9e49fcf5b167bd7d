"""A finding that is a whole country: its stand-in point is called one, in JSON, on the terminal and in the report."""

import json
import re
from pathlib import Path

import pytest

import geosleuth
from geosleuth.pipeline.result import result_schema
from geosleuth.report.chain import round_points
from in_process import whole_command
from locating import Done, locate_here
from signs import sign_photo

pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bakery")
    return sign_photo(folder / "sign.jpg", "Sklep spożywczy", "Piekarnia i cukiernia", "Proszę zamykać drzwi")


def poland(bakery: Path, *words: object) -> Done:
    done = locate_here(bakery, "--offline", *words)
    assert done.code == 0, done.err
    return done


def test_json_says_that_the_point_stands_for_the_country(bakery: Path) -> None:
    document = poland(bakery, "--json").document
    pytest.importorskip("jsonschema").validate(document, result_schema())
    assert (document["extent"], document["country_code"]) == ("country", "PL")
    assert [(one["name"], one["extent"]) for one in document["answer"]["candidates"]] == [("Poland", "country")]
    assert [(one["place"], one["extent"]) for one in document["pool"]] == [("Poland", "country")]
    same = geosleuth.locate(bakery).to_dict()
    assert {key: same[key] for key in ("answer", "extent", "pool")} == {
        key: document[key] for key in ("answer", "extent", "pool")
    }


def test_a_place_is_a_point_and_nothing_is_null(tmp_path: Path) -> None:
    town = sign_photo(tmp_path / "town.jpg", "Gmina Zakopane", "Piekarnia i cukiernia", "+48 18 201 22 11")
    found = locate_here(town, "--offline", "--json").document
    assert (found["extent"], found["country_code"]) == ("point", "PL")
    blank = locate_here(sign_photo(tmp_path / "blank.jpg"), "--offline", "--json").document
    assert (blank["extent"], blank["country_code"]) == (None, None)


def test_steps_say_somewhere_in_the_country(bakery: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = poland(bakery, "--out", report, "--taken", "2026-07-14T12:00+02:00")
    assert "It lies somewhere in Poland." in done.err
    assert "52.22977" not in done.err
    steps = report.read_text(encoding="utf-8").partition('id="chain"')[2].partition("The reply as it was written")[0]
    assert "It lies somewhere in Poland." in steps
    noted = re.search(r"note_hypothesis<span[^>]*>([^<]*)", steps)
    assert noted is not None
    assert "latitude" not in noted[1]
    # The sun is asked for at a point; to the metre it would read as a place.
    assert "The sun at 52.230, 21.012:" in steps
    assert not re.search(r"\d\.\d{5}", re.sub(r"<details>.*?</details>", "", steps, flags=re.DOTALL))


def test_a_package_of_a_country_is_verified(bakery: Path, tmp_path: Path) -> None:
    package = tmp_path / "case.zip"
    poland(bakery, "--out", package)
    told = whole_command("verify", package, "--photo", bakery, "--json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It lies at 39.90750, 116.39723.", "It lies at 39.9075, 116.3972."),
        ("(-33.86882, 151.20930)", "(-33.8688, 151.2093)"),
        ("at [136, 178, 734, 270]", "at [136, 178, 734, 270]"),
        ("1.23456, 2.34567, 3.45678", "1.2346, 2.3457, 3.45678"),
        ("10.0.12345, 1.12345", "10.0.12345, 1.12345"),
    ],
)
def test_coordinates_of_steps_are_rounded(text: str, shown: str) -> None:
    assert round_points(text) == shown
