"""A closer look, and what comes of boxes that can't be used."""

from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageColor

from geosleuth.agent.methods import method
from geosleuth.tools.image_tools import image_zoom_in_tool
from geosleuth.tools.toolset import all_tools
from tool_cases import call, case_of


def quarters(width: int = 3200, height: int = 2000) -> Image.Image:
    """Red, green, blue and white quarters, clockwise from the upper left."""
    picture = Image.new("RGB", (width, height), "white")
    for colour, corner in (("red", (0, 0)), ("lime", (width // 2, 0)), ("blue", (width // 2, height // 2))):
        picture.paste(colour, (*corner, corner[0] + width // 2, corner[1] + height // 2))
    return picture


def test_a_box_in_pixels_of_the_view_is_cut_from_the_original() -> None:
    case = case_of(quarters())
    width, height = case.album["image-1"].size
    assert width < 3200  # the first view is smaller than the photo
    seen = call(image_zoom_in_tool, case, {"bbox_2d": [width / 2, 0, width, height / 2]})
    assert seen.failure is None
    assert [image.handle for image in seen.images] == ["image-2"]
    left, top, right, bottom = seen.images[0].box_in_original
    assert (abs(left - 1600) <= 2, top, right, abs(bottom - 1000) <= 2) == (True, 0, 3200, True)
    assert case.album["image-2"].image.getpixel((400, 400)) == (0, 255, 0)
    assert "image-1" in seen.text
    assert seen.sources == ("photo",)


def test_a_crop_of_a_crop_finds_its_way_back() -> None:
    case = case_of(quarters(1000, 1000))
    call(image_zoom_in_tool, case, {"bbox_2d": [400, 400, 600, 600]})
    width, height = case.album["image-2"].size
    box = [width / 2, height / 2, width, height]
    seen = call(image_zoom_in_tool, case, {"bbox_2d": box, "image": "image-2"})
    assert seen.images[0].box_in_original == (500, 500, 600, 600)
    assert case.album["image-3"].image.getpixel((50, 50)) == (0, 0, 255)
    assert "image-2" in seen.text


def test_thousandths_are_converted() -> None:
    case = case_of(quarters(800, 400))
    case.box_scale = "thousandths"
    seen = call(image_zoom_in_tool, case, {"bbox_2d": [500, 0, 1000, 500]})
    assert seen.images[0].box_in_original == (400, 0, 800, 200)
    assert seen.data["box_px"] == [400, 0, 800, 200]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("image_zoom_tool", {"bbox": [0, 0, 100, 100]}),
        ("zoom", {"box": "[0, 0, 100, 100]", "image": 1}),
        ("zoom", {"bbox_2d": [100, 100, 0, 0], "handle": "Image 1"}),
        ("zoom", '{"bbox_2d": ["0", "0", "100", "100"], "image": null}'),
    ],
)
def test_other_spellings_are_understood(name: str, arguments: Any) -> None:
    seen = call(image_zoom_in_tool, case_of(quarters(400, 400)), arguments, name=name)
    assert (seen.failure, seen.name) == (None, "image_zoom_in_tool")
    assert seen.images[0].box_in_original == (0, 0, 100, 100)


@pytest.mark.parametrize(
    ("arguments", "failure", "says"),
    [
        ({"bbox_2d": [500, 500, 600, 600]}, "refused", "within 0 to 400 across and 0 to 200 down"),
        ({"bbox_2d": [10, 10, 10, 50]}, "refused", "is empty"),
        ({"bbox_2d": [0, 0, 10, 10], "image": "image-9"}, "refused", "there are: image-1"),
        ({"bbox_2d": [0, 0, 10, 10], "image": "/etc/passwd"}, "refused", "there are: image-1"),
        ({"bbox_2d": [0, 0, 10]}, "bad_arguments", "4"),
        ({}, "bad_arguments", "bbox_2d"),
    ],
)
def test_what_can_not_be_cut_is_refused_with_the_right_way(arguments: Any, failure: str, says: str) -> None:
    case = case_of(quarters(400, 200))
    seen = call(image_zoom_in_tool, case, arguments)
    assert seen.failure == failure
    assert says in seen.text
    assert case.album.handles == ("image-1",)


def test_narrow_cuts_are_shown_as_large_as_models_can_see_them() -> None:
    case = case_of(quarters(1600, 1200))
    wide = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 1200, 150]})
    assert wide.images[0].size == (1568, 196)
    tall = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 100, 700]})
    assert tall.images[0].size == (224, 1568)
    tiny = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 40, 20]})
    assert tiny.images[0].size == (320, 160)
    square = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 400, 300]})
    assert square.images[0].size == (800, 600)


