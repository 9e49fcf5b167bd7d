"""A store exported for trainers: rows in their dialect, one file per split, with the pictures beside them.

OUT/train.jsonl, OUT/held-out.jsonl      one row each
OUT/images/<trajectory>/<handle>.jpg     hard links to the store's files where the disk allows it, else copies
OUT/dataset_info.json                    LLaMA-Factory's list of data sets
OUT/card.md                              the card of the set
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from geosleuth.agent import Said, ToolObserved, Trajectory
from geosleuth.agent.exports import Dialect, export, image_path, record_line
from geosleuth.support.errors import BadInput
from geosleuth.support.files import link_or_copy, replacing, write_text_atomically

from .rows import build_sample
from .store_card import card_text, compute_store_figures
from .trajectory_store import CARD, Store, image_name, make_folder, no_progress

Trainer = Literal["trl", "ms-swift", "llama-factory"]
_DIALECTS: Mapping[Trainer, Dialect] = {"trl": "trl", "ms-swift": "ms-swift", "llama-factory": "sharegpt"}
INFO = "dataset_info.json"
KEY = "key"
_NOT_IN_NAMES = re.compile(r"[^\w.-]+", re.ASCII)

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export: how many rows each file holds.

    ``without_reply`` of them end before the last reply, and LLaMA-Factory skips them; ``missing_images`` are pictures
    that rows name and the store lacks.
    """

    files: Mapping[str, int]
    without_reply: int
    missing_images: int


def export_store(
    store: Store,
    to: Trainer,
    out: Path,
    *,
    split: str | None = None,
    absolute: bool = False,
    progress: Progress = no_progress,
) -> Exported:
    """Write a store for a trainer, one trajectory in memory at a time; each file atomically.

    Args:
        store: the store to export.
        to: the trainer.
        out: the output folder.
        split: export only this split.
        absolute: give pictures absolute paths, for trainers that start in another folder.
        progress: receives the number of rows written.

    Raises:
        BadInput: the store is damaged, a run can't be written in the dialect, or the files can't be written.
    """
    make_folder(out)
    counts: dict[str, int] = {}
    done = without_reply = missing = 0
    with ExitStack() as held:
        streams: dict[str, IO[bytes]] = {}
        for row in store.rows():
            if split is not None and row["split"] != split:
                continue
            name = split_file(row["split"])
            if name not in streams:
                streams[name] = held.enter_context(held.enter_context(replacing(out / name)).open("wb"))
            run = build_sample(row, {}).trajectory
            record = _record(row["key"], run, to, out.resolve() if absolute else None)
            streams[name].write(record_line(record))
            missing += _place_images(store, row, run, out)
            without_reply += not ends_with_reply(run)
            counts[name] = counts.get(name, 0) + 1
            done += 1
            progress(done)
    if not counts:
        raise BadInput(f"{store.path}: no trajectory{'' if split is None else f' of the split {split[:40]!r}'}")
    if to == "llama-factory":
        write_text_atomically(out / INFO, f"{json.dumps(_info(store, counts), indent=2)}\n")
    write_text_atomically(out / CARD, card_text(store.about, compute_store_figures(store)))
    return Exported(counts, without_reply, missing)


def split_file(split: str) -> str:
    """Return the file name of a split."""
    return f"{_NOT_IN_NAMES.sub('_', split).strip('.') or 'rows'}.jsonl"


def ends_with_reply(trajectory: Trajectory) -> bool:
    """Return whether the last message is a reply without a call."""
    said = [event.body for event in trajectory.events if isinstance(event.body, Said | ToolObserved)]
    return bool(said) and isinstance(said[-1], Said) and not said[-1].step.calls


def _record(key: str, run: Trajectory, to: Trainer, root: Path | None) -> dict[str, Any]:
    try:
        record = export(run, _DIALECTS[to])
    except BadInput as error:
        raise BadInput(f"{key}: {error}") from error
    return (record if root is None else _resolve_picture_paths(record, root)) | {KEY: key}


def _resolve_picture_paths(record: dict[str, Any], root: Path) -> dict[str, Any]:
    """Return the record with absolute picture paths, also in the blocks of TRL's tool messages."""
    for message in record.get("messages", ()):
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if "image" in block:
                block["image"] = str(root / block["image"])
    return record | {"images": [str(root / path) for path in record["images"]]}


def _place_images(store: Store, row: Mapping[str, Any], run: Trajectory, out: Path) -> int:
    """Link the pictures to where the row expects them; return how many are missing."""
    kept = {image["handle"]: image["sha256"] for image in row["images"]}
    handles = {image.handle for image in run.images}
    for handle, digest in kept.items():
        path = out / image_path(run.id, handle)
        make_folder(path.parent)
        _link_image(store.path / image_name(digest), path)
    return len(handles - kept.keys())


def _link_image(real: Path, path: Path) -> None:
    if not real.is_file():
        raise BadInput(f"{real}: missing; run: geosleuth traces check")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be replaced: {error.strerror or error}") from error
    link_or_copy(real, path)


def _info(store: Store, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the entries of LLaMA-Factory's ``dataset_info.json``."""
    name = _NOT_IN_NAMES.sub("_", store.about.name)
    return {
        f"{name}_{file.removesuffix('.jsonl')}": {
            "file_name": file,
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "tools": "tools", "images": "images"},
            "tags": {
                "role_tag": "from",
                "content_tag": "value",
                "user_tag": "human",
                "assistant_tag": "gpt",
                "observation_tag": "observation",
                "function_tag": "function_call",
                "system_tag": "system",
            },
        }
        for file in counts
    }
