"""Names and coordinates in running text, for replies that hold no object at all."""

import re
from dataclasses import replace

from .coordinates import find_points
from .fields import address_from_semicolons, clean_name, probability
from .model import Address, Answer

# An answer stands at the end of a reply; what is further up than this is the way there.
_TAIL = 20_000

_LABELS = {
    "country": r"country",
    "region": r"(?:region|state|province|province[ _]or[ _]state|prefecture)",
    "precise": r"(?:specific location|precise location|exact location|address|city|town|village)",
}
_VALUE = r"[\s*_\"'`]*[:=][\s*_\"'`]*(?P<value>[^\n;{}]{1,120})"
_NAMES = {
    level: re.compile(rf"(?:^|[\s,;*_\"'`(>-]){label}{_VALUE}", re.IGNORECASE) for level, label in _LABELS.items()
}
_NEXT_LABEL = re.compile(r"[,|.]?[\s*_\"'`]+(?:[a-z]+[ _]){0,2}[a-z]+[*_\"'`]*\s*[:=]", re.IGNORECASE)
_SEMICOLONS = re.compile(r"[^;\n:{}]{2,60};[^;\n{}]{1,80}(?:;[^;\n{}]{1,160})?")
_CONFIDENCE = re.compile(
    r"\b(?:confidence|probability)\b[^\d\n]{0,30}(\d{1,3}(?:\.\d+)?\s*(?:%|percent)?)", re.IGNORECASE
)


def answer_from_prose(text: str) -> Answer:
    """The last readable coordinates, the last labelled name of each level, and a stated confidence."""
    tail = text[-_TAIL:]
    points = find_points(tail)
    cut_off = tail.rfind("{") > tail.rfind("}")
    if cut_off and points and points[-1].end == len(tail):
        # The reply broke off inside an object, right after a digit: how the number went on nobody knows.
        points = []
    stated = _CONFIDENCE.findall(tail)
    return Answer(
        point=points[-1].point if points else None,
        address=_address(tail),
        probability=probability(stated[-1]) if stated else None,
    )


def _address(tail: str) -> Address:
    names = {level: _last_name(pattern, tail) for level, pattern in _NAMES.items()}
    address = Address.of(**names)
    if address:
        return address
    lines = [line for line in tail.splitlines() if line.strip()]
    last_line = lines[-1].strip().removesuffix(".") if lines else ""
    if not _SEMICOLONS.fullmatch(last_line):
        return Address()
    return address_from_semicolons(last_line) or Address()


def _last_name(pattern: re.Pattern[str], text: str) -> str | None:
    values = [match["value"] for match in pattern.finditer(text)]
    if not values:
        return None
    name = _NEXT_LABEL.split(values[-1], maxsplit=1)[0]
    return clean_name(name.rstrip(" ,"))


def with_names_from(answer: Answer, other: Answer) -> Answer:
    """The answer, and what it lacks filled from another reading of the same reply; the point stays its own."""
    return replace(
        answer,
        address=answer.address or other.address,
        probability=other.probability if answer.probability is None else answer.probability,
        explanation=answer.explanation or other.explanation,
        candidates=answer.candidates or other.candidates,
    )
