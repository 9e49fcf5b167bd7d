"""The test part of OpenStreetView-5M: ``test.csv`` and ``images/test``, unpacked or as ``00.zip`` to ``04.zip``."""

from pathlib import Path

from .cards import CARDS
from .faults import Strict
from .flickr_sets import find_table
from .model import DataSet
from .reading import Columns, check_header, table_entries
from .shelf import Shelf
from .tables import Row

_PARTS = ("00", "01", "02", "03", "04")
_COLUMNS = Columns(
    image=("file", "id"),
    id=("id",),
    country=("country", "unique_country"),
    region=("region",),
    city=("city",),
    left_out=(
        "thumb_original_url", "sequence", "captured_at", "creator_username", "creator_id", "cell", "lat_bin", "lon_bin",
        "unique_country", "unique_region", "unique_sub-region", "unique_city", "quadtree_10_500", "quadtree_10_1000",
        "quadtree_10_2500", "quadtree_10_5000", "quadtree_10_12500", "quadtree_10_25000", "quadtree_10_50000",
    ),
)  # fmt: skip


def open_osv5m(path: Path, photos: Path | None = None) -> DataSet:
    """The test part; the table alone is enough to tell what it holds.

    Raises:
        BadInput: there is no ``test.csv``.
    """
    table = find_table(path, ("test.csv",), ("", "test"))
    check_header(table, _COLUMNS)
    root = photos or (table.parent.parent if table.parent.name == "test" else table.parent)
    below = ("images/test", "test", "test/images", "test/test", "images", "")
    folders = tuple(f"{folder}/{part}" if folder else part for folder in below[:2] for part in _PARTS)
    shelf = Shelf(root, (*folders, *below))
    return DataSet(CARDS["osv5m"], root, Strict(lambda: table_entries(table, shelf, _COLUMNS, change=_with_file)))


def _with_file(row: Row) -> Row:
    number = str(row.get("id") or "").strip()
    return {**row, "file": f"{number}.jpg"} if number else row
