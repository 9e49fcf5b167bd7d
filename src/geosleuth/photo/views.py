"""Views for models: a first view of the whole photo, and crops cut from the original pixels.

A box is `[left, top, right, bottom]` in pixels of the view it was drawn on. Every view remembers which part of the
original it shows, so a box on a crop of a crop finds its way back.
"""

import io
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args
from weakref import WeakKeyDictionary

from geosleuth.support.errors import BadInput

from .photo import Photo

if TYPE_CHECKING:
    from PIL.Image import Image

BoxScale = Literal["pixels", "thousandths", "fractions"]
ImageFormat = Literal["jpeg", "png", "webp"]

FIRST_VIEW_PIXELS = 2_000_000
# A crop is magnified until its longer side has this many pixels, and never more than so many times.
READABLE_SIDE_PX = 800
READABLE_SHORT_SIDE_PX = 600
MAX_MAGNIFICATION = 8.0
_LOWEST_QUALITY = 30

# Reduction factor of a photo from which its small lettering is read in crops.
MIN_REDUCTION_FOR_CROPS = 1.5

# Latest view of each photo in use: agents of a team and replies of a group start with the same one.
_first_views: "WeakKeyDictionary[Photo, Image]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A picture to show, and the part of the original it shows (left, top, right, bottom in whole pixels)."""

    handle: str
    image: "Image" = field(repr=False)
    box_in_original: tuple[int, int, int, int]
    photo_handle: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.image.size

    @property
    def reduction(self) -> float:
        """Return how many times wider that part of the original is than the picture.

        Above 1 a crop of it shows more.
        """
        left, _, right, _ = self.box_in_original
        return (right - left) / self.size[0]


def first_view(photo: Photo, max_pixels: int = FIRST_VIEW_PIXELS, *, handle: str | None = None) -> View:
    """The whole photo, scaled down to `max_pixels` if it has more, never up. Its pixels may be shared."""
    width, height = photo.size
    size = _scale_size(width, height, min(1.0, math.sqrt(max_pixels / (width * height))))
    whole = (0, 0, width, height)
    image = _first_views.get(photo)
    if image is None or image.size != size:
        image = _first_views[photo] = render(photo, whole, size).image
    return View(handle or secrets.token_hex(4), image, whole, photo.handle)


def crop(
    view: View,
    bbox: Sequence[float],
    photo: Photo,
    *,
    scale: BoxScale = "pixels",
    max_pixels: int = FIRST_VIEW_PIXELS,
    wide_side_px: int = READABLE_SIDE_PX,
    handle: str | None = None,
) -> View:
    """A part of a view, cut from the original photo and magnified so that small writing can be read.

    The part is widened to whole pixels of the original, so that all of the box is in it. A narrow one, such as a shop's
    sign, is magnified until its shorter side can be read too, or its longer side has ``wide_side_px``.

    Raises:
        BadInput: the box can't be used, see `to_pixels`.
        ValueError: the view is not one of this photo.
    """
    if view.photo_handle != photo.handle:
        raise ValueError("the view was made from another photo")
    left, top, right, bottom = to_pixels(bbox, view, scale)
    x0, y0, x1, y1 = view.box_in_original
    across, down = (x1 - x0) / view.size[0], (y1 - y0) / view.size[1]
    box = (
        *_snap_to_pixels(x0 + left * across, x0 + right * across, x0, x1),
        *_snap_to_pixels(y0 + top * down, y0 + bottom * down, y0, y1),
    )
    place = (box[0], box[2], box[1], box[3])
    width, height = place[2] - place[0], place[3] - place[1]
    short, long = sorted((width, height))
    wide = min(wide_side_px / long, READABLE_SHORT_SIDE_PX / short)
    wanted = min(MAX_MAGNIFICATION, max(1.0, READABLE_SIDE_PX / long, wide))
    return render(
        photo, place, _scale_size(width, height, min(wanted, math.sqrt(max_pixels / (width * height)))), handle
    )


def full_box(size: tuple[int, int], scale: BoxScale) -> tuple[int, int]:
    """The right and lower sides of a box around all of an image, in a scale."""
    if scale not in get_args(BoxScale):
        raise ValueError(f"scale must be one of {', '.join(get_args(BoxScale))}, not {scale!r}")
    return size if scale == "pixels" else (1000, 1000) if scale == "thousandths" else (1, 1)


