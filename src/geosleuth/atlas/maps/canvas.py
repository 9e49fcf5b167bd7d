"""Polygons and lines on a Pillow image, drawn several times too large and reduced, which smooths their edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageColor, ImageDraw

Geometries = npt.NDArray[np.object_]

_ROUND_FROM_PX = 4  # narrower strokes look the same without round joints
_SHARP_COSINE = 0.985  # a bend of some ten degrees


@dataclass(frozen=True, slots=True)
class Paths:
    """Lines in a canvas's own coordinates: the corners of each, and the spots where a wide stroke must be rounded.

    Those are ends and bends, where Pillow leaves notches.
    """

    corners: tuple[list[float], ...]
    joints: npt.NDArray[np.float64]


class Canvas:
    """A picture in the making. Geometries are in its pixels, y downwards."""

    def __init__(self, width: int, height: int, background: str) -> None:
        self.factor = 3 if width * height <= 1_000_000 else 2
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width * self.factor, height * self.factor), background)
        self._draw = ImageDraw.Draw(self._image)

    def reduced(self) -> Image.Image:
        """The picture in its own size."""
        return self._image.reduce(self.factor)

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """Fill a rectangle, edges between pixels."""
        f = self.factor
        if right > left and bottom > top:
            self._draw.rectangle((left * f, top * f, right * f - 1, bottom * f - 1), fill=colour)

    def fill(self, geometries: Geometries, colour: str, edge: str | None = None) -> None:
        """Fill polygons, with holes left open; everything else is passed over."""
        parts = shapely.get_parts(geometries)
        parts = parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
        if not len(parts):
            return
        holes = shapely.get_num_interior_rings(parts)
        whole = shapely.get_exterior_ring(parts[holes == 0])
        for ring in self._corner_lists(whole):
            if len(ring) >= 2 * 3:
                self._draw.polygon(ring, fill=colour, outline=edge)
        rings, owner = shapely.get_rings(parts[holes > 0], return_index=True)
        corners = self._corner_lists(rings)
        cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(corners)]
        for begin, end in pairwise(cuts):
            self._fill_with_holes(corners[begin:end], colour, edge)

    def stroke(self, lines: Geometries | Paths, colour: str, width_px: float) -> None:
        """Draw lines, and the rings of polygons, with round ends and joints."""
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
        """Lines and rings made ready for drawing, for those who draw them more than once."""
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
        """Draw lines as dashes."""
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
        pieces = pieces[(from_line == to_line) & self._in_reach(pieces)]
        ink = ImageColor.getrgb(colour)
        width = max(1, round(width_px * self.factor))
        for piece in pieces.tolist():
            self._draw.line(piece, fill=ink, width=width)

    def _in_reach(self, pieces: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which rows of (x, y, x, y) begin in the picture or near it."""
        margin = 64
        x, y = pieces[:, 0], pieces[:, 1]
        right, bottom = self.width * self.factor + margin, self.height * self.factor + margin
        return (x > -margin) & (x < right) & (y > -margin) & (y < bottom)

    def _corners(self, parts: Geometries) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Corners in the enlarged image's pixels, less those that fall on the one before, and whose they are."""
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
        """Through a stencil as large as the polygon's visible part: Pillow's polygons know no holes."""
        outer = rings[0] if rings else []
        if len(outer) < 2 * 3:
            return
        left, top = max(int(min(outer[::2])), 0), max(int(min(outer[1::2])), 0)
        right = min(int(max(outer[::2])) + 1, self.width * self.factor)
        bottom = min(int(max(outer[1::2])) + 1, self.height * self.factor)
        if right <= left or bottom <= top:
            return
        stencil = Image.new("1", (right - left, bottom - top))
        pen = ImageDraw.Draw(stencil)
        for number, ring in enumerate(rings):
            if len(ring) >= 2 * 3:
                shifted = [value - (top if at % 2 else left) for at, value in enumerate(ring)]
                pen.polygon(shifted, fill=0 if number else 1)
        self._image.paste(colour, (left, top, right, bottom), stencil)
        if edge:
            for ring in rings:
                self._draw.line(ring, fill=edge, width=1)
