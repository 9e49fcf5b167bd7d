"""Several independent tries at one photo at once; one that fails costs only itself."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from geosleuth.agent import Budget, Event, Method, Sink, Trajectory, TrajectoryWriter, run
from geosleuth.agent.methods.papers import TWM_PARALLEL
from geosleuth.agent.trajectory import new_id, now
from geosleuth.policies import Policy, Sampling, Wire
from geosleuth.tools import Case, Toolset

from .items import answered


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


@dataclass(frozen=True, slots=True)
class Watch:
    """Who follows a try: a file that keeps it, and sinks."""

    store: TrajectoryWriter | None = None
    sinks: tuple[Sink, ...] = ()


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
    *,
    policy: Policy,
    method: Method,
    toolset: Toolset,
    views: tuple[str, ...] = (),
    hint: str | None = None,
    area: str | None = None,
    force_answer: bool = False,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    wire: Wire | None = None,
    watch: Callable[[int], Watch] = lambda _number: Watch(),
    done: Callable[[Try], None] = lambda _try: None,
) -> list[Try]:
    """Make so many tries at once, in their order.

    All of them look at the same opened photo; the first views are made and packed once. Each has an album, a
    candidate pool, a budget and a seed of its own, and sees nothing of the others.

    Args:
        case: with the photos' first views in its album; it is copied for each try.
        count: how many.
        policy: who thinks; it is not closed here.
        method: how to go about it.
        toolset: the tools that are switched on.
        views: what is known about the pictures themselves.
        hint: the user's words about the photo.
        area: where the place lies, as far as the user knows.
        force_answer: a best guess is wanted in any case.
        budget: of each try, in place of the method's own.
        sampling: in place of the method's own; see `try_sampling`.
        wire: in place of the method's own.
        watch: gives who follows a try; called once for each before it begins.
        done: called with each try as it ends, in the order in which they end.
    """
    drawn = sampling or method.sampling

    async def one(number: int, follow: Watch) -> Try:
        events: list[Event] = []
        try:
            found = await run(
                replace(case, album=case.album.copy()),
                method=method,
                policy=policy,
                toolset=toolset,
                hint=hint,
                area=area,
                views=views,
                force_answer=force_answer,
                budget=budget,
                sampling=try_sampling(drawn, number),
                wire=wire,
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
