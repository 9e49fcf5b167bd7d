"""One model in memory: its chat template, loading and drawing replies. All of it blocks; `weights` keeps it aside.

A template that knows no tools, or no images in the results of tools, or no system message, or no thoughts, is given the
same things in a form that it does know.

Nothing is ever fetched: files come from the folder alone, and code that a model brings along is not run.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from geosleuth.photo import View
from geosleuth.photo.runtime import no_probing, stay_offline
from geosleuth.support.errors import BadInput, ServiceFault, require
from geosleuth.tools.surfaces import native_tools

from .protocol import Conversation, Observed, Sampling, Step
from .tagged import DATA, NO_CALLS_LEFT, REPLIES, observation_text, split_message, system_text, turns

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

Device = Literal["auto", "cpu", "cuda", "mps"] | str
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
_TAGS = re.compile(r"</?(?:think|tool_call|tool_response|answer)>")
_LOCAL_ONLY = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities of a chat template.

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
    system = _shows(
        render,
        [_build_message("system", "probe-system", lists), _build_message("user", "hi", lists)],
        ("probe-system",),
    )
    used = _tool_conversation(_build_message("tool", "probe-result", lists), lists)
    # A template may name tools without their descriptions, as those of small models do; it must show them somehow.
    tools = _shows(render, used, ("probe-value", "probe-result"), [_PROBE_TOOL]) and (
        _try_render(render, used, [_PROBE_TOOL]) != _try_render(render, used)
    )
    thought = {**_build_message("assistant", "probe-words", lists), "reasoning_content": _PROBE_THOUGHT}
    thinking = _shows(render, [_build_message("user", "hi", lists), thought], (_PROBE_THOUGHT,))
    return Abilities(system, tools, tools and _differs(render, "tool", lists), lists, thinking)


def text_abilities(render: Render) -> Abilities:
    """Return what the template of a language model can show: words alone."""
    none: frozenset[str] = frozenset()
    asked = [_build_message("system", "probe-system", none), _build_message("user", "hi", none)]
    return Abilities(_shows(render, asked, ("probe-system",)), tools=False, tool_images=False, lists=none)


def with_thinking(content: str | list[dict[str, Any]], thinking: str) -> str | list[dict[str, Any]]:
    """Return an assistant's message with its thinking in front, for templates without thinking."""
    thought = f"<think>\n{thinking}\n</think>\n\n"
    if isinstance(content, str):
        return thought + content
    if content and content[0].get("type") == "text":
        return [content[0] | {"text": thought + content[0]["text"]}, *content[1:]]
    return [{"type": "text", "text": thought}, *content]


def _build_message(role: str, text: str, lists: frozenset[str]) -> ChatMessage:
    return {"role": role, "content": [{"type": "text", "text": text}] if role in lists else text}


def _tool_conversation(result: ChatMessage, lists: frozenset[str]) -> list[ChatMessage]:
    asked = {**_build_message("assistant", "probe-words", lists), "tool_calls": [_PROBE_CALL]}
    return [_build_message("user", "hi", lists), asked, {**result, "name": "probe_tool", "tool_call_id": "call-1"}]


def _try_render(render: Render, messages: list[ChatMessage], tools: list[dict[str, Any]] | None = None) -> str | None:
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
    text = _try_render(render, messages, tools)
    return text is not None and all(word in text for word in words) and "'type'" not in text


def _shows_list(render: Render, role: str) -> bool:
    lists = frozenset({role, "user"})
    probe = _build_message(role, "probe-words", lists)
    if role == "tool":
        return _shows(render, _tool_conversation(probe, frozenset({"user"})), ("probe-words",), [_PROBE_TOOL])
    others = [_build_message("user", "hi", lists)]
    messages = {"user": [probe], "system": [probe, *others], "assistant": [*others, probe, *others]}[role]
    return _shows(render, messages, ("probe-words",))


def _differs(render: Render, role: str, lists: frozenset[str]) -> bool:
    """Return whether an image in a message of that role leaves a trace in the prompt."""
    with_image = {"role": role, "content": [{"type": "text", "text": "words"}, _PROBE_IMAGE]}
    bare = {"role": role, "content": [{"type": "text", "text": "words"}]}
    shown = [
        _try_render(
            render,
            _tool_conversation(item, lists) if role == "tool" else [item],
            [_PROBE_TOOL] if role == "tool" else None,
        )
        for item in (with_image, bare)
    ]
    return shown[0] is not None and shown[1] is not None and shown[0] != shown[1] and "'type'" not in shown[0]


