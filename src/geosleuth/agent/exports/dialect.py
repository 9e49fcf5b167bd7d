"""Common parts of all export dialects: messages in order, images and their places in text.

In plain text the two sides must take turns, so all that comes before the next reply is one turn: results between
``<tool_response>`` tags, then words. The text is that of the tagged wire (see `geosleuth.models.tagged`); beyond what
that wire escapes, no text may spell a placeholder, and no prompt the tag of a result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from geosleuth.agent.codec import to_line
from geosleuth.agent.events import Event, Prompted, Said, Started, ToolObserved
from geosleuth.agent.replay import Rebuilt
from geosleuth.agent.trajectory import Trajectory
from geosleuth.models import Message, Observed, Prompt, Step
from geosleuth.models.tagged import DATA, REPLIES, Escaping, prompt_text
from geosleuth.photo import encode
from geosleuth.support.errors import BadInput, BrokenPlugin
from geosleuth.support.files import write_bytes_atomically
from geosleuth.tools import ImageInfo, Observation, Output, Tool

# Prefix of the result of a failed call: no dialect has a separate field for errors.
ERROR_PREFIX = "Error: "


IMAGE = "<image>"
PLACES = Escaping("image", "video", "audio", "bbox", "ref-object")
_PROMPTED = Escaping("image", "video", "audio", "bbox", "ref-object", "tool_response")
_BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a call as it is shown: failures begin with `ERROR_PREFIX`; images by their handles."""

    text: str
    images: tuple[str, ...] = ()
    call_id: str = ""
    name: str = ""


Item = Prompt | Step | Result
"""One thing that was said. Of a step only its words, its thinking and its calls count here."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation; ``sizes`` are those of images, as far as they are told."""

    system: str
    tools: tuple[str, ...]
    items: tuple[Item, ...]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)


def build_item(event: Event) -> Item | None:
    """Return an event as an item of the conversation; None if it adds nothing, like an empty reply."""
    match event.body:
        case Prompted(prompt=prompt):
            return prompt
        case Said(step=step) if step.text or step.thinking or step.calls:
            return step
        case ToolObserved(observation=seen):
            return _build_result(seen)
        case _:
            return None


def build_items(messages: Iterable[Message]) -> tuple[Item, ...]:
    """Return the messages that a policy was shown as items of a conversation."""
    items: list[Item] = []
    for message in messages:
        items += map(_build_result, message.observations) if isinstance(message, Observed) else [message]
    return tuple(items)


def _build_result(seen: Observation) -> Result:
    text = f"{ERROR_PREFIX}{seen.text}" if seen.failure else seen.text
    return Result(text, tuple(image.handle for image in seen.images), seen.call_id, seen.name)


def build_talk(trajectory: Trajectory) -> Talk:
    """The conversation of a trajectory, whole: nothing that a context policy would leave out is missing."""
    items = tuple(item for event in trajectory.events if (item := build_item(event)) is not None)
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


def plain_json(value: Any) -> str:
    """A value as one line of JSON, as trajectories write it."""
    return to_line(value).decode().rstrip("\n")


def list_offered_tools(started: Started, known: Iterable[Tool] | None = None) -> list[Tool]:
    """The tools of a run as its policy was shown them; a tool that is no longer known has its name and nothing else.

    Args:
        started: how the run began: its method, and its tools as it called them.
        known: where to look; left out, all tools there are, shown as the method shows them.
    """
    names = started.tools
    if known is None:
        from geosleuth.agent.methods import find_method

        way = find_method(started.method)
        found = [_find_installed_tool(name) for name in names]
        shown = [item if item is None or way is None else way.shown(item) for item in found]
        return [_rename_tool(name, one) for name, one in zip(names, shown, strict=True)]
    by_name: dict[str, Tool] = {}
    for tool in known:
        for name in (tool.name, *tool.aliases):
            by_name.setdefault(name, tool)
    return [_rename_tool(name, by_name.get(name)) for name in names]


def _find_installed_tool(name: str) -> Tool | None:
    from geosleuth.tools.toolset import all_tools

    try:
        return all_tools().get(name)
    except BrokenPlugin:
        return None


def _rename_tool(name: str, tool: Tool | None) -> Tool:
    if tool is None:
        return Tool(name, "", (), _nothing)
    return Tool(name, tool.description, tool.visible_parameters, tool.function)


async def _nothing(*_: Any, **__: Any) -> Output:
    raise BadInput("this tool is only a name")


def image_path(trajectory_id: str, handle: str) -> str:
    """Return the path of a handle's image below the image folder; safe for any id and handle."""
    return f"images/{_segment(trajectory_id)}/{_segment(handle)}.jpg"


def _segment(name: str) -> str:
    quoted = quote(name, safe=" ", errors="surrogatepass")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


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
    """Writes turns as text and keeps the handles of the images in them, in order."""

    sizes: Mapping[str, tuple[int, int]]
    handles: list[str] = field(default_factory=list)

    def turn(self, turn: Sequence[Prompt | Result]) -> str:
        """Return a turn in which results stand between tags."""
        return "\n".join(
            self._write_prompt(item) if isinstance(item, Prompt) else self._tag_result(item) for item in turn
        )

    def results(self, turn: Sequence[Result]) -> str:
        """Return a turn of nothing but results, for a role of their own."""
        return _BETWEEN_RESULTS.join(self.result(item) for item in turn)

    def result(self, result: Result) -> str:
        """Return a result without tags."""
        self.handles += result.images
        return IMAGE.join(result_segments(result, PLACES.escape(DATA.escape(result.text)), self.sizes))

    def _tag_result(self, result: Result) -> str:
        return f"<tool_response>\n{self.result(result)}{'' if result.images else chr(10)}</tool_response>"

    def _write_prompt(self, prompt: Prompt) -> str:
        self.handles += prompt.images
        return IMAGE.join(prompt_segments(prompt, _PROMPTED.escape(prompt_text(prompt)), self.sizes))


def thought(step: Step, gap: str) -> str:
    """The thinking of a step between its tags, with what comes after; nothing where there is none."""
    return f"<think>\n{REPLIES.escape(step.thinking)}\n</think>{gap}" if step.thinking else ""
