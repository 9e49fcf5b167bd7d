"""One file from a server to this disk: asked for its size first, resumed where it broke off, checked when it is whole.

A download lies in the cache folder under its own name, with a note beside it (``.json``) of the file that it is a part
of. Whoever works on it holds its lock. It is deleted once it was imported, where its checksum is wrong, where the disk
is full, and when nobody came back for it within a week.
"""

import asyncio
import json
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import md5
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx

from geosleuth.atlas.folders import cache_dir
from geosleuth.atlas.online.http import Busy, OnlineClient, Question, after_tries
from geosleuth.errors import BadInput, ServiceFault
from geosleuth.files import lock_file, write_text_atomically
from geosleuth.net import host_of
from geosleuth.text.numbers import size

Progress = Callable[[int, int], None]
"""Called with the bytes that are there, and with how many there will be."""

MOST_BYTES: Final = 200 * 10**9
"""Twice the whole planet: whoever offers more is mistaken, or means harm."""

_UNPACKED: Final = (("accept-encoding", "identity"),)
_LONGEST_WAIT_S: Final = 60.0
_ABANDONED_AFTER_S: Final = 7 * 86_400.0
_MD5: Final = re.compile(r"([0-9a-fA-F]{32})(?:\s|\Z)")
_DATED: Final = re.compile(r"-(\d\d)(\d\d)(\d\d)\.osm\.pbf\Z")
_RANGE: Final = re.compile(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15}|\*)")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Offer:
    """A file as its server describes it.

    ``url`` is where it lies after redirects; ``validator`` the ETag or the date that tells this file from a later one
    of the same address; ``day`` (YYYY-MM-DD) of its data, or of the file where that is not said; ``md5`` what the
    server says it must come to, or None where it publishes no checksums.
    """

    url: str
    size_bytes: int
    validator: str
    day: str | None
    md5: str | None

    @property
    def host(self) -> str:
        """Who sends it."""
        return host_of(self.url)


def downloads_dir() -> Path:
    """Where files lie until they are imported."""
    return cache_dir() / "downloads"


async def ask_offer(client: OnlineClient, url: str, *, checked: bool = True) -> Offer:
    """Ask how large a file is, of which day, and what its checksum is (the file ``.md5`` beside it).

    Args:
        client: through which all is asked.
        url: where the file lies.
        checked: whether a checksum must be there.

    Raises:
        BadInput: the user has not allowed the host.
        ServiceFault: the server has no such file, does not say how large it is, or has no checksum for it.
    """

    async def ask() -> tuple[str, httpx.Headers]:
        async with client.stream(Question(url=url, method="HEAD", headers=_UNPACKED, absent=(404,))) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                raise has_no(url)
            return str(response.request.url), response.headers

    final, headers = await _tried(client, ask)
    host, length = host_of(final), headers.get("content-length", "")
    if not length.isdecimal() or int(length[:20]) == 0:
        raise ServiceFault(host, f"does not say how large {_file(final)} is")
    if int(length[:20]) > MOST_BYTES:
        raise ServiceFault(host, f"says that {_file(final)} has {size(int(length[:20]))}, more than any map")
    etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
    return Offer(
        url=final,
        size_bytes=int(length),
        # A weak ETag does not promise that the bytes are the same.
        validator=(etag if etag and not etag.startswith("W/") else modified)[:200],
        day=_day(final, modified),
        md5=await _checksum(client, url, final) if checked else None,
    )


async def _checksum(client: OnlineClient, url: str, final: str) -> str:
    """Of the very file that a redirect leads to; where that has none of its own, of the address that was asked."""
    for address in dict.fromkeys((final, url)):
        question = Question(url=f"{address}.md5", absent=(404,))
        told = await client.ask(question, lambda body: body[:200].decode("latin-1"))
        if told is not None:
            match = _MD5.match(told.strip())
            if match is None:
                raise ServiceFault(host_of(final), f"its checksum file for {_file(final)} holds no checksum")
            return match[1].lower()
    raise ServiceFault(host_of(final), f"has no checksum (.md5) for {_file(final)}, so it could not be verified")


def _day(url: str, modified: str) -> str | None:
    dated = _DATED.search(url)
    try:
        if dated:
            return datetime(2000 + int(dated[1]), int(dated[2]), int(dated[3]), tzinfo=UTC).date().isoformat()
        return parsedate_to_datetime(modified).date().isoformat()
    except ValueError:
        return None


def _file(url: str) -> str:
    return url.rpartition("/")[2][:80]


def has_no(url: str) -> ServiceFault:
    """The fault of a server that has nothing at an address."""
    return ServiceFault(host_of(url), f"has no {urlsplit(url).path[:120]}")


def check_room(needed: "dict[Path, int]") -> None:
    """Refuse what the disks have no room for; folders on one disk are counted together.

    Raises:
        BadInput: there is not enough room.
    """
    by_disk: dict[int, tuple[Path, int]] = {}
    for folder, bytes_needed in needed.items():
        there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
        disk = there.stat().st_dev
        by_disk[disk] = (there, by_disk.get(disk, (there, 0))[1] + bytes_needed)
    for there, bytes_needed in by_disk.values():
        free = shutil.disk_usage(there).free
        if free < bytes_needed:
            raise BadInput(
                f"this needs {size(bytes_needed)} on the disk of {there}, which has {size(free)} free; make room, "
                "or set GEOSLEUTH_HOME to a folder on another disk"
            )


