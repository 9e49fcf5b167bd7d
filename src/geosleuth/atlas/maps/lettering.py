"""Names in any script: which font has the letters, what to write where none does, and the letters as stencils."""

import io
import json
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from PIL import Image, ImageDraw, ImageFilter, ImageFont, features

from geosleuth.errors import DataFault

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
