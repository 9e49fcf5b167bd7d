"""What every dialect of exports shares: messages in order, images and their places in text, and readers of records.

A dialect writes a `Talk` and reads one back. The rest of a trajectory is kept by `roundtrip`.

There the two sides must take turns, so all that comes before the next reply is one turn: results between
``<tool_response>`` tags, then words. The text is that of the tagged wire (see `geosleuth.models.tagged`); beyond what
that wire escapes, no text may spell a placeholder, and no prompt the tag of a result.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.events import Event, Prompted, Said, Started, ToolObserved
from geosleuth.agent.replay import Rebuilt
from geosleuth.agent.trajectory import Trajectory
from geosleuth.models import Message, Observed, Prompt, Step
from geosleuth.models.tagged import DATA, PROMPTS, SPOKEN, Escaping, TaggedReply, prompt_text, read_reply
from geosleuth.photo import encode
from geosleuth.support.errors import BadInput, BrokenPlugin
from geosleuth.support.files import write_bytes_atomically
from geosleuth.tools import ImageInfo, Observation, Output, Tool, ToolCall

ERROR = "Error: "
"""What the result of a failed call begins with: no dialect has another place for it."""

_CAPTION = re.compile(r" \(([0-9]{1,9}) x ([0-9]{1,9}) pixels\):|:")

_OURS = re.compile(r"(?:.*/)?images/[^/]+/([^/]*)\.jpg", re.DOTALL)
IMAGE = "<image>"
PLACES = Escaping("image", "video", "audio", "bbox", "ref-object")
_PROMPTED = Escaping("image", "video", "audio", "bbox", "ref-object", "tool_response")
_RESULT = re.compile(r"<tool_response>\n?(.*?)</tool_response>", re.DOTALL)
_BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"
Cuts = Mapping[str, Sequence[int]]
"""How long each of several prompts in a row is, by the checksum of the text that they make together.

A text that comes up again and is cut in another way then has its own entry: checksum, hyphen, the how-manieth it is.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call, as it is shown: failures begin with `ERROR`; images by their handles.

    ``call_id`` and ``name`` are None where the dialect does not say them.
    """

    text: str
    images: tuple[str, ...] = ()
    call_id: str | None = None
    name: str | None = None


Item = Prompt | Step | Result
"""One thing that was said. Of a step only its words, its thinking and its calls count here."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation; ``sizes`` are those of images, as far as they are told."""

    system: str
    tools: tuple[str, ...]
    items: tuple[Item, ...]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)


def item_of(event: Event) -> Item | None:
    """What an event adds to the conversation; None where it adds nothing, as a reply without any words does."""
    match event.body:
        case Prompted(prompt=prompt):
            return prompt
        case Said(step=step) if step.text or step.thinking or step.calls:
            return step
        case ToolObserved(observation=seen):
            return _result_of(seen)
        case _:
            return None


def items_of(messages: Iterable[Message]) -> tuple[Item, ...]:
    """What a policy was shown, as items of a conversation."""
    items: list[Item] = []
    for message in messages:
        items += map(_result_of, message.observations) if isinstance(message, Observed) else [message]
    return tuple(items)


def _result_of(seen: Observation) -> Result:
    text = f"{ERROR}{seen.text}" if seen.failure else seen.text
    return Result(text, tuple(image.handle for image in seen.images), seen.call_id, seen.name)


def talk_of(trajectory: Trajectory) -> Talk:
    """The conversation of a trajectory, whole: nothing that a context policy would leave out is missing."""
    items = tuple(item for event in trajectory.events if (item := item_of(event)) is not None)
    sizes = {image.handle: image.size for image in trajectory.images}
    return Talk(trajectory.started.system, trajectory.started.tools, items, sizes)


def caption(handle: str, sizes: Mapping[str, tuple[int, int]]) -> str:
    """The line just before an image, the same as models get to see."""
    size = sizes.get(handle)
    return f"{handle}:" if size is None else ImageInfo(handle, size, 0, (0, 0, 0, 0)).caption