class ChatTemplate:
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
        messages = self._native(conversation) if native else self._build_tagged_messages(conversation)
        if system.strip() and self.abilities.system:
            messages.insert(0, self._message("system", [system]))
        elif system.strip():
            first = messages[0] if messages and messages[0]["role"] == "user" else None
            words = {"type": "text", "text": self._safe(system) + "\n\n"}
            if first is None:
                messages.insert(0, {"role": "user", "content": [words]})
            elif isinstance(first["content"], str):
                first["content"] = words["text"] + first["content"]
            else:
                first["content"] = [words, *first["content"]]
        return messages, native_tools(conversation.tools) if native and conversation.tools else None

    def _build_tagged_messages(self, conversation: Conversation) -> list[ChatMessage]:
        return [self._message(side, parts) for side, parts in turns(conversation)]

    def _native(self, conversation: Conversation) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        for message in conversation.messages:
            if isinstance(message, Step):
                messages.append(self._step(message))
            elif isinstance(message, Observed):
                messages.extend(self._build_observed_messages(message, conversation.picture))
            else:
                self._add_user(messages, split_message(message, conversation.picture))
        if not conversation.may_call and conversation.tools:
            self._add_user(messages, [NO_CALLS_LEFT])
        return messages

    def _step(self, step: Step) -> ChatMessage:
        message = self._message("assistant", [REPLIES.escape(step.text)])
        if step.thinking:
            thinking = self._safe(REPLIES.escape(step.thinking))
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

    def _build_observed_messages(self, observed: Observed, picture: Callable[[str], View]) -> Iterable[ChatMessage]:
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
        if role in self.abilities.lists or (role == "user" and self.abilities.lists) or has_images:
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


@dataclass(frozen=True, slots=True)
class Generated:
    """A reply as text, what it took, and whether it was cut before its end."""

    text: str
    input_tokens: int
    output_tokens: int
    cut: bool


