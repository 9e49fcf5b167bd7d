"""Chats to learn from: a store's trajectories or questions about scenes, as rows and as padded or packed batches.

Everything is answered from what can be made out in the view that is shown, and no further: a country that nothing
legible says is not named. The wording varies with the scene; the same scene is always asked the same.

Pictures stay files until a batch needs them: a block names its file, `open_picture` opens it as the agent shows it.
"""

import asyncio
import json
import random
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from geosleuth.agent import Context, Method
from geosleuth.agent.events import Task
from geosleuth.agent.exports import build_records, image_path
from geosleuth.agent.exports.dialect import IMAGE, PLACES
from geosleuth.agent.methods import METHODS, method
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.sets import Item
from geosleuth.lab.scenes import MadeScene, Mark, Scene, SceneClue
from geosleuth.lab.scenes.environment import build_photo_row
from geosleuth.lab.scenes.scene_reader import LEGIBLE_PX
from geosleuth.lab.traces import Store, geoagent
from geosleuth.lab.traces.photo_chats import complete_truth, format_reply
from geosleuth.lab.traces.rows import build_sample
from geosleuth.lab.traces.trajectory_store import image_name
from geosleuth.photo import BoxScale, Photo, first_view, open_photo, scale_box
from geosleuth.photo.runtime import no_probing
from geosleuth.photo.text import detect_script
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.support.errors import BadInput, require
from geosleuth.tools.calls import ImageInfo

from .masks import IGNORED, Chat, Encoded, Message, Writer, count_tokens, encode
from .run_folder import Progress, no_progress

KINDS = ("country", "script", "signs", "boxes", "levels")
_MAX_LINES = 24

_COUNTRY = (
    "Which country is this?",
    "In which country was this photo taken? Name it, or say that it can't be told.",
    "Name the country.",
)
_OPEN_COUNTRY = "The country can't be told from what can be seen here."
_SCRIPT = ("Which scripts are the signs written in?", "Name the scripts that can be read here.")
_NOTHING = "Nothing can be read in this picture."
_SIGNS = ("Read all that is written, from top to bottom, a line each.", "What is written here? One line for each.")
_BOXES = ("Where is {what} written? Give its box.", "Find {what}.", "Give the box of the text {what}.")
# The columns of a trainer's rows: chats as JSON, several where they are packed, and how many tokens they come to.
CHATS, LENGTH = "chats", "length"
_HANDLE = "image-1"
Pictures = Callable[[Any], Any]
"""Opens what an image block names."""
Sizes = Callable[[Any], tuple[int, int]]
"""The width and height of what an image block names, as it will be shown."""
# Steps whose samples are sorted by length together: a larger number wastes less, a smaller one mixes better.
_STEPS_PER_GROUP = 50


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a picture with its answer; ``system`` is empty if nothing is said beforehand."""

    kind: str
    text: str
    reply: str
    system: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Scene as it can be read, its lines in the view, and the view's size and scale of boxes."""

    legible: Scene
    lines: Sequence["_Line"]
    chance: random.Random
    view_size: tuple[int, int]
    box_scale: BoxScale


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    clue: SceneClue
    box: tuple[int, int, int, int]


def generate_questions(
    scene: Scene,
    marks: Sequence[Mark],
    view_size: tuple[int, int],
    kinds: Sequence[str] = KINDS,
    *,
    box_scale: BoxScale = "pixels",
) -> list[Question]:
    """Return the questions of those kinds that a scene can be asked; one that has no answer there is left out.

    Args:
        scene: what is looked at.
        marks: where its clues stand in the original picture.
        view_size: the width and height of the view that is shown.
        kinds: some of `KINDS`, in the order wanted.
        box_scale: what boxes are given in: pixels of the view, or thousandths or fractions of its sides.

    Raises:
        BadInput: there is no such kind.
    """
    legible = geoagent.keep_visible_clues(scene, marks, view_size[0])
    lines = _list_readable_lines(legible, marks, view_size[0] / scene.size[0])
    found = []
    for kind in kinds:
        if kind not in _MAKERS:
            raise BadInput(f"there are no questions of kind {str(kind)[:40]!r}; there are: {', '.join(KINDS)}")
        chance = random.Random(f"question {kind} {scene.seed} {scene.id}")  # noqa: S311 - no secret depends on it
        question = _MAKERS[kind](_Asked(legible, lines, chance, view_size, box_scale))
        if question is not None:
            found.append(question)
    return found


