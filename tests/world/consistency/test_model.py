"""A model as the judge: what it is shown, how its replies are read, and that nothing it does raises."""

import asyncio
import json

import pytest

from geosleuth.errors import ServiceFault
from geosleuth.policies import Prompt
from geosleuth.score import AnswerNames
from geosleuth.score.rewards import Reasoning
from geosleuth.world.consistency import PolicyJudge
from scripted import ScriptedPolicy, says

TOLD = Reasoning("Signs in German.", "Half-timbered houses.", "A minster.")


def test_texts_travel_as_data_and_names_come_back() -> None:
    policy = ScriptedPolicy([says('{"country": "Germany", "region": "Baden-Württemberg", "city": "Ulm"}')])
    assert PolicyJudge(policy).derive([TOLD]) == [AnswerNames("Germany", "Baden-Württemberg", "Ulm")]
    [message] = policy.seen[0].messages
    assert isinstance(message, Prompt)
    assert json.loads(message.text) == {"country": TOLD.country, "region": TOLD.region, "precise": TOLD.precise}


def test_a_level_that_was_not_told_is_not_derived() -> None:
    policy = ScriptedPolicy([says('{"country": "Germany", "region": "Bavaria", "city": "Munich"}')])
    assert PolicyJudge(policy).derive([Reasoning("Signs in German.")]) == [AnswerNames("Germany")]
    assert PolicyJudge(policy).derive([Reasoning()]) == [AnswerNames()]


def test_equal_reasonings_are_asked_about_once() -> None:
    policy = ScriptedPolicy([], then=says('{"country": "Germany"}'))
    assert PolicyJudge(policy).derive([TOLD, Reasoning("x"), TOLD]) == [AnswerNames("Germany")] * 3
    assert len(policy.seen) == 2


@pytest.mark.parametrize("reply", ["", "I can't tell.", '{"country": ', "yes " * 5000])
def test_what_can_not_be_read_derives_nothing(reply: str) -> None:
    [derived] = PolicyJudge(ScriptedPolicy([says(reply)])).derive([TOLD])
    assert derived.country is None


def test_a_server_that_fails_derives_nothing_and_is_counted() -> None:
    judge = PolicyJudge(ScriptedPolicy([ServiceFault("model.example", "is down")], then=says('{"country": "Germany"}')))
    assert judge.derive([TOLD, Reasoning("y")]) == [AnswerNames(), AnswerNames("Germany")]
    assert judge.failed == 1


def test_it_may_be_asked_while_a_loop_runs() -> None:
    judge = PolicyJudge(ScriptedPolicy([says('{"country": "Germany"}')]))

    async def inside() -> list[AnswerNames]:
        return judge.derive([TOLD])

    assert asyncio.run(inside()) == [AnswerNames("Germany")]