def prompt_segments(prompt: Prompt, text: str, sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """The texts around a prompt's images: each caption, then the words."""
    return [*(caption(handle, sizes) for handle in prompt.images), text]


def result_segments(result: Result, text: str, sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """The texts around a result's images: the words with the first caption, each other caption, and nothing."""
    if not result.images:
        return [text]
    first, *others = (caption(handle, sizes) for handle in result.images)
    return [f"{text}\n{first}", *others, ""]


def read_segments(segments: Sequence[str], handles: Sequence[str], sizes: dict[str, tuple[int, int]]) -> str:
    """The words of either, their captions taken out; what is no caption stays. Sizes are noted on the way."""
    words = []
    for segment, handle in zip(segments, handles, strict=False):
        before, _, line = segment.rpartition("\n")
        found = _CAPTION.fullmatch(line, len(handle)) if line.startswith(handle) else None
        if found and found[1]:
            sizes[handle] = (int(found[1]), int(found[2]))
        words.append(before if found else segment)
    return "".join([*words, *segments[len(handles) :]])


def plain_json(value: Any) -> str:
    """A value as one line of JSON, as trajectories write it."""
    return to_line(value).decode().rstrip("\n")


def arguments_of(given: Any) -> Mapping[str, Any] | str:
    """The arguments of a call, given as an object or as JSON; text that is no object stays text."""
    if isinstance(given, str):
        try:
            return from_line(given.encode("utf-8", "surrogatepass"))
        except (BadInput, UnicodeError):
            return given
    if given is None:
        return {}
    return dict(given) if isinstance(given, Mapping) else plain_json(given)


def call_of(given: Any) -> ToolCall:
    """A call given as an object with a name and arguments, in OpenAI's form or bare.

    Raises:
        BadInput: it has no name.
    """
    call_id = given.get("id") if isinstance(given, Mapping) else None
    inner = given.get("function", given) if isinstance(given, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise BadInput("a call must be an object with a name and arguments")
    return ToolCall(call_id if isinstance(call_id, str) else "", inner["name"], arguments_of(inner.get("arguments")))


def offered(started: Started, known: Iterable[Tool] | None = None) -> list[Tool]:
    """The tools of a run as its policy was shown them; one that nobody knows any more has its name and nothing else.

    Args:
        started: how the run began: its method, and its tools as it called them.
        known: where to look; left out, all tools there are, shown as the method shows them.
    """
    names = started.tools
    if known is None:
        from geosleuth.agent.methods import made_with

        way = made_with(started.method)
        found = [_installed(name) for name in names]
        shown = [one if one is None or way is None else way.shown(one) for one in found]
        return [_named(name, one) for name, one in zip(names, shown, strict=True)]
    by_name: dict[str, Tool] = {}
    for tool in known:
        for name in (tool.name, *tool.aliases):
            by_name.setdefault(name, tool)
    return [_named(name, by_name.get(name)) for name in names]


def _installed(name: str) -> Tool | None:
    from geosleuth.tools.toolset import all_tools

    try:
        return all_tools().get(name)
    except BrokenPlugin:
        return None


def _named(name: str, tool: Tool | None) -> Tool:
    if tool is None:
        return Tool(name, "", (), _nothing)
    return Tool(name, tool.description, tool.told, tool.function)


async def _nothing(*_: Any, **__: Any) -> Output:
    raise BadInput("this tool is only a name")


def tool_names(given: Any) -> tuple[str, ...]:
    """The names of the tools in a list of their schemas, or in its JSON.

    Raises:
        BadInput: it is no such list.
    """
    found = arguments_of(f'{{"tools":{given}}}') if isinstance(given, str) and given.strip() else {"tools": given or []}
    schemas = found["tools"] if isinstance(found, Mapping) else None
    if not isinstance(schemas, list):
        raise BadInput('"tools" must be a list of tools, or its JSON')
    inner = [one.get("function", one) if isinstance(one, Mapping) else None for one in schemas]
    if not all(isinstance(one, Mapping) and isinstance(one.get("name"), str) for one in inner):
        raise BadInput('every tool in "tools" must have a name')
    return tuple(one["name"] for one in inner if one is not None)


def image_path(trajectory_id: str, handle: str) -> str:
    """Where the image of a handle belongs, below the folder of the images; safe for any id and handle."""
    return f"images/{_segment(trajectory_id)}/{_segment(handle)}.jpg"


def _segment(name: str) -> str:
    quoted = quote(name, safe=" ", errors="surrogatepass")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


class Handles:
    """Gives the images of a record their handles, in the order they come up.

    A path that an export of ours wrote says its handle; any other image gets the next free ``image-N``.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """Take the paths that placeholders stand for, in their order."""
        self._waiting: Iterator[str] = iter(paths)
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The handle of the image at a path."""
        if path not in self._known:
            ours = _OURS.fullmatch(path)
            self._known[path] = unquote(ours[1], errors="surrogatepass") if ours else self._fresh()
        return self._known[path]

    def next(self) -> str:
        """The handle of the image that the next placeholder stands for.

        Raises:
            BadInput: there are more placeholders than images.
        """
        path = next(self._waiting, None)
        if path is None:
            raise BadInput("there are more places for images than images")
        return self.of(path)

    def _fresh(self) -> str:
        number = 1
        while f"image-{number}" in self._known.values():
            number += 1
        return f"image-{number}"


def paths_of(given: object) -> list[str]:
    """The paths of a record's list of images; entries may be objects with a path.

    Raises:
        BadInput: it is no list of paths.
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    entries = given if isinstance(given, list) else [None]
    paths = [one.get("path") or one.get("url") if isinstance(one, dict) else one for one in entries]
    if not all(isinstance(path, str) for path in paths):
        raise BadInput('"images" must be a list of paths')
    return [str(path) for path in paths]


def write_images(trajectory: Trajectory, rebuilt: Rebuilt, folder: Path) -> tuple[str, ...]:
    """Write the images that exports of a trajectory refer to, as JPEG files without metadata.

    Args:
        trajectory: whose images.
        rebuilt: its album, see `rebuild_album`.
        folder: what the paths of the exports are relative to.

    Returns:
        The handles that were not written: pictures from elsewhere, such as maps, which no photo shows.

    Raises:
        BadInput: they can't be written there.
    """
    handles = dict.fromkeys(image.handle for image in trajectory.images)
    for handle in handles:
        if handle in rebuilt.missing:
            continue
        path = folder / image_path(trajectory.id, handle)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{path.parent}: can't be made: {error.strerror or error}") from error
        write_bytes_atomically(path, encode(rebuilt.album[handle]))
    return tuple(handle for handle in handles if handle in rebuilt.missing)


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


def messages_of(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The messages of a record.

    Raises:
        BadInput: there are none, or they are something else.
    """
    messages = record.get(key)
    if not isinstance(messages, list) or not messages:
        raise BadInput(f"a record of this dialect has a list of {key!r}")
    if not all(isinstance(message, Mapping) for message in messages):
        raise BadInput(f"every entry of {key!r} must be an object")
    return messages


def word(message: Mapping[str, Any], key: str) -> str | None:
    """A text of a message, if it has that.

    Raises:
        BadInput: it is something else.
    """
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{key!r} must be text")
    return value
