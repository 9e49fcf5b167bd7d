"""Add a tool: declare it once, as a typed async function with a docstring; its JSON schemas for every surface follow.

A result type is a ``TypedDict`` or a dataclass. It promises what is always there and no more: a reader must expect
further keys.

The decorator ``tool`` gives it the name that models know. Its first argument is the case, which models don't see. The
docstring up to its sections (Google style) is what a model reads about the tool, and the lines of the section on
arguments are what it reads about each. The decorator's own arguments say the rest: the type of the result, what a model
is told in its list of tools, what people see of a call, and what the tool can't work without.
"""

import asyncio
import dataclasses
import inspect
import json
import re
import types
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
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

from geosleuth.support.errors import BadInput

from .argument_types import ArgumentKind, Length, Many, Maybe, UnfitArgument, find_kind, format_value, writable
from .calls import Case, Need, Output
from .viewer import Viewer

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

_MISSING = inspect.Parameter.empty
_NAME_SHOWN = 40
_UNKNOWN_SHOWN = 10
_SPREAD = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ToolFunction = Callable[..., Awaitable[Output]]
_FIRST_SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples?|Notes?):[ \t]*$", re.MULTILINE)
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


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
    level: str
    missing: list[str]


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
        return _record({item.name: hints[item.name] for item in dataclasses.fields(hint)})
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


def _build_annotated_schema(parts: tuple[Any, ...]) -> Schema:
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
    Annotated: _build_annotated_schema,
    NotRequired: lambda parts: result_schema(parts[0]),
    Literal: lambda parts: {"type": "string", "enum": list(parts)},
    list: _list,
    tuple: _list,
    dict: lambda parts: {"type": "object", "additionalProperties": result_schema(parts[1])},
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: its name, its type as written, what it means, and whether it may be left out."""

    name: str
    type: Any
    meaning: str
    default: Any = field(default=_MISSING, hash=False)

    @property
    def kind(self) -> ArgumentKind:
        """Return the kind of values that it takes."""
        return find_kind(self.type)

    @property
    def is_required(self) -> bool:
        """Return whether a call must give it."""
        return self.default is _MISSING

    @property
    def description(self) -> str:
        """Return its description for models: its meaning, and the number of items if a list has a fixed length."""
        kind = self.kind.inner if isinstance(self.kind, Maybe) else self.kind
        fixed = isinstance(kind, Many) and kind.length is not None
        return f"{self.meaning.rstrip('.')} ({kind.requirement})" if fixed else self.meaning

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
        except UnfitArgument as error:
            raise BadInput(f"{self.name} is {format_value(value)}; it must be {error}") from error


def build_parameters(function: Callable[..., Any], *, skip: int = 1) -> tuple[Parameter, ...]:
    """Return a tool function's parameters after the case; ``skip`` is the number of first ones that models don't see.

    Raises:
        TypeError: an argument has no type, a type that tools can't have, or no line in the docstring.
    """
    hints = get_type_hints(function, include_extras=True)
    meanings = argument_docs(inspect.getdoc(function) or "")
    found = []
    for name, parameter in list(inspect.signature(function).parameters.items())[skip:]:
        if name not in hints or name not in meanings or parameter.kind in _SPREAD:
            raise TypeError(f"the argument {name!r} of {function.__name__} needs a type and a line in the docstring")
        find_kind(hints[name])
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
    required = [parameter.name for parameter in parameters if parameter.is_required]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def read_arguments(
    given: Mapping[str, Any] | str, parameters: tuple[Parameter, ...], renames: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A model's arguments as the function wants them, and the names of those that it does not know.

    What is plainly meant is taken: numbers written as text, one value for a list of one, null for what may be left out.

    Raises:
        BadInput: an argument is missing or can't be read; the message says what would be right.
    """
    named = _rename_arguments(parse_object(given, partial(_right_way, parameters)), renames)
    taken = {}
    for parameter in parameters:
        value = named.pop(parameter.name, None if not parameter.is_required else _MISSING)
        if value is _MISSING:
            raise BadInput(f"{parameter.name} is missing; it must be {parameter.kind.requirement}: {parameter.meaning}")
        if value is not None or parameter.is_required:
            taken[parameter.name] = parameter.read(value)
    return taken, tuple(writable(str(name)[:_NAME_SHOWN]) for name in list(named)[:_UNKNOWN_SHOWN])


