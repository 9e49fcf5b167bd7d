"""The same scene, the same pixels."""

import numpy as np

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing import draw_scene


def test_drawing_twice_gives_the_same() -> None:
    scene = street_scene("de", ("shop_front", "poster", "bus_stop"), seed=3)
    one = draw_scene(scene)
    draw_scene(street_scene("ja", ("shop_front",), seed=4))
    other = draw_scene(scene)
    assert one.marks == other.marks
    assert one.jpeg() == other.jpeg()


def test_jpegs_open_as_what_was_drawn() -> None:
    import io

    from PIL import Image

    drawing = draw_scene(street_scene("de", ("shop_front",), seed=3))
    stored = Image.open(io.BytesIO(drawing.jpeg()))
    assert stored.format == "JPEG"
    apart = np.abs(np.asarray(stored.convert("RGB")).astype(int) - np.asarray(drawing.image).astype(int))
    assert apart.mean() < 6
