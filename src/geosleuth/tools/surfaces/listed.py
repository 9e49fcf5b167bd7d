"""Tools as lists that models read: the providers' own form, and JSON lines between tags."""

import json
from collections.abc import Iterable
from typing import Any

from geosleuth.tools.declare import Tool


def native_tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The tools in the form that OpenAI's interface made common."""
    return [{"type": "function", "function": tool.schema()} for tool in tools]


def describe_tagged(tools: Iterable[Tool]) -> str:
    """The tools as Qwen and Hermes models are used to see them: one JSON line each, between ``<tools>`` tags.

    The lines are those that a chat template writes for the same tools, to the letter.
    """
    lines = [json.dumps(entry, ensure_ascii=False) for entry in native_tools(tools)]
    return "\n".join(("<tools>", *lines, "</tools>"))
