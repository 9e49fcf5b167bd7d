"""The photos that clients have opened, by handles that only they know; the server holds nothing else between calls."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from geosleuth.errors import BadInput
from geosleuth.photo import OpenedPhoto
from geosleuth.tools import Case

PHOTOS_KEPT = 32
PIXELS_KEPT = 400_000_000
"""How much is kept open at most: four bytes a pixel, so 1.6 GB."""

VIEWS_KEPT = 1000
"""How many cuts of one photo have handles."""


@dataclass(frozen=True, slots=True, eq=False)
class Shelved:
    """A picture that tools can look at: a client's photo, or a map that a tool drew, which was never opened."""

    handle: str
    case: Case
    opened: OpenedPhoto | None = None
    notes: tuple[str, ...] = ()

    @property
    def pixels(self) -> int:
        """How large it is; a panorama's cuts count as much as itself."""
        if self.opened is None:
            return sum(width * height for width, height in self._sizes())
        width, height = self.opened.photo.size
        return width * height * (2 if self.notes else 1)

    def _sizes(self) -> list[tuple[int, int]]:
        return [self.case.album[handle].size for handle in self.case.album.handles[:1]]


def new_handle() -> str:
    """A handle that nobody can guess."""
    return f"photo-{secrets.token_hex(8)}"


@dataclass(slots=True)
class Shelf:
    """The newest photos; those that nobody has asked for the longest make room."""

    photos_kept: int = PHOTOS_KEPT
    pixels_kept: int = PIXELS_KEPT
    _kept: OrderedDict[str, Shelved] = field(default_factory=OrderedDict)

    def put(self, shelved: Shelved) -> list[Shelved]:
        """Keep one, however large it is alone; those that had to make room."""
        self._kept[shelved.handle] = shelved
        gone: list[Shelved] = []
        pixels = sum(one.pixels for one in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > self.photos_kept or pixels > self.pixels_kept):
            gone.append(self._kept.popitem(last=False)[1])
            pixels -= gone[-1].pixels
        return gone

    def clear(self) -> list[Shelved]:
        """Take all of them down."""
        gone = list(self._kept.values())
        self._kept.clear()
        return gone

    def get(self, handle: str) -> Shelved:
        """The photo of that handle.

        Raises:
            BadInput: there is none, or no longer.
        """
        name = handle.strip()
        found = self._kept.get(name)
        if found is None:
            raise BadInput(
                f"there is no photo {name[:60]!r} here, or no longer: the newest {self.photos_kept} are kept; "
                "open it with open_photo, and use the handle that comes back"
            )
        self._kept.move_to_end(name)
        if len(found.case.album.handles) >= VIEWS_KEPT:
            raise BadInput(f"{name} has {VIEWS_KEPT} cuts already; open it again with open_photo")
        return found
