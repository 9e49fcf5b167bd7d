"""Small data sets of real pictures, for the tools that make data sets."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import DataSet, FilePicture, Item, open_set
from geosleuth.lab.score import Truth

NOWHERE = Truth(LatLon(0.0, 0.0))


def picture(seed: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """A picture of soft blobs and edges that no other seed gives."""
    chance = np.random.default_rng(seed)
    coarse = chance.integers(0, 256, (9, 12, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
    left, top = int(chance.integers(0, size[0] // 2)), int(chance.integers(0, size[1] // 2))
    image.paste(tuple(chance.integers(0, 256, 3).tolist()), (left, top, left + size[0] // 3, top + size[1] // 3))
    return image


def jpeg(image: Image.Image, quality: int = 90) -> bytes:
    """A picture as a file's content."""
    stored = io.BytesIO()
    image.save(stored, "JPEG", quality=quality)
    return stored.getvalue()


def item(
    name: str,
    path: Path = Path("no-such-photo.jpg"),
    lat: float = 0.0,
    lon: float = 0.0,
    *,
    country: str | None = None,
    region: str | None = None,
    city: str | None = None,
    **fields: str,
) -> Item:
    """A photo at a point, with names and fields."""
    return Item(name, FilePicture(path), Truth(LatLon(lat, lon), country, region, city), fields)


def photo_table(folder: Path, points: Sequence[tuple[float, float]], contents: Iterable[bytes] = ()) -> Path:
    """A table of photos at points, ``p0`` and so on; pictures of their own unless contents are given."""
    (folder / "photos").mkdir(parents=True, exist_ok=True)
    given = list(contents)
    lines = ["id,image,lat,lon"]
    for number, (lat, lon) in enumerate(points):
        content = given[number] if number < len(given) else jpeg(picture(number))
        (folder / "photos" / f"{number}.jpg").write_bytes(content)
        lines.append(f"p{number},photos/{number}.jpg,{lat},{lon}")
    table = folder / "set.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table


def photo_set(folder: Path, points: Sequence[tuple[float, float]], contents: Iterable[bytes] = ()) -> DataSet:
    """The same, opened."""
    return open_set(str(photo_table(folder, points, contents)))
