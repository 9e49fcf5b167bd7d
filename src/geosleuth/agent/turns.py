"""The engine of the loop: turn after turn, which calls are carried out, and lines of signs quoted by number.

``#2`` is line 2 of the newest reading that has any, ``image-1#2`` that of the newest of an image, ``#*`` all lines of
the newest. Several, as in ``#2, #4``, stand one under the other. A number that no line has stays as it is written.
"""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from geosleuth.answer import Answer
from geosleuth.models import Policy, Prompt, Step
from geosleuth.support.errors import ServiceFault, UserError
from geosleuth.support.service_use import ServiceUse, counting_services, merge_uses
from geosleuth.tools import CALL_SECONDS, Case, FailureKind, Observation, ToolCall, Toolset

from .completion import Completed, complete, odds_question, with_odds
from .conversation import build_conversation, out_of_sight
from .events import (
    Answered,
    Answerer,
    Body,
    Ended,
    EndReason,
    Event,
    Noted,
    Prompted,
    Resumed,
    Said,
    Started,
    ToolObserved,
)
from .method import Method, accepts
from .pool import CandidatePool
from .spoken_of import collect_rejected, without_rejected
from .trajectory import Spending, Trajectory

EVERY = "#*"
READER = "read_text"
_QUOTE = re.compile(r"(image-\d{1,4})?#(\d{1,3}|\*)")
_ROW = re.compile(rf"{_QUOTE.pattern}(?:, ?{_QUOTE.pattern})*")

# What the same call may well do better the next time.
_PASSING_FAILURES = ("service", "timeout", "no_room")
_LONG_CHARACTERS = 500
_sorted = json.JSONEncoder(sort_keys=True, allow_nan=False)
_TOO_LATE = "Not carried out: no tool calls are left. Answer now."
T = TypeVar("T")
Sink = Callable[[Event], None]
"""Gets every event as it happens, in order; it must not take long."""
REMINDERS = 2
MAX_CALLS = 100
# Minimum tokens allowed for a reply, so that a run whose token budget is nearly spent can still answer.
_MIN_REPLY_TOKENS = 256
FRUITLESS_TURNS = 3
BROKE_OFF = "The run broke off before this call was done."
ANSWER_NOW = "No more tool calls are possible. Answer now, in the form that was asked for."
BEST_GUESS = "Give your best guess, with latitude, longitude and an honest probability, however unsure you are."
_BY_POLICY: Answerer = "policy"
_PRICE_UNKNOWN = "the price of this model is not known, so a budget of money can't be kept"
# Longer replies are read beside the loop, so that other runs don't wait.
_READ_ASIDE_CHARACTERS = 20_000
_WHY = {
    "answered": "the policy answered",
    "turns": "the turns were spent",
    "calls": "the tool calls were spent and the policy asked for more",
    "tokens": "the tokens were spent",
    "seconds": "the time was up",
    "money": "the money was spent",
    "stuck": "the policy said nothing that could be read as one",
    "service": "the model could not be reached or failed",
    "cancelled": "the run was called off",
    "error": "the run broke",
}


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

    def fill_quotes(self, call: ToolCall) -> ToolCall:
        """The call with the lines themselves in place of their numbers."""
        if isinstance(call.arguments, str):
            return call
        said = {name: self._fill_value(value) for name, value in call.arguments.items()}
        return replace(call, arguments=said)

    def _fill_value(self, value: Any) -> Any:
        if not isinstance(value, str) or "#" not in value:
            return value
        return _ROW.sub(self._join_quoted_lines, value)

    def _join_quoted_lines(self, row: re.Match[str]) -> str:
        found = [self._find_quoted_line(quote) for quote in _QUOTE.finditer(row[0])]
        if None in found:
            return _QUOTE.sub(lambda quote: self._find_quoted_line(quote) or quote[0], row[0])
        return "\n".join(filter(None, found))

    def _find_quoted_line(self, quote: re.Match[str]) -> str | None:
        image, number = quote.groups()
        lines = self._newest if image is None else self._by_image.get(image, ())
        if number == "*":
            return "\n".join(lines) or None
        return lines[int(number) - 1] if 0 < int(number) <= len(lines) else None


