"""Photos inside zip and tar files, read one by one where they lie."""

import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from geosleuth.errors import BadInput
from geosleuth.photo import Limits

from .model import Picture

_MOST_BYTES = Limits().max_bytes
# Of the other ways of packing, the library unpacks all there is, however much of it is wanted.
_UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SHARD = re.compile(r"shard_\d+\.msg")


class Archive(Protocol):
    """A file with photos in it."""

    def find(self, name: str) -> Picture | None:
        """The photo of that path, or else the only one whose path ends so; None where there is none."""
        ...


def open_archives(folders: Iterable[Path]) -> tuple[list[Archive], list[str]]:
    """The zip and tar files and shards that lie directly in the folders, by name; and what can't be looked into.

    A compressed tar file can't: every photo in it could only be had by reading it from its start.
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
                    found[str(path)] = _shard(path)
                elif name.endswith((".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")):
                    closed.append(f"{path.name} must be unpacked first (tar xf {path.name})")
            except BadInput as error:
                closed.append(str(error))
    return list(found.values()), closed


def _shard(path: Path) -> Archive:
    from .shards import Shard

    return Shard(path)


class _Index:
    """Members by path and by the ends of their paths: archives often hold one more folder than tables know of."""

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
        self._index = _Index(info.filename for info in self._file.infolist() if not info.is_dir())

    def find(self, name: str) -> Picture | None:
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
        """The archive and the path in it."""
        return f"{self.path}: {self.member}"

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it is damaged, locked or larger than a photo may be.
        """
        if self.file.getinfo(self.member).compress_type not in _UNPACKED:
            raise BadInput(f"{self.where}: is packed in a way that is not read here; pack it anew with zip")
        try:
            with self.file.open(self.member) as stream:
                return _capped(stream.read(_MOST_BYTES + 1), self.where)
        except (OSError, RuntimeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise BadInput(f"{self.where}: can't be read: {error}") from error

    def size_bytes(self) -> int | None:
        """How large it is unpacked, as the archive says."""
        return self.file.getinfo(self.member).file_size


class _Tar:
    """A plain tar file: its headers are gone through once, its contents are read where they lie."""

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

    def find(self, name: str) -> Picture | None:
        member = self._index.find(name)
        return None if member is None else MemberPicture(self._path, member, *self._places[member])


@dataclass(frozen=True, slots=True)
class MemberPicture:
    """A photo that is a stretch of a larger file: of a plain tar file, or of a shard."""

    path: Path
    member: str
    offset: int
    length: int

    @property
    def where(self) -> str:
        """The archive and the path in it."""
        return f"{self.path}: {self.member}"

    def read(self) -> bytes:
        """The file's content.

        Raises:
            BadInput: it is cut short or larger than a photo may be.
        """
        if self.length > _MOST_BYTES:
            return _capped(b"", self.where, self.length)
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read(self.length)
        except OSError as error:
            raise BadInput(f"{self.where}: can't be read: {error.strerror or error}") from error
        if len(data) < self.length:
            raise BadInput(f"{self.where}: the archive is cut short; get a whole copy of it")
        return data

    def size_bytes(self) -> int | None:
        """How large it is."""
        return self.length


def _capped(data: bytes, where: str, size: int | None = None) -> bytes:
    if (len(data) if size is None else size) > _MOST_BYTES:
        raise BadInput(f"{where}: larger than the {_MOST_BYTES / 1024**2:g} MiB that a photo may have")
    return data
