"""The one store of trajectories: a folder that is only ever added to.

STORE/manifest.json              what it is, and the shards that count, each with its rows and checksum
STORE/shards/00000.parquet       samples, a row each
STORE/images/ab/abcd….jpg        their pictures, by the checksum of the content: what is shown twice is kept once
STORE/pending/00001.jsonl        samples that wait until the next shard is full; they count
STORE/rejected.jsonl             what was made and not kept, a line each
STORE/card.md                    what people must know of it; written when a writer closes
STORE/lock                       held by the process that adds to it

A sample is safe from a killed process when `StoreWriter.add` returns, and from a power cut once its shard is written.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from geosleuth.agent.codec import to_line
from geosleuth.bench.run.folder import sync_file
from geosleuth.errors import BadInput, require
from geosleuth.files import replacing

from .manifest import SHARDS, Manifest, Shard, check_same, read_manifest, with_scenes, write_manifest
from .model import About, Made, Rejected
from .reading import (
    IMAGES,
    LOCK,
    MANIFEST,
    PENDING,
    REJECTED,
    ROWS_AT_ONCE,
    Store,
    image_name,
    pending_name,
    sha_of,
)
from .rows import Row, row_of, schema
from .writing import Appending, locked, make_folder, write_new

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
        from .cards import write_card

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
