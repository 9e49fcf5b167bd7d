"""A subset of a data set, its fingerprint, its description on disk, and a stripped copy to hand on."""

import hashlib
import heapq
import io
import json
import os
import secrets
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.geo import LatLon
from geosleuth.names import continent_of, country_code, same_country
from geosleuth.photo import PhotoLimits, open_photo
from geosleuth.photo.carrier import Unfit
from geosleuth.photo.containers import take_apart
from geosleuth.photo.exif import read_exif
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically, write_text_atomically

from .dataset import OWN, Card, DataSet, Entry, Fault, Item, Strict, own_columns, with_part

PHOTOS = "photos"
KEY = "key.jsonl"
_ABOUT = "about.json"
_BEGUN = "begun.jsonl"
_ENDINGS = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp"}
_LIMITS = PhotoLimits()
_SHOWN = 20
_POINTS_AT_ONCE = 10_000
UNKNOWN = "(unknown)"


def subset(data: DataSet, *, limit: int | None = None, seed: int = 0, only: Sequence[str] = ()) -> DataSet:
    """Return a subset of a data set, in the set's own order; without options, the whole.

    Args:
        data: the set.
        limit: so many, drawn at random, see `draw`.
        seed: of the draw.
        only: ``FIELD=VALUE``: items whose field has that value. Several values of one field are alternatives; several
            fields must all match. ``country`` is the truth's, in any language; ``id`` is the item's own.

    Raises:
        BadInput: an option is invalid.
    """
    if limit is not None and limit < 1:
        raise BadInput("a subset needs at least one photo")
    wishes = _wishes(only)
    if limit is None and not wishes:
        return data
    return DataSet(data.card, data.root, _Part(data, limit, seed, wishes))


def draw(ids: Iterable[str], count: int, seed: int = 0) -> frozenset[str]:
    """Return so many ids at random, or all there are; no more than these are held in memory.

    Each id has its own random number, so neither the order nor the number of ids changes the draw, and a smaller draw
    of the same seed is part of a larger one.
    """
    return frozenset(id_ for _, id_ in heapq.nsmallest(count, ((_lot(seed, id_), id_) for id_ in ids)))


def selection_of(limit: int | None, seed: int = 0) -> dict[str, int]:
    """Return the size and seed of a draw, as manifests hold it; empty for a whole set."""
    return {} if limit is None else {"limit": limit, "sample_seed": seed}


@dataclass(frozen=True, slots=True)
class _Part:
    data: DataSet
    limit: int | None
    seed: int
    wishes: dict[str, tuple[str, ...]]

    def __call__(self) -> Iterator[Item]:
        chosen = None if self.limit is None else draw((item.id for item in self._wished()), self.limit, self.seed)
        return (item for item in self._wished() if chosen is None or item.id in chosen)

    def _wished(self) -> Iterator[Item]:
        for item in self.data:
            if all(any(_has(item, name, value) for value in values) for name, values in self.wishes.items()):
                yield item


def _lot(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode("utf-8", "surrogatepass")).digest()


def _wishes(only: Sequence[str]) -> dict[str, tuple[str, ...]]:
    wishes: dict[str, tuple[str, ...]] = {}
    for word in only:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"{word[:60]!r}: write FIELD=VALUE, such as country=France or split=test")
        key = name.strip()
        wishes[key] = (*wishes.get(key, ()), value.strip())
    return wishes


def _has(item: Item, name: str, value: str) -> bool:
    if name == "id":
        return item.id == value
    if name == "country" and item.truth.country is not None:
        return same_country(item.truth.country, value)
    return item.fields.get(name) == value


