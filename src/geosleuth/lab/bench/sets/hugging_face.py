"""Data sets from the Hugging Face hub, image folders or Parquet files: GeoBench, GeoSeek, MAPBench.

Truths are read without touching the photos. A photo is read from its own row group, a few rows at a time; reading
photos in the set's order passes each group once.

``LibraTree/GeoBench``: ``data/train-*.parquet`` with ``image`` and ``metadata``. ``LibraTree/GeoVistaBench``: Parquet
with ``id, raw_image_path, preview, metadata, data_type``, and the full pictures under ``raw_image/``; the previews are
smaller and are never used.
"""

import base64
import binascii
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from geosleuth.photo import PhotoLimits
from geosleuth.support.errors import BadInput, require

from .archives import Shelf
from .cards import CARDS
from .dataset import Card, DataSet, DatasetPicture, Entry, Item, Part, Strict, is_inside
from .table_rows import (
    TABLE_ENDINGS,
    USUAL,
    Row,
    TableColumns,
    build_entry,
    check_header,
    flatten_row,
    fold_column,
    table_entries,
)

_ROWS_A_STEP = 8
_BUFFER_BYTES = 1024 * 1024
_TRUTHS_A_STEP = 1024
_KEPT_BYTES = 64 * 1024 * 1024
_KEPT_ROWS = 256
_MAX_BYTES = PhotoLimits().max_bytes
_IMAGE_NAMES = ("image", "images", "img", "jpg", "jpeg", "png", "photo", "picture", "image_bytes", "raw_image", "bytes")

_SPLIT = re.compile(r"(train|test|validation|valid|val|dev)(?![a-z0-9])")
METADATA_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_COLUMNS = TableColumns(
    image=("raw_image_path", "image_path", "image"),
    id=("id", "uid"),
    region=("province_or_state", "state", "province", "state_province", "region"),
    # All of it is for testing, though its files are named train.
    left_out=("preview", "preview_image_path", "pano_id", "timestamp", "url", "split"),
)
_GEOSEEK_COLUMNS = TableColumns(
    image=("image", "image_path", "images", "img_path", "path", "file_name", "filename", "img"),
    lat=("lat", "latitude", "gt_lat"),
    lon=("lon", "lng", "longitude", "gt_lon", "gt_lng"),
    region=("region", "state", "province"),
    nested=("location", "gps", "coordinates", "coordinate", "address", "truth", "ground_truth", "label"),
    left_out=("messages", "conversations", "prompt", "reasoning", "cot", "solution", "cls"),
)
ELEMENTS = (
    "manmade", "traffic", "buildings", "sign", "language", "natural", "plants", "weather", "mountains", "agricultural",
)  # fmt: skip
_TAG = re.compile(r"[a-z][a-z _&-]*")
_ANSWERED = re.compile(r"</?answer>")
_MAPBENCH_COLUMNS = TableColumns(
    image=("image", "images"),
    id=("image", "images"),
    nested=("ground_truth", "reward_model"),
    left_out=("prompt", "agent_name", "extra_info", "max_pixels", "min_pixels", "style"),
)


