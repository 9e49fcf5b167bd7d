"""Which rows a run learns from, and in which order."""

import json
from pathlib import Path

import numpy as np
import pytest

from geosleuth.lab.train.prompts import phases, prompt_rows, run_order
from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe
from geosleuth.lab.train.recipe_files import as_mapping
from geosleuth.lab.train.run_folder import TrainingFolder, write_done
from geosleuth.models.training_mark import find_learned_tests
from geosleuth.support.errors import BadInput

# Scenes by what their tries teach: the first at 1 km alone, the second at 25, the third at 200, the last two nothing.
TRIES = {
    "scene-0": [0.4, 5.0, 9.0, 20.0],
    "scene-1": [3.0, 90.0, 60.0, 4.0],
    "scene-2": [100.0, 300.0, None, 150.0],
    "scene-3": [0.1, 0.2, 0.3, 0.4],
    "scene-4": [2000.0, None, 900.0, 4000.0],
}
TWO_PHASES = ((1.0, 25.0), (1.0, 25.0, 200.0, 750.0))


def recipe(data: DataPart | None = None, *, steps: int | None = None, epochs: float = 1.0) -> Recipe:
    optim = OptimPart(batch=4, steps=steps, epochs=epochs)
    return Recipe(name="small", stage="grpo", model=ModelPart(path="m"), data=data or DataPart(), optim=optim)


@pytest.fixture
def tries(tmp_path: Path) -> Path:
    path = tmp_path / "tries.jsonl"
    rows = [{"id": one, "distances_km": values} for one, values in TRIES.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": "scene-99", "distances_km": [1, 2]}]))
    return path


def test_scenes_are_rows_with_ids() -> None:
    assert prompt_rows(DataPart(scenes=2)) == [{"id": "scene-0", "scene": 0}, {"id": "scene-1", "scene": 1}]
    assert prompt_rows(DataPart(scenes=9, limit=1), start=5) == [{"id": "scene-5", "scene": 5}]


def test_a_limit_draws_photos_by_the_seed_and_keeps_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    rows = "".join(f"p{number:03},a.jpg,43.7,7.4\n" for number in range(300))
    (tmp_path / "photos.csv").write_text(f"id,image,lat,lon\n{rows}")

    def names(seed: int, limit: int = 30) -> list[str]:
        data = DataPart(photos=(str(tmp_path / "photos.csv"),), limit=limit, seed=seed)
        return [row["id"] for row in prompt_rows(data)]

    drawn = names(7)
    assert len(drawn) == 30
    assert drawn == sorted(drawn) == names(7)
    assert drawn != names(8)
    assert drawn[-1] > "p200"
    assert set(names(7, 10)) < set(drawn)


def test_photos_are_rows_with_their_truth(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    (tmp_path / "photos.csv").write_text("id,image,lat,lon,country\none,a.jpg,43.7,7.4,Monaco\n")
    (row,) = prompt_rows(DataPart(photos=(str(tmp_path / "photos.csv"),)))
    assert (row["id"], row["lat"], row["country"]) == ("one", 43.7, "Monaco")
    assert Path(row["photo"]) == tmp_path / "a.jpg"


def test_rows_that_always_or_never_succeed_are_left_out(tries: Path) -> None:
    (kept,) = phases(prompt_rows(DataPart(scenes=10)), DataPart(tries=tries))
    assert kept.tolist() == [0, 1, 2]


def test_the_curriculum_goes_from_near_to_far(tries: Path) -> None:
    data = DataPart(scenes=5, tries=tries, phases_km=TWO_PHASES)
    first, second = phases(prompt_rows(data), data)
    assert (first.tolist(), second.tolist()) == ([0, 1], [0, 1, 2])
    order = run_order([first, second], recipe(data, steps=5))
    assert len(order) == 20
    assert set(order[:8]) == {0, 1}
    assert set(order[8:]) == {0, 1, 2}
    # Every row of a phase comes up equally often, give or take one.
    assert set(np.bincount(order[8:])) == {4}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (DataPart(phases_km=TWO_PHASES), "needs data.tries"),
        (DataPart(tries=Path("tries.jsonl"), regimes_km=(0.01,)), "no row is right in some tries"),
        (DataPart(tries=Path("tries.jsonl"), phases_km=((2.0,),)), "phase 1 wants 2 km"),
        (DataPart(tries=Path("others.jsonl")), "none of its tries"),
    ],
)
@pytest.mark.usefixtures("tries")
def test_what_can_not_be_filtered_is_said(
    data: DataPart, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "others.jsonl").write_text('{"id": "x", "distances_km": [1, 50]}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=words):
        phases(prompt_rows(DataPart(scenes=5)), data)


def test_test_parts_are_refused_unless_they_are_allowed(tmp_path: Path) -> None:
    for part in ("train", "test"):
        (tmp_path / f"{part}.jpg").write_bytes(b"x")
        line = json.dumps({"image": f"{part}.jpg", "latitude": 31.2, "longitude": 121.4})
        (tmp_path / f"{part}_metadata.jsonl").write_text(f"{line}\n")
    train, test = f"mapbench-train:{tmp_path}", f"mapbench:{tmp_path}"
    assert [row["id"] for row in prompt_rows(DataPart(photos=(train,)))] == ["train.jpg"]
    with pytest.raises(BadInput, match="these are test photos"):
        prompt_rows(DataPart(photos=(train, test)))
    both = prompt_rows(DataPart(photos=(train, test), allow_test=True))
    assert [row["id"] for row in both] == ["mapbench-train/train.jpg", "mapbench/test.jpg"]


def test_rows_that_a_table_calls_test_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    (tmp_path / "photos.csv").write_text("image,lat,lon,split\na.jpg,1,2,test\n")
    with pytest.raises(BadInput, match="--allow-test"):
        prompt_rows(DataPart(photos=(str(tmp_path / "photos.csv"),)))


def test_a_policy_that_learned_test_photos_is_marked_and_so_is_what_is_trained_from_it(tmp_path: Path) -> None:
    first, second = TrainingFolder(tmp_path / "first"), TrainingFolder(tmp_path / "second")
    for run, model, data in (
        (first, "base", DataPart(photos=("mapbench-train:x", "mapbench:x"), allow_test=True)),
        (second, str(first.policy), DataPart()),
    ):
        run.policy.mkdir(parents=True)
        learned = Recipe(name="r", stage="grpo", model=ModelPart(path=model), data=data)
        run.recipe.write_text(json.dumps(as_mapping(learned)))
        write_done(run, 1, {})
        assert find_learned_tests(run.policy) == ("mapbench",)
