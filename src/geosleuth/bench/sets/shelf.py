"""Where a set's photos lie: a folder, or the archives in it. Names come from tables that nobody vouches for.

A name never leads out of the folder: ``..`` and absolute paths elsewhere are refused, and so are links that lead out.
One kind of link is followed, because downloads are made of it: into the ``blobs`` of the Hugging Face cache that the
folder itself lies in.
"""

import os
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from geosleuth.errors import BadInput
from geosleuth.photo import Limits

from .archives import Archive, open_archives
from .model import Picture

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif")
_TRIED_WITHOUT_ENDING = (".jpg", ".jpeg", ".png", ".webp", ".JPG", ".JPEG", ".PNG")
_LONGEST_NAME = 1000


class BadName(ValueError):
    """A photo's name that can't be one, or leads out of the folder; the message goes after the row's place."""


def clean_name(name: str, root: Path) -> str:
    """A photo's name as a path below the root, with forward slashes.

    Raises:
        BadName: it is empty, holds control characters, or leads out of the folder.
    """
    if len(name) > _LONGEST_NAME:
        raise BadName(f"the photo's name is longer than {_LONGEST_NAME} characters")
    if not name.strip() or not name.isprintable():
        raise BadName(f"{name[:60]!r} is no photo's name")
    given = name.strip().removeprefix("file://").replace("\\", "/")
    if "://" in given:
        raise BadName(f"{given[:200]!r} is an address on the net; photos must lie on this disk")
    if given.startswith("/") or given[1:3] == ":/":
        inside = os.path.normpath(given)
        start = f"{os.path.normpath(root.absolute())}/"
        if not inside.startswith(start):
            raise BadName(f"{given[:200]!r} lies outside {root}; name photos by their path below it")
        given = inside[len(start) :]
    parts = [part for part in given.split("/") if part not in ("", ".")]
    if ".." in parts or not parts:
        raise BadName(f"{given[:200]!r} leads out of {root}; name photos by their path below it")
    return "/".join(parts)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of photos; each is looked for in ``folders`` of it, in this order, and then in the archives there."""

    root: Path
    folders: tuple[str, ...] = ("",)
    _opened: "list[tuple[list[Archive], list[str]]]" = field(default_factory=list, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def picture(self, name: str) -> Picture:
        """The photo of that name; looked for when it is read.

        Raises:
            BadName: it can't be a name, or leads out of the folder.
        """
        return ShelvedPicture(self, clean_name(name, self.root))

    def find(self, name: str) -> Picture | None:
        """The photo of a clean name where it really lies; None where it is not there."""
        for relative in self._candidates(name):
            path = self.root / relative
            try:
                status = path.stat()
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(status.st_mode):
                return InsidePicture(path, self.root)
        return self._packed(name)

    def why_missing(self) -> str:
        """Why a photo is not found, in words that go after its place."""
        folders = ", ".join(folder or "." for folder in self.folders)
        _, closed = self._archives()
        more = f"; {closed[0]}" if closed else ""
        return f"there is no such photo; looked in {folders}, and in archives there{more}"

    def _packed(self, name: str) -> Picture | None:
        for archive in self._archives()[0]:
            for relative in self._candidates(name):
                if (picture := archive.find(relative)) is not None:
                    return picture
        return None

    def _archives(self) -> "tuple[list[Archive], list[str]]":
        """Opened when the first photo is not found as a file of its own."""
        with self._lock:
            if not self._opened:
                folders = [self.root / folder for folder in self.folders]
                self._opened.append(open_archives([folder for folder in folders if folder.is_dir()]))
            return self._opened[0]

    def _candidates(self, name: str) -> Iterator[str]:
        endings: Sequence[str] = ("",)
        if PurePosixPath(name).suffix.lower() not in ENDINGS:
            endings = ("", *_TRIED_WITHOUT_ENDING)
        for folder in self.folders:
            for ending in endings:
                yield f"{folder}/{name}{ending}" if folder else f"{name}{ending}"


@dataclass(frozen=True, slots=True)
class ShelvedPicture:
    """A photo that is looked for when it is needed."""

    shelf: Shelf
    name: str

    @property
    def where(self) -> str:
        """Its place on the shelf."""
        return str(self.shelf.root / self.name)

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it is not there or can't be read.
        """
        found = self.shelf.find(self.name)
        if found is None:
            raise BadInput(f"{self.where}: {self.shelf.why_missing()}")
        return found.read()

    def size_bytes(self) -> int | None:
        """How large the file is; None where it is not there."""
        found = self.shelf.find(self.name)
        return None if found is None else found.size_bytes()


@dataclass(frozen=True, slots=True)
class InsidePicture:
    """A photo that is a file below a root, not one that a link beyond it leads to."""

    path: Path
    root: Path

    @property
    def where(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it can't be read, is no plain file, is larger than a photo may be, or lies elsewhere.
        """
        if not is_inside(self.path, self.root):
            raise BadInput(
                f"{self.path}: a link leads out of {self.root}; copy the photo there, or name its own folder"
            )
        most = Limits().max_bytes
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise BadInput(f"{self.path}: not a plain file")
            if status.st_size > most:
                raise BadInput(f"{self.path}: larger than the {most / 1024**2:g} MiB that a photo may have")
            return self.path.read_bytes()
        except OSError as error:
            raise BadInput(f"{self.path}: can't be read: {error.strerror or error}") from error

    def size_bytes(self) -> int | None:
        """How large the file is; None where it is not there or lies elsewhere."""
        try:
            return self.path.stat().st_size if is_inside(self.path, self.root) else None
        except OSError:
            return None


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path lies below the root once links are followed, or in the blobs of the root's download cache."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if real.startswith(home.rstrip("/") + "/"):
        return True
    parts = Path(home).parts
    if "snapshots" not in parts:
        return False
    at = len(parts) - 1 - parts[::-1].index("snapshots")
    return real.startswith(str(Path(*parts[:at]) / "blobs") + "/")
