"""Plain text in tags: what a model on the tagged wire reads and writes, message by message.

    {"messages": [{"role": "system", "content": "... # Tools ... <tools>...</tools> ..."},
                  {"role": "user", "content": "image-1 (640 x 480 pixels):<image>Where was this photo taken?"},
                  {"role": "assistant", "content": "<think>...</think> ... <tool_call>...</tool_call>"},
                  {"role": "user", "content": "<tool_response>...</tool_response>"}, ...],
     "images": ["images/.../image-1.jpg", ...]}

The text is that of `geosleuth.models.tagged`, which was read for this and is used for it: a model trained on these
messages sees in a run what it saw in training. ``<image>`` stands where an image belongs.
"""

from collections.abc import Sequence
from typing import Any, Never

from geosleuth.models import Conversation, Step
from geosleuth.models.tagged import render_step, system_text
from geosleuth.tools import Tool

from .dialect import (
    PLACES,
    Talk,
    TextWriter,
    image_path,
    sides,
)

NAME = "tagged"


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> dict[str, Any]:
    """Return the record of a conversation."""
    system = system_text(Conversation(talk.system, (), tuple(tools), _no_picture))
    messages = [{"role": "system", "content": PLACES.escape(system)}] if system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            messages.append({"role": "assistant", "content": PLACES.escape(render_step(turn))})
        else:
            messages.append({"role": "user", "content": writer.turn(turn)})
    images = [image_path(trajectory_id, handle) for handle in writer.handles]
    return {"messages": messages, "images": images}


def _no_picture(handle: str) -> Never:
    raise LookupError(handle)
