"""Thought, action, observation, until an answer or the end of the budget.

The rules, in one place (`turns` carries them out):

- A step without calls is meant as the answer. Words beside calls are not read as one, unless calls are over for this
  run: then they count.
- A reply that can't be read as an answer is answered with the method's reminder, twice at most in a row.
- Every call gets an observation. What is beyond the budget is not carried out, and neither is the very same call made
  again: it is answered from memory, and after three turns of nothing but such calls the policy must answer at once.
  Of a reply with more than a hundred calls the first hundred are taken in.
- Before the last turn, and when the calls are spent, the policy is told to answer now and may call no more.
- Where the setup wants it, what the answer's form leaves out is filled in (`completion`): a point for a place that is
  only named, odds by one more question.
- However a run ends, it closes with an answer and its end: the policy's answer, the best candidate of the pool, or
  an empty one. No point is made up. A model that fails is such an end; what else breaks is raised after it, and a run
  that is called off closes the same way.

All that tools say goes into observations and nowhere else: tools, budget and prompts come from the caller alone.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable

from geosleuth.models import Prompt
from geosleuth.support.errors import BadInput
from geosleuth.tools import Case, image_info

from .events import Event, Prompted, Resumed, Started
from .setup import NO_HINTS, AgentSetup, PhotoQuestion
from .trajectory import Trajectory, TrajectoryWriter, new_id, now
from .turns import RunSegment, Sink


async def run(
    case: Case,
    setup: AgentSetup,
    *,
    question: PhotoQuestion = NO_HINTS,
    store: TrajectoryWriter | None = None,
    sinks: Iterable[Sink] = (),
) -> Trajectory:
    """Find out where the photos of a case were taken.

    Args:
        case: what tools work on; the pictures in its album are the task's.
        setup: who works and how.
        question: what is asked and known beside the photos.
        store: the file that keeps the trajectory and gives it its id; it is not closed here.
        sinks: who else gets the events as they happen.

    Raises:
        BadInput: there is no photo, or the file can't be written.
        UserError: a policy or a tool can't work as it is set up.
    """
    method, policy, toolset = setup.method, setup.policy, setup.toolset
    images = tuple(image_info(case, case.album[handle]) for handle in case.album.handles)
    if not images:
        raise BadInput("there is no photo to look at; add one to the case's album")
    task = question.task(images)
    started = Started(
        task,
        method.name,
        policy.name,
        toolset.names,
        setup.budget or method.budget,
        method.system(task, toolset.names),
        setup.wire or method.wire,
        setup.sampling or method.sampling,
        setup.completes,
        method.prompts_sha256,
        toolset.missing,
    )
    prompt = Prompt(method.prompt(task, toolset.names), tuple(image.handle for image in images))
    work = RunSegment(
        (started, Prompted(prompt)),
        method=method,
        policy=policy,
        toolset=toolset,
        case=case,
        sinks=_with_store(store, sinks),
    )
    return await work.through(*((store.id, store.created) if store else (new_id(), now())))


async def resume(
    trajectory: Trajectory,
    feedback: Prompt,
    *,
    case: Case,
    setup: AgentSetup,
    store: TrajectoryWriter | None = None,
    sinks: Iterable[Sink] = (),
    missing: Collection[str] = (),
    rejected: tuple[str, ...] = (),
) -> Trajectory:
    """Go on from an ended run with a person's words; sinks and the file get the new events only.

    A run that broke off can be taken up too: calls that were under way are closed as such.

    Args:
        trajectory: what happened so far.
        feedback: what the person says.
        case: with an album that has all the trajectory's pictures, see `rebuild_album`.
        setup: who works from now on, the same as before or another. Its budget is for what is still to come; budget
            and sampling are those it began with if left out. The wire stays.
        store: its file, see `TrajectoryWriter.resuming`.
        sinks: who else gets the events as they happen.
        missing: handles whose pixels are gone.
        rejected: clues and texts that the person has ruled out; what rests on them is no evidence from now on.

    Raises:
        BadInput: the album does not fit the trajectory, or the file can't be written.
        UserError: a policy or a tool can't work as it is set up.
    """
    known = set(case.album.handles)
    if absent := [image.handle for image in trajectory.images if image.handle not in known]:
        raise BadInput(f"the album lacks {', '.join(absent[:5])} of this trajectory; rebuild it from the same photos")
    began = trajectory.started
    policy, toolset = setup.policy, setup.toolset
    work = RunSegment(
        (
            Resumed(
                policy.name,
                toolset.names,
                setup.budget or began.budget,
                setup.sampling or began.sampling,
                rejected,
            ),
            Prompted(feedback, "person"),
        ),
        trajectory.events,
        method=setup.method,
        policy=policy,
        toolset=toolset,
        case=case,
        sinks=_with_store(store, sinks),
        missing=missing,
    )
    return await work.through(trajectory.id, trajectory.created)


async def stream(work: Callable[[Sink], Awaitable[Trajectory]]) -> AsyncGenerator[Event, None]:
    """The events of a run while it goes on.

        async for event in stream(lambda sink: run(case, setup, sinks=[sink])):
            ...

    The run does not wait for its consumer. A consumer that leaves calls the run off; it still closes its trajectory.
    What the run raises comes out here after its last event.
    """
    waiting: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(waiting.put_nowait))
    task.add_done_callback(lambda _: waiting.put_nowait(None))
    try:
        while (event := await waiting.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _with_store(store: TrajectoryWriter | None, sinks: Iterable[Sink]) -> list[Sink]:
    return [*([store.write] if store else []), *sinks]
