"""A conversation as pydantic-ai's messages, and a reply as a step.

Every image comes right after its handle and its size in pixels, since that is what boxes refer to. Where a provider
takes no images in the results of tools, they follow in a message of the user's side that names them.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from geosleuth.models.protocol import Conversation, Finish, Observed, Prompt, Step, Usage
from geosleuth.models.tagged import caption, next_call_number, read_reply, system_text, turns
from geosleuth.photo import View
from geosleuth.tools import Observation, Tool, ToolCall

Content = list[str | BinaryContent]
Pack = Callable[[View], BinaryContent]
Recall = Callable[[Step], ModelResponse | None]

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NEVER_CARRIED_OUT = "This call was not carried out."
_FINISH: dict[str | None, Finish] = {"length": "length", "content_filter": "filtered", "error": "error"}


def tool_definitions(tools: Sequence[Tool]) -> list[ToolDefinition]:
    """Return the tools as providers need them defined."""
    return [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.schema()["parameters"],
            # Strict schemas forbid arguments that may be left out.
            strict=False,
        )
        for tool in tools
    ]


def native_messages(
    conversation: Conversation,
    pack: Pack,
    recall: Recall,
    *,
    images_in_results: bool,
) -> list[ModelMessage]:
    """The conversation for a provider's own tool calling.

    Args:
        conversation: what to send.
        pack: makes a file of a view.
        recall: gives the provider's own form of a step, where it is known: it may hold signed thoughts that some
            providers want back.
        images_in_results: whether the results of tools may hold images.
    """

    def show(handles: Iterable[str], text: str = "") -> Content:
        """Images, each after its caption, and what is said about them."""
        views = [conversation.picture(handle) for handle in handles]
        content = [part for view in views for part in (caption(view), pack(view))]
        return [*content, _clean(text)] if text.strip() or not content else content

    messages: list[ModelMessage] = []
    asked: list[ModelRequestPart] = [SystemPromptPart(_clean(conversation.system))] if conversation.system else []
    # Calls of the last step that have no result yet: a provider refuses a call without one, and one without a call.
    open_calls: dict[str, str] = {}
    for message in conversation.messages:
        if isinstance(message, Step):
            parts = _build_model_response(message, recall)
            if not parts.parts:
                continue
            messages += [ModelRequest(_close_calls(asked, open_calls)), parts] if asked or open_calls else [parts]
            asked, open_calls = [], {call.id: tool_name(call.name) for call in message.calls}
        elif isinstance(message, Prompt):
            asked.append(UserPromptPart(show(message.images, message.text)))
        else:
            asked += _build_result_parts(message, open_calls, show, images_in_results=images_in_results)
    if asked or open_calls:
        messages.append(ModelRequest(_close_calls(asked, open_calls)))
    return messages


def build_tagged_messages(conversation: Conversation, pack: Pack) -> list[ModelMessage]:
    """The conversation as plain text and images."""
    messages: list[ModelMessage] = []
    asked: list[ModelRequestPart] = [SystemPromptPart(_clean(system_text(conversation)))]
    for side, said in turns(conversation):
        if side == "user":
            asked.append(UserPromptPart([_clean(item) if isinstance(item, str) else pack(item) for item in said]))
            continue
        if asked:
            messages.append(ModelRequest(asked))
            asked = []
        messages.append(ModelResponse([TextPart(_clean("".join(item for item in said if isinstance(item, str))))]))
    return [*messages, ModelRequest(asked)] if asked else messages


def fit_call_ids(messages: list[ModelMessage], length: int) -> list[ModelMessage]:
    """The same messages with the ids of calls that some models insist on: letters and digits, just so many."""

    def fit(part: Any) -> Any:
        if not isinstance(part, ToolCallPart | ToolReturnPart):
            return part
        given = part.tool_call_id
        if len(given) == length and given.isascii() and given.isalnum():
            return part
        return replace(part, tool_call_id=hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:length])

    def fit_message(message: Any) -> Any:
        return replace(message, parts=[fit(part) for part in message.parts])

    return [fit_message(message) for message in messages]


def tool_name(name: str) -> str:
    """A name that providers take; models make up others."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "unknown"


def native_step(response: ModelResponse, conversation: Conversation, usage: Usage) -> Step:
    """A reply with a provider's own tool calls as a step."""
    text, thinking, calls = _extract_text(response), _thoughts(response), _calls(response, conversation)
    # Servers without a reader for their model's own tags pass them through as words.
    tags = ("</think", "<tool_call") if conversation.tools and not calls else ("</think",)
    if any(tag in text for tag in tags):
        read = read_reply(text, first_id=next_call_number(conversation))
        text, thinking, calls = read.text, _join_paragraphs(thinking, read.thinking), calls or read.calls
    return Step(text, thinking, calls, usage, _finish(response, calls), response.model_name or "")


