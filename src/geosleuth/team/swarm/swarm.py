"""The swarm of smileGeo: some members are elected and answer, others review them, and those who answered discuss."""

import random
from collections.abc import Sequence

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.team import Member, Outcome, Placer, Request, Society

from .deciding import decide
from .discussion import discuss
from .floor import Floor, Listener
from .settings import SwarmSettings
from .stages import answered_and_reviewed
from .walk import election_order


async def run_swarm(
    members: Sequence[Member],
    request: Request,
    *,
    society: Society,
    placer: Placer,
    settings: SwarmSettings | None = None,
    rng: random.Random,
    heard: Listener | None = None,
) -> Outcome:
    """Let the members find one answer together.

    Whatever members do, there is an outcome, and it comes in bounded time where the settings have limits. If nobody
    can name a place, the answer is unlocated and says why.

    Args:
        members: who may be asked, in the society's order; they are not closed here.
        request: the photos and what the user says about them.
        society: whom to trust with these photos.
        placer: finds the places that answers name.
        settings: how many, how often, how long.
        rng: all chance comes from it.
        heard: gets every turn as soon as it is over.

    Raises:
        BadInput: there are no members, two share a name, or the society knows other members.
    """
    if not members:
        raise BadInput("a team needs members; list its agents")
    if len({member.name for member in members}) < len(members):
        raise BadInput("two members of the team share a name; give each its own")
    standing = society.standing(request.photos)
    if len(standing.election) != len(members):
        raise BadInput(
            f"the team has {len(members)} members, and what it learned is about {len(standing.election)}; learn anew"
        )
    settings = settings or SwarmSettings()
    floor = Floor(members, request, settings, placer, heard)
    order = election_order(standing, rng)
    # Each member's chance is drawn now: who replies sooner must not change what others draw.
    chances = [random.Random(rng.getrandbits(64)) for _ in members]  # noqa: S311
    agents = await answered_and_reviewed(floor, standing, order, chances)
    if not agents:
        return Outcome(_nothing(floor), "nobody named a place", tuple(floor.turns), seconds=floor.seconds)
    if len(agents) > 1:
        await discuss(floor, agents)
    chosen, why = decide(agents, settings.within_km)
    return Outcome(chosen.answer, why, tuple(floor.turns), floor.names[chosen.member], floor.seconds)


def first_failure(outcome: Outcome) -> str | None:
    """Who failed first, and why; None where nobody did."""
    failed = next((turn for turn in outcome.turns if turn.reply.failure is not None), None)
    return None if failed is None else f"{failed.member}: {failed.reply.failure}"


def _nothing(floor: Floor) -> Answer:
    """The answer where there is none: the reasons of whoever said that no place can be told, or why all failed."""
    told = next((turn.reply.answer.explanation for turn in floor.turns if turn.reply.failure is None), None)
    if told:
        return Answer(explanation=told)
    failures = "; ".join(f"{turn.member}: {turn.reply.failure}" for turn in floor.turns if turn.reply.failure)
    return Answer(explanation=f"No answer: no member of the team named a place. {failures[:2_000]}".strip())
