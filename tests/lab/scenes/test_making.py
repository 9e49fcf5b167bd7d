"""Folders of scenes: the same bytes however they were made, and nothing lost when work is interrupted."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from geosleuth.lab.bench.sets import describe, open_set
from geosleuth.lab.scenes import World, build_truth, make_scenes, read_scenes
from geosleuth.support.errors import BadInput
from homes import home_with_base
from worlds import world_of

COUNT, SEED, PAGED_SEED = 6, 5, 3


@pytest.fixture(scope="session")
def home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_base(tmp_path_factory.mktemp("making-home"), base_file)


@pytest.fixture(scope="session")
def world(home: Path) -> World:
    return world_of(home)


@pytest.fixture(scope="session")
def made(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "scenes"
    make_scenes(folder, world, count=COUNT, seed=SEED, split="train")
    return folder


def content(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_folder_has_pictures_scenes_set_card_and_manifest(made: Path) -> None:
    names = {path.name for path in made.iterdir()}
    assert names == {"images", "scenes.jsonl", "set.jsonl", "card.md", "manifest.json"}
    assert len(list((made / "images").iterdir())) == COUNT
    assert json.loads((made / "manifest.json").read_text())["scenes"] == COUNT
    assert "no photos" in (made / "card.md").read_text()


def test_the_set_is_one_that_runs_open(made: Path) -> None:
    data = open_set(str(made / "set.jsonl"))
    seen = describe(data)
    assert (seen.photos, seen.missing, seen.bad) == (COUNT, 0, 0)
    items = {item.id: item for item in data}
    for one in read_scenes(made):
        item = items[one.scene.id]
        assert item.truth == build_truth(one.scene)
        assert one.path.is_file()
        marked = {mark.clue for mark in one.marks}
        assert marked <= {clue.id for clue in one.scene.clues}
        assert bool(item.boxes) == bool(one.marks)


def test_a_folder_with_pages_says_so_and_is_not_continued_without(world: World, tmp_path: Path) -> None:
    paged = World(world.seed, world.noise, world.regions, world.towns, pages=True)
    folder = tmp_path / "paged"
    make_scenes(folder, paged, count=2, seed=PAGED_SEED, split="train")
    needing = {one.scene.id for one in read_scenes(folder) if one.scene.needs_page}
    assert len(needing) == 1
    marked = {item.id for item in open_set(str(folder / "set.jsonl")) if item.fields.get("needs_page") == "yes"}
    assert marked == needing
    assert "| need a web page | 1 | 50.0% |" in (folder / "card.md").read_text()
    with pytest.raises(BadInput, match="with pages"):
        make_scenes(folder, world, count=2, seed=PAGED_SEED, split="train")


@pytest.mark.slow
def test_interrupted_work_goes_on_and_ends_with_the_same_bytes(made: Path, world: World, tmp_path: Path) -> None:
    folder = tmp_path / "scenes"

    def stop(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_scenes(folder, world, count=COUNT, seed=SEED, split="train", progress=stop)
    assert not (folder / "set.jsonl").exists()
    journal = folder / "unfinished.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"number": 4, "ima')
    (folder / "images" / f"train-{SEED}-000001.jpg").write_bytes(b"half a pict")
    steps: list[int] = []
    again = make_scenes(
        folder, world, count=COUNT, seed=SEED, split="train", progress=lambda done, _total: steps.append(done)
    )
    assert again.kept == 2
    assert steps == [2, 3, 4, 5, 6]
    assert content(folder) == content(made)


def test_two_never_draw_into_one_folder(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "scenes"
    refused: list[str] = []

    def try_too(done: int, _total: int) -> None:
        if done == 1:
            with pytest.raises(BadInput, match="another process draws into this folder") as caught:
                make_scenes(folder, world, count=2, seed=SEED, split="train")
            refused.append(str(caught.value))

    make_scenes(folder, world, count=2, seed=SEED, split="train", progress=try_too)
    assert len(refused) == 1
    assert len(list(read_scenes(folder))) == 2


@pytest.mark.parametrize("name", ["/etc/hostname", "images/../../mine.jpg", "mine.jpg", "images/", 7])
def test_a_line_can_name_no_picture_outside_of_its_folder(made: Path, tmp_path: Path, name: object) -> None:
    line = json.loads((made / "scenes.jsonl").read_text().splitlines()[0])
    (tmp_path / "scenes.jsonl").write_text(json.dumps({**line, "image": name}) + "\n")
    with pytest.raises(BadInput, match="a line is damaged"):
        next(read_scenes(tmp_path))


@pytest.mark.slow
def test_workers_change_nothing(
    made: Path, world: World, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(home))
    folder = tmp_path / "scenes"
    make_scenes(folder, world, count=COUNT, seed=SEED, split="train", workers=2)
    assert content(folder) == content(made)


def test_a_larger_count_adds_to_a_folder_and_a_smaller_one_is_refused(made: Path, world: World, tmp_path: Path) -> None:
    folder = tmp_path / "scenes"
    make_scenes(folder, world, count=2, seed=SEED, split="train")
    assert make_scenes(folder, world, count=COUNT, seed=SEED, split="train").kept == 2
    assert content(folder) == content(made)
    with pytest.raises(BadInput, match="holds 6 scenes already"):
        make_scenes(folder, world, count=2, seed=SEED, split="train")


def test_another_seed_split_or_kind_is_refused_in_one_line(made: Path, world: World, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds scenes of seed 5, not 6"):
        make_scenes(made, world, count=COUNT, seed=6, split="train")
    with pytest.raises(BadInput, match="holds scenes of split train, not held-out"):
        make_scenes(made, world, count=COUNT, seed=SEED, split="held-out")
    with pytest.raises(BadInput, match="holds scenes of kinds street, not mixed"):
        make_scenes(made, world, count=COUNT, seed=SEED, split="train", kinds="mixed")
    with pytest.raises(BadInput, match=r"world \d+ \(names that repeat: both; added regions: none\), not \d+ \(names"):
        make_scenes(made, replace(world, seed=77), count=COUNT, seed=SEED, split="train")
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(BadInput, match="is not empty"):
        make_scenes(tmp_path, world, count=1, seed=1, split="train")


@pytest.mark.parametrize("damage", ["{half", '{"number": 0}'])
def test_a_damaged_line_is_drawn_anew_by_making_again(world: World, tmp_path: Path, damage: str) -> None:
    make_scenes(tmp_path / "s", world, count=1, seed=SEED, split="train")
    table = tmp_path / "s" / "scenes.jsonl"
    whole = table.read_bytes()
    table.write_text(damage + "\n")
    with pytest.raises(BadInput, match="geosleuth world make again to redraw it"):
        next(read_scenes(tmp_path / "s"))
    make_scenes(tmp_path / "s", world, count=1, seed=SEED, split="train")
    assert table.read_bytes() == whole
