"""A capped trajectory tells what was done, and no place finer than allowed."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

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
    read_trajectory,
    run,
    write_trajectory,
)
from geosleuth.agent.locate import UNKNOWN_TOOL, EventBlanker, cap_trajectory
from geosleuth.agent.setup import AgentSetup, PhotoQuestion
from geosleuth.answer import Answer
from geosleuth.answer.granularity import GRANULARITIES, Granularity
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon, distance_km
from geosleuth.models import Prompt, Sampling, Step, Usage
from geosleuth.tools import ImageInfo, Observation, ToolCall
from marked import HOME, MARKER, holds_digits_of, holds_marker, marked_answer
from scripted import ScriptedPolicy, answers, call, calls
from small_runs import ALL_TOOLS, small_case, small_method

PICTURE = ImageInfo("image-1", (640, 480), 1, (0, 0, 640, 480))


def marked_trajectory() -> Trajectory:
    """Every kind of event, with the marker wherever a text can stand."""
    spent = Spent(turns=2, calls=3, usage=Usage(10, 20, tries=1))
    task = Task((PICTURE,), hint=f"near {MARKER}", area=MARKER, views=(f"{MARKER} looks north",))
    step = Step(
        f"It is {MARKER}.",
        f"I think of {MARKER}",
        (
            ToolCall(f"{MARKER}-1", "maps_geocode", {"query": MARKER, MARKER: [HOME.lat, HOME.lon]}),
            ToolCall("b", MARKER, f"not json {MARKER}"),
        ),
        Usage(1, 2),
        "calls",
        f"model of {MARKER}",
    )
    seen = Observation(
        f"{MARKER}-1",
        "maps_geocode",
        f"1. {MARKER}",
        {"results": [{"name": MARKER, "lat": HOME.lat, "lon": HOME.lon}]},
        (PICTURE,),
        (f"OpenStreetMap, region {MARKER}", f"{MARKER}.example", "photo"),
        seconds=0.25,
    )
    failed = Observation("b", MARKER, f"no tool {MARKER}", failure="unknown_tool")
    hypothesis = Hypothesis(
        "h1", f"{MARKER}, Monaco", HOME, 0.3, "MC", 0.7, (f"sign {MARKER}",), (f"not {MARKER}",), (f"asked {MARKER}",)
    )
    bodies: list[Body] = [
        Started(task, "default", "detective", ("maps_geocode",), Budget(), f"Find {MARKER}."),
        Prompted(Prompt(f"Where is {MARKER}?", ("image-1",))),
        Said(1, step),
        ToolObserved(1, seen),
        ToolObserved(1, failed),
        Noted(hypothesis),
        Noted(Hypothesis(f"h-{MARKER}", MARKER)),
        Answered(marked_answer(), "pool"),
        Ended("service", spent, f"host: {MARKER} is busy"),
        Resumed("detective", ("maps_geocode",), Budget(), Sampling(), (MARKER,)),
        Prompted(Prompt(f"No, not {MARKER}."), "person"),
    ]
    return Trajectory(tuple(Event(index, index / 4, body) for index, body in enumerate(bodies)), "id-1")


def lines_of(trajectory: Trajectory, path: Path) -> list[str]:
    write_trajectory(path, trajectory)
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("level", GRANULARITIES[:-1])
@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize("known", [True, False])
def test_the_marker_street_is_on_no_line(level: Granularity, tmp_path: Path, *, known: bool) -> None:
    whole = marked_trajectory()
    capped = asyncio.run(cap_trajectory(whole, level, OfflineGazetteer() if known else None))
    before, after = (lines_of(one, tmp_path / name) for one, name in ((whole, "a.jsonl"), (capped, "b.jsonl")))
    assert len(before) == len(after)
    assert sum(map(holds_marker, before)) >= 9
    assert not any(map(holds_marker, after))
    if level != "street":
        assert not any(holds_digits_of(HOME, line) for line in after)


@pytest.mark.usefixtures("atlas_home")
def test_what_was_done_is_kept(tmp_path: Path) -> None:
    whole = marked_trajectory()
    capped = asyncio.run(cap_trajectory(whole, "city", OfflineGazetteer()))
    write_trajectory(tmp_path / "a.jsonl", capped)
    assert read_trajectory(tmp_path / "a.jsonl").events == capped.events
    assert (capped.id, capped.created) == (whole.id, whole.created)
    assert [(event.index, event.at_s, type(event.body)) for event in capped.events] == [
        (event.index, event.at_s, type(event.body)) for event in whole.events
    ]
    (step,) = capped.steps
    assert [one.name for one in step.calls] == ["maps_geocode", UNKNOWN_TOOL]
    assert [one.call_id for one in capped.observations] == [one.id for one in step.calls]
    first, second = capped.observations
    assert (first.seconds, first.images, first.sources) == (0.25, (PICTURE,), ("OpenStreetMap", "photo"))
    assert (first.failure, second.failure) == (None, "unknown_tool")
    assert capped.spent.usage == whole.spent.usage
    assert capped.task.images == whole.task.images


@pytest.mark.usefixtures("atlas_home")
def test_answer_and_pool_are_told_as_finely_as_is_allowed() -> None:
    capped = asyncio.run(cap_trajectory(marked_trajectory(), "city", OfflineGazetteer()))
    assert capped.answer is not None
    assert capped.answer.address.precise.conclusion == "Monaco"
    assert capped.answered is not None
    assert capped.answered.by == "pool"
    first, second = capped.pool
    assert first.place.startswith("Monaco")
    assert first.point == capped.answer.point
    assert first.radius_km is not None
    assert distance_km(HOME, capped.answer.point or LatLon(0, 0)) <= first.radius_km
    assert (first.confidence, first.country, first.fate) == (0.7, "MC", "open")
    assert (second.id, second.point) == ("h2", None)


def test_exact_changes_nothing() -> None:
    whole = marked_trajectory()
    assert asyncio.run(cap_trajectory(whole, "exact")) is whole
    blank = EventBlanker("exact")
    assert [blank(event) for event in whole.events] == list(whole.events)


def test_events_can_be_blanked_as_they_happen() -> None:
    told: list[Event] = []
    blank = EventBlanker("country")
    policy = ScriptedPolicy(
        [
            calls(call("look_up", query=MARKER), call("note_hypothesis", place=MARKER, confidence=0.5), text=MARKER),
            answers(HOME.lat, HOME.lon, city=MARKER, country="Monaco"),
        ]
    )
    whole = asyncio.run(
        run(
            small_case(),
            AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS.select(["look_up", "note_hypothesis"])),
            sinks=[lambda event: told.append(blank(event))],
            question=PhotoQuestion(hint=MARKER),
        )
    )
    assert len(told) == len(whole.events)
    assert holds_marker(repr(whole.events))
    assert not holds_marker(repr(told))
    assert not holds_digits_of(HOME, repr(told))
    assert [one.name for event in told if isinstance(event.body, Said) for one in event.body.step.calls] == [
        "look_up",
        "note_hypothesis",
    ]


def test_nothing_stays_nothing(tmp_path: Path) -> None:
    started = marked_trajectory().started
    bare = replace(started, task=Task((PICTURE,)), system="")
    capped = asyncio.run(
        cap_trajectory(Trajectory((Event(0, 0.0, bare), Event(1, 0.1, Answered(Answer(), "nobody")))), "city")
    )
    lines = [json.loads(line) for line in lines_of(capped, tmp_path / "a.jsonl")]
    assert "hint" not in lines[1]["task"]
    assert capped.answer == Answer()