@pytest.mark.parametrize(
    ("degrees", "corners"),
    [
        # Clockwise from the upper left: the four quarters are red, green, blue and white there.
        (0, "red lime blue white"),
        (90, "white red lime blue"),
        (180, "blue white red lime"),
        (-90, "lime blue white red"),
    ],
)
def test_a_cut_can_be_turned(degrees: int, corners: str) -> None:
    case = case_of(quarters(1000, 800))
    seen = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 1000, 800], "rotate": degrees})
    picture = case.album[seen.images[0].handle].image
    assert picture.size == ((1000, 800) if degrees in (0, 180) else (800, 1000))
    width, height = picture.size
    spots = [(9, 9), (width - 9, 9), (width - 9, height - 9), (9, height - 9)]
    assert [picture.getpixel(spot) for spot in spots] == [ImageColor.getrgb(name) for name in corners.split()]
    assert ("turned" in seen.text) is bool(degrees)


def test_a_turned_cut_has_the_pixels_of_the_original() -> None:
    """The view shows 2 of 6.4 million pixels; what is turned can be magnified as far as the photo can."""
    case = case_of(quarters())
    width, height = case.album["image-1"].size
    call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, width, height], "rotate": 5})
    turned = case.album["image-2"]
    assert turned.box_in_original[2] > 3200
    assert turned.size[0] * turned.size[1] <= 2_000_000
    seen = call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 500, 300], "image": "image-2"})
    assert seen.images[0].box_in_original[2] > 800


def test_contrast_brings_out_what_is_nearly_of_one_colour() -> None:
    picture = Image.new("RGB", (400, 300), (60, 60, 60))
    picture.paste((66, 66, 66), (150, 100, 250, 200))
    case = case_of(picture)
    call(image_zoom_in_tool, case, {"bbox_2d": [50, 50, 350, 250], "contrast": True})
    shown = case.album["image-2"].image.convert("L")
    inside, outside = (np.asarray(shown)[row, column].item() for row, column in ((266, 400), (40, 40)))
    assert inside - outside > 60


def test_a_cut_of_few_pixels_says_that_there_is_no_more_in_it() -> None:
    case = case_of(quarters(1000, 800))
    assert "shows no more" in call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 80, 60]}).text
    assert "shows no more" not in call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 400, 300]}).text


def test_two_cuts_can_be_seen_side_by_side() -> None:
    case = case_of(quarters(1000, 800))
    call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 400, 300]})
    seen = call(image_zoom_in_tool, case, {"bbox_2d": [600, 0, 1000, 300], "beside": "2"})
    both = case.album["image-3"].image
    assert max(both.size) <= 1568
    assert both.getpixel((100, 100)) == (0, 255, 0)
    assert both.getpixel((both.size[0] - 100, 100)) == (255, 0, 0)
    assert "image-2 on the right" in seen.text
    assert call(image_zoom_in_tool, case, {"bbox_2d": [0, 0, 9, 9], "beside": "image-9"}).failure == "refused"


def test_a_papers_zoom_has_no_options() -> None:
    def told(name: str) -> list[str]:
        preset = method(name)
        (zoom,) = preset.toolset(all_tools(), ["image_zoom_in_tool"])
        return list(zoom.schema()["parameters"]["properties"])

    assert told("default") == ["bbox_2d", "image", "rotate", "contrast", "beside"]
    for name in ("geovista", "spotagent", "twm", "nano"):
        assert told(name) == ["bbox_2d", "image"]
