"""GeoSeek-Val of GeoAgent. How its download is laid out could not be established: what can be meant is accepted."""

from pathlib import Path

from geosleuth.errors import BadInput

from .cards import CARDS
from .faults import Strict
from .hugging_face import open_parquet, parquet_files
from .model import DataSet
from .reading import Columns, check_header, table_entries
from .shelf import Shelf
from .tables import TABLE_ENDINGS

_COLUMNS = Columns(
    image=("image", "image_path", "images", "img_path", "path", "file_name", "filename", "img"),
    lat=("lat", "latitude", "gt_lat"),
    lon=("lon", "lng", "longitude", "gt_lon", "gt_lng"),
    region=("region", "state", "province"),
    nested=("location", "gps", "coordinates", "coordinate", "address", "truth", "ground_truth", "label", "solution"),
    left_out=("messages", "conversations", "prompt", "reasoning", "cot"),
)


def open_geoseek_val(path: Path, photos: Path | None = None) -> DataSet:
    """The validation part: the one table or Parquet file that is called so, or the only one there.

    Raises:
        BadInput: there is none, or several and none of them is called ``val``.
    """
    card = CARDS["geoseek-val"]
    parquet = _chosen(parquet_files(path))
    if parquet:
        return open_parquet(path, parquet, photos, card=card, columns=_COLUMNS)
    if path.is_file():
        tables = [path]
    else:
        tables = sorted(found for found in path.rglob("*") if found.suffix.lower() in TABLE_ENDINGS and found.is_file())
    chosen = _chosen([found for found in tables if found.name != "dataset_info.json"])
    if not chosen:
        raise BadInput(
            f"{path}: looked for one .parquet, .json, .jsonl or .csv with 'val' in its name or folder, with columns "
            "for image, lat and lon; name the file itself if it is called otherwise"
        )
    table = chosen[0]
    check_header(table, _COLUMNS)
    shelf = Shelf(photos or table.parent, ("", "images", "val", "image", "GeoSeek-Val", "GeoSeek-Val/images"))
    return DataSet(card, table.parent, Strict(lambda: table_entries(table, shelf, _COLUMNS)))


def _chosen(files: list[Path]) -> list[Path]:
    """Those called ``val``; or the only one."""
    named = [file for file in files if any("val" in part.lower() for part in file.parts[-2:])]
    return named or (files if len(files) == 1 else [])
