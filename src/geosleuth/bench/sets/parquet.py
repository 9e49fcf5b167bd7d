"""Rows and photos of Parquet files, group by group: a file of any size costs a few megabytes.

Truths are read without touching the photos. A photo is read from its own group, in steps of a few rows; whoever reads
photos in the set's order goes through each group once.
"""

import base64
import binascii
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput, require
from geosleuth.photo import Limits

from .reading import folded
from .tables import Row

_ROWS_A_STEP = 8
_BUFFER_BYTES = 1024 * 1024
_TRUTHS_A_STEP = 1024
_KEPT_BYTES = 64 * 1024 * 1024
_KEPT_ROWS = 256
_MOST_BYTES = Limits().max_bytes
_IMAGE_NAMES = ("image", "images", "img", "jpg", "jpeg", "png", "photo", "picture", "image_bytes", "raw_image", "bytes")


class ParquetFile:
    """One file: its rows without photos, and its photos one by one. Safe to read from several threads."""

    def __init__(self, path: Path) -> None:
        """Open it and tell which column holds photos.

        Raises:
            BadInput: it is no Parquet file.
            MissingExtra: pyarrow is not installed.
        """
        parquet = require("pyarrow.parquet", extra="bench")
        arrow = require("pyarrow", extra="bench")
        self.path = path
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], bytes | None] = OrderedDict()
        self._kept_bytes = 0
        self._at: _Cursor | None = None
        try:
            self._file = parquet.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            self._schema = self._file.schema_arrow
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise BadInput(f"{path}: can't be read as Parquet: {str(error).splitlines()[0][:150]}") from error
        self.image_column = self._find_image_column()

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return list(self._schema.names)

    def _find_image_column(self) -> str | None:
        declared = _declared_images(self._schema.metadata or {})
        for name in declared:
            if name in self._schema.names:
                return name
        arrow = require("pyarrow", extra="bench")
        holding: list[str] = []
        for column in self._schema:
            kind = column.type
            if arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
                kind = kind.value_type
            inner = {kind.field(at).name for at in range(kind.num_fields)} if arrow.types.is_struct(kind) else set()
            binary = arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)
            if "bytes" in inner or binary:
                holding.append(str(column.name))
        named = [name for wanted in _IMAGE_NAMES for name in holding if folded(name) == wanted]
        return next(iter(named or holding), None)

    def rows(self) -> Iterator[tuple[int, int, int, Row]]:
        """Number in the file, group, number in the group, and the row; photos' bytes are left out."""
        columns = [path for path in _leaves(self._file) if not self._is_photo(path)]
        number = 0
        for group in range(self._file.num_row_groups):
            within = 0
            for batch in self._batches(group, columns, _TRUTHS_A_STEP):
                for row in self._values(batch):
                    yield number, group, within, row
                    number += 1
                    within += 1

    def _is_photo(self, leaf: str) -> bool:
        name = self.image_column
        if name is None or not f"{leaf}.".startswith(f"{name}."):
            return False
        return not leaf.endswith(".path")

    def _batches(self, group: int, columns: list[str], step: int) -> Iterator[Any]:
        arrow = require("pyarrow", extra="bench")
        try:
            yield from self._file.iter_batches(batch_size=step, row_groups=[group], columns=columns, use_threads=False)
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise BadInput(f"{self.path}: group {group} can't be read: {str(error).splitlines()[0][:150]}") from error

    def _values(self, values: Any) -> list[Any]:
        try:
            return list(values.to_pylist())
        except (ValueError, TypeError, OverflowError) as error:
            raise BadInput(f"{self.path}: damaged: {str(error)[:150]}") from error

    def photo(self, group: int, row: int) -> bytes | None:
        """The photo of a row; None where the row has none, or a larger one than a photo may be."""
        with self._lock:
            if (group, row) in self._kept:
                return self._kept[group, row]
            return self._read_on(group, row)

    def _read_on(self, group: int, row: int) -> bytes | None:
        cursor = self._at
        if cursor is None or cursor.group != group or cursor.next_row > row:
            if self.image_column is None:
                raise BadInput(f"{self.path}: no column holds photos; it has {', '.join(self.names)[:200]}")
            cursor = self._at = _Cursor(group, self._batches(group, [self.image_column], _ROWS_A_STEP))
        while (batch := next(cursor.batches, None)) is not None:
            first, cursor.next_row = cursor.next_row, cursor.next_row + len(batch)
            # Batches before the wanted row are passed over without being copied.
            if cursor.next_row > row:
                found = [_content(value) for value in self._values(batch.column(0))]
                for within, data in enumerate(found, first):
                    self._keep(group, within, data)
                return found[row - first]
        raise BadInput(f"{self.path}: group {group} ends before row {row}; the file is damaged")

    def _keep(self, group: int, row: int, data: bytes | None) -> None:
        self._kept[group, row] = data
        self._kept_bytes += len(data or b"")
        while self._kept_bytes > _KEPT_BYTES or len(self._kept) > _KEPT_ROWS:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped or b"")


@dataclass(slots=True)
class _Cursor:
    group: int
    batches: Iterator[Any]
    next_row: int = 0


@dataclass(frozen=True, slots=True)
class ParquetPicture:
    """A photo in a row of a Parquet file."""

    file: ParquetFile = field(repr=False, compare=False)
    group: int
    row: int

    @property
    def where(self) -> str:
        """The file, and which row of which group."""
        return f"{self.file.path}, group {self.group}, row {self.row}"

    def read(self) -> bytes:
        """The photo's content.

        Raises:
            BadInput: the row has none, or it can't be read.
        """
        data = self.file.photo(self.group, self.row)
        if not data:
            raise BadInput(f"{self.where}: the row holds no photo")
        return data

    def size_bytes(self) -> int | None:
        """Nobody knows without reading it."""
        return None


def _content(value: object) -> bytes | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("bytes")
    if isinstance(value, str):
        try:
            value = base64.b64decode(value.rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError):
            return None
    data = bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None
    return data if data is not None and len(data) <= _MOST_BYTES else None


def _leaves(file: Any) -> list[str]:
    return [str(file.schema.column(at).path) for at in range(len(file.schema))]


def _declared_images(metadata: dict[bytes, bytes]) -> list[str]:
    """The columns that a file written by ``datasets`` says are images."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return [name for name, kind in features.items() if "Image" in json.dumps(kind)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
