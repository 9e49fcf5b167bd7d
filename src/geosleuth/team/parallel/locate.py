"""From opened photos to a finding by several independent tries and a verifier; a try that fails costs only itself."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from geosleuth.agent import Budget, Event, Method, Sink, Trajectory, TrajectoryWriter, run
from geosleuth.agent.locate import Finding, open_case
from geosleuth.agent.methods.papers import TWM_PARALLEL
from geosleuth.agent.trajectory import new_id, now
from geosleuth.atlas import Atlas
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Policy, Sampling, Wire
from geosleuth.tools import Case, ImageSearch, Toolset, WebSearch

from .chains import Chains, answered
from .verifier import EmbeddedVerifier, embedded_method, verifier_method

if TYPE_CHECKING:
    from geosleuth.clues.visual import VisualPrior


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


async def locate_in_parallel(
    photos: Sequence[OpenedPhoto],
    *,
    count: int,
    policy: Policy,
    method: Method,
    toolset: Toolset,
    atlas: Atlas,
    verifier: Policy | None = None,
    verifier_toolset: Toolset | None = None,
    chains: Chains | None = None,
    web: WebSearch | None = None,
    similar: ImageSearch | None = None,
    visual: "VisualPrior | None" = None,
    hint: str | None = None,
    area: str | None = None,
    force_answer: bool = False,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    wire: Wire | None = None,
    store: Callable[[], TrajectoryWriter | None] = lambda: None,
    sinks: Iterable[Sink] = (),
    watch: Callable[[int], Watch] = lambda _number: Watch(),
    done: Callable[[Try], None] = lambda _try: None,
    instead: Callable[[Trajectory], None] = lambda _failed: None,
) -> Finding:
    """Find out where photos of one place were taken: several tries at once, then a verifier that decides.

    The finding's trajectory is the verifier's, and its team are the tries. A try that fails costs only itself; where
    all of them fail there is nothing to verify, and the trajectory is that of the first. A verifier that fails, or
    comes to no answer, is replaced by the one in code; its trajectory is in the finding's ``gave_way``.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        count: how many tries.
        policy: who makes the tries; it is not closed here.
        method: how the tries go about it.
        toolset: the tools of the tries.
        atlas: the world.
        verifier: the model that reads all tries; None holds their claims against the atlas in code.
        verifier_toolset: tools of a verifier that is a model, such as the atlas's; none if left out.
        chains: how tries are told to a verifier that is a model; see `geosleuth.team.parallel.chains.chains_for`.
        web: where web searches go; None is the atlas's own documents.
        similar: where similar pictures are looked for.
        visual: what the tool visual_prior asks.
        hint: the user's words about the photo.
        area: where the place lies, as far as the user knows.
        force_answer: a best guess is wanted in any case.
        budget: of each try and of the verifier, in place of the method's own.
        sampling: in place of the method's own; for what is left open in it see `try_sampling`.
        wire: in place of the method's own.
        store: makes the file that keeps the verifier's trajectory; called when the verifier begins.
        sinks: who else gets the verifier's events as they happen.
        watch: gives who follows a try.
        done: called with each try as it ends.
        instead: called with the trajectory of a verifier that failed, before the one in code begins.

    Raises:
        BadInput: there is no photo, or a file can't be written.
        UserError: a policy or a tool can't work as it is set up.
        Exception: what broke the first try, where every try failed and that one broke.
    """
    case, views = await asyncio.to_thread(open_case, photos, method, atlas, web=web, similar=similar, visual=visual)
    tries = await draw_tries(
        case,
        count,
        policy=policy,
        method=method,
        toolset=toolset,
        views=views,
        hint=hint,
        area=area,
        force_answer=force_answer,
        budget=budget,
        sampling=sampling,
        wire=wire,
        watch=watch,
        done=done,
    )
    claims = tuple(opened.claims for opened in photos)
    if not any(one.answered for one in tries):
        return Finding(_first(tries), claims, case.album, team=_told(tries))
    team = _told(tries)

    async def verify(who: Policy, how: Method, tools: Toolset) -> Trajectory:
        return await run(
            replace(case, album=case.album.copy()),
            method=how,
            policy=who,
            toolset=tools,
            hint=hint,
            area=area,
            views=views,
            force_answer=force_answer,
            budget=how.budget,
            sampling=sampling or method.sampling,
            wire=wire or method.wire,
            store=store(),
            sinks=sinks,
        )

    failed: tuple[Trajectory, ...] = ()
    if verifier is not None:
        how = verifier_method(method, team, chains=chains, budget=budget)
        found = await verify(verifier, how, verifier_toolset or Toolset([]))
        if found.answered is not None and found.answered.by == "policy":
            return Finding(found, claims, case.album, team=team)
        instead(found)
        failed = (found,)
    from geosleuth.tools.toolset import all_tools

    how = embedded_method(len(team))
    found = await verify(EmbeddedVerifier(team), how, how.toolset(all_tools()))
    return Finding(found, claims, case.album, team=team, gave_way=failed)


def _first(tries: Sequence[Try]) -> Trajectory:
    first = tries[0]
    if first.error is not None:
        raise first.error
    if first.trajectory is None:
        raise RuntimeError("a try without an error has a trajectory")
    return first.trajectory


def _told(tries: Sequence[Try]) -> tuple[Trajectory, ...]:
    """The tries as far as they came; one that never began has nothing to tell."""
    return tuple(one.trajectory for one in tries if one.trajectory is not None)
