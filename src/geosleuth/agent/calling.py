"""Which calls of a step are carried out, and what the others are told."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geosleuth.tools import FailureKind, Observation, ToolCall, Toolset

from .events import Event, Said, ToolObserved
from .quoting import Quotes

# What the same call may well do better the next time.
_PASSING_FAILURES = ("service", "timeout")
_LONG_CHARACTERS = 500
_sorted = json.JSONEncoder(sort_keys=True, allow_nan=False)
_TOO_LATE = "Not carried out: no tool calls are left. Answer now."


@dataclass(slots=True)
class _Memory:
    turn: int
    observation: Observation
    repeats: int = 0


class Calls:
    """The calls of a run: their ids, and what each brought, so that none is made twice."""

    def __init__(self, toolset: Toolset, events: Iterable[Event] = (), *, quoting: bool = False) -> None:
        """Remember the calls of these events.

        Args:
            toolset: the tools of the run.
            events: what has happened so far.
            quoting: whether calls may quote lines of signs by number, see `Quotes`.
        """
        self._toolset = toolset
        self._quotes = Quotes() if quoting else None
        self._ids: set[str] = set()
        self._memory: dict[str, _Memory] = {}
        # Of the newest step: what says whether two calls are the very same.
        self._keys: dict[str, str] = {}
        for event in events:
            match event.body:
                case Said(step=step):
                    self._keys = {call.id: self._key(call) for call in step.calls}
                    self._ids.update(self._keys)
                case ToolObserved(turn=turn, observation=observation) if observation.call_id in self._keys:
                    self._relive(turn, observation)
                    self.hear(observation)
                case _:
                    pass

    def tidy(self, turn: int, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls with ids that no other call of the run has, and arguments that are JSON.

        Arguments that JSON can't hold (a number that is none) are kept as the text they were meant as.
        """
        tidied = []
        self._keys = {}
        for number, call in enumerate(calls, 1):
            one = call
            if not one.id or one.id in self._ids:
                one = replace(one, id=self._fresh_id(turn, number))
            self._ids.add(one.id)
            try:
                key = self._key(one)
            except (TypeError, ValueError, RecursionError):
                one = replace(one, arguments=_as_text(one.arguments))
                key = self._key(one)
            self._keys[one.id] = key
            tidied.append(one)
        return tuple(tidied)

    def withheld(
        self, calls: Sequence[ToolCall], *, may_call: bool, per_turn: int, left: int | None
    ) -> list[Observation | None]:
        """What each call of the step just tidied that is not carried out is told; None for those that are."""
        allowed = min(per_turn, per_turn if left is None else left) if may_call else 0
        decided: list[Observation | None] = []
        wanted: set[str] = set()
        for call in calls:
            key = self._keys[call.id]
            if may_call and (key in wanted or key in self._memory):
                decided.append(self._repeated(call, key))
            elif len(wanted) >= allowed:
                decided.append(self._told(call, "over_budget", _over(per_turn, left) if may_call else _TOO_LATE))
            else:
                wanted.add(key)
                decided.append(None)
        return decided

    def spelled_out(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The calls as they are carried out: with the lines in them that they quote by number."""
        return list(calls) if self._quotes is None else [self._quotes.filled_in(call) for call in calls]

    def hear(self, observation: Observation) -> None:
        """Take in what the policy is shown, carried out or not: its lines can be quoted from the next step on."""
        if self._quotes is not None:
            self._quotes.hear(observation)

    def remember(self, turn: int, observation: Observation) -> None:
        """Keep what a call that was carried out brought, unless it may bring more another time."""
        if observation.failure not in _PASSING_FAILURES:
            self._memory[self._keys[observation.call_id]] = _Memory(turn, observation)

    def _relive(self, turn: int, observation: Observation) -> None:
        if observation.failure == "repeated":
            if known := self._memory.get(self._keys[observation.call_id]):
                known.repeats += 1
        elif observation.failure != "over_budget":
            self.remember(turn, observation)

    def _repeated(self, call: ToolCall, key: str) -> Observation:
        known = self._memory.get(key)
        if known is None:
            return self._told(call, "repeated", "Not carried out: this very call stands in the same reply already.")
        known.repeats += 1
        where = f"Not carried out again: this very call was made in turn {known.turn}, and its result stands."
        if known.repeats > 1:
            return self._told(call, "repeated", f"{where} Try something else, or answer.")
        told = self._told(call, "repeated", f"{where} It was:\n{known.observation.text}")
        # What is shown again can be quoted again.
        return told if self._quotes is None else replace(told, data=known.observation.data)

    def _told(self, call: ToolCall, failure: FailureKind, text: str) -> Observation:
        found = self._toolset.get(call.name)
        return Observation(call.id, found.name if found else call.name[:60], text, failure=failure)

    def _key(self, call: ToolCall) -> str:
        found = self._toolset.get(call.name)
        (spelled_out,) = self.spelled_out([call])
        arguments = spelled_out.arguments
        said = arguments if isinstance(arguments, str) else _sorted.encode(dict(arguments))
        if len(said) > _LONG_CHARACTERS:
            said = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{found.name if found else call.name}\n{said}"

    def _fresh_id(self, turn: int, number: int) -> str:
        wanted = f"call-{turn}-{number}"
        while wanted in self._ids:
            wanted += "x"
        return wanted


def _as_text(arguments: Mapping[str, Any] | str) -> str:
    try:
        return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), default=str)
    except (TypeError, ValueError, RecursionError):
        return "(arguments that can't be written down)"


def _over(per_turn: int, left: int | None) -> str:
    if left is not None and left < per_turn:
        return f"Not carried out: only {left} more tool calls were allowed. Answer from what you have."
    return f"Not carried out: of one reply at most {per_turn} calls are. Make it again if it is still needed."
