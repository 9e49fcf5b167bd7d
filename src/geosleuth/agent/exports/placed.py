"""Plain text with ``<image>`` where an image belongs, as the tagged, ShareGPT and ms-swift dialects have it.

There the two sides must take turns, so all that comes before the next reply is one turn: results between
``<tool_response>`` tags, then words. The text is that of the tagged wire (see `geosleuth.policies.tagged`); beyond what
that wire escapes, no text may spell a placeholder, and no prompt the tag of a result.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from geosleuth.errors import BadInput
from geosleuth.policies import Prompt, Step
from geosleuth.policies.tagged import TaggedReply, prompt_text, read_reply
from geosleuth.policies.tagged_escaping import DATA, PROMPTS, SPOKEN, Escaping

from .pictures import Handles
from .talk import Item, Result, prompt_segments, read_segments, result_segments

IMAGE = "<image>"
PLACES = Escaping("image", "video", "audio", "bbox", "ref-object")
_PROMPTED = Escaping("image", "video", "audio", "bbox", "ref-object", "tool_response")

_RESULT = re.compile(r"<tool_response>\n?(.*?)</tool_response>", re.DOTALL)
_BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"

Cuts = Mapping[str, Sequence[int]]
"""How long each of several prompts in a row is, by the checksum of the text that they make together.

A text that comes up again and is cut in another way then has its own entry: checksum, hyphen, the how-manieth it is.
"""


def checksum(text: str) -> str:
    """Tells whether a text is still the same; it hides nothing and proves nothing."""
    return f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


@dataclass(slots=True)
class _Occurrences:
    """Counts how often each text has come up: writer and reader meet the texts in the same order."""

    seen: Counter[str] = field(default_factory=Counter)

    def keys(self, text: str) -> tuple[str, str]:
        """Where to look for this occurrence's own cuts, and where for those of every occurrence."""
        key = checksum(text)
        self.seen[key] += 1
        return f"{key}-{self.seen[key]}", key


def sides(items: Sequence[Item]) -> Iterator[Step | list[Prompt | Result]]:
    """The turns of a conversation: a step, or all that comes before the next one."""
    waiting: list[Prompt | Result] = []
    for item in items:
        if not isinstance(item, Step):
            waiting.append(item)
            continue
        if waiting:
            yield waiting
        waiting = []
        yield item
    if waiting:
        yield waiting


@dataclass(slots=True)
class TextWriter:
    """Writes turns and keeps count of the images in them."""

    sizes: Mapping[str, tuple[int, int]]
    handles: list[str] = field(default_factory=list)
    cuts: dict[str, list[int]] = field(default_factory=dict)
    _occurrences: _Occurrences = field(default_factory=_Occurrences)

    def turn(self, turn: Sequence[Prompt | Result]) -> str:
        """A turn with everything that it needs to be told apart again."""
        pieces: list[str] = []
        run: list[str] = []
        for item in turn:
            if isinstance(item, Prompt):
                run.append(self._prompt(item))
                continue
            pieces += self._run(run)
            run = []
            body = self.result(item)
            pieces.append(f"<tool_response>\n{body}{'' if item.images else chr(10)}</tool_response>")
        return "\n".join([*pieces, *self._run(run)])

    def results(self, turn: Sequence[Result]) -> str:
        """A turn of nothing but results, for a role of their own."""
        return _BETWEEN_RESULTS.join(self.result(one) for one in turn)

    def result(self, result: Result) -> str:
        """A result without tags."""
        self.handles += result.images
        return IMAGE.join(result_segments(result, PLACES.escape(DATA.escape(result.text)), self.sizes))

    def _prompt(self, prompt: Prompt) -> str:
        self.handles += prompt.images
        return IMAGE.join(prompt_segments(prompt, _PROMPTED.escape(prompt_text(prompt)), self.sizes))

    def _run(self, run: list[str]) -> list[str]:
        if not run:
            return []
        text, lengths = "\n".join(run), [len(piece) for piece in run]
        this, every = self._occurrences.keys(text)
        if lengths != self.cuts.get(every, [len(text)]):
            self.cuts[this if self._occurrences.seen[every] > 1 else every] = lengths
        return [text]


@dataclass(slots=True)
class TextReader:
    """Reads turns, in their order, and hands out the images."""

    handles: Handles
    cuts: Cuts = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    _occurrences: _Occurrences = field(default_factory=_Occurrences)

    def turn(self, text: str) -> Iterator[Prompt | Result]:
        """What `TextWriter.turn` wrote."""
        at = 0
        found = list(_RESULT.finditer(text))
        for number, block in enumerate(found):
            words = text[at : block.start()]
            # Before the first block stands a prompt and a line end, between two a line end, or two around a prompt.
            if number == 0:
                yield from self._run(words.removesuffix("\n")) if words else ()
            elif words != "\n":
                yield from self._run(words.removeprefix("\n").removesuffix("\n"))
            body = block[1]
            yield self.result(body if body.endswith(IMAGE) else body.removesuffix("\n"))
            at = block.end()
        if not found or text[at:]:
            yield from self._run(text[at:].removeprefix("\n") if found else text)

    def results(self, text: str) -> Iterator[Result]:
        """What `TextWriter.results` wrote."""
        for body in text.split(_BETWEEN_RESULTS):
            yield self.result(body)

    def result(self, body: str) -> Result:
        """What `TextWriter.result` wrote."""
        words, handles = self._words(body)
        return Result(DATA.unescape(PLACES.unescape(words)), handles)

    def _run(self, text: str) -> Iterator[Prompt]:
        this, every = self._occurrences.keys(text)
        lengths = self.cuts.get(this, self.cuts.get(every, ()))
        if sum(lengths) + len(lengths) - 1 != len(text):
            lengths = [len(text)]
        at = 0
        for length in lengths:
            words, handles = self._words(text[at : at + length])
            yield Prompt(PROMPTS.unescape(_PROMPTED.unescape(words)), handles)
            at += length + 1

    def _words(self, text: str) -> tuple[str, tuple[str, ...]]:
        segments = text.split(IMAGE)
        handles = tuple(self.handles.next() for _ in segments[1:])
        return read_segments(segments, handles, self.sizes), handles


def thought(step: Step, gap: str) -> str:
    """The thinking of a step between its tags, with what comes after; nothing where there is none."""
    return f"<think>\n{SPOKEN.escape(step.thinking)}\n</think>{gap}" if step.thinking else ""


def read_words(content: str) -> TaggedReply:
    """A reply in which no text spells a placeholder, taken apart."""
    return read_reply(PLACES.unescape(content), first_id=1)


def step_of(reply: TaggedReply) -> Step:
    """A reply as a step whose calls have no ids yet."""
    return Step(reply.text, reply.thinking, tuple(replace(call, id="") for call in reply.calls))


def text_of(content: object) -> str:
    """The text of a message in a dialect of plain text.

    Raises:
        BadInput: it is something else.
    """
    if content is None:
        return ""
    if not isinstance(content, str):
        raise BadInput("the content of a message must be text here")
    return content
