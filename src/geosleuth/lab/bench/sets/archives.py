"""Sources of a set's photos: folders, zip and tar files, MessagePack shards. Names come from untrusted tables.

A name never leads out of the folder: ``..``, absolute paths elsewhere and links that lead out are refused. One kind of
link is followed, because downloads consist of them: into the ``blobs`` of the Hugging Face cache that contains the
folder.
"""

import os
import re
import stat
import struct
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from geosleuth.photo import PhotoLimits
from geosleuth.support.errors import BadInput

from .dataset import DatasetPicture, FilePicture

_MAX_BYTES = PhotoLimits().max_bytes
# With other compression methods, the library decompresses everything, however little is wanted.
_UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SHARD = re.compile(r"shard_\d+\.msg")

_LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_NOTHING = 0xC0
_LONGEST_NAME = 4096
ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif")
_TRIED_WITHOUT_ENDING = (".jpg", ".jpeg", ".png", ".webp", ".JPG", ".JPEG", ".PNG")
_SHELF_LONGEST_NAME = 1000


class Archive(Protocol):
    """A file that contains photos."""

    def find(self, name: str) -> DatasetPicture | None:
        """Return the photo of that path, or else the only one whose path ends so; None if there is none."""
        ...


def open_archives(folders: Iterable[Path]) -> tuple[list[Archive], list[str]]:
    """Return the zip and tar files and shards directly in the folders, by name; and those that can't be read.

    A compressed tar file can't: every photo would require reading it from its start.
    """
    found: dict[str, Archive] = {}
    closed: list[str] = []
    for folder in folders:
        for path in sorted(folder.iterdir()):
            name = path.name.lower()
            if str(path) in found or not path.is_file():
                continue
            try:
                if name.endswith(".zip"):
                    found[str(path)] = _Zip(path)
                elif name.endswith(".tar"):
                    found[str(path)] = _Tar(path)
                elif _SHARD.fullmatch(name):
                    found[str(path)] = Shard(path)
                elif name.endswith((".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")):
                    closed.append(f"{path.name} must be unpacked first (tar xf {path.name})")
            except BadInput as error:
                closed.append(str(error))
    return list(found.values()), closed


class _Index:
    """Archive members by path and by path suffix: archives often have one more folder than tables."""

    def __init__(self, names: Iterable[str]) -> None:
        self._members = {}
        self._by_name: dict[str, list[str]] = {}
        for name in names:
            path = PurePosixPath(name)
            self._members[str(path)] = name
            self._by_name.setdefault(path.name, []).append(str(path))

    def find(self, name: str) -> str | None:
        if name in self._members:
            return self._members[name]
        ends = [path for path in self._by_name.get(PurePosixPath(name).name, ()) if path.endswith(f"/{name}")]
        return self._members[ends[0]] if len(ends) == 1 else None


class _Zip:
    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = zipfile.ZipFile(path)
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
            raise BadInput(f"{path}: this zip file can't be opened: {error}") from error
        self._index = _Index(info.filename for info in self._file.infolist() if info.filename and not info.is_dir())

    def find(self, name: str) -> DatasetPicture | None:
        member = self._index.find(name)
        return None if member is None else ZipPicture(self._path, self._file, member)