def parse_tagged_step(response: ModelResponse, conversation: Conversation, usage: Usage) -> Step:
    """A reply in tagged text as a step."""
    read = read_reply(_extract_text(response), first_id=next_call_number(conversation))
    thinking = _join_paragraphs(_thoughts(response), read.thinking)
    return Step(read.text, thinking, read.calls, usage, _finish(response, read.calls), response.model_name or "")


def says_the_same(response: ModelResponse, step: Step) -> bool:
    """Return whether a reply can stand for the step that was read from it, with nothing left in tags."""
    calls = sum(isinstance(part, ToolCallPart) for part in response.parts)
    return calls == len(step.calls) and _extract_text(response) == step.text


def memory_key(step: Step) -> tuple[object, ...]:
    """Return the key of a step when it comes back in a conversation; it does not depend on the ids of its calls."""
    calls = tuple(
        (call.name, json.dumps(_copy_arguments(call.arguments), sort_keys=True, default=str)) for call in step.calls
    )
    return step.text, step.thinking, calls


def _copy_arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any] | str:
    return arguments if isinstance(arguments, str) else dict(arguments)


def _clean(text: str) -> str:
    """Half characters, which some programs make, can't be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _join_paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _build_model_response(step: Step, recall: Recall) -> ModelResponse:
    known = recall(step)
    if known is not None:
        ids = iter([call.id for call in step.calls])
        parts = [
            ToolCallPart(
                tool_name(part.tool_name),
                cast("str | dict[str, Any] | None", part.args),
                next(ids),
                id=part.id,
                provider_name=part.provider_name,
                provider_details=part.provider_details,
            )
            if isinstance(part, ToolCallPart)
            else part
            for part in known.parts
        ]
        return replace(known, parts=parts)
    made: list[ModelResponsePart] = []
    if step.thinking.strip():
        made.append(ThinkingPart(_clean(step.thinking)))
    if step.text.strip():
        made.append(TextPart(_clean(step.text)))
    made += [ToolCallPart(tool_name(call.name), _copy_arguments(call.arguments), call.id) for call in step.calls]
    return ModelResponse(made)


def _build_result_parts(
    message: Observed, open_calls: dict[str, str], show: Callable[[Iterable[str]], Content], *, images_in_results: bool
) -> list[ModelRequestPart]:
    results: list[ModelRequestPart] = []
    following: Content = []
    for observation in message.observations:
        handles = [image.handle for image in observation.images]
        pictures = show(handles) if handles else []
        name = open_calls.pop(observation.call_id, None)
        if name is None:
            # The step that called was left out of the conversation.
            following += [
                _clean(f"Result of {tool_name(observation.name)}: {_format_observation(observation)}"),
                *pictures,
            ]
            continue
        text = _clean(observation.text) or "(nothing)"
        content: str | Content = [text, *pictures] if pictures and images_in_results else text
        if pictures and not images_in_results:
            content = f"{text}\n({', '.join(handles)}: see the next message)"
            following += pictures
        results.append(
            ToolReturnPart(name, content, observation.call_id, outcome="failed" if observation.failure else "success")
        )
    return [*results, UserPromptPart(following)] if following else results


def _format_observation(observation: Observation) -> str:
    return f"Error: {observation.text}" if observation.failure else observation.text


def _close_calls(asked: list[ModelRequestPart], open_calls: Mapping[str, str]) -> list[ModelRequestPart]:
    """Results first, as providers want them, with one for each call."""
    made_up = [
        ToolReturnPart(name, _NEVER_CARRIED_OUT, call_id, outcome="failed") for call_id, name in open_calls.items()
    ]
    results = [part for part in asked if isinstance(part, ToolReturnPart)]
    return [*results, *made_up, *(part for part in asked if not isinstance(part, ToolReturnPart))]


def _extract_text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart)).strip()


def _thoughts(response: ModelResponse) -> str:
    return _join_paragraphs(*(part.content for part in response.parts if isinstance(part, ThinkingPart)))


def _calls(response: ModelResponse, conversation: Conversation) -> tuple[ToolCall, ...]:
    taken = {call.id for message in conversation.messages if isinstance(message, Step) for call in message.calls}
    number = next_call_number(conversation)
    calls = []
    for part in response.parts:
        if not isinstance(part, ToolCallPart):
            continue
        call_id = part.tool_call_id
        # Some servers count from zero in every reply; results must find their call.
        while not call_id or call_id in taken:
            call_id, number = f"call-{number}", number + 1
        taken.add(call_id)
        calls.append(ToolCall(call_id, part.tool_name, _arguments(part.args)))
    return tuple(calls)


def _arguments(given: str | Mapping[str, Any] | None) -> Mapping[str, Any] | str:
    if not isinstance(given, str):
        return given or {}
    try:
        read = json.loads(given) if given.strip() else {}
    except (ValueError, RecursionError):
        return given
    return read if isinstance(read, dict) else given


def _finish(response: ModelResponse, calls: tuple[ToolCall, ...]) -> Finish:
    return _FINISH.get(response.finish_reason) or ("calls" if calls else "stop")
