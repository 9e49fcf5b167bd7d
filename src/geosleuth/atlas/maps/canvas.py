"""Draw antialiased shapes on a Pillow image, and convert degrees to its pixels in Web Mercator."""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageColor, ImageDraw

from geosleuth.geo import Box, FloatArray, LatLon, normalize_lon
from geosleuth.support.errors import BadInput

Geometries = npt.NDArray[np.object_]

_ROUND_FROM_PX = 4  # narrower strokes look the same without round joints
_SHARP_COSINE = 0.985  # a bend of some ten degrees

_PNG_COMPRESS_LEVEL = 3  # from 4 on, zlib takes twice as long for a map and saves nothing
TILE_PX = 256
MAX_LAT_DEG = 85.05112877980659  # where the Web Mercator plane ends, as high as it is wide
MAX_ZOOM = 20
MAX_SIZE_PX = 2048
METRES_ROUND_THE_EQUATOR = 40_075_016.686
Pixels = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Paths:
    """Lines in the pixels of a canvas's enlarged image, ready for drawing.

    Attributes:
        corners: x, y, x, y, … of each line.
        joints: the ends and sharp bends, where Pillow leaves notches in wide strokes that must be rounded.
    """

    corners: tuple[list[float], ...]
    joints: npt.NDArray[np.float64]


