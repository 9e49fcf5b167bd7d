"""The store of trajectories: an append-only folder with a manifest, read and written here.

STORE/manifest.json              what it is, and its shards, each with rows and checksum
STORE/shards/00000.parquet       samples, one a row
STORE/images/ab/abcd….jpg        their pictures, named by the checksum of their content and so stored once
STORE/pending/00001.jsonl        samples that wait for the next shard; they count
STORE/rejected.jsonl             rejected trajectories, one a line
STORE/card.md                    the card for people; written when a writer closes
STORE/lock                       held by the process that writes

A sample survives a killed process once `StoreWriter.add` returns, and a power cut once its shard is written.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

from geosleuth import __version__
from geosleuth.agent.codec import from_line, to_line
from geosleuth.lab.bench.run.folder import sync_file
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import byte_lines, lock_file, read_json, replacing, write_text_atomically

from .rows import SMALL_COLUMNS, About, Made, Rejected, Row, Sample, build_sample, build_sample_row, schema

FORMAT = "geosleuth-store"
VERSION = 1
SHARDS = "shards"
# Setting that grows with the store: the list of scenes that samples were made from.
SCENES = "scenes"
_SHARD = re.compile(rf"{SHARDS}/[0-9]{{5,}}\.parquet")

MANIFEST, IMAGES, PENDING, REJECTED, CARD, LOCK = (
    "manifest.json", "images", "pending", "rejected.jsonl", "card.md", "lock",
)  # fmt: skip
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
# Maximum rows held in memory together with their trajectories.
ROWS_PER_BATCH = 50
SHARD_ROWS = 500
Progress = Callable[[int, int], None]
"""Receives the numbers of samples kept and rejected so far."""


@dataclass(frozen=True, slots=True)
class StoreShard:
    """A shard: its file below the store, its rows, its bytes and their checksum."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StoreManifest:
    """A store's manifest; ``geosleuth`` is the version that created it."""

    about: About
    shards: tuple[StoreShard, ...]
    geosleuth: str = __version__

    def with_shard(self, shard: StoreShard) -> "StoreManifest":
        """Return the manifest with one more shard."""
        return replace(self, shards=(*self.shards, shard))


def write_manifest(path: Path, manifest: StoreManifest) -> None:
    """Write the manifest atomically and flush it to disk.

    Raises:
        BadInput: it can't be written, or a setting is not JSON.
    """
    about = {field.name: getattr(manifest.about, field.name) for field in fields(About)}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": manifest.geosleuth,
        "about": about | {"settings": dict(manifest.about.settings)},
        "shards": [asdict(shard) for shard in manifest.shards],
    }
    try:
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"the settings of a set must be JSON ({error})") from error
    write_text_atomically(path, f"{text}\n")


def read_manifest(path: Path) -> StoreManifest:
    """Read the manifest that `write_manifest` wrote.

    Raises:
        BadInput: it can't be read, is not a store's manifest, or has another version.
    """
    try:
        document: Any = read_json(path)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(f"{path}: this is not the manifest of a store of trajectories")
        if document.get("version") != VERSION:
            raise BadInput(
                f"{path}: is of version {str(document.get('version'))[:20]}; this geosleuth reads version {VERSION}"
            )
        about_fields = document["about"]
        lists = {name: tuple(str(item) for item in about_fields[name]) for name in ("sources", "faults")}
        about = About(**{**about_fields, **lists})
        shards = tuple(_shard(**item) for item in document["shards"])
        return StoreManifest(about, shards, str(document["geosleuth"]))
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: this is not JSON; put it back from a copy") from error
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: is damaged ({error}); put it back from a copy") from error


def _shard(*, file: str, rows: int, bytes: int, sha256: str) -> StoreShard:  # noqa: A002  (the names of the file)
    """Build a shard from an untrusted manifest entry; its file must lie in the store.

    Raises:
        TypeError: it does not.
    """
    if not _SHARD.fullmatch(file):
        raise TypeError(f"{file[:60]!r} is not the name of a shard")
    return StoreShard(file, int(rows), int(bytes), str(sha256))


def check_same(path: Path, stored: About, wanted: About) -> None:
    """Check that a store holds the set that is to be added to.

    Raises:
        BadInput: it holds another.
    """
    if stored.name != wanted.name:
        raise BadInput(f"{path}: holds the set {stored.name[:60]!r}, not {wanted.name[:60]!r}; choose another folder")
    settings = json.loads(json.dumps(dict(wanted.settings)))
    for name in sorted((stored.settings.keys() | settings.keys()) - {SCENES}):
        if stored.settings.get(name) != settings.get(name):
            raise BadInput(
                f"{path}: was begun with {name} = {str(stored.settings.get(name))[:60]}, "
                f"not {str(settings.get(name))[:60]}; use the same settings, or choose another folder"
            )