def _list_readable_lines(legible: Scene, marks: Sequence[Mark], scale: float) -> list[_Line]:
    """Return the readable lines from top to bottom."""
    clues = {clue.id: clue for clue in legible.clues}
    found = []
    for mark in marks:
        clue = clues.get(mark.clue)
        if clue is not None and mark.line is not None and mark.letter_px * scale >= LEGIBLE_PX:
            left, top, right, bottom = (round(side * scale) for side in mark.box)
            found.append(_Line(clue.lines[mark.line], clue, (left, top, right, bottom)))
    return sorted(found, key=lambda line: (line.box[1], line.box[0]))[:_MAX_LINES]


def _ask_country(asked: _Asked) -> Question:
    country = geoagent.honest_address(asked.legible).country
    if country.conclusion is None:
        doubt = f" {country.uncertainty}" if country.uncertainty else ""
        return Question("country", asked.chance.choice(_COUNTRY), f"{_OPEN_COUNTRY}{doubt}")
    because = f" {country.reasoning}" if country.reasoning else ""
    return Question("country", asked.chance.choice(_COUNTRY), f"{country.conclusion}.{because}")


def _script(asked: _Asked) -> Question:
    scripts = sorted({detect_script(line.text) for line in asked.lines} - {"none"})
    return Question("script", asked.chance.choice(_SCRIPT), f"{', '.join(scripts)}." if scripts else _NOTHING)


def _signs(asked: _Asked) -> Question:
    read = "\n".join(line.text for line in asked.lines)
    return Question("signs", asked.chance.choice(_SIGNS), read or _NOTHING)


def _boxes(asked: _Asked) -> Question | None:
    texts = [line.text for line in asked.lines]
    single = [line for line in asked.lines if texts.count(line.text) == 1]
    if not single:
        return None
    line = asked.chance.choice(single)
    text = asked.chance.choice(_BOXES).format(what=json.dumps(line.text, ensure_ascii=False))
    box = scale_box(line.box, asked.view_size, asked.box_scale)
    return Question("boxes", text, json.dumps({"bbox_2d": box}))


def _levels(asked: _Asked) -> Question:
    record = geoagent.build_record(asked.legible, geoagent.honest_address(asked.legible), asked.chance)
    way, task = method(geoagent.METHOD), Task((), force_answer=False)
    return Question("levels", way.prompt(task, ()), record.reply(), way.system(task, ()))


_MAKERS: dict[str, Callable[[_Asked], Question | None]] = {
    "country": _ask_country,
    "script": _script,
    "signs": _signs,
    "boxes": _boxes,
    "levels": _levels,
}


@dataclass(frozen=True, slots=True)
class Counted:
    """Number of chats read, chats too long to be learned, and rows."""

    chats: int
    too_long: int
    rows: int


def store_chats(
    store: Store,
    *,
    split: str | None = "train",
    limit: int | None = None,
    chosen: Container[str] | None = None,
    wire: Literal["native", "tagged"] = "native",
) -> Iterator[Chat]:
    """Yield the trajectories of a store as chats, as their policy was shown them: several where it lost sight of some.

    Args:
        store: where they are kept.
        split: those of this one alone; None takes all.
        limit: no more than the first so many.
        chosen: those of these keys alone; None takes all.
        wire: "tagged" writes tools and calls as text, for chat templates that know no tools.

    Raises:
        BadInput: the store is damaged, or lacks a picture.
    """
    taken = 0
    for row in store.rows():
        if (split is not None and row["split"] != split) or (chosen is not None and row["key"] not in chosen):
            continue
        if limit is not None and taken >= limit:
            return
        yield from _chats(store, row, wire)
        taken += 1


def _chats(store: Store, row: Mapping[str, Any], wire: str) -> Iterator[Chat]:
    run = build_sample(row, {}).trajectory
    files = {image_path(run.id, item["handle"]): store.path / image_name(item["sha256"]) for item in row["images"]}

    def file(path: str) -> str:
        if path not in files:
            raise BadInput(f"its picture {path} is not in {store.path}; run: geosleuth traces check")
        return str(files[path])

    context = method(run.started.method).context if run.started.method in METHODS else Context("whole")
    try:
        for record, history in build_records(run, context, "trl" if wire == "native" else "tagged"):
            waiting = iter(record["images"])
            messages = [_with_files(message, waiting, file) for message in record["messages"]]
            yield Chat(messages, record.get("tools"), history, row["key"])
    except BadInput as error:
        raise BadInput(f"{row['key']}: {error}") from error


