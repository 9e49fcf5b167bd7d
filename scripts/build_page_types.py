"""Write the page's types, page/src/api/schema.ts, from the server's OpenAPI document and the events of its runs.

    python scripts/build_page_types.py

`scripts/check_page.py` says when the file is out of date.
"""

import json
import sys
from pathlib import Path
from typing import Any, cast, is_typeddict

from pydantic.json_schema import models_json_schema

from geosleuth.server import CaseService, shapes
from geosleuth.server.http.application import make_app
from geosleuth.server.http.schemas import build_model

TYPES = Path(__file__).resolve().parent.parent / "page" / "src" / "api" / "schema.ts"
HEAD = "/** Made by scripts/build_page_types.py from what the server promises: do not edit. */\n"
# OpenAPI has no name for GeoJSON: fields that hold outlines are known by their names.
OUTLINES = {"area", "outline", "outlines"}
AREA = "GeoJSON.Polygon | GeoJSON.MultiPolygon"
PLAIN = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


def main() -> int:
    """Write the file."""
    TYPES.write_text(page_types(), encoding="utf-8")
    return 0


def page_types() -> str:
    """Return the file as it should be."""
    schemas: dict[str, Any] = make_app(cast("CaseService", None)).openapi()["components"]["schemas"]
    views = [one for one in vars(shapes).values() if is_typeddict(one) and one.__module__ == shapes.__name__]
    _, made = models_json_schema(
        [(build_model(view), "serialization") for view in views], ref_template="#/components/schemas/{model}"
    )
    schemas = {**schemas, **made["$defs"]}
    return HEAD + "".join(f"export type {name} = {type_of(schemas[name])};\n" for name in sorted(schemas))


def type_of(schema: Any) -> str:
    """Return a JSON schema as a type."""
    if reference := schema.get("$ref"):
        return str(reference).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        return " | ".join(map(json.dumps, schema.get("enum", [schema.get("const")])))
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(map(type_of, choices))
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    return PLAIN.get(kind, "unknown")


def _array(schema: Any) -> str:
    each = type_of(schema.get("items", {}))
    if (count := schema.get("minItems")) is not None and count == schema.get("maxItems"):
        return f"[{', '.join([each] * count)}]"
    return f"({each})[]" if " | " in each else f"{each}[]"


def _object(schema: Any) -> str:
    if (fields := schema.get("properties")) is None:
        values = schema.get("additionalProperties", True)
        return f"Record<string, {type_of(values) if isinstance(values, dict) else 'unknown'}>"
    needed = schema.get("required", ())
    parts = (f"{name}{'' if name in needed else '?'}: {_field(name, field)}" for name, field in fields.items())
    return f"{{ {'; '.join(parts)} }}"


def _field(name: str, schema: Any) -> str:
    kind = type_of(schema)
    return kind.replace("Record<string, unknown>", AREA) if name in OUTLINES else kind


if __name__ == "__main__":
    sys.exit(main())
