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
from geosleuth.models.tagged import DATA, REPLIES, prompt_text
from geosleuth.tools import Tool, native_tools

from .dialect import (
    Talk,
    image_path,
    prompt_segments,
    result_segments,
)

NAME = "trl"

Blocks = list[dict[str, Any]]


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> dict[str, Any]:
    """Return the record of a conversation."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": _blocks([talk.system])}] if talk.system else []
    handles: list[str] = []
    for item in talk.items:
        if isinstance(item, Step):
            messages.append(_build_step_message(item))
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
    return record | {"images": [image_path(trajectory_id, handle) for handle in handles]}


def _blocks(segments: Sequence[str], paths: Sequence[str] = ()) -> Blocks:
    blocks: Blocks = []
    for number, segment in enumerate(segments):
        if number:
            blocks.append({"type": "image", "image": paths[number - 1]} if paths else {"type": "image"})
        if segment:
            blocks.append({"type": "text", "text": segment})
    return blocks


def _build_step_message(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _blocks([REPLIES.escape(step.text)])}
    if step.thinking:
        message["reasoning_content"] = REPLIES.escape(step.thinking)
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
