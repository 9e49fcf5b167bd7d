"""The environment as TRL uses one."""

import gc
import inspect
import io
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from geosleuth.agent import Budget, same_events
from geosleuth.agent.methods import METHODS
from geosleuth.geo import LatLon
from geosleuth.lab.scenes.environment import (
    GeoEnvironment,
    Posed,
    Setting,
    build_environment_class,
    build_prompt_column,
    hear_replies,
    offline_setting,
)
from geosleuth.lab.score import Truth
from geosleuth.photo import View, open_photo
from geosleuth.photo.text import TextLine
from geosleuth.tools import Case, Output, Toolset, native_tools, tool
from random_calls import random_call
from tool_cases import sign

MONACO = Truth(LatLon(43.7384, 7.4246), "Monaco", None, "Monaco")
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco", "city": "Monaco"}'


def png(*lines: str) -> bytes:
    stream = io.BytesIO()
    sign(*(lines or ("Rue Grimaldi", "Pharmacie"))).save(stream, "PNG")
    return stream.getvalue()


PHOTO = png()
ROW: dict[str, Any] = {"photo": PHOTO, "lat": 43.7384, "lon": 7.4246, "country": "Monaco", "prompt": [], "id": "x"}


def stand_in_reader(view: View) -> list[TextLine]:
    """Reads the same from any picture, at once: what is tried here is not the reading."""
    corners = ((0.0, 0.0), (10.0, 0.0), (10.0, 5.0), (0.0, 5.0))
    return [TextLine(f"Rue {view.size[0]}", corners, 0.9, "Latn", "clue boxes")]


def quickly(row: Any) -> Posed:
    return Posed((open_photo(row["photo"]),), row.get("truth", MONACO), stand_in_reader)


@pytest.fixture
def setting(atlas_home: object) -> Setting:
    assert atlas_home
    return offline_setting(reward="spotagent")


@pytest.fixture
def environment(setting: Setting) -> Any:
    made: Any = build_environment_class(setting)()
    made.reset(**ROW)
    return made


def public_methods(environment: object) -> dict[str, Callable[..., Any]]:
    """Found as TRL finds them."""
    members = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return {name: getattr(environment, name) for name, _ in members if not name.startswith("_")}


@pytest.mark.parametrize("name", METHODS)
def test_a_trainer_finds_the_method_s_tools_and_nothing_else(name: str) -> None:
    from transformers.utils.chat_template_utils import get_json_schema

    setting = offline_setting(name, reward="spotagent")
    methods = public_methods(build_environment_class(setting)())
    assert set(methods) == {"reset", "get_reward", "answer", *setting.toolset.names}
    assert not any(inspect.iscoroutinefunction(one) for one in methods.values())
    told = [get_json_schema(methods[one]) for one in setting.toolset.names]
    assert told == native_tools(setting.toolset)
    schema = get_json_schema(methods["answer"])["function"]
    assert schema["parameters"]["required"] == ["reply"]


def test_reset_shows_the_question_and_the_photo(setting: Setting) -> None:
    made: Any = build_environment_class(setting)()
    caption, picture, words = made.reset(**ROW)
    assert words["text"].startswith("Where was this photo taken?")
    assert caption["text"].strip() == "image-1 (900 x 500 pixels):"
    assert picture["image"].size == (900, 500)
    system, user = build_prompt_column(setting)
    assert "call the tool answer" in system["content"]
    assert user == {"role": "user", "content": ""}


def test_zoom_returns_a_picture(environment: Any) -> None:
    words, caption, picture = environment.image_zoom_in_tool(bbox_2d=[0, 0, 450, 250])
    assert words["text"].startswith("A cut of image-1")
    assert caption["text"].startswith("\nimage-2 (")
    assert isinstance(picture["image"], Image.Image)


def test_an_answer_ends_the_rollout_and_earns(environment: Any) -> None:
    assert "Monaco" in environment.maps_geocode(address="Monaco")
    assert environment.answer(reply=ANSWER) == "The answer was taken; the task is over."
    assert environment.over
    assert environment.get_reward() == pytest.approx(1.0)
    assert "is over" in environment.maps_geocode(address="Paris")
    assert "is over" in environment.answer(reply="elsewhere")
    assert environment.get_reward() == pytest.approx(1.0)


def test_without_an_answer_the_best_note_stands_in(environment: Any) -> None:
    environment.note_hypothesis(place="Monaco", confidence=0.8)
    assert environment.get_reward() > 0.95
    assert environment.trajectory.answered.by == "pool"


def test_replies_are_heard_where_answers_come_so(atlas_home: object) -> None:
    assert atlas_home
    setting = offline_setting("spotagent", reward="spotagent", answer_by="reply")
    make = build_environment_class(setting)
    environments: list[GeoEnvironment] = [make() for _ in range(4)]
    for one in environments:
        one.reset(**ROW)
    assert "answer" not in public_methods(environments[0])
    said = "<answer>\nCountry: Monaco\nCity: Monaco\nLatitude: 43.7384\nLongitude: 7.4246\n</answer>"
    parts = [{"type": "text", "text": said}]
    calling = {"role": "assistant", "content": said, "tool_calls": [{"type": "function"}]}
    completions = [
        [{"role": "assistant", "content": said}],
        [{"role": "tool", "content": "x"}, {"role": "assistant", "content": parts}],
        [calling],
        [],
    ]
    assert hear_replies(completions=completions, environments=environments, prompts=[]) == [None] * 4
    assert [one.get_reward() for one in environments] == pytest.approx([1.0, 1.0, 0.0, 0.0])


