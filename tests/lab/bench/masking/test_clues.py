"""What a run looked at, found again in the original photo."""

import asyncio
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from PIL import Image, ImageDraw

from geosleuth.agent import Trajectory, run
from geosleuth.agent.locate import open_case
from geosleuth.agent.setup import AgentSetup, PhotoQuestion, Resources
from geosleuth.lab.bench.masking import clue_boxes
from geosleuth.lab.bench.sets import DatasetBox
from geosleuth.photo import Claims, OpenedPhoto, Photo, cut_views
from geosleuth.photo.panorama import boxes_in_panorama
from geosleuth.tools import Case, Output, Toolset, tool
from geosleuth.tools.image_tools import get_view
from scripted import Line, ScriptedPolicy, answers, call, calls
from small_runs import ALL_TOOLS, draw_map, small_method

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas


@tool("read_text")
async def reads_a_sign(case: Case, image: str = "") -> Output:
    """Stand in for the reader of text: two lines, in pixels of the image named.

    Args:
        image: which.
    """
    view = await get_view(case, image)
    lines = [
        {"text": "Rue Grimaldi", "confidence": 0.98, "bbox_px": [80, 60, 240, 120]},
        {"text": "SORTIE", "confidence": 0.97, "bbox_px": [400, 300, 480, 360]},
    ]
    return Output("Two lines.", {"image": view.handle, "lines": lines})


TOOLS = Toolset([*(one for one in ALL_TOOLS if one is not draw_map), reads_a_sign, draw_map])


def worked_on(photo: Photo, *script: Line) -> Trajectory:
    claims = Claims("JPEG", 1, "0" * 64, photo.size)
    case, views = open_case([OpenedPhoto(photo, claims)], small_method(), Resources(cast("Atlas", None)))
    return asyncio.run(
        run(
            case,
            AgentSetup(method=small_method(), policy=ScriptedPolicy(script), toolset=TOOLS),
            question=PhotoQuestion(views=views),
        )
    )


def plain(size: tuple[int, int] = (4000, 3000)) -> Photo:
    return Photo(Image.new("RGB", size, (90, 120, 90)), "photo")


def zoom(box: list[float], image: str = "image-1") -> Line:
    return calls(call("image_zoom_in_tool", bbox_2d=box, image=image))


HERE = answers(43.7, 7.4, city="Monaco", country="Monaco")


def near(box: DatasetBox, left: float, top: float, right: float, bottom: float) -> bool:
    return (box.left, box.top, box.right, box.bottom) == pytest.approx((left, top, right, bottom), abs=0.002)


def test_a_crop_of_a_crop_lies_where_it_was_in_the_original() -> None:
    # The first view of 12 million pixels is 1632 x 1224: each of its pixels is 2.45 of the original.
    first = worked_on(plain(), zoom([408, 306, 816, 612]), HERE)
    (box,) = clue_boxes(first)
    assert near(box, 0.25, 0.25, 0.5, 0.5)
    width, height = first.images[-1].size
    inner = worked_on(plain(), zoom([408, 306, 816, 612]), zoom([width / 2, 0, width, height / 2], "image-2"), HERE)
    (box,) = clue_boxes(inner)
    assert near(box, 0.375, 0.25, 0.5, 0.375)
    assert box.kind == "clue"


def test_text_counts_where_the_evidence_speaks_of_it() -> None:
    seen = calls(call("read_text", image="image-1"))
    told = answers(43.7, 7.4, city="Monaco", country="Monaco", explanation='The sign says "Rue Grimaldi".')
    (box,) = clue_boxes(worked_on(plain((800, 600)), seen, told))
    assert near(box, 0.1, 0.1, 0.3, 0.2)
    assert clue_boxes(worked_on(plain((800, 600)), seen, HERE)) == ()


def test_text_that_was_read_in_a_crop_lies_where_it_was_in_the_original() -> None:
    photo = plain((800, 600))
    seen = calls(call("read_text", image="image-2"))
    told = answers(43.7, 7.4, city="Monaco", country="Monaco", explanation='The sign says "Rue Grimaldi".')
    trajectory = worked_on(photo, zoom([400, 300, 800, 600]), seen, told)
    width, height = trajectory.images[-1].size
    cut, line = clue_boxes(trajectory)
    assert near(cut, 0.5, 0.5, 1.0, 1.0)
    assert near(line, 0.5 + 40 / width, 0.5 + 30 / height, 0.5 + 120 / width, 0.5 + 60 / height)


def panorama(spot: tuple[int, int, int, int]) -> Photo:
    image = Image.new("RGB", (2048, 1024), (60, 60, 60))
    ImageDraw.Draw(image).rectangle(spot, fill=(255, 255, 255))
    return Photo(image, "panorama")


@pytest.mark.parametrize(
    ("spot", "view"), [((1300, 470, 1340, 500), 1), ((1040, 480, 1070, 520), 0), ((10, 500, 40, 540), 3)]
)
def test_a_look_at_a_view_of_a_panorama_is_found_in_the_panorama(spot: tuple[int, int, int, int], view: int) -> None:
    photo = panorama(spot)
    bright = np.asarray(cut_views(photo, 6)[view].photo.image.convert("L")) > 128
    down, across = np.nonzero(bright)
    box = [float(across.min()), float(down.min()), float(across.max() + 1), float(down.max() + 1)]
    (found,) = clue_boxes(worked_on(photo, zoom(box, f"image-{view + 1}"), HERE))
    width, height = photo.size
    assert found.left * width == pytest.approx(spot[0], abs=4)
    assert found.top * height == pytest.approx(spot[1], abs=4)
    assert found.right * width == pytest.approx(spot[2], abs=4)
    assert found.bottom * height == pytest.approx(spot[3], abs=4)


def test_a_part_across_the_seam_of_a_panorama_is_two_boxes() -> None:
    right, left = boxes_in_panorama((0.4, 0.4, 0.6, 0.6), 180.0)
    assert right[2] == 1.0
    assert left[0] == 0.0
    assert left[2] == pytest.approx(1.0 - right[0])
