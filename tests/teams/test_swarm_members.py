"""Members that think with a model: what the model is shown in each stage, what is read, and what it costs."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent import Budget
from geosleuth.agent.locate import open_case
from geosleuth.agent.methods import method
from geosleuth.agent.setup import Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon
from geosleuth.models import Policy, Prompt, Sampling, Usage
from geosleuth.photo import OpenedPhoto, View, open_photo
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.teams import Reply, Request, image_tokens, text_tokens
from geosleuth.teams.swarm import LiveMember, Surroundings, run_tokens
from geosleuth.tools import Case, Similar
from geosleuth.tools.toolset import all_tools
from locating import photo_file
from scripted import ScriptedPolicy, answers, call, calls, says

PERSONA = "You are a botanist."
NICE = '{"location": {"country": "France", "city": "Nice"}, "confidence": "80%", "explanation": "the bay"}'


class Lookalikes:
    """An image search that knows one picture."""

    name = "test"

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:  # noqa: ARG002
        return [Similar("Promenade", 0.9, "test", point=LatLon(43.7, 7.27), place="Nice")]


@pytest.fixture
def photo(tmp_path: Path) -> OpenedPhoto:
    return open_photo(photo_file(tmp_path))


@pytest.fixture
def around(atlas_home: Path) -> Surroundings:  # noqa: ARG001
    return Surroundings(Resources(OfflineAtlas(), similar=Lookalikes()))


def member(policy: Policy, around: Surroundings, **more: Any) -> LiveMember:
    how = method(more.pop("way", "smilegeo"))
    tools = how.toolset(all_tools(), more.pop("tools", None))
    return LiveMember(name="Ada", policy=policy, method=how, toolset=tools, around=around, **more)


def reply(one: LiveMember, photo: OpenedPhoto, **asked: Any) -> Reply:
    return asyncio.run(one.reply(Request((photo,), **asked)))


def test_a_plain_model_answers_with_its_persona_before_the_methods_words(
    photo: OpenedPhoto, around: Surroundings
) -> None:
    model = ScriptedPolicy([says(NICE)])
    given = reply(member(model, around, persona=PERSONA), photo, hint="by the sea", seed=5)
    seen = model.seen[0]
    assert seen.system.startswith(f"{PERSONA}\n\nYou are asked where a photo was taken.")
    assert "by the sea" in seen.messages[0].text  # type: ignore[union-attr]
    assert (len(seen.tools), seen.sampling.seed) == (0, 5)
    assert str(given.answer.address) == "Nice, France"
    assert given.answer.probability == 0.8
    assert (given.text, given.failure, given.names_place) == (NICE, None, True)
    assert given.usage.input_tokens == 100
    assert given.trajectory is not None


def test_what_others_said_is_cut_to_what_the_model_takes(photo: OpenedPhoto, around: Surroundings) -> None:
    words = f"FIRST {'said by others ' * 4000} LAST"
    for limit, fits in ((None, True), (100_000, True), (4_000, False)):
        model = ScriptedPolicy([says(NICE)])
        reply(member(model, around, context_tokens=limit), photo, stage="discussion", words=words)
        text = model.seen[0].messages[0].text  # type: ignore[union-attr]
        assert ("cut: the model takes no more" not in text) is fits
        assert "FIRST" in text
        assert "LAST" in text
        if limit is not None:
            assert text_tokens(text) + text_tokens(model.seen[0].system) < limit


def test_members_who_begin_at_once_share_the_views_of_a_photo(
    photo: OpenedPhoto, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def slowly(*words: Any, **more: Any) -> tuple[Case, tuple[str, ...]]:
        made.append("views")
        time.sleep(0.05)
        return open_case(*words, **more)

    monkeypatch.setattr("geosleuth.teams.swarm.members.open_case", slowly)

    async def work() -> None:
        await asyncio.gather(*(around.case((photo,), method("smilegeo")) for _ in range(4)))

    asyncio.run(work())
    assert made == ["views"]


def test_a_prompt_of_its_own_takes_the_place_of_the_methods_question(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([says(NICE)])
    reply(member(model, around, prompt="Which coast is this?"), photo)
    asked = model.seen[0].messages[0]
    assert asked.text.startswith("Which coast is this?\n\nThe photo is image-1")  # type: ignore[union-attr]


def test_reviewers_see_the_photo_and_the_words_and_are_read_as_commenting(
    photo: OpenedPhoto, around: Surroundings
) -> None:
    model = ScriptedPolicy([says("The palms fit Sanremo too.\nConfidence: 40%")])
    given = reply(member(model, around, persona=PERSONA), photo, stage="review", words="WORDS OF THE STAGE")
    seen = model.seen[0]
    assert seen.messages[0].text.startswith("WORDS OF THE STAGE\n\nThe photo is image-1")  # type: ignore[union-attr]
    assert seen.messages[0].images == ("image-1",)  # type: ignore[union-attr]
    assert seen.system.startswith(PERSONA)
    # The method's own form of an answer is not asked for.
    assert "JSON" not in seen.system
    assert given.answer.explanation == "The palms fit Sanremo too."
    assert given.answer.probability == 0.4
    assert not given.names_place
    assert given.failure is None


def test_choices_and_comments_in_one_line_are_taken_as_they_are(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([says("The second.")])
    chosen = reply(member(model, around), photo, stage="judge", words="The first or the second?", force_answer=True)
    assert (chosen.text, chosen.failure, chosen.names_place) == ("The second.", None, False)
    model = ScriptedPolicy([says('{"comment": "It is Sanremo.", "confidence": "40%"}')])
    given = reply(member(model, around), photo, stage="review", words="?")
    assert "Sanremo" in (given.answer.explanation or "")
    assert given.answer.probability == 0.4


@pytest.mark.parametrize("stage", ["summary", "discussion"])
@pytest.mark.parametrize("way", ["smilegeo", "geoagent", "spotagent", "default"])
def test_later_answers_are_read_in_the_form_that_the_words_ask_for(
    photo: OpenedPhoto, around: Surroundings, stage: Any, way: str
) -> None:
    model = ScriptedPolicy([says(NICE)])
    given = reply(member(model, around, way=way, tools=()), photo, stage=stage, words="And now?")
    assert str(given.answer.address) == "Nice, France"
    assert given.answer.explanation == "the bay"


def test_a_whole_agent_uses_its_tools_in_every_stage(photo: OpenedPhoto, around: Surroundings) -> None:
    for stage in ("answer", "review", "discussion"):
        look = calls(call("search_image", image="image-1"))
        model = ScriptedPolicy([look, says(NICE if stage != "review" else "Similar ones are in Nice.")])
        one = member(model, around, tools=("search_image",))
        given = reply(one, photo, stage=stage, words="And now?")
        assert given.trajectory is not None
        assert "Promenade" in given.trajectory.observations[0].text, stage
        assert given.failure is None
        assert given.usage == Usage(200, 40, tries=2)


def test_limits_and_sampling_are_the_members_own(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([], then=calls(call("image_zoom_in_tool", bbox_2d=[40, 30, 140, 90])))
    given = reply(
        member(model, around, way="default", budget=Budget(turns=2), sampling=Sampling(temperature=0.3)), photo
    )
    assert len(model.seen) == 2
    assert model.seen[0].sampling.temperature == 0.3
    assert given.failure is not None
    slow = ScriptedPolicy([], seconds=30)
    given = reply(member(slow, around, budget=Budget(seconds=0.2)), photo)
    assert "the time was up" in (given.failure or "")
    assert given.seconds < 20


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (ServiceFault("models.example", "is busy"), "models.example: is busy"),
        (BadInput("the key is wrong"), "the key is wrong"),
    ],
)
def test_trouble_is_a_reply_with_a_failure(
    photo: OpenedPhoto, around: Surroundings, trouble: Exception, told: str
) -> None:
    given = reply(member(ScriptedPolicy([trouble]), around), photo)
    assert given.failure == told
    assert not given.names_place


def test_a_guess_is_forced_where_one_is_wanted_except_of_reviewers(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([says(NICE), answers(43.7, 7.27, confidence="30%")])
    given = reply(member(model, around), photo, force_answer=True)
    assert given.answer.point == LatLon(43.7, 7.27)
    model = ScriptedPolicy([says("No idea.")])
    assert reply(member(model, around), photo, stage="review", words="?", force_answer=True).failure is None
    model = ScriptedPolicy([answers(43.7, 7.27, confidence="30%")])
    reply(member(model, around), photo, stage="summary", words="?", force_answer=True)
    assert '"lat" and "lon"' in model.seen[0].system


def test_every_turn_is_paid_for_with_all_that_was_shown_in_it(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([calls(call("search_image", image="image-1"), text="I search."), says(NICE)])
    one = member(model, around, tools=("search_image",))
    given = reply(one, photo)
    trajectory = given.trajectory
    assert trajectory is not None
    first, second = model.seen
    picture = image_tokens(240, 160)
    prompt = text_tokens(first.messages[0].text) + picture  # type: ignore[union-attr]
    step = text_tokens("I search." + "search_image" + str({"image": "image-1"}))
    seen = text_tokens(trajectory.observations[0].text)
    # The last turn of a method with two comes with a nudge to answer.
    nudge = sum(text_tokens(message.text) for message in second.messages[3:] if isinstance(message, Prompt))
    expected = 2 * (text_tokens(first.system) + prompt) + 2 * step + seen + nudge + text_tokens(NICE)
    assert given.tokens == run_tokens(trajectory, one.method.context) == expected


def test_one_model_serves_several_personas_at_once(photo: OpenedPhoto, around: Surroundings) -> None:
    model = ScriptedPolicy([], then=says(NICE), seconds=0.05)
    team = [replace(member(model, around), name=name, persona=f"You are {name}.") for name in ("Ada", "Bob", "Cy")]

    async def all_at_once() -> list[Reply]:
        given = list(await asyncio.gather(*(one.reply(Request((photo,))) for one in team)))
        for one in team:
            await one.aclose()
        return given

    assert all(one.names_place for one in asyncio.run(all_at_once()))
    assert {seen.system.split("\n")[0] for seen in model.seen} == {"You are Ada.", "You are Bob.", "You are Cy."}
    # The model belongs to the team, not to one of its members.
    assert not model.closed


def test_what_one_member_cuts_out_of_the_photo_no_other_sees(photo: OpenedPhoto, around: Surroundings) -> None:
    zoom = calls(call("image_zoom_in_tool", bbox_2d=[40, 30, 140, 90], image="image-1"))
    for _ in range(2):
        model = ScriptedPolicy([zoom, says(NICE)])
        given = reply(member(model, around, way="default", tools=("image_zoom_in_tool",)), photo)
        assert given.trajectory is not None
        assert [image.handle for image in given.trajectory.images] == ["image-1", "image-2"]
