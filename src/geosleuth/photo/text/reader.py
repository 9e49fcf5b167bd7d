"""Read all text in a picture: find boxes, tell text from texture, pick each line's script, read it, weigh the reading.

RapidOCR reads Latin, Chinese and Japanese. A line goes to Tesseract only where the classifier sees another script in
it, and then to that script's model alone: models of rare scripts read something into leaves, railings and fur.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.support.errors import BadInput

from .classifier import CLASSES, TEXTURE, classify
from .detector import MAX_CUTS, Grid, TextBox, search
from .lines import Engine, TextLine, Turn, in_reading_order, join_neighbours, overlap, without_doubles
from .overlays import mark_overlays
from .rapid import read_strips
from .reading_reliability import Reading, reading_probability
from .script import SCRIPTS, count_scripts, detect_script, is_pattern, may_be_lookalike, tidy
from .strips import (
    LINE_HEIGHT_PX,
    Pixels,
    Quad,
    cut_stacked_strip,
    cut_strip,
    cut_strips,
    dark_on_white,
    is_tall,
    rotate_quad,
    sides,
    with_slack,
)  # fmt: skip
from .tesseract import MODELS, Guess, guess, refine

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_SIDE_PX = 12
MAX_SIDE_PX = 4096
MAX_SLENDER = 60
MIN_LINE_HEIGHT_PX = 7.0

# Minimum texture probability at which a box is not text and is not read.
SURE_TEXTURE = 0.985

# Minimum texture probability at which a box is not also read upside down.
LIKELY_TEXTURE = 0.7

# Minimum RapidOCR confidence at which its reading is accepted if the classifier sees nothing else.
SURE_CONFIDENCE = 0.94

# Minimum probability of another script at which its model also reads a line that RapidOCR is not sure of.
OTHER_SCRIPT = 0.35

# Minimum probability at which the classifier sees a script in a line that RapidOCR reads.
OWN_SCRIPT = 0.5

# Where nothing is read as surely as the first, scripts are tried that are as likely as the second.
SURE_ENOUGH, RUNNER_UP = 0.5, 0.12

# Lines read with less confidence than this are also read upside down.
UPSIDE_DOWN_CONFIDENCE = 0.85

# Minimum probability of being right for a reading to be kept.
MIN_KEPT = 0.12

# Heights that Tesseract reads: slightly below its networks' input works best, but some lines do better at the other.
STRIP_HEIGHTS_PX = (36, 48)

# A tall box so wide and at most so slender may be a column; Han and Hangul together at least so likely.
COLUMN_WIDTH_PX, COLUMN_RATIO, COLUMN_SHARE = 12, 12, 0.5

# Minimum single letters, one below the other, that form a column.
COLUMN_LETTERS = 3

# Parts of a column are at most so many times as wide as others; the whole is read so surely, or as its parts.
COLUMN_LIKE, MIN_OF_COLUMN = 2.5, 0.7

_SQUARE = [CLASSES.index("han"), CLASSES.index("hangul")]
_LOOKALIKES = ({"cyrillic", "greek", "armenian"}, {"telugu", "kannada"}, {"hangul", "han"})
_MAX_SCRIPTS = 2
_PROBES = 3
_HINT = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A box, turned so that its text stands upright, and what the classifier sees in it.

    A stacked one is a column of upright letters, which are laid side by side to be read. The level strip is kept where
    the classifier saw it: to blur a large box takes as long as to read it.
    """

    quad: Quad
    score: float
    turn: Turn
    kinds: FloatArray
    stacked: bool = False
    level: Pixels | None = None

    def strip(self, pixels: Pixels, *, tall: int = LINE_HEIGHT_PX, margin: float = 0.0) -> Pixels:
        """Return the line as a level strip."""
        if self.level is not None and (tall, margin) == (LINE_HEIGHT_PX, 0.0):
            return self.level
        stacked = cut_stacked_strip(pixels, self.quad, tall=tall, margin=margin) if self.stacked else None
        return cut_strip(pixels, self.quad, tall=tall, margin=margin) if stacked is None else stacked


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    found: _Found
    text: str
    engine_confidence: float
    script: str
    engine: Engine

    @property
    def reading(self) -> Reading:
        """Return the features that its reliability depends on."""
        kinds = self.found.kinds
        own = {"chinese": "han", "japanese": "han", "none": "latin"}.get(self.script, self.script)
        return Reading(
            engine=self.engine,
            script=self.script,
            text=self.text,
            confidence=self.engine_confidence,
            texture=float(kinds[TEXTURE]),
            script_share=float(kinds[CLASSES.index(own)]) if own in CLASSES else 0.0,
            box_score=self.found.score,
            box_heights=_heights(self.found.quad),
        )

    @property
    def probability(self) -> float:
        """Return the probability that the reading is right."""
        return reading_probability(self.reading)


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Limits on the work of reading a picture.

    Attributes:
        max_boxes: At most so many lines are read, the largest first.
        seconds: After so much work no further line is tried in other scripts; what was read so far is given. The time
            is that of this thread on a processor: a busy machine reads more slowly, not less.
        detail_px: Long side of the copy in which lines are searched. More finds smaller text, and takes longer.
        cuts: In so many places where writing was noticed and no line found, an enlarged cut is searched.
        unread: Also give, behind the others and without text, lines that were found and not read: too small, mostly.
        script: Read every line in this script (one of `SCRIPTS`) and leave out what is in none of its letters.
    """

    max_boxes: int = 60
    seconds: float = 8.0
    detail_px: int = 1536
    cuts: int = MAX_CUTS
    unread: bool = False
    script: str | None = None

    def __post_init__(self) -> None:
        if self.script is not None and self.script not in SCRIPTS:
            raise BadInput(f"{self.script!r} is no script that can be read. One of: {', '.join(SCRIPTS)}.")


class PictureText(NamedTuple):
    """The lines of a picture in reading order, and how much each part of it looks like writing, in a grid."""

    lines: list[TextLine]
    writing: Grid = ()


def read_text(image: "Image", *, max_boxes: int = 60, seconds: float = 8.0, detail_px: int = 1536) -> list[TextLine]:
    """Return the lines of text in a picture; see `read_picture` and `ReadingOptions`."""
    return read_picture(image, ReadingOptions(max_boxes, seconds, detail_px)).lines


def read_picture(image: "Image", options: ReadingOptions | None = None) -> PictureText:
    """Read a picture of any mode and size; boxes are in its pixels.

    Lines may stand in any direction; a picture that lies on its side is read as if it stood upright. Transparent parts
    count as white. A blank picture has no lines.
    """
    if min(image.size) < MIN_SIDE_PX or max(image.size) > MAX_SLENDER * min(image.size):
        return PictureText([])
    pixels, shrunk = _pixels(image)
    options = options or ReadingOptions()
    read, turn = _read_lines(pixels, shrunk, image.size, options)
    if turn == 0:
        return read
    # Once it stands, small lines are found and captions known as in any other picture.
    size = image.size if turn == 180 else image.size[::-1]
    upright, _ = _read_lines(with_slack(np.rot90(pixels, -turn // 90)), shrunk, size, options)
    return PictureText([_laid_back(line, turn, size) for line in upright.lines], read.writing)


def _read_lines(
    pixels: Pixels, shrunk: float, size: tuple[int, int], wanted: ReadingOptions
) -> tuple[PictureText, Turn]:
    boxes, writing = search(pixels, wanted.detail_px, cuts=wanted.cuts)
    reads = _read_boxes(pixels, boxes, wanted.max_boxes, wanted.seconds, wanted.script)
    lines = [_build_text_line(read, 1 / shrunk, size) for read in reads if read.text and read.probability >= MIN_KEPT]
    lines = mark_overlays(in_reading_order(without_doubles(lines)), pixels, shrunk)
    if wanted.unread:
        blank = [_Found(box.quad, box.score, 0, np.zeros(len(CLASSES))) for box in boxes]
        missed = [_build_text_line(_Read(found, "", 0.0, "none", "rapidocr"), 1 / shrunk, size) for found in blank]
        lines += [box for box in missed if not any(overlap(box, line) > 0 for line in lines)][: wanted.max_boxes]
    return PictureText(lines, writing), _way_up(reads)


def _laid_back(line: TextLine, turn: Turn, size: tuple[int, int]) -> TextLine:
    """Return a line of a picture that was turned clockwise to this size, as it lies in the picture before."""
    wide, tall = size
    corners = [
        {90: (y, wide - x), 180: (wide - x, tall - y), 270: (tall - y, x)}.get(turn, (x, y)) for x, y in line.box
    ]
    first, second, third, fourth = corners
    total = get_args(Turn)[(turn + line.turn) % 360 // 90]
    return replace(line, box=(first, second, third, fourth), turn=total)


def list_readings(image: "Image", *, max_boxes: int = 60, seconds: float = 8.0, detail_px: int = 1536) -> list[Reading]:
    """Return every reading of a picture, even unlikely ones, for measuring how often they are right."""
    pixels, _ = _pixels(image)
    reads = _read_boxes(pixels, search(pixels, detail_px).boxes, max_boxes, seconds)
    return [read.reading for read in reads if read.text]


def _read_boxes(
    pixels: Pixels, boxes: Sequence[TextBox], max_boxes: int, seconds: float, script: str | None = None
) -> list[_Read]:
    until = thread_time() + seconds
    largest = sorted(boxes, key=lambda box: -min(sides(box.quad)) * max(sides(box.quad)) ** 0.5)
    legible = [box for box in largest if min(sides(box.quad)) >= MIN_LINE_HEIGHT_PX][:max_boxes]
    reads = _first_pass(pixels, _classify_boxes(pixels, legible))
    reads = _join_columns(pixels, _turn_short_lines(pixels, reads))
    if script is not None:
        return _in_one_script(pixels, reads, script, until)
    reads = _in_other_scripts(pixels, reads, until)
    return [_settle_lookalike(pixels, read, reads) for read in reads]


def _pixels(image: "Image") -> tuple[Pixels, float]:
    """The picture as red, green, blue, within a size that memory allows; and by how much it was shrunk."""
    from PIL import Image as Pillow

    shrunk = min(1.0, MAX_SIDE_PX / max(image.size))
    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        image = _stretch_grey(image)
    if shrunk < 1:
        size = max(1, round(image.width * shrunk)), max(1, round(image.height * shrunk))
        image = image.resize(size, Pillow.Resampling.BOX if image.mode in {"1", "P"} else Pillow.Resampling.BILINEAR)
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        image = Pillow.new("RGBA", clear.size, "white")
        image.alpha_composite(clear)
    return with_slack(np.asarray(image.convert("RGB"), dtype=np.uint8)), shrunk


def _stretch_grey(image: "Image") -> "Image":
    """Deep grey brought to eight bits, darkest to brightest: Pillow's own conversion would clip it."""
    from PIL import Image as Pillow

    deep = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0.0, neginf=0.0)
    low, high = float(deep.min()), float(deep.max())
    return Pillow.fromarray(((deep - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))


def _classify_boxes(pixels: Pixels, boxes: Sequence[TextBox]) -> list[list[_Found]]:
    """Return each box that is not surely texture, in the ways that it may stand.

    Tall boxes hold lines turned a quarter either way. Such a line in Latin may look like a column of Han, too: then it
    is read in all three ways.
    """
    turns: list[tuple[Turn, ...]] = [(270, 90) if is_tall(box.quad) else (0, 180) for box in boxes]
    quads = [[rotate_quad(box.quad, turn) for turn in ways] for box, ways in zip(boxes, turns, strict=True)]
    strips = [cut_strips(pixels, ways) for ways in quads]
    kinds = classify([strip for ways in strips for strip in ways])
    found = []
    for number, box in enumerate(boxes):
        ways = [
            _Found(
                quads[number][way],
                box.score,
                turns[number][way],
                kinds[2 * number + way],
                level=strips[number][way],
            )
            for way in (0, 1)
        ]
        if (column := _column(pixels, box)) is not None:
            ways = [column, *ways]
        if min(float(way.kinds[TEXTURE]) for way in ways) < SURE_TEXTURE:
            found.append(ways)
    return found


def _column(pixels: Pixels, box: TextBox) -> _Found | None:
    """Return a tall box as a column of upright Han, kana or Hangul, where the classifier sees them in it."""
    wide, tall = sides(box.quad)
    may_be_one = is_tall(box.quad) and wide >= COLUMN_WIDTH_PX and tall <= COLUMN_RATIO * wide
    strip = cut_stacked_strip(pixels, box.quad) if may_be_one else None
    if strip is None:
        return None
    kinds = classify([strip])[0]
    return _Found(box.quad, box.score, 0, kinds, stacked=True) if kinds[_SQUARE].sum() >= COLUMN_SHARE else None


def _first_pass(pixels: Pixels, found: Sequence[Sequence[_Found]]) -> list[_Read]:
    """Return RapidOCR's reading of each box; if it is unsure, or the box is tall, also upside down.

    It makes something of lines that stand on their head, too. So the largest are always read both ways, and where these
    are better the other way up, all are read so.
    """
    reads = _read_by_rapid(pixels, [ways[0] for ways in found])
    better = _other_way_up(pixels, found, reads, range(min(_PROBES, len(reads))))
    rest = [
        number
        for number, read in enumerate(reads)
        if number >= _PROBES
        and (
            2 * better > _PROBES
            or read.found.turn
            or read.found.stacked
            or (read.engine_confidence < UPSIDE_DOWN_CONFIDENCE and not _may_be_other(read))
        )
    ]
    _other_way_up(pixels, found, reads, rest)
    return reads


def _other_way_up(pixels: Pixels, found: Sequence[Sequence[_Found]], reads: list[_Read], numbers: Iterable[int]) -> int:
    """Read some boxes in the other ways they may stand and keep what is best; return how many were better so."""
    chosen = [(number, way) for number in numbers for way in found[number][1:] if way.kinds[TEXTURE] < LIKELY_TEXTURE]
    better = set()
    for (number, _), other in zip(chosen, _read_by_rapid(pixels, [way for _, way in chosen]), strict=True):
        # Thai on its head reads as Latin, surely at times: the classifier must see Latin or Han in it as well.
        believed = _surely_own(other) or _is_turned_latin(other, reads[number]) or not _may_be_other(reads[number])
        if believed and _worth(other) > _worth(reads[number]):
            reads[number] = other
            better.add(number)
    return len(better)


def _is_turned_latin(other: _Read, column: _Read) -> bool:
    """Return whether what was laid out as a column of square letters is surely a Latin line on its side."""
    return column.found.stacked and other.script == "latin" and other.engine_confidence >= SURE_CONFIDENCE


def _worth(read: _Read) -> float:
    """Tells the right way up: sure, and of more than a letter or two."""
    return read.engine_confidence * min(1.0, 0.4 + 0.2 * len(read.text))


def _may_be_other(read: _Read) -> bool:
    """Return whether the classifier sees a script that RapidOCR does not read."""
    kinds = read.found.kinds
    return bool(kinds[3:].sum() >= OTHER_SCRIPT)


def _read_by_rapid(pixels: Pixels, found: Sequence[_Found]) -> list[_Read]:
    texts = read_strips([item.strip(pixels) for item in found])
    reads = []
    for item, (raw, confidence) in zip(found, texts, strict=True):
        text = tidy(raw)
        text = "" if is_pattern(text) else text
        reads.append(_Read(item, text, confidence if text else 0.0, detect_script(text), "rapidocr"))
    return reads


def _turn_short_lines(pixels: Pixels, reads: Sequence[_Read]) -> list[_Read]:
    """Turn short lines like the rest if most of a picture's text is not upright."""
    turn = _way_up(reads)
    if turn == 0:
        return list(reads)
    kept: list[_Read] = []
    other: list[_Read] = []
    for read in reads:
        wide, tall = sides(read.found.quad)
        square = max(wide, tall) < 1.8 * min(wide, tall)
        opposite = (read.found.turn - turn) % 360 == 180
        (other if read.found.turn != turn and (square or opposite) else kept).append(read)
    quads = [rotate_quad(read.found.quad, (turn - read.found.turn) % 360) for read in other]
    again = [
        replace(read.found, quad=quad, turn=turn, kinds=kinds, level=None)
        for read, quad, kinds in zip(other, quads, classify([cut_strip(pixels, quad) for quad in quads]), strict=True)
    ]
    for read, better in zip(other, _read_by_rapid(pixels, again), strict=True):
        kept.append(better if better.engine_confidence >= read.engine_confidence - 0.1 else read)
    return kept


def _join_columns(pixels: Pixels, reads: Sequence[_Read]) -> list[_Read]:
    """Return the readings with letters that were found one by one, one below the other, as one line."""
    kept = list(reads)
    for column in _columns(reads):
        bounds = np.concatenate([read.found.quad for read in column])
        (left, top), (right, bottom) = bounds.min(axis=0), bounds.max(axis=0)
        quad = rotate_quad(np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32), 270)
        score = min(read.found.score for read in column)
        (joined,) = _read_by_rapid(pixels, [_Found(quad, score, 270, classify([cut_strip(pixels, quad)])[0])])
        mean = float(np.mean([read.engine_confidence for read in column]))
        if len(joined.text) >= len(column) and joined.engine_confidence >= min(MIN_OF_COLUMN, mean):
            upright = replace(joined.found, quad=rotate_quad(quad, 90), turn=0, level=None)
            parts = {id(read) for read in column}
            kept = [read for read in kept if id(read) not in parts] + [replace(joined, found=upright)]
    return kept


