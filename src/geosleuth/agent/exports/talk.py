"""What of a trajectory every dialect can say: the system's words, the tools, and who said what, in order.

A dialect writes a `Talk` and reads one back. The rest of a trajectory is kept by `frame`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.events import Event, Prompted, Said, ToolObserved
from geosleuth.agent.trajectory import Trajectory
from geosleuth.errors import BadInput, BrokenPlugin
from geosleuth.policies import Prompt, Step
from geosleuth.tools import ImageInfo, Output, Tool, ToolCall

ERROR = "Error: "
"""What the result of a failed call begins with: no dialect has another place for it."""

_CAPTION = re.compile(r" \(([0-9]{1,9}) x ([0-9]{1,9}) pixels\):|:")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call, as it is shown: failures begin with `ERROR`; images by their handles.

    ``call_id`` and ``name`` are None where the dialect does not say them.
    """

    text: str
    images: tuple[str, ...] = ()
    call_id: str | None = None
    name: str | None = None


Item = Prompt | Step | Result
"""One thing that was said. Of a step only its words, its thinking and its calls count here."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation; ``sizes`` are those of images, as far as they are told."""

    system: str
    tools: tuple[str, ...]
    items: tuple[Item, ...]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)


def item_of(event: Event) -> Item | None:
    """What an event adds to the conversation; None where it adds nothing, as a reply without any words does."""
    match event.body:
        case Prompted(prompt=prompt):
            return prompt
        case Said(step=step) if step.text or step.thinking or step.calls:
            return step
        case ToolObserved(observation=seen):
            text = f"{ERROR}{seen.text}" if seen.failure else seen.text
            return Result(text, tuple(image.handle for image in seen.images), seen.call_id, seen.name)
        case _:
            return None


def talk_of(trajectory: Trajectory) -> Talk:
    """The conversation of a trajectory, whole: nothing that a context policy would leave out is missing."""
    items = tuple(item for event in trajectory.events if (item := item_of(event)) is not None)
    sizes = {image.handle: image.size for image in trajectory.images}
    return Talk(trajectory.started.system, trajectory.started.tools, items, sizes)


def caption(handle: str, sizes: Mapping[str, tuple[int, int]]) -> str:
    """The line just before an image, the same as models get to see."""
    size = sizes.get(handle)
    return f"{handle}:" if size is None else ImageInfo(handle, size, 0, (0, 0, 0, 0)).caption


def prompt_segments(prompt: Prompt, text: str, sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """The texts around a prompt's images: each caption, then the words."""
    return [*(caption(handle, sizes) for handle in prompt.images), text]


def result_segments(result: Result, text: str, sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """The texts around a result's images: the words with the first caption, each other caption, and nothing."""
    if not result.images:
        return [text]
    first, *others = (caption(handle, sizes) for handle in result.images)
    return [f"{text}\n{first}", *others, ""]


def read_segments(segments: Sequence[str], handles: Sequence[str], sizes: dict[str, tuple[int, int]]) -> str:
    """The words of either, their captions taken out; what is no caption stays. Sizes are noted on the way."""
    words = []
    for segment, handle in zip(segments, handles, strict=False):
        before, _, line = segment.rpartition("\n")
        found = _CAPTION.fullmatch(line, len(handle)) if line.startswith(handle) else None
        if found and found[1]:
            sizes[handle] = (int(found[1]), int(found[2]))
        words.append(before if found else segment)
    return "".join([*words, *segments[len(handles) :]])


def plain_json(value: Any) -> str:
    """A value as one line of JSON, as trajectories write it."""
    return to_line(value).decode().rstrip("\n")


def arguments_of(given: Any) -> Mapping[str, Any] | str:
    """The arguments of a call, given as an object or as JSON; text that is no object stays text."""
    if isinstance(given, str):
        try:
            return from_line(given.encode("utf-8", "surrogatepass"))
        except (BadInput, UnicodeError):
            return given
    if given is None:
        return {}
    return dict(given) if isinstance(given, Mapping) else plain_json(given)


def call_of(given: Any) -> ToolCall:
    """A call given as an object with a name and arguments, in OpenAI's form or bare.

    Raises:
        BadInput: it has no name.
    """
    call_id = given.get("id") if isinstance(given, Mapping) else None
    inner = given.get("function", given) if isinstance(given, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise BadInput("a call must be an object with a name and arguments")
    return ToolCall(call_id if isinstance(call_id, str) else "", inner["name"], arguments_of(inner.get("arguments")))


def offered(names: Iterable[str], known: Iterable[Tool] | None = None) -> list[Tool]:
    """The tools of a run, described; one that nobody knows any more has its name and nothing else.

    Args:
        names: as the run called them.
        known: where to look; left out, all tools there are.
    """
    if known is None:
        return [_named(name, _installed(name)) for name in names]
    by_name: dict[str, Tool] = {}
    for tool in known:
        for name in (tool.name, *tool.aliases):
            by_name.setdefault(name, tool)
    return [_named(name, by_name.get(name)) for name in names]


def _installed(name: str) -> Tool | None:
    from geosleuth.tools.toolset import all_tools

    try:
        return all_tools().get(name)
    except BrokenPlugin:
        return None


def _named(name: str, tool: Tool | None) -> Tool:
    if tool is None:
        return Tool(name, "", (), _nothing)
    return Tool(name, tool.description, tool.parameters, tool.function)


async def _nothing(*_: Any, **__: Any) -> Output:
    raise BadInput("this tool is only a name")


def tool_names(given: Any) -> tuple[str, ...]:
    """The names of the tools in a list of their schemas, or in its JSON.

    Raises:
        BadInput: it is no such list.
    """
    found = arguments_of(f'{{"tools":{given}}}') if isinstance(given, str) and given.strip() else {"tools": given or []}
    schemas = found["tools"] if isinstance(found, Mapping) else None
    if not isinstance(schemas, list):
        raise BadInput('"tools" must be a list of tools, or its JSON')
    inner = [one.get("function", one) if isinstance(one, Mapping) else None for one in schemas]
    if not all(isinstance(one, Mapping) and isinstance(one.get("name"), str) for one in inner):
        raise BadInput('every tool in "tools" must have a name')
    return tuple(one["name"] for one in inner if one is not None)