class ParquetFile:
    """One file: its rows without photos, and its photos one by one. Safe to read from several threads."""

    def __init__(self, path: Path) -> None:
        """Open it and find the column with photos.

        Raises:
            BadInput: it is not a Parquet file.
            MissingExtra: pyarrow is not installed.
        """
        parquet = require("pyarrow.parquet", extra="lab")
        arrow = require("pyarrow", extra="lab")
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
        """Return the columns' names."""
        return list(self._schema.names)

    def _find_image_column(self) -> str | None:
        declared = _find_image_columns(self._schema.metadata or {})
        for name in declared:
            if name in self._schema.names:
                return name
        arrow = require("pyarrow", extra="lab")
        holding: list[str] = []
        for column in self._schema:
            kind = column.type
            if arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
                kind = kind.value_type
            inner = {kind.field(at).name for at in range(kind.num_fields)} if arrow.types.is_struct(kind) else set()
            binary = arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)
            if "bytes" in inner or binary:
                holding.append(str(column.name))
        named = [name for wanted in _IMAGE_NAMES for name in holding if fold_column(name) == wanted]
        return next(iter(named or holding), None)

    def rows(self) -> Iterator[tuple[int, int, int, Row]]:
        """Yield the number in the file, the group, the number in the group, and the row; without the photos' bytes."""
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
        arrow = require("pyarrow", extra="lab")
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
        """Return the photo of a row; None if it has none, or one that is too large."""
        with self._lock:
            if (group, row) in self._kept:
                return self._kept[group, row]
            return self._read_until(group, row)

    def _read_until(self, group: int, row: int) -> bytes | None:
        cursor = self._at
        if cursor is None or cursor.group != group or cursor.next_row > row:
            if self.image_column is None:
                raise BadInput(f"{self.path}: no column with photos; it has {', '.join(self.names)[:200]}")
            cursor = self._at = _Cursor(group, self._batches(group, [self.image_column], _ROWS_A_STEP))
        while (batch := next(cursor.batches, None)) is not None:
            first, cursor.next_row = cursor.next_row, cursor.next_row + len(batch)
            # Batches before the wanted row are skipped without being copied.
            if cursor.next_row > row:
                found = [_content(value) for value in self._values(batch.column(0))]
                for within, data in enumerate(found, first):
                    self._remember_image(group, within, data)
                return found[row - first]
        raise BadInput(f"{self.path}: group {group} ends before row {row}; the file is damaged")

    def _remember_image(self, group: int, row: int, data: bytes | None) -> None:
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
        """Return the file, the row and its group."""
        return f"{self.file.path}, group {self.group}, row {self.row}"

    def read(self) -> bytes:
        """Return the photo's content.

        Raises:
            BadInput: the row has none, or it can't be read.
        """
        data = self.file.photo(self.group, self.row)
        if not data:
            raise BadInput(f"{self.where}: the row has no photo")
        return data

    def size_bytes(self) -> int | None:
        """Return None: the size is not known before reading."""
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
    return data if data is not None and len(data) <= _MAX_BYTES else None


def _leaves(file: Any) -> list[str]:
    return [str(file.schema.column(at).path) for at in range(len(file.schema))]


def _find_image_columns(metadata: dict[bytes, bytes]) -> list[str]:
    """Return the columns that the ``datasets`` metadata of a file declares as images."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return [name for name, kind in features.items() if "Image" in json.dumps(kind)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def open_hub(
    path: Path, photos: Path | None = None, *, card: Card | None = None, columns: TableColumns = USUAL
) -> DataSet:
    """Open an image folder (``metadata.csv`` or ``metadata.jsonl`` with ``file_name``), or Parquet files with photos.

    Raises:
        BadInput: it is neither.
    """
    card = card or CARDS["hf"]
    if parquet := parquet_files(path):
        return open_parquet(path, parquet, photos, card=card, columns=columns)
    tables = metadata_tables(path)
    if not tables:
        raise BadInput(f"{path}: looked for {', '.join(METADATA_NAMES)} or *.parquet there and in subfolders")
    for table in tables:
        check_header(table, columns)

    def entries() -> Iterator[Entry]:
        for table in tables:
            split = {} if table.parent == path else {"split": table.parent.relative_to(path).as_posix()}
            for entry in table_entries(table, Shelf(photos or table.parent), columns, extra=split):
                if split and isinstance(entry, Item):
                    yield replace(entry, id=f"{split['split']}/{entry.id}")
                else:
                    yield entry

    return DataSet(card, path, Strict(entries))


def metadata_tables(path: Path) -> list[Path]:
    """Return the metadata of an image folder: beside the photos, at the top or once per split."""
    if path.is_file() and path.name in METADATA_NAMES:
        return [path]
    if not path.is_dir():
        return []
    return sorted(found for name in METADATA_NAMES[:2] for found in path.rglob(name) if _belongs(found, path))


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a download, by name."""
    if path.is_file():
        return [path] if path.suffix.lower() == ".parquet" else []
    if not path.is_dir():
        return []
    return sorted(found for found in path.rglob("*.parquet") if found.is_file() and _belongs(found, path))


