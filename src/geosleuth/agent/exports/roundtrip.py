"""What a dialect has no place for, kept under one key of the record, and the trajectory made again from both.

The key ``geosleuth`` holds JSON text (loaders that want one type a column leave text alone)::

    {"version": 1, "id": "...", "created": "...", "geosleuth": "...", "events": [{"at_s": 0.0, "kind": "said", ...}]}

An event that has a message is stored here without the message's content: a step has its usage and the ids of its calls,
an observation its source, its data and the sizes of its images. ``told`` is a checksum of the message, by which events
and messages are matched again. Changing a message changes the trajectory: text is read from the messages and from
nowhere else. Only where a dialect can't give back the very same thing (a text that looks like an
object, say) is it kept here as ``was``, and that counts only as long as the message is unchanged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from geosleuth import __version__
from geosleuth.agent.codec import event_from_dict, event_to_dict, from_line
from geosleuth.agent.events import Answered, Budget, Event, Prompted, Said, Started, Task, ToolObserved
from geosleuth.agent.method import accepts
from geosleuth.agent.trajectory import VERSION, Trajectory, now
from geosleuth.answer import Answer, parse_lenient
from geosleuth.models import Prompt, Step, Usage, Wire
from geosleuth.support.errors import BadInput
from geosleuth.tools import ImageInfo, Observation, ToolCall

from .dialect import ERROR, Cuts, Item, Result, Talk, checksum, item_of, plain_json

KEY = "geosleuth"

Plain = dict[str, Any]

IMPORTED = "imported"
"""The method and the policy of a trajectory that nobody here made."""
_UNREADABLE = "The words of the answer were changed, and can't be read as one any more."


@dataclass(frozen=True, slots=True)
class Frame:
    """What stood under the key; ``events`` are still plain."""

    id: str
    created: datetime
    geosleuth: str
    torn: bool
    events: list[Plain]
    cuts: Cuts = field(default_factory=dict, hash=False)
    head: Plain = field(default_factory=dict, hash=False)


def kind_of(item: Item) -> str:
    """The kind of event that an item belongs to."""
    return {Prompt: "prompted", Step: "said", Result: "observed"}[type(item)]


def plain_item(item: Item) -> Plain:
    """What is said, without the ids."""
    match item:
        case Prompt(text=text, images=images):
            return {"text": text, "images": list(images)}
        case Step(text=text, thinking=thinking, calls=calls):
            named = [{"name": call.name, "arguments": call.arguments} for call in calls]
            return {"text": text, "thinking": thinking, "calls": named}
        case Result(text=text, images=images):
            return {"text": text, "images": list(images)}


def message_checksum(item: Item) -> str:
    """Return the checksum of a message."""
    return checksum(plain_json({"kind": kind_of(item), **plain_item(item)}))


def frame_text(trajectory: Trajectory, talk: Talk, back: Talk, *, carries: frozenset[str], cuts: Cuts) -> str:
    """What stands under the key.

    Args:
        trajectory: the whole.
        talk: what its record was made of.
        back: what is read from the record again.
        carries: whether the dialect has the ids of calls and the names of the tools that answered them.
        cuts: where to cut what stands together in the record.

    Raises:
        BadInput: the dialect can't express the events in their order.
    """
    if [kind_of(item) for item in back.items] != [kind_of(item) for item in talk.items]:
        raise BadInput("this trajectory's events come in an order that this dialect can't express; try another dialect")
    pairs = iter(zip(talk.items, back.items, strict=True))
    events = []
    for event in trajectory.events:
        plain = event_to_dict(event)
        del plain["index"]
        if item_of(event) is not None:
            own, read = next(pairs)
            plain["told"] = message_checksum(read)
            if plain_item(own) != plain_item(read) or plain_json(plain_item(own)) != plain_json(plain_item(read)):
                plain["was"] = plain_item(own)
        _thin(plain, carries)
        events.append(plain)
    head = {
        name: {"told": checksum(plain_json([read])), "was": own}
        for name, own, read in (("system", talk.system, back.system), ("tools", [*talk.tools], [*back.tools]))
        if own != read
    }
    frame: Plain = {
        "version": VERSION,
        "id": trajectory.id,
        "created": trajectory.created.isoformat(),
        "geosleuth": trajectory.geosleuth,
        **({"torn": True} if trajectory.torn else {}),
        **({"cuts": dict(cuts)} if cuts else {}),
        **({"head": head} if head else {}),
        "events": events,
    }
    return plain_json(frame)


def _thin(plain: Plain, carries: frozenset[str]) -> None:
    """Remove from an event what its message contains, or what follows from its position."""
    plain.pop("turn", None)
    match plain["kind"]:
        case "started":
            plain.pop("system")
            plain.pop("tools")
        case "prompted":
            del plain["prompt"]
        case "said":
            step = plain["step"] = dict(plain["step"])
            step.pop("text", None)
            step.pop("thinking", None)
            calls = step.pop("calls", [])
            if "ids" not in carries and calls:
                plain["ids"] = [call["id"] for call in calls]
        case "observed":
            seen = plain["observation"] = dict(plain["observation"])
            seen.pop("text")
            for key, carried in (("call_id", "ids"), ("name", "names")):
                if carried in carries:
                    seen.pop(key)


def read_frame(record: Mapping[str, Any]) -> Frame | None:
    """What stands under the key of a record; None where there is no such key.

    Raises:
        BadInput: it is damaged, or of another version.
    """
    given = record.get(KEY)
    if given is None:
        return None
    found = from_line(given.encode("utf-8", "surrogatepass")) if isinstance(given, str) else given
    if not isinstance(found, Mapping):
        raise BadInput(f"{KEY!r} must be an object, or its JSON")
    if found.get("version") != VERSION:
        raise BadInput(
            f"this export is of version {str(found.get('version'))[:20]}, written by geosleuth "
            f"{str(found.get('geosleuth', 'unknown'))[:20]}; geosleuth {__version__} reads version {VERSION}"
        )
    try:
        events = [dict(event) for event in found["events"]]
        return Frame(
            str(found["id"]),
            datetime.fromisoformat(found["created"]),
            str(found["geosleuth"]),
            bool(found.get("torn", False)),
            events,
            _cuts(found.get("cuts", {})),
            dict(found.get("head", {})),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"what stands under {KEY!r} is damaged: {type(error).__name__} {error}") from error


def _cuts(given: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    cuts = {str(key): [int(length) for length in lengths] for key, lengths in given.items()}
    if any(length < 0 for lengths in cuts.values() for length in lengths):
        raise ValueError("a length below 0")
    return cuts


def head_of(frame: Frame, name: str, read: Any) -> Any:
    """The system's words or the tools: as the record has them, or as they were where it could not hold them."""
    kept = frame.head.get(name)
    if isinstance(kept, Mapping) and kept.get("told") == checksum(plain_json([read])):
        return kept.get("was")
    return read


