"""The same scene, the same pixels, on every machine: digests made on aarch64, to be met on x86-64 as well.

They hold for the versions of Pillow, OpenCV and numpy that constraints.txt names: other versions may draw letters and
edges a little differently.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from drawn_streets import street_scene
from geosleuth.world.drawing import draw_scene
from geosleuth.world.model import Scene, Sky

PINNED = ("pillow", "opencv-python-headless", "numpy")
_CONSTRAINTS = (Path(__file__).parents[3] / "constraints.txt").read_text(encoding="utf-8").splitlines()
NOT_PINNED = [name for name in PINNED if f"{name}=={version(name)}" not in _CONSTRAINTS]


def _rainy() -> Scene:
    scene = street_scene("pt", ("shop_front", "notice", "bus"), seed=7)
    return replace(scene, sky=Sky(scene.sky.at, 220.0, 12.0, "rain", "autumn"))


def _night() -> Scene:
    scene = street_scene("ja", ("shop_front", "banner", "billboard"), seed=8, split="held-out")
    return replace(scene, sky=Sky(scene.sky.at, 300.0, -14.0, "cloudy", "winter"))


SCENES: dict[str, tuple[Callable[[], Scene], str, str]] = {
    "noon": (
        lambda: street_scene("de", ("shop_front", "street_plate", "number_plate", "notice"), seed=6),
        "8c5a1f949b09bbf06454daa9c6ddc2f8",
        "bb3edf44597a8627e980134056c7c317",
    ),
    "rain": (_rainy, "140e439d009b0304535eab5922b0f578", "89d427ef88d50a5c3713b72e9e6da189"),
    "night": (_night, "1ef8db7fb1c9f8f82ec609c966ba9b11", "ade48b46e92cc27c5cf216e689cbe152"),
    "hidden": (
        lambda: street_scene("de", ("shop_front", "town_sign"), seed=9, visibility={"town_sign": "hidden"}),
        "7cc13557beb4da32b8b374927465213d",
        "379fd9e1be919128de7805e5c554c909",
    ),
    "panorama": (
        lambda: street_scene("pt", ("shop_front", "bus_stop"), seed=4, size=(2048, 1024), kind="panorama"),
        "7b23379ecd35e41cf080bc58791cd830",
        "130fe5c5f314039d2d4e22a2d4b4a11a",
    ),
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@pytest.mark.skipif(bool(NOT_PINNED), reason=f"digests hold for pinned versions, these are others: {NOT_PINNED}")
@pytest.mark.parametrize("name", SCENES)
def test_pixels_and_bytes_are_those_of_every_other_machine(name: str) -> None:
    scene, pixels, stored = SCENES[name]
    drawing = draw_scene(scene())
    assert digest(drawing.image.tobytes()) == pixels
    assert digest(drawing.jpeg()) == stored


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