def _with_files(message: Message, waiting: Iterator[str], file: Callable[[str], str]) -> Message:
    """Return the message with picture files in its image blocks."""
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
    box_scale: BoxScale = "pixels",
) -> Iterator[Chat]:
    """Yield questions about scenes as chats, a few for each scene.

    Args:
        scenes: as `geosleuth.lab.scenes.read_scenes` gives them.
        kinds: of `geosleuth.lab.train.samples.KINDS`.
        limit: no more chats than so many.
        box_scale: what boxes are given in.
    """
    taken = 0
    for made in scenes:
        size = _view_size(made.scene.size)
        for question in generate_questions(made.scene, made.marks, size, kinds, box_scale=box_scale):
            if limit is not None and taken >= limit:
                return
            yield question_chat(question, str(made.path), size, key=f"{made.scene.id} {question.kind}")
            taken += 1


def photo_chats(photos: Iterable[tuple[str, Item]], way: str | Method) -> Iterator[Chat]:
    """Yield where photos were taken as chats: a method's question without tools, and the true place in its answer form.

    Country and city are the set's own, or those of the offline atlas at the point.

    Args:
        photos: with a name each.
        way: the method, or its name as `geosleuth.agent.methods` has it.

    Raises:
        BadInput: a photo is no file of its own or can't be read, or there is no such method.
    """
    asking, atlas = method(way), OfflineAtlas()
    for name, item in photos:
        path = build_photo_row(item)["photo"]
        size = picture_size(path)
        reply = format_reply(asyncio.run(complete_truth(item.truth, atlas)), asking.name)
        task = Task((_first_view(size),))
        yield question_chat(
            Question("place", asking.prompt(task, ()), reply, asking.system(task, ())), path, size, key=name
        )


def question_chat(question: Question, picture: Any, size: tuple[int, int], *, key: str = "") -> Chat:
    """Return a question as a chat, its picture captioned as in a run."""
    caption = _first_view(size).caption
    shown = [_build_text_block(caption), {"type": "image", "image": picture}, _build_text_block(question.text)]
    messages: list[Message] = (
        [{"role": "system", "content": [_build_text_block(question.system)]}] if question.system else []
    )
    messages += [
        {"role": "user", "content": shown},
        {"role": "assistant", "content": [_build_text_block(question.reply)]},
    ]
    return Chat(messages, key=key)


def _first_view(size: tuple[int, int]) -> ImageInfo:
    return ImageInfo(_HANDLE, size, 1, (0, 0, *size))


def _build_text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def open_picture(name: Any) -> Any:
    """Open a picture file as the agent shows it: whole, scaled down if larger than a first view.

    Raises:
        BadInput: it can't be opened.
    """
    return first_view(open_photo(Path(name)).photo).image


def picture_size(name: Any) -> tuple[int, int]:
    """Return the size that `open_picture` will give it; only the head of the file is read.

    Raises:
        BadInput: it can't be opened.
    """
    from PIL import Image

    try:
        with Image.open(Path(name)) as image:
            return _view_size(image.size)
    except OSError as error:
        raise BadInput(f"{name}: can't be read as a picture: {str(error)[:100]}") from error


@cache
def _view_size(size: tuple[int, int]) -> tuple[int, int]:
    if size[0] * size[1] <= FIRST_VIEW_PIXELS:
        return size
    from PIL import Image

    return first_view(Photo(Image.new("RGB", size))).size


def image_tokens(processor: Any, sizes: Sizes = picture_size) -> Callable[[Any], int]:
    """Return how many tokens a picture takes, by what its block names."""

    @cache
    def count_image_tokens(size: tuple[int, int]) -> int:
        counting = getattr(processor, "_get_num_multimodal_tokens", None)
        if counting is not None:
            return int(counting(image_sizes=[(size[1], size[0])])["num_image_tokens"][0])
        from PIL import Image

        blank = Image.new("RGB", size)
        made = processor(text=[processor.image_token], images=[blank], add_special_tokens=False)
        return len(made["input_ids"][0])

    return lambda name: count_image_tokens(sizes(name))