def _columns(reads: Sequence[_Read]) -> list[list[_Read]]:
    """Return groups of readings that stand closely below one another, some of them single letters."""
    columns: list[list[_Read]] = []
    short = [
        read for read in reads
        if read.text and (len(read.text) <= 2 or read.found.turn in {90, 270}) and not read.found.stacked
    ]  # fmt: skip
    for read in sorted(short, key=lambda read: float(read.found.quad[:, 1].min())):
        column = next((column for column in columns if _stands_below(column[-1].found.quad, read.found.quad)), None)
        if column is None:
            columns.append([read])
        else:
            column.append(read)
    return [
        column for column in columns
        if sum(len(read.text) for read in column) >= COLUMN_LETTERS
        and len(column) > 1
        and any(read.found.turn == 0 and len(read.text) == 1 for read in column)
    ]  # fmt: skip


def _stands_below(upper: Quad, lower: Quad) -> bool:
    (left, _), (right, bottom) = upper.min(axis=0), upper.max(axis=0)
    (start, begin), (end, _) = lower.min(axis=0), lower.max(axis=0)
    wide = max(right - left, end - start)
    like = wide <= COLUMN_LIKE * min(right - left, end - start)
    return bool(like and abs((left + right) - (start + end)) < 2 * wide / 3 and -wide / 2 < begin - bottom < wide)


