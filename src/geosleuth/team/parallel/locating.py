"""From opened photos to a finding by several tries and a verifier."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from geosleuth.agent import Method, Sink, Trajectory, TrajectoryWriter, run
from geosleuth.agent.locating import Finding, open_case
from geosleuth.agent.setup import NO_HINTS, AgentSetup, Question, Resources
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Policy
from geosleuth.tools import Toolset

from .chains import Chains
from .embedded import EmbeddedVerifier, embedded_method
from .sampling import Try, Watch, draw_tries
from .verifying import verifier_method


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How tries are verified.

    Attributes:
        verifier: the model that reads all tries; None holds their claims against the atlas in code.
        toolset: tools of a verifier that is a model, such as the atlas's; none if left out.
        chains: how tries are told to a verifier that is a model; see `geosleuth.team.parallel.chains.chains_for`.
    """

    verifier: Policy | None = None
    toolset: Toolset | None = None
    chains: Chains | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Followers:
    """Who follows tries and their verifier.

    Attributes:
        store: makes the file that keeps the verifier's trajectory; called when the verifier begins.
        sinks: who else gets the verifier's events as they happen.
        watch: gives who follows a try.
        done: called with each try as it ends.
        instead: called with the trajectory of a verifier that failed, before the one in code begins.
    """

    store: Callable[[], TrajectoryWriter | None] = lambda: None
    sinks: Iterable[Sink] = ()
    watch: Callable[[int], Watch] = lambda _number: Watch()
    done: Callable[[Try], None] = lambda _try: None
    instead: Callable[[Trajectory], None] = lambda _failed: None


IN_CODE = Verification()
NOBODY = Followers()


async def locate_in_parallel(
    photos: Sequence[OpenedPhoto],
    setup: AgentSetup,
    resources: Resources,
    *,
    count: int,
    question: Question = NO_HINTS,
    verification: Verification = IN_CODE,
    followers: Followers = NOBODY,
) -> Finding:
    """Find out where photos of one place were taken: several tries at once, then a verifier that decides.

    The finding's trajectory is the verifier's, and its team are the tries. A try that fails costs only itself; where
    all of them fail there is nothing to verify, and the trajectory is that of the first. A verifier that fails, or
    comes to no answer, is replaced by the one in code; its trajectory is in the finding's ``gave_way``.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        setup: who makes the tries and how; the budget is each try's and the verifier's. For what its sampling leaves
            open see `try_sampling`.
        resources: what tools may ask.
        count: how many tries.
        question: what is asked and known beside the photos; what is known about views is found out here.
        verification: who decides, and from what.
        followers: who follows.

    Raises:
        BadInput: there is no photo, or a file can't be written.
        UserError: a policy or a tool can't work as it is set up.
        Exception: what broke the first try, where every try failed and that one broke.
    """
    case, views = await asyncio.to_thread(open_case, photos, setup.method, resources)
    asked = replace(question, views=views)
    tries = await draw_tries(case, count, setup, question=asked, watch=followers.watch, done=followers.done)
    claims = tuple(opened.claims for opened in photos)
    if not any(one.answered for one in tries):
        return Finding(_first(tries), claims, case.album, team=_told(tries))
    team = _told(tries)

    async def verify(who: Policy, how: Method, tools: Toolset) -> Trajectory:
        judge = replace(
            setup,
            method=how,
            policy=who,
            toolset=tools,
            budget=how.budget,
            sampling=setup.sampling or setup.method.sampling,
            wire=setup.wire or setup.method.wire,
        )
        alone = replace(case, album=case.album.copy())
        return await run(alone, judge, question=asked, store=followers.store(), sinks=followers.sinks)

    failed: tuple[Trajectory, ...] = ()
    if verification.verifier is not None:
        how = verifier_method(setup.method, team, chains=verification.chains, budget=setup.budget)
        found = await verify(verification.verifier, how, verification.toolset or Toolset([]))
        if found.answered is not None and found.answered.by == "policy":
            return Finding(found, claims, case.album, team=team)
        followers.instead(found)
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
