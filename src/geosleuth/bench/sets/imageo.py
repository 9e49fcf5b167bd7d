"""IMAGEO-Bench 1 to 3: ``dataset1_info.csv`` and photos in ``dataset1/``, and so on."""

from pathlib import Path

from .cards import CARDS
from .faults import Strict
from .flickr_sets import find_table
from .model import DataSet
from .reading import Columns, check_header, table_entries
from .shelf import Shelf
from .tables import Row

_COLUMNS = Columns(
    image=("image_id",),
    id=("image_id",),
    region=("state",),
    left_out=(
        "name", "address", "gmap_id", "description", "url", "hours", "misc", "relative_results", "street", "orig_id",
        "img_path", "sequence_id", "sequence_index", "datetime_local", "city_id", "label_method", "category",
        "category_list", "avg_rating", "num_of_reviews", "price",
    ),
)  # fmt: skip
_TABLE_FOLDERS = ("", "data", "analysis", "IMAGEO-Bench-datasets")


def open_imageo(number: int, path: Path, photos: Path | None = None) -> DataSet:
    """One of the three.

    Raises:
        BadInput: its table is not there.
    """
    part = f"dataset{number}"
    table = find_table(path, (f"{part}_info.csv", f"{part}.csv"), (*_TABLE_FOLDERS, part))
    check_header(table, _COLUMNS)
    root = photos or (path if path.is_dir() else path.parent)
    shelf = Shelf(root, (part, f"data/{part}", f"IMAGEO-Bench-datasets/{part}", f"{part}/images", "images", ""))

    def change(row: Row) -> Row:
        # The table of the second has no country: its places are of the United States by the way it was made.
        return {**row, "country": "United States"} if number == 2 and not row.get("country") else row

    return DataSet(CARDS[f"imageo{number}"], root, Strict(lambda: table_entries(table, shelf, _COLUMNS, change=change)))
