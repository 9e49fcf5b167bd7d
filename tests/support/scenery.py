"""Photos that are told apart at a glance, drawn on the spot, with coordinates in their metadata."""

import random
from pathlib import Path

from PIL import ExifTags, Image, ImageDraw, ImageFilter

from geosleuth.geo import LatLon

SIZE = (640, 480)


def scene(seed: int, size: tuple[int, int] = SIZE) -> Image.Image:
    """A picture of its own: sky, ground, and things of one kind standing about."""
    draws = random.Random(seed)
    width, height = size
    image = Image.new("RGB", size, _colour(draws))
    drawing = ImageDraw.Draw(image)
    horizon = draws.uniform(0.2, 0.8) * height
    drawing.rectangle((0, horizon, width, height), fill=_colour(draws))
    kind = seed % 4
    for _ in range(draws.randint(6, 40)):
        x, y = draws.uniform(-0.1, 1) * width, draws.uniform(-0.1, 1) * height
        wide, tall = draws.uniform(0.04, 0.3) * width, draws.uniform(0.04, 0.3) * height
        box, fill, edge = (x, y, x + wide, y + tall), _colour(draws), _colour(draws)
        if kind == 0:
            drawing.rectangle(box, fill=fill, outline=edge, width=6)
        elif kind == 1:
            drawing.ellipse(box, fill=fill, outline=edge, width=6)
        elif kind == 2:
            drawing.polygon([(x, y + tall), (x + wide / 2, y), (x + wide, y + tall)], fill=fill, outline=edge)
        else:
            drawing.line((x, y, x + 3 * wide, y + 3 * tall), fill=fill, width=draws.randint(4, 30))
    return image.filter(ImageFilter.GaussianBlur(0.8))


def save(image: Image.Image, path: Path, point: LatLon | None = None) -> Path:
    """Write a picture, with coordinates as cameras write them."""
    exif = Image.Exif()
    if point is not None:
        exif.get_ifd(ExifTags.IFD.GPSInfo).update(
            {
                1: "N" if point.lat >= 0 else "S",
                2: (abs(point.lat), 0.0, 0.0),
                3: "E" if point.lon >= 0 else "W",
                4: (abs(point.lon), 0.0, 0.0),
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, exif=exif, quality=92)
    return path


def _colour(draws: random.Random) -> tuple[int, int, int]:
    return draws.randrange(256), draws.randrange(256), draws.randrange(256)
