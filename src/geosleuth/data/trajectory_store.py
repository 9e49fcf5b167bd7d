"""The one store of trajectories: a folder that is only ever added to, with its manifest; read and written here.

STORE/manifest.json              what it is, and the shards that count, each with its rows and checksum
STORE/shards/00000.parquet       samples, a row each
STORE/images/ab/abcd….jpg        their pictures, by the checksum of the content: what is shown twice is kept once
STORE/pending/00001.jsonl        samples that wait until the next shard is full; they count
STORE/rejected.jsonl             what was made and not kept, a line each
STORE/card.md                    what people must know of it; written when a writer closes
STORE/lock                       held by the process that adds to it

A sample is safe from a killed process when `StoreWriter.add` returns, and from a power cut once its shard is written.
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
from geosleuth.bench.run.folder import sync_file
from geosleuth.errors import BadInput, require
from geosleuth.files import lock_file, replacing, write_text_atomically

from .rows import SMALL_COLUMNS, About, Made, Rejected, Row, Sample, row_of, sample_of, schema

FORMAT = "geosleuth-store"
VERSION = 1
SHARDS = "shards"
SCENES = "scenes"
"""The setting that grows with what is added: a list of which scenes samples were made of."""
_SHARD = re.compile(rf"{SHARDS}/[0-9]{{5,}}\.parquet")


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard that counts: its file below the store, its rows, its bytes and their checksum."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A store in a few lines; ``geosleuth`` is the version that began it."""

    about: About
    shards: tuple[Shard, ...]
    geosleuth: str = __version__

    def with_shard(self, shard: Shard) -> "Manifest":
        """The manifest once one more shard counts."""
        return replace(self, shards=(*self.shards, shard))


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write it whole or not at all, safe on the disk.

    Raises:
        BadInput: it can't be written, or JSON can't hold a setting.
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


def read_manifest(path: Path) -> Manifest:
    """Read what `write_manifest` wrote.

    Raises:
        BadInput: it can't be read, is no store's, or is of another version.
    """
    try:
        document: Any = json.loads(path.read_bytes())
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(f"{path}: this is not the manifest of a store of trajectories")
        if document.get("version") != VERSION:
            raise BadInput(
                f"{path}: is of version {str(document.get('version'))[:20]}; this geosleuth reads version {VERSION}"
            )
        told = document["about"]
        lists = {name: tuple(str(one) for one in told[name]) for name in ("sources", "faults")}
        about = About(**{**told, **lists})
        shards = tuple(_shard(**one) for one in document["shards"])
        return Manifest(about, shards, str(document["geosleuth"]))
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: this is not JSON; put it back from a copy") from error
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: is damaged ({error}); put it back from a copy") from error


def _shard(*, file: str, rows: int, bytes: int, sha256: str) -> Shard:  # noqa: A002  (the names of the file)
    """A shard as the file says it, which may be anybody's: it must lie in the store.

    Raises:
        TypeError: it does not.
    """
    if not _SHARD.fullmatch(file):
        raise TypeError(f"no shard is called {file[:60]!r}")
    return Shard(file, int(rows), int(bytes), str(sha256))


