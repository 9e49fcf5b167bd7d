"""From events to what a policy gets to see, as its method's context policy wants it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from geosleuth.models import Conversation, Message, Observed, Prompt, Step
from geosleuth.photo import View
from geosleuth.tools import Observation, Tool, ToolCall

from .events import Event, Prompted, Resumed, Said, Started, ToolObserved
from .method import CHARACTERS_PER_TOKEN, Context

# Image pixels per token, used to estimate the size of images: models use one token per 600 to 1,100 pixels.
PIXELS_PER_TOKEN = 750

# Maximum length of a policy's own replies as shown back to it, and as searched for an answer.
REPLY_CHARACTERS = 200_000

_MARK_CHARACTERS = 50
_KEPT_OF_ROOM = 0.75


def build_conversation(
    events: Sequence[Event],
    *,
    context: Context,
    tools: Iterable[Tool],
    picture: Callable[[str], View],
    may_call: bool = True,
    wants_guess: bool = False,
    missing: Collection[str] = (),
) -> Conversation:
    """Return what the policy sees next.

    Args:
        events: all that happened; the first is the start.
        context: what of it is shown.
        tools: those that may be called.
        picture: gives the pixels of a handle.
        may_call: whether the reply may call tools.
        wants_guess: whether the method wants a best guess in any case, as a task may, too.
        missing: handles whose pixels are gone; they are named and not shown.
    """
    started = _get_start(events)
    sampling = started.sampling
    for event in reversed(events):
        if isinstance(event.body, Resumed):
            sampling = event.body.sampling
            break
    return Conversation(
        system=started.system,
        messages=build_messages(events, context, missing),
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


def build_messages(events: Sequence[Event], context: Context, missing: Collection[str] = ()) -> tuple[Message, ...]:
    """The messages of the next request. This alone decides what is shown: in runs, in training and in counts.

    Each request shows what the one before showed, unchanged, and what came since: a server that keeps prompts reads
    only the new part. Where the room is full, the oldest that was shown makes way once for several turns to come, and
    the newest message names the pictures among it.
    """
    shown = _freshest(events, context.replies) if context.kind == "freshest" else events
    history = _History(_get_start(events), context, missing)
    for event in shown:
        history.add(event)
    history.ask()
    return tuple(history.messages)


def out_of_sight(events: Sequence[Event], context: Context, missing: Collection[str] = ()) -> frozenset[str]:
    """The handles of results that the policy is not shown any more: the calls that brought them may be made again."""
    seen = (event.body.observation for event in events if isinstance(event.body, ToolObserved))
    brought = {image.handle for item in seen for image in item.images}
    if not brought:
        return frozenset()
    return frozenset(brought.difference(_list_result_handles(build_messages(events, context, missing))))


def split_stretches(events: Sequence[Event], context: Context) -> Iterator[tuple[tuple[Message, ...], int]]:
    """The replies of a run, each after just what its policy was shown, as few conversations as that takes.

    One conversation goes as far as nothing is taken out of sight. With each comes how many of its first replies
    belong to those before it, and are history here.
    """
    stretch: tuple[Message, ...] = ()
    history = 0
    for index, event in enumerate(events):
        if not isinstance(event.body, Said) or not _says_something(event.body.step):
            continue
        asked = build_messages(events[:index], context)
        if asked[: len(stretch)] != stretch:
            yield stretch, history
            history = sum(isinstance(message, Step) for message in asked)
        stretch = (*asked, event.body.step)
    if stretch:
        yield stretch, history


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


class _History:
    def __init__(self, started: Started, context: Context, missing: Collection[str]) -> None:
        self.messages: list[Message] = []
        self._missing = missing
        self._longest = context.longest_result
        self._most_images = context.most_images
        self._room = None if context.tokens is None else context.tokens * CHARACTERS_PER_TOKEN - len(started.system)
        self._pixels = {image.handle: image.size[0] * image.size[1] for image in started.task.images}
        self._characters = 0
        self._waiting: list[Observation] = []
        # How many messages a request has shown, and those of them whose results are left out.
        self._asked = 0
        self._left_out = 0

    def add(self, event: Event) -> None:
        """Take in what happened next."""
        match event.body:
            case ToolObserved(observation=observation):
                self._pixels |= {image.handle: image.size[0] * image.size[1] for image in observation.images}
                self._waiting.append(_without(short(observation, self._longest), self._missing))
            case Prompted(prompt=prompt):
                self._observe()
                self._append(prompt)
            case Said(step=step):
                self.ask()
                if _says_something(step):
                    self._append(_own_words(step))
            case _:
                pass

    def ask(self) -> None:
        """All messages so far are shown now; the oldest make way for what is new, where there is no room for both."""
        self._observe()
        if self._asked < len(self.messages) and (named := [*self._drop_images(), *self._leave_out()]):
            line = f"[No longer shown, to make room: {', '.join(named)}. To see one again, repeat its call.]"
            self._put(-1, _with_line(self.messages[-1], line))
        self._asked = len(self.messages)

    def _observe(self) -> None:
        if self._waiting:
            self._append(Observed(tuple(self._waiting)))
            self._waiting = []

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        self._characters += self._length(message)

    def _put(self, index: int, message: Message) -> None:
        self._characters += self._length(message) - self._length(self.messages[index])
        self.messages[index] = message

    def _length(self, message: Message) -> int:
        return 0 if self._room is None else _characters(message, self._pixels)

    def _drop_images(self) -> list[str]:
        """Take the oldest pictures out; three quarters of the room are then free for the turns to come."""
        if (most := self._most_images) is None:
            return []
        old, new = (_list_result_handles(part) for part in (self.messages[: self._asked], self.messages[self._asked :]))
        if len(old) + len(new) <= most:
            return []
        dropped = old[: len(old) - max(0, min(most // 4, most - len(new)))]
        for index, message in enumerate(self.messages[: self._asked]):
            if isinstance(message, Observed) and not set(dropped).isdisjoint(_list_result_handles([message])):
                self._put(
                    index, Observed(tuple(_without(observation, dropped) for observation in message.observations))
                )
        return dropped

    def _leave_out(self) -> list[str]:
        """Leave out the results of the oldest turns, and a quarter of the room with them; the newest results stay."""
        if self._room is None or self._characters <= self._room:
            return []
        named: list[str] = []
        last = max((at for at, message in enumerate(self.messages) if isinstance(message, Observed)), default=0)
        for index in range(self._left_out, min(self._asked, last)):
            if self._characters <= self._room * _KEPT_OF_ROOM:
                break
            self._left_out = index + 1
            message = self.messages[index]
            if isinstance(message, Observed):
                named += _list_result_handles([message])
                self._put(index, Observed(tuple(map(_left_out, message.observations))))
        return named


def _get_start(events: Sequence[Event]) -> Started:
    started = events[0].body
    if not isinstance(started, Started):
        raise TypeError("the first event must be the start")
    return started


def _list_result_handles(messages: Iterable[Message]) -> list[str]:
    observed = (
        observation for message in messages if isinstance(message, Observed) for observation in message.observations
    )
    return [image.handle for item in observed for image in item.images]


def _with_line(message: Message, line: str) -> Message:
    match message:
        case Prompt(text=text):
            return replace(message, text=f"{text}\n{line}")
        case Observed(observations=(*before, last)):
            return Observed((*before, replace(last, text=f"{last.text}\n{line}")))
        case _:
            return message


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
            handles = tuple(image.handle for observation in observations for image in observation.images)
            return sum(len(observation.text) for observation in observations) + _picture_characters(handles, pixels)


def _picture_characters(handles: Iterable[str], pixels: Mapping[str, int]) -> int:
    return sum(pixels.get(handle, 0) for handle in handles) * CHARACTERS_PER_TOKEN // PIXELS_PER_TOKEN


def _says_something(step: Step) -> bool:
    return bool(step.text or step.thinking or step.calls)


def _own_words(step: Step) -> Step:
    if len(step.text) + len(step.thinking) <= REPLY_CHARACTERS and not any(map(_too_long, step.calls)):
        return step
    calls = tuple(
        replace(call, arguments=cut(str(call.arguments), 2_000)) if _too_long(call) else call for call in step.calls
    )
    text, thinking = (cut(words, REPLY_CHARACTERS // 2) for words in (step.text, step.thinking))
    return replace(step, text=text, thinking=thinking, calls=calls)


def _too_long(call: ToolCall) -> bool:
    if isinstance(call.arguments, str):
        return len(call.arguments) > REPLY_CHARACTERS // 10
    return any(isinstance(value, str) and len(value) > REPLY_CHARACTERS // 10 for value in call.arguments.values())


def short(observation: Observation, longest: int | None) -> Observation:
    """The outcome of a call as it is shown: its text no longer than that."""
    if longest is None or len(observation.text) <= longest:
        return observation
    return replace(observation, text=cut(observation.text, longest))


def _without(observation: Observation, gone: Collection[str]) -> Observation:
    hidden = [image.handle for image in observation.images if image.handle in gone]
    if not hidden:
        return observation
    text = f"{observation.text}\n[not shown here any more: {', '.join(hidden)}]"
    return replace(observation, text=text, images=tuple(i for i in observation.images if i.handle not in gone))
