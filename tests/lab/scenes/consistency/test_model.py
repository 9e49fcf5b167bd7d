"""A model as the judge: what it is shown, how its replies are read, and that nothing it does raises."""

import json
from typing import Any

import pytest

from geosleuth.lab.scenes.consistency import PolicyJudge
from geosleuth.lab.score import AnswerNames
from geosleuth.lab.score.rewards import Reasoning
from geosleuth.models import Conversation, Prompt, Step
from geosleuth.support.errors import ServiceFault
from scripted import ScriptedPolicy, says

TOLD = Reasoning("Signs in German.", "Half-timbered houses.", "A minster.", AnswerNames("Germany", "Hesse"))
ULM = {"country": "Germany", "region": "Baden-Württemberg", "city": "Ulm"}


def per_level() -> ScriptedPolicy:
    """Answers each question with its level's own name."""

    def reply(conversation: Conversation) -> Step:
        key = question(conversation)["reply"]
        return says(json.dumps({key: ULM[key]}))

    return ScriptedPolicy([], then=reply)


def question(conversation: Conversation) -> dict[str, Any]:
    [message] = conversation.messages
    assert isinstance(message, Prompt)
    asked: dict[str, Any] = json.loads(message.text)
    return asked


def test_each_level_is_asked_about_with_the_earlier_conclusions() -> None:
    policy = per_level()
    assert PolicyJudge(policy, at_once=1).derive([TOLD]) == [AnswerNames("Germany", "Baden-Württemberg", "Ulm")]
    country, region, precise = map(question, policy.seen)
    assert (country["notes"], country["earlier"]) == (TOLD.country, {})
    assert (region["notes"], region["earlier"]) == (TOLD.region, {"country": "Germany"})
    assert (precise["notes"], precise["earlier"]) == (TOLD.precise, {"country": "Germany", "region": "Hesse"})


def test_equal_questions_are_asked_once() -> None:
    policy = per_level()
    assert PolicyJudge(policy).derive([Reasoning("x"), Reasoning("y"), Reasoning("x")]) == [AnswerNames("Germany")] * 3
    assert len(policy.seen) == 2


@pytest.mark.parametrize("reply", ["", "I can't tell.", '{"country": ', "yes " * 5000, '{"region": "Hesse"}'])
def test_what_can_not_be_read_derives_nothing(reply: str) -> None:
    [derived] = PolicyJudge(ScriptedPolicy([says(reply)])).derive([Reasoning("Signs in German.")])
    assert derived == AnswerNames()


def test_a_server_that_fails_derives_nothing_and_is_counted() -> None:
    judge = PolicyJudge(ScriptedPolicy([ServiceFault("model.example", "is down")], then=says('{"country": "Germany"}')))
    assert judge.derive([Reasoning("x"), Reasoning("y")]) == [AnswerNames(), AnswerNames("Germany")]
    assert sorted(judge.newest) == ["failed", "read"]
    assert "is down" in judge.trouble


@pytest.mark.parametrize(
    ("reply", "country", "verdict"),
    [
        ('<think>{"country": "Japan"}? No, the bakery.</think>{"country": "France"}', "France", "read"),
        ('Notes on Japan: {"country": "Japan"}</think>\n{"country": "France"}', "France", "read"),
        ('<think>It may be {"country": "Japan"} or', None, "unread"),
        ('{"country": ""}', None, "read"),
        ('{"country": null}', None, "read"),
        ("I would rather not say.", None, "unread"),
    ],
)
def test_thinking_is_no_verdict_and_an_empty_name_is_one(reply: str, country: str | None, verdict: str) -> None:
    judge = PolicyJudge(ScriptedPolicy([says(reply)]))
    assert judge.derive([Reasoning("x")]) == [AnswerNames(country)]
    assert judge.newest == (verdict,)
