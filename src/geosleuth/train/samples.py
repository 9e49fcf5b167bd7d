"""Chats to learn from: a store's trajectories, or questions about scenes; and the rows that a trainer takes them from.

Pictures stay files until a batch needs them: a block names its file, `open_picture` opens it as the agent shows it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from geosleuth.agent import ToolObserved, Trajectory
from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, cut
from geosleuth.agent.exports import export, image_path
from geosleuth.agent.exports.placed import IMAGE, PLACES
from geosleuth.agent.methods import METHODS, method
from geosleuth.data import Store
from geosleuth.data.reading import image_name
from geosleuth.data.rows import sample_of
from geosleuth.errors import BadInput, require
from geosleuth.photo import BoxScale, Photo, first_view, open_photo
from geosleuth.photo.runtime import no_probing
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.tools.model import ImageInfo
from geosleuth.world import MadeScene

from .keeping import Progress, nobody
from .masks import Chat, Message, Writer, length_of
from .questions import KINDS, Question, questions_of

CHATS, LENGTH = "chats", "length"
"""The columns of a trainer's rows: chats as JSON, several where they are packed, and how many tokens they come to."""

_HANDLE = "image-1"

Pictures = Callable[[Any], Any]
"""Opens what an image block names."""

Sizes = Callable[[Any], tuple[int, int]]
"""The width and height of what an image block names, as it will be shown."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many chats came in, how many were too long to be learned, and how many rows there are."""

    chats: int
    too_long: int
    rows: int


def store_chats(
    store: Store, *, split: str | None = "train", limit: int | None = None, wire: Literal["native", "tagged"] = "native"
) -> Iterator[Chat]:
    """The trajectories of a store as chats, each as its policy was shown it.

    Args:
        store: where they are kept.
        split: those of this one alone; None takes all.
        limit: no more than so many.
        wire: "tagged" writes tools and calls as text, for chat templates that know no tools.

    Raises:
        BadInput: the store is damaged, or lacks a picture.
    """
    taken = 0
    for row in store.rows():
        if split is not None and row["split"] != split:
            continue
        if limit is not None and taken >= limit:
            return
        yield _chat(store, row, wire)
        taken += 1


def _chat(store: Store, row: Mapping[str, Any], wire: str) -> Chat:
    run = shown_run(sample_of(row, {}).trajectory)
    files = {image_path(run.id, one["handle"]): store.path / image_name(one["sha256"]) for one in row["images"]}

    def file(path: str) -> str:
        if path not in files:
            raise BadInput(f"{row['key']}: its picture {path} is not in {store.path}; run: geosleuth data check")
        return str(files[path])

    try:
        record = export(run, "trl" if wire == "native" else "tagged")
    except BadInput as error:
        raise BadInput(f"{row['key']}: {error}") from error
    waiting = iter(record["images"])
    messages = [_with_files(message, waiting, file) for message in record["messages"]]
    return Chat(messages, record.get("tools"), key=row["key"])


def shown_run(run: Trajectory) -> Trajectory:
    """The run with its results cut to the length at which its method shows them to the policy."""
    if run.started.method not in METHODS:
        return run
    context = method(run.started.method).context
    if context.kind == "whole" or context.result_tokens is None:
        return run
    limit = context.result_tokens * CHARACTERS_PER_TOKEN
    events = []
    for event in run.events:
        if isinstance(event.body, ToolObserved):
            seen = event.body.observation
            events.append(
                replace(event, body=replace(event.body, observation=replace(seen, text=cut(seen.text, limit))))
            )
        else:
            events.append(event)
    return replace(run, events=tuple(events))


def _with_files(message: Message, waiting: Iterator[str], file: Callable[[str], str]) -> Message:
    """The message with the files of its pictures in their blocks."""
    content = message["content"]
    if isinstance(content, str):
        pieces = content.split(IMAGE)
        content = [{"type": "text", "text": PLACES.unescape(pieces[0])}]
        for piece in pieces[1:]:
            content += [{"type": "image"}, {"type": "text", "text": PLACES.unescape(piece)}]
        content = [block for block in content if block["type"] == "image" or block["text"]]
    blocks = []
    for block in content:
        if block.get("type") == "image":
            blocks.append({"type": "image", "image": file(block.get("image") or next(waiting))})
        else:
            blocks.append(dict(block))
    return message | {"content": blocks}


def scene_chats(
    scenes: Iterable[MadeScene],
    kinds: Sequence[str] = KINDS,
    *,
    limit: int | None = None,
    pixels: int = FIRST_VIEW_PIXELS,
    box_scale: BoxScale = "pixels",
) -> Iterator[Chat]:
    """Questions about scenes as chats, a few for each scene.

    Args:
        scenes: as `geosleuth.world.read_scenes` gives them.
        kinds: of `geosleuth.train.questions.KINDS`.
        limit: no more chats than so many.
        pixels: how large the first view of a photo is; trainers must be given pictures of the same size.
        box_scale: what boxes are given in.
    """
    taken = 0
    for made in scenes:
        size = _view_size(made.scene.size, pixels)
        for question in questions_of(made.scene, made.marks, size, kinds, box_scale=box_scale):
            if limit is not None and taken >= limit:
                return
            yield question_chat(question, str(made.path), size, key=f"{made.scene.id} {question.kind}")
            taken += 1


