"""Plain data made into dataclasses, strictly: one decoder for every file that holds what a dataclass says.

msgspec does the work. For each dataclass it is given a struct with the same fields that refuses unknown ones, which
msgspec does for structs alone. What doesn't fit is told in one line in the words of a file's reader, with the field's
dotted name: ``optim.batch must be a whole number, not 1.5``.
"""

import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache, reduce
from operator import or_
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import BadInput

if TYPE_CHECKING:
    import msgspec

T = TypeVar("T")
Absent = Literal["default", "empty"]
"""What a left-out field means: the dataclass's own default; or what the type calls empty ("", () or None), so that a
default may change without changing what old files say. Fields that have neither must be there."""

_PLAIN_NAMES: Mapping[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path",
}  # fmt: skip
_WHERE = re.compile(r"`(\$[^`]*)`$")
_STEPS = re.compile(r"\.(\w+)|\[(\d+)\]")
_SHOWN = 60


def decode(values: object, kind: type[T], absent: Absent = "default") -> T:
    """The dataclass that plain data describe: mappings, lists, texts, numbers, true, false and None.

    Whole numbers are taken where numbers are wanted; nothing else is converted. With ``absent="default"`` texts must
    not be empty and numbers must be finite: these are settings, which a person writes.

    Raises:
        BadInput: something is unknown, missing or of another type; the message begins with its name.
    """
    import msgspec

    hashable: Any = kind
    try:
        read = msgspec.convert(values, _build_struct(hashable, absent), dec_hook=_other)
        return msgspec.convert(read, kind, from_attributes=True, dec_hook=_other)
    except msgspec.ValidationError as error:
        raise BadInput(_complaint(str(error), values, kind, absent)) from error
    except (OverflowError, RecursionError) as error:
        raise BadInput("something in it is too large or too deep") from error
    except UnicodeEncodeError as error:
        raise BadInput("a text in it holds half a character; write it anew") from error


def empty_values(kind: Any) -> dict[str, Any]:
    """Return the values of absent fields by their types, for the fields that may be absent."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        hint = hints[field.name]
        if not _has_default(field):
            continue
        if hint is str:
            values[field.name] = ""
        elif get_origin(hint) is tuple:
            values[field.name] = ()
        elif hint is Any or type(None) in get_args(hint):
            values[field.name] = None
    return values


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint for a misspelt name: the one that was meant, or all there are."""
    near = get_close_matches(word, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


@cache
def _build_struct(kind: Any, absent: Absent) -> "type[msgspec.Struct]":
    import msgspec

    hints, empty = get_type_hints(kind), empty_values(kind)
    described: list[Any] = []
    for field in fields(kind):
        hint = _replace_dataclasses(hints[field.name], absent)
        if absent == "empty":
            described.append((field.name, hint, empty[field.name]) if field.name in empty else (field.name, hint))
        elif field.default is not MISSING:
            described.append((field.name, hint, field.default))
        elif field.default_factory is not MISSING:
            described.append((field.name, hint, msgspec.field(default_factory=field.default_factory)))
        else:
            described.append((field.name, hint))
    return msgspec.defstruct(kind.__name__, described, forbid_unknown_fields=True, kw_only=True)


def _replace_dataclasses(hint: Any, absent: Absent) -> Any:
    import msgspec

    known: Any = hint
    if is_dataclass(hint):
        return _build_struct(known, absent)
    if absent == "default" and hint is str:
        return Annotated[str, msgspec.Meta(min_length=1)]
    if absent == "default" and hint is float:
        return Annotated[float, msgspec.Meta(ge=-float_info.max, le=float_info.max)]
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return reduce(or_, (_replace_dataclasses(item, absent) for item in inside))
    if origin is tuple:
        return tuple[tuple(item if item is Ellipsis else _replace_dataclasses(item, absent) for item in inside)]  # type: ignore[misc]
    return hint


def _other(kind: Any, value: Any) -> Any:
    """Decode types that msgspec doesn't know."""
    if kind is Path and isinstance(value, str | Path) and str(value):
        return Path(value)
    raise ValueError("unfit")


def _has_default(field: "Field[Any]") -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _list_defaults(kind: Any) -> set[str]:
    return {field.name for field in fields(kind) if _has_default(field)}


@dataclass(frozen=True, slots=True)
class _Place:
    """A value on the way down to what doesn't fit: its name, what its type must be, and what it is."""

    name: str
    hint: Any
    value: Any


def _complaint(told: str, values: object, kind: Any, absent: Absent) -> str:
    """Return what is wrong, in a single line.

    Of msgspec's message only the path is read. Where the path leads nowhere, msgspec's own words must do.
    """
    found = _WHERE.search(told)
    place = _last(_Place("", kind, values), found[1] if found else "$")
    if not is_dataclass(place.hint):
        return f"{place.name} must be {_describe_type(place)}, not {_format_input(place.value)}"
    known = [field.name for field in fields(place.hint)]
    if not isinstance(place.value, Mapping):
        return f"{place.name or 'it'} must be a mapping with {', '.join(known)}, not {_format_input(place.value)}"
    if unknown := [str(key) for key in place.value if key not in known]:
        return f"{_join_path(place.name, unknown[0][:40])} is not known; {nearest(unknown[0], known)}"
    optional = empty_values(place.hint) if absent == "empty" else _list_defaults(place.hint)
    if missing := [name for name in known if name not in place.value and name not in optional]:
        return f"lacks {_join_path(place.name, missing[0])}"
    plain = told.partition(" - at `")[0]
    return f"{place.name}: {plain}" if place.name else plain


def _last(place: _Place, path: str) -> _Place:
    """The value at the end of a path such as ``$.rollout.clip[1]``."""
    for field, index in _STEPS.findall(path):
        step = _into_field(place, field) if field else _into_item(place, int(index))
        if step is None:
            break
        place = step
    return place


def _into_field(place: _Place, field: str) -> _Place | None:
    if not is_dataclass(place.hint) or not isinstance(place.value, Mapping) or field not in place.value:
        return None
    hint = _without_none(get_type_hints(place.hint)[field])
    return _Place(_join_path(place.name, field), hint, place.value[field])


def _into_item(place: _Place, index: int) -> _Place | None:
    inside = get_args(place.hint)
    if get_origin(place.hint) is not tuple or not isinstance(place.value, list | tuple) or index >= len(place.value):
        return None
    hint = inside[0] if inside[-1] is Ellipsis else inside[index]
    return _Place(f"{place.name}, entry {index + 1}", _without_none(hint), place.value[index])


def _describe_type(place: _Place) -> str:
    origin, inside = get_origin(place.hint), get_args(place.hint)
    if origin is Literal:
        return f"one of {', '.join(map(str, inside))}"
    if origin is tuple:
        return "a list" if inside[-1] is Ellipsis else f"a list of {len(inside)}"
    if origin in (Union, types.UnionType):
        return " or ".join(_describe_type(_Place(place.name, item, place.value)) for item in inside)
    return _PLAIN_NAMES.get(place.hint, "a mapping")


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return reduce(or_, (arg for arg in get_args(hint) if arg is not type(None)))


def _join_path(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _format_input(value: object) -> str:
    return repr(value)[:_SHOWN]
