"""A data set: a card, and a repeatable stream of photos with truths; faults, boxes and rows."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from geosleuth.geo.gcj02 import Datum
from geosleuth.lab.score import Truth
from geosleuth.photo import PhotoLimits
from geosleuth.support.errors import BadInput

BoxKind = Literal["text", "signs", "poles", "foreground", "clue"]
"""What a box of a photo contains, for runs that hide it."""


Part = Literal["train", "test"]
"""What the photos of a data set are for, by its authors."""

_TESTS = frozenset({"test", "val", "valid", "validation", "dev"})

_KINDS = get_args(BoxKind)
_MAX_BOXES = 1000
_MAX_BYTES = PhotoLimits().max_bytes
_WANTED = (
    'boxes are a list such as [{"kind": "text", "box": [0.1, 0.2, 0.5, 0.3]}] with kinds '
    f'{", ".join(_KINDS)}; edges in pixels need "size": [width, height]'
)
# Columns for the photo and its place; all others are fields to slice by.
OWN_COLUMNS = ("id", "image", "lat", "lon", "country", "region", "city", "boxes")


class DatasetPicture(Protocol):
    """The content of a photo's file, wherever it is; read only when needed."""

    @property
    def where(self) -> str:
        """Return its location, for people who must fix it. No model, tool or trajectory ever sees this."""
        ...

    def read(self) -> bytes:
        """Return the file's content.

        Raises:
            BadInput: it can't be read.
        """
        ...

    def size_bytes(self) -> int | None:
        """Return the size of the file; None if only reading would tell."""
        ...


@dataclass(frozen=True, slots=True)
class FilePicture:
    """A photo in a file of its own; with a ``root``, not one reached by a link beyond that folder."""

    path: Path
    root: Path | None = None

    @property
    def where(self) -> str:
        """Return its path."""
        return str(self.path)

    def read(self) -> bytes:
        """Return the file's content.

        Raises:
            BadInput: it can't be read, is not a plain file, is too large, or lies elsewhere.
        """
        if self.root is not None and not is_inside(self.path, self.root):
            raise BadInput(
                f"{self.path}: a link leads out of {self.root}; copy the photo there, or name its own folder"
            )
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise BadInput(f"{self.path}: not a plain file")
            if status.st_size > _MAX_BYTES:
                raise BadInput(f"{self.path}: larger than the limit of {_MAX_BYTES / 1024**2:g} MiB for a photo")
            return self.path.read_bytes()
        except OSError as error:
            raise BadInput(f"{self.path}: can't be read: {error.strerror or error}") from error

    def size_bytes(self) -> int | None:
        """Return the size of the file; None if it is not there or lies elsewhere."""
        try:
            return self.path.stat().st_size if self.root is None or is_inside(self.path, self.root) else None
        except OSError:
            return None


