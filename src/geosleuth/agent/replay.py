"""A recorded run, gone through once more by the same loop, and its album made again from photos and trajectory.

Nothing is taken over from the recording but what came from outside: the steps of the policy, the results of the tools,
and how it broke off, if it did. All else the loop works out anew, so that equal events mean an equal loop.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from geosleuth.answer import Answer
from geosleuth.models import Conversation, Step
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import Album, Photo
from geosleuth.photo.views import FIRST_VIEW_PIXELS, render
from geosleuth.support.errors import BadInput, ServiceFault, UserError
from geosleuth.tools import CALL_SECONDS, Case, ImageInfo, Observation, Output, Tool, ToolCall, Toolset

from .codec import event_to_dict
from .completion import Completed
from .events import Answered, Ended, Event, Prompted, Resumed, Said, Started, ToolObserved
from .method import Method
from .trajectory import Trajectory, new_id, now
from .turns import BROKE_OFF, RunSegment, Sink, TimeUp

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

_NEVER_RUN = ("over_budget", "repeated")

_GREY = (128, 128, 128)


class RecordedBreak(UserError):
    """Break of a recorded run, raised again in its replay."""


class RecordingEnds(BaseException):
    """The recording stops in the middle, as one does whose process was killed; so nothing closes the replay."""


class RecordedToolset(Toolset):
    """Tools that answer each call with what the recording says came of it, in order; nothing is carried out."""

    def __init__(self, tools: Iterable[str], events: Sequence[Event]) -> None:
        """Take the results out of the events.

        Args:
            tools: the names of the tools that were switched on.
            events: the recorded stretch.
        """
        observed = [event.body.observation for event in events if isinstance(event.body, ToolObserved)]
        own = {item.call_id: item.name for item in observed}
        called = [call for event in events if isinstance(event.body, Said) for call in event.body.step.calls]
        aliases: dict[str, set[str]] = {name: set() for name in tools}
        for call in called:
            name = own.get(call.id, call.name)
            if name in aliases and call.name != name and call.name not in aliases:
                aliases[name].add(call.name)
        super().__init__(Tool(name, "", (), _nothing, tuple(sorted(more))) for name, more in aliases.items())
        self._waiting = {item.call_id: item for item in observed if item.failure not in _NEVER_RUN}
        self._end = _find_end(events)
        self.broke = False

    async def run(
        self,
        calls: Sequence[ToolCall],
        case: Case,  # noqa: ARG002
        *,
        seconds: float = CALL_SECONDS,  # noqa: ARG002
        most_images: int | None = None,  # noqa: ARG002
    ) -> tuple[Observation, ...]:
        """The recorded outcomes.

        Raises:
            BadInput: the recording holds none for a call.
        """
        found = []
        for call in calls:
            observation = self._waiting.pop(call.id, None)
            if observation is None and self._end is None:
                raise RecordingEnds
            if observation is None:
                raise BadInput(f"the recording holds no outcome of the call {call.id[:40]!r} of {call.name[:40]}")
            if observation.text == BROKE_OFF:
                self.broke = True
                _break_as(self._end)
            found.append(observation)
        return tuple(found)


async def replay(
    trajectory: Trajectory,
    *,
    method: Method,
    toolset: Toolset | None = None,
    case: Case | None = None,
    sinks: Iterable[Sink] = (),
) -> Trajectory:
    """Go through a trajectory again with the steps that were recorded.

    Args:
        trajectory: the recording, resumed or not, ended or broken off.
        method: the one it was made with.
        toolset: live tools to call; left out, the recorded results are used, and neither photo nor atlas is needed.
        case: what live tools work on, with the task's photos in its album.
        sinks: who gets the events as they happen.

    Returns:
        The new trajectory; how a recorded run broke is an end like any other here, and nothing is raised for it.

    Raises:
        BadInput: the method is another one, or live tools have no case.
    """
    if method.name != trajectory.started.method:
        raise BadInput(f"this run was made with the method {trajectory.started.method}, not {method.name}")
    if toolset is not None and case is None:
        raise BadInput("live tools need a case with the photos of the run")
    # Recorded results ask neither for photos nor for an atlas.
    stage = case or Case(Album(), cast("Atlas", None))
    told: list[Event] = []
    done: tuple[Event, ...] = ()
    for stretch in _stretches(trajectory.events):
        opening = _opening(stretch)
        tools = toolset or RecordedToolset(opening[0].tools, stretch)
        policy = _Recorded(opening[0].policy, stretch)
        work = _ReplayedWork(
            opening,
            done,
            method=method,
            policy=policy,
            toolset=tools,
            case=stage,
            sinks=[told.append, *sinks],
        )
        try:
            await work.through(trajectory.id, trajectory.created)
        except asyncio.CancelledError:
            if not policy.broke and not (isinstance(tools, RecordedToolset) and tools.broke):
                raise
        except (RecordedBreak, RecordingEnds):
            pass
        done = tuple(told)
    return Trajectory(done, new_id(), now())


def same_events(first: Trajectory | Sequence[Event], second: Trajectory | Sequence[Event]) -> bool:
    """Return whether two runs have the same events; times and durations are not compared."""
    return first_difference(first, second) is None


def first_difference(first: Trajectory | Sequence[Event], second: Trajectory | Sequence[Event]) -> str | None:
    """Return the first difference of two runs in a line; None where they are the same."""
    ones, others = (_timeless(run.events if isinstance(run, Trajectory) else run) for run in (first, second))
    for index, (item, other) in enumerate(zip(ones, others, strict=False)):
        if item != other:
            keys = sorted(key for key in item.keys() | other.keys() if item.get(key) != other.get(key))
            return f"event {index} ({item['kind']}, {other['kind']}) differs in: {', '.join(keys)}"
    if len(ones) != len(others):
        return f"one has {len(ones)} events, the other {len(others)}"
    return None


def _timeless(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [event_to_dict(replace(event, at_s=0.0, body=without_durations(event.body))) for event in events]


def without_durations(body: Any) -> Any:
    """Return an event's body with measured times at zero, and without the list of services."""
    match body:
        case Said(step=step):
            return replace(body, step=replace(step, usage=replace(step.usage, seconds=0.0)))
        case ToolObserved(observation=observation):
            return replace(body, observation=replace(observation, seconds=0.0, services=()))
        case Ended(spent=spent):
            usage = replace(spent.usage, seconds=0.0)
            return replace(body, spent=replace(spent, seconds=0.0, usage=usage, services=()))
        case Answered():
            return replace(body, services=())
        case _:
            return body


