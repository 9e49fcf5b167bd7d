"""OpenAI's chat messages, as its interface takes them and its fine-tuning files hold them.

    {"messages": [{"role": "system", ...}, {"role": "user", "content": [{"type": "text"}, {"type": "image_url"}]},
                  {"role": "assistant", "content": "...", "tool_calls": [{"id", "type": "function", "function"}]},
                  {"role": "tool", "tool_call_id": "...", "content": "..."}, ...],
     "tools": [{"type": "function", "function": {...}}]}

Read for this: the message types of the ``openai`` package (``openai.types.chat``). A tool message takes text alone, so
the images of results follow in a user message of their own, once all results of the step are given. The interface has
no field for thinking; ``reasoning_content`` is what DeepSeek's and vLLM's servers call it.
"""

from collections.abc import Sequence
from typing import Any

from geosleuth.models import Prompt, Step
from geosleuth.tools import Tool, native_tools

from .dialect import (
    Result,
    Talk,
    caption,
    image_path,
    plain_json,
    prompt_segments,
)

NAME = "openai"
_PICTURES_OF = "Pictures of the result of "

Parts = list[dict[str, Any]]


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> dict[str, Any]:
    """Return the record of a conversation."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": talk.system}] if talk.system else []
    results: list[Result] = []
    for item in talk.items:
        if isinstance(item, Result):
            results.append(item)
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": item.text})
            continue
        messages += _pictures(results, talk, trajectory_id)
        results = []
        if isinstance(item, Prompt):
            parts = _build_content_parts(prompt_segments(item, item.text, talk.sizes), item.images, trajectory_id)
            messages.append({"role": "user", "content": parts if item.images else item.text})
        else:
            messages.append(_build_assistant_message(item))
    messages += _pictures(results, talk, trajectory_id)
    return {"messages": messages, **({"tools": native_tools(tools)} if tools else {})}


def _build_assistant_message(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or (None if step.calls else "")}
    if step.thinking:
        message["reasoning_content"] = step.thinking
    if step.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments if isinstance(call.arguments, str) else plain_json(call.arguments),
                },
            }
            for call in step.calls
        ]
    return message


def _pictures(results: Sequence[Result], talk: Talk, trajectory_id: str) -> list[dict[str, Any]]:
    parts: Parts = []
    for result in results:
        if result.images:
            parts.append({"type": "text", "text": f"{_PICTURES_OF}{result.call_id}:"})
            segments = [*(caption(handle, talk.sizes) for handle in result.images), ""]
            parts += _build_content_parts(segments, result.images, trajectory_id)
    return [{"role": "user", "content": parts}] if parts else []


def _build_content_parts(segments: Sequence[str], handles: Sequence[str], trajectory_id: str) -> Parts:
    parts: Parts = []
    for number, segment in enumerate(segments):
        if segment:
            parts.append({"type": "text", "text": segment})
        if number < len(handles):
            url = image_path(trajectory_id, handles[number])
            parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts
