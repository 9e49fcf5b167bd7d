"""Panoramas from tiles: which tile goes where, what is missing, and that the result is the picture that was cut."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from geosleuth.lab.bench.makers.panoramas import find_tiles, make_panoramas, stitch
from geosleuth.lab.bench.makers.photo_tables import read_places
from geosleuth.lab.bench.sets import open_set
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput

SIDE = 32


def world(columns: int = 8, rows: int = 4, side: int = SIDE) -> Image.Image:
    """A smooth picture whose every part is known: red grows eastwards, green downwards."""
    y, x = np.mgrid[0 : rows * side, 0 : columns * side]
    red, green = 40 + 180 * x / (columns * side), 40 + 180 * y / (rows * side)
    return Image.fromarray(np.stack([red, green, np.full(red.shape, 90.0)], axis=-1).astype(np.uint8))


def cut(image: Image.Image, folder: Path, name: str, side: int = SIDE, first: int = 0) -> None:
    """Cut a picture into tiles; ``name`` has {x} and {y}."""
    for y in range(-(-image.height // side)):
        for x in range(-(-image.width // side)):
            path = folder / name.format(x=x + first, y=y + first)
            path.parent.mkdir(parents=True, exist_ok=True)
            box = (x * side, y * side, min((x + 1) * side, image.width), min((y + 1) * side, image.height))
            image.crop(box).save(path)


def off_by(image: Image.Image, expected: Image.Image) -> float:
    wanted = np.asarray(expected.resize(image.size, Image.Resampling.LANCZOS), dtype=float)
    return float(np.abs(np.asarray(image, dtype=float) - wanted).max())


@pytest.mark.parametrize(
    ("name", "pattern", "first"),
    [
        ("3/{x}/{y}.png", None, 0),
        ("here_x{x}_y{y}.png", None, 1),
        ("{x}_{y}.png", None, 0),
        ("part {y} of {x}.png", "part {row} of {col}.png", 0),
    ],
)
def test_tiles_are_put_where_their_names_say(tmp_path: Path, name: str, pattern: str | None, first: int) -> None:
    cut(world(), tmp_path / "a", name, first=first)
    (tiles,) = find_tiles(tmp_path / "a", pattern)
    assert (tiles.columns, tiles.rows, tiles.missing) == (8, 4, ())
    whole = stitch(tiles, (256, 128))
    assert off_by(whole, world()) == 0


def test_many_panoramas_become_a_data_set(tmp_path: Path) -> None:
    for number, name in enumerate(("north", "south", "lost")):
        cut(world(4 + 4 * (number % 2), 2 + 2 * (number % 2)), tmp_path / "tiles" / name, "{x}_{y}.png")
    cut(world(), tmp_path / "tiles", "flat_x{x}_y{y}.png")
    places = tmp_path / "stops.csv"
    places.write_text(
        "id,lat,lon,country,when\nnorth,60.5,10.25,Norway,2020\nsouth,-33,18,South Africa,2021\nflat,1,2,,2022\n"
    )
    out = tmp_path / "out"
    made = make_panoramas(find_tiles(tmp_path / "tiles"), out, places=read_places(places), size=(1024, 512))
    assert (made.made, made.kept, made.refused) == (("flat", "lost", "north", "south"), (), {})
    assert made.unplaced == ("lost",)
    items = list(open_set(f"table:{out}"))
    assert [(item.id, item.truth.point.lat, item.truth.country) for item in items] == [
        ("flat", 1.0, None), ("north", 60.5, "Norway"), ("south", -33.0, "South Africa"),
    ]  # fmt: skip
    assert items[1].fields == {"when": "2020", "tiles": "4x2", "tiles_missing": "0"}
    opened = open_photo(items[1].picture.read())
    assert (opened.photo.size, opened.photo.kind) == ((1024, 512), "panorama")
    again = make_panoramas(find_tiles(tmp_path / "tiles"), out, places=read_places(places), size=(1024, 512))
    assert (again.made, again.kept) == ((), made.made)
    assert [item.id for item in open_set(f"table:{out}")] == ["flat", "north", "south"]


def test_names_missing_tiles_or_leaves_them_grey(tmp_path: Path) -> None:
    cut(world(), tmp_path, "3/{x}/{y}.png")
    (tmp_path / "3/5/2.png").unlink()
    (tmp_path / "3/0/0.png").write_bytes(b"torn")
    (tiles,) = find_tiles(tmp_path)
    assert tiles.missing == ((5, 2),)
    with pytest.raises(BadInput, match=r"2 of 32 tiles are missing \(column 0 row 0, column 5 row 2\)"):
        stitch(tiles, (256, 128))
    grey = stitch(tiles, (256, 128), most_missing=0.1)
    assert grey.getpixel((5 * SIDE + 16, 2 * SIDE + 16)) == (127, 127, 127)


def test_cuts_off_black_beyond_the_picture(tmp_path: Path) -> None:
    # 6.5 x 3.25 tiles of picture in a grid of 7 x 4.
    sheet = Image.new("RGB", (7 * SIDE, 4 * SIDE))
    picture = world(13, 13).resize((208, 104))
    sheet.paste(picture, (0, 0))
    cut(sheet, tmp_path, "{x}_{y}.png")
    (tiles,) = find_tiles(tmp_path)
    assert off_by(stitch(tiles, (208, 104)), picture) <= 1


def test_refuses_names_that_can_not_be_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        find_tiles(tmp_path / "none")
    with pytest.raises(BadInput, match="--pattern"):
        find_tiles(tmp_path)
    cut(world(4, 4), tmp_path, "{x}_{y}.png")
    for pattern in ("{col}.png", "{what}_{x}_{y}.png", "{x}_{x}_{y}.png"):
        with pytest.raises(BadInput, match="--pattern"):
            find_tiles(tmp_path, pattern)
