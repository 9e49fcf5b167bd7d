"""The folder of a run: its files, its lock, and lines that are on disk before they count.

RUN/manifest.json                      the run's settings, and which services failed
RUN/journal.jsonl                      a line for every try that ended; append-only
RUN/trajectories/ab/abcd….1.jsonl      the trajectory of each try, with its other files
RUN/results.jsonl, errors.jsonl, summary.json      made from these whenever a run stops
RUN/lock                               held by the process that works on it
"""

import asyncio
import json
import os
import socket
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from geosleuth.agent.codec import from_line
from geosleuth.support.errors import BadInput
from geosleuth.support.files import lock_file, read_json, write_bytes_atomically, write_text_atomically
from geosleuth.support.text.numbers import plural

from .journal import (
    Index,
    Known,
    Scanned,
    TryRecord,
    compute_photo_name,
    file_name,
    header_line,
    read_file_name,
    read_line,
    read_tries,
    record_from_line,
    record_to_line,
    scan,
)
from .manifest import Manifest, check_same, manifest_from_dict, manifest_to_dict

_SYNCED_AT_ONCE = 8
AGAIN = "fix that, then run the same command again: nothing that was finished is lost"

MANIFEST, JOURNAL, TRAJECTORIES, LOCK = "manifest.json", "journal.jsonl", "trajectories", "lock"
RESULTS, ERRORS, SUMMARY = "results.jsonl", "errors.jsonl", "summary.json"
_SHARD = 2
_LOCKED_BYTE = 1 << 20
Say = Callable[[str], None]


