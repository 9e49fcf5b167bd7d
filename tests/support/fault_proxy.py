"""A model server on loopback that stands for a real one with a bad line: of its calls a share fails, drawn by seed.

    proxy = FaultProxy(answer, seed=7, share=0.3)
    with openai_server([proxy]) as url:
        ...
    assert proxy.faults["429"] > 0

``answer`` says what the model would say to a request. The faults are those of real servers: 429 with Retry-After, 500,
no answer at all, a connection that is cut, JSON that is cut off or says something else, a body that drips. From the
request number ``outage_at`` on, nothing works for ``outage_s`` seconds.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from openai_server import Reply, Request, failure

Fault = Literal["429", "500", "no answer", "cut stream", "cut JSON", "wrong JSON", "slow stream"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass
class FaultProxy:
    """Answers as ``answer`` does, or fails; counts what it did."""

    answer: Callable[[Request], Reply]
    seed: int = 0
    share: float = 0.3
    retry_after_s: int = 1
    outage_at: int | None = None
    outage_s: float = 0.0
    asked: int = 0
    answered: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._outage_ends: float | None = None

    def __call__(self, request: Request) -> Reply:
        """What comes back for one request."""
        self.asked += 1
        # Drawn for every request, so that an outage does not shift what comes after it.
        fails, kind = self._random.random() < self.share, self._random.choice(FAULTS)
        if self._is_out():
            self.faults["outage"] += 1
            return failure(503, "down for maintenance")
        if not fails:
            self.answered += 1
            return self.answer(request)
        self.faults[kind] += 1
        return self._failed(kind, self.answer(request))

    def _is_out(self) -> bool:
        if self.outage_at is None or self.asked < self.outage_at:
            return False
        if self._outage_ends is None:
            self._outage_ends = time.monotonic() + self.outage_s
        return time.monotonic() < self._outage_ends

    def _failed(self, kind: Fault, whole: Reply) -> Reply:
        if kind == "429":
            return failure(429, "slow down", retry_after=str(self.retry_after_s))
        if kind == "500":
            return failure(500, "something broke")
        spoilt: dict[Fault, Reply] = {
            "no answer": replace(whole, manner="silent"),
            "cut stream": replace(whole, manner="cut"),
            "cut JSON": replace(whole, body=whole.body[: len(whole.body) // 2]),
            "wrong JSON": replace(whole, body=b'{"choices": 7, "results": null}'),
            "slow stream": replace(whole, manner="dripping"),
        }
        return spoilt[kind]
