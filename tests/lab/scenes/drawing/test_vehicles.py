"""Cars keep to their side, plates and buses can be read."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from geosleuth.lab.scenes.drawing.vehicles import (
    Facing,
    draw_bus,
    draw_car,
)
from geosleuth.photo.text import read_text
from nature import empty_street, light_with


def written(text: str, size: tuple[int, int], ink: str = "#101010", ground: str = "#ffffff") -> Image.Image:
    picture = Image.new("RGB", size, ground)
    font = ImageFont.load_default(round(size[1] * 0.72))
    ImageDraw.Draw(picture).text((size[0] // 2, size[1] // 2), text, fill=ink, font=font, anchor="mm")
    return picture


def halves() -> Image.Image:
    picture = Image.new("RGB", (200, 40), (255, 0, 0))
    picture.paste((0, 0, 255), (100, 0, 200, 40))
    return picture


def test_plates_can_be_read_at_the_rear_and_at_the_front() -> None:
    canvas = empty_street((1600, 1200))
    light = light_with(180, 40)
    rear = draw_car(
        canvas, (1.2, 6.2), (40, 60, 110), "away", light, kind="saloon", plate=written("KL 4728", (416, 92))
    )
    front = draw_car(
        canvas, (-1.2, 6.2), (150, 50, 40), "towards", light, kind="van", plate=written("RT 9536", (416, 92))
    )
    assert rear is not None
    assert front is not None
    points = [point for corner in (*rear, *front) if (point := canvas.view.project(corner))]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    plates = canvas.image().crop((int(min(xs)) - 30, int(min(ys)) - 30, int(max(xs)) + 30, int(max(ys)) + 30))
    read = "".join(line.text for line in read_text(plates, seconds=3)).replace(" ", "").replace("·", "")
    assert "KL4728" in read
    assert "RT9536" in read


def columns_of(x_m: float, facing: Facing, kind: str) -> tuple[float, float]:
    """Where the red left half and the blue right half of a board appear."""
    canvas = empty_street()
    if kind == "bus":
        shown, _ = draw_bus(canvas, (x_m, 16.0), (220, 220, 220), facing, light_with(180, 40), side=halves())
    else:
        shown = draw_car(canvas, (x_m, 6.0), (220, 220, 220), facing, light_with(180, 40), plate=halves())
    assert shown is not None
    pixels = canvas.pixels.astype(int)
    red = np.argwhere((pixels[..., 0] > 200) & (pixels[..., 1] < 40) & (pixels[..., 2] < 40))
    blue = np.argwhere((pixels[..., 2] > 200) & (pixels[..., 1] < 40) & (pixels[..., 0] < 40))
    assert len(red) > 5
    assert len(blue) > 5
    return float(red[:, 1].mean()), float(blue[:, 1].mean())


@pytest.mark.parametrize("x_m", [-4.0, 4.0])
@pytest.mark.parametrize("facing", ["away", "towards", "left", "right"])
def test_writing_on_a_bus_is_never_mirrored(x_m: float, facing: Facing) -> None:
    red, blue = columns_of(x_m, facing, "bus")
    assert red < blue


@pytest.mark.parametrize("x_m", [-2.0, 2.0])
@pytest.mark.parametrize("facing", ["away", "towards"])
def test_plates_are_never_mirrored(x_m: float, facing: Facing) -> None:
    red, blue = columns_of(x_m, facing, "car")
    assert red < blue


def test_a_car_behind_the_camera_or_through_it_leaves_no_trouble() -> None:
    canvas = empty_street()
    draw_car(canvas, (0.0, -10.0), (146, 36, 36), "away", light_with())
    assert (canvas.pixels == 150).all()
    draw_car(canvas, (1.6, 0.5), (146, 36, 36), "towards", light_with())