def is_inside(path: Path, root: Path) -> bool:
    """Return whether a path lies below the root once links are followed, or in the blobs of its download cache."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if real.startswith(home.rstrip("/") + "/"):
        return True
    parts = Path(home).parts
    if "snapshots" not in parts:
        return False
    at = len(parts) - 1 - parts[::-1].index("snapshots")
    return real.startswith(str(Path(*parts[:at]) / "blobs") + "/")


@dataclass(frozen=True, slots=True)
class DatasetBox:
    """A part of a photo and its content; edges in shares of width and height, from the upper left."""

    kind: BoxKind
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Item:
    """A photo of a data set and where it was taken.

    ``id`` is the data set's own and may reveal the place: it goes into results and reports, never to a model.
    ``fields`` are what results can be sliced by.
    """

    id: str
    picture: DatasetPicture
    truth: Truth = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    boxes: tuple[DatasetBox, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Facts about a data set to know before quoting a figure on it.

    ``photos`` is its published size, ``home`` its description, ``get`` how to obtain its files, ``thresholds_km`` the
    distances used in the literature, ``faults`` its known errors. ``datum`` is what its points refer to, None if that
    is not stated: they are read as WGS-84 then. ``part`` says what its photos are for; training refuses a test part.
    """

    name: str
    title: str
    photos: int | None
    licence: str
    home: str
    get: str
    layout: str
    thresholds_km: tuple[float, ...]
    faults: tuple[str, ...] = ()
    published_as: str | None = None
    datum: Datum | None = "wgs84"
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set on disk. ``stream`` starts a new pass over its items, always in the same order; ids are unique."""

    card: Card
    root: Path
    stream: Callable[[], Iterable[Item]] = field(repr=False)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.stream())

    def map_items(self, change: Callable[[Item], Item], card: Card) -> "DataSet":
        """Return the set with every item changed, under another card; its faults stay."""
        stream = self.stream
        if isinstance(stream, Strict):
            entries = stream.entries
            return DataSet(
                card,
                self.root,
                Strict(lambda: (change(entry) if isinstance(entry, Item) else entry for entry in entries())),
            )
        return DataSet(card, self.root, lambda: map(change, stream()))

    def filter_items(self, keep: Callable[[Item], bool], card: Card) -> "DataSet":
        """Return the items that are wanted, under another card; faults stay."""
        stream = self.stream
        if isinstance(stream, Strict):
            entries = stream.entries
            return DataSet(
                card,
                self.root,
                Strict(lambda: (entry for entry in entries() if not isinstance(entry, Item) or keep(entry))),
            )
        return DataSet(card, self.root, lambda: filter(keep, stream()))


def is_for_testing(card: Card, item: Item) -> bool:
    """Return whether a photo belongs to a test part, by its set or by its own field ``split``."""
    return card.part == "test" or (card.part is None and item.fields.get("split", "").casefold() in _TESTS)


def refuse_test(card: Card, item: Item, otherwise: str = "") -> None:
    """Check that a photo may be learned from; ``otherwise`` says how to take it all the same.

    Raises:
        BadInput: it belongs to a test part.
    """
    if is_for_testing(card, item):
        advice = f"name a training part, see `geosleuth dataset list`{otherwise}"
        raise BadInput(f"{card.name}: these are test photos ({card.title}); {advice}")


def with_part(data: DataSet) -> DataSet:
    """Return the set with its part in the field ``split`` of each photo, for files that no longer name the set."""
    part = data.card.part
    if part is None:
        return data
    return data.map_items(lambda item: replace(item, fields={**item.fields, "split": part}), data.card)


@dataclass(frozen=True, slots=True)
class SetKind:
    """A kind of data set, as a plug-in adds it: its card, and a function that opens its files.

    ``open`` gets the path of the files, and the folder of the photos if they are elsewhere. It raises BadInput if the
    files are not the set's, and says what it looked for.
    """

    card: Card
    open: Callable[[Path, Path | None], DataSet] = field(repr=False)


def read_boxes(value: object) -> tuple[DatasetBox, ...]:
    """Parse the boxes of a cell: a list of ``{"kind", "box": [left, top, right, bottom]}``, also as JSON text.

    Edges up to 1 are shares of width and height. Larger ones are pixels, and need the photo's ``size``:
    ``{"kind", "box", "size": [width, height]}``.

    Raises:
        ValueError: it is something else; the message shows the form.
    """
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(_WANTED) from None
    if not isinstance(value, list) or len(value) > _MAX_BOXES:
        raise ValueError(_WANTED)
    return tuple(_parse_box(entry) for entry in value)


def _parse_box(entry: Any) -> DatasetBox:
    if not isinstance(entry, dict) or entry.get("kind") not in _KINDS:
        raise ValueError(_WANTED)
    edges = _parse_numbers(entry.get("box"), 4)
    if entry.get("size") is not None:
        width, height = _parse_numbers(entry["size"], 2)
        if min(width, height) <= 0:
            raise ValueError(_WANTED)
        return box_of_pixels(entry["kind"], edges, (width, height))
    left, top, right, bottom = edges
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ValueError(_WANTED)
    return DatasetBox(entry["kind"], left, top, right, bottom)


def box_of_pixels(kind: BoxKind, edges: list[float], size: tuple[float, float]) -> DatasetBox:
    """Return a box given in pixels of a photo of that size, clipped to the photo.

    Raises:
        ValueError: no part of it lies on the photo.
    """
    width, height = size
    left, right = (min(1.0, max(0.0, edge / width)) for edge in (edges[0], edges[2]))
    top, bottom = (min(1.0, max(0.0, edge / height)) for edge in (edges[1], edges[3]))
    if not (left < right and top < bottom):
        raise ValueError(f"the box {edges} has no part on a photo of {width:g} x {height:g} pixels")
    return DatasetBox(kind, left, top, right, bottom)


def _parse_numbers(value: Any, count: int) -> list[float]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(_WANTED)
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in value):
        raise ValueError(_WANTED)
    try:
        return [float(number) for number in value]
    except OverflowError:
        raise ValueError(_WANTED) from None


@dataclass(frozen=True, slots=True)
class Fault:
    """A row or file that gives no item.

    ``expected`` means that it is normal for the set, such as a photo without GPS tags in a folder: a pass skips it. Any
    other fault ends the pass, because leaving it out would change every figure.
    """

    where: str
    reason: str
    expected: bool = False


Entry = Item | Fault


@dataclass(frozen=True, slots=True)
class Strict:
    """A data set's stream: items with unique ids; the first unexpected fault ends it.

    ``entries`` starts a pass that includes the faults, with ids as in the files.
    """

    entries: Callable[[], Iterable[Entry]]

    def __call__(self) -> Iterator[Item]:
        """Start a pass.

        Raises:
            BadInput: a row or file is not a photo with a truth; the message names it.
        """
        seen: dict[str, int] = {}
        for entry in self.entries():
            if isinstance(entry, Item):
                yield _with_unique_id(entry, seen)
            elif not entry.expected:
                raise BadInput(f"{entry.where}: {entry.reason}")


def _with_unique_id(item: Item, seen: dict[str, int]) -> Item:
    """Return the item with a unique id: a repeat becomes ``id#2``."""
    count = seen.get(item.id, 0) + 1
    seen[item.id] = count
    if count == 1:
        return item
    while (name := f"{item.id}#{count}") in seen:
        count += 1
    seen[item.id] = count
    seen[name] = 1
    return replace(item, id=name)


def own_columns(item: Item, image: str) -> dict[str, Any]:
    """Return the photo and its place by column; unknown values are left out. ``image`` is the name of its file."""
    truth = item.truth
    values = (
        item.id,
        image,
        truth.point.lat,
        truth.point.lon,
        truth.country,
        truth.region,
        truth.city,
        [{"kind": box.kind, "box": [box.left, box.top, box.right, box.bottom]} for box in item.boxes] or None,
    )
    return {name: value for name, value in zip(OWN_COLUMNS, values, strict=True) if value is not None}
