"""A tool is declared once, as a typed async function with a docstring; every surface is derived from it.

The decorator ``tool`` gives it the name that models know. Its first argument is the case, which models don't see. The
docstring up to its sections (Google style) is what a model reads about the tool, and the lines of the section on
arguments are what it reads about each.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Case, Output
from .schema import Parameter, object_schema, parameters_of, read_arguments

ToolFunction = Callable[..., Awaitable[Output]]

_FIRST_SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples?|Notes?):[ \t]*$", re.MULTILINE)
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that an agent may do.

    ``aliases`` are other names it answers to; ``renames`` maps other spellings of its arguments to ours.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    function: ToolFunction = field(repr=False)
    aliases: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n\n")[0]

    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON schema of the arguments: what native tool calling wants."""
        return {"name": self.name, "description": self.description, "parameters": object_schema(self.parameters)}

    def read(self, arguments: Mapping[str, Any] | str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A model's arguments as the function wants them, and the names of those it does not know.

        Raises:
            BadInput: an argument is missing or can't be read; the message says what would be right.
        """
        return read_arguments(arguments, self.parameters, self.renames)

    async def __call__(self, case: Case, **arguments: Any) -> Output:
        """Do it.

        Raises:
            UserError: it can't be done as asked; the message says what would work.
            ServiceFault: an online service failed.
        """
        return await self.function(case, **arguments)


def tool(
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    renames: Mapping[str, str] | None = None,
    figures: Mapping[str, int] | None = None,
) -> Callable[[ToolFunction], Tool]:
    """Make a tool of an async function of a case and typed arguments.

    ``figures`` are put into the description where it names them in braces, so that no docstring counts for itself.

    Raises:
        TypeError: the function can't be a tool: it is not async, or a type or a docstring line is missing.
    """

    def declare(function: ToolFunction) -> Tool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} must be async to be a tool")
        description = _FIRST_SECTION.split(inspect.getdoc(function) or "")[0]
        description = _LINE_BREAK.sub(" ", description.strip())
        if figures:
            description = description.format_map(figures)
        if not description:
            raise TypeError(f"{function.__name__} needs a docstring to be a tool")
        return Tool(name, description, parameters_of(function), function, aliases, dict(renames or {}))

    return declare
