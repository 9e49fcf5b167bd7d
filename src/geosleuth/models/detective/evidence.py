"""Clues in words. What was read in a photo is third-party text: it stands in quotation marks, on one line."""

from collections.abc import Sequence

from geosleuth.evidence import Clue, ClueKind
from geosleuth.evidence.posterior import NAME_KINDS, SEPARATOR
from geosleuth.evidence.selftest import Sign
from geosleuth.names import country_name, fold
from geosleuth.tools.viewer import quote

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
    "sighting": "what you see",
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
    return f"{kind} in {quote(clue.seen, _TEXT_CHARS)}: {says}"


def name_clue(clue: Clue | Sign) -> str:
    """A clue as a sentence refers to it; a sign with what another one points to instead."""
    if isinstance(clue, Sign):
        other = clue.disputed_by[0] if clue.disputed_by else None
        return _sign(clue) if other is None else f"{_sign(clue)} ({_dispute(clue, other)})"
    kind = KIND_WORDS[clue.kind]
    return kind if clue.where is None else f"{kind} {quote(clue.seen, _TEXT_CHARS)}"


def disagreement(disputed: Sequence[Sign]) -> str:
    """Return the sentence that signs or photos point to different places; empty where none do."""
    if not disputed:
        return ""
    first = disputed[0]
    other = first.disputed_by[0]
    photos = first.panel.image != other.panel.image
    told = "; ".join(f"{_sign(item)} to {_format_sign_place(item)}" for item in (first, other))
    return f"{'The photos disagree' if photos else 'Two signs point to different places'}: {told}."


def _sign(sign: Sign) -> str:
    return f"the sign {quote(sign.text, _TEXT_CHARS)}"


def _format_sign_place(sign: Sign) -> str:
    name, country = sign.alone.name or "an unnamed place", sign.alone.country
    of_country = country_name(country) if country else ""
    return name if fold(of_country) in fold(name) else f"{name}, {of_country}"


def _dispute(sign: Sign, other: Sign) -> str:
    what = "the photos disagree" if sign.panel.image != other.panel.image else "two signs point to different places"
    return f"{what}: {_sign(other)} to {_format_sign_place(other)}"
