"""Conversations as TRL's trainers take them for models that see and call tools.

    {"messages": [{"role": "user", "content": [{"type": "text", "text": "..."}, {"type": "image"}, ...]},
                  {"role": "assistant", "content": [...], "reasoning_content": "...",
                   "tool_calls": [{"type": "function", "function": {"name": ..., "arguments": {...}}}]},
                  {"role": "tool", "name": "...", "content": [..., {"type": "image", "image": "..."}]}, ...],
     "tools": [{"type": "function", "function": {...}}], "images": ["..."]}

Read for this: TRL's "Dataset formats and types" (``docs/source/dataset_formats.md`` in huggingface/trl, on tool calling
and on vision) and ``prepare_multimodal_messages``. That one fills the image blocks from ``images`` in their order, but
passes over those of tools: blocks there name their image themselves, and processors open it. Chat templates make text
of the messages, so they are escaped just as `geosleuth.models` escapes them for local weights. ``reasoning_content``
is where Qwen's templates look for thinking.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from geosleuth.models import Prompt, Step
from geosleuth.models.tagged import DATA, PROMPTS, SPOKEN, prompt_text
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool, ToolCall, native_tools

from .dialect import (
    Cuts,
    Handles,
    Item,
    Result,
    Talk,
    call_of,
    image_path,
    messages_of,
    paths_of,
    prompt_segments,
    read_segments,
    result_segments,
    tool_names,
    word,
)

NAME = "trl"
CARRIES = frozenset({"ids", "names"})

Blocks = list[dict[str, Any]]


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> tuple[dict[str, Any], Cuts]:
    """The record of a conversation; nothing in it needs to be cut."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": _blocks([talk.system])}] if talk.system else []
    handles: list[str] = []
    for item in talk.items:
        if isinstance(item, Step):
            messages.append(_spoken(item))
            continue
        if isinstance(item, Prompt):
            handles += item.images
            content = _blocks(prompt_segments(item, prompt_text(item), talk.sizes))
            messages.append({"role": "user", "content": content})
        else:
            paths = [image_path(trajectory_id, handle) for handle in item.images]
            content = _blocks(result_segments(item, DATA.escape(item.text), talk.sizes), paths)
            messages.append({"role": "tool", "name": item.name, "tool_call_id": item.call_id, "content": content})
    record: dict[str, Any] = {"messages": messages}
    if tools:
        record["tools"] = native_tools(tools)
    return record | {"images": [image_path(trajectory_id, handle) for handle in handles]}, {}


def _blocks(segments: Sequence[str], paths: Sequence[str] = ()) -> Blocks:
    blocks: Blocks = []
    for number, segment in enumerate(segments):
        if number:
            blocks.append({"type": "image", "image": paths[number - 1]} if paths else {"type": "image"})
        if segment:
            blocks.append({"type": "text", "text": segment})
    return blocks


def _spoken(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _blocks([SPOKEN.escape(step.text)])}
    if step.thinking:
        message["reasoning_content"] = SPOKEN.escape(step.thinking)
    if step.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _each_text(call.arguments, DATA.escape)},
            }
            for call in step.calls
        ]
    return message


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case Mapping():
            return {change(key): _each_text(inner, change) for key, inner in value.items()}
        case list() | tuple():
            return [_each_text(inner, change) for inner in value]
        case _:
            return value


def read(record: Mapping[str, Any], cuts: Cuts) -> Talk:  # noqa: ARG001  (nothing is cut here)
    """The conversation of a record.

    Raises:
        BadInput: it can't be read as one.
    """
    handles, sizes, system = Handles(paths_of(record.get("images"))), dict[str, tuple[int, int]](), ""
    items: list[Item] = []
    for number, message in enumerate(messages_of(record, "messages")):
        role = message.get("role")
        segments, paths = _segments(message.get("content"))
        shown = tuple(handles.next() if path is None else handles.of(path) for path in paths)
        text = read_segments(segments, shown, sizes)
        if role == "system" and number == 0:
            system = text
        elif role == "assistant":
            items.append(_heard(message, text))
        elif role == "tool":
            items.append(Result(DATA.unescape(text), shown, word(message, "tool_call_id"), word(message, "name")))
        elif role in ("user", "system"):
            items.append(Prompt(PROMPTS.unescape(text), shown))
        else:
            raise BadInput(f"message {number + 1} has the role {str(role)[:40]!r}, which chat templates don't know")
    return Talk(system, tool_names(record.get("tools")), tuple(items), sizes)


def _heard(message: Mapping[str, Any], text: str) -> Step:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadInput('"tool_calls" must be a list')
    thinking = word(message, "reasoning_content") or word(message, "thinking") or ""
    return Step(SPOKEN.unescape(text), SPOKEN.unescape(thinking), tuple(_call(call) for call in calls))


def _call(given: Any) -> ToolCall:
    call = call_of(given)
    arguments: Any = _each_text(call.arguments, DATA.unescape)
    return ToolCall(call.id, call.name, arguments)


def _segments(content: Any) -> tuple[list[str], list[str | None]]:
    """The texts around the images of a content, and the images' paths where the blocks name them."""
    if content is None or isinstance(content, str):
        return [content or ""], []
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        raise BadInput("the content of a message must be text or a list of blocks")
    segments, paths = [""], list[str | None]()
    for block in content:
        if block.get("type") == "image":
            segments.append("")
            paths.append(_path_in(block))
        else:
            segments[-1] += word(block, "text") or ""
    return segments, paths


def _path_in(block: Mapping[str, Any]) -> str | None:
    """The path or address that a block names its image by; None where it takes the next of the record's."""
    named = next((block[key] for key in ("image", "path", "url") if block.get(key) is not None), None)
    return None if named is None else paths_of([named])[0]
