"""A tool whose arguments somebody else describes."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.tools.declare import Tool
from geosleuth.tools.kinds import writable

_NAME_CHARS = 64
_SCHEMA_CHARS = 20_000
_DESCRIPTION_CHARS = 1500
_ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class GivenTool(Tool):
    """A tool with a JSON schema of its own in place of typed parameters.

    Arguments go to the function as they came, in one mapping: whether they fit is for the one to say who wrote the
    schema. Only that they are an object, and that nothing required is missing, is seen to here.
    """

    input_schema: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def schema(self) -> dict[str, Any]:
        """Name, description and the schema of the arguments, as it was given."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.input_schema)}

    def read(self, arguments: Mapping[str, Any] | str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A model's arguments, under the one name that the function takes them by.

        Raises:
            BadInput: they are no object, or something required is missing.
        """
        found: object = arguments
        if isinstance(found, str):
            try:
                found = json.loads(found) if found.strip() else {}
            except (ValueError, RecursionError) as error:
                raise BadInput(f"the arguments are not valid JSON; {self._right_way()}") from error
        if not isinstance(found, Mapping):
            raise BadInput(f"the arguments are not a JSON object; {self._right_way()}")
        if missing := [name for name in self._required() if name not in found]:
            raise BadInput(f"{', '.join(missing)} is missing; {self._right_way()}")
        return {"arguments": dict(found)}, ()

    def _required(self) -> list[str]:
        required = self.input_schema.get("required")
        return [name for name in required if isinstance(name, str)][:20] if isinstance(required, list) else []

    def _right_way(self) -> str:
        inside = ", ".join(f'"{name}": …' for name in self._required())
        return f"write one object: {{{inside}}}"


def tool_name(server: str, name: str) -> str:
    """What models call a server's tool: letters, digits, hyphens and underscores, as all providers take them."""
    return f"{server}__{re.sub(r'[^A-Za-z0-9_-]', '_', name)}"[:_NAME_CHARS]


def usable_schema(schema: Any) -> dict[str, Any]:
    """A schema as models may be given it; one that describes no object, or is endless, is any object."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return dict(_ANY_OBJECT)
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return dict(_ANY_OBJECT)
    if len(text) > _SCHEMA_CHARS:
        return dict(_ANY_OBJECT)
    usable: dict[str, Any] = json.loads(text)
    # A service would refuse every request with such a tool in it, and the run would fail with it.
    if not isinstance(usable.setdefault("properties", {}), dict):
        return dict(_ANY_OBJECT)
    return usable


def usable_description(server: str, text: str | None) -> str:
    """A server's own words about its tool, said to be that, and not endless."""
    words = " ".join(writable(text or "").split()) or "It says nothing about it."
    cut = words if len(words) <= _DESCRIPTION_CHARS else f"{words[: _DESCRIPTION_CHARS - 1]}…"
    return f"A tool of the MCP server {server}, in its own words: {cut}"
