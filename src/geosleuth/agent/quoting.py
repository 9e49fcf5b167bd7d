"""Lines of signs quoted by their numbers: a small model need not spell again what `read_text` has listed.

``#2`` is line 2 of the newest reading, ``image-1#2`` that of the newest reading of an image, ``#*`` all lines of the
newest reading, one under the other. A number that no line has stays as it is written.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from geosleuth.tools import Observation, ToolCall

EVERY = "#*"
_QUOTE = re.compile(r"(image-\d{1,4})?#(\d{1,3}|\*)")


class Quotes:
    """The lines that a run has read so far."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._newest: tuple[str, ...] = ()
        self._by_image: dict[str, tuple[str, ...]] = {}

    def hear(self, observation: Observation) -> None:
        """Take in what a call brought, if it was a reading."""
        data = observation.data
        if observation.failure is None and observation.name == "read_text" and isinstance(data, Mapping):
            self._newest = tuple(str(line["text"]) for line in data.get("lines", ()))
            self._by_image[str(data.get("image"))] = self._newest

    def filled_in(self, call: ToolCall) -> ToolCall:
        """The call with the lines themselves in place of their numbers."""
        if isinstance(call.arguments, str):
            return call
        said = {name: self._spelled(value) for name, value in call.arguments.items()}
        return replace(call, arguments=said)

    def _spelled(self, value: Any) -> Any:
        return _QUOTE.sub(self._line, value) if isinstance(value, str) and "#" in value else value

    def _line(self, quote: re.Match[str]) -> str:
        image, number = quote.groups()
        lines = self._newest if image is None else self._by_image.get(image, ())
        if number == "*":
            return "\n".join(lines) or quote[0]
        return lines[int(number) - 1] if 0 < int(number) <= len(lines) else quote[0]


def quote(number: int, image: str | None = None) -> str:
    """How a line is quoted, by its number from 1 on: in the newest reading, or in that of an image."""
    return f"{image or ''}#{number}"
