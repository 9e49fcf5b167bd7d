"""Read all text in a picture: find boxes, read them with RapidOCR, give the rest to the picker of scripts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from .layout import in_reading_order, join_neighbours, overlap, without_doubles
from .line import Engine, TextLine
from .picker import pick
from .rapid import find_boxes, read_strips
from .strips import Pixels, Quad, cut_strip, dark_on_white, sides, with_slack
from .tesseract import Guess, guess, refine
from .writing import count_scripts, may_be_lookalike, script_of, tidy

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST_SIDE_PX = 12
MOST_SIDE_PX = 4096
MOST_SLENDER = 60
LEAST_LINE_HEIGHT_PX = 7.0

SURE = 0.94
"""RapidOCR's confidence from which it is believed. Its readings of scripts it does not know stay below, mostly."""

SURE_ENOUGH_ALONE = 0.75
SURE_ENOUGH_PICKED = 0.3
STRIP_HEIGHTS_PX = (36, 48)
"""Tesseract reads best a little below the height of its networks' input; some lines do better at the other."""


@dataclass(frozen=True, slots=True)
class _Read:
    quad: Quad
    text: str
    confidence: float
    script: str
    engine: Engine


def read_text(
    image: "Image", *, max_boxes: int = 60, seconds: float = 8.0, detail_px: int = 1536, unread: bool = False
) -> list[TextLine]:
    """Lines of text in a picture, in reading order, boxes in pixels of the picture that was given.

    Args:
        image: A picture of any mode and size. Transparent parts count as white. A blank one has no lines.
        max_boxes: At most so many lines are read, the largest first.
        seconds: After so much work no further line is tried in other scripts; what was read so far is given. The time
            is that of this thread on a processor: a busy machine reads more slowly, not less.
        detail_px: Long side of the copy in which lines are searched. More finds smaller text, and takes longer.
        unread: Also give, behind the others and without text, lines that were found and not read: too small, mostly.
    """
    until = thread_time() + seconds
    if min(image.size) < LEAST_SIDE_PX or max(image.size) > MOST_SLENDER * min(image.size):
        return []
    pixels, shrunk = _pixels(image)
    found = sorted(find_boxes(pixels, detail_px), key=lambda quad: -min(sides(quad)) * max(sides(quad)) ** 0.5)
    quads = [quad for quad in found if min(sides(quad)) >= LEAST_LINE_HEIGHT_PX][:max_boxes]
    reads, unsure = _first_pass(pixels, quads)
    reads += _second_pass(pixels, unsure, until)
    reads = [_settle_lookalike(pixels, read, reads) for read in reads]
    lines = [_line(read, 1 / shrunk, image.size) for read in reads]
    lines = in_reading_order(without_doubles(lines))
    if unread:
        boxes = [_line(_Read(quad, "", 0.0, "none", "rapidocr"), 1 / shrunk, image.size) for quad in found]
        missed = [box for box in boxes if not any(overlap(box, line) > 0 for line in lines)]
        lines += missed[:max_boxes]
    return lines


def _pixels(image: "Image") -> tuple[Pixels, float]:
    """The picture as red, green, blue, within a size that memory allows; and by how much it was shrunk."""
    from PIL import Image as Pillow

    shrunk = min(1.0, MOST_SIDE_PX / max(image.size))
    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        image = _stretched(image)
    if shrunk < 1:
        size = max(1, round(image.width * shrunk)), max(1, round(image.height * shrunk))
        image = image.resize(size, Pillow.Resampling.BOX if image.mode in {"1", "P"} else Pillow.Resampling.BILINEAR)
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        image = Pillow.new("RGBA", clear.size, "white")
        image.alpha_composite(clear)
    return with_slack(np.asarray(image.convert("RGB"), dtype=np.uint8)), shrunk


