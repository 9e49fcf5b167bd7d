"""Ways that ask every member: a vote, a ranking with a fusion, a debate.

LLM-Blender: Jiang et al., ACL 2023. LLM Debate: Du et al., ICML 2024.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Literal

from geosleuth.agent.methods import discussion_prompt
from geosleuth.agent.methods.shared import paragraphs
from geosleuth.team import AGREE_WITHIN_KM, Member, Outcome, Placer, Reply, Request
from geosleuth.team.swarm.quoting import NOTE, quoted_answer

from .alone import nothing
from .asking import Question, Talk
from .prompts import compare_prompt, fuse_prompt, listed, read_choice
from .voting import vote

FUSED = 3
DEBATE_ROUNDS = 2

Comparisons = Literal["all", "bubble"]


async def majority(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,  # noqa: ARG001
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
) -> Outcome:
    """One call a member, none sees another; the place that most agree on."""
    talk = Talk(members, request, placer, seconds_per_reply)
    replies = await talk.ask_all([Question(place) for place in range(len(members))])
    return await _elected(talk, replies, placer, within_km)


async def blender(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,
    within_km: float = AGREE_WITHIN_KM,  # noqa: ARG001
    seconds_per_reply: float | None = None,
    comparisons: Comparisons = "all",
    fused: int = FUSED,
) -> Outcome:
    """Every member answers; a ranker compares pairs; a fuser makes one answer of the best.

    The published ranker and fuser are small models trained for it. Here the leading member does both. ``comparisons``:
    "all" compares every pair in both orders, as published; "bubble" is the published short cut, passes that each bring
    the best of the rest to the top.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    names = talk.hidden
    replies = await talk.ask_all([Question(place) for place in range(len(members))])
    standing = [index for index, reply in enumerate(replies) if reply.stands]
    if not standing:
        return nothing(talk)

    async def preferred(pairs: Sequence[tuple[int, int]]) -> list[int | None]:
        asked = [
            Question(lead, "judge", compare_prompt(replies[one].answer, replies[other].answer, names))
            for one, other in pairs
        ]
        chosen = [read_choice(reply.text) for reply in await talk.ask_all(asked, 1)]
        return [None if number is None else pair[number - 1] for pair, number in zip(pairs, chosen, strict=True)]

    if comparisons == "all":
        both = [pair for one, other in combinations(standing, 2) for pair in ((one, other), (other, one))]
        wins = await preferred(both)
        order = sorted(standing, key=lambda index: (-wins.count(index), index))
    else:
        order = await _bubbled(standing, fused, preferred)
    top = order[:fused]
    final = await talk.ask(Question(lead, "summary", fuse_prompt([replies[i].answer for i in top], names)), 2)
    if final.stands:
        return Outcome(final.answer, f"made of the best {len(top)} answers", talk.turns, talk.names[lead], talk.seconds)
    return Outcome(replies[top[0]].answer, "the best by comparison", talk.turns, talk.names[top[0]], talk.seconds)


async def debate(
    members: Sequence[Member],
    request: Request,
    *,
    placer: Placer,
    lead: int = 0,  # noqa: ARG001
    within_km: float = AGREE_WITHIN_KM,
    seconds_per_reply: float | None = None,
    rounds: int = DEBATE_ROUNDS,
) -> Outcome:
    """Every member answers, and in each further round answers anew, given what all the others said; then a vote.

    ``rounds`` counts the first answers, as published. A member keeps all it was told in earlier rounds.
    """
    talk = Talk(members, request, placer, seconds_per_reply)
    names = talk.hidden
    freshest = await talk.ask_all([Question(place) for place in range(len(members))])
    told: list[list[str]] = [[] for _ in members]
    for number in range(1, rounds):
        said = freshest
        asked = []
        for index in range(len(members)):
            others = [reply.answer for other, reply in enumerate(said) if other != index and reply.stands]
            now = discussion_prompt(
                quoted_answer(said[index].answer, names), [quoted_answer(answer, names) for answer in others]
            )
            asked.append(Question(index, "discussion", paragraphs(NOTE, now, *told[index])))
            told[index].append(f"Said earlier, round {number}:\n\n{listed(others, names, 'Earlier opinion')}")
        replies = await talk.ask_all(asked, number)
        # Who fails this time is heard with what it said before.
        freshest = [new if new.stands else old for new, old in zip(replies, said, strict=True)]
    return await _elected(talk, freshest, placer, within_km)


async def _bubbled(
    standing: Sequence[int], fused: int, preferred: Callable[[Sequence[tuple[int, int]]], Awaitable[list[int | None]]]
) -> list[int]:
    rest = list(standing)
    order: list[int] = []
    while rest and len(order) < fused:
        best = rest[-1]
        for other in reversed(rest[:-1]):
            (chosen,) = await preferred([(other, best)])
            best = best if chosen is None else chosen
        order.append(best)
        rest.remove(best)
    return order


async def _elected(talk: Talk, replies: Sequence[Reply], placer: Placer, within_km: float) -> Outcome:
    won = await vote(replies, placer, within_km)
    if won is None:
        return nothing(talk)
    said = f"{won.support} of {won.cast} agree"
    return Outcome(replies[won.winner].answer, said, talk.turns, talk.names[won.winner], talk.seconds)
