"""Layout of lines in a picture: parts of a sign or vehicle, and whether it is about the place.

All that stands on one panel has one fate. A tour bus carries its town, its web address and its number abroad together,
so that all of them mislead or none does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from geosleuth.atlas.facts import get_script
from geosleuth.names import fold
from geosleuth.support.lazy import lazy_pattern

from .clue import Clue, ClueKind, TextSeen
from .naming import kind_said

# Maximum lines per photo, more than photos have; the least certain ones beyond it are dropped.
MAX_LINES = 400

# Longer lines are truncated: no sign has them.
MAX_LINE_CHARS = 200

# Minimum vertical overlap of two lines in one row, as a share of the lower line's height.
SAME_ROW = 0.5

LIKE_HEIGHT = 1.7
CLOSE_BELOW = 1.1

_UPRIGHT = frozenset({"Hani", "Hira", "Kana", "Hang"})
DOUBT_MOVABLE: Final = 0.5
DOUBT: Final = 0.06
# Probability that a panel contradicted by others is from elsewhere although it is fixed to the ground; above, for
# vehicles and advertisements, and for any other panel. Judgements, like the reliability of clues.
DOUBT_FIXED: Final = 0.05
_LIKE_HEIGHT = 2.5
_CLOSE = 1.6
_FIXED_KINDS: frozenset[ClueKind] = frozenset({"road_number", "distance_sign", "speed", "opening_hours", "station"})
_FIXED_SAID = ("street", "station")
_MOVABLE = lazy_pattern(
    r"\b(?:tours?|touren|travels?|\w*reisen?|\w*reiseburo|reizen|rejser|resor|matkat|voyages?|viajes|viagens|viaggi|"
    r"excursi\w+|biuro podrozy|cestovni|utazasi|turizm|coach(?:es)?|autocars?|autocares|autokary|"
    r"(?:reise|omni)?bus(?:se|es|reisen)?|airlines?|airways|lufthansa|cargo|logisti\w+|spedition|speditie|spedycja|"
    r"transporte?s?|transporty|trasporti|trucking|haulage|imports?|imported|exports?|made in|product of|since|seit|"
    r"depuis|desde|fondee? en)\b"
)
_STOPS = lazy_pattern(r"\b(?:bus|coach)\s*(?:stop|station|terminal|lane)\b")
_MOVABLE_ELSEWHERE = ("туры", "турист", "автобус", "перевоз", "旅行", "観光バス", "여행", "관광")


def height(line: TextSeen) -> float:
    """The height of a line's box, at least a pixel."""
    return max(line.upright[3] - line.upright[1], 1.0)


def in_one_row(seen: TextSeen, other: TextSeen) -> bool:
    """Return whether two lines stand side by side."""
    if seen.image != other.image or seen.turn != other.turn:
        return False
    shared = min(seen.upright[3], other.upright[3]) - max(seen.upright[1], other.upright[1])
    return shared >= SAME_ROW * min(height(seen), height(other))


def gap_beside(seen: TextSeen, other: TextSeen) -> float:
    """Pixels between two lines of one row; negative where they overlap."""
    return max(seen.upright[0], other.upright[0]) - min(seen.upright[2], other.upright[2])


def continues_below(upper: TextSeen, lower: TextSeen) -> bool:
    """Return whether the lower line may continue the upper: similar letters, little space, below each other."""
    if upper.image != lower.image or upper.turn != lower.turn:
        return False
    item, two = height(upper), height(lower)
    between = lower.upright[1] - upper.upright[3]
    width = min(upper.upright[2] - upper.upright[0], lower.upright[2] - lower.upright[0])
    shared = min(upper.upright[2], lower.upright[2]) - max(upper.upright[0], lower.upright[0])
    return (
        max(item, two) <= LIKE_HEIGHT * min(item, two)
        and -0.5 * min(item, two) <= between <= CLOSE_BELOW * min(item, two)
        and lower.upright[1] > upper.upright[1]
        and shared >= 0.5 * max(width, 1.0)
    )


