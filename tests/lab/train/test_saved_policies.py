"""Every policy that a run saved: found, made a folder of weights, played, and told about from step to step."""

import json
from pathlib import Path

import pytest

from geosleuth.lab.train.evaluation import compute_measures
from geosleuth.lab.train.play import PlayedScene, PlayedTry
from geosleuth.lab.train.run_folder import TrainingFolder
from geosleuth.lab.train.saved_policies import each_policy, is_run, list_saved_policies, open_weights
from geosleuth.lab.train.sft import run_sft
from geosleuth.models.weights import check_folder
from geosleuth.support.errors import BadInput
from in_process import geosleuth
from later import later
from tiny_vlm import tiny_vlm_folder
from training_runs import short_recipe, short_store

torch = later("torch")
later("trl")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrainingFolder]:
    """A run of four steps with all weights tuned, and one with adapters; each keeps two checkpoints."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("runs")
    store = short_store(folder / "store", 5)
    for tuned in ("full", "lora"):
        run_sft(short_recipe(tiny_vlm_folder(), store, tuned), folder / tuned)
    return {tuned: TrainingFolder(folder / tuned) for tuned in ("full", "lora")}


@pytest.mark.parametrize("tuned", ["full", pytest.param("lora", marks=pytest.mark.slow)])
def test_checkpoints_become_policies_for_as_long_as_they_are_used(
    runs: dict[str, TrainingFolder], tuned: str, tmp_path: Path
) -> None:
    run = runs[tuned]
    assert is_run(run.path)
    assert not is_run(run.policy)
    first, last = list_saved_policies(run)
    assert (first.step, first.is_checkpoint) == (3, True)
    assert (last.step, last.folder, last.is_checkpoint) == (4, run.policy, False)
    with open_weights(run, first, tmp_path / "scratch") as weights:
        check_folder(weights)
        own = (weights / "model.safetensors").read_bytes()
    assert not weights.exists()
    with open_weights(run, last, tmp_path / "scratch") as weights:
        assert weights == run.policy
        assert (weights / "model.safetensors").read_bytes() != own


def test_later_policies_are_waited_for_until_the_run_has_ended(runs: dict[str, TrainingFolder], tmp_path: Path) -> None:
    run = runs["full"]
    kept = TrainingFolder(tmp_path / "copy")
    kept.checkpoints.mkdir(parents=True)
    (kept.checkpoints / "checkpoint-3").symlink_to(run.checkpoints / "checkpoint-3")
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        kept.policy.symlink_to(run.policy)
        kept.done.write_bytes(run.done.read_bytes())

    assert [one.step for one in each_policy(kept, follow=True, wait=wait)] == [3, 4]
    assert len(waited) == 1


def played(number: int, *tries_km: float | None) -> PlayedScene:
    tries = tuple(PlayedTry(km, 0.5, answered=km is not None, reason="answered") for km in tries_km)
    return PlayedScene(
        number, f"scene-{number}", needs_zoom=False, misleading=False, locatability=9.0, finest="precise", country="FR",
        tries=tries, verified=tries[0],
    )  # fmt: skip


def test_measures_are_told_at_any_distances() -> None:
    scenes = [played(0, 0.4, 30.0, None, 700.0), played(1, 0.2, 0.3, 0.1, 0.2)]
    found = compute_measures(scenes, (1.0, 50.0))
    assert found["mean single"] == [62.5, 75.0]
    assert found["pass@1"] == found["mean single"]
    assert found["pass@2"] == [75.0, round(100 * (1 + 5 / 6) / 2, 4)]
    assert found["best@4"] == [100.0, 100.0]
    assert found["range@4"] == [50.0, 50.0]
    assert found["verifier@4"] == [100.0, 100.0]
    with pytest.raises(BadInput, match="from 1 to the 4 tries"):
        compute_measures(scenes, (1.0,), [8])


@pytest.mark.slow
def test_a_run_is_evaluated_policy_by_policy_and_only_once(
    runs: dict[str, TrainingFolder], atlas_home: object, tmp_path: Path
) -> None:
    assert atlas_home
    words = ("train", "evaluate", runs["full"].path, "--scenes", "1", "--tries", "2", "--max-new-tokens", "4",
             "--within", "1,2000", "--out", tmp_path / "found", "--json")  # fmt: skip
    done = geosleuth(*words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["within_km"] == [1.0, 2000.0]
    assert [row["step"] for row in document["policies"]] == [3, 4]
    assert set(document["policies"][0]["measures"]) >= {"mean single", "pass@1", "pass@2", "best@2", "range@2"}
    assert not (tmp_path / "found" / ".policy").exists()
    before = (tmp_path / "found" / "step-3" / "evaluation.json").stat().st_mtime_ns
    assert geosleuth(*words).stdout == done.stdout
    assert (tmp_path / "found" / "step-3" / "evaluation.json").stat().st_mtime_ns == before
    assert "whole run" in geosleuth("train", "evaluate", runs["full"].policy, "--within", "1").stderr
