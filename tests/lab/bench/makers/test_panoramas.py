"""Panoramas from tiles: which tile goes where, what is missing, and that the result is the picture that was cut."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from geosleuth.lab.bench.makers.panoramas import find_tiles, make_panoramas, stitch, write_panorama
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
        ("x{x}_y{y}.png", None, 0),
        ("tile_y{y}_x{x}.png", None, 1),
        ("row{y}_col{x}.png", None, 0),
        ("r{y}c{x}.png", None, 1),
        ("{x}_{y}.png", None, 0),
        ("{y}-{x}.png", None, 0),
        ("part {y} of {x}.png", "part {row} of {col}.png", 0),
    ],
)
def test_tiles_are_put_where_their_names_say(tmp_path: Path, name: str, pattern: str | None, first: int) -> None:
    cut(world(), tmp_path / "a", name, first=first)
    (tiles,) = find_tiles(tmp_path / "a", pattern)
    assert (tiles.columns, tiles.rows, tiles.missing) == (8, 4, ())
    whole = stitch(tiles, (256, 128))
    assert off_by(whole.image, world()) == 0
    assert (whole.empty, whole.coarser) == ((), ())


@pytest.mark.parametrize("size", [(128, 64), (200, 100), (512, 256)])
def test_bands_meet_without_a_seam(tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.lab.bench.makers.panoramas._BAND_ROWS", 24)
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (128, 256, 3), dtype=np.uint8))
    cut(noise, tmp_path, "{x}_{y}.png")
    (tiles,) = find_tiles(tmp_path)
    assert off_by(stitch(tiles, size).image, noise) <= 1


def test_the_usual_layout_gives_4096_by_2048(tmp_path: Path) -> None:
    picture = world(16, 8, 128)
    cut(picture, tmp_path, "4/{x}/{y}.jpg", side=128)
    (tiles,) = find_tiles(tmp_path)
    whole = stitch(tiles)
    assert whole.image.size == (4096, 2048)
    assert off_by(whole.image.resize(picture.size), picture) < 12  # JPEG


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
    assert (made.made, made.kept, made.refused) == (("flat", "lost", "north", "south"), (), ())
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


def test_missing_tiles_are_named_filled_or_taken_from_the_zoom_above(tmp_path: Path) -> None:
    cut(world(), tmp_path, "3/{x}/{y}.png")
    (tmp_path / "3/5/2.png").unlink()
    (tmp_path / "3/0/0.png").write_bytes(b"torn")
    (tiles,) = find_tiles(tmp_path)
    assert tiles.missing == ((5, 2),)
    with pytest.raises(BadInput, match=r"2 of 32 tiles are missing \(column 0 row 0, column 5 row 2\)"):
        stitch(tiles, (256, 128))
    grey = stitch(tiles, (256, 128), most_missing=0.1)
    assert grey.empty == ((0, 0), (5, 2))
    assert grey.image.getpixel((5 * SIDE + 16, 2 * SIDE + 16)) == (127, 127, 127)
    cut(world().resize((128, 64)), tmp_path, "2/{x}/{y}.png")
    (tiles,) = find_tiles(tmp_path)
    mended = stitch(tiles, (256, 128))
    assert (mended.empty, mended.coarser) == ((), ((0, 0), (5, 2)))
    assert off_by(mended.image, world()) < 6


def test_a_missing_edge_is_known_by_the_usual_grids(tmp_path: Path) -> None:
    cut(world(16, 8, 8), tmp_path, "x{x}_y{y}.png", side=8)
    for y in range(8):
        (tmp_path / f"x15_y{y}.png").unlink()
    (tiles,) = find_tiles(tmp_path)
    assert (tiles.columns, tiles.rows, len(tiles.missing)) == (16, 8, 8)
    assert find_tiles(tmp_path, grid=(20, 10))[0].columns == 20
    with pytest.raises(BadInput, match="more than --grid"):
        find_tiles(tmp_path, grid=(4, 2))


def test_black_beyond_the_picture_is_cut_off(tmp_path: Path) -> None:
    # 6.5 x 3.25 tiles of picture in a grid of 7 x 4.
    sheet = Image.new("RGB", (7 * SIDE, 4 * SIDE))
    picture = world(13, 13).resize((208, 104))
    sheet.paste(picture, (0, 0))
    cut(sheet, tmp_path, "x{x}_y{y}.png")
    (tiles,) = find_tiles(tmp_path)
    assert off_by(stitch(tiles, (208, 104)).image, picture) <= 1
    assert off_by(stitch(tiles, (208, 104), full=(208, 104)).image, picture) <= 1


def test_what_is_no_sphere_is_refused(tmp_path: Path) -> None:
    cut(world(7, 4), tmp_path, "x{x}_y{y}.png")
    with pytest.raises(BadInput, match="not twice as wide as high"):
        stitch(find_tiles(tmp_path)[0])


def test_a_number_that_is_no_column_does_not_fill_the_memory(tmp_path: Path) -> None:
    cut(world(2, 1), tmp_path / "a", "x{x}_y{y}.png")
    Image.new("RGB", (SIDE, SIDE)).save(tmp_path / "a" / "x9999_y4999.png")
    (tiles,) = find_tiles(tmp_path / "a")
    with pytest.raises(BadInput, match=r"10000 x 5000 tiles, more than 65,536; look for a file"):
        stitch(tiles)
    cut(world(2, 1), tmp_path / "b", "x{x}_y{y}.png")
    (tiles,) = find_tiles(tmp_path / "b")
    with pytest.raises(BadInput, match="2000000 x 1000000 pixels are too many"):
        stitch(tiles, full=(2_000_000, 1_000_000))


def test_names_that_can_not_be_told_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        find_tiles(tmp_path / "none")
    with pytest.raises(BadInput, match="--pattern"):
        find_tiles(tmp_path)
    cut(world(4, 4), tmp_path, "{x}_{y}.png")
    with pytest.raises(BadInput, match="which number is the column"):
        find_tiles(tmp_path)
    assert find_tiles(tmp_path, "{col}_{row}.png")[0].tiles[3, 0] == tmp_path / "3_0.png"
    for pattern in ("{col}.png", "{what}_{x}_{y}.png", "{x}_{x}_{y}.png"):
        with pytest.raises(BadInput, match="--pattern"):
            find_tiles(tmp_path, pattern)


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="can't be created"):
        make_panoramas([], tmp_path / "file" / "out")
    with pytest.raises(BadInput, match="can't be written"):
        write_panorama(world(2, 1), tmp_path / "none" / "a.jpg")