def _way_up(reads: Sequence[_Read]) -> Turn:
    """Return the turn of the picture that makes most of its surely read letters upright."""
    votes: Counter[Turn] = Counter()
    for read in reads:
        if read.engine_confidence >= SURE_CONFIDENCE and len(read.text) >= 4:
            votes[read.found.turn] += len(read.text)
    return votes.most_common(1)[0][0] if votes else 0


def _in_other_scripts(pixels: Pixels, reads: Sequence[_Read], until: float) -> list[_Read]:
    """Lines that the classifier takes for another script, read by that script's model where RapidOCR is not sure."""
    kept = [read for read in reads if not _doubtful(read)]
    unsure = [read for read in reads if _doubtful(read)]
    for group in _join_other_scripts(pixels, unsure):
        readings = [group]
        if thread_time() < until:
            seen = _scripts_seen(group)
            readings += _by_scripts(pixels, group.found, seen)
            if all(reading.probability < SURE_ENOUGH for reading in readings):
                kinds = group.found.kinds
                also = [CLASSES[at] for at in np.argsort(-kinds).tolist() if at > 2 and kinds[at] >= RUNNER_UP]
                readings += _by_scripts(pixels, group.found, [item for item in also if item not in seen][:_MAX_SCRIPTS])
        # RapidOCR knows some Greek letters, and sees them in nothing else.
        greek = _HINT if count_scripts(group.text)["greek"] else 0.0
        hints = {"rapidocr": 0.0, "tesseract": greek}
        kept.append(
            max(readings, key=lambda item: item.probability + (hints[item.engine] if item.script == "greek" else 0.0))
        )
    return kept


