"""The piece of the Web Mercator plane that a picture shows, and the way from degrees to its pixels."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import Box, FloatArray, LatLon, normalize_lon

TILE_PX = 256
MAX_LAT_DEG = 85.05112877980659  # where the plane is as high as it is wide
MAX_ZOOM = 20
MAX_SIZE_PX = 2048
METRES_ROUND_THE_EQUATOR = 40_075_016.686

Pixels = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Strip:
    """One stretch of the view that does not cross the antimeridian; ``turns`` times 360 degrees bring it into place."""

    south: float
    west: float
    north: float
    east: float
    turns: int

    @property
    def box(self) -> Box:
        """The same ground as a box."""
        return Box(self.south, self.west, self.north, self.east)


@dataclass(frozen=True, slots=True)
class View:
    """Centre, zoom and size of a picture. Beyond 85.05 degrees the plane ends; a centre there is moved to its edge.

    Raises:
        BadInput: zoom or size out of range.
    """

    centre: LatLon
    zoom: float
    width: int
    height: int
    world_px: float = field(init=False)
    _left: float = field(init=False)
    _top: float = field(init=False)

    def __post_init__(self) -> None:
        _check(self.zoom, self.width, self.height)
        world_px = TILE_PX * 2.0**self.zoom
        lat = min(max(self.centre.lat, -MAX_LAT_DEG), MAX_LAT_DEG)
        object.__setattr__(self, "world_px", world_px)
        object.__setattr__(self, "_left", (self.centre.lon + 180) / 360 * world_px - self.width / 2)
        object.__setattr__(self, "_top", float(_fraction_down(lat)) * world_px - self.height / 2)

    def pixels(self, lonlat: FloatArray, turns: int = 0) -> Pixels:
        """Pixels (right, down) of rows of (longitude, latitude)."""
        out = np.empty_like(lonlat)
        out[:, 0] = (lonlat[:, 0] + (180 + 360 * turns)) * (self.world_px / 360) - self._left
        out[:, 1] = _fraction_down(np.clip(lonlat[:, 1], -MAX_LAT_DEG, MAX_LAT_DEG)) * self.world_px - self._top
        return out

    def pixel(self, point: LatLon, turns: int = 0) -> tuple[float, float]:
        """Where a point lies in the picture, or beside it."""
        x, y = self.pixels(np.array([[point.lon, point.lat]]), turns)[0]
        return float(x), float(y)

    def strips(self, margin_px: float = 0.0) -> Iterator[Strip]:
        """The view with a margin, cut at the antimeridian; several times the whole world where it is narrower."""
        degrees_per_px = 360 / self.world_px
        west = (self._left - margin_px) * degrees_per_px - 180
        east = west + (self.width + 2 * margin_px) * degrees_per_px
        north, south = (_lat((self._top + offset) / self.world_px) for offset in (-margin_px, self.height + margin_px))
        for turns in range(math.floor((west + 180) / 360), math.ceil((east + 180) / 360)):
            low, high = max(west - 360 * turns, -180.0), min(east - 360 * turns, 180.0)
            if low < high and south < north:
                yield Strip(south, low, north, high, turns)

    @property
    def world_rows(self) -> tuple[float, float]:
        """Pixel rows of the plane's upper and lower end; rows beyond them show nothing."""
        return -self._top, self.world_px - self._top

    @property
    def world_left(self) -> float:
        """Pixel column of longitude -180."""
        return -self._left

    @property
    def origin(self) -> tuple[float, float]:
        """The picture's upper left corner in pixels of the whole plane."""
        return self._left, self._top

    @property
    def box(self) -> Box:
        """The ground that the picture shows."""
        degrees_per_px = 360 / self.world_px
        north, south = (_lat((self._top + offset) / self.world_px) for offset in (0, self.height))
        if self.width >= self.world_px:
            return Box(south, -180, north, 180)
        west = self._left * degrees_per_px - 180
        return Box(south, normalize_lon(west), north, normalize_lon(west + self.width * degrees_per_px))

    @property
    def metres_per_px(self) -> float:
        """On the ground in the middle of the picture."""
        lat = math.radians(min(max(self.centre.lat, -MAX_LAT_DEG), MAX_LAT_DEG))
        return METRES_ROUND_THE_EQUATOR * math.cos(lat) / self.world_px


def _check(zoom: float, width: int, height: int) -> None:
    if not 0 <= zoom <= MAX_ZOOM:
        raise BadInput(f"zoom must lie between 0 and {MAX_ZOOM}, not {zoom}")
    if not (1 <= width <= MAX_SIZE_PX and 1 <= height <= MAX_SIZE_PX):
        raise BadInput(f"a picture must be 1 to {MAX_SIZE_PX} pixels wide and high, not {width} x {height}")


def _fraction_down(lats: float | FloatArray) -> FloatArray:
    """How far down the plane a latitude lies: 0 at its upper end, 1 at its lower."""
    radians = np.radians(lats)
    down: FloatArray = 0.5 - np.arcsinh(np.tan(radians)) / (2 * math.pi)
    return down


def _lat(fraction_down: float) -> float:
    """Latitude of a height in the plane, with everything beyond its ends brought back to them."""
    bounded = min(max(fraction_down, 0.0), 1.0)
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * bounded))))