class LineWriter:
    """Appends records to a journal: those that come while the disk is busy share the next write and sync.

    ``before`` makes safe what must be on disk before the lines, in a thread; ``after`` receives every record that
    counts now with its offset. After a failure the file is as before, and every other record is refused with the same
    message.
    """

    def __init__(
        self,
        path: Path,
        end: int,
        *,
        before: Callable[[Sequence[TryRecord]], None],
        after: Callable[[TryRecord, int], None],
    ) -> None:
        """Open the file to append at ``end``; anything after it is cut off.

        Raises:
            BadInput: it can't be written.
        """
        self.path = path
        self._before, self._after = before, after
        self._waiting: list[tuple[TryRecord, asyncio.Future[None]]] = []
        self._working: asyncio.Task[None] | None = None
        self._broken: Exception | None = None
        try:
            self._file = path.open("r+b", buffering=0)
            self._file.truncate(end)
            self._file.seek(end)
        except OSError as error:
            raise self._trouble(error) from error

    async def add(self, record: TryRecord) -> None:
        """Append a record; it is safe on disk when this returns, even if the caller is cancelled while waiting.

        Raises:
            BadInput: it can't be written, for example because the disk is full.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((record, done))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._write_waiting())
        await asyncio.shield(done)

    async def flush(self) -> None:
        """Wait for all records that were added before."""
        if self._working is not None:
            await asyncio.wait([self._working])

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        self._file.close()

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            lines = [record_to_line(record) for record, _ in batch]
            offset = self._file.tell()
            if self._broken is None:
                await asyncio.to_thread(self._commit, [record for record, _ in batch], lines)
            for (record, done), line in zip(batch, lines, strict=True):
                try:
                    if self._broken is not None:
                        raise self._broken
                    self._after(record, offset)
                    done.set_result(None)
                except Exception as error:  # noqa: BLE001  (raised in the caller that waits for the line)
                    done.set_exception(error)
                offset += len(line)

    def _commit(self, records: Sequence[TryRecord], lines: Sequence[bytes]) -> None:
        end = self._file.tell()
        try:
            self._before(records)
            left = memoryview(b"".join(lines))
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except Exception as error:  # noqa: BLE001  (raised in the caller that waits for the line)
            self._broken = self._trouble(error) if isinstance(error, OSError) else error
            with suppress(OSError):
                self._file.truncate(end)

    def _trouble(self, error: OSError) -> BadInput:
        return BadInput(f"{self.path}: can't be written: {error.strerror or error}; {AGAIN}")


def sync_file(path: Path) -> None:
    """Wait until a file's content, or a folder's entries, are on disk.

    Raises:
        OSError: they are not.
    """
    if os.name == "nt" and path.is_dir():
        return  # such folders can't be opened, and sync themselves
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _no_messages(_words: str) -> None:
    """Ignore messages."""


class RunFolder:
    """A run on disk, to work on (`begin`) or to read (`read`). It is a context manager that closes it.

    Attributes:
        path: the folder.
        manifest: the run's settings.
        index: what is known of every photo, and the total cost of all tries.
        results: the file of answers, one record each, in the data set's order.
        errors: the file of photos whose newest try failed.
        summary: the file with the run's figures.
    """

    def __init__(self, path: Path, manifest: Manifest, scanned: Scanned, lock: int | None) -> None:
        """Use `begin` or `read` to create one."""
        self.path, self.manifest = path, manifest
        self.results, self.errors, self.summary = (path / name for name in (RESULTS, ERRORS, SUMMARY))
        self.index: Index = scanned.index
        self._lock = lock
        self._made: set[str] = set()
        self._listed: dict[str, list[str]] = {}
        self._reading: BinaryIO | None = None
        self._one_reads = threading.Lock()
        self._writer: LineWriter | None = None

    @classmethod
    def begin(cls, path: Path, manifest: Manifest, say: Say = _no_messages) -> "RunFolder":
        """Create the folder of a new run, or continue the run that is there, and lock it until it is closed.

        ``manifest`` is what is wanted now; an existing run keeps its own, with its id and its key. ``say`` receives
        messages about repairs.

        Raises:
            BadInput: it can't be written; another process works on it; it is a run with other settings or data; it is
                something else; or it is damaged.
        """
        _make(path)
        lock = _take_lock(path, say)
        try:
            _tidy(path)
            stored = _begin_manifest(path, manifest)
            scanned = _begin_journal(path, stored, say)
            _make(path / TRAJECTORIES)
            _sync(path)
            folder = cls(path, stored, scanned, lock)
            folder._writer = LineWriter(path / JOURNAL, scanned.end, before=folder._make_safe, after=folder.index.add)
        except BaseException:
            os.close(lock)
            raise
        return folder

    @classmethod
    def read(cls, path: Path) -> "RunFolder":
        """Open a run for reading, finished or not; nothing is changed, and a process that works on it is not disturbed.

        Raises:
            BadInput: it is not a run, or is damaged.
        """
        if not (path / MANIFEST).is_file():
            raise BadInput(f"{path}: not a run; give the folder in which the run was begun")
        manifest = read_manifest(path)
        scanned = scan(path / JOURNAL)
        _check_journal(path, manifest, scanned)
        return cls(path, manifest, scanned, None)

    def close(self) -> None:
        """Write what is pending and release the folder; closing twice is harmless."""
        if self._writer is not None:
            self._writer.close()
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def keep_services(self) -> None:
        """Write into the manifest how often services were asked and failed so far.

        Raises:
            BadInput: it can't be written.
        """
        manifest = replace(self.manifest, services=self.index.spent.services)
        if manifest != self.manifest:
            _write_manifest(self.path, manifest)
            self.manifest = manifest

    def build_name(self, id: str) -> str:  # noqa: A002  (the data set's own word)
        """Return a photo's name in this run."""
        return compute_photo_name(self.manifest.name_key, id)

    def trajectory(self, name: str, number: int) -> Path:
        """Return the path of a try's trajectory, existing or not."""
        return self.path / TRAJECTORIES / name[:_SHARD] / file_name(name, number)

    def place(self, name: str, number: int) -> Path:
        """Return the path after creating its folder.

        Raises:
            BadInput: it can't be created.
        """
        path = self.trajectory(name, number)
        if name[:_SHARD] not in self._made:
            _make(path.parent)
            self._made.add(name[:_SHARD])
        return path

    def list_files(self, name: str, number: int) -> list[Path]:
        """Return every file of a try: its trajectory first, then those beside it, such as a team's."""
        trajectory = self.trajectory(name, number)
        if self._lock is not None:
            return list_try_files(trajectory)
        # All files of a try that a reader knows of existed when the journal was read: one listing of a shard is enough.
        shard = name[:_SHARD]
        if shard not in self._listed:
            self._listed[shard] = sorted(_list_entries(trajectory.parent))
        return _files_among(self._listed[shard], trajectory)

    def find_known(self, id: str) -> Known | None:  # noqa: A002
        """Return what is known of a photo; None if the run has not worked on it."""
        return self.index.find_known(self.build_name(id))

    def newest(self, id: str) -> TryRecord | None:  # noqa: A002
        """Return the try that counts for a photo: the newest that was not cut off, or else the newest; None if none."""
        known = self.find_known(id)
        return None if known is None else self.read_try(known)

    def read_try(self, known: Known) -> TryRecord:
        """Return the try that counts for a known photo."""
        return record_from_line(self._read_journal_line(known))

    def read_plain_try(self, known: Known) -> dict[str, Any]:
        """Return its line of the journal; it was checked when the run was opened."""
        return from_line(self._read_journal_line(known))

    def _read_journal_line(self, known: Known) -> bytes:
        with self._one_reads:
            if self._reading is None:
                self._reading = _open_journal(self.path / JOURNAL)
            return read_line(self._reading, known.offset)

    def tries(self) -> Iterator[TryRecord]:
        """Yield every try in the order they ended."""
        return read_tries(self.path / JOURNAL)

    def strays(self) -> dict[str, list[int]]:
        """Return tries that were cut off before the journal knew of them: their numbers, by the photo's name."""
        found: dict[str, set[int]] = {}
        for shard in _list_entries(self.path / TRAJECTORIES):
            for file in _list_entries(self.path / TRAJECTORIES / shard):
                if (read := read_file_name(file)) is None:
                    continue
                known = self.index.find_known(read[0])
                if known is None or read[1] > known.tries:
                    found.setdefault(read[0], set()).add(read[1])
        return {name: sorted(numbers) for name, numbers in found.items()}

    async def record(self, record: TryRecord) -> None:
        """Record a try that ended; its files and its line are on disk when this returns.

        Raises:
            BadInput: they can't be written.
        """
        await self._writing.add(record)

    async def flush(self) -> None:
        """Wait for all tries that were recorded before."""
        await self._writing.flush()

    @property
    def _writing(self) -> LineWriter:
        if self._writer is None:
            raise ValueError("this run was opened for reading")
        return self._writer

    def _make_safe(self, records: Sequence[TryRecord]) -> None:
        by_shard: dict[Path, list[Path]] = {}
        for record in records:
            trajectory = self.trajectory(record.image, record.number)
            by_shard.setdefault(trajectory.parent, []).append(trajectory)
        files: list[Path] = []
        for shard, trajectories in by_shard.items():
            beginnings = tuple(f"{trajectory.stem}." for trajectory in trajectories)
            names = sorted(name for name in _list_entries(shard) if name.startswith(beginnings))
            files += [file for trajectory in trajectories for file in _files_among(names, trajectory)]
        shards = {file.parent for file in files}
        with ThreadPoolExecutor(_SYNCED_AT_ONCE, thread_name_prefix="sync") as threads:
            list(threads.map(sync_file, [*files, *shards, *([self.path / TRAJECTORIES] if shards else ())]))