class _ReplayedWork(RunSegment):
    """A stretch whose map answers are the recorded ones: what a name was taken to mean came from outside."""

    async def _complete(self, answer: Answer) -> Completed:
        if not isinstance(self._policy, _Recorded) or (known := self._policy.answered) is None:
            return Completed(answer)
        if known.derived is not None:
            found = known.answer
            answer = replace(answer, point=found.point, radius_km=answer.radius_km or found.radius_km)
        return Completed(answer, known.derived, known.doubts)


class _Recorded:
    """Says the recorded steps, then breaks off as the recording did."""

    def __init__(self, name: str, events: Sequence[Event]) -> None:
        self.name = name
        self.hosts: frozenset[str] = frozenset()
        self.broke = False
        self._inner = ReplayPolicy([event.body.step for event in events if isinstance(event.body, Said)])
        self._end = _find_end(events)
        self.answered = next((event.body for event in reversed(events) if isinstance(event.body, Answered)), None)

    async def step(self, conversation: Conversation) -> Step:
        if self._inner.remaining:
            return await self._inner.step(conversation)
        self.broke = True
        return _break_as(self._end)

    async def aclose(self) -> None:
        """Nothing to let go of."""


def _break_as(end: Ended | None) -> Step:
    if end is None:
        raise RecordingEnds
    trouble = end.trouble or "the recording holds no more steps"
    if end.reason == "seconds":
        raise TimeUp
    if end.reason == "service":
        host, _, rest = trouble.partition(": ")
        raise ServiceFault(host, rest)
    if end.reason == "cancelled":
        raise asyncio.CancelledError
    raise RecordedBreak(trouble)


def _stretches(events: Sequence[Event]) -> list[Sequence[Event]]:
    """The events from each start or resumption to the next."""
    starts = [index for index, event in enumerate(events) if isinstance(event.body, Started | Resumed)]
    return [events[start:end] for start, end in zip(starts, [*starts[1:], len(events)], strict=True)]


