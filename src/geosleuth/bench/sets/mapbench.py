"""MAPBench of Thinking with Map: ``test_metadata_v1.jsonl`` or ``…_v2.jsonl`` and ``images/``; or its own Parquet."""

from pathlib import Path

from geosleuth.errors import BadInput

from .cards import CARDS
from .faults import Strict
from .hugging_face import open_parquet, parquet_files
from .model import DataSet
from .reading import Columns, check_header, table_entries
from .shelf import Shelf
from .tables import Row

_COLUMNS = Columns(
    image=("image", "images"),
    id=("image", "images"),
    nested=("ground_truth", "reward_model"),
    left_out=("prompt", "agent_name", "extra_info", "max_pixels", "min_pixels", "style"),
)


def open_mapbench(path: Path, photos: Path | None = None) -> DataSet:
    """The test part.

    Raises:
        BadInput: neither packing is there.
    """
    card = CARDS["mapbench"]
    table = path if path.is_file() and path.suffix == ".jsonl" else _test_table(path)
    if table is not None:
        check_header(table, _COLUMNS)
        shelf = Shelf(photos or table.parent, ("", "images", "test", "test_images"))
        return DataSet(card, table.parent, Strict(lambda: table_entries(table, shelf, _COLUMNS, change=_plain_names)))
    files = [file for file in parquet_files(path) if "train" not in file.name.lower()]
    if not files:
        raise BadInput(f"{path}: looked for test_metadata*.jsonl (GD-ML/MAPBench-V1 or -V2) or a test *.parquet")
    return open_parquet(path, files, photos, card=card, columns=_COLUMNS, beside="images", change=_plain_names)


def _test_table(path: Path) -> Path | None:
    if not path.is_dir():
        return None
    tables = [found for found in sorted(path.glob("*.jsonl")) if "train" not in found.name.lower()]
    named = [found for found in tables if "test" in found.name.lower()]
    return next(iter(named or tables), None)


def _plain_names(row: Row) -> Row:
    """The authors' Parquet names photos by where they lay on the authors' disk."""
    value = row.get("image") or row.get("images")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0].get("image")
    if not isinstance(value, str):
        return row
    folder, _, last = value.rpartition("/")
    if value.startswith("file://"):
        value = f"images/{last}" if folder.endswith("/images") else last
    return {**row, "image": value}
