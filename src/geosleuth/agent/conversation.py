"""From events to what a policy gets to see, as its method's context policy wants it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from geosleuth.photo import View
from geosleuth.policies import Conversation, Message, Observed, Prompt, Step
from geosleuth.tools import ImageInfo, Observation, Tool, ToolCall

from .events import Event, Prompted, Resumed, Said, Started, ToolObserved
from .method import CHARACTERS_PER_TOKEN, Context

PIXELS_PER_TOKEN = 750
"""And pictures: models take one token for 600 to 1,100 pixels."""

REPLY_CHARACTERS = 200_000
"""A policy's own replies are shown to it up to this length; as much of a reply is looked at for an answer."""

_MARK_CHARACTERS = 50

Cuts = dict[int, Observation | Step]
"""What was cut to length, by the index of its event."""


def conversation_of(
    events: Sequence[Event],
    *,
    context: Context,
    tools: Iterable[Tool],
    picture: Callable[[str], View],
    may_call: bool = True,
    wants_guess: bool = False,
    missing: Collection[str] = (),
    cuts: Cuts | None = None,
) -> Conversation:
    """What the policy sees next.

    Args:
        events: all that happened; the first is the start.
        context: what of it is shown.
        tools: those that may be called.
        picture: gives the pixels of a handle.
        may_call: whether the reply may call tools.
        wants_guess: whether the method wants a best guess in any case, as a task may, too.
        missing: handles whose pixels are gone; they are named and not shown.
        cuts: for whoever asks turn by turn with the same context: keeps what was cut to length, so that it is cut once.
    """
    started = events[0].body
    if not isinstance(started, Started):
        raise TypeError("the first event must be the start")
    sampling = started.sampling
    for event in reversed(events):
        if isinstance(event.body, Resumed):
            sampling = event.body.sampling
            break
    shown = _freshest(events, context.replies) if context.kind == "freshest" else events
    most_images = None if context.kind == "whole" else context.images
    visible = _visible_images(
        shown, most_images, missing, max((image.photo for image in started.task.images), default=0)
    )
    messages = _messages(shown, context.longest_result, visible, {} if cuts is None else cuts)
    if context.tokens is not None:
        room = context.tokens * CHARACTERS_PER_TOKEN - len(started.system)
        messages = _made_to_fit(messages, room, events)
    return Conversation(
        system=started.system,
        messages=tuple(messages),
        tools=tuple(tools),
        picture=picture,
        wire=started.wire,
        sampling=sampling,
        may_call=may_call,
        wants_guess=wants_guess or started.task.force_answer,
        said_by_people=tuple(
            event.body.prompt.text for event in events if isinstance(event.body, Prompted) and event.body.by == "person"
        ),
    )


def cut(text: str, characters: int) -> str:
    """The beginning of a text, the cut marked; with the mark it is no longer than allowed."""
    if len(text) <= characters:
        return text
    kept = text[: max(0, characters - _MARK_CHARACTERS)]
    return f"{kept}\n[… {len(text) - len(kept):,} characters left out …]"


def _freshest(events: Sequence[Event], replies: int) -> list[Event]:
    """The words of the task and of people, then everything from the newest replies on."""
    said = [index for index, event in enumerate(events) if isinstance(event.body, Said)]
    first = said[-replies] if replies and len(said) > replies else 0 if replies else len(events)
    before = (event for event in events[:first] if isinstance(event.body, Prompted) and event.body.by != "loop")
    return [*before, *events[first:]]


def _visible_images(events: Sequence[Event], most: int | None, missing: Collection[str], photos: int) -> frozenset[str]:
    """The handles of results that are shown: the newest so many; maps, which can be drawn again, give way to cuts.

    ``photos`` is how many the task has; pictures with higher numbers are drawn.
    """
    found: list[ImageInfo] = []
    for event in reversed(events):
        if most is not None and sum(image.photo <= photos for image in found) >= most:
            break
        if isinstance(event.body, ToolObserved):
            images = event.body.observation.images
            found.extend(image for image in reversed(images) if image.handle not in missing)
    kept = [*found[:1], *sorted(found[1:], key=lambda image: image.photo > photos)]
    return frozenset(image.handle for image in kept[:most])


