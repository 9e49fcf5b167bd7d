"""Plain text in tags: what a model on the tagged wire reads and writes, message by message.

    {"messages": [{"role": "system", "content": "... # Tools ... <tools>...</tools> ..."},
                  {"role": "user", "content": "image-1 (640 x 480 pixels):<image>Where was this photo taken?"},
                  {"role": "assistant", "content": "<think>...</think> ... <tool_call>...</tool_call>"},
                  {"role": "user", "content": "<tool_response>...</tool_response>"}, ...],
     "images": ["images/.../image-1.jpg", ...]}

The text is that of `geosleuth.models.tagged`, which was read for this and is used for it: a model trained on these
messages sees in a run what it saw in training. ``<image>`` stands where an image belongs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Never

from geosleuth.agent.codec import from_line
from geosleuth.models import Conversation, Step
from geosleuth.models.tagged import render_step, system_text, tool_block
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool

from .dialect import (
    PLACES,
    Cuts,
    Handles,
    Item,
    Talk,
    TextReader,
    TextWriter,
    call_of,
    image_path,
    messages_of,
    paths_of,
    read_words,
    sides,
    step_of,
    text_of,
)

NAME = "tagged"
CARRIES: frozenset[str] = frozenset()
_TOOLS_END = "</tools>"


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> tuple[dict[str, Any], Cuts]:
    """The record of a conversation, and where to cut what stands together in it."""
    system = system_text(Conversation(talk.system, (), tuple(tools), _no_picture))
    messages = [{"role": "system", "content": PLACES.escape(system)}] if system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            messages.append({"role": "assistant", "content": PLACES.escape(render_step(turn))})
        else:
            messages.append({"role": "user", "content": writer.turn(turn)})
    images = [image_path(trajectory_id, handle) for handle in writer.handles]
    return {"messages": messages, "images": images}, writer.cuts


def read(record: Mapping[str, Any], cuts: Cuts) -> Talk:
    """The conversation of a record.

    Raises:
        BadInput: it can't be read as one.
    """
    reader = TextReader(Handles(paths_of(record.get("images"))), cuts)
    system, tools = "", tuple[str, ...]()
    items: list[Item] = []
    for number, message in enumerate(messages_of(record, "messages")):
        role, content = message.get("role"), text_of(message.get("content"))
        if role == "system" and number == 0:
            system, tools = _read_system(PLACES.unescape(content))
        elif role == "assistant":
            items.append(step_of(read_words(content)))
        elif role in ("user", "system"):
            items += reader.turn(content)
        else:
            raise BadInput(f"message {number + 1} has the role {str(role)[:40]!r}; here are system, user, assistant")
    return Talk(system, tools, tuple(items), reader.sizes)


def _read_system(text: str) -> tuple[str, tuple[str, ...]]:
    head, end, tail = tool_block(()).partition(_TOOLS_END)
    start = text.rfind(head)
    if start < 0 or not text.endswith(end + tail):
        return text, ()
    try:
        lines = text[start + len(head) : -len(end + tail)].split("\n")
        names = tuple(call_of(from_line(line.encode())).name for line in lines if line)
    except (BadInput, UnicodeError):
        return text, ()
    return text[:start].removesuffix("\n\n"), names


def _no_picture(handle: str) -> Never:
    raise LookupError(handle)