def scale_box(box_px: Sequence[float], size: tuple[int, int], scale: BoxScale) -> list[float]:
    """A box in pixels of an image as a model gives it: whole numbers, and fractions to the third decimal."""
    most = full_box(size, scale)
    sides = [side * most[at % 2] / size[at % 2] for at, side in enumerate(box_px)]
    return [round(side, 3) if scale == "fractions" else round(side) for side in sides]


def to_pixels(bbox: Sequence[float], view: View, scale: BoxScale = "pixels") -> tuple[float, float, float, float]:
    """A box as models give it, as left, top, right, bottom in pixels of the view.

    Reversed sides are put in order and what hangs over the edge is cut off, since the intent is plain.

    Args:
        bbox: two opposite corners, x before y.
        view: the view that the box was drawn on.
        scale: whether the numbers are pixels of the view, or thousandths or fractions of its width and height.

    Raises:
        BadInput: not four finite numbers, no area, or wholly outside the view; the message says what would be right.
    """
    width, height = view.size
    most = full_box(view.size, scale)
    right_way = f"give [left, top, right, bottom] within 0 to {most[0]} across and 0 to {most[1]} down"
    given: object = bbox  # a model's own words, which may be of another type than declared
    if not isinstance(given, list | tuple) or len(given) != 4:
        raise BadInput(f"a box has four numbers; {right_way}")
    if not all(_is_finite_number(value) for value in given):
        raise BadInput(f"the box holds something that is not a number; {right_way}")
    across, down = width / most[0], height / most[1]
    x0, x1 = sorted((bbox[0] * across, bbox[2] * across))
    y0, y1 = sorted((bbox[1] * down, bbox[3] * down))
    if x0 >= x1 or y0 >= y1:
        raise BadInput(f"the box {_format_box(bbox)} is empty; {right_way}")
    if x1 <= 0 or y1 <= 0 or x0 >= width or y0 >= height:
        raise BadInput(f"the box {_format_box(bbox)} lies outside the image; {right_way}")
    return max(0.0, x0), max(0.0, y0), min(float(width), x1), min(float(height), y1)


def encode(view: View, image_format: ImageFormat = "jpeg", *, quality: int = 90, max_bytes: int | None = None) -> bytes:
    """The view as a file's content, with no metadata of any kind.

    The size in pixels is kept, since boxes refer to it; to fit `max_bytes`, JPEG and WebP give up quality instead.

    Raises:
        BadInput: it does not fit into `max_bytes` even so.
    """
    while True:
        stream = io.BytesIO()
        options = {} if image_format == "png" else {"quality": quality}
        view.image.save(stream, image_format.upper(), **options)
        data = stream.getvalue()
        if max_bytes is None or len(data) <= max_bytes:
            return data
        if image_format == "png" or quality <= _LOWEST_QUALITY:
            raise BadInput(
                f"a view of {view.size[0]} x {view.size[1]} pixels does not fit into {max_bytes} bytes; "
                "allow more bytes or fewer pixels"
            )
        quality = max(_LOWEST_QUALITY, quality - 15)


def render(photo: Photo, box: tuple[int, int, int, int], size: tuple[int, int], handle: str | None = None) -> View:
    """A part of the photo in a given size; the same part and size give the same pixels."""
    from PIL.Image import Resampling

    smaller = size[0] < box[2] - box[0]
    # Downwards, Hamming is nearly as sharp as bicubic in half the time. Far down, averages of whole pixels come first.
    kernel = Resampling.HAMMING if smaller else Resampling.BICUBIC
    image = photo.image.resize(size, kernel, box=box, reducing_gap=3.0)
    return View(handle or secrets.token_hex(4), image, box, photo.handle)


def _scale_size(width: int, height: int, scale: float) -> tuple[int, int]:
    # Rounded down, so that a pixel limit is a limit.
    return max(1, math.floor(width * scale + 1e-9)), max(1, math.floor(height * scale + 1e-9))


def _snap_to_pixels(low: float, high: float, least: int, most: int) -> tuple[int, int]:
    # A hair of rounding error must not pull in another row of pixels.
    start = min(max(least, math.floor(low + 1e-6)), most - 1)
    return start, min(most, max(start + 1, math.ceil(high - 1e-6)))


def _is_finite_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _format_box(bbox: Sequence[float]) -> str:
    return "[" + ", ".join(f"{float(value):g}" for value in bbox) + "]"
