"""GeoBench of GeoVista, in both of its packings.

``LibraTree/GeoBench``: ``data/train-*.parquet`` with ``image`` and ``metadata``. ``LibraTree/GeoVistaBench``: Parquet
with ``id, raw_image_path, preview, metadata, data_type``, and the full pictures under ``raw_image/``; the previews are
smaller and are never used.
"""

from pathlib import Path

from geosleuth.errors import BadInput

from .cards import CARDS
from .hugging_face import open_parquet, parquet_files
from .model import DataSet
from .reading import Columns

_COLUMNS = Columns(
    image=("raw_image_path", "image_path", "image"),
    id=("id", "uid"),
    region=("province_or_state", "state", "province", "state_province", "region"),
    # All of it is for testing, though its files call themselves train.
    left_out=("preview", "preview_image_path", "pano_id", "timestamp", "url", "split"),
)


def open_geobench(path: Path, photos: Path | None = None) -> DataSet:
    """Either packing; it is told by the columns.

    Raises:
        BadInput: there are no Parquet files, or their metadata hold no point.
    """
    files = parquet_files(path)
    if not files:
        raise BadInput(f"{path}: looked for *.parquet, such as data/train-00000-of-00013.parquet of LibraTree/GeoBench")
    return open_parquet(path, files, photos, card=CARDS["geobench"], columns=_COLUMNS, beside="raw_image_path")
