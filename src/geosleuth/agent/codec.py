"""Events as plain JSON objects and back.

One writer for every dataclass that events are made of, worked out once from the types of their fields; `decode` reads.
An event is written flat: ``{"index": 3, "at_s": 1.25, "kind": "said", "turn": 1, "step": {...}}``. What is None or
empty is left out; an absent key means just that. Reading takes nothing else: an unknown kind, an unknown key, a missing
one or a value of another type is refused.
"""

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from geosleuth.answer import Answer, answer_from_dict, answer_to_dict
from geosleuth.support.decode import decode, empty_values
from geosleuth.support.errors import BadInput
from geosleuth.support.service_use import ServiceUse

from .events import Answered, Answerer, Doubt, Ended, Event, Noted, Prompted, Resumed, Said, Started, ToolObserved

KINDS: Mapping[str, type] = {
    "started": Started,
    "prompted": Prompted,
    "said": Said,
    "observed": ToolObserved,
    "noted": Noted,
    "answered": Answered,
    "ended": Ended,
    "resumed": Resumed,
}
_KIND_OF = {body: kind for kind, body in KINDS.items()}
_AS_IS = (str, int, float, bool, Any)

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_escaped = json.JSONEncoder(separators=(",", ":"), allow_nan=False)

Writer = Callable[[Any], Any]

_MAPPINGS = (dict, Mapping, get_origin(Mapping[str, Any]))


@dataclass(frozen=True, slots=True)
class _Stamp:
    """Fields of every event's object beside its kind and body."""

    index: int
    at_s: float


@dataclass(frozen=True, slots=True)
class _StoredAnswer:
    """`Answered` as it is stored: an answer has a JSON form of its own."""

    answer: Mapping[str, Any]
    by: Answerer = "policy"
    derived: str | None = None
    doubts: tuple[Doubt, ...] = ()
    services: tuple[ServiceUse, ...] = ()


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as a plain object; `event_from_dict` gives back an equal event."""
    kind: type = type(event.body)
    return {"index": event.index, "at_s": event.at_s, "kind": _KIND_OF[kind], **_build_writer(kind)(event.body)}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Read what `event_to_dict` wrote.

    Raises:
        BadInput: it is no event: something is unknown, missing or of the wrong type.
    """
    rest = dict(data)
    stamp = {name: rest.pop(name) for name in ("index", "at_s") if name in rest}
    kind = rest.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput(f"there is no event of the kind {str(kind)[:40]!r}; there are: {', '.join(KINDS)}")
    try:
        when = decode(stamp, _Stamp, "empty")
        return Event(when.index, when.at_s, _read_body(kind, rest))
    except (ValueError, BadInput) as error:
        raise BadInput(f"this {kind!r} event can't be read: {error}") from error


def _read_body(kind: str, rest: Mapping[str, Any]) -> Any:
    if kind != "answered":
        return decode(rest, KINDS[kind], "empty")
    stored = decode(rest, _StoredAnswer, "empty")
    return Answered(answer_from_dict(stored.answer), stored.by, stored.derived, stored.doubts, stored.services)


def to_line(plain: Mapping[str, Any]) -> bytes:
    """One line of JSON in UTF-8, with its line end.

    What JSON can't hold is replaced rather than lost with the line: a number that is none becomes null, an object its
    text, half a surrogate pair an escape.
    """
    try:
        return _compact.encode(plain).encode() + b"\n"
    except (ValueError, TypeError):
        return _escaped.encode(_replace_surrogates(plain)).encode() + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """The object on a line.

    Raises:
        BadInput: it is no JSON object.
    """
    try:
        found = _decoder.decode(line.decode(json.detect_encoding(line), "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise BadInput("this is not a line of JSON") from error
    if not isinstance(found, dict):
        raise BadInput("this is not a JSON object")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Made once: json.loads with an option makes one for every line.
_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def _replace_surrogates(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str() | int() | None:
            return value
        case Mapping():
            return {str(key): _replace_surrogates(inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_replace_surrogates(inner) for inner in value]
        case _:
            return str(value)


@cache
def _build_writer(kind: Any) -> Writer:
    """Return the function that makes a value of this type plain."""
    if kind is Answer:
        return answer_to_dict
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_writer(kind)
    if _goes_as_is(kind):
        return _same
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        of_item = _build_writer(item)
        return list if _goes_as_is(item) else lambda value: [of_item(entry) for entry in value]
    return _build_writer(_without_none(kind))


def _dataclass_writer(kind: type) -> Writer:
    hints = get_type_hints(kind)
    empty = empty_values(kind)
    plan = tuple(
        (name, name in empty, empty.get(name), None if _goes_as_is(hint) else _build_writer(hint))
        for name, hint in hints.items()
    )

    def write(value: Any) -> dict[str, Any]:
        plain = {}
        for name, may_be_absent, absent, writer in plan:
            inner = getattr(value, name)
            if may_be_absent and (inner is absent or (absent is not None and inner == absent)):
                continue
            plain[name] = inner if writer is None else writer(inner)
        return plain

    return write


def _goes_as_is(kind: Any) -> bool:
    if kind in _AS_IS or get_origin(kind) in (Literal, *_MAPPINGS):
        return True
    return get_origin(kind) in (Union, types.UnionType) and all(
        inner is type(None) or _goes_as_is(inner) for inner in get_args(kind)
    )


def _same(value: Any) -> Any:
    return value


def _without_none(kind: Any) -> Any:
    return next(inner for inner in get_args(kind) if inner is not type(None))