def _stretched(image: "Image") -> "Image":
    """Deep grey brought to eight bits, darkest to brightest: Pillow's own conversion would clip it."""
    from PIL import Image as Pillow

    deep = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0.0, neginf=0.0)
    low, high = float(deep.min()), float(deep.max())
    return Pillow.fromarray(((deep - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))


def _first_pass(pixels: Pixels, quads: Sequence[Quad]) -> tuple[list[_Read], list[tuple[Quad, str, float]]]:
    """What RapidOCR reads surely, and the boxes it does not, with its doubtful reading."""
    sure: list[_Read] = []
    unsure: list[tuple[Quad, str, float]] = []
    for quad, (raw, confidence) in zip(quads, read_strips([cut_strip(pixels, quad) for quad in quads]), strict=True):
        text = tidy(raw)
        if confidence >= SURE and not _doubtful(text):
            sure.append(_Read(quad, text, confidence, script_of(text), "rapidocr"))
        else:
            unsure.append((quad, text, confidence if text else 0.0))
    return sure, unsure


def _doubtful(text: str) -> bool:
    """Whether a text should be looked at again however sure RapidOCR is.

    It knows a few Greek letters but no accents; and it sees a small Latin word or a stroke in letters it does not know.
    """
    counts = count_scripts(text)
    if not counts.total():
        return not any(character.isdigit() for character in text)
    return counts["greek"] > 0 or (len(text) <= 5 and text.islower() and text.isascii())


def _second_pass(pixels: Pixels, unsure: Sequence[tuple[Quad, str, float]], until: float) -> list[_Read]:
    """Doubtful boxes, read with the models of other scripts; scripts already found in the picture are asked first."""
    doubtful = {tuple(map(float, quad.mean(axis=0))): (text, confidence) for quad, text, confidence in unsure}
    reads: list[_Read] = []
    found: Counter[str] = Counter()
    for quad in join_neighbours([quad for quad, _, _ in unsure]):
        text, confidence = doubtful.get(tuple(map(float, quad.mean(axis=0)))) or _reread(pixels, quad)
        other: Guess | None = None
        if thread_time() < until:
            greek = "greek" if count_scripts(text)["greek"] else ""
            other = pick(_strips(pixels, quad), [script for script, _ in found.most_common()], until, hinted=greek)
        if other and other.score >= _needed(text, confidence, other):
            found[other.script] += 1
            reads.append(_Read(quad, other.text, other.score, other.script, "tesseract"))
        elif confidence >= SURE_ENOUGH_ALONE and script_of(text) != "none":
            reads.append(_Read(quad, text, confidence, script_of(text), "rapidocr"))
    return reads


def _needed(text: str, confidence: float, other: Guess) -> float:
    """How sure Tesseract must be to be believed over RapidOCR, which is seldom unsure of what it knows."""
    if count_scripts(text)["greek"] and other.script == "greek":
        return SURE_ENOUGH_PICKED
    if other.script in {"cyrillic", "greek"} and confidence >= SURE and may_be_lookalike(text):
        return 1.0
    return max(SURE_ENOUGH_PICKED, min(confidence, SURE) ** 2 - 0.05)


def _strips(pixels: Pixels, quad: Quad) -> list[Pixels]:
    return [dark_on_white(cut_strip(pixels, quad, tall=tall, margin=0.2)) for tall in STRIP_HEIGHTS_PX]


def _reread(pixels: Pixels, quad: Quad) -> tuple[str, float]:
    ((text, confidence),) = read_strips([cut_strip(pixels, quad)])
    return tidy(text), confidence


def _settle_lookalike(pixels: Pixels, read: _Read, reads: Sequence[_Read]) -> _Read:
    """A line of letters that Latin shares with Cyrillic or Greek takes the script of the lines around it."""
    if read.script != "latin" or read.engine != "rapidocr" or not may_be_lookalike(read.text):
        return read
    around = Counter(other.script for other in reads if other.script in {"cyrillic", "greek"})
    latin = sum(other.script == "latin" and not may_be_lookalike(other.text) for other in reads)
    if not around or around.most_common(1)[0][1] <= latin:
        return read
    strip = _strips(pixels, read.quad)[0]
    again = refine(guess(around.most_common(1)[0][0], strip), strip)
    if again.score < 0.8:
        return read
    return _Read(read.quad, again.text, again.score, again.script, "tesseract")


def _line(read: _Read, grow: float, size: tuple[int, int]) -> TextLine:
    limit = np.array(size, dtype=np.float64)
    corners = [tuple(map(float, np.clip(corner * grow, 0, limit))) for corner in read.quad.astype(np.float64)]
    upper_left, upper_right, lower_right, lower_left = ((x, y) for x, y in corners)
    return TextLine(
        text=read.text,
        box=(upper_left, upper_right, lower_right, lower_left),
        confidence=min(1.0, max(0.0, read.confidence)),
        script=read.script,
        engine=read.engine,
    )
