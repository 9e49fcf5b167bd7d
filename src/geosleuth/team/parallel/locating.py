"""From opened photos to a finding by several tries and a verifier."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from geosleuth.agent import Budget, Method, Sink, Trajectory, TrajectoryWriter, run
from geosleuth.agent.locating import Finding, open_case
from geosleuth.atlas import Atlas
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Policy, Sampling, Wire
from geosleuth.tools import ImageSearch, Toolset, WebSearch

from .chains import Chains
from .embedded import EmbeddedVerifier, embedded_method
from .sampling import Try, Watch, draw_tries
from .verifying import verifier_method

if TYPE_CHECKING:
    from geosleuth.clues.visual import VisualPrior


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
    from geosleuth.tools.catalogue import all_tools

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