def list_try_files(trajectory: Path) -> list[Path]:
    """Return every file of the try with this trajectory, that one first."""
    beginning = f"{trajectory.stem}."
    return _files_among(
        sorted(name for name in _list_entries(trajectory.parent) if name.startswith(beginning)), trajectory
    )


def _files_among(names: Sequence[str], trajectory: Path) -> list[Path]:
    """Return the files of a try from the sorted names of all files in its folder."""
    beginning = f"{trajectory.stem}."
    own = takewhile(lambda name: name.startswith(beginning), islice(names, bisect_left(names, beginning), None))
    return sorted((trajectory.with_name(name) for name in own), key=lambda path: path != trajectory)


def read_manifest(path: Path) -> Manifest:
    """Read the manifest of the run in a folder.

    Raises:
        BadInput: it can't be read.
    """
    file = path / MANIFEST
    try:
        return manifest_from_dict(read_json(file))
    except OSError as error:
        raise BadInput(f"{file}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{file}: not JSON; restore it from a copy, or choose another folder") from error
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from error


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be created: {error.strerror or error}") from error


def _open_journal(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _list_entries(path: Path) -> list[str]:
    try:
        return os.listdir(path)  # noqa: PTH208  (names alone, and many)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _take_lock(path: Path, say: Say) -> int:
    """Return an open file that holds the lock until it is closed or the process ends."""
    file = path / LOCK
    try:
        # A folder from elsewhere may contain links, and the lock file is written to.
        lock = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
    try:
        locked = lock_file(lock)
        if locked is None:
            locked = _lock_windows_file(lock)
        if locked is None:
            say(f"{path}: this system can't lock files; make sure that no other process works on this run")
        elif not locked:
            raise BadInput(f"{path}: {_holder(lock)} works on this run; wait for it, or stop it")
        owner = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
        os.ftruncate(lock, 0)
        os.write(lock, owner)
    except OSError as error:
        os.close(lock)
        raise BadInput(f"{file}: can't be written: {error.strerror or error}") from error
    except BaseException:
        os.close(lock)
        raise
    return lock


def _lock_windows_file(lock: int) -> bool | None:
    try:
        msvcrt: Any = import_module("msvcrt")
    except ImportError:
        return None
    # No other process can read a locked byte there, so it lies far behind the text that says who works on the run.
    os.lseek(lock, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(lock, 0, os.SEEK_SET)
    return True


def _holder(lock: int) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError):
        owner = json.loads(os.read(lock, 1000))
        return f"another process ({int(owner['pid'])} on {str(owner['host'])[:60]})"
    return "another process"


def _tidy(path: Path) -> None:
    beginnings = tuple(f".{name}." for name in (MANIFEST, JOURNAL, RESULTS, ERRORS, SUMMARY))
    for name in _list_entries(path):
        if name.startswith(beginnings) and name.endswith(".part"):
            with suppress(OSError):
                (path / name).unlink()


def _begin_manifest(path: Path, wanted: Manifest) -> Manifest:
    if (path / MANIFEST).exists():
        stored = read_manifest(path)
        try:
            check_same(stored, wanted)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from error
        return stored
    if other := sorted(name for name in _list_entries(path) if name != LOCK):
        raise BadInput(f"{path}: holds {other[0][:60]!r} and is not a run; choose a new or an empty folder")
    _write_manifest(path, wanted)
    # Round-trip through JSON, so that a setting that JSON can't hold is noticed now.
    return read_manifest(path)


def _write_manifest(path: Path, manifest: Manifest) -> None:
    text = json.dumps(manifest_to_dict(manifest), indent=1, ensure_ascii=False, default=str)
    write_text_atomically(path / MANIFEST, f"{text}\n")
    _sync(path)


def _begin_journal(path: Path, manifest: Manifest, say: Say) -> Scanned:
    file = path / JOURNAL
    if not file.exists():
        if (path / TRAJECTORIES).exists():
            raise BadInput(f"{file}: is missing; restore it from a copy, or choose another folder")
        write_bytes_atomically(file, header_line(manifest.id))
        _sync(path)
    scanned = scan(file)
    _check_journal(path, manifest, scanned)
    if scanned.torn:
        lost = file.stat().st_size - scanned.end
        say(f"{file}: the last line was incomplete; {plural(lost, 'byte was', 'bytes were')} cut off")
    return scanned


def _check_journal(path: Path, manifest: Manifest, scanned: Scanned) -> None:
    if scanned.run != manifest.id:
        raise BadInput(f"{path / JOURNAL}: belongs to another run than {MANIFEST}; restore the right one")


def _sync(folder: Path) -> None:
    try:
        sync_file(folder)
    except OSError as error:
        raise BadInput(f"{folder}: can't be written: {error.strerror or error}") from error