def _in_one_script(pixels: Pixels, reads: Sequence[_Read], script: str, until: float) -> list[_Read]:
    """Return what the reader of one script makes of every line, and figures; what is in other letters is left out."""
    if script not in MODELS:
        own = {script, "none", *({"chinese"} if script == "japanese" else ())}
        return [read for read in reads if read.script in own]
    kept = []
    for group in _join_other_scripts(
        pixels, [read for read in reads if read.script == "none" or not _surely_own(read)]
    ):
        kinds = np.zeros(len(CLASSES))
        kinds[TEXTURE] = group.found.kinds[TEXTURE]
        kinds[CLASSES.index(script)] = 1 - kinds[TEXTURE]
        found = replace(group.found, kinds=kinds)
        other = _by_tesseract(pixels, found, script) if thread_time() < until else None
        if other is not None and count_scripts(other.text)[script]:
            kept.append(other)
        elif group.script == "none":
            kept.append(group)
    return kept


def _surely_own(read: _Read) -> bool:
    """Return whether a line surely is in a script that RapidOCR reads, or in figures."""
    own = float(read.found.kinds[1:3].sum())
    return read.engine_confidence >= SURE_CONFIDENCE and (own >= OWN_SCRIPT or read.script == "none")


def _by_scripts(pixels: Pixels, found: _Found, scripts: Iterable[str]) -> list[_Read]:
    others = (_by_tesseract(pixels, found, script) for script in scripts)
    return [other for other in others if other is not None]


