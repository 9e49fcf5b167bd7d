"""Data sets as the Hugging Face hub gives them: an image folder with its metadata, or Parquet files."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from geosleuth.errors import BadInput

from .cards import CARDS
from .faults import Entry, Strict
from .model import Card, DataSet, Item, Picture
from .parquet import ParquetFile, ParquetPicture
from .reading import USUAL, Columns, cells_of, check_header, entry_of, folded, table_entries
from .shelf import Shelf, is_inside
from .tables import Row

_SPLIT = re.compile(r"(train|test|validation|valid|val|dev)(?![a-z0-9])")
METADATA_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


def open_hub(path: Path, photos: Path | None = None, *, card: Card | None = None, columns: Columns = USUAL) -> DataSet:
    """An image folder (``metadata.csv`` or ``metadata.jsonl`` with ``file_name``), or Parquet files that hold photos.

    Raises:
        BadInput: it is neither.
    """
    card = card or CARDS["hf"]
    if parquet := parquet_files(path):
        return open_parquet(path, parquet, photos, card=card, columns=columns)
    tables = metadata_tables(path)
    if not tables:
        raise BadInput(f"{path}: looked for {', '.join(METADATA_NAMES)} or *.parquet there and in folders below")
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
    """The metadata of an image folder: beside the photos, at the top or once for every split."""
    if path.is_file() and path.name in METADATA_NAMES:
        return [path]
    if not path.is_dir():
        return []
    return sorted(found for name in METADATA_NAMES[:2] for found in path.rglob(name) if _belongs(found, path))


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a download, by name."""
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
    columns: Columns = USUAL,
    beside: str | None = None,
    change: Callable[[Row], Row] | None = None,
) -> DataSet:
    """Parquet files whose rows hold photos, or name photos that lie beside them.

    ``beside`` is a column that names photos' files and goes before any photo in the rows; ``change`` is done to each
    row before it is read.

    Raises:
        BadInput: the first file's columns name no photo or no point.
    """
    root = path if path.is_dir() else path.parent
    opened = [ParquetFile(file) for file in files]
    _check_columns(opened[0], columns)
    shelf = Shelf(photos or root, ("", "images", "image", "data"))

    def entries() -> Iterator[Entry]:
        known = columns.known()
        for file in opened:
            column = None if beside in file.names else file.image_column
            own = known | {folded(file.image_column or "")}
            split = _split(file.path)
            for number, group, within, row in file.rows():
                where = f"{file.path}, row {number}"
                read = {**split, **(row if change is None else change(row))}
                if column is None:
                    yield entry_of(read, where, shelf.picture, columns, own)
                else:
                    packed = _always(ParquetPicture(file, group, within))
                    yield entry_of(read, where, packed, columns, own, unnamed=f"{file.path.stem}/{number}")

    return DataSet(card, root, Strict(entries))


def _split(path: Path) -> dict[str, str]:
    """The part of the set that a file belongs to, by its name or its folder's: ``test-00000-of-00002.parquet``."""
    for name in (path.name, path.parent.name):
        if said := _SPLIT.match(name):
            return {"split": said[1]}
    return {}


def _always(picture: Picture) -> Callable[[str], Picture]:
    """That picture, whatever it is called."""

    def here(_name: str) -> Picture:
        return picture

    return here


def _check_columns(file: ParquetFile, columns: Columns) -> None:
    first = next(iter(file.rows()), None)
    if first is None:
        raise BadInput(f"{file.path}: there is no row in it")
    present = set(cells_of(first[3], columns)) | {folded(name) for name in file.names}
    roles = {"lat": columns.lat, "lon": columns.lon}
    if file.image_column is None:
        roles["a photo"] = columns.image
    for what, names in roles.items():
        if not present.intersection(folded(name) for name in names):
            raise BadInput(
                f"{file.path}: no column for {what}: looked for {', '.join(names)}; "
                f"it has {', '.join(file.names)[:200] or 'none'}"
            )
