"""Every way of working by its name, with members and settings bound: a request in, an outcome out."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from geosleuth.errors import BadInput
from geosleuth.photo import OpenedPhoto
from geosleuth.team import Member, Outcome, Placer, Request, Society, Standing, StrangersSociety
from geosleuth.team.rivals import RIVALS, rival
from geosleuth.team.swarm import SwarmSettings, run_swarm
from geosleuth.tools.similar.store import pixel_digest

Ask = Callable[[Request], Awaitable[Outcome]]
"""A way of working, ready to be asked."""

SWARM, STRANGERS = "swarm", "strangers"
"""The swarm with what it learned, and the same swarm with every member alike."""

WAYS: tuple[str, ...] = (SWARM, STRANGERS, *RIVALS)


@dataclass(frozen=True, slots=True)
class PartOfSociety:
    """A society of which only some members are there."""

    whole: Society
    chosen: tuple[int, ...]

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:
        """How those who are there stand."""
        all_of_them = self.whole.standing(photos)
        return Standing(
            tuple(all_of_them.election[i] for i in self.chosen),
            tuple(tuple(all_of_them.links[i][j] for j in self.chosen) for i in self.chosen),
        )


class RememberedSociety:
    """A society that looks at each picture once."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._seen: dict[tuple[bytes, ...], Standing] = {}

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:
        """As the society says."""
        key = tuple(pixel_digest(photo.photo.image) for photo in photos)
        if key not in self._seen:
            self._seen[key] = self._society.standing(photos)
        return self._seen[key]


def ready(
    way: str,
    members: Sequence[Member],
    *,
    placer: Placer,
    society: Society | None = None,
    settings: SwarmSettings | None = None,
    lead: int = 0,
    seed: int = 0,
) -> Ask:
    """A way of working that only needs a request.

    Args:
        way: one of `WAYS`.
        members: who may be asked.
        placer: finds the places that answers name.
        society: whom the swarm trusts; None is nobody in particular.
        settings: of the swarm; the rivals take its limits and its threshold.
        lead: who works alone or ranks, where a rival has such a member.
        seed: all chance comes from it and from the picture.

    Raises:
        BadInput: there is no such way.
    """
    used = settings or SwarmSettings()
    if way in (SWARM, STRANGERS):
        trusted = society if way == SWARM and society is not None else StrangersSociety(len(members))

        async def swarm(request: Request) -> Outcome:
            drawn = "".join(pixel_digest(photo.photo.image).hex() for photo in request.photos)
            rng = random.Random(f"{seed} {drawn}")  # noqa: S311 - no secret depends on it
            return await run_swarm(members, request, society=trusted, placer=placer, settings=used, rng=rng)

        return swarm
    run = rival(way).run

    async def other(request: Request) -> Outcome:
        return await run(
            members,
            request,
            placer=placer,
            lead=lead,
            within_km=used.within_km,
            seconds_per_reply=used.seconds_per_reply,
        )

    return other


def read_ways(words: str) -> tuple[str, ...]:
    """Names with commas between them, each once; "all" is every way.

    Raises:
        BadInput: one of them is no way of working.
    """
    if words.strip().casefold() == "all":
        return WAYS
    names = [name.strip().casefold() for name in words.split(",") if name.strip()]
    for name in names:
        if name not in WAYS:
            raise BadInput(f"there is no way of working {name[:40]!r}; there are: {', '.join(WAYS)}")
    if not names:
        raise BadInput(f"name at least one way of working: {', '.join(WAYS)}")
    return tuple(dict.fromkeys(names))
