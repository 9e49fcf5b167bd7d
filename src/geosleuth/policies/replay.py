"""A recording as a policy: says again what was said, whatever it is shown."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from geosleuth.errors import ServiceFault

from .model import Conversation, Step

Latency = Literal["none", "recorded"]


class ReplayPolicy:
    """Plays recorded steps in their order, each once. One replay belongs to one run.

    When the steps are used up, the next one is a ``ServiceFault`` of the host "replay" that is not worth a retry: the
    run then ends as it does when a model fails, and nothing is made up. With ``check``, the same fault is raised where
    the run shows other calls than those just played, which means that it no longer follows the recording.
    """

    def __init__(self, steps: Sequence[Step], *, latency: Latency = "none", check: bool = False) -> None:
        """Take the steps.

        Args:
            steps: what to say, turn by turn.
            latency: whether to answer at once or after as long as the recorded reply took.
            check: whether to make sure that the run follows the recording.
        """
        self._steps = tuple(steps)
        self._played = 0
        self._latency = latency
        self._check = check

    @property
    def name(self) -> str:
        """Always "replay"."""
        return "replay"

    @property
    def hosts(self) -> frozenset[str]:
        """None: a recording is on this machine."""
        return frozenset()

    @property
    def remaining(self) -> int:
        """How many steps are still to come."""
        return len(self._steps) - self._played

    async def step(self, conversation: Conversation) -> Step:
        """The next recorded step.

        Raises:
            ServiceFault: there is none left, or the run no longer follows the recording.
        """
        if self._check:
            self._follow(conversation)
        if not self.remaining:
            raise ServiceFault("replay", f"the recording ends after {len(self._steps)} steps")
        step = self._steps[self._played]
        self._played += 1
        if self._latency == "recorded":
            await asyncio.sleep(step.usage.seconds)
        return step

    async def aclose(self) -> None:
        """Nothing is held."""

    def _follow(self, conversation: Conversation) -> None:
        said = [message for message in conversation.messages if isinstance(message, Step)]
        expected = self._steps[self._played - 1].calls if self._played else ()
        shown = said[-1].calls if said else ()
        if shown != expected:
            raise ServiceFault("replay", f"after step {self._played} the run shows other calls than the recording")
