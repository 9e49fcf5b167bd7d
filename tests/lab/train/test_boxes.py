"""Boxes by model family: what is asked for in training is asked for later, and a crop cuts the same pixels in both."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.agent import AgentSetup, Resources
from geosleuth.agent.locate import locate
from geosleuth.agent.methods import METHODS as PRESETS
from geosleuth.agent.methods import method as method_of
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.scenes.environment import build_prompt_column
from geosleuth.lab.train.models import load_model, save_policy
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import DataPart, ModelPart, Recipe, RolloutPart
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.models.box_scale import find_box_scale, read_box_scale
from geosleuth.models.protocol import Prompt, Step
from geosleuth.photo import open_photo
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.tools.toolset import all_tools
from later import later
from scripted import ScriptedPolicy, answers, call, calls, says
from scripted_grpo import make_photos, make_tiny

later("torch")
later("transformers")

METHODS = [name for name in PRESETS if name not in ("detective", "nano")]
"""Those of the papers and our own; the detective is no model, and nano's words are tested with its model."""
_LEVEL = {"Clues": ["a sign"], "Reasoning": "It says Monaco.", "Conclusion": "Monaco", "Uncertainty": "low"}
_LEVELS = ("CountryIdentification", "RegionalGuess", "PreciseLocalization")
FINAL = {
    "geoagent": json.dumps({
        "ChainOfThought": dict.fromkeys(_LEVELS, _LEVEL), "FinalAnswer": "Monaco; Monaco; Monaco"
    })
}  # fmt: skip
"""Last replies of methods whose form is not ours."""
BOXES = {"pixels": [10, 8, 70, 50], "thousandths": [104, 125, 729, 781]}


@pytest.mark.parametrize(
    ("configuration", "scale"),
    [
        ({"model_type": "qwen3_vl"}, "thousandths"),
        ({"model_type": "qwen3_vl_moe"}, "thousandths"),
        ({"model_type": "qwen2_5_vl"}, "pixels"),
        ({"model_type": "llava"}, "pixels"),
        ({"model_type": "qwen3_vl", "box_scale": "pixels"}, "pixels"),
        ({"model_type": "qwen2_5_vl", "box_scale": "thousandths"}, "thousandths"),
    ],
)
def test_a_family_has_its_scale_and_a_folder_may_say_otherwise(
    tmp_path: Path, configuration: dict[str, str], scale: str
) -> None:
    assert read_box_scale(configuration) == scale
    (tmp_path / "config.json").write_text(json.dumps(configuration))
    assert find_box_scale(f"hf:{tmp_path}") == scale


def zooming(method: str) -> RolloutPart:
    """Rollouts of a method; those that come without tools get one."""
    tools = None if "image_zoom_in_tool" in method_of(method).tools else ("image_zoom_in_tool",)
    return RolloutPart(method=method, reward="spotagent", tools=tools)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("boxes") / "model")


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize("method", [name for name in METHODS if method_of(name).budget.calls != 0])
@pytest.mark.parametrize("boxes", ["auto", "pixels", "thousandths"])
def test_a_crop_cuts_the_same_pixels_in_training_and_later(tiny: Path, tmp_path: Path, method: str, boxes: Any) -> None:
    part = ModelPart(path=str(tiny), boxes=boxes)
    model, processor = load_model(part)
    policy = save_policy(model, processor, tmp_path / "policy")
    photos = make_photos(tmp_path / "photos", 1)
    data = DataPart(photos=(str(photos),))
    recipe = Recipe(name="a", stage="grpo", model=part, data=data, rollout=zooming(method))
    setup = rollout_setup(recipe)
    scale = setup.setting.method.box_scale
    assert scale == ("thousandths" if boxes == "auto" else boxes)

    environment = setup.environment()()
    (row,) = prompt_rows(data)
    shown = environment.reset(**row)
    zoom = next(name for name in setup.setting.toolset.names if name.startswith("image_zoom"))
    getattr(environment, zoom)(bbox_2d=BOXES[scale])
    assert environment.case is not None
    trained = environment.case.album["image-2"].image

    # Later, by the policy's folder alone.
    thinker = ScriptedPolicy([calls(call(zoom, bbox_2d=BOXES[scale])), answers(43.7, 7.4)])
    plan = make_plan(LocateRequest(model=f"hf:{policy}", method=method, tools=zoom), thinker=thinker)
    found = asyncio.run(
        locate(
            [open_photo(Path(row["photo"]))],
            AgentSetup(method=plan.method, policy=thinker, toolset=plan.method.toolset(all_tools(), [zoom])),
            Resources(OfflineAtlas()),
        )
    )
    assert found.album is not None
    later_on = found.album["image-2"].image
    assert later_on.size == trained.size
    assert np.array_equal(np.asarray(later_on), np.asarray(trained))
    assert trained.size != shown[1]["image"].size
    # The words ask for the scale that is cut by.
    other = replace(recipe, model=replace(part, boxes="pixels" if scale == "thousandths" else "thousandths"))
    words = [one.setting.method.system(plan_task(), (zoom,)) for one in (setup, rollout_setup(other))]
    assert words[0] != words[1]
    assert words[0] == plan.method.system(plan_task(), (zoom,))


