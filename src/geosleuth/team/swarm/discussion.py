"""The third stage of a swarm: its answer agents talk until they agree, or have said all that they may.

There is one dialogue, which only grows. Whoever has something new to react to speaks, with the newest reply of each of
the others before them, and nobody waits for anybody slower.
"""

import asyncio

from geosleuth.agent.methods import discussion_prompt
from geosleuth.team import agree

from .floor import Floor
from .quoting import quoted_answer
from .stages import AnswerAgent, with_note

# After so many failures in a row an answer agent is left alone; its last answer stands.
_FAILURES = 2


def consensus(agents: list[AnswerAgent], within_km: float) -> bool:
    """Whether the places of all of them meet."""
    return all(
        agree(one.extent, other.extent, within_km) for index, one in enumerate(agents) for other in agents[index + 1 :]
    )


async def discuss(floor: Floor, agents: list[AnswerAgent]) -> None:
    """Let them talk; each agent's answer is its newest afterwards. Turns under way at the end are called off."""
    running: dict[asyncio.Task[None], int] = {}
    try:
        while not consensus(agents, floor.settings.within_km) and not floor.used_up:
            busy = set(running.values())
            for agent in agents:
                if agent.member not in busy and _may_speak(floor, agent, agents):
                    running[asyncio.create_task(_turn(floor, agent, agents))] = agent.member
            if not running:
                break
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                del running[task]
                task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _may_speak(floor: Floor, agent: AnswerAgent, agents: list[AnswerAgent]) -> bool:
    if agent.rounds >= floor.settings.rounds or agent.failures >= _FAILURES:
        return False
    if not floor.settings.waits_for_news:
        return True
    return any(agent.seen.get(other.member, -1) < other.version for other in agents if other is not agent)


async def _turn(floor: Floor, agent: AnswerAgent, agents: list[AnswerAgent]) -> None:
    others = [other for other in agents if other is not agent]
    before = agent.seen
    agent.seen = {other.member: other.version for other in others}
    agent.rounds += 1
    words = discussion_prompt(
        quoted_answer(agent.answer, floor.hidden), [quoted_answer(other.answer, floor.hidden) for other in others]
    )
    reply = await floor.ask(agent.member, "discussion", with_note(words), round=agent.rounds)
    if await agent.says(reply, floor):
        agent.version += 1
        agent.failures = 0
    else:
        agent.failures += 1
        agent.seen = before
