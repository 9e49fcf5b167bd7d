"""A file of answers, judged: what is asked in which order, and the figures side by side."""

import asyncio
import csv
import io
import json
from pathlib import Path

import pytest

from geosleuth.lab.bench.judging import (
    Ask,
    Entry,
    Judge,
    JudgedFile,
    VerdictCache,
    judge_entries,
    judged_csv,
    judged_document,
)
from geosleuth.lab.bench.judging.judge import JudgeSettings
from geosleuth.lab.score import AnswerNames, TruthNames
from geosleuth.models import Conversation, Prompt, Step
from scripted import ScriptedPolicy, says

TEXAS = TruthNames("United States", "Texas", "Houston")
NAMES = [
    Entry("rule", TEXAS, AnswerNames("USA", "TX", "Houston")),
    Entry("judge", TEXAS, AnswerNames("Uncle Sam's country", "Lone Star State", "Montrose")),
    Entry("region", TEXAS, AnswerNames("USA", "Lone Star State", "Houston")),
    Entry("other", TEXAS, AnswerNames("Mexico", "Chihuahua", "Montrose")),
    Entry("nothing", TEXAS, AnswerNames()),
]
YES = {("United States", "Uncle Sam's country"), ("Texas", "Lone Star State"), ("Houston", "Montrose")}


def knowing(conversation: Conversation) -> Step:
    """A stand-in for a judge that knows a few names."""
    [message] = conversation.messages
    assert isinstance(message, Prompt)
    data = json.loads(message.text.split("\n")[1])
    return says("yes" if (data["truth"], data["answer"]) in YES or data["truth"] == data["answer"] else "no")


def copies() -> list[Entry]:
    return [Entry(one.id, one.truth, one.said) for one in NAMES]


def judged(
    tmp_path: Path,
    policy: ScriptedPolicy,
    entries: list[Entry] | None = None,
    *,
    ask: Ask = "undecided",
    sample: int = 0,
) -> JudgedFile:
    async def work() -> JudgedFile:
        with VerdictCache(tmp_path / "cache.sqlite") as cache:
            judge = Judge(policy, cache, model="m", settings=JudgeSettings(at_once=1))
            return await judge_entries(entries or copies(), judge, label="f", model="m", ask=ask, sample=sample)

    return asyncio.run(work())


def asked_of(policy: ScriptedPolicy) -> list[tuple[str, str, str]]:
    found = []
    for conversation in policy.seen:
        [message] = conversation.messages
        assert isinstance(message, Prompt)
        question, data, _ = message.text.split("\n")
        names = json.loads(data)
        found.append((question.split()[-1].strip("?"), names["truth"], names["answer"]))
    return found


def test_levels_are_asked_from_the_top_and_equal_questions_once(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=knowing)
    found = judged(tmp_path, policy)
    assert asked_of(policy) == [
        ("country", "United States", "Uncle Sam's country"),
        ("region", "Texas", "Lone Star State"),
        ("city", "Houston", "Montrose"),
    ]
    figures = {one.level: (one.by_rule.hits, one.by_judge.hits, one.n) for one in found.levels}
    assert figures == {"country": (2, 3, 5), "region": (1, 3, 5), "city": (1, 3, 5)}
    for one in found.levels:
        assert sum(one.outcomes.values()) == one.n


def test_below_a_wrong_level_nothing_is_asked(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=says("no"))
    found = judged(tmp_path, policy)
    assert [level for level, *_ in asked_of(policy)] == ["country", "region"]
    assert [one.by_judge.hits for one in found.levels] == [one.by_rule.hits for one in found.levels] == [2, 1, 1]


def test_unreadable_replies_count_as_wrong_and_apart(tmp_path: Path) -> None:
    found = judged(tmp_path, ScriptedPolicy([], then=says("who knows")))
    country = found.levels[0]
    assert (country.by_judge.hits, country.outcomes["unreadable"], country.outcomes["judged wrong"]) == (2, 1, 0)


def test_everything_unmatched_can_be_asked(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=knowing)
    judged(tmp_path, policy, ask="unmatched")
    assert ("country", "United States", "Mexico") in asked_of(policy)


def test_the_judge_is_measured_where_the_rule_is_sure(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=knowing)
    found = judged(tmp_path, policy, sample=50)
    # USA, TX and Houston are right, Mexico is proved wrong; this judge has never heard of USA and TX.
    assert (found.agreement.n, found.agreement.both_yes, found.agreement.both_no) == (4, 1, 1)
    assert (found.agreement.rule_only, found.agreement.judge_only) == (2, 0)


def test_a_second_run_asks_nothing_and_says_the_same(tmp_path: Path) -> None:
    first = judged_document(judged(tmp_path, ScriptedPolicy([], then=knowing), sample=50))
    second = judged_document(judged(tmp_path, ScriptedPolicy([], then=AssertionError("asked")), sample=50))
    assert first["asked"] == second["from_cache"] > 0
    assert second["asked"] == 0
    assert (first["levels"], first["agreement"]) == (second["levels"], second["agreement"])
    json.dumps(second, allow_nan=False)


def test_every_verdict_can_be_looked_at(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(judged_csv(judged(tmp_path, ScriptedPolicy([], then=knowing))))))
    assert [(row["id"], row["level"], row["judge"]) for row in rows] == [
        ("judge", "country", "yes"),
        ("judge", "region", "yes"),
        ("region", "region", "yes"),
        ("judge", "city", "yes"),
    ]
    assert {row["reply"] for row in rows} == {"yes"}


@pytest.mark.parametrize("size", [0, 1])
def test_small_files_have_figures_too(tmp_path: Path, size: int) -> None:
    entries = [Entry("a", TruthNames("France"), AnswerNames("France"))] * size
    found = judged(tmp_path, ScriptedPolicy([], then=says("yes")), entries or [Entry("a", TruthNames(), AnswerNames())])
    json.dumps(judged_document(found), allow_nan=False)
    assert found.levels[0].n == size