def plan_task() -> Any:
    from geosleuth.agent.events import Task

    return Task(())


def observed(trajectory: Any) -> list[tuple[int, str, str]]:
    """What the tools said, turn by turn."""
    from geosleuth.agent import ToolObserved

    bodies = [event.body for event in trajectory.events if isinstance(event.body, ToolObserved)]
    return [(body.turn, body.observation.name, body.observation.text) for body in bodies]


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize("method", METHODS)
def test_replies_with_several_calls_come_to_the_same_transcript(tiny: Path, tmp_path: Path, method: str) -> None:
    part = ModelPart(path=str(tiny))
    data = DataPart(photos=(str(make_photos(tmp_path / "photos", 1)),))
    setup = rollout_setup(Recipe(name="a", stage="grpo", model=part, data=data, rollout=zooming(method)))
    zoom = next(name for name in setup.setting.toolset.names if name.startswith("image_zoom"))
    many = setup.setting.budget.calls_per_turn + 2
    # More calls than a turn may have, then a repeated one and one more: all are answered as in a run.
    replies = [
        [(zoom, {"bbox_2d": [0, 0, 300 + 10 * number, 400]}) for number in range(many)],
        [(zoom, {"bbox_2d": [0, 0, 300, 400]}), (zoom, {"bbox_2d": [500, 500, 900, 900]})],
    ][: setup.setting.budget.turns - 1]
    environment = setup.environment()()
    (row,) = prompt_rows(data)
    shown = environment.reset(**row)
    talk: list[dict[str, Any]] = []
    environment._talk = talk
    for reply in replies:
        talk.append({"role": "assistant", "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": given}} for name, given in reply
        ]})  # fmt: skip
        for name, given in reply:
            getattr(environment, name)(**given)
    trained = observed(environment.trajectory)
    said = FINAL.get(method) or answers(43.7, 7.4).text
    ended = environment._end(Step(text=said))

    script = [calls(*(call(name, **given) for name, given in reply)) for reply in replies]  # type: ignore[arg-type]
    thinker = ScriptedPolicy([*script, says(said)])
    found = asyncio.run(
        locate(
            [open_photo(Path(row["photo"]))],
            AgentSetup(method=setup.setting.method, policy=thinker, toolset=setup.setting.toolset),
            Resources(OfflineAtlas()),
        )
    )
    assert trained == observed(found.trajectory)
    assert ended.own
    assert ended.answer == found.trajectory.answer
    # The words before the first reply are the same, too.
    first = thinker.seen[0]
    assert build_prompt_column(setup.setting)[0]["content"] == first.system
    asked = first.messages[0]
    assert isinstance(asked, Prompt)
    assert shown[-1]["text"] == asked.text
    assert [turn for turn, *_ in trained] == [number for number, reply in enumerate(replies, 1) for _ in reply]
    assert len(environment.observations) == sum(map(len, replies))
