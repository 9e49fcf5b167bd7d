"""Pictures whose pixels tell the region: drawn land of six kinds, with towns that look a little different each.

A region has its sky, its ground, its plants and its roofs. A town shifts colours, horizon and how densely things stand;
a picture shifts light and where they stand. Nothing in a picture says which town it is in words.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.photo import OpenedPhoto, open_photo

SIZE = (512, 384)
Colour = tuple[int, int, int]
Plant = Literal["spruce", "palm", "cactus", "grass", "bamboo", "bush"]
Roof = Literal["gable", "flat", "tower", "thatch", "none"]


@dataclass(frozen=True, slots=True)
class Town:
    """A real town."""

    name: str
    country: str
    point: LatLon


@dataclass(frozen=True, slots=True)
class Region:
    """What a part of the world looks like, and its towns, none within 100 km of another."""

    name: str
    sky: tuple[Colour, Colour]
    ground: Colour
    grain: float
    plant: Plant
    plant_colour: Colour
    roof: Roof
    wall: Colour
    peaks: Colour | None
    towns: tuple[Town, ...]


def _towns(*rows: tuple[str, str, float, float]) -> tuple[Town, ...]:
    return tuple(Town(name, country, LatLon(lat, lon)) for name, country, lat, lon in rows)


REGIONS: tuple[Region, ...] = (
    Region(
        "north", ((150, 160, 172), (205, 210, 214)), (66, 84, 56), 14.0, "spruce", (28, 58, 38), "gable", (150, 46, 38),
        None,
        _towns(
            ("Rovaniemi", "Finland", 66.5, 25.72), ("Umea", "Sweden", 63.83, 20.26),
            ("Trondheim", "Norway", 63.43, 10.4), ("Oulu", "Finland", 65.01, 25.47),
            ("Kiruna", "Sweden", 67.86, 20.23), ("Tampere", "Finland", 61.5, 23.79),
        ),
    ),
    Region(
        "desert", ((92, 150, 214), (226, 214, 186)), (212, 178, 122), 20.0, "cactus", (110, 120, 66), "flat",
        (222, 196, 150), None,
        _towns(
            ("Riyadh", "Saudi Arabia", 24.71, 46.68), ("Tamanrasset", "Algeria", 22.79, 5.53),
            ("Aswan", "Egypt", 24.09, 32.9), ("Muscat", "Oman", 23.59, 58.41),
            ("Agadez", "Niger", 16.97, 7.99), ("Sabha", "Libya", 27.04, 14.43),
        ),
    ),
    Region(
        "tropics", ((120, 190, 226), (232, 240, 236)), (52, 132, 46), 30.0, "palm", (26, 112, 40), "thatch",
        (140, 104, 60), None,
        _towns(
            ("Manado", "Indonesia", 1.49, 124.84), ("Davao", "Philippines", 7.07, 125.61),
            ("Kuching", "Malaysia", 1.55, 110.34), ("Surat Thani", "Thailand", 9.14, 99.33),
            ("Makassar", "Indonesia", -5.15, 119.43), ("Da Nang", "Vietnam", 16.07, 108.22),
        ),
    ),
    Region(
        "mountains", ((70, 130, 210), (190, 214, 240)), (104, 150, 66), 12.0, "bush", (70, 108, 50), "gable",
        (120, 84, 56), (238, 242, 248),
        _towns(
            ("Innsbruck", "Austria", 47.26, 11.39), ("Chamonix", "France", 45.92, 6.87),
            ("Lugano", "Switzerland", 46.0, 8.95), ("Grenoble", "France", 45.19, 5.72),
            ("Salzburg", "Austria", 47.8, 13.04), ("Bern", "Switzerland", 46.95, 7.45),
        ),
    ),
    Region(
        "plains", ((60, 120, 220), (200, 226, 250)), (206, 186, 84), 26.0, "grass", (178, 160, 62), "none",
        (180, 180, 180), None,
        _towns(
            ("Saskatoon", "Canada", 52.13, -106.67), ("Wichita", "United States", 37.69, -97.34),
            ("Fargo", "United States", 46.88, -96.79), ("Regina", "Canada", 50.45, -104.62),
            ("Amarillo", "United States", 35.22, -101.83), ("Omaha", "United States", 41.26, -95.94),
        ),
    ),
    Region(
        "towers", ((120, 118, 140), (196, 178, 190)), (92, 92, 98), 10.0, "bamboo", (96, 150, 92), "tower",
        (136, 142, 158), None,
        _towns(
            ("Osaka", "Japan", 34.69, 135.5), ("Sendai", "Japan", 38.27, 140.87),
            ("Fukuoka", "Japan", 33.59, 130.4), ("Sapporo", "Japan", 43.06, 141.35),
            ("Busan", "South Korea", 35.18, 129.08), ("Hiroshima", "Japan", 34.39, 132.46),
        ),
    ),
)  # fmt: skip

BY_TOWN: dict[str, Region] = {town.name: region for region in REGIONS for town in region.towns}
TOWNS: tuple[Town, ...] = tuple(town for region in REGIONS for town in region.towns)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that can be shown, and apart from it where it is: only scorers, trainers and stand-ins look there."""

    photo: OpenedPhoto
    region: Region
    town: Town

    @property
    def truth(self) -> Truth:
        """As scorers hold it."""
        return Truth(self.town.point, country=self.town.country, city=self.town.name)


