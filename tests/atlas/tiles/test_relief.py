"""Shaded relief: mountains show, plains and the sea do not."""

import io

import numpy as np
import pytest
from PIL import Image

from geosleuth.atlas.tiles import TileMaker
from geosleuth.atlas.tiles.relief import MAX_ZOOM, SIDE_PX, relief_tile
from geosleuth.support.errors import BadInput


def opacity(z: int, x: int, y: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    picture = Image.open(io.BytesIO(relief_tile(z, x, y)))
    assert (picture.format, picture.mode, picture.size) == ("PNG", "LA", (SIDE_PX, SIDE_PX))
    return np.asarray(picture.getchannel("A"))


def test_mountains_show_and_plains_and_seas_do_not() -> None:
    # The Alps and the Po plain; the Baltic's southern shore; the middle of the Pacific.
    alps, plain, sea = opacity(5, 16, 11), opacity(5, 16, 10), opacity(5, 2, 16)
    assert (alps > 40).mean() > 0.15
    assert (plain > 40).mean() < 0.1
    assert sea.max() == 0
    assert opacity(0, 0, 0).max() > 40, "the whole world has relief too"


def test_light_comes_from_the_north_west() -> None:
    picture = Image.open(io.BytesIO(relief_tile(5, 16, 11)))
    grey, seen = (np.asarray(picture.getchannel(one)).astype(int) for one in ("L", "A"))
    # The southern foot of the Alps falls off to the Po plain, away from the light: dark weighs more there.
    foot = np.s_[100:130, 165:230]
    assert (seen * (grey == 0))[foot].sum() > (seen * (grey == 255))[foot].sum()


def test_tiles_meet() -> None:
    left, right = opacity(5, 16, 11)[:, -1].astype(int), opacity(5, 17, 11)[:, 0].astype(int)
    inside = opacity(5, 16, 11).astype(int)
    assert np.abs(left - right).mean() < 2 * np.abs(np.diff(inside, axis=1)).mean() + 1


@pytest.mark.parametrize("tile", [(1, 2, 0), (0, 0, 1), (-1, 0, 0)])
def test_tiles_that_there_are_not(tile: tuple[int, int, int]) -> None:
    with pytest.raises(BadInput):
        relief_tile(*tile)


def test_the_style_draws_it_below_the_regions() -> None:
    for theme in ("light", "dark"):
        style = TileMaker().style(theme, url_prefix="http://x/tiles")
        assert style["sources"]["relief"]["tiles"] == ["http://x/tiles/relief/{z}/{x}/{y}.png"]
        assert style["sources"]["relief"]["maxzoom"] == MAX_ZOOM
        names = [one["id"] for one in style["layers"]]
        assert names.index("land") < names.index("relief") < names.index("local-land")