def check_same(path: Path, stored: About, wanted: About) -> None:
    """Complain where a store holds another set than the one that is to be added to.

    Raises:
        BadInput: it does.
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
    """What is stored, with the scenes that are made use of now among those that were before."""
    before, now = (list(one.settings.get(SCENES) or ()) for one in (stored, wanted))
    new = [one for one in now if one not in before]
    return replace(stored, settings={**stored.settings, SCENES: [*before, *new]}) if new else stored


MANIFEST, IMAGES, PENDING, REJECTED, CARD, LOCK = (
    "manifest.json", "images", "pending", "rejected.jsonl", "card.md", "lock",
)  # fmt: skip
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
ROWS_AT_ONCE = 50
"""How many rows are in memory with their trajectories."""


class Store:
    """A store to read, finished or not. Samples come one at a time, however many there are."""

    def __init__(self, path: Path) -> None:
        """Open it; whoever adds to it is not disturbed.

        Raises:
            BadInput: it is no store, or of another version.
        """
        if not (path / MANIFEST).is_file():
            raise BadInput(f"{path}: holds no store of trajectories; give a folder that has a {MANIFEST}")
        self.path = path
        self.manifest = read_manifest(path / MANIFEST)

    @property
    def about(self) -> About:
        """What people must know of it."""
        return self.manifest.about

    def __len__(self) -> int:
        return sum(shard.rows for shard in self.manifest.shards) + sum(1 for _ in self.pending())

    def rows(self, columns: Iterable[str] | None = None) -> Iterator[Row]:
        """The rows as they are kept, in the order they came; only these columns, where some are named.

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
        """The samples, all or those of one split, equal to those that were added; without images on request.

        Raises:
            BadInput: a shard or an image is missing or damaged.
        """
        for row in self.rows():
            if split is None or row["split"] == split:
                yield sample_of(row, self.images_of(row) if images else {})

    def images_of(self, row: Mapping[str, Any]) -> dict[str, bytes]:
        """The files of a row's pictures, by handle.

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
                    f"{path}: can't be read: {error.strerror or error}; run: geosleuth data check"
                ) from error
        return found

    def rejected(self) -> Iterator[Rejected]:
        """What was made and not kept.

        Raises:
            BadInput: a line is damaged.
        """
        for number, plain in enumerate(whole_lines(self.path / REJECTED), 1):
            try:
                yield Rejected(**plain)
            except TypeError as error:
                raise BadInput(f"{self.path / REJECTED}, line {number}: this is nothing that was rejected") from error

    def pending(self) -> Iterator[Row]:
        """The rows that wait for their shard."""
        yield from whole_lines(self.path / pending_name(len(self.manifest.shards)))


def image_name(digest: str) -> str:
    """Where the picture of a checksum lies in a store.

    Raises:
        BadInput: it is no checksum: a store that somebody else made must not name files outside of it.
    """
    if not _CHECKSUM.fullmatch(str(digest)):
        raise BadInput(f"{str(digest)[:70]!r} is no checksum of a picture; the store is damaged")
    return f"{IMAGES}/{digest[:2]}/{digest}.jpg"


def pending_name(number: int) -> str:
    """Where samples wait that will be the shard of this number."""
    return f"{PENDING}/{number:05d}.jsonl"


def read_batches(path: Path, columns: list[str] | None = None) -> Iterator[list[Row]]:
    """The rows of a shard, some at a time.

    Raises:
        BadInput: it is missing or damaged.
        MissingExtra: pyarrow is not installed.
    """
    parquet, arrow = require("pyarrow.parquet", extra="bench"), require("pyarrow", extra="bench")
    step = ROWS_AT_ONCE if columns is None or not set(columns) <= set(SMALL_COLUMNS) else 20 * ROWS_AT_ONCE
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=step, columns=columns, use_threads=False):
                yield batch.to_pylist()
    except (OSError, ValueError, KeyError, arrow.ArrowException) as error:
        raise BadInput(f"{path}: can't be read: {str(error).splitlines()[0][:150]}") from error


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines; half a line at its end, which a killed process left, is passed over.

    Raises:
        BadInput: a line before the last is damaged.
    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield from_line(line)
                except BadInput as error:
                    raise BadInput(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def sha_of(path: Path) -> str:
    """The checksum of a file.

    Raises:
        OSError: it can't be read.
    """
    found = sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


class Appending:
    """A file that lines are added to, each handed to the system before `write` returns.

    Half a line at its end, which a killed process left, is cut off when it is opened.
    """

    def __init__(self, path: Path) -> None:
        """Open it, or make it.

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
        """Add a line, with its line end.

        Raises:
            BadInput: it can't be written, for one because the disk is full.
        """
        before = self._stream.tell()
        try:
            done = self._stream.write(line)
            while done < len(line):
                done += self._stream.write(line[done:])
        except OSError as error:
            # Half a line in the middle would damage the file for whoever goes on.
            self._stream.truncate(self._stream.seek(before))
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Close it; closing twice does no harm."""
        self._stream.close()


def _whole_bytes(path: Path) -> int:
    end = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
    return end


def write_new(path: Path, data: bytes) -> None:
    """Write a file whose name is the checksum of its content; one that is there already is the same.

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
    """Make a folder and those above it.

    Raises:
        BadInput: it can't be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be made: {error.strerror or error}") from error


def locked(path: Path) -> int:
    """An open file that no other process can lock; closing it, or dying, lets go.

    Raises:
        BadInput: another process holds it, or it can't be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise _unwritable(path, error) from error
    # Without such locks, whoever starts two writers must see to it.
    if lock_file(handle) is False:
        os.close(handle)
        raise BadInput(f"{path.parent}: another process adds to this store; wait for it, or stop it")
    return handle


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: can't be written: {error.strerror or error}")


SHARD_ROWS = 500

Progress = Callable[[int, int], None]
"""Hears how many samples were kept and how many were rejected so far."""


def _nobody(_kept: int, _rejected: int) -> None:
    """Nobody listens."""


