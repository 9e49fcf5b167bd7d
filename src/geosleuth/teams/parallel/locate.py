"""From opened photos to a finding by several independent tries and a verifier; a try that fails costs only itself."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from geosleuth.agent import Event, Method, Sink, Trajectory, TrajectoryWriter, run
from geosleuth.agent.locate import Finding, open_case
from geosleuth.agent.methods.papers import TWM_PARALLEL, VERIFIER_TEMPERATURE
from geosleuth.agent.setup import NO_HINTS, UNWATCHED, AgentSetup, PhotoQuestion, Resources, Watch
from geosleuth.agent.trajectory import new_id, now
from geosleuth.models import Policy, Sampling
from geosleuth.photo import Album, OpenedPhoto
from geosleuth.tools import Case, Toolset

from .chains import Chains, has_answer
from .verifier import EmbeddedVerifier, build_embedded_method, verifier_method


@dataclass(frozen=True, slots=True)
class Try:
    """Result of a try, and its pictures.

    ``error`` is what broke it, and there is no trajectory where it never began.
    """

    number: int
    trajectory: Trajectory | None
    error: Exception | None = None
    album: Album | None = field(default=None, repr=False, compare=False)

    @property
    def has_answer(self) -> bool:
        """Return whether the try has an answer of its own."""
        return self.error is None and self.trajectory is not None and has_answer(self.trajectory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Verification settings of tries.

    Attributes:
        verifier: the model that reads all tries; None holds their claims against the atlas in code.
        toolset: tools of a verifier that is a model, such as the atlas's; none if left out.
        chains: how tries are told to a verifier that is a model; see `geosleuth.teams.parallel.chains.build_chains`.
    """

    verifier: Policy | None = None
    toolset: Toolset | None = None
    chains: Chains | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Followers:
    """Listeners of tries and their verifier.

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


def try_sampling(sampling: Sampling, number: int) -> Sampling:
    """Return the sampling of a try: as set, else as in Thinking with Map, each with its own seed.

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
    question: PhotoQuestion = NO_HINTS,
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
        album = case.album.copy()
        try:
            found = await run(
                replace(case, album=album),
                replace(setup, sampling=try_sampling(drawn, number)),
                question=question,
                store=follow.store,
                sinks=(events.append, *follow.sinks),
            )
            made = Try(number, found, album=album)
        except ImportError:  # a library is missing: that is so for all tries
            raise
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
    """Return the trajectory up to the point where a try broke; the loop has closed it by then."""
    if not events:
        return None
    return Trajectory(tuple(events), *((store.id, store.created) if store else (new_id(), now())))


async def locate_in_parallel(
    photos: Sequence[OpenedPhoto],
    setup: AgentSetup,
    resources: Resources,
    *,
    count: int,
    question: PhotoQuestion = NO_HINTS,
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
    # The verifier that reads the tries says how likely each is, and looks up what they only name.
    alone = replace(setup, completes=False)
    tries = await draw_tries(case, count, alone, question=asked, watch=followers.watch, done=followers.done)
    claims = tuple(opened.claims for opened in photos)
    if not any(attempt.has_answer for attempt in tries):
        return Finding(_first(tries), claims, case.album, team=_list_trajectories(tries))
    team = _list_trajectories(tries)

    async def verify(who: Policy, how: Method, tools: Toolset) -> Trajectory:
        drawn = setup.sampling or setup.method.sampling
        judge = replace(
            setup,
            method=how,
            policy=who,
            toolset=tools,
            budget=how.budget,
            sampling=replace(drawn, temperature=VERIFIER_TEMPERATURE, top_p=None, top_k=None),
            wire=setup.wire or setup.method.wire,
        )
        alone = replace(case, album=case.album.copy())
        return await run(alone, judge, question=asked, store=followers.store(), sinks=followers.sinks)

    failed: tuple[Trajectory, ...] = ()
    if verification.verifier is not None:
        how = verifier_method(setup.method, team, chains=verification.chains, budget=setup.budget)
        found = await verify(verification.verifier, how, verification.toolset or Toolset([]))
        if found.answered is not None and found.answered.by == "policy":
            return _with_pictures(Finding(found, claims, case.album, team=team), tries)
        followers.instead(found)
        failed = (found,)
    from geosleuth.tools.toolset import all_tools

    how = build_embedded_method(len(team))
    found = await verify(EmbeddedVerifier(team), how, how.toolset(all_tools()))
    return _with_pictures(Finding(found, claims, case.album, team=team, gave_way=failed), tries)


def _with_pictures(finding: Finding, tries: Sequence[Try]) -> Finding:
    """The finding with the pictures of the try that was picked: its cuts are the evidence."""
    picked = finding.best_attempt
    album = next((attempt.album for attempt in tries if picked is not None and attempt.trajectory is picked), None)
    return replace(finding, album=album or finding.album)


def _first(tries: Sequence[Try]) -> Trajectory:
    first = tries[0]
    if first.error is not None:
        raise first.error
    if first.trajectory is None:
        raise RuntimeError("a try without an error has a trajectory")
    return first.trajectory


def _list_trajectories(tries: Sequence[Try]) -> tuple[Trajectory, ...]:
    """The tries as far as they came; one that never began has nothing to tell."""
    return tuple(attempt.trajectory for attempt in tries if attempt.trajectory is not None)
