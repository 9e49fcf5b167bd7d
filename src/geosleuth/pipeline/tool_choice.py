"""``--tools``: which tools a run is given, in the words of the command or as a list from a script."""

from collections.abc import Callable, Sequence
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.tools import Tool
from geosleuth.tools.declare import as_tool

ToolChoice = str | Tool | Callable[..., Any]
"""A tool by its name, a tool itself, or a function to make one of."""

_NO_TOOLS = "none"


def tool_choice(
    tools: str | Sequence[ToolChoice] | None, recorded: tuple[str, ...] | None
) -> Sequence[str | Tool] | None:
    """The tools that somebody asks for, as `Method.toolset` takes them; where nobody does, those of a recording.

    Names that begin with a plus sign, and functions, are added to the others.

    Raises:
        BadInput: nothing is named, or a function can't be a tool.
    """
    if tools is None:
        return recorded
    given = tools.split(",") if isinstance(tools, str) else tools
    chosen = [one.strip() if isinstance(one, str) else _made(one) for one in given]
    named = [one for one in chosen if one]
    if named == [_NO_TOOLS]:
        return []
    if not named:
        raise BadInput(f"--tools names no tool; write --tools {_NO_TOOLS} for no tool at all")
    return named


def _made(given: Tool | Callable[..., Any]) -> Tool:
    try:
        return as_tool(given)
    except TypeError as error:
        raise BadInput(f"{error}") from error