def _opening(stretch: Sequence[Event]) -> tuple[Started | Resumed, Prompted]:
    beginning = stretch[0].body
    words = next((event.body for event in stretch if isinstance(event.body, Prompted)), None)
    if not isinstance(beginning, Started | Resumed) or words is None:
        raise BadInput("this run broke off before anything was asked")
    return beginning, words


def _find_end(events: Sequence[Event]) -> Ended | None:
    return next((event.body for event in reversed(events) if isinstance(event.body, Ended)), None)


async def _nothing(case: Case) -> Output:  # noqa: ARG001
    raise BadInput("a recorded tool can't be called")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """An album with every handle of a trajectory.

    ``missing`` are the handles of pictures that came from elsewhere, such as maps: their places are kept so that all
    handles stay the same, and their pixels are plain grey. They are not to be shown.
    """

    album: Album
    missing: frozenset[str]


def rebuild_album(trajectory: Trajectory, photos: Sequence[Photo], *, max_pixels: int = FIRST_VIEW_PIXELS) -> Rebuilt:
    """Cut every picture of a trajectory again, under its old handle.

    Args:
        trajectory: says which part of which photo each handle shows.
        photos: those the run began with, in the same order.
        max_pixels: what the run's album allowed, see `Method.first_view_pixels`.

    Raises:
        BadInput: these are not the photos of that run.
    """
    own = {image.photo for image in trajectory.task.images}
    if len(photos) != len(own):
        raise BadInput(f"this run began with {len(own)} photos, not {len(photos)}")
    if own != set(range(1, len(photos) + 1)):
        raise BadInput("this run does not count its photos from 1; give a trajectory as it was written")
    album = Album(max_pixels)
    by_number: dict[int, Photo] = {}
    missing: set[str] = set()
    lost: set[int] = set()
    made_by = {image.handle: seen for seen in trajectory.observations for image in seen.images}
    for image in trajectory.images:
        if image.photo not in by_number:
            found = photos[image.photo - 1] if image.photo in own else _recreate_cut(image, made_by, album, missing)
            photo = by_number[image.photo] = found or _build_placeholder(image)
            if found is None:
                lost.add(image.photo)
            view = album.add(photo)
        else:
            photo = by_number[image.photo]
            if not _is_inside(image.box_in_original, photo.size):
                raise _not_the_same(image)
            view = album.keep(render(photo, image.box_in_original, image.size))
        if (view.handle, view.size, view.box_in_original) != (image.handle, image.size, image.box_in_original):
            raise _not_the_same(image)
        if image.photo in lost:
            missing.add(image.handle)
    return Rebuilt(album, frozenset(missing))


def first_view_pixels(trajectory: Trajectory) -> int:
    """Return how many pixels the first views of a run had at most."""
    from .methods import find_method

    method = find_method(trajectory.started.method)
    return method.first_view_pixels if method else FIRST_VIEW_PIXELS


def _recreate_cut(
    image: ImageInfo, made_by: Mapping[str, Observation], album: Album, missing: Set[str]
) -> Photo | None:
    """A cut that was turned, or put beside another, made once more; None for what came from elsewhere."""
    from geosleuth.tools.image_tools import Cut, edit_photo

    data = made_by[image.handle].data
    cut = Cut.read(data) if isinstance(data, Mapping) else None
    if cut is None or not missing.isdisjoint((cut.image, cut.beside)):
        return None
    try:
        photo = edit_photo(album, cut)
    except BadInput:
        return None
    return photo if (0, 0, *photo.size) == image.box_in_original else None


def _build_placeholder(image: ImageInfo) -> Photo:
    from PIL import Image

    return Photo(Image.new("RGB", (image.box_in_original[2], image.box_in_original[3]), _GREY))


def _is_inside(box: tuple[int, int, int, int], size: tuple[int, int]) -> bool:
    left, top, right, bottom = box
    return 0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]


def _not_the_same(image: ImageInfo) -> BadInput:
    width, height = image.size
    return BadInput(
        f"{image.handle} of this run showed {width} x {height} pixels of photo {image.photo}; the photo given does not "
        "fit that: give the same photos in the same order"
    )
