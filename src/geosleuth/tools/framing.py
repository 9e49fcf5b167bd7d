"""Which picture a call means, and which part of it."""

import asyncio
import re
from typing import Annotated

from geosleuth.errors import BadInput
from geosleuth.photo import View

from .kinds import Length
from .model import Case

BoxNumbers = Annotated[list[float], Length(4)]

BOX_RENAMES = {
    "bbox": "bbox_2d",
    "box": "bbox_2d",
    "box_2d": "bbox_2d",
    "bounding_box": "bbox_2d",
    "region": "bbox_2d",
    "coordinates": "bbox_2d",
    "handle": "image",
    "image_handle": "image",
    "image_id": "image",
    "image_name": "image",
    "img": "image",
    "target_image": "image",
}
_LOOSE_HANDLE = re.compile(r"(?:(?:image|img|picture|photo)[\s_-]*)?#?(\d{1,6})", re.IGNORECASE)


def handle_of(case: Case, image: str) -> str:
    """The handle that a call means: the first picture where it names none; "2" and "Image 2" are image-2.

    Raises:
        BadInput: there is no picture at all.
    """
    handles = case.album.handles
    if not handles:
        raise BadInput("there is no image to look at yet")
    if not image.strip():
        return handles[0]
    loose = _LOOSE_HANDLE.fullmatch(image.strip())
    return f"image-{int(loose[1])}" if loose else image.strip()


async def view_of(case: Case, image: str) -> View:
    """The picture that a call names.

    Raises:
        BadInput: no picture has this handle.
    """
    return await asyncio.to_thread(case.album.__getitem__, handle_of(case, image))


async def cut_of(case: Case, image: str, bbox_2d: list[float]) -> View:
    """A part of a picture, cut from the original pixels.

    Raises:
        BadInput: no picture has this handle, or the box can't be used.
    """
    return await asyncio.to_thread(case.album.preview, handle_of(case, image), bbox_2d, case.box_scale)


def scale_words(case: Case, handle: str) -> str:
    """What the numbers of a box are."""
    if case.box_scale == "thousandths":
        return f"[left, top, right, bottom] in thousandths of the width and height of {handle}"
    return f"[left, top, right, bottom] in pixels of {handle}"