def _rename_arguments(given: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """Return arguments under our own names.

    If an argument came under two names, ours counts and the other stays unknown.
    """
    named = dict(given)
    for theirs, ours in renames.items():
        if theirs in named and ours not in named:
            named[ours] = named.pop(theirs)
    return named


def parse_object(given: Mapping[str, Any] | str, right_way: Callable[[], str]) -> Mapping[str, Any]:
    """Return the object that a policy gave as arguments, or wrote as text.

    Raises:
        BadInput: it is none; the message ends in the right way.
    """
    found: object = given  # a policy may have written anything
    if isinstance(found, str):
        try:
            found = json.loads(found) if found.strip() else {}
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the arguments are not valid JSON; {right_way()}") from error
    if not isinstance(found, Mapping):
        raise BadInput(f"the arguments are not a JSON object; {right_way()}")
    return found


def _right_way(parameters: tuple[Parameter, ...]) -> str:
    wanted = [parameter for parameter in parameters if parameter.is_required] or parameters[:1]
    inside = ", ".join(f'"{item.name}": <{item.kind.requirement}>' for item in wanted)
    return f"write one object: {{{inside}}}"


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that an agent may do.

    Attributes:
        name: what models call it.
        description: what models read about it.
        parameters: its arguments.
        function: does it.
        aliases: other names it answers to.
        renames: other spellings of its arguments, and ours for each.
        use: what it is good for, as a prompt's list of tools says it.
        result: the type of its result's data, see `result_schema`; None is any JSON value.
        viewer: what people see of its calls.
        needs: what it can't work without.
        outside_runs: what a caller must know where calls are not part of a run.
        untold: arguments that it takes and that no schema names, since hardly a call needs them.
        options: arguments that a paper's method does not name: the paper's tool has none such.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    function: ToolFunction = field(repr=False)
    aliases: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict, hash=False)
    use: str = ""
    result: Any = field(default=None, repr=False, hash=False)
    viewer: Viewer = field(default_factory=Viewer, repr=False)
    needs: tuple[Need, ...] = ()
    outside_runs: str = field(default="", repr=False)
    untold: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def visible_parameters(self) -> tuple[Parameter, ...]:
        """Return the arguments that schemas list."""
        return tuple(parameter for parameter in self.parameters if parameter.name not in self.untold)

    @property
    def takes_box(self) -> bool:
        """Return whether a call can name a part of an image."""
        return any(parameter.name == "bbox_2d" for parameter in self.parameters)

    @property
    def takes_image(self) -> bool:
        """Return whether a call looks at an image that it names."""
        return any(parameter.name == "image" for parameter in self.parameters)

    def lacks(self, have: Collection[Need]) -> tuple[Need, ...]:
        """Return what it needs and a run does not have."""
        return tuple(need for need in self.needs if need not in have)

    @property
    def purpose(self) -> str:
        """Return its purpose on one line: as declared, or the first sentence of its description."""
        sentence = self.summary.partition(". ")[0].rstrip(".")
        return self.use or f"{sentence[:1].lower()}{sentence[1:]}"

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n\n")[0]

    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON schema of the arguments: what native tool calling wants."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": object_schema(self.visible_parameters),
        }

    def data_schema(self) -> Schema:
        """The JSON schema of the data that comes back."""
        return result_schema(self.result)

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
    use: str = "",
    result: Any = None,
    viewer: Viewer | None = None,
    needs: tuple[Need, ...] = (),
    aliases: tuple[str, ...] = (),
    renames: Mapping[str, str] | None = None,
    figures: Mapping[str, int] | None = None,
    outside_runs: str = "",
    untold: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
) -> Callable[[ToolFunction], Tool]:
    """Make a tool of an async function of a case and typed arguments.

    Args:
        name: what models call it.
        use: what it is good for, in words that follow its name in a prompt's list of tools; the first sentence of the
            docstring, if left out.
        result: the type of the result's data: a ``TypedDict`` or a dataclass.
        viewer: what people see of a call.
        needs: what it can't work without.
        aliases: other names it answers to.
        renames: other spellings of its arguments, and ours for each.
        figures: put into the description where it names them in braces, so that no docstring counts for itself.
        outside_runs: what a caller must know where calls are not part of a run.
        untold: arguments that it takes and that no schema names.
        options: arguments that a paper's method does not name.

    Raises:
        TypeError: the function can't be a tool: it is not async, or a type or a docstring line is missing.
    """

    def declare(function: ToolFunction) -> Tool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} must be async to be a tool")
        return Tool(
            name,
            _description(function, figures),
            build_parameters(function),
            function,
            aliases,
            dict(renames or {}),
            use,
            result,
            viewer or Viewer(),
            needs,
            outside_runs,
            untold,
            options,
        )

    return declare


def as_tool(given: "Tool | Callable[..., Any]") -> Tool:
    """Return a tool for a plain function, such as one in a notebook; a tool is returned as it is.

    The function may be async or not, and may take the case as its first argument or not. What it returns is an
    `Output`, or text, or JSON data, which the model reads as JSON.

    Raises:
        TypeError: it is no function, or an argument lacks its type or its line in the docstring.
    """
    if isinstance(given, Tool):
        return given
    if not inspect.isfunction(given):
        raise TypeError(f"a tool is a function or a Tool, not {type(given).__name__}")
    hints = get_type_hints(given)
    first = next(iter(inspect.signature(given).parameters), None)
    takes_case = first is not None and (first == "case" or hints.get(first) is Case)

    async def call(case: Case, **arguments: Any) -> Output:
        taken = (case,) if takes_case else ()
        if inspect.iscoroutinefunction(given):
            return _output(await given(*taken, **arguments))
        return _output(await asyncio.to_thread(given, *taken, **arguments))

    result = hints.get("return")
    known = result if _is_record(result) else None
    return Tool(given.__name__, _description(given), build_parameters(given, skip=int(takes_case)), call, result=known)


def _description(function: Callable[..., Any], figures: Mapping[str, int] | None = None) -> str:
    description = _FIRST_SECTION.split(inspect.getdoc(function) or "")[0]
    description = _LINE_BREAK.sub(" ", description.strip())
    if figures:
        description = description.format_map(figures)
    if not description:
        raise TypeError(f"{function.__name__} needs a docstring to be a tool")
    return description


def _is_record(hint: Any) -> bool:
    return (
        isinstance(hint, type)
        and hint is not Output
        and (dataclasses.is_dataclass(hint) or hasattr(hint, "__required_keys__"))
    )


def _output(given: Any) -> Output:
    if isinstance(given, Output):
        return given
    if isinstance(given, str):
        return Output(given)
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        given = dataclasses.asdict(given)
    return Output(json.dumps(given, ensure_ascii=False), given)
