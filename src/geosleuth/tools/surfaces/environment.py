"""Tools as a training environment: a class with one method for each, as TRL's ``environment_factory`` takes it.

TRL makes one object per rollout, calls ``reset`` with the columns of the data set, lists every public method as a tool
(its schema read from the signature and the docstring) and calls them with what the model wrote.
"""

import asyncio
import inspect
import keyword
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from geosleuth.tools.declare import Tool
from geosleuth.tools.kinds import without_none
from geosleuth.tools.model import Case, Observation, ToolCall
from geosleuth.tools.toolset import Toolset

_T = TypeVar("_T")
_TAKEN = ("reset", "get_reward")


class EnvironmentBase:
    """What all environments share; `environment_class` adds the tools.

    Attributes:
        case: what the tools work on, made anew by every ``reset``; None before the first.
        observations: the outcomes of all calls since, for rewards to look at.
    """

    case: Case | None = None
    observations: tuple[Observation, ...] = ()

    def _carry_out(self, call: ToolCall) -> Observation:
        """The outcome of one call; named so that no trainer takes it for a tool."""
        raise NotImplementedError


def own_words(seen: Observation) -> str:
    """What a tool says, and nothing besides."""
    return seen.text


def environment_class(
    toolset: Toolset, make_case: Callable[..., Case], *, words: Callable[[Observation], str] = own_words
) -> type[EnvironmentBase]:
    """A class whose objects are rollouts' environments.

    A method returns what the tool says; where there are pictures too, a list of text and image parts. A bad call is
    answered as in any other run, by the words of its observation.

    Args:
        toolset: one method is made for each of its tools.
        make_case: makes the case of a rollout from the columns of the data set, given by name.
        words: what a model reads of an observation; give what the wire of later runs uses, so that training sees the
            same.

    Raises:
        ValueError: a tool's name can't be that of a method.
    """
    background = Background()

    def carry_out(self: EnvironmentBase, call: ToolCall) -> Observation:
        if self.case is None:
            raise RuntimeError("reset was not called")
        return background.run(toolset.run([call], self.case))[0]

    def reset(self: EnvironmentBase, /, **columns: Any) -> None:
        self.case = make_case(**columns)
        self.observations = ()

    members: dict[str, Any] = {"reset": reset, "_carry_out": carry_out, "__doc__": "The tools of a run, as methods."}
    return type("ToolEnvironment", (EnvironmentBase,), members | tool_methods(toolset, words=words))


def tool_methods(
    tools: Iterable[Tool], *, words: Callable[[Observation], str] = own_words
) -> dict[str, Callable[..., Any]]:
    """A method for each tool, by name, for classes of `EnvironmentBase`; each lets ``_carry_out`` make its call.

    Raises:
        ValueError: a tool's name can't be that of a method.
    """
    methods = {}
    for one in tools:
        if not one.name.isidentifier() or keyword.iskeyword(one.name) or one.name.startswith("_") or one.name in _TAKEN:
            raise ValueError(f"the tool {one.name!r} can't be a method of a training environment")
        methods[one.name] = _method(one, words)
    return methods


def _method(one: Tool, words: Callable[[Observation], str]) -> Callable[..., Any]:
    def method(self: EnvironmentBase, /, **arguments: Any) -> str | list[dict[str, Any]]:
        seen = self._carry_out(ToolCall(f"call-{len(self.observations) + 1}", one.name, arguments))
        self.observations += (seen,)
        return content_parts(seen, words(seen), self.case)

    method.__name__ = one.name
    method.__qualname__ = f"ToolEnvironment.{one.name}"
    method.__doc__ = _docstring(one)
    # The schema is read from these. No return type is given and no type says None: either would add to the schema.
    hints = {parameter.name: without_none(parameter.type) for parameter in one.parameters}
    method.__annotations__ = hints
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [
            inspect.Parameter(
                parameter.name,
                # A required argument may come after one that is not, which only keyword arguments allow.
                inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default,
                annotation=hints[parameter.name],
            )
            for parameter in one.parameters
        ]
    )
    return method


def _docstring(one: Tool) -> str:
    if not one.parameters:
        return one.description
    lines = (f"    {parameter.name}: {parameter.description}" for parameter in one.parameters)
    return "\n".join((one.description, "", "Args:", *lines))


def content_parts(seen: Observation, text: str, case: Case | None) -> str | list[dict[str, Any]]:
    """The words alone or, where pictures came with them, a list of text and image parts as chat templates take it."""
    if not seen.images or case is None:
        return text
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for info in seen.images:
        parts += [
            {"type": "text", "text": f"\n{info.caption}"},
            {"type": "image", "image": case.album[info.handle].image},
        ]
    return parts


class Background:
    """An event loop in a thread of its own: the methods are plain functions, and may be called from anywhere."""

    def __init__(self) -> None:
        """Nothing is started until the first call."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do the work there, and wait for it."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="tool-environment", daemon=True).start()
                weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()
