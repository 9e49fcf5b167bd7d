"""Exports: whatever a run was, each dialect tells it and gives it back."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from any_trajectory import trajectories
from export_runs import detective_run, edited, resumed_run
from geosleuth.agent import (
    Answered,
    Event,
    Prompted,
    Said,
    Started,
    ToolObserved,
    Trajectory,
    event_from_dict,
    event_to_dict,
)
from geosleuth.agent.exports import DIALECTS, IMPORTED, KEY, export, import_, record_line, records_in
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Step
from geosleuth.support.errors import BadInput
from geosleuth.tools import ToolCall

ALL = pytest.mark.parametrize("dialect", DIALECTS)


def through(trajectory: Trajectory, dialect: str) -> dict[str, Any]:
    """The record as somebody reads it from a file."""
    line = record_line(export(trajectory, dialect))
    assert line.count(b"\n") == 1
    record: dict[str, Any] = json.loads(line)
    return record


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(trajectories())
def test_every_run_comes_back_equal_from_every_dialect(trajectory: Trajectory) -> None:
    for dialect in DIALECTS:
        assert import_(through(trajectory, dialect), dialect) == trajectory


@ALL
def test_real_runs_come_back_equal(dialect: str) -> None:
    for run in (detective_run(), resumed_run()):
        assert import_(through(run, dialect), dialect) == run


@ALL
def test_the_extra_key_holds_no_words_of_the_run(dialect: str) -> None:
    run = detective_run()
    kept = through(run, dialect)[KEY]
    for words in (
        "A sign reads Hafenstraße",
        "Compare rivals first",
        "Nothing but harbour",
        "Where is this?",
        "Find the",
    ):
        assert words not in kept
        assert words in json.dumps(through(run, dialect), ensure_ascii=False)
    assert "scripted-1" in kept
    assert '"was"' not in kept


@ALL
def test_a_changed_reply_changes_the_run_and_nothing_else(dialect: str) -> None:
    run = detective_run()
    record = edited(through(run, dialect), "A sign reads Hafenstraße", "A sign says Kai")
    back = import_(record, dialect)
    steps = [*run.steps]
    steps[0] = replace(steps[0], text=steps[0].text.replace("A sign reads Hafenstraße", "A sign says Kai"))
    assert back.steps == tuple(steps)
    assert back.observations == run.observations
    assert (back.id, back.answer, back.spent, len(back.events)) == (run.id, run.answer, run.spent, len(run.events))


@ALL
@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("Compare rivals first", "Look twice", Said),
        ("Nothing but harbour", "All about harbours", ToolObserved),
        ("Where is this?", "Which town is this?", Prompted),
        ("Find the place", "Find the town", Started),
        ("query: cranes", "query: ships", Said),
    ],
)
def test_every_edit_is_seen_where_it_was_made(dialect: str, old: str, new: str, changed: type) -> None:
    run = detective_run()
    back = import_(edited(through(run, dialect), old, new), dialect)
    different = [one for one, other in zip(back.events, run.events, strict=True) if one != other]
    assert [type(event.body) for event in different] == [changed]
    assert new in json.dumps(export(back, "openai"), ensure_ascii=False)


@ALL
def test_an_answer_is_read_again_when_its_words_change(dialect: str) -> None:
    run = detective_run()
    record = through(run, dialect)
    back = import_(edited(record, "53.55", "54.32"), dialect)
    assert back.answer is not None
    assert back.answer.point == LatLon(54.32, 9.99)
    (unread,) = [
        event.body for event in import_(edited(record, '{"lat": 53.55, "lon": 9.99}', "No idea yet"), dialect).events
        if isinstance(event.body, Answered)
    ]  # fmt: skip
    assert unread.by == "nobody"
    assert not unread.answer.located


@ALL
def test_messages_that_are_taken_out_or_put_in_leave_the_others_as_they_were(dialect: str) -> None:
    run = detective_run()
    record = through(run, dialect)
    messages = record["conversations" if dialect == "sharegpt" else "messages"]
    person = {"from": "human", "value": "Are you sure?"} if dialect == "sharegpt" else user(dialect, "Are you sure?")
    reply = {"from": "gpt", "value": "Quite."} if dialect == "sharegpt" else assistant(dialect, "Quite.")
    messages += [person, reply]
    back = import_(record, dialect)
    assert back.events[: len(run.events)] == run.events
    (asked, answered) = [event.body for event in back.events[len(run.events) :]]
    assert asked == Prompted(Prompt("Are you sure?"), "person")
    assert isinstance(answered, Said)
    assert (answered.turn, answered.step.text, answered.step.usage.cost_usd) == (len(run.steps) + 1, "Quite.", None)

    del messages[-4:]
    shorter = import_(record, dialect)
    assert len(shorter.steps) < len(run.steps)
    assert shorter.steps == run.steps[: len(shorter.steps)]
    assert shorter.observations == run.observations[: len(shorter.observations)]
    assert [event.index for event in shorter.events] == list(range(len(shorter.events)))


def user(dialect: str, words: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": words}] if dialect == "trl" else words}


def assistant(dialect: str, words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": words}] if dialect == "trl" else words}


FOREIGN: dict[str, dict[str, Any]] = {
    "openai": {
        "messages": [
            {"role": "system", "content": "Locate."},
            {"role": "user", "content": [{"type": "text", "text": "Where?"},
                                         {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]},
            {"role": "assistant", "content": None, "reasoning": "Zoom.",
             "tool_calls": [{"id": "x9", "type": "function", "function": {"name": "zoom", "arguments": '{"a": 1}'}}]},
            {"role": "tool", "tool_call_id": "x9", "content": "A sign."},
            {"role": "assistant", "content": "Rome"},
        ],
        "tools": [{"type": "function", "function": {"name": "zoom"}}],
    },
    "tagged": {
        "messages": [
            {"role": "system", "content": "Locate."},
            {"role": "user", "content": "<image>Where?"},
            {"role": "assistant", "content": '<think>Zoom.</think><tool_call>{"name": "zoom", "arguments": {"a": 1}}'},
            {"role": "user", "content": "<tool_response>A sign.</tool_response>"},
            {"role": "assistant", "content": "Rome"},
        ],
        "images": ["a.png"],
    },
    "sharegpt": {
        "conversations": [
            {"from": "human", "value": "<image>Where?"},
            {"from": "function_call", "value": '<think>\nZoom.\n</think>\n\n{"name": "zoom", "arguments": {"a": 1}}'},
            {"from": "observation", "value": "A sign."},
            {"from": "gpt", "value": "Rome"},
        ],
        "system": "Locate.",
        "tools": '[{"name": "zoom", "description": "", "parameters": {}}]',
        "images": ["a.png"],
    },
    "trl": {
        "messages": [
            {"role": "system", "content": "Locate."},
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Where?"}]},
            {"role": "assistant", "thinking": "Zoom.",
             "tool_calls": [{"type": "function", "function": {"name": "zoom", "arguments": {"a": 1}}}]},
            {"role": "tool", "name": "zoom", "content": "A sign."},
            {"role": "assistant", "content": "Rome"},
        ],
        "tools": [{"type": "function", "function": {"name": "zoom"}}],
        "images": [{"path": "a.png", "bytes": None}],
    },
    "ms-swift": {
        "messages": [
            {"role": "system", "content": "Locate."},
            {"role": "user", "content": "<image>Where?"},
            {"role": "assistant", "content": "<think>\nZoom.\n</think>\n"},
            {"role": "tool_call", "content": '{"name": "zoom", "arguments": {"a": 1}}'},
            {"role": "tool", "content": "A sign."},
            {"role": "assistant", "content": "Rome"},
        ],
        "tools": '[{"type": "function", "function": {"name": "zoom"}}]',
        "images": ["a.png"],
    },
}  # fmt: skip


@ALL
def test_what_others_wrote_gives_a_run_with_what_there_is(dialect: str) -> None:
    found = import_(FOREIGN[dialect], dialect)
    assert (found.started.method, found.started.policy, found.started.system) == (IMPORTED, IMPORTED, "Locate.")
    assert found.started.tools == (() if dialect == "tagged" else ("zoom",))
    assert [image.handle for image in found.task.images] == ["image-1"]
    asked, called, seen, said = (event.body for event in found.events[1:])
    assert asked == Prompted(Prompt("Where?", ("image-1",)), "task")
    assert isinstance(called, Said)
    assert (called.step.text, called.step.thinking) == ("", "Zoom.")
    (call,) = called.step.calls
    assert (call.name, call.arguments) == ("zoom", {"a": 1})
    assert isinstance(seen, ToolObserved)
    assert (seen.turn, seen.observation.call_id, seen.observation.name) == (1, call.id, "zoom")
    assert seen.observation.text == "A sign."
    assert isinstance(said, Said)
    assert (said.turn, said.step.text, said.step.finish) == (2, "Rome", "stop")
    assert (found.answer, found.ended) == (None, None)
    assert import_(FOREIGN[dialect], dialect).id == found.id
    assert import_(through(found, dialect), dialect) == found


@ALL
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: {},
        lambda _: {"messages": "no", "conversations": "no"},
        lambda _: {"messages": [], "conversations": []},
        lambda _: {"messages": [1], "conversations": [1]},
        lambda _: {"messages": [{"role": "clown", "content": "x"}], "conversations": [{"from": "clown", "value": "x"}]},
        lambda _: {"messages": [{"role": "user", "content": 7}], "conversations": [{"from": "human", "value": 7}]},
        lambda record: record | {"tools": 5, "images": 5, "messages": [{"role": "user", "content": 5}]},
        lambda record: record | {KEY: "{"},
        lambda record: record | {KEY: []},
        lambda record: record | {KEY: {"version": 1}},
        lambda record: record | {KEY: record[KEY].replace('"kind":"said"', '"kind":"sang"')},
        lambda record: record | {KEY: record[KEY].replace('"finish":', '"finished":')},
        lambda record: record | {KEY: json.dumps(json.loads(record[KEY]) | {"created": "yesterday"})},
        lambda record: record | {KEY: json.dumps(json.loads(record[KEY]) | {"events": [{"told": "x"}]})},
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(dialect: str, damage: Callable[[Any], dict[str, Any]]) -> None:
    with pytest.raises(BadInput) as caught:
        import_(damage(through(detective_run(), dialect)), dialect)
    assert "\n" not in str(caught.value)


JUNK = [None, 1, -1, True, "", "x", [], {}, [1], {"a": 1}, "<tool_response>", "<image>", {"name": 3}, "null", 10**40]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every inner value of a record stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


@ALL
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_damaged_gives_a_run_or_one_clear_line(dialect: str, seed: int) -> None:
    draws = random.Random(f"{dialect} {seed}")
    whole = through(detective_run(), dialect)
    outcomes = set()
    for _ in range(100):
        record = json.loads(json.dumps(whole))
        record[KEY] = json.loads(record[KEY])
        *way, last = draws.choice(list(places(draws.choice([record, {KEY: record[KEY]}]))))
        inner = record
        for key in way:
            inner = inner[key]
        if draws.random() < 0.3:
            del inner[last]
        else:
            inner[last] = draws.choice(JUNK)
        found = import_or_trouble(record, dialect)
        if isinstance(found, Trajectory):
            assert [event_from_dict(event_to_dict(event)) for event in found.events] == list(found.events)
        else:
            assert "\n" not in found
        outcomes.add(type(found))
    assert outcomes == {Trajectory, str}


def import_or_trouble(record: dict[str, Any], dialect: str) -> Trajectory | str:
    try:
        return import_(record, dialect)
    except BadInput as error:
        return str(error)


@ALL
def test_another_version_is_refused_with_a_clear_line(dialect: str) -> None:
    record = through(detective_run(), dialect)
    record[KEY] = record[KEY].replace('"version":1', '"version":2', 1)
    with pytest.raises(BadInput, match=r"of version 2, written by geosleuth .*; geosleuth .* reads version 1"):
        import_(record, dialect)


def test_an_unknown_dialect_is_told_from_the_known() -> None:
    with pytest.raises(BadInput, match="there is no dialect 'morse'; there are: openai, tagged"):
        export(detective_run(), "morse")


@pytest.mark.parametrize("dialect", ["tagged", "sharegpt", "ms-swift"])
def test_more_places_than_images_are_refused(dialect: str) -> None:
    with pytest.raises(BadInput, match="more places for images than images"):
        import_(FOREIGN[dialect] | {"images": []}, dialect)


def test_prompts_in_a_row_that_were_edited_become_one() -> None:
    run = with_events(Prompted(Prompt("Where?")), Prompted(Prompt("Think.\nWell."), "loop"), Said(1, Step("Rome")))
    record = through(run, "tagged")
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant"]
    assert import_(record, "tagged") == run
    back = import_(edited(record, "Well.", "Better."), "tagged")
    assert [event.body for event in back.events[1:-1]] == [Prompted(Prompt("Where?\nThink.\nBetter."))]


@ALL
def test_prompts_in_a_row_that_read_like_another_single_prompt_stay_apart(dialect: str) -> None:
    together, alone = (
        (Prompted(Prompt("One."), "loop"), Prompted(Prompt("Two."), "loop")),
        Prompted(Prompt("One.\nTwo.")),
    )
    other_cut = (Prompted(Prompt("One.\nTwo."), "loop"), Prompted(Prompt("Three."), "loop"))
    third = (Prompted(Prompt("One."), "loop"), Prompted(Prompt("Two.\nThree."), "loop"))
    for turns in ((together, (alone,)), ((alone,), together), (together, (alone,), together), (other_cut, third)):
        said = [[*turn, Said(number, Step(f"Reply {number}."))] for number, turn in enumerate(turns, 1)]
        run = with_events(*(body for turn in said for body in turn))
        assert import_(through(run, dialect), dialect) == run


def test_an_order_that_a_dialect_cannot_tell_is_refused() -> None:
    run = with_events(Prompted(Prompt("Where?")), Said(1, Step("One.")), Said(2, Step(calls=(ToolCall("a", "b", {}),))))
    assert import_(through(run, "openai"), "openai") == run
    with pytest.raises(BadInput, match="try another dialect"):
        export(run, "ms-swift")


def with_events(*bodies: Any) -> Trajectory:
    first = detective_run().events[0]
    assert isinstance(first.body, Started)
    begun = replace(first.body, task=replace(first.body.task, images=()), tools=())
    return Trajectory(tuple(Event(index, 0.0, body) for index, body in enumerate((begun, *bodies))))


def test_records_are_read_from_lines_and_from_a_list(tmp_path: Path) -> None:
    records = [through(detective_run(), "openai"), through(resumed_run(), "openai")]
    lines, listed = tmp_path / "lines.jsonl", tmp_path / "list.json"
    lines.write_bytes(b"\n".join(map(record_line, records)))
    listed.write_text(json.dumps(records, indent=1))
    assert [record for _, record in records_in(lines)] == [record for _, record in records_in(listed)] == records
    lines.write_text('{"messages": []}\nrubbish\n')
    with pytest.raises(BadInput, match="line 2"):
        list(records_in(lines))
    listed.write_text("[1, 2]")
    with pytest.raises(BadInput, match="record 1: is not an object"):
        list(records_in(listed))
    with pytest.raises(BadInput, match="can't be read"):
        list(records_in(tmp_path))


def test_an_empty_answer_is_no_change() -> None:
    run = with_events(Prompted(Prompt("")), Said(1, Step()), Prompted(Prompt(""), "loop"), Answered(Answer(), "nobody"))
    for dialect in DIALECTS:
        assert import_(through(run, dialect), dialect) == run
