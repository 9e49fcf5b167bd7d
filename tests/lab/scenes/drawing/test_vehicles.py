"""Cars that the camera can't see leave nothing behind."""

from geosleuth.lab.scenes.drawing.vehicles import draw_car
from nature import empty_street, light_with


def test_a_car_behind_the_camera_or_through_it_leaves_no_trouble() -> None:
    canvas = empty_street()
    draw_car(canvas, (0.0, -10.0), (146, 36, 36), "away", light_with())
    assert (canvas.pixels == 150).all()
    draw_car(canvas, (1.6, 0.5), (146, 36, 36), "towards", light_with())