def _belongs(path: Path, root: Path) -> bool:
    return not any(part.startswith(".") for part in path.relative_to(root).parts) and is_inside(path, root)


def open_parquet(
    path: Path,
    files: Sequence[Path],
    photos: Path | None,
    *,
    card: Card,
    columns: TableColumns = USUAL,
    beside: str | None = None,
    change: Callable[[Row], Row] | None = None,
) -> DataSet:
    """Open Parquet files whose rows contain photos, or name photos that lie beside them.

    ``beside`` is a column with the names of photos' files and takes precedence over photos in the rows; ``change`` is
    applied to each row before it is read.

    Raises:
        BadInput: the first file's columns name no photo or no point.
    """
    root = path if path.is_dir() else path.parent
    opened = [ParquetFile(file) for file in files]
    _check_columns(opened[0], columns)
    shelf = Shelf(photos or root, ("", "images", "image", "data"))

    def entries() -> Iterator[Entry]:
        known = columns.list_names()
        for file in opened:
            column = None if beside in file.names else file.image_column
            own = known | {fold_column(file.image_column or "")}
            split = _split(file.path)
            for number, group, within, row in file.rows():
                where = f"{file.path}, row {number}"
                read = {**split, **(row if change is None else change(row))}
                if column is None:
                    yield build_entry(read, where, shelf.picture, columns, own)
                else:
                    packed = _always(ParquetPicture(file, group, within))
                    yield build_entry(read, where, packed, columns, own, unnamed=f"{file.path.stem}/{number}")

    return DataSet(card, root, Strict(entries))


def _split(path: Path) -> dict[str, str]:
    """Return the split of a file, by its name or its folder's: ``test-00000-of-00002.parquet``."""
    for name in (path.name, path.parent.name):
        if said := _SPLIT.match(name):
            return {"split": said[1]}
    return {}


def _always(picture: DatasetPicture) -> Callable[[str], DatasetPicture]:
    def here(_name: str) -> DatasetPicture:
        return picture

    return here


def _check_columns(file: ParquetFile, columns: TableColumns) -> None:
    first = next(iter(file.rows()), None)
    if first is None:
        raise BadInput(f"{file.path}: no rows found")
    present = set(flatten_row(first[3], columns)) | {fold_column(name) for name in file.names}
    roles = {"lat": columns.lat, "lon": columns.lon}
    if file.image_column is None:
        roles["a photo"] = columns.image
    for what, names in roles.items():
        if not present.intersection(fold_column(name) for name in names):
            raise BadInput(
                f"{file.path}: no column for {what}: looked for {', '.join(names)}; "
                f"it has {', '.join(file.names)[:200] or 'none'}"
            )


def open_geobench(path: Path, photos: Path | None = None) -> DataSet:
    """Open either packing, recognised by its columns.

    Raises:
        BadInput: there are no Parquet files, or their metadata have no point.
    """
    files = parquet_files(path)
    if not files:
        raise BadInput(f"{path}: looked for *.parquet, such as data/train-00000-of-00013.parquet of LibraTree/GeoBench")
    return open_parquet(path, files, photos, card=CARDS["geobench"], columns=_COLUMNS, beside="raw_image_path")


def open_geoseek(part: Literal["val", "loc"], path: Path, photos: Path | None = None) -> DataSet:
    """Open the validation part or the one for learning: the table or Parquet file with its name, or the only one there.

    Raises:
        BadInput: there is none, or several without the part's name in theirs.
    """
    card = CARDS[f"geoseek-{part}"]
    parquet = _chosen(parquet_files(path), part)
    if parquet:
        return open_parquet(path, parquet, photos, card=card, columns=_GEOSEEK_COLUMNS, change=_with_labels)
    if path.is_file():
        tables = [path]
    else:
        tables = sorted(found for found in path.rglob("*") if found.suffix.lower() in TABLE_ENDINGS and found.is_file())
    chosen = _chosen([found for found in tables if found.name != "dataset_info.json"], part)
    if not chosen:
        raise BadInput(
            f"{path}: looked for one .parquet, .json, .jsonl or .csv with {part!r} in its name or folder, with columns "
            "for image, lat and lon; name the file itself if it is called otherwise"
        )
    table = chosen[0]
    check_header(table, _GEOSEEK_COLUMNS)
    folder = f"GeoSeek-{part.title()}"
    shelf = Shelf(photos or table.parent, ("", "images", part, "image", folder, f"{folder}/images"))
    return DataSet(
        card, table.parent, Strict(lambda: table_entries(table, shelf, _GEOSEEK_COLUMNS, change=_with_labels))
    )


