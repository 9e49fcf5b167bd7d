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
    return max(line.upright[3] - line.upright[1], 1.0)


def in_one_row(one: TextSeen, other: TextSeen) -> bool:
    """Whether two lines stand side by side."""
    if one.image != other.image or one.turn != other.turn:
        return False
    shared = min(one.upright[3], other.upright[3]) - max(one.upright[1], other.upright[1])
    return shared >= SAME_ROW * min(height(one), height(other))


def gap_beside(one: TextSeen, other: TextSeen) -> float:
    """Pixels between two lines of one row; negative where they overlap."""
    return max(one.upright[0], other.upright[0]) - min(one.upright[2], other.upright[2])


def continues_below(upper: TextSeen, lower: TextSeen) -> bool:
    """Whether the lower line may go on with the upper one: like letters, little space, one above the other."""
    if upper.image != lower.image or upper.turn != lower.turn:
        return False
    one, two = height(upper), height(lower)
    between = lower.upright[1] - upper.upright[3]
    width = min(upper.upright[2] - upper.upright[0], lower.upright[2] - lower.upright[0])
    shared = min(upper.upright[2], lower.upright[2]) - max(upper.upright[0], lower.upright[0])
    return (
        max(one, two) <= LIKE_HEIGHT * min(one, two)
        and -0.5 * min(one, two) <= between <= CLOSE_BELOW * min(one, two)
        and lower.upright[1] > upper.upright[1]
        and shared >= 0.5 * max(width, 1.0)
    )


def joined(lines: Sequence[TextSeen], text: str) -> TextSeen:
    """Several lines as one, with the box around them all and the least of their confidences."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in lines), strict=True)
    first = lines[0]
    box = (min(lefts), min(tops), max(rights), max(bottoms))
    return replace(first, text=text, box=box, confidence=min(line.confidence for line in lines))


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
