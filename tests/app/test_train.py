"""``geosleuth train``, run as people run it: all that needs no training. tests/train/test_smoke.py trains."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from geosleuth.train.keeping import held_run, write_done
from geosleuth.train.reading import read_recipe, recipe_names
from in_process import geosleuth
from train_runs import write_run

COMMANDS = (
    "sft",
    "coldstart",
    "grpo",
    "dry-run",
    "recipes",
    "show",
    "chart",
    "tries",
    "evaluate",
    "pieces split",
    "pieces join",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str) -> None:
    done = geosleuth("train", *command.split(), "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"geosleuth train {command}" in done.stdout


def test_recipes_are_listed() -> None:
    told = json.loads(geosleuth("train", "recipes", "--json").stdout)["recipes"]
    assert [one["name"] for one in told] == list(recipe_names())
    assert {one["paper"] for one in told} >= {"geoagent", "spotagent", "geovista", "twm"}
    shown = geosleuth("train", "recipes").stdout
    assert all(name in shown for name in recipe_names())


def test_a_run_is_summed_up_and_its_page_drawn(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 20)
    done = geosleuth("train", "show", run)
    assert done.returncode == 0, done.stderr
    assert "made-up (grpo)" in done.stdout
    assert "tools/failure_rate" in done.stdout
    assert done.stderr == f"wrote {run / 'run.html'}\n"
    assert "Failed calls" in (run / "run.html").read_text(encoding="utf-8")
    told = json.loads(geosleuth("train", "show", run, "--json").stdout)
    assert (told["name"], told["step"], told["finished"]) == ("made-up", 20, False)
    assert told["figures"]["reward"]["last"] > told["figures"]["reward"]["first"]


def test_who_watches_sees_the_end(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 2)
    (run / "done.json").write_text('{"steps": 2, "figures": {}}')
    done = geosleuth("train", "show", run, "--watch", "600")
    assert (done.returncode, done.stderr.count("wrote")) == (0, 1)


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    chart = {
        "kind": "lines",
        "title": "Sizes",
        "lines": [{"name": "a", "points": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]}],
    }
    (tmp_path / "chart.json").write_text(json.dumps(chart))
    done = geosleuth("train", "chart", tmp_path / "chart.json", "--out", tmp_path / "chart.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')


def test_pieces_go_and_come_back(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "model.safetensors").write_bytes(bytes(range(256)) * 10)
    (policy / "config.json").write_text("{}")
    cut = geosleuth("train", "pieces", "split", policy, "--out", tmp_path / "pieces", "--mb", "0.001", "--json")
    assert cut.returncode == 0, cut.stderr
    assert json.loads(cut.stdout) == {"folder": str(tmp_path / "pieces"), "files": 2, "pieces": 4, "bytes": 2562}
    assert max(path.stat().st_size for path in (tmp_path / "pieces").glob("*.piece")) == 1000
    back = geosleuth("train", "pieces", "join", tmp_path / "pieces", "--out", tmp_path / "back")
    assert back.returncode == 0, back.stderr
    assert (tmp_path / "back" / "model.safetensors").read_bytes() == bytes(range(256)) * 10


def recipe_file(folder: Path, **changes: object) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump({"name": "mine", "stage": "sft", "model": {"path": "nowhere/model"}, **changes}))
    return path


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("grpo", "--config", "RECIPE", "--out", "OUT"), "recipe mine: is for the stage sft; run: geosleuth train sft"),
        (("sft", "--config", "spotagent", "--out", "OUT"), "there is no recipe 'spotagent'"),
        (("sft", "--config", "RECIPE", "--out", "OUT", "--set", "optim.steps"), "looks like optim.steps=3"),
        (("sft", "--config", "RECIPE", "--out", "OUT", "--set", "optim.stepps=3"), "optim.stepps"),
        (("sft", "--config", "RECIPE", "--out", "OUT"), "nowhere/model"),
        (("tries", "--policy", "OUT", "--config", "RECIPE", "--out", "OUT"), "tries are made for one of grpo"),
        (("show", "OUT"), "holds no training run"),
        (("show", "OUT", "--json", "--watch", "5"), "--watch would print many"),
        (("evaluate", "OUT"), "is no folder with weights"),
        (("pieces", "join", "OUT", "--out", "OUT/back"), "pieces.json"),
        (("chart", "RECIPE", "--out", "OUT/chart.svg"), "is not JSON"),
    ],
)
def test_what_can_be_mended_is_told_in_one_line(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    names = {"RECIPE": str(recipe_file(tmp_path)), "OUT": str(tmp_path / "out")}
    done = geosleuth("train", *(names.get(word, word.replace("OUT/", f"{tmp_path}/out/")) for word in words))
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stage", ["sft", "coldstart", "grpo"])
def test_a_finished_run_is_told_again_and_left_as_it_is(tmp_path: Path, stage: str) -> None:
    config = recipe_file(tmp_path, stage=stage, model={"path": "Qwen/Qwen3-VL-8B-Instruct"})
    with held_run(tmp_path / "run", read_recipe(config)) as run:
        write_done(run, 7, {"loss": 0.25})
    done = geosleuth("train", stage, "--config", config, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["finished"], told["steps"], told["figures"]) == (True, 7, {"loss": 0.25})
    assert "8.77 billion weights" in done.stderr
    other = geosleuth(
        "train", stage, "--config", config, "--out", tmp_path / "run", "--set", "optim.learning_rate=1e-6"
    )
    assert other.returncode == 2
    assert "holds a run of another recipe (optim.learning_rate was 1e-05 and is 1e-06)" in other.stderr
    refused = geosleuth("train", stage, "--config", config, "--out", tmp_path / "run", "--no-resume")
    assert refused.returncode == 2
    assert "holds a run already" in refused.stderr


def test_a_missing_extra_is_named_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trl", None)
    done = geosleuth("train", "sft", "--config", recipe_file(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "this needs trl, which is not installed" in done.stderr
    assert "pip install 'geosleuth[train]'" in done.stderr
    assert not (tmp_path / "out").exists()
