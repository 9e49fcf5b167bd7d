"""Photos that come in: streamed to the disk, opened by a process that may break, and where files are kept."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from geosleuth.photo import check_case_pixels
from geosleuth.support.errors import BadInput

from .database import CaseStore, new_id
from .frames import disk_full_errors
from .processes import TaskPool
from .records import NotThere, PhotoRow, ServiceLimits, TooLarge, TooMany, WrongState, file_name

_PHOTOS, _PICTURES, _RUNS, _PART = "photos", "pictures", "runs", ".part"
_PRIVATE = 0o700

# The longest sides of the pictures that are made as soon as a photo comes in.
THUMB_PX, VIEW_PX = 320, 2048


class Folders:
    """The service's folder. Names in it are ids and numbers: nothing that a person sent becomes a path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def database(self) -> Path:
        """The database."""
        return self._root / "service.sqlite"

    def make(self) -> None:
        """Create the folder, for its owner only.

        Raises:
            BadInput: it can't be made.
        """
        try:
            self._cases.mkdir(parents=True, exist_ok=True)
            self._root.chmod(_PRIVATE)
        except OSError as error:
            raise BadInput(f"{self._root}: can't be used: {error.strerror or error}") from error

    @property
    def _cases(self) -> Path:
        return self._root / "cases"

    def make_case(self, case_id: str) -> None:
        """Create the folders of a case.

        Raises:
            BadInput: they can't be made.
        """
        try:
            for name in (_PHOTOS, _PICTURES, _RUNS):
                (self._cases / case_id / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{self._root}: can't be written: {error.strerror or error}") from error

    def size_bytes(self) -> int:
        """Return what all cases take on the disk, the database included."""
        found = 0
        for folder, _, names in os.walk(self._root):
            for name in names:
                with suppress(OSError):
                    found += Path(folder, name).stat().st_size
        return found

    def part(self, case_id: str) -> Path:
        """Return a photo that is still coming in."""
        return self._cases / case_id / _PHOTOS / f"{new_id()}{_PART}"

    def photo(self, case_id: str, number: int) -> Path:
        """Return a photo as it came."""
        return self._cases / case_id / _PHOTOS / str(number)

    def picture(self, case_id: str, number: int, most_px: int) -> Path:
        """Return a smaller picture of a photo."""
        return self._cases / case_id / _PICTURES / f"{number}-{most_px}.jpg"

    def trajectory(self, case_id: str, run_id: str) -> Path:
        """Return a run's trajectory; those of several minds have theirs beside it."""
        return self._cases / case_id / _RUNS / f"{run_id}.jsonl"

    def remove_case(self, case_id: str) -> None:
        """Remove all files of a case."""
        shutil.rmtree(self._cases / case_id, ignore_errors=True)

    def remove_photo(self, case_id: str, number: int) -> None:
        """Remove a photo and its pictures."""
        self.photo(case_id, number).unlink(missing_ok=True)
        for picture in (self._cases / case_id / _PICTURES).glob(f"{number}-*"):
            picture.unlink(missing_ok=True)

    def remove_run(self, case_id: str, run_id: str) -> None:
        """Remove all files of a run."""
        for file in (self._cases / case_id / _RUNS).glob(f"*{run_id}.*"):
            file.unlink(missing_ok=True)

    def sweep(self, known: Mapping[str, Collection[int]], runs: Collection[str]) -> None:
        """Remove files that a killed process left behind: all but the known ones."""
        for folder in self._cases.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            numbers = {str(number) for number in known[folder.name]}
            for photo in (folder / _PHOTOS).glob("*"):
                if photo.name not in numbers:
                    photo.unlink(missing_ok=True)
            for picture in (folder / _PICTURES).glob("*"):
                if picture.name.partition("-")[0] not in numbers:
                    picture.unlink(missing_ok=True)
            for trajectory in (folder / _RUNS).glob("*"):
                # One that is half written begins with a dot.
                if trajectory.name.partition(".")[0] not in runs:
                    trajectory.unlink(missing_ok=True)


class Intake:
    """Takes photos in, shows them, and deletes them."""

    def __init__(self, store: CaseStore, folders: Folders, limits: ServiceLimits) -> None:
        self._store, self._folders, self._limits = store, folders, limits
        self._coming = 0
        self._opener = TaskPool("opens", 1, seconds=limits.opening_s, memory_bytes=limits.opening_bytes)

    async def ready(self) -> None:
        """Start the process that opens photos."""
        await self._opener.ready()

    async def end(self) -> None:
        """End it."""
        await self._opener.end()

    async def add(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> PhotoRow:
        """See `CaseService.add_photo`."""
        case = await self._store.case(case_id)
        most = self._limits.photos_per_case
        if len(case.photos) >= most:
            raise TooMany(f"a case holds {most} photos at most; make another case")
        if self._coming >= self._limits.uploads:
            raise TooMany(f"{self._limits.uploads} photos are coming in already; send this one again in a moment")
        self._coming += 1
        try:
            with disk_full_errors():
                return await self._store_photo(case_id, name, data)
        finally:
            self._coming -= 1

    async def _store_photo(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> PhotoRow:
        number = await self._store.next_photo(case_id)
        part = self._folders.part(case_id)
        await asyncio.to_thread(self._folders.make_case, case_id)
        pictures = {px: self._folders.picture(case_id, number, px) for px in (THUMB_PX, VIEW_PX)}
        path = self._folders.photo(case_id, number)
        try:
            await self.receive(data, part, self._limits.photo.max_bytes)
            order = {"path": str(part), "limits": asdict(self._limits.photo), "pictures": _list_picture_sizes(pictures)}
            found, _ = await self._opener.work("open_photo", order)
            # Others may have come in meanwhile.
            before = sum(photo.width * photo.height for photo in (await self._store.case(case_id)).photos)
            check_case_pixels(before + found["width"] * found["height"], self._limits.photo)
            await asyncio.to_thread(part.replace, path)
            return await self._store.add_photo(
                case_id, number, file_name(name), found, most=self._limits.photos_per_case
            )
        except BaseException:
            for left in (part, path, *pictures.values()):
                left.unlink(missing_ok=True)
            if not await asyncio.shield(self._there(case_id)):
                await asyncio.to_thread(self._folders.remove_case, case_id)
            raise

    async def _there(self, case_id: str) -> bool:
        with suppress(NotThere):
            await self._store.case(case_id)
            return True
        return False

    async def receive(self, data: AsyncIterator[bytes], path: Path, most: int, what: str = "photo") -> None:
        """Write what comes in to a file, ``most`` bytes of it.

        Raises:
            TooLarge: there is more.
            BadInput: there is nothing, or it can't be written.
        """
        received = 0
        stream = await asyncio.to_thread(path.open, "wb")
        try:
            async for piece in data:
                received += len(piece)
                if received > most:
                    raise TooLarge(f"the {what} is larger than the {most / 1024**2:g} MiB allowed; give a smaller copy")
                await asyncio.to_thread(_write_piece, stream, piece)
            await asyncio.to_thread(_settle, stream)
        finally:
            stream.close()
        if not received:
            raise BadInput(f"the {what} is empty; give a {what}")

    async def delete(self, case_id: str, number: int) -> None:
        """See `CaseService.delete_photo`."""
        await self._photo(case_id, number)
        case = await self._store.case(case_id)
        if any(number in run.photos for run in case.runs):
            raise WrongState("a run has looked at this photo; delete its runs first, or the whole case")
        await self._store.delete_photo(case_id, number)
        await asyncio.to_thread(self._folders.remove_photo, case_id, number)

    async def jpeg(self, case_id: str, number: int, *, most_px: int) -> bytes:
        """See `CaseService.photo_jpeg`."""
        await self._photo(case_id, number)
        path = self._folders.picture(case_id, number, most_px)
        if not await asyncio.to_thread(path.is_file):
            source = str(self._folders.photo(case_id, number))
            order = {
                "path": source,
                "limits": asdict(self._limits.photo),
                "pictures": _list_picture_sizes({most_px: path}),
            }
            await self._opener.work("open_photo", order)
        return await asyncio.to_thread(path.read_bytes)

    async def _photo(self, case_id: str, number: int) -> PhotoRow:
        case = await self._store.case(case_id)
        found = next((photo for photo in case.photos if photo.number == number), None)
        if found is None:
            raise NotThere(f"this case has no photo {number}")
        return found


def _list_picture_sizes(pictures: Mapping[int, Path]) -> list[tuple[int, str]]:
    return [(most_px, str(path)) for most_px, path in pictures.items()]


def _write_piece(stream: BinaryIO, piece: bytes) -> None:
    try:
        stream.write(piece)
    except OSError as error:
        raise BadInput(f"the photo can't be kept: {error.strerror or error}") from error


def _settle(stream: BinaryIO) -> None:
    try:
        stream.flush()
        os.fsync(stream.fileno())
    except OSError as error:
        raise BadInput(f"the photo can't be kept: {error.strerror or error}") from error
