"""Inspect's model as a policy: it thinks in our loop, with our tools, and Inspect's transcript shows every turn."""

import asyncio
from base64 import b64encode
from typing import Any, NoReturn

from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig, Model, ModelOutput

from geosleuth.photo import View, encode
from geosleuth.policies import Conversation, Sampling, Step

from .messages import memory_key, native_messages, step_of, tagged_messages, tool_infos

# As base64 this is 4 MB, the least that any provider takes for one image.
_MAX_IMAGE_BYTES = 3_000_000


class NobodyYet:
    """Stands in a plan until a sample's own policy takes its place; it is never asked."""

    name = "inspect"
    hosts: frozenset[str] = frozenset()

    async def step(self, conversation: Conversation) -> NoReturn:
        """Not to be called."""
        raise NotImplementedError(f"nobody thinks here yet, with {len(conversation.messages)} messages waiting")

    async def aclose(self) -> None:
        """Nothing to let go of."""


class InspectPolicy:
    """Asks a model through Inspect, which sees to retries, limits, caching and the log. Made for one photo.

    What Inspect raises comes out as it is: an error of a model is an error of the sample, not a wrong answer.
    ``messages`` and ``output`` are the newest request with its reply, for the state of the sample.
    """

    hosts: frozenset[str] = frozenset()
    """Inspect decides where requests go; whoever named the model to it has agreed to that."""

    def __init__(self, model: Model) -> None:
        """Prepare to ask; nothing is sent before the first step."""
        self._model = model
        self._packed: dict[tuple[object, ...], str] = {}
        self._replies: dict[tuple[object, ...], ChatMessageAssistant] = {}
        self.messages: list[ChatMessage] = []
        self.output: ModelOutput | None = None

    @property
    def name(self) -> str:
        """What Inspect calls the model."""
        return str(self._model)

    async def step(self, conversation: Conversation) -> Step:
        """The next step."""
        messages = await asyncio.to_thread(self._messages, conversation)
        native = conversation.wire == "native"
        output = await self._model.generate(
            messages,
            tools=tool_infos(conversation.tools) if native else [],
            # The tools stay declared: some providers refuse a history with calls of tools that they don't know.
            tool_choice="auto" if conversation.may_call else "none",
            config=_config(conversation.sampling),
        )
        step = step_of(output, conversation)
        if not output.empty:
            self.messages, self.output = [*messages, output.message], output
            if native and len(step.calls) == len(output.message.tool_calls or ()):
                self._replies[memory_key(step)] = output.message
        return step

    async def aclose(self) -> None:
        """Nothing to let go of: the model is Inspect's."""

    def _messages(self, conversation: Conversation) -> list[ChatMessage]:
        if conversation.wire == "tagged":
            return tagged_messages(conversation, self._pack)
        return native_messages(conversation, self._pack, lambda step: self._replies.get(memory_key(step)))

    def _pack(self, view: View) -> str:
        key = (view.photo_handle, view.box_in_original, view.size)
        if key not in self._packed:
            data = encode(view, "jpeg", max_bytes=_MAX_IMAGE_BYTES)
            self._packed[key] = f"data:image/jpeg;base64,{b64encode(data).decode('ascii')}"
        return self._packed[key]


def _config(sampling: Sampling) -> GenerateConfig:
    """Only what the method asks for: the rest is left to Inspect's own options."""
    given: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
    }
    return GenerateConfig(**{name: value for name, value in given.items() if value is not None})
