"""A run's folder: whose it is, what a kill leaves behind, and from where a run goes on."""

import json
import logging
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe
from geosleuth.lab.train.recipe_files import read_recipe
from geosleuth.lab.train.run_folder import (
    TrainingFolder,
    is_whole,
    last_checkpoint,
    lock_run,
    parse_step,
    read_finished,
    write_done,
)
from geosleuth.support.errors import BadInput

RECIPE = Recipe(name="r", stage="sft", model=ModelPart(path="m"), data=DataPart(store=Path("stores/a")))


def tensors(values: bytes = b"weights!") -> bytes:
    """A file of one tensor, as safetensors writes it."""
    told = {"__metadata__": {"format": "pt"}, "w": {"dtype": "U8", "shape": [8], "data_offsets": [0, len(values)]}}
    header = json.dumps(told).encode()
    return len(header).to_bytes(8, "little") + header + values


def saved(path: Path) -> None:
    """A file in the frame that torch saves in."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"how to read it" * 40)
        archive.writestr("archive/data/0", bytes(range(256)) * 40)


def checkpoint(run: TrainingFolder, step: int, *, state: str | None = None) -> Path:
    folder = run.checkpoints / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(tensors())
    for name in ("optimizer.pt", "rng_state.pth", "training_args.bin"):
        saved(folder / name)
    text = json.dumps({"global_step": step}) if state is None else state
    (folder / "trainer_state.json").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_keeps_its_recipe_and_gives_it_back(tmp_path: Path) -> None:
    with lock_run(tmp_path / "run", RECIPE) as run:
        assert run.checkpoints.is_dir()
    assert read_recipe(tmp_path / "run" / "recipe.yaml") == RECIPE
    with lock_run(tmp_path / "run", RECIPE):
        pass


def test_another_recipe_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    with lock_run(tmp_path, RECIPE) as run:
        checkpoint(run, 1)
    other = replace(RECIPE, optim=OptimPart(learning_rate=3e-4))
    with pytest.raises(BadInput, match=r"optim\.learning_rate was 1e-05 and is 0\.0003"), lock_run(tmp_path, other):
        pass
    with pytest.raises(BadInput, match="holds a run already"), lock_run(tmp_path, RECIPE, resume=False):
        pass


def test_only_one_trains_in_a_folder(tmp_path: Path) -> None:
    with (
        lock_run(tmp_path, RECIPE),
        pytest.raises(BadInput, match="another process trains here"),
        lock_run(tmp_path, RECIPE),
    ):
        pass


def test_checkpoints_that_were_cut_off_are_passed_over_and_removed(tmp_path: Path) -> None:
    run = TrainingFolder(tmp_path)
    with lock_run(tmp_path, RECIPE):
        assert last_checkpoint(run) is None
        good = checkpoint(run, 9)
        half = checkpoint(run, 10, state='{"global_step": 10, "epo')
        bare = run.checkpoints / "checkpoint-11"
        bare.mkdir()
        (run.checkpoints / "README.md").write_text("x", encoding="utf-8")
        assert last_checkpoint(run) == good
        assert not any(map(is_whole, (half, bare)))
    with lock_run(tmp_path, RECIPE):
        assert sorted(path.name for path in run.checkpoints.iterdir()) == ["README.md", "checkpoint-9"]
    assert parse_step(good) == 9
    with pytest.raises(BadInput, match="not a checkpoint"):
        parse_step(tmp_path)


def test_a_finished_run_tells_its_figures(tmp_path: Path) -> None:
    run = TrainingFolder(tmp_path)
    assert read_finished(run) is None
    done = write_done(run, 7, {"loss": 0.25, "kl": float("nan")})
    assert read_finished(run) == done
    assert (done.steps, done.figures, done.policy) == (7, {"loss": 0.25}, tmp_path / "policy")
    for damage in ("{", "[]", '{"steps": 7, "figures": [1]}', '{"steps": 7, "figures": {"loss": "low"}}'):
        run.done.write_text(damage, encoding="utf-8")
        with pytest.raises(BadInput, match="damaged"):
            read_finished(run)


def test_a_folder_in_which_nothing_was_reached_is_free_for_a_mended_recipe(tmp_path: Path) -> None:
    mended = replace(RECIPE, optim=OptimPart(learning_rate=3e-4))
    with lock_run(tmp_path, RECIPE) as run:
        run.metrics.write_text('{"step": 1}\n', encoding="utf-8")
        run.scenes.mkdir()
        (run.checkpoints / "checkpoint-50").mkdir()
    elsewhere = replace(RECIPE, data=DataPart(store=Path("stores/b")))
    with pytest.raises(BadInput, match=r"data\.store was stores/a"), lock_run(tmp_path, elsewhere):
        pass
    with lock_run(tmp_path, mended):
        assert read_recipe(run.recipe) == mended
        assert not any(run.checkpoints.iterdir())
    with lock_run(tmp_path, RECIPE, resume=False):
        assert read_recipe(run.recipe) == RECIPE
    run.policy.mkdir()
    with pytest.raises(BadInput, match="holds a run of another recipe"), lock_run(tmp_path, mended):
        pass


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path: Path) -> None:
    path.write_bytes(b"\x93\x07" * (path.stat().st_size // 2))


def noise_within(path: Path) -> None:
    data = path.read_bytes()
    at = len(data) // 2
    path.write_bytes(data[:at] + b"\x93\x07" * 8 + data[at + 16 :])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def another_step(path: Path) -> None:
    path.write_text('{"global_step": 7}', encoding="utf-8")


DAMAGE = [
    ("model.safetensors", half), ("model.safetensors", noise), ("model.safetensors", empty),
    ("optimizer.pt", half), ("optimizer.pt", noise), ("optimizer.pt", noise_within), ("optimizer.pt", empty),
    ("rng_state.pth", noise), ("training_args.bin", half), ("trainer_state.json", noise),
    ("trainer_state.json", another_step),
]  # fmt: skip


@pytest.mark.parametrize(("name", "harm"), DAMAGE)
def test_a_damaged_checkpoint_is_set_aside_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, harm: Callable[[Path], None]
) -> None:
    with lock_run(tmp_path, RECIPE) as run:
        good, newest = checkpoint(run, 2), checkpoint(run, 4)
    assert is_whole(newest)
    harm(newest / name)
    assert not is_whole(newest)
    assert last_checkpoint(run) == good
    with caplog.at_level(logging.WARNING), lock_run(tmp_path, RECIPE):
        assert sorted(path.name for path in run.checkpoints.iterdir()) == ["checkpoint-2", "damaged-4"]
    (line,) = caplog.messages
    assert name in line
    assert "resuming from checkpoint-2" in line
    assert "\n" not in line
    # Once is enough.
    caplog.clear()
    with lock_run(tmp_path, RECIPE):
        assert not caplog.messages


@pytest.mark.parametrize(("name", "harm"), [("model.safetensors", half), ("trainer_state.json", another_step)])
def test_a_run_whose_checkpoints_are_all_damaged_does_not_begin_anew(
    tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    with lock_run(tmp_path, RECIPE) as run:
        only = checkpoint(run, 4)
    harm(only / name)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"delete .*checkpoints to start over") as caught, lock_run(tmp_path, RECIPE):
            pass
        assert name in str(caught.value)
    # Nobody goes on with a run that is done.
    write_done(run, 7, {})
    with lock_run(tmp_path, RECIPE):
        pass
