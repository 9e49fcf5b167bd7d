"""Profiles: one word for a set-up, in every command, in Python and on the page; what is given beside it wins."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import geosleuth
from geosleuth.cli.options import RunOptions
from geosleuth.geo import LatLon
from geosleuth.pipeline.defaults import config_file
from geosleuth.pipeline.profiles import SAVED_OPTIONS, list_profiles, read_profile
from geosleuth.pipeline.request import LocateRequest
from geosleuth.server.records import RunRequest, RunSettings
from geosleuth.server.requests import fill_from_settings, locate_request
from geosleuth.support.errors import BadInput
from in_process import Done, whole_command
from later import later
from locating import FINAL, ZOOM, photo_file
from openai_server import ServerUrl, openai_server
from scenery import save, scene

later("pydantic_ai")
PAPERS = ("geoagent", "geovista", "smilegeo", "spotagent", "twm")


@pytest.fixture(autouse=True)
def home(atlas_home: Path) -> Iterator[Path]:
    folder = config_file().parent / "profiles"
    shutil.rmtree(folder, ignore_errors=True)
    yield atlas_home
    shutil.rmtree(folder, ignore_errors=True)


def saved(name: str, *words: object) -> Done:
    done = whole_command("setup", "--profile", name, *words)
    assert done.returncode == 0, done.stderr
    return done


def shown(url: ServerUrl) -> tuple[str, tuple[str, ...], Any]:
    """What the newest request told the model, its tools, and how long it may answer."""
    newest = url.requests[-1].json
    return (
        newest["messages"][0]["content"],
        tuple(tool["function"]["name"] for tool in newest.get("tools", ())),
        newest.get("max_tokens"),
    )


def test_one_word_is_the_same_set_up_everywhere(tmp_path: Path) -> None:
    photo, known = photo_file(tmp_path), tmp_path / "known"
    save(scene(1, (96, 72)), known / "1.jpg", LatLon(43.7, 7.27))
    seen = {}
    with openai_server([FINAL]) as url:
        saved("lab", "--model", "server:any", "--base-url", url, "--method", "twm", "--tools", "image_zoom_tool",
              "--reply-tokens", 900, "--turns", 3)  # fmt: skip
        one = whole_command("locate", photo, "--profile", "lab", "--json")
        assert one.returncode == 0, one.stderr
        assert (json.loads(one.stdout)["method"], json.loads(one.stdout)["tools"]) == ("twm", ["image_zoom_tool"])
        seen["locate"] = shown(url)
        run = whole_command("bench", "run", "--data", known, "--profile", "lab", "--out", tmp_path / "run")
        assert run.returncode == 0, run.stderr
        seen["bench run"] = shown(url)
        assert geosleuth.locate(photo, profile="lab").trajectory.started.method == "twm"
        seen["Python"] = shown(url)
        assert len(set(seen.values())) == 1, seen
        system, tools, most = seen["locate"]
        assert "Keep a pool of candidates" in system
        assert (tools, most) == (("image_zoom_tool",), 900)
        page = fill_from_settings(RunRequest(profile="lab"), RunSettings(offline=False))
        assert locate_request(page, offline=False) == LocateRequest(**read_profile("lab").options)
        assert locate_request(RunRequest(profile="lab", method="geoagent"), offline=False).method == "geoagent"


def test_options_beside_a_profile_win_also_where_they_say_what_is_usual(tmp_path: Path) -> None:
    photo = photo_file(tmp_path)
    with openai_server([ZOOM, FINAL]) as url:
        saved("lab", "--model", "server:any", "--base-url", url, "--method", "twm", "--parallel", 3, "--turns", 5,
              "--tools", "image_zoom_tool", "--verifier", "same")  # fmt: skip
        several = json.loads(whole_command("locate", photo, "--profile", "lab", "--json").stdout)
        assert len(several["team"]["said"]) == 3
        one = whole_command("locate", photo, "--profile", "lab", "--parallel", 1, "--method", "default", "--json")
        assert one.returncode == 0, one.stderr
        assert "team" not in json.loads(one.stdout)
        assert json.loads(one.stdout)["method"] == "default"
        assert "team" not in geosleuth.locate(photo, profile="lab", parallel=1).to_dict()
    assert read_profile("lab").beside({"team": Path("t.yaml")}) == {"turns": 5, "tools": "image_zoom_tool"}
    online = read_profile("twm")
    assert online.beside({"offline": True}).keys() == online.options.keys() - {"maps"}


def test_a_paper_s_set_up_is_saved_with_the_hosts_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AMAP_KEY", "GOOGLE_MAPS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = saved("twm", "--model", "ollama:qwen3-vl", "--turns", 6)
    assert "restapi.amap.com" in done.stderr
    assert "not allowed yet" in done.stderr
    assert "AMAP_KEY, GOOGLE_MAPS_API_KEY" in done.stderr
    assert "allow" not in read_profile("twm").options
    monkeypatch.setenv("AMAP_KEY", "amap-secret-1234")
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "google-secret-1234")
    told = json.loads(saved("twm", "--yes", "--json").stdout)
    assert told["missing_keys"] == []
    assert told["options"] == {
        "model": "ollama:qwen3-vl", "parallel": 4, "verifier": "same", "chains": "whole", "turns": 6, "method": "twm",
        "maps": "amap+google", "allow": ["restapi.amap.com", "maps.googleapis.com", "places.googleapis.com"],
    }  # fmt: skip
    assert "secret" not in Path(told["file"]).read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--base-url", "http://user:word@host.example/v1"),
        ("--maps", "nominatim", "--maps-url", "http://host.example/?key=abc"),
        ("--model", "server:sk-a-secret-of-mine"),
    ],
)
def test_a_key_never_enters_the_file(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-mine")
    done = whole_command("setup", "--profile", "lab", *words)
    assert (done.returncode, "may hold a key" in done.stderr) == (2, True), done.stderr
    assert list_profiles() == PAPERS


def test_what_can_t_be_a_profile_is_refused_in_one_line(tmp_path: Path) -> None:
    refusals = {
        ("locate", "x.jpg", "--profile", "nope"): f"there are {', '.join(PAPERS)}; save your own with",
        (
            "bench",
            "run",
            "--data",
            tmp_path,
            "--out",
            tmp_path / "r",
            "--profile",
            "../x",
        ): "there is no profile '../x'",
        ("serve", "--profile", "nope"): "there is no profile 'nope'",
        ("setup", "--profile", "../x", "--method", "twm"): "can't name a profile",
        ("setup", "--profile", "empty"): "would be empty",
        ("setup", "--method", "twm"): "--method is kept in a profile; name it with --profile NAME",
    }
    for words, told in refusals.items():
        done = whole_command(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (words, done.stderr)
        assert told in done.stderr
    with pytest.raises(BadInput, match="there is no profile 'nope'"):
        geosleuth.locate(tmp_path / "x.jpg", profile="nope")
    saved("lab", "--method", "twm")
    path = config_file().parent / "profiles" / "lab.toml"
    path.write_text('method = "twm"\nturn = 3\n')
    with pytest.raises(BadInput, match=r"lab\.toml: .*turn.*write it anew with: geosleuth setup --profile lab"):
        read_profile("lab")
    path.write_text('method = "twm"\nturns 3\n')
    again = "correct it, or write it anew with: geosleuth setup --profile lab"
    with pytest.raises(BadInput, match=rf"lab\.toml, line 2: can't be read; a setting looks like: .*; {again}$"):
        read_profile("lab")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(BadInput, match=rf"lab\.toml: is not a regular file; .*{again}$"):
        read_profile("lab")


def test_the_papers_profiles_hold_options_of_runs_and_no_model() -> None:
    assert list_profiles() == PAPERS
    own = {one.name for one in fields(RunOptions)} - {"profile", "offline", "yes"}
    assert set(SAVED_OPTIONS) == own
    for name in PAPERS:
        found = read_profile(name)
        assert found.options["method"] == name
        assert not {"model", "base_url", "allow"} & found.options.keys()
        assert bool(found.hosts) == bool(found.options.keys() & {"maps", "web_search", "image_search"})
