"""Encode chats as tokens, with labels only on what the assistant wrote.

The assistant's spans are found by rendering: a chat is rendered up to each reply, with the generation prompt, and again
with the reply; the difference is the reply with its end token. The chat template needs no marks, so any template works.
Some templates rewrite history, for example by dropping the reasoning of earlier turns. This is detected, and such chats
are learned one reply at a time, each after the history that the model will really see (`lessons`).

Each part is tokenised by itself, as prompt and reply are when the model runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from geosleuth.models.weights_engine import Abilities, find_abilities, with_thinking
from geosleuth.support.errors import BadInput, require

# Label of tokens that are excluded from the loss.
IGNORED = -100

Message = dict[str, Any]
Tools = Sequence[Mapping[str, Any]] | None


class RewrittenHistory(BadInput):
    """The chat template renders earlier turns differently from the last turn."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation to learn from, in TRL's format; pictures are in the blocks, opened or by name.

    The first ``history`` replies are not learned here.
    """

    messages: Sequence[Message]
    tools: Tools = None
    history: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A chat for the model: tokens, labels, and tensors of its pictures by the model's argument names."""

    input_ids: list[int]
    labels: list[int]
    token_types: list[int] | None = None
    pictures: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A span of a chat's text, learned or not, with its pictures."""

    text: str
    learned: bool
    images: tuple[Any, ...] = ()


class Writer:
    """Renders chats with a processor's chat template; the template's abilities are probed once."""

    def __init__(self, processor: Any) -> None:
        """Probe the chat template.

        Raises:
            BadInput: there is no template, or it takes no images.
        """
        if not processor.chat_template:
            raise BadInput("the model has no chat template; use the instruction-tuned version of the model")
        self.processor = processor
        self.abilities: Abilities = find_abilities(self._render_for_probe)
        token = getattr(processor, "image_token", None)
        self.image_token = token if isinstance(token, str) else None

    def lessons(self, chat: Chat) -> list[Chat]:
        """Return the chat itself if its template keeps history unchanged, or else one chat per reply.

        Messages after the last reply are left out.

        Raises:
            BadInput: it has no reply, or the template can't render it.
        """
        replies = [number for number, message in enumerate(chat.messages) if message["role"] == "assistant"]
        if not replies:
            raise BadInput(f"{_format_chat_key(chat)}it has no reply by the assistant")
        whole = replace(chat, messages=list(chat.messages[: replies[-1] + 1]))
        if len(replies) - chat.history == 1:
            self.parts(whole)
            return [whole]
        try:
            self.parts(whole)
        except RewrittenHistory:
            single = [
                replace(whole, messages=whole.messages[: at + 1], history=before)
                for before, at in enumerate(replies)
                if before >= chat.history
            ]
            for item in single:
                self.parts(item)
            return single
        return [whole]

    def parts(self, chat: Chat) -> list[Part]:
        """Return the chat's text as spans that are learned and spans that are not, in order.

        Raises:
            RewrittenHistory: replies can't be separated from their prompts, because history is rewritten.
            BadInput: the template can't render this chat.
        """
        messages, tools = self._messages(chat), [dict(tool) for tool in chat.tools or ()] or None
        replies = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
        if not replies:
            raise BadInput(f"{_format_chat_key(chat)}it has no reply by the assistant")
        text = self._render(chat, messages[: replies[-1] + 1], tools)
        spans = [self._span(chat, messages, at, tools, text) for at in replies[chat.history :]]
        images = [block["image"] for message in messages for block in _blocks(message) if block.get("type") == "image"]
        return list(self._cut(chat, text, spans, images))

    def _span(self, chat: Chat, messages: list[Message], at: int, tools: Any, text: str) -> tuple[int, int]:
        """Return the start and end of a message's reply in the whole text."""
        asked = self._render(chat, messages[:at], tools, ask=True)
        bare = self._render(chat, messages[:at], tools)
        said = self._render(chat, messages[: at + 1], tools)
        start = _start(bare, asked, said)
        if start is None or not text.startswith(said) or start == len(said):
            raise RewrittenHistory(
                f"{_format_chat_key(chat)}the chat template rewrites earlier turns, so replies can't be separated "
                "in one "
                "text; learn one reply at a time, or use another template"
            )
        return start, len(said)

    def _cut(self, chat: Chat, text: str, spans: list[tuple[int, int]], images: list[Any]) -> Iterator[Part]:
        edges = [0, *(edge for span in spans for edge in span), len(text)]
        if edges != sorted(edges):
            raise RewrittenHistory(f"{_format_chat_key(chat)}the chat template renders overlapping replies")
        left = list(images)
        for number, (start, end) in enumerate(pairwise(edges)):
            piece, learned = text[start:end], number % 2 == 1
            shown = piece.count(self.image_token) if self.image_token else len(left)
            if learned and shown and self.image_token:
                raise BadInput(f"{_format_chat_key(chat)}a reply contains the image token ({self.image_token})")
            if shown > len(left):
                raise BadInput(f"{_format_chat_key(chat)}a text contains the image token ({self.image_token})")
            if piece:
                yield Part(piece, learned, tuple(left[:shown]) if not learned else ())
            if not learned:
                left = left[shown:]
        if left:
            raise BadInput(f"{_format_chat_key(chat)}the chat template leaves out {len(left)} of its pictures")

    def _messages(self, chat: Chat) -> list[Message]:
        """Return the messages in a format that the template supports."""
        if chat.tools and not self.abilities.tools:
            raise BadInput(
                f"{_format_chat_key(chat)}the model's chat template does not support tools; use one that does"
            )
        found: list[Message] = []
        aside: list[dict[str, Any]] = []
        for message in chat.messages:
            message = dict(message)  # noqa: PLW2901
            if message["role"] != "tool" and aside:
                found.append({"role": "user", "content": aside})
                aside = []
            if message["role"] == "assistant" and message.get("reasoning_content") and not self.abilities.thinking:
                message["content"] = with_thinking(_blocks(message), message.pop("reasoning_content"))
            if message["role"] == "tool" and not self.abilities.tool_images:
                blocks = _blocks(message)
                first = next((at for at, block in enumerate(blocks) if block.get("type") == "image"), len(blocks))
                message["content"], aside = blocks[:first], aside + blocks[first:]
            found.append(message | {"content": self._content(message)})
        return [*found, *([{"role": "user", "content": aside}] if aside else ())]

    def _content(self, message: Message) -> Any:
        blocks = _blocks(message)
        has_images = any(block.get("type") == "image" for block in blocks)
        if message["role"] in self.abilities.lists or message["role"] == "user" or has_images:
            return blocks
        return "".join(block.get("text", "") for block in blocks)

    def _render(self, chat: Chat, messages: list[Message], tools: Any, *, ask: bool = False) -> str:
        try:
            text = self.processor.apply_chat_template(messages, tools=tools, add_generation_prompt=ask, tokenize=False)
        except Exception as error:  # templates raise what they like
            reason = " ".join(str(error).split())[:150]
            raise BadInput(f"{_format_chat_key(chat)}the model's chat template can't render it: {reason}") from error
        # Half a surrogate pair, from a reply cut in two, can't be tokenised.
        return str(text).encode("utf-8", "replace").decode()

    def _render_for_probe(self, messages: list[Message], tools: list[dict[str, Any]] | None) -> str:
        return self._render(Chat(messages), messages, tools, ask=True)


