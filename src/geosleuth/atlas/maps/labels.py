"""Names on a map in any script: which font has the letters, and where each name goes so that none covers another."""

import io
import json
import math
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw, ImageFilter, ImageFont, features

from geosleuth.errors import DataFault

from . import style
from .canvas import Geometries

MAX_LETTERS = 60
HALO_PX = 3
PLAIN, BOLD = "sans", "sans-semibold"
_KOREAN, _JAPANESE, _CHINESE = "korean", "japanese", "chinese-simplified"
_EAST_ASIAN = (_KOREAN, _JAPANESE, _CHINESE)
_JOINERS = "\u200c\u200d"  # invisible, but they shape the letters around them
_LOCK = threading.Lock()
"""FreeType's fonts must not be used from two threads at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """Letters that one font has."""

    text: str
    font: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, ready to be drawn: its runs from left to right."""

    runs: tuple[Run, ...]
    right_to_left: bool


@lru_cache(maxsize=1)
def can_shape() -> bool:
    """Whether this Pillow joins and reorders letters as Arabic, Hebrew and Indic scripts need."""
    return bool(features.check("raqm"))


def clean(name: str) -> str:
    """A name fit for one line: no control or direction characters, single spaces, at most 60 letters."""
    kept = (
        char if char in _JOINERS or unicodedata.category(char)[0] not in "CZ" else " " if char.isspace() else ""
        for char in unicodedata.normalize("NFC", name[: 8 * MAX_LETTERS])
    )
    text = " ".join("".join(kept).split())
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1].rstrip() + "…"


def writable(names: Sequence[str], *, shaping: bool | None = None) -> str:
    """The first of the names that the fonts can write; else the first one spelled in Latin letters; else nothing."""
    from anyascii import anyascii

    cleaned = [text for name in names if (text := clean(name))]
    for text in cleaned:
        if line(text, shaping=shaping) is not None:
            return text
    return next((latin for text in cleaned if (latin := clean(anyascii(text))) and line(latin)), "")


def line(text: str, *, bold: bool = False, shaping: bool | None = None) -> Line | None:
    """The text as runs of one font each, from left to right; None where a letter is in no font."""
    return _laid(text, bold, can_shape() if shaping is None else shaping)


@lru_cache(maxsize=4096)
def _laid(text: str, bold: bool, shaping: bool) -> Line | None:  # noqa: FBT001
    order = _order(text, bold=bold, shaping=shaping)
    runs: list[Run] = []
    for char in text:
        font = _font_for(char, runs[-1].font if runs else None, order)
        if font is None:
            return None
        if runs and runs[-1].font == font:
            runs[-1] = Run(runs[-1].text + char, font)
        else:
            runs.append(Run(char, font))
    sides = (unicodedata.bidirectional(char) for char in text)
    right_to_left = next((side != "L" for side in sides if side in {"L", "R", "AL"}), False)
    return Line(tuple(reversed(runs)) if right_to_left else tuple(runs), right_to_left)


def width_px(text: str, size_px: int, *, bold: bool = False) -> float:
    """How wide a text will be, without its margin."""
    return sum(_advances(text, 2 * size_px, bold)) / 2


def measure(lines: Sequence[str], size_px: int, *, bold: bool = False) -> tuple[int, int]:
    """Width and height of the mask that ``stencil`` makes of the same lines when it does not turn them."""
    width, height, *_ = _layout(lines, 2 * size_px, bold)
    return (width + 1) // 2, (height + 1) // 2


def stencil(lines: Sequence[str], size_px: int, *, bold: bool = False, angle_deg: float = 0.0) -> Image.Image:
    """Lines of writable text, centred under each other, as a mask with a margin for the halo.

    They may be turned clockwise; the mask is as large as they then need. Letters are drawn twice too large and
    reduced: at small sizes FreeType would otherwise move them to whole pixels, which tears words apart.
    """
    size = 2 * size_px
    width, height, first, leading = _layout(lines, size, bold)
    mask = Image.new("L", (width, height))
    pen = ImageDraw.Draw(mask)
    for row, text in enumerate(lines):
        own = line(text, bold=bold)
        advances = _advances(text, size, bold)
        x = (width - sum(advances)) / 2
        for run, advance in zip(own.runs if own else (), advances, strict=True):
            spot = (x, first + row * leading)
            with _LOCK:
                pen.text(spot, run.text, fill=255, font=_face(run.font, size), anchor="ls", direction=_direction(own))
            x += advance
    if angle_deg:
        mask = mask.rotate(-angle_deg, resample=Image.Resampling.BICUBIC, expand=True)
    return mask.reduce(2)


