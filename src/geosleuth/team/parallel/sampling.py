"""Several independent tries at one photo at once; one that fails costs only itself."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from geosleuth.agent import Event, Trajectory, TrajectoryWriter, run
from geosleuth.agent.methods.papers import TWM_PARALLEL
from geosleuth.agent.setup import NO_HINTS, UNWATCHED, AgentSetup, Question, Watch
from geosleuth.agent.trajectory import new_id, now
from geosleuth.policies import Sampling
from geosleuth.tools import Case

from .items import answered

__all__ = ["Try", "Watch", "draw_tries", "try_sampling"]


@dataclass(frozen=True, slots=True)
class Try:
    """What came of one try; ``error`` is what broke it, and there is no trajectory where it never began."""

    number: int
    trajectory: Trajectory | None
    error: Exception | None = None

    @property
    def answered(self) -> bool:
        """Whether it came to an answer of its own."""
        return self.error is None and self.trajectory is not None and answered(self.trajectory)


def try_sampling(sampling: Sampling, number: int) -> Sampling:
    """How a try is drawn: as Thinking with Map draws them, unless something else was set, each with its own seed.

    Args:
        sampling: what the method and the user say; what they leave open is the paper's.
        number: which try it is, counted from 1.
    """
    return replace(
        sampling,
        temperature=TWM_PARALLEL.temperature if sampling.temperature is None else sampling.temperature,
        top_p=TWM_PARALLEL.top_p if sampling.top_p is None else sampling.top_p,
        top_k=TWM_PARALLEL.top_k if sampling.top_k is None else sampling.top_k,
        seed=(1 if sampling.seed is None else sampling.seed) + number - 1,
    )


async def draw_tries(
    case: Case,
    count: int,
    setup: AgentSetup,
    *,
    question: Question = NO_HINTS,
    watch: Callable[[int], Watch] = lambda _number: UNWATCHED,
    done: Callable[[Try], None] = lambda _try: None,
) -> list[Try]:
    """Make so many tries at once, in their order.

    All of them look at the same opened photo; the first views are made and packed once. Each has an album, a
    candidate pool, a budget and a seed of its own, and sees nothing of the others.

    Args:
        case: with the photos' first views in its album; it is copied for each try.
        count: how many.
        setup: who works and how; the budget is each try's, and for its sampling see `try_sampling`.
        question: what is asked and known beside the photos.
        watch: gives who follows a try; called once for each before it begins.
        done: called with each try as it ends, in the order in which they end.
    """
    drawn = setup.sampling or setup.method.sampling

    async def one(number: int, follow: Watch) -> Try:
        events: list[Event] = []
        try:
            found = await run(
                replace(case, album=case.album.copy()),
                replace(setup, sampling=try_sampling(drawn, number)),
                question=question,
                store=follow.store,
                sinks=(events.append, *follow.sinks),
            )
            made = Try(number, found)
        except Exception as error:  # noqa: BLE001  (one try's trouble is not the others')
            made = Try(number, _until_then(events, follow.store), error)
        done(made)
        return made

    follows = [watch(number) for number in range(1, count + 1)]
    tasks = [asyncio.create_task(one(number, follow)) for number, follow in enumerate(follows, 1)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _until_then(events: Sequence[Event], store: TrajectoryWriter | None) -> Trajectory | None:
    """What happened before a try broke; the loop has closed it by then."""
    if not events:
        return None
    return Trajectory(tuple(events), *((store.id, store.created) if store else (new_id(), now())))