def _doubtful(read: _Read) -> bool:
    """Return whether to try another script's model on a line: RapidOCR sees Latin in letters it does not know."""
    if not _scripts_seen(read):
        return False
    counts = count_scripts(read.text)
    own = float(read.found.kinds[1] + read.found.kinds[2])
    known = read.engine_confidence >= SURE_CONFIDENCE and counts.total() > 0 and not counts["greek"]
    return not (known and (own >= 0.5 or not read.text.islower() or len(read.text) > 5))


def _scripts_seen(read: _Read) -> list[str]:
    """The other scripts that a line may be in, the likeliest first, with look-alikes of the likeliest."""
    kinds = read.found.kinds
    greek = {"greek"} if count_scripts(read.text)["greek"] else set()
    seen = [CLASSES[at] for at in np.argsort(-kinds).tolist() if kinds[at] >= OTHER_SCRIPT and CLASSES[at] in MODELS]
    total = float(kinds[3:].sum())
    if not seen and total >= OTHER_SCRIPT:
        seen = [CLASSES[3 + int(np.argmax(kinds[3:]))]]
    if seen:
        seen += [
            script for group in _LOOKALIKES if seen[0] in group for script in sorted(group)
            if script not in seen and script in MODELS and kinds[CLASSES.index(script)] >= 0.03
        ]  # fmt: skip
    return [*(script for script in greek if script not in seen), *seen][:_MAX_SCRIPTS]


