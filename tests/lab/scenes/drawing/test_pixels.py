"""The same scene, the same pixels, on every machine: digests made on aarch64, and met on x86-64 as well.

They hold for the versions of Pillow, OpenCV and numpy that constraints.txt names (others may draw letters and edges a
little differently), and where Pillow finds the system's FriBiDi: without it letters are neither kerned nor joined.
scripts/golden_scenes.py writes them anew.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from drawn_streets import street_scene
from geosleuth.atlas.maps.labels import can_shape
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.scene import Scene, Sky

PINNED = ("pillow", "opencv-python-headless", "numpy")
_CONSTRAINTS = (Path(__file__).parents[4] / "constraints.txt").read_text(encoding="utf-8").splitlines()
NOT_PINNED = [name for name in PINNED if f"{name}=={version(name)}" not in _CONSTRAINTS]
WHY_NOT = (
    f"digests hold for pinned versions, these are others: {NOT_PINNED}" if NOT_PINNED
    else "" if can_shape() else "Pillow finds no FriBiDi here (Debian's package: libfribidi0)"
)  # fmt: skip


def _rainy() -> Scene:
    scene = street_scene("pt", ("shop_front", "notice", "bus"), seed=7)
    return replace(scene, sky=Sky(scene.sky.at, 220.0, 12.0, "rain", "autumn"))


def _night() -> Scene:
    scene = street_scene("ja", ("shop_front", "banner", "billboard"), seed=8, split="held-out")
    return replace(scene, sky=Sky(scene.sky.at, 300.0, -14.0, "cloudy", "winter"))


def _tile() -> Scene:
    """A clear day above a coastal suburb: roofs, shadows, trees, fields and the sea."""
    scene = street_scene("pt", (), seed=5, size=(512, 512), kind="satellite")
    return replace(scene, look=replace(scene.look, layout="suburb", terrain="coast"))


SCENES: dict[str, tuple[Callable[[], Scene], str, str]] = {
    "noon": (
        lambda: street_scene("de", ("shop_front", "street_plate", "number_plate", "notice"), seed=6),
        "5b08f3cb52085c4f9da0ef12044ab7a2",
        "40bed5db30010f29165c9bd2531a2200",
    ),
    "rain": (_rainy, "f41bc9a76eb9eaa584d7d1865af62d7a", "e3b26118f7e3cd8de71b9ef89df69e01"),
    "night": (_night, "4baa0738b126889a53fbe0ae39d94624", "6bff24c9b415ba1f794dc33073d2583f"),
    "hidden": (
        lambda: street_scene("de", ("shop_front", "town_sign"), seed=9, visibility={"town_sign": "hidden"}),
        "950ccdab91967b297924e284de19737f",
        "9a29f00494975db9b472b0cee047d8c1",
    ),
    "panorama": (
        lambda: street_scene("pt", ("shop_front", "bus_stop"), seed=4, size=(2048, 1024), kind="panorama"),
        "e090c0c5fd7cad011ac84a3b7f86ea98",
        "8a874745f18c30672e593318106b959b",
    ),
    "tile": (_tile, "24148d83156bd47f1ca2c3410e049e2d", "1a1e978534c3de4247e7c8fc80f5d91c"),
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "drawn")
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
