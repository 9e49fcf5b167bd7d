"""``geosleuth train``, run as people run it: all that needs no training. tests/lab/train/test_smoke.py trains."""

import errno
import json
import sys
from pathlib import Path

import pytest
import yaml

from geosleuth.lab.cli.handlers.train import _estimate
from geosleuth.lab.train.recipe_files import ABLATIONS, as_mapping, read_recipe, recipe_names
from geosleuth.lab.train.run_folder import lock_run, write_done
from geosleuth.lab.train.run_page import nobody_trains
from in_process import geosleuth
from train_runs import write_run

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_recipes_are_listed() -> None:
    told = json.loads(geosleuth("train", "recipes", "--json").stdout)["recipes"]
    assert [one["name"] for one in told] == [*recipe_names(), *ABLATIONS]
    assert {one["paper"] for one in told} >= {"geoagent", "spotagent", "geovista", "twm"}
    shown = geosleuth("train", "recipes").stdout
    assert all(name in shown for name in recipe_names())


def test_a_recipe_is_printed_to_be_copied(tmp_path: Path) -> None:
    done = geosleuth("train", "recipes", "twm-grpo")
    assert done.returncode == 0
    copied = tmp_path / "mine.yaml"
    copied.write_text(done.stdout, encoding="utf-8")
    assert read_recipe(copied) == read_recipe("twm-grpo")
    assert json.loads(geosleuth("train", "recipes", "twm-grpo", "--json").stdout) == as_mapping(read_recipe("twm-grpo"))


def test_recipes_of_the_documents_can_be_read(tmp_path: Path) -> None:
    tutorial = (DOCS / "tutorials" / "training-from-photos.md").read_text(encoding="utf-8")
    text = tutorial.partition("\n## Rehearse without a GPU\n")[2].partition("\n## ")[0]
    blocks = [part.partition("```")[0] for part in text.split("```yaml\n")[1:]]
    stages = []
    for block in blocks:
        (tmp_path / "one.yaml").write_text(block, encoding="utf-8")
        stages.append(read_recipe(tmp_path / "one.yaml").stage)
    assert stages == ["sft", "coldstart", "grpo"]


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


def test_who_watches_a_dead_run_is_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 3)
    done = geosleuth("train", "show", run, "--watch", "600")
    assert done.returncode == 0
    assert "no process trains here; the run stopped after step 3" in done.stderr
    with lock_run(tmp_path / "alive", read_recipe(recipe_file(tmp_path))):
        assert not nobody_trains(tmp_path / "alive")
    assert nobody_trains(tmp_path / "alive")


def test_the_page_says_how_it_is_drawn_anew(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "a long one", 2)
    geosleuth("train", "show", run)
    assert f"geosleuth train show &#x27;{run}&#x27;" in (run / "run.html").read_text(encoding="utf-8").replace(
        "&#39;", "&#x27;"
    )


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
        (("evaluate", "OUT"), "not a folder with weights"),
        (("recipes", "twm"), "there is no recipe 'twm'"),
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
    with lock_run(tmp_path / "run", read_recipe(config)) as run:
        write_done(run, 7, {"loss": 0.25})
    done = geosleuth("train", stage, "--config", config, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["finished"], told["steps"], told["figures"]) == (True, 7, {"loss": 0.25})
    assert "finished already" in done.stderr
    assert "What it takes" not in done.stderr
    other = geosleuth(
        "train", stage, "--config", config, "--out", tmp_path / "run", "--set", "optim.learning_rate=1e-6"
    )
    assert other.returncode == 2
    assert "holds a run of another recipe (optim.learning_rate was 1e-05 and is 1e-06)" in other.stderr
    refused = geosleuth("train", stage, "--config", config, "--out", tmp_path / "run", "--no-resume")
    assert refused.returncode == 2
    assert "holds a run already" in refused.stderr


@pytest.mark.parametrize(
    ("trouble", "status", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device; make room, and run the same"),
        (RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)"), 1, "make room"),
        (
            PermissionError(errno.EACCES, "Permission denied", "OUT/metrics.jsonl"),
            2,
            "OUT/metrics.jsonl: can't be used",
        ),
    ],
)
def test_what_the_disk_refuses_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Exception, status: int, words: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr("geosleuth.lab.train.sft.load_model", failing)
    config = recipe_file(tmp_path, model={"path": "Qwen/Qwen3-VL-8B-Instruct"})
    done = geosleuth("train", "sft", "--config", config, "--out", tmp_path / "out")
    assert done.returncode == status
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_stopped_run_says_how_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopping(*_: object, **__: object) -> None:
        sys.exit(130)

    monkeypatch.setattr("geosleuth.lab.train.sft.load_model", stopping)
    words = ("train", "sft", "--config", recipe_file(tmp_path, model={"path": "Qwen/Qwen3-VL-8B-Instruct"}), "--out")
    done = geosleuth(*words, tmp_path / "out")
    assert done.returncode == 130
    assert done.stderr.endswith("stopped after step 0, before the first checkpoint; the same command starts over\n")
    monkeypatch.setattr("geosleuth.lab.cli.handlers.train.last_checkpoint", lambda _: Path("checkpoint-4"))
    done = geosleuth(*words, tmp_path / "out")
    assert done.stderr.endswith("\nstopped after step 4; run the same command to resume\n")


def test_a_missing_extra_is_named_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trl", None)
    done = geosleuth("train", "sft", "--config", recipe_file(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "this needs trl, which is not installed" in done.stderr
    assert "[train]'" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        ({"value": 383.72, "low": 1.5, "high": 2000.0}, ("383.72", "1.50 to 2,000.00")),
        ({"value": 383.72, "low": 1.5, "high": None}, ("383.72", "1.50 to ∞")),
        ({"value": 383.72, "low": None, "high": None}, ("383.72", "too few scenes")),
    ],
)
def test_intervals_end_somewhere_or_say_why_not(figure: dict[str, float | None], shown: tuple[str, str]) -> None:
    assert _estimate(figure, 2) == shown
