"""Control conditions: what a policy still finds when its picture or its tools tell nothing about the scene."""

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image

from geosleuth.lab.scenes.design import build_truth
from geosleuth.lab.scenes.scene import Scene
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.photo import OpenedPhoto, open_photo

from .episode import Posed, draw_stored_scene

Control = Literal["none", "blank image", "other image", "other tools"]
"""What is taken from a policy.

``blank image`` shows grey, ``other image`` the picture of another scene: the tools read the scene's own signs in both.
``other tools`` shows the scene's own picture, and the tools read the signs of another scene.
"""

_GREY = (128, 128, 128)


def pose_control(scene: Scene, other: Scene, control: Control, kept: Path | None = None) -> Posed:
    """Return an episode about a scene under a control condition; signs are read by clue boxes.

    Args:
        scene: whose place is asked for.
        other: whose picture or signs are shown in its stead.
        control: which of them.
        kept: a folder of pictures that were drawn before, see `pose_scene`.
    """
    jpeg, marks = draw_stored_scene(scene, kept)
    if control == "blank image":
        opened = blank(scene.size)
    elif control == "other image":
        opened = open_photo(_at_size(draw_stored_scene(other, kept)[0], scene.size))
    else:
        opened = open_photo(jpeg)
    read, marks = (other, draw_stored_scene(other, kept)[1]) if control == "other tools" else (scene, marks)
    return Posed((opened,), build_truth(scene), clue_reader(read, marks, photo=opened.photo.handle))


@cache
def blank(size: tuple[int, int]) -> OpenedPhoto:
    """Return an empty picture."""
    return open_photo(_jpeg(Image.new("RGB", size, _GREY)))


def _at_size(jpeg: bytes, size: tuple[int, int]) -> bytes:
    with Image.open(BytesIO(jpeg)) as image:
        return jpeg if image.size == size else _jpeg(image.resize(size))


def _jpeg(image: Image.Image) -> bytes:
    stream = BytesIO()
    image.save(stream, "JPEG")
    return stream.getvalue()
