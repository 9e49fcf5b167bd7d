"""Any table that names photos and points."""

from pathlib import Path

from geosleuth.errors import BadInput

from .cards import CARDS
from .faults import Strict
from .model import DataSet
from .reading import check_header, table_entries
from .shelf import Shelf
from .tables import TABLE_ENDINGS


def open_table(path: Path, photos: Path | None = None) -> DataSet:
    """A CSV, TSV, JSONL or JSON table; photos are named by their path from its folder, or from ``photos``.

    Raises:
        BadInput: it is no table, or its columns name no photo or no point.
    """
    if path.is_dir():
        tables = sorted(found for found in path.iterdir() if found.suffix.lower() in TABLE_ENDINGS)
        if len(tables) != 1:
            names = ", ".join(found.name for found in tables[:6]) or "none"
            raise BadInput(f"{path}: give the table itself; a folder must hold exactly one ({names})")
        path = tables[0]
    check_header(path)
    shelf = Shelf(photos or path.parent, ("", "images", "image", "photos", "img"))
    return DataSet(CARDS["table"], path.parent, Strict(lambda: table_entries(path, shelf)))