def test_a_new_rollout_knows_nothing_of_the_last(environment: Any) -> None:
    environment.note_hypothesis(place="Monaco", confidence=0.8)
    environment.reset(**ROW)
    assert environment.observations == ()
    assert environment.get_reward() == 0.0


# Budgets.


def test_calls_beyond_the_budget_are_not_carried_out(atlas_home: object) -> None:
    assert atlas_home
    made: Any = build_environment_class(offline_setting(reward="spotagent", budget=Budget(turns=40, calls=3)))()
    made.reset(**ROW)
    countries = ["Monaco", "France", "Italy", "Spain", "Peru"]
    said = [made.country_facts(country=name) for name in countries]
    assert [text.startswith("Error: Not carried out") for text in said] == [False, False, False, True, True]
    assert "Answer now" in said[2]
    assert "The tool answer still works." in said[2]
    assert made.answer(reply=ANSWER).startswith("The answer was taken")
    assert made.trajectory.spent.calls == 3


def test_every_call_is_a_turn_and_turns_end_the_rollout(atlas_home: object) -> None:
    assert atlas_home
    made: Any = build_environment_class(offline_setting(reward="spotagent", budget=Budget(turns=3)))()
    made.reset(**ROW)
    for name in ("Monaco", "France", "Italy", "Spain"):
        made.country_facts(country=name)
    assert made.over
    assert made.trajectory.ended.reason == "turns"
    assert made.trajectory.spent.turns == 3
    assert made.trajectory.spent.calls == 2


# What must never happen.


def test_a_tool_that_breaks_does_not_break_the_training(setting: Setting) -> None:
    @tool("broken")
    async def broken(case: Case) -> Output:
        """Fail."""
        raise ZeroDivisionError(str(case.box_scale))

    from dataclasses import replace

    made: Any = build_environment_class(replace(setting, toolset=Toolset([broken])))()
    made.reset(**ROW)
    assert made.broken() == "Error: The tool broke, and the task ends here."
    assert isinstance(made.trouble, ZeroDivisionError)
    assert made.over
    assert made.get_reward() == 0.0


def test_a_missing_library_ends_the_training(setting: Setting) -> None:
    @tool("broken")
    async def broken(case: Case) -> Output:
        """Need what is not there."""
        raise ModuleNotFoundError(f"No module named 'pyproj' {case.box_scale}")

    from dataclasses import replace

    made: Any = build_environment_class(replace(setting, toolset=Toolset([broken])))()
    made.reset(**ROW)
    with pytest.raises(ModuleNotFoundError, match="pyproj"):
        made.broken()


def test_letting_go_in_the_middle_leaves_nothing_behind(setting: Setting, capfd: pytest.CaptureFixture[str]) -> None:
    def threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "tool-environment"}

    gc.collect()
    before = threads()
    make: Any = build_environment_class(setting)
    for _ in range(3):
        made = make()
        made.reset(**ROW)
        made.country_facts(country="Monaco")
        made.reset(**ROW)
    (own,) = threads() - before
    del made, make
    for _ in range(50):
        gc.collect()
        own.join(timeout=0.1)
        if not own.is_alive():
            break
    assert not own.is_alive()
    assert "Task" not in capfd.readouterr().err


def played(make: Any, seed: int, truth: Truth, most: int = 20) -> tuple[Any, list[Any], float]:
    """A rollout of random calls: the environment, what a model would have seen, and the reward."""
    rng = random.Random(f"rollout {seed}")
    environment = make()
    seen: list[Any] = [environment.reset(photo=PHOTO, truth=truth)]
    tools = [*environment._setting.toolset, ANSWERING]
    for _ in range(rng.randint(0, most)):
        name, arguments = random_call(tools, rng)
        seen.append(getattr(environment, name)(**arguments))
    return environment, [flat(one) for one in seen], environment.get_reward()


def flat(shown: Any) -> Any:
    """What a model was shown, with pictures as their pixels."""
    if isinstance(shown, list):
        return [flat(part) for part in shown]
    if isinstance(shown, dict):
        return {key: value.tobytes() if key == "image" else value for key, value in shown.items()}
    return shown


@tool("answer")
async def ANSWERING(_case: Case, reply: str) -> Output:  # noqa: N802  (stands for the environment's own)
    """Answer.

    Args:
        reply: it.
    """
    return Output(reply)


def check_rollouts(setting: Setting, seeds: range) -> None:
    """Nothing leaves the environment, budgets hold, rewards are in range, and a seed gives the same every time."""
    make: Any = build_environment_class(setting, quickly)
    budget = setting.budget
    ended = set()
    for seed in seeds:
        environment, seen, reward = played(make, seed, MONACO)
        spent = environment.trajectory.spent
        assert environment.trouble is None, (seed, environment.trouble)
        assert setting.reward.least <= reward <= setting.reward.most
        assert spent.turns <= budget.turns
        assert budget.calls is None or spent.calls <= budget.calls
        assert environment.over
        ended.add(environment.trajectory.ended.reason)
        if seed % 4 == 0:
            # Another truth: a policy must not be able to tell.
            again, seen_again, _ = played(make, seed, Truth(LatLon(-33.0, 151.0), "Australia", "NSW", "Sydney"))
            assert seen == seen_again
            assert same_events(environment.trajectory, again.trajectory)
    assert len(ended) > 1


@pytest.mark.slow
def test_random_rollouts(setting: Setting) -> None:
    check_rollouts(setting, range(40))
