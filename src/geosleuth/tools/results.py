"""From the type of a tool's result to the JSON schema that surfaces show before a call is made.

A result type is a ``TypedDict`` or a dataclass. It promises what is always there and no more: a reader must expect
further keys.
"""

import dataclasses
import types
from collections.abc import Callable
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from .kinds import Length

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    dict: {"type": "object"},
    list: {"type": "array"},
}

Box = Annotated[list[int], Length(4)]
"""Left, top, right and bottom."""


class PointData(TypedDict):
    """A point in degrees."""

    lat: float
    lon: float


class PlaceData(PointData):
    """A place of the atlas."""

    id: str
    name: str
    kind: str
    extent: dict[str, float]
    country: str | None
    region: str | None
    address: str | None
    source: str


class HitData(PlaceData):
    """A place that was found, and how well it fits."""

    score: float
    match: str
    matched: str
    distance_km: float | None


class Hits(TypedDict):
    """Places, best first."""

    results: list[HitData]


class SpotData(PointData):
    """An area that a clue leads to, and its share among all areas."""

    name: str
    radius_km: float
    share: float
    country: str | None


def result_schema(hint: Any) -> Schema:
    """Return the JSON schema of a result type; ``None`` stands for any JSON value.

    A text in ``Annotated`` describes the value, and `Length` fixes the length of a list.

    Raises:
        TypeError: results can't have this type.
    """
    if hint is None:
        return {}
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    compose = _COMPOSED.get(get_origin(hint))
    if compose is not None:
        return compose(get_args(hint))
    if is_typeddict(hint):
        return _record(get_type_hints(hint, include_extras=True), hint.__required_keys__)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        return _record({one.name: hints[one.name] for one in dataclasses.fields(hint)})
    raise TypeError(f"a tool's result can't have the type {hint!r}; use a TypedDict, a dataclass, or JSON types")


def _record(hints: dict[str, Any], required: frozenset[str] | None = None) -> Schema:
    properties = {name: result_schema(hint) for name, hint in hints.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if required is None or name in required],
    }


def _union(parts: tuple[Any, ...]) -> Schema:
    schemas = [result_schema(part) for part in parts if part is not type(None)]
    if len(schemas) == len(parts):
        return {"anyOf": schemas}
    if len(schemas) == 1 and "type" in schemas[0]:
        return {**schemas[0], "type": [schemas[0]["type"], "null"]}
    return {"anyOf": [*schemas, {"type": "null"}]}


def _annotated(parts: tuple[Any, ...]) -> Schema:
    schema = result_schema(parts[0])
    for mark in parts[1:]:
        if isinstance(mark, Length):
            schema |= {"minItems": mark.items, "maxItems": mark.items}
        elif isinstance(mark, str):
            schema["description"] = mark
    return schema


def _list(parts: tuple[Any, ...]) -> Schema:
    return {"type": "array", "items": result_schema(parts[0])}


_COMPOSED: dict[Any, Callable[[tuple[Any, ...]], Schema]] = {
    Union: _union,
    types.UnionType: _union,
    Annotated: _annotated,
    NotRequired: lambda parts: result_schema(parts[0]),
    Literal: lambda parts: {"type": "string", "enum": list(parts)},
    list: _list,
    tuple: _list,
    dict: lambda parts: {"type": "object", "additionalProperties": result_schema(parts[1])},
}
