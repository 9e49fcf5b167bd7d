"""Inspect's model as a policy in our loop with our tools, and conversations as Inspect's messages.

Every image comes right after its handle and its size in pixels, since that is what boxes refer to. Inspect itself moves
images out of the results of tools for providers that take none there.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolCallError, ToolInfo, ToolParams

from geosleuth.models import Conversation, Finish, Observed, Prompt, Sampling, Step, Usage
from geosleuth.models.protocol import thinking_tokens
from geosleuth.models.tagged import caption, next_call_number, read_reply, system_text, turns
from geosleuth.photo import View, encode
from geosleuth.tools import Tool, ToolCall

Pack = Callable[[View], str]
"""Makes a data URL of a view."""

Recall = Callable[[Step], ChatMessageAssistant | None]
"""Gives the model's own message of a step, which may hold signed thoughts that its provider wants back."""

_NEVER_CARRIED_OUT = "This call was not carried out."
_FINISH: Mapping[str, Finish] = {"max_tokens": "length", "model_length": "length", "content_filter": "filtered"}

# As base64 this is 4 MB, the least that any provider takes for one image.
_MAX_IMAGE_BYTES = 3_000_000


def tool_infos(tools: Sequence[Tool]) -> list[ToolInfo]:
    """Return the descriptions of the tools for a model."""
    return [
        ToolInfo(name=tool.name, description=tool.description, parameters=ToolParams(**tool.schema()["parameters"]))
        for tool in tools
    ]


def native_messages(conversation: Conversation, pack: Pack, recall: Recall) -> list[ChatMessage]:
    """The conversation for a model's own tool calling; every call has its result, and every result its call."""

    def pictures(handles: Iterable[str]) -> list[Content]:
        views = [conversation.picture(handle) for handle in handles]
        return [part for view in views for part in (_build_text_content(caption(view)), ContentImage(image=pack(view)))]

    messages: list[ChatMessage] = []
    # What is said to the model between two replies, and the calls of the last reply that have no result yet.
    asked: list[ChatMessage] = []
    open_calls: dict[str, str] = {}
    if conversation.system:
        messages.append(ChatMessageSystem(content=_clean(conversation.system)))
    for message in conversation.messages:
        if isinstance(message, Prompt):
            asked.append(ChatMessageUser(content=[*pictures(message.images), _build_text_content(message.text)]))
        elif isinstance(message, Observed):
            asked += _build_tool_messages(message, open_calls, pictures)
        elif message.text.strip() or message.thinking.strip() or message.calls:
            messages += [*_close_calls(asked, open_calls), _build_assistant_message(message, recall)]
            asked, open_calls = [], {call.id: call.name for call in message.calls}
    return [*messages, *_close_calls(asked, open_calls)]


def build_tagged_messages(conversation: Conversation, pack: Pack) -> list[ChatMessage]:
    """Return the conversation as plain text and images."""
    messages: list[ChatMessage] = [ChatMessageSystem(content=_clean(system_text(conversation)))]
    for side, said in turns(conversation):
        if side == "assistant":
            messages.append(
                ChatMessageAssistant(content=_clean("".join(item for item in said if isinstance(item, str))))
            )
            continue
        parts: list[Content] = [
            _build_text_content(item) if isinstance(item, str) else ContentImage(image=pack(item)) for item in said
        ]
        messages.append(ChatMessageUser(content=parts))
    return messages


def convert_output(output: ModelOutput, conversation: Conversation) -> Step:
    """Return the model's reply as a step."""
    if output.empty:
        return Step(usage=convert_usage(output), finish="filtered" if output.error else "error", model=output.model)
    said = output.message
    parts = said.content_list
    text = "".join(part.text for part in parts if isinstance(part, ContentText)).strip()
    thinking = _join_parts(*(_thought(part) for part in parts if isinstance(part, ContentReasoning)))
    calls = _calls(said, conversation) if conversation.wire == "native" else ()
    # Servers without a reader for their model's own tags pass them through as words.
    tags = ("</think", "<tool_call") if conversation.tools and not calls else ("</think",)
    if conversation.wire == "tagged" or any(tag in text for tag in tags):
        read = read_reply(text, first_id=next_call_number(conversation))
        text, thinking, calls = read.text, _join_parts(thinking, read.thinking), calls or read.calls
    finish = _FINISH.get(output.stop_reason) or ("calls" if calls else "stop")
    return Step(text, thinking, calls, convert_usage(output), finish, output.model)


def convert_usage(output: ModelOutput) -> Usage:
    """Return the usage of a reply; Inspect counts cached tokens separately."""
    used = output.usage
    if used is None:
        return Usage(cost_usd=None, seconds=output.time or 0.0)
    cached = used.input_tokens_cache_read or 0
    return Usage(
        input_tokens=used.input_tokens + cached + (used.input_tokens_cache_write or 0),
        output_tokens=used.output_tokens,
        cached_tokens=cached,
        cost_usd=used.total_cost,
        seconds=output.time or 0.0,
        thinking_tokens=used.reasoning_tokens,
    )


def memory_key(step: Step) -> tuple[object, ...]:
    """Return the key that recognises a step when it comes back in a conversation, however its calls are numbered."""
    calls = tuple(
        (call.name, json.dumps(_convert_arguments(call.arguments), sort_keys=True, default=str)) for call in step.calls
    )
    return step.text, step.thinking, calls


