"""What a dialect has no place for, kept under one key of the record, and how the two become a trajectory again.

The key ``geosleuth`` holds JSON text (loaders that want one type a column leave text alone)::

    {"version": 1, "id": "...", "created": "...", "geosleuth": "...", "events": [{"at_s": 0.0, "kind": "said", ...}]}

An event that is told in the messages is here without what they tell: a step has its usage and the ids of its calls, an
observation its source, its data and the sizes of its images. ``told`` is a checksum of how the message reads, by which
events and messages find each other again. Whoever changes a message changes the trajectory: words are taken from the
messages and from nowhere else. Only where a dialect can't give back the very same thing (a text that looks like an
object, say) is it kept here as ``was``, and that counts only as long as the message is unchanged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from geosleuth import __version__
from geosleuth.agent.codec import event_to_dict, from_line
from geosleuth.agent.trajectory import VERSION, Trajectory
from geosleuth.errors import BadInput
from geosleuth.policies import Prompt, Step

from .placed import Cuts, checksum
from .talk import Item, Result, Talk, item_of, plain_json

KEY = "geosleuth"

Plain = dict[str, Any]


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


def told(item: Item) -> str:
    """The checksum of what is said."""
    return checksum(plain_json({"kind": kind_of(item), **plain_item(item)}))


def frame_text(trajectory: Trajectory, talk: Talk, back: Talk, *, carries: frozenset[str], cuts: Cuts) -> str:
    """What stands under the key.

    Args:
        trajectory: the whole.
        talk: what its record was made of.
        back: what is read from the record again.
        carries: whether the dialect tells the ids of calls and the names of those who answered them.
        cuts: where to cut what stands together in the record.

    Raises:
        BadInput: the dialect can't tell the events in their order.
    """
    if [kind_of(item) for item in back.items] != [kind_of(item) for item in talk.items]:
        raise BadInput("this trajectory's events come in an order that this dialect can't tell; try another dialect")
    pairs = iter(zip(talk.items, back.items, strict=True))
    events = []
    for event in trajectory.events:
        plain = event_to_dict(event)
        del plain["index"]
        if item_of(event) is not None:
            own, read = next(pairs)
            plain["told"] = told(read)
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
    """Take out of an event what the messages tell, or what follows from its place."""
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