def with_scenes(stored: About, wanted: About) -> About:
    """Return the stored description with the scenes used now added to its own."""
    before, now = (list(item.settings.get(SCENES) or ()) for item in (stored, wanted))
    new = [item for item in now if item not in before]
    return replace(stored, settings={**stored.settings, SCENES: [*before, *new]}) if new else stored


class Store:
    """A store opened for reading, finished or not. It yields samples one at a time, however many there are."""

    def __init__(self, path: Path) -> None:
        """Open the store; a process that writes to it is not disturbed.

        Raises:
            BadInput: it is not a store, or has another version.
        """
        if not (path / MANIFEST).is_file():
            raise BadInput(f"{path}: not a store of trajectories; give a folder with a {MANIFEST}")
        self.path = path
        self.manifest = read_manifest(path / MANIFEST)

    @property
    def about(self) -> About:
        """Return the store's description."""
        return self.manifest.about

    def __len__(self) -> int:
        return sum(shard.rows for shard in self.manifest.shards) + sum(1 for _ in self.pending())

    def rows(self, columns: Iterable[str] | None = None) -> Iterator[Row]:
        """Yield the stored rows in the order they were added; only these columns, if any are named.

        Raises:
            BadInput: a shard is missing or damaged.
        """
        names = None if columns is None else list(columns)
        for shard in self.manifest.shards:
            for batch in read_batches(self.path / shard.file, names):
                yield from batch
        for row in self.pending():
            yield row if names is None else {name: row[name] for name in names}

    def samples(self, *, split: str | None = None, images: bool = True) -> Iterator[Sample]:
        """Yield the samples as they were added, all or those of one split, with or without images.

        Raises:
            BadInput: a shard or an image is missing or damaged.
        """
        for row in self.rows():
            if split is None or row["split"] == split:
                yield build_sample(row, self.read_images(row) if images else {})

    def read_images(self, row: Mapping[str, Any]) -> dict[str, bytes]:
        """Return the files of a row's pictures, by handle.

        Raises:
            BadInput: one is missing.
        """
        found = {}
        for image in row["images"]:
            path = self.path / image_name(image["sha256"])
            try:
                found[image["handle"]] = path.read_bytes()
            except OSError as error:
                raise BadInput(
                    f"{path}: can't be read: {error.strerror or error}; run: geosleuth traces check"
                ) from error
        return found

    def read_rejected(self) -> Iterator[Rejected]:
        """Yield the rejected trajectories.

        Raises:
            BadInput: a line is damaged.
        """
        for number, plain in enumerate(whole_lines(self.path / REJECTED), 1):
            try:
                yield Rejected(**plain)
            except TypeError as error:
                raise BadInput(f"{self.path / REJECTED}, line {number}: not a rejected trajectory") from error

    def pending(self) -> Iterator[Row]:
        """Yield the rows that wait for their shard."""
        yield from whole_lines(self.path / pending_name(len(self.manifest.shards)))


def image_name(digest: str) -> str:
    """Return the path in a store of the picture with this checksum.

    Raises:
        BadInput: it is not a checksum. An untrusted store must not name files outside of it.
    """
    if not _CHECKSUM.fullmatch(str(digest)):
        raise BadInput(f"{str(digest)[:70]!r} is not the checksum of a picture; the store is damaged")
    return f"{IMAGES}/{digest[:2]}/{digest}.jpg"


def pending_name(number: int) -> str:
    """Return the file of the samples that will become the shard of this number."""
    return f"{PENDING}/{number:05d}.jsonl"


