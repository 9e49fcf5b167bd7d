"""State of a run, read back from its conversation: the detective itself is stateless.

So it can be asked again at any point of a run, live, resumed or after the fact, and says the same.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from geosleuth.atlas.facts import get_script
from geosleuth.evidence import TextSeen
from geosleuth.evidence.sign_layout import on_one_panel, with_columns
from geosleuth.geo import FloatArray
from geosleuth.models.protocol import Conversation, Message, Observed, Prompt, Step
from geosleuth.photo import View
from geosleuth.support.errors import BadInput
from geosleuth.tools import Observation, Tool, ToolCall

# What the same call may well do better the next time is left to the loop; the detective asks once.
_NEVER_DONE = ("over_budget",)
# Minimum overlap at which two boxes belong to one line.
SAME_LINE_OVERLAP = 0.5

# Minimum probability of a correct reading for a line to be used at all.
MIN_BELIEVED = 0.3

# Minimum for a few letters of a script that only its own model reads: such models see letters in leaves and fur.
MIN_BELIEVED_SHORT = 0.65

# Minimum probability for a line to be reported as doubtful: lines below it are as likely misread as not.
MIN_DOUBTED = 0.5

_FEW_LETTERS = 12
_WIDELY_READ = frozenset({"Latn", "Hani", "Hira", "Kana"})
_WORSE_BY = 0.05


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call and what came of it; ``name`` is the tool's own name, even where the run uses another."""

    name: str
    call: ToolCall
    observation: Observation

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the call."""
        return self.call.arguments if isinstance(self.call.arguments, Mapping) else {}

    @property
    def data(self) -> Mapping[str, Any]:
        """The data that the tool returned; empty where it failed."""
        found = self.observation.data
        return found if self.observation.failure is None and isinstance(found, Mapping) else {}


class Names:
    """The tools that are on, by our own names: a method may show them under others."""

    def __init__(self, tools: Iterable[Tool], known: Iterable[str]) -> None:
        """Find out which of the known tools are on."""
        self._shown: dict[str, str] = {}
        on = tuple(tools)
        for own in known:
            shown = next((item.name for item in on if own == item.name or own in item.aliases), None)
            if shown is not None:
                self._shown[own] = shown
        self._own = {shown: own for own, shown in self._shown.items()}

    def __contains__(self, own: object) -> bool:
        return own in self._shown

    def shown(self, own: str) -> str:
        """Return the name of an enabled tool in this run."""
        return self._shown[own]

    def own(self, shown: str) -> str:
        """Our name of a tool as the run calls it."""
        return self._own.get(shown, shown)


class Notebook:
    """The conversation so far, sorted."""

    def __init__(self, conversation: Conversation, known: Iterable[str]) -> None:
        """Read a conversation.

        Args:
            conversation: what the loop shows.
            known: the tools that the detective can use, by our names.
        """
        self.tools = Names(conversation.tools, known)
        self.may_call = conversation.may_call
        self.said_by_people = conversation.said_by_people
        self._picture = conversation.picture
        self._messages = conversation.messages
        self.done = tuple(_done(conversation.messages, self.tools))
        self._keys = {
            _build_call_key(item.name, item.arguments)
            for item in self.done
            if item.observation.failure not in _NEVER_DONE
        }

    @cached_property
    def photos(self) -> tuple[str, ...]:
        """The handles of the pictures that people showed, the task's first."""
        shown = (handle for message in self._messages if isinstance(message, Prompt) for handle in message.images)
        return tuple(dict.fromkeys(shown))

    @property
    def answer_count(self) -> int:
        """The number of answers so far."""
        return sum(isinstance(message, Step) and not message.calls for message in self._messages)

    @property
    def call_count(self) -> int:
        """The number of calls so far."""
        return len(self.done)

    def view(self, handle: str) -> View | None:
        """The pixels of a picture, None where they are gone."""
        try:
            return self._picture(handle)
        except (BadInput, KeyError):
            return None

    def find_calls(self, name: str) -> Iterator[FinishedCall]:
        """The calls of one tool, by our name, that were carried out and did not fail."""
        return (item for item in self.done if item.name == name and item.observation.failure is None)

    def has_refused(self, name: str) -> bool:
        """Return whether a tool has said that it can't do its work here."""
        return any(item.name == name and item.observation.failure == "refused" for item in self.done)

    def has_call(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether this very call was made, with any outcome."""
        return _build_call_key(name, arguments) in self._keys

    @property
    def thousandths(self) -> bool:
        """Return whether boxes are in thousandths of the picture's sides."""
        return any(call.data.get("scale") == "thousandths" for call in self.find_calls("read_text"))

    @cached_property
    def first_readings(self) -> tuple[TextSeen, ...]:
        """The lines of whole pictures, before any closer look, also such as are hardly believable."""
        whole = (call for call in self.find_calls("read_text") if not call.arguments.get("bbox_2d"))
        return tuple(line for item in whole for line, _ in _parse_lines(item.data))

    def writing(self, image: str) -> FloatArray:
        """Return how much each grid cell of a picture looked like writing at first sight; empty if unknown."""
        grids = (call.data.get("writing") for call in self.find_calls("read_text") if call.data.get("image") == image)
        return np.array(next((grid for grid in grids if grid), np.zeros((0, 0))), dtype=np.float64)

    @cached_property
    def lines(self) -> tuple[TextSeen, ...]:
        """Every line that was read, each once, on the picture that was asked about; of two readings the closer one."""
        return tuple(
            with_columns(_merge_closer_lines(self._collect_lines(closer=False), self._collect_lines(closer=True)))
        )

    @cached_property
    def doubtful(self) -> tuple[TextSeen, ...]:
        """Lines of a few letters that are not believed, though what stands beside them is, as on bilingual signs."""
        doubted = [
            line
            for line in self.first_readings
            if MIN_DOUBTED <= line.confidence < _least_believed(line.text)
            and any(on_one_panel(line, other) for other in self.lines)
            and all(overlap(line, other) < SAME_LINE_OVERLAP for other in self.lines)
        ]
        return tuple(_without_doubles(doubted))

    def _collect_lines(self, *, closer: bool) -> tuple[TextSeen, ...]:
        """The lines of whole pictures, or of closer looks; what was hardly read at all is left out."""
        rows = [
            line
            for call in self.find_calls("read_text")
            if bool(call.arguments.get("bbox_2d")) == closer
            for line, _ in _parse_lines(call.data)
        ]
        return tuple(line for line in rows if line.confidence >= _least_believed(line.text))


def _least_believed(text: str) -> float:
    scripts = [script for script in map(get_script, text) if script is not None]
    rare = [script for script in scripts if script not in _WIDELY_READ]
    return MIN_BELIEVED_SHORT if 2 * len(rare) > len(scripts) and len(rare) < _FEW_LETTERS else MIN_BELIEVED


def _done(messages: Sequence[Message], tools: Names) -> Iterator[FinishedCall]:
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, Step):
            waiting = {call.id: call for call in message.calls}
        elif isinstance(message, Observed):
            for observation in message.observations:
                call = waiting.get(observation.call_id)
                if call is not None:
                    yield FinishedCall(tools.own(observation.name), call, observation)


