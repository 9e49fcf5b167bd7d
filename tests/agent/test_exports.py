"""Exports tell the whole run, each dialect by its convention, as those who read it expect."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from PIL import Image

from any_trajectory import trajectories
from export_runs import detective_run, resumed_run
from geosleuth.agent import Context, Trajectory, build_conversation, rebuild_album
from geosleuth.agent.exports import DIALECTS, export, image_path, record_line, write_images
from geosleuth.models import Conversation
from geosleuth.models.tagged import system_text, turns
from geosleuth.photo import Album
from geosleuth.support.errors import BadInput
from small_runs import ALL_TOOLS, small_photo

RUNS = [pytest.param(detective_run, id="detective"), pytest.param(resumed_run, id="resumed")]
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def texts(value: Any) -> Iterator[str]:
    """Every text in a record's messages."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def whole_conversation(trajectory: Trajectory) -> Conversation:
    rebuilt = rebuild_album(trajectory, [small_photo()])
    return build_conversation(
        trajectory.events, context=Context("whole"), tools=ALL_TOOLS, picture=rebuilt.album.__getitem__
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_record_is_one_line_with_all_that_was_said(dialect: str) -> None:
    line = record_line(export(detective_run(), dialect))
    assert line.count(b"\n") == 1
    told = json.dumps(json.loads(line), ensure_ascii=False)
    for words in (
        "Find the",
        "Where is this?",
        "A sign reads Hafenstraße",
        "Compare rivals first",
        "query: cranes",
        "Nothing but harbour",
        "53.55",
    ):
        assert words in told


def test_names_the_known_dialects_where_one_is_unknown() -> None:
    with pytest.raises(BadInput, match="there is no dialect 'morse'; there are: openai, tagged"):
        export(detective_run(), "morse")


@pytest.mark.parametrize("make", RUNS)
def test_the_tagged_export_is_what_a_model_reads_in_a_run(make: Any) -> None:
    conversation = whole_conversation(make())
    system, *messages = export(make(), "tagged", tools=ALL_TOOLS)["messages"]
    assert system == {"role": "system", "content": system_text(conversation)}
    shown = [
        (side, "".join(part if isinstance(part, str) else "<image>" for part in parts))
        for side, parts in turns(conversation)
    ]
    assert [(message["role"], message["content"]) for message in messages] == shown


@PATIENT
@given(trajectories())
def test_places_and_images_are_as_many_and_the_sides_take_turns(trajectory: Trajectory) -> None:
    for dialect, key in (("tagged", "content"), ("sharegpt", "value"), ("ms-swift", "content")):
        record = export(trajectory, dialect)
        messages = record["conversations" if dialect == "sharegpt" else "messages"]
        assert sum(message[key].count("<image>") for message in messages) == len(record["images"])
        who = [side(message.get("from") or message["role"]) for message in messages]
        talking = [one for one in who if one != "system"]
        assert talking[0] == "user"
        if dialect != "ms-swift":
            assert all(one != other for one, other in pairwise(talking))
    record = export(trajectory, "trl")
    blocks = [(message["role"], block) for message in record["messages"] for block in message["content"]]
    pictures = [(role, block.get("image")) for role, block in blocks if block["type"] == "image"]
    # TRL fills the blocks of all but tools from the list.
    assert all((path is None) == (role != "tool") for role, path in pictures)
    assert sum(path is None for _, path in pictures) == len(record["images"])


def side(role: str) -> str:
    if role in ("user", "human", "observation", "tool_response"):
        return "user"
    return "system" if role == "system" else "assistant"


@PATIENT
@given(trajectories())
def test_no_text_spells_a_token_of_a_chat_template(trajectory: Trajectory) -> None:
    for dialect in ("tagged", "sharegpt", "trl", "ms-swift"):
        record = export(trajectory, dialect)
        messages = record["conversations" if dialect == "sharegpt" else "messages"]
        said = [one for one in messages if "system" not in one.values()]
        contents = [message.get("content", message.get("value")) for message in said]
        assert not any("<|im_end|>" in text for text in texts(contents))


def test_ms_swift_never_puts_a_user_after_a_result() -> None:
    roles = [message["role"] for message in export(resumed_run(), "ms-swift")["messages"]]
    assert roles == ["system", "user", "tool_call", "user", "tool_call", "user", "assistant"]
    roles = [message["role"] for message in export(detective_run(), "ms-swift")["messages"]]
    assert roles == [
        "system", "user", "assistant", "tool_call", "tool_call", "tool_response", "tool_response", "tool_call",
        "tool_response", "tool_call", "tool_call", "tool_response", "tool_response", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_ms_swift_holds_calls_and_tools_as_json() -> None:
    record = export(detective_run(), "ms-swift", tools=ALL_TOOLS)
    called = [json.loads(message["content"]) for message in record["messages"] if message["role"] == "tool_call"]
    assert called[0] == {"name": "look_up", "arguments": {"query": "harbour"}}
    assert called[3] == {"name": "look_up", "arguments": "query: cranes"}
    assert json.loads(record["tools"])[0]["function"]["description"] == "Look something up."
    results = [message["content"] for message in record["messages"] if message["role"] == "tool_response"]
    assert results[1].endswith("image-2 (720 x 480 pixels):<image>")


def test_sharegpt_keeps_to_llama_factory() -> None:
    record = export(detective_run(), "sharegpt", tools=ALL_TOOLS)
    turns_told = record["conversations"]
    assert [turn["from"] for turn in turns_told] == [
        "system", "human", "function_call", "observation", "function_call", "observation", "function_call",
        "observation", "gpt", "human", "gpt",
    ]  # fmt: skip
    # With words beside the calls, they stand between tags; without, the value is the thinking and JSON.
    before, _, rest = turns_told[2]["value"].partition("<tool_call>\n")
    assert before.startswith("<think>\nCompare rivals first.")
    assert [call["name"] for call in json.loads(rest.removesuffix("\n</tool_call>"))] == [
        "look_up",
        "image_zoom_in_tool",
    ]
    assert json.loads(turns_told[4]["value"])["name"] == "note_hypothesis"
    assert "\n</tool_response>\n<tool_response>\n" in turns_told[3]["value"]
    assert json.loads(record["tools"])[0]["name"] == "look_up"
    told = [turn["from"] for turn in export(resumed_run(), "sharegpt")["conversations"]]
    assert told == ["system", "human", "function_call", "human", "function_call", "human", "gpt"]


def test_openai_takes_the_messages_as_its_own() -> None:
    pydantic: Any = pytest.importorskip("pydantic")
    chat: Any = pytest.importorskip("openai.types.chat")
    known_messages = pydantic.TypeAdapter(chat.ChatCompletionMessageParam)
    known_tools = pydantic.TypeAdapter(chat.ChatCompletionToolParam)
    for run in (detective_run(), resumed_run()):
        record = export(run, "openai", tools=ALL_TOOLS)
        for message in map(known_messages.validate_python, record["messages"]):
            if message["role"] == "assistant":
                assert all(call["function"]["name"] for call in message.get("tool_calls", ()))
            elif not isinstance(message["content"], str):
                assert [part["type"] for part in message["content"]]
        assert [known_tools.validate_python(one)["type"] for one in record["tools"]]


def test_openai_has_every_result_right_after_its_call_and_the_pictures_after_all() -> None:
    messages = export(detective_run(), "openai")["messages"]
    roles = [message["role"] for message in messages]
    assert roles[1:6] == ["user", "assistant", "tool", "tool", "user"]
    ids = [call["id"] for call in messages[2]["tool_calls"]]
    assert [message["tool_call_id"] for message in messages[3:5]] == ids
    told, caption, picture = messages[5]["content"]
    assert told["text"] == f"Pictures of the result of {ids[1]}:"
    assert caption["text"] == "image-2 (720 x 480 pixels):"
    assert picture["image_url"]["url"] == image_path(detective_run().id, "image-2")
    assert messages[2]["reasoning_content"].startswith("Compare rivals first.")
    assert json.loads(messages[2]["tool_calls"][0]["function"]["arguments"]) == {"query": "harbour"}


@pytest.mark.parametrize("make", RUNS[:1])
def test_a_chat_template_takes_the_trl_export_with_its_images(make: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from tiny_vlm import tiny_vlm_folder

    run = make()
    write_images(run, rebuild_album(run, [small_photo()]), tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_vlm_folder())
    record = export(run, "trl", tools=ALL_TOOLS)
    text = tokenizer.apply_chat_template(record["messages"], tools=record["tools"], tokenize=False)
    told = [block["image"] for one in record["messages"] for block in one["content"] if "image" in block]
    assert text.count("<|image_pad|>") == len([*record["images"], *told]) == len(run.images) + (make is resumed_run)
    assert text.count("<tool_response>") == len(run.observations)
    assert text.count("<tool_call>\n{") == sum(len(step.calls) for step in run.steps)
    assert '{"name": "look_up", "arguments": {"query": ' in text
    assert "Where is this?" in text
    for path, handle in ((path, Path(path).stem) for path in (*record["images"], *told)):
        assert (tmp_path / path).is_file() == (handle != "image-3")


def test_images_are_written_without_metadata_and_maps_are_told(tmp_path: Path) -> None:
    run = detective_run()
    missing = write_images(run, rebuild_album(run, [small_photo()]), tmp_path)
    assert missing == ("image-3",)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {image_path(run.id, "image-1"), image_path(run.id, "image-2")}
    for image in run.images[:2]:
        with Image.open(tmp_path / image_path(run.id, image.handle)) as opened:
            assert (opened.format, opened.size, len(opened.getexif())) == ("JPEG", image.size, 0)
    for dialect in DIALECTS:
        said = {text for text in texts(export(run, dialect)) if text.startswith("images/")}
        assert {image_path(run.id, "image-1"), image_path(run.id, "image-3")} <= said


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc/passwd", "a\x00b", "..\\x", "ü.jpg", "\ud800"])
def test_no_id_and_no_handle_leads_out_of_the_folder(name: str) -> None:
    for path in (image_path(name, "image-1"), image_path("0a", name)):
        parts = path.split("/")
        assert len(parts) == 3
        assert parts[0] == "images"
        assert not {".", ".."} & {*parts}
        assert "\\" not in path


def test_the_wrong_photo_is_refused(tmp_path: Path) -> None:
    from geosleuth.photo import Photo

    with pytest.raises(BadInput, match="give the same photos"):
        rebuild_album(detective_run(), [Photo(Image.new("RGB", (50, 50)))])
    assert not list(tmp_path.iterdir())
    assert Album().handles == ()
