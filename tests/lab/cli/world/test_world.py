"""``geosleuth world make | show``, as a user calls them."""

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from geosleuth.lab.cli.world import world
from geosleuth.support.errors import BadInput
from homes import home_with_base
from worlds import world_of


@pytest.fixture(scope="session")
def home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = home_with_base(tmp_path_factory.mktemp("world-commands"), base_file)
    world_of(folder)
    return folder


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(home))


def run(*words: object) -> Result:
    return CliRunner().invoke(world, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def folder(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("commands") / "scenes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(home))
        done = run("make", "--count", 4, "--seed", 10, "--split", "held-out", "--workers", 1, "--out", out)
    assert done.exit_code == 0
    return out


def test_make_says_what_it_made_and_goes_on(folder: Path) -> None:
    done = run("make", "--count", 4, "--seed", 10, "--split", "held-out", "--workers", 1, "--out", folder, "--json")
    told = json.loads(done.stdout)
    assert (told["scenes"], told["kept"]) == (4, 4)
    assert Path(told["set"]).is_file()


def test_make_refuses_the_folder_of_another_seed_in_one_line(folder: Path) -> None:
    done = run("make", "--count", 4, "--seed", 11, "--split", "held-out", "--out", folder)
    assert isinstance(done.exception, BadInput)
    assert "holds scenes of seed 10, not 11; give another --out" in str(done.exception)


def test_make_refuses_a_region_that_was_not_added(tmp_path: Path) -> None:
    done = run("make", "--count", 1, "--region", "atlantis", "--out", tmp_path / "x")
    assert isinstance(done.exception, BadInput)
    assert "no added region is called 'atlantis'" in str(done.exception)


def test_show_counts_a_folder(folder: Path) -> None:
    told = json.loads(run("show", folder, "--json").stdout)
    assert told["scenes"] == sum(told["tells"].values()) == sum(told["kind"].values()) == 4
    assert "scenes" in run("show", folder).stdout


def test_show_tells_one_scene_and_frames_its_clues(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "framed.png"
    done = run("show", folder, "held-out-10-000001", "--out", out)
    assert done.exit_code == 0
    plain = json.loads(run("show", folder, "held-out-10-000001", "--json").stdout)
    for clue in plain["scene"]["clues"]:
        assert clue["id"] in done.stdout
    with Image.open(out) as framed, Image.open(folder / "images" / "held-out-10-000001.jpg") as drawn:
        assert framed.size == drawn.size
    assert isinstance(run("show", folder, "held-out-10-000001", "--out", out).exception, BadInput)
    assert "no scene is called" in str(run("show", folder, "nowhere").exception)