def _build_assistant_message(step: Step, recall: Recall) -> ChatMessageAssistant:
    known = recall(step)
    if known is not None:
        renamed = [
            InspectCall(id=ours.id, function=theirs.function, arguments=theirs.arguments, type=theirs.type)
            for theirs, ours in zip(known.tool_calls or (), step.calls, strict=True)
        ]
        return known.model_copy(update={"tool_calls": renamed or None})
    content: list[Content] = []
    if step.thinking.strip():
        content.append(ContentReasoning(reasoning=_clean(step.thinking)))
    if step.text.strip():
        content.append(_build_text_content(step.text))
    calls = [InspectCall(id=call.id, function=call.name, arguments=_object(call.arguments)) for call in step.calls]
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def _build_tool_messages(
    message: Observed, open_calls: dict[str, str], pictures: Callable[[Iterable[str]], list[Content]]
) -> list[ChatMessage]:
    results: list[ChatMessage] = []
    following: list[Content] = []
    for observation in message.observations:
        shown = pictures(image.handle for image in observation.images)
        name = open_calls.pop(observation.call_id, None)
        if name is None:
            # The step that called was left out of the conversation.
            told = f"Error: {observation.text}" if observation.failure else observation.text
            following += [_build_text_content(f"Result of {observation.name}: {told}"), *shown]
            continue
        text = observation.text.strip() or "(nothing)"
        results.append(
            ChatMessageTool(
                content=[_build_text_content(text), *shown],
                tool_call_id=observation.call_id,
                function=name,
                error=ToolCallError("unknown", _clean(text)) if observation.failure else None,
            )
        )
    return [*results, ChatMessageUser(content=following)] if following else results


def _close_calls(asked: list[ChatMessage], open_calls: Mapping[str, str]) -> list[ChatMessage]:
    """Return the messages with results first, as providers want them, and a result for each call."""
    made_up = [
        ChatMessageTool(
            content=_NEVER_CARRIED_OUT,
            tool_call_id=call_id,
            function=name,
            error=ToolCallError("unknown", _NEVER_CARRIED_OUT),
        )
        for call_id, name in open_calls.items()
    ]
    results = [item for item in asked if isinstance(item, ChatMessageTool)]
    return [*results, *made_up, *(item for item in asked if not isinstance(item, ChatMessageTool))]


def _calls(said: ChatMessageAssistant, conversation: Conversation) -> tuple[ToolCall, ...]:
    taken = {call.id for message in conversation.messages if isinstance(message, Step) for call in message.calls}
    number = next_call_number(conversation)
    calls = []
    for item in said.tool_calls or ():
        call_id = item.id
        # Some servers count from zero in every reply; results must find their call.
        while not call_id or call_id in taken:
            call_id, number = f"call-{number}", number + 1
        taken.add(call_id)
        calls.append(ToolCall(call_id, item.function, item.parse_error or item.arguments))
    return tuple(calls)


def _thought(part: ContentReasoning) -> str:
    return (part.summary or "") if part.redacted else part.reasoning


def _convert_arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any] | str:
    return arguments if isinstance(arguments, str) else dict(arguments)


def _object(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    return {"unreadable": arguments} if isinstance(arguments, str) else dict(arguments)


def _build_text_content(words: str) -> ContentText:
    return ContentText(text=_clean(words))


def _clean(text: str) -> str:
    """Replace unpaired surrogates, which can't be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _join_parts(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


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
    """Inspect decides where requests go; the user who named the model to it has agreed to that."""

    def __init__(self, model: Model) -> None:
        """Prepare to ask; nothing is sent before the first step."""
        self._model = model
        self._packed: dict[tuple[object, ...], str] = {}
        self._replies: dict[tuple[object, ...], ChatMessageAssistant] = {}
        self._thinks = False
        self.messages: list[ChatMessage] = []
        self.output: ModelOutput | None = None

    @property
    def name(self) -> str:
        """Inspect's name of the model."""
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
            config=_config(conversation.sampling, thinks=self._thinks),
        )
        step = convert_output(output, conversation)
        self._thinks = self._thinks or thinking_tokens(step) > 0
        if not output.empty:
            self.messages, self.output = [*messages, output.message], output
            if native and len(step.calls) == len(output.message.tool_calls or ()):
                self._replies[memory_key(step)] = output.message
        return step

    async def aclose(self) -> None:
        """Nothing to let go of: the model is Inspect's."""

    def _messages(self, conversation: Conversation) -> list[ChatMessage]:
        if conversation.wire == "tagged":
            return build_tagged_messages(conversation, self._pack)
        return native_messages(conversation, self._pack, lambda step: self._replies.get(memory_key(step)))

    def _pack(self, view: View) -> str:
        key = (view.photo_handle, view.box_in_original, view.size)
        if key not in self._packed:
            data = encode(view, "jpeg", max_bytes=_MAX_IMAGE_BYTES)
            self._packed[key] = f"data:image/jpeg;base64,{b64encode(data).decode('ascii')}"
        return self._packed[key]


def _config(sampling: Sampling, *, thinks: bool) -> GenerateConfig:
    """Return only the options that the method asks for; the rest is left to Inspect's own."""
    given: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "max_tokens": sampling.longest(thinks=thinks),
        "seed": sampling.seed,
    }
    return GenerateConfig(**{name: value for name, value in given.items() if value is not None})
