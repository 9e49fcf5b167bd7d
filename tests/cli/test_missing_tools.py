"""Tools that a method would have and that can't answer here: named once, with what brings each."""

import json
from pathlib import Path
from typing import Any

import pytest

import geosleuth
from geosleuth.agent import read_trajectory
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from in_process import whole_command
from later import later
from locating import FINAL, at, locate_here, photo_file
from openai_server import openai_server

later("pydantic_ai")

MAPLESS = ["poi_keyword_search", "poi_detail_query", "satellite_map_query"]
pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    for number in range(2):
        photo_file(tmp_path, f"{number}.jpg")
    found = tmp_path / "photos.csv"
    found.write_text("id,image,lat,lon\na,0.jpg,43.7354,7.4211\nb,1.jpg,43.7354,7.4211\n")
    return found


def test_locate_names_them_once_and_keeps_them_in_the_run(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    with openai_server([FINAL]) as url:
        done = locate_here(photo_file(tmp_path), *at(url, "--method", "twm", "--json", "--trajectory", kept))
    assert done.code == 0, done.err
    (said,) = [line for line in done.err.splitlines() if "lacks" in line]
    assert said.startswith("twm lacks 3 of its 6 tools: poi_keyword_search, poi_detail_query (")
    assert "geosleuth atlas get PLACE" in said
    assert done.document["answer"]
    missing = read_trajectory(kept).started.missing
    assert [one.name for one in missing] == MAPLESS
    assert all(one.brought_by for one in missing)


def test_bench_run_of_a_papers_method_asks_for_partial(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with openai_server([FINAL]) as url:
        words = ("bench", "run", "--data", table, "--model", "server:any", "--base-url", url, "--method", "twm")
        refused = whole_command(*words, "--out", out)
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1), refused.stderr
        assert "add --partial to go on without them" in refused.stderr
        assert not out.exists()
        assert not url.requests
        done = whole_command(*words, "--out", out, "--partial", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("twm lacks 3 of its 6 tools") == 1
    runs = [read_trajectory(path) for path in (out / "trajectories").rglob("*.jsonl")]
    assert [[one.name for one in run.started.missing] for run in runs] == [MAPLESS, MAPLESS]
    assert json.loads(done.stdout)["answered"] == 2


def test_a_method_of_ours_and_chosen_tools_go_without_partial(table: Path, tmp_path: Path) -> None:
    with openai_server([FINAL]) as url:
        words = ("bench", "run", "--data", table, "--model", "server:any", "--base-url", url)
        ours = whole_command(*words, "--out", tmp_path / "ours")
        chosen = whole_command(
            *words, "--method", "geovista", "--tools", "image_zoom_in_tool", "--out", tmp_path / "chosen"
        )
    assert (ours.returncode, chosen.returncode) == (0, 0), (ours.stderr, chosen.stderr)
    assert "default lacks" in ours.stderr
    assert "lacks" not in chosen.stderr


def test_python_says_it_once_in_a_plain_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr("geosleuth.pipeline.api._said", set())
    # With its boxes named, the model is not asked for them, which would be a warning of its own.
    asked: dict[str, Any] = {"model": "server:any", "method": "spotagent", "boxes": "pixels"}
    with openai_server([FINAL, FINAL]) as url:
        for _ in range(2):
            found = geosleuth.locate(photo_file(tmp_path), base_url=str(url), **asked)
    assert not [one for one in recwarn if "lacks" in str(one.message)]
    assert [one.getMessage() for one in caplog.records if one.name.startswith("geosleuth")] == [
        "spotagent lacks 1 of its 3 tools: search_web (no web search; --web-search SERVICE)"
    ]
    assert [one.name for one in found.trajectory.started.missing] == ["search_web"]


def test_what_is_named_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_SEARXNG_URL", "http://127.0.0.1:8888")
    monkeypatch.setenv("GEOSLEUTH_SATELLITE_TILES", "http://127.0.0.1:8889/{z}/{x}/{y}.png")

    def lacking(method: str, **more: str) -> str:
        local = {"model": "server:any", "base_url": "http://127.0.0.1:1", "allow": ("127.0.0.1",)}
        return make_plan(LocateRequest.from_options(**local, method=method, **more)).missing_tools

    assert "search_web" in lacking("geovista")
    assert not lacking("geovista", web_search="searxng")
    assert "satellite_map_query" in lacking("twm")
    assert not lacking("twm", maps="xyz")
    assert "search_web" not in lacking("geovista", tools="+search_web")