def draw_pictures(
    count: int, seed: int = 0, *, regions: Sequence[Region] = REGIONS, size: tuple[int, int] = SIZE
) -> list[Drawn]:
    """So many pictures, the regions in turn, towns by chance; the same for the same seed."""
    return list(_drawing(count, seed, regions, size))


def _drawing(count: int, seed: int, regions: Sequence[Region], size: tuple[int, int]) -> Iterator[Drawn]:
    for number in range(count):
        chance = Random(f"{seed}/{number}")
        region = regions[number % len(regions)]
        town = chance.choice(region.towns)
        held = BytesIO()
        draw(region, town, chance, size).save(held, "PNG", compress_level=1)
        yield Drawn(open_photo(held.getvalue()), region, town)


def save_pictures(pictures: Sequence[Drawn], folder: Path) -> Path:
    """The pictures as files in a folder, and their truths in a ``truths.csv`` beside them; that file's path."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["path,lat,lon,country,city"]
    for number, picture in enumerate(pictures):
        name = f"picture-{number:04d}.png"
        picture.photo.photo.image.save(folder / name, compress_level=1)
        town = picture.town
        rows.append(f"{name},{town.point.lat},{town.point.lon},{town.country},{town.name}")
    table = folder / "truths.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return table


def digest(photo: OpenedPhoto) -> str:
    """What tells a picture from others, whichever file it came from: its pixels."""
    return hashlib.sha256(photo.photo.image.tobytes()).hexdigest()


def draw(region: Region, town: Town, chance: Random, size: tuple[int, int] = SIZE) -> Image.Image:
    """One picture of that town."""
    own = Random(town.name)
    width, height = size
    horizon = int(height * (own.uniform(0.42, 0.58) + chance.uniform(-0.04, 0.04)))
    light = chance.uniform(0.86, 1.1)
    tint = np.array([own.uniform(-14, 14) for _ in range(3)])
    noise = np.random.default_rng(chance.randrange(2**32))
    canvas = np.empty((height, width, 3))
    canvas[:horizon] = np.linspace(region.sky[0], region.sky[1], horizon)[:, None, :]
    canvas[horizon:] = np.array(region.ground) + tint + _grain(noise, height - horizon, width) * region.grain
    image = Image.fromarray(np.clip(canvas * light, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    if region.peaks is not None:
        _peaks(pen, region.peaks, own, chance, width, horizon)
    _houses(pen, region, own, chance, width, horizon)
    for _ in range(own.randint(14, 30)):
        x, y = chance.uniform(0, width), horizon + (height - horizon) * chance.random() ** 2
        tall = (0.06 + 0.3 * (y - horizon) / height) * height * own.uniform(0.8, 1.3)
        shade = chance.uniform(0.75, 1.2) * light
        _plant(pen, region.plant, tuple(min(255, int(part * shade)) for part in region.plant_colour), x, y, tall)
    return image.filter(ImageFilter.GaussianBlur(0.6))


def _grain(noise: np.random.Generator, height: int, width: int) -> npt.NDArray[np.float64]:
    """Fine and coarse unevenness of the ground."""
    coarse = noise.normal(size=(height // 16 + 1, width // 16 + 1)).repeat(16, 0).repeat(16, 1)[:height, :width]
    found: npt.NDArray[np.float64] = (0.5 * noise.normal(size=(height, width)) + 0.5 * coarse)[:, :, None]
    return found


def _peaks(pen: ImageDraw.ImageDraw, snow: Colour, own: Random, chance: Random, width: int, horizon: int) -> None:
    for _ in range(own.randint(3, 6)):
        x, wide, tall = chance.uniform(0, width), width * own.uniform(0.2, 0.4), horizon * own.uniform(0.5, 0.85)
        pen.polygon([(x - wide / 2, horizon), (x, horizon - tall), (x + wide / 2, horizon)], fill=(96, 104, 116))
        pen.polygon(
            [(x - wide / 6, horizon - 2 * tall / 3), (x, horizon - tall), (x + wide / 6, horizon - 2 * tall / 3)],
            fill=snow,
        )


def _houses(pen: ImageDraw.ImageDraw, region: Region, own: Random, chance: Random, width: int, horizon: int) -> None:
    if region.roof == "none":
        return
    for _ in range(own.randint(4, 9)):
        wide = width * own.uniform(0.06, 0.12)
        tall = horizon * (own.uniform(0.5, 0.9) if region.roof == "tower" else own.uniform(0.16, 0.3))
        x, foot = chance.uniform(-wide, width), horizon + chance.uniform(0, 0.25) * horizon
        wall = tuple(max(0, min(255, part + chance.randint(-16, 16))) for part in region.wall)
        pen.rectangle((x, foot - tall, x + wide, foot), fill=wall)
        if region.roof == "gable":
            pen.polygon([(x - 5, foot - tall), (x + wide / 2, foot - 1.5 * tall), (x + wide + 5, foot - tall)],
                        fill=(58, 54, 56))  # fmt: skip
        elif region.roof == "thatch":
            pen.polygon([(x - 12, foot - 0.8 * tall), (x + wide / 2, foot - 1.7 * tall),
                         (x + wide + 12, foot - 0.8 * tall)], fill=(166, 136, 78))  # fmt: skip
        elif region.roof == "tower":
            for row in range(int(foot - tall) + 6, int(foot) - 6, 12):
                for column in range(int(x) + 4, int(x + wide) - 6, 10):
                    pen.rectangle((column, row, column + 5, row + 6), fill=(240, 220, 130))


def _plant(pen: ImageDraw.ImageDraw, plant: Plant, colour: tuple[int, ...], x: float, y: float, tall: float) -> None:
    if plant == "spruce":
        for part in range(3):
            top = y - tall * (0.4 + 0.3 * part)
            half = tall * (0.24 - 0.06 * part)
            pen.polygon([(x - half, top + 0.4 * tall), (x, top), (x + half, top + 0.4 * tall)], fill=colour)
    elif plant == "palm":
        pen.line((x, y, x + 0.1 * tall, y - tall), fill=(118, 90, 60), width=max(2, int(tall / 18)))
        for dx, dy in ((-0.4, 0.1), (-0.3, -0.15), (0.0, -0.25), (0.3, -0.15), (0.4, 0.1)):
            pen.line((x + 0.1 * tall, y - tall, x + (0.1 + dx) * tall, y + (dy - 1) * tall), fill=colour,
                     width=max(3, int(tall / 12)))  # fmt: skip
    elif plant == "cactus":
        pen.line((x, y, x, y - 0.6 * tall), fill=colour, width=max(3, int(tall / 9)))
        pen.line((x, y - 0.3 * tall, x + 0.2 * tall, y - 0.3 * tall), fill=colour, width=max(2, int(tall / 12)))
    elif plant == "grass":
        for step in range(-3, 4):
            pen.line((x, y, x + step * tall / 8, y - 0.5 * tall), fill=colour, width=2)
    elif plant == "bamboo":
        for step in range(3):
            pen.line((x + step * 5, y, x + step * 5, y - 0.8 * tall), fill=colour, width=3)
    else:
        pen.ellipse((x - 0.25 * tall, y - 0.4 * tall, x + 0.25 * tall, y), fill=colour)