def rebuilt(talk: Talk, frame: Frame | None, *, foreign_id: str, wire: Wire) -> Trajectory:
    """The trajectory of a record.

    Args:
        talk: what its messages say.
        frame: what was kept beside them; None for a record from elsewhere.
        foreign_id: the id of a trajectory from elsewhere.
        wire: how calls travel in one from elsewhere.

    Raises:
        BadInput: the two don't make a trajectory.
    """
    work = _Rebuilding(talk, frame)
    if frame is None:
        work.begin(
            Started(Task(work.images_of_task()), IMPORTED, IMPORTED, talk.tools, _budget(talk), talk.system, wire)
        )
        for said in talk.items:
            work.add(said)
        return Trajectory(tuple(work.events), foreign_id, now())
    for plain, item in _aligned(frame.events, talk.items):
        if plain is not None:
            work.restore(plain, item)
        elif item is not None:
            work.add(item)
    try:
        return Trajectory(tuple(work.events), frame.id, frame.created, frame.geosleuth, frame.torn)
    except ValueError as error:
        raise _damage(str(error)) from error


def _budget(talk: Talk) -> Budget:
    return Budget(turns=max(1, sum(isinstance(item, Step) for item in talk.items)))


def _aligned(events: Sequence[Plain], items: Sequence[Item]) -> list[tuple[Plain | None, Item | None]]:
    """Events and messages side by side: those that are the same, then those of one kind at the same place.

    An event whose message is gone stands alone, and so does a message that nobody sent then.
    """
    slots = [event for event in events if "told" in event]
    wanted = [str(event["told"]) for event in slots]
    given = [message_checksum(item) for item in items]
    owner: dict[int, int] = {}
    if wanted == given:
        owner = {number: number for number in range(len(slots))}
    else:
        for tag, start, end, first, last in SequenceMatcher(None, wanted, given, autojunk=False).get_opcodes():
            if tag == "equal":
                owner.update(zip(range(start, end), range(first, last), strict=True))
            elif tag == "replace":
                owner.update(_by_kind(slots, items, range(start, end), range(first, last)))
    pairs: list[tuple[Plain | None, Item | None]] = []
    at = slot = 0
    for event in events:
        if "told" not in event:
            pairs.append((event, None))
            continue
        number = owner.get(slot)
        slot += 1
        if number is not None:
            pairs += [(None, item) for item in items[at:number]]
            at = number + 1
        pairs.append((event, None if number is None else items[number]))
    return [*pairs, *((None, item) for item in items[at:])]


