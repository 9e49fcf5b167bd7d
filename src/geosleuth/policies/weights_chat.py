"""A conversation as a processor's chat template takes it. Templates differ; what each can do is found out by trying.

A template that knows no tools, or no images in the results of tools, or no system message, or no thoughts, is given the
same things in a form that it does know.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.photo import View
from geosleuth.tools.surfaces import native_tools

from .model import Conversation, Observed, Step
from .tagged import NO_CALLS_LEFT, observation_text, parts_of, system_text, turns
from .tagged_escaping import DATA, SPOKEN

ChatMessage = dict[str, Any]
Render = Callable[[list[ChatMessage], list[dict[str, Any]] | None], str]
"""The prompt's text for messages and tools; raises where the template does."""

_PROBE_CALL = {"type": "function", "function": {"name": "probe_tool", "arguments": {"key": "probe-value"}}}
_PROBE_TOOL = {
    "type": "function",
    "function": {
        "name": "probe_tool",
        "description": "probe-description",
        "parameters": {"type": "object", "properties": {"key": {"type": "string", "description": "a key"}}},
    },
}
_PROBE_IMAGE = {"type": "image", "image": "probe"}
_PROBE_THOUGHT = "probe-thought"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a chat template can show.

    ``lists`` holds the roles whose content must be a list of parts; the content of the others is plain text where it
    has no images. ``thinking`` says whether there is a place for what was thought; a template may still leave it out of
    earlier turns.
    """

    system: bool
    tools: bool
    tool_images: bool
    lists: frozenset[str]
    thinking: bool = True


def find_abilities(render: Render) -> Abilities:
    """Try a template out.

    Raises:
        BadInput: it can't even show a question with an image.
    """
    # Part lists first: templates made for images want them, and those that don't would print them as code.
    lists = frozenset(role for role in ("user", "assistant", "system", "tool") if _shows_list(render, role))
    if "user" not in lists or not _differs(render, "user", lists):
        raise BadInput("the model's chat template does not take images; use a model made for images and text")
    system = _shows(render, [_said("system", "probe-system", lists), _said("user", "hi", lists)], ("probe-system",))
    used = _tool_conversation(_said("tool", "probe-result", lists), lists)
    # A template may name tools without their descriptions, as those of small models do; it must show them somehow.
    tools = _shows(render, used, ("probe-value", "probe-result"), [_PROBE_TOOL]) and (
        _tried(render, used, [_PROBE_TOOL]) != _tried(render, used)
    )
    thought = {**_said("assistant", "probe-words", lists), "reasoning_content": _PROBE_THOUGHT}
    thinking = _shows(render, [_said("user", "hi", lists), thought], (_PROBE_THOUGHT,))
    return Abilities(system, tools, tools and _differs(render, "tool", lists), lists, thinking)


def with_thinking(content: str | list[dict[str, Any]], thinking: str) -> str | list[dict[str, Any]]:
    """What the assistant said with what it thought in front, for a template that has no place for thoughts."""
    thought = f"<think>\n{thinking}\n</think>\n\n"
    if isinstance(content, str):
        return thought + content
    if content and content[0].get("type") == "text":
        return [content[0] | {"text": thought + content[0]["text"]}, *content[1:]]
    return [{"type": "text", "text": thought}, *content]


def _said(role: str, text: str, lists: frozenset[str]) -> ChatMessage:
    return {"role": role, "content": [{"type": "text", "text": text}] if role in lists else text}


def _tool_conversation(result: ChatMessage, lists: frozenset[str]) -> list[ChatMessage]:
    asked = {**_said("assistant", "probe-words", lists), "tool_calls": [_PROBE_CALL]}
    return [_said("user", "hi", lists), asked, {**result, "name": "probe_tool", "tool_call_id": "call-1"}]


def _tried(render: Render, messages: list[ChatMessage], tools: list[dict[str, Any]] | None = None) -> str | None:
    try:
        return render(messages, tools)
    except Exception:  # noqa: BLE001 templates raise what they like; a template that raises can't do it
        return None


def _shows(
    render: Render,
    messages: list[ChatMessage],
    words: tuple[str, ...],
    tools: list[dict[str, Any]] | None = None,
) -> bool:
    text = _tried(render, messages, tools)
    return text is not None and all(word in text for word in words) and "'type'" not in text


def _shows_list(render: Render, role: str) -> bool:
    lists = frozenset({role, "user"})
    probe = _said(role, "probe-words", lists)
    if role == "tool":
        return _shows(render, _tool_conversation(probe, frozenset({"user"})), ("probe-words",), [_PROBE_TOOL])
    others = [_said("user", "hi", lists)]
    messages = {"user": [probe], "system": [probe, *others], "assistant": [*others, probe, *others]}[role]
    return _shows(render, messages, ("probe-words",))


def _differs(render: Render, role: str, lists: frozenset[str]) -> bool:
    """Whether an image in a message of that role leaves a trace in the prompt."""
    with_image = {"role": role, "content": [{"type": "text", "text": "words"}, _PROBE_IMAGE]}
    bare = {"role": role, "content": [{"type": "text", "text": "words"}]}
    shown = [
        _tried(
            render,
            _tool_conversation(one, lists) if role == "tool" else [one],
            [_PROBE_TOOL] if role == "tool" else None,
        )
        for one in (with_image, bare)
    ]
    return shown[0] is not None and shown[1] is not None and shown[0] != shown[1] and "'type'" not in shown[0]


class Chat:
    """Writes conversations for one chat template."""

    def __init__(self, abilities: Abilities, forbidden: Iterable[str] = ()) -> None:
        """Take what the template can do, and the tokens that no text may spell because they steer the model."""
        self.abilities = abilities
        words = sorted((re.escape(word) for word in forbidden if len(word) > 1), key=len, reverse=True)
        self._forbidden = re.compile("|".join(words)) if words else None

    def write(self, conversation: Conversation) -> tuple[list[ChatMessage], list[dict[str, Any]] | None]:
        """The messages, and the tools where the template shows them itself."""
        native = conversation.wire == "native" and self.abilities.tools
        system = conversation.system if native else system_text(conversation)
        messages = self._native(conversation) if native else self._tagged(conversation)
        if system.strip() and self.abilities.system:
            messages.insert(0, self._message("system", [system]))
        elif system.strip():
            first = messages[0] if messages and messages[0]["role"] == "user" else None
            words = {"type": "text", "text": self._safe(system) + "\n\n"}
            if first is None:
                messages.insert(0, {"role": "user", "content": [words]})
            else:
                first["content"] = [words, *first["content"]]
        return messages, native_tools(conversation.tools) if native and conversation.tools else None

    def _tagged(self, conversation: Conversation) -> list[ChatMessage]:
        return [self._message(side, parts) for side, parts in turns(conversation)]

    def _native(self, conversation: Conversation) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        for message in conversation.messages:
            if isinstance(message, Step):
                messages.append(self._step(message))
            elif isinstance(message, Observed):
                messages.extend(self._observed(message, conversation.picture))
            else:
                self._add_user(messages, parts_of(message, conversation.picture))
        if not conversation.may_call and conversation.tools:
            self._add_user(messages, [NO_CALLS_LEFT])
        return messages

    def _step(self, step: Step) -> ChatMessage:
        message = self._message("assistant", [SPOKEN.escape(step.text)])
        if step.thinking:
            thinking = self._safe(SPOKEN.escape(step.thinking))
            if self.abilities.thinking:
                message["reasoning_content"] = thinking
            else:
                message["content"] = with_thinking(message["content"], thinking)
        if step.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": self._safe(call.name), "arguments": self._safe_values(call.arguments)},
                }
                for call in step.calls
            ]
        return message

    def _observed(self, observed: Observed, picture: Callable[[str], View]) -> Iterable[ChatMessage]:
        aside: list[str | View] = []
        for seen in observed.observations:
            images = [part for image in seen.images for part in (image.caption, picture(image.handle))]
            text = observation_text(seen)
            inside = images if self.abilities.tool_images else []
            aside += [] if self.abilities.tool_images else images
            message = self._message("tool", [text, *inside])
            yield {**message, "name": self._safe(seen.name), "tool_call_id": seen.call_id}
        if aside:
            yield self._message("user", aside)

    def _add_user(self, messages: list[ChatMessage], parts: list[str | View]) -> None:
        message = self._message("user", parts)
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"] += [{"type": "text", "text": "\n"}, *message["content"]]
        else:
            messages.append(message)

    def _message(self, role: str, parts: list[str | View]) -> ChatMessage:
        """A message whose parts are each on lines of their own."""
        content: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, View):
                content.append({"type": "image", "image": part.image})
            elif content and content[-1]["type"] == "text":
                content[-1]["text"] += f"\n{self._safe(part)}"
            else:
                content.append({"type": "text", "text": self._safe(part)})
        has_images = any(part["type"] == "image" for part in content)
        if role in self.abilities.lists or role == "user" or has_images:
            return {"role": role, "content": content}
        return {"role": role, "content": "".join(part["text"] for part in content)}

    def _safe(self, text: str) -> str:
        """The text with a space in every token that it must not spell."""
        return self._forbidden.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text) if self._forbidden else text

    def _safe_values(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._safe(DATA.escape(value))
        if isinstance(value, Mapping):
            return {self._safe(str(key)): self._safe_values(inner) for key, inner in value.items()}
        return [self._safe_values(inner) for inner in value] if isinstance(value, list) else value
