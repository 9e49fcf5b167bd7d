"""Asks a model many short questions, each once: its replies are kept, its cost is counted, and limits hold."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from geosleuth.lab.bench.memory import Memory
from geosleuth.models import Conversation, Policy, Prompt, Sampling, Usage
from geosleuth.models.endpoints import MAX_CONSECUTIVE_FAILURES
from geosleuth.support.errors import ServiceFault

# Maximum characters of a reply that are kept.
MAX_KEPT_CHARS = 20_000

_ABOUT = "text"


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A question as a model gets it: the system prompt and the message."""

    system: str
    message: str

    @property
    def key(self) -> str:
        """Return what its reply is kept under: other words are another question."""
        return hashlib.sha256(f"{self.system}\n{self.message}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that asking may cost; None is no limit. Questions in progress when a limit is reached are finished."""

    questions: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class AskProgress:
    """The questions and cost so far. ``stopped`` says why no more are asked, if so.

    ``failed`` counts questions that the model's server did not answer; ``trouble`` is the newest reason.
    """

    asked: int = 0
    from_cache: int = 0
    failed: int = 0
    usage: Usage = field(default_factory=lambda: Usage(tries=0))
    stopped: str | None = None
    trouble: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it for a document."""
        usage = self.usage
        return {
            "asked": self.asked,
            "from_cache": self.from_cache,
            "failed": self.failed,
            "stopped": self.stopped,
            "spent": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "usd": usage.cost_usd,
            },
        }


@dataclass(slots=True, kw_only=True)
class Asker:
    """Asks a model; a question that its server fails to answer stays open.

    Attributes:
        policy: the model; it is not closed here.
        memory: keeps its replies.
        model: the name that they are kept under.
        limits: the most it may cost.
        at_once: how many questions are in progress at once.
        sampling: how replies are sampled.
        again_unreadable: ask again if the kept reply can't be read.
        watch: receives how many of how many questions are done, and what they are about.
    """

    policy: Policy
    memory: Memory
    model: str
    limits: Limits = field(default_factory=Limits)
    at_once: int = 4
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.0))
    again_unreadable: bool = False
    watch: Callable[[int, int, str], None] = lambda _done, _total, _about: None
    progress: AskProgress = field(default_factory=AskProgress, init=False)
    _began: float = field(default_factory=time.monotonic, init=False)
    _failed_in_a_row: int = field(default=0, init=False)

    async def replies(
        self, questions: Iterable[JudgeReply], is_readable: Callable[[str], bool], about: str
    ) -> dict[JudgeReply, str]:
        """Return the reply to each question; a missing one was not answered.

        Raises:
            UserError: the memory can't be read or written, or the model is not set up correctly.
        """
        wanted = list(dict.fromkeys(questions))
        found: dict[JudgeReply, str] = {}
        for question in wanted:
            kept = self.memory.find(question.key, self.model, _ABOUT)
            reply = None if kept is None else kept.decode("utf-8", "replace")
            if reply is not None and (is_readable(reply) or not self.again_unreadable):
                found[question] = reply
        self.progress.from_cache += len(found)
        return found | await self._ask_all([question for question in wanted if question not in found], about)

    async def _ask_all(self, questions: Sequence[JudgeReply], about: str) -> dict[JudgeReply, str]:
        found: dict[JudgeReply, str] = {}
        waiting = iter(questions)
        done = 0

        async def work() -> None:
            nonlocal done
            for question in waiting:
                if self._is_over():
                    return
                self.progress.asked += 1
                if (reply := await self._ask_model(question)) is not None:
                    found[question] = reply
                done += 1
                self.watch(done, len(questions), about)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.at_once, len(questions))):
                    group.create_task(work())
        except BaseExceptionGroup as together:
            # The first error is the one to fix.
            raise together.exceptions[0] from None
        return found

    async def _ask_model(self, question: JudgeReply) -> str | None:
        prompt = (Prompt(question.message),)
        try:
            step = await self.policy.step(
                Conversation(question.system, prompt, (), _no_picture, "native", self.sampling)
            )
        except ServiceFault as fault:
            self.progress.failed += 1
            self.progress.trouble = str(fault)
            self._failed_in_a_row += 1
            return None
        self._failed_in_a_row = 0
        self.progress.usage += step.usage
        reply = step.text.strip()[:MAX_KEPT_CHARS]
        # Kept before anything else, so that the question is never paid for twice.
        self.memory.keep(question.key, self.model, _ABOUT, reply.encode("utf-8", "replace"))
        return reply

    def _is_over(self) -> bool:
        """Return whether asking must stop; the reason goes into ``progress``."""
        so_far, limits = self.progress, self.limits
        if so_far.stopped is not None:
            return True
        tokens, usd = so_far.usage.input_tokens + so_far.usage.output_tokens, so_far.usage.cost_usd
        if self._failed_in_a_row >= MAX_CONSECUTIVE_FAILURES:
            so_far.stopped = f"{self._failed_in_a_row} times in a row {so_far.trouble}"
        elif limits.questions is not None and so_far.asked >= limits.questions:
            so_far.stopped = f"the limit of {limits.questions:,} questions is reached"
        elif limits.tokens is not None and tokens >= limits.tokens:
            so_far.stopped = f"the limit of {limits.tokens:,} tokens is reached"
        elif limits.usd is not None and usd is None:
            so_far.stopped = "the price of this model is unknown, so --usd can't be enforced; leave it out"
        elif limits.usd is not None and usd is not None and usd >= limits.usd:
            so_far.stopped = f"the limit of {limits.usd:g} USD is reached"
        elif limits.seconds is not None and time.monotonic() - self._began >= limits.seconds:
            so_far.stopped = f"the limit of {limits.seconds:g} s is reached"
        return so_far.stopped is not None


def _no_picture(handle: str) -> NoReturn:
    raise KeyError(handle)