def find_quotes(method: str) -> Quotes | None:
    """Return the quotes of runs made with a method of ours; None where its calls quote no lines."""
    from .methods import find_method

    made = find_method(method)
    return Quotes() if made is not None and made.quotes_lines else None


def spell_out_calls(trajectory: "Trajectory") -> "Trajectory":
    """A run with its calls as they were carried out, for display and comparison."""
    quotes, events = find_quotes(trajectory.started.method), []
    if quotes is None:
        return trajectory
    for event in trajectory.events:
        match event.body:
            case Said(step=step) as said:
                calls = tuple(map(quotes.fill_quotes, step.calls))
                events.append(replace(event, body=replace(said, step=replace(step, calls=calls))))
            case ToolObserved(observation=observation):
                quotes.hear(observation)
                events.append(event)
            case _:
                events.append(event)
    return replace(trajectory, events=tuple(events))


def quote(number: int, image: str | None = None) -> str:
    """Return the quote of a line by its number from 1 on, in the newest reading or that of an image."""
    return f"{image or ''}#{number}"


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
                    self._keys = {call.id: self._build_key(call) for call in step.calls}
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
            item = call
            if not item.id or item.id in self._ids:
                item = replace(item, id=self._fresh_id(turn, number))
            self._ids.add(item.id)
            try:
                key = self._build_key(item)
            except (TypeError, ValueError, RecursionError):
                item = replace(item, arguments=_as_text(item.arguments))
                key = self._build_key(item)
            self._keys[item.id] = key
            tidied.append(item)
        return tuple(tidied)

    def refuse_calls(
        self,
        calls: Sequence[ToolCall],
        *,
        may_call: bool,
        per_turn: int,
        left: int | None,
        unseen: Collection[str] = (),
    ) -> list[Observation | None]:
        """The observation of each call of this step that is not carried out; None for those that are.

        Of the pictures that ``unseen`` names none is shown any more: a call that brought one may be made again.
        """
        allowed = min(per_turn, per_turn if left is None else left) if may_call else 0
        decided: list[Observation | None] = []
        wanted: set[str] = set()
        for call in calls:
            key = self._keys[call.id]
            if may_call and (key in wanted or self._stands(key, unseen)):
                decided.append(self._repeat_observation(call, key))
            elif len(wanted) >= allowed:
                decided.append(self._refusal(call, "over_budget", _over(per_turn, left) if may_call else _TOO_LATE))
            else:
                wanted.add(key)
                decided.append(None)
        return decided

    def fill_calls(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The calls as they are carried out: with the lines in them that they quote by number."""
        return list(calls) if self._quotes is None else [self._quotes.fill_quotes(call) for call in calls]

    def hear(self, observation: Observation) -> None:
        """Take in what the policy is shown, carried out or not: its lines can be quoted from the next step on."""
        if self._quotes is not None:
            self._quotes.hear(observation)

    def _stands(self, key: str, unseen: Collection[str]) -> bool:
        known = self._memory.get(key)
        return known is not None and all(image.handle not in unseen for image in known.observation.images)

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

    def _repeat_observation(self, call: ToolCall, key: str) -> Observation:
        known = self._memory.get(key)
        if known is None:
            return self._refusal(call, "repeated", "Not carried out: this very call stands in the same reply already.")
        known.repeats += 1
        where = f"Not carried out again: this very call was made in turn {known.turn}, and its result stands."
        if known.repeats > 1:
            return self._refusal(call, "repeated", f"{where} Try something else, or answer.")
        refusal = self._refusal(call, "repeated", f"{where} It was:\n{known.observation.text}")
        # What is shown again can be quoted again.
        return refusal if self._quotes is None else replace(refusal, data=known.observation.data)

    def _refusal(self, call: ToolCall, failure: FailureKind, text: str) -> Observation:
        found = self._toolset.get(call.name)
        return Observation(call.id, found.name if found else call.name[:60], text, failure=failure)

    def _build_key(self, call: ToolCall) -> str:
        found = self._toolset.get(call.name)
        (spelled_out,) = self.fill_calls([call])
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


class TimeUp(Exception):
    """The run's seconds are spent."""


@dataclass(frozen=True, slots=True)
class _Ending:
    reason: EndReason
    answer: Answer | None = None
    trouble: str | None = None


class RunSegment:
    """One stretch of a run, from its start or a person's feedback to its end."""

    def __init__(
        self,
        opening: tuple[Started | Resumed, Prompted],
        before: Sequence[Event] = (),
        *,
        method: Method,
        policy: Policy,
        toolset: Toolset,
        case: Case,
        sinks: Sequence[Sink] = (),
        missing: Collection[str] = (),
    ) -> None:
        self._events = list(before)
        self._opening = opening
        self._rejected = collect_rejected((*(event.body for event in before), opening[0]))
        started = before[0].body if before else opening[0]
        if not isinstance(started, Started):
            raise TypeError("a trajectory begins with its started event")
        self._task, self._completes = started.task, started.completes
        self._method, self._policy, self._toolset, self._case = method, policy, toolset, case
        self._sinks = list(sinks)
        self._missing = missing
        self._pool = CandidatePool(before)
        self._calls = Calls(toolset, before, quoting=method.quotes_lines)
        self._spending = Spending(opening[0].budget, method.context.longest_result)
        self._turn = sum(isinstance(event.body, Said) for event in before)
        self._earlier_s = before[-1].at_s if before else 0.0
        self._began = time.perf_counter()
        self._answer_now = False
        self._last_chance = False
        self._unread = self._fruitless = 0
        self._guess: Answer | None = None
        self._pending = _find_open_calls(before)
        self._answered = self._ended = False
        self._filled_in = Completed(Answer())
        self._completing: list[ServiceUse] = []

    async def through(self, id: str, created: datetime) -> Trajectory:  # noqa: A002  (the trajectory's own word)
        """Do it, and close the trajectory even if it fails or is cancelled."""
        try:
            beginning, words = self._opening
            self._emit(beginning)
            self._break_off()
            self._emit(words)
            self._close(await self._complete_ending(await self._ending()))
        except asyncio.CancelledError:
            self._close(_Ending("cancelled"))
            raise
        except Exception as error:
            self._close(_Ending("error", trouble=_describe_error(error)))
            raise
        return Trajectory(tuple(self._events), id, created)

    async def _ending(self) -> _Ending:
        try:
            while True:
                ending = await self._next_turn()
                if ending is not None:
                    return ending
        except TimeUp:
            return _Ending("seconds")
        except ServiceFault as error:
            return _Ending("service", trouble=_describe_error(error))

    async def _complete_ending(self, ending: _Ending) -> _Ending:
        """The ending with what the answer's form leaves out; as it is where that can't be had."""
        if not self._completes or ending.answer is None:
            return ending
        try:
            with counting_services() as self._completing:
                self._filled_in = await self._in_time(self._complete(ending.answer))
        except (ServiceFault, UserError, TimeUp):
            return ending
        ending = replace(ending, answer=self._filled_in.answer)
        with suppress(ServiceFault, UserError, TimeUp):
            return replace(ending, answer=await self._with_odds(self._filled_in.answer))
        return ending

    async def _complete(self, answer: Answer) -> Completed:
        return await complete(self._case, answer, self._pool.candidates)

    async def _with_odds(self, answer: Answer) -> Answer:
        """The answer with odds, where its form has none: they are asked for once, even if no turn is left."""
        wanted = answer.point is not None and answer.probability is None and not self._method.states_odds
        if not wanted or self._spending.find_spent_limit() in ("tokens", "money"):
            return answer
        self._emit(Prompted(Prompt(odds_question(answer)), "loop"))
        step = await self._ask_policy(may_call=False)
        self._turn += 1
        self._emit(Said(self._turn, step))
        if step.calls:
            await self._carry_out(step.calls, may_call=False)
        return with_odds(answer, step.text)

    async def _next_turn(self) -> _Ending | None:
        may_call = self._may_call()
        if not may_call and len(self._toolset) and not self._answer_now:
            self._answer_now = True
            self._add_prompt(ANSWER_NOW)
        step = await self._ask_policy(may_call=may_call)
        self._turn += 1
        self._emit(Said(self._turn, step))
        carried_out = await self._carry_out(step.calls, may_call=may_call) if step.calls else 0
        if not step.calls or not may_call:
            answer = await self._parse_answer(self._method.final_words(step))
            if answer is not None:
                return _Ending("answered", answer)
        return self._after(step, carried_out)

    def _may_call(self) -> bool:
        spending = self._spending
        allowed = not self._answer_now and not self._last_chance and spending.calls_left != 0
        return bool(len(self._toolset)) and allowed and not spending.one_turn_left()

    def _after(self, step: Step, carried_out: int) -> _Ending | None:
        """Return how the run ends after a turn without an answer; None where it goes on."""
        if carried_out:
            self._unread = self._fruitless = 0
        elif step.calls:
            self._fruitless += 1
        else:
            self._unread += 1
        if reason := self._spending.find_spent_limit():
            unknown = reason == "money" and self._spending.price_unknown
            return _Ending(reason, trouble=_PRICE_UNKNOWN if unknown else None)
        if self._last_chance or self._unread > REMINDERS:
            return _Ending("stuck")
        if self._fruitless >= FRUITLESS_TURNS:
            if self._answer_now:
                return _Ending("calls" if self._spending.calls_left == 0 else "stuck")
            self._last_chance = True
        elif not step.calls:
            self._add_prompt(self._method.reminder)
        return None

    async def _ask_policy(self, *, may_call: bool) -> Step:
        conversation = build_conversation(
            self._events,
            context=self._method.context,
            tools=self._toolset,
            picture=self._case.album.__getitem__,
            may_call=may_call,
            wants_guess=self._method.wants_guess,
            missing=self._missing,
        )
        if self._seconds_left() == 0:
            raise TimeUp
        if (left := self._spending.reply_tokens_left) is not None:
            longest = min(conversation.sampling.max_tokens or left, max(left, _MIN_REPLY_TOKENS))
            conversation = replace(conversation, sampling=replace(conversation.sampling, max_tokens=longest))
        step = await self._in_time(self._policy.step(conversation))
        if not step.calls:
            return step
        return replace(step, calls=self._calls.tidy(self._turn + 1, step.calls[:MAX_CALLS]))

    async def _in_time(self, work: Awaitable[T]) -> T:
        """The result, unless the run's time is up first."""
        try:
            async with asyncio.timeout(self._seconds_left()) as limit:
                return await work
        except TimeoutError as error:
            if limit.expired():
                raise TimeUp from error
            raise

    def _seconds_left(self) -> float | None:
        limit = self._spending.budget.seconds
        return None if limit is None else max(0.0, limit - self._seconds)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    async def _carry_out(self, calls: tuple[ToolCall, ...], *, may_call: bool) -> int:
        """Give every call its observation; how many calls were carried out."""
        self._pending = {call.id: call for call in calls}
        spending = self._spending
        withheld = self._calls.refuse_calls(
            calls,
            may_call=may_call,
            per_turn=spending.budget.calls_per_turn,
            left=spending.calls_left,
            unseen=out_of_sight(self._events, self._method.context, self._missing),
        )
        wanted = [call for call, refusal in zip(calls, withheld, strict=True) if refusal is None]
        done = iter(await self._use_tools(self._calls.fill_calls(wanted)) if wanted else ())
        for call, refusal in zip(calls, withheld, strict=True):
            observation = refusal or next(done)
            if refusal is None:
                self._calls.remember(self._turn, observation)
            self._calls.hear(observation)
            del self._pending[call.id]
            self._emit(ToolObserved(self._turn, observation))
        return len(wanted)

    async def _use_tools(self, calls: Sequence[ToolCall]) -> tuple[Observation, ...]:
        left = self._seconds_left()
        return await self._toolset.run(
            calls,
            self._case,
            seconds=CALL_SECONDS if left is None else min(left, CALL_SECONDS),
            most_images=self._method.context.most_images,
        )

    async def _parse_answer(self, text: str) -> Answer | None:
        if len(text) > _READ_ASIDE_CHARACTERS:
            answer = await asyncio.to_thread(self._method.read_answer, text)
        else:
            answer = self._method.read_answer(text)
        if not accepts(answer, self._task):
            return None
        if not self._task.force_answer or (answer.located and (answer.probability is not None or self._guess)):
            return answer
        # A guess is wanted with its point and its odds: it is asked for once more, and stands if there is no better.
        self._guess = answer
        return None

    def _add_prompt(self, text: str) -> None:
        words = f"{text} {BEST_GUESS}" if self._task.force_answer else text
        self._emit(Prompted(Prompt(words), "loop"))

    def _close(self, ending: _Ending) -> None:
        """Write down the answer and the end; what of it is written already stays."""
        self._break_off()
        if not self._answered:
            answer, by = self._instead(ending.reason) if ending.answer is None else (ending.answer, _BY_POLICY)
            if not answer.candidates:
                answer = replace(answer, candidates=self._pool.as_candidates())
            for hypothesis in self._pool.settle(answer):
                self._emit(Noted(hypothesis))
            self._answered = True
            filled_in, uses = self._filled_in, merge_uses(self._completing)
            self._emit(Answered(answer, by, filled_in.derived, filled_in.doubts, uses))
        if not self._ended:
            self._ended = True
            self._emit(Ended(ending.reason, self._spending.spent(round(self._seconds, 6)), ending.trouble))

    def _break_off(self) -> None:
        """Close the calls that were under way: models want an outcome for each."""
        for call in tuple(self._pending.values()):
            del self._pending[call.id]
            self._emit(ToolObserved(self._turn, Observation(call.id, call.name[:60], BROKE_OFF, failure="timeout")))

    def _instead(self, reason: EndReason) -> tuple[Answer, Answerer]:
        found = self._pool.answer(force=self._task.force_answer)
        if self._guess and (self._guess.located or not (found and found.located)):
            return self._guess, "policy"
        if found is not None:
            return found, "pool"
        return Answer(explanation=f"No answer: {_WHY[reason]}, and no candidate was good enough to stand in."), "nobody"

    def _emit(self, body: Body) -> None:
        body = without_rejected(body, self._rejected)
        event = Event(len(self._events), round(self._earlier_s + self._seconds, 6), body)
        self._events.append(event)
        self._spending.see(body)
        self._pool.see(body)
        publish(event, self._sinks)
        for hypothesis in self._pool.changes(body):
            self._emit(Noted(hypothesis))


def publish(event: Event, sinks: list[Sink]) -> None:
    """Hand an event to every sink; one that fails gets no more, and its trouble comes out after the others."""
    trouble: Exception | None = None
    for sink in tuple(sinks):
        try:
            sink(event)
        except Exception as error:  # noqa: BLE001  (raised below, once the other sinks have the event)
            sinks.remove(sink)
            trouble = trouble or error
    if trouble is not None:
        raise trouble


def _find_open_calls(events: Sequence[Event]) -> dict[str, ToolCall]:
    """The calls of the newest step that have no outcome yet."""
    done = set()
    for event in reversed(events):
        match event.body:
            case ToolObserved(observation=observation):
                done.add(observation.call_id)
            case Said(step=step):
                return {call.id: call for call in step.calls if call.id not in done}
            case _:
                pass
    return {}


def _describe_error(error: Exception) -> str:
    """Return an error in a line; of unexpected errors only the type: their text may contain anything."""
    if isinstance(error, UserError | ServiceFault):
        return " ".join(str(error).split())[:500]
    return f"a bug: {type(error).__name__}"
