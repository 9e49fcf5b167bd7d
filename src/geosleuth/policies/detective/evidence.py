"""Clues in words. What was read in a photo is somebody else's text: it stands in quotation marks, on one line."""

from geosleuth.clues import Clue, ClueKind
from geosleuth.clues.weighing import NAME_KINDS, SEPARATOR
from geosleuth.tools.wording import quoted

_TEXT_CHARS = 60
_SAYS_CHARS = 220

KIND_WORDS: dict[ClueKind, str] = {
    "script": "the script",
    "language": "the language",
    "place": "a place name",
    "street": "a street name",
    "business": "a business name",
    "station": "the name of a stop",
    "airport": "the name of an airport",
    "landmark": "the name of a sight",
    "phone": "a telephone number",
    "postcode": "a postcode",
    "tld": "a web address",
    "currency": "a price",
    "road_number": "a road number",
    "brand": "a brand",
    "plate": "a number plate",
    "distance_sign": "a distance sign",
    "date_format": "the way a date is written",
    "opening_hours": "the way hours are written",
    "speed": "a speed limit",
    "unit": "a unit",
    "driving_side": "the side of the road",
    "sun": "daylight",
    "visual": "the look of the picture",
    "hint": "the hint",
}


def evidence_line(clue: Clue) -> str:
    """A clue on one line: what was seen, and what follows from it."""
    says = clue.says if len(clue.says) <= _SAYS_CHARS else clue.says[: _SAYS_CHARS - 1].rstrip() + "…"
    kind = KIND_WORDS[clue.kind]
    if SEPARATOR in clue.seen and clue.kind in NAME_KINDS:
        return f"names that meet: {says}"
    if f'"{clue.seen}"' in clue.says or clue.where is None:
        return f"{kind}: {says}"
    return f"{kind} in {quoted(clue.seen, _TEXT_CHARS)}: {says}"


def named(clue: Clue) -> str:
    """A clue as a sentence refers to it."""
    kind = KIND_WORDS[clue.kind]
    return kind if clue.where is None else f"{kind} {quoted(clue.seen, _TEXT_CHARS)}"