def fingerprint(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> tuple[int, str]:
    """Return the number of items, and a SHA-256 over ids, truths, fields, boxes and file sizes, in order.

    Photos are not read: one that was replaced by another of the same size goes unnoticed. ``progress`` receives the
    number of items.

    Raises:
        BadInput: the set can't be read to its end.
    """
    digest = hashlib.sha256(b"geosleuth data set 1\n")
    count = 0
    for item in data:
        truth = item.truth
        line = [
            item.id,
            [truth.point.lat, truth.point.lon, truth.country, truth.region, truth.city],
            sorted(item.fields.items()),
            [[box.kind, box.left, box.top, box.right, box.bottom] for box in item.boxes],
            item.picture.size_bytes(),
        ]
        digest.update(json.dumps(line).encode() + b"\n")
        count += 1
        progress(1)
    return count, digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Staged:
    """The result of staging: photos in total, those that an earlier run had written, and files that can't be opened."""

    photos: int
    kept: int
    refused: tuple[str, ...]
    key: Path
    folder: Path


def stage(data: DataSet, out: Path, *, progress: Callable[[str], None] = lambda _id: None) -> Staged:
    """Copy a set's photos to ``out/photos`` under random names, stripped; ``out/key.jsonl`` maps them.

    The key is a table that `open_set` reads, in an order unrelated to the set's. Photos of a test part keep that mark.
    People who get the photos must not get the key. Photos that can't be opened are listed and left out. An interrupted
    staging is continued; a finished one is left as it is. ``progress`` receives every id.

    Raises:
        BadInput: the folder holds something else, or can't be written; or the set can't be read to its end.
    """
    folder = out / PHOTOS
    count, sha256 = fingerprint(data)
    known = _begin(out, folder, {"set": data.card.name, "photos": count, "sha256": sha256})
    kept = 0
    refused: list[str] = []
    lines: list[str] = []
    for item in with_part(data):
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
            # The times of files would reveal their order.
            os.utime(folder / name, (0, 0))
        lines.append(json.dumps(_told(item, name), ensure_ascii=False) + "\n")
        progress(item.id)
    lines.sort()
    write_text_atomically(out / KEY, "".join(lines))
    with suppress(OSError):
        (out / _BEGUN).unlink()
    return Staged(len(lines), kept, tuple(refused), out / KEY, folder)


def stripped(content: bytes) -> tuple[bytes, str]:
    """Return a photo's file without its metadata, and its extension.

    JPEG, PNG and WebP keep their compressed data byte for byte; of a JPEG's metadata only the orientation stays. Other
    rotated pictures, TIFF and HEIC are saved upright as PNG with 8 bits per channel.

    Raises:
        BadInput: it is not a photo that can be opened.
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
    """Return the JPEG with an EXIF block that holds only the orientation, after JFIF's own segment."""
    block = b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, turn, 0, 0)
    at = 2
    if jpeg[2:4] == b"\xff\xe0":
        at += 2 + int.from_bytes(jpeg[4:6], "big")
    return jpeg[:at] + struct.pack(">BBH", 0xFF, 0xE1, len(block) + 2) + block + jpeg[at:]


