"""OpenAI's chat messages, as its interface takes them and its fine-tuning files hold them.

    {"messages": [{"role": "system", ...}, {"role": "user", "content": [{"type": "text"}, {"type": "image_url"}]},
                  {"role": "assistant", "content": "...", "tool_calls": [{"id", "type": "function", "function"}]},
                  {"role": "tool", "tool_call_id": "...", "content": "..."}, ...],
     "tools": [{"type": "function", "function": {...}}]}

Read for this: the message types of the ``openai`` package (``openai.types.chat``). A tool message takes text alone, so
the images of results follow in a user message of their own, once all results of the step are given. The interface has
no field for thinking; ``reasoning_content`` is what DeepSeek's and vLLM's servers call it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geosleuth.models import Prompt, Step
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool, native_tools

from .dialect import (
    Cuts,
    Handles,
    Item,
    Result,
    Talk,
    call_of,
    caption,
    image_path,
    messages_of,
    plain_json,
    prompt_segments,
    read_segments,
    tool_names,
    word,
)

NAME = "openai"
CARRIES = frozenset({"ids"})
_PICTURES_OF = "Pictures of the result of "

Parts = list[dict[str, Any]]


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> tuple[dict[str, Any], Cuts]:
    """The record of a conversation; nothing in it needs to be cut."""
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
            parts = _parts(prompt_segments(item, item.text, talk.sizes), item.images, trajectory_id)
            messages.append({"role": "user", "content": parts if item.images else item.text})
        else:
            messages.append(_spoken(item))
    messages += _pictures(results, talk, trajectory_id)
    return {"messages": messages, **({"tools": native_tools(tools)} if tools else {})}, {}


def _spoken(step: Step) -> dict[str, Any]:
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
            parts += _parts(segments, result.images, trajectory_id)
    return [{"role": "user", "content": parts}] if parts else []


def _parts(segments: Sequence[str], handles: Sequence[str], trajectory_id: str) -> Parts:
    parts: Parts = []
    for number, segment in enumerate(segments):
        if segment:
            parts.append({"type": "text", "text": segment})
        if number < len(handles):
            url = image_path(trajectory_id, handles[number])
            parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def read(record: Mapping[str, Any], cuts: Cuts) -> Talk:  # noqa: ARG001  (nothing is cut here)
    """The conversation of a record.

    Raises:
        BadInput: it can't be read as one.
    """
    system, handles, sizes = "", Handles(), dict[str, tuple[int, int]]()
    items: list[Item] = []
    for number, message in enumerate(messages_of(record, "messages")):
        role = message.get("role")
        if role in ("system", "developer") and number == 0:
            system = "".join(_texts(message.get("content")))
        elif role == "assistant":
            items.append(_heard(message))
        elif role in ("tool", "function"):
            text = "".join(_texts(message.get("content")))
            items.append(Result(text, (), word(message, "tool_call_id"), word(message, "name")))
        elif role in ("user", "system", "developer"):
            segments, shown = _split(message.get("content"), handles)
            if not _give(items, segments, shown, sizes):
                items.append(Prompt(read_segments(segments, shown, sizes), tuple(shown)))
        else:
            raise BadInput(f"message {number + 1} has the role {str(role)[:40]!r}, which is not one of OpenAI's")
    return Talk(system, tool_names(record.get("tools")), tuple(items), sizes)


def _heard(message: Mapping[str, Any]) -> Step:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadInput('"tool_calls" must be a list')
    thinking = word(message, "reasoning_content") or word(message, "reasoning") or ""
    return Step("".join(_texts(message.get("content"))), thinking, tuple(call_of(call) for call in calls))


def _texts(content: Any) -> Iterator[str]:
    """The texts of a content, images left aside."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]
    elif content is not None:
        raise BadInput("the content of a message must be text or a list of parts")


def _split(content: Any, handles: Handles) -> tuple[list[str], list[str]]:
    """The texts around the images of a content, and the images."""
    if not isinstance(content, list):
        return ["".join(_texts(content))], []
    segments, shown = [""], list[str]()
    for part in content:
        image = part.get("image_url") if isinstance(part, Mapping) else None
        if image is None:
            segments[-1] += "".join(_texts([part]))
            continue
        url = image.get("url") if isinstance(image, Mapping) else image
        if not isinstance(url, str):
            raise BadInput("an image part must have a url")
        shown.append(handles.of(url))
        segments.append("")
    return segments, shown


def _give(items: list[Item], segments: Sequence[str], shown: Sequence[str], sizes: dict[str, tuple[int, int]]) -> bool:
    """Whether a user message holds the pictures of the results just before it; then they get them."""
    if not shown or not segments[0].startswith(_PICTURES_OF) or not items or not isinstance(items[-1], Result):
        return False
    at = len(items)
    while at and isinstance(items[at - 1], Result):
        at -= 1
    for segment, handle in zip(segments, shown, strict=False):
        line = segment
        if segment.startswith(_PICTURES_OF):
            at = _next_result(items, at, segment)
            result = items[at]
            line = segment[len(f"{_PICTURES_OF}{result.call_id}:") :] if isinstance(result, Result) else segment
        result = items[at]
        if not isinstance(result, Result):
            return False
        read_segments([line, ""], [handle], sizes)
        items[at] = Result(result.text, (*result.images, handle), result.call_id, result.name)
    return True


def _next_result(items: Sequence[Item], start: int, segment: str) -> int:
    """Which result a line of pictures speaks of; the last one where it speaks of none."""
    for at in range(start, len(items)):
        item = items[at]
        if isinstance(item, Result) and not item.images and segment.startswith(f"{_PICTURES_OF}{item.call_id}:"):
            return at
    return len(items) - 1
