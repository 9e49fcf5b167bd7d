"""A store to read: its rows, its samples, its pictures, and what was rejected."""

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from geosleuth.agent.codec import from_line
from geosleuth.errors import BadInput, require

from .manifest import read_manifest
from .model import About, Rejected, Sample
from .rows import SMALL_COLUMNS, Row, sample_of

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
