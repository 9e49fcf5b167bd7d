"""Lines of signs quoted by their numbers: a small model need not spell again what `read_text` has listed.

``#2`` is line 2 of the newest reading that has any, ``image-1#2`` that of the newest of an image, ``#*`` all lines of
the newest. Several, as in ``#2, #4``, stand one under the other. A number that no line has stays as it is written.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geosleuth.tools import Observation, ToolCall

from .events import Said, ToolObserved

if TYPE_CHECKING:
    from .trajectory import Trajectory

EVERY = "#*"
READER = "read_text"
_QUOTE = re.compile(r"(image-\d{1,4})?#(\d{1,3}|\*)")
_ROW = re.compile(rf"{_QUOTE.pattern}(?:, ?{_QUOTE.pattern})*")


class Quotes:
    """The lines that a run has read so far."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._newest: tuple[str, ...] = ()
        self._by_image: dict[str, tuple[str, ...]] = {}

    def hear(self, observation: Observation) -> None:
        """Take in what a call brought, if it was a reading; one that is shown again counts as new."""
        data = observation.data
        shown = observation.failure in (None, "repeated") and observation.name == READER
        if shown and isinstance(data, Mapping) and data.get("lines"):
            self._newest = tuple(str(line["text"]) for line in data["lines"])
            self._by_image[str(data.get("image"))] = self._newest

    def filled_in(self, call: ToolCall) -> ToolCall:
        """The call with the lines themselves in place of their numbers."""
        if isinstance(call.arguments, str):
            return call
        said = {name: self._spelled(value) for name, value in call.arguments.items()}
        return replace(call, arguments=said)

    def _spelled(self, value: Any) -> Any:
        if not isinstance(value, str) or "#" not in value:
            return value
        return _ROW.sub(self._lines, value)

    def _lines(self, row: re.Match[str]) -> str:
        """Quotes side by side as lines one under the other; as they are written where one is of no line."""
        found = [self._line(quote) for quote in _QUOTE.finditer(row[0])]
        if None in found:
            return _QUOTE.sub(lambda quote: self._line(quote) or quote[0], row[0])
        return "\n".join(filter(None, found))

    def _line(self, quote: re.Match[str]) -> str | None:
        image, number = quote.groups()
        lines = self._newest if image is None else self._by_image.get(image, ())
        if number == "*":
            return "\n".join(lines) or None
        return lines[int(number) - 1] if 0 < int(number) <= len(lines) else None


def quotes_for(method: str) -> Quotes | None:
    """What fills in the calls of a run that was made with a method of ours; None where none are quoted."""
    from .methods import made_with

    made = made_with(method)
    return Quotes() if made is not None and made.quotes_lines else None


def spelled_out(trajectory: "Trajectory") -> "Trajectory":
    """A run with its calls as they were carried out, for whoever shows or compares them."""
    quotes, events = quotes_for(trajectory.started.method), []
    if quotes is None:
        return trajectory
    for event in trajectory.events:
        match event.body:
            case Said(step=step) as said:
                calls = tuple(map(quotes.filled_in, step.calls))
                events.append(replace(event, body=replace(said, step=replace(step, calls=calls))))
            case ToolObserved(observation=observation):
                quotes.hear(observation)
                events.append(event)
            case _:
                events.append(event)
    return replace(trajectory, events=tuple(events))


def quote(number: int, image: str | None = None) -> str:
    """How a line is quoted, by its number from 1 on: in the newest reading, or in that of an image."""
    return f"{image or ''}#{number}"
