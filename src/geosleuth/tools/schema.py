"""From a typed function to a JSON schema, and from a model's arguments to the function's own."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from geosleuth.errors import BadInput

from .kinds import Kind, Many, Maybe, Unfit, kind_of, shown, writable

_MISSING = inspect.Parameter.empty
_NAME_SHOWN = 40
_UNKNOWN_SHOWN = 10
_SPREAD = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: its name, its type as written, what it means, and whether it may be left out."""

    name: str
    type: Any
    meaning: str
    default: Any = field(default=_MISSING, hash=False)

    @property
    def kind(self) -> Kind:
        """What values it takes."""
        return kind_of(self.type)

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is _MISSING

    @property
    def description(self) -> str:
        """What models read about it: its meaning, and how many items a list of fixed length has."""
        kind = self.kind.inner if isinstance(self.kind, Maybe) else self.kind
        fixed = isinstance(kind, Many) and kind.length is not None
        return f"{self.meaning.rstrip('.')} ({kind.wanted})" if fixed else self.meaning

    def schema(self) -> dict[str, Any]:
        """This argument's JSON schema."""
        return {**self.kind.schema(), "description": self.description}

    def read(self, value: Any) -> Any:
        """A model's value as the function wants it.

        Raises:
            BadInput: it can't be read as one; the message says what would be right.
        """
        try:
            return self.kind.read(value)
        except Unfit as error:
            raise BadInput(f"{self.name} is {shown(value)}; it must be {error}") from error


def parameters_of(function: Callable[..., Any], *, skip: int = 1) -> tuple[Parameter, ...]:
    """The arguments of a tool function after its first, which is the case; ``skip`` is how many models don't see.

    Raises:
        TypeError: an argument has no type, a type that tools can't have, or no line in the docstring.
    """
    hints = get_type_hints(function, include_extras=True)
    meanings = argument_docs(inspect.getdoc(function) or "")
    found = []
    for name, parameter in list(inspect.signature(function).parameters.items())[skip:]:
        if name not in hints or name not in meanings or parameter.kind in _SPREAD:
            raise TypeError(f"the argument {name!r} of {function.__name__} needs a type and a line in the docstring")
        kind_of(hints[name])
        found.append(Parameter(name, hints[name], meanings[name], parameter.default))
    return tuple(found)


def argument_docs(docstring: str) -> dict[str, str]:
    """The lines of a Google-style ``Args:`` section by argument, each joined into one."""
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", docstring, re.MULTILINE)
    meanings: dict[str, str] = {}
    name = ""
    for line in section[1].splitlines() if section else ():
        start = re.match(r"    (\w+): (.*)", line)
        if start:
            name = start[1]
            meanings[name] = start[2].strip()
        elif name and line.strip():
            meanings[name] += " " + line.strip()
    return meanings


def object_schema(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The JSON schema of all arguments together; ``required`` is there only where something is."""
    properties = {parameter.name: parameter.schema() for parameter in parameters}
    required = [parameter.name for parameter in parameters if parameter.required]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def read_arguments(
    given: Mapping[str, Any] | str, parameters: tuple[Parameter, ...], renames: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A model's arguments as the function wants them, and the names of those that it does not know.

    What is plainly meant is taken: numbers written as text, one value for a list of one, null for what may be left out.

    Raises:
        BadInput: an argument is missing or can't be read; the message says what would be right.
    """
    named = _renamed(_object_in(given, parameters), renames)
    taken = {}
    for parameter in parameters:
        value = named.pop(parameter.name, None if not parameter.required else _MISSING)
        if value is _MISSING:
            raise BadInput(f"{parameter.name} is missing; it must be {parameter.kind.wanted}: {parameter.meaning}")
        if value is not None or parameter.required:
            taken[parameter.name] = parameter.read(value)
    return taken, tuple(writable(str(name)[:_NAME_SHOWN]) for name in list(named)[:_UNKNOWN_SHOWN])


def _renamed(given: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """By our own names; where one argument came under two names, ours counts and the other stays unknown."""
    named = dict(given)
    for theirs, ours in renames.items():
        if theirs in named and ours not in named:
            named[ours] = named.pop(theirs)
    return named


def _object_in(given: Mapping[str, Any] | str, parameters: tuple[Parameter, ...]) -> Mapping[str, Any]:
    found: object = given  # whatever a policy made of it
    if isinstance(found, str):
        try:
            found = json.loads(found) if found.strip() else {}
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the arguments are not valid JSON; {_right_way(parameters)}") from error
    if not isinstance(found, Mapping):
        raise BadInput(f"the arguments are not a JSON object; {_right_way(parameters)}")
    return found


def _right_way(parameters: tuple[Parameter, ...]) -> str:
    wanted = [one for one in parameters if one.required] or parameters[:1]
    inside = ", ".join(f'"{one.name}": <{one.kind.wanted}>' for one in wanted)
    return f"write one object: {{{inside}}}"
