"""Photos that come in: streamed to the disk, opened by a process that may break, and shown without what files say."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from geosleuth.errors import BadInput
from geosleuth.photo import check_case_pixels

from .disk import full_disk_told
from .folders import Folders
from .model import NotThere, PhotoRow, ServiceLimits, TooLarge, TooMany, WrongState
from .processes import WorkerPool
from .store import Store
from .texts import file_name

THUMB_PX, VIEW_PX = 320, 2048
"""The longest sides of the pictures that are made as soon as a photo comes in."""


class Intake:
    """Takes photos in, shows them, and deletes them."""

    def __init__(self, store: Store, folders: Folders, limits: ServiceLimits) -> None:
        self._store, self._folders, self._limits = store, folders, limits
        self._coming = 0
        self._opener = WorkerPool("opens", 1, seconds=limits.opening_s, memory_bytes=limits.opening_bytes)

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
            with full_disk_told():
                return await self._take_in(case_id, name, data)
        finally:
            self._coming -= 1

    async def _take_in(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> PhotoRow:
        number = await self._store.next_photo(case_id)
        part = self._folders.part(case_id)
        await asyncio.to_thread(self._folders.make_case, case_id)
        pictures = {px: self._folders.picture(case_id, number, px) for px in (THUMB_PX, VIEW_PX)}
        path = self._folders.photo(case_id, number)
        try:
            await self._receive(data, part)
            order = {"path": str(part), "limits": asdict(self._limits.photo), "pictures": _paired(pictures)}
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

    async def _receive(self, data: AsyncIterator[bytes], path: Path) -> None:
        received, most = 0, self._limits.photo.max_bytes
        stream = await asyncio.to_thread(path.open, "wb")
        try:
            async for piece in data:
                received += len(piece)
                if received > most:
                    raise TooLarge(f"the photo is larger than the {most / 1024**2:g} MiB allowed; give a smaller copy")
                await asyncio.to_thread(_write, stream, piece)
            await asyncio.to_thread(_settle, stream)
        finally:
            stream.close()
        if not received:
            raise BadInput("the photo is empty; give a photo")

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
            order = {"path": source, "limits": asdict(self._limits.photo), "pictures": _paired({most_px: path})}
            await self._opener.work("open_photo", order)
        return await asyncio.to_thread(path.read_bytes)

    async def _photo(self, case_id: str, number: int) -> PhotoRow:
        case = await self._store.case(case_id)
        found = next((one for one in case.photos if one.number == number), None)
        if found is None:
            raise NotThere(f"this case has no photo {number}")
        return found


def _paired(pictures: Mapping[int, Path]) -> list[tuple[int, str]]:
    return [(most_px, str(path)) for most_px, path in pictures.items()]


def _write(stream: BinaryIO, piece: bytes) -> None:
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
