"""Street scenes drawn with Pillow: a house front or a landscape, with boards that carry text."""

import io
import json
import random
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = Path(__file__).resolve().parents[2] / "src" / "geosleuth" / "atlas" / "maps" / "fonts"
_PLAIN = ("sans-semibold", "sans")
_LEAST_LETTER_PX = 17

Role = Literal["front", "plate", "stop", "notice", "poster", "bus", "town", "distances"]
Backdrop = Literal["house", "landscape", "wall"]
Box = tuple[int, int, int, int]

# Where on a house front each kind of board hangs: left, top, right, bottom as shares of the picture.
_SLOTS: dict[Role, tuple[float, float, float, float]] = {
    "plate": (0.04, 0.05, 0.46, 0.155),
    "stop": (0.55, 0.05, 0.96, 0.155),
    "front": (0.08, 0.20, 0.92, 0.42),
    "notice": (0.05, 0.48, 0.49, 0.72),
    "poster": (0.54, 0.48, 0.95, 0.72),
    "bus": (0.04, 0.75, 0.96, 0.975),
    "town": (0.22, 0.24, 0.78, 0.46),
    "distances": (0.16, 0.20, 0.84, 0.60),
}
# Board and letters; street furniture has few colours, shops have many.
_COLOURS: dict[Role, tuple[tuple[str, str], ...]] = {
    "plate": (("#1d3f8f", "#ffffff"), ("#ffffff", "#1a1a1a"), ("#14532d", "#ffffff")),
    "stop": (("#f4f4f0", "#1f2937"), ("#0b4f8a", "#ffffff")),
    "notice": (("#f7f4ea", "#26221c"), ("#ffffff", "#7c1d1d"), ("#e9eef2", "#16324f")),
    "poster": (("#b91c1c", "#fff7ed"), ("#0f4c5c", "#ffffff"), ("#fde047", "#1c1917")),
    "bus": (("#e5e7eb", "#111827"), ("#1e40af", "#ffffff"), ("#166534", "#f0fdf4")),
    "town": (("#ffd21f", "#111111"), ("#ffffff", "#111111"), ("#14532d", "#ffffff"), ("#1d4ed8", "#ffffff")),
    "distances": (("#14532d", "#ffffff"), ("#1d4ed8", "#ffffff"), ("#ffffff", "#111111")),
    "front": (
        ("#3f1d1d", "#fdf6e3"), ("#f5efe0", "#2b2118"), ("#12372a", "#fbfada"), ("#101820", "#f2aa4c"),
        ("#ffffff", "#b00020"), ("#27374d", "#dde6ed"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Board:
    """Lines of text on one board."""

    role: Role
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A line as it stands in the picture: left, top, right, bottom in pixels, and how tall its letters are."""

    text: str
    role: Role
    box: Box
    letter_px: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture and what stands in it."""

    image: Image.Image
    texts: tuple[DrawnText, ...]

    def jpeg(self, quality: int) -> bytes:
        """The picture as a camera leaves it."""
        stored = io.BytesIO()
        self.image.save(stored, "JPEG", quality=quality)
        return stored.getvalue()


def draw(
    backdrop: Backdrop, boards: tuple[Board, ...], size: tuple[int, int], far: float, chance: random.Random
) -> Drawn:
    """Draw a scene.

    Args:
        backdrop: what stands behind the boards.
        boards: what is written, one of each role at most.
        size: width and height in pixels.
        far: 1 fills the picture; less makes the house front so much smaller and sets it somewhere in the picture.
        chance: where all that is left open comes from.
    """
    canvas = _background(backdrop if far == 1 else "landscape", size, chance)
    left, top, near = 0, 0, size
    if far < 1:
        near = round(size[0] * far), round(size[1] * far)
        left = round(chance.uniform(0.1, 0.9) * (size[0] - near[0]))
        top = round(chance.uniform(0.45, 0.8) * (size[1] - near[1]))
        canvas.paste(_background(backdrop, near, chance), (left, top))
    texts: list[DrawnText] = []
    for board in boards:
        slot = _slot(board.role, near, chance)
        at = (left + slot[0], top + slot[1])
        texts += _hang(canvas, board, at, (slot[2] - slot[0], slot[3] - slot[1]), chance)
    canvas = canvas.filter(ImageFilter.GaussianBlur(chance.uniform(0.2, 0.8)))
    return Drawn(canvas, tuple(texts))


def _slot(role: Role, size: tuple[int, int], chance: random.Random) -> Box:
    left, top, right, bottom = _SLOTS[role]
    across, down = chance.uniform(-0.012, 0.012), chance.uniform(-0.012, 0.012)
    width, height = size
    return (
        round((left + across) * width), round((top + down) * height),
        round((right + across) * width), round((bottom + down) * height),
    )  # fmt: skip


def _hang(
    canvas: Image.Image, board: Board, at: tuple[int, int], room: tuple[int, int], chance: random.Random
) -> list[DrawnText]:
    """A board with its lines, a little turned, pasted onto the picture."""
    ground, ink = chance.choice(_COLOURS[board.role])
    # A bus is written on below its windows and above its wheels.
    above, free = (0.26, (room[0], round(0.62 * room[1]))) if board.role == "bus" else (0.0, room)
    lines = [part for line in board.lines for part in _broken_to_fit(line, free, len(board.lines))]
    tall = _letter_height(lines, free)
    sheet = Image.new("RGB", room, ground)
    drawing = ImageDraw.Draw(sheet)
    drawing.rectangle((3, 3, room[0] - 4, room[1] - 4), outline=ink, width=2)
    if board.role == "bus":
        _windows_of_a_bus(drawing, room)
    placed: list[tuple[str, Box]] = []
    step = min(free[1] / len(lines), 1.9 * tall)
    first = above * room[1] + (free[1] - step * len(lines)) / 2
    aside = board.role in ("notice", "distances")
    for number, line in enumerate(lines):
        left, upper, right, lower = _bounds(line, tall)
        x = 0.06 * room[0] if aside else (room[0] - (right - left)) / 2
        y = first + step * number + (step - (lower - upper)) / 2
        _write(drawing, (x - left, y - upper), line, tall, ink)
        placed.append((line, (round(x), round(y), round(x + right - left), round(y + lower - upper))))
    angle = chance.uniform(-1.5, 1.5)
    hung = sheet.convert("RGBA").rotate(angle, Image.Resampling.BICUBIC, expand=True)
    shift = ((hung.width - room[0]) // 2, (hung.height - room[1]) // 2)
    corner = (at[0] - shift[0], at[1] - shift[1])
    _wear(hung, chance)
    canvas.paste(hung.convert("RGB"), corner, hung.getchannel("A"))
    slack = max(shift)
    return [
        DrawnText(
            line, board.role,
            (at[0] + box[0] - slack, at[1] + box[1] - slack, at[0] + box[2] + slack, at[1] + box[3] + slack), tall,
        )
        for line, box in placed
    ]  # fmt: skip


def _broken_to_fit(line: str, room: tuple[int, int], lines: int) -> list[str]:
    """The line, or two halves of it where it would be too small to read across the board."""
    if _fits(line, room, room[1] / lines * 0.5) >= _LEAST_LETTER_PX or " " not in line:
        return [line]
    words = line.split(" ")
    cut = min(range(1, len(words)), key=lambda at: abs(len(" ".join(words[:at])) - len(line) / 2))
    return [" ".join(words[:cut]), " ".join(words[cut:])]


def _letter_height(lines: list[str], room: tuple[int, int]) -> float:
    tallest = min(room[1] / len(lines) * 0.62, room[1] * 0.5)
    return min(_fits(line, room, tallest) for line in lines)


def _fits(line: str, room: tuple[int, int], tallest: float) -> float:
    """The size at which a line fills at most most of the board's width."""
    wide = sum(font.getlength(run) for run, font in _runs(line, 100))
    return min(tallest, 100 * 0.86 * room[0] / max(wide, 1))


def _windows_of_a_bus(drawing: ImageDraw.ImageDraw, room: tuple[int, int]) -> None:
    for number in range(9):
        left = room[0] * (0.02 + number * 0.108)
        drawing.rectangle((left, 0.05 * room[1], left + 0.09 * room[0], 0.23 * room[1]), fill="#1f2937")
    for middle in (0.12, 0.88):
        wheel = (middle * room[0] - 0.12 * room[1], 0.86 * room[1], middle * room[0] + 0.12 * room[1], 1.1 * room[1])
        drawing.ellipse(wheel, fill="#0a0a0a")


def _wear(board: Image.Image, chance: random.Random) -> None:
    """Light falls unevenly on every board."""
    depth = chance.uniform(0.05, 0.22)
    shade = Image.linear_gradient("L").rotate(chance.choice((0, 90, 180, 270))).resize(board.size)
    dark = shade.point([int(value * depth) for value in range(256)])
    alpha = board.getchannel("A")
    board.paste(Image.composite(Image.new("RGB", board.size), board.convert("RGB"), dark))
    board.putalpha(alpha)


@cache
def _coverage() -> dict[str, frozenset[int]]:
    table = json.loads((FONTS / "coverage.json").read_text(encoding="ascii"))
    covered = {}
    for name, entry in table.items():
        runs = entry["runs"]
        covered[name] = frozenset(
            code for start, count in zip(runs[::2], runs[1::2], strict=True) for code in range(start, start + count)
        )
    return covered


@cache
def _font_name(text: str) -> str | None:
    """A font that has all letters of a text, the plainest first."""
    wanted = {ord(character) for character in text if not character.isspace()}
    return next((name for name in (*_PLAIN, *_coverage()) if wanted <= _coverage()[name]), None)


@cache
def _named_runs(text: str) -> tuple[tuple[str, str], ...]:
    """The text in parts, each with the font that has its letters, from left to right: figures often need another."""
    whole = _font_name(text)
    if whole is not None:
        return ((text, whole),)
    runs: list[tuple[str, str]] = []
    for character in text:
        name = _font_name(character)
        if name is None:
            raise LookupError(f"no font has {character!r}")
        if runs and _font_name(runs[-1][0] + character) is not None:
            run = runs.pop()[0] + character
            runs.append((run, _font_name(run) or name))
        else:
            runs.append((character, name))
    right_to_left = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    if not right_to_left:
        return tuple(runs)
    # The space after a figure stands to its left then.
    return tuple((run if run == run.rstrip() else f" {run.rstrip()}", name) for run, name in reversed(runs))


def _runs(text: str, size: float) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    return [(run, _face(name, max(6, round(size)))) for run, name in _named_runs(text)]


def _bounds(text: str, size: float) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the ink, from where the base line begins."""
    x, boxes = 0.0, []
    for run, font in _runs(text, size):
        left, upper, right, lower = font.getbbox(run, anchor="ls")
        boxes.append((x + left, upper, x + right, lower))
        x += font.getlength(run)
    lefts, uppers, rights, lowers = zip(*boxes, strict=True)
    return min(lefts), min(uppers), max(rights), max(lowers)


def _write(drawing: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: float, ink: str) -> None:
    x, y = at
    for run, font in _runs(text, size):
        drawing.text((x, y), run, font=font, fill=ink, anchor="ls")
        x += font.getlength(run)


@cache
def _face(name: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONTS / f"{name}.woff2"), size, layout_engine=ImageFont.Layout.RAQM)


def drawable(text: str) -> bool:
    """Whether the fonts have every letter of a text."""
    try:
        _named_runs(text)
    except LookupError:
        return False
    return True


def _background(backdrop: Backdrop, size: tuple[int, int], chance: random.Random) -> Image.Image:
    noise = np.random.default_rng(chance.randrange(2**32))
    # Large pictures are drawn small and grown: a sky has no detail, and grain is laid on afterwards in tiles.
    shrink = max(1, round((size[0] * size[1] / 800_000) ** 0.5))
    small = max(8, size[0] // shrink), max(8, size[1] // shrink)
    image = {"house": _house, "landscape": _landscape, "wall": _wall}[backdrop](small, chance)
    image = image.filter(ImageFilter.GaussianBlur(0.6)).resize(size, Image.Resampling.BICUBIC)
    tile = noise.normal(0, chance.uniform(3, 8), (256, 256)).astype(np.float32)
    across, down = -(-size[0] // 256), -(-size[1] // 256)
    grain = np.tile(tile, (down, across))[: size[1], : size[0], None]
    return Image.fromarray(np.clip(np.asarray(image, dtype=np.float32) + grain, 0, 255).astype(np.uint8))


def _house(size: tuple[int, int], chance: random.Random) -> Image.Image:
    width, height = size
    image = _wall(size, chance)
    drawing = ImageDraw.Draw(image)
    frame, pane = chance.choice(("#e7e2d6", "#4a3b2d", "#2f3b45")), chance.choice(("#3b4650", "#55606a", "#2b3036"))
    for column in range(4):
        left, right = width * (0.07 + 0.235 * column), width * (0.22 + 0.235 * column)
        drawing.rectangle((left, 0.44 * height, right, 0.73 * height), fill=pane, outline=frame, width=5)
        drawing.line(((left + right) / 2, 0.44 * height, (left + right) / 2, 0.73 * height), fill=frame, width=4)
        drawing.line((left, 0.52 * height, right, 0.52 * height), fill=frame, width=4)
        drawing.polygon(
            [
                (left, 0.7 * height),
                (left + 0.1 * width, 0.45 * height),
                (left + 0.12 * width, 0.45 * height),
                (left + 0.02 * width, 0.7 * height),
            ],
            fill=None,
            outline="#76828c",
        )
    drawing.rectangle((0, 0.73 * height, width, 0.76 * height), fill="#6f6a62")
    drawing.rectangle((0, 0.76 * height, width, 0.87 * height), fill="#a19c93")
    for slab in range(14):
        start = width * (slab / 13 * 1.4 - 0.2)
        drawing.line((start, 0.76 * height, start - 0.06 * width, 0.87 * height), fill="#8b867d", width=2)
    drawing.rectangle((0, 0.87 * height, width, 0.885 * height), fill="#c9c5bd")
    drawing.rectangle((0, 0.885 * height, width, height), fill="#4b4d50")
    return image


def _landscape(size: tuple[int, int], chance: random.Random) -> Image.Image:
    width, height = size
    sky = np.linspace(chance.uniform(0.55, 0.8), 1, height)[:, None, None]
    tint = np.array([chance.randrange(120, 190), chance.randrange(160, 215), chance.randrange(200, 250)])
    image = Image.fromarray(np.clip(sky * tint + np.zeros((height, width, 3)), 0, 255).astype(np.uint8))
    drawing = ImageDraw.Draw(image)
    green = [chance.randrange(50, 150), chance.randrange(80, 160), chance.randrange(30, 90)]
    for layer in range(4):
        level = height * (0.45 + 0.13 * layer)
        waves = [chance.uniform(-1, 1) for _ in range(12)]
        ridge = np.interp(np.linspace(0, 11, width), range(12), waves) * height * 0.06
        fill = tuple(max(0, round(value * (1 - 0.16 * layer))) for value in green)
        drawing.polygon(
            [(0, height), *((x, level + ridge[x]) for x in (*range(0, width, 4), width - 1)), (width, height)],
            fill=fill,
        )
    for _ in range(chance.randrange(0, 25)):
        x, y, tall = chance.uniform(0, width), chance.uniform(0.6, 0.95) * height, chance.uniform(0.02, 0.08) * height
        drawing.ellipse((x - tall / 2, y - tall, x + tall / 2, y), fill=tuple(round(value * 0.5) for value in green))
    return image


def _wall(size: tuple[int, int], chance: random.Random) -> Image.Image:
    width, height = size
    noise = np.random.default_rng(chance.randrange(2**32))
    light = chance.randrange(130, 225)
    tint = np.array([light + chance.randrange(warm, warm + 16) for warm in (4, -6, -34)], dtype=np.float64)
    coarse = Image.fromarray(noise.integers(0, 255, (height // 24 + 2, width // 24 + 2), dtype=np.uint8))
    blotch = np.asarray(coarse.resize(size, Image.Resampling.BICUBIC), dtype=np.float64)[..., None]
    pixels = tint + (blotch - 127) * chance.uniform(0.05, 0.15)
    if chance.random() < 0.4:
        tall, wide, depth = chance.randrange(24, 48), chance.randrange(60, 120), chance.uniform(8, 18)
        rows = np.arange(height) // tall
        joints = np.arange(height)[:, None] % tall < 3
        uprights = (np.arange(width)[None, :] + rows[:, None] % 2 * wide // 2) % wide < 3
        pixels = pixels - depth * (joints | uprights)[..., None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
