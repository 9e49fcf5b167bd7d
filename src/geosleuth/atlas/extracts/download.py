"""Download one large file: ask for its size, resume after an interruption, verify its checksum.

A partial download lies in the cache folder with a JSON sidecar (``NAME.json``) that identifies the remote file, so that
it is resumed only if the server still has the same file. The process that downloads holds a lock on the file. A
download is deleted after its import, if its checksum is wrong, if the disk is full, or a week after it was started.
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
from geosleuth.atlas.online.http import OnlineClient, ServiceRequest
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.files import lock_file, write_text_atomically
from geosleuth.support.limits import TryLater, after_tries
from geosleuth.support.net import parse_host
from geosleuth.support.text.numbers import size

Progress = Callable[[int, int], None]
"""Called with the number of bytes downloaded so far and in total."""

# Twice the size of the whole planet; a server that announces more is broken or malicious.
MAX_BYTES: Final = 200 * 10**9

_UNCOMPRESSED: Final = (("accept-encoding", "identity"),)
_MAX_WAIT_S: Final = 60.0
_ABANDONED_AFTER_S: Final = 7 * 86_400.0
_MD5: Final = re.compile(r"([0-9a-fA-F]{32})(?:\s|\Z)")
_DATE_IN_NAME: Final = re.compile(r"-(\d\d)(\d\d)(\d\d)\.osm\.pbf\Z")
_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15}|\*)")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Offer:
    """A file as its server describes it.

    Attributes:
        url: its address after redirects.
        size_bytes: its size.
        validator: its strong ETag or modification date, which identifies this version of the file; empty if unknown.
        day: the date (YYYY-MM-DD) of its data, or else of the file; None if unknown.
        md5: its checksum as published by the server; None if none was requested.
    """

    url: str
    size_bytes: int
    validator: str
    day: str | None
    md5: str | None

    @property
    def host(self) -> str:
        """The host name of the server."""
        return parse_host(self.url)


def downloads_dir() -> Path:
    """Return the folder of files that are not imported yet."""
    return cache_dir() / "downloads"


async def ask_offer(client: OnlineClient, url: str, *, checked: bool = True) -> Offer:
    """Return a file's size, date and checksum (from the ``.md5`` file beside it) without downloading it.

    Args:
        client: sends the requests.
        url: the address of the file.
        checked: whether to require a checksum.

    Raises:
        BadInput: the user has not allowed the host.
        ServiceFault: the server has no such file, does not say how large it is, or has no checksum for it.
    """

    async def send_head() -> tuple[str, httpx.Headers]:
        async with client.stream(
            ServiceRequest(url=url, method="HEAD", headers=_UNCOMPRESSED, absent=(404,))
        ) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                raise missing_file_fault(url)
            return str(response.request.url), response.headers

    final_url, headers = await _with_retries(client, send_head)
    host, length = parse_host(final_url), headers.get("content-length", "")
    if not length.isdecimal() or int(length[:20]) == 0:
        raise ServiceFault(host, f"does not say how large {_file_name(final_url)} is")
    if int(length[:20]) > MAX_BYTES:
        raise ServiceFault(host, f"says that {_file_name(final_url)} has {size(int(length[:20]))}, more than any map")
    etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
    return Offer(
        url=final_url,
        size_bytes=int(length),
        # A weak ETag does not promise that the bytes are the same.
        validator=(etag if etag and not etag.startswith("W/") else modified)[:200],
        day=_data_day(final_url, modified),
        md5=await _checksum(client, url, final_url) if checked else None,
    )


async def _checksum(client: OnlineClient, url: str, final_url: str) -> str:
    """Return the published MD5 of the file that a redirect leads to, or else of the address before redirects."""
    host, name = parse_host(final_url), _file_name(final_url)
    for address in dict.fromkeys((final_url, url)):
        question = ServiceRequest(url=f"{address}.md5", absent=(404,))
        content = await client.ask(question, lambda body: body[:200].decode("latin-1"))
        if content is not None:
            match = _MD5.match(content.strip())
            if match is None:
                raise ServiceFault(host, f"its checksum file for {name} holds no checksum")
            return match[1].lower()
    raise ServiceFault(host, f"has no checksum (.md5) for {name}, so it could not be verified")


def _data_day(url: str, modified: str) -> str | None:
    """Return the date in a file's name, or else its modification date, as YYYY-MM-DD."""
    date = _DATE_IN_NAME.search(url)
    try:
        if date:
            return datetime(2000 + int(date[1]), int(date[2]), int(date[3]), tzinfo=UTC).date().isoformat()
        return parsedate_to_datetime(modified).date().isoformat()
    except ValueError:
        return None


