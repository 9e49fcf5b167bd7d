"""`geosleuth bench report` as it is typed, and run folders where `bench score` and `compare` take files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from findings import Page
from geosleuth.lab.cli.bench import bench
from geosleuth.support.errors import BadInput
from run_folders import TryMade, picture_of, world_photos, write_run, write_set


def asked(*words: object) -> Result:
    return CliRunner().invoke(bench, ["report", *(str(word) for word in words)], env={"COLUMNS": "160"})


def done(*words: object) -> Result:
    found = asked(*words)
    assert found.exit_code == 0, found.exception
    return found


def refused(*words: object) -> str:
    found = asked(*words)
    assert isinstance(found.exception, BadInput)
    return str(found.exception)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over the same photos, one of them masked, and the photos themselves."""
    folder = tmp_path_factory.mktemp("runs")
    photos = world_photos(40, failing=0.1)
    pictures = {photo.id: picture_of(photo.id) for photo in photos}
    write_set(folder / "set", photos, pictures)
    write_run(folder / "whole", photos, pictures=pictures)
    write_run(folder / "masked", world_photos(40, skill=0.2), mask="text", pictures=pictures)
    return folder


def test_a_page_with_photos_and_maps(runs: Path, tmp_path: Path, atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    out = tmp_path / "report.html"
    found = done(runs / "whole", "--data", f"table:{runs / 'set' / 'photos.csv'}", "--gallery", 2, "--out", out)
    page = Page(out.read_text("utf-8"))
    assert len(page.named("img")) == 4
    assert all((one["src"] or "").startswith("data:image/jpeg;base64,") for one in page.named("img"))
    drawn = [one for one in page.named("image") if (one.get("href") or "").startswith("data:image/webp;base64,")]
    # The nearest answers have a map around them; the farthest may lie half a world away.
    assert 2 <= len(drawn) <= 4
    assert "GeoNames" in page.text
    assert f"wrote {out}" in found.stderr
    assert out.stat().st_size < 600_000


def test_photos_that_are_not_those_of_the_run_are_not_shown(runs: Path, tmp_path: Path) -> None:
    photos = world_photos(40, failing=0.1)
    write_set(tmp_path / "other", photos, {photo.id: picture_of(f"other {photo.id}") for photo in photos})
    out = tmp_path / "report.html"
    table = tmp_path / "other" / "photos.csv"
    found = done(runs / "whole", "--data", f"table:{table}", "--no-maps", "--gallery", 3, "--out", out)
    assert Page(out.read_text("utf-8")).named("img") == []
    assert "6 of 6 photos of the gallery could not be shown" in found.stderr
    assert "is not the file that the run saw" in found.stderr


def test_the_terminal_says_the_figures(runs: Path) -> None:
    shown = done(runs / "whole", runs / "masked").stdout
    assert "the rest as misses" in shown
    assert "maps_geocode" in shown
    assert "masked against whole; hidden: text" in shown


@pytest.mark.usefixtures("atlas_home")
def test_a_run_in_which_all_failed_is_told_in_words(tmp_path: Path) -> None:
    lost = TryMade(outcome="failed", by="nobody", reason="service", trouble="the server answers 503")
    photos = [replace(photo, tries=(lost,)) for photo in world_photos(5)]
    run, out = write_run(tmp_path / "lost", photos, settings={"sampling": {"seed": None}}), tmp_path / "report.html"
    said = done(run, "--out", out).stdout
    assert "lost: has no answer that can be scored" in said
    assert "5 photos failed in the newest try" in said
    assert "nan" not in said
    assert "(0–100)" not in said
    page = out.read_text("utf-8")
    for chart in ("Share of photos by error", "Accuracy against cost", "Accuracy by cost"):
        assert chart not in page
    assert "all photos" in page
    assert "the method" in page


def test_one_document_and_nothing_else(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    found = done(runs / "whole", runs / "masked", "--json", "--right-within", 200, "--by", "scene", "--out", out)
    document = json.loads(found.stdout)
    assert document == json.loads(out.read_text("utf-8"))
    assert document["right_within_km"] == 200
    assert [run["run"] for run in document["runs"]] == ["whole", "masked"]
    assert "street" in document["runs"][0]["figures"]["slices"]["scene"]
    assert len(document["hung_on"]) == 1
    assert document["pairs"] == []


def test_two_runs_that_saw_everything_are_compared(runs: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", world_photos(40, skill=0.9))
    (pair,) = json.loads(done(runs / "whole", other, "--json").stdout)["pairs"]
    assert (pair["first"], pair["second"]) == ("whole", "other")


def test_what_can_not_be_reported_is_said_in_one_line(runs: Path, tmp_path: Path) -> None:
    assert "not a run" in refused(runs / "set")
    assert "--out writes .html or .json" in refused(runs / "whole", "--out", tmp_path / "report.pdf")
    assert "no record has a field 'mood'" in refused(runs / "whole", "--by", "mood")
    assert "given twice" in refused(runs / "whole", runs / "set" / ".." / "whole")
    assert "positive distance" in refused(runs / "whole", "--right-within", -1)
    half = write_run(tmp_path / "half", world_photos(3))
    (half / "results.jsonl").unlink()
    assert "results.jsonl: is not there yet" in refused(half)


def test_score_and_compare_take_the_folders_of_runs(runs: Path, tmp_path: Path) -> None:
    def told(*words: object) -> Result:
        return CliRunner().invoke(bench, [str(word) for word in words])

    by_folder = json.loads(told("score", runs / "whole", "--json").stdout)["files"][0]
    by_file = json.loads(told("score", runs / "whole" / "results.jsonl", "--json").stdout)["files"][0]
    assert by_folder["file"] == "whole"
    assert {**by_folder, "file": "results"} == by_file
    both = json.loads(told("compare", runs / "whole", runs / "masked", "--json").stdout)
    assert (both["first"], both["second"]) == ("whole", "masked")
    other = tmp_path / "again" / "whole"
    other.parent.mkdir()
    write_run(other, world_photos(5))
    labels = [one["file"] for one in json.loads(told("score", runs / "whole", other, "--json").stdout)["files"]]
    assert labels == [str(runs / "whole"), str(other)]
    assert "is a folder and no run" in str(told("score", runs).exception)
