"""What a run uses, counted from its events, and what its budget still allows.

The counts come from the events alone, the time that replies and tools took included: a replay comes to the same
decisions as the run it repeats.
"""

from collections.abc import Iterable
from typing import Any

from geosleuth.policies import Step, Usage
from geosleuth.tools import Observation

from .events import Body, Budget, Ended, EndReason, Event, Resumed, Said, Spent, Started, ToolObserved

_WITHHELD = ("over_budget", "repeated")


class Spending:
    """A ledger of one stretch of work, from its start or resumption on."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.turns = 0
        self.calls = 0
        self._failed = 0
        self._withheld = 0
        self._usage = Usage(tries=0)
        self._price_unknown = False
        # Of the newest turn: tokens, money, and the seconds of its reply and of its slowest call.
        self._turn_tokens = 0
        self._turn_usd = 0.0
        self._reply_seconds = 0.0
        self._slowest_call = 0.0
        self._seconds_before = 0.0

    def see(self, body: Body) -> None:
        """Count what an event used."""
        match body:
            case Said(step=step):
                self._count_step(step)
            case ToolObserved(observation=observation):
                self._count_call(observation)
            case _:
                pass

    def _count_step(self, step: Step) -> None:
        usage = step.usage
        self.turns += 1
        self._usage += usage
        self._price_unknown |= usage.cost_usd is None
        self._seconds_before += self._reply_seconds + self._slowest_call
        self._turn_tokens = usage.input_tokens + usage.output_tokens
        self._turn_usd = usage.cost_usd or 0.0
        self._reply_seconds, self._slowest_call = usage.seconds, 0.0

    def _count_call(self, observation: Observation) -> None:
        if observation.failure in _WITHHELD:
            self._withheld += 1
            return
        self.calls += 1
        self._failed += observation.failure is not None
        self._slowest_call = max(self._slowest_call, observation.seconds)

    @property
    def calls_left(self) -> int | None:
        """How many calls may still be carried out; None is any number."""
        return None if self.budget.calls is None else max(0, self.budget.calls - self.calls)

    def used_up(self) -> EndReason | None:
        """Which of turns, tokens and money is spent, if any.

        Where a reply's price is not known, a budget of money can't be kept and counts as spent.
        """
        if self.turns >= self.budget.turns:
            return "turns"
        if self.budget.tokens is not None and self._tokens >= self.budget.tokens:
            return "tokens"
        if self.budget.usd is not None and (self._price_unknown or (self._usage.cost_usd or 0.0) >= self.budget.usd):
            return "money"
        return None

    @property
    def price_unknown(self) -> bool:
        """Whether some reply came without a price."""
        return self._price_unknown

    def one_turn_left(self) -> bool:
        """Whether the next reply must be the answer.

        That is so on the last turn, and where two more turns like the newest would pass the limit of tokens, money or
        time.
        """
        if self.turns + 1 >= self.budget.turns:
            return True
        turn_seconds = self._reply_seconds + self._slowest_call
        return any(
            limit is not None and newest > 0 and used + 2 * newest > limit
            for limit, used, newest in (
                (self.budget.tokens, self._tokens, self._turn_tokens),
                (self.budget.usd, self._usage.cost_usd or 0.0, self._turn_usd),
                (self.budget.seconds, self._seconds_before + turn_seconds, turn_seconds),
            )
        )

    @property
    def _tokens(self) -> int:
        return self._usage.input_tokens + self._usage.output_tokens

    def spent(self, seconds: float) -> Spent:
        """All of it, with the seconds on the clock."""
        return Spent(self.turns, self.calls, self._failed, self._withheld, seconds, self._usage)


def spent_of(events: Iterable[Event]) -> Spent:
    """What a whole trajectory used, however often it was resumed; for one that broke off, as far as it came."""
    total = Spent()
    running: Spending | None = None
    began = newest = 0.0
    for event in events:
        match event.body:
            case Started(budget=budget) | Resumed(budget=budget):
                running, began = Spending(budget), event.at_s
            case Ended(spent=spent):
                total, running = total + spent, None
            case body if running is not None:
                running.see(body)
            case _:
                pass
        newest = event.at_s
    return total if running is None else total + running.spent(newest - began)


def spent_document(spent: Spent) -> dict[str, Any]:
    """What was used, for JSON documents: without the price, which documents name in their own ways."""
    return {
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "withheld_calls": spent.withheld_calls,
        "seconds": round(spent.seconds, 3),
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
    }