def _file_name(url: str) -> str:
    return url.rpartition("/")[2][:80]


def missing_file_fault(url: str) -> ServiceFault:
    """Return the fault of a server that has no file at a URL."""
    return ServiceFault(parse_host(url), f"has no {urlsplit(url).path[:120]}")


def check_room(needed: "dict[Path, int]") -> None:
    """Check that there is disk space for the bytes needed in each folder; folders on one disk are added up.

    Raises:
        BadInput: there is not enough space.
    """
    by_disk: dict[int, tuple[Path, int]] = {}
    for folder, bytes_needed in needed.items():
        existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        disk = existing.stat().st_dev
        by_disk[disk] = (existing, by_disk.get(disk, (existing, 0))[1] + bytes_needed)
    for existing, bytes_needed in by_disk.values():
        free_bytes = shutil.disk_usage(existing).free
        if free_bytes < bytes_needed:
            raise BadInput(
                f"this needs {size(bytes_needed)} on the disk of {existing}, which has {size(free_bytes)} free; make "
                "room, or set GEOSLEUTH_HOME to a folder on another disk"
            )


async def download(client: OnlineClient, offer: Offer, path: Path, progress: Progress | None = None) -> None:
    """Download a file to a path, resuming an earlier attempt, and verify its checksum.

    Raises:
        BadInput: it can't be written there, or another process is downloading it.
        ServiceFault: the server failed, and the part that arrived stays for the next attempt; or the checksum is wrong,
            and the file is deleted.
    """
    report = progress or (lambda _done, _total: None)
    try:
        _delete_abandoned(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock_download(path, offer) as handle:
            await _transfer(client, offer, handle, report)
            _verify(offer, path, handle)
    except OSError as error:
        delete_download(path)
        raise BadInput(
            f"{path.parent}: the download can't be kept there: {error.strerror or error}; it needs "
            f"{size(offer.size_bytes)}"
        ) from error


def delete_download(path: Path) -> None:
    """Delete a download and its sidecar."""
    for file in (path, _sidecar(path)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _sidecar(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


@contextmanager
def _lock_download(path: Path, offer: Offer) -> Iterator[int]:
    """Open and lock the download; truncate it unless it is the beginning of the file that is offered."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if lock_file(handle) is False:
            raise BadInput(f"another process is downloading {path.name}; wait for it")
        try:
            started = json.loads(_sidecar(path).read_text("utf-8"))
        except (OSError, ValueError):
            started = None
        # Without a validator, the rest might belong to a newer version of the file.
        if started != asdict(offer) or not offer.validator or os.fstat(handle).st_size > offer.size_bytes:
            os.ftruncate(handle, 0)
            write_text_atomically(_sidecar(path), json.dumps(asdict(offer)))
        yield handle
    finally:
        os.close(handle)


async def _transfer(client: OnlineClient, offer: Offer, handle: int, report: Progress) -> None:
    def present_bytes() -> int:
        return os.fstat(handle).st_size

    async def resume() -> None:
        begin = present_bytes()
        report(begin, offer.size_bytes)
        if begin == offer.size_bytes:
            return
        rest_only = (("range", f"bytes={begin}-"), ("if-range", offer.validator)) if begin else ()
        headers = (*_UNCOMPRESSED, *rest_only)
        question = ServiceRequest(url=offer.url, headers=headers, accepted=(200, 206, 416), absent=(404,))
        async with client.stream(question) as response:
            os.ftruncate(handle, _first_byte(response, offer, begin))
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise ServiceFault(offer.host, "does not have the rest of the file", retryable=True)
            await _receive(client, offer, handle, response, report)
        if present_bytes() < offer.size_bytes:
            raise ServiceFault(offer.host, "its answer was cut short", retryable=True)

    try:
        await _with_retries(client, resume, present_bytes)
    except ServiceFault as fault:
        if not (fault.retryable and present_bytes() and offer.validator):
            raise
        raise ServiceFault(
            fault.host,
            f"{fault.trouble}; {size(present_bytes())} of {size(offer.size_bytes)} are downloaded; run the same "
            "command again to resume",
            retryable=True,
        ) from None


async def _receive(client: OnlineClient, offer: Offer, handle: int, response: httpx.Response, report: Progress) -> None:
    """Append a response to the file; raise `ServiceFault` if it is too long or gains too little for its time."""
    done = kept = os.lseek(handle, 0, os.SEEK_END)
    since, settings = time.monotonic(), client.settings
    async for piece in response.aiter_raw():
        done += len(piece)
        if done > offer.size_bytes:
            os.ftruncate(handle, 0)
            raise ServiceFault(offer.host, f"sends more than the {size(offer.size_bytes)} it announced")
        _write_bytes(handle, piece)
        report(done, offer.size_bytes)
        if done - kept >= settings.slow_bytes:
            kept, since = done, time.monotonic()
        elif done < offer.size_bytes and time.monotonic() - since > settings.slow_s:
            trouble = f"sends less than {size(settings.slow_bytes)} in {settings.slow_s:g} s"
            raise ServiceFault(offer.host, trouble, retryable=True)


def _first_byte(response: httpx.Response, offer: Offer, asked: int) -> int:
    """Return the file position at which a response begins: the one asked for, or 0 if the server starts over."""
    if response.status_code == httpx.codes.NOT_FOUND:
        raise missing_file_fault(offer.url)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise ServiceFault(offer.host, "sends the file in a compression that was not requested")
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        sent = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "").strip())
        if sent is None or int(sent[1]) != asked or sent[2] not in ("*", str(offer.size_bytes)):
            raise ServiceFault(offer.host, "sends another part of the file than was asked for")
        return asked
    length = response.headers.get("content-length", str(offer.size_bytes))
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html":
        raise ServiceFault(offer.host, "answers with a web page instead of the file; try later, or name a --mirror")
    if response.status_code == httpx.codes.OK and length != str(offer.size_bytes):
        raise ServiceFault(offer.host, "has replaced the file meanwhile; run the same command again")
    return 0


def _write_bytes(handle: int, piece: bytes) -> None:
    """Write all bytes; ``os.write`` may write fewer."""
    left = memoryview(piece)
    while left:
        left = left[os.write(handle, left) :]


def _verify(offer: Offer, path: Path, handle: int) -> None:
    """Compare the checksum; delete the download if it differs."""
    if offer.md5 is None:
        return
    # MD5 detects transfer errors only: a malicious server would send a matching checksum.
    digest = md5(usedforsecurity=False)
    os.lseek(handle, 0, os.SEEK_SET)
    while block := os.read(handle, 1 << 20):
        digest.update(block)
    if digest.hexdigest() != offer.md5:
        delete_download(path)
        raise ServiceFault(
            offer.host,
            f"the checksum of {_file_name(offer.url)} is wrong, so the download was deleted; try again later",
        )


async def _with_retries(
    client: OnlineClient, attempt: Callable[[], Awaitable[_T]], present_bytes: Callable[[], int] = lambda: 0
) -> _T:
    """Repeat an attempt after retryable faults; the count of failures restarts when an attempt gained enough."""
    failures, bytes_before = 0, present_bytes()
    while True:
        try:
            return await attempt()
        except ServiceFault as fault:
            gained, bytes_before = present_bytes() - bytes_before, present_bytes()
            failures = failures + 1 if gained < client.settings.slow_bytes else 1
            wait_s = max(client.backoff_s(failures), fault.wait_s if isinstance(fault, TryLater) else 0.0)
            if not fault.retryable:
                raise
            if failures >= client.settings.tries or wait_s > _MAX_WAIT_S:
                raise after_tries(fault, failures) from None
        await asyncio.sleep(wait_s)


def _delete_abandoned(folder: Path) -> None:
    """Delete downloads that were started over a week ago."""
    for sidecar in folder.glob("*.json"):
        with suppress(OSError):
            if time.time() - sidecar.stat().st_mtime > _ABANDONED_AFTER_S:
                delete_download(sidecar.with_name(sidecar.name.removesuffix(".json")))
