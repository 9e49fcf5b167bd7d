"""``geosleuth team tries``, run as people run it: figures, going on after a break, and refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.cli.handlers.team_compare import TriesSetting, measure_tries
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.errors import BadInput
from in_process import Done, whole_command
from later import later
from openai_server import Reply, Request, chat_reply, failure, openai_server
from scenery import save, scene

later("pydantic_ai")

NICE = LatLon(43.7, 7.27)
OFF_DEGREES = {1: 0.0, 2: 0.1, 3: 5.0, 4: 5.1}
"""How far north of the truth each try, by its seed, puts the photo: 0, 11, 556 and 567 km."""


def geosleuth(*words: str | Path, home: Path) -> Done:
    return whole_command(*words, GEOSLEUTH_HOME=str(home), COLUMNS="100")


def by_seed(request: Request) -> Reply:
    body = request.body.decode()
    if "Several tries were made" in body:
        return chat_reply(json.dumps({"lat": NICE.lat, "lon": NICE.lon, "evidence": ["T1.1"]}))
    return chat_reply(json.dumps({"lat": NICE.lat + OFF_DEGREES[request.json["seed"]], "lon": NICE.lon}))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number in range(3):
        save(scene(number, (96, 72)), tmp_path / "photos" / f"{number}.jpg", NICE)
    save(scene(9, (96, 72)), tmp_path / "photos" / "nowhere.jpg", None)
    return tmp_path / "photos"


def test_tries_are_measured_and_no_photo_is_asked_about_twice(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "tries.jsonl"
    with openai_server([by_seed]) as url:
        words = ("team", "tries", photos, "--model", "server:any", "--base-url", url, "--tools", "none", "--out", out)
        verified = ("--verifier", "same")
        first = geosleuth(*words, *verified, "--json", home=atlas_home)
        assert first.returncode == 0, first.stderr
        assert "1 photo is left out: no coordinates" in first.stderr
        told = json.loads(first.stdout)
        assert (told["photos"], told["tries"], told["thresholds_km"]) == (3, 4, [1, 25, 200, 750])
        assert told["figures"] == {
            "verifier@4": [1, 1, 1, 1],
            "mean single": [0.25, 0.5, 0.5, 1],
            "best@4": [1, 1, 1, 1],
            "pass@1": [0.25, 0.5, 0.5, 1],
            "pass@2": [0.5, pytest.approx(5 / 6), pytest.approx(5 / 6), 1],
            "pass@4": [1, 1, 1, 1],
            "range@4": [1, 1, 1, 0],
        }
        assert len(url.requests) == 3 * 5
        assert not [one for one in url.requests if b"0.jpg" in one.body or b"nowhere" in one.body]
        lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
        assert len(lines) == 3
        out.write_text("".join(lines[:2]) + lines[2][:40], encoding="utf-8")
        again = geosleuth(*words, *verified, "--k", "2", home=atlas_home)
        assert again.returncode == 0, again.stderr
        assert len(url.requests) == 4 * 5
        assert out.read_text(encoding="utf-8").splitlines(keepends=True) == lines
        assert "verifier@4" in again.stdout
        assert "83.3%" in again.stdout
        assert "pass@1" not in again.stdout
        other = geosleuth(*words, *verified, "--within", "0.5,3", "--at-once", "3", "--json", home=atlas_home)
        assert json.loads(other.stdout)["thresholds_km"] == [0.5, 3.0], other.stderr
        assert len(url.requests) == 4 * 5


def test_what_fails_is_said_and_asked_about_again(atlas_home: Path, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "tries.jsonl"
    with openai_server([failure(401, "no such key")]) as url:
        words = ("team", "tries", photos, "--model", "server:any", "--base-url", url, "--out", out, "--photos", "1")
        done = geosleuth(*words, home=atlas_home)
        assert done.returncode == 1
        assert "nothing was measured" in done.stderr
        assert not out.exists()


@pytest.mark.parametrize(
    ("told", "k", "reason"),
    [
        ({}, "5", "between 1 and the 4 tries"),
        ({}, "many", "write numbers with commas"),
        ({"model": "detective", "base_url": None}, None, "name a model with --model"),
    ],
)
def test_what_is_refused(photos: Path, told: dict[str, Any], k: str | None, reason: str) -> None:
    request = replace(LocateRequest(model="server:any", base_url="http://127.0.0.1:9/v1", parallel=4), **told)
    with pytest.raises(BadInput, match=reason):
        measure_tries(photos, request, TriesSetting(k=k), out=photos / "tries.jsonl", as_json=False)


def test_a_file_of_something_else_is_left_alone(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    out.write_text('{"mine": 1}\n', encoding="utf-8")
    request = LocateRequest(model="server:any", base_url="http://127.0.0.1:9/v1", parallel=4)
    for path, reason in ((out, "line 1: is no photo"), (tmp_path / "none" / "tries.jsonl", "does not exist")):
        with pytest.raises(BadInput, match=reason):
            measure_tries(photos, request, TriesSetting(), out=path, as_json=False)
    assert out.read_text(encoding="utf-8") == '{"mine": 1}\n'
