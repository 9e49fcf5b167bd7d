"""Episodes as trainers of any kind drive them: step by step, in an event loop."""

import asyncio
import io
from typing import Any

import pytest

from geosleuth.agent import Budget
from geosleuth.geo import LatLon
from geosleuth.lab.scenes.environment import Episode, Posed, Setting, offline_setting
from geosleuth.lab.score import Truth
from geosleuth.models import Step
from geosleuth.photo import open_photo
from geosleuth.tools import ToolCall
from tool_cases import sign

MONACO = Truth(LatLon(43.7384, 7.4246), "Monaco", None, "Monaco")
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}'


def posed(truth: Truth | None = MONACO) -> Posed:
    stream = io.BytesIO()
    sign("Rue Grimaldi").save(stream, "PNG")
    return Posed((open_photo(stream.getvalue()),), truth)


@pytest.fixture
def setting(atlas_home: object) -> Setting:
    assert atlas_home
    return offline_setting(reward="spotagent", answer_by="reply", budget=Budget(turns=6, calls=4, calls_per_turn=2))


def calls(*countries: Any) -> Step:
    return Step(calls=tuple(ToolCall("", "country_facts", {"country": name}) for name in countries))


def test_the_calls_of_one_reply_are_one_turn(setting: Setting) -> None:
    async def play() -> Episode:
        episode = Episode(posed(), setting)
        await episode.begin()
        told = await episode.step(calls("Monaco", "France", "Italy"))
        assert [one.failure for one in told.observations] == [None, None, "over_budget"]
        told = await episode.step(calls("Spain", "Italy"))
        assert "Answer now" in told.words[-1]
        assert not told.over
        told = await episode.step(Step(text=ANSWER))
        assert told.over
        return episode

    episode = asyncio.run(play())
    spent = episode.trajectory.spent
    assert (spent.turns, spent.calls) == (3, 4)
    assert episode.reward() == pytest.approx(1.0)


@pytest.mark.parametrize("arguments", [[], 7, None, "[]", "{", {"country": "\ud800"}, {1: 2}])
def test_whatever_stands_for_arguments_is_answered(setting: Setting, arguments: Any) -> None:
    async def play() -> None:
        episode = Episode(posed(), setting)
        await episode.begin()
        told = await episode.step(Step(calls=(ToolCall("", "country_facts", arguments),)))
        assert told.observations[0].failure is not None
        assert not told.over
        told = await episode.step(calls("Monaco"))
        assert told.observations[0].failure is None
        assert episode.trouble is None
        await episode.close()

    asyncio.run(play())


def test_steps_that_come_at_once_are_taken_one_after_the_other(setting: Setting) -> None:
    async def play() -> None:
        episode = Episode(posed(), setting)
        beginning = asyncio.create_task(episode.begin())
        await asyncio.sleep(0)
        told = await asyncio.gather(*(episode.step(calls(name)) for name in ("Monaco", "France", "Italy")))
        await beginning
        assert [one.observations[0].text.split()[0] for one in told] == ["Monaco", "France", "Italy"]
        assert episode.trajectory.spent.turns == 3
        await episode.close()

    asyncio.run(play())


def test_without_a_truth_there_is_no_reward(setting: Setting) -> None:
    async def play() -> Episode:
        episode = Episode(posed(None), setting)
        await episode.begin()
        await episode.step(Step(text=ANSWER))
        return episode

    with pytest.raises(ValueError, match="without a truth"):
        asyncio.run(play()).reward()


def test_an_episode_that_goes_on_has_earned_nothing(setting: Setting) -> None:
    async def play() -> None:
        episode = Episode(posed(), setting)
        await episode.begin()
        assert episode.reward() == setting.reward.least
        await episode.close()
        assert episode.over
        assert episode.reward() == setting.reward.least
        assert (await episode.step(calls("Monaco"))).observations[0].failure == "over_budget"

    asyncio.run(play())
