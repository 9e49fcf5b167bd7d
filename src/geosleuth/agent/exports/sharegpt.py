"""ShareGPT conversations as LLaMA-Factory reads them.

    {"conversations": [{"from": "system", "value": "..."}, {"from": "human", "value": "...<image>..."},
                       {"from": "function_call", "value": "<think>...</think>[{"name": ..., "arguments": ...}]"},
                       {"from": "observation", "value": "..."}, {"from": "gpt", "value": "..."}],
     "tools": "[{"name": ..., "description": ..., "parameters": ...}]", "images": ["..."]}

Read for this, in hiyouga/LLaMA-Factory: ``data/README.md``, and ``converter.py`` and ``formatter.py`` of its data room.
Human and observation must stand in odd places, gpt and function_call in even ones, and a conversation that breaks off
before a reply is skipped. So several results are one observation, joined as the converter joins them, and results with
words after them are one human turn, in tags. A call is JSON after the thinking; where the reply has words too, the JSON
goes between ``<tool_call>`` tags, which only newer versions of the formatter take. ``tools`` is JSON text.
"""

from collections.abc import Sequence
from typing import Any

from geosleuth.models import Step
from geosleuth.models.tagged import REPLIES
from geosleuth.tools import Tool

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

NAME = "sharegpt"


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> dict[str, Any]:
    """Return the record of a conversation."""
    turns = [{"from": "system", "value": PLACES.escape(talk.system)}] if talk.system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            who = "function_call" if turn.calls else "gpt"
            turns.append({"from": who, "value": PLACES.escape(_format_step(turn))})
            continue
        results = [item for item in turn if isinstance(item, Result)]
        if len(results) == len(turn):
            turns.append({"from": "observation", "value": writer.results(results)})
        else:
            turns.append({"from": "human", "value": writer.turn(turn)})
    images = [image_path(trajectory_id, handle) for handle in writer.handles]
    schemas = plain_json([tool.schema() for tool in tools])
    return {"conversations": turns, "tools": schemas, "images": images}


def _format_step(step: Step) -> str:
    words = REPLIES.escape(step.text)
    if not step.calls:
        return thought(step, "\n\n") + words
    calls = [
        {"name": call.name, "arguments": call.arguments if isinstance(call.arguments, str) else dict(call.arguments)}
        for call in step.calls
    ]
    text = REPLIES.escape_in_json(plain_json(calls if len(calls) > 1 else calls[0]))
    return thought(step, "\n\n") + (f"{words}\n<tool_call>\n{text}\n</tool_call>" if words else text)
