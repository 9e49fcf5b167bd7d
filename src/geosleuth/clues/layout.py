"""How lines stand to each other in a picture: beside, below, parts of one sign."""

from collections.abc import Sequence
from dataclasses import replace

from .model import TextSeen

MAX_LINES = 400
"""More lines than a photo has; what comes after them is left out, the least sure first."""

MAX_LINE_CHARS = 200
"""Longer lines are cut: no sign has them."""

SAME_ROW = 0.5
"""Share of the lower line's height that two lines must have in common to stand in one row."""

LIKE_HEIGHT = 1.7
CLOSE_BELOW = 1.1
CLOSE_BESIDE = 8.0


def height(line: TextSeen) -> float:
    """The height of a line's box, at least a pixel."""
    return max(line.box[3] - line.box[1], 1.0)


def in_one_row(one: TextSeen, other: TextSeen) -> bool:
    """Whether two lines stand side by side."""
    if one.image != other.image:
        return False
    shared = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
    return shared >= SAME_ROW * min(height(one), height(other))


def gap_beside(one: TextSeen, other: TextSeen) -> float:
    """Pixels between two lines of one row; negative where they overlap."""
    return max(one.box[0], other.box[0]) - min(one.box[2], other.box[2])


def continues_below(upper: TextSeen, lower: TextSeen) -> bool:
    """Whether the lower line may go on with the upper one: like letters, little space, one above the other."""
    if upper.image != lower.image:
        return False
    one, two = height(upper), height(lower)
    between = lower.box[1] - upper.box[3]
    width = min(upper.box[2] - upper.box[0], lower.box[2] - lower.box[0])
    shared = min(upper.box[2], lower.box[2]) - max(upper.box[0], lower.box[0])
    return (
        max(one, two) <= LIKE_HEIGHT * min(one, two)
        and -0.5 * min(one, two) <= between <= CLOSE_BELOW * min(one, two)
        and lower.box[1] > upper.box[1]
        and shared >= 0.5 * max(width, 1.0)
    )


def joined(lines: Sequence[TextSeen], text: str) -> TextSeen:
    """Several lines as one, with the box around them all and the least of their confidences."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in lines), strict=True)
    first = lines[0]
    box = (min(lefts), min(tops), max(rights), max(bottoms))
    return TextSeen(text, first.image, box, min(line.confidence for line in lines), first.script)


def usable(lines: Sequence[TextSeen]) -> list[TextSeen]:
    """Lines with something in them; the same text in the same place once, and not more than `MAX_LINES`."""
    kept: dict[tuple[str, str, tuple[float, float, float, float]], TextSeen] = {}
    for line in lines:
        cut = line if len(line.text) <= MAX_LINE_CHARS else replace(line, text=line.text[:MAX_LINE_CHARS])
        text = " ".join(cut.text.split())
        if text:
            kept.setdefault((line.image, text, line.box), cut)
    chosen = list(kept.values())
    if len(chosen) > MAX_LINES:
        surest = sorted(range(len(chosen)), key=lambda number: -chosen[number].confidence)[:MAX_LINES]
        chosen = [chosen[number] for number in sorted(surest)]
    return chosen
