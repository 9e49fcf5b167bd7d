"""Chats as tokens, with labels on what the assistant wrote and on nothing else.

Where the assistant's words stand is found by rendering: a chat is written up to each reply, with the words that ask for
it, and again with the reply; what the second text has more is the reply, with the token that ends it. That needs no
marks in the chat template, and so any template will do. A template that writes history otherwise than it wrote the
present, such as those that leave out what was thought in earlier turns, is found out on the way; its chats are learned
one reply at a time, each behind the history that the model will really see (`lessons`).

Each part is turned into tokens by itself, which is how a prompt and a reply meet when the model runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from geosleuth.errors import BadInput, require
from geosleuth.policies.weights_engine import Abilities, find_abilities, with_thinking

IGNORED = -100
"""The label of a token that nothing is learned from."""

Message = dict[str, Any]
Tools = Sequence[Mapping[str, Any]] | None


class RewrittenHistory(BadInput):
    """The chat template writes earlier turns otherwise than it wrote them when they were the last."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation to learn from, as TRL writes it; pictures are in the blocks, opened or by name.

    ``last_only`` learns the last reply alone; the others are history.
    """

    messages: Sequence[Message]
    tools: Tools = None
    last_only: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A chat for the model: tokens, labels, and tensors of its pictures by the names that the model takes."""

    input_ids: list[int]
    labels: list[int]
    token_types: list[int] | None = None
    pictures: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a chat's text that is learned, or is not, with its pictures."""

    text: str
    learned: bool
    images: tuple[Any, ...] = ()


class Writer:
    """Writes chats as one processor's chat template does; what the template can do is found out once."""

    def __init__(self, processor: Any) -> None:
        """Try the template out.

        Raises:
            BadInput: it takes no images, or there is none.
        """
        if not processor.chat_template:
            raise BadInput("the model brings no chat template; take the instruction-tuned version of the model")
        self.processor = processor
        self.abilities: Abilities = find_abilities(self._render_for_probe)
        token = getattr(processor, "image_token", None)
        self.image_token = token if isinstance(token, str) else None

    def lessons(self, chat: Chat) -> list[Chat]:
        """The chat itself where its template leaves history alone, or else one chat for each reply.

        What follows the last reply is left out.

        Raises:
            BadInput: nobody replies in it, or the template can't show it in any way.
        """
        replies = [number for number, message in enumerate(chat.messages) if message["role"] == "assistant"]
        if not replies:
            raise BadInput(f"{_named(chat)}the assistant says nothing in it")
        whole = replace(chat, messages=list(chat.messages[: replies[-1] + 1]))
        if chat.last_only or len(replies) == 1:
            self.parts(whole)
            return [whole]
        try:
            self.parts(whole)
        except RewrittenHistory:
            single = [replace(whole, messages=whole.messages[: at + 1], last_only=True) for at in replies]
            for one in single:
                self.parts(one)
            return single
        return [whole]

    def parts(self, chat: Chat) -> list[Part]:
        """The chat's text in stretches that are learned and stretches that are not, in order.

        Raises:
            RewrittenHistory: replies can't be told from what they answer, because history is rewritten.
            BadInput: the template can't show this chat.
        """
        messages, tools = self._messages(chat), [dict(tool) for tool in chat.tools or ()] or None
        replies = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
        if not replies:
            raise BadInput(f"{_named(chat)}the assistant says nothing in it")
        text = self._render(chat, messages[: replies[-1] + 1], tools)
        spans = [self._span(chat, messages, at, tools, text) for at in (replies[-1:] if chat.last_only else replies)]
        images = [block["image"] for message in messages for block in _blocks(message) if block.get("type") == "image"]
        return list(self._cut(chat, text, spans, images))

    def _span(self, chat: Chat, messages: list[Message], at: int, tools: Any, text: str) -> tuple[int, int]:
        """Where the reply of a message stands in the whole text."""
        asked = self._render(chat, messages[:at], tools, ask=True)
        bare = self._render(chat, messages[:at], tools)
        said = self._render(chat, messages[: at + 1], tools)
        start = _start(bare, asked, said)
        if start is None or not text.startswith(said) or start == len(said):
            raise RewrittenHistory(
                f"{_named(chat)}the chat template rewrites earlier turns, so that replies can't be told apart in one "
                "text; learn one reply at a time, or take another template"
            )
        return start, len(said)

    def _cut(self, chat: Chat, text: str, spans: list[tuple[int, int]], images: list[Any]) -> Iterator[Part]:
        edges = [0, *(edge for span in spans for edge in span), len(text)]
        if edges != sorted(edges):
            raise RewrittenHistory(f"{_named(chat)}the chat template writes replies into each other")
        left = list(images)
        for number, (start, end) in enumerate(pairwise(edges)):
            piece, learned = text[start:end], number % 2 == 1
            shown = piece.count(self.image_token) if self.image_token else len(left)
            if learned and shown and self.image_token:
                raise BadInput(f"{_named(chat)}a reply spells the mark of a picture ({self.image_token})")
            if shown > len(left):
                raise BadInput(f"{_named(chat)}a text spells the mark of a picture ({self.image_token})")
            if piece:
                yield Part(piece, learned, tuple(left[:shown]) if not learned else ())
            if not learned:
                left = left[shown:]
        if left:
            raise BadInput(f"{_named(chat)}the chat template leaves out {len(left)} of its pictures")

    def _messages(self, chat: Chat) -> list[Message]:
        """The messages in a form that the template knows."""
        if chat.tools and not self.abilities.tools:
            raise BadInput(f"{_named(chat)}the model's chat template can't show tools; take one that can")
        found: list[Message] = []
        aside: list[dict[str, Any]] = []
        for message in chat.messages:
            told = dict(message)
            if told["role"] != "tool" and aside:
                found.append({"role": "user", "content": aside})
                aside = []
            if told["role"] == "assistant" and told.get("reasoning_content") and not self.abilities.thinking:
                told["content"] = with_thinking(_blocks(told), told.pop("reasoning_content"))
            if told["role"] == "tool" and not self.abilities.tool_images:
                blocks = _blocks(told)
                first = next((at for at, block in enumerate(blocks) if block.get("type") == "image"), len(blocks))
                told["content"], aside = blocks[:first], aside + blocks[first:]
            found.append(told | {"content": self._content(told)})
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
            told = " ".join(str(error).split())[:150]
            raise BadInput(f"{_named(chat)}the model's chat template can't show it: {told}") from error
        # Half a surrogate pair, from a reply cut in two, is nothing that tokens can be made of.
        return str(text).encode("utf-8", "replace").decode()

    def _render_for_probe(self, messages: list[Message], tools: list[dict[str, Any]] | None) -> str:
        return self._render(Chat(messages), messages, tools, ask=True)


