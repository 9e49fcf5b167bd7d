"""A thousand swarms of members that do everything a member should not; each one ends, in time, with nothing left."""

import asyncio
import random
from typing import TYPE_CHECKING, Any, cast

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.atlas.placing import Placement, Placer
from geosleuth.support.errors import ServiceFault
from geosleuth.teams import Reply, Request, TeamOutcome, TrustWeights
from geosleuth.teams.swarm import SwarmSettings, run_swarm
from members import comment, place
from virtual_time import run_virtually

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas
    from geosleuth.geo import LatLon

SECONDS = 600.0
SECONDS_PER_REPLY = 40.0
# What calling off and placing may take on top.
SLACK = 25.0


class SlowPlacer(Placer):
    """Some names take for ever to look up, some are found, most are not."""

    def __init__(self) -> None:
        super().__init__(cast("Atlas", None))

    async def place(self, words: str) -> Placement | None:
        if len(words) % 3 == 0:
            await asyncio.sleep(1e9)
        return None


class Wild:
    """A member that draws anew each time how it behaves."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self.hosts: frozenset[str] = frozenset()
        self._rng = rng
        self._ways = rng.sample(WAYS, rng.randint(1, 4))

    async def reply(self, request: Request) -> Reply:
        return await self._rng.choice(self._ways)(request, self._rng)  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        pass


async def plain(request: Request, rng: random.Random) -> Any:
    await asyncio.sleep(rng.random() * 5)
    if request.stage == "review":
        return comment(rng.choice(("", "Nonsense.\nConfidence: 900%", "Sure.\nConfidence: 10%", "\x00\ud800")))
    return place(*rng.choice(((43.7, 7.3), (43.8, 7.4), (41.9, 12.5), (-33.9, 151.2))))


async def slow(request: Request, rng: random.Random) -> Any:
    await asyncio.sleep(rng.choice((30, 39.999, 41, 1e8)))
    return await plain(request, rng)


async def never(request: Request, rng: random.Random) -> Any:  # noqa: ARG001
    await asyncio.Event().wait()


async def clings(request: Request, rng: random.Random) -> Any:
    """Takes its time to let go when it is called off."""
    try:
        await asyncio.sleep(1e7)
    except asyncio.CancelledError:
        await asyncio.sleep(1)
    return await plain(request, rng)


async def gives_up(request: Request, rng: random.Random) -> Any:  # noqa: ARG001
    raise asyncio.CancelledError


async def breaks(request: Request, rng: random.Random) -> Any:  # noqa: ARG001
    raise rng.choice((KeyError("x"), ValueError("y"), ServiceFault("host", "down"), RecursionError(), TimeoutError()))


async def fails(request: Request, rng: random.Random) -> Any:  # noqa: ARG001
    return Reply(failure="no luck")


async def wanders(request: Request, rng: random.Random) -> Any:
    """Never agrees with anybody, not even with itself."""
    if request.stage == "review":
        return comment("No.")
    return place(rng.uniform(-80, 80), rng.uniform(-179, 179))


async def nonsense(request: Request, rng: random.Random) -> Any:  # noqa: ARG001
    return rng.choice(
        (
            None, 42, "Rome", b"\x00\xff", {"lat": 1}, Reply(""), Reply("\x00\x01\ufffe" * 50), Reply("x" * 3_000_000),
            Reply("no place", Answer(explanation="y" * 3_000_000)), Reply(cast("str", b"bytes")),
            Reply("?", cast("Answer", None)), Reply("?", Answer(cast("LatLon", (1.0, 2.0)))),
            Reply("?", Answer(address=Address.create(precise="z" * 2_000_000))), Reply("?", tokens=cast("int", "many")),
            Reply("?", Answer(address=Address.create(precise=cast("str", 7)))),
            Reply("Nice", Answer(address=Address.create("Nice"))),
        )
    )  # fmt: skip


WAYS: list[Any] = [plain, plain, plain, slow, never, clings, gives_up, breaks, fails, wanders, nonsense]


class Drawn:
    def __init__(self, count: int, rng: random.Random) -> None:
        links = tuple(tuple(0.0 if i == j else rng.choice((0.0, 0.3, 1.0)) for j in range(count)) for i in range(count))
        self._trust_weights = TrustWeights(tuple(rng.choice((0.0, 0.5, 1.0)) for _ in range(count)), links)

    def trust_weights(self, photos: object) -> TrustWeights:  # noqa: ARG002
        return self._trust_weights


def one_run(seed: int) -> tuple[TeamOutcome, SwarmSettings]:
    rng = random.Random(seed)
    count = rng.randint(1, 6)
    settings = SwarmSettings(
        answerers=rng.randint(1, 4),
        reviewers=rng.randint(0, 3),
        rounds=rng.choice((0, 1, 3, 10)),
        seconds_per_reply=rng.choice((SECONDS_PER_REPLY, None)),
        seconds=SECONDS,
        walk=rng.choice(("onward", "neighbours")),
        waits_for_news=rng.random() < 0.7,
    )
    members = [Wild(f"m{index}", random.Random(rng.getrandbits(32))) for index in range(count)]
    outcome = run_virtually(
        run_swarm(
            members,
            Request(()),
            society=Drawn(count, rng),
            placer=SlowPlacer(),
            settings=settings,
            rng=random.Random(seed),
        )
    )
    return outcome, settings


@pytest.mark.parametrize("hundred", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 10))])
def test_no_swarm_hangs(hundred: int) -> None:
    answered = 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        outcome, settings = one_run(seed)
        assert outcome.seconds <= SECONDS + SLACK, seed
        assert outcome.decided, seed
        if settings.seconds_per_reply:
            assert all(turn.reply.seconds <= SECONDS_PER_REPLY + 0.001 for turn in outcome.turns), seed
        turns = [turn for turn in outcome.turns if turn.stage == "discussion"]
        assert all(turn.round <= settings.rounds for turn in turns), seed
        # Whenever anybody named a place, there is an answer with one.
        stood = any(turn.reply.names_place for turn in outcome.turns if turn.stage == "answer")
        assert (outcome.voice is not None) == stood, seed
        assert len(outcome.answer.explanation or "") <= 25_000
        answered += stood
    assert answered > 50
