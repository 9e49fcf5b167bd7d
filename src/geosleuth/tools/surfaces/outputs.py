"""What comes back from a call, as JSON schemas: for surfaces that say so beforehand.

They promise what is always there and no more: a reader must expect further keys.
"""

from collections.abc import Iterable

from geosleuth.tools.declare import Tool
from geosleuth.tools.results import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
YES_NO: Schema = {"type": "boolean"}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def many(item: Schema, length: int | None = None) -> Schema:
    """A list of such."""
    exact = {} if length is None else {"minItems": length, "maxItems": length}
    return {"type": "array", "items": item, **exact}


def record(properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """An object with these keys, all of them always there but the optional ones."""
    left_out = frozenset(optional)
    required = [name for name in properties if name not in left_out]
    return {"type": "object", "properties": properties, "required": required}


def table(value: Schema) -> Schema:
    """An object whose keys are data too."""
    return {"type": "object", "additionalProperties": value}


def envelope(data: Schema) -> Schema:
    """The structured result of one call: the data, where it came from, and the pictures that came with it."""
    return record({"data": data, "sources": many(TEXT), "images": many(IMAGE)})


def output_schema(tool: Tool) -> Schema:
    """The schema of the structured result of a tool."""
    return envelope(tool.data_schema())


IMAGE = record(
    {
        "handle": TEXT,
        "photo": {**TEXT, "description": "the photo that the handle belongs to, where photos are opened by handle"},
        "width": WHOLE,
        "height": WHOLE,
        "box": {**many(WHOLE, 4), "description": "left, top, right, bottom of what it shows, in the original's pixels"},
    },
    optional=("photo",),
)
POINT = {"lat": NUMBER, "lon": NUMBER}