def _messages(events: Sequence[Event], limit: int | None, visible: frozenset[str], cuts: Cuts) -> list[Message]:
    messages: list[Message] = []
    waiting: list[Observation] = []
    for event in events:
        body = event.body
        if isinstance(body, ToolObserved):
            shown = cuts.get(event.index)
            if not isinstance(shown, Observation):
                shown = cuts[event.index] = _short(body.observation, limit)
            waiting.append(_with_images(shown, visible) if shown.images else shown)
        elif isinstance(body, Said | Prompted):
            if waiting:
                messages.append(Observed(tuple(waiting)))
                waiting = []
            if isinstance(body, Prompted):
                messages.append(body.prompt)
            elif body.step.text or body.step.thinking or body.step.calls:
                said = cuts.get(event.index)
                if not isinstance(said, Step):
                    said = cuts[event.index] = _own_words(body.step)
                messages.append(said)
    if waiting:
        messages.append(Observed(tuple(waiting)))
    return messages


def _made_to_fit(messages: list[Message], room: int, events: Sequence[Event]) -> list[Message]:
    """The messages with the results of the oldest turns left out, as many as must be; the newest results stay."""
    pixels = {image.handle: image.size[0] * image.size[1] for image in _all_images(events)}
    over = sum(_characters(message, pixels) for message in messages) - room
    last = max((index for index, message in enumerate(messages) if isinstance(message, Observed)), default=0)
    fitting = list(messages)
    for index, message in enumerate(messages[:last]):
        if over <= 0:
            break
        if isinstance(message, Observed):
            fitting[index] = Observed(tuple(_left_out(one) for one in message.observations))
            over -= _characters(message, pixels) - _characters(fitting[index], pixels)
    return fitting


def _left_out(observation: Observation) -> Observation:
    named = f"; not shown: {', '.join(image.handle for image in observation.images)}" if observation.images else ""
    mark = f"[… {len(observation.text):,} characters left out{named} …]"
    text = mark if len(mark) < len(observation.text) or observation.images else observation.text
    return replace(observation, text=text, data=None, images=())


def _characters(message: Message, pixels: Mapping[str, int]) -> int:
    """The length of a message in characters, its pictures as the text that would cost as much."""
    match message:
        case Prompt(text=text, images=handles):
            return len(text) + _picture_characters(handles, pixels)
        case Step(text=text, thinking=thinking, calls=calls):
            return len(text) + len(thinking) + sum(len(str(call.arguments)) for call in calls)
        case Observed(observations=observations):
            handles = tuple(image.handle for one in observations for image in one.images)
            return sum(len(one.text) for one in observations) + _picture_characters(handles, pixels)


def _picture_characters(handles: Iterable[str], pixels: Mapping[str, int]) -> int:
    return sum(pixels.get(handle, 0) for handle in handles) * CHARACTERS_PER_TOKEN // PIXELS_PER_TOKEN


def _all_images(events: Sequence[Event]) -> Iterator[ImageInfo]:
    for event in events:
        if isinstance(event.body, Started):
            yield from event.body.task.images
        elif isinstance(event.body, ToolObserved):
            yield from event.body.observation.images


def _own_words(step: Step) -> Step:
    if len(step.text) + len(step.thinking) <= REPLY_CHARACTERS and not any(map(_too_long, step.calls)):
        return step
    calls = tuple(
        replace(one, arguments=cut(str(one.arguments), 2_000)) if _too_long(one) else one for one in step.calls
    )
    text, thinking = (cut(words, REPLY_CHARACTERS // 2) for words in (step.text, step.thinking))
    return replace(step, text=text, thinking=thinking, calls=calls)


def _too_long(call: ToolCall) -> bool:
    if isinstance(call.arguments, str):
        return len(call.arguments) > REPLY_CHARACTERS // 10
    return any(isinstance(value, str) and len(value) > REPLY_CHARACTERS // 10 for value in call.arguments.values())


def _short(observation: Observation, limit: int | None) -> Observation:
    if limit is None or len(observation.text) <= limit:
        return observation
    return replace(observation, text=cut(observation.text, limit))


def _with_images(observation: Observation, visible: frozenset[str]) -> Observation:
    hidden = [image.handle for image in observation.images if image.handle not in visible]
    if not hidden:
        return observation
    text = f"{observation.text}\n[not shown here any more: {', '.join(hidden)}]"
    return replace(observation, text=text, images=tuple(i for i in observation.images if i.handle in visible))