def join_seen_lines(lines: Sequence[TextSeen], text: str) -> TextSeen:
    """Several lines as one, with the box around them all and the least of their confidences."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in lines), strict=True)
    first = lines[0]
    box = (min(lefts), min(tops), max(rights), max(bottoms))
    return replace(first, text=text, box=box, confidence=min(line.confidence for line in lines))


def with_columns(lines: Sequence[TextSeen]) -> list[TextSeen]:
    """Return the lines, those of one East Asian character each that stand one below the other put together."""
    kept: list[TextSeen] = []
    for line in sorted(lines, key=lambda line: (line.image, line.upright[1])):
        is_character = len(line.text.strip()) == 1 and _is_upright(line)
        above = next((other for other in kept if is_character and _goes_on_in_column(other, line)), None)
        if above is None:
            kept.append(line)
        else:
            kept[kept.index(above)] = join_seen_lines((above, line), above.text.strip() + line.text.strip())
    return kept


def _goes_on_in_column(above: TextSeen, line: TextSeen) -> bool:
    """Return whether a single character stands right below another, or below a column of them."""
    if above.image != line.image or above.turn != line.turn or not _is_upright(above):
        return False
    size = height(line)
    if not 0.6 * size <= height(above) / len(above.text.strip()) <= 1.7 * size:
        return False
    left, top, right, _ = line.upright
    between, shared = top - above.upright[3], min(right, above.upright[2]) - max(left, above.upright[0])
    return -0.3 * size <= between <= 0.8 * size and shared >= 0.5 * (right - left)


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


def _is_upright(line: TextSeen) -> bool:
    """Return whether a line's script is always one that is also written downwards."""
    text = line.text.strip()
    return bool(text) and all(get_script(item) in _UPRIGHT for item in text)


@dataclass(frozen=True, slots=True)
class SignPanel:
    """A sign or a vehicle: the clues on it by their numbers, its texts from above, and the doubt that it is local."""

    clues: tuple[int, ...]
    texts: tuple[str, ...]
    image: str
    doubt: float


def panels(clues: Sequence[Clue], lines: Iterable[TextSeen] = ()) -> tuple[SignPanel, ...]:
    """Clues by the panel that they stand on; those not read in a picture stand on none.

    ``lines`` is other text of the pictures: it says more of what a panel is, and what stands between two clues.
    """
    at = [number for number, clue in enumerate(clues) if clue.where is not None]
    wheres = (where for number in at if (where := clues[number].where) is not None)
    boxes = list(dict.fromkeys((*wheres, *lines)))
    found = []
    for group in _together(boxes):
        inside = set(group)
        numbers = tuple(number for number in at if clues[number].where in inside)
        if not numbers:
            continue
        ordered = sorted(inside, key=lambda line: (line.upright[1], line.upright[0], line.text))
        texts = tuple(dict.fromkeys(line.text for line in ordered))
        found.append(SignPanel(numbers, texts, ordered[0].image, _doubt([clues[number] for number in numbers], texts)))
    return tuple(sorted(found, key=lambda panel: panel.clues))


def on_one_panel(seen: TextSeen, other: TextSeen) -> bool:
    """Return whether two lines likely share a panel: near each other, in similar letters."""
    tall, other_tall = height(seen), height(other)
    if (
        seen.image != other.image
        or seen.turn != other.turn
        or max(tall, other_tall) > _LIKE_HEIGHT * min(tall, other_tall)
    ):
        return False
    reach = _CLOSE * (tall + other_tall) / 2
    across = max(seen.upright[0], other.upright[0]) - min(seen.upright[2], other.upright[2])
    down = max(seen.upright[1], other.upright[1]) - min(seen.upright[3], other.upright[3])
    return across <= reach and down <= reach


def _together(lines: Sequence[TextSeen]) -> list[list[TextSeen]]:
    groups: list[list[TextSeen]] = []
    for line in lines:
        near = [group for group in groups if any(on_one_panel(line, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), line])
    return groups


def _doubt(clues: Sequence[Clue], texts: Sequence[str]) -> float:
    if any(_is_movable(text) for text in texts):
        return DOUBT_MOVABLE
    if any(clue.kind in _FIXED_KINDS for clue in clues) or any(kind_said(text) in _FIXED_SAID for text in texts):
        return DOUBT_FIXED
    return DOUBT


def _is_movable(text: str) -> bool:
    plain = _STOPS.sub(" ", fold(text))
    return bool(_MOVABLE.search(plain)) or any(word in text.casefold() for word in _MOVABLE_ELSEWHERE)