def _join_other_scripts(pixels: Pixels, unsure: Sequence[_Read]) -> list[_Read]:
    """Words of other scripts that stand close together, as one line; the joined ones are looked at again."""
    by_turn: dict[Turn, list[_Read]] = {turn: [] for turn in get_args(Turn)}
    for read in unsure:
        by_turn[read.found.turn].append(read)
    groups: list[_Read] = []
    for turn, reads in by_turn.items():
        known = {id(read.found.quad): read for read in reads}
        groups += [read for read in reads if read.found.stacked]
        fresh = []
        for quad in join_neighbours([read.found.quad for read in reads if not read.found.stacked]):
            if id(quad) in known:
                groups.append(known[id(quad)])
            else:
                fresh.append(quad)
        kinds = classify([cut_strip(pixels, quad) for quad in fresh])
        score = min((read.found.score for read in reads), default=0.0)
        groups += _read_by_rapid(
            pixels, [_Found(quad, score, turn, kind) for quad, kind in zip(fresh, kinds, strict=True)]
        )
    return groups


def _by_tesseract(pixels: Pixels, found: _Found, script: str) -> _Read | None:
    strips = _strips(pixels, found)
    read = guess(script, strips[0])
    if read.score < 0.8:
        read = max([read, *(guess(script, strip) for strip in strips[1:])], key=lambda item: item.score)
        if not read.text:
            read = guess(script, strips[0], raw=True)
    read = refine(read, strips[0])
    if found.stacked:
        # The gaps between the letters of a column are no spaces.
        read = replace(read, text=read.text.replace(" ", ""))
    return _of_guess(found, read) if read.score else None