def encode(chat: Chat, processor: Any, *, writer: Writer | None = None) -> Encoded:
    """A chat as tokens and labels; labels are `IGNORED` on whatever the assistant did not write.

    Args:
        chat: pictures in its blocks must be opened.
        processor: of the model.
        writer: what `Writer` found out about the processor; left out, it is found out again.

    Raises:
        RewrittenHistory: see `Writer.lessons`.
        BadInput: the template can't show this chat.
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
        raise BadInput(f"{_named(chat)}there is nothing in it that asks for a reply")
    joined = {name: require("torch", extra="train").cat(values) for name, values in tensors.items()}
    return Encoded(ids, labels, types if any(types) else None, joined)


def text_ids(processor: Any, text: str) -> list[int]:
    """The tokens of a text as it stands, with nothing put before or behind."""
    return [int(number) for number in processor.tokenizer(text, add_special_tokens=False)["input_ids"]]


def length_of(chat: Chat, writer: Writer, image_tokens: Callable[[Any], int]) -> int:
    """How many tokens a chat comes to; its pictures may be names, of which ``image_tokens`` knows how many they take.

    Raises:
        BadInput: see `encode`.
    """
    return sum(
        len(text_ids(writer.processor, part.text)) + sum(image_tokens(image) - 1 for image in part.images)
        for part in writer.parts(chat)
    )


def _start(bare: str, asked: str, said: str) -> int | None:
    """Where a reply begins in the text that ends with it; None where that can't be told.

    Some templates ask with more than they write later, such as an open ``<think>``; the reply then begins behind the
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


def _named(chat: Chat) -> str:
    return f"{chat.key[:60]}: " if chat.key else ""