def read_batches(path: Path, columns: list[str] | None = None) -> Iterator[list[Row]]:
    """Yield the rows of a shard in batches.

    Raises:
        BadInput: it is missing or damaged.
        MissingExtra: pyarrow is not installed.
    """
    parquet, arrow = require("pyarrow.parquet", extra="lab"), require("pyarrow", extra="lab")
    step = ROWS_PER_BATCH if columns is None or not set(columns) <= set(SMALL_COLUMNS) else 20 * ROWS_PER_BATCH
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=step, columns=columns, use_threads=False):
                yield batch.to_pylist()
    except (OSError, ValueError, KeyError, arrow.ArrowException) as error:
        raise BadInput(f"{path}: can't be read: {str(error).splitlines()[0][:150]}") from error


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file; skip a partial last line that a killed process left.

    Raises:
        BadInput: a line before the last is damaged.
    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(byte_lines(path, stream.readline, "sample"), 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield from_line(line)
                except BadInput as error:
                    raise BadInput(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def compute_checksum(path: Path) -> str:
    """Return the checksum of a file.

    Raises:
        OSError: it can't be read.
    """
    found = sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


class Appending:
    """A file open for appending; each line reaches the operating system before `write` returns.

    Opening it cuts off a partial last line that a killed process left.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            BadInput: it can't be written.
        """
        self.path = path
        try:
            self._stream = path.open("r+b" if path.exists() else "xb", buffering=0)
            self._stream.truncate(self._stream.seek(_whole_bytes(path)))
        except OSError as error:
            raise _unwritable(path, error) from error

    def write(self, line: bytes) -> None:
        """Append a line and its line end.

        Raises:
            BadInput: it can't be written, for example because the disk is full.
        """
        before = self._stream.tell()
        try:
            done = self._stream.write(line)
            while done < len(line):
                done += self._stream.write(line[done:])
        except OSError as error:
            # A partial line in the middle would damage the file for the next writer.
            self._stream.truncate(self._stream.seek(before))
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        self._stream.close()


def _whole_bytes(path: Path) -> int:
    end = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
    return end


def write_new(path: Path, data: bytes) -> None:
    """Write a file named by the checksum of its content; an existing file is left as it is.

    Raises:
        BadInput: it can't be written.
    """
    try:
        if path.is_file() and path.stat().st_size == len(data):
            return
    except OSError as error:
        raise _unwritable(path, error) from error
    make_folder(path.parent)
    with replacing(path) as neighbour:
        neighbour.write_bytes(data)


def make_folder(path: Path) -> None:
    """Create a folder and its parents.

    Raises:
        BadInput: it can't be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be created: {error.strerror or error}") from error


def lock_store_file(path: Path) -> int:
    """Return the descriptor of a file that no other process can lock, until it is closed or the process ends.

    Raises:
        BadInput: another process holds the lock, or the file can't be created.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise _unwritable(path, error) from error
    # Without such locks, nothing prevents two writers.
    if lock_file(handle) is False:
        os.close(handle)
        raise BadInput(f"{path.parent}: another process writes to this store; wait for it, or stop it")
    return handle


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: can't be written: {error.strerror or error}")


def no_progress(*_counts: int) -> None:
    """Ignore progress."""


class StoreWriter:
    """Adds samples to a store, a new one or an existing one. It is a context manager.

    A normal exit writes pending samples into a shard, and the card. An exit with an exception leaves them pending for
    the next writer.
    """

    def __init__(self, path: Path, about: About, *, shard_rows: int = SHARD_ROWS) -> None:
        """Create a store or open an existing one, and lock it until it is closed.

        Raises:
            BadInput: it can't be written; another process writes to it; it holds another set or other files.
            MissingExtra: pyarrow is not installed.
        """
        require("pyarrow.parquet", extra="lab")
        if shard_rows < 1:
            raise ValueError("a shard needs at least one row")
        self.path, self._shard_rows = path, shard_rows
        make_folder(path)
        self._lock = lock_store_file(path / LOCK)
        try:
            self._manifest = _begin(path, about)
            for name in (SHARDS, IMAGES, PENDING):
                make_folder(path / name)
            self._tidy()
            self._rows = list(Store(path).pending())
            self._keys, self._ids = self._read_known_keys()
            self._kept = len(self._keys)
            self._rejected_keys = {item.key for item in Store(path).read_rejected()}
            self._rejected = Appending(path / REJECTED)
            self._waiting = Appending(path / pending_name(len(self._manifest.shards)))
        except BaseException:
            os.close(self._lock)
            raise

    def _tidy(self) -> None:
        """Remove leftovers of a killed process."""
        stale = self.path / pending_name(len(self._manifest.shards) - 1)
        halves = [half for folder in (self.path, self.path / SHARDS) for half in folder.glob(".*.part")]
        for file in (stale, *halves):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def _read_known_keys(self) -> tuple[set[str], set[str]]:
        keys, ids = set(), set()
        for row in Store(self.path).rows(("key", "trajectory_id")):
            keys.add(row["key"])
            ids.add(row["trajectory_id"])
        return keys, ids

    def __contains__(self, key: object) -> bool:
        return key in self._keys or key in self._rejected_keys

    @property
    def sample_count(self) -> int:
        """Return how many samples the store holds."""
        return self._kept

    @property
    def rejection_count(self) -> int:
        """Return how many trajectories were rejected."""
        return len(self._rejected_keys)

    def add(self, made: Made) -> None:
        """Store a sample, or record a rejected one.

        Raises:
            BadInput: it can't be written; the key or the trajectory's id is already in the store; or its images are not
                valid.
        """
        if made.key in self:
            raise BadInput(f"{self.path}: already has {made.key[:60]!r}")
        if isinstance(made, Rejected):
            fields = {name: getattr(made, name) for name in ("key", "scene", "source", "reason", "detail")}
            self._rejected.write(to_line({**fields, "meta": dict(made.meta)}))
            self._rejected_keys.add(made.key)
            return
        row = build_sample_row(made)
        if row["trajectory_id"] in self._ids:
            raise BadInput(f"{self.path}: already has a trajectory {row['trajectory_id'][:40]!r}; give each its own id")
        for image, data in zip(row["images"], made.images.values(), strict=True):
            write_new(self.path / image_name(image["sha256"]), data)
        self._waiting.write(to_line(row))
        self._rows.append(row)
        self._keys.add(made.key)
        self._ids.add(row["trajectory_id"])
        self._kept += 1
        if len(self._rows) >= self._shard_rows:
            self.commit()

    def commit(self) -> None:
        """Write all pending samples into a shard and flush it to disk.

        Raises:
            BadInput: it can't be written.
        """
        if not self._rows:
            return
        number = len(self._manifest.shards)
        file = f"{SHARDS}/{number:05d}.parquet"
        pictures = {self.path / image_name(image["sha256"]) for row in self._rows for image in row["images"]}
        folders = {picture.parent for picture in pictures}
        for path in (*pictures, *folders):
            _sync(path)
        written = _write_shard(self.path / file, self._rows)
        _sync(self.path / SHARDS)
        shard = StoreShard(file, len(self._rows), *written)
        manifest = self._manifest.with_shard(shard)
        write_manifest(self.path / MANIFEST, manifest)
        _sync(self.path)
        self._manifest = manifest
        # The manifest counts these rows now; until then, the lines of this file did.
        self._waiting.close()
        self._waiting.path.unlink(missing_ok=True)
        self._waiting = Appending(self.path / pending_name(number + 1))
        self._rows = []

    def close(self) -> None:
        """Release the store; pending samples stay and count. Closing twice is harmless."""
        self._rejected.close()
        self._waiting.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def finish(self) -> None:
        """Write pending samples into a shard, and the card."""
        from .store_card import write_card

        self.commit()
        write_card(Store(self.path))

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.close()


def write_store(
    path: Path, made: Iterable[Made], about: About, *, shard_rows: int = SHARD_ROWS, progress: Progress = no_progress
) -> Store:
    """Store everything that a maker yields; skip keys that the store already has.

    Raises:
        BadInput: see `StoreWriter`.
    """
    with StoreWriter(path, about, shard_rows=shard_rows) as writer:
        for item in made:
            if item.key not in writer:
                writer.add(item)
            progress(writer.sample_count, writer.rejection_count)
    return Store(path)


def _sync(path: Path) -> None:
    try:
        sync_file(path)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error


def _begin(path: Path, about: About) -> StoreManifest:
    if (path / MANIFEST).exists():
        stored = read_manifest(path / MANIFEST)
        check_same(path, stored.about, about)
        grown = with_scenes(stored.about, about)
        if grown is not stored.about:
            write_manifest(path / MANIFEST, replace(stored, about=grown))
            return read_manifest(path / MANIFEST)
        return stored
    if other := sorted(item.name for item in path.iterdir() if item.name != LOCK):
        raise BadInput(f"{path}: holds {other[0][:60]!r} and is not a store; choose a new or an empty folder")
    write_manifest(path / MANIFEST, StoreManifest(about, ()))
    # Round-trip through JSON, so that a setting that JSON can't hold is noticed now.
    return read_manifest(path / MANIFEST)


def _write_shard(path: Path, rows: list[Row]) -> tuple[int, str]:
    """Write a shard atomically; return its bytes and its checksum."""
    arrow, parquet = require("pyarrow", extra="lab"), require("pyarrow.parquet", extra="lab")
    with replacing(path) as neighbour:
        table = arrow.Table.from_pylist(rows, schema=schema())
        parquet.write_table(table, neighbour, compression="zstd", row_group_size=ROWS_PER_BATCH)
        _sync(neighbour)
        return neighbour.stat().st_size, compute_checksum(neighbour)
