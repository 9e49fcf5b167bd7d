"""Replaying, resuming and rebuilding: a recording holds all that is needed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent import (
    Budget,
    Context,
    Ended,
    Event,
    Method,
    Prompted,
    Resumed,
    ToolObserved,
    Trajectory,
    TrajectoryWriter,
    first_difference,
    read_trajectory,
    rebuild_album,
    replay,
    resume,
    run,
    same_events,
    write_trajectory,
)
from geosleuth.agent.setup import AgentSetup
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Step, Usage
from geosleuth.photo import Photo
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.tools import Case, ToolCall, Toolset
from run_parts import parted
from scripted import Line, ScriptedPolicy, answers, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method, small_photo

ZOOM = call("image_zoom_in_tool", bbox_2d=[10, 10, 90, 90])
NOTE = call("note_hypothesis", place="Monaco", confidence=0.5, lat=43.73, lon=7.42)
LOOK = call("lookup", q="Monaco")

SCRIPTS: dict[str, tuple[list[Line], dict[str, Any]]] = {
    "answered": ([calls(ZOOM, NOTE), calls(LOOK), answers(43.7, 7.4)], {"hint": "warm"}),
    "no tools": ([says("Country: Laos")], {"toolset": Toolset([]), "budget": Budget(turns=1)}),
    "turns": ([calls(call("look_up", query=str(n))) for n in range(9)], {}),
    "calls": ([calls(call("look_up", query=str(n))) for n in range(9)], {"budget": Budget(turns=20, calls=2)}),
    "tokens": ([calls(LOOK, usage=Usage(600, 50)), calls(ZOOM, usage=Usage(600, 50))], {"budget": Budget(tokens=1000)}),
    "money": ([calls(LOOK, usage=Usage(1, 1, cost_usd=None))], {"budget": Budget(usd=1)}),
    "repeats": ([calls(LOOK)] * 9, {"budget": Budget(turns=20)}),
    "prose": ([says("Nice.")] * 5, {}),
    "forced": ([calls(NOTE), says("Country: Laos"), says("?"), says("?")], {"force_answer": True}),
    "bad calls": (
        [calls(call("teleport"), ToolCall("x", "look_up", "{"), call("fail", how="refused")), answers(1, 2)],
        {},
    ),
    "fifty calls": ([calls(*(call("look_up", query=str(n)) for n in range(50))), answers(1, 2)], {}),
    "seconds in a tool": ([calls(NOTE), calls(call("wait", seconds=9))], {"budget": Budget(turns=3, seconds=0.3)}),
    "seconds in a step": ([calls(NOTE), answers(1, 2)], {"step_seconds": 0.2, "budget": Budget(turns=2, seconds=0.3)}),
    "service": ([calls(NOTE), ServiceFault("api.example", "says: no")], {}),
    "error": ([calls(NOTE), BadInput("the key is wrong")], {}),
    "bug in a tool": ([calls(NOTE), calls(call("fail", how="bug"), ZOOM)], {}),
    "a map": ([calls(call("draw_map", lat=43.7, lon=7.4)), calls(ZOOM), answers(43.7, 7.4)], {}),
}


def record(name: str, photo: Photo | None = None) -> Trajectory:
    script, options = SCRIPTS[name]
    options = dict(options)
    policy = ScriptedPolicy(script, seconds=options.pop("step_seconds", 0.0))
    toolset = options.pop("toolset", ALL_TOOLS)
    events: list[Event] = []
    try:
        own, rest = parted(options)
        setup = AgentSetup(method=small_method(), policy=policy, toolset=toolset, **own)
        asyncio.run(run(small_case(*([photo] if photo else [])), setup, sinks=[events.append], **rest))
    except (BadInput, KeyError):
        assert isinstance(events[-1].body, Ended)
    return Trajectory(tuple(events))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_replay_gives_the_same_events(name: str, tmp_path: Path) -> None:
    recorded = record(name)
    write_trajectory(tmp_path / "a.jsonl", recorded)
    again = asyncio.run(replay(read_trajectory(tmp_path / "a.jsonl"), method=small_method()))
    assert first_difference(recorded, again) is None
    assert same_events(recorded, again)
    assert again.id != recorded.id


@pytest.mark.parametrize("name", ["answered", "turns", "bad calls", "fifty calls", "a map", "forced"])
def test_a_replay_with_live_tools_gives_the_same_events(name: str) -> None:
    recorded = record(name)
    again = asyncio.run(replay(recorded, method=small_method(), toolset=ALL_TOOLS, case=small_case()))
    assert first_difference(recorded, again) is None


def test_a_cancelled_run_replays_to_its_end() -> None:
    for script in ([calls(NOTE), calls(call("wait", seconds=30))], [calls(NOTE)]):
        events: list[Event] = []

        async def called_off(script: list[Step] = script, events: list[Event] = events) -> None:
            policy = ScriptedPolicy(script, then=lambda _: Step(), seconds=0.1)
            task = asyncio.create_task(
                run(
                    small_case(),
                    AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS),
                    sinks=[events.append],
                )
            )
            await asyncio.sleep(0.25 if len(script) == 2 else 0.15)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(called_off())
        recorded = Trajectory(tuple(events))
        assert recorded.ended is not None
        assert recorded.ended.reason == "cancelled"
        assert recorded.answered is not None
        assert recorded.answered.by == "pool"
        again = asyncio.run(replay(recorded, method=small_method()))
        assert first_difference(recorded, again) is None


def test_a_run_that_was_killed_replays_as_far_as_it_came() -> None:
    recorded = record("answered")
    killed = replace(recorded, events=recorded.events[:7])
    again = asyncio.run(replay(killed, method=small_method()))
    assert first_difference(killed, again) is None
    assert again.ended is None


def test_what_differs_is_seen() -> None:
    recorded = record("answered")
    spoken = list(recorded.events)
    spoken[1] = replace(spoken[1], body=Prompted(Prompt("Where else?", ("image-1",))))
    assert first_difference(recorded, spoken) == "event 1 (prompted, prompted) differs in: prompt"
    assert not same_events(recorded, recorded.events[:-1])
    later = [replace(event, at_s=event.at_s + 60) for event in recorded.events]
    assert same_events(recorded, later)
    budget = [
        replace(recorded.events[0], body=replace(recorded.started, budget=Budget(seconds=1))),
        *recorded.events[1:],
    ]
    assert not same_events(recorded, budget)


def test_a_replay_wants_its_own_method_and_a_case_for_live_tools() -> None:
    recorded = record("answered")
    with pytest.raises(BadInput, match="made with the method small"):
        asyncio.run(replay(recorded, method=small_method(name="other")))
    with pytest.raises(BadInput, match="need a case"):
        asyncio.run(replay(recorded, method=small_method(), toolset=ALL_TOOLS))


def go_on(
    recorded: Trajectory, script: list[Line], photo: Photo, *, method: Method | None = None, **options: Any
) -> tuple[Trajectory, ScriptedPolicy]:
    rebuilt = rebuild_album(recorded, [photo])
    case = Case(rebuilt.album, small_case().atlas)
    policy = ScriptedPolicy(script, name="another")
    own, rest = parted(options)
    setup = AgentSetup(method=method or small_method(), policy=policy, toolset=ALL_TOOLS, **own)
    words = Prompt("No, look at the plates.")
    found = asyncio.run(resume(recorded, words, case=case, setup=setup, missing=rebuilt.missing, **rest))
    return found, policy


def test_feedback_goes_on_from_where_a_run_ended(tmp_path: Path) -> None:
    photo = small_photo()
    recorded = record("answered", photo)
    path = tmp_path / "a.jsonl"
    write_trajectory(path, recorded)
    with TrajectoryWriter(path, resuming=True) as store:
        found, policy = go_on(
            recorded, [calls(call("image_zoom_in_tool", bbox_2d=[0, 0, 40, 40], image="image-2")), answers(44.4, 8.9)],
            photo, store=store, budget=Budget(turns=3),
        )  # fmt: skip
    assert found.events[: len(recorded.events)] == recorded.events
    assert isinstance(found.events[len(recorded.events)].body, Resumed)
    assert found.answer is not None
    assert found.answer.point == LatLon(44.4, 8.9)
    assert [image.handle for image in found.images] == ["image-1", "image-2", "image-3"]
    assert found.ended is not None
    assert found.ended.spent.turns == 2
    assert found.spent.turns == 5
    assert [message for message in policy.seen[0].messages if isinstance(message, Prompt)][-1].text.startswith("No,")
    assert len(policy.seen[0].messages) == len(recorded.steps) * 2 + 1
    back = read_trajectory(path)
    assert back.events == found.events
    assert back.id == recorded.id
    times = [event.at_s for event in found.events]
    assert times == sorted(times)
    again = asyncio.run(replay(back, method=small_method()))
    assert first_difference(back, again) is None


def test_a_resumed_run_remembers_its_calls_and_its_pool() -> None:
    photo = small_photo()
    recorded = record("answered", photo)
    found, _ = go_on(recorded, [calls(LOOK), says("?"), says("?"), says("?")], photo)
    assert found.observations[-1].failure == "repeated"
    assert found.answered is not None
    assert found.answered.by == "pool"
    assert len(found.pool) == 1


def test_a_run_that_was_killed_can_be_taken_up() -> None:
    photo = small_photo()
    recorded = record("answered", photo)
    killed = replace(recorded, events=recorded.events[:3], torn=True)
    assert len(killed.steps[-1].calls) == 2
    found, _ = go_on(killed, [answers(1, 2)], photo)
    broken = [event.body.observation for event in found.events if isinstance(event.body, ToolObserved)]
    assert [one.failure for one in broken] == ["timeout", "timeout"]
    assert found.ended is not None
    assert found.ended.reason == "answered"


def test_an_album_is_rebuilt_pixel_for_pixel_and_maps_are_named_as_missing() -> None:
    photo = small_photo()
    album = small_case(photo).album
    recorded = record("a map", photo)
    rebuilt = rebuild_album(recorded, [photo])
    assert rebuilt.missing == {"image-2"}
    assert rebuilt.album.handles == ("image-1", "image-2", "image-3")
    crop = album.crop("image-1", [10, 10, 90, 90])
    assert rebuilt.album["image-3"].image.tobytes() == crop.image.tobytes()
    _, policy = go_on(recorded, [answers(1, 2)], photo, method=small_method(context=Context("trimmed")))
    text = str(policy.seen[0].messages)
    assert "not shown here any more: image-2" in text


def test_cuts_that_were_turned_are_made_again() -> None:
    photo = small_photo()
    case = small_case(photo)
    turned = call("image_zoom_in_tool", bbox_2d=[10, 10, 90, 90], rotate=7, contrast=True)
    beside = call("image_zoom_in_tool", bbox_2d=[0, 0, 50, 60], beside="image-2")
    further = call("image_zoom_in_tool", bbox_2d=[0, 0, 50, 60], image="image-2")
    setup = AgentSetup(
        method=small_method(), policy=ScriptedPolicy([calls(turned), calls(beside, further), answers(1, 2)]),
        toolset=ALL_TOOLS,
    )  # fmt: skip
    recorded = asyncio.run(run(case, setup))
    rebuilt = rebuild_album(recorded, [photo])
    assert rebuilt.missing == frozenset()
    assert rebuilt.album.handles == ("image-1", "image-2", "image-3", "image-4")
    for handle in rebuilt.album.handles:
        assert rebuilt.album[handle].image.tobytes() == case.album[handle].image.tobytes()


@pytest.mark.parametrize(
    ("photos", "message"),
    [
        (list, "began with 1 photos"),
        (lambda: [small_photo(), small_photo()], "began with 1 photos, not 2"),
        (lambda: [Photo(small_photo().image.resize((300, 200)))], "image-1 of this run showed 320 x 240"),
    ],
)
def test_other_photos_are_refused(photos: Callable[[], list[Photo]], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        rebuild_album(record("answered"), photos())


def test_an_album_that_lacks_pictures_is_refused() -> None:
    with pytest.raises(BadInput, match="lacks image-2"):
        asyncio.run(
            resume(
                record("answered"),
                Prompt("And?"),
                case=small_case(),
                setup=AgentSetup(method=small_method(), policy=ScriptedPolicy([]), toolset=ALL_TOOLS),
            )
        )
