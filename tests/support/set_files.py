"""Small photos and tables for tests of data sets."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image


def jpeg(seed: int = 0, size: tuple[int, int] = (24, 16), *, gps: tuple[float, float] | None = None) -> bytes:
    """A real, tiny JPEG; every seed gives another."""
    image = Image.new("RGB", size)
    image.putdata(
        [((seed * 37 + at * 5) % 256, (seed * 11 + at * 3) % 256, (at * 7) % 256) for at in range(size[0] * size[1])]
    )
    exif = Image.Exif()
    if gps is not None:
        exif[ExifTags.Base.Make.value] = "Telltale Cameras"
        tags = exif.get_ifd(ExifTags.IFD.GPSInfo)
        lat, lon = gps
        tags[ExifTags.GPS.GPSLatitudeRef] = "N" if lat >= 0 else "S"
        tags[ExifTags.GPS.GPSLatitude] = (abs(lat), 0.0, 0.0)
        tags[ExifTags.GPS.GPSLongitudeRef] = "E" if lon >= 0 else "W"
        tags[ExifTags.GPS.GPSLongitude] = (abs(lon), 0.0, 0.0)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=90, exif=exif)
    return stream.getvalue()


def put(path: Path, content: bytes | str) -> Path:
    """Write a file, with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        path.write_bytes(content)
    return path


def put_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write a JSONL table."""
    return put(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def put_parquet(
    path: Path,
    columns: Mapping[str, Any],
    *,
    rows_a_group: int = 4,
    features: Mapping[str, Any] | None = None,
) -> Path:
    """Write a Parquet file, with the features that the `datasets` library would note in it."""
    import pyarrow as pa
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(dict(columns))
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    parquet.write_table(table, path, row_group_size=rows_a_group)
    return path
