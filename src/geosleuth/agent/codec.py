"""Events as plain JSON objects and back.

One reader and one writer for every dataclass that events are made of, worked out once from the types of their fields.
An event is written flat: ``{"index": 3, "at_s": 1.25, "kind": "said", "turn": 1, "step": {...}}``. What is None or
empty is left out; an absent key means just that. Reading takes nothing else: an unknown kind, an unknown key, a missing
one or a value of another type is refused.
"""

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from geosleuth.answer import Answer, answer_from_dict, answer_to_dict
from geosleuth.errors import BadInput

from .events import Answered, Ended, Event, Noted, Prompted, Resumed, Said, Started, ToolObserved

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
Reader = Callable[[Any], Any]


def event_to_dict(event: Event) -> dict[str, Any]:
    """The event as a plain object; `event_from_dict` gives back an equal event."""
    kind: type = type(event.body)
    return {"index": event.index, "at_s": event.at_s, "kind": _KIND_OF[kind], **_writer_of(kind)(event.body)}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Read what `event_to_dict` wrote.

    Raises:
        BadInput: it is no event: something is unknown, missing or of the wrong type.
    """
    rest = dict(data)
    index, at_s, kind = (rest.pop(name, None) for name in ("index", "at_s", "kind"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput(f"there is no event of the kind {str(kind)[:40]!r}; there are: {', '.join(KINDS)}")
    try:
        body = _reader_of(KINDS[kind])(rest)
        return Event(_reader_of(int)(index), _reader_of(float)(at_s), body)
    except (TypeError, ValueError, OverflowError, BadInput) as error:
        raise BadInput(f"this {kind!r} event can't be read: {error}") from error


def to_line(plain: Mapping[str, Any]) -> bytes:
    """One line of JSON in UTF-8, with its line end.

    What JSON can't hold is mended rather than lost with the line: a number that is none becomes null, an object its
    text, half a surrogate pair an escape.
    """
    try:
        return _compact.encode(plain).encode() + b"\n"
    except (ValueError, TypeError):
        return _escaped.encode(_mended(plain)).encode() + b"\n"


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


def _mended(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str() | int() | None:
            return value
        case Mapping():
            return {str(key): _mended(inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_mended(inner) for inner in value]
        case _:
            return str(value)


@cache
def _writer_of(kind: Any) -> Writer:
    """How a value of this type is made plain."""
    if kind is Answer:
        return answer_to_dict
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_writer(kind)
    if _goes_as_is(kind):
        return _same
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        of_item = _writer_of(item)
        return list if _goes_as_is(item) else lambda value: [of_item(one) for one in value]
    return _writer_of(_without_none(kind))


def _dataclass_writer(kind: type) -> Writer:
    hints = get_type_hints(kind)
    empty = _absent_values(kind)
    plan = tuple(
        (name, name in empty, empty.get(name), None if _goes_as_is(hint) else _writer_of(hint))
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


def _absent_values(kind: type) -> dict[str, Any]:
    """What an absent key means, for the fields that may be absent.

    It follows from the type and never from the default, so that a default may change without changing old files.
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        hint = hints[field.name]
        if field.default is MISSING and field.default_factory is MISSING:
            continue
        if hint is str:
            values[field.name] = ""
        elif get_origin(hint) is tuple:
            values[field.name] = ()
        elif hint is Any or type(None) in get_args(hint):
            values[field.name] = None
    return values


def _goes_as_is(kind: Any) -> bool:
    if kind in _AS_IS or get_origin(kind) in (Literal, *_MAPPINGS):
        return True
    return get_origin(kind) in (Union, types.UnionType) and all(
        inner is type(None) or _goes_as_is(inner) for inner in get_args(kind)
    )


_MAPPINGS = (dict, Mapping, get_origin(Mapping[str, Any]))


def _same(value: Any) -> Any:
    return value


@cache
def _reader_of(kind: Any) -> Reader:  # noqa: PLR0911  (one return a kind of type)
    """How a plain value of this type is read; raises TypeError or ValueError where it is none."""
    if kind is Any:
        return _same
    if kind is Answer:
        return _read_answer
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_reader(kind)
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _literal_reader(inside)
    if origin is tuple:
        return _tuple_reader(inside)
    if origin in _MAPPINGS:
        return _plain_reader(dict)
    if origin in (Union, types.UnionType):
        return _union_reader(inside)
    if kind in (str, int, float, bool):
        return _plain_reader(kind)
    raise TypeError(f"events can't hold a {kind!r}")


def _read_answer(value: Any) -> Answer:
    return answer_from_dict(_plain_reader(dict)(value))


def _dataclass_reader(kind: type) -> Reader:
    readers = {name: _reader_of(hint) for name, hint in get_type_hints(kind).items()}
    absent = _absent_values(kind)

    def read(value: Any) -> Any:
        given = _plain_reader(dict)(value)
        if unknown := given.keys() - readers.keys():
            raise ValueError(f"{kind.__name__} has no {min(unknown)[:40]!r}")
        if missing := readers.keys() - given.keys() - absent.keys():
            raise ValueError(f"{kind.__name__} lacks {min(missing)!r}")
        taken = dict(absent)
        for name, inner in given.items():
            try:
                taken[name] = readers[name](inner)
            except (TypeError, ValueError, BadInput) as error:
                raise ValueError(f"{name}: {error}") from error
        return kind(**taken)

    return read


def _literal_reader(words: tuple[Any, ...]) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"{str(value)[:40]!r} is none of {', '.join(words)}")
        return value

    return read


def _tuple_reader(inside: tuple[Any, ...]) -> Reader:
    of_item = _reader_of(inside[0])
    length = None if inside[-1] is Ellipsis else len(inside)

    def read(value: Any) -> tuple[Any, ...]:
        items = _plain_reader(list)(value)
        if length is not None and len(items) != length:
            raise ValueError(f"{len(items)} items where there must be {length}")
        return tuple(of_item(item) for item in items)

    return read


def _union_reader(inside: tuple[Any, ...]) -> Reader:
    kinds = tuple(inner for inner in inside if inner is not type(None))
    if len(kinds) == 1:
        only = _reader_of(kinds[0])
        return lambda value: None if value is None and len(inside) > 1 else only(value)
    # Only text beside an object: the arguments of a call.
    return lambda value: value if isinstance(value, str) else _plain_reader(dict)(value)


def _without_none(kind: Any) -> Any:
    return next(inner for inner in get_args(kind) if inner is not type(None))


_PLAIN_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", dict: "an object",
                list: "a list"}  # fmt: skip


@cache
def _plain_reader(kind: type) -> Reader:
    def read(value: Any) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise TypeError(f"{str(value)[:40]!r} is not {_PLAIN_NAMES[kind]}")
        return value

    return read
