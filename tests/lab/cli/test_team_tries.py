"""``geosleuth team tries``: figures of a run whose photos were tried several times."""

import json
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from in_process import Done, whole_command
from later import later
from openai_server import Reply, Request, chat_reply, openai_server
from scenery import save, scene

later("pydantic_ai")

NICE = LatLon(43.7, 7.27)
OFF_DEGREES = (0.0, 0.1, 5.0, 5.1)
"""How far north of the truth each try, by its seed, puts the photo: 0, 11, 556 and 567 km."""


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home), COLUMNS="100")


def by_seed(request: Request) -> Reply:
    if "Several tries were made" in request.body.decode():
        return chat_reply(json.dumps({"lat": NICE.lat, "lon": NICE.lon, "evidence": ["T1.1"]}))
    off = OFF_DEGREES[request.json.get("seed", 0) % 4]
    return chat_reply(json.dumps({"lat": NICE.lat + off, "lon": NICE.lon}))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    rows = ["image,lat,lon"]
    for number in range(3):
        save(scene(number, (96, 72)), tmp_path / "photos" / f"{number}.jpg")
        rows.append(f"{number}.jpg,{NICE.lat},{NICE.lon}")
    table = tmp_path / "photos" / "known.csv"
    table.write_text("\n".join(rows))
    return table


def test_measures_the_tries_of_a_run(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    run, alone = tmp_path / "run", tmp_path / "alone"
    with openai_server([by_seed]) as url:
        words = ("bench", "run", "--data", photos, "--model", "server:any", "--base-url", url, "--tools", "none")
        made = geosleuth(*words, "--parallel", "4", "--verifier", "same", "--seed", "1", "--out", run, home=atlas_home)
        assert made.returncode == 0, made.stderr
        assert geosleuth(*words, "--out", alone, home=atlas_home).returncode == 0
    found = geosleuth("team", "tries", run, "--json", home=atlas_home)
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert (told["photos"], told["tries"], told["thresholds_km"]) == (3, 4, [1, 25, 200, 750])
    assert told["figures"] == {
        "mean single": [0.25, 0.5, 0.5, 1],
        "pass@1": [0.25, 0.5, 0.5, 1],
        "pass@2": [0.5, pytest.approx(5 / 6), pytest.approx(5 / 6), 1],
        "pass@4": [1, 1, 1, 1],
        "best@4": [1, 1, 1, 1],
        "range@4": [1, 1, 1, 0],
        "verifier@4": [1, 1, 1, 1],
    }
    table = geosleuth("team", "tries", run, "--k", "2", "--within", "0.5,25", home=atlas_home)
    assert "83.3%" in table.stdout
    assert "pass@1" not in table.stdout
    refusals: tuple[tuple[tuple[str | Path, ...], str], ...] = (
        ((run, "--k", "5"), "from 1 to the 4 tries"),
        ((alone,), "make the run with geosleuth bench run --parallel N"),
        ((tmp_path,), "give the folder of a finished or stopped run"),
    )
    for asked, complaint in refusals:
        refused = geosleuth("team", "tries", *asked, home=atlas_home)
        assert refused.returncode == 2
        assert complaint in refused.stderr
