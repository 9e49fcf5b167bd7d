"""Write names on a map in any script: choose fonts that have the letters, and place labels so that none overlap."""

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

from geosleuth.support.errors import DataFault

from . import style
from .canvas import Geometries

MAX_LETTERS = 60
HALO_PX = 3
PLAIN, BOLD = "sans", "sans-semibold"
_KOREAN, _JAPANESE, _CHINESE = "korean", "japanese", "chinese-simplified"
_EAST_ASIAN = (_KOREAN, _JAPANESE, _CHINESE)
_JOINERS = "\u200c\u200d"  # zero-width; they control whether the letters around them join
# FreeType fonts must not be used by two threads at once.
_LOCK = threading.Lock()

_GAP_PX = 3
_STREET_STEP_PX = 10.0
_MAX_TRIES_PER_LINE = 5
_SAME_NAME_APART_PX = 280.0
_MIN_LETTER_WIDTH = 0.3  # width of a narrow letter relative to its size: saves measuring names that can't fit
_MIN_STRAIGHTNESS = 0.985  # chord of the stretch under a name, relative to the stretch's length
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class FontRun:
    """Consecutive letters that are drawn with one font."""

    text: str
    font: str


@dataclass(frozen=True, slots=True)
class LabelLine:
    """One line of text as runs from left to right."""

    runs: tuple[FontRun, ...]
    right_to_left: bool


@lru_cache(maxsize=1)
def can_shape() -> bool:
    """Return whether this Pillow can join and reorder letters as Arabic, Hebrew and Indic scripts require."""
    return bool(features.check("raqm"))


def clean(name: str) -> str:
    """Return a name without control and direction characters, with single spaces, cut to 60 letters."""
    kept = (
        char if char in _JOINERS or unicodedata.category(char)[0] not in "CZ" else " " if char.isspace() else ""
        for char in unicodedata.normalize("NFC", name[: 8 * MAX_LETTERS])
    )
    text = " ".join("".join(kept).split())
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1].rstrip() + "…"


def writable(names: Sequence[str], *, shaping: bool | None = None) -> str:
    """Return the first name that the fonts can write, else the first one transliterated to Latin, else ""."""
    from anyascii import anyascii

    cleaned = [text for name in names if (text := clean(name))]
    for text in cleaned:
        if line(text, shaping=shaping) is not None:
            return text
    return next((latin for text in cleaned if (latin := clean(anyascii(text))) and line(latin)), "")


def line(text: str, *, bold: bool = False, shaping: bool | None = None) -> LabelLine | None:
    """Split a text into runs of one font each, from left to right; None if a letter is in no font."""
    return _lay_out(text, bold, can_shape() if shaping is None else shaping)


@lru_cache(maxsize=4096)
def _lay_out(text: str, bold: bool, shaping: bool) -> LabelLine | None:  # noqa: FBT001
    order = _font_order(text, bold=bold, shaping=shaping)
    runs: list[FontRun] = []
    for char in text:
        font = _choose_font(char, runs[-1].font if runs else None, order)
        if font is None:
            return None
        if runs and runs[-1].font == font:
            runs[-1] = FontRun(runs[-1].text + char, font)
        else:
            runs.append(FontRun(char, font))
    sides = (unicodedata.bidirectional(char) for char in text)
    right_to_left = next((side != "L" for side in sides if side in {"L", "R", "AL"}), False)
    return LabelLine(tuple(reversed(runs)) if right_to_left else tuple(runs), right_to_left)


def width_px(text: str, size_px: int, *, bold: bool = False) -> float:
    """Return the width of a text without its margin."""
    return sum(_advances(text, 2 * size_px, bold)) / 2


def measure(lines: Sequence[str], size_px: int, *, bold: bool = False) -> tuple[int, int]:
    """Return width and height of the mask that `stencil` makes of the same lines at an angle of 0."""
    width, height, *_ = _layout(lines, 2 * size_px, bold)
    return (width + 1) // 2, (height + 1) // 2


def stencil(lines: Sequence[str], size_px: int, *, bold: bool = False, angle_deg: float = 0.0) -> Image.Image:
    """Return centred lines of text as a mask with a margin for the halo, rotated clockwise by ``angle_deg``.

    Letters are drawn at twice the size and reduced: at small sizes FreeType would otherwise move them to whole pixels,
    which makes their spacing uneven.
    """
    size = 2 * size_px
    width, height, first, leading = _layout(lines, size, bold)
    mask = Image.new("L", (width, height))
    pen = ImageDraw.Draw(mask)
    for row, text in enumerate(lines):
        laid_out = line(text, bold=bold)
        direction = _direction(laid_out)
        advances = _advances(text, size, bold)
        x = (width - sum(advances)) / 2
        for run, advance in zip(laid_out.runs if laid_out else (), advances, strict=True):
            spot = (x, first + row * leading)
            with _LOCK:
                pen.text(spot, run.text, fill=255, font=_face(run.font, size), anchor="ls", direction=direction)
            x += advance
    if angle_deg:
        mask = mask.rotate(-angle_deg, resample=Image.Resampling.BICUBIC, expand=True)
    return mask.reduce(2)