def _begin(out: Path, folder: Path, about: dict[str, Any]) -> dict[str, str]:
    """Create the folders, or return what an earlier staging of the same set has written: file names by id."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = {found.name for found in out.iterdir()}
        if not there:
            write_text_atomically(out / _ABOUT, json.dumps(about) + "\n")
        elif _ABOUT not in there or there - {_ABOUT, _BEGUN, KEY, PHOTOS}:
            raise BadInput(f"{out}: is not empty; give a new folder, or one that this command began")
        elif list(_rows(out / _ABOUT)) != [about]:
            raise BadInput(f"{out}: holds another set, or this one before a change; give a new folder")
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
            # The last line of a killed staging may be cut.
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
    # The name first: the lines are sorted, and their order must not reveal the set's.
    return {"image": f"{PHOTOS}/{name}", **own_columns(item, f"{PHOTOS}/{name}"), **fields}


@dataclass(frozen=True, slots=True)
class Description:
    """A data set as found on this disk.

    ``photos`` counts the items, ``missing`` those without a photo. ``bad`` are rows that give no item and would end a
    run, ``left_out`` those that a run skips; of each, the first few are kept beside the count. ``repeated`` counts ids
    that occur more than once, ``boxed`` items with boxes.
    """

    card: Card
    photos: int
    missing: int
    bad: int
    left_out: int
    repeated: int
    boxed: int
    bytes_known: int
    countries: dict[str, int]
    continents: dict[str, int]
    fields: dict[str, int]
    missing_shown: tuple[str, ...] = ()
    bad_shown: tuple[Fault, ...] = ()
    left_out_shown: tuple[Fault, ...] = ()

    @property
    def is_whole(self) -> bool | None:
        """Return whether as many photos are there as the card says; None if the card does not say."""
        return None if self.card.photos is None else self.photos - self.missing == self.card.photos

    @property
    def is_usable(self) -> bool:
        """Return whether a run could use it and has at least one photo."""
        return self.bad == 0 and self.photos > self.missing


@dataclass(slots=True)
class _Tally:
    photos: int = 0
    missing: int = 0
    bad: int = 0
    left_out: int = 0
    boxed: int = 0
    bytes_known: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    missing_shown: list[str] = field(default_factory=list)
    bad_shown: list[Fault] = field(default_factory=list)
    left_out_shown: list[Fault] = field(default_factory=list)
    waiting: list[LatLon] = field(default_factory=list)


def describe(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> Description:
    """Read a set once and describe it; photos are looked for, not opened.

    Rows that give no item are counted, not fatal. Countries come from the truths' names, or from borders if they have
    none.

    Raises:
        BadInput: the files are too damaged to separate rows.
    """
    tally = _Tally()
    stream = data.stream
    entries: Iterable[Entry] = stream.entries() if isinstance(stream, Strict) else stream()
    for entry in entries:
        if isinstance(entry, Fault):
            _count_fault(tally, entry)
        else:
            _count_item(tally, entry)
        progress(1)
    _place(tally)
    continents: Counter[str] = Counter()
    for code, count in tally.countries.items():
        continents[continent_of(code) or UNKNOWN] += count
    return Description(
        card=data.card,
        photos=tally.photos,
        missing=tally.missing,
        bad=tally.bad,
        left_out=tally.left_out,
        repeated=sum(1 for count in tally.ids.values() if count > 1),
        boxed=tally.boxed,
        bytes_known=tally.bytes_known,
        countries=dict(tally.countries.most_common()),
        continents=dict(continents.most_common()),
        fields=dict(tally.fields.most_common()),
        missing_shown=tuple(tally.missing_shown),
        bad_shown=tuple(tally.bad_shown),
        left_out_shown=tuple(tally.left_out_shown),
    )


def _count_fault(tally: _Tally, fault: Fault) -> None:
    if fault.expected:
        tally.left_out += 1
        shown = tally.left_out_shown
    else:
        tally.bad += 1
        shown = tally.bad_shown
    if len(shown) < _SHOWN:
        shown.append(fault)


def _count_item(tally: _Tally, item: Item) -> None:
    tally.photos += 1
    tally.ids[item.id] += 1
    tally.boxed += bool(item.boxes)
    tally.fields.update(item.fields.keys())
    size = item.picture.size_bytes()
    if size is not None:
        tally.bytes_known += size
    elif not _is_packed(item):
        tally.missing += 1
        if len(tally.missing_shown) < _SHOWN:
            tally.missing_shown.append(item.picture.where)
    code = country_code(item.truth.country) if item.truth.country else None
    if code is not None:
        tally.countries[code] += 1
    else:
        tally.waiting.append(item.truth.point)
        if len(tally.waiting) >= _POINTS_AT_ONCE:
            _place(tally)


def _is_packed(item: Item) -> bool:
    """Return whether the photo is in a row of Parquet, whose size is not known before reading."""
    from .hugging_face import ParquetPicture

    return isinstance(item.picture, ParquetPicture)


def _place(tally: _Tally) -> None:
    """Add the countries of points whose truth names none."""
    if not tally.waiting:
        return
    from geosleuth.atlas.borders import Borders

    lats, lons = [point.lat for point in tally.waiting], [point.lon for point in tally.waiting]
    tally.countries.update(str(code) or UNKNOWN for code in Borders.load().countries(lats, lons))
    tally.waiting.clear()