class MapCanvas:
    """An image to draw on, kept two or three times too large until `reduced`. Geometries are in pixels, y downwards."""

    def __init__(self, width: int, height: int, background: str) -> None:
        self.factor = 3 if width * height <= 1_000_000 else 2
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width * self.factor, height * self.factor), background)
        self._draw = ImageDraw.Draw(self._image)

    def reduce(self) -> Image.Image:
        """Return the image in its final size."""
        return self._image.reduce(self.factor)

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """Fill a rectangle whose edges lie between pixels."""
        f = self.factor
        if right > left and bottom > top:
            self._draw.rectangle((left * f, top * f, right * f - 1, bottom * f - 1), fill=colour)

    def replace(self, colour: str, picture: Image.Image, width: float, height: float) -> None:
        """Paint a coarse picture, enlarged to ``width`` x ``height``, over every pixel that has the colour."""
        size = round(width * self.factor), round(height * self.factor)
        fine = picture.resize(size, Image.Resampling.BILINEAR).crop((0, 0, *self._image.size))
        plain = (np.asarray(self._image) == ImageColor.getrgb(colour)).all(axis=-1)
        self._image.paste(fine, mask=Image.fromarray(plain))

    def fill(self, geometries: Geometries, colour: str, edge: str | None = None) -> None:
        """Fill polygons, leaving their holes open; other geometries are skipped."""
        parts = shapely.get_parts(geometries)
        parts = parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
        if not len(parts):
            return
        holes = shapely.get_num_interior_rings(parts)
        simple = shapely.get_exterior_ring(parts[holes == 0])
        for ring in self._corner_lists(simple):
            if len(ring) >= 2 * 3:
                self._draw.polygon(ring, fill=colour, outline=edge)
        rings, owner = shapely.get_rings(parts[holes > 0], return_index=True)
        corners = self._corner_lists(rings)
        cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(corners)]
        for begin, end in pairwise(cuts):
            self._fill_with_holes(corners[begin:end], colour, edge)

    def stroke(self, lines: Geometries | Paths, colour: str, width_px: float) -> None:
        """Draw lines and the rings of polygons with round ends and joints."""
        paths = lines if isinstance(lines, Paths) else self.paths(lines)
        width = max(1, round(width_px * self.factor))
        ink = ImageColor.getrgb(colour)
        for corners in paths.corners:
            self._draw.line(corners, fill=ink, width=width)
        if width >= _ROUND_FROM_PX:
            radius = (width - 1) / 2
            limit = (self.width * self.factor + width, self.height * self.factor + width)
            near = ((paths.joints > -width) & (paths.joints < limit)).all(axis=1)
            for x, y in paths.joints[near].tolist():
                self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=ink)

    def paths(self, geometries: Geometries) -> Paths:
        """Prepare lines and the rings of polygons, so that they can be drawn more than once."""
        parts = shapely.get_parts(geometries)
        polygons = shapely.get_type_id(parts) == shapely.GeometryType.POLYGON
        if polygons.any():
            parts = np.concatenate([parts[~polygons], shapely.get_rings(parts[polygons])])
        coords, index = self._corners(parts)
        if not len(coords):
            return Paths((), coords)
        step = np.diff(coords, axis=0)
        step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
        joint = np.ones(len(coords), dtype=bool)
        inner = (index[2:] == index[:-2]) & ((step[1:] * step[:-1]).sum(axis=1) >= _SHARP_COSINE)
        joint[1:-1] = ~inner
        pieces = np.split(coords, np.flatnonzero(np.diff(index)) + 1)
        return Paths(tuple(piece.ravel().tolist() for piece in pieces if len(piece) > 1), coords[joint])

    def dashes(self, lines: Geometries, colour: str, width_px: float, dash_px: float, gap_px: float) -> None:
        """Draw dashed lines."""
        coords, index = shapely.get_coordinates(shapely.get_parts(lines), return_index=True)
        if len(coords) < 2:
            return
        coords *= self.factor
        step = np.hypot(*np.diff(coords, axis=0).T)
        step[np.diff(index) > 0] = 0.0  # from the end of one line to the start of the next
        along = np.concatenate(([0.0], np.cumsum(step)))
        starts = np.arange(0.0, along[-1], (dash_px + gap_px) * self.factor)
        ends = np.minimum(starts + dash_px * self.factor, along[-1])
        from_line, to_line = (index[np.searchsorted(along, at)] for at in (starts, ends))
        x, y = coords.T
        pieces = np.column_stack([np.interp(at, along, axis) for at in (starts, ends) for axis in (x, y)])
        pieces = pieces[(from_line == to_line) & self._starts_in_view(pieces)]
        ink = ImageColor.getrgb(colour)
        width = max(1, round(width_px * self.factor))
        for piece in pieces.tolist():
            self._draw.line(piece, fill=ink, width=width)

    def _starts_in_view(self, pieces: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return which rows of (x, y, x, y) begin in the image or near it."""
        margin = 64
        x, y = pieces[:, 0], pieces[:, 1]
        right, bottom = self.width * self.factor + margin, self.height * self.factor + margin
        return (x > -margin) & (x < right) & (y > -margin) & (y < bottom)

    def _corners(self, parts: Geometries) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return corners in whole pixels of the enlarged image, without repeats, and the index of each one's part."""
        coords, index = shapely.get_coordinates(parts, return_index=True)
        coords = np.rint(coords * self.factor)
        keep = np.ones(len(coords), dtype=bool)
        keep[1:] = (np.diff(coords, axis=0) != 0).any(axis=1) | (np.diff(index) != 0)
        return coords[keep], index[keep]

    def _corner_lists(self, rings: Geometries) -> list[list[float]]:
        coords, index = self._corners(rings)
        if not len(coords):
            return []
        cuts = np.flatnonzero(np.diff(index)) + 1
        return [piece.ravel().tolist() for piece in np.split(coords, cuts)]

    def _fill_with_holes(self, rings: Sequence[list[float]], colour: str, edge: str | None) -> None:
        """Fill a polygon through a mask of its visible part, as Pillow can't draw polygons with holes."""
        outer = rings[0] if rings else []
        if len(outer) < 2 * 3:
            return
        left, top = max(int(min(outer[::2])), 0), max(int(min(outer[1::2])), 0)
        right = min(int(max(outer[::2])) + 1, self.width * self.factor)
        bottom = min(int(max(outer[1::2])) + 1, self.height * self.factor)
        if right <= left or bottom <= top:
            return
        mask = Image.new("1", (right - left, bottom - top))
        pen = ImageDraw.Draw(mask)
        for number, ring in enumerate(rings):
            if len(ring) >= 2 * 3:
                shifted = [value - (top if at % 2 else left) for at, value in enumerate(ring)]
                pen.polygon(shifted, fill=0 if number else 1)
        self._image.paste(colour, (left, top, right, bottom), mask)
        if edge:
            for ring in rings:
                self._draw.line(ring, fill=edge, width=1)


def to_png(image: Image.Image) -> bytes:
    """Return the image as PNG; the same image gives the same bytes."""
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=_PNG_COMPRESS_LEVEL)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a view that does not cross the antimeridian.

    Adding ``turns`` times 360 degrees to its longitudes gives its position in the view.
    """

    south: float
    west: float
    north: float
    east: float
    turns: int

    @property
    def box(self) -> Box:
        """The bounding box."""
        return Box(self.south, self.west, self.north, self.east)


@dataclass(frozen=True, slots=True)
class MapView:
    """The centre, zoom and size in pixels of a map image. A centre beyond 85.05 degrees is moved to the plane's edge.

    Raises:
        BadInput: zoom or size are out of range.
    """

    centre: LatLon
    zoom: float
    width: int
    height: int
    world_px: float = field(init=False)
    _left: float = field(init=False)
    _top: float = field(init=False)

    def __post_init__(self) -> None:
        _check_view(self.zoom, self.width, self.height)
        world_px = TILE_PX * 2.0**self.zoom
        lat = min(max(self.centre.lat, -MAX_LAT_DEG), MAX_LAT_DEG)
        object.__setattr__(self, "world_px", world_px)
        object.__setattr__(self, "_left", (self.centre.lon + 180) / 360 * world_px - self.width / 2)
        object.__setattr__(self, "_top", float(_fraction_down(lat)) * world_px - self.height / 2)

    def pixels(self, lonlat: FloatArray, turns: int = 0) -> Pixels:
        """Convert rows of (longitude, latitude) to pixels (x, y)."""
        out = np.empty_like(lonlat)
        out[:, 0] = (lonlat[:, 0] + (180 + 360 * turns)) * (self.world_px / 360) - self._left
        out[:, 1] = _fraction_down(np.clip(lonlat[:, 1], -MAX_LAT_DEG, MAX_LAT_DEG)) * self.world_px - self._top
        return out

    def pixel(self, point: LatLon, turns: int = 0) -> tuple[float, float]:
        """Return the pixel (x, y) of a point, which may lie outside the image."""
        x, y = self.pixels(np.array([[point.lon, point.lat]]), turns)[0]
        return float(x), float(y)

    def strips(self, margin_px: float = 0.0) -> Iterator[Strip]:
        """Cut the view with a margin at the antimeridian; a wide view may show the whole world more than once."""
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
        """The pixel rows of the upper and lower edge of the plane; rows beyond them show nothing."""
        return -self._top, self.world_px - self._top

    @property
    def origin(self) -> tuple[float, float]:
        """The image's upper left corner in pixels of the whole plane."""
        return self._left, self._top

    @property
    def box(self) -> Box:
        """The bounding box of the view."""
        degrees_per_px = 360 / self.world_px
        north, south = (_lat((self._top + offset) / self.world_px) for offset in (0, self.height))
        if self.width >= self.world_px:
            return Box(south, -180, north, 180)
        west = self._left * degrees_per_px - 180
        return Box(south, normalize_lon(west), north, normalize_lon(west + self.width * degrees_per_px))

    @property
    def metres_per_px(self) -> float:
        """The ground distance that a pixel covers at the centre of the image."""
        lat = math.radians(min(max(self.centre.lat, -MAX_LAT_DEG), MAX_LAT_DEG))
        return METRES_ROUND_THE_EQUATOR * math.cos(lat) / self.world_px


def _check_view(zoom: float, width: int, height: int) -> None:
    if not 0 <= zoom <= MAX_ZOOM:
        raise BadInput(f"zoom must lie between 0 and {MAX_ZOOM}, not {zoom}")
    if not (1 <= width <= MAX_SIZE_PX and 1 <= height <= MAX_SIZE_PX):
        raise BadInput(f"a picture must be 1 to {MAX_SIZE_PX} pixels wide and high, not {width} x {height}")


def _fraction_down(lats: float | FloatArray) -> FloatArray:
    """Return the vertical position of latitudes on the plane: 0 at its upper edge, 1 at its lower."""
    radians = np.radians(lats)
    down: FloatArray = 0.5 - np.arcsinh(np.tan(radians)) / (2 * math.pi)
    return down


def _lat(fraction_down: float) -> float:
    """Return the latitude of a vertical position on the plane, clamped to the plane's edges."""
    bounded = min(max(fraction_down, 0.0), 1.0)
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * bounded))))
