"""A file of answers, judged: what is asked in which order, and the figures side by side."""

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

from geosleuth.lab.bench.judging.asking import Asker
from geosleuth.lab.bench.judging.judged_file import Ask, Entry, JudgedFile, format_judged_csv, judge_entries
from geosleuth.lab.bench.memory import open_memory
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
        with open_memory(tmp_path / "cache.sqlite") as memory:
            asker = Asker(policy=policy, memory=memory, model="m", at_once=1)
            return await judge_entries(entries or copies(), asker, label="f", ask=ask, sample=sample)

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


def hits(level: dict[str, Any]) -> tuple[int, int]:
    return level["by_rule"]["hits"], level["by_judge"]["hits"]


def test_levels_are_asked_from_the_top_and_equal_questions_once(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=knowing)
    found = judged(tmp_path, policy)
    assert asked_of(policy) == [
        ("country", "United States", "Uncle Sam's country"),
        ("region", "Texas", "Lone Star State"),
        ("city", "Houston", "Montrose"),
    ]
    levels = found.document["levels"]
    assert {level: hits(one) for level, one in levels.items()} == {"country": (2, 3), "region": (1, 3), "city": (1, 3)}
    assert all(sum(one["outcomes"].values()) == one["n"] == 5 for one in levels.values())


def test_below_a_wrong_level_nothing_is_asked(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=says("no"))
    found = judged(tmp_path, policy)
    assert [level for level, *_ in asked_of(policy)] == ["country", "region"]
    assert [hits(one) for one in found.document["levels"].values()] == [(2, 2), (1, 1), (1, 1)]


def test_unreadable_replies_count_as_wrong_and_apart(tmp_path: Path) -> None:
    found = judged(tmp_path, ScriptedPolicy([], then=says("who knows")))
    country = found.document["levels"]["country"]
    assert (hits(country)[1], country["outcomes"]["unreadable"], country["outcomes"]["judged_wrong"]) == (2, 1, 0)


def test_the_judge_is_measured_where_the_rule_is_sure(tmp_path: Path) -> None:
    policy = ScriptedPolicy([], then=knowing)
    found = judged(tmp_path, policy, sample=50)
    # USA, TX and Houston are right, Mexico is proved wrong; this judge has never heard of USA and TX.
    told = found.document["agreement"]
    assert [told[key] for key in ("n", "both_yes", "both_no", "rule_only", "judge_only")] == [4, 1, 1, 2, 0]


def test_every_verdict_can_be_looked_at(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(format_judged_csv(judged(tmp_path, ScriptedPolicy([], then=knowing)).rows))))
    assert [(row["id"], row["level"], row["judge"]) for row in rows] == [
        ("judge", "country", "yes"),
        ("judge", "region", "yes"),
        ("region", "region", "yes"),
        ("judge", "city", "yes"),
    ]
    assert {row["reply"] for row in rows} == {"yes"}