def _by_kind(slots: Sequence[Plain], items: Sequence[Item], theirs: range, ours: range) -> dict[int, int]:
    """Pairs of one kind, in order."""
    found = {}
    numbers = iter(theirs)
    for number in ours:
        kind = kind_of(items[number])
        slot = next((one for one in numbers if slots[one].get("kind") == kind), None)
        if slot is None:
            break
        found[slot] = number
    return found


class _Rebuilding:
    """Puts events one after the other, with what follows from their place."""

    def __init__(self, talk: Talk, frame: Frame | None) -> None:
        self.events: list[Event] = []
        self._talk, self._frame = talk, frame
        self._turn = 0
        self._waiting: list[ToolCall] = []
        self._ids: set[str] = set()
        self._known = _known_images(frame)
        self._photos: dict[str, int] = {}
        self._answer_changed = False
        self._last_step = Step()

    def begin(self, started: Started) -> None:
        """The first event of a trajectory from elsewhere."""
        self._put(0.0, started)

    def images_of_task(self) -> tuple[ImageInfo, ...]:
        """The images that were there before anybody replied."""
        found: dict[str, ImageInfo] = {}
        for item in self._talk.items:
            if not isinstance(item, Prompt):
                break
            found |= {handle: self._image(handle) for handle in item.images}
        return tuple(found.values())

    def add(self, item: Item) -> None:
        """Something said of which nothing else is known."""
        at_s = self.events[-1].at_s if self.events else 0.0
        match item:
            case Prompt():
                first = not any(isinstance(event.body, Prompted) for event in self.events)
                self._put(at_s, Prompted(item, "task" if first else "person"))
            case Step(calls=calls):
                step = replace(item, calls=self._with_ids(calls, []), usage=Usage(cost_usd=None))
                self._answer_changed = True
                self._put(at_s, Said(0, replace(step, finish="calls" if calls else "stop")))
            case Result():
                call = self._called(item)
                images = tuple(self._image(handle) for handle in item.images)
                self._put(at_s, ToolObserved(0, Observation(call.id, item.name or call.name, item.text, images=images)))

    def restore(self, plain: Plain, item: Item | None) -> None:
        """An event as it was kept, with what the messages say now; one whose message is gone is gone too."""
        fields = {key: value for key, value in plain.items() if key not in ("told", "was", "ids")} | {"index": 0}
        if item is None:
            if "told" not in plain:
                self._restore_without_message(fields)
            elif plain.get("kind") == "said":
                self._answer_changed = True
            return
        changed = plain["told"] != message_checksum(item)
        now_said = plain_item(item) if changed else _as_it_was(plain, plain_item(item))
        match item:
            case Prompt():
                fields["prompt"] = now_said
            case Step(calls=calls):
                self._answer_changed = changed
                ids = [call.id for call in calls] if any(call.id for call in calls) else _list(plain, "ids")
                called = self._with_ids(
                    [ToolCall("", one["name"], one["arguments"]) for one in now_said["calls"]],
                    [one for one in ids if isinstance(one, str)],
                )
                step = {**_object(plain, "step"), **now_said}
                step["calls"] = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in called]
                fields |= {"turn": 0, "step": step}
            case Result():
                fields |= {"turn": 0, "observation": self._seen(_object(plain, "observation"), item, now_said, changed)}
        event = event_from_dict(fields)
        self._put(event.at_s, event.body)

    def _restore_without_message(self, fields: Plain) -> None:
        if fields.get("kind") == "started" and self._frame is not None:
            fields["system"] = head_of(self._frame, "system", self._talk.system)
            fields["tools"] = head_of(self._frame, "tools", [*self._talk.tools])
        if fields.get("kind") == "said":
            fields["turn"] = 0
        event = event_from_dict(fields)
        body = event.body
        if isinstance(body, Answered) and body.by == "policy" and self._answer_changed:
            body = self._read_again(body)
        self._put(event.at_s, body)

    def _seen(self, kept: Plain, item: Result, now_said: Mapping[str, Any], changed: bool) -> Plain:  # noqa: FBT001
        text = str(now_said["text"])
        call = self._called(item, kept.get("call_id"))
        seen = kept | {
            "call_id": call.id,
            "name": item.name if item.name is not None else kept.get("name", call.name),
            "text": text.removeprefix(ERROR) if kept.get("failure") else text,
        }
        own = _list(kept, "images")
        seen["images"] = [self._plain_image(own, handle) for handle in _list(now_said, "images")]
        if changed:
            # It said the same as the text, for programs; it does no longer.
            seen.pop("data", None)
        return seen

    def _plain_image(self, own: list[Any], handle: str) -> Any:
        for number, image in enumerate(own):
            if isinstance(image, Mapping) and image.get("handle") == handle:
                return own.pop(number)
        info = self._image(handle)
        return {
            "handle": handle,
            "size": [*info.size],
            "photo": info.photo,
            "box_in_original": [*info.box_in_original],
        }

    def _image(self, handle: str) -> ImageInfo:
        """What is known of an image; one from elsewhere counts as a photo of its own, 0 x 0 where no size is given."""
        if handle in self._known:
            return self._known[handle]
        size = self._talk.sizes.get(handle, (0, 0))
        photo = self._photos.setdefault(handle, 1 + max((0, *self._photos.values(), *self._photo_numbers())))
        return ImageInfo(handle, size, photo, (0, 0, *size))

    def _photo_numbers(self) -> list[int]:
        return [image.photo for image in self._known.values()]

    def _with_ids(self, calls: Sequence[ToolCall], ids: Sequence[str]) -> tuple[ToolCall, ...]:
        """The calls with the ids that the record has, else with those that were kept, else with new ones."""
        named = []
        for number, call in enumerate(calls):
            call_id = call.id or (ids[number] if number < len(ids) else "") or self._fresh_id()
            self._ids.add(call_id)
            named.append(replace(call, id=call_id))
        self._waiting = list(named)
        return tuple(named)

    def _fresh_id(self) -> str:
        number = len(self._ids) + 1
        while f"call-{number}" in self._ids:
            number += 1
        return f"call-{number}"

    def _called(self, item: Result, kept_id: object = None) -> ToolCall:
        """The call that a result belongs to: the one it names, or the first that has none yet."""
        call_id = item.call_id if item.call_id is not None else kept_id
        if isinstance(call_id, str):
            found = next((call for call in self._waiting if call.id == call_id), ToolCall(call_id, ""))
        else:
            found = next(iter(self._waiting), ToolCall("", ""))
        self._waiting = [call for call in self._waiting if call is not found]
        return found

    def _read_again(self, was: Answered) -> Answered:
        from geosleuth.agent.methods import made_with

        started = self.events[0].body
        if not isinstance(started, Started):
            return was
        method = made_with(started.method)
        if method is None:
            answer = parse_lenient(self._last_step.text)
        else:
            answer = method.read_answer(method.final_words(self._last_step))
        if not accepts(answer, started.task):
            return Answered(Answer(explanation=_UNREADABLE, candidates=was.answer.candidates), "nobody")
        return Answered(answer if answer.candidates else replace(answer, candidates=was.answer.candidates))

    def _put(self, at_s: float, body: Any) -> None:
        match body:
            case Said(step=step):
                self._turn += 1
                self._last_step = step
                body = replace(body, turn=self._turn)
            case ToolObserved():
                body = replace(body, turn=self._turn)
            case _:
                pass
        self.events.append(Event(len(self.events), at_s, body))


