"""A run's folder: whose it is, what a kill leaves behind, and from where a run goes on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.errors import BadInput
from geosleuth.train.keeping import RunFolder, finished, held_run, is_whole, last_checkpoint, step_of, write_done
from geosleuth.train.reading import read_recipe
from geosleuth.train.recipe import DataPart, ModelPart, OptimPart, Recipe

RECIPE = Recipe(name="r", stage="sft", model=ModelPart(path="m"), data=DataPart(store=Path("stores/a")))


def checkpoint(run: RunFolder, step: int, *, state: str | None = None) -> Path:
    folder = run.checkpoints / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    text = json.dumps({"global_step": step}) if state is None else state
    (folder / "trainer_state.json").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_keeps_its_recipe_and_gives_it_back(tmp_path: Path) -> None:
    with held_run(tmp_path / "run", RECIPE) as run:
        assert run.checkpoints.is_dir()
    assert read_recipe(tmp_path / "run" / "recipe.yaml") == RECIPE
    with held_run(tmp_path / "run", RECIPE):
        pass


def test_another_recipe_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    with held_run(tmp_path, RECIPE):
        pass
    other = replace(RECIPE, optim=OptimPart(learning_rate=3e-4))
    with pytest.raises(BadInput, match=r"optim\.learning_rate was 1e-05 and is 0\.0003"), held_run(tmp_path, other):
        pass
    with pytest.raises(BadInput, match="holds a run already"), held_run(tmp_path, RECIPE, resume=False):
        pass


def test_only_one_trains_in_a_folder(tmp_path: Path) -> None:
    with (
        held_run(tmp_path, RECIPE),
        pytest.raises(BadInput, match="another process trains here"),
        held_run(tmp_path, RECIPE),
    ):
        pass


def test_processes_beside_the_first_leave_the_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    with held_run(tmp_path / "run", RECIPE):
        assert not (tmp_path / "run").exists()


def test_checkpoints_that_were_cut_off_are_passed_over_and_removed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with held_run(tmp_path, RECIPE):
        assert last_checkpoint(run) is None
        good = checkpoint(run, 9)
        half = checkpoint(run, 10, state='{"global_step": 10, "epo')
        bare = run.checkpoints / "checkpoint-11"
        bare.mkdir()
        swapped = checkpoint(run, 12, state='{"global_step": 7}')
        (run.checkpoints / "README.md").write_text("x", encoding="utf-8")
        assert last_checkpoint(run) == good
        assert not any(map(is_whole, (half, bare, swapped)))
    with held_run(tmp_path, RECIPE):
        assert sorted(path.name for path in run.checkpoints.iterdir()) == ["README.md", "checkpoint-9"]
    assert step_of(good) == 9
    with pytest.raises(BadInput, match="is no checkpoint"):
        step_of(tmp_path)


def test_checkpoints_are_ordered_by_number_and_not_by_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    checkpoint(run, 100)
    newest = checkpoint(run, 1000)
    checkpoint(run, 99)
    assert last_checkpoint(run) == newest


def test_checkpoints_without_a_recipe_are_nobodys(tmp_path: Path) -> None:
    checkpoint(RunFolder(tmp_path), 3)
    with pytest.raises(BadInput, match="without its recipe"), held_run(tmp_path, RECIPE):
        pass


def test_a_finished_run_tells_its_figures(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert finished(run) is None
    done = write_done(run, 7, {"loss": 0.25, "kl": float("nan")})
    assert finished(run) == done
    assert (done.steps, done.figures, done.policy) == (7, {"loss": 0.25}, tmp_path / "policy")
    for damage in ("{", "[]", '{"steps": 7, "figures": [1]}', '{"steps": 7, "figures": {"loss": "low"}}'):
        run.done.write_text(damage, encoding="utf-8")
        with pytest.raises(BadInput, match="is damaged"):
            finished(run)
