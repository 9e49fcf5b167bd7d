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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from geosleuth.models import Step
from geosleuth.models.tagged import SPOKEN
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool, native_tools

from .dialect import (
    PLACES,
    Cuts,
    Handles,
    Item,
    Result,
    Talk,
    TextReader,
    TextWriter,
    arguments_of,
    call_of,
    image_path,
    messages_of,
    paths_of,
    plain_json,
    read_words,
    sides,
    step_of,
    text_of,
    thought,
    tool_names,
)

NAME = "ms-swift"
CARRIES: frozenset[str] = frozenset()


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> tuple[dict[str, Any], Cuts]:
    """The record of a conversation, and where to cut what stands together in it."""
    messages = [{"role": "system", "content": PLACES.escape(talk.system)}] if talk.system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            messages += _spoken(turn)
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
    return record, writer.cuts


def _spoken(step: Step) -> list[dict[str, str]]:
    messages = []
    if step.text or step.thinking:
        content = thought(step, "\n\n" if step.text else "\n") + SPOKEN.escape(step.text)
        messages.append({"role": "assistant", "content": PLACES.escape(content)})
    for call in step.calls:
        arguments = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
        content = SPOKEN.escape_in_json(plain_json({"name": call.name, "arguments": arguments}))
        messages.append({"role": "tool_call", "content": PLACES.escape(content)})
    return messages


def read(record: Mapping[str, Any], cuts: Cuts) -> Talk:
    """The conversation of a record.

    Raises:
        BadInput: it can't be read as one.
    """
    reader = TextReader(Handles(paths_of(record.get("images"))), cuts)
    system = ""
    items: list[Item] = []
    for number, message in enumerate(messages_of(record, "messages")):
        role, content = message.get("role"), text_of(message.get("content"))
        if role == "system" and number == 0:
            system = PLACES.unescape(content)
        elif role == "assistant":
            items.append(step_of(read_words(content)))
        elif role == "tool_call":
            _add_call(items, PLACES.unescape(content))
        elif role in ("tool_response", "tool"):
            items.append(reader.result(content))
        elif role in ("user", "system"):
            items += reader.turn(content)
        else:
            raise BadInput(f"message {number + 1} has the role {str(role)[:40]!r}, which is not one of ms-swift's")
    return Talk(system, tool_names(record.get("tools")), tuple(items), reader.sizes)


def _add_call(items: list[Item], content: str) -> None:
    """Add a call to the step that it belongs to."""
    call = call_of(arguments_of(content))
    last = items[-1] if items else None
    if isinstance(last, Step):
        items[-1] = replace(last, calls=(*last.calls, call))
    else:
        items.append(Step(calls=(call,)))