@dataclass(frozen=True, slots=True)
class ZipPicture:
    """A photo in a zip file."""

    path: Path
    file: zipfile.ZipFile = field(repr=False, compare=False)
    member: str

    @property
    def where(self) -> str:
        """Return the archive and the path in it."""
        return f"{self.path}: {self.member}"

    def read(self) -> bytes:
        """Return the file's content.

        Raises:
            BadInput: it is damaged, encrypted or too large.
        """
        if self.file.getinfo(self.member).compress_type not in _UNPACKED:
            raise BadInput(f"{self.where}: unsupported compression; pack it again with zip")
        try:
            with self.file.open(self.member) as stream:
                return _check_size(stream.read(_MAX_BYTES + 1), self.where)
        except (OSError, RuntimeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise BadInput(f"{self.where}: can't be read: {error}") from error

    def size_bytes(self) -> int | None:
        """Return its uncompressed size, as stated in the archive."""
        return self.file.getinfo(self.member).file_size


class _Tar:
    """Plain tar file: headers are scanned once, contents are read in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                for member in archive:
                    if member.isreg() and not member.issparse() and member.size >= 0:
                        self._places[member.name] = (member.offset_data, member.size)
                    # The library keeps every header it has seen; a million of them are a gigabyte.
                    archive.members = []  # type: ignore[attr-defined]
        except (OSError, ValueError, EOFError, tarfile.TarError) as error:
            raise BadInput(f"{path}: this tar file can't be opened: {error}") from error
        self._index = _Index(self._places)

    def find(self, name: str) -> DatasetPicture | None:
        member = self._index.find(name)
        return None if member is None else MemberPicture(self._path, member, *self._places[member])


@dataclass(frozen=True, slots=True)
class MemberPicture:
    """A photo that is a section of a larger file: of a plain tar file, or of a shard."""

    path: Path
    member: str
    offset: int
    length: int

    @property
    def where(self) -> str:
        """Return the archive and the path in it."""
        return f"{self.path}: {self.member}"

    def read(self) -> bytes:
        """Return the file's content.

        Raises:
            BadInput: it is truncated or too large.
        """
        if self.length > _MAX_BYTES:
            return _check_size(b"", self.where, self.length)
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read(self.length)
        except OSError as error:
            raise BadInput(f"{self.where}: can't be read: {error.strerror or error}") from error
        if len(data) < self.length:
            raise BadInput(f"{self.where}: the archive is truncated; download it again")
        return data

    def size_bytes(self) -> int | None:
        """Return its size."""
        return self.length


def _check_size(data: bytes, where: str, size: int | None = None) -> bytes:
    if (len(data) if size is None else size) > _MAX_BYTES:
        raise BadInput(f"{where}: larger than the limit of {_MAX_BYTES / 1024**2:g} MiB for a photo")
    return data


class Shard:
    """One shard: scanned once for its ids, then read in place."""

    def __init__(self, path: Path) -> None:
        """Find the position of each photo.

        Raises:
            BadInput: it is not such a shard.
        """
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}
        size = path.stat().st_size
        try:
            with path.open("rb") as stream:
                while stream.tell() < size:
                    self._record(stream, size)
        except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
            raise BadInput(f"{path}: not a shard of photos, or truncated; download it again") from error

    def _record(self, stream: BinaryIO, size: int) -> None:
        head = stream.read(1)[0]
        if head == _NOTHING:
            return
        if not 0x80 <= head <= 0x8F:
            raise ValueError(head)
        name, place = None, None
        for _ in range(head & 0x0F):
            key = stream.read(_short(_length(stream)))
            length = _length(stream)
            if stream.tell() + length > size:
                raise ValueError(length)
            if key == b"id":
                name = stream.read(_short(length)).decode()
                continue
            if key == b"image":
                place = (stream.tell(), length)
            stream.seek(length, 1)
        if name is not None and place is not None:
            self._places[name] = place

    def find(self, name: str) -> DatasetPicture | None:
        """Return the photo of that id."""
        place = self._places.get(name)
        return None if place is None else MemberPicture(self._path, name, *place)


def _short(length: int) -> int:
    """Return the length of a key or an id; these are read whole."""
    if length > _LONGEST_NAME:
        raise ValueError(length)
    return length


def _length(stream: BinaryIO) -> int:
    """Return the length of the text or bytes that begin at the current position."""
    head = stream.read(1)[0]
    if 0xA0 <= head <= 0xBF:
        return head & 0x1F
    layout = _LENGTHS[head]
    (length,) = struct.unpack(layout, stream.read(struct.calcsize(layout)))
    return int(length)


class BadName(ValueError):
    """A photo's name that is invalid, or leads out of the folder; the message follows the row's position."""


def clean_name(name: str, root: Path) -> str:
    """Return a photo's name as a path below the root, with forward slashes.

    Raises:
        BadName: it is empty, has control characters, or leads out of the folder.
    """
    if len(name) > _SHELF_LONGEST_NAME:
        raise BadName(f"the photo's name is longer than {_SHELF_LONGEST_NAME} characters")
    if not name.strip() or not name.isprintable():
        raise BadName(f"{name[:60]!r} is not a photo's name")
    given = name.strip().removeprefix("file://").replace("\\", "/")
    if "://" in given:
        raise BadName(f"{given[:200]!r} is a web address; photos must be on this disk")
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

    def picture(self, name: str) -> DatasetPicture:
        """Return the photo of that name; it is looked for when it is read.

        Raises:
            BadName: the name is invalid, or leads out of the folder.
        """
        return ShelvedPicture(self, clean_name(name, self.root))

    def find(self, name: str) -> DatasetPicture | None:
        """Return the photo of a clean name; None if it is not there."""
        for relative in self._generate_names(name):
            path = self.root / relative
            try:
                status = path.stat()
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(status.st_mode):
                return FilePicture(path, self.root)
        return self._find_packed(name)

    def why_missing(self) -> str:
        """Return why a photo is not found, in words that follow its location."""
        folders = ", ".join(folder or "." for folder in self.folders)
        _, closed = self._archives()
        more = f"; {closed[0]}" if closed else ""
        return f"there is no such photo; looked in {folders}, and in archives there{more}"

    def _find_packed(self, name: str) -> DatasetPicture | None:
        for archive in self._archives()[0]:
            for relative in self._generate_names(name):
                if (picture := archive.find(relative)) is not None:
                    return picture
        return None

    def _archives(self) -> "tuple[list[Archive], list[str]]":
        """Return the archives, opened when the first photo is not found as a file."""
        with self._lock:
            if not self._opened:
                folders = [self.root / folder for folder in self.folders]
                self._opened.append(open_archives([folder for folder in folders if folder.is_dir()]))
            return self._opened[0]

    def _generate_names(self, name: str) -> Iterator[str]:
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
        """Return where it was found; the name on the shelf where it was not."""
        found = self.shelf.find(self.name)
        return str(self.shelf.root / self.name) if found is None else found.where

    def read(self) -> bytes:
        """Return the file's content.

        Raises:
            BadInput: it is not there or can't be read.
        """
        found = self.shelf.find(self.name)
        if found is None:
            raise BadInput(f"{self.where}: {self.shelf.why_missing()}")
        return found.read()

    def size_bytes(self) -> int | None:
        """Return the size of the file; None if it is not there."""
        found = self.shelf.find(self.name)
        return None if found is None else found.size_bytes()