def _layout(lines: Sequence[str], size: int, bold: bool) -> tuple[int, int, int, int]:  # noqa: FBT001
    """Return the mask's width and height, the position of the first baseline, and the distance between baselines."""
    laid_out = [runs for text in lines if (runs := line(text, bold=bold))]
    tall = any(run.font not in (PLAIN, BOLD) for text_line in laid_out for run in text_line.runs)
    ascent, descent = (round(size * share) for share in ((1.3, 0.55) if tall else (1.0, 0.3)))
    leading = round(size * (1.45 if tall else 1.2))
    pad = 2 * HALO_PX
    width = int(max((sum(_advances(text, size, bold)) for text in lines), default=0)) + 2 + 2 * pad
    return width, ascent + descent + leading * max(len(lines) - 1, 0) + 2 * pad, pad + ascent, leading


def halo(mask: Image.Image) -> Image.Image:
    """Return the mask of the soft margin that keeps letters legible on any background."""
    return mask.filter(ImageFilter.GaussianBlur(1.3)).point([min(255, level * 5) for level in range(256)])


def wrap_name(text: str, letters_a_line: int = 16) -> list[str]:
    """Break a name between words into up to three lines."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= letters_a_line or len(lines) == 3):
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def _font_order(text: str, *, bold: bool, shaping: bool) -> tuple[str, ...]:
    """Return the fonts to try for each letter. Han characters are drawn in Japanese style beside kana, else Chinese."""
    kana = any("\u3041" <= char <= "\u30ff" for char in text)
    chosen = (_KOREAN, _JAPANESE, _CHINESE) if kana else (_KOREAN, _CHINESE, _JAPANESE)
    others = tuple(
        name for name, (shaped, _) in _coverage().items()
        if name not in (PLAIN, BOLD, *_EAST_ASIAN) and (shaping or not shaped)
    )  # fmt: skip
    return (*((BOLD, PLAIN) if bold else (PLAIN,)), *others, *chosen)


def _choose_font(char: str, current: str | None, order: Sequence[str]) -> str | None:
    """Return the first font that has a character; marks and joiners keep the font of the letter before them."""
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
    """Return the width of each run of a text."""
    laid_out = line(text, bold=bold)
    if laid_out is None:
        return ()
    direction = _direction(laid_out)
    with _LOCK:
        return tuple(_face(run.font, size).getlength(run.text, direction=direction) for run in laid_out.runs)


def _direction(laid_out: LabelLine | None) -> str | None:
    """Return Pillow's name of the writing direction; None if Pillow can't use it."""
    return ("rtl" if laid_out.right_to_left else "ltr") if laid_out and can_shape() else None


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
    """Return for each font whether its script needs shaping, and its characters."""
    table = json.loads((files("geosleuth.atlas.maps") / "fonts" / "coverage.json").read_text(encoding="ascii"))
    coverage = {}
    for name, entry in table.items():
        runs = entry["runs"]
        codes = (
            code for first, count in zip(runs[::2], runs[1::2], strict=True) for code in range(first, first + count)
        )
        coverage[name] = (bool(entry["shaped"]), frozenset(codes))
    return coverage


@dataclass(frozen=True, slots=True)
class LabelStyle:
    """The size, colour and weight of a kind of label."""

    size_px: int
    ink: str
    bold: bool = False


class Labels:
    """The labels of one image, placed in the order of the calls; one that would touch another is left out."""

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
        """Return whether all rectangles lie inside the image and overlap no label or blocked area."""
        width, height = self._image.size
        taken = self._taken[: self._count]
        for left, top, right, bottom in rectangles:
            if left < 1 or top < 1 or right > width - 1 or bottom > height - 1:
                return False
            if ((taken[:, 0] < right) & (taken[:, 2] > left) & (taken[:, 1] < bottom) & (taken[:, 3] > top)).any():
                return False
        return True

    def draw_label(
        self,
        x: float,
        y: float,
        names: Sequence[str],
        label_style: LabelStyle,
        *,
        beside_px: float | None = None,
        shifts_px: Sequence[float] = (),
        once: bool = False,
    ) -> bool:
        """Write a name centred on a point or beside it; return whether there was room.

        Args:
            x: the point's column.
            y: the point's row.
            names: spellings in order of preference; the first one that the fonts can write is used.
            label_style: size, colour and weight.
            beside_px: the distance from the point; None to centre the label on it.
            shifts_px: vertical offsets to try if there is no room at the point.
            once: whether to write the same name only once in the image, rather than once in its neighbourhood.
        """
        text = writable(names)
        if not text or not self._is_near_image(x, y) or self._is_repeated(text, x, y) or (once and text in self._shown):
            return False
        lines = wrap_name(text)
        width, height = measure(lines, label_style.size_px, bold=label_style.bold)
        for left, top in _anchors(x, y, width, height, beside_px, shifts_px):
            box = (left, top, left + width, top + height)
            if self.is_free([box]):
                self._paint_label(
                    stencil(lines, label_style.size_px, bold=label_style.bold), round(left), round(top), label_style.ink
                )
                self.block((box[0] - _GAP_PX, box[1] - _GAP_PX, box[2] + _GAP_PX, box[3] + _GAP_PX))
                self._shown.setdefault(text, []).append((x, y))
                return True
        return False

    def draw_dot_label(self, x: float, y: float, names: Sequence[str], label_style: LabelStyle) -> bool:
        """Draw a dot and a name beside it if there is room for both; return whether there was."""
        dot = (x - 4, y - 4, x + 4, y + 4)
        if not self.is_free([dot]) or not self.draw_label(x, y, names, label_style, beside_px=4):
            return False
        self._image.paste(style.HALO, (round(x) - 4, round(y) - 4), _disc(9))
        self._image.paste(label_style.ink, (round(x) - 3, round(y) - 3), _disc(7))
        self.block(dot)
        return True

    def along(self, lines: Geometries, names: Sequence[str], label_style: LabelStyle) -> None:
        """Write a street's name along its straight stretches, once every few hundred pixels."""
        text = writable(names)
        if not text:
            return
        width, height = self._image.size
        inside = shapely.get_parts(shapely.clip_by_rect(lines, 0, 0, width, height))
        inside = inside[shapely.get_type_id(inside) == shapely.GeometryType.LINESTRING]
        room_px = float(shapely.length(inside).sum())
        if room_px < len(text) * label_style.size_px * _MIN_LETTER_WIDTH:
            return
        wide = width_px(text, label_style.size_px, bold=label_style.bold)
        if room_px < wide + 6:
            return
        merged = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(inside)))
        for piece in merged[np.argsort(-shapely.length(merged), kind="stable")][:4]:
            for x, y, angle_deg in _stretches(shapely.get_coordinates(piece), wide + 6):
                if self._is_repeated(text, x, y) or not self.is_free(
                    _covering_squares(x, y, wide, label_style.size_px, angle_deg)
                ):
                    continue
                drawn = stencil([text], label_style.size_px, bold=label_style.bold, angle_deg=angle_deg)
                self._paint_label(drawn, round(x - drawn.width / 2), round(y - drawn.height / 2), label_style.ink)
                for square in _covering_squares(x, y, wide, label_style.size_px + 2 * _GAP_PX, angle_deg):
                    self.block(square)
                self._shown.setdefault(text, []).append((x, y))
                break

    def _is_repeated(self, text: str, x: float, y: float) -> bool:
        return any(math.dist(spot, (x, y)) < _SAME_NAME_APART_PX for spot in self._shown.get(text, ()))

    def _is_near_image(self, x: float, y: float) -> bool:
        return -200 < x < self._image.width + 200 and -100 < y < self._image.height + 100

    def _paint_label(self, drawn: Image.Image, left: int, top: int, ink: str) -> None:
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
    """Yield upper left corners to try for a label: centred on the point, or right, left, above and below of it."""
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
    """Yield centre and angle of stretches that are straight and long enough for a name, the most central first.

    Angles are clockwise from the x axis, as y grows downwards, and within 90 degrees, so that names are upright.
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
    fit = np.flatnonzero((straight > _MIN_STRAIGHTNESS) & (sag < 4))
    best = fit[np.argsort(np.abs(starts[fit] - room / 2), kind="stable")]
    for i in best[:: max(1, len(best) // _MAX_TRIES_PER_LINE)]:
        angle_deg = math.degrees(math.atan2(chord[i, 1], chord[i, 0]))
        upright = angle_deg - 180 if angle_deg > 90 else angle_deg + 180 if angle_deg < -90 else angle_deg
        x, y = (first[i] + last[i]) / 2 * 0.5 + centre[i] * 0.5
        yield float(x), float(y), upright


def _covering_squares(x: float, y: float, wide: float, high: float, angle_deg: float) -> list[Rectangle]:
    """Return squares that together cover a slanted name."""
    count = max(1, math.ceil(wide / high))
    radians = math.radians(angle_deg)
    half = high * 0.6
    squares = []
    for number in range(count):
        shift = (number + 0.5) / count * wide - wide / 2
        at_x, at_y = x + shift * math.cos(radians), y + shift * math.sin(radians)
        squares.append((at_x - half, at_y - half, at_x + half, at_y + half))
    return squares
