"""Stores as trainers read them: through `datasets`, pyarrow and TRL's own code, and back."""

import json
import math
from pathlib import Path
from typing import Any

import pyarrow.json as arrow_json
import pytest

from geosleuth.agent import Prompted, ToolObserved, Trajectory, event_to_dict
from geosleuth.agent.exports import import_
from geosleuth.lab.traces import Sample, Store, write_store
from geosleuth.lab.traces.trainer_files import TRAINERS, Trainer, ends_with_reply, export_store, read_export
from geosleuth.support.errors import BadInput
from stored import ABOUT, made, pictures, sample

DIALECTS = {"trl": "trl", "ms-swift": "ms-swift", "llama-factory": "sharegpt"}
EACH = pytest.mark.parametrize("to", TRAINERS)


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


def wanted(store: Store, split: str) -> dict[str, Trajectory]:
    return {one.key: one.trajectory for one in store.samples(split=split, images=False)}


@EACH
def test_every_row_gives_back_its_trajectory(store: Store, to: Trainer, tmp_path: Path) -> None:
    done = export_store(store, to, tmp_path)
    assert done.files == {"train.jsonl": 8, "held-out.jsonl": 2}
    for split in ("train", "held-out"):
        assert dict(read_export(tmp_path / f"{split}.jsonl", to)) == wanted(store, split)


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
    assert dict(read_export(tmp_path / "held-out.jsonl", to)) == wanted(store, "held-out")


@pytest.mark.parametrize("to", ["ms-swift", "llama-factory"])
def test_datasets_reads_rows_of_text_and_gives_them_back_to_the_letter(
    store: Store, to: Trainer, tmp_path: Path, hub: Any
) -> None:
    export_store(store, to, tmp_path)
    rows = hub.load_dataset("json", data_files={"train": str(tmp_path / "train.jsonl")}, split="train")
    assert {row["key"]: import_(row, DIALECTS[to]) for row in rows} == wanted(store, "train")


def test_datasets_reads_rows_for_trl_and_numbers_to_fifteen_digits(store: Store, tmp_path: Path, hub: Any) -> None:
    export_store(store, "trl", tmp_path)
    rows = hub.load_dataset("json", data_files={"train": str(tmp_path / "train.jsonl")}, split="train")
    for row in rows:
        found, own = import_(row, "trl"), wanted(store, "train")[row["key"]]
        # It decodes the arguments of calls with a fast reader that may miss the last binary digit of a number.
        plain = [[event_to_dict(event) for event in one.events] for one in (found, own)]
        assert alike(*plain)


def alike(one: Any, other: Any) -> bool:
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(alike, one, other))
        case float(), float():
            return math.isclose(one, other, rel_tol=1e-14)
        case _:
            return bool(one == other)


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


@pytest.mark.parametrize("to", ["ms-swift", "llama-factory"])
def test_arrow_reads_rows_of_text(store: Store, to: Trainer, tmp_path: Path) -> None:
    export_store(store, to, tmp_path)
    table = arrow_json.read_json(tmp_path / "train.jsonl")
    assert {row["key"]: import_(row, DIALECTS[to]) for row in table.to_pylist()} == wanted(store, "train")


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


def test_a_damaged_row_is_named(store: Store, tmp_path: Path) -> None:
    export_store(store, "trl", tmp_path)
    with (tmp_path / "train.jsonl").open("a") as stream:
        stream.write('{"messages": 3}\n')
    with pytest.raises(BadInput, match="record 9"):
        list(read_export(tmp_path / "train.jsonl", "trl"))


def test_splits_with_odd_names_stay_in_the_folder(tmp_path: Path) -> None:
    odd: list[Sample] = [sample(0, split="../up"), sample(1, split="..")]
    store = write_store(tmp_path / "s", odd, ABOUT)
    done = export_store(store, "trl", tmp_path / "out")
    assert set(done.files) == {"_up.jsonl", "rows.jsonl"}
    assert all((tmp_path / "out" / name).is_file() for name in done.files)