class StoreWriter:
    """Adds samples to a store, a new one or one that is there. It is a context manager.

    Leaving it well writes what waits into a shard, and the card; leaving it with an exception leaves what waits where
    it is, and the next writer goes on from there.
    """

    def __init__(self, path: Path, about: About, *, shard_rows: int = SHARD_ROWS) -> None:
        """Make the folder of a store, or go on with the one that is there. Nobody else can until it is closed.

        Raises:
            BadInput: it can't be written; another process adds to it; it is another set, or something else.
            MissingExtra: pyarrow is not installed.
        """
        require("pyarrow.parquet", extra="bench")
        if shard_rows < 1:
            raise ValueError("a shard has at least one row")
        self.path, self._shard_rows = path, shard_rows
        make_folder(path)
        self._lock = locked(path / LOCK)
        try:
            self._manifest = _begin(path, about)
            for name in (SHARDS, IMAGES, PENDING):
                make_folder(path / name)
            self._tidy()
            self._rows = list(Store(path).pending())
            self._keys, self._ids = self._known()
            self._kept = len(self._keys)
            self._rejected_keys = {one.key for one in Store(path).rejected()}
            self._rejected = Appending(path / REJECTED)
            self._waiting = Appending(path / pending_name(len(self._manifest.shards)))
        except BaseException:
            os.close(self._lock)
            raise

    def _tidy(self) -> None:
        """Take away what a process that was killed had not finished, or had finished with."""
        stale = self.path / pending_name(len(self._manifest.shards) - 1)
        halves = [half for folder in (self.path, self.path / SHARDS) for half in folder.glob(".*.part")]
        for file in (stale, *halves):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def _known(self) -> tuple[set[str], set[str]]:
        keys, ids = set(), set()
        for row in Store(self.path).rows(("key", "trajectory_id")):
            keys.add(row["key"])
            ids.add(row["trajectory_id"])
        return keys, ids

    def __contains__(self, key: object) -> bool:
        return key in self._keys or key in self._rejected_keys

    @property
    def kept(self) -> int:
        """How many samples it holds."""
        return self._kept

    @property
    def rejected(self) -> int:
        """How many things were made and not kept."""
        return len(self._rejected_keys)

    def add(self, made: Made) -> None:
        """Keep a sample, or note what was rejected.

        Raises:
            BadInput: it can't be written; the store has something of that key or a trajectory of that id already; or
                its images are not what they must be.
        """
        if made.key in self:
            raise BadInput(f"{self.path}: has {made.key[:60]!r} already")
        if isinstance(made, Rejected):
            fields = {name: getattr(made, name) for name in ("key", "scene", "source", "reason", "detail")}
            self._rejected.write(to_line({**fields, "meta": dict(made.meta)}))
            self._rejected_keys.add(made.key)
            return
        row = row_of(made)
        if row["trajectory_id"] in self._ids:
            raise BadInput(f"{self.path}: has a trajectory {row['trajectory_id'][:40]!r} already; give each its own id")
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
        """Write all that waits into a shard of its own, safe on the disk.

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
        shard = Shard(file, len(self._rows), *written)
        manifest = self._manifest.with_shard(shard)
        write_manifest(self.path / MANIFEST, manifest)
        _sync(self.path)
        self._manifest = manifest
        # The manifest counts them now; until it did, the lines of this file were what counted.
        self._waiting.close()
        self._waiting.path.unlink(missing_ok=True)
        self._waiting = Appending(self.path / pending_name(number + 1))
        self._rows = []

    def close(self) -> None:
        """Let go of the store; what waits stays where it is and counts. Closing twice does no harm."""
        self._rejected.close()
        self._waiting.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def finish(self) -> None:
        """Write what waits into a shard, and the card."""
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
    path: Path, made: Iterable[Made], about: About, *, shard_rows: int = SHARD_ROWS, progress: Progress = _nobody
) -> Store:
    """Keep all that a maker makes; what the store has already is passed over.

    Raises:
        BadInput: see `StoreWriter`.
    """
    with StoreWriter(path, about, shard_rows=shard_rows) as writer:
        for one in made:
            if one.key not in writer:
                writer.add(one)
            progress(writer.kept, writer.rejected)
    return Store(path)


def _sync(path: Path) -> None:
    try:
        sync_file(path)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error


def _begin(path: Path, about: About) -> Manifest:
    if (path / MANIFEST).exists():
        stored = read_manifest(path / MANIFEST)
        check_same(path, stored.about, about)
        grown = with_scenes(stored.about, about)
        if grown is not stored.about:
            write_manifest(path / MANIFEST, replace(stored, about=grown))
            return read_manifest(path / MANIFEST)
        return stored
    if other := sorted(one.name for one in path.iterdir() if one.name != LOCK):
        raise BadInput(f"{path}: holds {other[0][:60]!r} but no store; choose a new or an empty folder")
    write_manifest(path / MANIFEST, Manifest(about, ()))
    # As it will be read later, so that a setting that JSON can't hold is noticed now.
    return read_manifest(path / MANIFEST)


def _write_shard(path: Path, rows: list[Row]) -> tuple[int, str]:
    """Write a shard whole or not at all; its bytes and its checksum."""
    arrow, parquet = require("pyarrow", extra="bench"), require("pyarrow.parquet", extra="bench")
    with replacing(path) as neighbour:
        table = arrow.Table.from_pylist(rows, schema=schema())
        parquet.write_table(table, neighbour, compression="zstd", row_group_size=ROWS_AT_ONCE)
        _sync(neighbour)
        return neighbour.stat().st_size, sha_of(neighbour)
