"""A closer look at a part of a picture."""

from typing import Annotated, TypedDict

from geosleuth.photo import to_pixels

from .declare import tool
from .framing import BOX_RENAMES, BoxNumbers, cut_of, view_of
from .kinds import Length
from .model import Case, Output
from .results import Box
from .viewer import Viewer, image_of


class _Cut(TypedDict):
    image: str
    box_px: Box
    box_in_original: Box
    size: Annotated[list[int], Length(2)]


@tool(
    "image_zoom_in_tool",
    use="magnify a part of an image: lettering, signs, plates, anything small or far away",
    result=_Cut,
    viewer=Viewer(
        lambda given: f"magnifies {image_of({**given, 'bbox_2d': True})}", lambda _: "magnified it", icon="zoom"
    ),
    aliases=("image_zoom_tool", "zoom", "zoom_in", "image_zoom", "image_zoom_in"),
    renames=BOX_RENAMES,
)
async def image_zoom_in_tool(case: Case, bbox_2d: BoxNumbers, image: str = "") -> Output:
    """Magnify a part of an image, cut from the original photo, so that small signs and details can be seen.

    The result is a new image with a handle of its own, which can be zoomed into again.

    Args:
        bbox_2d: the part to magnify: left, top, right, bottom on the image named.
        image: handle of the image that the box was drawn on, such as image-1; the first photo if left out.
    """
    shown = await view_of(case, image)
    cut = await cut_of(case, shown.handle, bbox_2d)
    box = [round(side) for side in to_pixels(bbox_2d, shown, case.box_scale)]
    left, top, right, bottom = cut.box_in_original
    text = (
        f"A cut of {shown.handle}, from {box[0]}, {box[1]} to {box[2]}, {box[3]} of its {shown.size[0]} x "
        f"{shown.size[1]} pixels: {right - left} x {bottom - top} pixels of the original, "
        f"shown as {cut.size[0]} x {cut.size[1]}."
    )
    data = {
        "image": shown.handle,
        "box_px": box,
        "box_in_original": list(cut.box_in_original),
        "size": list(cut.size),
    }
    return Output(text, data, (cut,), ("photo",))