def _with_labels(row: Row) -> Row:
    """Return the row with its labels as columns: ``solution`` as country, region and city, ``cls`` as element tags.

    The figure prints ``cls`` as a set of words, which is no JSON; lists, objects and text are all taken.
    """
    added: dict[str, Any] = {}
    solution = row.get("solution")
    if isinstance(solution, str):
        names = [name.strip() for name in _ANSWERED.sub("", solution).split(";")]
        added |= {level: name for level, name in zip(("country", "region", "city"), names, strict=False) if name}
    elif isinstance(solution, dict):
        added |= solution
    tags = row.get("cls")
    if tags is not None:
        given = tags if isinstance(tags, dict) else dict.fromkeys(_TAG.findall(str(tags).casefold()), "yes")
        named = {str(name).strip().casefold().split(" ")[0]: value for name, value in given.items()}
        found = {name: "yes" if named.get(name) in ("yes", True) else "no" for name in ELEMENTS}
        if any(isinstance(value, str) and value == "maybe" for value in named.values()):
            found |= {name: "maybe" for name in ELEMENTS if named.get(name) == "maybe"}
        added |= found
        if "yes" in (found["manmade"], found["natural"]):
            added["surroundings"] = "man-made" if found["manmade"] == "yes" else "natural"
    score = row.get("Locatability Score", row.get("locatability_score"))
    if score is not None:
        added["locatability"] = score
    return {**row, **added}


def _chosen(files: list[Path], part: str) -> list[Path]:
    """Return the files named as the part, or the only file."""
    named = [file for file in files if any(part in name.lower() for name in file.parts[-2:])]
    return named or (files if len(files) == 1 else [])


def open_mapbench(part: Part, path: Path, photos: Path | None = None) -> DataSet:
    """Open the test or the training part.

    Raises:
        BadInput: neither packing is there.
    """
    card = CARDS["mapbench" if part == "test" else "mapbench-train"]
    table = path if path.is_file() and path.suffix == ".jsonl" else _part_table(path, part)
    if table is not None:
        check_header(table, _MAPBENCH_COLUMNS)
        shelf = Shelf(photos or table.parent, ("", "images", part, f"{part}_images"))
        return DataSet(
            card, table.parent, Strict(lambda: table_entries(table, shelf, _MAPBENCH_COLUMNS, change=_plain_names))
        )
    files = [file for file in parquet_files(path) if ("train" in file.name.lower()) == (part == "train")]
    if not files:
        raise BadInput(f"{path}: looked for {part}_metadata*.jsonl (GD-ML/MAPBench-V1 or -V2) or a {part} *.parquet")
    return open_parquet(path, files, photos, card=card, columns=_MAPBENCH_COLUMNS, beside="images", change=_plain_names)


def _part_table(path: Path, part: Part) -> Path | None:
    if not path.is_dir():
        return None
    found = sorted(path.glob("*.jsonl"))
    tables = [item for item in found if ("train" in item.name.lower()) == (part == "train")]
    return next(iter([table for table in tables if part in table.name.lower()] or tables), None)


def _plain_names(row: Row) -> Row:
    """Return the row with file names only: the authors' Parquet has paths on their own disk."""
    value = row.get("image") or row.get("images")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0].get("image")
    if not isinstance(value, str):
        return row
    folder, _, last = value.rpartition("/")
    if value.startswith("file://"):
        value = f"images/{last}" if folder.endswith("/images") else last
    return {**row, "image": value}
