"""The first two stages of a swarm: an answer of one's own, and the same answer after others have looked at it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from geosleuth.agent.methods import Comment, read_comment, review_prompt, summary_prompt
from geosleuth.answer import Answer
from geosleuth.geo import Extent
from geosleuth.team import Reply, Standing

from .floor import Floor, together
from .quoting import NOTE, quoted_answer, quoted_comment
from .walk import draw_reviewers


@dataclass(slots=True)
class AnswerAgent:
    """An elected member whose answer stands.

    ``rank`` is its place in the election. ``answer`` is the newest one that named a place, ``extent`` where that is;
    ``version`` counts what it said in the discussion, and ``seen`` what it has seen of the others.
    """

    member: int
    rank: int
    answer: Answer
    extent: Extent | None = None
    version: int = 0
    rounds: int = 0
    failures: int = 0
    seen: dict[int, int] = field(default_factory=dict)

    async def says(self, reply: Reply, floor: Floor) -> bool:
        """Take over what it says now. A reply that names no place leaves the one before standing."""
        if not reply.stands:
            return False
        self.extent = await floor.place(reply.answer)
        self.answer = reply.answer
        return True


def with_note(words: str) -> str:
    """Words that carry quotations, and what quotations are."""
    return f"{NOTE}\n\n{words}"


async def answered_and_reviewed(
    floor: Floor, standing: Standing, order: list[int], chances: list[random.Random]
) -> list[AnswerAgent]:
    """The answer agents with their reviewed answers, as many as are wanted and can be had, in the election's order.

    Who fails, or can't name a place, is followed by the next of the election at once; nobody waits for the others.
    """
    candidates = iter(enumerate(order))
    wanted = min(floor.settings.answerers, len(order))
    found = await together(_one_agent(floor, standing, candidates, chances) for _ in range(wanted))
    return sorted((agent for agent in found if agent is not None), key=lambda agent: agent.rank)


async def _one_agent(
    floor: Floor, standing: Standing, candidates: Iterator[tuple[int, int]], chances: list[random.Random]
) -> AnswerAgent | None:
    for rank, member in candidates:
        reply = await floor.ask(member, "answer")
        agent = AnswerAgent(member, rank, reply.answer)
        if await agent.says(reply, floor):
            await _reviewed(floor, agent, standing, chances[member])
            return agent
    return None


async def _reviewed(floor: Floor, agent: AnswerAgent, standing: Standing, chance: random.Random) -> None:
    settings = floor.settings
    drawn = draw_reviewers(standing.links, agent.member, settings.reviewers, chance, walk=settings.walk)
    if not drawn:
        return
    own = quoted_answer(agent.answer, floor.hidden)
    words = with_note(review_prompt(own))
    replies = await together(floor.ask(one, "review", words, about=agent.member) for one in drawn)
    comments = [quoted_comment(comment, floor.hidden) for reply in replies if (comment := _comment(reply)) is not None]
    if comments:
        summary = await floor.ask(agent.member, "summary", with_note(summary_prompt(own, comments)))
        await agent.says(summary, floor)


def _comment(reply: Reply) -> Comment | None:
    if reply.failure is not None:
        return None
    words = reply.text.strip() or reply.answer.explanation or ""
    comment = read_comment(words)
    probability = comment.probability if comment.probability is not None else reply.answer.probability
    return Comment(comment.text, probability) if words else None
