"""Looking at photos: what models write is read leniently and kept."""

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest

from geosleuth.lab.bench.makers.locatability import (
    TAGS,
    parse_last_object,
    read_landmark,
    read_locatability,
    read_tags,
)
from geosleuth.lab.bench.makers.ratings import (
    FIELDS,
    GivenUp,
    RatedLook,
    RatedPhoto,
    Unread,
    by_model,
    each,
    look,
)
from geosleuth.lab.bench.memory import Memory, open_memory
from geosleuth.lab.bench.sets import DataSet
from geosleuth.models.endpoints import MAX_CONSECUTIVE_FAILURES
from geosleuth.photo import Photo
from geosleuth.support.errors import BadInput, ServiceFault
from maker_sets import jpeg, photo_set, picture
from scripted import ScriptedPolicy, says

REPLY = {
    "locatability": 7.5, "clarity": 9, "text": 3, "cultural": 6, "natural_landscape": 2, "vehicles_and_pedestrians": 8,
    "tags": dict.fromkeys(TAGS, "no") | {"traffic": "yes", "plants": "maybe"}, "landmark": None,
}  # fmt: skip


def test_a_reply_is_read() -> None:
    said = parse_last_object(json.dumps(REPLY))
    assert said is not None
    found = read_locatability(said)
    assert found is not None
    assert (found.score, found.clarity, found.natural, found.vehicles_and_pedestrians) == (7.5, 9, 2, 8)
    tags = read_tags(said)
    assert (tags["traffic"], tags["plants"], tags["sign"]) == ("yes", "maybe", "no")
    assert read_landmark(said) is None


def test_a_reply_is_read_as_models_really_write() -> None:
    reply = """Let me think: {"draft": 1}. Here it is:
    ```json
    {"Locatability Score": "8.5/10", "Image Clarity": 9, 'Natural': 4,
     "Tags": {"Manmade": "Yes", "mountains and rivers": "Maybe.", "sign": true, "weather": "perhaps"},
     "landmark": "Eiffel Tower",}
    ```"""
    said = parse_last_object(reply)
    assert said is not None
    found = read_locatability(said)
    assert found is not None
    assert (found.score, found.clarity, found.text) == (8.5, 9, None)
    assert read_tags(said) == {"manmade": "yes", "mountains_and_rivers": "maybe", "sign": "yes"}
    assert read_landmark(said) == "Eiffel Tower"


def _look(policy: ScriptedPolicy, memory: Memory, *, again: bool = False) -> RatedLook:
    return asyncio.run(look(lambda: Photo(picture(1)), "hash", policy, memory, again=again))


def test_nobody_is_asked_twice(tmp_path: Path) -> None:
    policy = ScriptedPolicy([says(f"Sure! {json.dumps(REPLY)}")], then=AssertionError("asked twice"))
    with open_memory(tmp_path / "memory.sqlite") as memory:
        first = _look(policy, memory)
    with open_memory(tmp_path / "memory.sqlite") as memory:
        second = _look(policy, memory)
    assert len(policy.seen) == 1
    assert (first.known, second.known) == (False, True)
    assert first.fields() == second.fields()
    assert list(first.fields()) == list(FIELDS)
    assert first.fields()["locatability"] == "7.5"
    assert first.usage.input_tokens == 100
    assert second.usage.input_tokens == 0


def test_a_model_sees_the_picture_and_no_name_of_it(tmp_path: Path) -> None:
    policy = ScriptedPolicy([says(json.dumps(REPLY))])
    with open_memory(tmp_path / "memory.sqlite") as memory:
        _look(policy, memory)
    (conversation,) = policy.seen
    assert conversation.picture("image-1").size == (320, 240)
    assert conversation.tools == ()
    assert "hash" not in str(conversation.messages)


def test_what_can_not_be_read_is_paid_for_once(tmp_path: Path) -> None:
    policy = ScriptedPolicy([says("I would rather not."), says(json.dumps(REPLY))])
    with open_memory(tmp_path / "memory.sqlite") as memory:
        with pytest.raises(Unread, match="I would rather not"):
            _look(policy, memory)
        with pytest.raises(Unread, match="--ask-again"):
            _look(policy, memory)
        assert len(policy.seen) == 1
        assert _look(policy, memory, again=True).locatability.score == 7.5


def _rated(data: DataSet, policy: ScriptedPolicy, memory: Memory) -> list[RatedPhoto[RatedLook]]:
    async def work() -> list[RatedPhoto[RatedLook]]:
        async with aclosing(each(data, by_model(policy, memory), at_once=4)) as seen:
            return [one async for one in seen]

    return asyncio.run(work())


def test_photos_come_in_order_and_copies_are_asked_about_once(tmp_path: Path) -> None:
    same = jpeg(picture(7))
    contents = [same, same, jpeg(picture(8)), b"no photo", same]
    data = photo_set(tmp_path, [(0, 0)] * 5, contents)
    policy = ScriptedPolicy([], then=says(json.dumps(REPLY)), seconds=0.01)
    with open_memory(tmp_path / "memory.sqlite") as memory:
        seen = _rated(data, policy, memory)
    assert [one.item.id for one in seen] == ["p0", "p1", "p2", "p3", "p4"]
    assert [one.found is not None for one in seen] == [True, True, True, False, True]
    assert "3.jpg" in (seen[3].trouble or "")
    assert len(policy.seen) == 2


def test_a_model_that_fails_again_and_again_is_given_up_and_what_was_said_is_kept(tmp_path: Path) -> None:
    data = photo_set(tmp_path, [(0, 0)] * 12)
    broken = ScriptedPolicy([says(json.dumps(REPLY))] * 2, then=ServiceFault("model.test", "busy"))
    whole = ScriptedPolicy([], then=says(json.dumps(REPLY)))
    with open_memory(tmp_path / "memory.sqlite") as memory:
        with pytest.raises(GivenUp, match=r"model\.test: busy"):
            _rated(data, broken, memory)
        assert len(broken.seen) < 12 + MAX_CONSECUTIVE_FAILURES
        seen = _rated(data, whole, memory)
    assert len(whole.seen) == 10
    assert sum(one.found is not None and one.found.known for one in seen) == 2


def test_a_memory_that_is_something_else_is_said(tmp_path: Path) -> None:
    (tmp_path / "memory.sqlite").write_text("something else entirely, and long enough to be looked at")
    with pytest.raises(BadInput, match=r"memory\.sqlite"), open_memory(tmp_path / "memory.sqlite"):
        pass