def _build_call_key(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"


def _parse_lines(data: Mapping[str, Any]) -> Iterator[tuple[TextSeen, Mapping[str, Any]]]:
    for row in data.get("lines", ()):
        left, top, right, bottom = row["bbox_px"]
        box = (left, top, right, bottom)
        turn, overlay = row.get("turn", 0), row.get("overlay")
        yield TextSeen(row["text"], data["image"], box, row["confidence"], row["script"], turn, overlay), row


def _merge_closer_lines(whole: Sequence[TextSeen], closer: Sequence[TextSeen]) -> list[TextSeen]:
    """The lines of the whole picture, those that were read again more closely replaced; in their old order."""
    fresh = _without_doubles(closer)
    kept: list[TextSeen] = []
    for line in whole:
        again = [other for other in fresh if overlap(line, other) >= SAME_LINE_OVERLAP]
        if not again:
            kept.append(line)
            continue
        fresh = [other for other in fresh if other not in again]
        better = max(other.confidence for other in again) >= line.confidence - _WORSE_BY
        # A column that a closer look takes apart was one word.
        apart = len(again) > 1 and all(len(other.text.strip()) == 1 for other in again)
        whole_again = not apart and sum(len(other.text) for other in again) >= 0.6 * len(line.text)
        kept.extend(again if better and whole_again else [line])
    return [*kept, *fresh]


def _without_doubles(lines: Sequence[TextSeen]) -> list[TextSeen]:
    kept: list[TextSeen] = []
    for line in sorted(lines, key=lambda line: (-len(line.text) * line.confidence, line.box)):
        if all(overlap(line, other) < SAME_LINE_OVERLAP for other in kept):
            kept.append(line)
    return sorted(kept, key=lambda line: (line.image, line.box[1], line.box[0]))


def overlap(seen: TextSeen, other: TextSeen) -> float:
    """The share of the smaller box that lies in the other; 0 on different pictures."""
    if seen.image != other.image:
        return 0.0
    width = min(seen.box[2], other.box[2]) - max(seen.box[0], other.box[0])
    height = min(seen.box[3], other.box[3]) - max(seen.box[1], other.box[1])
    smaller = min((line.box[2] - line.box[0]) * (line.box[3] - line.box[1]) for line in (seen, other))
    return max(width, 0.0) * max(height, 0.0) / max(smaller, 1e-6)
