"""A conversation as Inspect's messages, and what Inspect's model said as a step.

Every image comes right after its handle and its size in pixels, since that is what boxes refer to. Inspect itself moves
images out of the results of tools for providers that take none there.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
    ModelOutput,
)
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolCallError, ToolInfo, ToolParams

from geosleuth.photo import View
from geosleuth.policies import Conversation, Finish, Observed, Prompt, Step, Usage
from geosleuth.policies.tagged import caption, next_call_number, read_reply, system_text, turns
from geosleuth.tools import Tool, ToolCall

Pack = Callable[[View], str]
"""Makes a data URL of a view."""

Recall = Callable[[Step], ChatMessageAssistant | None]
"""Gives the model's own message of a step, which may hold signed thoughts that its provider wants back."""

_NEVER_CARRIED_OUT = "This call was not carried out."
_FINISH: Mapping[str, Finish] = {"max_tokens": "length", "model_length": "length", "content_filter": "filtered"}


def tool_infos(tools: Sequence[Tool]) -> list[ToolInfo]:
    """What a model must know of the tools."""
    return [
        ToolInfo(name=one.name, description=one.description, parameters=ToolParams(**one.schema()["parameters"]))
        for one in tools
    ]


def native_messages(conversation: Conversation, pack: Pack, recall: Recall) -> list[ChatMessage]:
    """The conversation for a model's own tool calling; every call has its result, and every result its call."""

    def pictures(handles: Iterable[str]) -> list[Content]:
        views = [conversation.picture(handle) for handle in handles]
        return [part for view in views for part in (_text(caption(view)), ContentImage(image=pack(view)))]

    messages: list[ChatMessage] = []
    # What is said to the model between two replies, and the calls of the last reply that have no result yet.
    asked: list[ChatMessage] = []
    open_calls: dict[str, str] = {}
    if conversation.system:
        messages.append(ChatMessageSystem(content=_clean(conversation.system)))
    for message in conversation.messages:
        if isinstance(message, Prompt):
            asked.append(ChatMessageUser(content=[*pictures(message.images), _text(message.text)]))
        elif isinstance(message, Observed):
            asked += _observed(message, open_calls, pictures)
        elif message.text.strip() or message.thinking.strip() or message.calls:
            messages += [*_closed(asked, open_calls), _spoken(message, recall)]
            asked, open_calls = [], {call.id: call.name for call in message.calls}
    return [*messages, *_closed(asked, open_calls)]


def tagged_messages(conversation: Conversation, pack: Pack) -> list[ChatMessage]:
    """The conversation as plain text and images."""
    messages: list[ChatMessage] = [ChatMessageSystem(content=_clean(system_text(conversation)))]
    for side, said in turns(conversation):
        if side == "assistant":
            messages.append(ChatMessageAssistant(content=_clean("".join(one for one in said if isinstance(one, str)))))
            continue
        parts: list[Content] = [_text(one) if isinstance(one, str) else ContentImage(image=pack(one)) for one in said]
        messages.append(ChatMessageUser(content=parts))
    return messages


def step_of(output: ModelOutput, conversation: Conversation) -> Step:
    """What the model said."""
    if output.empty:
        return Step(usage=usage_of(output), finish="filtered" if output.error else "error", model=output.model)
    said = output.message
    parts = said.content_list
    text = "".join(part.text for part in parts if isinstance(part, ContentText)).strip()
    thinking = _joined(*(_thought(part) for part in parts if isinstance(part, ContentReasoning)))
    calls = _calls(said, conversation) if conversation.wire == "native" else ()
    # Servers without a reader for their model's own tags pass them through as words.
    tags = ("</think", "<tool_call") if conversation.tools and not calls else ("</think",)
    if conversation.wire == "tagged" or any(tag in text for tag in tags):
        read = read_reply(text, first_id=next_call_number(conversation))
        text, thinking, calls = read.text, _joined(thinking, read.thinking), calls or read.calls
    finish = _FINISH.get(output.stop_reason) or ("calls" if calls else "stop")
    return Step(text, thinking, calls, usage_of(output), finish, output.model)


def usage_of(output: ModelOutput) -> Usage:
    """What a reply cost; Inspect counts tokens from a cache apart from the others."""
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
    )


def memory_key(step: Step) -> tuple[object, ...]:
    """What a step is recognised by when it comes back in a conversation, whoever numbers its calls."""
    calls = tuple((call.name, json.dumps(_plain(call.arguments), sort_keys=True, default=str)) for call in step.calls)
    return step.text, step.thinking, calls


def _spoken(step: Step, recall: Recall) -> ChatMessageAssistant:
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
        content.append(_text(step.text))
    calls = [InspectCall(id=call.id, function=call.name, arguments=_object(call.arguments)) for call in step.calls]
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def _observed(
    message: Observed, open_calls: dict[str, str], pictures: Callable[[Iterable[str]], list[Content]]
) -> list[ChatMessage]:
    results: list[ChatMessage] = []
    following: list[Content] = []
    for one in message.observations:
        shown = pictures(image.handle for image in one.images)
        name = open_calls.pop(one.call_id, None)
        if name is None:
            # The step that called was left out of the conversation.
            told = f"Error: {one.text}" if one.failure else one.text
            following += [_text(f"Result of {one.name}: {told}"), *shown]
            continue
        text = one.text.strip() or "(nothing)"
        results.append(
            ChatMessageTool(
                content=[_text(text), *shown],
                tool_call_id=one.call_id,
                function=name,
                error=ToolCallError("unknown", _clean(text)) if one.failure else None,
            )
        )
    return [*results, ChatMessageUser(content=following)] if following else results


def _closed(asked: list[ChatMessage], open_calls: Mapping[str, str]) -> list[ChatMessage]:
    """Results first, as providers want them, with one for each call."""
    made_up = [
        ChatMessageTool(
            content=_NEVER_CARRIED_OUT,
            tool_call_id=call_id,
            function=name,
            error=ToolCallError("unknown", _NEVER_CARRIED_OUT),
        )
        for call_id, name in open_calls.items()
    ]
    results = [one for one in asked if isinstance(one, ChatMessageTool)]
    return [*results, *made_up, *(one for one in asked if not isinstance(one, ChatMessageTool))]


def _calls(said: ChatMessageAssistant, conversation: Conversation) -> tuple[ToolCall, ...]:
    taken = {call.id for message in conversation.messages if isinstance(message, Step) for call in message.calls}
    number = next_call_number(conversation)
    calls = []
    for one in said.tool_calls or ():
        call_id = one.id
        # Some servers count from zero in every reply; results must find their call.
        while not call_id or call_id in taken:
            call_id, number = f"call-{number}", number + 1
        taken.add(call_id)
        calls.append(ToolCall(call_id, one.function, one.parse_error or one.arguments))
    return tuple(calls)


def _thought(part: ContentReasoning) -> str:
    return (part.summary or "") if part.redacted else part.reasoning


def _plain(arguments: Mapping[str, Any] | str) -> dict[str, Any] | str:
    return arguments if isinstance(arguments, str) else dict(arguments)


def _object(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    return {"unreadable": arguments} if isinstance(arguments, str) else dict(arguments)


def _text(words: str) -> ContentText:
    return ContentText(text=_clean(words))


def _clean(text: str) -> str:
    """Half characters, which some programs make, can't be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())
