"""Small region files with the real tables, made for one test each."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import shapely
from PIL import Image

from geosleuth.atlas import Picture
from geosleuth.atlas.regions.region_file import Layer
from geosleuth.atlas.regions.region_writer import FeatureRow, open_writer

Shape = tuple[Layer, int, str | None, shapely.Geometry]
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
        with open_writer(tmp_path, name) as writer:
            for shape in shapes:
                writer.add_shape(*shape)
            for number, (label, kind, lat, lon) in enumerate(features, start=1):
                at = (lat, lon)
                row = FeatureRow(f"n{number}", label, kind, at, (*at, *at), 0.5, None, "{}", [])
                writer.add_feature(row, {})
            writer.finish({"bbox": bbox, "attribution": attribution})
        return tmp_path / f"{name}.region.sqlite"

    return make


@pytest.fixture
def opened() -> Callable[[Picture], Image.Image]:
    """A function that decodes a picture's PNG fully, in RGB."""

    def decode(picture: Picture) -> Image.Image:
        with Image.open(io.BytesIO(picture.png)) as image:
            assert image.format == "PNG"
            return image.convert("RGB")

    return decode
