"""Putting names on a map so that none lies on another."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw

from . import style
from .canvas import Geometries
from .lettering import halo, measure, stencil, width_px, wrapped, writable

_GAP_PX = 3
_STREET_STEP_PX = 10.0
_STREET_TRIES = 5
_SAME_NAME_APART_PX = 280.0
_NARROWEST = 0.3  # width of a narrow letter by its size: saves measuring names that can't fit
_STRAIGHT = 0.985  # chord of the stretch that carries a name, by its length

Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Lettered:
    """How a kind of label is written."""

    size_px: int
    ink: str
    bold: bool = False


class Labels:
    """The labels of one picture. Those asked for first win; one that would touch another is left out."""

    def __init__(self, image: Image.Image) -> None:
        self._image = image
        self._taken = np.empty((256, 4))
        self._count = 0
        self._shown: dict[str, list[tuple[float, float]]] = {}

    def block(self, rectangle: Rectangle) -> None:
        """Keep labels out of a rectangle."""
        if self._count == len(self._taken):
            self._taken = np.concatenate([self._taken, np.empty_like(self._taken)])
        self._taken[self._count] = rectangle
        self._count += 1

    def is_free(self, rectangles: Sequence[Rectangle]) -> bool:
        """Whether all of them lie in the picture and touch nothing."""
        width, height = self._image.size
        taken = self._taken[: self._count]
        for left, top, right, bottom in rectangles:
            if left < 1 or top < 1 or right > width - 1 or bottom > height - 1:
                return False
            if ((taken[:, 0] < right) & (taken[:, 2] > left) & (taken[:, 1] < bottom) & (taken[:, 3] > top)).any():
                return False
        return True

    def at(
        self,
        x: float,
        y: float,
        names: Sequence[str],
        how: Lettered,
        *,
        beside_px: float | None = None,
        shifts_px: Sequence[float] = (),
        once: bool = False,
    ) -> bool:
        """Write a name over a point, or beside it at a distance; says whether there was room.

        ``names`` are spellings in order of preference: the first one that the fonts can write is taken. Near the same
        name it is left out; with ``once``, anywhere in the picture. ``shifts_px`` are ways down to try where the spot
        itself is taken.
        """
        text = writable(names)
        if not text or not self._in_reach(x, y) or self._is_repeated(text, x, y) or (once and text in self._shown):
            return False
        lines = wrapped(text)
        width, height = measure(lines, how.size_px, bold=how.bold)
        for left, top in _anchors(x, y, width, height, beside_px, shifts_px):
            box = (left, top, left + width, top + height)
            if self.is_free([box]):
                self._write(stencil(lines, how.size_px, bold=how.bold), round(left), round(top), how.ink)
                self.block((box[0] - _GAP_PX, box[1] - _GAP_PX, box[2] + _GAP_PX, box[3] + _GAP_PX))
                self._shown.setdefault(text, []).append((x, y))
                return True
        return False

    def dotted(self, x: float, y: float, names: Sequence[str], how: Lettered) -> bool:
        """Mark a point with a dot and write its name beside it; neither where there is no room for both."""
        dot = (x - 4, y - 4, x + 4, y + 4)
        if not self.is_free([dot]) or not self.at(x, y, names, how, beside_px=4):
            return False
        self._image.paste(style.HALO, (round(x) - 4, round(y) - 4), _disc(9))
        self._image.paste(how.ink, (round(x) - 3, round(y) - 3), _disc(7))
        self.block(dot)
        return True

    def along(self, lines: Geometries, names: Sequence[str], how: Lettered) -> None:
        """Write a street's name along its straight stretches, once in every few hundred pixels."""
        text = writable(names)
        if not text:
            return
        width, height = self._image.size
        inside = shapely.get_parts(shapely.clip_by_rect(lines, 0, 0, width, height))
        inside = inside[shapely.get_type_id(inside) == shapely.GeometryType.LINESTRING]
        room = float(shapely.length(inside).sum())
        if room < len(text) * how.size_px * _NARROWEST:
            return
        wide = width_px(text, how.size_px, bold=how.bold)
        if room < wide + 6:
            return
        merged = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(inside)))
        for piece in merged[np.argsort(-shapely.length(merged), kind="stable")][:4]:
            for x, y, angle_deg in _stretches(shapely.get_coordinates(piece), wide + 6):
                if self._is_repeated(text, x, y) or not self.is_free(_tiles(x, y, wide, how.size_px, angle_deg)):
                    continue
                drawn = stencil([text], how.size_px, bold=how.bold, angle_deg=angle_deg)
                self._write(drawn, round(x - drawn.width / 2), round(y - drawn.height / 2), how.ink)
                for tile in _tiles(x, y, wide, how.size_px + 2 * _GAP_PX, angle_deg):
                    self.block(tile)
                self._shown.setdefault(text, []).append((x, y))
                break

    def _is_repeated(self, text: str, x: float, y: float) -> bool:
        return any(math.dist(spot, (x, y)) < _SAME_NAME_APART_PX for spot in self._shown.get(text, ()))

    def _in_reach(self, x: float, y: float) -> bool:
        return -200 < x < self._image.width + 200 and -100 < y < self._image.height + 100

    def _write(self, drawn: Image.Image, left: int, top: int, ink: str) -> None:
        self._image.paste(style.HALO, (left, top), halo(drawn))
        self._image.paste(ink, (left, top), drawn)


