"""A stand-in for a model: it says what the script says and keeps what it was shown."""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from geosleuth.models import Conversation, Step, Usage
from geosleuth.tools import ToolCall

Line = Step | Exception | Callable[[Conversation], Step]


class ScriptedPolicy:
    """Says one line of its script a turn; an exception in the script is raised, a function is asked.

    After its last line it goes on saying ``then`` (nothing at all by default). ``seen`` holds every conversation.
    """

    def __init__(
        self, script: Iterable[Line], *, then: Line | None = None, seconds: float = 0.0, name: str = "scripted"
    ) -> None:
        self._script = list(script)
        self._then = then if then is not None else Step()
        self._seconds = seconds
        self.name = name
        self.hosts: frozenset[str] = frozenset()
        self.seen: list[Conversation] = []
        self.closed = False

    async def step(self, conversation: Conversation) -> Step:
        line = self._script[len(self.seen)] if len(self.seen) < len(self._script) else self._then
        self.seen.append(conversation)
        await asyncio.sleep(self._seconds)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Step) else line(conversation)

    async def aclose(self) -> None:
        self.closed = True


def call(name: str, id: str = "", **arguments: Any) -> ToolCall:  # noqa: A002  (the field's own name)
    """One call; the loop gives it an id of its own where none is given."""
    return ToolCall(id, name, arguments)


def calls(*wanted: ToolCall, thinking: str = "", text: str = "", usage: Usage | None = None) -> Step:
    """A step that calls tools."""
    return Step(text, thinking, wanted, usage or Usage(100, 20), "calls", "scripted-1")


def answers(lat: float, lon: float, *, usage: Usage | None = None, **fields: Any) -> Step:
    """A step that answers with the JSON object that every parser reads."""
    return says(json.dumps({"lat": lat, "lon": lon, **fields}), usage=usage)


def says(text: str, *, usage: Usage | None = None) -> Step:
    """A step of words alone."""
    return Step(text, usage=usage or Usage(100, 20), model="scripted-1")