def _layout(lines: Sequence[str], size: int, bold: bool) -> tuple[int, int, int, int]:  # noqa: FBT001
    """Width and height of the mask for some lines, the first baseline, and the distance to the next."""
    laid = [own for text in lines if (own := line(text, bold=bold))]
    tall = any(run.font not in (PLAIN, BOLD) for own in laid for run in own.runs)
    ascent, descent = (round(size * share) for share in ((1.3, 0.55) if tall else (1.0, 0.3)))
    leading = round(size * (1.45 if tall else 1.2))
    pad = 2 * HALO_PX
    width = int(max((sum(_advances(text, size, bold)) for text in lines), default=0)) + 2 + 2 * pad
    return width, ascent + descent + leading * max(len(lines) - 1, 0) + 2 * pad, pad + ascent, leading


def halo(mask: Image.Image) -> Image.Image:
    """The soft margin around letters that keeps them legible on any ground."""
    return mask.filter(ImageFilter.GaussianBlur(1.3)).point([min(255, level * 5) for level in range(256)])


def wrapped(text: str, letters_a_line: int = 16) -> list[str]:
    """A name on up to three lines, broken between words where it is long."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= letters_a_line or len(lines) == 3):
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def _order(text: str, *, bold: bool, shaping: bool) -> tuple[str, ...]:
    """Fonts to try for each letter of a text. Han letters look Japanese beside kana, Chinese otherwise."""
    kana = any("\u3041" <= char <= "\u30ff" for char in text)
    chosen = (_KOREAN, _JAPANESE, _CHINESE) if kana else (_KOREAN, _CHINESE, _JAPANESE)
    others = tuple(
        name for name, (shaped, _) in _coverage().items()
        if name not in (PLAIN, BOLD, *_EAST_ASIAN) and (shaping or not shaped)
    )  # fmt: skip
    return (*((BOLD, PLAIN) if bold else (PLAIN,)), *others, *chosen)


def _font_for(char: str, current: str | None, order: Sequence[str]) -> str | None:
    """Marks and joiners stay in the font of the letter they belong to."""
    coverage = _coverage()
    code = ord(char)
    joined = unicodedata.category(char)[0] == "M" or char in _JOINERS or char == " "
    if joined and current is not None:
        if code in coverage[current][1]:
            return current
        if unicodedata.category(char)[0] == "M":
            return None
    return next((name for name in order if code in coverage[name][1]), None)


@lru_cache(maxsize=4096)
def _advances(text: str, size: int, bold: bool) -> tuple[float, ...]:  # noqa: FBT001
    """How far each run of a text moves the pen."""
    own = line(text, bold=bold)
    if own is None:
        return ()
    with _LOCK:
        return tuple(_face(run.font, size).getlength(run.text, direction=_direction(own)) for run in own.runs)


def _direction(own: Line | None) -> str | None:
    return ("rtl" if own.right_to_left else "ltr") if own and can_shape() else None


@lru_cache(maxsize=64)
def _face(name: str, size_px: int) -> ImageFont.FreeTypeFont:
    data = (files("geosleuth.atlas.maps") / "fonts" / f"{name}.woff2").read_bytes
    layout = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
    try:
        return ImageFont.truetype(io.BytesIO(data()), size_px, layout_engine=layout)
    except OSError as error:
        raise DataFault(f"the map font {name} can't be read: {error}") from error


@lru_cache(maxsize=1)
def _coverage() -> dict[str, tuple[bool, frozenset[int]]]:
    """For each font, whether its script needs shaping, and the characters that it has."""
    table = json.loads((files("geosleuth.atlas.maps") / "fonts" / "coverage.json").read_text(encoding="ascii"))
    coverage = {}
    for name, entry in table.items():
        runs = entry["runs"]
        codes = (
            code for first, count in zip(runs[::2], runs[1::2], strict=True) for code in range(first, first + count)
        )
        coverage[name] = (bool(entry["shaped"]), frozenset(codes))
    return coverage


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
