"""Two minds as one policy: an Observer that sees, and a Tool-call agent that reads, thinks and calls but sees nothing.

The loop can't tell them from a single model. What the Observer says of a picture becomes part of the thinking of the
step that follows it, so that a trajectory reads as that of one who saw, thought and called.
"""

from dataclasses import replace
from typing import NoReturn

from geosleuth.agent.methods.shared import paragraphs
from geosleuth.policies import Conversation, Message, Observed, Policy, Prompt, Step, Usage
from geosleuth.tools import Observation

from .observer import describe, told

BLIND = """\
You can't see pictures. An observer describes each of them to you, crops as soon as they are cut: boxes in a description
are on the picture that it names. What the observer says is what was seen in the photo; write your own thoughts as if
you had seen it yourself, and do not mention the observer."""


class TwoMinds:
    """A policy of an Observer and a caller, for one run."""

    def __init__(self, observer: Policy, caller: Policy) -> None:
        """Take both; neither is closed here."""
        self._observer, self._caller = observer, caller
        self._described: dict[str, str] = {}
        self._own_steps: list[Step] = []

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self._observer.name} + {self._caller.name}"

    @property
    def hosts(self) -> frozenset[str]:
        """Where pictures go: to the Observer's host; the caller's gets what is read in them."""
        return self._observer.hosts | self._caller.hosts

    async def step(self, conversation: Conversation) -> Step:
        """Have what is new described, then let the caller think.

        Raises:
            ServiceFault: one of their models failed.
        """
        used = Usage(tries=0)
        new: list[str] = []
        for handle, is_crop in _pictures(conversation):
            if handle not in self._described:
                seen = await describe(
                    self._observer, handle, conversation.picture, is_crop=is_crop, sampling=conversation.sampling
                )
                self._described[handle] = seen.text.strip() or "(the observer said nothing)"
                used += seen.usage
                new.append(handle)
        said = await self._caller.step(self._as_told(conversation))
        self._own_steps.append(said)
        seen_now = [_as_own_look(handle, self._described[handle]) for handle in new]
        thinking = paragraphs(*seen_now, said.thinking)
        return replace(said, thinking=thinking, usage=used + said.usage, model=self.name)

    async def aclose(self) -> None:
        """Nothing of its own to let go of."""

    def _as_told(self, conversation: Conversation) -> Conversation:
        """The conversation in words alone."""
        own = iter(self._own_steps)
        messages: list[Message] = []
        for message in conversation.messages:
            match message:
                case Prompt(text=text, images=handles):
                    messages.append(Prompt(paragraphs(text, *(told(one, self._described[one]) for one in handles))))
                case Observed(observations=observations):
                    messages.append(Observed(tuple(map(self._in_words, observations))))
                case Step():
                    # Its own words without what was described, which stands beside the picture already.
                    mine = next(own, None)
                    messages.append(message if mine is None else replace(message, thinking=mine.thinking))
        return replace(
            conversation, system=paragraphs(conversation.system, BLIND), messages=tuple(messages), picture=_nothing
        )

    def _in_words(self, observation: Observation) -> Observation:
        if not observation.images:
            return observation
        words = (told(image.handle, self._described[image.handle]) for image in observation.images)
        return replace(observation, text=paragraphs(observation.text, *words), images=())


def _pictures(conversation: Conversation) -> list[tuple[str, bool]]:
    """The pictures that are shown, and whether each is a crop."""
    found: list[tuple[str, bool]] = []
    for message in conversation.messages:
        match message:
            case Prompt(images=handles):
                found += [(handle, False) for handle in handles]
            case Observed(observations=observations):
                found += [(image.handle, True) for one in observations for image in one.images]
            case _:
                pass
    return found


def _as_own_look(handle: str, description: str) -> str:
    return f"Looking at {handle}:\n{description}"


def _nothing(handle: str) -> NoReturn:
    raise LookupError(handle)
