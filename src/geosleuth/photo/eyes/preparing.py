"""From a picture to the numbers a network takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .encoder import Features

if TYPE_CHECKING:
    from PIL.Image import Image

Colour = tuple[float, float, float]
IMAGENET_MEAN: Colour = (123.675, 116.28, 103.53)
IMAGENET_DEVIATION: Colour = (58.395, 57.12, 57.375)
BICUBIC = 3
_LARGEST_SIDE_PX = 4096


@dataclass(frozen=True, slots=True)
class Preparation:
    """How large a network wants a picture and how its colours are scaled: (value - mean) / deviation, of 0 to 255.

    The whole picture is squeezed into the size, unless ``shorter_side_px`` is given: then the shorter side is scaled to
    that and the middle is cut out.
    """

    width_px: int
    height_px: int
    mean: Colour = IMAGENET_MEAN
    deviation: Colour = IMAGENET_DEVIATION
    shorter_side_px: int | None = None
    resampling: int = BICUBIC

    def __post_init__(self) -> None:
        sides = (self.width_px, self.height_px, self.shorter_side_px or 1)
        if not all(1 <= side <= _LARGEST_SIDE_PX for side in sides) or not all(self.deviation):
            raise ValueError("sides must be 1 to 4096 pixels, and no deviation may be 0")

    def rows(self, images: "Sequence[Image]") -> Features:
        """The pictures as an array of picture, row, column, colour."""
        pixels: Features = np.stack([self._seen(image) for image in images])
        pixels -= np.asarray(self.mean, dtype=np.float32)
        pixels /= np.asarray(self.deviation, dtype=np.float32)
        return pixels

    def _seen(self, image: "Image") -> Features:
        from PIL.Image import Resampling

        rgb = image if image.mode == "RGB" else image.convert("RGB")
        size = self.width_px, self.height_px
        smaller = rgb.resize(size, Resampling(self.resampling), box=self._box(*rgb.size), reducing_gap=3.0)
        return np.asarray(smaller, dtype=np.float32)

    def _box(self, width: int, height: int) -> tuple[float, float, float, float]:
        if self.shorter_side_px is None:
            return 0.0, 0.0, float(width), float(height)
        grow = min(width, height) / self.shorter_side_px
        across, down = min(width, self.width_px * grow), min(height, self.height_px * grow)
        left, top = (width - across) / 2, (height - down) / 2
        return left, top, left + across, top + down


def preparation_of(settings: Mapping[str, Any], side_px: int) -> Preparation:
    """What a transformers image processor's settings ask for; ``side_px`` is the size where they name none.

    Raises:
        ValueError: the settings make no sense.
        TypeError: they are of the wrong types.
    """
    size, cut = settings.get("size", side_px), settings.get("crop_size", side_px)
    shorter = size if isinstance(size, int) else size.get("shortest_edge")
    target = cut if settings.get("do_center_crop") else size
    width, height = _sides(target, side_px)
    scale = 1 / float(settings.get("rescale_factor", 1 / 255))
    scaled = settings.get("do_normalize", True)
    mean, deviation = settings.get("image_mean"), settings.get("image_std")
    return Preparation(
        width_px=width,
        height_px=height,
        mean=_colour(mean, scale, IMAGENET_MEAN) if scaled else (0.0, 0.0, 0.0),
        deviation=_colour(deviation, scale, IMAGENET_DEVIATION) if scaled else (scale, scale, scale),
        shorter_side_px=shorter if settings.get("do_center_crop") else None,
        resampling=int(settings.get("resample", BICUBIC)),
    )


def _sides(size: Any, side_px: int) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    square = size.get("shortest_edge") or side_px
    return int(size.get("width") or square), int(size.get("height") or square)


def _colour(values: Any, scale: float, otherwise: Colour) -> Colour:
    if values is None:
        return otherwise
    red, green, blue = (float(value) * scale for value in values)
    return red, green, blue
