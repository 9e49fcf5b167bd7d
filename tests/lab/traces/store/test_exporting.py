"""Stores as trainers read them: through `datasets`, pyarrow and TRL's own code."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from geosleuth.agent import Prompted, ToolObserved, Trajectory
from geosleuth.agent.exports import export
from geosleuth.lab.traces import Sample, Store, write_store
from geosleuth.lab.traces.trainer_files import Trainer, ends_with_reply, export_store
from geosleuth.support.errors import BadInput
from stored import ABOUT, made, pictures, sample

DIALECTS = {"trl": "trl", "ms-swift": "ms-swift", "llama-factory": "sharegpt"}
EACH = pytest.mark.parametrize("to", get_args(Trainer))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return write_store(tmp_path_factory.mktemp("stores") / "s", made(15), ABOUT, shard_rows=4)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`datasets`, offline, with a cache of its own."""
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: it comes with trl")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return datasets


def wanted(store: Store, split: str, to: Trainer) -> list[dict[str, Any]]:
    """The rows of a split: each run in the trainer's dialect, under its key."""
    samples = store.samples(split=split, images=False)
    return [export(one.trajectory, DIALECTS[to]) | {"key": one.key} for one in samples]


@EACH
def test_writes_a_row_a_trajectory_and_a_file_a_split(store: Store, to: Trainer, tmp_path: Path) -> None:
    done = export_store(store, to, tmp_path)
    assert done.files == {"train.jsonl": 8, "held-out.jsonl": 2}
    for split in ("train", "held-out"):
        lines = (tmp_path / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == wanted(store, split, to)


@EACH
def test_pictures_lie_where_the_rows_say(store: Store, to: Trainer, tmp_path: Path) -> None:
    export_store(store, to, tmp_path / "out", split="train")
    assert not (tmp_path / "out" / "held-out.jsonl").exists()
    samples = {one.key: one for one in store.samples()}
    for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines():
        row = json.loads(line)
        own = samples[row["key"]]
        shown = [(tmp_path / "out" / name).read_bytes() for name in names_in(row)]
        assert shown == [own.images[image.handle] for image in own.trajectory.images] + again(own)
    assert "Small runs" in (tmp_path / "out" / "card.md").read_text()


def names_in(row: dict[str, Any]) -> list[str]:
    """The pictures that a row names: in its list, then in the messages themselves."""
    blocks = [block for one in row.get("messages", ()) for block in one["content"] if isinstance(block, dict)]
    return [*row["images"], *(block["image"] for block in blocks if "image" in block)]


def again(one: Sample) -> list[bytes]:
    """Pictures of the task that a person pointed at once more."""
    prompts = [event.body.prompt for event in one.trajectory.events if isinstance(event.body, Prompted)]
    return [one.images[handle] for prompt in prompts[1:] for handle in prompt.images]


@EACH
def test_whole_paths_are_for_trainers_that_start_elsewhere(store: Store, to: Trainer, tmp_path: Path) -> None:
    export_store(store, to, tmp_path, split="held-out", absolute=True)
    for line in (tmp_path / "held-out.jsonl").read_text().splitlines():
        names = names_in(json.loads(line))
        assert names
        assert all(Path(name).is_absolute() and Path(name).is_file() for name in names)


@pytest.mark.parametrize("to", ["ms-swift", "llama-factory"])
def test_datasets_reads_rows_of_text_and_gives_them_back_to_the_letter(
    store: Store, to: Trainer, tmp_path: Path, hub: Any
) -> None:
    export_store(store, to, tmp_path)
    rows = hub.load_dataset("json", data_files={"train": str(tmp_path / "train.jsonl")}, split="train")
    assert [dict(row) for row in rows] == wanted(store, "train", to)


def test_trl_puts_every_picture_in_its_place(store: Store, tmp_path: Path, hub: Any) -> None:
    utils = pytest.importorskip("trl.data_utils", reason="trl is not installed")
    from transformers.image_utils import load_image

    export_store(store, "trl", tmp_path, absolute=True)
    rows = hub.load_dataset("json", data_files={"train": str(tmp_path / "train.jsonl")}, split="train")
    rows = rows.cast_column("images", hub.List(hub.Image()))
    samples = {one.key: one for one in store.samples()}
    for row in rows:
        assert utils.is_conversational(row)
        messages = utils.prepare_multimodal_messages(row["messages"], images=row["images"])
        # This is how processors of transformers find the pictures of a chat.
        blocks = [block for message in messages for block in message["content"] if block["type"] == "image"]
        own = samples[row["key"]]
        shown = [load_image(block["image"]).size for block in blocks]
        sizes = {image.handle: image.size for image in own.trajectory.images}
        assert shown == [sizes[handle] for handle in handles_in_order(own.trajectory)]


def handles_in_order(run: Trajectory) -> list[str]:
    handles: list[str] = []
    for event in run.events:
        match event.body:
            case Prompted(prompt=prompt):
                handles += prompt.images
            case ToolObserved(observation=seen):
                handles += [image.handle for image in seen.images]
            case _:
                pass
    return handles


def test_llama_factory_is_told_what_the_files_are(store: Store, tmp_path: Path) -> None:
    done = export_store(store, "llama-factory", tmp_path)
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    assert {one["file_name"] for one in info.values()} == set(done.files)
    for one in info.values():
        row = json.loads((tmp_path / one["file_name"]).read_text().splitlines()[0])
        assert {*one["columns"].values()} <= row.keys()
        tags = one["tags"]
        spoken = {turn[tags["role_tag"]] for turn in row["conversations"]}
        assert spoken <= {tags[name] for name in tags if name not in ("role_tag", "content_tag")}
        turns = [turn["from"] for turn in row["conversations"] if turn["from"] != "system"]
        assert {*turns[::2]} <= {"human", "observation"}
        assert {*turns[1::2]} <= {"gpt", "function_call"}
    assert done.without_reply == 0


def test_rows_that_a_trainer_skips_and_pictures_that_are_not_there_are_counted(tmp_path: Path) -> None:
    whole = sample(0)
    broken = Trajectory(whole.trajectory.events[:4], "cut-off", whole.trajectory.created)
    own = {image.handle for image in broken.images}
    images = {handle: data for handle, data in pictures(0).items() if handle in own - {"image-2"}}
    store = write_store(tmp_path / "s", [whole, sample(1, trajectory=broken, images=images)], ABOUT)
    done = export_store(store, "llama-factory", tmp_path / "out")
    assert (done.without_reply, done.missing_images) == (1, len(own & {"image-2"}))
    assert ends_with_reply(whole.trajectory)
    assert not ends_with_reply(broken)


def test_no_row_is_no_export(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no trajectory of the split 'validation'"):
        export_store(store, "trl", tmp_path, split="validation")


def test_splits_with_odd_names_stay_in_the_folder(tmp_path: Path) -> None:
    odd: list[Sample] = [sample(0, split="../up"), sample(1, split="..")]
    store = write_store(tmp_path / "s", odd, ABOUT)
    done = export_store(store, "trl", tmp_path / "out")
    assert set(done.files) == {"_up.jsonl", "rows.jsonl"}
    assert all((tmp_path / "out" / name).is_file() for name in done.files)