def _of_guess(found: _Found, read: Guess) -> _Read:
    return _Read(found, read.text, read.score, read.script, "tesseract")


def _strips(pixels: Pixels, found: _Found) -> list[Pixels]:
    return [dark_on_white(found.strip(pixels, tall=tall, margin=0.2)) for tall in STRIP_HEIGHTS_PX]


def _heights(quad: Quad) -> float:
    """Return a line's ratio of length to height."""
    wide, tall = sides(quad)
    return max(wide, tall) / max(min(wide, tall), 1.0)


def _settle_lookalike(pixels: Pixels, read: _Read, reads: Sequence[_Read]) -> _Read:
    """A line of letters that Latin shares with Cyrillic or Greek takes the script of the lines around it."""
    if read.script != "latin" or read.engine != "rapidocr" or not may_be_lookalike(read.text):
        return read
    sure = [other for other in reads if other.probability >= 0.5]
    around = Counter(other.script for other in sure if other.script in {"cyrillic", "greek"})
    latin = sum(other.script == "latin" and not may_be_lookalike(other.text) for other in sure)
    if not around or around.most_common(1)[0][1] <= latin:
        return read
    strip = _strips(pixels, read.found)[0]
    again = refine(guess(around.most_common(1)[0][0], strip), strip)
    return read if again.score < 0.8 else _of_guess(read.found, again)


def _build_text_line(read: _Read, grow: float, size: tuple[int, int]) -> TextLine:
    limit = np.array(size, dtype=np.float64)
    corners = [tuple(map(float, np.clip(corner * grow, 0, limit))) for corner in read.found.quad.astype(np.float64)]
    upper_left, upper_right, lower_right, lower_left = ((x, y) for x, y in corners)
    return TextLine(
        text=read.text,
        box=(upper_left, upper_right, lower_right, lower_left),
        confidence=round(read.probability, 4) if read.text else 0.0,
        script=read.script,
        engine=read.engine,
        turn=read.found.turn,
    )
