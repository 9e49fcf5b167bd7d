"""The trajectory's file: what is written is read back, and damage is told by its line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent import (
    Answered,
    Body,
    Budget,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Spent,
    Started,
    Task,
    ToolObserved,
    Trajectory,
    TrajectoryReader,
    TrajectoryWriter,
    event_from_dict,
    event_to_dict,
    read_trajectory,
    run,
    write_trajectory,
)
from geosleuth.agent.codec import KINDS, from_line, to_line
from geosleuth.agent.setup import AgentSetup
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Sampling, Step, Usage
from geosleuth.support.errors import BadInput
from geosleuth.support.files import MAX_LINE_BYTES
from geosleuth.tools import ImageInfo, Observation, ToolCall
from scripted import ScriptedPolicy, answers, call, calls
from small_runs import ALL_TOOLS, small_case, small_method

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ODDS = st.none() | st.floats(0, 1)
POINTS = st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
USAGES = st.builds(Usage, st.integers(0), st.integers(0), st.integers(0), st.none() | NUMBERS, NUMBERS, st.integers(0))
CALLS = st.builds(ToolCall, st.text(), st.text(), st.text() | st.dictionaries(st.text(), JSON, max_size=3))
TEXTS = st.lists(st.text(), max_size=3).map(tuple)
IMAGES = st.lists(
    st.builds(
        ImageInfo, st.text(), st.tuples(st.integers(), st.integers()), st.integers(), st.tuples(*[st.integers()] * 4)
    ),
    max_size=2,
).map(tuple)
OBSERVATIONS = st.builds(
    Observation,
    st.text(),
    st.text(),
    st.text(),
    JSON,
    IMAGES,
    TEXTS,
    st.sampled_from([None, "refused", "repeated"]),
    NUMBERS,
)
STEPS = st.builds(
    Step,
    st.text(),
    st.text(),
    st.lists(CALLS, max_size=2).map(tuple),
    USAGES,
    st.sampled_from(["stop", "length"]),
    st.text(),
)
BUDGETS = st.builds(
    Budget, st.integers(), st.none() | st.integers(), st.integers(), st.none() | st.integers(), st.none() | NUMBERS
)
BODIES = st.one_of(
    st.builds(
        Started,
        st.builds(Task, IMAGES, st.none() | st.text(), st.none() | st.text(), st.booleans()),
        st.text(),
        st.text(),
        TEXTS,
        BUDGETS,
        st.text(),
        st.sampled_from(["native", "tagged"]),
        st.builds(Sampling, st.none() | NUMBERS, st.none() | NUMBERS, st.none() | st.integers()),
    ),
    st.builds(Prompted, st.builds(Prompt, st.text(), TEXTS), st.sampled_from(["task", "loop", "person"])),
    st.builds(Said, st.integers(), STEPS),
    st.builds(ToolObserved, st.integers(), OBSERVATIONS),
    st.builds(
        Noted,
        st.builds(
            Hypothesis, st.text(), st.text(), st.none() | POINTS, st.none() | NUMBERS, st.none() | st.text(), ODDS,
            TEXTS, TEXTS, TEXTS, st.sampled_from(["open", "dropped"]),
        ),
    ),
    st.builds(Answered, st.builds(Answer, st.none() | POINTS, probability=ODDS), st.sampled_from(["policy", "nobody"])),
    st.builds(
        Ended,
        st.sampled_from(["answered", "error"]),
        st.builds(Spent, st.integers(), st.integers(), st.integers(), st.integers(), NUMBERS, USAGES),
        st.none() | st.text(),
    ),
    st.builds(Resumed, st.text(), TEXTS, BUDGETS),
)  # fmt: skip


@given(BODIES, st.integers(0), NUMBERS)
def test_every_event_comes_back_equal(body: Body, index: int, at_s: float) -> None:
    event = Event(index, at_s, body)
    line = to_line(event_to_dict(event))
    assert line.count(b"\n") == 1
    assert event_from_dict(from_line(line)) == event


def test_every_kind_of_event_has_its_name() -> None:
    assert set(KINDS.values()) == set(get_args(Body))


def test_half_a_character_survives() -> None:
    event = Event(0, 0.0, Prompted(Prompt("cut \ud83d here")))
    assert event_from_dict(from_line(to_line(event_to_dict(event)))) == event


def test_results_that_json_cannot_hold_are_mended() -> None:
    data = {"x": float("nan"), "y": {1}, 3: (Path("a"), float("inf"))}
    event = Event(0, 0.0, ToolObserved(1, Observation("a", "b", "c", data)))
    back = event_from_dict(from_line(to_line(event_to_dict(event)))).body
    assert isinstance(back, ToolObserved)
    assert back.observation.data == {"x": None, "y": [1], "3": ["a", None]}


def plain() -> dict[str, Any]:
    return event_to_dict(Event(0, 0.0, Said(1, Step("words", calls=(ToolCall("a", "b", {"c": 1}),)))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "sang"}, "no event of the kind 'sang'"),
        ({"kind": None}, "no event of the kind"),
        ({"turn": "1"}, "turn must be a whole number, not '1'"),
        ({"turn": True}, "turn must be a whole number, not True"),
        ({"mood": "good"}, "mood is not known; there are turn, step"),
        ({"step": {"finish": "stop"}}, "lacks step.usage"),
        ({"step": []}, r"step must be a mapping with .*, not \[\]"),
        ({"index": None}, "index must be a whole number"),
        ({"at_s": "now"}, "at_s must be a number, not 'now'"),
    ],
)
def test_what_is_unknown_missing_or_of_another_type_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        event_from_dict(plain() | change)


def test_a_literal_and_a_point_are_checked() -> None:
    ended = event_to_dict(Event(0, 0.0, Ended("answered", Spent())))
    with pytest.raises(BadInput, match=r"reason must be one of answered, turns, .*, not 'tired'"):
        event_from_dict(ended | {"reason": "tired"})
    noted = event_to_dict(Event(0, 0.0, Noted(Hypothesis("h1", "Monaco", LatLon(1, 2)))))
    noted["hypothesis"]["point"]["lat"] = 91.0
    with pytest.raises(BadInput, match="latitude"):
        event_from_dict(noted)


@pytest.fixture
def found() -> Trajectory:
    script = [
        calls(
            call("note_hypothesis", place="Monaco", confidence=0.5), call("image_zoom_in_tool", bbox_2d=[0, 0, 9, 9])
        ),
        answers(43.7, 7.4, city="Монако"),
    ]
    return asyncio.run(
        run(small_case(), AgentSetup(method=small_method(), policy=ScriptedPolicy(script), toolset=ALL_TOOLS))
    )


def test_a_run_is_kept_as_it_happens_and_read_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines: list[int] = []

    def count(_: Event) -> None:
        lines.append(len(path.read_bytes().splitlines()))

    script = [calls(call("look_up", query="a")), answers(1, 2)]
    with TrajectoryWriter(path) as store:
        found = asyncio.run(
            run(
                small_case(),
                AgentSetup(method=small_method(), policy=ScriptedPolicy(script), toolset=ALL_TOOLS),
                store=store,
                sinks=[count],
            )
        )
    assert lines == list(range(2, len(found.events) + 2))
    assert read_trajectory(path) == found
    header = json.loads(path.read_text().splitlines()[0])
    assert header["format"] == "geosleuth-trajectory"
    assert header["version"] == 1
    assert header["id"] == found.id
    assert datetime.fromisoformat(header["created"]) == found.created
    assert abs((datetime.now(UTC) - found.created).total_seconds()) < 60


def test_what_is_derived_is_the_same_after_reading(found: Trajectory, tmp_path: Path) -> None:
    write_trajectory(tmp_path / "a.jsonl", found)
    back = read_trajectory(tmp_path / "a.jsonl")
    assert (back.answer, back.ended, back.spent, back.pool) == (found.answer, found.ended, found.spent, found.pool)
    assert (back.steps, back.images, back.task) == (found.steps, found.images, found.task)
    assert "Монако" in (tmp_path / "a.jsonl").read_text(encoding="utf-8")


def test_what_a_run_used_is_known_also_where_it_broke_off(found: Trajectory) -> None:
    broken = replace(found, events=found.events[:-1])
    assert broken.ended is None
    assert replace(broken.spent, seconds=0.0) == replace(found.spent, seconds=0.0)
    assert found.ended is not None
    assert found.spent == found.ended.spent


def test_no_run_overwrites_another(found: Trajectory, tmp_path: Path) -> None:
    write_trajectory(tmp_path / "a.jsonl", found)
    with pytest.raises(BadInput, match="there already"):
        TrajectoryWriter(tmp_path / "a.jsonl")
    with pytest.raises(BadInput, match="can't be written"):
        TrajectoryWriter(tmp_path / "nowhere" / "a.jsonl")


def test_a_torn_last_line_is_left_out_and_told(found: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_trajectory(path, found)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for end in (last + 1, (last + len(whole)) // 2, len(whole) - 2):
        path.write_bytes(whole[:end])
        back = read_trajectory(path)
        assert back.torn
        assert back.events == found.events[:-1]
        assert back.ended is None
        assert back.answer == found.answer
    path.write_bytes(whole[:-1])
    assert read_trajectory(path) == found


def test_a_torn_file_can_be_gone_on_with(found: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_trajectory(path, found)
    whole = path.read_bytes()
    for end in (len(whole) - 5, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:end])
        with TrajectoryWriter(path, resuming=True) as writer:
            if end == len(whole) - 5:
                writer.write(found.events[-1])
            assert writer.id == found.id
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [*lines[:2], b"rubbish\n", *lines[3:]], "line 3: this is not a line of JSON"),
        (lambda lines: [*lines[:2], b"\x00\xff\n", *lines[3:]], "line 3"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3: event 2 stands where event 1 belongs"),
        (lambda lines: [*lines[:-1], lines[-1][:-9] + b"\n"], "not a line of JSON"),
        (lambda lines: [lines[0], lines[2].replace(b'"index":1', b'"index":0')], "line 2: the first event"),
        (lambda lines: [b'{"format":"other"}\n', *lines[1:]], "line 1: this is no trajectory"),
        (lambda lines: [b"\n", *lines], "line 1"),
        (lambda _: [], "line 1"),
        (lambda lines: lines[:1], "holds no event"),
        (lambda lines: [lines[0].replace(b'"created":"2', b'"created":"x'), *lines[1:]], "line 1"),
    ],
)
def test_other_damage_is_told_by_its_line(found: Trajectory, tmp_path: Path, damage: Any, message: str) -> None:
    path = tmp_path / "a.jsonl"
    write_trajectory(path, found)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(BadInput, match=message) as caught:
        read_trajectory(path)
    assert "\n" not in str(caught.value)


def test_another_version_is_refused_with_a_clear_line(found: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_trajectory(path, found)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2', 1))
    with pytest.raises(BadInput, match=r"of version 2, written by geosleuth .*; geosleuth .* reads version 1"):
        read_trajectory(path)
    with pytest.raises(BadInput, match="can't be read"):
        read_trajectory(tmp_path)


def test_reading_keeps_one_event_at_a_time(found: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_trajectory(path, found)
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    with TrajectoryReader(path) as reader:
        events = iter(reader)
        assert next(events) == found.events[0]
        with pytest.raises(BadInput):
            list(events)


KILLED = """
import sys
from pathlib import Path
from geosleuth.agent import Event, Prompted, Started, Task, Budget, TrajectoryWriter
from geosleuth.models import Prompt

writer = TrajectoryWriter(Path(sys.argv[1]))
writer.write(Event(0, 0.0, Started(Task(()), "m", "p", (), Budget(), "s")))
index = 1
while True:
    writer.write(Event(index, 0.0, Prompted(Prompt("word " * 4000))))
    index += 1
"""


def test_whoever_is_killed_loses_at_most_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until and (not path.exists() or path.stat().st_size < 2_000_000):
            time.sleep(0.005)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    found = read_trajectory(path)
    assert len(found.events) > 50
    assert len(path.read_bytes().splitlines()) - len(found.events) <= 2


def test_a_file_without_line_breaks_is_refused_before_it_is_all_read(tmp_path: Path) -> None:
    path = tmp_path / "not.jsonl"
    with path.open("wb") as stream:
        stream.truncate(5 * MAX_LINE_BYTES)
    with pytest.raises(BadInput, match=r"line 1: a line of more than 64 MiB is no event"):
        read_trajectory(path)
