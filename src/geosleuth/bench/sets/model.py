"""What a data set is to a run: a card, and a stream of photos with their truths that can be gone through again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from geosleuth.errors import BadInput
from geosleuth.score import Truth

BoxKind = Literal["text", "signs", "poles", "foreground", "clue"]
"""What a box of a photo holds, for runs that hide it."""


class Picture(Protocol):
    """The content of a photo's file, wherever it lies; read when it is needed and not before."""

    @property
    def where(self) -> str:
        """Where it lies, for people who must mend it. No model, tool or trajectory ever gets this."""
        ...

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it can't be read.
        """
        ...

    def size_bytes(self) -> int | None:
        """How large the file is; None where only reading would tell."""
        ...


@dataclass(frozen=True, slots=True)
class FilePicture:
    """A photo that is a file of its own."""

    path: Path

    @property
    def where(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it can't be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise BadInput(f"{self.path}: can't be read: {error.strerror or error}") from error

    def size_bytes(self) -> int | None:
        """How large the file is."""
        try:
            return self.path.stat().st_size
        except OSError:
            return None


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a photo and what it holds; edges in shares of width and height, from the upper left."""

    kind: BoxKind
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Item:
    """A photo of a data set and where it was taken.

    ``id`` is the data set's own and may tell the place: it goes into results and reports, never to whoever answers.
    ``fields`` are what results can be sliced by.
    """

    id: str
    picture: Picture
    truth: Truth = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What people must know of a data set before they quote a figure on it.

    ``photos`` is how many it has by its publication, ``home`` where it is described, ``get`` how its files are had,
    ``thresholds_km`` at which distances the literature reports it, ``faults`` what is known to be wrong with it.
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


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set on disk. ``stream`` begins a new pass over its items, always in the same order; ids are unique."""

    card: Card
    root: Path
    stream: Callable[[], Iterable[Item]] = field(repr=False)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.stream())


@dataclass(frozen=True, slots=True)
class SetKind:
    """A kind of data set, as another package adds it: its card, and what opens the files that somebody has of it.

    ``open`` gets the path of the files, and the folder of the photos where these lie elsewhere. It raises BadInput
    where the files are not the set's, and says what it looked for.
    """

    card: Card
    open: Callable[[Path, Path | None], DataSet] = field(repr=False)
