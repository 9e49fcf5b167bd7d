"""Messages as ms-swift takes them for agents that see images.

    {"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "...<image>..."},
                  {"role": "assistant", "content": "<think>...</think>..."},
                  {"role": "tool_call", "content": "{"name": ..., "arguments": ...}"},
                  {"role": "tool_response", "content": "..."}, {"role": "assistant", "content": "..."}],
     "tools": "[{"type": "function", "function": {...}}]", "images": ["..."]}

Read for this, in modelscope/ms-swift: ``docs/source_en/Instruction/Agent-support.md`` and
``Customization/Custom-dataset.md``, ``swift/agent_template/base.py`` and the template that prepares messages. Each call
and each result is a message of its own, and ``tools`` is JSON text. The documentation asks for JSON in results too; the
code takes any text, and so results stay the words that models read in runs. A result may not be followed by a user
message there: where it would be, the whole turn is one user message with the results in tags.
"""

from collections.abc import Sequence
from typing import Any

from geosleuth.models import Step
from geosleuth.models.tagged import REPLIES
from geosleuth.tools import Tool, native_tools

from .dialect import (
    PLACES,
    Result,
    Talk,
    TextWriter,
    image_path,
    plain_json,
    sides,
    thought,
)

NAME = "ms-swift"


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> dict[str, Any]:
    """Return the record of a conversation."""
    messages = [{"role": "system", "content": PLACES.escape(talk.system)}] if talk.system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            messages += _build_step_messages(turn)
            continue
        results = [item for item in turn if isinstance(item, Result)]
        if len(results) == len(turn):
            messages += [{"role": "tool_response", "content": writer.result(result)} for result in results]
        else:
            messages.append({"role": "user", "content": writer.turn(turn)})
    record: dict[str, Any] = {"messages": messages}
    if tools:
        record["tools"] = plain_json(native_tools(tools))
    record["images"] = [image_path(trajectory_id, handle) for handle in writer.handles]
    return record


def _build_step_messages(step: Step) -> list[dict[str, str]]:
    messages = []
    if step.text or step.thinking:
        content = thought(step, "\n\n" if step.text else "\n") + REPLIES.escape(step.text)
        messages.append({"role": "assistant", "content": PLACES.escape(content)})
    for call in step.calls:
        arguments = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
        content = REPLIES.escape_in_json(plain_json({"name": call.name, "arguments": arguments}))
        messages.append({"role": "tool_call", "content": PLACES.escape(content)})
    return messages