def build_dataset(
    chats: Iterable[Chat],
    writer: Writer,
    *,
    max_length: int,
    packing: bool = False,
    sizes: Sizes = picture_size,
    progress: Progress = no_progress,
) -> tuple[Any, Counted]:
    """Return a `datasets.Dataset` of chats for `sft_trainer`, with the columns `CHATS` and `LENGTH`.

    A chat whose template rewrites history becomes several, see `geosleuth.lab.train.masks`. One that is longer than
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
            length = count_tokens(lesson, writer, tokens)
            if length > max_length:
                too_long += 1
            else:
                kept.append((chat_text(lesson), length))
        progress(count, 0)
    if not kept:
        why = f"all {too_long} chats are longer than {max_length} tokens" if too_long else "there are no chats"
        raise BadInput(f"there is nothing to learn from: {why}")
    bins = (
        pack_rows([length for _, length in kept], max_length) if packing else [[number] for number in range(len(kept))]
    )
    rows = [
        {CHATS: [kept[number][0] for number in numbers], LENGTH: sum(kept[number][1] for number in numbers)}
        for numbers in bins
    ]
    return datasets.Dataset.from_list(rows), Counted(count, too_long, len(rows))


def pack_rows(lengths: Sequence[int], room: int) -> list[list[int]]:
    """Return which numbers go into a row together: longest first, each into the fullest row that still has room."""
    rows: list[list[int]] = []
    by_room: dict[int, list[int]] = {}
    for number in sorted(range(len(lengths)), key=lambda item: (-lengths[item], item)):
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
    """Return a chat as JSON; pictures must be named by what JSON can hold."""
    return json.dumps(
        {
            "messages": list(chat.messages),
            "tools": list(chat.tools) if chat.tools else None,
            "history": chat.history,
            "key": chat.key,
        }
    )


def load_chat(text: str, pictures: Pictures) -> Chat:
    """Return what `chat_text` wrote, its pictures opened."""
    stored = json.loads(text)
    for message in stored["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "image":
                block["image"] = pictures(block["image"])
    return Chat(stored["messages"], stored["tools"], stored["history"], stored["key"])


class Collator:
    """Makes a batch of rows: pictures are opened and everything becomes tokens here, in the process that loads data.

    Args:
        processor: of the model.
        max_length: no chat, and no row of packed ones, is longer.
        pictures: opens what image blocks name.
        packing: rows hold several chats, which must not see each other.
        positions: for packing: the model's own positions of a chat with pictures, see `find_position_counter`.
    """

    def __init__(
        self,
        processor: Any,
        *,
        max_length: int,
        pictures: Pictures = open_picture,
        packing: bool = False,
        positions: Callable[..., Any] | None = None,
    ) -> None:
        """Look at the chat template once."""
        self.writer = Writer(processor)
        self._processor, self._pictures, self._max_length = processor, pictures, max_length
        self._packing, self._positions = packing, positions

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the batch.

        Raises:
            BadInput: a chat can't be shown, or is longer than it was counted to be.
        """
        encoded = [[self._encode(text) for text in row[CHATS]] for row in rows]
        return self._collate_packed(encoded) if self._packing else self._collate_padded([row[0] for row in encoded])

    def _encode(self, text: str) -> Encoded:
        chat = load_chat(text, self._pictures)
        made = encode(chat, self._processor, writer=self.writer)
        if len(made.input_ids) > self._max_length:
            raise BadInput(f"{chat.key[:60]}: has {len(made.input_ids)} tokens; the limit is {self._max_length}")
        return made

    def _collate_padded(self, chats: Sequence[Encoded]) -> dict[str, Any]:
        torch = require("torch", extra="train")
        longest = max(len(chat.input_ids) for chat in chats)
        pad = partial(_pad_numbers, length=longest)
        batch = {
            "input_ids": torch.tensor([pad(chat.input_ids, self._pad_id) for chat in chats]),
            "attention_mask": torch.tensor([pad([1] * len(chat.input_ids), 0) for chat in chats]),
            "labels": torch.tensor([pad(chat.labels, IGNORED) for chat in chats]),
        }
        if any(chat.token_types for chat in chats):
            types = [pad(chat.token_types or [], 0) for chat in chats]
            batch["mm_token_type_ids"] = torch.tensor(types)
        return batch | _collect_pictures(chats)

    def _collate_packed(self, rows: Sequence[Sequence[Encoded]]) -> dict[str, Any]:
        torch = require("torch", extra="train")
        longest = max(sum(len(chat.input_ids) for chat in row) for row in rows)
        batch: dict[str, list[Any]] = {"input_ids": [], "labels": [], "position_ids": [], "mm_token_type_ids": []}
        for row in rows:
            short = longest - sum(len(chat.input_ids) for chat in row)
            # The padding of a row is one more chat, from which nothing is learned.
            filler = [Encoded([self._pad_id] * short, [IGNORED] * short)] if short else []
            whole = [*row, *filler]
            batch["input_ids"].append([number for chat in whole for number in chat.input_ids])
            batch["labels"].append([number for chat in whole for number in chat.labels])
            types = [chat.token_types or [0] * len(chat.input_ids) for chat in whole]
            batch["mm_token_type_ids"].append([number for own in types for number in own])
            batch["position_ids"].append(torch.cat([self._compute_positions(chat) for chat in whole], dim=-1))
        found = {name: torch.tensor(batch[name]) for name in ("input_ids", "labels", "mm_token_type_ids")}
        pictures = _collect_pictures([chat for row in rows for chat in row])
        if not pictures:
            del found["mm_token_type_ids"]
        # Text positions first: where they restart, transformers keeps chats from seeing each other.
        return found | {"position_ids": torch.stack(batch["position_ids"], dim=1)} | pictures

    def _compute_positions(self, chat: Encoded) -> Any:
        """Return positions of one chat from its own start: those of its text, then the model's own three."""
        torch = require("torch", extra="train")
        plain = torch.arange(len(chat.input_ids))
        if self._positions is None or not chat.pictures:
            return plain.expand(4, -1)
        own, _ = self._positions(
            input_ids=torch.tensor([chat.input_ids]),
            mm_token_type_ids=torch.tensor([chat.token_types]),
            image_grid_thw=chat.pictures["image_grid_thw"],
        )
        return torch.cat([plain[None], own[:, 0]])

    @property
    def _pad_id(self) -> int:
        tokenizer = self._processor.tokenizer
        found = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
        return int(found)