async def download(client: OnlineClient, offer: Offer, path: Path, progress: Progress | None = None) -> None:
    """Bring a file to a path, on from what an earlier try left there, and check it.

    Raises:
        BadInput: it can't be written there, or another process is at it.
        ServiceFault: the server failed, or its file is not what its checksum says. What came before it failed stays
            for another try; what is wrong does not.
    """
    report = progress or (lambda _done, _total: None)
    try:
        _sweep(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _held(path, offer) as handle:
            await _fill(client, offer, handle, report)
            _verify(offer, path, handle)
    except OSError as error:
        dropped(path)
        raise BadInput(
            f"{path.parent}: the download can't be kept there: {error.strerror or error}; it needs "
            f"{size(offer.size_bytes)}"
        ) from error


def dropped(path: Path) -> None:
    """Delete a download and the note beside it."""
    for one in (path, _note(path)):
        with suppress(OSError):
            one.unlink(missing_ok=True)


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


@contextmanager
def _held(path: Path, offer: Offer) -> Iterator[int]:
    """The file, open and locked; empty unless it is the beginning of the very file that is offered."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if lock_file(handle) is False:
            raise BadInput(f"another process is downloading {path.name}; wait for it")
        try:
            known = json.loads(_note(path).read_text("utf-8"))
        except (OSError, ValueError):
            known = None
        # Without a validator nobody can tell whether the rest is of the same file.
        if known != asdict(offer) or not offer.validator or os.fstat(handle).st_size > offer.size_bytes:
            os.ftruncate(handle, 0)
            write_text_atomically(_note(path), json.dumps(asdict(offer)))
        yield handle
    finally:
        os.close(handle)


async def _fill(client: OnlineClient, offer: Offer, handle: int, report: Progress) -> None:
    def there() -> int:
        return os.fstat(handle).st_size

    async def go_on() -> None:
        begin = there()
        report(begin, offer.size_bytes)
        if begin == offer.size_bytes:
            return
        headers = (*_UNPACKED, ("range", f"bytes={begin}-"), ("if-range", offer.validator)) if begin else _UNPACKED
        question = Question(url=offer.url, headers=headers, accepted=(200, 206, 416), absent=(404,))
        async with client.stream(question) as response:
            done = _begun_at(response, offer, begin)
            os.ftruncate(handle, done)
            os.lseek(handle, done, os.SEEK_SET)
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise ServiceFault(offer.host, "does not have the rest of the file", retryable=True)
            async for piece in response.aiter_raw():
                done += len(piece)
                if done > offer.size_bytes:
                    os.ftruncate(handle, 0)
                    raise ServiceFault(offer.host, f"sends more than the {size(offer.size_bytes)} it spoke of")
                _write(handle, piece)
                report(done, offer.size_bytes)
        if there() < offer.size_bytes:
            raise ServiceFault(offer.host, "its answer was cut short", retryable=True)

    try:
        await _tried(client, go_on, there)
    except ServiceFault as fault:
        if not (fault.retryable and there() and offer.validator):
            raise
        raise ServiceFault(
            fault.host,
            f"{fault.trouble}; {size(there())} of {size(offer.size_bytes)} are there, and the same command goes on "
            "from them",
            retryable=True,
        ) from None


def _begun_at(response: httpx.Response, offer: Offer, asked: int) -> int:
    """The byte that an answer begins at: the one asked for, or the first where the server starts anew."""
    if response.status_code == httpx.codes.NOT_FOUND:
        raise has_no(offer.url)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise ServiceFault(offer.host, "sends the file packed in a way that was not asked for")
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        told = _RANGE.fullmatch(response.headers.get("content-range", "").strip())
        if told is None or int(told[1]) != asked or told[2] not in ("*", str(offer.size_bytes)):
            raise ServiceFault(offer.host, "sends another part of the file than was asked for")
        return asked
    length = response.headers.get("content-length", str(offer.size_bytes))
    if response.status_code == httpx.codes.OK and length != str(offer.size_bytes):
        raise ServiceFault(offer.host, "has another file there by now; run the same command again")
    return 0


def _write(handle: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(handle, left) :]


def _verify(offer: Offer, path: Path, handle: int) -> None:
    if offer.md5 is None:
        return
    digest = md5(usedforsecurity=False)  # against damage on the way: the server that sends the file sends this, too
    os.lseek(handle, 0, os.SEEK_SET)
    while block := os.read(handle, 1 << 20):
        digest.update(block)
    if digest.hexdigest() != offer.md5:
        dropped(path)
        raise ServiceFault(
            offer.host, f"the checksum of {_file(offer.url)} is wrong, so what came was deleted; try again later"
        )


async def _tried(client: OnlineClient, once: Callable[[], Awaitable[_T]], there: Callable[[], int] = lambda: 0) -> _T:
    """What comes of something that may be tried again; tries are counted anew whenever more is there than before."""
    failures, before = 0, there()
    while True:
        try:
            return await once()
        except ServiceFault as fault:
            failures = failures + 1 if there() <= before else 1
            before = there()
            wait_s = max(client.backoff_s(failures), fault.wait_s if isinstance(fault, Busy) else 0.0)
            if not fault.retryable:
                raise
            if failures >= client.settings.tries or wait_s > _LONGEST_WAIT_S:
                raise after_tries(fault, failures) from None
        await asyncio.sleep(wait_s)


def _sweep(folder: Path) -> None:
    """Delete downloads that nobody came back for; one under way is younger, and locked."""
    for note in folder.glob("*.json"):
        with suppress(OSError):
            if time.time() - note.stat().st_mtime > _ABANDONED_AFTER_S:
                dropped(note.with_name(note.name.removesuffix(".json")))