def question_chat(question: Question, picture: Any, size: tuple[int, int], *, key: str = "") -> Chat:
    """A question as a chat, its picture captioned as in a run."""
    caption = ImageInfo(_HANDLE, size, 1, (0, 0, *size)).caption
    shown = [_text(caption), {"type": "image", "image": picture}, _text(question.text)]
    messages: list[Message] = [{"role": "system", "content": [_text(question.system)]}] if question.system else []
    messages += [{"role": "user", "content": shown}, {"role": "assistant", "content": [_text(question.reply)]}]
    return Chat(messages, key=key)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def open_picture(name: Any, *, pixels: int = FIRST_VIEW_PIXELS) -> Any:
    """A picture file as the agent shows it: whole, and scaled down where it is larger than a first view.

    Raises:
        BadInput: it can't be opened.
    """
    return first_view(open_photo(Path(name)).photo, pixels).image


def picture_size(name: Any, *, pixels: int = FIRST_VIEW_PIXELS) -> tuple[int, int]:
    """The size that `open_picture` will give it; only the head of the file is read.

    Raises:
        BadInput: it can't be opened.
    """
    from PIL import Image

    try:
        with Image.open(Path(name)) as image:
            return _view_size(image.size, pixels)
    except OSError as error:
        raise BadInput(f"{name}: can't be read as a picture: {str(error)[:100]}") from error


@cache
def _view_size(size: tuple[int, int], pixels: int) -> tuple[int, int]:
    if size[0] * size[1] <= pixels:
        return size
    from PIL import Image

    return first_view(Photo(Image.new("RGB", size)), pixels).size


def image_tokens(processor: Any, sizes: Sizes = picture_size) -> Callable[[Any], int]:
    """How many tokens a picture takes, by what its block names."""

    @cache
    def counted(size: tuple[int, int]) -> int:
        counting = getattr(processor, "_get_num_multimodal_tokens", None)
        if counting is not None:
            return int(counting(image_sizes=[(size[1], size[0])])["num_image_tokens"][0])
        from PIL import Image

        blank = Image.new("RGB", size)
        made = processor(text=[processor.image_token], images=[blank], add_special_tokens=False)
        return len(made["input_ids"][0])

    return lambda name: counted(sizes(name))


def dataset_of(
    chats: Iterable[Chat],
    writer: Writer,
    *,
    max_length: int,
    packing: bool = False,
    sizes: Sizes = picture_size,
    progress: Progress = nobody,
) -> tuple[Any, Counted]:
    """A `datasets.Dataset` of chats for `sft_trainer`, with the columns `CHATS` and `LENGTH`.

    A chat whose template rewrites history becomes several, see `geosleuth.train.masks`. One that is longer than
    ``max_length`` is left out and counted: cut short, it would teach to stop before the answer.

    Args:
        chats: pictures by name.
        writer: of the model's processor.
        max_length: the longest chat, and the longest row of packed ones.
        packing: put several chats into a row.
        sizes: how large pictures are.
        progress: hears how many chats are done; the total is 0 where it is not known.

    Raises:
        BadInput: nothing is left to learn from, or a chat can't be shown.
    """
    datasets: Any
    with no_probing():
        datasets = require("datasets", extra="train")
    tokens = image_tokens(writer.processor, sizes)
    kept: list[tuple[str, int]] = []
    count = too_long = 0
    for count, chat in enumerate(chats, 1):
        for lesson in writer.lessons(chat):
            length = length_of(lesson, writer, tokens)
            if length > max_length:
                too_long += 1
            else:
                kept.append((chat_text(lesson), length))
        progress(count, 0)
    if not kept:
        why = f"all {too_long} chats are longer than {max_length} tokens" if too_long else "there are no chats"
        raise BadInput(f"there is nothing to learn from: {why}")
    bins = packed([length for _, length in kept], max_length) if packing else [[number] for number in range(len(kept))]
    rows = [
        {CHATS: [kept[number][0] for number in numbers], LENGTH: sum(kept[number][1] for number in numbers)}
        for numbers in bins
    ]
    return datasets.Dataset.from_list(rows), Counted(count, too_long, len(rows))


def packed(lengths: Sequence[int], room: int) -> list[list[int]]:
    """Which numbers go into a row together: longest first, each into the fullest row that still has room."""
    rows: list[list[int]] = []
    by_room: dict[int, list[int]] = {}
    for number in sorted(range(len(lengths)), key=lambda one: (-lengths[one], one)):
        length = lengths[number]
        free = min((left for left, waiting in by_room.items() if waiting and left >= length), default=None)
        if free is None:
            rows.append([number])
            by_room.setdefault(room - length, []).append(len(rows) - 1)
        else:
            row = by_room[free].pop()
            rows[row].append(number)
            by_room.setdefault(free - length, []).append(row)
    return rows


def chat_text(chat: Chat) -> str:
    """A chat as JSON; pictures must be named by what JSON can hold."""
    return json.dumps(
        {
            "messages": list(chat.messages),
            "tools": list(chat.tools) if chat.tools else None,
            "last_only": chat.last_only,
            "key": chat.key,
        }
    )


def chat_of(text: str, pictures: Pictures) -> Chat:
    """What `chat_text` wrote, its pictures opened."""
    told = json.loads(text)
    for message in told["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "image":
                block["image"] = pictures(block["image"])
    return Chat(told["messages"], told["tools"], told["last_only"], told["key"])
