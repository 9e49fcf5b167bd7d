"""Chat templates: which one a model is trained with, and whether TRL's GRPO can work with it.

GRPO in an environment needs a template that writes calls and their results, and TRL must know how to read a call that
the model wrote: from the template, which it compares with those it knows, or from what the tokenizer itself says of
it. The template of Qwen2.5-VL has no calls. That of Qwen3-VL fits it too, as both families mark turns alike.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from geosleuth.errors import BadInput, require
from geosleuth.photo.runtime import no_probing

from .recipe import ModelPart

REMEDY = "set model.chat_template: qwen3_vl"
_SUFFIX = ".jinja"
_MOST_BYTES = 1_000_000
_PROBE = [{"role": "user", "content": [{"type": "text", "text": "Where is this?"}]}]

# What published models bring, by the kind of model and TRL's name.
_OWN: Mapping[str, str] = MappingProxyType(
    {"qwen2_5_vl": "qwen2_5_vl", "qwen3_vl": "qwen3_vl", "qwen3_vl_moe": "qwen3_vl"}
)


def template_text(name: str) -> str:
    """The text of a chat template: one of TRL's by its name, or a file.

    Raises:
        BadInput: there is no such template.
        MissingExtra: TRL is not installed.
    """
    if name.endswith(_SUFFIX):
        path = Path(name)
    else:
        with no_probing():
            trl: Any = require("trl", extra="train")
        path = Path(trl.__file__).parent / "chat_templates" / f"{name}{_SUFFIX}"
        if not re.fullmatch(r"[A-Za-z0-9_]+", name) or not path.is_file():
            raise BadInput(f"model.chat_template: there is no {name[:60]!r}; give qwen3_vl, or a file *{_SUFFIX}")
    try:
        with path.open("rb") as stream:
            text = stream.read(_MOST_BYTES + 1).decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"model.chat_template: {path} can't be read; give qwen3_vl, or a file *{_SUFFIX}") from error
    if not text.strip() or len(text) > _MOST_BYTES:
        raise BadInput(f"model.chat_template: {path} is no chat template; give qwen3_vl, or another file *{_SUFFIX}")
    return text


def put_on(processor: Any, name: str) -> None:
    """Have a processor write chats by another template than its own; it is saved with it.

    Raises:
        BadInput: there is no such template, or it can't show a chat.
        MissingExtra: TRL is not installed.
    """
    text = template_text(name)
    if text == processor.chat_template:
        return
    tokenizer = processor.tokenizer
    processor.chat_template = tokenizer.chat_template = text
    if not name.endswith(_SUFFIX):
        # How replies are read goes with the old template; TRL knows how with its own.
        tokenizer.response_template = tokenizer.response_schema = None
    try:
        processor.apply_chat_template(_PROBE, add_generation_prompt=True, tokenize=False)
    except Exception as error:  # templates raise what they like
        raise BadInput(f"model.chat_template: {name} can't show a chat: {_first_line(error)}") from error


def check_for_grpo(processor: Any, *, tools: bool) -> None:
    """See that TRL's GRPO can work with a processor's chat template.

    Args:
        processor: or whatever has a template, and can apply it.
        tools: whether the environment has any.

    Raises:
        BadInput: it can't; the message says what to set.
        MissingExtra: TRL is not installed.
    """
    with no_probing():
        trl: Any = require("trl.chat_template_utils", extra="train")
        if not _works(trl.supports_tool_calling, processor):
            raise BadInput(
                f"the model's chat template does not write tool calls, and TRL's GRPO needs one that does; {REMEDY}"
            )
        if not tools:
            return
        tokenizer = getattr(processor, "tokenizer", processor)
        own = any(getattr(tokenizer, name, None) is not None for name in ("response_template", "response_schema"))
        if not own and not _works(trl.add_response_schema, processor):
            raise BadInput(f"TRL does not know how calls are written in the model's chat template; {REMEDY}")
        if isinstance(processor, _Bare) or _works(trl.is_chat_template_prefix_preserving, processor):
            return
        if not _works(trl.get_training_chat_template, processor):
            raise BadInput(f"the model's chat template rewrites earlier turns, and TRL has no other for it; {REMEDY}")


def check_unseen(part: ModelPart, kind: str, *, tools: bool) -> str | None:
    """The same for a model that is not here, by the template that published models of its kind bring.

    Returns:
        The name of the template that was tried; None where nobody knows which one the model brings.

    Raises:
        BadInput: TRL can't work with it; the message says what to set.
        MissingExtra: TRL is not installed.
    """
    name = part.chat_template or _OWN.get(kind)
    if name is not None:
        check_for_grpo(_Bare(template_text(name)), tools=tools)
    return name


class _Bare:
    """A template without a processor."""

    def __init__(self, chat_template: str) -> None:
        self.chat_template = chat_template

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **_: Any) -> str:
        rendering: Any = require("transformers.utils.chat_template_utils", extra="train")
        (text,), _marks = rendering.render_jinja_template([list(messages)], chat_template=self.chat_template)
        return str(text)


def _works(do: Any, processor: Any) -> bool:
    """Whether one of TRL's checks is passed."""
    with suppress(Exception):  # templates raise what they like
        return bool(do(processor))
    return False


def _first_line(error: Exception) -> str:
    return next((line.strip()[:160] for line in str(error).splitlines() if line.strip()), type(error).__name__)
