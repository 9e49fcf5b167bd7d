"""A tool is declared once, as a typed async function with a docstring; every surface is derived from it.

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
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from .model import Case, Output
from .needs import Need
from .results import Schema, result_schema
from .schema import Parameter, object_schema, parameters_of, read_arguments
from .viewer import Viewer

ToolFunction = Callable[..., Awaitable[Output]]

_FIRST_SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples?|Notes?):[ \t]*$", re.MULTILINE)
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


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

    @property
    def takes_box(self) -> bool:
        """Whether a call can name a part of an image."""
        return any(parameter.name == "bbox_2d" for parameter in self.parameters)

    @property
    def takes_image(self) -> bool:
        """Whether a call looks at an image that it names."""
        return any(parameter.name == "image" for parameter in self.parameters)

    def lacks(self, have: Collection[Need]) -> tuple[Need, ...]:
        """Return what it needs and a run does not have."""
        return tuple(need for need in self.needs if need not in have)

    @property
    def good_for(self) -> str:
        """What it is good for, on one line: as declared, or the first sentence of its description."""
        sentence = self.summary.partition(". ")[0].rstrip(".")
        return self.use or f"{sentence[:1].lower()}{sentence[1:]}"

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n\n")[0]

    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON schema of the arguments: what native tool calling wants."""
        return {"name": self.name, "description": self.description, "parameters": object_schema(self.parameters)}

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

    Raises:
        TypeError: the function can't be a tool: it is not async, or a type or a docstring line is missing.
    """

    def declare(function: ToolFunction) -> Tool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} must be async to be a tool")
        return Tool(
            name,
            _description(function, figures),
            parameters_of(function),
            function,
            aliases,
            dict(renames or {}),
            use,
            result,
            viewer or Viewer(),
            needs,
            outside_runs,
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
    return Tool(given.__name__, _description(given), parameters_of(given, skip=int(takes_case)), call, result=known)


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
