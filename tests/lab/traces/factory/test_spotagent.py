"""SpotAgent's synthesis through the normal loop with real tools."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from factory_runs import hand_work
from factory_scenes import SOEST, opened, plain_picture, scene_of, without
from geosleuth.agent import Event, ToolObserved, Trajectory
from geosleuth.agent.methods import method
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import distance_km
from geosleuth.lab.traces import Sample
from geosleuth.lab.traces.factory import read_made, replay_difference, replays, run_factory
from geosleuth.lab.traces.factory.trial import timeless
from geosleuth.lab.traces.scripted import NO_SLIPS, Slipped, Slips, StandInCaller, StandInObserver
from geosleuth.lab.traces.spotagent import judge, states_reasons, synthesise
from geosleuth.models import Observed, Prompt
from geosleuth.photo import open_photo
from openai_server import Reply, Request, chat_reply, openai_server
from scripted import ScriptedPolicy, call, calls, says


def stand_ins(
    atlas: OfflineAtlas,
    *,
    slips: Slips = NO_SLIPS,
    seed: int = 0,
    leave: str = "",
    tools: tuple[str, ...] | None = None,
) -> Trajectory:
    scene, marks = scene_of()
    scene = without(scene, *leave)
    slipped = Slipped()
    finding = asyncio.run(
        synthesise(
            opened(scene, marks),
            StandInObserver(scene, marks, slips=slips, seed=seed, slipped=slipped),
            StandInCaller(scene.id, slips=slips, seed=seed, slipped=slipped),
            atlas=atlas,
            tools=tools,
        )
    )
    return finding.trajectory


def test_stand_ins_find_the_town_with_real_tools(atlas: OfflineAtlas) -> None:
    run = stand_ins(atlas)
    assert run.answer
    assert run.answer.point
    assert distance_km(run.answer.point, SOEST) < 5
    assert run.answer.address.country.conclusion == "Germany"
    assert judge(run, SOEST).is_accepted
    used = [one.name for one in run.observations]
    assert used.index("image_zoom_in_tool") < used.index("maps_geocode")
    assert all(one.failure is None for one in run.observations)
    assert "stand-in" in run.started.policy
    assert run.started.tools == method("spotagent").tools, "the cold start offers what later runs offer"


def test_every_call_says_what_was_seen_what_is_missing_and_why_this_tool(atlas: OfflineAtlas) -> None:
    run = stand_ins(atlas)
    calling = [step for step in run.steps if step.calls]
    assert len(calling) >= 2
    assert all(map(states_reasons, calling))
    # The poster of a foreign airline is seen and left aside.
    assert '"Iberia"' in run.steps[0].thinking


def test_a_trajectory_replays_to_the_same_observations(atlas: OfflineAtlas) -> None:
    run = timeless(stand_ins(atlas), "0" * 16)
    photo = open_photo(plain_picture(*scene_of()))
    assert asyncio.run(replay_difference(run, photo, atlas)) is None


def test_a_trajectory_whose_observations_were_changed_does_not_replay(atlas: OfflineAtlas) -> None:
    run = stand_ins(atlas)

    def changed(event: Event) -> Event:
        body = event.body
        if isinstance(body, ToolObserved) and body.observation.name == "maps_geocode":
            return replace(event, body=replace(body, observation=replace(body.observation, text="Soest is in Spain.")))
        return event

    forged = replace(run, events=tuple(map(changed, run.events)))
    assert not asyncio.run(replays(forged, open_photo(plain_picture(*scene_of())), atlas))


def test_without_zoom_the_small_sign_stays_unread(atlas: OfflineAtlas) -> None:
    run = stand_ins(atlas, tools=("search_web", "maps_geocode"), leave="a")
    assert not any(one.name == "image_zoom_in_tool" for one in run.observations)
    assert not any('"Soest"' in step.thinking for step in run.steps)


def test_slips_make_for_rejections(atlas: OfflineAtlas) -> None:
    spoilt = [judge(stand_ins(atlas, slips=Slips(0, 1.0), seed=seed), SOEST) for seed in range(3)]
    assert all(one.reasons[0] in ("invalid_call", "no_answer") for one in spoilt)
    blind = judge(stand_ins(atlas, slips=Slips(1.0, 0), leave=""), SOEST)
    assert not blind.is_accepted


def test_the_caller_sees_no_picture_and_reads_what_the_observer_says(atlas: OfflineAtlas) -> None:
    scene, marks = scene_of()
    observer = ScriptedPolicy([says("Buildings: brick."), says('Lettering:\n- town sign [1, 2, 3, 4]: "Soest"')])
    zoom = calls(
        call("image_zoom_in_tool", bbox_2d=[1300, 550, 1360, 580]), thinking="Seen: brick. Missing: a name. Tool: zoom."
    )
    close = says("<answer>\nCountry: Germany\nCity: Soest\nLatitude: 51.5756\nLongitude: 8.1062\n</answer>")
    caller = ScriptedPolicy([zoom, close])
    finding = asyncio.run(synthesise(opened(scene, marks), observer, caller, atlas=atlas))
    assert judge(finding.trajectory, SOEST).is_accepted
    for conversation in caller.seen:
        prompts = [message for message in conversation.messages if isinstance(message, Prompt)]
        results = [
            one for message in conversation.messages if isinstance(message, Observed) for one in message.observations
        ]
        assert not any(prompt.images for prompt in prompts)
        assert not any(one.images for one in results)
    assert "Buildings: brick." in caller.seen[0].messages[0].text  # type: ignore[union-attr]
    assert [conversation.messages[0].images for conversation in observer.seen] == [("image-1",), ("image-2",)]  # type: ignore[union-attr]
    said = finding.trajectory.steps
    assert said[0].thinking.startswith("Looking at image-1:\nBuildings: brick.")
    assert "Missing: a name" in said[0].thinking
    assert '"Soest"' in said[1].thinking
    assert said[1].thinking.count("Buildings") == 0
    assert finding.trajectory.spent.usage.input_tokens == 400


def test_two_models_behind_a_server_make_a_trajectory(tmp_path: Path) -> None:
    """The whole way of ``--observer`` and ``--caller``: hosted policies, the run's folder, tokens that are counted."""
    told: list[str] = []

    def reply(request: Request) -> Reply:
        if request.images:
            return chat_reply('Buildings: brick.\nLettering:\n- town sign [10, 20, 60, 40]: "Soest"')
        said = json.dumps(request.json["messages"])
        told.append(said)
        if "Places for" in said:
            point = f"Latitude: {SOEST.lat}\nLongitude: {SOEST.lon}"
            return chat_reply(f"<think>It is there.</think><answer>\nCountry: Germany\nCity: Soest\n{point}\n</answer>")
        call = json.dumps({"name": "maps_geocode", "arguments": {"address": "Soest"}})
        why = "Seen: a town sign. Missing: where it is. Tool: the map, for names."
        return chat_reply(f"<think>{why}</think><tool_call>{call}</tool_call>")

    with openai_server([reply]) as url:
        work = hand_work(tmp_path / "set", 1)
        recipe = replace(work.recipe, observer="server:observer", caller="server:mind", base_url=url)
        ending = asyncio.run(run_factory(replace(work, recipe=recipe), tmp_path / "run"))
    assert ending.why == "done"
    (sample,) = read_made(tmp_path / "run")
    assert isinstance(sample, Sample)
    assert sample.trajectory.started.policy == "server:observer + server:mind"
    assert [one.name for one in sample.trajectory.observations] == ["maps_geocode"]
    assert "Buildings: brick." in sample.trajectory.steps[0].thinking
    assert sample.trajectory.spent.usage.input_tokens == 300
    assert all("Buildings: brick." in said and "image_url" not in said for said in told)