def encode(chat: Chat, processor: Any, *, writer: Writer | None = None) -> Encoded:
    """Return a chat as tokens and labels; labels are `IGNORED` except on what the assistant wrote.

    Args:
        chat: pictures in its blocks must be opened.
        processor: of the model.
        writer: a `Writer` for the processor; by default one is made.

    Raises:
        RewrittenHistory: see `Writer.lessons`.
        BadInput: the template can't render this chat.
    """
    writer = Writer(processor) if writer is None else writer
    ids: list[int] = []
    labels: list[int] = []
    types: list[int] = []
    tensors: dict[str, list[Any]] = {}
    for part in writer.parts(chat):
        if part.images:
            made = processor(text=[part.text], images=list(part.images), add_special_tokens=False, return_tensors="pt")
            own = made["input_ids"][0].tolist()
            types += made["mm_token_type_ids"][0].tolist() if "mm_token_type_ids" in made else [0] * len(own)
            for name, value in made.items():
                if name not in ("input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids"):
                    tensors.setdefault(name, []).append(value)
        else:
            own = text_ids(processor, part.text)
            types += [0] * len(own)
        ids += own
        labels += own if part.learned else [IGNORED] * len(own)
    if IGNORED not in labels:
        raise BadInput(f"{_format_chat_key(chat)}nothing in it asks for a reply")
    joined = {name: require("torch", extra="train").cat(values) for name, values in tensors.items()}
    return Encoded(ids, labels, types if any(types) else None, joined)


def text_ids(processor: Any, text: str) -> list[int]:
    """Return the tokens of a text, without special tokens."""
    return [int(number) for number in processor.tokenizer(text, add_special_tokens=False)["input_ids"]]


def count_tokens(chat: Chat, writer: Writer, image_tokens: Callable[[Any], int]) -> int:
    """Return how many tokens a chat has; ``image_tokens`` gives those of a picture, which may be a name.

    Raises:
        BadInput: see `encode`.
    """
    return sum(
        len(text_ids(writer.processor, part.text)) + sum(image_tokens(image) - 1 for image in part.images)
        for part in writer.parts(chat)
    )


def _start(bare: str, asked: str, said: str) -> int | None:
    """Return where a reply begins in the text that ends with it; None if unknown.

    Some templates prompt with more than they render later, such as an open ``<think>``; the reply then begins after the
    last line that both have.
    """
    if not said.startswith(bare) or len(asked) <= len(bare):
        return None
    if said.startswith(asked):
        return len(asked)
    same = next(at for at, (one, other) in enumerate(zip(asked, said, strict=False)) if one != other)
    line = said.rfind("\n", len(bare), same)
    return None if line < 0 else line + 1


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else [dict(block) for block in content]


def _format_chat_key(chat: Chat) -> str:
    return f"{chat.key[:60]}: " if chat.key else ""
