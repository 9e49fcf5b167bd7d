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

from collections.abc import Mapping, Sequence
from typing import Any

from geosleuth.models import Step
from geosleuth.models.tagged import SPOKEN
from geosleuth.support.errors import BadInput
from geosleuth.tools import Tool

from .dialect import (
    PLACES,
    Cuts,
    Handles,
    Item,
    Result,
    Talk,
    TextReader,
    TextWriter,
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
    word,
)

NAME = "sharegpt"
CARRIES: frozenset[str] = frozenset()
_THOUGHT_END = "</think>"


def write(talk: Talk, tools: Sequence[Tool], trajectory_id: str) -> tuple[dict[str, Any], Cuts]:
    """The record of a conversation, and where to cut what stands together in it."""
    turns = [{"from": "system", "value": PLACES.escape(talk.system)}] if talk.system else []
    writer = TextWriter(talk.sizes)
    for turn in sides(talk.items):
        if isinstance(turn, Step):
            who = "function_call" if turn.calls else "gpt"
            turns.append({"from": who, "value": PLACES.escape(_spoken(turn))})
            continue
        results = [item for item in turn if isinstance(item, Result)]
        if len(results) == len(turn):
            turns.append({"from": "observation", "value": writer.results(results)})
        else:
            turns.append({"from": "human", "value": writer.turn(turn)})
    images = [image_path(trajectory_id, handle) for handle in writer.handles]
    schemas = plain_json([tool.schema() for tool in tools])
    return {"conversations": turns, "tools": schemas, "images": images}, writer.cuts


def _spoken(step: Step) -> str:
    words = SPOKEN.escape(step.text)
    if not step.calls:
        return thought(step, "\n\n") + words
    calls = [
        {"name": call.name, "arguments": call.arguments if isinstance(call.arguments, str) else dict(call.arguments)}
        for call in step.calls
    ]
    text = SPOKEN.escape_in_json(plain_json(calls if len(calls) > 1 else calls[0]))
    return thought(step, "\n\n") + (f"{words}\n<tool_call>\n{text}\n</tool_call>" if words else text)


def read(record: Mapping[str, Any], cuts: Cuts) -> Talk:
    """The conversation of a record.

    Raises:
        BadInput: it can't be read as one.
    """
    reader = TextReader(Handles(paths_of(record.get("images"))), cuts)
    system = word(record, "system") or ""
    items: list[Item] = []
    for number, turn in enumerate(messages_of(record, "conversations")):
        who, value = turn.get("from"), text_of(turn.get("value"))
        if who == "system" and number == 0:
            system = PLACES.unescape(value)
        elif who == "gpt":
            items.append(step_of(read_words(value)))
        elif who in ("function_call", "function"):
            items.append(_heard(value))
        elif who == "observation":
            items += reader.results(value)
        elif who == "human":
            items += reader.turn(value)
        else:
            raise BadInput(
                f"entry {number + 1} is from {str(who)[:40]!r}; here are system, human, gpt, function_call, observation"
            )
    return Talk(system, tool_names(record.get("tools")), tuple(items), reader.sizes)


def _heard(value: str) -> Step:
    """A call with what was thought and said before it."""
    before, end, rest = value.rpartition(_THOUGHT_END)
    if rest.lstrip()[:1] in ("{", "[") and "<tool_call>" not in rest:
        value = f"{before}{end}<tool_call>{rest}</tool_call>"
    return step_of(read_words(value))