@cache
def _disc(size_px: int) -> Image.Image:
    disc = Image.new("L", (size_px * 4, size_px * 4))
    ImageDraw.Draw(disc).ellipse((0, 0, size_px * 4 - 1, size_px * 4 - 1), fill=255)
    return disc.reduce(4)


def _anchors(
    x: float, y: float, width: int, height: int, beside_px: float | None, shifts_px: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Upper left corners to try for a label: over the point, or to the right of it, left, above and below."""
    middle_x, middle_y = x - width / 2, y - height / 2
    if beside_px is None:
        for down in (0.0, *shifts_px):
            yield middle_x, middle_y + down
        return
    yield x + beside_px, middle_y
    yield x - beside_px - width, middle_y
    yield middle_x, y - beside_px - height + 2
    yield middle_x, y + beside_px - 2


def _stretches(corners: npt.NDArray[np.float64], wide: float) -> Iterator[tuple[float, float, float]]:
    """Middles and angles of stretches straight enough for a name so wide, nearest to the line's middle first.

    The angle is clockwise from the x axis, as y grows downwards, and within 90 degrees, so that names stand upright.
    """
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))))
    room = along[-1] - wide
    if room < 0:
        return
    starts = np.linspace(0.0, room, 1 + min(60, int(room / _STREET_STEP_PX)))

    def spot(at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.column_stack([np.interp(at, along, corners[:, 0]), np.interp(at, along, corners[:, 1])])

    first, centre, last = spot(starts), spot(starts + wide / 2), spot(starts + wide)
    chord = last - first
    straight = np.hypot(chord[:, 0], chord[:, 1]) / wide
    sag = np.hypot(*(centre - (first + last) / 2).T)
    fit = np.flatnonzero((straight > _STRAIGHT) & (sag < 4))
    best = fit[np.argsort(np.abs(starts[fit] - room / 2), kind="stable")]
    for i in best[:: max(1, len(best) // _STREET_TRIES)]:
        angle_deg = math.degrees(math.atan2(chord[i, 1], chord[i, 0]))
        upright = angle_deg - 180 if angle_deg > 90 else angle_deg + 180 if angle_deg < -90 else angle_deg
        x, y = (first[i] + last[i]) / 2 * 0.5 + centre[i] * 0.5
        yield float(x), float(y), upright


def _tiles(x: float, y: float, wide: float, high: float, angle_deg: float) -> list[Rectangle]:
    """Squares that cover a slanted name."""
    count = max(1, math.ceil(wide / high))
    radians = math.radians(angle_deg)
    half = high * 0.6
    tiles = []
    for number in range(count):
        shift = (number + 0.5) / count * wide - wide / 2
        at_x, at_y = x + shift * math.cos(radians), y + shift * math.sin(radians)
        tiles.append((at_x - half, at_y - half, at_x + half, at_y + half))
    return tiles
