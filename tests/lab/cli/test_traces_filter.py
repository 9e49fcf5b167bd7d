"""``geosleuth traces filter``, run as people run it."""

import csv
import json
from pathlib import Path

import pytest

from geosleuth.lab.traces.filtering import file_names
from in_process import Done, geosleuth
from openai_server import chat_reply, openai_server
from scenery import save, scene


def filtering(*words: str | Path) -> Done:
    return geosleuth("traces", "filter", *words)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three tries each: kept at 1 and 25 km; at 25; at 200 and 750; always right; never right; tried twice."""
    path = tmp_path / "tries.jsonl"
    tries = {
        "street": [0.5, 30, 0.4],
        "city": [5, 30, 26],
        "region": [30, 300, 900],
        "easy": [0.1, 0.2, 0.3],
        "hard": [9000, None, 9000],
        "short": [0.1, 2],
    }
    path.write_text("".join(json.dumps({"id": one, "distances_km": km}) + "\n" for one, km in tries.items()))
    return path


def test_writes_lists_and_a_table(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "filtered"
    done = filtering(table, "--out", out)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == sorted(file_names(2))
    with (out / "photos.csv").open(newline="") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    kept = {one: [row[f"kept_{km}_km"] for km in (1, 25, 200, 750)] for one, row in rows.items()}
    assert kept == {
        "street": ["1", "1", "0", "0"],
        "city": ["0", "1", "0", "0"],
        "region": ["0", "0", "1", "1"],
        "easy": ["0"] * 4,
        "hard": ["0"] * 4,
        "short": ["1", "0", "0", "0"],
    }
    assert (rows["short"]["tries"], rows["street"]["within_1_km"]) == ("2", "2")
    assert (out / "phase-1.csv").read_text() == "id,kept_at_km\nstreet,1 25\ncity,25\nshort,1\n"
    assert (out / "phase-2.csv").read_text() == "id,kept_at_km\nstreet,1 25\ncity,25\nregion,200 750\nshort,1\n"
    report = (out / "filter.md").read_text(encoding="utf-8")
    assert "6 photos, 2 to 3 tries each" in report
    assert "| 2 | 33.3 | 3 | 1 | 22,766 | 11.0 |" in report
    assert "91,060 | 44.2 |" in report
    assert done.stdout == report


def test_programs_get_one_document_and_exactly_so_many_tries(table: Path, tmp_path: Path) -> None:
    done = filtering(table, "--tries", "3", "--out", tmp_path / "f", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "f" / "filter.json").read_text())
    assert (document["photos"], document["left_out"]) == (5, 1)
    assert [one["kept"] for one in document["regimes"]] == [1, 2, 1, 1]
    assert [one["paper_kept"] for one in document["regimes"]] == [22_766, 42_764, 76_367, 91_060]
    assert [(one["photos"], one["pairs"]) for one in document["phases"]] == [(2, 3), (3, 5)]
    assert "left out: 1 photos with fewer than 3 tries" in done.stderr


def test_what_cannot_be_done_is_one_line(table: Path, tmp_path: Path) -> None:
    for words, trouble in (
        ((tmp_path / "nowhere.csv", "--out", tmp_path / "f"), "nowhere.csv: can't be read"),
        ((table, "--tries", "9", "--out", tmp_path / "f"), "no photo has 9 tries; the most is 3"),
        ((tmp_path, "--out", tmp_path / "f"), "no results.jsonl here"),
    ):
        done = filtering(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert trouble in done.stderr
    assert not (tmp_path / "f").exists()
    assert filtering(table, "--out", tmp_path / "f").returncode == 0
    assert "is there already" in filtering(table, "--out", tmp_path / "f").stderr
    assert filtering(table, "--out", tmp_path / "f", "--overwrite").returncode == 0


@pytest.mark.usefixtures("atlas_home")
def test_the_tries_of_a_real_run_with_several_minds_are_read(tmp_path: Path) -> None:
    save(scene(3), tmp_path / "a.jpg")
    photos = tmp_path / "photos.csv"
    photos.write_text("id,image,lat,lon\na,a.jpg,48.8566,2.3522\n")
    paris, versailles, berlin = (
        chat_reply(f'{{"lat": {lat}, "lon": {lon}}}') for lat, lon in ((48.8566, 2.3522), (48.8, 2.13), (52.5, 13.4))
    )
    with openai_server([paris, versailles, berlin, paris]) as url:
        words: tuple[str | Path, ...] = ("--data", photos, "--model", "server:any", "--base-url", str(url), "--yes")
        more = ("--parallel", "3", "--turns", "1", "--tools", "none")
        done = geosleuth("bench", "run", *words, *more, "--out", tmp_path / "run")
        assert done.returncode == 0, done.stderr
    document = json.loads(filtering(tmp_path / "run", "--out", tmp_path / "f", "--json").stdout)
    assert document["tries"] == {"all": 3, "least": 3, "most": 3, "tried_once": 0}
    assert [one["by_passes"].index(1) for one in document["regimes"]] == [1, 2, 2, 2]
    assert [one["kept"] for one in document["regimes"]] == [1, 1, 1, 1]
