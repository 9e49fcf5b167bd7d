"""GeoVista's assembly: proposals are carried out, turns are bounded, answers are not judged."""

import asyncio
import json

from factory_scenes import opened, scene_of
from geosleuth.agent import Trajectory
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.traces.geovista import ModelProposer, assemble
from geosleuth.lab.traces.scripted import NO_SLIPS, StandInProposer
from geosleuth.lab.traces.spotagent import judge_assembled
from scripted import ScriptedPolicy, says


def stand_in(atlas: OfflineAtlas) -> Trajectory:
    scene, marks = scene_of()
    proposer = StandInProposer(scene, marks, slips=NO_SLIPS)
    return asyncio.run(assemble(opened(scene, marks), proposer, atlas=atlas)).trajectory


def test_stand_ins_look_then_look_up_then_judge(atlas: OfflineAtlas) -> None:
    run = stand_in(atlas)
    assert judge_assembled(run).is_accepted
    used = [one.name for one in run.observations]
    assert used == sorted(used, key=("image_zoom_in_tool", "search_web").index)
    assert set(used) == {"image_zoom_in_tool", "search_web"}
    assert run.spent.turns <= 6
    assert all(step.thinking for step in run.steps)
    assert run.answer is not None
    assert run.answer.address.country.conclusion == "Germany"


def test_a_town_that_was_read_is_in_the_answer_and_what_was_not_is_not(atlas: OfflineAtlas) -> None:
    run = stand_in(atlas)
    assert run.answer is not None
    assert "Soest" in str(run.answer.address)
    assert "Paderborn" not in str(run.answer.address)


def test_a_model_proposes_and_its_proposals_are_carried_out(atlas: OfflineAtlas) -> None:
    regions = {"regions": [{"box": [1300, 550, 1360, 580], "why": "A sign, too small."}, {"box": [5], "why": "x"}]}
    queries = {"queries": [{"query": "Germany licence plates", "why": "To check."}, {"query": "", "why": "no"}]}
    judged = '<think>It says Soest.</think><answer>In Soest. {"country": "Germany", "city": "Soest"}</answer>'
    model = ScriptedPolicy([says(f"Sure: {json.dumps(regions)}"), says(json.dumps(queries)), says(judged)])
    run = asyncio.run(assemble(opened(*scene_of()), ModelProposer(model), atlas=atlas)).trajectory
    assert judge_assembled(run).is_accepted
    assert [one.name for one in run.observations] == ["image_zoom_in_tool", "search_web"]
    assert [step.thinking for step in run.steps] == ["A sign, too small.", "To check.", "It says Soest."]
    # The model saw the photo, then the crop as well, then what the search found.
    assert [conversation.messages[0].images for conversation in model.seen] == [  # type: ignore[union-attr]
        ("image-1",), ("image-1", "image-2"), ("image-1", "image-2"),
    ]  # fmt: skip
    assert "Germany" in model.seen[2].messages[0].text  # type: ignore[union-attr]


def test_turns_are_bounded_whatever_a_model_proposes(atlas: OfflineAtlas) -> None:
    many = {"regions": [{"box": [n, n, n + 200, n + 200], "why": "look"} for n in range(20)]}
    more = {"queries": [{"query": f"question {n}", "why": "ask"} for n in range(20)]}
    close = says('<answer>{"country": "Germany"}</answer>')
    model = ScriptedPolicy([says(json.dumps(many)), says(json.dumps(more)), close])
    run = asyncio.run(assemble(opened(*scene_of()), ModelProposer(model), atlas=atlas, turns=4)).trajectory
    assert run.spent.turns == 4
    assert judge_assembled(run).is_accepted


def test_a_model_without_a_proposal_still_judges(atlas: OfflineAtlas) -> None:
    close = says('<answer>{"country": "Germany"}</answer>')
    model = ScriptedPolicy([says("nothing to see"), says("nothing to ask"), close])
    run = asyncio.run(assemble(opened(*scene_of()), ModelProposer(model), atlas=atlas)).trajectory
    assert run.observations == ()
    assert judge_assembled(run).is_accepted


def test_boxes_that_are_no_numbers_are_passed_over(atlas: OfflineAtlas) -> None:
    """Models write JSON as they like: NaN and numbers without end must not stop a run."""
    boxes = (
        "[NaN, 1, 2, 3]",
        "[0, 0, Infinity, 9]",
        f"[0, 0, {'9' * 400}, 9]",
        '["a", 1, 2, 3]',
        "[1300, 550, 1360, 580]",
    )
    regions = ", ".join(f'{{"box": {box}, "why": "look"}}' for box in boxes)
    close = says('<answer>{"country": "Germany"}</answer>')
    model = ScriptedPolicy([says(f'{{"regions": [{regions}]}}'), says("nothing to ask"), close])
    run = asyncio.run(assemble(opened(*scene_of()), ModelProposer(model), atlas=atlas)).trajectory
    assert [one.name for one in run.observations] == ["image_zoom_in_tool"]
    assert judge_assembled(run).is_accepted