def find_position_counter(model: Any) -> Callable[..., Any]:
    """Return how a model counts positions where there are pictures, for packing.

    Raises:
        BadInput: chats can't be packed for this kind of model.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    found = getattr(getattr(base, "model", base), "get_rope_index", None)
    if found is None:
        raise BadInput(f"chats can't be packed for {type(base).__name__}; leave optim.packing out")
    counted: Callable[..., Any] = found
    return counted


class Order:
    """The order of rows: reshuffled every epoch, rows of similar length together; the same for a seed.

    It has no state, so a resumed run sees what it would have seen.

    Args:
        lengths: of the rows.
        seed: another one gives another order.
        epoch: says which epoch begins.
        batch: how many rows a step has; 0 pays no heed to lengths.
    """

    def __init__(self, lengths: Sequence[int], *, seed: int, epoch: Callable[[], int], batch: int = 0) -> None:
        """Nothing is drawn before the first row is asked for."""
        self._lengths, self._seed, self._epoch, self._batch = list(lengths), seed, epoch, batch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        chance = random.Random(f"order {self._seed} {self._epoch()}")  # noqa: S311 - no secret depends on it
        numbers = list(range(len(self._lengths)))
        chance.shuffle(numbers)
        if not self._batch:
            return iter(numbers)
        steps: list[list[int]] = []
        rest: list[int] = []
        for start in range(0, len(numbers), _STEPS_PER_GROUP * self._batch):
            group = sorted(
                numbers[start : start + _STEPS_PER_GROUP * self._batch], key=lambda item: -self._lengths[item]
            )
            cut = [group[at : at + self._batch] for at in range(0, len(group), self._batch)]
            if len(cut[-1]) < self._batch:
                rest = cut.pop()
            steps += cut
        chance.shuffle(steps)
        # An incomplete step comes last, as it would without sorting.
        return iter([number for step in [*steps, rest] for number in step])


def _pad_numbers(numbers: Sequence[int], filler: int, length: int) -> list[int]:
    return [*numbers, *[filler] * (length - len(numbers))]


def _collect_pictures(chats: Sequence[Encoded]) -> dict[str, Any]:
    torch = require("torch", extra="train")
    names = dict.fromkeys(name for chat in chats for name in chat.pictures)
    return {name: torch.cat([chat.pictures[name] for chat in chats if name in chat.pictures]) for name in names}
