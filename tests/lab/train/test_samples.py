"""Stores as rows for a trainer: pictures by name, lengths counted, packed without loss."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent import Budget, ToolObserved
from geosleuth.agent import run as locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup
from geosleuth.lab.traces import Store, write_store
from geosleuth.lab.train.masks import IGNORED, Writer, encode
from geosleuth.lab.train.samples import CHATS, build_dataset, load_chat, open_picture, pack_rows, store_chats
from geosleuth.photo import encode as encode_picture
from geosleuth.support.errors import BadInput
from geosleuth.tools import Toolset
from geosleuth.tools.image_tools import image_zoom_in_tool
from later import later
from scripted import ScriptedPolicy, call, calls, says
from small_runs import small_case
from stored import about
from training_runs import (
    FORGETFUL,
    WITHOUT_TOOLS,
    processor_with,
    short_sample,
    short_store,
    template,
)

later("trl")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(short_store(tmp_path_factory.mktemp("stored") / "store", 3))


def images(chat: Any) -> list[str]:
    return [block["image"] for message in chat.messages for block in message["content"] if block["type"] == "image"]


def test_trajectories_become_chats_whose_pictures_lie_in_the_store(store: Store) -> None:
    chats = list(store_chats(store))
    assert [chat.key for chat in chats] == ["short-0", "short-1", "short-2"]
    assert [message["role"] for message in chats[0].messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert [tool["function"]["name"] for tool in chats[0].tools or ()] == ["image_zoom_in_tool"]
    files = images(chats[0])
    assert len(files) == 3
    assert all(Path(file).is_relative_to(store.path) for file in files)
    assert len(list(store_chats(store, limit=2))) == 2
    assert [chat.key for chat in store_chats(store, chosen={"short-0", "short-2"})] == ["short-0", "short-2"]
    assert list(store_chats(store, split="held-out")) == []


def test_a_template_without_tools_gets_them_as_text(store: Store) -> None:
    processor = processor_with(WITHOUT_TOOLS)
    assert not Writer(processor).abilities.tools
    (chat, *_) = store_chats(store, wire="tagged")
    assert chat.tools is None
    assert len(images(chat)) == 3
    rows, _ = build_dataset([chat], Writer(processor), max_length=4000)
    made = encode(load_chat(rows[0][CHATS][0], open_picture), processor)
    decode = processor.tokenizer.decode
    learned = decode([number for number, label in zip(made.input_ids, made.labels, strict=True) if label != IGNORED])
    rest = decode([number for number, label in zip(made.input_ids, made.labels, strict=True) if label == IGNORED])
    assert learned.count("<tool_call>") == 2
    assert "<think>" in learned
    assert "A sign reads harbour 0." in learned
    assert rest.partition("<|im_start|>user")[2].count("<tool_response>") == 2
    assert "<tool_response>" not in learned


def test_a_forgetful_template_makes_a_row_of_each_reply(store: Store) -> None:
    rows, counted = build_dataset(store_chats(store), Writer(processor_with(FORGETFUL)), max_length=4000)
    assert (counted.chats, counted.rows) == (3, 6)
    assert [load_chat(row[CHATS][0], open_picture).history for row in rows] == [0, 1] * 3


def test_results_are_as_long_as_the_method_shows_them(tmp_path: Path) -> None:
    sample = short_sample(0)
    run = sample.trajectory
    events = tuple(
        replace(event, body=replace(event.body, observation=replace(event.body.observation, text="x" * 4000)))
        if isinstance(event.body, ToolObserved)
        else event
        for event in run.events
    )
    started = replace(events[0], body=replace(run.started, method="nano"))
    long = replace(sample, trajectory=replace(run, events=(started, *events[1:])))
    (chat,) = store_chats(write_store(tmp_path / "store", [long], about(name="long")))
    texts = [message["content"][0]["text"] for message in chat.messages if message["role"] == "tool"]
    assert len(texts) == 2
    assert all(len(text) <= 130 * 4 + 40 and "characters left out …]" in text for text in texts)


def test_replies_are_learned_after_just_what_was_shown(tmp_path: Path) -> None:
    script = [calls(call("image_zoom_in_tool", bbox_2d=[0, 0, 60 + n, 60])) for n in range(12)]
    policy, case = ScriptedPolicy([*script, says('{"lat": 50.5, "lon": 9.99}')]), small_case()
    way = replace(method("default"), budget=Budget(turns=20))
    run = asyncio.run(locate(case, AgentSetup(method=way, policy=policy, toolset=Toolset([image_zoom_in_tool]))))
    pictures = {image.handle: encode_picture(case.album[image.handle]) for image in run.images}
    sample = replace(short_sample(0), trajectory=run, images=pictures)
    chats = list(store_chats(write_store(tmp_path / "store", [sample], about(name="long"))))
    assert [chat.history for chat in chats] == [0, 9]
    asked = [
        (len(images(replace(chat, messages=chat.messages[:at]))), len(chat.messages[:at]))
        for chat in chats
        for at in [at for at, one in enumerate(chat.messages) if one["role"] == "assistant"][chat.history :]
    ]
    # The photo, and of twelve cuts as many as were shown: the ninth makes six of them go.
    assert [shown for shown, _ in asked] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7]
    writer = Writer(processor_with(template("plain")))
    assert [sum(part.learned for part in writer.parts(chat)) for chat in chats] == [9, 4]


def test_a_picture_that_is_not_there_is_told(tmp_path: Path) -> None:
    sample = short_sample(0)
    few = replace(sample, images={"image-1": sample.images["image-1"]})
    store = write_store(tmp_path / "store", [few], about(name="few"))
    with pytest.raises(BadInput, match=r"short-0: its picture images/.*/image-2\.jpg is not in"):
        list(store_chats(store))


@given(st.lists(st.integers(1, 50), max_size=40))
def test_packing_loses_nothing_and_fills_rows(lengths: list[int]) -> None:
    rows = pack_rows(lengths, 50)
    assert sorted(number for row in rows for number in row) == list(range(len(lengths)))
    filled = [sum(lengths[number] for number in row) for row in rows]
    assert all(one <= 50 for one in filled)
    # No two rows could have been one.
    assert sum(one <= 25 for one in filled) <= 1
