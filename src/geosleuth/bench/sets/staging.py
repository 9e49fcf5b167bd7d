"""A data set made ready to hand on: photos under random names, stripped of all but pixels; truths in a file apart."""

import io
import json
import os
import secrets
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically, write_text_atomically
from geosleuth.photo import Limits, open_photo
from geosleuth.photo.carrier import Unfit
from geosleuth.photo.containers import take_apart
from geosleuth.photo.exif import read_exif

from .model import DataSet, Item
from .rows import OWN, own_columns
from .selecting import fingerprint

PHOTOS = "photos"
KEY = "key.jsonl"
_ABOUT = "about.json"
_BEGUN = "begun.jsonl"
_ENDINGS = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp"}
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Staged:
    """What is staged: photos in all, those that an earlier staging had written, and files that can't be opened."""

    photos: int
    kept: int
    refused: tuple[str, ...]
    key: Path
    folder: Path


def stage(data: DataSet, out: Path, *, progress: Callable[[str], None] = lambda _id: None) -> Staged:
    """Copy a set's photos to ``out/photos`` under random names, stripped; ``out/key.jsonl`` says what is what.

    The key is a table that `open_set` reads, in no order of the set's. Whoever gets the photos must not get it. Photos
    that can't be opened are listed and left out. A staging that was cut off goes on where it was; one that is done is
    left as it is. ``progress`` hears every id.

    Raises:
        BadInput: the folder holds something else, or can't be written to; or the set can't be read to its end.
    """
    folder = out / PHOTOS
    count, sha256 = fingerprint(data)
    known = _begin(out, folder, {"set": data.card.name, "photos": count, "sha256": sha256})
    kept = 0
    refused: list[str] = []
    lines: list[str] = []
    for item in data:
        name = known.get(item.id)
        if name is not None and (folder / name).is_file():
            kept += 1
        else:
            try:
                content, ending = stripped(item.picture.read())
            except BadInput as error:
                refused.append(str(error) if item.picture.where in str(error) else f"{item.picture.where}: {error}")
                progress(item.id)
                continue
            name = f"{secrets.token_hex(8)}{ending}"
            _note(out / _BEGUN, {"id": item.id, "image": f"{PHOTOS}/{name}"})
            write_bytes_atomically(folder / name, content)
            # The times of files would tell their order.
            os.utime(folder / name, (0, 0))
        lines.append(json.dumps(_told(item, name), ensure_ascii=False) + "\n")
        progress(item.id)
    lines.sort()
    write_text_atomically(out / KEY, "".join(lines))
    with suppress(OSError):
        (out / _BEGUN).unlink()
    return Staged(len(lines), kept, tuple(refused), out / KEY, folder)


def stripped(content: bytes) -> tuple[bytes, str]:
    """A photo's file without its metadata, and its ending.

    JPEG, PNG and WebP keep their compressed data byte for byte; of a JPEG's metadata, whether the picture is to be
    turned stays, and nothing else. Other turned pictures, TIFF and HEIC are saved upright as PNG with 8 bits a channel.

    Raises:
        BadInput: it is no photo that can be opened.
    """
    try:
        carrier = take_apart(content, _LIMITS)
    except Unfit as error:
        raise BadInput(str(error)) from error
    turn = 1 if carrier.upright else read_exif(carrier.exif).orientation
    ending = _ENDINGS.get(carrier.format)
    if ending is not None and turn == 1:
        return carrier.pixels, ending
    if carrier.format == "JPEG":
        return _with_turn(carrier.pixels, turn), ".jpg"
    stream = io.BytesIO()
    open_photo(content).photo.image.save(stream, "PNG")
    return stream.getvalue(), ".png"


def _with_turn(jpeg: bytes, turn: int) -> bytes:
    """The JPEG with an EXIF block that holds the orientation alone, behind JFIF's own segment."""
    block = b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, turn, 0, 0)
    at = 2
    if jpeg[2:4] == b"\xff\xe0":
        at += 2 + int.from_bytes(jpeg[4:6], "big")
    return jpeg[:at] + struct.pack(">BBH", 0xFF, 0xE1, len(block) + 2) + block + jpeg[at:]


def _begin(out: Path, folder: Path, about: dict[str, Any]) -> dict[str, str]:
    """Make the folders, or find what an earlier staging of the same set has written: file names by id."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = {found.name for found in out.iterdir()}
        if not there:
            write_text_atomically(out / _ABOUT, json.dumps(about) + "\n")
        elif _ABOUT not in there or there - {_ABOUT, _BEGUN, KEY, PHOTOS}:
            raise BadInput(f"{out}: is not empty; give a new folder, or one that this command began")
        elif list(_rows(out / _ABOUT)) != [about]:
            raise BadInput(f"{out}: another set was staged here, or this one has changed since; give a new folder")
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    rows = (row for path in (out / KEY, out / _BEGUN) for row in _rows(path))
    return {str(row["id"]): Path(str(row["image"])).name for row in rows if "id" in row and "image" in row}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            # The last line of a staging that was killed may be cut.
            with suppress(ValueError):
                row = json.loads(line)
                if isinstance(row, dict):
                    yield row


def _note(path: Path, row: dict[str, str]) -> None:
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error


def _told(item: Item, name: str) -> dict[str, Any]:
    fields = {key: value for key, value in item.fields.items() if key not in OWN}
    # The name first: the lines are sorted, and their order must tell nothing of the set's.
    return {"image": f"{PHOTOS}/{name}", **own_columns(item, f"{PHOTOS}/{name}"), **fields}
