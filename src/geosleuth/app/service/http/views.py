"""The service's views as the OpenAPI document names them: every key is defined once, in the service's own shapes."""

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, create_model

from geosleuth.app.service import shapes

_TOLD: dict[str, Any] = {
    "started": shapes.StartedView,
    "resumed": shapes.ResumedView,
    "said": shapes.SaidView,
    "observed": shapes.ObservedView,
    "candidate": shapes.CandidateView,
    "clues": shapes.CluesView,
    "spent": shapes.SpentView,
    "answer": shapes.AnswerView,
    "ended": shapes.EndedView,
}


@cache
def model_of(shape: Any) -> type[BaseModel]:
    """A model with the keys of a typed dictionary, and of those inside it."""
    named: dict[str, Any] = {name: (_mapped(hint), ...) for name, hint in get_type_hints(shape).items()}
    # What a newer service has kept besides is left out, and no reason to fail.
    settings = ConfigDict(extra="ignore")
    return create_model(shape.__name__, __config__=settings, __doc__=shape.__doc__, **named)


def _mapped(hint: Any) -> Any:
    if is_typeddict(hint):
        return model_of(hint)
    if get_origin(hint) is list:
        return list[_mapped(get_args(hint)[0])]  # type: ignore[misc]
    if get_origin(hint) in (UnionType, Union):
        return Union[tuple(map(_mapped, get_args(hint)))]  # noqa: UP007 -- made while we run
    return hint


def event_schema() -> dict[str, Any]:
    """What a stream is made of: for each kind of event what its data, a text of JSON, holds."""
    kinds = get_args(shapes.EventKind)
    return {
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {"id": {"type": "string", "pattern": "^[0-9]+$"}, "event": {"type": "string", "enum": [*kinds]}},
        "oneOf": [{"properties": {"event": {"const": kind}, "data": _json_text(_TOLD.get(kind))}} for kind in kinds],
    }


def _json_text(shape: Any) -> dict[str, Any]:
    text = {"type": "string", "contentMediaType": "application/json"}
    if shape is None:
        return text
    whole = model_of(shape).model_json_schema(mode="serialization")
    return {**text, "contentSchema": _in_place(whole, whole.pop("$defs", {}))}


def _in_place(schema: Any, named: dict[str, Any]) -> Any:
    """A schema with what it refers to put in its place: references inside a text's schema lead nowhere."""
    if isinstance(schema, list):
        return [_in_place(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _in_place(named[reference.rpartition("/")[2]], named)
    return {key: _in_place(value, named) for key, value in schema.items()}
