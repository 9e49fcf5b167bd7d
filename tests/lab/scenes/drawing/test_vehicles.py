"""Cars keep to their side, plates and buses can be read."""

from typing import Literal

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from geosleuth.lab.scenes.drawing.vehicles import (
    Facing,
    Side,
    car_size_m,
    draw_bus,
    draw_car,
    lane_x,
    parked_facing,
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


@pytest.mark.parametrize("drives_on", ["left", "right"])
def test_cars_keep_to_the_side_of_the_road_that_the_country_drives_on(drives_on: Side) -> None:
    away, towards = lane_x(drives_on, 3.5, "away"), lane_x(drives_on, 3.5, "towards")
    assert (away > 0 > towards) if drives_on == "right" else (away < 0 < towards)
    assert max(abs(away), abs(towards)) + car_size_m("van")[1] / 2 < 3.5


@pytest.mark.parametrize("drives_on", ["left", "right"])
@pytest.mark.parametrize("kerb", ["left", "right"])
def test_parked_cars_point_the_way_their_side_drives(drives_on: Side, kerb: Side) -> None:
    lanes: tuple[Literal["away", "towards"], ...] = ("away", "towards")
    way = next(way for way in lanes if (lane_x(drives_on, 3.5, way) > 0) == (kerb == "right"))
    assert parked_facing(drives_on, kerb) == way


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


def test_a_bus_can_be_read_from_its_side() -> None:
    canvas = empty_street((1600, 1200))
    board, _ = draw_bus(
        canvas, (0.0, 13.0), (200, 60, 50), "left", light_with(180, 40),
        side=written("Sunrise Tours", (860, 80), "#ffffff", "#14306a"),
    )  # fmt: skip
    assert board is not None
    assert any("Sunrise" in line.text for line in read_text(canvas.image().crop((300, 450, 1300, 900)), seconds=3))


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


def test_a_car_stands_on_the_road_and_no_taller_than_it_is() -> None:
    canvas = empty_street()
    draw_car(canvas, (0.0, 10.0), (146, 36, 36), "away", light_with(), kind="suv")
    rows, columns = np.nonzero((canvas.pixels != 150).any(axis=2))
    length, width, height = car_size_m("suv")
    top, ground = canvas.view.project((0.0, 10.0, height)), canvas.view.project((0.0, 10.0 - length / 2, 0.0))
    assert top is not None
    assert ground is not None
    assert rows.min() >= top[1] - 6
    assert abs(rows.max() - ground[1]) < 12
    across = (columns.max() - columns.min()) / canvas.view.pixels_per_metre((0.0, 10.0 - length / 2, 0.0))
    assert width - 0.2 < across < width + 0.5


def test_a_car_behind_the_camera_or_through_it_leaves_no_trouble() -> None:
    canvas = empty_street()
    draw_car(canvas, (0.0, -10.0), (146, 36, 36), "away", light_with())
    assert (canvas.pixels == 150).all()
    draw_car(canvas, (1.6, 0.5), (146, 36, 36), "towards", light_with())
