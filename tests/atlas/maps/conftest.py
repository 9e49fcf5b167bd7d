"""Small region files with the real tables, made for one test each."""

import io
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import shapely
from PIL import Image

from geosleuth.atlas import Picture
from geosleuth.atlas.regions.region_file import create_indexes, create_tables

Shape = tuple[str, int, str | None, shapely.Geometry]
Feature = tuple[str, str, float, float]
MakeRegion = Callable[..., Path]


@pytest.fixture
def make_region(tmp_path: Path) -> MakeRegion:
    """A function that writes a region file from shapes (layer, rank, name, geometry) and features."""

    def make(
        shapes: Iterable[Shape] = (),
        *,
        features: Iterable[Feature] = (),
        bbox: str = "-1,-1,1,1",
        name: str = "test",
        attribution: str = "© OpenStreetMap contributors",
    ) -> Path:
        path = tmp_path / f"{name}.region.sqlite"
        conn = sqlite3.connect(path)
        create_tables(conn)
        conn.executemany("INSERT INTO meta VALUES (?, ?)", [("bbox", bbox), ("attribution", attribution)])
        for number, (layer, rank, label, geometry) in enumerate(shapes, start=1):
            west, south, east, north = geometry.bounds
            conn.execute("INSERT INTO shape VALUES (?, ?, ?, ?, ?)", (number, layer, rank, label, geometry.wkb))
            conn.execute("INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)", (number, west, east, south, north))
        for number, (label, kind, lat, lon) in enumerate(features, start=1):
            row = (number, f"n{number}", label, kind, lat, lon, lat, lon, lat, lon, 0.5, None, "{}")
            conn.execute(f"INSERT INTO feature VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
            conn.execute("INSERT INTO feature_box VALUES (?, ?, ?, ?, ?)", (number, lon, lon, lat, lat))
        create_indexes(conn)
        conn.commit()
        conn.close()
        return path

    return make


@pytest.fixture
def opened() -> Callable[[Picture], Image.Image]:
    """A function that decodes a picture's PNG fully, in RGB."""

    def decode(picture: Picture) -> Image.Image:
        with Image.open(io.BytesIO(picture.png)) as image:
            assert image.format == "PNG"
            return image.convert("RGB")

    return decode
