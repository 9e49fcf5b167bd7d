"""Rows as batches: padded, or packed into one row with attention kept apart; and the order in which rows come."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from geosleuth.errors import BadInput, require

from .masks import IGNORED, Encoded, Writer, encode
from .samples import CHATS, Pictures, chat_of, open_picture

_GROUPS = 50
"""How many steps' samples are sorted by length together: more waste less, fewer mix better."""


class Collator:
    """Makes a batch of rows: pictures are opened and everything becomes tokens here, in whatever process loads data.

    Args:
        processor: of the model.
        max_length: no chat, and no row of packed ones, is longer.
        pictures: opens what image blocks name.
        packing: rows hold several chats, which must not see each other.
        positions: for packing: the model's own positions of a chat with pictures, see `positions_of`.
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
        """The batch.

        Raises:
            BadInput: a chat can't be shown, or is longer than it was counted to be.
        """
        encoded = [[self._encode(text) for text in row[CHATS]] for row in rows]
        return self._packed(encoded) if self._packing else self._padded([row[0] for row in encoded])

    def _encode(self, text: str) -> Encoded:
        chat = chat_of(text, self._pictures)
        made = encode(chat, self._processor, writer=self.writer)
        if len(made.input_ids) > self._max_length:
            raise BadInput(
                f"{chat.key[:60]}: comes to {len(made.input_ids)} tokens, and no more than {self._max_length} are taken"
            )
        return made

    def _padded(self, chats: Sequence[Encoded]) -> dict[str, Any]:
        torch = require("torch", extra="train")
        longest = max(len(chat.input_ids) for chat in chats)
        pad = partial(_padded, length=longest)
        batch = {
            "input_ids": torch.tensor([pad(chat.input_ids, self._pad_id) for chat in chats]),
            "attention_mask": torch.tensor([pad([1] * len(chat.input_ids), 0) for chat in chats]),
            "labels": torch.tensor([pad(chat.labels, IGNORED) for chat in chats]),
        }
        if any(chat.token_types for chat in chats):
            types = [pad(chat.token_types or [], 0) for chat in chats]
            batch["mm_token_type_ids"] = torch.tensor(types)
        return batch | _pictures_of(chats)

    def _packed(self, rows: Sequence[Sequence[Encoded]]) -> dict[str, Any]:
        torch = require("torch", extra="train")
        longest = max(sum(len(chat.input_ids) for chat in row) for row in rows)
        batch: dict[str, list[Any]] = {"input_ids": [], "labels": [], "position_ids": [], "mm_token_type_ids": []}
        for row in rows:
            short = longest - sum(len(chat.input_ids) for chat in row)
            # What fills a row up is one more chat, from which nothing is learned.
            filler = [Encoded([self._pad_id] * short, [IGNORED] * short)] if short else []
            whole = [*row, *filler]
            batch["input_ids"].append([number for chat in whole for number in chat.input_ids])
            batch["labels"].append([number for chat in whole for number in chat.labels])
            types = [chat.token_types or [0] * len(chat.input_ids) for chat in whole]
            batch["mm_token_type_ids"].append([number for own in types for number in own])
            batch["position_ids"].append(torch.cat([self._places(chat) for chat in whole], dim=-1))
        found = {name: torch.tensor(batch[name]) for name in ("input_ids", "labels", "mm_token_type_ids")}
        pictures = _pictures_of([chat for row in rows for chat in row])
        if not pictures:
            del found["mm_token_type_ids"]
        # Text positions first: where they start anew, transformers keeps chats from seeing each other.
        return found | {"position_ids": torch.stack(batch["position_ids"], dim=1)} | pictures

    def _places(self, chat: Encoded) -> Any:
        """Positions of one chat, counted from its own beginning: those of its text, then the model's own three."""
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


def positions_of(model: Any) -> Callable[..., Any]:
    """How a model counts positions where there are pictures, for packing.

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
    """In which order rows come: shuffled anew in every epoch, those of like length together; the same for a seed.

    It has no state of its own, so that a run which goes on sees what it would have seen.

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
        for start in range(0, len(numbers), _GROUPS * self._batch):
            group = sorted(numbers[start : start + _GROUPS * self._batch], key=lambda one: -self._lengths[one])
            cut = [group[at : at + self._batch] for at in range(0, len(group), self._batch)]
            if len(cut[-1]) < self._batch:
                rest = cut.pop()
            steps += cut
        chance.shuffle(steps)
        # A step that is not full comes last, as it would without sorting.
        return iter([number for step in [*steps, rest] for number in step])


def _padded(numbers: Sequence[int], filler: int, length: int) -> list[int]:
    return [*numbers, *[filler] * (length - len(numbers))]


def _pictures_of(chats: Sequence[Encoded]) -> dict[str, Any]:
    torch = require("torch", extra="train")
    names = dict.fromkeys(name for chat in chats for name in chat.pictures)
    return {name: torch.cat([chat.pictures[name] for chat in chats if name in chat.pictures]) for name in names}