def _object(plain: Plain, key: str) -> Plain:
    value = plain.get(key)
    if not isinstance(value, Mapping):
        raise _damage(f"{key!r} is not an object")
    return dict(value)


def _list(plain: Mapping[str, Any], key: str) -> list[Any]:
    value = plain.get(key, [])
    if not isinstance(value, list):
        raise _damage(f"{key!r} is not a list")
    return [*value]


def _as_it_was(plain: Plain, read: Plain) -> Plain:
    """What a message said that its dialect could not hold; else what is read from it."""
    if "was" not in plain:
        return read
    kept = _object(plain, "was")
    calls = _list(kept, "calls")
    named = all(isinstance(call, Mapping) and {*call} == {"name", "arguments"} for call in calls)
    if {*kept} != {*read} or not named:
        raise _damage("'was' is not what was said")
    return kept


def _damage(trouble: str) -> BadInput:
    return BadInput(f"what was kept of this trajectory is damaged: {trouble}")


def _known_images(frame: Frame | None) -> dict[str, ImageInfo]:
    """Every image that the kept events describe."""
    known: dict[str, ImageInfo] = {}
    for event in frame.events if frame else ():
        inner = event.get("task") if event.get("kind") == "started" else event.get("observation")
        images = inner.get("images", []) if isinstance(inner, Mapping) else []
        for image in images if isinstance(images, list) else []:
            try:
                known[image["handle"]] = ImageInfo(
                    image["handle"], tuple(image["size"]), image["photo"], tuple(image["box_in_original"])
                )
            except (KeyError, TypeError) as error:
                raise _damage("an image is not described") from error
    return known