class Engine:
    """A loaded model. Not for use by two threads at once."""

    def __init__(
        self, folder: Path, *, device: Device = "auto", dtype: Dtype = "auto", text_only: bool = False
    ) -> None:
        """Load the model. ``text_only`` also takes language models that see no images.

        Raises:
            BadInput: it is no model for images and text, it is damaged, or this machine lacks the device.
            MissingExtra: torch or transformers is not installed.
        """
        # A second lock on a door that is not used anyway.
        stay_offline()
        self._name = folder.name
        with no_probing():  # transformers imports its parts, and what goes with it, only when they are asked for
            self._torch = require("torch", extra="weights")
            self._transformers = require("transformers", extra="weights")
            self._device = self._chosen_device(device)
            config = self._config(folder, text_only=text_only)
            with self._troubles(folder), self._quiet():
                tokenizer: Any = self._transformers.AutoTokenizer
                load = load_processor if self._sees else partial(tokenizer.from_pretrained, **_LOCAL_ONLY)
                self._processor = load(folder)
                self._model = self._load_model(folder, config, dtype)
        self._tokenizer = self._processor.tokenizer if self._sees else self._processor
        self._chat = ChatTemplate(self._abilities(folder), self._steering_tokens())
        self._dropped = {
            number
            for token, number in zip(self._tokenizer.all_special_tokens, self._tokenizer.all_special_ids, strict=True)
            if not _TAGS.fullmatch(token)
        }
        limit = getattr(config.get_text_config(), "max_position_embeddings", None)
        self._positions = limit if isinstance(limit, int) and limit > 0 else None

    def reply(
        self, conversation: Conversation, *, max_new_tokens: int, seconds: float | None, stopped: Callable[[], bool]
    ) -> Generated:
        """Draw one reply. It is cut after ``max_new_tokens`` or ``seconds``, or when ``stopped`` says so.

        Raises:
            ServiceFault: the conversation is longer than the model can take, or memory is short.
        """
        inputs = self._inputs(*self._chat.write(conversation))
        given = int(inputs["input_ids"].shape[1])
        room = max_new_tokens if self._positions is None else min(max_new_tokens, self._positions - given)
        if room < 1:
            raise ServiceFault(
                self._name, f"the conversation has {given} tokens and the model takes no more than {self._positions}"
            )
        ids = self._generate(inputs, conversation.sampling, room, seconds, stopped)[given:]
        ended = bool(ids) and ids[-1] in self._end_ids()
        text = self._tokenizer.decode([number for number in ids if number not in self._dropped])
        opened = "<think>" if self._thinking_is_open(inputs["input_ids"][0]) else ""
        return Generated(opened + text, given, len(ids), not ended)

    def _inputs(self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None) -> Any:
        encoded = self._processor.apply_chat_template(
            messages, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        if not self._sees:
            return encoded.to(self._model.device)
        return encoded.to(self._model.device, dtype=self._model.dtype)

    def _generate(
        self, inputs: Any, sampling: Sampling, room: int, seconds: float | None, stopped: Callable[[], bool]
    ) -> list[int]:
        torch = self._torch
        until = None if seconds is None else time.monotonic() + seconds

        def stop(*_: Any, **__: Any) -> bool:
            return stopped() or (until is not None and time.monotonic() > until)

        devices = [] if self._device in ("cpu", "mps") else [self._model.device]
        try:
            with torch.inference_mode(), torch.random.fork_rng(devices, enabled=sampling.seed is not None):
                if sampling.seed is not None:
                    torch.manual_seed(sampling.seed)
                drawn = self._model.generate(
                    **inputs,
                    max_new_tokens=room,
                    stopping_criteria=[_Stop(torch, stop)],
                    **_drawing(sampling),
                )
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise ServiceFault(self._name, f"the model ran out of memory on {self._device}") from error
        return [int(number) for number in drawn[0]]

    def _thinking_is_open(self, prompt: Any) -> bool:
        # Templates of thinking models open the tag themselves, so that the reply starts within it.
        return bool(self._tokenizer.decode(prompt[-8:]).rstrip().endswith("<think>"))

    def _end_ids(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list) else {ends}

    def _chosen_device(self, device: Device) -> str:
        torch = self._torch
        here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
        if device == "auto":
            return next(name for name, there in here.items() if there)
        if not here.get(device.partition(":")[0], False):
            have = ", ".join(name for name, there in here.items() if there)
            raise BadInput(f"this machine has no device {device!r}; it has: {have}")
        return device

    def _config(self, folder: Path, *, text_only: bool) -> Any:
        with self._troubles(folder), self._quiet():
            config = self._transformers.AutoConfig.from_pretrained(folder, **_LOCAL_ONLY)
        from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

        self._sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        if not self._sees and not text_only:
            raise BadInput(
                f"{folder} holds a model of type {config.model_type!r}, which is not made for images and text; "
                "use a vision-language model"
            )
        return config

    def _load_model(self, folder: Path, config: Any, dtype: Dtype) -> Any:
        wanted: Any = dtype if dtype == "auto" else getattr(self._torch, dtype)
        if dtype == "auto" and self._device == "cpu" and config.dtype == self._torch.float16:
            # Half precision without the hardware for it is slow where it works at all.
            wanted = self._torch.float32
        kind = "AutoModelForImageTextToText" if self._sees else "AutoModelForCausalLM"
        model, info = getattr(self._transformers, kind).from_pretrained(
            folder, config=config, dtype=wanted, use_safetensors=True, output_loading_info=True, **_LOCAL_ONLY
        )
        if missing := sorted(info["missing_keys"]):
            raise BadInput(f"{folder} lacks {len(missing)} of the model's weights, such as {missing[0]}")
        return model.to(self._device).eval()

    def _abilities(self, folder: Path) -> Any:
        if not self._processor.chat_template:
            raise BadInput(f"{folder} brings no chat template; get the instruction-tuned version of the model")

        def render(messages: list[ChatMessage], tools: list[dict[str, Any]] | None) -> str:
            template = self._processor.apply_chat_template
            return str(template(messages, tools=tools, add_generation_prompt=True, tokenize=False))

        return find_abilities(render) if self._sees else text_abilities(render)

    def _steering_tokens(self) -> set[str]:
        own = (getattr(self._processor, f"{kind}_token", None) for kind in ("image", "video", "audio", "boi", "eoi"))
        special = {token for token in self._tokenizer.all_special_tokens if not _TAGS.fullmatch(token)}
        return special | {token for token in own if isinstance(token, str)}

    @contextmanager
    def _troubles(self, folder: Path) -> Iterator[None]:
        """Raise any error while loading as the folder's fault, in a line."""
        from safetensors import SafetensorError

        try:
            yield
        except (SafetensorError, RuntimeError, OSError, ValueError, TypeError, KeyError, ImportError) as error:
            first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise BadInput(f"{folder} can't be loaded: {first[:200]}") from error

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        bars = self._transformers.utils.logging
        shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                bars.enable_progress_bar()


class _Stop:
    """Asked after every token whether to stop."""

    def __init__(self, torch: Any, stop: Callable[[], bool]) -> None:
        self._torch = torch
        self._stop = stop

    def __call__(self, input_ids: Any, *_: Any, **__: Any) -> Any:
        return self._torch.full((input_ids.shape[0],), self._stop(), device=input_ids.device, dtype=self._torch.bool)


def _drawing(sampling: Sampling) -> dict[str, Any]:
    """Return sampling settings as the library's arguments; the rest is left to generation_config."""
    if sampling.temperature is not None and sampling.temperature <= 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    given = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k}
    said = {name: value for name, value in given.items() if value is not None}
    return {"do_sample": True, **said} if said else {}


def load_processor(folder: Path) -> Any:
    """Return the processor of a folder; where torchvision is absent, one without videos, which are not needed here."""
    transformers: Any = require("transformers", extra="weights")
    if find_spec("torchvision") is not None:
        return transformers.AutoProcessor.from_pretrained(folder, **_LOCAL_ONLY)
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    config = transformers.AutoConfig.from_pretrained(folder, **_LOCAL_ONLY)
    kind: Any = PROCESSOR_MAPPING.get(type(config), None)
    if kind is None or "video_processor" not in kind.get_attributes():
        return transformers.AutoProcessor.from_pretrained(folder, **_LOCAL_ONLY)

    class WithoutVideos(kind):  # type: ignore[misc]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in super().get_attributes() if name != "video_processor"]

    return WithoutVideos.from_pretrained(folder, **_LOCAL_ONLY)
