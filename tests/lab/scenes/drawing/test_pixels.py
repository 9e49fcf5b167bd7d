"""The same scene, the same pixels."""

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing import draw_scene


def test_drawing_twice_gives_the_same() -> None:
    scene = street_scene("de", ("shop_front", "poster", "bus_stop"), seed=3)
    one = draw_scene(scene)
    draw_scene(street_scene("ja", ("shop_front",), seed=4))
    other = draw_scene(scene)
    assert one.marks == other.marks
    assert one.jpeg() == other.jpeg()
