"""Plain statistics of a picture: how sharp, how much detail, how straight its edges, how much green and sky."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE_PX = 512
_EDGE = 0.06
_AXIS_DEG = 8.0
_SHARP_EDGE = 0.35
_SKY_ROWS = 0.4


@dataclass(frozen=True, slots=True)
class PixelFigures:
    """Shares from 0 to 1.

    Attributes:
        contrast: how far bright and dark lie apart: twice the standard deviation of the brightness.
        sharp: how steep the steepest edges are, as a share of what black beside white gives.
        detail: the share of pixels that lie on an edge.
        straight: of those, the share whose edge runs upright or level beyond what chance gives: buildings, signs.
        green: the share of pixels with the colours of leaves and grass.
        sky: the share of the upper part that is bright and smooth, blue or grey.
    """

    contrast: float
    sharp: float
    detail: float
    straight: float
    green: float
    sky: float


def pixel_figures(image: "Image") -> PixelFigures:
    """The statistics of a picture, taken at `SIDE_PX` along its longer side, or at full size where it is smaller."""
    scale = min(1.0, SIDE_PX / max(image.size))
    size = max(3, round(image.width * scale)), max(3, round(image.height * scale))
    small = np.asarray(image.convert("RGB").resize(size, reducing_gap=3.0), dtype=np.float64) / 255
    grey: FloatArray = small @ np.array([0.299, 0.587, 0.114])
    down = (grey[2:, 1:-1] - grey[:-2, 1:-1]) / 2
    across = (grey[1:-1, 2:] - grey[1:-1, :-2]) / 2
    steep = np.hypot(down, across)
    on_edge = steep > _EDGE
    return PixelFigures(
        contrast=min(1.0, 2 * float(grey.std())),
        sharp=_sharp(steep, on_edge),
        detail=float(on_edge.mean()),
        straight=_straight(down[on_edge], across[on_edge]),
        green=_green(small),
        sky=_sky(small, steep),
    )


def _sharp(steep: FloatArray, on_edge: npt.NDArray[np.bool_]) -> float:
    if not on_edge.any():
        return 0.0
    return min(1.0, float(np.percentile(steep[on_edge], 95)) / _SHARP_EDGE)


def _straight(down: FloatArray, across: FloatArray) -> float:
    """0 where directions are spread evenly, 1 where all edges are upright or level."""
    if len(down) == 0:
        return 0.0
    off_axis = np.degrees(np.arctan2(np.abs(down), np.abs(across)))
    aligned = float(np.mean(np.minimum(off_axis, 90 - off_axis) <= _AXIS_DEG))
    by_chance = 2 * _AXIS_DEG / 90
    return max(0.0, (aligned - by_chance) / (1 - by_chance))


def _green(small: FloatArray) -> float:
    red, green, blue = small[..., 0], small[..., 1], small[..., 2]
    return float(np.mean((green > red * 1.05) & (green > blue * 1.15) & (green > 0.12)))


def _sky(small: FloatArray, steep: FloatArray) -> float:
    rows = max(1, round(_SKY_ROWS * steep.shape[0]))
    top, flat = small[1:-1, 1:-1][:rows], steep[:rows] < _EDGE / 3
    red, blue = top[..., 0], top[..., 2]
    return float(np.mean(flat & (top.mean(axis=2) > 0.45) & (blue >= red * 0.98)))
