"""Texts made fit for what they are written into."""

import re
from math import ceil

from geosleuth.answer.model import Answer, Candidate
from geosleuth.answer.wording import whole_percent
from geosleuth.geo import coordinates, decimals_for
from geosleuth.text import legible

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What spreadsheets take for a formula; full-width forms count too where the system's language is Japanese.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def xml_text(text: str) -> str:
    """The text without direction characters and those that XML can't hold; escaping is left to whoever writes it."""
    return legible(_NOT_XML.sub("", text))


def cell(text: str | None) -> str:
    """A text as a cell of a table: one line, and never a formula."""
    if not text:
        return ""
    line = " ".join(xml_text(text).split())
    return f"'{line}" if line.startswith(_FORMULA) or text.startswith(_FORMULA) else line


def degrees(value: float, radius_km: float | None) -> str:
    """A coordinate in decimal degrees, as finely as its radius deserves."""
    return f"{value:.{decimals_for(radius_km)}f}"


def metres(radius_km: float) -> int:
    """A radius in whole metres, rounded up: an uncertainty of 0 would be a claim."""
    return max(1, ceil(radius_km * 1000 - 1e-6))


def odds(answer: Answer, *, whole: bool = False) -> str | None:
    """How sure the answer is, in words; None where it does not say. ``whole`` is for a finding that is a country."""
    if answer.probability is None:
        return None
    within = f" to lie within {answer.radius_km:g} km" if answer.radius_km else ""
    within = f" to lie in {answer.address.country.conclusion}" if whole else within
    return f"{whole_percent(answer.probability)}% sure{within}"


def candidate_line(candidate: Candidate) -> str:
    """A candidate in a few words."""
    name = candidate.name or (coordinates(candidate.point) if candidate.point else "unnamed")
    return name if candidate.probability is None else f"{name} ({whole_percent(candidate.probability)}%)"
